//! Which histories to judge: one, or a table of them.

use crate::args::CheckArgs;
use anyhow::{Context, Result, bail};
use linchpin_ingest::{Found, histories, latest_run, whole};
use std::path::{Path, PathBuf};

/// What is to be judged.
pub enum Inputs {
    /// One history, which is answered in full.
    One(PathBuf),
    /// Each on a line of a table, and what was found beside them.
    Many(Vec<Found>),
}

/// What the arguments name. A folder that is one history, such as the run of a Jepsen test, and
/// holds no other, is that one.
pub fn inputs(args: &CheckArgs) -> Result<Inputs> {
    if let Some(store) = &args.store {
        let run = latest_run(store).with_context(|| format!("`{}`", store.display()))?;
        return Ok(Inputs::One(run));
    }
    if args.more.is_empty() && !args.history.is_dir() {
        return Ok(Inputs::One(args.history.clone()));
    }
    let mut found = Vec::new();
    for path in args.paths() {
        found.extend(found_at(path)?);
    }
    let mut judged = found.iter().filter(|found| found.skipped.is_none());
    match (judged.next(), judged.next()) {
        (None, _) => bail!(nothing(args, &found)),
        (Some(only), None) if args.more.is_empty() => {
            let whole = whole(&args.history)?;
            if whole.as_ref() == Some(&only.path) {
                return Ok(Inputs::One(only.path.clone()));
            }
        }
        _ => {}
    }
    Ok(Inputs::Many(found))
}

fn found_at(path: &Path) -> Result<Vec<Found>> {
    if path == Path::new("-") {
        bail!("standard input (`-`) is judged alone, not with other histories");
    }
    match path.is_dir() {
        true => histories(path).with_context(|| format!("`{}`", path.display())),
        false => Ok(vec![Found { path: path.to_path_buf(), skipped: None }]),
    }
}

fn nothing(args: &CheckArgs, found: &[Found]) -> String {
    let folder = args.history.display();
    match found {
        [] => format!("there is no file in `{folder}`"),
        [first, rest @ ..] => {
            let why = first.skipped.as_ref().map(ToString::to_string).unwrap_or_default();
            let more = match rest.len() {
                0 => String::new(),
                count => format!(", and {count} more are none either"),
            };
            format!("there is no history in `{folder}`: `{}` is {why}{more}", first.path.display())
        }
    }
}
