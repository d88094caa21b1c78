//! One level of the search, on all cores, in pieces of so many states.
//!
//! First the workers expand a piece: each takes states as it goes, reads the store, and puts what
//! it finds into boxes, one for each worker. Then each worker adds what is in the boxes for it, to
//! the parts of the store that it owns, in the order in which one worker would have found it. So no
//! worker waits for another but at the end of a piece.

use crate::product::{Product, Step, To};
use crate::search::{ANY_RANK, Search, Wrong};
use crate::store::{Added, Candidate, NodeId, Split, hash, owner_of};
use linchpin_verdict::Inconclusive;
use smallvec::SmallVec;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

/// At most so many states are expanded before what comes of them is added.
const PIECE: usize = 4096;

/// Fewer as long as there are less than so many times as many: what is found takes room.
const SHARE: usize = 64;

/// A piece this small is not worth a second worker.
const SMALL: usize = 128;

/// A worker takes so many states at a time.
const AT_ONCE: usize = 16;

/// How often limits are looked at: once in so many states.
const EVERY: usize = 256;

/// So many states are looked for before the first of them is added.
const AHEAD: usize = 16;

/// What came of a level.
pub(crate) enum Level {
    Next(Vec<NodeId>),
    Found(NodeId, Wrong),
    Stopped(Inconclusive),
}

/// Successors that one worker has found and another is to add, in the order of the states that they
/// were found from.
#[derive(Default)]
pub(crate) struct Outbox {
    found: Vec<Found>,
    /// Allowances and fronts, one after the other.
    bytes: Vec<u8>,
}

/// A successor, with its bytes in the box.
#[derive(Clone, Copy)]
struct Found {
    /// Which state of the piece it was found from, and which of its successors it is.
    order: (u32, u32),
    start: u32,
    front: u32,
    end: u32,
    hash: u64,
    back: u32,
    set: u32,
    parent: NodeId,
}

impl Outbox {
    fn clear(&mut self) {
        self.found.clear();
        self.bytes.clear();
    }

    /// Puts a state in; `None` if there is no room.
    fn put(
        &mut self,
        order: (u32, u32),
        split: Split<'_>,
        hash: u64,
        (back, set, parent): (u32, u32, NodeId),
    ) -> Option<()> {
        let start = u32::try_from(self.bytes.len()).ok()?;
        self.bytes.extend_from_slice(split.allowance);
        let front = u32::try_from(self.bytes.len()).ok()?;
        self.bytes.extend_from_slice(split.front);
        let end = u32::try_from(self.bytes.len()).ok()?;
        self.found.push(Found { order, start, front, end, hash, back, set, parent });
        Some(())
    }

    fn candidate(&self, found: &Found) -> Candidate<'_> {
        let Found { start, front, end, hash, back, set, parent, .. } = *found;
        let allowance = &self.bytes[start as usize..front as usize];
        let front = &self.bytes[front as usize..end as usize];
        Candidate { allowance, front, hash, back, set, parent }
    }
}

/// The state that successors are of.
#[derive(Clone, Copy)]
struct From {
    /// Its place in the piece.
    order: u32,
    id: NodeId,
    back: u32,
}

/// The successors of a state, their bytes one after the other.
#[derive(Default)]
struct Successors {
    bytes: Vec<u8>,
    /// Where each ends, and its set.
    ends: Vec<(usize, u32)>,
    transitions: u64,
}

impl Successors {
    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.transitions = 0;
    }
}

/// What came of a worker's share of a piece.
#[derive(Default)]
struct Share {
    /// The first in the piece that can go wrong.
    found: Option<(usize, Wrong)>,
    stopped: Option<Inconclusive>,
    /// The states whose allowance kept something from happening, and those not expanded.
    refused: Vec<NodeId>,
    transitions: u64,
}

/// What a worker has added: new nodes, and where in the order they came.
#[derive(Default)]
struct New {
    nodes: Vec<((u32, u32), NodeId)>,
    is_full: bool,
}

/// A worker and the boxes that it fills.
type Equipped<'w, W> = (&'w mut W, &'w mut Vec<Outbox>);

impl<P: Product> Search<'_, P> {
    /// Expands all states of a level.
    pub fn level(&mut self, level: &[NodeId], workers: &mut [P::Worker], depth: usize) -> Level {
        let mut next = Vec::new();
        let mut rest = level;
        // INVARIANT: what the store has now is of this level or an earlier one.
        let sizes = self.store.sizes();
        while !rest.is_empty() {
            let most = (self.store.size().nodes / SHARE).clamp(SMALL * 4, PIECE);
            let (piece, later) = rest.split_at(rest.len().min(most));
            rest = later;
            if let Some(reason) = self.look_at_limits(depth) {
                return Level::Stopped(reason);
            }
            match self.piece(piece, &sizes, workers) {
                Ok(new) => next.extend(new),
                Err(ended) => return ended,
            }
        }
        Level::Next(next)
    }

    fn piece(
        &mut self,
        piece: &[NodeId],
        sizes: &[usize],
        workers: &mut [P::Worker],
    ) -> Result<Vec<NodeId>, Level> {
        let count = if piece.len() < SMALL { 1 } else { workers.len() };
        let workers = &mut workers[..count];
        let mut boxes = std::mem::take(&mut self.boxes);
        boxes.resize_with(boxes.len().max(count), Vec::new);
        for of_worker in &mut boxes {
            of_worker.resize_with(of_worker.len().max(count), Outbox::default);
            of_worker.iter_mut().for_each(Outbox::clear);
        }
        let result = self.expand_and_add((piece, sizes), workers, &mut boxes[..count]);
        self.boxes = boxes;
        result
    }

    fn expand_and_add(
        &self,
        (piece, sizes): (&[NodeId], &[usize]),
        workers: &mut [P::Worker],
        boxes: &mut [Vec<Outbox>],
    ) -> Result<Vec<NodeId>, Level> {
        let (next, stop) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        let mut equipped: Vec<Equipped<'_, P::Worker>> =
            workers.iter_mut().zip(boxes.iter_mut()).collect();
        // INVARIANT: as many boxes are filled as there are owners to empty them. There may be more
        // from a larger piece.
        let owners = equipped.len();
        let shares = in_parallel(&mut equipped, |_, (worker, boxes)| {
            self.expand((piece, sizes), (&next, &stop), worker, &mut boxes[..owners])
        })?;
        for share in &shares {
            self.transitions.fetch_add(share.transitions, Ordering::Relaxed);
            share.refused.iter().for_each(|id| self.store.mark_refused(*id));
        }
        // What comes after the first state that goes wrong is not added: it is as if it had not
        // been looked at.
        let end = u32::try_from(stop.into_inner()).unwrap_or(u32::MAX);
        let boxes = &*boxes;
        let added = in_parallel(workers, |owner, worker| {
            self.add_found(boxes, (owner, owners), end, worker)
        })?;
        // The first of the piece that goes wrong is the one reported: every worker goes on until it
        // has passed it.
        let found = shares.iter().filter_map(|share| share.found).min_by_key(|found| found.0);
        if let Some((at, wrong)) = found {
            return Err(Level::Found(piece[at], wrong));
        }
        if let Some(reason) = shares.into_iter().find_map(|share| share.stopped) {
            return Err(Level::Stopped(reason));
        }
        if added.iter().any(|new| new.is_full) {
            return Err(Level::Stopped(too_large()));
        }
        let mut nodes: Vec<_> = added.into_iter().flat_map(|new| new.nodes).collect();
        nodes.sort_unstable_by_key(|(order, _)| *order);
        Ok(nodes.into_iter().map(|(_, id)| id).collect())
    }

    /// One worker's share of a piece: it takes states until there are none left before the first
    /// that goes wrong.
    ///
    /// A state is not expanded if one that was added later, in this level, covers it: whatever goes
    /// wrong from it goes wrong from the other as soon.
    fn expand(
        &self,
        (piece, sizes): (&[NodeId], &[usize]),
        (next, stop): (&AtomicUsize, &AtomicUsize),
        worker: &mut P::Worker,
        boxes: &mut [Outbox],
    ) -> Share {
        let store = self.store.reading();
        let (mut share, mut bytes) = (Share::default(), Vec::new());
        let mut successors = Successors::default();
        loop {
            let start = next.fetch_add(AT_ONCE, Ordering::Relaxed);
            if start >= piece.len().min(stop.load(Ordering::Relaxed)) {
                return share;
            }
            if start.is_multiple_of(EVERY)
                && let Some(reason) = self.options.limits.exceeded(0)
            {
                share.stopped = Some(reason.into());
                stop.fetch_min(start, Ordering::Relaxed);
                return share;
            }
            let end = piece.len().min(start + AT_ONCE);
            black_box(piece[start..end].iter().fold(0, |all, id| all ^ store.look_at(*id)));
            for (at, &id) in (start..end).zip(&piece[start..end]) {
                if at >= stop.load(Ordering::Relaxed) {
                    break;
                }
                if store.is_superseded(id, sizes, |one, other| self.covers(worker, one, other)) {
                    share.refused.push(id);
                    continue;
                }
                let node = store.get(id, &mut bytes);
                successors.clear();
                let wrong = self.successors(worker, &bytes, node.set, &mut successors);
                share.transitions += successors.transitions;
                if self.product.take_refused(worker) {
                    share.refused.push(id);
                }
                if let Some(wrong) = wrong {
                    stop.fetch_min(at, Ordering::Relaxed);
                    share.found = Some((at, wrong));
                    return share;
                }
                let from = From { order: at as u32, id, back: node.back };
                if self.send(from, &bytes, &successors, worker, boxes).is_none() {
                    share.stopped = Some(too_large());
                    stop.fetch_min(at, Ordering::Relaxed);
                    return share;
                }
            }
        }
    }

    /// The ways on from a state; what goes wrong, if anything does.
    fn successors(
        &self,
        worker: &mut P::Worker,
        state: &[u8],
        set: u32,
        out: &mut Successors,
    ) -> Option<Wrong> {
        let mut wrong = None;
        self.product.expand(worker, state, set, &mut |step: Step<'_>| {
            out.transitions += 1;
            match step.to {
                To::State { bytes, set, .. } => {
                    out.bytes.extend_from_slice(bytes);
                    out.ends.push((out.bytes.len(), set));
                }
                To::Unexplained => wrong = Some(Wrong::Unexplained),
                To::Fault => wrong = wrong.or(Some(Wrong::Fault)),
            }
        });
        wrong
    }

    /// Puts the successors of a state into the boxes of their owners; `None` if there is no room.
    fn send(
        &self,
        from: From,
        state: &[u8],
        successors: &Successors,
        worker: &mut P::Worker,
        boxes: &mut [Outbox],
    ) -> Option<()> {
        let same_back = self.split(state).back;
        let mut start = 0;
        for (number, &(end, set)) in successors.ends.iter().enumerate() {
            let bytes = &successors.bytes[start..end];
            start = end;
            if self.rank != ANY_RANK && self.product.rank(worker, set) > self.rank {
                self.wait(bytes, set, from.id);
                continue;
            }
            let split = self.split(bytes);
            // Most steps leave the heap as it is.
            let back = match split.back == same_back {
                true => from.back,
                false => self.store.back(split.back)?,
            };
            let hash = hash(split.front);
            let order = (from.order, u32::try_from(number).ok()?);
            boxes[owner_of(hash, boxes.len())].put(order, split, hash, (back, set, from.id))?;
        }
        Some(())
    }

    /// Adds what is in the boxes for one owner, in order, up to the first state that went wrong.
    fn add_found(
        &self,
        boxes: &[Vec<Outbox>],
        (owner, owners): (usize, usize),
        end: u32,
        worker: &mut P::Worker,
    ) -> New {
        let mut store = self.store.owning(owner, owners);
        let mut new = New::default();
        let boxes: Vec<&Outbox> = boxes.iter().map(|of_worker| &of_worker[owner]).collect();
        let mut all: Vec<((u32, u32), u32, u32)> = Vec::new();
        for (number, outbox) in (0..).zip(&boxes) {
            let found = (0..).zip(&outbox.found);
            let found = found.take_while(|(_, found)| found.order.0 < end);
            all.extend(found.map(|(at, found)| (found.order, number, at)));
        }
        // Each box is in order: two or a few runs are merged.
        all.sort();
        for batch in all.chunks(AHEAD) {
            let candidate = |&(_, number, at): &((u32, u32), u32, u32)| {
                let outbox = boxes[number as usize];
                outbox.candidate(&outbox.found[at as usize])
            };
            let seen = batch.iter().map(|of| store.look_for(candidate(of)));
            black_box(seen.fold(0, |all, seen| all ^ seen));
            let fronts: SmallVec<[Option<u32>; AHEAD]> =
                batch.iter().map(|of| store.front(candidate(of))).collect();
            let seen = batch.iter().zip(&fronts).map(|(of, front)| {
                front.map_or(0, |front| store.look_for_node(candidate(of), front))
            });
            black_box(seen.fold(0, |all, seen| all ^ seen));
            for (of, front) in batch.iter().zip(fronts) {
                let candidate = candidate(of);
                let covers = |allowance: &[u8], set: u32| {
                    let than = (candidate.allowance, candidate.set);
                    self.covers(worker, (allowance, set), than)
                };
                match front.map(|front| store.add(candidate, front, covers)) {
                    Some(Added::New(id)) => new.nodes.push((of.0, id)),
                    Some(Added::Known) => {}
                    Some(Added::Full) | None => new.is_full = true,
                }
            }
        }
        new
    }
}

fn too_large() -> Inconclusive {
    Inconclusive::Undecided("a state, or all of them, are too large".to_owned())
}

/// Does some work with each worker at once: this thread with the first, another with each of the
/// rest. Where no thread can be made, this one does its work too.
fn in_parallel<W: Send, T: Send>(
    workers: &mut [W],
    work: impl Fn(usize, &mut W) -> T + Sync,
) -> Result<Vec<T>, Level> {
    let work = &work;
    let results = std::thread::scope(|scope| {
        let (mut running, mut left) = (Vec::new(), vec![0]);
        let (own, rest) = workers.split_first_mut()?;
        for (number, worker) in (1..).zip(rest) {
            let thread = Builder::new().spawn_scoped(scope, move || work(number, worker));
            match thread {
                Ok(thread) => running.push(thread),
                Err(_) => left.push(number),
            }
        }
        let mine: Vec<T> = left.into_iter().map(|number| work(number, own)).collect();
        let others = running.into_iter().map(|thread| thread.join().ok());
        mine.into_iter().map(Some).chain(others).collect::<Option<Vec<T>>>()
    });
    results.ok_or_else(|| Level::Stopped(Inconclusive::Undecided("a worker failed".to_owned())))
}
