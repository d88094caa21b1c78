//! Executions of one thread of the system among several that explore the same: a machine, and a
//! scheduler that can leave parts to others.

use super::machine::{End, Machine};
use super::order::Order;
use super::schedule::Scheduler;
use crate::crew::{Explorer, Position, Ran, Ready, Show};
use crate::execution::Problem;
use crate::options::Options;
use std::ops::ControlFlow;
use std::rc::Rc;

/// A scheduler whose executions are a tree, of which others can explore parts.
pub(crate) trait Tree: Scheduler + Sized {
    /// A decision on the way to an execution.
    type Node: Send;
    /// Who waits for a part to be done.
    type Of: Send;

    /// Goes to a part.
    fn take(&mut self, part: Path<Self>);

    /// The way to the execution that it is at.
    fn position(&self) -> Position;

    /// Leaves to others what it knows of besides that.
    fn split(&mut self) -> Ready<Path<Self>>;

    /// The part is done.
    fn done(&mut self) -> Ready<Path<Self>>;

    /// Whether nothing can be explored any more after such an execution.
    fn ends_at(&self, problem: &Problem) -> bool;
}

/// Executions that begin alike: the nodes of the way to them.
pub(crate) struct Path<S: Tree> {
    pub(super) nodes: Vec<S::Node>,
    pub(super) of: Option<S::Of>,
}

impl<S: Tree> Path<S> {
    /// The way to all executions.
    pub(crate) fn whole() -> Path<S> {
        Path { nodes: Vec::new(), of: None }
    }
}

/// One of those who explore together.
pub(crate) struct Branch<'a, S> {
    body: &'a Rc<dyn Fn()>,
    machine: Machine<'a>,
    order: Order,
    scheduler: S,
}

impl<'a, S> Branch<'a, S> {
    pub(crate) fn new(options: &'a Options, body: &'a Rc<dyn Fn()>, scheduler: S) -> Branch<'a, S> {
        let (machine, order) = (Machine::new(options), Order::default());
        Branch { body, machine, order, scheduler }
    }
}

impl<S: Tree> Explorer for Branch<'_, S> {
    type Part = Path<S>;

    fn take(&mut self, part: Path<S>) {
        self.scheduler.take(part);
    }

    fn position(&self) -> Position {
        self.scheduler.position()
    }

    fn run(&mut self, show: Show<'_>) -> Ran {
        match self.machine.run(self.body, &mut self.scheduler) {
            End::Stopped(reason) => return Ran::Stopped(reason),
            End::Redundant => return Ran::Redundant,
            End::Whole => {}
        }
        let execution = &mut self.machine.execution;
        self.order.fill(execution);
        if !self.scheduler.is_new(execution) {
            return Ran::Redundant;
        }
        let (scheduler, problem) = (&self.scheduler, execution.problem.as_ref());
        let ends = problem.is_some_and(|problem| scheduler.ends_at(problem));
        let flow = show(execution, ends, &|| scheduler.position());
        match flow {
            ControlFlow::Break(()) => Ran::Left,
            ControlFlow::Continue(()) if self.scheduler.shown() => Ran::Shown,
            ControlFlow::Continue(()) => Ran::Twice,
        }
    }

    fn next(&mut self) -> bool {
        self.scheduler.next()
    }

    fn split(&mut self) -> Ready<Path<S>> {
        self.scheduler.split()
    }

    fn done(&mut self) -> Ready<Path<S>> {
        self.scheduler.done()
    }

    fn bytes(&self) -> usize {
        self.scheduler.bytes()
    }

    fn steps(&self) -> u64 {
        self.machine.steps
    }
}
