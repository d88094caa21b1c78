//! Maps in which no value is put twice under the same key.
//!
//! A map is the product of its keys. Under one key each `put` and `remove` answers what it replaced, so the values form chains
//! ([`chain`](super::chain)) that begin with a `put` over nothing and end with a `remove`. Chains lie one after the other
//! ([`zone`](super::zone)); what found nothing lies between them, and a chain that nobody ended is the last.

use super::chain::{Cell, NONE, Role, Unloaded};
use super::chain_fault::violation;
use super::sentence::{Sentences, not_applicable};
use super::{timeline, zone};
use crate::history::{Argument, History, OpId};
use crate::value_table::ValueId;
use crate::verdict::{Limits, Monitored, Verdict, Violation, Witness};
use linchpin_spec::{Call, Map, Spec, Value};
use std::collections::BTreeMap;

/// Judges a history of a [`Map`] that starts with the entries of `init` (a map).
///
/// Exact if no value is put twice under one key (not applicable otherwise) and no pending operation has to be used to explain the
/// answers. A pending `put` whose value was found must have taken effect, but does not say over what, and a pending `remove` may have
/// ended any chain: the obvious choices are tried, and where they fail the answer may be "not applicable".
pub fn check(history: &History, init: &Value, limits: &Limits) -> Monitored {
    let given = match init {
        Value::Map(given) => BTreeMap::clone(given),
        Value::Null => BTreeMap::new(),
        _ => return not_applicable(format!("{init} is not a map")),
    };
    let specification = Map::new(given);
    let say = Sentences::new(history, specification.operations());
    if history.operations.len() >= zone::MOST {
        return not_applicable("the history is too long");
    }
    for id in 0..history.operations.len() as OpId {
        if role(history, id).is_none() {
            let what = say.operation(id);
            return not_applicable(format!("{what} is not an operation of a map"));
        }
    }
    if let Some(reason) = limits.exceeded(60 * history.operations.len()) {
        return Ok(Verdict::Inconclusive(reason));
    }
    let (sorted, ends) = by_key(history);
    let count = history.values.len();
    let mut cell = Cell::new(history, |id| role(history, id).unwrap_or(Role::Nothing), count + 1);
    let (mut order, mut order_ends) = (Vec::with_capacity(sorted.len()), Vec::new());
    let (mut begin, mut refused) = (0, None);
    for end in ends {
        let operations = &sorted[begin..end];
        begin = end;
        let Some(first) = operations.first() else {
            continue;
        };
        let key = history.values.get(ValueId(key(history, *first) as u32));
        let initial = match value_at_start(&specification, key) {
            Value::Null => NONE,
            value => history.values.find(&value).map_or(count, ValueId::index) as u32,
        };
        match check_key(&mut cell, &say, operations, initial, &mut order) {
            Ok(()) => order_ends.push(order.len()),
            Err(Failed::Violated(violation)) => return Ok(Verdict::Violated(violation)),
            // why go on: another key may be violated beyond doubt.
            Err(Failed::Refused(why)) => {
                refused.get_or_insert(format!("under the key {key}, {why}"));
            }
        }
    }
    if let Some(reason) = refused {
        return not_applicable(reason);
    }
    let order = timeline::interleave(order, &order_ends, history.operations.len());
    Ok(Verdict::Holds(Witness { order }))
}

enum Failed {
    Violated(Violation),
    Refused(String),
}

fn check_key<R: Fn(OpId) -> Role>(
    cell: &mut Cell<R>,
    say: &Sentences,
    operations: &[OpId],
    initial: u32,
    order: &mut Vec<OpId>,
) -> Result<(), Failed> {
    let history = cell.history;
    match cell.load(operations.iter().copied(), initial) {
        Ok(()) => {}
        Err(Unloaded::Repeated(value)) => {
            let name = history.values.get(ValueId(value));
            return Err(Failed::Refused(format!("the value {name} is put more than once")));
        }
        Err(Unloaded::Fault(fault)) => {
            return Err(Failed::Violated(violation(cell, say, fault, false)));
        }
    }
    let is_vacant = |id: &OpId| (cell.role)(*id) == Role::Vacant;
    let vacant: Vec<OpId> = operations.iter().copied().filter(is_vacant).collect();
    let fault = match zone::arrange(cell, &vacant, true) {
        Ok(units) => {
            zone::push(cell, &units, order);
            return Ok(());
        }
        Err(fault) => fault,
    };
    let removers = pending_removers(history, operations);
    let guessed = (0..cell.blocks.len()).any(|index| has_pending_root(cell, index));
    if removers.is_empty() && !guessed {
        return Err(Failed::Violated(violation(cell, say, fault, true)));
    }
    // Whatever the pending operations did, the blocks have to be in some order.
    let units = match zone::arrange(cell, &vacant, false) {
        Ok(units) => units,
        Err(fault) => return Err(Failed::Violated(violation(cell, say, fault, false))),
    };
    let blocks = cell.blocks.clone();
    for (joins, stays) in [(true, true), (false, true), (false, false)] {
        cell.blocks.clone_from(&blocks);
        if choose(cell, &units, &removers, joins, stays)
            && let Ok(units) = zone::arrange(cell, &vacant, true)
        {
            zone::push(cell, &units, order);
            return Ok(());
        }
    }
    Err(Failed::Refused("it depends on what operations without an answer did".to_owned()))
}

/// Whether a block begins with a pending `put`, which may have replaced a value or not.
fn has_pending_root<R: Fn(OpId) -> Role>(cell: &Cell<R>, index: usize) -> bool {
    let writer = cell.entries[cell.blocks[index].root as usize].writer;
    writer != NONE && !cell.history.operations[writer as usize].completed
}

/// Chooses what pending operations did, in the obvious way: where a block that nobody ended is followed by one that begins
/// with a pending `put`, it went on there (if `joins`); the others are ended by the pending removers, the first by the first; the
/// last one `stays`. Whether the choice explains anything is to be seen.
fn choose<R: Fn(OpId) -> Role>(
    cell: &mut Cell<R>,
    units: &[zone::Unit],
    removers: &[OpId],
    joins: bool,
    stays: bool,
) -> bool {
    let mut removers = removers.iter();
    // The block that is open: where it began, and its last part.
    let mut open: Option<(usize, usize)> = None;
    for unit in units {
        if let Some((head, part)) = open.take() {
            match unit.block() {
                Ok(next) if joins && has_pending_root(cell, next) => {
                    if !join(cell, head, part, next) {
                        return false;
                    }
                    open = cell.blocks[next].open.then_some((head, next));
                    continue;
                }
                _ if !removers.next().is_some_and(|remover| end(cell, head, *remover)) => {
                    return false;
                }
                _ => {}
            }
        }
        open =
            unit.block().ok().filter(|index| cell.blocks[*index].open).map(|index| (index, index));
    }
    match open {
        Some((head, _)) if !stays => removers.next().is_some_and(|id| end(cell, head, *id)),
        _ => true,
    }
}

/// Lets the block `next` go on where `part`, the last part of `head`, ended. Not if it returned before the other was called.
fn join<R: Fn(OpId) -> Role>(cell: &mut Cell<R>, head: usize, part: usize, next: usize) -> bool {
    let (one, other) = (cell.blocks[head], cell.blocks[next]);
    if one.last != NONE && cell.returned(other.first) < cell.invoked(one.last) {
        return false;
    }
    cell.blocks[part].then = next as u32;
    cell.blocks[next].joined = true;
    let sooner = one.first == NONE || cell.returned(other.first) < cell.returned(one.first);
    let block = &mut cell.blocks[head];
    block.first = if sooner { other.first } else { one.first };
    block.last = if one.last == NONE { other.last } else { one.last.max(other.last) };
    (block.tail, block.open) = (other.tail, other.open);
    true
}

/// Lets a pending operation end a block. Not if it must have taken effect before the last of the block was called.
fn end<R: Fn(OpId) -> Role>(cell: &mut Cell<R>, index: usize, remover: OpId) -> bool {
    let block = cell.blocks[index];
    if block.last != NONE && cell.returned(remover) < cell.invoked(block.last) {
        return false;
    }
    let sooner = block.first == NONE || cell.returned(remover) < cell.returned(block.first);
    let block = &mut cell.blocks[index];
    (block.open, block.closer) = (false, remover);
    block.last = if block.last == NONE { remover } else { block.last.max(remover) };
    block.first = if sooner { remover } else { block.first };
    true
}

/// The pending operations that empty the key.
fn pending_removers(history: &History, operations: &[OpId]) -> Vec<OpId> {
    let empties = |id: &OpId| {
        let operation = &history.operations[*id as usize];
        let null = matches!(operation.argument, Argument::Two(_, ValueId::NULL));
        !operation.completed && (operation.operation as usize == Map::REMOVE || null)
    };
    operations.iter().copied().filter(empties).collect()
}

/// What an operation does to its key; `None` if it is no operation of a map. Putting `null` is removing.
fn role(history: &History, id: OpId) -> Option<Role> {
    let operation = &history.operations[id as usize];
    let found = match (operation.completed, operation.response) {
        (false, _) => None,
        (true, Argument::One(value)) => Some(value),
        (true, _) => return None,
    };
    let new = match (operation.operation as usize, operation.argument) {
        (Map::PUT, Argument::Two(_, value)) => value,
        (Map::REMOVE, Argument::One(_)) => ValueId::NULL,
        (Map::GET, Argument::One(_)) => {
            return Some(match found {
                None => Role::Nothing,
                Some(ValueId::NULL) => Role::Vacant,
                Some(value) => Role::Read(value.0),
            });
        }
        _ => return None,
    };
    Some(match (found, new) {
        (None, ValueId::NULL) => Role::Nothing,
        (Some(ValueId::NULL), ValueId::NULL) => Role::Vacant,
        (Some(found), ValueId::NULL) => Role::Close(found.0),
        (None | Some(ValueId::NULL), new) => Role::Write(new.0),
        (Some(found), new) => Role::Swap(found.0, new.0),
    })
}

fn key(history: &History, id: OpId) -> usize {
    match history.operations[id as usize].argument {
        Argument::One(key) | Argument::Two(key, _) => key.index(),
        _ => 0,
    }
}

/// What is under a key before the first operation.
fn value_at_start(map: &Map, key: &Value) -> Value {
    let get = Call { operation: Map::GET, argument: key.clone() };
    map.apply(&map.initial(), &get, None).pop().map_or(Value::Null, |outcome| outcome.response)
}

/// The operations of each key, in the order of their invocations, one key after the other, and where each ends.
fn by_key(history: &History) -> (Vec<OpId>, Vec<usize>) {
    let mut ends = vec![0; history.values.len() + 1];
    for id in 0..history.operations.len() as OpId {
        ends[key(history, id) + 1] += 1;
    }
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    let mut sorted = vec![0; history.operations.len()];
    for id in 0..history.operations.len() as OpId {
        let next = &mut ends[key(history, id)];
        sorted[*next] = id;
        *next += 1;
    }
    ends.pop();
    (sorted, ends)
}
