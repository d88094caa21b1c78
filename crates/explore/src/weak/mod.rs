//! Every execution under weak memory, by execution graphs.
//!
//! The model is RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer, PLDI 2017): coherence, atomicity, `psc`
//! for `SeqCst`, and no cycles of program order and reads-from, so load buffering is not covered. A
//! release sequence is, as since C++20, a release write and the updates that follow it; later
//! plain stores of the same thread do not belong to it.
//!
//! The method is `TruSt` (Kokologiannakis, Marmanis, Gladstein, Vafeiadis, POPL 2022): each
//! consistent graph is visited once. Start with [`explore`]; [`visit`] adds events to a graph, with
//! [`access`] for what is shared and [`solo`] for the rest; [`coherence`] and [`psc`] are the
//! axioms; [`revisit`] lets a write serve a read that came before. [`run`] is the real code, which
//! is run again ([`repeat`]) for each graph that is left: graphs say who reads from whom, and runs
//! what the values are.

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

pub(crate) use names::Names;

use crate::crew::{Crew, Explorer, Observer, Position, Ran, Ready, Show};
use crate::execution::Problem;
use crate::options::{Exploration, Options, Strategy};
use crate::threads::Stacks;
use graph::Graph;
use run::{Run, State};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use visit::{Next, Stop, Visit};

/// Shows every execution of the body, or the one that [`Strategy::ReplayWeak`] prescribes, until
/// the observer breaks off.
///
/// An execution with an error ends there. What a panic of one thread hides from others is explored
/// nevertheless, if the observer goes on.
pub(crate) fn explore(
    options: &Options,
    body: &Rc<dyn Fn()>,
    observe: Observer<'_>,
) -> Exploration {
    let crew = Crew::new(Part::whole(), Duration::ZERO);
    crew.work(options, Engine::new(options, body, Names::new()), observe);
    crew.explored()
}

/// Executions that begin alike: a graph to be visited, and where it is among all.
pub(crate) struct Part {
    graph: Graph,
    position: Position,
}

impl Part {
    /// All executions.
    pub(crate) fn whole() -> Part {
        Part { graph: Graph::new(), position: Position::default() }
    }
}

/// Visits graphs, one after the other. What comes of a graph depends on the graph alone, so others
/// may visit those that are left.
pub(crate) struct Engine<'a> {
    options: &'a Options,
    body: &'a Rc<dyn Fn()>,
    names: Names,
    stacks: Stacks,
    /// The graph to be visited.
    graph: Graph,
    way: Way,
    steps: u64,
}

/// The way to the graph that is visited, and what else is to be visited along it.
#[derive(Default)]
struct Way {
    /// Where the part begins.
    base: Position,
    levels: Vec<Level>,
}

impl Way {
    /// The place at so many levels, and then this.
    fn position(&self, levels: usize, last: Option<usize>) -> Position {
        let after = self.levels[..levels].iter().map(|level| level.after).chain(last);
        self.base.places().chain(after.map(|after| usize::MAX - after)).collect()
    }
}

/// Graphs that were left by one visit; the last one comes first.
struct Level {
    graphs: Vec<Graph>,
    /// How many come after the one that is visited, or whose graphs are.
    after: usize,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(options: &'a Options, body: &'a Rc<dyn Fn()>, names: Names) -> Engine<'a> {
        let (stacks, graph, way) = (Stacks::new(options), Graph::new(), Way::default());
        Engine { options, body, names, stacks, graph, way, steps: 0 }
    }

    /// Visits the graph and shows what it becomes; answers whether others show the same.
    fn visit(&mut self, left: &mut Vec<Graph>, shown: &mut Shown<'_>) -> ControlFlow<(), bool> {
        let body = Rc::clone(self.body);
        let run = Run::new(Box::new(move || body()), &mut self.stacks);
        let mut visit = Visit {
            names: &mut self.names,
            stacks: &mut self.stacks,
            left,
            graph: std::mem::take(&mut self.graph),
            run,
            steps: self.options.steps,
            prescribed: None,
        };
        let (result, flow) = match &self.options.strategy {
            Strategy::ReplayWeak(decisions) => (
                script::follow(&mut visit, decisions, self.options.leaks),
                ControlFlow::Continue(()),
            ),
            _ => extend(&mut visit, self.options.leaks, shown),
        };
        let flow = match result {
            _ if flow.is_break() => ControlFlow::Break(()),
            Ok(()) => shown.show(&visit, None).map_continue(|()| false),
            Err(Stop::Redundant) => ControlFlow::Continue(true),
            Err(Stop::Problem(problem)) => {
                shown.show(&visit, Some(problem)).map_continue(|()| false)
            }
        };
        self.steps += visit.graph.len() as u64;
        let run = visit.run;
        run.end(&mut self.stacks);
        flow
    }
}

impl Explorer for Engine<'_> {
    type Part = Part;

    fn take(&mut self, part: Part) {
        self.graph = part.graph;
        self.way = Way { base: part.position, levels: Vec::new() };
        self.names.refresh();
    }

    fn position(&self) -> Position {
        self.way.position(self.way.levels.len(), None)
    }

    fn run(&mut self, show: Show<'_>) -> Ran {
        let way = std::mem::take(&mut self.way);
        let position = || way.position(way.levels.len(), None);
        let mut left = Vec::new();
        let flow = self.visit(&mut left, &mut Shown { show, position: &position });
        self.way = way;
        let after = left.len();
        self.way.levels.push(Level { graphs: left, after });
        match flow {
            ControlFlow::Break(()) => Ran::Left,
            ControlFlow::Continue(true) => Ran::Redundant,
            ControlFlow::Continue(false) => Ran::Shown,
        }
    }

    fn next(&mut self) -> bool {
        while let Some(level) = self.way.levels.last_mut() {
            if let Some(graph) = level.graphs.pop() {
                level.after = level.graphs.len();
                self.graph = graph;
                return true;
            }
            self.way.levels.pop();
        }
        false
    }

    fn split(&mut self) -> Ready<Part> {
        let Some(at) = self.way.levels.iter().position(|level| !level.graphs.is_empty()) else {
            return Vec::new();
        };
        let graphs = std::mem::take(&mut self.way.levels[at].graphs);
        let part = |(after, graph)| {
            let position = self.way.position(at, Some(after));
            (position.clone(), Part { graph, position })
        };
        graphs.into_iter().enumerate().map(part).collect()
    }

    fn bytes(&self) -> usize {
        // Graphs that were left share most of their events: what is their own are lists of them.
        let left: usize = self.way.levels.iter().map(|level| level.graphs.len()).sum();
        left * (self.graph.len() + 1) * 48
    }

    fn steps(&self) -> u64 {
        self.steps
    }
}

/// Who looks at executions.
struct Shown<'a> {
    show: Show<'a>,
    /// Where they are.
    position: &'a dyn Fn() -> Position,
}

impl Shown<'_> {
    fn show(&mut self, visit: &Visit<'_>, problem: Option<Problem>) -> ControlFlow<()> {
        // Nothing that was learnt from such code can be relied on.
        let ends = matches!(problem, Some(Problem::Nondeterministic { .. }));
        (self.show)(&show::show(visit, problem), ends, self.position)
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
    Arc::make_mut(&mut visit.graph.threads[thread as usize]).panicked = true;
    let message = match visit.run.state(thread, visit.stacks) {
        State::Panicked(message) => message.clone(),
        _ => String::new(),
    };
    Problem::Panicked { thread: visit.number(thread), message }
}
