//! Sets that only grow and are read as a whole, by what two reads, or a read and an `add`, say
//! about one or two values.
//!
//! Each of these is impossible, whatever else happened: a read with a value twice, or without one
//! that was there at the start, or without one that was added before it was called; a read with a
//! value that no `add` called before its return could bring; a read without what an earlier one
//! had; two reads each of which has something that the other lacks; a read with a value all `add`s
//! of which were called after an `add` of another value had returned, which it lacks.

use crate::Operation;
use linchpin_spec::{Spec, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A read that returned.
struct Read<'a> {
    operation: &'a Operation,
    seen: BTreeSet<&'a Value>,
}

/// Whether the core cannot be explained. The context has every `add` that could explain it.
pub(crate) fn no_order<S: Spec + ?Sized>(
    spec: &S,
    core: &[Operation],
    context: &[Operation],
) -> bool {
    let (Some(add), Some(read)) = (spec.operation("add"), spec.operation("read")) else {
        return false;
    };
    let Some(start) = members_at_start(spec, read) else { return false };
    let mut first_add: BTreeMap<&Value, u64> = BTreeMap::new();
    for operation in core.iter().chain(context).filter(|it| it.call.operation == add) {
        let first = first_add.entry(&operation.call.argument).or_insert(operation.invoked);
        *first = operation.invoked.min(*first);
    }
    let added: Vec<&Operation> =
        core.iter().filter(|it| it.call.operation == add && it.is_completed()).collect();
    let mut reads = Vec::new();
    for operation in core.iter().filter(|it| it.call.operation == read) {
        let Some(Value::List(list)) = &operation.response else { continue };
        let seen: BTreeSet<&Value> = list.iter().collect();
        if seen.len() < list.len() {
            return true;
        }
        reads.push(Read { operation, seen });
    }
    let is_wrong = |read: &Read<'_>| {
        let first_add = |value: &Value| first_add.get(value).copied().unwrap_or(u64::MAX);
        let lacks = |value: &Value| !read.seen.contains(value);
        let new = read.seen.iter().filter(|value| !start.contains(**value));
        start.iter().any(lacks)
            || new.clone().any(|value| first_add(value) > read.operation.returned)
            || added.iter().filter(|add| lacks(&add.call.argument)).any(|add| {
                add.returned < read.operation.invoked
                    || new.clone().any(|value| add.returned < first_add(value))
            })
    };
    reads.iter().any(is_wrong) || contradict(&reads)
}

/// Whether two reads contradict each other.
fn contradict(reads: &[Read<'_>]) -> bool {
    let has_more = |one: &Read<'_>, two: &Read<'_>| !one.seen.is_subset(&two.seen);
    reads.iter().enumerate().any(|(at, one)| {
        reads[..at].iter().any(|two| {
            let earlier = |one: &Read<'_>, two: &Read<'_>| {
                one.operation.returned < two.operation.invoked && has_more(one, two)
            };
            earlier(one, two) || earlier(two, one) || (has_more(one, two) && has_more(two, one))
        })
    })
}

/// What a read sees of the initial state.
fn members_at_start<S: Spec + ?Sized>(spec: &S, read: usize) -> Option<BTreeSet<Value>> {
    let call = linchpin_spec::Call { operation: read, argument: Value::Null };
    let outcome = spec.apply(&spec.initial(), &call, None).into_iter().next()?;
    Some(outcome.response.as_list()?.iter().cloned().collect())
}
