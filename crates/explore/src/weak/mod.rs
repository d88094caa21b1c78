//! Every execution under weak memory, by execution graphs.
//!
//! The model is RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer, PLDI 2017): coherence, atomicity, `psc`
//! for `SeqCst`, and no cycles of program order and reads-from, so load buffering is not covered. A
//! release sequence is, as since C++20, a release write and the updates that follow it; later
//! plain stores of the same thread do not belong to it.
//!
//! The method is `TruSt` (Kokologiannakis, Marmanis, Gladstein, Vafeiadis, POPL 2022): each
//! consistent graph is visited once. Start with [`explore`]; [`visit`] adds events to a graph, with
//! [`access`] for what is shared and [`solo`] for the rest; [`coherence`] and [`psc`] are the axioms;
//! [`revisit`] lets a write serve a read that came before. [`run`] is the real code, which is run
//! again ([`repeat`]) for each graph that is left: graphs say who reads from whom, and runs what the
//! values are.

mod access;
mod clock;
mod coherence;
mod finish;
mod graph;
mod label;
mod names;
mod pause;
mod psc;
mod repeat;
mod revisit;
mod run;
mod script;
mod show;
mod solo;
#[cfg(test)]
mod tests;
mod visit;

use crate::execution::{Execution, Problem};
use crate::options::{Exploration, Options, Strategy};
use crate::threads::Stacks;
use graph::Graph;
use linchpin_verdict::StopReason;
use names::Names;
use run::{Run, State};
use std::ops::ControlFlow;
use std::rc::Rc;
use visit::{Next, Stop, Visit};

/// Shows every execution of the body, or the one that [`Strategy::ReplayWeak`] prescribes, until the
/// observer breaks off.
///
/// An execution with an error ends there. What a panic of one thread hides from others is explored
/// nevertheless, if the observer goes on.
pub(crate) fn explore(
    options: &Options,
    body: &Rc<dyn Fn()>,
    observe: &mut dyn FnMut(&Execution) -> ControlFlow<()>,
) -> Exploration {
    let engine = Engine {
        options,
        body,
        observe,
        names: Names::new(),
        stacks: Stacks::new(options),
        left: vec![Graph::new()],
        exploration: Exploration::default(),
    };
    engine.explore()
}

struct Engine<'a> {
    options: &'a Options,
    body: &'a Rc<dyn Fn()>,
    observe: &'a mut dyn FnMut(&Execution) -> ControlFlow<()>,
    names: Names,
    stacks: Stacks,
    /// Graphs to be visited.
    left: Vec<Graph>,
    exploration: Exploration,
}

impl Engine<'_> {
    fn explore(mut self) -> Exploration {
        let mut flow = ControlFlow::Continue(());
        while let Some(graph) = self.left.pop() {
            self.exploration.stopped = self.exceeded(&graph);
            if self.exploration.stopped.is_some() {
                return self.exploration;
            }
            flow = self.visit(graph);
            if flow.is_break() {
                break;
            }
        }
        self.exploration.complete = flow.is_continue();
        self.exploration
    }

    /// Why to give up, if it is time to.
    fn exceeded(&self, graph: &Graph) -> Option<StopReason> {
        let bound = self.options.executions;
        if bound.is_some_and(|bound| self.exploration.executions >= bound) {
            return Some(StopReason::Budget);
        }
        // Graphs that were left share most of their events: what is their own are lists of them.
        let bytes = self.left.len() * (graph.len() + 1) * 48;
        self.options.limits.exceeded(bytes)
    }

    /// Visits a graph, and shows what it becomes.
    fn visit(&mut self, graph: Graph) -> ControlFlow<()> {
        let body = Rc::clone(self.body);
        let run = Run::new(Box::new(move || body()), &mut self.stacks);
        let mut visit = Visit {
            names: &mut self.names,
            stacks: &mut self.stacks,
            left: &mut self.left,
            graph,
            run,
            steps: self.options.steps,
            prescribed: None,
        };
        let mut shown = Shown { observe: self.observe, count: 0 };
        let (result, flow) = match &self.options.strategy {
            Strategy::ReplayWeak(decisions) => (
                script::follow(&mut visit, decisions, self.options.leaks),
                ControlFlow::Continue(()),
            ),
            _ => extend(&mut visit, self.options.leaks, &mut shown),
        };
        let flow = match result {
            _ if flow.is_break() => flow,
            Ok(()) => shown.show(&visit, None),
            Err(Stop::Redundant) => {
                self.exploration.redundant += 1;
                flow
            }
            Err(Stop::Problem(problem)) => {
                let is_fatal = matches!(problem, Problem::Nondeterministic { .. });
                let flow = shown.show(&visit, Some(problem));
                // Nothing that was learnt from this code can be relied on.
                if is_fatal { ControlFlow::Break(()) } else { flow }
            }
        };
        self.exploration.executions += shown.count;
        self.exploration.steps += visit.graph.len() as u64;
        let run = visit.run;
        run.end(&mut self.stacks);
        flow
    }
}

/// Who looks at executions.
struct Shown<'a> {
    observe: &'a mut dyn FnMut(&Execution) -> ControlFlow<()>,
    count: u64,
}

impl Shown<'_> {
    fn show(&mut self, visit: &Visit<'_>, problem: Option<Problem>) -> ControlFlow<()> {
        self.count += 1;
        (self.observe)(&show::show(visit, problem))
    }
}

/// Adds events until no thread can go on. Panics are shown where they happen.
fn extend(
    visit: &mut Visit<'_>,
    leaks: bool,
    shown: &mut Shown<'_>,
) -> (Result<(), Stop>, ControlFlow<()>) {
    if let Err(stop) = visit.repeat() {
        return (Err(stop), ControlFlow::Continue(()));
    }
    loop {
        let result = match visit.next() {
            Next::Step(thread) => visit.step(thread),
            Next::Panicked(thread) => {
                let problem = panicked(visit, thread);
                let flow = shown.show(visit, Some(problem));
                if flow.is_break() {
                    return (Ok(()), flow);
                }
                Ok(())
            }
            Next::Nothing => return (finish::finish(visit, leaks), ControlFlow::Continue(())),
        };
        if result.is_err() {
            return (result, ControlFlow::Continue(()));
        }
    }
}

/// A thread has panicked: this is shown once.
fn panicked(visit: &mut Visit<'_>, thread: u32) -> Problem {
    Rc::make_mut(&mut visit.graph.threads[thread as usize]).panicked = true;
    let message = match visit.run.state(thread, visit.stacks) {
        State::Panicked(message) => message.clone(),
        _ => String::new(),
    };
    Problem::Panicked { thread: visit.number(thread), message }
}
