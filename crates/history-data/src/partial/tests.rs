//! Orders and their closure, against definitions that are spelled out.

use super::*;
use crate::Operation;
use linchpin_spec::{Queue, Spec, Value};

/// A random relation, with edges in any direction or, if `forward`, from lower to higher only.
fn relation(random: &mut fastrand::Rng, count: usize, forward: bool) -> Vec<u64> {
    let mut before = vec![0; count];
    for _ in 0..random.usize(0..=2 * count) {
        let (first, second) = (random.usize(0..count), random.usize(0..count));
        if !forward || first < second {
            before[second] |= 1 << first;
        }
    }
    before
}

/// Whether `to` is reached from `from` by one step or more.
fn reaches(before: &[u64], from: usize, to: usize) -> bool {
    let mut seen = vec![false; before.len()];
    let mut todo = vec![from];
    while let Some(at) = todo.pop() {
        for next in 0..before.len() {
            if before[next] >> at & 1 != 0 && !std::mem::replace(&mut seen[next], true) {
                todo.push(next);
            }
        }
    }
    seen[to]
}

#[test]
fn the_closure_is_what_is_reached() {
    let mut cyclic = 0;
    for seed in 0..2000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let count = if seed % 50 == 0 { 64 } else { random.usize(1..=9) };
        let forward = random.u8(0..4) > 0;
        let before = relation(&mut random, count, forward);
        let has_cycle = (0..count).any(|at| reaches(&before, at, at));
        let Ok(order) = Precedence::new(&before) else {
            assert!(has_cycle, "seed {seed}");
            cyclic += 1;
            continue;
        };
        assert!(!has_cycle, "seed {seed}");
        for (first, second) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
            let (one, two) = (OpId::new(first), OpId::new(second));
            assert_eq!(order.precedes(one, two), reaches(&before, first, second), "seed {seed}");
            assert_eq!(order.after()[first] >> second & 1 != 0, order.precedes(one, two));
        }
        // The steps are enough, and none can be missed.
        let steps: Vec<(OpId, OpId)> = order.steps().collect();
        let closed = |steps: &[(OpId, OpId)]| {
            let mut before = vec![0; count];
            for (first, second) in steps {
                before[second.index()] |= 1 << first.index();
            }
            Precedence::new(&before).expect("no cycle")
        };
        assert_eq!(closed(&steps), order, "seed {seed}");
        for left_out in 0..steps.len() {
            let mut fewer = steps.clone();
            fewer.remove(left_out);
            assert_ne!(closed(&fewer), order, "seed {seed}");
        }
    }
    assert!(cyclic > 50, "{cyclic}");
}

#[test]
fn intervals_are_found_where_there_are_no_two_chains_apart() {
    let queue = Queue::default();
    let (mut of_intervals, mut others) = (0, 0);
    for seed in 0..3000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let count = random.usize(3..=9);
        let before = relation(&mut random, count, true);
        let mut builder = PartialBuilder::new(queue.operations());
        for at in 0..count {
            let response = random.bool().then_some(Value::Null);
            builder.push(0, 0, Value::Int(at as i64), response).expect("fits");
        }
        for (first, second) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
            if before[second] >> first & 1 != 0 {
                builder.precedes(OpId::new(first), OpId::new(second)).expect("is there");
            }
        }
        let history = builder.build().expect("no cycle");
        let order = history.order();
        // The definition: a < b and c < d imply a < d or c < b.
        let ids = || history.operations().ids();
        let pairs = || ids().flat_map(|a| ids().map(move |b| (a, b)));
        let chains = || pairs().filter(|(a, b)| order.precedes(*a, *b));
        let is = chains()
            .all(|(a, b)| chains().all(|(c, d)| order.precedes(a, d) || order.precedes(c, b)));
        assert_eq!(order.is_of_intervals(), is, "seed {seed}");
        let Some(intervals) = history.intervals() else {
            others += 1;
            assert!(!is, "seed {seed}");
            continue;
        };
        of_intervals += 1;
        let operations: Vec<(OpId, &Operation)> = intervals.history.iter().collect();
        assert!(operations.is_sorted_by_key(|(_, operation)| operation.invoked), "seed {seed}");
        for (one, first) in &operations {
            let back = intervals.id(*one);
            assert_eq!(history.operations()[back].argument, first.argument, "seed {seed}");
            assert!(first.invoked < first.returned, "seed {seed}");
            for (two, second) in &operations {
                let precedes = order.precedes(back, intervals.id(*two));
                assert_eq!(first.precedes(second), precedes, "seed {seed}");
            }
        }
    }
    assert!(of_intervals > 500 && others > 500, "{of_intervals}, {others}");
}

#[test]
fn what_cannot_be_is_refused() {
    assert_eq!(Precedence::new(&[0; 65]), Err(PartialError::TooMany(65)));
    assert_eq!(Precedence::new(&[1]), Err(PartialError::Cycle(OpId::new(0))));
    assert_eq!(Precedence::new(&[2]), Err(PartialError::NoSuchOperation(OpId::new(1))));
    assert!(Precedence::new(&[0; 64]).is_ok() && Precedence::new(&[]).is_ok());
    let order = Precedence::new(&[0]).expect("one");
    assert!(PartialHistory::new(History::default(), order.clone()).is_err());
    assert!(!order.precedes(OpId::new(0), OpId::new(70)));
    assert!(!order.precedes(OpId::new(70), OpId::new(0)));
    let mut builder = PartialBuilder::new(Queue::default().operations());
    assert_eq!(builder.push(0, 9, Value::Null, None), Err(PartialError::NoSuchCall(9)));
    for at in 0..64 {
        assert_eq!(builder.push(0, 1, Value::Null, None), Ok(OpId::new(at)));
    }
    assert_eq!(builder.push(0, 1, Value::Null, None), Err(PartialError::TooMany(65)));
    let (first, beyond) = (OpId::new(0), OpId::new(64));
    assert!(builder.precedes(first, beyond).is_err() && builder.precedes(beyond, first).is_err());
    builder.program_order();
    let last = OpId::new(63);
    assert!(builder.build().expect("a chain").order().precedes(first, last));
    builder.precedes(last, first).expect("both are there");
    assert!(builder.build().is_err());
    builder.clear();
    assert!(builder.build().expect("nothing").order().is_empty());
}
