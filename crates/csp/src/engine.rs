//! Refinement between processes as [`Engine`]: one answer for each assertion of a `.csp` file.

use crate::{Failure, Options, Report, TraceStep, Wrong as TraceWrong, parse, verify};
use linchpin_engine::{
    Answer, Counterexample, Engine, EngineError, Language, Progress, Reduction, Request, Source,
    Stat, Step, Subject, Wrong,
};
use linchpin_verdict::{Bound, Outcome, Verdict, counted};

/// Refinement between the processes of a `.csp` file.
#[derive(Clone, Copy, Debug)]
pub struct Processes;

impl Engine for Processes {
    fn name(&self) -> &'static str {
        "refine"
    }

    fn reads(&self) -> &'static [Language] {
        &[Language::Csp]
    }

    fn is_proof(&self) -> bool {
        false
    }

    fn answer(
        &self,
        subject: &Subject<'_>,
        request: &Request<'_>,
    ) -> Result<Vec<Answer>, EngineError> {
        let Source::Csp { constants } = subject.source else { return Ok(Vec::new()) };
        let mistakes = |_| EngineError { message: "the file has mistakes".to_owned() };
        let processes = parse(subject.text, constants).map_err(mistakes)?;
        let mut options = Options::default();
        options.search.limits = request.limits.clone();
        if let Some(workers) = request.workers {
            options.search.workers = workers;
        }
        options.reduce &= !request.without.contains(&Reduction::PartialOrder);
        options.search.antichain &= !request.without.contains(&Reduction::Antichain);
        let observe = |stats: &linchpin_refine::search::Stats| {
            let (states, depth) = (stats.states, stats.depth);
            (request.progress)(Progress { engine: "refine", states, depth, to_come: None });
        };
        let reports = verify(&processes, &options, &observe);
        if reports.is_empty() {
            let message = "it asserts nothing: add `assert Impl refines Spec;`".to_owned();
            return Err(EngineError { message });
        }
        Ok(reports.iter().map(describe).collect())
    }
}

fn describe(report: &Report) -> Answer {
    let bounds: Vec<Bound> = report
        .constants
        .iter()
        .map(|(name, value)| Bound::Constant(name.clone(), value.clone()))
        .collect();
    let within = match bounds.is_empty() {
        true => String::new(),
        false => {
            let shown: Vec<String> = bounds.iter().map(Bound::to_string).collect();
            format!(", with {}", shown.join(", "))
        }
    };
    let claim = &report.assertion;
    let (verdict, reason) = match &report.outcome {
        Outcome::Holds(()) => (Verdict::HoldsWithinBounds, format!("`{claim}` holds{within}")),
        Outcome::Violated(Failure::Run(_)) => {
            (Verdict::Violated, format!("`{claim}` does not hold{within}"))
        }
        Outcome::Violated(Failure::Fault { message, .. }) => {
            (Verdict::Violated, format!("`{claim}`: the model goes wrong: {message}{within}"))
        }
        Outcome::Inconclusive(reason) => {
            (Verdict::Inconclusive, format!("`{claim}`: {reason}{within}"))
        }
    };
    let mut answer = Answer::new("refine", verdict, reason);
    answer.bounds = bounds;
    let place = |at: &crate::Place| format!("line {}: {}", at.line, at.text);
    answer.unreached = report.unreached.iter().map(place).collect();
    let stats = &report.stats;
    answer.stats = vec![
        ("states", Stat::from(stats.states)),
        ("transitions", Stat::Count(stats.transitions)),
        ("seconds", Stat::Seconds(stats.seconds)),
        ("peak_bytes", Stat::from(stats.bytes)),
        ("specification_states", Stat::from(report.specification.0)),
        ("specification_sets", Stat::from(report.specification.1)),
    ];
    answer.notes.push(format!(
        "{}, {}, {} of the specification in {}, {:.2} s",
        counted(stats.states, "state"),
        counted(stats.transitions, "transition"),
        counted(report.specification.0, "state"),
        counted(report.specification.1, "set"),
        stats.seconds
    ));
    answer.counterexample = counterexample(report, &answer.reason);
    answer
}

fn counterexample(report: &Report, reason: &str) -> Option<Box<Counterexample>> {
    let (wrong, trace) = match report.outcome.violation()? {
        Failure::Run(found) => (Wrong::Trace, found.trace()),
        Failure::Fault { .. } => (Wrong::Fault, Vec::new()),
    };
    let mut found = Counterexample::new(wrong, reason);
    found.trace = trace.into_iter().map(str::to_owned).collect();
    found.steps = report.outcome.violation().map_or_else(Vec::new, steps);
    found.text = format!("{report}\n");
    Some(Box::new(found))
}

/// What happens, for people; the last steps say what is wrong.
fn steps(failure: &Failure) -> Vec<Step> {
    let plain = |text: String, line: Option<u32>| Step {
        thread: None,
        operation: String::new(),
        line,
        text,
    };
    let step = |step: &TraceStep| {
        let text = if step.visible { step.text.clone() } else { format!("τ {}", step.text) };
        plain(text, step.line)
    };
    let found = match failure {
        Failure::Fault { steps, message, place } => {
            let mut all: Vec<Step> = steps.iter().map(step).collect();
            all.push(plain(format!("the model goes wrong: {message}"), Some(place.line)));
            return all;
        }
        Failure::Run(found) => found,
    };
    let mut all: Vec<Step> = found.steps.iter().map(step).collect();
    match &found.wrong {
        TraceWrong::Refused { event, allowed } => {
            let allowed = match allowed.is_empty() {
                true => "nothing".to_owned(),
                false => allowed.join(", "),
            };
            let refused = format!("{}: the specification allows {allowed} instead", event.text);
            all.push(plain(refused, event.line));
        }
        TraceWrong::Deadlock { waiting } => {
            let waits =
                waiting.iter().map(|at| plain(format!("waits: {}", at.text), Some(at.line)));
            all.extend(waits);
        }
    }
    all
}
