//! What must be said of a reading even to those who do not ask: it could have been another one.

use std::fmt;

/// A choice that was made in reading, or what speaks against one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// Every value is a pair, and would fit the specification as it is too.
    ReadAsPairs,
    /// Every value may be a pair, but no event told before they were taken as plain values.
    MayBePairs,
    /// Reads that answered `null` were taken as reads of which the answer is not known.
    UnknownReads {
        /// How many.
        count: u64,
    },
    /// A drain of unknown outcome was taken as dequeues that may have happened or not.
    UnknownDrain {
        /// The line of its call: of several the first.
        line: u64,
        /// How many there are.
        count: usize,
    },
    /// In which order a drain answered its values was not judged.
    UnorderedDrain {
        /// The line of its call: of several the first.
        line: u64,
        /// How many there are.
        count: usize,
    },
    /// Another specification than the one that was named fits, and was taken.
    OtherSpec {
        /// The one that was named.
        named: &'static str,
        /// The one that was taken.
        taken: &'static str,
    },
    /// Events are on lines after those of later events, if their times are right.
    TimesGoBack {
        /// How many events have a time before that of the event before them.
        count: u64,
        /// The line of the first.
        line: u64,
    },
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remark::ReadAsPairs => f.write_str(
                "values were read as [key value] pairs; --keyed false reads them as plain values",
            ),
            Remark::MayBePairs => f.write_str(
                "values were read as plain values; --keyed true reads them as [key value] pairs",
            ),
            Remark::UnknownReads { count: 1 } => f.write_str(
                "1 read of null was taken as a read of an unknown value; \
                 --nil-reads value takes it as an answer",
            ),
            Remark::UnknownReads { count } => write!(
                f,
                "{count} reads of null were taken as reads of unknown values; \
                 --nil-reads value takes them as answers"
            ),
            Remark::UnknownDrain { line, count: 1 } => write!(
                f,
                "what the drain of line {line} took is not known: it may have taken any of the \
                 values, or none"
            ),
            Remark::UnknownDrain { line, count } => write!(
                f,
                "what {count} drains (the first of line {line}) took is not known: they may have \
                 taken any of the values, or none"
            ),
            Remark::UnorderedDrain { line, count: 1 } => write!(
                f,
                "the order of the values of the drain of line {line} was not judged: what else \
                 was called and returned meanwhile leaves open where they belong"
            ),
            Remark::UnorderedDrain { line, count } => write!(
                f,
                "the order of the values of {count} drains (the first of line {line}) was not \
                 judged: what else was called and returned meanwhile leaves open where they belong"
            ),
            Remark::OtherSpec { named, taken } => write!(
                f,
                "judged by --spec {taken}, not {named}: elements are added and all of them read, \
                 and no `add` says whether the element was new"
            ),
            Remark::TimesGoBack { count: 1, line } => write!(
                f,
                "the event on line {line} has an earlier time than the one before it; \
                 lines were taken as the order, --order time takes the times"
            ),
            Remark::TimesGoBack { count, line } => write!(
                f,
                "{count} events (the first on line {line}) have an earlier time than the one \
                 before; lines were taken as the order, --order time takes the times"
            ),
        }
    }
}
