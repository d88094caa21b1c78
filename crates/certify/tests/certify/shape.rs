//! Certificates of the shape engine: those of proved models are confirmed.

use linchpin_certify::{ShapeCertificate, ShapeConfirmed, ShapeError, read_header};
use linchpin_shape::certificate::{About, of};
use linchpin_shape::{Options, Threads, analyse};

/// The text of a bundled model.
pub fn model(name: &str) -> String {
    let path = format!("{}/../../models/{name}.lin", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the model is there")
}

/// The certificate of a model, if the engine proves it.
pub fn certificate(text: &str, threads: Option<usize>) -> Option<ShapeCertificate> {
    let config = linchpin_lang::Config {
        threads: threads.map_or(linchpin_lang::Threads::AsDeclared, linchpin_lang::Threads::Count),
        ..linchpin_lang::Config::default()
    };
    let program = linchpin_lang::compile(text, &config).expect("the model compiles").program;
    let threads = if threads.is_none() { Threads::Any } else { Threads::Those };
    let options = Options { threads, workers: 2, ..Options::default() };
    let analysis = analyse(&program, &options, &|_| {}).ok()?;
    let about = About { name: "model", text, file: None, parameters: &[], threads };
    let written = of(&analysis, &about)?;
    let (_, json) = read_header(&written).expect("a certificate");
    Some(ShapeCertificate::read(&json).expect("a certificate of a proof"))
}

fn confirm(name: &str, threads: Option<usize>) -> Result<ShapeConfirmed, ShapeError> {
    let certificate = certificate(&model(name), threads).expect("the model is proved");
    let start = std::time::Instant::now();
    let confirmed = certificate.confirm();
    println!("{name}: {confirmed:?} {:?}", start.elapsed());
    confirmed
}

#[test]
fn stacks_and_queues_are_confirmed_for_any_number_of_threads() {
    for name in ["treiber_stack", "two_lock_queue", "dglm_queue", "ms_queue"] {
        assert!(confirm(name, None).is_ok(), "{name}");
    }
}

#[test]
fn stacks_and_queues_are_confirmed_for_two_threads() {
    for name in ["treiber_stack", "two_lock_queue", "dglm_queue"] {
        assert!(confirm(name, Some(2)).is_ok(), "{name}");
    }
}

/// The set with a lock in every node, and the one of the hindsight lemma.
#[test]
fn sets_are_confirmed_for_any_number_of_threads() {
    for name in ["pessimistic_set", "orvyy_set"] {
        assert!(confirm(name, None).is_ok(), "{name}");
    }
}

#[test]
fn the_pessimistic_set_is_confirmed_for_two_threads() {
    assert!(confirm("pessimistic_set", Some(2)).is_ok());
}
