//! Where a search says that its bound on calls stands for any number of them, it is so.

use crate::generator;
use crate::support::{bounds, compiled};
use fastrand::Rng;
use linchpin_refine::{Report, StuckCheck, VerifyOptions, verify};
use linchpin_space::{Calls, Reductions};

fn report(source: &str, calls: Calls, change: impl FnOnce(&mut VerifyOptions)) -> Report {
    let mut options = VerifyOptions::new(bounds(1, 2));
    options.bounds.calls = calls;
    options.stuck = false;
    options.points = false;
    change(&mut options);
    verify(&compiled(source).program, &options, &|_| {}).expect("a report")
}

/// What is said of any number of calls is what a search finds that does not count them, without
/// antichains.
#[test]
fn any_number_of_calls_is_any_number() {
    let seed = std::env::var("LINCHPIN_SEED").map_or(1, |seed| seed.parse().expect("a seed"));
    let cases = std::env::var("LINCHPIN_CASES").map_or(200, |cases| cases.parse().expect("cases"));
    let (mut lifted, mut bounded) = (0, 0);
    for number in 0..cases {
        let source = generator::model(&mut Rng::with_seed(seed + number));
        let at = format!("seed {}\n{source}", seed + number);
        let found = report(&source, Calls::Each(3), |_| {});
        if !found.outcome.is_holds() {
            assert!(!found.any_calls, "{at}");
            continue;
        }
        if !found.any_calls {
            bounded += 1;
            continue;
        }
        lifted += 1;
        let any = report(&source, Calls::Unlimited, |options| {
            options.reductions = Reductions { canonical_heap: true, ..Reductions::NONE };
            options.search.antichain = false;
        });
        assert!(any.outcome.is_holds(), "{at}");
    }
    println!("seed {seed}: {lifted} for any number of calls, {bounded} not");
    assert!(lifted * 20 > cases && bounded * 20 > cases, "{lifted} of {cases}, not {bounded}");
}

/// An object that answers wrongly from some call on: no bound below that is said to be none.
#[test]
fn what_goes_wrong_later_is_not_covered() {
    for wrong_at in 2..6 {
        for wraps_at in [0, 2, 3, 9] {
            let source = format!(
                "spec {{ state on: bool; op flip() -> bool {{ on = !on; return on; }} }}
                shared on: bool = false; shared m: int = 0; shared round: int = 0;
                op flip() -> bool {{
                    let a = false;
                    atomic {{
                        on = !on;
                        round = round + 1;
                        if round == {wraps_at} {{ round = 0; }}
                        if m < {wrong_at} {{ m = m + 1; }}
                        a = on;
                        if m == {wrong_at} {{ a = !a; }}
                    }}
                    return a;
                }}
                bounds {{ threads: 2, ops: 1, values: 1 }}"
            );
            for calls in 1..6 {
                let found = report(&source, Calls::Each(calls), |_| {});
                let is_right = i64::from(calls) * 2 < wrong_at;
                assert_eq!(found.outcome.is_holds(), is_right, "{calls} calls\n{source}");
                assert!(!found.any_calls, "{calls} calls\n{source}");
            }
        }
    }
}

/// Whether operations get stuck is asked with any number of calls, too.
#[test]
fn stuck_is_asked_of_any_number_of_calls_too() {
    let source = "spec { state on: bool; op flip() -> bool { on = !on; return on; } }
        shared on: bool = false;
        op flip() -> bool { let a = false; atomic { on = !on; a = on; } return a; }
        bounds { threads: 2, ops: 4, values: 1 }";
    let found = report(source, Calls::Each(4), |options| options.stuck = true);
    assert!(found.any_calls && found.outcome.is_holds(), "{found:?}");
    assert!(matches!(found.stuck, StuckCheck::Passed { .. }), "{found:?}");
}

/// A state that is not expanded, because a later one of its level covers it, is none that has every
/// way on. `finish` is called once, by two ways of four transitions each, the first of which leaves
/// fewer calls; a second `finish` would answer wrongly.
#[test]
fn what_was_not_expanded_has_not_every_way_on() {
    let source = "spec {
            state done: bool;
            op short() { } op long() { } op finish() -> bool { done = true; return true; }
        }
        shared called: bool = false; shared done: bool = false; shared inside: bool = false;
        shared phase: int = 0; shared way: int = 0;
        role helper: short, long;
        role owner: finish;
        op short() {
            atomic {
                assume(called);
                if !done && phase < 2 { phase = phase + 1; if phase == 2 { way = 1; } }
            }
        }
        op long() {
            let starts = false;
            atomic {
                assume(called);
                if !done && phase == 0 { inside = true; starts = true; }
            }
            if starts { atomic { inside = false; phase = 2; way = 2; } }
        }
        op finish() -> bool {
            let late = false;
            atomic { called = true; late = done; }
            if late { return false; }
            atomic { assume(phase == 2 && !inside); way = 0; done = true; }
            return true;
        }
        bounds { helper: 1, owner: 1, ops: 3, ops(owner): 1, values: 1 }";
    let found = report(source, Calls::Each(3), |_| {});
    assert!(found.outcome.is_holds() && !found.any_calls, "{found:?}");
    let more = report(&source.replace("ops(owner): 1", "ops(owner): 2"), Calls::Each(3), |_| {});
    assert!(more.outcome.violation().is_some(), "{more:?}");
}
