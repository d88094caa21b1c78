//! How the cost of base point analysis grows, beside refinement of the same model in the same run:
//! `growth [MODEL.lin]`, the lazy set if none is named.

use linchpin_base::{Options, analyse};
use linchpin_ir::interpreter::Memory;
use linchpin_lang::{Config, Threads, compile};
use linchpin_refine::VerifyOptions;
use linchpin_space::Bounds;
use linchpin_verdict::{Calls, Values};
use std::error::Error;
use std::time::Instant;

/// Threads, calls of each (0: any number), values.
const ROWS: [(usize, u32, i64); 8] =
    [(2, 1, 3), (2, 2, 3), (2, 3, 3), (2, 0, 3), (3, 1, 2), (3, 1, 3), (3, 2, 2), (3, 2, 3)];

fn main() -> Result<(), Box<dyn Error>> {
    let model = std::env::args().nth(1).unwrap_or_else(|| "models/lazy_set.lin".to_owned());
    let source = std::fs::read_to_string(&model)?;
    println!("{model}");
    println!("| threads | calls | values | states | shared | s | refine s | ratio | holds |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (threads, calls, values) in ROWS {
        let config = Config { threads: Threads::Count(threads), ..Config::default() };
        let compiled = compile(&source, &config).map_err(|_| "not a model")?;
        let each = if calls == 0 { Calls::Unlimited } else { Calls::Each(calls) };
        let bounds = Bounds {
            calls: each,
            values: Values::UpTo(values),
            objects: None,
            memory: Memory::Collected,
            crashes: 0,
            thread_crashes: 0,
        };
        let start = Instant::now();
        let analysis = analyse(&compiled.program, &Options::new(bounds), &|_| {})?;
        let ours = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let mut options = VerifyOptions::new(bounds);
        options.stuck = false;
        options.points = false;
        linchpin_refine::verify(&compiled.program, &options, &|_| {})?;
        let theirs = start.elapsed().as_secs_f64();
        println!(
            "| {threads} | {} | {values} | {} | {} | {ours:.2} | {theirs:.2} | {:.1} | {} |",
            if calls == 0 { "any".to_owned() } else { calls.to_string() },
            analysis.states(),
            analysis.shared.len(),
            ours / theirs,
            if analysis.holds() { "yes" } else { "no" }
        );
    }
    Ok(())
}
