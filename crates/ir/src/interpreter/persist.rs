//! Lines at work: pending stores, flushes, fences.
//!
//! Only a machine [with crashes](super::Machine::with_crashes) keeps pending stores; for others
//! `flush`, `fence` and `persist` are steps that change nothing.

use super::action::Performed;
use super::execution::{Actor, Execution};
use super::{FaultKind, Line, Location, Root, State, Store, ThreadState};
use crate::program::{Place, Type};
use linchpin_spec::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Execution<'_> {
    /// Notes that a word, or an array element by element, was overwritten.
    pub(super) fn log(&mut self, at: Location, old: &Value) {
        // What `init` does is guaranteed.
        if !self.crashes || matches!(self.actor, Actor::Init) {
            return;
        }
        let elements = match (at.element, self.type_at(at.root), old.as_list()) {
            (None, Some(Type::Array(..)), Some(items)) => items.to_vec(),
            _ => return self.log_word(at, old.clone()),
        };
        for (index, old) in elements.into_iter().enumerate() {
            self.log_word(Location { element: Some(index), ..at }, old);
        }
    }

    /// Notes that a new object was written, field by field, over what its memory held before: the
    /// initial values if it had not been used.
    pub(super) fn log_object(&mut self, object: u32, of: usize, before: Vec<Value>) {
        let initial = self.program.structs[of].fields.iter().map(|field| &field.initial);
        let before = match before.is_empty() {
            true => initial.cloned().collect(),
            false => before,
        };
        for (field, old) in before.iter().enumerate() {
            self.log(Location { root: Root::Field { object, field }, element: None }, old);
        }
    }

    fn log_word(&mut self, at: Location, old: Value) {
        if let Some(line) = self.line(at) {
            self.state.pending.entry(line).or_default().push(Store { at, old });
        }
    }

    fn type_at(&self, root: Root) -> Option<&Type> {
        match root {
            Root::Shared(variable) => self.program.shared.get(variable).map(|v| &v.ty),
            Root::Field { object, field } => {
                let of = self.state.heap.get(object as usize)?.of;
                self.program.structs.get(of)?.fields.get(field).map(|v| &v.ty)
            }
        }
    }

    /// The line of a word, if it is persistent.
    fn line(&self, at: Location) -> Option<Line> {
        let persistence = self.program.persistence.as_ref()?;
        let of = |object: u32| self.state.heap.get(object as usize).map(|object| object.of);
        persistence.line(at, of)
    }

    /// The lines of a place: several for a whole array with a line for each element.
    fn lines(&self, at: Location) -> Vec<Line> {
        match (at.element, self.type_at(at.root)) {
            (None, Some(Type::Array(_, length))) => {
                let word = |index| Location { element: Some(index), ..at };
                let mut lines: Vec<Line> =
                    (0..*length).filter_map(|index| self.line(word(index))).collect();
                lines.dedup();
                lines
            }
            _ => self.line(at).into_iter().collect(),
        }
    }

    pub fn flush(&mut self, place: &Place) -> Performed {
        let at = self.resolve(place)?;
        self.note(|names| format!("flush({})", names.place_at(place, at)));
        self.note_flush(at)?;
        Ok(true)
    }

    pub fn persist(&mut self, place: &Place) -> Performed {
        let at = self.resolve(place)?;
        self.note(|names| format!("persist({})", names.place_at(place, at)));
        self.note_flush(at)?;
        self.guarantee();
        Ok(true)
    }

    pub fn fence(&mut self) -> Performed {
        self.note(|_| "fence".to_owned());
        self.guarantee();
        Ok(true)
    }

    fn note_flush(&mut self, at: Location) -> Result<(), FaultKind> {
        if !self.crashes {
            return Ok(());
        }
        for line in self.lines(at) {
            let Some(stores) = self.state.pending.get(&line).map(Vec::len) else { continue };
            if let Some(noted) = self.noted() {
                noted.insert(line, stores);
            }
        }
        Ok(())
    }

    /// Guarantees what this thread has flushed.
    pub(super) fn guarantee(&mut self) {
        let flushed = match self.actor {
            Actor::Init => false,
            Actor::Recovery => self.state.recovery.as_ref().is_some_and(|r| !r.noted.is_empty()),
            Actor::Thread { thread, .. } | Actor::Resolution { thread, .. } => {
                !self.state.threads[thread].noted.is_empty()
            }
        };
        // Most fences are those of a `cas` and have nothing to guarantee: then nothing is copied.
        if !flushed {
            return;
        }
        let Some(noted) = self.noted().map(std::mem::take) else { return };
        for (line, stores) in noted {
            self.state.write_back(line, stores);
        }
    }

    /// The flushes that this thread, or recovery, has noted.
    fn noted(&mut self) -> Option<&mut BTreeMap<Line, usize>> {
        match self.actor {
            Actor::Init => None,
            Actor::Recovery => {
                self.state.recovery.as_mut().map(|recovery| &mut Arc::make_mut(recovery).noted)
            }
            Actor::Thread { thread, .. } | Actor::Resolution { thread, .. } => {
                Some(&mut Arc::make_mut(&mut self.state.threads[thread]).noted)
            }
        }
    }
}

impl State {
    /// Guarantees the first stores of a line. What others have noted is shortened by as many.
    pub(super) fn write_back(&mut self, line: Line, stores: usize) {
        let Some(pending) = self.pending.get_mut(&line) else { return };
        let stores = stores.min(pending.len());
        pending.drain(..stores);
        if pending.is_empty() {
            self.pending.remove(&line);
        }
        for thread in &mut self.threads {
            if thread.noted.contains_key(&line) {
                let ThreadState { noted, .. } = Arc::make_mut(thread);
                shorten(noted, line, stores);
            }
        }
        if let Some(recovery) = &mut self.recovery {
            shorten(&mut Arc::make_mut(recovery).noted, line, stores);
        }
    }

    /// The pending stores of a line, in order, each with the value that it stored.
    pub fn stored(&self, line: Line) -> Vec<(Location, Value)> {
        let stores = self.pending.get(&line).map_or(&[][..], Vec::as_slice);
        let value = |(number, store): (usize, &Store)| {
            let later = stores[number + 1..].iter().find(|later| later.at == store.at);
            let stored = later.map(|later| &later.old).or_else(|| self.get(store.at));
            (store.at, stored.cloned().unwrap_or(Value::Null))
        };
        stores.iter().enumerate().map(value).collect()
    }
}

fn shorten(noted: &mut BTreeMap<Line, usize>, line: Line, by: usize) {
    match noted.get_mut(&line) {
        Some(stores) if *stores > by => *stores -= by,
        _ => {
            noted.remove(&line);
        }
    }
}
