//! The multi-word monitor against the brute-force judge, for every crash model.

mod generate;
mod judge;
mod known;
mod published;

use generate::{Answers, Settings, random_history};
use judge::{assert_witness, is_linearizable, without_others};
use linchpin_history_data::crash::{Property, apply};
use linchpin_history_data::{Judgement, Rank};
use linchpin_monitor::mwcas;
use linchpin_spec::Value;
use linchpin_verdict::Limits;

/// A number from the environment.
pub fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// How often each judgement was given.
#[derive(Debug, Default)]
struct Tally {
    holds: u64,
    violated: u64,
    not_applicable: u64,
    with_pending_in_core: u64,
}

/// Compares the monitor with the judge. Without a property, pending operations get any deadlines at
/// all.
fn compare(name: &str, settings: Settings, property: impl Into<Option<Property>>) -> Tally {
    let property = property.into();
    let seed = setting("LINCHPIN_SEED", 1);
    let cases = setting("LINCHPIN_CASES", 4_000);
    println!("{name}: LINCHPIN_SEED={seed} LINCHPIN_CASES={cases}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut tally = Tally::default();
    for case in 0..cases {
        let (mut history, init) = random_history(&mut random, &settings);
        let applied = apply(&mut history, property.unwrap_or(Property::Linearizable))
            .expect("generated crashes make sense");
        for operation in &mut history.operations {
            if property.is_none() && !operation.completed && random.u8(..4) != 0 {
                operation.returned =
                    Rank::new(random.u32(operation.invoked.number()..history.events.number()));
            }
        }
        let order = &applied.interrupted;
        let answer = mwcas::check_interrupted(&history, order, init.as_ref(), &Limits::default());
        let ordered = property == Some(Property::Recoverable);
        let expected = || is_linearizable(&history, init.as_ref(), ordered);
        let text = || {
            format!("{name}, case {case}: {answer:?}\n{}", judge::shown(&history, init.as_ref()))
        };
        match &answer {
            Err(_) => tally.not_applicable += 1,
            Ok(Judgement::Holds(witness)) => {
                assert!(expected(), "{}", text());
                assert_witness(&history, init.as_ref(), ordered, &witness.order, text);
                tally.holds += 1;
            }
            Ok(Judgement::Violated(violation)) => {
                assert!(!expected(), "{}", text());
                let core = without_others(&history, &violation.core);
                assert!(!is_linearizable(&core, init.as_ref(), ordered), "core: {}", text());
                assert!(violation.core.windows(2).all(|pair| pair[0] < pair[1]), "{}", text());
                tally.violated += 1;
                tally.with_pending_in_core +=
                    u64::from(core.operations.iter().any(|operation| !operation.completed));
            }
            Ok(Judgement::Inconclusive(_)) => panic!("{}", text()),
        }
    }
    println!("{name}: {tally:?}");
    let judged = tally.holds + tally.violated;
    assert!(tally.holds * 10 >= judged && tally.violated * 10 >= judged, "{name}: {tally:?}");
    assert!(judged * 3 >= cases, "{name}: {tally:?}");
    tally
}

const BASE: Settings = Settings {
    processes: 3,
    operations: 7,
    locations: 2,
    words: 2,
    answers: Answers::Mixed,
    crashes: false,
    fresh_processes: false,
    peeks: false,
};

#[test]
fn complete_histories() {
    compare("complete", BASE, Property::Linearizable);
    compare("one location", Settings { locations: 1, words: 1, ..BASE }, Property::Linearizable);
    let wide = Settings { locations: 3, words: 3, operations: 8, ..BASE };
    compare("three words", wide, Property::Linearizable);
    compare("false", Settings { answers: Answers::Boolean, ..BASE }, Property::Linearizable);
}

#[test]
fn crashes_under_every_property() {
    let crashes = Settings { crashes: true, operations: 8, ..BASE };
    for property in
        [Property::Linearizable, Property::Strict, Property::Recoverable, Property::Durable]
    {
        let tally = compare(&format!("crashes, {property:?}"), crashes, property);
        assert!(tally.with_pending_in_core > 0, "{tally:?}");
    }
}

#[test]
fn any_deadlines() {
    let crashes = Settings { crashes: true, operations: 8, ..BASE };
    compare("any deadlines", crashes, None);
    compare("any deadlines, location", Settings { answers: Answers::Location, ..crashes }, None);
}

#[test]
fn failures_that_only_crashed_swaps_explain() {
    let crashes = Settings { crashes: true, fresh_processes: true, operations: 8, ..BASE };
    for answers in [Answers::Location, Answers::Boolean] {
        let settings = Settings { answers, ..crashes };
        compare(&format!("demands, {answers:?}"), settings, Property::Durable);
        compare(&format!("demands, strict, {answers:?}"), settings, Property::Strict);
    }
}

/// Swaps that expect what no operation was seen to have seen may have failed too early. Only few of
/// them are not judged: those that also saw something, and some that do not say where they failed.
#[test]
fn failures_that_came_too_early() {
    let peeks = Settings { peeks: true, processes: 4, operations: 9, ..BASE };
    let cases = setting("LINCHPIN_CASES", 4_000);
    for (locations, words) in [(1, 1), (2, 2), (3, 2)] {
        let located = Settings { answers: Answers::Location, locations, words, ..peeks };
        let tally = compare(&format!("early, {locations}"), located, Property::Linearizable);
        assert!(tally.not_applicable * 20 < cases, "{tally:?}");
    }
    compare(
        "early, false",
        Settings { answers: Answers::Boolean, ..peeks },
        Property::Linearizable,
    );
    compare("early, mixed", peeks, Property::Linearizable);
    let crashes = Settings { crashes: true, answers: Answers::Location, ..peeks };
    for property in [Property::Strict, Property::Recoverable, Property::Durable] {
        compare(&format!("early, crashes, {property:?}"), crashes, property);
    }
    let fresh = Settings { fresh_processes: true, ..crashes };
    compare("early, demands", fresh, Property::Durable);
    compare("early, any deadlines", Settings { answers: Answers::Boolean, ..fresh }, None);
}

/// One failure that may have come too early, among thousands, must not send the whole history to
/// another method: the monitor answers, and that it does is what makes long histories possible.
#[test]
fn long_histories_stay_with_the_monitor() {
    let settings = Settings {
        processes: 16,
        operations: 20_000,
        locations: 64,
        answers: Answers::Location,
        peeks: true,
        ..BASE
    };
    let mut random = fastrand::Rng::with_seed(setting("LINCHPIN_SEED", 1));
    let mut holds = 0;
    for _ in 0..6 {
        let (mut history, _) = random_history(&mut random, &settings);
        let _ = apply(&mut history, Property::Linearizable).unwrap();
        let judgement = mwcas::check(&history, Some(&Value::Int(0)), &Limits::default()).unwrap();
        holds += u32::from(judgement.is_holds());
    }
    assert!(holds > 0);
}

#[test]
fn tightening_recoverable_is_the_deadline_of_persistent_atomicity() {
    let mut random = fastrand::Rng::with_seed(setting("LINCHPIN_SEED", 1));
    let settings = Settings { crashes: true, operations: 8, ..BASE };
    let (mut differ, mut judged) = (0, 0);
    for _ in 0..setting("LINCHPIN_CASES", 4_000) {
        let (mut history, init) = random_history(&mut random, &settings);
        let applied = apply(&mut history, Property::Recoverable).unwrap();
        let recoverable = is_linearizable(&history, init.as_ref(), true);
        applied.tighten(&mut history);
        let tight = is_linearizable(&history, init.as_ref(), false);
        assert!(recoverable || !tight, "{}", judge::shown(&history, init.as_ref()));
        differ += u32::from(recoverable != tight);
        match mwcas::check(&history, init.as_ref(), &Limits::default()) {
            Ok(judgement) => {
                assert_eq!(matches!(judgement, Judgement::Holds(_)), tight, "{judgement:?}");
                judged += 1;
            }
            Err(_) => continue,
        }
    }
    println!("{differ} differ, {judged} judged");
    assert!(differ > 0 && judged > 0);
}
