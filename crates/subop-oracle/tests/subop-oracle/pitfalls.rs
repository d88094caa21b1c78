//! Four small programs, none of them linearizable, that careless versions of Algorithm 1 accept.

use linchpin_subop::parse;
use linchpin_subop_oracle::{Comparison, Judged, judge_all};

fn verdict(source: &str) -> Judged {
    let model = parse(source).expect("the program parses");
    judge_all(&model, 3, &[1], Comparison::Observations, 100_000)
}

fn violated(source: &str) {
    let model = parse(source).expect("the program parses");
    match verdict(source) {
        Judged::Violated(counterexample) => {
            assert!(counterexample.render(&model).lines().count() >= 4);
        }
        other => panic!("{other:?}\n{source}"),
    }
}

/// Line 31 as printed follows only reversible pairs, so it misses `W` after `Y`.
#[test]
fn closure_must_follow_pairs_that_cannot_be_reversed() {
    violated("int x; int m; int z; A() int r; 1 x = 1; 1 r = z; Y() 1 m = x; W() 1 z = m;");
}

/// Reversible must mean that every state that allows one order allows the other.
#[test]
fn a_guard_that_the_first_enables_is_not_reversible() {
    violated("int x; int y; A() int r; 1 x = 1; 1 r = y; B() 1 <x == 1;> y = 1;");
}

/// What a `READ` saw is part of the state.
#[test]
fn a_read_sees_inside_the_lock() {
    violated(
        "int lock; int x;
        A() 1 <lock == 0;> lock = ID; 1 <lock == ID;> x = 1; 1 <lock == ID;> x = 0; 1 <lock == ID;> lock = 0;
        R() 1 READ x;",
    );
}

/// `R` has seen an operation that can be neither completed nor dropped.
#[test]
fn pending_operations_count() {
    violated(
        "int l; int x; int y;
        A() 1 <l == 0;> l = ID; x = 1; 1 <l == ID; y == 0;> x = 0; l = 0;
        R() 1 y = 1; READ x;",
    );
}

/// The same programs, made right.
#[test]
fn small_changes_make_them_linearizable() {
    let right = [
        "int x; int m; int z; A() int r; 1 x = 1; r = z; Y() 1 m = x; W() 1 z = m;",
        "int x; int y; A() int r; 1 x = 1; 1 r = y; B() 1 <x == 2;> y = 1;",
        "int lock; int x;
        A() 1 <lock == 0;> lock = ID; 1 <lock == ID;> x = 1; 1 <lock == ID;> x = 0; 1 <lock == ID;> lock = 0;
        R() 1 <lock == 0;> READ x;",
        "int l; int x; int y;
        A() 1 <l == 0;> l = ID; x = 1; 1 <l == ID;> x = 0; l = 0;
        R() 1 <l == 0;> y = 1; READ x;",
    ];
    for source in right {
        assert_eq!(verdict(source), Judged::Linearizable, "{source}");
    }
}
