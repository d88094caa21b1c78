//! Fressian, the binary notation in which Jepsen stores its tests: bytes to values.
//!
//! The codes are those of `org.fressian.impl.Codes`; the tags are those of Clojure's
//! `data.fressian` and of `jepsen.store.fressian`. Every value takes at least a byte of the input,
//! and nothing is reserved for what the input only announces.

use std::sync::Arc;

/// Values nested deeper are refused, counting what they repeat from before.
const MAX_DEPTH: u16 = 96;

/// What is wrong, and at which byte.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FressianError {
    pub at: usize,
    pub expected: &'static str,
}

/// A value, which what comes after it may repeat.
pub(super) type Shared = Arc<Node>;

/// A value and how deep it is: INVARIANT: at most [`MAX_DEPTH`], so that walking it is safe.
#[derive(Debug, PartialEq)]
pub(super) struct Node {
    depth: u16,
    pub data: Data,
}

#[derive(Debug, PartialEq)]
pub(super) enum Data {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// An integer of any size, as its big-endian two's complement.
    Big(Vec<u8>),
    Text(String),
    /// A keyword, with its namespace if it has one.
    Keyword(String),
    Symbol(String),
    Bytes(Vec<u8>),
    List(Vec<Shared>),
    Set(Vec<Shared>),
    /// Keys and values in turn.
    Map(Vec<Shared>),
    /// A value of a type of its own.
    Tagged(Arc<str>, Vec<Shared>),
}

impl Data {
    /// The value of a keyword in a map.
    pub fn field(&self, name: &str) -> Option<&Shared> {
        let Data::Map(items) = self else { return None };
        let is_named = |key: &Shared| matches!(&key.data, Data::Keyword(key) if key == name);
        items.chunks_exact(2).find(|pair| is_named(&pair[0])).map(|pair| &pair[1])
    }

    pub fn as_int(&self) -> Option<i64> {
        match self {
            Data::Int(int) => Some(*int),
            _ => None,
        }
    }
}

/// Reads values from bytes, one after the other.
#[derive(Debug)]
pub(super) struct Fressian<'a> {
    bytes: &'a [u8],
    pub at: usize,
    /// Values that may be repeated. One that is still being read cannot be.
    cache: Vec<Option<Shared>>,
    /// Types that may be repeated: the tag and how many fields there are.
    types: Vec<(Arc<str>, usize)>,
}

impl<'a> Fressian<'a> {
    pub fn new(bytes: &'a [u8]) -> Fressian<'a> {
        Fressian { bytes, at: 0, cache: Vec::new(), types: Vec::new() }
    }

    pub fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The next value.
    pub fn value(&mut self) -> Result<Shared, FressianError> {
        self.nested(0)
    }

    fn error<T>(&self, expected: &'static str) -> Result<T, FressianError> {
        Err(FressianError { at: self.at, expected })
    }

    fn byte(&mut self) -> Result<u8, FressianError> {
        match self.bytes.get(self.at) {
            Some(byte) => {
                self.at += 1;
                Ok(*byte)
            }
            None => self.error("more bytes"),
        }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], FressianError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        match rest.get(..count) {
            Some(taken) => {
                self.at += count;
                Ok(taken)
            }
            None => self.error("more bytes"),
        }
    }

    /// A number without a sign, the most significant of so many bytes (at most 8) first.
    fn raw(&mut self, count: usize) -> Result<u64, FressianError> {
        let bytes = self.take(count)?;
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn node(&self, data: Data) -> Result<Shared, FressianError> {
        let depth = match &data {
            Data::List(items) | Data::Set(items) | Data::Map(items) | Data::Tagged(_, items) => {
                1 + items.iter().map(|item| item.depth).max().unwrap_or(0)
            }
            _ => 0,
        };
        match depth <= MAX_DEPTH {
            true => Ok(Arc::new(Node { depth, data })),
            false => self.error("a value that is nested less deep"),
        }
    }

    fn nested(&mut self, depth: u16) -> Result<Shared, FressianError> {
        if depth > MAX_DEPTH {
            return self.error("a value that is nested less deep");
        }
        let start = self.at;
        let code = self.byte()?;
        if let Some(int) = self.packed_int(code)? {
            return self.node(Data::Int(int));
        }
        match code {
            0x80..=0x9f => self.cached(usize::from(code - 0x80)),
            0xcc => {
                let index = self.count(depth)?;
                self.cached(index)
            }
            0xcd => {
                let index = self.cache.len();
                self.cache.push(None);
                let value = self.nested(depth + 1)?;
                // The caches may have been emptied meanwhile.
                if let Some(slot) = self.cache.get_mut(index) {
                    *slot = Some(value.clone());
                }
                Ok(value)
            }
            0xa0..=0xaf => self.known_type(usize::from(code - 0xa0), depth),
            0xf0 => {
                let index = self.count(depth)?;
                self.known_type(index, depth)
            }
            0xef => {
                let tag = self.nested(depth + 1)?;
                let Data::Text(tag) = &tag.data else { return self.error("the name of a type") };
                let (tag, fields): (Arc<str>, _) = (tag.as_str().into(), self.count(depth)?);
                self.types.push((tag.clone(), fields));
                self.tagged(&tag, fields, depth)
            }
            0xfe => {
                self.forget();
                self.nested(depth + 1)
            }
            0xcf => {
                // A footer: the rest of its magic, a length and a checksum.
                self.take(11)?;
                self.forget();
                self.nested(depth + 1)
            }
            0xb0..=0xb5 => {
                let count = self.count(depth)?;
                let items = self.items(count, depth)?;
                self.node(Data::List(items))
            }
            0xc0..=0xca => self.standard(code, depth),
            _ => {
                let data = self.plain(code, depth, start)?;
                self.node(data)
            }
        }
    }

    /// A value that is made of no others, or a list.
    fn plain(&mut self, code: u8, depth: u16, start: usize) -> Result<Data, FressianError> {
        Ok(match code {
            0xf5 => Data::Bool(true),
            0xf6 => Data::Bool(false),
            0xf7 => Data::Null,
            // INVARIANT: the bits of a number with a sign.
            0xf8 => Data::Int(i64::from_be_bytes(self.raw(8)?.to_be_bytes())),
            0xf9 => {
                let bits = u32::try_from(self.raw(4)?).unwrap_or(u32::MAX);
                Data::Float(f64::from(f32::from_bits(bits)))
            }
            0xfa => Data::Float(f64::from_bits(self.raw(8)?)),
            0xfb => Data::Float(0.0),
            0xfc => Data::Float(1.0),
            0xd0..=0xd9 => Data::Bytes(self.byte_chunks(code, depth)?),
            0xda..=0xe3 => Data::Text(self.text_chunks(code, depth)?),
            0xe4..=0xeb => Data::List(self.items(usize::from(code - 0xe4), depth)?),
            0xec => {
                let count = self.count(depth)?;
                Data::List(self.items(count, depth)?)
            }
            0xed => Data::List(self.until_end(depth, false)?),
            0xee => Data::List(self.until_end(depth, true)?),
            _ => return Err(FressianError { at: start, expected: "a value of Fressian" }),
        })
    }

    /// An integer whose code is part of it.
    fn packed_int(&mut self, code: u8) -> Result<Option<i64>, FressianError> {
        let (zero, more) = match code {
            0xff => return Ok(Some(-1)),
            0x00..=0x3f => return Ok(Some(i64::from(code))),
            0x40..=0x5f => (0x50, 1),
            0x60..=0x6f => (0x68, 2),
            0x70..=0x73 => (0x72, 3),
            0x74..=0x77 => (0x76, 4),
            0x78..=0x7b => (0x7a, 5),
            0x7c..=0x7f => (0x7e, 6),
            _ => return Ok(None),
        };
        let high = (i64::from(code) - zero) << (8 * more);
        // INVARIANT: at most 6 bytes fit 63 bits.
        let low = i64::try_from(self.raw(more)?).unwrap_or(i64::MAX);
        Ok(Some(high | low))
    }

    fn count(&mut self, depth: u16) -> Result<usize, FressianError> {
        let count = self.nested(depth + 1)?;
        match count.data.as_int().and_then(|count| usize::try_from(count).ok()) {
            Some(count) => Ok(count),
            None => self.error("a count"),
        }
    }

    fn cached(&self, index: usize) -> Result<Shared, FressianError> {
        match self.cache.get(index) {
            Some(Some(value)) => Ok(value.clone()),
            _ => self.error("a value that was there before"),
        }
    }

    fn known_type(&mut self, index: usize, depth: u16) -> Result<Shared, FressianError> {
        match self.types.get(index).cloned() {
            Some((tag, fields)) => self.tagged(&tag, fields, depth),
            None => self.error("a type that was there before"),
        }
    }

    fn forget(&mut self) {
        self.cache.clear();
        self.types.clear();
    }

    fn items(&mut self, count: usize, depth: u16) -> Result<Vec<Shared>, FressianError> {
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(self.nested(depth + 1)?);
        }
        Ok(items)
    }

    /// The values up to the end of a list, which may be the end of everything if it is open.
    fn until_end(&mut self, depth: u16, is_open: bool) -> Result<Vec<Shared>, FressianError> {
        let mut items = Vec::new();
        loop {
            match self.bytes.get(self.at) {
                Some(0xfd) => {
                    self.at += 1;
                    return Ok(items);
                }
                None if is_open => return Ok(items),
                _ => items.push(self.nested(depth + 1)?),
            }
        }
    }

    fn byte_chunks(&mut self, code: u8, depth: u16) -> Result<Vec<u8>, FressianError> {
        let mut bytes = Vec::new();
        let mut code = code;
        loop {
            let (length, is_last) = match code {
                0xd0..=0xd7 => (usize::from(code - 0xd0), true),
                0xd8 => (self.count(depth)?, false),
                0xd9 => (self.count(depth)?, true),
                _ => return self.error("more of the bytes"),
            };
            bytes.extend_from_slice(self.take(length)?);
            if is_last {
                return Ok(bytes);
            }
            code = self.byte()?;
        }
    }

    fn text_chunks(&mut self, code: u8, depth: u16) -> Result<String, FressianError> {
        let mut bytes = Vec::new();
        let mut code = code;
        loop {
            let (length, is_last) = match code {
                0xda..=0xe1 => (usize::from(code - 0xda), true),
                0xe2 => (self.count(depth)?, false),
                0xe3 => (self.count(depth)?, true),
                _ => return self.error("more of the text"),
            };
            bytes.extend_from_slice(self.take(length)?);
            if is_last {
                break;
            }
            code = self.byte()?;
        }
        match text(bytes) {
            Some(text) => Ok(text),
            None => self.error("a text"),
        }
    }

    /// A value of a type that has a code of its own.
    fn standard(&mut self, code: u8, depth: u16) -> Result<Shared, FressianError> {
        match code {
            0xc0 => self.tagged("map", 1, depth),
            0xc1 => self.tagged("set", 1, depth),
            0xc3 => self.tagged("uuid", 1, depth),
            0xc4 => self.tagged("regex", 1, depth),
            0xc5 => self.tagged("uri", 1, depth),
            0xc6 => self.tagged("bigint", 1, depth),
            0xc7 => self.tagged("bigdec", 2, depth),
            0xc8 => self.tagged("inst", 1, depth),
            0xc9 => self.tagged("sym", 2, depth),
            0xca => self.tagged("key", 2, depth),
            _ => self.error("a value of Fressian"),
        }
    }

    /// A value with a tag: what is known of what tags mean.
    fn tagged(&mut self, tag: &str, fields: usize, depth: u16) -> Result<Shared, FressianError> {
        let fields = self.items(fields, depth)?;
        let items = |of: &Shared| match &of.data {
            Data::List(items) | Data::Set(items) => Some(items.clone()),
            Data::Null => Some(Vec::new()),
            _ => None,
        };
        let data = match (tag, fields.as_slice()) {
            ("map", [list]) => match items(list).filter(|items| items.len() % 2 == 0) {
                Some(items) => Data::Map(items),
                None => return self.error("a map"),
            },
            ("set" | "persistent-hash-set" | "persistent-sorted-set", [list]) => {
                match items(list) {
                    Some(items) => Data::Set(items),
                    None => return self.error("a set"),
                }
            }
            ("key" | "sym", [space, name]) => {
                let Some(name) = named(space, name) else { return self.error("a name") };
                if tag == "key" { Data::Keyword(name) } else { Data::Symbol(name) }
            }
            ("bigint", [bytes]) => match &bytes.data {
                Data::Bytes(bytes) => Data::Big(bytes.clone()),
                _ => return self.error("the bytes of an integer"),
            },
            ("map-entry", [_, _]) => Data::List(fields),
            // A record is the map of its fields; these wrap one value.
            ("record", [_, inner]) => return Ok(inner.clone()),
            (
                "vec" | "atom" | "byte" | "multiset" | "throwable" | "date-time" | "instant",
                [inner],
            )
            | ("inst" | "uri" | "regex", [inner]) => return Ok(inner.clone()),
            _ => Data::Tagged(tag.into(), fields),
        };
        self.node(data)
    }
}

/// `space/name`, or only the name.
fn named(space: &Shared, name: &Shared) -> Option<String> {
    match (&space.data, &name.data) {
        (Data::Null, Data::Text(name)) => Some(name.clone()),
        (Data::Text(space), Data::Text(name)) => Some(format!("{space}/{name}")),
        _ => None,
    }
}

/// Texts are written as Java has them: a character beyond the first 65536 is two of three bytes.
fn text(bytes: Vec<u8>) -> Option<String> {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Some(text),
        Err(error) => error.into_bytes(),
    };
    let mut units = Vec::new();
    let mut rest = bytes.as_slice();
    while let Some((&first, after)) = rest.split_first() {
        let more = match first {
            0x00..=0x7f => 0,
            0xc0..=0xdf => 1,
            0xe0..=0xef => 2,
            _ => return None,
        };
        let (tail, next) = after.split_at_checked(more)?;
        let head = match more {
            0 => u16::from(first),
            1 => u16::from(first & 0x1f),
            _ => u16::from(first & 0x0f),
        };
        units.push(tail.iter().fold(head, |unit, byte| unit << 6 | u16::from(byte & 0x3f)));
        rest = next;
    }
    String::from_utf16(&units).ok()
}
