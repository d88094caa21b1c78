//! Queues and priority queues, whose state is the number of the sequence of what is in them, and
//! what is called on them and on stacks.

use super::pile::Pile;
use super::removals::Removals;
use super::slices::{Number, Slices};
use super::{Calls, Model, Quick, Search, State, one};
use linchpin_history_data::{History, Operation, ValueId};
use linchpin_spec::{Builtin, PriorityQueue, Queue, Stack, Value};

// What is said of queues is said of all three.
const _: () = assert!(Queue::ENQUEUE == Stack::PUSH && Queue::ENQUEUE == PriorityQueue::INSERT);
const _: () = assert!(Queue::DEQUEUE == Stack::POP && Queue::DEQUEUE == PriorityQueue::REMOVE_MIN);
const _: () = assert!(Queue::PEEK == Stack::PEEK);

/// What is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Call {
    Add(Number),
    /// With what it answered.
    Remove(Number),
    /// With an unknown answer.
    RemoveAny,
    /// With what it saw.
    Peek(Number),
    /// Found it empty.
    Empty,
}

impl Call {
    pub(super) fn only_looks(self) -> bool {
        matches!(self, Call::Peek(_) | Call::Empty)
    }

    /// What must be next, or that there must be nothing; nothing if that does not matter.
    pub(super) fn finds(self) -> Option<Option<Number>> {
        match self {
            Call::Remove(value) | Call::Peek(value) => Some(Some(value)),
            Call::Empty => Some(None),
            Call::Add(_) | Call::RemoveAny => None,
        }
    }
}

/// A queue or a priority queue.
struct Contents {
    /// Whether values are sorted: smaller ones have greater numbers, and the last is removed next.
    /// If not, the first is.
    is_sorted: bool,
    slices: Slices,
    initial: State,
    removals: Removals,
}

/// What stands for a removal where steps are remembered.
const REMOVAL: u32 = u32::MAX;

impl Model for Contents {
    type Call = Call;

    fn initial(&self) -> State {
        self.initial
    }

    fn step(&mut self, state: State, call: Call) -> Option<State> {
        match call {
            Call::Add(value) => Some(self.add(state, value)),
            Call::Remove(value) => {
                (self.next_of(state)? == value).then(|| self.without_next(state))
            }
            Call::RemoveAny => self.next_of(state).map(|_| self.without_next(state)),
            Call::Peek(value) => (self.next_of(state)? == value).then_some(state),
            Call::Empty => self.slices.range(state).is_empty().then_some(state),
        }
    }

    fn only_looks(call: Call) -> bool {
        call.only_looks()
    }

    fn may_come<'a>(
        &mut self,
        state: State,
        call: Call,
        in_progress: impl Iterator<Item = Call> + Clone + 'a,
    ) -> bool {
        let Some(wanted) = call.finds() else { return true };
        let values = self.slices.get(state);
        match (self.is_sorted, wanted) {
            (false, _) => self.removals.uncover(wanted, values.iter().copied(), in_progress),
            (true, None) => self.removals.uncover(None, values.iter().copied(), in_progress),
            (true, Some(value)) => {
                // What is not smaller need not be removed.
                let smaller = values.iter().rev().copied().take_while(|other| *other >= value);
                self.removals.uncover(wanted, smaller, in_progress)
            }
        }
    }

    fn bytes(&self) -> usize {
        self.slices.bytes()
    }
}

impl Contents {
    fn next_of(&self, state: State) -> Option<Number> {
        let values = self.slices.get(state);
        if self.is_sorted { values.last() } else { values.first() }.copied()
    }

    fn add(&mut self, state: State, value: Number) -> State {
        let is_sorted = self.is_sorted;
        self.slices.changed(state, value.into(), |list, start| {
            let values = &list[start..];
            let at = if is_sorted { values.partition_point(|v| *v < value) } else { values.len() };
            list.insert(start + at, value);
        })
    }

    fn without_next(&mut self, state: State) -> State {
        let is_sorted = self.is_sorted;
        self.slices.part(state, REMOVAL, |range| match is_sorted {
            true => range.start..range.end - 1,
            false => range.start + 1..range.end,
        })
    }
}

pub(super) fn decide(
    search: &mut Search<'_>,
    object: Builtin,
    init: Option<&Value>,
) -> Option<Quick> {
    let history = search.history;
    let is_sorted = object == Builtin::PriorityQueue;
    let numbers = is_sorted.then(|| numbers(history));
    let number = |value: ValueId| match &numbers {
        Some(numbers) => Number::try_from(numbers[value.index()]).ok(),
        None => Number::try_from(value.index()).ok(),
    };
    let mut calls: Calls<Call> = Calls::with_capacity(search.ids.len());
    for &id in search.ids {
        let operation = &history[id];
        let is_peek = usize::from(operation.operation) == Queue::PEEK;
        if operation.completed || !is_peek {
            calls.push(history, id, call(operation, number)?);
        }
    }
    let given = init.map_or(&[][..], |init| init.as_list().unwrap_or_default());
    let known = |value: &Value| history.values.find(value).filter(|id| *id != ValueId::NULL);
    let given: Option<Vec<Number>> =
        given.iter().map(|value| known(value).and_then(number)).collect();
    let mut given = given?;
    if object == Builtin::Stack {
        return search.whole(&mut Pile::new(&given), &mut calls);
    }
    if is_sorted {
        given.sort_unstable();
    }
    let mut slices = Slices::new();
    let initial = slices.intern(given);
    let removals = Removals::default();
    search.whole(&mut Contents { is_sorted, slices, initial, removals }, &mut calls)
}

/// A number for each value: the greatest for the smallest.
fn numbers(history: &History) -> Vec<usize> {
    let ids = (0..).map(ValueId).take(history.values.len());
    let values = ids.map(|id| (history.values.get(id), id.index()));
    let mut sorted: Vec<(Value, usize)> = values.collect();
    sorted.sort_unstable();
    let mut numbers = vec![0; sorted.len()];
    for (number, (_, at)) in sorted.into_iter().rev().enumerate() {
        numbers[at] = number;
    }
    numbers
}

/// Nothing for what is rare: values of which there are too many, and a `null` that is added looks
/// like nothing when it is removed.
fn call(operation: &Operation, number: impl Fn(ValueId) -> Option<Number>) -> Option<Call> {
    let answer = one(operation.response)?;
    Some(match usize::from(operation.operation) {
        Queue::ENQUEUE => match one(operation.argument)? {
            ValueId::NULL => return None,
            value => Call::Add(number(value)?),
        },
        Queue::DEQUEUE if !operation.completed => Call::RemoveAny,
        Queue::DEQUEUE | Queue::PEEK if answer == ValueId::NULL => Call::Empty,
        Queue::DEQUEUE => Call::Remove(number(answer)?),
        Queue::PEEK => Call::Peek(number(answer)?),
        _ => return None,
    })
}
