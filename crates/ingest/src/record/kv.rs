//! The calls of the key-value store, which have their key with them.

use crate::convert::{Converter, Unfit, fits};
use crate::error::IngestError;
use crate::token::View;
use linchpin_history::{Argument, Builder, ValueId};
use linchpin_spec::{Shape, Signature};

/// The argument of the key-value store, which is the key, or the key and a string. The key is the
/// object's too: what happens under one key is a history of its own.
pub(super) fn kv_argument(
    key: Option<View<'_>>,
    value: View<'_>,
    shape: &Shape,
    converter: &mut Converter,
    builder: &mut Builder,
) -> Result<(ValueId, Argument), Unfit> {
    let Some(key) = key else {
        let argument = converter.argument(value, shape, builder)?;
        return match argument {
            Argument::One(key) | Argument::Two(key, _) => Ok((key, argument)),
            _ => Err(Unfit),
        };
    };
    let key = converter.intern(key, builder)?;
    match shape {
        Shape::Tuple(shapes) => match shapes.get(1) {
            Some(shape) if fits(value, shape) => {
                Ok((key, Argument::Two(key, converter.intern(value, builder)?)))
            }
            _ => Err(Unfit),
        },
        _ => Ok((key, Argument::One(key))),
    }
}

/// That a call or an answer has its key twice: as `key`, and in a pair.
pub(super) fn key_twice(
    line: u64,
    signature: &Signature,
    verb: &'static str,
    key: View<'_>,
    value: View<'_>,
) -> IngestError {
    let operation = signature.name.clone();
    let (key, found) = (key.to_string(), value.to_string());
    IngestError::KeyTwice { line, operation, verb, key, found }
}
