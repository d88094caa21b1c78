//! The reference interpreter: what the steps of a [`Program`] mean.
//!
//! A [`Machine`] is a program and a way to manage memory. From a [`State`], a scheduler makes
//! [`Move`]s: a thread calls an operation, takes a step, or sees the response.
//! [`Machine::successors`] gives every way in which a move can be made; [`Machine::attempt`]
//! performs one, with given choices, and can record what happened for people.
//!
//! A step starts at a yielding node and goes along edges to the next yielding node or to the
//! return. At a node, the edge is taken whose guards hold; if there is none, now or at a later node
//! of the same step, the step cannot be made and nothing has happened. Where something goes wrong
//! on the way, the step is a [`Fault`].
//!
//! Reading order: [`state`](State), [`Move`], then `execution.rs` (a move), `action.rs` and
//! `access.rs` (an action).

mod access;
mod action;
mod choices;
mod collection;
mod crash;
mod execution;
mod explain;
mod expression;
mod fault;
mod moves;
mod persist;
mod state;

pub use fault::{Fault, FaultKind};
pub use moves::{
    ActionRecord, Attempt, Choices, LineRecord, Move, Outcome, Path, ScheduledMove, StepRecord,
    Successor, Wait,
};
pub use state::{Line, Location, Object, Recovery, Root, State, Status, Store, ThreadState};

use crate::branch::{Branch, branches};
use crate::print::Names;
use crate::program::{Body, Expr, NodeId, Program};
use choices::Chooser;
use execution::{Actor, Code, Ended, Execution};
use expression::Environment;
use linchpin_spec::Value;

/// A `choose` may have at most this many ways.
pub const MAX_CHOICES: u64 = 1 << 16;

/// A step may go along at most this many edges.
pub const MAX_EDGES: usize = 100_000;

/// Whether a step that has gone along so many edges keeps what it has come to. If it comes to the
/// same again, it may go on like this for ever.
pub fn is_kept(edges: usize) -> bool {
    edges >= 64 && edges.is_power_of_two()
}

/// What `free` and `new` do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Memory {
    /// As with a garbage collector: `free` changes nothing, and no object ever comes back.
    #[default]
    Collected,
    /// As with `malloc`: an object is dead after `free`, any access to it is a fault, and a later
    /// `new` of the same struct may take it again, or take a fresh one.
    Reuse,
    /// As with a free list for each struct: an object may be read and written after `free`, and a
    /// later `new` of the same struct may take it again, or take a fresh one. What `new` does not
    /// give keeps the value that it had.
    TypeStable,
}

impl Memory {
    /// Whether an object may come back after `free`.
    pub fn gives_back(self) -> bool {
        self != Memory::Collected
    }
}

/// A program, ready to execute.
#[derive(Clone, Debug)]
pub struct Machine {
    program: Program,
    memory: Memory,
    /// Whether there are crashes, so that pending stores are kept.
    crashes: bool,
    init: Vec<Vec<Branch>>,
    operations: Vec<Vec<Vec<Branch>>>,
    recover: Vec<Vec<Branch>>,
    resolve: Vec<Vec<Branch>>,
}

impl Machine {
    /// Prepares a program. There are no system crashes: flushes and fences change nothing.
    pub fn new(program: &Program, memory: Memory) -> Machine {
        let persistence = program.persistence.as_ref();
        let recover = persistence.and_then(|persistence| persistence.recover.as_ref());
        let resolve = persistence.and_then(|persistence| persistence.resolve.as_ref());
        let trees = |body: &Body| body.nodes.iter().map(branches).collect::<Vec<_>>();
        Machine {
            program: program.clone(),
            memory,
            crashes: false,
            recover: recover.map(trees).unwrap_or_default(),
            resolve: resolve.map(|resolve| trees(&resolve.body)).unwrap_or_default(),
            init: program.init.as_ref().map(trees).unwrap_or_default(),
            operations: program.operations.iter().map(|operation| trees(&operation.body)).collect(),
        }
    }

    /// Prepares a program whose system may crash: states have pending stores, and
    /// [`Move::Crash`] is possible if something is persistent.
    pub fn with_crashes(program: &Program, memory: Memory) -> Machine {
        Machine { crashes: program.persistence.is_some(), ..Machine::new(program, memory) }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// How memory is managed.
    pub fn memory(&self) -> Memory {
        self.memory
    }

    /// The state after `init`.
    pub fn initial(&self) -> Result<State, Fault> {
        let state = State::blank(&self.program);
        let Some(body) = &self.program.init else {
            return Ok(state);
        };
        let code = Code { body, branches: &self.init };
        let locals = state::initial_values(&body.locals);
        let chooser = Chooser::given(&[]);
        let mut execution = Execution::new(self, Actor::Init, code, state, locals, chooser, None);
        match execution.run(body.entry)? {
            Ended::Returned(_) => Ok(execution.into_state()),
            Ended::Yielded(_) => Err(execution.fault(FaultKind::IllTyped, 0, "yield".to_owned())),
            Ended::Refused => {
                let (line, reason) = execution.refusal();
                Err(execution.fault(FaultKind::BlockedInit, line, reason))
            }
        }
    }

    /// Whether a client may make this call: the thread is idle, its role allows the operation and
    /// `requires` holds.
    pub fn may_call(
        &self,
        state: &State,
        thread: usize,
        operation: usize,
        arguments: &[Value],
    ) -> Result<bool, Fault> {
        let (Some(client), Some(called)) =
            (self.program.threads.get(thread), self.program.operations.get(operation))
        else {
            return Ok(false);
        };
        let idle = state.recovery.is_none()
            && matches!(state.threads.get(thread), Some(t) if t.status == Status::Idle);
        let fits = arguments.len() == called.parameters.len();
        if !idle || !fits || !client.operations.contains(&operation) {
            return Ok(false);
        }
        let Some(requires) = &called.requires else {
            return Ok(true);
        };
        let variables = &state.threads[thread].variables;
        let environment = Environment { locals: arguments, variables, thread: Some(thread) };
        environment.truth(requires).map_err(|kind| {
            let names = Names { program: &self.program, body: &called.body };
            let action = format!("requires {}", names.expr(requires));
            let (thread, operation) = (Some(thread), Some(operation));
            Fault { kind, thread, operation, name: called.name.clone(), line: called.line, action }
        })
    }

    /// Tries a move with the given choices (0 for each one beyond them). Does not ask
    /// [`Machine::may_call`].
    ///
    /// `record`, if there is one, is overwritten with what happened: up to the fault if there was
    /// one.
    pub fn attempt(
        &self,
        state: &State,
        what: &Move,
        given: &[u32],
        record: Option<&mut StepRecord>,
    ) -> Attempt {
        self.attempt_with(state, what, Chooser::given(given), record)
    }

    /// Tries a move with random choices.
    pub(crate) fn attempt_at_random(
        &self,
        state: &State,
        what: &Move,
        random: &mut fastrand::Rng,
    ) -> Attempt {
        self.attempt_with(state, what, Chooser::random(random), None)
    }

    /// Every way in which a move can be made. None: it cannot be made now.
    pub fn successors(&self, state: &State, what: &Move) -> Vec<Successor> {
        let mut all = Vec::new();
        let mut given = Some(Choices::new());
        while let Some(choices) = given {
            let attempt = self.attempt(state, what, &choices, None);
            given = attempt.next_choices();
            let result = match attempt.outcome {
                Outcome::Next(state) => Ok(state),
                Outcome::Fault(fault) => Err(fault),
                Outcome::Disabled => continue,
            };
            all.push(Successor { choices: attempt.choices, path: attempt.path, result });
        }
        all
    }

    /// The state after the thread has seen its response (or the outcome of an interrupted call),
    /// and the response; `None` if there is none to see.
    pub fn respond(&self, state: &State, thread: usize) -> Option<(State, Value)> {
        let value = match &state.threads.get(thread)?.status {
            _ if state.recovery.is_some() => return None,
            Status::Returning { value, .. } | Status::Resolved { outcome: value, .. } => value,
            _ => return None,
        };
        let value = value.clone();
        Some((state.with_status(thread, Status::Idle), value))
    }

    /// The value of an expression in the operation that the thread is running; `None` if it is not
    /// running.
    pub fn evaluate(
        &self,
        state: &State,
        thread: usize,
        expr: &Expr,
    ) -> Option<Result<Value, FaultKind>> {
        let of = state.threads.get(thread)?;
        let (Status::Running { locals, .. } | Status::Resolving { locals, .. }) = &of.status else {
            return None;
        };
        let environment = Environment { locals, variables: &of.variables, thread: Some(thread) };
        Some(environment.eval(expr))
    }

    /// What a running thread waits for; `None` if it can take a step, or is not running.
    pub fn wait(&self, state: &State, thread: usize) -> Option<Wait> {
        let operation = state.pending(thread)?;
        let mut first = None;
        let mut given = Some(Choices::new());
        while let Some(choices) = given {
            let (mut execution, start) =
                self.prepare(state, &Move::Step { thread }, Chooser::given(&choices), None)?;
            let Ok(Ended::Refused) = execution.run(start) else {
                return None;
            };
            let (line, reason) = execution.refusal();
            let held_by = execution.lock_holder();
            let wait = first.get_or_insert(Wait { thread, operation, line, reason, held_by });
            // With other choices it may wait for something else.
            wait.held_by = wait.held_by.filter(|holder| held_by == Some(*holder));
            given = execution.finish(Ok(Ended::Refused)).next_choices();
        }
        first
    }

    fn attempt_with<'a>(
        &'a self,
        state: &State,
        what: &Move,
        chooser: Chooser<'a>,
        mut record: Option<&'a mut StepRecord>,
    ) -> Attempt {
        if let Some(record) = record.as_deref_mut() {
            *record = self.new_record(state, what);
        }
        match *what {
            Move::Respond { thread } => {
                let responded = self.respond(state, thread);
                let outcome = responded.map_or(Outcome::Disabled, |(next, _)| Outcome::Next(next));
                return Attempt { outcome, ..Attempt::disabled() };
            }
            Move::Crash => return self.crash(state, chooser, record),
            Move::CrashThread { thread } => return self.crash_thread(state, thread),
            Move::Invoke { .. } | Move::Step { .. } | Move::Recover => {}
        }
        match self.prepare(state, what, chooser, record) {
            None => Attempt::disabled(),
            Some((mut execution, start)) => {
                let ended = execution.run(start);
                execution.finish(ended)
            }
        }
    }

    /// An execution that is about to make this move, and the node where it starts; `None` if the
    /// thread is not in a position to make it.
    fn prepare<'a>(
        &'a self,
        state: &State,
        what: &Move,
        chooser: Chooser<'a>,
        record: Option<&'a mut StepRecord>,
    ) -> Option<(Execution<'a>, NodeId)> {
        let Some(thread) = what.thread() else {
            return self.prepare_recovery(state, chooser, record);
        };
        if state.recovery.is_some() {
            return None;
        }
        let (operation, node, locals) = match (what, &state.threads.get(thread)?.status) {
            (Move::Step { .. }, Status::Interrupted { .. } | Status::Resolving { .. }) => {
                return self.prepare_resolution(state, thread, chooser, record);
            }
            (Move::Step { .. }, Status::Running { operation, node, locals }) => {
                (*operation, *node, locals.clone())
            }
            (Move::Invoke { operation, arguments, .. }, Status::Idle) => {
                let called = self.program.operations.get(*operation)?;
                let rest = called.body.locals.get(arguments.len()..)?;
                if arguments.len() != called.parameters.len() {
                    return None;
                }
                let rest = rest.iter().map(|local| &local.initial);
                (*operation, called.body.entry, arguments.iter().chain(rest).cloned().collect())
            }
            _ => return None,
        };
        let body = &self.program.operations.get(operation)?.body;
        let code = Code { body, branches: &self.operations[operation] };
        let actor = Actor::Thread { thread, operation };
        // The locals are in the execution's hands until the move ends: the thread is idle
        // meanwhile.
        let state = state.with_status(thread, Status::Idle);
        let execution = Execution::new(self, actor, code, state, locals, chooser, record);
        Some((execution, node))
    }

    /// The same for a step of `recover`.
    fn prepare_recovery<'a>(
        &'a self,
        state: &State,
        chooser: Chooser<'a>,
        record: Option<&'a mut StepRecord>,
    ) -> Option<(Execution<'a>, NodeId)> {
        let Recovery { node, locals, .. } = &**state.recovery.as_ref()?;
        let body = self.program.persistence.as_ref()?.recover.as_ref()?;
        let code = Code { body, branches: &self.recover };
        let (node, locals, state) = (*node, locals.clone(), state.clone());
        let actor = Actor::Recovery;
        Some((Execution::new(self, actor, code, state, locals, chooser, record), node))
    }

    /// The same for a step of `recover(t)`.
    fn prepare_resolution<'a>(
        &'a self,
        state: &State,
        thread: usize,
        chooser: Chooser<'a>,
        record: Option<&'a mut StepRecord>,
    ) -> Option<(Execution<'a>, NodeId)> {
        let body = &self.program.persistence.as_ref()?.resolve.as_ref()?.body;
        let (operation, node, locals) = match &state.threads[thread].status {
            Status::Resolving { operation, node, locals } => (*operation, *node, locals.clone()),
            Status::Interrupted { operation } => {
                let rest = body.locals.iter().skip(1).map(|local| local.initial.clone());
                let thread = Value::Int(i64::try_from(thread).ok()?);
                (*operation, body.entry, std::iter::once(thread).chain(rest).collect())
            }
            _ => return None,
        };
        let code = Code { body, branches: &self.resolve };
        let actor = Actor::Resolution { thread, operation };
        let state = state.with_status(thread, Status::Idle);
        Some((Execution::new(self, actor, code, state, locals, chooser, record), node))
    }
}
