//! The models of persistent memory in `models/persistent/`: random runs with crashes.
//!
//! Durable linearizability of a run is linearizability of its history without the crashes, so the
//! oracle is the same. That a model has no wrong run at all is for the engines.

use super::concurrent::{explained, runner, runner_with_crashes};
use super::header::ShownBy;
use super::{Model, models_in};
use linchpin_ir::interpreter::Memory;
use linchpin_ir::run::{End, Scheduler};

/// Runs of each model, half of them under each scheduler.
const RUNS: u64 = 300;

pub(super) fn models() -> Vec<Model> {
    models_in(&["persistent", "persistent/broken"])
}

fn is_durable(model: &Model) -> bool {
    let words = model.header.with_crashes.as_ref();
    let words = words.unwrap_or_else(|| panic!("{}: no `With crashes:`", model.name));
    match words.as_str() {
        "durable" | "durable, detectable" => true,
        "not durable" | "not detectable" => false,
        other => panic!("{}: `With crashes: {other}`", model.name),
    }
}

#[test]
fn every_persistent_family_is_there() {
    let names: Vec<String> = models().into_iter().map(|model| model.name).collect();
    for family in ["pmwcas", "durable_queue", "link_and_persist_list", "detectable_cas"] {
        assert!(names.contains(&format!("persistent/{family}.lin")), "{family} is missing");
        let twin = format!("persistent/broken/{family}_");
        assert!(names.iter().any(|name| name.starts_with(&twin)), "{family} has no broken twin");
    }
}

#[test]
fn broken_persistent_models_live_in_their_folder() {
    for model in models() {
        let sound = is_durable(&model) && model.header.expected.linearizable;
        assert_eq!(sound, !model.name.starts_with("persistent/broken/"), "{}", model.name);
        assert_eq!(model.compile().bounds.crashes, 1, "{}", model.name);
    }
}

#[test]
fn durable_models_explain_every_run_with_crashes() {
    for model in models().iter().filter(|model| is_durable(model)) {
        let (mut crashed, mut lost) = (0, 0);
        for scheduler in [Scheduler::Random, Scheduler::Pct { depth: 3 }] {
            let (runner, object) = runner_with_crashes(model, scheduler, Memory::Collected, 2);
            for seed in 0..RUNS / 2 {
                let run = runner.run(seed);
                let context = format!("{}: {scheduler:?}, seed {seed}", model.name);
                assert!(matches!(run.end, End::Completed | End::StepLimit), "{context}");
                assert!(explained(&run, &object), "{context}: {:?}", run.events);
                crashed += u64::from(!run.crashes.is_empty());
                let has_lost = |made: &linchpin_ir::interpreter::ScheduledMove| {
                    made.what.is_crash() && made.choices.contains(&0)
                };
                lost += u64::from(run.schedule.iter().any(has_lost));
            }
        }
        // Runs without a crash, or whose crashes lose nothing, say nothing about persistence.
        assert!(crashed > 0 && lost > 0, "{}: {crashed} crashed, {lost} lost", model.name);
    }
}

#[test]
fn without_crashes_only_the_dirty_word_is_wrong() {
    for model in models().iter().filter(|model| model.header.expected.linearizable) {
        for scheduler in [Scheduler::Random, Scheduler::Pct { depth: 3 }] {
            let (runner, object) = runner(model, scheduler, Memory::Collected);
            for seed in 0..RUNS / 4 {
                let run = runner.run(seed);
                assert!(explained(&run, &object), "{}: {scheduler:?}, seed {seed}", model.name);
            }
        }
    }
}

#[test]
fn broken_persistent_models_are_shown_to_be_broken_by_their_recorded_run() {
    for model in models() {
        let Some(ShownBy { scheduler, memory, seed, crashes }) = model.header.shown_by else {
            continue;
        };
        assert_eq!(crashes > 0, model.header.expected.linearizable, "{}", model.name);
        let (runner, object) = runner_with_crashes(&model, scheduler, memory, crashes);
        let run = runner.run(seed);
        assert!(!explained(&run, &object), "{}: {:?}", model.name, run.events);
        assert_eq!(run.crashes.len(), crashes, "{}", model.name);
    }
}

/// The part of `models/README.md` about these models.
pub(super) fn listing() -> String {
    let row = |model: &Model| {
        let header = &model.header;
        let shown = header.run.as_ref().map_or(String::new(), |run| format!("`{run}`"));
        let crashes = header.with_crashes.clone().unwrap_or_default();
        format!(
            "| [{0}]({0}) | {1} | {2} | {crashes} | {shown} |\n",
            model.name, header.title, header.verdict
        )
    };
    let head = "| file | what it is | expected | with crashes | shown by `linchpin run` with |\n\
                | --- | --- | --- | --- | --- |\n";
    let rows: String = models().iter().map(row).collect();
    format!(
        "## Persistent memory\n\n\
         What is expected without crashes, and with them; broken twins among them.\n\n{head}{rows}"
    )
}
