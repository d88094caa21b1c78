//! Runs alone: one thread moves from a reachable state, all others stand still, and the locks of
//! others are set aside (paper 004: the owner of a lock is no part of a shared state).
//!
//! The states of a run are abstract, so one run here stands for one in every state that the first
//! one stands for. All ways on are followed. What may stop a run in some of these states stops it
//! here: a step that fails, a lock that the thread holds already, an `assume`.

use crate::correlate::{Judged, Locks, Machine, Moved, PureAnswers, RunsAt};
use crate::descent::{Step, compared, endless};
use crate::explore::{Origin, Table};
use crate::failure::Failure;
use crate::heap::{Flags, Heap, LOCKS};
use crate::model::{Code, Model};
use crate::state::{State, Thread};
use crate::targets::Targets;
use crate::value::{Holder, NodeId, Scalar};
use linchpin_ir::branch::Branch;
use linchpin_ir::program::{Action, BinaryOp, Edge, Expr, UnaryOp};
use linchpin_verdict::{Limits, StopReason};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// What keeps runs alone from being what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// A step fails, or the answer is not that of the reference.
    #[error("{}", .0.cause)]
    Fails(Failure),
    /// It may wait: for a condition, or for a lock that it holds.
    #[error("alone it may wait")]
    Waits,
    /// It may go round for ever.
    #[error("alone it may go round for ever")]
    Endless,
    /// It writes, or the reference changes.
    #[error("alone it may change the object")]
    Changes,
    /// It returns although it should have gone on.
    #[error("alone it may return and have changed nothing")]
    Returns,
    /// A limit was reached.
    #[error("{0}")]
    Limit(StopReason),
}

/// Where runs alone go wrong.
#[derive(Clone, Debug)]
pub struct Stopped {
    /// What it is.
    pub stop: Stop,
    /// The source line.
    pub line: u32,
    /// The abstract state from which a move goes wrong.
    pub state: Box<State<Targets>>,
}

/// How runs alone are to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// They return, with the answer of the reference, and nothing has changed.
    Quietly,
    /// They change the shared state, or never return.
    Changing,
}

/// One operation, called alone with these arguments.
pub(crate) struct Frozen<'a> {
    /// Makes the moves; see [`machine`].
    pub machine: &'a Machine,
    /// The operation.
    pub operation: usize,
    /// The arguments.
    pub arguments: SmallVec<[Scalar; 2]>,
    /// How it is to end.
    pub ends: Ends,
    /// When to give up.
    pub limits: &'a Limits,
}

/// A machine for runs alone: the reference answers at the response, for nothing else has moved it,
/// and what threads know of locks does not matter.
pub(crate) fn machine(model: Model) -> Machine {
    let mut machine = Machine::new(model, PureAnswers::Seen, RunsAt::Response);
    machine.locks = Locks::Mine;
    machine
}

/// A state with all locks free.
pub(crate) fn unlocked(mut state: State<Targets>) -> State<Targets> {
    for word in &mut state.shared {
        if let Scalar::Lock(holder) = word {
            *holder = Holder::Free;
        }
    }
    let locks = [Holder::Free; LOCKS];
    state.heap.relabel(&|flags: Flags| Flags { locks, ..flags });
    state.canonical();
    state
}

/// The states of runs alone, and how they lead to each other.
#[derive(Default)]
struct Graph {
    table: Table<Targets>,
    steps: FxHashSet<Step>,
    work: Vec<usize>,
}

impl Frozen<'_> {
    /// Runs from each of these states, whose only thread is idle.
    pub fn run(&self, starts: Vec<State<Targets>>) -> Result<(), Stopped> {
        let code = &self.machine.model.operations[self.operation];
        let line = self.machine.model.program.operations[self.operation].line;
        let stopped = |stop: Stop, line: u32, state: &State<Targets>| {
            Err(Stopped { stop, line, state: Box::new(state.clone()) })
        };
        let mut graph = Graph::default();
        for start in starts {
            if waits(code) {
                return stopped(Stop::Waits, line, &start);
            }
            let mut moves = Vec::new();
            let (from, arguments) = (remembering(&start), self.arguments.clone());
            let called = self.machine.call_with(
                &from,
                0,
                self.operation,
                arguments,
                Judged::Yes,
                &mut moves,
            );
            if let Err(failure) = called {
                return stopped(Stop::Fails(failure), failure.line, &start);
            }
            if moves.is_empty() {
                return stopped(Stop::Waits, line, &start);
            }
            for moved in moves {
                if let Err(stop) = self.take(moved, &start, None, &mut graph) {
                    return stopped(stop, line, &start);
                }
            }
        }
        while let Some(at) = graph.work.pop() {
            let state = graph.table.states[at].state.clone();
            let line = line_of(code, &state);
            if let Some(reason) = self.limits.exceeded(graph.table.bytes) {
                return stopped(Stop::Limit(reason), line, &state);
            }
            let moves = match self.machine.moves(&remembering(&state), 0, Judged::Yes) {
                Ok(moves) if moves.is_empty() => return stopped(Stop::Waits, line, &state),
                Ok(moves) => moves,
                Err(failure) => return stopped(Stop::Fails(failure), failure.line, &state),
            };
            for moved in moves {
                if let Err(stop) = self.take(moved, &state, Some(at), &mut graph) {
                    return stopped(stop, line, &state);
                }
            }
        }
        // A run that never returns changes nothing: where it may change, that will do.
        if self.ends == Ends::Changing {
            return Ok(());
        }
        let steps: Vec<Step> = graph.steps.into_iter().collect();
        match endless(graph.table.states.len(), &steps) {
            None => Ok(()),
            Some(at) => {
                let state = &graph.table.states[at].state;
                stopped(Stop::Endless, line_of(code, state), state)
            }
        }
    }

    /// Adds what a move leads to.
    fn take(
        &self,
        moved: Moved<Targets>,
        before: &State<Targets>,
        from: Option<usize>,
        graph: &mut Graph,
    ) -> Result<(), Stop> {
        let Moved { mut state, visible } = moved;
        match (visible, state.threads[0].at.is_none(), self.ends) {
            (true, _, Ends::Changing) if surely_changed(before, &state) => return Ok(()),
            (true, _, Ends::Changing) => return Err(Stop::Returns),
            (true, _, Ends::Quietly) => return Err(Stop::Changes),
            (false, true, Ends::Quietly) => return Ok(()),
            (false, true, Ends::Changing) => return Err(Stop::Returns),
            (false, false, _) => {}
        }
        let went = from.map(|_| compared(&state, self.machine.model.root));
        state.threads.pop();
        state.canonical();
        let known = graph.table.find(&state);
        let to = known.unwrap_or(graph.table.states.len());
        graph.work.extend(graph.table.add(state, Origin::Initial));
        if let (Some(from), Some(went)) = (from, went) {
            graph.steps.insert(Step { from, to, went });
        }
        Ok(())
    }
}

/// The state with one more thread, which remembers what the first one names now, and where the
/// arbitrary key belongs now.
fn remembering(state: &State<Targets>) -> State<Targets> {
    let mut state = state.clone();
    let mut locals = state.threads[0].locals.clone();
    locals.extend(state.edge.into_iter().flat_map(|(one, two)| [one, two]).map(Scalar::Node));
    let role = state.threads[0].role;
    state.threads.push(Thread { locals, ..Thread::idle(role) });
    state
}

/// Whether the list differs, for sure, from what it was before a move: another pair of nodes is
/// where the arbitrary key belongs, or one of the two has another truth value.
fn surely_changed(before: &State<Targets>, after: &State<Targets>) -> bool {
    let remembered = after.threads.last().map_or(&[][..], |thread| &thread.locals[..]);
    let (Some(old), Some(now), [.., Scalar::Node(one), Scalar::Node(two)]) =
        (before.edge, after.edge, remembered)
    else {
        return false;
    };
    let truths = |state: &State<Targets>, node: NodeId| state.heap.flags(node).bools;
    now != (*one, *two)
        || truths(after, *one) != truths(before, old.0)
        || truths(after, *two) != truths(before, old.1)
}

/// The source line at which the first thread of a state is.
pub(crate) fn line_of(code: &Code, state: &State<Targets>) -> u32 {
    let node = state.threads[0].at.map_or(0, |(_, node)| usize::from(node));
    code.body.nodes.get(node).map_or(0, |node| node.line)
}

/// Whether a step of the code may wait where the abstraction does not see it: the guards of some
/// node do not say what happens in every case, or a lock is not the first that a step does.
pub(crate) fn waits(code: &Code) -> bool {
    code.body.nodes.iter().zip(&code.trees).any(|(node, branches)| {
        let chooses = |edge: &Edge| {
            let locks = |(at, (action, _)): (usize, &(Action, u32))| {
                at > 0 && matches!(action, Action::Lock(_))
            };
            edge.actions.iter().enumerate().any(locks)
                || edge.actions.iter().any(|(action, _)| matches!(action, Action::Choose { .. }))
        };
        node.edges.iter().any(chooses) || !exhaustive(branches, &node.edges)
    })
}

/// Whether one of the branches can be taken, whatever the values are.
fn exhaustive(branches: &[Branch], edges: &[Edge]) -> bool {
    let first = |branch: &Branch| match edges[branch.edge].actions.get(branch.actions.start) {
        Some((Action::Guard(condition), _)) if !branch.actions.is_empty() => Some(condition),
        _ => None,
    };
    let covers = match branches {
        [] => false,
        [one] => first(one).is_none(),
        [one, two] => match (first(one), first(two)) {
            (Some(one), Some(two)) => opposite(one, two),
            _ => false,
        },
        _ => false,
    };
    let inside = |branch: &Branch| {
        let start = branch.actions.start + usize::from(first(branch).is_some());
        let mut rest =
            edges[branch.edge].actions[start.min(branch.actions.end)..branch.actions.end].iter();
        !rest.any(|(action, _)| matches!(action, Action::Guard(_)))
            && (branch.then.is_empty() || exhaustive(&branch.then, edges))
    };
    covers && branches.iter().all(inside)
}

/// Whether one condition holds exactly where the other does not.
fn opposite(one: &Expr, two: &Expr) -> bool {
    let not = |outer: &Expr, inner: &Expr| match outer {
        Expr::Unary(UnaryOp::Not, of) => **of == *inner,
        _ => false,
    };
    let flipped = |op: BinaryOp| match op {
        BinaryOp::Equal => Some(BinaryOp::NotEqual),
        BinaryOp::NotEqual => Some(BinaryOp::Equal),
        BinaryOp::Less => Some(BinaryOp::GreaterEqual),
        BinaryOp::GreaterEqual => Some(BinaryOp::Less),
        BinaryOp::Greater => Some(BinaryOp::LessEqual),
        BinaryOp::LessEqual => Some(BinaryOp::Greater),
        _ => None,
    };
    match (one, two) {
        _ if not(one, two) || not(two, one) => true,
        (Expr::Binary(first, a, b), Expr::Binary(second, c, d)) => {
            flipped(*first) == Some(*second) && a == c && b == d
        }
        _ => false,
    }
}
