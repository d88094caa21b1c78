//! Native threads change words by PMwCAS and log what they did, as Cepeda et al. do in *Toward
//! linearizability testing for multi-word persistent synchronization primitives* (OPODIS 2019,
//! Section 6): every value is written once, an operation expects only what was read before, each
//! thread has its log, all stamps come from one counter, and a failure says which word failed.
//! Sorted by their stamps, the logs are a history.
//!
//! [`run`] makes a [`Run`]; [`Run::write`] makes the history. `watched` is what looks after the
//! threads meanwhile.

mod watched;

pub use watched::{RunError, Watch};

use crate::{Change, Kind, Pmwcas, WriteBack};
use linchpin_record::Clock;
use linchpin_sync::persistent::Pool;
use std::io::{self, Write};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};
use watched::Pulse;

/// So many words there can be.
pub const WORDS: usize = 256;

/// So many threads there can be.
pub const THREADS: usize = 64;

type Words = Pmwcas<WORDS, THREADS>;

/// What is run.
#[derive(Clone, Debug)]
pub struct Workload {
    /// How many threads, at most [`THREADS`].
    pub threads: usize,
    /// How many words they change, from 2 to [`WORDS`].
    pub words: usize,
    /// What the choice of words starts from.
    pub seed: u64,
    /// Which algorithm.
    pub kind: Kind,
    /// What it costs to write a line back.
    pub write_back: WriteBack,
    /// So many operations each thread makes, part by part. Between two parts no operation is open,
    /// so the log up to there is a history without pending operations.
    pub parts: Vec<usize>,
}

/// One operation of a thread.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// The stamps of its call and its return.
    invoked: u64,
    returned: u64,
    what: What,
    /// The words, with what was read or is expected; a read is of the first.
    changes: [Change; 2],
}

/// What an operation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Read,
    Changed,
    /// The second word failed, or the first.
    Failed {
        second: bool,
    },
}

/// What was run.
#[derive(Debug)]
pub struct Run {
    /// How many operations were made.
    pub operations: usize,
    /// How long that took.
    pub time: Duration,
    /// What each thread did; empty if nothing was logged.
    logs: Vec<Vec<Record>>,
    parts: Vec<usize>,
}

/// A prefix of a log after which no operation is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// How many operations it has.
    pub operations: usize,
    /// How many bytes it has.
    pub bytes: usize,
}

/// Runs threads that read two words and change both if nothing has happened to them: three
/// operations a round. With `logging`, each is stamped and written down.
///
/// # Errors
///
/// If it is asked to stop, or if no thread gets on.
///
/// # Panics
///
/// If there are too many threads or words, or too few.
pub fn run(workload: &Workload, logging: bool, watch: &Watch<'_>) -> Result<Run, RunError> {
    assert!((1..=THREADS).contains(&workload.threads), "at most {THREADS} threads");
    assert!((2..=WORDS).contains(&workload.words), "2 to {WORDS} words");
    let shared = Arc::new(Shared {
        words: Words::create(&Pool::new(), workload.kind).with(workload.write_back),
        clock: logging.then(Clock::new),
        barrier: Barrier::new(workload.threads),
        workload: workload.clone(),
    });
    let worker = |number: usize, pulse: Pulse| {
        let shared = Arc::clone(&shared);
        move || Worker::new(&shared, number as u64 + 1, pulse).work()
    };
    let done: Vec<(Duration, Vec<Record>)> = watched::all(workload.threads, worker, watch)?;
    Ok(Run {
        operations: workload.parts.iter().sum::<usize>() * workload.threads,
        time: done.iter().map(|(time, _)| *time).max().unwrap_or_default(),
        logs: done.into_iter().map(|(_, log)| log).collect(),
        parts: workload.parts.clone(),
    })
}

/// What the threads share.
struct Shared {
    words: Words,
    /// Where stamps come from, if they are wanted.
    clock: Option<Clock>,
    barrier: Barrier,
    workload: Workload,
}

/// One thread.
struct Worker<'a> {
    shared: &'a Shared,
    pulse: Pulse,
    log: Vec<Record>,
    random: u64,
    /// The last value that it wrote, without its own number.
    fresh: u64,
    thread: u64,
}

impl Worker<'_> {
    fn new(shared: &Shared, thread: u64, pulse: Pulse) -> Worker<'_> {
        let workload = &shared.workload;
        let operations = if shared.clock.is_some() { workload.parts.iter().sum() } else { 0 };
        let random = workload.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | thread;
        // The memory of the log is touched before the run, so that its pages are not part of it.
        let changes = [Change { address: 1, old: 1, new: 1 }; 2];
        let touched = Record { invoked: 1, returned: 1, what: What::Changed, changes };
        let mut log = vec![touched; operations];
        log.clear();
        Worker { shared, pulse, log, random, fresh: 0, thread }
    }

    /// All parts; how long they took, and what was done.
    fn work(mut self) -> (Duration, Vec<Record>) {
        self.shared.barrier.wait();
        let started = Instant::now();
        for part in &self.shared.workload.parts {
            self.part(*part);
            self.shared.barrier.wait();
        }
        (started.elapsed(), self.log)
    }

    fn part(&mut self, operations: usize) {
        for round in 0..operations.div_ceil(3) {
            if !self.pulse.beat() {
                return;
            }
            let left = operations - 3 * round;
            let words = self.shared.workload.words;
            let first = self.draw(words);
            let second = (first + 1 + self.draw(words - 1)) % words;
            let mut changes = [Change { address: first, old: 0, new: 0 }; 2];
            for (change, address) in changes.iter_mut().zip([first, second]).take(left) {
                let old = self.read(address);
                self.fresh += 1;
                // The number of the thread is in the low bits, so no two threads write the same.
                *change = Change { address, old, new: self.fresh << 8 | self.thread };
            }
            if left >= 3 {
                self.change(changes);
            }
        }
    }

    fn read(&mut self, address: usize) -> u64 {
        let Shared { words, clock, .. } = self.shared;
        let Some(clock) = clock else { return words.read(address) };
        let invoked = clock.tick();
        let old = words.read(address);
        let returned = clock.tick();
        let changes = [Change { address, old, new: 0 }; 2];
        self.log.push(Record { invoked, returned, what: What::Read, changes });
        old
    }

    fn change(&mut self, changes: [Change; 2]) {
        let Shared { words, clock, .. } = self.shared;
        let Some(clock) = clock else {
            let _ = words.mwcas(&changes);
            return;
        };
        let invoked = clock.tick();
        let answer = words.mwcas(&changes);
        let returned = clock.tick();
        let what = match answer {
            Ok(()) => What::Changed,
            Err(address) => What::Failed { second: address == changes[1].address },
        };
        self.log.push(Record { invoked, returned, what, changes });
    }

    fn draw(&mut self, below: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 33) as usize % below
    }
}

impl Run {
    /// Writes the logs as one history, JSON line by JSON line: their events sorted by their stamps.
    /// Answers where its parts end.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn write(&self, out: &mut impl Write) -> io::Result<Vec<Prefix>> {
        let mut out = Counted { out, bytes: 0 };
        let (mut operations, mut from) = (0, 0);
        let mut prefixes = Vec::new();
        for part in &self.parts {
            let mut events: Vec<(u64, usize, usize)> = Vec::new();
            for (process, log) in self.logs.iter().enumerate() {
                let records = log.iter().enumerate().skip(from).take(*part);
                for (number, record) in records {
                    events.push((record.invoked, process, number));
                    events.push((record.returned, process, number));
                }
            }
            events.sort_unstable();
            for (stamp, process, number) in &events {
                let record = &self.logs[*process][*number];
                record.write(&mut out, *process, *stamp == record.invoked)?;
            }
            operations += events.len() / 2;
            from += part;
            prefixes.push(Prefix { operations, bytes: out.bytes });
        }
        out.flush()?;
        Ok(prefixes)
    }
}

impl Record {
    fn write(&self, out: &mut impl Write, process: usize, invokes: bool) -> io::Result<()> {
        let [a, b] = self.changes;
        let kind = if invokes { "invoke" } else { "ok" };
        write!(out, r#"{{"process":{process},"type":"{kind}","f":"#)?;
        match self.what {
            What::Read if invokes => writeln!(out, r#""mwread","value":[[{},null]]}}"#, a.address),
            What::Read => writeln!(out, r#""mwread","value":[[{},{}]]}}"#, a.address, a.old),
            What::Changed | What::Failed { .. } if invokes => writeln!(
                out,
                r#""mwcas","value":[[{},{},{}],[{},{},{}]]}}"#,
                a.address, a.old, a.new, b.address, b.old, b.new
            ),
            What::Changed => writeln!(out, r#""mwcas","value":true}}"#),
            What::Failed { second } => {
                let address = if second { b.address } else { a.address };
                writeln!(out, r#""mwcas","value":{{"failed":{address}}}}}"#)
            }
        }
    }
}

/// Counts what is written.
struct Counted<'a, W> {
    out: &'a mut W,
    bytes: usize,
}

impl<W: Write> Write for Counted<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
