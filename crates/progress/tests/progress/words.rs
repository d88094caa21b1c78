//! Automata against the naive semantics, on random formulas and random ultimately periodic words.

use crate::naive::Word;
use crate::support::seed_and_cases;
use fastrand::Rng;
use linchpin_progress::cycles::components;
use linchpin_progress::graph::{Edge, Graph, Label, NOWHERE};
use linchpin_progress::ltl::{Automaton, Formula, Product, holds_on};
use linchpin_verdict::Limits;

/// A random formula over so many atoms.
pub fn formula(random: &mut Rng, depth: usize, atoms: usize) -> Formula {
    if depth == 0 || random.u8(..8) == 0 {
        return match random.u8(..10) {
            0 => Formula::True,
            1 => Formula::False,
            _ => Formula::Atom(random.usize(..atoms)),
        };
    }
    let mut inner = || Box::new(formula(random, depth - 1, atoms));
    let (a, b) = (inner(), inner());
    match random.u8(..9) {
        0 | 1 => Formula::Not(a),
        2 => Formula::And(a, b),
        3 => Formula::Or(a, b),
        4 => Formula::Next(a),
        5 => a.eventually(),
        6 => a.always(),
        7 => Formula::Until(a, b),
        _ => Formula::Release(a, b),
    }
}

/// A graph with one run: the word, one letter a label.
fn lasso_graph(prefix: &[u64], cycle: &[u64]) -> (Graph, Vec<u64>) {
    let letters: Vec<u64> = prefix.iter().chain(cycle).copied().collect();
    let count = letters.len();
    let edge = |at: usize| Edge {
        to: if at + 1 == count { prefix.len() } else { at + 1 } as u32,
        label: at as u32,
        thread: 0,
    };
    let graph = Graph {
        threads: 1,
        first: (0..=count as u32).collect(),
        edges: (0..count).map(edge).collect(),
        labels: vec![Label::Step; count],
        pending: vec![1; count],
        enabled: vec![1; count],
        parent: vec![NOWHERE; count],
    };
    (graph, letters)
}

/// Whether the automaton of a formula accepts a word.
fn accepts(formula: &Formula, prefix: &[u64], cycle: &[u64]) -> bool {
    let automaton = Automaton::of(formula).unwrap();
    let (graph, letters) = lasso_graph(prefix, cycle);
    let limits = Limits::default();
    let product = Product::explore(&graph, &automaton, &letters, false, &limits, 0).unwrap();
    let mut found = false;
    components(&product, &limits, 0, &mut |_| found = true).unwrap();
    found
}

#[test]
fn automata_accept_the_words_on_which_formulas_hold() {
    let (seed, cases) = seed_and_cases(20_000);
    let (mut holding, mut not) = (0, 0);
    for case in 0..cases {
        let mut random = Rng::with_seed(seed.wrapping_mul(1 << 32) + case);
        let depth = random.usize(1..=4);
        let formula = formula(&mut random, depth, 2);
        let mut letters = |count: usize| (0..count).map(|_| random.u64(..4)).collect::<Vec<u64>>();
        let (prefix, cycle) = (letters(case as usize % 5), letters(1 + case as usize % 4));
        let word = Word { prefix: prefix.clone(), cycle: cycle.clone() };
        let expected = word.satisfies(&formula);
        assert_eq!(
            holds_on(&formula, &prefix, &cycle),
            expected,
            "case {case}: {formula} on {prefix:?} {cycle:?}"
        );
        assert_eq!(
            accepts(&formula, &prefix, &cycle),
            expected,
            "case {case}: {formula} on {prefix:?} {cycle:?}"
        );
        let negation = formula.clone().negated();
        assert_eq!(
            accepts(&negation, &prefix, &cycle),
            !expected,
            "case {case}: {negation} on {prefix:?} {cycle:?}"
        );
        if expected { holding += 1 } else { not += 1 }
    }
    println!("{holding} hold, {not} do not");
    assert!(holding * 4 > cases && not * 4 > cases);
}

#[test]
fn automata_that_would_be_huge_are_refused() {
    let eventually = |atom| Formula::Atom(atom).always().eventually();
    let many = (0..40).map(eventually).reduce(|a, b| Formula::And(Box::new(a), Box::new(b)));
    assert!(Automaton::of(&many.unwrap()).is_err());
    assert!(Automaton::of(&Formula::Atom(64)).is_err());
    assert!(Automaton::of(&Formula::Atom(usize::MAX)).is_err());
    // Few nodes, but very many ways to each of them.
    let mut either = Formula::Atom(0);
    let mut all = Formula::True;
    for _ in 0..60 {
        either = Formula::Or(Box::new(Formula::Atom(1)), Box::new(either));
        all = Formula::And(Box::new(all), Box::new(Formula::Next(Box::new(either.clone()))));
    }
    // Whatever the answer, there is one.
    let _ = Automaton::of(&all);
}
