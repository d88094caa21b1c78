//! The syntax tree: what was written, before its names are resolved.

pub(crate) use crate::model::{ClaimKind, Mark, Relation};
pub(crate) use linchpin_syntax::Ident;
use linchpin_syntax::Span;

/// A whole file.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) structs: Vec<Struct>,
    pub(crate) globals: Vec<Declaration>,
    pub(crate) operations: Vec<Operation>,
    pub(crate) initially: Vec<Initially>,
    pub(crate) invariants: Vec<Invariant>,
    pub(crate) claims: Vec<Claim>,
    pub(crate) specs: Vec<Spec>,
}

#[derive(Clone, Debug)]
pub(crate) struct Struct {
    pub(crate) name: Ident,
    pub(crate) fields: Vec<Declaration>,
}

/// `type var` or `type var[]`; `int` is a name like the others here.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) ty: Ident,
    pub(crate) name: Ident,
    pub(crate) array: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) name: Ident,
    pub(crate) arguments: Vec<Declaration>,
    pub(crate) locals: Vec<Declaration>,
    /// `then a, b;` before the first sub-operation.
    pub(crate) start: Option<Vec<Ident>>,
    pub(crate) items: Vec<Item>,
}

/// A sub-operation or a choice between lists of them.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Step(Box<SubOperation>),
    Either(Vec<Vec<Item>>, Span),
}

#[derive(Clone, Debug)]
pub(crate) struct SubOperation {
    pub(crate) name: Option<Ident>,
    pub(crate) mark: Mark,
    pub(crate) precondition: Vec<Condition>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) result: Option<(Vec<Term>, Span)>,
    /// `then a, b, return;`: the name `return` stands for the end.
    pub(crate) then: Option<Vec<Ident>>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) kind: StatementKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum StatementKind {
    Assign(Term, Term),
    Malloc(Ident, Ident),
    Free(Ident),
    Read(Term),
    /// `A[] = NULL;`: only in `initially`.
    Fill(Ident, Term),
}

#[derive(Clone, Debug)]
pub(crate) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Compare(Term, Relation, Term, Span),
}

#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) kind: TermKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum TermKind {
    Int(i64),
    Null,
    Id,
    Place(PlaceExpr),
    Plus(PlaceExpr, i64),
    /// The parser found no term here and has said so.
    Missing,
}

/// `x`, `x.f`, `A[i]`, with `@1` or `@2` after `x` in claims.
#[derive(Clone, Debug)]
pub(crate) struct PlaceExpr {
    pub(crate) name: Ident,
    pub(crate) side: Option<u8>,
    pub(crate) access: Option<Access>,
}

#[derive(Clone, Debug)]
pub(crate) enum Access {
    Field(Ident),
    Index(Box<Term>),
}

#[derive(Clone, Debug)]
pub(crate) struct Initially {
    pub(crate) locals: Vec<Declaration>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Invariant {
    pub(crate) bound: Vec<Declaration>,
    pub(crate) after: Option<Ident>,
    pub(crate) condition: Condition,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) first: Ident,
    pub(crate) second: Ident,
    pub(crate) kind: ClaimKind,
    pub(crate) condition: Option<Condition>,
    pub(crate) boundary: bool,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) name: Ident,
    pub(crate) initial: Vec<Term>,
    pub(crate) lines: Vec<SpecLine>,
}

#[derive(Clone, Debug)]
pub(crate) struct SpecLine {
    pub(crate) operation: Ident,
    pub(crate) method: Ident,
    pub(crate) arguments: Vec<Term>,
    pub(crate) response: Option<Vec<Term>>,
    /// `result ==` stands before the response.
    pub(crate) whether: bool,
    pub(crate) span: Span,
}
