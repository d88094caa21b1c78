//! Folding: values that can be put back whatever the others do are taken out before anything is
//! peeled.
//!
//! Let a *block* be a longest row of responses and then invocations, among the events in their
//! order.
//!
//! ```text
//! │ R R I I I │ R I │ R R R I │        R: a response, I: an invocation, │: where one block ends and the next begins
//! ```
//!
//! An operation that takes effect among the responses of a block was called before it, and one that
//! takes effect among its invocations returns after it. So all operations, in any order that
//! explains them, can be moved to the gaps *between* blocks without changing that order. If the
//! push of a value returned in the same block in which its pop was called, the value can then be
//! pushed last before the block and popped first after it, with nothing in between: the others are
//! explained with it iff they are without it. Without its events, neighbouring blocks may become
//! one, which folds more values.
//!
//! Start with [`fold`]; `unfold` puts the values back. What is left is peeled.

use super::super::intervals::{Conflict, Gap, Life, Part, Span};
use super::super::poll::{StopPoll, StopReason};
use super::emit::LooksByLife;

const RESPONSE: usize = 0;
const INVOCATION: usize = 1;

/// A value that was folded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folded {
    pub life: u32,
    /// The block before which it is pushed.
    pub push: u32,
    /// The block before which it is popped.
    pub pop: u32,
}

/// The values that were folded, in order, and what is left.
pub(super) struct Folding {
    pub folded: Vec<Folded>,
    pub blocks: Blocks,
    /// The part without the values that were folded, and without those that need not be inside at
    /// any instant.
    pub rest: Part,
    /// For each life of the rest, which one of the part it is.
    pub lives: Vec<u32>,
}

impl Folding {
    /// What is stuck in the rest, as lives of the part, in which no removals are pending.
    pub fn stuck(&self, stuck: Conflict) -> Conflict {
        let lives = stuck.lives.iter().map(|&life| self.lives[life as usize]).collect();
        Conflict { lives, empty: stuck.empty, blockers: Vec::new() }
    }
}

/// Folds what can be folded in a part, which was tuned and drained. Not if it is a small part of a
/// long history.
pub(super) fn fold(part: &Part, poll: &StopPoll) -> Result<Option<Folding>, StopReason> {
    if part.end as usize > 16 * part.lives.len() + 1024 {
        return Ok(None);
    }
    let mut folder = Folder::new(part, poll)?;
    folder.run(poll)?;
    let Folder { blocks, folded, is_left, .. } = folder;
    let mut moved = vec![u32::MAX; part.lives.len()];
    let mut rest = Part { empties: part.empties.clone(), end: part.end, ..Part::default() };
    let mut lives = Vec::new();
    for (at, life) in part.lives.iter().enumerate().filter(|(at, _)| is_left[*at]) {
        poll.step()?;
        moved[at] = lives.len() as u32;
        lives.push(at as u32);
        rest.lives.push(*life);
    }
    for look in part.looks.iter().filter(|look| is_left[look.life as usize]) {
        poll.step()?;
        let mut look = *look;
        look.life = moved[look.life as usize];
        rest.looks.push(look);
    }
    Ok(Some(Folding { folded, blocks, rest, lives }))
}

/// The events of an operation that may take effect in these gaps. An invocation comes just before
/// the first, a response just after the last; of several between two gaps the responses come first.
fn events((first, last): (Gap, Gap)) -> [(usize, usize); 2] {
    [(first as usize, INVOCATION), (last as usize + 1, RESPONSE)]
}

/// The events of the push and the pop of a value.
fn events_of(life: &Life) -> impl Iterator<Item = (usize, usize)> {
    let (added, removed) = (life.added, life.removed);
    events((added.lo, added.hi)).into_iter().chain(events((removed.lo, removed.hi)))
}

/// Blocks of events. They are known by the first of those that they were in the beginning.
pub(super) struct Blocks {
    /// For each instant between two gaps, the block that its events are in, in the beginning.
    of: Vec<u32>,
    /// For each block the last gap before its first response.
    pub points: Vec<Gap>,
    /// For each block how many responses and invocations there are.
    counts: Vec<[u32; 2]>,
    /// For each block itself, or one to the left that it became part of.
    up: Vec<u32>,
    /// For each block the last that became part of it.
    ends: Vec<u32>,
}

impl Blocks {
    /// The blocks of all events of the part but those of values that are not `inside`.
    fn new(part: &Part, inside: &[bool], poll: &StopPoll) -> Result<Blocks, StopReason> {
        let mut of = vec![0u32; part.end as usize + 2];
        each_event(part, inside, poll, |at, kind| of[at] |= 1 << kind)?;
        let mut points = vec![0];
        let mut invoked = false;
        for (at, entry) in of.iter_mut().enumerate() {
            poll.step()?;
            if invoked && *entry & 1 << RESPONSE != 0 {
                points.push(at as Gap - 1);
                invoked = false;
            }
            invoked |= *entry & 1 << INVOCATION != 0;
            *entry = points.len() as u32 - 1;
        }
        let mut counts = vec![[0; 2]; points.len()];
        each_event(part, inside, poll, |at, kind| counts[of[at] as usize][kind] += 1)?;
        let up: Vec<u32> = (0..points.len() as u32).collect();
        Ok(Blocks { of, points, counts, ends: up.clone(), up })
    }

    /// The block at an instant.
    fn at(&mut self, instant: usize) -> u32 {
        self.root(self.of[instant])
    }

    fn root(&mut self, mut block: u32) -> u32 {
        while self.up[block as usize] != block {
            let up = self.up[block as usize];
            self.up[block as usize] = self.up[up as usize];
            block = self.up[block as usize];
        }
        block
    }

    /// The block after one.
    fn after(&self, block: u32) -> u32 {
        self.ends[block as usize] + 1
    }

    /// The block before which an operation that is called at an instant, and was not folded, can
    /// take effect.
    pub fn after_call(&mut self, instant: Gap) -> u32 {
        let block = self.at(instant as usize);
        self.after(block)
    }

    /// A block that is part of another now, if one of these two has no events between the responses
    /// and the invocations of both.
    fn neighbour(&mut self, block: u32) -> Option<(u32, u32)> {
        let [responses, invocations] = self.counts[block as usize];
        let next = self.after(block);
        if invocations == 0 && (next as usize) < self.points.len() {
            return Some((block, next));
        }
        (responses == 0 && block > 0).then(|| (self.root(block - 1), block))
    }
}

/// Every event of the part but those of values that are not `inside`.
fn each_event(
    part: &Part,
    inside: &[bool],
    poll: &StopPoll,
    mut visit: impl FnMut(usize, usize),
) -> Result<(), StopReason> {
    for (life, _) in part.lives.iter().zip(inside).filter(|(_, inside)| **inside) {
        poll.step()?;
        events_of(life).for_each(|(at, kind)| visit(at, kind));
    }
    let looks = part.looks.iter().filter(|look| inside[look.life as usize]);
    for look in looks.chain(&part.empties) {
        poll.step()?;
        events((look.span.lo, look.span.hi)).into_iter().for_each(|(at, kind)| visit(at, kind));
    }
    Ok(())
}

struct Folder<'a> {
    part: &'a Part,
    blocks: Blocks,
    looks: LooksByLife,
    /// The looks at a value that is folded just now.
    spans: Vec<Span>,
    /// The values by the blocks in which their pushes returned, and in which their pops were
    /// called; in the beginning.
    returned: Sorted,
    called: Sorted,
    /// Whether a value is certainly inside at some instant and was not folded.
    is_left: Vec<bool>,
    ready: Vec<u32>,
    folded: Vec<Folded>,
}

impl<'a> Folder<'a> {
    fn new(part: &'a Part, poll: &StopPoll) -> Result<Folder<'a>, StopReason> {
        let is_left: Vec<bool> = part.lives.iter().map(|life| !life.inside().is_empty()).collect();
        poll.ask(0)?;
        let blocks = Blocks::new(part, &is_left, poll)?;
        let lives = || (0..part.lives.len() as u32).filter(|&life| is_left[life as usize]);
        let returned = |life: u32| blocks.of[part.lives[life as usize].added.hi as usize + 1];
        let called = |life: u32| blocks.of[part.lives[life as usize].removed.lo as usize];
        let ready: Vec<u32> = lives().filter(|&life| returned(life) == called(life)).collect();
        poll.ask(0)?;
        let count = blocks.points.len();
        let waiting = || lives().filter(|&life| returned(life) != called(life));
        let (by_return, by_call) = (
            Sorted::new(count, waiting().map(|life| (life, returned(life))), poll)?,
            Sorted::new(count, waiting().map(|life| (life, called(life))), poll)?,
        );
        Ok(Folder {
            part,
            looks: LooksByLife::new(part, poll)?,
            spans: Vec::new(),
            returned: by_return,
            called: by_call,
            blocks,
            is_left,
            folded: Vec::with_capacity(ready.len()),
            ready,
        })
    }

    fn run(&mut self, poll: &StopPoll) -> Result<(), StopReason> {
        while let Some(life) = self.ready.pop() {
            poll.step()?;
            let of = &self.part.lives[life as usize];
            let push = self.blocks.at(of.removed.lo as usize);
            self.folded.push(Folded { life, push, pop: self.blocks.after(push) });
            self.is_left[life as usize] = false;
            for (at, kind) in events_of(of) {
                self.without(at, kind);
            }
            let looks = self.looks.iter(life).map(|look| self.part.looks[look as usize].span);
            self.spans.extend(looks);
            while let Some(span) = self.spans.pop() {
                events((span.lo, span.hi))
                    .into_iter()
                    .for_each(|(at, kind)| self.without(at, kind));
            }
        }
        Ok(())
    }

    /// Leaves out an event.
    fn without(&mut self, at: usize, kind: usize) {
        let mut block = self.blocks.at(at);
        self.blocks.counts[block as usize][kind] -= 1;
        while let Some((left, right)) = self.blocks.neighbour(block) {
            self.merge(left, right);
            block = left;
        }
    }

    /// Two neighbours become one. Of the two kinds of values that may be in both now, the fewer
    /// ones are looked at.
    fn merge(&mut self, left: u32, right: u32) {
        let (lives, of) = (&self.part.lives, &self.blocks.of);
        let (middle, end) = (self.blocks.after(left), self.blocks.after(right));
        let returned = self.returned.between(left, middle);
        let called = self.called.between(right, end);
        let is_left = |life: &u32| self.is_left[*life as usize];
        if returned.len() <= called.len() {
            self.ready.extend(returned.iter().copied().filter(is_left).filter(|&life| {
                let called = of[lives[life as usize].removed.lo as usize];
                right <= called && called < end
            }));
        } else {
            self.ready.extend(called.iter().copied().filter(is_left).filter(|&life| {
                let returned = of[lives[life as usize].added.hi as usize + 1];
                left <= returned && returned < middle
            }));
        }
        let [responses, invocations] = self.blocks.counts[right as usize];
        self.blocks.counts[left as usize][RESPONSE] += responses;
        self.blocks.counts[left as usize][INVOCATION] += invocations;
        self.blocks.up[right as usize] = left;
        self.blocks.ends[left as usize] = end - 1;
    }
}

/// Lives by block.
struct Sorted {
    lives: Vec<u32>,
    /// For each block, and after the last, where its lives start.
    starts: Vec<u32>,
}

impl Sorted {
    /// `(life, block)` for each life.
    fn new(
        blocks: usize,
        lives: impl Iterator<Item = (u32, u32)> + Clone,
        poll: &StopPoll,
    ) -> Result<Sorted, StopReason> {
        let mut starts = vec![0u32; blocks + 2];
        for (_, block) in lives.clone() {
            poll.step()?;
            starts[block as usize + 2] += 1;
        }
        for block in 1..starts.len() {
            starts[block] += starts[block - 1];
        }
        let mut sorted = vec![0; starts[blocks + 1] as usize];
        for (life, block) in lives {
            poll.step()?;
            let start = &mut starts[block as usize + 1];
            sorted[*start as usize] = life;
            *start += 1;
        }
        Ok(Sorted { lives: sorted, starts })
    }

    /// The lives of the blocks from `first` up to, not including, `end`.
    fn between(&self, first: u32, end: u32) -> &[u32] {
        &self.lives[self.starts[first as usize] as usize..self.starts[end as usize] as usize]
    }
}
