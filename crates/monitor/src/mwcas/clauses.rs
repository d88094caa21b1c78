//! Choices: a small solver for "one of these, or not one of those".

/// One of `positive` is chosen, or one of `negative` is not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clause {
    pub(super) positive: Vec<usize>,
    pub(super) negative: Vec<usize>,
}

/// What the solver found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Solution {
    /// For each variable whether it is chosen: as few as the search came along with.
    Chosen(Vec<bool>),
    /// No choice fulfils the clauses.
    Impossible,
    /// The effort was not enough to tell.
    GaveUp,
}

/// A choice that fulfils all clauses. `effort` is how many choices may be tried, and is used up.
pub(super) fn solve(variables: usize, clauses: &[&Clause], effort: &mut usize) -> Solution {
    let mut solver = Solver { clauses, values: vec![None; variables], effort };
    match solver.search() {
        Some(true) => {
            let values = solver.values;
            Solution::Chosen(values.into_iter().map(|value| value == Some(true)).collect())
        }
        Some(false) => Solution::Impossible,
        None => Solution::GaveUp,
    }
}

struct Solver<'a> {
    clauses: &'a [&'a Clause],
    /// What is decided. What is not counts as not chosen.
    values: Vec<Option<bool>>,
    effort: &'a mut usize,
}

impl Solver<'_> {
    /// Whether what is decided can be completed; `None` if the effort is used up.
    fn search(&mut self) -> Option<bool> {
        *self.effort = self.effort.checked_sub(1)?;
        let chosen = |values: &[Option<bool>], at: usize| values[at] == Some(true);
        let broken = self.clauses.iter().find(|clause| {
            !clause.positive.iter().any(|&at| chosen(&self.values, at))
                && clause.negative.iter().all(|&at| chosen(&self.values, at))
        });
        let Some(broken) = broken else {
            return Some(true);
        };
        // INVARIANT: only choosing one of the positive ones mends it: the negative ones are
        // decided.
        let open: Vec<usize> =
            broken.positive.iter().copied().filter(|&at| self.values[at].is_none()).collect();
        for &at in &open {
            self.values[at] = Some(true);
            if self.search()? {
                return Some(true);
            }
            self.values[at] = Some(false);
        }
        for at in open {
            self.values[at] = None;
        }
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fulfils(clauses: &[Clause], chosen: &[bool]) -> bool {
        clauses.iter().all(|clause| {
            clause.positive.iter().any(|&at| chosen[at])
                || clause.negative.iter().any(|&at| !chosen[at])
        })
    }

    #[test]
    fn agrees_with_trying_every_choice() {
        const VARIABLES: usize = 5;
        let mut random = fastrand::Rng::with_seed(1);
        let mut possible = 0;
        for _ in 0..2000 {
            let literals = |random: &mut fastrand::Rng| {
                (0..VARIABLES).filter(|_| random.u8(..4) == 0).collect::<Vec<_>>()
            };
            let clauses: Vec<Clause> = (0..random.usize(..12))
                .map(|_| Clause {
                    positive: literals(&mut random),
                    negative: literals(&mut random),
                })
                .collect();
            let choice =
                |bits: usize| (0..VARIABLES).map(|at| bits >> at & 1 == 1).collect::<Vec<_>>();
            let exists = (0..1 << VARIABLES).any(|bits| fulfils(&clauses, &choice(bits)));
            let references: Vec<&Clause> = clauses.iter().collect();
            match solve(VARIABLES, &references, &mut 1000) {
                Solution::Chosen(chosen) => assert!(fulfils(&clauses, &chosen), "{clauses:?}"),
                Solution::Impossible => assert!(!exists, "{clauses:?}"),
                Solution::GaveUp => panic!("{clauses:?}"),
            }
            possible += u32::from(exists);
        }
        assert!((200..1800).contains(&possible), "{possible}");
    }

    #[test]
    fn gives_up() {
        let clause = Clause { positive: vec![0], negative: vec![] };
        assert_eq!(solve(1, &[&clause], &mut 1), Solution::GaveUp);
    }
}
