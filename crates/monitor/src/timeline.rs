//! The order of events: who returned when, and how orders found apart become one.

use super::poll::{StopPoll, StopReason};
use super::sorting;
use linchpin_history_data::{History, OpId};

/// Events of a history: twice the operation, plus one where it returns.
pub(crate) type Event = u32;

/// The operation of an event.
pub(crate) fn operation_of(event: Event) -> OpId {
    OpId::numbered(event >> 1)
}

/// Whether the event is the return of its operation.
pub(crate) fn is_return(event: Event) -> bool {
    event & 1 == 1
}

/// The completed operations, in the order in which they returned.
pub(crate) fn by_return(history: &History, poll: &StopPoll) -> Result<Vec<OpId>, StopReason> {
    let completed = || history.iter().filter(|(_, operation)| operation.completed);
    // why: a table of all ranks beats sorting, unless this is a small part of a long history.
    if history.events.index() <= 4 * history.operations.len() + 64 {
        let mut at: Vec<Option<OpId>> = vec![None; history.events.index()];
        for (id, operation) in completed() {
            poll.step()?;
            at[operation.returned.index()] = Some(id);
        }
        poll.ask(0)?;
        return Ok(at.into_iter().flatten().collect());
    }
    let mut order = Vec::with_capacity(history.operations.len());
    for (id, operation) in completed() {
        poll.step()?;
        order.push(u64::from(operation.returned) << 32 | u64::from(id));
    }
    let order = sorting::by_upper_bits(order, 32, poll)?;
    Ok(order.into_iter().map(|packed| OpId::numbered(packed as u32)).collect())
}

/// All events in their order: every invocation, and the returns of completed operations.
pub(crate) fn events(history: &History, poll: &StopPoll) -> Result<Vec<Event>, StopReason> {
    let returns = by_return(history, poll)?;
    let mut events = Vec::with_capacity(history.operations.len() + returns.len());
    let mut returns = returns.into_iter().peekable();
    poll.ask(0)?;
    for (id, operation) in history.iter() {
        poll.step()?;
        let before = |other: &OpId| history[*other].returned < operation.invoked;
        while let Some(returned) = returns.next_if(before) {
            events.push(returned.number() << 1 | 1);
        }
        events.push(id.number() << 1);
    }
    events.extend(returns.map(|id| id.number() << 1 | 1));
    Ok(events)
}

/// One order out of orders that each explain a part of the history (the operations on one key,
/// say): linearizability is local. The parts lie one after the other in `orders` and end where
/// `ends` says.
///
/// # Errors
///
/// If it is time to stop: why.
pub fn interleave(
    orders: Vec<OpId>,
    ends: &[usize],
    count: usize,
    poll: &StopPoll,
) -> Result<Vec<OpId>, StopReason> {
    if ends.len() <= 1 {
        return Ok(orders);
    }
    // An operation may take effect as soon as all that are before it in its part, and itself, have
    // been called: at the invocation of the latest of those, which is also the greatest id.
    // Different parts have different ones.
    let mut starts = vec![0u32; count + 1];
    let each_with_instant = |visit: &mut dyn FnMut(usize, OpId)| -> Result<(), StopReason> {
        let mut begin = 0;
        for end in ends {
            let mut instant = 0;
            for id in &orders[begin..*end] {
                poll.step()?;
                instant = instant.max(id.index());
                visit(instant, *id);
            }
            begin = *end;
        }
        Ok(())
    };
    each_with_instant(&mut |instant, _| starts[instant + 1] += 1)?;
    for at in 1..starts.len() {
        poll.step()?;
        starts[at] += starts[at - 1];
    }
    let mut merged = vec![OpId::new(0); orders.len()];
    each_with_instant(&mut |instant, id| {
        merged[starts[instant] as usize] = id;
        starts[instant] += 1;
    })?;
    Ok(merged)
}
