//! Spin loops: a thread that pauses has nothing to do until it can read something else.
//!
//! The rule: a thread waits at a pause if it has paused there before, has read since its last
//! pause, and has read nothing *new* since then. New is what another thread wrote (or the initial
//! value) and this thread had not read before its last pause. An update that writes what it read
//! changes nothing: one who reads it reads what it read. So `while flag.load() == 0 { spin_loop()
//! }` and `while lock.swap(1) == 1 { spin_loop() }` go round at most once for each write of another
//! thread, and a write that comes later can serve the last reads of a thread that waits.
//!
//! A thread that waits at the end although something newer was there to be read is no execution:
//! memory is fair. If all it read is the newest, and no other thread can go on, it goes on after
//! all, because it may count how often it has tried; only one that has paused [`PATIENCE`] times
//! waits for ever. What a thread does that loses patience earlier is not covered.

use super::clock::EventId;
use super::graph::Source;
use super::label::Label;
use super::run::State;
use super::visit::Visit;
use crate::threads::Request;
use linchpin_sync::runtime::Site;

/// How often a thread pauses in one place before it is said to wait for ever.
const PATIENCE: usize = 128;

/// Whether a thread that waits at a pause may try again, if no other thread can go on.
pub(super) fn may_try_again(visit: &Visit<'_>, thread: u32) -> bool {
    let State::Asks(request) = &visit.run.lanes[thread as usize].state else { return false };
    let Request::Pause { site } = **request else { return false };
    let pauses = visit
        .graph
        .events(thread)
        .iter()
        .filter(|event| matches!(event.label, Label::Pause) && event.site == Some(site));
    pauses.count() < PATIENCE
}

/// How many events of a thread that waits at a pause are worth showing: of the rounds at its end
/// that are all alike, only two.
pub(super) fn worth_showing(visit: &Visit<'_>, thread: u32) -> usize {
    let events = visit.graph.events(thread);
    let mut ends: Vec<usize> = vec![events.len()];
    let pauses = (0..events.len()).rev().filter(|at| matches!(events[*at].label, Label::Pause));
    ends.extend(pauses.chain([0]));
    let round = |end: usize, start: usize| {
        events[start..end].iter().filter(|event| event.label != Label::Pause).map(|event| {
            let mut source = match event.label {
                Label::Read { from, .. } => from,
                _ => None,
            };
            // Of what changes nothing, only that of the thread itself is left out with its rounds.
            let is_own = |write: &EventId| write.thread == thread && is_silent(visit, *write);
            while let Some(write) = source.filter(is_own) {
                source = visit.graph.source_of_update(write);
            }
            (event.site, event.label.location(), source)
        })
    };
    let is_alike = |at: usize| {
        at + 2 < ends.len() && round(ends[at], ends[at + 1]).eq(round(ends[at + 1], ends[at + 2]))
    };
    let alike = (0..ends.len()).take_while(|at| is_alike(*at)).count();
    // One round more than those that are like the one before, less the two that are shown.
    ends[alike.saturating_sub(1)]
}

/// Whether a thread that pauses here has to wait.
pub(super) fn waits(visit: &Visit<'_>, thread: u32, site: Site) -> bool {
    let events = visit.graph.events(thread);
    let pauses = |label| matches!(label, Label::Pause);
    let mut earlier = events.iter().filter(|event| pauses(event.label));
    if !earlier.any(|event| event.site == Some(site)) {
        return false;
    }
    let start = events.iter().rposition(|event| pauses(event.label)).map_or(0, |last| last + 1);
    let reads = reads(visit, thread, start);
    let before = &events[..start];
    let is_new = |(location, source): &(u32, Source)| {
        let is_own = source.is_some_and(|id| id.thread == thread);
        let is_known = || {
            before.iter().any(|event| match event.label {
                Label::Read { location: other, from, .. } => {
                    other == *location && origin(visit, from) == *source
                }
                _ => false,
            })
        };
        !is_own && !is_known()
    };
    !reads.is_empty() && !reads.iter().any(is_new)
}

/// Whether a thread that waits at a pause could read something newer.
pub(super) fn is_stale(visit: &Visit<'_>, thread: u32) -> bool {
    let events = visit.graph.events(thread);
    let last = events.iter().rposition(|event| matches!(event.label, Label::Pause));
    reads(visit, thread, last.map_or(0, |last| last + 1)).iter().any(|(location, source)| {
        let position = visit.graph.position(*location, *source);
        let newer = &visit.graph.locations[*location as usize].writes[position..];
        newer.iter().any(|write| write.thread != thread && !is_silent(visit, *write))
    })
}

/// What a thread has read since one of its events, and where.
fn reads(visit: &Visit<'_>, thread: u32, start: usize) -> Vec<(u32, Source)> {
    let events = visit.graph.events(thread)[start..].iter();
    events
        .filter_map(|event| match event.label {
            Label::Read { location, from, .. } => Some((location, origin(visit, from))),
            _ => None,
        })
        .collect()
}

/// What is read, behind updates that change nothing.
fn origin(visit: &Visit<'_>, mut source: Source) -> Source {
    while let Some(write) = source.filter(|write| is_silent(visit, *write)) {
        source = visit.graph.source_of_update(write);
    }
    source
}

/// Whether a write is that of an update that writes what it read.
fn is_silent(visit: &Visit<'_>, write: EventId) -> bool {
    let words = visit.run.lanes[write.thread as usize].words[write.index as usize];
    visit.graph.event(write).label.is_update_write() && words.read == words.wrote
}
