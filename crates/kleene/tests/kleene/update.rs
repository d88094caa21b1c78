//! Updates, new and removed individuals: what the abstract step yields covers the concrete step.

use linchpin_kleene::{Predicate, Update, Variable};

use crate::family::Family;
use crate::for_seeds;
use crate::oracle::World;

#[test]
fn update_covers_the_concrete_update() {
    let (mut definite, mut all) = (0, 0);
    for_seeds(5000, |rng| {
        let family = Family::random(rng);
        let Some((world, structure, images)) = family.pair(rng) else { return };
        let core = family.core();
        let (mut update, mut next) = (Update::new(), world.clone());
        for _ in 0..rng.usize(1..4) {
            let predicate = core[rng.usize(0..core.len())];
            let scope: &[Variable] = match predicate {
                Predicate::Nullary(_) => &[],
                Predicate::Unary(_) => &[Variable::V],
                Predicate::Binary(_) => &[Variable::V, Variable::W],
            };
            let formula = family.formula(rng, scope, 3);
            let number = world.number(predicate);
            next.values[number] = world.evaluated(predicate, &formula);
            update = update.set(predicate, formula);
        }
        family.recompute(&mut next);
        let after = structure.update(&family.vocabulary, &update);
        let before = structure.describe(&family.vocabulary);
        let text = || {
            let defined = &family.defined;
            let after = after.describe(&family.vocabulary);
            format!("{defined:?}\n{update:?}\n{before}\n{after}\n{world:?}\n{next:?}")
        };
        assert!(next.embeds_by(&after, &images), "{}", text());
        assert!(next.embeds(&after.blur(&family.vocabulary)));
        for (predicate, _) in &family.defined {
            if let Predicate::Unary(p) = predicate {
                for u in after.individuals() {
                    all += 1;
                    definite += usize::from(after.unary(*p, u).is_definite());
                }
            }
        }
    });
    println!("{definite} of {all} instrumentation values definite");
    assert!(definite * 4 > all || crate::setting("LINCHPIN_SEED").is_some());
}

/// `world` on the individuals of `kept`, `None` being a new one.
fn resized(family: &Family, world: &World, kept: &[Option<usize>]) -> World {
    let mut next = World::new(&family.vocabulary, kept.len());
    for (number, predicate) in world.predicates.iter().enumerate() {
        let (old, size) = (&world.values[number], kept.len());
        for (place, value) in next.values[number].iter_mut().enumerate() {
            *value = match predicate {
                Predicate::Nullary(_) => old[0],
                Predicate::Unary(_) => kept[place].is_some_and(|u| old[u]),
                Predicate::Binary(_) => {
                    let pair = kept[place / size].zip(kept[place % size]);
                    pair.is_some_and(|(u, v)| old[u * world.size + v])
                }
            };
        }
    }
    family.recompute(&mut next);
    next
}

#[test]
fn allocation_covers_the_concrete_allocation() {
    for_seeds(4000, |rng| {
        let family = Family::random(rng);
        let Some((world, structure, mut images)) = family.pair(rng) else { return };
        let mut after = structure.clone();
        let fresh = after.allocate(&family.vocabulary).unwrap();
        let kept: Vec<_> = (0..world.size).map(Some).chain([None]).collect();
        let next = resized(&family, &world, &kept);
        images.push(structure.len());
        assert!(!after.is_summary(fresh));
        let text = || format!("{:?}\n{}", family.defined, structure.describe(&family.vocabulary));
        assert!(next.embeds_by(&after, &images), "{}", text());
    });
}

#[test]
fn removal_covers_the_concrete_removal() {
    let mut with_definitions = 0;
    for_seeds(6000, |rng| {
        let family = Family::random(rng);
        let Some((world, structure, images)) = family.pair(rng) else { return };
        let gone: Vec<bool> = structure.individuals().map(|_| rng.u8(0..3) == 0).collect();
        let removed: Vec<_> =
            structure.individuals().zip(&gone).filter(|(_, gone)| **gone).map(|(u, _)| u).collect();
        let kept: Vec<_> = (0..world.size).filter(|u| !gone[images[*u]]).map(Some).collect();
        let next = resized(&family, &world, &kept);
        let rank = |image: usize| gone[..image].iter().filter(|gone| !**gone).count();
        let images: Vec<_> = kept.iter().flatten().map(|u| rank(images[*u])).collect();
        let after = structure.remove(&family.vocabulary, &removed);
        assert_eq!(after.len() + removed.len(), structure.len());
        let text = || format!("{removed:?}\n{}", structure.describe(&family.vocabulary));
        assert!(next.embeds_by(&after, &images), "{}", text());
        with_definitions += usize::from(!removed.is_empty() && !family.defined.is_empty());
    });
    assert!(with_definitions > 500 || crate::setting("LINCHPIN_SEED").is_some());
}

/// Predicates and individuals of another family are an error of the caller, and no panic.
#[test]
fn predicates_of_another_vocabulary_do_no_harm() {
    for_seeds(1000, |rng| {
        let (family, other) = (Family::random(rng), Family::random(rng));
        let (Some((_, structure, _)), Some(world)) = (family.pair(rng), other.world(rng)) else {
            return;
        };
        let (foreign, _) = crate::evaluate::concrete(&other, &world);
        let mut update = Update::new();
        for predicate in other.vocabulary.predicates() {
            update = update.set(predicate, other.formula(rng, &[Variable::V, Variable::W], 3));
        }
        let after = structure.update(&family.vocabulary, &update);
        let _ = after.canonical(&other.vocabulary).structure(&family.vocabulary);
        let _ = after.clone().coerce(&other.vocabulary);
        let mut after = after.remove(&other.vocabulary, &foreign.individuals().collect::<Vec<_>>());
        let _ = after.allocate(&other.vocabulary);
        let _ = foreign.embeds(&after);
        let from = other.unary[0];
        for along in other.binary.iter().copied() {
            let focus = linchpin_kleene::Focus::Successor { from, along };
            let _ = after.focus(&family.vocabulary, &focus, 100);
        }
    });
}
