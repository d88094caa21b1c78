//! The contract between an engine and those who ask it.
//!
//! An [`Engine`] is asked about a [`Subject`], as a [`Request`] says, and gives [`Answer`]s.
//! Everything that another part decides on is a type here; sentences in an answer are for people
//! and are never read back.

mod answer;
mod counterexample;
mod drawn;
mod picture;
mod proof;
mod reduction;
mod request;
mod roadmap;
mod subject;

pub use answer::{
    AbstractMove, AbstractTrace, Answer, Artifact, CrashChange, Crashes, Faults, Stat, Stuck,
};
pub use counterexample::{Counterexample, Step, Wrong};
pub use picture::{
    Holds, KeyClass, LinkSide, LockHolder, Name, NodeKind, Picture, PictureLink, PictureMove,
    PictureNode, PictureThread, Scope, Stands,
};
pub use proof::{FactsShown, PairRelation, PairShown, ProofShown};
pub use reduction::Reduction;
pub use request::{
    DiskAsked, DomainAsked, Extras, Progress, PureAsked, ReferenceAsked, Request, RoadmapRequest,
    SearchAsked, ShapeRequest, ThreadsAsked,
};
pub use roadmap::{
    Claim, Effect, OperationKind, Origin, Reach, Roadmap, RoadmapOperation, Rule, SharedNode,
    SharedPicture, SharedValue, Stage, Status, StepCondition, UpdateStep, WithoutUpdates, Witness,
};
pub use subject::{Language, ModelBounds, Source, Subject};

use std::time::Duration;
use thiserror::Error;

/// A way to tell whether a concurrent object is linearizable.
pub trait Engine: Sync {
    /// Its name, as `--engine` takes it.
    fn name(&self) -> &'static str;

    /// The languages that it reads.
    fn reads(&self) -> &'static [Language];

    /// Whether it shows something for any number of threads; such an engine is asked after those
    /// that look for violations.
    fn is_proof(&self) -> bool;

    /// Whether it looks at runs with crashes. Where crashes are asked for, one that does not says
    /// nothing unless it is asked for by name, and then that nothing crashes is an assumption.
    fn knows_crashes(&self) -> bool {
        false
    }

    /// How long it is asked when it was not asked for by name; `None` if it knows how far to go.
    fn patience(&self) -> Option<Duration> {
        self.is_proof().then_some(Duration::from_secs(20))
    }

    /// What it says. Several answers only where the subject asks several questions, like the
    /// assertions of a `.csp` file. An engine that cannot say anything of this subject answers
    /// that, with the reason.
    fn answer(
        &self,
        subject: &Subject<'_>,
        request: &Request<'_>,
    ) -> Result<Vec<Answer>, EngineError>;
}

/// Why a subject cannot be asked about at all: something is wrong with the input.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct EngineError {
    /// What is wrong.
    pub message: String,
}

impl EngineError {
    /// An error that says what this one says.
    pub fn of(error: impl std::fmt::Display) -> EngineError {
        EngineError { message: error.to_string() }
    }
}
