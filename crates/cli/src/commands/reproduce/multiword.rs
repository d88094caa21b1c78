//! Section 6 of "Toward Linearizability Testing for Multi-Word Persistent Synchronization
//! Primitives" (Cepeda, Chowdhury, Li, Lopez, Wang, Golab, OPODIS 2019).

mod bugs;
mod crashes;
mod logging;
mod prefixes;

use super::Measured;
use crate::args::ReproduceArgs;
use crate::limits::{self, Stop};
use crate::progress::Progress;
use anyhow::{Error, Result, anyhow};
use linchpin_history::monitor::mwcas::published::{self, Edges, HappensBefore, Published};
use linchpin_history::{CheckOptions, History, Judgement, Object, check};
use linchpin_ingest::{Format, ReadOptions, read_bytes};
use linchpin_pmwcas::driver::{self, Run, RunError, Watch, Workload};
use linchpin_report::{Comparison, Reproduction};
use linchpin_spec::Value;
use serde_json::Value as Json;
use std::time::{Duration, Instant};

const NAME: &str = "Toward Linearizability Testing for Multi-Word Persistent Synchronization Primitives, Section 6";

const NOTES: [&str; 6] = [
    "paper: four Xeon E5-4620 at 2.2 GHz, 32 cores, 256 GB; the analyser in Java on one thread, the primitives in C++, \
     persistent memory emulated. Its figures are plots: here is what its text says of them.",
    "log: our own PMwCAS in Rust on real threads (crates/pmwcas), two reads and a change of two words a round, every \
     value written once, a log for each thread and one counter for all stamps. Prefixes end where no operation is open.",
    "graph: the published construction (crates/monitor, mwcas/published.rs) on a history that has been read; ours: the \
     monitor that `linchpin check` uses, which makes no happens-before edges. Means and standard deviations.",
    "logging: nothing or a line of the cache is written to memory at each persist (clflush and sfence, where the machine \
     has them). The memory of the logs is touched before the run.",
    "bugs: A is in a PMwCAS that was published, and real threads show it by chance. B is in a swap that was not \
     published: its history is here, after Figure 10, not the algorithm.",
    "crashes are beyond the paper, which leaves them to future work: models of PMwCAS in which the system may crash once \
     anywhere, with what each persist is for. `cargo test -p linchpin-pmwcas` does the same with the code.",
];

/// What one experiment showed.
struct Part {
    table: Comparison,
    rows: Vec<Json>,
    is_as_expected: bool,
}

/// How long native threads may take without any getting on.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is called how, in the order in which it is measured.
const EXPERIMENTS: [&str; 5] =
    ["Figure 8", "Figure 9", "the cost of logging", "the bugs", "crashes of models"];

/// The experiments; as expected if every verdict is, and if the edges grow as they should. What
/// takes how long, and whether chance shows a bug, is no part of that.
pub fn table(args: &ReproduceArgs, stop: &Stop) -> Result<Measured> {
    // What is kept of a log at once: its text, the records, the history, the graph.
    stop.affords("the log and its graph", args.log_size.saturating_mul(6))?;
    let progress = Progress::new(&args.common);
    let mut measured = Measured {
        shown: Reproduction {
            title: NAME.to_owned(),
            about: Vec::new(),
            tables: Vec::new(),
            missing: None,
            notes: NOTES.map(str::to_owned).to_vec(),
        },
        rows: Vec::new(),
        is_as_expected: true,
    };
    measured.so_far(0, args, stop, None);
    let log = match prefixes::Log::make(args.log_size, stop, &progress) {
        Ok(log) => log,
        Err(error) => return measured.ended(0, args, stop, error),
    };
    measured.shown.about = vec![log.described()];
    type Experiment<'a> = &'a dyn Fn() -> Result<Part>;
    let experiments: [Experiment<'_>; 5] = [
        &|| log.scalability(stop, &progress),
        &|| log.reduction(stop, &progress),
        &|| logging::cost(log.operations(), stop, &progress),
        &|| bugs::histories(log.operations(), stop, &progress),
        &|| crashes::models(stop, &progress),
    ];
    for (number, experiment) in experiments.iter().enumerate() {
        let part = match experiment() {
            Ok(part) => part,
            Err(error) => return measured.ended(number, args, stop, error),
        };
        measured.is_as_expected &= part.is_as_expected;
        measured.shown.tables.extend(Some(part.table).filter(|table| !table.rows.is_empty()));
        measured.rows.extend(part.rows);
        if let Some(reason) = stop.reason() {
            measured.so_far(number, args, stop, Some(limits::describe(reason)));
            return Ok(measured);
        }
        measured.so_far(number + 1, args, stop, None);
    }
    measured.shown.missing = None;
    Ok(measured)
}

impl Measured {
    /// Says what is there and what is missing, from this experiment on, if the work has to be ended
    /// now.
    fn so_far(&mut self, from: usize, args: &ReproduceArgs, stop: &Stop, why: Option<String>) {
        let why = why.unwrap_or_else(|| "the work was ended".to_owned());
        let missing = EXPERIMENTS.get(from..).unwrap_or_default().join(", ");
        self.shown.missing = Some(format!("{missing}, or a part of the first of these ({why})"));
        stop.so_far(self.printed(args));
    }

    /// An experiment did not come to its end: all that was measured before it, if it was asked to
    /// stop or if its threads got nowhere. These may still be running, so nothing is measured
    /// beside them.
    fn ended(
        mut self,
        at: usize,
        args: &ReproduceArgs,
        stop: &Stop,
        error: Error,
    ) -> Result<Measured> {
        let why = match (error.downcast_ref::<RunError>(), stop.reason()) {
            (None, _) => return Err(error),
            (Some(RunError::Stopped), Some(reason)) => limits::describe(reason),
            (Some(error), _) => error.to_string(),
        };
        self.so_far(at, args, stop, Some(why));
        Ok(self)
    }
}

/// Runs native threads, until they end, are asked to stop, or get nowhere.
fn run(workload: &Workload, logging: bool, stop: &Stop) -> Result<Run, RunError> {
    let watch = Watch { patience: PATIENCE, stop: &|| stop.reason().is_some() };
    driver::run(workload, logging, &watch)
}

/// Words of which all hold this at first.
struct Words {
    object: Object,
    initial: Value,
}

impl Words {
    fn holding(initial: i64) -> Result<Words> {
        let initial = Value::Int(initial);
        let object = Object::builtin("mwcas", Some(initial.clone()))?;
        Ok(Words { object, initial })
    }

    fn read(&self, log: &[u8]) -> Result<History> {
        let operations = self.object.spec.operations();
        let options = ReadOptions {
            format: Some(Format::JsonLines),
            ..ReadOptions::new("mwcas", operations)
        };
        Ok(read_bytes(log, &options)?.history)
    }

    /// Whether the history is linearizable; `None` if that is not known. Also the seconds.
    fn judge(&self, history: &mut History, stop: &Stop) -> Result<(Option<bool>, f64)> {
        let options = CheckOptions { limits: stop.limits(), ..CheckOptions::default() };
        let started = Instant::now();
        let checked = check(&self.object, history, &options)?;
        let holds = match checked.judgement {
            Judgement::Holds(_) => Some(true),
            Judgement::Violated(_) => Some(false),
            Judgement::Inconclusive(_) => None,
        };
        Ok((holds, started.elapsed().as_secs_f64()))
    }

    /// What the published construction says, with its edges and the seconds.
    fn published(
        &self,
        history: &History,
        which: HappensBefore,
    ) -> Result<(Published, Edges, f64)> {
        let initial = history.values.find(&self.initial);
        let initial = initial.ok_or_else(|| anyhow!("no operation met an initial value"))?;
        let started = Instant::now();
        let (published, edges) = published::analyse(history, &[], initial, which);
        Ok((published, edges, started.elapsed().as_secs_f64()))
    }
}

/// A verdict in a word.
fn verdict(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => "holds",
        Some(false) => "violated",
        None => "unknown",
    }
}

/// The same for scripts: null if it is not known.
fn verdict_id(holds: Option<bool>) -> Json {
    holds.map_or(Json::Null, |_| verdict(holds).into())
}
