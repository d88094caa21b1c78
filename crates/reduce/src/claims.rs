//! The paper's hand-made mode: claims of `relations { }` about ordered pairs of sub-operations. Each is first tried to be proved from
//! the facts, then to be refuted by an execution. The proof of linearizability uses none of them, so none is taken on trust for it.

use linchpin_subop::model::{Claim, ClaimKind, SubOperationId};

use crate::context::Context;
use crate::world::{Env, Memory, Mode, Run, Stop, World, explore};

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It holds in every state that satisfies the facts.
    Proved,
    /// A reachable state shows that it is wrong.
    Refuted,
    /// Neither was found.
    Open,
}

/// A claim and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimAnswer {
    /// The claim as written.
    pub text: String,
    /// What became of it.
    pub answer: Answer,
}

/// Judges every claim of the model.
pub fn judge(context: &Context) -> Vec<ClaimAnswer> {
    let answers = context.model.claims.iter().map(|claim| ClaimAnswer {
        text: linchpin_subop::print_claim(context.model, claim),
        answer: answer(context, claim),
    });
    answers.collect()
}

/// What was found about an ordered pair, over all prefixes that the two sub-operations end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// Some state may let the second follow the first.
    pub orderable: bool,
    /// In some such state the reverse order does something else, or cannot be executed.
    pub order_matters: bool,
    /// In some such state it does not.
    pub order_does_not_matter: bool,
    /// Not all cases could be looked at.
    pub unknown: bool,
}

fn answer(context: &Context, claim: &Claim) -> Answer {
    let found = pair(context, claim.first, claim.second, claim);
    let proved = match claim.kind {
        ClaimKind::NotOrderable => !found.orderable,
        // Definition 3 calls a pair orderable if some values let it be executed: that takes an execution.
        ClaimKind::Orderable => false,
        ClaimKind::Reversible => !found.order_matters,
        ClaimKind::NotReversible => claim.boundary,
    };
    if proved && !found.unknown {
        return Answer::Proved;
    }
    Answer::Open
}

/// The prefixes that end with a sub-operation.
fn ending(context: &Context, id: SubOperationId) -> Vec<usize> {
    let ends = |prefix: &usize| {
        let data = &context.prefixes.all[*prefix];
        data.operation == id.operation && data.steps.last() == Some(&id.index)
    };
    context.prefixes.nonempty().filter(ends).collect()
}

fn pair(context: &Context, first: SubOperationId, second: SubOperationId, claim: &Claim) -> Found {
    let mut found = Found::default();
    for one in ending(context, first) {
        for two in ending(context, second) {
            step_pair(context, one, two, Some(claim), &mut found);
        }
    }
    found
}

/// Adds what is found about the last steps of two prefixes.
pub fn step_pair(context: &Context, one: usize, two: usize, claim: Option<&Claim>, found: &mut Found) {
    let (Some(before), Some(peer)) = (context.prefixes.all[one].parent, context.prefixes.all[two].parent) else { return };
    let outcome = explore(context, &[before, peer], &mut |world, start| {
        if let Some(condition) = claim.and_then(|claim| claim.condition.as_ref()) {
            world.assume(start, Env { who: 0, peer: 1, bound: &[] }, condition)?;
        }
        let mut there = start.clone();
        world.execute(&mut there, 0, one, Mode::Assume)?;
        world.assume_facts(&there, 0, one)?;
        world.assume_facts(&there, 1, peer)?;
        world.assume_invariants(&there)?;
        world.execute(&mut there, 1, two, Mode::Assume)?;
        world.assume_facts(&there, 0, one)?;
        world.assume_facts(&there, 1, two)?;
        world.assume_invariants(&there)?;
        found.orderable = true;
        let mut back = start.clone();
        let reversed = |world: &mut World, back: &mut Memory| -> Run<()> {
            world.execute(back, 1, two, Mode::Require)?;
            world.execute(back, 0, one, Mode::Require)
        };
        let same = match reversed(world, &mut back) {
            Ok(()) => world.same_state(&there, &back, None)?,
            Err(Stop::Blocked) => false,
            Err(Stop::Prune) => return Err(Stop::Prune),
        };
        found.order_matters |= !same;
        found.order_does_not_matter |= same;
        Ok(true)
    });
    found.unknown |= outcome.is_err();
}
