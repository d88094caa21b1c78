//! Section 6.2: the bugs that were found, in two codebases.

use super::{Part, Words, run, verdict, verdict_id};
use crate::limits::Stop;
use crate::progress::Progress;
use anyhow::Result;
use linchpin_history::monitor::mwcas::published::{HappensBefore, Published};
use linchpin_pmwcas::driver::Workload;
use linchpin_pmwcas::{Kind, WriteBack};
use linchpin_report::{Comparison, words};
use linchpin_verdict::counted;
use serde_json::{Value as Json, json};

/// Figure 12, by hand: all words hold 0, thread 0 changes B and A; thread 1 fails at A as it
/// should; thread 2 fails at C, which no operation has changed.
const FIGURE_12: &str = r#"{"process":0,"type":"invoke","f":"mwread","value":[["A",null],["B",null],["C",null],["D",null]]}
{"process":0,"type":"ok","f":"mwread","value":[["A",0],["B",0],["C",0],["D",0]]}
{"process":0,"type":"invoke","f":"mwcas","value":[["B",0,1],["A",0,2]]}
{"process":1,"type":"invoke","f":"mwcas","value":[["C",0,3],["A",0,4]]}
{"process":2,"type":"invoke","f":"mwcas","value":[["C",0,5],["D",0,6]]}
{"process":0,"type":"ok","f":"mwcas","value":true}
{"process":2,"type":"ok","f":"mwcas","value":{"failed":"C"}}
{"process":1,"type":"ok","f":"mwcas","value":{"failed":"A"}}
"#;

/// Figure 10, by hand: thread 0 swaps 2 into A, and 3 for it; thread 1 swaps A too and also answers
/// 2. A swap is a change from what it answered. The reads are there because the published analysis
/// wants what is expected to have been read.
const FIGURE_10: &str = r#"{"process":0,"type":"invoke","f":"mwread","value":[["A",null]]}
{"process":0,"type":"ok","f":"mwread","value":[["A",0]]}
{"process":0,"type":"invoke","f":"mwcas","value":[["A",0,2]]}
{"process":0,"type":"ok","f":"mwcas","value":true}
{"process":0,"type":"invoke","f":"mwread","value":[["A",null]]}
{"process":0,"type":"ok","f":"mwread","value":[["A",2]]}
{"process":0,"type":"invoke","f":"mwcas","value":[["A",2,3]]}
{"process":1,"type":"invoke","f":"mwcas","value":[["A",2,4]]}
{"process":0,"type":"ok","f":"mwcas","value":true}
{"process":1,"type":"ok","f":"mwcas","value":true}
"#;

/// So many runs by chance, and so many operations each.
const RUNS: u64 = 12;
const OPERATIONS: usize = 150_000;

/// The histories of both bugs, and runs of the code with the first, at most so many operations
/// each.
pub fn histories(most: usize, stop: &Stop, progress: &Progress) -> Result<Part> {
    let mut part = Part {
        table: Comparison::new(&[
            ("bugs", &[words("codebase"), words("what")]),
            ("paper", &[words("found")]),
            ("ours", &[words("graph"), words("verdict")]),
        ]),
        rows: Vec::new(),
        is_as_expected: true,
    };
    part.by_hand("A", "Figure 12", "property ii", FIGURE_12, Published::MissingEdge, stop)?;
    for (kind, what) in [(Kind::DirtyFails, "the bug"), (Kind::Right, "repaired")] {
        for threads in [2, 3] {
            progress.show(|| format!("PMwCAS, {what}, on {threads} threads"));
            part.by_chance(kind, (what, threads), OPERATIONS.min(most), stop)?;
        }
    }
    part.by_hand("B", "Figure 10", "property iii", FIGURE_10, Published::Fork, stop)?;
    Ok(part)
}

impl Part {
    /// A history that was written down.
    fn by_hand(
        &mut self,
        codebase: &str,
        figure: &str,
        paper: &str,
        text: &str,
        expected: Published,
        stop: &Stop,
    ) -> Result<()> {
        let words = Words::holding(0)?;
        let mut history = words.read(text.as_bytes())?;
        let (published, _, _) = words.published(&history, HappensBefore::Reduced)?;
        let (holds, _) = words.judge(&mut history, stop)?;
        self.is_as_expected &= published == expected && holds == Some(false);
        let property = match published {
            Published::Cycle => "property i",
            Published::MissingEdge => "property ii",
            Published::Fork => "property iii",
            Published::Linearizable => "none",
            Published::NotCovered => "not covered",
        };
        let what = format!("{figure}, written by hand");
        self.push(codebase, &what, paper, property, verdict(holds));
        self.rows.push(json!({
            "experiment": "bug", "codebase": codebase, "history": figure,
            "violates": property, "verdict": verdict_id(holds),
        }));
        Ok(())
    }

    /// PMwCAS on real threads, until something is wrong.
    fn by_chance(
        &mut self,
        kind: Kind,
        (what, threads): (&str, usize),
        operations: usize,
        stop: &Stop,
    ) -> Result<()> {
        let words = Words::holding(0)?;
        let (mut runs, mut found) = (0, false);
        while runs < RUNS && !found && stop.reason().is_none() {
            runs += 1;
            let workload = Workload {
                threads,
                words: 3,
                seed: runs,
                kind,
                write_back: WriteBack::Turns(20),
                parts: vec![operations / threads],
            };
            let mut log = Vec::new();
            run(&workload, true, stop)?.write(&mut log)?;
            let (holds, _) = words.judge(&mut words.read(&log)?, stop)?;
            found = holds == Some(false);
        }
        if stop.reason().is_some() && !found {
            return Ok(());
        }
        self.is_as_expected &= kind != Kind::Right || !found;
        let paper = match (kind, threads) {
            (Kind::Right, _) => "no violation",
            (_, 2) => "no violation",
            _ => "violations",
        };
        let ours = match found {
            true => format!("violated in run {runs}"),
            false => format!("holds in {}", counted(runs, "run")),
        };
        let described = format!("{what}, {threads} real threads");
        self.push("A", &described, paper, "-", &ours);
        self.rows.push(json!({
            "experiment": "bug", "codebase": "A", "is_repaired": kind == Kind::Right,
            "threads": threads, "runs": runs,
            "verdict": Json::from(verdict(Some(!found))),
        }));
        Ok(())
    }

    fn push(&mut self, codebase: &str, what: &str, paper: &str, graph: &str, ours: &str) {
        self.table.push([codebase, what, paper, graph, ours].map(str::to_owned).to_vec());
    }
}
