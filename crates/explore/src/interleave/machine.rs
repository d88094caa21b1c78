//! One execution: threads run up to their next access, a [`Scheduler`] picks one of those that
//! could go on, its access is made, and the thread runs on.
//!
//! What a thread does between two accesses commutes with everything that other threads do, so it is
//! no point of decision. Memory is the memory of the places themselves.

use super::schedule::{Pick, Scheduler, Step};
use super::set::MOST_THREADS;
use super::state::{Ask, Effect, State};
use super::stuck::Stuck;
use super::synchronize::Synchronization;
use crate::execution::{Event, EventKind, Execution, InLine, Problem};
use crate::options::Options;
use crate::problem::again_in;
use crate::threads::{Paused, Request, Stacks, ThreadId, Threads};
use linchpin_sync::runtime::{self, Identity, Site};
use linchpin_verdict::StopReason;
use std::any::Any;
use std::collections::VecDeque;
use std::panic::Location;
use std::rc::Rc;

/// Limits are looked at when so many accesses were made.
const STEPS_BETWEEN_LIMITS: u64 = 1024;

/// Runs one execution after the other; what is allocated is used again.
pub(super) struct Machine<'a> {
    options: &'a Options,
    stacks: Stacks,
    state: State,
    synchronization: Synchronization,
    /// The last execution: clocks are missing.
    pub(super) execution: Execution,
    /// The event that wrote what a place holds.
    writers: Vec<Option<usize>>,
    cells: u32,
    /// Threads that have not run yet.
    fresh: VecDeque<ThreadId>,
    stuck: Stuck,
    generation: u64,
    /// Accesses of all executions.
    pub(super) steps: u64,
    /// Room for so many threads is in clocks.
    width: usize,
}

/// How an execution ended.
pub(super) enum End {
    /// With the end of all threads, or a problem.
    Whole,
    /// It is equivalent to one that was shown.
    Redundant,
    /// A limit was reached.
    Stopped(StopReason),
}

impl From<Problem> for Exit {
    fn from(problem: Problem) -> Exit {
        Exit::Problem(problem)
    }
}

/// Why an execution does not go on.
enum Exit {
    Problem(Problem),
    End(End),
}

impl<'a> Machine<'a> {
    pub(super) fn new(options: &'a Options) -> Machine<'a> {
        Machine {
            options,
            stacks: Stacks::new(options),
            state: State::default(),
            synchronization: Synchronization::default(),
            execution: Execution::default(),
            writers: Vec::new(),
            cells: 0,
            fresh: VecDeque::new(),
            stuck: Stuck::default(),
            generation: 0,
            steps: 0,
            width: 4,
        }
    }

    /// Runs one execution.
    pub(super) fn run<S: Scheduler>(&mut self, body: &Rc<dyn Fn()>, scheduler: &mut S) -> End {
        self.clear();
        scheduler.begin();
        let body = Rc::clone(body);
        let first = Box::new(move || {
            body();
            runtime::with(|runtime| runtime.with_locals(&mut |locals| locals.destroy()));
        });
        let mut threads = Threads::new(first, &mut self.stacks);
        self.add_thread(None, 0, scheduler);
        let mut exit = self.run_threads(&mut threads, scheduler);
        let ended = matches!(
            exit,
            Exit::End(End::Whole)
                | Exit::Problem(Problem::Deadlock { .. } | Problem::Leaked { .. })
        );
        if ended && scheduler.is_short() {
            exit = self.different(0);
        }
        self.execution.threads = threads.len();
        threads.abandon(&mut self.stacks);
        match exit {
            Exit::End(end) => end,
            Exit::Problem(problem) => {
                if !matches!(problem, Problem::Deadlock { .. } | Problem::Leaked { .. }) {
                    scheduler.cut();
                }
                self.execution.problem = Some(problem);
                End::Whole
            }
        }
    }

    fn clear(&mut self) {
        let execution = &mut self.execution;
        execution.events.clear();
        execution.decisions.clear();
        execution.places.clear();
        execution.lines.clear();
        execution.problem = None;
        execution.preemptions = 0;
        self.state.clear();
        self.synchronization.clear(self.width);
        self.writers.clear();
        self.cells = 0;
        self.fresh.clear();
        self.stuck.clear();
        self.generation = Identity::next_generation();
    }

    fn add_thread<S: Scheduler>(
        &mut self,
        parent: Option<ThreadId>,
        child: ThreadId,
        scheduler: &mut S,
    ) {
        self.width = self.width.max((child + 1).next_power_of_two());
        self.state.add_thread();
        self.synchronization.spawned(parent, child, self.width);
        scheduler.spawned(parent, child);
        self.fresh.push_back(child);
    }

    fn run_threads<S: Scheduler>(&mut self, threads: &mut Threads, scheduler: &mut S) -> Exit {
        loop {
            if let Err(exit) = self.next_step(threads, scheduler) {
                return exit;
            }
        }
    }

    /// Lets new threads run up to their first access, then one thread make its access.
    fn next_step<S: Scheduler>(
        &mut self,
        threads: &mut Threads,
        scheduler: &mut S,
    ) -> Result<(), Exit> {
        while let Some(thread) = self.fresh.pop_front() {
            self.advance(threads, thread, 0, scheduler)?;
        }
        self.state.update_enabled();
        if self.state.enabled.is_empty() {
            if self.state.asks.iter().all(Option::is_none) {
                return Err(self.finish());
            }
            scheduler.stuck(&self.state);
            self.stuck.wake(&mut self.state, &mut self.execution)?;
            scheduler.woken();
            return Ok(());
        }
        let thread = match scheduler.pick(&self.state) {
            Pick::Thread(thread) => thread,
            Pick::Redundant => return Err(Exit::End(End::Redundant)),
            Pick::Different(thread) => return Err(self.different(thread)),
        };
        let reply = self.step(thread, scheduler);
        self.steps += 1;
        if self.steps.is_multiple_of(STEPS_BETWEEN_LIMITS)
            && let Some(reason) = self.options.limits.exceeded(scheduler.bytes())
        {
            return Err(Exit::End(End::Stopped(reason)));
        }
        self.advance(threads, thread, reply, scheduler)
    }

    /// Makes the access that a thread asks for. Answers what was there before.
    fn step<S: Scheduler>(&mut self, thread: ThreadId, scheduler: &mut S) -> u64 {
        debug_assert!(self.state.enabled.contains(thread), "a step that waits was picked");
        self.execution.preemptions += usize::from(self.state.would_preempt(thread));
        self.execution.decisions.push(thread as u32);
        let Some(ask) = self.state.asks[thread] else { unreachable!("the thread is enabled") };
        let before = ask.place.memory.get();
        let effect = ask.effect(before);
        let wrote = match effect {
            Effect::Write(new) => Some(new),
            Effect::Read | Effect::Blocked => None,
        };
        scheduler.stepped(&self.state, &Step { thread, ask: &ask, before, wrote });
        if let Some(new) = wrote {
            ask.place.memory.set(new);
            self.state.values[ask.index] = new;
        }
        self.synchronization.accessed(thread, ask.index, ask.reads(), wrote.is_some());
        let read = ask.reads().then_some(before);
        self.state.spins[thread].accessed(ask.site, ask.index, read, wrote);
        self.state.paused.remove(thread);
        self.state.last = Some(thread);
        let from = self.writers[ask.index].filter(|_| read.is_some());
        if wrote.is_some() {
            self.writers[ask.index] = Some(self.execution.events.len());
        }
        let order = ask.order(effect);
        let kind = EventKind::Access { place: ask.index, read, wrote, order, from };
        self.execution.events.push(Event { thread, kind, site: Some(ask.site) });
        before
    }

    /// Lets a thread run up to its next access.
    fn advance<S: Scheduler>(
        &mut self,
        threads: &mut Threads,
        thread: ThreadId,
        mut reply: u64,
        scheduler: &mut S,
    ) -> Result<(), Exit> {
        self.state.asks[thread] = None;
        loop {
            let paused = threads.resume(thread, reply, &mut self.stacks);
            scheduler.explored(threads.is_explored());
            match paused {
                Paused::Asks(Request::Access { place, line, action, site }) => {
                    let index = self.place(&place);
                    let line = line.map(|line| self.line(index, &place, &line));
                    self.state.asks[thread] = Some(Ask { place, action, site, index, line });
                    return self.check_length();
                }
                Paused::Asks(request) => {
                    self.check_length()?;
                    reply = self.answer(thread, request, scheduler)?;
                }
                Paused::Ended => return Ok(()),
                Paused::Panicked(panic) => {
                    let message = message(&*panic);
                    return Err(Problem::Panicked { thread, message }.into());
                }
            }
        }
    }

    fn check_length(&self) -> Result<(), Exit> {
        let steps = self.options.steps;
        if self.execution.events.len() < steps {
            return Ok(());
        }
        Err(Problem::TooLong { steps, again: again_in(&self.execution.events) }.into())
    }

    /// The number of a place.
    fn place(&mut self, place: &runtime::Place<'_>) -> usize {
        if let Some(index) = place.identity.index(self.generation) {
            return index as usize;
        }
        let index = self.state.values.len();
        place.identity.register(self.generation, index as u32, Some(place.memory));
        self.state.values.push(place.memory.get());
        self.writers.push(None);
        self.execution.places.push(place.kind);
        self.execution.lines.push(None);
        index
    }

    /// The number of the line of a place in persistent memory.
    fn line(
        &mut self,
        index: usize,
        place: &runtime::Place<'_>,
        line: &runtime::Place<'_>,
    ) -> usize {
        let line = self.place(line);
        let address = std::ptr::from_ref(place.memory).cast::<u8>().addr();
        let size = size_of_val(place.memory);
        self.execution.lines[index] = Some(InLine { address, size, line });
        line
    }

    /// Answers what is no access.
    fn answer<S: Scheduler>(
        &mut self,
        thread: ThreadId,
        request: Request,
        scheduler: &mut S,
    ) -> Result<u64, Exit> {
        match request {
            Request::Access { .. } => unreachable!("accesses are made by `step`"),
            Request::Fence { order, site } => self.note(thread, EventKind::Fence(order), site),
            Request::Cell { identity, access, site } => {
                let cell = identity.index(self.generation).unwrap_or_else(|| {
                    self.cells += 1;
                    identity.register(self.generation, self.cells - 1, None);
                    self.cells - 1
                }) as usize;
                self.note(thread, EventKind::Cell { cell, access }, site);
                self.synchronization.cell(thread, cell, access, site)?;
            }
            Request::Pause { site } => {
                self.state.spins[thread].paused(site);
                self.state.paused.insert(thread);
                self.note(thread, EventKind::Pause, site);
            }
            Request::Choose { alternatives, site } => {
                let Some(taken) = scheduler.choose(thread, alternatives, site) else {
                    return Err(Problem::Nondeterministic { thread, site }.into());
                };
                self.execution.decisions.push(taken as u32);
                self.note(thread, EventKind::Choose { taken, alternatives }, site);
                return Ok(taken as u64);
            }
            Request::Spawned { thread: child, name, site } => {
                // Threads are known by their numbers; no event has names.
                drop(name);
                self.note(thread, EventKind::Spawn { thread: child }, site);
                if child >= MOST_THREADS {
                    let message = format!("an execution has more than {MOST_THREADS} threads");
                    return Err(Problem::Panicked { thread, message }.into());
                }
                self.add_thread(Some(thread), child, scheduler);
            }
            Request::Acquired { what, site } => {
                return Ok(self.synchronization.acquired(what, site));
            }
            Request::Released { resource, site } => {
                self.synchronization.released(thread, resource, site)?;
            }
            Request::Used { resource, site } => {
                self.synchronization.used(thread, resource, site)?;
            }
            Request::Mark(mark) => {
                let kind = EventKind::Mark(mark);
                self.execution.events.push(Event { thread, kind, site: None });
            }
        }
        Ok(0)
    }

    fn note(&mut self, thread: ThreadId, kind: EventKind, site: Site) {
        self.execution.events.push(Event { thread, kind, site: Some(site) });
    }

    /// All threads have ended.
    fn finish(&self) -> Exit {
        let leaked = self.synchronization.leaked().filter(|_| self.options.leaks);
        leaked.map_or(Exit::End(End::Whole), Exit::Problem)
    }

    fn different(&self, thread: ThreadId) -> Exit {
        let asked = self.state.asks.get(thread).copied().flatten().map(|ask| ask.site);
        let seen = self.execution.events.iter().rev().find_map(|event| event.site);
        // Where nothing was asked at all, there is no place to name but this one.
        let site = asked.or(seen).unwrap_or_else(|| Location::caller());
        Problem::Nondeterministic { thread, site }.into()
    }
}

/// What a thread said when it panicked.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a value that is no text".to_owned())
}
