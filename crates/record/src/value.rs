//! What Rust code passes and answers, as values of a history.

use linchpin_spec::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What an operation takes or answers, as a value of a history.
///
/// | Rust | value |
/// | --- | --- |
/// | `()` | `null` |
/// | `bool`, integers, `char`, `&str`, `String` | itself |
/// | `None`, `Some(v)` | `null`, `v` |
/// | `Err(_)`, `Ok(v)` | `null`, `v` |
/// | `Err(_)`, `Ok(())`; also `None`, `Some(())` | `false`, `true` |
/// | `Err(_)`, `Ok(None)`, `Ok(Some(v))` | `"error"`, `null`, `v` |
/// | tuples, arrays, slices, `Vec`, sets | a list |
/// | `BTreeMap` | a map |
///
/// What an error says is no part of the answer. Where it is, make it a value of your own:
/// `map_err(|error| error.to_string())` and `unwrap_or_else`, or a `match`.
pub trait ToValue {
    /// The value.
    fn to_value(&self) -> Value;

    /// The value of `Ok` of this, or `Some` of it.
    #[doc(hidden)]
    fn present(&self) -> Value {
        self.to_value()
    }

    /// The value of `Err` where this would have been, or `None`.
    #[doc(hidden)]
    fn absent() -> Value
    where
        Self: Sized,
    {
        Value::Null
    }

    /// Whether this type says nothing.
    #[doc(hidden)]
    fn is_nothing() -> bool
    where
        Self: Sized,
    {
        false
    }
}

impl ToValue for () {
    fn to_value(&self) -> Value {
        Value::Null
    }

    fn present(&self) -> Value {
        Value::Bool(true)
    }

    fn absent() -> Value {
        Value::Bool(false)
    }

    fn is_nothing() -> bool {
        true
    }
}

impl ToValue for Value {
    fn to_value(&self) -> Value {
        self.clone()
    }
}

impl ToValue for bool {
    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
}

impl ToValue for char {
    fn to_value(&self) -> Value {
        Value::str(self.encode_utf8(&mut [0; 4]))
    }
}

impl ToValue for str {
    fn to_value(&self) -> Value {
        Value::str(self)
    }
}

impl ToValue for String {
    fn to_value(&self) -> Value {
        Value::str(self)
    }
}

macro_rules! integers {
    ($($int:ty)*) => {
        $(impl ToValue for $int {
            #[inline]
            fn to_value(&self) -> Value {
                Value::from(*self)
            }
        })*
    };
}

integers!(i8 i16 i32 i64 isize i128 u8 u16 u32 u64 usize u128);

impl<T: ToValue> ToValue for Option<T> {
    fn to_value(&self) -> Value {
        self.as_ref().map_or_else(T::absent, T::present)
    }

    fn absent() -> Value {
        Value::str("error")
    }
}

impl<T: ToValue, E> ToValue for Result<T, E> {
    fn to_value(&self) -> Value {
        self.as_ref().map_or_else(|_| T::absent(), T::present)
    }

    fn absent() -> Value {
        Value::str("error")
    }
}

impl<T: ToValue + ?Sized> ToValue for &T {
    fn to_value(&self) -> Value {
        T::to_value(self)
    }
}

impl<T: ToValue + ?Sized> ToValue for Box<T> {
    fn to_value(&self) -> Value {
        T::to_value(self)
    }
}

impl<T: ToValue + ?Sized> ToValue for Arc<T> {
    fn to_value(&self) -> Value {
        T::to_value(self)
    }
}

impl<T: ToValue> ToValue for [T] {
    fn to_value(&self) -> Value {
        Value::list(self.iter().map(T::to_value))
    }
}

impl<T: ToValue, const N: usize> ToValue for [T; N] {
    fn to_value(&self) -> Value {
        self.as_slice().to_value()
    }
}

impl<T: ToValue> ToValue for Vec<T> {
    fn to_value(&self) -> Value {
        self.as_slice().to_value()
    }
}

impl<T: ToValue> ToValue for BTreeSet<T> {
    fn to_value(&self) -> Value {
        Value::list(self.iter().map(T::to_value))
    }
}

impl<K: ToValue, V: ToValue> ToValue for BTreeMap<K, V> {
    fn to_value(&self) -> Value {
        Value::map(self.iter().map(|(key, value)| (key.to_value(), value.to_value())))
    }
}

macro_rules! tuples {
    ($(($($item:ident)*))*) => {
        $(impl<$($item: ToValue),*> ToValue for ($($item,)*) {
            fn to_value(&self) -> Value {
                #[allow(non_snake_case)]
                let ($($item,)*) = self;
                Value::list([$($item.to_value()),*])
            }
        })*
    };
}

tuples!((A B) (A B C) (A B C D));

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: impl ToValue) -> String {
        value.to_value().to_string()
    }

    #[test]
    fn what_is_there_and_what_is_not_are_told_apart() {
        assert_eq!(shown(Some(3_u8)), "3");
        assert_eq!(shown(None::<u8>), "null");
        assert_eq!(shown(Ok::<(), u8>(())), "true");
        assert_eq!(shown(Err::<(), u8>(1)), "false");
        assert_eq!(shown(Err::<u8, u8>(1)), "null");
        assert_eq!(shown(Ok::<Option<u8>, u8>(None)), "null");
        assert_eq!(shown(Err::<Option<u8>, u8>(1)), "\"error\"");
    }

    #[test]
    fn numbers_are_exact() {
        assert_eq!(shown(u64::MAX), u64::MAX.to_string());
        assert_eq!(shown(i128::MIN), i128::MIN.to_string());
        assert_eq!(7_usize.to_value(), Value::Int(7));
    }

    #[test]
    fn what_holds_others_is_a_list() {
        assert_eq!(shown(((), true, "x")), "[null, true, \"x\"]");
        assert_eq!(shown(vec![('a', 1)]), "[[\"a\", 1]]");
        assert_eq!(shown(BTreeMap::from([(1, "one")])), "{1: \"one\"}");
    }
}
