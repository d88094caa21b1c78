//! A state as a row of words, and the interpreter's states as such rows.

use crate::Unsupported;
use crate::layout::{CALLS, Layout, NODE, STATUS, flatten, flatten_local};
use linchpin_ir::interpreter::{Location, Root, State, Status};
use linchpin_ir::program::{Program, Type};

/// A state, in words as [`Layout`] says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flat {
    /// The shared variables, the threads, the heap.
    pub words: Vec<i64>,
    /// The words that threads have load-linked.
    pub links: Vec<Link>,
}

/// A word, or several, that a thread has load-linked and that no thread has written since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// Who.
    pub thread: usize,
    /// The first word, from the start of the state.
    pub at: usize,
    /// How many words.
    pub width: usize,
    /// Whether it is one element of an array.
    pub element: bool,
}

impl Link {
    /// Whether a write to these words is a write to a linked one.
    pub fn overlaps(&self, at: usize, width: usize) -> bool {
        self.at < at + width && at < self.at + self.width
    }
}

/// The status word of a thread that runs an operation.
pub(crate) fn running(operation: usize) -> i64 {
    1 + 2 * operation as i64
}

/// The status word of a thread that has a response to give.
pub(crate) fn returning(operation: usize) -> i64 {
    2 + 2 * operation as i64
}

/// The operation of a status word that is not idle, and whether it is returning.
pub(crate) fn operation_of(status: i64) -> Option<(usize, bool)> {
    let code = usize::try_from(status).ok()?.checked_sub(1)?;
    Some((code / 2, code % 2 == 1))
}

impl Flat {
    /// A state of the interpreter, in words. `calls` is how many calls each thread has left.
    pub(crate) fn of(
        program: &Program,
        layout: &Layout,
        state: &State,
        calls: &[i64],
    ) -> Result<Flat, Unsupported> {
        let mut words = Vec::new();
        for (variable, value) in program.shared.iter().zip(&state.shared) {
            flatten(value, &variable.ty, &mut words)?;
        }
        words.resize(layout.heap + state.heap.len() * layout.stride, 0);
        let mut links = Vec::new();
        let mut part = Vec::new();
        for (thread, of) in state.threads.iter().enumerate() {
            let region = layout.thread(thread);
            words[region + CALLS] = calls.get(thread).copied().unwrap_or(0);
            part.clear();
            for (variable, value) in program.thread_locals.iter().zip(&of.variables) {
                flatten(value, &variable.ty, &mut part)?;
            }
            match &of.status {
                Status::Idle => {}
                Status::Running { operation, node, locals } => {
                    words[region + STATUS] = running(*operation);
                    words[region + NODE] = i64::from(node.0);
                    let variables = &program.operations[*operation].body.locals;
                    for (variable, value) in variables.iter().zip(locals) {
                        flatten_local(value, &variable.ty, &mut part)?;
                    }
                }
                Status::Returning { operation, value } => {
                    words[region + STATUS] = returning(*operation);
                    flatten(value, &program.operations[*operation].response, &mut part)?;
                }
                Status::Interrupted { .. } | Status::Resolving { .. } | Status::Resolved { .. } => {
                    return Err(Unsupported("a state after a crash".to_owned()));
                }
            }
            let start = region + layout.locals_at - layout.variable_kinds.len();
            words[start..start + part.len()].copy_from_slice(&part);
            for link in &of.links {
                links.push(link_of(program, layout, state, thread, link));
            }
        }
        for (index, object) in state.heap.iter().enumerate() {
            let at = layout.object(index);
            words[at] = if object.live { 1 + object.of as i64 } else { -1 - object.of as i64 };
            part.clear();
            for (field, value) in program.structs[object.of].fields.iter().zip(&object.fields) {
                flatten(value, &field.ty, &mut part)?;
            }
            words[at + 1..at + 1 + part.len()].copy_from_slice(&part);
        }
        Ok(Flat { words, links })
    }
}

fn link_of(
    program: &Program,
    layout: &Layout,
    state: &State,
    thread: usize,
    at: &Location,
) -> Link {
    let (start, slot, ty) = match at.root {
        Root::Shared(variable) => (0, layout.shared[variable], &program.shared[variable].ty),
        Root::Field { object, field } => {
            let of = state.heap[object as usize].of;
            let ty = &program.structs[of].fields[field].ty;
            (layout.object(object as usize), layout.fields[of][field], ty)
        }
    };
    match (at.element, ty) {
        (Some(element), Type::Array(_, length)) if *length > 0 => {
            let width = slot.width / length;
            Link { thread, at: start + slot.at + element * width, width, element: true }
        }
        _ => Link { thread, at: start + slot.at, width: slot.width, element: false },
    }
}
