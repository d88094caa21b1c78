//! The states that one of several workers owns, where a search is shared out over processes.
//!
//! A state belongs to the worker that the hash of its implementation state names. States that
//! differ only in their allowance or in their set of specification states meet there, so which of
//! them cover others is known without asking anyone: the antichain is that of one process.
//!
//! What crosses from worker to worker means the same everywhere: bytes of states, and sets as
//! [`Portable`] writes them. The way to a state is kept as where its predecessor is.

use crate::disk::names::{SetBytes, SetNames};
use crate::portable::Portable;
use crate::product::{Step, To};
use crate::search::{Exploration, Search, SearchOptions, Stats, Wrong};
use crate::store::{Added, NO_NODE, NodeId, hash};
use thiserror::Error;

/// Where a state is kept: by which worker, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StateAt {
    /// The worker.
    pub worker: u16,
    /// The number.
    pub id: u32,
}

/// A state that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptState {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its set, written.
    pub set: Vec<u8>,
    /// Where the state is that it was found from; `None` for the initial one.
    pub parent: Option<StateAt>,
}

/// A state that belongs to another worker.
#[derive(Clone, Copy, Debug)]
pub struct Leaving<'a> {
    /// Which worker.
    pub owner: u16,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Its set, written.
    pub set: &'a [u8],
}

/// Why a state cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NotTaken {
    /// There is no room for so many or so large ones.
    #[error("a state, or all of them, are too large")]
    Full,
    /// What came is no state.
    #[error("a state that another process has sent is not understood")]
    Damaged,
}

/// No worker has this number.
const NO_WORKER: u16 = u16::MAX;

/// The states that one worker owns.
pub struct Partition<'a, P: Portable> {
    product: &'a P,
    options: &'a SearchOptions,
    search: Search<'a, P>,
    worker: P::Worker,
    own: u16,
    workers: u16,
    names: SetNames,
    written: SetBytes,
    /// Of each state, which worker has the one that it was found from.
    parents: Vec<u16>,
    /// The states that were added since the level was last taken.
    next: Vec<NodeId>,
    transitions: u64,
    /// The state that is expanded, and its successors: where they begin and end, and their sets.
    state: Vec<u8>,
    buffer: Vec<u8>,
    successors: Vec<(usize, usize, u32)>,
}

impl<'a, P: Portable> Partition<'a, P> {
    /// What worker `own` of so many has before it begins: nothing.
    pub fn new(
        product: &'a P,
        options: &'a SearchOptions,
        own: u16,
        workers: u16,
    ) -> Partition<'a, P> {
        Partition {
            product,
            options,
            search: Search::new(product, options, &|_| {}),
            worker: product.worker(),
            own,
            workers: workers.max(1),
            names: SetNames::default(),
            written: SetBytes::default(),
            parents: Vec::new(),
            next: Vec::new(),
            transitions: 0,
            state: Vec::new(),
            buffer: Vec::new(),
            successors: Vec::new(),
        }
    }

    /// Takes the initial state, if it belongs to this worker.
    pub fn begin(&mut self) -> Result<(), NotTaken> {
        let (bytes, set) = self.product.initial();
        if self.owner(&bytes) == self.own {
            self.add(&bytes, set, self.own, NO_NODE)?;
        }
        Ok(())
    }

    /// Which worker a state belongs to.
    fn owner(&self, bytes: &[u8]) -> u16 {
        let allowance = if self.options.calls { self.product.parts(bytes).allowance } else { 0 };
        // Tables look at other bits of other hashes.
        let hash = hash(bytes.get(allowance..).unwrap_or(bytes)) >> 24;
        let owner = hash % u64::from(self.workers);
        u16::try_from(owner).unwrap_or(0)
    }

    /// The numbers of the states that were added since this was last asked: the next level.
    pub fn take_level(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.next)
    }

    /// How many these are.
    pub fn next_level(&self) -> usize {
        self.next.len()
    }

    /// Expands a state. Of its successors, those that are its own it takes, others it gives to
    /// `send`. What can go wrong next is returned; then no successor counts.
    pub fn expand(
        &mut self,
        id: u32,
        send: &mut dyn FnMut(Leaving<'_>),
    ) -> Result<Option<Wrong>, NotTaken> {
        let set = self.search.store.get(id, &mut self.state).set;
        let Partition { product, worker, state, buffer, successors, transitions, .. } = self;
        successors.clear();
        buffer.clear();
        let mut wrong = None;
        product.expand(worker, state, set, &mut |step: Step<'_>| {
            *transitions += 1;
            match step.to {
                To::State { bytes, set, .. } => {
                    let start = buffer.len();
                    buffer.extend_from_slice(bytes);
                    successors.push((start, buffer.len(), set));
                }
                To::Unexplained => wrong = Some(Wrong::Unexplained),
                To::Fault => wrong = wrong.or(Some(Wrong::Fault)),
            }
        });
        if self.product.take_refused(&mut self.worker) {
            self.search.store.mark_refused(id);
        }
        if wrong.is_some() {
            return Ok(wrong);
        }
        let (buffer, successors) =
            (std::mem::take(&mut self.buffer), std::mem::take(&mut self.successors));
        for &(from, to, set) in &successors {
            let bytes = &buffer[from..to];
            let owner = self.owner(bytes);
            if owner == self.own {
                self.add(bytes, set, owner, id)?;
            } else {
                send(Leaving { owner, bytes, set: self.written.of(self.product, set) });
            }
        }
        (self.buffer, self.successors) = (buffer, successors);
        Ok(None)
    }

    /// Takes a state that another worker has found, unless one that covers it is there.
    pub fn receive(&mut self, bytes: &[u8], set: &[u8], from: StateAt) -> Result<(), NotTaken> {
        let set = self.names.number(self.product, set).ok_or(NotTaken::Damaged)?;
        self.add(bytes, set, from.worker, from.id)
    }

    fn add(&mut self, bytes: &[u8], set: u32, from: u16, parent: NodeId) -> Result<(), NotTaken> {
        match self.search.add(&mut self.worker, bytes, set, parent) {
            Added::Known => {}
            Added::Full => return Err(NotTaken::Full),
            Added::New(id) => {
                let at = usize::try_from(id).map_err(|_| NotTaken::Full)?;
                if at >= self.parents.len() {
                    self.parents.resize(at + 1, NO_WORKER);
                }
                self.parents[at] = from;
                self.next.push(id);
            }
        }
        Ok(())
    }

    /// A state that is kept here; `None` if there is none with this number.
    pub fn state(&self, id: u32) -> Option<KeptState> {
        let worker = *self.parents.get(usize::try_from(id).ok()?)?;
        if worker == NO_WORKER {
            return None;
        }
        let mut bytes = Vec::new();
        let node = self.search.store.get(id, &mut bytes);
        let mut set = Vec::new();
        self.product.write_set(node.set, &mut set);
        let parent = (node.parent != NO_NODE).then_some(StateAt { worker, id: node.parent });
        Some(KeptState { bytes, set, parent })
    }

    /// The number of a written set in this process; `None` if it is none.
    pub fn set(&mut self, written: &[u8]) -> Option<u32> {
        self.names.number(self.product, written)
    }

    /// What this worker has done so far.
    pub fn stats(&self) -> Stats {
        let stats = self.search.stats(0);
        let bytes = stats.bytes + self.names.size() + self.written.size() + 2 * self.parents.len();
        Stats { transitions: self.transitions, bytes, ..stats }
    }

    /// Whether what this worker has is closed, once all is explored: see [`Stats::is_closed`].
    pub fn is_closed(&mut self) -> bool {
        let workers = std::slice::from_mut(&mut self.worker);
        self.search.final_stats(0, &Exploration::Complete, workers).is_closed
    }
}
