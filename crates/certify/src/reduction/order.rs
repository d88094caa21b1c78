//! How unknown integers compare, as far as it has been decided: for each two of them which of `<`, `=` and `>` are still possible.
//!
//! This is the point algebra: if restricting every two by every third leaves each pair a possibility, then there are numbers that
//! compare so. (Between neighbouring constants there is none; anything else that only whole numbers rule out is tried in vain, which is harmless.)

use super::world::V;

pub const LESS: u8 = 1;
pub const EQUAL: u8 = 2;
pub const GREATER: u8 = 4;
const ANY: u8 = LESS | EQUAL | GREATER;

#[derive(Default)]
pub struct Order {
    /// Constants and unknown numbers.
    nodes: Vec<V>,
    /// INVARIANT: `possible[a][b]` is `possible[b][a]` inverted.
    possible: Vec<Vec<u8>>,
}

impl Order {
    /// How the first may compare with the second.
    pub fn possible(&self, one: V, other: V) -> u8 {
        match (one, other) {
            _ if one == other => EQUAL,
            (V::Int(one), V::Int(other)) => exactly(one, other),
            _ => match (self.find(one), self.find(other)) {
                (Some(one), Some(other)) => self.possible[one][other],
                _ => ANY,
            },
        }
    }

    /// Decides that they compare in one of these ways; false if that cannot be.
    pub fn restrict(&mut self, one: V, other: V, ways: u8) -> bool {
        let (one, other) = (self.node(one), self.node(other));
        let mut changed = Vec::new();
        if !self.narrow(one, other, ways, &mut changed) {
            return false;
        }
        while let Some((one, other)) = changed.pop() {
            for third in (0..self.nodes.len()).filter(|third| *third != one && *third != other) {
                let far = then(self.possible[one][other], self.possible[other][third]);
                let near = then(self.possible[third][one], self.possible[one][other]);
                if !self.narrow(one, third, far, &mut changed)
                    || !self.narrow(third, other, near, &mut changed)
                {
                    return false;
                }
            }
        }
        !self.is_between_neighbours()
    }

    fn narrow(
        &mut self,
        one: usize,
        other: usize,
        ways: u8,
        changed: &mut Vec<(usize, usize)>,
    ) -> bool {
        let left = self.possible[one][other] & ways;
        if left != self.possible[one][other] {
            self.possible[one][other] = left;
            self.possible[other][one] = inverted(left);
            changed.push((one, other));
        }
        left != 0
    }

    /// Whether some number is above a constant and below the next.
    fn is_between_neighbours(&self) -> bool {
        let constants = || {
            self.nodes.iter().enumerate().filter_map(|(at, v)| match v {
                V::Int(value) => Some((at, *value)),
                _ => None,
            })
        };
        constants().any(|(low, value)| {
            constants().filter(|(_, next)| *next == value + 1).any(|(high, _)| {
                let row = |at: &usize| {
                    self.possible[*at][low] == GREATER && self.possible[*at][high] == LESS
                };
                (0..self.nodes.len()).any(|at| row(&at))
            })
        })
    }

    fn find(&self, value: V) -> Option<usize> {
        self.nodes.iter().position(|node| *node == value)
    }

    fn node(&mut self, value: V) -> usize {
        if let Some(at) = self.find(value) {
            return at;
        }
        let row: Vec<u8> = self.nodes.iter().map(|node| self.possible(value, *node)).collect();
        for (other, ways) in self.possible.iter_mut().zip(&row) {
            other.push(inverted(*ways));
        }
        self.possible.push([row, vec![EQUAL]].concat());
        self.nodes.push(value);
        self.nodes.len() - 1
    }
}

fn exactly(one: i64, other: i64) -> u8 {
    match one.cmp(&other) {
        std::cmp::Ordering::Less => LESS,
        std::cmp::Ordering::Equal => EQUAL,
        std::cmp::Ordering::Greater => GREATER,
    }
}

fn inverted(ways: u8) -> u8 {
    (ways & EQUAL) | ((ways & LESS) << 2) | ((ways & GREATER) >> 2)
}

/// How the first may compare with the third, if it compares with the second in `one` of these ways, and the second with the third in `other`.
fn then(one: u8, other: u8) -> u8 {
    let mut ways = 0;
    for first in [LESS, EQUAL, GREATER].into_iter().filter(|way| one & way != 0) {
        for second in [LESS, EQUAL, GREATER].into_iter().filter(|way| other & way != 0) {
            ways |= match (first, second) {
                (EQUAL, way) | (way, EQUAL) => way,
                (first, second) if first == second => first,
                _ => ANY,
            };
        }
    }
    ways
}
