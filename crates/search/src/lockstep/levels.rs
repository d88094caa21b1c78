//! The frontier in the order of the queue.
//!
//! # Why this is exact
//!
//! Let E1, E2, … and D1, D2, … be orders of the enqueues and of the dequeues that respect time,
//! where Di answers what Ei enqueued. They are merged into one order that respects time and has
//! each Ei before Di unless some Dj returned before some Ei was called, i ≤ j. For what else could
//! close a circle is that Dj' returned before Ei' was called and Ei returned before Dj was called,
//! j ≤ j' < i' ≤ i. But Ei comes not before Ei' so it returned after the call of Ei', that is,
//! after the return of Dj', which is after the call of Dj since Dj comes not after Dj'; and that is
//! after the return of Ei.
//!
//! A dequeue that found the queue empty stands between the first j of both and all others. That
//! respects time if nothing of the others returned before something of the first was called, and it
//! itself was called before all of the others returned and returned after all of the first were
//! called. All that can stand there do: what could and did not returned too early for any later
//! place.

use super::lists::{Lists, Pending, Side, Time};
use crate::Watch;
use crate::mask::Mask;
use crate::steps::{START, Steps};
use crate::used::Used;
use linchpin_history_data::{NEVER, OpId, Rank};
use linchpin_verdict::StopReason;
use rustc_hash::{FxHashMap, FxHashSet};

/// How the search ended.
pub(super) enum SearchEnd {
    Explained(Vec<OpId>),
    /// Nothing explains the events up to this one.
    Unexplained {
        last: Rank,
    },
    Stopped(StopReason),
}

/// Operations of a [`Side`] that come first in its order: all below `base`, and others.
#[derive(Clone, PartialEq, Eq, Hash)]
struct First<M> {
    base: u32,
    /// The others, modulo the width.
    others: M,
}

impl<M: Mask> First<M> {
    fn contains(&self, at: usize, side: &Side) -> bool {
        let base = self.base as usize;
        at < base || at < base + side.width && self.others.contains((at % side.width) as u32)
    }

    fn insert(&mut self, at: usize, side: &Side) {
        self.others.insert((at % side.width) as u32);
        while self.others.contains((self.base as usize % side.width) as u32) {
            self.others.remove((self.base as usize % side.width) as u32);
            self.base += 1;
        }
    }

    /// The earliest return of those that are not in it.
    fn next_return(&self, side: &Side) -> Time {
        let mut least = Time::MAX;
        for at in self.base as usize..side.id.len() {
            if side.invoked[at] > least {
                break;
            }
            if !self.contains(at, side) {
                least = least.min(side.returned[at]);
            }
        }
        least
    }
}

/// What tells configurations apart.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key<M> {
    enqueued: First<M>,
    dequeued: First<M>,
    /// The pending operations that took effect.
    used: u32,
}

/// The first operations of the order: as many enqueues as dequeues.
#[derive(Clone)]
struct Config<M> {
    key: Key<M>,
    /// The latest call of an enqueue.
    last_enqueue: Time,
    /// The latest call of a dequeue.
    last_dequeue: Time,
    /// How many of those that found the queue empty stand among them.
    empty: u32,
    step: u32,
}

/// An operation that may come next.
#[derive(Clone, Copy)]
struct Candidate {
    invoked: Time,
    returned: Time,
    /// `None` for a dequeue of whatever there is.
    value: Option<u32>,
    from: From,
}

#[derive(Clone, Copy)]
enum From {
    Side(usize),
    /// The class of pending operations.
    Pending(u32),
}

/// So many configurations the search depth first leads on at most: it keeps them all.
const DEPTH_FIRST: usize = 1 << 17;

/// The class of pending dequeues.
const DEQUEUES: u32 = u32::MAX;

/// The configurations on their way.
pub(super) struct Levels<'a, M: Mask> {
    lists: &'a Lists,
    watch: &'a Watch<'a>,
    used: Used,
    steps: Steps<OpId>,
    level: Vec<Config<M>>,
    next: Vec<Config<M>>,
    index: FxHashMap<Key<M>, u32>,
    /// The positions in `next` of configurations that were added or became better.
    added: Vec<u32>,
    /// The latest return of an operation that mattered so far.
    last: Time,
    /// How many configurations were led on.
    work: u64,
}

impl<'a, M: Mask> Levels<'a, M> {
    pub(super) fn new(lists: &'a Lists, watch: &'a Watch<'a>) -> Levels<'a, M> {
        Levels {
            lists,
            watch,
            used: Used::new(),
            steps: Steps::default(),
            level: Vec::new(),
            next: Vec::new(),
            index: FxHashMap::default(),
            added: Vec::new(),
            last: Time::MIN,
            work: 0,
        }
    }

    pub(super) fn run(&mut self) -> SearchEnd {
        if self.lists.impossible {
            return SearchEnd::Unexplained { last: NEVER };
        }
        // Most histories that can be explained are explained almost without stepping back.
        let budget = (4 * self.lists.enqueues.id.len() + 64).min(DEPTH_FIRST);
        if let Some(end) = self.depth_first(budget) {
            return end;
        }
        self.start();
        loop {
            self.index.clear();
            self.level = std::mem::take(&mut self.next);
            if let Some(done) = self.level.iter().find(|config| self.is_done(config)) {
                return SearchEnd::Explained(self.unfolded(done.step));
            }
            if self.level.is_empty() {
                return self.unexplained();
            }
            for config in std::mem::take(&mut self.level) {
                if let Some(reason) = self.exceeded() {
                    return SearchEnd::Stopped(reason);
                }
                self.added.clear();
                self.lead_on(&config);
            }
            if self.steps.should_forget() {
                self.steps.forget(self.next.iter_mut().map(|config| &mut config.step));
            }
        }
    }

    /// Starts over, with the empty configuration.
    fn start(&mut self) {
        self.next.clear();
        self.index.clear();
        self.steps = Steps::default();
        self.last = Time::MIN;
        let nothing =
            |side: &Side| First { base: 0, others: M::empty(side.width.max(self.width())) };
        let (enqueued, dequeued) = (nothing(&self.lists.enqueues), nothing(&self.lists.dequeues));
        let key = Key { enqueued, dequeued, used: Used::NONE };
        let least = Time::MIN;
        self.add(
            Config { key, last_enqueue: least, last_dequeue: least, empty: 0, step: START },
            None,
        );
    }

    /// The same search depth first, for so many configurations; nothing if they do not suffice.
    fn depth_first(&mut self, budget: usize) -> Option<SearchEnd> {
        self.start();
        let mut open = vec![0];
        for _ in 0..budget {
            let Some(at) = open.pop() else {
                return Some(self.unexplained());
            };
            let config = self.next.get(at as usize)?.clone();
            if self.is_done(&config) {
                return Some(SearchEnd::Explained(self.unfolded(config.step)));
            }
            if let Some(reason) = self.exceeded() {
                return Some(SearchEnd::Stopped(reason));
            }
            self.added.clear();
            self.lead_on(&config);
            open.extend(self.added.iter().rev());
        }
        None
    }

    /// Why to give up, if it is time to; asked once for each configuration that is led on.
    fn exceeded(&mut self) -> Option<StopReason> {
        self.work += 1;
        match self.work.is_multiple_of(256) {
            true => self.watch.exceeded(self.bytes(), self.work),
            false => None,
        }
    }

    fn unexplained(&self) -> SearchEnd {
        // INVARIANT: what returned later, or was called later, was not looked at.
        let last = u32::try_from(self.last.max(0)).map_or(NEVER, Rank::new);
        SearchEnd::Unexplained { last }
    }

    fn width(&self) -> usize {
        self.lists.enqueues.width.max(self.lists.dequeues.width)
    }

    fn is_done(&self, config: &Config<M>) -> bool {
        config.key.dequeued.base as usize == self.lists.dequeues.id.len()
            && config.empty as usize == self.lists.empty.id.len()
    }

    /// Adds the next enqueue and the next dequeue to a configuration, in every way.
    fn lead_on(&mut self, config: &Config<M>) {
        let lists = self.lists;
        let Key { enqueued, dequeued, used } = &config.key;
        let mut enqueues = candidates(&lists.enqueues, enqueued, &mut self.last);
        let limit = enqueued.next_return(&lists.enqueues);
        for (class, (value, pending)) in lists.pending_enqueues.iter().enumerate() {
            let from = class as u32;
            enqueues.extend(self.pending(pending, *used, from, limit, Some(*value)));
        }
        let mut dequeues = candidates(&lists.dequeues, dequeued, &mut self.last);
        let limit = dequeued.next_return(&lists.dequeues);
        // Before they return, those that find the queue empty may still dequeue something.
        let empty = lists.empty.invoked.partition_point(|invoked| *invoked <= limit);
        self.last = self.last.max(lists.empty_last[empty]);
        dequeues.extend(self.pending(&lists.pending_dequeues, *used, DEQUEUES, limit, None));
        for dequeue in &dequeues {
            for enqueue in &enqueues {
                let last_enqueue = config.last_enqueue.max(enqueue.invoked);
                if dequeue.value.is_some() && dequeue.value != enqueue.value
                    || dequeue.returned < last_enqueue
                {
                    continue;
                }
                let mut next = config.clone();
                next.last_enqueue = last_enqueue;
                next.last_dequeue = config.last_dequeue.max(dequeue.invoked);
                let enqueue_id = self.take(&mut next, enqueue, true);
                let dequeue_id = self.take(&mut next, dequeue, false);
                self.add(next, Some((enqueue_id, dequeue_id)));
            }
        }
    }

    /// The first pending operation of a class that is not used, if it may come before `limit`.
    fn pending(
        &self,
        pending: &Pending,
        used: u32,
        class: u32,
        limit: Time,
        value: Option<u32>,
    ) -> Option<Candidate> {
        let (invoked, _) = *pending.ops.get(self.used.count(used, class) as usize)?;
        let from = From::Pending(class);
        (invoked <= limit).then_some(Candidate { invoked, returned: Time::MAX, value, from })
    }

    fn take(&mut self, config: &mut Config<M>, candidate: &Candidate, enqueues: bool) -> OpId {
        let lists = self.lists;
        match candidate.from {
            From::Side(at) if enqueues => {
                config.key.enqueued.insert(at, &lists.enqueues);
                lists.enqueues.id[at]
            }
            From::Side(at) => {
                config.key.dequeued.insert(at, &lists.dequeues);
                lists.dequeues.id[at]
            }
            From::Pending(class) => {
                let pending = match enqueues {
                    true => &lists.pending_enqueues[class as usize].1,
                    false => &lists.pending_dequeues,
                };
                let count = self.used.count(config.key.used, class);
                config.key.used = self.used.one_more(config.key.used, class);
                pending.ops[count as usize].1
            }
        }
    }

    /// Adds a configuration to the next level, with all that can find the queue empty there, unless
    /// it is hopeless or known.
    fn add(&mut self, mut config: Config<M>, pair: Option<(OpId, OpId)>) {
        let Lists { enqueues, dequeues, empty, empty_returned, .. } = self.lists;
        let next_dequeue = config.key.dequeued.next_return(dequeues);
        if next_dequeue < config.last_enqueue {
            return;
        }
        let next_return = config.key.enqueued.next_return(enqueues).min(next_dequeue);
        let last_call = config.last_enqueue.max(config.last_dequeue);
        let from = config.empty as usize;
        let mut to = from;
        if next_return >= last_call {
            while to < empty.id.len() && empty.invoked[to] <= next_return {
                to += 1;
            }
        }
        // One that returned before the last call has no place here, and none later.
        if empty_returned[from] < last_call {
            self.last = last_call.max(self.last);
            return;
        }
        config.empty = to as u32;
        let position = *self.index.get(&config.key).unwrap_or(&u32::MAX);
        if let Some(known) = self.next.get(position as usize)
            && known.empty >= config.empty
        {
            return;
        }
        if let Some((enqueue, dequeue)) = pair {
            config.step = self.steps.push(enqueue, config.step);
            config.step = self.steps.push(dequeue, config.step);
        }
        for id in &empty.id[from..to] {
            config.step = self.steps.push(*id, config.step);
        }
        match self.next.get_mut(position as usize) {
            Some(known) => {
                *known = config;
                self.added.push(position);
            }
            None => {
                self.added.push(self.next.len() as u32);
                self.index.insert(config.key.clone(), self.next.len() as u32);
                self.next.push(config);
            }
        }
    }

    /// One order of all operations, from pairs and those that found the queue empty.
    fn unfolded(&self, step: u32) -> Vec<OpId> {
        let lists = self.lists;
        let invoked = times(lists);
        let mut taken = vec![false; lists.enqueues.id.len()];
        let place: FxHashMap<OpId, usize> =
            lists.enqueues.id.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        let empty: FxHashSet<OpId> = lists.empty.id.iter().copied().collect();
        let (mut enqueues, mut dequeues, mut cuts) = (Vec::new(), Vec::new(), Vec::new());
        let mut path = self.steps.path(step).into_iter();
        while let Some(id) = path.next() {
            if empty.contains(&id) {
                cuts.push((dequeues.len(), id));
                continue;
            }
            if let Some(at) = place.get(&id) {
                taken[*at] = true;
            }
            enqueues.push(id);
            dequeues.extend(path.next());
        }
        enqueues.extend((0..taken.len()).filter(|at| !taken[*at]).map(|at| lists.enqueues.id[at]));
        let mut order = merged(&enqueues, &dequeues, &cuts, &invoked);
        order.retain(|id| *id < lists.virtual_id);
        order
    }

    fn bytes(&self) -> usize {
        (self.level.capacity() + self.next.capacity()) * size_of::<Config<M>>()
            + self.index.capacity() * (size_of::<Key<M>>() + 8)
            + self.steps.bytes()
            + self.used.bytes()
    }
}

/// The operations that may come next on one side.
fn candidates<M: Mask>(side: &Side, first: &First<M>, last: &mut Time) -> Vec<Candidate> {
    let limit = first.next_return(side);
    let mut candidates: Vec<Candidate> = Vec::new();
    for at in first.base as usize..side.id.len() {
        if side.invoked[at] > limit {
            break;
        }
        if first.contains(at, side) {
            continue;
        }
        let (invoked, returned) = (side.invoked[at], side.returned[at]);
        *last = returned.max(*last);
        let value = Some(side.value[at]);
        // One with the same value that was called and returned earlier does as well.
        if !candidates.iter().any(|other| other.value == value && other.returned <= returned) {
            candidates.push(Candidate { invoked, returned, value, from: From::Side(at) });
        }
    }
    candidates
}

/// When operations were called and returned.
fn times(lists: &Lists) -> FxHashMap<OpId, (Time, Time)> {
    let mut times = FxHashMap::default();
    for side in [&lists.enqueues, &lists.dequeues, &lists.empty] {
        for (at, id) in side.id.iter().enumerate() {
            times.insert(*id, (side.invoked[at], side.returned[at]));
        }
    }
    let pending = lists.pending_enqueues.iter().map(|(_, pending)| pending);
    for pending in pending.chain([&lists.pending_dequeues]) {
        times.extend(pending.ops.iter().map(|(invoked, id)| (*id, (*invoked, Time::MAX))));
    }
    times
}

/// Merges the two orders. `cuts` says after how many pairs which operation finds the queue empty.
fn merged(
    enqueues: &[OpId],
    dequeues: &[OpId],
    cuts: &[(usize, OpId)],
    times: &FxHashMap<OpId, (Time, Time)>,
) -> Vec<OpId> {
    let mut first_return = vec![Time::MAX; dequeues.len() + 1];
    for at in (0..dequeues.len()).rev() {
        first_return[at] = first_return[at + 1].min(times[&dequeues[at]].1);
    }
    let mut order = Vec::with_capacity(enqueues.len() + dequeues.len() + cuts.len());
    let (mut e, mut d, mut cut) = (0, 0, 0);
    loop {
        while cut < cuts.len() && cuts[cut].0 == d && e == d {
            order.push(cuts[cut].1);
            cut += 1;
        }
        let limit = cuts.get(cut).map_or(enqueues.len(), |(limit, _)| *limit);
        // An enqueue goes ahead unless some dequeue that is left returned before its call.
        if e < limit && times[&enqueues[e]].0 <= first_return[d] {
            order.push(enqueues[e]);
            e += 1;
        } else if d < dequeues.len() && d < e {
            order.push(dequeues[d]);
            d += 1;
        } else if e < limit {
            // INVARIANT: not reached, or the orders could not be merged.
            order.push(enqueues[e]);
            e += 1;
        } else {
            return order;
        }
    }
}
