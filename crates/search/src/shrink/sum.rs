//! Objects whose state is a count: of a long history only the sum matters.

use super::Shrinker;
use crate::problem::{Item, Role};
use linchpin_history_data::Rank;
use std::time::Instant;

/// Which operation of an object adds one and which takes one away, if there is one; all others only
/// look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The operation that adds one.
    pub up: usize,
    /// The operation that takes one away.
    pub down: usize,
}

impl Shrinker<'_> {
    /// Leaves out what came and went before some instant, as late as possible: of the operations
    /// that returned before it, all but the last few that came, as many as came more than went; and
    /// what looked and was called before it.
    ///
    /// If some order explains all, one explains the rest. What returned before the instant comes
    /// before what was called after it. What was in progress and comes before something that had
    /// returned can be moved to just after that: first what adds, then what takes away, so that the
    /// number leads to the same in the end and is never negative. By then those who are left have
    /// brought it to the same number as all.
    pub(super) fn by_sum(&mut self) {
        let (Some(tally), Some(culprit)) = (self.judge.tally(), self.culprit) else {
            return;
        };
        let invoked = |item: &Item| self.history[item.id].invoked;
        let called = self.history[culprit].invoked;
        let earlier: Vec<Rank> =
            self.kept.iter().map(invoked).filter(|invoked| *invoked < called).collect();
        let mut back = 0;
        loop {
            let instant = if back == 0 { called } else { earlier[earlier.len() - back] };
            if let Some(rest) = self.from(instant, tally) {
                let mut all = [&rest[..], &self.context].concat();
                all.sort_unstable_by_key(|item| item.id);
                // INVARIANT: what is kept cannot be explained, with or without the context.
                if self.violated(&rest, 8) == Some(true) && self.violated(&all, 8) == Some(true) {
                    self.kept = rest;
                    return;
                }
            }
            if back == earlier.len() || Instant::now() >= self.until {
                return;
            }
            back = (4 * back).max(8).min(earlier.len());
        }
    }

    /// What is left of the operations; nothing if it is not known that this suffices.
    fn from(&self, instant: Rank, tally: Tally) -> Option<Vec<Item>> {
        let operation = |item: &Item| self.history[item.id];
        let kind = |item: &Item| operation(item).operation as usize;
        let changes = |item: &Item| [tally.up, tally.down].contains(&kind(item));
        let is_late = |item: &Item| match item.role {
            Role::Completed => operation(item).returned >= instant,
            Role::Optional(deadline) => deadline >= instant,
        };
        if self.context.iter().any(|item| changes(item) && !is_late(item)) {
            return None;
        }
        let settled = |item: &&Item| changes(item) && !is_late(item);
        let down = self.kept.iter().filter(settled).filter(|item| kind(item) == tally.down).count();
        let up: Vec<Item> = self
            .kept
            .iter()
            .filter(settled)
            .filter(|item| kind(item) == tally.up)
            .copied()
            .collect();
        let later = self.kept.iter().filter(|item| match changes(item) {
            true => is_late(item),
            false => operation(item).invoked >= instant,
        });
        let mut rest: Vec<Item> = up[up.len() - up.len().checked_sub(down)?..].to_vec();
        rest.extend(later);
        rest.sort_unstable_by_key(|item| item.id);
        Some(rest)
    }
}
