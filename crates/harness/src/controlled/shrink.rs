//! A smaller failure: the fewest calls, then the fewest preemptions.

use super::task::{Conditions, Found, Task};
use crate::definition::Definition;
use crate::enumerate::Alphabet;
use crate::plan::Mode;
use crate::scenario::Scenario;
use linchpin_explore::Strategy;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// So long a smaller failure is looked for.
const TIME: Duration = Duration::from_secs(5);

/// At most so many scenarios of one size are tried.
const MOST_SCENARIOS: u128 = 500;

/// So many executions a smaller scenario gets to fail.
const RUNS: u64 = 20_000;

/// The failure with as few calls and preemptions as are found in time.
pub(super) fn smaller<T: Send + Sync + 'static>(
    definition: &Arc<Definition<T>>,
    mode: Mode,
    found: Found,
    conditions: &Conditions,
) -> Found {
    if found.is_drift() {
        return found;
    }
    let mut conditions = conditions.clone();
    conditions.limits.deadline = Instant::now().checked_add(TIME);
    let mut shrink = Shrink { definition, mode, conditions, found };
    while shrink.drop_a_call() {}
    shrink.fewer_calls();
    shrink.fewer_preemptions();
    shrink.found
}

struct Shrink<'a, T> {
    definition: &'a Arc<Definition<T>>,
    mode: Mode,
    conditions: Conditions,
    found: Found,
}

impl<T: Send + Sync + 'static> Shrink<'_, T> {
    /// Tries each scenario with one call less; whether one of them fails in the same way.
    fn drop_a_call(&mut self) -> bool {
        let scenario = self.found.task.scenario.clone();
        let before = (0..scenario.before.len()).map(|at| {
            let mut smaller = scenario.clone();
            smaller.before.remove(at);
            smaller
        });
        let threads = scenario.threads.iter().enumerate();
        let made = threads
            .flat_map(|(thread, calls)| (0..calls.len()).map(move |at| (thread, at)))
            .map(|(thread, at)| without_empty(scenario.without(thread, at)));
        // The later calls first: what comes first is what the rest rests on.
        let smaller: Vec<Scenario> = before.chain(made).collect();
        smaller.into_iter().rev().any(|smaller| self.try_out(smaller, self.strategy()))
    }

    /// Tries all scenarios with fewer calls, the smallest first, unless the test says its scenario
    /// or there are too many.
    fn fewer_calls(&mut self) {
        let definition = Arc::clone(self.definition);
        let subject = &definition.subject;
        if subject.scenario.is_some() || !self.found.task.scenario.before.is_empty() {
            return;
        }
        let (threads, len) =
            (self.found.task.scenario.threads.len(), self.found.task.scenario.len());
        let alphabet = Alphabet::new(&subject.operations);
        for calls in 2..len {
            let Some(all) = alphabet.scenarios(threads, calls, MOST_SCENARIOS) else { return };
            for scenario in all {
                if self.try_out(scenario, self.strategy()) {
                    return;
                }
            }
        }
    }

    fn strategy(&self) -> Strategy {
        match self.mode {
            Mode::Weak => Strategy::Weak,
            _ => Strategy::Exhaustive,
        }
    }

    /// Whether a scenario fails in the same way; then that is what was found.
    fn try_out(&mut self, scenario: Scenario, strategy: Strategy) -> bool {
        if scenario.threads.is_empty() || self.conditions.limits.exceeded(0).is_some() {
            return false;
        }
        let task = Task { scenario, strategy };
        match task.run(self.definition, &self.conditions, Some(RUNS)).found {
            Some(found) if found.is_like(&self.found) && self.is_seen(&found) => {
                self.found = found;
                true
            }
            _ => false,
        }
    }

    /// Whether a failure rests on calls only of which accesses were seen, or calls are steps.
    fn is_seen(&self, found: &Found) -> bool {
        self.conditions.points || found.rests_on().is_empty()
    }

    /// Under weak memory there is no order of steps, so no preemptions.
    fn fewer_preemptions(&mut self) {
        if self.mode == Mode::Weak {
            return;
        }
        for most in 0..self.found.execution.preemptions {
            let scenario = self.found.task.scenario.clone();
            if self.try_out(scenario, Strategy::Preemptions(most)) {
                return;
            }
        }
    }
}

/// Without threads that call nothing.
fn without_empty(mut scenario: Scenario) -> Scenario {
    scenario.threads.retain(|calls| !calls.is_empty());
    scenario
}
