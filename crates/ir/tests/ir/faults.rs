//! Every kind of fault, and what it says.

use crate::support::*;
use expect_test::{Expect, expect};
use linchpin_ir::interpreter::{FaultKind, Machine, Memory, Move, Outcome};
use linchpin_ir::program::*;
use linchpin_spec::Value;

fn shared() -> Vec<Variable> {
    let array = Type::Array(Box::new(Type::Int), 2);
    vec![
        variable("x", Type::Int, Value::Int(i64::MAX)),
        variable("slots", array, Value::list([Value::Int(0), Value::Int(0)])),
        variable("l", Type::Lock, Value::Null),
    ]
}

/// A program with one struct whose only operation performs the actions as one step.
fn faulty(actions: impl FnOnce(&mut BodyBuilder) -> Vec<Action>) -> Program {
    let mut body = BodyBuilder::new(3);
    let actions = actions(&mut body);
    let mut program = one_step(shared(), body, actions);
    let fields = vec![variable("val", Type::Int, Value::Int(0))];
    program.structs = vec![Struct { name: "Node".to_owned(), fields }];
    program
}

pub fn double_free() -> Program {
    faulty(|body| {
        let t = body.local("t", Type::Struct(0));
        let new = Action::New { into: t, object: 0, fields: vec![int(1)], given: vec![true; 1] };
        vec![new, Action::Free(local(t)), Action::Free(local(t))]
    })
}

fn check(actions: impl FnOnce(&mut BodyBuilder) -> Vec<Action>, expected: Expect) {
    let mut player = Player::new(&faulty(actions), Memory::Reuse);
    player.call(0, 0, &[]);
    let fault = player.make(Move::Step { thread: 0 }, &[]).unwrap_err();
    assert_eq!((fault.thread, fault.operation), (Some(0), Some(0)));
    expected.assert_eq(&fault.to_string());
}

/// A fault of an expression over one variable `i` that is 0.
fn check_expr(expr: impl FnOnce(Expr) -> Expr, expected: Expect) {
    check(
        |body| {
            let i = body.local("i", Type::Int);
            let r = body.local("r", Type::Int);
            vec![assign(r, expr(local(i)))]
        },
        expected,
    );
}

#[test]
fn null_dereference() {
    let val = |t| Place::Field { object: local(t), of: 0, field: 0 };
    check(
        |body| {
            let t = body.local("t", Type::Struct(0));
            let r = body.local("r", Type::Int);
            vec![read(r, val(t))]
        },
        expect!["null dereference at line 7 in `go` by thread 0: read t.val, where t is null"],
    );
    check(
        |body| {
            let t = body.local("t", Type::Struct(0));
            vec![Action::Free(local(t))]
        },
        expect!["null dereference at line 7 in `go` by thread 0: free(t), where t is null"],
    );
}

#[test]
fn index_out_of_range() {
    check(
        |body| {
            let i = body.local_with("i", Type::Int, Value::Int(2));
            vec![write(Place::SharedElement(1, local(i)), int(5))]
        },
        expect![
            "index 2 out of range (length 2) at line 7 in `go` by thread 0: slots[i] := 5, where i is 2"
        ],
    );
    check_expr(
        |i| Expr::Element(Box::new(Expr::List(vec![])), Box::new(i)),
        expect![
            "index 0 out of range (length 0) at line 7 in `go` by thread 0: r := [][i], where i is 0"
        ],
    );
    check(
        |body| {
            let list =
                body.local_with("a", Type::Array(Box::new(Type::Int), 1), Value::list([0.into()]));
            let local = LocalTarget::Element(list, int(-1));
            vec![Action::Assign { local, value: int(0) }]
        },
        expect!["index -1 out of range (length 1) at line 7 in `go` by thread 0: a[-1] := 0"],
    );
}

#[test]
fn arithmetic() {
    let divide = |operator| move |i| binary(operator, int(1), i);
    check_expr(
        divide(BinaryOp::Divide),
        expect!["division by zero at line 7 in `go` by thread 0: r := 1 / i, where i is 0"],
    );
    check_expr(
        divide(BinaryOp::Remainder),
        expect!["division by zero at line 7 in `go` by thread 0: r := 1 % i, where i is 0"],
    );
    check_expr(
        |_| binary(BinaryOp::Add, int(i64::MAX), int(1)),
        expect!["integer overflow at line 7 in `go` by thread 0: r := MAX + 1"],
    );
    check_expr(
        |_| binary(BinaryOp::Divide, int(i64::MIN), int(-1)),
        expect!["integer overflow at line 7 in `go` by thread 0: r := MIN / -1"],
    );
    check_expr(
        |_| Expr::Unary(UnaryOp::Negate, Box::new(int(i64::MIN))),
        expect!["integer overflow at line 7 in `go` by thread 0: r := -MIN"],
    );
    check(
        |body| {
            let r = body.local("r", Type::Int);
            vec![Action::FetchAdd { into: r, place: Place::Shared(0), value: int(1) }]
        },
        expect!["integer overflow at line 7 in `go` by thread 0: r := faa(x, 1)"],
    );
}

#[test]
fn unwrap_of_none() {
    check(
        |body| {
            let o = body.local("o", Type::Option(Box::new(Type::Int)));
            let r = body.local("r", Type::Int);
            vec![assign(r, Expr::Unwrap(Box::new(local(o))))]
        },
        expect!["unwrap of none at line 7 in `go` by thread 0: r := unwrap(o), where o is none"],
    );
}

#[test]
fn assertion_failed() {
    check(
        |body| {
            let [i, j] = ["i", "j"].map(|name| body.local(name, Type::Int));
            vec![assign(j, int(4)), Action::Assert(equal(local(i), local(j)))]
        },
        expect![
            "assertion failed at line 7 in `go` by thread 0: assert(i == j), where i is 0 and j is 4"
        ],
    );
}

#[test]
fn use_after_free() {
    check(
        |body| {
            let t = body.local("t", Type::Struct(0));
            let new =
                Action::New { into: t, object: 0, fields: vec![int(1)], given: vec![true; 1] };
            let place = Place::Field { object: local(t), of: 0, field: 0 };
            vec![new, Action::Free(local(t)), write(place, int(2))]
        },
        expect!["use after free at line 7 in `go` by thread 0: t.val := 2, where t is @0"],
    );
}

#[test]
fn unlock_of_a_lock_not_held() {
    check(
        |_| vec![Action::Unlock(Place::Shared(2))],
        expect!["unlock of a lock that is free at line 7 in `go` by thread 0: unlock(l)"],
    );
    check(
        |_| vec![write(Place::Shared(2), int(4)), Action::Unlock(Place::Shared(2))],
        expect!["unlock of a lock held by thread 4 at line 7 in `go` by thread 0: unlock(l)"],
    );
}

#[test]
fn the_same_word_twice() {
    check(
        |body| {
            let ok = body.local("ok", Type::Bool);
            let i = body.local_with("i", Type::Int, Value::Int(1));
            let cell = |index| {
                let place = Place::SharedElement(1, index);
                Cell { place, expected: int(0), new: int(1) }
            };
            vec![Action::Cas { into: ok, cells: vec![cell(int(1)), cell(local(i))] }]
        },
        expect![
            "the same word twice in one cas at line 7 in `go` by thread 0: ok := cas([slots[1], slots[i]], [0, 0], [1, 1]), where i is 1"
        ],
    );
}

#[test]
fn too_many_choices() {
    check(
        |body| {
            let i = body.local("i", Type::Int);
            vec![Action::Choose { into: i, from: int(0), to: int(65537) }]
        },
        expect![
            "too many choices (65537; at most 65536) at line 7 in `go` by thread 0: i := choose(0..65537)"
        ],
    );
    check(
        |body| {
            let i = body.local("i", Type::Int);
            vec![Action::Choose { into: i, from: int(i64::MIN), to: int(i64::MAX) }]
        },
        expect![
            "too many choices (18446744073709551615; at most 65536) at line 7 in `go` by thread 0: i := choose(MIN..MAX)"
        ],
    );
}

#[test]
fn a_local_loop_without_end() {
    let mut body = BodyBuilder::new(3);
    let [start, head] = [body.node(4), body.inside(5)];
    body.to(NodeId(0), vec![], start);
    body.to(start, vec![], head);
    body.to(head, vec![], head);
    let go = program(vec![], vec![body.operation("go", 0, Type::Unit)], 1);
    let mut player = Player::new(&go, Memory::Collected);
    player.call(0, 0, &[]);
    let fault = player.make(Move::Step { thread: 0 }, &[]).unwrap_err();
    expect!["this loop never gives other threads a turn at line 5 in `go` by thread 0"]
        .assert_eq(&fault.to_string());
}

#[test]
fn a_return_can_go_wrong() {
    let mut body = BodyBuilder::new(3);
    let i = body.local("i", Type::Int);
    body.edge(NodeId(0), vec![], returns(binary(BinaryOp::Divide, int(1), local(i))));
    let go = program(vec![], vec![body.operation("go", 0, Type::Int)], 1);
    let machine = Machine::new(&go, Memory::Collected);
    let invoke = Move::Invoke { thread: 0, operation: 0, arguments: vec![] };
    let attempt = machine.attempt(&machine.initial().unwrap(), &invoke, &[], None);
    let Outcome::Fault(fault) = attempt.outcome else { panic!("no fault") };
    expect!["division by zero at line 3 in `go` by thread 0: return 1 / i, where i is 0"]
        .assert_eq(&fault.to_string());
}

#[test]
fn init_has_its_own_faults() {
    let with_init = |actions: fn(LocalId) -> Vec<Action>| {
        let mut init = BodyBuilder::new(2);
        let i = init.local("i", Type::Int);
        init.edge(NodeId(0), actions(i), returns(null()));
        let mut program = program(shared(), vec![], 1);
        program.init = Some(init.build());
        Machine::new(&program, Memory::Collected).initial().map_err(|fault| fault.to_string())
    };
    let state = with_init(|_| vec![write(Place::Shared(0), int(8))]).unwrap();
    assert_eq!(state.shared[0], Value::Int(8));
    expect!["init is blocked at line 2 in init: i == 1, where i is 0"]
        .assert_eq(&with_init(|i| vec![when(equal(local(i), int(1)))]).unwrap_err());
    expect!["a choice in init at line 2 in init: i := choose(0..2)"].assert_eq(
        &with_init(|into| vec![Action::Choose { into, from: int(0), to: int(2) }]).unwrap_err(),
    );
    expect!["assertion failed at line 2 in init: assert(false)"]
        .assert_eq(&with_init(|_| vec![Action::Assert(truth(false))]).unwrap_err());
}

#[test]
fn an_ill_typed_program_is_a_fault_and_no_panic() {
    let broken: Vec<fn(LocalId) -> Action> = vec![
        |_| when(int(1)),
        |r| assign(r, Expr::Component(Box::new(int(1)), 4)),
        |r| assign(r, local(LocalId(77))),
        |r| assign(r, Expr::ThreadLocal(3)),
        |r| assign(r, Expr::Query(Query::Len, Box::new(int(1)), vec![])),
        |_| assign(LocalId(77), int(1)),
        |r| read(r, Place::Shared(77)),
        |r| read(r, Place::SharedElement(0, int(0))),
        |r| read(r, Place::Field { object: int(3), of: 0, field: 0 }),
        |r| read(r, Place::Field { object: Expr::Const(Value::Ref(9)), of: 0, field: 0 }),
        |r| Action::New { into: r, object: 5, fields: vec![], given: vec![true; 0] },
        |r| Action::FetchAdd { into: r, place: Place::Shared(1), value: int(1) },
        |r| Action::Update {
            into: r,
            place: Place::Shared(0),
            method: Method::PopBack,
            arguments: vec![],
        },
    ];
    for action in broken {
        let program = faulty(|body| vec![action(body.local("r", Type::Int))]);
        let mut player = Player::new(&program, Memory::Reuse);
        player.call(0, 0, &[]);
        let fault = player.make(Move::Step { thread: 0 }, &[]).unwrap_err();
        assert_eq!(fault.kind, FaultKind::IllTyped, "{fault}");
    }
}
