//! What went wrong, as data. How it is printed is in `print`.

use crate::definition::Subject;
use crate::error::DefinitionError;
use crate::judge::Violated;
use crate::plan::Mode;
use crate::scenario::Scenario;
use crate::specification::Source;
use linchpin_explore::crash::Instruction;
use linchpin_history_data::{History, Precedence, Property, Violation};
use linchpin_spec::Signature;
use linchpin_verdict::counted;
use std::path::PathBuf;

/// Scenarios with more calls are not shown.
const LONGEST: usize = 64;

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// No order of the operations explains the answers.
    NotLinearizable,
    /// An operation panicked, with this message.
    Panicked(String),
    /// Operations did not return, although the specification can answer one of them.
    Stuck,
    /// What must hold after a run did not: the message of its panic.
    FinallyFailed(String),
    /// Two accesses to the same data raced.
    Race(String),
    /// Memory was used after it was freed, or never freed.
    Memory(String),
    /// No thread can go on: who waits for what.
    Deadlock(String),
    /// An execution is so long that it may never end.
    Endless(String),
    /// A thread did not come back: it waits for what the explorer does not know.
    Hung(String),
    /// The code did something else than before although it was answered the same.
    Nondeterministic(String),
    /// Nothing can be said of the object, for it does not use what the explorer sees.
    Unseen(String),
    /// A limit was reached, and the test asked to fail then: how far it came.
    Limit(String),
    /// The test cannot be run as it is written.
    Mistake(DefinitionError),
}

/// Where the files of a failure are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The history, as JSON lines.
    pub history: PathBuf,
    /// What is tried first the next time, if it is short enough.
    pub regression: Option<PathBuf>,
}

/// What was tried to keep what a crash took: a `flush`, a `fence` or a `persist` right after each
/// access, in turn, to the lines of which it took something, on all executions of the scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Those with which the scenario does not fail: after each access the weakest.
    pub found: Vec<Repair>,
    /// After how many accesses nothing helps by itself.
    pub tried_in_vain: usize,
    /// Of how many this was not found out in time.
    pub undecided: usize,
}

/// An access, right after which an instruction for its line repairs a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Which one.
    pub instruction: Instruction,
    /// The file and the line.
    pub place: String,
    /// The code there, if its file was found.
    pub source: Option<String>,
}

/// A failure of a test. `{}` prints what a person wants to know.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The name of the test.
    pub test: String,
    /// What went wrong.
    pub kind: Kind,
    /// The mode in which it was found, if a test was run.
    pub mode: Option<Mode>,
    /// What chance started from.
    pub seed: u64,
    /// How many rounds or executions came before.
    pub rounds: u64,
    /// What was called.
    pub scenario: Option<Scenario>,
    /// The scenario, in words.
    pub shown_scenario: String,
    /// What was recorded.
    pub history: History,
    /// The operations of the specification, which the history is about.
    pub signatures: Vec<Signature>,
    /// Where the specification comes from.
    pub source: Source,
    /// The names of the operations of the test, as its scenarios use them.
    pub operations: Vec<String>,
    /// Why no order explains it, if that is what is wrong.
    pub violation: Option<Violation>,
    /// The states that were possible just before, if they are known.
    pub possible: Vec<String>,
    /// Happens-before between the operations, under weak memory: the history has no times then.
    pub order: Option<Precedence>,
    /// What had to hold, if the system may crash.
    pub property: Option<Property>,
    /// The steps of the execution, if they are known.
    pub interleaving: Option<String>,
    /// What would have kept what a crash took, if it took something.
    pub repairs: Option<Repairs>,
    /// What repeats the execution, if it was controlled.
    pub decisions: Option<Vec<u32>>,
    /// Where its files are to be written.
    pub folder: Option<PathBuf>,
    /// Where they were written.
    pub files: Option<Files>,
    /// What else there is to know.
    pub notes: Vec<String>,
}

impl Failure {
    /// A failure of the test with this name, of which nothing else is known.
    pub fn of(test: &str, kind: Kind) -> Failure {
        Failure {
            test: test.to_owned(),
            kind,
            mode: None,
            seed: 0,
            rounds: 0,
            scenario: None,
            shown_scenario: String::new(),
            history: History::default(),
            signatures: Vec::new(),
            source: Source::Rust(String::new()),
            operations: Vec::new(),
            violation: None,
            possible: Vec::new(),
            order: None,
            property: None,
            interleaving: None,
            repairs: None,
            decisions: None,
            folder: None,
            files: None,
            notes: Vec::new(),
        }
    }

    /// A failure of a test, found in this mode.
    pub fn new(subject: &Subject, kind: Kind, mode: Mode) -> Failure {
        Failure {
            mode: Some(mode),
            signatures: subject.object.spec.operations().to_vec(),
            source: subject.source.clone(),
            folder: subject.folder.clone(),
            operations: subject.operations.iter().map(|one| one.name.clone()).collect(),
            ..Failure::of(&subject.name, kind)
        }
    }

    /// In this scenario.
    #[must_use]
    pub fn scenario(mut self, subject: &Subject, scenario: &Scenario) -> Failure {
        self.shown_scenario = match scenario.len() <= LONGEST {
            true => scenario.shown(&subject.operations).to_string(),
            false => format!(
                "{} by {}",
                counted(scenario.len(), "call"),
                counted(scenario.threads.len(), "thread")
            ),
        };
        self.scenario = Some(scenario.clone());
        self
    }

    /// With this history, whatever it shows.
    #[must_use]
    pub fn history(mut self, history: History) -> Failure {
        self.history = history;
        self
    }

    /// With a history that no order explains.
    #[must_use]
    pub fn violated(mut self, violated: Violated) -> Failure {
        self.history = violated.history;
        self.violation = Some(violated.violation);
        self.possible = violated.possible;
        self
    }
}

impl std::error::Error for Failure {}
