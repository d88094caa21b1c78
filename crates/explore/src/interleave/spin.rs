//! Loops that wait for others to write.
//!
//! A thread that pauses (`spin_loop`, `yield_now`) where it paused before, after it did exactly
//! what it did before that, is taken to be in a loop: the last two turns accessed the same places
//! at the same sites, with the same values read and written. A third turn would do the same as long
//! as what the turn read has not changed, so the next access of the thread waits until one of these
//! places holds another value ([`Spin::waits`]). A pause that is not in a loop costs nothing and
//! decides nothing. What is not explored: that a loop which counts its turns gives up while others
//! could still write.
//!
//! When no thread can go on, those that wait here are woken: a loop may give up after some turns.
//! If nothing has changed after [`FRUITLESS_TURNS`] turns, it is a deadlock.

use linchpin_sync::runtime::Site;

/// After so many turns of all loops in which nothing changes, nothing will.
pub(super) const FRUITLESS_TURNS: usize = 128;

/// The spin loops of one thread.
#[derive(Default)]
pub(super) struct Spin {
    /// What the thread did: accesses and pauses.
    past: Vec<Act>,
    /// The places that the last turn of the loop read, and what was in them: none if in no loop.
    pub(super) waits: Vec<(usize, u64)>,
}

#[derive(Clone, Copy)]
enum Act {
    Access { site: Site, place: usize, read: Option<u64>, wrote: Option<u64> },
    Pause(Site),
}

impl Spin {
    pub(super) fn clear(&mut self) {
        self.past.clear();
        self.waits.clear();
    }

    /// The thread accessed a place.
    pub(super) fn accessed(
        &mut self,
        site: Site,
        place: usize,
        read: Option<u64>,
        wrote: Option<u64>,
    ) {
        self.waits.clear();
        self.past.push(Act::Access { site, place, read, wrote });
    }

    /// The thread pauses: from now on it may wait.
    pub(super) fn paused(&mut self, site: Site) {
        // Several pauses in a row are one.
        if matches!(self.past.last(), Some(Act::Pause(_))) {
            return;
        }
        if let Some(start) = self.last_turn(site) {
            for act in &self.past[start..] {
                let Act::Access { place, read: Some(value), .. } = *act else { continue };
                if self.waits.iter().all(|&(other, _)| other != place) {
                    self.waits.push((place, value));
                }
            }
        }
        self.past.push(Act::Pause(site));
    }

    /// Where the last turn of a loop starts that pauses at this site, if the turn before was alike.
    fn last_turn(&self, site: Site) -> Option<usize> {
        let pause = self
            .past
            .iter()
            .rposition(|act| matches!(act, Act::Pause(other) if same_site(other, site)))?;
        let turn = &self.past[pause + 1..];
        let before = &self.past[pause.checked_sub(turn.len())?..pause];
        before.iter().zip(turn).all(|(a, b)| a.is_like(b)).then_some(pause + 1)
    }
}

impl Act {
    fn is_like(&self, other: &Act) -> bool {
        match (self, other) {
            (Act::Pause(a), Act::Pause(b)) => same_site(a, b),
            (
                Act::Access { site: a, place: p, read: r, wrote: w },
                Act::Access { site: b, place: q, read: s, wrote: x },
            ) => p == q && r == s && w == x && same_site(a, b),
            _ => false,
        }
    }
}

/// Whether two places in the source are one.
pub(super) fn same_site(a: Site, b: Site) -> bool {
    std::ptr::eq(a, b) || a == b
}
