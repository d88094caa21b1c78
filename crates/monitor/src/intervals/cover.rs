//! Gaps in which nothing is certainly inside, and why there are none.

use super::super::poll::{StopPoll, StopReason};
use super::{Gap, Part, Span};

/// The gaps in which no value is certainly inside.
pub(crate) struct FreeGaps {
    /// For each gap, the first free one from there on.
    next: Vec<Gap>,
}

impl FreeGaps {
    /// The free gaps of a part, which was tuned.
    pub fn new(part: &Part, poll: &StopPoll) -> Result<FreeGaps, StopReason> {
        let mut change = vec![0u32; part.end as usize + 2];
        for life in &part.lives {
            poll.step()?;
            let inside = life.inside();
            if !inside.is_empty() {
                change[inside.lo as usize] = change[inside.lo as usize].wrapping_add(1);
                let after = inside.hi.min(part.end) as usize + 1;
                change[after] = change[after].wrapping_sub(1);
            }
        }
        // The changes become counts, and the counts the next free gaps, in place.
        let mut count = 0u32;
        for entry in &mut change {
            poll.step()?;
            count = count.wrapping_add(*entry);
            *entry = count;
        }
        let mut next = Gap::MAX;
        for (gap, entry) in change.iter_mut().enumerate().rev() {
            poll.step()?;
            if *entry == 0 {
                next = gap as Gap;
            }
            *entry = next;
        }
        Ok(FreeGaps { next: change })
    }

    /// The first free gap in the span.
    pub fn first_in(&self, span: Span) -> Option<Gap> {
        let gap = self.next[span.lo as usize];
        (gap <= span.hi).then_some(gap)
    }
}

/// The fewest of the given intervals that cover `span`, which they do.
pub(crate) fn cover(span: Span, inside: impl Iterator<Item = (u32, Span)>) -> Vec<u32> {
    let overlaps = |of: &Span| !of.is_empty() && of.lo <= span.hi && span.lo <= of.hi;
    let mut intervals: Vec<(u32, Span)> = inside.filter(|(_, of)| overlaps(of)).collect();
    intervals.sort_unstable_by_key(|(_, of)| of.lo);
    let mut chosen = Vec::new();
    let mut uncovered = span.lo;
    let mut best: Option<(u32, Gap)> = None;
    for (id, of) in intervals {
        if of.lo > uncovered
            && let Some((id, hi)) = best.take_if(|(_, hi)| *hi >= uncovered)
        {
            chosen.push(id);
            uncovered = hi + 1;
        }
        if uncovered > span.hi {
            return chosen;
        }
        if best.is_none_or(|(_, hi)| of.hi > hi) {
            best = Some((id, of.hi));
        }
    }
    chosen
        .extend(best.filter(|(_, hi)| uncovered <= span.hi && *hi >= uncovered).map(|(id, _)| id));
    chosen
}
