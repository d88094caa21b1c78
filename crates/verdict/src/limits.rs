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
pub struct StopFlag {
    asked: Arc<AtomicU8>,
    parent: Option<Arc<StopFlag>>,
}

impl StopFlag {
    /// A flag that is asked where this one is, and can be asked alone: for one of several engines
    /// that look for the same answer.
    #[must_use]
    pub fn child(&self) -> StopFlag {
        StopFlag { asked: Arc::default(), parent: Some(Arc::new(self.clone())) }
    }

    /// Asks every engine that watches this flag to stop; the first reason given is kept.
    pub fn ask(&self, reason: StopReason) {
        let code = 1 + reason as u8;
        // Relaxed: the flag guards no other data, engines only poll it.
        let _ = self.asked.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Why to stop, once asked.
    pub fn reason(&self) -> Option<StopReason> {
        match self.asked.load(Ordering::Relaxed) {
            1 => Some(StopReason::Time),
            2 => Some(StopReason::Memory),
            3 => Some(StopReason::Interrupt),
            4 => Some(StopReason::Budget),
            _ => self.parent.as_ref()?.reason(),
        }
    }

    /// Why everything is to stop, not only what watches this child of a flag.
    fn reason_for_all(&self) -> Option<StopReason> {
        match &self.parent {
            Some(parent) => parent.reason_for_all(),
            None => self.reason(),
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
    /// Stop a search of a history after about so many configurations, one of a model after about so
    /// many states. They are counted, not timed, so that the same search stops at the same place.
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

    /// These limits for one of several engines that look for the same answer, and the flag that
    /// tells it when another has it.
    pub fn for_one_of_several(&self) -> (Limits, StopFlag) {
        let stop = self.stop.clone().unwrap_or_default().child();
        (Limits { stop: Some(stop.clone()), ..self.clone() }, stop)
    }

    /// Whether time is up or everything is to stop, and not only one of several engines.
    pub fn is_the_end(&self) -> bool {
        self.stop.as_ref().and_then(StopFlag::reason_for_all).is_some()
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
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
    fn a_child_is_asked_alone_or_with_its_parent() {
        let stop = StopFlag::default();
        let limits = Limits::until(stop.clone());
        let (one, ask) = limits.for_one_of_several();
        ask.ask(StopReason::Interrupt);
        assert_eq!(one.exceeded(0), Some(StopReason::Interrupt));
        assert!(!one.is_the_end() && limits.exceeded(0).is_none());
        let (other, _) = one.for_one_of_several();
        stop.ask(StopReason::Memory);
        assert_eq!(limits.exceeded(0), Some(StopReason::Memory));
        assert!(one.is_the_end() && other.is_the_end());
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
