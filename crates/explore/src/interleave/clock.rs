//! Vector clocks, many of them in one flat vector: a row has a number for every thread.

/// Rows of numbers, one for every thread.
#[derive(Default)]
pub(super) struct Clocks {
    numbers: Vec<u32>,
    width: usize,
}

impl Clocks {
    /// Forgets all rows; new ones have room for so many threads.
    pub(super) fn clear(&mut self, width: usize) {
        self.numbers.clear();
        self.width = width;
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.numbers.len().checked_div(self.width).unwrap_or(0)
    }

    /// Gives every row room for so many threads.
    pub(super) fn widen(&mut self, width: usize) {
        if width <= self.width {
            return;
        }
        let rows = self.len();
        let mut wider = vec![0; rows * width];
        for row in 0..rows {
            wider[row * width..][..self.width].copy_from_slice(self.row(row));
        }
        self.numbers = wider;
        self.width = width;
    }

    /// A new last row of zeros.
    pub(super) fn push(&mut self) {
        self.numbers.resize(self.numbers.len() + self.width, 0);
    }

    /// There are at least so many rows: new ones are zeros.
    pub(super) fn reach(&mut self, rows: usize) {
        if self.len() < rows {
            self.numbers.resize(rows * self.width, 0);
        }
    }

    /// A row.
    pub(super) fn row(&self, row: usize) -> &[u32] {
        &self.numbers[row * self.width..][..self.width]
    }

    /// A row, to change.
    pub(super) fn row_mut(&mut self, row: usize) -> &mut [u32] {
        &mut self.numbers[row * self.width..][..self.width]
    }

    /// A row becomes another one, of the same width.
    pub(super) fn set(&mut self, row: usize, other: &[u32]) {
        self.row_mut(row).copy_from_slice(other);
    }

    /// A row learns what another one knows.
    pub(super) fn join(&mut self, row: usize, other: &[u32]) {
        join(self.row_mut(row), other);
    }
}

/// A clock learns what another one knows.
pub(super) fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}
