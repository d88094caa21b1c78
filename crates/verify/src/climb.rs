//! Climbing the [`Ladder`]: the engines are asked rung by rung until nothing could say more.

use crate::compare::strongest;
use crate::deeper::Deeper;
use crate::ladder::{Free, Ladder, Rung, Step};
use crate::otherwise::Otherwise;
use crate::unbounded::unbounded;
use crate::{Loaded, Verification, VerifyError, conclude, patient, put_together};
use linchpin_engine::{
    Answer, Engine, EngineError, Progress, Reduction, Request, SearchAsked, Source, Subject,
};
use linchpin_refine::{DataUse, data_use};
use linchpin_verdict::{Limits, Values, Verdict};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How a model is verified.
#[derive(Clone, Copy)]
pub struct Climb<'a> {
    /// The order and the rules.
    pub ladder: Ladder,
    /// The engines that may be asked.
    pub engines: &'a [&'static dyn Engine],
    /// How many engines may work at a time.
    pub cores: usize,
    /// What the caller has not fixed.
    pub free: Free,
}

/// Asks the engines rung by rung. What one of them shows is never lost because a later one gives
/// up.
pub fn climb(
    loaded: &Loaded,
    request: &Request<'_>,
    climb: &Climb<'_>,
) -> Result<Verification, VerifyError> {
    let subject = loaded.subject();
    let language = subject.language();
    let reads = |engine: &&&'static dyn Engine| engine.reads().contains(&language);
    let engines: Vec<&dyn Engine> = climb.engines.iter().filter(reads).map(|of| *of as _).collect();
    // INVARIANT: where there may be crashes, only engines that know them are asked. A proof by
    // another would be about runs without any.
    let crashes = loaded.has_crashes(request);
    let (engines, without_crashes) =
        engines.into_iter().partition(|engine| engine.knows_crashes() || !crashes);
    let (start, answers, data) = (Instant::now(), Vec::new(), data(loaded, request, climb.free));
    let mut climbing =
        Climbing { loaded, request, climb, start, answers, data, engines, without_crashes };
    for step in climb.ladder.steps {
        climbing.take(step)?;
        if climbing.best().is_some_and(|verdict| step.ends_at.contains(&verdict)) {
            break;
        }
    }
    let answers = climbing.finish();
    Ok(conclude(loaded, answers, request))
}

/// What the model does with values, if any of them may be asked for: in a search of all runs, and
/// where the caller leaves them to the model.
fn data(loaded: &Loaded, request: &Request<'_>, free: Free) -> Option<DataUse> {
    let Source::Lin { program, bounds } = loaded.subject().source else { return None };
    let finds_all = matches!(request.search, SearchAsked::BreadthFirst | SearchAsked::DepthFirst)
        && request.lossy.is_none()
        && request.disk.is_none()
        && !request.without.contains(&Reduction::ValueSymmetry);
    let is_free = free.values && request.values.is_none() && bounds.values != Values::Any;
    (is_free && finds_all).then(|| data_use(program, request, bounds)).flatten()
}

struct Climbing<'a> {
    loaded: &'a Loaded,
    request: &'a Request<'a>,
    climb: &'a Climb<'a>,
    start: Instant,
    /// What the model does with values, if any of them may be asked for.
    data: Option<DataUse>,
    engines: Vec<&'a dyn Engine>,
    /// Engines that are not asked, because there may be crashes.
    without_crashes: Vec<&'a dyn Engine>,
    /// What they have said.
    answers: Vec<Answer>,
}

impl<'a> Climbing<'a> {
    fn take(&mut self, step: &Step) -> Result<(), VerifyError> {
        match step.rung {
            Rung::Bounded => {
                self.ask(step, false, 1)?;
                self.ask_for_few(step)
            }
            Rung::Otherwise => self.search_otherwise(step),
            Rung::Proofs => {
                self.ask(step, true, self.climb.cores)?;
                let (loaded, request) = (self.loaded, self.runs_on(step));
                Ok(put_together(loaded, &mut self.answers, &request)?)
            }
            Rung::Unbounded if self.best() != Some(Verdict::HoldsWithinBounds) => Ok(()),
            Rung::Unbounded => self.replace(step, unbounded),
            Rung::Deeper => self.replace(step, |deeper, loaded, first| deeper.climb(loaded, first)),
        }
    }

    /// The strongest verdict so far.
    fn best(&self) -> Option<Verdict> {
        self.answers.iter().map(|answer| answer.verdict).max()
    }

    /// The request for a rung: the time that it may use.
    fn request_on(&self, step: &Step) -> Request<'a> {
        let mut request = self.request.clone();
        if let Some(time) = self.climb.ladder.time {
            let until = self.start + time / step.one_in.max(1);
            request.limits = sooner(&request.limits, until);
        }
        request
    }

    /// Whether any values are asked for at first: where they are only moved, any of them cost no
    /// more than two. One costs less.
    fn begins_with_any(&self) -> bool {
        let Source::Lin { bounds, .. } = self.loaded.subject().source else { return false };
        self.data == Some(DataUse::Moved) && bounds.values != Values::UpTo(1)
    }

    /// The same for engines that explore runs.
    fn runs_on(&self, step: &Step) -> Request<'a> {
        let mut request = self.request_on(step);
        if self.begins_with_any() {
            request.values = Some(Values::Any);
        }
        request
    }

    /// Where nothing came of any values, a few are tried, as the model says.
    fn ask_for_few(&mut self, step: &Step) -> Result<(), VerifyError> {
        let request = self.request_on(step);
        if !self.begins_with_any() || request.limits.is_the_end() {
            return Ok(());
        }
        for at in 0..self.answers.len() {
            let is_open = self.answers[at].verdict == Verdict::Inconclusive;
            let its = |engine: &&&dyn Engine| engine.name() == self.answers[at].engine;
            let Some(engine) = self.engines.iter().find(its).filter(|_| is_open) else { continue };
            let found = timed(*engine, &self.loaded.subject(), &request)?.into_iter().next();
            if let Some(answer) = found.filter(|answer| answer.verdict != Verdict::Inconclusive) {
                self.answers[at] = answer;
            }
        }
        Ok(())
    }

    /// Asks the engines that are proofs, or those that are not, so many at a time.
    fn ask(&mut self, step: &Step, proofs: bool, at_a_time: usize) -> Result<(), VerifyError> {
        // A lossy search looks for violations only.
        if proofs && self.request.lossy.is_some() {
            return Ok(());
        }
        let engines: Vec<&dyn Engine> =
            self.engines.iter().copied().filter(|engine| engine.is_proof() == proofs).collect();
        let request = if proofs { self.request_on(step) } else { self.runs_on(step) };
        for answers in side_by_side(&engines, &self.loaded.subject(), &request, at_a_time) {
            let mut answers = answers?;
            if proofs {
                answers.iter_mut().for_each(|answer| self.note_preload(answer));
            }
            self.answers.extend(answers);
        }
        Ok(())
    }

    /// A proof is about every run from `init` on, whatever calls come first.
    fn note_preload(&self, answer: &mut Answer) {
        if self.loaded.program().is_some_and(|program| !program.preload.is_empty()) {
            let about = "about all runs from `init` on: the preload is not looked at";
            answer.notes.push(about.to_owned());
        }
    }

    /// The refinement engine, and where its answer is among those so far.
    fn refinement(&self) -> Option<(&'a dyn Engine, usize)> {
        let refine = linchpin_refine::Refine.name();
        let engine = self.engines.iter().copied().find(|engine| engine.name() == refine)?;
        let first = self.answers.iter().position(|answer| answer.engine == refine)?;
        Some((engine, first))
    }

    /// Refinement in another order, if the first search was stopped.
    fn search_otherwise(&mut self, step: &Step) -> Result<(), VerifyError> {
        let Some((engine, first)) = self.refinement() else { return Ok(()) };
        let request = self.request_on(step);
        let otherwise = Otherwise { engine, request: &request };
        Ok(otherwise.search(self.loaded, &mut self.answers[first])?)
    }

    /// Refinement within other bounds, if it has said something of the first ones.
    fn replace(&mut self, step: &Step, climb: Replaces) -> Result<(), VerifyError> {
        let Some((engine, first)) = self.refinement() else { return Ok(()) };
        let request = self.request_on(step);
        let alike = matches!(self.data, Some(DataUse::Moved | DataUse::Compared));
        let deeper = Deeper { engine, free: self.climb.free, alike, request: &request };
        if let Some(answer) = climb(&deeper, self.loaded, &self.answers[first])? {
            self.answers[first] = answer;
        }
        Ok(())
    }

    /// All answers in the order of the engines; those that were not asked say so.
    fn finish(self) -> Vec<Answer> {
        let all: Vec<&Answer> = self.answers.iter().collect();
        let settled = strongest(&all).filter(|answer| answer.verdict == Verdict::Violated);
        let not_asked = |engine: &dyn Engine| {
            let reason = format!("`{}` has found what is wrong", settled?.engine);
            Some(Answer::not_asked(engine.name(), reason))
        };
        let mut said = Vec::new();
        for engine in &self.engines {
            let before = said.len();
            let its = |answer: &&Answer| answer.engine == engine.name();
            said.extend(self.answers.iter().filter(its).cloned());
            if said.len() == before {
                said.extend(not_asked(*engine));
            }
        }
        // Crashes of threads are asked for by a flag alone.
        let reason = match self.request.thread_crashes {
            0 => "it knows no crashes; `--crashes 0` leaves them out",
            _ => "it knows no crashes, and --thread-crashes asks for them",
        };
        said.extend(
            self.without_crashes.iter().map(|engine| Answer::not_asked(engine.name(), reason)),
        );
        said
    }
}

/// A better answer than the first of refinement, if there is one.
type Replaces = fn(&Deeper<'_>, &Loaded, &Answer) -> Result<Option<Answer>, EngineError>;

/// What each engine says, so many of them working at a time.
fn side_by_side(
    engines: &[&dyn Engine],
    subject: &Subject<'_>,
    request: &Request<'_>,
    at_a_time: usize,
) -> Vec<Result<Vec<Answer>, EngineError>> {
    type Said = Option<Result<Vec<Answer>, EngineError>>;
    let said: Vec<Mutex<Said>> = engines.iter().map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(at) =
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < said.len())
        {
            let answer = timed(engines[at], subject, request);
            *said[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        }
    };
    std::thread::scope(|scope| {
        // Where no thread can be made, this one does the work of all.
        for _ in 1..at_a_time.min(engines.len()) {
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let taken = said.into_iter().map(|of| of.into_inner().unwrap_or_else(PoisonError::into_inner));
    taken.map(|said| said.unwrap_or_else(|| Ok(Vec::new()))).collect()
}

/// What an engine says, and how long that took.
fn timed(
    engine: &dyn Engine,
    subject: &Subject<'_>,
    request: &Request<'_>,
) -> Result<Vec<Answer>, EngineError> {
    (request.progress)(Progress { engine: engine.name(), states: 0, depth: 0, to_come: None });
    let start = Instant::now();
    let mut answers = engine.answer(subject, &patient(engine, request))?;
    for answer in &mut answers {
        answer.seconds = Some(seconds(start));
    }
    Ok(answers)
}

/// The seconds since an instant.
pub(crate) fn seconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64()
}

/// The limits with a deadline that is not later than this.
pub(crate) fn sooner(limits: &Limits, until: Instant) -> Limits {
    let deadline = limits.deadline.map_or(until, |given| given.min(until));
    Limits { deadline: Some(deadline), ..limits.clone() }
}

/// The time that is left until the deadline, if there is one.
pub(crate) fn left(limits: &Limits) -> Option<Duration> {
    limits.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
}

#[cfg(test)]
mod tests;
