//! The checkers, against what the engines claim and against what is not so.

mod cores;
mod headers;
mod interrupted;
mod kv;
mod partial;
mod reduction;
mod sequential;
mod shape;
mod shape_tampering;
mod tampering;

use linchpin_certify::ReductionError;
use linchpin_reduce::{Options, prove};
use linchpin_subop::Model;
use serde_json::{Value, json};

/// The proof of a model with its text, as one object that tests can change; none if it is not
/// proved.
fn certificate(model: &Model) -> Option<Value> {
    let certificate = prove(model, &Options::default()).certificate()?;
    let mut object = certificate.proof;
    object["model"] = json!(certificate.model);
    Some(object)
}

fn confirm_reduction(certificate: &Value) -> Result<usize, ReductionError> {
    let model = certificate["model"].as_str().unwrap_or_default();
    linchpin_certify::confirm_reduction(model, certificate)
}
