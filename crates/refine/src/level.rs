//! One level of the search, on all cores, in pieces of so many states.
//!
//! First the workers expand a piece: each takes states as it goes, reads the store, and puts what
//! it finds into boxes, one for each worker. Then each worker adds what is in the boxes for it, to
//! the parts of the store that it owns, in the order in which one worker would have found it. So no
//! worker waits for another but at the end of a phase, and the threads live as long as the level.

use crate::crew::{Gate, together};
use crate::product::{Product, Step, To};
use crate::search::{ANY_RANK, Search, Wrong};
use crate::store::{Added, Candidate, NodeId, Split, hash, mixed, owner_of};
use linchpin_verdict::Inconclusive;
use smallvec::SmallVec;
use std::hint::black_box;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

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
///
/// Different orders of the same steps lead to the same state, and are tried soon after each other.
/// So what is put in was often put in before, and then need not be added again: most of these are
/// noticed.
#[derive(Default)]
struct Outbox {
    found: Vec<Found>,
    /// Allowances and fronts, one after the other.
    bytes: Vec<u8>,
    /// For some bits of a hash, which one was found last. It may be gone.
    recent: Vec<u32>,
}

/// So many bits of a hash.
const RECENT_BITS: u32 = 12;

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
        self.recent.resize(1 << RECENT_BITS, 0);
    }

    /// Puts a state in, unless it is noticed that it is there; `None` if there is no room.
    fn put(
        &mut self,
        order: (u32, u32),
        split: Split<'_>,
        hash: u64,
        (back, set, parent): (u32, u32, NodeId),
    ) -> Option<()> {
        let place = recent_place(hash, back, set);
        let number = self.recent[place];
        if let Some(last) = self.found.get(number as usize) {
            let same = (last.hash, last.back, last.set) == (hash, back, set);
            let Candidate { allowance, front, .. } = self.candidate(last);
            if same && front == split.front && allowance == split.allowance {
                return Some(());
            }
        }
        self.recent[place] = u32::try_from(self.found.len()).ok()?;
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

fn recent_place(hash: u64, back: u32, set: u32) -> usize {
    let bits = mixed(hash ^ u64::from(back) << 32 ^ u64::from(set));
    (bits >> (u64::BITS - RECENT_BITS)) as usize
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

/// Where a worker leaves what others take: of one piece, then of the next.
#[derive(Default)]
pub(crate) struct Desk {
    /// What it has found, one box for each owner. There may be more from a level with more owners.
    boxes: RwLock<Vec<Outbox>>,
    share: RwLock<Share>,
    new: Mutex<New>,
}

/// A level that workers go through together, piece by piece.
struct Pieces<'l> {
    level: &'l [NodeId],
    /// INVARIANT: what the store had at the start of the level is of this one or an earlier one.
    sizes: &'l [usize],
    desks: &'l [Desk],
    /// The piece, and how many own parts of the store; `None` when the level is over.
    now: Mutex<Option<(Range<usize>, usize)>>,
    /// The next state that a worker takes, and the first that need not be looked at; within the
    /// piece.
    next: AtomicUsize,
    stop: AtomicUsize,
}

impl<'l> Pieces<'l> {
    fn now(&self) -> MutexGuard<'_, Option<(Range<usize>, usize)>> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a piece.
    fn begin(&self, piece: Range<usize>, owners: usize) {
        *self.now() = Some((piece, owners));
        self.next.store(0, Ordering::Relaxed);
        self.stop.store(usize::MAX, Ordering::Relaxed);
    }

    /// The states of the piece and the number of owners.
    fn piece(&self) -> Option<(&'l [NodeId], usize)> {
        let now = self.now();
        let (piece, owners) = now.as_ref()?;
        Some((&self.level[piece.clone()], *owners))
    }

    /// Looks at what the workers have left so far of some kind.
    fn shares(&self, owners: usize, mut look: impl FnMut(&Share)) {
        for desk in &self.desks[..owners] {
            look(&desk.share.read().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

impl<P: Product> Search<'_, P> {
    /// Expands all states of a level.
    pub fn level(&mut self, level: &[NodeId], workers: &mut [P::Worker], depth: usize) -> Level {
        let count = if level.len() < SMALL { 1 } else { workers.len() };
        let mut desks = std::mem::take(&mut self.desks);
        desks.resize_with(desks.len().max(count), Desk::default);
        let pieces = Pieces {
            level,
            sizes: &self.store.begin_level(),
            desks: &desks,
            now: Mutex::new(None),
            next: AtomicUsize::new(0),
            stop: AtomicUsize::new(usize::MAX),
        };
        let ended = together(
            &mut workers[..count],
            |gate, owners, worker| self.lead(&pieces, gate, owners, worker, depth),
            |gate, number, worker| self.follow(&pieces, gate, number, worker),
        );
        self.desks = desks;
        ended.unwrap_or_else(|| Level::Stopped(failed()))
    }

    /// Says which piece comes next, and does what the first worker has to.
    fn lead(
        &self,
        pieces: &Pieces<'_>,
        gate: &Gate,
        owners: usize,
        worker: &mut P::Worker,
        depth: usize,
    ) -> Level {
        let (mut next, mut start) = (Vec::new(), 0);
        let ended = loop {
            if start == pieces.level.len() {
                break Level::Next(next);
            }
            if let Some(reason) = self.look_at_limits(depth) {
                break Level::Stopped(reason);
            }
            let most = (self.store.size().nodes / SHARE).clamp(SMALL * 4, PIECE);
            let piece = start..pieces.level.len().min(start + most);
            start = piece.end;
            pieces.begin(piece, owners);
            gate.pass();
            self.work(pieces, gate, 0, worker);
            gate.pass();
            if gate.has_failed() {
                break Level::Stopped(failed());
            }
            if let Some(ended) = self.gather(pieces, owners, &mut next) {
                break ended;
            }
        };
        *pieces.now() = None;
        ended
    }

    /// Does what a further worker has to, until the level is over.
    fn follow(&self, pieces: &Pieces<'_>, gate: &Gate, number: usize, worker: &mut P::Worker) {
        loop {
            gate.pass();
            if gate.has_failed() || pieces.piece().is_none() {
                return;
            }
            self.work(pieces, gate, number, worker);
            gate.pass();
        }
    }

    /// One worker's part of a piece.
    fn work(&self, pieces: &Pieces<'_>, gate: &Gate, number: usize, worker: &mut P::Worker) {
        let Some((piece, owners)) = pieces.piece() else { return };
        {
            let desk = &pieces.desks[number];
            let mut boxes = desk.boxes.write().unwrap_or_else(PoisonError::into_inner);
            let more = boxes.len().max(owners);
            boxes.resize_with(more, Outbox::default);
            boxes.iter_mut().for_each(Outbox::clear);
            let share = self.expand(piece, pieces, worker, &mut boxes[..owners]);
            *desk.share.write().unwrap_or_else(PoisonError::into_inner) = share;
        }
        gate.pass();
        let new = self.add_found(pieces, (number, owners), worker);
        *pieces.desks[number].new.lock().unwrap_or_else(PoisonError::into_inner) = new;
    }

    /// What came of a piece: new nodes of the next level, or the end of the search.
    fn gather(&self, pieces: &Pieces<'_>, owners: usize, next: &mut Vec<NodeId>) -> Option<Level> {
        let (mut found, mut stopped) = (None, None);
        pieces.shares(owners, |share| {
            self.transitions.fetch_add(share.transitions, Ordering::Relaxed);
            // The first of the piece that goes wrong is the one reported: every worker goes on
            // until it has passed it.
            found = found.into_iter().chain(share.found).min_by_key(|found| found.0);
            stopped = stopped.take().or_else(|| share.stopped.clone());
        });
        if let Some((at, wrong)) = found {
            let (piece, _) = pieces.piece()?;
            return Some(Level::Found(piece[at], wrong));
        }
        if let Some(reason) = stopped {
            return Some(Level::Stopped(reason));
        }
        let mut nodes = Vec::new();
        for desk in &pieces.desks[..owners] {
            let mut new = desk.new.lock().unwrap_or_else(PoisonError::into_inner);
            if new.is_full {
                return Some(Level::Stopped(too_large()));
            }
            nodes.append(&mut new.nodes);
        }
        // Those of each worker are in order: a few runs are merged.
        nodes.sort_by_key(|(order, _)| *order);
        next.extend(nodes.into_iter().map(|(_, id)| id));
        None
    }

    /// One worker's share of a piece: it takes states until there are none left before the first
    /// that goes wrong.
    ///
    /// A state is not expanded if one that was added later, in this level, covers it: whatever goes
    /// wrong from it goes wrong from the other as soon.
    fn expand(
        &self,
        piece: &[NodeId],
        pieces: &Pieces<'_>,
        worker: &mut P::Worker,
        boxes: &mut [Outbox],
    ) -> Share {
        let Pieces { sizes, next, stop, .. } = pieces;
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
                let covers =
                    |one: (&[u8], u32), other: (&[u8], u32)| self.covers(worker, one, other);
                if store.is_superseded(id, sizes, covers) {
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

    /// Adds what is in the boxes for one owner, in order. What comes after the first state that
    /// went wrong is not added: it is as if it had not been looked at.
    fn add_found(
        &self,
        pieces: &Pieces<'_>,
        (owner, owners): (usize, usize),
        worker: &mut P::Worker,
    ) -> New {
        let mut store = self.store.owning(owner, owners);
        pieces.shares(owners, |share| share.refused.iter().for_each(|id| store.mark_refused(*id)));
        let end = u32::try_from(pieces.stop.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
        let mut new = New::default();
        let of_workers = pieces.desks[..owners].iter().map(|desk| &desk.boxes);
        let of_workers: Vec<_> =
            of_workers.map(|of| of.read().unwrap_or_else(PoisonError::into_inner)).collect();
        let boxes: Vec<&Outbox> = of_workers.iter().map(|boxes| &boxes[owner]).collect();
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
            let candidates: SmallVec<[Candidate<'_>; AHEAD]> =
                batch.iter().map(candidate).collect();
            let seen = candidates.iter().map(|of| store.look_for(of));
            black_box(seen.fold(0, |all, seen| all ^ seen));
            let fronts: SmallVec<[Option<u32>; AHEAD]> =
                candidates.iter().map(|of| store.front(of)).collect();
            let seen = candidates
                .iter()
                .zip(&fronts)
                .map(|(of, front)| front.map_or(0, |front| store.look_for_node(of, front)));
            black_box(seen.fold(0, |all, seen| all ^ seen));
            for ((of, candidate), front) in batch.iter().zip(&candidates).zip(fronts) {
                let covers =
                    |one: (&[u8], u32), other: (&[u8], u32)| self.covers(worker, one, other);
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

fn failed() -> Inconclusive {
    Inconclusive::Undecided("a worker failed".to_owned())
}
