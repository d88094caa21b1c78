//! What operations take: from values of a scenario back to Rust.

use linchpin_record::ToValue;
use linchpin_spec::Value;

/// What an operation can take.
pub trait Argument: ToValue + Clone + Send + Sync + 'static {
    /// The argument that has this value, if one has.
    fn from_value(value: &Value) -> Option<Self>;
}

/// Several arguments, as a tuple.
pub trait Arguments: 'static {
    /// The arguments that have these values.
    fn from_values(values: &[Value]) -> Option<Self>
    where
        Self: Sized;
}

macro_rules! integers {
    ($($int:ty)*) => {
        $(impl Argument for $int {
            #[inline]
            fn from_value(value: &Value) -> Option<$int> {
                match value {
                    Value::Int(int) => <$int>::try_from(*int).ok(),
                    Value::Number(number) => number.to_string().parse().ok(),
                    _ => None,
                }
            }
        })*
    };
}

integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

impl Argument for Value {
    fn from_value(value: &Value) -> Option<Value> {
        Some(value.clone())
    }
}

impl Argument for bool {
    fn from_value(value: &Value) -> Option<bool> {
        value.as_bool()
    }
}

impl Argument for String {
    fn from_value(value: &Value) -> Option<String> {
        match value {
            Value::Str(text) => Some(text.to_string()),
            _ => None,
        }
    }
}

impl Argument for char {
    fn from_value(value: &Value) -> Option<char> {
        String::from_value(value)?.parse().ok()
    }
}

impl<A: Argument> Argument for Option<A> {
    fn from_value(value: &Value) -> Option<Option<A>> {
        if value.is_null() { Some(None) } else { A::from_value(value).map(Some) }
    }
}

impl<A: Argument> Argument for Vec<A> {
    fn from_value(value: &Value) -> Option<Vec<A>> {
        value.as_list()?.iter().map(A::from_value).collect()
    }
}

macro_rules! tuples {
    ($(($($item:ident)*))*) => {
        $(impl<$($item: Argument),*> Arguments for ($($item,)*) {
            #[inline]
            fn from_values(values: &[Value]) -> Option<($($item,)*)> {
                #[allow(non_snake_case)]
                let [$($item),*] = values else { return None };
                Some(($($item::from_value($item)?,)*))
            }
        })*
    };
}

tuples!(() (A) (A B) (A B C) (A B C D));

macro_rules! compound {
    ($(($($item:ident)*))*) => {
        $(impl<$($item: Argument),*> Argument for ($($item,)*) {
            fn from_value(value: &Value) -> Option<($($item,)*)> {
                Arguments::from_values(value.as_list()?)
            }
        })*
    };
}

compound!((A B) (A B C) (A B C D));

#[cfg(test)]
mod tests {
    use super::*;

    fn back<A: Argument + PartialEq + std::fmt::Debug>(argument: A) {
        assert_eq!(A::from_value(&argument.to_value()), Some(argument));
    }

    #[test]
    fn what_goes_in_comes_out() {
        back(u64::MAX);
        back(i128::MIN);
        back((Some('x'), vec![1_u8, 2]));
        back("text".to_owned());
        assert_eq!(u8::from_value(&Value::Int(256)), None);
        assert_eq!(<(u8, u8)>::from_values(&[Value::Int(1)]), None);
    }
}
