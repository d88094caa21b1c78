//! Progress and temporal properties, asked for instead of linearizability.

use crate::{Loaded, Verification};
use linchpin_engine::{Answer, Counterexample, EngineError, Request, Source, Stat, Step, Wrong};
use linchpin_progress::{Lasso, Line, Property, Report, check_ltl, check_progress};
use linchpin_refine::engine::bounds_of;
use linchpin_verdict::{Assumption, Bound, Calls, Outcome, Values, Verdict, counted};

/// At most so many heap objects where threads call without end and no bound is given.
const OBJECTS: usize = 4;

/// What is asked.
#[derive(Clone, Debug)]
pub enum ProgressQuestion {
    /// A progress property.
    Property(Property),
    /// A formula of linear temporal logic over events.
    Formula {
        /// The formula.
        text: String,
        /// Whether only runs count in which every thread that can always move does.
        fair: bool,
    },
}

/// Checks a progress or temporal property of a `.lin` model; nothing of others.
pub fn verify_progress(
    loaded: &Loaded,
    question: &ProgressQuestion,
    request: &Request<'_>,
) -> Result<Option<Verification>, EngineError> {
    let Source::Lin { program, bounds } = loaded.subject().source else { return Ok(None) };
    let mut bounds = bounds_of(request, bounds).without_crashes();
    // Values are told apart here.
    bounds.values = Values::UpTo(bounds.values.or_few());
    // That a thread is overtaken for ever shows only if the others may go on calling: without a
    // bound given, they may, and the number of objects is bounded instead.
    let overtaken = match question {
        ProgressQuestion::Property(property) => {
            matches!(property, Property::WaitFree | Property::StarvationFree)
        }
        ProgressQuestion::Formula { .. } => true,
    };
    if overtaken && request.calls.is_none() {
        bounds.calls = Calls::Unlimited;
        bounds.objects = bounds.objects.or(Some(OBJECTS));
    }
    let limits = &request.limits;
    let report = match question {
        ProgressQuestion::Property(property) => check_progress(program, bounds, *property, limits),
        ProgressQuestion::Formula { text, fair } => check_ltl(program, bounds, text, *fair, limits),
    };
    let report = report.map_err(EngineError::of)?;
    let mut answer = describe(&report, &bounds.said(program));
    answer.assumptions = vec![Assumption::SequentialConsistency, request.memory_assumed(program)];
    Ok(Some(Verification::new(vec![answer], false)))
}

fn describe(report: &Report, bounds: &[Bound]) -> Answer {
    let within = bounds.iter().map(Bound::to_string).collect::<Vec<_>>().join(", ");
    let subject = &report.subject;
    let (verdict, reason) = match &report.outcome {
        Outcome::Holds(()) => (
            Verdict::HoldsWithinBounds,
            format!("every run has the property {subject}, with {within}"),
        ),
        Outcome::Violated(_) => {
            (Verdict::Violated, format!("a run has not the property {subject}, with {within}"))
        }
        Outcome::Inconclusive(reason) => {
            (Verdict::Inconclusive, format!("{reason}; with {within}"))
        }
    };
    let mut answer = Answer::new("progress", verdict, reason);
    answer.bounds = bounds.to_vec();
    answer.unreached = report.unreached.iter().map(ToString::to_string).collect();
    answer.stats = vec![
        ("states", Stat::from(report.stats.states)),
        ("moves", Stat::from(report.stats.moves)),
        ("automaton", Stat::from(report.stats.automaton)),
        ("product", Stat::from(report.stats.product)),
        ("seconds", Stat::Seconds(report.stats.seconds)),
        ("peak_bytes", Stat::from(report.stats.bytes)),
    ];
    answer.notes.push(format!(
        "{}, {}",
        counted(report.stats.states, "state"),
        counted(report.stats.moves, "move")
    ));
    for of in &report.operations {
        let words = match of.holds {
            Some(true) => "has it",
            Some(false) => "has it not",
            None => "is not known to have it",
        };
        answer.notes.push(format!("operation {} {words}", of.operation));
    }
    answer.notes.extend(report.notes.iter().cloned());
    if let Outcome::Violated(lasso) = &report.outcome {
        answer.counterexample = Some(Box::new(counterexample(lasso)));
    }
    answer
}

fn counterexample(lasso: &Lasso) -> Counterexample {
    let mut found = Counterexample::new(Wrong::Progress, lasso.claim.clone());
    found.schedule = lasso.prefix.clone();
    found.cycle = lasso.cycle.clone();
    let step = |line: &Line| Step {
        thread: line.thread,
        operation: line.operation.clone(),
        line: (line.line > 0).then_some(line.line),
        text: line.text.clone(),
    };
    found.steps = lasso.lines.iter().map(step).collect();
    found.text = format!("{lasso}\n");
    found
}
