//! Which locals still matter: two states that differ only in dead ones are the same state.

use crate::layout::{Kind, Layout};
use linchpin_ir::liveness::live_locals;
use linchpin_ir::program::Body;

/// For each node of a body, the words of the region (from its start) that hold live locals, in
/// order, with their kinds.
pub(crate) fn live_words(
    body: &Body,
    layout: &Layout,
    operation: usize,
) -> Vec<Vec<(usize, Kind)>> {
    let live = live_locals(body);
    let slots = &layout.locals[operation];
    let kinds = &layout.local_kinds[operation];
    let words = |live: &Vec<bool>| {
        let of = slots.iter().zip(live).filter(|(_, live)| **live);
        let words = of.flat_map(|(slot, _)| slot.at..slot.at + slot.width);
        words.map(|word| (word, kinds[word - layout.locals_at])).collect()
    };
    live.iter().map(words).collect()
}
