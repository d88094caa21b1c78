//! The third experiment of Section 6.1: what logging costs.

use super::{Part, run};
use crate::limits::Stop;
use crate::progress::Progress;
use anyhow::Result;
use linchpin_pmwcas::driver::Workload;
use linchpin_pmwcas::{HAS_INSTRUCTION, Kind, WriteBack};
use linchpin_report::{Comparison, figures, words};
use serde_json::json;

/// So many runs of each kind, in turn; the median counts.
const RUNS: usize = 7;

/// What is written back, how it is called, and how many operations a thread makes.
const WRITE_BACKS: [(WriteBack, &str, usize); 2] =
    [(WriteBack::Nothing, "nothing", 1_000_000), (WriteBack::Machine, "a line", 100_000)];

/// Runs PMwCAS with and without logs, at most so many operations a thread.
pub fn cost(most: usize, stop: &Stop, progress: &Progress) -> Result<Part> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 16);
    let mut table = Comparison::new(&[
        ("logging", &[words("each persist writes back"), figures("threads")]),
        ("ours", &[figures("ns an operation"), figures("with logs"), figures("more")]),
        ("paper", &[words("more")]),
    ]);
    let mut rows = Vec::new();
    for (write_back, name, operations) in WRITE_BACKS {
        if stop.reason().is_some() || write_back == WriteBack::Machine && !HAS_INSTRUCTION {
            continue;
        }
        progress.show(|| format!("the cost of logging, {name} written back"));
        let workload = Workload {
            threads,
            words: 16,
            seed: 1,
            kind: Kind::Right,
            write_back,
            parts: vec![operations.min(most)],
        };
        let nanoseconds = |logging| -> Result<f64> {
            let run = run(&workload, logging, stop)?;
            Ok(run.time.as_secs_f64() * 1e9 / run.operations as f64)
        };
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            without.push(nanoseconds(false)?);
            with.push(nanoseconds(true)?);
        }
        let (without, with) = (median(without), median(with));
        table.push(vec![
            name.to_owned(),
            threads.to_string(),
            format!("{without:.0}"),
            format!("{with:.0}"),
            format!("{:.0} %", (with / without - 1.0) * 100.0),
            "about 10 %".to_owned(),
        ]);
        rows.push(json!({
            "experiment": "logging", "write_back": name, "threads": threads,
            "nanoseconds": without, "logging_nanoseconds": with,
        }));
    }
    Ok(Part { table, rows, is_as_expected: true })
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of.get(of.len() / 2).copied().unwrap_or(f64::NAN)
}
