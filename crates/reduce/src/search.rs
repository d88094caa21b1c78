//! Visiting all cases of a question.
//!
//! A question is a state in which instances are found, what is assumed or executed from there in *stages*, and a visit at the end. Whatever is
//! not decided is chosen, and a script remembers the choices, so that the next visit takes the next ones. Stages that no
//! changed choice concerns are not repeated: what they led to is kept.

use linchpin_subop::model::Condition;

use crate::context::Context;
use crate::solver::roomy;
use crate::world::{Env, Memory, Run, Stop, World};

/// The decisions of one visit.
#[derive(Clone, Default)]
pub(crate) struct Script {
    choices: Vec<(u32, u32)>,
    at: usize,
    /// A question was asked that the script has no answer to: it remembers one to another question.
    confused: bool,
}

impl Script {
    /// INVARIANT: what is asked depends on nothing but the answers before; else cases are never visited.
    pub(crate) fn choose(&mut self, options: u32) -> u32 {
        if self.at == self.choices.len() {
            self.choices.push((0, options));
        }
        self.at += 1;
        let (choice, known) = self.choices[self.at - 1];
        self.confused |= known != options;
        choice.min(options.saturating_sub(1))
    }

    /// The next visit's decisions; false if all were made.
    pub(crate) fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((choice, options)) = self.choices.pop() {
            if choice + 1 < options {
                self.choices.push((choice + 1, options));
                return true;
            }
        }
        false
    }
}

/// Too many cases: nothing is concluded.
#[derive(Debug)]
pub struct TooManyCases;

/// Something that is assumed or executed before the visit.
pub type Stage<'s, 'c> = Box<dyn Fn(&mut World<'c>, &mut Memory) -> Run<()> + 's>;

/// What some of the stages led to.
struct Snapshot<'c> {
    world: World<'c>,
    memory: Memory,
    /// How many decisions led here.
    decisions: usize,
    /// How many facts were assumed and stages executed.
    done: usize,
}

/// Visits every case of two instances (or one) that executed these prefixes, in a state that satisfies the stable facts.
pub fn explore<'c>(
    context: &'c Context<'c>,
    prefixes: &[usize],
    visit: &mut dyn FnMut(&mut World<'c>, &Memory) -> Run<bool>,
) -> Result<(), TooManyCases> {
    explore_stages(context, prefixes, &[], &mut |world, _, memory| visit(world, memory))
}

/// The same after some stages; the visit gets the state before them and the state after them.
pub fn explore_stages<'c>(
    context: &'c Context<'c>,
    prefixes: &[usize],
    stages: &[Stage<'_, 'c>],
    visit: &mut dyn FnMut(&mut World<'c>, &Memory, &Memory) -> Run<bool>,
) -> Result<(), TooManyCases> {
    if !context.count_case() {
        return Err(TooManyCases);
    }
    let mut world = World::new(context);
    match world.enter(prefixes) {
        Ok(()) => {}
        Err(Stop::Prune) => return Ok(()),
        Err(Stop::Blocked) => return Err(TooManyCases),
    }
    if world.solver.is_full() {
        return Err(TooManyCases);
    }
    let given = world.given.clone();
    let start = Snapshot { world, memory: given.before.clone(), decisions: 0, done: 0 };
    visit_all(start, &facts(context, prefixes), stages, &mut |world, memory| {
        visit(world, &given.before, memory)
    })
}

/// Visits every case in which the stages go on from a state that a visit found. What is decided in them is forgotten afterwards.
pub fn explore_from<'c>(
    world: &World<'c>,
    memory: &Memory,
    stages: &[Stage<'_, 'c>],
    visit: &mut dyn FnMut(&mut World<'c>, &Memory) -> Run<bool>,
) -> Result<(), TooManyCases> {
    if !world.context.count_case() {
        return Err(TooManyCases);
    }
    let mut world = world.clone();
    world.script = Script::default();
    let start = Snapshot { world, memory: memory.clone(), decisions: 0, done: 0 };
    visit_all(start, &[], stages, visit)
}

fn visit_all<'c>(
    start: Snapshot<'c>,
    facts: &[(usize, &'c Condition)],
    stages: &[Stage<'_, 'c>],
    visit: &mut dyn FnMut(&mut World<'c>, &Memory) -> Run<bool>,
) -> Result<(), TooManyCases> {
    let context = start.world.context;
    let mut snapshots = vec![start];
    let mut script = Script::default();
    for _ in 0..context.most_cases {
        // What was found before the decision that changed is found again.
        let changed = script.choices.len().saturating_sub(1);
        while snapshots.len() > 1 && snapshots[snapshots.len() - 1].decisions > changed {
            snapshots.pop();
        }
        let from = &snapshots[snapshots.len() - 1];
        let (mut world, mut memory, mut done) =
            (from.world.clone(), from.memory.clone(), from.done);
        world.cells = roomy(&from.world.cells);
        script.at = from.decisions;
        world.script = script;
        let mut outcome = Ok(());
        while done < facts.len() + stages.len() && outcome.is_ok() {
            let decisions = world.script.at;
            outcome = match facts.get(done) {
                Some((who, condition)) => world.assume(&memory, Env::of(*who), condition),
                None => stages[done - facts.len()](&mut world, &mut memory),
            };
            done += 1;
            let last = done == facts.len() + stages.len();
            if outcome.is_ok() && (last || world.script.at > decisions) {
                snapshots.push(snapshot(&mut world, &memory, done));
            }
        }
        let outcome = outcome.and_then(|()| visit(&mut world, &memory));
        if world.script.confused || world.solver.is_full() {
            return Err(TooManyCases);
        }
        script = world.script;
        // INVARIANT: whoever requires something deals with it being blocked; if not, nothing is concluded.
        if outcome == Err(Stop::Blocked) {
            return Err(TooManyCases);
        }
        // `false`: what was asked is answered.
        if outcome == Ok(false) || !script.advance() {
            return Ok(());
        }
        if !context.count_case() {
            return Err(TooManyCases);
        }
    }
    Err(TooManyCases)
}

/// The stable facts of the instances, and the invariants without bound variables.
fn facts<'c>(context: &'c Context<'c>, prefixes: &[usize]) -> Vec<(usize, &'c Condition)> {
    let mut found = Vec::new();
    for (who, prefix) in prefixes.iter().enumerate() {
        found.extend(context.facts.conditions(*prefix).map(|condition| (who, condition)));
    }
    found.extend(context.facts.invariants().map(|condition| (0, condition)));
    found
}

fn snapshot<'c>(world: &mut World<'c>, memory: &Memory, done: usize) -> Snapshot<'c> {
    let script = std::mem::take(&mut world.script);
    let known = world.clone();
    world.script = script;
    Snapshot { world: known, memory: memory.clone(), decisions: world.script.at, done }
}

/// Visits the cases of the state that `initially` leaves: one, but for what is not decided about it.
pub fn explore_start<'c>(
    context: &'c Context<'c>,
    visit: &mut dyn FnMut(&mut World<'c>, &Memory) -> Run<bool>,
) -> Result<(), TooManyCases> {
    let mut script = Script::default();
    for _ in 0..context.most_cases {
        let mut world = World::new(context);
        world.script = script;
        world.beginning = true;
        let outcome = world.begin().and_then(|memory| visit(&mut world, &memory));
        script = world.script;
        match outcome {
            Ok(true) | Err(Stop::Prune) => {}
            Ok(false) => return Ok(()),
            // `initially` does something that is not defined: nothing is concluded.
            Err(Stop::Blocked) => return Err(TooManyCases),
        }
        if !script.advance() {
            return Ok(());
        }
    }
    Err(TooManyCases)
}
