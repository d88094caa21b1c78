//! How a model is verified.

use crate::disk::DiskOptions;
use crate::search::SearchOptions;
use crate::together::Cluster;
use crate::walk::Walks;
use linchpin_space::{Bounds, Reductions};
use linchpin_verdict::CrashProperty;
use std::sync::Arc;

/// In which order runs are looked at, and whether all are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// The shortest first, all of them, on all cores.
    #[default]
    BreadthFirst,
    /// The longest first, all of them.
    DepthFirst,
    /// Some, by chance.
    Walks(Walks),
    /// Those in which operations are interrupted at most so often.
    Preemptions(usize),
}

/// How to verify.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// What is explored.
    pub bounds: Bounds,
    /// Which reductions of the state space are used.
    pub reductions: Reductions,
    /// Whether pending operations are linearized only when a response needs it.
    pub just_in_time: bool,
    /// Whether claimed linearization points are tried first. Never with crashes: where an
    /// interrupted operation took effect is for recovery to say.
    pub points: bool,
    /// What is asked of runs with crashes; without it, the strongest condition that holds is found,
    /// and durability must hold.
    pub property: Option<CrashProperty>,
    /// Whether to find out, of a violation, which flush or fence would repair it.
    pub repairs: bool,
    /// Whether to find out which flushes and fences change nothing.
    pub superfluous: bool,
    /// In which order.
    pub strategy: Strategy,
    /// How to search.
    pub search: SearchOptions,
    /// Keep states on disk, breadth first.
    pub disk: Option<DiskOptions>,
    /// Search together with other processes, breadth first.
    pub cluster: Option<Arc<dyn Cluster>>,
    /// A lossy search with a table of so many bits.
    pub lossy: Option<usize>,
    /// At most so many states are visited to find the counterexample that is easiest to follow.
    pub shortest_budget: usize,
    /// Whether operations are checked for getting stuck where nothing else is wrong.
    pub stuck: bool,
    /// That check keeps at most so many states of the model; if there are more, it is not made.
    pub stuck_states: u32,
}

impl VerifyOptions {
    /// Everything on.
    pub fn new(bounds: Bounds) -> VerifyOptions {
        VerifyOptions {
            bounds,
            reductions: Reductions::ALL,
            just_in_time: true,
            points: true,
            property: None,
            repairs: true,
            superfluous: false,
            strategy: Strategy::BreadthFirst,
            search: SearchOptions::default(),
            disk: None,
            cluster: None,
            lossy: None,
            shortest_budget: 300_000,
            stuck: true,
            stuck_states: 2_000_000,
        }
    }
}
