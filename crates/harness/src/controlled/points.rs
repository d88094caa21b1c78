//! Calls and returns as steps of an execution.
//!
//! They touch one place, so their order is part of the trace: no other real-time order is possible.

use linchpin_explore::{Event, EventKind};
use linchpin_sync::sync::atomic::{AtomicU64, Ordering};

/// A place that every call and every return touches, if these are steps.
pub(super) struct Points(Option<AtomicU64>);

impl Points {
    pub(super) const NONE: Points = Points(None);

    pub(super) fn new(are_steps: bool) -> Points {
        Points(are_steps.then(|| AtomicU64::new(0)))
    }

    /// A call is made, or returns.
    pub(super) fn step(&self) {
        if let Some(place) = &self.0 {
            place.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Whether an event is a call or a return that is a step.
pub(super) fn is_point(event: &Event) -> bool {
    // INVARIANT: this file makes no other access.
    let is_here = event.site.is_some_and(|site| site.file() == file!());
    is_here && matches!(event.kind, EventKind::Access { .. })
}
