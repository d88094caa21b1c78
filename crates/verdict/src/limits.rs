//! Limits on time and memory, and being asked to stop.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

/// What stopped an engine before it had an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// The time limit.
    Time,
    /// The memory limit.
    Memory,
    /// A person, by Ctrl-C or a signal, or a caller that needs no answer any more.
    Interrupt,
    /// A bound of the engine's own on the number of states or cases.
    Budget,
}

/// What happened, and what to try next.
impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StopReason::Time => "stopped by the time limit; allow more time, or ask for less",
            StopReason::Memory => "stopped by the memory limit; allow more memory, or ask for less",
            StopReason::Interrupt => "stopped: it was asked to",
            StopReason::Budget => "there are too many cases; ask for less",
        })
    }
}

/// Asks engines to stop, and says why. Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicU8>);

impl StopFlag {
    /// Asks every engine that watches this flag to stop; the first reason given is kept.
    pub fn ask(&self, reason: StopReason) {
        let code = 1 + reason as u8;
        // Relaxed: the flag guards no other data, engines only poll it.
        let _ = self.0.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Why to stop, once asked.
    pub fn reason(&self) -> Option<StopReason> {
        match self.0.load(Ordering::Relaxed) {
            1 => Some(StopReason::Time),
            2 => Some(StopReason::Memory),
            3 => Some(StopReason::Interrupt),
            4 => Some(StopReason::Budget),
            _ => None,
        }
    }
}

/// When to give up.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Stop at this instant.
    pub deadline: Option<Instant>,
    /// Stop when the search keeps about so many bytes.
    pub memory: Option<usize>,
    /// Stop when this is set.
    pub stop: Option<StopFlag>,
    /// Stop a search of a history after about so many configurations. They are counted, not timed,
    /// so that the same search stops at the same place.
    pub configurations: Option<u64>,
}

impl Limits {
    /// Limits that are only what `stop` says.
    pub fn until(stop: StopFlag) -> Limits {
        Limits { stop: Some(stop), ..Limits::default() }
    }

    /// Why to give up, if it is time to; `bytes` is about what the search keeps. Costs a system
    /// call: ask now and then.
    pub fn exceeded(&self, bytes: usize) -> Option<StopReason> {
        if let Some(reason) = self.stop.as_ref().and_then(StopFlag::reason) {
            return Some(reason);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Some(StopReason::Time);
        }
        if self.memory.is_some_and(|limit| bytes > limit) {
            return Some(StopReason::Memory);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_is_kept() {
        let stop = StopFlag::default();
        let limits = Limits::until(stop.clone());
        assert_eq!(limits.exceeded(usize::MAX), None);
        for reason in [StopReason::Memory, StopReason::Time, StopReason::Interrupt] {
            stop.ask(reason);
            assert_eq!(limits.exceeded(0), Some(StopReason::Memory));
        }
    }

    #[test]
    fn every_reason_survives_the_flag() {
        for reason in
            [StopReason::Time, StopReason::Memory, StopReason::Interrupt, StopReason::Budget]
        {
            let stop = StopFlag::default();
            stop.ask(reason);
            assert_eq!(stop.reason(), Some(reason));
        }
    }
}
