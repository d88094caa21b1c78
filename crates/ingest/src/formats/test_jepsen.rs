//! `test.jepsen`, the binary file of a Jepsen run: the history in it as EDN, one operation a line.
//!
//! The file is `JEPSEN`, a version, and where the index of its blocks is; `jepsen.store.format`
//! describes it. A block has a length, a checksum and a type. The root block is the map of the
//! test, whose `:history` is a list, or the number of the block that holds one. Its operations are
//! written again as EDN, so that the one reader of EDN decides what they mean; a line number is the
//! number of an operation, from 1.

use super::fressian::{Data, Fressian, FressianError, Shared};
use crate::error::IngestError;
use flate2::Crc;
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// What such files begin with.
pub(crate) const MAGIC: &[u8] = b"JEPSEN";

/// The length of a block's header: length, checksum, type. `jepsen.store.format` counts 16 bytes
/// for the type, of which it uses two; its own description says 16 bits.
const HEADERS: [usize; 2] = [28, 14];

/// Blocks that refer to each other are followed so far.
const MAX_DEPTH: usize = 16;

/// The history in such a file as EDN, if that takes at most so many bytes.
pub(crate) fn to_edn(bytes: &[u8], most: u64) -> Result<Vec<u8>, IngestError> {
    let file = File::open(bytes)?;
    let history = file.history()?;
    let mut lines = Edn { text: String::new(), operations: 0, most };
    match history {
        Found::Here(list, at) => match &list.data {
            Data::List(operations) => lines.operations(operations, at)?,
            _ => return Err(wrong(at, "a history that is a list", "another value")),
        },
        Found::Block(id) => {
            file.each_chunk(id, 0, &mut lines)?;
        }
    }
    Ok(lines.text.into_bytes())
}

struct File<'a> {
    bytes: &'a [u8],
    root: u32,
    /// Where each block begins.
    blocks: FxHashMap<u32, usize>,
}

/// Where the history is: in the map of the test, or in a block of its own.
enum Found {
    Here(Shared, usize),
    Block(u32),
}

/// A block whose checksum is right.
struct Block<'a> {
    kind: u16,
    /// Where its data begins in the file.
    at: usize,
    data: &'a [u8],
}

impl<'a> File<'a> {
    fn open(bytes: &'a [u8]) -> Result<File<'a>, IngestError> {
        if !bytes.starts_with(MAGIC) {
            return Err(wrong(0, "`JEPSEN`", "something else"));
        }
        let version = number(bytes, 6, 4)?;
        if version > 1 {
            return Err(wrong(6, "version 0 or 1 of the format", &format!("version {version}")));
        }
        let index = number(bytes, 10, 8)?;
        if index == 0 {
            return Err(wrong(10, "where the index is", "nothing: the run was cut short"));
        }
        let mut file = File { bytes, root: 0, blocks: FxHashMap::default() };
        let index = file.block_at(usize::try_from(index).unwrap_or(usize::MAX), 10)?;
        if index.kind != 1 {
            return Err(wrong(index.at, "an index", &format!("a block of type {}", index.kind)));
        }
        file.root = small(index.data, 0, index.at)?;
        let entries = index.data.get(4..).unwrap_or_default().chunks_exact(12);
        if !entries.remainder().is_empty() {
            return Err(wrong(index.at, "an index of whole entries", "a part of one"));
        }
        for entry in entries {
            let offset = usize::try_from(number(entry, 4, 8)?).unwrap_or(usize::MAX);
            file.blocks.insert(small(entry, 0, index.at)?, offset);
        }
        Ok(file)
    }

    fn block(&self, id: u32, from: usize) -> Result<Block<'a>, IngestError> {
        match self.blocks.get(&id) {
            Some(offset) => self.block_at(*offset, from),
            None => Err(wrong(from, &format!("block {id} in the index"), "none")),
        }
    }

    /// The block that begins there, which is said at `from`.
    fn block_at(&self, offset: usize, from: usize) -> Result<Block<'a>, IngestError> {
        let rest = self.bytes.get(offset..).unwrap_or_default();
        if rest.len() < HEADERS[1] {
            return Err(wrong(from, "the place of a block", &format!("{offset}, past the end")));
        }
        let length = usize::try_from(number(rest, 0, 8)?).unwrap_or(usize::MAX);
        let Some(block) = rest.get(..length).filter(|block| block.len() >= HEADERS[1]) else {
            let found = format!("{length}: the file may have been cut short");
            return Err(wrong(offset, "the length of a block", &found));
        };
        let (sum, kind) = (number(block, 8, 4)?, number(block, 12, 2)?);
        for header in HEADERS.into_iter().filter(|header| *header <= block.len()) {
            let (head, data) = block.split_at(header);
            let mut crc = Crc::new();
            crc.update(data);
            crc.update(&head[..8]);
            crc.update(&[0; 4]);
            crc.update(&head[12..]);
            if u64::from(crc.sum()) == sum {
                // INVARIANT: two bytes.
                let kind = u16::try_from(kind).unwrap_or(u16::MAX);
                return Ok(Block { kind, at: offset + header, data });
            }
        }
        Err(wrong(offset, &format!("a block with the checksum {sum:08x}"), "damaged data"))
    }

    /// Where the history is, by the map of the test.
    fn history(&self) -> Result<Found, IngestError> {
        if self.root == 0 {
            return Err(wrong(10, "the test in the index", "none: the run was cut short"));
        }
        let mut id = self.root;
        for _ in 0..MAX_DEPTH {
            let block = self.block(id, 10)?;
            let (rest, skip) = match block.kind {
                2 => (0, 0),
                3 => (small(block.data, 0, block.at)?, 4),
                kind => {
                    let found = format!("a block of type {kind}");
                    return Err(wrong(block.at, "the map of the test", &found));
                }
            };
            let at = block.at + skip;
            let map = one(block.data.get(skip..).unwrap_or_default(), at)?;
            match map.data.field("history") {
                Some(history) => return Ok(found(history, at)),
                None if rest == 0 => return Err(wrong(at, "a `:history` of the test", "none")),
                None => id = rest,
            }
        }
        Err(wrong(10, "the map of the test in fewer parts", "more"))
    }

    /// Writes the operations in a block and in those that it refers to; how many there are.
    fn each_chunk(&self, id: u32, depth: usize, lines: &mut Edn) -> Result<u64, IngestError> {
        let block = self.block(id, 10)?;
        let before = lines.operations;
        match block.kind {
            2 => {
                let list = one(block.data, block.at)?;
                match (&list.data, found(&list, block.at)) {
                    (Data::List(operations), _) => lines.operations(operations, block.at)?,
                    (Data::Null, _) => {}
                    (_, Found::Block(id)) if depth < MAX_DEPTH => {
                        self.each_chunk(id, depth + 1, lines)?;
                    }
                    _ => return Err(wrong(block.at, "a list of operations", "another value")),
                }
            }
            4 => {
                let mut values = Fressian::new(block.data);
                while !values.is_at_end() {
                    let operation = values.value().map_err(|error| decoding(&error, block.at))?;
                    lines.operation(&operation, block.at)?;
                }
            }
            5 if depth < MAX_DEPTH => {
                let count = number(block.data, 0, 8)?;
                for chunk in block.data.get(8..).unwrap_or_default().chunks_exact(12) {
                    let (first, id) = (number(chunk, 0, 8)?, small(chunk, 8, block.at)?);
                    if first != lines.operations - before {
                        let expected = format!("operation {} next", lines.operations - before);
                        return Err(wrong(block.at, &expected, &format!("operation {first}")));
                    }
                    self.each_chunk(id, depth + 1, lines)?;
                }
                if lines.operations - before != count {
                    let found = format!("{}", lines.operations - before);
                    return Err(wrong(block.at, &format!("{count} operations"), &found));
                }
            }
            kind => {
                let found = format!("a block of type {kind}");
                return Err(wrong(block.at, "a block of operations", &found));
            }
        }
        Ok(lines.operations - before)
    }
}

/// A value, or the block that holds it.
fn found(value: &Shared, at: usize) -> Found {
    if let Data::Tagged(tag, fields) = &value.data
        && &**tag == "block-ref"
        && let [id] = fields.as_slice()
        && let Some(id) = id.data.as_int().and_then(|id| u32::try_from(id).ok())
    {
        return Found::Block(id);
    }
    Found::Here(value.clone(), at)
}

fn one(bytes: &[u8], at: usize) -> Result<Shared, IngestError> {
    Fressian::new(bytes).value().map_err(|error| decoding(&error, at))
}

fn decoding(error: &FressianError, at: usize) -> IngestError {
    wrong(at + error.at, error.expected, "something else")
}

/// The number in these bytes, the most significant first; one with a sign is refused later, being
/// too large.
fn number(bytes: &[u8], at: usize, length: usize) -> Result<u64, IngestError> {
    match bytes.get(at..at + length) {
        Some(bytes) => Ok(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))),
        None => Err(wrong(at, "more bytes", "the end")),
    }
}

/// Such a number of four bytes.
fn small(bytes: &[u8], at: usize, from: usize) -> Result<u32, IngestError> {
    let number = number(bytes, at, 4).map_err(|_| wrong(from, "more bytes", "the end"))?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

fn wrong(at: usize, expected: &str, found: &str) -> IngestError {
    let (expected, found) = (expected.to_owned(), found.to_owned());
    IngestError::Binary { at, expected, found }
}

/// Operations as EDN, one a line.
struct Edn {
    text: String,
    operations: u64,
    most: u64,
}

/// The fields of an operation that are kept, in the order in which the operations of newer files
/// have them.
const FIELDS: [&str; 6] = ["index", "time", "type", "process", "f", "value"];

impl Edn {
    fn operations(&mut self, operations: &[Shared], at: usize) -> Result<(), IngestError> {
        operations.iter().try_for_each(|operation| self.operation(operation, at))
    }

    fn operation(&mut self, operation: &Shared, at: usize) -> Result<(), IngestError> {
        self.operations += 1;
        self.text.push('{');
        match &operation.data {
            Data::Tagged(tag, fields) if &**tag == "jepsen.history.Op" && fields.len() == 7 => {
                for (name, value) in FIELDS.into_iter().zip(fields) {
                    self.field(name, value)?;
                }
                self.key(&fields[6].data)?;
            }
            map @ Data::Map(_) => {
                for name in FIELDS {
                    if let Some(value) = map.field(name) {
                        self.field(name, value)?;
                    }
                }
                self.key(map)?;
            }
            _ => {
                let expected = format!("operation {} of the history", self.operations);
                return Err(wrong(at, &expected, "another value"));
            }
        }
        self.text.push_str("}\n");
        Ok(())
    }

    fn key(&mut self, map: &Data) -> Result<(), IngestError> {
        map.field("key").map_or(Ok(()), |key| self.field("key", key))
    }

    fn field(&mut self, name: &str, value: &Shared) -> Result<(), IngestError> {
        self.text.push(':');
        self.text.push_str(name);
        self.text.push(' ');
        self.value(value)?;
        self.text.push_str(", ");
        Ok(())
    }

    fn value(&mut self, value: &Shared) -> Result<(), IngestError> {
        // A value may repeat an earlier one any number of times.
        if self.text.len() as u64 > self.most {
            return Err(IngestError::TooLarge { most: self.most });
        }
        match &value.data {
            Data::Null => self.text.push_str("nil"),
            Data::Bool(b) => self.show(*b),
            Data::Int(int) => self.show(int),
            Data::Float(float) if float.is_nan() => self.text.push_str("##NaN"),
            Data::Float(float) if float.is_infinite() => {
                self.text.push_str(if *float > 0.0 { "##Inf" } else { "##-Inf" });
            }
            Data::Float(float) => self.show(format_args!("{float:?}")),
            Data::Big(bytes) => self.text.push_str(&decimal(bytes)),
            Data::Text(text) => self.string(text),
            Data::Keyword(name) if is_plain(name) => self.show(format_args!(":{name}")),
            Data::Symbol(name) if is_plain(name) => self.show(format_args!("{name}")),
            Data::Keyword(name) | Data::Symbol(name) => self.string(name),
            Data::Bytes(bytes) => {
                let digits = |text: String, byte: &u8| text + &format!("{byte:02x}");
                self.string(&bytes.iter().fold(String::new(), digits));
            }
            Data::List(items) | Data::Tagged(_, items) => self.items("[", items, "]")?,
            Data::Set(items) => self.items("#{", items, "}")?,
            Data::Map(items) => self.items("{", items, "}")?,
        }
        Ok(())
    }

    fn items(&mut self, open: &str, items: &[Shared], close: &str) -> Result<(), IngestError> {
        self.text.push_str(open);
        for item in items {
            self.value(item)?;
            self.text.push(' ');
        }
        self.text.push_str(close);
        Ok(())
    }

    fn show(&mut self, value: impl std::fmt::Display) {
        // Writing to a string does not fail.
        let _ = write!(self.text, "{value}");
    }

    fn string(&mut self, text: &str) {
        self.text.push('"');
        for c in text.chars() {
            match c {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                c => self.text.push(c),
            }
        }
        self.text.push('"');
    }
}

/// Whether a name can be written without quotes.
fn is_plain(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_*+!?<>=/.&$%".contains(&byte);
    let first = name.bytes().next();
    first.is_some_and(|byte| byte.is_ascii_alphabetic()) && name.bytes().all(is_letter)
}

/// Integers of more bytes are not written in decimal.
const MAX_BIG: usize = 512;

/// An integer of any size in decimal, with the `N` that EDN has for such ones.
fn decimal(bytes: &[u8]) -> String {
    if bytes.len() > MAX_BIG {
        return format!("\"an integer of {} bytes\"", bytes.len());
    }
    let is_negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let mut digits = vec![0_u8];
    for byte in bytes {
        // Of a negative number the complement, which is one less than its size.
        let mut carry = u32::from(if is_negative { !byte } else { *byte });
        for digit in &mut digits {
            let value = u32::from(*digit) * 256 + carry;
            (*digit, carry) = ((value % 10) as u8, value / 10);
        }
        while carry > 0 {
            digits.push((carry % 10) as u8);
            carry /= 10;
        }
    }
    if is_negative {
        let nines = digits.iter().take_while(|digit| **digit == 9).count();
        digits[..nines].fill(0);
        match digits.get_mut(nines) {
            Some(digit) => *digit += 1,
            None => digits.push(1),
        }
    }
    let mut text: String = digits.iter().rev().map(|digit| char::from(b'0' + digit)).collect();
    if is_negative {
        text.insert(0, '-');
    }
    text.push('N');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_any_size_are_written_in_decimal() {
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..20_000 {
            let number =
                (i128::from(rng.i64(..)) << 64 | i128::from(rng.u64(..))) >> rng.u32(..127);
            assert_eq!(decimal(&number.to_be_bytes()), format!("{number}N"));
        }
        assert_eq!(decimal(&[]), "0N");
        assert_eq!(decimal(&[0xff]), "-1N");
        assert_eq!(decimal(&[0x80]), "-128N");
    }
}
