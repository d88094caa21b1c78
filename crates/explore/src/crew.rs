//! One exploration by several threads of the system, whatever is explored.
//!
//! Executions form a tree, which is explored depth first: an [`Explorer`] has a part of it, goes
//! from one execution to the next, and leaves parts to others who wait. A [`Crew`] hands out parts
//! in the order of their [`Position`]s, and knows when all is done. Which executions there are does
//! not depend on who explores them.

use crate::execution::Execution;
use crate::options::{Exploration, Options};
use linchpin_verdict::StopReason;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Where an execution is among all, in the order in which one thread alone explores them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(Vec<usize>);

impl FromIterator<usize> for Position {
    fn from_iter<I: IntoIterator<Item = usize>>(places: I) -> Position {
        Position(places.into_iter().collect())
    }
}

impl Position {
    /// The place at each node on the way.
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().copied()
    }
}

/// Who is shown executions, and may say that it is enough.
pub(crate) type Observer<'a> = &'a mut dyn FnMut(&Execution) -> ControlFlow<()>;

/// Who is shown executions, with whether nothing can be explored after it, and where it is.
pub(crate) type Show<'a> =
    &'a mut dyn FnMut(&Execution, bool, &dyn Fn() -> Position) -> ControlFlow<()>;

/// Parts, and where they are.
pub(crate) type Ready<P> = Vec<(Position, P)>;

/// One who explores a part of all executions, one after the other.
pub(crate) trait Explorer {
    /// Executions that begin alike.
    type Part: Send;

    /// Goes to the first execution of a part. What was left of another one is forgotten.
    fn take(&mut self, part: Self::Part);

    /// Where it is.
    fn position(&self) -> Position;

    /// Runs the execution that it is at.
    fn run(&mut self, show: Show<'_>) -> Ran;

    /// Goes to the next execution of the part, if there is one.
    fn next(&mut self) -> bool;

    /// Leaves to others what it knows of besides what it is at.
    fn split(&mut self) -> Ready<Self::Part>;

    /// The part is done: what can be explored because of that.
    fn done(&mut self) -> Ready<Self::Part> {
        Vec::new()
    }

    /// About how many bytes it keeps.
    fn bytes(&self) -> usize {
        0
    }

    /// Steps of all executions.
    fn steps(&self) -> u64;
}

/// What became of an execution.
#[derive(Debug)]
pub(crate) enum Ran {
    /// It was shown, or several were.
    Shown,
    /// Others show the same.
    Redundant,
    /// It was shown, and another explorer showed the same meanwhile.
    Twice,
    /// The observer broke off.
    Left,
    /// A limit was reached.
    Stopped(StopReason),
}

/// Those who explore together.
pub(crate) struct Crew<P> {
    shared: Mutex<Shared<P>>,
    /// There is something new to do, or nothing any more.
    changed: Condvar,
    /// How many have nothing to do.
    hungry: AtomicUsize,
    /// An observer broke off, or a limit was reached.
    ends: AtomicBool,
    /// Executions that were shown.
    executions: AtomicU64,
    /// So long executions that come before the first one that an observer broke off at may go on.
    grace: Duration,
}

struct Shared<P> {
    /// Parts to be explored, in order.
    ready: BTreeMap<Position, P>,
    /// How many are being explored.
    running: usize,
    explored: Exploration,
    /// The first execution at which an observer broke off, and until when those before it go on.
    first: Option<(Position, Instant)>,
}

/// One of the crew.
struct Worker<'a, 'o, E: Explorer> {
    crew: &'a Crew<E::Part>,
    options: &'a Options,
    observe: Observer<'o>,
    explorer: E,
    own: Exploration,
    found: Option<Position>,
}

impl<P> Crew<P> {
    /// Nothing is explored yet; this is everything.
    pub(crate) fn new(whole: P, grace: Duration) -> Crew<P> {
        Crew {
            shared: Mutex::new(Shared {
                ready: BTreeMap::from([(Position::default(), whole)]),
                running: 0,
                explored: Exploration::default(),
                first: None,
            }),
            changed: Condvar::new(),
            hungry: AtomicUsize::new(0),
            ends: AtomicBool::new(false),
            executions: AtomicU64::new(0),
            grace,
        }
    }

    /// Explores until nothing is left: see [`Together::work`](crate::Together::work).
    pub(crate) fn work<E: Explorer<Part = P>>(
        &self,
        options: &Options,
        explorer: E,
        observe: Observer<'_>,
    ) -> Option<Position> {
        let own = Exploration::default();
        let mut worker = Worker { crew: self, options, observe, explorer, own, found: None };
        // A thread that panics must not leave others waiting.
        let _guard = Guard(self);
        while let Some(part) = self.next_part() {
            worker.explorer.take(part);
            let is_done = worker.explore();
            let ready = if is_done { worker.explorer.done() } else { Vec::new() };
            let mut shared = self.shared();
            // INVARIANT: both at once, so that no one takes a pause between parts for the end.
            shared.running -= 1;
            shared.ready.extend(ready);
            drop(shared);
            self.changed.notify_all();
        }
        let mut shared = self.shared();
        shared.explored.executions += worker.own.executions;
        shared.explored.redundant += worker.own.redundant;
        shared.explored.steps += worker.explorer.steps();
        worker.found
    }

    /// What was explored by all.
    pub(crate) fn explored(self) -> Exploration {
        let shared = self.shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        let is_empty = shared.ready.is_empty() && shared.running == 0;
        let is_whole = shared.first.is_none() && shared.explored.stopped.is_none();
        Exploration { complete: is_whole && is_empty, ..shared.explored }
    }

    fn shared(&self) -> MutexGuard<'_, Shared<P>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a part; none if none will come.
    fn next_part(&self) -> Option<P> {
        let mut shared = self.shared();
        loop {
            if shared.explored.stopped.is_some() {
                return None;
            }
            let Shared { ready, running, first, .. } = &mut *shared;
            let before = first.as_ref().map(|(position, _)| position);
            if let Some(part) = ready.first_entry()
                && before.is_none_or(|before| part.key() <= before)
            {
                *running += 1;
                return Some(part.remove());
            }
            if *running == 0 {
                drop(shared);
                self.changed.notify_all();
                return None;
            }
            self.hungry.fetch_add(1, Ordering::Relaxed);
            shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
            self.hungry.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// An observer broke off here. Answers whether that comes before all others so far.
    fn broke_off(&self, position: &Position) -> bool {
        let mut shared = self.shared();
        let is_first = shared.first.as_ref().is_none_or(|(first, _)| position < first);
        if is_first {
            let until = shared.first.as_ref().map(|(_, until)| *until);
            let until = until.unwrap_or_else(|| Instant::now() + self.grace);
            shared.first = Some((position.clone(), until));
        }
        self.ends.store(true, Ordering::Relaxed);
        is_first
    }

    fn stop(&self, reason: StopReason) {
        let mut shared = self.shared();
        shared.explored.stopped = shared.explored.stopped.or(Some(reason));
        self.ends.store(true, Ordering::Relaxed);
        drop(shared);
        self.changed.notify_all();
    }
}

/// Stops all when a panic unwinds it.
struct Guard<'a, P>(&'a Crew<P>);

impl<P> Drop for Guard<'_, P> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop(StopReason::Interrupt);
        }
    }
}

impl<E: Explorer> Worker<'_, '_, E> {
    /// Explores a part, and answers whether all of it. Where others wait, it becomes smaller.
    fn explore(&mut self) -> bool {
        loop {
            if self.is_to_leave() {
                return false;
            }
            let most = self.options.executions.unwrap_or(u64::MAX);
            let stopped = match self.crew.executions.load(Ordering::Relaxed) >= most {
                true => Some(StopReason::Budget),
                false => self.options.limits.exceeded(self.explorer.bytes()),
            };
            if let Some(reason) = stopped {
                self.crew.stop(reason);
                return false;
            }
            match self.run(most) {
                Ran::Shown => {}
                Ran::Redundant => self.own.redundant += 1,
                Ran::Twice => {
                    self.own.executions -= 1;
                    self.own.redundant += 1;
                    self.crew.executions.fetch_sub(1, Ordering::Relaxed);
                }
                Ran::Left => return false,
                Ran::Stopped(reason) => {
                    self.crew.stop(reason);
                    return false;
                }
            }
            self.split();
            if !self.explorer.next() {
                return true;
            }
        }
    }

    /// Runs an execution. At the first one that the observer breaks off at, all is done.
    fn run(&mut self, most: u64) -> Ran {
        let Worker { crew, observe, explorer, own, found, .. } = self;
        explorer.run(&mut |execution, ends, position| {
            if crew.executions.fetch_add(1, Ordering::Relaxed) >= most {
                crew.stop(StopReason::Budget);
                return ControlFlow::Break(());
            }
            own.executions += 1;
            if observe(execution).is_continue() && !ends {
                return ControlFlow::Continue(());
            }
            let position = position();
            if crew.broke_off(&position) {
                *found = Some(position);
            }
            ControlFlow::Break(())
        })
    }

    /// Whether what comes next here does not matter any more.
    fn is_to_leave(&self) -> bool {
        if !self.crew.ends.load(Ordering::Relaxed) {
            return false;
        }
        let shared = self.crew.shared();
        shared.explored.stopped.is_some()
            || shared.first.as_ref().is_some_and(|(first, until)| {
                self.explorer.position() >= *first || Instant::now() >= *until
            })
    }

    fn split(&mut self) {
        if self.crew.hungry.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut shared = self.crew.shared();
        if !shared.ready.is_empty() {
            return;
        }
        let ready = self.explorer.split();
        if !ready.is_empty() {
            shared.ready.extend(ready);
            drop(shared);
            self.crew.changed.notify_all();
        }
    }
}
