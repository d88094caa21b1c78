//! Native mode: real threads on real cores, any crate as it is.
//!
//! Many fresh objects are made ahead (`batch`). A worker for each thread, pinned to its core, goes
//! from object to object, through a barrier at each (`team`). Beside the next batch, or before it
//! if there is no core to spare, the executions are judged, each different one once; now and then
//! one object is used for a long run (`session`, `play`, `long`). What was found is made smaller by
//! trying again with fewer calls (`shrink`).

mod batch;
mod long;
mod play;
mod session;
mod shrink;
mod team;

use crate::covered::Covered;
use crate::definition::Definition;
use crate::failure::Failure;
use crate::plan::Options;
use session::Session;
use std::sync::{Arc, Mutex, PoisonError};

/// Native tests of one process take turns, for each wants the cores to itself.
static TURN: Mutex<()> = Mutex::new(());

/// Runs a test on real threads.
///
/// # Errors
///
/// What went wrong.
pub fn run<T: Send + Sync + 'static>(
    definition: &Arc<Definition<T>>,
    options: &Options,
) -> Result<Covered, Box<Failure>> {
    // A test that failed in its turn has left nothing behind.
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Session::new(definition, options).run()
}
