//! Values: what operations take and answer, and what the states of sequential objects are made of.
//!
//! One type serves histories, specifications and the interpreter, so nothing is converted on the
//! way from a recorded event to a checked one. Compound values are shared (`Arc`), so a clone costs
//! a reference count.

use crate::number::{Number, Numeral};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// A value.
///
/// ```
/// use linchpin_spec::Value;
/// let pair = Value::list([Value::Int(1), Value::Null]);
/// assert_eq!(pair.to_string(), "[1, null]");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Value {
    /// Nothing: the empty answer, `none`, a null reference, the argument of an operation without
    /// one.
    #[default]
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer. Thread ids are integers too.
    Int(i64),
    /// Any other number. Part of histories, and never of models.
    Number(Number),
    /// A string.
    Str(Arc<str>),
    /// A sequence: a JSON array; in models also records, tuples and arrays.
    List(Arc<Vec<Value>>),
    /// A finite set (states of specifications only).
    Set(Arc<BTreeSet<Value>>),
    /// A finite map.
    Map(Arc<BTreeMap<Value, Value>>),
    /// A reference to a heap object of a model. Never part of a history.
    Ref(u32),
}

impl Value {
    /// A list of the given values.
    pub fn list(values: impl IntoIterator<Item = Value>) -> Value {
        Value::List(Arc::new(values.into_iter().collect()))
    }

    /// A string value.
    pub fn str(text: &str) -> Value {
        Value::Str(text.into())
    }

    /// The number that a text says, unless it says none: `7`, `2.50`, `1e9`.
    pub fn number(text: &str) -> Option<Value> {
        Number::read(text).map(|numeral| match numeral {
            Numeral::Int(int) => Value::Int(int),
            Numeral::Number(number) => Value::Number(number),
        })
    }

    /// A map from the given pairs; the last pair wins where a key repeats.
    pub fn map(pairs: impl IntoIterator<Item = (Value, Value)>) -> Value {
        Value::Map(Arc::new(pairs.into_iter().collect()))
    }

    /// The integer, if this is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(i) => Some(*i),
            _ => None,
        }
    }

    /// The truth value, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// The elements, if this is a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// Whether this is [`Value::Null`].
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }
}

impl Value {
    /// Values of different kinds are in the order of this. All numbers are one kind.
    fn kind(&self) -> u8 {
        match self {
            Value::Null => 0,
            Value::Bool(_) => 1,
            Value::Int(_) | Value::Number(_) => 2,
            Value::Str(_) => 3,
            Value::List(_) => 4,
            Value::Set(_) => 5,
            Value::Map(_) => 6,
            Value::Ref(_) => 7,
        }
    }
}

/// Numbers are ordered by size.
impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Int(one), Value::Int(other)) => one.cmp(other),
            (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
            (Value::Str(one), Value::Str(other)) => one.cmp(other),
            (Value::List(one), Value::List(other)) => one.cmp(other),
            (Value::Set(one), Value::Set(other)) => one.cmp(other),
            (Value::Map(one), Value::Map(other)) => one.cmp(other),
            (Value::Ref(one), Value::Ref(other)) => one.cmp(other),
            (Value::Number(one), Value::Number(other)) => one.cmp(other),
            (Value::Number(one), Value::Int(other)) => one.cmp_int(*other),
            (Value::Int(one), Value::Number(other)) => other.cmp_int(*one).reverse(),
            _ => self.kind().cmp(&other.kind()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

macro_rules! integers {
    ($($int:ty)*) => {
        $(impl From<$int> for Value {
            #[inline]
            fn from(int: $int) -> Value {
                match i64::try_from(int) {
                    Ok(int) => Value::Int(int),
                    // INVARIANT: the digits of an integer are a number.
                    Err(_) => Value::number(&int.to_string()).unwrap_or_default(),
                }
            }
        })*
    };
}

integers!(i8 i16 i32 i64 isize i128 u8 u16 u32 u64 usize u128);

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::Bool(b)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::str(text)
    }
}

/// Prints JSON, except for sets (`{1, 2}`), maps with keys that are not strings and references
/// (`@3`), which JSON does not have.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(i) => write!(f, "{i}"),
            Value::Number(number) => write!(f, "{number}"),
            Value::Str(text) => write_json_string(f, text),
            Value::List(items) => write_between(f, "[", items.iter(), "]"),
            Value::Set(items) => write_between(f, "{", items.iter(), "}"),
            Value::Map(pairs) => {
                f.write_str("{")?;
                for (i, (key, value)) in pairs.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    write!(f, "{comma}{key}: {value}")?;
                }
                f.write_str("}")
            }
            Value::Ref(node) => write!(f, "@{node}"),
        }
    }
}

fn write_between<'a>(
    f: &mut fmt::Formatter<'_>,
    open: &str,
    items: impl Iterator<Item = &'a Value>,
    close: &str,
) -> fmt::Result {
    f.write_str(open)?;
    for (i, item) in items.enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        write!(f, "{comma}{item}")?;
    }
    f.write_str(close)
}

fn write_json_string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if (c as u32) < 0x20 => write!(f, "\\u{:04x}", c as u32)?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}
