//! Where the `dequeue`s of a drain are put.
//!
//! They come one after the other between the call and the return of the drain, but when each of
//! them did is not recorded. If all returns beside the drain come after all calls beside it, there
//! is a moment at which all that overlaps the drain is in progress. There they are put, one after
//! the other: each then overlaps what the drain does, so that exactly those orders are left that
//! are possible if they are in sequence. They are calls of the process that drains.
//!
//! Otherwise operations beside the drain come one after the other, each of which may be before,
//! between or after the dequeues; no intervals say that and the sequence at once. The same goes for
//! two sequences that overlap. Such dequeues overlap each other: their calls are right after that
//! of the drain and their returns right after its return. They are calls of processes that are
//! called after the one that drains: `3/drain-1`, `3/drain-2`, ….

use super::Known;
use crate::places::{Annotation, Places};
use linchpin_history::{Argument, History, NEVER, Operation, Rank, ValueId};
use rustc_hash::FxHashMap;

/// What a drain is besides its first `dequeue`.
pub(super) enum More {
    /// Dequeues that answered these, in no order.
    Values(Vec<ValueId>),
    /// Dequeues that answered these one after the other.
    Sequence {
        values: Vec<ValueId>,
        /// The event after which each of them is followed by the next.
        after: Rank,
    },
    /// So many that may have happened.
    Unknown(usize),
}

impl More {
    pub fn len(&self) -> usize {
        match self {
            More::Values(values) | More::Sequence { values, .. } => values.len(),
            More::Unknown(count) => *count,
        }
    }

    fn response(&self, number: usize) -> Argument {
        match self {
            More::Values(values) | More::Sequence { values, .. } => {
                values.get(number - 1).map_or(Argument::None, |value| Argument::One(*value))
            }
            More::Unknown(_) => Argument::None,
        }
    }
}

/// The drains that are sequences of dequeues, by their calls: the event after which all that
/// overlaps each is in progress.
pub(super) fn sequences(known: &[Known], history: &History) -> FxHashMap<Rank, Rank> {
    let mut drains: FxHashMap<ValueId, Vec<&Known>> = FxHashMap::default();
    for known in known.iter().filter(|known| known.is_list && !known.more.is_empty()) {
        drains.entry(known.drain.key).or_default().push(known);
    }
    // The events of the objects that are drained, and whether they are calls.
    let mut events: FxHashMap<ValueId, Vec<(Rank, bool)>> =
        drains.keys().map(|key| (*key, Vec::new())).collect();
    for operation in &history.operations {
        let Some(events) = events.get_mut(&operation.key) else { continue };
        events.push((operation.invoked, true));
        if operation.completed {
            events.push((operation.returned, false));
        }
    }
    let mut sequences = FxHashMap::default();
    for (key, drains) in &mut drains {
        drains.sort_unstable_by_key(|known| known.drain.called);
        let events = events.entry(*key).or_default();
        events.sort_unstable();
        for alone in alone(drains) {
            let called = alone.drain.called;
            let after = moment(events, called, alone.returned);
            sequences.extend(after.map(|after| (called, after)));
        }
    }
    sequences
}

/// Of these drains, which are in the order of their calls, those that overlap no other.
fn alone<'a>(drains: &'a [&'a Known]) -> impl Iterator<Item = &'a Known> {
    let mut latest = None;
    drains.iter().enumerate().filter_map(move |(at, known)| {
        let before = latest.is_none_or(|latest| latest < known.drain.called);
        let after = drains.get(at + 1).is_none_or(|next| known.returned < next.drain.called);
        latest = latest.max(Some(known.returned));
        (before && after).then_some(*known)
    })
}

/// The event after which all that overlaps this interval is in progress: the last call in it, if no
/// return in it comes before that.
fn moment(events: &[(Rank, bool)], called: Rank, returned: Rank) -> Option<Rank> {
    let from = events.partition_point(|(rank, _)| *rank <= called);
    let to = events.partition_point(|(rank, _)| *rank < returned);
    let inside = events.get(from..to)?;
    let calls = inside.iter().take_while(|(_, is_call)| *is_call).count();
    let is_split = inside[calls..].iter().all(|(_, is_call)| !is_call);
    is_split.then(|| inside[..calls].last().map_or(called, |(rank, _)| *rank))
}

/// An event that is put after another.
struct Event {
    after: Rank,
    /// The event on the line of which it is.
    like: Rank,
    /// The call of its drain, its number among the dequeues, and whether it is the return.
    of: (Rank, usize, bool),
}

/// The events that these drains need more than they have, in their order.
fn events(more: &FxHashMap<Rank, More>, history: &History) -> Vec<Event> {
    let mut events = Vec::new();
    for operation in &history.operations {
        let Some(more) = more.get(&operation.invoked) else { continue };
        let (called, returned) = (operation.invoked, operation.returned);
        let mut put = |after: Rank, like: Rank, number: usize, is_return: bool| {
            events.push(Event { after, like, of: (called, number, is_return) });
        };
        match more {
            More::Sequence { values, after } => {
                for number in 1..=values.len() {
                    put(*after, returned, number - 1, true);
                    put(*after, called, number, false);
                }
            }
            More::Values(_) | More::Unknown(_) => {
                (1..=more.len()).for_each(|number| put(called, called, number, false));
                if operation.completed {
                    (1..=more.len()).for_each(|number| put(returned, returned, number, true));
                }
            }
        }
    }
    // Sequences come last: what is called with another drain overlaps them too.
    let is_in_sequence =
        |event: &Event| matches!(more.get(&event.of.0), Some(More::Sequence { .. }));
    events.sort_by_key(|event| (event.after, is_in_sequence(event)));
    events
}

/// Puts `dequeue`s beside those that were called at these events.
pub(super) fn place(
    more: &FxHashMap<Rank, More>,
    history: &mut History,
    places: &mut Places,
    beside: &mut [Annotation],
) {
    if more.is_empty() {
        return;
    }
    let events = events(more, history);
    let put: FxHashMap<(Rank, usize, bool), Rank> = events
        .iter()
        .enumerate()
        .map(|(at, event)| (event.of, Rank::at(event.after.index() + 1 + at)))
        .collect();
    let moved = |rank: Rank| {
        let before = events.partition_point(|event| event.after < rank);
        if rank == NEVER { NEVER } else { Rank::at(rank.index() + before) }
    };
    let mut names = Names::default();
    let old = std::mem::take(&mut history.operations);
    for drain in old {
        let more = more.get(&drain.invoked);
        let at = |number, is_return, otherwise| {
            put.get(&(drain.invoked, number, is_return)).copied().unwrap_or(otherwise)
        };
        let (called, returned) = (moved(drain.invoked), moved(drain.returned));
        let first = Operation { invoked: called, returned: at(0, true, returned), ..drain };
        history.operations.push(first);
        let Some(more) = more else { continue };
        let is_sequence = matches!(more, More::Sequence { .. });
        for number in 1..=more.len() {
            let process = match is_sequence {
                true => drain.process,
                false => names.number(&mut history.processes, drain.process, number),
            };
            history.operations.push(Operation {
                process,
                response: more.response(number),
                invoked: at(number, false, called),
                returned: at(number, true, returned),
                ..drain
            });
        }
    }
    // INVARIANT: operations are in the order of their calls.
    history.operations.sort_by_key(|operation| operation.invoked);
    history.crashes.iter_mut().for_each(|crash| crash.at = moved(crash.at));
    for recovered in &mut history.recovered {
        (recovered.at, recovered.called) = (moved(recovered.at), moved(recovered.called));
    }
    history.events = moved(history.events);
    beside.iter_mut().for_each(|annotation| annotation.before = moved(annotation.before));
    let lines: Vec<(Rank, Rank)> = events.iter().map(|event| (event.after, event.like)).collect();
    places.insert(&lines);
}

/// The processes that are called after one that drains, by it and their number.
#[derive(Default)]
struct Names(FxHashMap<(u32, usize), u32>);

impl Names {
    fn number(&mut self, names: &mut Vec<String>, process: u32, number: usize) -> u32 {
        *self.0.entry((process, number)).or_insert_with(|| {
            let name = names.get(process as usize).map_or("", String::as_str);
            names.push(format!("{name}/drain-{number}"));
            u32::try_from(names.len() - 1).unwrap_or(process)
        })
    }
}
