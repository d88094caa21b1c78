//! The search of Figure 2 for spaces that do not fit into memory: level by level, on disk.
//!
//! A level is a file of product states, sorted. Its successors are kept in memory, sorted and
//! written when there are too many of them, and at the end of the level merged with each other and
//! with all levels before: only then is it seen which of them are new (delayed duplicate
//! detection). Equal implementation states are next to each other then, so the antichain is as in
//! memory, and within a level even smaller: of states that were not expanded yet, one that can do
//! no more than another goes, whichever came first.
//!
//! At the end of a level the [`manifest`] is replaced. A process that goes on after a crash begins
//! with the last level that it names: states, sets, and what was seen beside them are all on disk.
//!
//! Start at [`explore_on_disk`]; `level.rs` expands a level, `join.rs` finds what is new in it.

mod candidates;
mod estimate;
mod folder;
mod join;
mod level;
mod manifest;
mod merge;
pub(crate) mod names;
mod record;

pub use estimate::states_to_come;
pub(crate) use folder::claim;
pub use folder::{DiskError, DiskOptions};

use crate::portable::Portable;
use crate::search::{Exploration, SearchOptions, Stats};
use folder::Hold;
use level::{Expanded, LevelSearch};
use linchpin_verdict::{Inconclusive, StopReason};
use manifest::{Manifest, Standing};
use merge::merge_runs;
use names::SetNames;
use record::{Run, RunReader, RunWriter, Written};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// With more runs than this, those that hold the states visited are merged.
const MOST_RUNS: usize = 24;

/// Without a limit on memory, so many bytes may be used.
const MEMORY: usize = 1 << 30;

/// Explores a product, its states in this part of the folder. `progress` is called now and then.
pub fn explore_on_disk<P: Portable>(
    product: &P,
    part: &str,
    disk: &DiskOptions,
    options: &SearchOptions,
    progress: &(dyn Fn(&Stats) + Sync),
) -> (Exploration, Stats) {
    let opened = Search::open(product, part, disk, options, progress);
    let mut search = match opened {
        Ok(search) => search,
        Err(error) => return (failed(&disk.folder, &error), Stats::default()),
    };
    let outcome = match search.run(disk.levels) {
        Ok(outcome) => outcome,
        Err(error) => failed(&disk.folder, &error),
    };
    (outcome, search.stats(0))
}

/// What is said where a file cannot be written or read.
fn failed(folder: &Path, error: &io::Error) -> Exploration {
    // What is damaged stays so; anything else may be mended, such as a disk that is full.
    let kept = match error.kind() {
        io::ErrorKind::InvalidData => "",
        _ => "; what was finished is kept, --resume goes on from there",
    };
    let folder = folder.display();
    let why = format!("the search in `{folder}` cannot go on: {error}{kept}");
    Exploration::Stopped(Inconclusive::Undecided(why))
}

/// States on the way to one, each with its set.
type StatePath = Vec<(Vec<u8>, u32)>;

struct Search<'a, P: Portable> {
    product: &'a P,
    options: &'a SearchOptions,
    progress: &'a (dyn Fn(&Stats) + Sync),
    folder: PathBuf,
    /// How many bytes of memory may be used.
    memory: usize,
    hold: Hold,
    manifest: Manifest,
    workers: Vec<P::Worker>,
    names: SetNames,
    start: Instant,
    /// How long earlier processes have worked.
    before: Duration,
}

impl<'a, P: Portable> Search<'a, P> {
    fn open(
        product: &'a P,
        part: &str,
        disk: &DiskOptions,
        options: &'a SearchOptions,
        progress: &'a (dyn Fn(&Stats) + Sync),
    ) -> io::Result<Search<'a, P>> {
        let start = Instant::now();
        let folder = disk.folder.join(part);
        let hold = Hold::take(&folder)?;
        let manifest = Manifest::read(&folder)?;
        let mut workers = Vec::new();
        workers.resize_with(options.workers.max(1), || product.worker());
        let mut search = Search {
            product,
            options,
            progress,
            memory: disk.memory.or(options.limits.memory).unwrap_or(MEMORY),
            folder,
            hold,
            manifest: manifest.unwrap_or_default(),
            workers,
            names: SetNames::default(),
            start,
            before: Duration::ZERO,
        };
        search.manifest.verify()?;
        search.discard_unfinished()?;
        search.before = search.manifest.time;
        product.see(&search.manifest.seen);
        if search.manifest.levels.is_empty() {
            search.begin()?;
        }
        Ok(search)
    }

    /// Throws away what no manifest names.
    fn discard_unfinished(&self) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if !self.manifest.names(&path) && !self.hold.is(&path) {
                std::fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    /// Writes the first level: the initial state.
    fn begin(&mut self) -> io::Result<()> {
        let (bytes, set) = self.product.initial();
        let (allowance, rest) = split(self.product, self.options, &bytes);
        let mut written = Vec::new();
        self.product.write_set(set, &mut written);
        let mut writer = RunWriter::create(&self.folder.join("level-0"))?;
        writer.push(&Written { rest, allowance, set: &written, parent: 0 })?;
        let level = writer.finish()?;
        self.manifest.levels.push(level.clone());
        self.manifest.visited.push(level);
        self.manifest.implementation_states = 1;
        self.save()
    }

    fn save(&mut self) -> io::Result<()> {
        self.hold.check()?;
        self.manifest.seen = self.product.seen();
        self.manifest.time = self.before + self.start.elapsed();
        self.manifest.write(&self.folder)
    }

    fn stats(&self, so_far: u64) -> Stats {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Stats {
            implementation_states: count(self.manifest.implementation_states),
            states: count(self.manifest.states()),
            transitions: self.manifest.transitions + so_far,
            depth: match self.manifest.standing {
                Standing::Complete => self.manifest.levels.len(),
                Standing::Open | Standing::Found(..) => {
                    self.manifest.levels.len().saturating_sub(1)
                }
            },
            bytes: self.product.bytes() + self.names.size(),
            seconds: (self.before + self.start.elapsed()).as_secs_f64(),
            to_come: None,
            // Not looked for here: the bound on calls is named, whether or not it matters.
            is_closed: false,
        }
    }

    /// The same, within a level of which this part is done.
    fn stats_within(&self, so_far: u64, part: f64) -> Stats {
        let sizes: Vec<u64> = self.manifest.levels.iter().map(|level| level.records).collect();
        let left = *sizes.last().unwrap_or(&0) as f64 * (1.0 - part);
        let to_come = states_to_come(&sizes).map(|later| later.saturating_add(left as u64));
        Stats { to_come, ..self.stats(so_far) }
    }

    /// Forgets all sets if they take more memory than this; and with them the workers, which
    /// remember numbers. Whether it did.
    fn forget_sets_beyond(&mut self, most: usize) -> bool {
        let is_too_much = self.product.bytes() + self.names.size() > most;
        if is_too_much {
            self.product.forget_sets();
            self.names.forget();
            for worker in &mut self.workers {
                *worker = self.product.worker();
            }
        }
        is_too_much
    }

    /// Goes on until the search is decided, or stopped.
    fn run(&mut self, most_levels: Option<usize>) -> io::Result<Exploration> {
        for done in 0.. {
            match self.manifest.standing {
                Standing::Complete => return Ok(Exploration::Complete),
                Standing::Found(at, wrong) => {
                    return Ok(match self.path(at)? {
                        Some(path) => Exploration::Found { path, wrong },
                        None => damaged(),
                    });
                }
                Standing::Open => {}
            }
            if most_levels.is_some_and(|most| done >= most) {
                return Ok(Exploration::Stopped(StopReason::Interrupt.into()));
            }
            if let Some(stopped) = self.one_level()? {
                return Ok(stopped);
            }
        }
        Ok(damaged())
    }

    /// Expands the last level and writes the next one; says so if it was stopped.
    fn one_level(&mut self) -> io::Result<Option<Exploration>> {
        let Some(level) = self.manifest.levels.last().cloned() else { return Ok(Some(damaged())) };
        let expanded = LevelSearch::new(self).expand(&level)?;
        let successors = match expanded {
            Expanded::Stopped(reason) => return Ok(Some(Exploration::Stopped(reason))),
            Expanded::Found(at, wrong) => {
                self.manifest.standing = Standing::Found(at, wrong);
                self.save()?;
                return Ok(None);
            }
            Expanded::Successors(successors) => successors,
        };
        let path = self.folder.join(format!("level-{}", self.manifest.levels.len()));
        self.manifest.transitions += successors.transitions;
        let (next, new_states) = match self.join(successors, &path)? {
            Ok(joined) => joined,
            Err(reason) => return Ok(Some(Exploration::Stopped(reason.into()))),
        };
        self.manifest.implementation_states += new_states;
        let mut replaced = Vec::new();
        if next.records == 0 {
            self.manifest.standing = Standing::Complete;
            replaced.push(next);
        } else {
            self.manifest.levels.push(next.clone());
            self.manifest.visited.push(next);
            replaced.extend(self.merge_visited()?);
        }
        self.save()?;
        // Only now: until the manifest is replaced the old one names them.
        replaced.iter().try_for_each(|run| std::fs::remove_file(&run.path))?;
        Ok(None)
    }

    /// Merges the smaller half of the visited runs, if there are many; the files to remove then.
    fn merge_visited(&mut self) -> io::Result<Vec<Run>> {
        if self.manifest.visited.len() <= MOST_RUNS {
            return Ok(Vec::new());
        }
        self.manifest.visited.sort_by_key(|run| std::cmp::Reverse(run.records));
        let smaller = self.manifest.visited.split_off(MOST_RUNS / 2);
        let path = self.folder.join(format!("visited-{}", self.manifest.levels.len()));
        let merged = merge_runs(&smaller, &path)?;
        self.manifest.visited.push(merged);
        // Levels stay: a path goes through them.
        let levels = &self.manifest.levels;
        let is_level = |run: &Run| levels.iter().any(|level| level.path == run.path);
        Ok(smaller.into_iter().filter(|run| !is_level(run)).collect())
    }

    /// The states on the way to one of the last level.
    fn path(&mut self, at: u64) -> io::Result<Option<StatePath>> {
        let mut path = Vec::new();
        let mut at = at;
        for level in self.manifest.levels.iter().rev() {
            let mut reader = RunReader::open(level)?;
            for _ in 0..at {
                reader.advance()?;
            }
            let Some(Written { rest, allowance, set, parent }) = reader.record() else {
                return Ok(None);
            };
            let Some(set) = self.names.number(self.product, set) else { return Ok(None) };
            path.push(([allowance, rest].concat(), set));
            at = parent;
        }
        path.reverse();
        Ok(Some(path))
    }
}

/// The allowance of a state, if it is told apart, and the rest.
fn split<'b, P: Portable>(
    product: &P,
    options: &SearchOptions,
    bytes: &'b [u8],
) -> (&'b [u8], &'b [u8]) {
    bytes.split_at(if options.calls { product.parts(bytes).allowance } else { 0 })
}

fn damaged() -> Exploration {
    Exploration::Stopped(Inconclusive::Undecided(
        "the files of the search are damaged: begin a new one in a new folder".to_owned(),
    ))
}
