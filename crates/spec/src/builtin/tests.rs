//! What holds of all built-in specifications.

use super::*;
use crate::{Call, Shape};
use expect_test::expect;
use std::env;
use std::fmt::Write;

#[test]
fn the_table_of_operations() {
    let mut table = String::new();
    for info in BUILTINS {
        let spec = builtin(info.name, None).unwrap();
        let operations: Vec<String> = spec.operations().iter().map(|o| o.to_string()).collect();
        writeln!(table, "{}: {}", info.name, operations.join("; ")).unwrap();
    }
    expect![[r#"
        register: write value; read → value
        cas-register: write value; read → value; cas [value, value] → bool
        multi-register: txn [[r|w|read|write, value, value], …] → [[r|w|read|write, value, value], …]
        list-append: txn [[append|r|read, value, value], …] → [[append|r|read, value, value], …]
        kv: get value → string; put [value, string]; append [value, string]
        queue: enqueue value; dequeue → value or null; peek → value or null
        bounded-queue: enqueue value → bool; dequeue → value or null
        unordered-queue: enqueue value; dequeue → value or null
        stack: push value; pop → value or null; peek → value or null
        priority-queue: insert value; remove-min → value or null
        set: add value → bool; remove value → bool; contains value → bool
        grow-set: add value; read → [value, …]
        map: put [value, value] → value or null; get value → value or null; remove value → value or null
        bank: transfer {from: value, to: value, amount: int}; read → [[value, int], …]
        counter: add int; read → int; fetch-add int → int
        mutex: acquire; release
        semaphore: acquire; release
        snapshot: update [int, value]; scan → [value, …]
        mwcas: mwread [[value, null], …] → [[value, value], …]; mwcas [[value, value, value], …] → value
        rdcss: rdcss [value, value, value] → value; read → value; write-control value; cas-control [value, value] → bool
        snzi: arrive; depart; query → bool
        mailbox: deliver; check → bool; remove
        etcd: range [string, string, int, int] → value; txn value → value; lease-grant int → value; lease-revoke int → value; compact int → value; defragment
        s2-stream: append [int, string or null, string or null, int or null] → int or null; read → int; check-tail → int
    "#]].assert_eq(&table);
}

#[test]
fn the_indices_are_those_of_the_operations() {
    fn check(spec: impl Spec, names: &[&str], indices: &[usize]) {
        assert_eq!(spec.operations().len(), names.len());
        let found: Vec<usize> = names.iter().filter_map(|name| spec.operation(name)).collect();
        assert_eq!(found, indices);
    }
    check(Register::default(), &["write", "read"], &[Register::WRITE, Register::READ]);
    check(
        CasRegister::default(),
        &["write", "read", "cas"],
        &[CasRegister::WRITE, CasRegister::READ, CasRegister::CAS],
    );
    check(MultiRegister::default(), &["txn"], &[MultiRegister::TXN]);
    check(ListAppend::default(), &["txn"], &[ListAppend::TXN]);
    check(Kv::default(), &["get", "put", "append"], &[Kv::GET, Kv::PUT, Kv::APPEND]);
    check(
        Queue::default(),
        &["enqueue", "dequeue", "peek"],
        &[Queue::ENQUEUE, Queue::DEQUEUE, Queue::PEEK],
    );
    let indices = [BoundedQueue::ENQUEUE, BoundedQueue::DEQUEUE];
    check(BoundedQueue::default(), &["enqueue", "dequeue"], &indices);
    check(
        UnorderedQueue::default(),
        &["enqueue", "dequeue"],
        &[UnorderedQueue::ENQUEUE, UnorderedQueue::DEQUEUE],
    );
    check(GrowSet::default(), &["add", "read"], &[GrowSet::ADD, GrowSet::READ]);
    check(Bank::default(), &["transfer", "read"], &[Bank::TRANSFER, Bank::READ]);
    check(Stack::default(), &["push", "pop", "peek"], &[Stack::PUSH, Stack::POP, Stack::PEEK]);
    check(
        PriorityQueue::default(),
        &["insert", "remove_min"],
        &[PriorityQueue::INSERT, PriorityQueue::REMOVE_MIN],
    );
    check(Set::default(), &["add", "remove", "contains"], &[Set::ADD, Set::REMOVE, Set::CONTAINS]);
    check(Map::default(), &["put", "get", "remove"], &[Map::PUT, Map::GET, Map::REMOVE]);
    check(
        Counter::default(),
        &["add", "read", "fetch_add"],
        &[Counter::ADD, Counter::READ, Counter::FETCH_ADD],
    );
    check(Mutex::default(), &["acquire", "release"], &[Mutex::ACQUIRE, Mutex::RELEASE]);
    let permits = [Semaphore::ACQUIRE, Semaphore::RELEASE];
    check(Semaphore::default(), &["acquire", "release"], &permits);
    check(Snapshot::default(), &["update", "scan"], &[Snapshot::UPDATE, Snapshot::SCAN]);
    check(Mwcas::default(), &["mwread", "mwcas"], &[Mwcas::MWREAD, Mwcas::MWCAS]);
    check(
        Rdcss::default(),
        &["rdcss", "read", "write_control", "cas_control"],
        &[Rdcss::RDCSS, Rdcss::READ, Rdcss::WRITE_CONTROL, Rdcss::CAS_CONTROL],
    );
    check(
        Snzi::default(),
        &["arrive", "depart", "query"],
        &[Snzi::ARRIVE, Snzi::DEPART, Snzi::QUERY],
    );
    check(
        Mailbox::default(),
        &["deliver", "check", "remove"],
        &[Mailbox::DELIVER, Mailbox::CHECK, Mailbox::REMOVE],
    );
    let indices = [S2Stream::APPEND, S2Stream::READ, S2Stream::CHECK_TAIL];
    check(S2Stream::default(), &["append", "read", "check_tail"], &indices);
    check(
        Etcd::default(),
        &["range", "txn", "lease_grant", "lease_revoke", "compact", "defragment"],
        &[
            Etcd::RANGE,
            Etcd::TXN,
            Etcd::LEASE_GRANT,
            Etcd::LEASE_REVOKE,
            Etcd::COMPACT,
            Etcd::DEFRAGMENT,
        ],
    );
}

#[test]
fn dash_and_underscore_are_the_same_letter() {
    assert!(builtin("cas_register", None).is_ok());
    assert!(builtin("priority-queue", None).is_ok());
    assert_eq!("rw_register".parse(), Ok(Builtin::MultiRegister));
}

#[test]
fn mistakes() {
    let mut messages = String::new();
    let object = Value::map([("k".into(), 1.into())]);
    for (name, init) in [
        ("hashmap", None),
        ("cas-registr", None),
        ("queue", Some(Value::Null)),
        ("kv", Some(object)),
        ("semaphore", Some(Value::Int(-1))),
        ("snapshot", Some(Value::Int(i64::MAX))),
        ("rdcss", Some(Value::Int(0))),
        ("bounded-queue", Some(Value::Int(0))),
    ] {
        let mistake = builtin(name, init.as_ref()).err().unwrap();
        writeln!(messages, "{mistake}").unwrap();
    }
    expect![[r#"
        there is no built-in specification `hashmap`; there are register, cas-register, multi-register, list-append, kv, queue, bounded-queue, unordered-queue, stack, priority-queue, set, grow-set, map, bank, counter, mutex, semaphore, snapshot, mwcas, rdcss, snzi, mailbox, etcd, s2-stream
        there is no built-in specification `cas-registr` (did you mean `cas-register`?); there are register, cas-register, multi-register, list-append, kv, queue, bounded-queue, unordered-queue, stack, priority-queue, set, grow-set, map, bank, counter, mutex, semaphore, snapshot, mwcas, rdcss, snzi, mailbox, etcd, s2-stream
        `queue` cannot start from `null`; its initial value is a list of values, front first (default: [])
        `kv` cannot start from `{"k": 1}`; its initial value is an object from key to string (default: {}, all of them "")
        `semaphore` cannot start from `-1`; its initial value is the number of permits (default: 1)
        `snapshot` cannot start from `9223372036854775807`; its initial value is a list of components, or how many there are, at most 65536, all null (default: 2)
        `rdcss` cannot start from `0`; its initial value is a list of the control cell and the data cell (default: [0, 0])
        `bounded-queue` cannot start from `0`; its initial value is the capacity, a positive integer (it must be given)
    "#]].assert_eq(&messages);
}

#[test]
fn initial_values() {
    let state = |name, init| builtin(name, Some(&init)).unwrap().initial().to_string();
    let numbers = || Value::list([3.into(), 1.into()]);
    assert_eq!(state("cas-register", Value::Int(5)), "5");
    assert_eq!(state("stack", numbers()), "[3, 1]");
    assert_eq!(state("priority-queue", numbers()), "[1, 3]");
    assert_eq!(state("set", numbers()), "{1, 3}");
    assert_eq!(state("snapshot", Value::Int(3)), "[null, null, null]");
    assert_eq!(state("mutex", Value::Bool(true)), "true");

    let first = |name: &str, init, operation, argument| {
        let spec = builtin(name, Some(&init)).unwrap();
        let call = Call { operation, argument };
        spec.apply(&spec.initial(), &call, None).remove(0).response.to_string()
    };
    let object = |value| Value::map([("7".into(), value)]);
    let location = |key| Value::list([Value::list([key, Value::Null])]);
    let access = |key| Value::list([Value::list(["r".into(), key, Value::Null])]);
    assert_eq!(first("map", object(1.into()), Map::GET, 7.into()), "1");
    assert_eq!(first("kv", object("a".into()), Kv::GET, "7".into()), "\"a\"");
    assert_eq!(first("mwcas", 1.into(), Mwcas::MWREAD, location(3.into())), "[[3, 1]]");
    assert_eq!(first("mwcas", object(1.into()), Mwcas::MWREAD, location(7.into())), "[[7, 1]]");
    let registers = |init, key| first("multi-register", init, MultiRegister::TXN, access(key));
    assert_eq!(registers(1.into(), 3.into()), r#"[["r", 3, 1]]"#);
    assert_eq!(registers(object(1.into()), 3.into()), r#"[["r", 3, null]]"#);
}

#[test]
fn counting_never_wraps_around() {
    let counter = Counter::new(i64::MAX);
    for operation in [Counter::ADD, Counter::FETCH_ADD] {
        let call = |by: i64| Call { operation, argument: by.into() };
        let beyond = counter.apply(&counter.initial(), &call(1), None).remove(0).state;
        assert_eq!(beyond, Value::str("9223372036854775808"));
        let read = Call { operation: Counter::READ, argument: Value::Null };
        assert!(counter.apply(&beyond, &read, Some(&i64::MIN.into())).is_empty());
        let back = counter.apply(&beyond, &call(-2), None).remove(0).state;
        assert_eq!(back, Value::Int(i64::MAX - 1));
    }
    let snzi = Snzi::default();
    let arrive = Call { operation: Snzi::ARRIVE, argument: Value::Null };
    assert!(snzi.apply(&Value::Int(i64::MAX), &arrive, None).is_empty());
}

fn rng() -> fastrand::Rng {
    let seed = env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("SEED={seed}");
    fastrand::Rng::with_seed(seed)
}

/// A value of this shape; small ones, so that they meet.
fn random_value(random: &mut fastrand::Rng, shape: &Shape) -> Value {
    match shape {
        Shape::Unit => Value::Null,
        Shape::Bool => random.bool().into(),
        Shape::Int | Shape::Any => random.i64(0..3).into(),
        Shape::Str => random.choice(["r", "w", "", "a"]).unwrap().into(),
        Shape::Word(words) => (*random.choice(*words).unwrap()).into(),
        Shape::Optional(_) if random.bool() => Value::Null,
        Shape::Optional(inner) => random_value(random, inner),
        Shape::Tuple(items) => Value::list(items.iter().map(|item| random_value(random, item))),
        Shape::Record(fields) => {
            Value::list(fields.iter().map(|(_, item)| random_value(random, item)))
        }
        Shape::List(item) => {
            Value::list((0..random.usize(0..3)).map(|_| random_value(random, item)))
        }
    }
}

/// A value that need not make sense anywhere.
fn random_junk(random: &mut fastrand::Rng, depth: u32) -> Value {
    let items = |random: &mut fastrand::Rng| -> Vec<Value> {
        let count = if depth == 0 { 0 } else { random.usize(..4) };
        (0..count).map(|_| random_junk(random, depth - 1)).collect()
    };
    match random.u8(..9) {
        0 => Value::Null,
        1 => random.bool().into(),
        2 => random.i64(-1..3).into(),
        3 => random.choice([i64::MIN, i64::MAX]).unwrap().into(),
        4 => (*random.choice(&["r", "w", "failed", "read", ""]).unwrap()).into(),
        5 | 6 => Value::list(items(random)),
        7 => Value::Set(std::sync::Arc::new(items(random).into_iter().collect())),
        _ => Value::map(items(random).into_iter().map(|value| ("read".into(), value))),
    }
}

#[test]
fn a_known_response_selects_among_the_outcomes() {
    let mut random = rng();
    // `mwcas` learns from answers; of those of `etcd` and `s2-stream` not all need be known.
    let several = [Builtin::Mwcas, Builtin::Etcd, Builtin::S2Stream, Builtin::UnorderedQueue];
    for info in BUILTINS.iter().filter(|info| !several.contains(&info.builtin)) {
        let spec = builtin(info.name, None).unwrap();
        let mut state = spec.initial();
        let (mut confirmed, mut refuted) = (0, 0);
        for round in 0..2_000 {
            if round % 20 == 0 {
                state = spec.initial();
            }
            let operation = random.usize(..spec.operations().len());
            let signature = &spec.operations()[operation];
            let argument = random_value(&mut random, &signature.argument);
            let call = Call { operation, argument };
            let outcomes = spec.apply(&state, &call, None);
            assert!(outcomes.len() <= 1, "{} is deterministic", info.name);

            let random_response = random_value(&mut random, &signature.response);
            let known = outcomes.iter().map(|outcome| outcome.response.clone());
            for response in known.chain([random_response, Value::Null]) {
                let mut selected = outcomes.clone();
                if signature.response != Shape::Unit {
                    let written = spec.canonical(operation, response.clone());
                    selected.retain(|outcome| outcome.response == written);
                    selected.iter_mut().for_each(|it| it.response.clone_from(&response));
                }
                if selected.is_empty() {
                    refuted += 1
                } else {
                    confirmed += 1
                }
                assert_eq!(spec.apply(&state, &call, Some(&response)), selected, "{call:?}");
            }
            if let Some(outcome) = outcomes.into_iter().next() {
                state = outcome.state;
            }
        }
        assert!(confirmed > 500 && refuted > 100, "{}: {confirmed}, {refuted}", info.name);
    }
}

#[test]
fn nothing_panics() {
    let mut random = rng();
    for _ in 0..20_000 {
        let info = random.choice(BUILTINS).unwrap();
        let junk = random_junk(&mut random, 3);
        let spec = builtin(info.name, Some(&junk)).or_else(|_| builtin(info.name, None)).unwrap();
        let mut state = spec.initial();
        for _ in 0..4 {
            let operation = random.usize(..4);
            let call = Call { operation, argument: random_junk(&mut random, 3) };
            let response = random.bool().then(|| random_junk(&mut random, 3));
            spec.apply(&random_junk(&mut random, 2), &call, response.as_ref());
            if let Some(outcome) = spec.apply(&state, &call, response.as_ref()).pop() {
                state = outcome.state;
            }
        }
    }
}

/// What a transaction does depends neither on whether its answer is known nor on how it is spelled
/// in the state, and one that says that it only looks does.
#[test]
fn transactions_whose_answer_is_known() {
    let accesses: Vec<Value> = ["r", "w"]
        .into_iter()
        .flat_map(|kind| (0..2).map(move |key| (kind, key)))
        .flat_map(|(kind, key)| [Value::Null, 1.into()].map(|value| (kind, key, value)))
        .map(|(kind, key, value)| Value::list([kind.into(), key.into(), value]))
        .collect();
    let pairs = accesses.iter().flat_map(|one| accesses.iter().map(move |two| [one, two]));
    let calls: Vec<Call> = pairs
        .map(|pair| Value::list(pair.into_iter().cloned()))
        .map(|argument| Call { operation: MultiRegister::TXN, argument })
        .collect();
    let registers = MultiRegister::default();
    let mut states = vec![registers.initial()];
    for call in &calls {
        let after = registers.apply(&states[0], call, None).remove(0).state;
        if !states.contains(&after) {
            states.push(after);
        }
    }
    assert_eq!(states.len(), 4);
    for (state, call) in states.iter().flat_map(|state| calls.iter().map(move |call| (state, call)))
    {
        let expected = registers.apply(state, call, None).remove(0);
        assert!(expected.state == *state || registers.only_looks(call) == Some(false));
        for answered in &states {
            let known = registers.apply(answered, call, None).remove(0).response;
            let found = registers.apply(state, call, Some(&known)).into_iter().next();
            assert_eq!(found, (known == expected.response).then(|| expected.clone()), "{call:?}");
        }
        assert!(registers.apply(state, call, Some(&Value::Null)).is_empty());
        assert!(registers.apply(state, call, Some(&Value::list([]))).is_empty());
    }
}
