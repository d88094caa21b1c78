//! Random walks in the product, for spaces that do not end: uniform, or with random priorities
//! (probabilistic concurrency testing: S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, A
//! Randomized Scheduler with Probabilistic Guarantees of Finding Bugs, ASPLOS 2010).
//!
//! A walk is decided by the seed and its number alone, and of all that go wrong the first is
//! reported: the outcome does not depend on how many workers there are. A pass shows nothing about
//! other runs, so it is never complete. A walk that ends where no thread can move is not judged.

use crate::product::{Product, Step, To};
use crate::search::{Exploration, SearchOptions, Stats, Wrong};
use linchpin_verdict::{Inconclusive, StopReason, counted};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// How threads are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walk {
    /// Any thread that can move.
    Uniform,
    /// The thread with the highest priority, of which so many change on the way.
    Priorities {
        /// One less than the number of ordering constraints that are aimed at.
        changes: usize,
    },
}

/// Which walks are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walks {
    /// How threads are chosen.
    pub walk: Walk,
    /// Decides everything random.
    pub seed: u64,
    /// At most so many.
    pub runs: u64,
}

/// A walk is not longer than this, in transitions.
const LONGEST: usize = 20_000;

/// A walk that goes wrong: its number, its states, and how.
type WrongWalk = (u64, Vec<(Vec<u8>, u32)>, Wrong);

/// Walks until something goes wrong or a limit is met.
pub fn explore_by_walks<P: Product>(
    product: &P,
    walks: Walks,
    options: &SearchOptions,
    progress: &(dyn Fn(&Stats) + Sync),
) -> (Exploration, Stats) {
    let start = Instant::now();
    let uniform = Walks { walk: Walk::Uniform, ..walks };
    // How long runs are is not known before one was made.
    let length = Walker::new(product, uniform, LONGEST).run(0).0.len().max(1);
    let shared = Shared {
        next: AtomicU64::new(0),
        done: AtomicU64::new(0),
        transitions: AtomicU64::new(0),
        longest: AtomicUsize::new(0),
        first_wrong: AtomicU64::new(u64::MAX),
        found: Mutex::new(None),
        stopped: Mutex::new(None),
    };
    let stats = || Stats {
        states: usize::try_from(shared.transitions.load(Ordering::Relaxed)).unwrap_or(usize::MAX),
        transitions: shared.transitions.load(Ordering::Relaxed),
        depth: shared.longest.load(Ordering::Relaxed),
        seconds: start.elapsed().as_secs_f64(),
        bytes: product.bytes(),
        implementation_states: 0,
        is_closed: false,
        to_come: None,
    };
    let work = || {
        let mut walker = Walker::new(product, walks, length);
        shared.work(&mut walker, walks, options, &|| progress(&stats()));
    };
    std::thread::scope(|scope| {
        for _ in 1..options.workers.max(1) {
            // Where no thread can be made, this one does the work of all.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let stats = stats();
    let found = shared.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let outcome = match found {
        Some((_, path, wrong)) => Exploration::Found { path, wrong },
        None => {
            let done = shared.done.load(Ordering::Relaxed);
            let stopped = shared.stopped.into_inner().unwrap_or_else(PoisonError::into_inner);
            Exploration::Stopped(tried(done, walks, stopped))
        }
    };
    (outcome, stats)
}

/// What a pass is worth.
fn tried(done: u64, walks: Walks, stopped: Option<StopReason>) -> Inconclusive {
    let kind = match walks.walk {
        Walk::Uniform => "random".to_owned(),
        Walk::Priorities { changes } => format!("pct (depth {})", changes + 1),
    };
    let why = stopped.map_or(String::new(), |reason| format!("; {reason}"));
    Inconclusive::Undecided(format!(
        "nothing wrong was found in {} by {kind} search, seed {}, which shows nothing about \
         others, nor about operations that get stuck{why}",
        counted(done, "run"),
        walks.seed
    ))
}

/// What the workers share.
struct Shared {
    next: AtomicU64,
    done: AtomicU64,
    transitions: AtomicU64,
    longest: AtomicUsize,
    first_wrong: AtomicU64,
    found: Mutex<Option<WrongWalk>>,
    stopped: Mutex<Option<StopReason>>,
}

impl Shared {
    fn work<P: Product>(
        &self,
        walker: &mut Walker<'_, P>,
        walks: Walks,
        options: &SearchOptions,
        progress: &dyn Fn(),
    ) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            // INVARIANT: every walk before the first that goes wrong is made.
            if number >= walks.runs || number > self.first_wrong.load(Ordering::Relaxed) {
                return;
            }
            if let Some(reason) = options.limits.exceeded(walker.product.bytes()) {
                *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
                return;
            }
            let (path, wrong) = walker.run(number);
            let length = u64::try_from(path.len()).unwrap_or(u64::MAX);
            self.transitions.fetch_add(length, Ordering::Relaxed);
            self.longest.fetch_max(path.len(), Ordering::Relaxed);
            if self.done.fetch_add(1, Ordering::Relaxed).is_multiple_of(256) {
                progress();
            }
            if let Some(wrong) = wrong {
                self.first_wrong.fetch_min(number, Ordering::Relaxed);
                let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
                if found.as_ref().is_none_or(|(other, ..)| number < *other) {
                    *found = Some((number, path, wrong));
                }
            }
        }
    }
}

/// Makes walks, one after the other.
struct Walker<'a, P: Product> {
    product: &'a P,
    worker: P::Worker,
    walks: Walks,
    /// About how long walks are.
    length: usize,
}

impl<'a, P: Product> Walker<'a, P> {
    fn new(product: &'a P, walks: Walks, length: usize) -> Walker<'a, P> {
        Walker { product, worker: product.worker(), walks, length }
    }

    /// The states of a walk, the last of which can go wrong if it says how.
    fn run(&mut self, number: u64) -> (Vec<(Vec<u8>, u32)>, Option<Wrong>) {
        let mut random = Random::new(self.walks.seed, number);
        let mut schedule = Schedule::new(self.walks.walk, self.length, &mut random);
        let mut path = vec![self.product.initial()];
        for at in 0..LONGEST {
            let Some((state, set)) = path.last() else { break };
            let mut ways: Vec<(usize, Vec<u8>, u32)> = Vec::new();
            let mut wrong = None;
            self.product.expand(
                &mut self.worker,
                state,
                *set,
                &mut |step: Step<'_>| match step.to {
                    To::State { bytes, set, .. } => ways.push((step.thread, bytes.to_vec(), set)),
                    To::Unexplained => wrong = Some(Wrong::Unexplained),
                    To::Fault => wrong = wrong.or(Some(Wrong::Fault)),
                },
            );
            if wrong.is_some() {
                return (path, wrong);
            }
            let mut threads: Vec<usize> = ways.iter().map(|(thread, ..)| *thread).collect();
            threads.sort_unstable();
            threads.dedup();
            let Some(thread) = schedule.choose(&threads, at, &mut random) else { break };
            ways.retain(|(mover, ..)| *mover == thread);
            let (_, bytes, set) = ways.swap_remove(random.below(ways.len()));
            path.push((bytes, set));
        }
        (path, None)
    }
}

/// Which thread moves next.
enum Schedule {
    Uniform,
    Priorities {
        /// The priority of each thread that was met; a larger one moves first.
        of: Vec<i64>,
        /// At which transitions the thread that would move gets the lowest priority of all.
        changes: Vec<usize>,
        lowest: i64,
    },
}

impl Schedule {
    fn new(walk: Walk, length: usize, random: &mut Random) -> Schedule {
        match walk {
            Walk::Uniform => Schedule::Uniform,
            Walk::Priorities { changes } => Schedule::Priorities {
                of: Vec::new(),
                changes: (0..changes).map(|_| random.below(length)).collect(),
                lowest: -1,
            },
        }
    }

    fn choose(&mut self, threads: &[usize], at: usize, random: &mut Random) -> Option<usize> {
        let last = *threads.last()?;
        let Schedule::Priorities { of, changes, lowest } = self else {
            return threads.get(random.below(threads.len())).copied();
        };
        while of.len() <= last {
            of.push(i64::from(random.next32()));
        }
        let highest = |of: &[i64]| threads.iter().copied().max_by_key(|thread| of[*thread]);
        if changes.contains(&at)
            && let Some(thread) = highest(of)
        {
            of[thread] = *lowest;
            *lowest -= 1;
        }
        highest(of)
    }
}

/// A small generator of random numbers: the same numbers everywhere (SplitMix64).
struct Random(u64);

impl Random {
    fn new(seed: u64, number: u64) -> Random {
        let mut random = Random(seed);
        let base = random.next();
        Random(base ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn next32(&mut self) -> u32 {
        u32::try_from(self.next() >> 32).unwrap_or(u32::MAX)
    }

    /// A number below `end`; 0 if there is none.
    fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % end).unwrap_or(0)
    }
}
