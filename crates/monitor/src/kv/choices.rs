//! Choices, where values repeat: what excludes what, and other choices that nothing excludes.

use super::backjump::{Found, Problem};
use super::blocks::{Blocks, Slot};
use super::log::At;
use crate::poll::{StopPoll, StopReason};
use rustc_hash::{FxHashMap, FxHashSet};

/// What there is to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Variable {
    /// The epoch of a get.
    Get(At),
    /// The append in a slot.
    Slot(Slot),
}

/// One choice: the number of a place, or an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Literal {
    pub(super) variable: Variable,
    pub(super) value: u32,
}

/// Choices that cannot all be made.
#[derive(Clone, Debug)]
pub(super) struct Nogood {
    /// In order, each variable once.
    pub(super) literals: Vec<Literal>,
    /// The operations that show it.
    pub(super) operations: Vec<At>,
}

/// So many choices are tried to find out whether a nogood can be left out.
const MOST_TRIED_WITHOUT: usize = 1 << 12;

/// All nogoods so far.
#[derive(Default)]
pub(super) struct Nogoods {
    all: Vec<Nogood>,
    known: FxHashSet<Vec<Literal>>,
    of: FxHashMap<Variable, Vec<usize>>,
}

/// What to choose now.
pub(super) enum Solution {
    /// These instead.
    Change(Vec<Literal>),
    /// Nothing: these nogoods exclude everything.
    Nothing(Vec<usize>),
    /// There are too many choices to try.
    TooMany,
}

impl Nogoods {
    /// A nogood, by its number.
    pub(super) fn get(&self, at: usize) -> &Nogood {
        &self.all[at]
    }

    /// Adds a nogood, unless it is there.
    pub(super) fn add(&mut self, nogood: Nogood) {
        if self.known.insert(nogood.literals.clone()) {
            for literal in &nogood.literals {
                self.of.entry(literal.variable).or_default().push(self.all.len());
            }
            self.all.push(nogood);
        }
    }

    /// Other choices, so that no nogood has all of its own. So many are tried for one group of
    /// nogoods at most.
    pub(super) fn solve(
        &self,
        blocks: &Blocks<'_, '_>,
        most_tried: usize,
        poll: &StopPoll,
    ) -> Result<Solution, StopReason> {
        let is_made = |literal: &Literal| value(blocks, literal.variable) == Some(literal.value);
        let mut grouped = vec![false; self.all.len()];
        let mut changes = Vec::new();
        for at in 0..self.all.len() {
            poll.step()?;
            if grouped[at] || !self.all[at].literals.iter().all(is_made) {
                continue;
            }
            let group = self.group(at, &mut grouped);
            let mut search = Search { nogoods: self, blocks, group, skip: FxHashSet::default() };
            match search.run(most_tried, poll)? {
                Found::Values(values) => {
                    let choices = search.variables().into_iter().zip(values);
                    let choices = choices.map(|(variable, value)| Literal { variable, value });
                    changes.extend(choices.filter(|choice| !is_made(choice)));
                }
                Found::TooMany => return Ok(Solution::TooMany),
                Found::Nothing => {
                    search.shrink(poll)?;
                    let left = search.group.iter().filter(|at| !search.skip.contains(at));
                    return Ok(Solution::Nothing(left.copied().collect()));
                }
            }
        }
        Ok(Solution::Change(changes))
    }

    /// All nogoods that are connected with one by their variables.
    fn group(&self, from: usize, grouped: &mut [bool]) -> Vec<usize> {
        let mut group = vec![from];
        grouped[from] = true;
        let mut next = 0;
        let mut seen = FxHashSet::default();
        while let Some(at) = group.get(next).copied() {
            next += 1;
            for literal in &self.all[at].literals {
                // A variable may be in most of the nogoods.
                if !seen.insert(literal.variable) {
                    continue;
                }
                for other in &self.of[&literal.variable] {
                    if !std::mem::replace(&mut grouped[*other], true) {
                        group.push(*other);
                    }
                }
            }
        }
        group
    }
}

/// What is chosen now.
fn value(blocks: &Blocks<'_, '_>, variable: Variable) -> Option<u32> {
    match variable {
        Variable::Get(get) => Some(blocks.chosen[get as usize]),
        Variable::Slot(slot) => blocks.filled.get(&slot).copied(),
    }
}

/// A search for choices in a group of nogoods.
struct Search<'n, 'b, 'k, 'l> {
    nogoods: &'n Nogoods,
    blocks: &'b Blocks<'k, 'l>,
    /// Nogoods with all that share a variable with them.
    group: Vec<usize>,
    /// The nogoods that do not count.
    skip: FxHashSet<usize>,
}

impl Search<'_, '_, '_, '_> {
    /// Choices that no nogood excludes which counts.
    fn run(&self, most_tried: usize, poll: &StopPoll) -> Result<Found, StopReason> {
        let variables = self.variables();
        let numbers: FxHashMap<Variable, usize> = variables.iter().copied().zip(0..).collect();
        let counting = self.group.iter().filter(|at| !self.skip.contains(at));
        let nogoods = counting.map(|at| {
            let literals = self.nogoods.all[*at].literals.iter();
            literals.map(|literal| (numbers[&literal.variable], literal.value)).collect()
        });
        let nogoods = nogoods.collect();
        let domains = variables.into_iter().map(|variable| self.domain(variable)).collect();
        Problem { domains, nogoods }.solve(most_tried, poll)
    }

    /// The variables of the group, in the order of its nogoods.
    fn variables(&self) -> Vec<Variable> {
        let mut seen = FxHashSet::default();
        let literals = self.group.iter().flat_map(|at| &self.nogoods.all[*at].literals);
        literals.map(|literal| literal.variable).filter(|variable| seen.insert(*variable)).collect()
    }

    /// Leaves out nogoods as long as the others exclude everything.
    fn shrink(&mut self, poll: &StopPoll) -> Result<(), StopReason> {
        /// Of more than these, none is left out.
        const MOST: usize = 200;
        for nogood in self.group.clone().into_iter().take(MOST) {
            self.skip.insert(nogood);
            if !matches!(self.run(MOST_TRIED_WITHOUT, poll)?, Found::Nothing) {
                self.skip.remove(&nogood);
            }
        }
        Ok(())
    }

    /// All values, the one that is chosen now first.
    fn domain(&self, variable: Variable) -> Vec<u32> {
        let known = self.blocks.known;
        let mut values: Vec<u32> = match variable {
            Variable::Get(get) => (0..self.blocks.places.of(get).len() as u32).collect(),
            Variable::Slot(slot) => known.appends(known.log.tree.token(slot.node)).to_vec(),
        };
        let now = value(self.blocks, variable);
        values.sort_by_key(|value| Some(*value) != now);
        values
    }
}
