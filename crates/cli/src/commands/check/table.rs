//! Many histories, judged beside each other: a line for each.
//!
//! The exit code is that of the worst of them: 1 if one is violated; else 2 if one could not be
//! read; else 3 if one is inconclusive; else 0. What is no history is listed, and counts for
//! nothing.

use super::recording::Subject;
use super::{check_options, property_words};
use crate::args::CheckArgs;
use crate::limits::{Stop, describe};
use crate::{Status, output};
use anyhow::{Result, bail};
use linchpin_history::{CheckOptions, Judgement, check};
use linchpin_ingest::{Found, Skipped};
use linchpin_report::{escaped_lines, json};
use linchpin_verdict::Verdict;
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// How many characters of the reason are shown.
const WHY: usize = 72;

/// What became of one file.
enum Answer {
    Judged {
        verdict: Verdict,
        operations: usize,
        format: &'static str,
    },
    /// It could not be read.
    Mistake,
    Skipped,
}

/// One line of the table.
struct Row {
    path: PathBuf,
    answer: Answer,
    seconds: f64,
    /// Why, in one line; empty where there is nothing to say.
    why: String,
}

/// Judges every history, over the cores, until the time is up.
pub fn execute(
    args: &CheckArgs,
    subject: &Subject<'_>,
    stop: &Stop,
    found: Vec<Found>,
) -> Result<Status> {
    let outputs = [&args.witness, &args.core, &args.report];
    if args.follow || args.with_history || outputs.iter().any(|output| output.is_some()) {
        bail!(
            "--follow, --with-history, --witness, --core and --report are about one history: name \
             one file"
        );
    }
    let options = check_options(args, stop.limits());
    let rows = judged(args, subject, stop, &options, found);
    let (status, verdict) = worst(&rows);
    let text = match args.common.json {
        true => to_json(args, &rows, verdict),
        false => output::with_verdict(verdict, &escaped_lines(&to_text(args, &rows, verdict))),
    };
    output::write_stdout(&text)?;
    Ok(status)
}

fn judged(
    args: &CheckArgs,
    subject: &Subject<'_>,
    stop: &Stop,
    options: &CheckOptions,
    found: Vec<Found>,
) -> Vec<Row> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let rows = Mutex::new(Vec::new());
    let work = || {
        while let Some(found) = found.get(next.fetch_add(1, Ordering::Relaxed)) {
            let at = found.path.clone();
            let row = match &found.skipped {
                Some(why) => skipped(at, why),
                None => judge(args, subject, stop, options, at),
            };
            if let Ok(mut rows) = rows.lock() {
                rows.push(row);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..cores.min(found.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut rows = rows.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let position = |row: &Row| found.iter().position(|found| found.path == row.path);
    rows.sort_by_cached_key(position);
    rows
}

fn skipped(path: PathBuf, why: &Skipped) -> Row {
    Row { path, answer: Answer::Skipped, seconds: 0.0, why: why.to_string() }
}

fn judge(
    args: &CheckArgs,
    subject: &Subject<'_>,
    stop: &Stop,
    options: &CheckOptions,
    path: PathBuf,
) -> Row {
    let start = Instant::now();
    let row = |answer, why: String| Row {
        path: path.clone(),
        answer,
        seconds: start.elapsed().as_secs_f64(),
        why: why.lines().next().unwrap_or_default().to_owned(),
    };
    let inconclusive = |operations, format, why| {
        row(Answer::Judged { verdict: Verdict::Inconclusive, operations, format }, why)
    };
    if let Some(reason) = stop.reason() {
        return inconclusive(0, "", describe(reason));
    }
    let mut recording = match subject.read(&path, args.limits.memory_limit) {
        Ok(recording) => recording,
        Err(error) => return row(Answer::Mistake, error.root_cause().to_string()),
    };
    let operations = recording.history.operations.len();
    let format = recording.format.name();
    let checked = match check(&subject.object, &mut recording.history, options) {
        Ok(checked) => checked,
        Err(error) => return row(Answer::Mistake, error.to_string()),
    };
    let (verdict, why) = match &checked.judgement {
        Judgement::Holds(_) if recording.is_vacuous() => {
            (Verdict::Holds, "says little: no operation returned an answer".to_owned())
        }
        Judgement::Holds(_) => (Verdict::Holds, String::new()),
        Judgement::Violated(violation) => {
            let key = checked.key.map(|key| recording.history.values.get(key));
            let key = key.map_or_else(String::new, |key| format!("key {key}: "));
            (Verdict::Violated, format!("{key}{}", violation.explanation))
        }
        Judgement::Inconclusive(reason) => (Verdict::Inconclusive, reason.to_string()),
    };
    row(Answer::Judged { verdict, operations, format }, why)
}

/// The exit code, and the verdict of all of them together: what could not be read was not judged.
fn worst(rows: &[Row]) -> (Status, Verdict) {
    let has = |wanted: Verdict| {
        rows.iter().any(|row| match row.answer {
            Answer::Judged { verdict, .. } => verdict == wanted,
            _ => false,
        })
    };
    if has(Verdict::Violated) {
        (Status::Violated, Verdict::Violated)
    } else if rows.iter().any(|row| matches!(row.answer, Answer::Mistake)) {
        (Status::Input, Verdict::Inconclusive)
    } else if has(Verdict::Inconclusive) {
        (Status::Inconclusive, Verdict::Inconclusive)
    } else {
        (Status::Holds, Verdict::Holds)
    }
}

/// `3 hold, 1 is violated, …`: how many there are of each kind.
fn counts(args: &CheckArgs, rows: &[Row]) -> String {
    let judged = |wanted| {
        let is =
            |row: &&Row| matches!(row.answer, Answer::Judged { verdict, .. } if verdict == wanted);
        rows.iter().filter(is).count()
    };
    let mistakes = rows.iter().filter(|row| matches!(row.answer, Answer::Mistake)).count();
    let skipped = rows.iter().filter(|row| matches!(row.answer, Answer::Skipped)).count();
    let property = property_words(args.recording.property);
    let parts = [
        (judged(Verdict::Violated), format!("not {property}")),
        (mistakes, "not readable".to_owned()),
        (judged(Verdict::Inconclusive), "inconclusive".to_owned()),
        (judged(Verdict::Holds), property.to_owned()),
        (skipped, "skipped".to_owned()),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, words)| format!("{count} {words}")).collect::<Vec<_>>().join(", ")
}

fn to_text(args: &CheckArgs, rows: &[Row], verdict: Verdict) -> String {
    let mut lines = vec![["file", "operations", "verdict", "seconds", "why"].map(str::to_owned)];
    for row in rows {
        let (operations, verdict) = match row.answer {
            Answer::Judged { verdict, operations, .. } => {
                (operations.to_string(), verdict.id().to_owned())
            }
            Answer::Mistake => (String::new(), "error".to_owned()),
            Answer::Skipped => (String::new(), "skipped".to_owned()),
        };
        let seconds = match row.answer {
            Answer::Skipped => String::new(),
            _ => format!("{:.3}", row.seconds),
        };
        let path = row.path.display().to_string();
        lines.push([path, operations, verdict, seconds, first_words(&row.why)]);
    }
    let width = |column: usize| {
        lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..4).map(width).collect();
    let mut text = format!("{}: {}\n\n", verdict.id(), counts(args, rows));
    for [path, operations, verdict, seconds, why] in &lines {
        let [a, b, c, d] = [widths[0], widths[1], widths[2], widths[3]];
        let line = format!("{path:a$}  {operations:>b$}  {verdict:c$}  {seconds:>d$}  {why}");
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// As much of a reason as fits, to the end of a word.
fn first_words(why: &str) -> String {
    let Some((cut, _)) = why.char_indices().nth(WHY) else {
        return why.to_owned();
    };
    let whole = why[..cut].rfind(' ').unwrap_or(cut);
    format!("{} …", &why[..whole])
}

fn to_json(args: &CheckArgs, rows: &[Row], verdict: Verdict) -> String {
    let subjects: Vec<String> = args.paths().map(|path| path.display().to_string()).collect();
    let mut object = json::envelope("check", &subjects.join(" "));
    object.insert("verdict".to_owned(), json!(verdict.id()));
    object.insert("reason".to_owned(), json!(counts(args, rows)));
    let histories = rows.iter().filter(|row| !matches!(row.answer, Answer::Skipped));
    let history = |row: &Row| {
        let file = row.path.display().to_string();
        match row.answer {
            Answer::Judged { verdict, operations, format } => json!({
                "file": file, "verdict": verdict.id(), "reason": row.why,
                "stats": { "operations": operations, "format": format, "seconds": row.seconds },
            }),
            _ => json!({ "file": file, "error": row.why, "stats": { "seconds": row.seconds } }),
        }
    };
    object.insert("histories".to_owned(), histories.map(history).collect());
    let skipped = rows.iter().filter(|row| matches!(row.answer, Answer::Skipped));
    let skipped =
        skipped.map(|row| json!({ "file": row.path.display().to_string(), "reason": row.why }));
    object.insert("skipped".to_owned(), skipped.collect());
    format!("{}\n", Json::Object(object))
}
