//! Proving the forms of a derivation, and comparing their sequential executions with the
//! specification.

use crate::derivation::Derivation;
use crate::explorer::Fault;
use crate::failing::{self, Failing};
use crate::form::Form;
use crate::observed::observed;
use crate::{build, integers, replay, symbolic_spec};
use linchpin_ir::model_spec::{SpecError, spec_of};
use linchpin_ir::program::{Parameter, Program, SpecSource, Type};
use linchpin_reduce::{Options, Proof};
use linchpin_spec::Value;
use linchpin_subop::model::SpecLine;
use linchpin_subop::sequential::{
    self, Bounds, Domain, NotTaken, NotTried, Reference, Sequential, SequentialCall,
};
use linchpin_verdict::{StopReason, Verdict};
use std::collections::BTreeSet;

/// No more calls in a row than this are asked for: there are several times as many executions with
/// every further call.
const MOST_CALLS: usize = 8;

/// Sub-operations executed to say why something is not proved.
const STEPS_TO_EXPLAIN: usize = 50_000;

/// How sequential executions are tried: `bounds.calls` in a row, or fewer if there are too many
/// executions, but no proof without `least`.
#[derive(Clone, Debug)]
pub struct Tries {
    /// As many calls as an exploration of all interleavings would execute, up to 8: what that finds
    /// must not be proved.
    pub least: usize,
    /// How far they are tried.
    pub bounds: Bounds,
}

impl Tries {
    /// For a model that is explored with so many threads, calls of each (any number if there is
    /// none), and integers.
    pub fn of(threads: usize, calls: Option<usize>, values: i64) -> Tries {
        let least = calls.map_or(MOST_CALLS, |calls| threads.saturating_mul(calls).min(MOST_CALLS));
        let default = Bounds::default();
        let bounds = Bounds { calls: least.max(default.calls), values, ..default };
        Tries { least, bounds }
    }
}

/// The outcome of [`prove`].
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The sub-operations that were analysed.
    pub form: Form,
    /// What the reduction engine found out about them.
    pub proof: Proof,
    /// What their sequential executions are, compared with the specification.
    pub sequential: Sequential,
    /// Whether the code itself can be executed as the wrong sequential execution that was found, if
    /// one was.
    pub replayed: bool,
    /// An integer that an operation guesses and no comparison pins down: its sequential executions
    /// cannot all be tried.
    pub open_guess: Option<String>,
    /// An operation whose sub-operations, executed without interruption, may do more than its code.
    pub beyond_the_code: Option<String>,
    /// As many calls, one after the other, must be tried at least.
    pub least_calls: usize,
    /// How many forms were tried.
    pub tried: usize,
    /// Whether the code counts with integers, which may overflow.
    pub counts: bool,
    /// Of a proof: where a step fails, as far as is known; empty if no step ever does.
    pub faults: Vec<Fault>,
    /// Of a proof that does not show that no step fails: a sequential execution in which one does.
    pub failing: Option<Failing>,
    /// The integers that clients pass where the program has no range.
    pub passed: Passed,
    /// Calls with other integers, one after the other, that are not those of the specification: why
    /// only some integers are passed.
    pub otherwise: Option<Vec<SequentialCall>>,
}

/// The integers that clients pass where the program has no range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// Any.
    Any,
    /// Those above 0, as in every bounded check: a model may take others for marks of its own.
    AboveZero,
}

impl Passed {
    /// The integers that are passed for a parameter: from the first up to the second, which is
    /// excluded; any if there is none.
    pub fn range(self, parameter: &Parameter) -> Option<(i64, i64)> {
        match (parameter.range, self) {
            (None, Passed::AboveZero) if parameter.ty == Type::Int => Some((1, i64::MAX)),
            (range, _) => range,
        }
    }

    /// Whether these calls pass only such integers.
    fn covers(self, program: &Program, form: &Form, calls: &[SequentialCall]) -> bool {
        let is_within = |call: &SequentialCall| {
            let line = form.lines.iter().find(|line| line.operation == call.operation)?;
            let operation = program.operations.iter().find(|one| one.name == line.method)?;
            let arguments = operation.arguments(&call.argument)?;
            let mut pairs = operation.parameters.iter().zip(&arguments);
            Some(pairs.all(|(parameter, value)| match (self.range(parameter), value) {
                (Some((from, to)), Value::Int(value)) => (from..to).contains(value),
                _ => true,
            }))
        };
        calls.iter().all(|call| is_within(call).unwrap_or(true))
    }
}

/// What follows from an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// Linearizable for any number of threads, and no step fails; nothing rests on trying.
    Proved,
    /// Linearizable for any number of threads if every sequential execution is right, where those
    /// were only tried, and if no step fails, where that is not shown.
    ProvedIfSequential,
    /// These calls, one after the other, are not those of the specification; the code can be
    /// executed so.
    Violated(Vec<SequentialCall>),
    /// A step fails in a sequential execution.
    Fails(Failing),
    /// Nothing.
    Inconclusive(Obstacle),
}

/// What stands in the way of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The reduction engine does not prove that every interleaving is a sequential execution.
    Interleavings,
    /// It was stopped before it did.
    Stopped(StopReason),
    /// An integer that an operation guesses may be any.
    OpenGuess(String),
    /// The sub-operations of this operation may do more than its code, even without interruption.
    BeyondTheCode(String),
    /// One after the other, the sub-operations can do what the specification does not allow;
    /// perhaps the code cannot.
    SubOperations(Vec<SequentialCall>),
    /// No sequential execution that was tried comes to the end of these operations.
    NeverExecuted(Vec<String>),
    /// No sequential execution was tried.
    NotTried(NotTried),
    /// There are too many sequential executions.
    FewCalls {
        /// So many calls in a row were tried.
        tried: usize,
        /// So many are within the bounds.
        wanted: usize,
    },
}

impl Attempt {
    /// What follows from it.
    pub fn conclusion(&self) -> Conclusion {
        if let Some(failing) = &self.failing {
            return Conclusion::Fails(failing.clone());
        }
        if let Sequential::Violated { calls } = &self.sequential
            && self.replayed
        {
            return Conclusion::Violated(calls.clone());
        }
        if let Some(guess) = &self.open_guess {
            return Conclusion::Inconclusive(Obstacle::OpenGuess(guess.clone()));
        }
        if let Some(operation) = &self.beyond_the_code {
            return Conclusion::Inconclusive(Obstacle::BeyondTheCode(operation.clone()));
        }
        let obstacle = match &self.sequential {
            Sequential::Violated { calls } => Obstacle::SubOperations(calls.clone()),
            _ if !self.proof.is_proved() => match self.proof.obstacle {
                Some(linchpin_reduce::Obstacle::Stopped(reason)) => Obstacle::Stopped(reason),
                _ => Obstacle::Interleavings,
            },
            Sequential::Shown { .. } if self.faults.is_empty() => return Conclusion::Proved,
            Sequential::Shown { .. } => return Conclusion::ProvedIfSequential,
            Sequential::Tried { tried, .. } if tried.calls() < self.least_calls => {
                Obstacle::FewCalls { tried: tried.calls(), wanted: self.least_calls }
            }
            Sequential::Tried { .. } => return Conclusion::ProvedIfSequential,
            Sequential::NeverExecuted { operations, .. } => {
                let name = |id: &linchpin_subop::model::OperationId| {
                    self.form.model.operations[id.0].name.clone()
                };
                Obstacle::NeverExecuted(operations.iter().map(name).collect())
            }
            Sequential::NotTried(why) => Obstacle::NotTried(*why),
        };
        Conclusion::Inconclusive(obstacle)
    }

    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        match self.conclusion() {
            Conclusion::Proved => Verdict::Proved,
            Conclusion::ProvedIfSequential => Verdict::ProvedIfSequential,
            Conclusion::Violated(_) | Conclusion::Fails(_) => Verdict::Violated,
            Conclusion::Inconclusive(_) => Verdict::Inconclusive,
        }
    }
}

/// Compares sequential executions with the specification of the program.
fn sequential_check(
    form: &Form,
    program: &Program,
    bounds: &Bounds,
    passed: Passed,
) -> Result<Sequential, SpecError> {
    let symbolic = symbolic_spec::of(program);
    let constants = integers::of(program).constants;
    let compared: Vec<Vec<BTreeSet<i64>>> =
        form.lines.iter().map(|line| integers::compared(program, &line.method)).collect();
    let domains: Vec<Vec<Domain>> =
        form.lines.iter().map(|line| domains_of(program, line, passed)).collect();
    // The specification must have every operation of the code.
    let plain = spec_of(program)?.spec;
    let (spec, block) = match &program.spec {
        SpecSource::Builtin { .. } => (plain, None),
        SpecSource::Model(block) => {
            let (spec, coverage) = observed(block)?;
            (spec, Some((block, coverage)))
        }
    };
    let reference = Reference {
        lines: &form.lines,
        spec,
        symbolic: symbolic.as_deref(),
        domains: &domains,
        constants: &constants,
        compared: &compared,
    };
    let mut found = sequential::check_against(&form.model, reference, bounds);
    if let (Some((block, coverage)), Some(tried)) = (block, found.tried_mut()) {
        let lines = coverage.not_taken(block, &form.lines);
        tried.not_taken.extend(lines.into_iter().map(NotTaken::SpecificationLine));
    }
    Ok(found)
}

/// What clients pass for each argument of a line's operation.
fn domains_of(program: &Program, line: &SpecLine, passed: Passed) -> Vec<Domain> {
    let operation = program.operations.iter().find(|operation| operation.name == line.method);
    let parameters = operation.map_or(&[][..], |operation| &operation.parameters);
    parameters
        .iter()
        .map(|parameter| match passed.range(parameter) {
            Some((from, to)) => Domain::Range(from, to),
            None => Domain::Integers,
        })
        .collect()
}

/// Tries the forms one after the other. The last one tried, which has all steps, is returned if
/// none is proved. Where only integers are wrong that clients pass in no bounded check, it is asked
/// again without them.
pub fn prove(
    derivation: &Derivation,
    program: &Program,
    tries: &Tries,
) -> Result<Attempt, SpecError> {
    let attempt = prove_of(derivation, program, tries, Passed::Any)?;
    match attempt.conclusion() {
        Conclusion::Violated(calls)
            if !Passed::AboveZero.covers(program, &attempt.form, &calls) =>
        {
            let attempt = prove_of(derivation, program, tries, Passed::AboveZero)?;
            let is_violated = attempt.verdict() == Verdict::Violated;
            Ok(Attempt { otherwise: (!is_violated).then_some(calls), ..attempt })
        }
        _ => Ok(attempt),
    }
}

fn prove_of(
    derivation: &Derivation,
    program: &Program,
    tries: &Tries,
    passed: Passed,
) -> Result<Attempt, SpecError> {
    // The one with all steps says most about why a proof fails.
    let whole = derivation.whole();
    let mut forms = derivation.forms();
    forms.retain(|form| form.model != whole.model);
    let total = forms.len() + 1;
    for (at, form) in forms.into_iter().enumerate() {
        let analysed = Analysed::new(derivation, form);
        if analysed.is_promising() {
            let attempt = analysed.attempt(derivation, program, tries, passed, at + 1)?;
            if attempt.verdict() != Verdict::Inconclusive {
                return Ok(with_faults(derivation, program, attempt));
            }
        }
    }
    let whole = Analysed::new(derivation, whole);
    let attempt = whole.attempt(derivation, program, tries, passed, total)?;
    Ok(with_faults(derivation, program, attempt))
}

fn with_faults(derivation: &Derivation, program: &Program, attempt: Attempt) -> Attempt {
    let faults =
        if attempt.verdict().is_proof() { derivation.possible_faults() } else { Vec::new() };
    // Most of what may fail does not; where it does, a few calls often show it.
    let failing = if faults.is_empty() { None } else { failing::find(program, Passed::AboveZero) };
    Attempt { faults, failing, ..attempt }
}

/// A form with what is known about its interleavings.
struct Analysed {
    form: Form,
    proof: Proof,
    open_guess: Option<String>,
    beyond_the_code: Option<String>,
}

impl Analysed {
    fn new(derivation: &Derivation, form: Form) -> Analysed {
        let open_guess = form.model.operations.iter().find_map(build::open_guess);
        let beyond_the_code = derivation.beyond_the_code(&form);
        let options = Options { limits: derivation.limits.clone(), ..Options::default() };
        let proof = linchpin_reduce::prove(&form.model, &options);
        Analysed { form, proof, open_guess, beyond_the_code }
    }

    /// Whether it is proved if its sequential executions are right.
    fn is_promising(&self) -> bool {
        self.proof.is_proved() && self.open_guess.is_none() && self.beyond_the_code.is_none()
    }

    /// Compares its sequential executions with the specification.
    fn attempt(
        self,
        derivation: &Derivation,
        program: &Program,
        tries: &Tries,
        passed: Passed,
        tried: usize,
    ) -> Result<Attempt, SpecError> {
        let mut bounds = tries.bounds.clone();
        if !self.is_promising() {
            // What is not proved anyway is tried only to say more about it.
            bounds.steps = bounds.steps.min(STEPS_TO_EXPLAIN);
        }
        let Analysed { form, proof, open_guess, beyond_the_code } = self;
        let sequential = sequential_check(&form, program, &bounds, passed)?;
        let replayed = match &sequential {
            Sequential::Violated { calls } => replay::is_possible(program, &form, calls),
            _ => false,
        };
        Ok(Attempt {
            form,
            proof,
            sequential,
            replayed,
            open_guess,
            beyond_the_code,
            least_calls: tries.least,
            tried,
            counts: derivation.counts,
            faults: Vec::new(),
            failing: None,
            passed,
            otherwise: None,
        })
    }
}
