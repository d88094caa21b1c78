//! Data races on cells, and what must be given back: both ask what happens before what.
//!
//! Happens-before is program order, spawn, and synchronization alone: from a write to a read of
//! what was written, or of what updates made of it. That an access came later in this execution is
//! no synchronization. Every order is taken for `SeqCst` here, so all writes release and all reads
//! acquire. Clocks and epochs are those of FastTrack (Flanagan and Freund, PLDI 2009).

use super::clock::Clocks;
use crate::execution::Problem;
use crate::threads::ThreadId;
use linchpin_sync::runtime::{CellAccess, Resource, Site};
use smallvec::SmallVec;

/// What happens before what in one execution.
#[derive(Default)]
pub(super) struct Synchronization {
    /// What each thread knows. Its own number is that of the events since it released last.
    threads: Clocks,
    /// What one learns who reads a place.
    places: Clocks,
    cells: Vec<Cell>,
    resources: Vec<Given>,
}

/// Something that a thread did, as FastTrack's epoch.
#[derive(Clone, Copy)]
struct Epoch {
    thread: ThreadId,
    number: u32,
    site: Site,
}

/// The accesses of a cell that a later one may race with.
#[derive(Default)]
struct Cell {
    write: Option<Epoch>,
    reads: SmallVec<[Epoch; 2]>,
}

/// Something that must be given back.
struct Given {
    what: Resource,
    acquired: Site,
    uses: SmallVec<[Epoch; 2]>,
    released: Option<Site>,
}

impl Synchronization {
    pub(super) fn clear(&mut self, width: usize) {
        self.threads.clear(width);
        self.places.clear(width);
        self.cells.clear();
        self.resources.clear();
    }

    /// A thread starts, after what its parent did so far.
    pub(super) fn spawned(&mut self, parent: Option<ThreadId>, child: ThreadId, width: usize) {
        self.threads.widen(width);
        self.places.widen(width);
        self.threads.push();
        if let Some(parent) = parent {
            let known = SmallVec::<[u32; 8]>::from_slice(self.threads.row(parent));
            self.threads.set(child, &known);
            self.threads.row_mut(parent)[parent] += 1;
        }
        self.threads.row_mut(child)[child] = 1;
    }

    /// A thread accesses a place.
    pub(super) fn accessed(&mut self, thread: ThreadId, place: usize, reads: bool, writes: bool) {
        self.places.reach(place + 1);
        if reads {
            self.threads.join(thread, self.places.row(place));
        }
        if writes {
            self.places.set(place, self.threads.row(thread));
            self.threads.row_mut(thread)[thread] += 1;
        }
    }

    fn now(&self, thread: ThreadId, site: Site) -> Epoch {
        Epoch { thread, number: self.threads.row(thread)[thread], site }
    }

    fn precedes(&self, earlier: &Epoch, thread: ThreadId) -> bool {
        earlier.number <= self.threads.row(thread)[earlier.thread]
    }

    /// A thread accesses a cell: does that race with an earlier access?
    pub(super) fn cell(
        &mut self,
        thread: ThreadId,
        cell: usize,
        access: CellAccess,
        site: Site,
    ) -> Result<(), Problem> {
        if self.cells.len() <= cell {
            self.cells.resize_with(cell + 1, Cell::default);
        }
        let now = self.now(thread, site);
        let before = &self.cells[cell];
        let reads: &[Epoch] = if access == CellAccess::Write { &before.reads } else { &[] };
        let races = before.write.iter().chain(reads).find(|other| !self.precedes(other, thread));
        if let Some(other) = races {
            return Err(Problem::Race {
                first: other.thread,
                first_site: other.site,
                second: thread,
                second_site: site,
            });
        }
        let cell = &mut self.cells[cell];
        match access {
            CellAccess::Write => {
                cell.write = Some(now);
                cell.reads.clear();
            }
            CellAccess::Read => note(&mut cell.reads, now),
        }
        Ok(())
    }

    /// Something must be given back from now on: answers its number.
    pub(super) fn acquired(&mut self, what: Resource, site: Site) -> u64 {
        let given = Given { what, acquired: site, uses: SmallVec::new(), released: None };
        self.resources.push(given);
        self.resources.len() as u64 - 1
    }

    /// Something is used.
    pub(super) fn used(
        &mut self,
        thread: ThreadId,
        resource: u64,
        site: Site,
    ) -> Result<(), Problem> {
        let now = self.now(thread, site);
        // A static variable may keep the number of an earlier execution.
        let Some(given) = self.resources.get_mut(resource as usize) else { return Ok(()) };
        match given.released {
            Some(released) => Err(given.used_after_free(thread, site, released)),
            None => {
                note(&mut given.uses, now);
                Ok(())
            }
        }
    }

    /// Something is given back. A use that does not happen before could as well come after.
    pub(super) fn released(
        &mut self,
        thread: ThreadId,
        resource: u64,
        site: Site,
    ) -> Result<(), Problem> {
        let Some(given) = self.resources.get(resource as usize) else { return Ok(()) };
        if let Some(released) = given.released {
            return Err(given.used_after_free(thread, site, released));
        }
        if let Some(used) = given.uses.iter().find(|used| !self.precedes(used, thread)) {
            return Err(given.used_after_free(used.thread, used.site, site));
        }
        self.resources[resource as usize].released = Some(site);
        Ok(())
    }

    /// Something that was not given back.
    pub(super) fn leaked(&self) -> Option<Problem> {
        let given = self.resources.iter().find(|given| given.released.is_none())?;
        Some(Problem::Leaked { what: given.what, site: given.acquired })
    }
}

impl Given {
    fn used_after_free(&self, thread: ThreadId, site: Site, released: Site) -> Problem {
        Problem::UsedAfterFree { what: self.what, thread, site, acquired: self.acquired, released }
    }
}

/// Of each thread the last event is enough: it happens after the others.
fn note(epochs: &mut SmallVec<[Epoch; 2]>, now: Epoch) {
    match epochs.iter_mut().find(|epoch| epoch.thread == now.thread) {
        Some(epoch) => *epoch = now,
        None => epochs.push(now),
    }
}
