//! Whether what the engine says is so: where all conditions hold, refinement at the same bounds
//! finds nothing wrong.

use crate::generator;
use crate::mutants;
use crate::support::{Refined, Within, base, refine};
use fastrand::Rng;
use linchpin_lang::{Config, Threads, compile};
use linchpin_space::Reductions;
use std::collections::BTreeMap;
use std::time::Duration;

/// What the base point engine says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Base {
    /// All conditions hold.
    Holds,
    /// Some condition fails.
    Fails,
    /// It does not apply, or it was given up.
    Unknown,
}

/// Where cases come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The generator.
    Random,
    /// Mutants of the bundled models.
    Mutants,
}

/// A case: one seed makes one.
pub struct Case {
    pub name: String,
    pub source: String,
    pub within: Within,
}

/// The case of a seed.
pub fn case(seed: u64, from: Source, models: &[(String, String)]) -> Case {
    let mut random = Rng::with_seed(seed);
    let (name, source) = match from {
        Source::Random => {
            let (name, source) = generator::model(&mut random);
            (name.to_owned(), source)
        }
        Source::Mutants => {
            let (name, source) = &models[random.usize(..models.len())];
            (name.clone(), mutants::mutant(source, &mut random))
        }
    };
    let (threads, calls, values) = match (from, random.u8(..8)) {
        (_, 0) => (3, 1, 1),
        (Source::Random, 1..=5) => (2, 2, 2),
        (Source::Random, _) => (2, 3, 1),
        (Source::Mutants, _) => (2, 2, 1),
    };
    Case { name, source, within: Within { threads, calls, values } }
}

/// What the two engines say of a case; `None` if it is no model.
pub fn ask(case: &Case, time: Duration) -> Option<(Base, Refined)> {
    let config = Config { threads: Threads::Count(case.within.threads), ..Config::default() };
    // A model with roles says itself how many threads play them.
    let compiled = compile(&case.source, &config)
        .or_else(|_| compile(&case.source, &Config::default()))
        .ok()?;
    let program = compiled.program;
    let analysis = base(&program, case.within, Reductions::ALL, false, time);
    let base = match analysis {
        Err(_) => Base::Unknown,
        Ok(analysis) if analysis.stopped.is_some() => Base::Unknown,
        Ok(analysis) if analysis.holds() => Base::Holds,
        Ok(_) => Base::Fails,
    };
    Some((base, refine(&program, case.within, time)))
}

/// How many cases ended how.
pub type Tally = BTreeMap<(Base, Refined), usize>;
