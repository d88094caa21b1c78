//! Operations that wait: may they, by the specification?

use crate::definition::Subject;
use crate::execution::{Execution, Timed};
use crate::scenario::{Call, Scenario};
use linchpin_spec::{AnyState, Outcome, Spec, Value};
use rustc_hash::FxHashSet;

/// Whether threads may wait for ever in this scenario: whether the specification, one call after
/// the other in some order, gets to where no thread that has calls left can be answered.
pub fn may_wait(subject: &Subject, scenario: &Scenario) -> bool {
    let mut states = vec![subject.object.spec.initial()];
    for call in &scenario.before {
        let after = |state| answers(subject, &state, call).into_iter().map(|one| one.state);
        states = states.into_iter().flat_map(after).collect();
    }
    let mut search = Waiting { subject, scenario, seen: FxHashSet::default() };
    let start = vec![0; scenario.threads.len()];
    states.into_iter().any(|state| search.waits(&start, state))
}

/// The answers of a call in a state; of one that waits, those that end the waiting.
pub fn answers(subject: &Subject, state: &AnyState, call: &Call) -> Vec<Outcome<AnyState>> {
    let outcomes = subject.object.spec.apply(state, &subject.spec_call(call), None);
    outcomes.into_iter().filter(|one| subject.is_answer(call, &one.response)).collect()
}

struct Waiting<'a> {
    subject: &'a Subject,
    scenario: &'a Scenario,
    seen: FxHashSet<(Vec<usize>, AnyState)>,
}

impl Waiting<'_> {
    /// Whether all threads come to wait, from these places and this state.
    fn waits(&mut self, places: &[usize], state: AnyState) -> bool {
        if !self.seen.insert((places.to_vec(), state.clone())) {
            return false;
        }
        let (mut left, mut moved) = (false, false);
        for (thread, calls) in self.scenario.threads.iter().enumerate() {
            let Some(call) = calls.get(places[thread]) else { continue };
            left = true;
            for outcome in answers(self.subject, &state, call) {
                moved = true;
                let mut places = places.to_vec();
                places[thread] += 1;
                if self.waits(&places, outcome.state) {
                    return true;
                }
            }
        }
        left && !moved
    }
}

/// So many places and states are followed at once. Where there are more, it is not known whether
/// calls wait rightly, and the answer is yes.
const MOST: usize = 1 << 14;

/// Whether the calls of an execution that did not return wait rightly: whether some order explains
/// what returned, after which the specification can answer none of them.
///
/// Orders are followed side by side, one call after the other: a place in each thread, and a state.
pub fn waits_rightly(subject: &Subject, scenario: &Scenario, execution: &Execution) -> bool {
    let mut states = vec![subject.object.spec.initial()];
    for (call, answer) in scenario.before.iter().zip(&execution.before) {
        let after = |state| applied(subject, &state, call, answer);
        states = states.into_iter().flat_map(after).collect();
    }
    let threads = execution.threads.iter().zip(&scenario.threads);
    let threads: Vec<(&[Timed], &[Call])> =
        threads.map(|(timed, calls)| (timed.as_slice(), calls.as_slice())).collect();
    let pending: Vec<&Call> =
        execution.pending(scenario).into_iter().map(|(_, call)| call).collect();
    let start = vec![0; threads.len()];
    let mut all: FxHashSet<(Vec<usize>, AnyState)> =
        states.into_iter().map(|state| (start.clone(), state)).collect();
    while !all.is_empty() {
        if all.len() > MOST {
            return true;
        }
        let mut next = FxHashSet::default();
        for (places, state) in all {
            let answered = |call: &&Call| !answers(subject, &state, call).is_empty();
            if is_done(&threads, &places) && !pending.iter().any(answered) {
                return true;
            }
            follow(subject, &threads, &places, &state, &mut next);
        }
        all = next;
    }
    false
}

/// Whether all that returned is before these places.
fn is_done(threads: &[(&[Timed], &[Call])], places: &[usize]) -> bool {
    let next = threads.iter().zip(places).filter_map(|((timed, _), place)| timed.get(*place));
    next.into_iter().all(|timed| timed.answer.is_none())
}

/// Adds where one more call leads.
fn follow(
    subject: &Subject,
    threads: &[(&[Timed], &[Call])],
    places: &[usize],
    state: &AnyState,
    found: &mut FxHashSet<(Vec<usize>, AnyState)>,
) {
    let open = || threads.iter().zip(places).filter_map(|((timed, _), place)| timed.get(*place));
    // A call that returned comes before all that were made after that.
    let first = open().filter_map(|timed| timed.answer.as_ref().map(|(at, _)| *at)).min();
    for (thread, (timed, calls)) in threads.iter().enumerate() {
        let (Some(timed), Some(call)) = (timed.get(places[thread]), calls.get(places[thread]))
        else {
            continue;
        };
        if first.is_some_and(|first| first < timed.invoked) {
            continue;
        }
        let states = match &timed.answer {
            Some((_, answer)) => applied(subject, state, call, answer),
            // It may have taken effect, whatever it would have answered.
            None if timed.dropped => {
                answers(subject, state, call).into_iter().map(|outcome| outcome.state).collect()
            }
            None => continue,
        };
        for state in states {
            let mut places = places.to_vec();
            places[thread] += 1;
            found.insert((places, state));
        }
    }
}

/// The same, where all that is known is which calls come before which: `calls` are those that were
/// made, with their answers and whether they were dropped, and for each there is a mask of those
/// before it. Of more than 64 calls it is not known, and the answer is yes.
pub fn waits_rightly_in(
    subject: &Subject,
    calls: &[(&Call, Option<&Value>, bool)],
    before: &[u64],
) -> bool {
    if calls.len() > 64 {
        return true;
    }
    let is_done = |at: &usize| calls[*at].1.is_some() || calls[*at].2;
    let over: Vec<usize> = (0..calls.len()).filter(is_done).collect();
    let done = over.iter().map(|at| {
        let (call, answer, _) = calls[*at];
        let mask = over.iter().enumerate().map(|(bit, other)| (before[*at] >> other & 1) << bit);
        Done { call, answer, before: mask.sum() }
    });
    let waiting = calls.iter().filter(|(_, answer, dropped)| answer.is_none() && !dropped);
    let pending = waiting.map(|(call, ..)| *call);
    let mut orders = Orders::new(subject, done.collect(), pending.collect());
    orders.end_waiting(vec![subject.object.spec.initial()])
}

/// The states after a call with this answer.
fn applied(subject: &Subject, state: &AnyState, call: &Call, answer: &Value) -> Vec<AnyState> {
    let outcomes = subject.object.spec.apply(state, &subject.spec_call(call), Some(answer));
    outcomes.into_iter().map(|one| one.state).collect()
}

struct Done<'a> {
    call: &'a Call,
    /// None if it was dropped: it may have taken effect, whatever it would have answered.
    answer: Option<&'a Value>,
    /// The calls that come before it.
    before: u64,
}

struct Orders<'a> {
    subject: &'a Subject,
    calls: Vec<Done<'a>>,
    pending: Vec<&'a Call>,
    seen: FxHashSet<(u64, AnyState)>,
}

impl<'a> Orders<'a> {
    fn new(subject: &'a Subject, calls: Vec<Done<'a>>, pending: Vec<&'a Call>) -> Orders<'a> {
        Orders { subject, calls, pending, seen: FxHashSet::default() }
    }

    /// Whether an order of all calls, from one of these states, ends where no pending call is
    /// answered.
    fn end_waiting(&mut self, states: Vec<AnyState>) -> bool {
        states.into_iter().any(|state| self.ends_waiting(0, state))
    }

    /// Whether an order of the calls that are not `done` ends where no pending call is answered.
    fn ends_waiting(&mut self, done: u64, state: AnyState) -> bool {
        if !self.seen.insert((done, state.clone())) {
            return false;
        }
        let left: Vec<usize> = (0..self.calls.len()).filter(|at| done & (1 << at) == 0).collect();
        if left.iter().all(|at| self.calls[*at].answer.is_none()) {
            let answered = |call: &&Call| !answers(self.subject, &state, call).is_empty();
            if !self.pending.iter().any(answered) {
                return true;
            }
        }
        for at in left {
            let next = &self.calls[at];
            if next.before & !done != 0 {
                continue;
            }
            let after = match next.answer {
                Some(answer) => applied(self.subject, &state, next.call, answer),
                None => {
                    let any = answers(self.subject, &state, next.call).into_iter();
                    any.map(|outcome| outcome.state).collect()
                }
            };
            for after in after {
                if self.ends_waiting(done | 1 << at, after) {
                    return true;
                }
            }
        }
        false
    }
}
