//! The expressions, places and variables inside actions.

use crate::program::{Action, Expr, LocalId, LocalTarget, Place, Program};

impl Expr {
    /// Visits this expression and everything inside it, from left to right.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        match self {
            Expr::Const(_) | Expr::Local(_) | Expr::ThreadLocal(_) | Expr::Me => {}
            Expr::Unary(_, inner) | Expr::Component(inner, _) | Expr::Unwrap(inner) => {
                inner.walk(visit)
            }
            Expr::Binary(_, left, right) | Expr::Element(left, right) => {
                left.walk(visit);
                right.walk(visit);
            }
            Expr::List(items) => items.iter().for_each(|item| item.walk(visit)),
            Expr::If(condition, yes, no) => {
                condition.walk(visit);
                yes.walk(visit);
                no.walk(visit);
            }
            Expr::Query(_, of, arguments) => {
                of.walk(visit);
                arguments.iter().for_each(|argument| argument.walk(visit));
            }
        }
    }
}

impl Program {
    /// Whether an operation frees objects.
    pub fn frees(&self) -> bool {
        let nodes = self.operations.iter().flat_map(|operation| &operation.body.nodes);
        let mut actions = nodes.flat_map(|node| &node.edges).flat_map(|edge| &edge.actions);
        actions.any(|(action, _)| matches!(action, Action::Free(_)))
    }
}

impl Place {
    /// The expressions that decide which word this is.
    pub fn expressions(&self) -> Vec<&Expr> {
        match self {
            Place::Shared(_) => vec![],
            Place::SharedElement(_, index) => vec![index],
            Place::Field { object, .. } => vec![object],
            Place::FieldElement { object, index, .. } => vec![object, index],
        }
    }
}

impl Action {
    /// The words that this touches.
    pub fn places(&self) -> Vec<&Place> {
        match self {
            Action::Read { place, .. }
            | Action::Write { place, .. }
            | Action::Swap { place, .. }
            | Action::FetchAdd { place, .. }
            | Action::LoadLinked { place, .. }
            | Action::StoreConditional { place, .. }
            | Action::Lock(place)
            | Action::Unlock(place)
            | Action::Flush(place)
            | Action::Persist(place)
            | Action::Update { place, .. } => vec![place],
            Action::Cas { cells, .. } => cells.iter().map(|cell| &cell.place).collect(),
            Action::Guard(_)
            | Action::Assign { .. }
            | Action::Choose { .. }
            | Action::Assert(_)
            | Action::New { .. }
            | Action::Fence
            | Action::Free(_) => vec![],
        }
    }

    /// The expressions that this evaluates, those inside its places included.
    pub fn expressions(&self) -> Vec<&Expr> {
        let mut all: Vec<&Expr> = self.places().into_iter().flat_map(Place::expressions).collect();
        match self {
            Action::Guard(value) | Action::Assert(value) | Action::Free(value) => all.push(value),
            Action::Assign { local, value } => {
                if let LocalTarget::Element(_, index) = local {
                    all.push(index);
                }
                all.push(value);
            }
            Action::Choose { from, to, .. } => all.extend([from, to]),
            Action::New { fields, .. } => all.extend(fields),
            Action::Write { value, .. }
            | Action::Swap { value, .. }
            | Action::FetchAdd { value, .. }
            | Action::StoreConditional { value, .. } => all.push(value),
            Action::Cas { cells, .. } => {
                all.extend(cells.iter().flat_map(|cell| [&cell.expected, &cell.new]))
            }
            Action::Update { arguments, .. } => all.extend(arguments),
            Action::Read { .. }
            | Action::LoadLinked { .. }
            | Action::Lock(_)
            | Action::Unlock(_)
            | Action::Flush(_)
            | Action::Fence
            | Action::Persist(_) => {}
        }
        all
    }

    /// The local variable that gets the answer of this action.
    pub fn answer(&self) -> Option<LocalId> {
        match self {
            Action::Choose { into, .. }
            | Action::New { into, .. }
            | Action::Read { into, .. }
            | Action::Cas { into, .. }
            | Action::Swap { into, .. }
            | Action::FetchAdd { into, .. }
            | Action::LoadLinked { into, .. }
            | Action::StoreConditional { into, .. }
            | Action::Update { into, .. } => Some(*into),
            Action::Assign { local, .. } => match local {
                LocalTarget::Local(id)
                | LocalTarget::Element(id, _)
                | LocalTarget::Component(id, _) => Some(*id),
                LocalTarget::ThreadLocal(_) => None,
            },
            Action::Guard(_)
            | Action::Assert(_)
            | Action::Free(_)
            | Action::Write { .. }
            | Action::Lock(_)
            | Action::Unlock(_)
            | Action::Flush(_)
            | Action::Fence
            | Action::Persist(_) => None,
        }
    }
}
