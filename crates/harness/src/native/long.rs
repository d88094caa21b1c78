//! Long runs on one object.
//!
//! They reach what short ones do not: indices that wrap around, memory that is used again. Where
//! operations wait, threads that are drawn by chance soon all wait. So there are two kinds of long
//! runs. Either no thread would wait if it were alone; or all but the last make only calls that do
//! not wait, and the last one, which makes those that do, would be answered after all others. If
//! each call that waits takes what another one gives, like a value or a permit, then they never all
//! wait. If they do, what they did is judged with the calls that wait as pending, and whether they
//! may.

use super::batch::Batch;
use super::play::found;
use super::session::{Judged, LEFT_WAITING, Session};
use crate::definition::Subject;
use crate::enumerate::Alphabet;
use crate::execution::Execution;
use crate::failure::Kind;
use crate::scenario::{Call, Scenario};
use crate::stuck::answers;
use fastrand::Rng;
use linchpin_spec::{AnyState, Spec};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Operations of a long run, at first and at most.
pub(super) const LONG: (usize, usize) = (2_000, 20_000);

/// Before this time there are no long runs.
const ROUNDS_FIRST: Duration = Duration::from_millis(50);

/// So long judging a long run may take.
const JUDGING: Duration = Duration::from_millis(300);

impl<T: Send + Sync + 'static> Session<'_, T> {
    /// Long runs take about a third of the time, where they make sense: a scenario by hand has no
    /// long form, and threads that are left waiting are lost.
    pub(super) fn long_is_due(&self) -> bool {
        let makes_sense =
            self.definition.subject.scenario.is_none() && self.left_by_long < LEFT_WAITING;
        let elapsed = self.started.elapsed();
        // What a short round finds is easier to read, so they come first.
        makes_sense && elapsed > ROUNDS_FIRST && self.long_time * 3 < elapsed
    }

    pub(super) fn long_run(&mut self) -> Judged {
        let began = Instant::now();
        let scenario = self.long_scenario();
        let batch = self.made(vec![Arc::new(scenario)])?;
        self.team.start(&batch);
        let earlier = self.settle();
        let patience = self.patience();
        let is_stuck = !self.team.watch(&batch, patience).is_empty();
        earlier?;
        let judging = Instant::now();
        let judged = if is_stuck {
            let left = self.left_waiting;
            let (executions, stuck) = self.stuck(&batch, patience);
            self.left_by_long += self.left_waiting - left;
            self.judge_long(&batch, executions)?;
            stuck.map_or(Ok(()), Err)
        } else {
            self.judge_long(&batch, batch.executions())
        };
        self.long = match judging.elapsed() > JUDGING / 3 {
            true => (self.long / 2).max(LONG.0 / 10),
            false => (self.long * 2).min(LONG.1),
        };
        self.long_time += began.elapsed();
        judged
    }

    fn long_scenario(&mut self) -> Scenario {
        let subject = &self.definition.subject;
        let threads = self.options.threads;
        let ops = (self.long / threads).max(1);
        let first = subject.first_fresh();
        let drawn = if !subject.waits() {
            Alphabet::new(&subject.operations).scenario(&mut self.random, threads, ops, first)
        } else {
            let mut draw = Draw { subject, random: &mut self.random, fresh: first };
            let is_apart = draw.random.bool();
            let threads =
                if is_apart { draw.apart(threads, ops) } else { draw.alone(threads, ops) };
            Scenario { before: Vec::new(), threads }
        };
        subject.complete(drawn)
    }

    fn judge_long(&mut self, batch: &Batch<T>, executions: Vec<Execution>) -> Judged {
        for (round, execution) in batch.rounds.iter().zip(executions) {
            self.covered.long_runs += 1;
            self.covered.operations +=
                execution.threads.iter().map(|one| one.len() as u64).sum::<u64>();
            self.covered.histories += 1;
            if let Some(panicked) = batch.panicked() {
                return found(Kind::Panicked(panicked.message), round, execution, None);
            }
            let violated = self.judge.examine(&round.scenario, &execution, JUDGING);
            if violated.is_some() {
                return found(Kind::NotLinearizable, round, execution, violated);
            }
            if let Some(said) = self.finally_fails(round, &execution) {
                return found(Kind::FinallyFailed(said), round, execution, None);
            }
        }
        Ok(())
    }
}

/// Draws threads of operations that wait.
struct Draw<'a> {
    subject: &'a Subject,
    random: &'a mut Rng,
    fresh: u64,
}

/// Who makes which calls.
#[derive(Clone, Copy)]
enum Part {
    /// All.
    Any,
    /// Those that do not wait.
    Gives,
    /// Mostly those that wait.
    Takes,
}

impl Draw<'_> {
    /// Threads of which none would wait if it were alone.
    fn alone(&mut self, threads: usize, ops: usize) -> Vec<Vec<Call>> {
        let first = self.first();
        (0..threads).map(|_| self.thread(ops, Part::Any, &mut first.clone())).collect()
    }

    /// Threads that do not wait, and one more that would not if it came after them.
    fn apart(&mut self, threads: usize, ops: usize) -> Vec<Vec<Call>> {
        /// The state of all calls that do not wait may be large.
        const MOST: usize = 2_000;
        let ops = ops.min(MOST);
        let mut state = self.first();
        let mut all: Vec<Vec<Call>> =
            (1..threads).map(|_| self.thread(ops, Part::Gives, &mut state)).collect();
        all.push(self.thread(ops, Part::Takes, &mut state));
        all
    }

    /// The state in which threads start.
    fn first(&self) -> AnyState {
        let mut state = self.subject.object.spec.initial();
        for call in &self.subject.before {
            state = self.after(&state, call).unwrap_or(state);
        }
        state
    }

    /// A state after a call, unless it has to wait.
    fn after(&self, state: &AnyState, call: &Call) -> Option<AnyState> {
        answers(self.subject, state, call).into_iter().next().map(|outcome| outcome.state)
    }

    /// A thread that is answered from this state on. It is shorter if no such call comes up.
    fn thread(&mut self, ops: usize, part: Part, state: &mut AnyState) -> Vec<Call> {
        let mut calls = Vec::with_capacity(ops);
        while calls.len() < ops {
            let Some((call, after)) = self.call(part, state) else { break };
            *state = after;
            calls.push(call);
        }
        calls
    }

    fn call(&mut self, part: Part, state: &AnyState) -> Option<(Call, AnyState)> {
        /// So often another one is drawn.
        const TRIES: usize = 50;
        let subject = self.subject;
        for _ in 0..TRIES {
            let call = Alphabet::new(&subject.operations).draw(self.random, &mut self.fresh)?;
            let waits = subject.operations[call.operation].waits;
            let is_wanted = match part {
                Part::Any => true,
                Part::Gives => !waits,
                Part::Takes => waits || self.random.u8(..4) == 0,
            };
            if is_wanted && let Some(after) = self.after(state, &call) {
                return Some((call, after));
            }
        }
        None
    }
}
