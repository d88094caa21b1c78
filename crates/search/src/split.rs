//! Histories of an object that consists of independent parts: each part is checked alone.
//!
//! A set is one bit for each element, a map one register for each key, and locations that no
//! operation touches together are objects of their own. Such a history can be explained if and only
//! if those of its parts can (Herlihy and Wing, TOPLAS 1990; Horn and Kroening, FORTE 2015, call it
//! P-compositionality), and the parts are much easier.

use super::breadth_first::SearchEnd;
use super::merge::merge;
use super::problem::{Item, Problem};
use super::race::decide;
use super::shrink::{Bound, first_violated};
use super::{Again, Knowledge, SearchOptions, Searched, Watch, explain};
use linchpin_history_data::{Argument, History, Judgement, NEVER, OpId, Rank, ValueId, Witness};
use linchpin_spec::{Spec, Value};
use linchpin_verdict::{Limits, StopReason};
use rustc_hash::FxHashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;

/// What makes operations belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitBy {
    /// The key that is recorded with them:
    /// [`Operation::key`](linchpin_history_data::Operation::key).
    Key,
    /// The argument, or its first value: the element of a set, the key of a map.
    FirstValue,
    /// The locations that they touch: a list of words, each with its location at this position.
    /// Locations that one operation touches together belong together.
    Locations(usize),
}

/// Splits operations, given in the order of their calls, into as many parts as possible, each in
/// that order.
pub fn split(history: &History, ids: &[OpId], by: SplitBy) -> Vec<Vec<OpId>> {
    let mut locations = Locations::new(history);
    for &id in ids {
        locations.touch(history, id, by);
    }
    let mut numbers: FxHashMap<u32, usize> = FxHashMap::default();
    let mut parts: Vec<Vec<OpId>> = Vec::new();
    for (at, &id) in ids.iter().enumerate() {
        let part = match locations.first[at] {
            Some(location) => *numbers.entry(locations.root(location)).or_insert(parts.len()),
            // It touches nothing, so that it is a part of its own.
            None => parts.len(),
        };
        if part == parts.len() {
            parts.push(Vec::new());
        }
        parts[part].push(id);
    }
    parts
}

/// Which locations belong together: a forest over the ids of values.
struct Locations {
    parent: Vec<u32>,
    /// Locations that are no value of the history by themselves, but part of one.
    others: FxHashMap<Value, u32>,
    /// For each operation one location that it touches.
    first: Vec<Option<u32>>,
}

impl Locations {
    fn new(history: &History) -> Locations {
        let parent = (0..history.values.len() as u32).collect();
        Locations { parent, others: FxHashMap::default(), first: Vec::new() }
    }

    fn touch(&mut self, history: &History, id: OpId, by: SplitBy) {
        let operation = &history[id];
        let touched: Vec<u32> = match (by, operation.argument) {
            (SplitBy::Key, _) => vec![operation.key.0],
            (SplitBy::FirstValue, Argument::One(first) | Argument::Two(first, _)) => vec![first.0],
            (SplitBy::Locations(at), Argument::Words { .. }) if at < 3 => {
                history.words(operation.argument).iter().map(|word| word[at].0).collect()
            }
            (SplitBy::Locations(at), Argument::One(list)) => self.listed(history, list, at),
            _ => Vec::new(),
        };
        for pair in touched.windows(2) {
            let (one, two) = (self.root(pair[0]), self.root(pair[1]));
            self.parent[one as usize] = two;
        }
        self.first.push(touched.first().copied());
    }

    /// The locations in a list that is kept as one value.
    fn listed(&mut self, history: &History, list: ValueId, at: usize) -> Vec<u32> {
        let list = history.values.get(list);
        let words = list.as_list().unwrap_or_default();
        let locations = words.iter().filter_map(|word| word.as_list()?.get(at));
        locations
            .map(|location| match history.values.find(location) {
                Some(id) => id.0,
                None => *self.others.entry(location.clone()).or_insert_with(|| {
                    self.parent.push(self.parent.len() as u32);
                    self.parent.len() as u32 - 1
                }),
            })
            .collect()
    }

    fn root(&mut self, mut location: u32) -> u32 {
        while self.parent[location as usize] != location {
            let parent = self.parent[location as usize];
            self.parent[location as usize] = self.parent[parent as usize];
            location = parent;
        }
        location
    }
}

/// Searches the parts of a history, each alone, and puts the answers together.
///
/// The parts must be independent: no operation of one may change what operations of another can
/// answer.
pub fn search_parts<S: Spec + ?Sized + Sync>(
    spec: &S,
    history: &History,
    parts: &[Vec<OpId>],
    limits: &Limits,
    options: &SearchOptions,
) -> Searched
where
    S::State: 'static,
{
    let search = PartSearch {
        spec,
        history,
        parts,
        limits,
        options,
        next: AtomicUsize::new(0),
        earliest: AtomicU32::new(NEVER.number()),
        answers: Mutex::default(),
    };
    let workers = thread::available_parallelism().map_or(1, |count| count.get()).min(parts.len());
    if workers <= 1 || history.operations.len() < 1000 {
        search.work();
    } else {
        thread::scope(|scope| {
            // Where no thread can be made, this one does all the work.
            for _ in 1..workers {
                let _ = thread::Builder::new().spawn_scoped(scope, || search.work());
            }
            search.work();
        });
    }
    search.answer()
}

/// The parts, and what is known of them.
struct PartSearch<'a, S: Spec + ?Sized> {
    spec: &'a S,
    history: &'a History,
    parts: &'a [Vec<OpId>],
    limits: &'a Limits,
    options: &'a SearchOptions,
    /// The next part to be searched.
    next: AtomicUsize,
    /// The first event known not to be explained. What comes after it does not matter.
    earliest: AtomicU32,
    answers: Mutex<Vec<(usize, Answer)>>,
}

enum Answer {
    Order(Vec<OpId>),
    /// At this event, given the events up to `last`.
    Unexplained {
        rank: Rank,
        last: Rank,
        found: OpId,
        first: Option<OpId>,
    },
    Stopped(StopReason, Rank),
}

impl<S: Spec + ?Sized + Sync> PartSearch<'_, S>
where
    S::State: 'static,
{
    /// The operations of a part, as the events up to `last` show them.
    fn items(&self, part: usize, last: Rank) -> Vec<Item> {
        let items = self.parts[part].iter().map(|id| Item::of(self.history, *id));
        items.filter_map(|item| item.until(self.history, last)).collect()
    }

    fn judge(&self) -> Again<'_, S> {
        let PartSearch { spec, history, limits, options, .. } = *self;
        Again { spec, history, limits, options, known: Knowledge::default() }
    }

    fn work(&self) {
        loop {
            let part = self.next.fetch_add(1, Ordering::Relaxed);
            if part >= self.parts.len() {
                return;
            }
            let last = Rank::new(self.earliest.load(Ordering::Relaxed));
            let items = self.items(part, last);
            let problem = Problem::new(self.history, &items, self.options);
            let race = self.parts.len() == 1;
            let watch = Watch::new(self.limits);
            let rank = |event: usize| problem.events.get(event).map_or(NEVER, |event| event.rank);
            let answer = match decide(self.spec, &problem, self.options, &watch, race) {
                SearchEnd::Explained(order) => {
                    Answer::Order(order.iter().map(|op| problem.ops[*op as usize].id).collect())
                }
                SearchEnd::Unexplained { event } => {
                    let found = problem.ops[problem.events[event].op as usize].id;
                    let mut judge = self.judge();
                    let first =
                        first_violated(self.history, &items, Bound::From(found), &mut judge);
                    let rank = self.history[first.unwrap_or(found)].returned;
                    if first.is_some() {
                        self.earliest.fetch_min(rank.number(), Ordering::Relaxed);
                    }
                    Answer::Unexplained { rank, last, found, first }
                }
                SearchEnd::Stopped { reason, event } => Answer::Stopped(reason, rank(event)),
            };
            if let Ok(mut answers) = self.answers.lock() {
                answers.push((part, answer));
            }
        }
    }

    fn answer(self) -> Searched {
        let (mut orders, mut stuck, mut stopped) = (Vec::new(), Vec::new(), Vec::new());
        let answers = self.answers.lock().map(|mut answers| std::mem::take(&mut *answers));
        for (part, answer) in answers.unwrap_or_default() {
            match answer {
                Answer::Order(order) => orders.push(order),
                Answer::Stopped(reason, rank) => stopped.push((rank, reason)),
                Answer::Unexplained { rank, last, found, first } => {
                    stuck.push((rank, part, last, found, first));
                }
            }
        }
        // The events before this one are explained, in the parts that were not searched to the end.
        let stopped = stopped.into_iter().min_by_key(|(rank, _)| *rank);
        let explained = stopped.as_ref().map_or(NEVER, |(explained, _)| *explained);
        if let Some((rank, part, last, found, first)) = stuck.into_iter().min() {
            let items = self.items(part, last);
            let mut judge = self.judge();
            let mut searched = judge.violated(&items, found, first);
            if let Judgement::Violated(violation) = &mut searched.judgement
                && explained < rank
            {
                violation.at = None;
                searched.explained = explained;
            }
            return searched;
        }
        if let Some((_, reason)) = stopped {
            let explained = explained.min(self.history.events);
            let judgement =
                Judgement::Inconclusive(explain::stopped(reason, explained, self.history));
            return Searched { judgement, possible: Vec::new(), explained };
        }
        let judgement = Judgement::Holds(Witness { order: merge(self.history, &orders) });
        Searched { judgement, possible: Vec::new(), explained: self.history.events }
    }
}
