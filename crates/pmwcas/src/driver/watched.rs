//! Threads that are looked after: each shows that it gets on, and stops when it is asked to. If
//! none gets on any more, they are left behind, for nothing ends a thread that does not end by
//! itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often it is looked at the threads.
const INTERVAL: Duration = Duration::from_millis(5);

/// How long threads may go on, and who may stop them.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// So long no thread needs to get on.
    pub patience: Duration,
    /// Whether they should stop.
    pub stop: &'a dyn Fn() -> bool,
}

impl Default for Watch<'_> {
    fn default() -> Self {
        Watch { patience: Duration::from_secs(10), stop: &|| false }
    }
}

/// Why threads did not come to their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunError {
    /// They were asked to stop.
    Stopped,
    /// None got on for so long.
    NoProgress(Duration),
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunError::Stopped => f.write_str("the threads were asked to stop"),
            RunError::NoProgress(patience) => {
                let seconds = patience.as_secs_f64();
                write!(f, "no thread got on for {seconds} s: an operation goes on for ever")
            }
        }
    }
}

impl std::error::Error for RunError {}

/// The beats of one thread, on a line of its own.
#[repr(align(128))]
#[derive(Default)]
struct Beats(AtomicU64);

/// How a thread shows that it gets on.
pub(super) struct Pulse {
    beats: Arc<Beats>,
    asked: Arc<AtomicBool>,
}

impl Pulse {
    /// It gets on; whether it should go on.
    pub(super) fn beat(&self) -> bool {
        self.beats.0.store(self.beats.0.load(Relaxed) + 1, Relaxed);
        !self.asked.load(Relaxed)
    }
}

/// What so many threads answer.
pub(super) fn all<T, W>(
    threads: usize,
    worker: impl Fn(usize, Pulse) -> W,
    watch: &Watch<'_>,
) -> Result<Vec<T>, RunError>
where
    T: Send + Default + 'static,
    W: FnOnce() -> T + Send + 'static,
{
    let asked = Arc::new(AtomicBool::new(false));
    let (mut beats, mut handles) = (Vec::new(), Vec::new());
    for number in 0..threads {
        let of: Arc<Beats> = Arc::default();
        let pulse = Pulse { beats: Arc::clone(&of), asked: Arc::clone(&asked) };
        handles.push(thread::spawn(worker(number, pulse)));
        beats.push(of);
    }
    let seen = || beats.iter().map(|beats| beats.0.load(Relaxed)).collect::<Vec<_>>();
    let (mut last, mut since) = (seen(), Instant::now());
    while !handles.iter().all(JoinHandle::is_finished) {
        thread::sleep(INTERVAL);
        if (watch.stop)() {
            asked.store(true, Relaxed);
        }
        let now = seen();
        if now != last {
            (last, since) = (now, Instant::now());
        } else if since.elapsed() >= watch.patience {
            asked.store(true, Relaxed);
            return Err(RunError::NoProgress(watch.patience));
        }
    }
    if asked.load(Relaxed) {
        return Err(RunError::Stopped);
    }
    Ok(handles.into_iter().map(|handle| handle.join().unwrap_or_default()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_do_not_get_on_are_left_behind() {
        let worker = |_, _: Pulse| {
            || loop {
                thread::park();
            }
        };
        let patience = Duration::from_millis(50);
        let stop = || false;
        let found = all::<(), _>(1, worker, &Watch { patience, stop: &stop });
        assert_eq!(found, Err(RunError::NoProgress(patience)));
    }

    #[test]
    fn threads_stop_when_they_are_asked_to() {
        let worker = |_, pulse: Pulse| move || while pulse.beat() {};
        let watch = Watch { stop: &|| true, ..Watch::default() };
        assert_eq!(all::<(), _>(2, worker, &watch), Err(RunError::Stopped));
        let worker = |number: usize, pulse: Pulse| move || (number, pulse.beat());
        assert_eq!(all(2, worker, &Watch::default()), Ok(vec![(0, true), (1, true)]));
    }
}
