//! The core as a drawing.

use super::Presentation;
use linchpin_history::{NEVER, OpId, Rank, Violation};
use linchpin_report::{Bar, Timeline};
use std::collections::{BTreeMap, BTreeSet};

/// So many operations are drawn, unless the sentence is about more.
const MAX_BARS: usize = 24;

/// A core, drawn.
pub struct Drawn {
    /// The drawing.
    pub drawing: Timeline,
    /// What is drawn, in the order of calls.
    pub shown: Vec<OpId>,
    /// That something is left out, and what; empty if all is drawn.
    pub left_out: String,
}

impl Presentation<'_> {
    /// The core, in the order of events: what the sentence is about, what returned when nothing
    /// could explain it any more, and of the rest what was called last.
    pub fn timeline(&self, violation: &Violation) -> Drawn {
        let history = &self.recording.history;
        let shown = self.shown(violation);
        let mut ranks: Vec<Rank> = Vec::new();
        for id in &shown {
            let operation = &history[*id];
            ranks.push(operation.invoked);
            if operation.completed {
                ranks.push(operation.returned);
            }
        }
        ranks.sort_unstable();
        let position = |rank: Rank| ranks.partition_point(|known| *known < rank);
        let bar = |id: &OpId| {
            let operation = &history[*id];
            let to = operation.completed && operation.returned != NEVER;
            Bar {
                process: operation.process as usize,
                label: self.label(*id),
                from: position(operation.invoked),
                to: to.then(|| position(operation.returned)),
            }
        };
        let names = history.processes.iter().map(|name| format!("process {name}")).collect();
        let drawing = Timeline::new(shown.iter().map(bar).collect()).named(names);
        let left_out = self.left_out(violation, &shown);
        Drawn { drawing, shown, left_out }
    }

    /// Which operations of a core are drawn.
    fn shown(&self, violation: &Violation) -> Vec<OpId> {
        let history = &self.recording.history;
        let core = &violation.core;
        let returned = core.iter().filter(|id| Some(history[**id].returned) == violation.at);
        let mut shown: BTreeSet<OpId> = violation.blamed.iter().chain(returned).copied().collect();
        for id in core.iter().rev() {
            if shown.len() >= MAX_BARS {
                break;
            }
            shown.insert(*id);
        }
        shown.into_iter().collect()
    }

    fn left_out(&self, violation: &Violation, shown: &[OpId]) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let signatures = self.subject.object.spec.operations();
        for id in violation.core.iter().filter(|id| shown.binary_search(id).is_err()) {
            let operation = usize::from(self.recording.history[*id].operation);
            *counts.entry(&signatures[operation].name).or_default() += 1;
        }
        if counts.is_empty() {
            return String::new();
        }
        let calls = |(name, count): (&&str, &usize)| format!("{count} of {name}");
        let counts: Vec<String> = counts.iter().map(calls).collect();
        format!(
            "{} of the {} operations of the core are drawn; left out, earlier ones: {}\n",
            shown.len(),
            violation.core.len(),
            counts.join(", ")
        )
    }
}
