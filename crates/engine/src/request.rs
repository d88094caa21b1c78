//! How an engine is asked.

use crate::{ModelBounds, Reduction};
use linchpin_ir::interpreter::Memory;
use linchpin_ir::program::Program;
use linchpin_verdict::{Assumption, Calls, CrashProperty, Limits, Values};
use std::path::PathBuf;
use std::time::Duration;

/// What else a proof is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// The relations between pairs of sub-operations.
    pub table: bool,
    /// The facts that were found, and what refuted the candidates that are none.
    pub facts: bool,
    /// The questions about pairs as SMT-LIB files.
    pub obligations: bool,
    /// A certificate of the proof.
    pub certificate: bool,
    /// The facts and relations as data, for a page: [`crate::ProofShown`].
    pub shown: bool,
}

/// In which order a search within bounds looks at runs, and whether at all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchAsked {
    /// The shortest first, all of them.
    #[default]
    BreadthFirst,
    /// The longest first, all of them.
    DepthFirst,
    /// Some, every move by chance.
    Random {
        /// Decides everything random.
        seed: u64,
        /// At most so many.
        runs: u64,
    },
    /// Some, threads with random priorities that change at a few moves.
    Pct {
        /// Decides everything random.
        seed: u64,
        /// At most so many.
        runs: u64,
        /// How many ordering constraints are aimed at, from 1.
        depth: usize,
    },
    /// Those with at most so many preemptions.
    ContextBound(usize),
}

/// Where a search within bounds keeps its states, if not in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskAsked {
    /// The folder.
    pub folder: PathBuf,
    /// Whether to go on with the search that is in it.
    pub resume: bool,
}

/// How many threads a proof by comparison is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadsAsked {
    /// Any number of each kind that the program has.
    #[default]
    Any,
    /// Those of the program.
    OfProgram,
}

/// The sequential object that an implementation is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReferenceAsked {
    /// The model's `reference` block if it has one, else the specification as a small structure.
    #[default]
    Specification,
    /// The model's own code, run alone.
    Own,
}

/// How heaps are abstracted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DomainAsked {
    /// Links as sets of targets.
    #[default]
    Targets,
    /// Three-valued structures with instrumentation predicates.
    Kleene,
}

/// How answers that change nothing are explained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PureAsked {
    /// At some instant since the call the reference would have answered so.
    #[default]
    Seen,
    /// The reference is asked at the points that the model claims.
    Claimed,
}

/// How a comparison under abstraction is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShapeRequest {
    /// How many threads.
    pub threads: ThreadsAsked,
    /// What the program is compared with.
    pub reference: ReferenceAsked,
    /// How heaps are abstracted.
    pub domain: DomainAsked,
    /// How answers that change nothing are explained.
    pub pure_answers: PureAsked,
}

/// What base point analysis does beyond its conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoadmapRequest {
    /// Whether the base conditions that a model states are checked.
    pub stated: bool,
    /// Whether base conditions are suggested.
    pub suggested: bool,
    /// Whether claims are shown for any number of threads and any heap, where that can be done.
    pub beyond: bool,
}

impl RoadmapRequest {
    /// Everything.
    pub const ALL: RoadmapRequest = RoadmapRequest { stated: true, suggested: true, beyond: true };
}

/// How far a search has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The engine.
    pub engine: &'static str,
    /// States so far.
    pub states: usize,
    /// The depth so far.
    pub depth: usize,
    /// About how many states are still to come, where that can be guessed.
    pub to_come: Option<u64>,
}

/// How an engine is asked.
#[derive(Clone)]
pub struct Request<'a> {
    /// Calls of each thread, if not as the model says.
    pub calls: Option<Calls>,
    /// Clients pass the integers from 1 to this one, if not as the model says.
    pub values: Option<Values>,
    /// At most so many heap objects at a time; without `calls`, threads then call without end.
    pub objects: Option<usize>,
    /// What `free` means.
    pub memory: Memory,
    /// How often the system may crash, if not as the model says.
    pub crashes: Option<u8>,
    /// How often a thread may crash.
    pub thread_crashes: u8,
    /// What is asked of runs with crashes; without it, which condition holds is found out, and
    /// durability must hold.
    pub property: Option<CrashProperty>,
    /// Whether to say which flushes and fences change nothing.
    pub superfluous: bool,
    /// When to give up.
    pub limits: Limits,
    /// How many cores to use, if not all.
    pub workers: Option<usize>,
    /// Whether claimed linearization points are tried first.
    pub points: bool,
    /// Say where linearization points could be, and look for them so long.
    pub suggest_points: Option<Duration>,
    /// Whether operations that can get stuck are looked for.
    pub stuck: bool,
    /// Reductions to leave out.
    pub without: Vec<Reduction>,
    /// A lossy search with a table of so many bytes.
    pub lossy: Option<u64>,
    /// Keep the states of a search on disk.
    pub disk: Option<DiskAsked>,
    /// In which order runs are looked at.
    pub search: SearchAsked,
    /// What else a proof is asked for.
    pub extras: Extras,
    /// How a comparison under abstraction is made.
    pub shape: ShapeRequest,
    /// What base point analysis does beyond its conditions.
    pub roadmap: RoadmapRequest,
    /// Called now and then.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

impl Request<'_> {
    /// How many calls a thread makes.
    pub fn calls_of(&self, model: ModelBounds) -> Calls {
        match (self.calls, self.objects) {
            (Some(calls), _) => calls,
            (None, Some(_)) => Calls::Unlimited,
            (None, None) => model.calls,
        }
    }

    /// What the memory does, as an assumption about a program.
    pub fn memory_assumed(&self, program: &Program) -> Assumption {
        match self.memory {
            Memory::Collected if program.frees() => Assumption::FreeIgnored,
            Memory::Collected => Assumption::GarbageCollection,
            Memory::Reuse => Assumption::Reuse,
            Memory::TypeStable => Assumption::TypeStable,
        }
    }
}

impl Default for Request<'_> {
    fn default() -> Self {
        Request {
            calls: None,
            values: None,
            objects: None,
            memory: Memory::Collected,
            crashes: None,
            thread_crashes: 0,
            property: None,
            superfluous: false,
            limits: Limits::default(),
            workers: None,
            points: true,
            suggest_points: None,
            stuck: true,
            without: Vec::new(),
            lossy: None,
            disk: None,
            search: SearchAsked::BreadthFirst,
            extras: Extras::default(),
            shape: ShapeRequest::default(),
            roadmap: RoadmapRequest::default(),
            progress: &|_| {},
        }
    }
}

impl std::fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request")
            .field("calls", &self.calls)
            .field("values", &self.values)
            .field("objects", &self.objects)
            .field("without", &self.without)
            .finish_non_exhaustive()
    }
}
