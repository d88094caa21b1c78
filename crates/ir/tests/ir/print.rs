//! Programs as people read them.

use crate::models::*;
use crate::support::*;
use expect_test::expect;
use linchpin_ir::print::{Names, describe, steps};
use linchpin_ir::program::*;
use linchpin_spec::Value;

#[test]
fn a_stack() {
    expect![[r#"
        push(v: int)    line 6
          call     6  x := new Node { val: v, next: null }  → 1
          1        9  t := top                              → 2
          2       10  x.next := t                           → 3
          3       11  cas(top, t, x)
                      ├ when it succeeds                    return  #[lin]
                      └ when it fails                       → 1

        pop() -> int?    line 15
          call    15                      → 1
          1       17  t := top                         #[lin(when t == null)]
                      ├ when t == null    return none
                      └ when t != null    → 2
          2       19  s := t.next         → 3
          3       20  cas(top, t, s)
                      ├ when it succeeds  → 4          #[lin]
                      └ when it fails     → 1
          4       21  r := t.val          return r
    "#]]
    .assert_eq(&steps(&treiber(2, false)));
}

#[test]
fn a_reference_comes_last() {
    let (program, alone) = (treiber_beside_itself(), treiber(2, false));
    assert_eq!(describe(&program), describe(&alone));
    let all = steps(&program);
    expect![[r#"

        reference: each operation alone and in one go

        push(v: int)    line 6
          call       6  x := new Node { val: v, next: null }  → call.1
          call.1     9  t := top                              → call.2  (no turn for others)
          call.2    10  x.next := t                           → call.3  (no turn for others)
          call.3    11  cas(top, t, x)                                  (no turn for others)
                        ├ when it succeeds                    return
                        └ when it fails                       → call.1

        pop() -> int?    line 15
          call      15                      → call.1
          call.1    17  t := top                         (no turn for others)
                        ├ when t == null    return none
                        └ when t != null    → call.2
          call.2    19  s := t.next         → call.3     (no turn for others)
          call.3    20  cas(top, t, s)                   (no turn for others)
                        ├ when it succeeds  → call.4
                        └ when it fails     → call.1
          call.4    21  r := t.val          return r     (no turn for others)
    "#]]
    .assert_eq(all.strip_prefix(&steps(&alone)).expect("the model comes first"));
}

#[test]
fn a_lock_and_an_atomic_block() {
    expect![[r#"
        add() -> int    line 3
          call     3                  → 1
          1        4  lock(guard)     → 2
          2        5  c := count      → 3
          3        6  count := c + 1  → 4
          4        7  unlock(guard)   return c
    "#]]
    .assert_eq(&steps(&locked_counter(1, true)));
    expect![[r#"
        add(n: int) -> int    line 3
          call     3                                                        → 1
          1        4                                                        → 1.1
          1.1      5  ├ when n > 0; c := count; count := c + 1; n := n - 1  → 1.1     (no turn for others)
                      └ when n <= 0                                         return c
    "#]].assert_eq(&steps(&atomic_counter(1)));
}

#[test]
fn forks_within_forks() {
    let mut body = BodyBuilder::new(3);
    let [a, b] = ["a", "b"].map(|name| body.local(name, Type::Int));
    let [start, other] = [4, 9].map(|line| body.node(line));
    let wait = body.node(12);
    body.to(NodeId(0), vec![], start);
    let zero = |local_id| equal(local(local_id), int(0));
    let prefix = || vec![read(a, Place::Shared(0)), when(zero(a)), assign(b, int(3))];
    let with = |more: Vec<Action>| [prefix(), more].concat();
    let first = body.to(start, with(vec![when(zero(b)), assign(a, int(1))]), other);
    first.points = vec![(1, Point::Returns { value: int(4), place: 0 })];
    first.actions[4].1 = 6;
    body.edge(start, with(vec![when(not(zero(b)))]), returns(local(b)));
    body.to(start, vec![read(a, Place::Shared(0)), when(not(zero(a)))], wait);
    body.to(other, vec![when(zero(a))], start);
    body.to(other, vec![when(not(zero(a)))], wait);
    let mut operation = body.operation("go", 1, Type::Int);
    operation.parameters[0].range = Some((0, 4));
    operation.requires = Some(zero(a));
    let shared = vec![variable("x", Type::Int, Value::Int(0))];
    expect![[r#"
        go(a: int in 0..4) -> int requires a == 0    line 3
          call     3                         → 1
          1        4  a := x
                      ├ when a == 0; b := 3
                      │ ├ when b == 0                  #[lin(when returns 4)]
                   6  │ │ a := 1             → 2
                   4  │ └ when b != 0        return b
                      └ when a != 0          → 3
          2        9  ├ when a == 0          → 1
                      └ when a != 0          → 3
          3       12  (waits for ever)
    "#]]
    .assert_eq(&steps(&program(shared, vec![operation], 1)));
}

#[test]
fn the_same_as_data() {
    let described = describe(&treiber(2, false));
    let pop = &described[POP];
    assert_eq!(
        (pop.operation.as_str(), pop.signature.as_str(), pop.line),
        ("pop", "pop() -> int?", 15)
    );
    expect![[r##"
        StepDescription {
            id: "1",
            node: 1,
            yields: true,
            line: 17,
            edges: [
                EdgeDescription {
                    actions: [
                        "t := top",
                        "when t == null",
                    ],
                    points: [
                        "#[lin(when t == null)]",
                    ],
                    bases: [],
                    target: "return none",
                },
                EdgeDescription {
                    actions: [
                        "t := top",
                        "when t != null",
                    ],
                    points: [
                        "#[lin(when t == null)]",
                    ],
                    bases: [],
                    target: "2",
                },
            ],
        }
    "##]]
    .assert_debug_eq(&pop.steps[1]);
}

fn with_names(check: impl FnOnce(Names)) {
    let mut stack = treiber(1, false);
    let mark = Type::Record {
        name: "Mark".to_owned(),
        fields: vec![("to".to_owned(), Type::Struct(0)), ("dead".to_owned(), Type::Bool)],
    };
    stack.structs[0].fields.push(variable("mark", mark.clone(), Value::Null));
    stack.operations[PUSH].body.locals.push(variable("m", mark, Value::Null));
    check(Names { program: &stack, body: &stack.operations[PUSH].body });
}

#[test]
fn expressions_have_the_parentheses_they_need() {
    use BinaryOp::*;
    with_names(|names| {
        let v = || local(LocalId(0));
        let check = |expr: Expr, expected: &str| assert_eq!(names.expr(&expr), expected);
        let sum = || binary(Add, v(), int(1));
        check(binary(Multiply, sum(), sum()), "(v + 1) * (v + 1)");
        check(binary(Subtract, v(), binary(Subtract, v(), int(1))), "v - (v - 1)");
        check(binary(Subtract, binary(Subtract, v(), int(1)), v()), "v - 1 - v");
        check(not(equal(sum(), int(2))), "!(v + 1 == 2)");
        let either = binary(Or, truth(true), truth(false));
        check(binary(And, either.clone(), either), "(true || false) && (true || false)");
        check(equal(equal(v(), v()), truth(true)), "(v == v) == true");
        let if_else = Expr::If(Box::new(truth(true)), Box::new(v()), Box::new(int(2)));
        check(binary(Add, if_else, int(1)), "(if true { v } else { 2 }) + 1");
        check(Expr::Component(Box::new(local(LocalId(4))), 1), "m.dead");
        check(equal(local(LocalId(1)), null()), "x == null");
    });
}

#[test]
fn values_are_printed_as_their_types_say() {
    with_names(|names| {
        let mark = names.type_of(&local(LocalId(4))).unwrap();
        let value = Value::list([Value::Ref(2), Value::Bool(false)]);
        assert_eq!(names.value(&value, mark), "Mark { to: @2, dead: false }");
        let optional = Type::Option(Box::new(Type::Int));
        let pair = Type::Tuple(vec![optional, Type::Lock]);
        let value = Value::list([Value::Null, Value::Int(1)]);
        assert_eq!(names.value(&value, &pair), "(none, held by thread 1)");
        assert_eq!(names.ty(&pair), "(int?, lock)");
        let map =
            Type::Map(Box::new(Type::Int), Box::new(Type::Array(Box::new(Type::Struct(0)), 2)));
        assert_eq!(names.ty(&map), "map<int, [Node; 2]>");
    });
}

#[test]
fn formulas() {
    with_names(|names| {
        let top = || Box::new(Formula::Shared(0));
        let reach = Formula::Reach {
            from: top(),
            field: (0, 2),
            component: Some(0),
            to: Box::new(Formula::Bound(0)),
        };
        let val = Formula::Field(Box::new(Formula::Bound(1)), 0, 0);
        let same = Formula::Binary(
            BinaryOp::Equal,
            Box::new(val),
            Box::new(Formula::Local(local(LocalId(0)))),
        );
        let both = Formula::Binary(BinaryOp::And, Box::new(reach), Box::new(same));
        let inner = Formula::Unary(UnaryOp::Not, Box::new(Formula::Exists(0, Box::new(both))));
        let all = Formula::Forall(0, Box::new(inner));
        expect!["forall n: Node { !exists k: Node { reach(top, mark.to, k) && n.val == v } }"]
            .assert_eq(&names.formula(&all));
    });
}
