//! What partial order reduction may and may not do.

use linchpin_csp::{Failure, Options, Report, parse, verify};
use linchpin_verdict::Outcome;

fn check(source: &str, reduce: bool) -> Report {
    let model = parse(source, &[]).unwrap_or_else(|mistakes| {
        panic!("{}", mistakes[0].render("test.csp", source, false));
    });
    let mut options = Options { reduce, ..Options::default() };
    options.search.workers = 1;
    verify(&model, &options, &|_| {}).remove(0)
}

/// Figure 4 as printed takes `e` alone in the first state: in the implementation and in the only
/// specification state it is the only event of its part and independent of `w`. But the trace `w`
/// is none of the specification, which needs the invisible step after `e` first.
#[test]
fn an_event_is_not_moved_before_what_its_invisible_consequences_enable() {
    let source = "
        var x = 0;
        Spec = e -> tau{x = 1;} -> Stop ||| [x == 1] w -> Stop;
        Impl = e -> Stop ||| w -> Stop;
        assert Impl refines Spec;";
    for reduce in [true, false] {
        let report = check(source, reduce);
        let Outcome::Violated(Failure::Run(counterexample)) = &report.outcome else {
            panic!("{report}")
        };
        assert_eq!(counterexample.trace(), ["w"]);
    }
}

/// The same with events instead of variables: the part of the specification goes on with what
/// another part of the implementation shows.
#[test]
fn an_event_is_not_moved_before_events_that_follow_it_in_the_specification() {
    let source = "
        Spec = e -> w -> Stop ||| v -> Stop;
        Impl = e -> Stop ||| w -> Stop;
        assert Impl refines Spec;";
    for reduce in [true, false] {
        let report = check(source, reduce);
        let Outcome::Violated(Failure::Run(counterexample)) = &report.outcome else {
            panic!("{report}")
        };
        assert_eq!(counterexample.trace(), ["w"]);
    }
}

/// Sequences after the parts wait for all of them, so nothing may be moved out of them.
#[test]
fn an_event_is_not_moved_before_a_continuation() {
    let source = "
        Spec = (e -> Skip ||| b -> Skip); w -> Stop;
        Impl = e -> Stop ||| b -> w -> Stop;
        assert Impl refines Spec;";
    for reduce in [true, false] {
        let report = check(source, reduce);
        let Outcome::Violated(Failure::Run(counterexample)) = &report.outcome else {
            panic!("{report}")
        };
        assert_eq!(counterexample.trace(), ["b", "w"]);
    }
}

/// A part that can go on invisibly for ever must not be the only one that moves.
#[test]
fn a_part_that_spins_does_not_hide_the_others() {
    let source = "
        Spin = tau -> Spin;
        Impl = Spin ||| a -> Stop;
        assert Impl refines Stop;";
    for reduce in [true, false] {
        let report = check(source, reduce);
        let Outcome::Violated(Failure::Run(counterexample)) = &report.outcome else {
            panic!("{report}")
        };
        assert_eq!(counterexample.trace(), ["a"]);
    }
}

/// The same with a spin that shows events, which are then reduced.
#[test]
fn a_part_that_shows_events_for_ever_does_not_hide_the_others() {
    let source = "
        Loop = a -> b -> Loop;
        Impl = Loop ||| c -> d -> Stop;
        Spec = Loop ||| c -> Stop;
        assert Impl refines Spec;";
    for reduce in [true, false] {
        let report = check(source, reduce);
        let Outcome::Violated(Failure::Run(counterexample)) = &report.outcome else {
            panic!("{report}")
        };
        assert_eq!(counterexample.trace(), ["c", "d"]);
    }
}

#[test]
fn independent_steps_are_taken_in_one_order() {
    let source = "
        var x[3];
        Work(i) = tau{x[i] = 1;} -> tau{x[i] = 2;} -> tau{x[i] = 3;} -> Skip;
        Impl = (Work(0); a -> Stop) ||| (Work(1); b -> Stop) ||| (Work(2); c -> Stop);
        Spec = a -> Stop ||| b -> Stop ||| c -> Stop;
        assert Impl refines Spec;";
    let (with, without) = (check(source, true), check(source, false));
    assert!(
        matches!(with.outcome, Outcome::Holds(())) && matches!(without.outcome, Outcome::Holds(()))
    );
    // 6 states of each part; with reduction one part moves at a time, and the events come in one
    // order.
    assert_eq!(without.stats.states, 6 * 6 * 6);
    assert_eq!(with.stats.states, 1 + 3 * 4 + 3, "{with}");
}
