//! Expressions.

use super::place::Resolved;
use super::value::{Evaluated, in_expression};
use super::{Datum, Evaluator, Mistake};
use linchpin_lang::syntax::ast::{
    BinaryOp, Expr, ExprKind, Ident, Routine, TypeExpr, TypeKind, UnaryOp,
};

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
            ExprKind::Unary(UnaryOp::ThreadNumber, _) => panic!("not written like this"),
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right),
            ExprKind::If(condition, then, otherwise) => {
                let truth = self.eval(condition)?.truth();
                self.cover("if expression");
                self.eval(if truth { then } else { otherwise })
            }
            ExprKind::Call(name, arguments) => {
                let functions = &self.declared.functions;
                match functions.iter().copied().find(|known| known.name.name == name.name) {
                    Some(function) => self.call_by_name(function, arguments),
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
        let modulus = self.modulus_of_sum(operator, left, right);
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
        if let Some(modulus) = modulus {
            self.cover("arithmetic that wraps");
            return Ok(Datum::Int(wrapped(operator, left.int(), right.int(), modulus)));
        }
        if matches!(
            operator,
            BinaryOp::BitAnd
                | BinaryOp::BitOr
                | BinaryOp::BitXor
                | BinaryOp::ShiftLeft
                | BinaryOp::ShiftRight
        ) {
            self.cover("operator on bits");
        }
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

    /// Where the result of an operator wraps, if it does.
    fn modulus_of_sum(&self, operator: BinaryOp, left: &Expr, right: &Expr) -> Option<i64> {
        let sums = [BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply];
        sums.contains(&operator).then(|| self.modulus(left).or(self.modulus(right))).flatten()
    }

    /// Where a number wraps, by the looks of the expression.
    pub(super) fn modulus(&self, expr: &Expr) -> Option<i64> {
        match &expr.kind {
            ExprKind::Name(name) if self.local(name).is_none() => {
                let shared = self.declared.shared.iter().find(|known| known.name.name == *name)?;
                self.wraps_at(&shared.ty)
            }
            ExprKind::Index(list, _) => self.modulus(list),
            ExprKind::Field(_, field) => {
                self.component_type(&field.name).and_then(|ty| self.wraps_at(ty))
            }
            ExprKind::Tuple(items) if items.len() == 1 => self.modulus(&items[0]),
            ExprKind::Binary(operator, left, right) => self.modulus_of_sum(*operator, left, right),
            _ => None,
        }
    }

    /// Where numbers of this type wrap.
    pub(super) fn wraps_at(&self, ty: &TypeExpr) -> Option<i64> {
        match &ty.kind {
            TypeKind::Wrapping(modulus) => match &modulus.kind {
                ExprKind::Int(modulus) => Some(*modulus),
                ExprKind::Name(name) => {
                    let mut constants = self.declared.constants.iter();
                    Some(constants.find(|(known, _)| known == name).expect("a constant").1.int())
                }
                other => panic!("{other:?} is not a modulus"),
            },
            TypeKind::Option(inner) | TypeKind::Array(inner, _) => self.wraps_at(inner),
            _ => None,
        }
    }

    /// A number as one of this type, which may wrap.
    pub(super) fn reduced(&self, value: Datum, ty: &TypeExpr) -> Datum {
        match (value, self.wraps_at(ty)) {
            (Datum::Int(number), Some(modulus)) => Datum::Int(number.rem_euclid(modulus)),
            (value, _) => value,
        }
    }

    /// The type of a component, by its name: generated programs and models use a name once.
    fn component_type(&self, field: &str) -> Option<&'m TypeExpr> {
        let fields = self.declared.records.iter().flat_map(|record| &record.fields);
        fields.into_iter().find(|(name, _)| name.name == field).map(|(_, ty)| ty)
    }

    /// Calls a function with values and places.
    fn call_by_name(&mut self, function: &'m Routine, arguments: &'m [Expr]) -> Evaluated<Datum> {
        if let Some(depth) = &function.depth {
            let depth = self.eval(depth)?.int();
            let open = self.open.iter().filter(|name| **name == function.name.name).count();
            if open as i64 >= depth {
                self.cover("recursion too deep");
                return Err(Mistake::AssertionFailed.into());
            }
            self.cover(if open > 0 { "recursion" } else { "recursive function" });
        }
        let (mut values, mut places) = (Vec::new(), Vec::new());
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            if matches!(parameter.ty.kind, TypeKind::Place(_)) {
                let Resolved::Place(place) = self.resolve(argument)? else { panic!("no place") };
                self.cover("place passed");
                places.push((parameter.name.name.as_str(), place));
                values.push(Datum::Nothing);
            } else {
                values.push(self.eval(argument)?);
            }
        }
        self.cover("function call");
        self.call_function(function, &values, places)
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
            let ty = self.component_type(field);
            let value = ty.map_or(value.clone(), |ty| self.reduced(value, ty));
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

/// The result of an operator on numbers that wrap.
pub(super) fn wrapped(operator: BinaryOp, left: i64, right: i64, modulus: i64) -> i64 {
    let (left, right) = (i128::from(left), i128::from(right));
    let exact = match operator {
        BinaryOp::Add => left + right,
        BinaryOp::Subtract => left - right,
        BinaryOp::Multiply => (left % i128::from(modulus)) * (right % i128::from(modulus)),
        other => panic!("{other:?} does not wrap"),
    };
    i64::try_from(exact.rem_euclid(i128::from(modulus))).expect("smaller than the modulus")
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
        BinaryOp::BitAnd => left & right,
        BinaryOp::BitOr => left | right,
        BinaryOp::BitXor => left ^ right,
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight if !(0..64).contains(&right) => {
            return in_expression(Mistake::Overflow);
        }
        BinaryOp::ShiftLeft => left * (1 << right),
        BinaryOp::ShiftRight => left.div_euclid(1 << right),
        other => panic!("{other:?} is not arithmetic"),
    };
    i64::try_from(exact).or_else(|_| in_expression(Mistake::Overflow))
}
