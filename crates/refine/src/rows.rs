//! Rows of numbers in few bytes: in each piece, a column takes as many bytes as its largest number
//! needs. Most numbers are far smaller than they might be, and how much is not known beforehand.

/// A piece has so many rows: two to the power of this.
const ROWS: u32 = 10;

/// A number is read as four bytes, whatever it takes: so there are some more at the end.
const BEYOND: usize = 4;

/// Rows of `N` numbers.
pub(crate) struct Rows<const N: usize> {
    /// INVARIANT: all pieces but the last are full.
    pieces: Vec<Piece<N>>,
    len: usize,
}

/// Some rows, all as long as each other.
struct Piece<const N: usize> {
    /// How many bytes the numbers of each column take.
    widths: [u8; N],
    /// The length of a row; at least 1.
    stride: usize,
    bytes: Vec<u8>,
}

impl<const N: usize> Default for Rows<N> {
    fn default() -> Rows<N> {
        Rows { pieces: Vec::new(), len: 0 }
    }
}

/// The numbers of so many bytes.
fn mask(width: u8) -> u32 {
    u32::MAX.checked_shr(u32::BITS - 8 * u32::from(width)).unwrap_or(0)
}

/// How many bytes a number takes.
fn width_of(number: u32) -> u8 {
    (number.checked_ilog2().map_or(0, |power| power / 8 + 1)) as u8
}

fn place(index: usize) -> (usize, usize) {
    (index >> ROWS, index & ((1 << ROWS) - 1))
}

impl<const N: usize> Rows<N> {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn get(&self, index: usize) -> [u32; N] {
        self.first(index)
    }

    /// The first numbers of a row.
    #[inline]
    pub fn first<const M: usize>(&self, index: usize) -> [u32; M] {
        let (piece, at) = place(index);
        self.pieces[piece].first(at)
    }

    /// Puts a row in the place of another.
    pub fn set(&mut self, index: usize, row: [u32; N]) {
        let (piece, at) = place(index);
        let piece = &mut self.pieces[piece];
        piece.make_room(row);
        piece.set(at, row);
    }

    pub fn push(&mut self, row: [u32; N]) {
        let (piece, at) = place(self.len);
        if piece == self.pieces.len() {
            // Numbers are about as large as those before.
            let widths = self.pieces.last().map_or([1; N], |last| last.widths);
            self.pieces.push(Piece::new(widths, if piece == 0 { 0 } else { 1 << ROWS }));
        }
        let piece = &mut self.pieces[piece];
        piece.make_room(row);
        piece.bytes.resize((at + 1) * piece.stride + BEYOND, 0);
        piece.set(at, row);
        self.len += 1;
    }

    /// Bytes kept.
    pub fn bytes(&self) -> usize {
        let kept = |piece: &Piece<N>| piece.bytes.len() + size_of::<Piece<N>>();
        self.pieces.iter().map(kept).sum()
    }
}

impl<const N: usize> Piece<N> {
    /// Nothing yet, but room for so many rows.
    fn new(widths: [u8; N], rows: usize) -> Piece<N> {
        let stride = widths.iter().map(|width| usize::from(*width)).sum::<usize>().max(1);
        let bytes = Vec::with_capacity(rows * stride + BEYOND);
        Piece { widths, stride, bytes }
    }

    #[inline]
    fn first<const M: usize>(&self, at: usize) -> [u32; M] {
        let (mut row, mut start) = ([0; M], at * self.stride);
        let bytes = &self.bytes[start..start + self.stride + BEYOND];
        start = 0;
        for (number, width) in row.iter_mut().zip(self.widths) {
            let mut read = [0; 4];
            read.copy_from_slice(&bytes[start..start + 4]);
            *number = u32::from_le_bytes(read) & mask(width);
            start += usize::from(width);
        }
        row
    }

    fn set(&mut self, at: usize, row: [u32; N]) {
        let mut start = at * self.stride;
        for (number, width) in row.into_iter().zip(self.widths) {
            let width = usize::from(width);
            self.bytes[start..start + width].copy_from_slice(&number.to_le_bytes()[..width]);
            start += width;
        }
    }

    /// Makes its numbers as wide as those of a row.
    fn make_room(&mut self, row: [u32; N]) {
        if row.into_iter().zip(self.widths).any(|(number, width)| number > mask(width)) {
            self.widen(row);
        }
    }

    #[cold]
    fn widen(&mut self, row: [u32; N]) {
        let mut widths = self.widths;
        for (width, number) in widths.iter_mut().zip(row) {
            *width = width_of(number).max(*width);
        }
        let count = self.bytes.len().saturating_sub(BEYOND) / self.stride;
        let room = self.bytes.capacity() / self.stride;
        let mut wide = Piece::new(widths, room);
        wide.bytes.resize(count * wide.stride + BEYOND, 0);
        (0..count).for_each(|at| wide.set(at, self.first(at)));
        *self = wide;
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
            let row = if number < 10 { [0; 3] } else { [any(), number, any()] };
            rows.push(row);
            expected.push(row);
            if number % 3 == 0 {
                let (at, row) = (random.usize(..expected.len()), [0, u32::MAX, number]);
                rows.set(at, row);
                expected[at] = row;
            }
            assert_eq!(rows.len(), expected.len());
        }
        assert!((0..expected.len()).all(|at| rows.get(at) == expected[at]));
    }

    #[test]
    fn small_numbers_take_few_bytes() {
        let mut rows = Rows::<4>::default();
        (0..10_000).for_each(|number| rows.push([number, 1, 70_000, 0]));
        // Two bytes, one, three, one; and what a piece takes itself.
        assert!(rows.bytes() < 10_000 * 8, "{}", rows.bytes());
    }
}
