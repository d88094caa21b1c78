//! Registers whose written values are all different, with reads, writes and compare-and-swap.
//!
//! What a successful `cas` replaced is in its argument, so values form chains ([`chain`](super::chain)), and the rest is to put
//! the chains in order ([`zone`](super::zone)). A `cas` that answered `false` only needs an instant at which the register
//! holds something else: it is put into the order afterwards ([`Order`]).

use super::chain::{Cell, NONE, Role, Unloaded};
use super::chain_fault::{close, violation};
use super::sentence::{Sentences, not_applicable};
use super::zone;
use crate::history::{Argument, History, NEVER, OpId, Rank};
use crate::value_table::ValueId;
use crate::verdict::{Limits, Monitored, NotApplicable, Verdict, Violation, Witness};
use linchpin_spec::{CasRegister, Spec, Value};

/// Judges a history of a `register` or a `cas-register` that starts from `init`.
///
/// Exact if no value is written twice (not applicable otherwise), pending operations and deadlines included, and if no `cas` answered
/// `false`. With failed ones it may have to give up: whether there is an order that leaves room for them depends on
/// more than the chains.
pub fn check(history: &History, init: &Value, limits: &Limits) -> Monitored {
    let specification = CasRegister::default();
    let say = Sentences::new(history, specification.operations());
    if history.operations.len() >= zone::MOST {
        return not_applicable("the history is too long");
    }
    let mut failed = Vec::new();
    for id in 0..history.operations.len() as OpId {
        match action(history, id) {
            Some(Action::Does(_)) => {}
            Some(Action::Misses(_)) => failed.push(id),
            None => {
                let what = say.operation(id);
                return not_applicable(format!("{what} is not an operation of a register"));
            }
        }
    }
    if let Some(reason) = limits.exceeded(56 * history.operations.len()) {
        return Ok(Verdict::Inconclusive(reason));
    }
    let role = |id| match action(history, id) {
        Some(Action::Does(role)) => role,
        _ => Role::Nothing,
    };
    let count = history.values.len();
    let initial = history.values.find(init).map_or(count, ValueId::index) as u32;
    let mut cell = Cell::new(history, role, count + 1);
    match cell.load(0..history.operations.len() as OpId, initial) {
        Ok(()) => {}
        Err(Unloaded::Repeated(value)) => {
            let value = if value == initial { init } else { history.values.get(ValueId(value)) };
            return not_applicable(format!("the value {value} is written more than once"));
        }
        Err(Unloaded::Fault(fault)) => {
            return Ok(Verdict::Violated(violation(&cell, &say, fault, false)));
        }
    }
    let mut order = Vec::with_capacity(history.operations.len());
    match zone::arrange(&cell, &[], false) {
        Ok(units) => zone::push(&cell, &units, &mut order),
        Err(fault) => return Ok(Verdict::Violated(violation(&cell, &say, fault, false))),
    }
    match place(&cell, order, &failed) {
        Ok(order) => Ok(Verdict::Holds(Witness { order })),
        Err(_) => explain_failed(&cell, &say, &failed),
    }
}

/// What an operation does to a register.
enum Action {
    Does(Role),
    /// A `cas` that did not find this value.
    Misses(u32),
}

fn action(history: &History, id: OpId) -> Option<Action> {
    let operation = &history.operations[id as usize];
    let role = match (operation.operation as usize, operation.argument) {
        (CasRegister::WRITE, Argument::One(value)) => Role::Write(value.0),
        (CasRegister::READ, _) => match (operation.completed, operation.response) {
            (true, Argument::One(value)) => Role::Read(value.0),
            (true, _) => return None,
            _ => Role::Nothing,
        },
        (CasRegister::CAS, Argument::Two(old, new)) => {
            match (operation.completed, operation.response) {
                (true, Argument::One(ValueId::FALSE)) => return Some(Action::Misses(old.0)),
                (true, Argument::One(ValueId::TRUE)) if old == new => Role::Read(old.0),
                (true, Argument::One(ValueId::TRUE)) => Role::Swap(old.0, new.0),
                (true, _) => return None,
                (false, _) if old == new => Role::Nothing,
                (false, _) => Role::Swap(old.0, new.0),
            }
        }
        _ => return None,
    };
    Some(Action::Does(role))
}

fn missed(history: &History, id: OpId) -> u32 {
    match action(history, id) {
        Some(Action::Misses(value)) => value,
        _ => NONE,
    }
}

/// Puts each failed `cas` at the first place in the order where it may be and the register holds something else than it
/// expected. The first that has none is the error.
fn place<R: Fn(OpId) -> Role>(
    cell: &Cell<R>,
    order: Vec<OpId>,
    failed: &[OpId],
) -> Result<Vec<OpId>, OpId> {
    if failed.is_empty() {
        return Ok(order);
    }
    let places = Order::new(cell, &order);
    let mut by_return = failed.to_vec();
    by_return.sort_unstable_by_key(|id| cell.returned(*id));
    let mut place_of = vec![0u32; failed.len()];
    let (mut returned, mut earliest, mut at_least) = (0, 0, 0);
    let mut placed: Vec<u64> = Vec::with_capacity(failed.len());
    for (index, id) in failed.iter().enumerate() {
        while places.first_return[earliest] < cell.invoked(*id) {
            earliest += 1;
        }
        // Those that returned before this one was called are before it.
        while cell.returned(by_return[returned]) < cell.invoked(*id) {
            let other = failed.binary_search(&by_return[returned]).unwrap_or(0);
            at_least = at_least.max(place_of[other]);
            returned += 1;
        }
        let mut place = (earliest as u32).max(at_least);
        if places.value[place as usize] == missed(cell.history, *id) {
            place = places.until[place as usize];
        }
        if place == NONE || places.last_call[place as usize] > cell.returned(*id) {
            return Err(*id);
        }
        place_of[index] = place;
        placed.push(u64::from(place) << 32 | u64::from(*id));
    }
    placed.sort_unstable();
    let mut placed = placed.into_iter().peekable();
    let mut all = Vec::with_capacity(order.len() + failed.len());
    for at in 0..=order.len() {
        while let Some(key) = placed.next_if(|key| (key >> 32) as usize == at) {
            all.push(key as u32);
        }
        all.extend(order.get(at));
    }
    Ok(all)
}

/// The places between the operations of an order, from before the first to after the last.
struct Order {
    /// The value that the register holds there.
    value: Vec<u32>,
    /// The next place at which it holds another one.
    until: Vec<u32>,
    /// The last call before the place.
    last_call: Vec<Rank>,
    /// The first return after the place.
    first_return: Vec<Rank>,
}

impl Order {
    fn new<R: Fn(OpId) -> Role>(cell: &Cell<R>, order: &[OpId]) -> Order {
        let mut value = vec![cell.initial];
        let mut last_call = vec![0];
        for (at, id) in order.iter().enumerate() {
            value.push(match (cell.role)(*id) {
                Role::Write(value) | Role::Swap(_, value) => value,
                _ => value[at],
            });
            last_call.push(cell.invoked(*id).max(last_call[at]));
        }
        let mut until = vec![NONE; value.len()];
        let mut first_return = vec![NEVER; value.len()];
        for at in (0..order.len()).rev() {
            let changes = value[at + 1] != value[at];
            until[at] = if changes { at as u32 + 1 } else { until[at + 1] };
            first_return[at] = cell.returned(order[at]).min(first_return[at + 1]);
        }
        Order { value, until, last_call, first_return }
    }
}

/// Looks for a failed `cas` during all of which the register is certain to hold the value it expected.
fn explain_failed<R: Fn(OpId) -> Role>(
    cell: &Cell<R>,
    say: &Sentences,
    failed: &[OpId],
) -> Result<Verdict, NotApplicable> {
    let certain = Certain::new(cell);
    for id in failed {
        let value = missed(cell.history, *id) as usize;
        let (written, kept) = (certain.written[value], certain.kept[value]);
        let is_initial = value as u32 == cell.initial;
        if is_initial || (written != NONE && cell.returned(written) < cell.invoked(*id)) {
            if kept == NONE || cell.invoked(kept) < cell.returned(*id) {
                continue;
            }
            let mut because = Vec::new();
            match is_initial {
                true => because.push("it was the initial value".to_owned()),
                false => because.push(format!("{} had returned before", say.operation(written))),
            }
            because.push(format!("{} was called only after it", say.operation(kept)));
            let explanation = format!(
                "{} failed although the register held the value it expected: {}",
                say.operation(*id),
                because.join(" and ")
            );
            let mut seeds = vec![*id, kept];
            seeds.push(if is_initial { NONE } else { written });
            let core = close(cell, seeds);
            return Ok(Verdict::Violated(Violation { core, explanation, at: None }));
        }
    }
    not_applicable(format!(
        "no simple order leaves room for all {} calls of cas that answered false",
        failed.len()
    ))
}

/// For each value, from which return to which call the register certainly holds it.
struct Certain {
    /// The operation that shows that the value had been written, when it returned.
    written: Vec<OpId>,
    /// The operation that shows that the value had not yet been replaced, when it was called.
    kept: Vec<OpId>,
}

impl Certain {
    fn new<R: Fn(OpId) -> Role>(cell: &Cell<R>) -> Certain {
        let mut written = vec![NONE; cell.entries.len()];
        let mut kept = vec![NONE; cell.entries.len()];
        let mut chain = Vec::new();
        for block in &cell.blocks {
            chain.clear();
            let mut value = block.root;
            loop {
                chain.push(value);
                match cell.entries[value as usize].next {
                    NONE => break,
                    next => match (cell.role)(next) {
                        Role::Swap(_, to) => value = to,
                        _ => break,
                    },
                }
            }
            let later = |one: OpId, other: OpId| match (one, other) {
                (NONE, id) | (id, NONE) => id,
                (one, other) => one.max(other),
            };
            let mut latest = NONE;
            for value in &chain {
                let entry = &cell.entries[*value as usize];
                latest = later(latest, later(entry.writer, entry.last_read));
                latest = later(latest, entry.next);
                kept[*value as usize] = latest;
            }
            let sooner = |one: OpId, other: OpId| match (one, other) {
                (NONE, id) | (id, NONE) => id,
                (one, other) if cell.returned(one) <= cell.returned(other) => one,
                (_, other) => other,
            };
            let mut first = NONE;
            for value in chain.iter().rev() {
                let entry = &cell.entries[*value as usize];
                first = sooner(first, sooner(entry.writer, entry.first_read));
                written[*value as usize] = first;
            }
        }
        Certain { written, kept }
    }
}
