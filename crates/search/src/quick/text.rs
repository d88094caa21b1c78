//! One key of a key-value store of strings, as the gets of its history can see it.
//!
//! A state is a place in the sorted list of the texts that gets answer: the first text that begins
//! with what is stored, and how much of it that is. What no answer begins with stays so whatever is
//! appended, so that all such strings are one state.

use super::{Calls, Model, Quick, Search, one};
use linchpin_history_data::{Argument, History, OpId, ValueId};
use linchpin_spec::{Kv, Value};
use std::sync::Arc;

/// What is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Call {
    /// With the state it saw.
    Get(usize),
    /// With the state that it leaves.
    Put(usize),
    /// A text, by its id.
    Append(usize),
}

/// The state of a string that no answer begins with.
const UNSEEN: usize = usize::MAX;

/// A state is a text of the list times this, and a length.
const LENGTHS: usize = 1 << 20;

struct Text<'a> {
    /// The answers of gets, sorted, each once.
    answers: Vec<&'a str>,
    /// All texts of the history, by id.
    texts: &'a [Option<Arc<str>>],
    initial: usize,
}

impl Model for Text<'_> {
    type Call = Call;

    fn initial(&self) -> usize {
        self.initial
    }

    fn step(&mut self, state: usize, call: Call) -> Option<usize> {
        match call {
            Call::Get(seen) => (seen == state).then_some(state),
            Call::Put(after) => Some(after),
            Call::Append(text) => Some(self.append(state, text)),
        }
    }

    fn only_looks(call: Call) -> bool {
        matches!(call, Call::Get(_))
    }
}

impl Text<'_> {
    /// The state in which this is stored.
    fn state(&self, text: &str) -> usize {
        let first = self.answers.partition_point(|answer| *answer < text);
        match self.answers.get(first) {
            Some(answer) if answer.starts_with(text) => first * LENGTHS + text.len(),
            _ => UNSEEN,
        }
    }

    fn append(&self, state: usize, text: usize) -> usize {
        let Some(piece) = self.texts[text].as_deref().filter(|_| state != UNSEEN) else {
            return UNSEEN;
        };
        let (first, length) = (state / LENGTHS, state % LENGTHS);
        let stored = &self.answers[first].as_bytes()[..length];
        // INVARIANT: what begins with the same is together, and sorted by what comes then.
        for (at, answer) in self.answers.iter().enumerate().skip(first) {
            match answer.as_bytes().strip_prefix(stored) {
                Some(rest) if rest.starts_with(piece.as_bytes()) => {
                    return at * LENGTHS + length + piece.len();
                }
                Some(rest) if rest < piece.as_bytes() => {}
                _ => break,
            }
        }
        UNSEEN
    }
}

pub(super) fn decide(search: &mut Search<'_>, init: Option<&Value>) -> Option<Quick> {
    let history = search.history;
    let ids = (0..).map(ValueId).take(history.values.len());
    let texts: Vec<Option<Arc<str>>> = ids
        .map(|id| match history.values.get(id) {
            Value::Str(text) if text.len() < LENGTHS / 2 => Some(text),
            _ => None,
        })
        .collect();
    let keyed = by_key(history)?;
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
        if let Some(violated) = decide_key(search, &texts, start, part)? {
            return Some(violated);
        }
    }
    Some(search.explained())
}

/// The operations that matter, by key and then in the order of their calls.
fn by_key(history: &History) -> Option<Vec<(ValueId, OpId)>> {
    let mut keyed = Vec::with_capacity(history.operations.len());
    for (id, operation) in history.iter() {
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
    texts: &[Option<Arc<str>>],
    start: &str,
    part: &[(ValueId, OpId)],
) -> Option<Option<Quick>> {
    let history = search.history;
    let mut answers = Vec::new();
    for (_, id) in part {
        let operation = &history[*id];
        if usize::from(operation.operation) == Kv::GET {
            answers.push(texts[one(operation.response)?.index()].as_deref()?);
        }
    }
    answers.sort_unstable();
    answers.dedup();
    let mut model = Text { answers, texts, initial: UNSEEN };
    model.initial = model.state(start);
    let mut calls: Calls<Call> = Vec::with_capacity(part.len());
    for (_, id) in part {
        let operation = &history[*id];
        let call = match (usize::from(operation.operation), operation.argument) {
            (Kv::PUT, Argument::Two(_, text)) => {
                Call::Put(model.state(texts[text.index()].as_deref()?))
            }
            (Kv::APPEND, Argument::Two(_, text)) => {
                texts[text.index()].as_ref()?;
                Call::Append(text.index())
            }
            _ => Call::Get(model.state(texts[one(operation.response)?.index()].as_deref()?)),
        };
        calls.push((*id, call));
    }
    search.part(&mut model, &calls)
}
