//! Tests of the engine: `litmus` for what is known, `oracle` for everything else, `problems` for what
//! goes wrong in code, `waiting` for loops and locks.

mod litmus;
mod oracle;
mod problems;
mod stack;
mod structures;
mod waiting;

use crate::execution::{Execution, Problem};
use crate::options::{Exploration, Options, Strategy};
use crate::weak::explore;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Explores a body; answers all executions.
fn executions(body: impl Fn() + 'static) -> (Vec<Execution>, Exploration) {
    with_options(&Options::new(Strategy::Weak), body)
}

fn with_options(options: &Options, body: impl Fn() + 'static) -> (Vec<Execution>, Exploration) {
    let mut all = Vec::new();
    let body: Rc<dyn Fn()> = Rc::new(body);
    let exploration = explore(options, &body, &mut |execution| {
        all.push(execution.clone());
        ControlFlow::Continue(())
    });
    (all, exploration)
}

/// The problems of a body, each once.
fn problems(body: impl Fn() + 'static) -> Vec<Problem> {
    let mut problems = Vec::new();
    for execution in executions(body).0 {
        if let Some(problem) = execution.problem
            && !problems.contains(&problem)
        {
            problems.push(problem);
        }
    }
    problems
}
