//! `linchpin check`: judge a recorded history.

pub mod certificate;
pub mod confirm;
mod inputs;
mod lines;
mod present;
pub mod recording;
mod stream;
mod table;
mod view;

use crate::args::{CheckArgs, PropertyArg};
use crate::limits::Stop;
use crate::{Status, output};
use anyhow::{Result, bail};
use inputs::{Inputs, inputs};
use linchpin_history::search::SearchOptions;
use linchpin_history::{CheckOptions, History, KeyChecked, KeyObserver, KeyVerdict, check};
use linchpin_report::escaped_lines;
use linchpin_report::json;
use linchpin_verdict::Limits;
use present::Presentation;
use recording::Subject;
use std::io::IsTerminal;
use std::path::Path;
use std::time::Instant;

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
    // What shows the whole history needs the whole history.
    let needs_all = args.report.is_some() || args.with_history;
    if args.follow || (is_stream && !needs_all) {
        return stream::execute(args, subject, stop);
    }
    let start = Instant::now();
    let read = || subject.read(&args.history, args.limits.memory_limit);
    let mut recording = stop.ending_at_once(read)?;
    let parse_seconds = start.elapsed().as_secs_f64();
    let options = |limits: Limits| CheckOptions {
        // INVARIANT: the process ends when it is asked to stop.
        search: SearchOptions { abandon: true, ..SearchOptions::default() },
        observer: Some(observer(args, stop)),
        ..check_options(args, limits)
    };
    let judge = |limits| check(&subject.object, &mut recording.history, &options(limits));
    let mut checked = match stop.within_limits(judge) {
        Ok(checked) => checked,
        Err(error) => bail!("`{}`: {error}", args.history.display()),
    };
    let confirmed = stop.within_limits(|limits| {
        confirm::confirm(subject, &recording.history, &mut checked, &options(limits))
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
    output::write_stdout(&text)?;
    // why: the process ends, and to free millions of values one by one would delay that.
    std::mem::forget((recording, checked));
    written?;
    Ok(verdict.into())
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

/// What is asked of the engine.
fn check_options(args: &CheckArgs, limits: Limits) -> CheckOptions {
    CheckOptions {
        property: recording::property(args.recording.property),
        limits,
        monitors: !args.no_monitors,
        ..CheckOptions::default()
    }
}

/// What a history that holds is.
fn property_words(property: PropertyArg) -> &'static str {
    match property {
        PropertyArg::Linearizable => "linearizable",
        PropertyArg::Strict => "strictly linearizable",
        PropertyArg::Recoverable => "recoverably linearizable",
        PropertyArg::Durable => "durably linearizable",
    }
}
