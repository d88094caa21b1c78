//! Base conditions of steps: those that a model states are checked, others are found.
//!
//! Reading order: `formula.rs` (what a condition says of a shared state), `claim.rs` (Definition
//! 1: is it a base condition?), `facts.rs` and `states.rs` (states beyond those that were
//! explored), `atoms.rs`, `search.rs` and `suggest.rs` (finding conditions), `report.rs` (what is
//! known of a condition, for people).

mod atoms;
mod claim;
mod evaluate;
mod facts;
mod formula;
mod place;
mod report;
mod runs;
mod search;
mod stated;
mod states;
mod suggest;
mod target;
mod values;

pub use claim::{Claim, Judgement, NotChecked, Refutation, Sample, Verdict, judge};
pub use facts::NoWellFormed;
pub use formula::{Condition, NotEvaluated, Setting};
pub use place::{Answer, At};
pub use stated::{Stated, stated};
pub use states::{WellFormed, explored, well_formed};
pub use suggest::{FoundCondition, Larger, NoCondition, SuggestedCondition, Suggestions, suggest};

use crate::analyse::Analysis;
use linchpin_verdict::Limits;

/// How many values more than were explored well-formed states have.
const FURTHER_VALUES: i64 = 2;

/// A stated condition with what is known of it.
#[derive(Clone, Debug)]
pub struct CheckedCondition {
    /// The condition.
    pub stated: Stated,
    /// Its text in the language of models.
    pub text: String,
    /// In the shared states that were explored.
    pub explored: Judgement,
    /// In all well-formed states up to a size, whether they were explored or not.
    pub well_formed: Option<Judgement>,
}

/// What is known of the conditions that a model states.
pub struct CheckedConditions {
    /// The conditions, in the order of the code.
    pub conditions: Vec<CheckedCondition>,
    /// What "well-formed" means, as sentences; or why only explored states were used.
    pub well_formed: Result<Vec<String>, NoWellFormed>,
    /// The largest well-formed states: how many nodes their list has, and up to which integer.
    pub size: Option<(usize, i64)>,
}

/// Checks every base condition that the model states (Definition 1).
pub fn check_stated(analysis: &Analysis, limits: &Limits) -> CheckedConditions {
    let space = &analysis.space;
    let all = stated(space.program());
    let states = explored(analysis);
    let sample = Sample { space, calls: analysis.shared.calls(), states: &states };
    let claims: Vec<Claim> = all.iter().map(|stated| stated.claim.clone()).collect();
    let judgements = judge(sample, &claims, limits);
    let beyond = well_formed(analysis, &states, FURTHER_VALUES);
    let mut further = match &beyond {
        Ok(beyond) => {
            let WellFormed { space, calls, states, .. } = beyond;
            judge(Sample { space, calls, states }, &claims, limits).into_iter().map(Some).collect()
        }
        Err(_) => vec![None; all.len()],
    }
    .into_iter();
    let conditions = all.into_iter().zip(judgements).map(|(stated, explored)| {
        let text = report::text(space.program(), stated.claim.operation, &stated.claim.formula);
        CheckedCondition { stated, text, explored, well_formed: further.next().flatten() }
    });
    CheckedConditions {
        conditions: conditions.collect(),
        size: beyond.as_ref().ok().map(|beyond| (beyond.nodes, beyond.values)),
        well_formed: beyond.map(|beyond| beyond.facts),
    }
}
