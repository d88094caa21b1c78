//! One execution again: `LINCHPIN_REPLAY` names the file of a failure.

use super::task::{Conditions, Found, Task};
use crate::covered::Covered;
use crate::definition::Definition;
use crate::error::DefinitionError;
use crate::failure::{Failure, Kind};
use crate::files::{self, Regression};
use crate::plan::{Mode, Options};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

/// Repeats the execution of a failure, with nothing else before it: a place for a debugger.
///
/// # Errors
///
/// The failure, if it is still one.
pub(super) fn run<T: Send + Sync + 'static>(
    definition: &Arc<Definition<T>>,
    mode: Mode,
    options: &Options,
    path: &OsStr,
) -> Result<Covered, Box<Failure>> {
    let subject = &definition.subject;
    let regression = files::regression_at(subject, Path::new(path)).map_err(|reason| {
        let value = path.to_string_lossy().into_owned();
        let mistake = DefinitionError::Replay { path: value, reason };
        Box::new(Failure::of(&subject.name, Kind::Mistake(mistake)))
    })?;
    let Regression { scenario, decisions, .. } = regression;
    let Some(decisions) = decisions else {
        let path = path.to_string_lossy().into_owned();
        let mistake = DefinitionError::Replay { path, reason: "it has no decisions".to_owned() };
        return Err(Box::new(Failure::of(&subject.name, Kind::Mistake(mistake))));
    };
    // No watchdog: a debugger may hold a thread as long as it likes.
    let Options { stack, cancel, .. } = *options;
    let conditions = Conditions { stack, cancel, ..Conditions::default() };
    let outcome = Task::replay(mode, scenario, decisions).run(definition, &conditions, None);
    let mut covered = Covered::new(&subject.name, mode, options.threads, options.ops, 0);
    match outcome.found {
        Some(found) if !found.is_drift() => {
            let mut failure = Found::failure(found, definition, mode);
            failure.rounds = 1;
            Err(Box::new(failure))
        }
        Some(_) => {
            covered.notes.push("the code has drifted: it does something else now".to_owned());
            Ok(covered)
        }
        None => {
            covered.rounds = outcome.tally.executions;
            covered.notes.push("the execution of the failure does not fail any more".to_owned());
            Ok(covered)
        }
    }
}
