//! The files of a failure: its history, and the scenario that is tried first the next time.
//!
//! They are in `target/linchpin` of the test, or where `LINCHPIN_OUT` says.

use crate::definition::Subject;
use crate::failure::{Failure, Files, Kind};
use crate::json;
use crate::page;
use crate::scenario::{Call, Scenario};
use linchpin_history_data::{Crash, History, OpId, Precedence, Rank};
use linchpin_spec::{Signature, Value};
use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

/// Scenarios with more calls are not tried again.
const LONGEST: usize = 64;

/// The failure, with its files written. That they cannot be written is a note, not an error.
pub fn written(mut failure: Failure) -> Failure {
    let Some(folder) = failure.folder.clone() else { return failure };
    if let Kind::Limit(_) | Kind::Hung(_) | Kind::Unseen(_) = failure.kind {
        return failure;
    }
    match write(&failure, &folder) {
        Ok(files) => {
            failure.notes.extend(page::written(&failure, &files));
            failure.files = Some(files);
        }
        Err(error) => failure.notes.push(format!("its files cannot be written: {error}")),
    }
    failure
}

fn write(failure: &Failure, folder: &Path) -> io::Result<Files> {
    fs::create_dir_all(folder)?;
    let stem = stem(&failure.test);
    let history = folder.join(format!("{stem}.jsonl"));
    let events = events(&failure.history, &failure.signatures, failure.order.as_ref());
    whole(&history, &events.iter().map(|event| format!("{event}\n")).collect::<String>())?;
    let short = failure.scenario.as_ref().filter(|scenario| scenario.len() <= LONGEST);
    let regression = match short {
        Some(scenario) => {
            let path = folder.join(format!("{stem}.json"));
            whole(&path, &regression(failure, scenario, &events))?;
            Some(path)
        }
        None => None,
    };
    Ok(Files { history, regression })
}

/// Writes a file whole or not at all.
fn whole(path: &Path, text: &str) -> io::Result<()> {
    let part = path.with_extension(format!("{}.part", process::id()));
    fs::write(&part, text)?;
    fs::rename(&part, path)
}

/// What a failure left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regression {
    /// The file.
    pub path: PathBuf,
    /// What was called.
    pub scenario: Scenario,
    /// What repeats the execution, if it was controlled.
    pub decisions: Option<Vec<u32>>,
}

/// What failed the last time, if there is something and it still makes sense.
pub fn last_failure(subject: &Subject) -> Option<Regression> {
    let path = subject.folder.as_ref()?.join(format!("{}.json", stem(&subject.name)));
    regression_at(subject, &path).ok()
}

/// The failure in a file.
///
/// # Errors
///
/// If the file cannot be read, or is not about this test.
pub(crate) fn regression_at(subject: &Subject, path: &Path) -> Result<Regression, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let strange = || format!("it is no failure of `{}`", subject.name);
    let scenario = scenario(subject, &text).ok_or_else(strange)?;
    Ok(Regression { path: path.to_owned(), scenario, decisions: decisions(&text) })
}

/// Where files go, unless a test says otherwise.
pub fn folder() -> PathBuf {
    if let Some(folder) = env::var_os("LINCHPIN_OUT") {
        return folder.into();
    }
    // A test is `target/debug/deps/NAME`, with another folder in between for other targets.
    let target = env::current_exe().ok().and_then(|path| {
        let mut folders = path.ancestors();
        folders.find(|folder| folder.ends_with("deps"))?;
        folders.nth(1).map(Path::to_owned)
    });
    target.unwrap_or_else(env::temp_dir).join("linchpin")
}

fn stem(test: &str) -> String {
    test.replace("::", "-").replace(|c: char| !(c.is_alphanumeric() || "-_".contains(c)), "_")
}

/// The events of a history, as JSON. Where there is an order of the operations, they say what they
/// come after, and the order of the lines means nothing.
fn events(history: &History, signatures: &[Signature], order: Option<&Precedence>) -> Vec<String> {
    let mut events: Vec<(Rank, bool, OpId)> = Vec::with_capacity(2 * history.operations.len());
    for (id, operation) in history.iter() {
        events.push((operation.invoked, false, id));
        if operation.completed {
            events.push((operation.returned, true, id));
        }
    }
    match order {
        Some(_) => events.sort_unstable_by_key(|(_, returns, id)| (*id, *returns)),
        None => events.sort_unstable(),
    }
    let crash = |crash: &Crash| match crash.process {
        None => r#"{"type":"crash"}"#.to_owned(),
        Some(process) => {
            let process = written_process(history.process_name(process));
            format!(r#"{{"type":"crash","process":{process}}}"#)
        }
    };
    let after = |id: OpId| {
        let Some(order) = order else { return String::new() };
        let before = history.ids().filter(|first| order.precedes(*first, id));
        let before: Vec<String> = before.map(|first| first.index().to_string()).collect();
        format!(r#","op":{},"after":[{}]"#, id.index(), before.join(","))
    };
    let event = |(_, returns, id): &(Rank, bool, OpId)| {
        let operation = &history[*id];
        let name = signatures.get(usize::from(operation.operation)).map_or("?", |one| &one.name);
        let process = written_process(history.process_name(operation.process));
        let (kind, value) = match returns {
            true => ("ok", operation.response),
            false => ("invoke", operation.argument),
        };
        let (name, value) = (Value::str(name), json::write(&history.value(value)));
        let after = if *returns { String::new() } else { after(*id) };
        format!(r#"{{"process":{process},"type":"{kind}","f":{name},"value":{value}{after}}}"#)
    };
    let mut crashes = history.crashes.iter().peekable();
    let mut lines = Vec::with_capacity(events.len() + history.crashes.len());
    for next in &events {
        while let Some(crashed) = crashes.next_if(|crash| crash.at < next.0) {
            lines.push(crash(crashed));
        }
        lines.push(event(next));
    }
    lines.extend(crashes.map(crash));
    lines
}

/// A process, as JSON.
fn written_process(name: &str) -> String {
    match name.parse::<u32>() {
        Ok(number) => number.to_string(),
        Err(_) => Value::str(name).to_string(),
    }
}

fn regression(failure: &Failure, scenario: &Scenario, events: &[String]) -> String {
    let call = |call: &Call| {
        let name = failure.operations.get(call.operation).map_or("?", String::as_str);
        let items = [Value::str(name)].into_iter().chain(call.arguments.iter().cloned());
        json::write(&Value::list(items))
    };
    let calls =
        |calls: &[Call]| format!("[{}]", calls.iter().map(call).collect::<Vec<_>>().join(","));
    let threads: Vec<String> = scenario.threads.iter().map(|thread| calls(thread)).collect();
    format!(
        "{{\n\"linchpin\":\"{}\",\n\"test\":{},\n\"mode\":\"{}\",\n\"seed\":{},\n\"before\":{},\n\"threads\":[{}],\n{}\"history\":[\n{}\n]\n}}\n",
        env!("CARGO_PKG_VERSION"),
        Value::str(&failure.test),
        failure.mode.map_or_else(String::new, |mode| mode.to_string()),
        failure.seed,
        calls(&scenario.before),
        threads.join(","),
        written_decisions(failure),
        events.join(",\n"),
    )
}

/// The decisions of a controlled execution, as a field.
fn written_decisions(failure: &Failure) -> String {
    let Some(decisions) = &failure.decisions else { return String::new() };
    let decisions: Vec<String> = decisions.iter().map(u32::to_string).collect();
    format!("\"decisions\":[{}],\n", decisions.join(","))
}

fn decisions(text: &str) -> Option<Vec<u32>> {
    let Value::Map(fields) = json::read(text)? else { return None };
    let decisions = fields.get(&Value::str("decisions"))?.as_list()?;
    decisions.iter().map(|one| u32::try_from(one.as_int()?).ok()).collect()
}

/// The scenario of a regression file.
fn scenario(subject: &Subject, text: &str) -> Option<Scenario> {
    let Value::Map(fields) = json::read(text)? else { return None };
    let field = |name: &str| fields.get(&Value::str(name));
    let call = |call: &Value| {
        let (name, arguments) = call.as_list()?.split_first()?;
        let is_it = |known: &str| *name == Value::str(known);
        let operation = subject.operations.iter().position(|known| is_it(&known.name))?;
        let accepted = (subject.operations[operation].accepts)(arguments);
        accepted.then(|| Call { operation, arguments: arguments.iter().cloned().collect() })
    };
    let calls = |value: &Value| value.as_list()?.iter().map(call).collect::<Option<Vec<Call>>>();
    let threads = field("threads")?.as_list()?.iter().map(calls).collect::<Option<Vec<_>>>()?;
    let scenario = Scenario { before: calls(field("before")?)?, threads };
    let is_short = scenario.len() <= LONGEST && scenario.threads.len() <= LONGEST;
    (is_short && !scenario.threads.is_empty()).then_some(scenario)
}
