//! What a search works on: some operations of a history, each with its class and its slot, and
//! their events in order.
//!
//! Operations of one *class* have the same call and the same known answer, so that the
//! specification is asked once for all of them. An operation that is in progress occupies a *slot*,
//! which a later one takes over. Operations that stay open for ever would fill the slots: they are
//! counted by class instead.

use super::SearchOptions;
use linchpin_history_data::crash::Interrupted;
use linchpin_history_data::{Argument, History, NEVER, OpId, Origin, Rank, ValueId};
use linchpin_spec::{Call, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::collections::VecDeque;

/// How an operation of the history takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It took effect before it returned, and answered what is recorded.
    Completed,
    /// It took effect before this instant, or did not; what it answered is not known.
    Optional(Rank),
}

/// An operation that takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub id: OpId,
    pub role: Role,
}

impl Item {
    /// The operation as it is in the history.
    pub(crate) fn of(history: &History, id: OpId) -> Item {
        let operation = &history[id];
        let role = match operation.completed {
            true => Role::Completed,
            false => Role::Optional(operation.returned),
        };
        Item { id, role }
    }

    /// All operations of a history.
    pub(crate) fn all(history: &History) -> Vec<Item> {
        history.ids().map(|id| Item::of(history, id)).collect()
    }

    /// The operation as the events before the one after `last` show it; nothing if it is called
    /// later.
    pub(crate) fn until(self, history: &History, last: Rank) -> Option<Item> {
        let operation = &history[self.id];
        let role = match self.role {
            Role::Completed if operation.returned > last => Role::Optional(NEVER),
            Role::Optional(deadline) if deadline > last => Role::Optional(NEVER),
            role => role,
        };
        (operation.invoked <= last).then_some(Item { id: self.id, role })
    }

    /// The same operation, of which only the time is known.
    pub(crate) fn weakened(self, history: &History) -> Item {
        match self.role {
            Role::Completed => {
                let deadline = history[self.id].returned;
                Item { id: self.id, role: Role::Optional(deadline) }
            }
            Role::Optional(_) => self,
        }
    }
}

/// A call with its answer, if that is known.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub call: Call,
    pub response: Option<Value>,
    /// Classes with the same operation and the same answer are a group.
    pub group: u32,
}

/// Where the search keeps whether an operation has taken effect.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// In this slot, while it is in progress.
    Slot(u32),
    /// It is one of [`Problem::crashed`], which are counted.
    Crashed(u32),
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub id: OpId,
    pub class: u32,
    pub place: Place,
    /// Whether it must take effect before its deadline; otherwise it may.
    pub completed: bool,
    pub deadline: Rank,
    /// A guess when an operation sees what it did: when its value is answered, if what was brought
    /// first is seen first. For the order in which things are tried.
    pub seen_first: Rank,
    /// The same, if what was brought last is seen first.
    pub seen_last: Rank,
    /// Whether it drops others when it takes effect, or is dropped: see [`Problem::drops`].
    pub is_ordered: bool,
}

/// Operations of one class that never return.
#[derive(Clone, Debug)]
pub(crate) struct Crashed {
    pub class: u32,
    /// In the order of their calls.
    pub ops: Vec<u32>,
}

/// A call, or the deadline of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub rank: Rank,
    pub op: u32,
    pub returns: bool,
}

/// What a search works on.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    /// In the order of their calls.
    pub ops: Vec<Op>,
    pub classes: Vec<Class>,
    /// How many groups of classes there are.
    pub groups: usize,
    pub crashed: Vec<Crashed>,
    /// In order; at equal ranks calls come first, so that what has the same rank is concurrent.
    pub events: Vec<Event>,
    /// How many slots there are.
    pub width: usize,
    /// For an operation: those that cannot take effect once it has. All of them are optional.
    pub drops: FxHashMap<u32, Vec<u32>>,
    /// Which words states are said in.
    pub origin: Origin,
}

impl Problem {
    /// The problem whether these operations, in the order of their calls, can be explained alone.
    pub(crate) fn new(history: &History, items: &[Item], options: &SearchOptions) -> Problem {
        Problem::ordered(history, items, &[], options)
    }

    /// The same, where interrupted operations must not take effect after what their process did
    /// next. `order` is that of the whole history.
    pub(crate) fn ordered(
        history: &History,
        items: &[Item],
        order: &[Interrupted],
        options: &SearchOptions,
    ) -> Problem {
        let order = Order::new(history, items, order);
        let mut ops: FxHashMap<OpId, u32> = FxHashMap::default();
        let mut classes = Classes::default();
        let mut problem = Problem {
            ops: Vec::with_capacity(items.len()),
            classes: Vec::new(),
            groups: 0,
            crashed: Vec::new(),
            events: Vec::with_capacity(2 * items.len()),
            width: 0,
            drops: FxHashMap::default(),
            origin: history.origin,
        };
        for item in items {
            let operation = &history[item.id];
            let (completed, deadline) = match item.role {
                Role::Completed => (true, operation.returned),
                Role::Optional(deadline) => (false, order.deadline(item.id).min(deadline)),
            };
            if deadline <= operation.invoked {
                continue; // There is no instant at which it could take effect.
            }
            let op = problem.ops.len() as u32;
            let class = classes.intern(history, item.id, completed);
            // The slot is given out below.
            let place = Place::Slot(0);
            let (id, is_ordered) = (item.id, order.contains(item.id));
            if is_ordered {
                ops.insert(id, op);
            }
            let (seen_first, seen_last) = (NEVER, NEVER);
            problem.ops.push(Op {
                id,
                class,
                place,
                completed,
                deadline,
                seen_first,
                seen_last,
                is_ordered,
            });
            problem.events.push(Event { rank: operation.invoked, op, returns: false });
            if deadline != NEVER {
                problem.events.push(Event { rank: deadline, op, returns: true });
            }
        }
        problem.events.sort_unstable_by_key(|event| (event.rank, event.returns, event.op));
        problem.classes = classes.list;
        problem.groups = classes.groups.len();
        for (first, second) in &order.pairs {
            if let (Some(&first), Some(&second)) = (ops.get(first), ops.get(second)) {
                problem.drops.entry(second).or_default().push(first);
            }
        }
        problem.give_places(options.count_crashed);
        problem.guess_when_seen(history);
        problem
    }

    /// Guesses when what brings a value is seen.
    fn guess_when_seen(&mut self, history: &History) {
        let mut queues: FxHashMap<ValueId, VecDeque<u32>> = FxHashMap::default();
        let mut stacks: FxHashMap<ValueId, Vec<u32>> = FxHashMap::default();
        for event in &self.events {
            let operation = &history[self.ops[event.op as usize].id];
            if !event.returns {
                for value in mentioned(history, operation.argument) {
                    queues.entry(value).or_default().push_back(event.op);
                    stacks.entry(value).or_default().push(event.op);
                }
            } else if self.ops[event.op as usize].completed {
                for value in mentioned(history, operation.response) {
                    let first = queues.get_mut(&value).and_then(VecDeque::pop_front);
                    if let Some(brought) = first {
                        let seen = &mut self.ops[brought as usize].seen_first;
                        *seen = event.rank.min(*seen);
                    }
                    if let Some(brought) = stacks.get_mut(&value).and_then(Vec::pop) {
                        let seen = &mut self.ops[brought as usize].seen_last;
                        *seen = event.rank.min(*seen);
                    }
                }
            }
        }
    }

    fn give_places(&mut self, count_crashed: bool) {
        let mut free = Vec::new();
        let mut crashed: FxHashMap<u32, u32> = FxHashMap::default();
        for event in &self.events {
            let op = &mut self.ops[event.op as usize];
            match (event.returns, op.place) {
                (true, Place::Slot(slot)) => free.push(slot),
                (true, Place::Crashed(_)) => {}
                (false, _) if count_crashed && op.deadline == NEVER && !op.is_ordered => {
                    let next = self.crashed.len() as u32;
                    let at = *crashed.entry(op.class).or_insert(next);
                    if at == next {
                        self.crashed.push(Crashed { class: op.class, ops: Vec::new() });
                    }
                    self.crashed[at as usize].ops.push(event.op);
                    op.place = Place::Crashed(at);
                }
                (false, _) => {
                    let slot = free.pop().unwrap_or_else(|| {
                        self.width += 1;
                        self.width as u32 - 1
                    });
                    op.place = Place::Slot(slot);
                }
            }
        }
    }
}

/// The order between interrupted operations and what their processes did next, for some operations.
#[derive(Default)]
struct Order {
    /// The first does not take effect once the second has.
    pairs: Vec<(OpId, OpId)>,
    deadlines: FxHashMap<OpId, Rank>,
    members: FxHashSet<OpId>,
}

impl Order {
    /// What is interrupted comes before whatever its process did next, up to what completed; and
    /// that took effect before it returned. Where one of them takes no part, the order holds
    /// between the others.
    fn new(history: &History, items: &[Item], order: &[Interrupted]) -> Order {
        let mut found = Order::default();
        let next = |id: OpId| {
            let at = order.binary_search_by_key(&id, |interrupted| interrupted.operation).ok()?;
            Some(order[at].next)
        };
        let role = |id: OpId| {
            let at = items.binary_search_by_key(&id, |item| item.id).ok()?;
            Some(items[at].role)
        };
        for interrupted in order {
            let first = interrupted.operation;
            if role(first).is_none() {
                continue;
            }
            let mut second = Some(interrupted.next);
            while let Some(id) = second {
                let role = role(id);
                if role.is_some() {
                    found.pairs.push((first, id));
                    found.members.extend([first, id]);
                }
                if role == Some(Role::Completed) {
                    found.deadlines.insert(first, history[id].returned);
                    break;
                }
                second = next(id);
            }
        }
        found
    }

    fn deadline(&self, id: OpId) -> Rank {
        self.deadlines.get(&id).copied().unwrap_or(NEVER)
    }

    fn contains(&self, id: OpId) -> bool {
        self.members.contains(&id)
    }
}

/// The classes found so far. Their contents are told apart by the ids of their values.
#[derive(Default)]
struct Classes {
    list: Vec<Class>,
    index: FxHashMap<SmallVec<[u32; 8]>, u32>,
    groups: FxHashMap<SmallVec<[u32; 8]>, u32>,
}

impl Classes {
    fn intern(&mut self, history: &History, id: OpId, completed: bool) -> u32 {
        let operation = &history[id];
        let mut group: SmallVec<[u32; 8]> = smallvec![u32::from(operation.operation)];
        if completed {
            spell(history, operation.response, &mut group);
        }
        let mut key = group.clone();
        key.push(u32::MAX);
        spell(history, operation.argument, &mut key);
        let next = self.list.len() as u32;
        let class = *self.index.entry(key).or_insert(next);
        if class == next {
            let groups = self.groups.len() as u32;
            let response = completed.then(|| history.value(operation.response));
            let group = *self.groups.entry(group).or_insert(groups);
            self.list.push(Class { call: history.call(id), response, group });
        }
        class
    }
}

/// Writes an argument so that different ones are written differently.
fn spell(history: &History, argument: Argument, to: &mut SmallVec<[u32; 8]>) {
    match argument {
        Argument::None => to.push(0),
        Argument::One(one) => to.extend_from_slice(&[1, one.0]),
        Argument::Two(one, two) => to.extend_from_slice(&[2, one.0, two.0]),
        Argument::Words { count, width, .. } => {
            to.extend_from_slice(&[3, u32::from(count), u32::from(width)]);
            let words = history.words(argument).iter();
            to.extend(words.flat_map(|word| word.iter().take(width as usize)).map(|id| id.0));
        }
    }
}

/// The values in an argument, without `null`, `true` and `false`, which every operation mentions.
pub(crate) fn mentioned(history: &History, argument: Argument) -> SmallVec<[ValueId; 4]> {
    let mut values: SmallVec<[ValueId; 4]> = match argument {
        Argument::None => SmallVec::new(),
        Argument::One(one) => smallvec![one],
        Argument::Two(one, two) => smallvec![one, two],
        Argument::Words { width, .. } => {
            let words = history.words(argument).iter();
            words.flat_map(|word| word.iter().take(width as usize)).copied().collect()
        }
    };
    values.retain(|value| *value > ValueId::TRUE);
    values
}
