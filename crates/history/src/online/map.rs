//! Maps where no value is put twice under a key: which operations still matter.
//!
//! A map is the product of its keys, so each is looked at alone. As for `mwcas.rs`, what is dropped
//! is a set `D` of operations in an order `L` of the whole window, and what they leave under the
//! key is remembered. Let `K` be what is kept, and `F` what follows. `e` is the first call among
//! operations on this key that may still return. If an operation on the key never returns and is
//! not a `get`, nothing is dropped: it is not known what it found. Otherwise an operation is
//! dropped if
//! 1. it returned before `e`, so that it comes before all that may still return and all that
//!    follows;
//! 2. no operation in `K` returned before it was called;
//! 3. it found what the operations of `D` before it in `L` leave there;
//! 4. no operation in `K` found the value that it replaced or removed;
//! 5. it did not put the value that is there at the end of `D`, unless it returned before the call
//!    of every operation in `K` that found nothing.
//!
//! *If `K` and `F` are explained from what is remembered, so is everything:* `D` in the order of
//! `L`, then the rest.
//!
//! *If everything is explained by some order, leaving `D` out of it explains `K` and `F` from what
//! is remembered.* What follows, or may still return, comes after `D`. By 3 and 4 no operation in
//! `K` stands between one in `D` that puts a value and one in `D` that takes it away. So the
//! operations in `D` form stretches; those that begin and end with nothing there leave nothing when
//! they are left out. If a value is there at the end of `D`, the last stretch leaves it, to which
//! `K` and `F` add if any operation does; what comes before that stretch begins, if it is in `K`,
//! begins with an operation that found nothing, which comes after it by 5. The same holds for the
//! first stretch, if a value was remembered before.

use super::past::Contents;
use super::past::Past;
use super::window::Fate;
use super::window_rule::{WindowRule, unknown_past};
use linchpin_history_data::Monitored;
use linchpin_history_data::{Argument, History, NEVER, OpId, Rank, ValueId};
use linchpin_spec::{AnySpec, AnyState, Builtin, Call};
use linchpin_spec::{Map, Value};
use linchpin_verdict::Limits;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Maps, by windows.
pub(crate) struct Rule;

impl WindowRule for Rule {
    fn builtin(&self) -> Builtin {
        Builtin::Map
    }

    fn past(&self, init: Option<&Value>) -> Past {
        let given = match init {
            Some(Value::Map(given)) => BTreeMap::clone(given),
            _ => BTreeMap::new(),
        };
        Past::Contents(Contents::new(given, Some(Value::Null)))
    }

    fn brings(&self) -> Option<usize> {
        Some(Map::PUT)
    }

    fn start(&self, spec: &AnySpec, past: &Past) -> Option<AnyState> {
        let Past::Contents(contents) = past else { return None };
        let mut state = spec.initial();
        for (key, value) in contents.left() {
            let argument = Value::list([key.clone(), value.clone()]);
            let put = Call { operation: Map::PUT, argument };
            state = spec.apply(&state, &put, None).pop()?.state;
        }
        Some(state)
    }

    fn monitor(&self, history: &History, past: &Past, limits: &Limits) -> Monitored {
        match past {
            Past::Contents(contents) => {
                linchpin_monitor::map::check(history, &initial(history, contents), limits)
            }
            _ => unknown_past(),
        }
    }

    fn still_matter(
        &self,
        history: &History,
        fates: &[Fate],
        order: Option<&[OpId]>,
        past: &mut Past,
        _: &Limits,
    ) -> Vec<bool> {
        match (past, order) {
            (Past::Contents(contents), Some(order)) => {
                still_matter(history, fates, order, contents)
            }
            _ => vec![true; fates.len()],
        }
    }
}

/// So often it is tried again after operations had to be kept for the sake of later ones (5); then
/// everything is kept for now.
const ROUNDS: usize = 32;

/// What an operation found under its key and what it left there; only the latter may be known.
#[derive(Clone, Copy)]
struct Deed {
    key: ValueId,
    found: Option<ValueId>,
    left: Option<ValueId>,
}

/// What is known of a key.
#[derive(Clone, Copy)]
struct Entry {
    first_open: Rank,
    /// An operation on it never returns, and may have changed it.
    is_stuck: bool,
}

/// What is under the keys of the window before its first event, for the monitor.
pub(super) fn initial(history: &History, contents: &Contents) -> Value {
    let keys = history.operations.iter().filter_map(|operation| match operation.argument {
        Argument::One(key) | Argument::Two(key, _) => Some(history.values.get(key)),
        _ => None,
    });
    // Keys under which there is nothing are named too: what is said of "3" would be said of 3
    // otherwise.
    let entry = |key: Value| {
        let value = contents.get(&key).cloned().unwrap_or_default();
        (key, value)
    };
    Value::map(keys.map(entry))
}

/// Which operations still matter, where `order` explains all; what the others leave is noted in
/// `contents`.
fn still_matter(
    history: &History,
    fates: &[Fate],
    order: &[OpId],
    contents: &mut Contents,
) -> Vec<bool> {
    let deeds: Option<Vec<Deed>> = history.ids().map(|id| deed(history, id)).collect();
    let Some(deeds) = deeds else {
        return vec![true; fates.len()];
    };
    let mut keys: FxHashMap<ValueId, Entry> = FxHashMap::default();
    for (id, deed) in deeds.iter().enumerate() {
        let entry = keys.entry(deed.key).or_insert(Entry { first_open: NEVER, is_stuck: false });
        let operation = &history.operations[id];
        match fates[id] {
            Fate::Open(_) => entry.first_open = entry.first_open.min(operation.invoked),
            Fate::Gone => entry.is_stuck |= usize::from(operation.operation) != Map::GET,
            Fate::Returned | Fate::Retracted(_) => {}
        }
    }
    let mut settling = Settling { history, deeds: &deeds, keys, is_held: vec![false; fates.len()] };
    for _ in 0..ROUNDS {
        if let Some((mut keep, left)) = settling.run(order, contents) {
            for (key, value) in left {
                let get = |id| history.values.get(id);
                contents.set(get(key), get(value));
            }
            for (id, operation) in history.operations.iter().enumerate() {
                keep[id] &= fates[id] != Fate::Gone || usize::from(operation.operation) != Map::GET;
            }
            return keep;
        }
    }
    vec![true; fates.len()]
}

fn deed(history: &History, id: OpId) -> Option<Deed> {
    let operation = &history[id];
    let found = match (operation.completed, operation.response) {
        (false, _) => None,
        (true, Argument::One(found)) => Some(found),
        (true, _) => return None,
    };
    let (key, left) = match (usize::from(operation.operation), operation.argument) {
        (Map::PUT, Argument::Two(key, value)) => (key, Some(value)),
        (Map::REMOVE, Argument::One(key)) => (key, Some(ValueId::NULL)),
        (Map::GET, Argument::One(key)) => (key, found),
        _ => return None,
    };
    Some(Deed { key, found, left })
}

/// Deciding what is dropped.
struct Settling<'a> {
    history: &'a History,
    deeds: &'a [Deed],
    keys: FxHashMap<ValueId, Entry>,
    /// Must be kept because of condition 5.
    is_held: Vec<bool>,
}

impl Settling<'_> {
    /// Goes through the order once: what is kept, and what the others leave. Nothing if more has to
    /// be kept because of condition 5.
    fn run(
        &mut self,
        order: &[OpId],
        contents: &Contents,
    ) -> Option<(Vec<bool>, FxHashMap<ValueId, ValueId>)> {
        let (history, operations) = (self.history, &self.history.operations);
        let mut keep = vec![true; operations.len()];
        let mut left: FxHashMap<ValueId, ValueId> = FxHashMap::default();
        let mut writers: FxHashMap<ValueId, OpId> = FxHashMap::default();
        let mut seen_by_kept: FxHashSet<(ValueId, ValueId)> = FxHashSet::default();
        let mut first_return: FxHashMap<ValueId, Rank> = FxHashMap::default();
        for &id in order {
            let operation = &operations[id.index()];
            let Deed { key, found: Some(found), left: Some(leaves) } = self.deeds[id.index()]
            else {
                continue;
            };
            let held = || match left.get(&key) {
                Some(held) => Some(*held),
                None => match contents.get(&history.values.get(key)) {
                    None | Some(Value::Null) => Some(ValueId::NULL),
                    Some(value) => history.values.find(value),
                },
            };
            let changes = leaves != found;
            let is_dropped = self
                .keys
                .get(&key)
                .is_some_and(|entry| !entry.is_stuck && operation.returned < entry.first_open)
                && !self.is_held[id.index()]
                && first_return.get(&key).is_none_or(|first| operation.invoked < *first)
                && !(changes && seen_by_kept.contains(&(key, found)))
                && held() == Some(found);
            if is_dropped {
                keep[id.index()] = false;
                if changes {
                    left.insert(key, leaves);
                    writers.insert(key, id);
                }
            } else {
                if found != ValueId::NULL {
                    seen_by_kept.insert((key, found));
                }
                let first = first_return.entry(key).or_insert(NEVER);
                *first = operation.returned.min(*first);
            }
        }
        let mut is_done = true;
        for (id, deed) in self.deeds.iter().enumerate().filter(|(id, _)| keep[*id]) {
            let is_there = left.get(&deed.key).is_some_and(|value| *value != ValueId::NULL);
            if deed.found == Some(ValueId::NULL)
                && is_there
                && let Some(writer) = writers.get(&deed.key)
                && !operations[writer.index()].precedes(&operations[id])
            {
                self.is_held[writer.index()] = true;
                is_done = false;
            }
        }
        is_done.then_some((keep, left))
    }
}
