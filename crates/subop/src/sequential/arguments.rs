//! The arguments that an operation is called with.

use std::collections::BTreeSet;

/// The integers that clients pass for one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Any integer.
    Integers,
    /// From the first one up to the second, which is excluded.
    Range(i64, i64),
}

/// A range with more integers is tried where it begins, where it ends, and with what else is tried.
const WIDEST_RANGE: i64 = 64;

/// Lists of arguments that are made of what the arguments are compared with.
const MOST_COMPARED: usize = 64;

/// The lists of arguments that are tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Combinations {
    pub lists: Vec<Vec<i64>>,
    /// Whether these are all lists of the integers in question.
    pub complete: bool,
}

/// The integers of a domain among these.
fn within(domain: Domain, integers: &[i64]) -> Vec<i64> {
    match domain {
        Domain::Integers => integers.to_vec(),
        Domain::Range(from, to) if to.saturating_sub(from) <= WIDEST_RANGE => (from..to).collect(),
        Domain::Range(from, to) => {
            let ends = [from, from + 1, to - 2, to - 1];
            let mut values: Vec<i64> = integers.iter().copied().chain(ends).collect();
            values.retain(|value| (from..to).contains(value));
            values.sort_unstable();
            values.dedup();
            values
        }
    }
}

/// Every choice of one value each; nothing if there are more than `most`.
fn product(values: &[Vec<i64>], most: usize) -> Option<Vec<Vec<i64>>> {
    let total = values.iter().try_fold(1_usize, |total, values| total.checked_mul(values.len()));
    if total.is_none_or(|total| total > most) {
        return None;
    }
    let mut lists = vec![Vec::new()];
    for values in values {
        lists = lists
            .iter()
            .flat_map(|list| values.iter().map(move |value| [&list[..], &[*value]].concat()))
            .collect();
    }
    Some(lists)
}

/// Lists in which arguments are what they are compared with: every choice of those that are, or if
/// there are too many, some in which all are.
fn suited(domains: &[Domain], values: &[Vec<i64>], compared: &[BTreeSet<i64>]) -> Vec<Vec<i64>> {
    let mut choices = Vec::new();
    for (at, (domain, values)) in domains.iter().zip(values).enumerate() {
        let fits = |value: &i64| match domain {
            Domain::Integers => true,
            Domain::Range(from, to) => (*from..*to).contains(value),
        };
        let with = compared.get(at).into_iter().flatten().copied().filter(fits);
        let mut choice: Vec<i64> = with.collect();
        if let Some(other) = values.iter().find(|value| !choice.contains(value)) {
            choice.push(*other);
        }
        choices.push(choice);
    }
    product(&choices, MOST_COMPARED).unwrap_or_else(|| {
        let longest = choices.iter().map(Vec::len).max().unwrap_or(0).min(MOST_COMPARED);
        let pick = |choice: &Vec<i64>, at: usize| choice[at % choice.len()];
        (0..longest).map(|at| choices.iter().map(|choice| pick(choice, at)).collect()).collect()
    })
}

/// Every list of arguments, or if there are more than `most`: those of what each argument is
/// compared with, all the same, one that differs, and each with another offset.
pub(super) fn combinations(
    domains: &[Domain],
    integers: &[i64],
    compared: &[BTreeSet<i64>],
    most: usize,
) -> Combinations {
    let values: Vec<Vec<i64>> = domains.iter().map(|domain| within(*domain, integers)).collect();
    if let Some(lists) = product(&values, most) {
        return Combinations { lists, complete: true };
    }
    let longest = values.iter().map(Vec::len).max().unwrap_or(0);
    // INVARIANT: `at` wraps around, and no domain is empty, else the product above is 0.
    let pick = |argument: usize, at: usize| values[argument][at % values[argument].len()];
    let arguments = || 0..values.len();
    let mut lists = suited(domains, &values, compared);
    for at in 0..longest {
        lists.push(arguments().map(|argument| pick(argument, at)).collect());
    }
    for stride in 1..=2 {
        for at in 0..longest.min(4) {
            lists
                .push(arguments().map(|argument| pick(argument, at + stride * argument)).collect());
        }
    }
    for different in arguments() {
        for at in 0..longest.min(4) {
            let offset = |argument: usize| at + usize::from(argument == different);
            lists.push(arguments().map(|argument| pick(argument, offset(argument))).collect());
        }
    }
    lists.truncate(most.max(1));
    lists.sort_unstable();
    lists.dedup();
    Combinations { lists, complete: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_all() {
        let found = combinations(&[Domain::Integers, Domain::Range(0, 3)], &[7, 8], &[], 10);
        assert!(found.complete);
        assert_eq!(found.lists.len(), 6);
        assert_eq!(combinations(&[], &[7], &[], 10).lists, [Vec::<i64>::new()]);
        assert!(combinations(&[Domain::Range(3, 3)], &[7], &[], 10).lists.is_empty());
    }

    #[test]
    fn of_many_arguments_some_differ() {
        let found = combinations(&[Domain::Integers; 22], &[1, 2], &[], 200);
        assert!(!found.complete && found.lists.len() > 20, "{}", found.lists.len());
        assert!(found.lists.contains(&vec![1; 22]));
        for argument in 0..22 {
            let mut list = vec![1; 22];
            list[argument] = 2;
            assert!(found.lists.contains(&list), "{argument}");
        }
    }

    #[test]
    fn each_argument_is_what_it_is_compared_with() {
        let integers: Vec<i64> = (0..20).collect();
        let compared = [53, 143, 7, 9].map(|value| BTreeSet::from([value]));
        let found = combinations(&[Domain::Integers; 4], &integers, &compared, 256);
        assert!(!found.complete);
        assert!(found.lists.contains(&vec![53, 143, 7, 9]));
        assert!(found.lists.contains(&vec![53, 143, 0, 9]));
        // Not outside of what clients pass; and of many arguments at least together.
        let found = combinations(&[Domain::Range(0, 64); 4], &integers, &compared, 256);
        assert!(found.lists.contains(&vec![53, 0, 7, 9]));
        assert!(found.lists.iter().flatten().all(|value| *value < 64));
        let compared: Vec<BTreeSet<i64>> =
            (100..122).map(|value| BTreeSet::from([value])).collect();
        let found = combinations(&[Domain::Integers; 22], &[1, 2], &compared, 256);
        assert!(found.lists.contains(&(100..122).collect()));
    }

    #[test]
    fn a_wide_range_is_tried_at_its_ends() {
        let found = combinations(&[Domain::Range(0, 1000)], &[1, 2, 5000], &[], 200);
        assert_eq!(found.lists.concat(), [0, 1, 2, 998, 999]);
        assert!(found.complete);
    }
}
