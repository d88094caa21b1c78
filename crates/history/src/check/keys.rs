//! A history of many objects: each is judged alone, and no hard one keeps the others waiting.
//!
//! First every object is judged by its monitors, which take about as long as reading it. What is
//! left is searched in rounds: in each, every object that is still open is searched from the start,
//! for twice as many configurations as in the last; those with the fewest operations in progress
//! first. If the easiest violated object takes `t` configurations alone and `k` are open, it is
//! found after about `4 k t` of them, however hard the others are. Slices are counted and not
//! timed, so that the same objects are decided in every run.

use super::object::{Answer, OneObject, search_quickly};
use super::verdicts::put_together;
use super::{CheckOptions, Checked, KeyChecked, KeyVerdict, NO_METHOD};
use crate::data_type::data_type;
use linchpin_history_data::crash::Interrupted;
use linchpin_history_data::{
    History, Judgement, NEVER, Object, OpId, Part, Rank, ValueId, Violation,
};
use linchpin_monitor::StopPoll;
use linchpin_search::SearchOptions;
use linchpin_verdict::{Inconclusive, Limits, StopReason};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many configurations of each object are looked at in the first round.
const FIRST_SLICE: u64 = 1 << 12;

/// Histories with fewer operations are judged on one thread.
const SHORT: usize = 1000;

/// All searched objects together may take so many times [`SearchOptions::core_time`] to say why
/// they are violated. One of them takes half of what is left at most.
const EXPLAINING: u32 = 3;

/// Judges each object alone, and puts the answers together.
pub(super) fn check(
    object: &Object,
    history: &History,
    interrupted: &[Interrupted],
    options: &CheckOptions,
    poll: &StopPoll,
) -> Checked {
    let keys = match keys_of(history, interrupted, poll) {
        Ok(keys) => keys,
        Err(stopped) => return Checked::new(stopped, NO_METHOD.to_owned(), Vec::new()),
    };
    let judging = Judging {
        object,
        history,
        options,
        keys: &keys,
        settled: Mutex::new(keys.iter().map(|_| None).collect()),
        explaining: Mutex::new(options.search.core_time * EXPLAINING),
    };
    let open = judging.monitor_all();
    judging.search_all(open);
    let settled = judging.settled.into_inner().unwrap_or_else(PoisonError::into_inner);
    put_together(history, settled.into_iter().flatten().collect(), poll)
}

/// The operations of one object, in the order of their calls.
struct Key {
    value: ValueId,
    ids: Vec<OpId>,
    interrupted: Vec<Interrupted>,
}

/// The objects, in the order of their first calls.
fn keys_of(
    history: &History,
    interrupted: &[Interrupted],
    poll: &StopPoll,
) -> Result<Vec<Key>, StopReason> {
    let mut numbers: Vec<Option<usize>> = vec![None; history.values.len()];
    let mut keys: Vec<Key> = Vec::new();
    for (id, operation) in history.iter() {
        poll.step()?;
        let number = *numbers[operation.key.index()].get_or_insert_with(|| {
            keys.push(Key { value: operation.key, ids: Vec::new(), interrupted: Vec::new() });
            keys.len() - 1
        });
        keys[number].ids.push(id);
    }
    for pair in interrupted {
        // An operation and the next one of its process are ordered if they are of one object.
        let number = numbers[history[pair.operation].key.index()];
        if let Some(key) = number.and_then(|number| keys.get_mut(number)) {
            key.interrupted.push(*pair);
        }
    }
    Ok(keys)
}

impl Key {
    /// The order between interrupted operations and the next, in the ids of its part.
    fn order(&self) -> Vec<Interrupted> {
        let place = |id: OpId| self.ids.binary_search(&id).ok().map(OpId::new);
        let pair = |pair: &Interrupted| {
            Some(Interrupted { operation: place(pair.operation)?, next: place(pair.next)? })
        };
        self.interrupted.iter().filter_map(pair).collect()
    }
}

/// What is known of an object.
pub(super) struct Settled {
    pub(super) checked: KeyChecked,
    /// If it holds: its operations, in the order in which they take effect.
    pub(super) order: Vec<OpId>,
    /// Why faster methods did not apply.
    pub(super) notes: Vec<String>,
}

/// An object that no monitor judges.
struct Open {
    key: usize,
    part: Part,
    order: Vec<Interrupted>,
    notes: Vec<String>,
    /// How many operations are in progress at a time at most.
    in_progress: usize,
}

/// What is left to do for an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// It is settled.
    Nothing,
    /// It may be decided by a larger slice.
    NeedsTime,
    /// It may be decided if it does not share the memory.
    NeedsMemory,
}

struct Judging<'a> {
    object: &'a Object,
    history: &'a History,
    options: &'a CheckOptions,
    keys: &'a [Key],
    settled: Mutex<Vec<Option<Settled>>>,
    /// How long searched objects may still take to say why they are violated.
    explaining: Mutex<Duration>,
}

impl Judging<'_> {
    /// Judges all objects by their monitors; what is left, the easiest first.
    fn monitor_all(&self) -> Vec<Open> {
        let open: Mutex<Vec<Open>> = Mutex::default();
        self.on_all_cores(self.keys.len(), |key, share| {
            if let Some(left) = self.monitor(key, share) {
                open.lock().unwrap_or_else(PoisonError::into_inner).push(left);
            }
        });
        let mut open = open.into_inner().unwrap_or_else(PoisonError::into_inner);
        open.sort_unstable_by_key(|open| (open.in_progress, open.key));
        open
    }

    /// Judges an object by its monitors; gives it back if none applies.
    fn monitor(&self, key: usize, share: usize) -> Option<Open> {
        let limits = self.limits(share, self.options.limits.configurations);
        if let Some(by) = limits.exceeded(0) {
            let answer = Answer::open(by.into());
            self.settle(key, None, answer);
            return None;
        }
        let Key { ids, interrupted, .. } = &self.keys[key];
        if interrupted.is_empty() && self.quick_first() {
            let search = &self.options.search;
            if let Some(answer) = search_quickly(self.object, self.history, ids, &limits, search) {
                self.settle(key, None, answer);
                return None;
            }
        }
        let part = Part::new(self.history, ids);
        let (order, mut notes) = (self.keys[key].order(), Vec::new());
        let one = self.one(&part, &order);
        match one.monitor(&limits, &self.options.search, &mut notes) {
            Some(answer) => {
                self.settle(key, Some(&part), Answer { notes, ..answer });
                None
            }
            None => {
                let in_progress = in_progress(&part.history);
                Some(Open { key, part, order, notes, in_progress })
            }
        }
    }

    /// Searches objects in rounds, until all are decided or the limits say that it is enough.
    fn search_all(&self, mut open: Vec<Open>) {
        let most = self.options.limits.configurations.unwrap_or(u64::MAX);
        let mut slice = FIRST_SLICE.min(most);
        let mut large = Vec::new();
        while !open.is_empty() {
            if open.len() == 1 {
                slice = most;
            }
            let left = self.round(&open, slice, slice >= most);
            let mut next = Vec::new();
            for (open, left) in open.into_iter().zip(left) {
                match left {
                    Left::Nothing => {}
                    Left::NeedsTime => next.push(open),
                    Left::NeedsMemory => large.push(open),
                }
            }
            open = next;
            slice = slice.saturating_mul(2).min(most);
        }
        // What needed more memory than its share gets all of it in the end.
        for open in large {
            self.round(&[open], most, true);
        }
    }

    /// Searches each of these objects for so many configurations; what is left to do for each. In
    /// the last round that is nothing.
    fn round(&self, open: &[Open], slice: u64, is_last: bool) -> Vec<Left> {
        let left = Mutex::new(vec![Left::Nothing; open.len()]);
        self.on_all_cores(open.len(), |at, share| {
            let needs = self.search(&open[at], slice, share, is_last);
            left.lock().unwrap_or_else(PoisonError::into_inner)[at] = needs;
        });
        left.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Searches an object for so many configurations, while so many share the memory.
    fn search(&self, open: &Open, slice: u64, share: usize, is_last: bool) -> Left {
        let Open { key, part, order, notes, .. } = open;
        let core_time = self.core_time();
        let search = SearchOptions {
            core_time,
            event_time: core_time.min(self.options.search.event_time),
            parallel: self.options.search.parallel && share == 1,
            ..self.options.search.clone()
        };
        let limits = self.limits(share, (slice != u64::MAX).then_some(slice));
        let start = Instant::now();
        let answer = self.one(part, order).search(&limits, &search, notes.clone());
        if let Judgement::Inconclusive(reason) = &answer.judgement
            && !is_last
            && self.options.limits.exceeded(0).is_none()
        {
            match reason.stopped_by() {
                Some(StopReason::Budget) => return Left::NeedsTime,
                // Alone it has had all.
                Some(StopReason::Memory) if share > 1 => return Left::NeedsMemory,
                _ => {}
            }
        }
        if answer.judgement.violation().is_some() {
            self.explained(core_time.min(start.elapsed()));
        }
        self.settle(*key, Some(part), answer);
        Left::Nothing
    }

    /// How long the next searched object may take to say why it is violated.
    fn core_time(&self) -> Duration {
        let left = *self.explaining.lock().unwrap_or_else(PoisonError::into_inner);
        self.options.search.core_time.min(left / 2)
    }

    fn explained(&self, time: Duration) {
        let mut left = self.explaining.lock().unwrap_or_else(PoisonError::into_inner);
        *left = left.saturating_sub(time);
    }

    fn one<'b>(&'b self, part: &'b Part, interrupted: &'b [Interrupted]) -> OneObject<'b> {
        let (monitors, quick) = (self.options.monitors, !self.quick_first());
        OneObject { object: self.object, history: &part.history, interrupted, monitors, quick }
    }

    /// Whether a quick search goes before anything else: where no monitor is faster, and where the
    /// history is so short that it costs less than to put a part together.
    fn quick_first(&self) -> bool {
        let at = self.object.data_type().and_then(|builtin| data_type(builtin).quick_after());
        self.options.monitors && at == Some(0) && self.history.operations.len() < SHORT
    }

    /// The limits of one of so many that share the memory.
    fn limits(&self, share: usize, configurations: Option<u64>) -> Limits {
        let memory = self.options.limits.memory.map(|bytes| bytes / share);
        Limits { memory, configurations, ..self.options.limits.clone() }
    }

    /// Does so many pieces of work on all cores, the first ones first. Each is told how many there
    /// are at a time.
    fn on_all_cores(&self, count: usize, work: impl Fn(usize, usize) + Sync) {
        let cores = || thread::available_parallelism().map_or(1, |cores| cores.get());
        let is_alone = !self.options.search.parallel || self.history.operations.len() < SHORT;
        let workers = if is_alone || count <= 1 { 1 } else { cores().min(count) };
        let next = AtomicUsize::new(0);
        let run = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= count {
                    return;
                }
                work(at, workers);
            }
        };
        thread::scope(|scope| {
            // Where no thread can be made, this one does all the work.
            for _ in 1..workers {
                let _ = thread::Builder::new().spawn_scoped(scope, run);
            }
            run();
        });
    }

    /// Writes down what is known of an object, in the terms of the whole history, and tells of it.
    fn settle(&self, key: usize, part: Option<&Part>, answer: Answer) {
        let Key { value, ids, .. } = &self.keys[key];
        let Answer { judgement, method, possible, notes } = answer;
        let id = |id: OpId| part.map_or(id, |part| part.id(id));
        let mut order = Vec::new();
        let verdict = match judgement {
            Judgement::Holds(witness) => {
                order = witness.order.into_iter().map(id).collect();
                KeyVerdict::Holds
            }
            Judgement::Violated(violation) => {
                let violation = Violation {
                    core: violation.core.into_iter().map(id).collect(),
                    blamed: violation.blamed.into_iter().map(id).collect(),
                    explanation: violation.explanation,
                    at: violation.at.map(|at| part.map_or(at, |part| part.rank(at))),
                };
                KeyVerdict::Violated { violation, possible }
            }
            Judgement::Inconclusive(Inconclusive::Explained { by, events, .. }) => {
                // The events of this object before one of them are those before it of them all.
                let events = match part {
                    Some(part) if events < part.history.events.number() => {
                        part.rank(Rank::new(events)).number()
                    }
                    _ => self.history.events.number(),
                };
                let of = self.history.events.number();
                KeyVerdict::Open(Inconclusive::Explained { by, events, of })
            }
            Judgement::Inconclusive(reason) => KeyVerdict::Open(reason),
        };
        let checked = KeyChecked { key: *value, operations: ids.len(), verdict, method };
        if let (KeyVerdict::Violated { .. }, Some(observer)) =
            (&checked.verdict, &self.options.observer)
        {
            (observer.0)(self.history, &checked);
        }
        let settled = Settled { checked, order, notes };
        self.settled.lock().unwrap_or_else(PoisonError::into_inner)[key] = Some(settled);
    }
}

impl Answer {
    fn open(reason: Inconclusive) -> Answer {
        let judgement = Judgement::Inconclusive(reason);
        let (possible, notes) = (Vec::new(), Vec::new());
        Answer { judgement, method: NO_METHOD.to_owned(), possible, notes }
    }
}

/// How many operations are in progress at a time at most.
fn in_progress(history: &History) -> usize {
    let mut changes = vec![0_isize; history.events.index() + 1];
    for operation in &history.operations {
        changes[operation.invoked.index()] += 1;
        if operation.returned != NEVER {
            changes[operation.returned.index()] -= 1;
        }
    }
    let mut now = 0_isize;
    let most = changes.into_iter().map(|change| {
        now += change;
        now
    });
    most.max().map_or(0, |most| most.unsigned_abs())
}
