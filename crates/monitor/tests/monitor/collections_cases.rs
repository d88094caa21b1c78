//! Queues, stacks and priority queues by hand: what the monitors say, and what they decline.

use expect_test::{Expect, expect};
use linchpin_history_data::{
    Builder, History, Judgement, Monitored, NotApplicable, Rank, ValueId, Violation,
};
use linchpin_monitor::{priority_queue, queue, stack};
use linchpin_spec::{PriorityQueue, Queue, Signature, Spec, Stack, Value};
use linchpin_verdict::Limits;

/// A history from its events: `0 enqueue 7` calls, `0 ok` and `0 ok 7` answer.
fn history(signatures: &[Signature], events: &str) -> History {
    let mut builder = Builder::new(signatures);
    for event in events.split(';').map(str::trim) {
        let words: Vec<&str> = event.split(' ').collect();
        let value = words.get(2).map_or(Value::Null, |word| match word.parse() {
            Ok(int) => Value::Int(int),
            Err(_) => Value::Null,
        });
        match words[1] {
            "ok" => builder.ok(words[0], value).unwrap(),
            operation => builder.invoke(words[0], operation, value).unwrap(),
        }
    }
    builder.finish()
}

fn said(answer: Monitored) -> String {
    match answer {
        Ok(Judgement::Holds(witness)) => format!("holds: {:?}", witness.order),
        Ok(Judgement::Violated(Violation { core, explanation, at, .. })) => {
            format!("{explanation}\n{core:?}, at {at:?}")
        }
        Ok(Judgement::Inconclusive(why)) => format!("inconclusive: {why}"),
        Err(NotApplicable { reason }) => format!("not applicable: {reason}"),
    }
}

fn queue_says(events: &str, expected: Expect) {
    let history = history(Queue::default().operations(), events);
    expected.assert_eq(&said(queue::check(&history, &[], &Limits::default())));
}

fn stack_says(events: &str, expected: Expect) {
    let history = history(Stack::default().operations(), events);
    expected.assert_eq(&said(stack::check(&history, &[], &Limits::default())));
}

fn priority_queue_says(events: &str, expected: Expect) {
    let history = history(PriorityQueue::default().operations(), events);
    expected.assert_eq(&said(priority_queue::check(&history, &[], &Limits::default())));
}

#[test]
fn nothing_happened() {
    let history = History::default();
    let limits = Limits::default();
    for check in [queue::check, stack::check, priority_queue::check] {
        assert_eq!(said(check(&history, &[], &limits)), "holds: []");
    }
}

#[test]
fn first_in_first_out() {
    queue_says(
        "0 enqueue 1; 0 ok; 1 enqueue 2; 1 ok; 2 dequeue; 2 ok 2; 0 dequeue; 0 ok 1",
        expect![[r#"
            enqueue(1) by process 0 returned before enqueue(2) by process 1 was called, yet dequeue → 2 by process 2 returned before dequeue → 1 by process 0 was called
            [0, 1, 2, 3], at Some(5)"#]],
    );
    queue_says(
        "0 enqueue 1; 0 ok; 1 enqueue 2; 1 ok; 2 dequeue; 2 ok 2",
        expect![[r#"
        enqueue(1) by process 0 returned before enqueue(2) by process 1 was called, yet dequeue → 2 by process 2 returned and 1 was never dequeued
        [0, 1, 2], at Some(5)"#]],
    );
    queue_says(
        "0 enqueue 1; 0 ok; 1 enqueue 2; 1 ok; 2 dequeue; 2 ok 2; 3 dequeue",
        expect![[r#"
            enqueue(1) by process 0 returned before enqueue(2) by process 1 was called, yet dequeue → 2 by process 2 returned and 1 was never dequeued
            [0, 1, 2], at Some(5)"#]],
    );
    queue_says(
        "3 dequeue; 0 enqueue 1; 0 ok; 1 enqueue 2; 1 ok; 2 dequeue; 2 ok 2",
        expect!["holds: [1, 0, 2, 3]"],
    );
    queue_says(
        "3 dequeue; 0 enqueue 0; 0 ok; 0 enqueue 1; 0 ok; 1 enqueue 2; 1 ok; 2 dequeue; 2 ok 2",
        expect![[r#"
            enqueue(1) by process 0 returned before enqueue(2) by process 1 was called, yet dequeue → 2 by process 2 returned and 1 was never dequeued; the dequeue without an answer by process 3 cannot account for this
            [0, 1, 2, 3, 4], at Some(8)"#]],
    );
}

#[test]
fn what_no_collection_allows() {
    queue_says(
        "2 dequeue; 2 ok 7; 0 enqueue 7; 0 ok",
        expect![[r#"
            dequeue → 7 by process 2 cannot be explained: no enqueue(7) had been called before it returned
            [0], at Some(1)"#]],
    );
    stack_says(
        "2 pop; 2 ok 7",
        expect![[r#"
        pop → 7 by process 2 cannot be explained: no push(7) had been called before it returned
        [0], at Some(1)"#]],
    );
    stack_says(
        "2 peek; 2 ok 7",
        expect![[r#"
        peek → 7 by process 2 cannot be explained: no push(7) had been called before it returned
        [0], at Some(1)"#]],
    );
    queue_says(
        "0 enqueue 7; 0 ok; 1 dequeue; 1 ok 7; 2 dequeue; 2 ok 7",
        expect![[r#"
        7 was enqueued once but dequeued twice: dequeue → 7 by process 1, and again by process 2
        [0, 1, 2], at Some(5)"#]],
    );
    queue_says(
        "0 enqueue 7; 0 ok; 1 dequeue; 1 ok 7; 2 peek; 2 ok 7",
        expect![[r#"
        dequeue → 7 by process 1 returned before peek → 7 by process 2 was called
        [0, 1, 2], at Some(5)"#]],
    );
}

#[test]
fn never_empty() {
    queue_says(
        "0 enqueue 1; 0 ok; 1 dequeue; 1 ok null; 2 dequeue; 2 ok 1",
        expect![[r#"
        dequeue → null by process 1 cannot have found nothing: whenever it took effect, 1 was certainly in the queue from the return of enqueue(1) by process 0 to the call of dequeue → 1 by process 2
        [0, 1, 2], at Some(3)"#]],
    );
    stack_says(
        "0 push 1; 0 ok; 1 pop; 0 push 2; 0 ok; 2 pop; 2 ok 1; 1 ok null; 2 pop; 2 ok 2",
        expect![[r#"
            push(2) by process 0 pushed 2 on 1, for 1 was certainly in the stack from the return of push(1) by process 0 to the call of pop → 1 by process 2; yet pop → 1 by process 2 popped 1 from under 2, for 2 was certainly in the stack from the return of push(2) by process 0 to the call of pop → 2 by process 2
            [0, 2, 3, 4], at Some(7)"#]],
    );
    priority_queue_says(
        "0 insert 1; 0 ok; 1 remove-min; 1 ok null",
        expect![[r#"
        remove-min → null by process 1 cannot have found nothing: whenever it took effect, 1 was certainly in the priority queue from the return of insert(1) by process 0 on
        [0, 1], at Some(3)"#]],
    );
}

#[test]
fn three_values_round_a_peek() {
    // 3 is at the front from its peek until it is dequeued, so 2 left before and 1 leaves after
    // that; yet 1 was enqueued before 2.
    queue_says(
        "9 enqueue 3; 0 enqueue 1; 0 ok; 1 enqueue 2; 1 ok; 2 dequeue; 3 peek; 3 ok 3; 4 dequeue; 2 ok 2; \
         5 dequeue; 5 ok 3; 4 ok 1; 9 ok",
        expect![[r#"
            enqueue(1) by process 0 returned before enqueue(2) by process 1 was called, dequeue → 2 by process 2 returned before dequeue → 3 by process 5 was called, yet peek → 3 by process 3 returned before dequeue → 1 by process 4 was called
            [0, 1, 2, 3, 4, 5, 6], at Some(9)"#]],
    );
}

#[test]
fn last_in_first_out() {
    stack_says(
        "0 push 1; 0 ok; 0 push 2; 0 ok; 1 pop; 1 ok 1; 1 pop; 1 ok 2",
        expect![[r#"
            push(2) by process 0 pushed 2 on 1, for 1 was certainly in the stack from the return of push(1) by process 0 to the call of pop → 1 by process 1; yet pop → 1 by process 1 popped 1 from under 2, for 2 was certainly in the stack from the return of push(2) by process 0 to the call of pop → 2 by process 1
            [0, 1, 2, 3], at Some(5)"#]],
    );
    stack_says(
        "0 push 1; 0 ok; 0 push 2; 0 ok; 1 peek; 1 ok 1",
        expect![[r#"
        push(2) by process 0 pushed 2 on 1, for 1 was certainly in the stack from the return of push(1) by process 0 on; yet peek → 1 by process 1 saw 1 under 2, for 2 was certainly in the stack from the return of push(2) by process 0 on
        [0, 1, 2], at Some(5)"#]],
    );
    stack_says(
        "0 push 1; 0 ok; 0 push 2; 0 ok; 2 pop; 1 peek; 1 ok 1",
        expect!["holds: [0, 1, 2, 3]"],
    );
}

#[test]
fn smallest_first() {
    priority_queue_says(
        "0 insert 1; 0 ok; 0 insert 5; 0 ok; 1 remove-min; 1 ok 5; 1 remove-min; 1 ok 1",
        expect![[r#"
            whenever remove-min → 5 by process 1 took effect, 1 was certainly in the priority queue from the return of insert(1) by process 0 to the call of remove-min → 1 by process 1, and is smaller
            [0, 1, 2, 3], at Some(5)"#]],
    );
    priority_queue_says(
        "0 insert 1; 0 ok; 0 insert 5; 0 ok; 2 remove-min; 1 remove-min; 1 ok 5",
        expect!["holds: [0, 1, 2, 3]"],
    );
}

#[test]
fn declined() {
    queue_says(
        "0 enqueue 7; 0 ok; 1 enqueue 7",
        expect!["not applicable: the value 7 is enqueued twice"],
    );
    stack_says(
        "0 push null; 0 ok",
        expect!["not applicable: null is pushed, which looks like an empty stack"],
    );

    let mut again = history(Stack::default().operations(), "0 push 7; 0 ok");
    let seven = again.values.intern(Value::Int(7));
    expect!["not applicable: the value 7 is there from the start and pushed again"]
        .assert_eq(&said(stack::check(&again, &[seven], &Limits::default())));

    let events = "3 pop; 0 push 1; 0 ok; 1 push 2; 1 ok; 2 pop; 2 ok 1";
    let mut deadline = history(Stack::default().operations(), events);
    deadline.operations[0].returned = deadline.events - 1;
    expect![
        "not applicable: a pop without an answer has an instant by which it must have taken effect"
    ]
    .assert_eq(&said(stack::check(&deadline, &[], &Limits::default())));
}

#[test]
fn too_many_ways() {
    let mut events: Vec<String> = (0..8).map(|at| format!("{} pop", 100 + at)).collect();
    for value in 0..12 {
        events.extend([format!("0 push {value}"), "0 ok".to_owned()]);
    }
    events.extend(["1 pop".to_owned(), "1 ok 6".to_owned()]);
    stack_says(
        &events.join("; "),
        expect!["holds: [8, 9, 10, 11, 12, 13, 14, 15, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20]"],
    );
    events.extend(["1 pop".to_owned(), "1 ok null".to_owned()]);
    stack_says(
        &events.join("; "),
        expect![
            "not applicable: 8 pops without an answer may each have removed one of 11 values, which are too many ways"
        ],
    );
}

#[test]
fn ranks_and_values_may_be_sparse() {
    let events = "0 enqueue 1; 0 ok; 1 enqueue 2; 1 ok; 2 dequeue; 2 ok 2; 0 dequeue; 0 ok 1";
    let mut sparse = history(Queue::default().operations(), events);
    let spread = |rank: Rank| Rank::new(1_000_000_000 + rank.number() * 100_000_000);
    for operation in &mut sparse.operations {
        operation.invoked = spread(operation.invoked);
        operation.returned = spread(operation.returned);
    }
    sparse.events = Rank::new(4_000_000_000);
    for int in 100_000..200_000 {
        sparse.values.intern(Value::Int(int));
    }
    let late = sparse.values.intern(Value::Int(199_999));
    let answer = queue::check(&sparse, &[late], &Limits::default());
    expect![[r#"
        199999 was there before enqueue(2) by process 1 was called, yet dequeue → 2 by process 2 returned and 199999 was never dequeued
        [1, 2], at Some(1500000000)"#]].assert_eq(&said(answer));
    for operation in &mut sparse.operations {
        operation.completed &= usize::from(operation.operation) == Queue::ENQUEUE;
    }
    let answer = queue::check(&sparse, &[ValueId::TRUE], &Limits::default());
    expect!["holds: [0, 1]"].assert_eq(&said(answer));
}

#[test]
fn limits_hold() {
    let history = history(Queue::default().operations(), "0 enqueue 1; 0 ok");
    let limits = Limits { memory: Some(10), ..Limits::default() };
    expect!["inconclusive: stopped by the memory limit; allow more memory, or ask for less"]
        .assert_eq(&said(queue::check(&history, &[], &limits)));
}
