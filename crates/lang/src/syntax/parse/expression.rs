//! Expressions, by precedence climbing.

use super::Parser;
use crate::syntax::ast::*;
use crate::syntax::token::TokenKind;
use linchpin_syntax::{Code, Diagnostic, Parser as _, Span};

/// How tightly comparison binds; two of them in a row need parentheses.
const COMPARISON: u8 = 3;

/// How tightly shifts bind: looser than `+`, tighter than `&`, `^`, `|` and comparison, as in Rust.
const SHIFT: u8 = 7;

fn binary(kind: TokenKind) -> Option<(BinaryOp, u8)> {
    Some(match kind {
        TokenKind::OrOr => (BinaryOp::Or, 1),
        TokenKind::AndAnd => (BinaryOp::And, 2),
        TokenKind::EqualEqual => (BinaryOp::Equal, COMPARISON),
        TokenKind::BangEqual => (BinaryOp::NotEqual, COMPARISON),
        TokenKind::Less => (BinaryOp::Less, COMPARISON),
        TokenKind::LessEqual => (BinaryOp::LessEqual, COMPARISON),
        TokenKind::Greater => (BinaryOp::Greater, COMPARISON),
        TokenKind::GreaterEqual => (BinaryOp::GreaterEqual, COMPARISON),
        TokenKind::Bar => (BinaryOp::BitOr, 4),
        TokenKind::Caret => (BinaryOp::BitXor, 5),
        TokenKind::Ampersand => (BinaryOp::BitAnd, 6),
        TokenKind::ShiftLeft => (BinaryOp::ShiftLeft, SHIFT),
        TokenKind::Plus => (BinaryOp::Add, 8),
        TokenKind::Minus => (BinaryOp::Subtract, 8),
        TokenKind::Star => (BinaryOp::Multiply, 9),
        TokenKind::Slash => (BinaryOp::Divide, 9),
        TokenKind::Percent => (BinaryOp::Remainder, 9),
        _ => return None,
    })
}

/// Whether `Name {` starts a record here. Not in a condition, where the brace starts the block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Braces {
    Record,
    Block,
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Expr {
        self.binary(1, Braces::Record)
    }

    /// The condition of `if`, `while`, `requires`: a brace after it starts the block.
    pub(super) fn condition(&mut self) -> Expr {
        self.binary(1, Braces::Block)
    }

    /// What a statement starts with: `Name {` is more likely a misspelt `loop {` than a record.
    pub(super) fn start_of_statement(&mut self) -> Expr {
        self.binary(1, Braces::Block)
    }

    /// `a..b` or `a..=b`.
    pub(super) fn range(&mut self) -> Range {
        let from = self.binary(1, Braces::Block);
        let inclusive = self.peek() == TokenKind::DotDotEqual;
        if !inclusive && self.peek() != TokenKind::DotDot {
            self.expected("`..` or `..=`");
            let to = Expr { kind: ExprKind::Missing, span: self.span() };
            return Range { from: Box::new(from), to: Box::new(to), inclusive: false };
        }
        self.bump();
        let to = self.binary(1, Braces::Block);
        Range { from: Box::new(from), to: Box::new(to), inclusive }
    }

    fn binary(&mut self, least: u8, braces: Braces) -> Expr {
        let expr = self.tree(1, |p| p.deeper(|p| p.binary_inner(least, braces)));
        expr.unwrap_or_else(|| self.missing())
    }

    fn missing(&self) -> Expr {
        Expr { kind: ExprKind::Missing, span: self.span() }
    }

    fn binary_inner(&mut self, least: u8, braces: Braces) -> Expr {
        let mut left = self.unary(braces);
        while let Some((operator, tightness)) = self.operator() {
            if self.at_increment() {
                self.increment();
                break;
            }
            if tightness < least {
                break;
            }
            let operator_span = self.span();
            if operator == BinaryOp::ShiftRight {
                self.bump();
                self.shifts.push(self.span().start);
            }
            self.bump();
            let right = self.binary(tightness + 1, braces);
            if matches!(right.kind, ExprKind::Missing) {
                return right;
            }
            if tightness == COMPARISON && matches!(self.operator(), Some((_, COMPARISON))) {
                let mistake = Diagnostic::new(
                    Code::Chained,
                    "comparisons cannot be chained",
                    self.span(),
                    "second comparison",
                )
                .related(operator_span, "first comparison")
                .help("write `a < b && b < c`");
                self.report(mistake);
            }
            let span = left.span.to(right.span);
            let kind = ExprKind::Binary(operator, Box::new(left), Box::new(right));
            left = Expr { kind, span };
            if self.grows_too_high(span) {
                return self.missing();
            }
        }
        left
    }

    /// The operator that is next. `>>` is two tokens, because `seq<seq<int>>` ends with them.
    fn operator(&self) -> Option<(BinaryOp, u8)> {
        if self.at_double(TokenKind::Greater) {
            return Some((BinaryOp::ShiftRight, SHIFT));
        }
        binary(self.peek())
    }

    /// The number of values after `int %`: short, for `?` may follow.
    pub(super) fn modulus(&mut self) -> Expr {
        self.unary(Braces::Block)
    }

    fn unary(&mut self, braces: Braces) -> Expr {
        while matches!(self.text(), "&" | "*") {
            self.address();
        }
        if self.at_double(TokenKind::Plus) {
            self.increment();
        }
        let start = self.span();
        let operator = match self.peek() {
            TokenKind::Bang => UnaryOp::Not,
            TokenKind::Minus => UnaryOp::Negate,
            _ => return self.postfix(braces),
        };
        self.bump();
        let inner = self.deeper(|p| p.unary(braces)).unwrap_or_else(|| self.missing());
        let span = start.to(inner.span);
        Expr { kind: ExprKind::Unary(operator, Box::new(inner)), span }
    }

    fn postfix(&mut self, braces: Braces) -> Expr {
        let mut expr = self.primary(braces);
        loop {
            let start = expr.span;
            let kind = match self.peek() {
                TokenKind::Dot => {
                    self.bump();
                    self.member(expr)
                }
                TokenKind::Arrow if self.peek_after(1) == TokenKind::Name => {
                    self.arrow();
                    self.member(expr)
                }
                TokenKind::OpenBracket => {
                    self.bump();
                    let index = self.expression();
                    self.expect(TokenKind::CloseBracket);
                    ExprKind::Index(Box::new(expr), Box::new(index))
                }
                _ => return expr,
            };
            expr = Expr { kind, span: start.to(self.previous_span()) };
            if self.grows_too_high(expr.span) {
                return self.missing();
            }
        }
    }

    /// A field or a method call, what is behind the dot being next.
    fn member(&mut self, of: Expr) -> ExprKind {
        let name = self.expect_name("a field");
        if self.eat(TokenKind::OpenParen) {
            let arguments = self.separated(TokenKind::CloseParen, Self::expression);
            return ExprKind::MethodCall(Box::new(of), name, arguments);
        }
        ExprKind::Field(Box::new(of), name)
    }

    fn primary(&mut self, braces: Braces) -> Expr {
        let start = self.span();
        let kind = match self.peek() {
            TokenKind::Int => ExprKind::Int(self.number()),
            TokenKind::True => self.literal(ExprKind::Bool(true)),
            TokenKind::False => self.literal(ExprKind::Bool(false)),
            TokenKind::Null => self.literal(ExprKind::Null),
            TokenKind::None => self.literal(ExprKind::None),
            TokenKind::New => self.new_object(),
            TokenKind::If => self.if_expression(),
            TokenKind::OpenParen => self.parenthesis(),
            TokenKind::OpenBracket => self.array(),
            TokenKind::Name => self.named(braces),
            _ => {
                self.expected("an expression");
                return self.missing();
            }
        };
        Expr { kind, span: start.to(self.previous_span()) }
    }

    fn literal(&mut self, kind: ExprKind) -> ExprKind {
        self.bump();
        kind
    }

    fn new_object(&mut self) -> ExprKind {
        self.bump();
        let name = self.expect_name("the name of a struct");
        let mut fields = Vec::new();
        if self.peek() == TokenKind::OpenParen {
            self.constructor(&name);
        } else if self.expect(TokenKind::OpenBrace) {
            fields = self.separated(TokenKind::CloseBrace, Self::field_value);
        }
        ExprKind::New(name, fields)
    }

    /// `f: e`, or `f` alone for `f: f`.
    fn field_value(&mut self) -> (Ident, Expr) {
        let name = self.expect_name("a field name");
        let value = if self.eat(TokenKind::Colon) {
            self.expression()
        } else {
            Expr { kind: ExprKind::Name(name.name.clone()), span: name.span }
        };
        (name, value)
    }

    fn record(&mut self, name: Ident) -> ExprKind {
        self.bump();
        let mut base = None;
        let fields = self.separated(TokenKind::CloseBrace, |p| {
            if p.eat(TokenKind::DotDot) {
                base = Some(Box::new(p.expression()));
                return None;
            }
            Some(p.field_value())
        });
        ExprKind::Record(name, fields.into_iter().flatten().collect(), base)
    }

    fn if_expression(&mut self) -> ExprKind {
        self.bump();
        let condition = self.condition();
        let then = self.braced_expression();
        self.expect(TokenKind::Else);
        let otherwise = if self.peek() == TokenKind::If {
            let start = self.span();
            let kind = self.deeper(Self::if_expression).unwrap_or(ExprKind::Missing);
            Expr { kind, span: start.to(self.previous_span()) }
        } else {
            self.braced_expression()
        };
        ExprKind::If(Box::new(condition), Box::new(then), Box::new(otherwise))
    }

    fn braced_expression(&mut self) -> Expr {
        if !self.expect(TokenKind::OpenBrace) {
            return self.missing();
        }
        let value = self.expression();
        self.expect(TokenKind::CloseBrace);
        value
    }

    fn parenthesis(&mut self) -> ExprKind {
        self.bump();
        let mut items = self.separated(TokenKind::CloseParen, Self::expression);
        let is_tuple = items.len() != 1 || self.second_to_last() == Some(TokenKind::Comma);
        match items.pop() {
            Some(only) if !is_tuple => only.kind,
            Some(last) => {
                items.push(last);
                ExprKind::Tuple(items)
            }
            None => ExprKind::Tuple(items),
        }
    }

    fn array(&mut self) -> ExprKind {
        self.bump();
        if self.eat(TokenKind::CloseBracket) {
            return ExprKind::Array(Vec::new());
        }
        let first = self.expression();
        if self.eat(TokenKind::Semicolon) {
            let length = self.expression();
            self.expect(TokenKind::CloseBracket);
            return ExprKind::Repeat(Box::new(first), Box::new(length));
        }
        let mut items = vec![first];
        if self.eat(TokenKind::Comma) {
            items.extend(self.separated(TokenKind::CloseBracket, Self::expression));
        } else {
            self.expect(TokenKind::CloseBracket);
        }
        ExprKind::Array(items)
    }

    fn named(&mut self, braces: Braces) -> ExprKind {
        let quantifier = self.at_word("forall") || self.at_word("exists");
        if quantifier && self.peek_after(1) == TokenKind::Name {
            return self.quantifier();
        }
        let name = self.expect_name("a name");
        match self.peek() {
            TokenKind::OpenParen => {
                self.bump();
                let arguments = self.separated(TokenKind::CloseParen, Self::argument);
                ExprKind::Call(name, arguments)
            }
            TokenKind::OpenBrace if braces == Braces::Record => self.record(name),
            TokenKind::OpenBrace if self.at_record() => {
                let message = "a record before a block stands in parentheses";
                let mistake = Diagnostic::new(
                    Code::RecordBeforeBlock,
                    message,
                    self.span(),
                    "would start the block",
                )
                .related(name.span, "the record")
                .help(format!("write `({} {{ … }})`", name.name));
                self.report(mistake);
                self.record(name)
            }
            _ => ExprKind::Name(name.name),
        }
    }

    /// Whether the brace here can only be that of a record: no statement starts like this.
    fn at_record(&self) -> bool {
        match self.peek_after(1) {
            TokenKind::Name => self.peek_after(2) == TokenKind::Colon,
            kind => kind == TokenKind::DotDot,
        }
    }

    /// An argument: an expression, or a range for `choose`.
    fn argument(&mut self) -> Expr {
        let from = self.expression();
        let inclusive = self.peek() == TokenKind::DotDotEqual;
        if !inclusive && self.peek() != TokenKind::DotDot {
            return from;
        }
        self.bump();
        let to = self.expression();
        let span: Span = from.span.to(to.span);
        let range = Range { from: Box::new(from), to: Box::new(to), inclusive };
        Expr { kind: ExprKind::Range(range), span }
    }

    fn quantifier(&mut self) -> ExprKind {
        let forall = self.at_word("forall");
        self.bump();
        let name = self.expect_name("a name for the object");
        self.expect(TokenKind::Colon);
        let of = self.expect_name("the name of a struct");
        let body = Box::new(self.braced_expression());
        ExprKind::Quantifier { forall, name, of, body }
    }
}
