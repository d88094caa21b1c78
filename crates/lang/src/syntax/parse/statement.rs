//! Blocks, statements and annotations.

use super::{Parser, did_you_mean};
use crate::syntax::ast::*;
use crate::syntax::token::TokenKind;
use linchpin_syntax::{Code, Diagnostic, Language, Parser as _, Span};

const STATEMENT_WORDS: &[&str] =
    &["let", "if", "while", "loop", "for", "break", "continue", "return", "atomic", "else"];

impl Parser<'_> {
    pub(super) fn block(&mut self) -> Block {
        let start = self.span();
        if !self.expect(TokenKind::OpenBrace) {
            return Block { statements: Vec::new(), span: start };
        }
        let statements = self.deeper(|p| p.statements(start)).unwrap_or_default();
        if self.peek() == TokenKind::CloseBrace {
            if self.misaligned.is_none() && self.is_misaligned(start) {
                self.misaligned = Some(start);
            }
            self.bump();
        } else {
            self.unclosed(start);
        }
        Block { statements, span: start.to(self.previous_span()) }
    }

    /// Says that the block which starts with this brace is not closed. If a brace further in was
    /// closed by one that stands too far left, that one is the likely culprit.
    pub(super) fn unclosed(&mut self, open: Span) {
        let message = format!("expected `}}`, found {}", self.found());
        let mut mistake = Diagnostic::new(Code::Unclosed, message, self.span(), "expected `}`");
        mistake = match self.misaligned.filter(|inner| inner.start > open.start) {
            Some(inner) => mistake.related(inner, "this brace may be the one without its `}`"),
            None => mistake.related(open, "to close this"),
        };
        self.report(mistake);
    }

    /// Whether the `}` here starts a line and stands left of the line that has the `{` at `open`.
    fn is_misaligned(&self, open: Span) -> bool {
        self.gap().contains('\n') && self.indentation(self.span()) < self.indentation(open)
    }

    /// How far the line is indented on which this stands.
    pub(super) fn indentation(&self, span: Span) -> usize {
        let before = &self.source()[..span.range().start];
        let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        line.len() - line.trim_start().len()
    }

    /// The statements of the block that starts with the brace `open`.
    fn statements(&mut self, open: Span) -> Vec<Statement> {
        let mut statements = Vec::new();
        while !matches!(self.peek(), TokenKind::CloseBrace | TokenKind::End) {
            if self.peek().starts_item() || self.at_state() {
                if self.skip_misplaced_variable(open) {
                    continue;
                }
                break;
            }
            let before = self.position();
            let mistakes = self.mistakes();
            statements.push(self.statement());
            if self.mistakes() > mistakes {
                self.resume_at_statement();
            }
            if self.position() == before {
                self.bump();
            }
        }
        statements
    }

    /// A declaration of a variable that is meant to stand in this block, by its looks, is reported
    /// and skipped.
    fn skip_misplaced_variable(&mut self, open: Span) -> bool {
        let is_variable =
            matches!(self.peek(), TokenKind::Shared | TokenKind::Local | TokenKind::Param)
                || self.at_state();
        let between = open.to(self.span()).text(self.source());
        let inside =
            !between.contains('\n') || self.indentation(self.span()) > self.indentation(open);
        if !is_variable || !inside {
            return false;
        }
        let message = format!("{} cannot be declared in a block", self.found());
        let mistake =
            Diagnostic::new(Code::Misplaced, message, self.span(), "only at the top level")
                .help("a variable of the operation is declared by `let x: T = …;`");
        self.report(mistake);
        self.variable("a name for the variable");
        true
    }

    /// After a mistake: on to the next statement, unless the mistaken one has ended properly.
    fn resume_at_statement(&mut self) {
        let ended = matches!(self.previous(), Some(TokenKind::Semicolon | TokenKind::CloseBrace));
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
        if let (Some(last), TokenKind::CloseBrace) = (annotations.last(), self.peek()) {
            let message = "this annotation stands before nothing";
            let mistake = Diagnostic::new(
                Code::MisplacedAnnotation,
                message,
                last.span,
                "expected a statement after it",
            );
            self.report(mistake);
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
                let value = (!matches!(self.peek(), TokenKind::Semicolon | TokenKind::CloseBrace))
                    .then(|| self.expression());
                self.expect(TokenKind::Semicolon);
                StatementKind::Return(value)
            }
            TokenKind::Atomic => {
                self.bump();
                StatementKind::Atomic(self.block())
            }
            TokenKind::OpenBrace => {
                let message = "a block cannot stand alone";
                let mistake =
                    Diagnostic::new(Code::Misplaced, message, self.span(), "belongs to nothing")
                        .help("blocks follow `if`, `else`, `while`, `loop`, `for` and `atomic`");
                self.report(mistake);
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
            let mistake =
                Diagnostic::new(Code::OtherLanguage, "there is no `mut` here", span, "not needed")
                    .help("every local variable may be assigned: write `let x = …;`");
            self.report_previous(mistake);
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
        let statements = self.deeper(|p| {
            let kind = p.if_statement();
            let span = start.to(p.previous_span());
            vec![Statement { kind, span, annotations: Vec::new() }]
        });
        let statements = statements.unwrap_or_default();
        Block { statements, span: start.to(self.previous_span()) }
    }

    fn expression_statement(&mut self) -> StatementKind {
        let target = self.start_of_statement();
        let operator = match self.peek() {
            TokenKind::Equal => None,
            TokenKind::PlusEqual => Some(BinaryOp::Add),
            TokenKind::MinusEqual => Some(BinaryOp::Subtract),
            _ => {
                if !self.misspelt_keyword(&target) {
                    self.expect(TokenKind::Semicolon);
                }
                return StatementKind::Expr(target);
            }
        };
        self.bump();
        let value = self.expression();
        self.expect(TokenKind::Semicolon);
        StatementKind::Assign(target, operator, value)
    }

    /// Whether the statement starts with a word that looks like a keyword and cannot be anything
    /// else; says so.
    fn misspelt_keyword(&mut self, start: &Expr) -> bool {
        let ExprKind::Name(word) = &start.kind else { return false };
        let advice = did_you_mean(word, STATEMENT_WORDS);
        if advice.is_none() || self.peek() == TokenKind::Semicolon {
            return false;
        }
        let message = format!("expected a statement, found `{word}`");
        let mistake = Diagnostic::new(Code::Unexpected, message, start.span, "not a statement")
            .maybe_help(advice);
        self.report(mistake);
        true
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
            let advice = did_you_mean(self.text(), &["lin", "base"]);
            let mistake = Diagnostic::new(
                Code::UnknownAnnotation,
                format!("unknown annotation {found}"),
                self.span(),
                "not an annotation",
            )
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
            self.skip_until(|kind| matches!(kind, TokenKind::CloseParen | TokenKind::CloseBracket));
            self.eat(TokenKind::CloseParen);
            return AnnotationKind::Lin;
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
