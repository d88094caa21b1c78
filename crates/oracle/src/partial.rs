//! A judge of histories whose precedence is a partial order: all permutations of all choices of
//! pending operations. Slower still than the other, and still more obvious.

use linchpin_spec::{Call, Spec, Value};

/// An operation of a history without times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialOperation {
    /// What was called.
    pub call: Call,
    /// What it answered; `None` if it is pending.
    pub response: Option<Value>,
    /// Which of many objects it was called on.
    pub object: usize,
}

/// An order that explains the history, as indices into it, if there is one: all completed and some
/// pending operations, in which of each pair that `precedes` names, and of each that follows from
/// these, the first comes first.
///
/// # Panics
///
/// If there are more than 9 operations.
pub fn partial_witness<S: Spec + ?Sized>(
    spec: &S,
    history: &[PartialOperation],
    precedes: &[(usize, usize)],
) -> Option<Vec<usize>> {
    let count = history.len();
    assert!(count <= 9, "the oracle permutes at most 9 operations, and this history has {count}");
    let mut follows = precedes.to_vec();
    loop {
        let more: Vec<(usize, usize)> = follows
            .iter()
            .flat_map(|&(a, b)| {
                follows.iter().filter(move |pair| pair.0 == b).map(move |pair| (a, pair.1))
            })
            .filter(|pair| !follows.contains(pair))
            .collect();
        if more.is_empty() {
            break;
        }
        follows.extend(more);
    }
    let objects = history.iter().map(|operation| operation.object + 1).max().unwrap_or(0);
    let start = vec![spec.initial(); objects];
    permute(spec, history, &follows, &mut Vec::new(), &[start])
}

/// Tries all ways to go on with an order after which the objects may be in these states.
fn permute<S: Spec + ?Sized>(
    spec: &S,
    history: &[PartialOperation],
    follows: &[(usize, usize)],
    order: &mut Vec<usize>,
    states: &[Vec<S::State>],
) -> Option<Vec<usize>> {
    if states.is_empty() {
        return None;
    }
    let is_whole =
        (0..history.len()).all(|at| history[at].response.is_none() || order.contains(&at));
    // Judged as a whole, not step by step: of any two, the later must not precede the earlier.
    let keeps_order = || {
        order.iter().enumerate().all(|(place, late)| {
            order[..place].iter().all(|early| !follows.contains(&(*late, *early)))
        })
    };
    if is_whole && keeps_order() {
        return Some(order.clone());
    }
    for next in (0..history.len()).filter(|next| !order.contains(next)).collect::<Vec<_>>() {
        let PartialOperation { call, response, object } = &history[next];
        let mut after = Vec::new();
        for state in states {
            for outcome in spec.apply(&state[*object], call, response.as_ref()) {
                let mut state = state.clone();
                state[*object] = outcome.state;
                after.push(state);
            }
        }
        order.push(next);
        let found = permute(spec, history, follows, order, &after);
        order.pop();
        if found.is_some() {
            return found;
        }
    }
    None
}
