//! The history and all that was found out about it, as the viewer takes it.
//!
//! [`Source::view`] puts it together; `orders.rs` finds the orders, as far as there are some,
//! `states.rs` what they do to the object, `bands.rs` what went on beside the history.

mod bands;
mod endings;
mod orders;
mod states;

use super::recording::Subject;
use linchpin_history::{
    Argument, Checked, History, Judgement, KeyVerdict, OpId, Operation, Property, Rank, Sentences,
    ValueId, Violation,
};
use linchpin_ingest::{Places, Recording};
use linchpin_report::history::{
    CrashView, HistoryView, KeyView, Moment, OperationView, OrderView, Unexplained, ViolationView,
};
use linchpin_spec::{Builtin, Shape};
use linchpin_verdict::{Limits, Verdict};
use orders::Orders;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Operations in a view at most: a page of more is too large to be opened.
const MOST_OPERATIONS: usize = 200_000;

/// Of these so many come after the event that nothing explains.
const AFTER: usize = 50_000;

/// Characters of an argument, an answer or a state at most.
const MOST_TEXT: usize = 400;

/// Finding orders takes so long at most: the verdict is known, and they only explain it.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a view is made of.
pub struct Source<'a> {
    pub subject: &'a Subject<'a>,
    pub recording: &'a Recording,
    pub checked: &'a Checked,
    pub property: Property,
    /// What is left of the time that people gave.
    pub time_left: Option<Duration>,
}

/// What is said about a history as a whole.
pub struct Words {
    pub title: String,
    pub about: String,
    pub headline: String,
    pub sentences: Vec<String>,
    pub facts: Vec<(String, String)>,
}

/// Which object of many an operation is about, and their names.
struct Keys {
    /// Indices, by the id of the key.
    numbers: HashMap<ValueId, u32>,
    all: Vec<ValueId>,
    /// Whether the key is in the argument: the object is a store, judged key by key.
    in_argument: bool,
}

impl Source<'_> {
    pub fn view(&self, words: Words) -> HistoryView {
        let history = &self.recording.history;
        let keys = self.keys();
        let limits = Limits {
            deadline: Some(Instant::now() + self.time_left.map_or(PATIENCE, |t| t.min(PATIENCE))),
            ..Limits::default()
        };
        let mut left_out = Vec::new();
        let mut orders = Orders::new(self, &keys, limits);
        let violations = orders.violations();
        let kept = self.kept(&violations, &mut left_out);
        let orders = orders.finish(&mut left_out);
        let place = |rank: Rank| moment(&self.recording.places, rank);
        let crash = |crash: &linchpin_history::Crash| CrashView {
            at: place(crash.at),
            process: crash.process,
        };
        let notes = self.recording.notes.iter().chain(&self.checked.notes);
        HistoryView {
            title: words.title,
            about: words.about,
            verdict: verdict(&self.checked.judgement),
            headline: words.headline,
            sentences: words.sentences,
            facts: words.facts,
            assumptions: {
                let place = |at| super::place(&self.recording.places, at);
                self.checked.assumptions.iter().map(|said| said.said(place)).collect()
            },
            notes: notes.cloned().collect(),
            left_out,
            processes: history.processes.clone(),
            functions: self.functions(),
            events: history.events.number(),
            operations: kept.iter().map(|id| self.operation(*id, &keys)).collect(),
            keys: self.key_views(&keys),
            orders,
            violations,
            crashes: history.crashes.iter().map(crash).collect(),
            bands: bands::bands(&self.recording.annotations),
        }
    }

    fn functions(&self) -> Vec<String> {
        let signatures = self.subject.object.spec.operations();
        signatures.iter().map(|signature| signature.name.clone()).collect()
    }

    /// The operations that the view has: all, or those around the event that nothing explains.
    fn kept(&self, violations: &[ViolationView], left_out: &mut Vec<String>) -> Vec<OpId> {
        let history = &self.recording.history;
        let count = history.operations.len();
        if count <= MOST_OPERATIONS {
            return history.ids().collect();
        }
        let event = violations.first().and_then(|wrong| wrong.event);
        let middle = event.map_or(0, |event| {
            let rank = Rank::new(event.at.rank);
            history.operations.partition_point(|operation| operation.invoked < rank)
        });
        let end = (middle + AFTER).clamp(MOST_OPERATIONS, count);
        let mut kept: Vec<OpId> = (end - MOST_OPERATIONS..end).map(OpId::new).collect();
        let core = violations.iter().flat_map(|wrong| &wrong.core).map(|id| OpId::numbered(*id));
        kept.extend(core);
        kept.sort_unstable();
        kept.dedup();
        left_out.push(format!(
            "{} of {count} operations: those that are shown are the core and what is nearest to \
             the event that nothing explains, or the first ones",
            count - kept.len()
        ));
        kept
    }

    fn operation(&self, id: OpId, keys: &Keys) -> OperationView {
        let history = &self.recording.history;
        let operation = &history[id];
        let place = |rank| moment(&self.recording.places, rank);
        let (argument, answer) = self.call(id);
        OperationView {
            id: id.number(),
            process: operation.process,
            function: operation.operation.into(),
            key: keys.of(operation),
            argument,
            answer,
            from: place(operation.invoked),
            to: operation.completed.then(|| place(operation.returned)),
        }
    }

    /// An argument and an answer as people write them; the answer is empty if it is nothing.
    fn call(&self, id: OpId) -> (String, Option<String>) {
        let history = &self.recording.history;
        let operation = &history[id];
        let signature = &self.subject.object.spec.operations()[usize::from(operation.operation)];
        let argument = Sentences::new(history, self.subject.object.spec.operations()).argument(id);
        let answer = history.response(id).map(|value| match signature.response {
            Shape::Unit => String::new(),
            _ => value.to_string(),
        });
        (shortened(argument), answer.map(shortened))
    }

    /// The objects, in the order of their first calls.
    fn keys(&self) -> Keys {
        let history = &self.recording.history;
        let has_keys = history.operations.iter().any(|operation| operation.key != ValueId::NULL);
        let is_store = matches!(self.subject.object.data_type(), Some(Builtin::Kv | Builtin::Map));
        let mut keys =
            Keys { numbers: HashMap::new(), all: Vec::new(), in_argument: is_store && !has_keys };
        if !has_keys && !is_store {
            return keys;
        }
        for operation in &history.operations {
            let Some(id) = keys.id(operation) else { continue };
            let Ok(next) = u32::try_from(keys.all.len()) else { continue };
            if let std::collections::hash_map::Entry::Vacant(entry) = keys.numbers.entry(id) {
                entry.insert(next);
                keys.all.push(id);
            }
        }
        keys
    }

    fn key_views(&self, keys: &Keys) -> Vec<KeyView> {
        let history = &self.recording.history;
        let verdicts = self.key_verdicts();
        let whole = verdict(&self.checked.judgement);
        let mut views: Vec<KeyView> = keys
            .all
            .iter()
            .map(|id| KeyView {
                name: shortened(history.values.get(*id).to_string()),
                verdict: verdicts.get(id).copied().or(match whole {
                    Verdict::Holds => Some(Verdict::Holds),
                    _ => None,
                }),
                operations: 0,
                line: None,
            })
            .collect();
        for operation in &history.operations {
            let Some(view) = keys.of(operation).and_then(|at| views.get_mut(index(at))) else {
                continue;
            };
            if view.operations == 0 {
                view.line = self.recording.places.line(operation.invoked);
            }
            view.operations += 1;
        }
        views
    }

    /// What is known of each key.
    fn key_verdicts(&self) -> HashMap<ValueId, Verdict> {
        let mut verdicts: HashMap<ValueId, Verdict> = HashMap::new();
        for checked in &self.checked.keys {
            let verdict = match checked.verdict {
                KeyVerdict::Holds => Verdict::Holds,
                KeyVerdict::Violated { .. } => Verdict::Violated,
                KeyVerdict::Open(_) => Verdict::Inconclusive,
            };
            verdicts.insert(checked.key, verdict);
        }
        if let (Some(key), Judgement::Violated(_)) = (self.checked.key, &self.checked.judgement) {
            verdicts.insert(key, Verdict::Violated);
        }
        verdicts
    }
}

impl Keys {
    /// The id of the key of an operation.
    fn id(&self, operation: &Operation) -> Option<ValueId> {
        if !self.in_argument {
            return Some(operation.key);
        }
        match operation.argument {
            Argument::One(key) | Argument::Two(key, _) => Some(key),
            Argument::None | Argument::Words { .. } => None,
        }
    }

    /// The index of the key of an operation.
    fn of(&self, operation: &Operation) -> Option<u32> {
        if self.all.is_empty() {
            return None;
        }
        self.number(self.id(operation)?)
    }

    fn number(&self, id: ValueId) -> Option<u32> {
        self.numbers.get(&id).copied()
    }

    /// The key that all these operations have, if they have the same.
    fn common(&self, history: &History, ids: &[OpId]) -> Option<u32> {
        let first = self.of(&history[*ids.first()?])?;
        ids.iter().all(|id| self.of(&history[*id]) == Some(first)).then_some(first)
    }
}

/// An index that was small when it was made.
fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn moment(places: &Places, rank: Rank) -> Moment {
    Moment { rank: rank.number(), line: places.line(rank), time: places.time(rank) }
}

const fn verdict(judgement: &Judgement) -> Verdict {
    match judgement {
        Judgement::Holds(_) => Verdict::Holds,
        Judgement::Violated(_) => Verdict::Violated,
        Judgement::Inconclusive(_) => Verdict::Inconclusive,
    }
}

/// A text that is no longer than can be looked at.
fn shortened(text: String) -> String {
    match text.char_indices().nth(MOST_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
