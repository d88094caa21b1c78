//! The algorithm: install references, decide, put values in their place. Every thread that meets an
//! operation does all of it.

use super::word::{DIRTY, State, Status, Word, condition, operation};
use super::{Descriptor, Entry, Kind, Pmwcas};
use crate::primitives::spin_loop;
use linchpin_sync::persistent::{AtomicU64, Ordering::SeqCst};

/// Who carries out an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// The thread that called it, once.
    Owner,
    /// A thread that met it.
    Helper,
}

/// What to do with a word that is not as expected.
enum Met {
    /// Try again: it was changed.
    Again,
    /// The operation is there already.
    Installed,
    /// It holds another value.
    Differs,
}

impl<const WORDS: usize, const DESCRIPTORS: usize> Pmwcas<WORDS, DESCRIPTORS> {
    /// What a word holds.
    pub fn read(&self, address: usize) -> u64 {
        let word = &*self.root().words[address];
        loop {
            let seen = word.load(SeqCst);
            match Word::of(seen) {
                Word::Condition { number, .. } | Word::Operation { number, .. }
                    if seen & DIRTY == 0 =>
                {
                    self.help_met(word, seen, number);
                }
                Word::Value(value) if seen & DIRTY == 0 || self.kind == Kind::ReadsStay => {
                    return value;
                }
                _ => self.clean(word, seen),
            }
        }
    }

    /// Carries out the operation with this sequence number; answers which entry failed, if one did.
    /// The caller is among the users of the descriptor.
    pub(super) fn help(&self, number: usize, sequence: u64, by: By) -> Option<usize> {
        let descriptor = &*self.root().descriptors[number];
        let status = self.clean_status(descriptor);
        if (Status { sequence, state: State::Undecided }) == Status::of(status) {
            let attempt = self.attempt(number, sequence, by);
            let failed = self.install_all(descriptor, number, sequence, attempt);
            if failed.is_none() && self.kind != Kind::ReferencesStay {
                self.write_references_back(descriptor, number, sequence);
            }
            self.decide(descriptor, sequence, failed);
        }
        let decided = Status::of(descriptor.status.load(SeqCst));
        self.put_values(descriptor, number, sequence, decided);
        match decided.state {
            State::Failed(entry) if decided.sequence == sequence => Some(entry),
            _ => None,
        }
    }

    /// A number that no other attempt at this descriptor has: even for the owner, odd for others.
    fn attempt(&self, number: usize, sequence: u64, by: By) -> u64 {
        match by {
            By::Helper if self.kind != Kind::OneCondition => {
                self.helped[number].fetch_add(1, SeqCst) << 1 | 1
            }
            By::Owner | By::Helper => sequence << 1,
        }
    }

    /// Refers from each word to the operation; answers the entry at which that was not possible.
    fn install_all(
        &self,
        descriptor: &Descriptor,
        number: usize,
        sequence: u64,
        attempt: u64,
    ) -> Option<usize> {
        for (index, entry) in entries(descriptor) {
            let (word, old) = (self.word(entry), entry.old.load(SeqCst));
            let reference = condition(number, attempt, index);
            loop {
                match word.compare_exchange(old, reference, SeqCst, SeqCst) {
                    Ok(_) => {
                        self.complete(word, reference, number, old);
                        break;
                    }
                    Err(seen) => match self.meet(word, seen, operation(number, sequence)) {
                        Met::Again => {}
                        Met::Installed => break,
                        Met::Differs => return Some(index),
                    },
                }
            }
        }
        None
    }

    /// Something else is in a word than the operation expects.
    fn meet(&self, word: &AtomicU64, seen: u64, own: u64) -> Met {
        let dirty = seen & DIRTY != 0;
        match Word::of(seen) {
            _ if seen & !DIRTY == own => Met::Installed,
            Word::Condition { number, .. } => {
                self.help_met(word, seen, number);
                Met::Again
            }
            Word::Value(_) if dirty && self.kind == Kind::DirtyFails => Met::Differs,
            _ if dirty && self.kind == Kind::DirtyWaits => {
                spin_loop();
                Met::Again
            }
            _ if dirty => {
                self.clean(word, seen);
                Met::Again
            }
            Word::Operation { number, .. } => {
                self.help_met(word, seen, number);
                Met::Again
            }
            Word::Value(_) => Met::Differs,
        }
    }

    /// Helps what a word refers to. While a word refers to an operation, a thread that is among the
    /// users of the descriptor put it there or has not removed it yet, so once this thread is one
    /// of them and the word is still the same, the descriptor stays as it is.
    fn help_met(&self, word: &AtomicU64, seen: u64, number: usize) {
        self.users[number].fetch_add(1, SeqCst);
        if word.load(SeqCst) == seen {
            match Word::of(seen) {
                Word::Operation { sequence, .. } => {
                    self.help(number, sequence, By::Helper);
                }
                Word::Condition { entry, .. } => {
                    let old = self.root().descriptors[number].entries[entry].old.load(SeqCst);
                    self.complete(word, seen, number, old);
                }
                Word::Value(_) => {}
            }
        }
        self.users[number].fetch_sub(1, SeqCst);
    }

    /// Installs an operation in a word that refers to its entry, if it is undecided. The caller is
    /// among the users of the descriptor.
    ///
    /// INVARIANT: an operation is installed in each word at most once. If the last step succeeds,
    /// the reference was there since before the status was read, because no other attempt puts the
    /// same one there. So the operation was undecided and not installed. If it has succeeded since,
    /// it was installed in this word first, and the step fails; if it has failed, the attempt that
    /// refers to the entry goes on and puts the old value back.
    fn complete(&self, word: &AtomicU64, reference: u64, number: usize, old: u64) {
        let status = Status::of(self.root().descriptors[number].status.load(SeqCst));
        let undecided = status.state == State::Undecided;
        let then = if undecided { operation(number, status.sequence) | DIRTY } else { old };
        let _ = word.compare_exchange(reference, then, SeqCst, SeqCst);
    }

    /// Before an operation succeeds, all words refer to it after a crash too.
    fn write_references_back(&self, descriptor: &Descriptor, number: usize, sequence: u64) {
        let reference = operation(number, sequence) | DIRTY;
        for (_, entry) in entries(descriptor) {
            let word = self.word(entry);
            if word.load(SeqCst) == reference {
                self.clean(word, reference);
            }
        }
    }

    fn decide(&self, descriptor: &Descriptor, sequence: u64, failed: Option<usize>) {
        let decided = Status::decided(sequence, failed) | DIRTY;
        let undecided = Status::undecided(sequence);
        let _ = descriptor.status.compare_exchange(undecided, decided, SeqCst, SeqCst);
        let status = descriptor.status.load(SeqCst);
        if status & DIRTY != 0 {
            if self.kind != Kind::StatusStays {
                self.persist(&descriptor.status);
            }
            let clean = status & !DIRTY;
            let _ = descriptor.status.compare_exchange(status, clean, SeqCst, SeqCst);
        }
    }

    /// Puts the new or the old values in their place, and writes them back: the descriptor may be
    /// used for something else afterwards.
    fn put_values(&self, descriptor: &Descriptor, number: usize, sequence: u64, decided: Status) {
        let succeeded = decided == Status { sequence, state: State::Succeeded };
        let reference = operation(number, sequence);
        for (_, entry) in entries(descriptor) {
            let word = self.word(entry);
            let value = if succeeded { &entry.new } else { &entry.old }.load(SeqCst);
            // A reference that is dirty may be cleaned at any time, and is never dirty again. So it
            // is missed neither time only if it is looked for dirty first.
            let mut held = [reference | DIRTY, reference];
            if self.kind == Kind::CleanFirst {
                held.reverse();
            }
            let put = |held| word.compare_exchange(held, value | DIRTY, SeqCst, SeqCst).is_ok();
            let _ = held.into_iter().any(put);
            if self.kind != Kind::ValuesStay {
                self.persist(word);
            }
            let _ = word.compare_exchange(value | DIRTY, value, SeqCst, SeqCst);
        }
    }

    fn word(&self, entry: &Entry) -> &AtomicU64 {
        &self.root().words[entry.address.load(SeqCst) as usize]
    }

    /// Writes a dirty word back.
    fn clean(&self, word: &AtomicU64, seen: u64) {
        self.persist(word);
        let _ = word.compare_exchange(seen, seen & !DIRTY, SeqCst, SeqCst);
    }

    /// The status, which is written back if it is dirty.
    fn clean_status(&self, descriptor: &Descriptor) -> u64 {
        let status = descriptor.status.load(SeqCst);
        if status & DIRTY != 0 {
            self.clean(&descriptor.status, status);
        }
        status & !DIRTY
    }
}

/// The entries of an operation.
fn entries(descriptor: &Descriptor) -> impl Iterator<Item = (usize, &Entry)> {
    let count = descriptor.count.load(SeqCst) as usize;
    descriptor.entries.iter().take(count).enumerate()
}
