//! Queues that promise no order, of which no `dequeue` answers that it is empty.
//!
//! Then each value is apart, and it cannot matter if it is there longer. So every `enqueue` may
//! take effect at its call and every `dequeue` at its return, where it must find its value: if it
//! does not, fewer `enqueue`s of the value were called by then than `dequeue`s of it have returned,
//! and no order helps. Values may repeat; linear.

use super::poll::{StopPoll, StopReason};
use super::timeline::{self, is_return, operation_of};
use linchpin_history_data::{
    Argument, History, Judgement, Monitored, OpId, Sentences, ValueId, Violation, Witness,
    not_applicable,
};
use linchpin_spec::{Spec, UnorderedQueue};
use linchpin_verdict::Limits;

/// Judges a history of an [`UnorderedQueue`] that starts with the values `initial`. Exact, pending
/// operations and deadlines included. Not applicable if a `dequeue` answers `null`.
pub fn check(history: &History, initial: &[ValueId], limits: &Limits) -> Monitored {
    let specification = UnorderedQueue::default();
    let say = Sentences::new(history, specification.operations());
    let poll = StopPoll::new(limits);
    let asked = poll.ask(40 * history.operations.len());
    match asked.and_then(|()| poll.find(history, |id| step(history, id).is_none())) {
        Ok(None) => {}
        Ok(Some(id)) => {
            let what = say.operation(id);
            return not_applicable(format!("{what} is not about one value"));
        }
        Err(stopped) => return Ok(stopped.into()),
    }
    Ok(walk(history, &say, initial, &poll).unwrap_or_else(Judgement::from))
}

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Enqueue(ValueId),
    Dequeue(ValueId),
    /// A `dequeue` that did not return, which is never needed.
    Nothing,
}

/// `None` if it cannot be judged by itself.
fn step(history: &History, id: OpId) -> Option<Step> {
    let operation = &history[id];
    match (usize::from(operation.operation), operation.argument, operation.response) {
        (UnorderedQueue::ENQUEUE, Argument::One(value), _) => Some(Step::Enqueue(value)),
        (UnorderedQueue::DEQUEUE, ..) if !operation.completed => Some(Step::Nothing),
        (UnorderedQueue::DEQUEUE, _, Argument::One(ValueId::NULL)) => None,
        (UnorderedQueue::DEQUEUE, _, Argument::One(value)) => Some(Step::Dequeue(value)),
        _ => None,
    }
}

fn walk(
    history: &History,
    say: &Sentences,
    initial: &[ValueId],
    poll: &StopPoll,
) -> Result<Judgement, StopReason> {
    let mut held = vec![0u32; history.values.len()];
    for value in initial {
        held[value.index()] += 1;
    }
    let mut order = Vec::with_capacity(history.operations.len());
    for event in timeline::events(history, poll)? {
        poll.step()?;
        let id = operation_of(event);
        match step(history, id) {
            Some(Step::Enqueue(value)) if !is_return(event) => held[value.index()] += 1,
            Some(Step::Dequeue(value)) if is_return(event) => {
                match held[value.index()].checked_sub(1) {
                    Some(left) => held[value.index()] = left,
                    None => return Ok(Judgement::Violated(violation(history, say, id, value))),
                }
            }
            _ => continue,
        }
        order.push(id);
    }
    Ok(Judgement::Holds(Witness { order }))
}

/// The `dequeue` found no value. The core is all that was done with that value by then.
fn violation(history: &History, say: &Sentences, stuck: OpId, value: ValueId) -> Violation {
    let returned = history[stuck].returned;
    let is_before = |id: &OpId| match step(history, *id) {
        Some(Step::Enqueue(other)) => other == value && history[*id].invoked < returned,
        Some(Step::Dequeue(other)) => other == value && history[*id].returned <= returned,
        _ => false,
    };
    let core: Vec<OpId> = history.ids().filter(is_before).collect();
    let (what, shown) = (say.operation(stuck), history.values.get(value));
    let dequeues = core.iter().filter(|id| matches!(step(history, **id), Some(Step::Dequeue(_))));
    let explanation = match dequeues.count() {
        1 => format!("{what} returned before any enqueue({shown}) was called"),
        count => format!(
            "{what} is answer number {count} with {shown}, and fewer were there or put there by then"
        ),
    };
    Violation { core, blamed: vec![stuck], explanation, at: Some(returned) }
}
