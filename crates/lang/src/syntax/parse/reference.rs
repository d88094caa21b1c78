//! `reference { … }`: declarations inside a declaration.

use super::Parser;
use crate::syntax::ast::ReferenceBlock;
use crate::syntax::token::TokenKind;
use linchpin_syntax::{Code, Diagnostic, Language, Parser as _, Span};

impl Parser<'_> {
    /// The block; `reference` is next.
    pub(super) fn reference_block(&mut self) -> ReferenceBlock {
        let span = self.span();
        let mut block =
            ReferenceBlock { shared: Vec::new(), inits: Vec::new(), operations: Vec::new(), span };
        self.bump();
        if self.peek() != TokenKind::OpenBrace {
            self.expected("`{`");
            self.skip_until(TokenKind::starts_item);
        }
        let open = self.span();
        if !self.eat(TokenKind::OpenBrace) {
            return block;
        }
        loop {
            match self.peek() {
                TokenKind::CloseBrace => {
                    self.bump();
                    break;
                }
                TokenKind::Shared => block.shared.push(self.variable("a name for the variable")),
                TokenKind::Init => {
                    let word = self.span();
                    self.bump();
                    let body = self.block();
                    block.inits.push((body, word));
                }
                TokenKind::Op => block.operations.push(self.routine("a name for the operation")),
                _ if self.misplaced_persistent("reference") => {}
                kind if kind == TokenKind::End || self.starts_outside(open) => {
                    self.unclosed(open);
                    break;
                }
                kind if kind == TokenKind::Local || self.at_state() => {
                    self.misplaced();
                    block.shared.push(self.variable("a name for the variable"));
                }
                kind if kind.starts_item() => {
                    self.misplaced();
                    // The declaration is read, so that what follows it is understood.
                    if self.deeper(Self::item).is_none() {
                        self.bump();
                    }
                }
                _ => {
                    self.expected("`shared`, `init`, `op` or `}`");
                    self.bump();
                    self.skip_until(TokenKind::starts_item);
                    if self.peek() == TokenKind::OpenBrace {
                        self.block();
                    }
                }
            }
        }
        block
    }

    /// Whether the declaration that is next looks as if it stood outside the block that starts with
    /// the brace `open`: on a line of its own, and no further right than the line of the brace.
    fn starts_outside(&self, open: Span) -> bool {
        self.peek().starts_item()
            && self.gap().contains('\n')
            && self.indentation(self.span()) <= self.indentation(open)
    }

    /// Reports the declaration that is next: it cannot stand in a reference.
    fn misplaced(&mut self) {
        let help = match self.peek() {
            kind if kind == TokenKind::Local || self.at_state() => {
                "the variables of a reference are declared by `shared`"
            }
            TokenKind::Role | TokenKind::Bounds => {
                "the operations of a reference run alone: threads and their bounds are the model's"
            }
            TokenKind::Spec => "model and reference have the same specification: say it outside",
            TokenKind::Reference => "there is one reference, and it has none itself",
            _ => {
                "declare it outside: a reference sees the structs, records, params and functions \
                 of the model"
            }
        };
        let message = format!("{} has no place in a reference", self.found());
        let mistake =
            Diagnostic::new(Code::NotInReference, message, self.span(), "not in `reference { }`")
                .help(help);
        self.report(mistake);
    }
}
