//! What a proof rests on, to look at: facts, and how sub-operations follow each other.

/// What a proof by reversing sub-operations found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProofShown {
    /// The facts, by the place where they hold.
    pub facts: Vec<FactsShown>,
    /// The sub-operations that the pairs are about.
    pub sub_operations: Vec<String>,
    /// Every pair of them (Figure 5).
    pub pairs: Vec<PairShown>,
    /// How the variables of two operations may be related (Figure 13): the operations, the cases.
    pub interactions: Vec<(String, Vec<String>)>,
}

/// The facts at one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactsShown {
    /// Where: `always`, `after enqueue_1 (enqueue)`.
    pub at: String,
    /// What holds there, whatever the others do.
    pub hold: Vec<String>,
    /// What holds there if the operation is to complete.
    pub if_completed: Vec<String>,
    /// Candidates that do not hold, each with the reason.
    pub dropped: Vec<(String, String)>,
}

/// How one sub-operation may follow another, of a different instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairShown {
    /// What is executed first: index into [`ProofShown::sub_operations`].
    pub first: usize,
    /// What comes after it.
    pub second: usize,
    /// What is known of the two.
    pub relation: PairRelation,
    /// What is true whenever the second follows the first.
    pub condition: Vec<String>,
}

/// What is known of a pair of sub-operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PairRelation {
    /// The second cannot follow the first.
    NotOrderable,
    /// It can, and the other way round with the same end.
    Reversible,
    /// It can, and the order matters.
    Ordered,
    /// The first ends its operation and the second begins one.
    Boundary,
}
