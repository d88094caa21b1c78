//! Sequential executions against the specification that a file names.

use linchpin_subop::parse;
use linchpin_subop::sequential::{Bounds, SequentialVerdict, check};

fn verdict(source: &str) -> SequentialVerdict {
    let model = parse(source).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    check(&model, &Bounds { calls: 4, values: vec![1, 2], steps: 100_000 })
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
    match verdict(&format!("{STACK}{spec}")) {
        SequentialVerdict::Holds { calls, executions, unreached } => {
            assert_eq!(calls, 4);
            assert!(executions > 50);
            assert!(unreached.is_empty());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stack_is_not_a_queue() {
    let spec = "spec queue { Push = enqueue(v); Pop_empty = dequeue() -> NULL; Pop = dequeue(); }";
    match verdict(&format!("{STACK}{spec}")) {
        SequentialVerdict::Violated { calls } => assert_eq!(calls.len(), 3),
        other => panic!("{other:?}"),
    }
}

#[test]
fn operations_that_never_end_are_named() {
    let source = "int x; Write(int v) 1 x = v; return; Read() 1 <x == 3;> return x;
        spec register { Write = write(v); Read = read(); }";
    match verdict(source) {
        SequentialVerdict::Holds { unreached, .. } => assert_eq!(unreached.len(), 1),
        other => panic!("{other:?}"),
    }
}

#[test]
fn answers_may_be_whether_something_was_returned() {
    let source = "int A[];
        Add(int k) int old; 1 old = A[k]; A[k] = 1; return old;
        Contains(int k) 1 return A[k];
        spec set { Add = add(k) -> result == 0; Contains = contains(k); }";
    assert!(matches!(verdict(source), SequentialVerdict::Holds { .. }));
    let wrong = source.replace("result == 0", "true");
    assert!(matches!(verdict(&wrong), SequentialVerdict::Violated { .. }));
}

#[test]
fn without_a_spec_or_with_too_much_to_execute_nothing_is_claimed() {
    assert_eq!(verdict(STACK), SequentialVerdict::NoSpec);
    let source = "int x; Add(int a, int b, int c) 1 x = x + 1; return;
        spec counter { Add = add(1); }";
    let bounds = Bounds { calls: 6, values: vec![1, 2, 3], steps: 50 };
    assert_eq!(check(&parse(source).unwrap(), &bounds), SequentialVerdict::TooLarge);
    let bounds = Bounds { steps: 100, ..bounds };
    let verdict = check(&parse(source).unwrap(), &bounds);
    assert!(matches!(verdict, SequentialVerdict::Holds { calls: 3, .. }), "{verdict:?}");
}
