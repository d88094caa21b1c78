//! Canonical abstraction (blur) and the canonical form of a bounded structure.

use crate::Vocabulary;
use smallvec::SmallVec;

use crate::structure::Structure;
use crate::truth::{Truths, bit};

impl Structure {
    /// Canonical abstraction: individuals with equal values of all abstraction predicates become
    /// one summary, with the joined values (SRW). The individuals are sorted by these
    /// values, the *canonical names*, so that equal structures are isomorphic ones.
    #[must_use]
    pub fn blur(&self, vocabulary: &Vocabulary) -> Self {
        let name = |u: usize| {
            let Truths { may, must } = self.names[u];
            (must & vocabulary.abstraction, may & vocabulary.abstraction)
        };
        if (1..self.len()).all(|u| name(u - 1) < name(u)) {
            return self.clone();
        }
        let mut order: SmallVec<[usize; 12]> = (0..self.len()).collect();
        order.sort_unstable_by_key(|u| name(*u));
        let classes: SmallVec<[u64; 12]> = order
            .chunk_by(|u, v| name(*u) == name(*v))
            .map(|class| class.iter().fold(0, |all, u| all | bit(*u)))
            .collect();
        self.quotient(&classes)
    }

    /// The canonical form of its canonical abstraction.
    #[must_use]
    pub fn canonical(&self, vocabulary: &Vocabulary) -> Canonical {
        Canonical::pack(&self.blur(vocabulary), vocabulary)
    }
}

/// A canonically abstracted structure, packed. Equal if and only if the structures are isomorphic;
/// the order is total but means nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Canonical(Box<[u64]>);

impl Canonical {
    // INVARIANT: the widths of all fields follow from the vocabulary and the number of individuals,
    // which comes first, so that no two structures have the same words.
    fn pack(structure: &Structure, vocabulary: &Vocabulary) -> Self {
        let (nullary, unary, _) = vocabulary.counts();
        let len = structure.len();
        let mut bits = Bits::default();
        bits.write(u64::try_from(len).unwrap_or(u64::MAX), 7);
        bits.write(structure.summary, len);
        bits.write_truths(structure.nullary, nullary);
        structure.names.iter().for_each(|name| bits.write_truths(*name, unary));
        structure.rows.iter().for_each(|row| bits.write_truths(*row, len));
        Self(bits.words.into_boxed_slice())
    }

    /// The structure.
    #[must_use]
    pub fn structure(&self, vocabulary: &Vocabulary) -> Structure {
        let (nullary, unary, binaries) = vocabulary.counts();
        let mut bits = Reader { words: &self.0, at: 0 };
        let len = usize::try_from(bits.read(7)).unwrap_or(0).min(64);
        let mut structure = Structure::new(vocabulary);
        structure.summary = bits.read(len);
        structure.nullary = bits.read_truths(nullary);
        structure.names = (0..len).map(|_| bits.read_truths(unary)).collect();
        structure.rows = (0..len * binaries).map(|_| bits.read_truths(len)).collect();
        structure
    }

    /// The words.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.0
    }
}

/// A row of bits that grows.
#[derive(Default)]
struct Bits {
    words: Vec<u64>,
    at: usize,
}

impl Bits {
    /// Appends the lowest `width` bits, at most sixty-four.
    fn write(&mut self, value: u64, width: usize) {
        if width == 0 {
            return;
        }
        let value = value & bit(width).wrapping_sub(1);
        let offset = self.at % 64;
        if offset == 0 {
            self.words.push(value);
        } else {
            if let Some(last) = self.words.last_mut() {
                *last |= value << offset;
            }
            if offset + width > 64 {
                self.words.push(value >> (64 - offset));
            }
        }
        self.at += width;
    }

    fn write_truths(&mut self, values: Truths, width: usize) {
        self.write(values.may, width);
        self.write(values.must, width);
    }
}

struct Reader<'w> {
    words: &'w [u64],
    at: usize,
}

impl Reader<'_> {
    /// The next `width` bits, at most sixty-four; 0 beyond the end.
    fn read(&mut self, width: usize) -> u64 {
        let word = |index: usize| self.words.get(index).copied().unwrap_or(0);
        let (index, offset) = (self.at / 64, self.at % 64);
        let low = word(index) >> offset;
        let high = if offset == 0 { 0 } else { word(index + 1) << (64 - offset) };
        self.at += width;
        (low | high) & bit(width).wrapping_sub(1)
    }

    fn read_truths(&mut self, width: usize) -> Truths {
        let may = self.read(width);
        Truths { may, must: self.read(width) & may }
    }
}
