//! Persistent memory: lines, flushes, fences, crashes, recovery.

use crate::support::*;
use linchpin_ir::interpreter::{FaultKind, Line, Machine, Memory, Move, State, Status};
use linchpin_ir::persistence::{ObjectLines, Persistence, Resolve, SharedLines};
use linchpin_ir::program::*;
use linchpin_ir::run::{End, EventKind, RunOptions, Runner, replay};
use linchpin_ir::well_formed::defects;
use linchpin_spec::Value;

const X: Place = Place::Shared(0);
const Y: Place = Place::Shared(1);
const V: Place = Place::Shared(2);

/// `persistent x, y` and volatile `v`, with the lines given for x and y; one operation that takes
/// the given steps.
fn steps(lines: [usize; 2], steps: Vec<Action>, threads: usize) -> Program {
    let mut body = BodyBuilder::new(1);
    body.local("ok", Type::Bool);
    body.sequence(2, steps.into_iter().map(|action| vec![action]).collect(), null());
    let shared = ["x", "y", "v"].map(|name| variable(name, Type::Int, Value::Int(0)));
    let mut made = program(shared.into(), vec![body.operation("go", 0, Type::Unit)], threads);
    made.persistence = Some(Persistence {
        shared: vec![Some(SharedLines::One(lines[0])), Some(SharedLines::One(lines[1])), None],
        structs: vec![],
        lines: (0..=lines[1]).map(|line| format!("line{line}")).collect(),
        recover: None,
        resolve: None,
    });
    assert_eq!(defects(&made), []);
    made
}

fn player(program: &Program) -> Player {
    let machine = Machine::with_crashes(program, Memory::Collected);
    let state = machine.initial().unwrap();
    Player { machine, state, record: vec![] }
}

/// What crashes leave of `x` and `y` after so many steps of thread 0, without repetition.
fn images(program: &Program, count: usize) -> Vec<(i64, i64)> {
    let mut player = player(program);
    player.call(0, 0, &[]);
    (0..count).for_each(|_| {
        player.step(0);
    });
    let word = |state: &State, at: usize| state.shared[at].as_int().unwrap();
    let crashes = player.machine.successors(&player.state, &Move::Crash).into_iter();
    let mut all: Vec<(i64, i64)> = crashes
        .map(|crash| crash.result.unwrap())
        .inspect(|state| assert_eq!(word(state, 2), 0, "volatile"))
        .map(|state| (word(&state, 0), word(&state, 1)))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn a_crash_leaves_any_prefix_of_each_line() {
    let stores = vec![write(X, int(1)), write(Y, int(2)), write(V, int(3)), write(X, int(4))];
    let apart = steps([0, 1], stores.clone(), 1);
    assert_eq!(images(&apart, 4), [(0, 0), (0, 2), (1, 0), (1, 2), (4, 0), (4, 2)]);
    // On one line the store to y cannot survive that to x, nor the second one to x both.
    let together = steps([0, 0], stores, 1);
    assert_eq!(images(&together, 4), [(0, 0), (1, 0), (1, 2), (4, 2)]);
}

#[test]
fn a_flush_is_guaranteed_by_the_next_fence_and_no_later_store() {
    for fence in
        [Action::Fence, cas(LocalId(0), V, int(0), int(1)), cas(LocalId(0), V, int(7), int(1))]
    {
        let code =
            vec![write(X, int(1)), Action::Flush(X), write(X, int(2)), fence, write(Y, int(5))];
        let program = steps([0, 1], code, 1);
        assert_eq!(images(&program, 3), [(0, 0), (1, 0), (2, 0)]);
        assert_eq!(images(&program, 4), [(1, 0), (2, 0)]);
        assert_eq!(images(&program, 5), [(1, 0), (1, 5), (2, 0), (2, 5)]);
    }
}

#[test]
fn persist_is_a_flush_and_a_fence_of_what_was_flushed_before() {
    let code = vec![write(X, int(1)), Action::Flush(X), write(Y, int(2)), Action::Persist(Y)];
    let program = steps([0, 1], code, 1);
    assert_eq!(images(&program, 3), [(0, 0), (0, 2), (1, 0), (1, 2)]);
    assert_eq!(images(&program, 4), [(1, 2)]);
}

#[test]
fn the_fence_of_another_thread_does_not_guarantee_what_this_one_flushed() {
    let flushes = vec![write(X, int(1)), Action::Flush(X), Action::Fence];
    let mut player = player(&steps([0, 1], flushes, 2));
    (0..2).for_each(|thread| player.call(thread, 0, &[]));
    player.step(0);
    player.step(0);
    // Thread 1 writes the same line, flushes both stores and guarantees them; what thread 0 had
    // noted is shortened, so that its own fence guarantees nothing beyond.
    player.step(1);
    assert_eq!(player.state.pending[&Line::Shared(0)].len(), 2);
    player.step(1);
    assert_eq!(player.state.threads[0].noted[&Line::Shared(0)], 1);
    player.step(1);
    assert!(player.state.pending.is_empty());
    assert!(player.state.threads[0].noted.is_empty());
    player.step(0);
}

#[test]
fn a_fence_shortens_what_others_have_noted() {
    let code = vec![write(X, int(1)), Action::Flush(X), Action::Fence];
    let mut player = player(&steps([0, 1], code, 2));
    (0..2).for_each(|thread| player.call(thread, 0, &[]));
    player.step(0);
    player.step(0);
    player.step(1);
    player.step(1);
    player.step(0);
    assert_eq!(player.state.pending[&Line::Shared(0)].len(), 1);
    assert_eq!(player.state.threads[1].noted[&Line::Shared(0)], 1);
    player.step(1);
    assert!(player.state.pending.is_empty());
}

#[test]
fn without_crashes_nothing_is_kept() {
    let program = steps([0, 1], vec![write(X, int(1)), Action::Flush(X), Action::Fence], 1);
    let mut player = Player::new(&program, Memory::Collected);
    player.run(0, 0, &[]);
    assert!(player.state.pending.is_empty() && player.state.threads[0].noted.is_empty());
    assert!(!player.make(Move::Crash, &[]).unwrap());
}

#[test]
fn recovery_runs_alone_and_may_crash_itself() {
    let mut program = steps([0, 1], vec![write(X, int(1)), Action::Persist(X)], 2);
    let mut recover = BodyBuilder::new(9);
    let x = recover.local("x", Type::Int);
    recover.sequence(10, vec![vec![read(x, X)], vec![write(Y, local(x))]], null());
    program.persistence.as_mut().unwrap().recover = Some(recover.build());
    assert_eq!(defects(&program), []);
    let mut player = player(&program);
    player.call(0, 0, &[]);
    player.step(0);
    player.step(0);
    assert!(player.make(Move::Crash, &[]).unwrap());
    assert_eq!(player.state.threads[0].status, Status::Idle);
    let call = Move::Invoke { thread: 1, operation: 0, arguments: vec![] };
    assert!(!player.machine.may_call(&player.state, 1, 0, &[]).unwrap());
    assert!(!player.make(call, &[]).unwrap());
    assert!(player.make(Move::Recover, &[]).unwrap());
    assert!(player.make(Move::Recover, &[]).unwrap());
    assert!(player.make(Move::Crash, &[]).unwrap(), "a second crash");
    for _ in 0..3 {
        assert!(player.make(Move::Recover, &[]).unwrap());
    }
    assert!(!player.make(Move::Recover, &[]).unwrap(), "it is done");
    assert_eq!(player.state.shared[1], Value::Int(1));
    player.call(1, 0, &[]);
}

#[test]
fn a_recovery_that_waits_is_a_fault() {
    let mut program = steps([0, 1], vec![write(X, int(1))], 1);
    let mut recover = BodyBuilder::new(9);
    recover.sequence(10, vec![vec![when(truth(false))]], null());
    program.persistence.as_mut().unwrap().recover = Some(recover.build());
    let mut player = player(&program);
    assert!(player.make(Move::Crash, &[]).unwrap());
    assert!(player.make(Move::Recover, &[]).unwrap());
    let fault = player.make(Move::Recover, &[]).unwrap_err();
    assert_eq!((fault.kind, fault.name.as_str()), (FaultKind::BlockedRecovery, "recover"));
}

/// `persistent struct Node { value, next }`, `persistent head`; `push` makes a node and links it.
fn list(persist_node: bool) -> Program {
    let mut body = BodyBuilder::new(1);
    let node = body.local("n", Type::Struct(0));
    let value = Place::Field { object: local(node), of: 0, field: 0 };
    let mut code = vec![vec![Action::New {
        into: node,
        object: 0,
        fields: vec![int(7), null()],
        given: vec![true; 2],
    }]];
    if persist_node {
        code.push(vec![Action::Persist(value)]);
    }
    code.push(vec![write(Place::Shared(0), local(node))]);
    code.push(vec![Action::Persist(Place::Shared(0))]);
    body.sequence(2, code, null());
    let shared = vec![variable("head", Type::Struct(0), Value::Null)];
    let mut made = program(shared, vec![body.operation("push", 0, Type::Unit)], 1);
    made.structs = vec![Struct {
        name: "Node".to_owned(),
        fields: vec![
            variable("value", Type::Int, Value::Int(0)),
            variable("next", Type::Struct(0), Value::Null),
        ],
    }];
    made.persistence = Some(Persistence {
        shared: vec![Some(SharedLines::One(0))],
        structs: vec![Some(ObjectLines { fields: vec![0, 0], names: vec![None] })],
        lines: vec!["head".to_owned()],
        recover: None,
        resolve: None,
    });
    assert_eq!(defects(&made), []);
    made
}

#[test]
fn a_new_object_may_lose_its_fields() {
    for persist_node in [false, true] {
        let mut player = player(&list(persist_node));
        player.run(0, 0, &[]);
        let left: Vec<Value> = player
            .machine
            .successors(&player.state, &Move::Crash)
            .into_iter()
            .map(|crash| crash.result.unwrap())
            .map(|state| {
                assert_eq!(state.shared[0], Value::Ref(0));
                state.heap[0].fields[0].clone()
            })
            .collect();
        match persist_node {
            true => assert_eq!(left, [Value::Int(7)]),
            false => assert_eq!(left, [Value::Int(0), Value::Int(7), Value::Int(7)]),
        }
    }
}

#[test]
fn the_trace_says_what_survived() {
    let mut player = player(&list(false));
    player.call(0, 0, &[]);
    player.step(0);
    player.step(0);
    let mut record = linchpin_ir::interpreter::StepRecord::blank();
    player.machine.attempt(&player.state, &Move::Crash, &[0, 1], Some(&mut record));
    let lines: Vec<String> = record.lines.iter().map(|line| line.sentence()).collect();
    assert_eq!(
        lines,
        ["line head: head := @0 lost", "line @0: @0.value := 7 survived; @0.next := null lost",]
    );
}

#[test]
fn a_lock_is_free_after_a_crash_and_a_thread_that_crashes_keeps_it() {
    let mut program = steps([0, 1], vec![Action::Lock(X), write(Y, int(1))], 2);
    program.shared[0] = variable("x", Type::Lock, Value::Null);
    let mut player = player(&program);
    player.call(0, 0, &[]);
    player.step(0);
    assert!(player.state.pending.is_empty(), "a lock is never persistent");
    let held = player.state.clone();
    assert!(player.make(Move::Crash, &[]).unwrap());
    assert_eq!(player.state.shared[0], Value::Null);
    player.state = held;
    assert!(player.make(Move::CrashThread { thread: 0 }, &[]).unwrap());
    assert_eq!(player.state.shared[0], Value::Int(0));
    assert_eq!(player.state.threads[0].status, Status::Idle);
}

/// `go` stores and answers whether; `recover(t)` answers true if the store is there, else none.
fn detectable() -> Program {
    let mut body = BodyBuilder::new(1);
    body.sequence(2, vec![vec![write(X, int(1))], vec![Action::Persist(X)]], truth(true));
    let mut resolve = BodyBuilder::new(20);
    resolve.local("t", Type::Tid);
    let x = resolve.local("x", Type::Int);
    let answer =
        Expr::If(Box::new(equal(local(x), int(1))), Box::new(truth(true)), Box::new(null()));
    resolve.sequence(21, vec![vec![read(x, X)]], answer);
    let shared = ["x", "y", "v"].map(|name| variable(name, Type::Int, Value::Int(0)));
    let mut made = program(shared.into(), vec![body.operation("go", 0, Type::Bool)], 1);
    made.persistence = steps([0, 1], vec![], 1).persistence;
    made.persistence.as_mut().unwrap().resolve =
        Some(Resolve { body: resolve.build(), response: Type::Bool, line: 20 });
    assert_eq!(defects(&made), []);
    made
}

#[test]
fn an_interrupted_thread_asks_for_its_outcome_first() {
    for survived in [0, 1] {
        let mut player = player(&detectable());
        player.call(0, 0, &[]);
        player.step(0);
        assert!(player.make(Move::Crash, &[survived]).unwrap());
        assert_eq!(player.state.threads[0].status, Status::Interrupted { operation: 0 });
        assert!(!player.machine.may_call(&player.state, 0, 0, &[]).unwrap());
        player.step(0);
        // A crash while it asks leaves it interrupted.
        let mut again = self::player(&detectable());
        again.state = player.state.clone();
        assert!(again.make(Move::Crash, &[]).unwrap());
        assert_eq!(again.state.threads[0].status, Status::Interrupted { operation: 0 });
        let outcome = if survived == 1 { Value::Bool(true) } else { Value::Null };
        assert_eq!(player.finish(0), outcome);
        assert_eq!(player.state.threads[0].status, Status::Idle);
    }
}

#[test]
fn runs_with_crashes_replay_and_their_threads_go_on_as_new_processes() {
    let options = RunOptions { operations: 3, crashes: 2, trace: true, ..RunOptions::default() };
    let mut seen = (0, 0, 0);
    for program in [detectable(), list(false), steps([0, 1], vec![write(X, int(1))], 2)] {
        let runner = Runner::new(&program, options).unwrap();
        for seed in 0..200 {
            let run = runner.run(seed);
            assert_eq!(replay(&program, Memory::Collected, &run.schedule).unwrap(), run, "{seed}");
            let threads = program.threads.len();
            for (at, event) in run.events.iter().enumerate() {
                let open = run.events[..at].iter().rev().find(|e| e.process == event.process);
                let open = open.is_some_and(|earlier| earlier.kind == EventKind::Invoke);
                assert_eq!(open, event.kind != EventKind::Invoke, "{seed}: {event:?}");
                let crashes = run.crashes.iter().filter(|crash| crash.time < event.time).count();
                if event.kind == EventKind::Invoke {
                    assert_eq!(event.process / threads, crashes);
                }
                seen.0 += usize::from(event.kind == EventKind::RecoveredFail);
                seen.1 += usize::from(event.kind == EventKind::RecoveredOk);
                let is_late = event.process / threads < crashes;
                let recovered = [EventKind::RecoveredOk, EventKind::RecoveredFail];
                assert!(event.kind != EventKind::Ok || !is_late, "{seed}: {event:?}");
                assert!(!recovered.contains(&event.kind) || is_late, "{seed}: {event:?}");
            }
            seen.2 += run.crashes.len();
        }
    }
    assert!(seen.0 > 10 && seen.1 > 10 && seen.2 > 100, "{seen:?}");
}

#[test]
fn defects_of_persistence() {
    let mut program = list(true);
    let persistence = program.persistence.as_mut().unwrap();
    persistence.structs = vec![None];
    let found: Vec<String> = defects(&program).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "`push`, node 2: `persist(n.value)` of something volatile",
            "`persistence`, node 0: `head` refers to a volatile struct",
        ]
    );
}

#[test]
fn threads_crash_by_themselves_in_runs_and_memory_stays() {
    let options =
        RunOptions { operations: 3, thread_crashes: 2, trace: true, ..RunOptions::default() };
    let mut crashes = 0;
    for program in [detectable(), list(false)] {
        let runner = Runner::new(&program, options).unwrap();
        for seed in 0..200 {
            let run = runner.run(seed);
            assert_eq!(replay(&program, Memory::Collected, &run.schedule).unwrap(), run, "{seed}");
            assert!(run.crashes.iter().all(|crash| crash.process.is_some()), "{seed}");
            assert_eq!(run.end, End::Completed, "{seed}");
            crashes += run.crashes.len();
        }
    }
    assert!(crashes > 400, "{crashes}");
}
