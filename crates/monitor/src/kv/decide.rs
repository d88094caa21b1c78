//! Deciding about one key: read, place, put blocks in order, and choose again where that fails.

use super::blocks::{Blocks, Conflict};
use super::choices::{Literal, Nogood, Nogoods, Solution, Variable};
use super::epochs::{Misplaced, Places};
use super::log::{At, Known};
use super::{reasons, zones};
use crate::poll::{StopPoll, StopReason};
use rustc_hash::FxHashSet;

/// What is known about a key.
pub(super) enum Decision {
    /// This order explains it.
    Holds(Vec<At>),
    Violated(Fault),
    Declined(Refusal),
}

/// Why no order explains a key.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// A get shows what cannot be read.
    Unread(At),
    /// A get shows what was overwritten for good, or called too late.
    Nowhere(At),
    /// A conflict that rests on no choice, and the operations that show it.
    Conflict(Conflict, Vec<At>),
    /// These operations exclude every choice.
    Choices(Vec<At>),
}

/// Why a key is not decided.
#[derive(Clone, Copy, Debug)]
pub(super) enum Refusal {
    /// A get can be read in several ways.
    Ambiguous(At),
    /// Values repeat too often.
    Repeated,
}

/// How hard to try where values repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// About as much as a search of a short history takes that is not hard.
    Little,
    Full,
}

impl Effort {
    /// So many rounds of choices at most.
    fn rounds(self) -> usize {
        match self {
            Effort::Little => 16,
            Effort::Full => 1_000,
        }
    }

    /// So many choices are tried for one group of nogoods in a round.
    fn tried(self) -> usize {
        match self {
            Effort::Little => 1 << 10,
            Effort::Full => 1 << 17,
        }
    }
}

/// So many operations in all rounds.
const MOST_WORK: usize = 30_000_000;

/// Decides about what was known.
pub(super) fn decide(
    known: &Known<'_>,
    effort: Effort,
    poll: &StopPoll,
) -> Result<Decision, StopReason> {
    let log = known.log;
    let returned = |get: &At| known.is_completed(*get);
    if let Some(get) = log.unread.filter(returned) {
        return Ok(Decision::Violated(Fault::Unread(get)));
    }
    let places = match Places::find(known, poll)? {
        Ok(places) => places,
        Err(Misplaced::Nowhere(get)) => return Ok(Decision::Violated(Fault::Nowhere(get))),
        Err(Misplaced::TooMany) => return Ok(Decision::Declined(Refusal::Repeated)),
    };
    if let Some(get) = log.ambiguous.filter(returned) {
        return Ok(Decision::Declined(Refusal::Ambiguous(get)));
    }
    let mut rounds = Rounds { blocks: Blocks::new(known, &places), nogoods: Nogoods::default() };
    rounds.run(effort, poll)
}

struct Rounds<'k, 'l> {
    blocks: Blocks<'k, 'l>,
    nogoods: Nogoods,
}

impl Rounds<'_, '_> {
    fn run(&mut self, effort: Effort, poll: &StopPoll) -> Result<Decision, StopReason> {
        let count = self.blocks.known.count;
        let mut dirty: Vec<At> = (0..count).filter(|put| self.blocks.is_shown(*put)).collect();
        let mut work = 0;
        for _ in 0..effort.rounds() {
            let mut conflicts = Vec::new();
            for put in &dirty {
                self.blocks.evaluate(*put, &mut conflicts, poll)?;
            }
            // These epochs are looked at again whatever is chosen.
            let mut again: FxHashSet<At> =
                conflicts.iter().flat_map(|conflict| self.epochs(conflict)).collect();
            let order = zones::arrange(&self.blocks, &mut conflicts, poll)?;
            if conflicts.is_empty() {
                return Ok(Decision::Holds(self.emit(&order, poll)?));
            }
            if let Some(fault) = self.learn(&conflicts) {
                return Ok(Decision::Violated(fault));
            }
            let changes = match self.nogoods.solve(&self.blocks, effort.tried(), poll)? {
                Solution::Change(changes) => changes,
                Solution::TooMany => break,
                Solution::Nothing(nogoods) => {
                    let all = nogoods.into_iter().map(|at| self.nogoods.get(at).operations.clone());
                    return Ok(Decision::Violated(Fault::Choices(all.flatten().collect())));
                }
            };
            again.extend(changes.iter().flat_map(|change| self.touched(change)));
            dirty = again.into_iter().collect();
            dirty.sort_unstable();
            self.change(&dirty, &changes);
            work += count as usize;
            if work > MOST_WORK {
                break;
            }
        }
        Ok(Decision::Declined(Refusal::Repeated))
    }

    /// Adds the nogoods of conflicts, unless one rests on nothing: of those the smallest.
    fn learn(&mut self, conflicts: &[Conflict]) -> Option<Fault> {
        /// More conflicts that rest on nothing are not compared.
        const MOST: usize = 16;
        let mut certain: Vec<(Conflict, Vec<At>)> = Vec::new();
        for conflict in conflicts {
            let nogood: Nogood = reasons::nogood(&self.blocks, conflict);
            match nogood.literals.is_empty() {
                true => certain.push((*conflict, nogood.operations)),
                false => self.nogoods.add(nogood),
            }
            if certain.len() == MOST {
                break;
            }
        }
        let smallest = certain.into_iter().min_by_key(|(_, operations)| operations.len());
        smallest.map(|(conflict, operations)| Fault::Conflict(conflict, operations))
    }

    /// The epochs that a change is about.
    fn touched(&self, change: &Literal) -> [At; 2] {
        match change.variable {
            Variable::Slot(slot) => [slot.put, slot.put],
            Variable::Get(get) => {
                let to = self.blocks.places.of(get)[change.value as usize];
                [self.blocks.place(get).put, to.put]
            }
        }
    }

    fn change(&mut self, dirty: &[At], changes: &[Literal]) {
        dirty.iter().for_each(|put| self.blocks.forget(*put));
        for change in changes {
            match change.variable {
                Variable::Slot(slot) => drop(self.blocks.filled.insert(slot, change.value)),
                Variable::Get(get) => self.blocks.choose(get, change.value),
            }
        }
    }

    /// All operations, in order.
    fn emit(&self, order: &[At], poll: &StopPoll) -> Result<Vec<At>, StopReason> {
        let mut all = Vec::with_capacity(self.blocks.known.count as usize);
        for root in order {
            poll.step()?;
            all.extend(self.blocks.members(&self.blocks.blocks[*root as usize]));
        }
        Ok(all)
    }

    /// The epochs of a conflict within blocks.
    fn epochs(&self, conflict: &Conflict) -> [At; 2] {
        match conflict {
            Conflict::Forked(get, _) => [self.blocks.place(*get).put; 2],
            Conflict::Twice(_, one, other) => [one.put, other.put],
            Conflict::Backwards(put, ..) => [*put; 2],
            Conflict::Crossed(one, other) => [one.root, other.root],
        }
    }
}
