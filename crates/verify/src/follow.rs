//! Following an abstract trace: where a proof under abstraction fails and no run within the bounds
//! is wrong, the refinement engine looks a little further, with as many calls as the trace makes.
//! Either it finds a run, or the abstraction has probably lost something, and the answer says
//! where.

use linchpin_engine::{AbstractTrace, Answer, Engine, EngineError, Request, Source, Subject};
use linchpin_verdict::{Bound, Calls, Limits, Verdict};
use std::time::{Duration, Instant};

/// How long a trace is followed.
const PATIENCE: Duration = Duration::from_secs(3);

/// No more calls of a thread than this.
const MOST_CALLS: u32 = 5;

/// What following a trace has led to.
#[derive(Debug)]
enum Followed {
    /// A run that is wrong.
    Run(Box<Answer>),
    /// Every run within these bounds is right.
    Right(Vec<Bound>),
    /// The time was up.
    OutOfTime(Vec<Bound>),
}

/// Follows the trace of a failed proof, if there is one and no run is known to be wrong.
pub fn follow(
    subject: &Subject<'_>,
    answers: &mut [Answer],
    request: &Request<'_>,
) -> Result<(), EngineError> {
    let holds = answers.iter().position(|answer| {
        answer.engine == linchpin_refine::Refine.name()
            && answer.verdict == Verdict::HoldsWithinBounds
    });
    let failed = answers.iter().position(|answer| answer.abstract_trace.is_some());
    let (Some(holds), Some(failed)) = (holds, failed) else { return Ok(()) };
    let is_settled =
        |answer: &Answer| answer.verdict == Verdict::Violated || answer.verdict == Verdict::Proved;
    let Some(trace) = answers[failed].abstract_trace.clone() else { return Ok(()) };
    if answers.iter().any(is_settled) {
        return Ok(());
    }
    let blamed = match trace.depends_on_points {
        true => "the claimed points do not fit, or the abstraction lost something",
        false => "the abstraction lost something",
    };
    let at = format!("`{}`, line {}", trace.operation, trace.line);
    match search(subject, request, &trace)? {
        Some(Followed::Run(mut found)) => {
            found.notes.push(format!("found by following the abstract trace to {at}"));
            answers[holds] = *found;
        }
        Some(Followed::Right(bounds)) => {
            answers[failed].reason +=
                &format!("; {blamed}, before {at}: no run is wrong, with {}", said(&bounds));
        }
        Some(Followed::OutOfTime(bounds)) => {
            answers[failed].reason += &format!(
                "; perhaps {blamed}, before {at}: {} s of search found no run that is wrong, with {}",
                PATIENCE.as_secs(),
                said(&bounds)
            );
        }
        None => {}
    }
    Ok(())
}

fn search(
    subject: &Subject<'_>,
    request: &Request<'_>,
    trace: &AbstractTrace,
) -> Result<Option<Followed>, EngineError> {
    let Source::Lin { bounds, .. } = subject.source else { return Ok(None) };
    let asked = match bounds.calls {
        Calls::Each(count) => count.saturating_add(1),
        Calls::Unlimited => 0,
    };
    let calls = calls(trace).max(asked).min(MOST_CALLS);
    let deadline = Instant::now() + PATIENCE;
    let sooner = request.limits.deadline.map_or(deadline, |other| other.min(deadline));
    let further = Request {
        calls: Some(Calls::Each(calls)),
        objects: None,
        stuck: false,
        suggest_points: None,
        limits: Limits { deadline: Some(sooner), ..request.limits.clone() },
        ..request.clone()
    };
    let answers = linchpin_refine::Refine.answer(subject, &further)?;
    Ok(answers.into_iter().next().map(|answer| match answer.verdict {
        Verdict::Violated => Followed::Run(Box::new(answer)),
        Verdict::HoldsWithinBounds => Followed::Right(answer.bounds),
        _ => Followed::OutOfTime(answer.bounds),
    }))
}

/// The most calls that a thread of the trace makes.
fn calls(trace: &AbstractTrace) -> u32 {
    let of = |thread: Option<usize>| {
        let made = trace.moves.iter().filter(|at| at.thread == thread && at.operation.is_none());
        u32::try_from(made.count()).unwrap_or(u32::MAX)
    };
    trace.moves.iter().map(|at| of(at.thread)).max().unwrap_or(0)
}

fn said(bounds: &[Bound]) -> String {
    bounds.iter().map(Bound::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use crate::{load, verify};
    use linchpin_engine::{Language, Request};
    use linchpin_lang::Config;
    use linchpin_verdict::{Calls, Verdict};

    /// A stack whose `push` is claimed to take effect too early, or that forgets at a `push`.
    fn found(source: &str) -> crate::Verification {
        let loaded = load("model", source, Language::Lin, &Config::default()).unwrap();
        let engines = ["refine".to_owned(), "shape".to_owned()];
        let request = Request { calls: Some(Calls::Each(1)), ..Request::default() };
        verify(&loaded, &engines, &request).unwrap()
    }

    #[test]
    fn a_run_beyond_the_bounds_is_found() {
        let source = "spec stack; struct Node { val: int, next: Node } shared top: Node;
            shared n: int = 0;
            op push(v: int) {
                let x = new Node { val: v };
                #[lin] atomic { x.next = top; top = x; n = n + 1; if n == 2 { top = null; } }
            }
            op pop() -> int? {
                #[lin] atomic {
                    let t = top;
                    if t == null { return none; }
                    top = t.next;
                    return t.val;
                }
            }
            bounds { threads: 2, ops: 1, values: 1 }";
        let found = found(source);
        assert_eq!(found.verdict(), Verdict::Violated, "{found:?}");
        let notes = found.answers[0].notes.join("\n");
        assert!(notes.contains("by following the abstract trace to `pop`"), "{notes}");
    }

    #[test]
    fn where_there_is_none_the_abstraction_is_blamed() {
        let source = include_str!("../../../models/treiber_stack.lin");
        let source = source.replace("#[lin] if cas(top, t, x)", "if cas(top, t, x)");
        let found = found(&source);
        assert_eq!(found.verdict(), Verdict::HoldsWithinBounds, "{found:?}");
        let reason = &found.answers[1].reason;
        assert!(reason.contains("the abstraction lost something, before `"), "{reason}");
    }
}
