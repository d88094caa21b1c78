//! A checked model: names resolved, constants folded into numbers, processes as a graph of nodes.
//!
//! Booleans are 0 and 1 from here on; what is a boolean is known from the types.

use crate::syntax::ast::BinaryOp;
use linchpin_syntax::Span;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Int,
    Bool,
}

impl Type {
    pub fn describe(self) -> &'static str {
        match self {
            Type::Int => "an integer",
            Type::Bool => "a boolean",
        }
    }

    pub fn show(self, value: i64) -> String {
        match self {
            Type::Int => value.to_string(),
            Type::Bool => (value != 0).to_string(),
        }
    }
}

/// The number of a node.
pub(crate) type NodeId = u32;

/// The number of an event name.
pub(crate) type EventId = u32;

/// The place of a parameter or bound name in the frame of its process.
pub(crate) type Slot = u16;

/// A model that can be executed.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) events: Vec<EventName>,
    pub(crate) variables: Vec<Variable>,
    /// The initial value of every cell.
    pub(crate) initial: Vec<i64>,
    pub(crate) processes: Vec<Process>,
    pub(crate) nodes: Vec<Node>,
    /// The sets of event names that `\` hides; sorted.
    pub(crate) hidden: Vec<Vec<EventId>>,
    pub(crate) assertions: Vec<Assertion>,
    /// The constants and their values, for reports.
    pub(crate) constants: Vec<(String, String)>,
}

impl Model {
    /// The constants with their values, in order: what the verdicts are about.
    pub fn constants(&self) -> impl Iterator<Item = (&str, &str)> {
        self.constants.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The assertions, as written.
    pub fn assertions(&self) -> impl Iterator<Item = &str> {
        self.assertions.iter().map(|assertion| assertion.text.as_str())
    }
}

/// An event name and the types of its data, the same everywhere.
#[derive(Clone, Debug)]
pub(crate) struct EventName {
    pub name: String,
    pub data: Vec<Type>,
}

/// A shared variable: one cell or many.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub name: String,
    pub start: usize,
    /// None if it is no array.
    pub length: Option<usize>,
    pub of: Type,
    pub range: Option<(i64, i64)>,
}

/// A definition.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub parameters: usize,
    /// How many parameters and bound names it has.
    pub frame: usize,
    pub body: NodeId,
}

/// An operator of a process.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub kind: NodeKind,
    pub span: Span,
    /// 1 for the first line.
    pub line: u32,
    /// The event with its assignments, or the condition, as written.
    pub text: String,
    /// The slots that it, or what comes after it, still looks at. A state keeps only their values.
    pub free: Vec<Slot>,
    /// The length of the frame around it.
    pub frame: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    Stop,
    Skip,
    /// `event` is none for τ.
    Prefix {
        event: Option<EventId>,
        data: Vec<Expr>,
        update: Vec<Statement>,
        next: NodeId,
    },
    Hide {
        body: NodeId,
        set: u32,
    },
    Sequence {
        first: NodeId,
        then: NodeId,
    },
    Choice(Vec<NodeId>),
    Interleave(Vec<NodeId>),
    /// Deciding takes a τ step, unless it is `atomic`: then it is decided with the first step of
    /// what is chosen.
    If {
        condition: Expr,
        then: NodeId,
        otherwise: NodeId,
        atomic: bool,
    },
    Call {
        process: u32,
        arguments: Vec<Expr>,
    },
    Indexed {
        choice: bool,
        slot: Slot,
        domain: Domain,
        body: NodeId,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum Domain {
    Range(Expr, Expr),
    List(Vec<Expr>),
}

#[derive(Clone, Debug)]
pub(crate) enum Statement {
    Assign { variable: u32, index: Option<Expr>, value: Expr, span: Span },
    If { condition: Expr, then: Vec<Statement>, otherwise: Vec<Statement> },
    For { slot: Slot, domain: Domain, body: Vec<Statement>, span: Span },
}

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Value(i64),
    Slot(Slot),
    Variable(u32),
    Element(u32, Box<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
}

#[derive(Clone, Debug)]
pub(crate) struct Assertion {
    pub text: String,
    pub line: u32,
    pub process: NodeId,
    /// The specification of `refines`; none for `deadlockfree`.
    pub specification: Option<NodeId>,
}
