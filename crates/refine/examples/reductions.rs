//! What each reduction brings, on top of those before it, in states.
//!
//! `cargo run --release -p linchpin-refine --example reductions -- [SECONDS]`: two values, no
//! linearization points; each search has so many seconds (60 if not given).

mod question;

use linchpin_ir::program::Program;
use linchpin_refine::Policy;
use linchpin_refine::model::ModelProduct;
use linchpin_refine::search::{Exploration, SearchOptions, explore};
use linchpin_space::Reductions;
use linchpin_verdict::Limits;
use std::time::{Duration, Instant};

/// Models with threads and operations.
const ROWS: [(&str, usize, u32); 9] = [
    ("treiber_stack", 3, 2),
    ("treiber_stack", 3, 3),
    ("ms_queue", 3, 2),
    ("ms_queue", 3, 3),
    ("harris_michael_list", 2, 3),
    ("harris_michael_list", 3, 2),
    ("two_lock_queue", 3, 3),
    ("elimination_stack", 2, 3),
    ("lazy_set", 2, 3),
];

type Switch = fn(&mut Reductions, &mut SearchOptions);

/// What is turned on, one after the other.
const LADDER: [(&str, Switch); 6] = [
    ("without the six", |_, _| {}),
    ("calls, dead-fields", |of, search| {
        of.dead_fields = true;
        search.calls = true;
    }),
    ("settled-fields", |of, _| of.settled_fields = true),
    ("ample-steps", |of, _| of.ample_steps = true),
    ("doomed-attempts", |of, _| of.doomed_attempts = true),
    ("validated-reads", |of, _| of.validated_reads = true),
];

fn main() {
    let seconds = std::env::args().nth(1).and_then(|first| first.parse().ok()).unwrap_or(60);
    let names: Vec<&str> = LADDER.iter().map(|(name, _)| *name).collect();
    println!("| model | threads × operations | {} |", names.join(" | "));
    println!("| --- | --- |{}", " --- |".repeat(LADDER.len()));
    for (model, threads, calls) in ROWS {
        let path = format!("models/{model}.lin");
        let source = std::fs::read_to_string(&path).unwrap_or_default();
        let Some(program) = question::program(&source, threads) else {
            println!("{path}: cannot be read, or does not compile with {threads} threads");
            continue;
        };
        let mut reductions = Reductions {
            dead_fields: false,
            settled_fields: false,
            ample_steps: false,
            doomed_attempts: false,
            validated_reads: false,
            ..Reductions::ALL
        };
        let mut search = SearchOptions { calls: false, ..SearchOptions::default() };
        let mut row = format!("| {model} | {threads}×{calls} |");
        for (_, switch) in LADDER {
            switch(&mut reductions, &mut search);
            let deadline = Some(Instant::now() + Duration::from_secs(seconds));
            search.limits = Limits { deadline, ..Limits::default() };
            row += &cell(&program, calls, reductions, &search);
        }
        println!("{row}");
    }
}

fn cell(program: &Program, calls: u32, reductions: Reductions, search: &SearchOptions) -> String {
    let bounds = question::bounds(calls);
    let product = match ModelProduct::new(program, bounds, reductions, Policy::JustInTime) {
        Ok(product) => product,
        Err(error) => return format!(" {error} |"),
    };
    let (outcome, stats) = explore(&product, search, &|_| {});
    match outcome {
        Exploration::Complete => format!(" {} |", grouped(stats.states as u64)),
        _ => format!(" more than {} |", grouped(stats.states as u64)),
    }
}

/// A number as people read it.
fn grouped(number: u64) -> String {
    match number < 1000 {
        true => number.to_string(),
        false => format!("{},{:03}", grouped(number / 1000), number % 1000),
    }
}
