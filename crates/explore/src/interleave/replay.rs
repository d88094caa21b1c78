//! One execution again.

use super::schedule::{Pick, Scheduler};
use super::state::State;
use crate::threads::ThreadId;
use linchpin_sync::runtime::Site;

/// Follows decisions. Where they end, the thread that runs goes on while it can: the execution may
/// have ended there with a problem that is mended.
pub(super) struct Replay<'a> {
    decisions: &'a [u32],
    taken: usize,
}

impl Replay<'_> {
    pub(super) fn new(decisions: &[u32]) -> Replay<'_> {
        Replay { decisions, taken: 0 }
    }

    fn next_decision(&mut self) -> Option<usize> {
        let decision = *self.decisions.get(self.taken)?;
        self.taken += 1;
        Some(decision as usize)
    }
}

impl Scheduler for Replay<'_> {
    fn pick(&mut self, state: &State) -> Pick {
        match self.next_decision() {
            Some(thread) if thread < state.asks.len() && state.enabled.contains(thread) => {
                Pick::Thread(thread)
            }
            Some(thread) => Pick::Different(thread.min(state.asks.len() - 1)),
            None => state.preferred(state.enabled).map_or(Pick::Redundant, Pick::Thread),
        }
    }

    fn choose(&mut self, _: ThreadId, alternatives: usize, _: Site) -> Option<usize> {
        let taken = self.next_decision().unwrap_or(0);
        (taken < alternatives).then_some(taken)
    }

    fn is_short(&self) -> bool {
        self.taken < self.decisions.len()
    }

    fn next(&mut self) -> bool {
        false
    }
}
