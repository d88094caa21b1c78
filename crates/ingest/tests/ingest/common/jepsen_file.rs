//! Writes `test.jepsen` files from their description, for the tests only: nothing is shared with
//! the reader. What the writer may choose (caches, chunks, sizes of integers) is chosen at random.

use super::Seen;
use linchpin_spec::Value;

/// A Fressian writer.
struct Writer<'a> {
    bytes: Vec<u8>,
    cache: Vec<Value>,
    types: Vec<(&'static str, u8)>,
    rng: &'a mut fastrand::Rng,
}

impl Writer<'_> {
    fn new(rng: &mut fastrand::Rng) -> Writer<'_> {
        Writer { bytes: Vec::new(), cache: Vec::new(), types: Vec::new(), rng }
    }

    /// An integer in its shortest form, or sometimes in its longest.
    fn int(&mut self, int: i64) {
        let forms = [(0x50_i64, 1, 12), (0x68, 2, 19), (0x72, 3, 25)].into_iter().chain([
            (0x76, 4, 33),
            (0x7a, 5, 41),
            (0x7e, 6, 49),
        ]);
        if (-1..64).contains(&int) {
            return self.bytes.push(int as u8);
        }
        let long = self.rng.u8(..8) == 0;
        for (zero, more, bits) in forms {
            let limit = 1_i64 << bits;
            if !long && (-limit..limit).contains(&int) {
                self.bytes.push((zero + (int >> (8 * more))) as u8);
                let all = int.to_be_bytes();
                return self.bytes.extend_from_slice(&all[8 - more..]);
            }
        }
        self.bytes.push(0xf8);
        self.bytes.extend_from_slice(&int.to_be_bytes());
    }

    /// A text, as Java has it.
    fn text(&mut self, text: &str) {
        let mut units = Vec::new();
        for unit in text.encode_utf16() {
            match unit {
                0..=0x7f => units.push(vec![unit as u8]),
                0x80..=0x7ff => {
                    units.push(vec![0xc0 | (unit >> 6) as u8, 0x80 | (unit & 0x3f) as u8]);
                }
                _ => units.push(vec![
                    0xe0 | (unit >> 12) as u8,
                    0x80 | (unit >> 6 & 0x3f) as u8,
                    0x80 | (unit & 0x3f) as u8,
                ]),
            }
        }
        let mut rest = units.as_slice();
        if rest.len() > 1 && self.rng.u8(..6) == 0 {
            let (chunk, after) = rest.split_at(self.rng.usize(1..rest.len()));
            let chunk = chunk.concat();
            self.bytes.push(0xe2);
            self.int(chunk.len() as i64);
            self.bytes.extend(chunk);
            rest = after;
        }
        let last = rest.concat();
        match last.len() {
            length @ ..8 => self.bytes.push(0xda + length as u8),
            length => {
                self.bytes.push(0xe3);
                self.int(length as i64);
            }
        }
        self.bytes.extend(last);
    }

    /// A text that is written once, and then by its place in the cache.
    fn cached(&mut self, value: &Value, write: impl FnOnce(&mut Self)) {
        if let Some(index) = self.cache.iter().position(|known| known == value) {
            match index {
                ..32 if self.rng.bool() => self.bytes.push(0x80 + index as u8),
                index => {
                    self.bytes.push(0xcc);
                    self.int(index as i64);
                }
            }
            return;
        }
        if self.rng.u8(..4) == 0 {
            return write(self);
        }
        self.bytes.push(0xcd);
        self.cache.push(value.clone());
        write(self);
    }

    fn keyword(&mut self, name: &str) {
        let key = Value::list(["key".into(), name.into()]);
        self.cached(&key, |writer| {
            writer.bytes.extend([0xca, 0xf7]);
            writer.cached(&name.into(), |writer| writer.text(name));
        });
    }

    fn list(&mut self, items: &[Value]) {
        self.open_list(items.len());
        items.iter().for_each(|item| self.value(item));
        self.close_list(items.len());
    }

    fn open_list(&mut self, count: usize) {
        match count {
            // Decided by the count, so that both ends agree.
            count if count % 5 == 4 => self.bytes.push(0xed),
            count @ ..8 => self.bytes.push(0xe4 + count as u8),
            count => {
                self.bytes.push(0xec);
                self.int(count as i64);
            }
        }
    }

    fn close_list(&mut self, count: usize) {
        if count % 5 == 4 {
            self.bytes.push(0xfd);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.bytes.push(0xf7),
            Value::Bool(true) => self.bytes.push(0xf5),
            Value::Bool(false) => self.bytes.push(0xf6),
            Value::Int(int) => self.int(*int),
            Value::Number(number) => self.number(number.as_str()),
            Value::Str(text) => self.text(text),
            Value::List(items) => self.list(items),
            Value::Map(pairs) => {
                self.bytes.push(0xc0);
                self.open_list(pairs.len() * 2);
                for (key, value) in pairs.iter() {
                    match key {
                        Value::Str(name) => self.keyword(name),
                        key => self.value(key),
                    }
                    self.value(value);
                }
                self.close_list(pairs.len() * 2);
            }
            Value::Set(_) | Value::Ref(_) => unreachable!("histories have none"),
        }
    }

    /// A fraction, or an integer of more than 64 bits.
    fn number(&mut self, text: &str) {
        match text.parse::<i128>() {
            Ok(int) => {
                self.bytes.extend([0xc6, 0xd9]);
                self.int(16);
                self.bytes.extend(int.to_be_bytes());
            }
            Err(_) => {
                self.bytes.push(0xfa);
                let float: f64 = text.parse().expect("a number");
                self.bytes.extend(float.to_be_bytes());
            }
        }
    }

    /// The beginning of a value with a tag of its own.
    fn tag(&mut self, tag: &'static str, fields: u8) {
        match self.types.iter().position(|known| *known == (tag, fields)) {
            Some(index) if index < 16 && self.rng.bool() => self.bytes.push(0xa0 + index as u8),
            Some(index) => {
                self.bytes.push(0xf0);
                self.int(index as i64);
            }
            None => {
                self.bytes.push(0xef);
                self.text(tag);
                self.int(i64::from(fields));
                self.types.push((tag, fields));
            }
        }
    }

    /// An operation as newer versions write it, or as a map.
    fn operation(&mut self, index: usize, seen: &Seen, as_map: bool) {
        let fields = ["index", "time", "type", "process", "f", "value"];
        if as_map {
            self.bytes.push(0xc0);
            self.open_list(12);
        } else {
            self.tag("jepsen.history.Op", 7);
        }
        for name in fields {
            if as_map {
                self.keyword(name);
            }
            match name {
                "index" => self.int(index as i64),
                "time" => self.int(index as i64 * 1_000_003),
                "type" => self.keyword(seen.kind),
                "process" => self.int(seen.process as i64),
                "f" => self.keyword(seen.f),
                _ => self.value(&seen.value),
            }
        }
        match as_map {
            true => self.close_list(12),
            false => self.bytes.push(0xf7),
        }
    }
}

/// The checksum of Ethernet, gzip and Jepsen, bit by bit.
fn crc(parts: &[&[u8]]) -> u32 {
    let mut crc = u32::MAX;
    for byte in parts.concat() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

fn block(header: usize, kind: u16, data: &[u8]) -> Vec<u8> {
    let mut head = vec![0; header];
    head[..8].copy_from_slice(&((header + data.len()) as u64).to_be_bytes());
    head[12..14].copy_from_slice(&kind.to_be_bytes());
    let sum = crc(&[data, &head]);
    head[8..12].copy_from_slice(&sum.to_be_bytes());
    [&head, data].concat()
}

/// Such a file with these events.
pub fn test_jepsen(events: &[Seen], rng: &mut fastrand::Rng) -> Vec<u8> {
    let header = if rng.u8(..4) == 0 { 14 } else { 28 };
    let as_maps = rng.bool();
    let mut file = [&b"JEPSEN"[..], &1_u32.to_be_bytes(), &[0; 8]].concat();
    let mut offsets: Vec<(u32, u64)> = Vec::new();
    let mut write =
        |file: &mut Vec<u8>, id: u32, kind: u16, data: &[u8], rng: &mut fastrand::Rng| {
            // Blocks may have room between them.
            file.extend(std::iter::repeat_n(0xaa, rng.usize(..9)));
            offsets.push((id, file.len() as u64));
            file.extend(block(header, kind, data));
        };
    let chunk = 1 + rng.usize(..20);
    let mut vector = (events.len() as u64).to_be_bytes().to_vec();
    for (number, chunk_of) in events.chunks(chunk).enumerate() {
        let mut writer = Writer::new(rng);
        let in_list = number % 3 == 2;
        if in_list {
            writer.open_list(chunk_of.len());
        }
        for (at, seen) in chunk_of.iter().enumerate() {
            writer.operation(number * chunk + at, seen, as_maps);
        }
        if in_list {
            writer.close_list(chunk_of.len());
        }
        let bytes = writer.bytes;
        let id = 10 + number as u32;
        write(&mut file, id, if in_list { 2 } else { 4 }, &bytes, rng);
        vector.extend(((number * chunk) as u64).to_be_bytes());
        vector.extend(id.to_be_bytes());
    }
    write(&mut file, 1, 5, &vector, rng);
    let mut writer = Writer::new(rng);
    writer.bytes.push(0xc0);
    writer.open_list(4);
    writer.keyword("name");
    writer.text("a test");
    writer.keyword("history");
    writer.tag("block-ref", 1);
    writer.int(1);
    writer.close_list(4);
    let map = [&[0; 4], &writer.bytes[..]].concat();
    write(&mut file, 2, 3, &map, rng);
    let mut index = 2_u32.to_be_bytes().to_vec();
    for (id, offset) in &offsets {
        index.extend(id.to_be_bytes());
        index.extend(offset.to_be_bytes());
    }
    let at = file.len() as u64;
    file.extend(block(header, 1, &index));
    file[10..18].copy_from_slice(&at.to_be_bytes());
    file
}
