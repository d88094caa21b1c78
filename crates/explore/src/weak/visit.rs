//! One visit of a graph: its events are done again in a new run, then events are added until no
//! thread can go on.
//!
//! Where an event could be added in several ways, this visit goes on with the newest one, and the
//! others are left to be visited ([`Visit::left`]). Threads run in a fixed order: the first that
//! can go on does.

use super::graph::Graph;
use super::label::{Effect, Label};
use super::names::Names;
use super::run::{Run, State};
use super::{access, finish, pause, psc, repeat, solo};
use crate::execution::Problem;
use crate::problem::again;
use crate::threads::{Request, Stacks, ThreadId};
use linchpin_sync::runtime::{PlaceKind, Site};
use std::rc::Rc;

/// A visit.
pub(super) struct Visit<'a> {
    pub(super) names: &'a mut Names,
    pub(super) stacks: &'a mut Stacks,
    /// Graphs to be visited.
    pub(super) left: &'a mut Vec<Graph>,
    pub(super) graph: Graph,
    pub(super) run: Run,
    /// At most so many events.
    pub(super) steps: usize,
    /// What to choose, if that is prescribed: see [`super::script`].
    pub(super) prescribed: Option<u32>,
}

/// Why a visit cannot go on.
#[derive(Debug)]
pub(super) enum Stop {
    /// The graph is not consistent, or others show the same.
    Redundant,
    /// Something went wrong: the execution ends.
    Problem(Problem),
}

/// What is to be done.
pub(super) enum Next {
    /// This thread goes on.
    Step(u32),
    /// This thread has panicked, and that was not shown yet.
    Panicked(u32),
    /// No thread can go on.
    Nothing,
}

impl Visit<'_> {
    /// Does the events of the graph again.
    pub(super) fn repeat(&mut self) -> Result<(), Stop> {
        let sequential = self.graph.sequential.len();
        if let Err(problem) = repeat::repeat(&mut self.run, &mut self.graph, self.stacks) {
            let done = (0..self.graph.threads.len()).map(|thread| self.run.done(thread as u32));
            self.graph.truncate(&done.collect::<Vec<_>>());
            return Err(Stop::Problem(problem));
        }
        // A read whose effect was not known may take part in the order of `SeqCst` events now.
        let is_unchanged = self.graph.sequential.len() == sequential;
        if is_unchanged || psc::holds(&self.graph) { Ok(()) } else { Err(Stop::Redundant) }
    }

    /// What is to be done: an update that has been begun comes first.
    pub(super) fn next(&mut self) -> Next {
        let threads = (0..self.graph.threads.len() as u32).rev();
        if let Some(thread) = threads.into_iter().find(|thread| self.is_updating(*thread)) {
            return Next::Step(thread);
        }
        for place in 0..self.names.order().len() {
            let thread = self.names.order()[place];
            if self.can_go_on(thread) {
                return Next::Step(thread);
            }
            let panicked = matches!(self.run.state(thread, self.stacks), State::Panicked(_));
            if panicked && !self.graph.threads[thread as usize].panicked {
                return Next::Panicked(thread);
            }
        }
        let order = self.names.order().iter().copied();
        let mut threads = order.filter(|thread| (*thread as usize) < self.run.lanes.len());
        match threads.find(|thread| pause::may_try_again(self, *thread)) {
            Some(thread) if !finish::is_anyone_stale(self) => Next::Step(thread),
            _ => Next::Nothing,
        }
    }

    /// Whether the write of an update is what comes next.
    fn is_updating(&self, thread: u32) -> bool {
        let last = self.graph.events(thread).last();
        last.is_some_and(|event| matches!(event.label, Label::Read { effect: Effect::Updates, .. }))
    }

    /// Whether a thread that asks may be answered.
    pub(super) fn can_go_on(&mut self, thread: u32) -> bool {
        if finish::is_blocked(&self.graph, thread) {
            return false;
        }
        let State::Asks(request) = self.run.state(thread, self.stacks) else { return false };
        let request = Rc::clone(request);
        match &*request {
            Request::Pause { site } => !pause::waits(self, thread, site),
            // A thread that ends is the only one that writes this place, once: nothing is lost if
            // the other waits outside of the graph, and much is won.
            Request::Access { place, action, .. } if place.kind == PlaceKind::Join => {
                access::is_possible(self, *place, *action)
            }
            _ => true,
        }
    }

    /// Adds the next event of a thread.
    pub(super) fn step(&mut self, thread: u32) -> Result<(), Stop> {
        if self.graph.len() >= self.steps {
            return Err(self.too_long());
        }
        let State::Asks(request) = self.run.state(thread, self.stacks) else { return Ok(()) };
        let request = Rc::clone(request);
        match &*request {
            Request::Access { place, action, site, .. } => {
                access::access(self, thread, *place, *action, site)
            }
            Request::Fence { order, site } => {
                solo::add(self, thread, Label::Fence(*order), site);
                Ok(())
            }
            Request::Cell { identity, access, site } => {
                solo::cell(self, thread, identity, *access, site)
            }
            Request::Pause { site } => {
                solo::add(self, thread, Label::Pause, site);
                Ok(())
            }
            Request::Choose { alternatives, site } => {
                solo::choose(self, thread, *alternatives as u32, site);
                Ok(())
            }
            Request::Spawned { thread: started, site, .. } => {
                solo::spawn(self, thread, *started, site);
                Ok(())
            }
            Request::Acquired { what, site } => {
                solo::acquired(self, thread, *what, site);
                Ok(())
            }
            Request::Released { resource, site } => {
                let label = Label::Released { resource: *resource as u32 };
                solo::resource(self, thread, *resource as u32, label, site)
            }
            Request::Used { resource, site } => {
                let label = Label::Used { resource: *resource as u32 };
                solo::resource(self, thread, *resource as u32, label, site)
            }
            Request::Mark(mark) => {
                solo::mark(self, thread, *mark);
                Ok(())
            }
        }
    }

    /// There are too many events.
    pub(super) fn too_long(&self) -> Stop {
        let threads = (0u32..).zip(&self.graph.threads);
        let mut events: Vec<_> = threads
            .flat_map(|(thread, of)| of.events.iter().map(move |event| (thread, event)))
            .collect();
        events.sort_unstable_by_key(|(_, event)| event.stamp);
        let again = again(events.iter().map(|(thread, event)| (self.number(*thread), event.site)));
        Stop::Problem(Problem::TooLong { steps: self.steps, again })
    }

    /// The index that code and people know a thread by.
    pub(super) fn number(&self, thread: u32) -> ThreadId {
        self.run.lanes[thread as usize].thread
    }

    /// Leaves a graph to be visited, unless choices are prescribed.
    pub(super) fn leave(&mut self, graph: Graph) {
        if self.prescribed.is_none() {
            self.left.push(graph);
        }
    }

    /// The code did something that the graph does not allow.
    pub(super) fn differs(&self, thread: u32, site: Site) -> Stop {
        Stop::Problem(Problem::Nondeterministic { thread: self.number(thread), site })
    }
}
