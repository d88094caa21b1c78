//! The rounds of loops that paths leave out: each must have changed nothing that matters.

use crate::Refusal;
use crate::explorer::{Paths, Round};
use crate::help::Sites;
use crate::path::{Path, Step, is_visible};
use crate::symbol::symbols_of;
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
            return Err(Refusal::at(
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
                return Err(Refusal::at(
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

/// Whether every path that goes on from the start of the round writes the field before any other
/// thread can read it.
fn is_overwritten(paths: &Paths, round: &Round, field: (LocalId, StructId, FieldId)) -> bool {
    let goes_on = |path: &&Path| {
        path.steps.len() >= round.from && path.steps[..round.from] == round.steps[..round.from]
    };
    let failing = paths.faults.iter().map(|fault| &fault.path);
    let mut going_on = paths.returning.iter().chain(&paths.helping).chain(failing).filter(goes_on);
    // A round of an outer loop goes on where the field may have another fate: it must have written
    // it. One that comes back here, or closes further down, must only not have read it.
    let in_rounds = paths.rounds.iter().all(|other| {
        let passes = other.steps.len() >= round.from
            && other.steps[..round.from] == round.steps[..round.from];
        !passes
            || match fate(&other.steps[round.from..], field) {
                Fate::Written => true,
                Fate::Seen => false,
                Fate::Open => other.from >= round.from,
            }
    });
    // A path that ends without storing the object: no other thread ever sees it.
    in_rounds && going_on.all(|path| fate(&path.steps[round.from..], field) != Fate::Seen)
}

/// What becomes of a field first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Written,
    /// It is read, or its object is stored, so that others may read it.
    Seen,
    Open,
}

fn fate(steps: &[Step], (id, of, field): (LocalId, StructId, FieldId)) -> Fate {
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
            return Fate::Seen;
        }
        for statement in &step.statements {
            let Statement::Assign { place, value, .. } = statement else { continue };
            if symbols_of(value).contains(&id) {
                return Fate::Seen;
            }
            if *place == target {
                return Fate::Written;
            }
        }
    }
    Fate::Open
}
