//! How the cost grows: states, seconds and bytes per state for more threads and more operations.
//!
//! `cargo run --release -p linchpin-refine --example growth -- [SECONDS] [MODEL.lin…]`: each cell
//! has so many seconds (60 if not given); without models, Treiber's stack and the Michael–Scott
//! queue.

mod question;

use linchpin_refine::Policy;
use linchpin_refine::model::ModelProduct;
use linchpin_refine::search::{Exploration, SearchOptions, explore};
use linchpin_space::Reductions;
use linchpin_verdict::Limits;
use std::time::{Duration, Instant};

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let seconds = match arguments.first().and_then(|first| first.parse().ok()) {
        Some(seconds) => {
            arguments.remove(0);
            seconds
        }
        None => 60,
    };
    if arguments.is_empty() {
        arguments = vec!["models/treiber_stack.lin".into(), "models/ms_queue.lin".into()];
    }
    println!("two values, all reductions, no linearization points; {seconds} s a cell");
    for path in &arguments {
        let source = match std::fs::read_to_string(path) {
            Ok(source) => source,
            Err(error) => {
                println!("{path}: {error}");
                continue;
            }
        };
        println!("\n{path}");
        println!(
            "{:>7} {:>4} {:>12} {:>12} {:>10} {:>8} {:>11}",
            "threads", "ops", "states", "transitions", "seconds", "B/state", "states/s"
        );
        for threads in 1..=4 {
            for calls in 1..=8 {
                if !cell(&source, threads, calls, Duration::from_secs(seconds)) {
                    break;
                }
            }
        }
    }
}

/// One cell; `false` if it was given up, so that larger ones need not be tried.
fn cell(source: &str, threads: usize, calls: u32, patience: Duration) -> bool {
    let Some(program) = question::program(source, threads) else {
        println!("{threads:>7} the model does not compile with so many threads");
        return false;
    };
    let bounds = question::bounds(calls);
    let product = ModelProduct::new(&program, bounds, Reductions::ALL, Policy::JustInTime);
    let product = match product {
        Ok(product) => product,
        Err(error) => {
            println!("{threads:>7} {error}");
            return false;
        }
    };
    let limits = Limits { deadline: Some(Instant::now() + patience), ..Limits::default() };
    let options = SearchOptions { limits, ..SearchOptions::default() };
    let (outcome, stats) = explore(&product, &options, &|_| {});
    let note = match &outcome {
        Exploration::Complete => String::new(),
        Exploration::Found { .. } => "  violated".to_owned(),
        Exploration::Stopped(reason) => format!("  {reason}"),
    };
    println!(
        "{threads:>7} {calls:>4} {:>12} {:>12} {:>10.3} {:>8.0} {:>11.0}{note}",
        stats.states,
        stats.transitions,
        stats.seconds,
        stats.bytes as f64 / stats.states.max(1) as f64,
        stats.states as f64 / stats.seconds.max(1e-9),
    );
    outcome == Exploration::Complete
}
