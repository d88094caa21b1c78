//! Runs of calls alone, with the values of local variables along them.

use crate::alone::{Call, Follow, follow};
use crate::outcome::{Ending, Words, is_update};
use linchpin_ir::program::{Body, LocalId};
use linchpin_space::{Flat, Space, Workspace};

/// A step of a run.
#[derive(Clone, Debug)]
pub struct Passed {
    /// The nodes and edges that it went along.
    pub path: Vec<(u32, u32)>,
    /// The values of all locals before it.
    pub before: Vec<Words>,
    /// The same after it.
    pub after: Vec<Words>,
    /// Whether it changes the shared state.
    pub is_update: bool,
}

/// What a call does alone from a shared state.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its steps.
    pub steps: Vec<Passed>,
    /// How it ends.
    pub ending: Ending,
}

/// Runs a call alone from a shared state.
pub fn run(space: &Space, from: &Flat, call: &Call, workspace: &mut Workspace) -> Run {
    let mut recorder = Recorder { space, call, steps: Vec::new() };
    let outcome = follow(space, from, call, workspace, &mut recorder);
    Run { steps: recorder.steps, ending: outcome.ending }
}

struct Recorder<'a> {
    space: &'a Space,
    call: &'a Call,
    steps: Vec<Passed>,
}

impl Recorder<'_> {
    fn locals(&self, flat: &Flat) -> Vec<Words> {
        let Call { thread, operation, .. } = *self.call;
        let count = self.space.program().operations[operation].body.locals.len();
        let words = |local| Words::from_slice(self.space.local(flat, thread, operation, local));
        (0..count).map(words).collect()
    }
}

impl Follow for Recorder<'_> {
    fn step(&mut self, before: &Flat, after: &Flat, path: &[(u32, u32)]) {
        let passed = Passed {
            path: path.to_vec(),
            before: self.locals(before),
            after: self.locals(after),
            is_update: is_update(self.space, before, after),
        };
        self.steps.push(passed);
    }
}

impl Passed {
    /// The value of a local where so many actions of an edge of this step were done; none if it
    /// is assigned both before and after that within the step.
    pub fn value_at(
        &self,
        body: &Body,
        position: usize,
        actions: usize,
        local: LocalId,
    ) -> Option<&Words> {
        let assigns = |(node, edge): (u32, u32), from: usize, to: usize| {
            let all = &body.nodes[node as usize].edges[edge as usize].actions;
            all[from.min(all.len())..to.min(all.len())]
                .iter()
                .any(|(action, _)| action.answer() == Some(local))
        };
        let whole = |at: &(u32, u32)| assigns(*at, 0, usize::MAX);
        let here = self.path[position];
        let later = self.path[position + 1..].iter().any(whole);
        if !later && !assigns(here, actions, usize::MAX) {
            return self.after.get(local.0 as usize);
        }
        let earlier = self.path[..position].iter().any(whole);
        if !earlier && !assigns(here, 0, actions) {
            return self.before.get(local.0 as usize);
        }
        None
    }
}
