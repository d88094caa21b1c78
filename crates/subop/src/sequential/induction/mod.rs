//! Sequential executions, all of them: induction over one call.
//!
//! A relation says what the state of the specification is in terms of the shared words. It holds at
//! the start, and each operation, executed alone from any state in which it holds and with any
//! argument, answers what the specification answers and establishes it again. Then every sequential
//! execution, of any length and with any integers, is one of the specification. Operations are
//! executed symbolically (`symbolic`); what is asked about integers goes to `linear`. Integers are
//! not bounded here: [`Tried::adds`](super::Tried::adds) says where that is an assumption.
//!
//! The relation is found by comparing words in executions that were tried (`relation`), but nothing
//! rests on them.

mod builtin;
mod calls;
mod linear;
mod relation;
mod symbolic;

pub use builtin::builtin;
pub use linear::{Constraint, Linear, Symbol};

use super::arguments::Domain;
use crate::execute;
use crate::model::{Model, SpecLine};
use calls::Calls;
use linchpin_spec as spec;
use std::fmt;

/// A word of a symbolic state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// `NULL`, `none`
    Null,
    /// An integer; 0 and 1 for truth values.
    Int(Linear),
}

/// A specification that can be executed with unknown integers.
pub trait SymbolicSpec {
    /// The words of a state; nothing if it is not of the kind that is covered.
    fn words(&self, state: &spec::Value) -> Option<Vec<Option<i64>>>;

    /// What holds of the words of every state because of their types.
    fn typing(&self, _state: &[Word]) -> Vec<Constraint> {
        Vec::new()
    }

    /// The outcomes of a call, which exclude each other; where none applies, the specification does
    /// not allow the call. Nothing if the call is not covered.
    fn apply(&self, method: &str, state: &[Word], arguments: &[Word]) -> Option<Vec<Branch>>;

    /// If the argument at this position is an index: from which one on, and which one is the first
    /// beyond.
    fn indexes(&self, _method: &str, _position: usize) -> Option<(i64, i64)> {
        None
    }
}

/// One outcome of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// When it applies.
    pub condition: Vec<Constraint>,
    /// The state after it.
    pub state: Vec<Word>,
    /// The answer.
    pub answer: Answer,
}

/// What a call answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// One value, or nothing (`NULL`).
    One(Word),
    /// A truth value.
    Truth(bool),
    /// Several values, or a list.
    List(Vec<Word>),
}

/// Every sequential execution is one of the specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// What the words of the specification's state are, in terms of the shared variables.
    pub relation: Vec<String>,
}

/// Why the induction says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotShown {
    /// The specification is not of a kind that is covered.
    Specification,
    /// An operation uses objects on the heap.
    Heap,
    /// An element has an index that is not a constant.
    Index,
    /// A sum of something that is not an integer, or a local that is not set.
    Undefined,
    /// There are too many cases.
    TooManyCases,
    /// No relation between the states was found that holds in what was tried.
    NoRelation,
    /// The relation that was found is not established again, or the answer may differ, by this
    /// operation.
    NotInductive {
        /// The operation.
        operation: String,
    },
    /// A call of this operation of the specification, alone, may wait for ever; or a step of it
    /// fails, which a sub-operation cannot: it is not executed.
    MayBlock {
        /// The operation of the specification.
        method: String,
    },
}

impl fmt::Display for NotShown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotShown::Specification => {
                f.write_str("the specification's state is more than a few words")
            }
            NotShown::Heap => f.write_str("the operations use objects"),
            NotShown::Index => f.write_str("an index is not a constant"),
            NotShown::Undefined => f.write_str("a sum may not be defined"),
            NotShown::TooManyCases => f.write_str("there are too many cases"),
            NotShown::NoRelation => f.write_str(
                "no relation between the shared variables and the specification was found",
            ),
            NotShown::NotInductive { operation } => {
                write!(f, "the relation that was found may not survive {operation}")
            }
            NotShown::MayBlock { method } => {
                write!(f, "{method}, executed alone, may wait for ever or fail")
            }
        }
    }
}

/// A pair of states that the same calls lead to.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub shared: execute::Shared,
    pub spec: spec::Value,
}

/// Shows that every sequential execution is one of the specification, or says why not. The first
/// sample is the start.
pub(super) fn show(
    model: &Model,
    lines: &[SpecLine],
    spec: Option<&dyn SymbolicSpec>,
    domains: Option<&[Vec<Domain>]>,
    samples: &[Sample],
) -> Result<Shown, NotShown> {
    let spec = spec.ok_or(NotShown::Specification)?;
    let mut calls = Calls::new(model, lines, spec, domains)?;
    calls.execute_all()?;
    let candidates = relation::candidates(&calls, spec, samples)?;
    let mut failed = NotShown::NoRelation;
    for relation in candidates {
        match calls.holds(&relation, spec) {
            Ok(()) => {
                calls.answers_always(&relation, spec)?;
                let relation = relation.iter().map(|part| part.text(model)).collect();
                return Ok(Shown { relation });
            }
            Err(why) => failed = why,
        }
    }
    Err(failed)
}
