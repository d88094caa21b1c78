//! The search for a condition: a conjunction of atoms that holds in all cases in which a step is
//! reached and in no other.

use super::atoms::{Atom, and, or};
use linchpin_ir::program::Formula;

/// Clauses are made of atoms that are no harder to read than this.
const SIMPLE: u32 = 3;

/// No more atoms than this are tried in threes.
const MOST_IN_THREES: usize = 60;

/// For each atom, in which cases it is false.
pub struct Table {
    /// The atoms.
    pub atoms: Vec<Atom>,
    /// For each atom, the cases to accept in which it is false.
    pub wrong: Vec<Bits>,
    /// For each atom, the cases to reject in which it is false.
    pub rejects: Vec<Bits>,
    /// How many cases there are to reject.
    pub count: usize,
}

/// A set of cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// None of so many.
    pub fn new(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)])
    }

    /// Puts one in.
    pub fn insert(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn union(&self, other: &Bits) -> Bits {
        Bits(self.0.iter().zip(&other.0).map(|(left, right)| left | right).collect())
    }

    fn intersection(&self, other: &Bits) -> Bits {
        Bits(self.0.iter().zip(&other.0).map(|(left, right)| left & right).collect())
    }

    fn is_disjoint(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).all(|(left, right)| left & right == 0)
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let of = |(at, word): (usize, &u64)| {
            let word = *word;
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
        };
        self.0.iter().enumerate().flat_map(of)
    }
}

/// A conjunct that holds in all cases to accept.
struct Candidate {
    formula: Formula,
    rejects: Bits,
    cost: u32,
    rank: u32,
}

impl Table {
    /// The simplest conjunction that was found, if there is one; `clauses` lets conjuncts be
    /// disjunctions of two atoms.
    pub fn separate(&self, clauses: bool) -> Option<Formula> {
        if self.count == 0 {
            return Some(truth());
        }
        let mut candidates = self.single();
        if clauses {
            candidates.extend(self.clauses());
        }
        // Of two that reject the same the simpler one is enough; earlier ones are preferred.
        candidates.sort_by_key(|candidate| candidate.cost);
        let mut kept: Vec<Candidate> = Vec::new();
        for candidate in candidates {
            if !kept.iter().any(|other| other.rejects == candidate.rejects) {
                kept.push(candidate);
            }
        }
        let chosen = few(&kept, self.count).or_else(|| minimal(&kept, self.count))?;
        let mut chosen: Vec<&Candidate> = chosen.iter().map(|at| &kept[*at]).collect();
        chosen.sort_by_key(|candidate| candidate.rank);
        chosen.into_iter().map(|candidate| candidate.formula.clone()).reduce(and)
    }

    fn single(&self) -> Vec<Candidate> {
        let all = self.atoms.iter().zip(&self.wrong).zip(&self.rejects);
        let good = all.filter(|((_, wrong), rejects)| wrong.is_empty() && !rejects.is_empty());
        good.map(|((atom, _), rejects)| Candidate {
            formula: atom.formula.clone(),
            rejects: rejects.clone(),
            cost: atom.cost,
            rank: atom.rank,
        })
        .collect()
    }

    fn clauses(&self) -> Vec<Candidate> {
        let is_simple = |at: &usize| self.atoms[*at].cost <= SIMPLE && !self.wrong[*at].is_empty();
        let simple: Vec<usize> = (0..self.atoms.len()).filter(is_simple).collect();
        let mut out = Vec::new();
        for (number, left) in simple.iter().enumerate() {
            for right in &simple[number + 1..] {
                if !self.wrong[*left].is_disjoint(&self.wrong[*right]) {
                    continue;
                }
                let rejects = self.rejects[*left].intersection(&self.rejects[*right]);
                if rejects.is_empty() {
                    continue;
                }
                let (left, right) = (&self.atoms[*left], &self.atoms[*right]);
                out.push(Candidate {
                    formula: or(left.formula.clone(), right.formula.clone()),
                    rejects,
                    cost: left.cost + right.cost + 1,
                    rank: left.rank.max(right.rank),
                });
            }
        }
        out
    }
}

/// What always holds.
pub fn truth() -> Formula {
    use linchpin_ir::program::Expr;
    Formula::Local(Expr::Const(linchpin_spec::Value::Bool(true)))
}

/// The cheapest one, two or three candidates that reject everything.
fn few(candidates: &[Candidate], count: usize) -> Option<Vec<usize>> {
    let mut best: Option<(u32, Vec<usize>)> = None;
    let mut offer = |cost: u32, chosen: Vec<usize>| {
        if best.as_ref().is_none_or(|(known, _)| cost < *known) {
            best = Some((cost, chosen));
        }
    };
    let threes = candidates.len() <= MOST_IN_THREES;
    for (i, first) in candidates.iter().enumerate() {
        if first.rejects.len() == count {
            offer(first.cost, vec![i]);
        }
        for (j, second) in candidates.iter().enumerate().skip(i + 1) {
            let both = first.rejects.union(&second.rejects);
            if both.len() == count {
                offer(first.cost + second.cost, vec![i, j]);
            }
            for (k, third) in candidates.iter().enumerate().skip(j + 1).filter(|_| threes) {
                if both.union(&third.rejects).len() == count {
                    offer(first.cost + second.cost + third.cost, vec![i, j, k]);
                }
            }
        }
    }
    best.map(|(_, chosen)| chosen)
}

/// All candidates, less those that can go, the hardest to read first.
fn minimal(candidates: &[Candidate], count: usize) -> Option<Vec<usize>> {
    let mut times = vec![0u32; count];
    for candidate in candidates {
        candidate.rejects.iter().for_each(|case| times[case] += 1);
    }
    if times.contains(&0) {
        return None;
    }
    // INVARIANT: candidates are sorted by cost.
    let mut kept = Vec::new();
    for (at, candidate) in candidates.iter().enumerate().rev() {
        if candidate.rejects.iter().all(|case| times[case] > 1) {
            candidate.rejects.iter().for_each(|case| times[case] -= 1);
        } else {
            kept.push(at);
        }
    }
    kept.reverse();
    Some(kept)
}
