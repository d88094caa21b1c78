//! `drain` of a queue: as many `dequeue`s as it answers values, all of them any time between its
//! call and its return, in no order.
//!
//! How many there are is known when it returns. So while the events come, a drain is one `dequeue`
//! with its first value, and the others are put beside it when all events are there: their calls
//! right after its call, their returns right after its return. They are calls of processes that are
//! called after the one that drains: `3/drain-1`, `3/drain-2`, ….

use super::{Recorder, malformed};
use crate::error::IngestError;
use crate::event::{EventKind, Kind, RawEvent};
use crate::places::{Annotation, Places};
use crate::token::{Bracket, Token, View};
use linchpin_history::{Argument, History, NEVER, Operation, Rank, ValueId};
use linchpin_spec::{Shape, Signature};
use rustc_hash::FxHashMap;

/// The drains of a recording.
#[derive(Clone, Debug, Default)]
pub(super) struct Drains {
    /// The operation that a drain repeats, if it is none of the object's itself.
    dequeue: Option<u16>,
    /// The processes that drain, each since which line and with which key.
    open: FxHashMap<u32, (u64, ValueId)>,
    /// When drains were called, and their values but the first.
    more: Vec<(Rank, Vec<ValueId>)>,
}

impl Drains {
    pub fn new(operations: &[Signature]) -> Drains {
        let named = |name: &str| operations.iter().position(|signature| signature.is_called(name));
        let takes_nothing = |at: &usize| operations[*at].argument == Shape::Unit;
        let dequeue = match named("drain") {
            Some(_) => None,
            None => named("dequeue").filter(takes_nothing).and_then(|at| u16::try_from(at).ok()),
        };
        Drains { dequeue, ..Drains::default() }
    }

    /// What is wrong with a drain that did not return, if there is one.
    pub fn unknown(&self) -> Option<IngestError> {
        let first = self.open.values().map(|(line, _)| *line).min();
        first.map(|line| IngestError::UnknownDrain { line })
    }

    /// Puts the `dequeue`s that are not there yet beside those that are.
    pub fn expand(self, history: &mut History, places: &mut Places, beside: &mut [Annotation]) {
        if self.more.is_empty() {
            return;
        }
        let more: FxHashMap<Rank, Vec<ValueId>> = self.more.into_iter().collect();
        // How many events come right after each of these.
        let mut inserted: Vec<(Rank, usize)> = Vec::new();
        for operation in &history.operations {
            if let Some(values) = more.get(&operation.invoked) {
                inserted.push((operation.invoked, values.len()));
                inserted.push((operation.returned, values.len()));
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
            let values = more.get(&operation.invoked);
            operation.invoked = moved(operation.invoked);
            operation.returned = moved(operation.returned);
            history.operations.push(operation);
            for (number, value) in (1..).zip(values.into_iter().flatten()) {
                history.operations.push(Operation {
                    process: names.number(&mut history.processes, operation.process, number),
                    response: Argument::One(*value),
                    invoked: operation.invoked + number,
                    returned: operation.returned + number,
                    ..operation
                });
            }
        }
        history.crashes.iter_mut().for_each(|crash| crash.at = moved(crash.at));
        history.events = moved(history.events);
        beside.iter_mut().for_each(|annotation| annotation.before = moved(annotation.before));
        places.repeat(&inserted);
    }
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
            self.drains.open.insert(process, (raw.line, key));
            return Ok(EventKind::Invoke { process, operation, key, argument: Argument::None });
        }
        let values = match raw.kind {
            Kind::Ok => self.drained(raw, process)?,
            Kind::Fail => Vec::new(),
            _ => return Err(IngestError::UnknownDrain { line: raw.line }),
        };
        self.drains.open.remove(&process);
        let called = self.builder.open(process).map(|id| self.builder.history()[id].invoked);
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
            matches!(self.drains.open.get(&process), Some((_, key)) if *key != ValueId::NULL);
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
