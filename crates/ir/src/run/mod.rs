//! Runs of a whole model: clients call operations, a random scheduler decides who moves, one seed
//! decides everything.
//!
//! [`Runner`] makes runs, [`replay`] makes one again from its schedule. Every invocation, step and
//! response is a move of its own.

mod call;
mod replay;
mod runner;
mod scheduler;

pub use replay::{ReplayError, replay};
pub use runner::{Runner, RunnerError};
pub use scheduler::{MAX_DEPTH, Scheduler};

use crate::interpreter::{
    Fault, Machine, Memory, Move, ScheduledMove, State, Status, StepRecord, Wait,
};
use crate::program::Operation;
use linchpin_spec::Value;

/// How a model is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// How many operations each thread calls.
    pub operations: usize,
    /// An `int` parameter without a range is one of `1..=values`.
    pub values: i64,
    /// Who moves next.
    pub scheduler: Scheduler,
    /// What `free` and `new` do.
    pub memory: Memory,
    /// The run ends after this many moves: a thread may spin for ever.
    pub step_limit: u64,
    /// Whether to record what every move did.
    pub trace: bool,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions {
            operations: 2,
            values: 2,
            scheduler: Scheduler::Random,
            memory: Memory::Collected,
            step_limit: 100_000,
            trace: false,
        }
    }
}

/// What happened in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The history.
    pub events: Vec<Event>,
    /// What every move did, if asked for: one record for each move of the schedule.
    pub trace: Vec<StepRecord>,
    /// Every move made; the last one is the one that went wrong, if one did.
    pub schedule: Vec<ScheduledMove>,
    /// How it ended.
    pub end: End,
}

/// An event of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The thread.
    pub process: usize,
    /// Whether it is the invocation or the response.
    pub kind: EventKind,
    /// Index into [`Program::operations`](crate::program::Program::operations).
    pub operation: usize,
    /// The argument or the answer.
    pub value: Value,
    /// The number of the move, from 0.
    pub time: u64,
}

/// Invocation or response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The call.
    Invoke,
    /// The response.
    Ok,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// No operation is pending.
    Completed,
    /// A step went wrong.
    Faulted(Fault),
    /// Operations are pending and none of them can go on.
    Blocked {
        /// Where each of them waits.
        threads: Vec<Wait>,
    },
    /// Operations are pending and could go on, but the limit on steps (or the schedule) ended
    /// first.
    StepLimit,
}

impl Run {
    fn without_moves(end: End) -> Run {
        Run { events: Vec::new(), trace: Vec::new(), schedule: Vec::new(), end }
    }
}

/// A run in the making: the state and what has happened so far.
struct Session<'m> {
    machine: &'m Machine,
    trace: bool,
    state: State,
    run: Run,
}

impl<'m> Session<'m> {
    /// The start of a run.
    fn start(machine: &'m Machine, trace: bool) -> Result<Session<'m>, Fault> {
        let state = machine.initial()?;
        Ok(Session { machine, trace, state, run: Run::without_moves(End::Completed) })
    }

    /// Writes down a move that was made from the current state, and goes on to the state after it.
    fn advance(&mut self, made: ScheduledMove, result: Result<State, Fault>) -> Result<(), Fault> {
        if self.trace {
            let mut record = StepRecord { thread: 0, operation: 0, actions: Vec::new() };
            self.machine.attempt(&self.state, &made.what, &made.choices, Some(&mut record));
            self.run.trace.push(record);
        }
        self.run.events.extend(self.event(&made.what));
        self.run.schedule.push(made);
        self.state = result?;
        Ok(())
    }

    /// The event that a move from the current state is in the history.
    fn event(&self, what: &Move) -> Option<Event> {
        let time = self.run.schedule.len() as u64;
        let process = what.thread();
        match (what, &self.state.threads.get(process)?.status) {
            (Move::Invoke { operation, arguments, .. }, _) => Some(Event {
                process,
                kind: EventKind::Invoke,
                operation: *operation,
                value: Operation::argument(arguments),
                time,
            }),
            (Move::Respond { .. }, Status::Returning { operation, value }) => Some(Event {
                process,
                kind: EventKind::Ok,
                operation: *operation,
                value: value.clone(),
                time,
            }),
            _ => None,
        }
    }

    /// The run, if nothing went wrong: how it ended is seen from the state.
    fn finish(mut self) -> Run {
        let pending: Vec<usize> =
            (0..self.state.threads.len()).filter(|&t| self.state.pending(t).is_some()).collect();
        let waits: Vec<Wait> =
            pending.iter().filter_map(|&thread| self.machine.wait(&self.state, thread)).collect();
        self.run.end = if pending.is_empty() {
            End::Completed
        } else if waits.len() == pending.len() {
            End::Blocked { threads: waits }
        } else {
            End::StepLimit
        };
        self.run
    }

    fn fail(mut self, fault: Fault) -> Run {
        self.run.end = End::Faulted(fault);
        self.run
    }
}
