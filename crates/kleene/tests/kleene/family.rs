//! Random vocabularies, formulas, concrete structures, and structures in which they embed.

use fastrand::Rng;
use linchpin_kleene::{
    Atom, Binary, Constraint, Declaration, Formula, Literal, Nullary, Predicate, Structure, Truth,
    Unary, Variable, Vocabulary,
};

use crate::oracle::{World, places};

use Variable::{A, B, C, V, W};

/// A vocabulary like those of paper 001, with random definitions and constraints among them.
pub struct Family {
    pub vocabulary: Vocabulary,
    pub nullary: Vec<Nullary>,
    pub unary: Vec<Unary>,
    pub binary: Vec<Binary>,
    pub abstraction: Vec<Unary>,
    /// Instrumentation predicates with their definitions, in order.
    pub defined: Vec<(Predicate, Formula)>,
    pub constraints: Vec<(Formula, Literal)>,
}

impl Family {
    pub fn random(rng: &mut Rng) -> Self {
        let mut vocabulary = Vocabulary::new();
        let nullary = vec![vocabulary.nullary(Declaration::named("c")).unwrap()];
        let unary = vec![
            vocabulary.unary(Declaration::named("x").abstraction().unique()).unwrap(),
            vocabulary.unary(Declaration::named("y").abstraction().unique()).unwrap(),
            vocabulary.unary(Declaration::named("p").abstraction()).unwrap(),
            vocabulary.unary(Declaration::named("q")).unwrap(),
        ];
        let binary = vec![
            vocabulary.binary(Declaration::named("n").functional()).unwrap(),
            vocabulary.binary(Declaration::named("m")).unwrap(),
        ];
        let (defined, constraints, abstraction) = (Vec::new(), Vec::new(), unary[..3].to_vec());
        let mut family =
            Self { vocabulary, nullary, unary, binary, abstraction, defined, constraints };
        for i in 0..rng.usize(0..4) {
            family.define(rng, &format!("i{i}"));
        }
        for _ in 0..rng.usize(0..3) {
            let (body, head) = family.constraint(rng);
            family.vocabulary.constrain(Constraint::new(body.clone(), head)).unwrap();
            family.constraints.push((body, head));
        }
        family
    }

    fn define(&mut self, rng: &mut Rng, name: &str) {
        let (x, n, m) = (self.unary[rng.usize(0..2)], self.binary[0], self.binary[1]);
        let successor = || Formula::exists(A, x.at(A).and(n.between(A, V)));
        let reach = || Formula::exists(A, x.at(A).and(n.reaches(A, V)));
        let shared = || {
            let two = Formula::equal(A, B).negated().and(n.between(A, V)).and(n.between(B, V));
            Formula::exists(A, Formula::exists(B, two))
        };
        let ordered = || {
            let less = m.between(V, A).and(m.between(A, V).negated());
            Formula::forall(A, n.between(V, A).implies(less))
        };
        let declaration = Declaration::named(name);
        let abstraction = rng.bool();
        let declaration = if abstraction { declaration.abstraction() } else { declaration };
        match rng.u8(0..8) {
            choice @ 0..5 => {
                let formula = match choice {
                    0 => successor(),
                    1 => reach(),
                    2 => shared(),
                    3 => ordered(),
                    _ => self.formula(rng, &[V], 3),
                };
                let p = self.vocabulary.unary(declaration.defined_by(formula.clone())).unwrap();
                self.unary.push(p);
                self.abstraction.extend(abstraction.then_some(p));
                self.defined.push((p.into(), formula));
            }
            choice @ 5..7 => {
                let random = choice == 6;
                let formula = if random { self.formula(rng, &[V, W], 2) } else { n.reaches(V, W) };
                let p = self.vocabulary.binary(declaration.defined_by(formula.clone())).unwrap();
                self.binary.push(p);
                self.defined.push((p.into(), formula));
            }
            _ => {
                let formula = self.formula(rng, &[], 3);
                let p = self.vocabulary.nullary(declaration.defined_by(formula.clone())).unwrap();
                self.nullary.push(p);
                self.defined.push((p.into(), formula));
            }
        }
    }

    /// Constraints that many structures satisfy: well-known ones, and random ones.
    fn constraint(&self, rng: &mut Rng) -> (Formula, Literal) {
        let (x, p, n, m) = (self.unary[0], self.unary[2], self.binary[0], self.binary[1]);
        match rng.u8(0..7) {
            0 => (m.between(V, W), Atom::Binary(m, W, V).literal(true)),
            1 => (n.between(V, A).and(n.between(W, A)), Atom::Equal(V, W).literal(true)),
            2 => (x.at(V), Atom::Unary(p, V).literal(true)),
            3 => (p.at(V), Atom::Binary(m, V, V).literal(true)),
            4 => (p.at(V).and(p.at(W)), Atom::Equal(V, W).literal(true)),
            5 => (m.between(V, W), Atom::Equal(V, W).literal(false)),
            _ => (self.formula(rng, &[V, W], 2), self.literal(rng, &[V, W, C])),
        }
    }

    fn literal(&self, rng: &mut Rng, scope: &[Variable]) -> Literal {
        self.atom(rng, scope).literal(rng.bool())
    }

    fn atom(&self, rng: &mut Rng, scope: &[Variable]) -> Atom {
        let pick = |rng: &mut Rng| rng.choice(scope).copied();
        let nullary = Atom::Nullary(self.nullary[rng.usize(0..self.nullary.len())]);
        let (Some(v), Some(w)) = (pick(rng), pick(rng)) else { return nullary };
        match rng.u8(0..8) {
            0 => nullary,
            1..4 => Atom::Unary(self.unary[rng.usize(0..self.unary.len())], v),
            4..7 => Atom::Binary(self.binary[rng.usize(0..self.binary.len())], v, w),
            _ => Atom::Equal(v, w),
        }
    }

    /// A formula with free variables in `scope`; quantifiers may hide them.
    pub fn formula(&self, rng: &mut Rng, scope: &[Variable], depth: usize) -> Formula {
        let atom = |rng: &mut Rng| Formula::Atom(self.atom(rng, scope));
        if depth == 0 {
            return match (rng.u8(0..12), scope) {
                (0, _) => Formula::Constant(Truth::from(rng.bool())),
                (1..3, [.., last]) => {
                    let first = rng.choice(scope).copied().unwrap_or(*last);
                    self.binary[rng.usize(0..self.binary.len())].reaches(first, *last)
                }
                _ => atom(rng),
            };
        }
        let part = |rng: &mut Rng| self.formula(rng, scope, depth - 1);
        match rng.u8(0..10) {
            0 => atom(rng),
            1 => part(rng).negated(),
            2..4 => part(rng).and(part(rng)),
            4..6 => part(rng).or(part(rng)),
            choice => {
                let v = Variable::ALL[rng.usize(0..6)];
                let inner: Vec<_> = scope.iter().copied().filter(|w| *w != v).chain([v]).collect();
                let body = self.formula(rng, &inner, depth - 1);
                if choice < 8 { Formula::exists(v, body) } else { Formula::forall(v, body) }
            }
        }
    }

    /// The core predicates.
    pub fn core(&self) -> Vec<Predicate> {
        let is_core = |p: &Predicate| self.defined.iter().all(|(q, _)| q != p);
        self.vocabulary.predicates().filter(is_core).collect()
    }

    /// A concrete structure of the family; `None` if none was found that satisfies the constraints.
    pub fn world(&self, rng: &mut Rng) -> Option<World> {
        (0..20).find_map(|_| {
            let size = rng.usize(1..6);
            let mut world = World::new(&self.vocabulary, size);
            let (c, x, n) = (self.nullary[0], &self.unary, &self.binary);
            let mut set = |p: Predicate, place: usize| {
                let number = world.number(p);
                world.values[number][place] = true;
            };
            if rng.bool() {
                set(c.into(), 0);
            }
            for unique in &x[..2] {
                if rng.u8(0..4) > 0 {
                    set((*unique).into(), rng.usize(0..size));
                }
            }
            let dense = rng.bool();
            for u in 0..size {
                for p in &x[2..4] {
                    if rng.bool() {
                        set((*p).into(), u);
                    }
                }
                if rng.u8(0..4) > 0 {
                    set(n[0].into(), u * size + rng.usize(0..size));
                }
                for v in 0..size {
                    if rng.u8(0..4) == 0 || dense && rng.bool() {
                        set(n[1].into(), u * size + v);
                    }
                }
            }
            self.recompute(&mut world);
            let fits = self.constraints.iter().all(|(body, head)| world.satisfies(body, *head));
            fits.then_some(world)
        })
    }

    /// Gives the instrumentation predicates the values of their definitions.
    pub fn recompute(&self, world: &mut World) {
        for (predicate, formula) in &self.defined {
            let number = world.number(*predicate);
            world.values[number] = world.evaluated(*predicate, formula);
        }
    }

    /// A structure in which `world` embeds, and how; with some information lost on the way.
    pub fn covering(&self, rng: &mut Rng, world: &World) -> (Structure, Vec<usize>) {
        let len = if rng.bool() { world.size } else { rng.usize(1..world.size + 1) };
        let mut images: Vec<usize> =
            (0..world.size).map(|u| if u < len { u } else { rng.usize(0..len) }).collect();
        rng.shuffle(&mut images);
        let mut structure = Structure::new(&self.vocabulary);
        let individuals: Vec<_> = (0..len).map(|_| structure.add().unwrap()).collect();
        for (i, u) in individuals.iter().enumerate() {
            let count = images.iter().filter(|image| **image == i).count();
            structure.set_summary(*u, count > 1 || rng.u8(0..4) == 0);
        }
        let loss = rng.u8(0..6);
        for (number, predicate) in world.predicates.iter().enumerate() {
            let mut joined = vec![None; places(*predicate, len)];
            for (place, value) in world.values[number].iter().enumerate() {
                let place = match predicate {
                    Predicate::Nullary(_) => 0,
                    Predicate::Unary(_) => images[place],
                    Predicate::Binary(_) => {
                        images[place / world.size] * len + images[place % world.size]
                    }
                };
                let value = Truth::from(*value);
                let agreed = joined[place].is_none_or(|before| before == value);
                joined[place] = Some(if agreed { value } else { Truth::Half });
            }
            for (place, value) in joined.into_iter().enumerate() {
                let value = if rng.u8(0..10) < loss { Truth::Half } else { value.unwrap() };
                match *predicate {
                    Predicate::Nullary(p) => structure.set_nullary(p, value),
                    Predicate::Unary(p) => structure.set_unary(p, individuals[place], value),
                    Predicate::Binary(p) => {
                        let (u, v) = (individuals[place / len], individuals[place % len]);
                        structure.set_binary(p, u, v, value);
                    }
                }
            }
        }
        (structure, images)
    }

    /// A random concrete structure and one in which it embeds.
    pub fn pair(&self, rng: &mut Rng) -> Option<(World, Structure, Vec<usize>)> {
        let world = self.world(rng)?;
        let (structure, images) = self.covering(rng, &world);
        assert!(world.embeds_by(&structure, &images), "the generator is wrong");
        Some((world, structure, images))
    }
}
