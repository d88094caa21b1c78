//! What a reader must know beside the bytes.

use crate::fast::FastPath;
use crate::format::Format;
use crate::formats::json_ahead;
use linchpin_spec::{Shape, Signature};
use std::thread;

/// What a `fail` of a compare-and-swap says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailedCas {
    /// That it did not happen, as for every other operation: Jepsen's and Knossos's reading.
    #[default]
    DidNotHappen,
    /// That it happened and answered `false`: how some recorders, such as the etcd ones of 2014,
    /// mean it.
    ReturnedFalse,
}

/// What an `ok` read of `null` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NilReads {
    /// That the answer is not known: Knossos's reading.
    Unknown,
    /// That the object held `null`.
    Value,
}

/// What of an answer may be `null` because it is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    Nothing,
    /// All of it.
    Answer,
    /// What single reads of a transaction answered.
    Accesses,
}

/// What tells in which order events happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The order of the lines.
    #[default]
    Lines,
    /// The `time` of each event. Events of one time overlap.
    Time,
}

/// How to read a history, and of what.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions<'a> {
    /// The name of the specification: some formats say things differently for some objects.
    pub spec: &'a str,
    /// The operations of the specification.
    pub operations: &'a [Signature],
    /// The format; detected if absent.
    pub format: Option<Format>,
    /// What a `fail` of `cas` and `mwcas` says.
    pub failed_cas: FailedCas,
    /// Whether every value is a pair `[key, value]`, as `jepsen.independent` writes them. If
    /// absent, that is found out: from all events where the recording is read as a whole, and
    /// otherwise by the first operation of which the specification leaves no doubt (a `read` that
    /// takes `[3, nil]`, say).
    pub keyed: Option<bool>,
    /// What a read of `null` says of a register, or of one in a transaction. If absent: that the
    /// answer is not known in Jepsen's and Knossos's EDN, and that `null` was read in all other
    /// formats.
    pub nil_reads: Option<NilReads>,
    /// What tells the order of events, where events have a `time`.
    pub order: Order,
    /// Whether the specification is a guess, so that what it would ignore speaks against it: an
    /// operation that answers nothing may only be answered with nothing or with its argument.
    pub guessed: bool,
    /// How many values the object holds at the start: a `drain` of unknown outcome may have taken
    /// these too.
    pub initial: usize,
    /// How many bytes are held of a recording that does not say how many it has: of a compressed
    /// one when it is not, and of what comes from no regular file (standard input, a pipe).
    pub most_bytes: u64,
    /// Whether the caller looks at [`Recording::precedence`](crate::Recording::precedence). If not,
    /// a recording that says itself what precedes what is refused.
    pub partial: bool,
    /// Whether JSON lines are read on two threads; if absent, where they are long and there is more
    /// than one core. What is read is the same.
    pub parallel: Option<bool>,
}

impl<'a> ReadOptions<'a> {
    /// [`ReadOptions::most_bytes`] unless it is set: 8 GiB.
    pub const MOST_BYTES: u64 = 8 << 30;

    /// The options for histories of an object, everything else detected.
    pub fn new(spec: &'a str, operations: &'a [Signature]) -> ReadOptions<'a> {
        ReadOptions {
            spec,
            operations,
            format: None,
            failed_cas: FailedCas::default(),
            keyed: None,
            nil_reads: None,
            order: Order::default(),
            guessed: false,
            initial: 0,
            most_bytes: ReadOptions::MOST_BYTES,
            partial: false,
            parallel: None,
        }
    }

    /// Whether JSON lines of so many bytes are read on two threads.
    pub(crate) fn is_parallel(&self, bytes: usize) -> bool {
        let has_cores = || thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
        let pays = || bytes >= json_ahead::WORTHWHILE && has_cores();
        // The scanner is what runs ahead.
        let is_left_out = !FastPath::Ahead.is_taken() || !FastPath::Scanner.is_taken();
        !is_left_out && self.parallel.unwrap_or_else(pays)
    }

    /// What of an answer of this operation may be `null` because it is not known.
    pub(crate) fn unknown(&self, format: Format, operation: &Signature) -> Unknown {
        let usual = match format {
            Format::JepsenEdn | Format::TestJepsen => NilReads::Unknown,
            _ => NilReads::Value,
        };
        let is_register = self.is_spec("register") || self.is_spec("cas-register");
        let is_read = operation.is_called("read") && operation.argument == Shape::Unit;
        match self.nil_reads.unwrap_or(usual) {
            NilReads::Unknown if is_register && is_read => Unknown::Answer,
            NilReads::Unknown if self.is_spec("multi-register") => Unknown::Accesses,
            _ => Unknown::Nothing,
        }
    }

    /// Whether the specification has this name; `-` and `_` are the same letter.
    pub(crate) fn is_spec(&self, name: &str) -> bool {
        self.spec.replace('_', "-") == name
    }
}
