//! Proves operations given as lists of sub-operations linearizable for any number of threads, by
//! reversing pairs of sub-operations: Singh, Neamtiu and Gupta, "Proving Concurrent Data Structures
//! Linearizable", with the corrections that make it sound. The theory, and the argument for
//! soundness, are in `docs/theory/reduce.md`.
//!
//! Reading order: [`prove`] below; `symbolic`, how two instances are executed in all states at
//! once, and `search`, which visits all cases; `houdini` and `live`, the facts; `pending`,
//! operations that never complete; `closure`, Algorithm 1.
//!
//! ```
//! let model = linchpin_subop::parse("int x; Add() 1 x = x + 1; Get() 1 READ x;").unwrap();
//! let proof = linchpin_reduce::prove(&model, &Default::default());
//! assert!(proof.is_proved());
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
mod houdini;
mod known;
mod lasting;
mod live;
mod location;
mod nature;
mod pairs;
mod pending;
mod prefix;
mod proof;
mod questions;
mod relate;
mod script;
mod search;
mod smt;
mod solver;
mod start;
mod symbolic;
mod validated;
mod words;

pub use certificate::Certificate;
pub use claims::{Answer, ClaimAnswer};
pub use pairs::{AliasCases, Pair, Tables};
pub use proof::{Dropped, FactLine, Line, Obstacle, PrefixFacts, Proof, Unfinished};
pub use questions::{At, Questions};
pub use smt::Obligation;

use std::time::Instant;

use closure::{Closure, Relations};
use context::Context;
use facts::Facts;
use linchpin_subop::Model;
use linchpin_verdict::Limits;
use pending::Pending;

/// Bounds on the work.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many cases one question about a pair may have; beyond that, nothing is concluded from
    /// it.
    pub most_cases: usize,
    /// How many cases all questions may have together.
    pub most_in_total: usize,
    /// Whether reads that a later comparison validates are replaced by guesses.
    pub replace_reads: bool,
    /// When to give up. Asked every few cases.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            most_cases: 20_000,
            most_in_total: 200_000,
            replace_reads: true,
            limits: Limits::default(),
        }
    }
}

/// What was found out about a model. A [`Context`] is made of it again in no time: the facts are
/// what took long.
#[derive(Clone, Debug)]
pub(crate) struct Analysis {
    /// The model as it was analysed, without the reads that were replaced.
    pub model: Model,
    pub facts: Facts,
    pub pending: Vec<(usize, Pending)>,
    pub closures: Vec<Closure>,
}

impl Analysis {
    /// All that questions about the model need.
    pub fn context(&self, options: &Options) -> Option<Context<'_>> {
        let mut context = Context::new(&self.model, options).ok()?;
        context.facts = self.facts.clone();
        Some(context)
    }
}

/// Finds the facts of a model.
pub(crate) fn facts_of<'m>(model: &'m Model, options: &Options) -> Result<Context<'m>, Obstacle> {
    let mut context = Context::new(model, options).map_err(|_| Obstacle::TooManyPrefixes)?;
    candidates::propose(&mut context);
    houdini::eliminate(&mut context);
    live::find(&mut context);
    match context.stopped() {
        Some(reason) => Err(Obstacle::Stopped(reason)),
        None => Ok(context),
    }
}

/// Tries to prove the model linearizable: every execution of any number of instances has the same
/// answers as a sequential execution of the same operations that respects their order in time.
pub fn prove(model: &Model, options: &Options) -> Proof {
    let start = Instant::now();
    let (analysed, replaced) = match options.replace_reads {
        true => validated::replace_reads(model, options),
        false => (model.clone(), Vec::new()),
    };
    let mut proof = Proof::new(model, options, &replaced);
    match facts_of(&analysed, options) {
        Err(obstacle) => proof.obstacle = Some(obstacle),
        Ok(context) => {
            let pending = pending::decide(&context);
            let mut relations = Relations::new(&context);
            let closures: Vec<Closure> =
                context.prefixes.proper().map(|prefix| relations.check(prefix)).collect();
            proof.conclude(&context, &pending, &closures);
            let facts = context.facts;
            proof.analysis = Some(Analysis { model: analysed, facts, pending, closures });
        }
    }
    proof.seconds = start.elapsed().as_secs_f64();
    proof
}
