//! The rounds of loops that paths leave out: each must have changed nothing that matters.

use crate::Refusal;
use crate::explore::{Paths, Round};
use crate::help::Sites;
use crate::path::{Path, Step, is_visible};
use crate::symbol::{as_symbol, symbols_of};
use linchpin_subop::model::{FieldId, LocalId, Place, Statement, StructId, Term, Var};

/// Checks every round of an operation.
pub fn check(paths: &Paths, sites: &Sites) -> Result<(), Refusal> {
    paths.rounds.iter().try_for_each(|round| check_round(paths, sites, round))
}

fn check_round(paths: &Paths, sites: &Sites, round: &Round) -> Result<(), Refusal> {
    let mut private = Vec::new();
    for (at, step) in round.steps.iter().enumerate() {
        let helps = step.attempt.is_some_and(|attempt| sites.helping.contains(&attempt.site));
        let visible = !helps && is_visible(step, &mut private);
        if at < round.from {
            continue;
        }
        if visible {
            return Err(Refusal::new(
                step.line,
                format!(
                    "this step changes what others see, and the loop goes on at line {}",
                    round.line
                ),
            ));
        }
        if helps {
            continue;
        }
        for statement in &step.statements {
            let Statement::Assign { place: Place::Field(Var::Local(base), of, field), .. } =
                statement
            else {
                continue;
            };
            let known = round.steps[..round.from].iter().any(|step| allocates(step, *base));
            if known && !is_overwritten(paths, round, (*base, *of, *field)) {
                return Err(Refusal::new(
                    step.line,
                    format!(
                        "this field of a new object may be read before it is written again, and the loop goes on at line {}",
                        round.line
                    ),
                ));
            }
        }
    }
    Ok(())
}

fn allocates(step: &Step, id: LocalId) -> bool {
    step.statements
        .iter()
        .any(|statement| matches!(statement, Statement::Malloc { var: Var::Local(new), .. } if *new == id))
}

/// Whether every path that goes on from the start of the round writes the field before anybody can read it.
fn is_overwritten(paths: &Paths, round: &Round, field: (LocalId, StructId, FieldId)) -> bool {
    let goes_on = |path: &&Path| {
        path.steps.len() >= round.from && path.steps[..round.from] == round.steps[..round.from]
    };
    let mut going_on = paths.returning.iter().chain(&paths.helping).filter(goes_on);
    going_on.all(|path| is_written_first(&path.steps[round.from..], field))
}

fn is_written_first(steps: &[Step], (id, of, field): (LocalId, StructId, FieldId)) -> bool {
    let target = Place::Field(Var::Local(id), of, field);
    for step in steps {
        let reads = step.conditions.iter().any(|condition| {
            condition.atoms().iter().any(|atom| {
                [atom.left, atom.right].iter().any(
                    |term| matches!(term, Term::Place(place) | Term::Plus(place, _) if *place == target),
                )
            })
        });
        if reads {
            return false;
        }
        for statement in &step.statements {
            let Statement::Assign { place, value, .. } = statement else { continue };
            if as_symbol(value) == Some(id) || (symbols_of(value).contains(&id)) {
                return false;
            }
            if *place == target {
                return true;
            }
        }
    }
    // It is never stored: nobody else ever sees it.
    true
}
