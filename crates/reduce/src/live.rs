//! Live facts: conditions that hold in every state of an execution in which the instance completes.
//!
//! A later sub-operation of the instance tests `g`. If no step can make `g` true once it is false,
//! then `g` is true from now on, or the instance never completes: in an execution in which it does,
//! `g` is a fact already. This is what a validated read gives: that the version did not change,
//! that the node was not marked.
//!
//! INVARIANT: the argument goes backwards in time. At the latest state in which some live fact is
//! false, all of them hold in the next state; so live facts may be assumed after the step that is
//! looked at, never before it.

use linchpin_subop::model::{
    Atom, Condition, LocalId, Place, Relation, Statement, SubOperation, Term, Type, Var,
};
use linchpin_syntax::Span;

use rustc_hash::FxHashMap;

use crate::candidates::{conjuncts, same_condition};
use crate::context::Context;
use crate::prefix;
use crate::search::explore;
use crate::symbolic::{Env, Mode};

/// Finds the live facts. The stable facts must be inductive already.
pub fn find(context: &mut Context) {
    let tests: Vec<Vec<Condition>> =
        (0..context.prefixes.all.len()).map(|prefix| tested(context, prefix)).collect();
    for at in 0..context.prefixes.all.len() {
        let data = &context.prefixes.all[at];
        if data.steps.is_empty() {
            continue;
        }
        let set = data.set.clone();
        let mut needed = needed(context, at, &tests);
        needed.retain(|condition| locals(condition).iter().all(|local| set[local.0]));
        // What is stable anyway says nothing new.
        needed.retain(|condition| {
            !context.facts.conditions(at).any(|known| same_condition(known, condition))
        });
        context.facts.live[at] = needed;
    }
    // How often live facts of each prefix were dropped, and how often that was when a question that
    // assumes them was asked.
    let mut drops = vec![0u32; context.prefixes.all.len()];
    let mut asked: FxHashMap<(usize, usize), (u32, u32)> = FxHashMap::default();
    loop {
        let mut changed = false;
        for at in context.prefixes.proper().collect::<Vec<_>>() {
            for step in context.prefixes.nonempty().collect::<Vec<_>>() {
                let now = (drops[at], drops[step]);
                if context.facts.live[at].is_empty() || asked.insert((at, step), now) == Some(now) {
                    continue;
                }
                let mut dropped = interference(context, at, step);
                if context.prefixes.all[step].parent == Some(at) {
                    dropped |= own_step(context, at, step, &tests[step]);
                }
                drops[at] += u32::from(dropped);
                changed |= dropped;
            }
        }
        if !changed {
            return;
        }
    }
}

/// The comparisons that every way from here to completion makes, with locals that do not change
/// before.
fn needed(context: &Context, at: usize, tests: &[Vec<Condition>]) -> Vec<Condition> {
    let data = &context.prefixes.all[at];
    if data.complete {
        return Vec::new();
    }
    let mut common: Option<Vec<Condition>> = None;
    for child in &data.next {
        let Some(step) = context.prefixes.last(*child) else { continue };
        let mut found = tests[*child].clone();
        let assigned = assigned(step);
        for later in needed(context, *child, tests) {
            if !locals(&later).iter().any(|local| assigned.contains(local)) {
                found.push(later);
            }
        }
        common = Some(match common {
            None => found,
            Some(known) => known
                .into_iter()
                .filter(|one| found.iter().any(|other| same_condition(one, other)))
                .collect(),
        });
    }
    let mut distinct: Vec<Condition> = Vec::new();
    for condition in common.unwrap_or_default() {
        if !distinct.iter().any(|known| same_condition(known, &condition)) {
            distinct.push(condition);
        }
    }
    distinct
}

/// What must hold for the last step of a prefix to be executed: its comparisons, and that what is
/// equal to an object is not `NULL`.
fn tested(context: &Context, child: usize) -> Vec<Condition> {
    let (Some(step), Some(parent)) =
        (context.prefixes.last(child), context.prefixes.all[child].parent)
    else {
        return Vec::new();
    };
    let mut parts = Vec::new();
    conjuncts(&step.precondition, &mut parts);
    let mut implied: Vec<Condition> = Vec::new();
    for part in &parts {
        if let Condition::Atom(Atom { left, relation: Relation::Equal, right, .. }) = part
            && let (
                Term::Place(place @ Place::Field(..)),
                Term::Place(Place::Variable(Var::Local(_))),
            ) = (left, right)
            && crate::footprint::kind(place).and_then(|kind| context.type_of(kind))
                != Some(Type::Int)
        {
            let atom = Atom {
                left: *left,
                relation: Relation::NotEqual,
                right: Term::Null,
                span: Span::default(),
            };
            implied.push(Condition::Atom(atom));
        }
    }
    implied.retain(|condition| {
        let mut holds = true;
        let outcome = explore(context, &[parent], &mut |symbolic, before| {
            // Guessed locals have a value only afterwards; the condition is about places that do
            // not change.
            let mut after = before.clone();
            symbolic.execute(&mut after, 0, child, Mode::Assume)?;
            let mut then = before.clone();
            then.instances[0].locals.clone_from(&after.instances[0].locals);
            holds &= symbolic.require(&then, Env::of(0), condition)?;
            Ok(holds)
        });
        holds
            && outcome.is_ok()
            && !locals(condition).iter().any(|local| assigned(step).contains(local))
    });
    parts.extend(implied);
    parts
}

fn assigned(step: &SubOperation) -> Vec<LocalId> {
    step.body
        .iter()
        .filter_map(|statement| match statement {
            Statement::Assign { place: Place::Variable(Var::Local(local)), .. } => Some(*local),
            Statement::Malloc { var: Var::Local(local), .. } => Some(*local),
            _ => None,
        })
        .collect()
}

fn locals(condition: &Condition) -> Vec<LocalId> {
    let mut found = Vec::new();
    for atom in condition.atoms() {
        prefix::term(&atom.left, &mut found);
        prefix::term(&atom.right, &mut found);
    }
    found
}

/// Whether an own step leaves what is false false, or tests it itself.
fn own_step(context: &mut Context, at: usize, child: usize, tested: &[Condition]) -> bool {
    let open: Vec<usize> = (0..context.facts.live[at].len())
        .filter(|fact| {
            !tested.iter().any(|part| same_condition(part, &context.facts.live[at][*fact]))
        })
        .collect();
    let later = &context.facts.live[child];
    let stable: Vec<&Condition> = context.facts.conditions(child).collect();
    let mut bad: Vec<usize> = open
        .iter()
        .copied()
        .filter(|fact| {
            let condition = &context.facts.live[at][*fact];
            let kept = later
                .iter()
                .chain(stable.iter().copied())
                .any(|known| same_condition(known, condition));
            !kept
        })
        .collect();
    let outcome = explore(context, &[at], &mut |symbolic, before| {
        let mut after = before.clone();
        symbolic.execute(&mut after, 0, child, Mode::Assume)?;
        symbolic.assume_facts(&after, 0, child)?;
        symbolic.assume_live(&after, 0, child)?;
        for fact in &open {
            // Asked even if it is bad already: what is decided for it the script remembers.
            let holds =
                symbolic.require(before, Env::of(0), &symbolic.context.facts.live[at][*fact])?;
            if !holds && !bad.contains(fact) {
                bad.push(*fact);
            }
        }
        Ok(true)
    });
    remove(context, at, if outcome.is_err() { open } else { bad })
}

/// Whether a step of another instance leaves what is false false.
fn interference(context: &mut Context, at: usize, other: usize) -> bool {
    let Some(parent) = context.prefixes.all[other].parent else { return false };
    let step = context.step_footprint(other);
    let open: Vec<usize> = (0..context.facts.live[at].len())
        .filter(|fact| {
            let footprint =
                crate::footprint::Footprint::of_condition(&context.facts.live[at][*fact]);
            step.writes.iter().any(|kind| footprint.reads.contains(kind))
        })
        .collect();
    if open.is_empty() {
        return false;
    }
    let mut bad: Vec<usize> = Vec::new();
    let outcome = explore(context, &[at, parent], &mut |symbolic, before| {
        let mut after = before.clone();
        symbolic.execute(&mut after, 1, other, Mode::Assume)?;
        symbolic.assume_facts(&after, 0, at)?;
        symbolic.assume_live(&after, 0, at)?;
        if !symbolic.context.prefixes.all[other].complete {
            symbolic.assume_facts(&after, 1, other)?;
            symbolic.assume_live(&after, 1, other)?;
        }
        for fact in &open {
            // Asked even if it is bad already: what is decided for it the script remembers.
            let holds =
                symbolic.require(before, Env::of(0), &symbolic.context.facts.live[at][*fact])?;
            if !holds && !bad.contains(fact) {
                bad.push(*fact);
            }
        }
        Ok(true)
    });
    remove(context, at, if outcome.is_err() { open } else { bad })
}

fn remove(context: &mut Context, at: usize, bad: Vec<usize>) -> bool {
    let changed = !bad.is_empty();
    let mut position = 0;
    context.facts.live[at].retain(|_| {
        position += 1;
        !bad.contains(&(position - 1))
    });
    changed
}
