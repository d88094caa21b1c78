//! The refinement engine as [`Engine`]: its options from a request, its report as an answer.

use crate::counterexample::{Failure, Holder, KeptBy, StuckOperation};
use crate::disk::DiskOptions;
use crate::durability::CrashReport;
use crate::model::ModelError;
use crate::options::{Strategy, VerifyOptions};
use crate::repair::{After, Change, Repairs};
use crate::search::Stats;
use crate::stuck::{NotMade, StuckCheck};
use crate::suggest::{Advice, Together, Where, suggest_points};
use crate::together::{Cluster, Traffic};
use crate::verify::{Points, Report, has_points, verify};
use crate::walk::{Walk, Walks};
use linchpin_engine::{
    Answer, Counterexample, CrashChange, Crashes, DiskAsked, Engine, EngineError, Faults, Language,
    ModelBounds, Progress, Reduction, Request, SearchAsked, Source, Stat, Stuck, Subject, Wrong,
};
use linchpin_ir::domain::Domain;
use linchpin_ir::program::Program;
use linchpin_ir::run::{EventKind, Run};
use linchpin_space::{Bounds, DataUse, Reductions, Space, SpaceError};
use linchpin_spec::Value;
use linchpin_verdict::{
    Assumption, Bound, Calls, CrashProperty, Inconclusive, Outcome, Values, Verdict, counted,
    grouped, peak_memory,
};
use std::sync::Arc;

/// Model checking by refinement: exhaustive within bounds.
#[derive(Clone, Copy, Debug)]
pub struct Refine;

impl Engine for Refine {
    fn name(&self) -> &'static str {
        "refine"
    }

    fn reads(&self) -> &'static [Language] {
        &[Language::Lin]
    }

    fn is_proof(&self) -> bool {
        false
    }

    fn knows_crashes(&self) -> bool {
        true
    }

    fn answer(
        &self,
        subject: &Subject<'_>,
        request: &Request<'_>,
    ) -> Result<Vec<Answer>, EngineError> {
        answered(subject, request, None)
    }
}

/// The same, searching together with other processes.
#[derive(Clone, Debug)]
pub struct RefineTogether {
    /// The other processes.
    pub cluster: Arc<dyn Cluster>,
}

impl Engine for RefineTogether {
    fn name(&self) -> &'static str {
        Refine.name()
    }

    fn reads(&self) -> &'static [Language] {
        Refine.reads()
    }

    fn is_proof(&self) -> bool {
        Refine.is_proof()
    }

    fn knows_crashes(&self) -> bool {
        Refine.knows_crashes()
    }

    fn answer(
        &self,
        subject: &Subject<'_>,
        request: &Request<'_>,
    ) -> Result<Vec<Answer>, EngineError> {
        answered(subject, request, Some(&self.cluster))
    }
}

fn answered(
    subject: &Subject<'_>,
    request: &Request<'_>,
    cluster: Option<&Arc<dyn Cluster>>,
) -> Result<Vec<Answer>, EngineError> {
    let Source::Lin { program, bounds } = subject.source else { return Ok(Vec::new()) };
    let mut options = options(request, bounds);
    if program.persistence.is_none() {
        // Nothing would survive a crash: there are none.
        options.bounds.crashes = 0;
    }
    options.cluster = cluster.cloned();
    if cluster.is_some_and(|cluster| !cluster.tells()) {
        // What one process can do alone, the first does.
        (options.stuck, options.repairs, options.superfluous) = (false, false, false);
        options.shortest_budget = 0;
    }
    let observe = |stats: &Stats| {
        let Stats { states, depth, to_come, .. } = *stats;
        (request.progress)(Progress { engine: "refine", states, depth, to_come });
    };
    let report = match verify(program, &options, &observe) {
        Ok(report) => report,
        Err(ModelError::Space(error @ SpaceError::TooManyThreads { .. })) => {
            let reason = format!("does not apply: {error}");
            return Ok(vec![Answer::new("refine", Verdict::Inconclusive, reason)]);
        }
        Err(error) => return Err(EngineError::of(error)),
    };
    let mut answer = describe(program, &options, &report);
    answer.assumptions = vec![Assumption::SequentialConsistency, request.memory_assumed(program)];
    if options.bounds.crashes > 0 {
        answer.assumptions.push(Assumption::PersistentLines);
    }
    if let Some(budget) = request.suggest_points {
        let limits = &options.search.limits;
        let (advice, together) =
            suggest_points(program, options.bounds, limits, budget).map_err(EngineError::of)?;
        let is_open = |advice: &Advice| matches!(advice.place, Where::Unknown(_));
        answer.is_unfinished = advice.iter().any(is_open) || together == Together::Unknown;
        answer.notes.extend(suggestions(&advice, together));
    }
    Ok(vec![answer])
}

/// What is explored.
pub fn bounds_of(request: &Request<'_>, model: ModelBounds) -> Bounds {
    Bounds {
        calls: request.calls_of(model),
        values: request.values.unwrap_or(model.values),
        objects: request.objects,
        memory: request.memory,
        crashes: request.crashes.unwrap_or(model.crashes),
        thread_crashes: request.thread_crashes,
    }
}

/// What a model does with the values that clients pass, if these may be any; `None` if clients pass
/// none, or if the model cannot be explored.
pub fn data_use(program: &Program, request: &Request<'_>, model: ModelBounds) -> Option<DataUse> {
    if !Domain::depends_on_values(program) {
        return None;
    }
    let mut bounds = Bounds { values: Values::Any, ..bounds_of(request, model) };
    if program.persistence.is_none() {
        bounds.crashes = 0;
    }
    match Space::new(program, bounds, Reductions::ALL) {
        Ok(space) => Some(space.symmetry().data.clone()),
        Err(SpaceError::NotAnyValues(why)) => Some(DataUse::Other(why)),
        Err(_) => None,
    }
}

fn options(request: &Request<'_>, model: ModelBounds) -> VerifyOptions {
    let mut options = VerifyOptions::new(bounds_of(request, model));
    options.points = request.points;
    options.property = request.property;
    options.superfluous = request.superfluous;
    options.stuck = request.stuck;
    options.strategy = strategy(request.search);
    options.disk = request.disk.as_ref().map(|DiskAsked { folder, resume }| DiskOptions {
        resume: *resume,
        ..DiskOptions::new(folder)
    });
    options.lossy =
        request.lossy.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX).saturating_mul(8));
    if let Some(workers) = request.workers {
        options.search.workers = workers;
    }
    options.search.limits = request.limits.clone();
    let reductions = &mut options.reductions;
    for without in &request.without {
        match without {
            Reduction::CanonicalHeap => reductions.canonical_heap = false,
            Reduction::DeadLocals => reductions.dead_locals = false,
            Reduction::DeadFields => reductions.dead_fields = false,
            Reduction::ThreadSymmetry => reductions.thread_symmetry = false,
            Reduction::ValueSymmetry => reductions.value_symmetry = false,
            Reduction::PartialOrder => reductions.partial_order = false,
            Reduction::SettledFields => reductions.settled_fields = false,
            Reduction::AmpleSteps => reductions.ample_steps = false,
            Reduction::DoomedAttempts => reductions.doomed_attempts = false,
            Reduction::ValidatedReads => reductions.validated_reads = false,
            Reduction::MergedEvents => reductions.merged_events = false,
            Reduction::DistinctImages => reductions.distinct_images = false,
            Reduction::ReachableImages => reductions.reachable_images = false,
            Reduction::CrashPoints => reductions.crash_points = false,
            Reduction::CoveredCrashes => reductions.covered_crashes = false,
            Reduction::JustInTime => options.just_in_time = false,
            Reduction::Antichain => options.search.antichain = false,
            Reduction::Calls => options.search.calls = false,
        }
    }
    options
}

fn strategy(asked: SearchAsked) -> Strategy {
    match asked {
        SearchAsked::BreadthFirst => Strategy::BreadthFirst,
        SearchAsked::DepthFirst => Strategy::DepthFirst,
        SearchAsked::Random { seed, runs } => {
            Strategy::Walks(Walks { walk: Walk::Uniform, seed, runs })
        }
        SearchAsked::Pct { seed, runs, depth } => {
            let walk = Walk::Priorities { changes: depth.saturating_sub(1) };
            Strategy::Walks(Walks { walk, seed, runs })
        }
        SearchAsked::ContextBound(most) => Strategy::Preemptions(most),
    }
}

fn describe(program: &Program, options: &VerifyOptions, report: &Report) -> Answer {
    let bounds = &options.bounds;
    let calls = if report.any_calls { Calls::Unlimited } else { bounds.calls };
    let values = match (&report.outcome, bounds.values) {
        (Outcome::Holds(()), _) => report.values,
        // A run passes some values: among those it was found.
        (Outcome::Violated(found), Values::Any) => Values::UpTo(largest_passed(&found.run)),
        (Outcome::Inconclusive(_), Values::Any) if report.not_any.is_some() => {
            Values::UpTo(bounds.values.or_few())
        }
        (_, values) => values,
    };
    let mut said = Bounds { calls, values, ..*bounds }.said(program);
    // What was found is a run within all bounds but this one.
    if let (Strategy::Preemptions(most), false) =
        (options.strategy, report.outcome.violation().is_some())
    {
        said.push(Bound::Preemptions(most));
    }
    let within = said.iter().map(Bound::to_string).collect::<Vec<_>>().join(", ");
    let (verdict, reason) = match &report.outcome {
        Outcome::Holds(()) => {
            let points = match report.points {
                Points::Suffice => " at the claimed points",
                Points::NotUsed | Points::Fail => "",
            };
            let linearizable = condition(report);
            (
                Verdict::HoldsWithinBounds,
                format!("every run is {linearizable}{points}, with {within}"),
            )
        }
        Outcome::Violated(found) => {
            let wrong = match &found.failure {
                // Crashes have nothing to do with it.
                Failure::Unexplained { .. }
                    if report.crash.is_some() && found.run.crashes.is_empty() =>
                {
                    "a run without any crash is not linearizable".to_owned()
                }
                Failure::Unexplained { .. } => {
                    let weaker = report.crash.as_ref().and_then(|crash| crash.strongest);
                    let weaker = weaker.map(|of| format!(", but {}", of.adverb()));
                    let not = condition(report);
                    format!("a run is not {not}{}", weaker.unwrap_or_default())
                }
                Failure::Fault => "a step fails".to_owned(),
                Failure::Stuck(_) => "a run gets stuck".to_owned(),
            };
            (Verdict::Violated, format!("{wrong}, with {within}"))
        }
        Outcome::Inconclusive(reason) => {
            (Verdict::Inconclusive, format!("{reason}; with {within}"))
        }
    };
    let reason = format!("{reason}{}", unchecked(report));
    let mut answer = Answer::new("refine", verdict, reason);
    answer.bounds = said;
    if let Outcome::Inconclusive(why) = &report.outcome {
        answer.stopped = why.stopped_by();
    }
    answer.unreached = report.unreached.iter().map(ToString::to_string).collect();
    // A run with a step that fails would have been found.
    if verdict == Verdict::HoldsWithinBounds {
        answer.faults = Faults::NeverFails;
    }
    if matches!(report.stuck, StuckCheck::Passed { without_crashed_threads: false, .. }) {
        answer.stuck = Stuck::Never;
    }
    answer.stats = stats(report);
    answer.notes = notes(program, options, report);
    answer.crashes = report.crash.as_ref().map(|crash| Box::new(crashes(crash)));
    if let Outcome::Violated(found) = &report.outcome {
        answer.counterexample = Some(Box::new(counterexample(found)));
    }
    answer
}

/// The largest integer that is passed in a run; 1 if there is none.
fn largest_passed(run: &Run) -> i64 {
    fn largest(value: &Value) -> i64 {
        match value {
            Value::Int(value) => *value,
            Value::List(items) => items.iter().map(largest).max().unwrap_or(1),
            _ => 1,
        }
    }
    let calls = run.events.iter().filter(|event| event.kind == EventKind::Invoke);
    calls.map(|call| largest(&call.value)).fold(1, i64::max)
}

fn stats(report: &Report) -> Vec<(&'static str, Stat)> {
    let stats = &report.stats;
    let points = match report.points {
        Points::NotUsed => "not-used",
        Points::Suffice => "suffice",
        Points::Fail => "fail",
    };
    vec![
        ("states", Stat::from(stats.states)),
        ("implementation_states", Stat::from(stats.implementation_states)),
        ("transitions", Stat::Count(stats.transitions)),
        ("depth", Stat::from(stats.depth)),
        ("seconds", Stat::Seconds(stats.seconds)),
        ("peak_bytes", Stat::from(peak_memory().unwrap_or(stats.bytes))),
        ("kept_bytes", Stat::from(stats.bytes)),
        ("points", Stat::Word(points)),
        ("thread_symmetry", Stat::Flag(report.symmetry.threads)),
        ("value_symmetry", Stat::Flag(report.symmetry.values)),
    ]
}

fn notes(program: &Program, options: &VerifyOptions, report: &Report) -> Vec<String> {
    let (bounds, holds) = (&options.bounds, report.outcome.is_holds());
    let mut notes = vec![cost(&report.stats)];
    let sent = options.cluster.as_ref().map(|cluster| cluster.traffic());
    // None is known where the processes did not end together.
    let sent = sent.filter(|sent| sent.processes > 0);
    notes.extend(sent.map(|sent| traffic(sent, report.stats.states)));
    if report.points == Points::Fail {
        notes.push(
            "the claimed linearization points do not explain every run; checked without them"
                .to_owned(),
        );
    }
    if bounds.objects.is_some() && !report.bounded && holds {
        notes.push("the bound on heap objects was never reached: a larger one adds nothing".into());
    }
    match (bounds.calls, report.stats.is_closed, report.any_calls) {
        (Calls::Each(count), true, true) if holds => notes.push(format!(
            "{} each cover any number of them: more lead to no new state",
            counted(count, "operation"),
        )),
        (Calls::Each(_), true, false) if holds => notes.push(format!(
            "every run is {} with any number of operations: the bound on them was never reached",
            condition(report),
        )),
        _ => {}
    }
    notes.extend(values_note(program, options, report));
    if let Some(crash) = &report.crash {
        notes.extend(crash_notes(options, crash, holds, has_points(program)));
    }
    notes.extend(stuck_note(&report.stuck));
    if let (Some(disk), Outcome::Inconclusive(Inconclusive::Stopped { .. })) =
        (&options.disk, &report.outcome)
    {
        let folder = disk.folder.display();
        notes.push(format!("finished levels are in `{folder}`: --resume goes on from there"));
    }
    if options.lossy.is_some() {
        notes.push("lossy search: states may have been left out".to_owned());
    }
    if !report.open_lines.is_empty() && report.outcome.violation().is_none() {
        let lines: Vec<String> = report.open_lines.iter().map(ToString::to_string).collect();
        notes.push(format!(
            "executed or not, that was not found out: {} (`--without doomed-attempts --without \
             validated-reads` tells)",
            lines.join(", ")
        ));
    }
    notes
}

/// Who has searched, and what that took.
fn traffic(of: Traffic, states: usize) -> String {
    let Traffic { processes, workers, bytes } = of;
    let a_state = bytes / u64::try_from(states.max(1)).unwrap_or(u64::MAX);
    format!(
        "{} of {} each; they sent each other {} bytes, {a_state} a state",
        counted(processes, "process"),
        counted(workers, "worker"),
        grouped(bytes),
    )
}

/// What runs are, or should be: linearizable, in the way that is asked of runs with crashes.
fn condition(report: &Report) -> &'static str {
    report.crash.as_ref().map_or("linearizable", |crash| crash.property.adverb())
}

/// What is known about crashes, for other parts.
fn crashes(report: &CrashReport) -> Crashes {
    let change = |change: &Change| CrashChange {
        action: change.action.clone(),
        operation: change.operation.clone(),
        line: change.line,
    };
    let each = |all: &[Change]| all.iter().map(change).collect();
    Crashes {
        property: report.property,
        strongest: report.strongest,
        fails: report.fails.clone(),
        detectable: report.detectable,
        lost_a_store: report.lost_a_store,
        repairs: report.repairs.as_ref().filter(|of| of.is_all).map(|of| each(&of.works)),
        superfluous: report.superfluous.as_deref().map(each),
    }
}

/// Which values stand for which, for people.
fn values_note(program: &Program, options: &VerifyOptions, report: &Report) -> Option<String> {
    if let Some(why) = &report.not_any {
        return Some(format!("not for any values: {why}"));
    }
    let any = report.outcome.is_holds() && report.values == Values::Any;
    if !any || !Domain::depends_on_values(program) {
        return None;
    }
    Some(match (options.bounds.values, &report.symmetry.data) {
        (Values::UpTo(_), _) => {
            "the values that were passed stand for all: no call wanted for a further one".to_owned()
        }
        (Values::Any, DataUse::Moved) => {
            "values are only moved: runs in which each call passes a new one stand for all"
                .to_owned()
        }
        (Values::Any, _) => "values are only moved and compared: those that are there and a new \
                             one stand for all"
            .to_owned(),
    })
}

/// What is known about crashes, for people.
fn crash_notes(
    options: &VerifyOptions,
    crash: &CrashReport,
    holds: bool,
    points: bool,
) -> Vec<String> {
    let mut notes = Vec::new();
    let listed = |changes: &[Change]| {
        let shown = changes.iter().map(|Change { action, operation, line }| {
            format!("`{action}` in {operation}, line {line}")
        });
        shown.collect::<Vec<_>>().join("; ")
    };
    let fails: Vec<&str> = crash.fails.iter().map(|of| of.id()).collect();
    if holds && !fails.is_empty() {
        notes.push(format!("stronger, and not so: {}", fails.join(", ")));
    }
    match crash.detectable {
        Some(true) if crash.property != CrashProperty::Detectable => {
            notes.push("detectable: `recover(t)` tells what became of every call".to_owned());
        }
        Some(false) => notes.push(
            "not detectable: `recover(t)` answers wrongly after some crash; --property detectable \
             shows it"
                .to_owned(),
        ),
        _ => {}
    }
    if options.bounds.crashes > 0 && !crash.lost_a_store && holds {
        notes.push("no crash ever lost a store: nothing was at stake".to_owned());
    }
    match &crash.repairs {
        Some(Repairs { works, tried: tried @ 1.., is_all, .. }) if works.is_empty() => {
            let time = if *is_all { "" } else { "; there was no time for more" };
            notes.push(format!(
                "no single flush, fence or persist right after a store that was lost, fence after \
                 a flush or persist after a read repairs it ({tried} tried{time})"
            ));
        }
        Some(Repairs { works, after, .. }) if !works.is_empty() => {
            let after = match after {
                After::Store => "store",
                After::Flush => "flush",
                After::Read => "read",
            };
            notes.push(format!(
                "right after the {after}, this repairs it (tried): {}",
                listed(works)
            ));
        }
        _ => {}
    }
    match &crash.superfluous {
        Some(none) if none.is_empty() => {
            notes.push("no flush, fence or persist is superfluous (each was left out)".to_owned());
        }
        Some(all) => notes.push(format!(
            "superfluous within these bounds, each by itself (tried): {}",
            listed(all)
        )),
        None if options.superfluous && holds => notes
            .push("which flushes and fences are superfluous was not found out in time".to_owned()),
        None if options.superfluous => notes.push(
            "which flushes and fences are superfluous is only known where the condition holds"
                .to_owned(),
        ),
        None => {}
    }
    if options.points && points {
        notes.push("linearization points are not used where there are crashes".to_owned());
    }
    notes
}

/// What the search has cost, for people.
fn cost(stats: &Stats) -> String {
    // A lossy search does not tell states of the model apart.
    let of_model = match stats.implementation_states {
        0 => String::new(),
        count => format!(" ({} of the model)", grouped(count)),
    };
    let megabytes = |bytes: usize| bytes as f64 / 1e6;
    let memory = match peak_memory() {
        Some(peak) => {
            format!("{:.1} MB ({:.1} for states)", megabytes(peak), megabytes(stats.bytes))
        }
        None => format!("{:.1} MB for states", megabytes(stats.bytes)),
    };
    format!(
        "{}{of_model}, {}, depth {}, {:.2} s, {memory}",
        counted(stats.states, "state"),
        counted(stats.transitions, "transition"),
        stats.depth,
        stats.seconds,
    )
}

fn counterexample(found: &crate::Counterexample) -> Counterexample {
    let mut shown = match &found.failure {
        Failure::Unexplained { possible } => {
            let mut shown = Counterexample::new(Wrong::NotLinearizable, "");
            shown.possible = possible.clone();
            shown
        }
        Failure::Fault => Counterexample::new(Wrong::Fault, ""),
        Failure::Stuck(operations) => {
            let each: Vec<String> = operations.iter().map(stuck).collect();
            Counterexample::new(Wrong::Stuck, format!("{}.", each.join("; ")))
        }
    };
    shown.schedule = found.schedule.clone();
    shown.run = Some(found.run.clone());
    shown.switches = Some(found.switches);
    shown.preload = found.preload;
    shown
}

/// Which operation can never return, and what keeps it.
fn stuck(StuckOperation { thread, name, kept_by, .. }: &StuckOperation) -> String {
    let why = match kept_by {
        KeptBy::Wait { line, reason, held_by } => {
            let returned = match held_by {
                Some(Holder { is_pending: false, .. }) => ", which has returned",
                Some(_) | None => "",
            };
            format!("it waits at line {line} for {reason}{returned}")
        }
        KeptBy::Loop { lines } => {
            let shown: Vec<String> = lines.iter().map(u32::to_string).collect();
            let plural = if lines.len() == 1 { "line" } else { "lines" };
            format!("it repeats {plural} {} for ever", shown.join(", "))
        }
    };
    format!("`{name}` by thread {thread} can never return: {why}")
}

/// What the first line must not pass over in silence.
fn unchecked(report: &Report) -> &'static str {
    match report.stuck {
        StuckCheck::NotMade(_) => "; not decided whether operations can get stuck",
        StuckCheck::Off if report.outcome.is_holds() => {
            "; whether operations can get stuck was not checked"
        }
        StuckCheck::Passed { without_crashed_threads: true, .. } => {
            "; whether operations wait for ever for a thread that crashed was not checked"
        }
        StuckCheck::Off | StuckCheck::Passed { .. } | StuckCheck::Found => "",
    }
}

/// What became of the check that no operation gets stuck.
fn stuck_note(check: &StuckCheck) -> Option<String> {
    let reason = match check {
        StuckCheck::Off | StuckCheck::Found => return None,
        StuckCheck::Passed { without_crashed_threads: true, .. } => {
            let said = "from every state that is reached without a crash of one thread, every \
                        pending operation can still return";
            return Some(said.to_owned());
        }
        StuckCheck::Passed { .. } => {
            return Some("from every state, every pending operation can still return".to_owned());
        }
        StuckCheck::NotMade(reason) => match reason {
            NotMade::TooManyStates { bound } => {
                format!("there are more than {}", counted(bound, "state"))
            }
            NotMade::Stopped(reason) => reason.to_string(),
            NotMade::MoreValues => {
                "there are more different values at a time than were named".to_owned()
            }
            NotMade::Lossy => "a lossy search leaves states out".to_owned(),
            NotMade::TooManyThreads => "there are too many threads".to_owned(),
            NotMade::FurtherCalls => {
                "operations wait, and whether further calls would end that is open; allow more \
                 --ops or --values, or ask with --progress no-deadlock, which allows none"
                    .to_owned()
            }
            NotMade::ObjectBound => {
                "operations wait, and whether more heap objects would end that is open; allow more \
                 --size"
                    .to_owned()
            }
            NotMade::NotReplayed => "a run that gets stuck could not be replayed".to_owned(),
        },
    };
    Some(format!("not decided whether operations can get stuck: {reason}"))
}

/// Where linearization points could be, one line an operation.
fn suggestions(advice: &[Advice], together: Together) -> Vec<String> {
    let mut lines: Vec<String> = advice.iter().map(suggestion).collect();
    let is_fixed = |advice: &Advice| matches!(advice.place, Where::Fixed(_));
    let said = match together {
        Together::Yes if advice.iter().all(is_fixed) => {
            "these points explain every run within the bounds"
        }
        Together::No if advice.iter().any(is_fixed) => {
            "each works alone, but they do not work together"
        }
        Together::Unknown if advice.iter().any(is_fixed) => {
            "each works alone; whether they work together was not found out in time"
        }
        _ => return lines,
    };
    lines.push(said.to_owned());
    lines
}

fn suggestion(Advice { operation, place, lines }: &Advice) -> String {
    let place = match place {
        Where::Fixed(_) => {
            let at: Vec<String> =
                lines.iter().map(|(line, what)| format!("line {line}: {what}")).collect();
            format!("fixed, at {}", at.join("; or "))
        }
        Where::DependsOnTheFuture => {
            "in its own steps, but which one depends on what happens later".to_owned()
        }
        Where::InAnotherOperation => "sometimes in a step of another operation".to_owned(),
        Where::Nowhere => "there is none, some run is not linearizable".to_owned(),
        Where::Unknown(reason) => format!("unknown: {reason}"),
    };
    format!("point of {operation}: {place}")
}
