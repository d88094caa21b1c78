//! The words on the first line.

use std::fmt;

/// The verdicts, from the weakest to the one that overrides all others.
///
/// The order is the order of strength: of several answers to one question, the largest is the
/// verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Not decided; the reason says what stopped it.
    Inconclusive,
    /// Every execution within the stated bounds is right.
    HoldsWithinBounds,
    /// This recorded history is right.
    Holds,
    /// Right for any number of threads if every sequential execution is; those were only tried.
    ProvedIfSequential,
    /// Right for any number of threads and operations; nothing rests on trying.
    Proved,
    /// Something is wrong, and it is shown.
    Violated,
}

impl Verdict {
    /// All of them, the weakest first.
    pub const ALL: [Verdict; 6] = [
        Verdict::Inconclusive,
        Verdict::HoldsWithinBounds,
        Verdict::Holds,
        Verdict::ProvedIfSequential,
        Verdict::Proved,
        Verdict::Violated,
    ];

    /// The word in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Verdict::Inconclusive => "inconclusive",
            Verdict::HoldsWithinBounds => "holds-within-bounds",
            Verdict::Holds => "holds",
            Verdict::ProvedIfSequential => "proved-if-sequential",
            Verdict::Proved => "proved",
            Verdict::Violated => "violated",
        }
    }

    /// Whether it is a claim for any number of threads and operations.
    pub const fn is_proof(self) -> bool {
        matches!(self, Verdict::Proved | Verdict::ProvedIfSequential)
    }

    /// The exit code of a process that ends with it.
    pub const fn exit_code(self) -> u8 {
        match self {
            Verdict::Violated => 1,
            Verdict::Inconclusive => 3,
            _ => 0,
        }
    }
}

/// As people read it on the first line.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Inconclusive => "inconclusive",
            Verdict::HoldsWithinBounds => "holds within bounds",
            Verdict::Holds => "holds",
            Verdict::ProvedIfSequential => "proved if sequential",
            Verdict::Proved => "proved",
            Verdict::Violated => "VIOLATED",
        })
    }
}
