//! Which variables and fields only one thread touches, as far as the code of the operations shows.

use crate::code::Class;
use crate::settled::Writes;
use linchpin_ir::program::{Action as IrAction, Place, Program};

/// What the other threads can do: the classes they write where others can see it, and those they
/// touch. `writes` is what is known of the operations, if it is to be used.
pub(crate) fn others(
    program: &Program,
    thread: usize,
    writes: Option<&[Writes]>,
) -> (Vec<Class>, Vec<Class>) {
    let (mut written, mut touched) = (Vec::new(), Vec::new());
    let others = (0..program.threads.len()).filter(|&other| other != thread);
    let called = others.flat_map(|other| program.threads[other].operations.iter());
    if let Some(writes) = writes {
        let of = called.clone().map(|operation| &writes[*operation]);
        written.extend(of.flat_map(|of| of.any.iter().chain(&of.once)).copied());
    }
    let called = called.map(|operation| &program.operations[*operation].body);
    // After a crash, threads may ask what became of their calls.
    let resolve = program.persistence.iter().flat_map(|of| &of.resolve);
    for body in called.chain(resolve.map(|resolve| &resolve.body)) {
        let edges = body.nodes.iter().flat_map(|node| &node.edges);
        for (action, _) in edges.flat_map(|edge| &edge.actions) {
            for place in action.places() {
                let class = class_of(place);
                touched.push(class);
                if writes.is_none() && !reads(action) {
                    written.push(class);
                }
            }
        }
    }
    for classes in [&mut written, &mut touched] {
        classes.sort_unstable();
        classes.dedup();
    }
    (written, touched)
}

/// For each node of an operation, whether a step from it can concern only the thread: it cannot if
/// it always touches a shared variable that others touch too.
pub(crate) fn maybe_private(
    program: &Program,
    operation: usize,
    written: &[Class],
    touched: &[Class],
) -> Vec<bool> {
    let body = &program.operations[operation].body;
    let concerns_others =
        |action: &IrAction| {
            let classes = if reads(action) { written } else { touched };
            action.places().into_iter().map(class_of).any(|class| {
                matches!(class, Class::Shared(_)) && classes.binary_search(&class).is_ok()
            })
        };
    let may = |node: &linchpin_ir::program::Node| {
        let mut edges = node.edges.iter();
        !edges.any(|edge| edge.actions.iter().any(|(action, _)| concerns_others(action)))
    };
    body.nodes.iter().map(may).collect()
}

/// Whether an action leaves what it accesses as it is. What a flush notes, only a crash can tell.
pub(crate) fn reads(action: &IrAction) -> bool {
    matches!(
        action,
        IrAction::Read { .. }
            | IrAction::LoadLinked { .. }
            | IrAction::Flush(_)
            | IrAction::Persist(_)
    )
}

/// The variable or field of a place.
pub(crate) fn class_of(place: &Place) -> Class {
    match place {
        Place::Shared(variable) | Place::SharedElement(variable, _) => Class::Shared(*variable),
        Place::Field { of, field, .. } | Place::FieldElement { of, field, .. } => {
            Class::Field(*of, *field)
        }
    }
}
