//! What the author writes: reads, claims and invariants are judged as they stand in the file.

use linchpin_reduce::{Answer, Options, Proof, prove};
use linchpin_subop_oracle::{Comparison, Judged, judge_all};

fn report(source: &str) -> Proof {
    let model = linchpin_subop::parse(source).expect("it parses");
    prove(&model, &Options::default())
}

/// `r` guesses a local that is assigned later, or that poison is assigned to: without `r`, which no
/// execution gets past, `Op` would be completed.
#[test]
fn reads_that_guess_what_is_assigned_later_are_not_replaced() {
    let models = [
        "int x; int y; int k; int z;
        initially { z = 1; }
        Op() int p; int c;
            1 x = 1; ...a
            1 < p == k; > c = y; ...r
            1 < p == z; y == c; > p = k; return; ...d
        Get() 1 return x; ...g",
        "int x; int y; int n;
        initially { n = NULL; }
        Op() int j; int k; int c;
            1 x = 1; k = n + 1; ...a
            1 < j == k; > c = y; ...r
            1 < y == c; > j = k; return; ...d
        Get() 1 return x; ...g",
    ];
    for source in models {
        let model = linchpin_subop::parse(source).expect("it parses");
        let report = prove(&model, &Options::default());
        assert!(report.replaced.is_empty() && !report.is_proved(), "{source}");
        let judged = judge_all(&model, 2, &[1], Comparison::Observations, 20_000);
        assert!(matches!(judged, Judged::Violated(_)), "{source}");
    }
}

fn answers(source: &str) -> Vec<Answer> {
    report(source).claims.into_iter().map(|claim| claim.answer).collect()
}

/// `r` is replaced in the proof; that nothing executes `d` right after `b` is true of the file, for
/// `r` comes between.
#[test]
fn claims_are_about_the_file_as_it_is() {
    let source = "int f; int y; int x;
        initially { f = 1; }
        A() int c;
            1 < f == 0; > c = y; ...r
            1 < y == c; f == 0; > x = 1; return; ...d
        B() 1 < f == 1; > f = 0; return; ...b
        relations { b ≀ d  ¬ b ≀ d  b ≀ r }";
    assert_eq!(report(source).replaced, ["r"]);
    assert_eq!(answers(source), [Answer::Excluded, Answer::Proved, Answer::Proved]);
}

/// `mark` guesses `X`: the condition is about what it guesses.
#[test]
fn claims_may_be_about_guesses() {
    let source = "struct node { int v };
        node top; int A[];
        initially { node D; D = malloc node; top = D; }
        Swing(int n) node X;
            1 < top == X; > X.v = n; ...mark
            1 A[n] = n; ...store
        relations {
            ¬ store ≀ mark [if (X@2 ≠ top)]
            ¬ store ≀ mark [if (X@2 == top)]
            mark ⊖ mark [if (X@1 == X@2)]
            mark ⊖ store [if (X@1 ≠ X@2)]
        }";
    let (open, proved) = (Answer::Open, Answer::Proved);
    assert_eq!(answers(source), [proved, open, open, proved]);
}

#[test]
fn invariants_that_are_not_shown_are_named() {
    let source = "int y; int x;
        A() int c;
            1 c = y; ...r
            1 < y == c; > x = 1; return; ...d
        invariant y == 0;
        invariant after r: c == 7;
        invariant after d: x == 9;
        invariant x == 3;";
    let doubtful = report(source).doubtful();
    assert_eq!(doubtful.len(), 3, "{doubtful:?}");
    assert!(doubtful[0].contains("`invariant x == 3` is not shown to hold: false at the start"));
    assert!(doubtful[1].contains("`invariant after r: c == 7` is not checked"), "{doubtful:?}");
    assert!(doubtful[2].contains("`invariant after d: x == 9` is not checked"), "{doubtful:?}");
}
