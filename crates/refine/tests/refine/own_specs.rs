//! Values in specifications of a model's own: random objects with random specifications, held
//! against searches that tell all values apart and against the naive explorer.

use crate::any_values::{Counts, one, options, report};
use crate::naive::seed_and_cases;
use crate::support::compiled;
use fastrand::Rng;
use linchpin_refine::Report;
use linchpin_space::{DataUse, NotAlike, Values};

/// What `put` of a specification may do.
const PUTS: [&str; 20] = [
    "s.push_back(v); return true;",
    "s.push_back(v); return true;",
    "s.push_back(v); return true;",
    "s.push_front(v); return true;",
    "if s.len() == 1 { return false; } s.push_back(v); return true;",
    "if s.contains(v) { return false; } s.push_back(v); return true;",
    "if last == v { return false; } last = v; s.push_back(v); return true;",
    "let first = seen.insert(v); if first { s.push_back(v); } return first;",
    "let old = times.get(v); times.put(v, 1); s.push_back(v); return old == none;",
    "n = n + 1; if n > 2 { return false; } s.push_back(v); return true;",
    "if choose(0..2) == 1 { return false; } s.push_back(v); return true;",
    "one = v; s = [v]; return true;",
    "if one == none { one = v; } s.push_back(v); return one == v;",
    "let p = Pair { val: v, at: n }; s.push_back(p.val); n = p.at; return true;",
    "cells[n] = v; s.push_back(cells[0]); return true;",
    "if v > last { last = v; } s.push_back(v); return true;",
    "if v == 2 { return false; } s.push_back(v); return true;",
    "n = v; s.push_back(v); return n > 1;",
    "seen.insert(v); s.push_back(v); return seen.len() < 3;",
    "if v != 3 { last = v; } s.push_back(v); return last != 0;",
];

/// What `take` of a specification may do.
const TAKES: [&str; 12] = [
    "return s.pop_front();",
    "return s.pop_front();",
    "return s.pop_front();",
    "return s.pop_back();",
    "return s.first();",
    "if s.len() == 0 { return none; } return s.pop_front();",
    "if n > 1 { return none; } return s.pop_front();",
    "let r = s.pop_front(); if r == one { return r; } one = r; return r;",
    "if choose(0..2) == 1 { return none; } return s.pop_front();",
    "if s.len() == 0 { return none; } return s.remove_at(0);",
    "if seen.len() > 1 { return none; } return s.pop_front();",
    "if seen.first() == none { return s.pop_front(); } return seen.first();",
];

/// The same of the object, which has room for two values.
const OBJECT_PUTS: [&str; 8] = [
    "atomic { if x == 0 { x = v; } else { y = v; } } return true;",
    "atomic { if x == 0 { x = v; } else { y = v; } } return true;",
    "atomic { if x == 0 { x = v; } else { y = v; } } return true;",
    "atomic { if x != 0 { return false; } x = v; } return true;",
    "atomic { if x == v { return false; } if y == v { return false; } \
     if x == 0 { x = v; } else { y = v; } } return true;",
    "atomic { if m == v { return false; } m = v; if x == 0 { x = v; } else { y = v; } } return true;",
    "if x == 0 { x = v; return true; } y = v; return true;",
    "atomic { if x == 0 { x = v; } else { y = v; } if v == 3 { return false; } } return true;",
];

const OBJECT_TAKES: [&str; 5] = [
    "let r = 0; atomic { r = x; x = y; y = 0; } if r == 0 { return none; } return r;",
    "let r = 0; atomic { r = x; x = y; y = 0; } if r == 0 { return none; } return r;",
    "let r = 0; atomic { r = y; y = 0; if r == 0 { r = x; x = 0; } } \
     if r == 0 { return none; } return r;",
    "let r = x; if r == 0 { return none; } return r;",
    "let r = x; if r == 0 { return none; } x = y; y = 0; return r;",
];

fn model(put: &str, take: &str, object_put: &str, object_take: &str, start: i64) -> String {
    format!(
        "record Pair {{ val: int, at: int }}
        spec {{
            state s: seq<int>; state seen: set<int>; state times: map<int, int>;
            state last: int = {start}; state n: int = 0; state one: int? = none;
            state cells: [int; 2];
            op put(v: int) -> bool {{ {put} }}
            op take() -> int? {{ {take} }}
        }}
        shared x: int = 0; shared y: int = 0; shared m: int = {start};
        op put(v: int) -> bool {{ {object_put} }}
        op take() -> int? {{ {object_take} }}
        bounds {{ threads: 2, ops: 2, values: 2 }}\n"
    )
}

#[test]
fn any_values_with_specifications_of_ones_own() {
    // For a long run: LINCHPIN_SEED=7 LINCHPIN_CASES=20000 cargo test --release -p linchpin-refine
    // own_specs
    let (seed, cases) = seed_and_cases(300);
    let mut counts = Counts::default();
    for number in 0..cases {
        let seed = seed.wrapping_add(number);
        let mut random = Rng::with_seed(seed);
        let mut any = |of: &[&'static str]| of[random.usize(..of.len())];
        let (put, take) = (any(&PUTS), any(&TAKES));
        let (object_put, object_take) = (any(&OBJECT_PUTS), any(&OBJECT_TAKES));
        let start = [0, 0, 1, 2][random.usize(..4)];
        let source = model(put, take, object_put, object_take, start);
        let program = compiled(&source).program;
        let calls = random.usize(1..3);
        one(&program, 1, calls, &mut counts, &mut random, &format!("seed {seed}\n{source}"));
    }
    println!("seed {seed}: {counts:?}");
    if cases < 300 {
        return;
    }
    let Counts { moved, compared, refused, differs, refused_differs, naive, .. } = counts;
    assert!(moved[0] > 0 && moved[1] > 0 && compared[0] > 0 && compared[1] > 0);
    assert!(refused > 0 && differs > 0 && refused_differs > 0 && naive > 0);
}

/// What a specification does with values decides which runs stand for all.
#[test]
fn what_a_specification_does_with_values_is_found() {
    let found = |put: &str, take: &str| -> Report {
        let source = model(put, take, OBJECT_PUTS[0], OBJECT_TAKES[0], 0);
        report(&compiled(&source).program, &options(1, Values::Any))
    };
    let data = |put: &str, take: &str| found(put, take).symmetry.data;
    for put in [0, 3, 4, 9, 10, 11, 13, 14] {
        assert_eq!(data(PUTS[put], TAKES[0]), DataUse::Moved, "{}", PUTS[put]);
    }
    for put in [5, 6, 7, 8, 12, 18] {
        assert_eq!(data(PUTS[put], TAKES[0]), DataUse::Compared, "{}", PUTS[put]);
    }
    let refused = |why: fn(String) -> NotAlike, of: &str| {
        Some(NotAlike::InSpecification(Box::new(why(of.to_owned()))))
    };
    assert_eq!(found(PUTS[15], TAKES[0]).not_any, refused(NotAlike::Computed, "put"));
    assert_eq!(found(PUTS[16], TAKES[0]).not_any, refused(NotAlike::Constant, "put"));
    assert_eq!(found(PUTS[17], TAKES[0]).not_any, refused(NotAlike::Computed, "put"));
    // The smallest of a set is one that is ordered.
    assert!(found(PUTS[7], TAKES[11]).not_any.is_some());
}
