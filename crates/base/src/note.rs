//! What is remembered of a pending operation: only what the definitions ask for later.

use crate::shared::Calls;

/// Answers, by their number.
pub type Answers = u64;

/// What is remembered of what a thread is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Note {
    /// It is between operations.
    #[default]
    Idle,
    /// It has taken no update step, nor its last read.
    Before {
        /// What it calls.
        call: u16,
        /// The answers without update steps for which some state since the call is a base point;
        /// kept only where they are asked for.
        seen: Answers,
    },
    /// It is between its first and its last update step.
    Critical {
        /// What it calls.
        call: u16,
        /// The calls whose critical sequences have interleaved with this one.
        interleaved: Calls,
        /// The calls whose base points its steps have not preserved.
        changed: Calls,
        /// Whether one of its steps has changed what a read-only operation answers.
        ordered: bool,
    },
    /// Its critical sequence is over.
    After {
        /// What it calls.
        call: u16,
    },
    /// A condition has failed for it: nothing more is asked of it.
    Lost {
        /// What it calls.
        call: u16,
    },
}

impl Note {
    /// What it calls, if it does.
    pub fn call(&self) -> Option<usize> {
        match *self {
            Note::Idle => None,
            Note::Before { call, .. }
            | Note::Critical { call, .. }
            | Note::After { call }
            | Note::Lost { call } => Some(usize::from(call)),
        }
    }

    /// Writes it down.
    pub fn pack(&self, out: &mut Vec<u8>) {
        let tag = match self {
            Note::Idle => 0,
            Note::Before { .. } => 1,
            Note::Critical { ordered: false, .. } => 2,
            Note::Critical { ordered: true, .. } => 3,
            Note::After { .. } => 4,
            Note::Lost { .. } => 5,
        };
        out.push(tag);
        if let Some(call) = self.call() {
            out.push(call as u8);
        }
        match self {
            Note::Before { seen, .. } => out.extend(seen.to_le_bytes()),
            Note::Critical { interleaved, changed, .. } => {
                out.extend(interleaved.to_le_bytes());
                out.extend(changed.to_le_bytes());
            }
            Note::Idle | Note::After { .. } | Note::Lost { .. } => {}
        }
    }

    /// Reads it back; takes its bytes from the front.
    pub fn unpack(bytes: &mut &[u8]) -> Note {
        let tag = take::<1>(bytes)[0];
        if tag == 0 {
            return Note::Idle;
        }
        let call = u16::from(take::<1>(bytes)[0]);
        match tag {
            1 => Note::Before { call, seen: Answers::from_le_bytes(take(bytes)) },
            2 | 3 => Note::Critical {
                call,
                interleaved: Calls::from_le_bytes(take(bytes)),
                changed: Calls::from_le_bytes(take(bytes)),
                ordered: tag == 3,
            },
            4 => Note::After { call },
            _ => Note::Lost { call },
        }
    }
}

/// The next bytes; zeros where there are none.
fn take<const COUNT: usize>(bytes: &mut &[u8]) -> [u8; COUNT] {
    let mut taken = [0; COUNT];
    let count = COUNT.min(bytes.len());
    taken[..count].copy_from_slice(&bytes[..count]);
    *bytes = &bytes[count..];
    taken
}
