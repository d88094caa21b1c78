//! Questions to and changes of collection values: sequences, sets and maps.

use super::FaultKind;
use crate::program::{Method, Query};
use linchpin_spec::Value;
use std::sync::Arc;

/// The answer of a collection to a question.
pub(super) fn query(query: Query, of: &Value, arguments: &[Value]) -> Result<Value, FaultKind> {
    let or_none = |value: Option<&Value>| value.cloned().unwrap_or_default();
    Ok(match (query, of, arguments) {
        (Query::Len, Value::List(items), []) => length(items.len()),
        (Query::Len, Value::Set(items), []) => length(items.len()),
        (Query::Len, Value::Map(pairs), []) => length(pairs.len()),
        (Query::Contains, Value::List(items), [x]) => Value::Bool(items.contains(x)),
        (Query::Contains, Value::Set(items), [x]) => Value::Bool(items.contains(x)),
        (Query::Contains, Value::Map(pairs), [key]) => Value::Bool(pairs.contains_key(key)),
        (Query::Get, Value::Map(pairs), [key]) => or_none(pairs.get(key)),
        (Query::First, Value::List(items), []) => or_none(items.first()),
        (Query::First, Value::Set(items), []) => or_none(items.first()),
        (Query::Last, Value::List(items), []) => or_none(items.last()),
        (Query::Last, Value::Set(items), []) => or_none(items.last()),
        _ => return Err(FaultKind::IllTyped),
    })
}

fn length(length: usize) -> Value {
    Value::Int(length as i64)
}

/// Changes a collection; returns what the change answers.
pub(super) fn update(
    collection: &mut Value,
    method: Method,
    arguments: Vec<Value>,
) -> Result<Value, FaultKind> {
    let mut arguments = arguments.into_iter();
    let argument = (arguments.next(), arguments.next());
    Ok(match (method, collection, argument) {
        (Method::PushBack, Value::List(items), (Some(x), None)) => {
            Arc::make_mut(items).push(x);
            Value::Null
        }
        (Method::PushFront, Value::List(items), (Some(x), None)) => {
            Arc::make_mut(items).insert(0, x);
            Value::Null
        }
        (Method::PopBack, Value::List(items), (None, None)) => {
            Arc::make_mut(items).pop().unwrap_or_default()
        }
        (Method::PopFront, Value::List(items), (None, None)) => {
            if items.is_empty() {
                Value::Null
            } else {
                Arc::make_mut(items).remove(0)
            }
        }
        (Method::RemoveAt, Value::List(items), (Some(Value::Int(index)), None)) => {
            let length = items.len();
            match usize::try_from(index) {
                Ok(inside) if inside < length => Arc::make_mut(items).remove(inside),
                _ => return Err(FaultKind::IndexOutOfRange { index, length }),
            }
        }
        (Method::Insert, Value::Set(items), (Some(x), None)) => {
            Value::Bool(Arc::make_mut(items).insert(x))
        }
        (Method::Remove, Value::Set(items), (Some(x), None)) => {
            Value::Bool(Arc::make_mut(items).remove(&x))
        }
        (Method::Remove, Value::Map(pairs), (Some(key), None)) => {
            Arc::make_mut(pairs).remove(&key).unwrap_or_default()
        }
        (Method::Put, Value::Map(pairs), (Some(key), Some(value))) => {
            Arc::make_mut(pairs).insert(key, value).unwrap_or_default()
        }
        _ => return Err(FaultKind::IllTyped),
    })
}
