//! What is known of the locals of an operation at each of its nodes, from its code alone.
//!
//! A local is *fresh* where it holds an object that its operation has made and given to nothing
//! else: not copied, not stored, not swapped in by a `cas` that succeeded. No other thread can have
//! a reference to that object, so what is written to it through the local is seen by no other
//! thread.
//!
//! One forward analysis: what holds at a node is what holds along all edges to it. Only for
//! collected memory, where what `new` makes is known to no thread, and without crashes.

use linchpin_ir::program::{
    Action, BinaryOp, Body, Edge, Expr, LocalId, LocalTarget, Place, Target, UnaryOp,
};
use linchpin_spec::Value;
use std::collections::BTreeSet;

/// Fields of an object: a bit for each of the first ones.
type FieldSet = u64;

/// What is known of a local.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// It holds an object that its operation has made and given to nothing else.
    pub fresh: bool,
    /// It is `null`.
    pub null: bool,
    /// It is not `null`.
    pub some: bool,
    /// Fields of a fresh object that are `null`, as `new` made them.
    blank: FieldSet,
}

impl Known {
    /// Whether it is a fresh object, and this field of it is `null`.
    pub fn is_blank(self, field: usize) -> bool {
        self.fresh && bit(field) & self.blank != 0
    }
}

/// A field as a set; empty if there are too many.
fn bit(field: usize) -> FieldSet {
    u32::try_from(field).ok().and_then(|field| 1_u64.checked_shl(field)).unwrap_or(0)
}

/// What one local holds was read from a field of the object in another, or written there; both are
/// as they were then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Follows {
    /// The local that holds the object.
    pub from: LocalId,
    /// Its struct.
    pub of: usize,
    /// The field.
    pub field: usize,
    /// The local that holds what the field held.
    pub to: LocalId,
}

/// What is known at one place of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    locals: Vec<Known>,
    follows: BTreeSet<Follows>,
}

impl Facts {
    /// What is known of a local.
    pub fn of(&self, local: LocalId) -> Known {
        self.locals[local.0 as usize]
    }

    /// Whether what a local holds was read from a field of the object in another.
    pub fn follows(&self, follows: Follows) -> bool {
        self.follows.contains(&follows)
    }

    /// Whether an expression is `null`.
    pub fn is_null(&self, value: &Expr) -> bool {
        match value {
            Expr::Const(Value::Null) => true,
            Expr::Local(local) => self.of(*local).null,
            _ => false,
        }
    }

    /// Whether a place is in an object that no other thread can know.
    pub fn is_fresh(&self, place: &Place) -> bool {
        object_of(place).is_some_and(|local| self.of(local).fresh)
    }

    fn known(&mut self, local: LocalId) -> &mut Known {
        &mut self.locals[local.0 as usize]
    }

    /// A local gets another value.
    fn set(&mut self, local: LocalId, known: Known) {
        *self.known(local) = known;
        self.follows.retain(|of| of.from != local && of.to != local);
    }

    /// The value of an expression is copied somewhere.
    fn give_away(&mut self, value: &Expr) {
        value.walk(&mut |inner| {
            if let Expr::Local(local) = inner {
                self.known(*local).fresh = false;
            }
        });
    }

    /// Two locals hold the same.
    fn share(&mut self, left: LocalId, right: LocalId) {
        let (a, b) = (self.of(left), self.of(right));
        for local in [left, right] {
            let known = self.known(local);
            known.null = a.null || b.null;
            known.some = a.some || b.some;
        }
        let renamed = |from: LocalId, to: LocalId| {
            let of = |local: LocalId| if local == from { to } else { local };
            let known = self.follows.iter();
            known.map(|f| Follows { from: of(f.from), to: of(f.to), ..*f }).collect::<Vec<_>>()
        };
        let more = [renamed(left, right), renamed(right, left)].concat();
        self.follows.extend(more);
    }

    /// A condition holds, or does not.
    fn assume(&mut self, condition: &Expr, holds: bool) {
        match condition {
            Expr::Unary(UnaryOp::Not, inner) => self.assume(inner, !holds),
            Expr::Binary(BinaryOp::And, left, right) if holds => {
                self.assume(left, true);
                self.assume(right, true);
            }
            Expr::Binary(BinaryOp::Or, left, right) if !holds => {
                self.assume(left, false);
                self.assume(right, false);
            }
            Expr::Binary(BinaryOp::Equal, left, right) => self.compare(left, right, holds),
            Expr::Binary(BinaryOp::NotEqual, left, right) => self.compare(left, right, !holds),
            _ => {}
        }
    }

    fn compare(&mut self, left: &Expr, right: &Expr, same: bool) {
        match (left, right) {
            (Expr::Local(local), Expr::Const(Value::Null))
            | (Expr::Const(Value::Null), Expr::Local(local)) => match same {
                true => self.known(*local).null = true,
                false => self.known(*local).some = true,
            },
            (Expr::Local(left), Expr::Local(right)) if same => self.share(*left, *right),
            _ => {}
        }
    }

    /// What is known after one action of an edge.
    pub fn perform(&mut self, edge: &Edge, number: usize) {
        let action = &edge.actions[number].0;
        // The action went well, so what it looked into is there.
        for local in action.places().into_iter().filter_map(object_of) {
            self.known(local).some = true;
        }
        match action {
            Action::Guard(condition) | Action::Assert(condition) => self.assume(condition, true),
            Action::Assign { local, value } => self.assign(local, value),
            Action::New { into, fields, .. } => {
                fields.iter().for_each(|value| self.give_away(value));
                let nulls = fields.iter().enumerate();
                let nulls = nulls.filter(|(_, value)| **value == Expr::Const(Value::Null));
                let blank = nulls.fold(0, |set, (field, _)| set | bit(field));
                self.set(*into, Known { fresh: true, null: false, some: true, blank });
            }
            Action::Cas { into, cells } => {
                let went = outcome(edge, number, *into);
                for cell in cells.iter().filter(|_| went != Some(false)) {
                    self.give_away(&cell.new);
                    self.written(&cell.place);
                }
                self.set(*into, Known::default());
                if let ([cell], Some(true)) = (&cells[..], went) {
                    self.linked(&cell.place, &cell.new, *into);
                }
            }
            Action::Write { place, value } => {
                self.give_away(value);
                self.written(place);
            }
            Action::Swap { into, place, value }
            | Action::FetchAdd { into, place, value }
            | Action::StoreConditional { into, place, value } => {
                self.give_away(value);
                self.written(place);
                self.set(*into, Known::default());
            }
            Action::Update { into, place, arguments, .. } => {
                arguments.iter().for_each(|value| self.give_away(value));
                self.written(place);
                self.set(*into, Known::default());
            }
            Action::Read { into, place } => {
                self.set(*into, Known::default());
                self.linked(place, &Expr::Local(*into), *into);
            }
            Action::Choose { into, .. } | Action::LoadLinked { into, .. } => {
                self.set(*into, Known::default());
            }
            Action::Free(_)
            | Action::Lock(_)
            | Action::Unlock(_)
            | Action::Flush(_)
            | Action::Fence
            | Action::Persist(_) => {}
        }
    }

    fn assign(&mut self, to: &LocalTarget, value: &Expr) {
        self.give_away(value);
        match (to, value) {
            (LocalTarget::Local(to), Expr::Local(from)) if to != from => {
                let from_known = self.of(*from);
                self.set(*to, Known { fresh: false, blank: 0, ..from_known });
                self.share(*to, *from);
            }
            (LocalTarget::Local(to), value) => {
                let null = self.is_null(value);
                self.set(*to, Known { null, ..Known::default() });
            }
            (LocalTarget::Element(to, _) | LocalTarget::Component(to, _), _) => {
                self.set(*to, Known::default());
            }
            (LocalTarget::ThreadLocal(_), _) => {}
        }
    }

    /// Something may have been written to a place.
    fn written(&mut self, place: &Place) {
        if let (Some(local), Some((_, field))) = (object_of(place), field_of(place)) {
            self.known(local).blank &= !bit(field);
        }
    }

    /// A place holds the value of a local now. `into` is the local that the same action sets.
    fn linked(&mut self, place: &Place, value: &Expr, into: LocalId) {
        let whole = matches!(place, Place::Field { .. });
        if let (true, Some(from), Some((of, field)), Expr::Local(to)) =
            (whole, object_of(place), field_of(place), value)
            && from != *to
            && from != into
        {
            self.follows.insert(Follows { from, of, field, to: *to });
        }
    }
}

/// The local that holds the object of a place.
fn object_of(place: &Place) -> Option<LocalId> {
    match place {
        Place::Field { object: Expr::Local(local), .. }
        | Place::FieldElement { object: Expr::Local(local), .. } => Some(*local),
        _ => None,
    }
}

/// The struct and the field of a place.
fn field_of(place: &Place) -> Option<(usize, usize)> {
    match place {
        Place::Field { of, field, .. } | Place::FieldElement { of, field, .. } => {
            Some((*of, *field))
        }
        Place::Shared(_) | Place::SharedElement(..) => None,
    }
}

/// Whether the `cas` with this number succeeded or failed, if the edge goes on only in one case.
fn outcome(edge: &Edge, number: usize, into: LocalId) -> Option<bool> {
    for (action, _) in &edge.actions[number + 1..] {
        match action {
            Action::Guard(Expr::Local(local)) if *local == into => return Some(true),
            Action::Guard(Expr::Unary(UnaryOp::Not, inner)) if **inner == Expr::Local(into) => {
                return Some(false);
            }
            _ if action.answer() == Some(into) => return None,
            _ => {}
        }
    }
    None
}

/// What is known at each node; `None` where no edge leads.
pub(crate) fn facts(body: &Body) -> Vec<Option<Facts>> {
    let mut at: Vec<Option<Facts>> = vec![None; body.nodes.len()];
    let entry = body.entry.0 as usize;
    let nothing = vec![Known::default(); body.locals.len()];
    at[entry] = Some(Facts { locals: nothing, follows: BTreeSet::new() });
    let mut open = vec![entry];
    while let Some(node) = open.pop() {
        let Some(before) = at[node].clone() else { continue };
        for edge in &body.nodes[node].edges {
            let Target::Node(target) = &edge.target else { continue };
            let target = target.0 as usize;
            let mut after = before.clone();
            (0..edge.actions.len()).for_each(|number| after.perform(edge, number));
            let joined = match &at[target] {
                None => after,
                Some(known) => both(known, &after),
            };
            // INVARIANT: what is known at a node only shrinks, so this ends.
            if at[target].as_ref() != Some(&joined) {
                at[target] = Some(joined);
                open.push(target);
            }
        }
    }
    at
}

/// What is known on both ways.
fn both(left: &Facts, right: &Facts) -> Facts {
    let locals = left.locals.iter().zip(&right.locals).map(|(left, right)| Known {
        fresh: left.fresh && right.fresh,
        null: left.null && right.null,
        some: left.some && right.some,
        blank: left.blank & right.blank,
    });
    let follows = left.follows.intersection(&right.follows).copied().collect();
    Facts { locals: locals.collect(), follows }
}

/// Tells of every action of a body what is known before it.
pub(crate) fn actions<'a>(body: &'a Body, visit: &mut dyn FnMut(&Facts, &'a Action)) {
    for (node, before) in body.nodes.iter().zip(facts(body)) {
        let Some(before) = before else { continue };
        for edge in &node.edges {
            let mut known = before.clone();
            for (number, (action, _)) in edge.actions.iter().enumerate() {
                visit(&known, action);
                known.perform(edge, number);
            }
        }
    }
}
