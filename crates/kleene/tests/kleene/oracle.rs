//! Two-valued structures in plain vectors: evaluation by recursion and embedding by trying all
//! functions. Shares with the crate only the formulas as data and the getters of a structure.

use linchpin_kleene::{
    Atom, Formula, Individual, Literal, Predicate, Structure, Truth, Variable, Vocabulary,
};

/// A two-valued structure. Predicates are numbered as the vocabulary lists them.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    pub size: usize,
    /// Per predicate, its values: one, one for each individual, or one for each pair.
    pub values: Vec<Vec<bool>>,
    pub predicates: Vec<Predicate>,
}

pub type Env = [Option<usize>; 6];

pub fn slot(v: Variable) -> usize {
    Variable::ALL.iter().position(|w| *w == v).unwrap()
}

impl World {
    pub fn new(vocabulary: &Vocabulary, size: usize) -> Self {
        let predicates: Vec<_> = vocabulary.predicates().collect();
        let values = predicates.iter().map(|p| vec![false; places(*p, size)]).collect();
        Self { size, values, predicates }
    }

    pub fn number(&self, predicate: Predicate) -> usize {
        self.predicates.iter().position(|p| *p == predicate).unwrap()
    }

    fn at(&self, predicate: Predicate, place: usize) -> bool {
        self.values[self.number(predicate)][place]
    }

    pub fn holds(&self, formula: &Formula, env: &Env) -> bool {
        let get = |v: &Variable| env[slot(*v)].unwrap();
        let with = |v: &Variable, u| {
            let mut env = *env;
            env[slot(*v)] = Some(u);
            env
        };
        match formula {
            Formula::Constant(value) => *value == Truth::True,
            Formula::Atom(Atom::Nullary(p)) => self.at((*p).into(), 0),
            Formula::Atom(Atom::Unary(p, v)) => self.at((*p).into(), get(v)),
            Formula::Atom(Atom::Binary(p, v, w)) => {
                self.at((*p).into(), get(v) * self.size + get(w))
            }
            Formula::Atom(Atom::Equal(v, w)) => get(v) == get(w),
            Formula::Closure(p, v, w) => {
                let mut reached = vec![false; self.size];
                reached[get(v)] = true;
                for _ in 0..self.size {
                    for a in 0..self.size {
                        for b in 0..self.size {
                            reached[b] |= reached[a] && self.at((*p).into(), a * self.size + b);
                        }
                    }
                }
                reached[get(w)]
            }
            Formula::Not(inner) => !self.holds(inner, env),
            Formula::And(parts) => parts.iter().all(|f| self.holds(f, env)),
            Formula::Or(parts) => parts.iter().any(|f| self.holds(f, env)),
            Formula::Exists(v, f) => (0..self.size).any(|u| self.holds(f, &with(v, u))),
            Formula::Forall(v, f) => (0..self.size).all(|u| self.holds(f, &with(v, u))),
        }
    }

    /// The values of `predicate` if `formula` defines it.
    pub fn evaluated(&self, predicate: Predicate, formula: &Formula) -> Vec<bool> {
        let mut env = Env::default();
        let mut found = Vec::new();
        for place in 0..places(predicate, self.size) {
            match predicate {
                Predicate::Nullary(_) => {}
                Predicate::Unary(_) => env[0] = Some(place),
                Predicate::Binary(_) => {
                    env[0] = Some(place / self.size);
                    env[1] = Some(place % self.size);
                }
            }
            found.push(self.holds(formula, &env));
        }
        found
    }

    /// Whether `body => head` for all individuals.
    pub fn satisfies(&self, body: &Formula, head: Literal) -> bool {
        let used: Vec<Variable> = Variable::ALL.to_vec();
        let claim = body.clone().implies(Formula::from(head));
        let claim = used
            .into_iter()
            .filter(|v| claim.mentions(*v))
            .fold(claim.clone(), |all, v| Formula::forall(v, all));
        self.holds(&claim, &Env::default())
    }

    /// Whether this structure embeds in `structure` by `images`.
    pub fn embeds_by(&self, structure: &Structure, images: &[usize]) -> bool {
        let individuals: Vec<Individual> = structure.individuals().collect();
        let image = |u: usize| individuals[images[u]];
        let onto = individuals.iter().enumerate().all(|(i, u)| {
            let count = images.iter().filter(|image| **image == i).count();
            count == 1 || count > 1 && structure.is_summary(*u)
        });
        onto && self.predicates.iter().zip(&self.values).all(|(predicate, values)| {
            values.iter().enumerate().all(|(place, value)| {
                let stored = match *predicate {
                    Predicate::Nullary(p) => structure.nullary(p),
                    Predicate::Unary(p) => structure.unary(p, image(place)),
                    Predicate::Binary(p) => {
                        structure.binary(p, image(place / self.size), image(place % self.size))
                    }
                };
                stored == Truth::Half || (stored == Truth::True) == *value
            })
        })
    }

    /// Whether this structure embeds in `structure`, by trying all functions.
    pub fn embeds(&self, structure: &Structure) -> bool {
        let mut images = vec![0; self.size];
        loop {
            if self.embeds_by(structure, &images) {
                return true;
            }
            let Some(next) = images.iter().position(|image| image + 1 < structure.len()) else {
                return false;
            };
            images[next] += 1;
            images[..next].fill(0);
        }
    }
}

/// How many values a predicate has on a structure of this size.
pub fn places(predicate: Predicate, size: usize) -> usize {
    match predicate {
        Predicate::Nullary(_) => 1,
        Predicate::Unary(_) => size,
        Predicate::Binary(_) => size * size,
    }
}
