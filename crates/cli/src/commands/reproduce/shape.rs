//! Tables 5.1 and A.1 of "Comparison Under Abstraction for Verifying Linearizability" (Amit, 2007),
//! and any number of threads beside the best times that were published.

use super::{Measured, Missing};
use crate::args::ReproduceArgs;
use crate::limits::Stop;
use crate::progress::Progress;
use anyhow::{Result, anyhow};
use linchpin_ir::program::{Program, Thread};
use linchpin_lang::{Config, Threads as Count, compile};
use linchpin_report::{Comparison, Reproduction, figures, words};
use linchpin_shape::{Domain, Found, Options, PureAnswers, Threads, analyse};
use linchpin_verdict::{Limits, grouped};
use serde_json::{Value as Json, json};
use std::time::{Duration, Instant};

/// What the tables are called.
pub const NAME: &str =
    "Comparison Under Abstraction for Verifying Linearizability, Tables 5.1 and A.1";

macro_rules! model {
    ($name:literal) => {
        include_str!(concat!("../../../models/", $name, ".lin"))
    };
}

/// What the paper says of a client: threads, seconds, states.
type Paper = (&'static [usize], f64, usize);

/// A row of Table 5.1: the name, both clients of the paper, our model.
type Row = (&'static str, Paper, Paper, &'static str);

#[rustfmt::skip]
const TABLE_5_1: [Row; 5] = [
    ("Stack", (&[3], 555.0, 64_618), (&[2, 2], 1_432.0, 82_497), model!("treiber_stack")),
    ("Nonblocking queue, MS", (&[2], 1_874.0, 116_902), (&[1, 1], 15.0, 2_518), model!("ms_queue")),
    ("Nonblocking queue, DGLM", (&[2], 340.0, 34_611), (&[1, 1], 12.0, 1_440), model!("dglm_queue")),
    ("Two-lock queue", (&[4], 1_296.0, 115_456), (&[3, 3], 4_596.0, 178_180), model!("two_lock_queue")),
    ("Pessimistic set", (&[2], 14_153.0, 229_380), (&[1, 1], 2_981.0, 51_755), model!("pessimistic_set")),
];

/// A row of Table A.1: the name, the paper's seconds and states, our model.
type Mutation = (&'static str, f64, usize, &'static str);

#[rustfmt::skip]
const TABLE_A_1: [Mutation; 7] = [
    ("Stack (a)", 4.646, 618, model!("broken/treiber_stack_split_push_cas")),
    ("Stack (b)", 1.407, 170, model!("broken/treiber_stack_split_pop_cas")),
    ("Nonblocking queue (a)", 202.929, 18_611, model!("broken/ms_queue_blind_append")),
    ("Nonblocking queue (b)", 8.531, 1_021, model!("broken/ms_queue_blind_empty")),
    ("Two-lock queue (a)", 4.104, 766, model!("broken/two_lock_queue_tail_lock_gap")),
    ("Two-lock queue (b)", 3.667, 435, model!("broken/two_lock_queue_head_lock_gap")),
    ("Pessimistic set (a)", 118.467, 2_981, model!("broken/pessimistic_set_wrong_points")),
];

/// Any number of threads: the name, the best published seconds if there are some, whether a proof
/// is expected, our model.
type Any = (&'static str, Option<f64>, bool, &'static str);

#[rustfmt::skip]
const ANY: [Any; 12] = [
    ("Treiber's stack", Some(0.08), true, model!("treiber_stack")),
    ("Two-lock queue", Some(0.01), true, model!("two_lock_queue")),
    ("MS queue", Some(1.81), true, model!("ms_queue")),
    ("DGLM queue", Some(1.72), true, model!("dglm_queue")),
    ("Elimination stack", Some(0.42), false, model!("elimination_stack")),
    ("Pessimistic set", Some(0.33), true, model!("pessimistic_set")),
    ("Optimistic set", Some(0.21), false, model!("optimistic_set")),
    ("Lazy set", Some(5.2), false, model!("lazy_set")),
    ("ORVYY set", None, true, model!("orvyy_set")),
    ("VY set, DCAS", Some(0.80), true, model!("vy_dcas_set")),
    ("VY set, CAS", Some(10.4), false, model!("vy_cas_set")),
    ("Harris–Michael list", Some(15.3), false, model!("harris_michael_list")),
];

const NOTES: [&str; 3] = [
    "paper: Xeon at 3.8 GHz, 1.5 GB of heap for Java 5; states are configurations there, and steps of a thread alone \
     were put together by hand. ours: on this machine now; \"ratio\" is their time over ours; the last columns have \
     one more thread (of each kind).",
    "targets: links as sets of targets; kleene: the paper's domain, three-valued structures. > is where patience ended.",
    "any number of threads: seconds of the best published prover, with models and controllers written by hand \
     (two-lock: less than .01).",
];

/// The tables; as expected if every verdict is.
pub fn table(args: &ReproduceArgs, stop: &Stop) -> Result<Measured> {
    let progress = Progress::new(&args.common);
    let within = |patience: bool| Limits {
        deadline: patience.then(|| Instant::now() + args.patience),
        memory: None,
        ..stop.limits()
    };
    let mut all = Tables { rows: Vec::new(), right: true, missing: Missing::default(), stop };
    let tables = vec![
        all.comparisons(&progress, &within)?,
        all.mutations(&within)?,
        all.any_number(&within, args.patience)?,
    ];
    let notes = NOTES.map(str::to_owned).to_vec();
    let missing = all.missing.said(stop);
    let shown = Reproduction { title: NAME.to_owned(), about: Vec::new(), tables, missing, notes };
    Ok(Measured { shown, rows: all.rows, is_as_expected: all.right })
}

/// The tables so far.
struct Tables<'a> {
    rows: Vec<Json>,
    /// Whether every verdict was as expected.
    right: bool,
    missing: Missing,
    stop: &'a Stop,
}

impl Tables<'_> {
    /// Whether a row is left out because the work should stop. Asked before it is measured, and
    /// after: a row that was stopped would look like one whose patience ended.
    fn is_missing(&mut self, table: &str, name: &str) -> bool {
        self.missing.is(self.stop, || format!("{table}: {name}"))
    }

    fn comparisons(
        &mut self,
        progress: &Progress,
        within: &dyn Fn(bool) -> Limits,
    ) -> Result<Comparison> {
        let mut table = Comparison::new(&[
            ("", &[words("Table 5.1"), figures("threads")]),
            ("paper", &[figures("s"), figures("states")]),
            ("ours, targets", &[words("verdict"), figures("structures"), figures("s")]),
            ("", &[figures("MB"), figures("ratio")]),
            ("ours, kleene", &[figures("structures"), figures("s")]),
            ("targets, one more", &[figures("structures"), figures("s")]),
        ]);
        for (name, general, divided, source) in TABLE_5_1 {
            for paper in [general, divided] {
                if self.is_missing("Table 5.1", name) {
                    continue;
                }
                progress.show(|| format!("{name}, {}", threads_said(paper.0)));
                let run = |more: usize, domain: Domain, patience: bool| {
                    let counts: Vec<usize> = paper.0.iter().map(|count| count + more).collect();
                    let program = clients(name, source, &counts)?;
                    let options = Options { threads: Threads::Those, domain, ..Options::default() };
                    Ok::<_, anyhow::Error>(measure(&program, options, within(patience)))
                };
                let ours = run(0, Domain::Targets, false)?;
                let kleene = run(0, Domain::Kleene, true)?;
                let further = run(1, Domain::Targets, true)?;
                if self.is_missing("Table 5.1", name) {
                    continue;
                }
                table.push(self.comparison(name, paper, &ours, &kleene, &further));
            }
        }
        Ok(table)
    }

    fn comparison(
        &mut self,
        name: &str,
        paper: Paper,
        ours: &Analysed,
        kleene: &Analysed,
        further: &Analysed,
    ) -> Vec<String> {
        let (counts, seconds, states) = paper;
        self.right &= ours.outcome == Outcome::Proved;
        // What is not proved within the patience is no surprise; what is refused is one.
        self.right &= kleene.outcome != Outcome::Refused && further.outcome != Outcome::Refused;
        self.rows.push(json!({
            "table": "5.1", "data_structure": name, "threads": counts,
            "paper": { "seconds": seconds, "states": states },
            "ours": ours.json(), "kleene": kleene.json(), "one_more_thread": further.json(),
        }));
        vec![
            name.to_owned(),
            threads_said(counts),
            format!("{seconds:.0}"),
            grouped(states),
            ours.outcome.word().to_owned(),
            grouped(ours.structures),
            format!("{:.3}", ours.seconds),
            format!("{:.1}", ours.bytes as f64 / 1e6),
            format!("{:.0}", seconds / ours.seconds.max(1e-6)),
            kleene.count(),
            kleene.time(),
            further.count(),
            further.time(),
        ]
    }

    fn mutations(&mut self, within: &dyn Fn(bool) -> Limits) -> Result<Comparison> {
        let mut table = Comparison::new(&[
            ("", &[words("Table A.1")]),
            ("paper", &[figures("s"), figures("states")]),
            ("ours", &[words("verdict"), figures("structures"), figures("s"), words("why")]),
        ]);
        for (name, seconds, states, source) in TABLE_A_1 {
            if self.is_missing("Table A.1", name) {
                continue;
            }
            let program = clients(name, source, &[2])?;
            // The mutations are judged at the points that are claimed, as in the paper.
            let options = Options {
                threads: Threads::Those,
                pure: PureAnswers::Claimed,
                ..Options::default()
            };
            let ours = measure(&program, options, within(false));
            if self.is_missing("Table A.1", name) {
                continue;
            }
            self.right &= ours.outcome == Outcome::Refused;
            table.push(vec![
                name.to_owned(),
                format!("{seconds:.3}"),
                grouped(states),
                ours.outcome.word().to_owned(),
                grouped(ours.structures),
                format!("{:.3}", ours.seconds),
                ours.why.clone(),
            ]);
            self.rows.push(json!({
                "table": "A.1", "data_structure": name,
                "paper": { "seconds": seconds, "states": states }, "ours": ours.json(),
            }));
        }
        Ok(table)
    }

    fn any_number(
        &mut self,
        within: &dyn Fn(bool) -> Limits,
        patience: Duration,
    ) -> Result<Comparison> {
        let mut table = Comparison::new(&[
            ("", &[words("any number of threads")]),
            ("published", &[figures("s")]),
            ("ours", &[words("verdict"), figures("views"), figures("joins"), figures("s")]),
            ("", &[figures("MB"), words("why")]),
        ]);
        for (name, published, expected, source) in ANY {
            if self.is_missing("any number of threads", name) {
                continue;
            }
            let program = compiled(name, source, Count::AsDeclared)?;
            let options = Options { threads: Threads::Any, ..Options::default() };
            let ours = measure(&program, options, within(!expected));
            if self.is_missing("any number of threads", name) {
                continue;
            }
            self.right &= !expected || ours.outcome == Outcome::Proved;
            let why = match ours.outcome {
                Outcome::Stopped => format!("more than {:.0} s", patience.as_secs_f64()),
                _ => ours.why.clone(),
            };
            table.push(vec![
                name.to_owned(),
                published.map_or("-".to_owned(), |seconds| format!("{seconds:.2}")),
                ours.outcome.word().to_owned(),
                grouped(ours.structures),
                grouped(ours.joins),
                format!("{:.2}", ours.seconds),
                format!("{:.1}", ours.bytes as f64 / 1e6),
                why,
            ]);
            self.rows.push(json!({
                "table": "any", "data_structure": name,
                "published": { "seconds": published }, "ours": ours.json(),
            }));
        }
        Ok(table)
    }
}

/// What became of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Proved,
    Refused,
    Stopped,
    NotApplicable,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Outcome::Proved => "proved",
            Outcome::Refused => "refused",
            Outcome::Stopped => "stopped",
            Outcome::NotApplicable => "not applied",
        }
    }
}

/// A measurement.
struct Analysed {
    outcome: Outcome,
    structures: usize,
    joins: usize,
    seconds: f64,
    bytes: usize,
    /// What stopped it.
    why: String,
}

impl Analysed {
    fn count(&self) -> String {
        match self.outcome {
            Outcome::Proved => grouped(self.structures),
            Outcome::Stopped => format!(">{}", grouped(self.structures)),
            Outcome::Refused | Outcome::NotApplicable => self.outcome.word().to_owned(),
        }
    }

    fn time(&self) -> String {
        let more = if self.outcome == Outcome::Stopped { ">" } else { "" };
        format!("{more}{:.3}", self.seconds)
    }

    fn json(&self) -> Json {
        json!({
            "outcome": self.outcome.word(), "structures": self.structures, "joins": self.joins,
            "seconds": self.seconds, "bytes": self.bytes, "why": self.why,
        })
    }
}

fn measure(program: &Program, options: Options, limits: Limits) -> Analysed {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let options = Options { workers, limits, ..options };
    let start = Instant::now();
    let found = analyse(program, &options, &|_| {});
    let seconds = start.elapsed().as_secs_f64();
    let analysis = match found {
        Ok(analysis) => analysis,
        Err(why) => {
            let (outcome, why) = (Outcome::NotApplicable, why.to_string());
            return Analysed { outcome, structures: 0, joins: 0, seconds, bytes: 0, why };
        }
    };
    let (outcome, why) = match &analysis.found {
        Found::Proved => (Outcome::Proved, String::new()),
        Found::Stopped(reason) => (Outcome::Stopped, reason.to_string()),
        Found::Failed(trace) => {
            let of = trace.failure;
            let name = program.operations.get(of.operation).map_or("init", |of| &of.name);
            (Outcome::Refused, format!("{name}, line {}: {}", of.line, of.cause))
        }
    };
    let explored = &analysis.explored;
    Analysed {
        outcome,
        structures: explored.states.len(),
        joins: explored.joins,
        seconds,
        bytes: explored.bytes,
        why,
    }
}

/// The clients of the paper: so many threads that call everything, or producers, which call the
/// first operation, and consumers, which call the second.
fn clients(name: &str, source: &str, counts: &[usize]) -> Result<Program> {
    let mut program = compiled(name, source, Count::Count(counts.iter().sum()))?;
    // The paper's sets have no `contains`: it comes after the two that are called here.
    if counts.len() > 1 {
        let of = |(operation, count): (usize, &usize)| {
            vec![Thread { role: None, operations: vec![operation], calls: None }; *count]
        };
        program.threads = counts.iter().enumerate().flat_map(of).collect();
    }
    Ok(program)
}

fn compiled(name: &str, source: &str, threads: Count) -> Result<Program> {
    let config = Config { threads, ..Config::default() };
    let compiled = compile(source, &config);
    Ok(compiled.map_err(|_| anyhow!("the bundled model of `{name}` has mistakes"))?.program)
}

fn threads_said(counts: &[usize]) -> String {
    counts.iter().map(usize::to_string).collect::<Vec<_>>().join("/")
}
