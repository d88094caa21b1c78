//! Leaves out the values of integers that nothing tests, such as a counter that is only increased
//! and returned: progress does not depend on them, and they can make infinitely many states.
//!
//! An integer is *tested* if it decides which steps can be taken or where they go: in a guard, an
//! assertion, a comparison of `cas`, an index, a range of `choose`, the condition of a call; or if
//! it flows into one that is. What is assigned to the others is replaced by 0. The program that is
//! left takes the same steps with the same choices, so its runs and those of the program
//! correspond, move by move, except for the values of these integers (and an overflow of them,
//! which would need more moves than any run has).

use linchpin_ir::program::{
    Action, BinaryOp, Body, Expr, LocalTarget, Place, Program, Target, Type, Variable,
};
use linchpin_spec::Value;
use std::collections::BTreeSet;

/// A variable of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Slot {
    Shared(usize),
    ThreadLocal(usize),
    /// A field of a struct, in all objects together.
    Field(usize, usize),
    /// A local of an operation.
    Local(usize, u32),
}

/// A program without the values of untested integers, and the names of the shared variables and the
/// fields among those that had many.
pub(crate) fn without_untested(program: &Program) -> (Program, Vec<String>) {
    let tested = Tested::of(program);
    let mut sliced = program.clone();
    let mut cleared = BTreeSet::new();
    for (operation, of) in sliced.operations.iter_mut().enumerate() {
        for node in &mut of.body.nodes {
            for (action, _) in node.edges.iter_mut().flat_map(|edge| &mut edge.actions) {
                tested.clear(operation, action, &mut cleared);
            }
        }
    }
    let name = |slot: &Slot| match *slot {
        Slot::Shared(at) => Some(program.shared[at].name.clone()),
        Slot::Field(of, field) => {
            let object = &program.structs[of];
            Some(format!("{}.{}", object.name, object.fields[field].name))
        }
        Slot::ThreadLocal(at) => Some(program.thread_locals[at].name.clone()),
        Slot::Local(..) => None,
    };
    (sliced, cleared.iter().filter_map(name).collect())
}

/// Which variables are tested.
struct Tested(BTreeSet<Slot>);

impl Tested {
    fn of(program: &Program) -> Tested {
        let mut tested = Tested(BTreeSet::new());
        // Only integers are left out.
        let mut others = |variables: &[Variable], slot: &dyn Fn(usize) -> Slot| {
            let all = variables.iter().enumerate();
            tested.0.extend(all.filter(|(_, v)| v.ty != Type::Int).map(|(at, _)| slot(at)));
        };
        others(&program.shared, &Slot::Shared);
        others(&program.thread_locals, &Slot::ThreadLocal);
        for (at, object) in program.structs.iter().enumerate() {
            others(&object.fields, &|field| Slot::Field(at, field));
        }
        for (at, operation) in program.operations.iter().enumerate() {
            others(&operation.body.locals, &|local| Slot::Local(at, local as u32));
        }
        loop {
            let before = tested.0.len();
            for (at, operation) in program.operations.iter().enumerate() {
                if let Some(requires) = &operation.requires {
                    tested.test(at, requires);
                }
                tested.body(at, &operation.body);
            }
            if tested.0.len() == before {
                return tested;
            }
        }
    }

    fn is(&self, slot: Slot) -> bool {
        self.0.contains(&slot)
    }

    fn body(&mut self, operation: usize, body: &Body) {
        for edge in body.nodes.iter().flat_map(|node| &node.edges) {
            for (action, _) in &edge.actions {
                self.action(operation, action);
            }
            if let Target::Return(value) = &edge.target {
                self.flows(operation, value, false);
            }
        }
    }

    fn action(&mut self, operation: usize, action: &Action) {
        for expr in action.places().into_iter().flat_map(Place::expressions) {
            self.test(operation, expr);
        }
        let local = |local: &linchpin_ir::program::LocalId| Slot::Local(operation, local.0);
        match action {
            Action::Guard(condition) | Action::Assert(condition) | Action::Free(condition) => {
                self.test(operation, condition);
            }
            Action::Choose { from, to, .. } => {
                self.test(operation, from);
                self.test(operation, to);
            }
            Action::Assign { local: target, value } => {
                let tested = self.target(operation, target).is_none_or(|slot| self.is(slot));
                if let LocalTarget::Element(_, index) = target {
                    self.test(operation, index);
                }
                self.flows(operation, value, tested);
            }
            Action::New { object, fields, .. } => {
                for (field, value) in fields.iter().enumerate() {
                    let tested = self.is(Slot::Field(*object, field));
                    self.flows(operation, value, tested);
                }
            }
            Action::Read { into, place } | Action::LoadLinked { into, place } => {
                self.read(place, local(into));
            }
            Action::Write { place, value } | Action::StoreConditional { place, value, .. } => {
                let tested = slot_of(place).is_none_or(|slot| self.is(slot));
                self.flows(operation, value, tested);
            }
            Action::Swap { into, place, value } | Action::FetchAdd { into, place, value } => {
                self.read(place, local(into));
                let tested = slot_of(place).is_none_or(|slot| self.is(slot));
                self.flows(operation, value, tested);
            }
            Action::Cas { cells, .. } => {
                for cell in cells {
                    self.0.extend(slot_of(&cell.place));
                    self.test(operation, &cell.expected);
                    self.test(operation, &cell.new);
                }
            }
            Action::Lock(_)
            | Action::Unlock(_)
            | Action::Flush(_)
            | Action::Fence
            | Action::Persist(_) => {}
            Action::Update { place, arguments, .. } => {
                self.0.extend(slot_of(place));
                arguments.iter().for_each(|argument| self.test(operation, argument));
            }
        }
    }

    /// A value that is read is tested if what receives it is.
    fn read(&mut self, place: &Place, into: Slot) {
        if self.is(into) {
            self.0.extend(slot_of(place));
        }
    }

    /// A value flows into something that is tested or not. An expression that can fail, or that is
    /// more than a sum, is tested in any case.
    fn flows(&mut self, operation: usize, value: &Expr, tested: bool) {
        if tested || !is_sum(value) {
            self.test(operation, value);
        }
    }

    /// All variables of an expression are tested.
    fn test(&mut self, operation: usize, expr: &Expr) {
        expr.walk(&mut |inner| match inner {
            Expr::Local(local) => {
                self.0.insert(Slot::Local(operation, local.0));
            }
            Expr::ThreadLocal(at) => {
                self.0.insert(Slot::ThreadLocal(*at));
            }
            _ => {}
        });
    }

    /// The variable that an assignment assigns; `None` for a part of one, which is no integer.
    fn target(&self, operation: usize, target: &LocalTarget) -> Option<Slot> {
        match target {
            LocalTarget::Local(local) => Some(Slot::Local(operation, local.0)),
            LocalTarget::ThreadLocal(at) => Some(Slot::ThreadLocal(*at)),
            LocalTarget::Element(..) | LocalTarget::Component(..) => None,
        }
    }

    /// What an action gives to a variable that is not tested becomes 0, unless it is a constant.
    /// The variables for which that makes a difference are added to `cleared`.
    fn clear(&self, operation: usize, action: &mut Action, cleared: &mut BTreeSet<Slot>) {
        let adds = matches!(action, Action::FetchAdd { .. });
        let mut clear = |slot: Option<Slot>, value: &mut Expr| {
            let untested = slot.filter(|slot| !self.is(*slot));
            if untested.is_some() && (adds || !matches!(value, Expr::Const(_))) {
                cleared.extend(untested);
                *value = Expr::Const(Value::Int(0));
            }
        };
        match action {
            Action::Assign { local, value } => clear(self.target(operation, local), value),
            Action::Write { place, value }
            | Action::StoreConditional { place, value, .. }
            | Action::Swap { place, value, .. }
            | Action::FetchAdd { place, value, .. } => clear(slot_of(place), value),
            Action::New { object, fields, .. } => {
                for (field, value) in fields.iter_mut().enumerate() {
                    clear(Some(Slot::Field(*object, field)), value);
                }
            }
            _ => {}
        }
    }
}

/// The variable of a place; `None` for an element of an array, which is no integer variable.
fn slot_of(place: &Place) -> Option<Slot> {
    match place {
        Place::Shared(at) => Some(Slot::Shared(*at)),
        Place::Field { of, field, .. } => Some(Slot::Field(*of, *field)),
        Place::SharedElement(..) | Place::FieldElement { .. } => None,
    }
}

/// Whether an expression only adds and subtracts variables and constants.
fn is_sum(expr: &Expr) -> bool {
    match expr {
        Expr::Const(_) | Expr::Local(_) | Expr::ThreadLocal(_) | Expr::Me => true,
        Expr::Binary(BinaryOp::Add | BinaryOp::Subtract, left, right) => {
            is_sum(left) && is_sum(right)
        }
        _ => false,
    }
}
