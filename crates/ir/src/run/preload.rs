//! The calls that a model makes before all others (`preload { }`): one thread, alone, one call
//! after the other, so that runs start with something in the object.
//!
//! They are ordinary moves. A run that starts after them has them at the beginning of its schedule
//! and its history, so it is replayed and judged like any other.

use super::{Run, Session};
use crate::interpreter::{Fault, Machine, Move, ScheduledMove, State, Status};
use crate::program::{Operation, PreloadCall};
use linchpin_spec::Value;
use thiserror::Error;

/// All calls together may take so many moves.
const MOST_MOVES: usize = 100_000;

/// What the calls of a preload came to.
#[derive(Clone, Debug)]
pub struct Preloaded {
    /// The run, from the start to the last response, or to the step that failed.
    pub run: Run,
    /// The state after it, unless a step failed.
    pub result: Result<State, Fault>,
    /// What was called and answered, in order.
    pub calls: Vec<AnsweredCall>,
}

/// A call and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredCall {
    /// Which operation: index into [`Program::operations`](crate::program::Program::operations).
    pub operation: usize,
    /// The argument, as in a history.
    pub argument: Value,
    /// The answer.
    pub answer: Value,
    /// How many moves the run has up to the response.
    pub moves: usize,
}

/// Why the calls of a preload cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PreloadError {
    /// No thread may make the call then.
    #[error("preload: no thread may call `{call}` there: look at roles, `requires` and --client")]
    NotAllowed {
        /// The call.
        call: String,
    },
    /// The call waits, and no other thread moves.
    #[error(
        "preload: `{call}` waits at line {line} for {reason}, and no other thread moves: preload \
         only calls that return by themselves"
    )]
    Blocked {
        /// The call.
        call: String,
        /// Where it waits.
        line: u32,
        /// What it waits for.
        reason: String,
    },
    /// There is more than one way on.
    #[error(
        "preload: `{call}` has more than one way on: a preload has one outcome, so it cannot \
         `choose`, nor take memory that was given back (--memory)"
    )]
    Branches {
        /// The call.
        call: String,
    },
    /// It does not come to an end.
    #[error("preload: `{call}` has not returned after {MOST_MOVES} moves")]
    TooLong {
        /// The call.
        call: String,
    },
    /// `init` goes wrong.
    #[error("the model cannot start: {0}")]
    Start(#[from] Fault),
    /// Crashes are asked for.
    #[error("a preload cannot be combined with crashes: use --crashes 0, or `init`")]
    Crashes,
}

/// Makes the calls of the program's preload.
pub fn preload(machine: &Machine) -> Result<Preloaded, PreloadError> {
    let mut session = Session::start(machine, true)?;
    let mut calls = Vec::new();
    for call in &machine.program().preload {
        match session.preload(call)? {
            Ok(answered) => calls.push(answered),
            Err(fault) => {
                let run = session.fail(fault.clone());
                return Ok(Preloaded { run, result: Err(fault), calls });
            }
        }
    }
    let result = Ok(session.state.clone());
    Ok(Preloaded { run: session.finish(), result, calls })
}

impl Session<'_> {
    /// Makes one call, from its invocation to its response.
    fn preload(
        &mut self,
        PreloadCall { operation, arguments }: &PreloadCall,
    ) -> Result<Result<AnsweredCall, Fault>, PreloadError> {
        let (operation, program) = (*operation, self.machine.program());
        let given: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let name = program.operations.get(operation).map_or("", |of| of.name.as_str());
        let call = format!("{name}({})", given.join(", "));
        let mut caller = None;
        for thread in 0..program.threads.len() {
            let arguments = self.arguments(thread, operation, arguments);
            match self.machine.may_call(&self.state, thread, operation, &arguments) {
                Ok(true) => caller = Some((thread, arguments)),
                Ok(false) => continue,
                Err(fault) => return Ok(Err(fault)),
            }
            break;
        }
        let Some((thread, arguments)) = caller else {
            return Err(PreloadError::NotAllowed { call });
        };
        let argument = Operation::argument(&arguments);
        let mut next = Move::Invoke { thread, operation, arguments };
        loop {
            let answer = match &self.state.threads[thread].status {
                Status::Returning { value, .. } => Some(value.clone()),
                _ => None,
            };
            if answer.is_some() {
                next = Move::Respond { thread };
            }
            match self.only_way(&call, next)? {
                Err(fault) => return Ok(Err(fault)),
                Ok(()) => {
                    if let Some(answer) = answer {
                        let moves = self.run.schedule.len();
                        return Ok(Ok(AnsweredCall { operation, argument, answer, moves }));
                    }
                }
            }
            next = Move::Step { thread };
        }
    }

    /// The arguments with the caller, where the specification looks at it.
    fn arguments(&self, thread: usize, operation: usize, given: &[Value]) -> Vec<Value> {
        let taken = self.machine.program().operations.get(operation);
        let is_seen = taken.is_some_and(|of| of.parameters.len() == given.len() + 1);
        let caller = i64::try_from(thread).ok().filter(|_| is_seen).map(Value::Int);
        given.iter().cloned().chain(caller).collect()
    }

    /// The line of what an invocation calls.
    fn line_of(&self, what: &Move) -> u32 {
        match what {
            Move::Invoke { operation, .. } => {
                self.machine.program().operations.get(*operation).map_or(0, |of| of.line)
            }
            _ => 0,
        }
    }

    /// Makes a move that can be made in one way.
    fn only_way(&mut self, call: &str, what: Move) -> Result<Result<(), Fault>, PreloadError> {
        let call = || call.to_owned();
        if self.run.schedule.len() >= MOST_MOVES {
            return Err(PreloadError::TooLong { call: call() });
        }
        let mut ways = self.machine.successors(&self.state, &what);
        if ways.len() > 1 {
            return Err(PreloadError::Branches { call: call() });
        }
        let Some(way) = ways.pop() else {
            let wait = what.thread().and_then(|thread| self.machine.wait(&self.state, thread));
            let (line, reason) = wait.map_or_else(
                || (self.line_of(&what), "an `assume` that does not hold".to_owned()),
                |wait| (wait.line, wait.reason),
            );
            return Err(PreloadError::Blocked { call: call(), line, reason });
        };
        let made = ScheduledMove { what, choices: way.choices };
        Ok(self.advance(made, way.result))
    }
}
