//! A fixed number of threads: every abstract state that they can reach, up to the names of threads
//! of the same kind (paper 001, Chapter 5, with states of the same key joined).

use crate::correlate::{Judged, Machine};
use crate::failure::Failure;
use crate::heap::Heap;
use crate::state::{Key, State};
use linchpin_verdict::{Limits, StopReason};
use rustc_hash::FxHashMap;

/// How a state was first reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is one before the first call.
    Initial,
    /// By a move of its own thread, or of one of its threads, from this state.
    Own(usize, u8),
    /// By a move of the thread of the second view beside the first.
    Beside(usize, usize),
}

/// A state that was reached.
#[derive(Clone, Debug)]
pub struct Reached<H> {
    /// The state.
    pub state: State<H>,
    /// How it was first reached.
    pub origin: Origin,
}

/// What stopped an exploration.
#[derive(Clone, Debug)]
pub enum Stopped {
    /// A move from this state cannot be explained.
    Failed {
        /// The state.
        at: usize,
        /// The thread.
        thread: u8,
        /// What it is.
        failure: Failure,
    },
    /// A limit was reached.
    Limit(StopReason),
}

/// The states reached, and why the exploration did not come to an end, if it did not.
#[derive(Clone, Debug)]
pub struct Explored<H> {
    /// The states.
    pub states: Vec<Reached<H>>,
    /// Of an exploration of views, what interferes with them.
    pub interferers: Vec<Reached<H>>,
    /// Why it did not come to an end.
    pub stopped: Option<Stopped>,
    /// How many moves were made.
    pub moves: usize,
    /// How many pairs of views were joined.
    pub joins: usize,
    /// How many bytes the states take.
    pub bytes: usize,
}

/// States by key; those of the same key are joined.
pub struct Table<H> {
    /// The states.
    pub states: Vec<Reached<H>>,
    keys: FxHashMap<Key, usize>,
    /// How many bytes they take.
    pub bytes: usize,
}

impl<H> Default for Table<H> {
    fn default() -> Table<H> {
        Table { states: Vec::new(), keys: FxHashMap::default(), bytes: 0 }
    }
}

impl<H: Heap> Table<H> {
    /// Adds a state. Its number, if this adds anything.
    pub fn add(&mut self, state: State<H>, origin: Origin) -> Option<usize> {
        let key = state.key();
        match self.keys.get(&key) {
            Some(at) => self.states[*at].state.heap.absorb(&state.heap).then_some(*at),
            None => {
                let at = self.states.len();
                self.bytes += state.bytes() + 8 * key.0.len() + 48;
                self.states.push(Reached { state, origin });
                self.keys.insert(key, at);
                Some(at)
            }
        }
    }
}

impl<H: Heap> Table<H> {
    /// The number of the state that this one is joined with.
    pub(crate) fn find(&self, state: &State<H>) -> Option<usize> {
        self.keys.get(&state.key()).copied()
    }
}

/// Explores all states with so many threads.
pub fn explore<H: Heap>(
    machine: &Machine,
    initial: Vec<State<H>>,
    limits: &Limits,
    progress: &dyn Fn(usize),
) -> Explored<H> {
    let mut table = Table::default();
    let mut work: Vec<usize> = Vec::new();
    for state in initial {
        work.extend(table.add(ordered(state), Origin::Initial));
    }
    let mut moves = 0;
    let mut stopped = None;
    'all: while let Some(at) = work.pop() {
        let state = table.states[at].state.clone();
        for thread in 0..state.threads.len() {
            // Of threads that are alike, one moves. One that holds a lock or owns a node is like
            // no other.
            let alike = |other: &usize| {
                state.threads[*other] == state.threads[thread]
                    && !state.mentions(*other)
                    && !state.mentions(thread)
            };
            if (0..thread).any(|other| alike(&other)) {
                continue;
            }
            let thread = u8::try_from(thread).unwrap_or(u8::MAX);
            match machine.moves(&state, thread, Judged::Yes) {
                Ok(moved) => {
                    moves += moved.len();
                    for moved in moved {
                        let origin = Origin::Own(at, thread);
                        if let Some(new) = table.add(ordered(moved.state), origin) {
                            work.push(new);
                        }
                    }
                }
                Err(failure) => {
                    stopped = Some(Stopped::Failed { at, thread, failure });
                    break 'all;
                }
            }
        }
        if let Some(reason) = limits.exceeded(table.bytes) {
            stopped = Some(Stopped::Limit(reason));
            break;
        }
        progress(table.states.len());
    }
    let interferers = Vec::new();
    Explored { bytes: table.bytes, states: table.states, interferers, stopped, moves, joins: 0 }
}

/// Threads of the same kind in one order, whatever their names.
fn ordered<H: Heap>(mut state: State<H>) -> State<H> {
    if state.threads.len() < 2 {
        return state;
    }
    let ranks: Vec<_> = state.threads.iter().map(|thread| thread.rank()).collect();
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by(|one, two| ranks[*one].cmp(&ranks[*two]).then(one.cmp(two)));
    if order.iter().enumerate().all(|(to, from)| to == *from) {
        return state;
    }
    state.permute(&order);
    state.canonical();
    state
}
