//! `.subop` files: the sub-operations as they are written.

use super::{NAME, add_extras, assumptions, in_words, proof_reason, sequential_notes, wrong_calls};
use crate::Passed;
use linchpin_engine::{Answer, Counterexample, EngineError, Request, Stat, Subject, Wrong};
use linchpin_reduce::{Answer as Claimed, Obstacle, Options, Proof, prove};
use linchpin_subop::model::OperationId;
use linchpin_subop::sequential::{self, Bounds, Sequential};
use linchpin_subop::{Model, parse};
use linchpin_subop_oracle::{Comparison, Judged, judge_all};
use linchpin_verdict::{Calls, Values, Verdict, counted};

/// How many instances run concurrently where a proof fails and a violation is looked for.
const INSTANCES: usize = 3;

/// The states of one mix of instances that are looked at for that.
const STATES: usize = 200_000;

/// What the engine says of a file.
pub fn answer(subject: &Subject<'_>, request: &Request<'_>) -> Result<Answer, EngineError> {
    let mistakes = |_| EngineError { message: "the file has mistakes".to_owned() };
    let model = parse(subject.text).map_err(mistakes)?;
    let options = Options { limits: request.limits.clone(), ..Options::default() };
    let proof = prove(&model, &options);
    let mut answer = describe(&model, &proof, &bounds(request));
    add_extras(subject, request, &proof, Vec::new(), &mut answer);
    Ok(answer)
}

/// How far sequential executions are tried.
fn bounds(request: &Request<'_>) -> Bounds {
    let mut bounds = Bounds::default();
    if let Some(Calls::Each(calls)) = request.calls {
        bounds.calls = usize::try_from(calls).unwrap_or(usize::MAX);
    }
    bounds.values = request.values.map_or(bounds.values, Values::or_few);
    bounds
}

/// The verdict: a proof needs that sequential executions are right too (Assumption 1 of the paper).
fn describe(model: &Model, proof: &Proof, bounds: &Bounds) -> Answer {
    let sequential = sequential::check(model, bounds);
    let (verdict, reason, found) = conclude(model, proof, &sequential);
    let mut answer = Answer::new(NAME, verdict, reason);
    answer.assumptions = assumptions(proof, &sequential, false);
    answer.stats =
        vec![("cases", Stat::from(proof.cases)), ("seconds", Stat::Seconds(proof.seconds))];
    answer.unreached = never_executed(model, &sequential);
    answer.notes = notes(model, proof, &sequential);
    if verdict == Verdict::Inconclusive && !proof.is_proved() {
        answer.notes.extend(proof.obstacle_text().lines().map(str::to_owned));
        answer.notes.extend(executable(proof));
    }
    answer.counterexample = found.map(Box::new);
    answer
}

fn conclude(
    model: &Model,
    proof: &Proof,
    sequential: &Sequential,
) -> (Verdict, String, Option<Counterexample>) {
    let reason = match sequential {
        Sequential::Violated { calls } => {
            let reason = "a sequential execution is wrong".to_owned();
            return (Verdict::Violated, reason, Some(wrong_calls(in_words(model, calls))));
        }
        _ if !proof.is_proved() => return not_proved(model, proof),
        Sequential::Shown { .. } | Sequential::Tried { .. } => {
            proof_reason(sequential, Passed::Any, &[])
        }
        Sequential::NeverExecuted { .. } => format!(
            "no sequential execution that was tried comes to the end of {}",
            never_executed(model, sequential).join(", ")
        ),
        Sequential::NotTried(why) => format!(
            "every interleaving is proved to be a sequential execution, but those were not tried: {why}"
        ),
    };
    (sequential.verdict(), reason, None)
}

fn never_executed(model: &Model, sequential: &Sequential) -> Vec<String> {
    let name = |of: &OperationId| model.operations[of.0].name.clone();
    match sequential {
        Sequential::NeverExecuted { operations, .. } => operations.iter().map(name).collect(),
        _ => Vec::new(),
    }
}

fn notes(model: &Model, proof: &Proof, sequential: &Sequential) -> Vec<String> {
    let mut notes = vec![format!(
        "{}, {}, {}, {:.1} ms",
        counted(model.operations.len(), "operation"),
        counted(model.sub_operations().count(), "sub-operation"),
        counted(proof.cases, "case"),
        proof.seconds * 1e3
    )];
    notes.extend(sequential_notes(sequential));
    for claim in &proof.claims {
        let word = match claim.answer {
            Claimed::Proved => "proved",
            Claimed::Refuted => "refuted by a state that can be reached",
            Claimed::Excluded => "refuted: the facts exclude it",
            Claimed::Open => "neither proved nor refuted",
        };
        notes.push(format!("claim `{}`: {word}; the proof does not use it", claim.text));
    }
    let doubtful = proof.doubtful().into_iter();
    notes.extend(doubtful.map(|text| format!("{text}; the proof does not use it")));
    for replaced in &proof.replaced {
        notes.push(format!("read replaced by a guess that a later step validates: {replaced}"));
    }
    notes
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

/// A failed proof: a few instances are executed in every order, to tell a violation from a weakness
/// of the method.
fn not_proved(model: &Model, proof: &Proof) -> (Verdict, String, Option<Counterexample>) {
    if let Some(Obstacle::Stopped(reason)) = &proof.obstacle {
        return (Verdict::Inconclusive, format!("not proved: {reason}"), None);
    }
    let reason = match judge_all(model, INSTANCES, &[1, 2], Comparison::Observations, STATES) {
        Judged::Violated(found) if found.open_guesses => format!(
            "not proved; an execution of at most {INSTANCES} instances is perhaps not linearizable: guesses may be any integer, and only some were tried"
        ),
        Judged::Violated(execution) => {
            let reason =
                format!("an execution of at most {INSTANCES} instances is not linearizable");
            let mut found = Counterexample::new(
                Wrong::NotLinearizable,
                "this execution has the answers of no sequential one",
            );
            found.text = format!(
                "This execution has the answers of no sequential one:\n\n{}\n{}",
                execution.render(model),
                proof.obstacle_text()
            );
            return (Verdict::Violated, reason, Some(found));
        }
        Judged::Linearizable => format!(
            "not proved; no execution of up to {INSTANCES} instances is wrong, so it is perhaps a weakness of the method"
        ),
        Judged::TooLarge => format!(
            "not proved; no violation was found, but not every execution of up to {INSTANCES} instances was tried"
        ),
    };
    (Verdict::Inconclusive, reason, None)
}
