//! From the checked model to the program: functions inlined, every shared access a step.
//!
//! Two passes. [`Builder`] writes each body as a straight list of small instructions with labels:
//! `statement` and `expression` do that. [`steps`] then cuts the list into steps.

mod call;
mod expression;
mod loops;
mod statement;
mod steps;
#[cfg(test)]
mod tests;

use crate::{hir, limits};
use linchpin_ir::persistence::{Persistence, Resolve};
use linchpin_ir::program::{
    Action, Body, Expr, Formula, LocalId, LocalTarget, Operation, Parameter, Place, Point, Program,
    SpecSource, Type, Variable,
};
use linchpin_spec::Value;
use linchpin_syntax::Code;
use std::cell::Cell;

/// Why a model that checks cannot be lowered.
pub(crate) struct LowerError {
    pub(crate) code: Code,
    pub(crate) line: u32,
    pub(crate) message: String,
    pub(crate) help: &'static str,
}

type Lowered<T> = Result<T, LowerError>;

/// Lowers a model.
pub(crate) fn lower(model: &hir::Model) -> Lowered<Program> {
    let size = Cell::new(0);
    let spec = specification(&model.spec, &size)?;
    let reference = match &model.reference {
        Some(block) => Some(Box::new(reference(block, spec.clone(), &size)?)),
        None => None,
    };
    let program = Lowering { model, size: &size }.program(Turns::AtAccesses, spec)?;
    Ok(Program { reference, ..program })
}

/// A `reference { }` block: its operations run in one go. Functions of the model may bring the
/// claims of the model with them, which say nothing about the reference.
fn reference(block: &hir::Model, spec: SpecSource, size: &Cell<usize>) -> Lowered<Program> {
    let mut program = Lowering { model: block, size }.program(Turns::Never, spec)?;
    let operations = program.operations.iter_mut().map(|operation| &mut operation.body);
    operations.chain(&mut program.init).for_each(claim_nothing);
    Ok(program)
}

/// Removes the claims that functions have brought with them to where they say nothing.
fn claim_nothing(body: &mut Body) {
    for edge in body.nodes.iter_mut().flat_map(|node| &mut node.edges) {
        edge.points.clear();
        edge.bases.clear();
    }
}

/// Lowers a specification alone.
pub(crate) fn lower_spec(spec: &hir::Spec) -> Lowered<SpecSource> {
    specification(spec, &Cell::new(0))
}

fn specification(spec: &hir::Spec, size: &Cell<usize>) -> Lowered<SpecSource> {
    Ok(match spec {
        hir::Spec::Builtin(source) => source.clone(),
        hir::Spec::Block(block) => {
            // A specification has no specification.
            let none = SpecSource::Builtin { name: String::new(), init: None };
            SpecSource::Model(Box::new(
                Lowering { model: block, size }.program(Turns::Never, none)?,
            ))
        }
    })
}

/// Where other threads get a turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turns {
    AtAccesses,
    Never,
}

/// A model being lowered.
#[derive(Clone, Copy)]
struct Lowering<'m> {
    model: &'m hir::Model,
    /// How large everything is that has been lowered so far.
    size: &'m Cell<usize>,
}

impl<'m> Lowering<'m> {
    fn program(self, turns: Turns, spec: SpecSource) -> Lowered<Program> {
        let model = self.model;
        let init = match &model.init {
            Some(routine) => Some(self.init(routine)?),
            None => None,
        };
        let operations = model.operations.iter().map(|routine| self.operation(routine, turns));
        let operations = operations.collect::<Result<_, _>>()?;
        let persistence = match &model.persistence {
            Some(persistence) => Some(self.persistence(persistence)?),
            None => None,
        };
        Ok(Program {
            structs: model.structs.clone(),
            shared: model.shared.clone(),
            thread_locals: model.thread_locals.clone(),
            init,
            preload: model.preload.clone(),
            operations,
            threads: model.threads.clone(),
            spec,
            counts_threads: false,
            reference: None,
            persistence,
        })
    }

    fn operation(self, routine: &hir::Routine, turns: Turns) -> Lowered<Operation> {
        let types = routine.locals[..routine.parameters].iter().map(|variable| variable.ty.clone());
        let ranges = routine.ranges.iter().copied();
        let parameters = types.zip(ranges).map(|(ty, range)| Parameter { ty, range }).collect();
        // `requires` is local, so it lowers to an expression and no instruction.
        let requires = match &routine.requires {
            Some(condition) => Some(Builder::new(self, routine).expr(condition)?),
            None => None,
        };
        let builder = self.instructions(routine)?;
        Ok(Operation {
            name: routine.name.clone(),
            parameters,
            response: routine.response.clone(),
            requires,
            body: steps::cut(&builder.code, &builder.labels, turns, builder.locals),
            line: routine.line,
        })
    }

    fn init(self, routine: &hir::Routine) -> Lowered<Body> {
        let builder = self.instructions(routine)?;
        match builder.code.iter().find(|(instruction, _)| instruction.needs_thread()) {
            Some((_, line)) => Err(LowerError {
                code: Code::NoThread,
                line: *line,
                message: "`init` gets here, and it runs before there are threads".to_owned(),
                help: "`me`, `local` variables, locks, `ll` and `sc` belong to a thread",
            }),
            None => Ok(steps::cut(&builder.code, &builder.labels, Turns::Never, builder.locals)),
        }
    }

    fn persistence(self, persistence: &hir::Persistence) -> Lowered<Persistence> {
        let hir::Persistence { shared, structs, lines, recover, resolve } = persistence;
        let recover = match recover {
            Some(routine) => Some(self.recover(routine)?),
            None => None,
        };
        let resolve = match resolve {
            Some(routine) => Some(self.resolve(routine)?),
            None => None,
        };
        let (shared, structs, lines) = (shared.clone(), structs.clone(), lines.clone());
        Ok(Persistence { shared, structs, lines, recover, resolve })
    }

    /// `recover { }`: no thread runs it, but another crash may come between its steps.
    fn recover(self, routine: &hir::Routine) -> Lowered<Body> {
        let builder = self.instructions(routine)?;
        if let Some((_, line)) = builder.code.iter().find(|(code, _)| code.needs_thread()) {
            return Err(LowerError {
                code: Code::NoThread,
                line: *line,
                message: "`recover` gets here, and it runs while there are no threads".to_owned(),
                help: "`me`, `local` variables, locks, `ll` and `sc` belong to a thread",
            });
        }
        let turns = Turns::AtAccesses;
        let mut body = steps::cut(&builder.code, &builder.labels, turns, builder.locals);
        claim_nothing(&mut body);
        Ok(body)
    }

    /// `recover(t: tid) -> R? { }`
    fn resolve(self, routine: &hir::Routine) -> Lowered<Resolve> {
        let builder = self.instructions(routine)?;
        let turns = Turns::AtAccesses;
        let mut body = steps::cut(&builder.code, &builder.labels, turns, builder.locals);
        claim_nothing(&mut body);
        let response = match &routine.response {
            Type::Option(inner) => (**inner).clone(),
            other => other.clone(),
        };
        Ok(Resolve { body, response, line: routine.line })
    }

    fn instructions(self, routine: &hir::Routine) -> Lowered<Builder<'m>> {
        let mut builder = Builder::new(self, routine);
        builder.block(&routine.body)?;
        builder.emit(Instruction::Return(Expr::Const(Value::Null)), routine.line)?;
        Ok(builder)
    }
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

impl Instruction {
    /// How much room it takes: one, and each operator in its expressions.
    fn size(&self) -> usize {
        let mut size = 1;
        match self {
            Instruction::Base(formula) => size += formula_size(formula),
            _ => self.expressions().into_iter().for_each(|expr| expr.walk(&mut |_| size += 1)),
        }
        size
    }

    fn expressions(&self) -> Vec<&Expr> {
        match self {
            Instruction::Act(action) => action.expressions(),
            Instruction::Branch(expr, ..) | Instruction::Return(expr) => vec![expr],
            Instruction::Point(Point::When(expr) | Point::Returns { value: expr, .. }) => {
                vec![expr]
            }
            Instruction::Goto(_)
            | Instruction::AtomicBegin
            | Instruction::AtomicEnd
            | Instruction::Base(_) => vec![],
        }
    }

    /// Whether this means nothing where no thread executes it.
    fn needs_thread(&self) -> bool {
        let acts = matches!(
            self,
            Instruction::Act(
                Action::Lock(_)
                    | Action::Unlock(_)
                    | Action::LoadLinked { .. }
                    | Action::StoreConditional { .. }
                    | Action::Assign { local: LocalTarget::ThreadLocal(_), .. }
            )
        );
        let mut mentions = false;
        for expr in self.expressions() {
            expr.walk(&mut |inner| mentions |= matches!(inner, Expr::Me | Expr::ThreadLocal(_)));
        }
        acts || mentions
    }
}

fn formula_size(formula: &Formula) -> usize {
    1 + match formula {
        Formula::Local(_) | Formula::Bound(_) | Formula::Shared(_) => 0,
        Formula::SharedElement(_, inner)
        | Formula::Field(inner, ..)
        | Formula::Component(inner, _)
        | Formula::Unary(_, inner)
        | Formula::Forall(_, inner)
        | Formula::Exists(_, inner) => formula_size(inner),
        Formula::Binary(_, a, b) | Formula::Reach { from: a, to: b, .. } => {
            formula_size(a) + formula_size(b)
        }
    }
}

/// A routine being inlined (the operation itself is the outermost one).
struct Frame {
    /// Which function it is; absent for the operation.
    function: Option<usize>,
    /// What was passed for the parameters that are places.
    places: Vec<Place>,
    /// Where its locals start among the locals of the body.
    first_local: u32,
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
    lowering: Lowering<'m>,
    code: Vec<(Instruction, u32)>,
    /// Where each label points: an index into `code`.
    labels: Vec<usize>,
    locals: Vec<Variable>,
    frames: Vec<Frame>,
    /// The atomic blocks that are open, outermost first: the points claimed for each.
    atomics: Vec<Vec<hir::Point>>,
    /// How many calls have been inlined.
    calls: usize,
    /// How many words the locals of inlined functions have.
    words: usize,
    /// The line of the call in the operation itself that is being inlined.
    outermost_call: Option<u32>,
    /// How many calls, blocks and expressions are open.
    nesting: usize,
}

impl<'m> Builder<'m> {
    fn new(lowering: Lowering<'m>, routine: &hir::Routine) -> Builder<'m> {
        let outermost = Frame {
            function: None,
            places: Vec::new(),
            first_local: 0,
            exit: None,
            atomic: 0,
            loops: Vec::new(),
        };
        Builder {
            lowering,
            code: Vec::new(),
            labels: Vec::new(),
            locals: routine.locals.clone(),
            frames: vec![outermost],
            atomics: Vec::new(),
            calls: 0,
            words: 0,
            outermost_call: None,
            nesting: 0,
        }
    }

    fn emit(&mut self, instruction: Instruction, line: u32) -> Lowered<()> {
        let size = self.lowering.size.get() + instruction.size();
        self.lowering.size.set(size);
        let what = if self.code.len() + self.calls >= limits::INSTRUCTIONS {
            "this operation"
        } else if size > limits::SIZE {
            "this model"
        } else {
            self.code.push((instruction, line));
            return Ok(());
        };
        Err(self.too_large(what, line))
    }

    fn too_large(&self, what: &str, line: u32) -> LowerError {
        let (message, help) = match self.calls {
            0 => (format!("{what} is too large"), "make it smaller"),
            _ => (
                format!("{what} becomes too large when its functions are inlined"),
                "call functions from fewer places, or make the model smaller",
            ),
        };
        LowerError {
            code: Code::TooLarge,
            line: self.outermost_call.unwrap_or(line),
            message,
            help,
        }
    }

    /// Lowers something one level deeper.
    fn nested<T>(&mut self, line: u32, lower: impl FnOnce(&mut Self) -> Lowered<T>) -> Lowered<T> {
        if self.nesting >= limits::NESTING {
            return Err(LowerError {
                code: Code::TooLarge,
                line: self.outermost_call.unwrap_or(line),
                message: "this is nested too deep when functions are inlined".to_owned(),
                help: "use fewer layers of functions, or variables for parts of expressions",
            });
        }
        self.nesting += 1;
        let lowered = lower(self);
        self.nesting -= 1;
        lowered
    }

    fn act(&mut self, action: Action, line: u32) -> Lowered<()> {
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

    fn goto(&mut self, label: Label, line: u32) -> Lowered<()> {
        self.emit(Instruction::Goto(label.0), line)
    }

    fn branch(&mut self, condition: Expr, then: Label, otherwise: Label, line: u32) -> Lowered<()> {
        self.emit(Instruction::Branch(condition, then.0, otherwise.0), line)
    }

    /// A local that no other expression uses.
    fn temporary(&mut self, ty: &Type) -> LocalId {
        let name = self.locals.len().to_string();
        self.named_temporary(&name, ty)
    }

    /// The same with a name, for people.
    fn named_temporary(&mut self, name: &str, ty: &Type) -> LocalId {
        let id = LocalId(self.locals.len() as u32);
        let name = format!("${name}");
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

    /// Ends the atomic blocks that a jump leaves, all but the outermost `down_to`, with the points
    /// claimed for them.
    fn leave_atomic(&mut self, down_to: usize, line: u32) -> Lowered<()> {
        for at in (down_to..self.atomics.len()).rev() {
            let points = self.atomics[at].clone();
            self.points(&points, line)?;
            self.emit(Instruction::AtomicEnd, line)?;
        }
        Ok(())
    }
}
