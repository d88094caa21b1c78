//! The paper's hand-made mode: claims of `relations { }` about ordered pairs of sub-operations.
//! Each is first tried to be proved from the facts, then to be refuted by an execution. The proof
//! of linearizability uses none of them, so none is taken on trust for it.

use linchpin_subop::model::{
    Atom, Claim, ClaimKind, Condition, Index, LocalId, Place, Relation, Statement, SubOperationId,
    Term, Type, Var,
};

use crate::context::Context;
use crate::search::explore;
use crate::symbolic::{Env, Matters, Memory, Mode, Run, Stop, Symbolic};

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It holds in every state that satisfies the facts.
    Proved,
    /// A reachable state shows that it is wrong.
    Refuted,
    /// The facts show that it is wrong.
    Excluded,
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
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Some state may let the second follow the first.
    pub orderable: bool,
    /// In some such state the reverse order does something else, or cannot be executed.
    pub order_matters: bool,
    /// What is true of the shared variables whenever the second follows the first; `None` if it
    /// never does.
    pub whenever: Option<Vec<Condition>>,
    /// What is true of them whenever the first is executed and the second is next for another
    /// instance.
    pub anyway: Option<Vec<Condition>>,
    /// Not all cases could be looked at.
    pub unknown: bool,
}

fn answer(context: &Context, claim: &Claim) -> Answer {
    let found = pair(context, claim.first, claim.second, Some(claim));
    let shown = crate::concrete::observe(context.model, claim);
    match claim.kind {
        ClaimKind::NotOrderable if shown.orderable => Answer::Refuted,
        ClaimKind::NotOrderable if !found.orderable && !found.unknown => Answer::Proved,
        // Definition 3: some values let the pair be executed.
        ClaimKind::Orderable if shown.orderable => Answer::Proved,
        ClaimKind::Orderable if !found.orderable && !found.unknown => Answer::Excluded,
        ClaimKind::Reversible if shown.order_matters => Answer::Refuted,
        ClaimKind::Reversible if !found.order_matters && !found.unknown => Answer::Proved,
        // Boundary pairs are not reversible by definition.
        ClaimKind::NotReversible
            if shown.order_matters || is_boundary(context, claim.first, claim.second) =>
        {
            Answer::Proved
        }
        ClaimKind::NotReversible if !found.order_matters && !found.unknown => Answer::Excluded,
        _ => Answer::Open,
    }
}

/// Whether the first sub-operation may end its operation and the second starts one.
pub fn is_boundary(context: &Context, first: SubOperationId, second: SubOperationId) -> bool {
    let ends =
        context.model.sub_operation(first).next.contains(&linchpin_subop::model::Next::Return);
    ends && context.model.operations[second.operation.0].first.contains(&second.index)
}

/// The prefixes that end with a sub-operation.
fn ending(context: &Context, id: SubOperationId) -> Vec<usize> {
    let ends = |prefix: &usize| {
        let data = &context.prefixes.all[*prefix];
        data.operation == id.operation && data.steps.last() == Some(&id.index)
    };
    context.prefixes.nonempty().filter(ends).collect()
}

/// What is found about an ordered pair of sub-operations, in the states that the claim is about.
pub fn pair(
    context: &Context,
    first: SubOperationId,
    second: SubOperationId,
    claim: Option<&Claim>,
) -> Found {
    let mut found = Found::default();
    for one in ending(context, first) {
        for two in ending(context, second) {
            step_pair(context, one, two, claim, &mut found);
        }
    }
    found
}

/// What is found about the last steps of two prefixes.
pub fn steps(context: &Context, one: usize, two: usize) -> Found {
    let mut found = Found::default();
    step_pair(context, one, two, None, &mut found);
    found
}

/// Adds what is found about the last steps of two prefixes.
fn step_pair(context: &Context, one: usize, two: usize, claim: Option<&Claim>, found: &mut Found) {
    let (Some(before), Some(peer)) =
        (context.prefixes.all[one].parent, context.prefixes.all[two].parent)
    else {
        return;
    };
    let condition = claim.and_then(|claim| claim.condition.as_ref());
    let env = Env { who: 0, peer: 1, bound: &[] };
    // A condition may be about what the two guess: then it is known only afterwards which states
    // are meant.
    let guessed = match condition.map(|condition| guessed(context, one, two, condition)) {
        None => Vec::new(),
        Some(Some(guessed)) => guessed,
        Some(None) => {
            found.unknown = true;
            return;
        }
    };
    let outcome = explore(context, &[before, peer], &mut |symbolic, start| {
        if let (Some(condition), []) = (condition, &guessed[..]) {
            symbolic.assume(start, env, condition)?;
        }
        let mut there = start.clone();
        symbolic.execute(&mut there, 0, one, Mode::Assume)?;
        symbolic.assume_facts(&there, 0, one)?;
        symbolic.assume_facts(&there, 1, peer)?;
        symbolic.assume_invariants(&there)?;
        remember(&mut found.anyway, comparisons(symbolic, start)?);
        symbolic.execute(&mut there, 1, two, Mode::Assume)?;
        symbolic.assume_facts(&there, 0, one)?;
        symbolic.assume_facts(&there, 1, two)?;
        symbolic.assume_invariants(&there)?;
        if let (Some(condition), [_, ..]) = (condition, &guessed[..]) {
            let mut then = start.clone();
            for (who, local) in &guessed {
                then.instances[*who].locals[local.0] = there.instances[*who].locals[local.0];
            }
            symbolic.assume(&then, env, condition)?;
        }
        found.orderable = true;
        remember(&mut found.whenever, comparisons(symbolic, start)?);
        let mut back = start.clone();
        let reversed = |symbolic: &mut Symbolic, back: &mut Memory| -> Run<()> {
            symbolic.execute(back, 1, two, Mode::Require)?;
            symbolic.execute(back, 0, one, Mode::Require)
        };
        let same = match reversed(symbolic, &mut back) {
            Ok(()) => symbolic.same_state(&there, &back, [Matters::Everything; 2])?,
            Err(Stop::Blocked) => false,
            Err(Stop::Prune) => return Err(Stop::Prune),
        };
        found.order_matters |= !same;
        Ok(true)
    });
    found.unknown |= outcome.is_err();
}

/// The locals in a condition that the last steps of the two prefixes guess, each with whose it is;
/// `None` if one has no value before the steps for another reason.
fn guessed(
    context: &Context,
    one: usize,
    two: usize,
    condition: &Condition,
) -> Option<Vec<(usize, LocalId)>> {
    let mut found = Vec::new();
    for (who, prefix) in [one, two].into_iter().enumerate() {
        let parent = context.prefixes.all[prefix].parent?;
        let step = context.prefixes.last(prefix)?;
        for local in mentioned(condition, who) {
            if context.prefixes.all[parent].set[local.0] {
                continue;
            }
            let assigns = |statement: &Statement| {
                matches!(statement, Statement::Assign { place: Place::Variable(Var::Local(to)), .. }
                    | Statement::Malloc { var: Var::Local(to), .. } if *to == local)
            };
            if !crate::prefix::read_first(step).contains(&local) || step.body.iter().any(assigns) {
                return None;
            }
            found.push((who, local));
        }
    }
    Some(found)
}

/// The locals of the first instance, or of the second, that a condition mentions.
fn mentioned(condition: &Condition, who: usize) -> Vec<LocalId> {
    let of = |var: Var| match var {
        Var::Local(local) if who == 0 => Some(local),
        Var::Peer(local) if who == 1 => Some(local),
        _ => None,
    };
    let terms = condition.atoms().into_iter().flat_map(|atom| [atom.left, atom.right]);
    let places = terms.filter_map(|term| match term {
        Term::Place(place) | Term::Plus(place, _) => Some(place),
        _ => None,
    });
    let mut found: Vec<LocalId> = places
        .filter_map(|place| match place {
            Place::Variable(var) | Place::Field(var, ..) => of(var),
            Place::Element(_, Index::Variable(var) | Index::Plus(var, _)) => of(var),
            Place::Element(_, Index::Int(_)) => None,
        })
        .collect();
    found.dedup();
    found
}

/// Keeps what was true so far.
fn remember(kept: &mut Option<Vec<Condition>>, now: Vec<Condition>) {
    *kept = Some(match kept.take() {
        None => now,
        Some(before) => before.into_iter().filter(|known| now.contains(known)).collect(),
    });
}

/// Which shared variables of the same type are known to be equal or different, and which references
/// are `NULL` or not.
fn comparisons(symbolic: &mut Symbolic, memory: &Memory) -> Run<Vec<Condition>> {
    let variables = symbolic.context.shared_variables();
    let mut found = Vec::new();
    for (at, (left, ty)) in variables.iter().enumerate() {
        let mut others: Vec<Term> = Vec::new();
        others.extend(
            variables[at + 1..]
                .iter()
                .filter(|(_, other)| other == ty)
                .map(|(right, _)| Term::Place(*right)),
        );
        if *ty != Type::Int {
            others.push(Term::Null);
        }
        for right in others {
            for relation in [Relation::Equal, Relation::NotEqual] {
                let atom =
                    Atom { left: Term::Place(*left), relation, right, span: Default::default() };
                let condition = Condition::Atom(atom);
                if symbolic.require(memory, Env::of(0), &condition)? {
                    found.push(condition);
                }
            }
        }
    }
    Ok(found)
}
