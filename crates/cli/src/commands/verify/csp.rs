//! `.csp` files: refinement between processes.

use super::answer::{Answer, Found, Word};
use crate::args::{ReductionArg, VerifyArgs};
use crate::limits::Stop;
use crate::model::{self, Mistakes};
use anyhow::{Result, bail};
use linchpin_csp::{Options, Report, Verdict, parse, verify};
use linchpin_history::Limits;
use linchpin_spec::Value;
use serde_json::{Value as Json, json};
use std::path::Path;

/// One answer for each assertion of the file.
pub fn answers(args: &VerifyArgs, file: &Path, stop: &Stop) -> Result<Vec<Answer>> {
    let source = model::read(file)?;
    let constants: Vec<(String, i64)> = args
        .set
        .iter()
        .map(|(name, value)| match value {
            Value::Bool(truth) => (name.clone(), i64::from(*truth)),
            other => (name.clone(), other.as_int().unwrap_or(0)),
        })
        .collect();
    let processes = match parse(&source, &constants) {
        Ok(processes) => processes,
        Err(diagnostics) => {
            let file = file.display().to_string();
            return Err(Mistakes { file, source, diagnostics }.into());
        }
    };
    let mut options = Options::default();
    options.search.limits = Limits { stop: Some(stop.flag()), ..Limits::default() };
    if let Some(workers) = args.workers {
        options.search.workers = usize::from(workers);
    }
    for without in &args.without {
        let all = *without == ReductionArg::All;
        options.reduce &= !(all || *without == ReductionArg::PartialOrder);
        options.search.antichain &= !(all || *without == ReductionArg::Antichain);
    }
    let reports = verify(&processes, &options, &|_| {});
    if reports.is_empty() {
        bail!("`{}` asserts nothing: add `assert Impl refines Spec;`", file.display());
    }
    Ok(reports.iter().map(|report| answer(report, stop)).collect())
}

fn answer(report: &Report, stop: &Stop) -> Answer {
    let constants: Vec<String> =
        report.constants.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let within = match constants.is_empty() {
        true => String::new(),
        false => format!(", with {}", constants.join(", ")),
    };
    let claim = &report.assertion;
    let (word, reason) = match &report.verdict {
        Verdict::Holds => (Word::HoldsWithinBounds, format!("`{claim}` holds{within}")),
        Verdict::Violated(_) => (Word::Violated, format!("`{claim}` does not hold{within}")),
        Verdict::Faulty { message, .. } => {
            (Word::Violated, format!("`{claim}`: the model goes wrong: {message}{within}"))
        }
        Verdict::Stopped(reason) => {
            (Word::Inconclusive, format!("`{claim}`: {}{within}", stop.explain(reason)))
        }
    };
    let found = match &report.verdict {
        Verdict::Violated(counterexample) => Some(Found {
            json: json!({ "trace": counterexample.trace(), "explanation": reason }),
            explanation: reason.clone(),
            text: format!("{report}\n"),
            bars: Vec::new(),
            rows: Vec::new(),
            is_fault: false,
        }),
        Verdict::Faulty { .. } => Some(Found {
            json: json!({ "explanation": reason }),
            explanation: reason.clone(),
            text: format!("{report}\n"),
            bars: Vec::new(),
            rows: Vec::new(),
            is_fault: false,
        }),
        Verdict::Holds | Verdict::Stopped(_) => None,
    };
    let stats = &report.stats;
    let bounds: serde_json::Map<String, Json> =
        report.constants.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    Answer {
        engine: "refine",
        word,
        reason,
        bounds: Json::Object(bounds),
        assumptions: Vec::new(),
        unreached: report
            .unreached
            .iter()
            .map(|at| format!("line {}: {}", at.line, at.text))
            .collect(),
        stats: json!({
            "states": stats.states, "transitions": stats.transitions, "seconds": stats.seconds,
            "peak_bytes": stats.bytes, "specification_states": report.specification.0,
            "specification_sets": report.specification.1,
        }),
        notes: vec![format!(
            "{} states, {} transitions, {} states of the specification in {} sets, {:.2} s",
            stats.states,
            stats.transitions,
            report.specification.0,
            report.specification.1,
            stats.seconds
        )],
        found,
    }
}
