//! A batch: fresh objects that all workers go through together, and what they did.

use crate::definition::Definition;
use crate::execution::{Execution, Timed};
use crate::scenario::Scenario;
use linchpin_record::Clock;
use linchpin_spec::Value;
use std::any::Any;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Objects, and who does what with them.
pub struct Batch<T> {
    definition: Arc<Definition<T>>,
    pub rounds: Vec<Round<T>>,
    lanes: Vec<Lane>,
    clock: Clock,
    gate: Gate,
    stop: AtomicBool,
    /// How often a worker looks at the gate before it lets others run.
    spins: u32,
}

/// One object and its scenario.
pub struct Round<T> {
    pub object: T,
    pub scenario: Arc<Scenario>,
    /// The answers of what was called before the threads.
    pub before: Vec<Value>,
}

/// What one worker did. It has its cache lines to itself.
#[derive(Default)]
#[repr(align(128))]
struct Lane {
    /// Its calls that returned, of all rounds one after the other.
    log: Mutex<Vec<Timed>>,
    /// How many calls it has made.
    made: AtomicUsize,
    /// The stamp of the last of them, or of one before it.
    opened: AtomicU64,
    panicked: Mutex<Option<Panicked>>,
}

/// A call that panicked.
#[derive(Clone, Debug)]
pub struct Panicked {
    pub round: usize,
    pub message: String,
}

/// How many arrivals there were at all rounds.
#[derive(Default)]
#[repr(align(128))]
struct Gate(AtomicUsize);

impl<T: Send + Sync> Batch<T> {
    /// A batch of these rounds.
    pub fn new(definition: &Arc<Definition<T>>, rounds: Vec<Round<T>>, spins: u32) -> Batch<T> {
        let lanes = rounds.first().map_or(0, |round| round.scenario.threads.len());
        let lane = |thread: usize| {
            let calls = rounds.iter().map(|round| round.scenario.threads[thread].len()).sum();
            Lane { log: Mutex::new(Vec::with_capacity(calls)), ..Lane::default() }
        };
        Batch {
            definition: Arc::clone(definition),
            lanes: (0..lanes).map(lane).collect(),
            rounds,
            clock: Clock::new(),
            gate: Gate::default(),
            stop: AtomicBool::new(false),
            spins,
        }
    }

    /// How many workers it takes.
    pub fn width(&self) -> usize {
        self.lanes.len()
    }

    /// A worker goes through all rounds.
    pub fn work(&self, thread: usize) {
        let lane = &self.lanes[thread];
        for (number, round) in self.rounds.iter().enumerate() {
            if !self.arrive(number) {
                return;
            }
            let played = catch_unwind(AssertUnwindSafe(|| self.play(lane, thread, round)));
            if let Err(panic) = played {
                let panicked = Panicked { round: number, message: message(&*panic) };
                *locked(&lane.panicked) = Some(panicked);
                self.stop();
                return;
            }
        }
    }

    fn play(&self, lane: &Lane, thread: usize, round: &Round<T>) {
        for call in &round.scenario.threads[thread] {
            lane.made.store(lane.made.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            let invoked = self.clock.tick();
            lane.opened.store(invoked, Ordering::Relaxed);
            let answer = self.definition.call(&round.object, call);
            let returned = self.clock.tick();
            let answer = Some((returned, answer));
            locked(&lane.log).push(Timed { invoked, answer, dropped: false });
        }
    }

    /// Waits until all workers have come to a round; `false` if they are not to go on.
    ///
    /// INVARIANT: a worker that stops has not come to the next round, so no other goes on there.
    fn arrive(&self, round: usize) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            return false;
        }
        let all = (round + 1) * self.lanes.len();
        let mut looked = 1;
        let mut arrived = self.gate.0.fetch_add(1, Ordering::AcqRel) + 1;
        while arrived < all {
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
            // Workers that spin start at the same instant, and that is what finds something. But
            // the one that we wait for may need this core.
            if looked < self.spins {
                spin_loop()
            } else {
                thread::yield_now()
            }
            looked += 1;
            arrived = self.gate.0.load(Ordering::Acquire);
        }
        true
    }

    /// No worker goes on to another round.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// A number that changes as long as a worker does something.
    pub fn progress(&self) -> usize {
        let calls: usize = self.lanes.iter().map(|lane| lane.made.load(Ordering::Relaxed)).sum();
        calls + self.gate.0.load(Ordering::Relaxed)
    }

    /// The first call that panicked.
    pub fn panicked(&self) -> Option<Panicked> {
        let panics = self.lanes.iter().filter_map(|lane| locked(&lane.panicked).clone());
        panics.min_by_key(|panicked| panicked.round)
    }

    /// What was done, round by round. Only the last one may have calls that did not return.
    pub fn executions(&self) -> Vec<Execution> {
        let mut logs: Vec<Taken> = self.lanes.iter().map(Lane::taken).collect();
        let mut executions = Vec::with_capacity(self.rounds.len());
        for round in &self.rounds {
            let calls = round.scenario.threads.iter();
            let threads = logs.iter_mut().zip(calls).map(|(log, calls)| log.take(calls.len()));
            let threads: Vec<Vec<Timed>> = threads.collect();
            let is_done = logs.iter().all(|log| !log.ended);
            if is_done || threads.iter().any(|thread| !thread.is_empty()) {
                executions.push(Execution { before: round.before.clone(), threads });
            }
            if !is_done {
                break;
            }
        }
        executions
    }
}

/// The log of a lane, which is taken round by round.
struct Taken {
    log: std::vec::IntoIter<Timed>,
    /// The call that did not return.
    open: Option<Timed>,
    /// Whether a round was not done.
    ended: bool,
}

impl Lane {
    fn taken(&self) -> Taken {
        let log = std::mem::take(&mut *locked(&self.log));
        let is_open = self.made.load(Ordering::Relaxed) > log.len();
        let invoked = self.opened.load(Ordering::Relaxed);
        let open = is_open.then_some(Timed { invoked, answer: None, dropped: false });
        Taken { log: log.into_iter(), open, ended: false }
    }
}

impl Taken {
    fn take(&mut self, calls: usize) -> Vec<Timed> {
        let mut taken: Vec<Timed> = self.log.by_ref().take(calls).collect();
        if taken.len() < calls {
            taken.extend(self.open.take());
            self.ended = true;
        }
        taken
    }
}

/// What a panic says.
pub fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "something that is no text".to_owned())
}

/// What a mutex holds. A panic while it was held left nothing half done here.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
