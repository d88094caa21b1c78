//! Base point analysis as [`Engine`]: a request in, an answer with a roadmap out.

use crate::analyse::{Analysis, BaseError, Options, analyse};
use crate::roadmap::{add_conditions, roadmap};
use crate::witness::Teller;
use linchpin_engine::{
    Answer, Engine, EngineError, Faults, Language, ModelBounds, Origin, Progress, Reduction,
    Request, Roadmap, Source, Stat, Status, StepCondition, Subject, WithoutUpdates,
};
use linchpin_ir::program::Program;
use linchpin_space::{Bounds, Reductions, SpaceError};
use linchpin_verdict::{Assumption, Bound, Values, Verdict, counted};
use std::time::{Duration, Instant};

/// The conditions of paper 004, on every execution within bounds.
#[derive(Clone, Copy, Debug)]
pub struct Base;

const NAME: &str = "base";

impl Engine for Base {
    fn name(&self) -> &'static str {
        NAME
    }

    fn reads(&self) -> &'static [Language] {
        &[Language::Lin]
    }

    fn is_proof(&self) -> bool {
        true
    }

    fn patience(&self) -> Option<Duration> {
        Some(Duration::from_secs(5))
    }

    fn answer(
        &self,
        subject: &Subject<'_>,
        request: &Request<'_>,
    ) -> Result<Vec<Answer>, EngineError> {
        let Source::Lin { program, bounds } = subject.source else { return Ok(Vec::new()) };
        let program = &*program.from_init();
        let start = Instant::now();
        let options = options(request, bounds);
        let observe = |states: usize| {
            (request.progress)(Progress { engine: NAME, states, depth: 0, to_come: None })
        };
        let mut answer = match analyse(program, &options, &observe) {
            Ok(analysis) => {
                let mut answer = describe(program, &analysis);
                let mut roadmap = roadmap(&analysis, subject.text);
                let (text, asked) = (subject.text, request.roadmap);
                add_conditions(&mut roadmap, &analysis, text, asked, &request.limits);
                answer.reason += &wrong_conditions(&roadmap);
                answer.roadmap = Some(Box::new(roadmap));
                answer.stats = stats(&analysis, start.elapsed().as_secs_f64());
                answer.notes.insert(0, cost(&analysis, start.elapsed().as_secs_f64()));
                answer
            }
            Err(BaseError::NotApplicable(reason)) => {
                Answer::new(NAME, Verdict::Inconclusive, format!("does not apply: {reason}"))
            }
            Err(BaseError::Space(error @ SpaceError::TooManyThreads { .. })) => {
                Answer::new(NAME, Verdict::Inconclusive, format!("does not apply: {error}"))
            }
            Err(error) => return Err(EngineError::of(error)),
        };
        answer.assumptions =
            vec![Assumption::SequentialConsistency, request.memory_assumed(program)];
        Ok(vec![answer])
    }
}

fn options(request: &Request<'_>, model: ModelBounds) -> Options {
    let bounds = Bounds {
        calls: request.calls_of(model),
        // Other engines than refinement take some number of values.
        values: Values::UpTo(request.values.unwrap_or(model.values).or_few()),
        objects: request.objects,
        memory: request.memory,
        crashes: 0,
        thread_crashes: 0,
    };
    let mut reductions = Reductions::ALL;
    for without in &request.without {
        match without {
            Reduction::DeadLocals => reductions.dead_locals = false,
            Reduction::ThreadSymmetry => reductions.thread_symmetry = false,
            Reduction::PartialOrder => reductions.partial_order = false,
            // Values are always told apart, and these are needed.
            Reduction::ValueSymmetry
            | Reduction::CanonicalHeap
            | Reduction::MergedEvents
            | Reduction::JustInTime
            | Reduction::DistinctImages
            | Reduction::ReachableImages
            | Reduction::CrashPoints
            | Reduction::CoveredCrashes
            | Reduction::Antichain
            | Reduction::DeadFields
            | Reduction::SettledFields
            | Reduction::AmpleSteps
            | Reduction::DoomedAttempts
            | Reduction::ValidatedReads
            | Reduction::Calls => {}
        }
    }
    Options { reductions, limits: request.limits.clone(), ..Options::new(bounds) }
}

fn describe(program: &Program, analysis: &Analysis) -> Answer {
    let said = analysis.space.bounds().said(program);
    let within = said.iter().map(Bound::to_string).collect::<Vec<_>>().join(", ");
    let teller = Teller { analysis };
    let (verdict, reason) = verdict(analysis, &teller, &within);
    let mut answer = Answer::new(NAME, verdict, reason);
    answer.bounds = said;
    answer.unreached = analysis.space.unreached().iter().map(ToString::to_string).collect();
    if verdict == Verdict::HoldsWithinBounds {
        answer.faults = Faults::NeverFails;
    }
    for (operation, treated) in analysis.treatment.without_updates.iter().enumerate() {
        if *treated == WithoutUpdates::ReadOnly {
            answer.notes.push(format!(
                "calls of `{}` without update steps are treated as read-only calls: their last read is no base point",
                teller.name(operation)
            ));
        }
    }
    answer
}

fn verdict(analysis: &Analysis, teller: &Teller<'_>, within: &str) -> (Verdict, String) {
    if let Some(finding) = first(analysis) {
        let more = match analysis.findings.len() {
            0 | 1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        let reason = format!(
            "{} does not hold: {}{more}, with {within}",
            finding.rule.source(),
            teller.short(finding)
        );
        return (Verdict::Inconclusive, reason);
    }
    if let Some(stopped) = analysis.stopped {
        let reason = format!(
            "no condition fails in the first {}; {stopped}; with {within}",
            counted(analysis.states(), "state")
        );
        return (Verdict::Inconclusive, reason);
    }
    if analysis.has_fault {
        return (Verdict::Inconclusive, format!("a step fails in some run, with {within}"));
    }
    let never = analysis.space.never_returned();
    if let Some(operation) = never.first() {
        let name = teller.name(*operation);
        let reason =
            format!("no call of `{name}` returns, so nothing is known of it; with {within}");
        return (Verdict::Inconclusive, reason);
    }
    let reason = format!(
        "the conditions of Theorem 2 hold in every run, so every run is linearizable, with {within}; whether \
         operations can get stuck was not checked"
    );
    (Verdict::HoldsWithinBounds, reason)
}

/// What the first line must not pass over in silence: conditions that the model states wrongly.
fn wrong_conditions(roadmap: &Roadmap) -> String {
    let conditions = roadmap.operations.iter().flat_map(|operation| &operation.conditions);
    let is_wrong = |of: &&StepCondition| {
        of.origin == Origin::Stated && matches!(of.status, Status::Refuted(_))
    };
    match conditions.filter(is_wrong).count() {
        0 => String::new(),
        1 => "; 1 stated base condition is none".to_owned(),
        count => format!("; {count} stated base conditions are none"),
    }
}

/// The finding that people would name first: of a condition of the paper rather than of the
/// confirmation, and the one with the shortest run.
fn first(analysis: &Analysis) -> Option<&crate::finding::Finding> {
    let rank = |finding: &&crate::finding::Finding| {
        (finding.rule == linchpin_engine::Rule::Confirmation, finding.place.state)
    };
    analysis.findings.iter().min_by_key(rank)
}

fn stats(analysis: &Analysis, seconds: f64) -> Vec<(&'static str, Stat)> {
    vec![
        ("states", Stat::from(analysis.states())),
        ("shared_states", Stat::from(analysis.shared.len())),
        ("seconds", Stat::Seconds(seconds)),
        ("peak_bytes", Stat::from(analysis.kept_bytes())),
        ("thread_symmetry", Stat::Flag(analysis.space.symmetry().threads)),
    ]
}

fn cost(analysis: &Analysis, seconds: f64) -> String {
    format!(
        "{}, {}, {seconds:.2} s, {:.1} MB",
        counted(analysis.states(), "state"),
        counted(analysis.shared.len(), "shared state"),
        analysis.kept_bytes() as f64 / 1e6
    )
}
