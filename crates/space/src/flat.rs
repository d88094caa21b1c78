//! A state as a row of words, and the interpreter's states as such rows.

use crate::Unsupported;
use crate::layout::{CALLS, Layout, NODE, STATUS, flatten, flatten_local};
use crate::lines::{CrashesLeft, Image, LineId, Lines};
use linchpin_ir::interpreter::{Location, Root, State, Status};
use linchpin_ir::program::{Program, Type};

/// A state, in words as [`Layout`] says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flat {
    /// The shared variables, the threads, the heap.
    pub words: Vec<i64>,
    /// The words that threads have load-linked.
    pub links: Vec<Link>,
    /// What a crash may leave of lines of persistent memory, besides what they hold.
    pub images: Vec<Image>,
    /// The crashes that may still come.
    pub left: CrashesLeft,
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

/// The operation of a status word of a thread that runs an operation, and whether it is returning.
pub(crate) fn operation_of(status: i64) -> Option<(usize, bool)> {
    let code = usize::try_from(status).ok()?.checked_sub(1)?;
    Some((code / 2, code % 2 == 1))
}

/// Where a thread is whose call a crash interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// It has yet to ask for the outcome.
    NotYet,
    /// It asks.
    Running,
    /// It knows, and has not told yet.
    Done,
}

/// The status word of a thread whose call of this operation was interrupted.
pub(crate) fn interrupted(operation: usize, asks: Asks) -> i64 {
    let at = match asks {
        Asks::NotYet => 0,
        Asks::Running => 1,
        Asks::Done => 2,
    };
    -1 - 3 * operation as i64 - at
}

/// The interrupted operation of a status word, if there is one, and how far it is resolved.
pub(crate) fn interrupted_of(status: i64) -> Option<(usize, Asks)> {
    let code = usize::try_from(status.checked_neg()?).ok()?.checked_sub(1)?;
    let asks = match code % 3 {
        0 => Asks::NotYet,
        1 => Asks::Running,
        _ => Asks::Done,
    };
    Some((code / 3, asks))
}

/// The operation that a thread has called and that has not answered, also if it was interrupted.
pub(crate) fn unanswered(status: i64) -> Option<usize> {
    let running = operation_of(status).map(|(operation, _)| operation);
    running.or_else(|| interrupted_of(status).map(|(operation, _)| operation))
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
                Status::Interrupted { operation } => {
                    words[region + STATUS] = interrupted(*operation, Asks::NotYet);
                }
                Status::Resolving { operation, node, locals } => {
                    words[region + STATUS] = interrupted(*operation, Asks::Running);
                    words[region + NODE] = i64::from(node.0);
                    let resolve = program.persistence.iter().flat_map(|of| &of.resolve);
                    let variables = resolve.flat_map(|resolve| &resolve.body.locals);
                    for (variable, value) in variables.zip(locals) {
                        flatten_local(value, &variable.ty, &mut part)?;
                    }
                }
                Status::Resolved { operation, outcome } => {
                    words[region + STATUS] = interrupted(*operation, Asks::Done);
                    let response = program.operations[*operation].response.clone();
                    flatten(outcome, &Type::Option(Box::new(response)), &mut part)?;
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
        Ok(Flat { words, links, ..Flat::default() })
    }

    /// Adds the images of the lines with pending stores, from the youngest of each line on.
    pub(crate) fn add_images(
        &mut self,
        program: &Program,
        layout: &Layout,
        lines: &Lines,
        state: &State,
    ) -> Result<(), Unsupported> {
        for (line, stores) in &state.pending {
            let mut before = self.clone();
            let mut images: Vec<Image> = Vec::new();
            let mut id: Option<LineId> = None;
            for (survived, store) in stores.iter().enumerate().rev() {
                let word = link_of(program, layout, state, 0, &store.at);
                let mut old = Vec::new();
                flatten(&store.old, type_at(program, state, &store.at), &mut old)?;
                id = id.or_else(|| lines.line_at(layout, &before, word.at));
                let Some(line_id) = id else { continue };
                before.words[word.at..word.at + old.len()].copy_from_slice(&old);
                let words = lines.content(layout, &before, line_id);
                let known = words == lines.content(layout, self, line_id)
                    || images.iter().any(|image| image.words == words);
                if lines.distinct && known {
                    continue;
                }
                let fences = |thread: &usize| {
                    state.threads[*thread].noted.get(line).is_some_and(|noted| *noted > survived)
                };
                let flushed = (0..state.threads.len()).filter(fences);
                let flushed = flushed.fold(0, |set, thread| set | 1 << thread);
                images.push(Image { line: line_id, flushed, words });
            }
            self.images.extend(images.into_iter().rev());
        }
        Ok(())
    }
}

/// The type of a word.
fn type_at<'a>(program: &'a Program, state: &State, at: &Location) -> &'a Type {
    let ty = match at.root {
        Root::Shared(variable) => &program.shared[variable].ty,
        Root::Field { object, field } => {
            &program.structs[state.heap[object as usize].of].fields[field].ty
        }
    };
    match (at.element, ty) {
        (Some(_), Type::Array(item, _)) => item,
        _ => ty,
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
