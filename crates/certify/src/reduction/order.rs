//! How unknown integers compare, as far as it has been decided: for each two of them the most that
//! one can exceed the other by.
//!
//! These are difference bounds: `a - b <= n` and `b - c <= m` give `a - c <= n + m`. As long as
//! nothing makes the difference of a number and itself negative there are whole numbers with all
//! these bounds. Numbers that differ are kept apart from that, as pairs whose difference is not a
//! certain one; several of those together may rule out more than is noticed here, and then states
//! are tried that do not exist, which is harmless.

use std::collections::BTreeSet;

/// An integer: an unknown one and how much is added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number {
    pub of: usize,
    pub plus: i64,
}

/// What is added to this one is a constant.
const ZERO: usize = 0;
/// The first that is neither zero nor the `ID` of one of two instances.
pub const FIRST_UNKNOWN: usize = 3;

impl Number {
    pub fn constant(value: i64) -> Number {
        Number { of: ZERO, plus: value }
    }

    /// `ID` of an instance.
    pub fn identity(who: usize) -> Number {
        Number { of: 1 + who, plus: 0 }
    }

    /// It takes more statements than fit into a file for that to overflow, since constants are
    /// small.
    pub fn plus(self, offset: i64) -> Number {
        Number { plus: self.plus.saturating_add(offset), ..self }
    }
}

pub const LESS: u8 = 1;
pub const EQUAL: u8 = 2;
pub const GREATER: u8 = 4;
pub const ANY: u8 = LESS | EQUAL | GREATER;

/// No bound.
const OPEN: i128 = i128::MAX;

#[derive(Clone, Debug, Default)]
pub struct Order {
    /// The unknown numbers of which something is known.
    nodes: Vec<usize>,
    /// `most[a][b]` is the most that `a - b` can be. INVARIANT: no two of these bounds together
    /// give a smaller one.
    most: Vec<Vec<i128>>,
    /// Two nodes, and what their difference is not.
    unequal: Vec<(usize, usize, i128)>,
}

impl Order {
    /// What is known of the `ID`s of two instances: they are positive, they differ, and no constant
    /// of the model is one.
    pub fn of_identities(constants: &BTreeSet<i64>) -> Order {
        let mut order = Order::default();
        let apart = LESS | GREATER;
        for who in 0..2 {
            let identity = Number::identity(who);
            order.restrict(identity, Number::constant(0), GREATER);
            for constant in constants.iter().filter(|constant| **constant > 0) {
                order.restrict(identity, Number::constant(*constant), apart);
            }
        }
        order.restrict(Number::identity(0), Number::identity(1), apart);
        order
    }

    /// How the first may compare with the second.
    pub fn possible(&self, one: Number, other: Number) -> u8 {
        let apart = apart(one, other);
        if one.of == other.of {
            return if apart < 0 {
                LESS
            } else if apart == 0 {
                EQUAL
            } else {
                GREATER
            };
        }
        let (Some(one), Some(other)) = (self.find(one.of), self.find(other.of)) else {
            return ANY;
        };
        let (above, below) = (self.most[one][other], self.most[other][one]);
        let mut ways = 0;
        if below > apart {
            ways |= LESS;
        }
        if above > -apart {
            ways |= GREATER;
        }
        if below >= apart && above >= -apart && !self.differ(one, other, -apart) {
            ways |= EQUAL;
        }
        ways
    }

    /// Decides that they compare in one of these ways; false if that cannot be.
    pub fn restrict(&mut self, one: Number, other: Number, ways: u8) -> bool {
        let apart = apart(one, other);
        let (one, other) = (self.node(one.of), self.node(other.of));
        let strictly = i128::from(ways & EQUAL == 0);
        if ways == LESS | GREATER {
            self.unequal.push((one, other, -apart));
        }
        (ways & GREATER != 0 || self.at_most(one, other, -apart - strictly))
            && (ways & LESS != 0 || self.at_most(other, one, apart - strictly))
            && self.keep_apart()
    }

    /// `one - other` is at most this; false if that cannot be.
    fn at_most(&mut self, one: usize, other: usize, bound: i128) -> bool {
        if self.most[one][other] <= bound {
            return true;
        }
        if sum(self.most[other][one], bound) < 0 {
            return false;
        }
        for from in 0..self.nodes.len() {
            let near = sum(self.most[from][one], bound);
            if near == OPEN {
                continue;
            }
            for to in 0..self.nodes.len() {
                let far = sum(near, self.most[other][to]);
                self.most[from][to] = self.most[from][to].min(far);
            }
        }
        true
    }

    /// What a difference is not cannot be the most or the least that it is.
    fn keep_apart(&mut self) -> bool {
        let mut at = 0;
        while let Some((one, other, by)) = self.unequal.get(at).copied() {
            at += 1;
            for (one, other, by) in [(one, other, by), (other, one, -by)] {
                if self.most[one][other] == by {
                    if !self.at_most(one, other, by - 1) {
                        return false;
                    }
                    at = 0; // which may be the most that another difference is not
                }
            }
        }
        true
    }

    /// Whether `one - other` is known not to be this.
    fn differ(&self, one: usize, other: usize, by: i128) -> bool {
        let implies = |left: usize, right: usize, not: i128| {
            let (near, far) = (self.difference(left, one), self.difference(other, right));
            near.zip(far).is_some_and(|(near, far)| near + by + far == not)
        };
        self.unequal
            .iter()
            .any(|(left, right, not)| implies(*left, *right, *not) || implies(*right, *left, -not))
    }

    /// `one - other`, if that is decided.
    fn difference(&self, one: usize, other: usize) -> Option<i128> {
        let most = self.most[one][other];
        (most != OPEN && self.most[other][one] == -most).then_some(most)
    }

    fn find(&self, of: usize) -> Option<usize> {
        self.nodes.iter().position(|node| *node == of)
    }

    fn node(&mut self, of: usize) -> usize {
        if let Some(at) = self.find(of) {
            return at;
        }
        for row in &mut self.most {
            row.push(OPEN);
        }
        self.nodes.push(of);
        let mut row = vec![OPEN; self.nodes.len()];
        row[self.nodes.len() - 1] = 0;
        self.most.push(row);
        self.nodes.len() - 1
    }
}

/// By how much more is added to one than to the other.
fn apart(one: Number, other: Number) -> i128 {
    i128::from(one.plus) - i128::from(other.plus)
}

fn sum(one: i128, other: i128) -> i128 {
    if one == OPEN || other == OPEN { OPEN } else { one + other }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a number is, if the first unknown ones are these.
    fn value(number: Number, unknown: &[i64]) -> i64 {
        number.plus + if number.of == ZERO { 0 } else { unknown[number.of - FIRST_UNKNOWN] }
    }

    fn compares(one: i64, other: i64) -> u8 {
        match one.cmp(&other) {
            std::cmp::Ordering::Less => LESS,
            std::cmp::Ordering::Equal => EQUAL,
            std::cmp::Ordering::Greater => GREATER,
        }
    }

    /// Random comparisons of three unknown numbers and constants, beside all values that make them
    /// true: none may be ruled out, and what is not ruled out must have one, unless numbers that
    /// only differ are many.
    #[test]
    fn no_numbers_are_overlooked() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut all = Vec::new();
        for at in 0..25_i64.pow(3) {
            all.push([at % 25 - 12, at / 25 % 25 - 12, at / 625 - 12]);
        }
        let (mut impossible, mut more) = (0, 0);
        for _ in 0..3_000 {
            let mut order = Order::default();
            let mut left = all.clone();
            for _ in 0..random.usize(1..6) {
                let mut number = || match random.usize(..4) {
                    3 => Number::constant(random.i64(-1..=1)),
                    at => Number { of: FIRST_UNKNOWN + at, plus: random.i64(-1..=1) },
                };
                let (one, other) = (number(), number());
                let way = |unknown: &[i64; 3]| compares(value(one, unknown), value(other, unknown));
                let possible = order.possible(one, other);
                let real = left.iter().fold(0, |ways, unknown| ways | way(unknown));
                assert_eq!(real & !possible, 0, "{one:?} and {other:?} in {order:?}");
                more += usize::from(real != possible);
                let ways = random.u8(1..ANY);
                left.retain(|unknown| way(unknown) & ways != 0);
                let accepted = order.restrict(one, other, ways);
                assert!(accepted || left.is_empty(), "{one:?} and {other:?} in {order:?}");
                if left.is_empty() {
                    impossible += 1;
                    more += usize::from(accepted);
                    break;
                }
            }
        }
        assert!(impossible > 300 && more < 30, "{impossible} impossible, {more} not noticed");
    }

    #[test]
    fn identities_differ_and_may_be_in_any_order() {
        let order = Order::of_identities(&BTreeSet::from([0, 1, 5]));
        let (one, other) = (Number::identity(0), Number::identity(1));
        assert_eq!(order.possible(one, other), LESS | GREATER);
        assert_eq!(order.possible(one, Number::constant(1)), GREATER);
        assert_eq!(order.possible(one, Number::constant(5)), LESS | GREATER);
        assert_eq!(order.possible(one, Number::constant(7)), ANY);
        assert_eq!(order.possible(one, other.plus(1)), ANY);
    }
}
