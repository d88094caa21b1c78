//! The workers: one thread for each thread of a scenario, pinned to its own core, and the watchdog
//! that notices when they do not come back.

use super::batch::Batch;
use linchpin_record::pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Workers that go through batches.
pub struct Team<T> {
    cores: Vec<usize>,
    workers: Vec<Sender<Job<T>>>,
    /// Which worker is done with which batch.
    done: Receiver<Done>,
    tell: Sender<Done>,
    batches: u64,
    /// Workers that are not back from the batch.
    out: Vec<usize>,
}

struct Job<T> {
    number: u64,
    batch: Arc<Batch<T>>,
}

struct Done {
    number: u64,
    worker: usize,
}

/// How often the watchdog looks.
const LOOK: Duration = Duration::from_millis(20);

/// How long workers that are not stuck may take to stop.
const STOPPING: Duration = Duration::from_millis(100);

impl<T: Send + Sync + 'static> Team<T> {
    /// No workers yet.
    pub fn new() -> Team<T> {
        let (tell, done) = channel();
        let (cores, workers, out) = (pin::cores(), Vec::new(), Vec::new());
        Team { cores, workers, done, tell, batches: 0, out }
    }

    /// How many cores there are.
    pub fn cores(&self) -> usize {
        self.cores.len()
    }

    /// Lets workers go through a batch.
    pub fn start(&mut self, batch: &Arc<Batch<T>>) {
        self.batches += 1;
        for worker in 0..batch.width() {
            let job = Job { number: self.batches, batch: Arc::clone(batch) };
            match self.workers.get(worker).map(|sender| sender.send(job)) {
                Some(Ok(())) => {}
                // There is no such worker, or it ended.
                _ => self.hire(worker, batch),
            }
        }
        self.out = (0..batch.width()).collect();
    }

    /// Waits for those who have not come back, until nothing happened for `patience`. Returns who
    /// did not; they may come back yet.
    pub fn watch(&mut self, batch: &Batch<T>, patience: Duration) -> &[usize] {
        let mut last = (batch.progress(), Instant::now());
        while !self.out.is_empty() {
            if self.returned(LOOK) {
                continue;
            }
            let progress = batch.progress();
            if progress != last.0 {
                last = (progress, Instant::now());
            } else if last.1.elapsed() >= patience {
                batch.stop();
                self.gather();
                break;
            }
        }
        &self.out
    }

    /// Those who only wait for others come back when they are told to stop.
    fn gather(&mut self) {
        let end = Instant::now() + STOPPING;
        while !self.out.is_empty() && Instant::now() < end {
            self.returned(LOOK);
        }
    }

    /// Whether a worker came back within this time.
    fn returned(&mut self, within: Duration) -> bool {
        match self.done.recv_timeout(within) {
            Ok(done) => {
                if done.number == self.batches {
                    self.out.retain(|worker| *worker != done.worker);
                }
                true
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => false,
        }
    }

    /// Others take the places of those who did not come back. Says how many.
    pub fn replace_lost(&mut self) -> usize {
        let lost = std::mem::take(&mut self.out);
        for worker in &lost {
            // Without a sender the thread ends, should it ever come back.
            let (gone, _) = channel();
            self.workers[*worker] = gone;
        }
        lost.len()
    }

    /// A new worker, and its first job.
    fn hire(&mut self, worker: usize, batch: &Arc<Batch<T>>) {
        let (sender, jobs) = channel::<Job<T>>();
        let (core, tell) = (self.cores.get(worker % self.cores.len().max(1)), self.tell.clone());
        let core = core.copied();
        let _ = sender.send(Job { number: self.batches, batch: Arc::clone(batch) });
        let work = move || {
            if let Some(core) = core {
                pin::pin(core);
            }
            for Job { number, batch } in jobs {
                batch.work(worker);
                drop(batch);
                let _ = tell.send(Done { number, worker });
            }
        };
        let spawned = thread::Builder::new().name(format!("linchpin-{worker}")).spawn(work);
        assert!(spawned.is_ok(), "no thread can be started");
        match self.workers.get_mut(worker) {
            Some(place) => *place = sender,
            None => self.workers.push(sender),
        }
    }
}
