//! A big-step evaluator of the sequential case: one operation after the other, each from call to
//! return.
//!
//! It walks the syntax tree as parsed, without types, and shares no code with the checker, the
//! lowering or the interpreter: `docs/reference/language.md` is all it knows. It also counts steps
//! (one for each shared access outside `atomic { }`, one for each atomic block) and remembers the
//! world before the current one, because that is what is left when a step waits or goes wrong.
//!
//! Start with [`Evaluator::call`]; `statement.rs` executes, `expression.rs` evaluates, `place.rs`
//! is about shared memory.

mod builtin;
mod choices;
mod collection;
mod declare;
mod expression;
mod place;
mod statement;
mod value;

pub use choices::{Choices, seeded_answer};
pub use value::{Datum, Fault, Mistake, Stop};

use declare::Declarations;
use linchpin_lang::syntax::ast;
use place::{Place, Word};
use std::collections::BTreeMap;
use std::rc::Rc;
use value::Evaluated;

/// How much one operation may do.
const FUEL: usize = 20_000;

/// How often each feature of the language was exercised.
pub type Coverage = BTreeMap<&'static str, u64>;

/// Everything that outlives an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World {
    /// The shared variables, or the state of a specification.
    pub shared: Vec<Datum>,
    pub heap: Vec<Object>,
    pub threads: Vec<Thread>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its struct, counted in order of declaration.
    pub of: usize,
    pub fields: Vec<Datum>,
    pub live: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The `local` variables.
    pub variables: Vec<Datum>,
    /// The words that it has load-linked and that have not been stored to since.
    links: Vec<Word>,
}

/// How a block ended.
enum Flow {
    /// At its end.
    Next,
    Break,
    Continue,
    Return(Datum),
}

/// What came of a call.
pub struct Called {
    /// The answer, or why there is none.
    pub end: Evaluated<Datum>,
    /// The invocation and the steps that were completed.
    pub moves: usize,
}

/// An evaluator of one model, or of one `spec { }` block.
#[derive(Clone)]
pub struct Evaluator<'m> {
    declared: Declarations<'m>,
    /// How many threads there are.
    threads: usize,
    /// Whether `free` ends an object and `new` may take it again.
    reuse: bool,
    pub world: Rc<World>,
    /// The world before the current step.
    pub before_step: Rc<World>,
    /// The caller; none in `init` and in specifications.
    thread: Option<usize>,
    /// The local variables of all routines that are running, the innermost last.
    scope: Vec<(&'m str, Datum)>,
    /// Where those of the innermost routine begin.
    frame: usize,
    /// The places that the innermost functions were given, with where their locals begin.
    places: Vec<(usize, &'m str, Place<'m>)>,
    /// The functions that are being called.
    open: Vec<&'m str>,
    /// How many functions are being called.
    calls: usize,
    /// How many atomic blocks are open; a specification and `init` are in one from the start.
    atomic: usize,
    /// The steps begun in this operation.
    steps: usize,
    /// How many shared accesses, calls and choices there were.
    acts: usize,
    fuel: usize,
    pub choices: Choices,
    pub coverage: Coverage,
}

impl<'m> Evaluator<'m> {
    /// The operations, in order of declaration.
    pub fn operations(&self) -> &[&'m ast::Routine] {
        &self.declared.operations
    }

    /// Runs `init`.
    pub fn initialise(&mut self) -> Evaluated<()> {
        let Some(block) = self.declared.init else { return Ok(()) };
        self.begin(None);
        match self.block(block) {
            Ok(_) => Ok(()),
            Err(Stop::Blocked) => Err(Mistake::BlockedInit.into()),
            Err(other) => Err(other),
        }
    }

    /// Whether `requires` holds.
    pub fn may_call(
        &mut self,
        thread: usize,
        operation: usize,
        arguments: &[Datum],
    ) -> Evaluated<bool> {
        let Some(requires) = &self.declared.operations[operation].requires else { return Ok(true) };
        self.begin(Some(thread));
        self.bind(self.declared.operations[operation], arguments);
        Ok(self.eval(requires)?.truth())
    }

    /// Calls an operation and runs it to its end.
    pub fn call(&mut self, thread: Option<usize>, operation: usize, arguments: &[Datum]) -> Called {
        let routine = self.declared.operations[operation];
        self.begin(thread);
        self.bind(routine, arguments);
        let end = self.block(&routine.body).map(|flow| self.answer(routine, flow));
        if let (Ok(_), Some(thread)) = (&end, thread) {
            self.world_mut().threads[thread].links.clear();
        }
        let completed = self.steps + usize::from(end.is_ok());
        Called { end, moves: completed }
    }

    fn begin(&mut self, thread: Option<usize>) {
        self.thread = thread;
        self.scope.clear();
        self.places.clear();
        self.open.clear();
        self.frame = 0;
        self.calls = 0;
        self.atomic = usize::from(thread.is_none());
        self.steps = 0;
        self.fuel = FUEL;
        self.before_step = self.world.clone();
    }

    fn bind(&mut self, routine: &'m ast::Routine, arguments: &[Datum]) {
        for (parameter, argument) in routine.parameters.iter().zip(arguments) {
            if matches!(parameter.ty.kind, ast::TypeKind::Place(_)) {
                continue;
            }
            let argument = self.fit(argument.clone(), &parameter.ty);
            self.scope.push((&parameter.name.name, argument));
        }
    }

    /// What a routine answers.
    fn answer(&mut self, routine: &'m ast::Routine, flow: Flow) -> Datum {
        match (flow, &routine.response) {
            (Flow::Return(value), Some(ty)) => self.fit(value, ty),
            _ => Datum::Nothing,
        }
    }

    /// Calls a function.
    fn call_function(
        &mut self,
        routine: &'m ast::Routine,
        arguments: &[Datum],
        places: Vec<(&'m str, Place<'m>)>,
    ) -> Evaluated<Datum> {
        let (caller, end) = (self.frame, self.scope.len());
        let passed = self.places.len();
        self.places.extend(places.into_iter().map(|(name, place)| (end, name, place)));
        self.open.push(&routine.name.name);
        self.frame = end;
        self.calls += 1;
        self.acts += 1;
        self.bind(routine, arguments);
        let flow = self.block(&routine.body).map_err(|stop| match stop {
            Stop::Fault(fault) => Stop::Fault(Fault { pure: false, ..fault }),
            other => other,
        })?;
        self.scope.truncate(end);
        self.places.truncate(passed);
        self.open.pop();
        self.frame = caller;
        self.calls -= 1;
        Ok(self.answer(routine, flow))
    }

    /// A shared access begins, or an atomic block: outside atomic blocks, that is a new step.
    fn begin_step(&mut self) {
        self.acts += 1;
        if self.atomic == 0 {
            self.steps += 1;
            self.before_step = self.world.clone();
        }
    }

    /// One of so many ways.
    fn choose(&mut self, ways: u32) -> Evaluated<u32> {
        self.acts += 1;
        if ways > 1 && self.thread.is_none() && !self.declared.is_spec {
            return Err(Mistake::ChoiceInInit.into());
        }
        Ok(self.choices.answer(ways))
    }

    /// The world, to be changed.
    fn world_mut(&mut self) -> &mut World {
        Rc::make_mut(&mut self.world)
    }

    fn spend(&mut self) -> Evaluated<()> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Stop::OutOfFuel)?;
        Ok(())
    }

    /// Takes note of a feature that is being exercised.
    fn cover(&mut self, feature: &'static str) {
        *self.coverage.entry(feature).or_default() += 1;
    }
}
