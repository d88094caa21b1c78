//! The engine against the axioms: random small programs, every execution of which is enumerated by
//! force. Nothing is shared with the engine: programs are data, and axioms are boolean matrices.
//!
//! `LINCHPIN_SEED` and `LINCHPIN_CASES` say which programs, and how many.

mod axioms;
pub mod code;
pub mod enumerate;
pub mod program;
mod relation;
mod variety;

use program::{Program, Shape};
use std::collections::BTreeSet;
use variety::Variety;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// So many programs, of which the enumeration is not too long.
fn programs(
    test: &str,
    make: impl Fn(&mut fastrand::Rng) -> Program,
    cases: u64,
) -> impl Iterator<Item = (Program, u64)> {
    let (seed, cases) = (number("LINCHPIN_SEED", 1), number("LINCHPIN_CASES", cases));
    println!("{test}: LINCHPIN_SEED={seed} LINCHPIN_CASES={cases}");
    (0..cases).map(move |case| {
        let mut rng = fastrand::Rng::with_seed(seed.wrapping_mul(1_000_003).wrapping_add(case));
        loop {
            let program = make(&mut rng);
            if enumerate::cost(&program) <= 300 {
                return (program, case);
            }
        }
    })
}

/// A program of one of some shapes.
fn of_shapes(shapes: &[Shape]) -> impl Fn(&mut fastrand::Rng) -> Program {
    |rng| {
        let shape = shapes[rng.usize(0..shapes.len())];
        Program::random(rng, shape)
    }
}

/// Compares so many programs, with at least so many kinds of instructions among them.
fn compare(test: &str, make: impl Fn(&mut fastrand::Rng) -> Program, cases: u64, kinds: usize) {
    let mut variety = Variety::default();
    let (mut graphs, mut redundant, mut most, mut races) = (0, 0, 0, 0);
    for (program, case) in programs(test, make, cases) {
        variety.add(&program, case);
        let expected = enumerate::behaviour(&program);
        let (found, exploration) = code::behaviour(&program);
        if expected.races {
            assert!(found.races, "case {case}: a race is missed: {program:#?}");
            races += 1;
        } else {
            assert_eq!(found, expected, "case {case}: {program:#?}");
        }
        if case % 10 == 0 {
            code::repeat(&program);
        }
        graphs += exploration.executions;
        redundant += exploration.redundant;
        most = most.max(exploration.executions);
    }
    println!(
        "{graphs} graphs, at most {most}; {redundant} redundant visits; {races} racy programs"
    );
    variety.told(kinds);
}

const PLAIN: Shape = Shape {
    threads: 2,
    steps: 4,
    total: 8,
    locations: 2,
    awaits: false,
    cells: false,
    sequential: false,
};

#[test]
fn random_programs() {
    let shapes = [
        PLAIN,
        Shape { threads: 3, steps: 3, total: 7, ..PLAIN },
        Shape { threads: 3, steps: 3, total: 7, locations: 1, ..PLAIN },
        Shape { threads: 4, steps: 2, total: 7, ..PLAIN },
        Shape { threads: 2, steps: 4, locations: 3, ..PLAIN },
    ];
    compare("random programs", of_shapes(&shapes), 1_500, 25);
}

#[test]
fn sequentially_consistent_programs() {
    let plain = Shape { sequential: true, ..PLAIN };
    let shapes = [
        plain,
        Shape { threads: 3, steps: 3, total: 8, ..plain },
        Shape { threads: 4, steps: 2, total: 8, ..plain },
        Shape { threads: 3, steps: 3, total: 8, locations: 3, ..plain },
    ];
    compare("sequentially consistent programs", of_shapes(&shapes), 1_500, 25);
}

#[test]
fn programs_that_wait() {
    let plain = Shape { awaits: true, ..PLAIN };
    let shapes = [
        Shape { total: 7, ..plain },
        Shape { threads: 3, steps: 3, total: 6, ..plain },
        Shape { threads: 3, steps: 3, total: 6, locations: 1, ..plain },
        Shape { threads: 4, steps: 2, total: 6, locations: 1, ..plain },
    ];
    compare("programs that wait", of_shapes(&shapes), 1_500, 25);
}

#[test]
fn programs_with_cells() {
    let plain = Shape { cells: true, ..PLAIN };
    let shapes = [
        plain,
        Shape { awaits: true, ..plain },
        Shape { threads: 3, steps: 3, total: 7, ..plain },
        Shape { threads: 3, steps: 3, total: 7, awaits: true, locations: 1, ..plain },
    ];
    compare("programs with cells", of_shapes(&shapes), 1_500, 25);
}

/// A loop that pauses is an await: outcomes are the same, though not how often.
#[test]
fn loops_that_pause() {
    let plain = Shape { awaits: true, ..PLAIN };
    let shapes = [
        Shape { total: 6, ..plain },
        Shape { threads: 3, steps: 3, total: 6, ..plain },
        Shape { threads: 3, steps: 3, total: 6, locations: 1, ..plain },
    ];
    let mut visits = [0; 2];
    for (program, case) in programs("loops that pause", of_shapes(&shapes), 1_500) {
        let expected = enumerate::behaviour(&program);
        let (found, exploration) = code::spinning_behaviour(&program);
        let outcomes = |behaviour: enumerate::Behaviour| -> BTreeSet<_> {
            behaviour.outcomes.into_keys().collect()
        };
        assert_eq!(outcomes(found), outcomes(expected), "case {case}: {program:#?}");
        visits[0] += exploration.executions;
        visits[1] += exploration.redundant;
    }
    println!("{} graphs, {} redundant visits", visits[0], visits[1]);
}

#[test]
fn cycles() {
    compare("cycles", Program::cycle, 4_000, 10);
}
