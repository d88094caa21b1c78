//! What is asked of an object whose system, or whose threads, may crash.

use std::fmt;

/// A correctness condition for runs with crashes. Without a crash all of them are linearizability.
///
/// `Strict` ⇒ `Recoverable` ⇒ `Durable` ⇒ `Buffered`. `Detectable` is `Durable` and more, beside
/// the first two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CrashProperty {
    /// Buffered durable linearizability (Izraelevitz, Mendes and Scott, DISC 2016): a crash may
    /// lose operations that had returned, but what is left of the time before it is a prefix of
    /// that time, closed under happens-before.
    Buffered,
    /// Durable linearizability (the same): what returned before a crash survives it; an interrupted
    /// operation takes effect at any later time, or never.
    Durable,
    /// Recoverable linearizability (Berryhill, Golab and Tripunitara, OPODIS 2015): an interrupted
    /// operation takes effect before the next one of the same thread does, or never.
    Recoverable,
    /// Strict linearizability (Aguilera and Frølund, 2003): an interrupted operation takes effect
    /// before the crash, or never.
    Strict,
    /// Durable, and `recover(t)` tells of each interrupted operation that it concerns whether it
    /// took effect, and what it answered (after Friedman, Herlihy, Marathe and Petrank, PPoPP 2018;
    /// Li and Golab, DISC 2021).
    Detectable,
}

impl CrashProperty {
    /// All of them that can be compared, from the strongest on.
    pub const BY_STRENGTH: [CrashProperty; 4] = [
        CrashProperty::Strict,
        CrashProperty::Recoverable,
        CrashProperty::Durable,
        CrashProperty::Buffered,
    ];

    /// Its name on the command line and in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            CrashProperty::Buffered => "buffered",
            CrashProperty::Durable => "durable",
            CrashProperty::Recoverable => "recoverable",
            CrashProperty::Strict => "strict",
            CrashProperty::Detectable => "detectable",
        }
    }

    /// What a run that has it is: `durably linearizable`.
    pub const fn adverb(self) -> &'static str {
        match self {
            CrashProperty::Buffered => "buffered durably linearizable",
            CrashProperty::Durable => "durably linearizable",
            CrashProperty::Recoverable => "recoverably linearizable",
            CrashProperty::Strict => "strictly linearizable",
            CrashProperty::Detectable => "detectably linearizable",
        }
    }
}

impl fmt::Display for CrashProperty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}
