//! What a folder holds, in one small file that is written whole.
//!
//! The manifest is replaced at the end of each level. What it does not name was not finished, and
//! is thrown away by the next process.

use super::record::{Checksum, Run};
use crate::search::Wrong;
use std::fs::{self, File};
use std::io::{self, Error, ErrorKind, Write};
use std::path::Path;
use std::time::Duration;

const NAME: &str = "manifest";
const FIRST_LINE: &str = "linchpin search on disk, format 1";

/// How a search stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The last level is to be expanded.
    #[default]
    Open,
    /// Everything was explored.
    Complete,
    /// This one of the last level can go wrong.
    Found(u64, Wrong),
}

/// What a folder holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Manifest {
    pub standing: Standing,
    /// The levels, each a run.
    pub levels: Vec<Run>,
    /// The runs that together hold all states of all levels.
    pub visited: Vec<Run>,
    pub implementation_states: u64,
    pub transitions: u64,
    /// How long all processes have worked.
    pub time: Duration,
    pub seen: Vec<bool>,
}

impl Manifest {
    /// How many product states there are.
    pub fn states(&self) -> u64 {
        self.levels.iter().map(|level| level.records).sum()
    }

    /// Replaces the manifest of a folder.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let unfinished = folder.join(format!("{NAME}.unfinished"));
        let mut file = File::create(&unfinished)?;
        file.write_all(self.text().as_bytes())?;
        file.sync_all()?;
        fs::rename(unfinished, folder.join(NAME))
    }

    /// The manifest of a folder; `None` if no level was finished in it.
    pub fn read(folder: &Path) -> io::Result<Option<Manifest>> {
        let text = match fs::read(folder.join(NAME)) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let damaged = || Error::new(ErrorKind::InvalidData, "its manifest is damaged");
        let text = String::from_utf8(text).map_err(|_| damaged())?;
        parse(&text, folder).map(Some).ok_or_else(damaged)
    }

    /// An error if a file that it names is not as it was written.
    pub fn verify(&self) -> io::Result<()> {
        let is_level = |run: &&Run| self.levels.iter().any(|level| level.path == run.path);
        let others = self.visited.iter().filter(|run| !is_level(run));
        self.levels.iter().chain(others).try_for_each(Run::verify)
    }

    /// Whether a file of the folder belongs to it.
    pub fn names(&self, path: &Path) -> bool {
        let runs = || self.levels.iter().chain(&self.visited);
        path.file_name().is_some_and(|name| name == NAME) || runs().any(|run| run.path == path)
    }

    fn text(&self) -> String {
        let mut text = format!("{FIRST_LINE}\n");
        let mut line = |words: String| {
            text.push_str(&words);
            text.push('\n');
        };
        line(match self.standing {
            Standing::Open => "open".to_owned(),
            Standing::Complete => "complete".to_owned(),
            Standing::Found(at, Wrong::Unexplained) => format!("unexplained {at}"),
            Standing::Found(at, Wrong::Fault) => format!("fault {at}"),
        });
        line(format!("implementation-states {}", self.implementation_states));
        line(format!("transitions {}", self.transitions));
        line(format!("milliseconds {}", self.time.as_millis()));
        let bit = |seen: &bool| if *seen { '1' } else { '0' };
        line(format!("seen {}", self.seen.iter().map(bit).collect::<String>()));
        for (kind, runs) in [("level", &self.levels), ("visited", &self.visited)] {
            for run in runs {
                let name = run.path.file_name().unwrap_or_default().to_string_lossy();
                line(format!("{kind} {} {:016x} {name}", run.records, run.checksum.0));
            }
        }
        let mut checksum = Checksum::default();
        checksum.add(text.as_bytes());
        text.push_str(&format!("end {:016x}\n", checksum.0));
        text
    }
}

fn parse(text: &str, folder: &Path) -> Option<Manifest> {
    let mut lines = text.lines();
    if lines.next()? != FIRST_LINE {
        return None;
    }
    let mut manifest = Manifest::default();
    loop {
        let line = lines.next()?;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "end" => {
                let mut checksum = Checksum::default();
                checksum.add(text.split_once("\nend ")?.0.as_bytes());
                checksum.add(b"\n");
                let is_whole = text.ends_with('\n') && lines.next().is_none();
                let is_right = rest == format!("{:016x}", checksum.0);
                return (is_whole && is_right).then_some(manifest);
            }
            "open" => manifest.standing = Standing::Open,
            "complete" => manifest.standing = Standing::Complete,
            "unexplained" => {
                manifest.standing = Standing::Found(rest.parse().ok()?, Wrong::Unexplained);
            }
            "fault" => manifest.standing = Standing::Found(rest.parse().ok()?, Wrong::Fault),
            "implementation-states" => manifest.implementation_states = rest.parse().ok()?,
            "transitions" => manifest.transitions = rest.parse().ok()?,
            "milliseconds" => manifest.time = Duration::from_millis(rest.parse().ok()?),
            "seen" => manifest.seen = rest.bytes().map(|byte| byte == b'1').collect(),
            "level" | "visited" => {
                let (records, rest) = rest.split_once(' ')?;
                let (checksum, name) = rest.split_once(' ')?;
                let run = Run {
                    path: folder.join(name),
                    records: records.parse().ok()?,
                    checksum: Checksum(u64::from_str_radix(checksum, 16).ok()?),
                };
                let runs =
                    if word == "level" { &mut manifest.levels } else { &mut manifest.visited };
                runs.push(run);
            }
            _ => return None,
        }
    }
}
