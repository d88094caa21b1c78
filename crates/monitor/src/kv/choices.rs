//! Choices, where values repeat: what excludes what, and other choices that nothing excludes.

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

/// So many choices are tried for one group of nogoods.
const MOST_TRIED: usize = 1 << 17;

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

    /// Other choices, so that no nogood has all of its own.
    pub(super) fn solve(
        &self,
        blocks: &Blocks<'_, '_>,
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
            match search.run(poll)? {
                Found::Choices(choices) => {
                    changes.extend(choices.into_iter().filter(|choice| !is_made(choice)));
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
        while let Some(at) = group.get(next).copied() {
            next += 1;
            for literal in &self.all[at].literals {
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

enum Found {
    Choices(Vec<Literal>),
    Nothing,
    TooMany,
}

/// A search for choices in a group of nogoods, one variable after the other.
struct Search<'n, 'b, 'k, 'l> {
    nogoods: &'n Nogoods,
    blocks: &'b Blocks<'k, 'l>,
    /// Nogoods with all that share a variable with them.
    group: Vec<usize>,
    /// The nogoods that do not count.
    skip: FxHashSet<usize>,
}

impl Search<'_, '_, '_, '_> {
    fn run(&self, poll: &StopPoll) -> Result<Found, StopReason> {
        let mut variables: Vec<Variable> = Vec::new();
        let mut numbers: FxHashMap<Variable, usize> = FxHashMap::default();
        for literal in self.group.iter().flat_map(|at| &self.nogoods.all[*at].literals) {
            numbers.entry(literal.variable).or_insert_with(|| {
                variables.push(literal.variable);
                variables.len() - 1
            });
        }
        let domains: Vec<Vec<u32>> = variables.iter().map(|v| self.domain(*v)).collect();
        // INVARIANT: the first variables have a value, by its position in the domain.
        let mut chosen: Vec<usize> = vec![0];
        let mut tried = 0;
        while let Some(position) = chosen.last().copied() {
            poll.step()?;
            tried += 1;
            if tried > MOST_TRIED {
                return Ok(Found::TooMany);
            }
            let variable = chosen.len() - 1;
            if position == domains[variable].len() {
                chosen.pop();
                if let Some(last) = chosen.last_mut() {
                    *last += 1;
                }
                continue;
            }
            if self.is_excluded(variables[variable], &numbers, &domains, &chosen) {
                chosen[variable] += 1;
            } else if chosen.len() == variables.len() {
                let value = |(at, variable): (usize, &Variable)| Literal {
                    variable: *variable,
                    value: domains[at][chosen[at]],
                };
                return Ok(Found::Choices(variables.iter().enumerate().map(value).collect()));
            } else {
                chosen.push(0);
            }
        }
        Ok(Found::Nothing)
    }

    /// Leaves out nogoods as long as the others exclude everything.
    fn shrink(&mut self, poll: &StopPoll) -> Result<(), StopReason> {
        /// Of more than these, none is left out.
        const MOST: usize = 200;
        for nogood in self.group.clone().into_iter().take(MOST) {
            self.skip.insert(nogood);
            if !matches!(self.run(poll)?, Found::Nothing) {
                self.skip.remove(&nogood);
            }
        }
        Ok(())
    }

    /// Whether the value of the last variable completes a nogood.
    fn is_excluded(
        &self,
        last: Variable,
        numbers: &FxHashMap<Variable, usize>,
        domains: &[Vec<u32>],
        chosen: &[usize],
    ) -> bool {
        let is_made = |literal: &Literal| {
            let at = numbers.get(&literal.variable);
            at.is_some_and(|at| chosen.get(*at).is_some_and(|c| domains[*at][*c] == literal.value))
        };
        let mut nogoods = self.nogoods.of[&last].iter().filter(|at| !self.skip.contains(at));
        nogoods.any(|at| self.nogoods.all[*at].literals.iter().all(is_made))
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
