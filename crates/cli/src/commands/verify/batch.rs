//! Several models: side by side, one table at the end.

use super::files::Models;
use super::outcome::FileOutcome;
use crate::args::VerifyArgs;
use crate::limits::Stop;
use crate::progress::Progress;
use crate::{Status, errors, output};
use anyhow::{Context, Error, Result};
use linchpin_report::{Batch, BatchRow};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Memory that a model should have for itself, in bytes: fewer are verified at a time if there is
/// less.
const NEEDED: u64 = 1 << 30;

/// Verifies all files with `one`, says what came of each in their order, then all in a table.
pub fn verify_all(
    args: &VerifyArgs,
    models: &Models,
    stop: &Stop,
    one: &(dyn Fn(&Path, usize) -> Result<FileOutcome> + Sync),
) -> Result<Status> {
    let jobs = jobs(models.files.len(), args, stop);
    let progress = Progress::new(&args.common);
    let printer = Mutex::new(Printer::new(args, models));
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some(file) = models.files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let at = done.load(Ordering::Relaxed);
            progress.show(|| {
                format!("{} of {} models done; now {}", at, models.files.len(), file.display())
            });
            let came = one(file, jobs);
            done.fetch_add(1, Ordering::Relaxed);
            let mut printer = printer.lock().unwrap_or_else(PoisonError::into_inner);
            printer.add(file.clone(), came);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs {
            // Where no thread can be made, this one does the work of all.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    drop(progress);
    printer.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
}

/// How many models are verified at a time.
fn jobs(files: usize, args: &VerifyArgs, stop: &Stop) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = args.workers.map_or(cores, usize::from);
    let by_memory =
        stop.memory().map_or(cores, |most| usize::try_from(most / NEEDED).unwrap_or(usize::MAX));
    cores.min(by_memory).min(files).max(1)
}

/// Says what came of the files, in their order.
struct Printer<'a> {
    args: &'a VerifyArgs,
    /// Whether each is shown at length before the table.
    at_length: bool,
    /// The files of which nothing is said yet, with what came of those that are done.
    waiting: VecDeque<(PathBuf, Option<Result<FileOutcome>>)>,
    rows: Vec<BatchRow>,
    worst: Status,
    failed: Option<Error>,
}

impl<'a> Printer<'a> {
    fn new(args: &'a VerifyArgs, models: &Models) -> Printer<'a> {
        Printer {
            args,
            at_length: !models.has_folder || args.common.verbose || args.common.json,
            waiting: models.files.iter().map(|file| (file.clone(), None)).collect(),
            rows: Vec::new(),
            worst: Status::Holds,
            failed: None,
        }
    }

    fn add(&mut self, file: PathBuf, came: Result<FileOutcome>) {
        let is_it = |(other, said): &&mut (PathBuf, Option<Result<FileOutcome>>)| {
            *other == file && said.is_none()
        };
        if let Some((_, said)) = self.waiting.iter_mut().find(is_it) {
            *said = Some(came);
        }
        while self.waiting.front().is_some_and(|(_, came)| came.is_some()) {
            if let Some((file, Some(came))) = self.waiting.pop_front()
                && let Err(error) = self.say(&file, came)
            {
                self.failed.get_or_insert(error);
            }
        }
    }

    fn say(&mut self, file: &Path, came: Result<FileOutcome>) -> Result<()> {
        let mut row = BatchRow::new(file.display().to_string());
        let outcome = match came {
            Ok(outcome) => outcome,
            // One bad file does not end a batch.
            Err(error) => {
                errors::report(&error, "verify", self.args.common.json);
                self.worst = self.worst.worse(errors::status(&error));
                self.rows.push(row);
                return Ok(());
            }
        };
        self.worst = self.worst.worse(outcome.status());
        row.verdict = (!outcome.is_contradiction).then_some(outcome.verdict);
        row.is_contradiction = outcome.is_contradiction;
        row.reason = outcome.reason.clone();
        row.by = outcome.by.clone();
        row.seconds = Some(outcome.seconds);
        row.as_expected = outcome.expected.map(|expected| expected.is_met(outcome.verdict));
        row.is_remembered = outcome.is_remembered;
        let linked = self.write_page(file, &outcome);
        if self.at_length || outcome.is_contradiction {
            output::write_found(self.args.common.json, &outcome.printed())?;
        }
        row.link = linked?;
        self.rows.push(row);
        Ok(())
    }

    /// Writes the page of a model into a folder beside that of the table; its place as seen from
    /// there.
    fn write_page(&self, file: &Path, outcome: &FileOutcome) -> Result<Option<String>> {
        let (Some(report), Some(page)) = (&self.args.report, &outcome.page) else {
            return Ok(None);
        };
        let stem = report.file_stem().unwrap_or_default().to_string_lossy();
        let named = format!("{stem}_files");
        let folder = output::folder(report).join(&named);
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make `{}`", folder.display()))?;
        let name: String = file
            .display()
            .to_string()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' })
            .collect();
        let name = format!("{}.html", name.trim_start_matches(['.', '_']));
        output::write_file(&folder.join(&name), page.as_bytes())?;
        Ok(Some(format!("{named}/{name}")))
    }

    fn finish(self) -> Result<Status> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let batch = Batch { rows: self.rows };
        if !self.args.common.json {
            output::write_stdout(&batch.text(&output::verdict_on_stdout))?;
        }
        if let Some(report) = &self.args.report {
            output::write_file(report, batch.page().as_bytes())?;
        }
        Ok(self.worst)
    }
}
