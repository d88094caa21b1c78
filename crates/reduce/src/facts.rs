//! Facts: what holds whenever an instance has executed a prefix, whatever the others do; and the
//! invariants of the shared state.
//!
//! *Stable* facts hold in every reachable state. Candidates come from the model's own comparisons
//! and assignments ([`candidates`](crate::candidates)); those that some step breaks are dropped
//! until none is ([`houdini`](crate::houdini)). *Live* facts hold in every state of an execution in
//! which the instance completes ([`live`](crate::live)).

use linchpin_subop::model::{Condition, LocalId, Place, StructId};

use crate::footprint::Footprint;

/// An object that the instance allocated stands in no shared location but these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The local that holds the object.
    pub local: LocalId,
    /// Its struct.
    pub of: StructId,
    /// Where it may stand: globals, fields of locals, fields of structures in place.
    pub places: Vec<Place>,
}

/// What a candidate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// A condition on the instance's locals and the shared state.
    Condition(Condition),
    /// See [`Reach`].
    Reach(Reach),
}

/// Why a candidate was dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The prefix does not establish it.
    NotEstablished,
    /// The sub-operation that ends this prefix of another instance breaks it.
    BrokenBy(usize),
    /// It does not hold at the start.
    NotAtStart,
    /// It quantifies in a way that is not decided here.
    Unsupported,
    /// Too many cases.
    TooManyCases,
}

/// A candidate and its fate.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub statement: Statement,
    pub footprint: Footprint,
    /// Whether the model's author wrote it.
    pub written: bool,
    pub dropped: Option<Reason>,
}

/// A candidate invariant: for all objects of these structs, the condition.
#[derive(Clone, Debug)]
pub struct Invariant {
    pub bound: Vec<StructId>,
    pub condition: Condition,
    pub footprint: Footprint,
    /// Whether the model's author wrote it.
    pub written: bool,
    pub dropped: Option<Reason>,
}

/// All candidates.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub at: Vec<Vec<Candidate>>,
    pub invariants: Vec<Invariant>,
    pub live: Vec<Vec<Condition>>,
}

impl Facts {
    pub fn none(prefixes: usize) -> Facts {
        Facts {
            at: vec![Vec::new(); prefixes],
            invariants: Vec::new(),
            live: vec![Vec::new(); prefixes],
        }
    }

    /// The stable conditions at a prefix.
    pub fn conditions(&self, prefix: usize) -> impl Iterator<Item = &Condition> {
        self.at[prefix].iter().filter(|candidate| candidate.dropped.is_none()).filter_map(
            |candidate| match &candidate.statement {
                Statement::Condition(condition) => Some(condition),
                Statement::Reach(_) => None,
            },
        )
    }

    /// Where the allocated objects stand at a prefix.
    pub fn reaches(&self, prefix: usize) -> impl Iterator<Item = &Reach> {
        self.at[prefix].iter().filter(|candidate| candidate.dropped.is_none()).filter_map(
            |candidate| match &candidate.statement {
                Statement::Reach(reach) => Some(reach),
                Statement::Condition(_) => None,
            },
        )
    }

    /// The live facts at a prefix.
    pub fn live(&self, prefix: usize) -> impl Iterator<Item = &Condition> {
        self.live[prefix].iter()
    }

    /// The invariants without bound variables.
    pub fn invariants(&self) -> impl Iterator<Item = &Condition> {
        self.invariants
            .iter()
            .filter(|invariant| invariant.dropped.is_none() && invariant.bound.is_empty())
            .map(|invariant| &invariant.condition)
    }

    /// Whether some invariant is about two objects.
    pub fn about_pairs(&self) -> bool {
        self.quantified().any(|(bound, _)| bound.len() == 2)
    }

    /// The invariants about objects.
    pub fn quantified(&self) -> impl Iterator<Item = (&Vec<StructId>, &Condition)> {
        self.invariants
            .iter()
            .filter(|invariant| invariant.dropped.is_none() && !invariant.bound.is_empty())
            .map(|invariant| (&invariant.bound, &invariant.condition))
    }
}
