//! A sequential Rust type as a specification.

use linchpin_spec::{Call, Outcome, Outcomes, Shape, Signature, Spec, Value};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// What a state must be able to do.
pub trait State: Clone + Eq + Hash + Send + Sync + 'static {}

impl<M: Clone + Eq + Hash + Send + Sync + 'static> State for M {}

/// What an operation does to a state, and what it answers; nothing where it waits.
pub type Step<M> = Box<dyn Fn(&mut M, &[Value]) -> Option<Value> + Send + Sync>;

/// A sequential type and what the operations do to it.
pub struct Model<M> {
    initial: ModelState<M>,
    steps: Vec<Step<M>>,
    signatures: Vec<Signature>,
}

/// How a state is printed, if it can be.
pub type Print<M> = Option<fn(&M, &mut fmt::Formatter<'_>) -> fmt::Result>;

/// A state of a [`Model`], with how it is printed.
#[derive(Clone)]
pub struct ModelState<M> {
    state: M,
    print: Print<M>,
}

impl<M: Eq> PartialEq for ModelState<M> {
    fn eq(&self, other: &ModelState<M>) -> bool {
        self.state == other.state
    }
}

impl<M: Eq> Eq for ModelState<M> {}

impl<M: Hash> Hash for ModelState<M> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.state.hash(hasher);
    }
}

impl<M> fmt::Debug for ModelState<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.print {
            Some(print) => print(&self.state, f),
            None => f.write_str("?"),
        }
    }
}

impl<M: State> Model<M> {
    /// A type without operations yet, starting from this state.
    pub fn new(initial: M, print: Print<M>) -> Model<M> {
        let initial = ModelState { state: initial, print };
        Model { initial, steps: Vec::new(), signatures: Vec::new() }
    }

    /// Adds an operation; `answers` if it answers something.
    pub(crate) fn add(&mut self, name: &str, arguments: usize, answers: bool, step: Step<M>) {
        let argument = match arguments {
            0 => Shape::Unit,
            1 => Shape::Any,
            several => Shape::Tuple(vec![Shape::Any; several]),
        };
        let response = if answers { Shape::Any } else { Shape::Unit };
        self.signatures.push(Signature::new(name, argument, response));
        self.steps.push(step);
    }
}

impl<M: State> Spec for Model<M> {
    type State = ModelState<M>;

    fn operations(&self) -> &[Signature] {
        &self.signatures
    }

    fn initial(&self) -> ModelState<M> {
        self.initial.clone()
    }

    fn apply(
        &self,
        state: &ModelState<M>,
        call: &Call,
        known: Option<&Value>,
    ) -> Outcomes<ModelState<M>> {
        let several = matches!(
            self.signatures.get(call.operation),
            Some(Signature { argument: Shape::Tuple(_), .. })
        );
        let arguments = match &call.argument {
            Value::List(items) if several => items.as_slice(),
            Value::Null if self.signatures[call.operation].argument == Shape::Unit => &[],
            one => std::slice::from_ref(one),
        };
        let mut after = state.clone();
        let response = self.steps[call.operation](&mut after.state, arguments);
        let fits = |response: &Value| known.is_none_or(|known| known == response);
        let outcome = |response| Outcome { state: after, response };
        response.filter(fits).map(outcome).into_iter().collect()
    }
}

/// Finds out whether a type can be printed: `(&Probe::<M>::new()).print()`. Of the two traits the
/// compiler takes [`Printed`] if it can, for it takes one reference less.
#[doc(hidden)]
pub struct Probe<M>(PhantomData<M>);

impl<M> Probe<M> {
    #[doc(hidden)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Probe<M> {
        Probe(PhantomData)
    }
}

#[doc(hidden)]
pub trait Printed<M> {
    fn print(&self) -> Print<M>;
}

impl<M: fmt::Debug> Printed<M> for Probe<M> {
    fn print(&self) -> Print<M> {
        Some(M::fmt)
    }
}

#[doc(hidden)]
pub trait Unprinted<M> {
    fn print(&self) -> Print<M>;
}

impl<M> Unprinted<M> for &Probe<M> {
    fn print(&self) -> Print<M> {
        None
    }
}
