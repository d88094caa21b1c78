//! Sets that only grow and are read as a whole.
//!
//! What two reads see of such a set is ordered by inclusion, so that the reads fall into groups
//! that see the same, one group after the other. A value that a group sees first was first added
//! after the reads of the group before, and before those of its own. So every read has a *slot*,
//! and so has one `add` of every value that is seen: the one with the earliest call, because any
//! other that comes first could have this one just before it. The other `add`s of the value may
//! come any time after the reads that do not see it, and so may completed `add`s of values that no
//! read sees. Pending ones of those are left out.
//!
//! Slots are exact. What must come before what, by slots and by time, is two orders, each
//! transitive. If there is a cycle in both together, there is one of two operations: take the
//! shortest; of two steps in time `a` returned before `b` was called, and `c` before `d`, either
//! `a` returned before the call of `d`, which makes it shorter, or `c` before that of `b`. So it is
//! enough that no operation returned before one of a lower slot was called, and one walk through
//! the slots with the latest call so far decides. `O(n log n)` in operations and values read.

mod growing;

use self::growing::Growing;
use super::deadline::{self, has_deadline};
use super::poll::{StopPoll, StopReason};
use super::sorting;
use linchpin_history_data::{
    Argument, History, Judgement, Monitored, OpId, Rank, Sentences, ValueId, Violation, Witness,
    not_applicable,
};
use linchpin_spec::{GrowSet, Spec, Value};
use linchpin_verdict::Limits;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Judges a history of a [`GrowSet`] that starts with the members `init` (a list or a set). Exact,
/// pending operations included, but where it depends on the deadlines of optional operations it may
/// not apply.
pub fn check(history: &History, init: &Value, limits: &Limits) -> Monitored {
    let specification = GrowSet::default();
    let say = Sentences::new(history, specification.operations());
    let members: Vec<Value> = match init {
        Value::List(members) => members.iter().cloned().collect(),
        Value::Set(members) => members.iter().cloned().collect(),
        Value::Null => Vec::new(),
        _ => return not_applicable(format!("{init} is not a list of members")),
    };
    let poll = StopPoll::new(limits);
    let asked = poll.ask(40 * history.operations.len());
    match asked.and_then(|()| poll.find(history, |id| step(history, id).is_none())) {
        Ok(None) => {}
        Ok(Some(id)) => {
            let what = say.operation(id);
            return not_applicable(format!("{what} is not an operation of a set that grows"));
        }
        Err(stopped) => return Ok(stopped.into()),
    }
    deadline::judge(history, &say, &poll, |ignore| {
        let judge = Judge { ignore, ..Judge::new(history, &members, &poll) };
        match judge.judge() {
            Ok(Ok(order)) => Judgement::Holds(Witness { order }),
            Ok(Err(fault)) => Judgement::Violated(judge.violation(fault)),
            Err(stopped) => stopped.into(),
        }
    })
}

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Add(ValueId),
    /// It saw the members in this list.
    Read(ValueId),
    /// A pending read.
    Nothing,
}

/// `None` if it is no operation of a set that grows.
fn step(history: &History, id: OpId) -> Option<Step> {
    let operation = &history[id];
    match (usize::from(operation.operation), operation.argument, operation.response) {
        (GrowSet::ADD, Argument::One(value), _) => Some(Step::Add(value)),
        (GrowSet::READ, ..) if !operation.completed => Some(Step::Nothing),
        (GrowSet::READ, _, Argument::One(list)) => Some(Step::Read(list)),
        _ => None,
    }
}

/// What is wrong.
enum Fault {
    /// The read lists the value more than once.
    Twice(OpId, Value),
    /// The read lacks a value that was there at the start.
    LacksInitial(OpId, Value),
    /// The read has the value, which is never added.
    FromNowhere(OpId, Value),
    /// Each of the two reads has a value that the other lacks.
    Crossed([(OpId, Value); 2]),
    /// The read has the value, but returned before this first call of `add`.
    TooEarly { read: OpId, value: Value, add: OpId },
    /// The value was added before the read was called, which lacks it.
    Lost { add: OpId, value: Value, read: OpId },
    /// The first read has the value, the second was called later and lacks it.
    Vanished { has: OpId, value: Value, lacks: OpId },
    /// The first value was added before any call of `add` of the second. The read has the second
    /// only.
    Overtaken { add: OpId, value: Value, later: OpId, seen: Value, read: OpId },
}

type Found<T> = Result<Result<T, Fault>, StopReason>;

/// What the reads saw.
struct Groups {
    /// The reads that see the same, the smallest set first. The first group is what is there at the
    /// start, and has no reads.
    groups: Vec<Vec<OpId>>,
    /// For each value the first group that sees it.
    first: Vec<Option<u32>>,
}

struct Judge<'a> {
    history: &'a History,
    poll: &'a StopPoll<'a>,
    /// The values at the start that the history does not know by themselves, numbered after those
    /// that it knows.
    others: BTreeMap<Value, usize>,
    /// The numbers of all values at the start.
    members: BTreeSet<usize>,
    /// Whether operations with deadlines are left out.
    ignore: bool,
}

impl<'a> Judge<'a> {
    fn new(history: &'a History, members: &[Value], poll: &'a StopPoll<'a>) -> Judge<'a> {
        let (others, numbers) = (BTreeMap::new(), BTreeSet::new());
        let mut judge = Judge { history, poll, others, members: numbers, ignore: false };
        for member in members {
            let next = history.values.len() + judge.others.len();
            let number = judge.number(member).unwrap_or(next);
            if number == next {
                judge.others.insert(member.clone(), next);
            }
            judge.members.insert(number);
        }
        judge
    }

    /// The number of a value that is added, or there at the start.
    fn number(&self, value: &Value) -> Option<usize> {
        let known = self.history.values.find(value).map(ValueId::index);
        known.or_else(|| self.others.get(value).copied())
    }

    fn value(&self, number: usize) -> Value {
        let other = || self.others.iter().find(|(_, other)| **other == number);
        match u32::try_from(number) {
            Ok(id) if number < self.history.values.len() => self.history.values.get(ValueId(id)),
            _ => other().map(|(value, _)| value.clone()).unwrap_or_default(),
        }
    }

    fn count(&self) -> usize {
        self.history.values.len() + self.others.len()
    }

    fn step(&self, id: OpId) -> Step {
        match step(self.history, id) {
            Some(step) if !self.ignore || !has_deadline(self.history, id) => step,
            _ => Step::Nothing,
        }
    }

    /// Whether an operation returned before another was called. Instants by which a pending one
    /// took effect are not known here.
    fn is_before(&self, one: OpId, other: OpId) -> bool {
        self.history[one].completed && self.history[one].precedes(&self.history[other])
    }

    /// The order, if there is one.
    fn judge(&self) -> Found<Vec<OpId>> {
        let groups = match self.groups()? {
            Ok(groups) => groups,
            Err(fault) => return Ok(Err(fault)),
        };
        let slots = self.slots(&groups)?;
        if let Some((low, high)) = self.conflict(&slots)? {
            return Ok(Err(self.fault(&groups, low, high)));
        }
        Ok(Ok(self.order(slots)?))
    }

    fn groups(&self) -> Found<Groups> {
        let mut by_list: FxHashMap<ValueId, Vec<OpId>> = FxHashMap::default();
        let mut growing = Growing::new(self);
        for id in self.history.ids() {
            self.poll.step()?;
            match self.step(id) {
                Step::Add(value) => growing.added[value.index()] = true,
                Step::Read(list) => by_list.entry(list).or_default().push(id),
                Step::Nothing => {}
            }
        }
        let mut lists: Vec<(usize, Vec<OpId>, Value)> = Vec::with_capacity(by_list.len());
        for (list, reads) in by_list {
            let list = self.history.values.get(list);
            lists.push((list.as_list().map_or(0, <[Value]>::len), reads, list));
        }
        lists.sort_unstable();
        for (_, reads, list) in lists {
            if let Err(fault) = growing.push(reads, list.as_list().unwrap_or_default())? {
                return Ok(Err(fault));
            }
        }
        Ok(Ok(Groups { groups: growing.groups, first: growing.first }))
    }

    /// The operations that have to take effect, each with its slot.
    fn slots(&self, groups: &Groups) -> Result<Vec<Slot>, StopReason> {
        let mut slots = Vec::with_capacity(self.history.operations.len());
        for (group, reads) in (0..).zip(&groups.groups) {
            for id in reads {
                self.poll.step()?;
                slots.push(Slot { number: 2 * group, fixed: true, id: *id });
            }
        }
        let beyond = u32::try_from(groups.groups.len()).unwrap_or(u32::MAX / 2);
        let mut has_first = vec![false; self.count()];
        // INVARIANT: operations are in the order of their calls.
        for id in self.history.ids() {
            self.poll.step()?;
            let Step::Add(value) = self.step(id) else { continue };
            let group = groups.first[value.index()].unwrap_or(beyond);
            let is_first = !std::mem::replace(&mut has_first[value.index()], true);
            let fixed = is_first && group != 0 && group != beyond;
            if fixed || self.history[id].completed {
                slots.push(Slot { number: (2 * group).saturating_sub(1), fixed, id });
            }
        }
        sorting::in_rows(&mut slots, self.poll)?;
        Ok(slots)
    }

    /// An operation, and one of a higher slot that returned before the first was called.
    fn conflict(&self, slots: &[Slot]) -> Result<Option<(Slot, Slot)>, StopReason> {
        let mut latest: Option<Slot> = None;
        for slots in slots.chunk_by(|one, two| one.number == two.number) {
            for high in slots {
                self.poll.step()?;
                if let Some(low) = latest
                    && self.is_before(high.id, low.id)
                {
                    return Ok(Some((low, *high)));
                }
            }
            let fixed = slots.iter().filter(|slot| slot.fixed).copied();
            latest = latest.into_iter().chain(fixed).max_by_key(|slot| slot.id);
        }
        Ok(None)
    }

    /// The operations in an order that explains them. What has a slot comes in the order of slots
    /// and calls. Anything else just before the first of those that were called after it returned:
    /// what has to be before it is, as there is no conflict.
    fn order(&self, slots: Vec<Slot>) -> Result<Vec<OpId>, StopReason> {
        let (fixed, free): (Vec<Slot>, Vec<Slot>) = slots.into_iter().partition(|slot| slot.fixed);
        let mut latest = Vec::with_capacity(fixed.len());
        let mut call = Rank::FIRST;
        for slot in &fixed {
            self.poll.step()?;
            call = call.max(self.history[slot.id].invoked);
            latest.push(call);
        }
        let mut placed: Vec<(usize, bool, OpId)> = Vec::with_capacity(fixed.len() + free.len());
        for slot in free {
            self.poll.step()?;
            let returned = self.history[slot.id].returned;
            placed.push((latest.partition_point(|call| *call <= returned), false, slot.id));
        }
        placed.extend(fixed.iter().enumerate().map(|(at, slot)| (at, true, slot.id)));
        sorting::in_rows(&mut placed, self.poll)?;
        Ok(placed.into_iter().map(|(_, _, id)| id).collect())
    }

    /// What two operations in the wrong order mean.
    fn fault(&self, groups: &Groups, low: Slot, high: Slot) -> Fault {
        let value = |id: ValueId| self.history.values.get(id);
        match (self.step(low.id), self.step(high.id)) {
            (Step::Read(_), Step::Add(added)) => {
                Fault::Lost { add: high.id, value: value(added), read: low.id }
            }
            (Step::Add(added), Step::Read(_)) => {
                Fault::TooEarly { read: high.id, value: value(added), add: low.id }
            }
            (Step::Add(seen), Step::Add(added)) => {
                // The group of `low` sees its value and not the other.
                let reads = groups.groups.get(low.number.div_ceil(2) as usize);
                let reads = reads.map(Vec::as_slice).unwrap_or_default();
                let (add, value, seen) = (high.id, value(added), value(seen));
                match reads.iter().find(|read| self.is_before(add, **read)) {
                    Some(read) => Fault::Lost { add, value, read: *read },
                    None => {
                        let read = reads.first().copied().unwrap_or(low.id);
                        Fault::Overtaken { add, value, later: low.id, seen, read }
                    }
                }
            }
            _ => {
                let seen = |first: &Option<u32>| *first == Some(high.number / 2);
                let seen = groups.first.iter().position(seen).unwrap_or_default();
                Fault::Vanished { has: high.id, value: self.value(seen), lacks: low.id }
            }
        }
    }

    fn violation(&self, fault: Fault) -> Violation {
        let process = |id: OpId| self.history.caller(id);
        let read = |id: OpId| format!("the read by {}", process(id));
        let (mut core, explanation) = match fault {
            Fault::Twice(id, value) => (vec![id], format!("{} has {value} twice", read(id))),
            Fault::LacksInitial(id, value) => {
                let read = read(id);
                (vec![id], format!("{value} was there at the start and {read} does not have it"))
            }
            Fault::FromNowhere(id, value) => {
                (vec![id], format!("{} has {value}, which is never added", read(id)))
            }
            Fault::Crossed([(one, here), (two, there)]) => {
                let (first, second) = (read(one), read(two));
                let text = format!(
                    "{first} has {here} and not {there}, {second} has {there} and not {here}: one \
                     of the two values was added first"
                );
                (vec![one, two], text)
            }
            Fault::TooEarly { read: id, value, add } => {
                let read = read(id);
                (vec![id, add], format!("{read} has {value} before any add({value}) was called"))
            }
            Fault::Lost { add, value, read: id } => {
                let (adder, read) = (process(add), read(id));
                let text = format!(
                    "{value} was added by {adder} before {read} was called, which does not have it"
                );
                (vec![add, id], text)
            }
            Fault::Vanished { has, value, lacks } => {
                let (first, second) = (read(has), read(lacks));
                let text =
                    format!("{first} has {value}, and {second}, which was called later, does not");
                (vec![has, lacks], text)
            }
            Fault::Overtaken { add, value, later, seen, read: id } => {
                let (adder, read) = (process(add), read(id));
                let text = format!(
                    "{value} was added by {adder} before any add({seen}) was called, but {read} \
                     has {seen} and not {value}"
                );
                (vec![add, later, id], text)
            }
        };
        core.sort_unstable();
        // Which event is the first is not known: another value may be wrong before.
        Violation { blamed: core.clone(), core, explanation, at: None }
    }
}

/// Where an operation comes: a read of a group at twice its number, and at one less what comes
/// before it and after the group before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Slot {
    number: u32,
    /// Whether it comes there, or there or later.
    fixed: bool,
    id: OpId,
}
