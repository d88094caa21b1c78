//! What is known of a region while an execution is controlled: which cells there are, what was
//! allocated by whom, and what a crash may have left in lines that were not read since.

use super::LINE_BYTES;
use super::region::Region;
use super::simulation::{Allocation, Content, Resolved, Start, Store};
use crate::runtime::{Identity, Site};
use std::collections::BTreeMap;

/// Objects of one thread are together, so that their addresses do not depend on what others do.
const CHUNK_BYTES: usize = 4096;

/// What is known of a region.
#[derive(Default)]
pub(super) struct Shadow {
    /// By their number in the region; those that were accessed.
    lines: Vec<Option<Box<KnownLine>>>,
    /// The numbers of those that are there.
    known: Vec<usize>,
    /// By era and thread.
    arenas: BTreeMap<(usize, usize), Arena>,
    /// How many crashes came before.
    era: usize,
    /// Whether crashes are looked at: if not, lines mean nothing.
    pub(super) crashes: bool,
    /// Lines that were not read since the crash, with what they may hold.
    unresolved: BTreeMap<usize, Vec<Content>>,
    pub(super) resolved: Vec<Resolved>,
    pub(super) allocations: Vec<Allocation>,
}

/// A line that was accessed.
struct KnownLine {
    identity: Identity,
    /// The cells in it that were accessed, by where they are in it.
    cells: Vec<(usize, Box<Identity>)>,
}

/// Where the objects of one thread are.
#[derive(Default)]
struct Arena {
    chunks: Vec<(usize, usize)>,
    /// Which chunk is in use, and how much of it.
    chunk: usize,
    used: usize,
}

impl Shadow {
    /// Which cell it is, and which line, if lines mean something.
    pub(super) fn cell(&mut self, offset: usize) -> (*const Identity, Option<*const Identity>) {
        let crashes = self.crashes;
        let line = self.known_line(offset);
        let at = offset % LINE_BYTES;
        let cell = match line.cells.iter().position(|(other, _)| *other == at) {
            Some(cell) => cell,
            None => {
                line.cells.push((at, Box::new(Identity::new())));
                line.cells.len() - 1
            }
        };
        (&raw const *line.cells[cell].1, crashes.then_some(&raw const line.identity))
    }

    /// Which line it is, if lines mean something.
    pub(super) fn line(&mut self, offset: usize) -> Option<*const Identity> {
        let crashes = self.crashes;
        let line = self.known_line(offset);
        crashes.then_some(&raw const line.identity)
    }

    fn known_line(&mut self, offset: usize) -> &mut KnownLine {
        let number = offset / LINE_BYTES;
        if self.lines.len() <= number {
            self.lines.resize_with(number + 1, || None);
        }
        self.lines[number].get_or_insert_with(|| {
            self.known.push(number);
            Box::new(KnownLine { identity: Identity::new(), cells: Vec::new() })
        })
    }

    /// Room for an object of a thread.
    #[track_caller]
    pub(super) fn place(&mut self, region: &Region, thread: usize, bytes: usize) -> usize {
        let bytes = bytes.div_ceil(LINE_BYTES).max(1) * LINE_BYTES;
        let arena = self.arenas.entry((self.era, thread)).or_default();
        loop {
            if arena.chunk == arena.chunks.len() {
                let size = bytes.max(CHUNK_BYTES);
                arena.chunks.push((region.take(size), size));
            }
            let (start, size) = arena.chunks[arena.chunk];
            if arena.used + bytes <= size {
                arena.used += bytes;
                return start + arena.used - bytes;
            }
            (arena.chunk, arena.used) = (arena.chunk + 1, 0);
        }
    }

    /// Notes an allocation; answers the mark of it for the trace.
    pub(super) fn allocated(
        &mut self,
        offset: usize,
        stores: Vec<(usize, usize, u64)>,
        site: Site,
    ) -> Option<u64> {
        if !self.crashes {
            return None;
        }
        let store = |(offset, size, word)| Store { offset, size, word };
        let stores = stores.into_iter().map(store).collect();
        self.allocations.push(Allocation { offset, stores, site });
        Some(super::simulation::ALLOCATED | (self.allocations.len() as u64 - 1))
    }

    /// What a line that was not read since the crash may hold, if that is open.
    pub(super) fn open(&self, offset: usize) -> usize {
        if self.unresolved.is_empty() {
            return 0;
        }
        self.unresolved.get(&(offset / LINE_BYTES * LINE_BYTES)).map_or(0, Vec::len)
    }

    /// One of the contents of a line is what was left.
    pub(super) fn resolve(&mut self, region: &Region, offset: usize, taken: usize) {
        let line = offset / LINE_BYTES * LINE_BYTES;
        let Some(contents) = self.unresolved.remove(&line) else { return };
        let Some(content) = contents.get(taken) else { return };
        write(region, line, content);
        self.resolved.push(Resolved { line, taken });
    }

    /// Memory is as it is at a start, and no execution has seen it.
    pub(super) fn begin(&mut self, region: &Region, start: &Start) {
        for number in &self.known {
            if let Some(line) = &mut self.lines[*number] {
                line.identity.forget();
                line.cells.iter_mut().for_each(|(_, cell)| cell.forget());
            }
        }
        self.resolved.clear();
        self.allocations.clear();
        self.unresolved.clear();
        self.era = start.era;
        for (_, arena) in self.arenas.range_mut((start.era, 0)..) {
            let Arena { chunks, chunk, used } = arena;
            for (number, (offset, size)) in chunks.iter().enumerate().take(*chunk + 1) {
                region.clear(*offset, if number < *chunk { *size } else { *used });
            }
            (*chunk, *used) = (0, 0);
        }
        if start.era == 0 {
            let (root, bytes) = region.root_part();
            region.clear(root, bytes);
        }
        for (line, contents) in &start.lines {
            match contents.as_slice() {
                [] => {}
                [one] => write(region, *line, one),
                several => {
                    self.unresolved.insert(*line, several.to_vec());
                }
            }
        }
    }
}

fn write(region: &Region, line: usize, content: &Content) {
    for (number, word) in content.iter().enumerate() {
        region.write(line + 8 * number, 8, *word);
    }
}
