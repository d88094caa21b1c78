//! The shared state as plain data: one value for each word, locks left out, the objects under the
//! names that the interpreter gave them.

use linchpin_ir::interpreter::{Location, Root, State};
use linchpin_ir::program::{Program, Type};
use linchpin_spec::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The words of the shared variables and of the objects that they reach, without locks.
pub type Words = BTreeMap<Location, Value>;

/// The shared state of a state.
pub fn words(program: &Program, state: &State) -> Words {
    let mut words = Words::new();
    for (variable, declared) in program.shared.iter().enumerate() {
        add(&mut words, Root::Shared(variable), &state.shared[variable], &declared.ty);
    }
    let mut seen = BTreeSet::new();
    let mut open: Vec<u32> = words.values().flat_map(references).collect();
    while let Some(object) = open.pop() {
        if !seen.insert(object) {
            continue;
        }
        let held = &state.heap[object as usize];
        for (field, declared) in program.structs[held.of].fields.iter().enumerate() {
            add(&mut words, Root::Field { object, field }, &held.fields[field], &declared.ty);
            open.extend(references(&held.fields[field]));
        }
    }
    words
}

/// The objects that a shared state reaches.
pub fn reached(words: &Words) -> BTreeSet<u32> {
    words.values().flat_map(references).collect()
}

fn add(words: &mut Words, root: Root, value: &Value, ty: &Type) {
    match (ty, value) {
        (Type::Lock, _) => {}
        (Type::Array(item, _), Value::List(values)) => {
            let locks = matches!(**item, Type::Lock);
            for (element, value) in values.iter().enumerate().filter(|_| !locks) {
                words.insert(Location { root, element: Some(element) }, value.clone());
            }
        }
        _ => {
            words.insert(Location { root, element: None }, value.clone());
        }
    }
}

/// The objects that a value names.
pub fn references(value: &Value) -> Vec<u32> {
    match value {
        Value::Ref(object) => vec![*object],
        Value::List(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

/// The words of the shared state before a step that differ after it.
pub fn changed(before: &Words, after: &State) -> Vec<(Location, Value)> {
    let differs = |(at, old): (&Location, &Value)| {
        let new = after.get(*at)?;
        (new != old).then(|| (*at, new.clone()))
    };
    before.iter().filter_map(differs).collect()
}

/// The same shared state, all threads idle and all locks free.
pub fn at_rest(program: &Program, state: &State) -> State {
    let mut rest = state.clone();
    rest.threads.fill(State::idle_thread(program));
    for (value, declared) in rest.shared.iter_mut().zip(&program.shared) {
        free(value, &declared.ty);
    }
    for object in &mut rest.heap {
        let object = Arc::make_mut(object);
        for (value, declared) in object.fields.iter_mut().zip(&program.structs[object.of].fields) {
            free(value, &declared.ty);
        }
    }
    rest
}

fn free(value: &mut Value, ty: &Type) {
    match (ty, value) {
        (Type::Lock, lock) => *lock = Value::Null,
        (Type::Array(item, _), Value::List(values)) => {
            Arc::make_mut(values).iter_mut().for_each(|value| free(value, item));
        }
        _ => {}
    }
}
