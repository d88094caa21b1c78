//! Collections whose values repeat: a guess which removal removed what was added when.
//!
//! Once additions and removals are paired, every value is a value of its own, and the checkers of
//! distinct values say whether that explains the history. If it does, it does: the answer is an
//! order. If not, other pairs may. So operations are given instants at which they might have taken
//! effect, which give pairs (last in, first out, or first in, first out), and those that a checker
//! finds in conflict are given other instants, again and again, as in a local search for a
//! satisfying assignment (Selman, Kautz and Cohen, AAAI 1994). What this never finds out is that
//! nothing explains a history.

use super::super::poll::StopPoll;
use super::gather::value_of;
use super::{Collection, Conflict, Decision, FOREVER, Gap, Life, Look, Part, Span};
use linchpin_history_data::{History, NEVER, OpId, Operation, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Which of the values inside that are equal is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// The one that was added last.
    LastIn,
    /// The one that was added first. This is about when additions returned and removals were
    /// called, and there is one guess only.
    FirstIn,
}

/// An addition or a removal of a value.
#[derive(Clone, Copy, Debug)]
struct Access {
    op: OpId,
    value: ValueId,
    adds: bool,
    completed: bool,
    span: Span,
    /// When it might have taken effect, in fractions of a gap.
    instant: u64,
}

/// An addition and the removal of what it added, if there is one: positions in
/// [`Unpaired::accesses`].
type Pair = (usize, Option<usize>);

/// So many operations are looked at, in all rounds together.
const WORK: usize = 1 << 21;

/// So many instants there are in a gap.
const INSTANTS: u64 = 1 << 16;

/// What is known of a history before anything is guessed.
#[derive(Debug)]
pub(crate) struct Unpaired {
    /// The additions and removals, one value after the other.
    accesses: Vec<Access>,
    /// Where each value begins in `accesses`, and the end of the last.
    starts: Vec<usize>,
    empties: Vec<Look>,
    removers: Vec<Look>,
    end: Gap,
    random: u64,
}

impl Unpaired {
    /// What is known of a history; nothing where no guess is made: where there are completed peeks,
    /// and where something never added is removed.
    pub(crate) fn new<C: Collection>(history: &History) -> Option<Unpaired> {
        let object = &C::OBJECT;
        let end = Gap::try_from(history.events.index()).ok()?.checked_add(1)?;
        // Gaps are places in tables.
        if history.events.index() > 8 * history.operations.len() + 64 {
            return None;
        }
        let mut numbers: FxHashMap<ValueId, usize> = FxHashMap::default();
        let mut lists: Vec<Vec<Access>> = Vec::new();
        let (mut empties, mut removers) = (Vec::new(), Vec::new());
        for (op, operation) in history.iter() {
            let (kind, completed) = (usize::from(operation.operation), operation.completed);
            let adds = kind == object.add.0;
            if !adds && kind != object.remove.0 {
                // A look that did not return may as well not have happened.
                if completed {
                    return None;
                }
                continue;
            }
            let span = span(operation, end);
            if !adds && !completed {
                removers.push(Look { life: 0, op, span });
                continue;
            }
            let value = value_of(if adds { operation.argument } else { operation.response })?;
            if value == ValueId::NULL {
                if adds {
                    return None;
                }
                empties.push(Look { life: 0, op, span });
                continue;
            }
            let number = *numbers.entry(value).or_insert(lists.len());
            if number == lists.len() {
                lists.push(Vec::new());
            }
            lists[number].push(Access { op, value, adds, completed, span, instant: 0 });
        }
        let mut starts = vec![0];
        let mut accesses = Vec::with_capacity(history.operations.len());
        for list in lists {
            accesses.extend(list);
            starts.push(accesses.len());
        }
        let random = 0x9e37_79b9_7f4a_7c15;
        Some(Unpaired { accesses, starts, empties, removers, end, random })
    }

    /// Tries many guesses; an order that explains the history, if one is found.
    pub(crate) fn explain<C: Collection>(
        &mut self,
        collection: &C,
        pairing: Pairing,
        poll: &StopPoll,
    ) -> Option<Vec<OpId>> {
        // More operations need more rounds, each of which takes longer.
        let operations = self.accesses.len().max(1);
        let rounds = (8 + operations / 4).min(WORK / operations + 1);
        self.place_in_the_middle();
        for _ in 0..rounds {
            poll.ask(0).ok()?;
            let pairs = match pairing {
                Pairing::LastIn => self.last_in_first_out(),
                Pairing::FirstIn => self.first_in_first_out(),
            };
            let lonely = match pairs {
                Ok(pairs) => match collection.decide(self.part(&pairs)) {
                    Decision::Explained(order) => return Some(order),
                    Decision::Unexplained(stuck) => self.members(&stuck, &pairs),
                    Decision::Unknown(_) | Decision::Stopped(_) => return None,
                },
                Err(lonely) => vec![lonely],
            };
            if pairing == Pairing::FirstIn {
                return None;
            }
            lonely.into_iter().for_each(|at| self.move_around(at));
        }
        None
    }

    /// Gives each operation the instant in the middle of its time.
    fn place_in_the_middle(&mut self) {
        for access in &mut self.accesses {
            let Span { lo, hi } = access.span;
            access.instant = (u64::from(lo) + u64::from(hi)) * INSTANTS / 2;
        }
    }

    fn next_random(&mut self) -> u64 {
        // xorshift64 (Marsaglia, 2003).
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    /// The operations of lives in conflict.
    fn members(&self, stuck: &Conflict, pairs: &[Pair]) -> Vec<usize> {
        let lives = if stuck.lives.is_empty() { &stuck.blockers } else { &stuck.lives };
        let lives: FxHashSet<u32> = lives.iter().copied().collect();
        let used = pairs.iter().filter(|pair| self.is_life(pair));
        let members = used.zip(0..).filter(|(_, life)| lives.contains(life));
        members.flat_map(|((add, remove), _)| [Some(*add), *remove]).flatten().collect()
    }

    /// Gives another instant to an operation and to some of those on the same value that overlap
    /// it.
    fn move_around(&mut self, at: usize) {
        let span = self.accesses[at].span;
        let value = self.starts.partition_point(|start| *start <= at) - 1;
        for other in self.starts[value]..self.starts[value + 1] {
            let with = self.accesses[other].span;
            let overlaps = with.lo <= span.hi && span.lo <= with.hi;
            if other == at || overlaps && self.next_random().is_multiple_of(2) {
                let gaps = u64::from(with.hi - with.lo) + 1;
                let within = self.next_random() % (gaps * INSTANTS);
                self.accesses[other].instant = u64::from(with.lo) * INSTANTS + within;
            }
        }
    }

    /// The pairs if what was added last is removed first, or a removal that has nothing to remove.
    fn last_in_first_out(&self) -> Result<Vec<Pair>, usize> {
        let mut pairs = Vec::with_capacity(self.accesses.len());
        for range in self.starts.windows(2) {
            let mut order: Vec<usize> = (range[0]..range[1]).collect();
            order.sort_by_key(|at| (self.accesses[*at].instant, !self.accesses[*at].adds));
            let (mut inside, mut waiting) = (Vec::new(), Vec::new());
            for at in order {
                // A removal without an addition waits for the next one.
                match (self.accesses[at].adds, inside.last(), waiting.last()) {
                    (true, _, Some(&remove)) => {
                        waiting.pop();
                        pairs.push(self.pair(at, remove)?);
                    }
                    (true, _, None) => inside.push(at),
                    (false, Some(&add), _) => {
                        inside.pop();
                        pairs.push(self.pair(add, at)?);
                    }
                    (false, None, _) => waiting.push(at),
                }
            }
            if let Some(&lonely) = waiting.first() {
                return Err(lonely);
            }
            pairs.extend(inside.into_iter().map(|add| (add, None)));
        }
        Ok(pairs)
    }

    /// The pairs if of equal values those are removed first whose additions returned first, by the
    /// removals that were called first, or a removal that has nothing to remove.
    fn first_in_first_out(&self) -> Result<Vec<Pair>, usize> {
        let mut pairs = Vec::with_capacity(self.accesses.len());
        for range in self.starts.windows(2) {
            let (mut adds, mut removes): (Vec<usize>, Vec<usize>) =
                (range[0]..range[1]).partition(|at| self.accesses[*at].adds);
            adds.sort_by_key(|at| self.accesses[*at].span.hi);
            let mut adds = VecDeque::from(adds);
            removes.sort_by_key(|at| self.accesses[*at].span.lo);
            for remove in removes {
                let fits = |add: &usize| self.pair(*add, remove).is_ok();
                let add = adds.iter().position(fits).and_then(|at| adds.remove(at));
                pairs.push((add.ok_or(remove)?, Some(remove)));
            }
            pairs.extend(adds.into_iter().map(|add| (add, None)));
        }
        Ok(pairs)
    }

    /// A pair, or the removal if it returned before the addition was called.
    fn pair(&self, add: usize, remove: usize) -> Result<Pair, usize> {
        match self.accesses[remove].span.hi < self.accesses[add].span.lo {
            true => Err(remove),
            false => Ok((add, Some(remove))),
        }
    }

    /// Whether the value of a pair was there: not if its addition did not return and nothing
    /// removed it.
    fn is_life(&self, pair: &Pair) -> bool {
        pair.1.is_some() || self.accesses[pair.0].completed
    }

    /// The lives of pairs, in their order.
    fn part(&self, pairs: &[Pair]) -> Part {
        let lives = pairs.iter().filter(|pair| self.is_life(pair)).map(|&(add, remove)| {
            let never = Span { lo: FOREVER, hi: FOREVER };
            let (added, removed) = (&self.accesses[add], remove.map(|at| &self.accesses[at]));
            Life {
                value: added.value,
                add: Some(added.op),
                remove: removed.map(|removed| removed.op),
                added: added.span,
                removed: removed.map_or(never, |removed| removed.span),
                seen_by: FOREVER,
            }
        });
        let (empties, removers) = (self.empties.clone(), self.removers.clone());
        Part { lives: lives.collect(), looks: Vec::new(), empties, removers, end: self.end }
    }
}

/// The gaps in which an operation may take effect.
fn span(operation: &Operation, end: Gap) -> Span {
    let last = end - 1;
    let hi = match operation.returned {
        NEVER => last,
        returned => returned.number().min(last),
    };
    Span { lo: operation.invoked.number() + 1, hi }
}
