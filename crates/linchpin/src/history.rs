//! Judging histories.

use crate::Error;
use linchpin_history::{CheckOptions, History, Object, PartialHistory, Violation, Witness};
use linchpin_verdict::{Limits, Outcome};

/// Whether a history is linearizable: with the order that explains it, or with the operations that
/// no order explains.
pub fn check(object: &Object, mut history: History) -> Result<Outcome<Witness, Violation>, Error> {
    Ok(linchpin_history::check(object, &mut history, &CheckOptions::default())?.judgement)
}

/// Whether a history whose precedence is a partial order is linearizable with respect to it.
pub fn check_partial(object: &Object, history: &PartialHistory) -> Outcome<Witness, Violation> {
    linchpin_history::check_partial(object, history, &Limits::default())
}

/// Reads a recorded history of an object from a file, in any of the formats that people have.
#[cfg(feature = "recordings")]
pub fn read_history(path: &std::path::Path, object: &Object) -> Result<History, Error> {
    use linchpin_ingest::{ReadOptions, read_path};
    let options = ReadOptions::new(&object.name, object.spec.operations());
    Ok(read_path(path, &options)?.history)
}
