//! Expanding a level: all its successors, in memory as long as there is room, then in sorted runs.

use super::candidates::Candidates;
use super::merge::{merge_runs, write_candidates};
use super::names::SetBytes;
use super::record::{Run, RunReader, Written};
use super::{MOST_RUNS, Search, split};
use crate::portable::Portable;
use crate::product::{Step, To};
use crate::search::{SearchOptions, Wrong};
use linchpin_verdict::Inconclusive;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// At most so many states are given to the workers at a time.
const CHUNK: usize = 8192;

/// Less if memory is short: what a state and its successors may take, generously.
const BYTES: usize = 8192;

/// So few are not worth a second worker.
const SMALL: usize = 128;

/// The successors of a level.
pub(super) struct Successors {
    /// Those that are sorted and written.
    pub runs: Vec<Run>,
    /// The others.
    pub rest: Candidates,
    pub transitions: u64,
}

/// What came of a level.
pub(super) enum Expanded {
    Successors(Successors),
    /// The first of the level that can go wrong.
    Found(u64, Wrong),
    Stopped(Inconclusive),
}

/// A state that is to be expanded.
struct Open {
    bytes: Vec<u8>,
    set: u32,
}

/// What a worker has for itself.
#[derive(Default)]
struct Share {
    successors: Candidates,
    sets: SetBytes,
    transitions: u64,
    /// The first of the chunk that can go wrong.
    found: Option<(usize, Wrong)>,
    too_large: bool,
}

pub(super) struct LevelSearch<'s, 'a, P: Portable> {
    search: &'s mut Search<'a, P>,
    shares: Vec<Share>,
    runs: Vec<Run>,
    written: usize,
    shown: Instant,
}

impl<'s, 'a, P: Portable> LevelSearch<'s, 'a, P> {
    pub fn new(search: &'s mut Search<'a, P>) -> LevelSearch<'s, 'a, P> {
        let mut shares = Vec::new();
        shares.resize_with(search.workers.len(), Share::default);
        LevelSearch { search, shares, runs: Vec::new(), written: 0, shown: Instant::now() }
    }

    pub fn expand(mut self, level: &Run) -> io::Result<Expanded> {
        let mut reader = RunReader::open(level)?;
        let mut done = 0;
        loop {
            let Some(chunk) = self.chunk(&mut reader)? else {
                let reason = "the files of the search are damaged: begin a new one".to_owned();
                return Ok(Expanded::Stopped(Inconclusive::Undecided(reason)));
            };
            if chunk.is_empty() {
                return self.successors().map(Expanded::Successors);
            }
            self.expand_chunk(&chunk, done);
            let found = self.shares.iter().filter_map(|share| share.found);
            if let Some((at, wrong)) = found.min_by_key(|(at, _)| *at) {
                return Ok(Expanded::Found(done + at as u64, wrong));
            }
            if self.shares.iter().any(|share| share.too_large) {
                let reason = "a state is too large".to_owned();
                return Ok(Expanded::Stopped(Inconclusive::Undecided(reason)));
            }
            done += chunk.len() as u64;
            self.make_room()?;
            if let Some(reason) = self.search.options.limits.exceeded(self.kept()) {
                return Ok(Expanded::Stopped(reason.into()));
            }
            self.show(done as f64 / level.records as f64);
        }
    }

    /// The next states of the level; `None` if one cannot be understood.
    fn chunk(&mut self, reader: &mut RunReader) -> io::Result<Option<Vec<Open>>> {
        let mut chunk = Vec::new();
        let most = (self.search.memory / BYTES).clamp(4, CHUNK);
        while chunk.len() < most
            && let Some(Written { rest, allowance, set, .. }) = reader.record()
        {
            let Some(set) = self.search.names.number(self.search.product, set) else {
                return Ok(None);
            };
            chunk.push(Open { bytes: [allowance, rest].concat(), set });
            reader.advance()?;
        }
        Ok(Some(chunk))
    }

    /// Expands all states of a chunk, on all cores. `before` came before them in the level.
    fn expand_chunk(&mut self, chunk: &[Open], before: u64) {
        let next = AtomicUsize::new(0);
        let Search { product, options, workers, .. } = &mut *self.search;
        let work = Work { product: *product, options, chunk, before, next: &next };
        let mut pairs: Vec<_> = workers.iter_mut().zip(&mut self.shares).collect();
        if chunk.len() < SMALL {
            pairs.truncate(1);
        }
        std::thread::scope(|scope| {
            let mut pairs = pairs.into_iter();
            let own = pairs.next();
            for (worker, share) in pairs {
                let work = &work;
                // Where no thread can be made, this one takes all states there are.
                let _ = std::thread::Builder::new()
                    .spawn_scoped(scope, move || work.share(worker, share));
            }
            if let Some((worker, share)) = own {
                work.share(worker, share);
            }
        });
    }

    /// About how many bytes are kept in memory.
    fn kept(&self) -> usize {
        let of = |share: &Share| share.successors.size() + share.sets.size();
        let search = &*self.search;
        self.shares.iter().map(of).sum::<usize>() + search.product.bytes() + search.names.size()
    }

    /// Writes successors where they take a quarter of the memory, and forgets sets where they take
    /// half of it.
    fn make_room(&mut self) -> io::Result<()> {
        let most = self.search.memory;
        let successors: usize = self.shares.iter().map(|share| share.successors.size()).sum();
        if successors > most / 4 {
            for at in 0..self.shares.len() {
                let candidates = std::mem::take(&mut self.shares[at].successors);
                if !candidates.is_empty() {
                    let path = self.new_path();
                    self.runs.push(write_candidates(candidates, &path)?);
                }
            }
            if self.runs.len() > MOST_RUNS {
                let path = self.new_path();
                let merged = merge_runs(&self.runs, &path)?;
                for run in std::mem::replace(&mut self.runs, vec![merged]) {
                    std::fs::remove_file(run.path)?;
                }
            }
        }
        let sets: usize = self.shares.iter().map(|share| share.sets.size()).sum();
        if self.search.forget_sets_beyond((most / 2).saturating_sub(sets)) {
            self.shares.iter_mut().for_each(|share| share.sets = SetBytes::default());
        }
        Ok(())
    }

    fn new_path(&mut self) -> std::path::PathBuf {
        self.written += 1;
        self.search.folder.join(format!("successors-{}", self.written))
    }

    fn show(&mut self, part: f64) {
        if self.shown.elapsed() > Duration::from_millis(200) {
            self.shown = Instant::now();
            let transitions = self.shares.iter().map(|share| share.transitions).sum();
            (self.search.progress)(&self.search.stats_within(transitions, part));
        }
    }

    fn successors(mut self) -> io::Result<Successors> {
        let transitions = self.shares.iter().map(|share| share.transitions).sum();
        let mut shares = std::mem::take(&mut self.shares).into_iter();
        let mut rest = shares.next().unwrap_or_default().successors;
        shares.for_each(|share| rest.append(&share.successors));
        rest.sort();
        Ok(Successors { runs: std::mem::take(&mut self.runs), rest, transitions })
    }
}

/// What the workers share.
struct Work<'a, P: Portable> {
    product: &'a P,
    options: &'a SearchOptions,
    chunk: &'a [Open],
    before: u64,
    next: &'a AtomicUsize,
}

impl<P: Portable> Work<'_, P> {
    /// One worker's share: it takes states until there are none left.
    fn share(&self, worker: &mut P::Worker, share: &mut Share) {
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(Open { bytes, set }) = self.chunk.get(at) else { return };
            let parent = self.before + at as u64;
            let (mut wrong, mut fits) = (None, Some(()));
            let Share { successors, sets, transitions, .. } = share;
            self.product.expand(worker, bytes, *set, &mut |step: Step<'_>| {
                *transitions += 1;
                match step.to {
                    To::State { bytes, set, .. } => {
                        let (allowance, rest) = split(self.product, self.options, bytes);
                        let set = sets.of(self.product, set);
                        let written = Written { rest, allowance, set, parent };
                        fits = fits.and_then(|()| successors.push(&written));
                    }
                    To::Unexplained => wrong = Some(Wrong::Unexplained),
                    To::Fault => wrong = wrong.or(Some(Wrong::Fault)),
                }
            });
            share.too_large |= fits.is_none();
            if let Some(wrong) = wrong {
                let first = share.found.filter(|found| found.0 < at);
                share.found = Some(first.unwrap_or((at, wrong)));
            }
        }
    }
}
