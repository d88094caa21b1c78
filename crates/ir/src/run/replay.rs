//! A run again, from its schedule.

use super::{End, Run, Session};
use crate::interpreter::{Fault, Machine, Memory, Move, Outcome, ScheduledMove, State};
use crate::program::Program;
use thiserror::Error;

/// Why a schedule is not one of this program. `at` is the number of the move, from 0.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    /// The thread may not call this operation, with these arguments, then.
    #[error("move {at}: the thread may not make this call")]
    NotAllowed {
        /// The move.
        at: usize,
    },
    /// The thread cannot make this move, with these choices, then.
    #[error("move {at}: the thread cannot make this move")]
    Disabled {
        /// The move.
        at: usize,
    },
    /// The move makes more or fewer choices than are given.
    #[error("move {at}: {given} choices are given where {needed} are needed")]
    Choices {
        /// The move.
        at: usize,
        /// How many are given.
        given: usize,
        /// How many are needed.
        needed: usize,
    },
    /// The run had already gone wrong.
    #[error("move {at}: the run has already ended with a fault")]
    AfterFault {
        /// The move.
        at: usize,
    },
}

/// Executes a schedule; the trace is recorded.
pub fn replay(
    program: &Program,
    memory: Memory,
    schedule: &[ScheduledMove],
) -> Result<Run, ReplayError> {
    let crashes = schedule.iter().any(|scheduled| scheduled.what.is_crash());
    let machine = match crashes {
        true => Machine::with_crashes(program, memory),
        false => Machine::new(program, memory),
    };
    let mut session = match Session::start(&machine, true) {
        Ok(session) => session,
        Err(fault) if schedule.is_empty() => return Ok(Run::without_moves(End::Faulted(fault))),
        Err(_) => return Err(ReplayError::AfterFault { at: 0 }),
    };
    for (at, scheduled) in schedule.iter().enumerate() {
        let result = outcome(&machine, &session.state, scheduled, at)?;
        if let Err(fault) = session.advance(scheduled.clone(), result) {
            return match at + 1 == schedule.len() {
                true => Ok(session.fail(fault)),
                false => Err(ReplayError::AfterFault { at: at + 1 }),
            };
        }
    }
    Ok(session.finish())
}

/// What comes of one move.
fn outcome(
    machine: &Machine,
    state: &State,
    ScheduledMove { what, choices }: &ScheduledMove,
    at: usize,
) -> Result<Result<State, Fault>, ReplayError> {
    if let Move::Invoke { thread, operation, arguments } = what {
        match machine.may_call(state, *thread, *operation, arguments) {
            Ok(true) => {}
            Ok(false) => return Err(ReplayError::NotAllowed { at }),
            Err(fault) => return Ok(Err(fault)),
        }
    }
    let attempt = machine.attempt(state, what, choices, None);
    let (given, needed) = (choices.len(), attempt.choices.len());
    match attempt.outcome {
        Outcome::Disabled => Err(ReplayError::Disabled { at }),
        _ if given != needed => Err(ReplayError::Choices { at, given, needed }),
        Outcome::Next(state) => Ok(Ok(state)),
        Outcome::Fault(fault) => Ok(Err(fault)),
    }
}
