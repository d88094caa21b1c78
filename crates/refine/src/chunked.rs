//! Rows that grow in pieces: what is in them is never moved, and nothing is left over where it was.
//! Each piece is as large as all before it together, so there are few of them and the way to an
//! item is short; what is not filled yet of a large one is memory that was never touched.

/// The size of the first piece is two to the power of this.
const FIRST: u32 = 6;

/// A row that grows in pieces.
pub(crate) struct Chunked<T> {
    chunks: Vec<Vec<T>>,
    len: usize,
}

impl<T> Default for Chunked<T> {
    fn default() -> Chunked<T> {
        Chunked { chunks: Vec::new(), len: 0 }
    }
}

/// The piece that an item is in, and where in it.
fn place(index: usize) -> (usize, usize) {
    let shifted = index + (1 << FIRST);
    let power = shifted.ilog2();
    ((power - FIRST) as usize, shifted - (1 << power))
}

impl<T: Copy> Chunked<T> {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn push(&mut self, item: T) {
        // INVARIANT: all chunks but the last are full.
        match self.chunks.last_mut() {
            Some(last) if last.len() < last.capacity() => last.push(item),
            _ => {
                let mut chunk = Vec::with_capacity(1 << (FIRST as usize + self.chunks.len()));
                chunk.push(item);
                self.chunks.push(chunk);
            }
        }
        self.len += 1;
    }

    pub fn get(&self, index: usize) -> T {
        let (chunk, at) = place(index);
        self.chunks[chunk][at]
    }

    /// Bytes kept.
    pub fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }
}

/// The size of the first piece of strings is two to the power of this.
const FIRST_BYTES: u32 = 10;

/// Strings of bytes, each in one piece, behind its length. A string is found by where it starts.
#[derive(Default)]
pub(crate) struct ChunkedBytes {
    chunks: Vec<Vec<u8>>,
}

/// The piece that a string starts in, and where in it.
fn place_of_byte(start: usize) -> (usize, usize) {
    let shifted = start + (1 << FIRST_BYTES);
    let power = shifted.ilog2();
    ((power - FIRST_BYTES) as usize, shifted - (1 << power))
}

impl ChunkedBytes {
    /// Where the next string will start, if it is so long: in the next piece with room for it.
    pub fn next(&self, length: usize) -> usize {
        let needed = length + LENGTH;
        let size = |chunk: usize| 1usize << (FIRST_BYTES as usize + chunk);
        let mut chunk = self.chunks.len().saturating_sub(1);
        let mut used = self.chunks.last().map_or(0, Vec::len);
        while used + needed > size(chunk) {
            (chunk, used) = (chunk + 1, 0);
        }
        size(chunk) - (1 << FIRST_BYTES) + used
    }

    /// Adds a string; returns where it starts.
    pub fn push(&mut self, string: &[u8]) -> usize {
        let start = self.next(string.len());
        let (chunk, _) = place_of_byte(start);
        while self.chunks.len() <= chunk {
            // What is passed over for a long string takes no memory.
            let is_used = self.chunks.len() == chunk;
            let size = if is_used { 1 << (FIRST_BYTES as usize + chunk) } else { 0 };
            self.chunks.push(Vec::with_capacity(size));
        }
        let bytes = &mut self.chunks[chunk];
        push(bytes, string.len());
        bytes.extend_from_slice(string);
        start
    }

    /// The string that starts there.
    pub fn get(&self, start: usize) -> &[u8] {
        let (chunk, at) = place_of_byte(start);
        let mut rest = &self.chunks[chunk][at..];
        // Most strings are short.
        if let Some((length, short)) = rest.split_first()
            && *length < 0x80
        {
            return &short[..usize::from(*length)];
        }
        let length = take(&mut rest);
        &rest[..length]
    }

    /// Looks at both ends of a string that is asked for soon, if it is about so long: what is
    /// returned only has to be used.
    pub fn look_at(&self, start: usize, length: usize) -> u8 {
        let (chunk, at) = place_of_byte(start);
        let end = self.chunks[chunk].get(at + length);
        self.chunks[chunk][at] ^ end.copied().unwrap_or(0)
    }

    /// Bytes kept.
    pub fn bytes(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }
}

/// Whether strings are the same. They are often empty, and to compare what is nowhere takes some
/// processors a hundred times as long as to see that there is nothing to compare.
pub(crate) fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && (one.is_empty() || one == other)
}

/// A length takes at most so many bytes.
const LENGTH: usize = 10;

/// Appends a length: small ones take one byte.
fn push(out: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

/// Takes a length from the front.
#[cold]
fn take(bytes: &mut &[u8]) -> usize {
    let (mut length, mut shift) = (0, 0);
    while let Some((first, rest)) = bytes.split_first() {
        *bytes = rest;
        length |= usize::from(first & 0x7f) << shift;
        if *first < 0x80 {
            break;
        }
        shift += 7;
    }
    length
}
