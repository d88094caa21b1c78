//! A run as JSON lines, as one JSON object, as a few lines of text, as a page.

use super::schedule;
use crate::args::{MemoryArg, RunArgs, Schedule};
use crate::json;
use crate::limits::Reason;
use linchpin_ir::interpreter::Wait;
use linchpin_ir::program::{Operation, Program, Type};
use linchpin_ir::run::{End, Event, EventKind, Run};
use linchpin_report::{Bar, Page, Row, Timeline};
use linchpin_spec::Value;
use serde_json::{Value as Json, json};

/// Histories longer than this are not drawn.
const MAX_BARS: usize = 40;

/// Moves shown before the one that went wrong.
const MAX_STEPS: usize = 40;

/// Columns of the drawing.
const WIDTH: usize = 100;

pub struct Presentation<'a> {
    pub args: &'a RunArgs,
    pub program: &'a Program,
    pub run: &'a Run,
    /// Absent for a replay.
    pub seed: Option<u64>,
    /// Why not all seeds were tried, if they were not.
    pub stopped: Option<Reason>,
}

impl Presentation<'_> {
    /// The history as JSON lines, with the steps between the events if asked for.
    pub fn history(&self) -> String {
        let mut lines = String::new();
        let mut events = self.run.events.iter().peekable();
        for time in 0..self.run.schedule.len() as u64 {
            if let Some(event) = events.next_if(|event| event.time == time) {
                lines += &format!("{}\n", self.event(event));
            }
            if self.args.trace
                && let Some(step) = self.step(time)
            {
                lines += &format!("{step}\n");
            }
        }
        lines
    }

    fn operation(&self, at: usize) -> &Operation {
        &self.program.operations[at]
    }

    fn event(&self, event: &Event) -> Json {
        let operation = self.operation(event.operation);
        let (kind, value) = match event.kind {
            EventKind::Invoke => ("invoke", json::value(&event.value)),
            EventKind::Ok => ("ok", json::value(&self.answer(event))),
        };
        json!({
            "process": event.process, "type": kind, "f": operation.name, "value": value,
            "time": event.time,
        })
    }

    /// What an `ok` shows: the answer, or, as recorders do, the argument again if there is none.
    fn answer(&self, event: &Event) -> Value {
        if self.operation(event.operation).response != Type::Unit {
            return event.value.clone();
        }
        let before = self.run.events.iter().rev().find(|earlier| {
            earlier.process == event.process
                && earlier.kind == EventKind::Invoke
                && earlier.time < event.time
        });
        before.map_or(Value::Null, |invocation| invocation.value.clone())
    }

    /// What a move did beyond the event itself.
    fn step(&self, time: u64) -> Option<Json> {
        let record = self.run.trace.get(time as usize)?;
        let first = record.actions.first()?;
        let actions: Vec<&str> = record.actions.iter().map(|action| action.text.as_str()).collect();
        Some(json!({
            "process": record.thread, "type": "step", "f": self.operation(record.operation).name,
            "line": first.line, "actions": actions, "time": time,
        }))
    }

    /// The whole run as one object.
    pub fn json(&self) -> String {
        let subject = self.args.model.model.display().to_string();
        let mut object = json::envelope("run", &subject);
        let mut insert = |key: &str, value: Json| object.insert(key.to_owned(), value);
        insert("seed", json!(self.seed));
        insert("memory", json!(memory_name(self.args.memory)));
        insert("end", json!(self.end_name()));
        insert("reason", json!(self.end_sentence()));
        insert("history", self.run.events.iter().map(|event| self.event(event)).collect());
        insert("schedule", schedule::to_json(self.program, &self.run.schedule));
        if self.args.trace {
            let steps = 0..self.run.schedule.len() as u64;
            insert("trace", steps.filter_map(|time| self.step(time)).collect());
        }
        format!("{}\n", Json::Object(object))
    }

    fn end_name(&self) -> &'static str {
        match self.run.end {
            End::Completed => "completed",
            End::Faulted(_) => "fault",
            End::Blocked { .. } => "blocked",
            End::StepLimit => "step-limit",
        }
    }

    fn end_sentence(&self) -> String {
        match &self.run.end {
            End::Completed => "every operation returned".to_owned(),
            End::Faulted(fault) => fault.to_string(),
            End::Blocked { threads } => {
                let waits: Vec<String> = threads.iter().map(|wait| self.wait(wait)).collect();
                format!("blocked for ever: {}", waits.join("; "))
            }
            End::StepLimit => format!(
                "operations were still running after {} moves; --step-limit allows more",
                self.run.schedule.len()
            ),
        }
    }

    fn wait(&self, wait: &Wait) -> String {
        let operation = &self.operation(wait.operation).name;
        format!(
            "thread {} in `{operation}` at line {} waits for {}",
            wait.thread, wait.line, wait.reason
        )
    }

    fn is_bad(&self) -> bool {
        matches!(self.run.end, End::Faulted(_) | End::Blocked { .. })
    }

    /// What people read: a drawing, and how it ended; if it ended badly, also the steps that led there.
    pub fn summary(&self) -> String {
        let mut text = String::from("\n");
        let timeline = self.timeline();
        if let Some(timeline) = timeline {
            text += &timeline.draw(WIDTH);
            text.push('\n');
        }
        if self.is_bad() {
            text += "The steps that led there:\n\n";
            let rows = self.rows();
            let hidden = rows.len().saturating_sub(MAX_STEPS);
            if hidden > 0 {
                text += &format!("  … {hidden} earlier moves: --trace shows them …\n");
            }
            for row in &rows[hidden..] {
                let line = row.line.map_or(String::new(), |line| format!("line {line}"));
                let padded =
                    format!("{:>5}  thread {}  {line:<9} {}", row.time, row.process, row.text);
                text += &format!("{}\n", padded.trim_end());
            }
            text.push('\n');
        }
        let seed = self.seed.map_or(String::new(), |seed| format!("seed {seed}: "));
        text += &format!("{seed}{}\n", self.end_sentence());
        if let Some(reason) = self.stopped {
            text += &format!("not every seed was tried: {}\n", reason.describe());
        }
        text
    }

    /// The history as bars; `None` if it is too long to look at.
    fn timeline(&self) -> Option<Timeline> {
        let bars = self.bars();
        (!bars.is_empty() && bars.len() <= MAX_BARS).then(|| Timeline::new(bars))
    }

    fn bars(&self) -> Vec<Bar> {
        let mut bars: Vec<Bar> = Vec::new();
        for (at, event) in self.run.events.iter().enumerate() {
            let operation = self.operation(event.operation);
            match event.kind {
                EventKind::Invoke => bars.push(Bar {
                    process: event.process,
                    label: format!("{}({})", operation.name, arguments(operation, &event.value)),
                    from: at,
                    to: None,
                }),
                EventKind::Ok => {
                    let open = bars.iter_mut().rev().find(|bar| bar.process == event.process);
                    let Some(bar) = open else { continue };
                    bar.to = Some(at);
                    if operation.response != Type::Unit {
                        bar.label += &format!(" → {}", answer(&operation.response, &event.value));
                    }
                }
            }
        }
        bars
    }

    /// Every move in words.
    fn rows(&self) -> Vec<Row> {
        let moves = self.run.schedule.iter().zip(&self.run.trace).enumerate();
        let mut rows: Vec<Row> = moves
            .map(|(time, (made, record))| Row {
                time: time as u64,
                process: made.what.thread(),
                operation: self.operation(record.operation).name.clone(),
                line: record.actions.first().map(|action| action.line),
                text: record.actions.iter().map(|a| a.text.as_str()).collect::<Vec<_>>().join("; "),
            })
            .collect();
        // The step that went wrong did nothing, so its record says nothing.
        if let (End::Faulted(fault), Some(last)) = (&self.run.end, rows.last_mut()) {
            let tried = if last.text.is_empty() { "" } else { "; " };
            last.text += &format!("{tried}{}: {}", fault.action, fault.kind);
            last.line = last.line.or(Some(fault.line));
        }
        rows
    }

    /// The run as a page.
    pub fn page(&self) -> String {
        let mut facts = vec![("model".to_owned(), self.args.model.model.display().to_string())];
        let mut fact = |name: &str, value: String| facts.push((name.to_owned(), value));
        match self.seed {
            Some(seed) => fact("seed", seed.to_string()),
            None => fact("schedule", "replayed".to_owned()),
        }
        if self.seed.is_some() {
            let schedule = match self.args.schedule {
                Schedule::Random => "random".to_owned(),
                Schedule::Pct => format!("pct, depth {}", self.args.depth),
            };
            fact("scheduler", schedule);
        }
        fact("threads", self.program.threads.len().to_string());
        fact("memory", format!("sequentially consistent, {}", memory_name(self.args.memory)));
        Page {
            title: format!("linchpin run {}", self.args.model.model.display()),
            verdict: self.end_sentence(),
            is_bad: self.is_bad(),
            facts,
            timeline: Timeline::new(self.bars()),
            rows: self.rows(),
        }
        .render()
    }
}

fn memory_name(memory: MemoryArg) -> &'static str {
    match memory {
        MemoryArg::Collected => "collected",
        MemoryArg::Reuse => "reuse",
    }
}

/// Arguments as the model would write them.
fn arguments(operation: &Operation, value: &Value) -> String {
    match (operation.parameters.as_slice(), value) {
        ([], _) => String::new(),
        ([_], value) => words(value),
        (_, Value::List(items)) => items.iter().map(words).collect::<Vec<_>>().join(", "),
        (_, value) => words(value),
    }
}

/// An answer as the model would write it.
fn answer(ty: &Type, value: &Value) -> String {
    match (ty, value) {
        (Type::Option(_), Value::Null) => "none".to_owned(),
        _ => words(value),
    }
}

fn words(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::List(items) => {
            format!("({})", items.iter().map(words).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
