//! Sorting that asks the limits on its way.

use super::poll::{StopPoll, StopReason};

/// Fewer than this are sorted without asking.
const FEW: usize = if cfg!(test) { 8 } else { 1 << 13 };

/// Bits that are looked at in one pass.
const DIGIT: u32 = 11;

/// Words sorted by their bits from the one numbered `lowest` on; those in which they are the same
/// keep their order. By digits, the last one first.
pub(crate) fn by_upper_bits(
    mut words: Vec<u64>,
    lowest: u32,
    poll: &StopPoll,
) -> Result<Vec<u64>, StopReason> {
    if words.len() < FEW {
        words.sort_by_key(|word| word >> lowest);
        return Ok(words);
    }
    let (mut largest, mut last, mut is_sorted) = (0, 0, true);
    for word in &words {
        poll.step()?;
        largest = largest.max(word >> lowest);
        is_sorted &= last <= word >> lowest;
        last = word >> lowest;
    }
    if is_sorted {
        return Ok(words);
    }
    let mut others = vec![0; words.len()];
    let mut shift = lowest;
    while shift < u64::BITS && largest >> (shift - lowest) != 0 {
        let digit = |word: u64| (word >> shift) as usize & ((1 << DIGIT) - 1);
        let mut starts = [0u32; 1 << DIGIT];
        for word in &words {
            poll.step()?;
            starts[digit(*word)] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += std::mem::replace(start, sum);
        }
        for word in &words {
            poll.step()?;
            let start = &mut starts[digit(*word)];
            others[*start as usize] = *word;
            *start += 1;
        }
        std::mem::swap(&mut words, &mut others);
        shift += DIGIT;
    }
    Ok(words)
}

/// Sorts anything: short rows first, then each few of them together, which the sort of the standard
/// library merges. Equal items may change places.
pub(crate) fn in_rows<T: Ord>(items: &mut [T], poll: &StopPoll) -> Result<(), StopReason> {
    let mut row = 4 * FEW;
    for items in items.chunks_mut(row) {
        poll.ask(0)?;
        items.sort_unstable();
    }
    while row < items.len() {
        row *= 4;
        for items in items.chunks_mut(row) {
            poll.ask(0)?;
            items.sort();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use linchpin_verdict::Limits;

    #[test]
    fn sorted_like_by_the_standard_library() {
        let mut random = fastrand::Rng::with_seed(3);
        let limits = Limits::default();
        let poll = StopPoll::new(&limits);
        for round in 0..400 {
            let count = random.usize(..3000);
            let (bits, lowest) =
                [(4, 32), (11, 32), (12, 30), (22, 12), (23, 41), (32, 32)][round % 6];
            let upper = |random: &mut fastrand::Rng| random.u64(..1 << bits) << lowest;
            let words: Vec<u64> = (0..count as u64).map(|at| upper(&mut random) | at).collect();
            let mut expected = words.clone();
            expected.sort_unstable();
            let found = by_upper_bits(words.clone(), lowest, &poll).expect("nothing stops it");
            assert_eq!(found, expected);
            // Equal ones stay where they are, even if that is not the order of the lower halves.
            let reversed: Vec<u64> = words.iter().rev().copied().collect();
            expected.sort_by_key(|word| (word >> lowest, !word));
            assert_eq!(by_upper_bits(reversed, lowest, &poll).expect("nothing stops it"), expected);
            let mut rows: Vec<u64> = words.iter().map(|word| word >> lowest).collect();
            let mut expected = rows.clone();
            expected.sort_unstable();
            in_rows(&mut rows, &poll).expect("nothing stops it");
            assert_eq!(rows, expected);
        }
    }
}
