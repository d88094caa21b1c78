//! What can be asked for that cannot be done.

/// A vocabulary, structure or request beyond what this crate handles.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KleeneError {
    /// More than sixty-four predicates of one arity.
    #[error("more than 64 predicates of one arity: `{0}` is one too many")]
    TooManyPredicates(String),
    /// Two predicates with one name.
    #[error("two predicates have the name `{0}`")]
    DuplicateName(String),
    /// A formula mentions a predicate that the vocabulary does not have.
    #[error("the formula of `{0}` mentions a predicate that is not declared")]
    UnknownPredicate(String),
    /// A defining formula with a variable that is not an argument.
    #[error("the formula of `{0}` has a free variable that is not an argument")]
    FreeVariable(String),
    /// More than sixty-four individuals.
    #[error("a structure has at most 64 individuals")]
    TooManyIndividuals,
    /// Focus on a successor of a predicate that may hold for several individuals.
    #[error("focus on a successor needs a unique predicate")]
    NotUnique,
    /// Focus splits a structure into more than the limit allows.
    #[error("focus splits a structure into more than {0} structures")]
    TooManyStructures(usize),
}
