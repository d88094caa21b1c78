//! What words and the status of a descriptor hold.

/// It may not be written back yet.
pub(super) const DIRTY: u64 = 1 << 63;
/// It refers to an operation that changes it.
const REFERENCE: u64 = 1 << 62;
/// It refers to an entry that is being installed, if its operation is still undecided.
const CONDITION: u64 = 1 << 61;

/// Whether a word can hold this as a value.
pub(super) fn is_value(word: u64) -> bool {
    word < CONDITION
}

/// What a clean word holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Value(u64),
    /// A reference to a descriptor.
    Operation {
        number: usize,
        sequence: u64,
    },
    /// A reference to an entry.
    Condition {
        number: usize,
        entry: usize,
    },
}

impl Word {
    /// What a word holds, whether it is dirty or not.
    pub(super) fn of(word: u64) -> Word {
        let (number, entry) = ((word >> 4 & 0xff) as usize, (word & 0xf) as usize);
        let sequence = (word & (CONDITION - 1)) >> 12;
        match (word & REFERENCE != 0, word & CONDITION != 0) {
            (true, _) => Word::Operation { number, sequence },
            (_, true) => Word::Condition { number, entry },
            _ => Word::Value(word & !DIRTY),
        }
    }
}

/// A reference to an operation.
pub(super) fn operation(number: usize, sequence: u64) -> u64 {
    REFERENCE | sequence << 12 | (number as u64) << 4
}

/// A reference to an entry, by one attempt to install it. No other attempt at the same descriptor
/// has the same number, so what is done to a reference that was seen is not done to a later one.
pub(super) fn condition(number: usize, attempt: u64, entry: usize) -> u64 {
    CONDITION | attempt << 12 | (number as u64) << 4 | entry as u64
}

/// Where an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Undecided,
    Succeeded,
    /// This entry failed.
    Failed(usize),
    /// The descriptor is free.
    Finished,
}

/// What the status of a descriptor says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) sequence: u64,
    pub(super) state: State,
}

impl Status {
    pub(super) fn of(word: u64) -> Status {
        let state = match word & 3 {
            0 => State::Undecided,
            1 => State::Succeeded,
            2 => State::Failed((word >> 4 & 0xf) as usize),
            _ => State::Finished,
        };
        Status { sequence: (word & !DIRTY) >> 8, state }
    }

    pub(super) fn undecided(sequence: u64) -> u64 {
        sequence << 8
    }

    pub(super) fn decided(sequence: u64, failed: Option<usize>) -> u64 {
        sequence << 8 | failed.map_or(1, |entry| 2 | (entry as u64) << 4)
    }

    pub(super) fn finished(sequence: u64) -> u64 {
        sequence << 8 | 3
    }
}
