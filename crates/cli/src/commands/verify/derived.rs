//! The reduction engine on `.lin` models: their sub-operations are derived from the code.

use super::answer::{Answer, Word};
use super::reduce::{self, Certified};
use crate::args::{MemoryArg, VerifyArgs};
use anyhow::Result;
use linchpin_certify::Ranges;
use linchpin_derive::{Attempt, Fault, Form, Tries, derive, prove};
use linchpin_lang::Compiled;
use linchpin_space::Calls;
use linchpin_subop::model::SpecLine;
use linchpin_subop::sequential::SequentialVerdict;
use serde_json::json;
use std::path::Path;

/// How sequential executions of the sub-operations are tried: with as many calls as the bounds of the model have, at least.
pub fn tries(compiled: &Compiled) -> Tries {
    Tries::of(compiled.program.threads.len(), Some(compiled.bounds.ops), compiled.bounds.values)
}

/// The same, with the bounds of the command line.
fn tries_of(args: &VerifyArgs, compiled: &Compiled) -> Tries {
    let calls = match args.ops {
        Some(Calls::Each(calls)) => Some(calls as usize),
        Some(Calls::Unlimited) => None,
        None => args.size.is_none().then_some(compiled.bounds.ops),
    };
    let values = args.values.unwrap_or(compiled.bounds.values);
    Tries::of(compiled.program.threads.len(), calls, values)
}

pub fn answer(args: &VerifyArgs, file: &Path, compiled: &Compiled) -> Result<Certified> {
    let inconclusive = |reason: String| (inconclusive(reason), None);
    if args.memory == MemoryArg::Reuse {
        return Ok(inconclusive(
            "the sub-operations are derived for collected memory only".to_owned(),
        ));
    }
    let derivation = match derive(&compiled.program) {
        Ok(derivation) => derivation,
        Err(refusal) => {
            return Ok(inconclusive(format!(
                "no sub-operations can be derived from the code: {refusal}"
            )));
        }
    };
    let attempt = prove(&derivation, &compiled.program, &tries_of(args, compiled))?;
    let mut answer = describe(&attempt);
    reduce::extras(args, &attempt.proof, &mut answer)?;
    let ranges = ranges(compiled, &attempt.form);
    let certificate = reduce::certificate(args, file, &attempt.proof, &answer, ranges)?;
    Ok((answer, certificate))
}

/// The integers that clients pass to each operation of a form.
fn ranges(compiled: &Compiled, form: &Form) -> Vec<Ranges> {
    let operations = &compiled.program.operations;
    let of = |line: &SpecLine| {
        operations
            .iter()
            .find(|operation| operation.name == line.method)
            .map_or_else(Vec::new, |operation| {
                operation.parameters.iter().map(|parameter| parameter.range).collect()
            })
    };
    form.lines.iter().map(of).collect()
}

fn inconclusive(reason: String) -> Answer {
    Answer {
        engine: "reduce",
        word: Word::Inconclusive,
        reason,
        bounds: json!({}),
        assumptions: Vec::new(),
        unreached: Vec::new(),
        stats: json!({}),
        notes: Vec::new(),
        found: None,
    }
}

/// Where steps may fail, each line and reason once.
fn places(faults: &[Fault]) -> String {
    let mut found: Vec<String> = Vec::new();
    for Fault { line, what, .. } in faults {
        let place = format!("line {line} ({what})");
        if !found.contains(&place) {
            found.push(place);
        }
    }
    found.join(", ")
}

fn describe(attempt: &Attempt) -> Answer {
    let values: Vec<String> = attempt.values.iter().map(i64::to_string).collect();
    let Attempt { form, proof: report, sequential, open_guess, beyond_the_code, tried, .. } =
        attempt;
    let mut assumptions = reduce::assumptions(report);
    if !attempt.faults.is_empty() {
        assumptions.push(format!(
            "no step fails, which is not shown of {}: up to the first that does, every run is linearizable",
            places(&attempt.faults)
        ));
    }
    if attempt.counts {
        assumptions.push("integers do not overflow".to_owned());
    }
    let mut unreached = Vec::new();
    let mut tried_calls = None;
    let mut reason = "not proved: a weakness of the method, or a violation".to_owned();
    match sequential {
        SequentialVerdict::Holds { calls, executions, unreached: untried } => {
            unreached = untried.iter().map(|of| form.model.operations[of.0].name.clone()).collect();
            tried_calls = Some(*calls);
            let values = values.join(", ");
            assumptions.push(format!("{}, integers {values}", reduce::tried(*calls, *executions)));
            if report.is_proved() && *calls < attempt.least_calls {
                reason = format!(
                    "not proved: there are too many sequential executions; {calls} calls in a row were tried, of {} within the bounds",
                    attempt.least_calls
                );
            } else if report.is_proved() && !unreached.is_empty() {
                reason = format!(
                    "not proved: no sequential execution that was tried comes to the end of {}",
                    unreached.join(", ")
                );
            }
        }
        SequentialVerdict::Violated { calls } => {
            reason = format!(
                "not proved: one after the other, the sub-operations can do what the specification does not allow: {}",
                reduce::in_words(&form.model, calls).join(", ")
            );
        }
        SequentialVerdict::NoSpec | SequentialVerdict::TooLarge => {
            reason = "not proved: there are too many sequential executions".to_owned();
        }
    }
    if let Some(operation) = beyond_the_code {
        reason = format!(
            "not proved: executed without interruption, the sub-operations of {operation} may do more than the code"
        );
    }
    if let Some(guess) = open_guess {
        reason = format!(
            "not proved: {guess} may be any integer, so not all sequential executions can be tried"
        );
    }
    let word = if attempt.is_proved() { Word::Proved } else { Word::Inconclusive };
    if word == Word::Proved {
        reason = "linearizable for any number of threads, operations and heap objects".to_owned();
    }
    let mut notes = vec![format!(
        "{} sub-operations derived from the code (`linchpin subops` prints them), {} cases looked at, {:.1} ms, forms tried: {tried}",
        form.model.sub_operations().count(),
        report.cases,
        report.seconds * 1e3
    )];
    if word == Word::Proved && attempt.faults.is_empty() {
        notes.push("no step fails: no field of null is accessed, no assertion is false, no index is out of range".to_owned());
    }
    if word == Word::Inconclusive && matches!(sequential, SequentialVerdict::Holds { .. }) {
        notes.extend(report.obstacle_text().lines().map(str::to_owned));
    }
    Answer {
        engine: "reduce",
        word,
        reason,
        bounds: json!({}),
        assumptions,
        unreached,
        stats: json!({ "cases": report.cases, "seconds": report.seconds, "sequential_calls": tried_calls, "never_fails": attempt.is_proved() && attempt.faults.is_empty() && !attempt.counts }),
        notes,
        found: None,
    }
}
