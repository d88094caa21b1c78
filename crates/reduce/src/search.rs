//! Visiting all cases of a question.
//!
//! A question is a state in which instances are found, what is assumed or executed from there in
//! *stages*, and a visit at the end. Whatever is not decided is chosen, and a script remembers the
//! choices, so that the next visit takes the next ones. Stages that no changed choice concerns are
//! not repeated: what they led to is kept.

use linchpin_subop::model::Condition;

use crate::context::Context;
use crate::script::Script;
use crate::solver::roomy;
use crate::symbolic::{Env, Memory, Run, Stop, Symbolic};

/// Too many cases: nothing is concluded.
#[derive(Debug)]
pub struct TooManyCases;

/// Something that is assumed or executed before the visit.
pub type Stage<'s, 'c> = Box<dyn Fn(&mut Symbolic<'c>, &mut Memory) -> Run<()> + 's>;

/// What some of the stages led to.
struct Snapshot<'c> {
    symbolic: Symbolic<'c>,
    memory: Memory,
    /// How many decisions led here.
    decisions: usize,
    /// How many facts were assumed and stages executed.
    done: usize,
}

/// Visits every case of two instances (or one) that executed these prefixes, in a state that
/// satisfies the stable facts.
pub fn explore<'c>(
    context: &'c Context<'c>,
    prefixes: &[usize],
    visit: &mut dyn FnMut(&mut Symbolic<'c>, &Memory) -> Run<bool>,
) -> Result<(), TooManyCases> {
    explore_stages(context, prefixes, &[], &mut |symbolic, _, memory| visit(symbolic, memory))
}

/// The same after some stages; the visit gets the state before them and the state after them.
pub fn explore_stages<'c>(
    context: &'c Context<'c>,
    prefixes: &[usize],
    stages: &[Stage<'_, 'c>],
    visit: &mut dyn FnMut(&mut Symbolic<'c>, &Memory, &Memory) -> Run<bool>,
) -> Result<(), TooManyCases> {
    if !context.count_case() {
        return Err(TooManyCases);
    }
    let mut symbolic = Symbolic::new(context);
    match symbolic.enter(prefixes) {
        Ok(()) => {}
        Err(Stop::Prune) => return Ok(()),
        Err(Stop::Blocked) => return Err(TooManyCases),
    }
    if symbolic.solver.is_full() {
        return Err(TooManyCases);
    }
    let given = symbolic.given.clone();
    let start = Snapshot { symbolic, memory: given.before.clone(), decisions: 0, done: 0 };
    visit_all(start, &facts(context, prefixes), stages, &mut |symbolic, memory| {
        visit(symbolic, &given.before, memory)
    })
}

/// Visits every case in which the stages go on from a state that a visit found. What is decided in
/// them is forgotten afterwards.
pub fn explore_from<'c>(
    symbolic: &Symbolic<'c>,
    memory: &Memory,
    stages: &[Stage<'_, 'c>],
    visit: &mut dyn FnMut(&mut Symbolic<'c>, &Memory) -> Run<bool>,
) -> Result<(), TooManyCases> {
    if !symbolic.context.count_case() {
        return Err(TooManyCases);
    }
    let mut symbolic = symbolic.clone();
    symbolic.script = Script::default();
    let start = Snapshot { symbolic, memory: memory.clone(), decisions: 0, done: 0 };
    visit_all(start, &[], stages, visit)
}

fn visit_all<'c>(
    start: Snapshot<'c>,
    facts: &[(usize, &'c Condition)],
    stages: &[Stage<'_, 'c>],
    visit: &mut dyn FnMut(&mut Symbolic<'c>, &Memory) -> Run<bool>,
) -> Result<(), TooManyCases> {
    let context = start.symbolic.context;
    let mut snapshots = vec![start];
    let mut script = Script::default();
    for _ in 0..context.most_cases {
        // What was found before the decision that changed is found again.
        let changed = script.len().saturating_sub(1);
        while snapshots.len() > 1 && snapshots[snapshots.len() - 1].decisions > changed {
            snapshots.pop();
        }
        let from = &snapshots[snapshots.len() - 1];
        let (mut symbolic, mut memory, mut done) =
            (from.symbolic.clone(), from.memory.clone(), from.done);
        symbolic.cells = roomy(&from.symbolic.cells);
        script.resume(from.decisions);
        symbolic.script = script;
        let mut outcome = Ok(());
        while done < facts.len() + stages.len() && outcome.is_ok() {
            let decisions = symbolic.script.position();
            outcome = match facts.get(done) {
                Some((who, condition)) => symbolic.assume(&memory, Env::of(*who), condition),
                None => stages[done - facts.len()](&mut symbolic, &mut memory),
            };
            done += 1;
            let last = done == facts.len() + stages.len();
            if outcome.is_ok() && (last || symbolic.script.position() > decisions) {
                snapshots.push(snapshot(&mut symbolic, &memory, done));
            }
        }
        let outcome = outcome.and_then(|()| visit(&mut symbolic, &memory));
        if symbolic.script.is_confused() || symbolic.solver.is_full() {
            return Err(TooManyCases);
        }
        script = symbolic.script;
        // INVARIANT: what requires something deals with it being blocked; if not, nothing is
        // concluded.
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

fn snapshot<'c>(symbolic: &mut Symbolic<'c>, memory: &Memory, done: usize) -> Snapshot<'c> {
    let script = std::mem::take(&mut symbolic.script);
    let known = symbolic.clone();
    symbolic.script = script;
    Snapshot {
        symbolic: known,
        memory: memory.clone(),
        decisions: symbolic.script.position(),
        done,
    }
}

/// Visits the cases of the state that `initially` leaves: one, but for what is not decided about
/// it.
pub fn explore_start<'c>(
    context: &'c Context<'c>,
    visit: &mut dyn FnMut(&mut Symbolic<'c>, &Memory) -> Run<bool>,
) -> Result<(), TooManyCases> {
    let mut script = Script::default();
    for _ in 0..context.most_cases {
        let mut symbolic = Symbolic::new(context);
        symbolic.script = script;
        symbolic.beginning = true;
        let outcome = symbolic.begin().and_then(|memory| visit(&mut symbolic, &memory));
        script = symbolic.script;
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
