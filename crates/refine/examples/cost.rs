//! What a state costs: one search, by so many workers, several times in turn.
//!
//! `cargo run --release -p linchpin-refine --example cost -- MODEL.lin THREADS OPS [plain]
//! [workers=1,2] [times=N]`: two values, no linearization points; `plain` is without the six newer
//! reductions. Workers take turns, so that a busy machine is as busy for all of them.

mod question;

use linchpin_refine::Policy;
use linchpin_refine::model::ModelProduct;
use linchpin_refine::search::{Exploration, SearchOptions, Stats, explore};
use linchpin_space::Reductions;
use std::process::ExitCode;

/// What is searched, and how often by how many workers.
struct Question {
    source: String,
    threads: usize,
    calls: u32,
    plain: bool,
    workers: Vec<usize>,
    times: usize,
}

fn main() -> ExitCode {
    let Some(question) = question() else {
        eprintln!("usage: cost MODEL.lin THREADS OPS [plain] [workers=1,2] [times=N]");
        return ExitCode::from(2);
    };
    let mut best: Vec<Option<Stats>> = vec![None; question.workers.len()];
    for _ in 0..question.times {
        for (workers, best) in question.workers.iter().zip(&mut best) {
            let Some(stats) = search(&question, *workers) else { return ExitCode::FAILURE };
            if best.is_none_or(|best| stats.seconds < best.seconds) {
                *best = Some(stats);
            }
        }
    }
    for (workers, stats) in question.workers.iter().zip(best) {
        let Some(stats) = stats else { continue };
        println!(
            "{workers} workers: {} states, {} transitions, depth {}, {:.3} s, {:.0} states/s, \
             {:.1} bytes a state",
            stats.states,
            stats.transitions,
            stats.depth,
            stats.seconds,
            stats.states as f64 / stats.seconds.max(1e-9),
            stats.bytes as f64 / stats.states.max(1) as f64,
        );
    }
    ExitCode::SUCCESS
}

fn question() -> Option<Question> {
    let mut arguments = std::env::args().skip(1);
    let source = std::fs::read_to_string(arguments.next()?).ok()?;
    let threads = arguments.next()?.parse().ok()?;
    let calls = arguments.next()?.parse().ok()?;
    let (plain, workers, times) = (false, vec![1, 2], 1);
    let mut question = Question { source, threads, calls, plain, workers, times };
    for argument in arguments {
        if argument == "plain" {
            question.plain = true;
        } else if let Some(workers) = argument.strip_prefix("workers=") {
            question.workers = workers.split(',').map(|n| n.parse().ok()).collect::<Option<_>>()?;
        } else {
            question.times = argument.strip_prefix("times=")?.parse().ok()?;
        }
    }
    Some(question)
}

fn search(question: &Question, workers: usize) -> Option<Stats> {
    let program = question::program(&question.source, question.threads)?;
    let bounds = question::bounds(question.calls);
    let mut reductions = Reductions::ALL;
    if question.plain {
        reductions.dead_fields = false;
        reductions.settled_fields = false;
        reductions.ample_steps = false;
        reductions.doomed_attempts = false;
        reductions.validated_reads = false;
    }
    let product = ModelProduct::new(&program, bounds, reductions, Policy::JustInTime);
    let options = SearchOptions { workers, calls: !question.plain, ..SearchOptions::default() };
    let (outcome, stats) = explore(&product.ok()?, &options, &|_| {});
    (outcome == Exploration::Complete).then_some(stats)
}
