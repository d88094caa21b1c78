//! Table I of "Proving Concurrent Data Structures Linearizable" (Singh, Neamtiu, Gupta, 2016).

use super::{Measured, Missing};
use crate::limits::Stop;
use anyhow::{Result, anyhow};
use linchpin_reduce::{Answer, Options, prove};
use linchpin_report::{Comparison, Reproduction, figures, words};
use linchpin_subop::parse;
use linchpin_subop::sequential::{self, Sequential};
use linchpin_verdict::Verdict;
use serde_json::{Value as Json, json};
use std::time::Instant;

/// What the table is called.
pub const NAME: &str = "Proving Concurrent Data Structures Linearizable, Table I";

/// A row: the name, the paper's sub-operations, milliseconds and answer, and our file.
type Row = (&'static str, usize, f64, bool, &'static str);

macro_rules! model {
    ($name:literal) => {
        include_str!(concat!("../../../models/subop/", $name, ".subop"))
    };
}

#[rustfmt::skip]
const ROWS: [Row; 18] = [
    ("MS non-blocking queue", 4, 5.0, true, model!("ms_queue")),
    ("  MS non-blocking, with free", 4, 5.0, true, model!("ms_queue_free")),
    ("MS two-lock queue", 11, 9.0, true, model!("two_lock_queue")),
    ("  MS two-lock, with free", 11, 9.0, true, model!("two_lock_queue_free")),
    ("DGLM non-blocking queue", 4, 5.0, true, model!("dglm_queue")),
    ("  DGLM, with free", 4, 5.0, true, model!("dglm_queue_free")),
    ("Herlihy–Wing queue", 5, 3.0, false, model!("herlihy_wing_queue")),
    ("Treiber's stack", 5, 3.0, true, model!("treiber_stack")),
    ("Elimination back-off stack", 20, 14.0, true, model!("elimination_stack")),
    ("Time-stamped stack", 10, 8.0, true, model!("timestamped_stack")),
    ("  its pop in two steps", 10, 8.0, true, model!("timestamped_stack_hindsight")),
    ("HHLMSS lazy set", 23, 29.0, true, model!("lazy_set")),
    ("  its contains in one step", 23, 29.0, true, model!("lazy_set_hindsight")),
    ("VY CAS set", 20, 23.0, true, model!("vy_cas_set")),
    ("VY DCAS set", 19, 23.0, true, model!("vy_dcas_set")),
    ("ORVYY set", 15, 19.0, true, model!("orvyy_set")),
    ("Pair snapshot", 5, 3.0, true, model!("pair_snapshot")),
    ("RDCSS", 5, 4.0, true, model!("rdcss")),
];

/// Models whose sub-operations are derived from their code.
const FROM_CODE: [(&str, &str); 5] = [
    ("MS non-blocking queue", include_str!("../../../models/ms_queue.lin")),
    ("MS two-lock queue", include_str!("../../../models/two_lock_queue.lin")),
    ("DGLM non-blocking queue", include_str!("../../../models/dglm_queue.lin")),
    ("Treiber's stack", include_str!("../../../models/treiber_stack.lin")),
    ("Pair snapshot", include_str!("../../../models/pair_snapshot.lin")),
];

const NOTES: [&str; 2] = [
    "paper: Intel Xeon E5607 at 2.27 GHz, the time of the check alone; pair relations and facts were made by hand \
     there. ours: everything, relations and facts included, on this machine now (the best of five); sequential \
     executions are tried apart.",
    "\"in one step\" and \"in two steps\" take what a search amounts to for granted: their files say what. \
     docs/theory/reduce.md tells why the rows above them are not proved.",
];

/// The table; as expected if nothing is proved that must not be.
pub fn table(stop: &Stop) -> Result<Measured> {
    let mut table = Comparison::new(&[
        ("", &[words("data structure")]),
        ("paper", &[figures("sub-ops"), figures("ms"), words("passes")]),
        ("ours", &[figures("sub-ops"), figures("ms"), words("verdict"), figures("trust")]),
        ("", &[words("sequential")]),
    ]);
    let (mut rows, mut right) = (Vec::new(), true);
    let mut missing = Missing::default();
    for (name, sub_operations, paper_ms, passes, source) in ROWS {
        if missing.is(stop, || name.trim().to_owned()) {
            continue;
        }
        let model =
            parse(source).map_err(|_| anyhow!("the bundled file of `{name}` has mistakes"))?;
        let reports: Vec<_> = (0..5).map(|_| prove(&model, &Options::default())).collect();
        let ms = reports.iter().map(|report| report.seconds * 1e3).fold(f64::INFINITY, f64::min);
        let report = &reports[0];
        let proved = report.is_proved();
        right &= passes || !proved;
        let sequential = sequential::check(&model, &sequential::Bounds::default());
        let verdict = match (&sequential, proved) {
            (_, false) => Verdict::Inconclusive,
            (Sequential::Shown { .. }, true) => Verdict::Proved,
            (_, true) => Verdict::ProvedIfSequential,
        };
        let sequential = match sequential {
            Sequential::Shown { .. } => "shown".to_owned(),
            Sequential::Tried { tried, .. } => format!("right, up to {} calls", tried.calls()),
            Sequential::NeverExecuted { .. } => "not all executed".to_owned(),
            Sequential::NotTried(_) => "not tried".to_owned(),
            Sequential::Violated { .. } => {
                right = false;
                "WRONG".to_owned()
            }
        };
        let ours = model.sub_operations().count();
        // Claims that are neither proved nor refuted; the proof uses none of them.
        let open = report.claims.iter().filter(|claim| claim.answer == Answer::Open).count();
        table.push(vec![
            name.to_owned(),
            sub_operations.to_string(),
            paper_ms.to_string(),
            if passes { "yes" } else { "no" }.to_owned(),
            ours.to_string(),
            format!("{ms:.2}"),
            if proved { verdict.to_string().to_lowercase() } else { "not proved".to_owned() },
            open.to_string(),
            sequential.clone(),
        ]);
        rows.push(json!({
            "data_structure": name.trim(),
            "paper": { "sub_operations": sub_operations, "milliseconds": paper_ms, "passes": passes },
            "ours": {
                "sub_operations": ours, "milliseconds": ms,
                "verdict": verdict.id(),
                "claims_on_trust": open, "sequential": sequential,
            },
        }));
    }
    let code = all_from_code(&mut rows, &mut missing, stop)?;
    let shown = Reproduction {
        title: NAME.to_owned(),
        about: Vec::new(),
        tables: vec![table, code],
        missing: missing.said(stop),
        notes: NOTES.map(str::to_owned).to_vec(),
    };
    Ok(Measured { shown, rows, is_as_expected: right })
}

/// Models whose sub-operations are derived from their code.
fn all_from_code(rows: &mut Vec<Json>, missing: &mut Missing, stop: &Stop) -> Result<Comparison> {
    let columns = [figures("sub-ops"), figures("ms"), words("verdict")];
    let mut table = Comparison::new(&[("", &[words("from code alone")]), ("ours", &columns)]);
    for (name, source) in FROM_CODE {
        if missing.is(stop, || format!("{name}, from code")) {
            continue;
        }
        let (sub_operations, ms, verdict) = from_code(name, source)?;
        table.push(vec![
            name.to_owned(),
            sub_operations.to_string(),
            format!("{ms:.2}"),
            verdict.to_string().to_lowercase(),
        ]);
        rows.push(json!({
            "data_structure": name,
            "from": "code",
            "ours": {
                "sub_operations": sub_operations, "milliseconds": ms, "verdict": verdict.id(),
            },
        }));
    }
    Ok(table)
}

/// Derives the sub-operations of a model and proves them: how many there are, the milliseconds of
/// both, sequential executions included, and the verdict.
fn from_code(name: &str, source: &str) -> Result<(usize, f64, Verdict)> {
    let compiled = linchpin_lang::compile(source, &Default::default())
        .map_err(|_| anyhow!("the bundled model of `{name}` has mistakes"))?;
    let (threads, bounds) = (compiled.program.threads.len(), compiled.bounds);
    let tries =
        linchpin_derive::Tries::of(threads, Some(bounds.ops.or_few()), bounds.values.or_few());
    let mut best = f64::INFINITY;
    let mut outcome = None;
    for _ in 0..3 {
        let start = Instant::now();
        let derivation = linchpin_derive::derive(&compiled.program)?;
        let attempt = linchpin_derive::prove(&derivation, &compiled.program, &tries)?;
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
        outcome = Some((attempt.form.model.sub_operations().count(), attempt.verdict()));
    }
    let (sub_operations, verdict) = outcome.unwrap_or((0, Verdict::Inconclusive));
    Ok((sub_operations, best, verdict))
}
