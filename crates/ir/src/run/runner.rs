//! Random runs.

use super::call::Enabled;
use super::preload::{PreloadError, Preloaded, preload};
use super::scheduler::Schedule;
use super::{End, Run, RunOptions, Session};
use crate::domain::{Domain, DomainBounds};
use crate::interpreter::{Machine, Move, Outcome, ScheduledMove, Status};
use crate::program::{Operation, Program, RoleCalls, Thread};
use fastrand::Rng;
use thiserror::Error;

/// Executes a model under a random scheduler.
#[derive(Clone, Debug)]
pub struct Runner {
    pub(super) machine: Machine,
    /// For each operation, its lists of arguments.
    pub(super) domains: Vec<Domain>,
    options: RunOptions,
    /// What comes before every run, if the model says so.
    preloaded: Option<Preloaded>,
}

/// Why a model cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RunnerError {
    /// Clients cannot make the arguments of an operation.
    #[error(
        "clients cannot call `{operation}`: it takes something other than numbers, truth values and lists of them"
    )]
    NoArguments {
        /// The operation.
        operation: String,
    },
    /// The calls of its `preload` cannot be made.
    #[error(transparent)]
    Preload(#[from] PreloadError),
}

impl Runner {
    /// Prepares runs of a program.
    pub fn new(program: &Program, options: RunOptions) -> Result<Runner, RunnerError> {
        let bounds = DomainBounds { values: options.values, threads: program.threads.len() };
        let domain = |operation: &Operation| {
            Domain::of_arguments(operation, bounds)
                .ok_or_else(|| RunnerError::NoArguments { operation: operation.name.clone() })
        };
        let domains = program.operations.iter().map(domain).collect::<Result<_, _>>()?;
        let machine = match options.crashes + options.thread_crashes {
            0 => Machine::new(program, options.memory),
            _ => Machine::with_crashes(program, options.memory),
        };
        let preloaded = match program.preload.is_empty() {
            true => None,
            false if options.crashes > 0 => return Err(PreloadError::Crashes.into()),
            false => Some(preload(&machine)?),
        };
        Ok(Runner { machine, domains, options, preloaded })
    }

    /// The machine that executes the runs.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The run that this seed decides.
    pub fn run(&self, seed: u64) -> Run {
        let mut random = Rng::with_seed(seed);
        let mut session = match Session::start(&self.machine, self.options.trace) {
            Ok(session) => session,
            Err(fault) => return Run::without_moves(End::Faulted(fault)),
        };
        if let Some(preloaded) = &self.preloaded {
            session.run = preloaded.run.clone();
            match &preloaded.result {
                Ok(state) => session.state = state.clone(),
                Err(_) => return session.run,
            }
        }
        let threads = session.state.threads.len();
        let length = self.expected_length();
        let mut schedule = Schedule::new(self.options.scheduler, threads, length, &mut random);
        let own = |thread: &Thread| match thread.calls {
            Some(RoleCalls::Each(count)) => usize::from(count),
            Some(RoleCalls::Unlimited) | None => self.options.operations,
        };
        let clients = self.machine.program().threads.iter();
        let mut calls_left: Vec<usize> = clients.map(own).collect();
        let mut crashes = self.crashes(length, &mut random);
        for time in 0..self.options.step_limit {
            let is_recovering = session.state.recovery.is_some();
            let crash = crashes.pop_if(|(at, _)| *at <= time).map(|(_, crash)| crash);
            // While the system recovers there is no thread that could crash.
            let crash = crash.filter(|crash| !is_recovering || *crash == Move::Crash);
            let next = match crash.or(is_recovering.then_some(Move::Recover)) {
                Some(alone) => self.enable(&session, alone, &mut random),
                None => self.next_move(&session, &schedule, &mut calls_left, &mut random),
            };
            let Some((made, result)) = next else { break };
            if let Some(thread) = made.what.thread().filter(|_| !made.what.is_crash()) {
                if let Move::Invoke { .. } = made.what {
                    calls_left[thread] -= 1;
                }
                schedule.moved(time, thread);
            }
            if let Err(fault) = session.advance(made, result) {
                return session.fail(fault);
            }
        }
        session.finish()
    }

    /// After how many moves the system, or a thread, crashes; the last first.
    fn crashes(&self, length: u64, random: &mut Rng) -> Vec<(u64, Move)> {
        let threads = self.machine.program().threads.len();
        if self.machine.program().persistence.is_none() || threads == 0 {
            return Vec::new();
        }
        let mut at = |what: Move| (random.u64(..length.max(1)), what);
        let mut all: Vec<(u64, Move)> =
            (0..self.options.crashes).map(|_| at(Move::Crash)).collect();
        for _ in 0..self.options.thread_crashes {
            let thread = random.usize(..threads);
            all.push((random.u64(..length.max(1)), Move::CrashThread { thread }));
        }
        all.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        all
    }

    /// The move of the first thread, in the order of the schedule, that can move. `None`: no thread
    /// can.
    fn next_move(
        &self,
        session: &Session,
        schedule: &Schedule,
        calls_left: &mut [usize],
        random: &mut Rng,
    ) -> Option<Enabled> {
        let mut candidates: Vec<usize> = (0..calls_left.len()).collect();
        while !candidates.is_empty() {
            let thread = candidates.swap_remove(schedule.pick(&candidates, random));
            let enabled = match session.state.threads[thread].status {
                Status::Idle if calls_left[thread] == 0 => None,
                Status::Idle => {
                    let call = self.find_call(session, thread, random);
                    if call.is_none() {
                        calls_left[thread] = 0;
                    }
                    call
                }
                Status::Running { .. } | Status::Interrupted { .. } | Status::Resolving { .. } => {
                    self.enable(session, Move::Step { thread }, random)
                }
                Status::Returning { .. } | Status::Resolved { .. } => {
                    self.enable(session, Move::Respond { thread }, random)
                }
            };
            if enabled.is_some() {
                return enabled;
            }
        }
        None
    }

    /// A move with random choices, if it can be made.
    pub(super) fn enable(
        &self,
        session: &Session,
        what: Move,
        random: &mut Rng,
    ) -> Option<Enabled> {
        let attempt = self.machine.attempt_at_random(&session.state, &what, random);
        let (choices, result) = match attempt.outcome {
            Outcome::Next(state) => (attempt.choices, Ok(state)),
            Outcome::Fault(fault) => (attempt.choices, Err(fault)),
            Outcome::Disabled if attempt.choices.is_empty() => return None,
            // Other choices may be possible.
            Outcome::Disabled => {
                let mut successors = self.machine.successors(&session.state, &what);
                if successors.is_empty() {
                    return None;
                }
                let taken = successors.swap_remove(random.usize(..successors.len()));
                (taken.choices, taken.result)
            }
        };
        Some((ScheduledMove { what, choices }, result))
    }

    /// How many moves a run probably has: each operation goes once through the largest body.
    fn expected_length(&self) -> u64 {
        let program = self.machine.program();
        let steps = |operation: &Operation| {
            2 + operation.body.nodes.iter().filter(|node| node.yields).count()
        };
        let longest = program.operations.iter().map(steps).max().unwrap_or(1);
        let calls = self.options.operations.saturating_mul(program.threads.len());
        longest.saturating_mul(calls) as u64
    }
}
