//! Judging events as they arrive: a violation is reported as soon as the events so far show one, in
//! memory that depends on what is in progress and present, not on how long the history is.

use super::lines::{Lines, Next};
use super::recording::{Subject, property};
use crate::args::{CheckArgs, OrderArg};
use crate::limits::Stop;
use crate::{Status, output};
use anyhow::{Context, Result, bail};
use linchpin_history::online::{Ended, OpenOperation, Refutation, Stream};
use linchpin_history::{Argument, History, Object, Property};
use linchpin_ingest::{Event, EventKind, Format, Reader, Remark};
use linchpin_report::{escaped_lines, json};
use linchpin_spec::{Builtin, Call, Value};
use linchpin_verdict::{Limits, StopReason, Verdict};
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// After so many events memory of what has returned is given back, and all objects are judged.
const FORGET_EVERY: u64 = 16_384;

/// Judges events until the end of the input, or for ever with `--follow`.
pub fn execute(args: &CheckArgs, subject: &Subject<'_>, stop: &Stop) -> Result<Status> {
    let property = property(args.recording.property);
    if property == Property::Recoverable {
        bail!("--property recoverable needs the whole history: name a file, without --follow");
    }
    if subject.object.data_type() == Some(Builtin::Etcd) {
        // INVARIANT: what is judged as it arrives answers in one way; of etcd's answers not
        // everything need be recorded.
        bail!("--spec etcd needs the whole history: name a file, without --follow");
    }
    let mut lines = Lines::open(&args.history, args.follow)?;
    let mut judge = Judge::new(subject, property, stop);
    let mut reader: Option<Reader> = None;
    let mut since_forgetting = 0;
    loop {
        let line = match lines.next(stop)? {
            Next::Line(line) => line,
            Next::Idle => match judge.judge_while_idle() {
                Some(outcome) => return conclude(args, &judge, Some(outcome)),
                None => continue,
            },
            Next::End => break,
        };
        let reader = match &mut reader {
            Some(reader) => reader,
            None => reader.insert(reader_for(args, subject, line)?),
        };
        let events = reader.push_line(line);
        let events = events.with_context(|| format!("`{}`", args.history.display()))?.to_vec();
        for event in events {
            since_forgetting += 1;
            if let Some(outcome) = judge.take(event, reader.history()) {
                return conclude(args, &judge, Some(outcome));
            }
        }
        if since_forgetting >= FORGET_EVERY {
            reader.forget_returned();
            since_forgetting = 0;
            if let Some(outcome) = judge.judge_many() {
                return conclude(args, &judge, Some(outcome));
            }
        }
    }
    // What came before a limit or Ctrl-C is judged too, unless that takes long: then the limit ends
    // it.
    let outcome = judge.finish();
    let outcome = match stop.reason() {
        Some(_) => outcome.or_else(|| {
            let ended = Ended::Unknown(StopReason::Interrupt.into());
            Some(Found { key: Value::Null, ended })
        }),
        None => outcome,
    };
    // What the end of the text says only matters where all before it was right.
    judge.remarks = match (reader, &outcome) {
        (Some(reader), None) => {
            let read = reader.finish();
            read.with_context(|| format!("`{}`", args.history.display()))?.remarks
        }
        _ => Vec::new(),
    };
    conclude(args, &judge, outcome)
}

fn reader_for(args: &CheckArgs, subject: &Subject<'_>, first: &[u8]) -> Result<Reader> {
    let detected = args.recording.format.or_else(|| Format::detect(first));
    if args.recording.order == OrderArg::Time {
        bail!(
            "--order time needs all events, so they cannot be judged as they arrive: name a file"
        );
    }
    let format = detected.context("the format cannot be told from the first line: use --format")?;
    if format.is_whole() {
        bail!("{format} recordings cannot be judged as they arrive: name a file");
    }
    Ok(Reader::new(format, &subject.options()))
}

/// Why judging ends, and the key of the object that it is about; `null` if there is one object only.
struct Found {
    key: Value,
    ended: Ended,
}

/// An operation in progress.
struct Open {
    key: Value,
    operation: OpenOperation,
}

struct Judge<'a> {
    object: &'a Object,
    limits: Limits,
    property: Property,
    /// One stream an object.
    streams: HashMap<Value, Stream<'a>>,
    open: HashMap<u32, Open>,
    events: u64,
    completed: u64,
    /// Which choices were made in reading that could be made in another way.
    remarks: Vec<Remark>,
    /// How long judging everything took, and when it ended.
    idle: (Duration, Instant),
}

impl<'a> Judge<'a> {
    fn new(subject: &'a Subject<'_>, property: Property, stop: &Stop) -> Judge<'a> {
        Judge {
            object: &subject.object,
            limits: stop.limits(),
            property,
            streams: HashMap::new(),
            open: HashMap::new(),
            events: 0,
            remarks: Vec::new(),
            completed: 0,
            idle: (Duration::ZERO, Instant::now()),
        }
    }

    /// Takes an event; answers if that ends the judging.
    fn take(&mut self, event: Event, history: &History) -> Option<Found> {
        self.events += 1;
        let tag = event.line;
        let value = |argument: Argument| history.value(argument);
        let ended = match event.kind {
            EventKind::Invoke { process, operation, key, argument } => {
                let key = history.values.get(key);
                let (object, limits) = (self.object, &self.limits);
                let stream = self
                    .streams
                    .entry(key.clone())
                    .or_insert_with(|| Stream::new(object, limits.clone()));
                let call = Call { operation: operation as usize, argument: value(argument) };
                let name = &history.processes[process as usize];
                let operation = stream.invoke(tag, name, call);
                self.open.insert(process, Open { key, operation });
                return None;
            }
            EventKind::Ok { process, response } => {
                self.completed += 1;
                let open = self.open.remove(&process)?;
                let stream = self.streams.get_mut(&open.key)?;
                let judged = stream.response(tag, open.operation, &value(response));
                judged.map_err(|ended| Found { key: open.key, ended })
            }
            EventKind::Fail { process } => {
                let open = self.open.remove(&process)?;
                let judged = self.streams.get_mut(&open.key)?.retract(tag, open.operation);
                judged.map_err(|ended| Found { key: open.key, ended })
            }
            EventKind::Info { process } => {
                let open = self.open.remove(&process)?;
                self.streams.get_mut(&open.key)?.crash(open.operation);
                return None;
            }
            EventKind::Crash { process } => self.crash(process),
        };
        ended.err().and_then(|found| self.judge_all(Some(found)))
    }

    fn crash(&mut self, process: Option<u32>) -> Result<(), Found> {
        let crashed = |p: &u32| process.is_none_or(|process| process == *p);
        let gone: Vec<u32> = self.open.keys().copied().filter(crashed).collect();
        for process in gone {
            let Some(open) = self.open.remove(&process) else { continue };
            let Some(stream) = self.streams.get_mut(&open.key) else { continue };
            match self.property {
                Property::Strict => {
                    stream.expire(open.operation).map_err(|ended| Found { key: open.key, ended })?
                }
                _ => stream.crash(open.operation),
            }
        }
        Ok(())
    }

    /// Judges everything, at the end of the input.
    fn finish(&mut self) -> Option<Found> {
        self.each(None, Stream::finish)
    }

    /// Judges all that was not judged yet.
    fn judge_all(&mut self, found: Option<Found>) -> Option<Found> {
        self.each(found, Stream::judge)
    }

    /// Has each object judged. The earliest violation of an object is the answer, if there is one.
    fn each(
        &mut self,
        found: Option<Found>,
        judge: impl Fn(&mut Stream<'a>) -> Result<(), Ended>,
    ) -> Option<Found> {
        let mut first = found;
        for (key, stream) in &mut self.streams {
            let Err(ended) = judge(stream) else { continue };
            let is_first = match (first.as_ref().map(|found| &found.ended), &ended) {
                (Some(Ended::Violated(one)), Ended::Violated(other)) => other.tag < one.tag,
                (Some(Ended::Violated(_)), Ended::Unknown(_)) => false,
                _ => true,
            };
            if is_first {
                first = Some(Found { key: key.clone(), ended });
            }
        }
        first
    }

    /// Judges everything while nothing arrives, at most half of the time.
    fn judge_while_idle(&mut self) -> Option<Found> {
        let (took, ended) = self.idle;
        if ended.elapsed() < took {
            return None;
        }
        let start = Instant::now();
        let outcome = self.judge_all(None);
        self.idle = (start.elapsed(), Instant::now());
        outcome
    }

    /// Judges everything where there are many objects, each of which may wait for long until it is
    /// judged by itself.
    fn judge_many(&mut self) -> Option<Found> {
        match self.streams.len() > 1 {
            true => self.judge_all(None),
            false => None,
        }
    }

    /// How many operations, or ways to explain what has happened, are kept.
    fn kept(&self) -> usize {
        self.streams.values().map(Stream::kept).sum()
    }

    /// How it was judged.
    fn method(&self) -> &'static str {
        let is_special = |stream: &Stream<'_>| stream.is_special();
        match self.streams.values().all(is_special) && !self.streams.is_empty() {
            true => "streaming monitor",
            false => "streaming search",
        }
    }

    /// Why windows were left to the general search.
    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.remarks.iter().map(Remark::to_string).collect();
        for reason in self.streams.values().filter_map(Stream::handed_over) {
            let note = format!("judged by the general search from some event on: {reason}");
            if notes.len() < 3 && !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }
}

fn conclude(args: &CheckArgs, judge: &Judge<'_>, found: Option<Found>) -> Result<Status> {
    let (key, outcome) = match found {
        Some(Found { key, ended }) => (key, Some(ended)),
        None => (Value::Null, None),
    };
    let about = match &key {
        Value::Null => String::new(),
        key => format!("key {key}: "),
    };
    let (verdict, reason) = match &outcome {
        None => (Verdict::Holds, "the history is linearizable".to_owned()),
        Some(Ended::Violated(Refutation { tag, explanation, .. })) => {
            (Verdict::Violated, format!("line {tag}: {about}{explanation}"))
        }
        Some(Ended::Unknown(reason)) => (
            Verdict::Inconclusive,
            format!("{reason}; {} events were read, and nothing was found wrong", judge.events),
        ),
    };
    if args.common.json {
        let mut object = json::envelope("check", &args.history.display().to_string());
        object.insert("verdict".to_owned(), json!(verdict.id()));
        let engine = json!({
            "engine": "history", "verdict": verdict.id(), "reason": reason, "method": judge.method(),
            "bounds": {}, "assumptions": [], "notes": judge.notes(),
            "stats": { "events": judge.events, "completed": judge.completed, "kept": judge.kept() },
        });
        object.insert("engines".to_owned(), json!([engine]));
        if let Some(Ended::Violated(Refutation { tag, explanation, possible, .. })) = &outcome {
            let counterexample = json!({
                "kind": "not-linearizable", "explanation": explanation, "history": [],
                "schedule": [], "core": [], "key": json::value(&key), "line": tag,
                "possible": possible,
            });
            object.insert("counterexample".to_owned(), counterexample);
        }
        output::write_stdout(&format!("{}\n", Json::Object(object)))?;
        return Ok(verdict.into());
    }
    let mut text = format!("{}: {reason}\n", verdict.id());
    if let Some(Ended::Violated(Refutation { possible, .. })) = &outcome
        && !possible.is_empty()
    {
        let shown: Vec<&str> = possible.iter().take(8).map(String::as_str).collect();
        text += &format!("Possible states just before: {}\n", shown.join(", "));
    }
    text += &format!("  {} events, {} operations returned\n", judge.events, judge.completed);
    judge.remarks.iter().for_each(|remark| text += &format!("  {remark}\n"));
    if args.common.verbose {
        text += &format!("  {}\n", judge.method());
        judge.notes().iter().for_each(|note| text += &format!("  {note}\n"));
    }
    if judge.completed == 0 {
        text += "  This says little: no operation returned an answer that could have been wrong.\n";
    }
    output::write_stdout(&output::with_verdict(verdict, &escaped_lines(&text)))?;
    Ok(verdict.into())
}
