//! Sets: one bit an element.
//!
//! A set is the product of its elements, so each is judged alone, by the rule of `bit.rs`, and the
//! orders are put together again. Values may repeat. `O(n log n)`, the logarithm being of how many
//! are in progress at once.

use super::bit::{Bit, BitConflict, Step};
use super::deadline::{self, has_deadline};
use super::poll::{Halt, StopPoll, StopReason};
use super::timeline::{self, Event, operation_of};
use linchpin_history_data::{
    Argument, History, Judgement, Monitored, OpId, Sentences, ValueId, Violation, Witness,
    not_applicable,
};
use linchpin_spec::{Set, Spec, Value};
use linchpin_verdict::Limits;

/// Judges a history of a [`Set`] that starts with the members `init` (a list or a set). Exact,
/// pending operations included, but where it depends on the deadlines of optional operations it may
/// not apply.
pub fn check(history: &History, init: &Value, limits: &Limits) -> Monitored {
    let specification = Set::default();
    let say = Sentences::new(history, specification.operations());
    let mut present = vec![false; history.values.len()];
    let mut include = |member: &Value| {
        if let Some(id) = history.values.find(member) {
            present[id.index()] = true;
        }
    };
    match init {
        Value::List(members) => members.iter().for_each(&mut include),
        Value::Set(members) => members.iter().for_each(&mut include),
        Value::Null => {}
        _ => return not_applicable(format!("{init} is not a list of members")),
    }
    let poll = StopPoll::new(limits);
    let asked = poll.ask(40 * history.operations.len());
    match asked.and_then(|()| poll.find(history, |id| step(history, id).is_none())) {
        Ok(None) => {}
        Ok(Some(id)) => {
            let what = say.operation(id);
            return not_applicable(format!("{what} is not an operation of a set"));
        }
        Err(stopped) => return Ok(stopped.into()),
    }
    let elements = match by_element(history, &poll) {
        Ok(elements) => elements,
        Err(stopped) => return Ok(stopped.into()),
    };
    deadline::judge(history, &say, &poll, |ignore| {
        let step = |id| match step(history, id) {
            Some(step) if !ignore || !has_deadline(history, id) => step,
            _ => Step::Nothing,
        };
        let bit = Bit::new(history, step, &poll);
        check_elements(history, &say, &elements, &present, bit, &poll)
            .unwrap_or_else(Judgement::from)
    })
}

fn check_elements<S: Fn(OpId) -> Step>(
    history: &History,
    say: &Sentences,
    (events, ends): &(Vec<Event>, Vec<usize>),
    present: &[bool],
    mut bit: Bit<S>,
    poll: &StopPoll,
) -> Result<Judgement, StopReason> {
    let mut order_ends = Vec::new();
    let mut begin = 0;
    for end in ends {
        poll.step()?;
        let element_events = &events[begin..*end];
        begin = *end;
        let Some(first) = element_events.first() else {
            continue;
        };
        let state = present[element(history, operation_of(*first))];
        match bit.run(element_events, state) {
            Ok(()) => {}
            Err(Halt::Stopped(stopped)) => return Err(stopped),
            Err(Halt::Fault(stuck)) => {
                let core = bit.core(element_events, stuck);
                return Ok(Judgement::Violated(violation(history, say, core, stuck)));
            }
        }
        order_ends.push(bit.order.len());
    }
    let order = timeline::interleave(bit.order, &order_ends, history.operations.len(), poll)?;
    Ok(Judgement::Holds(Witness { order }))
}

/// What an operation does to the bit of its element; `None` if it is no operation of a set.
fn step(history: &History, id: OpId) -> Option<Step> {
    let operation = &history[id];
    let Argument::One(_) = operation.argument else {
        return None;
    };
    let changed = match operation.response {
        _ if !operation.completed => None,
        Argument::One(ValueId::TRUE) => Some(true),
        Argument::One(ValueId::FALSE) => Some(false),
        _ => return None,
    };
    Some(match (usize::from(operation.operation), changed) {
        (Set::ADD, Some(false)) => Step::See(true),
        (Set::ADD, _) => Step::Flip(true),
        (Set::REMOVE, Some(false)) => Step::See(false),
        (Set::REMOVE, _) => Step::Flip(false),
        (Set::CONTAINS, Some(there)) => Step::See(there),
        (Set::CONTAINS, None) => Step::Nothing,
        _ => return None,
    })
}

fn element(history: &History, id: OpId) -> usize {
    match history[id].argument {
        Argument::One(value) => value.index(),
        _ => 0,
    }
}

/// The events of each element, in their order, one element after the other, and where each ends.
fn by_element(history: &History, poll: &StopPoll) -> Result<(Vec<Event>, Vec<usize>), StopReason> {
    let events = timeline::events(history, poll)?;
    let mut ends = vec![0; history.values.len() + 1];
    for event in &events {
        poll.step()?;
        ends[element(history, operation_of(*event)) + 1] += 1;
    }
    for at in 1..ends.len() {
        poll.step()?;
        ends[at] += ends[at - 1];
    }
    let mut sorted = vec![0; events.len()];
    for event in events {
        poll.step()?;
        let next = &mut ends[element(history, operation_of(event))];
        sorted[*next] = event;
        *next += 1;
    }
    ends.pop();
    Ok((sorted, ends))
}

fn violation(history: &History, say: &Sentences, core: Vec<OpId>, stuck: BitConflict) -> Violation {
    let operation = &history[stuck.operation];
    let value = history.value(operation.argument);
    let (call, state) = match stuck.needed {
        true => (format!("add({value})"), "in the set"),
        false => (format!("remove({value})"), "not in the set"),
    };
    let helps = |id: &&OpId| {
        **id != stuck.operation && step(history, **id) == Some(Step::Flip(stuck.needed))
    };
    let available = match core.iter().filter(helps).count() {
        0 => format!("no {call} that could see to that was called in time"),
        1 => format!("the one {call} that was called in time is needed earlier"),
        count => format!("the {count} calls of {call} that were made in time are needed earlier"),
    };
    let explanation = format!(
        "{} can only take effect while {value} is {state}, but {available}",
        say.operation(stuck.operation)
    );
    // Which event is the first is not known: what is in progress there is taken to do what it
    // answers later, and another element may be wrong before.
    Violation { core, blamed: vec![stuck.operation], explanation, at: None }
}
