//! What answers are held against: the brute-force judge, and a check of witnesses of a few lines.

use linchpin_history_data::{History, Judgement, NEVER, OpId, Rank};
use linchpin_oracle::is_linearizable;
use linchpin_spec::Spec;

/// Whether nothing explains these operations, as the events before `end` show them.
pub fn is_violated<S: Spec + ?Sized>(spec: &S, history: &History, ids: &[OpId], end: Rank) -> bool {
    let mut certain = Vec::new();
    let mut with_deadline = Vec::new();
    for &id in ids {
        let operation = &history[id];
        if operation.invoked >= end {
            continue;
        }
        let returned = Some(operation.returned).filter(|returned| *returned < end);
        let judged = linchpin_oracle::Operation {
            process: operation.process as usize,
            call: history.call(id),
            response: history.response(id).filter(|_| returned.is_some()),
            invoked: operation.invoked.index(),
            returned: returned.map(|returned| returned.index()),
        };
        if operation.completed || returned.is_none() {
            certain.push(judged);
        } else {
            with_deadline.push(judged);
        }
    }
    // An operation with a deadline takes effect before it, or is not there.
    (0..1 << with_deadline.len()).all(|chosen| {
        let mut operations = certain.clone();
        let chosen = |at: &usize| chosen >> at & 1 == 1;
        operations
            .extend((0..with_deadline.len()).filter(chosen).map(|at| with_deadline[at].clone()));
        !is_linearizable(spec, &operations)
    })
}

/// Whether an order explains a history.
pub fn is_witness<S: Spec + ?Sized>(spec: &S, history: &History, order: &[OpId]) -> bool {
    let mut count = vec![0; history.operations.len()];
    let mut states = vec![spec.initial()];
    let mut latest_call = Rank::FIRST;
    for &id in order {
        let operation = &history[id];
        count[id.index()] += 1;
        // Nothing before it in the order was called after it returned.
        if operation.returned < latest_call {
            return false;
        }
        latest_call = latest_call.max(operation.invoked);
        let (call, response) = (history.call(id), history.response(id));
        let apply = |state: &S::State| spec.apply(state, &call, response.as_ref());
        let mut after: Vec<S::State> = Vec::new();
        for outcome in states.iter().flat_map(apply) {
            if !after.contains(&outcome.state) {
                after.push(outcome.state);
            }
        }
        states = after;
    }
    let complete = history.operations.iter().zip(&count);
    !states.is_empty()
        && complete.into_iter().all(|(op, count)| *count == 1 || !op.completed && *count == 0)
}

/// Holds a judgement against the judge; whether the history is violated.
pub fn check<S: Spec + ?Sized>(
    name: &str,
    spec: &S,
    history: &History,
    judgement: &Judgement,
) -> bool {
    let all: Vec<OpId> = history.ids().collect();
    let expected = is_violated(spec, history, &all, NEVER);
    match judgement {
        Judgement::Holds(witness) => {
            assert!(!expected, "{name}: there is no witness: {history:#?}");
            let order = &witness.order;
            assert!(
                is_witness(spec, history, order),
                "{name}: {order:?} explains not {history:#?}"
            );
        }
        Judgement::Violated(violation) => {
            assert!(expected, "{name}: {violation:?}, but there is a witness: {history:#?}");
            let core = &violation.core;
            assert!(core.is_sorted() && core.last().is_some_and(|last| last.index() < all.len()));
            assert!(is_violated(spec, history, core, NEVER), "{name}: {core:?} of {history:#?}");
            if let Some(at) = violation.at {
                assert!(is_violated(spec, history, &all, at + 1), "{name}: {at} of {history:#?}");
                assert!(!is_violated(spec, history, &all, at), "{name}: {at} of {history:#?}");
            }
        }
        Judgement::Inconclusive(reason) => panic!("{name}: {reason}: {history:#?}"),
    }
    expected
}
