//! Figures 8 and 9: prefixes of a long log, with and without `ReduceHB`.

use super::{Part, Words, run, verdict, verdict_id};
use crate::limits::Stop;
use crate::progress::Progress;
use anyhow::Result;
use linchpin_history::monitor::mwcas::published::{HappensBefore, Published};
use linchpin_pmwcas::driver::{Prefix, Workload};
use linchpin_pmwcas::{Kind, WriteBack};
use linchpin_report::{Comparison, figures, words};
use linchpin_verdict::{counted, grouped};
use serde_json::json;
use std::time::Instant;

/// About so many bytes of the log an operation takes.
const BYTES: usize = 132;

/// Each prefix is analysed so often, as in the paper.
const RUNS: usize = 5;

const MEGABYTE: usize = 1_000_000;

/// The prefixes of Figure 9: eighths of a megabyte, or of the first prefix of Figure 8.
const EIGHTHS: [usize; 4] = [1, 2, 4, 8];

/// No log is shorter.
const LEAST: usize = MEGABYTE;

/// The prefixes of Figure 8: parts of the whole.
const PARTS: usize = 5;

/// A log of native threads.
pub struct Log {
    words: Words,
    text: Vec<u8>,
    /// Those of Figure 9.
    short: Vec<Prefix>,
    /// Those of Figure 8.
    long: Vec<Prefix>,
    threads: usize,
}

impl Log {
    /// Runs PMwCAS until the log has about so many bytes.
    pub fn make(bytes: u64, stop: &Stop, progress: &Progress) -> Result<Log> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).max(LEAST);
        let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 16);
        let megabyte = MEGABYTE.min(bytes / PARTS);
        let short = EIGHTHS.map(|eighths| eighths * megabyte / 8);
        let long = (1..=PARTS).map(|part| bytes / PARTS * part);
        // Each thread makes its share of the operations up to each of these ends.
        let ends = short.into_iter().chain(long).map(|end| end / BYTES / threads);
        let mut from = 0;
        let parts = ends.map(|end| end - std::mem::replace(&mut from, end)).collect();
        progress.show(|| format!("a log of {} MB by {threads} threads", bytes / MEGABYTE));
        let workload = Workload {
            threads,
            words: 16,
            seed: 1,
            kind: Kind::Right,
            write_back: WriteBack::Nothing,
            parts,
        };
        let mut text = Vec::with_capacity(bytes + bytes / 8);
        let mut short = run(&workload, true, stop)?.write(&mut text)?;
        let long = short.split_off(EIGHTHS.len());
        Ok(Log { words: Words::holding(0)?, text, short, long, threads })
    }

    /// What it is.
    pub fn described(&self) -> String {
        format!(
            "a log of {} MB: {} by {} on 16 words",
            grouped(self.text.len() / MEGABYTE),
            counted(self.operations(), "operation"),
            counted(self.threads, "thread"),
        )
    }

    /// How many operations it has.
    pub fn operations(&self) -> usize {
        self.long.last().map_or(0, |prefix| prefix.operations)
    }

    /// Figure 8.
    pub fn scalability(&self, stop: &Stop, progress: &Progress) -> Result<Part> {
        let mut table = Comparison::new(&[
            ("Figure 8", &[figures("MB"), figures("operations"), words("verdict")]),
            ("paper", &[words("time and edges")]),
            ("ours, graph", &[figures("edges"), figures("an operation"), figures("s")]),
            ("ours", &[figures("reading, s"), figures("judging, s"), figures("µs an operation")]),
        ]);
        let (mut rows, mut is_as_expected) = (Vec::new(), true);
        for prefix in &self.long {
            let (mut reading, mut judging, mut graph) = (Vec::new(), Vec::new(), Vec::new());
            let mut seen = None;
            for at in 0..RUNS {
                if stop.reason().is_some() {
                    break;
                }
                progress.show(|| format!("{} MB, run {}", prefix.bytes / MEGABYTE, at + 1));
                let started = Instant::now();
                let mut history = self.words.read(&self.text[..prefix.bytes])?;
                reading.push(started.elapsed().as_secs_f64());
                let (published, edges, seconds) =
                    self.words.published(&history, HappensBefore::Reduced)?;
                graph.push(seconds);
                let (holds, seconds) = self.words.judge(&mut history, stop)?;
                judging.push(seconds);
                seen = Some((published, edges, holds));
            }
            let Some((published, edges, holds)) = seen else { continue };
            if stop.reason().is_some() {
                break;
            }
            // At most the point contention for happens-before, and three for each word.
            let most = prefix.operations * (self.threads + 2 * 3);
            is_as_expected &= holds == Some(true)
                && published == Published::Linearizable
                && edges.total() <= most;
            let both = mean(&reading) + mean(&judging);
            table.push(vec![
                format!("{:.1}", megabytes(prefix)),
                grouped(prefix.operations),
                verdict(holds).to_owned(),
                "linear, holds".to_owned(),
                grouped(edges.total()),
                format!("{:.2}", ratio(edges.total(), prefix.operations)),
                with_deviation(&graph),
                with_deviation(&reading),
                with_deviation(&judging),
                format!("{:.2}", both / operations(prefix) * 1e6),
            ]);
            rows.push(json!({
                "experiment": "figure-8", "bytes": prefix.bytes, "operations": prefix.operations,
                "verdict": verdict_id(holds), "edges": edges.total(), "graph_seconds": graph,
                "reading_seconds": reading, "judging_seconds": judging,
            }));
        }
        Ok(Part { table, rows, is_as_expected })
    }

    /// Figure 9.
    pub fn reduction(&self, stop: &Stop, progress: &Progress) -> Result<Part> {
        let columns = [figures("edges"), figures("ms")];
        let mut table = Comparison::new(&[
            ("Figure 9", &[figures("MB"), figures("operations")]),
            ("ours, ReduceHB", &columns),
            ("ours, all edges", &columns),
            ("times as long", &[figures("ours"), words("paper")]),
        ]);
        let (mut rows, mut is_as_expected) = (Vec::new(), true);
        for prefix in &self.short {
            if stop.reason().is_some() {
                break;
            }
            progress.show(|| format!("{:.2} MB with and without ReduceHB", megabytes(prefix)));
            let history = self.words.read(&self.text[..prefix.bytes])?;
            let analysed = |which| -> Result<(usize, f64)> {
                let mut best = f64::INFINITY;
                let mut found = None;
                for _ in 0..RUNS {
                    let (published, edges, seconds) = self.words.published(&history, which)?;
                    best = best.min(seconds);
                    found = Some((published, edges.total()));
                }
                let (published, edges) = found.unwrap_or((Published::NotCovered, 0));
                let edges = if published == Published::Linearizable { edges } else { 0 };
                Ok((edges, best))
            };
            let (reduced, seconds) = analysed(HappensBefore::Reduced)?;
            let (all, seconds_all) = analysed(HappensBefore::All)?;
            is_as_expected &= reduced > 0 && all > 2 * reduced;
            let paper = if prefix.bytes > MEGABYTE * 3 / 4 { "about 100 at 1 MB" } else { "-" };
            table.push(vec![
                format!("{:.2}", megabytes(prefix)),
                grouped(prefix.operations),
                grouped(reduced),
                format!("{:.2}", seconds * 1e3),
                grouped(all),
                format!("{:.1}", seconds_all * 1e3),
                format!("{:.0}", seconds_all / seconds),
                paper.to_owned(),
            ]);
            rows.push(json!({
                "experiment": "figure-9", "bytes": prefix.bytes, "operations": prefix.operations,
                "edges": reduced, "seconds": seconds, "all_edges": all, "all_seconds": seconds_all,
            }));
        }
        Ok(Part { table, rows, is_as_expected })
    }
}

fn megabytes(prefix: &Prefix) -> f64 {
    prefix.bytes as f64 / 1e6
}

fn operations(prefix: &Prefix) -> f64 {
    prefix.operations as f64
}

fn ratio(of: usize, to: usize) -> f64 {
    of as f64 / to as f64
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

/// The mean, and the standard deviation.
fn with_deviation(of: &[f64]) -> String {
    let mean = mean(of);
    let squares: f64 = of.iter().map(|one| (one - mean).powi(2)).sum();
    let deviation = (squares / (of.len().max(2) - 1) as f64).sqrt();
    format!("{mean:.3} ± {deviation:.3}")
}
