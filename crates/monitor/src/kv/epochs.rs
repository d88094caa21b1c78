//! Epochs: the beginning and every put, and which of them a get may show.
//!
//! A put is overwritten for good before some operation is called if another put was called after it
//! returned and has returned itself. What a get shows was neither called too late nor overwritten.

use super::log::{AT_THE_END, At, BEGINNING, Instant, Known, Role};
use super::reading::Node;
use crate::poll::{StopPoll, StopReason};

/// An epoch that a get may belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) put: At,
    pub(super) node: Node,
}

/// Where the gets may belong.
pub(super) struct Places {
    places: Vec<Place>,
    /// For each operation where its places end.
    ends: Vec<u32>,
}

/// Why no epoch is left for a get, or that there are too many.
#[derive(Clone, Debug)]
pub(super) enum Misplaced {
    /// Each put that it may show was overwritten for good, or called too late.
    Nowhere(At),
    TooMany,
}

/// So many places for all gets together, times the gets, are looked at.
const MOST_PLACES_A_GET: usize = 16;

impl Places {
    /// The places of a get.
    pub(super) fn of(&self, get: At) -> &[Place] {
        let get = get as usize;
        let start = get.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.places[start as usize..self.ends[get] as usize]
    }

    /// Finds the places of all gets that have returned.
    pub(super) fn find(
        known: &Known<'_>,
        poll: &StopPoll,
    ) -> Result<Result<Places, Misplaced>, StopReason> {
        let log = known.log;
        let bounds = Bounds::new(known, poll)?;
        let mut places =
            Places { places: Vec::new(), ends: Vec::with_capacity(known.count as usize) };
        let (mut looked_at, mut too_many) = (0usize, false);
        // Of the gets that are nowhere, the one that returned first: so the answer is the same for
        // the whole log as for what was known by then.
        let mut nowhere: Option<At> = None;
        for get in 0..known.count {
            poll.step()?;
            let start = places.places.len();
            if matches!(log[get].role, Role::Get(..)) && known.is_completed(get) {
                for reading in log.readings(get) {
                    let last = bounds.last_put_before(get, reading.node);
                    for put in log.puts.since(reading.base, known.call(last)) {
                        looked_at += 1;
                        if put >= known.count || log[put].call > log[get].returned {
                            break;
                        }
                        if bounds.fits_after(last, get, put, reading.node).is_ok() {
                            places.places.push(Place { put, node: reading.node });
                        }
                    }
                }
                let is_read = !log.readings(get).is_empty();
                if is_read && places.places.len() == start {
                    let first = |other: At| log[get].returned < log[other].returned;
                    nowhere = if nowhere.is_none_or(first) { Some(get) } else { nowhere };
                }
                too_many |= looked_at > MOST_PLACES_A_GET * (known.count as usize + 64);
                if too_many {
                    return Ok(Err(nowhere.map_or(Misplaced::TooMany, Misplaced::Nowhere)));
                }
            }
            places.ends.push(places.places.len() as u32);
        }
        Ok(nowhere.map_or(Ok(places), |get| Err(Misplaced::Nowhere(get))))
    }
}

/// Why a get does not show a put.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unfit {
    /// It, or what it shows after the put, returned before the put was called.
    Late,
    /// It, or what it shows after the put, was called when this put had overwritten it for good.
    Overwritten(At),
}

/// Within which time the operations took effect that a node shows.
pub(super) struct Bounds<'k, 'l> {
    known: &'k Known<'l>,
    /// For each node the first instant by which one of the appends that it shows had returned,
    /// whichever of the calls with the same piece they were.
    returned: Vec<Instant>,
}

impl<'k, 'l> Bounds<'k, 'l> {
    pub(super) fn new(known: &'k Known<'l>, poll: &StopPoll) -> Result<Self, StopReason> {
        let tree = &known.log.tree;
        let mut returned: Vec<Instant> = Vec::with_capacity(tree.len());
        for node in 0..tree.len() as Node {
            poll.step()?;
            returned.push(match tree.parent(node) {
                None => AT_THE_END,
                Some(parent) => {
                    let appends = known.appends(tree.token(node));
                    let own = match appends {
                        [one] => known.returned(*one),
                        // why: of few calls the latest return is looked up; many may be late.
                        few if few.len() <= 4 => {
                            few.iter().map(|at| known.returned(*at)).max().unwrap_or(AT_THE_END)
                        }
                        _ => AT_THE_END,
                    };
                    own.min(returned[parent as usize])
                }
            });
        }
        Ok(Bounds { known, returned })
    }

    /// Of the puts that had returned before all that a get shows was called, and it itself, the one
    /// that was called last.
    fn last_put_before(&self, get: At, node: Node) -> At {
        let log = self.known.log;
        log.last_put_before(self.known.call(get).max(log.called[node as usize]))
    }

    /// Whether a get may show this put, and then what the node says.
    pub(super) fn fits(&self, get: At, put: At, node: Node) -> Result<(), Unfit> {
        self.fits_after(self.last_put_before(get, node), get, put, node)
    }

    fn fits_after(&self, last: At, get: At, put: At, node: Node) -> Result<(), Unfit> {
        let known = self.known;
        let by = known.returned(get).min(self.returned[node as usize]);
        if by < known.call(put) {
            return Err(Unfit::Late);
        }
        match last != BEGINNING && known.returned(put) < known.call(last) {
            true => Err(Unfit::Overwritten(last)),
            false => Ok(()),
        }
    }
}
