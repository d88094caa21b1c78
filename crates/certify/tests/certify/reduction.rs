//! Proofs by reversing sub-operations are confirmed; certificates that say too much or too little
//! are not.

use crate::{certificate, confirm_reduction};
use linchpin_certify::ReductionError;
use serde_json::{Value, json};

fn certificate_of(name: &str) -> Value {
    let path = format!("{}/../../models/subop/{name}.subop", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(&path).expect("the model is there");
    let model = linchpin_subop::parse(&source).expect("the model parses");
    certificate(&model).expect("the model is proved")
}

fn confirmed(name: &str) {
    let start = std::time::Instant::now();
    let answer = confirm_reduction(&certificate_of(name));
    println!("{name}: {answer:?} in {:?}", start.elapsed());
    assert!(answer.is_ok(), "{name}: {answer:?}");
}

#[test]
fn queues() {
    ["ms_queue", "two_lock_queue", "dglm_queue"].into_iter().for_each(confirmed);
}

/// Their invariants are about two objects.
#[test]
fn queues_that_free() {
    ["ms_queue_free", "two_lock_queue_free", "dglm_queue_free"].into_iter().for_each(confirmed);
}

#[test]
fn stacks() {
    ["treiber_stack", "elimination_stack"].into_iter().for_each(confirmed);
}

#[test]
fn cells() {
    ["pair_snapshot", "rdcss"].into_iter().for_each(confirmed);
}

/// Keys in order: only how those compare that are compared is tried.
#[test]
fn sets() {
    ["orvyy_set", "vy_dcas_set", "vy_cas_set", "lazy_set_hindsight"]
        .into_iter()
        .for_each(confirmed);
}

/// Stamps are counted and compared, and invariants are about them.
#[test]
fn stamps() {
    confirmed("timestamped_stack_hindsight");
}

/// Every model that is proved is in one of the tests above.
#[test]
fn no_model_is_left_out() {
    let folder = format!("{}/../../models/subop", env!("CARGO_MANIFEST_DIR"));
    let this = include_str!("reduction.rs");
    for entry in std::fs::read_dir(folder).expect("the models are there") {
        let path = entry.expect("it can be read").path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".subop"))
        else {
            continue;
        };
        let source = std::fs::read_to_string(&path).expect("the model is there");
        let model = linchpin_subop::parse(&source).expect("the model parses");
        let tested = this.contains(&format!("\"{name}\""));
        assert_eq!(certificate(&model).is_some(), tested, "{name}");
    }
}

fn refused(certificate: &Value) {
    let answer = confirm_reduction(certificate);
    assert!(matches!(answer, Err(ReductionError::NotConfirmed(_))), "{answer:?}");
}

/// Whatever is added, or left out where it is needed, is noticed.
#[test]
fn changed_certificates_are_refused() {
    let good = certificate_of("ms_queue");
    let mut more = good.clone();
    more["invariants"].as_array_mut().expect("a list").push(json!("invariant Q.head == Q.tail;"));
    refused(&more);
    for at in 0..good["prefixes"].as_array().expect("a list").len() {
        let mut more = good.clone();
        more["prefixes"][at]["facts"].as_array_mut().expect("a list").push(json!("X.value == 7"));
        refused(&more);
    }
    let last = good["prefixes"]
        .as_array()
        .expect("a list")
        .iter()
        .position(|prefix| prefix["steps"] == json!(["a", "b", "c", "d"]));
    let last = last.expect("the prefix is there");
    let mut less = good.clone();
    less["prefixes"][last]["facts"] = json!([]);
    refused(&less);
    let mut less = certificate_of("dglm_queue");
    for closure in less["closures"].as_array_mut().expect("a list") {
        closure["members"] = json!([]);
    }
    refused(&less);
    assert!(matches!(confirm_reduction(&json!({})), Err(ReductionError::Malformed(_))));
}

/// The certificate of one program does not confirm another.
#[test]
fn the_model_is_what_is_judged() {
    let source = "int x; int l; int y;
         A() 1 <l == 0;> l = ID; x = 1; 1 <l == ID; y == 0;> x = 0; l = 0;
         R() 1 y = 1; READ x;";
    let harmless = source.replace("y = 1; READ x", "READ l");
    let model = linchpin_subop::parse(&harmless).expect("it parses");
    let Some(mut proof) = certificate(&model) else { return };
    proof["model"] = json!(source);
    assert!(confirm_reduction(&proof).is_err());
}

/// A guess that must be `ID` can be.
#[test]
fn guesses_of_identities() {
    let source = "int p; A() int s; 1 p = 1; 1 <s == ID;> return s;";
    let model = linchpin_subop::parse(source).expect("it parses");
    let proof = certificate(&model).expect("it is proved");
    let answer = confirm_reduction(&proof);
    assert!(answer.is_ok(), "{answer:?}");
}

/// What the prover accepts, the checker confirms: it executes everything again, with other code.
#[test]
fn random_proofs_are_confirmed() {
    let cases =
        std::env::var("LINCHPIN_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(250);
    let mut confirmed = 0;
    for seed in 0..cases {
        let source = linchpin_subop_oracle::generate(seed);
        let model = linchpin_subop::parse(&source).expect("a random program parses");
        let Some(proof) = certificate(&model) else { continue };
        if let Err(error) = confirm_reduction(&proof) {
            panic!("seed {seed}: {error}\n{source}");
        }
        confirmed += 1;
    }
    assert!(confirmed * 5 > cases, "{confirmed} of {cases} confirmed");
}
