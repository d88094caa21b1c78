//! Sequential executions against the specification that a file names.

use linchpin_subop::parse;
use linchpin_subop::sequential::induction::NotShown;
use linchpin_subop::sequential::{
    AnswerKind, Bounds, NotTaken, NotTried, Random, Sequential, Tried, check,
};
use linchpin_verdict::Verdict;

fn checked(source: &str) -> Sequential {
    let model = parse(source).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    check(&model, &Bounds::default())
}

#[track_caller]
fn tried(source: &str) -> Tried {
    match checked(source) {
        Sequential::Tried { tried, .. } => tried,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn relation(source: &str) -> Vec<String> {
    match checked(source) {
        Sequential::Shown { shown, .. } => shown.relation,
        other => panic!("{other:?}"),
    }
}

/// The last call of a wrong execution, and how many there are.
#[track_caller]
fn wrong(source: &str) -> (usize, String) {
    match checked(source) {
        Sequential::Violated { calls } => {
            let last = calls.last().unwrap();
            (calls.len(), format!("{} -> {}", last.argument, last.response))
        }
        other => panic!("{other:?}"),
    }
}

const STACK: &str = "struct node { int value, node next };
node top;
Push(int v) node X; 1 X = malloc node; X.value = v; X.next = top; top = X; return;
Pop_empty() 1 < top == NULL; > return;
Pop() node X; 1 < top == X; X != NULL; > top = X.next; return X.value;
";

#[test]
fn a_stack_is_a_stack() {
    let spec = "spec stack { Push = push(v); Pop_empty = pop() -> NULL; Pop = pop(); }";
    let tried = tried(&format!("{STACK}{spec}"));
    assert_eq!(tried.calls(), 6);
    assert_eq!(tried.random, Some(Random { sequences: 100, calls: 20, seed: 1 }));
    assert!(tried.executions > 1000);
    assert_eq!(tried.not_taken, []);
}

#[test]
fn a_stack_is_not_a_queue() {
    let spec = "spec queue { Push = enqueue(v); Pop_empty = dequeue() -> NULL; Pop = dequeue(); }";
    assert_eq!(wrong(&format!("{STACK}{spec}")).0, 3);
}

#[test]
fn the_constants_of_the_file_are_tried() {
    let source = "int x; Write(int v) 1 x = v; return; Read() 1 return x;
        ReadOdd() 1 <x == 7;> return 8;
        spec register(0) { Write = write(v); Read = read(); ReadOdd = read(); }";
    assert_eq!(wrong(source), (2, "null -> 8".to_owned()));
}

#[test]
fn the_constants_of_the_specification_are_tried() {
    // The code forgets that 100 is there from the start.
    let source = "int A[];
        Add(int k) int old; 1 old = A[k]; A[k] = 1; return old;
        Contains(int k) 1 return A[k];
        spec set(100, 200) { Add = add(k) -> result == 0; Contains = contains(k); }";
    let (calls, _) = wrong(source);
    assert_eq!(calls, 1);
}

#[test]
fn many_arguments_are_tried_in_fewer_combinations() {
    let arguments: Vec<String> = (0..22).map(|at| format!("int a{at}")).collect();
    let source = format!(
        "int x; Write({}) 1 x = a0; return; Read() 1 return x + 1;
        spec register(0) {{ Write = write(a0); Read = read(); }}",
        arguments.join(", ")
    );
    assert_eq!(wrong(&source).0, 1);
    // The last argument is passed on: that it is not the first one is seen where one differs.
    let source = source.replace("x = a0", "x = a21").replace("x + 1", "x");
    assert_eq!(wrong(&source).0, 2);
}

#[test]
fn operations_that_never_end_are_named() {
    let source = "int x; Write(int v) 1 <v == 1;> x = v; return; Read() 1 <x == 3;> return x;
        spec register { Write = write(v); Read = read(); }";
    match checked(source) {
        Sequential::NeverExecuted { operations, tried } => {
            assert_eq!(operations.len(), 1);
            assert_eq!(tried.not_taken, [NotTaken::SubOperation("Read_1".to_owned())]);
            assert_eq!(checked(source).verdict(), Verdict::Inconclusive);
        }
        other => panic!("{other:?}"),
    }
}

/// A call that no client makes is not compared with the specification, and says nothing.
#[test]
fn operations_that_are_never_compared_are_named() {
    for (source, name) in [
        (
            "int x; int y; U(int v) 1 x = v; return;
             S() int a; int b; 1 a = x; b = y; return a, b;
             spec snapshot(0, 0) { U = update(7, v); S = scan(); }",
            "U_1",
        ),
        (
            "int x; U(int i, int v) 1 < i >= 5; > x = v; return; S() 1 return 0, 0;
             spec snapshot(0, 0) { U = update(i, v); S = scan(); }",
            "U_1",
        ),
    ] {
        match checked(source) {
            Sequential::NeverExecuted { operations, tried } => {
                assert_eq!(operations.len(), 1);
                assert_eq!(tried.not_taken, [NotTaken::SubOperation(name.to_owned())]);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// There are too many lists of four arguments to pass all of them.
#[test]
fn arguments_are_what_they_are_compared_with() {
    let source = "int x; Write(int v, int a, int b, int c) 1 < a != 53; > x = v; return;
        Odd(int v, int a, int b, int c) 1 < a == 53; b == 143; c == 7; > x = 9; return;
        Read() 1 return x;
        spec register(0) { Write = write(v); Odd = write(v); Read = read(); }";
    assert_eq!(wrong(source).0, 2);
}

#[test]
fn answers_that_were_never_given_are_named() {
    let source = "int A[]; Contains(int k) 1 return A[k]; spec set { Contains = contains(k); }";
    let method = "contains".to_owned();
    let never = NotTaken::Answer { method, kind: AnswerKind::True };
    assert_eq!(tried(source).not_taken, [never]);
}

#[test]
fn answers_may_be_whether_something_was_returned() {
    let source = "int A[];
        Add(int k) int old; 1 old = A[k]; A[k] = 1; return old;
        Contains(int k) 1 return A[k];
        spec set { Add = add(k) -> result == 0; Contains = contains(k); }";
    assert_eq!(tried(source).not_taken, []);
    wrong(&source.replace("result == 0", "true"));
}

#[test]
fn an_argument_is_what_was_passed() {
    let source = "int x; Write(int v) 1 v = v + 1; x = v; return; Read() 1 return x;
        spec register(0) { Write = write(v); Read = read(); }";
    assert_eq!(wrong(source).0, 2);
}

#[test]
fn without_a_spec_or_with_too_much_to_execute_nothing_is_claimed() {
    assert_eq!(checked(STACK), Sequential::NotTried(NotTried::NoSpecification));
    let source = "int x; Add(int a, int b, int c) 1 x = x + 1; return;
        spec counter { Add = add(1); }";
    let model = parse(source).unwrap();
    let bounds = Bounds { steps: 2, ..Bounds::default() };
    assert_eq!(check(&model, &bounds), Sequential::NotTried(NotTried::TooMany));
    assert_eq!(check(&model, &bounds).verdict(), Verdict::Inconclusive);
    let bounds = Bounds { values: 5000, ..Bounds::default() };
    assert_eq!(check(&model, &bounds), Sequential::NotTried(NotTried::TooMany));
}

#[test]
fn bounds_are_obeyed() {
    let spec = "spec stack { Push = push(v); Pop_empty = pop() -> NULL; Pop = pop(); }";
    let model = parse(&format!("{STACK}{spec}")).unwrap();
    for (calls, values) in [(3, 2), (5, 1), (4, 5)] {
        let bounds = Bounds { calls, values, ..Bounds::default() };
        let verdict = check(&model, &bounds);
        let tried = verdict.tried().unwrap();
        assert_eq!(tried.calls(), calls);
        assert!((1..=values).all(|value| tried.integers().contains(&value)));
        assert!(!tried.integers().contains(&(values + 2)));
    }
}

#[test]
fn a_long_execution_is_found_and_made_short() {
    // Wrong from the ninth `Add` on.
    let source = "int x; Add() 1 <x < 8;> x = x + 1; return; Add_more() 1 <x >= 8;> return;
        Read() 1 return x;
        spec counter { Add = add(1); Add_more = add(1); Read = read(); }";
    assert_eq!(wrong(source).0, 10);
}

#[test]
fn registers_and_counters_are_shown() {
    let register = "int x; Write(int v) 1 x = v; return; Read() 1 return x;";
    let spec = "spec register(0) { Write = write(v); Read = read(); }";
    assert_eq!(relation(&format!("{register}{spec}")), ["x"]);
    assert_eq!(checked(&format!("{register}{spec}")).verdict(), Verdict::Proved);
    let spec = "spec register { Write = write(v); Read = read(); }";
    let null = register.replace("int x;", "int x; initially { x = NULL; }");
    assert_eq!(relation(&format!("{null}{spec}")), ["x"]);
    let counter = "int x; int y; Add() 1 x = x + 1; return; Add_there() 1 y = y + 1; return;
        Read() int a; 1 a = x; <y == 0;> return a; Read_more() 1 <y != 0;> return x;
        spec counter { Add = add(1); Add_there = add(1); Read = read(); Read_more = read(); }";
    wrong(counter);
    let negative = "int x; Add() 1 x = x - 1; return; Reset() int a; 1 <x == a;> x = a; return;
        spec counter(10) { Add = add(1); Reset = add(0); }";
    assert_eq!(relation(negative), ["-x + 10"]);
    let swap = "int x; Cas(int a, int b) 1 <x == a;> x = b; return 1;
        Cas_fails(int a, int b) 1 <x != a;> return 0;
        spec cas_register(0) { Cas = cas(a, b); Cas_fails = cas(a, b); }";
    assert_eq!(relation(swap), ["x"]);
}

#[test]
fn snapshots_are_shown() {
    let source = "int d[]; int v[];
        Write(int i, int x) 1 d[i] = x; v[i] = v[i] + 1; return;
        Read_pair() int a; int b; int n;
            1 a = d[0]; n = v[0]; 1 b = d[1]; 1 < v[0] == n; > return a, b;
        spec snapshot(0, 0) { Write = update(i, x); Read_pair = scan(); }";
    assert_eq!(relation(source), ["d[0]", "d[1]"]);
    wrong(&source.replace("b = d[1]", "b = d[0]"));
}

#[test]
fn a_lock_that_is_given_back_does_not_block() {
    let source = "int x; int l;
        Write(int v) 1 <l == 0;> l = ID; 1 x = v; 1 l = 0; return;
        Read() int a; 1 <l == 0;> l = ID; 1 a = x; 1 l = 0; return a;
        spec register(0) { Write = write(v); Read = read(); }";
    assert_eq!(relation(source), ["x"]);
    // One that is kept by some calls: what is answered is right, but a call may wait for ever.
    let source = source.replace("1 x = v; 1 l = 0; return;", "1 x = v; 1 <v != 5;> l = 0; return;");
    match checked(&source) {
        Sequential::Tried { not_shown, .. } => {
            assert_eq!(not_shown, NotShown::MayBlock { method: "write".to_owned() });
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_wrong_far_away_is_not_shown() {
    // With few random sequences this is not found; then it must not be shown either.
    let source = "int x; int n;
        Write(int v) 1 <n < 40;> x = v; n = n + 1; return;
        Write_late(int v) 1 <n >= 40;> n = n + 1; return;
        Read() 1 return x;
        spec register(0) { Write = write(v); Write_late = write(v); Read = read(); }";
    match checked(source) {
        Sequential::NeverExecuted { operations, .. } => assert_eq!(operations.len(), 1),
        other => panic!("{other:?}"),
    }
    let hidden = "int x; int n;
        Write(int v) int w; 1 <n < 40;> x = v; n = n + 1; return;
        Read() 1 return x;
        spec register(0) { Write = write(v); Read = read(); }";
    match checked(hidden) {
        Sequential::Tried { not_shown, .. } => {
            assert_eq!(not_shown, NotShown::MayBlock { method: "write".to_owned() });
        }
        other => panic!("{other:?}"),
    }
}
