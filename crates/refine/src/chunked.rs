//! A row that grows in pieces: what is in it is never moved. Each piece is as large as all before it
//! together, so there are few of them and the way to an item is short; what is not filled yet of a
//! large one is memory that was never touched.

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

    pub fn get_mut(&mut self, index: usize) -> &mut T {
        let (chunk, at) = place(index);
        &mut self.chunks[chunk][at]
    }

    /// Bytes kept.
    pub fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }
}
