//! What goes wrong, so that it can be shown and made again.

use linchpin_ir::interpreter::ScheduledMove;
use linchpin_ir::run::Run;

/// What kind of thing goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrong {
    /// No order of the operations explains the answers.
    NotLinearizable,
    /// A step fails: null accessed, an assertion false, an index out of range.
    Fault,
    /// An operation can never return any more.
    Stuck,
    /// A sequential execution is not one of the specification.
    Sequential,
    /// The run has not the progress property or temporal property that was asked for.
    Progress,
    /// A trace of a process that its specification does not have.
    Trace,
}

impl Wrong {
    /// Its name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Wrong::NotLinearizable => "not-linearizable",
            Wrong::Fault => "fault",
            Wrong::Stuck => "stuck",
            Wrong::Sequential => "sequential",
            Wrong::Progress => "progress",
            Wrong::Trace => "trace",
        }
    }
}

/// What happens in one move, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The thread that moves; `None` if none can.
    pub thread: Option<usize>,
    /// Its operation.
    pub operation: String,
    /// The source line, if one is involved.
    pub line: Option<u32>,
    /// What happens.
    pub text: String,
}

/// What goes wrong.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// What kind of thing.
    pub wrong: Wrong,
    /// Why, in a sentence.
    pub explanation: String,
    /// The run of a `.lin` model, replayed by the reference interpreter.
    pub run: Option<Run>,
    /// Every move with its choices: `linchpin run --replay` makes the run again.
    pub schedule: Vec<ScheduledMove>,
    /// How many moves of the schedule, from the first on, are the preload of the model.
    pub preload: usize,
    /// The moves that repeat for ever after those of the schedule.
    pub cycle: Vec<ScheduledMove>,
    /// The moves for people, where they are not those of `run`.
    pub steps: Vec<Step>,
    /// How often the moving thread changes.
    pub switches: Option<usize>,
    /// The states the object could be in before the response that nothing explains.
    pub possible: Vec<String>,
    /// Operations that no order explains, numbered by their invocations from 0.
    pub core: Vec<usize>,
    /// The visible events, where there is no run of a model.
    pub trace: Vec<String>,
    /// More lines for people, where there is no run to draw.
    pub text: String,
}

impl Counterexample {
    /// A counterexample without any detail.
    pub fn new(wrong: Wrong, explanation: impl Into<String>) -> Counterexample {
        Counterexample {
            wrong,
            explanation: explanation.into(),
            run: None,
            schedule: Vec::new(),
            preload: 0,
            cycle: Vec::new(),
            steps: Vec::new(),
            switches: None,
            possible: Vec::new(),
            core: Vec::new(),
            trace: Vec::new(),
            text: String::new(),
        }
    }
}
