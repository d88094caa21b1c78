//! Concurrent runs, judged by the brute-force oracle.

use crate::models::header::{ShownBy, WithMemory};
use crate::models::{Model, models, object};
use linchpin_ir::interpreter::Memory;
use linchpin_ir::model_spec::ModelObject;
use linchpin_ir::run::{End, EventKind, Run, RunOptions, Runner, Scheduler};
use linchpin_oracle::{Operation, is_linearizable};
use linchpin_spec::Call;

/// Random runs of each correct model: half under each scheduler.
const RUNS: u64 = 3_000;

/// A spinning thread ends the run here; what has happened until then is judged all the same.
const STEP_LIMIT: u64 = 2_000;

pub(super) fn runner(model: &Model, scheduler: Scheduler, memory: Memory) -> (Runner, ModelObject) {
    runner_with_crashes(model, scheduler, memory, 0)
}

pub(super) fn runner_with_crashes(
    model: &Model,
    scheduler: Scheduler,
    memory: Memory,
    crashes: usize,
) -> (Runner, ModelObject) {
    let compiled = model.compile();
    let options = RunOptions {
        operations: compiled.bounds.ops.or_few(),
        values: compiled.bounds.values.or_few(),
        scheduler,
        memory,
        step_limit: STEP_LIMIT,
        trace: false,
        crashes,
        thread_crashes: 0,
    };
    let runner = Runner::new(&compiled.program, options);
    let runner = runner.unwrap_or_else(|error| panic!("{}: {error}", model.name));
    (runner, object(&model.name, &compiled))
}

/// The history of a run, as the oracle reads it.
fn history(run: &Run, object: &ModelObject) -> Vec<Operation> {
    let mut history: Vec<Operation> = Vec::new();
    for (at, event) in run.events.iter().enumerate() {
        match event.kind {
            EventKind::Invoke => history.push(Operation {
                process: event.process,
                call: Call {
                    operation: object.operations[event.operation],
                    argument: event.value.clone(),
                },
                response: None,
                invoked: at,
                returned: None,
            }),
            EventKind::Ok | EventKind::RecoveredOk => {
                let open = |operation: &&mut Operation| {
                    operation.process == event.process && operation.returned.is_none()
                };
                let operation = history.iter_mut().rev().find(open).expect("it was invoked");
                operation.response = Some(event.value.clone());
                operation.returned = Some(at);
            }
            EventKind::RecoveredFail => {
                let open = |operation: &Operation| {
                    operation.process == event.process && operation.returned.is_none()
                };
                let at = history.iter().rposition(open).expect("it was invoked");
                history.remove(at);
            }
        }
    }
    history
}

pub(super) fn explained(run: &Run, object: &ModelObject) -> bool {
    is_linearizable(&*object.spec, &history(run, object))
}

#[test]
fn correct_models_have_only_linearizable_histories() {
    for model in models().iter().filter(|model| model.header.expected.linearizable) {
        let mut finished = 0;
        let mut overlapping = 0;
        for (scheduler, memory) in promised(model) {
            let (runner, object) = runner(model, scheduler, memory);
            let runs = if memory == Memory::Collected { RUNS / 2 } else { RUNS / 6 };
            for seed in 0..runs {
                let run = runner.run(seed);
                let context = format!("{}: {scheduler:?}, seed {seed}", model.name);
                match &run.end {
                    End::Completed => finished += 1,
                    End::StepLimit => {}
                    End::Blocked { threads } => panic!("{context}: blocked: {threads:?}"),
                    End::Faulted(fault) => panic!("{context}: {fault}"),
                }
                assert!(explained(&run, &object), "{context}: {:?}", run.events);
                overlapping += u64::from(overlaps(&run));
            }
        }
        println!("{}: {finished} of {RUNS} runs finished, {overlapping} with overlap", model.name);
        assert!(overlapping * 2 > RUNS, "{}: the runs are hardly concurrent", model.name);
    }
}

/// The schedulers and memories under which a model is promised to be linearizable.
fn promised(model: &Model) -> Vec<(Scheduler, Memory)> {
    let expected = model.header.expected;
    let right = Some(WithMemory::Linearizable);
    let mut memories = vec![Memory::Collected];
    memories.extend((expected.with_reuse == right).then_some(Memory::Reuse));
    memories.extend((expected.with_type_stable == right).then_some(Memory::TypeStable));
    let schedulers = [Scheduler::Random, Scheduler::Pct { depth: 3 }];
    memories.into_iter().flat_map(|memory| schedulers.map(|of| (of, memory))).collect()
}

/// Whether some operation starts before another one has returned.
fn overlaps(run: &Run) -> bool {
    let mut open = 0;
    run.events.iter().any(|event| {
        match event.kind {
            EventKind::Invoke => open += 1,
            EventKind::Ok | EventKind::RecoveredOk | EventKind::RecoveredFail => open -= 1,
        }
        open > 1
    })
}

#[test]
fn broken_models_are_shown_to_be_broken_by_their_recorded_run() {
    for model in models() {
        let Some(ShownBy { scheduler, memory, seed, .. }) = model.header.shown_by else { continue };
        let (runner, object) = runner(&model, scheduler, memory);
        let run = runner.run(seed);
        let found = match &run.end {
            End::Faulted(_) => Some(WithMemory::Fault),
            _ if !explained(&run, &object) => Some(WithMemory::NotLinearizable),
            _ => None,
        };
        let wanted = match memory {
            Memory::Collected => WithMemory::NotLinearizable,
            Memory::Reuse => {
                model.header.expected.with_reuse.expect("`with reuse: …` in `Expected:`")
            }
            Memory::TypeStable => {
                model.header.expected.with_type_stable.expect("`with type-stable: …`")
            }
        };
        assert_eq!(found, Some(wanted), "{}: {:?} {:?}", model.name, run.end, run.events);
    }
}

/// Prints runs for the `Shown by:` lines of new models:
/// `LINCHPIN_SEARCH=1 cargo test -p linchpin-lang --test lang search -- --nocapture`.
#[test]
fn search_for_runs_to_record() {
    if std::env::var("LINCHPIN_SEARCH").is_err() {
        return;
    }
    for model in models() {
        let expected = model.header.expected;
        let bad = |with: &WithMemory| *with != WithMemory::Linearizable;
        let (with_reuse, with_type_stable) =
            (expected.with_reuse.filter(bad), expected.with_type_stable.filter(bad));
        let (memory, with) = match (expected.linearizable, with_reuse, with_type_stable) {
            (false, _, _) => (Memory::Collected, None),
            (true, Some(with), _) => (Memory::Reuse, Some(with)),
            (true, None, Some(with)) => (Memory::TypeStable, Some(with)),
            (true, None, None) => continue,
        };
        let mut shortest: Option<(usize, String)> = None;
        for (scheduler, flags) in
            [(Scheduler::Random, ""), (Scheduler::Pct { depth: 3 }, "--schedule pct ")]
        {
            let (runner, object) = runner(&model, scheduler, memory);
            let memory = match memory {
                Memory::Collected => "",
                Memory::Reuse => "--memory reuse ",
                Memory::TypeStable => "--memory type-stable ",
            };
            for seed in 0..200_000 {
                let run = runner.run(seed);
                let wrong = match (&run.end, with) {
                    (End::Faulted(_), Some(WithMemory::Fault)) => true,
                    (End::Faulted(_), _) => continue,
                    (_, Some(WithMemory::Fault)) => continue,
                    _ => !explained(&run, &object),
                };
                let length = run.schedule.len();
                if wrong && shortest.as_ref().is_none_or(|(best, _)| length < *best) {
                    shortest = Some((length, format!("{flags}{memory}--seed {seed}")));
                }
                if shortest.is_some() && seed > 20_000 {
                    break;
                }
            }
        }
        match shortest {
            Some((length, flags)) => println!("FOUND {} | {flags} | {length} moves", model.name),
            None => println!("NONE {}", model.name),
        }
    }
}
