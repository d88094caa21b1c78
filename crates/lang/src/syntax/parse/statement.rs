//! Blocks, statements and annotations.

use super::Parser;
use crate::diagnostic::Diagnostic;
use crate::syntax::ast::*;
use crate::syntax::token::TokenKind;

impl Parser<'_> {
    pub(super) fn block(&mut self) -> Block {
        let start = self.span();
        if !self.expect(TokenKind::OpenBrace) {
            return Block { statements: Vec::new(), span: start };
        }
        let statements = self.deeper(Self::statements, |p| {
            p.skip_block();
            Vec::new()
        });
        if !self.eat(TokenKind::CloseBrace) {
            let span = self.span();
            let found = self.found();
            let mistake =
                Diagnostic::new(format!("expected `}}`, found {found}"), span, "expected `}`")
                    .related(start, "to close this");
            self.report(mistake);
        }
        Block { statements, span: start.to(self.previous_span()) }
    }

    /// Skips to the brace that closes the block just opened.
    fn skip_block(&mut self) {
        let mut open = 0usize;
        while !self.at_end() {
            match self.peek() {
                TokenKind::OpenBrace => open += 1,
                TokenKind::CloseBrace if open == 0 => return,
                TokenKind::CloseBrace => open -= 1,
                _ => {}
            }
            self.bump();
        }
    }

    fn statements(&mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        while !matches!(self.peek(), TokenKind::CloseBrace | TokenKind::End) && !self.at_declaration() {
            let before = self.at;
            let mistakes = self.diagnostics.len();
            statements.push(self.statement());
            if self.diagnostics.len() > mistakes && self.at > 0 {
                self.resume_at_statement();
            }
            if self.at == before {
                self.bump();
            }
        }
        statements
    }

    /// Words that cannot stand in a block: a brace must be missing before them.
    fn at_declaration(&self) -> bool {
        matches!(
            self.peek(),
            TokenKind::Op
                | TokenKind::Fn
                | TokenKind::Struct
                | TokenKind::Record
                | TokenKind::Shared
                | TokenKind::Bounds
                | TokenKind::Spec
        )
    }

    /// After a mistake: on to the next statement, unless the mistaken one has ended properly.
    fn resume_at_statement(&mut self) {
        let ended = matches!(
            self.tokens[self.at - 1].kind,
            TokenKind::Semicolon | TokenKind::CloseBrace
        );
        if ended || self.at_statement() {
            return;
        }
        self.skip_until(|kind| kind == TokenKind::Semicolon);
        if self.peek() == TokenKind::OpenBrace {
            self.block();
        }
        self.eat(TokenKind::Semicolon);
    }

    fn at_statement(&self) -> bool {
        matches!(
            self.peek(),
            TokenKind::Let
                | TokenKind::If
                | TokenKind::While
                | TokenKind::Loop
                | TokenKind::For
                | TokenKind::Break
                | TokenKind::Continue
                | TokenKind::Return
                | TokenKind::Atomic
                | TokenKind::HashBracket
        )
    }

    fn statement(&mut self) -> Statement {
        let mut annotations = Vec::new();
        while self.peek() == TokenKind::HashBracket {
            annotations.extend(self.annotation());
        }
        let start = self.span();
        let kind = self.statement_kind();
        Statement { kind, span: start.to(self.previous_span()), annotations }
    }

    fn statement_kind(&mut self) -> StatementKind {
        match self.peek() {
            TokenKind::Let => self.let_statement(),
            TokenKind::If => self.if_statement(),
            TokenKind::While => {
                self.bump();
                let condition = self.condition();
                StatementKind::While(condition, self.block())
            }
            TokenKind::Loop => {
                self.bump();
                StatementKind::Loop(self.block())
            }
            TokenKind::For => {
                self.bump();
                let name = self.expect_name("a name for the counter");
                self.expect(TokenKind::In);
                let range = self.range();
                StatementKind::For(name, range, self.block())
            }
            TokenKind::Break => self.simple(StatementKind::Break),
            TokenKind::Continue => self.simple(StatementKind::Continue),
            TokenKind::Return => {
                self.bump();
                let value =
                    (!matches!(self.peek(), TokenKind::Semicolon | TokenKind::CloseBrace))
                        .then(|| self.expression());
                self.expect(TokenKind::Semicolon);
                StatementKind::Return(value)
            }
            TokenKind::Atomic => {
                self.bump();
                StatementKind::Atomic(self.block())
            }
            _ => self.expression_statement(),
        }
    }

    fn simple(&mut self, kind: StatementKind) -> StatementKind {
        self.bump();
        self.expect(TokenKind::Semicolon);
        kind
    }

    fn let_statement(&mut self) -> StatementKind {
        self.bump();
        if self.eat_word("mut") {
            let span = self.previous_span();
            self.silent_at = None;
            let mistake = Diagnostic::new("there is no `mut` here", span, "not needed")
                .help("every local variable may be assigned: write `let x = …;`");
            self.report(mistake);
        }
        if self.eat(TokenKind::OpenParen) {
            let names = self.separated(TokenKind::CloseParen, |p| p.expect_name("a name or `_`"));
            self.expect(TokenKind::Equal);
            let value = self.expression();
            self.expect(TokenKind::Semicolon);
            return StatementKind::LetTuple(names, value);
        }
        let name = self.expect_name("a name for the variable");
        let ty = self.eat(TokenKind::Colon).then(|| self.ty());
        let value = self.eat(TokenKind::Equal).then(|| self.expression());
        self.expect(TokenKind::Semicolon);
        StatementKind::Let(name, ty, value)
    }

    fn if_statement(&mut self) -> StatementKind {
        self.bump();
        let condition = self.condition();
        let then = self.block();
        let otherwise = self.eat(TokenKind::Else).then(|| self.else_block());
        StatementKind::If(condition, then, otherwise)
    }

    /// The block after `else`; `else if` is a block with one statement.
    fn else_block(&mut self) -> Block {
        if self.peek() != TokenKind::If {
            return self.block();
        }
        let start = self.span();
        let statements = self.deeper(
            |p| {
                let kind = p.if_statement();
                let span = start.to(p.previous_span());
                vec![Statement { kind, span, annotations: Vec::new() }]
            },
            |p| {
                p.skip_until(|_| false);
                Vec::new()
            },
        );
        Block { statements, span: start.to(self.previous_span()) }
    }

    fn expression_statement(&mut self) -> StatementKind {
        let target = self.expression();
        let operator = match self.peek() {
            TokenKind::Equal => None,
            TokenKind::PlusEqual => Some(BinaryOp::Add),
            TokenKind::MinusEqual => Some(BinaryOp::Subtract),
            _ => {
                self.expect(TokenKind::Semicolon);
                return StatementKind::Expr(target);
            }
        };
        self.bump();
        let value = self.expression();
        self.expect(TokenKind::Semicolon);
        StatementKind::Assign(target, operator, value)
    }

    /// `#[lin]`, `#[lin(when c)]`, `#[lin(when returns e)]`, `#[base(f)]`.
    fn annotation(&mut self) -> Option<Annotation> {
        let start = self.span();
        self.bump();
        let kind = if self.eat_word("lin") {
            Some(self.lin())
        } else if self.eat_word("base") {
            self.expect(TokenKind::OpenParen);
            let formula = self.expression();
            self.expect(TokenKind::CloseParen);
            Some(AnnotationKind::Base(formula))
        } else {
            let found = self.found();
            let advice = Self::did_you_mean(self.text(), &["lin", "base"]);
            let mistake =
                Diagnostic::new(format!("unknown annotation {found}"), self.span(), "not an annotation")
                    .help(advice.unwrap_or_else(|| {
                        "there are `#[lin]`, `#[lin(when c)]`, `#[lin(when returns e)]` and `#[base(f)]`"
                            .to_owned()
                    }));
            self.report(mistake);
            None
        };
        if kind.is_none() || !self.expect(TokenKind::CloseBracket) {
            self.skip_until(|kind| matches!(kind, TokenKind::CloseBracket | TokenKind::Semicolon));
            self.eat(TokenKind::CloseBracket);
        }
        kind.map(|kind| Annotation { kind, span: start.to(self.previous_span()) })
    }

    fn lin(&mut self) -> AnnotationKind {
        if !self.eat(TokenKind::OpenParen) {
            return AnnotationKind::Lin;
        }
        if !self.eat_word("when") {
            self.expected("`when`");
        }
        let kind = if self.eat_word("returns") {
            AnnotationKind::LinReturns(self.expression())
        } else {
            AnnotationKind::LinWhen(self.expression())
        };
        self.expect(TokenKind::CloseParen);
        kind
    }
}
