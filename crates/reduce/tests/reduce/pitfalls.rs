//! Four programs that a careless version of the method accepts. None is linearizable, as brute
//! force confirms; none is proved.

use linchpin_reduce::{Obstacle, Options, Proof, prove};
use linchpin_subop_oracle::{Comparison, Judged, judge_all};

fn rejected(source: &str) -> Proof {
    let model =
        linchpin_subop::parse(source).unwrap_or_else(|mistakes| panic!("{}", mistakes[0].message));
    let judged = judge_all(&model, 3, &[1], Comparison::Observations, 100_000);
    assert!(matches!(judged, Judged::Violated(_)), "brute force: {judged:?}");
    let report = prove(&model, &Options::default());
    assert!(!report.is_proved());
    report
}

/// Line 31 of Algorithm 1 as printed follows reversible members instead of irreversible ones.
#[test]
fn the_closure_follows_irreversible_pairs() {
    let report =
        rejected("int x; int m; int z; A() int r; 1 x = 1; 1 r = z; Y() 1 m = x; W() 1 z = m;");
    expect_test::expect![[r#"
        The last step cannot be moved next to the first ones:
           1 A                  A_1      1 x = 1;
           2 Y                  Y_1      1 m = x;
           3 W                  W_1      1 z = m;
           1 A                  A_2      1 r = z;
    "#]]
    .assert_eq(&report.obstacle_text());
}

/// Reversible means that *every* state that allows the one order allows the other.
#[test]
fn reversible_means_in_every_state() {
    rejected("int x; int y; A() int r; 1 x = 1; 1 r = y; B() 1 <x == 1;> y = 1;");
}

/// What a `READ` saw is part of the state.
#[test]
fn reads_are_compared() {
    rejected(
        "int x; int l;
         A() 1 <l == 0;> l = ID; 1 <l == ID;> x = 1; 1 <l == ID;> x = 0; 1 <l == ID;> l = 0;
         R() 1 READ x;",
    );
}

/// An operation that was seen and can never complete.
#[test]
fn pending_operations_have_an_obligation() {
    let report = rejected(
        "int x; int l; int y;
         A() 1 <l == 0;> l = ID; x = 1; 1 <l == ID; y == 0;> x = 0; l = 0;
         R() 1 y = 1; READ x;",
    );
    assert!(matches!(report.obstacle, Some(Obstacle::Pending { .. })), "{:?}", report.obstacle);
}

/// A read into a local that was guessed before is not replaced by a guess: it changes the local.
#[test]
fn a_local_that_has_a_value_is_not_guessed_again() {
    rejected(
        "int x; int y; A() int r; 1 <x == r;> READ x; 1 r = x; 1 READ y; C() 1 x = 2; 1 READ y;",
    );
}

/// The interleaving that stops a proof can be executed if the violation is real.
#[test]
fn failing_interleavings_are_executed() {
    let source = "int x; int m; int z; A() int r; 1 x = 1; 1 r = z; Y() 1 m = x; W() 1 z = m;";
    let model =
        linchpin_subop::parse(source).unwrap_or_else(|mistakes| panic!("{}", mistakes[0].message));
    let proof = prove(&model, &Options::default());
    assert!(matches!(proof.obstacle, Some(Obstacle::Interleaving(_))), "{:?}", proof.obstacle);
    assert_eq!(proof.find_execution(), Some(Vec::new()));
}
