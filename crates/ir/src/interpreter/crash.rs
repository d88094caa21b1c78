//! Crashes: what is left of a state.

use super::choices::Chooser;
use super::state::initial_values;
use super::{
    Attempt, LineRecord, Location, Machine, Object, Outcome, Path, Recovery, State, Status,
    StepRecord,
};
use crate::print::Names;
use crate::program::{Body, Type};
use linchpin_spec::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Machine {
    /// A crash of the whole system. For each line with pending stores, in order, the chooser says
    /// how many of them survive.
    pub(super) fn crash(
        &self,
        state: &State,
        mut chooser: Chooser<'_>,
        record: Option<&mut StepRecord>,
    ) -> Attempt {
        let Some(persistence) = self.program.persistence.as_ref().filter(|_| self.crashes) else {
            return Attempt::disabled();
        };
        let mut next = state.clone();
        let mut lines = Vec::new();
        for (line, stores) in std::mem::take(&mut next.pending) {
            let ways = u32::try_from(stores.len() + 1).unwrap_or(u32::MAX);
            let Some(survived) = chooser.choose(ways) else {
                return chooser.attempt(Path::new(), Outcome::Disabled);
            };
            let survived = survived as usize;
            for store in stores[survived.min(stores.len())..].iter().rev() {
                if let Some(word) = next.get_mut(store.at) {
                    *word = store.old.clone();
                }
            }
            if record.is_some() {
                lines.push(self.line_record(state, line, survived));
            }
        }
        self.lose_memory(&mut next);
        for thread in 0..next.threads.len() {
            self.end_thread(&mut next, thread);
        }
        next.recovery = persistence.recover.as_ref().map(|body| {
            let (node, locals) = (body.entry, initial_values(&body.locals));
            Arc::new(Recovery { node, locals, noted: BTreeMap::new() })
        });
        if let Some(record) = record {
            record.lines = lines;
        }
        chooser.attempt(Path::new(), Outcome::Next(next))
    }

    /// A crash of one thread: memory stays.
    pub(super) fn crash_thread(&self, state: &State, thread: usize) -> Attempt {
        if state.recovery.is_some() || thread >= state.threads.len() {
            return Attempt::disabled();
        }
        let mut next = state.clone();
        self.end_thread(&mut next, thread);
        Attempt { outcome: Outcome::Next(next), ..Attempt::disabled() }
    }

    /// The thread begins anew; what it was doing is interrupted.
    fn end_thread(&self, state: &mut State, thread: usize) {
        let interrupted = state.unanswered(thread);
        let mut fresh = State::idle_thread(&self.program);
        if let Some(operation) = interrupted.filter(|&call| self.program.is_resolvable(call)) {
            Arc::make_mut(&mut fresh).status = Status::Interrupted { operation };
        }
        state.threads[thread] = fresh;
    }

    /// Volatile variables and objects are lost, and every lock is free.
    fn lose_memory(&self, state: &mut State) {
        let Some(persistence) = &self.program.persistence else { return };
        for (variable, value) in state.shared.iter_mut().enumerate() {
            let declared = &self.program.shared[variable];
            match persistence.shared.get(variable) {
                Some(Some(_)) => free_locks(value, &declared.ty),
                _ => *value = declared.initial.clone(),
            }
        }
        for object in &mut state.heap {
            if persistence.structs.get(object.of).is_none_or(Option::is_none) {
                *object = Arc::new(Object { of: object.of, fields: Vec::new(), live: false });
                continue;
            }
            let fields = &self.program.structs[object.of].fields;
            if fields.iter().any(|field| has_locks(&field.ty)) {
                let object = Arc::make_mut(object);
                for (value, field) in object.fields.iter_mut().zip(fields) {
                    free_locks(value, &field.ty);
                }
            }
        }
    }

    /// What a crash did to a line.
    fn line_record(&self, state: &State, line: super::Line, survived: usize) -> LineRecord {
        let none = Body { locals: Vec::new(), entry: crate::program::NodeId(0), nodes: Vec::new() };
        let names = Names { program: &self.program, body: &none };
        let of = |object: u32| state.heap.get(object as usize).map(|object| object.of);
        let store = |(at, value): (Location, Value)| {
            let (word, ty) = names.location(at, of);
            format!("{word} := {}", names.typed(&value, ty))
        };
        let stores = state.stored(line).into_iter().map(store).collect();
        LineRecord { line, name: names.line(line, of), stores, survived }
    }
}

fn has_locks(ty: &Type) -> bool {
    match ty {
        Type::Lock => true,
        Type::Array(item, _) | Type::Option(item) => has_locks(item),
        Type::Record { fields, .. } => fields.iter().any(|(_, ty)| has_locks(ty)),
        Type::Tuple(items) => items.iter().any(has_locks),
        _ => false,
    }
}

/// Frees every lock in a value.
fn free_locks(value: &mut Value, ty: &Type) {
    if !has_locks(ty) {
        return;
    }
    match (ty, value) {
        (Type::Lock, value) => *value = Value::Null,
        (Type::Array(item, _), Value::List(values)) => {
            Arc::make_mut(values).iter_mut().for_each(|value| free_locks(value, item));
        }
        (Type::Record { fields, .. }, Value::List(values)) => {
            let values = Arc::make_mut(values).iter_mut();
            values.zip(fields).for_each(|(value, (_, ty))| free_locks(value, ty));
        }
        (Type::Tuple(items), Value::List(values)) => {
            let values = Arc::make_mut(values).iter_mut();
            values.zip(items).for_each(|(value, ty)| free_locks(value, ty));
        }
        _ => {}
    }
}

impl State {
    /// The call of a thread that has no answer yet, also if it was interrupted.
    pub fn unanswered(&self, thread: usize) -> Option<usize> {
        match self.threads.get(thread)?.status {
            Status::Interrupted { operation } => Some(operation),
            _ => self.pending(thread),
        }
    }
}
