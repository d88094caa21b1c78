//! Random runs and their replays.

use crate::models::*;
use crate::support::*;
use linchpin_ir::interpreter::{FaultKind, Memory, Move};
use linchpin_ir::program::*;
use linchpin_ir::run::{End, EventKind, ReplayError, Run, RunOptions, Runner, Scheduler, replay};
use linchpin_spec::Value;

const SCHEDULERS: [Scheduler; 3] =
    [Scheduler::Random, Scheduler::Pct { depth: 1 }, Scheduler::Pct { depth: 3 }];

fn runner(program: &Program, options: RunOptions) -> Runner {
    Runner::new(program, options).unwrap()
}

fn traced(scheduler: Scheduler) -> RunOptions {
    RunOptions { operations: 3, scheduler, trace: true, ..RunOptions::default() }
}

/// Invocations and responses alternate for each thread, times grow, and every invocation is
/// answered.
fn assert_complete(run: &Run, threads: usize, operations: usize) {
    assert_eq!(run.end, End::Completed);
    assert!(run.events.is_sorted_by(|a, b| a.time < b.time));
    for thread in 0..threads {
        let own: Vec<_> = run.events.iter().filter(|event| event.process == thread).collect();
        assert_eq!(own.len(), 2 * operations);
        for pair in own.chunks(2) {
            assert_eq!((pair[0].kind, pair[1].kind), (EventKind::Invoke, EventKind::Ok));
            assert_eq!(pair[0].operation, pair[1].operation);
        }
    }
}

#[test]
fn a_seed_decides_everything() {
    for scheduler in SCHEDULERS {
        let runner = runner(&treiber(3, false), traced(scheduler));
        let runs: Vec<Run> = (0..50).map(|seed| runner.run(seed)).collect();
        for (seed, run) in runs.iter().enumerate() {
            assert_eq!(*run, runner.run(seed as u64), "{scheduler:?}, seed {seed}");
            assert_complete(run, 3, 3);
        }
        assert!(runs.iter().any(|run| run.events != runs[0].events), "seeds make a difference");
    }
}

#[test]
fn a_replay_equals_the_run() {
    let reclaiming = treiber(3, true);
    for scheduler in SCHEDULERS {
        for memory in [Memory::Collected, Memory::Reuse] {
            let runner = runner(&reclaiming, RunOptions { memory, ..traced(scheduler) });
            for seed in 0..200 {
                let run = runner.run(seed);
                assert_eq!(run.trace.len(), run.schedule.len());
                assert_eq!(replay(&reclaiming, memory, &run.schedule).unwrap(), run);
            }
        }
    }
}

#[test]
fn random_runs_find_the_use_after_free() {
    let options = RunOptions { memory: Memory::Reuse, ..traced(Scheduler::Random) };
    let runner = runner(&treiber(2, true), options);
    let is_use_after_free = |run: &Run| match &run.end {
        End::Faulted(fault) => fault.kind == FaultKind::UseAfterFree,
        _ => false,
    };
    assert!((0..500).any(|seed| is_use_after_free(&runner.run(seed))));
}

#[test]
fn schedulers_interleave_the_operations_of_threads() {
    for scheduler in [Scheduler::Random, Scheduler::Pct { depth: 2 }] {
        let runner = runner(&treiber(2, false), traced(scheduler));
        let overlaps = |run: &Run| {
            run.events.windows(2).any(|w| w.iter().all(|event| event.kind == EventKind::Invoke))
        };
        assert!((0..100).any(|seed| overlaps(&runner.run(seed))), "{scheduler:?}");
    }
}

/// With priorities and no change points, threads run one after the other unless they block.
#[test]
fn pct_of_depth_one_is_sequential() {
    let runner = runner(&treiber(2, false), traced(Scheduler::Pct { depth: 1 }));
    for seed in 0..20 {
        let order: Vec<usize> = runner.run(seed).events.iter().map(|e| e.process).collect();
        assert!(order.is_sorted() || order.iter().rev().is_sorted(), "{order:?}");
    }
}

#[test]
fn a_deadlock_is_reported_with_what_everyone_waits_for() {
    let program = locked_counter(2, false);
    let run = runner(&program, traced(Scheduler::Random)).run(1);
    let End::Blocked { threads } = &run.end else { panic!("{:?}", run.end) };
    assert!(threads.iter().all(|wait| wait.line == 4 && wait.operation == 0));
    assert!(threads.iter().all(|wait| wait.reason.starts_with("lock(guard), held by thread")));
    assert_eq!(replay(&program, Memory::Collected, &run.schedule).unwrap(), run);
}

#[test]
fn a_run_without_end_is_stopped() {
    let mut body = BodyBuilder::new(3);
    let r = body.local("r", Type::Int);
    let spin = body.node(4);
    body.to(NodeId(0), vec![], spin);
    body.to(spin, vec![read(r, Place::Shared(0))], spin);
    let shared = vec![variable("x", Type::Int, Value::Int(0))];
    let spinning = program(shared, vec![body.operation("spin", 0, Type::Unit)], 1);
    let options = RunOptions { step_limit: 100, ..traced(Scheduler::Random) };
    let run = runner(&spinning, options).run(0);
    assert_eq!((run.end.clone(), run.schedule.len()), (End::StepLimit, 100));
    assert_eq!(replay(&spinning, Memory::Collected, &run.schedule).unwrap(), run);
}

#[test]
fn clients_keep_to_requires_ranges_and_roles() {
    let mut stack = treiber(2, false);
    stack.threads[1].operations = vec![POP];
    stack.operations[PUSH].parameters[0].range = Some((-50, 50));
    stack.operations[PUSH].requires = Some(equal(local(LocalId(0)), int(17)));
    let runner = runner(&stack, traced(Scheduler::Random));
    for seed in 0..50 {
        let run = runner.run(seed);
        assert_complete(&run, 2, 3);
        let calls = run.events.iter().filter(|event| event.kind == EventKind::Invoke);
        for call in calls.filter(|call| call.operation == PUSH) {
            assert_eq!((call.process, &call.value), (0, &Value::Int(17)));
        }
    }
}

#[test]
fn a_thread_that_may_call_nothing_is_finished() {
    let mut stack = treiber(2, false);
    stack.threads[1].operations = vec![PUSH];
    stack.operations[PUSH].requires = Some(truth(false));
    let run = runner(&stack, traced(Scheduler::Random)).run(3);
    assert_eq!(run.end, End::Completed);
    assert!(run.events.iter().all(|event| event.process == 0 && event.operation == POP));
}

#[test]
fn a_fault_in_requires_ends_the_run() {
    let mut stack = treiber(1, false);
    let zero = binary(BinaryOp::Divide, local(LocalId(0)), int(0));
    stack.operations[PUSH].requires = Some(equal(zero, int(1)));
    stack.threads[0].operations = vec![PUSH];
    let run = runner(&stack, traced(Scheduler::Random)).run(0);
    let End::Faulted(fault) = &run.end else { panic!("{:?}", run.end) };
    assert_eq!(
        fault.to_string(),
        "division by zero at line 6 in `push` by thread 0: requires v / 0 == 1"
    );
    assert_eq!(replay(&stack, Memory::Collected, &run.schedule).unwrap(), run);
}

#[test]
fn choices_that_block_are_not_taken() {
    let mut body = BodyBuilder::new(3);
    let i = body.local("i", Type::Int);
    let start = body.node(4);
    body.to(NodeId(0), vec![], start);
    let choose = Action::Choose { into: i, from: int(0), to: int(1000) };
    body.edge(start, vec![choose, when(equal(local(i), int(777)))], returns(local(i)));
    let lucky = program(vec![], vec![body.operation("go", 0, Type::Int)], 1);
    let run = runner(&lucky, traced(Scheduler::Random)).run(0);
    assert_complete(&run, 1, 3);
    assert!(run.events.iter().all(|e| e.kind == EventKind::Invoke || e.value == Value::Int(777)));
}

#[test]
fn a_fault_in_init_is_the_whole_run() {
    let mut init = BodyBuilder::new(2);
    init.edge(NodeId(0), vec![Action::Assert(truth(false))], returns(null()));
    let mut broken = treiber(1, false);
    broken.init = Some(init.build());
    let run = runner(&broken, traced(Scheduler::Random)).run(0);
    assert!(matches!(&run.end, End::Faulted(fault) if fault.thread.is_none()));
    assert_eq!(replay(&broken, Memory::Collected, &[]).unwrap(), run);
}

#[test]
fn a_replay_refuses_what_is_not_a_schedule() {
    let stack = treiber(2, false);
    let run = runner(&stack, traced(Scheduler::Random)).run(0);
    let broken = |change: fn(&mut Vec<linchpin_ir::interpreter::ScheduledMove>)| {
        let mut schedule = run.schedule.clone();
        change(&mut schedule);
        replay(&stack, Memory::Collected, &schedule).unwrap_err()
    };
    let thread = run.schedule[0].what.thread();
    assert!(thread < Some(2));
    assert_eq!(broken(|s| s[0].what = Move::Step { thread: 0 }), ReplayError::Disabled { at: 0 });
    assert_eq!(broken(|s| s[0].what = Move::Step { thread: 9 }), ReplayError::Disabled { at: 0 });
    assert_eq!(
        broken(|s| s[0].what = Move::Invoke { thread: 0, operation: 5, arguments: vec![] }),
        ReplayError::NotAllowed { at: 0 }
    );
    assert_eq!(
        broken(|s| s[0].choices.push(0)),
        ReplayError::Choices { at: 0, given: 1, needed: 0 }
    );
}

#[test]
fn references_cannot_be_arguments() {
    let mut stack = treiber(1, false);
    stack.operations[PUSH].parameters[0].ty = Type::Struct(0);
    let error = Runner::new(&stack, RunOptions::default()).unwrap_err();
    assert!(error.to_string().starts_with("clients cannot call `push`"));
}
