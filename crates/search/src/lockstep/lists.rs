//! The operations of a queue by kind, in the order of their calls.

use crate::problem::{Item, Role};
use linchpin_history_data::{Argument, History, OpId, ValueId};
use linchpin_spec::{Queue, Value};
use rustc_hash::FxHashMap;

/// A time: a rank, or before all of them.
pub(super) type Time = i64;

pub(super) fn is_null(response: Argument) -> bool {
    matches!(response, Argument::None | Argument::One(ValueId::NULL))
}

/// Completed operations of one kind, in the order of their calls.
#[derive(Default)]
pub(super) struct Side {
    pub(super) invoked: Vec<Time>,
    pub(super) returned: Vec<Time>,
    pub(super) value: Vec<u32>,
    pub(super) id: Vec<OpId>,
    /// How many can be concurrent with one of them, at most, itself and later ones counted.
    pub(super) width: usize,
}

impl Side {
    fn push(&mut self, invoked: Time, returned: Time, value: u32, id: OpId) {
        self.invoked.push(invoked);
        self.returned.push(returned);
        self.value.push(value);
        self.id.push(id);
    }

    fn measure(&mut self) {
        let width = |at: usize| {
            self.invoked.partition_point(|invoked| *invoked <= self.returned[at]).saturating_sub(at)
        };
        self.width = (0..self.id.len()).map(width).max().unwrap_or(0) + 1;
    }
}

/// Operations that did not return, of one kind: a value that is enqueued, or any dequeue.
#[derive(Default)]
pub(super) struct Pending {
    /// In the order of their calls.
    pub(super) ops: Vec<(Time, OpId)>,
}

/// The operations of a queue.
pub(super) struct Lists {
    pub(super) enqueues: Side,
    pub(super) dequeues: Side,
    /// The dequeues that found the queue empty.
    pub(super) empty: Side,
    /// The least return of those from a position on.
    pub(super) empty_returned: Vec<Time>,
    /// The greatest return of those before a position.
    pub(super) empty_last: Vec<Time>,
    pub(super) pending_enqueues: Vec<(u32, Pending)>,
    pub(super) pending_dequeues: Pending,
    /// Ids from here on are values that are there at the start.
    pub(super) virtual_id: OpId,
    /// Whether an operation dequeued what cannot be there.
    pub(super) impossible: bool,
}

impl Lists {
    pub(super) fn new(history: &History, items: &[Item], init: &[Value]) -> Lists {
        let mut lists = Lists {
            enqueues: Side::default(),
            dequeues: Side::default(),
            empty: Side::default(),
            empty_returned: Vec::new(),
            empty_last: vec![Time::MIN],
            pending_enqueues: Vec::new(),
            pending_dequeues: Pending::default(),
            virtual_id: OpId::new(history.operations.len()),
            impossible: false,
        };
        for (at, value) in init.iter().enumerate() {
            let value = history.values.find(value).map_or(u32::MAX, |id| id.0);
            let invoked = 2 * at as Time - 2 * init.len() as Time;
            lists.enqueues.push(
                invoked,
                invoked + 1,
                value,
                OpId::new(history.operations.len() + at),
            );
        }
        let mut classes: FxHashMap<u32, usize> = FxHashMap::default();
        for item in items {
            let operation = &history[item.id];
            let (invoked, returned) = (operation.invoked.into(), operation.returned.into());
            let value = |argument| match argument {
                Argument::One(value) => value.0,
                _ => u32::MAX,
            };
            match (usize::from(operation.operation), item.role) {
                (Queue::ENQUEUE, Role::Completed) => {
                    lists.enqueues.push(invoked, returned, value(operation.argument), item.id);
                }
                (Queue::ENQUEUE, Role::Optional(_)) => {
                    let value = value(operation.argument);
                    let pending = &mut lists.pending_enqueues;
                    let class = *classes.entry(value).or_insert(pending.len());
                    if class == pending.len() {
                        pending.push((value, Pending::default()));
                    }
                    pending[class].1.ops.push((invoked, item.id));
                }
                (Queue::DEQUEUE, Role::Completed) if is_null(operation.response) => {
                    lists.empty.push(invoked, returned, 0, item.id);
                }
                (Queue::DEQUEUE, Role::Completed) => {
                    let value = value(operation.response);
                    lists.impossible |= value == u32::MAX;
                    lists.dequeues.push(invoked, returned, value, item.id);
                }
                (Queue::DEQUEUE, Role::Optional(_)) => {
                    lists.pending_dequeues.ops.push((invoked, item.id));
                }
                _ => {}
            }
        }
        lists.enqueues.measure();
        lists.dequeues.measure();
        for &returned in &lists.empty.returned {
            let last = lists.empty_last.last().copied().unwrap_or(Time::MIN);
            lists.empty_last.push(last.max(returned));
        }
        lists.empty_returned = lists.empty.returned.clone();
        lists.empty_returned.push(Time::MAX);
        for at in (0..lists.empty.id.len()).rev() {
            let least = lists.empty_returned[at].min(lists.empty_returned[at + 1]);
            lists.empty_returned[at] = least;
        }
        lists
    }
}
