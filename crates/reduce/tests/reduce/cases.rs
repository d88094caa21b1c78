//! No case is forgotten. In each of these `A` may return (0, 1), which no sequential execution
//! gives.

use linchpin_reduce::{Options, prove};

fn report(source: &str) -> linchpin_reduce::Proof {
    let model = linchpin_subop::parse(source)
        .unwrap_or_else(|mistakes| panic!("{}\n{source}", mistakes[0].message));
    prove(&model, &Options::default())
}

/// A fact that has been given up is asked about all the same: its answers must not be taken for
/// those of the next one.
#[test]
fn one_fact_does_not_answer_for_another() {
    let source = "int a; int b; int c; int y;
        initially { a = 1; b = 1; c = 1; }
        Za() 1 a = 0; return;
        Zb() 1 b = 0; return;
        Zc() 1 c = 0; return;
        W() 1 < a == 1; b == 1; c == 1; > y = 1; return;
        A() int r; int s;
            1 r = y; ...a1
            either { 1 s = y; return r, s; }
            or { 1 < (a == 0 || b == 0); (b != 1 || a == 0 || c == 0); > return 7, 7; }";
    let found = report(source);
    assert!(!found.is_proved());
    let facts = found.facts.iter().flat_map(|prefix| &prefix.stable);
    let kept: Vec<&str> =
        facts.filter(|fact| fact.dropped.is_none()).map(|fact| fact.text.as_str()).collect();
    assert!(!kept.iter().any(|fact| fact.contains("b != 1")), "{kept:?}");
}

/// However many alternatives there are, the last one is one.
#[test]
fn many_alternatives() {
    for count in [3, 254, 255, 256, 300] {
        let others: Vec<String> = (1..=count).map(|value| format!("x == {value}")).collect();
        let source = format!(
            "int x; int y; Set() 1 x = 999; return;
             A() int r; int s; 1 r = y; 1 s = y; return r, s;
             W() 1 < {} || x == 999; x > 500; > y = y + 1; return;",
            others.join(" || ")
        );
        assert!(!report(&source).is_proved(), "{count}");
    }
}

/// Invariants that are not used are printed.
#[test]
fn invariants_that_are_not_used() {
    let source = "int x; struct node { int v }; node p;
        A() node X; 1 X = malloc node; p = X; ...a 1 X.v = 1; return;";
    for invariant in ["for (node n) after a: n.v == 0", "for (int k) x == k"] {
        report(&format!("{source}\ninvariant {invariant};"));
    }
}

/// A limit ends the proof with its reason, and what is asked of it then ends too.
#[test]
fn a_limit_stops_the_proof() {
    use linchpin_reduce::Obstacle;
    use linchpin_verdict::{Limits, StopFlag, StopReason};
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/subop/ms_queue.subop");
    let source = std::fs::read_to_string(path).expect("the model is there");
    let model = linchpin_subop::parse(&source).expect("it parses");
    let stop = StopFlag::default();
    let options = Options { limits: Limits::until(stop.clone()), ..Options::default() };
    assert!(prove(&model, &options).is_proved());
    stop.ask(StopReason::Interrupt);
    let proof = prove(&model, &options);
    assert_eq!(proof.obstacle, Some(Obstacle::Stopped(StopReason::Interrupt)));
    assert_eq!(proof.certificate(), None);
    assert!(proof.tables().pairs.is_empty() && proof.obligations().is_empty());
    let limits = Limits { deadline: Some(std::time::Instant::now()), ..Limits::default() };
    let proof = prove(&model, &Options { limits, ..Options::default() });
    assert_eq!(proof.obstacle, Some(Obstacle::Stopped(StopReason::Time)));
}

/// Certificate, tables and questions are read from one analysis: nothing is proved again.
#[test]
fn everything_is_read_from_the_proof() {
    let source = "int x; A() 1 x = 1; 1 return; B() 1 return x;";
    let proof = report(source);
    assert_eq!(proof.certificate().is_some(), proof.is_proved());
    let text = proof.certificate().map(|certificate| certificate.model);
    let model = linchpin_subop::parse(source).expect("it parses");
    assert!(text.is_none_or(|text| text == linchpin_subop::print(&model)));
    assert!(!proof.tables().pairs.is_empty() && !proof.obligations().is_empty());
}
