//! What an access does, in words: what people know is a lock, not the word that it is made of.

use linchpin_explore::{Event, EventKind, Execution};
use linchpin_sync::runtime::PlaceKind;

/// The high half of the word of a condition variable: who was notified. The low half is who waits.
const NOTIFIED: u64 = 0xffff_ffff << 32;

/// What the access of a lock, a condition variable or a parked thread does, if it is one.
pub(super) fn synchronizes(execution: &Execution, at: usize) -> Option<&'static str> {
    let event = &execution.events[at];
    let EventKind::Access { place, read, wrote, .. } = event.kind else { return None };
    match (execution.places.get(place)?, read, wrote) {
        (PlaceKind::Mutex, Some(0), Some(1)) => Some("locks"),
        (PlaceKind::Mutex, _, Some(0)) => Some("unlocks"),
        (PlaceKind::Mutex, Some(1), None) => Some("finds it locked"),
        (PlaceKind::RwLock, Some(0), Some(u64::MAX)) => Some("locks"),
        (PlaceKind::RwLock, Some(old), Some(new)) if new > old => Some("locks to read"),
        (PlaceKind::RwLock, _, Some(_)) => Some("unlocks"),
        (PlaceKind::RwLock, Some(_), None) => Some("finds it locked"),
        (PlaceKind::Condvar, Some(old), Some(new)) => {
            Some(match (new & NOTIFIED).cmp(&(old & NOTIFIED)) {
                std::cmp::Ordering::Greater => "notifies",
                _ if new & !NOTIFIED > old & !NOTIFIED => "begins to wait",
                _ => "ends its wait",
            })
        }
        (PlaceKind::Condvar, Some(_), None) if waits(execution, at, event, place) => {
            Some("is notified")
        }
        (PlaceKind::Condvar, Some(_), None) => Some("finds no thread to notify"),
        (PlaceKind::Park, Some(1), Some(0)) => Some("was unparked"),
        (PlaceKind::Park, _, Some(1)) => Some("unparks it"),
        _ => None,
    }
}

/// Whether the last that a thread did at a condition variable was to begin to wait.
fn waits(execution: &Execution, at: usize, event: &Event, place: usize) -> bool {
    let earlier = execution.events[..at].iter().rev().filter(|other| other.thread == event.thread);
    let mut there = earlier.filter_map(|other| match other.kind {
        EventKind::Access { place: of, read, wrote, .. } if of == place => Some((read, wrote)),
        _ => None,
    });
    there.next().is_some_and(|(read, wrote)| {
        let low = |word: Option<u64>| word.unwrap_or(0) & !NOTIFIED;
        low(wrote) > low(read)
    })
}
