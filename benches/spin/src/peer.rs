//! SPIN: generates a verifier, compiles it, runs it, reads what it says.

use crate::{Cost, RUNS};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// One run of so many seconds will do.
const LONG: f64 = 15.0;

/// SPIN's version, if it and a C compiler are there.
pub fn version() -> Option<String> {
    let said = |program: &str, argument: &str| {
        let output = Command::new(program).arg(argument).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    said("gcc", "--version")?;
    said("spin", "-V")
}

/// The best of some runs of the verifier of a Promela model, each of which has so many minutes.
pub fn run(promela: &str, (threads, operations): (usize, usize), minutes: u32) -> Result<Cost> {
    let directory = tempfile::tempdir()?;
    let here = directory.path();
    std::fs::write(here.join("model.pml"), promela)?;
    let sizes = [format!("-DTHREADS={threads}"), format!("-DOPS={operations}")];
    execute(here, "spin", &[&sizes[0], &sizes[1], "-a", "model.pml"])?;
    let options = ["-w", "-O2", "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=16384", "-o", "pan", "pan.c"];
    execute(here, "gcc", &options)?;
    let mut best: Option<Cost> = None;
    for _ in 0..RUNS {
        let start = Instant::now();
        // `-Q` ends it after so many minutes, with what it has until then.
        let patience = format!("-Q{minutes}");
        let output = execute(here, "./pan", &["-m10000", "-n", &patience])?;
        let seconds = start.elapsed().as_secs_f64();
        let cost = read(&output, seconds)?;
        let is_long = cost.seconds > LONG;
        if best.as_ref().is_none_or(|best| cost.seconds < best.seconds) {
            best = Some(cost);
        }
        if is_long {
            break;
        }
    }
    best.context("no runs were asked for")
}

fn execute(here: &Path, program: &str, arguments: &[&str]) -> Result<String> {
    let path = if program.starts_with("./") { here.join(program) } else { program.into() };
    let output = Command::new(path)
        .args(arguments)
        .current_dir(here)
        .output()
        .with_context(|| format!("cannot run {program}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        bail!("{program} failed: {text}{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(text)
}

/// Reads the verifier's report. The seconds are by its own clock, which leaves out the start of the
/// process as ours does; where it tells none, `seconds`.
fn read(output: &str, seconds: f64) -> Result<Cost> {
    let number = |what: &str| -> Result<f64> {
        let line = output.lines().find(|line| line.contains(what));
        let line =
            line.with_context(|| format!("the verifier does not tell its {what}:\n{output}"))?;
        let word = line.split_whitespace().next().unwrap_or_default();
        word.parse().with_context(|| format!("not a number: {line}"))
    };
    let clock = output.lines().find_map(|line| {
        line.strip_prefix("pan: elapsed time ")?.split_whitespace().next()?.parse().ok()
    });
    let errors = output.contains("errors: 0");
    // INVARIANT: a truncated search is no verdict.
    if output.contains("max search depth too small") || output.contains("out of memory") {
        bail!("the verifier did not finish:\n{output}");
    }
    Ok(Cost {
        states: number("states, stored")? as u64,
        // Its clock shows hundredths; 0 would make ratios meaningless.
        seconds: clock.filter(|clock| *clock > 0.0).unwrap_or(seconds),
        megabytes: number("total actual memory usage")?,
        verdict: match (errors, output.contains("Search not completed")) {
            (true, false) => "no assertion fails",
            (true, true) => "not finished",
            (false, _) => "an assertion fails",
        }
        .to_owned(),
    })
}
