//! Runs of small models, step by step.

use super::goes_on::{GoesOn, goes_on};
use super::*;
use linchpin_engine::{Counterexample, Step, Wrong};
use linchpin_ir::interpreter::{Choices, Machine, Memory, Move, Outcome, ScheduledMove, State};
use linchpin_ir::program::Program;
use linchpin_lang::{Config, compile};
use linchpin_spec::Value;

const STACK: &str = "spec stack;
struct Node { val: int, next: Node }
shared top: Node = null;
op push(v: int) {
    let x = new Node { val: v };
    loop {
        let t = top;
        x.next = t;
        if cas(top, t, x) { return; }
    }
}
op pop() -> int? {
    let t = top;
    if t == null { return none; }
    top = t.next;
    return t.val;
}
bounds { threads: 2, ops: 2, values: 2 }
";

fn program(source: &str) -> Program {
    compile(source, &Config::default()).expect("a model").program
}

fn invoke(thread: usize, operation: usize, arguments: &[i64]) -> Move {
    let arguments = arguments.iter().map(|value| Value::Int(*value)).collect();
    Move::Invoke { thread, operation, arguments }
}

/// The moves with their first choices, as far as they can be made, and the state after them.
fn follow(program: &Program, moves: &[Move]) -> (Vec<ScheduledMove>, State) {
    let machine = Machine::new(program, Memory::Collected);
    let mut state = machine.initial().expect("it starts");
    let mut schedule = Vec::new();
    for what in moves {
        let attempt = machine.attempt(&state, what, &[], None);
        let Outcome::Next(next) = attempt.outcome else { panic!("{what:?} cannot be made") };
        state = next;
        schedule.push(ScheduledMove { what: what.clone(), choices: attempt.choices });
    }
    (schedule, state)
}

fn view(program: &Program, wrong: Wrong, moves: &[Move]) -> InterleavingView {
    let mut found = Counterexample::new(wrong, "a test");
    found.schedule = follow(program, moves).0;
    found.core = vec![1];
    Replay { program, memory: Memory::Collected, found: &found }.view().expect("it is replayed")
}

fn step(thread: usize) -> Move {
    Move::Step { thread }
}

fn respond(thread: usize) -> Move {
    Move::Respond { thread }
}

/// Thread 0 pushes 7, thread 1 has called `pop` meanwhile and reads `top`.
fn pushed() -> InterleavingView {
    let moves =
        [invoke(0, 0, &[7]), step(0), step(0), invoke(1, 1, &[]), step(0), respond(0), step(1)];
    view(&program(STACK), Wrong::NotLinearizable, &moves)
}

#[test]
fn every_step_has_a_state_before_and_after() {
    let view = pushed();
    assert_eq!((view.steps.len(), view.states.len()), (7, 8));
    let kinds: Vec<&str> = view.steps.iter().map(|step| step.kind.id()).collect();
    assert_eq!(kinds, ["invoke", "step", "step", "invoke", "step", "respond", "step"]);
    let switches: Vec<usize> = (0..view.steps.len()).filter(|at| view.is_switch(*at)).collect();
    assert_eq!(switches, [3, 4, 6]);
    assert_eq!(view.steps[4].lines, [9]);
    assert_eq!(view.steps[4].changed, ["top = @0"]);
    assert!(view.steps[6].wrong && view.steps.iter().filter(|step| step.wrong).count() == 1);
    let top = |at: usize| view.states[at].shared[0].1.clone();
    assert_eq!((top(4).text.as_str(), top(4).label.as_str()), ("null", "∅"));
    assert_eq!((top(5).text.as_str(), top(5).to), ("@0", vec![0]));
    assert_eq!(view.states[0].objects.len(), 0);
    let node = &view.states[1].objects[0];
    let fields: Vec<(&str, &str)> =
        node.fields.iter().map(|(name, value)| (name.as_str(), value.text.as_str())).collect();
    assert_eq!((node.of.as_str(), fields), ("Node", vec![("val", "7"), ("next", "null")]));
}

#[test]
fn locals_are_shown_once_they_are_assigned() {
    let view = pushed();
    let names = |at: usize, thread: usize| -> Vec<(&str, bool)> {
        let variables = &view.states[at].threads[thread].variables;
        variables.iter().map(|variable| (variable.name.as_str(), variable.live)).collect()
    };
    // `v` is in the node already, and nothing reads it again.
    assert_eq!(names(1, 0), [("v", false), ("x", true)]);
    assert_eq!(names(2, 0), [("v", false), ("x", true), ("t", true)]);
    assert_eq!(names(6, 0), []);
    assert_eq!(names(4, 1), []);
    assert_eq!(names(7, 1), [("t", true)]);
    let thread = &view.states[4].threads[1];
    assert_eq!((thread.operation.as_deref(), thread.line), (Some("pop"), Some(13)));
    let returning = &view.states[5].threads[0];
    assert_eq!((returning.line, returning.answer.as_deref()), (None, Some("")));
}

#[test]
fn calls_are_bars_over_the_steps() {
    let view = pushed();
    let push = CallView {
        thread: 0,
        process: 0,
        call: "push(7)".to_owned(),
        answer: Some(String::new()),
        from: 0,
        to: Some(5),
        core: false,
    };
    assert_eq!(view.calls[0], push);
    assert_eq!((view.calls[1].answer.as_ref(), view.calls[1].to), (None, None));
    assert!(view.calls[1].core);
}

const LOOP: &str = "spec register(0);
shared x: int = 0;
shared l: lock;
op write(v: int) {
    let old = x;
    while !cas(x, old, v) { }
}
op read() -> int { lock(l); return x; }
bounds { threads: 2, ops: 2, values: 2 }
";

#[test]
fn what_repeats_after_a_stuck_run_is_marked() {
    let program = program(LOOP);
    // Thread 0 reads x, thread 1 writes it: the `cas` of thread 0 fails for ever.
    let writes = [invoke(1, 0, &[2]), step(1), step(1), respond(1)];
    let moves = [&[invoke(0, 0, &[1]), step(0)][..], &writes].concat();
    let view = view(&program, Wrong::Stuck, &moves);
    let cycle = view.cycle.expect("it repeats");
    assert!(cycle.from >= moves.len() && cycle.from < view.steps.len(), "{cycle:?}");
    assert!(view.steps[cycle.from..].iter().all(|step| step.lines == [6]), "{:?}", view.steps);
    assert_eq!(view.states.len(), view.steps.len() + 1);
    assert_eq!(Some(&view.states[cycle.from]), view.states.last());
}

#[test]
fn who_waits_for_ever_is_shown_waiting() {
    let program = program(LOOP);
    let moves = [invoke(1, 1, &[]), step(1), step(1), respond(1), invoke(0, 1, &[])];
    let (_, end) = follow(&program, &moves);
    let machine = Machine::new(&program, Memory::Collected);
    assert_eq!(goes_on(&machine, &end), GoesOn::Waits);
    let view = view(&program, Wrong::Stuck, &moves);
    assert_eq!(view.cycle.as_ref().map(|cycle| cycle.from), Some(5));
    let wait = &view.steps[5];
    assert_eq!((wait.kind, wait.thread, &wait.lines[..]), (StepKind::Wait, Some(0), &[8][..]));
    assert_eq!(view.states.len(), 7);
}

#[test]
fn a_cycle_that_was_found_follows_the_schedule() {
    let program = program(LOOP);
    let moves = [
        &[invoke(0, 0, &[1]), step(0), invoke(1, 0, &[2]), step(1), step(1), respond(1)][..],
        &[step(0)],
    ]
    .concat();
    let (mut schedule, _) = follow(&program, &moves);
    let mut found = Counterexample::new(Wrong::Progress, "for ever");
    found.cycle = schedule.split_off(6);
    found.schedule = schedule;
    let replay = Replay { program: &program, memory: Memory::Collected, found: &found };
    let view = replay.view().expect("it is replayed");
    assert_eq!(view.cycle.map(|cycle| cycle.from), Some(6));
    assert!(view.steps.iter().all(|step| !step.wrong));
}

#[test]
fn a_schedule_of_another_program_has_no_view() {
    let mut found = Counterexample::new(Wrong::Fault, "none");
    found.schedule = vec![ScheduledMove { what: step(0), choices: Choices::new() }];
    let program = program(LOOP);
    let replay = Replay { program: &program, memory: Memory::Collected, found: &found };
    assert!(replay.view().is_none());
}

#[test]
fn a_crash_is_a_step_with_rows() {
    let source = "spec register(0);
persistent shared x: int = 0;
op write(v: int) { x = v; persist(x); }
op read() -> int { return x; }
bounds { threads: 1, ops: 2, values: 1 }
";
    let program = program(source);
    let machine = Machine::with_crashes(&program, Memory::Collected);
    let mut state = machine.initial().expect("it starts");
    let mut found = Counterexample::new(Wrong::NotLinearizable, "a test");
    for what in [invoke(0, 0, &[1]), step(0), Move::Crash, invoke(0, 1, &[])] {
        let attempt = machine.attempt(&state, &what, &[], None);
        let Outcome::Next(next) = attempt.outcome else { panic!("{what:?} cannot be made") };
        state = next;
        found.schedule.push(ScheduledMove { what, choices: attempt.choices });
    }
    let replay = Replay { program: &program, memory: Memory::Collected, found: &found };
    let view = replay.view().expect("it is replayed");
    let crash = &view.steps[2];
    assert_eq!((crash.kind, crash.thread), (StepKind::Crash, None));
    assert_eq!(crash.rows, ["line x: x := 1 lost"]);
    let x = |at: usize| view.states[at].shared[0].1.text.as_str();
    assert_eq!((x(2), x(3)), ("1", "0"));
    let calls: Vec<(usize, usize)> =
        view.calls.iter().map(|call| (call.thread, call.from)).collect();
    assert_eq!(calls, [(0, 0), (0, 3)]);
    assert_eq!(view.to_json()["steps"][2]["rows"][0], "line x: x := 1 lost");
}

#[test]
fn records_and_arrays_say_what_is_beside_their_arrows() {
    let source = "spec register(0);
record Link { to: Node, marked: bool, tag: int }
struct Node { next: Link }
shared slots: [Node; 2];
op write(v: int) {
    let x = new Node { };
    x.next = Link { to: x, marked: true, tag: 3 };
    slots[1] = x;
}
op read() -> int { return 0; }
bounds { threads: 1, ops: 1, values: 1 }
";
    let view = view(&program(source), Wrong::Fault, &[invoke(0, 0, &[1]), step(0), step(0)]);
    let next = |at: usize| view.states[at].objects[0].fields[0].1.clone();
    assert_eq!(next(1).label, "∅ !marked tag 0");
    assert_eq!((next(2).label.as_str(), next(2).to), ("marked tag 3", vec![0]));
    let slots = &view.states[3].shared[0].1;
    let labels: Vec<&str> = slots.items.iter().map(|item| item.label.as_str()).collect();
    assert_eq!((labels, &slots.items[1].to[..]), (vec!["∅", ""], &[0][..]));
}

#[test]
fn steps_alone_are_enough() {
    let plain = |line| Step { thread: None, operation: String::new(), line, text: "τ".to_owned() };
    let view = InterleavingView::of_steps(&[plain(Some(3)), plain(None)]);
    assert_eq!((view.threads.len(), view.states.len()), (0, 0));
    assert_eq!((&view.steps[0].lines[..], view.steps[1].wrong), (&[3][..], true));
}
