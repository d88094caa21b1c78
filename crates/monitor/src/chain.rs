//! Cells that hold one value at a time, each value written at most once: which value followed
//! which.
//!
//! An operation that replaces one value by another says what came directly before it, so the values
//! fall into chains, each rooted at a write that says nothing of what was before (or at the initial
//! value). All that happens to the values of one chain, its *block*, is contiguous in every
//! explanation. With reads and writes only, blocks are the clusters of Gibbons and Korach ("Testing
//! shared memories", SIAM J. Comput. 1997). How blocks are put in order is in
//! [`zone`](super::zone). Start with [`Cell::load`].

use super::poll::{StopPoll, StopReason};
use linchpin_history_data::{History, OpId, Rank};

/// No value, no block.
pub(crate) const NONE: u32 = u32::MAX;

/// What an operation does to the cell. Values are small numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Found this value.
    Read(u32),
    /// Wrote this value, over whatever was there (a register) or over nothing (a map).
    Write(u32),
    /// Replaced the first value by the second.
    Swap(u32, u32),
    /// Replaced this value by nothing.
    Close(u32),
    /// Found nothing.
    Vacant,
    /// Does nothing that matters.
    Nothing,
}

/// What is known of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Who wrote it.
    pub(crate) writer: Option<OpId>,
    /// Who replaced it.
    pub(crate) next: Option<OpId>,
    /// The first of its reads; [`Cell::next_read`] leads on.
    pub(crate) reads: Option<OpId>,
    /// The last of its reads to be called.
    pub(crate) last_read: Option<OpId>,
    /// The first of its reads to return.
    pub(crate) first_read: Option<OpId>,
    /// Its block.
    pub(crate) block: u32,
    /// How many values of its block are before it.
    pub(crate) position: u32,
}

const UNTOUCHED: Entry = Entry {
    writer: None,
    next: None,
    reads: None,
    last_read: None,
    first_read: None,
    block: NONE,
    position: 0,
};

/// A chain of values and all that happens to them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// The first value.
    pub(crate) root: u32,
    /// The last value.
    pub(crate) tail: u32,
    /// The first of its operations to return.
    pub(crate) first: Option<OpId>,
    /// The last of its operations to be called.
    pub(crate) last: Option<OpId>,
    /// A pending operation that is taken to have closed it.
    pub(crate) closer: Option<OpId>,
    /// The block that is taken to go on from its last value.
    pub(crate) then: u32,
    /// Whether it is taken to go on from the last value of another.
    pub(crate) joined: bool,
    /// Whether no operation is known to have closed it.
    pub(crate) open: bool,
}

/// Why there is no explanation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// The operation found a value that no operation wrote.
    Unwritten(OpId),
    /// Both replaced the same value.
    Fork(OpId, OpId),
    /// This value, and those before it in its chain, come from each other.
    Cycle(u32),
    /// The first should take effect before the second, which returned before the first was called.
    Backwards(OpId, OpId),
    /// Each of the two blocks should be before the other.
    Blocks(Block, Block),
    /// The operation found nothing, at a time when the block is certain to be there.
    Covered(OpId, Block),
}

/// Why [`Cell::load`] found no blocks.
pub(crate) enum Unloaded {
    /// This value is written twice, so that it does not say who wrote it.
    Repeated(u32),
    /// There is no explanation.
    Fault(Fault),
    /// Nothing is known yet.
    Stopped(StopReason),
}

impl From<StopReason> for Unloaded {
    fn from(stopped: StopReason) -> Unloaded {
        Unloaded::Stopped(stopped)
    }
}

impl From<Fault> for Unloaded {
    fn from(fault: Fault) -> Unloaded {
        Unloaded::Fault(fault)
    }
}

/// The values of a cell and their chains.
pub(crate) struct Cell<'a, R: Fn(OpId) -> Role> {
    pub(crate) history: &'a History,
    pub(crate) role: R,
    pub(crate) poll: &'a StopPoll<'a>,
    /// The value at the start; [`NONE`] if the cell is empty.
    pub(crate) initial: u32,
    pub(crate) entries: Vec<Entry>,
    pub(crate) next_read: Vec<Option<OpId>>,
    pub(crate) blocks: Vec<Block>,
    /// The values that occur.
    touched: Vec<u32>,
}

impl<'a, R: Fn(OpId) -> Role> Cell<'a, R> {
    /// A cell with values below `values`; nothing is loaded.
    pub(crate) fn new(
        history: &'a History,
        role: R,
        values: usize,
        poll: &'a StopPoll<'a>,
    ) -> Cell<'a, R> {
        Cell {
            history,
            role,
            poll,
            initial: NONE,
            entries: vec![UNTOUCHED; values],
            next_read: vec![None; history.operations.len()],
            blocks: Vec::new(),
            touched: Vec::new(),
        }
    }

    /// Finds the blocks of these operations, which are in the order of their invocations.
    pub(crate) fn load(
        &mut self,
        operations: impl DoubleEndedIterator<Item = OpId> + Clone,
        initial: u32,
    ) -> Result<(), Unloaded> {
        for value in self.touched.drain(..) {
            self.entries[value as usize] = UNTOUCHED;
        }
        // The value at the start has a block even if no operation touched it.
        if self.initial != NONE {
            self.entries[self.initial as usize] = UNTOUCHED;
        }
        self.blocks.clear();
        self.initial = initial;
        self.link(operations)?;
        self.find_unwritten()?;
        self.find_blocks()
    }

    /// Who wrote, read and replaced each value.
    fn link(
        &mut self,
        operations: impl DoubleEndedIterator<Item = OpId> + Clone,
    ) -> Result<(), Unloaded> {
        let mut fork = None;
        // why backwards: the reads of a value become a list in the order of their invocations.
        for id in operations.clone().rev() {
            self.poll.step()?;
            let completed = self.history[id].completed;
            match (self.role)(id) {
                Role::Read(value) if completed => self.read(id, value),
                Role::Write(value) => self.write(id, value)?,
                Role::Swap(from, to) => {
                    self.write(id, to)?;
                    if completed {
                        fork = self.replace(id, from).or(fork);
                    }
                }
                Role::Close(from) if completed => fork = self.replace(id, from).or(fork),
                _ => {}
            }
        }
        if initial_is_written(self.initial, &self.entries) {
            return Err(Unloaded::Repeated(self.initial));
        }
        for id in operations {
            self.poll.step()?;
            fork = self.keep_if_observed(id).or(fork);
        }
        fork.map_or(Ok(()), |fork| Err(fork.into()))
    }

    fn touch(&mut self, value: u32) -> &mut Entry {
        let entry = &mut self.entries[value as usize];
        if entry.writer.is_none() && entry.next.is_none() && entry.reads.is_none() {
            self.touched.push(value);
        }
        entry
    }

    fn read(&mut self, id: OpId, value: u32) {
        let history = self.history;
        let entry = self.touch(value);
        let returned = |id: OpId| history[id].returned;
        match entry.first_read {
            None => (entry.last_read, entry.first_read) = (Some(id), Some(id)),
            Some(first) if returned(id) < returned(first) => entry.first_read = Some(id),
            Some(_) => {}
        }
        let reads = entry.reads.replace(id);
        self.next_read[id.index()] = reads;
    }

    fn write(&mut self, id: OpId, value: u32) -> Result<(), Unloaded> {
        match self.touch(value).writer.replace(id) {
            None => Ok(()),
            Some(_) => Err(Unloaded::Repeated(value)),
        }
    }

    fn replace(&mut self, id: OpId, value: u32) -> Option<Fault> {
        let entry = self.touch(value);
        match entry.next {
            None => {
                entry.next = Some(id);
                None
            }
            Some(other) => Some(Fault::Fork(other, id)),
        }
    }

    /// A pending swap takes effect if what it wrote was found, and then so does the operation that
    /// wrote what it replaced.
    fn keep_if_observed(&mut self, mut id: OpId) -> Option<Fault> {
        while let Role::Swap(from, to) = (self.role)(id) {
            let completed = self.history[id].completed;
            if completed || !self.is_found(to) || self.entries[from as usize].next == Some(id) {
                break;
            }
            if let Some(fork) = self.replace(id, from) {
                return Some(fork);
            }
            match self.entries[from as usize].writer {
                None => break,
                Some(writer) => id = writer,
            }
        }
        None
    }

    /// Whether some operation that took effect found the value.
    pub(crate) fn is_found(&self, value: u32) -> bool {
        let entry = &self.entries[value as usize];
        entry.next.is_some() || entry.reads.is_some()
    }

    /// Whether the write of a value takes effect: it completed, or an operation found the value.
    fn is_written(&self, value: u32) -> bool {
        let writer = self.entries[value as usize].writer;
        writer.is_some_and(|writer| self.history[writer].completed || self.is_found(value))
    }

    fn find_unwritten(&self) -> Result<(), Unloaded> {
        for value in &self.touched {
            self.poll.step()?;
            let entry = &self.entries[*value as usize];
            if entry.writer.is_none()
                && *value != self.initial
                && let Some(finder) = entry.first_read.or(entry.next)
            {
                return Err(Fault::Unwritten(finder).into());
            }
        }
        Ok(())
    }

    fn find_blocks(&mut self) -> Result<(), Unloaded> {
        if self.initial != NONE {
            self.find_block(self.initial)?;
        }
        for at in 0..self.touched.len() {
            self.poll.step()?;
            let value = self.touched[at];
            if let Some(writer) = self.entries[value as usize].writer
                && self.is_written(value)
                && matches!((self.role)(writer), Role::Write(_))
            {
                self.find_block(value)?;
            }
        }
        for value in &self.touched {
            self.poll.step()?;
            if self.entries[*value as usize].block == NONE && self.is_written(*value) {
                return Err(Fault::Cycle(*value).into());
            }
        }
        Ok(())
    }

    /// Follows a chain. Operations that must take effect later must not have returned before
    /// earlier ones were called.
    fn find_block(&mut self, root: u32) -> Result<(), Unloaded> {
        let mut block = Block {
            root,
            tail: root,
            first: None,
            last: None,
            closer: None,
            then: NONE,
            joined: false,
            open: true,
        };
        let mut position = 0;
        loop {
            self.poll.step()?;
            let entry = &mut self.entries[block.tail as usize];
            entry.block = self.blocks.len() as u32;
            entry.position = position;
            position += 1;
            let Entry { writer, next, last_read, first_read, .. } = *entry;
            if let Some(writer) = writer {
                self.extend(&mut block, writer, writer)?;
            }
            if let (Some(first), Some(last)) = (first_read, last_read) {
                self.extend(&mut block, first, last)?;
            }
            let Some(next) = next else { break };
            match (self.role)(next) {
                Role::Swap(_, to) => block.tail = to,
                _ => {
                    self.extend(&mut block, next, next)?;
                    block.open = false;
                    break;
                }
            }
        }
        self.blocks.push(block);
        Ok(())
    }

    /// Appends operations to a block: which of them returned first and which was called last.
    pub(crate) fn extend(&self, block: &mut Block, first: OpId, last: OpId) -> Result<(), Fault> {
        if let Some(before) = block.last
            && self.returned(first) < self.invoked(before)
        {
            return Err(Fault::Backwards(before, first));
        }
        if block.first.is_none_or(|known| self.returned(first) < self.returned(known)) {
            block.first = Some(first);
        }
        // INVARIANT: ids are in the order of invocations, and none is before all.
        block.last = block.last.max(Some(last));
        Ok(())
    }

    /// The completed operations that replaced a value by nothing.
    pub(crate) fn closers(&self) -> impl Iterator<Item = OpId> {
        let replaced = self.touched.iter().filter_map(|value| self.entries[*value as usize].next);
        replaced.filter(|id| matches!((self.role)(*id), Role::Close(_)))
    }

    pub(crate) fn invoked(&self, id: OpId) -> Rank {
        self.history[id].invoked
    }

    pub(crate) fn returned(&self, id: OpId) -> Rank {
        self.history[id].returned
    }

    /// The first return in a block, which the initial value precedes.
    pub(crate) fn first_return(&self, index: u32) -> Rank {
        self.blocks[index as usize].first.map_or(Rank::FIRST, |first| self.returned(first))
    }

    /// The operations of a block, in an order that explains them.
    pub(crate) fn push_block(
        &self,
        block: &Block,
        order: &mut Vec<OpId>,
    ) -> Result<(), StopReason> {
        let mut part = block;
        self.push_chain(part.root, order)?;
        while part.then != NONE {
            part = &self.blocks[part.then as usize];
            self.push_chain(part.root, order)?;
        }
        order.extend(block.closer);
        Ok(())
    }

    fn push_chain(&self, mut value: u32, order: &mut Vec<OpId>) -> Result<(), StopReason> {
        loop {
            self.poll.step()?;
            let entry = &self.entries[value as usize];
            order.extend(entry.writer);
            let mut reads = entry.reads;
            while let Some(read) = reads {
                self.poll.step()?;
                order.push(read);
                reads = self.next_read[read.index()];
            }
            let Some(next) = entry.next else { return Ok(()) };
            match (self.role)(next) {
                Role::Swap(_, to) => value = to,
                _ => {
                    order.push(next);
                    return Ok(());
                }
            }
        }
    }
}

fn initial_is_written(initial: u32, entries: &[Entry]) -> bool {
    initial != NONE && entries[initial as usize].writer.is_some()
}
