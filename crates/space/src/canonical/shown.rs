//! Which words of a thread are written: its status, and what counts where it is.

use super::{Form, LiveWords};
use crate::flat::{Asks, Flat, interrupted_of, operation_of};
use crate::layout::{Kind, Layout, NODE, STATUS, VARIABLES};

/// The words that are written after the status, from the start of the region.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// Of a thread that does nothing.
    idle: LiveWords,
    /// For each routine and node, of a thread that is there: the node comes first.
    running: Vec<Vec<LiveWords>>,
    /// For each routine, of a thread that has its answer to give, which stands where its locals
    /// were.
    answering: Vec<LiveWords>,
}

/// What a thread does.
#[derive(Clone, Copy)]
pub(super) enum Doing {
    Nothing,
    Running(usize),
    Answering(usize),
}

impl Shown {
    /// `live`: for each routine and node, the locals that count there.
    pub fn new(layout: &Layout, live: &[Vec<LiveWords>]) -> Shown {
        let idle: LiveWords = (VARIABLES..).zip(layout.variable_kinds.iter().copied()).collect();
        let at_node = |live: &LiveWords| {
            let node = std::iter::once((NODE, Kind::Plain));
            node.chain(idle.iter().copied()).chain(live.iter().copied()).collect()
        };
        let running = live.iter().map(|nodes| nodes.iter().map(at_node).collect()).collect();
        let answer = |kinds: &Vec<Kind>| {
            let words = (layout.locals_at..).zip(kinds.iter().copied());
            idle.iter().copied().chain(words).collect()
        };
        let answering = layout.response_kinds.iter().map(answer).collect();
        Shown { idle, running, answering }
    }

    /// The words after the status of a thread that does this, at this node if it runs.
    #[inline]
    pub(super) fn words(&self, doing: Doing, node: i64) -> &[(usize, Kind)] {
        match doing {
            Doing::Nothing => &self.idle,
            Doing::Running(routine) => &self.running[routine][node as usize],
            Doing::Answering(routine) => &self.answering[routine],
        }
    }
}

impl Form {
    /// What a thread with this status does.
    #[inline]
    pub(super) fn doing(&self, status: i64) -> Doing {
        match operation_of(status) {
            Some((operation, false)) => Doing::Running(operation),
            Some((operation, true)) => Doing::Answering(operation),
            None => self.doing_after_crash(status),
        }
    }

    fn doing_after_crash(&self, status: i64) -> Doing {
        match (interrupted_of(status), self.resolve) {
            (Some((_, Asks::Running)), Some(resolve)) => Doing::Running(resolve),
            (Some((_, Asks::Done)), Some(resolve)) => Doing::Answering(resolve),
            _ => Doing::Nothing,
        }
    }

    /// The words of a thread that are written, with their kinds; not the calls that it has left.
    #[inline]
    pub fn thread_words(&self, flat: &Flat, thread: usize, mut visit: impl FnMut(i64, Kind)) {
        let region = &flat.words[self.layout.thread(thread)..][..self.layout.region];
        visit(region[STATUS], Kind::Plain);
        for (word, kind) in self.shown.words(self.doing(region[STATUS]), region[NODE]) {
            visit(region[*word], *kind);
        }
    }

    /// The references among them.
    #[inline]
    pub fn thread_references(&self, flat: &Flat, thread: usize, mut visit: impl FnMut(i64)) {
        let region = &flat.words[self.layout.thread(thread)..][..self.layout.region];
        match operation_of(region[STATUS]) {
            Some((operation, false)) => {
                let live = &self.holders.live[operation][region[NODE] as usize];
                for (word, _) in self.holders.variables.iter().chain(live) {
                    visit(region[*word]);
                }
            }
            _ => self.thread_words(flat, thread, |word, kind| {
                if kind == Kind::Ref {
                    visit(word);
                }
            }),
        }
    }
}
