//! Whether a verdict depends on reductions: every model with all of them, all but one, and one
//! alone (beside canonical heaps).
//!
//! `cargo run --release -p linchpin-refine --example verdicts -- [SECONDS] [workers=N] [mb=N]
//! [FOLDER…]`: each search has so many seconds (2 if not given), workers and megabytes; without
//! folders, all models of the project, at their own bounds and with three threads that call one
//! operation each, without the claimed points and, where there are some, with them. A bound on memory ends the same searches on any machine, however busy. What was
//! not finished is named. Ends with exit code 1 if two verdicts differ.

mod folders;

use linchpin_ir::interpreter::Memory;
use linchpin_lang::{Config, Ops, Threads, compile};
use linchpin_refine::{VerifyOptions, has_points, verify};
use linchpin_space::{Bounds, Calls};
use linchpin_verdict::{Limits, Outcome};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

type Switch = fn(&mut VerifyOptions, bool);

/// Every reduction, by the name that `--without` takes.
const SWITCHES: [(&str, Switch); 16] = [
    ("canonical-heap", |o, on| o.reductions.canonical_heap = on),
    ("dead-locals", |o, on| o.reductions.dead_locals = on),
    ("dead-fields", |o, on| o.reductions.dead_fields = on),
    ("thread-symmetry", |o, on| o.reductions.thread_symmetry = on),
    ("value-symmetry", |o, on| o.reductions.value_symmetry = on),
    ("partial-order", |o, on| o.reductions.partial_order = on),
    ("settled-fields", |o, on| o.reductions.settled_fields = on),
    ("ample-steps", |o, on| o.reductions.ample_steps = on),
    ("doomed-attempts", |o, on| o.reductions.doomed_attempts = on),
    ("validated-reads", |o, on| o.reductions.validated_reads = on),
    ("merged-events", |o, on| o.reductions.merged_events = on),
    ("crash-points", |o, on| o.reductions.crash_points = on),
    ("reachable-images", |o, on| o.reductions.reachable_images = on),
    ("just-in-time", |o, on| o.just_in_time = on),
    ("antichain", |o, on| o.search.antichain = on),
    ("calls", |o, on| o.search.calls = on),
];

#[derive(Default)]
struct Tally {
    same: usize,
    different: usize,
    not_finished: usize,
}

/// What a search may cost.
struct Patience {
    time: Duration,
    workers: Option<usize>,
    megabytes: Option<usize>,
}

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let seconds = match arguments.first().and_then(|first| first.parse().ok()) {
        Some(seconds) => {
            arguments.remove(0);
            seconds
        }
        None => 2,
    };
    let mut number = |name: &str| {
        let at = arguments.iter().position(|argument| argument.starts_with(name))?;
        arguments.remove(at)[name.len()..].parse::<usize>().ok()
    };
    let (workers, megabytes) = (number("workers="), number("mb="));
    let patience = Patience { time: Duration::from_secs(seconds), workers, megabytes };
    if arguments.is_empty() {
        let folders = ["models", "models/broken", "models/persistent", "models/persistent/broken"];
        arguments = folders.map(String::from).to_vec();
    }
    let files = folders::models(&arguments);
    let mut tally = Tally::default();
    for file in &files {
        for (small, points) in [(false, false), (true, false), (false, true), (true, true)] {
            compare(file, small, points, &patience, &mut tally);
        }
    }
    let Tally { same, different, not_finished } = tally;
    println!(
        "{} models: {same} verdicts as with all reductions, {different} others, {not_finished} \
         searches not finished",
        files.len()
    );
    if different == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One model, at its own bounds or with three threads that call one operation each; at its points,
/// if it claims some, or without.
fn compare(file: &PathBuf, small: bool, points: bool, patience: &Patience, tally: &mut Tally) {
    let Ok(source) = std::fs::read_to_string(file) else { return };
    let config = match small {
        true => Config { threads: Threads::Count(3), ..Config::default() },
        false => Config::default(),
    };
    // Some models fix their threads.
    let Ok(compiled) = compile(&source, &config) else { return };
    if points && !has_points(&compiled.program) {
        return;
    }
    let persistent = compiled.program.persistence.is_some();
    let own = match compiled.bounds.ops {
        Ops::Each(count) => Calls::Each(u32::try_from(count).unwrap_or(u32::MAX)),
        Ops::Unlimited => Calls::Unlimited,
    };
    let bounds = Bounds {
        calls: if small { Calls::Each(1) } else { own },
        values: compiled.bounds.values,
        objects: None,
        memory: Memory::Collected,
        crashes: u8::from(persistent),
        thread_crashes: 0,
    };
    let all = VerifyOptions {
        stuck: false,
        points,
        repairs: false,
        shortest_budget: 0,
        ..VerifyOptions::new(bounds)
    };
    let judge = |mut options: VerifyOptions| {
        options.search.limits = Limits {
            deadline: Some(Instant::now() + patience.time),
            memory: patience.megabytes.map(|megabytes| megabytes << 20),
            ..Limits::default()
        };
        options.search.workers = patience.workers.unwrap_or(options.search.workers);
        match verify(&compiled.program, &options, &|_| {}) {
            Ok(report) => match report.outcome {
                Outcome::Holds(()) => Some((true, report.points)),
                Outcome::Violated(_) => Some((false, report.points)),
                Outcome::Inconclusive(_) => None,
            },
            Err(_) => None,
        }
    };
    let at = match (small, points) {
        (false, false) => "",
        (true, false) => " 3x1",
        (false, true) => " at its points",
        (true, true) => " 3x1 at its points",
    };
    let file = format!("{}{at}", file.display());
    let Some(expected) = judge(all.clone()) else {
        println!("{file}: not finished");
        tally.not_finished += 1;
        return;
    };
    let mut skipped = Vec::new();
    for (chosen, (name, switch)) in SWITCHES.iter().enumerate() {
        let mut but_one = all.clone();
        switch(&mut but_one, false);
        let mut alone = all.clone();
        for (number, (_, switch)) in SWITCHES.iter().enumerate() {
            // Without canonical heaps, garbage makes most spaces too large to compare.
            switch(&mut alone, number == chosen || number == 0);
        }
        for (how, options) in [("without", but_one), ("only", alone)] {
            match judge(options) {
                None => {
                    tally.not_finished += 1;
                    skipped.push(format!("{how} {name}"));
                }
                Some(found) if found == expected => tally.same += 1,
                Some(found) => {
                    tally.different += 1;
                    println!("{file} {how} {name}: {found:?}, with all {expected:?}");
                }
            }
        }
    }
    if !skipped.is_empty() {
        println!("{file}: not finished: {}", skipped.join(", "));
    }
}
