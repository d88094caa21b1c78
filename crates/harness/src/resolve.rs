//! The names in a test, found in its specification and among its operations.

use crate::definition::OperationInfo;
use crate::error::DefinitionError;
use crate::scenario::{Call, NamedCall};
use linchpin_history_data::Object;
use linchpin_spec::{Shape, Signature, Value};

/// Which operation of the specification this is.
pub fn found(operation: &OperationInfo, object: &Object) -> Result<u16, DefinitionError> {
    let name = operation.name.clone();
    let signatures = object.spec.operations();
    let Some(at) = signatures.iter().position(|known| known.is_called(&name)) else {
        let known: Vec<&str> = signatures.iter().map(|known| known.name.as_str()).collect();
        let (spec, known) = (object.name.clone(), known.join(", "));
        return Err(DefinitionError::NoSuchOperation { spec, name, known });
    };
    let given = operation.arguments.len();
    if !takes(&signatures[at], given) {
        let signature = signatures[at].to_string();
        return Err(DefinitionError::ArgumentCount { name, given, signature });
    }
    if operation.choices() == 0 {
        return Err(DefinitionError::NoValues { name });
    }
    Ok(u16::try_from(at).unwrap_or(u16::MAX))
}

/// Whether an operation can be called with so many arguments; one that is a list stands for all.
fn takes(signature: &Signature, given: usize) -> bool {
    match &signature.argument {
        Shape::Unit => given == 0,
        Shape::Tuple(items) => given == items.len() || given == 1,
        Shape::Record(fields) => given == fields.len() || given == 1,
        Shape::List(_) => given > 0,
        _ => given == 1,
    }
}

/// Calls by name, found.
pub fn named(
    operations: &[OperationInfo],
    calls: &[NamedCall],
) -> Result<Vec<Call>, DefinitionError> {
    let call = |call: &NamedCall| {
        let name = call.name.clone();
        let Some(operation) = operations.iter().position(|known| known.name == name) else {
            let known: Vec<&str> = operations.iter().map(|known| known.name.as_str()).collect();
            return Err(DefinitionError::UnknownCall { name, known: known.join(", ") });
        };
        if !(operations[operation].accepts)(&call.arguments) {
            let arguments = Value::list(call.arguments.iter().cloned()).to_string();
            return Err(DefinitionError::WrongArguments { name, arguments });
        }
        Ok(Call { operation, arguments: call.arguments.iter().cloned().collect() })
    };
    calls.iter().map(call).collect()
}
