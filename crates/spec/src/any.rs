//! Specifications of which the type of the state is not known: one type for all of them.

use crate::{Call, Outcome, Outcomes, Signature, Spec, Value};
use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A specification with any state.
pub type AnySpec = dyn Spec<State = AnyState> + Send + Sync;

/// The state of a specification with any state. A [`Value`] is kept as it is, so that the built-in
/// specifications lose nothing.
#[derive(Clone)]
pub enum AnyState {
    /// A value.
    Value(Value),
    /// A state of a type of its own.
    Opaque(Arc<dyn OpaqueState>),
}

/// What a state must be able to do. Every type that fits implements it.
pub trait OpaqueState: Any + Send + Sync {
    /// Whether it is equal to another, of the same type or not.
    fn equals(&self, other: &dyn OpaqueState) -> bool;
    /// Feeds it to a hasher.
    fn feed(&self, hasher: &mut dyn Hasher);
    /// As a person reads it.
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl<T: Any + Eq + Hash + fmt::Debug + Send + Sync> OpaqueState for T {
    fn equals(&self, other: &dyn OpaqueState) -> bool {
        (other as &dyn Any).downcast_ref::<T>() == Some(self)
    }

    fn feed(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }

    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl AnyState {
    /// A state of any type.
    pub fn new<T: OpaqueState>(state: T) -> AnyState {
        let mut state = Some(state);
        let value = (&mut state as &mut dyn Any).downcast_mut::<Option<Value>>();
        match (value.and_then(Option::take), state) {
            (Some(value), _) => AnyState::Value(value),
            (None, Some(state)) => AnyState::Opaque(Arc::new(state)),
            (None, None) => AnyState::Value(Value::Null),
        }
    }

    /// The state, if it has this type.
    pub fn get<T: OpaqueState>(&self) -> Option<&T> {
        match self {
            AnyState::Value(value) => (value as &dyn Any).downcast_ref(),
            AnyState::Opaque(state) => (&**state as &dyn Any).downcast_ref(),
        }
    }
}

impl From<Value> for AnyState {
    fn from(value: Value) -> AnyState {
        AnyState::Value(value)
    }
}

impl PartialEq for AnyState {
    fn eq(&self, other: &AnyState) -> bool {
        match (self, other) {
            (AnyState::Value(one), AnyState::Value(other)) => one == other,
            (AnyState::Opaque(one), AnyState::Opaque(other)) => one.equals(&**other),
            _ => false,
        }
    }
}

impl Eq for AnyState {}

impl Hash for AnyState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        match self {
            AnyState::Value(value) => value.hash(hasher),
            AnyState::Opaque(state) => state.feed(hasher),
        }
    }
}

/// As a person reads it.
impl fmt::Display for AnyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnyState::Value(value) => fmt::Display::fmt(value, f),
            AnyState::Opaque(state) => state.show(f),
        }
    }
}

impl fmt::Debug for AnyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A specification as one with any state.
pub fn erase<S>(spec: S) -> Box<AnySpec>
where
    S: Spec<State: OpaqueState> + Send + Sync + 'static,
{
    Box::new(Erased(spec))
}

struct Erased<S>(S);

impl<S: Spec<State: OpaqueState>> Spec for Erased<S> {
    type State = AnyState;

    fn operations(&self) -> &[Signature] {
        self.0.operations()
    }

    fn initial(&self) -> AnyState {
        AnyState::new(self.0.initial())
    }

    fn apply(&self, state: &AnyState, call: &Call, response: Option<&Value>) -> Outcomes<AnyState> {
        // A state of another type is none of this object's, and nothing can happen in it.
        let Some(state) = state.get::<S::State>() else {
            return Outcomes::new();
        };
        let outcomes = self.0.apply(state, call, response).into_iter();
        let erased =
            |Outcome { state, response }| Outcome { state: AnyState::new(state), response };
        outcomes.map(erased).collect()
    }

    fn canonical(&self, operation: usize, response: Value) -> Value {
        self.0.canonical(operation, response)
    }

    fn only_looks(&self, call: &Call) -> Option<bool> {
        self.0.only_looks(call)
    }

    fn describe(&self, state: &AnyState) -> Option<String> {
        self.0.describe(state.get::<S::State>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Queue;
    use std::collections::HashSet;

    #[test]
    fn values_stay_values_and_others_are_told_apart() {
        let state = erase(Queue::default()).initial();
        assert!(matches!(state, AnyState::Value(_)));
        let states: HashSet<AnyState> =
            [AnyState::new(7_u8), AnyState::new(7_u8), AnyState::new(7_i64), AnyState::new(8_u8)]
                .into_iter()
                .collect();
        assert_eq!(states.len(), 3);
        assert_eq!(AnyState::new(7_u8).get::<u8>(), Some(&7));
        assert_eq!(AnyState::new(7_u8).get::<i64>(), None);
    }
}
