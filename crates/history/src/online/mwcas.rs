//! Multi-word compare-and-swap where no value is written twice to a location: which operations
//! still matter.
//!
//! What is dropped is a set `D` of operations that come first in an order `L` of the whole window,
//! taken without the others, and what they leave in each location is remembered. Let `K` be what is
//! kept, and `F` what follows. `e` is the first call among the operations that may still return. An
//! operation is dropped if
//! 1. it returned before `e`; or it never returns, but an operation that returned before `e` saw
//!    what it wrote, or what an operation like it wrote that saw what this one wrote. So in every
//!    order it comes before all that may still return and all that follows;
//! 2. no operation in `K` returned before it was called;
//! 3. its answer is right where the operations of `D` come in the order of `L`, and none else. In
//!    particular all that it saw was written in `D`, or remembered, and where it failed a
//!    replacement in `D` explains that;
//! 4. no operation in `K` saw what it replaced;
//! 5. it did not write what a location holds at the end of `D` and what an operation in `K` failed
//!    to find, unless an operation saw or wrote that and returned before the failed one was called.
//!
//! *If `K` and `F` are explained from what is remembered, so is everything:* `D` in the order of
//! `L`, then the rest. By 2 that respects time, by 3 the answers in `D` are right.
//!
//! *If everything is explained by some order, leaving `D` out of it explains `K` and `F` from what
//! is remembered.* What an operation of these saw is one of three. It was written in `K` or `F`:
//! then no operation in `D` replaced it, by 3. Or `D` left it: then it is there from the start. Or
//! it was replaced in `D`: not by what is in `K`, by 4, and not by what may still return, or
//! follows, as that comes after all of `D` by 1. One that never returns and sees what was replaced
//! in `D` has no effect, or, if it does not replace it, counts for 4. An operation that failed to
//! find a value in a location, which that holds when `D` is left out, failed before the value was
//! written in `D`: so it is in `K`, and that is ruled out by 5.
//!
//! A value that is written again after it was replaced in `D` is a new one: who may still see it
//! comes after `D`, and others have not seen it, by 4.
//!
//! `L` is the order that the monitor found for the window. As it respects time and what was seen,
//! each of 1 to 4 can be decided for one operation after the other.

use super::past::Contents;
use super::past::Past;
use super::window::Fate;
use super::window_rule::{WindowRule, searched, unknown_past};
use linchpin_history_data::Monitored;
use linchpin_history_data::{Argument, History, NEVER, NotApplicable, OpId, Rank, ValueId};
use linchpin_spec::{AnySpec, AnyState, Builtin, Call};
use linchpin_spec::{Mwcas, Value};
use linchpin_verdict::Limits;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Multi-word memories, by windows.
pub(crate) struct Rule;

impl WindowRule for Rule {
    fn builtin(&self) -> Builtin {
        Builtin::Mwcas
    }

    fn past(&self, init: Option<&Value>) -> Past {
        Past::Contents(match init {
            Some(Value::Map(given)) => Contents::new(BTreeMap::clone(given), None),
            all => Contents::new(BTreeMap::new(), all.cloned()),
        })
    }

    fn start(&self, spec: &AnySpec, past: &Past) -> Option<AnyState> {
        let Past::Contents(contents) = past else { return None };
        let mut state = spec.initial();
        for (location, value) in contents.left() {
            let asked = Value::list([Value::list([location.clone(), Value::Null])]);
            let read = Call { operation: Mwcas::MWREAD, argument: asked };
            let answer = spec.apply(&state, &read, None).pop()?.response;
            let held = answer.as_list()?.first()?.as_list()?.get(1)?.clone();
            let word = Value::list([location.clone(), held, value.clone()]);
            let swap = Call { operation: Mwcas::MWCAS, argument: Value::list([word]) };
            state = spec.apply(&state, &swap, Some(&Value::Bool(true))).pop()?.state;
        }
        Some(state)
    }

    fn monitor(&self, history: &History, past: &Past, limits: &Limits) -> Monitored {
        let Past::Contents(contents) = past else { return unknown_past() };
        let initial = initial(history, contents)?;
        linchpin_monitor::mwcas::check(history, Some(&initial), limits)
    }

    fn search(&self, history: &History, past: &Past, limits: &Limits) -> Monitored {
        let Past::Contents(contents) = past else { return unknown_past() };
        searched(self.builtin(), initial(history, contents)?, history, limits)
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

/// A value in a location.
type Version = (ValueId, ValueId);

/// What an operation did, or does if it takes effect.
#[derive(Debug, Default)]
struct Deed {
    seen: SmallVec<[Version; 4]>,
    /// What it replaced, and by what. INVARIANT: these are in `seen` too.
    replaced: SmallVec<[(Version, ValueId); 4]>,
    /// If it failed: what was expected, of which something was not there.
    missed: SmallVec<[Version; 4]>,
}

/// In place of a value that the window does not mention.
const UNMENTIONED: ValueId = ValueId(u32::MAX);

/// So often it is tried again after operations had to be kept for the sake of later ones (5); then
/// everything is kept for now.
const ROUNDS: usize = 64;

/// What the locations of the window hold before its first event, for the monitor.
///
/// # Errors
///
/// If that cannot be said to it.
pub(super) fn initial(history: &History, contents: &Contents) -> Result<Value, NotApplicable> {
    let locations: FxHashSet<ValueId> =
        history.words.iter().map(|[location, ..]| *location).collect();
    let (mut known, mut unknown) = (BTreeMap::new(), Vec::new());
    for location in locations {
        let location = history.values.get(location);
        match contents.get(&location) {
            Some(value) => drop(known.insert(location, value.clone())),
            None => unknown.push(location),
        }
    }
    let is_named = |int: &i64| known.contains_key(&Value::str(&int.to_string()));
    match unknown.iter().filter_map(|location| location.as_int()).find(is_named) {
        Some(int) => Err(NotApplicable { reason: format!("\"{int}\" and {int} are locations") }),
        None => Ok(Value::Map(known.into())),
    }
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
    let mut settling = Settling::new(history, fates, order, &deeds);
    for _ in 0..ROUNDS {
        settling.run(order, contents);
        if settling.hold_back() {
            continue;
        }
        for (location, value) in &settling.left {
            let get = |id| history.values.get(id);
            contents.set(get(*location), get(*value));
        }
        // A read that never returns does not matter.
        let mut keep = settling.keep;
        for (id, operation) in history.operations.iter().enumerate() {
            keep[id] &=
                fates[id] != Fate::Gone || usize::from(operation.operation) != Mwcas::MWREAD;
        }
        return keep;
    }
    vec![true; fates.len()]
}

/// What an operation did; `None` if it is none of a memory.
fn deed(history: &History, id: OpId) -> Option<Deed> {
    let operation = &history[id];
    let mut deed = Deed::default();
    if usize::from(operation.operation) == Mwcas::MWREAD {
        match (operation.completed, operation.response) {
            (false, _) => {}
            (true, Argument::Words { width: 2, .. }) => {
                deed.seen = pairs(history.words(operation.response));
            }
            (true, _) => return None,
        }
        return Some(deed);
    }
    let Argument::Words { width: 3, .. } = operation.argument else {
        return None;
    };
    let words = history.words(operation.argument);
    let answer = match (operation.completed, operation.response) {
        (false, _) => Value::Bool(true),
        (true, Argument::One(answer)) => history.values.get(answer),
        (true, _) => return None,
    };
    match &answer {
        Value::Bool(true) => {
            deed.seen = pairs(words);
            let replaced = words.iter().filter(|[_, expected, new]| expected != new);
            deed.replaced = replaced.map(|[at, expected, new]| ((*at, *expected), *new)).collect();
        }
        Value::Bool(false) => deed.missed = pairs(words),
        Value::Map(fields) => {
            let (field, content) = fields.first_key_value()?;
            match field {
                Value::Str(field) if &**field == "failed" => {
                    let at = history.values.find(content)?;
                    deed.missed = pairs(words).into_iter().filter(|(of, _)| *of == at).collect();
                }
                Value::Str(field) if &**field == "read" => {
                    deed.missed = pairs(words);
                    for pair in content.as_list()? {
                        let [at, value] = pair.as_list()? else { return None };
                        let id = |value| history.values.find(value).unwrap_or(UNMENTIONED);
                        deed.seen.push((id(at), id(value)));
                    }
                }
                _ => return None,
            }
        }
        _ => return None,
    }
    Some(deed)
}

fn pairs(words: &[[ValueId; 3]]) -> SmallVec<[Version; 4]> {
    words.iter().map(|[at, value, _]| (*at, *value)).collect()
}

/// Deciding what is dropped.
struct Settling<'a> {
    history: &'a History,
    deeds: &'a [Deed],
    /// Condition 1.
    is_settled: Vec<bool>,
    /// Must be kept because of condition 5.
    is_held: Vec<bool>,
    /// What some operation of the window writes.
    written: FxHashSet<Version>,
    /// What a location held before the window, where an operation that returned saw what no
    /// operation wrote.
    beginnings: FxHashMap<ValueId, ValueId>,
    /// When the first operation returned that saw a version or wrote it.
    shown: FxHashMap<Version, Rank>,
    /// What operations without a place in the order saw if they took effect, and did not replace.
    seen_from_outside: FxHashSet<Version>,
    keep: Vec<bool>,
    /// What the dropped operations left in each location, and which of them wrote it, if one did.
    left: FxHashMap<ValueId, ValueId>,
    writers: FxHashMap<Version, OpId>,
}

impl<'a> Settling<'a> {
    fn new(
        history: &'a History,
        fates: &[Fate],
        order: &[OpId],
        deeds: &'a [Deed],
    ) -> Settling<'a> {
        let is_open = |id: &usize| matches!(fates[*id], Fate::Open(_));
        let open = (0..fates.len()).filter(is_open).map(|id| history.operations[id].invoked);
        let first_open = open.min().unwrap_or(NEVER);
        let mut settling = Settling {
            history,
            deeds,
            is_settled: vec![false; fates.len()],
            is_held: vec![false; fates.len()],
            written: FxHashSet::default(),
            beginnings: FxHashMap::default(),
            shown: FxHashMap::default(),
            seen_from_outside: FxHashSet::default(),
            keep: Vec::new(),
            left: FxHashMap::default(),
            writers: FxHashMap::default(),
        };
        let mut is_placed = vec![false; fates.len()];
        let mut seen: FxHashSet<Version> = FxHashSet::default();
        for &id in order.iter().rev() {
            let (operation, deed) = (&history[id], &deeds[id.index()]);
            is_placed[id.index()] = true;
            let wrote = deed.replaced.iter().map(|((at, _), new)| (*at, *new));
            let is_settled = match fates[id.index()] {
                Fate::Returned => operation.returned < first_open,
                Fate::Gone => wrote.clone().any(|version| seen.contains(&version)),
                Fate::Open(_) | Fate::Retracted(_) => false,
            };
            if is_settled {
                seen.extend(&deed.seen);
            }
            settling.is_settled[id.index()] = is_settled;
        }
        for (id, deed) in deeds.iter().enumerate() {
            settling.written.extend(deed.replaced.iter().map(|((at, _), new)| (*at, *new)));
            if fates[id] == Fate::Gone && !is_placed[id] {
                let is_replaced = |version: &&Version| {
                    deed.replaced.iter().any(|(replaced, _)| replaced == *version)
                };
                let seen = deed.seen.iter().filter(|version| !is_replaced(version));
                settling.seen_from_outside.extend(seen);
            }
        }
        for (id, deed) in deeds.iter().enumerate().filter(|(id, _)| fates[*id] == Fate::Returned) {
            debug_assert!(is_placed[id], "all that returned is in the order");
            let returned = history.operations[id].returned;
            let wrote = deed.replaced.iter().map(|((at, _), new)| (*at, *new));
            for version in deed.seen.iter().copied().chain(wrote) {
                let first = settling.shown.entry(version).or_insert(returned);
                *first = returned.min(*first);
            }
            let written = &settling.written;
            let beginnings = deed.seen.iter().filter(|version| !written.contains(*version));
            settling.beginnings.extend(beginnings.copied());
        }
        settling
    }

    /// Goes through the order once.
    fn run(&mut self, order: &[OpId], contents: &Contents) {
        self.keep = vec![true; self.deeds.len()];
        self.left.clear();
        self.writers.clear();
        let mut seen_by_kept = self.seen_from_outside.clone();
        let mut first_return: Rank = NEVER;
        for &id in order {
            let (operation, deed) = (&self.history[id], &self.deeds[id.index()]);
            let is_dropped = self.is_settled[id.index()]
                && !self.is_held[id.index()]
                && operation.invoked < first_return
                && !deed.replaced.iter().any(|(version, _)| seen_by_kept.contains(version))
                && self.is_right(deed, contents);
            if is_dropped {
                self.keep[id.index()] = false;
                self.left.extend(deed.seen.iter().copied());
                for ((at, _), new) in &deed.replaced {
                    self.left.insert(*at, *new);
                    self.writers.insert((*at, *new), id);
                }
            } else {
                seen_by_kept.extend(&deed.seen);
                first_return = first_return.min(operation.returned);
            }
        }
    }

    /// Condition 3.
    fn is_right(&self, deed: &Deed, contents: &Contents) -> bool {
        let saw = deed.seen.iter().all(|version| match self.held(version.0, contents) {
            Some(value) => value == version.1,
            // It was there from the start, if no operation wrote it.
            None => version.1 != UNMENTIONED && !self.written.contains(version),
        });
        let missed = |(at, value): &Version| self.held(*at, contents).is_some_and(|v| v != *value);
        saw && (deed.missed.is_empty() || deed.missed.iter().any(missed))
    }

    /// What a location holds after what was dropped so far, if that is known.
    fn held(&self, at: ValueId, contents: &Contents) -> Option<ValueId> {
        let values = &self.history.values;
        let remembered = || {
            let value = contents.get(&values.get(at))?;
            Some(values.find(value).unwrap_or(UNMENTIONED))
        };
        if at == UNMENTIONED {
            return None;
        }
        let begun = || self.beginnings.get(&at).copied();
        self.left.get(&at).copied().or_else(remembered).or_else(begun)
    }

    /// Condition 5: whether operations have to be kept for it that were dropped.
    fn hold_back(&mut self) -> bool {
        let mut changed = false;
        let operations = &self.history.operations;
        for (id, deed) in self.deeds.iter().enumerate().filter(|(id, _)| self.keep[*id]) {
            for (at, value) in &deed.missed {
                let Some(writer) = self.writers.get(&(*at, *value)) else { continue };
                let shown = self.shown.get(&(*at, *value));
                let precedes = shown.is_some_and(|shown| *shown < operations[id].invoked);
                if self.left.get(at) == Some(value) && !precedes {
                    self.is_held[writer.index()] = true;
                    changed = true;
                }
            }
        }
        changed
    }
}
