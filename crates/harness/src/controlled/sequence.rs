//! A trace as one sequence of events: one that agrees with a real-time order, with few switches.

use super::observe::{RealTime, made};
use crate::scenario::Scenario;
use linchpin_explore::Execution;
use linchpin_spec::Value;
use std::collections::VecDeque;

/// The events of an execution in an order that agrees with what precedes what, and in which calls
/// return before others are made as `real_time` says. A thread goes on as long as it can; a call is
/// made right before its first access, and returns right after its last one.
pub(super) fn linearized(
    scenario: &Scenario,
    execution: &Execution,
    answers: &[Option<Value>],
    real_time: &RealTime,
) -> Vec<usize> {
    let made = made(scenario, execution, answers);
    let mut threads: Vec<VecDeque<usize>> = vec![VecDeque::new(); execution.threads];
    for (at, event) in execution.events.iter().enumerate() {
        threads[event.thread].push_back(at);
    }
    // What must have happened before an event, besides what precedes it in the trace.
    let before_call = |at: usize| {
        let call = real_time.numbers.iter().position(|number| made[*number].marks.0 == at);
        let mask = call.map_or(0, |call| real_time.before[call]);
        let returned = (0..real_time.numbers.len()).filter(move |other| mask >> other & 1 == 1);
        returned.filter_map(|other| made[real_time.numbers[other]].marks.1)
    };
    let first_access = |at: usize| {
        let call = made.iter().find(|made| made.marks.0 == at && made.marks.1 != Some(at));
        call.and_then(|made| made.span.accesses).map(|(first, _)| first)
    };
    let mut done = vec![false; execution.events.len()];
    let mut counts = vec![0_u32; execution.threads];
    let mut order = Vec::with_capacity(done.len());
    let precedes = |at: usize, counts: &[u32]| {
        let own = execution.events[at].thread;
        let clock = execution.clocks[at].iter().zip(counts).enumerate();
        clock.into_iter().all(|(thread, (known, count))| thread == own || known <= count)
    };
    let mut current = 0;
    while order.len() < done.len() {
        let ready = |thread: usize| {
            let at = *threads[thread].front()?;
            let reached = before_call(at).all(|other| done[other]);
            // A call waits until its first access can follow.
            let follows = first_access(at).is_none_or(|access| precedes(access, &counts));
            (reached && precedes(at, &counts) && follows).then_some(thread)
        };
        let next = std::iter::once(current).chain(0..threads.len()).find_map(ready);
        // Where the order cannot be kept, the events come as they did.
        let thread = next.unwrap_or_else(|| {
            let fronts = threads.iter().filter_map(|events| events.front());
            fronts.min().map_or(0, |at| execution.events[*at].thread)
        });
        let Some(at) = threads[thread].pop_front() else { break };
        done[at] = true;
        counts[thread] += 1;
        order.push(at);
        current = thread;
    }
    order
}
