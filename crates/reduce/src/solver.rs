//! What is known about a handful of unknown values: equalities with constant offsets (a weighted
//! union-find), disequalities, and difference bounds between integers.
//!
//! The answers `Some(true)` and `Some(false)` follow from what was asserted. `None` means that
//! nothing was found out: the solver is incomplete for disequalities between bounded integers,
//! which costs proofs but never soundness, for every caller treats `None` as "may be either".

use std::rc::Rc;

/// An unknown value plus a constant; the constant is zero unless the value is an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    pub var: u16,
    pub plus: i64,
}

/// A contradiction with what was asserted before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction;

/// What is known of a class of equal values besides its equalities.
pub mod flag {
    /// A particular constant or object: two of these are never equal.
    pub const UNIQUE: u8 = 1;
    /// Allocated during the run.
    pub const FRESH: u8 = 2;
    /// Existed before the run.
    pub const OLD: u8 = 4;
    /// Neither `NULL` nor poison.
    pub const PROPER: u8 = 8;
    /// `NULL` or poison.
    pub const IMPROPER: u8 = 16;
    /// Stood in a shared location before the run.
    pub const PUBLISHED: u8 = 32;
}

/// The integer 0, base of all constants.
pub const ZERO: Value = Value { var: 0, plus: 0 };
/// `NULL`
pub const NULL: Value = Value { var: 1, plus: 0 };
/// What `free` leaves, and sums that are not defined.
pub const POISON: Value = Value { var: 2, plus: 0 };

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u16,
    plus: i64,
    flags: u8,
    /// Of a root: the roots that it is known to differ from, as far as both are among the first
    /// [`MASKED`].
    apart: u64,
}

/// How many values have their disequalities in masks; those of others, and those with an offset,
/// are in a list.
const MASKED: u16 = 64;

/// `left - right != gap`
#[derive(Clone, Copy, Debug)]
struct Apart {
    left: u16,
    right: u16,
    gap: i64,
}

#[derive(Debug, Default)]
pub struct Solver {
    nodes: Vec<Node>,
    /// INVARIANT: between roots. Only what the masks of the roots cannot say.
    unequal: Vec<Apart>,
    /// All bounds between roots that follow from what was asserted; `None` if no order was.
    bounds: Option<Rc<Bounds>>,
}

/// A copy with room to grow: it is made to be added to.
pub fn roomy<T: Clone>(items: &[T]) -> Vec<T> {
    let mut copy = Vec::with_capacity(items.len() + items.len() / 2 + 8);
    copy.extend_from_slice(items);
    copy
}

impl Clone for Solver {
    fn clone(&self) -> Solver {
        let Solver { nodes, unequal, bounds } = self;
        Solver { nodes: roomy(nodes), unequal: roomy(unequal), bounds: bounds.clone() }
    }
}

impl Solver {
    pub fn new() -> Solver {
        let mut solver = Solver::default();
        solver.fresh_value(flag::UNIQUE | flag::PROPER);
        solver.fresh_value(flag::UNIQUE | flag::IMPROPER);
        solver.fresh_value(flag::UNIQUE | flag::IMPROPER);
        solver
    }

    /// A value of which only the flags are known.
    pub fn fresh_value(&mut self, flags: u8) -> Value {
        // The search over cases looks whether it is full, and concludes nothing then.
        if self.is_full() {
            return Value { var: u16::MAX - 1, plus: 0 };
        }
        let var = self.nodes.len() as u16;
        self.nodes.push(Node { parent: var, plus: 0, flags, apart: 0 });
        Value { var, plus: 0 }
    }

    /// Whether there is no room for another value.
    pub fn is_full(&self) -> bool {
        self.nodes.len() >= usize::from(u16::MAX)
    }

    /// The number of unknown values.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The representative: `value == root + plus`.
    pub fn find(&self, value: Value) -> Value {
        // INVARIANT: every node's parent is a root.
        let node = self.nodes[value.var as usize];
        Value { var: node.parent, plus: value.plus + node.plus }
    }

    pub fn has(&self, value: Value, flag: u8) -> bool {
        self.nodes[self.find(value).var as usize].flags & flag != 0
    }

    /// Whether the value is known to be proper, or improper.
    pub fn proper(&self, value: Value) -> Option<bool> {
        if self.has(value, flag::PROPER) {
            return Some(true);
        }
        if self.has(value, flag::IMPROPER) {
            return Some(false);
        }
        let apart = |other| self.same(value, other) == Some(false);
        (apart(NULL) && apart(POISON)).then_some(true)
    }

    pub fn add_flag(&mut self, value: Value, flag: u8) -> Result<(), Contradiction> {
        let root = self.find(value).var as usize;
        self.nodes[root].flags |= flag;
        if contradictory(self.nodes[root].flags) { Err(Contradiction) } else { Ok(()) }
    }

    pub fn assert_proper(&mut self, value: Value) -> Result<(), Contradiction> {
        match self.proper(value) {
            Some(false) => Err(Contradiction),
            _ => self.add_flag(value, flag::PROPER),
        }
    }

    /// Whether two values are known to be equal, or different.
    pub fn same(&self, left: Value, right: Value) -> Option<bool> {
        let (left, right) = (self.find(left), self.find(right));
        if left.var == right.var {
            return Some(left.plus == right.plus);
        }
        let (a, b) = (self.nodes[left.var as usize].flags, self.nodes[right.var as usize].flags);
        if a & b & flag::UNIQUE != 0 || contradictory(a | b) {
            return Some(false);
        }
        // An integer's constant offset never reaches something that is no integer.
        let gap = right.plus - left.plus;
        if gap == 0 && self.masked(left.var, right.var) {
            return Some(false);
        }
        let forbids = |apart: &Apart| {
            (apart.left, apart.right, apart.gap) == (left.var, right.var, gap)
                || (apart.left, apart.right, apart.gap) == (right.var, left.var, -gap)
        };
        if self.unequal.iter().any(forbids) {
            return Some(false);
        }
        if let Some(bounds) = &self.bounds {
            let up = bounds.between(left.var, right.var);
            let down = bounds.between(right.var, left.var);
            if up.is_some_and(|bound| bound < gap) || down.is_some_and(|bound| bound < -gap) {
                return Some(false);
            }
        }
        None
    }

    pub fn assert_same(&mut self, left: Value, right: Value) -> Result<(), Contradiction> {
        match self.same(left, right) {
            Some(true) => return Ok(()),
            Some(false) => return Err(Contradiction),
            None => {}
        }
        let (left, right) = (self.find(left), self.find(right));
        let flags = self.nodes[left.var as usize].flags | self.nodes[right.var as usize].flags;
        if contradictory(flags) {
            return Err(Contradiction);
        }
        // left.var + left.plus == right.var + right.plus
        let shift = right.plus - left.plus;
        for node in &mut self.nodes {
            if node.parent == left.var {
                node.parent = right.var;
                node.plus += shift;
            }
        }
        self.nodes[right.var as usize].flags = flags;
        let mask = std::mem::take(&mut self.nodes[left.var as usize].apart);
        for other in (0..MASKED).filter(|other| mask >> other & 1 == 1) {
            self.nodes[other as usize].apart &= !(1 << left.var);
            // left.var - other != 0
            self.set_apart(Apart { left: right.var, right: other, gap: -shift })?;
        }
        for apart in &mut self.unequal {
            if apart.left == left.var {
                (apart.left, apart.gap) = (right.var, apart.gap - shift);
            }
            if apart.right == left.var {
                (apart.right, apart.gap) = (right.var, apart.gap + shift);
            }
            if apart.left == apart.right && apart.gap == 0 {
                return Err(Contradiction);
            }
        }
        // What is not ordered does not change what is known of the order.
        let ordered =
            |bounds: &Rc<Bounds>| bounds.row(left.var).is_some() || bounds.row(right.var).is_some();
        if self.bounds.as_ref().is_some_and(ordered) {
            self.order(|bounds| bounds.merge(left.var, right.var, shift))
        } else {
            Ok(())
        }
    }

    /// Whether the masks of two roots say that they differ.
    fn masked(&self, left: u16, right: u16) -> bool {
        left < MASKED && right < MASKED && self.nodes[left as usize].apart >> right & 1 == 1
    }

    fn set_apart(&mut self, apart: Apart) -> Result<(), Contradiction> {
        let Apart { left, right, gap } = apart;
        if left == right {
            return if gap == 0 { Err(Contradiction) } else { Ok(()) };
        }
        if gap == 0 && left < MASKED && right < MASKED {
            self.nodes[left as usize].apart |= 1 << right;
            self.nodes[right as usize].apart |= 1 << left;
        } else {
            self.unequal.push(apart);
        }
        Ok(())
    }

    pub fn assert_different(&mut self, left: Value, right: Value) -> Result<(), Contradiction> {
        match self.same(left, right) {
            Some(true) => return Err(Contradiction),
            Some(false) => return Ok(()),
            None => {}
        }
        let (a, b) = (self.find(left), self.find(right));
        self.set_apart(Apart { left: a.var, right: b.var, gap: b.plus - a.plus })?;
        // Only a disequality between values that are ordered changes what is known of the order.
        let ordered =
            |bounds: &Rc<Bounds>| bounds.row(a.var).is_some() && bounds.row(b.var).is_some();
        if self.bounds.as_ref().is_some_and(ordered) { self.order(|_| {}) } else { Ok(()) }
    }

    /// `left <= right + slack`, both integers.
    pub fn assert_at_most(
        &mut self,
        left: Value,
        right: Value,
        slack: i64,
    ) -> Result<(), Contradiction> {
        self.assert_proper(left)?;
        self.assert_proper(right)?;
        match self.at_most(left, right, slack) {
            Some(true) => return Ok(()),
            Some(false) => return Err(Contradiction),
            None => {}
        }
        let (a, b) = (self.find(left), self.find(right));
        self.order(|bounds| bounds.add(a.var, b.var, b.plus - a.plus + slack))?;
        // Two bounds that meet are an equality.
        if self.at_most(right, left, -slack) == Some(true) {
            self.assert_same(left, Value { plus: right.plus + slack, ..right })?;
        }
        Ok(())
    }

    /// Whether `left <= right + slack` is known of two integers.
    pub fn at_most(&self, left: Value, right: Value, slack: i64) -> Option<bool> {
        let (a, b) = (self.find(left), self.find(right));
        let wanted = b.plus - a.plus + slack;
        if a.var == b.var {
            return Some(0 <= wanted);
        }
        let bounds = self.bounds.as_ref()?;
        if bounds.between(a.var, b.var).is_some_and(|bound| bound <= wanted) {
            return Some(true);
        }
        if bounds.between(b.var, a.var).is_some_and(|bound| bound < -wanted) {
            return Some(false);
        }
        None
    }

    /// Changes what is known of the order; disequalities sharpen bounds by one.
    fn order(&mut self, change: impl FnOnce(&mut Bounds)) -> Result<(), Contradiction> {
        let mut all = self.bounds.take().unwrap_or_default();
        let bounds = Rc::make_mut(&mut all);
        change(bounds);
        let mut sharper = true;
        while sharper && bounds.consistent() {
            sharper = false;
            for Apart { left, right, gap } in &self.unequal {
                for (left, right, gap) in [(*left, *right, *gap), (*right, *left, -gap)] {
                    sharper |= bounds.sharpen(left, right, gap);
                }
            }
            for left in bounds.roots.clone() {
                for right in bounds.roots.clone() {
                    sharper |= self.masked(left, right) && bounds.sharpen(left, right, 0);
                }
            }
        }
        let consistent = bounds.consistent();
        self.bounds = Some(all);
        if consistent { Ok(()) } else { Err(Contradiction) }
    }
}

fn contradictory(flags: u8) -> bool {
    let both = |a: u8, b: u8| flags & a != 0 && flags & b != 0;
    both(flag::FRESH, flag::OLD) || both(flag::PROPER, flag::IMPROPER)
}

/// Upper bounds of the differences between a few roots, closed under addition.
#[derive(Clone, Debug, Default)]
struct Bounds {
    roots: Vec<u16>,
    /// Row after row, as wide as there are roots.
    table: Vec<Option<i64>>,
}

impl Bounds {
    fn row(&self, root: u16) -> Option<usize> {
        self.roots.iter().position(|known| *known == root)
    }

    fn between(&self, left: u16, right: u16) -> Option<i64> {
        self.table[self.row(left)? * self.roots.len() + self.row(right)?]
    }

    /// The row of a root, new if it has none.
    fn require_row(&mut self, root: u16) -> usize {
        if let Some(row) = self.row(root) {
            return row;
        }
        let size = self.roots.len();
        let mut table = Vec::with_capacity((size + 1) * (size + 1));
        for row in 0..size {
            table.extend_from_slice(&self.table[row * size..(row + 1) * size]);
            table.push(None);
        }
        table.resize((size + 1) * (size + 1), None);
        table[(size + 1) * (size + 1) - 1] = Some(0);
        self.table = table;
        self.roots.push(root);
        size
    }

    /// `left - right <= bound`, and all that follows.
    fn add(&mut self, left: u16, right: u16, bound: i64) {
        let (left, right) = (self.require_row(left), self.require_row(right));
        let size = self.roots.len();
        for from in 0..size {
            let Some(first) = self.table[from * size + left] else { continue };
            for to in 0..size {
                let Some(second) = self.table[right * size + to] else { continue };
                let cell = &mut self.table[from * size + to];
                let sum = first.saturating_add(bound).saturating_add(second);
                if cell.is_none_or(|known| sum < known) {
                    *cell = Some(sum);
                }
            }
        }
    }

    /// If `left - right` is at most `gap`, it is less than that, for they differ by something else.
    /// Whether that is new.
    fn sharpen(&mut self, left: u16, right: u16, gap: i64) -> bool {
        let sharper = self.between(left, right) == Some(gap);
        if sharper {
            self.add(left, right, gap.saturating_sub(1));
        }
        sharper
    }

    /// `left == right + shift`; from now on `right` stands for both.
    fn merge(&mut self, left: u16, right: u16, shift: i64) {
        if self.row(left).is_none() {
            return;
        }
        self.add(left, right, shift);
        self.add(right, left, -shift);
        let (size, gone) = (self.roots.len(), self.row(left));
        let mut at = 0;
        self.table.retain(|_| {
            at += 1;
            Some((at - 1) / size) != gone && Some((at - 1) % size) != gone
        });
        self.roots.retain(|root| *root != left);
    }

    fn consistent(&self) -> bool {
        let size = self.roots.len();
        (0..size).all(|at| self.table[at * size + at].is_none_or(|bound| bound >= 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equalities_carry_offsets() {
        let mut solver = Solver::new();
        let (a, b) = (solver.fresh_value(0), solver.fresh_value(0));
        let next = |value: Value| Value { plus: value.plus + 1, ..value };
        solver.assert_same(a, next(b)).unwrap();
        assert_eq!(solver.same(next(b), a), Some(true));
        assert_eq!(solver.same(a, b), Some(false));
        solver.assert_same(b, Value { plus: 4, ..ZERO }).unwrap();
        assert_eq!(solver.same(a, Value { plus: 5, ..ZERO }), Some(true));
    }

    #[test]
    fn bounds_and_disequalities_meet() {
        let mut solver = Solver::new();
        let (a, b) = (solver.fresh_value(0), solver.fresh_value(0));
        solver.assert_at_most(a, b, 0).unwrap();
        solver.assert_different(a, b).unwrap();
        assert_eq!(solver.at_most(a, b, -1), Some(true));
        assert!(solver.clone().assert_at_most(b, a, 0).is_err());
    }

    #[test]
    fn what_is_fresh_is_not_old() {
        let mut solver = Solver::new();
        let (a, b) = (solver.fresh_value(flag::FRESH), solver.fresh_value(flag::OLD));
        assert_eq!(solver.same(a, b), Some(false));
        assert_eq!(solver.same(ZERO, NULL), Some(false));
    }
}
