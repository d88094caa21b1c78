//! Values as bytes, and back. The same value is the same bytes in every process.

use crate::components::ByteTable;
use crate::store::hash;
use linchpin_spec::{Number, Numeral, Value};
use std::sync::Arc;

/// Values, each kept once, in few bytes, and numbered.
#[derive(Default)]
pub(crate) struct ByteValues {
    table: ByteTable,
    /// What is being written.
    written: Vec<u8>,
}

impl ByteValues {
    /// The number of a value.
    pub fn number(&mut self, value: &Value) -> u32 {
        self.written.clear();
        write_value(value, &mut self.written);
        self.table.number(&self.written, hash(&self.written))
    }

    /// The value with a number.
    pub fn get(&self, number: u32) -> Value {
        // INVARIANT: what was written can be read.
        Source(self.table.get(number)).value(0).unwrap_or(Value::Null)
    }

    /// How many bytes are kept.
    pub fn bytes(&self) -> usize {
        self.table.bytes()
    }
}

/// Integers from 0 to this one, exclusively, take one byte.
const SMALL: i64 = 240;

/// The byte of the first of them.
const INTS: u8 = 16;

/// Writes a number in as few bytes as it needs, seven bits each.
pub(crate) fn write_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(crate) fn write_value(value: &Value, out: &mut Vec<u8>) {
    let text = |text: &str, out: &mut Vec<u8>| {
        write_number(text.len() as u64, out);
        out.extend_from_slice(text.as_bytes());
    };
    match value {
        Value::Null => out.push(0),
        Value::Bool(false) => out.push(1),
        Value::Bool(true) => out.push(2),
        Value::Int(i @ 0..SMALL) => out.push(INTS + *i as u8),
        Value::Int(i) => {
            out.push(3);
            write_number(((i << 1) ^ (i >> 63)).cast_unsigned(), out);
        }
        Value::Number(number) => {
            out.push(4);
            text(&number.to_string(), out);
        }
        Value::Str(string) => {
            out.push(5);
            text(string, out);
        }
        Value::List(items) => {
            out.push(6);
            write_number(items.len() as u64, out);
            items.iter().for_each(|item| write_value(item, out));
        }
        Value::Set(items) => {
            out.push(7);
            write_number(items.len() as u64, out);
            items.iter().for_each(|item| write_value(item, out));
        }
        Value::Map(items) => {
            out.push(8);
            write_number(items.len() as u64, out);
            for (key, item) in items.iter() {
                write_value(key, out);
                write_value(item, out);
            }
        }
        Value::Ref(object) => {
            out.push(9);
            write_number(u64::from(*object), out);
        }
    }
}

/// No value of a model is nested deeper.
const DEEPEST: usize = 200;

/// Bytes, read from the front.
pub(crate) struct Source<'a>(pub &'a [u8]);

impl<'a> Source<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(first)
    }

    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// How many follow: each takes at least a byte.
    pub fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.0.len()).then_some(count)
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.count()?;
        std::str::from_utf8(self.bytes(length)?).ok()
    }

    pub fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        Some(match self.byte()? {
            0 => Value::Null,
            1 => Value::Bool(false),
            2 => Value::Bool(true),
            3 => {
                let number = self.number()?;
                Value::Int((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
            }
            4 => match Number::read(self.text()?)? {
                Numeral::Number(number) => Value::Number(number),
                Numeral::Int(_) => return None,
            },
            5 => Value::Str(self.text()?.into()),
            6 => Value::list(self.values(depth)?),
            7 => Value::Set(Arc::new(self.values(depth)?.into_iter().collect())),
            8 => {
                let pair =
                    |source: &mut Self| Some((source.value(depth + 1)?, source.value(depth + 1)?));
                let count = self.count()?;
                Value::Map(Arc::new((0..count).map(|_| pair(self)).collect::<Option<_>>()?))
            }
            9 => Value::Ref(u32::try_from(self.number()?).ok()?),
            small @ INTS.. => Value::Int(i64::from(small - INTS)),
            _ => return None,
        })
    }

    fn values(&mut self, depth: usize) -> Option<Vec<Value>> {
        (0..self.count()?).map(|_| self.value(depth + 1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_was_put_in() {
        let mut values = ByteValues::default();
        let ints = [0, 1, SMALL - 1, SMALL, -1, i64::MAX, i64::MIN].map(Value::Int);
        let mut all = vec![Value::Null, Value::Bool(false), Value::Bool(true), Value::Ref(7)];
        all.extend(ints.iter().cloned());
        all.push(Value::Str("text".into()));
        all.push(Value::list(all.clone()));
        all.push(Value::Set(Arc::new(ints.into_iter().collect())));
        let numbers: Vec<u32> = all.iter().map(|value| values.number(value)).collect();
        for (value, number) in all.iter().zip(numbers) {
            assert_eq!(values.get(number), *value);
            assert_eq!(values.number(value), number);
        }
    }
}
