//! Table 1 of "Model Checking Linearizability via Refinement" (Liu, Chen, Liu, Sun, 2009).

use super::{Measured, Missing};
use crate::args::ReproduceArgs;
use crate::limits::Stop;
use crate::progress::Progress;
use anyhow::{Result, anyhow};
use linchpin_ir::interpreter::Memory;
use linchpin_lang::{Config, Threads, compile};
use linchpin_refine::search::{SearchOptions, Stats};
use linchpin_refine::{Points, VerifyOptions, verify};
use linchpin_report::{Comparison, Reproduction, figures, words};
use linchpin_space::{Bounds, Calls, Reductions};
use linchpin_spec::Value;
use linchpin_verdict::Outcome;
use linchpin_verdict::grouped;
use linchpin_verdict::{Limits, Values};
use serde_json::{Value as Json, json};
use std::time::{Duration, Instant};

/// What the table is called.
pub const NAME: &str = "Model Checking Linearizability via Refinement, Table 1";

const REGISTER: &str = include_str!("../../../models/k_register.lin");
const STACK: &str = include_str!("../../../models/treiber_stack.lin");
const QUEUE: &str = include_str!("../../../models/ms_queue.lin");
const BUGGY: &str = include_str!("../../../models/broken/shann_huang_chen_queue.lin");
const MAILBOX: &str = include_str!("../../../models/mailbox.lin");
const SNZI: &str = include_str!("../../../models/snzi_tree.lin");

/// A row of the table: what the paper says, and what we run.
struct Row {
    name: &'static str,
    threads: usize,
    linearizable: bool,
    /// Seconds and states without and with partial order reduction; `None` where the paper has a
    /// dash.
    paper: [Option<(f64, usize)>; 2],
    source: &'static str,
    set: Option<(&'static str, i64)>,
    roles: Option<&'static [(&'static str, usize)]>,
    calls: Calls,
    objects: Option<usize>,
    points: bool,
}

#[rustfmt::skip]
fn rows() -> Vec<Row> {
    let base = Row {
        name: "", threads: 2, linearizable: true, paper: [None, None], source: REGISTER, set: None,
        roles: None, calls: Calls::Unlimited, objects: None, points: false,
    };
    const READERS: &[(&str, usize)] = &[("writer", 1), ("reader", 2)];
    // A stack of n elements and what each thread holds; a queue has a dummy as well.
    let stack = |size: usize, threads: usize| Some(size + threads);
    let queue = |size: usize| Some(size + 1 + 2);
    vec![
        Row { name: "4-valued register", paper: [Some((6.14, 50_893)), Some((5.72, 43_977))], set: Some(("K", 4)), ..base },
        Row { name: "5-valued register", paper: [Some((44.9, 349_333)), Some((60.4, 307_155))], set: Some(("K", 5)), ..base },
        Row { name: "6-valued register", paper: [Some((297.0, 2_062_437)), Some((789.0, 1_838_177))], set: Some(("K", 6)), ..base },
        Row { name: "3-valued register, 2 readers", threads: 3, paper: [Some((294.0, 479_859)), Some((393.0, 361_255))], set: Some(("K", 3)), roles: Some(READERS), ..base },
        Row { name: "stack of size 12", paper: [Some((138.0, 540_769)), Some((65.9, 395_345))], source: STACK, objects: stack(12, 2), ..base },
        Row { name: "stack of size 14", paper: [Some((411.0, 763_401)), Some((99.4, 599_077))], source: STACK, objects: stack(14, 2), ..base },
        Row { name: "stack of size 2", threads: 3, paper: [None, Some((4321.0, 4_767_519))], source: STACK, objects: stack(2, 3), ..base },
        Row { name: "stack of size 12 (points)", paper: [Some((0.62, 9_677)), Some((0.82, 9_677))], source: STACK, objects: stack(12, 2), points: true, ..base },
        Row { name: "stack of size 14 (points)", paper: [Some((0.82, 12_963)), Some((1.11, 12_963))], source: STACK, objects: stack(14, 2), points: true, ..base },
        Row { name: "stack of size 2 (points)", threads: 3, paper: [Some((1.14, 10_385)), Some((1.56, 10_385))], source: STACK, objects: stack(2, 3), points: true, ..base },
        Row { name: "stack of size 2 (points)", threads: 4, paper: [Some((37.6, 219_471)), Some((49.4, 219_471))], source: STACK, objects: stack(2, 4), points: true, ..base },
        Row { name: "queue of size 6", paper: [Some((134.0, 432_511)), Some((86.2, 343_446))], source: QUEUE, objects: queue(6), ..base },
        Row { name: "queue of size 8", paper: [Some((256.0, 104_582)), Some((218.0, 938_542))], source: QUEUE, objects: queue(8), ..base },
        Row { name: "buggy queue of size 10", linearizable: false, paper: [Some((10.9, 32_126)), Some((6.87, 32_126))], source: BUGGY, set: Some(("L", 10)), ..base },
        Row { name: "buggy queue of size 20", linearizable: false, paper: [Some((52.73, 105_326)), Some((41.1, 105_326))], source: BUGGY, set: Some(("L", 20)), ..base },
        Row { name: "mailbox of 3 operations", paper: [Some((71.6, 272_608)), Some((27.8, 120_166))], source: MAILBOX, calls: Calls::Each(3), ..base },
        Row { name: "mailbox of 4 operations", paper: [Some((2904.0, 9_928_706)), Some((954.0, 3_696_700))], source: MAILBOX, calls: Calls::Each(4), ..base },
        Row { name: "SNZI of size 2", paper: [Some((1298.0, 712_857)), Some((322.0, 341_845))], source: SNZI, calls: Calls::Each(2), ..base },
        Row { name: "SNZI of size 3", threads: 3, paper: [None, Some((6214.0, 8_451_568))], source: SNZI, calls: Calls::Each(2), ..base },
    ]
}

const NOTES: [&str; 3] = [
    "paper: Intel Q9550 at 2.83 GHz, 2 GB; - is out of memory or more than 4 hours. The 104,582 states of the queue \
     of size 8 without reduction are as printed there; one of the two figures must be a misprint.",
    "ours: all reductions, on this machine now. \"ours, none\" is with none but canonical heaps (garbage must go, or \
     the space is infinite), the whole closure at once, no antichain; > is where patience ended.",
    "The models are ours: one value, any number of operations, and as many heap objects as the size of the object \
     needs, where the paper bounds the size; SNZI is a tree of two nodes with two operations a thread.",
];

/// The table; as expected if every verdict is.
pub fn table(args: &ReproduceArgs, stop: &Stop) -> Result<Measured> {
    let mut table = Comparison::new(&[
        ("", &[words("algorithm"), figures("threads"), words("verdict")]),
        ("paper, no reduction", &[figures("s"), figures("states")]),
        ("paper, reduced", &[figures("s"), figures("states")]),
        ("ours", &[figures("s"), figures("states"), figures("MB")]),
        ("ours, none", &[figures("s"), figures("states")]),
    ]);
    let (mut as_json, mut as_expected) = (Vec::new(), true);
    let progress = Progress::new(&args.common);
    let mut missing = Missing::default();
    for row in rows() {
        let what = || format!("{}, {} threads", row.name, row.threads);
        if missing.is(stop, what) {
            continue;
        }
        progress.show(|| format!("{}, {} threads", row.name, row.threads));
        let ours = row.measure(true, None, stop)?;
        let without = row.measure(false, Some(args.patience), stop)?;
        // A row that was stopped would look like one whose patience ended.
        if missing.is(stop, what) {
            continue;
        }
        as_expected &= ours.verdict == Some(row.linearizable);
        table.push(row.cells(&ours, &without));
        as_json.push(row.json(&ours, &without));
    }
    let shown = Reproduction {
        title: NAME.to_owned(),
        about: Vec::new(),
        tables: vec![table],
        missing: missing.said(stop),
        notes: NOTES.map(str::to_owned).to_vec(),
    };
    Ok(Measured { shown, rows: as_json, is_as_expected: as_expected })
}

/// What a search found, and what it cost.
struct Search {
    verdict: Option<bool>,
    stats: Stats,
}

impl Row {
    fn cells(&self, ours: &Search, without: &Search) -> Vec<String> {
        let verdict = match ours.verdict {
            Some(true) => "holds",
            Some(false) => "violated",
            None => "unknown",
        };
        let [paper_without, paper_with] = self.paper.map(|of| match of {
            Some((seconds, states)) => [format!("{seconds:.2}"), grouped(states)],
            None => ["-", "-"].map(str::to_owned),
        });
        let more = if without.verdict.is_none() { ">" } else { "" };
        let mut cells = vec![self.name.to_owned(), self.threads.to_string(), verdict.to_owned()];
        cells.extend(paper_without);
        cells.extend(paper_with);
        cells.extend([
            format!("{:.3}", ours.stats.seconds),
            grouped(ours.stats.states),
            format!("{:.1}", ours.stats.bytes as f64 / 1e6),
            format!("{more}{:.3}", without.stats.seconds),
            format!("{more}{}", grouped(without.stats.states)),
        ]);
        cells
    }

    fn json(&self, ours: &Search, without: &Search) -> Json {
        let paper =
            |of: Option<(f64, usize)>| of.map(|(s, n)| json!({ "seconds": s, "states": n }));
        let measured = |of: &Search| {
            json!({
                "verdict": of.verdict.map(|holds| if holds { "holds-within-bounds" } else { "violated" }),
                "seconds": of.stats.seconds, "states": of.stats.states, "bytes": of.stats.bytes,
            })
        };
        json!({
            "algorithm": self.name, "threads": self.threads, "linearizable": self.linearizable,
            "paper_without": paper(self.paper[0]), "paper_with": paper(self.paper[1]),
            "ours": measured(ours), "without": measured(without),
        })
    }

    fn measure(&self, reduced: bool, patience: Option<Duration>, stop: &Stop) -> Result<Search> {
        let roles = |roles: &[(&str, usize)]| {
            roles.iter().map(|(role, count)| ((*role).to_owned(), *count)).collect()
        };
        let uses_roles = self.source.contains("\nrole ");
        let config = Config {
            params: self.set.iter().map(|(n, v)| ((*n).to_owned(), Value::Int(*v))).collect(),
            threads: match self.roles {
                Some(given) => Threads::PerRole(roles(given)),
                None if uses_roles => Threads::AsDeclared,
                None => Threads::Count(self.threads),
            },
            ..Config::default()
        };
        let compiled = compile(self.source, &config)
            .map_err(|_| anyhow!("the bundled model of `{}` does not compile", self.name))?;
        let bounds = Bounds {
            calls: self.calls,
            values: Values::UpTo(1),
            objects: self.objects,
            memory: Memory::Collected,
            crashes: 0,
            thread_crashes: 0,
        };
        let mut options = VerifyOptions::new(bounds);
        options.points = self.points;
        let limits = Limits {
            deadline: patience.map(|patience| Instant::now() + patience),
            memory: None,
            ..stop.limits()
        };
        options.stuck = false;
        options.search = SearchOptions { limits, ..SearchOptions::default() };
        if !reduced {
            options.reductions = Reductions { canonical_heap: true, ..Reductions::NONE };
            options.just_in_time = false;
            options.search.antichain = false;
            options.search.calls = false;
        }
        let report = verify(&compiled.program, &options, &|_| {})?;
        let with_points = !self.points || report.points == Points::Suffice;
        let verdict = match report.outcome {
            Outcome::Holds(()) if with_points => Some(true),
            Outcome::Holds(()) | Outcome::Inconclusive(_) => None,
            Outcome::Violated(_) => Some(false),
        };
        Ok(Search { verdict, stats: report.stats })
    }
}
