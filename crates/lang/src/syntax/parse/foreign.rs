//! What people write who come from C, Java or Rust. Each is one mistake that says how it is written
//! here; the parser then goes on as if it had been written so.

use super::Parser;
use crate::syntax::token::TokenKind;
use linchpin_syntax::{Code, Diagnostic, Ident, Parser as _, limits};

/// A name as advice shows it: a very long one is left out.
pub(super) fn short(name: &str) -> &str {
    if name.len() <= limits::NAME { name } else { "…" }
}

/// Whether a name is most likely that of a type; types that a model declares start with a capital.
fn is_type(name: &str) -> bool {
    let known = ["int", "bool", "tid", "lock", "void", "boolean", "long", "unsigned"];
    known.contains(&name) || name.starts_with(char::is_uppercase)
}

/// Advice for the words with which other languages declare what can be called.
pub(super) fn declares_routine(word: &str) -> Option<&'static str> {
    let known = ["def", "func", "fun", "function", "method", "proc", "procedure", "operation"];
    known
        .contains(&word)
        .then_some("what clients call is declared by `op`, what operations share by `fn`")
}

impl Parser<'_> {
    /// Whether two of this token stand here without space between them, as in `++`.
    pub(super) fn at_double(&self, kind: TokenKind) -> bool {
        self.peek() == kind && self.peek_after(1) == kind && {
            let doubled = self.text().repeat(2);
            self.source()[self.span().range().start..].starts_with(&doubled)
        }
    }

    /// `x++` and `x--`, the operator being next; `a - -b` and `a--b` are subtractions.
    pub(super) fn at_increment(&self) -> bool {
        use TokenKind::*;
        let ends = matches!(self.peek_after(2), Semicolon | CloseParen | CloseBrace | CloseBracket);
        self.at_double(Plus) || (ends && self.at_double(Minus))
    }

    /// Reports `++` or `--`, which is next, and consumes it.
    pub(super) fn increment(&mut self) {
        let sign = self.text();
        let message = format!("there is no `{sign}{sign}`");
        let span = self.span();
        self.bump();
        let mistake =
            Diagnostic::new(Code::OtherLanguage, message, span.to(self.span()), "not an operator");
        self.bump();
        self.report_previous(mistake.help(format!("write `x {sign}= 1;`")));
    }

    /// Reports `&` or `*` before an expression, and consumes it.
    pub(super) fn address(&mut self) {
        let (message, help) = if self.text() == "&" {
            (
                "there is no `&`: nothing has an address",
                "`cas`, `swap`, `faa`, `ll`, `sc` and `lock` take the variable itself: `cas(top, t, x)`",
            )
        } else {
            ("there is no `*` before a reference", "a field of an object is read by `x.f`")
        };
        let mistake =
            Diagnostic::new(Code::OtherLanguage, message, self.span(), "not needed").help(help);
        self.bump();
        self.report_previous(mistake);
    }

    /// Reports `->` before a field, and consumes it.
    pub(super) fn arrow(&mut self) {
        let help = format!("write `x.{}`", short(self.text_after(1)));
        let message = "a field is reached by `.`, not by `->`";
        let mistake =
            Diagnostic::new(Code::OtherLanguage, message, self.span(), "expected `.`").help(help);
        self.report(mistake);
        self.bump();
    }

    /// Reports the arguments of `new Node(v)`, the `(` being next, and consumes them.
    pub(super) fn constructor(&mut self, of: &Ident) {
        let message = "`new` gives each field its value by name";
        let help = format!("write `new {} {{ field: value, … }}`", short(&of.name));
        let mistake =
            Diagnostic::new(Code::OtherLanguage, message, self.span(), "expected `{`").help(help);
        self.report(mistake);
        self.bump();
        self.separated(TokenKind::CloseParen, Self::expression);
    }

    /// `int push(…)`, `int op push(…)`, `void push(…)`: reports the type in front of an operation
    /// and consumes it.
    pub(super) fn type_before_operation(&mut self) -> bool {
        use TokenKind::*;
        let declares = matches!(self.peek_after(1), Op | Fn);
        let name_at = if declares { 2 } else { 1 };
        let shape = (self.peek(), self.peek_after(name_at), self.peek_after(name_at + 1));
        let (ty, name) = (short(self.text()), short(self.text_after(name_at)));
        if shape != (Name, Name, OpenParen) || !is_type(ty) {
            return false;
        }
        let word = if declares { self.text_after(1) } else { "op" };
        let result = if ty == "void" { String::new() } else { format!("-> {ty} ") };
        let message = "the type of the result stands behind the parameters";
        let help = format!("write `{word} {name}(…) {result}{{ … }}`");
        let mistake =
            Diagnostic::new(Code::OtherLanguage, message, self.span(), "not here").help(help);
        self.report(mistake);
        // The name of the operation, or what comes before it, is the next token now.
        self.bump();
        true
    }

    /// Whether `first` is a type, and a name is next, as in `int v`.
    pub(super) fn at_name_after_type(&self, first: &Ident) -> bool {
        self.peek() == TokenKind::Name && is_type(&first.name) && !is_type(self.text())
    }

    /// `int v` for `v: int`, the second name being next: reports it and answers the real name.
    pub(super) fn name_after_type(&mut self, ty: &Ident) -> Ident {
        let help = format!("write `{}: {}`", short(self.text()), short(&ty.name));
        let message = "the name comes first, then `:` and the type";
        let mistake =
            Diagnostic::new(Code::OtherLanguage, message, ty.span.to(self.span()), "turned around")
                .help(help);
        self.report(mistake);
        self.expect_name("a name")
    }
}
