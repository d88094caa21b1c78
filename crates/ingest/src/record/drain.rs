//! `drain` of a queue: as many `dequeue`s as it answers values, all of them any time between its
//! call and its return, in no order.
//!
//! How many there are is known when it returns. So while the events come, a drain is one `dequeue`
//! with its first value, and the others are put beside it when all events are there: their calls
//! right after its call, their returns right after its return. They are calls of processes that are
//! called after the one that drains: `3/drain-1`, `3/drain-2`, ….
//!
//! A drain of which the outcome is not known has taken any of the values, or none, at any time since
//! its call: it is as many `dequeue`s without an answer as values can be left. These are all that
//! were enqueued, or there at the start, without those that were dequeued for sure. Of several such
//! drains of one object the first does: what a later one may do, its dequeues may do too.

use super::{Recorder, malformed};
use crate::error::IngestError;
use crate::event::{EventKind, Kind, RawEvent};
use crate::options::ReadOptions;
use crate::places::{Annotation, Places};
use crate::remark::Remark;
use crate::token::{Bracket, Token, View};
use linchpin_history::{Argument, History, NEVER, Operation, Rank, ValueId};
use linchpin_spec::Shape;
use rustc_hash::FxHashMap;

/// The drains of a recording.
#[derive(Clone, Debug, Default)]
pub(super) struct Drains {
    /// The operation that a drain repeats, if it is none of the object's itself.
    dequeue: Option<u16>,
    enqueue: Option<u16>,
    /// How many values are there at the start.
    initial: usize,
    /// The processes that drain.
    open: FxHashMap<u32, Drain>,
    /// When drains were called, and their values but the first.
    more: Vec<(Rank, Vec<ValueId>)>,
    /// Those that ended in `info`.
    unknown: Vec<Drain>,
}

/// The call of a drain.
#[derive(Clone, Copy, Debug)]
struct Drain {
    line: u64,
    called: Rank,
    key: ValueId,
}

/// What a drain is besides its first `dequeue`.
enum More {
    /// Dequeues that answered these.
    Values(Vec<ValueId>),
    /// So many that may have happened.
    Unknown(usize),
}

impl More {
    fn len(&self) -> usize {
        match self {
            More::Values(values) => values.len(),
            More::Unknown(count) => *count,
        }
    }
}

impl Drains {
    pub fn new(options: &ReadOptions<'_>) -> Drains {
        let operations = options.operations;
        let named = |name: &str| operations.iter().position(|signature| signature.is_called(name));
        let takes_nothing = |at: &usize| operations[*at].argument == Shape::Unit;
        let number = |at| u16::try_from(at).ok();
        let dequeue = match named("drain") {
            Some(_) => None,
            None => named("dequeue").filter(takes_nothing).and_then(number),
        };
        let (enqueue, initial) = (named("enqueue").and_then(number), options.initial);
        Drains { dequeue, enqueue, initial, ..Drains::default() }
    }

    /// Those without an answer, and the line of the first.
    fn unanswered(&self) -> (Vec<Drain>, Option<u64>) {
        let all: Vec<Drain> = self.open.values().chain(&self.unknown).copied().collect();
        let first = all.iter().map(|drain| drain.line).min();
        (all, first)
    }

    /// What is wrong with a crash now: by when a drain without an answer took effect is not known.
    pub fn interrupted(&self) -> Option<IngestError> {
        self.unanswered().1.map(|line| IngestError::InterruptedDrain { line })
    }

    /// Puts the `dequeue`s that are not there yet beside those that are; what is to be said of it.
    pub fn expand(
        self,
        history: &mut History,
        places: &mut Places,
        beside: &mut [Annotation],
    ) -> Option<Remark> {
        let (unanswered, first) = self.unanswered();
        let mut more = self.may_have_taken(history, &unanswered);
        more.extend(self.more.into_iter().map(|(called, values)| (called, More::Values(values))));
        more.retain(|_, more| more.len() > 0);
        put_beside(&more, history, places, beside);
        first.map(|line| Remark::UnknownDrain { line, count: unanswered.len() })
    }

    /// What the first of these drains, of each object, may have taken beside its first `dequeue`.
    fn may_have_taken(&self, history: &History, unanswered: &[Drain]) -> FxHashMap<Rank, More> {
        let mut first: FxHashMap<ValueId, Rank> = FxHashMap::default();
        for drain in unanswered {
            let called = first.entry(drain.key).or_insert(drain.called);
            *called = drain.called.min(*called);
        }
        // What was enqueued, and what was dequeued for sure.
        let mut values: FxHashMap<ValueId, (usize, usize)> =
            first.keys().map(|key| (*key, (self.initial, 0))).collect();
        let drained: FxHashMap<Rank, usize> =
            self.more.iter().map(|(called, values)| (*called, values.len())).collect();
        for operation in &history.operations {
            let Some((enqueued, dequeued)) = values.get_mut(&operation.key) else { continue };
            if Some(operation.operation) == self.enqueue {
                *enqueued += 1;
            } else if Some(operation.operation) == self.dequeue
                && operation.completed
                && operation.response != Argument::One(ValueId::NULL)
            {
                *dequeued += 1 + drained.get(&operation.invoked).copied().unwrap_or(0);
            }
        }
        let left = |key: &ValueId| {
            let (enqueued, dequeued) = values.get(key).copied().unwrap_or_default();
            enqueued.saturating_sub(dequeued)
        };
        let more = first.iter().map(|(key, called)| (*called, left(key).saturating_sub(1)));
        more.map(|(called, count)| (called, More::Unknown(count))).collect()
    }
}

/// Puts `dequeue`s beside those that were called at these events.
fn put_beside(
    more: &FxHashMap<Rank, More>,
    history: &mut History,
    places: &mut Places,
    beside: &mut [Annotation],
) {
    if more.is_empty() {
        return;
    }
    // How many events come right after each of these.
    let mut inserted: Vec<(Rank, usize)> = Vec::new();
    for operation in &history.operations {
        if let Some(more) = more.get(&operation.invoked) {
            inserted.push((operation.invoked, more.len()));
            if operation.completed {
                inserted.push((operation.returned, more.len()));
            }
        }
    }
    inserted.sort_unstable();
    let mut sum = 0;
    let shifts: Vec<(Rank, usize)> = inserted
        .iter()
        .map(|(rank, count)| {
            sum += count;
            (*rank, sum)
        })
        .collect();
    let moved = |rank: Rank| {
        let before = shifts.partition_point(|(at, _)| *at < rank);
        let shift = before.checked_sub(1).map_or(0, |at| shifts[at].1);
        if rank == NEVER { NEVER } else { Rank::at(rank.index() + shift) }
    };
    let mut names = Names::default();
    let old = std::mem::take(&mut history.operations);
    for mut operation in old {
        let more = more.get(&operation.invoked);
        operation.invoked = moved(operation.invoked);
        operation.returned = moved(operation.returned);
        history.operations.push(operation);
        for number in 1..=more.map_or(0, More::len) {
            let response = match more {
                Some(More::Values(values)) => Argument::One(values[number - 1]),
                _ => Argument::None,
            };
            let (number, returned) = (number as u32, operation.returned);
            history.operations.push(Operation {
                process: names.number(&mut history.processes, operation.process, number),
                response,
                invoked: operation.invoked + number,
                returned: if operation.completed { returned + number } else { NEVER },
                ..operation
            });
        }
    }
    history.crashes.iter_mut().for_each(|crash| crash.at = moved(crash.at));
    for recovered in &mut history.recovered {
        (recovered.at, recovered.called) = (moved(recovered.at), moved(recovered.called));
    }
    history.events = moved(history.events);
    beside.iter_mut().for_each(|annotation| annotation.before = moved(annotation.before));
    places.repeat(&inserted);
}

/// The processes that are called after one that drains, by it and their number.
#[derive(Default)]
struct Names(FxHashMap<(u32, u32), u32>);

impl Names {
    fn number(&mut self, names: &mut Vec<String>, process: u32, number: u32) -> u32 {
        *self.0.entry((process, number)).or_insert_with(|| {
            let name = names.get(process as usize).map_or("", String::as_str);
            names.push(format!("{name}/drain-{number}"));
            u32::try_from(names.len() - 1).unwrap_or(process)
        })
    }
}

impl Recorder {
    /// Whether this is an event of a drain.
    #[inline]
    pub(super) fn drains(&self, raw: &RawEvent<'_>, process: u32) -> bool {
        self.drains.dequeue.is_some()
            && (raw.f == Some("drain")
                || !self.drains.open.is_empty() && self.drains.open.contains_key(&process))
    }

    /// Takes an event of a drain.
    #[cold]
    pub(super) fn drain(
        &mut self,
        raw: &RawEvent<'_>,
        process: u32,
    ) -> Result<EventKind, IngestError> {
        let operation = self.drains.dequeue.unwrap_or_default();
        if self.keeps_events {
            return Err(IngestError::StreamedDrain { line: raw.line });
        }
        if raw.kind == Kind::Invoke {
            let (key, _) = self.split_argument(raw, operation)?;
            let key = key.map(|key| self.converter.intern(key, &mut self.builder));
            let key = key.transpose().map_err(|_| malformed(raw.line, "a key", "another value"))?;
            let key = key.unwrap_or(ValueId::NULL);
            let called = self.builder.invoke_compact(process, operation, key, Argument::None);
            called.map_err(|error| self.not_well_formed(error, raw.line, process))?;
            self.counts.has_keys |= key != ValueId::NULL;
            // INVARIANT: the builder has just ticked for the call.
            let called = self.builder.history().events - 1;
            self.drains.open.insert(process, Drain { line: raw.line, called, key });
            return Ok(EventKind::Invoke { process, operation, key, argument: Argument::None });
        }
        let values = match raw.kind {
            Kind::Ok => self.drained(raw, process)?,
            Kind::Fail => Vec::new(),
            _ => {
                let ended = self.builder.info(process);
                ended.map_err(|error| self.not_well_formed(error, raw.line, process))?;
                self.drains.unknown.extend(self.drains.open.remove(&process));
                return Ok(EventKind::Info { process });
            }
        };
        let called = self.drains.open.remove(&process).map(|drain| drain.called);
        let result = match values.split_first() {
            Some((first, more)) => {
                self.counts.completed += values.len() as u64;
                self.counts.answered += values.len() as u64;
                self.drains.more.extend(called.map(|called| (called, more.to_vec())));
                self.builder.ok_compact(process, Argument::One(*first))
            }
            // It found nothing, or did not happen.
            None => self.builder.fail(process),
        };
        result.map_err(|error| self.not_well_formed(error, raw.line, process))?;
        Ok(EventKind::Fail { process })
    }

    /// The values that an `ok` of a drain has.
    fn drained(&mut self, raw: &RawEvent<'_>, process: u32) -> Result<Vec<ValueId>, IngestError> {
        let is_keyed =
            self.drains.open.get(&process).is_some_and(|drain| drain.key != ValueId::NULL);
        let value = match raw.value.pair() {
            Some((_, value)) if is_keyed && raw.key.is_none() => value,
            _ => raw.value,
        };
        let is_list = matches!(value.first(), Token::Open(Bracket::List | Bracket::Set));
        let intern = |item: View<'_>| self.converter.intern(item, &mut self.builder);
        let values: Result<Vec<ValueId>, _> = value.items().map(intern).collect();
        match values {
            Ok(values) if is_list => Ok(values),
            _ if value.first() == Token::Null => Ok(Vec::new()),
            _ => Err(malformed(raw.line, "a list of the values drained", &value.to_string())),
        }
    }
}
