//! Refinement within larger and larger bounds: one bound is raised by one, then the next, so that
//! the bounds of a finished search are always those of the one before and more. The last that
//! finished is what is said.

use crate::Loaded;
use crate::climb::{left, seconds, sooner};
use crate::ladder::{Dimension, Free};
use linchpin_engine::{Answer, Engine, EngineError, Request, Stat};
use linchpin_ir::interpreter::FaultKind;
use linchpin_ir::run::End;
use linchpin_verdict::{Bound, Calls, Values, Verdict};
use std::time::{Duration, Instant};

/// With less time than this nothing is begun.
const SHORTEST: Duration = Duration::from_millis(100);

/// A climb within growing bounds.
pub(crate) struct Deeper<'a> {
    pub engine: &'a dyn Engine,
    pub free: Free,
    /// Whether finitely many values may stand for all, and may be asked to.
    pub alike: bool,
    pub request: &'a Request<'a>,
}

/// Bounds of a search.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    pub calls: Calls,
    /// Nothing if clients pass none of them.
    pub values: Option<Values>,
    pub threads: usize,
}

impl Bounds {
    fn raised(&self, dimension: Dimension) -> Bounds {
        let mut raised = self.clone();
        match dimension {
            Dimension::Calls => {
                if let Calls::Each(count) = self.calls {
                    raised.calls = Calls::Each(count.saturating_add(1));
                }
            }
            Dimension::Threads => raised.threads = self.threads.saturating_add(1),
            Dimension::Values => {
                if let Some(Values::UpTo(last)) = self.values {
                    raised.values = Some(Values::UpTo(last.saturating_add(1)));
                }
            }
        }
        raised
    }
}

/// What is said of a search that is not the one that decides.
enum Passed {
    /// Every run within these bounds is right.
    Right(Vec<Bound>),
    /// It showed nothing, and why.
    Nothing(String),
}

/// What came of a search.
pub(crate) enum Tried {
    /// A run is wrong.
    Wrong(Answer),
    /// Every run is right.
    Right(Answer),
    /// It showed nothing: it was not finished, or the model is not made for such bounds.
    Nothing(String),
}

impl Deeper<'_> {
    /// The strongest answer, if it is another than the first.
    pub fn climb(&self, loaded: &Loaded, first: &Answer) -> Result<Option<Answer>, EngineError> {
        let Some(mut bounds) = bounds_of(first) else { return Ok(None) };
        let start = Instant::now();
        let mut passed = Vec::new();
        let mut best: Option<Answer> = None;
        if first.verdict == Verdict::Inconclusive {
            match self.search(loaded, &bounds, left(&self.request.limits), None)? {
                Tried::Wrong(answer) | Tried::Right(answer) => best = Some(answer),
                Tried::Nothing(_) => return Ok(None),
            }
        }
        let mut alike = self.alike;
        let mut open: Vec<Dimension> = Dimension::ORDER.to_vec();
        open.retain(|dimension| self.free.has(*dimension));
        loop {
            // A search may find that its calls stand for any number of them, and its values for
            // all.
            if bounds.calls == Calls::Unlimited {
                open.retain(|dimension| *dimension != Dimension::Calls);
            }
            if matches!(bounds.values, None | Some(Values::Any)) {
                open.retain(|dimension| *dimension != Dimension::Values);
            }
            let Some(dimension) = open.first().copied() else { break };
            if best.as_ref().is_some_and(|answer| answer.verdict == Verdict::Violated) {
                break;
            }
            open.remove(0);
            let Some(time) = self.time_for(open.len()) else { break };
            let any = dimension == Dimension::Values && alike;
            let raised = match any {
                true => Bounds { values: Some(Values::Any), ..bounds.clone() },
                false => bounds.raised(dimension),
            };
            match self.search(loaded, &raised, Some(time), None)? {
                Tried::Wrong(answer) => best = Some(answer),
                // A larger bound of which less is known is not stronger.
                Tried::Right(answer) if answer.stuck < first.stuck => {
                    let with = said(&answer.bounds);
                    passed.push(Passed::Nothing(format!(
                        "not finished: whether operations can get stuck with {with}"
                    )));
                }
                Tried::Right(answer) => {
                    let before = best.as_ref().unwrap_or(first);
                    let reached = bounds_of(&answer).unwrap_or(raised);
                    let any_calls =
                        reached.calls == Calls::Unlimited && reached.calls != bounds.calls;
                    let any_values =
                        reached.values == Some(Values::Any) && reached.values != bounds.values;
                    // No new state: a larger bound would add none either.
                    if states(&answer) == states(before) && !any_calls && !any_values {
                        continue;
                    }
                    passed.push(Passed::Right(answer.bounds.clone()));
                    bounds = reached;
                    best = Some(answer);
                    open.push(dimension);
                }
                Tried::Nothing(why) => {
                    passed.push(Passed::Nothing(why));
                    // One value more may do where all are too many.
                    if any {
                        alike = false;
                        open.push(dimension);
                    }
                }
            }
        }
        Ok(finished(first, best, passed, start))
    }

    /// An answer that takes the place of another one, with the time since then.
    pub fn timed(&self, answer: Answer, first: &Answer, start: Instant) -> Answer {
        Answer { seconds: Some(first.seconds.unwrap_or(0.0) + seconds(start)), ..answer }
    }

    /// The time for one search: half of what is left if there is another after it.
    fn time_for(&self, others: usize) -> Option<Duration> {
        let left = left(&self.request.limits)?;
        let time = if others == 0 { left } else { left / 2 };
        (time > SHORTEST).then_some(time)
    }

    /// A search within bounds, for so long and of so many states at most.
    pub fn search(
        &self,
        loaded: &Loaded,
        bounds: &Bounds,
        time: Option<Duration>,
        states: Option<u64>,
    ) -> Result<Tried, EngineError> {
        let with_threads;
        let loaded = match loaded.threads() == Some(bounds.threads) {
            true => loaded,
            false => match loaded.with_threads(bounds.threads) {
                Some(other) => {
                    with_threads = other;
                    &with_threads
                }
                None => return Ok(Tried::Nothing("the model fixes its threads".to_owned())),
            },
        };
        let mut request = Request { suggest_points: None, ..self.request.clone() };
        if self.free.calls || bounds.calls == Calls::Unlimited {
            request.calls = Some(bounds.calls);
        }
        // Where any were asked for and only some were tried, the engine says again why.
        if request.values != Some(Values::Any) {
            request.values = bounds.values.or(request.values);
        }
        if let Some(time) = time {
            request.limits = sooner(&request.limits, Instant::now() + time);
        }
        request.limits.configurations = states.or(request.limits.configurations);
        let Some(answer) = self.engine.answer(&loaded.subject(), &request)?.into_iter().next()
        else {
            return Ok(Tried::Nothing("the engine says nothing".to_owned()));
        };
        let with = said(&answer.bounds);
        Ok(match answer.verdict {
            Verdict::Violated => match outgrown(&answer) {
                Some(line) => Tried::Nothing(format!(
                    "the model is not made for more than that: with {with}, an index at line \
                     {line} is out of range"
                )),
                None => Tried::Wrong(answer),
            },
            Verdict::HoldsWithinBounds => Tried::Right(answer),
            _ => Tried::Nothing(format!("not finished: with {with}")),
        })
    }
}

/// The answer that is given: the best, or the first, with what was tried besides.
fn finished(
    first: &Answer,
    best: Option<Answer>,
    passed: Vec<Passed>,
    start: Instant,
) -> Option<Answer> {
    if best.is_none() && passed.is_empty() {
        return None;
    }
    let begun = match (&best, first.verdict) {
        (Some(_), Verdict::HoldsWithinBounds) => Some(first.bounds.clone()),
        _ => None,
    };
    let mut answer = best.unwrap_or_else(|| first.clone());
    answer.seconds = Some(first.seconds.unwrap_or(0.0) + seconds(start));
    let (mut right, mut open) = (begun, Vec::new());
    for passed in passed {
        match passed {
            Passed::Right(bounds) => right = Some(bounds),
            Passed::Nothing(why) => open.push(why),
        }
    }
    // Where the answer says that all is right, it says so of more than before.
    if let (Some(bounds), Verdict::Violated) = (right, answer.verdict) {
        answer.notes.push(format!("every run is right with {}", said(&bounds)));
    }
    answer.notes.extend(open);
    Some(answer)
}

/// The bounds that can be raised; `None` if the answer is not about runs.
pub(crate) fn bounds_of(answer: &Answer) -> Option<Bounds> {
    let (mut threads, mut calls, mut values) = (None, None, None);
    for bound in &answer.bounds {
        match bound {
            Bound::Threads(count) => threads = Some(*count),
            Bound::Calls(of) => calls = Some(*of),
            Bound::Values(last) => values = Some(*last),
            Bound::RoleCalls(..)
            | Bound::Objects(_)
            | Bound::Crashes(_)
            | Bound::ThreadCrashes(_)
            | Bound::Preemptions(_)
            | Bound::Preload(_)
            | Bound::Constant(..) => {}
        }
    }
    // Where every role has a number of its own, there is none to raise.
    let calls = calls.unwrap_or(Calls::Unlimited);
    Some(Bounds { calls, values, threads: threads? })
}

/// The line at which an array is too small for the bounds: that says nothing about the object.
fn outgrown(answer: &Answer) -> Option<u32> {
    let run = answer.counterexample.as_ref()?.run.as_ref()?;
    let End::Faulted(fault) = &run.end else { return None };
    matches!(fault.kind, FaultKind::IndexOutOfRange { .. }).then_some(fault.line)
}

pub(crate) fn states(answer: &Answer) -> Option<u64> {
    answer.stats.iter().find_map(|(name, stat)| match stat {
        Stat::Count(count) if *name == "states" => Some(*count),
        _ => None,
    })
}

pub(crate) fn said(bounds: &[Bound]) -> String {
    bounds.iter().map(Bound::to_string).collect::<Vec<_>>().join(", ")
}
