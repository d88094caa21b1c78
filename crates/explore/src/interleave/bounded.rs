//! Every execution with at most so many preemptions, by plain enumeration.
//!
//! Partial order reduction under a bound misses executions unless it is made conservative (Coons,
//! Musuvathi and McKinley, OOPSLA 2013): the execution that stands for others may be the one with
//! too many preemptions. Here nothing is left out; executions that show the same as an earlier one
//! are recognised by their order and are not shown.

use super::branch::{Path, Tree};
use super::schedule::{Pick, Scheduler};
use super::set::ThreadSet;
use super::spin::same_site;
use super::state::{Asked, State};
use crate::crew::{Position, Ready};
use crate::execution::{EventKind, Execution, Problem};
use crate::threads::ThreadId;
use linchpin_sync::runtime::Site;
use rustc_hash::FxHashSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Enumerates executions with at most so many preemptions.
pub(crate) struct Bounded {
    most: usize,
    path: Vec<Node>,
    /// So many nodes of the path are fixed: others explore what else follows them.
    base: usize,
    depth: usize,
    /// The preemptions so far.
    preemptions: usize,
    shown: Arc<Shown>,
    /// What the last execution has in common with those that show the same.
    last: u128,
    /// Whether nothing but the first is explored at new nodes.
    settled: bool,
}

/// The executions that were shown, by all who explore together.
#[derive(Default)]
pub(crate) struct Shown(Mutex<FxHashSet<u128>>);

impl Shown {
    fn lock(&self) -> MutexGuard<'_, FxHashSet<u128>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone)]
pub(crate) struct Node {
    /// The thread or alternative that is taken.
    taken: usize,
    /// So many were taken before.
    ordinal: usize,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    /// Threads that are left to take.
    Threads { left: ThreadSet, enabled: ThreadSet, asked: Asked },
    /// How many alternatives there are and are explored, for which thread, and where.
    Alternatives { alternatives: usize, explored: usize, thread: ThreadId, site: Site },
}

impl Node {
    /// Takes the next thread or alternative, if there is one.
    fn advance(&mut self) -> bool {
        let next = match &mut self.kind {
            Kind::Threads { left, .. } => left.first().inspect(|&thread| left.remove(thread)),
            Kind::Alternatives { explored, .. } => {
                Some(self.taken + 1).filter(|next| next < explored)
            }
        };
        let Some(next) = next else { return false };
        self.taken = next;
        self.ordinal += 1;
        true
    }
}

impl Bounded {
    pub(super) fn new(most: usize) -> Bounded {
        Bounded::with(most, Arc::default())
    }

    /// One of those who explore together: these were shown.
    pub(crate) fn with(most: usize, shown: Arc<Shown>) -> Bounded {
        Bounded {
            most,
            path: Vec::new(),
            base: 0,
            depth: 0,
            preemptions: 0,
            shown,
            last: 0,
            settled: false,
        }
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
        Some(Node { taken, ordinal: 0, kind: Kind::Threads { left, enabled, asked } })
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
            self.path.push(Node { taken: 0, ordinal: 0, kind });
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
        self.last = fingerprint(execution);
        !self.shown.lock().contains(&self.last)
    }

    // INVARIANT: those at which an observer broke off are not in the set, so that all who come to
    // one of them show it, and the first of them is found.
    fn shown(&mut self) -> bool {
        self.shown.lock().insert(self.last)
    }

    fn is_short(&self) -> bool {
        self.depth < self.path.len()
    }

    fn next(&mut self) -> bool {
        while self.path.len() > self.base {
            if self.path.last_mut().is_some_and(Node::advance) {
                return true;
            }
            self.path.pop();
        }
        false
    }

    fn bytes(&self) -> usize {
        self.shown.lock().capacity() * (size_of::<u128>() + 1)
    }
}

impl Tree for Bounded {
    type Node = Node;
    type Of = Infallible;

    fn take(&mut self, part: Path<Bounded>) {
        self.base = part.nodes.len();
        self.path = part.nodes;
    }

    fn position(&self) -> Position {
        position(&self.path)
    }

    /// What follows a path depends on the path alone.
    fn split(&mut self) -> Ready<Path<Bounded>> {
        let mut ready = Vec::new();
        for at in self.base..self.path.len() {
            let mut nodes = self.path[..=at].to_vec();
            while nodes[at].advance() {
                ready.push((position(&nodes), Path { nodes: nodes.clone(), of: None }));
            }
            if !ready.is_empty() {
                self.base = at + 1;
                break;
            }
        }
        ready
    }

    fn done(&mut self) -> Ready<Path<Bounded>> {
        Vec::new()
    }

    /// What other executions do cannot be told from what they did.
    fn ends_at(&self, problem: &Problem) -> bool {
        matches!(problem, Problem::Nondeterministic { .. })
    }
}

fn position(path: &[Node]) -> Position {
    path.iter().map(|node| node.ordinal).collect()
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
