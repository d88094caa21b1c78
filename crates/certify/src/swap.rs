//! Multi-word compare-and-swap, by what must come before what.
//!
//! Where every value is written to a location by at most one operation of the whole history, and
//! was not there at the start, a value that is replaced never comes back. So what saw it came after
//! what wrote it and before what replaced it, two operations cannot have replaced it, and what no
//! operation wrote was there at the start. A swap that failed came before what it expected was
//! written, or after it was replaced: each way is tried. If every way leads to a cycle, there is no
//! order.
//!
//! Of operations outside the core only the call is used: that they are the only ones who could have
//! written or replaced a value.

use crate::Operation;
use linchpin_spec::{Call, Spec, Value};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Larger cores are not looked at: who comes before whom is kept for each two operations.
const MOST_OPERATIONS: usize = 1_500;
/// So many choices are tried.
const MOST_CHOICES: usize = 3_000;

/// A location and a value.
type Version = (Value, Value);

/// One word of a swap.
struct Word {
    at: Value,
    expected: Value,
    new: Value,
}

impl Word {
    fn before(&self) -> Version {
        (self.at.clone(), self.expected.clone())
    }
}

/// Whether the core cannot be explained, whatever the context did. False also where that is not
/// known.
pub(crate) fn no_order<S: Spec + ?Sized>(
    spec: &S,
    core: &[Operation],
    context: &[Operation],
) -> bool {
    let Some(swaps) = spec.operation("mwcas") else { return false };
    if core.iter().any(|operation| operation.call.operation != swaps && is_off_topic(operation)) {
        return true;
    }
    if core.len() > MOST_OPERATIONS {
        return false;
    }
    let Some(memory) = Memory::new(spec, swaps, core, context) else { return false };
    let mut known = Known::default();
    for id in 0..core.len() {
        if memory.all[id].is_completed() {
            known.took_effect.push(id);
        }
    }
    let mut budget = MOST_CHOICES;
    memory.refuted(known, 0, &mut budget)
}

/// Whether a read answers about other locations than it was asked about.
fn is_off_topic(read: &Operation) -> bool {
    let locations = |list: &Value| -> Option<Vec<Value>> {
        Some(pairs(list)?.into_iter().map(|(at, _)| at).collect())
    };
    let Some(answer) = &read.response else { return false };
    match (locations(&read.call.argument), locations(answer)) {
        (Some(asked), Some(answered)) => asked != answered,
        _ => false,
    }
}

struct Memory<'a, S: Spec + ?Sized> {
    spec: &'a S,
    all: Vec<&'a Operation>,
    /// How many of these are in the core.
    core: usize,
    /// The words of each swap; none of what reads.
    words: Vec<Vec<Word>>,
    writer: HashMap<Version, usize>,
    /// Who expects a value and puts another one in its place.
    replacers: HashMap<Version, Vec<usize>>,
    /// What locations held at the start, as far as the core shows it.
    start: BTreeMap<Value, Value>,
}

/// What has been found out, or is assumed.
#[derive(Clone, Default)]
struct Known {
    took_effect: Vec<usize>,
    before: Vec<(usize, usize)>,
}

/// How a swap that failed can be explained.
enum Way {
    /// It came before this one.
    Before(usize),
    /// It came after this one, which took effect.
    After(usize),
}

impl<'a, S: Spec + ?Sized> Memory<'a, S> {
    /// Reads the operations; nothing if a value is written twice, or what they are is not
    /// understood.
    fn new(
        spec: &'a S,
        swaps: usize,
        core: &'a [Operation],
        context: &'a [Operation],
    ) -> Option<Memory<'a, S>> {
        let all: Vec<&Operation> = core.iter().chain(context).collect();
        let mut memory = Memory {
            spec,
            core: core.len(),
            words: Vec::with_capacity(all.len()),
            writer: HashMap::new(),
            replacers: HashMap::new(),
            start: BTreeMap::new(),
            all,
        };
        for id in 0..memory.all.len() {
            let call = &memory.all[id].call;
            let words = if call.operation == swaps { words(&call.argument)? } else { Vec::new() };
            let failed = memory.all[id].is_completed() && !memory.succeeded(id);
            for word in words.iter().filter(|word| word.new != word.expected && !failed) {
                let written = (word.at.clone(), word.new.clone());
                if memory.writer.insert(written, id).is_some() {
                    return None;
                }
                memory.replacers.entry(word.before()).or_default().push(id);
            }
            memory.words.push(words);
        }
        let mut mentioned: HashSet<Value> = HashSet::new();
        for id in 0..memory.core {
            mentioned.extend(memory.words[id].iter().map(|word| word.at.clone()));
            let seen = memory.seen(id, memory.all[id].is_completed())?;
            mentioned.extend(seen.iter().map(|(at, _)| at.clone()));
            // What the core saw and no operation wrote was there at the start.
            for (at, value) in seen.into_iter().filter(|_| memory.all[id].is_completed()) {
                let version = (at, value);
                if !memory.writer.contains_key(&version) {
                    memory.start.insert(version.0, version.1);
                }
            }
        }
        // INVARIANT: what is written was not there at the start, for locations that the core speaks
        // of.
        let twice =
            |version: &&Version| mentioned.contains(&version.0) && memory.may_start_with(version);
        if memory.writer.keys().any(|version| twice(&version)) {
            return None;
        }
        Some(memory)
    }

    /// Whether a location may have held the value at the start.
    fn may_start_with(&self, version: &Version) -> bool {
        if self.start.get(&version.0).is_some_and(|known| *known != version.1) {
            return false;
        }
        let Some(read) = self.spec.operation("mwread") else { return true };
        let ask = |value: Value| Value::list([Value::list([version.0.clone(), value])]);
        let call = Call { operation: read, argument: ask(Value::Null) };
        let answer = ask(version.1.clone());
        !self.spec.apply(&self.spec.initial(), &call, Some(&answer)).is_empty()
    }

    /// Whether a swap answered that it took place.
    fn succeeded(&self, id: usize) -> bool {
        self.all[id].response == Some(Value::Bool(true))
    }

    /// What an operation saw if it took effect; nothing if its answer is not understood.
    fn seen(&self, id: usize, completed: bool) -> Option<Vec<Version>> {
        let swaps = !self.words[id].is_empty();
        match &self.all[id].response {
            Some(Value::Bool(false)) if swaps => Some(Vec::new()),
            Some(Value::Map(fields)) if swaps => match fields.get(&"read".into()) {
                Some(read) => pairs(read),
                None => fields.contains_key(&"failed".into()).then(Vec::new),
            },
            Some(Value::Bool(true)) if swaps => {
                Some(self.words[id].iter().map(Word::before).collect())
            }
            Some(answer) if !swaps => pairs(answer),
            None if !completed => Some(self.words[id].iter().map(Word::before).collect()),
            _ => None,
        }
    }

    /// Whether an operation put other values in the place of those that it expected.
    fn replaced(&self, id: usize) -> bool {
        self.succeeded(id) || !self.all[id].is_completed()
    }

    /// Whether nothing explains the core, given what is known; `at` is the first failure of the
    /// core that has not been explained yet.
    fn refuted(&self, mut known: Known, at: usize, budget: &mut usize) -> bool {
        if *budget == 0 {
            return false;
        }
        *budget -= 1;
        if !self.conclude(&mut known) || has_cycle(&self.all, &known) {
            return true;
        }
        for id in at..self.core {
            let Some(ways) = self.ways(id, &known) else { continue };
            return ways.into_iter().all(|way| {
                let mut known = known.clone();
                match way {
                    Way::Before(other) => known.before.push((id, other)),
                    Way::After(other) => {
                        known.before.push((other, id));
                        if !known.took_effect.contains(&other) {
                            known.took_effect.push(other);
                        }
                    }
                }
                self.refuted(known, id + 1, budget)
            });
        }
        false
    }

    /// Adds who must come before whom; false if something cannot be.
    fn conclude(&self, known: &mut Known) -> bool {
        let mut replacer: HashMap<Version, usize> = HashMap::new();
        let mut seers: Vec<(usize, Version)> = Vec::new();
        let mut at = 0;
        while at < known.took_effect.len() {
            let id = known.took_effect[at];
            at += 1;
            for version in self.seen(id, self.all[id].is_completed()).unwrap_or_default() {
                match self.writer.get(&version) {
                    Some(writer) if *writer == id => return false,
                    Some(writer) => {
                        known.before.push((*writer, id));
                        // Of what is outside the core, no more than this is used.
                        if *writer < self.core && !known.took_effect.contains(writer) {
                            known.took_effect.push(*writer);
                        }
                    }
                    None if !self.may_start_with(&version) => return false,
                    None => {}
                }
                seers.push((id, version));
            }
            if self.replaced(id) {
                for word in self.words[id].iter().filter(|word| word.new != word.expected) {
                    if replacer.insert(word.before(), id).is_some_and(|other| other != id) {
                        return false;
                    }
                }
            }
        }
        for (seer, version) in seers {
            if let Some(replacer) = replacer.get(&version).filter(|replacer| **replacer != seer) {
                known.before.push((seer, *replacer));
            }
        }
        true
    }

    /// The ways to explain a swap of the core that failed; `None` if it is none, or needs no
    /// explanation.
    fn ways(&self, id: usize, known: &Known) -> Option<Vec<Way>> {
        if !self.all[id].is_completed() || self.succeeded(id) || self.words[id].is_empty() {
            return None;
        }
        let place = match &self.all[id].response {
            Some(Value::Map(fields)) => fields.get(&"failed".into()),
            _ => None,
        };
        let mut ways = Vec::new();
        for word in self.words[id].iter().filter(|word| place.is_none_or(|at| *at == word.at)) {
            let version = word.before();
            match self.writer.get(&version) {
                // If it did not take effect, the value was never there.
                Some(writer) if !known.took_effect.contains(writer) => return None,
                Some(writer) => ways.push(Way::Before(*writer)),
                None if self.start.get(&word.at) == Some(&word.expected) => {}
                None if self.must_start_with(&version) => {}
                None => return None,
            }
            let replacers = self.replacers.get(&version).into_iter().flatten();
            ways.extend(replacers.map(|replacer| Way::After(*replacer)));
        }
        Some(ways)
    }

    /// Whether a location held the value at the start, and could not have held another one.
    fn must_start_with(&self, version: &Version) -> bool {
        let other = Value::list([version.1.clone(), Value::str("anything else")]);
        self.may_start_with(version) && !self.may_start_with(&(version.0.clone(), other))
    }
}

/// Whether what must come before what, time included, goes in a circle.
fn has_cycle(all: &[&Operation], known: &Known) -> bool {
    let mut ids: Vec<usize> = known.before.iter().flat_map(|(one, other)| [*one, *other]).collect();
    ids.extend(&known.took_effect);
    ids.sort_unstable();
    ids.dedup();
    let mut after: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut waits: HashMap<usize, usize> = ids.iter().map(|id| (*id, 0)).collect();
    let times = ids.iter().flat_map(|one| {
        let earlier = |other: &&usize| all[*one].returned < all[**other].invoked;
        ids.iter().filter(earlier).map(|other| (*one, *other))
    });
    for (one, other) in known.before.iter().copied().chain(times) {
        after.entry(one).or_default().push(other);
        *waits.entry(other).or_default() += 1;
    }
    let mut ready: Vec<usize> = ids.iter().copied().filter(|id| waits[id] == 0).collect();
    let mut taken = 0;
    while let Some(id) = ready.pop() {
        taken += 1;
        for other in after.get(&id).into_iter().flatten() {
            if let Some(left) = waits.get_mut(other) {
                *left -= 1;
                if *left == 0 {
                    ready.push(*other);
                }
            }
        }
    }
    taken < ids.len()
}

/// `[[address, expected, new], …]`
fn words(argument: &Value) -> Option<Vec<Word>> {
    let word = |word: &Value| match word.as_list()? {
        [at, expected, new] => {
            Some(Word { at: at.clone(), expected: expected.clone(), new: new.clone() })
        }
        _ => None,
    };
    let words: Vec<Word> = argument.as_list()?.iter().map(word).collect::<Option<_>>()?;
    (!words.is_empty()).then_some(words)
}

/// `[[address, value], …]`
fn pairs(list: &Value) -> Option<Vec<Version>> {
    let pair = |pair: &Value| match pair.as_list()? {
        [at, value] => Some((at.clone(), value.clone())),
        _ => None,
    };
    list.as_list()?.iter().map(pair).collect()
}
