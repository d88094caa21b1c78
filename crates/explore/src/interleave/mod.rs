//! Executions under sequential consistency: threads take turns, all orderings are `SeqCst`.
//!
//! [`machine`] runs one execution and asks a [`schedule::Scheduler`] what happens next; a file a
//! strategy: [`dpor`] (with [`trace`]), [`bounded`], [`random`], [`replay`]. Several cores explore
//! by [`branch`], with [`share`] for what source-DPOR has in common. [`spin`] says what a pause
//! means, [`synchronize`] finds data races and leaks, [`order`] is what an observer sees of the
//! order of events.

mod bounded;
mod branch;
mod clock;
mod dpor;
mod machine;
mod order;
mod random;
mod replay;
mod schedule;
mod set;
mod share;
mod spin;
mod state;
mod stuck;
mod synchronize;
mod trace;

pub(crate) use bounded::{Bounded, Shown};
pub(crate) use branch::{Branch, Path};
pub(crate) use dpor::Dpor;
pub(crate) use share::Forks;

use crate::crew::Observer;
use crate::execution::Problem;
use crate::options::{Exploration, Options};
use linchpin_verdict::StopReason;
use machine::{End, Machine};
use order::Order;
use schedule::Scheduler;
use std::rc::Rc;

/// Every execution up to the order of independent steps.
pub(crate) fn exhaustive(
    options: &Options,
    body: &Rc<dyn Fn()>,
    observe: Observer<'_>,
) -> Exploration {
    run(options, body, observe, Dpor::default())
}

/// Every execution with at most so many preemptions.
pub(crate) fn bounded(
    options: &Options,
    body: &Rc<dyn Fn()>,
    observe: Observer<'_>,
    most: usize,
) -> Exploration {
    run(options, body, observe, Bounded::new(most))
}

/// So many executions at random.
pub(crate) fn random(
    options: &Options,
    body: &Rc<dyn Fn()>,
    observe: Observer<'_>,
    runs: u64,
    seed: u64,
) -> Exploration {
    match runs {
        0 => Exploration::default(),
        _ => run(options, body, observe, random::Walk::new(runs, seed)),
    }
}

/// So many executions with priorities at random.
pub(crate) fn pct(
    options: &Options,
    body: &Rc<dyn Fn()>,
    observe: Observer<'_>,
    (runs, depth, seed): (u64, usize, u64),
) -> Exploration {
    match runs {
        0 => Exploration::default(),
        _ => run(options, body, observe, random::Pct::new(runs, depth, seed)),
    }
}

/// One execution again.
pub(crate) fn replay(
    options: &Options,
    body: &Rc<dyn Fn()>,
    observe: Observer<'_>,
    decisions: &[u32],
) -> Exploration {
    run(options, body, observe, replay::Replay::new(decisions))
}

/// Runs one execution after the other and shows those that are new.
fn run<S: Scheduler>(
    options: &Options,
    body: &Rc<dyn Fn()>,
    observe: Observer<'_>,
    mut scheduler: S,
) -> Exploration {
    let mut machine = Machine::new(options);
    let mut order = Order::default();
    let mut explored = Exploration::default();
    loop {
        explored.stopped = match options.executions {
            Some(most) if explored.executions >= most => Some(StopReason::Budget),
            _ => options.limits.exceeded(scheduler.bytes()),
        };
        if explored.stopped.is_some() {
            return explored;
        }
        let end = machine.run(body, &mut scheduler);
        explored.steps = machine.steps;
        match end {
            End::Stopped(reason) => {
                explored.stopped = Some(reason);
                return explored;
            }
            End::Redundant => explored.redundant += 1,
            End::Whole => {
                let execution = &mut machine.execution;
                order.fill(execution);
                if scheduler.is_new(execution) {
                    explored.executions += 1;
                    if observe(execution).is_break() {
                        return explored;
                    }
                    scheduler.shown();
                } else {
                    explored.redundant += 1;
                }
                // What other executions do cannot be told from what they did.
                if matches!(execution.problem, Some(Problem::Nondeterministic { .. })) {
                    return explored;
                }
            }
        }
        if !scheduler.next() {
            explored.complete = scheduler.is_complete();
            return explored;
        }
    }
}
