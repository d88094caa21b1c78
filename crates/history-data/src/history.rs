//! A history: operations with their times, compact enough for a million of them.
//!
//! Start with [`Builder`] to make one, [`Operation`] to read one.

use crate::{NEVER, OpId, Rank, ValueId, ValueTable};
use linchpin_spec::{Call, Shape, Signature, Value};
use rustc_hash::FxHashMap;
use std::ops::{Index, IndexMut};
use thiserror::Error;

/// A history: what processes called, what they were answered, and in which order.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The operations.
    ///
    /// INVARIANT: in the order of their invocations.
    pub operations: Vec<Operation>,
    /// The values that occur.
    pub values: ValueTable,
    /// The words of multi-word operations, which [`Argument::Words`] points into.
    pub words: Vec<[ValueId; 3]>,
    /// The crashes, in order.
    pub crashes: Vec<Crash>,
    /// What recovery said about operations that crashes interrupted, in order. Only
    /// [`Property::Detectable`](crate::crash::Property::Detectable) looks at it.
    pub recovered: Vec<Recovered>,
    /// How many events there are; ranks are smaller than this.
    pub events: Rank,
    /// The names of the processes, for messages; `Operation::process` is an index.
    pub processes: Vec<String>,
    /// Where it is from, which decides the words of messages.
    pub origin: Origin,
}

/// Where a history is from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// From a log: of processes, and `null`s.
    #[default]
    Log,
    /// From a run of a model: of threads, and `none`s.
    Model,
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Who called it: index into [`History::processes`].
    pub process: u32,
    /// What was called: index into the operations of the specification.
    pub operation: u16,
    /// Whether it returned. If not it may have taken effect, before `returned`, or not.
    pub completed: bool,
    /// The object it was called on, where one history records many; [`ValueId::NULL`] if it records
    /// one.
    pub key: ValueId,
    /// With what.
    pub argument: Argument,
    /// What it answered; meaningless if it did not complete.
    pub response: Argument,
    /// When it was called.
    pub invoked: Rank,
    /// When it returned. If it did not: the instant by which it must have taken effect if it ever
    /// does, which is
    /// [`NEVER`] unless a crash model says otherwise.
    pub returned: Rank,
}

/// An argument or a response, without its own allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Argument {
    /// Nothing.
    None,
    /// One value.
    One(ValueId),
    /// Two values: `cas [old, new]`, `put [k, v]`.
    Two(ValueId, ValueId),
    /// Words of a multi-word operation.
    Words {
        /// Where they start in [`History::words`].
        start: u32,
        /// How many.
        count: u16,
        /// How many values of each word count (2 or 3).
        width: u8,
    },
}

/// A crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crash {
    /// When.
    pub at: Rank,
    /// Of which process; of the whole system if absent.
    pub process: Option<u32>,
}

/// What recovery said about an operation that a crash interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// When it said so.
    pub at: Rank,
    /// When the operation was called.
    pub called: Rank,
    /// What it said.
    pub outcome: RecoveredOutcome,
}

/// What became of an operation that a crash interrupted, as recovery has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveredOutcome {
    /// It took effect and answered this.
    TookEffect(Argument),
    /// It had no effect, and will have none.
    NoEffect,
}

impl Operation {
    /// Whether it is known not to have happened, in a history under way: see [`Builder::fail`].
    pub fn has_failed(&self) -> bool {
        self.completed && self.returned == self.invoked
    }

    /// Whether this returned before `other` was called.
    pub fn precedes(&self, other: &Operation) -> bool {
        self.returned < other.invoked
    }
}

impl Index<OpId> for History {
    type Output = Operation;

    #[inline]
    fn index(&self, id: OpId) -> &Operation {
        &self.operations[id.index()]
    }
}

impl IndexMut<OpId> for History {
    #[inline]
    fn index_mut(&mut self, id: OpId) -> &mut Operation {
        &mut self.operations[id.index()]
    }
}

impl History {
    /// The ids of the operations, in the order of their invocations.
    #[inline]
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = OpId> + ExactSizeIterator + Clone + use<> {
        (0..self.operations.len()).map(OpId::new)
    }

    /// The operations with their ids.
    #[inline]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (OpId, &Operation)> + ExactSizeIterator {
        self.operations.iter().enumerate().map(|(at, operation)| (OpId::new(at), operation))
    }

    /// The name of a process, `?` if it has none.
    pub fn process_name(&self, process: u32) -> &str {
        usize::try_from(process)
            .ok()
            .and_then(|at| self.processes.get(at))
            .map_or("?", String::as_str)
    }

    /// Who called an operation, in words: `process 3`.
    pub fn caller(&self, id: OpId) -> String {
        let name = self.process_name(self[id].process);
        match self.origin {
            Origin::Log => format!("process {name}"),
            Origin::Model => format!("thread {name}"),
        }
    }

    /// A value, in words.
    pub fn say(&self, value: &Value) -> String {
        match (self.origin, value) {
            (Origin::Model, Value::Null) => "none".to_owned(),
            _ => value.brief(),
        }
    }

    /// The words that an argument points to.
    pub fn words(&self, argument: Argument) -> &[[ValueId; 3]] {
        match argument {
            Argument::Words { start, count, .. } => {
                &self.words[start as usize..start as usize + count as usize]
            }
            _ => &[],
        }
    }

    /// A value as an argument of this shape.
    pub(crate) fn argument(&mut self, value: Value, shape: &Shape) -> Argument {
        let values = &mut self.values;
        match (shape, &value) {
            (Shape::Unit, _) => Argument::None,
            (Shape::Tuple(shapes), Value::List(items)) if shapes.len() == 2 && items.len() == 2 => {
                Argument::Two(values.intern(items[0].clone()), values.intern(items[1].clone()))
            }
            (Shape::List(item), Value::List(items)) if matches!(&**item, Shape::Tuple(_)) => {
                match words(items, values) {
                    Some((words, width)) => self.push_words(&words, width),
                    None => Argument::One(self.values.intern(value)),
                }
            }
            _ => Argument::One(values.intern(value)),
        }
    }

    fn push_words(&mut self, words: &[[ValueId; 3]], width: u8) -> Argument {
        let start = self.words.len() as u32;
        self.words.extend_from_slice(words);
        Argument::Words { start, count: words.len() as u16, width }
    }

    /// An argument or response as a value.
    pub fn value(&self, argument: Argument) -> Value {
        let get = |id| self.values.get(id);
        match argument {
            Argument::None => Value::Null,
            Argument::One(id) => get(id),
            Argument::Two(a, b) => Value::list([get(a), get(b)]),
            Argument::Words { width, .. } => {
                let word = |word: &[ValueId; 3]| {
                    Value::list(word.iter().take(width as usize).map(|id| get(*id)))
                };
                Value::list(self.words(argument).iter().map(word))
            }
        }
    }

    /// The call of an operation, as a specification takes it.
    pub fn call(&self, id: OpId) -> Call {
        let operation = &self.operations[id.index()];
        Call {
            operation: usize::from(operation.operation),
            argument: self.value(operation.argument),
        }
    }

    /// The answer of an operation, if it completed.
    pub fn response(&self, id: OpId) -> Option<Value> {
        let operation = &self.operations[id.index()];
        operation.completed.then(|| self.value(operation.response))
    }
}

/// A history that cannot be one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HistoryError {
    /// A process called while its last call was open.
    #[error(
        "process {process} calls `{called}` at event {at}, but its `{open}` from event {since} has not returned"
    )]
    StillOpen {
        /// The process.
        process: String,
        /// What it calls.
        called: String,
        /// What is open.
        open: String,
        /// Since when.
        since: Rank,
        /// The event.
        at: Rank,
    },
    /// A response without a call.
    #[error("process {process} gets an answer at event {at}, but has called nothing")]
    NothingOpen {
        /// The process.
        process: String,
        /// The event.
        at: Rank,
    },
    /// A process that is known to have stopped does something.
    #[error(
        "process {process} acts at event {at}, although the outcome of its last operation is unknown (`info` at event {since})"
    )]
    Stopped {
        /// The process.
        process: String,
        /// Since when.
        since: Rank,
        /// The event.
        at: Rank,
    },
    /// An answer of recovery about nothing that a crash interrupted.
    #[error(
        "recovery answers for process {process} at event {at}, but no crash interrupted its last operation"
    )]
    NotInterrupted {
        /// The process.
        process: String,
        /// The event.
        at: Rank,
    },
    /// No such operation.
    #[error("the specification has no operation `{name}`; it has {known}")]
    UnknownOperation {
        /// What was called.
        name: String,
        /// What could be.
        known: String,
    },
    /// More events than ranks.
    #[error("a history can have at most {} events", NEVER - 1)]
    TooLong,
}

/// What a process is doing.
#[derive(Clone, Copy, Debug)]
enum Activity {
    Idle,
    /// The operation is open.
    Open(OpId),
    /// A crash interrupted the operation, and nothing was called since.
    Interrupted(OpId),
    /// Its last operation ended in `info`, at this event.
    Unknown(Rank),
}

impl Activity {
    fn interrupt(&mut self) {
        *self = match *self {
            // One that was interrupted before, and not recovered since, is still the one to ask
            // about.
            Activity::Open(id) | Activity::Interrupted(id) => Activity::Interrupted(id),
            Activity::Idle | Activity::Unknown(_) => Activity::Idle,
        };
    }
}

/// Makes a history, event by event.
///
/// ```
/// use linchpin_history_data::Builder;
/// use linchpin_spec::{Queue, Spec, Value};
///
/// let queue = Queue::default();
/// let mut builder = Builder::new(queue.operations());
/// builder.invoke("a", "enqueue", Value::Int(7))?;
/// builder.invoke("b", "dequeue", Value::Null)?;
/// builder.ok("b", Value::Int(7))?;
/// let history = builder.finish();
/// assert_eq!(history.operations.len(), 2);
/// assert!(!history.operations[0].completed);
/// # Ok::<(), linchpin_history_data::HistoryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    signatures: Vec<Signature>,
    history: History,
    names: FxHashMap<String, u32>,
    activities: Vec<Activity>,
}

impl Builder {
    /// A builder for histories of an object with these operations.
    pub fn new(signatures: &[Signature]) -> Builder {
        Builder {
            signatures: signatures.to_vec(),
            history: History::default(),
            names: FxHashMap::default(),
            activities: Vec::new(),
        }
    }

    /// The values so far: readers intern what they read here.
    pub fn values(&mut self) -> &mut ValueTable {
        &mut self.history.values
    }

    /// The history so far; operations that did not happen are still in it.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Forgets operations that have returned or cannot be answered any more, and values and words
    /// that only they mention, so that an endless history can be read in bounded memory.
    /// Operations, values and words get new ids.
    pub fn forget_returned(&mut self) {
        let open: Vec<OpId> = self
            .activities
            .iter()
            .filter_map(|activity| match activity {
                Activity::Open(id) | Activity::Interrupted(id) => Some(*id),
                _ => None,
            })
            .collect();
        let (operations, values, words) = crate::part::extract(&self.history, &open);
        let mut next = (0..).map(OpId::new);
        for activity in &mut self.activities {
            if let Activity::Open(id) | Activity::Interrupted(id) = activity
                && let Some(next) = next.next()
            {
                *id = next;
            }
        }
        self.history.operations = operations;
        self.history.values = values;
        self.history.words = words;
        self.history.crashes.clear();
        self.history.recovered.clear();
    }

    /// The index of a process; the first mention makes it.
    pub fn process(&mut self, name: &str) -> u32 {
        if let Some(at) = self.names.get(name) {
            return *at;
        }
        let at = self.history.processes.len() as u32;
        self.names.insert(name.to_owned(), at);
        self.history.processes.push(name.to_owned());
        self.activities.push(Activity::Idle);
        at
    }

    /// The index of an operation.
    pub fn operation(&self, name: &str) -> Result<u16, HistoryError> {
        find_operation(&self.signatures, name)
    }

    /// A value as an argument of this shape.
    pub fn argument(&mut self, value: Value, shape: &Shape) -> Argument {
        self.history.argument(value, shape)
    }

    /// Words as an argument.
    pub fn words(&mut self, words: &[[ValueId; 3]], width: u8) -> Argument {
        self.history.push_words(words, width)
    }

    /// A process calls an operation.
    pub fn invoke(
        &mut self,
        process: &str,
        name: &str,
        argument: Value,
    ) -> Result<(), HistoryError> {
        let process = self.process(process);
        let operation = self.operation(name)?;
        let shape = self.signatures[operation as usize].argument.clone();
        let argument = self.argument(argument, &shape);
        self.invoke_compact(process, operation, ValueId::NULL, argument)
    }

    /// The process is answered.
    pub fn ok(&mut self, process: &str, response: Value) -> Result<(), HistoryError> {
        let process = self.process(process);
        let Some(open) = self.open(process) else {
            return Err(self.nothing_open(process));
        };
        let operation = self.history[open].operation;
        let shape = self.signatures[operation as usize].response.clone();
        let response = self.argument(response, &shape);
        self.ok_compact(process, response)
    }

    /// The open operation of a process.
    #[inline]
    pub fn open(&self, process: u32) -> Option<OpId> {
        match self.activities[process as usize] {
            Activity::Open(id) => Some(id),
            _ => None,
        }
    }

    /// The last operation of a process, if a crash interrupted it.
    pub fn interrupted(&self, process: u32) -> Option<OpId> {
        match self.activities[process as usize] {
            Activity::Interrupted(id) => Some(id),
            _ => None,
        }
    }

    /// The open or interrupted operation of a process was called with this, as is known now.
    pub fn call_was(&mut self, process: u32, argument: Argument) {
        if let Some(open) = self.open(process).or_else(|| self.interrupted(process)) {
            self.history[open].argument = argument;
        }
    }

    /// Makes room for so many more operations.
    pub fn reserve(&mut self, operations: usize) {
        self.history.operations.reserve(operations);
    }

    /// A process calls an operation: the form for readers.
    // Inlined with `ok_compact`, for readers of terse formats spend most of their time here.
    #[inline]
    pub fn invoke_compact(
        &mut self,
        process: u32,
        operation: u16,
        key: ValueId,
        argument: Argument,
    ) -> Result<(), HistoryError> {
        match self.activities[process as usize] {
            Activity::Idle | Activity::Interrupted(_) => {}
            Activity::Open(open) => return Err(self.still_open(process, open, operation)),
            Activity::Unknown(since) => return Err(self.stopped(process, since)),
        }
        let invoked = self.tick()?;
        self.activities[process as usize] =
            Activity::Open(OpId::new(self.history.operations.len()));
        self.history.operations.push(Operation {
            process,
            operation,
            completed: false,
            key,
            argument,
            response: Argument::None,
            invoked,
            returned: NEVER,
        });
        Ok(())
    }

    /// A process is answered: the form for readers.
    #[inline]
    pub fn ok_compact(&mut self, process: u32, response: Argument) -> Result<(), HistoryError> {
        let Some(open) = self.open(process) else {
            return Err(self.nothing_open(process));
        };
        let returned = self.tick()?;
        let operation = &mut self.history[open];
        operation.completed = true;
        operation.response = response;
        operation.returned = returned;
        self.activities[process as usize] = Activity::Idle;
        Ok(())
    }

    /// A process calls an operation of which the answer is known already, but not yet given: the
    /// form for readers of whole operations. [`Builder::ok_answered`] gives it.
    #[inline]
    pub fn invoke_answered(
        &mut self,
        process: u32,
        operation: u16,
        argument: Argument,
        response: Argument,
    ) -> Result<(), HistoryError> {
        self.invoke_compact(process, operation, ValueId::NULL, argument)?;
        if let Some(called) = self.history.operations.last_mut() {
            called.response = response;
        }
        Ok(())
    }

    /// A process is answered what [`Builder::invoke_answered`] said.
    #[inline]
    pub fn ok_answered(&mut self, process: u32) -> Result<(), HistoryError> {
        let Some(open) = self.open(process) else {
            return Err(self.nothing_open(process));
        };
        let response = self.history[open].response;
        self.ok_compact(process, response)
    }

    /// The outcome of the open operation is unknown; the process calls nothing more.
    pub fn info(&mut self, process: u32) -> Result<(), HistoryError> {
        if self.open(process).is_none() {
            return Err(self.nothing_open(process));
        }
        let at = self.tick()?;
        self.activities[process as usize] = Activity::Unknown(at);
        Ok(())
    }

    /// The open operation did not happen. It is marked by a `returned` before its `invoked`, and
    /// dropped at the end.
    pub fn fail(&mut self, process: u32) -> Result<(), HistoryError> {
        let Some(open) = self.open(process) else {
            return Err(self.nothing_open(process));
        };
        self.tick()?;
        let operation = &mut self.history[open];
        operation.completed = true;
        operation.returned = operation.invoked;
        self.activities[process as usize] = Activity::Idle;
        Ok(())
    }

    /// The system, or one process, crashes. What is open stays without an answer, unless recovery
    /// gives one; processes may call again.
    pub fn crash(&mut self, process: Option<u32>) -> Result<(), HistoryError> {
        let at = self.tick()?;
        self.history.crashes.push(Crash { at, process });
        match process {
            Some(process) => self.activities[process as usize].interrupt(),
            None => self.activities.iter_mut().for_each(Activity::interrupt),
        }
        Ok(())
    }

    /// Recovery says what became of the last operation of a process, which a crash interrupted.
    pub fn recovered(
        &mut self,
        process: u32,
        outcome: RecoveredOutcome,
    ) -> Result<(), HistoryError> {
        let Some(interrupted) = self.interrupted(process) else {
            let (process, at) =
                (self.history.processes[process as usize].clone(), self.history.events);
            return Err(HistoryError::NotInterrupted { process, at });
        };
        let at = self.tick()?;
        let called = self.history[interrupted].invoked;
        self.history.recovered.push(Recovered { at, called, outcome });
        self.activities[process as usize] = Activity::Idle;
        Ok(())
    }

    /// The history so far, without operations that did not happen.
    pub fn finish(mut self) -> History {
        self.history.operations.retain(|operation| !operation.has_failed());
        self.history
    }

    #[cold]
    fn still_open(&self, process: u32, open: OpId, called: u16) -> HistoryError {
        let open = &self.history[open];
        let name = |at: u16| self.signatures[at as usize].name.clone();
        HistoryError::StillOpen {
            process: self.history.processes[process as usize].clone(),
            called: name(called),
            open: name(open.operation),
            since: open.invoked,
            at: self.history.events,
        }
    }

    #[cold]
    fn stopped(&self, process: u32, since: Rank) -> HistoryError {
        let (process, at) = (self.history.processes[process as usize].clone(), self.history.events);
        HistoryError::Stopped { process, since, at }
    }

    #[cold]
    fn nothing_open(&self, process: u32) -> HistoryError {
        let (name, at) = (self.history.processes[process as usize].clone(), self.history.events);
        match self.activities[process as usize] {
            Activity::Unknown(since) => self.stopped(process, since),
            _ => HistoryError::NothingOpen { process: name, at },
        }
    }

    #[inline]
    fn tick(&mut self) -> Result<Rank, HistoryError> {
        let at = self.history.events;
        if at >= NEVER - 1 {
            return Err(HistoryError::TooLong);
        }
        self.history.events += 1;
        Ok(at)
    }
}

/// The index of the operation with this name.
pub(crate) fn find_operation(signatures: &[Signature], name: &str) -> Result<u16, HistoryError> {
    let found = signatures.iter().position(|signature| signature.is_called(name));
    found.map(|at| at as u16).ok_or_else(|| HistoryError::UnknownOperation {
        name: name.to_owned(),
        known: signatures.iter().map(|s| s.name.as_str()).collect::<Vec<_>>().join(", "),
    })
}

/// Lists of two or three values as words.
fn words(items: &[Value], values: &mut ValueTable) -> Option<(Vec<[ValueId; 3]>, u8)> {
    let width = items.first().and_then(Value::as_list).map_or(3, <[Value]>::len);
    if !(2..=3).contains(&width) || items.len() > usize::from(u16::MAX) {
        return None;
    }
    let mut words = Vec::with_capacity(items.len());
    for item in items {
        let item = item.as_list().filter(|item| item.len() == width)?;
        let mut word = [ValueId::NULL; 3];
        for (slot, value) in word.iter_mut().zip(item) {
            *slot = values.intern(value.clone());
        }
        words.push(word);
    }
    Some((words, width as u8))
}
