//! Queues, stacks and priority queues. The state is the number of the sequence of what is in it.

use super::slices::Slices;
use super::{Calls, Model, Quick, Search, one};
use linchpin_history_data::{History, Operation, ValueId};
use linchpin_spec::{Builtin, PriorityQueue, Queue, Stack, Value};

// What is said of queues is said of all three.
const _: () = assert!(Queue::ENQUEUE == Stack::PUSH && Queue::ENQUEUE == PriorityQueue::INSERT);
const _: () = assert!(Queue::DEQUEUE == Stack::POP && Queue::DEQUEUE == PriorityQueue::REMOVE_MIN);
const _: () = assert!(Queue::PEEK == Stack::PEEK);

/// Which value is the next to be removed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    First,
    Last,
    /// The greatest number, which is the last: smaller values have greater numbers.
    Sorted,
}

/// What is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Call {
    Add(usize),
    /// With what it answered.
    Remove(usize),
    /// With an unknown answer.
    RemoveAny,
    /// With what it saw.
    Peek(usize),
    /// Found it empty.
    Empty,
}

struct Contents {
    next: Next,
    slices: Slices,
    initial: usize,
}

impl Model for Contents {
    type Call = Call;

    fn initial(&self) -> usize {
        self.initial
    }

    fn step(&mut self, state: usize, call: Call) -> Option<usize> {
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
        matches!(call, Call::Peek(_) | Call::Empty)
    }
}

impl Contents {
    fn next_of(&self, state: usize) -> Option<usize> {
        let values = self.slices.get(state);
        if self.next == Next::First { values.first() } else { values.last() }.copied()
    }

    fn add(&mut self, state: usize, value: usize) -> usize {
        let is_sorted = self.next == Next::Sorted;
        self.slices.changed(state, |list, start| {
            let values = &list[start..];
            let at = if is_sorted { values.partition_point(|v| *v < value) } else { values.len() };
            list.insert(start + at, value);
        })
    }

    fn without_next(&mut self, state: usize) -> usize {
        let range = self.slices.range(state);
        let rest = match self.next {
            Next::First => range.start + 1..range.end,
            Next::Last | Next::Sorted => range.start..range.end - 1,
        };
        self.slices.part(rest)
    }
}

pub(super) fn decide(
    search: &mut Search<'_>,
    object: Builtin,
    init: Option<&Value>,
) -> Option<Quick> {
    let history = search.history;
    let (next, numbers) = match object {
        Builtin::Queue => (Next::First, None),
        Builtin::Stack => (Next::Last, None),
        _ => (Next::Sorted, Some(numbers(history))),
    };
    let number = |value: ValueId| match &numbers {
        Some(numbers) => numbers[value.index()],
        None => value.index(),
    };
    let mut calls: Calls<Call> = Calls::with_capacity(search.ids.len());
    for &id in search.ids {
        let operation = &history[id];
        let is_peek = usize::from(operation.operation) == Queue::PEEK;
        if operation.completed || !is_peek {
            calls.push(history, id, call(operation, number)?);
        }
    }
    let mut slices = Slices::new();
    let given = init.map_or(&[][..], |init| init.as_list().unwrap_or_default());
    let known = |value: &Value| history.values.find(value).filter(|id| *id != ValueId::NULL);
    let given: Option<Vec<usize>> = given.iter().map(|value| known(value).map(number)).collect();
    let mut given = given?;
    if next == Next::Sorted {
        given.sort_unstable();
    }
    let initial = slices.intern(given);
    search.whole(&mut Contents { next, slices, initial }, &mut calls)
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

/// Nothing for what is rare: a `null` that is added looks like nothing when it is removed.
fn call(operation: &Operation, number: impl Fn(ValueId) -> usize) -> Option<Call> {
    let answer = one(operation.response)?;
    Some(match usize::from(operation.operation) {
        Queue::ENQUEUE => match one(operation.argument)? {
            ValueId::NULL => return None,
            value => Call::Add(number(value)),
        },
        Queue::DEQUEUE if !operation.completed => Call::RemoveAny,
        Queue::DEQUEUE | Queue::PEEK if answer == ValueId::NULL => Call::Empty,
        Queue::DEQUEUE => Call::Remove(number(answer)),
        Queue::PEEK => Call::Peek(number(answer)),
        _ => return None,
    })
}
