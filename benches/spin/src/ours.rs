//! Linchpin: linearizability of a model within bounds, without linearization points.

use crate::Cost;
use anyhow::{Context, Result, anyhow, bail};
use linchpin_lang::{Config, Threads, compile};
use linchpin_refine::Policy;
use linchpin_refine::model::ModelProduct;
use linchpin_refine::search::{Exploration, SearchOptions, explore};
use linchpin_space::{Bounds, Calls, Reductions, Values};
use std::process::Command;
use std::time::Instant;

/// As in the Promela models.
const VALUES: i64 = 2;

/// Runs one size in this process and prints its cost, for [`in_a_process`] to read.
pub fn run(model: &str, threads: usize, operations: usize) -> Result<()> {
    let path = format!("{}/../../models/{model}.lin", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(&path).with_context(|| path.clone())?;
    let start = Instant::now();
    let config = Config { threads: Threads::Count(threads), ..Config::default() };
    let compiled = compile(&source, &config).map_err(|mistakes| {
        let shown: Vec<_> = mistakes.iter().map(|m| m.render(&path, &source, false)).collect();
        anyhow!(shown.join("\n"))
    })?;
    let bounds = Bounds {
        calls: Calls::Each(u32::try_from(operations)?),
        values: Values::UpTo(VALUES),
        objects: None,
        memory: Default::default(),
        crashes: 0,
        thread_crashes: 0,
    };
    let product =
        ModelProduct::new(&compiled.program, bounds, Reductions::ALL, Policy::JustInTime)?;
    let (outcome, stats) = explore(&product, &SearchOptions::default(), &|_| {});
    let seconds = start.elapsed().as_secs_f64();
    let verdict = match outcome {
        Exploration::Complete => "linearizable within bounds".to_owned(),
        Exploration::Found { wrong, .. } => format!("violated: {wrong:?}"),
        Exploration::Stopped(reason) => format!("undecided: {reason}"),
    };
    println!("{} {seconds} {} {verdict}", stats.states, peak_megabytes().unwrap_or(f64::NAN));
    Ok(())
}

/// The peak of this process's resident memory, where the system tells.
fn peak_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// The best of some runs, each in a process of its own.
pub fn in_a_process(model: &str, threads: usize, operations: usize, runs: usize) -> Result<Cost> {
    let mut best: Option<Cost> = None;
    for _ in 0..runs {
        let output = Command::new(std::env::current_exe()?)
            .args(["--ours", model, &threads.to_string(), &operations.to_string()])
            .output()?;
        if !output.status.success() {
            bail!("{model}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let mut words = text.trim().splitn(4, ' ');
        let mut word = || words.next().context("our own output is cut off");
        let cost = Cost {
            states: word()?.parse()?,
            seconds: word()?.parse()?,
            megabytes: word()?.parse()?,
            verdict: word()?.to_owned(),
        };
        if best.as_ref().is_none_or(|best| cost.seconds < best.seconds) {
            best = Some(cost);
        }
    }
    best.context("no runs were asked for")
}
