//! `drain` of a queue: as many `dequeue`s as it answers values, one after the other, between its
//! call and its return.
//!
//! How many there are is known when it returns. So while the events come, a drain is one `dequeue`
//! with its first value, and the others are put beside it when all events are there (`placed`):
//! in the order of the values where the events allow to say so, and otherwise in no order.
//!
//! A drain of which the outcome is not known has taken any of the values, or none, at any time
//! since its call: it is as many `dequeue`s without an answer as values can be left. These are all
//! that were enqueued, or there at the start, without those that were dequeued for sure. Of several
//! such drains of one object the first does: what a later one may do, its dequeues may do too.

mod placed;

use super::{Recorder, malformed};
use crate::error::IngestError;
use crate::event::{EventKind, Kind, RawEvent};
use crate::options::ReadOptions;
use crate::places::{Annotation, Places};
use crate::remark::Remark;
use crate::token::{Bracket, Token, View};
use linchpin_history::{Argument, History, Rank, ValueId};
use linchpin_spec::Shape;
use placed::{More, place, sequences};
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
    /// Those of which the values are known.
    known: Vec<Known>,
    /// Whether it matters in which order values come out.
    is_ordered: bool,
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

/// A drain that answered some values.
#[derive(Clone, Debug)]
struct Known {
    drain: Drain,
    returned: Rank,
    /// Its values but the first.
    more: Vec<ValueId>,
    /// Whether they are in order: those of a set are not.
    is_list: bool,
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
        let is_ordered = options.spec != "unordered-queue";
        Drains { dequeue, enqueue, initial, is_ordered, ..Drains::default() }
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
    ) -> Vec<Remark> {
        let (unanswered, first) = self.unanswered();
        let mut more = self.may_have_taken(history, &unanswered);
        let sequences = sequences(&self.known, history);
        let is_unordered = |known: &&Known| {
            let is_sequence = sequences.contains_key(&known.drain.called);
            self.is_ordered && known.is_list && !known.more.is_empty() && !is_sequence
        };
        let unordered: Vec<u64> =
            self.known.iter().filter(is_unordered).map(|known| known.drain.line).collect();
        for Known { drain, more: values, .. } in self.known {
            more.insert(
                drain.called,
                match sequences.get(&drain.called) {
                    Some(after) => More::Sequence { values, after: *after },
                    None => More::Values(values),
                },
            );
        }
        more.retain(|_, more| more.len() > 0);
        place(&more, history, places, beside);
        let unknown = first.map(|line| Remark::UnknownDrain { line, count: unanswered.len() });
        let count = unordered.len();
        let line = unordered.into_iter().min();
        let unordered = line.map(|line| Remark::UnorderedDrain { line, count });
        unknown.into_iter().chain(unordered).collect()
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
            self.known.iter().map(|known| (known.drain.called, known.more.len())).collect();
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
        let (values, is_list) = match raw.kind {
            Kind::Ok => self.drained(raw, process)?,
            Kind::Fail => (Vec::new(), false),
            _ => {
                let ended = self.builder.info(process);
                ended.map_err(|error| self.not_well_formed(error, raw.line, process))?;
                self.drains.unknown.extend(self.drains.open.remove(&process));
                return Ok(EventKind::Info { process });
            }
        };
        let drain = self.drains.open.remove(&process);
        let result = match values.split_first() {
            Some((first, more)) => {
                self.counts.completed += values.len() as u64;
                self.counts.answered += values.len() as u64;
                let (returned, more) = (self.builder.history().events, more.to_vec());
                let known = drain.map(|drain| Known { drain, returned, more, is_list });
                self.drains.known.extend(known);
                self.builder.ok_compact(process, Argument::One(*first))
            }
            // It found nothing, or did not happen.
            None => self.builder.fail(process),
        };
        result.map_err(|error| self.not_well_formed(error, raw.line, process))?;
        Ok(EventKind::Fail { process })
    }

    /// The values that an `ok` of a drain has, and whether they are in order.
    fn drained(
        &mut self,
        raw: &RawEvent<'_>,
        process: u32,
    ) -> Result<(Vec<ValueId>, bool), IngestError> {
        let is_keyed =
            self.drains.open.get(&process).is_some_and(|drain| drain.key != ValueId::NULL);
        let value = match raw.value.pair() {
            Some((_, value)) if is_keyed && raw.key.is_none() => value,
            _ => raw.value,
        };
        let is_list = value.first() == Token::Open(Bracket::List);
        let is_set = value.first() == Token::Open(Bracket::Set);
        let intern = |item: View<'_>| self.converter.intern(item, &mut self.builder);
        let values: Result<Vec<ValueId>, _> = value.items().map(intern).collect();
        match values {
            Ok(values) if is_list || is_set => Ok((values, is_list)),
            _ if value.first() == Token::Null => Ok((Vec::new(), false)),
            _ => Err(malformed(raw.line, "a list of the values drained", &value.to_string())),
        }
    }
}
