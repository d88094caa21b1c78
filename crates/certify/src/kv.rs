//! Key-value stores, and lists that are appended to, by what each get of the core can show.
//!
//! A get shows a put, or the initial text, and appends after it. All ways to say which calls those
//! were are tried, for one get after the other. Gets that show the same put show the same appends
//! in the same order, as far as both go. Nothing else that changes the value took effect between
//! that put and the last append or get that follows it. So the operations form groups, one for each
//! put that is shown, and each other put or append of the core is a group of its own. If in every
//! way an operation returned before one that its own group has earlier was called, or groups had to
//! be before each other in a circle, there is no order.
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
        let mut store = Store::new(initial.to_string());
        for (operation, in_core) in both(core, context) {
            if key(operation).as_ref() != Some(&of) {
                continue;
            }
            match (&operation.call.argument, &operation.response) {
                _ if operation.call.operation != get => {
                    let text = operation.call.argument.as_list().and_then(|pair| pair.get(1));
                    if let Some(Value::Str(text)) = text {
                        let is_put = operation.call.operation == put;
                        store.write(operation, in_core, is_put, text.to_string());
                    }
                }
                (_, Some(Value::Str(text))) if in_core => store.get(operation, text.to_string()),
                _ => {}
            }
        }
        store.is_impossible()
    })
}

fn both<'a>(
    core: &'a [Operation],
    context: &'a [Operation],
) -> impl Iterator<Item = (&'a Operation, bool)> {
    let known = core.iter().map(|operation| (operation, true));
    known.chain(context.iter().map(|operation| (operation, false)))
}

/// The same for lists that transactions append to. Of a transaction on several keys, what it does
/// to one of them is one step as well. A value is a character, so a list is a text, and what a
/// transaction appends to it is a piece.
pub(crate) fn no_order_of_lists<S: Spec + ?Sized>(
    spec: &S,
    core: &[Operation],
    context: &[Operation],
) -> bool {
    let Some(operation) = spec.operation("txn") else { return false };
    let accesses = |operation: &Operation| -> Vec<Value> {
        operation.call.argument.as_list().unwrap_or_default().to_vec()
    };
    let key = |access: &Value| access.as_list().and_then(|access| access.get(1)).cloned();
    let keys: BTreeSet<Value> = core.iter().flat_map(accesses).filter_map(|a| key(&a)).collect();
    keys.into_iter().any(|of| {
        let read = Value::list([Value::list([Value::str("r"), of.clone(), Value::Null])]);
        let look = Call { operation, argument: read };
        let initial = spec.apply(&spec.initial(), &look, None).pop();
        let mut letters = Letters::default();
        let initial = initial.and_then(|outcome| {
            let answers = outcome.response.as_list()?.first().cloned()?;
            letters.text(answers.as_list()?.get(2)?)
        });
        let Some(initial) = initial else { return false };
        let mut store = Store::new(initial);
        both(core, context).all(|(operation, in_core)| {
            store.transact(operation, in_core, &of, &mut letters).is_some()
        }) && store.is_impossible()
    })
}

/// A character for each value.
#[derive(Default)]
struct Letters(BTreeMap<Value, char>);

impl Letters {
    fn letter(&mut self, value: &Value) -> Option<char> {
        // Characters beyond the surrogates, so that each number is one.
        let next = char::from_u32(0x1_0000 + u32::try_from(self.0.len()).ok()?)?;
        Some(*self.0.entry(value.clone()).or_insert(next))
    }

    /// A list as a text; `null` is the empty one.
    fn text(&mut self, list: &Value) -> Option<String> {
        match list {
            Value::Null => Some(String::new()),
            list => list.as_list()?.iter().map(|value| self.letter(value)).collect(),
        }
    }
}

/// A put or an append, or the initial text.
struct Write {
    text: String,
    is_put: bool,
    /// Whether it took effect for certain.
    is_certain: bool,
    invoked: u64,
    returned: u64,
}

/// A get of the core.
struct Get {
    text: String,
    invoked: u64,
    returned: u64,
}

/// What was done to one key. Times are one more than in the history; 0 is the beginning.
struct Store {
    writes: Vec<Write>,
    gets: Vec<Get>,
    /// The appends of each text.
    by_text: BTreeMap<String, Vec<usize>>,
    /// How long those texts are.
    lengths: BTreeSet<usize>,
}

/// When an operation was called and returned, as a store counts.
fn times(operation: &Operation) -> (u64, u64) {
    (operation.invoked.saturating_add(1), operation.returned.saturating_add(1))
}

impl Store {
    fn new(initial: String) -> Store {
        let beginning =
            Write { text: initial, is_put: true, is_certain: true, invoked: 0, returned: 0 };
        Store {
            writes: vec![beginning],
            gets: Vec::new(),
            by_text: BTreeMap::new(),
            lengths: BTreeSet::new(),
        }
    }

    fn get(&mut self, operation: &Operation, text: String) {
        let (invoked, returned) = times(operation);
        self.gets.push(Get { text, invoked, returned });
    }

    fn write(&mut self, operation: &Operation, in_core: bool, is_put: bool, text: String) {
        // An append of nothing changes nothing.
        if !is_put && text.is_empty() {
            return;
        }
        let (invoked, returned) = times(operation);
        let is_certain = in_core && operation.is_completed();
        if !is_put {
            self.by_text.entry(text.clone()).or_default().push(self.writes.len());
            self.lengths.insert(text.len());
        }
        self.writes.push(Write { text, is_put, is_certain, invoked, returned });
    }

    /// What a transaction did to one key: it appended what it did, and read what was there before
    /// or in between. `None` if that makes no sense.
    fn transact(
        &mut self,
        operation: &Operation,
        in_core: bool,
        of: &Value,
        letters: &mut Letters,
    ) -> Option<()> {
        let answers = operation.response.as_ref().filter(|_| in_core).and_then(Value::as_list);
        let (mut appended, mut shown): (String, Option<String>) = (String::new(), None);
        for (at, access) in operation.call.argument.as_list()?.iter().enumerate() {
            let [Value::Str(kind), key, value] = access.as_list()? else { return None };
            if key != of {
                continue;
            }
            if &**kind == "append" {
                let letter = letters.letter(value)?;
                appended.push(letter);
                shown.iter_mut().for_each(|shown| shown.push(letter));
            } else if let Some(answer) = answers.and_then(|answers| answers.get(at)) {
                let list = letters.text(answer.as_list()?.get(2)?)?;
                if !list.ends_with(&appended) || shown.is_some_and(|shown| shown != list) {
                    // It contradicts itself: nothing can be read like that.
                    self.get(operation, "?".to_owned());
                    return Some(());
                }
                shown = Some(list);
            }
        }
        self.write(operation, in_core, false, appended);
        if let Some(shown) = shown {
            self.get(operation, shown);
        }
        Some(())
    }

    /// Whether no way to say what the gets show is possible.
    fn is_impossible(&mut self) -> bool {
        // Long gets say most: what they show leaves little choice for the others.
        self.gets.sort_by_key(|get| std::cmp::Reverse(get.text.len()));
        let readable: Vec<Vec<bool>> = self.gets.iter().map(|get| self.readable(get)).collect();
        let puts = self.gets.iter().zip(&readable).map(|(get, readable)| self.puts(get, readable));
        let (puts, writes) = (puts.collect(), self.writes.iter().enumerate());
        let certain = writes.filter(|(_, write)| write.is_certain).map(|(number, _)| number);
        let mut ways = Ways {
            store: self,
            puts,
            certain: certain.collect(),
            readable,
            groups: BTreeMap::new(),
            used: vec![false; self.writes.len()],
            steps: 0,
        };
        ways.none(0) && ways.steps <= MOST_STEPS
    }

    /// The positions of a text from which the rest of it can be read as appends that were called in
    /// time, the same one as often as need be.
    fn readable(&self, get: &Get) -> Vec<bool> {
        let text = get.text.as_str();
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

    /// The puts with which a get may begin.
    fn puts(&self, get: &Get, readable: &[bool]) -> Vec<usize> {
        let begins = |write: &Write| {
            write.is_put
                && write.invoked <= get.returned
                && get.text.starts_with(&write.text)
                && readable[write.text.len()]
        };
        (0..self.writes.len()).filter(|number| begins(&self.writes[*number])).collect()
    }

    /// The appended texts that continue a text at a position.
    fn next_pieces<'s>(
        &'s self,
        text: &'s str,
        from: usize,
    ) -> impl Iterator<Item = (&'s str, &'s [usize])> {
        self.lengths.iter().filter_map(move |length| {
            let found = self.by_text.get_key_value(text.get(from..from + length)?)?;
            Some((found.0.as_str(), found.1.as_slice()))
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
struct Ways<'s> {
    store: &'s Store,
    /// For each get the puts with which it may begin.
    puts: Vec<Vec<usize>>,
    /// The writes that took effect for certain.
    certain: Vec<usize>,
    /// For each get from where on it can be read.
    readable: Vec<Vec<bool>>,
    groups: BTreeMap<usize, Group>,
    used: Vec<bool>,
    steps: usize,
}

impl Ways<'_> {
    /// Whether no way is possible, the gets before this one being as they are. If there are too
    /// many ways, the count of steps says so.
    fn none(&mut self, number: usize) -> bool {
        let Some(get) = self.store.gets.get(number) else {
            return self.is_contradicted(true);
        };
        for at in 0..self.puts[number].len() {
            let put = self.puts[number][at];
            let write = &self.store.writes[put];
            self.steps += 1;
            let before = self.groups.get(&put).cloned();
            let group = self.groups.entry(put).or_default();
            let mut from = write.text.len();
            let shown = group.appends.iter().take_while(|append| {
                let text = self.store.writes[**append].text.as_str();
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
                // Whatever comes in between, the get is after all that is known.
                if self.is_contradicted_with(number, put) {
                    break true;
                }
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
        self.show(number, put);
        let none = self.is_contradicted(false) || self.none(number + 1);
        self.take_back_get(put);
        none && self.steps <= MOST_STEPS
    }

    /// Whether times contradict that the get follows this put and all that is known to follow it.
    fn is_contradicted_with(&mut self, number: usize, put: usize) -> bool {
        self.show(number, put);
        let contradicted = self.is_contradicted(false);
        self.take_back_get(put);
        contradicted
    }

    /// The get shows this put and all that is known to follow it.
    fn show(&mut self, number: usize, put: usize) {
        if let Some(group) = self.groups.get_mut(&put) {
            group.gets.push((number, group.appends.len()));
        }
    }

    fn take_back_get(&mut self, put: usize) {
        if let Some(group) = self.groups.get_mut(&put) {
            group.gets.pop();
        }
    }

    /// The appends that a get may show next.
    fn next(&mut self, number: usize, put: usize, from: usize) -> Vec<usize> {
        let store = self.store;
        let get = &store.gets[number];
        let latest = self.latest(put);
        let mut next = Vec::new();
        for (piece, writes) in store.next_pieces(&get.text, from) {
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
        for &number in &self.certain {
            let write = &store.writes[number];
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
    fn of(store: &Store, put: usize, group: &Group) -> Option<Extent> {
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
