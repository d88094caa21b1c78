//! Expressions: shared accesses become instructions, what remains is a local expression.

use super::{Builder, Instruction, Label, Lowered};
use crate::hir::{self, ExprKind};
use crate::limits;
use linchpin_ir::program::{
    Action, BinaryOp, Cell, Expr, LocalId, LocalTarget, Place, Type, UnaryOp,
};
use linchpin_spec::Value;

impl Builder<'_> {
    /// Emits what the expression does; answers a local expression for its value.
    pub(super) fn expr(&mut self, expr: &hir::Expr) -> Lowered<Expr> {
        self.nested(expr.line, |builder| builder.expr_inner(expr))
    }

    fn expr_inner(&mut self, expr: &hir::Expr) -> Lowered<Expr> {
        Ok(match &expr.kind {
            ExprKind::Const(value) => Expr::Const(value.clone()),
            ExprKind::Local(id) => Expr::Local(self.local(*id)),
            ExprKind::ThreadLocal(at) => Expr::ThreadLocal(*at),
            ExprKind::Me => Expr::Me,
            ExprKind::Unary(operator, inner) => Expr::Unary(*operator, Box::new(self.expr(inner)?)),
            ExprKind::Binary(operator @ (BinaryOp::And | BinaryOp::Or), left, right)
                if !right.is_local() =>
            {
                self.short_circuit(*operator, left, right, expr)?
            }
            ExprKind::Binary(operator, left, right) => {
                let [left, right] = self.operands_of([left, right])?;
                Expr::Binary(*operator, Box::new(left), Box::new(right))
            }
            ExprKind::Component(inner, at) => Expr::Component(Box::new(self.expr(inner)?), *at),
            ExprKind::Element(list, index) => {
                let [list, index] = self.operands_of([list, index])?;
                Expr::Element(Box::new(list), Box::new(index))
            }
            ExprKind::List(items) => Expr::List(self.operands(&items.iter().collect::<Vec<_>>())?),
            ExprKind::Repeat(item, length) => {
                let item = self.path(item)?;
                Expr::List(vec![item; *length])
            }
            ExprKind::RecordUpdate(fields, base) => self.record_update(fields, base)?,
            ExprKind::If(condition, then, otherwise) if then.is_local() && otherwise.is_local() => {
                let condition = self.expr(condition)?;
                let (then, otherwise) = (self.expr(then)?, self.expr(otherwise)?);
                Expr::If(Box::new(condition), Box::new(then), Box::new(otherwise))
            }
            ExprKind::Unwrap(inner) => Expr::Unwrap(Box::new(self.expr(inner)?)),
            ExprKind::Within { row, column, length } => self.within(row, column, *length)?,
            ExprKind::Query(query, object, arguments) => {
                let all: Vec<&hir::Expr> = std::iter::once(&**object).chain(arguments).collect();
                let mut all = self.operands(&all)?;
                let arguments = all.split_off(1);
                match all.pop() {
                    Some(object) => Expr::Query(*query, Box::new(object), arguments),
                    None => Expr::Const(Value::Null),
                }
            }
            _ => {
                let into = self.temporary_for(expr);
                self.expr_into(expr, into)?;
                Expr::Local(into)
            }
        })
    }

    /// A temporary that several steps may write has a name; another stands for what is written.
    fn temporary_for(&mut self, expr: &hir::Expr) -> LocalId {
        match &expr.kind {
            ExprKind::Call(function, _) => {
                let function = &self.lowering.model.functions[*function].name;
                self.named_temporary(&format!("{function}_answer"), &expr.ty)
            }
            ExprKind::If(..) => self.named_temporary("value", &expr.ty),
            _ => self.temporary(&expr.ty),
        }
    }

    /// Emits what the expression does, with its value going to `into`.
    pub(super) fn expr_into(&mut self, expr: &hir::Expr, into: LocalId) -> Lowered<()> {
        self.nested(expr.line, |builder| builder.expr_into_inner(expr, into))
    }

    fn expr_into_inner(&mut self, expr: &hir::Expr, into: LocalId) -> Lowered<()> {
        let line = expr.line;
        let action = match &expr.kind {
            ExprKind::Read(place) => {
                let (place, _) = self.place_and(place, [])?;
                Action::Read { into, place }
            }
            ExprKind::LoadLinked(place) => {
                let (place, _) = self.place_and(place, [])?;
                Action::LoadLinked { into, place }
            }
            ExprKind::Swap(place, value) => {
                let (place, [value]) = self.place_and(place, [value])?;
                Action::Swap { into, place, value }
            }
            ExprKind::FetchAdd(place, value, modulus) => {
                let (place, [value]) = self.place_and(place, [value])?;
                if let Some(modulus) = modulus {
                    return self.fetch_add_wrapping(place, value, *modulus, into, line);
                }
                Action::FetchAdd { into, place, value }
            }
            ExprKind::StoreConditional(place, value) => {
                let (place, [value]) = self.place_and(place, [value])?;
                Action::StoreConditional { into, place, value }
            }
            ExprKind::Cas(cells) => self.cas(cells, into)?,
            ExprKind::Update(place, method, arguments) => {
                let mut all = place_operands(place);
                all.extend(arguments);
                let mut all = self.operands(&all)?.into_iter();
                let place = self.rebuild(place, &mut all);
                Action::Update { into, place, method: *method, arguments: all.collect() }
            }
            ExprKind::Choose(from, to) => {
                let [from, to] = self.operands_of([from, to])?;
                Action::Choose { into, from, to }
            }
            ExprKind::New(object, fields) => self.new_object(*object, fields, into)?,
            ExprKind::Call(function, arguments) => {
                return self.inline(*function, arguments, Some(into), line);
            }
            ExprKind::If(condition, then, otherwise) => {
                let (on_true, on_false, done) = (self.label(), self.label(), self.label());
                self.condition(condition, on_true, on_false)?;
                self.place_label(on_true);
                self.expr_into(then, into)?;
                self.goto(done, line)?;
                self.place_label(on_false);
                self.expr_into(otherwise, into)?;
                self.place_label(done);
                return Ok(());
            }
            _ => {
                let value = self.expr(expr)?;
                Action::Assign { local: LocalTarget::Local(into), value }
            }
        };
        self.act(action, line)
    }

    /// Emits what the expression does and forgets its value.
    pub(super) fn effect(&mut self, expr: &hir::Expr) -> Lowered<()> {
        if let ExprKind::Call(function, arguments) = &expr.kind {
            return self.inline(*function, arguments, None, expr.line);
        }
        let unused = self.temporary(&expr.ty);
        self.expr_into(expr, unused)
    }

    /// Jumps to one of the labels, evaluating only as much of the condition as it takes.
    pub(super) fn condition(
        &mut self,
        condition: &hir::Expr,
        then: Label,
        otherwise: Label,
    ) -> Lowered<()> {
        self.nested(condition.line, |builder| builder.condition_inner(condition, then, otherwise))
    }

    fn condition_inner(
        &mut self,
        condition: &hir::Expr,
        then: Label,
        otherwise: Label,
    ) -> Lowered<()> {
        match &condition.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.condition(inner, otherwise, then),
            ExprKind::Binary(BinaryOp::And, left, right) if !right.is_local() => {
                let next = self.label();
                self.condition(left, next, otherwise)?;
                self.place_label(next);
                self.condition(right, then, otherwise)
            }
            ExprKind::Binary(BinaryOp::Or, left, right) if !right.is_local() => {
                let next = self.label();
                self.condition(left, then, next)?;
                self.place_label(next);
                self.condition(right, then, otherwise)
            }
            _ => {
                let value = self.expr(condition)?;
                self.branch(value, then, otherwise, condition.line)
            }
        }
    }

    fn short_circuit(
        &mut self,
        operator: BinaryOp,
        left: &hir::Expr,
        right: &hir::Expr,
        whole: &hir::Expr,
    ) -> Lowered<Expr> {
        let into = self.named_temporary("test", &whole.ty);
        self.expr_into(left, into)?;
        let (more, done) = (self.label(), self.label());
        match operator {
            BinaryOp::And => self.branch(Expr::Local(into), more, done, left.line)?,
            _ => self.branch(Expr::Local(into), done, more, left.line)?,
        }
        self.place_label(more);
        self.expr_into(right, into)?;
        self.place_label(done);
        Ok(Expr::Local(into))
    }

    /// Lowers operands from left to right.
    ///
    /// A local expression is evaluated where its value is used, which is after the accesses of the
    /// operands to its right. Where that could make a difference (it may fault, or a call may
    /// change a thread-local that it reads), its value is kept in a temporary first.
    pub(super) fn operands(&mut self, operands: &[&hir::Expr]) -> Lowered<Vec<Expr>> {
        let mut lowered = Vec::with_capacity(operands.len());
        for (operand, acts_later) in operands.iter().zip(acts_after(operands)) {
            lowered.push(self.operand(operand, acts_later)?);
        }
        Ok(lowered)
    }

    fn operand(&mut self, operand: &hir::Expr, acts_later: bool) -> Lowered<Expr> {
        let value = self.expr(operand)?;
        if acts_later && must_be_kept(&value) { self.keep(value, operand) } else { Ok(value) }
    }

    fn operands_of<const N: usize>(&mut self, operands: [&hir::Expr; N]) -> Lowered<[Expr; N]> {
        let lowered = self.operands(&operands)?;
        Ok(exactly(lowered))
    }

    pub(super) fn keep(&mut self, value: Expr, source: &hir::Expr) -> Lowered<Expr> {
        let kept = self.named_temporary("kept", &source.ty);
        self.act(Action::Assign { local: LocalTarget::Local(kept), value }, source.line)?;
        Ok(Expr::Local(kept))
    }

    /// An expression whose value is the same however late it is evaluated.
    pub(super) fn fixed(&mut self, expr: &hir::Expr) -> Lowered<Expr> {
        match self.expr(expr)? {
            value @ (Expr::Const(_) | Expr::Local(_) | Expr::Me) => Ok(value),
            value => self.keep(value, expr),
        }
    }

    /// An expression short enough to be used several times.
    fn path(&mut self, expr: &hir::Expr) -> Lowered<Expr> {
        if expr.is_path() { self.expr(expr) } else { self.fixed(expr) }
    }

    /// A place whose expressions mean the same however late they are evaluated.
    pub(super) fn fixed_place(&mut self, place: &hir::Place) -> Lowered<Place> {
        let operands = place_operands(place);
        let fixed: Vec<Expr> =
            operands.into_iter().map(|operand| self.fixed(operand)).collect::<Lowered<_>>()?;
        Ok(self.rebuild(place, &mut fixed.into_iter()))
    }

    /// Lowers a place, then values, from left to right.
    pub(super) fn place_and<const N: usize>(
        &mut self,
        place: &hir::Place,
        values: [&hir::Expr; N],
    ) -> Lowered<(Place, [Expr; N])> {
        let mut all = place_operands(place);
        all.extend(values);
        let mut all = self.operands(&all)?.into_iter();
        let place = self.rebuild(place, &mut all);
        Ok((place, exactly(all.collect())))
    }

    fn cas(&mut self, cells: &[hir::Cell], into: LocalId) -> Lowered<Action> {
        // Places, then expected values, then new values: the order in which they are written.
        let mut all: Vec<&hir::Expr> =
            cells.iter().flat_map(|c| place_operands(&c.place)).collect();
        all.extend(cells.iter().map(|cell| &cell.expected));
        all.extend(cells.iter().map(|cell| &cell.new));
        let mut all = self.operands(&all)?.into_iter();
        let places: Vec<Place> =
            cells.iter().map(|cell| self.rebuild(&cell.place, &mut all)).collect();
        let expected: Vec<Expr> = all.by_ref().take(cells.len()).collect();
        let cells = places.into_iter().zip(expected).zip(all);
        let cells = cells.map(|((place, expected), new)| Cell { place, expected, new }).collect();
        Ok(Action::Cas { into, cells })
    }

    fn new_object(
        &mut self,
        object: usize,
        given: &[(usize, hir::Expr)],
        into: LocalId,
    ) -> Lowered<Action> {
        let values = self.operands(&given.iter().map(|(_, value)| value).collect::<Vec<_>>())?;
        let declared = &self.lowering.model.structs[object].fields;
        let mut fields: Vec<Expr> =
            declared.iter().map(|field| Expr::Const(field.initial.clone())).collect();
        let mut named = vec![false; fields.len()];
        for ((at, _), value) in given.iter().zip(values) {
            fields[*at] = value;
            named[*at] = true;
        }
        Ok(Action::New { into, object, fields, given: named })
    }

    /// The place with its expressions lowered; takes as many as [`place_operands`] gave.
    pub(super) fn rebuild(
        &self,
        place: &hir::Place,
        lowered: &mut impl Iterator<Item = Expr>,
    ) -> Place {
        let mut next = || lowered.next().unwrap_or(Expr::Const(Value::Null));
        match place {
            hir::Place::Shared(at) => Place::Shared(*at),
            hir::Place::SharedElement(at, _) => Place::SharedElement(*at, next()),
            hir::Place::Parameter { at, index } => {
                // INVARIANT: the frame has as many places as the function has such parameters.
                let passed = self.frame().places[*at].clone();
                match (passed, index) {
                    (Place::Shared(at), Some(_)) => Place::SharedElement(at, next()),
                    (Place::Field { object, of, field }, Some(_)) => {
                        Place::FieldElement { object, of, field, index: next() }
                    }
                    (passed, _) => passed,
                }
            }
            hir::Place::Field { of, field, index: None, .. } => {
                Place::Field { object: next(), of: *of, field: *field }
            }
            hir::Place::Field { of, field, index: Some(_), .. } => {
                let object = next();
                Place::FieldElement { object, of: *of, field: *field, index: next() }
            }
        }
    }

    /// The index of an element of an array of arrays, whose rows stand behind each other. A row or
    /// column that does not exist becomes an index that does not exist.
    fn within(&mut self, row: &hir::Expr, column: &hir::Expr, length: usize) -> Lowered<Expr> {
        let number = |value: Expr, source: &hir::Expr| match source.ty {
            Type::Tid => Expr::Unary(UnaryOp::ThreadNumber, Box::new(value)),
            _ => value,
        };
        let binary = |operator, a: Expr, b: Expr| Expr::Binary(operator, Box::new(a), Box::new(b));
        let constant =
            |value: usize| Expr::Const(Value::Int(i64::try_from(value).unwrap_or(i64::MAX)));
        let row_value = self.path(row)?;
        let row_value = match must_be_kept(&row_value) && !column.is_local() {
            true => self.keep(row_value, row)?,
            false => row_value,
        };
        let column_value = self.path(column)?;
        let (row, column) = (number(row_value, row), number(column_value, column));
        let start = binary(BinaryOp::Multiply, row.clone(), constant(length));
        let index = binary(BinaryOp::Add, start, column.clone());
        let among = |value: Expr, count: usize| {
            let from = binary(BinaryOp::LessEqual, constant(0), value.clone());
            binary(BinaryOp::And, from, binary(BinaryOp::Less, value, constant(count)))
        };
        // No array has more rows than that: a larger number would only overflow.
        let exists = binary(BinaryOp::And, among(row, limits::LENGTH + 1), among(column, length));
        let nowhere = Expr::Const(Value::Int(-1));
        Ok(Expr::If(Box::new(exists), Box::new(index), Box::new(nowhere)))
    }

    /// `faa` on a number that wraps: a read and a write in one step. Like every `faa` it is a
    /// fence, if something is persistent.
    fn fetch_add_wrapping(
        &mut self,
        place: Place,
        value: Expr,
        modulus: i64,
        into: LocalId,
        line: u32,
    ) -> Lowered<()> {
        self.emit(Instruction::AtomicBegin, line)?;
        if self.lowering.model.persistence.is_some() {
            self.act(Action::Fence, line)?;
        }
        // The place and the value may depend on what `into` holds now.
        let old = self.temporary(&Type::Wrapping(modulus));
        self.act(Action::Read { into: old, place: place.clone() }, line)?;
        let sum = Expr::Binary(BinaryOp::Add, Box::new(Expr::Local(old)), Box::new(value));
        let modulus = Box::new(Expr::Const(Value::Int(modulus)));
        let value = Expr::Binary(BinaryOp::Remainder, Box::new(sum), modulus);
        self.act(Action::Write { place, value }, line)?;
        self.act(
            Action::Assign { local: LocalTarget::Local(into), value: Expr::Local(old) },
            line,
        )?;
        self.emit(Instruction::AtomicEnd, line)
    }

    fn record_update(&mut self, fields: &[(usize, hir::Expr)], base: &hir::Expr) -> Lowered<Expr> {
        // The base is lowered last, but not like an operand: it is used once for each component.
        let fields_and_base: Vec<&hir::Expr> =
            fields.iter().map(|(_, value)| value).chain([base]).collect();
        let mut values = Vec::with_capacity(fields.len());
        for ((_, value), acts_later) in fields.iter().zip(acts_after(&fields_and_base)) {
            values.push(self.operand(value, acts_later)?);
        }
        let whole = self.path(base)?;
        let Type::Record { fields: components, .. } = &base.ty else {
            return Ok(whole); // the checker lets nothing else through
        };
        let mut items: Vec<Expr> =
            (0..components.len()).map(|at| Expr::Component(Box::new(whole.clone()), at)).collect();
        for ((at, _), value) in fields.iter().zip(values) {
            items[*at] = value;
        }
        Ok(Expr::List(items))
    }
}

/// For each operand, whether evaluating one to its right does something.
fn acts_after(operands: &[&hir::Expr]) -> Vec<bool> {
    let mut acts = vec![false; operands.len()];
    for at in (1..operands.len()).rev() {
        acts[at - 1] = acts[at] || !operands[at].is_local();
    }
    acts
}

/// The expressions inside a place.
pub(super) fn place_operands(place: &hir::Place) -> Vec<&hir::Expr> {
    match place {
        hir::Place::Shared(_) => Vec::new(),
        hir::Place::SharedElement(_, index) => vec![index],
        hir::Place::Parameter { index, .. } => index.as_deref().into_iter().collect(),
        hir::Place::Field { object, index, .. } => {
            std::iter::once(&**object).chain(index.as_deref()).collect()
        }
    }
}

/// As many as there must be.
fn exactly<const N: usize>(values: Vec<Expr>) -> [Expr; N] {
    let mut values = values.into_iter();
    std::array::from_fn(|_| values.next().unwrap_or(Expr::Const(Value::Null)))
}

/// Whether evaluating this later than written could be noticed.
pub(super) fn must_be_kept(expr: &Expr) -> bool {
    match expr {
        Expr::Const(_) | Expr::Local(_) | Expr::Me => false,
        Expr::ThreadLocal(_) | Expr::Unwrap(_) | Expr::Element(..) => true,
        Expr::Unary(UnaryOp::Negate, _) => true,
        Expr::Unary(UnaryOp::Not | UnaryOp::ThreadNumber, inner) | Expr::Component(inner, _) => {
            must_be_kept(inner)
        }
        Expr::Binary(
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Remainder
            | BinaryOp::ShiftLeft
            | BinaryOp::ShiftRight,
            ..,
        ) => true,
        Expr::Binary(_, left, right) => must_be_kept(left) || must_be_kept(right),
        Expr::List(items) => items.iter().any(must_be_kept),
        Expr::If(a, b, c) => must_be_kept(a) || must_be_kept(b) || must_be_kept(c),
        Expr::Query(_, object, arguments) => {
            must_be_kept(object) || arguments.iter().any(must_be_kept)
        }
    }
}
