//! Statements.

use super::{Builder, Instruction, Label, Loop, Lowered};
use crate::hir::{self, StatementKind, Target};
use linchpin_ir::program::{Action, BinaryOp, Expr, Formula, LocalId, LocalTarget, Point, Type};
use linchpin_spec::Value;

impl Builder<'_> {
    pub(super) fn block(&mut self, block: &hir::Block) -> Lowered<()> {
        block.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &hir::Statement) -> Lowered<()> {
        self.nested(statement.line, |builder| builder.statement_inner(statement))
    }

    fn statement_inner(&mut self, statement: &hir::Statement) -> Lowered<()> {
        let line = statement.line;
        for base in &statement.bases {
            let base = self.formula(base);
            self.emit(Instruction::Base(base), line)?;
        }
        let points = &statement.points;
        match &statement.kind {
            // These leave before the end of the statement, so they place their points themselves.
            StatementKind::If(condition, then, otherwise) => {
                return self.if_statement(condition, then, otherwise, points, line);
            }
            StatementKind::Return(value) => return self.return_value(value.as_ref(), points, line),
            StatementKind::Atomic(body) => return self.atomic_block(body, points, line),
            StatementKind::Break | StatementKind::Continue => {
                self.points(points, line)?;
                return self.leave_loop(&statement.kind, line);
            }
            StatementKind::While(condition, body) => self.while_loop(condition, body, line)?,
            StatementKind::Loop(body) => self.endless_loop(body, line)?,
            StatementKind::For { .. } => self.for_loop(&statement.kind, line)?,
            simple => self.simple_statement(simple, line)?,
        }
        self.points(points, line)
    }

    /// A statement that has no other statements inside.
    fn simple_statement(&mut self, statement: &StatementKind, line: u32) -> Lowered<()> {
        let action = match statement {
            StatementKind::Assign(target, value) => return self.assign(target, value, line),
            StatementKind::Modify(place, operator, value, modulus) => {
                return self.modify(place, *operator, value, *modulus, line);
            }
            StatementKind::Eval(expr) => return self.effect(expr),
            StatementKind::Write(place, value) => {
                let (place, [value]) = self.place_and(place, [value])?;
                Action::Write { place, value }
            }
            StatementKind::Assume(condition) => Action::Guard(self.expr(condition)?),
            StatementKind::Assert(condition) => Action::Assert(self.expr(condition)?),
            StatementKind::Free(object) => Action::Free(self.expr(object)?),
            StatementKind::Lock(place) => Action::Lock(self.place_and(place, [])?.0),
            StatementKind::Unlock(place) => Action::Unlock(self.place_and(place, [])?.0),
            StatementKind::Flush(place) => Action::Flush(self.place_and(place, [])?.0),
            StatementKind::Fence => Action::Fence,
            StatementKind::Persist(place) => Action::Persist(self.place_and(place, [])?.0),
            StatementKind::If(..)
            | StatementKind::While(..)
            | StatementKind::Loop(_)
            | StatementKind::For { .. }
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Return(_)
            | StatementKind::Atomic(_) => return Ok(()), // not simple
        };
        self.act(action, line)
    }

    pub(super) fn points(&mut self, points: &[hir::Point], line: u32) -> Lowered<()> {
        for point in points {
            let point = match point {
                hir::Point::Always => Point::When(Expr::Const(Value::Bool(true))),
                hir::Point::When(condition) => Point::When(self.expr(condition)?),
                hir::Point::Returns(value, place) => {
                    Point::Returns { value: self.expr(value)?, place: *place }
                }
            };
            self.emit(Instruction::Point(point), line)?;
        }
        Ok(())
    }

    fn assign(&mut self, target: &Target, value: &hir::Expr, line: u32) -> Lowered<()> {
        // An index is evaluated before the value that is stored there.
        let target = match target {
            Target::Local(id) => {
                let into = self.local(*id);
                return self.expr_into(value, into);
            }
            Target::ThreadLocal(at) => LocalTarget::ThreadLocal(*at),
            Target::Component(id, at) => LocalTarget::Component(self.local(*id), *at),
            Target::Element(id, index) => {
                let index = self.fixed(index)?;
                LocalTarget::Element(self.local(*id), index)
            }
            Target::ThreadLocalComponent(variable, at) => {
                let value = self.expr(value)?;
                return self.assign_part(
                    *variable,
                    |copy| LocalTarget::Component(copy, *at),
                    value,
                    line,
                );
            }
            Target::ThreadLocalElement(variable, index) => {
                let index = self.fixed(index)?;
                let value = self.expr(value)?;
                return self.assign_part(
                    *variable,
                    |copy| LocalTarget::Element(copy, index),
                    value,
                    line,
                );
            }
        };
        let value = self.expr(value)?;
        self.act(Action::Assign { local: target, value }, line)
    }

    /// Assigns a part of a thread-local variable, through a copy of the whole.
    fn assign_part(
        &mut self,
        variable: usize,
        part: impl FnOnce(LocalId) -> LocalTarget,
        value: Expr,
        line: u32,
    ) -> Lowered<()> {
        let ty = self.lowering.model.thread_locals[variable].ty.clone();
        let copy = self.named_temporary("copy", &ty);
        let assign = |local, value| Action::Assign { local, value };
        self.act(assign(LocalTarget::Local(copy), Expr::ThreadLocal(variable)), line)?;
        self.act(assign(part(copy), value), line)?;
        self.act(assign(LocalTarget::ThreadLocal(variable), Expr::Local(copy)), line)
    }

    fn modify(
        &mut self,
        place: &hir::Place,
        operator: BinaryOp,
        value: &hir::Expr,
        modulus: Option<i64>,
        line: u32,
    ) -> Lowered<()> {
        let place = self.fixed_place(place)?;
        let old = self.temporary(&Type::Int);
        self.act(Action::Read { into: old, place: place.clone() }, line)?;
        let value = self.expr(value)?;
        let mut value = Expr::Binary(operator, Box::new(Expr::Local(old)), Box::new(value));
        if let Some(modulus) = modulus {
            let modulus = || Box::new(Expr::Const(Value::Int(modulus)));
            if operator == BinaryOp::Subtract {
                value = Expr::Binary(BinaryOp::Add, Box::new(value), modulus());
            }
            value = Expr::Binary(BinaryOp::Remainder, Box::new(value), modulus());
        }
        self.act(Action::Write { place, value }, line)
    }

    fn if_statement(
        &mut self,
        condition: &hir::Expr,
        then: &hir::Block,
        otherwise: &hir::Block,
        points: &[hir::Point],
        line: u32,
    ) -> Lowered<()> {
        let (on_true, on_false, done) = (self.label(), self.label(), self.label());
        self.condition(condition, on_true, on_false)?;
        self.place_label(on_true);
        self.points(points, line)?;
        self.block(then)?;
        self.goto(done, line)?;
        self.place_label(on_false);
        // `#[lin] if cas(…)` is a point only where the condition holds.
        for point in points.iter().filter(|point| !matches!(point, hir::Point::Always)) {
            self.points(std::slice::from_ref(point), line)?;
        }
        self.block(otherwise)?;
        self.place_label(done);
        Ok(())
    }

    fn atomic_block(&mut self, body: &hir::Block, points: &[hir::Point], line: u32) -> Lowered<()> {
        self.emit(Instruction::AtomicBegin, line)?;
        let outside = self.atomics.len();
        self.atomics.push(points.to_vec());
        self.block(body)?;
        self.leave_atomic(outside, line)?;
        self.atomics.truncate(outside);
        Ok(())
    }

    fn leave_loop(&mut self, kind: &StatementKind, line: u32) -> Lowered<()> {
        let Some(innermost) = self.frame().loops.last() else {
            return Ok(()); // the checker lets nothing else through
        };
        let label = match kind {
            StatementKind::Break => innermost.on_break,
            _ => innermost.on_continue,
        };
        let atomic = innermost.atomic;
        self.leave_atomic(atomic, line)?;
        self.goto(label, line)
    }

    fn loop_body(&mut self, body: &hir::Block, on_break: Label, on_continue: Label) -> Lowered<()> {
        let atomic = self.atomics.len();
        let last = self.frames.len() - 1;
        self.frames[last].loops.push(Loop { on_break, on_continue, atomic });
        let result = self.block(body);
        self.frames[last].loops.pop();
        result
    }

    fn while_loop(&mut self, condition: &hir::Expr, body: &hir::Block, line: u32) -> Lowered<()> {
        let (head, inside, done) = (self.label(), self.label(), self.label());
        self.place_label(head);
        self.condition(condition, inside, done)?;
        self.place_label(inside);
        self.loop_body(body, done, head)?;
        self.goto(head, line)?;
        self.place_label(done);
        Ok(())
    }

    fn endless_loop(&mut self, body: &hir::Block, line: u32) -> Lowered<()> {
        let (head, done) = (self.label(), self.label());
        self.place_label(head);
        self.loop_body(body, done, head)?;
        self.goto(head, line)?;
        self.place_label(done);
        Ok(())
    }

    fn for_loop(&mut self, statement: &StatementKind, line: u32) -> Lowered<()> {
        let StatementKind::For { counter, end, from, to, inclusive, body } = statement else {
            return Ok(());
        };
        let (counter, end) = (self.local(*counter), self.local(*end));
        self.expr_into(from, counter)?;
        self.expr_into(to, end)?;
        let (head, inside, next, done) = (self.label(), self.label(), self.label(), self.label());
        let compare = |operator| {
            Expr::Binary(operator, Box::new(Expr::Local(counter)), Box::new(Expr::Local(end)))
        };
        self.place_label(head);
        let operator = if *inclusive { BinaryOp::LessEqual } else { BinaryOp::Less };
        self.branch(compare(operator), inside, done, line)?;
        self.place_label(inside);
        self.loop_body(body, done, next)?;
        self.place_label(next);
        if *inclusive {
            // Stop before the counter would pass the largest number.
            let more = self.label();
            self.branch(compare(BinaryOp::Less), more, done, line)?;
            self.place_label(more);
        }
        let one = Box::new(Expr::Const(Value::Int(1)));
        let value = Expr::Binary(BinaryOp::Add, Box::new(Expr::Local(counter)), one);
        self.act(Action::Assign { local: LocalTarget::Local(counter), value }, line)?;
        self.goto(head, line)?;
        self.place_label(done);
        Ok(())
    }

    /// The formula with the locals of the routine as locals of the body.
    fn formula(&self, formula: &Formula) -> Formula {
        let inner = |formula: &Formula| Box::new(self.formula(formula));
        match formula {
            Formula::Local(Expr::Local(id)) => Formula::Local(Expr::Local(self.local(*id))),
            Formula::Local(other) => Formula::Local(other.clone()),
            Formula::Bound(level) => Formula::Bound(*level),
            Formula::Shared(at) => Formula::Shared(*at),
            Formula::SharedElement(at, index) => Formula::SharedElement(*at, inner(index)),
            Formula::Field(object, of, field) => Formula::Field(inner(object), *of, *field),
            Formula::Component(object, at) => Formula::Component(inner(object), *at),
            Formula::Unary(operator, a) => Formula::Unary(*operator, inner(a)),
            Formula::Binary(operator, a, b) => Formula::Binary(*operator, inner(a), inner(b)),
            Formula::Reach { from, field, component, to } => Formula::Reach {
                from: inner(from),
                field: *field,
                component: *component,
                to: inner(to),
            },
            Formula::Forall(of, body) => Formula::Forall(*of, inner(body)),
            Formula::Exists(of, body) => Formula::Exists(*of, inner(body)),
        }
    }
}
