//! What is known about the progress of the bundled models, at small bounds.

use crate::support::{bounds, holds, ltl, model, progress};
use linchpin_ir::interpreter::Memory;
use linchpin_ir::run::{End, replay};
use linchpin_lang::Threads;
use linchpin_progress::Property;
use linchpin_progress::Property::{
    LivelockFree, LockFree, NoDeadlock, ObstructionFree, StarvationFree, WaitFree,
};
use linchpin_space::{Bounds, Calls};
use linchpin_verdict::{Outcome, Values};

/// What a model has of the classes of progress.
struct Expected {
    model: &'static str,
    calls: Calls,
    objects: Option<usize>,
    /// The properties that hold.
    holds: &'static [Property],
    /// The operations that are wait-free.
    wait_free: &'static [&'static str],
    /// The operations that are obstruction-free.
    obstruction_free: &'static [&'static str],
}

const LOCK_FREE: &[Property] = &[NoDeadlock, ObstructionFree, LockFree, LivelockFree];
const ALL: &[Property] = &Property::ALL;
const BLOCKING: &[Property] = &[NoDeadlock, LivelockFree];
const UNLIMITED: Calls = Calls::Unlimited;

#[rustfmt::skip]
const MODELS: &[Expected] = &[
    // Lock-free: the successful `cas` of another thread is what makes one fail.
    Expected { model: "treiber_stack", calls: UNLIMITED, objects: Some(3), holds: LOCK_FREE, wait_free: &[], obstruction_free: &["push", "pop"] },
    Expected { model: "ms_queue", calls: UNLIMITED, objects: Some(4), holds: LOCK_FREE, wait_free: &[], obstruction_free: &["enqueue", "dequeue"] },
    Expected { model: "dglm_queue", calls: UNLIMITED, objects: Some(4), holds: LOCK_FREE, wait_free: &[], obstruction_free: &["enqueue", "dequeue"] },
    Expected { model: "elimination_stack", calls: UNLIMITED, objects: Some(5), holds: LOCK_FREE, wait_free: &[], obstruction_free: &["push", "pop"] },
    Expected { model: "harris_michael_list", calls: UNLIMITED, objects: None, holds: LOCK_FREE, wait_free: &[], obstruction_free: &["add", "remove", "contains"] },
    Expected { model: "rdcss", calls: UNLIMITED, objects: None, holds: LOCK_FREE, wait_free: &["write_control"], obstruction_free: &["rdcss", "read", "write_control"] },
    Expected { model: "vy_dcas_set", calls: UNLIMITED, objects: None, holds: LOCK_FREE, wait_free: &["contains"], obstruction_free: &["add", "remove", "contains"] },
    Expected { model: "orvyy_set", calls: UNLIMITED, objects: None, holds: LOCK_FREE, wait_free: &["contains"], obstruction_free: &["contains", "remove", "add"] },
    // No loop depends on others.
    Expected { model: "k_register", calls: UNLIMITED, objects: None, holds: ALL, wait_free: &["write", "read"], obstruction_free: &["write", "read"] },
    // With locks: a thread that stops inside the lock stops the others.
    Expected { model: "two_lock_queue", calls: UNLIMITED, objects: Some(4), holds: BLOCKING, wait_free: &[], obstruction_free: &[] },
    Expected { model: "pessimistic_set", calls: UNLIMITED, objects: None, holds: BLOCKING, wait_free: &[], obstruction_free: &[] },
    Expected { model: "optimistic_set", calls: UNLIMITED, objects: None, holds: BLOCKING, wait_free: &[], obstruction_free: &[] },
    Expected { model: "lazy_set", calls: UNLIMITED, objects: None, holds: BLOCKING, wait_free: &["contains"], obstruction_free: &["contains"] },
    // A removal that finds the mark of another waits for it to unlink, in a loop.
    Expected { model: "vy_cas_set", calls: UNLIMITED, objects: None, holds: BLOCKING, wait_free: &["contains"], obstruction_free: &["add", "contains"] },
    // A dequeue from an empty queue searches for ever.
    Expected { model: "herlihy_wing_queue", calls: Calls::Each(1), objects: None, holds: &[NoDeadlock], wait_free: &["enqueue"], obstruction_free: &["enqueue"] },
];

#[test]
fn bundled_models_have_the_progress_that_is_known_of_them() {
    for expected in MODELS {
        let roles = expected.model == "k_register";
        let threads = if roles { Threads::AsDeclared } else { Threads::Count(2) };
        let program = model(expected.model, threads);
        let bounds = bounds(expected.calls, expected.objects);
        for property in Property::ALL {
            let report = progress(&program, bounds, property);
            let name = format!("{}: {property}", expected.model);
            assert_eq!(holds(&report), expected.holds.contains(&property), "{name}\n{report}");
            let operations = match property {
                WaitFree => expected.wait_free,
                ObstructionFree => expected.obstruction_free,
                _ => continue,
            };
            let having = report.operations.iter().filter(|of| of.holds == Some(true));
            let having: Vec<&str> = having.map(|of| of.operation.as_str()).collect();
            assert_eq!(having, operations, "{name}");
            let unknown = report.operations.iter().filter(|of| of.holds.is_none()).count();
            assert_eq!(unknown, 0, "{name}");
            // Each operation that has not got the property comes with its reason.
            let reasons = report.operations.iter().filter(|of| of.lasso.is_some()).count();
            assert_eq!(reasons + having.len(), report.operations.len(), "{name}");
        }
    }
}

/// The header of the model tells of it: a removal that has marked a node and could not unlink it
/// runs for ever.
#[test]
fn a_removal_that_loses_its_node_never_returns() {
    let program = model("vy_cas_set", Threads::Count(2));
    let two_keys = Bounds { values: Values::UpTo(2), ..bounds(UNLIMITED, None) };
    let report = progress(&program, two_keys, LivelockFree);
    let Outcome::Violated(lasso) = &report.outcome else { panic!("{report}") };
    let cycle = &lasso.lines[lasso.prefix_lines..];
    assert!(cycle.iter().all(|line| line.operation == "remove"), "{report}");
}

/// Lassos are schedules: the prefix and any number of rounds of the cycle can be replayed.
#[test]
fn lassos_can_be_replayed() {
    for expected in MODELS.iter().filter(|expected| expected.calls == UNLIMITED) {
        let program = model(expected.model, Threads::AsDeclared);
        let bounds = bounds(expected.calls, expected.objects);
        for property in [ObstructionFree, LockFree, WaitFree, StarvationFree] {
            let report = progress(&program, bounds, property);
            let Outcome::Violated(lasso) = &report.outcome else { continue };
            let mut schedule = lasso.prefix.clone();
            for _ in 0..5 {
                schedule.extend(lasso.cycle.clone());
            }
            let run = replay(&program, Memory::Collected, &schedule).unwrap();
            assert!(!matches!(run.end, End::Faulted(_) | End::Completed), "{report}");
        }
    }
}

/// With a bound on calls, wait freedom says less, and the report says so.
#[test]
fn bounded_calls_hide_starvation_and_say_so() {
    let program = model("treiber_stack", Threads::Count(2));
    let bounded = progress(&program, bounds(Calls::Each(2), None), WaitFree);
    assert!(holds(&bounded));
    assert!(bounded.notes.iter().any(|note| note.contains("interfere finitely often")));
    let unlimited = progress(&program, bounds(UNLIMITED, Some(3)), WaitFree);
    assert!(!unlimited.notes.iter().any(|note| note.contains("interfere finitely often")));
}

#[test]
fn formulas_about_models() {
    let register = model("k_register", Threads::AsDeclared);
    let stack = model("treiber_stack", Threads::Count(2));
    let queue = model("two_lock_queue", Threads::Count(2));
    let (free, three) = (bounds(UNLIMITED, None), bounds(UNLIMITED, Some(3)));
    let answered = "always (read_inv implies eventually read_res)";
    // An unfair scheduler lets the reader stand still.
    assert!(!holds(&ltl(&register, free, answered, false)));
    assert!(holds(&ltl(&register, free, answered, true)));
    // Fair scheduling does not help a lock-free push; but some operation responds again and again.
    assert!(!holds(&ltl(&stack, three, "[] (push_inv@0 -> <> push_res@0)", true)));
    assert!(holds(&ltl(&stack, three, "G F (push_res || pop_res)", false)));
    // With locks too, because a run goes on as long as any thread can move: the owner of the lock
    // must when no other thread can.
    let four = bounds(UNLIMITED, Some(4));
    assert!(holds(&ltl(&queue, four, "G F (enqueue_res || dequeue_res)", false)));
    assert!(!holds(&ltl(&queue, four, "G (enqueue_inv@0 -> F enqueue_res@0)", true)));
    // What is popped has been pushed; what has been pushed need not be popped.
    let once = bounds(Calls::Each(2), None);
    assert!(holds(&ltl(&stack, once, "(!pop_res(1)) U push_inv(1) or always !pop_res(1)", false)));
    assert!(holds(&ltl(&stack, once, "push_inv(1) R !pop_res(1)", false)));
    assert!(!holds(&ltl(&stack, once, "F pop_res(1)", true)));
    // With one call each, everything ends: nothing happens any more.
    let ended = "F G !(push_inv or push_res or pop_inv or pop_res)";
    assert!(holds(&ltl(&stack, once, ended, false)));
    assert!(!holds(&ltl(&stack, three, ended, true)));
}

#[test]
fn every_property_has_a_name() {
    for property in Property::ALL {
        assert_eq!(property.name().parse(), Ok(property));
    }
    assert!("lockfree".parse::<Property>().is_err());
}
