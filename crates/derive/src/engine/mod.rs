//! The reduction engine as [`Engine`]: on `.subop` files as they are (`subop.rs`), on `.lin` models
//! after deriving sub-operations from their code (`code.rs`).

mod code;
mod shown;
mod subop;

use crate::Passed;
use linchpin_certify::{FileHash, Ranges, ReductionCertificate, Sha256};
use linchpin_engine::{
    Answer, Artifact, Counterexample, Engine, EngineError, Language, Request, Source, Subject,
    Wrong,
};
use linchpin_reduce::{Obligation, Proof};
use linchpin_subop::Model;
use linchpin_subop::sequential::{NotTaken, Sequential, SequentialCall};
use linchpin_verdict::{Assumption, Verdict};
use std::path::Path;

/// Reversing pairs of sub-operations, given or derived from the code: for any number of threads.
#[derive(Clone, Copy, Debug)]
pub struct Reduce;

/// Its name.
const NAME: &str = "reduce";

impl Engine for Reduce {
    fn name(&self) -> &'static str {
        NAME
    }

    fn reads(&self) -> &'static [Language] {
        &[Language::Lin, Language::Subop]
    }

    fn is_proof(&self) -> bool {
        true
    }

    fn answer(
        &self,
        subject: &Subject<'_>,
        request: &Request<'_>,
    ) -> Result<Vec<Answer>, EngineError> {
        Ok(match subject.source {
            Source::Lin { program, bounds } => {
                vec![code::answer(subject, program, bounds, request)?]
            }
            Source::Subop => vec![subop::answer(subject, request)?],
            Source::Csp { .. } => Vec::new(),
        })
    }
}

/// The reason of a proof, which says on what it rests; `open` are the places where a step may fail.
fn proof_reason(sequential: &Sequential, passed: Passed, open: &[String]) -> String {
    let mut reason =
        "linearizable for any number of threads, operations and heap objects".to_owned();
    if passed == Passed::AboveZero {
        reason += ", and any values above 0";
    }
    let assumed = match sequential.assumption() {
        Some(Assumption::SequentialExecutions(known)) => Some(known),
        _ => None,
    };
    let right = assumed.as_ref().map(|_| "sequentially correct".to_owned());
    let fails = (!open.is_empty())
        .then(|| format!("no step fails, which is not shown of {}", open.join(", ")));
    let conditions: Vec<String> = right.into_iter().chain(fails).collect();
    if !conditions.is_empty() {
        reason += &format!(" if {}", conditions.join(" and "));
    }
    if let Some(known) = assumed {
        reason += &format!("; sequential executions {known}");
        let is_line = |part: &NotTaken| matches!(part, NotTaken::SpecificationLine(_));
        if sequential.tried().is_some_and(|tried| tried.not_taken.iter().any(is_line)) {
            reason += "; not all of the specification was executed";
        }
    }
    reason
}

/// What a proof takes for granted. What is known of sequential executions is said instead of that
/// they are assumed to be right.
fn assumptions(proof: &Proof, sequential: &Sequential, counts: bool) -> Vec<Assumption> {
    let is_sequential =
        |assumption: &Assumption| matches!(assumption, Assumption::SequentialExecutions(_));
    let mut all: Vec<Assumption> =
        proof.assumptions.iter().filter(|assumption| !is_sequential(assumption)).cloned().collect();
    if counts || sequential.tried().is_some_and(|tried| tried.adds) {
        all.push(Assumption::Other("integers do not overflow".to_owned()));
    }
    all.extend(sequential.assumption());
    all
}

/// What is known about sequential executions beyond the verdict.
fn sequential_notes(sequential: &Sequential) -> Vec<String> {
    let mut notes = Vec::new();
    if let Sequential::Shown { shown, .. } = sequential {
        notes.push(format!(
            "sequential executions are shown to be right, by induction over one call: the specification's state is {}",
            shown.relation.join(", ")
        ));
    }
    if let Sequential::Tried { not_shown, .. } = sequential {
        notes.push(format!(
            "not shown of all sequential executions by induction over one call: {not_shown}"
        ));
    }
    let Some(tried) = sequential.tried() else { return notes };
    if let Some(random) = &tried.random {
        notes.push(format!(
            "random sequential executions: {} of {} calls, seed {}",
            random.sequences, random.calls, random.seed
        ));
    }
    if !tried.not_taken.is_empty() {
        let names: Vec<String> = tried.not_taken.iter().map(ToString::to_string).collect();
        notes.push(format!("in no sequential execution that was tried: {}", names.join(", ")));
    }
    notes
}

/// A sequential execution that is wrong.
fn wrong_calls(shown: Vec<String>) -> Counterexample {
    let mut found = Counterexample::new(
        Wrong::Sequential,
        format!("one after the other, {} is not what the specification does", shown.join(", ")),
    );
    found.text = format!(
        "One after the other, these calls are not those of the specification:\n  {}\n",
        shown.join("\n  ")
    );
    found.trace = shown;
    found
}

/// The calls of a sequential execution.
fn in_words(model: &Model, calls: &[SequentialCall]) -> Vec<String> {
    let call = |call: &SequentialCall| {
        let name = &model.operations[call.operation.0].name;
        format!("{name}({}) → {}", call.argument, call.response)
    };
    calls.iter().map(call).collect()
}

/// What else is asked for: questions, facts, table, certificate. All of it is read from the proof.
fn add_extras(
    subject: &Subject<'_>,
    request: &Request<'_>,
    proof: &Proof,
    ranges: Vec<Ranges>,
    answer: &mut Answer,
) {
    if request.extras.facts {
        answer.notes.extend(proof.facts_text().lines().map(str::to_owned));
    }
    if request.extras.table {
        answer.notes.extend(proof.tables().text().lines().map(str::to_owned));
    }
    if request.extras.shown && answer.verdict.is_proof() {
        answer.proof = Some(Box::new(shown::shown(proof)));
    }
    if request.extras.obligations {
        answer.artifacts.extend(proof.obligations().iter().map(obligation));
    }
    // Where a sequential execution is wrong there is nothing to certify.
    if request.extras.certificate && answer.verdict.is_proof() {
        let certificate = certificate(subject, proof, ranges);
        answer.artifacts.extend(certificate.map(Artifact::Certificate));
    }
}

/// A question about a pair as a file of its own.
fn obligation(obligation: &Obligation) -> Artifact {
    let answer = if obligation.satisfiable { "perhaps sat" } else { "unsat" };
    let fit = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name = obligation.name.chars().map(fit).take(60).collect();
    let text = format!("; {}\n; found here: {answer}\n{}", obligation.name, obligation.text);
    Artifact::Obligation { name, text }
}

fn certificate(subject: &Subject<'_>, proof: &Proof, ranges: Vec<Ranges>) -> Option<String> {
    let found = proof.certificate()?;
    let is_file = subject.name != "-";
    let name = match Path::new(subject.name).file_stem() {
        Some(stem) if is_file => stem.to_string_lossy().into_owned(),
        _ => "standard input".to_owned(),
    };
    let source = is_file.then(|| FileHash {
        file: subject.name.to_owned(),
        sha256: Sha256::of(subject.text.as_bytes()),
    });
    let certificate = ReductionCertificate::new(name, found.model, found.proof);
    let certificate = ReductionCertificate { source, ranges, ..certificate };
    Some(format!("{:#}\n", certificate.to_json()))
}

/// An answer that says why there is none.
fn inconclusive(reason: String) -> Answer {
    Answer::new(NAME, Verdict::Inconclusive, reason)
}
