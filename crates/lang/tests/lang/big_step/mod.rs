//! The lowering and the interpreter against a big-step evaluator.
//!
//! One operation runs after the other, so there is one right outcome for given choices: the
//! answers, or the fault or the wait that ends the run, how many steps it took to get there, and
//! the state that is left. The evaluator computes it from the syntax tree; the compiled program
//! must agree, on random programs and on all models. In the same way, the outcomes of a `spec { }`
//! block are compared for all choices.
//!
//! `LINCHPIN_SEED` and `LINCHPIN_CASES` choose the first seed and the number of random programs.
//!
//! Start with [`sequential`]; [`evaluator`] is the judge, [`generator`] writes the programs.

mod evaluator;
mod features;
mod generator;
mod picture;
mod random;
mod sequential;
mod shrink;
mod specification;

use linchpin_ir::interpreter::Memory;
use linchpin_ir::program::Program;
use linchpin_ir::well_formed::defects;
use linchpin_lang::syntax::{self, ast};
use linchpin_lang::{Config, Span, compile};
use sequential::{Disagreement, Statistics};
use std::path::{Path, PathBuf};

/// How many random programs there are unless `LINCHPIN_CASES` says otherwise.
const CASES: u64 = 3000;

/// How the complaint about a program that does not compile begins.
const REJECTED: &str = "does not compile";

/// What there is to compare about a program.
type Comparison = fn(&str, u64, &mut Statistics) -> Result<(), Disagreement>;

#[test]
fn random_operations_agree() {
    let statistics = compare_random(operations);
    if statistics.programs >= CASES {
        features::operations_are_covered(&statistics);
    }
}

#[test]
fn random_specifications_agree() {
    let statistics = compare_random(specifications);
    if statistics.programs >= CASES {
        features::specifications_are_covered(&statistics);
    }
}

#[test]
fn models_agree() {
    let mut statistics = Statistics::default();
    for path in models() {
        let source = std::fs::read_to_string(&path).unwrap();
        for seed in 0..40 {
            for comparison in [operations, specifications] {
                if let Err(disagreement) = comparison(&source, seed, &mut statistics) {
                    panic!("{}, seed {seed}: {disagreement}", path.display());
                }
            }
        }
    }
    println!("{statistics}");
}

/// Sequences of operations, with both memories.
fn operations(source: &str, seed: u64, statistics: &mut Statistics) -> Result<(), Disagreement> {
    let (tree, program) = compiled(source)?;
    if let Some(defect) = defects(&program).first() {
        return Err(format!("not well-formed: {defect}"));
    }
    for (at, memory) in [Memory::Collected, Memory::Collected, Memory::Reuse].iter().enumerate() {
        sequential::run(&tree, &program, *memory, seed + at as u64, 6, statistics)
            .map_err(|disagreement| format!("{memory:?}: {disagreement}"))?;
    }
    Ok(())
}

/// Sequences of calls of the specification, with all their outcomes.
fn specifications(
    source: &str,
    seed: u64,
    statistics: &mut Statistics,
) -> Result<(), Disagreement> {
    let (tree, program) = compiled(source)?;
    specification::run(&tree, &program, seed, 8, statistics)
}

/// The syntax tree and the program.
fn compiled(source: &str) -> Result<(ast::Model, Program), Disagreement> {
    let (tree, _) = syntax::parse(source);
    match compile(source, &Config::default()) {
        Ok(compiled) => Ok((tree, compiled.program)),
        Err(mistakes) => {
            let text =
                |at: Span| source.get(at.start as usize..at.end as usize).unwrap_or_default();
            let said = mistakes
                .iter()
                .map(|mistake| format!("{}: {}", mistake.message, text(mistake.span)));
            Err(format!("{REJECTED}: {}", said.collect::<Vec<_>>().join("; ")))
        }
    }
}

/// Compares random programs; the first disagreement is shown on the smallest program found that has
/// one.
fn compare_random(comparison: Comparison) -> Statistics {
    let first = setting("LINCHPIN_SEED", 1);
    let cases = setting("LINCHPIN_CASES", CASES);
    println!("LINCHPIN_SEED={first} LINCHPIN_CASES={cases}");
    let mut statistics = Statistics::default();
    for seed in first..first + cases {
        let source = generator::program(seed);
        if let Err(disagreement) = comparison(&source, seed, &mut statistics) {
            // Some programs are too large once their functions are inlined.
            if disagreement.starts_with(REJECTED) && disagreement.contains("too large") {
                statistics.count("(program too large)");
                continue;
            }
            let shows = |source: &str| {
                let found = comparison(source, seed, &mut Statistics::default()).err()?;
                (!found.starts_with(REJECTED)).then_some(found)
            };
            let (smallest, says) = shrink::shrink(&source, shows);
            panic!("LINCHPIN_SEED={seed}: {disagreement}\n\n{smallest}\n{says}");
        }
        statistics.programs += 1;
    }
    println!("{statistics}");
    statistics
}

/// A number from the environment.
fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")),
        Err(_) => default,
    }
}

/// The models that come with the project, the broken ones included.
fn models() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let folders = [root.clone(), root.join("broken")];
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut models: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "lin")).collect();
    models.sort();
    assert!(models.len() > 40, "only {} models in {}", models.len(), root.display());
    models
}
