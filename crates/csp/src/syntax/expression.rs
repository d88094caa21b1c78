//! Expressions, by precedence climbing.

use super::ast::*;
use super::parse::Parser;
use super::token::TokenKind;
use linchpin_syntax::{Code, Diagnostic, Parser as _};

/// How tightly comparison binds; two of them in a row need parentheses.
const COMPARISON: u8 = 3;

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
        TokenKind::Plus => (BinaryOp::Add, 4),
        TokenKind::Minus => (BinaryOp::Subtract, 4),
        TokenKind::Star => (BinaryOp::Multiply, 5),
        TokenKind::Slash => (BinaryOp::Divide, 5),
        TokenKind::Percent => (BinaryOp::Remainder, 5),
        _ => return None,
    })
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Expr {
        self.tree(0, |parser| parser.operators(1))
    }

    fn missing(&self) -> Expr {
        Expr { kind: ExprKind::Missing, span: self.span() }
    }

    fn operators(&mut self, least: u8) -> Expr {
        let inner = self.deeper(|parser| parser.operators_inner(least));
        inner.unwrap_or_else(|| self.missing())
    }

    fn operators_inner(&mut self, least: u8) -> Expr {
        let mut left = self.unary();
        while let Some((operator, tightness)) = binary(self.peek()) {
            if tightness < least {
                break;
            }
            let first = self.span();
            self.bump();
            let right = self.operators(tightness + 1);
            if tightness == COMPARISON && matches!(binary(self.peek()), Some((_, COMPARISON))) {
                let mistake = Diagnostic::new(
                    Code::Chained,
                    "comparisons cannot be chained",
                    self.span(),
                    "second comparison",
                )
                .related(first, "first comparison")
                .help("write `a < b && b < c`");
                self.report(mistake);
            }
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span };
            if self.grows_too_high(span) {
                return self.missing();
            }
        }
        left
    }

    fn unary(&mut self) -> Expr {
        let start = self.span();
        let make: fn(Box<Expr>) -> ExprKind = match self.peek() {
            TokenKind::Bang => ExprKind::Not,
            TokenKind::Minus => ExprKind::Negate,
            _ => return self.primary(),
        };
        self.bump();
        let inner = self.deeper(Self::unary).unwrap_or_else(|| self.missing());
        let span = start.to(inner.span);
        Expr { kind: make(Box::new(inner)), span }
    }

    /// A number, a name, an element or something in parentheses: also what may follow the dot of an
    /// event.
    pub(super) fn primary(&mut self) -> Expr {
        let span = self.span();
        let kind = match self.peek() {
            TokenKind::Int => ExprKind::Int(self.number()),
            TokenKind::True | TokenKind::False => {
                let value = self.peek() == TokenKind::True;
                self.bump();
                ExprKind::Bool(value)
            }
            TokenKind::Name => {
                let name = self.expect_name("a name");
                if self.eat(TokenKind::OpenBracket) {
                    let index = self.operators(1);
                    self.expect(TokenKind::CloseBracket);
                    ExprKind::Index(name, Box::new(index))
                } else {
                    ExprKind::Name(name.name)
                }
            }
            TokenKind::OpenParen => {
                self.bump();
                let inner = self.operators(1);
                self.expect(TokenKind::CloseParen);
                inner.kind
            }
            _ => {
                self.expected("an expression");
                return self.missing();
            }
        };
        Expr { kind, span: span.to(self.previous_span()) }
    }

    /// `{a..b}` or `{a, b, c}`, the values of a bound name.
    pub(super) fn domain(&mut self) -> Domain {
        self.expect(TokenKind::OpenBrace);
        let first = self.expression();
        if self.eat(TokenKind::DotDot) {
            let last = self.expression();
            self.expect(TokenKind::CloseBrace);
            return Domain::Range(first, last);
        }
        let mut values = vec![first];
        if self.eat(TokenKind::Comma) {
            values.extend(self.listed(TokenKind::CloseBrace, Self::expression));
        } else {
            self.expect(TokenKind::CloseBrace);
        }
        Domain::List(values)
    }
}
