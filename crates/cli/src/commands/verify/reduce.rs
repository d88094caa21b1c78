//! `.subop` files: the reduction engine, for any number of threads.

use super::answer::{Answer, Found, Word};
use crate::args::VerifyArgs;
use crate::model::{self, Mistakes};
use crate::output;
use anyhow::{Context, Result};
use linchpin_reduce::{
    Answer as Claimed, Obstacle, Options, Report, Verdict as Proof, certificate, find_execution,
    obligations, prove, tables,
};
use linchpin_space::Calls;
use linchpin_subop::model::OperationId;
use linchpin_subop::sequential::{self, Bounds, Sequential, SequentialCall};
use linchpin_subop::{Model, parse};
use linchpin_subop_oracle::{Comparison, Verdict as Judged, judge_all};
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

pub fn answer(args: &VerifyArgs, file: &Path) -> Result<Answer> {
    let model = read(file)?;
    let report = prove(&model, &Options::default());
    let mut answer = describe(&model, &report, &bounds(args));
    extras(args, &model, &report, &mut answer)?;
    Ok(answer)
}

/// How sequential executions are tried: as far as `--ops` and `--values` say.
fn bounds(args: &VerifyArgs) -> Bounds {
    let default = Bounds::default();
    let calls = match args.ops {
        Some(Calls::Each(calls)) => usize::try_from(calls).unwrap_or(usize::MAX),
        Some(Calls::Unlimited) | None => default.calls,
    };
    Bounds { calls, values: args.values.unwrap_or(default.values), ..default }
}

/// Whatever else the command line asks for: certificate, questions, facts, table.
pub fn extras(
    args: &VerifyArgs,
    model: &Model,
    report: &Report,
    answer: &mut Answer,
) -> Result<()> {
    let options = Options::default();
    if let Some(path) = &args.certificate {
        match certificate(model, &options) {
            Some(proof) => output::write_file(path, format!("{proof:#}\n").as_bytes())?,
            None => answer.notes.push("--certificate: there is no proof to write".to_owned()),
        }
    }
    if let Some(folder) = &args.smt2 {
        answer.notes.push(export(model, &options, folder)?);
    }
    if args.facts {
        answer.notes.extend(report.facts_text().lines().map(str::to_owned));
    }
    if args.table {
        answer.notes.extend(tables(model, &options).text().lines().map(str::to_owned));
    }
    Ok(())
}

/// Writes the questions about pairs as SMT-LIB files.
fn export(model: &Model, options: &Options, folder: &Path) -> Result<String> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make `{}`", folder.display()))?;
    let all = obligations(model, options);
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
fn describe(model: &Model, report: &Report, bounds: &Bounds) -> Answer {
    let sequential = sequential::check(model, bounds);
    // Assumption 1 is shown or tried here; what came of it is said instead of that it was assumed.
    let mut assumptions: Vec<String> =
        report.assumptions.iter().filter(|text| !text.contains("Assumption 1")).cloned().collect();
    if sequential.tried().is_some_and(|tried| tried.adds) {
        assumptions.push("integers do not overflow".to_owned());
    }
    assumptions.extend(sequential.assumption().map(|assumption| assumption.to_string()));
    let mut notes = vec![format!(
        "{} operations, {} sub-operations, {} cases looked at, {:.1} ms",
        model.operations.len(),
        model.sub_operations().count(),
        report.cases,
        report.seconds * 1e3
    )];
    notes.extend(sequential_notes(&sequential));
    let name = |of: &OperationId| model.operations[of.0].name.clone();
    let untried: Vec<String> = match &sequential {
        Sequential::NeverExecuted { operations, .. } => operations.iter().map(name).collect(),
        _ => Vec::new(),
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
    let (word, reason, found) = match &sequential {
        Sequential::Violated { calls } => {
            let reason = "a sequential execution is wrong".to_owned();
            let found = wrong_calls(model, calls, &reason);
            (Word::Violated, reason, Some(found))
        }
        _ if !report.is_proved() => {
            let (word, reason, text) = not_proved(model, report);
            let found = text.map(|text| found(text, &reason));
            (word, reason, found)
        }
        Sequential::Shown { .. } | Sequential::Tried { .. } => {
            let (word, reason) = proved(matches!(sequential, Sequential::Shown { .. }));
            (word, reason, None)
        }
        Sequential::NeverExecuted { .. } => {
            let names = untried.join(", ");
            let reason =
                format!("no sequential execution that was tried comes to the end of {names}");
            (Word::Inconclusive, reason, None)
        }
        Sequential::NotTried(why) => {
            let reason = format!(
                "every interleaving is proved to be a sequential execution, but those were not tried: {why}"
            );
            (Word::Inconclusive, reason, None)
        }
    };
    if word == Word::Inconclusive && !report.is_proved() {
        notes.extend(report.obstacle_text().lines().map(str::to_owned));
        notes.extend(executable(model, report));
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

/// The word and the reason of a proof; `shown` says whether sequential executions are shown to be right.
pub fn proved(shown: bool) -> (Word, String) {
    let what = "linearizable for any number of threads, operations and heap objects";
    match shown {
        true => (Word::Proved, what.to_owned()),
        false => (
            Word::ProvedIfSequential,
            format!("{what} if sequentially correct, which was tried, not shown"),
        ),
    }
}

/// A sequential execution that is wrong.
pub fn wrong_calls(model: &Model, calls: &[SequentialCall], reason: &str) -> Found {
    let text = format!(
        "One after the other, these calls are not those of the specification:\n  {}\n",
        in_words(model, calls).join("\n  ")
    );
    found(text, reason)
}

fn found(text: String, reason: &str) -> Found {
    Found {
        json: json!({ "explanation": text }),
        explanation: reason.to_owned(),
        text,
        bars: Vec::new(),
        rows: Vec::new(),
        is_fault: false,
    }
}

/// What is known about sequential executions beyond the verdict.
pub fn sequential_notes(sequential: &Sequential) -> Vec<String> {
    let mut notes = Vec::new();
    if let Sequential::Shown { shown, .. } = sequential {
        let relation = shown.relation.join(", ");
        notes.push(format!(
            "sequential executions are shown to be right, by induction over one call: the specification's state is {relation}"
        ));
    }
    if let Sequential::Tried { not_shown, .. } = sequential {
        notes.push(format!("not shown of all sequential executions: {not_shown}"));
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

/// The calls of a sequential execution.
pub fn in_words(model: &Model, calls: &[SequentialCall]) -> Vec<String> {
    let call = |call: &SequentialCall| {
        let name = &model.operations[call.operation.0].name;
        format!("{name}({}) → {}", call.argument, call.response)
    };
    calls.iter().map(call).collect()
}

/// Whether the interleaving that stopped a proof can be executed at all.
fn executable(model: &Model, report: &Report) -> Option<String> {
    let Proof::NotProved(Obstacle::Interleaving(lines)) = &report.verdict else { return None };
    Some(match find_execution(model, &Options::default(), lines) {
        Some(before) if before.is_empty() => {
            "this interleaving can be executed from the start".to_owned()
        }
        Some(before) => format!("this interleaving can be executed after {}", before.join(", ")),
        None => "no execution of this interleaving was found: perhaps there is none (Section VIII)"
            .to_owned(),
    })
}

/// A failed proof: a few instances are executed in every order, to tell a violation from a weakness of the method.
fn not_proved(model: &Model, report: &Report) -> (Word, String, Option<String>) {
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
