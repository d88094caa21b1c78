//! Limits on time and memory, and signals: the work is asked to stop, and ended if it does not.

use crate::args::LimitArgs;
use crate::{Status, allocator, memory, output};
use linchpin_verdict::{Limits, StopFlag, StopReason};
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often the limits are looked at.
const INTERVAL: Duration = Duration::from_millis(20);

/// How long the work may take to stop by itself.
const GRACE: Duration = Duration::from_secs(2);

/// What happened, and what to do about it, in the words of the command line.
pub fn describe(reason: StopReason) -> String {
    match reason {
        StopReason::Time => "stopped by --time-limit; allow more time, or ask for less".to_owned(),
        StopReason::Memory => "stopped by --memory-limit, which is half of the free memory unless \
                               given; allow more memory, or ask for less"
            .to_owned(),
        StopReason::Interrupt => "stopped by Ctrl-C or a signal".to_owned(),
        StopReason::Budget => reason.to_string(),
    }
}

/// What was asked for needs more than a limit allows: the command ends before the work,
/// inconclusive.
#[derive(Debug, thiserror::Error)]
#[error(
    "{what} needs {needed} bytes, but the memory limit is {most}; ask for less, or allow more with --memory-limit"
)]
pub struct TooLarge {
    what: String,
    needed: u64,
    most: u64,
}

/// Asks the work to stop.
#[derive(Clone)]
pub struct Stop {
    /// Set when the work should stop, with the reason.
    pub asked: StopFlag,
    /// Whether the work has come to nothing so far that would be worth waiting for.
    at_once: Arc<AtomicBool>,
    /// How much memory may be used, in bytes.
    memory: Option<u64>,
}

impl Stop {
    /// Starts to watch the limits. Work that does not stop by itself is ended: then `json`, the
    /// beginning of the object that scripts expect, is completed and written.
    pub fn watch(limits: &LimitArgs, json: Option<Map<String, Json>>) -> Stop {
        let stop = Stop {
            asked: StopFlag::default(),
            at_once: Arc::default(),
            memory: limits.memory_limit.or_else(|| memory::free().map(|free| free / 2)),
        };
        if let Some(object) = &json {
            allocator::set_last_words(completed(object.clone(), "out of memory"));
        }
        let on_signal = stop.clone();
        // A second handler cannot be installed; then the default one ends the process, which is
        // right too.
        let _ = ctrlc::set_handler(move || on_signal.asked.ask(StopReason::Interrupt));
        let (watcher, time) = (stop.clone(), limits.time_limit);
        let watching = move || watcher.watch_until_stopped(time, json);
        // There is no room for a thread: there will be none for the work either.
        if std::thread::Builder::new().spawn(watching).is_err() {
            allocator::out_of_memory();
        }
        stop
    }

    /// Why the work should stop; `None` while it should go on.
    pub fn reason(&self) -> Option<StopReason> {
        self.asked.reason()
    }

    /// What engines are given: they stop when they are asked to.
    pub fn limits(&self) -> Limits {
        Limits::until(self.asked.clone())
    }

    /// Does work that says nothing unless it is completed, like reading: if it should stop it is
    /// ended at once.
    pub fn ending_at_once<T>(&self, work: impl FnOnce() -> T) -> T {
        self.at_once.store(true, Ordering::Relaxed);
        let result = work();
        self.at_once.store(false, Ordering::Relaxed);
        result
    }

    /// An error if `what` needs more memory than the limit allows. To be asked before a table of a
    /// given size is made.
    pub fn affords(&self, what: &str, needed: u64) -> Result<(), TooLarge> {
        match self.memory {
            Some(most) if needed > most => Err(TooLarge { what: what.to_owned(), needed, most }),
            _ => Ok(()),
        }
    }

    fn watch_until_stopped(&self, time: Option<Duration>, json: Option<Map<String, Json>>) {
        let start = Instant::now();
        let reason = loop {
            if let Some(reason) = self.reason() {
                break reason;
            }
            if time.is_some_and(|limit| start.elapsed() >= limit) {
                self.asked.ask(StopReason::Time);
            }
            if let (Some(limit), Some(used)) = (self.memory, memory::in_use())
                && used > limit
            {
                self.asked.ask(StopReason::Memory);
            }
            std::thread::sleep(INTERVAL);
        };
        let asked = Instant::now();
        while asked.elapsed() < GRACE && !self.at_once.load(Ordering::Relaxed) {
            std::thread::sleep(INTERVAL);
        }
        let reason = describe(reason);
        if let Some(object) = json {
            // There is no one left to tell if this fails.
            let _ = output::write_stdout(&completed(object, &reason));
        }
        output::say(&format!("inconclusive: {reason}\n"));
        std::process::exit(Status::Inconclusive as i32);
    }
}

/// The object of a command that came to no answer.
pub fn completed(mut object: Map<String, Json>, reason: &str) -> String {
    object.insert("verdict".to_owned(), json!("inconclusive"));
    object.insert("reason".to_owned(), json!(reason));
    format!("{}\n", Json::Object(object))
}
