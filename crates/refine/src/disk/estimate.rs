//! How much of a search is still to come, guessed from the sizes of its levels.

/// So many of the last levels are looked at.
const LAST: usize = 8;

/// No more than so many levels are foreseen.
const FORESEEN: usize = 10_000;

/// About how many states the levels after these have, if their sizes go on as they did: the factor
/// from one level to the next falls by a steady factor. `None` if it does not fall.
pub fn states_to_come(sizes: &[u64]) -> Option<u64> {
    let growth: Vec<f64> =
        sizes.windows(2).map(|pair| (pair[1] as f64 / pair[0] as f64).ln()).collect();
    let last = &growth[growth.len().saturating_sub(LAST)..];
    let (first, now) = (*last.first()?, *last.last()?);
    let fall = (now - first) / (last.len() - 1).max(1) as f64;
    if last.len() < 3 || (fall >= 0.0 && now >= 0.0) {
        return None;
    }
    let (mut size, mut growth, mut sum) = (*sizes.last()? as f64, now, 0.0);
    for _ in 0..FORESEEN {
        growth += fall.min(0.0);
        size *= growth.exp();
        if size < 1.0 {
            break;
        }
        sum += size;
    }
    (sum < 1e15).then_some(sum as u64)
}
