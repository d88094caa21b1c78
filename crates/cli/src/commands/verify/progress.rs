//! Progress and temporal properties: their options from the command line, their report for people and scripts.

use super::answer::{Answer, Found, Word};
use super::refine;
use crate::args::VerifyArgs;
use crate::commands::run::schedule;
use crate::limits::Stop;
use crate::words::grouped;
use anyhow::{Context, Result};
use linchpin_lang::Compiled;
use linchpin_progress::{Lasso, Property, Report, Verdict, check_ltl, check_progress};
use linchpin_report::Row;
use linchpin_space::Calls;
use serde_json::json;
use std::path::Path;

/// At most so many heap objects where threads call without end and `--size` is not given.
const OBJECTS: usize = 4;

pub fn answer(args: &VerifyArgs, file: &Path, compiled: &Compiled, stop: &Stop) -> Result<Answer> {
    let options = refine::options(args, compiled, stop);
    let (program, limits) = (&compiled.program, &options.search.limits);
    let mut bounds = options.bounds;
    // Who may be overtaken for ever shows only if the others may go on calling: without `--ops`, they may, and the
    // number of objects is bounded instead.
    let overtaken = args.ltl.is_some()
        || matches!(args.progress, Some(Property::WaitFree | Property::StarvationFree));
    if overtaken && args.ops.is_none() {
        bounds.calls = Calls::Unlimited;
        bounds.objects = bounds.objects.or(Some(OBJECTS));
    }
    let report = match (&args.ltl, args.progress) {
        (Some(formula), _) => check_ltl(program, bounds, formula, args.fair, limits),
        (None, Some(property)) => check_progress(program, bounds, property, limits),
        (None, None) => return refine::answer(args, file, compiled, stop),
    };
    let report = report.with_context(|| format!("`{}`", file.display()))?;
    let in_words = refine::bounds_in_words(program, &bounds);
    let (word, reason, found) = match &report.verdict {
        Verdict::Holds => (
            Word::HoldsWithinBounds,
            format!("every run has the property {}, with {in_words}", report.subject),
            None,
        ),
        Verdict::Violated(lasso) => (
            Word::Violated,
            format!("a run has not the property {}, with {in_words}", report.subject),
            Some(show(program, lasso)),
        ),
        Verdict::Inconclusive(reason) => {
            (Word::Inconclusive, format!("{}; with {in_words}", stop.explain(reason)), None)
        }
    };
    Ok(Answer {
        engine: "progress",
        word,
        reason,
        bounds: refine::bounds_in_json(program, &bounds),
        assumptions: vec!["sequential consistency".to_owned()],
        unreached: report.unreached.iter().map(ToString::to_string).collect(),
        stats: json!({
            "states": report.stats.states, "moves": report.stats.moves,
            "automaton": report.stats.automaton, "product": report.stats.product,
            "peak_bytes": report.stats.bytes,
        }),
        notes: notes(&report),
        found,
    })
}

fn notes(report: &Report) -> Vec<String> {
    let mut notes = vec![format!(
        "{} states, {} moves",
        grouped(report.stats.states),
        grouped(report.stats.moves)
    )];
    for of in &report.operations {
        let words = match of.holds {
            Some(true) => "has it",
            Some(false) => "has it not",
            None => "is not known to have it",
        };
        notes.push(format!("operation {} {words}", of.operation));
    }
    notes.extend(report.notes.iter().cloned());
    notes
}

/// A run that goes on for ever: a way into a cycle, and the cycle.
fn show(program: &linchpin_ir::program::Program, lasso: &Lasso) -> Found {
    let rows = lasso.lines.iter().enumerate().map(|(at, line)| Row {
        time: at as u64,
        process: line.thread.unwrap_or(0),
        operation: line.operation.clone(),
        line: (line.line > 0).then_some(line.line),
        text: line.text.clone(),
    });
    let json = json!({
        "schedule": schedule::to_json(program, &lasso.prefix),
        "cycle": schedule::to_json(program, &lasso.cycle),
        "explanation": lasso.claim,
    });
    let rows = rows.collect();
    Found {
        json,
        explanation: lasso.claim.clone(),
        text: format!("{lasso}\n"),
        bars: Vec::new(),
        rows,
        is_fault: false,
    }
}
