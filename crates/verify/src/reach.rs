//! Where a condition of base point analysis fails: is the object wrong, or merely outside of the
//! reach of the method? The refinement engine says, within the same bounds.

use linchpin_engine::{Answer, Engine, EngineError, Request, Subject};
use linchpin_verdict::{Limits, Verdict};
use std::time::{Duration, Instant};

/// How long refinement is asked where it was not asked for.
const PATIENCE: Duration = Duration::from_secs(20);

/// Adds to an answer of base point analysis that names a failing condition what that means.
pub fn tell(
    subject: &Subject<'_>,
    answers: &mut Vec<Answer>,
    request: &Request<'_>,
) -> Result<(), EngineError> {
    let fails = |answer: &Answer| answer.roadmap.as_ref().is_some_and(|of| of.is_refuted());
    let Some(failed) = answers.iter().position(fails) else { return Ok(()) };
    let refine = linchpin_refine::Refine;
    let asked = answers.iter().find(|answer| answer.engine == refine.name());
    let verdict = match asked {
        Some(answer) => answer.verdict,
        None => {
            let mut found = refine.answer(subject, &patient(request))?;
            let verdict = found.first().map_or(Verdict::Inconclusive, |answer| answer.verdict);
            found.retain(|answer| answer.verdict == Verdict::Violated);
            answers.extend(found);
            verdict
        }
    };
    let reach = answers[failed].roadmap.as_ref().and_then(|roadmap| roadmap.reach.clone());
    let meaning = match verdict {
        Verdict::Violated => "; refinement finds a run that is wrong".to_owned(),
        Verdict::HoldsWithinBounds => {
            let why = reach.map_or_else(String::new, |reach| format!(": {reach}"));
            format!(
                "; no run within these bounds is wrong, so the object is outside of the reach of base points{why}"
            )
        }
        _ => "; whether a run is wrong is not known".to_owned(),
    };
    answers[failed].reason += &meaning;
    Ok(())
}

fn patient<'a>(request: &Request<'a>) -> Request<'a> {
    let patience = Instant::now() + PATIENCE;
    let deadline = request.limits.deadline.map_or(patience, |given| given.min(patience));
    Request {
        limits: Limits { deadline: Some(deadline), ..request.limits.clone() },
        ..request.clone()
    }
}
