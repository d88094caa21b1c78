//! PMwCAS: compare and swap of several words of persistent memory at once, without locks.
//!
//! After Wang, Levandoski and Larson, *Easy lock-free indexing in non-volatile memory*, ICDE 2018.
//! A word holds a value, or refers to the *descriptor* of an operation that is changing it; who
//! meets one helps. Values and references that may not be written back yet are *dirty*; who depends
//! on one writes it back first.
//!
//! Descriptors are used again: each has a sequence number, which references repeat, and a volatile
//! count of the threads that use it. It is used again when that is 0. A reference to an entry that
//! is being installed has the number of the attempt instead.
//!
//! `word` is what a word holds, `operation` the algorithm, `recover` what is done after a crash.
//! [`driver`] runs it on real threads, which log what they do.

pub mod driver;
mod operation;
mod primitives;
mod recover;
mod word;
mod write_back;

#[cfg(test)]
mod tests;

pub use write_back::{HAS_INSTRUCTION, WriteBack};

use linchpin_sync::persistent::{AtomicU64, Line, Ordering::SeqCst, Persistent, Pool};
use operation::By;
use primitives::{AtomicU64 as Count, spin_loop};
use std::array;
use word::Status;

/// At most so many words are changed at once. With 2 a descriptor is one line.
pub const MOST: usize = 2;

/// A word that is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which one.
    pub address: usize,
    /// What it must hold.
    pub old: u64,
    /// What it holds then.
    pub new: u64,
}

/// What is left out or done wrongly, for tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Right,
    /// A dirty word is taken for another value: the published bug.
    DirtyFails,
    /// A thread that meets a dirty word waits for others: the published repair.
    DirtyWaits,
    /// Descriptors are not written back before something refers to them.
    DescriptorStays,
    /// References are not written back before the operation is decided.
    ReferencesStay,
    /// The decision is not written back before words get their values.
    StatusStays,
    /// Values are not written back before the descriptor is used again.
    ValuesStay,
    /// Reads return dirty values as they are.
    ReadsStay,
    /// A reference is looked for clean, then dirty, to be replaced by a value: if it is cleaned in
    /// between it stays.
    CleanFirst,
    /// All attempts to install an entry refer to it alike, as published: a late one is completed by
    /// what was seen of an earlier one.
    OneCondition,
}

linchpin_sync::persistent! {
    /// A word that an operation changes.
    struct Entry {
        address: AtomicU64,
        old: AtomicU64,
        new: AtomicU64,
    }

    /// An operation.
    struct Descriptor {
        status: AtomicU64,
        count: AtomicU64,
        entries: [Entry; MOST],
    }
}

/// What is in the pool.
#[repr(C)]
struct Root<const WORDS: usize, const DESCRIPTORS: usize> {
    words: [Line<AtomicU64>; WORDS],
    descriptors: [Line<Descriptor>; DESCRIPTORS],
}

// SAFETY: both fields are persistent and told of.
unsafe impl<const WORDS: usize, const DESCRIPTORS: usize> Persistent for Root<WORDS, DESCRIPTORS> {
    const PLAIN: bool = false;

    fn parts(at: usize, part: &mut dyn FnMut(usize, usize)) {
        <[Line<AtomicU64>; WORDS]>::parts(at, part);
        let descriptors = at + std::mem::offset_of!(Self, descriptors);
        <[Line<Descriptor>; DESCRIPTORS]>::parts(descriptors, part);
    }
}

/// Words of persistent memory that threads change together.
pub struct Pmwcas<const WORDS: usize, const DESCRIPTORS: usize> {
    pool: Pool,
    /// How many threads use each descriptor.
    users: [Count; DESCRIPTORS],
    /// How often each was helped while its operation was undecided.
    helped: [Count; DESCRIPTORS],
    kind: Kind,
    write_back: WriteBack,
}

impl<const WORDS: usize, const DESCRIPTORS: usize> Pmwcas<WORDS, DESCRIPTORS> {
    /// Words that hold 0, in an empty pool.
    pub fn create(pool: &Pool, kind: Kind) -> Self {
        let made = Self::of(pool, kind);
        for descriptor in &made.root().descriptors {
            descriptor.status.store(Status::finished(1), SeqCst);
            made.persist(&**descriptor);
        }
        made
    }

    fn of(pool: &Pool, kind: Kind) -> Self {
        let [users, helped] = array::from_fn(|_| array::from_fn(|_| Count::new(0)));
        Pmwcas { pool: pool.clone(), users, helped, kind, write_back: WriteBack::default() }
    }

    /// The same with another cost of writing back.
    #[must_use]
    pub fn with(mut self, write_back: WriteBack) -> Self {
        self.write_back = write_back;
        self
    }

    #[track_caller]
    fn persist<T>(&self, what: &T) {
        self.write_back.persist(what);
    }

    fn root(&self) -> &Root<WORDS, DESCRIPTORS> {
        self.pool.root()
    }

    /// Changes the words if all of them hold what they must, and nothing otherwise.
    ///
    /// # Errors
    ///
    /// The address of a word that held something else.
    ///
    /// # Panics
    ///
    /// If there are more than [`MOST`] changes, or values that are too large.
    pub fn mwcas(&self, changes: &[Change]) -> Result<(), usize> {
        assert!(changes.len() <= MOST, "at most {MOST} words");
        let mut sorted = [Change { address: 0, old: 0, new: 0 }; MOST];
        let sorted = &mut sorted[..changes.len()];
        sorted.copy_from_slice(changes);
        // All operations go through words in the same order, so no two wait for each other.
        sorted.sort_unstable_by_key(|change| change.address);
        let Some(first) = sorted.first() else { return Ok(()) };
        assert!(sorted.iter().all(|it| word::is_value(it.old) && word::is_value(it.new)));
        let (number, sequence) = self.acquire(first.new as usize);
        let descriptor = &self.root().descriptors[number];
        for (entry, change) in descriptor.entries.iter().zip(&*sorted) {
            entry.address.store(change.address as u64, SeqCst);
            entry.old.store(change.old, SeqCst);
            entry.new.store(change.new, SeqCst);
        }
        descriptor.count.store(sorted.len() as u64, SeqCst);
        descriptor.status.store(Status::undecided(sequence), SeqCst);
        if self.kind != Kind::DescriptorStays {
            self.persist(&**descriptor);
        }
        let failed = self.help(number, sequence, By::Owner);
        descriptor.status.store(Status::finished(sequence + 1), SeqCst);
        self.users[number].fetch_sub(1, SeqCst);
        failed.map_or(Ok(()), |entry| Err(sorted[entry].address))
    }

    /// A descriptor that no thread uses, with its sequence number.
    fn acquire(&self, hint: usize) -> (usize, u64) {
        loop {
            for at in 0..DESCRIPTORS {
                let number = (hint + at) % DESCRIPTORS;
                if self.users[number].compare_exchange(0, 1, SeqCst, SeqCst).is_ok() {
                    let status = self.root().descriptors[number].status.load(SeqCst);
                    return (number, Status::of(status).sequence);
                }
            }
            spin_loop();
        }
    }
}
