//! Sets of configurations of a register, in which a configuration gives way to one that can do all
//! that it can.

use crate::mask::Mask;
use crate::used::Used;

/// A way in which the operations so far may have taken effect.
#[derive(Clone, Debug)]
pub(super) struct Config<M> {
    /// What the register holds.
    pub value: u32,
    /// The crashed operations that took effect, counted by class.
    pub used: u32,
    /// The operations in progress that took effect.
    pub done: M,
    /// The writes in progress that are not in `done` and that some other write could hide.
    pub buried: M,
    /// How it came about.
    pub step: u32,
}

/// The value of a configuration that has given way.
const GONE: u32 = u32::MAX;

/// No other configuration.
const END: u32 = u32::MAX;

/// What the operations in progress are.
#[derive(Clone, Debug)]
pub(super) struct Slots<M> {
    /// They only look.
    pub observers: M,
    /// They need not take effect.
    pub optional: M,
    /// They write, and must take effect.
    pub writes: M,
}

impl<M: Mask> Slots<M> {
    /// Whether `one`, which holds the same value, can do all that `other` can.
    fn at_least(&self, used: &Used, one: &Config<M>, other: &Config<M>) -> bool {
        if !other.buried.is_subset(&one.buried) {
            return false;
        }
        // What `one` is free to do or not to do; of the rest it must have done the same.
        let free = one.buried.or(&self.optional.and_not(&one.done)).or(&self.observers);
        one.done.and_not(&free) == other.done.and_not(&free)
            && other.done.and(&self.observers).is_subset(&one.done)
            && used.at_most(one.used, other.used)
    }
}

/// Configurations of which none can do all that another can.
#[derive(Clone, Debug)]
pub(super) struct Configs<M> {
    list: Vec<Config<M>>,
    /// For each configuration the one before it with the same value.
    before: Vec<u32>,
    /// For each value the last configuration that holds it.
    last: Vec<u32>,
}

impl<M: Mask> Configs<M> {
    /// The empty set, for values below `values`.
    pub(super) fn new(values: usize) -> Configs<M> {
        Configs { list: Vec::new(), before: Vec::new(), last: vec![END; values] }
    }

    /// Adds a configuration unless one can do all that it can; those that can do no more than it
    /// give way. How it came about is written down only if it is added.
    pub(super) fn insert(
        &mut self,
        mut config: Config<M>,
        slots: &Slots<M>,
        used: &Used,
        step: impl FnOnce() -> u32,
    ) {
        let value = config.value as usize;
        let mut at = self.last[value];
        while at != END {
            let other = &self.list[at as usize];
            if other.value != GONE && slots.at_least(used, other, &config) {
                return;
            }
            at = self.before[at as usize];
        }
        at = self.last[value];
        while at != END {
            let other = &mut self.list[at as usize];
            if other.value != GONE && slots.at_least(used, &config, other) {
                other.value = GONE;
            }
            at = self.before[at as usize];
        }
        config.step = step();
        self.before.push(self.last[value]);
        self.last[value] = self.list.len() as u32;
        self.list.push(config);
    }

    /// The configuration that was added at this position, if there are so many; `None` inside if it
    /// has given way.
    pub(super) fn get(&self, at: usize) -> Option<Option<&Config<M>>> {
        self.list.get(at).map(|config| (config.value != GONE).then_some(config))
    }

    /// How many configurations were added.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is no configuration.
    pub(super) fn is_empty(&self) -> bool {
        // INVARIANT: where one has given way there is one to which it gave way.
        self.list.is_empty()
    }

    /// Moves the configurations to `to`.
    pub(super) fn move_to(&mut self, to: &mut Vec<Config<M>>) {
        to.clear();
        for config in self.list.drain(..) {
            if config.value != GONE {
                self.last[config.value as usize] = END;
                to.push(config);
            }
        }
        // INVARIANT: a value with a configuration that has given way has one to which it gave way.
        self.before.clear();
    }

    /// Empties the set.
    pub(super) fn clear(&mut self, unused: &mut Vec<Config<M>>) {
        self.move_to(unused);
        unused.clear();
    }

    /// About how many bytes this keeps.
    pub(super) fn bytes(&self) -> usize {
        self.list.capacity() * (size_of::<Config<M>>() + 4) + self.last.capacity() * 4
    }
}
