//! Linear expressions over integers, and a small decision procedure: Gaussian elimination, Fourier
//! and Motzkin's elimination, and a split for each disequality. It is sound where it says
//! "unsatisfiable", and says less where a bound is reached.

use std::collections::BTreeMap;

/// Constraints that elimination may produce.
const MOST_CONSTRAINTS: usize = 200;

/// Disequalities that are split one inside the other.
const MOST_SPLITS: usize = 8;

/// An unknown integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub usize);

/// A sum of multiples of symbols and a constant. INVARIANT: no coefficient is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linear {
    coefficients: BTreeMap<Symbol, i128>,
    constant: i128,
}

/// A condition on a sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// It is 0.
    Zero(Linear),
    /// It is not 0.
    NotZero(Linear),
    /// It is at most 0.
    AtMostZero(Linear),
}

impl Linear {
    /// A constant.
    pub fn constant(value: i64) -> Linear {
        Linear { coefficients: BTreeMap::new(), constant: i128::from(value) }
    }

    /// A symbol.
    pub fn symbol(symbol: Symbol) -> Linear {
        Linear { coefficients: BTreeMap::from([(symbol, 1)]), constant: 0 }
    }

    /// The value, if it depends on no symbol.
    pub fn value(&self) -> Option<i64> {
        self.coefficients.is_empty().then(|| i64::try_from(self.constant).ok()).flatten()
    }

    /// `self + factor * other`; nothing if a number gets too large.
    pub fn plus(&self, factor: i64, other: &Linear) -> Option<Linear> {
        self.add(i128::from(factor), other)
    }

    fn add(&self, factor: i128, other: &Linear) -> Option<Linear> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for (symbol, coefficient) in &other.coefficients {
            let more = coefficient.checked_mul(factor)?;
            let new = sum.coefficients.get(symbol).copied().unwrap_or(0).checked_add(more)?;
            if new == 0 {
                sum.coefficients.remove(symbol);
            } else {
                sum.coefficients.insert(*symbol, new);
            }
        }
        Some(sum)
    }

    fn times(&self, factor: i128) -> Option<Linear> {
        Linear::default().add(factor, self)
    }

    fn coefficient(&self, symbol: Symbol) -> i128 {
        self.coefficients.get(&symbol).copied().unwrap_or(0)
    }

    /// With `symbol`, whose coefficient in `equation` is 1 or -1, replaced by what makes `equation`
    /// 0.
    fn eliminate(&self, symbol: Symbol, equation: &Linear) -> Option<Linear> {
        let factor = self.coefficient(symbol).checked_mul(equation.coefficient(symbol))?;
        self.add(factor.checked_neg()?, equation)
    }
}

impl Constraint {
    /// `left == right`
    pub fn equal(left: &Linear, right: &Linear) -> Option<Constraint> {
        left.plus(-1, right).map(Constraint::Zero)
    }

    /// `left <= right + more`
    pub fn at_most(left: &Linear, right: &Linear, more: i64) -> Option<Constraint> {
        left.plus(-1, right)?.plus(-1, &Linear::constant(more)).map(Constraint::AtMostZero)
    }

    /// What holds where this does not.
    pub fn negated(&self) -> Option<Constraint> {
        Some(match self {
            Constraint::Zero(sum) => Constraint::NotZero(sum.clone()),
            Constraint::NotZero(sum) => Constraint::Zero(sum.clone()),
            Constraint::AtMostZero(sum) => Constraint::AtMostZero(above_zero(sum)?),
        })
    }
}

/// `1 - sum`, which is at most 0 where `sum` is above 0.
fn above_zero(sum: &Linear) -> Option<Linear> {
    Linear::constant(1).plus(-1, sum)
}

/// Whether no integers satisfy all constraints. `false` says nothing.
pub fn is_unsatisfiable(constraints: &[Constraint]) -> bool {
    // Where a number gets too large, nothing is concluded.
    unsatisfiable(constraints, MOST_SPLITS).unwrap_or(false)
}

fn unsatisfiable(constraints: &[Constraint], splits: usize) -> Option<bool> {
    let (mut equations, mut sums, mut different) = (Vec::new(), Vec::new(), Vec::new());
    for constraint in constraints {
        match constraint {
            Constraint::Zero(sum) => equations.push(sum.clone()),
            Constraint::AtMostZero(sum) => sums.push(sum.clone()),
            Constraint::NotZero(sum) => different.push(sum.clone()),
        }
    }
    while let Some(equation) = equations.pop() {
        let unit = equation.coefficients.iter().find(|(_, factor)| factor.abs() == 1);
        match unit.map(|(symbol, _)| *symbol) {
            Some(symbol) => {
                for list in [&mut equations, &mut sums, &mut different] {
                    for sum in list.iter_mut() {
                        *sum = sum.eliminate(symbol, &equation)?;
                    }
                }
            }
            None if equation.coefficients.is_empty() => {
                if equation.constant != 0 {
                    return Some(true);
                }
            }
            None => {
                sums.push(equation.times(-1)?);
                sums.push(equation);
            }
        }
    }
    if different.iter().any(|sum| sum.coefficients.is_empty() && sum.constant == 0) {
        return Some(true);
    }
    if no_solution(sums.clone())? {
        return Some(true);
    }
    different.retain(|sum| !sum.coefficients.is_empty());
    let Some(first) = different.pop().filter(|_| splits > 0) else { return Some(false) };
    let mut rest: Vec<Constraint> = sums.into_iter().map(Constraint::AtMostZero).collect();
    rest.extend(different.into_iter().map(Constraint::NotZero));
    for side in [above_zero(&first)?, above_zero(&first.times(-1)?)?] {
        rest.push(Constraint::AtMostZero(side));
        if !unsatisfiable(&rest, splits - 1)? {
            return Some(false);
        }
        rest.pop();
    }
    Some(true)
}

/// Whether the sums cannot all be at most 0, not even with rational numbers (Fourier and Motzkin).
fn no_solution(mut sums: Vec<Linear>) -> Option<bool> {
    loop {
        if sums.iter().any(|sum| sum.coefficients.is_empty() && sum.constant > 0) {
            return Some(true);
        }
        sums.retain(|sum| !sum.coefficients.is_empty());
        let Some(symbol) = sums.iter().find_map(|sum| sum.coefficients.keys().next().copied())
        else {
            return Some(false);
        };
        let (with, mut without): (Vec<Linear>, Vec<Linear>) =
            sums.into_iter().partition(|sum| sum.coefficient(symbol) != 0);
        let (upper, lower): (Vec<Linear>, Vec<Linear>) =
            with.into_iter().partition(|sum| sum.coefficient(symbol) > 0);
        for up in &upper {
            for low in &lower {
                let scaled = up.times(low.coefficient(symbol).checked_neg()?)?;
                without.push(scaled.add(up.coefficient(symbol), low)?);
            }
        }
        if without.len() > MOST_CONSTRAINTS {
            return Some(false);
        }
        sums = without;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    fn random_constraint(rng: &mut Rng) -> Constraint {
        let mut sum = Linear::constant(rng.i64(-4..=4));
        for symbol in 0..3 {
            sum = sum.plus(rng.i64(-2..=2), &Linear::symbol(Symbol(symbol))).unwrap();
        }
        match rng.u8(..3) {
            0 => Constraint::Zero(sum),
            1 => Constraint::NotZero(sum),
            _ => Constraint::AtMostZero(sum),
        }
    }

    fn holds(constraint: &Constraint, values: &[i128; 3]) -> bool {
        let of = |sum: &Linear| {
            let parts = sum.coefficients.iter().map(|(symbol, factor)| factor * values[symbol.0]);
            parts.sum::<i128>() + sum.constant
        };
        match constraint {
            Constraint::Zero(sum) => of(sum) == 0,
            Constraint::NotZero(sum) => of(sum) != 0,
            Constraint::AtMostZero(sum) => of(sum) <= 0,
        }
    }

    #[test]
    fn nothing_that_has_a_solution_is_called_unsatisfiable() {
        let seed = 5;
        println!("seed {seed}");
        let mut rng = Rng::with_seed(seed);
        let (mut solved, mut refuted) = (0, 0);
        for _ in 0..4000 {
            let count = rng.usize(1..7);
            let constraints: Vec<Constraint> =
                (0..count).map(|_| random_constraint(&mut rng)).collect();
            let range = || -6..=6_i128;
            let has_solution = range().any(|x| {
                range().any(|y| {
                    range().any(|z| constraints.iter().all(|part| holds(part, &[x, y, z])))
                })
            });
            let unsatisfiable = is_unsatisfiable(&constraints);
            assert!(!(has_solution && unsatisfiable), "{constraints:?}");
            solved += usize::from(has_solution);
            refuted += usize::from(unsatisfiable);
        }
        assert!(solved > 400 && refuted > 400, "{solved} {refuted}");
    }

    #[test]
    fn a_truth_value_is_false_or_true() {
        let x = Linear::symbol(Symbol(0));
        let zero = Linear::constant(0);
        let constraints = [
            Constraint::at_most(&zero, &x, 0).unwrap(),
            Constraint::at_most(&x, &zero, 1).unwrap(),
            Constraint::NotZero(x.clone()),
            Constraint::NotZero(x.plus(-1, &Linear::constant(1)).unwrap()),
        ];
        assert!(is_unsatisfiable(&constraints));
        assert!(!is_unsatisfiable(&constraints[..3]));
    }
}
