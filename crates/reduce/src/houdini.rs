//! Houdini: inductive facts by elimination. Candidates are dropped until those that remain are
//! stable: each prefix establishes its facts, and no step of another instance breaks them. What
//! remains is inductive, so it holds in every reachable state. Unlike in Flanagan and Leino's, a
//! question is asked again only if one of its premises was dropped.

use crate::context::Context;
use crate::facts::{Reach, Reason, Statement};
use crate::footprint::Kind;
use crate::search::{explore, explore_from};
use crate::solver::{Value, flag};
use crate::start::combinations;
use crate::symbolic::{Env, Memory, Mode, Run, Symbolic};
use linchpin_subop::model::{Place, StructId, Type, Var};

/// Which questions are open: all at first, and again those whose premises a dropped candidate was
/// among.
struct Open {
    own: Vec<bool>,
    /// For each prefix and each step of another instance.
    pairs: Vec<Vec<bool>>,
}

impl Open {
    fn all(context: &Context) -> Open {
        let count = context.prefixes.all.len();
        let mut open = Open { own: vec![false; count], pairs: vec![vec![false; count]; count] };
        for step in context.prefixes.nonempty() {
            open.own[step] = true;
            context.prefixes.proper().for_each(|prefix| open.pairs[prefix][step] = true);
        }
        open
    }

    fn any(&self) -> bool {
        self.own.iter().chain(self.pairs.iter().flatten()).any(|open| *open)
    }

    /// A fact of this prefix was dropped.
    fn fact(&mut self, context: &Context, prefix: usize) {
        if context.prefixes.is_proper(prefix) {
            context.prefixes.nonempty().for_each(|step| self.pairs[prefix][step] = true);
        }
        for child in &context.prefixes.all[prefix].next {
            self.own[*child] = true;
            context.prefixes.proper().for_each(|waiting| self.pairs[waiting][*child] = true);
        }
    }
}

/// What a question led to drop.
#[derive(Clone, Copy, Default)]
struct Dropped {
    fact: bool,
    invariant: bool,
}

/// Drops candidates until the rest is inductive.
pub fn eliminate(context: &mut Context) {
    drop_false_at_start(context);
    let steps: Vec<usize> = context.prefixes.nonempty().collect();
    let proper: Vec<usize> = context.prefixes.proper().collect();
    let mut open = Open::all(context);
    while open.any() {
        // The longest prefixes first: what falls there makes invariants fall, and that opens
        // everything again.
        for prefix in proper.iter().rev() {
            own_steps(context, &steps, &mut open);
            for step in &steps {
                if std::mem::take(&mut open.pairs[*prefix][*step])
                    && interference(context, *prefix, *step)
                {
                    open.fact(context, *prefix);
                }
            }
        }
        own_steps(context, &steps, &mut open);
    }
}

/// Asks the open questions about one instance.
fn own_steps(context: &mut Context, steps: &[usize], open: &mut Open) {
    while let Some(prefix) = steps.iter().find(|prefix| open.own[**prefix]) {
        open.own[*prefix] = false;
        let dropped = own_step(context, *prefix);
        if dropped.invariant {
            *open = Open::all(context);
        }
        if dropped.fact {
            open.fact(context, *prefix);
        }
    }
}

fn drop_false_at_start(context: &mut Context) {
    let mut dropped = Vec::new();
    for (at, invariant) in context.facts.invariants.iter().enumerate() {
        if invariant.dropped.is_some() {
            continue;
        }
        let holds = crate::start::holds(context, invariant);
        if !holds {
            dropped.push(at);
        }
    }
    for at in dropped {
        context.facts.invariants[at].dropped = Some(Reason::NotAtStart);
    }
}

/// Whether the step that ends `prefix` establishes the facts there and keeps the invariants.
fn own_step(context: &mut Context, prefix: usize) -> Dropped {
    let data = &context.prefixes.all[prefix];
    let mut dropped = Dropped::default();
    let Some(parent) = data.parent else { return dropped };
    let step = context.step_footprint(prefix);
    let facts: Vec<usize> = alive(context, prefix);
    let invariants: Vec<usize> = (0..context.facts.invariants.len())
        .filter(|at| {
            let invariant = &context.facts.invariants[*at];
            // A new object must satisfy what holds of all objects.
            invariant.dropped.is_none()
                && (!invariant.bound.is_empty() || step.conflicts(&invariant.footprint))
        })
        .collect();
    if facts.is_empty() && invariants.is_empty() {
        return dropped;
    }
    let (mut bad_facts, mut bad_invariants) =
        (vec![false; facts.len()], vec![false; invariants.len()]);
    let outcome = explore(context, &[parent], &mut |symbolic, before| {
        let mut after = before.clone();
        symbolic.execute(&mut after, 0, prefix, Mode::Assume)?;
        for (at, fact) in facts.iter().enumerate() {
            // Asked even if it is bad already: what is decided for it the script remembers.
            bad_facts[at] |= !holds(symbolic, before, &after, 0, prefix, *fact, Some(parent))?;
        }
        for (at, invariant) in invariants.iter().enumerate() {
            if !bad_invariants[at] {
                bad_invariants[at] = !invariant_kept(symbolic, before, &after, *invariant);
            }
        }
        Ok(true)
    });
    let reason = if outcome.is_err() { Reason::TooManyCases } else { Reason::NotEstablished };
    for (at, fact) in facts.iter().enumerate() {
        if bad_facts[at] || outcome.is_err() {
            context.facts.at[prefix][*fact].dropped = Some(reason.clone());
            dropped.fact = true;
        }
    }
    for (at, invariant) in invariants.iter().enumerate() {
        if bad_invariants[at] || outcome.is_err() {
            let reason =
                if outcome.is_err() { Reason::TooManyCases } else { Reason::BrokenBy(prefix) };
            context.facts.invariants[*invariant].dropped = Some(reason);
            dropped.invariant = true;
        }
    }
    dropped
}

/// Whether the facts at `prefix` survive the step that ends `other`, executed by another instance.
fn interference(context: &mut Context, prefix: usize, other: usize) -> bool {
    let Some(parent) = context.prefixes.all[other].parent else { return false };
    let step = context.step_footprint(other);
    let facts: Vec<usize> = alive(context, prefix)
        .into_iter()
        .filter(|fact| {
            let candidate = &context.facts.at[prefix][*fact];
            match &candidate.statement {
                Statement::Condition(_) => {
                    step.writes.iter().any(|kind| candidate.footprint.reads.contains(kind))
                }
                Statement::Reach(reach) => step
                    .writes
                    .iter()
                    .any(|kind| context.type_of(*kind) == Some(Type::Ref(reach.of))),
            }
        })
        .collect();
    if facts.is_empty() {
        return false;
    }
    let mut bad = vec![false; facts.len()];
    let outcome = explore(context, &[prefix, parent], &mut |symbolic, before| {
        let mut after = before.clone();
        symbolic.execute(&mut after, 1, other, Mode::Assume)?;
        for (at, fact) in facts.iter().enumerate() {
            bad[at] |= !holds(symbolic, before, &after, 0, prefix, *fact, None)?;
        }
        Ok(!bad.iter().all(|bad| *bad))
    });
    let mut changed = false;
    for (at, fact) in facts.iter().enumerate() {
        if bad[at] || outcome.is_err() {
            let reason =
                if outcome.is_err() { Reason::TooManyCases } else { Reason::BrokenBy(other) };
            context.facts.at[prefix][*fact].dropped = Some(reason);
            changed = true;
        }
    }
    changed
}

fn alive(context: &Context, prefix: usize) -> Vec<usize> {
    (0..context.facts.at[prefix].len())
        .filter(|fact| context.facts.at[prefix][*fact].dropped.is_none())
        .collect()
}

/// Whether a fact of `who` at `prefix` holds after a step; `parent` if the step was its own.
fn holds(
    symbolic: &mut Symbolic,
    before: &Memory,
    after: &Memory,
    who: usize,
    prefix: usize,
    fact: usize,
    parent: Option<usize>,
) -> Run<bool> {
    let context = symbolic.context;
    let candidate = &context.facts.at[prefix][fact];
    match &candidate.statement {
        Statement::Condition(condition) => symbolic.require(after, Env::of(who), condition),
        Statement::Reach(reach) => {
            if let Some(parent) = parent
                && !reached_before(symbolic, before, after, who, parent, reach)
            {
                return Ok(false);
            }
            reach_holds(symbolic, after, who, reach)
        }
    }
}

/// Whether all locations that held the object before an own step are allowed after it.
fn reached_before(
    symbolic: &Symbolic,
    before: &Memory,
    after: &Memory,
    who: usize,
    parent: usize,
    reach: &Reach,
) -> bool {
    let context = symbolic.context;
    let now = after.instances[who].locals[reach.local.0];
    // Allocated in this step: it stood nowhere.
    if now.is_some_and(|now| symbolic.solver.has(now, flag::FRESH)) {
        return true;
    }
    if now != before.instances[who].locals[reach.local.0] {
        return false;
    }
    if context.prefixes.all[parent].private.contains(&(reach.local, reach.of)) {
        return true;
    }
    context.facts.reaches(parent).any(|known| {
        known.local == reach.local
            && known.places.iter().all(|place| reach.places.contains(place))
            && known.places.iter().all(|place| match place {
                Place::Field(Var::Local(base), ..) => {
                    before.instances[who].locals[base.0] == after.instances[who].locals[base.0]
                }
                _ => true,
            })
    })
}

/// Whether no location outside of the places was written with the object.
fn reach_holds(symbolic: &mut Symbolic, after: &Memory, who: usize, reach: &Reach) -> Run<bool> {
    let Some(object) = after.instances[who].locals[reach.local.0] else { return Ok(false) };
    for (kind, base, value) in symbolic.written_references(after, reach.of) {
        if symbolic.equal(value, object)? && !is_member(symbolic, after, who, reach, kind, base)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_member(
    symbolic: &mut Symbolic,
    after: &Memory,
    who: usize,
    reach: &Reach,
    kind: Kind,
    base: Option<Value>,
) -> Run<bool> {
    for place in &reach.places {
        if crate::footprint::kind(place) != Some(kind) {
            continue;
        }
        match (place, base) {
            (Place::Variable(_), None) => return Ok(true),
            (Place::Field(var, ..), Some(base)) => {
                let Some(holder) = symbolic.variable(after, Env::of(who), *var)? else { continue };
                if symbolic.equal(holder, base)? {
                    return Ok(true);
                }
            }
            _ => {}
        }
    }
    Ok(false)
}

/// Whether an invariant holds after a step in this case. What is decided about one invariant does
/// not matter for the next.
fn invariant_kept(symbolic: &Symbolic, before: &Memory, after: &Memory, invariant: usize) -> bool {
    let bound = &symbolic.context.facts.invariants[invariant].bound;
    old_or_new(symbolic, bound).all(|chosen| {
        let kept_if = |holds: Holds| {
            let mut kept = true;
            let outcome = explore_from(symbolic, after, &[], &mut |symbolic, after| {
                kept &= holds(symbolic, before, after, invariant, &chosen)?;
                Ok(kept)
            });
            kept && outcome.is_ok()
        };
        // That it held before is often enough, and has few cases.
        kept_if(still_holds) || kept_if(invariant_holds)
    })
}

/// Whether an invariant holds after a step, for chosen objects.
type Holds = fn(&mut Symbolic, &Memory, &Memory, usize, &[Option<Value>]) -> Run<bool>;

/// Every choice of objects of these structs, each either one that was allocated or any old one
/// (`None`).
///
/// INVARIANT: each choice is looked at on its own. Where there can be no old object there can still
/// be new ones.
pub fn old_or_new(
    symbolic: &Symbolic,
    structs: &[StructId],
) -> impl Iterator<Item = Vec<Option<Value>>> + use<> {
    let objects = structs.iter().map(|of| {
        let new = symbolic.allocated(*of).into_iter().map(Some);
        new.chain([None]).collect()
    });
    combinations(objects.collect::<Vec<Vec<Option<Value>>>>())
}

/// The chosen objects, with what is known of old ones.
pub fn chosen_objects(
    symbolic: &mut Symbolic,
    structs: &[StructId],
    chosen: &[Option<Value>],
) -> Run<Vec<Value>> {
    let mut objects = Vec::new();
    for (of, object) in structs.iter().zip(chosen) {
        objects.push(match object {
            Some(object) => *object,
            None => symbolic.any_object(*of)?,
        });
    }
    Ok(objects)
}

/// Whether an invariant holds after a step if nothing else is known of the chosen objects than that
/// it held before.
fn still_holds(
    symbolic: &mut Symbolic,
    before: &Memory,
    after: &Memory,
    invariant: usize,
    chosen: &[Option<Value>],
) -> Run<bool> {
    let invariant = &symbolic.context.facts.invariants[invariant];
    let objects: Vec<Value> = invariant
        .bound
        .iter()
        .zip(chosen)
        .map(|(of, object)| object.unwrap_or_else(|| symbolic.unfamiliar_object(*of)))
        .collect();
    let env = Env { who: 0, peer: 1, bound: &objects };
    // INVARIANT: of a new object nothing held before.
    if chosen.iter().all(Option::is_none) {
        symbolic.assume(before, env, &invariant.condition)?;
    }
    symbolic.require(after, env, &invariant.condition)
}

/// Whether an invariant holds after a step, for the chosen objects if it is about objects.
fn invariant_holds(
    symbolic: &mut Symbolic,
    before: &Memory,
    after: &Memory,
    invariant: usize,
    chosen: &[Option<Value>],
) -> Run<bool> {
    let context = symbolic.context;
    let invariant = &context.facts.invariants[invariant];
    let bound = chosen_objects(symbolic, &invariant.bound, chosen)?;
    // What existed before satisfied it before, and all others about two objects.
    if let [one, two] = bound[..] {
        symbolic.assume_of_pair(before, &invariant.bound, one, two)?;
    }
    let env = Env { who: 0, peer: 1, bound: &bound };
    if symbolic.require(after, env, &invariant.condition)? {
        return Ok(true);
    }
    symbolic.pair_up()?;
    symbolic.require(after, env, &invariant.condition)
}
