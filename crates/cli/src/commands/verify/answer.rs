//! What an engine says of a model.

use linchpin_report::{Bar, Row};
use serde_json::{Value as Json, json};

/// The verdicts, from the weakest to the one that overrides all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    Inconclusive,
    HoldsWithinBounds,
    ProvedIfSequential,
    Proved,
    Violated,
}

impl Word {
    pub fn in_words(self) -> &'static str {
        match self {
            Word::Inconclusive => "inconclusive",
            Word::HoldsWithinBounds => "holds within bounds",
            Word::ProvedIfSequential => "proved if sequential",
            Word::Proved => "proved",
            Word::Violated => "VIOLATED",
        }
    }

    /// Whether it is a claim for any number of threads.
    pub fn is_proof(self) -> bool {
        matches!(self, Word::Proved | Word::ProvedIfSequential)
    }

    pub fn in_json(self) -> &'static str {
        match self {
            Word::Inconclusive => "inconclusive",
            Word::HoldsWithinBounds => "holds-within-bounds",
            Word::ProvedIfSequential => "proved-if-sequential",
            Word::Proved => "proved",
            Word::Violated => "violated",
        }
    }
}

/// What an engine says.
pub struct Answer {
    pub engine: &'static str,
    pub word: Word,
    /// A sentence: what was shown, or what stopped it.
    pub reason: String,
    pub bounds: Json,
    pub assumptions: Vec<String>,
    pub unreached: Vec<String>,
    pub stats: Json,
    /// More lines for people, each indented by the caller.
    pub notes: Vec<String>,
    pub found: Option<Found>,
}

/// A counterexample, ready to be shown.
pub struct Found {
    pub json: Json,
    pub explanation: String,
    pub text: String,
    pub bars: Vec<Bar>,
    pub rows: Vec<Row>,
    /// Whether a step fails, and not a history that no order explains.
    pub is_fault: bool,
}

impl Answer {
    pub fn text(&self) -> String {
        let mut text = format!("  {}: {}\n", self.engine, self.reason);
        for note in &self.notes {
            text += &format!("    {note}\n");
        }
        for assumption in &self.assumptions {
            text += &format!("    assuming: {assumption}\n");
        }
        if !self.unreached.is_empty() {
            text += &format!("    never executed: {}\n", self.unreached.join(", "));
        }
        if let Some(found) = &self.found {
            text += &format!("\n{}", found.text);
        }
        text
    }

    pub fn json(&self) -> Json {
        json!({
            "engine": self.engine, "verdict": self.word.in_json(), "reason": self.reason,
            "bounds": self.bounds, "assumptions": self.assumptions, "unreached": self.unreached,
            "stats": self.stats, "notes": self.notes,
        })
    }
}
