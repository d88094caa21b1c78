//! The tree of a `.csp` source (Definition 1 of the paper, with declarations around it).

pub(crate) use linchpin_syntax::Ident;
use linchpin_syntax::Span;

/// A whole source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    pub constants: Vec<(Ident, Expr)>,
    pub variables: Vec<Variable>,
    pub processes: Vec<Definition>,
    pub assertions: Vec<Assertion>,
}

/// `var name[size]:{from..to} = initial;`
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub name: Ident,
    pub size: Option<Expr>,
    pub range: Option<(Expr, Expr)>,
    pub initial: Option<Initial>,
}

/// What a variable starts with.
#[derive(Clone, Debug)]
pub(crate) enum Initial {
    Value(Expr),
    /// `[a, b(3), c]`: `b(3)` is `b` three times.
    List(Vec<(Expr, Option<Expr>)>, Span),
}

/// `name(parameters) = body;`
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub name: Ident,
    pub parameters: Vec<Ident>,
    pub body: Process,
}

/// `assert …;`
#[derive(Clone, Debug)]
pub(crate) struct Assertion {
    pub process: Process,
    /// The specification of `refines`; none for `deadlockfree`.
    pub specification: Option<Process>,
    pub span: Span,
}

/// A process and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub kind: ProcessKind,
    pub span: Span,
}

/// Definition 1, with calls and indexed operators.
#[derive(Clone, Debug)]
pub(crate) enum ProcessKind {
    Stop,
    Skip,
    Prefix {
        event: Event,
        update: Vec<Statement>,
        next: Box<Process>,
    },
    Hide(Box<Process>, Vec<Ident>),
    Sequence(Box<Process>, Box<Process>),
    Choice(Vec<Process>),
    Interleave(Vec<Process>),
    If {
        condition: Expr,
        then: Box<Process>,
        otherwise: Box<Process>,
        atomic: bool,
    },
    Call(Ident, Vec<Expr>),
    Indexed {
        choice: bool,
        name: Ident,
        domain: Domain,
        body: Box<Process>,
    },
    /// Something that could not be read; a mistake has been reported.
    Missing,
}

/// The event of a prefix.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Tau,
    Visible(Ident, Vec<Expr>),
}

/// The values of a bound name.
#[derive(Clone, Debug)]
pub(crate) enum Domain {
    Range(Expr, Expr),
    List(Vec<Expr>),
}

/// What happens with an event.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    Assign { name: Ident, index: Option<Expr>, value: Expr },
    If { condition: Expr, then: Vec<Statement>, otherwise: Vec<Statement> },
    For { name: Ident, domain: Domain, body: Vec<Statement> },
}

/// An expression and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Int(i64),
    Bool(bool),
    Name(String),
    Index(Ident, Box<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// Something that could not be read; a mistake has been reported.
    Missing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}
