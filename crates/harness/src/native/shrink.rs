//! Making a failure smaller: its scenario is tried again with fewer calls.

use super::session::{Found, Session};
use crate::execution::BEFORE;
use crate::failure::Kind;
use crate::scenario::Scenario;
use std::mem::discriminant;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// So long in all.
const TIME: Duration = Duration::from_millis(1_000);

/// So long for each smaller scenario.
const EACH: Duration = Duration::from_millis(50);

/// So long a short round is looked for, when a long run went wrong.
const SHORT: Duration = Duration::from_millis(500);

/// Longer scenarios are not tried again.
const LONGEST: usize = 64;

impl<T: Send + Sync + 'static> Session<'_, T> {
    /// The same failure with fewer calls, if one comes up in a while. A hang is left as it is, for
    /// every attempt takes long and a thread.
    pub(super) fn shrunk(&mut self, found: Found) -> Found {
        let covered = self.covered.clone();
        self.unjudged = None;
        let mut best = found;
        if best.kind != Kind::Stuck {
            if let Some(core) = core(&best).filter(|core| core.len() <= LONGEST) {
                best = self.attempt(core).unwrap_or(best);
            }
            if best.scenario.len() > LONGEST {
                best = self.short_rounds(SHORT).err().map_or(best, |found| *found);
            }
            if best.scenario.len() <= LONGEST {
                self.remove_one_by_one(&mut best, Instant::now() + TIME);
            }
        }
        self.covered = covered;
        best
    }

    fn remove_one_by_one(&mut self, best: &mut Found, end: Instant) {
        let (mut thread, mut at) = (0, 0);
        while Instant::now() < end {
            let Some(calls) = best.scenario.threads.get(thread) else { return };
            if at >= calls.len() {
                (thread, at) = (thread + 1, 0);
                continue;
            }
            let smaller = without_empty(best.scenario.without(thread, at));
            let same = |found: &Found| discriminant(&found.kind) == discriminant(&best.kind);
            match self.attempt(smaller).filter(same) {
                // Fewer threads: from the first again.
                Some(found) if found.scenario.threads.len() < best.scenario.threads.len() => {
                    (*best, thread, at) = (found, 0, 0);
                }
                Some(found) => *best = found,
                None => at += 1,
            }
        }
    }

    /// Tries a scenario for a while.
    fn attempt(&mut self, scenario: Scenario) -> Option<Found> {
        if scenario.threads.is_empty() {
            return None;
        }
        self.repeat(&Arc::new(scenario), EACH).err().map(|found| *found)
    }
}

/// The scenario with the calls of the core only.
fn core(found: &Found) -> Option<Scenario> {
    let violated = found.violated.as_ref()?;
    let history = &violated.history;
    let mut scenario = Scenario { before: found.scenario.before.clone(), threads: Vec::new() };
    for (thread, calls) in found.scenario.threads.iter().enumerate() {
        let name = thread.to_string();
        let of = history.iter().filter(|(_, operation)| {
            let process = history.process_name(operation.process);
            process != BEFORE && process == name
        });
        let kept = of.zip(calls).filter(|((id, _), _)| violated.violation.core.contains(id));
        scenario.threads.push(kept.map(|(_, call)| call.clone()).collect());
    }
    let smaller = without_empty(scenario);
    (smaller.len() < found.scenario.len()).then_some(smaller)
}

fn without_empty(mut scenario: Scenario) -> Scenario {
    scenario.threads.retain(|calls| !calls.is_empty());
    scenario
}
