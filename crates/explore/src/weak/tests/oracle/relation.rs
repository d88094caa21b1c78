//! Relations on events, as boolean matrices.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation(Vec<u64>);

impl Relation {
    pub fn new(size: usize) -> Relation {
        assert!(size <= 64);
        Relation(vec![0; size])
    }

    /// All pairs for which this holds.
    pub fn of(size: usize, holds: impl Fn(usize, usize) -> bool) -> Relation {
        let mut relation = Relation::new(size);
        for first in 0..size {
            for second in 0..size {
                if holds(first, second) {
                    relation.add(first, second);
                }
            }
        }
        relation
    }

    /// The identity on a set.
    pub fn set(size: usize, holds: impl Fn(usize) -> bool) -> Relation {
        Relation::of(size, |first, second| first == second && holds(first))
    }

    pub fn add(&mut self, first: usize, second: usize) {
        self.0[first] |= 1 << second;
    }

    pub fn has(&self, first: usize, second: usize) -> bool {
        self.0[first] >> second & 1 == 1
    }

    pub fn then(&self, next: &Relation) -> Relation {
        let row = |row: &u64| {
            let set = (0..self.0.len()).filter(|middle| row >> middle & 1 == 1);
            set.fold(0, |union, middle| union | next.0[middle])
        };
        Relation(self.0.iter().map(row).collect())
    }

    pub fn or(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(mine, theirs)| mine | theirs).collect())
    }

    pub fn and(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(mine, theirs)| mine & theirs).collect())
    }

    pub fn minus(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(mine, theirs)| mine & !theirs).collect())
    }

    pub fn inverse(&self) -> Relation {
        Relation::of(self.0.len(), |first, second| self.has(second, first))
    }

    pub fn maybe(&self) -> Relation {
        self.or(&Relation::set(self.0.len(), |_| true))
    }

    pub fn closure(&self) -> Relation {
        let mut closure = self.clone();
        loop {
            let longer = closure.or(&closure.then(self));
            if longer == closure {
                return closure;
            }
            closure = longer;
        }
    }

    pub fn is_irreflexive(&self) -> bool {
        (0..self.0.len()).all(|event| !self.has(event, event))
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|row| *row == 0)
    }

    pub fn is_acyclic(&self) -> bool {
        self.closure().is_irreflexive()
    }
}
