//! Histories that say themselves what precedes what (`after`): judged as a partial order, and
//! confirmed as one.

use super::certificate::Evidence;
use super::confirm::{Confirmation, Confirmations, PATIENCE, unexplained};
use super::crash_error;
use super::recording::Subject;
use crate::Status;
use anyhow::{Result, anyhow, bail};
use linchpin_certify::{
    Budget, CoreError, PartialOperation, confirm_partial_core, confirm_partial_witness,
};
use linchpin_history::{
    CheckOptions, Checked, History, Judgement, OpId, PartialHistory, Precedence, Property, ValueId,
    Violation, check, check_partial_with,
};
use linchpin_ingest::Recording;
use std::time::Instant;

/// What is said of every such history.
pub const REMARK: &str = "precedence is the order of each process and what `after` says, and what \
                          follows from these: lines and times order nothing else";

/// Judges a recording, by its intervals or by the order that it says itself.
pub fn judge(
    subject: &Subject<'_>,
    recording: &mut Recording,
    options: &CheckOptions,
) -> Result<Checked> {
    let Some(order) = &recording.precedence else {
        let checked = check(&subject.object, &mut recording.history, options);
        return checked.map_err(|error| anyhow!(crash_error(&error, recording)));
    };
    if options.property != Property::Linearizable {
        bail!(
            "--property is about crashes, and there are none where `after` says what precedes what"
        );
    }
    let history = PartialHistory::new(recording.history.clone(), order.clone())?;
    Ok(check_partial_with(&subject.object, &history, options))
}

/// The operations as the independent checker knows them.
fn operations(history: &History, order: &Precedence) -> Vec<PartialOperation> {
    let mut keys: Vec<ValueId> = Vec::new();
    let mut object = |key: ValueId| {
        keys.iter().position(|known| *known == key).unwrap_or_else(|| {
            keys.push(key);
            keys.len() - 1
        })
    };
    let operation = |id: OpId| PartialOperation {
        call: history.call(id),
        response: history.response(id),
        object: object(history[id].key),
        after: before(order, id).map(OpId::index).collect(),
    };
    history.ids().map(operation).collect()
}

/// All that precedes an operation.
pub fn before(order: &Precedence, id: OpId) -> impl Iterator<Item = OpId> + '_ {
    (0..order.len()).map(OpId::new).filter(move |first| order.precedes(*first, id))
}

fn places(ids: &[OpId]) -> Vec<usize> {
    ids.iter().map(|id| id.index()).collect()
}

/// Confirms the core of a violation. One that is refuted is replaced by all operations.
pub fn confirm(
    subject: &Subject<'_>,
    history: &History,
    order: &Precedence,
    checked: &mut Checked,
    options: &CheckOptions,
) -> Confirmations {
    let Judgement::Violated(violation) = &mut checked.judgement else {
        return Confirmations::default();
    };
    let patience = Instant::now() + PATIENCE;
    let deadline = options.limits.deadline.map_or(patience, |limit| limit.min(patience));
    let budget = Budget { deadline: Some(deadline), ..Budget::default() };
    let (object, operations) = (&subject.object, operations(history, order));
    let core = places(&violation.core);
    let found = confirm_partial_core(&*object.spec, &object.name, &operations, &core, &budget);
    let core = match found {
        Ok(()) => Confirmation::Confirmed,
        Err(CoreError::TooLarge) => Confirmation::Unknown,
        Err(_) => {
            let explanation = "no order of these operations explains what they answered".to_owned();
            let (core, blamed) = (history.ids().collect(), Vec::new());
            *violation = Violation { core, blamed, explanation, at: None };
            Confirmation::Replaced
        }
    };
    Confirmations { core: Some(core), keys: Vec::new() }
}

/// Whether the evidence of a certificate is right, and in words why.
pub fn certify(
    subject: &Subject<'_>,
    history: &History,
    order: &Precedence,
    evidence: &Evidence,
) -> (Status, String) {
    let (object, operations) = (&subject.object, operations(history, order));
    let spec = &*object.spec;
    match evidence {
        Evidence::Witness(order) => {
            match confirm_partial_witness(spec, &operations, &places(order)) {
                Ok(()) => {
                    let count = order.len();
                    let words =
                        format!("these {count} operations, in this order, explain the history");
                    (Status::Holds, words)
                }
                Err(error) => (Status::Violated, format!("not confirmed: {error}")),
            }
        }
        Evidence::Core { core, .. } if core.is_empty() => {
            (Status::Violated, "not confirmed: the core is empty".to_owned())
        }
        Evidence::Core { core, .. } => {
            let budget = Budget::default();
            match confirm_partial_core(spec, &object.name, &operations, &places(core), &budget) {
                Ok(()) => (Status::Holds, unexplained(core.len())),
                Err(error @ CoreError::TooLarge) => {
                    (Status::Inconclusive, format!("cannot tell: {error}"))
                }
                Err(error) => (Status::Violated, format!("not confirmed: {error}")),
            }
        }
    }
}
