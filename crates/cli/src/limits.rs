//! Limits on time and memory, and signals: the work is asked to stop, and ended if it does not.

use crate::args::LimitArgs;
use crate::{Status, allocator, memory, output};
use linchpin_verdict::{Limits, StopFlag, StopReason, Verdict};
use serde_json::{Map, Value as Json, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How often the limits are looked at.
const INTERVAL: Duration = Duration::from_millis(20);

/// How long the work may take to stop by itself.
const GRACE: Duration = Duration::from_secs(2);

/// How long it may take if it polls often.
const SHORT_GRACE: Duration = Duration::from_millis(150);

/// About how long the system takes to take back a gigabyte when the process ends.
const ENDING: Duration = Duration::from_millis(80);

/// Of the memory that may be used, what is kept beside what the engines count.
const UNCOUNTED: u64 = 5;

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
    /// Whether the work stops soon after it is asked to.
    stops_soon: Arc<AtomicBool>,
    /// What is wrong for sure, whatever else would be found.
    found: Arc<OnceLock<String>>,
    /// What is written to standard output if the work has to be ended: what it has found so far.
    so_far: Arc<Mutex<String>>,
    /// When the time is up.
    deadline: Option<Instant>,
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
            stops_soon: Arc::default(),
            found: Arc::default(),
            so_far: Arc::default(),
            deadline: limits.time_limit.map(|limit| Instant::now() + limit),
            memory: limits.memory_limit.or_else(|| memory::free().map(|free| free / 2)),
        };
        if let Some(object) = &json {
            allocator::set_last_words(completed(
                object.clone(),
                Verdict::Inconclusive,
                "out of memory",
            ));
        }
        let on_signal = stop.clone();
        // A second handler cannot be installed; then the default one ends the process, which is
        // right too.
        let _ = ctrlc::set_handler(move || on_signal.asked.ask(StopReason::Interrupt));
        let watcher = stop.clone();
        let watching = move || watcher.watch_until_stopped(json);
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

    /// How much memory may be used, in bytes.
    pub fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// What engines are given: they stop when they are asked to.
    pub fn limits(&self) -> Limits {
        Limits::until(self.asked.clone())
    }

    /// Does work that polls often and counts what it keeps: it is given the limits themselves, of
    /// which memory is what is not in use yet, and is ended soon if it does not keep to them.
    pub fn within_limits<T>(&self, work: impl FnOnce(Limits) -> T) -> T {
        self.stops_soon.store(true, Ordering::Relaxed);
        let result = work(self.exact_limits());
        self.stops_soon.store(false, Ordering::Relaxed);
        result
    }

    /// What one of so many engines that work beside each other is given: its share of the memory
    /// that is not in use yet.
    pub fn share(&self, of: usize) -> Limits {
        let limits = self.exact_limits();
        Limits { memory: limits.memory.map(|memory| memory / of.max(1)), ..limits }
    }

    fn exact_limits(&self) -> Limits {
        let left = self.memory.map(|most| most.saturating_sub(memory::in_use().unwrap_or(0)));
        let memory = left.map(|left| left - left / UNCOUNTED);
        Limits {
            deadline: self.deadline,
            memory: memory.map(|memory| usize::try_from(memory).unwrap_or(usize::MAX)),
            ..self.limits()
        }
    }

    /// Writes down what is wrong for sure: it is said even if the work has to be ended.
    pub fn found(&self, words: String) {
        // The first will do.
        let _ = self.found.set(words);
    }

    /// What has been found so far, in place of what was said of it before: it is written to
    /// standard output if the work has to be ended.
    pub fn so_far(&self, words: String) {
        *self.so_far.lock().unwrap_or_else(PoisonError::into_inner) = words;
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

    /// How long the work may take to stop.
    fn grace(&self) -> Duration {
        if self.at_once.load(Ordering::Relaxed) {
            return Duration::ZERO;
        }
        if self.stops_soon.load(Ordering::Relaxed) { SHORT_GRACE } else { GRACE }
    }

    fn watch_until_stopped(&self, json: Option<Map<String, Json>>) {
        let reason = loop {
            if let Some(reason) = self.reason() {
                break reason;
            }
            let used = memory::in_use().unwrap_or(0);
            if self.deadline.is_some_and(|deadline| Instant::now() + ending(used) >= deadline) {
                self.asked.ask(StopReason::Time);
            }
            if self.memory.is_some_and(|limit| used > limit) {
                self.asked.ask(StopReason::Memory);
            }
            std::thread::sleep(INTERVAL);
        };
        let asked = Instant::now();
        while asked.elapsed() < self.grace() {
            std::thread::sleep(INTERVAL);
        }
        let (verdict, words, status) = match self.found.get() {
            Some(found) => (Verdict::Violated, found.clone(), Status::Violated),
            None => (Verdict::Inconclusive, describe(reason), Status::Inconclusive),
        };
        // There is no one left to tell if this fails.
        let so_far = self.so_far.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = output::write_stdout(&so_far);
        if let Some(object) = json {
            let _ = output::write_stdout(&completed(object, verdict, &words));
        }
        output::say(&format!("{verdict}: {words}\n"));
        std::process::exit(status as i32);
    }
}

/// How long the process takes to end, if it uses so much memory.
fn ending(used: u64) -> Duration {
    ENDING.mul_f64(used as f64 / 1e9)
}

/// The object of a command that had to be ended.
pub fn completed(mut object: Map<String, Json>, verdict: Verdict, reason: &str) -> String {
    object.insert("verdict".to_owned(), json!(verdict.id()));
    object.insert("reason".to_owned(), json!(reason));
    format!("{}\n", Json::Object(object))
}
