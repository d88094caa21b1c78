//! `linchpin check`: judge a recorded history.

pub mod certificate;
pub mod confirm;
mod inputs;
mod lines;
pub mod partial;
mod present;
pub mod recording;
mod stream;
mod table;
mod view;

use crate::args::{CheckArgs, OrderArg, PropertyArg};
use crate::limits::Stop;
use crate::{Status, output};
use anyhow::{Result, bail};
use inputs::{Inputs, inputs};
use linchpin_history::crash::CrashError;
use linchpin_history::search::SearchOptions;
use linchpin_history::{CheckOptions, History, KeyChecked, KeyObserver, KeyVerdict, Rank};
use linchpin_ingest::{Places, Recording};
use linchpin_report::escaped_lines;
use linchpin_report::json;
use linchpin_spec::Builtin;
use linchpin_verdict::{Inconclusive, Limits};
use present::Presentation;
use recording::{Read, Subject};
use std::io::IsTerminal;
use std::path::Path;
use std::time::Instant;
use stream::Streamed;

pub fn execute(args: &CheckArgs) -> Result<Status> {
    let named = args.store.as_ref().unwrap_or(&args.history);
    let json = args.common.json.then(|| json::envelope("check", &named.display().to_string()));
    let stop = Stop::watch(&args.limits, json);
    let subject = Subject::new(&args.recording)?;
    match inputs(args)? {
        Inputs::Many(found) => table::execute(args, &subject, &stop, found),
        Inputs::One(history) => one(&CheckArgs { history, ..args.clone() }, &subject, &stop),
    }
}

/// Judges one history, and says all about it.
fn one(args: &CheckArgs, subject: &Subject<'_>, stop: &Stop) -> Result<Status> {
    let is_stream = args.history == Path::new("-");
    if is_stream && (args.witness.is_some() || args.core.is_some()) {
        bail!("--witness and --core are about a file, which can be read again: name one");
    }
    if args.follow
        && let Some(why) = needs_all(args, subject)
    {
        bail!("{why} needs the whole history: name a file, without --follow");
    }
    let start = Instant::now();
    let most = args.limits.memory_limit;
    let read = if args.follow || (is_stream && needs_all(args, subject).is_none()) {
        match stream::execute(args, subject, stop)? {
            Streamed::Judged(status) => return Ok(status),
            Streamed::Whole(text) => {
                stop.ending_at_once(|| subject.read_text(&args.history, &text, most))
            }
        }
    } else {
        stop.ending_at_once(|| subject.read(&args.history, most))
    };
    let Read { mut recording, instead } = read?;
    let subject = instead.as_ref().unwrap_or(subject);
    let parse_seconds = start.elapsed().as_secs_f64();
    if recording.precedence.is_some() && args.with_history {
        bail!(
            "`{}`: --with-history is about intervals, and here `after` says what precedes what",
            args.history.display()
        );
    }
    let options = |limits: Limits| CheckOptions {
        // INVARIANT: the process ends when it is asked to stop.
        search: SearchOptions { abandon: true, ..SearchOptions::default() },
        observer: Some(observer(args, stop)),
        ..check_options(args, limits)
    };
    let judge = |limits| partial::judge(subject, &mut recording, &options(limits));
    let mut checked = match stop.within_limits(judge) {
        Ok(checked) => checked,
        Err(error) => bail!("`{}`: {}", args.history.display(), error),
    };
    let confirmed = stop.within_limits(|limits| {
        let (history, options) = (&recording.history, options(limits));
        match &recording.precedence {
            Some(order) => partial::confirm(subject, history, order, &mut checked, &options),
            None => confirm::confirm(subject, history, &mut checked, &options),
        }
    });
    let presentation = Presentation {
        args,
        subject,
        recording: &recording,
        checked: &checked,
        confirmed: &confirmed,
        parse_seconds,
        seconds: start.elapsed().as_secs_f64(),
    };
    // The verdict is said whatever becomes of the files.
    let report = args.report.as_ref();
    let page = report.map(|file| output::write_file(file, presentation.page().as_bytes()));
    let written = presentation.write_certificates().and(page.unwrap_or(Ok(())));
    let verdict = presentation.verdict();
    let text = match args.common.json {
        true => presentation.json(),
        false => output::with_verdict(verdict, &escaped_lines(&presentation.text())),
    };
    output::write_found(args.common.json, &text)?;
    // why: the process ends, and to free millions of values one by one would delay that.
    std::mem::forget((recording, checked));
    written?;
    Ok(verdict.into())
}

/// What is asked for that needs the whole history, so that it cannot be judged as it arrives.
fn needs_all(args: &CheckArgs, subject: &Subject<'_>) -> Option<&'static str> {
    if args.report.is_some() {
        Some("--report")
    } else if args.with_history {
        Some("--with-history")
    } else if args.recording.property == PropertyArg::Recoverable {
        Some("--property recoverable")
    } else if args.recording.property == PropertyArg::Detectable {
        Some("--property detectable")
    } else if args.recording.order == OrderArg::Time {
        Some("--order time")
    } else if subject.object.data_type() == Some(Builtin::Etcd) {
        // INVARIANT: what is judged as it arrives answers in one way; of etcd's answers not
        // everything need be recorded.
        Some("--spec etcd")
    } else {
        None
    }
}

/// Tells of violated objects while others are still being judged.
fn observer(args: &CheckArgs, stop: &Stop) -> KeyObserver {
    let stop = stop.clone();
    let is_heard = std::io::stderr().is_terminal() && !args.common.quiet;
    KeyObserver::new(move |history: &History, checked: &KeyChecked| {
        if let KeyVerdict::Violated { violation, .. } = &checked.verdict {
            let key = history.values.get(checked.key);
            let words = format!("key {key}: {}", violation.explanation);
            if is_heard {
                output::say(&escaped_lines(&format!("violated so far: {words}\n")));
            }
            stop.found(words);
        }
    })
}

/// What is wrong with the crashes of a history, with the lines of its file.
fn crash_error(error: &CrashError, recording: &Recording) -> String {
    error.said(|at| place(&recording.places, at))
}

/// Where an event is: its line or, where lines are not known, its number, from 1.
fn place(places: &Places, rank: Rank) -> String {
    match places.line(rank) {
        Some(line) => format!("line {line}"),
        None => format!("event {}", rank.index() + 1),
    }
}

/// What is asked of the engine.
fn check_options(args: &CheckArgs, limits: Limits) -> CheckOptions {
    CheckOptions {
        property: recording::property(args.recording.property),
        limits,
        monitors: !args.no_monitors,
        ..CheckOptions::default()
    }
}

/// Why a history was not decided, with the lines of its file.
fn not_decided(reason: &Inconclusive, places: &Places) -> String {
    let Inconclusive::Explained { by, events, of } = reason else { return reason.to_string() };
    match events.checked_sub(1).map(|last| places.line(Rank::new(last))) {
        None => format!("{by}; nothing is known about any of the {of} events"),
        Some(Some(line)) => format!(
            "{by}; what is up to line {line} can be explained ({events} of {of} events), about the \
             rest nothing is known"
        ),
        Some(None) => reason.to_string(),
    }
}

/// What a history that holds is.
fn property_words(property: PropertyArg) -> &'static str {
    match property {
        PropertyArg::Linearizable => "linearizable",
        PropertyArg::Strict => "strictly linearizable",
        PropertyArg::Recoverable => "recoverably linearizable",
        PropertyArg::Durable => "durably linearizable",
        PropertyArg::Detectable => "detectably linearizable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linchpin_ingest::{ReadOptions, read_bytes};
    use linchpin_spec::{Register, Spec};
    use linchpin_verdict::StopReason;

    #[test]
    fn what_is_not_decided_is_said_in_lines() {
        let register = Register::default();
        let options = ReadOptions::new("register", register.operations());
        let text = br#"

{"process":0,"type":"invoke","f":"write","value":1}

{"process":0,"type":"ok","f":"write"}
"#;
        let places = read_bytes(text, &options).expect("a history").places;
        let said = |events| {
            let reason = Inconclusive::Explained { by: StopReason::Time, events, of: 2 };
            not_decided(&reason, &places)
        };
        assert!(said(1).contains("up to line 3 can be explained (1 of 2 events)"), "{}", said(1));
        assert!(said(2).contains("up to line 5 can be explained"), "{}", said(2));
        assert!(said(0).contains("nothing is known about any of the 2 events"), "{}", said(0));
    }
}
