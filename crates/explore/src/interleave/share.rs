//! Source-DPOR on several cores: parts of the exploration, and how their results come together.
//!
//! A part is a path of which the last node is one that was not explored yet: all executions that
//! begin so. What a part does depends on its path alone; races with steps of the path are
//! [`Wish`]es. An exploration that others wait for is split ([`Forks::split`]): at its first node
//! with more to explore, the rest becomes parts, and a [`Fork`] keeps the nodes above. When parts
//! are done, their wishes are fulfilled in the order in which one thread alone would have come to
//! them, never in that in which they were done. So the executions are the same on any number of
//! cores, and so is their order, which is that of their positions.

use super::branch::{Path, Tree};
use super::dpor::{Dpor, Node, Wish, Wishes};
use crate::crew::{Position, Ready};
use crate::execution::Problem;
use std::sync::{Arc, PoisonError};

/// The part of a fork with this number.
#[derive(Clone, Copy)]
pub(crate) struct Child {
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

/// All nodes of an exploration that wait for parts.
#[derive(Default)]
pub(crate) struct Forks(Vec<Option<Fork>>);

impl Tree for Dpor {
    type Node = Node;
    type Of = Child;

    fn take(&mut self, part: Path<Dpor>) {
        self.base = part.nodes.len();
        self.path = part.nodes;
        // Those of a part that was left.
        self.wishes = Wishes::default();
        self.of = part.of;
    }

    fn position(&self) -> Position {
        position(&self.path)
    }

    fn split(&mut self) -> Ready<Path<Dpor>> {
        let forks = Arc::clone(&self.forks);
        forks.lock().unwrap_or_else(PoisonError::into_inner).split(self)
    }

    fn done(&mut self) -> Ready<Path<Dpor>> {
        let wishes = std::mem::take(&mut self.wishes);
        let mut forks = self.forks.lock().unwrap_or_else(PoisonError::into_inner);
        forks.done(self.of, wishes.all)
    }

    /// The races of what would have followed are not known.
    fn ends_at(&self, problem: &Problem) -> bool {
        !matches!(problem, Problem::Deadlock { .. } | Problem::Leaked { .. })
    }
}

fn position(path: &[Node]) -> Position {
    path.iter().map(Node::ordinal).collect()
}

impl Forks {
    /// Leaves to others what a part knows of besides the execution that it is at.
    fn split(&mut self, dpor: &mut Dpor) -> Ready<Path<Dpor>> {
        let own = &dpor.path[dpor.base..];
        let Some(at) = own.iter().position(|node| node.ordinal() + 1 < node.count()) else {
            return Vec::new();
        };
        let fork = Fork {
            of: dpor.of,
            path: dpor.path[..dpor.base].to_vec(),
            nodes: own[..=at].to_vec(),
            parts: vec![None],
            first: own[at].ordinal(),
            merged: 0,
            wishes: std::mem::take(&mut dpor.wishes),
        };
        dpor.base += at + 1;
        let fork = self.add(fork);
        dpor.of = Some(Child { fork, number: 0 });
        let mut ready = Vec::new();
        self.make_ready(fork, &mut ready);
        ready
    }

    fn add(&mut self, fork: Fork) -> usize {
        match self.0.iter().position(Option::is_none) {
            Some(free) => {
                self.0[free] = Some(fork);
                free
            }
            None => {
                self.0.push(Some(fork));
                self.0.len() - 1
            }
        }
    }

    /// All that a fork has to explore and that is no part yet becomes one.
    fn make_ready(&mut self, fork: usize, ready: &mut Ready<Path<Dpor>>) {
        let Some(Some(it)) = self.0.get_mut(fork) else { return };
        let Some(node) = it.nodes.last() else { return };
        for ordinal in it.first + it.parts.len()..node.count() {
            let above = &it.nodes[..it.nodes.len() - 1];
            let mut nodes = [it.path.as_slice(), above].concat();
            nodes.push(node.with(ordinal));
            let of = Some(Child { fork, number: it.parts.len() });
            it.parts.push(None);
            ready.push((position(&nodes), Path { nodes, of }));
        }
    }

    /// A part is done: what can be explored because of that.
    fn done(&mut self, of: Option<Child>, wishes: Vec<Wish>) -> Ready<Path<Dpor>> {
        let mut ready = Vec::new();
        let mut done = of.map(|child| (child, wishes));
        while let Some((Child { fork, number }, wishes)) = done.take() {
            let Some(it) = self.0.get_mut(fork).and_then(Option::as_mut) else { break };
            it.parts[number] = Some(wishes);
            it.merge();
            self.make_ready(fork, &mut ready);
            let Some(it) = self.0.get_mut(fork).and_then(Option::as_mut) else { break };
            if it.is_done() {
                if it.goes_up() {
                    self.make_ready(fork, &mut ready);
                } else if let Some(it) = self.0[fork].take() {
                    done = it.of.map(|of| (of, it.wishes.all));
                }
            }
        }
        ready
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
