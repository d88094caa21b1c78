//! Buffered durable linearizability: what a crash may lose is the end of the time before it.
//!
//! Izraelevitz, Mendes and Scott (DISC 2016): of the history of each era (the time between two
//! crashes) there is a part, closed under happens-before, such that for each era the parts of those
//! before it, one after the other, and then the era itself are durably linearizable. An operation
//! that is open where the part ends may take effect or not, whatever it answered later; so of the
//! parts that a given operation's call is in it is enough to look at the one that ends at the last
//! call in it, and such a part is a prefix of the era in time. (With the response of an operation
//! that was open then, there are only fewer orders.)
//!
//! So for each choice of prefixes of the eras before (an *alternative*) there is the set of what
//! the current era allows, and what it allowed right after each call in it, in case that the prefix
//! to be chosen of it ends there. A crash makes of each of the latter an alternative of its own.

use crate::cache::LastClosure;
use crate::renaming::Names;
use crate::sets::{Inner, Policy};
use linchpin_space::{Event, Renaming, Space};
use std::sync::Arc;

/// The prefixes that were chosen before, and what follows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Alternative {
    /// What the eras up to now allow.
    pub current: u32,
    /// What a crash may go back to; none needed once no crash can come any more.
    pub prefixes: Vec<u32>,
}

/// All of them. Sorted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Buffered {
    pub alternatives: Vec<Alternative>,
    /// Whether a crash may come.
    pub more: bool,
}

impl Buffered {
    /// Before the first event.
    pub fn initial() -> Buffered {
        Buffered { alternatives: vec![Alternative { current: 0, prefixes: vec![0] }], more: true }
    }

    /// What the alternatives allow now.
    pub fn current(&self) -> Vec<u32> {
        self.alternatives.iter().map(|alternative| alternative.current).collect()
    }

    fn sets(&self) -> impl Iterator<Item = u32> + '_ {
        let of = |one: &Alternative| {
            std::iter::once(one.current).chain(one.prefixes.clone()).collect::<Vec<_>>()
        };
        self.alternatives.iter().flat_map(of)
    }
}

impl Inner {
    /// What is known after an event; `None` if no alternative explains it.
    pub fn buffered_after(
        &mut self,
        policy: Policy,
        space: &Space,
        number: u32,
        event: &Event,
    ) -> Option<u32> {
        let old = self.buffered.items[number as usize].clone();
        let mut alternatives = Vec::new();
        let mut more = old.more;
        match event {
            Event::Crash { last } => {
                more = !last;
                for alternative in &old.alternatives {
                    for &prefix in &alternative.prefixes {
                        let current = self.interrupt(policy, prefix, None);
                        let prefixes = if more { vec![current] } else { Vec::new() };
                        alternatives.push(Alternative { current, prefixes });
                    }
                }
            }
            _ => {
                for Alternative { current, prefixes } in &old.alternatives {
                    let mut prefixes = prefixes.clone();
                    let Some(current) = self.after(policy, space, *current, event) else {
                        continue;
                    };
                    if let (Event::Call { .. }, true) = (event, more) {
                        self.keep(policy, &mut prefixes, current);
                    }
                    alternatives.push(Alternative { current, prefixes });
                }
            }
        }
        alternatives.sort();
        alternatives.dedup();
        (!alternatives.is_empty()).then(|| self.add_buffered(Buffered { alternatives, more }))
    }

    /// Keeps what a crash may go back to. What was there before and allows no more goes.
    fn keep(&mut self, policy: Policy, prefixes: &mut Vec<u32>, new: u32) {
        let ended = self.interrupt(policy, new, None);
        let mut kept = Vec::new();
        for &prefix in prefixes.iter() {
            let before = self.interrupt(policy, prefix, None);
            if !self.is_subset(policy, before, ended, &mut None) {
                kept.push(prefix);
            }
        }
        kept.push(new);
        kept.sort_unstable();
        kept.dedup();
        *prefixes = kept;
    }

    /// Whether whatever the one allows, now and after crashes, the other allows too.
    pub fn buffered_subset(
        &mut self,
        policy: Policy,
        smaller: u32,
        larger: u32,
        closure: &mut LastClosure,
    ) -> bool {
        let small = self.buffered.items[smaller as usize].clone();
        let large = self.buffered.items[larger as usize].clone();
        if large.more && !small.more {
            return smaller == larger;
        }
        small.alternatives.iter().all(|one| {
            large.alternatives.iter().any(|other| {
                self.is_subset(policy, one.current, other.current, closure)
                    && (!large.more || self.goes_back_no_further(policy, one, other, closure))
            })
        })
    }

    /// Whether a crash that goes back to a prefix of the one can go back to one of the other that
    /// allows no less.
    fn goes_back_no_further(
        &mut self,
        policy: Policy,
        one: &Alternative,
        other: &Alternative,
        closure: &mut LastClosure,
    ) -> bool {
        let mut ended = |prefixes: &[u32]| -> Vec<u32> {
            prefixes.iter().map(|set| self.interrupt(policy, *set, None)).collect()
        };
        let (own, others) = (ended(&one.prefixes), ended(&other.prefixes));
        own.iter()
            .all(|set| others.iter().any(|other| self.is_subset(policy, *set, *other, closure)))
    }

    fn add_buffered(&mut self, buffered: Buffered) -> u32 {
        self.buffered.number(Arc::new(buffered))
    }

    /// The same with threads and values renamed.
    pub fn buffered_renamed(&mut self, number: u32, renaming: &Renaming, threads: usize) -> u32 {
        let old = self.buffered.items[number as usize].clone();
        let mut alternatives: Vec<Alternative> = Vec::new();
        // A value has the same name everywhere.
        let mut names = Names::new(&renaming.values);
        let mut renamed = |set: u32| self.renamed_with(set, renaming, &mut names, threads);
        for Alternative { current, prefixes } in &old.alternatives {
            let current = renamed(*current);
            let mut prefixes: Vec<u32> = prefixes.iter().map(|set| renamed(*set)).collect();
            prefixes.sort_unstable();
            alternatives.push(Alternative { current, prefixes });
        }
        alternatives.sort();
        self.add_buffered(Buffered { alternatives, more: old.more })
    }

    /// The largest renamable value in it.
    pub fn buffered_largest(&mut self, number: u32, values: usize) -> usize {
        let old = self.buffered.items[number as usize].clone();
        old.sets().map(|set| self.largest(set, values)).max().unwrap_or(0)
    }
}
