//! Proves operations given as lists of sub-operations linearizable for any number of threads, by reversing pairs of
//! sub-operations: Singh, Neamtiu and Gupta, "Proving Concurrent Data Structures Linearizable", with the corrections that make it
//! sound. The theory, and the argument for soundness, are in `docs/theory/reduce.md`.
//!
//! Reading order: [`prove`] below; [`world`](crate) how two instances are executed in all states at once; `settle` and `live` the
//! facts; `pending` operations that never complete; `closure` Algorithm 1.
//!
//! ```
//! let model = linchpin_subop::parse("int x; Add() 1 x = x + 1; Get() 1 READ x;").unwrap();
//! let report = linchpin_reduce::prove(&model, &Default::default());
//! assert!(report.is_proved());
//! ```

mod atom;
mod candidates;
mod certificate;
mod claims;
mod closure;
mod concrete;
mod condition;
mod context;
mod execute;
mod facts;
mod footprint;
mod known;
mod lasting;
mod live;
mod location;
mod nature;
mod pairs;
mod pending;
mod prefix;
mod questions;
mod relate;
mod report;
mod search;
mod settle;
mod smt;
mod solver;
mod start;
mod validated;
mod words;
mod world;

pub use certificate::certificate;
pub use claims::{Answer, ClaimAnswer};
pub use concrete::find_execution;
pub use pairs::{AliasCases, Pair, Tables, tables};
pub use questions::{At, Questions};
pub use report::{FactLine, Line, Obstacle, PrefixFacts, Report, Verdict};
pub use smt::{Obligation, obligations};

use std::time::Instant;

use closure::{Closure, Relations};
use context::Context;
use linchpin_subop::Model;
use pending::Pending;

/// Bounds on the work.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many cases one question about a pair may have; beyond that, nothing is concluded from it.
    pub most_cases: usize,
    /// How many cases all questions may have together.
    pub most_in_total: usize,
    /// Whether reads that a later comparison validates are replaced by guesses.
    pub replace_reads: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { most_cases: 20_000, most_in_total: 200_000, replace_reads: true }
    }
}

/// The model as it is analysed.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub model: Model,
    pub replaced: Vec<validated::Replaced>,
}

pub(crate) fn prepare(model: &Model, options: &Options) -> Prepared {
    if options.replace_reads {
        let (model, replaced) = validated::replace_reads(model, options);
        Prepared { model, replaced }
    } else {
        Prepared { model: model.clone(), replaced: Vec::new() }
    }
}

/// What was found out about a model.
pub(crate) struct Analysis<'m> {
    pub context: Context<'m>,
    pub pending: Vec<(usize, Pending)>,
    pub closures: Vec<Closure>,
}

/// Finds the facts of a prepared model; `None` if it has too many prefixes.
pub(crate) fn facts_of<'m>(model: &'m Model, options: &Options) -> Option<Context<'m>> {
    let mut context = Context::new(model, options).ok()?;
    candidates::propose(&mut context);
    settle::settle(&mut context);
    live::find(&mut context);
    Some(context)
}

pub(crate) fn analyse<'m>(model: &'m Model, options: &Options) -> Option<Analysis<'m>> {
    let context = facts_of(model, options)?;
    let pending = pending::decide(&context);
    let closures = {
        let mut relations = Relations::new(&context);
        context.prefixes.proper().map(|prefix| relations.check(prefix)).collect()
    };
    Some(Analysis { context, pending, closures })
}

/// Tries to prove the model linearizable: every execution of any number of instances has the same answers as a sequential execution
/// of the same operations that respects their order in time.
pub fn prove(model: &Model, options: &Options) -> Report {
    let start = Instant::now();
    let prepared = prepare(model, options);
    let mut report = match analyse(&prepared.model, options) {
        Some(analysis) => report::report(model, &prepared, &analysis, options),
        None => Report::too_large(),
    };
    report.seconds = start.elapsed().as_secs_f64();
    report
}
