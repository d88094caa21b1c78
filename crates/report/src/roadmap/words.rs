//! How far a claim is known, in words.

use crate::Tone;
use crate::document::Text;
use linchpin_engine::{Claim, OperationKind, Origin, Status, WithoutUpdates};
use linchpin_verdict::counted;

/// So many of what a status counts.
pub fn case_count(status: &Status) -> Option<usize> {
    match status {
        Status::Explored { cases } => Some(*cases),
        Status::Shown { .. }
        | Status::Refuted(_)
        | Status::NotNeeded { .. }
        | Status::NotChecked { .. }
        | Status::NeverMet => None,
    }
}

/// A status: `checked in 12 states`. What is counted has the name `noun`.
pub fn status_words(status: &Status, noun: &str) -> String {
    match status {
        Status::Explored { cases } => format!("checked in {}", counted(*cases, noun)),
        Status::Shown { how } => format!("shown for any number of threads and any heap: {how}"),
        Status::Refuted(_) => "refuted".to_owned(),
        Status::NotNeeded { why } => format!("not needed: {why}"),
        Status::NotChecked { why } => format!("not checked: {why}"),
        Status::NeverMet => "never met within these bounds".to_owned(),
    }
}

/// A status as text, with its tone.
pub(super) fn status_text(status: &Status, noun: &str) -> Text {
    let words = status_words(status, noun);
    match status {
        Status::Shown { how } => Text::default()
            .toned(Tone::Good, "shown for any number of threads and any heap")
            .then(format!(": {how}")),
        Status::Refuted(_) => Text::default().toned(Tone::Bad, words),
        Status::Explored { .. }
        | Status::NotNeeded { .. }
        | Status::NotChecked { .. }
        | Status::NeverMet => Text::from(words),
    }
}

/// Where the paper states a claim, and the claim.
pub(super) fn claim_sentence(claim: &Claim) -> String {
    format!("{}: {}", claim.rule.source(), claim.text.trim_end_matches('.'))
}

pub(super) const fn kind(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Update => "update",
        OperationKind::ReadOnly => "read-only",
    }
}

pub(super) const fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Stated => "stated",
        Origin::Suggested => "suggested",
    }
}

/// How calls of an update operation without update steps are treated.
pub(super) const fn without_updates(how: WithoutUpdates) -> &'static str {
    match how {
        WithoutUpdates::LastRead => "their last read is their critical sequence (Definition 5)",
        WithoutUpdates::ReadOnly => "as calls of a read-only operation (Theorem 2)",
    }
}
