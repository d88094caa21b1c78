//! The ladder with real engines, and with some that lie.

use super::*;
use crate::{Contradiction, ENGINES, load};
use linchpin_engine::{Language, SearchAsked, Stuck};
use linchpin_lang::Config;
use linchpin_verdict::{Bound, Calls, StopReason, Values};

const STACK: &str = include_str!("../../../../models/treiber_stack.lin");
const BROKEN: &str = include_str!("../../../../models/broken/treiber_stack_split_pop_cas.lin");

/// Says that everything is proved.
struct Liar;

impl Engine for Liar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn reads(&self) -> &'static [Language] {
        &[Language::Lin]
    }

    fn is_proof(&self) -> bool {
        true
    }

    fn answer(&self, _: &Subject<'_>, _: &Request<'_>) -> Result<Vec<Answer>, EngineError> {
        Ok(vec![Answer::new("liar", Verdict::Proved, "it is right, believe me")])
    }
}

fn climbed(
    source: &str,
    ladder: Ladder,
    engines: &[&'static dyn Engine],
    free: Free,
) -> Verification {
    let loaded = load("model", source, Language::Lin, &Config::default()).expect("a model");
    let how = Climb { ladder, engines, cores: 2, free };
    climb(&loaded, &Request::default(), &how).expect("an answer")
}

fn said<'a>(found: &'a Verification, engine: &str) -> &'a Answer {
    found.answers.iter().find(|answer| answer.engine == engine).expect("it answers")
}

#[test]
fn a_proof_ends_the_climb() {
    let free = Free { threads: true, calls: true, values: true };
    let found = climbed(STACK, Ladder::ONE, ENGINES, free);
    assert_eq!(found.verdict(), Verdict::Proved);
    let names: Vec<&str> = found.answers.iter().map(|answer| answer.engine).collect();
    assert_eq!(names, ["refine", "reduce", "shape", "base"]);
    let refine = said(&found, "refine");
    // The bounds are still those of the model: nothing was left to be shown.
    assert!(refine.bounds.contains(&Bound::Calls(Calls::Each(3))), "{refine:?}");
    assert!(found.answers.iter().all(|answer| answer.seconds.is_some()));
}

#[test]
fn what_is_wrong_ends_the_climb_and_the_others_say_so() {
    let found = climbed(BROKEN, Ladder::ONE, ENGINES, Free::NOTHING);
    assert_eq!(found.verdict(), Verdict::Violated);
    for engine in ["reduce", "shape", "base"] {
        let answer = said(&found, engine);
        assert!(!answer.is_asked && answer.verdict == Verdict::Inconclusive);
        assert_eq!(answer.reason, "`refine` has found what is wrong");
    }
}

#[test]
fn an_engine_that_lies_is_a_contradiction_and_no_verdict() {
    let engines: &[&'static dyn Engine] = &[&linchpin_refine::Refine, &Liar];
    let found = climbed(BROKEN, Ladder::EVERY_ENGINE, engines, Free::NOTHING);
    assert_eq!(found.contradiction, Some(Contradiction { shows: "liar", refutes: "refine" }));
    assert!(found.deciding().is_none());
    assert_eq!(found.verdict(), Verdict::Inconclusive);
}

/// A counter that loses additions from this call on.
fn wrong_from(calls: u32) -> String {
    format!(
        "spec counter; shared n: int = 0; shared m: int = 0;
        op add(k: int) {{
            atomic {{ m = m + 1; if m < {calls} {{ n = n + k; }} }}
        }}
        op read() -> int {{ return n; }}
        bounds {{ threads: 1, ops: 1, values: 1 }}"
    )
}

#[test]
fn larger_bounds_find_what_the_first_do_not() {
    let engines: &[&'static dyn Engine] = &[&linchpin_refine::Refine];
    let source = wrong_from(3);
    let fixed = climbed(&source, Ladder::ONE, engines, Free::NOTHING);
    assert_eq!(fixed.verdict(), Verdict::HoldsWithinBounds);
    let free = Free { calls: true, ..Free::NOTHING };
    let found = climbed(&source, Ladder::ONE, engines, free);
    assert_eq!(found.verdict(), Verdict::Violated, "{found:?}");
    let refine = said(&found, "refine");
    assert!(refine.bounds.contains(&Bound::Calls(Calls::Each(4))), "{:?}", refine.bounds);
    let threads = Free { threads: true, ..Free::NOTHING };
    let found = climbed(&source, Ladder::ONE, engines, threads);
    let refine = said(&found, "refine");
    assert!(refine.bounds.contains(&Bound::Threads(4)), "{:?}", refine.bounds);
}

/// Time that is up does not take back what was shown.
#[test]
fn the_strongest_finished_search_is_said() {
    let engines: &[&'static dyn Engine] = &[&linchpin_refine::Refine];
    let free = Free { threads: true, calls: true, values: true };
    let time = std::time::Duration::from_secs(2);
    let found = climbed(STACK, Ladder::ONE.within(time), engines, free);
    assert_eq!(found.verdict(), Verdict::HoldsWithinBounds);
    let refine = said(&found, "refine");
    assert_eq!(refine.stuck, Stuck::Never);
    assert!(refine.notes.iter().any(|note| note.starts_with("not finished: ")), "{refine:?}");
}

/// An array that was made for the bounds of the model is not a mistake of the object.
#[test]
fn a_model_that_is_not_made_for_more_is_not_wrong() {
    let source = "spec counter; shared n: int = 0; shared at: [int; 2]; shared m: int = 0;
        op add(k: int) { atomic { at[m] = k; m = m + 1; n = n + k; } }
        op read() -> int { return n; }
        bounds { threads: 1, ops: 2, values: 1 }";
    let engines: &[&'static dyn Engine] = &[&linchpin_refine::Refine];
    let found = climbed(source, Ladder::ONE, engines, Free { calls: true, ..Free::NOTHING });
    assert_eq!(found.verdict(), Verdict::HoldsWithinBounds, "{found:?}");
    let notes = said(&found, "refine").notes.join("\n");
    assert!(notes.contains("not made for more than that"), "{notes}");
}

/// Is stopped when it searches breadth first; finds something by chance only.
struct Shallow(StopReason);

impl Engine for Shallow {
    fn name(&self) -> &'static str {
        linchpin_refine::Refine.name()
    }

    fn reads(&self) -> &'static [Language] {
        &[Language::Lin]
    }

    fn is_proof(&self) -> bool {
        false
    }

    fn answer(&self, _: &Subject<'_>, request: &Request<'_>) -> Result<Vec<Answer>, EngineError> {
        let verdict = match request.search {
            SearchAsked::Pct { .. } => Verdict::Violated,
            _ => Verdict::Inconclusive,
        };
        let mut answer = Answer::new(self.name(), verdict, "as far as it came");
        answer.stopped = (verdict == Verdict::Inconclusive).then_some(self.0);
        Ok(vec![answer])
    }
}

#[test]
fn where_breadth_first_is_stopped_other_searches_find_what_is_wrong() {
    let out_of_time: &[&'static dyn Engine] = &[&Shallow(StopReason::Time)];
    for ladder in [Ladder::ONE, Ladder::MANY] {
        let found = climbed(STACK, ladder, out_of_time, Free::NOTHING);
        assert_eq!(found.verdict(), Verdict::Violated, "{found:?}");
        let notes = said(&found, "refine").notes.join("\n");
        assert!(notes.contains("found by `--search pct`"), "{notes}");
    }
    // A person who stops it means all of it.
    let by_a_person: &[&'static dyn Engine] = &[&Shallow(StopReason::Interrupt)];
    let found = climbed(STACK, Ladder::ONE, by_a_person, Free::NOTHING);
    assert_eq!(found.verdict(), Verdict::Inconclusive);
}

/// Where the first search comes to its end, nothing else is searched.
#[test]
fn what_ends_by_itself_is_not_searched_again() {
    let engines: &[&'static dyn Engine] = &[&linchpin_refine::Refine];
    let found = climbed(STACK, Ladder::ONE, engines, Free::NOTHING);
    assert_eq!(found.verdict(), Verdict::HoldsWithinBounds);
    let notes = said(&found, "refine").notes.join("\n");
    assert!(!notes.contains("--search"), "{notes}");
}

const REFINE: &[&'static dyn Engine] = &[&linchpin_refine::Refine];

const ALL: Free = Free { threads: true, calls: true, values: true };

/// Where values are only moved, none has to be asked for.
#[test]
fn any_values_are_asked_for_where_they_are_only_moved() {
    let values = |free: Free| {
        let found = climbed(STACK, Ladder::MANY, REFINE, free);
        assert_eq!(found.verdict(), Verdict::HoldsWithinBounds);
        let of = |bound: &Bound| match bound {
            Bound::Values(values) => Some(*values),
            _ => None,
        };
        said(&found, "refine").bounds.iter().find_map(of).expect("values")
    };
    assert_eq!(values(ALL), Values::Any);
    // What the caller has fixed is left alone.
    assert_eq!(values(Free { values: false, ..ALL }), Values::UpTo(2));
}

/// A queue in which the last comes first: with one value that is not seen.
const STACK_AS_QUEUE: &str = "spec queue; shared x: int = 0; shared y: int = 0;
    op enqueue(v: int) { atomic { y = x; x = v; } }
    op dequeue() -> int? { atomic { let r = x; x = y; y = 0; if r == 0 { return none; } return r; } }
    bounds { threads: 1, ops: 3, values: 1 }";

#[test]
fn any_values_find_what_the_values_of_the_model_do_not() {
    let few = climbed(STACK_AS_QUEUE, Ladder::MANY, REFINE, Free::NOTHING);
    assert_eq!(few.verdict(), Verdict::HoldsWithinBounds);
    let values = Free { values: true, ..Free::NOTHING };
    let found = climbed(STACK_AS_QUEUE, Ladder::MANY, REFINE, values);
    assert_eq!(found.verdict(), Verdict::Violated);
    // The run that is shown passes small values, and the bounds say which.
    let bounds = &said(&found, "refine").bounds;
    assert!(bounds.contains(&Bound::Values(Values::UpTo(2))), "{bounds:?}");
}

/// Three different values, one after the other: two do not show it, and values are compared.
#[test]
fn values_that_are_compared_are_tried_after_the_proofs() {
    let source = "spec queue; shared x: int = 0; shared y: int = 0; shared z: int = 0;
        op enqueue(v: int) { atomic {
            if x == 0 { x = v; } else if y == 0 { y = v; }
            else if x != y && y != v && x != v { z = x; } else { z = v; }
        } }
        op dequeue() -> int? { atomic {
            let r = x; x = y; y = z; z = 0; if r == 0 { return none; } return r;
        } }
        bounds { threads: 1, ops: 6, values: 2 }";
    let few = climbed(source, Ladder::MANY, REFINE, Free::NOTHING);
    assert_eq!(few.verdict(), Verdict::HoldsWithinBounds, "{few:?}");
    let found = climbed(source, Ladder::MANY, REFINE, Free { values: true, ..Free::NOTHING });
    assert_eq!(found.verdict(), Verdict::Violated, "{found:?}");
    let notes = said(&found, "refine").notes.join("; ");
    assert!(notes.contains("every run is right with 1 thread, 6 operations each, values 1 to 2"));
}

/// Where a search without a bound on operations ends, that is what is said.
#[test]
fn operations_without_a_bound_are_tried() {
    let source = "spec register(0); shared x: int = 0;
        op write(v: int) { x = v; } op read() -> int { return x; }
        bounds { threads: 2, ops: 1, values: 2 }";
    let found = climbed(source, Ladder::MANY, REFINE, Free::NOTHING);
    let bounds = &said(&found, "refine").bounds;
    assert!(bounds.contains(&Bound::Calls(Calls::Each(1))), "{found:?}");
    let found = climbed(source, Ladder::MANY, REFINE, ALL);
    let bounds = &said(&found, "refine").bounds;
    assert!(bounds.contains(&Bound::Calls(Calls::Unlimited)), "{found:?}");
    // A counter grows with every call: the search is given up, and the bound stays.
    let counter = "spec counter; shared n: int = 0;
        op add(k: int) { atomic { n = n + k; } } op read() -> int { return n; }
        bounds { threads: 2, ops: 1, values: 1 }";
    let found = climbed(counter, Ladder::MANY, REFINE, ALL);
    let bounds = &said(&found, "refine").bounds;
    assert!(bounds.contains(&Bound::Calls(Calls::Each(1))), "{found:?}");
    // What goes wrong only with more operations is told within as many as it takes.
    let found = climbed(&wrong_from(3), Ladder::MANY, REFINE, ALL);
    let bounds = &said(&found, "refine").bounds;
    assert_eq!(found.verdict(), Verdict::Violated);
    assert!(bounds.contains(&Bound::Calls(Calls::Each(4))), "{bounds:?}");
}
