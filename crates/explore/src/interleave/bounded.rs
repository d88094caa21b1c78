//! Every execution with at most so many preemptions, by plain enumeration.
//!
//! Partial order reduction under a bound misses executions unless it is made conservative (Coons,
//! Musuvathi and McKinley, OOPSLA 2013): the execution that stands for others may be the one with
//! too many preemptions. Here nothing is left out; executions that show the same as an earlier one
//! are recognised by their order and are not shown.

use super::schedule::{Pick, Scheduler};
use super::set::ThreadSet;
use super::spin::same_site;
use super::state::{Asked, State};
use crate::execution::{EventKind, Execution};
use crate::threads::ThreadId;
use linchpin_sync::runtime::Site;
use rustc_hash::FxHashSet;

/// Enumerates executions with at most so many preemptions.
pub(super) struct Bounded {
    most: usize,
    path: Vec<Node>,
    depth: usize,
    /// The preemptions so far.
    preemptions: usize,
    /// The executions that were shown.
    shown: FxHashSet<u128>,
    /// Whether nothing but the first is explored at new nodes.
    settled: bool,
}

struct Node {
    /// The thread or alternative that is taken.
    taken: usize,
    kind: Kind,
}

enum Kind {
    /// Threads that are left to take.
    Threads { left: ThreadSet, enabled: ThreadSet, asked: Asked },
    /// How many alternatives there are and are explored, for which thread, and where.
    Alternatives { alternatives: usize, explored: usize, thread: ThreadId, site: Site },
}

impl Bounded {
    pub(super) fn new(most: usize) -> Bounded {
        let shown = FxHashSet::default();
        Bounded { most, path: Vec::new(), depth: 0, preemptions: 0, shown, settled: false }
    }

    fn thread_node(&self, state: &State) -> Option<Node> {
        let allowed = state.enabled.iter().filter(|&thread| {
            self.preemptions + usize::from(state.would_preempt(thread)) <= self.most
        });
        let mut left = ThreadSet::default();
        allowed.for_each(|thread| left.insert(thread));
        let taken = state.preferred(left)?;
        left.remove(taken);
        if self.settled {
            left = ThreadSet::default();
        }
        let (enabled, asked) = (state.enabled, Asked::of(state));
        Some(Node { taken, kind: Kind::Threads { left, enabled, asked } })
    }
}

impl Scheduler for Bounded {
    fn begin(&mut self) {
        self.depth = 0;
        self.preemptions = 0;
        self.settled = false;
    }

    fn explored(&mut self, explored: bool) {
        self.settled = !explored;
    }

    fn pick(&mut self, state: &State) -> Pick {
        if self.depth == self.path.len() {
            let Some(node) = self.thread_node(state) else { return Pick::Redundant };
            self.path.push(node);
        }
        let node = &self.path[self.depth];
        self.depth += 1;
        let thread = node.taken;
        let Kind::Threads { enabled, asked, .. } = &node.kind else {
            return Pick::Different(state.last.unwrap_or(0));
        };
        if let Some(other) = asked.differs(state) {
            return Pick::Different(other);
        }
        if *enabled != state.enabled {
            return Pick::Different(thread);
        }
        self.preemptions += usize::from(state.would_preempt(thread));
        Pick::Thread(thread)
    }

    fn choose(&mut self, thread: ThreadId, alternatives: usize, site: Site) -> Option<usize> {
        if self.depth == self.path.len() {
            let explored = if self.settled { 1 } else { alternatives };
            let kind = Kind::Alternatives { alternatives, explored, thread, site };
            self.path.push(Node { taken: 0, kind });
        }
        let node = &self.path[self.depth];
        self.depth += 1;
        let Kind::Alternatives { alternatives: known, thread: of, site: place, .. } = node.kind
        else {
            return None;
        };
        let same = known == alternatives && of == thread && same_site(place, site);
        same.then_some(node.taken)
    }

    fn is_new(&mut self, execution: &Execution) -> bool {
        self.shown.insert(fingerprint(execution))
    }

    fn is_short(&self) -> bool {
        self.depth < self.path.len()
    }

    fn next(&mut self) -> bool {
        while let Some(node) = self.path.last_mut() {
            match &mut node.kind {
                Kind::Threads { left, .. } => {
                    if let Some(thread) = left.first() {
                        left.remove(thread);
                        node.taken = thread;
                        return true;
                    }
                }
                Kind::Alternatives { explored, .. } => {
                    if node.taken + 1 < *explored {
                        node.taken += 1;
                        return true;
                    }
                }
            }
            self.path.pop();
        }
        false
    }

    fn bytes(&self) -> usize {
        self.shown.capacity() * (size_of::<u128>() + 1)
    }
}

/// What executions have in common that differ in the order of independent steps only: the events of
/// each thread and what precedes them.
fn fingerprint(execution: &Execution) -> u128 {
    let events = execution.events.iter().zip(&execution.clocks);
    let sum = events.fold(0u128, |sum, (event, clock)| {
        let mut hash = Hash(event.thread as u128 + 1);
        clock.iter().for_each(|&number| hash.add(number.into()));
        hash.add(match event.kind {
            EventKind::Choose { taken, .. } => taken as u64,
            EventKind::Mark(mark) => mark,
            _ => 0,
        });
        sum.wrapping_add(hash.0)
    });
    let mut hash = Hash(sum);
    hash.add(execution.problem.is_some().into());
    hash.0
}

/// 128 bits, mixed by multiplication.
struct Hash(u128);

impl Hash {
    fn add(&mut self, word: u64) {
        const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
        self.0 = (self.0 ^ u128::from(word)).wrapping_mul(ODD);
        self.0 ^= self.0 >> 67;
    }
}
