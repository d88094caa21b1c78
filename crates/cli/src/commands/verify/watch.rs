//! `--watch`: verifies again whenever a file changes, until it is stopped.

use super::files::Models;
use crate::args::VerifyArgs;
use crate::limits::Stop;
use crate::{Status, errors, output};
use anyhow::Result;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// How often the files are looked at.
const INTERVAL: Duration = Duration::from_millis(200);

/// What tells one state of a file from the next: when it was written, and how long it is.
type Stamp = Option<(SystemTime, u64)>;

/// Does the work, and again after every change of a file.
pub fn watch(
    args: &VerifyArgs,
    stop: &Stop,
    work: impl Fn(&Models) -> Result<Status>,
) -> Result<Status> {
    loop {
        let before = stamps(&args.files);
        let done = Models::find(&args.files).and_then(|models| work(&models));
        let last = match done {
            Ok(status) => status,
            // A model that is being written may have mistakes.
            Err(error) => {
                errors::report(&error, "verify", args.common.json);
                errors::status(&error)
            }
        };
        if !args.common.quiet {
            output::say("watching: Ctrl-C ends it\n");
        }
        while stop.reason().is_none() && stamps(&args.files) == before {
            std::thread::sleep(INTERVAL);
        }
        if stop.reason().is_some() {
            return Ok(last);
        }
    }
}

/// The state of every model that is named, in order.
fn stamps(named: &[PathBuf]) -> Vec<(PathBuf, Stamp)> {
    let files = Models::find(named).map_or_else(|_| named.to_vec(), |models| models.files);
    let stamp = |file: &PathBuf| {
        let found = std::fs::metadata(file).ok()?;
        Some((found.modified().ok()?, found.len()))
    };
    files.into_iter().map(|file| (file.clone(), stamp(&file))).collect()
}
