//! What pending operations can still do, on numbered configurations.
//!
//! A configuration is kept once ([`SpecSets`](crate::interned::SpecSets)), so what is asked about
//! it again and again is remembered by its number: what it becomes when an operation takes effect,
//! and what it is without a response. Sets of configurations are rows of numbers here, and what was
//! met on the way is marked by number: no configuration is copied, compared or hashed.

use crate::cache::{LastClosure, Memo};
use crate::interned::{ConfigId, Ids};
use crate::sets::{Config, Inner, Policy, RESPONSE, Row};

/// What is remembered of configurations, by their numbers.
#[derive(Default)]
pub(crate) struct Effects {
    /// What a configuration becomes when a call of a thread takes effect, if there is one way.
    taken: Memo,
    /// What it is without the response of a thread.
    cleared: Memo,
    marks: Marks,
}

impl Effects {
    /// Bytes kept.
    pub fn bytes(&self) -> usize {
        self.taken.bytes() + self.cleared.bytes() + self.marks.rounds.capacity() * 4
    }
}

/// A set of configurations that is emptied at once.
#[derive(Default)]
struct Marks {
    /// For each configuration, the last round in which it was marked.
    rounds: Vec<u32>,
    round: u32,
}

impl Marks {
    /// Begins a round: nothing is marked.
    fn clear(&mut self) {
        self.round = self.round.checked_add(1).unwrap_or_else(|| {
            self.rounds.fill(0);
            1
        });
    }

    /// Marks a configuration; whether it was not marked.
    fn insert(&mut self, config: ConfigId) -> bool {
        let at = config as usize;
        if self.rounds.len() <= at {
            self.rounds.resize(at + 1, 0);
        }
        std::mem::replace(&mut self.rounds[at], self.round) != self.round
    }

    fn contains(&self, config: ConfigId) -> bool {
        self.rounds.get(config as usize) == Some(&self.round)
    }
}

impl Inner {
    /// Lets the pending operation of a thread take effect, in every way.
    fn take_effect(
        &mut self,
        pending: &Row,
        config: ConfigId,
        thread: usize,
        out: &mut Vec<ConfigId>,
    ) {
        let Some(call) = pending[thread].checked_sub(1) else { return };
        let key = (call as usize).checked_mul(pending.len()).map(|key| key + thread);
        let key = key.and_then(|key| u32::try_from(key).ok());
        if let Some(known) = key.and_then(|key| self.effects.taken.get(config, key)) {
            out.push(known);
            return;
        }
        let mut found = Vec::new();
        self.linearize(pending, &self.sets.config(config), thread, &mut found);
        if let (Some(key), [one]) = (key, &found[..]) {
            let one = self.sets.number_config(one.clone());
            self.effects.taken.put(config, key, one);
            out.push(one);
            return;
        }
        out.extend(found.into_iter().map(|config| self.sets.number_config(config)));
    }

    /// What a configuration is without the response of a thread.
    fn cleared(&mut self, config: ConfigId, thread: usize) -> ConfigId {
        // There are few threads.
        let key = thread as u32;
        if let Some(known) = self.effects.cleared.get(config, key) {
            return known;
        }
        let mut without = self.sets.config(config);
        without.responses[thread] = 0;
        let without = self.sets.number_config(without);
        self.effects.cleared.put(config, key, without);
        without
    }

    /// Lets the pending operations of all threads but one take effect, each by itself.
    fn take_effects(
        &mut self,
        pending: &Row,
        config: ConfigId,
        but: Option<usize>,
        out: &mut Vec<ConfigId>,
    ) {
        for thread in (0..pending.len()).filter(|thread| Some(*thread) != but) {
            if pending[thread] != 0 && self.sets.responses(config)[thread] == 0 {
                self.take_effect(pending, config, thread, out);
            }
        }
    }

    /// Lets one interrupted operation take effect; with `or_not`, or be forgotten.
    fn take_orphans(&mut self, config: ConfigId, or_not: bool, out: &mut Vec<ConfigId>) {
        if !self.sets.has_orphans(config) {
            return;
        }
        let (config, mut found) = (self.sets.config(config), Vec::new());
        self.adopt(&config, &mut found);
        if or_not {
            self.forget_one(&config, &mut found);
        }
        out.extend(found.into_iter().map(|config| self.sets.number_config(config)));
    }

    /// Everything that pending operations can still do.
    pub(crate) fn closure_of(&mut self, pending: &Row, configs: &[ConfigId]) -> Ids {
        let mut marks = std::mem::take(&mut self.effects.marks);
        marks.clear();
        let mut all: Ids = configs.iter().copied().filter(|one| marks.insert(*one)).collect();
        let (mut at, mut next) = (0, Vec::new());
        while let Some(&config) = all.get(at) {
            at += 1;
            self.take_effects(pending, config, None, &mut next);
            self.take_orphans(config, true, &mut next);
            all.extend(next.drain(..).filter(|one| marks.insert(*one)));
        }
        self.effects.marks = marks;
        all
    }

    /// The same, for those who need the configurations.
    pub(crate) fn closure(&mut self, pending: &Row, configs: Vec<Config>) -> Vec<Config> {
        let ids: Ids = configs.into_iter().map(|of| self.sets.number_config(of)).collect();
        let closure = self.closure_of(pending, &ids);
        closure.into_iter().map(|id| self.sets.config(id)).collect()
    }

    /// Drops the configurations that others can still become. None can become itself: each way on
    /// has one more operation that is done, or one interrupted operation less.
    pub(crate) fn minimal_of(&mut self, pending: &Row, mut configs: Ids) -> Ids {
        let orphaned = configs.iter().any(|config| self.sets.has_orphans(*config));
        if configs.len() < 2 || (pending.iter().all(|call| *call == 0) && !orphaned) {
            return configs;
        }
        let mut marks = std::mem::take(&mut self.effects.marks);
        marks.clear();
        let (mut open, mut next) = (configs.to_vec(), Vec::new());
        while let Some(config) = open.pop() {
            self.take_effects(pending, config, None, &mut next);
            self.take_orphans(config, true, &mut next);
            open.extend(next.drain(..).filter(|one| marks.insert(*one)));
        }
        configs.retain(|config| !marks.contains(*config));
        self.effects.marks = marks;
        configs
    }

    /// The same, for those who have the configurations.
    pub(crate) fn minimal(&mut self, pending: &Row, configs: Vec<Config>) -> Vec<Config> {
        let ids: Ids = configs.into_iter().map(|of| self.sets.number_config(of)).collect();
        let minimal = self.minimal_of(pending, ids);
        minimal.into_iter().map(|id| self.sets.config(id)).collect()
    }

    /// The configurations in which the thread's operation is done and answers this.
    pub(crate) fn answered(&mut self, configs: &[ConfigId], thread: usize, value: u32) -> Ids {
        let mut answered = Ids::new();
        for &config in configs {
            if self.sets.responses(config)[thread] & RESPONSE == value + 1 {
                answered.push(self.cleared(config, thread));
            }
        }
        answered
    }

    /// After a thread's response: other pending operations are linearized before it where that
    /// helps, none after.
    pub(crate) fn respond(
        &mut self,
        pending: &Row,
        configs: &[ConfigId],
        thread: usize,
        value: u32,
    ) -> Ids {
        let mut result = self.answered(configs, thread, value);
        let mut marks = std::mem::take(&mut self.effects.marks);
        marks.clear();
        let is_open = |config: &ConfigId| self.sets.responses(*config)[thread] == 0;
        let mut open: Vec<ConfigId> = configs.iter().copied().filter(is_open).collect();
        open.retain(|config| marks.insert(*config));
        let mut next = Vec::new();
        while let Some(config) = open.pop() {
            self.take_effect(pending, config, thread, &mut next);
            for config in next.drain(..) {
                if self.sets.responses(config)[thread] == value + 1 {
                    result.push(self.cleared(config, thread));
                }
            }
            self.take_effects(pending, config, Some(thread), &mut next);
            self.take_orphans(config, false, &mut next);
            open.extend(next.drain(..).filter(|one| marks.insert(*one)));
        }
        self.effects.marks = marks;
        result
    }

    /// Whether every configuration of one set is in the τ-closure of the other, which is in
    /// `closure` if it was looked at before.
    pub(crate) fn is_subset(
        &mut self,
        policy: Policy,
        smaller: u32,
        larger: u32,
        closure: &mut LastClosure,
    ) -> bool {
        let (pending, small) = self.sets.ids(smaller);
        let (same, large) = self.sets.ids(larger);
        if pending != same {
            return false;
        }
        // Both are in order.
        let mut rest = large.iter();
        if small.iter().all(|config| rest.any(|other| other == config)) {
            return true;
        }
        if policy != Policy::JustInTime {
            return false;
        }
        if closure.as_ref().is_none_or(|(of, _)| *of != larger) {
            let pending = self.sets.row(pending).clone();
            let mut of_larger = self.closure_of(&pending, &large);
            of_larger.sort_unstable();
            *closure = Some((larger, of_larger));
        }
        let Some((_, closure)) = closure else { return false };
        small.iter().all(|config| closure.binary_search(config).is_ok())
    }
}
