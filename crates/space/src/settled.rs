//! Fields and variables that do not change any more, or only in one direction, as far as the code
//! of the operations shows (`facts.rs`).
//!
//! - A field that is written through fresh locals only is *frozen*: it never changes for those who
//!   can read it.
//! - A field or shared variable that is otherwise written only by a `cas` that expects `null` is
//!   *write-once*: it never changes again once it is not `null` and others can read it, because
//!   every such `cas` fails.
//! - A shared variable is *forward-only* along a field if each write to it is a `cas` that expects
//!   one object and puts there the object, not `null`, that the field of the first holds; and if
//!   this field is written by nothing but a `cas` that expects `null` and puts a fresh object there
//!   whose own field is `null`. Then links of this field never change and never close a cycle (the
//!   object that is linked leads nowhere), and the variable only moves along them. An object from
//!   which the links lead to the variable's is behind it, and the variable never holds it again:
//!   it would have to come there by links, which closes a cycle.

use crate::code::Class;
use crate::facts::{Facts, Follows, actions};
use crate::layout::{Kind, Layout, Slot};
use crate::privacy::{class_of, reads};
use linchpin_ir::program::{Action, Cell, Expr, Place, Program, Type};
use linchpin_spec::Value;

/// What an operation may write where other threads can see it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Writes {
    /// In any way.
    pub any: Vec<Class>,
    /// By a `cas` that expects `null`.
    pub once: Vec<Class>,
}

/// A shared variable that only moves forward along a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forward {
    /// The word of the variable, from the start of the state.
    pub variable: usize,
    /// The word of the field, from the start of an object.
    pub field: usize,
}

/// What the code of a program shows about what changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settled {
    /// For each operation, what it may write where others can see it.
    pub writes: Vec<Writes>,
    /// The classes, sorted, that do not change any more once they are not `null` and others can
    /// read them.
    pub once: Vec<Class>,
    /// The variables that only move forward, if the links are no cycle at the start.
    pub forward: Vec<Forward>,
}

impl Settled {
    pub fn of(program: &Program, layout: &Layout) -> Settled {
        let writes: Vec<Writes> =
            program.operations.iter().map(|operation| Writes::of(&operation.body)).collect();
        let is_reference = |class: &Class| match class {
            Class::Shared(variable) => {
                is_reference(layout.shared[*variable], |at| layout.shared_kinds[at])
            }
            Class::Field(of, field) => {
                is_reference(layout.fields[*of][*field], |at| layout.field_kinds[*of][at - 1])
            }
        };
        let changes = |class: &Class| writes.iter().any(|of| of.any.binary_search(class).is_ok());
        let once = writes.iter().flat_map(|of| of.once.iter().copied());
        let mut once: Vec<Class> =
            once.filter(|class| is_reference(class) && !changes(class)).collect();
        once.sort_unstable();
        once.dedup();
        Settled { forward: forward(program, layout), writes, once }
    }
}

fn is_reference(slot: Slot, kind: impl Fn(usize) -> Kind) -> bool {
    slot.width == 1 && kind(slot.at) == Kind::Ref
}

impl Writes {
    fn of(body: &linchpin_ir::program::Body) -> Writes {
        let mut writes = Writes::default();
        actions(body, &mut |known, action| writes.note(known, action));
        for classes in [&mut writes.any, &mut writes.once] {
            classes.sort_unstable();
            classes.dedup();
        }
        writes
    }

    fn note(&mut self, known: &Facts, action: &Action) {
        if let Action::Cas { cells, .. } = action {
            for cell in cells.iter().filter(|cell| !known.is_fresh(&cell.place)) {
                let whole = matches!(cell.place, Place::Shared(_) | Place::Field { .. });
                match whole && known.is_null(&cell.expected) {
                    true => self.once.push(class_of(&cell.place)),
                    false => self.any.push(class_of(&cell.place)),
                }
            }
        } else if !reads(action) {
            let places = action.places().into_iter().filter(|place| !known.is_fresh(place));
            self.any.extend(places.map(class_of));
        }
    }
}

/// The variables that only move forward, and along which field.
fn forward(program: &Program, layout: &Layout) -> Vec<Forward> {
    let mut found = Vec::new();
    for (of, object) in program.structs.iter().enumerate() {
        for (field, variable) in object.fields.iter().enumerate() {
            if variable.ty != Type::Struct(of) || !all(program, |k, a| links(k, a, of, field)) {
                continue;
            }
            let moves = |shared: usize| all(program, |k, a| follows(k, a, shared, of, field));
            let shared = 0..program.shared.len();
            let along =
                shared.filter(|at| program.shared[*at].ty == Type::Struct(of) && moves(*at));
            found.extend(along.map(|shared| Forward {
                variable: layout.shared[shared].at,
                field: layout.fields[of][field].at,
            }));
        }
    }
    found
}

/// Whether every action of every operation is as it should be, given what is known before it.
fn all(program: &Program, right: impl Fn(&Facts, &Action) -> bool) -> bool {
    program.operations.iter().all(|operation| {
        let mut holds = true;
        actions(&operation.body, &mut |known, action| holds &= right(known, action));
        holds
    })
}

/// The only cell of a `cas`, if an action is one.
fn only_cell(action: &Action) -> Option<&Cell> {
    match action {
        Action::Cas { cells, .. } if cells.len() == 1 => cells.first(),
        _ => None,
    }
}

/// Whether an action leaves the links of a field alone, or adds one to an object that leads
/// nowhere.
fn links(known: &Facts, action: &Action, of: usize, field: usize) -> bool {
    if let Action::New { object, fields, .. } = action
        && *object == of
    {
        return fields.get(field) == Some(&Expr::Const(Value::Null));
    }
    let concerns = |place: &&Place| class_of(place) == Class::Field(of, field);
    if reads(action) || !action.places().iter().any(concerns) {
        return true;
    }
    let Some(Cell { place, expected, new }) = only_cell(action) else { return false };
    match (place, new) {
        (Place::Field { object: Expr::Local(object), .. }, Expr::Local(new)) => {
            object != new && known.is_null(expected) && known.of(*new).is_blank(field)
        }
        _ => false,
    }
}

/// Whether an action leaves a shared variable alone, or moves it along one link.
fn follows(known: &Facts, action: &Action, shared: usize, of: usize, field: usize) -> bool {
    let concerns = |place: &&Place| class_of(place) == Class::Shared(shared);
    if reads(action) || !action.places().iter().any(concerns) {
        return true;
    }
    let Some(Cell { expected, new, .. }) = only_cell(action) else { return false };
    match (expected, new) {
        (Expr::Local(from), Expr::Local(to)) => {
            known.of(*to).some && known.follows(Follows { from: *from, of, field, to: *to })
        }
        _ => false,
    }
}
