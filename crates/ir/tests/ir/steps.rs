//! Moves: calls, steps, responses; what is one step and what is none.

use crate::models::*;
use crate::support::*;
use linchpin_ir::interpreter::{Machine, Memory, Move, Outcome, Status};
use linchpin_ir::program::*;
use linchpin_ir::run::{RunOptions, Runner};
use linchpin_spec::Value;

#[test]
fn a_stack_pops_what_was_pushed() {
    let mut player = Player::new(&treiber(1, false), Memory::Collected);
    player.run(0, PUSH, &[1]);
    player.run(0, PUSH, &[2]);
    let popped = [(); 3].map(|()| player.run(0, POP, &[]));
    assert_eq!(popped, [Value::Int(2), Value::Int(1), Value::Null]);
    assert!(player.state.is_quiescent());
}

#[test]
fn records_show_the_values_that_steps_met() {
    let mut player = Player::new(&treiber(2, false), Memory::Collected);
    player.call(0, PUSH, &[7]);
    assert_eq!(player.record, ["call push(7)", "x := @0, a new Node { val: 7, next: null }"]);
    assert_eq!(player.step(0), "t := top = null");
    assert_eq!(player.step(0), "x.next := null");
    player.run(1, PUSH, &[8]);
    assert_eq!(player.step(0), "cas(top: null → @0) failed, top is @1");
    player.step(0);
    player.step(0);
    assert_eq!(player.step(0), "cas(top: @1 → @0) ok; return");
    player.make(Move::Respond { thread: 0 }, &[]).unwrap();
    assert_eq!(player.record, ["push returned"]);
    player.run(0, POP, &[]);
    player.run(0, POP, &[]);
    player.call(0, POP, &[]);
    assert_eq!(player.step(0), "t := top = null; return none");
    player.make(Move::Respond { thread: 0 }, &[]).unwrap();
    assert_eq!(player.record, ["pop returned none"]);
}

#[test]
fn an_attempt_names_the_edges_it_took() {
    let mut player = Player::new(&treiber(1, false), Memory::Collected);
    player.call(0, POP, &[]);
    let successors = player.machine.successors(&player.state, &Move::Step { thread: 0 });
    assert_eq!(successors.len(), 1);
    assert_eq!(successors[0].path.as_slice(), [(NodeId(1), 0)]);
}

#[test]
fn an_atomic_block_is_one_step_whatever_it_does() {
    let mut player = Player::new(&atomic_counter(1), Memory::Collected);
    player.call(0, 0, &[5]);
    player.step(0);
    assert_eq!(player.state.shared, [Value::Int(5)]);
    assert_eq!(player.finish(0), Value::Int(4));
}

#[test]
fn a_lock_keeps_others_out() {
    let mut player = Player::new(&locked_counter(2, true), Memory::Collected);
    player.call(0, 0, &[]);
    player.call(1, 0, &[]);
    player.step(0);
    assert!(!player.can_step(1));
    let wait = player.machine.wait(&player.state, 1).unwrap();
    assert_eq!((wait.line, wait.reason.as_str()), (4, "lock(guard), held by thread 0"));
    assert_eq!(player.machine.wait(&player.state, 0), None);
    assert_eq!(player.finish(0), Value::Int(0));
    assert_eq!(player.finish(1), Value::Int(1));
}

#[test]
fn a_thread_waits_for_itself_if_it_locks_twice() {
    let lock = || Action::Lock(Place::Shared(0));
    let mut body = BodyBuilder::new(3);
    body.sequence(4, vec![vec![lock()], vec![lock()]], null());
    let shared = vec![variable("l", Type::Lock, Value::Null)];
    let twice = program(shared, vec![body.operation("go", 0, Type::Unit)], 1);
    let mut player = Player::new(&twice, Memory::Collected);
    player.call(0, 0, &[]);
    player.step(0);
    assert!(!player.can_step(0));
}

/// `x = 1; assume(y == 1)` as one step: if the assumption fails, the write has not happened either.
#[test]
fn a_step_that_cannot_end_has_not_begun() {
    let mut body = BodyBuilder::new(3);
    let y = body.local("y", Type::Int);
    let shared =
        vec![variable("x", Type::Int, Value::Int(0)), variable("y", Type::Int, Value::Int(0))];
    let start = body.node(4);
    let [middle, end] = [5, 6].map(|line| body.inside(line));
    body.to(NodeId(0), vec![], start);
    body.to(start, vec![write(Place::Shared(0), int(1))], middle);
    body.to(middle, vec![read(y, Place::Shared(1)), when(equal(local(y), int(1)))], end);
    body.edge(end, vec![], returns(null()));
    let mut set = BodyBuilder::new(8);
    set.sequence(9, vec![vec![write(Place::Shared(1), int(1))]], null());
    let operations = vec![body.operation("go", 0, Type::Unit), set.operation("set", 0, Type::Unit)];
    let mut player = Player::new(&program(shared, operations, 2), Memory::Collected);
    player.call(0, 0, &[]);
    assert!(!player.can_step(0));
    let wait = player.machine.wait(&player.state, 0).unwrap();
    assert_eq!((wait.line, wait.reason.as_str()), (5, "y == 1, where y is 0"));
    assert_eq!(player.state.shared, [Value::Int(0), Value::Int(0)]);
    player.run(1, 1, &[]);
    player.finish(0);
    assert_eq!(player.state.shared, [Value::Int(1), Value::Int(1)]);
}

/// `if i == 0 { i = 1; assume(false); } else { }`: the assignment must not open the way into the
/// other branch.
#[test]
fn a_branch_once_entered_is_final() {
    let mut body = BodyBuilder::new(3);
    let i = body.local("i", Type::Int);
    let start = body.node(4);
    body.to(NodeId(0), vec![], start);
    let entered = vec![when(equal(local(i), int(0))), assign(i, int(1)), when(truth(false))];
    body.edge(start, entered, returns(null()));
    body.edge(start, vec![when(not_equal(local(i), int(0)))], returns(null()));
    let go = program(vec![], vec![body.operation("go", 0, Type::Unit)], 1);
    let mut player = Player::new(&go, Memory::Collected);
    player.call(0, 0, &[]);
    assert!(!player.can_step(0));
}

#[test]
fn requires_and_roles_decide_who_may_call() {
    let mut stack = treiber(2, false);
    stack.thread_locals = vec![variable("turns", Type::Int, Value::Int(1))];
    stack.threads[1].operations = vec![POP];
    stack.operations[PUSH].requires =
        Some(binary(BinaryOp::Less, Expr::ThreadLocal(0), local(LocalId(0))));
    let machine = Machine::new(&stack, Memory::Collected);
    let state = machine.initial().unwrap();
    let may = |thread, operation, arguments: &[i64]| {
        let arguments: Vec<Value> = arguments.iter().map(|&i| Value::Int(i)).collect();
        machine.may_call(&state, thread, operation, &arguments).unwrap()
    };
    assert!(may(0, PUSH, &[2]));
    assert!(!may(0, PUSH, &[1]), "requires does not hold");
    assert!(!may(0, PUSH, &[]), "an argument is missing");
    assert!(!may(1, PUSH, &[2]), "the role does not allow it");
    assert!(!may(7, PUSH, &[2]), "there is no such thread");
    assert!(may(1, POP, &[]));
}

#[test]
fn moves_out_of_turn_cannot_be_made() {
    let mut player = Player::new(&treiber(1, false), Memory::Collected);
    let invoke = |operation, count| Move::Invoke {
        thread: 0,
        operation,
        arguments: vec![Value::Int(1); count],
    };
    let refused = [
        Move::Step { thread: 0 },
        Move::Respond { thread: 0 },
        Move::Step { thread: 3 },
        invoke(9, 0),
        invoke(PUSH, 0),
        invoke(PUSH, 20),
    ];
    for what in refused {
        assert_eq!(player.make(what.clone(), &[]), Ok(false), "{what:?}");
    }
    player.call(0, PUSH, &[1]);
    assert_eq!(player.make(invoke(PUSH, 1), &[]), Ok(false));
    assert!(matches!(player.state.threads[0].status, Status::Running { operation: PUSH, .. }));
}

/// The edges of a node are executed as a tree. Here each edge is tried alone, from the same state:
/// exactly the edge that the tree took can be taken, and it leads to the same state.
#[test]
fn edges_tried_one_by_one_agree_with_the_tree() {
    for model in [treiber(3, true), locked_counter(3, true), atomic_counter(3)] {
        let machine = Machine::new(&model, Memory::Reuse);
        let options = RunOptions { operations: 4, memory: Memory::Reuse, ..RunOptions::default() };
        let runner = Runner::new(&model, options).unwrap();
        for seed in 0..10 {
            let mut state = machine.initial().unwrap();
            for scheduled in runner.run(seed).schedule {
                let made = machine.attempt(&state, &scheduled.what, &scheduled.choices, None);
                if let (Move::Step { .. }, [(node, edge)]) = (&scheduled.what, &made.path[..]) {
                    let operation = state.pending(scheduled.what.thread().unwrap()).unwrap();
                    for alone in
                        0..model.operations[operation].body.nodes[node.0 as usize].edges.len()
                    {
                        let outcome = only_edge(&model, operation, *node, alone)
                            .attempt(&state, &scheduled.what, &scheduled.choices, None)
                            .outcome;
                        let expected =
                            if alone == *edge { &made.outcome } else { &Outcome::Disabled };
                        assert_eq!(outcome, *expected, "seed {seed}");
                    }
                }
                let Outcome::Next(next) = made.outcome else { break };
                state = next;
            }
        }
    }
}

fn only_edge(model: &Program, operation: usize, node: NodeId, edge: usize) -> Machine {
    let mut reduced = model.clone();
    let edges = &mut reduced.operations[operation].body.nodes[node.0 as usize].edges;
    *edges = vec![edges.swap_remove(edge)];
    Machine::new(&reduced, Memory::Reuse)
}
