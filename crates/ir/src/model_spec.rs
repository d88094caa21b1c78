//! The specification of a model as a [`Spec`]: a `spec { }` block, or a built-in one.

use crate::interpreter::{Fault, Machine, Memory, Move, State, Status};
use crate::program::{Action, Body, Operation, Program, SpecSource, Type};
use linchpin_spec::{
    BuiltinError, BuiltinSpec, Call, Outcome, Outcomes, Shape, Signature, Spec, Value, builtin,
};
use std::sync::Arc;
use thiserror::Error;

/// The sequential object that a `spec { }` block describes. Its state is the list of the state
/// variables.
///
/// Every operation runs in one go; each way through its `choose`s is an outcome. A way that is
/// blocked by an `assume` is none, and neither is one that fails (an assertion, an index out of
/// range): a specification that fails promises nothing there, so no implementation may get there.
#[derive(Debug)]
pub struct ModelSpec {
    machine: Machine,
    operations: Vec<Signature>,
    start: State,
}

/// A specification with the operations of the model found in it.
pub struct ModelObject {
    /// The specification.
    pub spec: BuiltinSpec,
    /// For each operation of the model, the operation of the specification with the same name.
    pub operations: Vec<usize>,
}

/// Why a model has no usable specification.
#[derive(Debug, Error)]
pub enum SpecError {
    /// There is no such built-in specification.
    #[error(transparent)]
    Builtin(#[from] BuiltinError),
    /// An operation of the model is not in its specification.
    #[error("the specification has no operation `{operation}`; it has {known}")]
    NoSuchOperation {
        /// The operation.
        operation: String,
        /// Those that the specification has.
        known: String,
    },
    /// The block uses something that only an implementation can have.
    #[error("`{operation}` of the specification {reason}")]
    NotSequential {
        /// The operation of the specification.
        operation: String,
        /// What it does.
        reason: &'static str,
    },
    /// The initial state could not be computed.
    #[error("the specification cannot start: {0}")]
    Start(#[from] Fault),
}

/// The specification of a program.
pub fn spec_of(program: &Program) -> Result<ModelObject, SpecError> {
    let spec: BuiltinSpec = match &program.spec {
        SpecSource::Builtin { name, init } => builtin(name, init.as_ref())?,
        SpecSource::Model(model) => Box::new(ModelSpec::new(model)?),
    };
    let find = |operation: &Operation| {
        spec.operation(&operation.name).ok_or_else(|| {
            let known = spec.operations().iter().map(|signature| signature.name.as_str());
            SpecError::NoSuchOperation {
                operation: operation.name.clone(),
                known: known.collect::<Vec<_>>().join(", "),
            }
        })
    };
    let operations = program.operations.iter().map(find).collect::<Result<_, _>>()?;
    Ok(ModelObject { spec, operations })
}

impl ModelSpec {
    /// The object that the program of a `spec { }` block describes.
    pub fn new(program: &Program) -> Result<ModelSpec, SpecError> {
        for operation in &program.operations {
            sequential(&operation.name, &operation.body)?;
        }
        let machine = Machine::new(program, Memory::Collected);
        let mut start = machine.initial()?;
        start.threads = vec![State::idle_thread(program)];
        Ok(ModelSpec {
            operations: program.operations.iter().map(signature).collect(),
            machine,
            start,
        })
    }
}

impl Spec for ModelSpec {
    type State = Value;

    fn operations(&self) -> &[Signature] {
        &self.operations
    }

    fn initial(&self) -> Value {
        Value::list(self.start.shared.iter().cloned())
    }

    fn apply(&self, state: &Value, call: &Call, response: Option<&Value>) -> Outcomes<Value> {
        let mut outcomes = Outcomes::new();
        let operation = self.machine.program().operations.get(call.operation);
        let arguments = operation.and_then(|operation| operation.arguments(&call.argument));
        let (Some(variables), Some(arguments)) = (state.as_list(), arguments) else {
            return outcomes;
        };
        let before = State { shared: variables.to_vec(), ..self.start.clone() };
        let invoke = Move::Invoke { thread: 0, operation: call.operation, arguments };
        for successor in self.machine.successors(&before, &invoke) {
            let Ok(after) = successor.result else { continue };
            let Status::Returning { value, .. } = &after.threads[0].status else { continue };
            let outcome =
                Outcome { response: value.clone(), state: Value::List(Arc::new(after.shared)) };
            let asked = response.is_none_or(|response| *response == outcome.response);
            if asked && !outcomes.contains(&outcome) {
                outcomes.push(outcome);
            }
        }
        outcomes
    }

    /// The variables by their names.
    fn describe(&self, state: &Value) -> Option<String> {
        let names = self.machine.program().shared.iter().map(|variable| &variable.name);
        let variables = names.zip(state.as_list()?);
        let shown = variables.map(|(name, value)| match value {
            Value::Null => format!("{name} = none"),
            value => format!("{name} = {value}"),
        });
        Some(shown.collect::<Vec<_>>().join(", "))
    }
}

/// Refuses what would let an operation of a specification stop half-way or use memory that its
/// state does not show.
fn sequential(operation: &str, body: &Body) -> Result<(), SpecError> {
    let refuse = |reason| Err(SpecError::NotSequential { operation: operation.to_owned(), reason });
    if body.nodes.iter().any(|node| node.yields) {
        return refuse("lets other threads run");
    }
    let edges = body.nodes.iter().flat_map(|node| &node.edges);
    let mut actions = edges.flat_map(|edge| &edge.actions);
    if actions.any(|(action, _)| matches!(action, Action::New { .. } | Action::Free(_))) {
        return refuse("uses the heap");
    }
    Ok(())
}

fn signature(operation: &Operation) -> Signature {
    let shape = |ty: &Type| ty.shape().unwrap_or(Shape::Any);
    let argument = match operation.parameters.as_slice() {
        [] => Shape::Unit,
        [one] => shape(&one.ty),
        several => Shape::Tuple(several.iter().map(|parameter| shape(&parameter.ty)).collect()),
    };
    Signature::new(&operation.name, argument, shape(&operation.response))
}
