//! Executions under sequential consistency: counts, problems, and the oracle.

mod crashes;
mod oracle;
mod problems;
mod spinning;
mod strategies;
mod structures;
mod word;

use linchpin_explore::{Execution, Exploration, Options, Problem, Strategy, explore};
use std::ops::ControlFlow;
use std::rc::Rc;

/// Explores, and calls this with every execution.
fn run_with(
    options: &Options,
    body: impl Fn() + 'static,
    mut observe: impl FnMut(&Execution),
) -> Exploration {
    let body: Rc<dyn Fn()> = Rc::new(body);
    explore(options, &body, &mut |execution| {
        observe(execution);
        ControlFlow::Continue(())
    })
}

/// Explores with a strategy, and calls this with every execution.
fn run(
    strategy: Strategy,
    body: impl Fn() + 'static,
    observe: impl FnMut(&Execution),
) -> Exploration {
    run_with(&Options::new(strategy), body, observe)
}

/// What goes wrong in each execution.
fn problems(body: impl Fn() + 'static) -> Vec<Option<Problem>> {
    let mut found = Vec::new();
    let explored = run(Strategy::Exhaustive, body, |execution| {
        found.push(execution.problem.clone());
    });
    assert!(explored.complete);
    found
}
