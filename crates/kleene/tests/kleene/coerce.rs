//! Coerce loses no concrete structure that satisfies the constraints.

use linchpin_kleene::{Footprint, Predicate, Structure, Truth};

use crate::family::Family;
use crate::for_seeds;

/// Makes one random value definite; says which predicate it was.
fn decided(rng: &mut fastrand::Rng, family: &Family, structure: &mut Structure) -> Predicate {
    let predicates: Vec<_> = family.vocabulary.predicates().collect();
    let predicate = predicates[rng.usize(0..predicates.len())];
    let individuals: Vec<_> = structure.individuals().collect();
    let (u, v) = (rng.usize(0..individuals.len()), rng.usize(0..individuals.len()));
    let value = Truth::from(rng.bool());
    match predicate {
        Predicate::Nullary(p) => structure.set_nullary(p, value),
        Predicate::Unary(p) => structure.set_unary(p, individuals[u], value),
        Predicate::Binary(p) => structure.set_binary(p, individuals[u], individuals[v], value),
    }
    predicate
}

#[test]
fn coerce_loses_no_structure_that_satisfies_the_constraints() {
    let (mut sharper, mut discarded, mut kept) = (0, 0, 0);
    for_seeds(6000, |rng| {
        let family = Family::random(rng);
        let vocabulary = &family.vocabulary;
        let Some((world, structure, images)) = family.pair(rng) else { return };
        let text = || format!("{}\n{world:?}", structure.describe(vocabulary));
        let coerced = structure.clone().coerce(vocabulary);
        let coerced = coerced.unwrap_or_else(|| panic!("discarded:\n{}", text()));
        assert!(world.embeds_by(&coerced, &images), "{}", text());
        assert!(coerced.embeds(&structure), "coerce only sharpens");
        assert_eq!(coerced.clone().coerce(vocabulary).as_ref(), Some(&coerced));
        sharper += usize::from(coerced != structure);

        let mut other = coerced;
        let mut changed = Footprint::default();
        for _ in 0..rng.usize(1..3) {
            changed.insert(decided(rng, &family, &mut other));
        }
        let again = other.clone().coerce(vocabulary);
        match &again {
            None => {
                discarded += 1;
                assert!(!world.embeds(&other), "{}", other.describe(vocabulary));
            }
            Some(again) => {
                kept += 1;
                assert_eq!(world.embeds(again), world.embeds(&other));
            }
        }
        assert_eq!(other.coerce_after(vocabulary, changed), again);
    });
    println!("{sharper} sharper; then {discarded} discarded, {kept} kept");
    let enough = sharper > 2000 && discarded > 500 && kept > 500;
    assert!(enough || crate::setting("LINCHPIN_SEED").is_some());
}
