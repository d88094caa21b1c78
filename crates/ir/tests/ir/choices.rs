//! Nondeterminism: every choice is enumerated, and can be made again.

use crate::support::*;
use linchpin_ir::interpreter::{Memory, Move};
use linchpin_ir::program::*;
use linchpin_spec::Value;

/// `let i = choose(0..3); let j = choose(i..3); assume(i + j != 2); return [i, j];` as one step.
fn two_choices() -> Program {
    let mut body = BodyBuilder::new(3);
    let [i, j] = ["i", "j"].map(|name| body.local(name, Type::Int));
    let start = body.node(4);
    body.to(NodeId(0), vec![], start);
    let sum = binary(BinaryOp::Add, local(i), local(j));
    let actions = vec![
        Action::Choose { into: i, from: int(0), to: int(3) },
        Action::Choose { into: j, from: local(i), to: int(3) },
        when(not_equal(sum, int(2))),
    ];
    body.edge(start, actions, returns(Expr::List(vec![local(i), local(j)])));
    let response = Type::Tuple(vec![Type::Int, Type::Int]);
    program(vec![], vec![body.operation("go", 0, response)], 1)
}

#[test]
fn every_possible_choice_is_a_successor() {
    let mut player = Player::new(&two_choices(), Memory::Collected);
    player.call(0, 0, &[]);
    let successors = player.machine.successors(&player.state, &Move::Step { thread: 0 });
    let pairs = successors.iter().map(|successor| {
        let state = successor.result.as_ref().unwrap();
        let (_, value) = player.machine.respond(state, 0).unwrap();
        (successor.choices.to_vec(), value.to_string())
    });
    // (1, 1) and (0, 2) are ruled out. The last choice has one way and is not asked for.
    let expected = [
        (vec![0, 0], "[0, 0]"),
        (vec![0, 1], "[0, 1]"),
        (vec![1, 1], "[1, 2]"),
        (vec![2], "[2, 2]"),
    ];
    assert_eq!(pairs.collect::<Vec<_>>(), expected.map(|(c, v)| (c, v.to_owned())));
    for successor in &successors {
        player.make(Move::Step { thread: 0 }, &successor.choices).unwrap();
        assert_eq!(&player.state, successor.result.as_ref().unwrap());
        player.finish(0);
        player.call(0, 0, &[]);
    }
}

#[test]
fn a_choice_that_does_not_exist_cannot_be_made() {
    let mut player = Player::new(&two_choices(), Memory::Collected);
    player.call(0, 0, &[]);
    assert_eq!(player.make(Move::Step { thread: 0 }, &[3]), Ok(false));
}

#[test]
fn an_empty_range_blocks() {
    let mut body = BodyBuilder::new(3);
    let i = body.local("i", Type::Int);
    let go = one_step(vec![], body, vec![Action::Choose { into: i, from: int(2), to: int(2) }]);
    let mut player = Player::new(&go, Memory::Collected);
    player.call(0, 0, &[]);
    assert!(!player.can_step(0));
    let wait = player.machine.wait(&player.state, 0).unwrap();
    assert_eq!(wait.reason, "i := choose(2..2)");
}

#[test]
fn an_invocation_has_choices_too() {
    let mut body = BodyBuilder::new(3);
    let i = body.local("i", Type::Int);
    let choose = Action::Choose { into: i, from: int(5), to: int(7) };
    body.edge(NodeId(0), vec![choose], returns(local(i)));
    let go = program(vec![], vec![body.operation("go", 0, Type::Int)], 1);
    let player = Player::new(&go, Memory::Collected);
    let invoke = Move::Invoke { thread: 0, operation: 0, arguments: vec![] };
    let successors = player.machine.successors(&player.state, &invoke);
    let answers = successors
        .iter()
        .map(|successor| player.machine.respond(successor.result.as_ref().unwrap(), 0).unwrap().1);
    assert_eq!(answers.collect::<Vec<_>>(), [Value::Int(5), Value::Int(6)]);
}
