//! Rows of numbers in few bits: in each piece, a column takes as many bits as tell its numbers
//! apart. Most numbers are far smaller than they might be, or all about as large, and how much is
//! not known beforehand: so a piece is only packed when it is full.

/// A piece has so many rows: two to the power of this.
const ROWS: u32 = 8;

/// A number is read in eight bytes, wherever it is: so there are some more at the end.
const BEYOND: usize = 8;

/// Rows of `N` numbers.
pub(crate) struct Rows<const N: usize> {
    pieces: Vec<Piece<N>>,
    /// The rows after those of all pieces. INVARIANT: they are fewer than a piece has.
    last: Vec<[u32; N]>,
    /// How many bytes the pieces take. They are too many to be added up often.
    packed: usize,
}

/// Some rows, all as long as each other.
struct Piece<const N: usize> {
    bytes: Box<[u8]>,
    /// For each column, an even number that is not larger than any of its numbers: what is kept is
    /// the difference.
    least: [u32; N],
    /// The largest difference that each column has room for: all bits of at least one.
    masks: [u32; N],
    /// How many bits of a row are before each column. INVARIANT: a column has 32 at most, and there
    /// are at most eight of them.
    starts: [u8; N],
    /// How many bits a row takes.
    stride: u16,
}

impl<const N: usize> Default for Rows<N> {
    fn default() -> Rows<N> {
        Rows { pieces: Vec::new(), last: Vec::new(), packed: 0 }
    }
}

/// The piece that a row is in, and where in it.
fn place(index: usize) -> (usize, usize) {
    (index >> ROWS, index & ((1 << ROWS) - 1))
}

impl<const N: usize> Rows<N> {
    pub fn len(&self) -> usize {
        (self.pieces.len() << ROWS) + self.last.len()
    }

    #[inline]
    pub fn get(&self, index: usize) -> [u32; N] {
        self.first(index)
    }

    /// The first numbers of a row.
    #[inline]
    pub fn first<const M: usize>(&self, index: usize) -> [u32; M] {
        let (piece, at) = place(index);
        match self.pieces.get(piece) {
            Some(piece) => piece.first(at),
            None => {
                let mut row = [0; M];
                row.copy_from_slice(&self.last[at][..M]);
                row
            }
        }
    }

    /// Looks at a row that is asked for soon: what is returned only has to be used.
    #[inline]
    pub fn look_at(&self, index: usize) -> u8 {
        let (piece, at) = place(index);
        let piece = self.pieces.get(piece);
        piece.map_or(0, |piece| piece.bytes[(at * usize::from(piece.stride)) >> 3])
    }

    /// Sets the lowest bit of a number.
    pub fn set_lowest(&mut self, index: usize, column: usize) {
        let (piece, at) = place(index);
        match self.pieces.get_mut(piece) {
            // It is the lowest of what is kept, because what is taken off is even.
            Some(piece) => {
                let bit = at * usize::from(piece.stride) + usize::from(piece.starts[column]);
                piece.bytes[bit >> 3] |= 1 << (bit & 7);
            }
            None => self.last[at][column] |= 1,
        }
    }

    pub fn push(&mut self, row: [u32; N]) {
        self.last.push(row);
        if self.last.len() == 1 << ROWS {
            let piece = Piece::new(&self.last);
            self.packed += piece.bytes.len() + size_of::<Piece<N>>();
            self.pieces.push(piece);
            self.last.clear();
        }
    }

    /// Bytes kept.
    pub fn bytes(&self) -> usize {
        self.packed + size_of_val(&self.last[..])
    }
}

impl<const N: usize> Piece<N> {
    fn new(rows: &[[u32; N]]) -> Piece<N> {
        let (mut least, mut most) = ([u32::MAX; N], [1; N]);
        for row in rows {
            for (column, number) in row.iter().enumerate() {
                least[column] = least[column].min(number & !1);
                // Its lowest bit may be set later.
                most[column] = most[column].max(number | 1);
            }
        }
        let (mut starts, mut masks, mut stride) = ([0; N], [0; N], 0);
        for column in 0..N {
            let width = (most[column] - least[column]).ilog2() + 1;
            starts[column] = stride as u8;
            masks[column] = u32::MAX >> (u32::BITS - width);
            stride += width as u16;
        }
        let mut piece = Piece { bytes: Box::default(), least, masks, starts, stride };
        piece.bytes = piece.packed(rows);
        piece
    }

    /// Rows as they are kept.
    fn packed(&self, rows: &[[u32; N]]) -> Box<[u8]> {
        let bits = rows.len() * usize::from(self.stride);
        let mut bytes = Vec::with_capacity(bits.div_ceil(8) + BEYOND);
        // The bits that are not in the bytes yet: fewer than 32, so there is room for 32 more.
        let (mut waiting, mut count) = (0, 0);
        for row in rows {
            for (column, number) in row.iter().enumerate() {
                waiting |= u64::from(number - self.least[column]) << count;
                count += self.masks[column].count_ones();
                if count >= u32::BITS {
                    bytes.extend_from_slice(&(waiting as u32).to_le_bytes());
                    (waiting, count) = (waiting >> u32::BITS, count - u32::BITS);
                }
            }
        }
        bytes.extend_from_slice(&waiting.to_le_bytes()[..count.div_ceil(8) as usize]);
        bytes.extend_from_slice(&[0; BEYOND]);
        bytes.into_boxed_slice()
    }

    #[inline]
    fn first<const M: usize>(&self, at: usize) -> [u32; M] {
        let start = at * usize::from(self.stride);
        let mut row = [0; M];
        for (column, number) in row.iter_mut().enumerate() {
            let bit = start + usize::from(self.starts[column]);
            let mut read = [0; 8];
            read.copy_from_slice(&self.bytes[bit >> 3..][..8]);
            let kept = (u64::from_le_bytes(read) >> (bit & 7)) as u32 & self.masks[column];
            *number = self.least[column].wrapping_add(kept);
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_what_was_put_in() {
        let mut random = fastrand::Rng::with_seed(7);
        let (mut rows, mut expected) = (Rows::<3>::default(), Vec::new());
        for number in 0..5_000 {
            let bits = random.u32(0..33);
            let mut any = || random.u32(..).checked_shr(32 - bits).unwrap_or(0);
            let row = match number {
                0..300 => [0; 3],
                300..600 => [u32::MAX - 1 - number % 2, u32::MAX, number],
                _ => [any(), number, any()],
            };
            rows.push(row);
            expected.push(row);
            let (at, column) = (random.usize(..expected.len()), random.usize(..3));
            rows.set_lowest(at, column);
            expected[at][column] |= 1;
            assert_eq!(rows.len(), expected.len());
        }
        assert!((0..expected.len()).all(|at| rows.get(at) == expected[at]));
        assert!((0..expected.len()).all(|at| rows.first::<2>(at) == expected[at][..2]));
    }

    #[test]
    fn small_numbers_take_few_bytes() {
        let mut rows = Rows::<4>::default();
        (0..10_240).for_each(|number| rows.push([number, 1, 70_000, 0]));
        // Eight bits, and one for each of the others; and what a piece takes itself.
        assert!(rows.bytes() < 10_240 * 2, "{}", rows.bytes());
    }
}
