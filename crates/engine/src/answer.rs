//! What an engine says.

use crate::{Counterexample, Picture, ProofShown, Roadmap};
use linchpin_verdict::{Assumption, Bound, CrashProperty, Sequential, StopReason, Verdict};

/// What an answer says about steps that fail: null accessed, an assertion false, an index out of
/// range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Faults {
    /// It says nothing about them.
    #[default]
    Open,
    /// Whatever holds of runs holds up to the first step that fails; that none does is shown.
    NeverFails,
}

/// What an answer says about operations that can never return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stuck {
    /// It says nothing about them, or could not decide.
    #[default]
    Open,
    /// From every state that it is about, every pending operation can still return.
    Never,
}

/// A number worth knowing about the work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stat {
    /// So many of them.
    Count(u64),
    /// Seconds.
    Seconds(f64),
    /// Whether it is so.
    Flag(bool),
    /// One of a few words.
    Word(&'static str),
}

impl From<usize> for Stat {
    fn from(count: usize) -> Stat {
        Stat::Count(u64::try_from(count).unwrap_or(u64::MAX))
    }
}

/// A file that an engine has made; the caller writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Artifact {
    /// A certificate of a proof.
    Certificate(String),
    /// A question about a pair of sub-operations, as SMT-LIB.
    Obligation {
        /// What it asks, fit for the name of a file.
        name: String,
        /// The file.
        text: String,
    },
}

/// A move of an abstract trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbstractMove {
    /// The thread that moves, of those that the abstract state shows.
    pub thread: Option<usize>,
    /// The operation; `None` where a call is made.
    pub operation: Option<usize>,
    /// The source line; 0 where a call is made.
    pub line: u32,
}

/// The way to what an abstraction cannot explain. It need not be one of the program's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbstractTrace {
    /// The moves.
    pub moves: Vec<AbstractMove>,
    /// The operation whose last move is not explained.
    pub operation: String,
    /// The source line of that move.
    pub line: u32,
    /// What is not explained, in words.
    pub cause: String,
    /// Whether other linearization points might explain it.
    pub depends_on_points: bool,
}

/// A flush, a fence or a persist that was put in or left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrashChange {
    /// What: `persist(x.next)`, `fence`.
    pub action: String,
    /// The operation that it is in, or `recover`.
    pub operation: String,
    /// The source line: where it stands, or of the store that it comes right after.
    pub line: u32,
}

/// What is known about runs with crashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crashes {
    /// The condition that the verdict is about.
    pub property: CrashProperty,
    /// The strongest condition known to hold.
    pub strongest: Option<CrashProperty>,
    /// Conditions that were tried and do not hold.
    pub fails: Vec<CrashProperty>,
    /// Whether `recover(t)` tells what became of interrupted calls, if that is known.
    pub detectable: Option<bool>,
    /// Whether some crash lost a store: if not, nothing was at stake.
    pub lost_a_store: bool,
    /// What, right after a store (or else a flush, a read), repairs a violation; each was tried.
    /// `None` if not all were.
    pub repairs: Option<Vec<CrashChange>>,
    /// What can be left out, each by itself. `None` if that was not found out.
    pub superfluous: Option<Vec<CrashChange>>,
}

/// What an engine says.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The engine.
    pub engine: &'static str,
    /// How strong the answer is.
    pub verdict: Verdict,
    /// A sentence: what was shown, or what stopped it.
    pub reason: String,
    /// Whether the engine was asked at all; if not, the reason says why, and the verdict nothing.
    pub is_asked: bool,
    /// Whether something else that was asked for, such as points, was not found out in time.
    pub is_unfinished: bool,
    /// What stopped its search before the end, if something did.
    pub stopped: Option<StopReason>,
    /// The bounds within which it was shown; none for a proof.
    pub bounds: Vec<Bound>,
    /// What it takes for granted.
    pub assumptions: Vec<Assumption>,
    /// What was never executed, for people: a pass that exercised nothing must not look like a
    /// pass.
    pub unreached: Vec<String>,
    /// What it says about steps that fail.
    pub faults: Faults,
    /// What it says about operations that can never return.
    pub stuck: Stuck,
    /// How long it took in all, where that was measured.
    pub seconds: Option<f64>,
    /// Numbers, by name.
    pub stats: Vec<(&'static str, Stat)>,
    /// More lines for people.
    pub notes: Vec<String>,
    /// What is known about runs with crashes, if there are any.
    pub crashes: Option<Box<Crashes>>,
    /// Files it has made.
    pub artifacts: Vec<Artifact>,
    /// Where an abstraction loses its way: perhaps there is a run like it.
    pub abstract_trace: Option<Box<AbstractTrace>>,
    /// What goes wrong, if something does.
    pub counterexample: Option<Box<Counterexample>>,
    /// Abstract states to look at, in order: the way to what stopped a proof, or what a proof kept.
    pub pictures: Vec<Picture>,
    /// What a base point proof would have to show, and how far it is shown.
    pub roadmap: Option<Box<Roadmap>>,
    /// What a proof rests on, if it was asked to show that.
    pub proof: Option<Box<ProofShown>>,
}

impl Answer {
    /// An answer without any detail.
    pub fn new(engine: &'static str, verdict: Verdict, reason: impl Into<String>) -> Answer {
        Answer {
            engine,
            verdict,
            reason: reason.into(),
            is_asked: true,
            is_unfinished: false,
            stopped: None,
            bounds: Vec::new(),
            assumptions: Vec::new(),
            unreached: Vec::new(),
            faults: Faults::Open,
            stuck: Stuck::Open,
            seconds: None,
            stats: Vec::new(),
            notes: Vec::new(),
            crashes: None,
            artifacts: Vec::new(),
            abstract_trace: None,
            counterexample: None,
            pictures: Vec::new(),
            roadmap: None,
            proof: None,
        }
    }

    /// An engine that is not asked, for this reason.
    pub fn not_asked(engine: &'static str, reason: impl Into<String>) -> Answer {
        Answer { is_asked: false, ..Answer::new(engine, Verdict::Inconclusive, reason) }
    }

    /// The word for it: the verdict, if the engine was asked.
    pub fn word(&self) -> String {
        match self.is_asked {
            true => self.verdict.to_string().to_lowercase(),
            false => "not asked".to_owned(),
        }
    }

    /// What is known of sequential executions, where the answer rests on them.
    pub fn sequential(&self) -> Option<&Sequential> {
        self.assumptions.iter().find_map(|assumption| match assumption {
            Assumption::SequentialExecutions(known) => Some(known),
            _ => None,
        })
    }
}
