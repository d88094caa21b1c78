//! Judging events as they arrive: a violation is reported as soon as the events so far show one, in memory that depends on what is in
//! progress, not on how long the history is.

use super::recording::{Subject, property};
use crate::args::CheckArgs;
use crate::limits::Stop;
use crate::{Status, json, output};
use anyhow::{Context, Result, bail};
use linchpin_history::search::{Frontier, Stuck, Ticket};
use linchpin_history::{Argument, History, Property};
use linchpin_ingest::{Event, EventKind, Format, Reader};
use linchpin_spec::{Call, Spec, Value};
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::time::Duration;

/// How long to wait for more at the end of a file.
const PATIENCE: Duration = Duration::from_millis(100);

/// Memory of what has returned is given back after so many events.
const FORGET_EVERY: u64 = 16_384;

/// With more ways to explain what has happened than this, the judge gives up.
const MAX_CONFIGURATIONS: usize = 200_000;

type Object = dyn Spec<State = Value> + Send + Sync;

/// Judges events until the end of the input, or for ever with `--follow`.
pub fn execute(args: &CheckArgs, subject: &Subject<'_>, stop: &Stop) -> Result<Status> {
    let property = property(args.recording.property);
    if property == Property::Recoverable {
        bail!("--property recoverable needs the whole history: name a file, without --follow");
    }
    let mut lines = Lines::open(&args.history, args.follow)?;
    let Some(first) = lines.next(stop)? else {
        return conclude(args, &Judge::new(subject, property), None);
    };
    let detected = args.recording.format.or_else(|| Format::detect(&first));
    let format = detected.context("the format cannot be told from the first line: use --format")?;
    if format == Format::Fastlin {
        bail!(
            "fastlin texts are in no order, so they cannot be judged as they arrive: name a file"
        );
    }
    let mut reader = Reader::new(format, &subject.options());
    let mut judge = Judge::new(subject, property);
    let mut line = Some(first);
    let mut since_forgetting = 0;
    while let Some(text) = line {
        let events = reader.push_line(&text);
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
        }
        line = lines.next(stop)?;
    }
    if let Some(reason) = stop.reason() {
        let reason = reason.describe().to_owned();
        return conclude(args, &judge, Some(Outcome::Stopped(reason)));
    }
    conclude(args, &judge, None)
}

/// Why judging ended before the input did.
enum Outcome {
    Violated { line: u64, explanation: String, possible: Vec<String> },
    Stopped(String),
}

/// An operation in progress.
struct Open {
    key: Value,
    ticket: Ticket,
}

struct Judge<'a> {
    spec: &'a Object,
    property: Property,
    /// One frontier an object.
    frontiers: HashMap<Value, Frontier<'a, Object>>,
    open: HashMap<u32, Open>,
    events: u64,
    completed: u64,
}

impl<'a> Judge<'a> {
    fn new(subject: &'a Subject<'_>, property: Property) -> Judge<'a> {
        let spec: &Object = &*subject.object.spec;
        Judge {
            spec,
            property,
            frontiers: HashMap::new(),
            open: HashMap::new(),
            events: 0,
            completed: 0,
        }
    }

    /// Takes an event; answers if that ends the judging.
    fn take(&mut self, event: Event, history: &History) -> Option<Outcome> {
        self.events += 1;
        let value = |argument: Argument| history.value(argument);
        match event.kind {
            EventKind::Invoke { process, operation, key, argument } => {
                let key = history.values.get(key).clone();
                let spec = self.spec;
                let frontier =
                    self.frontiers.entry(key.clone()).or_insert_with(|| Frontier::new(spec));
                let call = Call { operation: operation as usize, argument: value(argument) };
                let ticket = frontier.invoke(call);
                self.open.insert(process, Open { key, ticket });
            }
            EventKind::Ok { process, response } => {
                self.completed += 1;
                let open = self.open.remove(&process)?;
                let frontier = self.frontiers.get_mut(&open.key)?;
                let response = value(response);
                if let Err(stuck) = frontier.response(open.ticket, &response) {
                    let name = &history.processes[process as usize];
                    return Some(self.violated(event.line, name, &stuck));
                }
                if frontier.configurations() > MAX_CONFIGURATIONS {
                    let reason = "there are too many ways to explain what has happened so far; judge a file instead";
                    return Some(Outcome::Stopped(reason.to_owned()));
                }
            }
            EventKind::Fail { process } => {
                let open = self.open.remove(&process)?;
                if !self.frontiers.get_mut(&open.key)?.retract(open.ticket) {
                    let name = &history.processes[process as usize];
                    let explanation = format!(
                        "the operation of process {name} did not happen, but what others were answered needs its effect"
                    );
                    let possible = Vec::new();
                    return Some(Outcome::Violated { line: event.line, explanation, possible });
                }
            }
            EventKind::Info { process } => {
                let open = self.open.remove(&process)?;
                self.frontiers.get_mut(&open.key)?.crash(open.ticket);
            }
            EventKind::Crash { process } => {
                let crashed = |p: &u32| process.is_none_or(|process| process == *p);
                let gone: Vec<u32> = self.open.keys().copied().filter(crashed).collect();
                for process in gone {
                    let open = self.open.remove(&process)?;
                    let frontier = self.frontiers.get_mut(&open.key)?;
                    match self.property {
                        Property::Strict => frontier.expire(open.ticket),
                        _ => frontier.crash(open.ticket),
                    }
                }
            }
        }
        None
    }

    fn violated(&self, line: u64, process: &str, stuck: &Stuck) -> Outcome {
        let signature = &self.spec.operations()[stuck.call.operation];
        let argument = match &stuck.call.argument {
            Value::Null => String::new(),
            argument => argument.to_string(),
        };
        let explanation = format!(
            "{}({argument}) of process {process} answered {}, which nothing explains",
            signature.name, stuck.response
        );
        Outcome::Violated { line, explanation, possible: stuck.possible.clone() }
    }
}

fn conclude(args: &CheckArgs, judge: &Judge<'_>, outcome: Option<Outcome>) -> Result<Status> {
    let (status, verdict, reason) = match &outcome {
        None => (Status::Holds, "holds", "the history is linearizable".to_owned()),
        Some(Outcome::Violated { line, explanation, .. }) => {
            (Status::Violated, "violated", format!("line {line}: {explanation}"))
        }
        Some(Outcome::Stopped(reason)) => (
            Status::Inconclusive,
            "inconclusive",
            format!("{reason}; the first {} events can be explained", judge.events),
        ),
    };
    if args.common.json {
        let mut object = json::envelope("check", &args.history.display().to_string());
        object.insert("verdict".to_owned(), json!(verdict));
        let engine = json!({
            "engine": "history", "verdict": verdict, "reason": reason, "method": "streaming search",
            "bounds": {}, "assumptions": [],
            "stats": { "events": judge.events, "completed": judge.completed },
        });
        object.insert("engines".to_owned(), json!([engine]));
        output::write_stdout(&format!("{}\n", Json::Object(object)))?;
        return Ok(status);
    }
    let mut text = format!("{verdict}: {reason}\n");
    if let Some(Outcome::Violated { possible, .. }) = &outcome {
        let shown: Vec<&str> = possible.iter().take(8).map(String::as_str).collect();
        text += &format!("Possible states just before: {}\n", shown.join(", "));
    }
    text += &format!("  {} events, {} operations returned\n", judge.events, judge.completed);
    if judge.completed == 0 {
        text += "  This says little: no operation returned an answer that could have been wrong.\n";
    }
    output::write_stdout(&text)?;
    Ok(status)
}

/// Lines as they arrive.
struct Lines {
    input: BufReader<Box<dyn Read>>,
    follow: bool,
    /// The beginning of a line whose end has not arrived.
    partial: Vec<u8>,
}

impl Lines {
    fn open(path: &Path, follow: bool) -> Result<Lines> {
        let input: Box<dyn Read> = match path == Path::new("-") {
            true => Box::new(std::io::stdin()),
            false => Box::new(
                File::open(path).with_context(|| format!("cannot read `{}`", path.display()))?,
            ),
        };
        Ok(Lines { input: BufReader::new(input), follow, partial: Vec::new() })
    }

    /// The next line; `None` at the end, or when it is time to stop.
    fn next(&mut self, stop: &Stop) -> Result<Option<Vec<u8>>> {
        loop {
            if stop.reason().is_some() {
                return Ok(None);
            }
            let read = self
                .input
                .read_until(b'\n', &mut self.partial)
                .context("cannot read the history")?;
            if self.partial.ends_with(b"\n")
                || (read == 0 && !self.follow && !self.partial.is_empty())
            {
                return Ok(Some(std::mem::take(&mut self.partial)));
            }
            if read == 0 && !self.follow {
                return Ok(None);
            }
            if read == 0 {
                std::thread::sleep(PATIENCE);
            }
        }
    }
}
