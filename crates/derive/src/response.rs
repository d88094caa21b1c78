//! Which answers sub-operations can give. They return words: nothing, one, or a list of several. So
//! an answer whose shape the words do not say is refused, or it would be taken for another: a
//! record of one field for its content, a nested list for a flat one, a truth value for 0 or 1.

use crate::Refusal;
use linchpin_ir::model_spec::spec_of;
use linchpin_ir::program::{Program, Type};
use linchpin_spec::Shape;

/// Refuses operations whose answers are more than their words.
pub fn check(program: &Program) -> Result<(), Refusal> {
    // Without a specification there is nothing to be compared with, which is said elsewhere.
    let Ok(object) = spec_of(program) else { return Ok(()) };
    for (operation, known) in program.operations.iter().zip(&object.operations) {
        let expected = &object.spec.operations()[*known].response;
        is_covered(&operation.response, expected)
            .map_err(|reason| Refusal::at(operation.line, reason))?;
    }
    Ok(())
}

fn is_covered(answer: &Type, expected: &Shape) -> Result<(), &'static str> {
    if (*answer == Type::Bool) != (*expected == Shape::Bool) {
        return Err(
            "an answer is a truth value where that of the specification is none, or the reverse",
        );
    }
    if *expected != Shape::Bool && has_truth(expected) {
        return Err("truth values inside of an answer of the specification");
    }
    let parts: Vec<&Type> = match answer {
        Type::Tuple(parts) => parts.iter().collect(),
        Type::Record { fields, .. } => fields.iter().map(|(_, ty)| ty).collect(),
        Type::Lock => return Err("an answer is a lock"),
        _ => return Ok(()),
    };
    if parts.len() < 2 {
        return Err("an answer is a record or tuple with less than two components");
    }
    if parts.contains(&&Type::Bool) {
        return Err("truth values inside of an answer");
    }
    let is_word = |ty: &&Type| matches!(ty, Type::Int | Type::Option(_) | Type::Struct(_));
    if parts.iter().all(is_word) { Ok(()) } else { Err("a record or tuple inside of an answer") }
}

/// Whether a truth value is somewhere in a shape.
fn has_truth(shape: &Shape) -> bool {
    match shape {
        Shape::Bool => true,
        Shape::Optional(inner) | Shape::List(inner) => has_truth(inner),
        Shape::Tuple(parts) => parts.iter().any(has_truth),
        Shape::Record(fields) => fields.iter().any(|(_, part)| has_truth(part)),
        Shape::Unit | Shape::Int | Shape::Str | Shape::Word(_) | Shape::Any => false,
    }
}
