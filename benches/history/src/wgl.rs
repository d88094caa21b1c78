//! Plain Wing–Gong–Lowe, to compare with: the search of Wing and Gong (1993) with Lowe's memory of
//! configurations (Concurrency and Computation 2017), on a doubly linked list of calls and returns
//! out of which linearized operations are lifted, as Horn and Kroening describe it (FORTE 2015).
//!
//! Nothing of Linchpin is used here, and nothing is done that the papers do not say: a
//! configuration is the set of all linearized operations, one bit each, and the state of the
//! object. States are native, and both are hashed.

use rustc_hash::FxHashSet;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// A sequential object.
pub trait Model: Sync {
    type State: Clone + Eq + Hash;
    type Call: Sync;
    fn initial(&self) -> Self::State;
    /// The state after a call that answered what it did; nothing if it cannot answer that.
    fn step(&self, state: &Self::State, call: &Self::Call) -> Option<Self::State>;
    /// About how many bytes a state keeps.
    fn bytes(state: &Self::State) -> usize;
}

/// An operation that must be linearized between two instants. One that never returned ends after
/// all others, where it does no harm.
pub struct Operation<C> {
    pub call: C,
    pub invoked: u32,
    pub returned: u32,
}

/// When to give up.
pub struct Limit {
    pub deadline: Instant,
    /// Of all partitions together.
    pub bytes: usize,
}

/// Whether every partition is linearizable; nothing if the limit was reached. Partitions are
/// checked at once, on all cores unless they are short; a violation of one ends the others.
pub fn check<M: Model>(
    model: &M,
    partitions: &[Vec<Operation<M::Call>>],
    limit: &Limit,
) -> Option<bool> {
    let ended = AtomicBool::new(false);
    let stopped = AtomicBool::new(false);
    let violated = AtomicBool::new(false);
    let (next, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some(partition) = partitions.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut search = Search::new(model, partition, &bytes);
            match search.run(limit, &ended) {
                Some(true) => {}
                Some(false) => {
                    violated.store(true, Ordering::Relaxed);
                    return ended.store(true, Ordering::Relaxed);
                }
                None => {
                    stopped.store(true, Ordering::Relaxed);
                    return ended.store(true, Ordering::Relaxed);
                }
            }
        }
    };
    // To start a thread, and even to ask how many cores there are, takes longer than a short
    // history.
    let is_short = partitions.iter().map(Vec::len).sum::<usize>() < 1000;
    if is_short || partitions.len() < 2 {
        work();
    } else {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        std::thread::scope(|scope| {
            for _ in 1..cores.min(partitions.len()) {
                scope.spawn(work);
            }
            work();
        });
    }
    match (violated.into_inner(), stopped.into_inner()) {
        (true, _) => Some(false),
        (_, true) => None,
        _ => Some(true),
    }
}

/// The end of the list, and what stands before its first entry.
const END: u32 = 0;

/// A call or a return in the list.
#[derive(Clone, Copy)]
struct Entry {
    operation: u32,
    /// The return of a call; `END` for a return.
    returns: u32,
    previous: u32,
    next: u32,
}

struct Search<'a, M: Model> {
    model: &'a M,
    operations: &'a [Operation<M::Call>],
    /// `entries[END]` is both ends of the list.
    entries: Vec<Entry>,
    linearized: Vec<u64>,
    /// Lowe's cache.
    seen: FxHashSet<(Box<[u64]>, M::State)>,
    bytes: &'a AtomicUsize,
}

impl<'a, M: Model> Search<'a, M> {
    fn new(model: &'a M, operations: &'a [Operation<M::Call>], bytes: &'a AtomicUsize) -> Self {
        let mut events: Vec<(u32, bool, u32)> = Vec::with_capacity(2 * operations.len());
        for (at, operation) in operations.iter().enumerate() {
            events.push((operation.invoked, false, at as u32));
            events.push((operation.returned, true, at as u32));
        }
        events.sort_unstable();
        let none = Entry { operation: 0, returns: END, previous: END, next: END };
        let mut entries = vec![none; events.len() + 1];
        let mut calls = vec![0; operations.len()];
        let last = events.len() as u32;
        entries[0].previous = last;
        entries[0].next = 1.min(last);
        for (at, (_, returns, operation)) in (1..).zip(events) {
            let next = if at == last { END } else { at + 1 };
            let place = at as usize;
            entries[place] = Entry { operation, returns: END, previous: at - 1, next };
            match returns {
                false => calls[operation as usize] = place,
                true => entries[calls[operation as usize]].returns = at,
            }
        }
        let linearized = vec![0; operations.len().div_ceil(64)];
        Search { model, operations, entries, linearized, seen: FxHashSet::default(), bytes }
    }

    fn run(&mut self, limit: &Limit, ended: &AtomicBool) -> Option<bool> {
        let mut state = self.model.initial();
        let mut calls: Vec<(u32, M::State)> = Vec::new();
        let mut at = self.entries[END as usize].next;
        let mut work = 0_u32;
        while self.entries[END as usize].next != END {
            work = work.wrapping_add(1);
            if work.is_multiple_of(1024)
                && (ended.load(Ordering::Relaxed)
                    || Instant::now() >= limit.deadline
                    || self.bytes.load(Ordering::Relaxed) > limit.bytes)
            {
                return None;
            }
            let entry = self.entries[at as usize];
            if entry.returns == END {
                // It must have been linearized by now: the last choice was wrong.
                let (call, before) = match calls.pop() {
                    Some(last) => last,
                    None => return Some(false),
                };
                state = before;
                self.toggle(self.entries[call as usize].operation);
                self.unlift(call);
                at = self.entries[call as usize].next;
                continue;
            }
            let call = &self.operations[entry.operation as usize].call;
            if let Some(after) = self.model.step(&state, call) {
                self.toggle(entry.operation);
                if self.remember(&after) {
                    calls.push((at, std::mem::replace(&mut state, after)));
                    self.lift(at);
                    at = self.entries[END as usize].next;
                    continue;
                }
                self.toggle(entry.operation);
            }
            at = entry.next;
        }
        Some(true)
    }

    fn toggle(&mut self, operation: u32) {
        self.linearized[operation as usize / 64] ^= 1 << (operation % 64);
    }

    /// Whether the configuration is new.
    fn remember(&mut self, state: &M::State) -> bool {
        let key = (self.linearized.clone().into_boxed_slice(), state.clone());
        let is_new = self.seen.insert(key);
        if is_new {
            let bytes = self.linearized.len() * 8 + M::bytes(state) + 64;
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        is_new
    }

    /// Takes a call and its return out of the list.
    fn lift(&mut self, call: u32) {
        for at in [call, self.entries[call as usize].returns] {
            let Entry { previous, next, .. } = self.entries[at as usize];
            self.entries[previous as usize].next = next;
            self.entries[next as usize].previous = previous;
        }
    }

    /// Puts them back, in the opposite order.
    fn unlift(&mut self, call: u32) {
        for at in [self.entries[call as usize].returns, call] {
            let Entry { previous, next, .. } = self.entries[at as usize];
            self.entries[previous as usize].next = at;
            self.entries[next as usize].previous = at;
        }
    }
}
