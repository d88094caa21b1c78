//! Attempts that are bound to have no effect, taken to their end at once.
//!
//! A thread is in a *doomed* attempt if, whatever other threads do, all its steps until a node of
//! its operation, always the same one, write nothing, cannot go wrong and change none of the locals
//! that are live there. Typically it has read a shared variable, will compare it with what it read
//! or swap it, and the variable never holds that again: then it begins its loop once more.
//!
//! **Why taking it to that node at once is exact.** Let `s` be the state and `t` the one in which
//! the thread is at that node: they differ in nothing else, for the attempt writes nothing. `t` is
//! reached from `s`, by the steps of this thread alone. And every run from `s` has one from `t`
//! with the same events and no more steps: leave out the steps of the attempt, which no other
//! thread can notice; when it is over in the one run, both runs are in the same state. If it is
//! never over, the thread just stays where it is. So what goes wrong from `s` goes wrong from `t`,
//! as soon; an operation that can return from the one can from the other; and each counterexample
//! is a run of the model, because the steps are really made.
//!
//! Whether an attempt is doomed is found by going along all its ways (`attempt.rs`).

use crate::attempt::{Aim, Attempt, MAX_NODES, Way};
use crate::code::{Act, Address, Base, Class, Code, Fork, Op, Routine};
use crate::execute::{Ended, Trail, Words};
use crate::flat::Flat;
use crate::layout::{Kind, Layout, NODE};
use crate::reach::Reach;
use crate::successors::Successors;
use smallvec::SmallVec;

/// Where to look whether an attempt of an operation may be doomed: for most states, a look there
/// shows that it is not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hints {
    /// A shared word, and a word of the region that it is compared with.
    compared: Vec<(usize, usize)>,
    /// A word of the region with an object, and a write-once word of the object that a `cas` is
    /// made on.
    swapped: Vec<(usize, usize)>,
}

impl Hints {
    /// `once`: the classes that are write-once.
    pub fn of(routine: &Routine, layout: &Layout, once: &[Class]) -> Hints {
        let mut hints = Hints::default();
        let mut acts = Vec::new();
        let mut forks: Vec<&Fork> = routine.nodes.iter().flat_map(|node| &node.forks).collect();
        while let Some(fork) = forks.pop() {
            acts.extend(&fork.acts);
            forks.extend(&fork.then);
        }
        // The shared words that are read, and where they are read to.
        let copies = acts.iter().filter_map(|act| match act {
            Act::Read { into, from: Address { base: Base::Shared(at), element: None, .. } } => {
                Some((*at, into.at))
            }
            _ => None,
        });
        let copies: Vec<(usize, usize)> = copies.collect();
        for act in &acts {
            match act {
                Act::Cas { cells, .. } => {
                    for (address, expected, _) in cells {
                        hints.swaps(address, expected, once);
                    }
                }
                Act::Guard(condition) => hints.compares(condition, &copies),
                _ => {}
            }
        }
        let is_reference = |word: usize| layout.shared_kinds[word] == Kind::Ref;
        hints.compared.retain(|(word, _)| is_reference(*word));
        for pairs in [&mut hints.compared, &mut hints.swapped] {
            pairs.sort_unstable();
            pairs.dedup();
        }
        hints
    }

    /// Notes a `cas`.
    fn swaps(&mut self, address: &Address, expected: &Code, once: &[Class]) {
        match (&address.base, &expected.op) {
            (Base::Shared(at), Op::Slot(slot)) => self.compared.push((*at, *slot)),
            (Base::Object { object: Code { op: Op::Slot(slot), .. }, at, .. }, _)
                if once.binary_search(&address.class).is_ok() =>
            {
                self.swapped.push((*slot, *at));
            }
            _ => {}
        }
    }

    /// Notes the comparisons of a condition with what was read from a shared word.
    fn compares(&mut self, condition: &Code, copies: &[(usize, usize)]) {
        match &condition.op {
            Op::Not(inner) => self.compares(inner, copies),
            Op::And(left, right) | Op::Or(left, right) => {
                self.compares(left, copies);
                self.compares(right, copies);
            }
            Op::Equal { left, right, .. } => {
                if let (Op::Slot(left), Op::Slot(right)) = (&left.op, &right.op) {
                    for (word, copy) in copies {
                        for (one, other) in [(left, right), (right, left)] {
                            if copy == one {
                                self.compared.push((*word, *other));
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Those that concern live words: what a dead word holds must make no difference, because it
    /// is not kept.
    pub fn among(&self, live: &[(usize, Kind)]) -> Hints {
        let is_live = |slot: usize| live.iter().any(|(word, _)| *word == slot);
        let mut hints = self.clone();
        hints.compared.retain(|(_, slot)| is_live(*slot));
        hints.swapped.retain(|(slot, _)| is_live(*slot));
        hints
    }

    /// Whether an attempt of a thread in this state may be doomed.
    fn apply(&self, words: &[i64], region: usize, layout: &Layout) -> bool {
        let compared = |(shared, slot): &(usize, usize)| {
            let word = words[region + slot];
            word > 0 && words[*shared] != word
        };
        let swapped = |(slot, at): &(usize, usize)| {
            let object = usize::try_from(words[region + slot] - 1).ok();
            let word = object.and_then(|object| words.get(layout.object(object) + at));
            word.is_some_and(|word| *word != 0)
        };
        self.compared.iter().any(compared) || self.swapped.iter().any(swapped)
    }
}

impl Successors<'_> {
    /// Whether a look at a state leaves it open that an attempt of a thread is doomed.
    pub fn may_be_doomed(&self, flat: &Flat, thread: usize, operation: usize, node: usize) -> bool {
        let layout = &self.space.form.layout;
        let lasting = self.space.lasting.as_ref().filter(|_| self.space.doomed);
        lasting.is_some_and(|lasting| {
            lasting.hints[operation][node].apply(&flat.words, layout.thread(thread), layout)
        })
    }

    /// Takes a thread to the end of its attempt, if that is doomed; the state then, and by how many
    /// steps. The state is one without dead fields: what is not needed any more must not keep an
    /// object from being out of reach.
    pub fn end_attempt(
        &mut self,
        flat: &Flat,
        thread: usize,
        (operation, node): (usize, usize),
        reach: &mut Reach,
    ) -> Option<(Box<Flat>, usize)> {
        let space = self.space;
        let aim = Aim::Doomed { end: None };
        let mut attempt = Attempt::new(self, flat, thread, (operation, node), reach, aim);
        let way = Way::new(attempt.start.clone());
        attempt.node(node, way).ok()?;
        let Aim::Doomed { end: Some(end) } = attempt.aim else { return None };
        let edges = attempt.edges;
        if end == node {
            return None;
        }
        let mut next = self.copy(flat);
        let Some(steps) = self.run_to(&mut next, thread, operation, node, end) else {
            self.workspace.pool.push(next);
            return None;
        };
        space.coverage.may_go_along(operation, &edges);
        Some((next, steps))
    }

    /// Makes the steps of a doomed attempt.
    fn run_to(
        &mut self,
        next: &mut Flat,
        thread: usize,
        operation: usize,
        node: usize,
        end: usize,
    ) -> Option<usize> {
        let form = &self.space.form;
        let region = form.layout.thread(thread);
        let live = &form.live[operation][end];
        let kept: Words = live.iter().map(|(word, _)| next.words[region + word]).collect();
        let mut trail: Box<Trail> = self.workspace.trails.pop().unwrap_or_default();
        let mut paths: SmallVec<[(u32, u32); 8]> = SmallVec::new();
        let mut at = node;
        let mut made = None;
        for steps in 1..=MAX_NODES {
            match self.execute(next, thread, operation, at, &[], &mut trail) {
                Ended::Yielded(to) => at = to,
                // It waits for something: then it stays where it is.
                Ended::Returned | Ended::Refused | Ended::Faulted => break,
            }
            if !self.is_no_point(&trail) {
                break;
            }
            paths.extend_from_slice(&trail.path);
            let same =
                live.iter().zip(&kept).all(|((word, _), kept)| next.words[region + word] == *kept);
            if at == end && same {
                next.words[region + NODE] = at as i64;
                self.space.coverage.went_along(operation, &paths);
                made = Some(steps);
                break;
            }
        }
        self.workspace.trails.push(trail);
        made
    }
}
