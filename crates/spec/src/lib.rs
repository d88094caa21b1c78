//! Sequential objects: what a concurrent object must look like when its operations take effect one
//! at a time.
//!
//! Start with [`Spec`], the one trait; [`builtin`](fn@builtin) finds a built-in specification by
//! its name.

mod any;
mod brief;
mod builtin;
mod number;
mod signature;
mod value;

pub use any::{AnySpec, AnyState, OpaqueState, erase};
pub use builtin::{BUILTINS, Builtin, BuiltinError, BuiltinInfo, BuiltinSpec, builtin};
pub use builtin::{
    Bank, BoundedQueue, CasRegister, Counter, Etcd, GrowSet, Kv, ListAppend, Mailbox, Map,
    MultiRegister, Mutex, Mwcas, PriorityQueue, Queue, Rdcss, Register, S2Stream, Semaphore, Set,
    Snapshot, Snzi, Stack, UnorderedQueue,
};
pub use number::{Number, Numeral};
pub use signature::{Shape, Signature};
pub use value::Value;

use smallvec::SmallVec;
use std::fmt::Debug;
use std::hash::Hash;

/// A call of an operation: which one, with what argument.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// Index into [`Spec::operations`].
    pub operation: usize,
    /// The argument: [`Value::Null`] if the operation takes none, a list if it takes several.
    pub argument: Value,
}

/// One way in which a call may take effect.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outcome<State> {
    /// The state afterwards.
    pub state: State,
    /// What the call answers; [`Value::Null`] if the operation answers nothing.
    pub response: Value,
}

/// The ways in which a call may take effect: one for a deterministic object, none where the
/// operation is not allowed.
pub type Outcomes<State> = SmallVec<[Outcome<State>; 1]>;

/// A sequential object, deterministic or not.
pub trait Spec {
    /// What the object remembers between operations.
    type State: Clone + Eq + Hash + Debug;

    /// The operations, each with the shape of its argument and response.
    fn operations(&self) -> &[Signature];

    /// The state before the first operation.
    fn initial(&self) -> Self::State;

    /// Every way `call` may take effect in `state`. With `response`, only the ways that answer it:
    /// a checker that knows the answer passes it, and an object that starts in an unknown state
    /// learns from it.
    fn apply(
        &self,
        state: &Self::State,
        call: &Call,
        response: Option<&Value>,
    ) -> Outcomes<Self::State>;

    /// The same answer as [`apply`](Spec::apply) writes it when it is asked without one: what says
    /// the same is equal then. Without this, every answer is written in one way only.
    fn canonical(&self, _operation: usize, response: Value) -> Value {
        response
    }

    /// Whether a call changes no state, whichever it takes effect in; nothing if that is not known.
    /// A checker that is told need not find out.
    fn only_looks(&self, _call: &Call) -> Option<bool> {
        None
    }

    /// A state as a person reads it, if that is not how it prints itself.
    fn describe(&self, _state: &Self::State) -> Option<String> {
        None
    }

    /// The index of the operation called `name`; `-` and `_` are the same letter here, because
    /// models cannot write `-`.
    fn operation(&self, name: &str) -> Option<usize> {
        self.operations().iter().position(|signature| signature.is_called(name))
    }
}

impl<S: Spec + ?Sized> Spec for Box<S> {
    type State = S::State;

    fn operations(&self) -> &[Signature] {
        (**self).operations()
    }

    fn initial(&self) -> S::State {
        (**self).initial()
    }

    fn apply(&self, state: &S::State, call: &Call, response: Option<&Value>) -> Outcomes<S::State> {
        (**self).apply(state, call, response)
    }

    fn canonical(&self, operation: usize, response: Value) -> Value {
        (**self).canonical(operation, response)
    }

    fn only_looks(&self, call: &Call) -> Option<bool> {
        (**self).only_looks(call)
    }

    fn describe(&self, state: &S::State) -> Option<String> {
        (**self).describe(state)
    }
}
