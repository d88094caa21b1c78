//! Linchpin: linearizability of a model within bounds, without linearization points.

use crate::{Cost, RUNS};
use anyhow::{Context, Result, anyhow, bail};
use linchpin_lang::{Config, Threads, compile};
use linchpin_refine::{VerifyOptions, verify};
use linchpin_space::{Bounds, Calls, Values};
use linchpin_verdict::Outcome;
use std::process::Command;
use std::time::Instant;

/// The values that are asked about: those of the Promela models, or all above 0.
pub const VALUES: [(&str, Values); 2] = [("Linchpin", Values::UpTo(2)), ("any", Values::Any)];

/// Runs one size in this process and prints its cost, for [`in_a_process`] to read.
pub fn run(model: &str, who: &str, threads: usize, operations: usize) -> Result<()> {
    let values = VALUES.into_iter().find(|(name, _)| *name == who);
    let (_, values) = values.with_context(|| format!("no values are called {who}"))?;
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
        values,
        objects: None,
        memory: Default::default(),
        crashes: 0,
        thread_crashes: 0,
    };
    let options = VerifyOptions { points: false, stuck: false, ..VerifyOptions::new(bounds) };
    let report = verify(&compiled.program, &options, &|_| {})?;
    let seconds = start.elapsed().as_secs_f64();
    let verdict = match (report.outcome, report.values) {
        (Outcome::Holds(()), Values::Any) => "linearizable within bounds, any values".to_owned(),
        (Outcome::Holds(()), Values::UpTo(_)) => "linearizable within bounds".to_owned(),
        (Outcome::Violated(_), _) => "violated".to_owned(),
        (Outcome::Inconclusive(reason), _) => format!("undecided: {reason}"),
    };
    let states = report.stats.states;
    println!("{states} {seconds} {} {verdict}", peak_megabytes().unwrap_or(f64::NAN));
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
pub fn in_a_process(model: &str, who: &str, (threads, operations): (usize, usize)) -> Result<Cost> {
    let mut best: Option<Cost> = None;
    for _ in 0..RUNS {
        let output = Command::new(std::env::current_exe()?)
            .args(["--ours", model, who, &threads.to_string(), &operations.to_string()])
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
