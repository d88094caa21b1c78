//! What went wrong, in loom's words: tests expect them.

use linchpin_explore::{Event, EventKind, Execution, Problem};
use linchpin_sync::runtime::{CellAccess, PlaceKind, Resource, Site};
use std::fmt::Write;

/// What a model panics with.
pub(crate) fn message(execution: &Execution, with_trace: bool) -> String {
    let mut message =
        execution.problem.as_ref().map_or_else(String::new, |problem| match problem {
            Problem::Panicked { thread, message } => format!("{message}\n\nin thread {thread}"),
            Problem::Deadlock { waiting } => {
                let waiting: Vec<_> = waiting
                    .iter()
                    .map(|waiting| {
                        format!("\n  {}", waiting.told(&|thread| format!("thread {thread}")))
                    })
                    .collect();
                format!("deadlock; threads = [{}\n]", waiting.concat())
            }
            Problem::Race { first, first_site, second, second_site } => {
                race(execution, (*first, first_site), (*second, second_site))
            }
            Problem::Leaked { what: Resource::Arc, site } => {
                format!("Arc leaked.\n  Allocated: {site}")
            }
            Problem::Leaked { site, .. } => format!("Allocation leaked.\n  Allocated: {site}"),
            Problem::UsedAfterFree { what: Resource::Arc, .. } => {
                format!("Arc is already released: {problem}")
            }
            Problem::TooLong { .. } => {
                format!(
                    "Model exceeded maximum number of branches. This is often caused \
                     by an algorithm requiring the processor to make progress, e.g. spin locks.\n\
                     {problem}"
                )
            }
            Problem::UsedAfterFree { .. } | Problem::Nondeterministic { .. } => problem.to_string(),
        });
    if with_trace {
        message.push_str("\n\nThe execution:\n");
        for event in &execution.events {
            trace(&mut message, event, &execution.places);
        }
    } else {
        message.push_str("\n\nLOOM_LOG=1 shows the execution.\n");
    }
    message
}

/// A data race. Which access reads is not in the problem, but in the last events.
fn race(execution: &Execution, first: (usize, &Site), second: (usize, &Site)) -> String {
    let access = |(thread, site): (usize, &Site)| {
        let events = execution.events.iter().rev();
        let mut events = events.filter(|event| event.thread == thread && event.site == Some(*site));
        events.find_map(|event| match event.kind {
            EventKind::Cell { access, .. } => Some(access),
            _ => None,
        })
    };
    let what = match (access(first), access(second)) {
        (_, Some(CellAccess::Read)) => "read and write accesses.",
        (Some(CellAccess::Read), _) => "read and write accesses to `UnsafeCell`.",
        _ => "write accesses to `UnsafeCell`.",
    };
    format!(
        "Causality violation: Concurrent {what}\n  thread #{} @ {}\n  thread #{} @ {}",
        first.0, first.1, second.0, second.1
    )
}

/// A line of the trace.
fn trace(text: &mut String, event: &Event, places: &[PlaceKind]) {
    let what = match &event.kind {
        EventKind::Access { place, read, wrote, .. } => {
            let kind = places.get(*place).copied().unwrap_or(PlaceKind::Other);
            let value = |value: &Option<u64>| value.map(|value| format!("{value:#x}"));
            match (value(read), value(wrote)) {
                (Some(read), Some(wrote)) => format!("{kind:?} #{place}: {read} -> {wrote}"),
                (Some(read), None) => format!("{kind:?} #{place}: reads {read}"),
                (None, Some(wrote)) => format!("{kind:?} #{place}: stores {wrote}"),
                (None, None) => format!("{kind:?} #{place}"),
            }
        }
        EventKind::Fence(order) => format!("fence {order:?}"),
        EventKind::Cell { cell, access } => format!("cell #{cell}: {access:?}"),
        EventKind::Pause => "pauses".to_string(),
        EventKind::Choose { taken, alternatives } => format!("takes {taken} of {alternatives}"),
        EventKind::Spawn { thread } => format!("starts thread {thread}"),
        EventKind::Mark(mark) => format!("mark {mark}"),
    };
    let site = event.site.map(ToString::to_string).unwrap_or_default();
    // Writing to a string does not fail.
    let _ = writeln!(text, "  thread {}: {what}  {site}", event.thread);
}
