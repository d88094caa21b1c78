//! What a formula says of one ultimately periodic word, straight from the semantics.
//!
//! Every subformula is given its truth value at each position of prefix and cycle, inner ones
//! first. `until` is a least fixed point and `release` a greatest one; going backwards over the
//! positions twice reaches either, because the last position is followed by the first of the cycle.
//! Counterexamples are held against this before they are reported.

use super::formula::Formula;

/// Whether a formula holds on the word `prefix · cycle · cycle · …` of letters (sets of atoms). An
/// empty cycle stands for letters without atoms for ever.
pub fn holds_on(formula: &Formula, prefix: &[u64], cycle: &[u64]) -> bool {
    let silence = [0];
    let cycle = if cycle.is_empty() { &silence[..] } else { cycle };
    let letters: Vec<u64> = prefix.iter().chain(cycle).copied().collect();
    let word = Word { letters, back: prefix.len() };
    word.truth(formula)[0]
}

struct Word {
    letters: Vec<u64>,
    /// The position after the last one.
    back: usize,
}

impl Word {
    fn after(&self, at: usize) -> usize {
        if at + 1 == self.letters.len() { self.back } else { at + 1 }
    }

    /// The truth value at every position.
    fn truth(&self, formula: &Formula) -> Vec<bool> {
        let positions = 0..self.letters.len();
        match formula {
            Formula::True => vec![true; self.letters.len()],
            Formula::False => vec![false; self.letters.len()],
            Formula::Atom(atom) => {
                self.letters.iter().map(|letter| letter >> atom & 1 == 1).collect()
            }
            Formula::Not(of) => self.truth(of).into_iter().map(|truth| !truth).collect(),
            Formula::And(a, b) => {
                let (a, b) = (self.truth(a), self.truth(b));
                positions.map(|at| a[at] && b[at]).collect()
            }
            Formula::Or(a, b) => {
                let (a, b) = (self.truth(a), self.truth(b));
                positions.map(|at| a[at] || b[at]).collect()
            }
            Formula::Next(of) => {
                let of = self.truth(of);
                positions.map(|at| of[self.after(at)]).collect()
            }
            Formula::Until(a, b) => {
                let (a, b) = (self.truth(a), self.truth(b));
                self.fixed_point(false, &|at, later| b[at] || a[at] && later)
            }
            Formula::Release(a, b) => {
                let (a, b) = (self.truth(a), self.truth(b));
                self.fixed_point(true, &|at, later| b[at] && (a[at] || later))
            }
        }
    }

    fn fixed_point(&self, start: bool, step: &dyn Fn(usize, bool) -> bool) -> Vec<bool> {
        let mut truth = vec![start; self.letters.len()];
        for _ in 0..2 {
            for at in (0..self.letters.len()).rev() {
                truth[at] = step(at, truth[self.after(at)]);
            }
        }
        truth
    }
}
