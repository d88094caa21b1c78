//! Numbers that are not plain: wrapping integers (`int % N`), and the numbers of threads.
//!
//! An `int % N` is an `int` from 0 to `N - 1`. It is accepted wherever an `int` is; an `int` that
//! goes where an `int % N` is expected is reduced. `+`, `-` and `*` of an `int % N` give an
//! `int % N`. All that is decided here: what the lowering sees are remainders.

use super::Checker;
use super::constant::fold_binary;
use super::scope::Scope;
use crate::hir::{Expr, ExprKind};
use crate::syntax::ast::{self, BinaryOp, Ident, UnaryOp};
use linchpin_ir::program::Type;
use linchpin_spec::Value;
use linchpin_syntax::{Code, Diagnostic, Span};

/// The product of two values fits 64 bits.
const LARGEST: i64 = 1 << 31;

impl Checker<'_> {
    /// `int % N`
    pub(super) fn wrapping_type(&mut self, modulus: &ast::Expr) -> Option<Type> {
        let count = self.constant(modulus, &Type::Int)?.as_int()?;
        if (1..=LARGEST).contains(&count) {
            return Some(Type::Wrapping(count));
        }
        let message = format!("there is no `int % {count}`");
        let label = format!("must be between 1 and {LARGEST}");
        self.report(
            Diagnostic::new(Code::Wrapping, message, modulus.span, label)
                .help("`int % 4` has the values 0, 1, 2 and 3; after 3 comes 0"),
        );
        None
    }

    /// `left + right`, `left - right` or `left * right`.
    pub(super) fn arithmetic(
        &mut self,
        operator: BinaryOp,
        (left, left_span): (Expr, Span),
        (right, right_span): (Expr, Span),
        line: u32,
    ) -> Option<Expr> {
        let modulus = match (&left.ty, &right.ty) {
            (Type::Wrapping(a), Type::Wrapping(b)) if a != b => {
                let message = format!(
                    "{} and {} wrap at different numbers",
                    self.type_name(&left.ty),
                    self.type_name(&right.ty)
                );
                self.report(
                    Diagnostic::new(Code::Wrapping, message, right_span, "where does this wrap?")
                        .related(left_span, "and this?")
                        .help("`int(x)` is the same number as a plain `int`"),
                );
                return None;
            }
            (Type::Wrapping(modulus), _) | (_, Type::Wrapping(modulus)) => Some(*modulus),
            _ => None,
        };
        let expected = modulus.map_or(Type::Int, Type::Wrapping);
        let left = self.coerce(left, &expected, left_span);
        let right = self.coerce(right, &expected, right_span);
        let (left, right) = (left?, right?);
        Some(match modulus {
            Some(modulus) => wrapped(operator, left, right, modulus, line),
            None => fold_binary(operator, left, right, Type::Int, line),
        })
    }

    /// `int(e)`: the number of a thread, or a wrapping integer as a plain one.
    pub(super) fn number(
        &mut self,
        scope: &mut Scope,
        name: &Ident,
        value: &ast::Expr,
        line: u32,
    ) -> Option<Expr> {
        let inner = self.expr(scope, value, None)?;
        match inner.ty {
            Type::Int | Type::Wrapping(_) => Some(Expr { ty: Type::Int, ..inner }),
            Type::Tid => {
                let kind = ExprKind::Unary(UnaryOp::ThreadNumber, Box::new(inner));
                Some(Expr { kind, ty: Type::Int, line })
            }
            _ => {
                let message = format!("{} is no number", self.type_name(&inner.ty));
                self.report(
                    Diagnostic::new(Code::WrongType, message, name.span, "of what?")
                        .help("`int(t)` is the number of a thread: 0, 1, …"),
                );
                None
            }
        }
    }
}

/// The type without the knowledge where its numbers wrap.
pub(super) fn erased(ty: &Type) -> Type {
    match ty {
        Type::Wrapping(_) => Type::Int,
        Type::Option(inner) => Type::Option(Box::new(erased(inner))),
        other => other.clone(),
    }
}

/// Brings a number into the range from 0 to `modulus - 1`.
pub(super) fn reduced(number: Expr, modulus: i64) -> Expr {
    let line = number.line;
    if let Some(value) = number.as_const().and_then(Value::as_int) {
        return constant(value.rem_euclid(modulus), Type::Wrapping(modulus), line);
    }
    // A remainder has the sign of the number; a further one makes it positive.
    let bounded = remainder(number, modulus, Type::Int, line);
    let positive =
        fold_binary(BinaryOp::Add, bounded, constant(modulus, Type::Int, line), Type::Int, line);
    remainder(positive, modulus, Type::Wrapping(modulus), line)
}

/// The operator on two numbers that are in range, brought into range.
pub(super) fn wrapped(
    operator: BinaryOp,
    left: Expr,
    right: Expr,
    modulus: i64,
    line: u32,
) -> Expr {
    let mut result = fold_binary(operator, left, right, Type::Int, line);
    if operator == BinaryOp::Subtract {
        let modulus = constant(modulus, Type::Int, line);
        result = fold_binary(BinaryOp::Add, result, modulus, Type::Int, line);
    }
    remainder(result, modulus, Type::Wrapping(modulus), line)
}

fn remainder(number: Expr, modulus: i64, ty: Type, line: u32) -> Expr {
    fold_binary(BinaryOp::Remainder, number, constant(modulus, Type::Int, line), ty, line)
}

fn constant(value: i64, ty: Type, line: u32) -> Expr {
    Expr { kind: ExprKind::Const(Value::Int(value)), ty, line }
}
