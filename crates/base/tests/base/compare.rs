//! The engine against the oracle: rule by rule.

use crate::oracle::{Asked, Judged, judge};
use crate::support::{Within, base};
use linchpin_base::Analysis;
use linchpin_engine::{Rule, WithoutUpdates};
use linchpin_ir::program::Program;
use linchpin_space::Reductions;
use std::collections::BTreeSet;
use std::time::Duration;

/// The rules that both know.
pub const RULES: [Rule; 6] = [
    Rule::CriticalBasePoint,
    Rule::LastRead,
    Rule::Commute,
    Rule::Preserve,
    Rule::OneStep,
    Rule::ReadBasePoint,
];

/// Only what the engine cannot do without: then a step is a step, as the definitions have it.
pub const PLAIN: Reductions =
    Reductions { canonical_heap: true, merged_events: true, ..Reductions::NONE };

/// What the two say.
pub struct Compared {
    pub engine: BTreeSet<Rule>,
    pub analysis: Analysis,
    pub oracle: Judged,
}

/// Asks both, with calls without update steps treated as the engine does; `None` if it is too much
/// for one of them.
pub fn compare(
    program: &Program,
    within: Within,
    reductions: Reductions,
    as_printed: bool,
    most: usize,
) -> Option<Compared> {
    let analysis = base(program, within, reductions, as_printed, Duration::from_secs(10)).ok()?;
    if analysis.stopped.is_some() {
        return None;
    }
    let treated = analysis.treatment.without_updates.iter().enumerate();
    let read_only = treated
        .filter(|(_, how)| **how == WithoutUpdates::ReadOnly)
        .map(|(operation, _)| operation)
        .collect();
    let asked = Asked {
        calls: within.calls as usize,
        values: within.values,
        most,
        read_only,
        merged: true,
        dead_locals: reductions.dead_locals,
    };
    let oracle = judge(program, &asked)?;
    let rules = analysis.findings.iter().map(|finding| finding.rule);
    let engine = rules.filter(|rule| RULES.contains(rule)).collect();
    Some(Compared { engine, analysis, oracle })
}
