//! Judging events as they arrive: a violation is reported as soon as the events so far show one, in
//! memory that depends on what is in progress and present, not on how long the history is.

mod opening;

use super::lines::{Lines, Next};
use super::present::{STATES, cut_short};
use super::recording::{Subject, property};
use crate::args::CheckArgs;
use crate::limits::Stop;
use crate::{Status, output};
use anyhow::{Context, Result, bail};
use linchpin_history::online::{Ended, OpenOperation, Refutation, Stream};
use linchpin_history::{Argument, History, Object, Property};
use linchpin_ingest::{Event, EventKind, IngestError, ReadOptions, Reader, Remark};
use linchpin_report::{escaped_lines, json};
use linchpin_spec::{Call, Value};
use linchpin_verdict::{Limits, StopReason, Verdict};
use opening::{Opened, Opening};
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// After so many events memory of what has returned is given back, and all objects are judged.
const FORGET_EVERY: u64 = 16_384;

/// What became of a stream.
pub enum Streamed {
    /// It was judged, and the verdict is said.
    Judged(Status),
    /// All of it is needed to judge it; this is all of it.
    Whole(Vec<u8>),
}

/// Judges events until the end of the input, or for ever with `--follow`.
pub fn execute(args: &CheckArgs, subject: &Subject<'_>, stop: &Stop) -> Result<Streamed> {
    let mut lines = Lines::open(&args.history, args.follow)?;
    let in_history = || format!("`{}`", args.history.display());
    let mut opening = Opening::new(subject);
    let opened = loop {
        match lines.next(stop)? {
            Next::Line(line) => {
                if let Some(opened) = opening.push(line).with_context(in_history)? {
                    break opened;
                }
            }
            Next::Idle => {}
            Next::End => match (opening.end(), stop.reason()) {
                (Ok(opened), _) => break opened,
                (Err(_), Some(reason)) => {
                    let judge = Judge::new(subject, property(args.recording.property), stop);
                    return conclude(args, &judge, Some(Found::stopped(reason)));
                }
                (Err(error), None) => return Err(error).with_context(in_history),
            },
        }
    };
    let beginning = opening.text;
    let (format, instead) = match opened {
        Opened::Lines { format, instead } => (Some(format), instead),
        Opened::Nothing => (None, None),
        Opened::Whole(format) if args.follow => {
            bail!(
                "{format} recordings like this cannot be judged as they arrive: leave out --follow"
            )
        }
        Opened::Whole(_) => return whole(args, subject, stop, lines, beginning),
    };
    let subject = instead.as_ref().unwrap_or(subject);
    let in_history = || match &instead {
        Some(instead) => format!("`{}`, read as {}", args.history.display(), instead.object.name),
        None => in_history(),
    };
    let mut judge = Judge::new(subject, property(args.recording.property), stop);
    judge.remarks.extend(subject.guessed);
    let mut reader = format.map(|format| Reader::new(format, &subject.options()));
    if let Some(reader) = &mut reader {
        for line in beginning.split_inclusive(|byte| *byte == b'\n') {
            if let Some(found) = judge.take_line(line, reader).with_context(in_history)? {
                return conclude(args, &judge, Some(found));
            }
        }
        loop {
            let found = match lines.next(stop)? {
                Next::Line(line) => judge.take_line(line, reader).with_context(in_history)?,
                Next::Idle => judge.judge_while_idle(),
                Next::End => break,
            };
            if found.is_some() {
                return conclude(args, &judge, found);
            }
        }
    }
    // What came before a limit or Ctrl-C is judged too, unless that takes long: then the limit ends
    // it.
    let outcome = judge.finish();
    let outcome = match stop.reason() {
        Some(reason) => outcome.or_else(|| Some(Found::stopped(reason))),
        None => outcome,
    };
    // What the end of the text says only matters where all before it was right.
    if let (Some(reader), None) = (reader, &outcome) {
        judge.remarks.extend(reader.finish().with_context(in_history)?.remarks);
    }
    conclude(args, &judge, outcome)
}

/// All of a stream that begins so.
fn whole(
    args: &CheckArgs,
    subject: &Subject<'_>,
    stop: &Stop,
    mut lines: Lines,
    beginning: Vec<u8>,
) -> Result<Streamed> {
    let most = args.limits.memory_limit.unwrap_or(ReadOptions::MOST_BYTES);
    let mut text = beginning;
    let read = || -> Result<Vec<u8>> {
        loop {
            match lines.next(stop)? {
                Next::Line(line) if (text.len() + line.len()) as u64 > most => {
                    let error = Err(IngestError::Endless { most });
                    return error.with_context(|| format!("`{}`", args.history.display()));
                }
                Next::Line(line) => text.extend_from_slice(line),
                Next::Idle => {}
                Next::End => return Ok(text),
            }
        }
    };
    let text = stop.ending_at_once(read)?;
    match stop.reason() {
        Some(reason) => {
            let judge = Judge::new(subject, property(args.recording.property), stop);
            conclude(args, &judge, Some(Found::stopped(reason)))
        }
        None => Ok(Streamed::Whole(text)),
    }
}

/// Why judging ends, and the key of the object that it is about; `null` if there is one object
/// only.
struct Found {
    key: Value,
    ended: Ended,
}

impl Found {
    fn stopped(by: StopReason) -> Found {
        Found { key: Value::Null, ended: Ended::Unknown(by.into()) }
    }
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
    /// How many events came since memory was given back.
    since_forgetting: u64,
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
            since_forgetting: 0,
            idle: (Duration::ZERO, Instant::now()),
        }
    }

    /// Takes a line; answers if that ends the judging.
    fn take_line(
        &mut self,
        line: &[u8],
        reader: &mut Reader,
    ) -> Result<Option<Found>, IngestError> {
        let events = reader.push_line(line)?.to_vec();
        self.since_forgetting += events.len() as u64;
        for event in events {
            if let Some(found) = self.take(event, reader.history()) {
                return Ok(Some(found));
            }
        }
        if self.since_forgetting < FORGET_EVERY {
            return Ok(None);
        }
        reader.forget_returned();
        self.since_forgetting = 0;
        Ok(self.judge_many())
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
            // INVARIANT: what looks at it is judged when all is there.
            EventKind::Recovered { .. } => return None,
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

fn conclude(args: &CheckArgs, judge: &Judge<'_>, found: Option<Found>) -> Result<Streamed> {
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
        return Ok(Streamed::Judged(verdict.into()));
    }
    let mut text = format!("{}: {reason}\n", verdict.id());
    if let Some(Ended::Violated(Refutation { possible, .. })) = &outcome
        && !possible.is_empty()
    {
        let shown: Vec<String> = possible.iter().take(STATES).map(|it| cut_short(it)).collect();
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
    Ok(Streamed::Judged(verdict.into()))
}
