//! Statements.

use super::expression::{arithmetic, component, items, wrapped};
use super::place::Resolved;
use super::value::{Evaluated, position};
use super::{Datum, Evaluator, Flow, Mistake, Stop};
use linchpin_lang::syntax::ast::{self, BinaryOp, Expr, ExprKind, Statement, StatementKind};

impl<'m> Evaluator<'m> {
    pub(super) fn block(&mut self, block: &'m ast::Block) -> Evaluated<Flow> {
        let outer = self.scope.len();
        let mut flow = Flow::Next;
        for statement in &block.statements {
            flow = self.statement(statement)?;
            if !matches!(flow, Flow::Next) {
                break;
            }
        }
        self.scope.truncate(outer);
        Ok(flow)
    }

    fn statement(&mut self, statement: &'m Statement) -> Evaluated<Flow> {
        self.spend()?;
        match &statement.kind {
            StatementKind::Let(name, ty, value) => {
                let value = match (value, ty) {
                    (Some(value), Some(ty)) => {
                        let value = self.eval(value)?;
                        self.fit(value, ty)
                    }
                    (Some(value), None) => self.eval(value)?,
                    (None, Some(ty)) => self.default_of(ty),
                    (None, None) => panic!("a variable without type and value"),
                };
                self.scope.push((&name.name, value));
            }
            StatementKind::LetTuple(names, value) => {
                let Datum::List(parts) = self.eval(value)? else { panic!("not a tuple") };
                self.cover("let of a tuple");
                self.scope.extend(names.iter().map(|name| name.name.as_str()).zip(parts));
            }
            StatementKind::Assign(target, operator, value) => {
                self.assign(target, *operator, value)?;
            }
            StatementKind::Expr(expr) => self.effect(expr)?,
            StatementKind::If(condition, then, otherwise) => {
                return match (self.eval(condition)?.truth(), otherwise) {
                    (true, _) => self.block(then),
                    (false, Some(otherwise)) => self.block(otherwise),
                    (false, None) => Ok(Flow::Next),
                };
            }
            StatementKind::While(condition, body) => {
                while self.eval(condition)?.truth() {
                    match self.iteration(body)? {
                        Flow::Break => break,
                        Flow::Return(value) => return Ok(Flow::Return(value)),
                        Flow::Next | Flow::Continue => {}
                    }
                }
            }
            StatementKind::Loop(body) => loop {
                match self.iteration(body)? {
                    Flow::Break => break,
                    Flow::Return(value) => return Ok(Flow::Return(value)),
                    Flow::Next | Flow::Continue => {}
                }
            },
            StatementKind::For(counter, range, body) => {
                return self.count(&counter.name, range, body);
            }
            StatementKind::Break => return Ok(Flow::Break),
            StatementKind::Continue => return Ok(Flow::Continue),
            StatementKind::Return(value) => {
                let value = match value {
                    Some(value) => self.eval(value)?,
                    None => Datum::Nothing,
                };
                self.cover(if self.calls == 0 {
                    "return of an operation"
                } else {
                    "return of a function"
                });
                return Ok(Flow::Return(value));
            }
            StatementKind::Atomic(body) => return self.atomic_block(body),
        }
        Ok(Flow::Next)
    }

    /// Once through the body of a loop.
    fn iteration(&mut self, body: &'m ast::Block) -> Evaluated<Flow> {
        self.spend()?;
        let open = self.atomic;
        let flow = self.block(body)?;
        match (&flow, open > 0) {
            (Flow::Break, false) => self.cover("break"),
            (Flow::Break, true) => self.cover("break of a loop in an atomic block"),
            (Flow::Continue, false) => self.cover("continue"),
            (Flow::Continue, true) => self.cover("continue of a loop in an atomic block"),
            (Flow::Return(_), _) => self.cover("return from a loop"),
            (Flow::Next, _) => {}
        }
        Ok(flow)
    }

    fn count(
        &mut self,
        counter: &'m str,
        range: &'m ast::Range,
        body: &'m ast::Block,
    ) -> Evaluated<Flow> {
        let from = self.eval(&range.from)?.int();
        let to = self.eval(&range.to)?.int();
        let mut next = Some(from);
        while let Some(number) = next {
            if number > to || (number == to && !range.inclusive) {
                break;
            }
            self.cover(if range.inclusive { "for, end included" } else { "for, end excluded" });
            self.scope.push((counter, Datum::Int(number)));
            let flow = self.iteration(body)?;
            self.scope.pop();
            match flow {
                Flow::Break => break,
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Continue => self.cover("continue of a for"),
                Flow::Next => {}
            }
            next = number.checked_add(1);
        }
        Ok(Flow::Next)
    }

    fn atomic_block(&mut self, body: &'m ast::Block) -> Evaluated<Flow> {
        self.begin_step();
        self.atomic += 1;
        let flow = self.block(body)?;
        self.atomic -= 1;
        match (&flow, self.calls > 0) {
            (Flow::Next, _) => self.cover("atomic block to its end"),
            (Flow::Break, _) => self.cover("break out of an atomic block"),
            (Flow::Continue, _) => self.cover("continue out of an atomic block"),
            (Flow::Return(_), true) => self.cover("return of a function out of an atomic block"),
            (Flow::Return(_), false) => self.cover("return of an operation out of an atomic block"),
        }
        if self.atomic > 0 {
            self.cover("atomic block in an atomic block");
        }
        Ok(flow)
    }

    /// An expression statement, or one of the statements that look like calls.
    fn effect(&mut self, expr: &'m Expr) -> Evaluated<()> {
        if matches!(&expr.kind, ExprKind::Name(word) if word == "fence") {
            self.begin_step();
            self.cover("fence");
            return Ok(());
        }
        let ExprKind::Call(name, arguments) = &expr.kind else { return self.eval(expr).map(drop) };
        match (name.name.as_str(), arguments.as_slice()) {
            ("assume", [condition]) => {
                if !self.eval(condition)?.truth() {
                    self.cover(if self.atomic == 0 {
                        "assume waits"
                    } else {
                        "assume waits in an atomic block"
                    });
                    return Err(Stop::Blocked);
                }
                self.cover("assume holds");
                Ok(())
            }
            ("assert", [condition]) => {
                if !self.eval(condition)?.truth() {
                    return Err(Mistake::AssertionFailed.into());
                }
                self.cover("assert holds");
                Ok(())
            }
            ("free", [object]) => self.free(object),
            ("lock", [place]) => self.lock(place),
            ("unlock", [place]) => self.unlock(place),
            ("flush", [place]) => self.flush("flush", place),
            ("persist", [place]) => self.flush("persist", place),
            _ => {
                self.cover("call for its effect");
                self.eval(expr).map(drop)
            }
        }
    }

    fn assign(
        &mut self,
        target: &'m Expr,
        operator: Option<BinaryOp>,
        value: &'m Expr,
    ) -> Evaluated<()> {
        match &target.kind {
            ExprKind::Name(name) if self.is_private(name) => {
                let old = self.private(name).clone();
                let value = self.assigned(Some(old), operator, value)?;
                *self.private_mut(name) = value;
                return Ok(());
            }
            ExprKind::Field(object, field) => {
                if let Some(name) = self.private_record(object) {
                    return self.assign_component(name, &field.name, operator, value);
                }
            }
            ExprKind::Index(list, index) => {
                if let Some(name) = self.private_list(list) {
                    return self.assign_element(name, index, operator, value);
                }
            }
            _ => {}
        }
        self.assign_shared(target, operator, value)
    }

    fn assign_component(
        &mut self,
        name: &'m str,
        field: &str,
        operator: Option<BinaryOp>,
        value: &'m Expr,
    ) -> Evaluated<()> {
        let old = component(&mut self.private(name).clone(), field).clone();
        let value = self.assigned(Some(old), operator, value)?;
        self.cover("component of a record assigned");
        *component(self.private_mut(name), field) = value;
        Ok(())
    }

    fn assign_element(
        &mut self,
        name: &'m str,
        index: &'m Expr,
        operator: Option<BinaryOp>,
        value: &'m Expr,
    ) -> Evaluated<()> {
        let index = self.eval(index)?;
        let mut list = self.private(name).clone();
        let length = items(&mut list).len();
        let old = match operator {
            Some(_) => Some(items(&mut list)[position(&index, length)?].clone()),
            None => None,
        };
        let value = self.assigned(old, operator, value)?;
        let at = position(&index, length)?;
        self.cover("element of an array assigned");
        items(self.private_mut(name))[at] = value;
        Ok(())
    }

    /// The value to be assigned to something that holds `old`.
    fn assigned(
        &mut self,
        old: Option<Datum>,
        operator: Option<BinaryOp>,
        value: &'m Expr,
    ) -> Evaluated<Datum> {
        let value = self.eval(value)?;
        match (operator, old) {
            (Some(operator), Some(old)) => {
                self.cover("compound assignment of a local");
                arithmetic(operator, old.int(), value.int()).map(Datum::Int)
            }
            _ => Ok(value),
        }
    }

    fn assign_shared(
        &mut self,
        target: &'m Expr,
        operator: Option<BinaryOp>,
        value: &'m Expr,
    ) -> Evaluated<()> {
        let Some(operator) = operator else {
            let (places, values) = self.operands(&[target], &[value])?;
            self.cover("shared write");
            return self.write(&places[0], values.into_iter().next().expect("one value"));
        };
        let Resolved::Place(place) = self.resolve(target)? else {
            panic!("{target:?} cannot be assigned")
        };
        let old = self.read(&place)?.int();
        let modulus = self.modulus(target);
        let new = self
            .modified(operator, old, value, modulus)
            .map_err(|stop| self.at_access(&place, stop))?;
        self.cover("compound assignment of shared memory");
        self.write(&place, Datum::Int(new))
    }

    fn modified(
        &mut self,
        operator: BinaryOp,
        old: i64,
        value: &'m Expr,
        modulus: Option<i64>,
    ) -> Evaluated<i64> {
        let value = self.eval(value)?.int();
        if let Some(modulus) = modulus {
            return Ok(wrapped(operator, old, value, modulus));
        }
        arithmetic(operator, old, value)
    }
}
