//! Threads have the same number in all graphs: that of the parent and which of its threads it is.
//!
//! In which order threads start differs from run to run; by whom, and after what, does not.

use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The threads of all graphs, as far as one who explores knows them.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    own: Tree,
    /// What all know who explore together.
    ///
    /// INVARIANT: numbers are given here only, so they mean the same to all.
    common: Arc<Mutex<Tree>>,
}

impl Names {
    /// The first thread, which is 0.
    pub(crate) fn new() -> Names {
        let own = Tree::new();
        Names { common: Arc::new(Mutex::new(own.clone())), own }
    }

    /// Gets to know what others do: a graph of theirs is to be visited.
    pub(super) fn refresh(&mut self) {
        let common = self.common.lock().unwrap_or_else(PoisonError::into_inner);
        if common.ways.len() > self.own.ways.len() {
            self.own = common.clone();
        }
    }

    /// A thread, by its parent and how many threads that one started before.
    pub(super) fn child(&mut self, parent: u32, before: u32) -> u32 {
        if let Some(thread) = self.own.known.get(&(parent, before)) {
            return *thread;
        }
        let thread = {
            let mut common = self.common.lock().unwrap_or_else(PoisonError::into_inner);
            common.child(parent, before)
        };
        self.refresh();
        thread
    }

    /// In which order threads run.
    pub(super) fn order(&self) -> &[u32] {
        &self.own.order
    }
}

/// Which thread started which.
#[derive(Clone, Debug)]
struct Tree {
    known: FxHashMap<(u32, u32), u32>,
    /// The way from the first thread to each: which child, and so on.
    ways: Vec<Vec<u32>>,
    /// All threads, parents before children, earlier children before later ones.
    order: Vec<u32>,
}

impl Tree {
    fn new() -> Tree {
        Tree { known: FxHashMap::default(), ways: vec![Vec::new()], order: vec![0] }
    }

    fn child(&mut self, parent: u32, before: u32) -> u32 {
        if let Some(thread) = self.known.get(&(parent, before)) {
            return *thread;
        }
        let thread = self.ways.len() as u32;
        let mut way = self.ways[parent as usize].clone();
        way.push(before);
        let place = self.order.partition_point(|other| self.ways[*other as usize] < way);
        self.order.insert(place, thread);
        self.ways.push(way);
        self.known.insert((parent, before), thread);
        thread
    }
}
