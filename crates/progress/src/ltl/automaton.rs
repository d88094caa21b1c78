//! The Büchi automaton of a formula, by the tableau of Gerth, Peled, Vardi and Wolper, "Simple
//! On-the-fly Automatic Verification of Linear Temporal Logic" (PSTV 1995), Figure 1.
//!
//! A node promises that, from a position on, the formulas in `old` hold; what it leaves for the
//! next position is in `next`. The automaton reads the letter of a position while it is in a node.
//! Acceptance is generalised: one set of nodes for each `until`, the nodes that do not promise it
//! or fulfil it there and then; an accepting run visits every set again and again.

use super::formula::Formula;
use std::collections::{BTreeSet, HashMap};

/// More nodes than this are not made.
const MAX_NODES: usize = 20_000;

/// More parts than this are not taken apart: many ways may lead to few nodes.
const MAX_WORK: usize = 1_000_000;

/// Letters are one word: there is no room for more atoms.
const MAX_ATOMS: usize = 64;

/// More `until`s than this do not fit into the demands on a cycle.
const MAX_SETS: usize = 60;

/// The automaton of this formula would be too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the automaton of this formula is too large")]
pub struct TooLarge;

/// A generalised Büchi automaton. Letters are sets of atoms.
#[derive(Clone, Debug, Default)]
pub struct Automaton {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// Those where runs start.
    pub initial: Vec<u32>,
    /// How many sets must be visited again and again.
    pub sets: usize,
}

/// A node of the automaton.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// The atoms that the letter read here must have, as a set of bits.
    pub with: u64,
    /// The atoms that it must not have.
    pub without: u64,
    /// The sets that it is in.
    pub accepting: u64,
    /// Where the automaton may go next.
    pub next: Vec<u32>,
}

impl Node {
    /// Whether the node may read this letter.
    pub fn reads(&self, letter: u64) -> bool {
        letter & self.with == self.with && letter & self.without == 0
    }
}

impl Automaton {
    /// The automaton that accepts the words on which the formula holds.
    pub fn of(formula: &Formula) -> Result<Automaton, TooLarge> {
        if formula.atoms() > MAX_ATOMS {
            return Err(TooLarge);
        }
        let mut tableau = Tableau::default();
        let root = tableau.intern(&formula.normal());
        tableau.expand(root)?;
        tableau.automaton()
    }
}

/// A formula by number, with its parts by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    True,
    False,
    Atom(usize),
    NotAtom(usize),
    And(usize, usize),
    Or(usize, usize),
    Next(usize),
    Until(usize, usize),
    Release(usize, usize),
}

/// A node in the making: the record of Figure 1.
#[derive(Clone, Debug, Default)]
struct Draft {
    /// The node that it follows; `None` if runs start here.
    incoming: Option<u32>,
    /// What is promised and not yet taken apart.
    new: BTreeSet<usize>,
    old: BTreeSet<usize>,
    next: BTreeSet<usize>,
}

/// What makes two nodes the same: `old` and `next`.
type Promises = (BTreeSet<usize>, BTreeSet<usize>);

#[derive(Default)]
struct Tableau {
    formulas: Vec<Kind>,
    numbers: HashMap<Formula, usize>,
    nodes: Vec<BTreeSet<usize>>,
    known: HashMap<Promises, u32>,
    /// For each node, those it follows.
    incoming: Vec<BTreeSet<Option<u32>>>,
}

impl Tableau {
    /// The number of a formula in normal form.
    fn intern(&mut self, formula: &Formula) -> usize {
        if let Some(&number) = self.numbers.get(formula) {
            return number;
        }
        let kind = match formula {
            Formula::True => Kind::True,
            Formula::False => Kind::False,
            Formula::Atom(atom) => Kind::Atom(*atom),
            Formula::Not(of) => match **of {
                Formula::Atom(atom) => Kind::NotAtom(atom),
                _ => return self.intern(&formula.normal()),
            },
            Formula::And(a, b) => Kind::And(self.intern(a), self.intern(b)),
            Formula::Or(a, b) => Kind::Or(self.intern(a), self.intern(b)),
            Formula::Next(of) => Kind::Next(self.intern(of)),
            Formula::Until(a, b) => Kind::Until(self.intern(a), self.intern(b)),
            Formula::Release(a, b) => Kind::Release(self.intern(a), self.intern(b)),
        };
        self.formulas.push(kind);
        self.numbers.insert(formula.clone(), self.formulas.len() - 1);
        self.formulas.len() - 1
    }

    /// Whether the negation of a literal is among the promises.
    fn contradicts(&self, kind: Kind, old: &BTreeSet<usize>) -> bool {
        let opposite = match kind {
            Kind::Atom(atom) => Kind::NotAtom(atom),
            Kind::NotAtom(atom) => Kind::Atom(atom),
            _ => return kind == Kind::False,
        };
        old.iter().any(|&number| self.formulas[number] == opposite)
    }

    /// The function `expand` of Figure 1, with a stack of drafts instead of recursion.
    fn expand(&mut self, root: usize) -> Result<(), TooLarge> {
        let mut drafts = vec![Draft { new: BTreeSet::from([root]), ..Draft::default() }];
        let mut work = 0;
        while let Some(mut draft) = drafts.pop() {
            work += 1;
            if self.nodes.len() > MAX_NODES || work > MAX_WORK {
                return Err(TooLarge);
            }
            let Some(number) = draft.new.pop_first() else {
                drafts.extend(self.complete(draft));
                continue;
            };
            let kind = self.formulas[number];
            if draft.old.contains(&number) {
                drafts.push(draft);
                continue;
            }
            if self.contradicts(kind, &draft.old) {
                continue;
            }
            draft.old.insert(number);
            match kind {
                Kind::True | Kind::False | Kind::Atom(_) | Kind::NotAtom(_) => {}
                Kind::And(a, b) => draft.new.extend([a, b]),
                Kind::Next(of) => {
                    draft.next.insert(of);
                }
                Kind::Or(a, b) => {
                    let mut other = draft.clone();
                    draft.new.insert(a);
                    other.new.insert(b);
                    drafts.push(other);
                }
                Kind::Until(a, b) => {
                    let mut later = draft.clone();
                    later.new.insert(a);
                    later.next.insert(number);
                    draft.new.insert(b);
                    drafts.push(later);
                }
                Kind::Release(a, b) => {
                    let mut later = draft.clone();
                    later.new.insert(b);
                    later.next.insert(number);
                    draft.new.extend([a, b]);
                    drafts.push(later);
                }
            }
            drafts.push(draft);
        }
        Ok(())
    }

    /// A draft with nothing left to take apart is a node: one that is there, or a new one, whose
    /// successors are drafted next.
    fn complete(&mut self, draft: Draft) -> Option<Draft> {
        let Draft { incoming, old, next, .. } = draft;
        let promises = (old, next);
        if let Some(&node) = self.known.get(&promises) {
            self.incoming[node as usize].insert(incoming);
            return None;
        }
        let node = self.nodes.len() as u32;
        self.nodes.push(promises.0.clone());
        self.incoming.push(BTreeSet::from([incoming]));
        let new = promises.1.clone();
        self.known.insert(promises, node);
        Some(Draft { incoming: Some(node), new, ..Draft::default() })
    }

    fn automaton(&self) -> Result<Automaton, TooLarge> {
        let untils: Vec<(usize, usize)> = self
            .formulas
            .iter()
            .enumerate()
            .filter_map(|(number, kind)| match kind {
                Kind::Until(_, b) => Some((number, *b)),
                _ => None,
            })
            .collect();
        if untils.len() > MAX_SETS {
            return Err(TooLarge);
        }
        let mut automaton = Automaton { sets: untils.len(), ..Automaton::default() };
        for old in &self.nodes {
            let mut node = Node::default();
            for &number in old {
                match self.formulas[number] {
                    Kind::Atom(atom) => node.with |= 1 << atom,
                    Kind::NotAtom(atom) => node.without |= 1 << atom,
                    _ => {}
                }
            }
            for (set, (until, fulfilled)) in untils.iter().enumerate() {
                if !old.contains(until) || old.contains(fulfilled) {
                    node.accepting |= 1 << set;
                }
            }
            automaton.nodes.push(node);
        }
        for (node, incoming) in self.incoming.iter().enumerate() {
            for from in incoming {
                match from {
                    None => automaton.initial.push(node as u32),
                    Some(from) => automaton.nodes[*from as usize].next.push(node as u32),
                }
            }
        }
        Ok(automaton)
    }
}
