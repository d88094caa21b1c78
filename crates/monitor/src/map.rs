//! Maps in which no value is put twice under the same key.
//!
//! A map is the product of its keys. Under one key each `put` and `remove` answers what it
//! replaced, so the values form chains (`chain.rs`) that begin with a `put` over nothing and end
//! with a `remove`. Chains lie one after the other (`zone.rs`); what found nothing lies between
//! them, and a chain that no operation ended is the last.

use super::chain::{Cell, NONE, Role, Unloaded};
use super::chain_fault::violation;
use super::map_choice::{Choices, Chosen, has_pending_root};
use super::poll::{Halt, StopPoll, StopReason};
use super::{timeline, zone};
use linchpin_history_data::{
    Argument, History, Judgement, Monitored, OpId, Sentences, ValueId, Violation, Witness,
    not_applicable,
};
use linchpin_spec::{Call, Map, Spec, Value};
use linchpin_verdict::Limits;
use std::collections::BTreeMap;

/// Judges a history of a [`Map`] that starts with the entries of `init` (a map).
///
/// Exact if no value is put twice under one key (not applicable otherwise). A pending `put` whose
/// value was found must have taken effect, but does not say over what, and a pending `remove` may
/// have ended any chain: where the obvious choices fail and there are too many others, it does not
/// apply either.
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
    let poll = StopPoll::new(limits);
    let asked = poll.ask(60 * history.operations.len());
    match asked.and_then(|()| poll.find(history, |id| role(history, id).is_none())) {
        Ok(None) => {}
        Ok(Some(id)) => {
            let what = say.operation(id);
            return not_applicable(format!("{what} is not an operation of a map"));
        }
        Err(stopped) => return Ok(stopped.into()),
    }
    let (sorted, ends) = match by_key(history, &poll) {
        Ok(keys) => keys,
        Err(stopped) => return Ok(stopped.into()),
    };
    let count = history.values.len();
    let mut cell =
        Cell::new(history, |id| role(history, id).unwrap_or(Role::Nothing), count + 1, &poll);
    let (mut order, mut order_ends) = (Vec::with_capacity(sorted.len()), Vec::new());
    let (mut begin, mut refused) = (0, None);
    for end in ends {
        if let Err(stopped) = poll.step() {
            return Ok(stopped.into());
        }
        let operations = &sorted[begin..end];
        begin = end;
        let Some(first) = operations.first() else {
            continue;
        };
        let key = history.values.get(ValueId(key(history, *first) as u32));
        let initial = match value_at_start(&specification, &key) {
            Value::Null => NONE,
            value => history.values.find(&value).map_or(count, ValueId::index) as u32,
        };
        match check_key(&mut cell, &say, operations, initial, &mut order) {
            Ok(()) => order_ends.push(order.len()),
            Err(Failed::Violated(violation)) => return Ok(Judgement::Violated(violation)),
            Err(Failed::Stopped(stopped)) => return Ok(stopped.into()),
            // why go on: another key may be violated beyond doubt.
            Err(Failed::Refused(why)) => {
                refused.get_or_insert(format!("under the key {key}, {why}"));
            }
        }
    }
    if let Some(reason) = refused {
        return not_applicable(reason);
    }
    let order = timeline::interleave(order, &order_ends, history.operations.len(), &poll);
    Ok(order.map_or_else(Judgement::from, |order| Judgement::Holds(Witness { order })))
}

enum Failed {
    Violated(Violation),
    Refused(String),
    Stopped(StopReason),
}

impl From<StopReason> for Failed {
    fn from(stopped: StopReason) -> Failed {
        Failed::Stopped(stopped)
    }
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
        Err(Unloaded::Stopped(stopped)) => return Err(stopped.into()),
        Err(Unloaded::Fault(fault)) => {
            return Err(Failed::Violated(violation(cell, say, fault, false)));
        }
    }
    let is_vacant = |id: &OpId| (cell.role)(*id) == Role::Vacant;
    let vacant: Vec<OpId> = operations.iter().copied().filter(is_vacant).collect();
    let fault = match zone::arrange(cell, &vacant, true) {
        Ok(units) => {
            zone::push(cell, &units, order)?;
            return Ok(());
        }
        Err(Halt::Stopped(stopped)) => return Err(stopped.into()),
        Err(Halt::Fault(fault)) => fault,
    };
    let removers = pending_removers(history, operations);
    let guessed = (0..cell.blocks.len()).any(|index| has_pending_root(cell, index));
    if removers.is_empty() && !guessed {
        return Err(Failed::Violated(violation(cell, say, fault, true)));
    }
    // Whatever the pending operations did, the blocks have to be in some order.
    let units = match zone::arrange(cell, &vacant, false) {
        Ok(units) => units,
        Err(Halt::Stopped(stopped)) => return Err(stopped.into()),
        Err(Halt::Fault(fault)) => {
            return Err(Failed::Violated(violation(cell, say, fault, false)));
        }
    };
    match Choices::new(cell, &vacant, &removers).find(&units) {
        Chosen::Explained(units) => {
            zone::push(cell, &units, order)?;
            Ok(())
        }
        Chosen::Stopped(stopped) => Err(stopped.into()),
        Chosen::TooMany => Err(Failed::Refused(
            "it depends on what many operations without an answer did".to_owned(),
        )),
        Chosen::Impossible => {
            let key = operations.first().map_or(0, |first| key(history, *first));
            let explanation = format!(
                "whichever of the operations without an answer took effect, no order explains the answers under the key {}",
                history.values.get(ValueId(key as u32))
            );
            let core = operations.to_vec();
            Err(Failed::Violated(Violation { core, blamed: Vec::new(), explanation, at: None }))
        }
    }
}

/// The pending operations that empty the key.
fn pending_removers(history: &History, operations: &[OpId]) -> Vec<OpId> {
    let empties = |id: &OpId| {
        let operation = &history[*id];
        let null = matches!(operation.argument, Argument::Two(_, ValueId::NULL));
        !operation.completed && (usize::from(operation.operation) == Map::REMOVE || null)
    };
    operations.iter().copied().filter(empties).collect()
}

/// What an operation does to its key; `None` if it is no operation of a map. Putting `null` is
/// removing.
fn role(history: &History, id: OpId) -> Option<Role> {
    let operation = &history[id];
    let found = match (operation.completed, operation.response) {
        (false, _) => None,
        (true, Argument::One(value)) => Some(value),
        (true, _) => return None,
    };
    let new = match (usize::from(operation.operation), operation.argument) {
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
    match history[id].argument {
        Argument::One(key) | Argument::Two(key, _) => key.index(),
        _ => 0,
    }
}

/// What is under a key before the first operation.
fn value_at_start(map: &Map, key: &Value) -> Value {
    let get = Call { operation: Map::GET, argument: key.clone() };
    map.apply(&map.initial(), &get, None).pop().map_or(Value::Null, |outcome| outcome.response)
}

/// The operations of each key, in the order of their invocations, one key after the other, and
/// where each ends.
fn by_key(history: &History, poll: &StopPoll) -> Result<(Vec<OpId>, Vec<usize>), StopReason> {
    let mut ends = vec![0; history.values.len() + 1];
    for id in history.ids() {
        poll.step()?;
        ends[key(history, id) + 1] += 1;
    }
    for at in 1..ends.len() {
        poll.step()?;
        ends[at] += ends[at - 1];
    }
    let mut sorted = vec![OpId::new(0); history.operations.len()];
    for id in history.ids() {
        poll.step()?;
        let next = &mut ends[key(history, id)];
        sorted[*next] = id;
        *next += 1;
    }
    ends.pop();
    Ok((sorted, ends))
}
