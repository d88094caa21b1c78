//! `new` and `free` under the two memories.

use crate::models::*;
use crate::support::*;
use linchpin_ir::interpreter::{FaultKind, Memory, Move};
use linchpin_spec::Value;

#[test]
fn collected_objects_stay_and_never_come_back() {
    let mut player = Player::new(&treiber(1, true), Memory::Collected);
    for i in 0..3 {
        player.run(0, PUSH, &[i]);
        assert_eq!(player.run(0, POP, &[]), Value::Int(i));
    }
    assert_eq!(player.state.heap.len(), 3);
    assert!(player.state.heap.iter().all(|object| object.live));
}

#[test]
fn new_takes_a_fresh_object_or_any_dead_one() {
    let mut player = Player::new(&treiber(1, true), Memory::Reuse);
    for i in 0..2 {
        player.run(0, PUSH, &[i]);
    }
    for _ in 0..2 {
        player.run(0, POP, &[]);
    }
    assert!(player.state.heap.iter().all(|object| !object.live));
    let push = Move::Invoke { thread: 0, operation: PUSH, arguments: vec![Value::Int(5)] };
    let successors = player.machine.successors(&player.state, &push);
    let choices: Vec<_> = successors.iter().map(|next| next.choices.to_vec()).collect();
    assert_eq!(choices, [[0], [1], [2]]);
    let sizes: Vec<_> = successors.iter().map(|n| n.result.as_ref().unwrap().heap.len()).collect();
    assert_eq!(sizes, [3, 2, 2]);
    player.make(push, &[2]).unwrap();
    assert_eq!(player.record[1], "x := @1, a new Node { val: 5, next: null }");
}

/// Thread 0 is about to swing `top` from A to B; meanwhile A and B are popped and A is pushed
/// again. The cas succeeds although B is dead, and the next pop falls over it.
#[test]
fn reuse_shows_the_aba_problem() {
    let mut player = Player::new(&treiber(2, true), Memory::Reuse);
    player.run(1, PUSH, &[1]); // B = @0
    player.run(1, PUSH, &[2]); // A = @1
    player.call(0, POP, &[]);
    player.step(0);
    assert_eq!(player.step(0), "s := t.next = @0");
    player.run(1, POP, &[]);
    player.run(1, POP, &[]);
    let again = Move::Invoke { thread: 1, operation: PUSH, arguments: vec![Value::Int(3)] };
    player.make(again, &[2]).unwrap();
    player.finish(1);
    assert_eq!(player.step(0), "cas(top: @1 → @0) ok");
    player.call(1, POP, &[]);
    assert_eq!(player.step(1), "t := top = @0");
    let fault = player.make(Move::Step { thread: 1 }, &[]).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "use after free at line 19 in `pop` by thread 1: read t.next, where t is @0"
    );
}

/// Without frees, the same steps end with a failed cas.
#[test]
fn collection_hides_it() {
    let mut player = Player::new(&treiber(2, true), Memory::Collected);
    player.run(1, PUSH, &[1]);
    player.run(1, PUSH, &[2]);
    player.call(0, POP, &[]);
    player.step(0);
    player.step(0);
    player.run(1, POP, &[]);
    player.run(1, POP, &[]);
    player.run(1, PUSH, &[3]);
    assert_eq!(player.step(0), "cas(top: @1 → @0) failed, top is @2");
}

#[test]
fn a_second_free_is_a_fault_only_where_free_means_something() {
    let double = crate::faults::double_free();
    let mut player = Player::new(&double, Memory::Collected);
    player.call(0, 0, &[]);
    player.step(0);
    let mut player = Player::new(&double, Memory::Reuse);
    player.call(0, 0, &[]);
    let fault = player.make(Move::Step { thread: 0 }, &[]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::DoubleFree);
}
