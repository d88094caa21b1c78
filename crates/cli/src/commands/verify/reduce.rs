//! `.subop` files: the reduction engine, for any number of threads.

use super::answer::{Answer, Found, Word};
use crate::args::VerifyArgs;
use crate::model::{self, Mistakes};
use crate::output;
use anyhow::{Context, Result};
use linchpin_certify::{FileHash, Ranges, ReductionCertificate};
use linchpin_reduce::{Answer as Claimed, Obligation, Obstacle, Options, Proof, prove};
use linchpin_subop::sequential::{self, SequentialCall, SequentialVerdict};
use linchpin_subop::{Model, parse};
use linchpin_subop_oracle::{Comparison, Verdict as Judged, judge_all};
use linchpin_verdict::Assumption;
use serde_json::json;
use std::path::Path;

/// How many instances run concurrently where a proof fails and a violation is looked for.
const INSTANCES: usize = 3;

/// The states of one mix of instances that are looked at for that.
const STATES: usize = 200_000;

pub fn read(file: &Path) -> Result<Model> {
    let source = model::read(file)?;
    parse(&source).map_err(|diagnostics| {
        let file = file.display().to_string();
        Mistakes { file, source, diagnostics }.into()
    })
}

/// An answer, and the certificate to be written if the verdict on the whole model allows it.
pub type Certified = (Answer, Option<ReductionCertificate>);

pub fn answer(args: &VerifyArgs, file: &Path) -> Result<Certified> {
    let model = read(file)?;
    let proof = prove(&model, &Options::default());
    let mut answer = describe(&model, &proof);
    extras(args, &proof, &mut answer)?;
    let certificate = certificate(args, file, &proof, &answer, Vec::new())?;
    Ok((answer, certificate))
}

/// The certificate of a proof, if one is asked for. Where a sequential execution is wrong there is none.
pub fn certificate(
    args: &VerifyArgs,
    file: &Path,
    proof: &Proof,
    answer: &Answer,
    ranges: Vec<Ranges>,
) -> Result<Option<ReductionCertificate>> {
    if args.certificate.is_none() || answer.word != Word::Proved {
        return Ok(None);
    }
    let Some(found) = proof.certificate() else { return Ok(None) };
    let is_file = file != Path::new("-");
    let name = file.file_stem().filter(|_| is_file).unwrap_or("standard input".as_ref());
    let name = name.to_string_lossy().into_owned();
    let hash = || FileHash::of(file).with_context(|| format!("cannot read `{}`", file.display()));
    let source = if is_file { Some(hash()?) } else { None };
    let certificate = ReductionCertificate::new(name, found.model, found.proof);
    Ok(Some(ReductionCertificate { source, ranges, ..certificate }))
}

/// What else the command line asks for: questions, facts, table.
pub fn extras(args: &VerifyArgs, proof: &Proof, answer: &mut Answer) -> Result<()> {
    if let Some(folder) = &args.smt2 {
        answer.notes.push(export(&proof.obligations(), folder)?);
    }
    if args.facts {
        answer.notes.extend(proof.facts_text().lines().map(str::to_owned));
    }
    if args.table {
        answer.notes.extend(proof.tables().text().lines().map(str::to_owned));
    }
    Ok(())
}

/// Writes the questions about pairs as SMT-LIB files.
fn export(all: &[Obligation], folder: &Path) -> Result<String> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make `{}`", folder.display()))?;
    for (number, obligation) in all.iter().enumerate() {
        let answer = if obligation.satisfiable { "perhaps sat" } else { "unsat" };
        let name: String = obligation
            .name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .take(60)
            .collect();
        let file = folder.join(format!("{number:04}_{name}.smt2"));
        let text = format!("; {}\n; found here: {answer}\n{}", obligation.name, obligation.text);
        output::write_file(&file, text.as_bytes())?;
    }
    Ok(format!("--smt2: {} questions written to `{}`", all.len(), folder.display()))
}

/// The verdict: a proof needs that sequential executions are right too (Assumption 1 of the paper).
fn describe(model: &Model, report: &Proof) -> Answer {
    let sequential = sequential::check(model, &sequential::Bounds::default());
    // Assumption 1 is tried here; what came of it is said instead of that it was assumed.
    let mut assumptions = assumptions(report);
    let mut notes = vec![format!(
        "{} operations, {} sub-operations, {} cases looked at, {:.1} ms",
        model.operations.len(),
        model.sub_operations().count(),
        report.cases,
        report.seconds * 1e3
    )];
    let mut untried = Vec::new();
    let wrong = match &sequential {
        SequentialVerdict::Holds { calls, executions, unreached } => {
            untried = unreached.iter().map(|of| model.operations[of.0].name.clone()).collect();
            assumptions.push(tried(*calls, *executions));
            None
        }
        SequentialVerdict::NoSpec => {
            assumptions.push(
                "sequential executions are right (Assumption 1): not tried, the file names no specification"
                    .to_owned(),
            );
            None
        }
        SequentialVerdict::TooLarge => {
            assumptions.push(
                "sequential executions are right (Assumption 1): not tried, there are too many"
                    .to_owned(),
            );
            None
        }
        SequentialVerdict::Violated { calls } => Some(calls.clone()),
    };
    for claim in &report.claims {
        let word = match claim.answer {
            Claimed::Proved => "proved",
            Claimed::Refuted => "refuted by a state that can be reached",
            Claimed::Excluded => "refuted: the facts exclude it",
            Claimed::Open => "neither proved nor refuted",
        };
        notes.push(format!("claim `{}`: {word}; the proof does not use it", claim.text));
    }
    notes.extend(
        report.doubtful().into_iter().map(|text| format!("{text}; the proof does not use it")),
    );
    for replaced in &report.replaced {
        notes.push(format!("read replaced by a guess that a later step validates: {replaced}"));
    }
    let (word, reason, found) = match (wrong, report.is_proved()) {
        (Some(calls), _) => {
            let text = format!(
                "One after the other, these calls are not those of the specification:\n  {}\n",
                in_words(model, &calls).join("\n  ")
            );
            (Word::Violated, "a sequential execution is wrong".to_owned(), Some(text))
        }
        (None, true) => (
            Word::Proved,
            "linearizable for any number of threads, operations and heap objects".to_owned(),
            None,
        ),
        (None, false) => not_proved(model, report),
    };
    let found = found.map(|text| Found {
        json: json!({ "explanation": text }),
        explanation: reason.clone(),
        text,
        bars: Vec::new(),
        rows: Vec::new(),
        is_fault: false,
    });
    if word == Word::Inconclusive {
        notes.extend(report.obstacle_text().lines().map(str::to_owned));
        notes.extend(executable(report));
    }
    Answer {
        engine: "reduce",
        word,
        reason,
        bounds: json!({}),
        assumptions,
        unreached: untried,
        stats: json!({ "cases": report.cases, "seconds": report.seconds }),
        notes,
        found,
    }
}

/// What a proof takes for granted, but for Assumption 1, of which more is known.
pub fn assumptions(proof: &Proof) -> Vec<String> {
    let all = proof.assumptions.iter();
    let others =
        all.filter(|assumption| !matches!(assumption, Assumption::SequentialExecutions(_)));
    others.map(Assumption::to_string).collect()
}

/// That sequential executions were tried.
pub fn tried(calls: usize, executions: usize) -> String {
    format!(
        "sequential executions are right (Assumption 1): tried with up to {calls} calls, {executions} executions"
    )
}

/// The calls of a sequential execution.
pub fn in_words(model: &Model, calls: &[SequentialCall]) -> Vec<String> {
    let call = |call: &SequentialCall| {
        let name = &model.operations[call.operation.0].name;
        format!("{name}({}) → {}", call.argument, call.response)
    };
    calls.iter().map(call).collect()
}

/// Whether the interleaving that stopped a proof can be executed at all.
fn executable(proof: &Proof) -> Option<String> {
    let Some(Obstacle::Interleaving(_)) = &proof.obstacle else { return None };
    Some(match proof.find_execution() {
        Some(before) if before.is_empty() => {
            "this interleaving can be executed from the start".to_owned()
        }
        Some(before) => format!("this interleaving can be executed after {}", before.join(", ")),
        None => "no execution of this interleaving was found: perhaps there is none (Section VIII)"
            .to_owned(),
    })
}

/// A failed proof: a few instances are executed in every order, to tell a violation from a weakness of the method.
fn not_proved(model: &Model, report: &Proof) -> (Word, String, Option<String>) {
    match judge_all(model, INSTANCES, &[1, 2], Comparison::Observations, STATES) {
        Judged::Violated(counterexample) if counterexample.open_guesses => (
            Word::Inconclusive,
            format!(
                "not proved; an execution of at most {INSTANCES} instances is perhaps not linearizable: guesses may be any integer, and only some were tried"
            ),
            None,
        ),
        Judged::Violated(counterexample) => (
            Word::Violated,
            format!("an execution of at most {INSTANCES} instances is not linearizable"),
            Some(format!(
                "This execution has the answers of no sequential one:\n\n{}\n{}",
                counterexample.render(model),
                report.obstacle_text()
            )),
        ),
        Judged::Linearizable => (
            Word::Inconclusive,
            format!(
                "not proved; no execution of up to {INSTANCES} instances is wrong, so it is perhaps a weakness of the method"
            ),
            None,
        ),
        Judged::TooLarge => (
            Word::Inconclusive,
            format!(
                "not proved; no violation was found, but not every execution of up to {INSTANCES} instances was tried"
            ),
            None,
        ),
    }
}
