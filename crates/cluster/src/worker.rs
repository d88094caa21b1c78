//! The search of one worker: level by level, in step with all others.
//!
//! A level is two epochs. In the first every worker expands its states and sends successors to
//! those they belong to. In the second all tell all what came of it, so that all decide the same:
//! go on, walk back from what was found, or end.

use crate::batch::{Batch, unpack};
use crate::exchange::{Body, Exchange, Last, PathStep, Stopped, Summary, wrong};
use crate::wire::{Broken, Status};
use linchpin_refine::search::{SearchOptions, Stats, Wrong};
use linchpin_refine::{KeptState, Leaving, NotTaken, Partition, Portable, StateAt};
use linchpin_verdict::StopReason;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// States are sent to a worker when they take so many bytes.
const BATCH: usize = 32 << 10;

/// Messages are looked at once in so many states.
const TURN: usize = 32;

/// How much is kept is looked at once in so many turns.
const TURNS: usize = 64;

/// How long others may take to end together, once this worker is asked to stop.
const GRACE: Duration = Duration::from_millis(1200);

/// What all workers of a process share.
pub(crate) struct Shared<'a, P> {
    pub product: &'a P,
    pub options: &'a SearchOptions,
    pub status: &'a Arc<Status>,
    pub progress: &'a (dyn Fn(&Stats) + Sync),
    /// How many workers the process has.
    pub threads: u16,
    /// Its first worker.
    pub first: u16,
    /// What all workers have had after the last level.
    pub totals: &'a Mutex<Stats>,
}

/// How a search by several workers ended: the same for all of them.
pub(crate) struct Ended {
    pub how: How,
    pub stats: Stats,
    /// Bytes that all processes have sent.
    pub sent: u64,
}

/// States on a way, with their sets as they are written.
type WrittenPath = Vec<(Vec<u8>, Vec<u8>)>;

pub(crate) enum How {
    Complete,
    Found {
        /// The way there.
        path: WrittenPath,
        wrong: Wrong,
    },
    /// This worker was the first to stop.
    Stopped(u16, Stopped),
}

/// Why a worker ended before the others did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    Broken(Broken),
    Stopped(StopReason),
}

/// One worker.
pub(crate) struct WorkerSearch<'a, P: Portable> {
    shared: &'a Shared<'a, P>,
    exchange: Exchange,
    partition: Partition<'a, P>,
    own: u16,
    batches: Vec<Batch>,
    turns: usize,
    shown: Instant,
    totals: Stats,
    /// Why this worker was asked to stop, and when.
    stopped: Option<(Stopped, Instant)>,
    /// The search is about to end.
    halted: bool,
    start: Instant,
}

impl<'a, P: Portable> WorkerSearch<'a, P> {
    pub fn new(shared: &'a Shared<'a, P>, exchange: Exchange, own: u16, workers: u16) -> Self {
        let partition = Partition::new(shared.product, shared.options, own, workers);
        let mut batches = Vec::new();
        batches.resize_with(usize::from(workers), Batch::default);
        WorkerSearch {
            shared,
            exchange,
            partition,
            own,
            batches,
            turns: 0,
            shown: Instant::now(),
            totals: Stats::default(),
            stopped: None,
            halted: false,
            start: Instant::now(),
        }
    }

    /// Searches until all is decided.
    pub fn run(mut self) -> Result<Ended, Left> {
        if let Err(error) = self.partition.begin() {
            self.stop(Stopped::from(error));
        }
        let mut depth = 0;
        let how = loop {
            let found = self.expand()?;
            let all = self.gather(Body::Level(self.summary(found)), |body| match body {
                Body::Level(summary) => Some(summary),
                _ => None,
            })?;
            self.add_up(depth, &all);
            let first = |of: fn(&Summary) -> bool| all.iter().find(|(_, summary)| of(summary));
            if let Some(&(worker, Summary { found: Some((id, is_fault)), .. })) =
                first(|summary| summary.found.is_some())
            {
                let path = self.walk_back(StateAt { worker, id })?;
                break How::Found { path, wrong: wrong(is_fault) };
            }
            if let Some(&(worker, Summary { stopped: Some(why), .. })) =
                first(|summary| summary.stopped.is_some())
            {
                break How::Stopped(worker, why);
            }
            depth += 1;
            if all.iter().all(|(_, summary)| summary.new == 0) {
                self.totals.depth = depth;
                break How::Complete;
            }
        };
        self.last(how)
    }

    /// Expands this worker's states of the level; sends and receives those of the next. The state
    /// where something goes wrong, if there is one.
    fn expand(&mut self) -> Result<Option<(u32, bool)>, Left> {
        let mut found = None;
        for (at, id) in self.partition.take_level().into_iter().enumerate() {
            if at.is_multiple_of(TURN) {
                self.turn()?;
            }
            if self.halted || self.stopped.is_some() {
                break;
            }
            let WorkerSearch { partition, batches, exchange, .. } = self;
            let expanded = partition.expand(id, &mut |Leaving { owner, bytes, set }| {
                let batch = &mut batches[usize::from(owner)];
                batch.push(bytes, set, id);
                if batch.len() >= BATCH {
                    exchange.send(owner, Body::States(batch.take()));
                }
            });
            match expanded {
                Ok(None) => {}
                Ok(Some(wrong)) => {
                    found = Some((id, wrong == Wrong::Fault));
                    self.exchange.send_to_all(&Body::Halt);
                    break;
                }
                Err(error) => self.stop(Stopped::from(error)),
            }
        }
        for (owner, batch) in (0..).zip(&mut self.batches) {
            if batch.len() > 0 {
                self.exchange.send(owner, Body::States(batch.take()));
            }
        }
        self.finish_epoch(|_, _| {})?;
        Ok(found)
    }

    /// Lets messages arrive, and looks at limits now and then.
    fn turn(&mut self) -> Result<(), Left> {
        self.look()?;
        self.exchange.step();
        self.receive(&mut |_, _| {});
        if self.own == 0 && self.shown.elapsed() > Duration::from_millis(200) {
            self.shown = Instant::now();
            (self.shared.progress)(&self.totals);
        }
        Ok(())
    }

    fn look(&mut self) -> Result<(), Left> {
        if let Some(broken) = self.shared.status.broken() {
            return Err(Left::Broken(broken));
        }
        if self.stopped.is_some() {
            return Ok(());
        }
        self.turns += 1;
        let kept = if self.turns.is_multiple_of(TURNS) { self.kept() } else { 0 };
        if let Some(reason) = self.shared.options.limits.exceeded(kept) {
            self.stop(Stopped::from(reason));
        }
        Ok(())
    }

    /// About how many bytes this process keeps: its workers have about as much each.
    fn kept(&self) -> usize {
        let sets = self.shared.product.bytes();
        let own = self.partition.stats().bytes.saturating_sub(sets);
        own.saturating_mul(usize::from(self.shared.threads)).saturating_add(sets)
    }

    /// Ends the search, for this reason.
    fn stop(&mut self, why: Stopped) {
        if self.stopped.is_none() {
            self.stopped = Some((why, Instant::now()));
            self.exchange.send_to_all(&Body::Halt);
        }
    }

    /// Takes the messages that have arrived; those that are no states are for `take`.
    fn receive(&mut self, take: &mut dyn FnMut(u16, Body)) {
        while let Some(message) = self.exchange.take() {
            let from = message.from;
            match message.body {
                Body::Halt => self.halted = true,
                Body::States(bytes) => {
                    let partition = &mut self.partition;
                    let taken =
                        unpack(from, &bytes, |of| partition.receive(of.bytes, of.set, of.from));
                    if let Err(error) = taken.unwrap_or(Err(NotTaken::Damaged)) {
                        self.stop(Stopped::from(error));
                    }
                }
                other => take(from, other),
            }
        }
    }

    /// Sends nothing more in this epoch, and waits until all of it has arrived.
    fn finish_epoch(&mut self, mut take: impl FnMut(u16, Body)) -> Result<(), Left> {
        self.exchange.close_epoch();
        while !self.exchange.epoch_is_over() {
            self.look()?;
            if let Some((why, since)) = self.stopped
                && since.elapsed() > GRACE
                && let Some(reason) = why.reason()
            {
                return Err(Left::Stopped(reason));
            }
            self.exchange.step_or_wait();
            self.receive(&mut take);
        }
        self.receive(&mut take);
        self.exchange.next_epoch();
        Ok(())
    }

    /// Tells all workers something, and hears the same from all of them, in their order.
    fn gather<T>(
        &mut self,
        body: Body,
        heard: impl Fn(Body) -> Option<T>,
    ) -> Result<Vec<(u16, T)>, Left> {
        self.exchange.send_to_all(&body);
        let mut all: Vec<(u16, T)> = Vec::new();
        self.finish_epoch(|from, body| all.extend(heard(body).map(|said| (from, said))))?;
        all.sort_by_key(|(from, _)| *from);
        Ok(all)
    }

    fn summary(&self, found: Option<(u32, bool)>) -> Summary {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let stats = self.partition.stats();
        // Sets are kept once in a process.
        let sets = if self.own == self.shared.first { 0 } else { self.shared.product.bytes() };
        Summary {
            new: count(self.partition.next_level()),
            found,
            stopped: self.stopped.map(|(why, _)| why),
            states: count(stats.states),
            implementation_states: count(stats.implementation_states),
            transitions: stats.transitions,
            bytes: count(stats.bytes.saturating_sub(sets)),
        }
    }

    fn add_up(&mut self, depth: usize, all: &[(u16, Summary)]) {
        let sum = |of: fn(&Summary) -> u64| all.iter().map(|(_, summary)| of(summary)).sum::<u64>();
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        self.totals = Stats {
            implementation_states: count(sum(|summary| summary.implementation_states)),
            states: count(sum(|summary| summary.states)),
            transitions: sum(|summary| summary.transitions),
            bytes: count(sum(|summary| summary.bytes)),
            depth,
            seconds: self.start.elapsed().as_secs_f64(),
            ..Stats::default()
        };
        *self.shared.totals.lock().unwrap_or_else(PoisonError::into_inner) = self.totals;
    }

    /// The states on the way to one, wherever they are kept.
    fn walk_back(&mut self, to: StateAt) -> Result<WrittenPath, Left> {
        let mut path = Vec::new();
        let mut next = Some(to);
        while let Some(StateAt { worker, id }) = next {
            let own = if worker == self.own { self.partition.state(id) } else { None };
            let said = Body::Step(own.map(|KeptState { bytes, set, parent }| PathStep {
                bytes,
                set,
                parent: parent.map(|at| (at.worker, at.id)),
            }));
            let steps = self.gather(said, |body| match body {
                Body::Step(step) => Some(step),
                _ => None,
            })?;
            let step = steps.into_iter().find_map(|(_, step)| step);
            let Some(PathStep { bytes, set, parent }) = step else { break };
            path.push((bytes, set));
            next = parent.map(|(worker, id)| StateAt { worker, id });
        }
        path.reverse();
        Ok(path)
    }

    /// All tell all what they have seen, and end.
    fn last(mut self, how: How) -> Result<Ended, Left> {
        let is_first = self.own == self.shared.first;
        let said = Body::Last(Last {
            is_closed: matches!(how, How::Complete) && self.partition.is_closed(),
            seen: if is_first { self.shared.product.seen() } else { Vec::new() },
            sent: if is_first { self.shared.status.sent() } else { 0 },
        });
        let all = self.gather(said, |body| match body {
            Body::Last(last) => Some(last),
            _ => None,
        })?;
        for (_, last) in &all {
            self.shared.product.see(&last.seen);
        }
        let stats = Stats {
            is_closed: all.iter().all(|(_, last)| last.is_closed),
            seconds: self.start.elapsed().as_secs_f64(),
            ..self.totals
        };
        let sent = all.iter().map(|(_, last)| last.sent).sum();
        self.exchange.end(self.shared.status);
        Ok(Ended { how, stats, sent })
    }
}

impl Stopped {
    /// The limit, if it is one.
    pub fn reason(self) -> Option<StopReason> {
        match self {
            Stopped::Time => Some(StopReason::Time),
            Stopped::Memory => Some(StopReason::Memory),
            Stopped::Interrupt => Some(StopReason::Interrupt),
            Stopped::Budget => Some(StopReason::Budget),
            Stopped::Full | Stopped::Damaged => None,
        }
    }
}

impl From<StopReason> for Stopped {
    fn from(reason: StopReason) -> Stopped {
        match reason {
            StopReason::Time => Stopped::Time,
            StopReason::Memory => Stopped::Memory,
            StopReason::Interrupt => Stopped::Interrupt,
            StopReason::Budget => Stopped::Budget,
        }
    }
}

impl From<NotTaken> for Stopped {
    fn from(error: NotTaken) -> Stopped {
        match error {
            NotTaken::Full => Stopped::Full,
            NotTaken::Damaged => Stopped::Damaged,
        }
    }
}
