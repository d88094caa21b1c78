//! Code that waits for something which the explorer does not know never comes back: the test runs
//! on a thread of its own, and the one who called it looks on and says so.
//!
//! A thread that hangs cannot be ended. It is left behind, with what it has.

use super::program::{Mark, calls};
use crate::definition::Subject;
use crate::failure::{Failure, Kind};
use crate::plan::Mode;
use crate::scenario::Scenario;
use linchpin_explore::{Running, Watch};
use linchpin_sync::runtime::Site;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// So long a thread may run without coming back, unless the test says otherwise.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// So often the watchdog looks meanwhile. A machine that stands still for a while, or has much else
/// to do, does not look either.
const LOOKS: u32 = 20;

/// What the workers of a test are at.
#[derive(Default)]
pub(super) struct Watchdog(Mutex<Vec<Arc<Worker>>>);

/// What one worker is at.
#[derive(Default)]
pub(super) struct Worker {
    pub(super) watch: Arc<Watch>,
    scenario: Mutex<Scenario>,
}

impl Worker {
    /// It goes on to this scenario.
    pub(super) fn takes(&self, scenario: &Scenario) {
        self.scenario.lock().unwrap_or_else(PoisonError::into_inner).clone_from(scenario);
    }
}

/// A worker that did not come back.
pub(super) struct Hang {
    worker: Arc<Worker>,
    running: Running,
    patience: Duration,
}

impl Watchdog {
    /// A worker that is watched from now on.
    pub(super) fn worker(&self) -> Arc<Worker> {
        let worker = Arc::new(Worker::default());
        self.workers().push(Arc::clone(&worker));
        worker
    }

    fn workers(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Worker>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does some work on a thread of its own, unless one of the workers hangs.
    pub(super) fn watch<R: Send + 'static>(
        &self,
        patience: Duration,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> Result<R, Hang> {
        let (tell, told) = channel();
        let name = thread::current().name().unwrap_or("linchpin").to_owned();
        let work = move || {
            // Only the one who has given up does not listen.
            let _ = tell.send(work());
        };
        let thread = thread::Builder::new().name(name).spawn(work);
        let thread = thread.expect("the system has room for a thread");
        // What each worker ran when it was looked at, and how often in a row.
        let mut seen: Vec<(Option<Running>, u32)> = Vec::new();
        loop {
            match told.recv_timeout(patience / LOOKS) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => match thread.join() {
                    Err(panic) => resume_unwind(panic),
                    Ok(()) => unreachable!("what does not panic tells"),
                },
            }
            let workers = self.workers();
            seen.resize(workers.len(), (None, 0));
            for (worker, (before, times)) in workers.iter().zip(&mut seen) {
                let now = worker.watch.running();
                *times = if now.is_some() && now == *before { *times + 1 } else { 0 };
                *before = now;
                if let (Some(running), true) = (now, *times >= LOOKS) {
                    return Err(Hang { worker: Arc::clone(worker), running, patience });
                }
            }
        }
    }
}

impl Hang {
    /// As a failure of the test.
    pub(super) fn failure(&self, subject: &Subject, mode: Mode) -> Box<Failure> {
        let scenario = self.worker.scenario.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let kind = Kind::Hung(self.sentence(subject, &scenario));
        let mut failure = Failure::new(subject, kind, mode).scenario(subject, &scenario);
        // The first thread starts those of the scenario, and waits for them.
        let others = (1..=scenario.threads.len()).filter(|other| *other != self.running.thread);
        for other in others {
            let stood = self.worker.watch.stood(other);
            if let Some(site) = stood.site {
                let (who, at) = (self.who(other, &scenario), shown(site));
                failure.notes.push(format!("{who} stands at {at}"));
            }
        }
        Box::new(failure)
    }

    fn sentence(&self, subject: &Subject, scenario: &Scenario) -> String {
        let stood = self.worker.watch.stood(self.running.thread);
        let who = self.who(self.running.thread, scenario);
        let call = match stood.mark.map(Mark::of) {
            Some(Mark::Called(number)) => {
                let call = calls(scenario).get(number).map(|(_, call)| call.operation);
                let name = call.and_then(|operation| subject.operations.get(operation));
                name.map_or_else(String::new, |operation| format!(" in `{}`", operation.name))
            }
            _ => String::new(),
        };
        let since = match stood.site {
            Some(site) => format!("it went on from {}", shown(site)),
            None => "it was started".to_owned(),
        };
        let seconds = self.patience.as_secs_f64();
        format!(
            "{who} hangs{call}: {since}, and for {seconds} s it has neither returned nor \
             made another access of `linchpin::sync`. A lock of std that is held across an access, \
             another way to wait that is not of `linchpin::sync`, or an endless loop does that"
        )
    }

    fn who(&self, thread: usize, scenario: &Scenario) -> String {
        let mark = self.worker.watch.stood(thread).mark.map(Mark::of);
        let process = match mark {
            Some(Mark::Called(number) | Mark::Returned(number) | Mark::Dropped(number)) => {
                calls(scenario).get(number).and_then(|(process, _)| *process)
            }
            _ => None,
        };
        match process {
            Some(process) => format!("process {process}"),
            None if thread == 0 => "the thread that makes the object".to_owned(),
            None => format!("thread {thread}"),
        }
    }
}

fn shown(site: Site) -> String {
    format!("{}:{}", site.file(), site.line())
}
