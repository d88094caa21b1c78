//! Which known name was probably meant.

/// The candidate nearest to `name`, if it is near: at most half of the letters differ.
pub(super) fn closest(
    name: &str,
    candidates: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    let name = name.to_lowercase().replace('_', "-");
    let (distance, nearest) =
        candidates.map(|candidate| (distance(&name, candidate), candidate)).min()?;
    (2 * distance <= nearest.len()).then_some(nearest)
}

/// How many letters must be inserted, deleted or replaced to get from one to the other
/// (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    // INVARIANT: `row[j]` is the distance from the letters of `from` read so far to the first `j`
    // letters of `to`.
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for letter in from.chars() {
        let mut diagonal = row[0];
        row[0] += 1;
        for (j, &other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("queue", "queue"), 0);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn only_near_names_are_suggested() {
        let names = ["queue", "stack", "cas-register", "kv"];
        assert_eq!(closest("Stak", names.into_iter()), Some("stack"));
        assert_eq!(closest("cas_registr", names.into_iter()), Some("cas-register"));
        assert_eq!(closest("elephant", names.into_iter()), None);
        assert_eq!(closest("", names.into_iter()), None);
    }
}
