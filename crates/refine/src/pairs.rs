//! States of runs with crashes: their crash parts beside sets of the specification.
//!
//! What concerns only crashes (how many may come, what they may leave) is no part of the state that
//! the search keeps, but stands beside the set of the specification: a *pair*, with a number. Then
//! a state is left out if one was met before that is the same apart from the pair, if crashes can
//! leave no more of it ([`CrashPart::covers`]) and the specification allows no less. Whatever goes
//! wrong from the one goes wrong from the other: it takes the same steps, and need not crash.
//!
//! So a state after a crash that is also met before it, as it is where recovery restores what
//! undisturbed operations leave, is not explored twice, if the ones before are met first.
//!
//! The states in which recovery ends are kept, without their crash parts: with the initial state,
//! they are where all that happens without a crash starts (see `stuck.rs`).

use crate::interned::Table;
use linchpin_space::CrashPart;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// A crash part beside a set.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    /// The crash part, as bytes.
    pub bytes: Arc<[u8]>,
    /// The crash part.
    pub crash: Arc<CrashPart>,
    /// The set.
    pub set: u32,
}

/// Pairs, numbered.
#[derive(Default)]
pub(crate) struct Pairs {
    inner: Mutex<Inner>,
}

struct Inner {
    parts: Table<Arc<[u8]>>,
    read: Vec<Arc<CrashPart>>,
    pairs: Table<(u32, u32)>,
    /// States in which recovery ends, without their crash parts.
    recovered: FxHashSet<Box<[u8]>>,
    bytes: usize,
}

impl Default for Inner {
    fn default() -> Inner {
        Inner {
            parts: Table::new(),
            read: Vec::new(),
            pairs: Table::new(),
            recovered: FxHashSet::default(),
            bytes: 0,
        }
    }
}

/// The pairs that a worker knows, so that it rarely has to ask.
#[derive(Default)]
pub(crate) struct KnownPairs {
    parts: FxHashMap<Arc<[u8]>, u32>,
    numbers: FxHashMap<(u32, u32), u32>,
    pairs: FxHashMap<u32, Pair>,
    recovered: FxHashSet<Box<[u8]>>,
}

impl Pairs {
    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a pair.
    pub fn number(&self, known: &mut KnownPairs, crash_part: &[u8], set: u32) -> u32 {
        let part = match known.parts.get(crash_part) {
            Some(part) => *part,
            None => {
                let mut inner = self.inner();
                let bytes: Arc<[u8]> = crash_part.into();
                let part = inner.parts.number(bytes.clone());
                if inner.read.len() <= part as usize {
                    inner.read.push(Arc::new(CrashPart::read(crash_part)));
                    inner.bytes += 256 + 4 * crash_part.len();
                }
                known.parts.insert(bytes, part);
                part
            }
        };
        *known.numbers.entry((part, set)).or_insert_with(|| {
            let mut inner = self.inner();
            inner.bytes += 32;
            inner.pairs.number((part, set))
        })
    }

    /// The pair with a number.
    pub fn pair<'a>(&self, known: &'a mut KnownPairs, number: u32) -> &'a Pair {
        known.pairs.entry(number).or_insert_with(|| {
            let inner = self.inner();
            let (part, set) = inner.pairs.items[number as usize];
            let (bytes, crash) = (&inner.parts.items[part as usize], &inner.read[part as usize]);
            Pair { bytes: bytes.clone(), crash: crash.clone(), set }
        })
    }

    /// Forgets all pairs. Their numbers mean nothing any more, nor does a [`KnownPairs`].
    pub fn forget(&self) {
        let mut inner = self.inner();
        let recovered = std::mem::take(&mut inner.recovered);
        *inner = Inner { recovered, ..Inner::default() };
    }

    /// Keeps a state in which recovery ends.
    pub fn add_recovered(&self, known: &mut KnownPairs, state: &[u8]) {
        if !known.recovered.contains(state) {
            let mut inner = self.inner();
            inner.bytes += 64 + 2 * state.len();
            inner.recovered.insert(state.into());
            known.recovered.insert(state.into());
        }
    }

    /// The states in which recovery ends, without their crash parts.
    pub fn recovered(&self) -> Vec<Box<[u8]>> {
        let mut all: Vec<Box<[u8]>> = self.inner().recovered.iter().cloned().collect();
        all.sort_unstable();
        all
    }

    /// About how many bytes are kept.
    pub fn bytes(&self) -> usize {
        self.inner().bytes
    }
}
