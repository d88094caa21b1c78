//! Recorded lines to a history: the one place that knows what an event means.

mod answer;
mod drain;
mod keys;
mod kv;
mod order;
mod usual;

use answer::Answer;
use drain::Drains;
use keys::Keys;
use kv::{key_twice, kv_argument};
use order::Waiting;
pub(crate) use usual::{Part, Whole};

use crate::convert::{Converter, Scalars};
use crate::error::IngestError;
use crate::event::{Event, EventKind, Kind, RawEvent};
use crate::format::Format;
use crate::options::{FailedCas, Order, ReadOptions, Unknown};
use crate::places::{Annotation, Annotations, Places};
use crate::recording::{Counts, Recording};
use crate::remark::Remark;
use crate::token::{Token, View};
use linchpin_history::{Argument, Builder, HistoryError, Rank, ValueId};
use linchpin_spec::{Shape, Signature};
use rustc_hash::FxHashMap;

/// Takes recorded lines, one after the other, and makes a history of them.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    operations: Vec<Operation>,
    /// Whether the object is the key-value store, whose arguments hold the key.
    is_kv: bool,
    failed_cas: FailedCas,
    keys: Keys,
    pub builder: Builder,
    converter: Converter,
    /// Operations by the names that were met.
    names: Vec<(Box<str>, u16)>,
    /// Processes by their number.
    by_number: FxHashMap<i64, u32>,
    processes: Vec<Process>,
    counts: Counts,
    /// Events since they were last cleared, if they are kept.
    pub events: Vec<Event>,
    /// Whether the events are wanted one by one.
    pub keeps_events: bool,
    /// Where each event stands.
    // INVARIANT: as many as the builder has ticked.
    places: Places,
    annotations: Annotations,
    drains: Drains,
    /// Events that are recorded when all are there, if their times are to order them.
    waiting: Option<Waiting>,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug)]
struct Operation {
    signature: Signature,
    answer: Answer,
    /// What of an answer may be `null` because it is not known.
    unknown: Unknown,
    /// What it takes and answers as a rule.
    takes: Scalars,
    answers: Scalars,
}

#[derive(Clone, Debug)]
struct Process {
    name: Box<str>,
    /// The line of its last event.
    line: u64,
    open: Option<Open>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    operation: u16,
    key: ValueId,
    argument: Argument,
}

impl Recorder {
    pub fn new(format: Format, options: &ReadOptions<'_>) -> Recorder {
        let is_mwcas = options.is_spec("mwcas");
        let operation = |signature: &Signature| {
            let answer = match signature.response {
                Shape::Bool if signature.is_called("cas") => Answer::Swap,
                Shape::Any if is_mwcas && signature.is_called("mwcas") => Answer::MultiSwap,
                Shape::Unit if options.guessed => Answer::Echo,
                _ => Answer::Plain,
            };
            let unknown = options.unknown(format, signature);
            let answers = Scalars::of(&signature.response);
            let answers = if answer == Answer::Plain { answers } else { answers.only_bool() };
            Operation {
                signature: signature.clone(),
                answer,
                unknown,
                takes: Scalars::of(&signature.argument),
                answers: match unknown {
                    Unknown::Answer => answers.without_null(),
                    Unknown::Nothing | Unknown::Accesses => answers,
                },
            }
        };
        Recorder {
            operations: options.operations.iter().map(operation).collect(),
            is_kv: options.is_spec("kv"),
            failed_cas: options.failed_cas,
            keys: Keys::asked(options.keyed, options.is_spec("kv")),
            builder: Builder::new(options.operations),
            converter: Converter::default(),
            names: Vec::new(),
            by_number: FxHashMap::default(),
            processes: Vec::new(),
            counts: Counts::default(),
            events: Vec::new(),
            keeps_events: true,
            places: Places::default(),
            annotations: Annotations::default(),
            drains: Drains::new(options),
            waiting: (options.order == Order::Time).then(Waiting::default),
            notes: Vec::new(),
        }
    }

    /// Forgets what has returned. Values get new ids, so all that is remembered by id is found
    /// again or forgotten too.
    pub fn forget_returned(&mut self) {
        self.builder.forget_returned();
        self.converter = Converter::default();
        self.events.clear();
        self.annotations.clear();
        let open = &self.builder.history().operations;
        self.places.forget_but(open.iter().map(|operation| operation.invoked));
        for operation in &self.builder.history().operations {
            if let Some(open) = &mut self.processes[operation.process as usize].open {
                (open.key, open.argument) = (operation.key, operation.argument);
            }
        }
    }

    /// Makes room for so many more operations.
    pub fn reserve(&mut self, operations: usize) {
        self.builder.reserve(operations);
        self.places.reserve(operations * 2);
    }

    /// Whether there was any event.
    pub fn has_events(&self) -> bool {
        self.builder.history().events > Rank::new(0)
    }

    /// A line that is no event of the history.
    pub fn skip(&mut self) {
        self.counts.skipped_lines += 1;
    }

    /// Takes one recorded line.
    pub fn record(&mut self, raw: &RawEvent<'_>) -> Result<(), IngestError> {
        if self.waiting.is_some() {
            return self.hold(raw);
        }
        let kind = match (raw.kind, raw.process) {
            (Kind::Step, _) => None,
            (_, Some(process)) if self.is_beside(raw, process) => {
                self.annotate(raw, process);
                None
            }
            (Kind::Crash, process) => Some(self.crash(raw.line, process)?),
            (_, None) => {
                return Err(malformed(raw.line, "a `process`", "none"));
            }
            (Kind::RecoveredOk | Kind::RecoveredFail, Some(process)) => {
                let process = self.process(raw.line, process)?;
                let kind = self.recovered(raw, process)?;
                self.processes[process as usize].line = raw.line;
                Some(kind)
            }
            (kind, Some(process)) => {
                let process = self.process(raw.line, process)?;
                let drains = self.drains(raw, process);
                if !drains && self.record_usual(raw, process) {
                    self.places.push_time(raw.time);
                    return Ok(());
                }
                let kind = match kind {
                    _ if drains => self.drain(raw, process)?,
                    Kind::Invoke => self.invoke(raw, process)?,
                    _ => self.answer(raw, process)?,
                };
                self.processes[process as usize].line = raw.line;
                Some(kind)
            }
        };
        match kind {
            Some(kind) => {
                self.keep(raw.line, kind);
                self.places.push_time(raw.time);
            }
            None => self.skip(),
        }
        Ok(())
    }

    /// Takes one recorded line, to be recorded in its turn.
    #[cold]
    fn hold(&mut self, raw: &RawEvent<'_>) -> Result<(), IngestError> {
        let beside =
            raw.kind == Kind::Step || raw.process.is_some_and(|it| self.is_beside(raw, it));
        self.waiting.as_mut().map_or(Ok(()), |waiting| waiting.push(raw, beside))
    }

    /// Takes the end of the text.
    pub fn end(&mut self) -> Result<(), IngestError> {
        match self.waiting.take() {
            Some(waiting) => waiting.in_order(|raw| self.record(raw)),
            None => Ok(()),
        }
    }

    /// Whether a line says what happened beside the history: it is of the nemesis, or it is the
    /// `info` of a process with a name that has called nothing, about nothing that can be called.
    #[inline]
    fn is_beside(&self, raw: &RawEvent<'_>, process: View<'_>) -> bool {
        match process.as_text() {
            None => false,
            Some("nemesis") => true,
            Some(name) => raw.kind == Kind::Info && self.is_stranger(name, raw.f),
        }
    }

    #[cold]
    fn is_stranger(&self, process: &str, f: Option<&str>) -> bool {
        process.parse::<i64>().is_err()
            && !self.processes.iter().any(|known| *known.name == *process)
            && f.is_some_and(|f| self.builder.operation(f).is_err())
    }

    #[cold]
    fn annotate(&mut self, raw: &RawEvent<'_>, process: View<'_>) {
        let before = self.builder.history().events;
        self.annotations.push(|| Annotation {
            before,
            line: raw.line,
            time: raw.time,
            process: process.as_text().unwrap_or_default().to_owned(),
            name: raw.f.unwrap_or_default().to_owned(),
            value: match raw.value.first() {
                Token::Null => String::new(),
                _ => raw.value.shown(Annotations::LONGEST),
            },
        });
    }

    #[inline]
    fn keep(&mut self, line: u64, kind: EventKind) {
        self.places.push(line);
        if self.keeps_events {
            self.events.push(Event { line, kind });
        }
    }

    /// The history.
    pub fn finish(mut self, format: Format) -> Recording {
        let answers = self.operations.iter().any(|op| op.signature.response != Shape::Unit);
        let (mut annotations, note) = self.annotations.finish();
        self.notes.extend(note);
        let unknown = self.counts.unknown_reads;
        let mut remarks: Vec<Remark> = self.keys.remark(self.is_kv).into_iter().collect();
        remarks.extend((unknown > 0).then_some(Remark::UnknownReads { count: unknown }));
        if let Some((count, rank)) = self.places.times_going_back() {
            let line = self.places.line(rank).unwrap_or_default();
            remarks.push(Remark::TimesGoBack { count, line });
        }
        let mut history = self.builder.finish();
        remarks.extend(self.drains.expand(&mut history, &mut self.places, &mut annotations));
        let mut recording = Recording::new(history, format, self.counts, answers, self.notes);
        (recording.places, recording.annotations) = (self.places.finish(), annotations);
        recording.remarks = remarks;
        recording
    }

    fn crash(&mut self, line: u64, process: Option<View<'_>>) -> Result<EventKind, IngestError> {
        let process = process.map(|process| self.process(line, process)).transpose()?;
        self.drains.interrupted().map_or(Ok(()), Err)?;
        self.builder.crash(process).map_err(|_| IngestError::TooLong { line })?;
        match process {
            Some(process) => {
                let process = &mut self.processes[process as usize];
                (process.line, process.open) = (line, None);
            }
            None => self.processes.iter_mut().for_each(|process| process.open = None),
        }
        Ok(EventKind::Crash { process })
    }

    fn invoke(&mut self, raw: &RawEvent<'_>, process: u32) -> Result<EventKind, IngestError> {
        let name = raw.f.ok_or_else(|| malformed(raw.line, "an operation name", "none"))?;
        let operation = self.operation(raw.line, name)?;
        let (key, value) = self.split_argument(raw, operation)?;
        let signature = &self.operations[operation as usize].signature;
        let unfit = |_| match key {
            Some(key) if self.is_kv && value.pair().is_some() => {
                key_twice(raw.line, signature, "takes", key, value)
            }
            _ => unfit(raw.line, signature, "takes", &signature.argument, key, value),
        };
        let (key, argument) = if self.is_kv {
            kv_argument(key, value, &signature.argument, &mut self.converter, &mut self.builder)
        } else {
            let converter = &mut self.converter;
            let key = key.map_or(Ok(ValueId::NULL), |key| converter.intern(key, &mut self.builder));
            key.and_then(|key| {
                Ok((key, converter.argument(value, &signature.argument, &mut self.builder)?))
            })
        }
        .map_err(unfit)?;
        let result = self.builder.invoke_compact(process, operation, key, argument);
        result.map_err(|error| self.not_well_formed(error, raw.line, process))?;
        self.counts.has_keys |= key != ValueId::NULL;
        self.processes[process as usize].open = Some(Open { operation, key, argument });
        Ok(EventKind::Invoke { process, operation, key, argument })
    }

    fn operation(&mut self, line: u64, name: &str) -> Result<u16, IngestError> {
        if let Some((_, operation)) = self.names.iter().find(|(known, _)| **known == *name) {
            return Ok(*operation);
        }
        match self.builder.operation(name) {
            Ok(operation) => {
                self.names.push((name.into(), operation));
                Ok(operation)
            }
            Err(error) => Err(self.not_well_formed(error, line, 0)),
        }
    }

    /// The index of a process, which is a number or a name. The number 3 and the name `3` are the
    /// same process.
    pub fn process(&mut self, line: u64, view: View<'_>) -> Result<u32, IngestError> {
        match view.first() {
            Token::Int(number) => Ok(self.numbered(number)),
            Token::Text(span) => Ok(self.named(span.of(view.text))),
            _ => Err(malformed(line, "a process that is a number or a name", &view.to_string())),
        }
    }

    /// The index of a process with a number.
    #[inline]
    pub fn numbered(&mut self, number: i64) -> u32 {
        if let Some(process) = self.by_number.get(&number) {
            return *process;
        }
        let process = self.named(&number.to_string());
        self.by_number.insert(number, process);
        process
    }

    fn named(&mut self, name: &str) -> u32 {
        let process = self.builder.process(name);
        if process as usize >= self.processes.len() {
            // INVARIANT: the builder numbers processes from 0, so the new one is the next.
            self.processes.push(Process { name: name.into(), line: 0, open: None });
        }
        process
    }

    fn name(&self, process: u32) -> String {
        self.processes[process as usize].name.to_string()
    }

    fn not_well_formed(&self, error: HistoryError, line: u64, process: u32) -> IngestError {
        let since = self.processes.get(process as usize).map_or(0, |process| process.line);
        match error {
            HistoryError::StillOpen { process, called, open, .. } => {
                IngestError::StillOpen { line, process, called, open, since }
            }
            HistoryError::NothingOpen { process, .. } => IngestError::NothingOpen { line, process },
            HistoryError::NotInterrupted { process, .. } => {
                IngestError::NotInterrupted { line, process }
            }
            HistoryError::Stopped { process, .. } => IngestError::Stopped { line, process, since },
            HistoryError::UnknownOperation { name, known } => {
                IngestError::UnknownOperation { line, name, known }
            }
            HistoryError::TooLong => IngestError::TooLong { line },
        }
    }
}

fn unfit(
    line: u64,
    signature: &Signature,
    verb: &'static str,
    shape: &Shape,
    key: Option<View<'_>>,
    value: View<'_>,
) -> IngestError {
    let found = match key {
        Some(key) => format!("{value} with the key {key}"),
        None => value.to_string(),
    };
    let (operation, expected) = (signature.name.clone(), shape.to_string());
    IngestError::Shape { line, operation, verb, expected, found }
}

/// A line without what it must have.
pub(crate) fn malformed(line: u64, expected: &str, found: &str) -> IngestError {
    let (expected, found) = (expected.to_owned(), found.to_owned());
    IngestError::Malformed { line, column: None, expected, found }
}

/// The same at a byte of the line, counted from 0.
pub(crate) fn malformed_at(line: u64, byte: usize, expected: &str, found: &str) -> IngestError {
    let (expected, found) = (expected.to_owned(), found.to_owned());
    IngestError::Malformed { line, column: Some(byte as u64 + 1), expected, found }
}
