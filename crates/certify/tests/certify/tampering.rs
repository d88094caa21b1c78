//! Certificates of proved models with one thing changed. What claims more than is so must be
//! refused. What claims less may be confirmed only because the rest is a proof still: a fact that
//! nothing needs, a member that others stand for, a prefix that can be completed *and* left out.

use crate::{certificate, confirm_reduction};
use linchpin_certify::ReductionError;
use serde_json::{Value, json};

const MODELS: [&str; 8] = [
    "treiber_stack",
    "ms_queue",
    "ms_queue_free",
    "dglm_queue",
    "two_lock_queue",
    "pair_snapshot",
    "rdcss",
    "orvyy_set",
];

fn certificate_of(name: &str) -> Value {
    let path = format!("{}/../../models/subop/{name}.subop", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(&path).expect("the model is there");
    proof_of(&source)
}

fn proof_of(source: &str) -> Value {
    let model = linchpin_subop::parse(source).expect("the model parses");
    certificate(&model).expect("the model is proved")
}

/// Whether it is refused; it is never too large, nor malformed.
fn refused(certificate: &Value) -> bool {
    match confirm_reduction(certificate) {
        Ok(_) => false,
        Err(ReductionError::NotConfirmed(_)) => true,
        Err(error) => panic!("{error}"),
    }
}

fn list(value: &mut Value) -> &mut Vec<Value> {
    value.as_array_mut().expect("a list")
}

/// How many certificates are refused, of those in which one entry of each list at `field` of `part`
/// is left out.
fn without_each(good: &Value, part: &str, field: &str) -> (usize, usize) {
    let (mut gone, mut noticed) = (0, 0);
    for at in 0..good[part].as_array().expect("a list").len() {
        for entry in 0..good[part][at][field].as_array().expect("a list").len() {
            let mut less = good.clone();
            list(&mut less[part][at][field]).remove(entry);
            gone += 1;
            noticed += usize::from(refused(&less));
        }
    }
    (gone, noticed)
}

/// Leaving out a fact is harmless where nothing needs it; but some are needed.
#[test]
fn facts_that_are_needed_cannot_be_left_out() {
    let mut all = 0;
    for name in MODELS.into_iter().filter(|name| *name != "orvyy_set") {
        let (gone, noticed) = without_each(&certificate_of(name), "prefixes", "facts");
        println!("{name}: {noticed} of {gone}");
        all += noticed;
    }
    assert!(all >= 10, "{all}");
}

/// A closure that lacks a member is one only if another member stands for it, or if the facts of
/// the prefix keep it from following. (The prover asks about members and what follows them without
/// the prefix; here the prefix is there, holding its lock.)
#[test]
fn members_cannot_be_left_out() {
    let (mut all, mut those) = (0, 0);
    for name in MODELS.into_iter().filter(|name| *name != "orvyy_set") {
        let (gone, noticed) = without_each(&certificate_of(name), "closures", "members");
        println!("{name}: {noticed} of {gone}");
        all += gone;
        those += noticed;
    }
    assert!(those >= 30, "{those} of {all}");
}

/// The opposite of a comparison that holds.
fn opposite(fact: &str) -> Option<String> {
    let signs = [
        (" == ", " != "),
        (" != ", " == "),
        (" <= ", " > "),
        (" >= ", " < "),
        (" < ", " >= "),
        (" > ", " <= "),
    ];
    let (sign, other) = signs.iter().find(|(sign, _)| fact.contains(sign))?;
    (fact.matches(sign).count() == 1 && !fact.contains("||")).then(|| fact.replace(sign, other))
}

/// Of a prefix that instances come to, the opposite of what holds does not hold: not as a fact, and
/// not as a live one.
#[test]
fn wrong_facts_are_refused() {
    for name in MODELS {
        let good = certificate_of(name);
        for at in 0..good["prefixes"].as_array().expect("a list").len() {
            for (from, to) in [("facts", "facts"), ("live", "live"), ("live", "facts")] {
                for fact in good["prefixes"][at][from].as_array().expect("a list") {
                    let Some(wrong) = opposite(fact.as_str().expect("a text")) else { continue };
                    let mut more = good.clone();
                    list(&mut more["prefixes"][at][to]).push(json!(wrong));
                    assert!(refused(&more), "{name}: {to} of {at}: {wrong}");
                }
            }
        }
    }
}

/// An object that was stored stands where it was stored.
#[test]
fn places_cannot_be_left_out() {
    let mut tried = 0;
    for name in MODELS {
        let good = certificate_of(name);
        for at in 0..good["prefixes"].as_array().expect("a list").len() {
            for reach in 0..good["prefixes"][at]["reaches"].as_array().expect("a list").len() {
                let mut more = good.clone();
                more["prefixes"][at]["reaches"][reach]["places"] = json!([]);
                assert!(refused(&more), "{name}: {at}");
                tried += 1;
            }
        }
    }
    assert!(tried > 0);
}

/// Some prefixes can be completed and left out: then it does not matter which of the two is said.
/// Each of the two is refused somewhere.
#[test]
fn pending_operations_cannot_be_dealt_with_otherwise() {
    for (from, to) in [("enabled", "droppable"), ("droppable", "enabled")] {
        let mut noticed = 0;
        for name in MODELS {
            let good = certificate_of(name);
            for at in 0..good["prefixes"].as_array().expect("a list").len() {
                if good["prefixes"][at]["pending"] == from {
                    let mut other = good.clone();
                    other["prefixes"][at]["pending"] = json!(to);
                    noticed += usize::from(refused(&other));
                }
            }
        }
        println!("{from} to {to}: {noticed} refused");
        assert!(noticed > 0, "{from}");
    }
}

/// A prover that overlooks how `NULL`, or poison, gets from one variable to another would claim
/// that it does not.
#[test]
fn what_variables_can_hold_is_found_out_anew() {
    let cases = [
        // Copied from variable to variable.
        (
            "int x; int y; A() 1 y = 1; return; B() 1 x = y; return;",
            "y = 1",
            "y = NULL",
            "x != NULL",
        ),
        // An argument may be NULL.
        ("int x; A(int a) 1 x = 1; return;", "x = 1", "x = a", "x != NULL"),
        // A guess may be NULL.
        ("int x; A() int g; 1 <g != x;> x = 1; return;", "x = 1", "x = g", "x != NULL"),
        // Counting from NULL gives poison, which is neither NULL nor a number.
        (
            "int x; int y; A() 1 y = 1; return; B() 1 x = y + 1; return;",
            "y = 1",
            "y = NULL",
            "x >= 0 || x < 0",
        ),
    ];
    for (source, from, to, claim) in cases {
        let mut proof = proof_of(source);
        list(&mut proof["invariants"]).push(json!(format!("invariant {claim};")));
        assert!(!refused(&proof), "{claim} of {source}");
        let mut other = proof.clone();
        let printed = proof["model"].as_str().expect("a text");
        assert!(printed.contains(from), "{printed}");
        other["model"] = json!(printed.replace(from, to));
        assert!(confirm_reduction(&other).is_err(), "{claim} of {printed}");
    }
}

/// Of two `ID`s either may be the larger one, and any number that is not in the file may be one.
#[test]
fn nothing_is_known_of_identities_but_that_they_differ() {
    let good = proof_of("int x; A() 1 x = ID; ...a1 1 return; ...a2");
    for (claim, so) in [
        ("x >= ID", false),
        ("x <= ID", false),
        ("x == ID", false),
        ("x != 7", false),
        ("x < 7 || x > 7", false),
        ("x > 0", true),
    ] {
        let mut more = good.clone();
        list(&mut more["prefixes"][0]["facts"]).push(json!(claim));
        assert_eq!(refused(&more), !so, "{claim}");
    }
}

/// What is counted may be any number that nothing rules out, and no other.
#[test]
fn counting_is_exact() {
    let good = proof_of("int x; int y; A() 1 x = x + 3; return; B() 1 y = x - 2; return;");
    for (claim, so) in [
        ("x >= 0", true),
        ("x >= 1", false),
        ("x >= 0 && x != 1 && x != 2", true),
        ("x >= 0 && x != 4", false),
        ("x >= 0 && x != 1 && x != 4", true),
        ("x >= 0 && x != 50 && x != 53", false),
        ("x <= 1000000000", false),
        ("x >= 0 && y <= x", true),
        ("x >= 0 && y < x", false),
        ("x >= 0 && y < x + 1", true),
        ("x >= 0 && y + 3 != x", false),
    ] {
        let mut more = good.clone();
        list(&mut more["invariants"]).push(json!(format!("invariant {claim};")));
        assert_eq!(refused(&more), !so, "{claim}");
    }
}

/// Certificates of models that are not linearizable, each made so that one careless rule would
/// confirm it: a read that guesses a local is left out though that local is assigned later or may
/// be poison; something is said of an operation that has ended, which nothing is asked about; an
/// object stands only in a place that moves; an object is guessed that was never stored; a
/// condition is about another step.
#[test]
fn nothing_false_is_confirmed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/refused");
    let files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    assert!(files.len() >= 14);
    for file in files {
        let text = &std::fs::read_to_string(&file).expect("it can be read");
        let certificate: Value = serde_json::from_str(text).expect("it is JSON");
        let model = linchpin_subop::parse(certificate["model"].as_str().expect("a model"));
        let judged = linchpin_subop_oracle::judge_all(
            &model.expect("it parses"),
            3,
            &[1],
            linchpin_subop_oracle::Comparison::Observations,
            20_000,
        );
        assert!(matches!(judged, linchpin_subop_oracle::Judged::Violated(_)), "{file:?}");
        let answer = confirm_reduction(&certificate);
        let refused =
            matches!(answer, Err(ReductionError::NotConfirmed(_) | ReductionError::Malformed(_)));
        assert!(refused, "{file:?}: {answer:?}");
    }
}

/// A condition is a condition, not a piece of a model.
#[test]
fn conditions_declare_nothing() {
    let certificate = certificate_of("treiber_stack");
    for text in [
        "int z; invariant z == 0;",
        "struct q { int a, q b }; invariant for (q n) n.a == 0;",
        "struct q { int a, q b }; q zz; invariant zz != NULL;",
        "Other() 1 READ top;",
    ] {
        let mut changed = certificate.clone();
        changed["invariants"].as_array_mut().expect("a list").push(json!(text));
        let answer = confirm_reduction(&changed);
        assert!(matches!(answer, Err(ReductionError::Malformed(_))), "{text}: {answer:?}");
    }
    let mut changed = certificate;
    changed["prefixes"][0]["facts"] = json!(["1 == 1; int z"]);
    let answer = confirm_reduction(&changed);
    assert!(matches!(answer, Err(ReductionError::Malformed(_))), "{answer:?}");
}
