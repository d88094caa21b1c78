//! The analysis from outside: options, what was found, and the way to what went wrong.

use crate::correlate::{Locks, Machine, PureAnswers, RunsAt};
use crate::explore::{Explored, Origin, Reached, Stopped, explore};
use crate::failure::{Cause, Failure};
use crate::heap::Heap;
use crate::prepare::{NotApplicable, ReferenceChoice, initial, prepare};
use crate::state::State;
use crate::targets::Targets;
use crate::three_valued::{Disjunctive, Joined};
use crate::views::views;
use linchpin_ir::program::Program;
use linchpin_verdict::{Limits, StopReason};

/// How many threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// Any number of each kind that the program has.
    #[default]
    Any,
    /// Those of the program.
    Those,
}

/// The abstraction of the heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Domain {
    /// The fast one: a link is the set of nodes to which it may go.
    #[default]
    Targets,
    /// The paper's: three-valued structures, those with the same individuals joined. For a number
    /// of threads.
    Kleene,
    /// The same, but no structures are joined, as in the paper.
    KleeneDisjunctive,
}

/// How a program is analysed.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How many threads.
    pub threads: Threads,
    /// The abstraction of the heap.
    pub domain: Domain,
    /// What the program is compared with.
    pub reference: ReferenceChoice,
    /// How answers that change nothing are explained.
    pub pure: PureAnswers,
    /// How many cores to use; 0 for one.
    pub workers: usize,
    /// When to give up.
    pub limits: Limits,
}

impl Options {
    /// As the paper does it: the threads of the program, three-valued structures, and the reference
    /// asked at claimed `when returns` points.
    #[must_use]
    pub fn as_in_the_paper() -> Options {
        Options {
            threads: Threads::Those,
            domain: Domain::Kleene,
            pure: PureAnswers::Claimed,
            ..Options::default()
        }
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub enum Found {
    /// No state is wrong.
    Proved,
    /// A state was reached from which a move cannot be explained.
    Failed(Box<Trace>),
    /// A limit was reached.
    Stopped(StopReason),
}

/// The way to what went wrong, as the abstraction sees it. It need not be one of the program's.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The moves, each from a state.
    pub moves: Vec<TraceMove>,
    /// What went wrong in the last one.
    pub failure: Failure,
}

/// A move of a trace.
#[derive(Clone, Debug)]
pub struct TraceMove {
    /// The state before it.
    pub state: State<Targets>,
    /// Which thread of that state moves; `None` if it is one that the state does not show.
    pub thread: Option<u8>,
    /// The operation that it executes and where it is; `None` if it makes a call.
    pub at: Option<(u8, u16)>,
}

/// What an analysis gives.
#[derive(Debug)]
pub struct Analysis {
    /// What was found.
    pub found: Found,
    /// The states or views: closed under all moves if the program is proved.
    pub explored: Explored<Targets>,
    /// Steps that no state allows: an operation and a source line each.
    pub unreached: Vec<(usize, u32)>,
    /// The program as it was analysed.
    pub machine: Machine,
}

/// Compares a program with its reference.
///
/// The abstraction starts coarse and is refined where a proof fails: first the answers that change
/// nothing are noted for no operation, and views know only of locks that their own thread holds.
pub fn analyse(
    program: &Program,
    options: &Options,
    progress: &dyn Fn(usize),
) -> Result<Analysis, NotApplicable> {
    let model = prepare(program, options.reference)?;
    let mut machine = Machine::new(model, options.pure, RunsAt::Points);
    machine.seen_for = 0;
    if options.threads == Threads::Any {
        machine.locks = Locks::Mine;
    }
    loop {
        machine.forget_taken();
        let explored = match (options.threads, options.domain) {
            (Threads::Any, Domain::Kleene | Domain::KleeneDisjunctive) => {
                return Err(NotApplicable::ViewsOfKleene);
            }
            (Threads::Any, Domain::Targets) => {
                let mut all = Vec::new();
                for role in 0..machine.model.roles.len() {
                    all.extend(initial(&machine, &[u8::try_from(role).unwrap_or(u8::MAX)])?);
                }
                views(&machine, all, options.workers, &options.limits, progress)
            }
            (Threads::Those, Domain::Targets) => those(&machine, options, progress)?,
            (Threads::Those, Domain::Kleene) => {
                as_targets(those::<Joined>(&machine, options, progress)?, Joined::as_targets)
            }
            (Threads::Those, Domain::KleeneDisjunctive) => {
                let explored = those::<Disjunctive>(&machine, options, progress)?;
                as_targets(explored, Disjunctive::as_targets)
            }
        };
        match &explored.stopped {
            Some(Stopped::Failed { failure, .. }) if refine(&mut machine, failure) => {}
            _ => return Ok(concluded(machine, explored)),
        }
    }
}

/// Explores the threads of the program.
fn those<H: Heap>(
    machine: &Machine,
    options: &Options,
    progress: &dyn Fn(usize),
) -> Result<Explored<H>, NotApplicable> {
    let all = initial(machine, &machine.model.threads)?;
    Ok(explore(machine, all, &options.limits, progress))
}

/// The states of the paper's domain as the fast domain writes them: to name and draw them.
fn as_targets<H>(explored: Explored<H>, written: impl Fn(&H) -> Targets) -> Explored<Targets> {
    let states = explored.states.into_iter().map(|reached| {
        let State { shared, reference, edge, threads, heap } = reached.state;
        let state = State { shared, reference, edge, threads, heap: written(&heap) };
        Reached { state, origin: reached.origin }
    });
    Explored {
        states: states.collect(),
        interferers: Vec::new(),
        stopped: explored.stopped,
        moves: explored.moves,
        joins: explored.joins,
        bytes: explored.bytes,
    }
}

/// Makes the abstraction finer after a failed proof. `false`: it is as fine as it gets.
fn refine(machine: &mut Machine, failure: &Failure) -> bool {
    let unseen = failure.operation < 64 && !machine.notes_seen(failure.operation);
    if failure.cause == Cause::NoPoint && unseen {
        machine.seen_for |= 1 << failure.operation;
        return true;
    }
    let coarse = machine.locks == Locks::Mine;
    machine.locks = Locks::Edge;
    coarse && machine.model.has_locks()
}

/// Whether any number of sequential calls on any heap answer as the specification does: one thread,
/// with the reference run at each response.
pub fn sequential(
    program: &Program,
    limits: &Limits,
    progress: &dyn Fn(usize),
) -> Result<Analysis, NotApplicable> {
    let mut all = program.clone();
    for thread in &mut all.threads {
        thread.operations = (0..program.operations.len()).collect();
    }
    all.threads.truncate(1);
    let model = prepare(&all, ReferenceChoice::Specification)?;
    let machine = Machine::new(model, PureAnswers::Seen, RunsAt::Response);
    let states = initial(&machine, &machine.model.threads.clone())?;
    let explored = explore(&machine, states, limits, progress);
    Ok(concluded(machine, explored))
}

fn concluded(machine: Machine, explored: Explored<Targets>) -> Analysis {
    let found = match &explored.stopped {
        None => match machine.never_returned() {
            None => Found::Proved,
            Some(operation) => {
                let line = machine.model.program.operations[operation].line;
                let failure = Failure { cause: Cause::NeverReturns, operation, line };
                Found::Failed(Box::new(Trace { moves: way(&explored, 0, 0), failure }))
            }
        },
        Some(Stopped::Limit(reason)) => Found::Stopped(*reason),
        Some(Stopped::Failed { at, thread, failure }) => Found::Failed(Box::new(Trace {
            moves: way(&explored, *at, *thread),
            failure: *failure,
        })),
    };
    let unreached = machine.unreached();
    Analysis { found, explored, unreached, machine }
}

/// The moves that lead to a state, and the one from there.
fn way(explored: &Explored<Targets>, at: usize, thread: u8) -> Vec<TraceMove> {
    let reached = |at: usize| -> &Reached<Targets> { &explored.states[at] };
    let moved = |at: usize, thread: u8| {
        let state = reached(at).state.clone();
        let location = state.threads.get(usize::from(thread)).and_then(|thread| thread.at);
        TraceMove { state, thread: Some(thread), at: location }
    };
    let mut moves = vec![moved(at, thread)];
    let mut at = at;
    loop {
        match reached(at).origin {
            Origin::Initial => break,
            Origin::Own(from, thread) => {
                moves.push(moved(from, thread));
                at = from;
            }
            Origin::Beside(from, other) => {
                let location = explored.interferers[other].state.threads[0].at;
                let state = reached(from).state.clone();
                moves.push(TraceMove { state, thread: None, at: location });
                at = from;
            }
        }
    }
    moves.reverse();
    moves
}
