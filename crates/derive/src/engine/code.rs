//! `.lin` models: their sub-operations are derived from the code.

use super::{
    NAME, add_extras, assumptions, in_words, inconclusive, proof_reason, sequential_notes,
    wrong_calls,
};
use crate::{
    Attempt, Conclusion, Failing, Fault, Form, Obstacle, Passed, Tries, derive_within, prove,
};
use linchpin_certify::Ranges;
use linchpin_engine::{
    Answer, Counterexample, EngineError, Faults, ModelBounds, Request, Stat, Subject, Wrong,
};
use linchpin_ir::program::{Program, Type};
use linchpin_spec::Value;
use linchpin_subop::model::SpecLine;
use linchpin_subop::sequential::SequentialCall;
use linchpin_verdict::{Assumption, Calls, Verdict, counted};

/// What the engine says of a model.
pub fn answer(
    subject: &Subject<'_>,
    program: &Program,
    bounds: ModelBounds,
    request: &Request<'_>,
) -> Result<Answer, EngineError> {
    if request.memory.gives_back() {
        return Ok(inconclusive(
            "the sub-operations are derived for collected memory only".to_owned(),
        ));
    }
    let derivation = match derive_within(program, &request.limits) {
        Ok(derivation) => derivation,
        Err(refusal) => {
            return Ok(inconclusive(format!(
                "no sub-operations can be derived from the code: {refusal}"
            )));
        }
    };
    let tries = tries(program, bounds, request);
    let attempt = prove(&derivation, program, &tries).map_err(EngineError::of)?;
    let mut answer = describe(program, &attempt);
    let ranges = ranges(program, &attempt.form, attempt.passed);
    add_extras(subject, request, &attempt.proof, ranges, &mut answer);
    Ok(answer)
}

/// How sequential executions are tried: with as many calls as the bounds have, at least.
fn tries(program: &Program, bounds: ModelBounds, request: &Request<'_>) -> Tries {
    let calls = match request.calls_of(bounds) {
        Calls::Each(calls) => Some(calls),
        Calls::Unlimited => None,
    };
    let calls = calls.map(|calls| usize::try_from(calls).unwrap_or(usize::MAX));
    let values = request.values.unwrap_or(bounds.values).or_few();
    Tries::of(program.threads.len(), calls, values)
}

/// The integers that clients pass to each operation of a form.
fn ranges(program: &Program, form: &Form, passed: Passed) -> Vec<Ranges> {
    let of = |line: &SpecLine| {
        let operation = program.operations.iter().find(|operation| operation.name == line.method);
        operation.map_or_else(Vec::new, |operation| {
            operation.parameters.iter().map(|parameter| passed.range(parameter)).collect()
        })
    };
    form.lines.iter().map(of).collect()
}

/// Where steps may fail, each line and reason once.
fn places(faults: &[Fault]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for Fault { line, what, .. } in faults {
        let place = format!("line {line} ({what})");
        if !found.contains(&place) {
            found.push(place);
        }
    }
    found
}

fn describe(program: &Program, attempt: &Attempt) -> Answer {
    let Attempt { form, proof, sequential, tried, .. } = attempt;
    let conclusion = attempt.conclusion();
    let open = places(&attempt.faults);
    let verdict = attempt.verdict();
    let reason = match &conclusion {
        // A proof is about answers: that operations return stands beside it, within bounds only.
        Conclusion::Proved => {
            format!(
                "{}; that they return is checked within bounds only",
                proof_reason(sequential, attempt.passed, &open)
            )
        }
        Conclusion::ProvedIfSequential => proof_reason(sequential, attempt.passed, &open),
        Conclusion::Violated(_) => "a sequential execution is wrong".to_owned(),
        Conclusion::Fails(_) => "a step fails in a sequential execution".to_owned(),
        Conclusion::Inconclusive(obstacle) => format!("not proved: {}", said(form, obstacle)),
    };
    let mut answer = Answer::new(NAME, verdict, reason);
    answer.assumptions = assumptions(proof, sequential, attempt.counts);
    if !open.is_empty() && verdict.is_proof() {
        answer.assumptions.push(Assumption::NoStepFails { open });
    }
    if verdict.is_proof() {
        answer.assumptions.push(Assumption::Returning);
    }
    answer.stats = vec![
        ("cases", Stat::from(proof.cases)),
        ("seconds", Stat::Seconds(proof.seconds)),
        ("forms", Stat::from(*tried)),
    ];
    answer.notes = vec![format!(
        "{} derived from the code (`linchpin subops` prints them), {}, {:.1} ms, {} tried",
        counted(form.model.sub_operations().count(), "sub-operation"),
        counted(proof.cases, "case"),
        proof.seconds * 1e3,
        counted(tried, "form"),
    )];
    if verdict.is_proof() && attempt.faults.is_empty() {
        answer.notes.push("no step fails: no field of null is accessed, no assertion is false, no index is out of range".to_owned());
        // Overflow is assumed not to happen, so a step that counts may still fail.
        if !attempt.counts {
            answer.faults = Faults::NeverFails;
        }
    }
    answer.notes.extend(sequential_notes(sequential));
    if let Some(calls) = &attempt.otherwise {
        answer.notes.push(format!(
            "only integers above 0 are passed; with others these calls are not those of the \
             specification: {}",
            of_the_code(program, form, calls).join(", ")
        ));
    }
    if verdict == Verdict::Inconclusive && sequential.tried().is_some() {
        answer.notes.extend(proof.obstacle_text().lines().map(str::to_owned));
    }
    match conclusion {
        Conclusion::Violated(calls) => {
            answer.counterexample = Some(Box::new(wrong_calls(of_the_code(program, form, &calls))));
        }
        Conclusion::Fails(failing) => {
            answer.counterexample = Some(Box::new(failing_calls(program, &failing)));
        }
        Conclusion::Inconclusive(Obstacle::NeverExecuted(names)) => answer.unreached = names,
        _ => {}
    }
    answer
}

/// Calls one after the other of which the last fails.
fn failing_calls(program: &Program, failing: &Failing) -> Counterexample {
    let call = |(operation, arguments): &(usize, Vec<Value>)| {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        format!("{}({})", program.operations[*operation].name, arguments.join(", "))
    };
    let calls: Vec<String> = failing.calls.iter().map(call).collect();
    let fault = &failing.fault;
    let mut found = Counterexample::new(Wrong::Fault, format!("{}: {fault}", calls.join(", ")));
    found.text =
        format!("One thread, one call after the other:\n  {}\n{fault}\n", calls.join("\n  "));
    found.trace = calls;
    found
}

/// The calls of a sequential execution as clients of the model make them: an operation has several
/// lists of sub-operations, and each is an operation of the form.
fn of_the_code(program: &Program, form: &Form, calls: &[SequentialCall]) -> Vec<String> {
    let operation_of = |call: &SequentialCall| {
        let line = form.lines.iter().find(|line| line.operation == call.operation)?;
        program.operations.iter().find(|operation| operation.name == line.method)
    };
    let mut shown = in_words(&form.model, calls);
    for (call, shown) in calls.iter().zip(&mut shown) {
        let Some(operation) = operation_of(call) else { continue };
        let Some(arguments) = operation.arguments(&call.argument) else { continue };
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        *shown = format!("{}({})", operation.name, arguments.join(", "));
        if operation.response != Type::Unit {
            *shown += &format!(" → {}", call.response);
        }
    }
    shown
}

fn said(form: &Form, obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::Interleavings => "a weakness of the method, or a violation".to_owned(),
        Obstacle::Stopped(reason) => reason.to_string(),
        Obstacle::OpenGuess(guess) => {
            format!("{guess} may be any integer, so not all sequential executions can be tried")
        }
        Obstacle::BeyondTheCode(operation) => format!(
            "executed without interruption, the sub-operations of {operation} may do more than the code"
        ),
        Obstacle::SubOperations(calls) => format!(
            "one after the other, the sub-operations can do what the specification does not allow: {}",
            in_words(&form.model, calls).join(", ")
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
