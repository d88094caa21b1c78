//! Threads that change words by PMwCAS, and the history of what they did:
//!
//! ```console
//! $ cargo run --release -p linchpin-pmwcas --example pmwcas_log -- --operations 1000000 --log run.jsonl
//! $ linchpin check run.jsonl --spec mwcas --init 0
//! ```
//!
//! `--kind dirty-fails` is the published bug, `--words`, `--threads` and `--seed` say more. Memory
//! is not persistent here, so a write-back takes no time; `--write-back machine` writes lines to
//! memory instead, `--write-back 20` makes it take some turns of an empty loop. Without `--log`
//! nothing is logged: the difference is what logging costs.

use linchpin_pmwcas::driver::{THREADS, WORDS, Watch, Workload, run};
use linchpin_pmwcas::{Kind, WriteBack};
use std::env;
use std::fs::File;
use std::io::BufWriter;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some((workload, log)) = options() else {
        eprintln!(
            "options: --threads N (at most {THREADS}), --operations N, --words N (at most {WORDS}), \
             --seed N, --kind right|dirty-fails|dirty-waits, --write-back nothing|machine|TURNS, \
             --log FILE"
        );
        return ExitCode::from(2);
    };
    let run = match run(&workload, log.is_some(), &Watch::default()) {
        Ok(run) => run,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(3);
        }
    };
    let each = 1e9 * run.time.as_secs_f64() / run.operations as f64;
    println!("{} operations in {:.3} s, {each:.0} ns each", run.operations, run.time.as_secs_f64());
    let written = |path: &String| run.write(&mut BufWriter::new(File::create(path)?));
    if let Some(path) = &log
        && let Err(error) = written(path)
    {
        eprintln!("{path}: {error}");
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}

fn options() -> Option<(Workload, Option<String>)> {
    let (mut operations, mut log) = (1_000_000, None);
    let mut workload = Workload {
        threads: 2,
        words: 16,
        seed: 1,
        kind: Kind::Right,
        write_back: WriteBack::Nothing,
        parts: Vec::new(),
    };
    let mut arguments = env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next()?;
        match name.as_str() {
            "--threads" => workload.threads = value.parse().ok()?,
            "--operations" => operations = value.parse().ok()?,
            "--words" => workload.words = value.parse().ok()?,
            "--seed" => workload.seed = value.parse().ok()?,
            "--log" => log = Some(value),
            "--write-back" => {
                workload.write_back = match value.as_str() {
                    "nothing" => WriteBack::Nothing,
                    "machine" => WriteBack::Machine,
                    turns => WriteBack::Turns(turns.parse().ok()?),
                }
            }
            "--kind" => {
                workload.kind = match value.as_str() {
                    "right" => Kind::Right,
                    "dirty-fails" => Kind::DirtyFails,
                    "dirty-waits" => Kind::DirtyWaits,
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
    let fits = (1..=THREADS).contains(&workload.threads) && (2..=WORDS).contains(&workload.words);
    workload.parts = vec![operations / workload.threads.max(1)];
    fits.then_some((workload, log))
}
