//! Scenarios: all of them, each once, and by chance.

use linchpin_harness::{Alphabet, OperationInfo, Plan, Scenario, Scenarios, Test, fresh};
use std::collections::HashSet;
use std::sync::Mutex;

/// Two operations, of which one takes a fresh value: two calls to choose from.
fn stack() -> Vec<OperationInfo> {
    let test = Test::new("stack", || Mutex::new(Vec::<u64>::new()))
        .spec("stack")
        .op("push", (fresh,), |stack, (value,)| stack.lock().unwrap().push(value))
        .op("pop", (), |stack, ()| stack.lock().unwrap().pop());
    test.definition().expect("a test").0.subject.operations
}

/// Six calls to choose from.
fn map() -> Vec<OperationInfo> {
    let test = Test::new("map", || ())
        .spec("map")
        .op("put", (0..2_u8, [5, 7]), |(), (_, _): (u8, i32)| None::<u8>)
        .op("get", (0..2_u8,), |(), (_,)| None::<u8>);
    test.definition().expect("a test").0.subject.operations
}

fn shown(operations: &[OperationInfo], scenario: &Scenario) -> String {
    scenario.shown(operations).to_string()
}

/// The scenario up to the order of its threads, by brute force: the smallest of all orders, with
/// fresh values left out.
fn canonical(scenario: &Scenario) -> Vec<Vec<usize>> {
    let thread = |calls: &Vec<linchpin_harness::Call>| {
        calls.iter().map(|call| call.operation).collect::<Vec<usize>>()
    };
    let mut threads: Vec<Vec<usize>> = scenario.threads.iter().map(thread).collect();
    threads.sort();
    threads
}

#[test]
fn there_are_as_many_as_multisets_of_threads() {
    let stack = stack();
    for (threads, ops, expected) in [(1, 1, 2), (2, 1, 3), (2, 2, 10), (3, 2, 20), (2, 3, 36)] {
        let all: Vec<Scenario> = Scenarios::new(&stack, threads, ops).collect();
        assert_eq!(all.len(), expected, "{threads} threads, {ops} operations");
        assert_eq!(Scenarios::new(&stack, threads, ops).total(threads), Some(expected as u128));
        let different: HashSet<_> = all.iter().map(canonical).collect();
        assert_eq!(different.len(), expected);
    }
    let map = map();
    assert_eq!(Alphabet::new(&map).len(), 6);
    assert_eq!(Scenarios::new(&map, 2, 2).count(), 36 * 37 / 2);
    assert_eq!(Scenarios::new(&map, 40, 40).total(40), None);
}

#[test]
fn fresh_values_are_numbered_in_order() {
    let stack = stack();
    let all: Vec<String> =
        Scenarios::new(&stack, 2, 2).map(|scenario| shown(&stack, &scenario)).collect();
    assert_eq!(all[0], "{ push(1), push(2) } | { push(3), push(4) }");
    assert_eq!(all.last().map(String::as_str), Some("{ pop, pop } | { pop, pop }"));
}

#[test]
fn chance_draws_what_the_seed_says() {
    let map = map();
    let draw = |seed| {
        let mut random = fastrand::Rng::with_seed(seed);
        Alphabet::new(&map).scenario(&mut random, 3, 4, 1)
    };
    assert_eq!(draw(7), draw(7));
    assert!((0..20).any(|seed| draw(seed) != draw(7)));
    for seed in 0..100 {
        let scenario = draw(seed);
        assert_eq!(scenario.len(), 12);
        for call in scenario.threads.iter().flatten() {
            assert!((map[call.operation].accepts)(&call.arguments));
        }
    }
}

#[test]
fn a_scenario_that_makes_no_sense_is_a_mistake() {
    use linchpin_harness::NamedCall;
    let test = |call: NamedCall| {
        let test = Test::new("stack", || Mutex::new(Vec::<u8>::new()))
            .spec("stack")
            .plan(Plan::native())
            .op("push", (fresh,), |stack, (value,)| stack.lock().unwrap().push(value))
            .scenario(vec![vec![call]]);
        test.definition().err().map(|mistake| mistake.to_string()).unwrap_or_default()
    };
    let called = |name: &str, arguments| test(NamedCall::new(name, arguments));
    assert!(called("pull", vec![]).contains("calls `pull`, which the test does not define"));
    assert!(called("push", vec![]).contains("cannot take: []"));
    assert!(called("push", vec![300.into()]).contains("cannot take: [300]"));
    assert_eq!(called("push", vec![7.into()]), "");
}
