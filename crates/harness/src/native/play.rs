//! Playing scenarios and judging what happened: a batch of rounds.

use super::batch::{Batch, Round, message};
use super::session::{BATCH, Found, Judged, Session};
use crate::execution::Execution;
use crate::failure::Kind;
use crate::judge::Violated;
use crate::scenario::Scenario;
use crate::stuck::waits_rightly;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A batch that takes longer is made smaller.
const SLOW: Duration = Duration::from_millis(50);

/// Nothing happens for so long: something hangs.
const HANG: Duration = Duration::from_secs(5);

/// Nothing happens for so long, and the specification lets everyone wait: they do.
const WAIT: Duration = Duration::from_millis(60);

impl<T: Send + Sync + 'static> Session<'_, T> {
    /// Plays these scenarios, each on an object of its own, and judges what happened: beside the
    /// next batch if there is a core for that, and otherwise before it.
    pub(super) fn play(&mut self, scenarios: Vec<Arc<Scenario>>) -> Judged {
        let began = Instant::now();
        let batch = self.made(scenarios)?;
        let patience = self.patience();
        self.team.start(&batch);
        let earlier = self.settle();
        let is_stuck = !self.team.watch(&batch, patience).is_empty();
        earlier?;
        let judged = if is_stuck {
            let (executions, stuck) = self.stuck(&batch, patience);
            self.judge_all(&batch, executions)?;
            stuck.map_or(Ok(()), Err)
        } else if self.team.cores() > self.options.threads {
            self.unjudged = Some(batch);
            Ok(())
        } else {
            self.judged(&batch)
        };
        self.batch = match began.elapsed() > SLOW {
            true => (self.batch / 2).max(1),
            false => (self.batch * 2).min(BATCH),
        };
        judged
    }

    /// Nothing happens for so long: something hangs, or waits.
    pub(super) fn patience(&self) -> Duration {
        if self.definition.subject.waits() { WAIT } else { HANG }
    }

    /// Judges what is still to be judged.
    pub(super) fn settle(&mut self) -> Judged {
        self.unjudged.take().map_or(Ok(()), |batch| self.judged(&batch))
    }

    /// Fresh objects for these scenarios.
    pub(super) fn made(&self, scenarios: Vec<Arc<Scenario>>) -> Result<Arc<Batch<T>>, Box<Found>> {
        let definition = self.definition;
        let round = |scenario: Arc<Scenario>| {
            let object = (definition.make)();
            let mut before = Vec::new();
            for call in &scenario.before {
                match catch_unwind(AssertUnwindSafe(|| definition.call(&object, call))) {
                    Ok(answer) => before.push(answer),
                    Err(panic) => {
                        let kind = Kind::Panicked(message(&*panic));
                        let execution = Execution { before, threads: Vec::new() };
                        return Err(Box::new(Found { kind, scenario, execution, violated: None }));
                    }
                }
            }
            Ok(Round { object, scenario, before })
        };
        let rounds = scenarios.into_iter().map(round).collect::<Result<_, _>>()?;
        let spins = if self.team.cores() < self.options.threads { 64 } else { 4_096 };
        Ok(Arc::new(Batch::new(definition, rounds, spins)))
    }

    /// Workers did not come back: what they did, and what is wrong if they may not wait, by the
    /// specification.
    pub(super) fn stuck(
        &mut self,
        batch: &Arc<Batch<T>>,
        waited: Duration,
    ) -> (Vec<Execution>, Option<Box<Found>>) {
        let subject = &self.definition.subject;
        let executions = batch.executions();
        let (Some(last), true) = (executions.last(), batch.panicked().is_none()) else {
            self.left_waiting += self.team.replace_lost();
            return (executions, None);
        };
        let scenario = Arc::clone(&batch.rounds[executions.len() - 1].scenario);
        let pending = last.pending(&scenario);
        let may = pending.iter().all(|(_, call)| subject.operations[call.operation].waits)
            && waits_rightly(subject, &scenario, last);
        if may {
            self.left_waiting += self.team.replace_lost();
            return (executions, None);
        }
        // They should be answered. Perhaps they are only slow.
        if self.team.watch(batch, HANG.saturating_sub(waited)).is_empty() {
            return (executions, None);
        }
        self.team.replace_lost();
        let (kind, execution) = (Kind::Stuck, last.clone());
        (executions, Some(Box::new(Found { kind, scenario, execution, violated: None })))
    }

    fn judged(&mut self, batch: &Batch<T>) -> Judged {
        self.judge_all(batch, batch.executions())
    }

    fn judge_all(&mut self, batch: &Batch<T>, executions: Vec<Execution>) -> Judged {
        let panicked = batch.panicked();
        for (number, (round, execution)) in batch.rounds.iter().zip(executions).enumerate() {
            self.covered.rounds += 1;
            self.covered.operations += round.scenario.len() as u64;
            if let Some(panicked) = panicked.as_ref().filter(|one| one.round == number) {
                let kind = Kind::Panicked(panicked.message.clone());
                return found(kind, round, execution, None);
            }
            if let Some(violated) = self.judge.judge(&round.scenario, &execution) {
                return found(Kind::NotLinearizable, round, execution, Some(violated));
            }
            if let Some(said) = self.finally_fails(round, &execution) {
                return found(Kind::FinallyFailed(said), round, execution, None);
            }
        }
        Ok(())
    }

    /// What the check after a round says, if it fails.
    pub(super) fn finally_fails(&self, round: &Round<T>, execution: &Execution) -> Option<String> {
        let check = self.definition.finally.as_ref()?;
        if !execution.pending(&round.scenario).is_empty() {
            return None;
        }
        let checked = catch_unwind(AssertUnwindSafe(|| check(&round.object)));
        checked.err().map(|panic| message(&*panic))
    }
}

pub(super) fn found<T>(
    kind: Kind,
    round: &Round<T>,
    execution: Execution,
    violated: Option<Violated>,
) -> Judged {
    let scenario = Arc::clone(&round.scenario);
    Err(Box::new(Found { kind, scenario, execution, violated }))
}
