//! The progress properties, each as the cycles that violate it.
//!
//! The classes are those of Herlihy and Shavit, "On the Nature of Progress" (OPODIS 2011): minimal
//! progress (some operation responds) or maximal progress (every operation does), under any
//! scheduler or under a fair one. A thread that waits for a lock or an `assume` counts as one that
//! tries again and again in vain, as if it were spinning: that is the arc [`Via::Wait`], from a
//! state to itself. So every property forbids cycles, and waiting needs no exception.

use crate::cycles::{Arc, Via, View};
use crate::graph::{Graph, Label};
use std::fmt;
use std::str::FromStr;

/// A progress property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// No state in which operations are pending and no thread can move.
    NoDeadlock,
    /// A thread that runs alone for long enough responds.
    ObstructionFree,
    /// As long as threads take steps, some operation responds.
    LockFree,
    /// Who takes steps responds, whatever the others do.
    WaitFree,
    /// Under fair scheduling, some operation responds ("deadlock-free" in the literature on
    /// progress).
    LivelockFree,
    /// Under fair scheduling, every operation responds.
    StarvationFree,
}

impl Property {
    /// All of them.
    pub const ALL: [Property; 6] = [
        Property::NoDeadlock,
        Property::ObstructionFree,
        Property::LockFree,
        Property::WaitFree,
        Property::LivelockFree,
        Property::StarvationFree,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Property::NoDeadlock => "no-deadlock",
            Property::ObstructionFree => "obstruction-free",
            Property::LockFree => "lock-free",
            Property::WaitFree => "wait-free",
            Property::LivelockFree => "livelock-free",
            Property::StarvationFree => "starvation-free",
        }
    }

    /// What it says, in one sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Property::NoDeadlock => "while an operation is pending, some thread can move",
            Property::ObstructionFree => "a thread that runs alone for long enough responds",
            Property::LockFree => {
                "as long as threads take steps, some operation responds sooner or later"
            }
            Property::WaitFree => {
                "a thread that takes steps responds sooner or later, whatever the others do"
            }
            Property::LivelockFree => {
                "if every thread that can go on does, some operation responds sooner or later"
            }
            Property::StarvationFree => {
                "if every thread that can go on does, every operation responds sooner or later"
            }
        }
    }

    /// Whether it is about each operation by itself.
    pub fn is_per_operation(self) -> bool {
        use Property::{ObstructionFree, StarvationFree, WaitFree};
        matches!(self, ObstructionFree | WaitFree | StarvationFree)
    }

    /// Whether it is about fair runs only.
    pub fn is_fair(self) -> bool {
        matches!(self, Property::LivelockFree | Property::StarvationFree)
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Property {
    type Err = String;

    fn from_str(name: &str) -> Result<Property, String> {
        Property::ALL.into_iter().find(|property| property.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Property::ALL.into_iter().map(Property::name).collect();
            format!("no progress property `{name}`: there are {}", names.join(", "))
        })
    }
}

/// The demand that something happens at all; in a product, after it come the sets of the automaton.
pub(crate) const SOMETHING: u128 = 1;

/// Where the demands of fairness start: one for each thread.
pub(crate) const FAIRNESS: usize = 64;

/// The demands of weak fairness that an arc from a state meets. A thread is treated fairly if,
/// again and again, it moves or is not in a position to: it waits, or it is idle (whether to call
/// is the client's choice).
pub(crate) fn fairness(graph: &Graph, state: u32, via: Via) -> u128 {
    let mover = match via {
        Via::Move(edge) => Some(usize::from(graph.edges[edge as usize].thread)),
        Via::Wait(_) | Via::Stutter => None,
    };
    let content = |thread: &usize| {
        mover == Some(*thread)
            || graph.operation(state, *thread).is_none()
            || !graph.can_move(state, *thread)
    };
    let threads = (0..graph.threads).filter(content);
    threads.fold(0, |met, thread| met | 1 << (FAIRNESS + thread))
}

/// All demands of weak fairness.
pub(crate) fn all_fairness(threads: usize) -> u128 {
    ((1 << threads) - 1) << FAIRNESS
}

/// The part of a state graph whose cycles violate a property.
pub struct Violations<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// The property; for [`Property::NoDeadlock`] there are no cycles.
    pub property: Property,
    /// The thread whose operation does not respond; for minimal progress it does not matter.
    pub victim: usize,
}

impl Violations<'_> {
    /// Whether an arc may be part of a violation by its thread and label, and whether it is one
    /// that must be there.
    fn takes(&self, thread: usize, label: &Label) -> Option<bool> {
        let mine = thread == self.victim;
        match self.property {
            Property::NoDeadlock => None,
            Property::ObstructionFree => (mine && *label == Label::Step).then_some(true),
            // A cycle without responses has no calls either.
            Property::LockFree | Property::LivelockFree => (*label == Label::Step).then_some(true),
            Property::WaitFree if mine => (*label == Label::Step).then_some(true),
            Property::WaitFree => Some(false),
            Property::StarvationFree if mine => (*label == Label::Step).then_some(true),
            Property::StarvationFree => Some(true),
        }
    }
}

impl View for Violations<'_> {
    fn nodes(&self) -> usize {
        self.graph.states()
    }

    fn arcs(&self, state: u32, out: &mut Vec<Arc>) {
        let graph = self.graph;
        if self.property.is_per_operation() && graph.operation(state, self.victim).is_none() {
            return;
        }
        let mut add = |to: u32, via: Via, must: bool| {
            let fair = if self.property.is_fair() { fairness(graph, state, via) } else { 0 };
            out.push(Arc { to, via, met: fair | if must { SOMETHING } else { 0 } });
        };
        for number in graph.edges_of(state) {
            let edge = &graph.edges[number as usize];
            if let Some(must) = self.takes(usize::from(edge.thread), graph.label(number)) {
                add(edge.to, Via::Move(number), must);
            }
        }
        for thread in (0..graph.threads).filter(|&thread| graph.waits(state, thread)) {
            if let Some(must) = self.takes(thread, &Label::Step) {
                add(state, Via::Wait(thread as u8), must);
            }
        }
    }

    fn demands(&self) -> u128 {
        let fair = if self.property.is_fair() { all_fairness(self.graph.threads) } else { 0 };
        SOMETHING | fair
    }
}
