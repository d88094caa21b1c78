//! One exploration by several threads of the system: see [`share`](super::share).

use super::Observer;
use super::dpor::{Dpor, Wishes};
use super::machine::{End, Machine};
use super::order::Order;
use super::schedule::Scheduler;
use super::share::{Child, Part, Parts, Position};
use crate::execution::Problem;
use crate::options::{Exploration, Options};
use linchpin_verdict::StopReason;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Every execution under sequential consistency, explored by several threads of the system.
///
/// Each of them calls [`Together::work`] with the same body. Which executions there are does not
/// depend on how many threads take part; which of them sees what does.
pub struct Together {
    shared: Mutex<Shared>,
    /// There is something new to do, or nothing any more.
    changed: Condvar,
    /// How many threads have nothing to do.
    hungry: AtomicUsize,
    /// An observer broke off, or a limit was reached.
    ends: AtomicBool,
    /// Executions that were begun and not found to be redundant.
    executions: AtomicU64,
    /// So long executions that come before the first one that an observer broke off at may go on.
    grace: Duration,
}

struct Shared {
    parts: Parts,
    explored: Exploration,
    /// The first execution at which an observer broke off, and until when those before it go on.
    first: Option<(Position, Instant)>,
}

/// Why a part is left.
enum Left {
    Done,
    Stopped,
}

/// One thread of the system that takes part.
struct Worker<'a, 'o> {
    together: &'a Together,
    options: &'a Options,
    body: &'a Rc<dyn Fn()>,
    observe: Observer<'o>,
    machine: Machine<'a>,
    order: Order,
    dpor: Dpor,
    /// The part that is explored.
    of: Option<Child>,
    own: Exploration,
    found: Option<Position>,
}

impl Together {
    /// Nothing is explored yet. When an observer breaks off, executions that come before that one
    /// may go on for so long, so that the first one is found.
    pub fn new(grace: Duration) -> Together {
        let explored = Exploration::default();
        Together {
            shared: Mutex::new(Shared { parts: Parts::whole(), explored, first: None }),
            changed: Condvar::new(),
            hungry: AtomicUsize::new(0),
            ends: AtomicBool::new(false),
            executions: AtomicU64::new(0),
            grace,
        }
    }

    /// Explores until nothing is left. Answers the position of the last execution at which the
    /// observer broke off: the first of all that threads answer is the one that one thread alone
    /// would have found.
    ///
    /// An observer must break off at a [`Problem`] that ends an execution early: of what would have
    /// followed nothing is known.
    pub fn work(
        &self,
        options: &Options,
        body: &Rc<dyn Fn()>,
        observe: Observer<'_>,
    ) -> Option<Position> {
        let mut worker = Worker {
            together: self,
            options,
            body,
            observe,
            machine: Machine::new(options),
            order: Order::default(),
            dpor: Dpor::default(),
            of: None,
            own: Exploration::default(),
            found: None,
        };
        // A thread that panics must not leave others waiting.
        let _guard = Guard(self);
        while let Some(part) = self.next_part() {
            let left = worker.explore(part);
            let mut shared = self.shared();
            shared.parts.running -= 1;
            if let Left::Done = left {
                let wishes = std::mem::take(&mut worker.dpor.wishes);
                shared.parts.done(worker.of, wishes.all);
            }
            drop(shared);
            self.changed.notify_all();
        }
        let mut shared = self.shared();
        shared.explored.executions += worker.own.executions;
        shared.explored.redundant += worker.own.redundant;
        shared.explored.steps += worker.machine.steps;
        worker.found
    }

    /// What was explored by all.
    pub fn explored(self) -> Exploration {
        let shared = self.shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        let complete = shared.first.is_none() && shared.explored.stopped.is_none();
        Exploration { complete: complete && shared.parts.is_empty(), ..shared.explored }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a part; none if none will come.
    fn next_part(&self) -> Option<Part> {
        let mut shared = self.shared();
        loop {
            if shared.explored.stopped.is_some() {
                return None;
            }
            let Shared { parts, first, .. } = &mut *shared;
            let before = first.as_ref().map(|(position, _)| position);
            if let Some(part) = parts.next(before) {
                return Some(part);
            }
            if parts.running == 0 {
                drop(shared);
                self.changed.notify_all();
                return None;
            }
            self.hungry.fetch_add(1, Ordering::Relaxed);
            shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
            self.hungry.fetch_sub(1, Ordering::Relaxed);
        }
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
struct Guard<'a>(&'a Together);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop(StopReason::Interrupt);
        }
    }
}

impl Worker<'_, '_> {
    /// Explores a part. Where others wait, it becomes smaller.
    fn explore(&mut self, part: Part) -> Left {
        self.dpor.base = part.path.len();
        self.dpor.path = part.path;
        // Those of a part that was left.
        self.dpor.wishes = Wishes::default();
        self.of = part.of;
        loop {
            if self.is_to_leave() {
                return Left::Stopped;
            }
            let most = self.options.executions.unwrap_or(u64::MAX);
            let stopped = match self.together.executions.fetch_add(1, Ordering::Relaxed) >= most {
                true => Some(StopReason::Budget),
                false => self.options.limits.exceeded(0),
            };
            if let Some(reason) = stopped {
                self.together.stop(reason);
                return Left::Stopped;
            }
            match self.machine.run(self.body, &mut self.dpor) {
                End::Stopped(reason) => {
                    self.together.stop(reason);
                    return Left::Stopped;
                }
                End::Redundant => {
                    self.own.redundant += 1;
                    self.together.executions.fetch_sub(1, Ordering::Relaxed);
                }
                End::Whole => {
                    if self.show().is_break() {
                        return Left::Stopped;
                    }
                }
            }
            self.split();
            if !self.dpor.next() {
                return Left::Done;
            }
        }
    }

    /// Shows an execution. At the first one that the observer breaks off at all is done.
    fn show(&mut self) -> ControlFlow<()> {
        self.own.executions += 1;
        let execution = &mut self.machine.execution;
        self.order.fill(execution);
        let cut = match &execution.problem {
            None | Some(Problem::Deadlock { .. } | Problem::Leaked { .. }) => false,
            Some(_) => true,
        };
        if (self.observe)(execution).is_continue() && !cut {
            return ControlFlow::Continue(());
        }
        let position = Position::of(&self.dpor.path);
        let mut shared = self.together.shared();
        if shared.first.as_ref().is_none_or(|(first, _)| position < *first) {
            let until = shared.first.as_ref().map(|(_, until)| *until);
            let until = until.unwrap_or_else(|| Instant::now() + self.together.grace);
            shared.first = Some((position.clone(), until));
            self.found = Some(position);
        }
        self.together.ends.store(true, Ordering::Relaxed);
        ControlFlow::Break(())
    }

    /// Whether what comes next here does not matter any more.
    fn is_to_leave(&self) -> bool {
        if !self.together.ends.load(Ordering::Relaxed) {
            return false;
        }
        let shared = self.together.shared();
        shared.explored.stopped.is_some()
            || shared.first.as_ref().is_some_and(|(first, until)| {
                !first.is_after(&self.dpor.path) || Instant::now() >= *until
            })
    }

    fn split(&mut self) {
        if self.together.hungry.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut shared = self.together.shared();
        if shared.parts.ready() > 0 {
            return;
        }
        if let Some(child) = shared.parts.split(&mut self.dpor, self.of) {
            self.of = Some(child);
            drop(shared);
            self.together.changed.notify_all();
        }
    }
}
