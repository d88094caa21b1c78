//! The calls of a preload, judged before anything is searched: one thread makes them alone, so a
//! step that fails there, or an answer that the specification does not give, is a violation.

use crate::counterexample::{Counterexample, Failure};
use crate::model::ModelError;
use crate::options::VerifyOptions;
use crate::search::Stats;
use crate::sets::{Policy, Renamable, Sets};
use crate::stuck::StuckCheck;
use crate::verify::{Points, Report};
use linchpin_ir::interpreter::Machine;
use linchpin_ir::program::Program;
use linchpin_ir::run::{AnsweredCall, PreloadError, Preloaded, preload, replay};
use linchpin_space::{DataUse, NotAlike, Symmetry, Values};
use linchpin_verdict::Outcome;

/// The verdict, if the calls of the preload are wrong by themselves.
pub(crate) fn judged(
    program: &Program,
    options: &VerifyOptions,
) -> Result<Option<Report>, ModelError> {
    if program.preload.is_empty() {
        return Ok(None);
    }
    if options.bounds.has_crashes() {
        return Err(PreloadError::Crashes.into());
    }
    let memory = options.bounds.memory;
    let Preloaded { run, result, calls } = preload(&Machine::new(program, memory))?;
    if result.is_err() {
        let moves = run.schedule.len();
        return Ok(Some(report(Counterexample::of(run, moves, Failure::Fault))));
    }
    let sets = Sets::new(program, Policy::JustInTime, Renamable::nothing())?;
    let Some((wrong, possible)) = sets.start_after(&calls) else { return Ok(None) };
    // The run up to the answer that nothing explains.
    let moves = calls.get(wrong).map_or(run.schedule.len(), |AnsweredCall { moves, .. }| *moves);
    let run = replay(program, memory, &run.schedule[..moves]).unwrap_or(run);
    let possible = possible.iter().map(ToString::to_string).collect();
    Ok(Some(report(Counterexample::of(run, moves, Failure::Unexplained { possible }))))
}

fn report(found: Counterexample) -> Report {
    Report {
        outcome: Outcome::Violated(Box::new(found)),
        points: Points::NotUsed,
        stuck: StuckCheck::Off,
        stats: Stats::default(),
        unreached: Vec::new(),
        open_lines: Vec::new(),
        never_returned: Vec::new(),
        symmetry: Symmetry {
            threads: false,
            values: false,
            data: DataUse::Other(NotAlike::Specification),
        },
        bounded: false,
        any_calls: false,
        values: Values::Any,
        not_any: None,
        crash: None,
        recovered: None,
    }
}
