//! Functions are inlined, so none may call itself, directly or through others, unless it says how
//! deep.

use super::{Checker, quoted};
use linchpin_syntax::{Code, Diagnostic, Span};

/// How far the search has come with a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    NotYet,
    /// Its callees are being visited.
    Open,
    Done,
}

impl Checker<'_> {
    /// Reports every call that closes a circle without a function that says how deep it goes.
    pub(super) fn reject_recursion(&mut self) {
        let count = self.globals.functions.len();
        let mut callees: Vec<Vec<(usize, Span)>> = vec![Vec::new(); count];
        let bounded = |at: &usize| self.globals.functions[*at].depth.is_some();
        for (caller, callee, span) in &self.globals.calls {
            if bounded(caller) || bounded(callee) {
                continue;
            }
            callees[*caller].push((*callee, *span));
        }
        let mut visits = vec![Visit::NotYet; count];
        for function in 0..count {
            self.visit(function, &callees, &mut visits, &mut Vec::new());
        }
    }

    /// `open` are the functions whose calls have led here, outermost first.
    fn visit(
        &mut self,
        function: usize,
        callees: &[Vec<(usize, Span)>],
        visits: &mut [Visit],
        open: &mut Vec<usize>,
    ) {
        if visits[function] != Visit::NotYet {
            return;
        }
        visits[function] = Visit::Open;
        open.push(function);
        for (callee, span) in &callees[function] {
            match visits[*callee] {
                Visit::NotYet => self.visit(*callee, callees, visits, open),
                Visit::Open => self.circle(*callee, open, *span),
                Visit::Done => {}
            }
        }
        open.pop();
        visits[function] = Visit::Done;
    }

    fn circle(&mut self, callee: usize, open: &[usize], span: Span) {
        let name = |function: usize| self.globals.functions[function].name.as_str();
        let between = open.iter().skip_while(|function| **function != callee).skip(1);
        let between: Vec<&str> = between.map(|function| name(*function)).collect();
        let message = match between.as_slice() {
            [] => format!("`{}` calls itself", name(callee)),
            names => format!("`{}` calls itself through {}", name(callee), quoted(names)),
        };
        self.report(
            Diagnostic::new(Code::Recursion, message, span, "this call closes the circle")
                .help(format!("functions are inlined: use a loop, or say how deep: `fn {}(…) depth 3 {{ … }}`", name(callee))),
        );
    }
}
