//! The shared accesses one by one.

use crate::support::*;
use linchpin_ir::interpreter::Memory;
use linchpin_ir::program::*;
use linchpin_spec::Value;

fn shared() -> Vec<Variable> {
    let array = Type::Array(Box::new(Type::Int), 2);
    vec![
        variable("x", Type::Int, Value::Int(3)),
        variable("a", array, Value::list([Value::Int(0), Value::Int(9)])),
    ]
}

const X: Place = Place::Shared(0);

fn element(index: i64) -> Place {
    Place::SharedElement(1, int(index))
}

/// Performs the actions as one step each; what the record says, and the shared variables
/// afterwards.
fn perform(actions: impl FnOnce(LocalId) -> Vec<Action>) -> (Vec<String>, String) {
    let mut body = BodyBuilder::new(3);
    let r = body.local("r", Type::Int);
    let steps = actions(r).into_iter().map(|action| vec![action]).collect();
    body.sequence(4, steps, null());
    let go = program(shared(), vec![body.operation("go", 0, Type::Unit)], 1);
    let mut player = Player::new(&go, Memory::Collected);
    player.call(0, 0, &[]);
    let mut records = vec![];
    while player.can_step(0) {
        records.push(player.step(0).replace("; return", ""));
    }
    (records, Value::list(player.state.shared).to_string())
}

#[test]
fn swap_and_fetch_add_answer_the_old_value() {
    let (records, after) = perform(|r| {
        vec![
            Action::Swap { into: r, place: X, value: int(5) },
            Action::FetchAdd { into: r, place: X, value: int(-2) },
            Action::FetchAdd { into: r, place: element(1), value: int(1) },
        ]
    });
    assert_eq!(records, ["r := swap(x, 5) = 3", "r := faa(x, -2) = 5", "r := faa(a[1], 1) = 9"]);
    assert_eq!(after, "[3, [0, 10]]");
}

#[test]
fn a_multi_word_cas_is_all_or_nothing() {
    let cell = |place, expected, new| Cell { place, expected: int(expected), new: int(new) };
    let (records, after) = perform(|into| {
        let good = vec![cell(X, 3, 4), cell(element(0), 0, 1)];
        let bad = vec![cell(X, 4, 8), cell(element(1), 0, 8)];
        vec![Action::Cas { into, cells: good }, Action::Cas { into, cells: bad }]
    });
    assert_eq!(
        records,
        ["cas(x: 3 → 4, a[0]: 0 → 1) ok", "cas(x: 4 → 8, a[1]: 0 → 8) failed, a[1] is 9"]
    );
    assert_eq!(after, "[4, [1, 9]]");
}

#[test]
fn store_conditional_needs_a_link() {
    let ll = |into| Action::LoadLinked { into, place: X };
    let sc = |into, value| Action::StoreConditional { into, place: X, value: int(value) };
    let (records, after) = perform(|r| {
        // Without a link; with one; again, after the first has used it up; after a write of the
        // same value.
        vec![sc(r, 1), ll(r), sc(r, 2), sc(r, 3), ll(r), write(X, int(2)), sc(r, 4)]
    });
    let expected = [
        "sc(x, 1) failed",
        "r := ll(x) = 3",
        "sc(x, 2) ok",
        "sc(x, 3) failed",
        "r := ll(x) = 2",
        "x := 2",
        "sc(x, 4) failed",
    ];
    assert_eq!(records, expected);
    assert_eq!(after, "[2, [0, 9]]");
}

/// Two threads add one with ll/sc: the second to store fails, and its links end with the operation.
#[test]
fn links_are_lost_to_others_and_end_with_the_operation() {
    let mut body = BodyBuilder::new(3);
    let r = body.local("r", Type::Int);
    let ok = body.local("ok", Type::Bool);
    let one_more = binary(BinaryOp::Add, local(r), int(1));
    let steps = vec![
        vec![Action::LoadLinked { into: r, place: X }],
        vec![Action::LoadLinked { into: r, place: element(0) }],
        vec![Action::StoreConditional { into: ok, place: X, value: one_more }],
    ];
    body.sequence(4, steps, local(ok));
    let add = program(shared(), vec![body.operation("add", 0, Type::Bool)], 2);
    let mut player = Player::new(&add, Memory::Collected);
    player.call(0, 0, &[]);
    player.step(0);
    player.step(0);
    assert_eq!(player.state.threads[0].links.len(), 2);
    assert_eq!(player.run(1, 0, &[]), Value::Bool(true));
    assert_eq!(player.state.threads[0].links.len(), 1, "the link to a[0] is still there");
    assert_eq!(player.state.threads[1].links.len(), 0, "the operation has ended");
    assert_eq!(player.finish(0), Value::Bool(false));
}

#[test]
fn a_write_to_an_array_loses_the_links_to_its_elements() {
    let (records, _) = perform(|r| {
        vec![
            Action::LoadLinked { into: r, place: element(0) },
            write(Place::Shared(1), Expr::List(vec![int(1), int(2)])),
            Action::StoreConditional { into: r, place: element(0), value: int(5) },
        ]
    });
    assert_eq!(records[2], "sc(a[0], 5) failed");
}
