//! Calls are inlined; `return` becomes a jump to the end of the call.

use super::expression::{must_be_kept, place_operands};
use super::{Builder, Frame, Instruction, LowerError, Lowered};
use crate::{hir, limits};
use linchpin_ir::program::{Action, Expr, LocalId, LocalTarget, Place, Type};
use linchpin_spec::Value;
use linchpin_syntax::Code;

impl Builder<'_> {
    /// Inlines a call; the locals of the function become locals of the body.
    pub(super) fn inline(
        &mut self,
        function: usize,
        arguments: &[hir::Argument],
        into: Option<LocalId>,
        line: u32,
    ) -> Lowered<()> {
        let routine = &self.lowering.model.functions[function];
        if self.frames.len() == 1 {
            self.outermost_call = Some(line);
        }
        if self.frames.len() > limits::CALLS {
            return Err(LowerError {
                code: Code::TooLarge,
                line: self.outermost_call.unwrap_or(line),
                message: format!("calls are nested more than {} deep", limits::CALLS),
                help: "functions are inlined: use fewer layers of them",
            });
        }
        let open = self.frames.iter().filter(|frame| frame.function == Some(function)).count();
        if routine.depth.is_some_and(|depth| open >= depth) {
            // The model says that no run gets here.
            return self.act(Action::Assert(Expr::Const(Value::Bool(false))), line);
        }
        self.calls += 1;
        if self.code.len() + self.calls > limits::INSTRUCTIONS {
            return Err(self.too_large("this operation", line));
        }
        self.words += routine.locals.iter().map(|local| local.ty.words()).sum::<usize>();
        if self.words > limits::WORDS {
            return Err(self.too_large("this operation", line));
        }
        let (values, places) = self.passed(arguments, line)?;
        let first_local = self.locals.len() as u32;
        self.locals.extend(routine.locals.iter().cloned());
        for (at, value) in values.into_iter().enumerate() {
            let local = LocalTarget::Local(LocalId(first_local + at as u32));
            self.act(Action::Assign { local, value }, line)?;
        }
        let done = self.label();
        self.frames.push(Frame {
            function: Some(function),
            places,
            first_local,
            exit: Some((done, into)),
            atomic: self.atomics.len(),
            loops: Vec::new(),
        });
        let result = self.block(&routine.body);
        self.frames.pop();
        result?;
        if self.frames.len() == 1 {
            self.outermost_call = None;
        }
        self.place_label(done);
        Ok(())
    }

    /// What is passed to a function, from left to right: the values, and the places, which mean the
    /// same however late they are used.
    fn passed(
        &mut self,
        arguments: &[hir::Argument],
        line: u32,
    ) -> Lowered<(Vec<Expr>, Vec<Place>)> {
        let operands: Vec<&hir::Expr> = arguments
            .iter()
            .flat_map(|argument| match argument {
                hir::Argument::Value(value) => vec![value],
                hir::Argument::Place(place) => place_operands(place),
            })
            .collect();
        let mut lowered = self.operands(&operands)?.into_iter();
        let (mut values, mut places) = (Vec::new(), Vec::new());
        for argument in arguments {
            match argument {
                hir::Argument::Value(_) => values.extend(lowered.next()),
                hir::Argument::Place(place) => {
                    let place = self.rebuild(place, &mut lowered);
                    places.push(self.kept_place(place, line)?);
                }
            }
        }
        Ok((values, places))
    }

    /// The place with its expressions in variables of their own, where they could change.
    fn kept_place(&mut self, place: Place, line: u32) -> Lowered<Place> {
        let object_of = |of: usize| Type::Struct(of);
        Ok(match place {
            Place::Shared(at) => Place::Shared(at),
            Place::SharedElement(at, index) => {
                Place::SharedElement(at, self.kept(index, &Type::Int, line)?)
            }
            Place::Field { object, of, field } => {
                let object = self.kept(object, &object_of(of), line)?;
                Place::Field { object, of, field }
            }
            Place::FieldElement { object, of, field, index } => {
                let object = self.kept(object, &object_of(of), line)?;
                let index = self.kept(index, &Type::Int, line)?;
                Place::FieldElement { object, of, field, index }
            }
        })
    }

    fn kept(&mut self, value: Expr, ty: &Type, line: u32) -> Lowered<Expr> {
        if matches!(value, Expr::Const(_) | Expr::Local(_) | Expr::Me) {
            return Ok(value);
        }
        let kept = self.temporary(ty);
        self.act(Action::Assign { local: LocalTarget::Local(kept), value }, line)?;
        Ok(Expr::Local(kept))
    }

    /// A value that is not used: what it does happens all the same, and so does a fault in it.
    fn unused(&mut self, value: &hir::Expr) -> Lowered<()> {
        if !value.is_local() {
            return self.effect(value);
        }
        let lowered = self.expr(value)?;
        if must_be_kept(&lowered) {
            self.keep(lowered, value)?;
        }
        Ok(())
    }

    /// `return`: of a function to the place of the call, of the operation to the client.
    pub(super) fn return_value(
        &mut self,
        value: Option<&hir::Expr>,
        points: &[hir::Point],
        line: u32,
    ) -> Lowered<()> {
        let exit = self.frame().exit;
        let atomic = self.frame().atomic;
        match exit {
            Some((done, into)) => {
                match (value, into) {
                    (Some(value), Some(into)) => self.expr_into(value, into)?,
                    (Some(value), None) => self.unused(value)?,
                    (None, _) => {}
                }
                self.points(points, line)?;
                self.leave_atomic(atomic, line)?;
                self.goto(done, line)
            }
            None => {
                let value = match value {
                    Some(value) => self.expr(value)?,
                    None => Expr::Const(Value::Null),
                };
                self.points(points, line)?;
                self.leave_atomic(0, line)?;
                self.emit(Instruction::Return(value), line)
            }
        }
    }
}
