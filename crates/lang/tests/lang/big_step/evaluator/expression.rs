//! Expressions.

use super::place::Resolved;
use super::value::{Evaluated, in_expression};
use super::{Datum, Evaluator, Mistake};
use linchpin_lang::syntax::ast::{BinaryOp, Expr, ExprKind, Ident, UnaryOp};

impl<'m> Evaluator<'m> {
    pub(super) fn eval(&mut self, expr: &'m Expr) -> Evaluated<Datum> {
        self.spend()?;
        match &expr.kind {
            ExprKind::Int(number) => Ok(Datum::Int(*number)),
            ExprKind::Bool(truth) => Ok(Datum::Bool(*truth)),
            ExprKind::Null | ExprKind::None => Ok(Datum::Nothing),
            ExprKind::Name(_) | ExprKind::Field(..) | ExprKind::Index(..) => {
                match self.resolve(expr)? {
                    Resolved::Value(value) => Ok(value),
                    Resolved::Place(place) => self.read(&place),
                }
            }
            ExprKind::Unary(UnaryOp::Not, inner) => Ok(Datum::Bool(!self.eval(inner)?.truth())),
            ExprKind::Unary(UnaryOp::Negate, inner) => {
                match self.eval(inner)?.int().checked_neg() {
                    Some(number) => Ok(Datum::Int(number)),
                    None => in_expression(Mistake::Overflow),
                }
            }
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right),
            ExprKind::If(condition, then, otherwise) => {
                let truth = self.eval(condition)?.truth();
                self.cover("if expression");
                self.eval(if truth { then } else { otherwise })
            }
            ExprKind::Call(name, arguments) => {
                let functions = &self.declared.functions;
                match functions.iter().copied().find(|known| known.name.name == name.name) {
                    Some(function) => {
                        let arguments = self.eval_all(arguments)?;
                        self.cover("function call");
                        self.call_function(function, &arguments)
                    }
                    None => self.builtin(&name.name, arguments),
                }
            }
            ExprKind::MethodCall(object, method, arguments) => {
                self.method(object, &method.name, arguments)
            }
            ExprKind::New(name, fields) => self.allocate(&name.name, fields),
            ExprKind::Record(name, fields, base) => {
                self.record(&name.name, fields, base.as_deref())
            }
            ExprKind::Array(items) => self.eval_all(items).map(Datum::List),
            ExprKind::Repeat(item, length) => {
                let item = self.eval(item)?;
                let length = self.eval(length)?.int();
                self.cover("array of equal elements");
                Ok(Datum::List(vec![item; length as usize]))
            }
            ExprKind::Tuple(items) if items.is_empty() => Ok(Datum::Nothing),
            ExprKind::Tuple(items) => self.eval_all(items).map(Datum::List),
            ExprKind::Range(_) | ExprKind::Quantifier { .. } | ExprKind::Missing => {
                panic!("not a value: {expr:?}")
            }
        }
    }

    pub(super) fn eval_all(&mut self, exprs: &'m [Expr]) -> Evaluated<Vec<Datum>> {
        exprs.iter().map(|expr| self.eval(expr)).collect()
    }

    fn binary(&mut self, operator: BinaryOp, left: &'m Expr, right: &'m Expr) -> Evaluated<Datum> {
        let left = self.eval(left)?;
        match (operator, &left) {
            (BinaryOp::And, Datum::Bool(false)) | (BinaryOp::Or, Datum::Bool(true)) => {
                self.cover("short circuit");
                return Ok(left);
            }
            (BinaryOp::And | BinaryOp::Or, _) => return self.eval(right),
            _ => {}
        }
        let right = self.eval(right)?;
        Ok(Datum::Bool(match operator {
            BinaryOp::Equal => left == right,
            BinaryOp::NotEqual => left != right,
            BinaryOp::Less => left.int() < right.int(),
            BinaryOp::LessEqual => left.int() <= right.int(),
            BinaryOp::Greater => left.int() > right.int(),
            BinaryOp::GreaterEqual => left.int() >= right.int(),
            _ => return arithmetic(operator, left.int(), right.int()).map(Datum::Int),
        }))
    }

    fn record(
        &mut self,
        name: &str,
        given: &'m [(Ident, Expr)],
        base: Option<&'m Expr>,
    ) -> Evaluated<Datum> {
        let mut values = Vec::new();
        for (at, (field, value)) in given.iter().enumerate() {
            let value = self.eval(value).map_err(|stop| {
                let later = given[at + 1..].iter().map(|(_, value)| value).chain(base);
                self.or_later_faults(stop, &[], &later.collect::<Vec<_>>())
            })?;
            values.push((&field.name, value));
        }
        let record = match base {
            Some(base) => {
                self.cover("record update");
                self.eval(base)?
            }
            None => {
                let records = &self.declared.records;
                let record = records.iter().copied().find(|known| known.name.name == name);
                let fields = record.expect("a record").fields.iter();
                let defaults = fields.map(|(field, ty)| (field.name.clone(), self.default_of(ty)));
                Datum::Record(defaults.collect())
            }
        };
        let mut record = record;
        for (field, value) in values {
            *component(&mut record, field) = value;
        }
        Ok(record)
    }

    /// Whether this names a local variable or one of the thread.
    pub(super) fn is_private(&self, name: &str) -> bool {
        self.local(name).is_some() || self.thread_local(name).is_some()
    }

    /// What a local variable holds, or one of the thread.
    pub(super) fn private(&self, name: &str) -> &Datum {
        match (self.local(name), self.thread_local(name), self.thread) {
            (Some(at), _, _) => &self.scope[at].1,
            (None, Some(at), Some(thread)) => &self.world.threads[thread].variables[at],
            _ => panic!("{name} is not a variable of this thread"),
        }
    }

    /// The same, to be changed.
    pub(super) fn private_mut(&mut self, name: &str) -> &mut Datum {
        match (self.local(name), self.thread_local(name), self.thread) {
            (Some(at), _, _) => &mut self.scope[at].1,
            (None, Some(at), Some(thread)) => {
                self.cover("thread-local assigned");
                &mut self.world_mut().threads[thread].variables[at]
            }
            _ => panic!("{name} is not a variable of this thread"),
        }
    }

    /// The variable that is not shared and holds a record, if the expression names one.
    pub(super) fn private_record(&self, expr: &'m Expr) -> Option<&'m str> {
        let ExprKind::Name(name) = &expr.kind else { return None };
        let found = self.is_private(name) && matches!(self.private(name), Datum::Record(_));
        found.then_some(name)
    }

    /// The variable that is not shared and holds an array, if the expression names one.
    pub(super) fn private_list(&self, expr: &'m Expr) -> Option<&'m str> {
        let ExprKind::Name(name) = &expr.kind else { return None };
        let found = self.is_private(name) && matches!(self.private(name), Datum::List(_));
        found.then_some(name)
    }
}

/// A component of a record.
pub(super) fn component<'d>(record: &'d mut Datum, field: &str) -> &'d mut Datum {
    match record {
        Datum::Record(fields) => {
            let component = fields.iter_mut().find(|(name, _)| name == field);
            &mut component.expect("a component of the record").1
        }
        other => panic!("{other:?} is not a record"),
    }
}

/// The elements of an array.
pub(super) fn items(array: &mut Datum) -> &mut Vec<Datum> {
    match array {
        Datum::List(items) => items,
        other => panic!("{other:?} is not an array"),
    }
}

/// The result of an arithmetic operator. Division rounds toward zero.
pub(super) fn arithmetic(operator: BinaryOp, left: i64, right: i64) -> Evaluated<i64> {
    let (left, right) = (i128::from(left), i128::from(right));
    let exact = match operator {
        BinaryOp::Add => left + right,
        BinaryOp::Subtract => left - right,
        BinaryOp::Multiply => left * right,
        BinaryOp::Divide | BinaryOp::Remainder if right == 0 => {
            return in_expression(Mistake::DivisionByZero);
        }
        BinaryOp::Divide => left / right,
        BinaryOp::Remainder => left % right,
        other => panic!("{other:?} is not arithmetic"),
    };
    i64::try_from(exact).or_else(|_| in_expression(Mistake::Overflow))
}
