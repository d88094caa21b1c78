//! Persistent memory: `persistent`, `#[line(name)]`, `recover`. The words are names elsewhere.

use super::{Parser, did_you_mean};
use crate::syntax::ast::{Fields, Item, LineName, Variable};
use crate::syntax::token::TokenKind;
use linchpin_syntax::{Code, Diagnostic, Language, Span};

impl Parser<'_> {
    /// Whether what is next can only be about persistent memory.
    pub(super) fn at_persistence(&self) -> bool {
        let after = self.peek_after(1);
        match self.peek() {
            TokenKind::HashBracket => true,
            TokenKind::Name if self.at_word("persistent") => {
                after.starts_item() || after == TokenKind::HashBracket || after == TokenKind::Name
            }
            TokenKind::Name if self.at_word("recover") => {
                matches!(after, TokenKind::OpenBrace | TokenKind::OpenParen)
            }
            _ => false,
        }
    }

    /// A declaration about persistent memory, which is next.
    pub(super) fn persistence(&mut self) -> Option<Item> {
        let start = self.span();
        if self.at_word("recover") {
            return Some(self.recover(start));
        }
        let mut line = None;
        let mut persistent = None;
        loop {
            if self.peek() == TokenKind::HashBracket {
                line = self.line_annotation().or(line);
            } else if self.at_word("persistent") && persistent.is_none() {
                persistent = Some(self.span());
                self.bump();
            } else {
                break;
            }
        }
        match self.peek() {
            TokenKind::Shared => {
                let variable = self.variable("a name for the variable");
                Some(Item::Shared(Variable { persistent, line, ..variable }))
            }
            TokenKind::Struct => {
                let fields = self.fields("a name for the struct");
                self.no_line_here(line.map(|line| line.span), "a struct");
                Some(Item::Struct(Fields { persistent, ..fields }))
            }
            _ => self.not_persistent(persistent, line),
        }
    }

    /// Something else than a variable or a struct is said to be persistent.
    fn not_persistent(&mut self, persistent: Option<Span>, line: Option<LineName>) -> Option<Item> {
        let found = self.found();
        if let Some(span) = persistent {
            let message =
                format!("expected `shared` or `struct` after `persistent`, found {found}");
            let mistake = Diagnostic::new(Code::Unexpected, message, span, "what is persistent?")
                .help("write `persistent shared x: T;` or `persistent struct Node { … }`");
            self.report(mistake);
        }
        self.no_line_here(line.map(|line| line.span), "this");
        self.peek().starts_item().then(|| self.item()).flatten()
    }

    fn no_line_here(&mut self, span: Option<Span>, what: &str) {
        let Some(span) = span else { return };
        let message = format!("`#[line(…)]` cannot stand before {what}");
        let help = "it puts a `persistent shared` variable, or a field of a `persistent struct`, \
                    on a line";
        self.report(
            Diagnostic::new(Code::MisplacedAnnotation, message, span, "nothing to put on a line")
                .help(help),
        );
    }

    /// `#[line(name)]`
    pub(super) fn line_annotation(&mut self) -> Option<LineName> {
        let start = self.span();
        self.bump();
        let known = self.eat_word("line");
        if !known {
            let advice = did_you_mean(self.text(), &["line"]);
            let message = format!("unknown annotation {}", self.found());
            let help = "before declarations there is `#[line(name)]`, for persistent memory";
            let mistake =
                Diagnostic::new(Code::UnknownAnnotation, message, self.span(), "not an annotation")
                    .help(advice.unwrap_or_else(|| help.to_owned()));
            self.report(mistake);
        }
        let name = (known && self.expect(TokenKind::OpenParen)).then(|| {
            let name = self.expect_name("a name for the line");
            self.expect(TokenKind::CloseParen);
            name
        });
        if name.is_none() || !self.expect(TokenKind::CloseBracket) {
            let ends = |kind| matches!(kind, TokenKind::CloseBracket | TokenKind::Semicolon);
            self.skip_until(|kind| ends(kind) || kind.starts_item());
            self.eat(TokenKind::CloseBracket);
        }
        name.map(|name| LineName { name, span: start.to(self.previous_span()) })
    }

    /// `recover { … }` or `recover(t: tid) -> R? { … }`.
    fn recover(&mut self, start: Span) -> Item {
        if self.peek_after(1) == TokenKind::OpenParen {
            return Item::Resolve(self.routine("`recover`"));
        }
        self.bump();
        Item::Recover(self.block(), start)
    }

    /// Reports and skips `persistent` where nothing can be.
    pub(super) fn misplaced_persistent(&mut self, of: &str) -> bool {
        if !self.at_word("persistent") || !self.peek_after(1).starts_item() {
            return false;
        }
        let message = format!("nothing is persistent in a {of}");
        let help = format!("a {of} knows no crashes: write it without `persistent`");
        let mistake = Diagnostic::new(Code::Misplaced, message, self.span(), "not here").help(help);
        self.report(mistake);
        self.bump();
        true
    }
}
