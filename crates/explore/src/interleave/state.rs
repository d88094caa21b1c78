//! Where the threads of an execution are: what each asks for, and which of them could go on.

use super::set::ThreadSet;
use super::spin::{Spin, same_site};
use crate::threads::ThreadId;
use linchpin_sync::runtime::{Action, Place, Site};
use smallvec::SmallVec;
use std::sync::atomic::Ordering;

/// An access that a thread waits to make.
///
/// INVARIANT: the references live on the stack of the thread, which is suspended meanwhile.
#[derive(Clone, Copy)]
pub(super) struct Ask {
    pub(super) place: Place<'static>,
    pub(super) action: Action<'static>,
    pub(super) site: Site,
    /// The number of the place.
    pub(super) index: usize,
    /// The number of its line, in persistent memory: what writes the place writes the line too.
    pub(super) line: Option<usize>,
}

/// What an access would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It has to wait.
    Blocked,
    /// It only reads.
    Read,
    /// It writes this.
    Write(u64),
}

impl Ask {
    /// What the access would do if the place held this.
    pub(super) fn effect(&self, value: u64) -> Effect {
        match self.action {
            Action::Load(_) => Effect::Read,
            Action::Store(new, _) => Effect::Write(new),
            Action::Update { change, .. } => change(value).map_or(Effect::Read, Effect::Write),
            Action::Await { change, .. } => match change(value) {
                None => Effect::Blocked,
                Some(new) if new == value => Effect::Read,
                Some(new) => Effect::Write(new),
            },
        }
    }

    fn number(&self) -> u32 {
        self.index as u32
    }

    /// Whether it reads.
    pub(super) fn reads(&self) -> bool {
        !matches!(self.action, Action::Store(..))
    }

    /// Whether it may have to wait.
    pub(super) fn may_block(&self) -> bool {
        matches!(self.action, Action::Await { .. })
    }

    /// The order that was asked for, given what it does.
    pub(super) fn order(&self, effect: Effect) -> Ordering {
        match (self.action, effect) {
            (Action::Load(order) | Action::Store(_, order) | Action::Await { order, .. }, _) => {
                order
            }
            (Action::Update { success, .. }, Effect::Write(_)) => success,
            (Action::Update { failure, .. }, _) => failure,
        }
    }
}

/// Where the threads of an execution are.
#[derive(Default)]
pub(crate) struct State {
    /// What each thread asks for; nothing if it has ended.
    pub(super) asks: Vec<Option<Ask>>,
    /// The spin loops of each thread; there may be more of them than threads.
    pub(super) spins: Vec<Spin>,
    /// Whether a thread paused since its last access.
    pub(super) paused: ThreadSet,
    /// What each place holds.
    pub(super) values: Vec<u64>,
    /// The threads that could make their access now.
    pub(super) enabled: ThreadSet,
    /// The thread that made the last access.
    pub(super) last: Option<ThreadId>,
}

impl State {
    pub(super) fn clear(&mut self) {
        self.asks.clear();
        self.spins.iter_mut().for_each(Spin::clear);
        self.paused = ThreadSet::default();
        self.values.clear();
        self.enabled = ThreadSet::default();
        self.last = None;
    }

    pub(super) fn add_thread(&mut self) {
        self.asks.push(None);
        if self.spins.len() < self.asks.len() {
            self.spins.push(Spin::default());
        }
    }

    /// What the access that a thread asks for would do now; nothing if the thread has ended.
    pub(super) fn effect(&self, thread: ThreadId) -> Option<Effect> {
        let ask = self.asks[thread].as_ref()?;
        Some(ask.effect(self.values[ask.index]))
    }

    /// The places and values that a thread in a spin loop waits to see changed.
    pub(super) fn waits(&self, thread: ThreadId) -> &[(usize, u64)] {
        &self.spins[thread].waits
    }

    /// Finds out which threads could go on.
    pub(super) fn update_enabled(&mut self) {
        let mut enabled = ThreadSet::default();
        for (thread, ask) in self.asks.iter().enumerate() {
            let Some(ask) = ask else { continue };
            if ask.may_block() && ask.effect(self.values[ask.index]) == Effect::Blocked {
                continue;
            }
            let waits = self.waits(thread);
            if waits.is_empty() || waits.iter().any(|&(place, old)| self.values[place] != old) {
                enabled.insert(thread);
            }
        }
        self.enabled = enabled;
    }

    /// Whether another thread than this would interrupt one that could go on.
    pub(super) fn would_preempt(&self, thread: ThreadId) -> bool {
        self.last.is_some_and(|last| {
            last != thread && self.enabled.contains(last) && !self.paused.contains(last)
        })
    }

    /// The thread that goes on if nothing speaks against it: the last one, else the first of these.
    pub(super) fn preferred(&self, among: ThreadSet) -> Option<ThreadId> {
        let last = self.last.filter(|&last| among.contains(last) && !self.paused.contains(last));
        last.or_else(|| among.first())
    }

    /// Whether the accesses that two threads ask for do not commute: one of them writes what the
    /// other one reads, writes, or waits for in a spin loop. Both could go on.
    pub(super) fn conflict(&self, one: ThreadId, other: ThreadId) -> bool {
        let (Some(a), Some(b)) = (&self.asks[one], &self.asks[other]) else { return false };
        let a_writes = matches!(a.effect(self.values[a.index]), Effect::Write(_));
        let b_writes = matches!(b.effect(self.values[b.index]), Effect::Write(_));
        let waits = |thread, place| self.waits(thread).iter().any(|&(other, _)| other == place);
        // A line is read when it is flushed, and written when one of its places is.
        let lines = (a_writes && a.line.is_some_and(|line| b.index == line))
            || (b_writes && b.line.is_some_and(|line| a.index == line))
            || (a_writes && b_writes && a.line.is_some() && a.line == b.line);
        (a.index == b.index && (a_writes || b_writes))
            || lines
            || (a_writes && waits(other, a.index))
            || (b_writes && waits(one, b.index))
    }
}

/// What all threads ask for at some point of an execution: their sites and places.
#[derive(Clone)]
pub(super) struct Asked(SmallVec<[Option<(Site, u32)>; 4]>);

impl Asked {
    pub(super) fn of(state: &State) -> Asked {
        Asked(
            state
                .asks
                .iter()
                .map(|ask| Some((ask.as_ref()?.site, ask.as_ref()?.number())))
                .collect(),
        )
    }

    /// A thread that asks for something else here, if there is one.
    pub(super) fn differs(&self, state: &State) -> Option<ThreadId> {
        if self.0.len() != state.asks.len() {
            return Some(state.last.unwrap_or(0));
        }
        self.0.iter().zip(&state.asks).position(|(before, now)| match (before, now) {
            (Some((site, place)), Some(now)) => {
                !same_site(site, now.site) || *place != now.number()
            }
            (None, None) => false,
            _ => true,
        })
    }
}
