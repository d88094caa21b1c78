//! The values of expressions.

use super::{FaultKind, collection};
use crate::program::{BinaryOp, Expr, UnaryOp};
use linchpin_spec::Value;
use std::cmp::Ordering;

/// What an expression can see.
pub(super) struct Environment<'a> {
    /// The local variables of the body.
    pub locals: &'a [Value],
    /// The variables that the thread keeps between operations.
    pub variables: &'a [Value],
    /// The thread; none in `init`.
    pub thread: Option<usize>,
}

impl Environment<'_> {
    /// The value of an expression.
    pub fn eval(&self, expr: &Expr) -> Result<Value, FaultKind> {
        match expr {
            Expr::Const(value) => Ok(value.clone()),
            Expr::Local(id) => found(self.locals.get(id.0 as usize)),
            Expr::ThreadLocal(variable) => found(self.variables.get(*variable)),
            Expr::Me => {
                self.thread.map(|thread| Value::Int(thread as i64)).ok_or(FaultKind::IllTyped)
            }
            Expr::Unary(UnaryOp::Not, inner) => Ok(Value::Bool(!self.truth(inner)?)),
            Expr::Unary(UnaryOp::Negate, inner) => {
                self.int(inner)?.checked_neg().map(Value::Int).ok_or(FaultKind::Overflow)
            }
            Expr::Unary(UnaryOp::ThreadNumber, inner) => self.int(inner).map(Value::Int),
            Expr::Binary(operator, left, right) => self.binary(*operator, left, right),
            Expr::Component(record, component) => {
                found(self.eval(record)?.as_list().and_then(|items| items.get(*component)))
            }
            Expr::Element(list, index) => {
                let list = self.eval(list)?;
                let items = list.as_list().ok_or(FaultKind::IllTyped)?;
                Ok(items[self.index(index, items.len())?].clone())
            }
            Expr::List(items) => Ok(Value::list(self.eval_all(items)?)),
            Expr::If(condition, yes, no) => {
                self.eval(if self.truth(condition)? { yes } else { no })
            }
            Expr::Unwrap(inner) => match self.eval(inner)? {
                Value::Null => Err(FaultKind::UnwrapNone),
                value => Ok(value),
            },
            Expr::Query(query, of, arguments) => {
                collection::query(*query, &self.eval(of)?, &self.eval_all(arguments)?)
            }
        }
    }

    /// The values of several expressions.
    pub fn eval_all(&self, exprs: &[Expr]) -> Result<Vec<Value>, FaultKind> {
        exprs.iter().map(|expr| self.eval(expr)).collect()
    }

    /// The value of a condition.
    pub fn truth(&self, expr: &Expr) -> Result<bool, FaultKind> {
        self.eval(expr)?.as_bool().ok_or(FaultKind::IllTyped)
    }

    /// The value of a number.
    pub fn int(&self, expr: &Expr) -> Result<i64, FaultKind> {
        self.eval(expr)?.as_int().ok_or(FaultKind::IllTyped)
    }

    /// The value of an index into `length` elements.
    pub fn index(&self, expr: &Expr, length: usize) -> Result<usize, FaultKind> {
        let index = self.int(expr)?;
        match usize::try_from(index) {
            Ok(inside) if inside < length => Ok(inside),
            _ => Err(FaultKind::IndexOutOfRange { index, length }),
        }
    }

    fn binary(&self, operator: BinaryOp, left: &Expr, right: &Expr) -> Result<Value, FaultKind> {
        let truth = match operator {
            BinaryOp::And => self.truth(left)? && self.truth(right)?,
            BinaryOp::Or => self.truth(left)? || self.truth(right)?,
            BinaryOp::Equal => self.eval(left)? == self.eval(right)?,
            BinaryOp::NotEqual => self.eval(left)? != self.eval(right)?,
            BinaryOp::Less => self.compare(left, right)?.is_lt(),
            BinaryOp::LessEqual => self.compare(left, right)?.is_le(),
            BinaryOp::Greater => self.compare(left, right)?.is_gt(),
            BinaryOp::GreaterEqual => self.compare(left, right)?.is_ge(),
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Remainder => {
                return arithmetic(operator, self.int(left)?, self.int(right)?).map(Value::Int);
            }
            BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::ShiftLeft
            | BinaryOp::ShiftRight => {
                let result = operator.on_bits(self.int(left)?, self.int(right)?);
                return result.map(Value::Int).ok_or(FaultKind::Overflow);
            }
        };
        Ok(Value::Bool(truth))
    }

    fn compare(&self, left: &Expr, right: &Expr) -> Result<Ordering, FaultKind> {
        Ok(self.int(left)?.cmp(&self.int(right)?))
    }
}

fn found(value: Option<&Value>) -> Result<Value, FaultKind> {
    value.cloned().ok_or(FaultKind::IllTyped)
}

fn arithmetic(operator: BinaryOp, left: i64, right: i64) -> Result<i64, FaultKind> {
    let result = match operator {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Subtract => left.checked_sub(right),
        BinaryOp::Multiply => left.checked_mul(right),
        BinaryOp::Divide | BinaryOp::Remainder if right == 0 => {
            return Err(FaultKind::DivisionByZero);
        }
        BinaryOp::Divide => left.checked_div(right),
        BinaryOp::Remainder => left.checked_rem(right),
        _ => return Err(FaultKind::IllTyped),
    };
    result.ok_or(FaultKind::Overflow)
}
