//! Changes inside of an expression: a part of a test ignored, a mark exchanged, a number off by
//! one.

use super::Change;
use super::maker::{Edit, Maker};
use linchpin_lang::syntax::ast::{BinaryOp, Expr, ExprKind, Range, UnaryOp};

impl Maker<'_> {
    /// Changes of an expression, wherever it stands.
    pub(super) fn expression(&mut self, value: &Expr) {
        match &value.kind {
            ExprKind::Int(number) => {
                let more = number.saturating_add(1).to_string();
                self.add(Change::OffByOne, vec![Edit::replace(value.span, more)]);
            }
            ExprKind::Bool(is) => {
                let other = if *is { "false" } else { "true" };
                self.add(Change::FlippedMark, vec![Edit::replace(value.span, other)]);
            }
            ExprKind::Binary(op, left, right) => {
                self.ignored(value, *op, [left, right]);
                if let Some(other) = shifted(*op) {
                    let text = format!("{} {other} {}", self.of(left.span), self.of(right.span));
                    self.add(Change::OffByOne, vec![Edit::replace(value.span, text)]);
                }
                self.expression(left);
                self.expression(right);
            }
            ExprKind::Index(place, index) => {
                self.expression(place);
                self.expression(index);
            }
            ExprKind::If(condition, one, other) => {
                self.expression(condition);
                self.expression(one);
                self.expression(other);
            }
            ExprKind::Range(Range { from, to, .. }) => {
                self.expression(from);
                self.expression(to);
            }
            ExprKind::Unary(_, inner) | ExprKind::Field(inner, _) => self.expression(inner),
            ExprKind::Call(_, parts)
            | ExprKind::MethodCall(_, _, parts)
            | ExprKind::Array(parts)
            | ExprKind::Tuple(parts) => parts.iter().for_each(|part| self.expression(part)),
            ExprKind::New(_, fields) | ExprKind::Record(_, fields, _) => {
                fields.iter().for_each(|(_, value)| self.expression(value));
            }
            _ => {}
        }
    }

    /// One side of `&&` or `||` is left out.
    fn ignored(&mut self, value: &Expr, op: BinaryOp, sides: [&Expr; 2]) {
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            for kept in sides {
                let text = self.of(kept.span);
                self.add(Change::IgnoredPart, vec![Edit::replace(value.span, text)]);
            }
        }
    }
}

/// Whether it is a test by its form.
pub(super) const fn is_condition(value: &Expr) -> bool {
    use BinaryOp::{And, Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual, Or};
    matches!(
        value.kind,
        ExprKind::Unary(UnaryOp::Not, _)
            | ExprKind::Binary(
                And | Or | Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual,
                ..
            )
    )
}

const fn shifted(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Less => "<=",
        BinaryOp::LessEqual => "<",
        BinaryOp::Greater => ">=",
        BinaryOp::GreaterEqual => ">",
        _ => return None,
    })
}
