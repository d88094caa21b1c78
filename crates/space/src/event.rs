//! What happens on the way from a state to its successors.

use crate::canonical::Before;
use crate::flat::Flat;
use smallvec::SmallVec;

/// Something that a specification sees. Words are laid out as the types of the operation say.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A thread calls an operation.
    Call {
        /// Who.
        thread: usize,
        /// Which operation.
        operation: usize,
        /// The words of its parameters.
        arguments: SmallVec<[i64; 8]>,
    },
    /// A thread passes a claimed linearization point of its operation.
    Point {
        /// Who.
        thread: usize,
        /// `None`: it takes effect here. Otherwise: here, if the operation answers these words
        /// before it passes the point with this number again.
        guess: Option<(usize, SmallVec<[i64; 8]>)>,
    },
    /// A thread went along an edge of its operation; only in a space that was asked to
    /// ([`Space::telling_edges`](crate::Space::telling_edges)).
    Edge {
        /// Who.
        thread: usize,
        /// In which operation.
        operation: usize,
        /// From which node.
        node: u32,
        /// Along which of its edges.
        edge: u32,
    },
    /// A thread sees the response.
    Return {
        /// Who.
        thread: usize,
        /// Of which operation.
        operation: usize,
        /// The words of the response.
        value: SmallVec<[i64; 8]>,
    },
    /// The system crashes.
    Crash {
        /// Whether another crash of the system may come.
        last: bool,
    },
    /// A thread crashes.
    ThreadCrash {
        /// Who.
        thread: usize,
    },
    /// A thread knows what became of its interrupted call (`recover(t)`).
    Resolve {
        /// Who.
        thread: usize,
        /// Which operation it had called.
        operation: usize,
        /// The words of the answer: the response, or `none` if the call had no effect.
        value: SmallVec<[i64; 8]>,
    },
}

/// A move of the interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Calls an operation.
    Invoke {
        /// Which.
        operation: usize,
        /// The words of its parameters.
        arguments: SmallVec<[i64; 8]>,
    },
    /// Takes a step.
    Step,
    /// Sees the response.
    Respond,
    /// The system crashes and leaves these words: the state before `recover` runs.
    Crash(Box<[i64]>),
    /// The thread crashes.
    CrashThread,
    /// `recover` takes a step.
    Recover,
}

/// A move of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Who makes it; one more than the last thread where it is the system.
    pub thread: usize,
    /// What it is.
    pub action: Action,
}

/// A way on from a state.
pub struct Successor<'a> {
    /// Who moves; one more than the last thread where it is the system.
    pub thread: usize,
    /// The moves, in order: more than one where reductions take several together. The last ones may
    /// be steps of other threads that reductions take along.
    pub actions: &'a [Made],
    /// The events, in order.
    pub events: &'a [Event],
    /// The operation and node where the last step started; `None` if there was none.
    pub from: Option<(usize, usize)>,
    /// What comes of it.
    pub stop: Stop<'a>,
    /// What is known of the state that it comes of, for those who pack it.
    pub before: Option<Before<'a>>,
}

/// Where a transition ends.
pub enum Stop<'a> {
    /// In this state.
    State(&'a Flat),
    /// It goes wrong: the interpreter says how.
    Fault,
}

/// What visits the successors of a state. Returning `false` ends the enumeration.
pub trait Visit {
    /// One way on.
    fn visit(&mut self, successor: Successor<'_>) -> bool;
}

impl<F: FnMut(Successor<'_>) -> bool> Visit for F {
    fn visit(&mut self, successor: Successor<'_>) -> bool {
        self(successor)
    }
}
