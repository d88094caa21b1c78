//! A run in words: its events, its bars on a timeline, its moves.

use crate::json;
use crate::{Bar, Row, Timeline};
use linchpin_ir::interpreter::{LineRecord, StepRecord};
use linchpin_ir::program::{Operation, Program, Type};
use linchpin_ir::run::{Crash, End, Event, EventKind, Run};
use linchpin_spec::Value;
use serde_json::{Value as Json, json};

/// Histories longer than this are not drawn.
const MAX_BARS: usize = 40;

/// A run of a program.
#[derive(Clone, Copy)]
pub struct RunView<'a> {
    /// The program.
    pub program: &'a Program,
    /// The run.
    pub run: &'a Run,
}

impl<'a> RunView<'a> {
    /// The operation with this number.
    pub fn operation(&self, at: usize) -> &'a Operation {
        &self.program.operations[at]
    }

    /// An event as a line of a history.
    pub fn event(&self, event: &Event) -> Json {
        let operation = self.operation(event.operation);
        let (kind, value) = match event.kind {
            EventKind::Invoke => ("invoke", json::value(&event.value)),
            EventKind::Ok => ("ok", json::value(&self.answer(event))),
            EventKind::RecoveredOk => ("recovered-ok", json::value(&self.answer(event))),
            EventKind::RecoveredFail => ("recovered-fail", json::value(&Value::Null)),
        };
        json!({
            "process": event.process, "type": kind, "f": operation.name, "value": value,
            "time": event.time,
        })
    }

    /// The process that a thread is at a move: another one after each of its crashes.
    fn process(&self, thread: usize, time: u64) -> usize {
        let threads = self.program.threads.len();
        let ended = self.run.crashes.iter().filter(|crash| {
            let of_thread = crash.process.is_none_or(|process| process % threads.max(1) == thread);
            crash.time < time && of_thread
        });
        thread + threads * ended.count()
    }

    /// A crash as a line of a history.
    pub fn crash(&self, crash: &Crash) -> Json {
        match crash.process {
            Some(process) => json!({ "process": process, "type": "crash", "time": crash.time }),
            None => json!({ "type": "crash", "time": crash.time }),
        }
    }

    /// The lines of the history, crashes included, in order.
    pub fn history(&self) -> Vec<Json> {
        let events = self.run.events.iter().map(|event| (event.time, self.event(event)));
        let crashes = self.run.crashes.iter().map(|crash| (crash.time, self.crash(crash)));
        let mut all: Vec<(u64, Json)> = events.chain(crashes).collect();
        all.sort_by_key(|(time, _)| *time);
        all.into_iter().map(|(_, line)| line).collect()
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
    pub fn step(&self, time: u64) -> Option<Json> {
        let record = self.run.trace.get(time as usize)?;
        let first = record.actions.first()?;
        let actions: Vec<&str> = record.actions.iter().map(|action| action.text.as_str()).collect();
        let operation = record.operation.map(|operation| &self.operation(operation).name);
        let mut step = json!({
            "process": record.thread.map(|thread| self.process(thread, time)),
            "type": "step", "f": operation,
            "line": first.line, "actions": actions, "time": time,
        });
        if !record.lines.is_empty() {
            step["lines"] = record.lines.iter().map(line_of_memory).collect();
        }
        Some(step)
    }

    /// The history as bars; `None` if it is too long to look at.
    pub fn timeline(&self) -> Option<Timeline> {
        let bars = self.bars();
        (!bars.is_empty() && bars.len() <= MAX_BARS).then(|| Timeline::new(bars))
    }

    /// Every call as a bar.
    pub fn bars(&self) -> Vec<Bar> {
        let mut bars: Vec<Bar> = Vec::new();
        for (at, event) in self.run.events.iter().enumerate() {
            match event.kind {
                EventKind::Invoke => bars.push(Bar {
                    process: event.process,
                    label: self.call(event),
                    from: at,
                    to: None,
                }),
                EventKind::Ok | EventKind::RecoveredOk => {
                    let open = bars.iter_mut().rev().find(|bar| bar.process == event.process);
                    let Some(bar) = open else { continue };
                    bar.to = Some(at);
                    if let Some(answer) = self.answered(event) {
                        bar.label += &format!(" → {answer}");
                    }
                }
                EventKind::RecoveredFail => {
                    let open = bars.iter_mut().rev().find(|bar| bar.process == event.process);
                    let Some(bar) = open else { continue };
                    bar.to = Some(at);
                    bar.label += ", no effect";
                }
            }
        }
        bars
    }

    /// The call of an invocation, as the model would write it.
    pub(crate) fn call(&self, event: &Event) -> String {
        let operation = self.operation(event.operation);
        format!("{}({})", operation.name, arguments(operation, &event.value))
    }

    /// The answer of a response, if it has one.
    pub(crate) fn answered(&self, event: &Event) -> Option<String> {
        let ty = &self.operation(event.operation).response;
        (*ty != Type::Unit).then(|| answer(ty, &event.value))
    }

    /// The operation in which a move was made; `recover` and crashes have none.
    fn called(&self, record: &StepRecord) -> String {
        match record.operation {
            Some(operation) => self.operation(operation).name.clone(),
            None if record.thread.is_none() && record.lines.is_empty() => "recover".to_owned(),
            None => String::new(),
        }
    }

    /// Every move in words.
    pub fn rows(&self) -> Vec<Row> {
        let moves = self.run.schedule.iter().zip(&self.run.trace).enumerate();
        let mut rows: Vec<Row> = moves
            .map(|(time, (made, record))| Row {
                time: time as u64,
                process: made.what.thread().map(|thread| self.process(thread, time as u64)),
                operation: self.called(record),
                line: record.actions.first().map(|action| action.line).filter(|line| *line > 0),
                text: in_words(record),
            })
            .collect();
        // The step that went wrong did nothing, so its record says nothing.
        if let (End::Faulted(fault), Some(last)) = (&self.run.end, rows.last_mut()) {
            last.text += if last.text.is_empty() { "" } else { "; " };
            // A loop that never yields tries nothing in particular.
            if !fault.action.is_empty() {
                last.text += &format!("{}: ", fault.action);
            }
            last.text += &fault.kind.to_string();
            last.line = last.line.or(Some(fault.line));
        }
        rows
    }
}

/// What a move did: its actions, and what a crash did to the lines.
fn in_words(record: &StepRecord) -> String {
    let actions = record.actions.iter().map(|action| action.text.clone());
    let lines = record.lines.iter().map(LineRecord::sentence);
    let words = actions.chain(lines).collect::<Vec<_>>().join("; ");
    // The first move of `recover` may have nothing to do.
    if words.is_empty() && record.thread.is_none() { "recover begins".to_owned() } else { words }
}

/// What a crash did to a line: `{"line":"@2","stored":["@2.next := @3"],"survived":0}`.
pub(crate) fn line_of_memory(line: &LineRecord) -> Json {
    json!({ "line": line.name, "stored": line.stores, "survived": line.survived })
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
