//! Steps that one operation does on behalf of another.
//!
//! `cas(tail, t, s);`, whose outcome nothing looks at, may be the last step of some enqueue, done
//! by a dequeue. Then it is that enqueue's sub-operation, with the mark `*`, and no step of the
//! dequeue. Three things must hold, in every reachable state of the sub-operations:
//!
//! - *an operation waits*: where the helper's `cas` succeeds, an operation waits at this very step,
//!   with these values;
//! - *it works*: where an operation waits there, its own `cas` would succeed, so it fails only if
//!   another thread helped;
//! - *it is done once*: after the step, the operation's own `cas` cannot succeed any more.
//!
//! By induction on the execution of the code: up to any moment, the steps executed are those of a
//! history of the sub-operations, with the same shared state; so what holds in their reachable
//! states tells which sub-operation the next step of the code is.

use crate::Refusal;
use crate::build::{self, condition_of, is_same_kind, local_of, rename_condition};
use crate::explorer::Paths;
use crate::merge::Merged;
use crate::path::{Attempt, End, Path, Site, Step};
use crate::simplify::reading;
use crate::symbol::{as_symbol, symbols_of};
use linchpin_reduce::{At, Options, Questions};
use linchpin_subop::model::{
    Condition, LocalId, Model, OperationId, Place, Relation, StructId, Term, Type, Var,
};

/// The sites of steps that may be done by others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sites {
    /// Where operations do the step themselves.
    pub own: Vec<Site>,
    /// Where it is done for others.
    pub helping: Vec<Site>,
}

/// Which sites are which: an operation that stores an object of its own does its own step; others
/// help it.
pub fn sites(all: &[Paths]) -> Sites {
    let attempts = || all.iter().flat_map(|paths| &paths.helping).filter_map(last_attempt);
    let mut found = Sites::default();
    for (path, attempt) in attempts() {
        if as_symbol(&attempt.new).is_some_and(|id| path.new.contains(&id)) {
            found.own.push(attempt.site);
        }
    }
    for (_, attempt) in attempts() {
        let served = attempts().any(|(_, other)| {
            found.own.contains(&other.site) && is_same_kind(&other.place, &attempt.place)
        });
        if served && !found.own.contains(&attempt.site) {
            found.helping.push(attempt.site);
        }
    }
    // A step that no other operation does is an ordinary one.
    found.own.retain(|site| {
        attempts().any(|(_, own)| {
            own.site == *site
                && attempts().any(|(_, other)| {
                    found.helping.contains(&other.site) && is_same_kind(&other.place, &own.place)
                })
        })
    });
    found
}

/// What a step tests besides the outcome of its attempt.
fn besides(step: &Step, attempt: &Attempt) -> Step {
    let seen = |condition: &Condition| {
        reading(condition).filter(|(place, _)| *place == attempt.place).map(|(_, id)| id)
    };
    let about: Vec<LocalId> = step.conditions.iter().filter_map(seen).collect();
    let mut others = step.conditions.clone();
    others.retain(|condition| !symbols_of(condition).iter().any(|id| about.contains(id)));
    Step { line: step.line, conditions: others, ..Step::default() }
}

fn last_attempt(path: &Path) -> Option<(&Path, Attempt)> {
    path.steps.last().and_then(|step| step.attempt).map(|attempt| (path, attempt))
}

impl Sites {
    /// Whether the last of these steps is one of another operation, or the way there is one that
    /// [`Sites::stripped`] leaves to another.
    pub fn is_elsewhere(&self, steps: &[Step]) -> bool {
        let helps =
            |step: &Step| step.attempt.is_some_and(|attempt| self.helping.contains(&attempt.site));
        let failed = |step: &Step| {
            step.attempt
                .is_some_and(|attempt| !attempt.succeeded && self.own.contains(&attempt.site))
        };
        steps.last().is_some_and(helps) || steps.iter().any(failed)
    }

    /// The path without the steps that are done for others; none if it is one on which the
    /// operation's own step has been done by another one, which is then the same path with that
    /// step.
    pub fn stripped(&self, mut path: Path) -> Option<Path> {
        let failed = |step: &Step| {
            step.attempt
                .is_some_and(|attempt| !attempt.succeeded && self.own.contains(&attempt.site))
        };
        if path.steps.iter().any(failed) {
            return None;
        }
        for step in &mut path.steps {
            match step.attempt {
                Some(attempt) if self.helping.contains(&attempt.site) => {
                    *step = besides(step, &attempt);
                }
                Some(attempt) if !self.own.contains(&attempt.site) => step.attempt = None,
                _ => {}
            }
        }
        path.steps.retain(|step| !step.is_empty());
        Some(path)
    }
}

/// A step that others may do comes right after a visible one, before anything that the operation
/// looks at: it may be done before the operation itself goes on, and then the facts about its path
/// must hold all the same. There is one such step on a path.
pub fn is_adjacent(path: &Path) -> Result<(), Refusal> {
    let visible = path.visible();
    let own: Vec<usize> =
        (0..path.steps.len()).filter(|at| path.steps[*at].attempt.is_some()).collect();
    match own[..] {
        [] => Ok(()),
        [at] if at > 0 && visible[at - 1] => Ok(()),
        [at, ..] => Err(Refusal::at(
            path.steps[at].line,
            "others may do this step, but it is not shown that nothing comes between it and the visible step before it"
                .to_owned(),
        )),
    }
}

/// A path with a step that others may do for it, which the next one compares with what it did.
struct Own {
    operation: OperationId,
    /// Which step it is.
    at: usize,
    attempt: Attempt,
    path: Path,
}

/// Checks that the operation's own step works while it waits, and only then.
fn is_done_once(questions: &Questions, own: &Own) -> Result<(), Refusal> {
    let Own { operation, at, attempt, path } = own;
    let line = path.steps[*at].line;
    let waiting = At { operation: *operation, steps: *at };
    let done = At { operation: *operation, steps: at + 1 };
    let works = crate::symbol::atom(Term::Place(attempt.place), Relation::Equal, attempt.expected);
    let refuse = |reason: &str| {
        Err(Refusal::at(
            line,
            format!("others may do this step, but it is not shown that {reason}"),
        ))
    };
    let alone =
        path.steps[*at].conditions.len() == 1 && path.steps[*at].conditions.contains(&works);
    if *at == 0 || !alone || !path.visible()[at - 1] {
        return refuse("nothing comes between it and the visible step before it");
    }
    let renamed =
        |condition: &Condition| condition_of(path, condition).unwrap_or(condition.clone());
    if !questions.holds(waiting, &renamed(&works)) {
        return refuse("the `cas` succeeds unless another operation has done so");
    }
    if !questions.holds(done, &renamed(&works.negated())) {
        return refuse("it is not done twice");
    }
    Ok(())
}

/// Checks the three conditions; `returning` and `helping` are the merged paths.
pub fn check(
    skeleton: &Model,
    options: &Options,
    returning: &[(String, Merged)],
    helping: &[Merged],
) -> Result<Vec<String>, Refusal> {
    let mut notes = Vec::new();
    // The operation's own attempt, once another thread has helped, as a step after it: so that what
    // holds then can be asked.
    let mut model = skeleton.clone();
    let mut own = Vec::new();
    for (name, merged) in returning {
        let mut path = merged.path.clone();
        let at = path.steps.iter().position(|step| step.attempt.is_some());
        if let Some(at) = at {
            let attempt = attempt_of(&path.steps[at]).expect("it has one");
            let fails = crate::symbol::atom(
                Term::Place(attempt.place),
                Relation::NotEqual,
                attempt.expected,
            );
            let step =
                Step { line: path.steps[at].line, conditions: vec![fails], ..Step::default() };
            path.steps.insert(at + 1, step);
            let operation = OperationId(model.operations.len());
            own.push(Own { operation, at, attempt, path: path.clone() });
        }
        let operation = build::operation(&model, name, &path, &[]);
        model.operations.push(operation);
    }
    let Some(questions) = Questions::new(&model, options) else {
        return Err(Refusal::of_model("there are too many sub-operations".to_owned()));
    };
    own.iter().try_for_each(|own| is_done_once(&questions, own))?;
    for helper in helping {
        let attempt =
            helper.path.steps.last().and_then(attempt_of).expect("it ends with an attempt");
        let served = own.iter().any(|own| {
            let waiting = At { operation: own.operation, steps: own.at };
            is_same_kind(&own.attempt.place, &attempt.place)
                && is_served(&questions, waiting, &own.attempt, &own.path, &attempt, &helper.path)
        });
        let line = helper.path.steps.last().map_or(0, |step| step.line);
        if !served {
            return Err(Refusal::at(
                line,
                "it is not shown that this `cas` does a step for an operation that waits for it"
                    .to_owned(),
            ));
        }
        notes.push(format!(
            "line {line}: done on behalf of the operation whose step it is (mark `*`)"
        ));
    }
    Ok(notes)
}

fn attempt_of(step: &Step) -> Option<Attempt> {
    step.attempt
}

/// Whether an operation waits wherever the helper's `cas` succeeds.
fn is_served(
    questions: &Questions,
    owner: At,
    own: &Attempt,
    path: &Path,
    attempt: &Attempt,
    helper: &Path,
) -> bool {
    // Which symbol of the owner is which symbol of the helper.
    let mut pairs: Vec<(LocalId, LocalId)> = Vec::new();
    let base = |place: &Place| match place {
        Place::Field(Var::Local(base), ..) => Some(crate::symbol::symbol(*base)),
        _ => None,
    };
    let terms = |attempt: &Attempt| {
        base(&attempt.place).into_iter().chain([attempt.expected, attempt.new]).collect::<Vec<_>>()
    };
    for (own, other) in terms(own).iter().zip(terms(attempt)) {
        match (as_symbol(own), as_symbol(&other)) {
            (Some(own), Some(other)) => pairs.push((own, other)),
            (None, None) if *own == other => {}
            _ => return false,
        }
    }
    if matches!(own.place, Place::Element(..)) {
        return false;
    }
    let mut objects: Vec<LocalId> = pairs.iter().map(|(_, other)| *other).collect();
    objects.sort();
    objects.dedup();
    let mut bound: Vec<StructId> = Vec::new();
    for id in &objects {
        let Type::Ref(of) = helper.symbols[id.0].ty else { return false };
        bound.push(of);
    }
    // What is known when the helper's `cas` succeeds, of these objects only.
    let Some(last) = helper.steps.last() else { return false };
    let mut parts: Vec<Condition> = Vec::new();
    for condition in &last.conditions {
        if symbols_of(condition).iter().all(|id| objects.contains(id)) {
            parts.push(condition.clone());
        }
    }
    let is_object = |id: &LocalId| {
        parts.iter().any(|part| {
            part.atoms().iter().any(|atom| {
                let is_base = |term: &Term| matches!(term, Term::Place(Place::Field(Var::Local(base), ..)) if base == id);
                let is_not_null = atom.relation == Relation::NotEqual
                    && as_symbol(&atom.left) == Some(*id)
                    && atom.right == Term::Null;
                matches!(part, Condition::Atom(_)) && (is_base(&atom.left) || is_base(&atom.right) || is_not_null)
            })
        })
    };
    if !objects.iter().all(is_object) {
        return false;
    }
    let mut condition = Condition::All(parts);
    rename_condition(&mut condition, &|var| match var {
        Var::Local(id) => Var::Bound(objects.iter().position(|known| *known == id).unwrap_or(0)),
        other => other,
    });
    let locals: Option<Vec<(LocalId, usize)>> = pairs
        .iter()
        .map(|(own, other)| {
            let at = objects.iter().position(|known| known == other)?;
            Some((local_of(path, *own)?, at))
        })
        .collect();
    locals.is_some_and(|locals| questions.implies_waiting(&condition, &bound, owner, &locals))
}

/// A path up to an attempt as an operation that only observes: the step is another operation's.
pub fn only_observing(mut path: Path) -> Path {
    if let Some(last) = path.steps.last_mut() {
        last.statements.clear();
    }
    path.end = End::Help;
    path
}
