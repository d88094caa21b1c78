//! Whether more calls than were tried, or other arguments, could end the wait of an operation.
//!
//! A backward slice, insensitive to the order of steps: what the operation tests where it waits,
//! what is written there, what that is computed from, and what decides whether it is written. If a
//! number that calls can push on without end is in the slice (an argument without a range, or a sum
//! such as a counter), then a latch that counts down from 1000 looks just like an operation that is
//! stuck, and the tried calls decide nothing. Locks, truth values, references and numbers that only
//! ever get constants have the values that were met.
//!
//! Only edges out of nodes that a thread came to are in the slice. To come further, a thread must
//! pass a guard of one of these, and all of these guards are in the slice.

use linchpin_ir::interpreter::Memory;
use linchpin_ir::program::{
    Action, BinaryOp, Edge, Expr, LocalId, LocalTarget, NodeId, Place, Program, Target, Type,
    UnaryOp,
};
use linchpin_space::Event;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// An edge that a thread went along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Taken {
    thread: usize,
    operation: usize,
    node: u32,
    edge: u32,
}

impl Taken {
    pub fn of(event: &Event) -> Option<Taken> {
        let Event::Edge { thread, operation, node, edge } = *event else { return None };
        Some(Taken { thread, operation, node, edge })
    }
}

/// What was seen of the runs from a state.
#[derive(Default)]
pub(crate) struct Seen {
    /// Where each thread is in the state, if it is inside an operation. Further threads are idle.
    pub positions: Vec<Option<(usize, NodeId)>>,
    /// Every edge that a thread went along.
    pub edges: FxHashSet<Taken>,
}

/// Whose edges: the waiting call's, or those of all other calls of an operation together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Call {
    Waiting,
    Other(usize),
}

/// A variable. Elements of an array are one, and so is a field in all objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Slot {
    Shared(usize),
    Field(usize, usize),
    /// A field of an object that the waiting call keeps hold of: new objects do not change it.
    Held(usize, usize),
    ThreadLocal(usize),
    Local(Call, LocalId),
}

/// An edge out of a node that was come to.
struct Reached<'a> {
    call: Call,
    edge: &'a Edge,
    /// Whether a thread went along it: if not, it was refused by a guard or a lock.
    taken: bool,
}

/// Whether further calls could change what the pending operation of a thread tests.
pub(crate) fn may_be_helped(program: &Program, memory: Memory, seen: &Seen, thread: usize) -> bool {
    let mut edges = Vec::new();
    if let Some((operation, node)) = seen.positions[thread] {
        let own = |taken: &Taken| taken.thread == thread;
        reached(program, seen, Call::Waiting, operation, vec![node], &own, &mut edges);
    }
    for operation in 0..program.operations.len() {
        let callable = program.threads.iter().any(|of| of.operations.contains(&operation));
        let entry = callable.then_some(program.operations[operation].body.entry);
        let others = seen.positions.iter().enumerate().filter(|(other, _)| *other != thread);
        let inside = others.filter_map(|(_, at)| at.filter(|at| at.0 == operation));
        let starts = inside.map(|(_, node)| node).chain(entry).collect();
        let others = |taken: &Taken| taken.thread != thread;
        reached(program, seen, Call::Other(operation), operation, starts, &others, &mut edges);
    }
    let own = edges.iter().filter(|edge| edge.call == Call::Waiting);
    let actions = own.flat_map(|reached| &reached.edge.actions);
    let assigned = actions.filter_map(|(action, _)| action.answer()).collect();
    let slice = Slice { program, memory, edges, assigned, slots: BTreeSet::new() }.closed();
    slice.slots.iter().any(|slot| slice.is_endless(*slot))
}

/// Adds the edges out of all nodes of an operation that some calls came to.
fn reached<'a>(
    program: &'a Program,
    seen: &Seen,
    call: Call,
    operation: usize,
    mut nodes: Vec<NodeId>,
    by: &dyn Fn(&Taken) -> bool,
    edges: &mut Vec<Reached<'a>>,
) {
    let of = |taken: &&Taken| taken.operation == operation && by(taken);
    let along: FxHashSet<(u32, u32)> =
        seen.edges.iter().filter(of).map(|taken| (taken.node, taken.edge)).collect();
    let body = &program.operations[operation].body;
    nodes.extend(along.iter().map(|(node, _)| NodeId(*node)));
    let mut known = BTreeSet::new();
    while let Some(at) = nodes.pop() {
        let Some(node) = body.nodes.get(at.0 as usize).filter(|_| known.insert(at)) else {
            continue;
        };
        for (number, edge) in (0u32..).zip(&node.edges) {
            let taken = along.contains(&(at.0, number));
            edges.push(Reached { call, edge, taken });
            // A step that is refused halfway leaves no trace: inside steps, all edges count.
            if let Target::Node(next) = edge.target
                && (taken || body.nodes.get(next.0 as usize).is_some_and(|next| !next.yields))
            {
                nodes.push(next);
            }
        }
    }
}

struct Slice<'a> {
    program: &'a Program,
    memory: Memory,
    edges: Vec<Reached<'a>>,
    /// The locals that the waiting call assigns while it waits.
    assigned: BTreeSet<LocalId>,
    slots: BTreeSet<Slot>,
}

impl Slice<'_> {
    /// The slice, closed under what its variables depend on.
    fn closed(mut self) -> Self {
        loop {
            let mut more = self.slots.clone();
            for Reached { call, edge, taken } in &self.edges {
                let decides = *call == Call::Waiting || self.writes(*call);
                for (action, _) in &edge.actions {
                    self.depends(*call, action, *taken, decides, &mut more);
                }
            }
            for (operation, of) in self.program.operations.iter().enumerate() {
                let call = Call::Other(operation);
                if let Some(requires) = of.requires.as_ref().filter(|_| self.writes(call)) {
                    variables(call, requires, &mut more);
                }
            }
            if more.len() == self.slots.len() {
                return self;
            }
            self.slots = more;
        }
    }

    /// Whether a call writes something that is in the slice, if it comes there.
    fn writes(&self, call: Call) -> bool {
        let Call::Other(operation) = call else { return true };
        let nodes = &self.program.operations[operation].body.nodes;
        let mut edges = nodes.iter().flat_map(|node| &node.edges);
        edges.any(|edge| edge.actions.iter().any(|(action, _)| self.is_write(action)))
    }

    fn is_write(&self, action: &Action) -> bool {
        let has = |place: &Place| {
            let slot = slot(place);
            let held = match slot {
                Slot::Field(of, field) => self.slots.contains(&Slot::Held(of, field)),
                _ => false,
            };
            held || self.slots.contains(&slot)
        };
        match action {
            Action::New { object, fields, .. } => {
                (0..fields.len()).any(|field| self.slots.contains(&Slot::Field(*object, field)))
            }
            Action::Assign { local: LocalTarget::ThreadLocal(at), .. } => {
                self.slots.contains(&Slot::ThreadLocal(*at))
            }
            // What waits for a lock waits for it to be free.
            Action::Read { .. }
            | Action::LoadLinked { .. }
            | Action::Lock(_)
            | Action::Flush(_)
            | Action::Persist(_) => false,
            other => other.places().into_iter().any(has),
        }
    }

    /// The variable that a call reads at a place.
    fn read(&self, call: Call, place: &Place) -> Slot {
        match place {
            // Where memory is reused, the object may become a new one.
            Place::Field { object: Expr::Local(object), of, field }
            | Place::FieldElement { object: Expr::Local(object), of, field, .. }
                if call == Call::Waiting
                    && self.memory == Memory::Collected
                    && !self.assigned.contains(object) =>
            {
                Slot::Held(*of, *field)
            }
            _ => slot(place),
        }
    }

    /// Adds what an action makes the slice depend on. `decides`: whether the guards of its call do.
    fn depends(
        &self,
        call: Call,
        action: &Action,
        taken: bool,
        decides: bool,
        more: &mut BTreeSet<Slot>,
    ) {
        let answers =
            action.answer().is_some_and(|local| self.slots.contains(&Slot::Local(call, local)));
        match action {
            Action::Guard(condition) if decides => variables(call, condition, more),
            Action::Lock(place) if decides => {
                more.insert(self.read(call, place));
                place.expressions().iter().for_each(|expr| variables(call, expr, more));
            }
            // A new object is one whatever is in it: the fields are variables of their own.
            Action::New { object, fields, .. } if taken => {
                for (field, value) in fields.iter().enumerate() {
                    if self.slots.contains(&Slot::Field(*object, field)) {
                        variables(call, value, more);
                    }
                }
            }
            Action::New { .. } => {}
            _ if answers || taken && self.is_write(action) => {
                action.expressions().iter().for_each(|expr| variables(call, expr, more));
                more.extend(action.places().into_iter().map(|place| self.read(call, place)));
            }
            _ => {}
        }
    }

    /// Whether calls can give a variable ever further values.
    fn is_endless(&self, slot: Slot) -> bool {
        let (slot, held) = match slot {
            Slot::Held(of, field) => (Slot::Field(of, field), true),
            other => (other, false),
        };
        match slot {
            // What the waiting call computes by itself needs no calls.
            Slot::Local(Call::Waiting, _) => return false,
            Slot::Local(Call::Other(operation), local) => {
                let parameters = &self.program.operations[operation].parameters;
                let parameter = parameters.get(local.0 as usize);
                if parameter.is_some_and(|of| of.range.is_none() && has_int(&of.ty)) {
                    return true;
                }
            }
            Slot::Shared(_) | Slot::Field(..) | Slot::Held(..) | Slot::ThreadLocal(_) => {}
        }
        self.edges.iter().any(|Reached { call, edge, taken }| {
            let local = |local: LocalId| Slot::Local(*call, local);
            edge.actions.iter().any(|(action, _)| match action {
                Action::Assign { local: LocalTarget::ThreadLocal(at), value } => {
                    slot == Slot::ThreadLocal(*at) && has_sum(value)
                }
                Action::Assign { value, .. } => {
                    action.answer().map(local) == Some(slot) && has_sum(value)
                }
                Action::Write { place, value }
                | Action::Swap { place, value, .. }
                | Action::StoreConditional { place, value, .. } => {
                    *taken && self::slot(place) == slot && has_sum(value)
                }
                Action::FetchAdd { place, .. } => *taken && self::slot(place) == slot,
                Action::Cas { cells, .. } => {
                    let adds = |cell: &linchpin_ir::program::Cell| {
                        self::slot(&cell.place) == slot && has_sum(&cell.new)
                    };
                    *taken && cells.iter().any(adds)
                }
                Action::New { object, fields, .. } => {
                    let mut numbered = fields.iter().enumerate();
                    *taken
                        && !held
                        && numbered.any(|(field, value)| {
                            slot == Slot::Field(*object, field) && has_sum(value)
                        })
                }
                _ => false,
            })
        })
    }
}

fn slot(place: &Place) -> Slot {
    match place {
        Place::Shared(at) | Place::SharedElement(at, _) => Slot::Shared(*at),
        Place::Field { of, field, .. } | Place::FieldElement { of, field, .. } => {
            Slot::Field(*of, *field)
        }
    }
}

/// Adds the variables of an expression.
fn variables(call: Call, expr: &Expr, slots: &mut BTreeSet<Slot>) {
    expr.walk(&mut |inner| match inner {
        Expr::Local(local) => {
            slots.insert(Slot::Local(call, *local));
        }
        Expr::ThreadLocal(at) => {
            slots.insert(Slot::ThreadLocal(*at));
        }
        _ => {}
    });
}

/// Whether an expression computes a number from variables, in a way that can lead ever further.
fn has_sum(expr: &Expr) -> bool {
    let (mut sum, mut variable) = (false, false);
    expr.walk(&mut |inner| match inner {
        Expr::Binary(
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::ShiftLeft,
            ..,
        )
        | Expr::Unary(UnaryOp::Negate, _) => sum = true,
        Expr::Local(_) | Expr::ThreadLocal(_) => variable = true,
        _ => {}
    });
    sum && variable
}

/// Whether a value of this type holds a plain number.
fn has_int(ty: &Type) -> bool {
    match ty {
        Type::Int | Type::Wrapping(_) => true,
        Type::Option(inner) | Type::Array(inner, _) | Type::Seq(inner) | Type::Set(inner) => {
            has_int(inner)
        }
        Type::Tuple(items) => items.iter().any(has_int),
        Type::Record { fields, .. } => fields.iter().any(|(_, ty)| has_int(ty)),
        Type::Map(key, value) => has_int(key) || has_int(value),
        Type::Unit | Type::Bool | Type::Tid | Type::Lock | Type::Struct(_) => false,
    }
}
