//! Folders of recordings: the run of a Jepsen test, a report of etcd's robustness tests, or any
//! folder with histories in it.

use crate::decompress::Decompressed;
use crate::error::IngestError;
use crate::format::{DETECT_WITHIN, Format};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What a Jepsen run calls its history, the most exact first. All of them hold the same one.
const RUN: [&str; 4] = ["history.edn", "test.jepsen", "history.txt", "jepsen.log"];

/// What else a run holds that could be taken for a history.
const BESIDE: [&str; 2] = ["results.edn", "test.fressian"];

/// Folders that are nested deeper are not looked into.
const MAX_DEPTH: usize = 64;

/// Something found in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where.
    pub path: PathBuf,
    /// Why it is no history to judge; `None` if it is one.
    pub skipped: Option<Skipped>,
}

/// Why something in a folder is not judged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Skipped {
    /// It is in no format that is known.
    #[error("not a history in a known format")]
    Unknown,
    /// It has nothing in it.
    #[error("empty")]
    Empty,
    /// It is a symbolic link.
    #[error("a symbolic link")]
    Link,
    /// It is a device, a pipe or the like.
    #[error("not a regular file")]
    Special,
    /// It is in too many folders.
    #[error("nested too deep")]
    Deep,
    /// Another file of the same Jepsen run is judged.
    #[error("of the same run as {0}")]
    SameRun(&'static str),
    /// What a Jepsen run says beside its history.
    #[error("no history, but another file of a Jepsen run")]
    Beside,
}

impl Found {
    fn history(path: PathBuf) -> Found {
        Found { path, skipped: None }
    }

    fn skipped(path: PathBuf, why: Skipped) -> Found {
        Found { path, skipped: Some(why) }
    }
}

/// Everything in a folder and in the folders in it, sorted by path: the histories, and what is
/// none. Symbolic links are not followed. A report of etcd's robustness tests is one history, and
/// so is the run of a Jepsen test, however many files it is in.
pub fn histories(folder: &Path) -> Result<Vec<Found>, IngestError> {
    let mut found = Vec::new();
    walk(folder, 0, &mut found)?;
    Ok(found)
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<Found>) -> Result<(), IngestError> {
    if !etcd_clients(folder)?.is_empty() {
        found.push(Found::history(folder.to_path_buf()));
        return Ok(());
    }
    let run = run_file(folder);
    for path in sorted(folder)? {
        let kind = fs::symlink_metadata(&path)?.file_type();
        if kind.is_dir() && depth < MAX_DEPTH {
            walk(&path, depth + 1, found)?;
            continue;
        }
        let skipped = if kind.is_symlink() {
            Some(Skipped::Link)
        } else if kind.is_dir() {
            Some(Skipped::Deep)
        } else if !kind.is_file() {
            Some(Skipped::Special)
        } else {
            match run {
                Some(run) => skipped_of_run(run, &path)?,
                None => skipped(&path)?,
            }
        };
        found.push(match skipped {
            Some(why) => Found::skipped(path, why),
            None => Found::history(path),
        });
    }
    Ok(())
}

/// Why a file beside the history of a run is not judged, if it is not.
fn skipped_of_run(run: &'static str, path: &Path) -> Result<Option<Skipped>, IngestError> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    Ok(match name {
        name if name == run => None,
        name if RUN.contains(&name) => Some(Skipped::SameRun(run)),
        name if BESIDE.contains(&name) => Some(Skipped::Beside),
        _ => skipped(path)?,
    })
}

/// Why a file is not judged, if it is not.
fn skipped(path: &Path) -> Result<Option<Skipped>, IngestError> {
    let mut text = Vec::new();
    let limit = DETECT_WITHIN as u64;
    match File::open(path)
        .and_then(|file| Decompressed::new(file).take(limit).read_to_end(&mut text))
    {
        // It is tried, so that what is wrong with it is said.
        Err(_) => return Ok(None),
        Ok(_) if text.trim_ascii().is_empty() => return Ok(Some(Skipped::Empty)),
        Ok(_) => {}
    }
    Ok((!is_history(&text)).then_some(Skipped::Unknown))
}

/// Whether a text begins like a history, and not only like some other JSON or EDN.
fn is_history(text: &[u8]) -> bool {
    let has = |word: &str| memchr::memmem::find(text, word.as_bytes()).is_some();
    match Format::detect(text) {
        None => false,
        Some(Format::JsonLines) => has("\"type\"") && (has("\"process\"") || has("\"crash\"")),
        Some(Format::JepsenEdn) => has(":type") && has(":process"),
        Some(_) => true,
    }
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = entries.collect::<io::Result<Vec<PathBuf>>>()?;
    paths.sort();
    Ok(paths)
}

/// The file that the history of a run is in, if the folder is the run of a Jepsen test.
fn run_file(folder: &Path) -> Option<&'static str> {
    RUN.into_iter().find(|name| folder.join(name).is_file())
}

/// The `operations.json` of each client, if the folder is a report of etcd's robustness tests.
pub fn etcd_clients(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in sorted(folder)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let file = path.join("operations.json");
        if name.starts_with("client-") && file.is_file() {
            files.push(file);
        }
    }
    Ok(files)
}

/// The one history that a folder is: the file of a Jepsen run, or the whole folder if it is a
/// report of etcd's robustness tests. `None` if it is neither.
pub fn whole(folder: &Path) -> Result<Option<PathBuf>, IngestError> {
    if !etcd_clients(folder)?.is_empty() {
        return Ok(Some(folder.to_path_buf()));
    }
    Ok(run_file(folder).map(|name| folder.join(name)))
}

/// The history of the latest run in a store of Jepsen or Maelstrom, which is a run itself, a folder
/// with a link `latest`, or one with folders of tests with folders of runs, named by their times.
pub fn latest_run(store: &Path) -> Result<PathBuf, IngestError> {
    for folder in [store.to_path_buf(), store.join("latest"), store.join("current")] {
        if let Some(name) = run_file(&folder) {
            return Ok(folder.join(name));
        }
    }
    let mut latest: Option<PathBuf> = None;
    let is_folder =
        |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_dir());
    let runs_of = |test: &Path| -> Option<PathBuf> {
        let runs = sorted(test).ok()?.into_iter().rev();
        runs.filter(is_folder).find_map(|run| Some(run.join(run_file(&run)?)))
    };
    let tests = sorted(store)?.into_iter().filter(is_folder);
    for run in tests.filter_map(|test| runs_of(&test)).chain(runs_of(store)) {
        // The names of runs are their times, which sort as times do.
        let time = |run: &PathBuf| run.parent().and_then(Path::file_name).map(ToOwned::to_owned);
        if latest.as_ref().is_none_or(|latest| time(latest) < time(&run)) {
            latest = Some(run);
        }
    }
    latest.ok_or(IngestError::NoRun { names: RUN.join(", ") })
}

#[cfg(test)]
mod tests;
