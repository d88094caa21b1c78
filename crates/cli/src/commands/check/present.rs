//! A verdict as text, as JSON, as a page, as certificates.

mod json;
mod page;
mod text;
mod timeline;

pub use text::{STATES, cut_short};

use super::certificate::{self, Evidence};
use super::confirm::Confirmations;
use super::partial;
use super::recording::Subject;
use super::{not_decided, place, property_words};
use crate::args::CheckArgs;
use crate::output;
use anyhow::Result;
use linchpin_history::{Checked, Judgement, OpId, Rank, Sentences, ValueId};
use linchpin_ingest::Recording;
use linchpin_spec::{Shape, Value};
use linchpin_verdict::Verdict;

/// What is said of a history in which nothing was observed.
const VACUOUS: &str =
    "This says little: no operation returned an answer that could have been wrong.";

pub struct Presentation<'a> {
    pub args: &'a CheckArgs,
    pub subject: &'a Subject<'a>,
    pub recording: &'a Recording,
    pub checked: &'a Checked,
    pub confirmed: &'a Confirmations,
    pub parse_seconds: f64,
    pub seconds: f64,
}

impl Presentation<'_> {
    pub fn write_certificates(&self) -> Result<()> {
        let (file, evidence) = match &self.checked.judgement {
            Judgement::Holds(witness) => {
                (&self.args.witness, Evidence::Witness(witness.order.clone()))
            }
            Judgement::Violated(violation) => {
                let key = self.checked.key.map(|key| self.key(key));
                let (core, at) = (violation.core.clone(), violation.at);
                (&self.args.core, Evidence::Core { core, at, key })
            }
            Judgement::Inconclusive(_) => return Ok(()),
        };
        let Some(file) = file else { return Ok(()) };
        let operations = self.recording.history.operations.len();
        let text = certificate::to_json(self.subject, &self.args.history, operations, &evidence)?;
        output::write_file(file, text.as_bytes())
    }

    pub const fn verdict(&self) -> Verdict {
        match self.checked.judgement {
            Judgement::Holds(_) => Verdict::Holds,
            Judgement::Violated(_) => Verdict::Violated,
            Judgement::Inconclusive(_) => Verdict::Inconclusive,
        }
    }

    fn property(&self) -> &'static str {
        property_words(self.args.recording.property)
    }

    fn assumptions(&self) -> Vec<String> {
        let place = |at: Rank| self.place(at);
        self.checked.assumptions.iter().map(|assumption| assumption.said(place)).collect()
    }

    /// What must be said of how it was read.
    fn remarks(&self) -> Vec<String> {
        let partial = self.recording.precedence.as_ref().map(|_| partial::REMARK.to_owned());
        self.recording.remarks.iter().map(ToString::to_string).chain(partial).collect()
    }

    fn subject_sentence(&self) -> String {
        let history = &self.recording.history;
        let plural = |count: usize, word: &str| match count {
            1 => format!("1 {word}"),
            count if word.ends_with('s') => format!("{count} {word}es"),
            count => format!("{count} {word}s"),
        };
        format!(
            "{} of {} by {}, judged as {}",
            plural(history.operations.len(), "operation"),
            self.args.history.display(),
            plural(history.processes.len(), "process"),
            self.subject.object.name
        )
    }

    fn headline(&self) -> String {
        let property = self.property();
        match &self.checked.judgement {
            Judgement::Holds(_) => format!("holds: the history is {property}"),
            Judgement::Violated(_) => format!("violated: the history is not {property}"),
            Judgement::Inconclusive(reason) => {
                format!("inconclusive: {}", not_decided(reason, &self.recording.places))
            }
        }
    }

    /// A key, as a value.
    fn key(&self, key: ValueId) -> Value {
        self.recording.history.values.get(key)
    }

    /// A sentence, with the key that it is about, if it is about one of many.
    fn about(&self, key: Option<ValueId>, sentence: &str) -> String {
        match key {
            Some(key) => format!("key {}: {sentence}", self.key(key)),
            None => sentence.to_owned(),
        }
    }

    /// Where an event is: its line or, where lines are not known, its number, from 1.
    fn place(&self, rank: Rank) -> String {
        place(&self.recording.places, rank)
    }

    /// Where an operation is, from its call to its return: `lines 3-5`.
    fn span(&self, id: OpId) -> String {
        let operation = &self.recording.history[id];
        let places = &self.recording.places;
        let last = if operation.completed { operation.returned } else { operation.invoked };
        let (word, first, last) = match (places.line(operation.invoked), places.line(last)) {
            (Some(first), Some(last)) => ("line", first, last),
            _ => ("event", u64::from(operation.invoked) + 1, u64::from(last) + 1),
        };
        match first == last {
            true => format!("{word} {first}"),
            false => format!("{word}s {first}-{last}"),
        }
    }

    /// Who called an operation.
    fn process(&self, id: OpId) -> &str {
        let history = &self.recording.history;
        history.process_name(history[id].process)
    }

    /// `dequeue() → 7`, as people would write the call.
    fn label(&self, id: OpId) -> String {
        let history = &self.recording.history;
        let operation = &history[id];
        let signature = &self.subject.object.spec.operations()[usize::from(operation.operation)];
        let argument = Sentences::new(history, self.subject.object.spec.operations()).argument(id);
        let answer = match (&signature.response, history.response(id)) {
            (_, None) => " (pending)".to_owned(),
            (Shape::Unit, _) => String::new(),
            (_, Some(value)) => format!(" → {}", value.brief()),
        };
        format!("{}({argument}){answer}", signature.name)
    }
}
