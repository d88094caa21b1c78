//! A verdict as text, as JSON, as a page, as certificates.

use super::certificate::{self, Evidence};
use super::recording::{Subject, property};
use super::view;
use crate::args::{CheckArgs, PropertyArg};
use crate::{memory, output};
use anyhow::Result;
use linchpin_engine::Wrong;
use linchpin_history::{Checked, Judgement, NEVER, OpId, Rank, Violation};
use linchpin_ingest::Recording;
use linchpin_report::history::HistoryView;
use linchpin_report::{Bar, Timeline, json};
use linchpin_spec::{Shape, Value};
use linchpin_verdict::Verdict;
use serde_json::{Value as Json, json};
use std::time::Duration;

/// Operations drawn around a core at most.
const MAX_BARS: usize = 24;

/// Columns of the drawing.
const WIDTH: usize = 100;

/// What is said of a history in which nothing was observed.
const VACUOUS: &str =
    "This says little: no operation returned an answer that could have been wrong.";

pub struct Presentation<'a> {
    pub args: &'a CheckArgs,
    pub subject: &'a Subject<'a>,
    pub recording: &'a Recording,
    pub checked: &'a Checked,
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
                (&self.args.core, Evidence::Core(violation.core.clone(), violation.at))
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
        match self.args.recording.property {
            PropertyArg::Linearizable => "linearizable",
            PropertyArg::Strict => "strictly linearizable",
            PropertyArg::Recoverable => "recoverably linearizable",
            PropertyArg::Durable => "durably linearizable",
        }
    }

    fn assumptions(&self) -> Vec<String> {
        self.checked.assumptions.iter().map(ToString::to_string).collect()
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
            Judgement::Inconclusive(reason) => format!("inconclusive: {reason}"),
        }
    }

    /// What people read.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n  {}\n", self.headline(), self.subject_sentence());
        if self.recording.is_vacuous() {
            text += &format!("  {VACUOUS}\n");
        }
        if let Judgement::Violated(violation) = &self.checked.judgement {
            text +=
                &format!("\n{}\n\n{}", violation.explanation, self.timeline(violation).draw(WIDTH));
            text +=
                &format!("\nThe core, which no order explains: {}\n", self.core_words(violation));
            if let Some(at) = violation.at {
                text += &format!("The first {at} events can be explained; event {at} cannot.\n");
            }
            if !self.checked.possible.is_empty() {
                let shown: Vec<&str> =
                    self.checked.possible.iter().take(8).map(String::as_str).collect();
                let more = self.checked.possible.len().saturating_sub(shown.len());
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                text += &format!("Possible states just before: {}{more}\n", shown.join(", "));
            }
        }
        if let Judgement::Inconclusive(_) = &self.checked.judgement {
            text +=
                "  Allow more with --time-limit or --memory-limit, or check a shorter history.\n";
        }
        for assumption in &self.checked.assumptions {
            text += &format!("  assuming: {assumption}\n");
        }
        if self.args.common.verbose {
            text += &format!("  format: {}\n", self.recording.format.name());
            for note in self.recording.notes.iter().chain(&self.checked.notes) {
                text += &format!("  note: {note}\n");
            }
            text += &format!("  method: {}\n", self.checked.method);
            text += &format!(
                "  time: {:.3} s, of which reading {:.3} s\n",
                self.seconds, self.parse_seconds
            );
        }
        text
    }

    fn core_words(&self, violation: &Violation) -> String {
        let words: Vec<String> = violation.core.iter().take(12).map(|id| self.label(*id)).collect();
        let more = violation.core.len().saturating_sub(words.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", words.join(", "))
    }

    /// `dequeue() → 7`, as people would write the call.
    fn label(&self, id: OpId) -> String {
        let history = &self.recording.history;
        let operation = &history.operations[id.index()];
        let signature = &self.subject.object.spec.operations()[operation.operation as usize];
        let argument = match (&signature.argument, history.value(operation.argument)) {
            (Shape::Unit, _) => String::new(),
            (Shape::Tuple(_), Value::List(items)) => {
                items.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
            }
            (_, value) => value.to_string(),
        };
        let answer = match (&signature.response, history.response(id)) {
            (_, None) => " (pending)".to_owned(),
            (Shape::Unit, _) => String::new(),
            (_, Some(value)) => format!(" → {value}"),
        };
        format!("{}({argument}){answer}", signature.name)
    }

    /// The core and what is around its end, in the order of events.
    fn timeline(&self, violation: &Violation) -> Timeline {
        let history = &self.recording.history;
        let mut shown: Vec<OpId> = violation.core.iter().copied().take(MAX_BARS).collect();
        shown.sort_unstable();
        let mut ranks: Vec<Rank> = Vec::new();
        for id in &shown {
            let operation = &history.operations[id.index()];
            ranks.push(operation.invoked);
            if operation.completed {
                ranks.push(operation.returned);
            }
        }
        ranks.sort_unstable();
        let position = |rank: Rank| ranks.partition_point(|known| *known < rank);
        let bar = |id: &OpId| {
            let operation = &history.operations[id.index()];
            let to = operation.completed && operation.returned != NEVER;
            Bar {
                process: operation.process as usize,
                label: self.label(*id),
                from: position(operation.invoked),
                to: to.then(|| position(operation.returned)),
            }
        };
        let names = history.processes.iter().map(|name| format!("process {name}")).collect();
        Timeline::new(shown.iter().map(bar).collect()).named(names)
    }

    /// The object that scripts read.
    pub fn json(&self) -> String {
        let mut object = json::envelope("check", &self.args.history.display().to_string());
        let verdict = self.verdict().id();
        object.insert("verdict".to_owned(), json!(verdict));
        object.insert("reason".to_owned(), json!(self.headline()));
        let history = &self.recording.history;
        let engine = json!({
            "engine": "history",
            "verdict": verdict,
            "reason": self.headline(),
            "method": self.checked.method,
            "notes": self.checked.notes,
            "bounds": {},
            "assumptions": self.assumptions(),
            "vacuous": self.recording.is_vacuous(),
            "stats": {
                "operations": history.operations.len(),
                "processes": history.processes.len(),
                "format": self.recording.format.name(),
                "parse_seconds": self.parse_seconds,
                "seconds": self.seconds,
                "peak_bytes": memory::peak(),
            },
        });
        object.insert("engines".to_owned(), json!([engine]));
        if let Judgement::Violated(violation) = &self.checked.judgement {
            let counterexample = json!({
                "kind": Wrong::NotLinearizable.id(), "explanation": violation.explanation,
                "history": self.events(violation), "schedule": [],
                "core": certificate::numbers(&violation.core),
                "at": violation.at.map(Rank::number), "possible": self.checked.possible,
            });
            object.insert("counterexample".to_owned(), counterexample);
        }
        if self.args.with_history {
            object.insert("view".to_owned(), self.view().to_json());
        }
        format!("{}\n", Json::Object(object))
    }

    /// The events of a core, as a history of their own; `id` is the operation's.
    fn events(&self, violation: &Violation) -> Vec<Json> {
        let history = &self.recording.history;
        let mut events: Vec<(Rank, Json)> = Vec::new();
        for id in &violation.core {
            let operation = &history.operations[id.index()];
            let signature = &self.subject.object.spec.operations()[operation.operation as usize];
            let name = &history.processes[operation.process as usize];
            let process = name.parse::<u64>().map_or_else(|_| json!(name), |number| json!(number));
            let event = |kind: &str, value: Json, at: Rank| {
                let event = json!({
                    "process": process, "type": kind, "f": signature.name, "value": value,
                    "time": at.number(), "id": id.number(),
                });
                (at, event)
            };
            let argument = json::value(&history.value(operation.argument));
            events.push(event("invoke", argument, operation.invoked));
            if let Some(answer) = history.response(*id).filter(|_| operation.completed) {
                events.push(event("ok", json::value(&answer), operation.returned));
            }
        }
        events.sort_by_key(|(at, _)| *at);
        events.into_iter().map(|(_, event)| event).collect()
    }

    /// The verdict as a page.
    pub fn page(&self) -> String {
        self.view().page()
    }

    /// The history and all that was found out about it.
    fn view(&self) -> HistoryView {
        let mut facts = vec![
            ("object".to_owned(), self.subject.object.name.clone()),
            ("property".to_owned(), self.property().to_owned()),
            ("method".to_owned(), self.checked.method.clone()),
            ("format".to_owned(), self.recording.format.name().to_owned()),
        ];
        if self.recording.failed > 0 {
            facts.push(("failed".to_owned(), format!("{} did not happen", self.recording.failed)));
        }
        let mut sentences = Vec::new();
        if self.recording.is_vacuous() {
            sentences.push(VACUOUS.to_owned());
        }
        if let Judgement::Violated(violation) = &self.checked.judgement {
            sentences.push(violation.explanation.clone());
        }
        let words = view::Words {
            title: format!("linchpin check {}", self.args.history.display()),
            about: self.subject_sentence(),
            headline: self.headline(),
            sentences,
            facts,
        };
        let time_left = self
            .args
            .limits
            .time_limit
            .map(|limit| limit.saturating_sub(Duration::from_secs_f64(self.seconds)));
        view::Source {
            subject: self.subject,
            recording: self.recording,
            checked: self.checked,
            property: property(self.args.recording.property),
            time_left,
        }
        .view(words)
    }
}
