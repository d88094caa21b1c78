//! Histories of an object that consists of independent parts: each part is checked alone.
//!
//! A set is one bit for each element, a map one register for each key, and locations that no
//! operation touches together are objects of their own. Such a history can be explained if and only
//! if those of its parts can (Herlihy and Wing, TOPLAS 1990; Horn and Kroening, FORTE 2015, call it
//! P-compositionality), and the parts are much easier.

use linchpin_history_data::crash::Interrupted;
use linchpin_history_data::{Argument, History, OpId, ValueId};
use linchpin_spec::Value;
use rustc_hash::FxHashMap;

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
    split_ordered(history, ids, &[], by)
}

/// The same, where operations between which there is an order belong together.
pub fn split_ordered(
    history: &History,
    ids: &[OpId],
    order: &[Interrupted],
    by: SplitBy,
) -> Vec<Vec<OpId>> {
    let mut locations = Locations::new(history);
    for &id in ids {
        locations.touch(history, id, by);
    }
    let location = |id: OpId| locations.first[ids.binary_search(&id).ok()?];
    let pairs: Vec<(u32, u32)> = order
        .iter()
        .filter_map(|pair| Some((location(pair.operation)?, location(pair.next)?)))
        .collect();
    for (one, two) in pairs {
        locations.unite(one, two);
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
            self.unite(pair[0], pair[1]);
        }
        self.first.push(touched.first().copied());
    }

    fn unite(&mut self, one: u32, two: u32) {
        let (one, two) = (self.root(one), self.root(two));
        self.parent[one as usize] = two;
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
