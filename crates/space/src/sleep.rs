//! Sleep sets: threads that need not move in a state, because what they do there was or will be done
//! in another order (P. Godefroid, *Partial-Order Methods for the Verification of Concurrent
//! Systems*, 1996).
//!
//! Let `p` be a state that was expanded, `b` a transition of one thread that leads from it to `s`,
//! and `a` another thread whose transitions at `p` *commute* with `b`. Then each transition of `a`
//! from `s` leads to where it and `b` lead from `p` in the other order. So `a` need not move in
//! `s`: it is *asleep* there, if its *place* at `p` comes before that of the thread of `b`.
//!
//! **Why every state is still found.** Claim: whatever a thread's transition leads to, from a state
//! that was expanded, is found or covered. It is shown for places from the last to the first, and
//! for states of one place in the order in which they were found. If `a` moves in `s`, there is
//! nothing to show. Otherwise take `p` and `b` as above. `p` was found before `s`, and `a` is at
//! the same place in both: so where `a` leads from `p`, some `q`, is found or covered. The place of
//! `b` comes later, and is the same in `q`: so where `b` leads from `q` is found or covered, and
//! that is where `a` leads from `s`. Nothing that goes wrong is missed, nor found later: if `a`
//! goes wrong in `s`, it does in `p`.
//!
//! One such `p` for each thread that sleeps is enough: so a thread sleeps if *any* of the ways that
//! lead to `s`, before it is expanded, allows it. And `a` moves at `p`, so the lines that it would
//! execute are executed.
//!
//! **When transitions commute.** If neither writes what the other looks at or writes, each does the
//! same before and after the other. [`Footprint`] is what all transitions of a thread touch, also
//! those that turn out to be impossible. Of a thread that sleeps it is not known. Besides:
//!
//! - *Events.* If one of the two has none there is nothing to compare. Two responses can change
//!   places. A response before a call leaves fewer orders of operations to explain a history than
//!   one after it, so that order covers the other. A thread that sleeps makes no call, because idle
//!   threads come last. Claimed points keep their places among all events.
//! - *Where a transition ends.* It takes steps along that concern no other thread. What concerns no
//!   other thread goes on to do so: an object that others cannot reach they still cannot reach,
//!   and what lasts, lasts. But a step that did concern others may not do so any more, when the
//!   last of them lets go of an object. So what ended a transition must be a step that concerns
//!   others by its code alone, or one on an object that the shared variables lead to, through
//!   fields that they keep from being dropped, beside a transition that writes nothing ([`End`]).
//!   And no steps of other threads may have been taken along (`others.rs`). Then the transition
//!   leads to the same before and after what commutes with it.

use crate::bounds::Bounds;
use crate::code::Class;
use crate::event::Event;
use crate::execute::{Access, Trail};
use crate::flat::Flat;
use crate::layout::{NODE, STATUS};
use crate::space::Space;
use crate::successors::{MAX_TOGETHER, Successors};
use linchpin_ir::interpreter::Memory;
use smallvec::SmallVec;

/// A set of threads: a bit each. Threads with higher numbers than there are bits never sleep.
pub type ThreadSet = u16;

/// Where a thread is in the order of places: idle threads come last.
type Place = (bool, i64, i64);

/// What all transitions of a thread from a state touch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Footprint {
    /// A bit for some words: with no bit in common, two threads touch different words.
    reads: u64,
    writes: u64,
    calls: bool,
    responds: bool,
    /// Whether there are events besides calls and responses.
    tells_more: bool,
    end: End,
    place: Place,
}

/// Where transitions of a thread end after steps of another that touch different words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    /// Where they do without.
    #[default]
    There,
    /// The same, if nothing is written.
    IfNothingIsWritten,
    /// Perhaps elsewhere.
    Anywhere,
}

impl Footprint {
    /// Notes an access.
    fn note(&mut self, access: &Access) {
        let Access { class, object, write, refused } = *access;
        let class = match class {
            Class::Shared(variable) => variable * 2,
            Class::Field(of, field) => (of * 64 + field) * 2 + 1,
        };
        let word = (class as u64) << 32 | object.map_or(0, |object| object as u64 + 1);
        let bit = 1 << (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58);
        // A `cas` that finds something else has only looked.
        match write && refused.is_none() {
            true => self.writes |= bit,
            false => self.reads |= bit,
        }
    }

    fn note_events(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::Call { .. } => self.calls = true,
                Event::Return { .. } => self.responds = true,
                _ => self.tells_more = true,
            }
        }
    }

    /// Notes where a transition ends.
    pub fn ends(&mut self, end: End) {
        self.end = self.end.max(end);
    }

    fn ends_there(&self, other: &Footprint) -> bool {
        self.end == End::There || self.end == End::IfNothingIsWritten && other.writes == 0
    }

    fn is_silent(&self) -> bool {
        !(self.calls || self.responds || self.tells_more)
    }

    /// Whether a thread may sleep after a transition of this one.
    fn lets_sleep(&self, other: &Footprint) -> bool {
        let touches = |one: &Footprint, two: &Footprint| one.writes & (two.reads | two.writes) != 0;
        // A thread that sleeps is in the middle of an operation, so it is no call that is put off.
        let in_order =
            self.is_silent() || other.is_silent() || !(self.tells_more || other.tells_more);
        other.place < self.place
            && in_order
            && self.ends_there(other)
            && other.ends_there(self)
            && !(touches(self, other) || touches(other, self))
    }
}

impl Successors<'_> {
    /// Begins the footprint of a thread.
    pub fn begin_footprint(&mut self, flat: &Flat, thread: usize) {
        let region = self.space.form.layout.thread(thread);
        let (status, node) = (flat.words[region + STATUS], flat.words[region + NODE]);
        let place = (status == 0, status, node);
        self.footprint = Footprint { place, ..Footprint::default() };
    }

    /// Notes the accesses of a step, whatever came of it.
    pub fn note_accesses(&mut self, trail: &Trail) {
        for access in &trail.accesses {
            // Objects that were made on the way are not there for others.
            if access.object.is_none_or(|object| object < self.objects) {
                self.footprint.note(access);
            }
        }
    }

    /// Ends it. In a space where steps commute for other reasons, or names of objects matter, no
    /// thread sleeps.
    pub fn end_footprint(&mut self) {
        let space = self.space;
        if !space.commutes() || space.passing.only_new && self.footprint.calls {
            self.footprint.ends(End::Anywhere);
        }
        self.workspace.sleepers.0.push(self.footprint);
    }

    /// Notes where a transition ends.
    pub fn note_end(&mut self) {
        self.footprint.note_events(&self.events);
        if self.actions.len() > MAX_TOGETHER {
            self.footprint.ends(End::Anywhere);
        }
    }

    /// Where a transition ends that ended because a step was found to concern other threads: this
    /// one, or the one after it.
    pub fn end_before(&mut self, before: &Flat, thread: usize, trail: &Trail) -> End {
        let (space, mut known) = (self.space, false);
        if !space.reductions.partial_order || !trail.passed.is_empty() && !space.ignores_points {
            return End::There;
        }
        let mut end = |access: &Access| {
            let Access { class, object, write, refused } = access;
            let classes = if *write { &space.privacy.touched } else { &space.privacy.written };
            if refused.is_some() || classes[thread].binary_search(class).is_err() {
                return End::Anywhere;
            }
            let settles = space.privacy.once.binary_search(class).is_ok();
            match *object {
                None if !settles => End::There,
                None => End::IfNothingIsWritten,
                Some(object) => {
                    if !known {
                        space.form.find_kept(before, &mut self.workspace.kept);
                        known = true;
                    }
                    match self.workspace.kept.reaches(object) {
                        true => End::IfNothingIsWritten,
                        false => End::Anywhere,
                    }
                }
            }
        };
        trail.accesses.iter().map(&mut end).min().unwrap_or(End::Anywhere)
    }
}

impl Space {
    /// Whether steps that touch different words can change places: not if memory is used again or
    /// objects are counted or have names that matter, nor where anything crashes.
    fn commutes(&self) -> bool {
        let Bounds { memory, objects, .. } = self.bounds;
        memory == Memory::Collected
            && objects.is_none()
            && !self.bounds.has_crashes()
            && self.reductions.canonical_heap
    }
}

/// For each thread of the state that was looked at last, those that may sleep after its
/// transitions.
#[derive(Debug, Default)]
pub(crate) struct Sleepers(pub SmallVec<[Footprint; 8]>);

impl Sleepers {
    /// The threads that may sleep after a transition of this one.
    pub fn after(&self, thread: usize) -> ThreadSet {
        let Some(mover) = self.0.get(thread) else { return 0 };
        if mover.end == End::Anywhere {
            return 0;
        }
        let others = self.0.iter().take(ThreadSet::BITS as usize - 1).enumerate();
        let asleep = others.filter(|(_, other)| mover.lets_sleep(other));
        asleep.fold(0, |set, (other, _)| set | 1 << other)
    }
}
