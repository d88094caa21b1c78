//! Atoms: which events a name in a formula means.

use crate::graph::Label;
use linchpin_spec::Value;

/// Invocation or response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// `read_inv`.
    Invocation,
    /// `read_res`.
    Response,
}

/// A value, or any.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// `_`.
    Any,
    /// This value.
    Value(Value),
    /// A list, tuple, record or array with these components.
    List(Vec<Pattern>),
}

impl Pattern {
    fn fits(&self, value: &Value) -> bool {
        match self {
            Pattern::Any => true,
            Pattern::Value(expected) => expected == value,
            Pattern::List(patterns) => value.as_list().is_some_and(|items| all(patterns, items)),
        }
    }
}

fn all(patterns: &[Pattern], values: &[Value]) -> bool {
    patterns.len() == values.len() && patterns.iter().zip(values).all(|(p, v)| p.fits(v))
}

/// A set of events.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Atom {
    /// The operation.
    pub operation: usize,
    /// Which of its events.
    pub kind: EventKind,
    /// One for each parameter, or one for the response; `None`: whatever they are.
    pub values: Option<Vec<Pattern>>,
    /// By this thread only.
    pub thread: Option<usize>,
}

impl Atom {
    /// Whether a move of a thread shows such an event.
    pub fn fits(&self, thread: usize, label: &Label) -> bool {
        let (kind, of, values) = match label {
            Label::Step => return false,
            Label::Call { operation, arguments } => {
                (EventKind::Invocation, *operation, arguments.as_slice())
            }
            Label::Return { operation, value } => {
                (EventKind::Response, *operation, std::slice::from_ref(value))
            }
        };
        kind == self.kind
            && of == self.operation
            && self.thread.is_none_or(|only| only == thread)
            && self.values.as_ref().is_none_or(|patterns| all(patterns, values))
    }
}
