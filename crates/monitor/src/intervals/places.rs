//! Sets of instants.

/// A set of places that knows the nearest ones: a bit for each place, a bit for each word of these,
/// and so on.
pub(crate) struct Places {
    levels: Vec<Vec<u64>>,
}

impl Places {
    /// The empty set of places below `places`.
    pub fn new(places: usize) -> Places {
        let mut levels = Vec::new();
        let mut words = places;
        loop {
            words = words.div_ceil(64).max(1);
            levels.push(vec![0; words]);
            if words == 1 {
                return Places { levels };
            }
        }
    }

    /// The set of all places below `places`.
    pub fn all(places: usize) -> Places {
        let mut set = Places::new(places);
        let mut count = places;
        for level in &mut set.levels {
            level.fill(u64::MAX);
            if !count.is_multiple_of(64) {
                level[count / 64] = (1 << (count % 64)) - 1;
            }
            count = count.div_ceil(64);
        }
        set
    }

    /// Puts a place into the set.
    pub fn insert(&mut self, place: u32) {
        let mut at = place as usize;
        for level in &mut self.levels {
            level[at / 64] |= 1 << (at % 64);
            at /= 64;
        }
    }

    /// Takes a place out of the set.
    pub fn remove(&mut self, place: u32) {
        let mut at = place as usize;
        for level in &mut self.levels {
            level[at / 64] &= !(1 << (at % 64));
            if level[at / 64] != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// Whether one of the places from `first` to `last` is in the set.
    pub fn meets(&self, first: u32, last: u32) -> bool {
        self.first_from(first).is_some_and(|place| place <= last)
    }

    /// The last place in the set up to `place`.
    pub fn last_up_to(&self, place: u32) -> Option<u32> {
        let mut at = place as usize;
        for (height, level) in self.levels.iter().enumerate() {
            let below = level[at / 64] & (u64::MAX >> (63 - at % 64));
            if below != 0 {
                let mut found = at / 64 * 64 + 63 - below.leading_zeros() as usize;
                for level in self.levels[..height].iter().rev() {
                    found = found * 64 + 63 - level[found].leading_zeros() as usize;
                }
                return Some(found as u32);
            }
            at = (at / 64).checked_sub(1)?;
        }
        None
    }

    /// The first place in the set from `place` on.
    pub fn first_from(&self, place: u32) -> Option<u32> {
        let mut at = place as usize;
        for (height, level) in self.levels.iter().enumerate() {
            let word = level.get(at / 64)?;
            let above = word & (u64::MAX << (at % 64));
            if above != 0 {
                let mut found = at / 64 * 64 + above.trailing_zeros() as usize;
                for level in self.levels[..height].iter().rev() {
                    found = found * 64 + level[found].trailing_zeros() as usize;
                }
                return Some(found as u32);
            }
            at = at / 64 + 1;
        }
        None
    }
}
