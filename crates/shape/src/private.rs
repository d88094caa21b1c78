//! Steps that no other thread can notice or disturb: they touch only nodes that the thread owns and
//! cells that never change.
//!
//! Such a step commutes with every step of every other thread and is always possible, so a thread
//! that is about to make one may make it at once (paper 001, Chapter 5, combines "thread-local
//! statements into atomic blocks" by hand).

use crate::heap::Heap;
use crate::model::{Cell, Code, Model};
use crate::state::State;
use crate::value::Scalar;
use linchpin_ir::branch::Branch;
use linchpin_ir::program::{Action, Edge, Expr, LocalId, Place, Target, UnaryOp};
use smallvec::SmallVec;

/// As many nodes without a yield may a private step go through.
const MOST_NODES: usize = 8;

/// The first thread whose next step is private.
pub fn private<H: Heap>(model: &Model, state: &State<H>) -> Option<usize> {
    (0..state.threads.len()).find(|thread| {
        let Some((operation, node)) = state.threads[*thread].at else { return false };
        let code = &model.operations[usize::from(operation)];
        let step = Step { model, state, thread: *thread, code };
        step.from(usize::from(node), SmallVec::new(), 0)
    })
}

/// The locals that a step has assigned so far.
type Assigned = SmallVec<[LocalId; 4]>;

struct Step<'s, H> {
    model: &'s Model,
    state: &'s State<H>,
    thread: usize,
    code: &'s Code,
}

impl<H: Heap> Step<'_, H> {
    fn from(&self, node: usize, assigned: Assigned, nodes: usize) -> bool {
        nodes < MOST_NODES && self.branches(&self.code.trees[node], node, &assigned, nodes)
    }

    /// Whether one of the branches can always be taken, and all of them are private.
    fn branches(&self, all: &[Branch], node: usize, assigned: &Assigned, nodes: usize) -> bool {
        let edges = &self.code.body.nodes[node].edges;
        let guard = |branch: &Branch| match edges[branch.edge].actions.get(branch.actions.start) {
            Some((Action::Guard(condition), _)) => Some(condition.clone()),
            _ => None,
        };
        let guarded = match all {
            [_] => false,
            [one, two] => match (guard(one), guard(two)) {
                (Some(one), Some(two)) => one == not(&two) || two == not(&one),
                _ => return false,
            },
            _ => return false,
        };
        // One branch has no guard; of two, the guards that they start with exclude each other.
        (guarded || all.len() == 1)
            && all.iter().all(|branch| {
                let skipped = usize::from(guarded);
                let edge = &edges[branch.edge];
                let mut assigned = assigned.clone();
                let actions = branch.actions.start + skipped..branch.actions.end;
                actions.into_iter().all(|at| self.action(&edge.actions[at].0, &mut assigned))
                    && match branch.then.is_empty() {
                        true => self.end(edge, assigned, nodes),
                        false => self.branches(&branch.then, node, &assigned, nodes),
                    }
            })
    }

    fn end(&self, edge: &Edge, assigned: Assigned, nodes: usize) -> bool {
        let Target::Node(next) = &edge.target else { return false };
        let next = usize::try_from(next.0).unwrap_or_default();
        edge.points.is_empty()
            && (self.code.body.nodes[next].yields || self.from(next, assigned, nodes + 1))
    }

    fn action(&self, action: &Action, assigned: &mut Assigned) -> bool {
        match action {
            Action::Assign { local, .. } => match local {
                linchpin_ir::program::LocalTarget::Local(local)
                | linchpin_ir::program::LocalTarget::Component(local, _) => {
                    assigned.push(*local);
                    true
                }
                _ => false,
            },
            Action::Read { into, place } => {
                let untouched = self.owned(place, assigned) || self.constant(place);
                assigned.push(*into);
                untouched
            }
            Action::Write { place, .. } => self.owned(place, assigned),
            _ => false,
        }
    }

    /// Whether a place is a field of a node that this thread owns.
    fn owned(&self, place: &Place, assigned: &Assigned) -> bool {
        let Place::Field { object: Expr::Local(local), .. } = place else { return false };
        let mover = &self.state.threads[self.thread];
        let at = usize::try_from(local.0).ok().and_then(|local| self.code.offsets.get(local));
        match at.and_then(|at| mover.locals.get(*at)) {
            Some(Scalar::Node(node)) if !assigned.contains(local) => {
                let owner = self.state.heap.flags(*node).owner;
                owner.is_some_and(|owner| usize::from(owner) == self.thread)
            }
            _ => false,
        }
    }

    /// Whether a place is a field that is written by `new` only.
    fn constant(&self, place: &Place) -> bool {
        let Place::Field { of, field, .. } = place else { return false };
        let cell = self.model.fields[*of][*field];
        matches!(self.model.cells[*of].get(cell), Some(Cell::Value(_) | Cell::Key))
    }
}

fn not(condition: &Expr) -> Expr {
    Expr::Unary(UnaryOp::Not, Box::new(condition.clone()))
}
