//! Constant expressions: evaluated while the model is checked.

use super::Checker;
use super::scope::{Kind, Scope};
use crate::hir::{Expr, ExprKind};
use crate::syntax::ast::{self, BinaryOp, UnaryOp};
use linchpin_ir::program::Type;
use linchpin_spec::Value;
use linchpin_syntax::{Code, Diagnostic};

impl Checker<'_> {
    /// Evaluates a constant expression of the given type.
    pub(super) fn constant(&mut self, expr: &ast::Expr, ty: &Type) -> Option<Value> {
        self.known_value(expr, Some(ty))
    }

    /// Evaluates a constant expression of whatever type it has.
    pub(super) fn any_constant(&mut self, expr: &ast::Expr) -> Option<Value> {
        match expr.kind {
            ast::ExprKind::Null | ast::ExprKind::None => Some(Value::Null),
            _ => self.known_value(expr, None),
        }
    }

    fn known_value(&mut self, expr: &ast::Expr, ty: Option<&Type>) -> Option<Value> {
        let mut scope = Scope::new(Kind::Constant, Type::Unit);
        let checked = self.expr(&mut scope, expr, ty)?;
        if let Some(value) = checked.as_const() {
            return Some(value.clone());
        }
        let mistake = match checked.kind {
            // Operators on constants are folded, unless there is no result.
            ExprKind::Binary(..) | ExprKind::Unary(..) => {
                Diagnostic::new(Code::NotConstant, "this number cannot be computed", expr.span, "no result")
                    .help("it divides by zero, or does not fit 64 bits")
            }
            _ => Diagnostic::new(Code::NotConstant, "this is not a constant", expr.span, "not known before the run")
                .help("constants are made of numbers, parameters, `threads`, `null` and `none`; use `init { }` for the rest"),
        };
        self.report(mistake);
        None
    }
}

/// A list; a constant if every item is.
pub(super) fn fold_list(items: Vec<Expr>) -> ExprKind {
    let constants: Option<Vec<Value>> = items.iter().map(|item| item.as_const().cloned()).collect();
    match constants {
        Some(values) => ExprKind::Const(Value::list(values)),
        None => ExprKind::List(items),
    }
}

/// A unary operator; a constant if its operand is. What would be a fault is left for the run.
pub(super) fn fold_unary(operator: UnaryOp, inner: Expr, ty: Type, line: u32) -> Expr {
    let folded = match (operator, inner.as_const()) {
        (UnaryOp::Not, Some(Value::Bool(b))) => Some(Value::Bool(!b)),
        (UnaryOp::Negate, Some(Value::Int(i))) => i.checked_neg().map(Value::Int),
        _ => None,
    };
    let kind = match folded {
        Some(value) => ExprKind::Const(value),
        None => ExprKind::Unary(operator, Box::new(inner)),
    };
    Expr { kind, ty, line }
}

/// An operator; a constant if both sides are. What would be a fault is left for the run.
pub(super) fn fold_binary(
    operator: BinaryOp,
    left: Expr,
    right: Expr,
    ty: Type,
    line: u32,
) -> Expr {
    let folded = match (left.as_const(), right.as_const()) {
        (Some(a), Some(b)) => fold(operator, a, b),
        _ => None,
    };
    let kind = match folded {
        Some(value) => ExprKind::Const(value),
        None => ExprKind::Binary(operator, Box::new(left), Box::new(right)),
    };
    Expr { kind, ty, line }
}

fn fold(operator: BinaryOp, left: &Value, right: &Value) -> Option<Value> {
    match operator {
        BinaryOp::Equal => return Some(Value::Bool(left == right)),
        BinaryOp::NotEqual => return Some(Value::Bool(left != right)),
        BinaryOp::And => return Some(Value::Bool(left.as_bool()? && right.as_bool()?)),
        BinaryOp::Or => return Some(Value::Bool(left.as_bool()? || right.as_bool()?)),
        _ => {}
    }
    let (a, b) = (left.as_int()?, right.as_int()?);
    Some(match operator {
        BinaryOp::Add => Value::Int(a.checked_add(b)?),
        BinaryOp::Subtract => Value::Int(a.checked_sub(b)?),
        BinaryOp::Multiply => Value::Int(a.checked_mul(b)?),
        BinaryOp::Divide => Value::Int(a.checked_div(b)?),
        BinaryOp::Remainder => Value::Int(a.checked_rem(b)?),
        bits if bits.is_on_bits() => Value::Int(bits.on_bits(a, b)?),
        BinaryOp::Less => Value::Bool(a < b),
        BinaryOp::LessEqual => Value::Bool(a <= b),
        BinaryOp::Greater => Value::Bool(a > b),
        BinaryOp::GreaterEqual => Value::Bool(a >= b),
        _ => return None,
    })
}

/// `if c { a } else { b }`; the branch taken if everything is constant.
pub(super) fn fold_if(condition: Expr, then: Expr, otherwise: Expr) -> ExprKind {
    let taken = match condition.as_const() {
        Some(Value::Bool(true)) => then.as_const(),
        Some(Value::Bool(false)) => otherwise.as_const(),
        _ => None,
    };
    match taken {
        Some(value) => ExprKind::Const(value.clone()),
        None => ExprKind::If(Box::new(condition), Box::new(then), Box::new(otherwise)),
    }
}
