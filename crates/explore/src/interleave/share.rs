//! Source-DPOR on several cores: parts of the exploration, and how their results come together.
//!
//! A [`Part`] is a path of which the last node is one that was not explored yet: all executions that
//! begin so. What a part does depends on its path alone; races with steps of the path are
//! [`Wish`]es. An exploration that others wait for is split ([`Parts::split`]): at its first node
//! with more to explore, the rest becomes parts, and a [`Fork`] keeps the nodes above. When parts
//! are done, their wishes are fulfilled in the order in which one thread alone would have come to
//! them, never in that in which they were done. So the executions are the same on any number of
//! cores, and so is their order, which is that of their [`Position`]s.

use super::dpor::{Dpor, Node, Wish, Wishes};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Where an execution is among all, in the order in which one thread alone explores them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(Vec<usize>);

impl Position {
    pub(super) fn of(path: &[Node]) -> Position {
        Position(path.iter().map(Node::ordinal).collect())
    }

    /// Whether what begins with this path, or is it, comes before.
    pub(super) fn is_after(&self, path: &[Node]) -> bool {
        path.iter().map(Node::ordinal).cmp(self.0.iter().copied()) == Ordering::Less
    }
}

/// Executions that begin alike.
pub(super) struct Part {
    pub(super) path: Vec<Node>,
    pub(super) of: Option<Child>,
}

/// The part of a fork with this number.
#[derive(Clone, Copy)]
pub(super) struct Child {
    fork: usize,
    number: usize,
}

/// A node of which several parts are explored at the same time.
struct Fork {
    /// The part that was split, if it was one.
    of: Option<Child>,
    /// The nodes that were fixed in it.
    path: Vec<Node>,
    /// Its own nodes above the parts, and the one that they differ in.
    nodes: Vec<Node>,
    /// Its parts, in order: what they wish if they are done.
    parts: Vec<Option<Vec<Wish>>>,
    /// The first part is at this place of its node.
    first: usize,
    /// The wishes of so many parts are fulfilled.
    merged: usize,
    /// What it wishes itself.
    wishes: Wishes,
}

/// All parts of an exploration.
#[derive(Default)]
pub(super) struct Parts {
    /// Those to be explored, in order.
    ready: BTreeMap<Position, Part>,
    forks: Vec<Option<Fork>>,
    /// How many are being explored.
    pub(super) running: usize,
}

impl Parts {
    /// Everything, as one part.
    pub(super) fn whole() -> Parts {
        let mut parts = Parts::default();
        parts.ready.insert(Position::of(&[]), Part { path: Vec::new(), of: None });
        parts
    }

    /// The first part that is left, if it comes before this position.
    pub(super) fn next(&mut self, before: Option<&Position>) -> Option<Part> {
        let first = self.ready.first_entry()?;
        if before.is_some_and(|before| first.key() > before) {
            return None;
        }
        self.running += 1;
        Some(first.remove())
    }

    /// Leaves to others what a part knows of besides the execution that it is at. Answers which part
    /// goes on with that.
    pub(super) fn split(&mut self, dpor: &mut Dpor, of: Option<Child>) -> Option<Child> {
        let own = &dpor.path[dpor.base..];
        let at = own.iter().position(|node| node.ordinal() + 1 < node.count())?;
        let fork = Fork {
            of,
            path: dpor.path[..dpor.base].to_vec(),
            nodes: own[..=at].to_vec(),
            parts: vec![None],
            first: own[at].ordinal(),
            merged: 0,
            wishes: std::mem::take(&mut dpor.wishes),
        };
        dpor.base += at + 1;
        let fork = self.add(fork);
        self.make_ready(fork);
        Some(Child { fork, number: 0 })
    }

    fn add(&mut self, fork: Fork) -> usize {
        match self.forks.iter().position(Option::is_none) {
            Some(free) => {
                self.forks[free] = Some(fork);
                free
            }
            None => {
                self.forks.push(Some(fork));
                self.forks.len() - 1
            }
        }
    }

    /// All that a fork has to explore and that is no part yet becomes one.
    fn make_ready(&mut self, fork: usize) {
        let Some(Some(it)) = self.forks.get_mut(fork) else { return };
        let Some(node) = it.nodes.last() else { return };
        for ordinal in it.first + it.parts.len()..node.count() {
            let above = &it.nodes[..it.nodes.len() - 1];
            let mut path = [it.path.as_slice(), above].concat();
            path.push(node.with(ordinal));
            let of = Some(Child { fork, number: it.parts.len() });
            it.parts.push(None);
            self.ready.insert(Position::of(&path), Part { path, of });
        }
    }

    /// A part is done.
    pub(super) fn done(&mut self, of: Option<Child>, wishes: Vec<Wish>) {
        let mut done = of.map(|child| (child, wishes));
        while let Some((Child { fork, number }, wishes)) = done.take() {
            let Some(it) = self.forks.get_mut(fork).and_then(Option::as_mut) else { return };
            it.parts[number] = Some(wishes);
            it.merge();
            self.make_ready(fork);
            let Some(it) = self.forks.get_mut(fork).and_then(Option::as_mut) else { return };
            if it.is_done() {
                if it.goes_up() {
                    self.make_ready(fork);
                } else if let Some(it) = self.forks[fork].take() {
                    done = it.of.map(|of| (of, it.wishes.all));
                }
            }
        }
    }

    /// Whether nothing is left to be explored.
    pub(super) fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.running == 0
    }

    /// How many parts are ready.
    pub(super) fn ready(&self) -> usize {
        self.ready.len()
    }
}

impl Fork {
    /// Fulfils the wishes of parts that are done, as far as those before them are.
    fn merge(&mut self) {
        while let Some(Some(wishes)) = self.parts.get_mut(self.merged) {
            for wish in std::mem::take(wishes) {
                match wish.depth.checked_sub(self.path.len()) {
                    Some(own) => self.nodes[own].fulfil(&wish),
                    None => self.wishes.push(wish),
                }
            }
            self.merged += 1;
        }
    }

    fn is_done(&self) -> bool {
        self.merged == self.parts.len()
    }

    /// Goes on at the next node above that has more to explore, if there is one.
    fn goes_up(&mut self) -> bool {
        loop {
            self.nodes.pop();
            let Some(node) = self.nodes.last() else { return false };
            if node.ordinal() + 1 < node.count() {
                self.first = node.ordinal() + 1;
                (self.parts, self.merged) = (Vec::new(), 0);
                return true;
            }
        }
    }
}
