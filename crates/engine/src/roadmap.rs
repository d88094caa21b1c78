//! The proof roadmap of a model: the claims of paper 004's three stages, each with what is known
//! of it.
//!
//! A roadmap is data. `report` writes it as text, Markdown and pages.

use linchpin_ir::run::Run;
use linchpin_verdict::Bound;
use std::fmt;

/// What a base point proof of a model would have to show, and how far it is shown.
#[derive(Clone, Debug, Default)]
pub struct Roadmap {
    /// Within which bounds was explored.
    pub bounds: Vec<Bound>,
    /// How many states were explored.
    pub states: usize,
    /// How many different shared states were among them.
    pub shared_states: usize,
    /// Whether every state within the bounds was explored.
    pub complete: bool,
    /// The operations.
    pub operations: Vec<RoadmapOperation>,
    /// The claims, in the order of the stages.
    pub claims: Vec<Claim>,
    /// Facts about every shared state that was met: what "well-formed" means in the claims.
    pub well_formed: Vec<String>,
    /// Where a condition fails: what would put the object outside of the reach of the method, if it
    /// is linearizable all the same.
    pub reach: Option<Reach>,
}

/// Why the conditions can fail for an object that is linearizable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// One operation takes a step that another had still to take.
    Helping {
        /// Who is helped.
        operation: String,
        /// Who helps.
        by: String,
        /// The source line of the step.
        line: u32,
    },
    /// An operation depends on a step inside the critical sequence of another.
    Inside {
        /// Whose critical sequence it is.
        operation: String,
        /// Who depends on it.
        other: String,
    },
    /// None of these: the conditions are sufficient, not necessary.
    NotNecessary,
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reach::Helping { operation, by, line } => write!(
                f,
                "`{by}` takes a step that `{operation}` had still to take (line {line}), as where operations help each \
                 other, and base points know no helping"
            ),
            Reach::Inside { operation, other } => write!(
                f,
                "`{other}` depends on a step in the middle of the critical sequence of `{operation}`"
            ),
            Reach::NotNecessary => f.write_str("the conditions are sufficient, not necessary"),
        }
    }
}

impl Roadmap {
    /// Whether a claim is refuted.
    pub fn is_refuted(&self) -> bool {
        self.claims.iter().any(|claim| {
            claim.rule != Rule::BaseCondition && matches!(claim.status, Status::Refuted(_))
        })
    }
}

/// Whether an operation changes the shared state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// Some execution of it takes an update step.
    Update,
    /// None does.
    ReadOnly,
}

/// How calls of an update operation that take no update step are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WithoutUpdates {
    /// As the paper has it: the last read is their critical sequence (Definition 5).
    #[default]
    LastRead,
    /// As calls of a read-only operation: they have a base point at some time (Theorem 2).
    ReadOnly,
}

/// An operation in a roadmap.
#[derive(Clone, Debug)]
pub struct RoadmapOperation {
    /// Its name.
    pub name: String,
    /// Whether it updates.
    pub kind: OperationKind,
    /// How its calls without update steps are treated.
    pub without_updates: WithoutUpdates,
    /// The critical sequences that were met: the source lines of their update steps, in order.
    pub critical: Vec<Vec<u32>>,
    /// Its update steps.
    pub updates: Vec<UpdateStep>,
    /// The base conditions that the model states, and those that were found.
    pub conditions: Vec<StepCondition>,
}

/// An update step of an operation, over all states in which it was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateStep {
    /// The source line.
    pub line: u32,
    /// What is there, as source.
    pub source: String,
    /// For each operation of the model: in how many transitions it was preserved and in how many
    /// not (Definition 3).
    pub effects: Vec<Effect>,
}

/// What an update step does to the base points of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The operation.
    pub operation: String,
    /// Whether that operation is read-only.
    pub read_only: bool,
    /// Transitions between shared states that preserve its base points.
    pub preserved: usize,
    /// Transitions that do not.
    pub changed: usize,
    /// One that does not.
    pub witness: Option<Box<Witness>>,
}

/// A base condition of a step.
#[derive(Clone, Debug)]
pub struct StepCondition {
    /// The source line of the step.
    pub line: u32,
    /// What the step is: `return true`, `n1.next = n3`.
    pub step: String,
    /// The condition, in the language of models.
    pub condition: String,
    /// Where it comes from.
    pub origin: Origin,
    /// What is known of it.
    pub status: Status,
    /// Whether it also holds wherever the step is reached, so that it says exactly when.
    pub exact: Option<bool>,
}

/// Where a base condition comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The model states it.
    Stated,
    /// It was found.
    Suggested,
}

/// The stages of a proof (Section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// I: base conditions.
    Conditions,
    /// II: linearizability of update operations.
    Updates,
    /// III: linearizability of read-only operations.
    Reads,
    /// Beyond the paper: the linearization of its proof, followed.
    Confirmation,
}

/// What a claim is an instance of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// A stated base condition is one (Definition 1).
    BaseCondition,
    /// A critical sequence begins in a base point of all update and return steps of its call, and
    /// of no other update step (Definition 6.2).
    CriticalBasePoint,
    /// The same for a call without update steps: its last read begins in a base point (6.2).
    LastRead,
    /// Steps of critical sequences that interleave commute (6.1).
    Commute,
    /// Update steps preserve the base points of operations whose critical sequences interleave with
    /// theirs (6.1).
    Preserve,
    /// A call of an update operation has at most one step that does not preserve the base points of
    /// all read-only operations (Theorem 2.1).
    OneStep,
    /// A read-only call has a base point for its answer while it is pending (Theorem 2.2).
    ReadBasePoint,
    /// The order that the proof of Theorem 2 builds has the answers of the specification.
    Confirmation,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Rule; 8] = [
        Rule::BaseCondition,
        Rule::CriticalBasePoint,
        Rule::LastRead,
        Rule::Commute,
        Rule::Preserve,
        Rule::OneStep,
        Rule::ReadBasePoint,
        Rule::Confirmation,
    ];

    /// The stage it belongs to.
    pub const fn stage(self) -> Stage {
        match self {
            Rule::BaseCondition => Stage::Conditions,
            Rule::CriticalBasePoint | Rule::LastRead | Rule::Commute | Rule::Preserve => {
                Stage::Updates
            }
            Rule::OneStep | Rule::ReadBasePoint => Stage::Reads,
            Rule::Confirmation => Stage::Confirmation,
        }
    }

    /// Where the paper states it; what it is called where the paper does not.
    pub const fn source(self) -> &'static str {
        match self {
            Rule::BaseCondition => "Definition 1",
            Rule::CriticalBasePoint | Rule::LastRead => "Definition 6.2",
            Rule::Commute | Rule::Preserve => "Definition 6.1",
            Rule::OneStep => "Theorem 2, condition 1",
            Rule::ReadBasePoint => "Theorem 2, condition 2",
            Rule::Confirmation => "proof of Theorem 2",
        }
    }

    /// Its name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Rule::BaseCondition => "base-condition",
            Rule::CriticalBasePoint => "critical-base-point",
            Rule::LastRead => "last-read",
            Rule::Commute => "commute",
            Rule::Preserve => "preserve",
            Rule::OneStep => "one-step",
            Rule::ReadBasePoint => "read-base-point",
            Rule::Confirmation => "confirmation",
        }
    }
}

/// A claim of a proof, with what is known of it.
#[derive(Clone, Debug)]
pub struct Claim {
    /// What it is an instance of.
    pub rule: Rule,
    /// The operation that it is about, if it is about one.
    pub operation: Option<String>,
    /// The claim, as a sentence.
    pub text: String,
    /// What is known.
    pub status: Status,
}

/// What is known of a claim.
#[derive(Clone, Debug)]
pub enum Status {
    /// It held in so many cases within the bounds, which were all.
    Explored {
        /// How many.
        cases: usize,
    },
    /// It holds for any number of threads and any heap.
    Shown {
        /// How that is known, as a clause.
        how: String,
    },
    /// It does not hold.
    Refuted(Box<Witness>),
    /// The treatment of the operation makes it void.
    NotNeeded {
        /// Why, as a clause.
        why: String,
    },
    /// It was not checked.
    NotChecked {
        /// Why, as a clause.
        why: String,
    },
    /// No such case was met.
    NeverMet,
}

impl Status {
    /// Its name in JSON.
    pub const fn id(&self) -> &'static str {
        match self {
            Status::Explored { .. } => "explored",
            Status::Shown { .. } => "shown",
            Status::Refuted(_) => "refuted",
            Status::NotNeeded { .. } => "not-needed",
            Status::NotChecked { .. } => "not-checked",
            Status::NeverMet => "never-met",
        }
    }
}

/// What refutes a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    /// What happens, in sentences.
    pub text: String,
    /// The shared states that show it, in order, each with a caption.
    pub states: Vec<SharedPicture>,
    /// A run that leads there, if it was reached by one.
    pub run: Option<Run>,
}

/// A shared state to look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedPicture {
    /// What it is: `before line 47`.
    pub caption: String,
    /// The shared variables, and locals that the claim mentions: name and value.
    pub variables: Vec<(String, SharedValue)>,
    /// The objects reachable from them.
    pub nodes: Vec<SharedNode>,
}

/// A value in a shared state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedValue {
    /// A reference to a node, by its index.
    Node(usize),
    /// Null.
    Null,
    /// A truth value.
    Bool(bool),
    /// Anything else.
    Word(String),
}

/// An object of a shared state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedNode {
    /// Its struct.
    pub of: String,
    /// Its fields other than locks.
    pub fields: Vec<(String, SharedValue)>,
}

impl fmt::Display for SharedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SharedValue::Node(node) => write!(f, "@{node}"),
            SharedValue::Null => f.write_str("null"),
            SharedValue::Bool(truth) => write!(f, "{truth}"),
            SharedValue::Word(word) => f.write_str(word),
        }
    }
}
