//! What gets show: a text as one piece that was put and pieces that were appended to it.
//!
//! Texts that begin alike share a path of a tree, so a get is a node. Where no piece begins with
//! another one there is at most one way to read the rest of a text; otherwise ways are counted from
//! its end, up to two.

use super::lexicon::{Lexicon, Token};
use crate::poll::{StopPoll, StopReason};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// A text that was read: a node of the [`Tree`].
pub(super) type Node = u32;

/// No node.
const NONE: Node = Node::MAX;

/// All texts that were read.
#[derive(Default)]
pub(super) struct Tree {
    nodes: Vec<Place>,
    /// The child of a node by a piece; roots are children of `NONE`.
    children: FxHashMap<(Node, Token), Node>,
}

struct Place {
    parent: Node,
    /// The piece at its end; of a root, what was put.
    token: Token,
    /// How many pieces were appended.
    depth: u32,
    /// The child that was made first: mostly the only one.
    first: Node,
}

impl Tree {
    /// How many nodes there are. Parents have smaller numbers than their children.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The node before the last piece, unless nothing was appended.
    pub(super) fn parent(&self, node: Node) -> Option<Node> {
        Some(self.nodes[node as usize].parent).filter(|parent| *parent != NONE)
    }

    /// The last piece; what was put if nothing was appended.
    pub(super) fn token(&self, node: Node) -> Token {
        self.nodes[node as usize].token
    }

    /// How many pieces were appended.
    pub(super) fn depth(&self, node: Node) -> usize {
        self.nodes[node as usize].depth as usize
    }

    /// The nodes from the root to this one: the one with depth n is at n.
    pub(super) fn path(&self, node: Node) -> Vec<Node> {
        let mut path: Vec<Node> = std::iter::successors(Some(node), |n| self.parent(*n)).collect();
        path.reverse();
        path
    }

    fn child(&mut self, node: Node, token: Token) -> Node {
        let next = self.nodes.len() as Node;
        let child = *self.children.entry((node, token)).or_insert(next);
        if child == next {
            let depth = if node == NONE { 0 } else { self.nodes[node as usize].depth + 1 };
            self.nodes.push(Place { parent: node, token, depth, first: NONE });
            if node != NONE && self.nodes[node as usize].first == NONE {
                self.nodes[node as usize].first = child;
            }
        }
        child
    }
}

/// One way to read a get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// What was put.
    pub(super) base: Token,
    /// All of the text.
    pub(super) node: Node,
}

/// There is more than one way to read what was appended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ambiguous;

/// Reads gets.
pub(super) struct Reader<'l, 't, S> {
    pub(super) lexicon: &'l Lexicon<'t, S>,
    /// The piece that is no text, if it was put.
    pub(super) empty: Option<Token>,
}

impl<S: Ord + Hash> Reader<'_, '_, S> {
    /// All ways to read a text, one for each piece that may have been put. Of pieces that were put,
    /// and of those appended, only such count as `is_base` and `is_piece` say.
    pub(super) fn read(
        &self,
        tree: &mut Tree,
        text: &[S],
        is_base: impl Fn(Token) -> bool,
        is_piece: impl Fn(Token) -> bool,
        poll: &StopPoll,
    ) -> Result<Result<Vec<Reading>, Ambiguous>, StopReason> {
        let mut readings = Vec::new();
        let rest = match self.lexicon.is_nested() {
            true => Some(Rest::new(self.lexicon, text, &is_piece, poll)?),
            false => None,
        };
        let mut ambiguous = false;
        for base in self.lexicon.beginnings(text).chain(self.empty).filter(|base| is_base(*base)) {
            let from = self.lexicon.text(base).len();
            let root = tree.child(NONE, base);
            let node = match &rest {
                None => self.read_rest(tree, root, &text[from..], &is_piece, poll)?,
                Some(rest) if rest.ways[from] > 1 => {
                    ambiguous = true;
                    None
                }
                Some(rest) => rest.node(self.lexicon, tree, root, from),
            };
            readings.extend(node.map(|node| Reading { base, node }));
        }
        Ok(if ambiguous { Err(Ambiguous) } else { Ok(readings) })
    }

    /// The only way to read what was appended, if no piece begins with another.
    fn read_rest(
        &self,
        tree: &mut Tree,
        mut node: Node,
        mut text: &[S],
        is_piece: &impl Fn(Token) -> bool,
        poll: &StopPoll,
    ) -> Result<Option<Node>, StopReason> {
        while !text.is_empty() {
            poll.step()?;
            let first = tree.nodes[node as usize].first;
            let known = Some(first).filter(|first| *first != NONE).map(|first| tree.token(first));
            let known = known.filter(|token| text.starts_with(self.lexicon.text(*token)));
            let token = known.or_else(|| self.lexicon.beginnings(text).next());
            let Some(token) = token.filter(|token| is_piece(*token)) else { return Ok(None) };
            node = if known.is_some() { first } else { tree.child(node, token) };
            text = &text[self.lexicon.text(token).len()..];
        }
        Ok(Some(node))
    }
}

/// The ways to read the rest of a text as pieces, from each position.
struct Rest {
    /// How many there are, up to two.
    ways: Vec<u8>,
    /// The piece that one of them begins with.
    next: Vec<Token>,
}

impl Rest {
    fn new<S: Ord + Hash>(
        lexicon: &Lexicon<'_, S>,
        text: &[S],
        is_piece: &impl Fn(Token) -> bool,
        poll: &StopPoll,
    ) -> Result<Rest, StopReason> {
        let mut ways = vec![0; text.len() + 1];
        let mut next = vec![0; text.len()];
        ways[text.len()] = 1;
        for from in (0..text.len()).rev() {
            poll.step()?;
            for token in lexicon.beginnings(&text[from..]).filter(|token| is_piece(*token)) {
                poll.step()?;
                let more = ways[from + lexicon.text(token).len()];
                if more > 0 {
                    ways[from] = (ways[from] + more).min(2);
                    next[from] = token;
                }
            }
        }
        Ok(Rest { ways, next })
    }

    /// The node of the only way from a position on.
    fn node<S: Ord + Hash>(
        &self,
        lexicon: &Lexicon<'_, S>,
        tree: &mut Tree,
        root: Node,
        mut from: usize,
    ) -> Option<Node> {
        let mut node = (self.ways[from] == 1).then_some(root)?;
        while let Some(token) = self.next.get(from) {
            node = tree.child(node, *token);
            from += lexicon.text(*token).len();
        }
        Some(node)
    }
}
