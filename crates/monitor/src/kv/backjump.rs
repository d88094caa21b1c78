//! Values for variables, so that no nogood has all of its own: depth first, with conflict-directed
//! backjumping (P. Prosser, Hybrid Algorithms for the Constraint Satisfaction Problem, 1993).
//!
//! Where every value of a variable is excluded, other values of the variables in between change
//! nothing: the search goes back to the last one that had a part in it.

use crate::poll::{StopPoll, StopReason};
use std::collections::BTreeSet;

/// What there is to choose from: for each variable its values, and values that exclude each other,
/// by variable and value.
pub(super) struct Problem {
    pub(super) domains: Vec<Vec<u32>>,
    /// INVARIANT: no nogood is empty, and each has a variable once.
    pub(super) nogoods: Vec<Vec<(usize, u32)>>,
}

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A value for each variable.
    Values(Vec<u32>),
    /// The nogoods exclude everything.
    Nothing,
    TooMany,
}

impl Problem {
    /// Looks for values, of which so many are tried at most; the first ones first.
    pub(super) fn solve(&self, most_tried: usize, poll: &StopPoll) -> Result<Found, StopReason> {
        if self.domains.is_empty() {
            return Ok(Found::Values(Vec::new()));
        }
        let completed = self.by_last_variable();
        // INVARIANT: the first variables have a value, by its position in the domain.
        let mut chosen: Vec<usize> = vec![0];
        // The earlier variables on which it rests that the values of each so far are excluded.
        let mut blamed: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.domains.len()];
        let mut tried = 0;
        loop {
            poll.step()?;
            tried += 1;
            if tried > most_tried {
                return Ok(Found::TooMany);
            }
            let variable = chosen.len() - 1;
            if chosen[variable] == self.domains[variable].len() {
                let mut reasons = std::mem::take(&mut blamed[variable]);
                let Some(back) = reasons.pop_last() else {
                    return Ok(Found::Nothing);
                };
                blamed[back + 1..].iter_mut().for_each(BTreeSet::clear);
                blamed[back].append(&mut reasons);
                chosen.truncate(back + 1);
                chosen[back] += 1;
                continue;
            }
            let is_made = |(variable, value): &(usize, u32)| {
                self.domains[*variable].get(chosen[*variable]) == Some(value)
            };
            let excluding = completed[variable].iter().map(|at| &self.nogoods[*at]);
            if let Some(nogood) = excluding.into_iter().find(|nogood| nogood.iter().all(is_made)) {
                let others = nogood.iter().map(|(other, _)| *other);
                blamed[variable].extend(others.filter(|other| *other != variable));
                chosen[variable] += 1;
            } else if chosen.len() == self.domains.len() {
                let values = self.domains.iter().zip(&chosen).map(|(domain, at)| domain[*at]);
                return Ok(Found::Values(values.collect()));
            } else {
                chosen.push(0);
            }
        }
    }

    /// For each variable the nogoods of which it is the last one.
    fn by_last_variable(&self) -> Vec<Vec<usize>> {
        let mut of = vec![Vec::new(); self.domains.len()];
        for (at, nogood) in self.nogoods.iter().enumerate() {
            if let Some(last) = nogood.iter().map(|(variable, _)| *variable).max() {
                of[last].push(at);
            }
        }
        of
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use linchpin_verdict::Limits;

    fn is_allowed(problem: &Problem, values: &[u32]) -> bool {
        let is_made = |(variable, value): &(usize, u32)| values[*variable] == *value;
        !problem.nogoods.iter().any(|nogood| nogood.iter().all(is_made))
    }

    /// Whether some values are allowed, by trying all.
    fn is_solvable(problem: &Problem, values: &mut Vec<u32>) -> bool {
        let Some(domain) = problem.domains.get(values.len()) else {
            return is_allowed(problem, values);
        };
        domain.iter().any(|value| {
            values.push(*value);
            let found = is_solvable(problem, values);
            values.pop();
            found
        })
    }

    fn random_problem(rng: &mut Rng) -> Problem {
        let variables = rng.usize(1..7);
        let domains: Vec<Vec<u32>> = (0..variables).map(|_| (0..rng.u32(1..4)).collect()).collect();
        let nogood = |rng: &mut Rng| {
            let mut all: Vec<usize> = (0..variables).collect();
            rng.shuffle(&mut all);
            all.truncate(rng.usize(1..4));
            let value = |variable: usize, rng: &mut Rng| rng.u32(..domains[variable].len() as u32);
            all.into_iter().map(|variable| (variable, value(variable, rng))).collect()
        };
        let nogoods = (0..rng.usize(..30)).map(|_| nogood(rng)).collect();
        Problem { domains, nogoods }
    }

    #[test]
    fn values_are_found_if_and_only_if_there_are_some() {
        let seed =
            std::env::var("LINCHPIN_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7);
        println!("LINCHPIN_SEED={seed}");
        let (mut rng, limits) = (Rng::with_seed(seed), Limits::default());
        let poll = StopPoll::new(&limits);
        let (mut solved, mut excluded) = (0, 0);
        for _ in 0..5_000 {
            let problem = random_problem(&mut rng);
            let expected = is_solvable(&problem, &mut Vec::new());
            match problem.solve(usize::MAX, &poll) {
                Ok(Found::Values(values)) => {
                    solved += 1;
                    assert!(is_allowed(&problem, &values), "{values:?} {:?}", problem.nogoods);
                }
                Ok(Found::Nothing) => {
                    excluded += 1;
                    assert!(!expected, "{:?} {:?}", problem.domains, problem.nogoods);
                }
                other => panic!("{other:?}"),
            }
        }
        println!("{solved} solved, {excluded} excluded");
        assert!(solved > 500 && excluded > 500);
    }
}
