//! Native threads change words by PMwCAS and log what they did, as Cepeda et al. do in *Toward
//! linearizability testing for multi-word persistent synchronization primitives* (OPODIS 2019,
//! Section 6): every value is written once, an
//! operation expects only what was read before, each thread has its log, all stamps come from one
//! counter, and a failure says which word failed. Sorted by their stamps, the logs are a history:
//!
//! ```console
//! $ cargo run --release --bin pmwcas_log -- --operations 1000000 --log run.jsonl
//! $ linchpin check run.jsonl --spec mwcas --init 0
//! ```
//!
//! `--kind dirty-fails` is the published bug, `--words`, `--threads` and `--seed` say more. Memory is
//! not persistent here, so a write-back takes no time; `--latency` makes it take some turns of an
//! empty loop. Without `--log` nothing is logged: the difference is what logging costs.

use linchpin_sync::persistent::Pool;
use lock_free_examples::pmwcas::{Change, Kind, Pmwcas, set_latency};
use std::env;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

/// So many words there can be.
const WORDS: usize = 256;

type Words = Pmwcas<WORDS, 64>;

/// What is run.
struct Options {
    threads: usize,
    operations: usize,
    words: usize,
    seed: u64,
    kind: Kind,
    log: Option<String>,
}

/// One operation of a thread, with the stamps of its call and its return.
struct Record {
    invoked: u64,
    returned: u64,
    what: What,
}

enum What {
    Read { address: usize, value: u64 },
    Change { changes: [Change; 2], answer: Result<(), usize> },
}

/// The counter that all stamps come from, on a line of its own.
#[repr(align(128))]
struct Clock(AtomicU64);

impl Clock {
    fn stamp(&self) -> u64 {
        // It must be a full barrier: a return that is stamped while a store is still on its way
        // would come too early.
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!(
            "options: --threads N, --operations N, --words N (at most {WORDS}), --seed N, \
             --kind right|dirty-fails|dirty-waits, --latency N, --log FILE"
        );
        return ExitCode::from(2);
    };
    let words = Words::create(&Pool::new(), options.kind);
    let clock = Clock(AtomicU64::new(0));
    let barrier = Barrier::new(options.threads);
    let started = Instant::now();
    let logs: Vec<Vec<Record>> = thread::scope(|scope| {
        let worker = |thread| {
            let (words, clock, barrier, options) = (&words, &clock, &barrier, &options);
            scope.spawn(move || {
                barrier.wait();
                work(words, clock, options, thread)
            })
        };
        let workers: Vec<_> = (0..options.threads).map(worker).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_default()).collect()
    });
    let seconds = started.elapsed().as_secs_f64();
    let each = options.operations / options.threads;
    let total = each * options.threads;
    println!("{total} operations in {seconds:.3} s, {:.0} ns each", 1e9 * seconds / total as f64);
    if let Some(path) = &options.log
        && let Err(error) = write(path, &logs)
    {
        eprintln!("{path}: {error}");
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}

fn options() -> Option<Options> {
    let mut options = Options {
        threads: 2,
        operations: 1_000_000,
        words: 16,
        seed: 1,
        kind: Kind::Right,
        log: None,
    };
    let mut arguments = env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next()?;
        match name.as_str() {
            "--threads" => options.threads = value.parse().ok()?,
            "--operations" => options.operations = value.parse().ok()?,
            "--words" => options.words = value.parse().ok()?,
            "--seed" => options.seed = value.parse().ok()?,
            "--log" => options.log = Some(value),
            "--latency" => set_latency(value.parse().ok()?),
            "--kind" => {
                options.kind = match value.as_str() {
                    "right" => Kind::Right,
                    "dirty-fails" => Kind::DirtyFails,
                    "dirty-waits" => Kind::DirtyWaits,
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
    let fits = (1..=64).contains(&options.threads) && (2..=WORDS).contains(&options.words);
    fits.then_some(options)
}

/// Reads two words, and changes both if nothing has happened to them: three operations a round.
fn work(words: &Words, clock: &Clock, options: &Options, thread: usize) -> Vec<Record> {
    let logs = options.log.is_some();
    let operations = options.operations / options.threads;
    let mut log = Vec::with_capacity(if logs { operations } else { 0 });
    let mut random = options.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | (thread as u64 + 1);
    let mut draw = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 33) as usize % below
    };
    let stamp = || if logs { clock.stamp() } else { 0 };
    let mut fresh = 0_u64;
    for round in 0..operations.div_ceil(3) {
        let first = draw(options.words);
        let second = (first + 1 + draw(options.words - 1)) % options.words;
        let left = operations - 3 * round;
        let mut changes = [Change { address: first, old: 0, new: 0 }; 2];
        for (at, address) in [first, second].into_iter().enumerate().take(left) {
            let invoked = stamp();
            let value = words.read(address);
            let returned = stamp();
            fresh += 1;
            // The number of the thread is in the low bits, so no two threads write the same.
            changes[at] = Change { address, old: value, new: fresh << 8 | thread as u64 + 1 };
            if logs {
                log.push(Record { invoked, returned, what: What::Read { address, value } });
            }
        }
        if left < 3 {
            break;
        }
        let invoked = stamp();
        let answer = words.mwcas(&changes);
        let returned = stamp();
        if logs {
            log.push(Record { invoked, returned, what: What::Change { changes, answer } });
        }
    }
    log
}

/// Writes the logs as one history: their events sorted by their stamps.
fn write(path: &str, logs: &[Vec<Record>]) -> io::Result<()> {
    let mut events: Vec<(u64, u32, u32)> = Vec::new();
    for (process, log) in (0..).zip(logs) {
        for (number, record) in (0..).zip(log) {
            events.push((record.invoked, process, number));
            events.push((record.returned, process, number));
        }
    }
    events.sort_unstable();
    let mut file = BufWriter::new(File::create(path)?);
    for (stamp, process, number) in events {
        let Record { invoked, what, .. } = &logs[process as usize][number as usize];
        event(&mut file, process, stamp == *invoked, what)?;
    }
    file.flush()
}

fn event(file: &mut impl Write, process: u32, invokes: bool, what: &What) -> io::Result<()> {
    let kind = if invokes { "invoke" } else { "ok" };
    write!(file, r#"{{"process":{process},"type":"{kind}","f":"#)?;
    match what {
        What::Read { address, .. } if invokes => {
            writeln!(file, r#""mwread","value":[[{address},null]]}}"#)
        }
        What::Read { address, value } => {
            writeln!(file, r#""mwread","value":[[{address},{value}]]}}"#)
        }
        What::Change { changes: [a, b], .. } if invokes => writeln!(
            file,
            r#""mwcas","value":[[{},{},{}],[{},{},{}]]}}"#,
            a.address, a.old, a.new, b.address, b.old, b.new
        ),
        What::Change { answer: Ok(()), .. } => writeln!(file, r#""mwcas","value":true}}"#),
        What::Change { answer: Err(address), .. } => {
            writeln!(file, r#""mwcas","value":{{"failed":{address}}}}}"#)
        }
    }
}
