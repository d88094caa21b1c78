//! The reduction engine on `.lin` models: their sub-operations are derived from the code.

use super::answer::{Answer, Word};
use super::reduce;
use crate::args::{MemoryArg, VerifyArgs};
use anyhow::Result;
use linchpin_derive::{Attempt, Conclusion, Fault, Form, Obstacle, Tries, derive, prove};
use linchpin_lang::Compiled;
use linchpin_space::Calls;
use serde_json::json;

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

pub fn answer(args: &VerifyArgs, compiled: &Compiled) -> Result<Answer> {
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
    reduce::extras(args, &attempt.form.model, &attempt.report, &mut answer)?;
    Ok(answer)
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
    let Attempt { form, report, sequential, tried, .. } = attempt;
    let conclusion = attempt.conclusion();
    let mut assumptions: Vec<String> =
        report.assumptions.iter().filter(|text| !text.contains("Assumption 1")).cloned().collect();
    if !attempt.faults.is_empty() {
        assumptions.push(format!(
            "no step fails, which is not shown of {}: up to the first that does, every run is linearizable",
            places(&attempt.faults)
        ));
    }
    if attempt.counts || sequential.tried().is_some_and(|tried| tried.adds) {
        assumptions.push("integers do not overflow".to_owned());
    }
    assumptions.extend(sequential.assumption().map(|assumption| assumption.to_string()));
    let (word, reason) = match &conclusion {
        Conclusion::Proved | Conclusion::ProvedIfSequential => {
            reduce::proved(conclusion == Conclusion::Proved)
        }
        Conclusion::Violated(_) => (Word::Violated, "a sequential execution is wrong".to_owned()),
        Conclusion::Inconclusive(obstacle) => {
            (Word::Inconclusive, format!("not proved: {}", in_words(form, obstacle)))
        }
    };
    let found = match &conclusion {
        Conclusion::Violated(calls) => Some(reduce::wrong_calls(&form.model, calls, &reason)),
        _ => None,
    };
    let mut notes = vec![format!(
        "{} sub-operations derived from the code (`linchpin subops` prints them), {} cases looked at, {:.1} ms, forms tried: {tried}",
        form.model.sub_operations().count(),
        report.cases,
        report.seconds * 1e3
    )];
    if word.is_proof() && attempt.faults.is_empty() {
        notes.push("no step fails: no field of null is accessed, no assertion is false, no index is out of range".to_owned());
    }
    notes.extend(reduce::sequential_notes(sequential));
    if word == Word::Inconclusive && sequential.tried().is_some() {
        notes.extend(report.obstacle_text().lines().map(str::to_owned));
    }
    let unreached = match conclusion {
        Conclusion::Inconclusive(Obstacle::NeverExecuted(names)) => names,
        _ => Vec::new(),
    };
    let calls = sequential.tried().map(|tried| tried.calls());
    let never_fails = word.is_proof() && attempt.faults.is_empty() && !attempt.counts;
    Answer {
        engine: "reduce",
        word,
        reason,
        bounds: json!({}),
        assumptions,
        unreached,
        stats: json!({ "cases": report.cases, "seconds": report.seconds, "sequential_calls": calls, "never_fails": never_fails }),
        notes,
        found,
    }
}

fn in_words(form: &Form, obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::Interleavings => "a weakness of the method, or a violation".to_owned(),
        Obstacle::OpenGuess(guess) => {
            format!("{guess} may be any integer, so not all sequential executions can be tried")
        }
        Obstacle::BeyondTheCode(operation) => format!(
            "executed without interruption, the sub-operations of {operation} may do more than the code"
        ),
        Obstacle::SubOperations(calls) => format!(
            "one after the other, the sub-operations can do what the specification does not allow: {}",
            reduce::in_words(&form.model, calls).join(", ")
        ),
        Obstacle::NeverExecuted(names) => format!(
            "no sequential execution that was tried comes to the end of {}",
            names.join(", ")
        ),
        Obstacle::NotTried(why) => format!("sequential executions were not tried, {why}"),
        Obstacle::FewCalls { tried, wanted } => format!(
            "there are too many sequential executions; {tried} calls in a row were tried, of {wanted} within the bounds"
        ),
    }
}
