//! Which operations cannot matter to a core.
//!
//! If a history is linearizable, then so is what remains after leaving out
//!
//! - every operation called after some event (with what had not returned by then as pending),
//! - an operation that changes nothing: take it out of the witness,
//! - every operation on some values of a collection, on some elements of a set, on some keys of a
//!   map, or with some values of a register (or of a place of a snapshot): take them out of the
//!   witness, and the others still find what they found. (Not so where an answer says what a
//!   register is *not*: a failed `cas`.)
//! - every transaction that writes nothing which the core read: what the core read is still the
//!   last that was written there; or that appends nothing which the core read, for then it comes
//!   after all that read the list.
//!
//! So if what is left by such omissions is not linearizable, neither is the history.

use crate::{Budget, Operation};
use linchpin_spec::{Spec, Value};
use std::collections::BTreeSet;

/// The clock is looked at after so many operations.
const AT_ONCE: usize = 1 << 10;

/// The operations outside the core that could explain it.
pub(crate) fn context<S: Spec + ?Sized>(
    spec: &S,
    spec_name: &str,
    history: &[Operation],
    core: &[usize],
    cut: u64,
    budget: &Budget,
) -> Option<Vec<usize>> {
    let names: Vec<&str> = spec.operations().iter().map(|s| s.name.as_str()).collect();
    let touched_by =
        |id: usize| touches(spec_name, names[history[id].call.operation], &history[id]);
    let mut kept: BTreeSet<usize> = core.iter().copied().collect();
    let mut touched: BTreeSet<Value> = BTreeSet::new();
    let mut by_value = true;
    for id in core {
        touched.extend(found(spec_name, names[history[*id].call.operation], &history[*id]));
        if matches!(spec_name, "multi-register" | "list-append") {
            touched.extend(history[*id].response.iter().flat_map(accessed));
        }
        match touched_by(*id) {
            Touched::Values(values) | Touched::Writes(values) | Touched::Reads(values) => {
                touched.extend(values);
            }
            // Which value it takes is open: it is in the core, so it may take any.
            Touched::Nothing | Touched::Anything => {}
            Touched::Observes | Touched::Everything => by_value = false,
        }
    }
    // What is kept may need what touches its own values, and so on: until nothing more is needed.
    loop {
        let before = kept.len();
        for (id, operation) in history.iter().enumerate() {
            if id % AT_ONCE == 0 && budget.is_over() {
                return None;
            }
            if kept.contains(&id) || operation.invoked > cut {
                continue;
            }
            match touched_by(id) {
                Touched::Nothing | Touched::Observes | Touched::Reads(_) => {}
                Touched::Values(values) => {
                    if !by_value || values.iter().any(|value| touched.contains(value)) {
                        kept.insert(id);
                        touched.extend(values);
                    }
                }
                Touched::Writes(values) => {
                    if !by_value || values.iter().any(|value| touched.contains(value)) {
                        kept.insert(id);
                    }
                }
                Touched::Anything | Touched::Everything => {
                    kept.insert(id);
                }
            }
        }
        if kept.len() == before {
            break;
        }
    }
    let in_core: BTreeSet<usize> = core.iter().copied().collect();
    Some(kept.difference(&in_core).copied().collect())
}

/// Which operations never change anything, with the answer that they gave.
pub(crate) fn observers<S: Spec + ?Sized>(
    spec: &S,
    spec_name: &str,
    operations: &[Operation],
) -> Vec<bool> {
    let observes = |operation: &Operation| {
        let name = spec.operations()[operation.call.operation].name.as_str();
        match (spec_name, name) {
            ("register" | "cas-register" | "counter" | "grow-set", "read")
            | ("queue" | "stack", "peek")
            | ("set", "contains")
            | ("map" | "kv", "get")
            | ("mwcas", "mwread")
            | ("snapshot", "scan")
            | ("snzi", "query")
            | ("mailbox", "check") => true,
            ("multi-register" | "list-append", "txn") => {
                operation.call.argument.as_list().is_some_and(|accesses| accesses.iter().all(reads))
            }
            ("cas-register", "cas") => operation.response == Some(Value::Bool(false)),
            ("set", "add" | "remove") => operation.response == Some(Value::Bool(false)),
            ("map", "remove") => operation.response == Some(Value::Null),
            ("mwcas", "mwcas") => operation.response != Some(Value::Bool(true)),
            _ => false,
        }
    };
    operations.iter().map(|operation| operation.is_completed() && observes(operation)).collect()
}

/// Whether an element of a transaction reads.
fn reads(access: &Value) -> bool {
    let kind = access.as_list().and_then(|access| access.first());
    matches!(kind, Some(Value::Str(kind)) if matches!(&**kind, "r" | "read"))
}

/// The registers of a transaction, each with the value that is read or written there; of lists,
/// each with every element.
fn accessed(transaction: &Value) -> impl Iterator<Item = Value> {
    let accesses = transaction.as_list().unwrap_or_default().iter();
    accesses.filter_map(|access| access.as_list()?.get(1..3)).flat_map(|access| {
        let elements = access[1].as_list().unwrap_or_default().iter();
        let element = |value: &Value| Value::list([access[0].clone(), value.clone()]);
        elements.map(element).chain([Value::list(access.iter().cloned())]).collect::<Vec<_>>()
    })
}

/// What an operation has to do with.
enum Touched {
    /// It changes nothing, and its answer does not depend on what else is there.
    Nothing,
    /// It changes nothing, but its answer depends on the state as a whole.
    Observes,
    /// Only these values (elements, keys).
    Values(Vec<Value>),
    /// Only these values of registers, which it writes whatever was there before.
    Writes(Vec<Value>),
    /// It changes nothing, and saw these values.
    Reads(Vec<Value>),
    /// Some value, not known which: a removal that did not return.
    Anything,
    /// The state as a whole.
    Everything,
}

/// What an operation of a map found: the key and its value.
fn found(spec_name: &str, name: &str, operation: &Operation) -> Option<Value> {
    let key = match (name, &operation.call.argument) {
        ("put", Value::List(items)) => items.first()?,
        (_, key) => key,
    };
    let value = operation.response.as_ref().filter(|_| spec_name == "map")?;
    Some(Value::list([key.clone(), value.clone()]))
}

fn touches(spec_name: &str, name: &str, operation: &Operation) -> Touched {
    let argument = || operation.call.argument.clone();
    let part = |at: usize| match &operation.call.argument {
        Value::List(items) => items.get(at).cloned().unwrap_or_default(),
        other => other.clone(),
    };
    let found = |pending: Touched| match &operation.response {
        Some(Value::Null) => Touched::Nothing,
        Some(value) => Touched::Values(vec![value.clone()]),
        None => pending,
    };
    match (spec_name, name) {
        (
            "queue" | "stack" | "priority-queue" | "unordered-queue",
            "enqueue" | "push" | "insert",
        ) => Touched::Values(vec![argument()]),
        ("queue" | "stack", "peek") => found(Touched::Nothing),
        ("queue" | "stack" | "priority-queue" | "unordered-queue", _) => found(Touched::Anything),
        // With the answer false, `add` and `remove` found nothing to do.
        ("set", "contains") => Touched::Reads(vec![argument()]),
        ("set", _) if operation.response == Some(Value::Bool(false)) => {
            Touched::Reads(vec![argument()])
        }
        ("set", _) => Touched::Values(vec![argument()]),
        ("kv", "put" | "append") => Touched::Values(vec![part(0)]),
        ("kv", _) => Touched::Reads(vec![argument()]),
        // Each key of a map is a register. `put` leaves a value there whatever it found, `remove`
        // leaves nothing.
        ("map", "put") => Touched::Values(vec![Value::list([part(0), part(1)])]),
        ("map", "remove") if operation.response != Some(Value::Null) => {
            Touched::Values(vec![Value::list([argument(), Value::Null])])
        }
        ("map", _) => Touched::Reads(Vec::new()),
        ("register" | "cas-register", "write") => Touched::Values(vec![argument()]),
        ("register" | "cas-register", "read") => match &operation.response {
            Some(value) => Touched::Values(vec![value.clone()]),
            None => Touched::Nothing,
        },
        ("cas-register", "cas") if operation.response != Some(Value::Bool(false)) => {
            Touched::Values(vec![part(0), part(1)])
        }
        ("cas-register", "cas")
        | ("counter", "read")
        | ("mwcas", "mwread")
        | ("snzi", "query")
        | ("mailbox", "check") => Touched::Observes,
        ("mwcas", "mwcas")
            if operation.is_completed() && operation.response != Some(Value::Bool(true)) =>
        {
            Touched::Observes
        }
        ("multi-register" | "list-append", "txn") => {
            let accesses = operation.call.argument.as_list().unwrap_or_default().iter();
            let writes = accesses.filter(|access| !reads(access)).cloned();
            Touched::Writes(accessed(&Value::list(writes)).collect())
        }
        // Each place of a snapshot is a register.
        ("snapshot", "update") => Touched::Values(vec![argument()]),
        ("snapshot", "scan") => match &operation.response {
            Some(Value::List(seen)) => {
                let places = seen.iter().enumerate();
                let place = |(at, value): (usize, &Value)| {
                    Value::list([Value::Int(at as i64), value.clone()])
                };
                Touched::Reads(places.map(place).collect())
            }
            _ => Touched::Nothing,
        },
        _ => Touched::Everything,
    }
}
