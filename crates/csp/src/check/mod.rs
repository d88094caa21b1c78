//! Names and types: from the tree to a [`Model`].
//!
//! Constants are computed first, so that every size is a number from then on. All mistakes that can
//! be found are reported together. `expression.rs` types expressions and assignments, `process.rs`
//! processes.

mod declare;
mod expression;
mod process;

use crate::program::*;
use crate::syntax::ast;
use linchpin_syntax::{Code, Diagnostic, Lines, Mistakes, Span, nearest};
use rustc_hash::FxHashMap;

/// Checks a parsed source. `constants` replaces values of constants by name.
pub(crate) fn check(
    source: &str,
    tree: &ast::Source,
    constants: &[(String, i64)],
) -> Result<Model, Vec<Diagnostic>> {
    let mut checker = Checker::new(source);
    checker.constants(tree, constants);
    checker.variables(tree);
    checker.signatures(tree);
    checker.processes(tree);
    checker.assertions(tree);
    checker.hidden_names();
    if checker.mistakes.is_empty() {
        checker.free_slots();
        Ok(checker.model)
    } else {
        Err(checker.mistakes.into_vec())
    }
}

struct Checker<'s> {
    source: &'s str,
    lines: Lines,
    model: Model,
    mistakes: Mistakes,
    constants: FxHashMap<String, Constant>,
    variables: FxHashMap<String, u32>,
    processes: FxHashMap<String, (u32, Span)>,
    events: FxHashMap<String, (EventId, Span)>,
    /// Names in `\ { }`, to be looked up when all events are known.
    hidden: Vec<(String, Span, usize)>,
    /// The names in scope, innermost last.
    scope: Vec<(String, Slot)>,
    /// How many slots the process at hand has used.
    frame: usize,
}

#[derive(Clone, Copy)]
struct Constant {
    value: i64,
    of: Type,
    span: Span,
}

impl<'s> Checker<'s> {
    fn new(source: &'s str) -> Checker<'s> {
        Checker {
            source,
            lines: Lines::new(source),
            model: Model {
                events: Vec::new(),
                variables: Vec::new(),
                initial: Vec::new(),
                processes: Vec::new(),
                nodes: Vec::new(),
                hidden: Vec::new(),
                assertions: Vec::new(),
                constants: Vec::new(),
            },
            mistakes: Mistakes::default(),
            constants: FxHashMap::default(),
            variables: FxHashMap::default(),
            processes: FxHashMap::default(),
            events: FxHashMap::default(),
            hidden: Vec::new(),
            scope: Vec::new(),
            frame: 0,
        }
    }

    fn line(&self, span: Span) -> u32 {
        self.lines.line(span)
    }

    fn report(&mut self, mistake: Diagnostic) {
        self.mistakes.push(mistake);
    }

    /// Says that a name means nothing, and what may have been meant.
    fn unknown(&mut self, what: &str, name: &str, span: Span) {
        if name.is_empty() {
            return;
        }
        let known: Vec<&str> = match what {
            "process" => self.processes.keys().map(String::as_str).collect(),
            "event" => self.events.keys().map(String::as_str).collect(),
            "array" | "variable" => self.variables.keys().map(String::as_str).collect(),
            _ => {
                let names = self.constants.keys().chain(self.variables.keys()).map(String::as_str);
                names.chain(self.scope.iter().map(|(name, _)| name.as_str())).collect()
            }
        };
        let mut known = known;
        known.sort_unstable();
        let help = match nearest(name, known) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None if what == "process" && self.events.contains_key(name) => {
                Some(format!("`{name}` is an event: write `{name} -> P`"))
            }
            None if what == "name" => {
                Some("declare it with `var`, `const` or as a parameter".to_owned())
            }
            None => None,
        };
        let mistake = Diagnostic::new(
            Code::UnknownName,
            format!("there is no {what} `{name}`"),
            span,
            "unknown",
        );
        self.report(mistake.maybe_help(help));
    }

    /// For each node, the slots that it or what comes after it still looks at.
    fn free_slots(&mut self) {
        // INVARIANT: children have smaller numbers than their parents.
        for id in 0..self.model.nodes.len() {
            let mut free = Vec::new();
            process::free(&self.model, id, &mut free);
            free.sort_unstable();
            free.dedup();
            self.model.nodes[id].free = free;
        }
    }
}
