//! Questions about single instances of a model, for deriving one model from another: what holds
//! after a prefix, what stays true while an instance waits there, and whether an instance that
//! waits there exists.
//!
//! Unlike in a [proof](crate::prove), nothing is assumed about whether operations complete: every
//! answer holds in all executions.

use linchpin_subop::model::{
    Atom, Condition, FieldId, GlobalId, GlobalKind, LocalId, Model, OperationId, Place, Relation,
    StructId, Term, Type, Var,
};
use linchpin_syntax::Span;
use linchpin_verdict::StopReason;

use crate::context::Context;
use crate::footprint::Footprint;
use crate::houdini::{chosen_objects, old_or_new};
use crate::search::{TooManyCases, explore, explore_from, explore_start};
use crate::start::combinations;
use crate::symbolic::{Env, Memory, Mode, Run, Symbolic};
use crate::{Options, candidates, houdini};

/// A model with its stable facts.
pub struct Questions<'m> {
    context: Context<'m>,
}

/// An instance that has executed the first sub-operations of an operation without branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The operation.
    pub operation: OperationId,
    /// How many of its sub-operations it has executed.
    pub steps: usize,
}

impl<'m> Questions<'m> {
    /// Finds the facts of a model; `None` if it has too many prefixes.
    pub fn new(model: &'m Model, options: &Options) -> Option<Questions<'m>> {
        let mut context = Context::new(model, options).ok()?;
        candidates::propose(&mut context);
        houdini::eliminate(&mut context);
        Some(Questions { context })
    }

    /// What stopped the work, if something did: then no question is answered any more.
    pub fn stopped(&self) -> Option<StopReason> {
        self.context.stopped()
    }

    fn prefix(&self, at: At) -> Option<usize> {
        self.context
            .prefixes
            .all
            .iter()
            .position(|prefix| prefix.operation == at.operation && prefix.steps.len() == at.steps)
    }

    fn is_set(&self, prefix: usize, condition: &Condition) -> bool {
        let mut locals = Vec::new();
        for atom in condition.atoms() {
            crate::prefix::term(&atom.left, &mut locals);
            crate::prefix::term(&atom.right, &mut locals);
        }
        locals.iter().all(|local| self.context.prefixes.all[prefix].set[local.0])
    }

    /// Whether the condition holds in every state in which an instance waits there.
    pub fn holds(&self, at: At, condition: &Condition) -> bool {
        let Some(prefix) = self.prefix(at) else { return false };
        if !self.is_set(prefix, condition) {
            return false;
        }
        let mut holds = true;
        let outcome = explore(&self.context, &[prefix], &mut |symbolic, memory| {
            holds &= symbolic.require(memory, Env::of(0), condition)?;
            Ok(holds)
        });
        holds && outcome.is_ok()
    }

    /// Whether the last of these sub-operations is never executed after the others.
    pub fn is_never_executed(&self, at: At) -> bool {
        let Some(prefix) = self.prefix(at) else { return false };
        let Some(parent) = self.context.prefixes.all[prefix].parent else { return false };
        let mut never = true;
        let outcome = explore(&self.context, &[parent], &mut |symbolic, before| {
            symbolic.execute(&mut before.clone(), 0, prefix, Mode::Assume)?;
            never = false;
            Ok(false)
        });
        never && outcome.is_ok()
    }

    /// Whether no step of another instance makes the condition false while an instance waits there,
    /// as long as all of `given` hold before and after that step.
    pub fn is_kept(&self, at: At, condition: &Condition, given: &[Condition]) -> bool {
        let Some(prefix) = self.prefix(at) else { return false };
        if !self.is_set(prefix, condition) {
            return false;
        }
        let given: Vec<&Condition> =
            given.iter().filter(|condition| self.is_set(prefix, condition)).collect();
        self.others(condition).into_iter().all(|(parent, other)| {
            let mut kept = true;
            let outcome = explore(&self.context, &[prefix, parent], &mut |symbolic, before| {
                symbolic.assume(before, Env::of(0), condition)?;
                for known in &given {
                    symbolic.assume(before, Env::of(0), known)?;
                }
                let after = self.after(symbolic, before, prefix, other)?;
                for known in &given {
                    symbolic.assume(&after, Env::of(0), known)?;
                }
                kept &= symbolic.require(&after, Env::of(0), condition)?;
                Ok(kept)
            });
            kept && outcome.is_ok()
        })
    }

    /// Those of the conditions that hold all the time while an instance waits there, provided that
    /// all of them hold at the end: no step of another instance makes one of them true, all of them
    /// holding after it.
    pub fn held_until(&self, at: At, conditions: &[Condition]) -> Vec<Condition> {
        let Some(prefix) = self.prefix(at) else { return Vec::new() };
        let mut left: Vec<Condition> =
            conditions.iter().filter(|condition| self.is_set(prefix, condition)).cloned().collect();
        loop {
            let bad = left.iter().position(|condition| !self.held_before(prefix, condition, &left));
            match bad {
                Some(at) => left.remove(at),
                None => return left,
            };
        }
    }

    fn held_before(&self, prefix: usize, condition: &Condition, at_the_end: &[Condition]) -> bool {
        self.others(condition).into_iter().all(|(parent, other)| {
            let mut held = true;
            let outcome = explore(&self.context, &[prefix, parent], &mut |symbolic, before| {
                let after = self.after(symbolic, before, prefix, other)?;
                for known in at_the_end {
                    symbolic.assume(&after, Env::of(0), known)?;
                }
                held &= symbolic.require(before, Env::of(0), condition)?;
                Ok(held)
            });
            held && outcome.is_ok()
        })
    }

    /// Whether, whenever an instance executes the whole operation without interruption and no other
    /// instance else is under way, all conditions of one of the alternatives hold: each after as
    /// many sub-operations as it says, of the values that the locals have in the end.
    pub fn holds_alone(
        &self,
        operation: OperationId,
        alternatives: &[Vec<(usize, Condition)>],
        at_rest: &[Condition],
    ) -> bool {
        let mut good = true;
        let outcome = self.alone(operation, at_rest, &mut |symbolic, states| {
            for conditions in alternatives {
                let mut all = true;
                for (at, condition) in conditions {
                    all = all
                        && match states.get(*at) {
                            Some(state) => symbolic.decide(state, Env::of(0), condition)?,
                            None => false,
                        };
                }
                if all {
                    return Ok(true);
                }
            }
            good = false;
            Ok(false)
        });
        good && outcome.is_ok()
    }

    /// What is true of the shared variables whenever no operation is under way: at the start, and
    /// kept by every operation that is executed without interruption.
    pub fn at_rest(&self) -> Vec<Condition> {
        let mut left = self.resting_candidates();
        let mut good = vec![true; left.len()];
        let outcome = explore_start(&self.context, &mut |symbolic, memory| {
            for (condition, good) in left.iter().zip(&mut good) {
                *good &= symbolic.require(memory, Env::of(0), condition)?;
            }
            Ok(true)
        });
        if outcome.is_err() {
            return Vec::new();
        }
        loop {
            let mut kept = good.into_iter();
            left.retain(|_| kept.next() == Some(true));
            good = vec![true; left.len()];
            for operation in 0..self.context.model.operations.len() {
                let outcome = self.alone(OperationId(operation), &left, &mut |symbolic, states| {
                    let Some(end) = states.last() else { return Ok(true) };
                    for (condition, good) in left.iter().zip(&mut good) {
                        *good &= symbolic.require(end, Env::of(0), condition)?;
                    }
                    Ok(true)
                });
                if outcome.is_err() {
                    return Vec::new();
                }
            }
            if good.iter().all(|good| *good) {
                return left;
            }
        }
    }

    /// That a shared variable, or a field of what it refers to, is NULL or 0, or that it is not
    /// NULL.
    fn resting_candidates(&self) -> Vec<Condition> {
        let model = self.context.model;
        let mut found = Vec::new();
        let mut propose = |place: Place, ty: Type| {
            let alternatives = match ty {
                Type::Int => vec![(Relation::Equal, Term::Int(0))],
                Type::Ref(_) => {
                    vec![(Relation::Equal, Term::Null), (Relation::NotEqual, Term::Null)]
                }
            };
            for (relation, right) in alternatives {
                let left = Term::Place(place);
                found.push(Condition::Atom(Atom { left, relation, right, span: Span::default() }));
            }
        };
        for (at, global) in model.globals.iter().enumerate() {
            let var = Var::Global(GlobalId(at));
            if let GlobalKind::Scalar(ty) = global.kind {
                propose(Place::Variable(var), ty);
            }
            if let GlobalKind::Scalar(Type::Ref(of)) | GlobalKind::Place(of) = global.kind {
                for (field, variable) in model.structs[of.0].fields.iter().enumerate() {
                    propose(Place::Field(var, of, FieldId(field)), variable.ty);
                }
            }
        }
        found
    }

    /// Visits every case of an uninterrupted execution of the operation, with `at_rest` true before
    /// it: the states before and after its sub-operations, each with the locals of the end.
    fn alone(
        &self,
        operation: OperationId,
        at_rest: &[Condition],
        visit: &mut dyn FnMut(&mut Symbolic<'_>, &[Memory]) -> Run<bool>,
    ) -> Result<(), TooManyCases> {
        let steps = self.context.model.operations[operation.0].sub_operations.len();
        let whole = self.prefix(At { operation, steps }).ok_or(TooManyCases)?;
        let start = self.context.prefixes.empty[operation.0];
        explore(&self.context, &[start], &mut |symbolic, begin| {
            for condition in at_rest {
                symbolic.assume(begin, Env::of(0), condition)?;
            }
            let mut memory = begin.clone();
            let mut states = vec![begin.clone()];
            for prefix in self.context.path(whole) {
                symbolic.execute(&mut memory, 0, prefix, Mode::Assume)?;
                states.push(memory.clone());
            }
            let locals = &memory.instances[0].locals;
            states.iter_mut().for_each(|state| state.instances[0].locals = locals.clone());
            visit(symbolic, &states)
        })
    }

    /// The steps that write what the condition reads: the prefix before each and the prefix after
    /// it.
    fn others(&self, condition: &Condition) -> Vec<(usize, usize)> {
        let reads = Footprint::of_condition(condition).reads;
        let writes = |other: usize| {
            self.context.step_footprint(other).writes.iter().any(|kind| reads.contains(kind))
        };
        let prefixes = &self.context.prefixes;
        prefixes
            .nonempty()
            .filter(|other| writes(*other))
            .filter_map(|other| prefixes.all[other].parent.map(|parent| (parent, other)))
            .collect()
    }

    /// The state after a step of the other instance.
    fn after(
        &self,
        symbolic: &mut Symbolic,
        before: &Memory,
        prefix: usize,
        other: usize,
    ) -> Run<Memory> {
        let mut after = before.clone();
        symbolic.execute(&mut after, 1, other, Mode::Assume)?;
        symbolic.assume_facts(&after, 0, prefix)?;
        symbolic.assume_facts(&after, 1, other)?;
        symbolic.assume_invariants(&after)?;
        Ok(after)
    }

    /// Whether, in every reachable state and for all objects of the structs `bound`, the condition
    /// on them implies that some instance waits at `owner` whose locals are these objects: `locals`
    /// says which local is which object.
    ///
    /// By induction on executions: the condition is false at the start, every step that makes it
    /// true brings such an instance to `owner`, and when such an instance goes on, the condition is
    /// false afterwards.
    pub fn implies_waiting(
        &self,
        condition: &Condition,
        bound: &[StructId],
        owner: At,
        locals: &[(LocalId, usize)],
    ) -> bool {
        let Some(owner) = self.prefix(owner) else { return false };
        self.is_false_at_start(condition, bound)
            && self.ends_waiting(condition, bound.len(), owner, locals)
            && self.context.prefixes.nonempty().all(|step| {
                let Some(parent) = self.context.prefixes.all[step].parent else { return true };
                self.begins_waiting(condition, bound, owner, locals, parent, step)
            })
    }

    fn is_false_at_start(&self, condition: &Condition, bound: &[StructId]) -> bool {
        let mut never = true;
        let outcome = explore_start(&self.context, &mut |symbolic, memory| {
            let objects: Vec<Vec<_>> =
                bound.iter().map(|of| symbolic.objects_at_start(*of)).collect();
            for chosen in combinations(objects) {
                let env = Env { who: 0, peer: 1, bound: &chosen };
                never &= !symbolic.decide(memory, env, condition)?;
            }
            Ok(never)
        });
        never && outcome.is_ok()
    }

    /// When an instance goes on from `owner`, the condition on its locals is false afterwards.
    fn ends_waiting(
        &self,
        condition: &Condition,
        bound: usize,
        owner: usize,
        locals: &[(LocalId, usize)],
    ) -> bool {
        self.context.prefixes.all[owner].next.iter().all(|next| {
            let mut ends = true;
            let outcome = explore(&self.context, &[owner], &mut |symbolic, before| {
                let mut after = before.clone();
                symbolic.execute(&mut after, 0, *next, Mode::Assume)?;
                let mut chosen = Vec::new();
                for at in 0..bound {
                    let local = locals.iter().find(|(_, object)| *object == at);
                    match local.and_then(|(local, _)| before.instances[0].locals[local.0]) {
                        Some(value) => chosen.push(value),
                        None => {
                            ends = false;
                            return Ok(false);
                        }
                    }
                }
                let env = Env { who: 0, peer: 1, bound: &chosen };
                ends &= !symbolic.decide(&after, env, condition)?;
                Ok(ends)
            });
            ends && outcome.is_ok()
        })
    }

    /// A step that makes the condition true brings its own instance to `owner`, with these objects.
    fn begins_waiting(
        &self,
        condition: &Condition,
        bound: &[StructId],
        owner: usize,
        locals: &[(LocalId, usize)],
        parent: usize,
        step: usize,
    ) -> bool {
        let mut begins = true;
        let outcome = explore(&self.context, &[parent], &mut |symbolic, before| {
            let mut after = before.clone();
            symbolic.execute(&mut after, 0, step, Mode::Assume)?;
            for chosen in old_or_new(symbolic, bound) {
                let outcome = explore_from(symbolic, &after, &[], &mut |symbolic, after| {
                    let objects = chosen_objects(symbolic, bound, &chosen)?;
                    let env = Env { who: 0, peer: 1, bound: &objects };
                    // With objects that existed before, it may have been true before: then an
                    // instance waits already.
                    let is_old = chosen.iter().all(Option::is_none);
                    if is_old && symbolic.decide(before, env, condition)? {
                        return Ok(true);
                    }
                    if !symbolic.decide(after, env, condition)? {
                        return Ok(true);
                    }
                    begins &= step == owner
                        && locals.iter().all(|(local, object)| {
                            after.instances[0].locals[local.0].is_some_and(|value| {
                                symbolic.solver.same(value, objects[*object]) == Some(true)
                            })
                        });
                    Ok(begins)
                });
                begins &= outcome.is_ok();
                if !begins {
                    break;
                }
            }
            Ok(begins)
        });
        begins && outcome.is_ok()
    }
}
