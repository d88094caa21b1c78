//! What operations in an order do to the object.

use linchpin_history::{History, OpId};
use linchpin_spec::{AnySpec, AnyState};
use linchpin_verdict::Limits;

/// States that are told along one order at most.
const MOST_STATES: usize = 20_000;

/// Bytes of all states of an order at most.
const MOST_BYTES: usize = 2 << 20;

/// States that an object may be in at a time, where it is not deterministic, at most.
const MOST_AT_ONCE: usize = 16;

/// States along an order.
pub struct States {
    /// The first one.
    pub initial: Option<String>,
    /// The one after each operation; shorter than the order where the time was over.
    pub after: Vec<Option<String>>,
    /// Whether all are there.
    pub is_complete: bool,
}

/// Which part of an order is told if it is too long.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    First,
    Last,
}

/// Follows an order.
pub fn follow(
    spec: &AnySpec,
    history: &History,
    order: &[OpId],
    part: Part,
    limits: &Limits,
) -> States {
    let told = match part {
        Part::First => 0..MOST_STATES.min(order.len()),
        Part::Last => order.len().saturating_sub(MOST_STATES)..order.len(),
    };
    let mut states = vec![spec.initial()];
    let initial = Some(text(&states));
    let mut after = Vec::new();
    let (mut bytes, mut dropped) = (0, told.start);
    let mut is_complete = told.len() == order.len();
    for (at, id) in order.iter().enumerate() {
        if limits.exceeded(0).is_some() || at >= told.end {
            break;
        }
        states = apply(spec, history, *id, &states);
        // An order that the specification does not allow, or too many states to be told apart.
        if !are_few(&states) {
            break;
        }
        let is_told = told.contains(&at) && (part == Part::Last || bytes < MOST_BYTES);
        is_complete &= is_told;
        after.push(is_told.then(|| text(&states)));
        bytes += after.last().and_then(Option::as_ref).map_or(0, String::len);
        // The last ones are told: the first of them make room.
        while bytes > MOST_BYTES && part == Part::Last && dropped < after.len() {
            bytes -= after[dropped].take().map_or(0, |state| state.len());
            (dropped, is_complete) = (dropped + 1, false);
        }
    }
    is_complete &= after.len() == order.len();
    States { initial, after, is_complete }
}

/// Whether there is a state at all, and no more than can be told apart.
pub fn are_few(states: &[AnyState]) -> bool {
    !states.is_empty() && states.len() <= MOST_AT_ONCE
}

/// The states after an operation took effect in one of these.
pub fn apply(spec: &AnySpec, history: &History, id: OpId, states: &[AnyState]) -> Vec<AnyState> {
    let (call, answer) = (history.call(id), history.response(id));
    let mut next: Vec<AnyState> = Vec::new();
    for state in states {
        for outcome in spec.apply(state, &call, answer.as_ref()) {
            if !next.contains(&outcome.state) {
                next.push(outcome.state);
            }
        }
    }
    next
}

fn text(states: &[AnyState]) -> String {
    let texts: Vec<String> = states.iter().take(4).map(ToString::to_string).collect();
    super::shortened(texts.join(" or "))
}
