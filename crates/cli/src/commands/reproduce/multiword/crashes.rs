//! Beyond the paper: PMwCAS where the system may crash.

use super::{Part, verdict, verdict_id};
use crate::limits::Stop;
use crate::progress::Progress;
use anyhow::{Result, anyhow};
use linchpin_ir::interpreter::Memory;
use linchpin_refine::search::{SearchOptions, Stats};
use linchpin_refine::{VerifyOptions, verify};
use linchpin_report::{Comparison, figures, words};
use linchpin_space::{Bounds, Calls};
use linchpin_verdict::{CrashProperty, Outcome, Values, grouped};
use serde_json::json;

macro_rules! model {
    ($name:literal) => {
        include_str!(concat!("../../../../models/persistent/", $name, ".lin"))
    };
}

/// What it is, its model, and whether it is linearizable without and durable with a crash.
const MODELS: [(&str, &str, bool, bool); 10] = [
    ("PMwCAS, repaired", model!("pmwcas"), true, true),
    ("as repaired there: waits", model!("pmwcas_waits"), true, true),
    ("reads do not persist", model!("pmwcas_lazy_reader"), true, true),
    ("no mark on final values", model!("pmwcas_clean_values"), true, true),
    ("bug A: a dirty word fails", model!("broken/pmwcas_dirty_fails"), false, false),
    ("descriptor not persisted", model!("broken/pmwcas_descriptor_not_persisted"), true, false),
    ("pointers not persisted", model!("broken/pmwcas_pointers_not_persisted"), true, false),
    ("status not persisted", model!("broken/pmwcas_status_not_persisted"), true, false),
    ("values not persisted", model!("broken/pmwcas_final_not_persisted"), true, false),
    ("a reference stays", model!("broken/pmwcas_reference_stays"), true, false),
];

/// Two threads with two operations each, without a crash and with one.
pub fn models(stop: &Stop, progress: &Progress) -> Result<Part> {
    let columns = [words("verdict"), figures("s"), figures("states")];
    let mut table = Comparison::new(&[
        ("beyond the paper", &[words("model, 2 threads × 2 operations")]),
        ("ours, no crash", &columns),
        ("ours, one crash", &columns),
    ]);
    let (mut rows, mut is_as_expected) = (Vec::new(), true);
    for (name, source, without, with) in MODELS {
        let mut cells = vec![name.to_owned()];
        for (crashes, expected) in [(0, without), (1, with)] {
            progress.show(|| format!("{name}, {crashes} crashes"));
            let (holds, stats) = searched(name, source, crashes, stop)?;
            if stop.reason().is_some() {
                return Ok(Part { table, rows, is_as_expected });
            }
            is_as_expected &= holds == Some(expected);
            cells.extend([
                verdict(holds).to_owned(),
                format!("{:.2}", stats.seconds),
                grouped(stats.states),
            ]);
            rows.push(json!({
                "experiment": "crash", "model": name, "crashes": crashes,
                "verdict": verdict_id(holds), "seconds": stats.seconds, "states": stats.states,
            }));
        }
        table.push(cells);
    }
    Ok(Part { table, rows, is_as_expected })
}

fn searched(name: &str, source: &str, crashes: u8, stop: &Stop) -> Result<(Option<bool>, Stats)> {
    let compiled = linchpin_lang::compile(source, &Default::default())
        .map_err(|_| anyhow!("the bundled model of `{name}` has mistakes"))?;
    let bounds = Bounds {
        calls: Calls::Each(2),
        values: Values::UpTo(1),
        objects: None,
        memory: Memory::Collected,
        crashes,
        thread_crashes: 0,
    };
    let mut options = VerifyOptions::new(bounds);
    options.property = Some(CrashProperty::Durable);
    (options.repairs, options.stuck) = (false, false);
    options.search = SearchOptions { limits: stop.limits(), ..SearchOptions::default() };
    let report = verify(&compiled.program, &options, &|_| {})?;
    let holds = match report.outcome {
        Outcome::Holds(()) => Some(true),
        Outcome::Violated(_) => Some(false),
        Outcome::Inconclusive(_) => None,
    };
    Ok((holds, report.stats))
}
