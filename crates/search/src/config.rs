//! Sets of configurations, in which a configuration gives way to a better one.

use super::mask::Mask;
use super::used::Used;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// A way in which the operations so far may have taken effect.
#[derive(Clone, Debug)]
pub(crate) struct Config<M> {
    /// The state of the object.
    pub state: u32,
    /// The crashed operations that took effect, counted by class.
    pub used: u32,
    /// The operations in progress that took effect.
    ///
    /// INVARIANT: free slots are not in it.
    pub done: M,
    /// How it came about.
    pub step: u32,
}

/// The state of a configuration that has given way.
const GONE: u32 = u32::MAX;

/// When a configuration is at least as good as another: which slots may differ, and how.
#[derive(Clone, Debug)]
pub(crate) struct Order<M> {
    /// Whether configurations give way at all, other than to equal ones.
    pub dominance: bool,
    /// Operations that only look: done is at least as good as not done.
    pub observers: M,
    /// Operations that need not take effect: not done is at least as good as done.
    pub optional: M,
}

impl<M: Mask> Order<M> {
    /// What configurations that can be compared agree on.
    fn key(&self, config: &Config<M>) -> M {
        match self.dominance {
            true => config.done.and_not(&self.observers).and_not(&self.optional),
            false => config.done.clone(),
        }
    }

    /// Whether `one`, which has the same state and key, is at least as good as `other`.
    fn at_least(&self, used: &Used, one: &Config<M>, other: &Config<M>) -> bool {
        if !self.dominance {
            return one.used == other.used;
        }
        other.done.and(&self.observers).is_subset(&one.done)
            && one.done.and(&self.optional).is_subset(&other.done)
            && used.at_most(one.used, other.used)
    }
}

/// Configurations of which none is at least as good as another.
#[derive(Clone, Debug)]
pub(crate) struct Configs<M> {
    list: Vec<Config<M>>,
    index: HashTable<u32>,
}

impl<M: Mask> Configs<M> {
    pub(crate) fn new() -> Configs<M> {
        Configs { list: Vec::new(), index: HashTable::new() }
    }

    /// Adds a configuration unless one is at least as good; those that are not as good as it give
    /// way. How it came about is written down only if it is added.
    pub(crate) fn insert(
        &mut self,
        mut config: Config<M>,
        order: &Order<M>,
        used: &Used,
        step: impl FnOnce() -> u32,
    ) {
        let key = order.key(&config);
        let hash = FxBuildHasher.hash_one((config.state, &key));
        let list = &mut self.list;
        let like = |other: &Config<M>| other.state == config.state && order.key(other) == key;
        let better = |at: &u32| {
            let other = &list[*at as usize];
            like(other) && order.at_least(used, other, &config)
        };
        if self.index.find(hash, better).is_some() {
            return;
        }
        loop {
            let worse = |at: &u32| {
                let other = &list[*at as usize];
                like(other) && order.at_least(used, &config, other)
            };
            let Ok(entry) = self.index.find_entry(hash, worse) else {
                break;
            };
            let (at, _) = entry.remove();
            list[at as usize].state = GONE;
        }
        let at = list.len() as u32;
        config.step = step();
        list.push(config);
        let rehash = |at: &u32| {
            let config = &list[*at as usize];
            FxBuildHasher.hash_one((config.state, order.key(config)))
        };
        self.index.insert_unique(hash, at, rehash);
    }

    /// The configuration that was added at this position, if there are so many; `None` inside if it
    /// has given way.
    pub(crate) fn get(&self, at: usize) -> Option<Option<&Config<M>>> {
        self.list.get(at).map(|config| (config.state != GONE).then_some(config))
    }

    /// The configurations.
    pub(crate) fn into_list(mut self) -> Vec<Config<M>> {
        self.list.retain(|config| config.state != GONE);
        self.list
    }

    /// Empties the set.
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.index.clear();
    }

    /// About how many bytes this keeps.
    pub(crate) fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<Config<M>>() + self.index.capacity() * 8
    }
}
