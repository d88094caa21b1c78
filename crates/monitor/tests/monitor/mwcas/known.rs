//! Small histories with known verdicts, and how they are explained. One line an event:
//! `a swap x:0>1 y:0>1`, `a read x y`, `a ok`, `a fail x`, `a false`, `a saw x=1 y=2`, `crash`,
//! `crash a`.

use crate::mwcas::judge::{is_linearizable, without_others};
use expect_test::{Expect, expect};
use linchpin_history_data::crash::{Property, apply};
use linchpin_history_data::{Builder, History, Judgement};
use linchpin_monitor::mwcas;
use linchpin_spec::{Mwcas, Spec, Value};
use linchpin_verdict::{Limits, StopFlag, StopReason};

fn parse(text: &str) -> History {
    let mut builder = Builder::new(Mwcas::default().operations());
    let int = |text: &str| Value::Int(text.parse().unwrap());
    let pair = |text: &str| {
        let (location, value) = text.split_once('=').unwrap();
        Value::list([location.into(), int(value)])
    };
    let mut reading = std::collections::HashMap::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let fields: Vec<&str> = line.split(' ').collect();
        match fields[..] {
            ["crash"] => builder.crash(None).unwrap(),
            ["crash", process] => {
                let process = builder.process(process);
                builder.crash(Some(process)).unwrap();
            }
            [process, "swap", ref words @ ..] => {
                let word = |word: &&str| {
                    let (location, values) = word.split_once(':').unwrap();
                    let (expected, new) = values.split_once('>').unwrap();
                    Value::list([location.into(), int(expected), int(new)])
                };
                builder.invoke(process, "mwcas", Value::list(words.iter().map(word))).unwrap();
                reading.insert(process.to_owned(), false);
            }
            [process, "read", ref locations @ ..] => {
                let asked = locations.iter().map(|&at| Value::list([at.into(), Value::Null]));
                builder.invoke(process, "mwread", Value::list(asked)).unwrap();
                reading.insert(process.to_owned(), true);
            }
            [process, "ok"] => builder.ok(process, true.into()).unwrap(),
            [process, "false"] => builder.ok(process, false.into()).unwrap(),
            [process, "fail", at] => {
                builder.ok(process, Value::map([("failed".into(), at.into())])).unwrap()
            }
            [process, "saw", ref pairs @ ..] => {
                let pairs = Value::list(pairs.iter().map(|text| pair(text)));
                let answer =
                    if reading[process] { pairs } else { Value::map([("read".into(), pairs)]) };
                builder.ok(process, answer).unwrap();
            }
            _ => panic!("{line}"),
        }
    }
    builder.finish()
}

fn verdict_under(property: Property, text: &str, init: Option<Value>) -> String {
    let mut history = parse(text);
    let applied = apply(&mut history, property).unwrap();
    let limits = Limits::default();
    let ordered = property == Property::Recoverable;
    match mwcas::check_interrupted(&history, &applied.interrupted, init.as_ref(), &limits) {
        Ok(Judgement::Holds(witness)) => {
            assert!(is_linearizable(&history, init.as_ref(), ordered));
            format!("{:?}\n", witness.order)
        }
        Ok(Judgement::Violated(violation)) => {
            let core = without_others(&history, &violation.core);
            assert!(!is_linearizable(&core, init.as_ref(), ordered));
            let lines = violation.explanation.replace(": the ", ":\nthe ").replace("; ", ";\n");
            format!("{:?}\n{lines}\n", violation.core)
        }
        Ok(Judgement::Inconclusive(reason)) => panic!("{reason}"),
        Err(not_applicable) => format!("not applicable: {}\n", not_applicable.reason),
    }
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&verdict_under(Property::Linearizable, text, Some(0.into())));
}

fn check_unknown(text: &str, expected: Expect) {
    expected.assert_eq(&verdict_under(Property::Linearizable, text, None));
}

#[test]
fn a_stale_read() {
    check(
        "a swap x:0>1
         a ok
         b read x y
         b saw x=0 y=0",
        expect![[r#"
            [0, 1]
            no order explains these operations:
            the mwcas(x: 0→1) by process a returned before the mwread(x = 0, y = 0) by process b was called;
            the mwread(x = 0, y = 0) by process b saw x = 0, which the mwcas(x: 0→1) by process a replaced
        "#]],
    );
}

#[test]
fn a_read_from_the_future() {
    check(
        "b read x
         b saw x=1
         a swap x:0>1
         a ok",
        expect![[r#"
            [0, 1]
            no order explains these operations:
            the mwread(x = 1) by process b returned before the mwcas(x: 0→1) by process a was called;
            the mwread(x = 1) by process b saw x = 1, which the mwcas(x: 0→1) by process a wrote
        "#]],
    );
}

#[test]
fn a_torn_read() {
    check(
        "a swap x:0>1 y:0>1
         b read x y
         b saw x=1 y=0
         a ok",
        expect![[r#"
            [0, 1]
            no order explains these operations:
            the mwread(x = 1, y = 0) by process b saw y = 0, which the mwcas(x: 0→1, y: 0→1) by process a replaced;
            the mwread(x = 1, y = 0) by process b saw x = 1, which the mwcas(x: 0→1, y: 0→1) by process a wrote
        "#]],
    );
}

#[test]
fn a_swap_that_replaced_a_replaced_value() {
    check(
        "a swap x:0>1
         a ok
         a swap x:1>2
         b swap x:1>3
         a ok
         b ok",
        expect![[r#"
            [1, 2]
            the mwcas(x: 1→2) by process a and the mwcas(x: 1→3) by process b both replaced x = 1, but 1 was there only once
        "#]],
    );
}

#[test]
fn a_failure_at_the_wrong_location() {
    check(
        "r read x y
         r saw x=0 y=0
         a swap x:0>1 y:0>1
         b swap y:0>2
         b ok
         a fail x
         c swap x:0>3
         c ok",
        expect![[r#"
            [1, 3]
            no order explains these operations:
            the mwcas(x: 0→1, y: 0→1) by process a returned before the mwcas(x: 0→3) by process c was called;
            the mwcas(x: 0→1, y: 0→1) by process a can have failed at x only after the mwcas(x: 0→3) by process c, which replaced the 0 there
        "#]],
    );
}

#[test]
fn a_failure_without_a_reason() {
    check(
        "r read x y
         r saw x=0 y=0
         a swap x:0>1 y:0>1
         a false",
        expect![[r#"
            [1]
            no order explains these operations:
            the mwcas(x: 0→1, y: 0→1) by process a failed, but nothing replaced the x = 0 and y = 0 that it expected
        "#]],
    );
    check_unknown(
        "r read x
         r saw x=0
         a swap x:0>1
         a fail x",
        expect![[r#"
            [0, 1]
            no order explains these operations:
            the mwcas(x: 0→1) by process a failed, but nothing replaced the x = 0 that it expected
        "#]],
    );
}

#[test]
fn a_failure_that_says_only_false_waits_for_either_location() {
    check(
        "a swap x:0>1 y:0>1
         b swap y:0>2
         a false
         b ok",
        expect![[r#"
            [1, 0]
        "#]],
    );
    check(
        "a swap x:0>1 y:0>1
         a false
         b swap x:0>2
         b ok
         c swap y:0>2
         c ok",
        expect![[r#"
            [0, 1, 2]
            no order explains these operations:
            the mwcas(x: 0→1, y: 0→1) by process a can have failed at x only after the mwcas(x: 0→2) by process b, which replaced the 0 there;
            the mwcas(x: 0→1, y: 0→1) by process a can have failed at y only after the mwcas(y: 0→2) by process c, which replaced the 0 there;
            the mwcas(x: 0→1, y: 0→1) by process a returned before the mwcas(x: 0→2) by process b was called;
            the mwcas(x: 0→1, y: 0→1) by process a returned before the mwcas(y: 0→2) by process c was called
        "#]],
    );
}

#[test]
fn answers_that_no_memory_gives() {
    check(
        "a swap x:0>1\na fail y",
        expect![[r#"
            [0]
            the mwcas(x: 0→1) by process a failed, but not at a location that it names
        "#]],
    );
    check(
        "a swap x:0>1\na saw x=0",
        expect![[r#"
            [0]
            the mwcas(x: 0→1) by process a failed although it saw all that it expected
        "#]],
    );
    check(
        "a read x\na saw y=0",
        expect![[r#"
            [0]
            the mwread(y = 0) by process a answers about other locations than it was asked about
        "#]],
    );
    check(
        "a read x\na saw x=7",
        expect![[r#"
            [0]
            the mwread(x = 7) by process a saw x = 7, which no operation had been called to write
        "#]],
    );
    check_unknown(
        "a read x\na saw x=7\nb read x\nb saw x=8",
        expect![[r#"
            [0, 1]
            the mwread(x = 8) by process b saw x = 8, which no operation had been called to write, and which x did not hold at the start either, as the mwread(x = 7) by process a saw 7 there, which no operation had been called to write either
        "#]],
    );
}

#[test]
fn assumptions() {
    check(
        "a swap x:0>1\na ok\nb swap x:1>0\nb ok",
        expect![[r#"
            not applicable: the mwcas(x: 1→0) by process b writes 0 to x, which it held at the start
        "#]],
    );
    check(
        "a swap x:0>1\na ok\nb swap x:1>2\nc swap x:2>1\nb ok",
        expect![[r#"
            not applicable: the unfinished mwcas(x: 2→1) by process c writes 1 to x, which the mwcas(x: 0→1) by process a writes too
        "#]],
    );
    check(
        "b swap y:0>2 x:1>2\na swap x:0>1\na ok\nb saw y=0\nc swap x:1>3\nc ok",
        expect![[r#"
            not applicable: the mwcas(y: 0→2, x: 1→2) by process b expected x = 1 without anyone having seen or written that before it was called, so it may have failed because 1 was not there yet or because it was not there any more, and it also depends on what others did
        "#]],
    );
    check_unknown(
        "a read x\na saw x=1\nb swap x:0>1",
        expect![[r#"
            not applicable: nothing tells what x held at the start: it may have been the 1 that the mwread(x = 1) by process a saw there, although that was also written
        "#]],
    );
    check(
        "a swap x:0>1 x:0>2\na ok",
        expect![[r#"
            not applicable: the mwcas(x: 0→1, x: 0→2) by process a names a location twice
        "#]],
    );
}

#[test]
fn crash_models_differ() {
    // The swap of a crashed; b saw the old value after the crash, and the new one later.
    let text = "a swap x:0>1
                crash a
                b read x
                b saw x=0
                a read y
                b read x
                b saw x=1
                a saw y=0";
    let under = |property| verdict_under(property, text, Some(0.into()));
    expect![[r#"
        [0, 1, 3]
        no order explains these operations:
        the unfinished mwcas(x: 0→1) by process a, which was interrupted, took effect before the mwread(x = 0) by process b was called;
        the mwread(x = 0) by process b saw x = 0, which the unfinished mwcas(x: 0→1) by process a replaced
    "#]].assert_eq(&under(Property::Strict));
    expect![[r#"
        [1, 0, 2, 3]
    "#]]
    .assert_eq(&under(Property::Recoverable));
    expect![[r#"
        [1, 2, 0, 3]
    "#]]
    .assert_eq(&under(Property::Durable));
    // Now a itself sees the old value after the crash: its swap may not come later.
    let text = "a swap x:0>1
                crash a
                a read x
                a saw x=0
                b read x
                b saw x=1";
    let under = |property| verdict_under(property, text, Some(0.into()));
    expect![[r#"
        [0, 1, 2]
        no order explains these operations:
        the mwread(x = 0) by process a saw x = 0, which the unfinished mwcas(x: 0→1) by process a replaced;
        the unfinished mwcas(x: 0→1) by process a was interrupted, so it came before the mwread(x = 0) by process a, which its process called next
    "#]].assert_eq(&under(Property::Recoverable));
    expect![[r#"
        [1, 0, 2]
    "#]]
    .assert_eq(&under(Property::Durable));
}

#[test]
fn only_one_of_two_crashed_swaps_can_explain() {
    // Both failures need a crashed swap, but the two candidates exclude each other at z.
    check(
        "r read x y z
         r saw x=0 y=0 z=0
         a swap x:0>1 z:0>1
         b swap y:0>1 z:0>2
         c swap x:0>9
         c fail x
         c swap y:0>9
         c fail y",
        expect![[r#"
            [1, 2, 3, 4]
            no order explains these operations:
            the mwcas(x: 0→9) by process c failed, but nothing that finished replaced the x = 0 that it expected;
            the mwcas(y: 0→9) by process c failed, but nothing that finished replaced the y = 0 that it expected;
            the unfinished mwcas(y: 0→1, z: 0→2) by process b and the unfinished mwcas(x: 0→1, z: 0→1) by process a cannot both have replaced z = 0
        "#]],
    );
    // A candidate that would have been seen too early.
    check(
        "a swap x:0>1 y:0>1
         c swap x:0>9
         c fail x
         r read y
         r saw y=0",
        expect![[r#"
            [0, 1, 2]
            no order explains these operations:
            the mwcas(x: 0→9) by process c failed, but nothing that finished replaced the x = 0 that it expected;
            the mwcas(x: 0→9) by process c returned before the mwread(y = 0) by process r was called;
            the mwread(y = 0) by process r saw y = 0, which the unfinished mwcas(x: 0→1, y: 0→1) by process a replaced;
            the mwcas(x: 0→9) by process c can have failed at x only after the unfinished mwcas(x: 0→1, y: 0→1) by process a, which replaced the 0 there
        "#]],
    );
}

/// An end at the very event of another's call does not come before it: the failure may have been
/// first.
#[test]
fn a_deadline_at_the_call() {
    let mut history = parse(
        "w swap x:0>1
         f swap x:1>5
         f fail x
         r read x
         r saw x=1",
    );
    history.operations[0].returned = history.operations[1].invoked;
    assert!(is_linearizable(&history, Some(&0.into()), false));
    let answer = mwcas::check(&history, Some(&0.into()), &Limits::default());
    assert!(matches!(answer, Ok(Judgement::Holds(_))), "{answer:?}");
}

/// `failures` swaps failed, each at a location of its own; each crashed swap explains one and takes
/// one of `places`.
fn pigeons(failures: usize, places: usize) -> History {
    let mut text = String::new();
    for failure in 0..failures {
        for place in 0..places {
            text +=
                &format!("c{failure}.{place} swap x{failure}:0>{place}1 z{place}:0>{failure}1\n");
        }
    }
    for failure in 0..failures {
        text += &format!("f swap x{failure}:0>7\nf fail x{failure}\n");
    }
    parse(&text)
}

#[test]
fn gives_up_rather_than_guess() {
    let check = |history: &History, limits: &Limits| mwcas::check(history, Some(&0.into()), limits);
    let enough = check(&pigeons(6, 6), &Limits::default());
    assert!(matches!(enough, Ok(Judgement::Holds(_))), "{enough:?}");
    let short = check(&pigeons(4, 3), &Limits::default());
    assert!(matches!(short, Ok(Judgement::Violated(_))), "{short:?}");
    let hard = check(&pigeons(11, 10), &Limits::default());
    let Ok(Judgement::Inconclusive(reason)) = hard else { panic!("{hard:?}") };
    expect![
        "too many ways to choose which unfinished swaps took effect, to explain those that failed"
    ]
    .assert_eq(&reason.to_string());
    let stop = StopFlag::default();
    stop.ask(StopReason::Interrupt);
    let stopped = Limits::until(stop);
    let stopped = check(&pigeons(4, 3), &stopped);
    assert_eq!(stopped, Ok(Judgement::from(StopReason::Interrupt)));
}

/// What a swap expected may not have been there yet, though no operation saw it before: no other
/// method is needed.
#[test]
fn a_failure_that_came_too_early() {
    check(
        "b swap x:1>2\na swap x:0>1\na ok\nb fail x",
        expect![[r#"
        [0, 1]
    "#]],
    );
    check(
        "a swap x:0>1\nb swap x:1>2\nr read y\nr saw y=0\na ok\nb fail x",
        expect![[r#"
        [2, 1, 0]
    "#]],
    );
    check(
        "a swap x:0>1 y:0>1\nr read y\nr saw y=1\nb swap x:1>2\nb fail x\na ok",
        expect![[r#"
            [0, 1, 2]
            no order explains these operations:
            the mwread(y = 1) by process r returned before the mwcas(x: 1→2) by process b was called;
            the mwcas(x: 1→2) by process b can have failed at x only before the mwcas(x: 0→1, y: 0→1) by process a, which wrote the 1 there that nothing replaced;
            the mwread(y = 1) by process r saw y = 1, which the mwcas(x: 0→1, y: 0→1) by process a wrote
        "#]],
    );
    check(
        "a swap x:0>1 y:0>1\nd swap y:1>2 z:0>1\nr read z\nr saw z=1\nb swap x:1>2\na ok\nb fail x\nd ok\nc swap x:1>3\nc ok",
        expect![[r#"
            [0, 1, 2, 3, 4]
            no order explains these operations:
            the mwcas(x: 1→2) by process b returned before the mwcas(x: 1→3) by process c was called;
            the mwcas(x: 1→2) by process b can have failed at x only after the mwcas(x: 1→3) by process c, which replaced the 1 there;
            the mwcas(y: 1→2, z: 0→1) by process d saw y = 1, which the mwcas(x: 0→1, y: 0→1) by process a wrote;
            the mwread(z = 1) by process r saw z = 1, which the mwcas(y: 1→2, z: 0→1) by process d wrote;
            the mwread(z = 1) by process r returned before the mwcas(x: 1→2) by process b was called, so the mwcas(x: 0→1, y: 0→1) by process a had written x = 1 by then
        "#]],
    );
}
