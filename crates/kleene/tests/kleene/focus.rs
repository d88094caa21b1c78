//! Focus loses no concrete structure and makes its formula definite.

use linchpin_kleene::{Assignment, Focus, Formula, KleeneError, Structure, Variable};

use crate::family::Family;
use crate::for_seeds;

fn formula(focus: &Focus) -> Formula {
    let (v, a) = (Variable::V, Variable::A);
    match *focus {
        Focus::Unary(p) => p.at(v),
        Focus::Successor { from, along } => Formula::exists(a, from.at(a).and(along.between(a, v))),
        Focus::Pair { from, along, to } => {
            Formula::exists(a, from.at(a).and(along.between(a, v)).and(to.at(v)))
        }
    }
}

fn is_definite(structure: &Structure, focus: &Focus) -> bool {
    structure.individuals().all(|u| {
        let assignment = Assignment::new().with(Variable::V, u);
        structure.evaluate(&formula(focus), &assignment).is_definite()
    })
}

#[test]
fn focus_loses_no_structure() {
    let (mut split, mut materialised) = (0, 0);
    for_seeds(4000, |rng| {
        let family = Family::random(rng);
        let vocabulary = &family.vocabulary;
        let Some((world, structure, _)) = family.pair(rng) else { return };
        let from = family.unary[rng.usize(0..2)];
        let along = family.binary[rng.usize(0..family.binary.len())];
        let focus = match rng.u8(0..4) {
            0 => Focus::Unary(family.unary[rng.usize(0..family.unary.len())]),
            1 => Focus::Pair { from, along, to: family.unary[rng.usize(0..2)] },
            _ => Focus::Successor { from, along },
        };
        let cases = structure.focus(vocabulary, &focus, 5000).unwrap();
        split += usize::from(cases.len() > 1);
        materialised += usize::from(cases.iter().any(|case| case.len() > structure.len()));
        for case in &cases {
            assert!(is_definite(case, &focus), "{}", case.describe(vocabulary));
            assert!(cases.len() > 50 || case.embeds(&structure), "focus only sharpens");
        }
        let text = || format!("{focus:?}\n{}\n{world:?}", structure.describe(vocabulary));
        assert!(cases.iter().any(|case| world.embeds(case)), "{}", text());
    });
    println!("{split} split, {materialised} with a new individual");
    assert!(split.min(materialised) > 500 || crate::setting("LINCHPIN_SEED").is_some());
}

#[test]
fn focus_says_what_it_cannot_do() {
    let mut rng = fastrand::Rng::with_seed(1);
    let family = Family::random(&mut rng);
    let mut structure = Structure::new(&family.vocabulary);
    let p = family.unary[2];
    for _ in 0..12 {
        let u = structure.add().unwrap();
        structure.set_unary(p, u, linchpin_kleene::Truth::Half);
    }
    let focus = |focus| structure.focus(&family.vocabulary, &focus, 1000);
    assert_eq!(focus(Focus::Unary(p)), Err(KleeneError::TooManyStructures(1000)));
    let successor = Focus::Successor { from: p, along: family.binary[0] };
    assert_eq!(focus(successor), Err(KleeneError::NotUnique));
}
