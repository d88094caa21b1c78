//! Key-value stores, by what each get of the core can show.
//!
//! A get shows a put, or the initial text, and appends after it. All ways to say which calls those
//! were are tried, for one get after the other. Gets that show the same put show the same appends in
//! the same order, as far as both go. Nothing else that changes the value took effect between that
//! put and the last append or get that follows it. So the operations form groups, one for each put
//! that is shown, and each other put or append of the core is a group of its own. If in every way an
//! operation returned before one that its own group has earlier was called, or groups had to be
//! before each other in a circle, there is no order.
//!
//! Of operations outside the core only the call and its time are used.

use crate::Operation;
use linchpin_spec::{Call, Spec, Value};
use std::collections::{BTreeMap, BTreeSet};

/// So many steps are taken, over all ways.
const MOST_STEPS: usize = 2_000_000;

/// Whether the core cannot be explained, whatever the context did. False also where that is not
/// known.
pub(crate) fn no_order<S: Spec + ?Sized>(
    spec: &S,
    core: &[Operation],
    context: &[Operation],
) -> bool {
    let (Some(get), Some(put)) = (spec.operation("get"), spec.operation("put")) else {
        return false;
    };
    let key = |operation: &Operation| match &operation.call.argument {
        Value::List(pair) if operation.call.operation != get => pair.first().cloned(),
        key => Some(key.clone()),
    };
    let keys: BTreeSet<Value> = core.iter().filter_map(key).collect();
    keys.into_iter().any(|of| {
        let look = Call { operation: get, argument: of.clone() };
        let initial = spec.apply(&spec.initial(), &look, None).pop();
        let Some(Value::Str(initial)) = initial.map(|outcome| outcome.response) else {
            return false;
        };
        let mut store = Store::new(&initial);
        let known = core.iter().map(|operation| (operation, true));
        let others = context.iter().map(|operation| (operation, false));
        for (operation, in_core) in known.chain(others) {
            if key(operation).as_ref() == Some(&of) {
                store.add(operation, in_core, get, put);
            }
        }
        store.is_impossible()
    })
}

/// A put or an append, or the initial text.
struct Write<'a> {
    text: &'a str,
    is_put: bool,
    /// Whether it took effect for certain.
    is_certain: bool,
    invoked: u64,
    returned: u64,
}

/// A get of the core.
struct Get<'a> {
    text: &'a str,
    invoked: u64,
    returned: u64,
}

/// What was done to one key. Times are one more than in the history; 0 is the beginning.
struct Store<'a> {
    writes: Vec<Write<'a>>,
    gets: Vec<Get<'a>>,
    /// The writes of each text that is not empty.
    by_text: BTreeMap<&'a str, Vec<usize>>,
    /// How long those texts are.
    lengths: BTreeSet<usize>,
}

impl<'a> Store<'a> {
    fn new(initial: &'a str) -> Store<'a> {
        let mut store = Store {
            writes: Vec::new(),
            gets: Vec::new(),
            by_text: BTreeMap::new(),
            lengths: BTreeSet::new(),
        };
        let beginning =
            Write { text: initial, is_put: true, is_certain: true, invoked: 0, returned: 0 };
        store.writes.push(beginning);
        store
    }

    fn add(&mut self, operation: &'a Operation, in_core: bool, get: usize, put: usize) {
        let (invoked, returned) =
            (operation.invoked.saturating_add(1), operation.returned.saturating_add(1));
        if operation.call.operation == get {
            if let (Some(Value::Str(text)), true) = (&operation.response, in_core) {
                self.gets.push(Get { text, invoked, returned });
            }
            return;
        }
        let Value::List(pair) = &operation.call.argument else { return };
        let Some(Value::Str(text)) = pair.get(1) else { return };
        let is_put = operation.call.operation == put;
        // An append of nothing changes nothing.
        if !is_put && text.is_empty() {
            return;
        }
        let is_certain = in_core && operation.is_completed();
        if !is_put {
            self.by_text.entry(text).or_default().push(self.writes.len());
            self.lengths.insert(text.len());
        }
        self.writes.push(Write { text, is_put, is_certain, invoked, returned });
    }

    /// Whether no way to say what the gets show is possible.
    fn is_impossible(&mut self) -> bool {
        // Long gets say most: what they show leaves little choice for the others.
        self.gets.sort_by_key(|get| std::cmp::Reverse(get.text.len()));
        let readable = self.gets.iter().map(|get| self.readable(get)).collect();
        let mut ways = Ways {
            store: self,
            readable,
            groups: BTreeMap::new(),
            used: vec![false; self.writes.len()],
            steps: 0,
        };
        ways.none(0) && ways.steps <= MOST_STEPS
    }

    /// The positions of a text from which the rest of it can be read as appends that were called in
    /// time, the same one as often as need be.
    fn readable(&self, get: &Get<'_>) -> Vec<bool> {
        let text = get.text;
        let mut readable = vec![false; text.len() + 1];
        readable[text.len()] = true;
        for from in (0..text.len()).rev().filter(|from| text.is_char_boundary(*from)) {
            readable[from] = self.next_pieces(text, from).any(|(piece, writes)| {
                let in_time = |write: &usize| self.writes[*write].invoked <= get.returned;
                readable[from + piece.len()] && writes.iter().any(in_time)
            });
        }
        readable
    }

    /// The appended texts that continue a text at a position.
    fn next_pieces<'s>(
        &'s self,
        text: &'s str,
        from: usize,
    ) -> impl Iterator<Item = (&'a str, &'s [usize])> {
        self.lengths.iter().filter_map(move |length| {
            let found = self.by_text.get_key_value(text.get(from..from + length)?)?;
            Some((*found.0, found.1.as_slice()))
        })
    }
}

/// What follows a put, as far as it is known.
#[derive(Clone, Default)]
struct Group {
    /// The appends, in their order.
    appends: Vec<usize>,
    /// For each of them the latest call up to there.
    latest: Vec<u64>,
    /// The gets, and how many appends they show.
    gets: Vec<(usize, usize)>,
}

/// All ways to say what the gets show.
struct Ways<'s, 'a> {
    store: &'s Store<'a>,
    /// For each get from where on it can be read.
    readable: Vec<Vec<bool>>,
    groups: BTreeMap<usize, Group>,
    used: Vec<bool>,
    steps: usize,
}

impl Ways<'_, '_> {
    /// Whether no way is possible, the gets before this one being as they are. If there are too many
    /// ways, the count of steps says so.
    fn none(&mut self, number: usize) -> bool {
        let Some(get) = self.store.gets.get(number) else {
            return self.is_contradicted(true);
        };
        for put in 0..self.store.writes.len() {
            let write = &self.store.writes[put];
            let begins =
                get.text.starts_with(write.text) && self.readable[number][write.text.len()];
            self.steps += 1;
            if !write.is_put || !begins || write.invoked > get.returned {
                continue;
            }
            let before = self.groups.get(&put).cloned();
            let group = self.groups.entry(put).or_default();
            let mut from = write.text.len();
            let shown = group.appends.iter().take_while(|append| {
                let text = self.store.writes[**append].text;
                let more =
                    get.text[from..].starts_with(text) && self.readable[number][from + text.len()];
                from += if more { text.len() } else { 0 };
                more
            });
            let shown = shown.count();
            let is_whole = shown == group.appends.len();
            let possible = match (from == get.text.len(), is_whole) {
                // It shows nothing more.
                (true, _) => {
                    group.gets.push((number, shown));
                    !self.is_contradicted(false) && !self.none(number + 1)
                }
                (false, true) => !self.none_longer(number, put, from),
                (false, false) => false,
            };
            match before {
                Some(before) => drop(self.groups.insert(put, before)),
                None => drop(self.groups.remove(&put)),
            }
            // Where there are too many ways, there may be one.
            if possible || self.steps > MOST_STEPS {
                return false;
            }
        }
        true
    }

    /// The same, where the get shows more after this put than is known.
    fn none_longer(&mut self, number: usize, put: usize, mut from: usize) -> bool {
        let store = self.store;
        let (get, group) = (&store.gets[number], self.groups.get(&put).cloned());
        let known = group.map_or(0, |group| group.appends.len());
        // What leaves no choice is taken at once: texts may be long.
        let none = loop {
            if from == get.text.len() {
                break self.none_with(number, put);
            }
            let next = self.next(number, put, from);
            let [one] = next[..] else {
                break next.into_iter().all(|write| {
                    self.append(put, write);
                    let to = from + store.writes[write].text.len();
                    let none = self.none_longer(number, put, to);
                    self.take_back(put);
                    none
                });
            };
            self.append(put, one);
            from += store.writes[one].text.len();
        };
        while self.groups.get(&put).is_some_and(|group| group.appends.len() > known) {
            self.take_back(put);
        }
        none
    }

    /// The same, where the get shows this put and all that is known to follow it.
    fn none_with(&mut self, number: usize, put: usize) -> bool {
        if let Some(group) = self.groups.get_mut(&put) {
            group.gets.push((number, group.appends.len()));
        }
        let none = self.is_contradicted(false) || self.none(number + 1);
        if let Some(group) = self.groups.get_mut(&put) {
            group.gets.pop();
        }
        none && self.steps <= MOST_STEPS
    }

    /// The appends that a get may show next.
    fn next(&mut self, number: usize, put: usize, from: usize) -> Vec<usize> {
        let store = self.store;
        let get = &store.gets[number];
        let latest = self.latest(put);
        let mut next = Vec::new();
        for (piece, writes) in store.next_pieces(get.text, from) {
            if !self.readable[number][from + piece.len()] {
                continue;
            }
            self.steps += writes.len();
            next.extend(writes.iter().copied().filter(|write| {
                let Write { invoked, returned, .. } = store.writes[*write];
                !self.used[*write] && invoked <= get.returned && returned >= latest
            }));
        }
        next
    }

    fn append(&mut self, put: usize, write: usize) {
        self.used[write] = true;
        if let Some(group) = self.groups.get_mut(&put) {
            let last = group.latest.last().copied().unwrap_or(0);
            group.latest.push(last.max(self.store.writes[write].invoked));
            group.appends.push(write);
        }
    }

    fn take_back(&mut self, put: usize) {
        if let Some(group) = self.groups.get_mut(&put)
            && let Some(write) = group.appends.pop()
        {
            group.latest.pop();
            self.used[write] = false;
        }
    }

    /// The latest call of a put and the appends that are known to follow it.
    fn latest(&self, put: usize) -> u64 {
        let after = self.groups.get(&put).and_then(|group| group.latest.last());
        self.store.writes[put].invoked.max(after.copied().unwrap_or(0))
    }

    /// Whether times contradict the groups. If this is `all`, an append that is in no group was not
    /// shown.
    fn is_contradicted(&mut self, all: bool) -> bool {
        let store = self.store;
        let mut extents: Vec<Extent> = Vec::new();
        for (put, group) in &self.groups {
            self.steps += group.appends.len() + 1;
            let Some(extent) = Extent::of(store, *put, group) else { return true };
            extents.push(extent);
        }
        for (number, write) in store.writes.iter().enumerate().filter(|(_, w)| w.is_certain) {
            let is_alone = match write.is_put {
                true => !self.groups.contains_key(&number),
                false => all && !self.used[number],
            };
            if is_alone {
                extents.push(Extent { first: write.returned, last: write.invoked });
            }
        }
        self.steps += extents.len() * extents.len();
        // Whatever none of the others must be before can be first.
        while !extents.is_empty() {
            let is_first = |at: usize| {
                let mut others = extents.iter().enumerate().filter(|(other, _)| *other != at);
                others.all(|(_, other)| other.first >= extents[at].last)
            };
            let Some(first) = (0..extents.len()).find(|at| is_first(*at)) else { return true };
            extents.swap_remove(first);
        }
        false
    }
}

/// The first return and the last call of a group. It is before another one if its first return is
/// before the last call of that.
struct Extent {
    first: u64,
    last: u64,
}

impl Extent {
    /// Of a put and what follows it; `None` if an operation returned before an earlier one was
    /// called.
    fn of(store: &Store<'_>, put: usize, group: &Group) -> Option<Extent> {
        let mut extent = Extent { first: u64::MAX, last: 0 };
        for depth in 0..=group.appends.len() {
            let write = match depth {
                0 => put,
                depth => group.appends[depth - 1],
            };
            let Write { invoked, returned, .. } = store.writes[write];
            if returned < extent.last {
                return None;
            }
            extent.take(invoked, returned);
            let here = || group.gets.iter().filter(|(_, shown)| *shown == depth);
            if here().any(|(get, _)| store.gets[*get].returned < extent.last) {
                return None;
            }
            for (get, _) in here() {
                extent.take(store.gets[*get].invoked, store.gets[*get].returned);
            }
        }
        Some(extent)
    }

    fn take(&mut self, invoked: u64, returned: u64) {
        self.first = self.first.min(returned);
        self.last = self.last.max(invoked);
    }
}
