//! Several registers in transactions. The state is the number of the sequence of their values.

use super::slices::{Number, Slices};
use super::{Calls, Model, Quick, Search, State};
use crate::split::{SplitBy, split};
use linchpin_history_data::{Argument, History, OpId, ValueId};
use linchpin_spec::{MultiRegister, Value};

/// A transaction, by the number of what it does, and whether it only reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Call {
    does: State,
    only_reads: bool,
}

struct Registers {
    /// The values of the registers: a state.
    states: Slices,
    /// What transactions do: how many registers they must find with which values, these, and the
    /// registers that they write with the values.
    does: Slices,
    initial: State,
}

impl Model for Registers {
    type Call = Call;

    fn initial(&self) -> State {
        self.initial
    }

    fn step(&mut self, state: State, call: Call) -> Option<State> {
        let (found, written) = parts_of(&self.does, call);
        let values = self.states.get(state);
        if found.chunks_exact(2).any(|pair| values[usize::from(pair[0])] != pair[1]) {
            return None;
        }
        if call.only_reads {
            return Some(state);
        }
        Some(self.states.changed(state, call.does, |list, start| {
            for pair in written.chunks_exact(2) {
                list[start + usize::from(pair[0])] = pair[1];
            }
        }))
    }

    fn only_looks(call: Call) -> bool {
        call.only_reads
    }

    fn may_come<'a>(
        &mut self,
        state: State,
        call: Call,
        in_progress: impl Iterator<Item = Call> + Clone + 'a,
    ) -> bool {
        let (found, _) = parts_of(&self.does, call);
        let values = self.states.get(state);
        let mut missing =
            found.chunks_exact(2).filter(|pair| values[usize::from(pair[0])] != pair[1]);
        missing.all(|pair| {
            in_progress.clone().any(|other| {
                let (_, written) = parts_of(&self.does, other);
                written.chunks_exact(2).any(|other| other == pair)
            })
        })
    }

    fn bytes(&self) -> usize {
        self.states.bytes()
    }
}

/// Pairs of a register and a value: those that a transaction must find, and those that it writes.
fn parts_of(does: &Slices, call: Call) -> (&[Number], &[Number]) {
    match does.get(call.does).split_first() {
        Some((found, rest)) => rest.split_at(2 * usize::from(*found)),
        None => (&[], &[]),
    }
}

pub(super) fn decide(search: &mut Search<'_>, init: Option<&Value>) -> Option<Quick> {
    let history = search.history;
    let kinds = Kinds::of(history);
    // For each value that is a key: which register of its part it is.
    let mut places: Vec<Option<Number>> = vec![None; history.values.len()];
    for part in split(history, search.ids, SplitBy::Locations(1)) {
        let mut reading = Reading { history, kinds: &kinds, places: &mut places, keys: Vec::new() };
        let (mut does, mut calls) = (Slices::new(), Calls::with_capacity(part.len()));
        for id in part {
            if let Some(call) = reading.call(id, &mut does)? {
                calls.push(history, id, call);
            }
        }
        let values: Option<Vec<Number>> =
            reading.keys.iter().map(|key| start(history, *key, init)).collect();
        let mut states = Slices::new();
        let initial = states.intern(values?);
        let mut model = Registers { states, does, initial };
        if let Some(violated) = search.part(&mut model, &mut calls)? {
            return Some(violated);
        }
    }
    Some(search.explained())
}

/// The value with which a register starts. What the history does not mention is seen by nothing.
fn start(history: &History, key: ValueId, init: Option<&Value>) -> Option<Number> {
    let value = match init {
        Some(Value::Map(given)) => given.get(&history.values.get(key)),
        init => init,
    };
    match value.map_or(Some(ValueId::NULL), |value| history.values.find(value)) {
        Some(known) => number(known),
        None => Some(UNSEEN),
    }
}

/// A value that the history does not mention.
const UNSEEN: Number = Number::MAX;

/// A value as a number; nothing if there are too many.
fn number(value: ValueId) -> Option<Number> {
    Number::try_from(value.index()).ok().filter(|number| *number != UNSEEN)
}

/// Which values are the words for an access.
struct Kinds {
    reads: [Option<ValueId>; 2],
    writes: [Option<ValueId>; 2],
}

impl Kinds {
    fn of(history: &History) -> Kinds {
        let find = |word: &str| history.values.find(&Value::str(word));
        Kinds { reads: [find("r"), find("read")], writes: [find("w"), find("write")] }
    }
}

/// The transactions of a part.
struct Reading<'a> {
    history: &'a History,
    kinds: &'a Kinds,
    places: &'a mut [Option<Number>],
    /// The registers of the part.
    keys: Vec<ValueId>,
}

impl Reading<'_> {
    /// What a transaction does, as a call; inside, nothing if it does not matter. Nothing for what
    /// is rare: transactions that no state allows.
    fn call(&mut self, id: OpId, does: &mut Slices) -> Option<Option<Call>> {
        let operation = &self.history[id];
        let (Argument::Words { width: 3, .. }, MultiRegister::TXN) =
            (operation.argument, usize::from(operation.operation))
        else {
            return None;
        };
        let accesses = self.history.words(operation.argument);
        let answers = match (operation.completed, operation.response) {
            (false, _) => None,
            (true, Argument::Words { width: 3, .. }) => {
                Some(self.history.words(operation.response))
            }
            (true, _) => return None,
        };
        if answers.is_some_and(|answers| answers.len() != accesses.len()) {
            return None;
        }
        let (mut found, mut written) = (Vec::new(), Vec::new());
        for (at, [kind, key, value]) in accesses.iter().enumerate() {
            let place = self.place(*key)?;
            let answer = answers.map(|answers| answers[at]);
            if answer.is_some_and(|answer| answer[..2] != [*kind, *key]) {
                return None;
            }
            if self.kinds.reads.contains(&Some(*kind)) {
                let Some([.., seen]) = answer else { continue };
                expect(&mut found, &written, (place, number(seen)?))?;
            } else if self.kinds.writes.contains(&Some(*kind)) {
                if answer.is_some_and(|answer| answer[2] != *value) {
                    return None;
                }
                written.retain(|(other, _)| *other != place);
                written.push((place, number(*value)?));
            } else {
                return None;
            }
        }
        let only_reads = written.is_empty();
        if only_reads && answers.is_none() {
            return Some(None);
        }
        found.sort_unstable();
        found.dedup();
        written.sort_unstable();
        let count = std::iter::once(Number::try_from(found.len()).ok()?);
        let pairs = found.iter().chain(&written).flat_map(|(place, value)| [*place, *value]);
        Some(Some(Call { does: does.intern(count.chain(pairs)), only_reads }))
    }

    fn place(&mut self, key: ValueId) -> Option<Number> {
        if let Some(place) = self.places[key.index()] {
            return Some(place);
        }
        let place = Number::try_from(self.keys.len()).ok()?;
        self.keys.push(key);
        self.places[key.index()] = Some(place);
        Some(place)
    }
}

/// A register and its value.
type Pair = (Number, Number);

/// Notes what a read saw: what its own transaction wrote last, or what was there before. Nothing if
/// it saw neither.
fn expect(found: &mut Vec<Pair>, written: &[Pair], seen: Pair) -> Option<()> {
    match written.iter().find(|(place, _)| *place == seen.0) {
        Some(own) => (*own == seen).then_some(()),
        None => {
            found.push(seen);
            Some(())
        }
    }
}
