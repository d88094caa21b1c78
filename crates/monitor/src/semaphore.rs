//! Semaphores: `release` never hurts and `acquire` never helps, so every release takes effect when
//! it is called and every acquire when it returns. One pass.

use super::poll::{StopPoll, StopReason};
use super::timeline::{self, is_return, operation_of};
use linchpin_history_data::{
    History, Judgement, Monitored, OpId, Sentences, Violation, Witness, not_applicable,
};
use linchpin_spec::{Semaphore, Spec, Value};
use linchpin_verdict::Limits;

/// Judges a history of a [`Semaphore`] with `init` permits at the start (1 if it is `null`). Always
/// exact: a pending release takes effect, a pending acquire does not, whatever their deadlines.
pub fn check(history: &History, init: &Value, limits: &Limits) -> Monitored {
    let permits = match init {
        Value::Null => 1,
        init => match init.as_int().and_then(|int| u32::try_from(int).ok()) {
            Some(permits) => permits,
            None => return not_applicable(format!("{init} is not a number of permits")),
        },
    };
    let poll = StopPoll::new(limits);
    let asked = poll.ask(20 * history.operations.len());
    let unknown = |id: OpId| history[id].operation as usize > Semaphore::RELEASE;
    match asked.and_then(|()| poll.find(history, unknown)) {
        Ok(None) => {}
        Ok(Some(id)) => {
            let operation = history[id].operation;
            return not_applicable(format!("a semaphore has no operation {operation}"));
        }
        Err(stopped) => return Ok(stopped.into()),
    }
    if history.operations.len() > (u32::MAX - permits) as usize {
        return not_applicable("there may be more permits than can be counted");
    }
    Ok(one_pass(history, permits, &poll).unwrap_or_else(Judgement::from))
}

fn one_pass(history: &History, mut permits: u32, poll: &StopPoll) -> Result<Judgement, StopReason> {
    let mut order = Vec::with_capacity(history.operations.len());
    for event in timeline::events(history, poll)? {
        poll.step()?;
        let id = operation_of(event);
        let releases = history[id].operation as usize == Semaphore::RELEASE;
        match (releases, is_return(event)) {
            (true, false) => permits += 1,
            (false, true) if permits == 0 => {
                return Ok(Judgement::Violated(violation(history, id, &order, poll)?));
            }
            (false, true) => permits -= 1,
            _ => continue,
        }
        order.push(id);
    }
    Ok(Judgement::Holds(Witness { order }))
}

/// INVARIANT: `order` has every acquire that returned before `id` did, and every release called
/// before that.
fn violation(
    history: &History,
    id: OpId,
    order: &[OpId],
    poll: &StopPoll,
) -> Result<Violation, StopReason> {
    let specification = Semaphore::default();
    let say = Sentences::new(history, specification.operations());
    // why marks: they are sorted without sorting.
    let mut takes_part = vec![false; history.operations.len()];
    takes_part[id.index()] = true;
    let mut released = 0;
    for id in order {
        poll.step()?;
        takes_part[id.index()] = true;
        let operation = history[*id].operation as usize;
        released += usize::from(operation == Semaphore::RELEASE);
    }
    let acquired = order.len() - released;
    let explanation = format!(
        "{} returned when no permit was left: {acquired} acquired before it, and the calls of release by \
         then are {released}",
        say.operation(id)
    );
    let mut core = Vec::with_capacity(order.len() + 1);
    for (id, _) in history.ids().zip(&takes_part).filter(|(_, takes_part)| **takes_part) {
        poll.step()?;
        core.push(id);
    }
    Ok(Violation { core, blamed: vec![id], explanation, at: Some(history[id].returned) })
}
