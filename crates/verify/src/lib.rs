//! One model, every engine that applies, one verdict.
//!
//! [`load`] reads a model, [`climb`] asks the engines of [`ENGINES`] in the order of a [`Ladder`],
//! [`verify`] asks those that are named. `compare.rs` makes one verdict of their answers and raises
//! the alarm when two contradict each other, `judge.rs` has the history engine explain the run that
//! one found, `expected.rs` says what the header of a model promises. `mutants.rs` changes a model
//! in small ways, `campaign.rs` verifies what comes of it. `discharge.rs` puts two engines
//! together: what one can only try, another shows. `follow.rs` looks for a run where a proof under
//! abstraction fails, `reach.rs` where a condition of base point analysis fails. `unbounded.rs`
//! leaves bounds of refinement out, `deeper.rs` raises them. `beyond.rs` shows claims of a roadmap
//! for any number of threads.

pub mod beyond;
pub mod campaign;
mod client;
mod climb;
mod compare;
mod deeper;
mod discharge;
mod expected;
mod follow;
mod judge;
pub mod ladder;
mod load;
pub mod mutants;
mod otherwise;
mod progress;
mod reach;
mod shrink;
mod unbounded;

pub use client::{Client, ClientError, with_clients};
pub use climb::{Climb, climb};
pub use compare::{Contradiction, contradiction};
pub use expected::Expectation;
pub use judge::Judge;
pub use ladder::{Free, Ladder};
pub use load::{LoadError, Loaded, load};
pub use progress::{ProgressQuestion, verify_progress};

use linchpin_engine::{Answer, Engine, EngineError, Request, RoadmapRequest, Wrong};
use linchpin_history::Judgement;
use linchpin_ir::program::Program;
use linchpin_ir::run::{End, Run};
use linchpin_verdict::{Assumption, CrashProperty, Limits, Outcome, Verdict};
use std::time::Instant;
use thiserror::Error;

/// The engines, in the order in which they are asked. A new engine is a line here.
pub const ENGINES: &[&dyn Engine] = &[
    &linchpin_refine::Refine,
    &linchpin_csp::Processes,
    &linchpin_derive::Reduce,
    &linchpin_shape::Shape,
    &linchpin_base::Base,
];

/// Why a model cannot be verified.
#[derive(Debug, Error)]
pub enum VerifyError {
    /// No engine of this name, or it does not read the language of the model.
    #[error("`{engine}` does not read `.{extension}` files; {}", readers(extension))]
    NoSuchEngine {
        /// The name.
        engine: String,
        /// The extension of the file.
        extension: &'static str,
    },
    /// An engine cannot take the model.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Which engines read files with this extension, in words.
fn readers(extension: &str) -> String {
    let reads = |engine: &&&dyn Engine| {
        engine.reads().iter().any(|language| language.extension() == extension)
    };
    let mut names: Vec<String> =
        ENGINES.iter().filter(reads).map(|engine| format!("`{}`", engine.name())).collect();
    names.dedup();
    format!("{} does", names.join(" or "))
}

/// What the engines say of a model.
#[derive(Clone, Debug)]
pub struct Verification {
    /// What every engine that was asked says.
    pub answers: Vec<Answer>,
    /// Whether the answers are to different questions (the assertions of a `.csp` file): then all
    /// must hold.
    pub separate: bool,
    /// Two engines that contradict each other: one of them is wrong.
    pub contradiction: Option<Contradiction>,
}

impl Verification {
    /// One verdict from the answers.
    pub fn new(mut answers: Vec<Answer>, separate: bool) -> Verification {
        let contradiction = compare::contradiction(&answers);
        if contradiction.is_none() {
            compare::withdraw_refuted(&mut answers);
        }
        Verification { answers, separate, contradiction }
    }

    /// The verdict: the strongest answer, or for separate questions the weakest, unless one is
    /// violated. If engines contradict each other there is none.
    pub fn verdict(&self) -> Verdict {
        self.deciding().map_or(Verdict::Inconclusive, |answer| answer.verdict)
    }

    /// The answer that decides.
    pub fn deciding(&self) -> Option<&Answer> {
        if self.contradiction.is_some() {
            return None;
        }
        let answers = self.answers.iter();
        let violated = self.answers.iter().any(|answer| answer.verdict == Verdict::Violated);
        match self.separate && !violated {
            true => answers.min_by_key(|answer| answer.verdict),
            false => answers.rev().max_by_key(|answer| answer.verdict),
        }
    }
}

/// Asks every engine that reads the model, or only those named in `engines` if there are some.
pub fn verify(
    loaded: &Loaded,
    engines: &[String],
    request: &Request<'_>,
) -> Result<Verification, VerifyError> {
    let subject = loaded.subject();
    let language = subject.language();
    let reads = |engine: &&&'static dyn Engine| engine.reads().contains(&language);
    let named = |name: &str| ENGINES.iter().filter(reads).any(|engine| engine.name() == name);
    // Of several named engines, those that read the model are asked: files of a batch may differ.
    if let Some(first) = engines.first()
        && !engines.iter().any(|name| named(name))
    {
        let extension = language.extension();
        return Err(VerifyError::NoSuchEngine { engine: first.clone(), extension });
    }
    let mut answers = Vec::new();
    for engine in ENGINES.iter().filter(reads) {
        let asked = engines.iter().any(|name| name == engine.name());
        // A lossy search looks for violations only.
        let crashes = loaded.has_crashes(request);
        let wanted = engines.is_empty()
            && !(engine.is_proof() && request.lossy.is_some())
            && (engine.knows_crashes() || !crashes);
        if asked {
            let mut said = engine.answer(&subject, request)?;
            if crashes && !engine.knows_crashes() {
                said.iter_mut().for_each(without_crashes);
            }
            answers.extend(said);
        } else if wanted {
            answers.extend(engine.answer(&subject, &patient(*engine, request))?);
        }
    }
    put_together(loaded, &mut answers, request)?;
    Ok(conclude(loaded, answers, request))
}

/// Says of an answer that crashes, which were asked for, were left out: also in its first line.
fn without_crashes(answer: &mut Answer) {
    answer.assumptions.push(Assumption::NoCrashes);
    if answer.verdict != Verdict::Inconclusive {
        answer.reason += "; crashes were left out";
    }
}

/// Asks one engine, which need not be one of [`ENGINES`].
pub fn verify_by(
    loaded: &Loaded,
    engine: &dyn Engine,
    request: &Request<'_>,
) -> Result<Verification, VerifyError> {
    let mut answers = engine.answer(&loaded.subject(), request)?;
    put_together(loaded, &mut answers, request)?;
    Ok(conclude(loaded, answers, request))
}

/// What one engine can only try another shows; where one loses its way another looks further.
fn put_together(
    loaded: &Loaded,
    answers: &mut Vec<Answer>,
    request: &Request<'_>,
) -> Result<(), EngineError> {
    let subject = loaded.subject();
    if let Some(program) = loaded.program() {
        discharge::discharge(program, answers, &request.limits);
    }
    follow::follow(&subject, answers, request)?;
    reach::tell(&subject, answers, request)
}

/// One verdict from what the engines say; what was found wrong is explained.
fn conclude(loaded: &Loaded, mut answers: Vec<Answer>, request: &Request<'_>) -> Verification {
    let clash = loaded.program().and_then(|program| beyond::show(program, &mut answers, request));
    for answer in &mut answers {
        if let (Some(program), Some(found)) = (loaded.program(), &mut answer.counterexample) {
            shrink::shrink(program, request.memory, found);
        }
        explain(loaded, answer);
    }
    let separate = loaded.subject().language() == linchpin_engine::Language::Csp;
    let mut found = Verification::new(answers, separate);
    found.contradiction = found.contradiction.or(clash);
    found
}

/// A request that an engine with patience gives up on after a while.
fn patient<'a>(engine: &dyn Engine, request: &Request<'a>) -> Request<'a> {
    // What costs more than the verdict is for those who ask for it.
    let mut request = Request { roadmap: RoadmapRequest::default(), ..request.clone() };
    if let Some(patience) = engine.patience() {
        let patience = Instant::now() + patience;
        let deadline = request.limits.deadline.map_or(patience, |given| given.min(patience));
        request.limits.deadline = Some(deadline);
    }
    request
}

/// Has the history engine say why no order explains the run that was found.
fn explain(loaded: &Loaded, answer: &mut Answer) {
    let Some(found) = &mut answer.counterexample else { return };
    let asked = answer.crashes.as_ref().map_or(CrashProperty::Durable, |of| of.property);
    let (Some(program), Some(run)) = (loaded.program(), &found.run) else { return };
    match (&run.end, found.wrong) {
        (End::Faulted(fault), _) => found.explanation = format!("{fault}."),
        (_, Wrong::NotLinearizable) => match judged(program, run, asked) {
            Some(Outcome::Violated(violation)) => {
                found.core = violation.core.iter().map(|operation| operation.index()).collect();
                found.explanation = violation.explanation;
            }
            _ => {
                found.explanation = unexplained(asked, !run.crashes.is_empty()).to_owned();
            }
        },
        _ => {}
    }
}

/// What no order does, where the history engine says nothing.
fn unexplained(asked: CrashProperty, crashed: bool) -> &'static str {
    match asked {
        CrashProperty::Strict if crashed => {
            "No order of these operations explains the last response, if what a crash interrupted \
             takes effect before the crash or never."
        }
        CrashProperty::Recoverable if crashed => {
            "No order of these operations explains the last response, if what a crash interrupted \
             takes effect before the next operation of its thread does, or never."
        }
        CrashProperty::Buffered if crashed => {
            "No order of these operations explains the last response, even if the crash may lose \
             the end of the time before it."
        }
        CrashProperty::Detectable if crashed => {
            "No order of these operations explains the last response, if `recover(t)` tells the \
             truth about what the crash interrupted."
        }
        _ => "No order of these operations explains the last response.",
    }
}

/// The history engine knows durability: what was interrupted may take effect at any later time.
/// Other conditions ask for more of an order than it could explain, or for less.
fn judged(program: &Program, run: &Run, asked: CrashProperty) -> Option<Judgement> {
    if asked != CrashProperty::Durable && !run.crashes.is_empty() {
        return None;
    }
    Judge::new(program)?.judge(run, Limits::default())
}
