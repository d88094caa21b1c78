//! How many of the crashed operations of each class have taken effect.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Counts by crashed class, without the zeros, in the order of the classes.
type Counts = SmallVec<[(u32, u32); 2]>;

/// Every combination of counts that occurs, kept once.
#[derive(Clone, Debug)]
pub(crate) struct Used {
    counts: Vec<Counts>,
    index: FxHashMap<Counts, u32>,
}

impl Used {
    /// The id of "none of them".
    pub(crate) const NONE: u32 = 0;

    pub(crate) fn new() -> Used {
        let index = FxHashMap::from_iter([(Counts::new(), Used::NONE)]);
        Used { counts: vec![Counts::new()], index }
    }

    /// How many operations of this class are used.
    pub(crate) fn count(&self, used: u32, class: u32) -> u32 {
        let find = self.counts[used as usize].iter().find(|(of, _)| *of == class);
        find.map_or(0, |(_, count)| *count)
    }

    /// The classes of which operations are used, and how many are.
    pub(crate) fn counts(&self, used: u32) -> &[(u32, u32)] {
        &self.counts[used as usize]
    }

    /// One more of this class.
    pub(crate) fn one_more(&mut self, used: u32, class: u32) -> u32 {
        let mut counts = self.counts[used as usize].clone();
        match counts.binary_search_by_key(&class, |(of, _)| *of) {
            Ok(at) => counts[at].1 += 1,
            Err(at) => counts.insert(at, (class, 1)),
        }
        let next = self.counts.len() as u32;
        let list = &mut self.counts;
        *self.index.entry(counts).or_insert_with_key(|counts| {
            list.push(counts.clone());
            next
        })
    }

    /// Whether `one` uses at most what `other` uses, of every class.
    pub(crate) fn at_most(&self, one: u32, other: u32) -> bool {
        one == other
            || self.counts[one as usize]
                .iter()
                .all(|(class, count)| *count <= self.count(other, *class))
    }

    /// About how many bytes this keeps.
    pub(crate) fn bytes(&self) -> usize {
        self.counts.len() * 3 * size_of::<Counts>()
    }
}
