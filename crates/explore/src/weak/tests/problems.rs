//! What goes wrong in code, and how it is shown.

use super::{executions, problems, with_options};
use crate::execution::{EventKind, Execution, Problem};
use crate::options::{Options, Strategy};
use linchpin_sync::cell::UnsafeCell;
use linchpin_sync::runtime::{self, Resource};
use linchpin_sync::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{self, Acquire, Relaxed, Release},
};
use linchpin_sync::thread;
use linchpin_verdict::StopReason;
use std::cell::Cell;
use std::panic::Location;
use std::sync::Arc;

/// Message passing through a pointer; answers whether the reader saw it.
fn publish(release: Ordering, acquire: Ordering) {
    struct Data(UnsafeCell<u64>);
    // SAFETY: the engine stops at races.
    unsafe impl Sync for Data {}
    let place = Arc::new(AtomicPtr::<Data>::default());
    let theirs = Arc::clone(&place);
    let writer = thread::spawn(move || {
        let data = Box::into_raw(Box::new(Data(UnsafeCell::new(0))));
        // SAFETY: it was just made.
        unsafe { (*data).0.with_mut(|value| *value = 7) };
        theirs.store(data, release);
    });
    let data = place.load(acquire);
    if !data.is_null() {
        // SAFETY: it is freed only below.
        assert_eq!(unsafe { (*data).0.with(|value| *value) }, 7);
    }
    writer.join().unwrap();
    // SAFETY: the writer has ended, and left it there.
    drop(unsafe { Box::from_raw(place.load(Relaxed)) });
}

#[test]
fn a_relaxed_publication_races() {
    assert_eq!(problems(|| publish(Release, Acquire)), []);
    for (release, acquire) in [(Relaxed, Acquire), (Release, Relaxed), (Relaxed, Relaxed)] {
        let found = problems(move || publish(release, acquire));
        let [Problem::Race { first, second, .. }] = found[..] else { panic!("{found:?}") };
        assert_eq!([first, second], [1, 0]);
    }
}

#[test]
fn panics_are_shown_and_hide_nothing() {
    let (all, exploration) = executions(|| {
        let value = Arc::new(AtomicU64::new(0));
        let theirs = Arc::clone(&value);
        let other = thread::spawn(move || theirs.store(1, Relaxed));
        assert_eq!(value.load(Relaxed), 1, "too early");
        other.join().unwrap();
    });
    let panicked = |problem: &Option<Problem>| match problem {
        Some(Problem::Panicked { thread: 0, message }) => message.contains("too early"),
        _ => false,
    };
    assert_eq!(all.len(), 2);
    assert_eq!(all.iter().filter(|execution| panicked(&execution.problem)).count(), 1);
    assert!(exploration.complete);
}

#[test]
fn every_alternative_is_taken_once() {
    let (all, _) = executions(|| {
        let value = Arc::new(AtomicU64::new(0));
        let theirs = Arc::clone(&value);
        let site = Location::caller();
        let other = thread::spawn(move || {
            runtime::with(|runtime| runtime.choose(3, site));
            theirs.load(Relaxed);
            runtime::with(|runtime| runtime.choose(2, site));
        });
        value.store(1, Relaxed);
        value.store(2, Relaxed);
        other.join().unwrap();
    });
    // Main runs first here, so turn it round too.
    assert_eq!(all.len(), 3 * 3 * 2);
    let (all, _) = executions(|| {
        let value = Arc::new(AtomicU64::new(0));
        let theirs = Arc::clone(&value);
        let site = Location::caller();
        let first = thread::spawn(move || {
            theirs.load(Relaxed);
            runtime::with(|runtime| runtime.choose(3, site));
        });
        let other = thread::spawn(move || {
            value.store(1, Relaxed);
            runtime::with(|runtime| runtime.choose(2, site));
        });
        first.join().unwrap();
        other.join().unwrap();
    });
    assert_eq!(all.len(), 2 * 3 * 2);
}

#[test]
fn resources_are_given_back_after_all_uses() {
    let run = |order: Ordering, releases: bool| {
        problems(move || {
            let site = Location::caller();
            let resource =
                runtime::with(|runtime| runtime.acquired(Resource::Allocation, site)).unwrap();
            let flag = Arc::new(AtomicU64::new(0));
            let theirs = Arc::clone(&flag);
            let user = thread::spawn(move || {
                runtime::with(|runtime| runtime.used(resource, site));
                theirs.store(1, order);
            });
            if flag.load(Acquire) == 1 && releases {
                runtime::with(|runtime| runtime.released(resource, site));
                user.join().unwrap();
            } else {
                user.join().unwrap();
                if releases {
                    runtime::with(|runtime| runtime.released(resource, site));
                }
            }
        })
    };
    assert_eq!(run(Release, true), []);
    assert!(matches!(run(Relaxed, true)[..], [Problem::UsedAfterFree { thread: 1, .. }]));
    assert!(matches!(
        run(Release, false)[..],
        [Problem::Leaked { what: Resource::Allocation, .. }]
    ));
}

#[test]
fn code_that_decides_by_itself_is_found_out() {
    thread_local! { static RUNS: Cell<u64> = const { Cell::new(0) }; }
    let (all, exploration) = executions(|| {
        let value = Arc::new(AtomicU64::new(0));
        let theirs = Arc::clone(&value);
        let other = thread::spawn(move || theirs.store(1, Relaxed));
        let runs = RUNS.with(|runs| runs.replace(runs.get() + 1));
        if runs.is_multiple_of(2) {
            value.load(Relaxed);
        }
        value.load(Acquire);
        other.join().unwrap();
    });
    let last = all.last().and_then(|execution| execution.problem.clone());
    assert!(matches!(last, Some(Problem::Nondeterministic { .. })), "{last:?}");
    assert!(!exploration.complete);
}

#[test]
fn bounds_hold() {
    let many = || {
        let value = Arc::new(AtomicU64::new(0));
        let theirs = Arc::clone(&value);
        let other = thread::spawn(move || {
            for _ in 0..5 {
                theirs.fetch_add(1, Relaxed);
            }
        });
        for _ in 0..5 {
            value.fetch_add(1, Relaxed);
        }
        other.join().unwrap();
    };
    let (all, exploration) = with_options(&Options::new(Strategy::Weak), many);
    assert_eq!((all.len(), exploration.complete), (252, true));
    let options = Options { executions: Some(10), ..Options::new(Strategy::Weak) };
    let (all, exploration) = with_options(&options, many);
    assert_eq!((all.len(), exploration.complete), (10, false));
    assert_eq!(exploration.stopped, Some(StopReason::Budget));
    let options = Options { steps: 12, ..Options::new(Strategy::Weak) };
    let (all, _) = with_options(&options, many);
    let too_long = |execution: &Execution| {
        matches!(execution.problem, Some(Problem::TooLong { steps: 12, again: Some(_) }))
    };
    assert!(all.iter().any(too_long));
}

#[test]
fn clocks_are_happens_before() {
    let (all, _) = executions(|| {
        let flag = Arc::new(AtomicU64::new(0));
        let theirs = Arc::clone(&flag);
        let mark = |mark| runtime::with(|runtime| runtime.mark(mark));
        let other = thread::spawn(move || {
            mark(1);
            theirs.store(1, Release);
            theirs.store(2, Relaxed);
        });
        flag.load(Acquire);
        mark(2);
        other.join().unwrap();
        mark(3);
    });
    assert_eq!(all.len(), 3);
    for execution in all {
        let find = |mark| {
            let mut events = execution.events.iter();
            events.position(|event| event.kind == EventKind::Mark(mark)).unwrap()
        };
        let read = execution.events.iter().find_map(|event| match event.kind {
            EventKind::Access { read, .. } if event.thread == 0 => read,
            _ => None,
        });
        let [one, two, three] = [find(1), find(2), find(3)];
        // Only the first store releases.
        assert_eq!(execution.precedes(one, two), read == Some(1));
        assert!(execution.precedes(one, three) && execution.precedes(two, three));
        assert!(!execution.precedes(two, one) && !execution.precedes(three, one));
        for (index, event) in execution.events.iter().enumerate() {
            if let EventKind::Access { from: Some(from), read, .. } = event.kind {
                assert!(from < index);
                let EventKind::Access { wrote, .. } = execution.events[from].kind else { panic!() };
                assert_eq!(read, wrote);
            }
        }
    }
}

/// A body with something wrong in some of its executions: which, is chosen.
fn wrong() {
    let site = Location::caller();
    let value = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
    let theirs = Arc::clone(&value);
    let other = thread::spawn(move || {
        theirs.0.fetch_add(1, Relaxed);
        theirs.1.store(1, Relaxed);
        runtime::with(|runtime| runtime.choose(2, site))
    });
    let early = value.1.load(Relaxed) == 1 && value.0.load(Relaxed) == 0;
    let lent = runtime::with(|runtime| runtime.acquired(Resource::Tracked, site)).unwrap();
    assert!(!early, "out of order");
    let chosen = other.join().unwrap();
    if chosen == Some(0) || value.1.load(Relaxed) == 0 {
        runtime::with(|runtime| runtime.released(lent, site));
    }
}

#[test]
fn problems_are_repeated() {
    let too_long = Options { steps: 9, ..Options::new(Strategy::Weak) };
    let mut found = Vec::new();
    for options in [Options::new(Strategy::Weak), too_long] {
        for execution in with_options(&options, wrong).0 {
            let strategy = Strategy::ReplayWeak(execution.decisions.clone());
            let options = Options { strategy, ..options.clone() };
            let (again, _) = with_options(&options, wrong);
            assert_eq!(again.len(), 1);
            assert_eq!(again[0].problem, execution.problem);
            assert_eq!(again[0].events, execution.events);
            assert_eq!(again[0].clocks, execution.clocks);
            found.extend(execution.problem);
        }
    }
    for (index, expected) in ["panicked", "leak", "more than"].iter().enumerate() {
        let is_there = found.iter().any(|problem| problem.to_string().contains(expected));
        assert!(is_there, "{index}: {found:?}");
    }
    let other = Strategy::ReplayWeak(vec![0, 0, 0, 5]);
    let (again, _) = with_options(&Options::new(other), wrong);
    assert!(matches!(again[0].problem, Some(Problem::Nondeterministic { .. })));
}
