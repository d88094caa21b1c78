//! Room for each `cas` that failed: an instant at which the register holds something else than it
//! expected.
//!
//! The blocks of a register ([`chain`](super::chain)) are gone through in time, and as late as
//! possible: a value is written when an operation returns that needs it, or when a failed `cas`
//! returns that has seen nothing but the value it expected. In the second case the chain goes on if
//! it can, or else a block begins that could be over by now, or else one that was called at least.
//! A block that has to happen now may also have happened, unseen, just before the one that began
//! last. The choices are good ones, not always the only ones: an order that is found explains the
//! history, but where none is found there may yet be one. Start with [`Sweep::run`].

use super::chain::{Cell, NONE, Role};
use super::poll::{Halt, StopPoll, StopReason};
use super::sorting;
use super::timeline::{self, is_return, operation_of};
use super::zone::Unit;
use linchpin_history_data::{NEVER, OpId, Rank};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No way on was found when this operation returned.
#[derive(Clone, Copy)]
pub(crate) struct Unplaced(pub(crate) Option<OpId>);

/// An order of all operations. The `units` are an order of the blocks; `missed` says which value a
/// failed `cas` expected, and is [`NONE`] for the others.
pub(crate) fn order<R: Fn(OpId) -> Role>(
    cell: &Cell<R>,
    units: &[Unit],
    missed: impl Fn(OpId) -> u32,
    poll: &StopPoll,
) -> Result<Vec<OpId>, Halt<Unplaced>> {
    let mut last_missed = vec![Rank::FIRST; cell.entries.len()];
    for id in cell.history.ids() {
        poll.step()?;
        if let Some(last) = last_missed.get_mut(missed(id) as usize) {
            *last = cell.invoked(id);
        }
    }
    let mut place = vec![0; cell.blocks.len()];
    for (at, unit) in units.iter().enumerate() {
        poll.step()?;
        if let Ok(index) = unit.block() {
            place[index] = at as u32;
        }
    }
    let mut sweep = Sweep {
        cell,
        returning: None,
        last_missed,
        last_begin: (Rank::FIRST, 0),
        buried: Vec::new(),
        units,
        now: Rank::FIRST,
        value: cell.initial,
        block: 0,
        begun: vec![false; cell.blocks.len()],
        place,
        called: BinaryHeap::new(),
        by_first: by_first_return(cell)?,
        next_first: 0,
        ready: BinaryHeap::new(),
        spare: Vec::new(),
        sequence: vec![cell.initial],
        waiting: Vec::new(),
        placed: Vec::new(),
        seen: vec![0; cell.history.operations.len()],
    };
    // INVARIANT: the first block is that of the initial value.
    sweep.begun[0] = true;
    sweep.run(missed, poll)?;
    let order = sweep.finish(poll)?;
    // why: deadlines of pending operations are no events, so they have not been looked at.
    let mut latest = Rank::FIRST;
    for id in &order {
        poll.step()?;
        latest = cell.invoked(*id).max(latest);
        if cell.returned(*id) <= latest {
            return Err(Halt::Fault(Unplaced(None)));
        }
    }
    Ok(order)
}

/// The blocks by their first returns.
fn by_first_return<R: Fn(OpId) -> Role>(cell: &Cell<R>) -> Result<Vec<u32>, StopReason> {
    let mut packed = Vec::with_capacity(cell.blocks.len());
    for index in 0..cell.blocks.len() as u32 {
        cell.poll.step()?;
        packed.push(u64::from(cell.first_return(index)) << 32 | u64::from(index));
    }
    let sorted = sorting::by_upper_bits(packed, 32, cell.poll)?;
    Ok(sorted.into_iter().map(|packed| packed as u32).collect())
}

struct Sweep<'a, 'b, R: Fn(OpId) -> Role> {
    cell: &'a Cell<'b, R>,
    units: &'a [Unit],
    /// For each value, when the last failed operation that expected it was called.
    last_missed: Vec<Rank>,
    /// When the last block began, and where in `sequence`.
    last_begin: (Rank, usize),
    /// Blocks that happened unseen: before which place in `sequence`, and the block.
    buried: Vec<(usize, u32)>,
    now: Rank,
    /// Whose event this is.
    returning: Option<OpId>,
    /// The value that the register holds, and its block; [`NONE`] if it is that of an optional
    /// write.
    value: u32,
    block: u32,
    begun: Vec<bool>,
    /// The place of each block in `units`.
    place: Vec<u32>,
    /// Blocks whose first write was called, by their places.
    called: BinaryHeap<Reverse<(u32, u32)>>,
    /// The blocks by their first returns.
    by_first: Vec<u32>,
    next_first: usize,
    /// Blocks that could happen now as a whole, by their first return.
    ready: BinaryHeap<Reverse<(Rank, u32)>>,
    /// Pending writes and swaps of values that no operation found.
    spare: Vec<OpId>,
    /// The values so far.
    sequence: Vec<u32>,
    /// Failed operations in progress that have seen only the value they expected, which is the one
    /// now.
    waiting: Vec<OpId>,
    /// Where failed operations take effect: an index into `sequence`, and the operation.
    placed: Vec<u64>,
    /// For each failed operation that took effect 1.
    seen: Vec<u8>,
}

impl<R: Fn(OpId) -> Role> Sweep<'_, '_, R> {
    fn run(&mut self, missed: impl Fn(OpId) -> u32, poll: &StopPoll) -> Result<(), Halt<Unplaced>> {
        let operations = &self.cell.history.operations;
        for event in timeline::events(self.cell.history, poll)? {
            poll.step()?;
            let id = operation_of(event);
            let operation = &operations[id.index()];
            let expected = missed(id);
            self.returning = Some(id);
            self.now = if is_return(event) { operation.returned } else { operation.invoked };
            match (is_return(event), expected) {
                (false, NONE) => self.becomes_ready(id),
                (false, expected) if expected == self.value => self.waiting.push(id),
                (false, _) => self.misses(id),
                (true, NONE) => self.reach_value_of(id).map_err(Halt::Fault)?,
                (true, _) if self.seen[id.index()] == 0 => {
                    self.move_on().map_err(Halt::Fault)?;
                }
                _ => {}
            }
        }
        // What no operation needed in time happens now.
        self.now = NEVER;
        for unit in self.units {
            if let Ok(index) = unit.block()
                && !self.begun[index]
            {
                self.begin(index as u32).map_err(Halt::Fault)?;
            }
        }
        self.leave_block().map_err(Halt::Fault)
    }

    fn stuck(&self) -> Unplaced {
        Unplaced(self.returning)
    }

    /// With the last call in a block, all of it could happen.
    fn becomes_ready(&mut self, id: OpId) {
        let value = match (self.cell.role)(id) {
            Role::Read(value) | Role::Write(value) | Role::Swap(_, value) => value,
            _ => return,
        };
        match self.cell.entries[value as usize].block {
            NONE => self.spare.push(id),
            index => {
                let block = &self.cell.blocks[index as usize];
                if block.root == value && self.cell.entries[value as usize].writer == Some(id) {
                    self.called.push(Reverse((self.place[index as usize], index)));
                }
                if block.last == Some(id) && !self.begun[index as usize] {
                    self.ready.push(Reverse((self.cell.first_return(index), index)));
                }
            }
        }
    }

    /// An operation returns: the value that it found or wrote must have been there.
    fn reach_value_of(&mut self, id: OpId) -> Result<(), Unplaced> {
        let value = match (self.cell.role)(id) {
            Role::Read(value) | Role::Write(value) | Role::Swap(_, value) => value,
            _ => return Ok(()),
        };
        let index = self.cell.entries[value as usize].block;
        if self.block != index {
            if self.begun[index as usize] {
                return Ok(());
            }
            if self.is_better_unseen(index) {
                self.begun[index as usize] = true;
                self.buried.push((self.last_begin.1, index));
                return Ok(());
            }
            self.begin(index)?;
        }
        // Whether the value is behind or ahead in the chain is known from what is ahead.
        if !self.was_reached(value) {
            while self.value != value {
                self.advance()?;
            }
        }
        Ok(())
    }

    /// Whether a block can have happened just before the last that began, and its value will be in
    /// the way now.
    fn is_better_unseen(&self, index: u32) -> bool {
        let block = &self.cell.blocks[index as usize];
        let will_be_in_the_way = |value: u32| self.last_missed[value as usize] > self.now;
        self.waiting.is_empty()
            && block.last.is_some_and(|last| self.cell.invoked(last) < self.last_begin.0)
            && will_be_in_the_way(block.tail)
            && !will_be_in_the_way(self.value)
    }

    /// Whether a value of the block of now was there already.
    fn was_reached(&self, value: u32) -> bool {
        self.cell.entries[value as usize].position
            <= self.cell.entries[self.value as usize].position
    }

    /// Goes to the next value of the chain, whose writer and all who found the value of now must
    /// have been called.
    fn advance(&mut self) -> Result<(), Unplaced> {
        let entry = &self.cell.entries[self.value as usize];
        let called = |id: OpId| self.cell.invoked(id) <= self.now;
        match entry.next.map(|next| (next, (self.cell.role)(next))) {
            Some((next, Role::Swap(_, to)))
                if called(next) && entry.last_read.is_none_or(called) =>
            {
                self.holds(to);
                Ok(())
            }
            _ => Err(self.stuck()),
        }
    }

    /// Goes through what is left of the block, so that another can begin.
    fn leave_block(&mut self) -> Result<(), Unplaced> {
        if self.block == NONE {
            return Ok(());
        }
        let block = &self.cell.blocks[self.block as usize];
        if block.last.is_some_and(|last| self.cell.invoked(last) > self.now) {
            return Err(self.stuck());
        }
        while self.value != block.tail {
            self.advance()?;
        }
        Ok(())
    }

    /// Begins a block, after all those that cannot wait until it is over.
    fn begin(&mut self, index: u32) -> Result<(), Unplaced> {
        let last = self.cell.blocks[index as usize].last;
        while let Some(other) = self.by_first.get(self.next_first).copied() {
            if last.is_none_or(|last| self.cell.first_return(other) > self.cell.invoked(last)) {
                break;
            }
            if other != index {
                self.begin_now(other)?;
            }
            self.next_first += 1;
        }
        self.begin_now(index)
    }

    fn begin_now(&mut self, index: u32) -> Result<(), Unplaced> {
        if !self.begun[index as usize] {
            self.leave_block()?;
            self.begun[index as usize] = true;
            self.block = index;
            self.last_begin = (self.now, self.sequence.len());
            self.holds(self.cell.blocks[index as usize].root);
        }
        Ok(())
    }

    /// The register changes, and all who wait for that see it.
    fn holds(&mut self, value: u32) {
        self.value = value;
        self.sequence.push(value);
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.drain(..).for_each(|id| self.misses(id));
        self.waiting = waiting;
    }

    fn misses(&mut self, id: OpId) {
        self.seen[id.index()] = 1;
        self.placed.push((self.sequence.len() as u64 - 1) << 32 | u64::from(id));
    }

    /// Changes the register because a failed operation returns that has to see another value.
    fn move_on(&mut self) -> Result<(), Unplaced> {
        if self.block != NONE && self.cell.entries[self.value as usize].next.is_some() {
            return self.advance();
        }
        self.leave_block()?;
        while let Some(Reverse((_, index))) = self.ready.pop() {
            if !self.begun[index as usize] {
                return self.begin(index);
            }
        }
        while let Some(Reverse((_, index))) = self.called.pop() {
            if !self.begun[index as usize] {
                return self.begin(index);
            }
        }
        self.use_spare()
    }

    /// Lets an optional write take effect.
    fn use_spare(&mut self) -> Result<(), Unplaced> {
        let fits = |id: &OpId| {
            self.cell.returned(*id) > self.now
                && match (self.cell.role)(*id) {
                    Role::Write(_) => true,
                    Role::Swap(from, _) => from == self.value,
                    _ => false,
                }
        };
        // why swaps first: they fit only now.
        let swaps = |id: &&OpId| matches!((self.cell.role)(**id), Role::Swap(..));
        let found = self.spare.iter().filter(swaps).find(|id| fits(id));
        let found = found.or_else(|| self.spare.iter().find(|id| fits(id))).copied();
        let Some(id) = found else {
            return Err(self.stuck());
        };
        self.spare.retain(|other| *other != id);
        if let Role::Write(value) | Role::Swap(_, value) = (self.cell.role)(id) {
            self.block = NONE;
            self.last_begin = match (self.cell.role)(id) {
                Role::Write(_) => (self.now, self.sequence.len()),
                _ => self.last_begin,
            };
            self.holds(value);
        }
        Ok(())
    }

    /// The values in their sequence: each with its writer, then all who found it and all who missed
    /// another there.
    fn finish(mut self, poll: &StopPoll) -> Result<Vec<OpId>, StopReason> {
        sorting::in_rows(&mut self.placed, poll)?;
        let mut placed = self.placed.iter().peekable();
        let mut order = Vec::with_capacity(self.cell.history.operations.len());
        let mut buried = self.buried.iter().peekable();
        for (at, value) in self.sequence.iter().enumerate() {
            poll.step()?;
            // INVARIANT: blocks were buried before later and later places.
            while let Some((_, block)) = buried.next_if(|(place, _)| *place == at) {
                self.cell.push_block(&self.cell.blocks[*block as usize], &mut order)?;
            }
            let entry = &self.cell.entries[*value as usize];
            order.extend(entry.writer);
            let mut next_missed = || {
                placed.next_if(|key| *key >> 32 == at as u64).map(|key| OpId::numbered(*key as u32))
            };
            let (mut read, mut missed) = (entry.reads, next_missed());
            loop {
                poll.step()?;
                match (missed, read) {
                    (Some(id), _) if read.is_none_or(|read| id < read) => {
                        order.push(id);
                        missed = next_missed();
                    }
                    (_, Some(id)) => {
                        order.push(id);
                        read = self.cell.next_read[id.index()];
                    }
                    (_, None) => break,
                }
            }
        }
        Ok(order)
    }
}
