//! The order of the operations of a stack, from the order in which its values were peeled.
//!
//! In each piece of time the values that end there are popped first, the last peeled one before the
//! others; then comes what leaves the stack as it is; then the values that start there are pushed,
//! the first peeled one before the others.

use super::super::intervals::{Gap, Part};
use super::super::poll::{StopPoll, StopReason};
use super::super::sorting;
use super::peel::{Peeled, Peeling};
use linchpin_history_data::OpId;

const NONE: u32 = u32::MAX;

pub(super) fn emit(
    part: &Part,
    peeling: &Peeling,
    poll: &StopPoll,
) -> Result<Vec<OpId>, StopReason> {
    let looks = LooksByLife::new(part, poll)?;
    let total = 2 * part.lives.len() + part.looks.len() + part.empties.len();
    let mut emitter = Emitter { part, peeling, looks, order: Vec::with_capacity(total) };
    let neutral = emitter.neutral(poll)?;
    let mut neutral = neutral.into_iter().peekable();
    let peeled = &peeling.peeled;
    let pops = peeled.iter().map(|value| value.pop).enumerate();
    let pops = Lists::new(peeling.pieces.count(), pops, poll)?;
    let pushes = peeled.iter().map(|value| value.push).enumerate().rev();
    let pushes = Lists::new(peeling.pieces.count(), pushes, poll)?;
    for piece in 0..peeling.pieces.count() as u32 {
        poll.step()?;
        for at in pops.iter(piece) {
            emitter.pop(&peeled[at as usize]);
        }
        let last = piece + 1 == peeling.pieces.count() as u32;
        let end = if last { Gap::MAX } else { peeling.pieces.start(piece + 1) };
        while let Some((_, neutral)) = neutral.next_if(|(gap, _)| *gap < end) {
            emitter.leave(neutral);
        }
        for at in pushes.iter(piece) {
            emitter.push(&peeled[at as usize]);
        }
    }
    Ok(emitter.order)
}

/// What leaves the stack as it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Neutral {
    /// One look, or an operation that finds nothing.
    Look(OpId),
    /// A value that is pushed, looked at and popped at once.
    Life(u32),
}

struct Emitter<'a> {
    part: &'a Part,
    peeling: &'a Peeling,
    looks: LooksByLife,
    order: Vec<OpId>,
}

impl Emitter<'_> {
    /// What leaves the stack as it is, by gap.
    fn neutral(&self, poll: &StopPoll) -> Result<Vec<(Gap, Neutral)>, StopReason> {
        let (part, pieces) = (self.part, &self.peeling.pieces);
        let lives = part.lives.iter().enumerate().filter(|(_, life)| life.inside().is_empty());
        let lives = lives.map(|(at, life)| (life.removed.lo, Neutral::Life(at as u32)));
        let empties = part.empties.iter().zip(&self.peeling.empty_at);
        let empties = empties.filter_map(|(empty, gap)| Some(((*gap)?, Neutral::Look(empty.op))));
        let mut all: Vec<(Gap, Neutral)> = lives.chain(empties).collect();
        for value in &self.peeling.peeled {
            poll.step()?;
            for look in self.looks.iter(value.life) {
                if self.place(value, look) == Place::Between {
                    let gap = pieces.start(self.peeling.look_at[look as usize]);
                    let look = &part.looks[look as usize];
                    all.push((gap.max(look.span.lo), Neutral::Look(look.op)));
                }
            }
        }
        sorting::in_rows(&mut all, poll)?;
        Ok(all)
    }

    fn place(&self, value: &Peeled, look: u32) -> Place {
        let span = self.part.looks[look as usize].span;
        if self.peeling.pieces.of(span.lo) <= value.push {
            Place::AfterPush
        } else if self.peeling.pieces.of(span.hi) >= value.pop {
            Place::BeforePop
        } else {
            Place::Between
        }
    }

    fn push(&mut self, value: &Peeled) {
        let add = self.part.lives[value.life as usize].add;
        self.order.extend(add);
        self.looks_at(value, Place::AfterPush);
    }

    fn pop(&mut self, value: &Peeled) {
        self.looks_at(value, Place::BeforePop);
        let remove = self.part.lives[value.life as usize].remove;
        // What is imagined to leave after the end stays.
        let stays = self.peeling.pieces.start(value.pop) == self.part.end;
        self.order.extend(remove.filter(|_| !stays));
    }

    fn looks_at(&mut self, value: &Peeled, place: Place) {
        for look in self.looks.iter(value.life) {
            if self.place(value, look) == place {
                self.order.push(self.part.looks[look as usize].op);
            }
        }
    }

    fn leave(&mut self, neutral: Neutral) {
        match neutral {
            Neutral::Look(op) => self.order.push(op),
            Neutral::Life(life) => {
                let looks = self.looks.iter(life).map(|look| self.part.looks[look as usize].op);
                let life = &self.part.lives[life as usize];
                self.order.extend(life.add);
                self.order.extend(looks);
                self.order.extend(life.remove);
            }
        }
    }
}

/// Where a look at a peeled value goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    AfterPush,
    BeforePop,
    Between,
}

/// The looks at each life.
pub(super) struct LooksByLife(Option<Lists>);

impl LooksByLife {
    pub fn new(part: &Part, poll: &StopPoll) -> Result<LooksByLife, StopReason> {
        if part.looks.is_empty() {
            return Ok(LooksByLife(None));
        }
        let looks = part.looks.iter().map(|look| look.life).enumerate().rev();
        Ok(LooksByLife(Some(Lists::new(part.lives.len(), looks, poll)?)))
    }

    pub fn iter(&self, life: u32) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(move |lists| lists.iter(life))
    }
}

/// Small numbers in lists; what is put in last comes first.
pub(super) struct Lists {
    heads: Vec<u32>,
    nexts: Vec<u32>,
}

impl Lists {
    /// `(number, list)` for each number from 0 up to their count, in any order.
    pub fn new(
        lists: usize,
        numbers: impl ExactSizeIterator<Item = (usize, u32)>,
        poll: &StopPoll,
    ) -> Result<Lists, StopReason> {
        let mut heads = vec![NONE; lists];
        let mut nexts = vec![NONE; numbers.len()];
        for (number, list) in numbers {
            poll.step()?;
            nexts[number] = heads[list as usize];
            heads[list as usize] = number as u32;
        }
        Ok(Lists { heads, nexts })
    }

    pub fn iter(&self, list: u32) -> impl Iterator<Item = u32> {
        let next = |at: u32| Some(at).filter(|&at| at != NONE);
        std::iter::successors(next(self.heads[list as usize]), move |&at| {
            next(self.nexts[at as usize])
        })
    }
}
