//! The embedding theorem, and the embedding order itself.

use linchpin_kleene::{Assignment, Structure, Truth, Variable};

use crate::family::Family;
use crate::for_seeds;
use crate::oracle::{Env, World, slot};

/// A definite value on a structure is the value on every concrete structure that embeds in it.
#[test]
fn definite_values_hold_in_what_embeds() {
    let (mut definite, mut unknown, mut sharp) = (0, 0, 0);
    for_seeds(4000, |rng| {
        let family = Family::random(rng);
        let Some((world, structure, images)) = family.pair(rng) else { return };
        let individuals: Vec<_> = structure.individuals().collect();
        for _ in 0..8 {
            let scope = [Variable::V, Variable::W, Variable::A];
            let formula = family.formula(rng, &scope, 4);
            let (mut env, mut assignment) = (Env::default(), Assignment::new());
            for v in scope {
                let u = rng.usize(0..world.size);
                env[slot(v)] = Some(u);
                assignment = assignment.with(v, individuals[images[u]]);
            }
            let exact = world.holds(&formula, &env);
            let value = structure.evaluate(&formula, &assignment);
            let text = structure.describe(&family.vocabulary);
            assert!(Truth::from(exact).approximated_by(value), "{formula:?}\n{text}\n{world:?}");
            if value.is_definite() {
                definite += 1
            } else {
                unknown += 1
            }
            // On the concrete structure itself every value is definite.
            let (same, identity) = concrete(&family, &world);
            let assignment = scope
                .iter()
                .fold(Assignment::new(), |all, v| all.with(*v, identity[env[slot(*v)].unwrap()]));
            assert_eq!(same.evaluate(&formula, &assignment), Truth::from(exact), "{formula:?}");
            sharp += 1;
        }
    });
    println!("{definite} definite, {unknown} unknown, {sharp} on concrete structures");
    assert!(definite.min(unknown) * 10 > sharp || crate::setting("LINCHPIN_SEED").is_some());
}

/// The concrete structure as a structure of the crate.
pub fn concrete(family: &Family, world: &World) -> (Structure, Vec<linchpin_kleene::Individual>) {
    let mut structure = Structure::new(&family.vocabulary);
    let individuals: Vec<_> = (0..world.size).map(|_| structure.add().unwrap()).collect();
    for (predicate, values) in world.predicates.iter().zip(&world.values) {
        for (place, value) in values.iter().enumerate() {
            let value = Truth::from(*value);
            let pair = || (individuals[place / world.size], individuals[place % world.size]);
            match *predicate {
                linchpin_kleene::Predicate::Nullary(p) => structure.set_nullary(p, value),
                linchpin_kleene::Predicate::Unary(p) => {
                    structure.set_unary(p, individuals[place], value);
                }
                linchpin_kleene::Predicate::Binary(p) => {
                    structure.set_binary(p, pair().0, pair().1, value);
                }
            }
        }
    }
    (structure, individuals)
}

/// A variable without a value gives no definite answer that depends on it.
#[test]
fn a_missing_value_is_unknown() {
    for_seeds(1000, |rng| {
        let family = Family::random(rng);
        let Some((world, structure, _)) = family.pair(rng) else { return };
        let formula = family.formula(rng, &[Variable::V, Variable::W], 3);
        let value = structure.evaluate(&formula, &Assignment::new());
        for place in 0..world.size * world.size {
            let mut env = Env::default();
            env[0] = Some(place / world.size);
            env[1] = Some(place % world.size);
            assert!(Truth::from(world.holds(&formula, &env)).approximated_by(value));
        }
    });
}

#[test]
fn the_embedding_order_is_that_of_the_definition() {
    let (mut embeds, mut does_not) = (0, 0);
    for_seeds(4000, |rng| {
        let family = Family::random(rng);
        let Some((world, structure, _)) = family.pair(rng) else { return };
        let other = if rng.bool() { Some(world.clone()) } else { family.world(rng) };
        let Some(mut other) = other else { return };
        let number = rng.usize(0..other.values.len());
        if rng.bool() {
            let place = rng.usize(0..other.values[number].len());
            other.values[number][place] ^= true;
        }
        let expected = other.embeds(&structure);
        let (other, _) = concrete(&family, &other);
        assert_eq!(other.embeds(&structure), expected);
        if expected {
            embeds += 1
        } else {
            does_not += 1
        }
        assert!(structure.embeds(&structure));
    });
    println!("{embeds} embed, {does_not} do not");
    assert!(embeds.min(does_not) > 300 || crate::setting("LINCHPIN_SEED").is_some());
}
