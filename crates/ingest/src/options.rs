//! What a reader must know beside the bytes.

use crate::format::Format;
use linchpin_spec::Signature;
use std::thread;

/// What a `fail` of a compare-and-swap says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailedCas {
    /// That it did not happen, as for every other operation: Jepsen's and Knossos's reading.
    #[default]
    DidNotHappen,
    /// That it happened and answered `false`: how some recorders, such as the etcd ones of 2014, mean it.
    ReturnedFalse,
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
    /// Whether every value is a pair `[key, value]`, as `jepsen.independent` writes them; detected if absent, by the
    /// first operation of which the specification leaves no doubt (a `read` that takes `[3, nil]`, say).
    pub keyed: Option<bool>,
    /// How many bytes a compressed recording may have when it is not: a small file can hold any number of them.
    pub most_decompressed: u64,
    /// Whether a second thread may help with a long recording; where the machine has a second core if absent. What is read is
    /// the same.
    pub parallel: Option<bool>,
}

impl<'a> ReadOptions<'a> {
    /// How large a decompressed recording may be unless somebody says otherwise: 8 GiB.
    pub const MOST_DECOMPRESSED: u64 = 8 << 30;

    /// The options for histories of an object, everything else detected.
    pub fn new(spec: &'a str, operations: &'a [Signature]) -> ReadOptions<'a> {
        let failed_cas = FailedCas::default();
        let most_decompressed = ReadOptions::MOST_DECOMPRESSED;
        let (format, keyed, parallel) = (None, None, None);
        ReadOptions { spec, operations, format, failed_cas, keyed, most_decompressed, parallel }
    }

    pub(crate) fn is_parallel(&self) -> bool {
        let has_cores = || thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
        self.parallel.unwrap_or_else(has_cores)
    }

    /// Whether the specification has this name; `-` and `_` are the same letter.
    pub(crate) fn is_spec(&self, name: &str) -> bool {
        self.spec.replace('_', "-") == name
    }
}
