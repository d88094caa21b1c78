//! Many histories, judged beside each other: a line for each.
//!
//! The exit code is that of the worst of them: 1 if one is violated; else 2 if one could not be
//! read; else 3 if one is inconclusive; else 0. What is no history is listed, and counts for
//! nothing.
//!
//! No hard history keeps the others waiting: each is searched for a while first, those that are
//! left for longer, and then until the limits. Those that are judged beside each other share the
//! memory; what needs more than its share is judged alone in the end.

use super::recording::{Read, Subject};
use super::{check_options, not_decided, partial, property_words};
use crate::args::CheckArgs;
use crate::limits::{Stop, describe};
use crate::{Status, output};
use anyhow::{Result, bail};
use linchpin_history::Judgement;
use linchpin_ingest::{Found, Remark};
use linchpin_report::{escaped_lines, json};
use linchpin_verdict::{Limits, StopReason, Verdict};
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// How many characters of the reason are shown.
const WHY: usize = 72;

/// How many remarks are shown.
const REMARKS: usize = 10;

/// For how many configurations histories are searched, round by round; then without a limit.
const ROUNDS: [Option<u64>; 3] = [Some(1 << 14), Some(1 << 20), None];

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
    /// How it was read, where that could be done in another way.
    remarks: Vec<Remark>,
    /// What stopped it, if it was not decided.
    stopped_by: Option<StopReason>,
}

impl Row {
    fn new(path: &Path, answer: Answer, why: &str) -> Row {
        let why = why.lines().next().unwrap_or_default().to_owned();
        let (path, remarks) = (path.to_path_buf(), Vec::new());
        Row { path, answer, seconds: 0.0, why, remarks, stopped_by: None }
    }
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
    let rows = Table { args, subject, stop, found: &found }.judged();
    let (status, verdict) = worst(&rows);
    let text = match args.common.json {
        true => to_json(args, &rows, verdict),
        false => output::with_verdict(verdict, &escaped_lines(&to_text(args, &rows, verdict))),
    };
    output::write_stdout(&text)?;
    Ok(status)
}

/// Histories to be judged.
struct Table<'a> {
    args: &'a CheckArgs,
    subject: &'a Subject<'a>,
    stop: &'a Stop,
    found: &'a [Found],
}

impl Table<'_> {
    /// What became of each, in the order in which they were found.
    fn judged(&self) -> Vec<Row> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let mut rows: Vec<Option<Row>> = self.found.iter().map(|_| None).collect();
        let all: Vec<usize> = (0..self.found.len()).collect();
        for configurations in ROUNDS {
            let is_open = |at: &usize| {
                let stopped_by = rows[*at].as_ref().map(|row| row.stopped_by);
                matches!(stopped_by, None | Some(Some(StopReason::Budget)))
            };
            let open: Vec<usize> = all.iter().copied().filter(is_open).collect();
            self.round(&open, cores, configurations, &mut rows);
        }
        // INVARIANT: what was stopped by its share of the memory was not stopped by the limit.
        let needs_memory = |row: &Option<Row>| {
            let stopped_by = row.as_ref().and_then(|row| row.stopped_by);
            stopped_by == Some(StopReason::Memory) && self.stop.reason().is_none()
        };
        for at in all {
            if needs_memory(&rows[at]) {
                self.round(&[at], 1, None, &mut rows);
            }
        }
        rows.into_iter().flatten().collect()
    }

    /// Judges these beside each other, so many at a time.
    fn round(
        &self,
        open: &[usize],
        workers: usize,
        configurations: Option<u64>,
        rows: &mut [Option<Row>],
    ) {
        let workers = workers.min(open.len()).max(1);
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::new());
        let work = || {
            while let Some(at) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
                let limits = Limits { configurations, ..self.stop.share(workers) };
                let row = self.judge(&self.found[*at], limits);
                done.lock().unwrap_or_else(PoisonError::into_inner).push((*at, row));
            }
        };
        thread::scope(|scope| {
            for _ in 1..workers {
                // Where no thread can be made, this one does all the work.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        for (at, mut row) in done.into_inner().unwrap_or_else(PoisonError::into_inner) {
            // What is judged again took longer than the last time.
            row.seconds += rows[at].as_ref().map_or(0.0, |row| row.seconds);
            rows[at] = Some(row);
        }
    }

    fn judge(&self, found: &Found, limits: Limits) -> Row {
        let path = &found.path;
        if let Some(why) = &found.skipped {
            return Row::new(path, Answer::Skipped, &why.to_string());
        }
        let start = Instant::now();
        let row = match self.stop.reason() {
            Some(reason) => {
                let verdict = Verdict::Inconclusive;
                let answer = Answer::Judged { verdict, operations: 0, format: "" };
                let row = Row::new(path, answer, &describe(reason));
                Row { stopped_by: Some(reason), ..row }
            }
            None => self.read_and_judge(path, limits),
        };
        Row { seconds: start.elapsed().as_secs_f64(), ..row }
    }

    fn read_and_judge(&self, path: &Path, limits: Limits) -> Row {
        let mistake = |why: String| Row::new(path, Answer::Mistake, &why);
        let read = self.subject.read(path, self.args.limits.memory_limit);
        let Read { mut recording, instead } = match read {
            Ok(read) => read,
            Err(error) => return mistake(error.root_cause().to_string()),
        };
        let subject = instead.as_ref().unwrap_or(self.subject);
        let options = check_options(self.args, limits);
        let checked = match partial::judge(subject, &mut recording, &options) {
            Ok(checked) => checked,
            Err(error) => return mistake(error.to_string()),
        };
        let mut stopped_by = None;
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
            Judgement::Inconclusive(reason) => {
                stopped_by = reason.stopped_by();
                (Verdict::Inconclusive, not_decided(reason, &recording.places))
            }
        };
        let (operations, format) = (recording.history.operations.len(), recording.format.name());
        let row = Row::new(path, Answer::Judged { verdict, operations, format }, &why);
        Row { remarks: recording.remarks, stopped_by, ..row }
    }
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
    text + &remarks(rows)
}

/// How histories were read, where that could be done in another way.
fn remarks(rows: &[Row]) -> String {
    let of = |row: &'_ Row| {
        let path = row.path.display().to_string();
        row.remarks.iter().map(|remark| format!("  {path}: {remark}\n")).collect::<Vec<_>>()
    };
    let mut all: Vec<String> = rows.iter().flat_map(of).collect();
    if all.is_empty() {
        return String::new();
    }
    let left = all.len().saturating_sub(REMARKS);
    all.truncate(REMARKS);
    let more = match left {
        0 => String::new(),
        left => format!("  and {left} more: --json has them all\n"),
    };
    format!("\nHow they were read:\n{}{more}", all.concat())
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
                "notes": row.remarks.iter().map(ToString::to_string).collect::<Vec<_>>(),
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
