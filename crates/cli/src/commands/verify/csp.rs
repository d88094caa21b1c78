//! `.csp` files: refinement between processes.

use super::answer::{Answer, Found, Word};
use super::refine::counted;
use crate::args::{ReductionArg, VerifyArgs};
use crate::limits::Stop;
use crate::model::{self, Mistakes};
use anyhow::{Result, bail};
use linchpin_csp::{Failure, Options, Report, parse, verify};
use linchpin_spec::Value;
use linchpin_verdict::Outcome;
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
    options.search.limits = stop.limits();
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
    let (word, reason) = match &report.outcome {
        Outcome::Holds(()) => (Word::HoldsWithinBounds, format!("`{claim}` holds{within}")),
        Outcome::Violated(Failure::Run(_)) => {
            (Word::Violated, format!("`{claim}` does not hold{within}"))
        }
        Outcome::Violated(Failure::Fault { message, .. }) => {
            (Word::Violated, format!("`{claim}`: the model goes wrong: {message}{within}"))
        }
        Outcome::Inconclusive(why) => {
            let why = stop.explain(why);
            (Word::Inconclusive, format!("`{claim}`: {why}{within}"))
        }
    };
    let found = match &report.outcome {
        Outcome::Violated(Failure::Run(counterexample)) => Some(Found {
            json: json!({ "trace": counterexample.trace(), "explanation": reason }),
            explanation: reason.clone(),
            text: format!("{report}\n"),
            bars: Vec::new(),
            rows: Vec::new(),
            is_fault: false,
        }),
        Outcome::Violated(Failure::Fault { .. }) => Some(Found {
            json: json!({ "explanation": reason }),
            explanation: reason.clone(),
            text: format!("{report}\n"),
            bars: Vec::new(),
            rows: Vec::new(),
            is_fault: false,
        }),
        Outcome::Holds(()) | Outcome::Inconclusive(_) => None,
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
            "{}, {}, {} of the specification in {}, {:.2} s",
            counted(stats.states, "state"),
            counted(stats.transitions as usize, "transition"),
            counted(report.specification.0, "state"),
            counted(report.specification.1, "set"),
            stats.seconds
        )],
        found,
    }
}
