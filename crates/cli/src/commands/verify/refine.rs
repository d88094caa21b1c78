//! The refinement engine: its options from the command line, its report for people and scripts.

use super::answer::{Answer, Found, Word};
use super::heap;
use crate::args::{MemoryArg, ReductionArg, VerifyArgs};
use crate::commands::run::schedule;
use crate::commands::run::view::RunView;
use crate::limits::Stop;
use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use linchpin_history::{Builder, CheckOptions, Judgement as Judged, Limits, Object, check};
use linchpin_ir::interpreter::Memory;
use linchpin_ir::model_spec::spec_of;
use linchpin_ir::program::{Program, SpecSource};
use linchpin_ir::run::{End, EventKind, Run};
use linchpin_lang::Compiled;
use linchpin_refine::search::{Stats, Wrong};
use linchpin_refine::{
    Advice, Counterexample, Points, Report, Verdict, VerifyOptions, Where, suggest_points, verify,
};
use linchpin_space::{Bounds, Calls};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::time::Duration;

/// Columns of the drawing.
const WIDTH: usize = 100;

/// How long to look for the points of one operation.
const PATIENCE: Duration = Duration::from_secs(20);

/// The options that the command line asks for.
pub fn options(args: &VerifyArgs, compiled: &Compiled, stop: &Stop) -> VerifyOptions {
    let size = args.size.map(usize::from);
    let calls = match (args.ops, size) {
        (Some(calls), _) => calls,
        (None, Some(_)) => Calls::Unlimited,
        (None, None) => Calls::Each(compiled.bounds.ops as u32),
    };
    let bounds = Bounds {
        calls,
        values: args.values.unwrap_or(compiled.bounds.values),
        objects: size,
        memory: match args.memory {
            MemoryArg::Collected => Memory::Collected,
            MemoryArg::Reuse => Memory::Reuse,
        },
    };
    let mut options = VerifyOptions::new(bounds);
    options.points = !args.no_points;
    options.lossy = args.lossy.map(|bytes| (bytes as usize).saturating_mul(8));
    if let Some(workers) = args.workers {
        options.search.workers = usize::from(workers);
    }
    // Time and memory are watched for the whole process; the engine is only told to stop.
    options.search.limits = Limits { stop: Some(stop.flag()), ..Limits::default() };
    let reductions = &mut options.reductions;
    for without in &args.without {
        let all = *without == ReductionArg::All;
        let off = |reduction: ReductionArg| all || *without == reduction;
        reductions.canonical_heap &= !off(ReductionArg::CanonicalHeap);
        reductions.dead_locals &= !off(ReductionArg::DeadLocals);
        reductions.thread_symmetry &= !off(ReductionArg::ThreadSymmetry);
        reductions.value_symmetry &= !off(ReductionArg::ValueSymmetry);
        reductions.partial_order &= !off(ReductionArg::PartialOrder);
        reductions.merged_events &= !off(ReductionArg::MergedEvents);
        options.just_in_time &= !off(ReductionArg::JustInTime);
        options.search.antichain &= !off(ReductionArg::Antichain);
    }
    options
}

pub fn answer(args: &VerifyArgs, file: &Path, compiled: &Compiled, stop: &Stop) -> Result<Answer> {
    let options = options(args, compiled, stop);
    let program = &compiled.program;
    let bar = progress(args);
    let told = |stats: &Stats| {
        bar.set_message(format!("{} states, depth {}", grouped(stats.states), stats.depth));
        bar.tick();
    };
    let report = verify(program, &options, &told)
        .with_context(|| format!("`{}` cannot be explored", file.display()));
    bar.finish_and_clear();
    let report = report?;
    let mut answer = describe(program, &options, &report);
    // Only a search that was stopped found nothing: other reasons to be inconclusive say more.
    if let (Verdict::Inconclusive(why), Some(reason)) = (&report.verdict, stop.reason())
        && why == linchpin_history::STOPPED
    {
        answer.reason = format!("{}; nothing wrong was found until then", reason.describe());
    }
    if args.suggest_points {
        answer.notes.extend(suggestions(program, &options)?);
    }
    Ok(answer)
}

/// Where linearization points could be, one line an operation.
fn suggestions(program: &Program, options: &VerifyOptions) -> Result<Vec<String>> {
    let limits = &options.search.limits;
    let (advice, together) = suggest_points(program, options.bounds, limits, PATIENCE)?;
    let mut lines = Vec::new();
    let mut fixed = true;
    for Advice { operation, place, lines: at } in &advice {
        fixed &= matches!(place, Where::Fixed(_));
        lines.push(match place {
            Where::Fixed(_) => {
                let at: Vec<String> =
                    at.iter().map(|(line, what)| format!("line {line}: {what}")).collect();
                format!("point of {operation}: fixed, at {}", at.join("; or "))
            }
            Where::DependsOnTheFuture => format!(
                "point of {operation}: in its own steps, but which one depends on what happens later"
            ),
            Where::InAnotherOperation => {
                format!("point of {operation}: sometimes in a step of another operation")
            }
            Where::Nowhere => {
                format!("point of {operation}: there is none, some run is not linearizable")
            }
            Where::Unknown(reason) => format!("point of {operation}: unknown: {reason}"),
        });
    }
    if fixed && together {
        lines.push("these points explain every run within the bounds".to_owned());
    } else if advice.iter().any(|advice| matches!(advice.place, Where::Fixed(_))) && !together {
        lines.push("each works alone, but they do not work together".to_owned());
    }
    Ok(lines)
}

/// A line on standard error while states are counted; it hides itself where there is no terminal.
fn progress(args: &VerifyArgs) -> ProgressBar {
    if args.common.quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {msg}, {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// What the bounds are, in words.
pub fn bounds_in_words(program: &Program, bounds: &Bounds) -> String {
    let threads = match program.threads.len() {
        1 => "1 thread".to_owned(),
        count => format!("{count} threads"),
    };
    let calls = match bounds.calls {
        Calls::Each(1) => "1 operation each".to_owned(),
        Calls::Each(count) => format!("{count} operations each"),
        Calls::Unlimited => "any number of operations".to_owned(),
    };
    let values = match bounds.values {
        1 => "one value".to_owned(),
        count => format!("values 1 to {count}"),
    };
    let objects = match bounds.objects {
        Some(count) => format!(", at most {count} heap objects"),
        None => String::new(),
    };
    format!("{threads}, {calls}, {values}{objects}")
}

fn describe(program: &Program, options: &VerifyOptions, report: &Report) -> Answer {
    let bounds = &options.bounds;
    let in_words = bounds_in_words(program, bounds);
    let (word, reason) = match &report.verdict {
        Verdict::Holds => (
            Word::HoldsWithinBounds,
            match report.points {
                Points::Suffice => {
                    format!("every run is linearizable at the claimed points, with {in_words}")
                }
                _ => format!("every run is linearizable, with {in_words}"),
            },
        ),
        Verdict::Violated(found) => (
            Word::Violated,
            match found.wrong {
                Wrong::Unexplained => format!("a run is not linearizable, with {in_words}"),
                Wrong::Fault => format!("a run goes wrong, with {in_words}"),
            },
        ),
        Verdict::Inconclusive(reason) => (Word::Inconclusive, format!("{reason}; with {in_words}")),
    };
    let stats = &report.stats;
    // A lossy search does not tell states of the model apart.
    let of_model = match stats.implementation_states {
        0 => String::new(),
        count => format!(" ({} of the model)", grouped(count)),
    };
    let mut notes = vec![format!(
        "{} states{of_model}, {} transitions, depth {}, {:.2} s, {:.1} MB",
        grouped(stats.states),
        grouped(stats.transitions as usize),
        stats.depth,
        stats.seconds,
        stats.bytes as f64 / 1e6,
    )];
    if report.points == Points::Fail {
        notes.push(
            "the claimed linearization points do not explain every run; checked without them"
                .to_owned(),
        );
    }
    if bounds.objects.is_some() && !report.bounded && matches!(report.verdict, Verdict::Holds) {
        notes.push("the bound on heap objects was never reached: a larger one adds nothing".into());
    }
    if let (Calls::Each(_), false, Verdict::Holds) =
        (bounds.calls, report.exhausted, &report.verdict)
    {
        notes.push(
            "no thread ever made all its calls: the bound on operations was never reached".into(),
        );
    }
    if report.stuck && !report.bounded {
        notes.push(
            "some runs get stuck: operations are pending and nobody can move; --progress no-deadlock shows one"
                .to_owned(),
        );
    }
    if options.lossy.is_some() {
        notes.push("lossy search: states may have been left out".to_owned());
    }
    let memory = match bounds.memory {
        Memory::Collected => "memory is garbage collected (--memory reuse explores the other case)",
        Memory::Reuse => "freed memory may be reused",
    };
    let found = match &report.verdict {
        Verdict::Violated(found) => Some(show(program, bounds, found)),
        _ => None,
    };
    Answer {
        engine: "refine",
        word,
        reason,
        bounds: bounds_in_json(program, bounds),
        assumptions: vec!["sequential consistency".to_owned(), memory.to_owned()],
        unreached: report.unreached.iter().map(ToString::to_string).collect(),
        stats: json!({
            "states": stats.states, "implementation_states": stats.implementation_states,
            "transitions": stats.transitions, "depth": stats.depth, "seconds": stats.seconds,
            "peak_bytes": stats.bytes,
            "points": match report.points {
                Points::NotUsed => "not-used", Points::Suffice => "suffice", Points::Fail => "fail",
            },
            "thread_symmetry": report.symmetry.threads, "value_symmetry": report.symmetry.values,
        }),
        notes,
        found,
    }
}

/// The bounds for scripts.
pub fn bounds_in_json(program: &Program, bounds: &Bounds) -> Json {
    json!({
        "threads": program.threads.len(),
        "ops": match bounds.calls { Calls::Each(count) => json!(count), Calls::Unlimited => json!("unlimited") },
        "values": bounds.values,
        "size": bounds.objects,
        "memory": match bounds.memory { Memory::Collected => "collected", Memory::Reuse => "reuse" },
    })
}

/// A counterexample as people see it: who did what when, why nothing explains it, and the steps.
fn show(program: &Program, bounds: &Bounds, found: &Counterexample) -> Found {
    let view = RunView { program, run: &found.run };
    let explanation = explain(program, found);
    let mut text = String::new();
    if let Some(timeline) = view.timeline() {
        text += &format!("{}\n", timeline.draw(WIDTH));
    }
    text += &format!("{explanation}\n");
    if !found.possible.is_empty() {
        let shown: Vec<&str> = found.possible.iter().take(6).map(String::as_str).collect();
        let more = found.possible.len().saturating_sub(shown.len());
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let last = found.run.events.last();
        let before = if last.is_some() { "before the last response" } else { "at the start" };
        text += &format!("The object could be, {before}: {}{more}\n", shown.join("; "));
    }
    let switches = match found.switches {
        1 => "1 context switch".to_owned(),
        count => format!("{count} context switches"),
    };
    text += &format!("\nThe steps, with {switches}, and what they changed:\n\n");
    let changes = heap::changes(program, bounds.memory, &found.schedule);
    let mut rows = view.rows();
    for (at, row) in rows.iter_mut().enumerate() {
        let line = row.line.map_or(String::new(), |line| format!("line {line}"));
        let what = match row.text.is_empty() {
            true => format!("{} returns", row.operation),
            false => row.text.clone(),
        };
        let shown = format!("{:>5}  thread {}  {line:<9} {what}", row.time, row.process);
        text += &format!("{}\n", shown.trim_end());
        if let Some(changed) = changes.get(at).filter(|changed| !changed.is_empty()) {
            let changed = changed.join(", ");
            text += &format!("{:>27}{changed}\n", "→ ");
            row.text += &format!("  → {changed}");
        }
    }
    let events: Vec<Json> = found.run.events.iter().map(|event| view.event(event)).collect();
    let core: Vec<usize> = core(program, &found.run).unwrap_or_default();
    let json = json!({
        "history": events,
        "schedule": schedule::to_json(program, &found.schedule),
        "core": core,
        "explanation": explanation,
        "switches": found.switches,
        "possible": found.possible,
    });
    let is_fault = found.wrong == Wrong::Fault;
    Found { json, explanation, text, bars: view.bars(), rows, is_fault }
}

/// Why no order explains the run, in a sentence.
fn explain(program: &Program, found: &Counterexample) -> String {
    if let End::Faulted(fault) = &found.run.end {
        return format!("{fault}.");
    }
    match judge(program, &found.run) {
        Some(Judged::Violated(violation)) => violation.explanation,
        _ => "No order of these operations explains the last response.".to_owned(),
    }
}

fn core(program: &Program, run: &Run) -> Option<Vec<usize>> {
    match judge(program, run)? {
        Judged::Violated(violation) => {
            Some(violation.core.iter().map(|operation| operation.index()).collect())
        }
        _ => None,
    }
}

/// The history engine's opinion of a run.
fn judge(program: &Program, run: &Run) -> Option<Judged> {
    let object = match &program.spec {
        SpecSource::Builtin { name, init } => Object::builtin(name, init.clone()).ok()?,
        SpecSource::Model(_) => Object::custom("spec", spec_of(program).ok()?.spec),
    };
    let signatures = object.spec.operations().to_vec();
    let mut builder = Builder::new(&signatures);
    for event in &run.events {
        let process = event.process.to_string();
        let name = &program.operations[event.operation].name;
        let name = signatures.iter().find(|signature| signature.is_called(name))?.name.clone();
        match event.kind {
            EventKind::Invoke => builder.invoke(&process, &name, event.value.clone()).ok()?,
            EventKind::Ok => builder.ok(&process, event.value.clone()).ok()?,
        };
    }
    let mut history = builder.finish();
    Some(check(&object, &mut history, &CheckOptions::default()).ok()?.judgement)
}

/// A number with its digits in groups.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
