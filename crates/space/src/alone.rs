//! One thread that runs alone: steps one at a time, nothing taken together, and the parts of a
//! state that such a run can see.
//!
//! Here locks of other threads can be set aside: paper 004 asks what an operation would do from a
//! shared state by itself, and the owner of a lock is not part of a shared state.

use crate::execute::{Ended, Execution, Trail, Words};
use crate::flat::{Flat, running};
use crate::layout::{CALLS, Kind, NODE, STATUS};
use crate::space::Space;
use crate::workspace::Workspace;
use crate::{Class, Unsupported};
use linchpin_ir::interpreter::State;
use linchpin_ir::program::{Program, Type};

/// Where a step of a thread that runs alone has led.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alone {
    /// The operation goes on.
    On,
    /// It has returned these words; its locals are as they were.
    Returned(Words),
    /// It cannot go on.
    Blocked,
    /// The step went wrong.
    Faulted,
}

/// What a step of a thread that runs alone did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AloneStep {
    /// Where it led.
    pub led: Alone,
    /// Whether it accessed memory other than locks.
    pub accesses: bool,
    /// Whether it had a choice, of which it took the first.
    pub chose: bool,
}

/// The words that hold locks.
#[derive(Clone, Debug, Default)]
pub(crate) struct LockWords {
    /// Of the shared variables, from the start of the state.
    pub shared: Vec<usize>,
    /// For each struct, from the start of the object.
    pub fields: Vec<Vec<usize>>,
}

impl LockWords {
    pub fn of(program: &Program, layout: &crate::layout::Layout) -> LockWords {
        let row = |types: &mut dyn Iterator<Item = (&Type, usize)>| {
            let mut words = Vec::new();
            for (ty, at) in types {
                locks_in(ty, at, &mut words);
            }
            words
        };
        let shared = program.shared.iter().zip(&layout.shared);
        let shared = row(&mut shared.map(|(variable, slot)| (&variable.ty, slot.at)));
        let of = |(object, slots): (&linchpin_ir::program::Struct, &Vec<crate::layout::Slot>)| {
            row(&mut object.fields.iter().zip(slots).map(|(field, slot)| (&field.ty, slot.at)))
        };
        let fields = program.structs.iter().zip(&layout.fields).map(of).collect();
        LockWords { shared, fields }
    }
}

/// The words of a type that hold locks.
fn locks_in(ty: &Type, at: usize, words: &mut Vec<usize>) {
    match ty {
        Type::Lock => words.push(at),
        Type::Array(item, length) => {
            let width = crate::layout::width(item).unwrap_or(0);
            (0..*length).for_each(|element| locks_in(item, at + element * width, words));
        }
        _ => {}
    }
}

fn is_lock(ty: &Type) -> bool {
    match ty {
        Type::Lock => true,
        Type::Array(item, _) => is_lock(item),
        _ => false,
    }
}

impl Space {
    /// The call of an operation by an idle thread, up to the first step that others may notice.
    pub fn call_alone(
        &self,
        flat: &mut Flat,
        thread: usize,
        operation: usize,
        arguments: &[i64],
        workspace: &mut Workspace,
    ) -> AloneStep {
        let layout = &self.form.layout;
        let region = layout.thread(thread);
        let routine = &self.routines[operation];
        let at = region + layout.locals_at;
        flat.words[at..at + routine.start.len()].copy_from_slice(&routine.start);
        flat.words[at..at + arguments.len()].copy_from_slice(arguments);
        flat.words[region + STATUS] = running(operation);
        self.run_alone(flat, thread, operation, routine.entry, workspace)
    }

    /// The next step of a thread that is inside an operation.
    pub fn step_alone(
        &self,
        flat: &mut Flat,
        thread: usize,
        workspace: &mut Workspace,
    ) -> AloneStep {
        match self.position(flat, thread) {
            Some((operation, node)) => {
                self.run_alone(flat, thread, operation, node.0 as usize, workspace)
            }
            None => AloneStep { led: Alone::Blocked, accesses: false, chose: false },
        }
    }

    /// The thread has returned: its locals and links are gone.
    pub fn finish_alone(&self, flat: &mut Flat, thread: usize) {
        let layout = &self.form.layout;
        let region = layout.thread(thread);
        flat.words[region + STATUS] = 0;
        flat.words[region + NODE] = 0;
        flat.words[region + layout.locals_at..region + layout.region].fill(0);
        flat.links.retain(|link| link.thread != thread);
    }

    fn run_alone(
        &self,
        flat: &mut Flat,
        thread: usize,
        operation: usize,
        node: usize,
        workspace: &mut Workspace,
    ) -> AloneStep {
        let mut trail = workspace.trails.pop().unwrap_or_default();
        trail.clear();
        let layout = &self.form.layout;
        let ended = Execution {
            layout,
            lines: None,
            tracks: false,
            memory: self.bounds.memory,
            objects: usize::from(u16::MAX),
            flat,
            thread,
            given: &[],
            trail: &mut trail,
        }
        .run(&self.routines[operation], node);
        let led = match ended {
            Ended::Yielded(at) => {
                flat.words[layout.thread(thread) + NODE] = at as i64;
                Alone::On
            }
            Ended::Returned => Alone::Returned(trail.answer.clone()),
            Ended::Refused => Alone::Blocked,
            Ended::Faulted => Alone::Faulted,
        };
        let step = AloneStep {
            led,
            accesses: self.touches_memory(&trail),
            chose: trail.next_choices().is_some(),
        };
        workspace.path.clear();
        workspace.path.extend_from_slice(&trail.path);
        workspace.trails.push(trail);
        step
    }

    /// Whether a step accessed memory other than locks.
    fn touches_memory(&self, trail: &Trail) -> bool {
        let program = self.program();
        trail.accesses.iter().any(|access| match access.class {
            Class::Shared(variable) => !is_lock(&program.shared[variable].ty),
            Class::Field(of, field) => !is_lock(&program.structs[of].fields[field].ty),
        })
    }

    /// Leaves of a state only what is shared, and one thread if one is named: other threads are
    /// idle, their locks are free. The calls that threads have left are not counted.
    pub fn set_aside_others(&self, flat: &mut Flat, keep: Option<usize>) {
        let layout = &self.form.layout;
        for thread in 0..layout.threads {
            let region = layout.thread(thread);
            if keep == Some(thread) {
                flat.words[region + CALLS] = 0;
            } else {
                flat.words[region..region + layout.region].fill(0);
            }
        }
        flat.links.retain(|link| keep == Some(link.thread));
        let mine = keep.map_or(0, |thread| thread as i64 + 1);
        let free = |word: &mut i64| {
            if *word != mine {
                *word = 0;
            }
        };
        for &at in &self.locks.shared {
            free(&mut flat.words[at]);
        }
        let (heap, stride) = (layout.heap, layout.stride);
        for object in flat.words[heap..].chunks_mut(stride) {
            if let Ok(of @ 1..) = usize::try_from(object[0]) {
                for &at in &self.locks.fields[of - 1] {
                    free(&mut object[at]);
                }
            }
        }
    }

    /// How many heap objects a state has room for.
    pub fn objects(&self, flat: &Flat) -> usize {
        let layout = &self.form.layout;
        (flat.words.len() - layout.heap) / layout.stride
    }

    /// The words of the shared variables, each with whether it is a reference; locks are left out.
    pub fn shared_words<'a>(
        &'a self,
        flat: &'a Flat,
    ) -> impl Iterator<Item = (usize, i64, bool)> + 'a {
        let layout = &self.form.layout;
        let words = flat.words.iter().zip(&layout.shared_kinds).enumerate();
        words
            .filter(|(at, _)| !self.locks.shared.contains(at))
            .map(|(at, (word, kind))| (at, *word, *kind == Kind::Ref))
    }

    /// The struct of an object, plus 1 (0 or less: it is not live), and the words of its fields,
    /// each with whether it is a reference; locks are left out.
    pub fn object_words<'a>(
        &'a self,
        flat: &'a Flat,
        object: usize,
    ) -> (i64, impl Iterator<Item = (usize, i64, bool)> + 'a) {
        let layout = &self.form.layout;
        let at = layout.object(object);
        let head = flat.words[at];
        let of = usize::try_from(head).ok().and_then(|head| head.checked_sub(1));
        let kinds = of.map_or(&[][..], |of| &layout.field_kinds[of][..]);
        let locks = of.map_or(&[][..], |of| &self.locks.fields[of][..]);
        let words = flat.words[at + 1..].iter().zip(kinds).enumerate();
        let words = words
            .filter(|(word, _)| !locks.contains(&(word + 1)))
            .map(|(word, (value, kind))| (word, *value, *kind == Kind::Ref));
        (head, words)
    }

    /// The words of a local variable of a thread that is inside an operation.
    pub fn local<'a>(
        &self,
        flat: &'a Flat,
        thread: usize,
        operation: usize,
        local: usize,
    ) -> &'a [i64] {
        let slot = self.form.layout.locals[operation][local];
        let at = self.form.layout.thread(thread) + slot.at;
        &flat.words[at..at + slot.width]
    }

    /// The words of a shared variable.
    pub fn shared_variable<'a>(&self, flat: &'a Flat, variable: usize) -> &'a [i64] {
        let slot = self.form.layout.shared[variable];
        &flat.words[slot.at..slot.at + slot.width]
    }

    /// The words of a field of an object.
    pub fn field<'a>(&self, flat: &'a Flat, object: usize, of: usize, field: usize) -> &'a [i64] {
        let slot = self.form.layout.fields[of][field];
        let at = self.form.layout.object(object) + slot.at;
        &flat.words[at..at + slot.width]
    }

    /// The words of a value that clients pass.
    pub fn calls(&self, thread: usize) -> impl Iterator<Item = (usize, &[i64])> {
        self.calls[thread].iter().map(|(operation, words)| (*operation, &words[..]))
    }

    /// A state in words, all threads idle, that has this heap and these shared variables.
    pub fn at_rest(&self, state: &State) -> Result<Flat, Unsupported> {
        let mut flat = self.flatten(state, &self.calls_at_start())?;
        self.set_aside_others(&mut flat, None);
        Ok(flat)
    }
}
