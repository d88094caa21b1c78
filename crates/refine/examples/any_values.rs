//! What any values cost, and that they change no verdict: every model with the values of its own
//! and with any.
//!
//! `cargo run --release -p linchpin-refine --example any_values -- [SECONDS] [FOLDER…]`: each
//! search has so many seconds (10 if not given); without folders, all models of the project, at
//! their own bounds and with three threads that call one operation each. Prints a table: what the
//! model does with values, the states with its own, the states with any, the verdicts. Ends with
//! exit code 1 if any values contradict a model's own: if what is right with any is wrong with
//! some, or what is wrong with any and as many values as the run passes is right.

mod folders;

use linchpin_ir::interpreter::Memory;
use linchpin_ir::run::EventKind;
use linchpin_lang::{Config, Ops, Threads, compile};
use linchpin_refine::{Report, VerifyOptions, verify};
use linchpin_space::{Bounds, Calls, DataUse, Reductions, Space, Values};
use linchpin_spec::Value;
use linchpin_verdict::Outcome;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const FOLDERS: [&str; 4] =
    ["models", "models/broken", "models/persistent", "models/persistent/broken"];

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut time = Duration::from_secs(10);
    if let Some(seconds) = arguments.first().and_then(|first| first.parse().ok()) {
        arguments.remove(0);
        time = Duration::from_secs(seconds);
    }
    if arguments.is_empty() {
        arguments = FOLDERS.map(String::from).to_vec();
    }
    let files = folders::models(&arguments);
    println!("model | bounds | use | own states | any states | own | any");
    let mut contradictions = 0;
    for file in &files {
        for small in [false, true] {
            contradictions += usize::from(contradicts(file, small, time));
        }
    }
    println!("{} models, {contradictions} contradictions", files.len());
    if contradictions == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One model, at its own bounds or with three threads that call one operation each.
fn contradicts(file: &Path, small: bool, time: Duration) -> bool {
    let Ok(source) = std::fs::read_to_string(file) else { return false };
    let config = match small {
        true => Config { threads: Threads::Count(3), ..Config::default() },
        false => Config::default(),
    };
    // Some models fix their threads.
    let Ok(compiled) = compile(&source, &config) else { return false };
    let own = match compiled.bounds.ops {
        Ops::Each(count) => Calls::Each(u32::try_from(count).unwrap_or(u32::MAX)),
        Ops::Unlimited => Calls::Unlimited,
    };
    let bounds = Bounds {
        calls: if small { Calls::Each(1) } else { own },
        values: Values::Any,
        objects: None,
        memory: Memory::Collected,
        crashes: u8::from(compiled.program.persistence.is_some()),
        thread_crashes: 0,
    };
    if Space::new(&compiled.program, bounds, Reductions::ALL).is_err() {
        return false;
    }
    let judge = |values: Values| {
        let mut options = VerifyOptions::new(Bounds { values, ..bounds });
        options.search.limits.deadline = Some(Instant::now() + time);
        verify(&compiled.program, &options, &|_| {}).ok()
    };
    let few = compiled.bounds.values;
    let (Some(few), Some(any)) = (judge(few), judge(Values::Any)) else { return false };
    let data = match &any.symmetry.data {
        DataUse::Moved => "moved",
        DataUse::Compared => "compared",
        DataUse::Other(_) => "other",
    };
    let (name, at) = (file.display(), if small { "3x1" } else { "own" });
    let (of_few, of_any) = (few.stats.states, any.stats.states);
    println!("{name} | {at} | {data} | {of_few} | {of_any} | {} | {}", word(&few), word(&any));
    let contradiction = match (&few.outcome, &any.outcome) {
        (Outcome::Violated(_), Outcome::Holds(())) => true,
        // A run with more values than were tried is another answer, and a better one.
        (Outcome::Holds(()), Outcome::Violated(_)) => {
            judge(Values::UpTo(largest(&any))).is_some_and(|report| report.outcome.is_holds())
        }
        _ => false,
    };
    if contradiction {
        println!("{name} {at}: any values contradict some");
    }
    contradiction
}

/// The largest value that the run that was found passes.
fn largest(report: &Report) -> i64 {
    let Outcome::Violated(found) = &report.outcome else { return 1 };
    let calls = found.run.events.iter().filter(|event| event.kind == EventKind::Invoke);
    calls.map(|event| largest_in(&event.value)).max().unwrap_or(1).max(1)
}

fn largest_in(value: &Value) -> i64 {
    match value {
        Value::Int(value) => *value,
        Value::List(items) => items.iter().map(largest_in).max().unwrap_or(1),
        _ => 1,
    }
}

fn word(report: &Report) -> &'static str {
    match (&report.outcome, report.any_calls, report.values) {
        (Outcome::Holds(()), false, Values::UpTo(_)) => "holds",
        (Outcome::Holds(()), false, Values::Any) => "holds, any values",
        (Outcome::Holds(()), true, Values::UpTo(_)) => "holds, any calls",
        (Outcome::Holds(()), true, Values::Any) => "holds, any values, any calls",
        (Outcome::Violated(_), ..) => "violated",
        (Outcome::Inconclusive(_), ..) => "inconclusive",
    }
}
