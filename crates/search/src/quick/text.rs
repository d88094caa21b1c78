//! One key of a key-value store of strings, as the gets of its history can see it.
//!
//! A state is a place in the sorted list of the texts that gets answer: the first text that begins
//! with what is stored, and how much of it that is. What no answer begins with stays so whatever is
//! appended, so that all such strings are one state.

use super::slices::index;
use super::{Calls, Model, Quick, Search, State, one};
use linchpin_history_data::{Argument, History, OpId, ValueId};
use linchpin_spec::{Kv, Value};
use std::sync::Arc;

/// What is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Call {
    /// With the state it saw.
    Get(State),
    /// With the state that it leaves.
    Put(State),
    /// With the place of a piece.
    Append(usize),
}

/// The state of a string that no answer begins with.
const UNSEEN: State = State::MAX;

/// A state is a text of the list times this, and a length.
const LENGTHS: usize = 1 << 19;

const _: () = assert!(super::LONGEST.ilog2() + LENGTHS.ilog2() < State::BITS);

/// The state of the beginning of this text of the list with this length.
// INVARIANT: there are no more answers than operations, so that all states have a number.
fn beginning(text: usize, length: usize) -> State {
    State::try_from(text * LENGTHS + length).unwrap_or(UNSEEN)
}

struct Text {
    /// The answers of gets, sorted, each once.
    answers: Vec<Arc<str>>,
    /// What is appended, by id.
    pieces: Vec<(ValueId, Arc<str>)>,
    initial: State,
}

impl Model for Text {
    type Call = Call;

    fn initial(&self) -> State {
        self.initial
    }

    fn step(&mut self, state: State, call: Call) -> Option<State> {
        match call {
            Call::Get(seen) => (seen == state).then_some(state),
            Call::Put(after) => Some(after),
            Call::Append(piece) => Some(self.append(state, piece)),
        }
    }

    fn only_looks(call: Call) -> bool {
        matches!(call, Call::Get(_))
    }
}

impl Text {
    /// The state in which this is stored.
    fn state(&self, text: &str) -> State {
        let first = self.answers.partition_point(|answer| **answer < *text);
        match self.answers.get(first) {
            Some(answer) if answer.starts_with(text) => beginning(first, text.len()),
            _ => UNSEEN,
        }
    }

    fn append(&self, state: State, piece: usize) -> State {
        if state == UNSEEN {
            return UNSEEN;
        }
        let piece = self.pieces[piece].1.as_bytes();
        let (first, length) = (index(state) / LENGTHS, index(state) % LENGTHS);
        let stored = &self.answers[first].as_bytes()[..length];
        // INVARIANT: what begins with the same is together, and sorted by what comes then.
        for (at, answer) in self.answers.iter().enumerate().skip(first) {
            match answer.as_bytes().strip_prefix(stored) {
                Some(rest) if rest.starts_with(piece) => {
                    return beginning(at, length + piece.len());
                }
                Some(rest) if rest < piece => {}
                _ => break,
            }
        }
        UNSEEN
    }
}

pub(super) fn decide(search: &mut Search<'_>, init: Option<&Value>) -> Option<Quick> {
    let history = search.history;
    let keyed = by_key(history, search.ids)?;
    let mut calls = Calls::with_capacity(keyed.len());
    for part in keyed.chunk_by(|(key, _), (other, _)| key == other) {
        let (key, _) = *part.first()?;
        let start = match init {
            Some(Value::Map(given)) => given.get(&history.values.get(key)),
            _ => None,
        };
        let start = match start {
            Some(Value::Str(text)) => text,
            _ => "",
        };
        if let Some(violated) = decide_key(search, &mut calls, start, part)? {
            return Some(violated);
        }
    }
    Some(search.explained())
}

/// The operations that matter, by key and then in the order of their calls.
fn by_key(history: &History, ids: &[OpId]) -> Option<Vec<(ValueId, OpId)>> {
    let mut keyed = Vec::with_capacity(ids.len());
    for &id in ids {
        let operation = &history[id];
        let key = match (usize::from(operation.operation), operation.argument) {
            (Kv::GET, _) if !operation.completed => continue,
            (Kv::GET, Argument::One(key)) => key,
            (Kv::PUT | Kv::APPEND, Argument::Two(key, _)) => key,
            _ => return None,
        };
        keyed.push((key, id));
    }
    keyed.sort_unstable();
    Some(keyed)
}

/// Decides one key.
fn decide_key(
    search: &mut Search<'_>,
    calls: &mut Calls<Call>,
    start: &str,
    part: &[(ValueId, OpId)],
) -> Option<Option<Quick>> {
    let history = search.history;
    let mut model = texts(history, part)?;
    model.initial = model.state(start);
    calls.clear();
    for (_, id) in part {
        let operation = &history[*id];
        let call = match (usize::from(operation.operation), operation.argument) {
            (Kv::PUT, Argument::Two(_, text)) => Call::Put(model.state(&of(history, text)?)),
            (Kv::APPEND, Argument::Two(_, text)) => {
                Call::Append(model.pieces.binary_search_by_key(&text, |(id, _)| *id).ok()?)
            }
            _ => Call::Get(model.state(&of(history, one(operation.response)?)?)),
        };
        calls.push(history, *id, call);
    }
    search.part(&mut model, calls)
}

/// The texts that are answered and appended.
fn texts(history: &History, part: &[(ValueId, OpId)]) -> Option<Text> {
    let (mut answered, mut appended) = (Vec::with_capacity(part.len()), Vec::new());
    for (_, id) in part {
        let operation = &history[*id];
        match (usize::from(operation.operation), operation.argument) {
            (Kv::GET, _) => answered.push(one(operation.response)?),
            (Kv::APPEND, Argument::Two(_, text)) => appended.push(text),
            _ => {}
        }
    }
    for ids in [&mut answered, &mut appended] {
        ids.sort_unstable();
        ids.dedup();
    }
    let answers: Option<Vec<Arc<str>>> = answered.into_iter().map(|id| of(history, id)).collect();
    let mut answers = answers?;
    answers.sort_unstable();
    let pieces: Option<Vec<(ValueId, Arc<str>)>> =
        appended.into_iter().map(|id| Some((id, of(history, id)?))).collect();
    Some(Text { answers, pieces: pieces?, initial: UNSEEN })
}

/// A text, by its id.
fn of(history: &History, id: ValueId) -> Option<Arc<str>> {
    match history.values.get(id) {
        Value::Str(text) if text.len() < LENGTHS / 2 => Some(text),
        _ => None,
    }
}
