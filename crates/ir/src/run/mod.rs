//! Runs of a whole model: clients call operations, a random scheduler decides who moves, one seed
//! decides everything.
//!
//! [`Runner`] makes runs, [`replay`] makes one again from its schedule. Every invocation, step and
//! response is a move of its own.

mod call;
mod preload;
mod replay;
mod runner;
mod scheduler;

pub use preload::{AnsweredCall, PreloadError, Preloaded, preload};
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
    /// How often the system crashes, at most, at random moments; a crash needs something
    /// persistent.
    pub crashes: usize,
    /// How often one thread crashes, at most: memory stays as it is.
    pub thread_crashes: usize,
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
            crashes: 0,
            thread_crashes: 0,
        }
    }
}

/// What happened in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The history.
    pub events: Vec<Event>,
    /// The crashes, in order.
    pub crashes: Vec<Crash>,
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
    /// The process: the number of the thread before its first crash; a thread that goes on after a
    /// crash is another process, whose number is larger by the number of threads.
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

/// A crash in a history. Calls that were open then have no response, unless their outcome was
/// asked for later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crash {
    /// The process that crashed; `None` if it was the system.
    pub process: Option<usize>,
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
    /// `recover(t)` finds that the interrupted call took effect, and what it answered.
    RecoveredOk,
    /// `recover(t)` finds that the interrupted call had no effect.
    RecoveredFail,
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
        Run {
            events: Vec::new(),
            crashes: Vec::new(),
            trace: Vec::new(),
            schedule: Vec::new(),
            end,
        }
    }
}

/// A run in the making: the state and what has happened so far.
struct Session<'m> {
    machine: &'m Machine,
    trace: bool,
    state: State,
    run: Run,
    /// The process that each thread is now.
    processes: Vec<usize>,
    /// The process that made the call which a thread must ask about.
    interrupted: Vec<usize>,
}

impl<'m> Session<'m> {
    /// The start of a run.
    fn start(machine: &'m Machine, trace: bool) -> Result<Session<'m>, Fault> {
        let state = machine.initial()?;
        let processes: Vec<usize> = (0..state.threads.len()).collect();
        let interrupted = processes.clone();
        let run = Run::without_moves(End::Completed);
        Ok(Session { machine, trace, state, run, processes, interrupted })
    }

    /// Writes down a move that was made from the current state, and goes on to the state after it.
    fn advance(&mut self, made: ScheduledMove, result: Result<State, Fault>) -> Result<(), Fault> {
        if self.trace {
            let mut record = StepRecord::blank();
            self.machine.attempt(&self.state, &made.what, &made.choices, Some(&mut record));
            self.run.trace.push(record);
        }
        self.run.events.extend(self.event(&made.what));
        self.crashed(&made.what);
        self.run.schedule.push(made);
        self.state = result?;
        Ok(())
    }

    /// Writes down a crash; the threads that crashed go on as other processes.
    fn crashed(&mut self, what: &Move) {
        if !what.is_crash() {
            return;
        }
        let threads = self.processes.len();
        let ended = what.thread().map_or(0..threads, |thread| thread..thread + 1);
        let process = what.thread().and_then(|thread| self.processes.get(thread).copied());
        self.run.crashes.push(Crash { process, time: self.run.schedule.len() as u64 });
        for thread in ended.filter(|&thread| thread < threads) {
            // A call that was interrupted before, and not resolved since, is still the one to ask
            // about.
            if matches!(
                self.state.threads[thread].status,
                Status::Running { .. } | Status::Returning { .. }
            ) {
                self.interrupted[thread] = self.processes[thread];
            }
            self.processes[thread] += threads;
        }
    }

    /// The event that a move from the current state is in the history.
    fn event(&self, what: &Move) -> Option<Event> {
        let time = self.run.schedule.len() as u64;
        let thread = what.thread()?;
        let (process, interrupted) = (*self.processes.get(thread)?, self.interrupted[thread]);
        match (what, &self.state.threads[thread].status) {
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
            (Move::Respond { .. }, Status::Resolved { operation, outcome }) => Some(Event {
                process: interrupted,
                kind: match outcome.is_null() {
                    true => EventKind::RecoveredFail,
                    false => EventKind::RecoveredOk,
                },
                operation: *operation,
                value: outcome.clone(),
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
        self.run.end = if pending.is_empty() && self.state.recovery.is_none() {
            End::Completed
        } else if waits.len() == pending.len() && self.state.recovery.is_none() {
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
