//! A few operations that show a violation.
//!
//! Leaving operations out of a history that cannot be explained proves nothing by itself: a
//! `dequeue → 7` without its `enqueue 7` cannot be explained either. So an operation is left out
//! only if the rest shows the violation whatever it did: if nothing explains the rest even when the
//! operation *may* have taken effect in its time, with any answer (*weakened*). Where a history
//! that can be explained can be explained without the operation, it need not even be weakened: an
//! operation that cannot change any state, all operations on some values of a queue, an update that
//! no operation sees. Where it takes too long to find out, the operation stays: a core may be
//! larger than it need be, but it stands alone.

mod sum;

use super::problem::{Item, Role, mentioned};
use linchpin_history_data::{History, NEVER, OpId, Rank, ValueId};
use rustc_hash::FxHashSet;
use std::time::{Duration, Instant};
pub use sum::Tally;

/// Who says whether operations alone can be explained.
pub(crate) trait Judge {
    /// Whether nothing explains these operations, given in the order of their calls; `None` if that
    /// is not known by `until`.
    fn is_violated(&mut self, items: &[Item], until: Instant) -> Option<bool>;

    /// Those of the operations `gone` that may matter to the rest. If some order explains a history
    /// then, without the others, it explains the rest still. That an operation changed nothing in
    /// the states that a search went through is not enough to leave it out: others may be possible
    /// when less is known.
    fn relevant(&self, gone: Vec<Item>, _rest: &[Item]) -> Vec<Item> {
        gone
    }

    /// Those of the operations that may have taken effect, with any answer, that may matter to the
    /// rest.
    fn still_relevant(&self, context: Vec<Item>, _rest: &[Item]) -> Vec<Item> {
        context
    }

    /// If the state is a count: which operations change it.
    fn tally(&self) -> Option<Tally> {
        None
    }
}

/// Where the first return that nothing explains must be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    /// At the return of this operation or later, and probably soon after: a search that knows all
    /// answers got stuck there; the answers of what was in progress may be why.
    From(OpId),
    /// At this event or earlier, and probably not long before.
    To(Rank),
}

/// The operation with the first return that nothing explains, given the events up to it and no
/// others; `None` if that is not known by `until`.
pub(crate) fn first_violated(
    history: &History,
    items: &[Item],
    bound: Bound,
    until: Instant,
    judge: &mut dyn Judge,
) -> Option<OpId> {
    let returned = |id: OpId| history[id].returned;
    let completed = items.iter().filter(|item| item.role == Role::Completed);
    let mut returns: Vec<OpId> = completed.map(|item| item.id).collect();
    returns.retain(|id| match bound {
        Bound::From(found) => returned(*id) >= returned(found),
        Bound::To(last) => returned(*id) <= last,
    });
    returns.sort_unstable_by_key(|id| returned(*id));
    // INVARIANT: the events up to the return at `high` cannot be explained, those before the one at
    // `low` can.
    let (mut low, mut high) = (0, returns.len().checked_sub(1)?);
    let mut stride = 1;
    while low < high {
        let half = low + (high - low) / 2;
        let middle = match bound {
            Bound::From(_) => (low + stride - 1).min(half),
            Bound::To(_) => high.saturating_sub(stride).max(half),
        };
        stride *= 2;
        let prefix = items.iter().filter_map(|item| item.until(history, returned(returns[middle])));
        match judge.is_violated(&prefix.collect::<Vec<_>>(), until)? {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Some(returns[high])
}

/// Finds a few of the operations that cannot be explained alone. The return of `culprit` is the
/// first event that nothing explains, if that is known.
pub(crate) fn shrink(
    history: &History,
    items: &[Item],
    culprit: Option<OpId>,
    until: Instant,
    judge: &mut dyn Judge,
) -> Vec<OpId> {
    let at = culprit.map_or(NEVER, |culprit| history[culprit].returned);
    let prefix: Vec<Item> = items.iter().filter_map(|item| item.until(history, at)).collect();
    // What is in progress may have taken effect, and that explains nothing: this is what the search
    // has found.
    let (kept, context) = prefix.iter().partition(|item| item.role == Role::Completed);
    let mut shrinker = Shrinker { history, kept, context, culprit, until, judge };
    shrinker.by_sum();
    if shrinker.violated(&shrinker.kept.clone(), 2) != Some(true) {
        return ids(&prefix);
    }
    shrinker.by_values_of_the_culprit();
    shrinker.by_time();
    shrinker.by_value();
    shrinker.one_by_one();
    let shown = shrinker.with_sources(&prefix);
    // INVARIANT: the core has been judged as it is.
    if shown.len() > shrinker.kept.len() && shrinker.violated(&shown, 1) == Some(true) {
        return ids(&shown);
    }
    ids(&shrinker.kept)
}

fn ids(items: &[Item]) -> Vec<OpId> {
    items.iter().map(|item| item.id).collect()
}

/// The values that an operation mentions.
pub(super) fn values(history: &History, item: &Item) -> Vec<ValueId> {
    let operation = &history[item.id];
    let mut values = mentioned(history, operation.argument).to_vec();
    if operation.completed {
        values.extend(mentioned(history, operation.response));
    }
    values
}

struct Shrinker<'a> {
    history: &'a History,
    /// What is left. Nothing explains it, with or without the context.
    kept: Vec<Item>,
    /// Operations that are not left, but may have taken effect.
    context: Vec<Item>,
    culprit: Option<OpId>,
    until: Instant,
    judge: &'a mut dyn Judge,
}

impl Shrinker<'_> {
    /// Asks the judge, for a fraction of the time that is left.
    fn violated(&mut self, items: &[Item], fraction: u32) -> Option<bool> {
        let now = Instant::now();
        let left = self.until.checked_duration_since(now)?;
        self.judge.is_violated(items, now + (left / fraction).max(Duration::from_millis(5)))
    }

    /// Leaves out what `gone` says, if the rest still shows the violation.
    fn leave_out(&mut self, gone: impl Fn(&Item) -> bool) {
        let culprit = self.culprit;
        let (gone, rest): (Vec<Item>, Vec<Item>) =
            self.kept.iter().partition(|item| Some(item.id) != culprit && gone(item));
        if gone.is_empty() || self.violated(&rest, 4) != Some(true) {
            return;
        }
        let relevant = self.judge.relevant(gone, &rest).into_iter();
        let gone: Vec<Item> = relevant.map(|item| item.weakened(self.history)).collect();
        let mut context = self.judge.still_relevant(self.context.clone(), &rest);
        context.extend(gone);
        let mut weaker = [&rest[..], &context].concat();
        weaker.sort_unstable_by_key(|item| item.id);
        // INVARIANT: what is kept was judged together with the context, so what is not known is not
        // left out.
        if self.violated(&weaker, 16) == Some(true) {
            self.context = context;
            self.kept = rest;
        }
    }

    fn values(&self, item: &Item) -> Vec<ValueId> {
        values(self.history, item)
    }

    /// Leaves out all but the last few operations: as few as possible.
    fn by_time(&mut self) {
        let mut last = 8;
        while last < self.kept.len() {
            let before = self.kept.len();
            let first = self.kept[before - last].id;
            self.leave_out(|item| item.id < first);
            if self.kept.len() < before || Instant::now() >= self.until {
                return;
            }
            last *= 4;
        }
    }

    /// Leaves out all operations that do not mention a value that the culprit mentions.
    fn by_values_of_the_culprit(&mut self) {
        let culprit = self.culprit.map(|id| Item { id, role: Role::Completed });
        let needed = culprit.iter().flat_map(|culprit| self.values(culprit));
        let needed: FxHashSet<ValueId> = needed.collect();
        let mentions = |item: &Item| self.values(item).iter().any(|value| needed.contains(value));
        let kept: FxHashSet<OpId> =
            self.kept.iter().filter(|item| mentions(item)).map(|item| item.id).collect();
        self.leave_out(|item| !kept.contains(&item.id));
    }

    /// Leaves out all operations with some values.
    fn by_value(&mut self) {
        let culprit = self.culprit.map(|id| Item { id, role: Role::Completed });
        let needed = culprit.iter().flat_map(|culprit| self.values(culprit));
        let mut seen: FxHashSet<ValueId> = needed.collect();
        let kept = self.kept.clone();
        let values = kept.iter().flat_map(|item| self.values(item));
        let values: Vec<ValueId> = values.filter(|value| seen.insert(*value)).collect();
        self.in_chunks(&values, |shrinker, chunk| {
            let chunk: FxHashSet<ValueId> = chunk.iter().copied().collect();
            let gone: FxHashSet<OpId> = shrinker
                .kept
                .iter()
                .filter(|item| shrinker.values(item).iter().any(|value| chunk.contains(value)))
                .map(|item| item.id)
                .collect();
            shrinker.leave_out(|item| gone.contains(&item.id));
        });
    }

    /// Leaves out single operations.
    fn one_by_one(&mut self) {
        loop {
            let before = self.kept.len();
            let all = ids(&self.kept);
            self.in_chunks(&all, |shrinker, chunk| {
                shrinker.leave_out(|item| chunk.contains(&item.id));
            });
            if self.kept.len() == before || Instant::now() >= self.until {
                return;
            }
        }
    }

    /// Tries large chunks first, then smaller ones.
    fn in_chunks<T>(&mut self, all: &[T], mut attempt: impl FnMut(&mut Self, &[T])) {
        let mut size = all.len().div_ceil(2);
        while size > 0 {
            for chunk in all.chunks(size) {
                if Instant::now() >= self.until {
                    return;
                }
                attempt(self, chunk);
            }
            size /= 2;
        }
    }

    /// What is left, with the operations that brought the values that it sees: they are not needed
    /// to see that there is a violation, but a reader looks for them.
    fn with_sources(&self, prefix: &[Item]) -> Vec<Item> {
        const OF_EACH_VALUE: usize = 2;
        let mut shown = self.kept.clone();
        let mut there: FxHashSet<OpId> = ids(&shown).into_iter().collect();
        let mut seen = FxHashSet::default();
        for item in &self.kept {
            let response = self.history[item.id].response;
            seen.extend(mentioned(self.history, response));
        }
        for value in seen {
            let brings = |item: &&Item| {
                let operation = &self.history[item.id];
                mentioned(self.history, operation.argument).contains(&value)
            };
            for item in prefix.iter().rev().filter(brings).take(OF_EACH_VALUE) {
                if there.insert(item.id) {
                    shown.push(*item);
                }
            }
        }
        shown.sort_unstable_by_key(|item| item.id);
        shown
    }
}

#[cfg(test)]
mod tests;
