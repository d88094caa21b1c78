//! What the tests share.

use linchpin_ir::interpreter::Memory;
use linchpin_ir::program::Program;
use linchpin_lang::{Config, Threads, compile};
use linchpin_progress::{Property, Report, check_ltl, check_progress};
use linchpin_space::{Bounds, Calls};
use linchpin_verdict::{Limits, Outcome, Values};
use std::path::PathBuf;

/// The program of a source, with so many threads.
pub fn program(source: &str, threads: Threads) -> Program {
    let config = Config { threads, ..Config::default() };
    compile(source, &config).unwrap_or_else(|mistakes| panic!("{mistakes:?}")).program
}

/// The program of a bundled model.
pub fn model(name: &str, threads: Threads) -> Program {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let source = std::fs::read_to_string(root.join(format!("{name}.lin"))).unwrap();
    program(&source, threads)
}

pub fn bounds(calls: Calls, objects: Option<usize>) -> Bounds {
    Bounds {
        calls,
        values: Values::UpTo(1),
        objects,
        memory: Memory::Collected,
        crashes: 0,
        thread_crashes: 0,
    }
}

pub fn unlimited() -> Bounds {
    bounds(Calls::Unlimited, None)
}

pub fn progress(program: &Program, bounds: Bounds, property: Property) -> Report {
    check_progress(program, bounds, property, &Limits::default()).unwrap()
}

pub fn ltl(program: &Program, bounds: Bounds, formula: &str, fair: bool) -> Report {
    check_ltl(program, bounds, formula, fair, &Limits::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Whether the property holds; panics if that is not known.
pub fn holds(report: &Report) -> bool {
    match &report.outcome {
        Outcome::Holds(()) => true,
        Outcome::Violated(_) => false,
        Outcome::Inconclusive(reason) => panic!("{}: {reason}", report.subject),
    }
}

/// The seed of random tests and how many cases there are.
pub fn seed_and_cases(cases: u64) -> (u64, u64) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seed = number("LINCHPIN_SEED").unwrap_or(1);
    let cases = number("LINCHPIN_CASES").unwrap_or(cases);
    println!("LINCHPIN_SEED={seed} LINCHPIN_CASES={cases}");
    (seed, cases)
}
