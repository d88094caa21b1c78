//! Registers whose written values are all different, with reads, writes and compare-and-swap.
//!
//! What a successful `cas` replaced is in its argument, so values form chains (`chain.rs`), and the
//! rest is to put the chains in order (`zone.rs`). A `cas` that answered `false` only needs an
//! instant at which the register holds something else (`miss.rs`).

use super::chain::{Cell, NONE, Role, Unloaded};
use super::chain_fault::{close, violation};
use super::poll::{Halt, StopPoll};
use super::{miss, zone};
use linchpin_history_data::{
    Argument, History, Judgement, Monitored, NotApplicable, OpId, Sentences, ValueId, Violation,
    Witness, not_applicable,
};
use linchpin_spec::{CasRegister, Spec, Value};
use linchpin_verdict::Limits;

/// Judges a history of a `register` or a `cas-register` that starts from `init`.
///
/// Exact if no value is written twice (not applicable otherwise), pending operations and deadlines
/// included, and if no `cas` answered `false`. With failed ones it may have to give up: whether
/// there is an order that leaves room for them depends on more than the chains.
pub fn check(history: &History, init: &Value, limits: &Limits) -> Monitored {
    let specification = CasRegister::default();
    let say = Sentences::new(history, specification.operations());
    if history.operations.len() >= zone::MOST {
        return not_applicable("the history is too long");
    }
    let poll = StopPoll::new(limits);
    if let Err(stopped) = poll.ask(56 * history.operations.len()) {
        return Ok(stopped.into());
    }
    let mut failed = Vec::new();
    for id in history.ids() {
        if let Err(stopped) = poll.step() {
            return Ok(stopped.into());
        }
        match action(history, id) {
            Some(Action::Does(_)) => {}
            Some(Action::Misses(_)) => failed.push(id),
            None => {
                let what = say.operation(id);
                return not_applicable(format!("{what} is not an operation of a register"));
            }
        }
    }
    let role = |id| match action(history, id) {
        Some(Action::Does(role)) => role,
        _ => Role::Nothing,
    };
    let count = history.values.len();
    let initial = history.values.find(init).map_or(count, ValueId::index) as u32;
    let mut cell = Cell::new(history, role, count + 1, &poll);
    match cell.load(history.ids(), initial) {
        Ok(()) => {}
        Err(Unloaded::Repeated(value)) => {
            let value = match value == initial {
                true => init.clone(),
                false => history.values.get(ValueId(value)),
            };
            return not_applicable(format!("the value {value} is written more than once"));
        }
        Err(Unloaded::Stopped(stopped)) => return Ok(stopped.into()),
        Err(Unloaded::Fault(fault)) => {
            return Ok(Judgement::Violated(violation(&cell, &say, fault, false)));
        }
    }
    let units = match zone::arrange(&cell, &[], false) {
        Ok(units) => units,
        Err(Halt::Stopped(stopped)) => return Ok(stopped.into()),
        Err(Halt::Fault(fault)) => {
            return Ok(Judgement::Violated(violation(&cell, &say, fault, false)));
        }
    };
    if failed.is_empty() {
        let mut order = Vec::with_capacity(history.operations.len());
        let pushed = zone::push(&cell, &units, &mut order);
        return Ok(pushed.map_or_else(Judgement::from, |()| Judgement::Holds(Witness { order })));
    }
    match miss::order(&cell, &units, |id| missed(history, id), &poll) {
        Ok(order) => Ok(Judgement::Holds(Witness { order })),
        Err(Halt::Stopped(stopped)) => Ok(stopped.into()),
        Err(Halt::Fault(stuck)) => explain_failed(&cell, &say, &failed, stuck),
    }
}

/// What an operation does to a register.
enum Action {
    Does(Role),
    /// A `cas` that did not find this value.
    Misses(u32),
}

fn action(history: &History, id: OpId) -> Option<Action> {
    let operation = &history[id];
    let role = match (usize::from(operation.operation), operation.argument) {
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

/// Looks for a failed `cas` during all of which the register is certain to hold the value it
/// expected.
fn explain_failed<R: Fn(OpId) -> Role>(
    cell: &Cell<R>,
    say: &Sentences,
    failed: &[OpId],
    stuck: miss::Unplaced,
) -> Result<Judgement, NotApplicable> {
    let certain = Certain::new(cell);
    for id in failed {
        let value = missed(cell.history, *id);
        let (written, kept) = (certain.written[value as usize], certain.kept[value as usize]);
        let is_initial = value == cell.initial;
        // From when on the register held it: from the start, or since this operation returned.
        let written = match is_initial {
            true => None,
            false => match written.filter(|by| cell.returned(*by) <= cell.invoked(*id)) {
                Some(by) => Some(by),
                None => continue,
            },
        };
        let mut seeds: Vec<OpId> = [*id].into_iter().chain(written).collect();
        let until = if let Some(kept) = kept.filter(|by| cell.invoked(*by) > cell.returned(*id)) {
            seeds.push(kept);
            format!("{} was called only after it returned", say.operation(kept))
        } else if stuck.0 == Some(*id)
            && let Some(others) = nothing_follows(cell, *id, value)
        {
            seeds.extend(others);
            "nothing that was called by then can have replaced the value".to_owned()
        } else {
            continue;
        };
        let since = match written {
            None => "it was the initial value".to_owned(),
            Some(by) => format!("{} had returned before it was called", say.operation(by)),
        };
        let explanation = format!(
            "{} failed although the register held the value it expected: {since}, and {until}",
            say.operation(*id)
        );
        let core = close(cell, seeds.clone());
        let violation = Violation { core, blamed: seeds, explanation, at: None };
        return Ok(Judgement::Violated(violation));
    }
    not_applicable(format!(
        "it is not clear whether there is room for all {} calls of cas that answered false",
        failed.len()
    ))
}

/// If nothing can have replaced `value` before the operation returned: what shows that all blocks
/// that had begun by then were before its own.
fn nothing_follows<R: Fn(OpId) -> Role>(cell: &Cell<R>, id: OpId, value: u32) -> Option<Vec<OpId>> {
    let entry = &cell.entries[value as usize];
    let own = match entry.block {
        NONE => return None,
        block => cell.blocks[block as usize],
    };
    if entry.next.is_some() {
        return None;
    }
    let mut shows = Vec::from_iter(own.last);
    let called = cell.history.ids().take_while(|other| cell.invoked(*other) < cell.returned(id));
    for other in called {
        let written = match (cell.role)(other) {
            Role::Write(written) => written,
            // A pending swap that no operation noticed may have done it.
            Role::Swap(from, to) if from == value && cell.entries[to as usize].block == NONE => {
                return None;
            }
            _ => continue,
        };
        match cell.entries[written as usize].block {
            NONE => return None,
            block => {
                let block = cell.blocks[block as usize];
                if block.root == own.root {
                    continue;
                }
                // Without a first return, or a last call, nothing is shown.
                let (first, last) = (block.first?, own.last?);
                if cell.returned(first) > cell.invoked(last) {
                    return None;
                }
                shows.push(first);
            }
        }
    }
    Some(shows)
}

/// For each value, from which return to which call the register certainly holds it.
struct Certain {
    /// The operation that shows that the value had been written, when it returned.
    written: Vec<Option<OpId>>,
    /// The operation that shows that the value had not yet been replaced, when it was called.
    kept: Vec<Option<OpId>>,
}

impl Certain {
    fn new<R: Fn(OpId) -> Role>(cell: &Cell<R>) -> Certain {
        let mut written = vec![None; cell.entries.len()];
        let mut kept = vec![None; cell.entries.len()];
        let mut chain = Vec::new();
        for block in &cell.blocks {
            chain.clear();
            let mut value = block.root;
            loop {
                chain.push(value);
                match cell.entries[value as usize].next {
                    None => break,
                    Some(next) => match (cell.role)(next) {
                        Role::Swap(_, to) => value = to,
                        _ => break,
                    },
                }
            }
            // INVARIANT: none is before all.
            let mut latest: Option<OpId> = None;
            for value in &chain {
                let entry = &cell.entries[*value as usize];
                latest = latest.max(entry.writer).max(entry.last_read).max(entry.next);
                kept[*value as usize] = latest;
            }
            let sooner = |one: Option<OpId>, other: Option<OpId>| match (one, other) {
                (None, id) | (id, None) => id,
                (Some(one), Some(other)) if cell.returned(one) <= cell.returned(other) => Some(one),
                (_, other) => other,
            };
            let mut first = None;
            for value in chain.iter().rev() {
                let entry = &cell.entries[*value as usize];
                first = sooner(first, sooner(entry.writer, entry.first_read));
                written[*value as usize] = first;
            }
        }
        Certain { written, kept }
    }
}
