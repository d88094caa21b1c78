//! From the checked model to the program: functions inlined, every shared access a step.
//!
//! Two passes. [`Builder`] writes each body as a straight list of small instructions with labels: `statement` and `expression` do
//! that. [`steps`] then cuts the list into steps.

mod expression;
mod statement;
mod steps;

use crate::hir;
use linchpin_ir::program::{
    Action, Body, Expr, Formula, LocalId, Operation, Parameter, Point, Program, SpecSource, Type, Variable,
};
use linchpin_spec::Value;

/// A body may have so many instructions after inlining.
const MAX_INSTRUCTIONS: usize = 10_000;

/// Functions may call functions this deep.
const MAX_CALLS: usize = 50;

/// Why a model that checks cannot be lowered.
pub(crate) struct LowerError {
    pub(crate) line: u32,
    pub(crate) message: String,
    pub(crate) help: &'static str,
}

/// Lowers a model.
pub(crate) fn lower(model: &hir::Model) -> Result<Program, LowerError> {
    let spec = lower_spec(&model.spec)?;
    program(model, Turns::AtAccesses, Some(spec))
}

/// Lowers a specification.
pub(crate) fn lower_spec(spec: &hir::Spec) -> Result<SpecSource, LowerError> {
    Ok(match spec {
        hir::Spec::Builtin(source) => source.clone(),
        hir::Spec::Block(block) => SpecSource::Model(Box::new(program(block, Turns::Never, None)?)),
    })
}

/// Where other threads get a turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turns {
    AtAccesses,
    Never,
}

fn program(
    model: &hir::Model,
    turns: Turns,
    spec: Option<SpecSource>,
) -> Result<Program, LowerError> {
    let init = match &model.init {
        Some(routine) => Some(body(model, routine, Turns::Never)?),
        None => None,
    };
    let operations = model.operations.iter().map(|routine| operation(model, routine, turns));
    Ok(Program {
        structs: model.structs.clone(),
        shared: model.shared.clone(),
        thread_locals: model.thread_locals.clone(),
        init,
        operations: operations.collect::<Result<_, _>>()?,
        threads: model.threads.clone(),
        // A specification has no specification.
        spec: spec.unwrap_or(SpecSource::Builtin { name: String::new(), init: None }),
    })
}

fn operation(
    model: &hir::Model,
    routine: &hir::Routine,
    turns: Turns,
) -> Result<Operation, LowerError> {
    let types = routine.locals[..routine.parameters].iter().map(|variable| variable.ty.clone());
    let ranges = routine.ranges.iter().copied();
    let parameters = types.zip(ranges).map(|(ty, range)| Parameter { ty, range }).collect();
    let mut builder = Builder::new(model, routine);
    // `requires` is local, so it lowers to an expression and no instruction.
    let requires = match &routine.requires {
        Some(condition) => Some(builder.expr(condition)?),
        None => None,
    };
    Ok(Operation {
        name: routine.name.clone(),
        parameters,
        response: routine.response.clone(),
        requires,
        body: body(model, routine, turns)?,
        line: routine.line,
    })
}

fn body(model: &hir::Model, routine: &hir::Routine, turns: Turns) -> Result<Body, LowerError> {
    let mut builder = Builder::new(model, routine);
    builder.block(&routine.body)?;
    builder.emit(Instruction::Return(Expr::Const(Value::Null)), routine.line)?;
    let Builder { code, labels, locals, .. } = builder;
    Ok(steps::cut(&code, &labels, turns, locals))
}

/// A place in the code that jumps can name.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Label(usize);

/// One thing that happens.
#[derive(Clone, Debug)]
enum Instruction {
    Act(Action),
    /// To the first label if the condition holds, else to the second.
    Branch(Expr, usize, usize),
    Goto(usize),
    Return(Expr),
    AtomicBegin,
    AtomicEnd,
    Point(Point),
    Base(Formula),
}

/// A routine being inlined (the operation itself is the outermost one).
struct Frame {
    /// Where its locals start among the locals of the body.
    first_local: u32,
    /// The function, unless it is the operation.
    function: Option<usize>,
    /// Where `return` goes, and where the value goes; absent for the operation.
    exit: Option<(Label, Option<LocalId>)>,
    /// How many atomic blocks were open when it started.
    atomic: usize,
    /// Enclosing loops, innermost last.
    loops: Vec<Loop>,
}

struct Loop {
    on_break: Label,
    on_continue: Label,
    atomic: usize,
}

struct Builder<'m> {
    model: &'m hir::Model,
    code: Vec<(Instruction, u32)>,
    /// Where each label points: an index into `code`.
    labels: Vec<usize>,
    locals: Vec<Variable>,
    frames: Vec<Frame>,
    /// How many atomic blocks are open.
    atomic: usize,
}

impl<'m> Builder<'m> {
    fn new(model: &'m hir::Model, routine: &hir::Routine) -> Builder<'m> {
        let outermost =
            Frame { first_local: 0, function: None, exit: None, atomic: 0, loops: Vec::new() };
        Builder {
            model,
            code: Vec::new(),
            labels: Vec::new(),
            locals: routine.locals.clone(),
            frames: vec![outermost],
            atomic: 0,
        }
    }

    fn emit(&mut self, instruction: Instruction, line: u32) -> Result<(), LowerError> {
        if self.code.len() >= MAX_INSTRUCTIONS {
            return Err(LowerError {
                line,
                message: format!("this operation has more than {MAX_INSTRUCTIONS} instructions once its functions are inlined"),
                help: "call functions from fewer places, or make the model smaller",
            });
        }
        self.code.push((instruction, line));
        Ok(())
    }

    fn act(&mut self, action: Action, line: u32) -> Result<(), LowerError> {
        self.emit(Instruction::Act(action), line)
    }

    fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        Label(self.labels.len() - 1)
    }

    /// The label points to what is emitted next.
    fn place_label(&mut self, label: Label) {
        self.labels[label.0] = self.code.len();
    }

    fn goto(&mut self, label: Label, line: u32) -> Result<(), LowerError> {
        self.emit(Instruction::Goto(label.0), line)
    }

    fn branch(
        &mut self,
        condition: Expr,
        then: Label,
        otherwise: Label,
        line: u32,
    ) -> Result<(), LowerError> {
        self.emit(Instruction::Branch(condition, then.0, otherwise.0), line)
    }

    /// A local that no other expression uses.
    fn temporary(&mut self, ty: &Type) -> LocalId {
        let id = LocalId(self.locals.len() as u32);
        let name = format!("${}", id.0);
        self.locals.push(Variable { name, ty: ty.clone(), initial: Value::Null });
        id
    }

    fn frame(&self) -> &Frame {
        // INVARIANT: the outermost frame is never popped.
        &self.frames[self.frames.len() - 1]
    }

    /// A local of the routine being lowered as a local of the body.
    fn local(&self, id: LocalId) -> LocalId {
        LocalId(self.frame().first_local + id.0)
    }

    /// Closes the atomic blocks that a jump leaves.
    fn leave_atomic(&mut self, down_to: usize, line: u32) -> Result<(), LowerError> {
        for _ in down_to..self.atomic {
            self.emit(Instruction::AtomicEnd, line)?;
        }
        Ok(())
    }
}
