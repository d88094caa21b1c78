use super::*;
use crate::Builder;
use expect_test::{Expect, expect};
use linchpin_spec::{Register, Spec, Value};

/// Process `a` is interrupted twice, `b` once; `a` then reads.
fn interrupted() -> History {
    let mut builder = Builder::new(Register::default().operations());
    let write = |builder: &mut Builder, process: &str, value: i64| {
        builder.invoke(process, "write", Value::Int(value)).unwrap();
    };
    write(&mut builder, "a", 1); // event 0
    write(&mut builder, "b", 2);
    let a = builder.process("a");
    builder.crash(Some(a)).unwrap(); // event 2
    write(&mut builder, "a", 3);
    builder.crash(None).unwrap(); // event 4
    builder.invoke("c", "read", Value::Null).unwrap();
    builder.invoke("a", "read", Value::Null).unwrap(); // event 6
    builder.ok("a", Value::Int(2)).unwrap();
    builder.ok("c", Value::Int(2)).unwrap();
    builder.finish()
}

fn shown(history: &History, applied: &Applied) -> String {
    let deadline = |rank: Rank| if rank == NEVER { "never".to_owned() } else { rank.to_string() };
    let pending = history.operations.iter().filter(|operation| !operation.completed);
    let deadlines: Vec<String> = pending.map(|operation| deadline(operation.returned)).collect();
    let order = applied.interrupted.iter().map(|i| format!("{}<{}", i.operation, i.next));
    let order: Vec<String> = order.collect();
    let mut text = format!("{} | {}\n", deadlines.join(" "), order.join(" "));
    applied.assumptions.iter().for_each(|assumption| text.push_str(&format!("{assumption}\n")));
    text
}

fn check(property: Property, expected: Expect) {
    let mut history = interrupted();
    let applied = apply(&mut history, property).unwrap();
    expected.assert_eq(&shown(&history, &applied));
}

#[test]
fn deadlines() {
    check(
        Property::Linearizable,
        expect![[r#"
            never never never | 
            crashes are ignored: an interrupted operation may take effect at any later time
        "#]],
    );
    check(
        Property::Strict,
        expect![[r#"
        2 4 4 | 
    "#]],
    );
    check(
        Property::Recoverable,
        expect![[r#"
        never never never | 0<2 2<4
    "#]],
    );
    check(
        Property::Durable,
        expect![[r#"
            never never never | 
            durable linearizability knows crashes of the whole system only; process a, which crashed at event 2, is taken as one that stopped, and is a new process if it goes on
            process a acts before and after the crash at event 4; durable linearizability takes it as a new process
        "#]],
    );
}

#[test]
fn tightened_to_the_next_invocation() {
    let mut history = interrupted();
    let applied = apply(&mut history, Property::Recoverable).unwrap();
    applied.tighten(&mut history);
    let deadlines: Vec<Rank> = history.operations.iter().take(3).map(|op| op.returned).collect();
    assert_eq!(deadlines, [Rank::new(2), NEVER, Rank::new(5)]);
    // Process c was called at event 5, so what a left open may still come after c's read, but not
    // after a's own.
    let [_, _, write, c, a] = history.operations[..] else { panic!("five operations") };
    assert!(!write.precedes(&c) && write.precedes(&a));
}

#[test]
fn the_same_object_is_the_same_key() {
    let mut history = interrupted();
    history.operations[2].key = ValueId(7);
    let applied = apply(&mut history, Property::Recoverable).unwrap();
    assert_eq!(applied.interrupted, [Interrupted { operation: OpId::new(0), next: OpId::new(4) }]);
}

#[test]
fn what_makes_no_sense_is_an_error() {
    let fails = |change: fn(&mut History), expected: Expect| {
        let mut history = interrupted();
        change(&mut history);
        let error = apply(&mut history, Property::Strict).unwrap_err();
        expected.assert_eq(&error.to_string());
        assert!(apply(&mut history, Property::Linearizable).is_ok());
    };
    fails(
        |history| history.crashes[0].process = Some(9),
        expect!["the crash at event 2 is of a process that the history does not have"],
    );
    fails(
        |history| {
            history.operations[1].completed = true;
            history.operations[1].returned = Rank::new(8);
        },
        expect![
            "the operation that process b called at event 1 returned at event 8, although the crash at event 4 interrupted it"
        ],
    );
    fails(
        |history| history.crashes.clear(),
        expect![
            "process a calls at event 6, although its operation from event 3 never returned and no crash interrupted it"
        ],
    );
}
