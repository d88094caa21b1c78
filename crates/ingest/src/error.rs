//! What can be wrong with a recording. Files are named by the caller: these messages begin with the
//! line.

use crate::format::{Format, names};
use crate::options::ReadOptions;
use linchpin_history::PartialError;
use std::io;
use thiserror::Error;

/// A recording that cannot be read.
#[derive(Debug, Error)]
pub enum IngestError {
    /// Compressed text that is too long when it is not, or a stream that has no end.
    #[error("it decompresses to more than {most} bytes; decompress it first if that is meant")]
    TooLarge {
        /// How many bytes are allowed.
        most: u64,
    },
    /// Bytes that come from no regular file and do not end.
    #[error("it gives more than {most} bytes and may not end; write it to a file if that is meant")]
    Endless {
        /// How many bytes are allowed.
        most: u64,
    },
    /// Text that is not of the format.
    #[error("line {line}{}: expected {expected}, found {found}", comma_column(*column))]
    Malformed {
        /// The line, from 1.
        line: u64,
        /// The column, from 1, where it is known.
        column: Option<u64>,
        /// What should be there.
        expected: String,
        /// What is.
        found: String,
    },
    /// Bytes that are not of the format.
    #[error("at byte {at}: expected {expected}, found {found}")]
    Binary {
        /// The byte, from 0.
        at: usize,
        /// What should be there.
        expected: String,
        /// What is.
        found: String,
    },
    /// An argument or an answer that the operation cannot have.
    #[error("line {line}: `{operation}` {verb} {expected}, but here it is {found}")]
    Shape {
        /// The line.
        line: u64,
        /// The operation.
        operation: String,
        /// `takes` or `answers`.
        verb: &'static str,
        /// What the operation takes or answers.
        expected: String,
        /// What is recorded.
        found: String,
    },
    /// An operation that the object does not have.
    #[error("line {line}: the specification has no operation `{name}`; it has {known}")]
    UnknownOperation {
        /// The line.
        line: u64,
        /// What was called.
        name: String,
        /// What could be.
        known: String,
    },
    /// A process called while its last call was open.
    #[error(
        "line {line}: process {process} calls `{called}`, but its `{open}` of line {since} has not returned"
    )]
    StillOpen {
        /// The line.
        line: u64,
        /// The process.
        process: String,
        /// What it calls.
        called: String,
        /// What is open.
        open: String,
        /// The line where that was called.
        since: u64,
    },
    /// A drain of which it is not known what it took, in a history with crashes.
    #[error(
        "line {line}: it is not known what this `drain` took out, and by when, where there are \
         crashes: write the `dequeue`s of it one by one"
    )]
    InterruptedDrain {
        /// The line of its call.
        line: u64,
    },
    /// A drain in a recording that is judged while it grows.
    #[error(
        "line {line}: a `drain` stands for many operations since its call, and is judged only when \
         the whole recording is there: give a file instead of `-`"
    )]
    StreamedDrain {
        /// The line.
        line: u64,
    },
    /// A read of an unknown value in a transaction that is judged as it arrives.
    #[error(
        "line {line}: a read of null in a transaction is one of an unknown value, so that its call \
         was another one than has been judged: give a file instead of `-`, or --nil-reads value if \
         null was read"
    )]
    StreamedNilRead {
        /// The line.
        line: u64,
    },
    /// A key beside a pair that has one too.
    #[error(
        "line {line}: `{operation}` {verb} {found} and has the key {key} beside it: with a `key` \
         the value is the string alone; leave out one of the two keys"
    )]
    KeyTwice {
        /// The line.
        line: u64,
        /// The operation.
        operation: String,
        /// `takes` or `answers`.
        verb: &'static str,
        /// The key.
        key: String,
        /// The value.
        found: String,
    },
    /// A test case of TiPocket that is not read.
    #[error(
        "line {line}: this is no event of TiPocket's `rawkv-linearizability` (`Op`, `Key` and `Val` \
         in `data`), the only one of its cases that is read, but {found}; write other cases as JSON \
         lines"
    )]
    TipocketCase {
        /// The line.
        line: u64,
        /// The beginning of the line.
        found: String,
    },
    /// An answer without a call.
    #[error("line {line}: process {process} gets an answer, but has called nothing")]
    NothingOpen {
        /// The line.
        line: u64,
        /// The process.
        process: String,
    },
    /// Recovery answers for a process of which nothing was interrupted.
    #[error(
        "line {line}: recovery answers for process {process}, but no crash interrupted its last operation"
    )]
    NotInterrupted {
        /// The line.
        line: u64,
        /// The process.
        process: String,
    },
    /// A process does something after an operation of unknown outcome.
    #[error(
        "line {line}: process {process} goes on, although the outcome of its last operation is unknown since line {since}"
    )]
    Stopped {
        /// The line.
        line: u64,
        /// The process.
        process: String,
        /// The line of its `info`.
        since: u64,
    },
    /// An answer to another operation than the one that was called.
    #[error(
        "line {line}: process {process} gets an answer to `{answered}`, but at line {since} it called `{open}`"
    )]
    OtherOperation {
        /// The line.
        line: u64,
        /// The process.
        process: String,
        /// The operation that the answer is to.
        answered: String,
        /// The operation that is open.
        open: String,
        /// The line where that was called.
        since: u64,
    },
    /// An answer about another key than the call.
    #[error(
        "line {line}: process {process} gets an answer about the key {answered}, but at line {since} it called with the key {open}"
    )]
    OtherKey {
        /// The line.
        line: u64,
        /// The process.
        process: String,
        /// The key of the answer.
        answered: String,
        /// The key of the call.
        open: String,
        /// The line of the call.
        since: u64,
    },
    /// A pair of key and value after events that were read as values.
    #[error(
        "line {line}: `{operation}` with {found} tells that the values are pairs of key and value, but the ones before were read as plain values; ask for keyed values"
    )]
    LateKeys {
        /// The line.
        line: u64,
        /// The operation.
        operation: String,
        /// Its recorded argument.
        found: String,
    },
    /// A recording that says itself what precedes what, where that is not looked at.
    #[error(
        "line {line}: `after` says what precedes what, and is judged only when the whole recording \
         is there: give a file to `linchpin check`"
    )]
    After {
        /// The line.
        line: u64,
    },
    /// Two orders at once.
    #[error("line {line}: `after` says what precedes what, so times cannot order the events")]
    AfterAndTime {
        /// The line.
        line: u64,
    },
    /// An instant in a partial order.
    #[error(
        "line {line}: `after` says what precedes what, but a crash is an instant, which nothing \
         orders"
    )]
    AfterAndCrash {
        /// The line of the first `after`.
        line: u64,
    },
    /// A drain, which stands for several operations, in a partial order.
    #[error("a `drain` stands for several operations, which `after` does not order: name each")]
    AfterAndDrain,
    /// An operation that was not called.
    #[error("line {line}: `after` names the operation {op}, but no call has this `op`")]
    UnknownOp {
        /// The line.
        line: u64,
        /// What it names.
        op: String,
    },
    /// Two operations with one name.
    #[error("line {line}: there is an operation {op} already, called on line {since}")]
    SameOp {
        /// The line.
        line: u64,
        /// The name.
        op: String,
        /// The line of the other.
        since: u64,
    },
    /// Operations that come after each other.
    #[error("line {line}: this operation would come after itself, by way of others")]
    Circle {
        /// The line.
        line: u64,
    },
    /// A partial order that is none, or too large.
    #[error(transparent)]
    Partial(#[from] PartialError),
    /// More events than a history can have.
    #[error("line {line}: a history can have at most {} events", linchpin_history::NEVER - 1)]
    TooLong {
        /// The line.
        line: u64,
    },
    /// An event without a time, where times are to order events.
    #[error("line {line}: to order events by time, each needs an integer `time`; this has none")]
    NoTime {
        /// The line.
        line: u64,
    },
    /// A format whose events have no time, where times are to order events.
    #[error("events in the format {format} have no `time` to order them by")]
    FormatWithoutTime {
        /// The format.
        format: Format,
    },
    /// Events of a process whose times are not in the order of the lines.
    #[error("line {line}: the time of process {process} goes back: it is later at line {since}")]
    TimeGoesBack {
        /// The line.
        line: u64,
        /// The process.
        process: String,
        /// The line of its event before.
        since: u64,
    },
    /// A log without an event.
    #[error(
        "no event was found in this log; an event is a line with `process :type :f value`, such as `3 :invoke :write 2`"
    )]
    NoEvent,
    /// A text that is in no known format.
    #[error("this is in none of the known formats ({})", names())]
    UnknownFormat,
    /// Something wrong in one file of a report.
    #[error("{client}: {error}")]
    InClient {
        /// The folder of the client.
        client: String,
        /// What is wrong.
        error: Box<IngestError>,
    },
    /// Something wrong that another specification would take.
    #[error(
        "{error}; for a set that is only added to and read as a whole there is `--spec {spec}`"
    )]
    Advised {
        /// What is wrong.
        error: Box<IngestError>,
        /// The other specification.
        spec: &'static str,
    },
    /// A folder that is not one history.
    #[error("it is a folder that is neither a Jepsen run nor an etcd report: name a file")]
    Folder,
    /// A store without a run.
    #[error("there is no run of Jepsen or Maelstrom in it, which would have one of {names}")]
    NoRun {
        /// The files that a run may have its history in.
        names: String,
    },
    /// Bytes that could not be had.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl IngestError {
    /// The line concerned, from 1.
    pub fn line(&self) -> Option<u64> {
        match self {
            IngestError::Malformed { line, .. }
            | IngestError::Shape { line, .. }
            | IngestError::UnknownOperation { line, .. }
            | IngestError::StillOpen { line, .. }
            | IngestError::InterruptedDrain { line }
            | IngestError::StreamedNilRead { line }
            | IngestError::KeyTwice { line, .. }
            | IngestError::TipocketCase { line, .. }
            | IngestError::StreamedDrain { line }
            | IngestError::NothingOpen { line, .. }
            | IngestError::NotInterrupted { line, .. }
            | IngestError::Stopped { line, .. }
            | IngestError::OtherOperation { line, .. }
            | IngestError::OtherKey { line, .. }
            | IngestError::LateKeys { line, .. }
            | IngestError::After { line }
            | IngestError::AfterAndTime { line }
            | IngestError::AfterAndCrash { line }
            | IngestError::UnknownOp { line, .. }
            | IngestError::SameOp { line, .. }
            | IngestError::Circle { line }
            | IngestError::NoTime { line }
            | IngestError::TimeGoesBack { line, .. }
            | IngestError::TooLong { line } => Some(*line),
            IngestError::InClient { error, .. } | IngestError::Advised { error, .. } => {
                error.line()
            }
            IngestError::TooLarge { .. }
            | IngestError::Binary { .. }
            | IngestError::Endless { .. }
            | IngestError::AfterAndDrain
            | IngestError::Partial(_)
            | IngestError::UnknownFormat
            | IngestError::NoEvent
            | IngestError::FormatWithoutTime { .. }
            | IngestError::Folder
            | IngestError::NoRun { .. }
            | IngestError::Io(_) => None,
        }
    }

    /// With the advice to take another specification, where one fits what a `set` refuses.
    pub(crate) fn advised(self, options: &ReadOptions<'_>) -> IngestError {
        match self.other_spec().filter(|_| options.is_spec("set")) {
            Some(spec) => IngestError::Advised { error: Box::new(self), spec },
            None => self,
        }
    }

    /// The specification that may fit where `set` does not: what is wrong is a `read`, or an `add`
    /// that answers no truth value.
    pub fn other_spec(&self) -> Option<&'static str> {
        let fits = match self {
            IngestError::UnknownOperation { name, .. } => name == "read",
            IngestError::Shape { operation, verb, .. } => operation == "add" && *verb == "answers",
            IngestError::Advised { .. } => true,
            _ => false,
        };
        fits.then_some("grow-set")
    }

    /// The column concerned, from 1, where it is known.
    pub fn column(&self) -> Option<u64> {
        match self {
            IngestError::Malformed { column, .. } => *column,
            IngestError::InClient { error, .. } | IngestError::Advised { error, .. } => {
                error.column()
            }
            _ => None,
        }
    }
}

fn comma_column(column: Option<u64>) -> String {
    column.map_or_else(String::new, |column| format!(", column {column}"))
}
