//! Canonical abstraction and canonical forms.

use fastrand::Rng;
use linchpin_kleene::{Canonical, Individual, Predicate, Structure, Vocabulary};

use crate::family::Family;
use crate::for_seeds;

/// `structure` with its individuals in another order: new individual `i` is the old `order[i]`.
fn reordered(vocabulary: &Vocabulary, structure: &Structure, order: &[Individual]) -> Structure {
    let mut other = Structure::new(vocabulary);
    let new: Vec<_> = order.iter().map(|_| other.add().unwrap()).collect();
    for (i, u) in order.iter().enumerate() {
        other.set_summary(new[i], structure.is_summary(*u));
        for predicate in vocabulary.predicates() {
            match predicate {
                Predicate::Nullary(p) => other.set_nullary(p, structure.nullary(p)),
                Predicate::Unary(p) => other.set_unary(p, new[i], structure.unary(p, *u)),
                Predicate::Binary(p) => {
                    for (j, v) in order.iter().enumerate() {
                        other.set_binary(p, new[i], new[j], structure.binary(p, *u, *v));
                    }
                }
            }
        }
    }
    other
}

fn shuffled(rng: &mut Rng, vocabulary: &Vocabulary, structure: &Structure) -> Structure {
    let mut order: Vec<_> = structure.individuals().collect();
    rng.shuffle(&mut order);
    reordered(vocabulary, structure, &order)
}

/// All orders of up to five individuals.
fn isomorphic(vocabulary: &Vocabulary, a: &Structure, b: &Structure) -> bool {
    fn orders(rest: &[Individual]) -> Vec<Vec<Individual>> {
        if rest.is_empty() {
            return vec![Vec::new()];
        }
        let mut all = Vec::new();
        for i in 0..rest.len() {
            let mut others = rest.to_vec();
            let first = others.remove(i);
            all.extend(orders(&others).into_iter().map(|order| [vec![first], order].concat()));
        }
        all
    }
    let individuals: Vec<_> = a.individuals().collect();
    orders(&individuals).iter().any(|order| reordered(vocabulary, a, order) == *b)
}

#[test]
fn blur_keeps_what_embeds_and_is_idempotent() {
    let mut merged = 0;
    for_seeds(5000, |rng| {
        let family = Family::random(rng);
        let vocabulary = &family.vocabulary;
        let Some((world, structure, _)) = family.pair(rng) else { return };
        let blurred = structure.blur(vocabulary);
        merged += usize::from(blurred.len() < structure.len());
        assert!(world.embeds(&blurred));
        assert!(structure.embeds(&blurred));
        assert_eq!(blurred.blur(vocabulary), blurred);
        let names =
            |u| family.abstraction.iter().map(|p| structure.unary(*p, u)).collect::<Vec<_>>();
        let different: std::collections::BTreeSet<_> = structure.individuals().map(names).collect();
        assert_eq!(blurred.len(), different.len());
    });
    println!("{merged} merged");
    assert!(merged > 300 || crate::setting("LINCHPIN_SEED").is_some());
}

#[test]
fn canonical_forms_are_equal_exactly_for_isomorphic_structures() {
    let (mut equal, mut different) = (0, 0);
    for_seeds(3000, |rng| {
        let family = Family::random(rng);
        let vocabulary = &family.vocabulary;
        let Some((world, structure, _)) = family.pair(rng) else { return };
        let canonical = structure.canonical(vocabulary);
        assert_eq!(shuffled(rng, vocabulary, &structure).canonical(vocabulary), canonical);
        assert_eq!(canonical.structure(vocabulary), structure.blur(vocabulary));
        let (other, _) = family.covering(rng, &world);
        let other_form: Canonical = other.canonical(vocabulary);
        let (a, b) = (structure.blur(vocabulary), other.blur(vocabulary));
        assert_eq!(other_form == canonical, isomorphic(vocabulary, &a, &b));
        assert_eq!(other_form.cmp(&canonical).is_eq(), other_form == canonical);
        if other_form == canonical { equal += 1 } else { different += 1 }
    });
    println!("{equal} equal, {different} different");
    assert!(equal.min(different) > 20 || crate::setting("LINCHPIN_SEED").is_some());
}

/// Sixty-four individuals, sixty-four unary predicates: the widest words.
#[test]
fn the_largest_structure_survives_packing() {
    use linchpin_kleene::{Declaration, KleeneError, Truth};
    let mut vocabulary = Vocabulary::new();
    let unary: Vec<_> = (0..64)
        .map(|i| vocabulary.unary(Declaration::named(&format!("p{i}")).abstraction()).unwrap())
        .collect();
    assert!(matches!(
        vocabulary.unary(Declaration::named("more")),
        Err(KleeneError::TooManyPredicates(_))
    ));
    let n = vocabulary.binary(Declaration::named("n")).unwrap();
    let mut structure = Structure::new(&vocabulary);
    let individuals: Vec<_> = unary.iter().map(|_| structure.add().unwrap()).collect();
    assert_eq!(structure.add(), Err(KleeneError::TooManyIndividuals));
    for (i, u) in individuals.iter().enumerate() {
        structure.set_unary(unary[i], *u, Truth::True);
        structure.set_unary(unary[(i + 7) % 64], *u, Truth::Half);
        structure.set_binary(n, *u, individuals[(i * 5 + 3) % 64], Truth::Half);
        structure.set_binary(n, *u, individuals[63 - i], Truth::True);
        structure.set_summary(*u, i % 3 == 0);
    }
    let blurred = structure.blur(&vocabulary);
    assert_eq!(blurred.len(), 64);
    assert!(isomorphic_by_name(&blurred, &structure, &unary, n));
    assert_eq!(structure.canonical(&vocabulary).structure(&vocabulary), blurred);
}

fn isomorphic_by_name(
    a: &Structure,
    b: &Structure,
    unary: &[linchpin_kleene::Unary],
    n: linchpin_kleene::Binary,
) -> bool {
    let to = |u: &linchpin_kleene::Unary| (a.holder(*u).unwrap(), b.holder(*u).unwrap());
    unary.iter().all(|p| {
        let (u, w) = to(p);
        a.is_summary(u) == b.is_summary(w)
            && unary.iter().all(|q| {
                let (v, z) = to(q);
                a.unary(*q, u) == b.unary(*q, w) && a.binary(n, u, v) == b.binary(n, w, z)
            })
    })
}
