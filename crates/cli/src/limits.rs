//! Limits on time and memory, and Ctrl-C: the work is asked to stop, and ended if it does not.

use crate::args::LimitArgs;
use crate::{Status, output};
use linchpin_history::STOPPED;
use linchpin_verdict::{StopFlag, StopReason};
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// How often the limits are looked at.
const INTERVAL: Duration = Duration::from_millis(20);

/// How long the work may take to stop by itself.
const GRACE: Duration = Duration::from_secs(2);

/// Why the work should stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Time = 1,
    Memory = 2,
    Interrupt = 3,
}

impl Reason {
    /// What happened, and what to do about it.
    pub fn describe(self) -> &'static str {
        match self {
            Reason::Time => "stopped by --time-limit; allow more time, or ask for less",
            Reason::Memory => "stopped by --memory-limit; allow more memory, or ask for less",
            Reason::Interrupt => "stopped by Ctrl-C",
        }
    }
}

/// Asks the work to stop.
#[derive(Clone)]
pub struct Stop {
    reason: Arc<AtomicU8>,
    flag: Arc<AtomicBool>,
    stop_flag: StopFlag,
    /// Whether the work has come to nothing so far that would be worth waiting for.
    at_once: Arc<AtomicBool>,
}

impl Stop {
    /// Starts to watch the limits. Work that does not stop by itself is ended: then `json`, the beginning of the object that scripts expect, is
    /// completed and written.
    pub fn watch(limits: &LimitArgs, json: Option<Map<String, Json>>) -> Stop {
        let stop = Stop {
            reason: Arc::default(),
            flag: Arc::default(),
            stop_flag: StopFlag::default(),
            at_once: Arc::default(),
        };
        let on_interrupt = stop.clone();
        // A second handler cannot be installed; then the default one ends the process, which is right too.
        let _ = ctrlc::set_handler(move || on_interrupt.ask(Reason::Interrupt));
        let (watcher, limits) = (stop.clone(), limits.clone());
        std::thread::spawn(move || watcher.watch_until_stopped(&limits, json));
        stop
    }

    /// Why the work should stop; `None` while it should go on.
    pub fn reason(&self) -> Option<Reason> {
        match self.reason.load(Ordering::Relaxed) {
            1 => Some(Reason::Time),
            2 => Some(Reason::Memory),
            3 => Some(Reason::Interrupt),
            _ => None,
        }
    }

    /// Why an engine gave up, in words: where it only says that it was told to, who told it and what to do about it.
    pub fn explain(&self, why: &str) -> String {
        match self.reason() {
            Some(reason) if why == STOPPED => reason.describe().to_owned(),
            _ => why.to_owned(),
        }
    }

    /// Does work that says nothing unless it is completed, like reading: if it should stop it is ended at once.
    pub fn ending_at_once<T>(&self, work: impl FnOnce() -> T) -> T {
        self.at_once.store(true, Ordering::Relaxed);
        let result = work();
        self.at_once.store(false, Ordering::Relaxed);
        result
    }

    /// Set when the work should stop, for engines that know nothing of reasons.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.flag.clone()
    }

    /// The same for engines that know reasons.
    pub fn stop_flag(&self) -> StopFlag {
        self.stop_flag.clone()
    }

    fn ask(&self, reason: Reason) {
        self.stop_flag.ask(match reason {
            Reason::Time => StopReason::Time,
            Reason::Memory => StopReason::Memory,
            Reason::Interrupt => StopReason::Interrupt,
        });
        self.flag.store(true, Ordering::Relaxed);
        let _ = self.reason.compare_exchange(0, reason as u8, Ordering::Relaxed, Ordering::Relaxed);
    }

    fn watch_until_stopped(&self, limits: &LimitArgs, json: Option<Map<String, Json>>) {
        let start = Instant::now();
        while self.reason().is_none() {
            if limits.time_limit.is_some_and(|limit| start.elapsed() >= limit) {
                self.ask(Reason::Time);
            }
            if let (Some(limit), Some(used)) = (limits.memory_limit, memory_in_use())
                && used > limit
            {
                self.ask(Reason::Memory);
            }
            std::thread::sleep(INTERVAL);
        }
        let asked = Instant::now();
        while asked.elapsed() < GRACE && !self.at_once.load(Ordering::Relaxed) {
            std::thread::sleep(INTERVAL);
        }
        let reason = self.reason().map_or("", Reason::describe);
        if let Some(mut object) = json {
            object.insert("verdict".to_owned(), json!("inconclusive"));
            object.insert("reason".to_owned(), json!(reason));
            // Nobody is left to tell if this fails.
            let _ = output::write_stdout(&format!("{}\n", Json::Object(object)));
        }
        eprintln!("inconclusive: {reason}");
        std::process::exit(Status::Inconclusive as i32);
    }
}

/// Resident memory of this process in bytes, where the system tells.
fn memory_in_use() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let resident: u64 = pages.split_whitespace().nth(1)?.parse().ok()?;
    Some(resident * 4096)
}
