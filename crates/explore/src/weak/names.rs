//! Threads have the same number in all graphs: that of the parent and which of its threads it is.
//!
//! In which order threads start differs from run to run; by whom, and after what, does not.

use rustc_hash::FxHashMap;

/// The threads of all graphs.
#[derive(Debug)]
pub(super) struct Names {
    known: FxHashMap<(u32, u32), u32>,
    /// The way from the first thread to each: which child, and so on.
    ways: Vec<Vec<u32>>,
    /// All threads, parents before children, earlier children before later ones.
    order: Vec<u32>,
}

impl Names {
    /// The first thread, which is 0.
    pub(super) fn new() -> Names {
        Names { known: FxHashMap::default(), ways: vec![Vec::new()], order: vec![0] }
    }

    /// A thread, by its parent and how many threads that one started before.
    pub(super) fn child(&mut self, parent: u32, before: u32) -> u32 {
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

    /// In which order threads run.
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }
}
