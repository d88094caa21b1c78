//! What an access of persistent memory does under control.

use super::LINE_BYTES;
use super::region::Region;
use crate::runtime::{self, Action, Identity, Memory, Place, PlaceKind, Runtime, Site};
use std::cell::RefCell;
use std::sync::atomic::Ordering;

/// The memory of a line, as a word: only the order of its stores matters. It has no size, so it can
/// be where the line is.
struct Nothing;

impl Memory for Nothing {
    fn get(&self) -> u64 {
        0
    }
    fn set(&self, _: u64) {}
}

/// The region of an address.
///
/// # Panics
///
/// If there is none.
#[track_caller]
fn region(address: usize, what: &str) -> (&'static Region, usize) {
    let Some(region) = Region::of(address) else {
        panic!("{what} is in no persistent pool: what is volatile does not survive a crash")
    };
    (region, address - region.base())
}

thread_local! {
    /// The threads of the execution that flushed something since their last fence.
    static FLUSHED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

fn note_flush(thread: usize) {
    FLUSHED.with_borrow_mut(|flushed| {
        if !flushed.contains(&thread) {
            flushed.push(thread);
        }
    });
}

/// Waits for what the thread flushed; a fence that has nothing to wait for is none.
fn wait(runtime: &dyn Runtime, site: Site) {
    let thread = runtime.current();
    let flushed = FLUSHED.with_borrow_mut(|flushed| {
        let known = flushed.iter().position(|other| *other == thread);
        known.map(|at| flushed.swap_remove(at)).is_some()
    });
    if flushed {
        runtime.fence(Ordering::SeqCst, site);
    }
}

/// An execution begins.
pub(super) fn begin() {
    FLUSHED.with_borrow_mut(Vec::clear);
}

/// Waits for what the thread flushed.
pub(super) fn fence(site: Site) {
    runtime::with(|runtime| wait(runtime, site));
}

/// Accesses a cell. Answers what was there before; nothing outside of control.
#[track_caller]
pub(super) fn access(memory: &dyn Memory, action: Action<'_>, site: Site) -> Option<u64> {
    if !runtime::is_controlled() {
        return None;
    }
    let address = std::ptr::from_ref(memory).cast::<u8>().addr();
    let (region, offset) = region(address, "a persistent cell");
    runtime::with(|runtime| {
        settle(runtime, region, offset, site);
        if matches!(action, Action::Update { .. }) {
            // It waits for what was flushed before it does anything: that this is an event of its
            // own adds no image that is not there without it.
            wait(runtime, site);
        }
        let (cell, line) = region.shadow().cell(offset);
        // SAFETY: identities stay where they are as long as the region does.
        let (cell, line) = unsafe { (&*cell, line.map(|line| &*line)) };
        let place = Place { identity: cell, memory, kind: PlaceKind::Persistent };
        match line {
            Some(line) => {
                let line = line_place(line, address / LINE_BYTES * LINE_BYTES);
                runtime.access_in_line(place, line, action, site)
            }
            None => runtime.access(place, action, site),
        }
    })
}

fn line_place(identity: &Identity, address: usize) -> Place<'_> {
    // SAFETY: a reference to a type without size may have any address but 0.
    let memory = unsafe { &*std::ptr::without_provenance::<Nothing>(address) };
    Place { identity, memory, kind: PlaceKind::Line }
}

/// Finds out what a crash left in a line.
fn settle(runtime: &dyn Runtime, region: &Region, offset: usize, site: Site) {
    let open = region.shadow().open(offset);
    if open > 0 {
        // No other thread runs between the question and its answer.
        let taken = runtime.choose(open, site);
        region.shadow().resolve(region, offset, taken);
    }
}

/// The lines that some bytes are in: offsets.
fn lines(offset: usize, bytes: usize) -> impl Iterator<Item = usize> {
    let first = offset / LINE_BYTES;
    let last = (offset + bytes.max(1) - 1) / LINE_BYTES;
    (first..=last).map(|line| line * LINE_BYTES)
}

/// Plain data is read without an access: what a crash left in it must be known before.
#[track_caller]
pub(super) fn read_plain(address: usize, bytes: usize, site: Site) {
    if !runtime::is_controlled() {
        return;
    }
    let (region, offset) = region(address, "a persistent object");
    for line in lines(offset, bytes) {
        runtime::with(|runtime| settle(runtime, region, line, site));
    }
}

/// Asks for lines to be written back.
#[track_caller]
pub(super) fn flush(address: usize, bytes: usize, site: Site) {
    if !runtime::is_controlled() {
        return;
    }
    let (region, offset) = region(address, "what is flushed");
    for line in lines(offset, bytes) {
        runtime::with(|runtime| {
            settle(runtime, region, line, site);
            let identity = region.shadow().line(line);
            if let Some(identity) = identity {
                note_flush(runtime.current());
                // SAFETY: identities stay where they are as long as the region does.
                let place = line_place(unsafe { &*identity }, region.base() + line);
                runtime.access_in_line(place, place, Action::Load(Ordering::SeqCst), site);
            }
        });
    }
}
