//! What an era contributes to a history: which calls were made, what was answered, and the
//! real-time orders that its trace allows.

use super::super::observe::observed;
use super::super::program::Mark;
use super::era::{Begin, Caller, calls};
use crate::scenario::{Call, Scenario};
use linchpin_explore::orders::{Ends, MOST_OPERATIONS, Span, instants, is_access};
use linchpin_explore::{EventKind, Execution};
use linchpin_spec::Value;
use linchpin_sync::persistent::simulation::ALLOCATED;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What an era contributes to a history.
#[derive(Debug)]
pub(super) struct Segment {
    /// Equal segments have the same number.
    pub(super) id: u32,
    /// The calls that were made, with their answers; those that did not return have none.
    pub(super) calls: Vec<(usize, Option<Value>)>,
    /// For each greatest real-time order an instant for each call and each return.
    pub(super) orders: Vec<Vec<(u64, u64)>>,
}

/// All that decides a segment.
type Key = (Vec<(usize, Option<Value>)>, Option<Ends>);

/// All different segments.
#[derive(Default)]
pub(super) struct Segments {
    known: FxHashMap<Key, Rc<Segment>>,
    next: u32,
    /// Segments of which not every real-time order is there.
    pub(super) partly: u64,
}

/// What the note says that a mark is, unless it is one of persistent memory.
pub(super) fn mark(kind: &EventKind) -> Option<Mark> {
    match kind {
        EventKind::Mark(word) if word & ALLOCATED == 0 => Some(Mark::of(*word)),
        _ => None,
    }
}

impl Segments {
    /// What an execution contributes, up to a cut.
    pub(super) fn of(
        &mut self,
        execution: &Execution,
        answers: &[Option<Value>],
        is_before: impl Fn(usize) -> bool,
    ) -> Rc<Segment> {
        let (numbers, spans) = spans(execution, answers, is_before);
        let answer = |(number, span): (&usize, &Span)| {
            (*number, answers[*number].clone().filter(|_| span.returned))
        };
        let calls: Vec<_> = numbers.iter().zip(&spans).map(answer).collect();
        let few = spans.len() <= MOST_OPERATIONS;
        let key = (calls, few.then(|| Ends::new(execution, &spans)));
        if let Some(known) = self.known.get(&key) {
            return Rc::clone(known);
        }
        let orders = key.1.as_ref().and_then(|ends| ends.orders(|at| spans[at].returned));
        let orders = match orders {
            Some(orders) => orders.iter().map(|order| instants(order)).collect(),
            None => {
                self.partly += 1;
                vec![observed(&spans)]
            }
        };
        let segment = Rc::new(Segment { id: self.next, calls: key.0.clone(), orders });
        self.next += 1;
        // Where not all orders are known, equal calls need not be equal segments.
        if key.1.is_some() {
            self.known.insert(key, Rc::clone(&segment));
        }
        segment
    }
}

/// The calls that were made, and where they are in the trace.
fn spans(
    execution: &Execution,
    answers: &[Option<Value>],
    is_before: impl Fn(usize) -> bool,
) -> (Vec<usize>, Vec<Span>) {
    let (mut numbers, mut spans): (Vec<usize>, Vec<Span>) = (Vec::new(), Vec::new());
    // The call that each thread is in.
    let mut open: Vec<Option<usize>> = vec![None; execution.threads];
    for (at, event) in execution.events.iter().enumerate().filter(|(at, _)| is_before(*at)) {
        match mark(&event.kind) {
            Some(Mark::Called(number)) => {
                open[event.thread] = Some(spans.len());
                numbers.push(number);
                spans.push(Span { thread: event.thread, accesses: None, returned: false });
            }
            Some(Mark::Returned(number)) => {
                if let Some(span) = open[event.thread].take() {
                    spans[span].returned = answers.get(number).is_some_and(Option::is_some);
                }
            }
            _ if is_access(&event.kind) => {
                if let Some(span) = open[event.thread] {
                    let first = spans[span].accesses.map_or(at, |(first, _)| first);
                    spans[span].accesses = Some((first, at));
                }
            }
            _ => {}
        }
    }
    (numbers, spans)
}

/// Which call each thread makes next, after a segment.
pub(super) fn next_calls(
    scenario: &Scenario,
    after: &[Call],
    begin: &Begin,
    segment: &Segment,
) -> Vec<usize> {
    let mut next = begin.next.clone();
    next.resize(scenario.threads.len(), 0);
    let all = calls(scenario, after);
    for (number, _) in &segment.calls {
        if let Some((Caller::Thread(thread), _)) = all.get(*number) {
            next[*thread] += 1;
        }
    }
    next
}
