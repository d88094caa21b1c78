//! Kleene's three truth values, one at a time ([`Truth`]) and sixty-four at a time ([`Truths`]).

/// A truth value of Kleene's strong three-valued logic.
///
/// The derived order is the order of truth, 0 < 1/2 < 1: `and` is the minimum, `or` the maximum.
/// The information order is [`approximated_by`](Truth::approximated_by).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Truth {
    /// 0: definitely false.
    #[default]
    False,
    /// 1/2: false or true.
    Half,
    /// 1: definitely true.
    True,
}

impl Truth {
    /// The three values.
    pub const ALL: [Self; 3] = [Self::False, Self::Half, Self::True];

    /// Conjunction.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.min(other)
    }

    /// Disjunction.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.max(other)
    }

    /// Negation.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::False => Self::True,
            Self::Half => Self::Half,
            Self::True => Self::False,
        }
    }

    /// Implication: `not self or other`.
    #[must_use]
    pub fn implies(self, other: Self) -> Self {
        self.negated().or(other)
    }

    /// The information order, 0 ⊑ 1/2 and 1 ⊑ 1/2: whatever `self` says, `other` allows.
    ///
    /// Paper 001 prints this order as 0 ⊑ 1/2 ⊑ 1, which is the order of truth.
    #[must_use]
    pub fn approximated_by(self, other: Self) -> bool {
        self == other || other == Self::Half
    }

    /// The join of the information order: 1/2 unless both agree.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        if self == other { self } else { Self::Half }
    }

    /// Whether this is 0 or 1.
    #[must_use]
    pub fn is_definite(self) -> bool {
        self != Self::Half
    }
}

impl From<bool> for Truth {
    fn from(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }
}

impl std::fmt::Display for Truth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::False => "0",
            Self::Half => "1/2",
            Self::True => "1",
        })
    }
}

/// Sixty-four truth values in two words: which may be true, and which must be.
///
/// 0 is neither, 1/2 is "may", 1 is both. Kleene's connectives are the bitwise ones on both words.
// INVARIANT: what must be true may be true: `must & !may == 0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Truths {
    pub(crate) may: u64,
    pub(crate) must: u64,
}

/// The word with only bit `index`; empty for an index beyond the word.
pub(crate) fn bit(index: usize) -> u64 {
    u32::try_from(index).ok().and_then(|index| 1_u64.checked_shl(index)).unwrap_or(0)
}

/// The positions of the bits that are set.
pub(crate) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = first(word)?;
        word &= word - 1;
        Some(next)
    })
}

/// The position of the lowest bit that is set.
pub(crate) fn first(word: u64) -> Option<usize> {
    if word == 0 { None } else { usize::try_from(word.trailing_zeros()).ok() }
}

impl Truths {
    /// All of them 0.
    pub(crate) const ZERO: Self = Self { may: 0, must: 0 };

    /// Definite values: 1 in `ones`, 0 elsewhere.
    pub(crate) fn definite(ones: u64) -> Self {
        Self { may: ones, must: ones }
    }

    /// The same value at each position of `lanes`.
    pub(crate) fn splat(value: Truth, lanes: u64) -> Self {
        match value {
            Truth::False => Self::ZERO,
            Truth::Half => Self { may: lanes, must: 0 },
            Truth::True => Self::definite(lanes),
        }
    }

    /// The value at `index`; 0 beyond the sixty-fourth.
    pub(crate) fn get(self, index: usize) -> Truth {
        self.within(bit(index))
    }

    /// The value at the one position of `lane`.
    fn within(self, lane: u64) -> Truth {
        if self.must & lane != 0 {
            Truth::True
        } else if self.may & lane != 0 {
            Truth::Half
        } else {
            Truth::False
        }
    }

    /// Writes the value at `index`.
    pub(crate) fn set(&mut self, index: usize, value: Truth) {
        let lane = bit(index);
        self.put(Self::splat(value, lane), lane);
    }

    /// Writes the values at the positions of `lanes`.
    pub(crate) fn put(&mut self, values: Self, lanes: u64) {
        self.may = self.may & !lanes | values.may & lanes;
        self.must = self.must & !lanes | values.must & lanes;
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self { may: self.may & other.may, must: self.must & other.must }
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self { may: self.may | other.may, must: self.must | other.must }
    }

    /// Negation at the positions of `lanes`.
    pub(crate) fn negated(self, lanes: u64) -> Self {
        Self { may: !self.must & lanes, must: !self.may & lanes }
    }

    /// The join of the information order.
    pub(crate) fn join(self, other: Self) -> Self {
        Self { may: self.may | other.may, must: self.must & other.must }
    }

    /// The meet of the information order, if no position says 0 here and 1 there.
    pub(crate) fn meet(self, other: Self) -> Option<Self> {
        let (may, must) = (self.may & other.may, self.must | other.must);
        (must & !may == 0).then_some(Self { may, must })
    }

    /// The disjunction of all positions: 0 if there are none.
    pub(crate) fn any(self) -> Truth {
        self.within(u64::MAX)
    }

    /// The conjunction of the positions of `lanes`: 1 if there are none.
    pub(crate) fn all(self, lanes: u64) -> Truth {
        self.negated(lanes).any().negated()
    }

    /// The positions with the value 1/2.
    pub(crate) fn halves(self) -> u64 {
        self.may & !self.must
    }

    /// Whether each value is approximated by the one in `other`.
    pub(crate) fn approximated_by(self, other: Self) -> bool {
        self.may & !other.may == 0 && other.must & !self.must == 0
    }
}
