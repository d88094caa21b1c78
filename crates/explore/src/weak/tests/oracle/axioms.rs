//! RC11 as it is written in the paper (Lahav et al., PLDI 2017, figure 1 and section 3), with release
//! sequences of C++20. Initial writes are before all other events.

use super::relation::Relation;
use std::sync::atomic::Ordering;

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// No thread for initial writes.
    pub thread: Option<usize>,
    pub kind: Kind,
    pub order: Ordering,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read(usize),
    Write(usize),
    Fence,
    Cell { cell: usize, writes: bool },
}

impl Event {
    fn location(self) -> Option<usize> {
        match self.kind {
            Kind::Read(location) | Kind::Write(location) => Some(location),
            _ => None,
        }
    }

    fn acquires(self) -> bool {
        matches!(self.kind, Kind::Read(_) | Kind::Fence)
            && matches!(self.order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
    }

    fn releases(self) -> bool {
        matches!(self.kind, Kind::Write(_) | Kind::Fence)
            && matches!(self.order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
    }

    fn is_sequential(self) -> bool {
        !matches!(self.kind, Kind::Cell { .. }) && self.order == Ordering::SeqCst
    }
}

/// A candidate: events, those of a thread in its order, with the relations that make an execution.
pub struct Candidate {
    pub events: Vec<Event>,
    /// From the read of an update to its write.
    pub updates: Relation,
    pub reads_from: Relation,
    pub modification: Relation,
}

impl Candidate {
    fn sequenced(&self) -> Relation {
        Relation::of(self.events.len(), |first, second| {
            let (a, b) = (self.events[first].thread, self.events[second].thread);
            first < second && a == b && a.is_some() || a.is_none() && b.is_some()
        })
    }

    pub fn happens_before(&self) -> Relation {
        let n = self.events.len();
        let set = |holds: fn(Event) -> bool| Relation::set(n, |event| holds(self.events[event]));
        let sb = self.sequenced();
        let writes = set(|event| matches!(event.kind, Kind::Write(_)));
        let reads = set(|event| matches!(event.kind, Kind::Read(_)));
        let fences = set(|event| event.kind == Kind::Fence);
        let rf = &self.reads_from;
        let sequence = writes.then(&rf.then(&self.updates).closure().maybe());
        let synchronizes = set(Event::releases)
            .then(&fences.then(&sb).maybe())
            .then(&sequence)
            .then(rf)
            .then(&reads)
            .then(&sb.then(&fences).maybe())
            .then(&set(Event::acquires));
        sb.or(&synchronizes).closure()
    }

    /// Whether RC11 allows it.
    pub fn is_consistent(&self) -> bool {
        let n = self.events.len();
        let sb = self.sequenced();
        let (rf, mo) = (&self.reads_from, &self.modification);
        let identity = Relation::set(n, |_| true);
        let rb = rf.inverse().then(mo).minus(&identity);
        let eco = rf.or(mo).or(&rb).closure();
        let hb = self.happens_before();
        hb.then(&eco.maybe()).is_irreflexive()
            && self.updates.and(&rb.then(mo)).is_empty()
            && sb.or(rf).is_acyclic()
            && self.partial_sequential(&sb, &hb, &rb, &eco).is_acyclic()
    }

    fn partial_sequential(
        &self,
        sb: &Relation,
        hb: &Relation,
        rb: &Relation,
        eco: &Relation,
    ) -> Relation {
        let n = self.events.len();
        let same = Relation::of(n, |first, second| {
            let location = self.events[first].location();
            location.is_some() && location == self.events[second].location()
        });
        let elsewhere = sb.minus(&same);
        let scb = sb
            .or(&elsewhere.then(hb).then(&elsewhere))
            .or(&hb.and(&same))
            .or(&self.modification)
            .or(rb);
        let events = Relation::set(n, |event| self.events[event].is_sequential());
        let fences = Relation::set(n, |event| {
            self.events[event].is_sequential() && self.events[event].kind == Kind::Fence
        });
        let left = events.or(&fences.then(&hb.maybe()));
        let right = events.or(&hb.maybe().then(&fences));
        let base = left.then(&scb).then(&right);
        let between = hb.or(&hb.then(eco).then(hb));
        base.or(&fences.then(&between).then(&fences))
    }

    /// Whether two accesses of a cell race.
    pub fn races(&self) -> bool {
        let hb = self.happens_before();
        let events = self.events.iter().enumerate();
        events.clone().any(|(first, a)| {
            events.clone().any(|(second, b)| match (a.kind, b.kind) {
                (Kind::Cell { cell, writes }, Kind::Cell { cell: other, writes: also }) => {
                    cell == other
                        && first != second
                        && (writes || also)
                        && !hb.has(first, second)
                        && !hb.has(second, first)
                }
                _ => false,
            })
        })
    }
}
