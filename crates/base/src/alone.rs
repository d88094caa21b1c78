//! Running an operation alone: what decides base points (Definitions 1 and 2 of paper 004).
//!
//! An operation is deterministic, so "s is a base point for step b of op" is decided by running op
//! from s by itself, with all locks free. The weakest base condition of b is that set of states;
//! conditions that people write are claims about it.

use crate::outcome::{Ending, Labels, Outcome, Update, Words};
use linchpin_space::{Alone, AloneStep, Flat, Space, Workspace};

/// A run that takes more steps than this is taken to be endless.
const MOST_STEPS: usize = 20_000;

/// A call: an operation with its arguments, by a thread that may make it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The thread that is taken to make it: it matters only where a model names threads.
    pub thread: usize,
    /// The operation.
    pub operation: usize,
    /// The words of its arguments.
    pub arguments: Vec<i64>,
}

/// A run of one thread, and whether it still reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// What it does.
    pub outcome: Outcome,
    /// Whether it accesses memory other than locks.
    pub accesses: bool,
}

impl Rest {
    /// Nothing more: the operation has answered this.
    pub fn returned(answer: Words) -> Rest {
        let outcome = Outcome { updates: Vec::new(), ending: Ending::Returns(answer) };
        Rest { outcome, accesses: false }
    }
}

/// Follows a run: is told of every step, in order.
pub trait Follow {
    /// A step from `before` to `after`, along these nodes and edges.
    fn step(&mut self, before: &Flat, after: &Flat, path: &[(u32, u32)]);
}

impl Follow for () {
    fn step(&mut self, _: &Flat, _: &Flat, _: &[(u32, u32)]) {}
}

/// Runs the call alone from the shared part of a state.
pub fn alone(space: &Space, from: &Flat, call: &Call, workspace: &mut Workspace) -> Outcome {
    follow(space, from, call, workspace, &mut ())
}

/// The same, telling what happens on the way.
pub fn follow(
    space: &Space,
    from: &Flat,
    call: &Call,
    workspace: &mut Workspace,
    follower: &mut dyn Follow,
) -> Outcome {
    let mut flat = from.clone();
    space.set_aside_others(&mut flat, None);
    let labels = Labels::new(space, &flat);
    let before = flat.clone();
    let Call { thread, operation, arguments } = call;
    let first = space.call_alone(&mut flat, *thread, *operation, arguments, workspace);
    let start = Start { thread: *thread, before, flat, labels, first: Some(first) };
    run(space, start, workspace, follower).outcome
}

/// Lets a thread that is inside an operation go on alone. The locks that it holds stay its own.
pub fn rest(space: &Space, from: &Flat, thread: usize, workspace: &mut Workspace) -> Rest {
    let mut flat = from.clone();
    space.set_aside_others(&mut flat, Some(thread));
    let labels = Labels::new(space, &flat);
    let start = Start { thread, before: flat.clone(), flat, labels, first: None };
    run(space, start, workspace, &mut ())
}

/// Where a run begins.
struct Start {
    thread: usize,
    before: Flat,
    flat: Flat,
    labels: Labels,
    /// The call, if it was just made.
    first: Option<AloneStep>,
}

fn run(space: &Space, start: Start, workspace: &mut Workspace, follower: &mut dyn Follow) -> Rest {
    let Start { thread, mut before, mut flat, mut labels, mut first } = start;
    let mut updates = Vec::new();
    let mut accesses = false;
    // A state that comes again is found by comparing with one kept at each power of two.
    let mut kept = Flat::default();
    let mut ending = Ending::Endless;
    for number in 1..=MOST_STEPS {
        let step = match first.take() {
            Some(step) => step,
            None => {
                before.clone_from(&flat);
                space.step_alone(&mut flat, thread, workspace)
            }
        };
        accesses |= step.accesses;
        let node = workspace.path().first().map_or(0, |(node, _)| *node);
        match step.led {
            Alone::Blocked => {
                ending = Ending::Blocks;
                break;
            }
            Alone::Faulted => {
                ending = Ending::Fails;
                break;
            }
            Alone::On | Alone::Returned(_) => {}
        }
        follower.step(&before, &flat, workspace.path());
        let label = labels.of_step(space, &before, &flat);
        if !label.is_empty() {
            updates.push(Update { node, label });
        }
        if let Alone::Returned(words) = step.led {
            ending = Ending::Returns(words);
            break;
        }
        if flat == kept {
            break;
        }
        if number.is_power_of_two() {
            kept.clone_from(&flat);
        }
    }
    Rest { outcome: Outcome { updates, ending }, accesses }
}
