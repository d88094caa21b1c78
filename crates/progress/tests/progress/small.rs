//! Small models with known answers, and what happens at the limits.

use crate::support::{bounds, holds, ltl, program, progress, unlimited};
use expect_test::expect;
use linchpin_ir::interpreter::Memory;
use linchpin_lang::Threads;
use linchpin_progress::{Lasso, Property, check_ltl, check_progress};
use linchpin_space::{Bounds, Calls};
use linchpin_verdict::{Inconclusive, Limits, Outcome, StopFlag, StopReason};
use std::time::Instant;

const TWO_LOCKS: &str = "spec counter; shared a: lock; shared b: lock; shared n: int;
op add(k: int) { lock(a); lock(b); unlock(b); unlock(a); }
op read() -> int { lock(b); lock(a); unlock(a); unlock(b); return 0; }";

#[test]
fn locks_taken_in_two_orders_deadlock() {
    let program = program(TWO_LOCKS, Threads::Count(2));
    let report = progress(&program, unlimited(), Property::NoDeadlock);
    expect![[r#"
        no-deadlock: violated: operations are pending and no thread can move
        first:
             1  thread 0  add:2             call add(1)
             2  thread 0  add:2             lock(a)
             3  thread 1  read:3            call read()
             4  thread 1  read:3            lock(b)
        then, again and again:
             5  thread 0  add:2             waits for lock(b), held by thread 1
             6  thread 1  read:3            waits for lock(a), held by thread 0
        note: no-deadlock means: while an operation is pending, some thread can move
        91 states, 180 moves
    "#]]
    .assert_eq(&report.to_string());
    for property in Property::ALL {
        assert!(!holds(&progress(&program, unlimited(), property)), "{property}");
    }
    // The deadlock ends the run: after it, nothing happens for ever.
    assert!(!holds(&ltl(&program, unlimited(), "G F (add_res || read_res)", true)));
}

/// Three threads, two of which deadlock while the third goes on: not a deadlock of the whole, but
/// starvation.
#[test]
fn a_partial_deadlock_is_starvation() {
    let source = "spec {
            op left() { } op right() { } op peek() -> int { return 0; }
        }
        shared a: lock; shared b: lock; shared n: int;
        op left() { lock(a); lock(b); unlock(b); unlock(a); }
        op right() { lock(b); lock(a); unlock(a); unlock(b); }
        op peek() -> int { return n; }
        role one: left; role two: right; role three: peek;
        bounds { one: 1, two: 1, three: 1 }";
    let program = program(source, Threads::AsDeclared);
    assert!(holds(&progress(&program, unlimited(), Property::NoDeadlock)));
    // The third may stop calling: then no operation responds any more.
    assert!(!holds(&progress(&program, unlimited(), Property::LivelockFree)));
    let starvation = progress(&program, unlimited(), Property::StarvationFree);
    let having: Vec<_> = starvation.operations.iter().map(|of| of.holds).collect();
    assert_eq!(having, [Some(false), Some(false), Some(true)]);
    // With a bound on calls, the third runs out of them, and the deadlock is one.
    let once = bounds(Calls::Each(1), None);
    assert!(!holds(&progress(&program, once, Property::NoDeadlock)));
}

const SPIN: &str = "spec counter; shared held: bool; shared n: int;
op read() -> int {
    while !cas(held, false, true) { }
    let r = n;
    held = false;
    return r;
}";

/// A spin lock has the progress of a `lock`: waiting is trying again and again in vain.
#[test]
fn spinning_and_waiting_are_the_same() {
    let waiting = "spec counter; shared held: lock; shared n: int;
        op read() -> int { lock(held); let r = n; unlock(held); return r; }";
    for source in [SPIN, waiting] {
        let program = program(source, Threads::Count(2));
        let verdicts: Vec<bool> = Property::ALL
            .into_iter()
            .map(|property| holds(&progress(&program, unlimited(), property)))
            .collect();
        assert_eq!(verdicts, [true, false, false, false, true, false], "{source}");
    }
}

/// Each takes the object from the other before it has looked: a thread that is alone succeeds,
/// together they may go on for ever.
#[test]
fn taking_from_each_other_is_obstruction_free_only() {
    let source = "spec counter; shared owner: tid?;
        op read() -> int { loop { owner = me; if owner == me { return 0; } } }";
    let program = program(source, Threads::Count(2));
    let verdicts: Vec<bool> = Property::ALL
        .into_iter()
        .map(|property| holds(&progress(&program, unlimited(), property)))
        .collect();
    assert_eq!(verdicts, [true, true, false, false, false, false]);
    let report = progress(&program, unlimited(), Property::LivelockFree);
    expect![[r#"
        livelock-free: violated: the scheduling is fair, but no operation responds any more
        first:
             1  thread 0  read:2            call read()
             2  thread 0  read:2            owner := 0
             3  thread 1  read:2            call read()
        then, again and again:
             4  thread 1  read:2            owner := 1
             5  thread 0  read:2            read owner = 1
             6  thread 0  read:2            owner := 0
             7  thread 1  read:2            read owner = 0
        note: livelock-free means: if every thread that can go on does, some operation responds sooner or later
        36 states, 72 moves
    "#]].assert_eq(&report.to_string());
}

/// Threads that step back when they see each other: one that stands still with its flag raised
/// stops the other.
#[test]
fn stepping_back_is_not_obstruction_free() {
    let source = "spec { op left() -> int { return 0; } op right() -> int { return 0; } }
        shared flag: [bool; 2];
        fn meet(mine: int, other: int) -> int {
            loop {
                flag[mine] = true;
                if !flag[other] { flag[mine] = false; return 0; }
                flag[mine] = false;
            }
        }
        op left() -> int { return meet(0, 1); }
        op right() -> int { return meet(1, 0); }
        role a: left; role b: right; bounds { a: 1, b: 1 }";
    let program = program(source, Threads::AsDeclared);
    let verdicts: Vec<bool> = Property::ALL
        .into_iter()
        .map(|property| holds(&progress(&program, unlimited(), property)))
        .collect();
    assert_eq!(verdicts, [true, false, false, false, false, false]);
}

/// A step that only the bound on objects keeps from being taken is not one that waits.
#[test]
fn a_bound_on_objects_is_not_a_deadlock() {
    let source = "spec counter; struct Node { next: Node } shared top: Node; shared n: int;
        op add(k: int) { let r = n; top = new Node { next: top }; }
        op read() -> int { return n; }";
    let program = program(source, Threads::Count(2));
    for property in Property::ALL {
        let report = progress(&program, bounds(Calls::Unlimited, Some(2)), property);
        assert!(holds(&report), "{report}");
        assert!(report.notes.iter().any(|note| note.contains("beyond 2 objects")), "{report}");
    }
    // Nor does the run end there: there is no run on which nothing happens any more.
    let never = ltl(&program, bounds(Calls::Unlimited, Some(2)), "G F (add_res or read_res)", true);
    assert!(holds(&never), "{never}");
}

#[test]
fn a_run_that_goes_wrong_leaves_the_question_open() {
    let source =
        "spec counter; shared n: int; op read() -> int { let r = n; assert(r == 1); return r; }";
    let program = program(source, Threads::Count(1));
    let report = progress(&program, unlimited(), Property::WaitFree);
    assert!(
        matches!(&report.outcome, Outcome::Inconclusive(why) if why.to_string().contains("go wrong"))
    );
    assert_eq!(report.operations[0].holds, None);
}

#[test]
fn limits_are_kept() {
    let program = program(SPIN, Threads::Count(2));
    let asked = StopFlag::default();
    asked.ask(StopReason::Interrupt);
    let stopped = Limits::until(asked);
    let late = Limits { deadline: Some(Instant::now()), ..Limits::default() };
    let small = Limits { memory: Some(1), ..Limits::default() };
    for limits in [stopped, late, small] {
        for property in Property::ALL {
            let report = check_progress(&program, unlimited(), property, &limits).unwrap();
            assert!(matches!(report.outcome, Outcome::Inconclusive(_)), "{report}");
            assert!(report.operations.iter().all(|of| of.holds.is_none()));
        }
        let report = check_ltl(&program, unlimited(), "F read_res", false, &limits).unwrap();
        assert!(matches!(report.outcome, Outcome::Inconclusive(_)), "{report}");
    }
}

/// A violation in the part of an infinite space that was explored is one; nothing is concluded from
/// the rest.
#[test]
fn part_of_a_space_is_enough_for_a_violation() {
    let source = "spec { state n: int; op spin() { } op count() { } }
        shared n: int; shared go: bool;
        op spin() { while !go { } }
        op count() { let a = faa(n, 1); assert(a >= 0); }
        role a: spin; role b: count; bounds { a: 1, b: 1 }";
    let program = program(source, Threads::AsDeclared);
    // Enough memory for some states, and not for all: there is no end of them.
    let limits = Limits { memory: Some(1 << 22), ..Limits::default() };
    let check = |property| check_progress(&program, unlimited(), property, &limits).unwrap();
    let by_memory = Outcome::Inconclusive(StopReason::Memory.into());
    let open = |outcome: &Outcome<(), Box<Lasso>>| *outcome == by_memory;
    let spins = check(Property::WaitFree);
    assert!(matches!(spins.outcome, Outcome::Violated(_)), "{spins}");
    let having: Vec<_> = spins.operations.iter().map(|of| of.holds).collect();
    assert_eq!(having, [Some(false), None]);
    assert!(open(&check(Property::NoDeadlock).outcome));
    let report = check_ltl(&program, unlimited(), "G (spin_inv -> F spin_res)", true, &limits);
    let report = report.unwrap();
    assert!(matches!(report.outcome, Outcome::Violated(_)), "{report}");
}

/// The states that were not explored must not look like the end of a run.
#[test]
fn nothing_is_concluded_from_what_was_not_explored() {
    let source = "spec counter; shared n: int;
        op add(k: int) { let a = faa(n, k); assert(a >= 0); }";
    let program = program(source, Threads::Count(2));
    let limits = Limits { memory: Some(1 << 22), ..Limits::default() };
    let report = check_ltl(&program, unlimited(), "G F add_inv", true, &limits).unwrap();
    let why = Inconclusive::from(StopReason::Memory);
    assert_eq!(report.outcome, Outcome::Inconclusive(why.clone()), "{report}");
    assert!(report.stats.product > report.stats.states, "the product was explored: {report}");
    for property in Property::ALL {
        let report = check_progress(&program, unlimited(), property, &limits).unwrap();
        assert_eq!(report.outcome, Outcome::Inconclusive(why.clone()), "{report}");
    }
}

/// Freed objects come back: cycles close although the numbers of objects change from round to
/// round.
#[test]
fn cycles_through_reused_memory() {
    let source = "spec counter; struct Node { val: int } shared top: Node; shared stop: bool;
        op read() -> int {
            loop { let x = new Node { val: 1 }; top = x; free(x); if stop { return 0; } }
        }";
    let program = program(source, Threads::Count(1));
    for memory in [Memory::Collected, Memory::Reuse] {
        let bounds = Bounds { memory, ..bounds(Calls::Unlimited, Some(3)) };
        let report = progress(&program, bounds, Property::ObstructionFree);
        assert!(!holds(&report), "{report}");
    }
}

/// A counter under a spin lock: nothing tests the counter, so it makes no states, and the answers
/// are those of the lock.
#[test]
fn a_counter_under_a_spin_lock() {
    let source = "spec { state n: int; op inc() -> int { n = n + 1; return n; } }\n\
        shared held: int;\nshared n: int;\n\
        op inc() -> int {\n    while !cas(held, 0, 1) { }\n    n = n + 1;\n    let r = n;\n\
        \x20   held = 0;\n    return r;\n}\n";
    for threads in [2, 3] {
        let program = program(source, Threads::Count(threads));
        for (property, holds) in [
            (Property::NoDeadlock, true),
            (Property::LivelockFree, true),
            (Property::LockFree, false),
            (Property::WaitFree, false),
            (Property::StarvationFree, false),
        ] {
            let report = progress(&program, unlimited(), property);
            assert_eq!(report.left_out, ["n"]);
            assert_eq!(report.outcome.is_holds(), holds, "{report}");
            assert_eq!(report.outcome.violation().is_some(), !holds, "{report}");
            assert!(report.stats.states < 2_000, "{report}");
        }
    }
}

/// A counter that is compared has infinitely many states. The search ends, says why, and finds what
/// there is to find near the start.
#[test]
fn a_counter_that_is_compared() {
    let source = "spec { state n: int; op inc() -> int { n = n + 1; return n; } }\nshared n: int;\n\
        op inc() -> int {\n    loop {\n        let c = n;\n        if cas(n, c, c + 1) { return c + 1; }\n    }\n}\n";
    let program = program(source, Threads::Count(2));
    let report = progress(&program, unlimited(), Property::WaitFree);
    assert!(report.left_out.is_empty());
    let Outcome::Inconclusive(why) = &report.outcome else { panic!("{report}") };
    assert_eq!(why.stopped_by(), Some(StopReason::Budget));
    assert!(report.stats.bytes < 400 << 20, "{report}");
    // With a bound on calls there is an answer.
    let report = progress(&program, bounds(Calls::Each(2), None), Property::LockFree);
    assert!(report.outcome.is_holds(), "{report}");
}
