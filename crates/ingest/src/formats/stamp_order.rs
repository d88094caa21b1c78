//! Things in the order of their time stamps, where that is mostly almost the order that they are in already.
//!
//! Recorders write operations as they end, or as they start, so one of the two is in order and the other nearly so. Such stamps
//! are spread over about twice as many buckets as there are of them, in one pass that stays near where it was; what is left to do
//! inside the buckets is done by insertion. Stamps that are not spread evenly are sorted as anything is.

/// The order of some things, and of where they are for equal stamps.
#[derive(Debug)]
pub(super) enum StampOrder {
    /// They are in order.
    AsGiven,
    Sorted(Vec<u32>),
}

/// Insertion takes so many steps a thing at most.
const STEPS: usize = 8;

impl StampOrder {
    /// The order of at most 2^32 things.
    pub fn of<T>(things: &[T], stamp: impl Fn(&T) -> u64) -> StampOrder {
        if things.is_sorted_by_key(&stamp) {
            return StampOrder::AsGiven;
        }
        let (mut order, is_exact) = spread(things, &stamp);
        let key = |at: &u32| stamp(&things[*at as usize]);
        if !is_exact && !insert(&mut order, key) {
            order.sort_unstable_by_key(|at| (key(at), *at));
        }
        StampOrder::Sorted(order)
    }

    /// The one that comes at this position.
    #[inline]
    pub fn get(&self, at: usize) -> usize {
        match self {
            StampOrder::AsGiven => at,
            StampOrder::Sorted(order) => order[at] as usize,
        }
    }
}

/// The things in the order of their buckets, and whether that is the order of their stamps.
fn spread<T>(things: &[T], stamp: impl Fn(&T) -> u64) -> (Vec<u32>, bool) {
    let least = things.iter().map(&stamp).min().unwrap_or(0);
    let most = things.iter().map(&stamp).max().unwrap_or(0);
    let mut shift = 0;
    while (most - least) >> shift >= 2 * things.len() as u64 {
        shift += 1;
    }
    let bucket = |thing: &T| ((stamp(thing) - least) >> shift) as usize;
    let buckets = ((most - least) >> shift) as usize + 1;
    // How many there are in each, then where the next one of each goes.
    let mut next = vec![0_u32; buckets];
    things.iter().for_each(|thing| next[bucket(thing)] += 1);
    let mut before = 0;
    for place in &mut next {
        before += std::mem::replace(place, before);
    }
    let mut order = vec![0_u32; things.len()];
    for (at, thing) in things.iter().enumerate() {
        let place = &mut next[bucket(thing)];
        order[*place as usize] = at as u32;
        *place += 1;
    }
    (order, shift == 0)
}

/// Sorts what is nearly sorted; whether it was.
fn insert(order: &mut [u32], stamp: impl Fn(&u32) -> u64) -> bool {
    let mut steps = STEPS * order.len();
    for at in 1..order.len() {
        let own = order[at];
        let mut place = at;
        while place > 0 && stamp(&order[place - 1]) > stamp(&own) {
            order[place] = order[place - 1];
            place -= 1;
        }
        order[place] = own;
        match steps.checked_sub(at - place) {
            Some(left) => steps = left,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    #[test]
    fn all_kinds_of_stamps_are_sorted() {
        let mut rng = Rng::with_seed(1);
        for round in 0..400_u64 {
            let count = rng.usize(..200);
            let latest = [1, 50, 1 << 20, u64::MAX][round as usize % 4];
            let mut stamps: Vec<u64> = (0..count).map(|_| rng.u64(..latest)).collect();
            match rng.u8(..4) {
                0 => stamps.sort_unstable(),
                1 => {
                    stamps.sort_unstable();
                    stamps.chunks_mut(5).for_each(|chunk| rng.shuffle(chunk));
                }
                // Most in one place, which no number of buckets spreads.
                2 => stamps.iter_mut().skip(1).for_each(|stamp| *stamp %= 100),
                _ => {}
            }
            let mut expected: Vec<usize> = (0..count).collect();
            expected.sort_by_key(|at| stamps[*at]);
            let order = StampOrder::of(&stamps, |stamp| *stamp);
            let sorted: Vec<usize> = (0..count).map(|at| order.get(at)).collect();
            assert_eq!(sorted, expected, "{stamps:?}");
        }
    }
}
