//! One level of the search, on all cores, in pieces of so many states.
//!
//! First the workers expand a piece: each takes states as it goes, reads the store, and puts what
//! it finds into boxes, one for each worker. Then each worker adds what is in the boxes for it, to
//! the parts of the store that it owns, in the order in which one worker would have found it. So no
//! worker waits for another but at the end of a phase, and the threads live as long as the level.

use crate::components::ComponentId;
use crate::crew::{Gate, together};
use crate::product::{Product, Step, To};
use crate::runs::{Order, Runs};
use crate::search::{ANY_RANK, Search, Wrong};
use crate::store::{AHEAD, Added, Batch, Candidate, Node, NodeId, Reading, Split, Store};
use crate::store::{hash, owner_of};
use linchpin_verdict::Inconclusive;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

/// At most so many states are expanded before what comes of them is added.
const PIECE: usize = 4096;

/// Fewer as long as there are less than so many times as many: what is found takes room.
const SHARE: usize = 64;

/// A piece this small is not worth a second worker.
const SMALL: usize = 128;

/// A worker takes so many states at a time.
const AT_ONCE: usize = AHEAD;

/// How often limits are looked at: once in so many states.
const EVERY: usize = 256;

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
///
/// Those of different workers have lines of the cache of their own.
#[derive(Default)]
#[repr(align(128))]
struct Outbox {
    found: Vec<Found>,
    /// Allowances and fronts, one after the other, and backs that are not known yet.
    bytes: Vec<u8>,
    /// For some bits of a hash, which one was found last. It may be gone.
    recent: Vec<u32>,
}

/// So many bits of a hash.
const RECENT_BITS: u32 = 12;

/// A successor, with its bytes in the box.
#[derive(Clone, Copy)]
struct Found {
    order: Order,
    hash: u64,
    start: u32,
    front: u32,
    end: u32,
    back: Back,
    set: u32,
    parent: NodeId,
}

/// The back of a successor.
#[derive(Clone, Copy)]
enum Back {
    Known(ComponentId),
    /// Its bytes come after the front, and end there.
    New(u32),
}

/// A successor that is put into a box.
struct Sent<'a> {
    order: Order,
    split: Split<'a>,
    /// The hash of its front.
    hash: u64,
    /// The number of its back, if it is known.
    back: Option<ComponentId>,
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
    fn put(&mut self, sent: &Sent<'_>) -> Option<()> {
        let Sent { order, split, hash, back, set, parent } = *sent;
        let place = recent_place(hash, back.unwrap_or_else(|| self::hash(split.back) as u32), set);
        let number = self.recent[place];
        if let Some(last) = self.found.get(number as usize)
            && self.is_same(last, sent)
        {
            return Some(());
        }
        self.recent[place] = u32::try_from(self.found.len()).ok()?;
        let start = u32::try_from(self.bytes.len()).ok()?;
        self.bytes.extend_from_slice(split.kept);
        let end = u32::try_from(self.bytes.len()).ok()?;
        let back = match back {
            Some(back) => Back::Known(back),
            None => {
                self.bytes.extend_from_slice(split.back);
                Back::New(u32::try_from(self.bytes.len()).ok()?)
            }
        };
        let front = start + split.allowance as u32;
        self.found.push(Found { order, hash, start, front, end, back, set, parent });
        Some(())
    }

    /// Whether what was found is what is sent.
    fn is_same(&self, found: &Found, sent: &Sent<'_>) -> bool {
        let Found { hash, start, front, end, back, set, .. } = *found;
        let same_back = match (back, sent.back) {
            (Back::Known(back), Some(other)) => back == other,
            (Back::New(until), None) => self.bytes(end, until) == sent.split.back,
            _ => false,
        };
        same_back
            && (hash, set) == (sent.hash, sent.set)
            && (front - start) as usize == sent.split.allowance
            && self.bytes(start, end) == sent.split.kept
    }

    fn bytes(&self, start: u32, end: u32) -> &[u8] {
        &self.bytes[start as usize..end as usize]
    }

    /// What was found, to be added; `None` if there is no room for its back.
    #[inline]
    fn candidate(&self, found: &Found, store: &Store) -> Option<Candidate<'_>> {
        let Found { hash, start, front, end, back, set, parent, .. } = *found;
        let back = match back {
            Back::Known(back) => back,
            Back::New(until) => store.back(self.bytes(end, until))?,
        };
        let (allowance, front) = (self.bytes(start, front), self.bytes(front, end));
        Some(Candidate { allowance, front, hash, back, set, parent })
    }
}

fn recent_place(hash: u64, back: u32, set: u32) -> usize {
    let bits = hash ^ u64::from(back) << 32 ^ u64::from(set);
    let bits = (bits ^ bits >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (bits >> (u64::BITS - RECENT_BITS)) as usize
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

/// What a worker has in hands while it expands states.
struct Hands<'h, W> {
    store: Reading<'h>,
    sizes: &'h [usize],
    worker: &'h mut W,
    boxes: &'h mut [Outbox],
    share: Share,
    /// The state that is expanded.
    bytes: Vec<u8>,
    successors: Successors,
}

/// What a worker has added: new nodes, and where in the order they came.
#[derive(Default)]
struct New {
    nodes: Vec<(Order, NodeId)>,
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
        let new: Vec<_> = pieces.desks[..owners]
            .iter()
            .map(|desk| desk.new.lock().unwrap_or_else(PoisonError::into_inner))
            .collect();
        if new.iter().any(|new| new.is_full) {
            return Some(Level::Stopped(too_large()));
        }
        let rows = new.iter().map(|new| &new.nodes[..]).collect();
        for (_, run) in Runs::new(rows, |(order, _): &(Order, NodeId)| *order) {
            next.extend(run.iter().map(|(_, id)| *id));
        }
        None
    }

    /// One worker's share of a piece: it takes states until there are none left before the first
    /// that goes wrong.
    fn expand(
        &self,
        piece: &[NodeId],
        pieces: &Pieces<'_>,
        worker: &mut P::Worker,
        boxes: &mut [Outbox],
    ) -> Share {
        let Pieces { sizes, next, stop, .. } = pieces;
        let store = self.store.reading();
        let (share, bytes, successors) = Default::default();
        let mut hands = Hands { store, sizes, worker, boxes, share, bytes, successors };
        loop {
            let start = next.fetch_add(AT_ONCE, Ordering::Relaxed);
            if start >= piece.len().min(stop.load(Ordering::Relaxed)) {
                return hands.share;
            }
            if start.is_multiple_of(EVERY)
                && let Some(reason) = self.options.limits.exceeded(0)
            {
                hands.share.stopped = Some(reason.into());
                stop.fetch_min(start, Ordering::Relaxed);
                return hands.share;
            }
            let end = piece.len().min(start + AT_ONCE);
            let ids = &piece[start..end];
            let nodes = hands.store.nodes(ids);
            for ((at, id), node) in (start..end).zip(ids).zip(&nodes) {
                if at >= stop.load(Ordering::Relaxed) {
                    break;
                }
                if self.expand_one((at, *id, node), &mut hands).is_break() {
                    stop.fetch_min(at, Ordering::Relaxed);
                    return hands.share;
                }
            }
        }
    }

    /// Expands a state; it breaks if the state goes wrong or there is no room.
    ///
    /// A state is not expanded if one that was added later, in this level, covers it: whatever goes
    /// wrong from it goes wrong from the other as soon.
    fn expand_one(
        &self,
        (at, id, node): (usize, NodeId, &Node),
        hands: &mut Hands<'_, P::Worker>,
    ) -> ControlFlow<()> {
        let Hands { store, worker, share, bytes, successors, .. } = hands;
        let covers = |one: (&[u8], u32), other: (&[u8], u32)| self.covers(worker, one, other);
        if store.is_superseded((id, node), hands.sizes, covers) {
            share.refused.push(id);
            return ControlFlow::Continue(());
        }
        let back = store.get(id, node, bytes);
        successors.clear();
        let wrong = self.successors(worker, bytes, node.set, successors);
        share.transitions += successors.transitions;
        if self.product.take_refused(worker) {
            share.refused.push(id);
        }
        if let Some(wrong) = wrong {
            share.found = Some((at, wrong));
            return ControlFlow::Break(());
        }
        if self.send((at as u32, id), (node.back, back), hands).is_none() {
            hands.share.stopped = Some(too_large());
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
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
    /// The state is given by its place in the piece and its number, its back by number and start.
    fn send(
        &self,
        (at, parent): (u32, NodeId),
        (back, back_start): (ComponentId, usize),
        hands: &mut Hands<'_, P::Worker>,
    ) -> Option<()> {
        let same_back = &hands.bytes[back_start..];
        let mut start = 0;
        for (number, &(end, set)) in (0..).zip(&hands.successors.ends) {
            let bytes = &hands.successors.bytes[start..end];
            start = end;
            if self.rank != ANY_RANK && self.product.rank(hands.worker, set) > self.rank {
                self.wait(bytes, set, parent);
                continue;
            }
            let split = self.split(bytes);
            // Most steps leave the heap as it is.
            let back = match split.back == same_back {
                true => Some(back),
                false => hands.store.back(split.back),
            };
            let hash = hash(&split.kept[split.allowance..]);
            let owner = owner_of(hash, hands.boxes.len());
            let sent = Sent { order: (at, number), split, hash, back, set, parent };
            hands.boxes[owner].put(&sent)?;
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
        let of_workers = pieces.desks[..owners].iter().map(|desk| &desk.boxes);
        let of_workers: Vec<_> =
            of_workers.map(|of| of.read().unwrap_or_else(PoisonError::into_inner)).collect();
        let boxes: Vec<&Outbox> = of_workers.iter().map(|boxes| &boxes[owner]).collect();
        let before_end =
            |outbox: &&'_ Outbox| outbox.found.partition_point(|found| found.order.0 < end);
        let rows = boxes.iter().map(|of| &of.found[..before_end(of)]).collect();
        let mut found = Runs::new(rows, |found: &Found| found.order).items();
        let mut new = New::default();
        loop {
            let (mut candidates, mut orders) = (Batch::new(), Batch::new());
            for (number, found) in found.by_ref().take(AHEAD) {
                match boxes[number].candidate(found, &self.store) {
                    Some(candidate) => candidates.push(candidate),
                    None => new.is_full = true,
                }
                orders.push(found.order);
            }
            if candidates.is_empty() || new.is_full {
                return new;
            }
            let beside = store.beside(&candidates);
            for ((order, candidate), beside) in orders.iter().zip(&candidates).zip(&beside) {
                let covers =
                    |one: (&[u8], u32), other: (&[u8], u32)| self.covers(worker, one, other);
                match (*beside).map(|beside| store.add(candidate, beside, covers)) {
                    Some(Added::New(id)) => new.nodes.push((*order, id)),
                    Some(Added::Known) => {}
                    Some(Added::Full) | None => new.is_full = true,
                }
            }
        }
    }
}

fn too_large() -> Inconclusive {
    Inconclusive::Undecided("a state, or all of them, are too large".to_owned())
}

fn failed() -> Inconclusive {
    Inconclusive::Undecided("a worker failed".to_owned())
}
