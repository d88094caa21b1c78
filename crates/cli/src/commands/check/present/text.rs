//! The verdict for people.

use super::{Presentation, VACUOUS};
use crate::commands::check::confirm::{Confirmation, KEYS};
use crate::commands::check::not_decided;
use crate::output;
use linchpin_history::{Judgement, KeyChecked, KeyVerdict, OpId, Violation};

/// So many possible states are named.
pub const STATES: usize = 8;

/// So many characters of each are shown.
const STATE: usize = 160;

impl Presentation<'_> {
    /// What people read.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n  {}\n", self.headline(), self.subject_sentence());
        if self.recording.is_vacuous() {
            text += &format!("  {VACUOUS}\n");
        }
        for remark in self.remarks() {
            text += &format!("  {remark}\n");
        }
        match &self.checked.judgement {
            Judgement::Violated(violation) => text += &self.violation(violation),
            Judgement::Inconclusive(_) => {
                text += "  Allow more with --time-limit or --memory-limit, or check a shorter history.\n";
            }
            Judgement::Holds(_) => {}
        }
        text += &self.keys();
        for assumption in self.assumptions() {
            text += &format!("  assuming: {assumption}\n");
        }
        if self.args.common.verbose {
            text += &format!("  format: {}\n", self.recording.format.name());
            for note in self.recording.notes.iter().chain(&self.checked.notes) {
                text += &format!("  note: {note}\n");
            }
            text += &format!("  method: {}\n", self.checked.method);
            text += &format!(
                "  time: {:.3} s, of which reading {:.3} s\n",
                self.seconds, self.parse_seconds
            );
        }
        text
    }

    fn violation(&self, violation: &Violation) -> String {
        let sentence = self.about(self.checked.key, &violation.explanation);
        let mut text = match &self.recording.precedence {
            // There are no intervals to draw.
            Some(_) => {
                let core = self.table(&violation.core);
                format!("\n{sentence}\n\nThe core, which no order explains:\n{core}")
            }
            None => {
                let drawn = self.timeline(violation);
                format!(
                    "\n{sentence}\n\n{}{}\nThe core, which no order explains:\n{}",
                    drawn.drawing.draw(output::drawing_columns()),
                    drawn.left_out,
                    self.table(&drawn.shown),
                )
            }
        };
        text += match self.confirmed.core {
            Some(Confirmation::Unknown) => {
                "The core was not confirmed: the independent checker could not tell in time.\n"
            }
            Some(Confirmation::Replaced) => {
                "The core that was found first was refuted by the independent checker, and this is another one. That is a \
                 mistake in linchpin: please report it with this history.\n"
            }
            _ => "",
        };
        if let Some(at) = violation.at {
            let of_key = self
                .checked
                .key
                .map_or_else(String::new, |key| format!(" of key {}", self.key(key)));
            let place = self.place(at);
            // The core alone has no explanation, but something beside it could still give it one.
            let is_later =
                violation.core.iter().all(|id| self.recording.history[*id].returned < at);
            let until_then = match is_later && !violation.core.is_empty() {
                true => ": until then, what was in progress could have explained the core",
                false => "",
            };
            text += &match self.recording.places.line(at) {
                Some(_) => format!(
                    "The return on {place} is the first event{of_key} that cannot be explained{until_then}.\n"
                ),
                None => format!(
                    "The return that is {place} of the history is the first{of_key} that cannot be explained{until_then}.\n"
                ),
            };
        }
        if !self.checked.possible.is_empty() {
            let states: Vec<String> =
                self.checked.possible.iter().take(STATES).map(|state| cut_short(state)).collect();
            let more = more(self.checked.possible.len() - states.len());
            text += &format!("Possible states just before: {}{more}\n", states.join(", "));
        }
        text
    }

    /// Operations, one a line: where they are, who called them, what.
    fn table(&self, ids: &[OpId]) -> String {
        let rows = ids
            .iter()
            .map(|id| (self.span(*id), format!("process {}", self.process(*id)), self.label(*id)));
        let rows: Vec<(String, String, String)> = rows.collect();
        let width = |cell: fn(&(String, String, String)) -> &str| {
            rows.iter().map(|row| cell(row).chars().count()).max().unwrap_or(0)
        };
        let (spans, processes) = (width(|row| &row.0), width(|row| &row.1));
        let line = |(span, process, label): &(String, String, String)| {
            format!("  {span:spans$}  {process:processes$}  {label}\n")
        };
        rows.iter().map(line).collect()
    }

    /// The keys that are violated, if there are others than the one that was explained, and those
    /// that stayed open.
    fn keys(&self) -> String {
        let keys = &self.checked.keys;
        let of = |wanted: fn(&KeyChecked) -> bool| {
            keys.iter().filter(|key| wanted(key)).collect::<Vec<_>>()
        };
        let violated = of(|key| matches!(key.verdict, KeyVerdict::Violated { .. }));
        let open = of(|key| matches!(key.verdict, KeyVerdict::Open(_)));
        let mut text = String::new();
        // One alone was explained in full.
        if violated.len() > 1 {
            text += &format!("\n{} of {} keys are violated:\n", violated.len(), keys.len());
            text += &self.listed(&violated);
        }
        if !open.is_empty() {
            text += &format!("\n{} of {} keys stayed open:\n", open.len(), keys.len());
            text += &self.listed(&open);
        }
        text
    }

    fn listed(&self, keys: &[&KeyChecked]) -> String {
        let mut text = String::new();
        for key in keys.iter().take(KEYS) {
            let (at, sentence) = match &key.verdict {
                KeyVerdict::Violated { violation, .. } => {
                    (violation.at, violation.explanation.clone())
                }
                KeyVerdict::Open(reason) => (None, not_decided(reason, &self.recording.places)),
                KeyVerdict::Holds => continue,
            };
            let at = at.map_or_else(String::new, |at| format!(", {}", self.place(at)));
            text += &format!("  key {}{at}: {sentence}\n", self.key(key.key));
        }
        if keys.len() > KEYS {
            text += &format!("  {}\n", more(keys.len() - KEYS).trim_start());
        }
        text
    }
}

/// A state, as far as there is room for it.
pub fn cut_short(state: &str) -> String {
    match state.char_indices().nth(STATE) {
        Some((end, _)) => format!("{}… ({} characters)", &state[..end], state.chars().count()),
        None => state.to_owned(),
    }
}

/// That there are more, if there are.
fn more(count: usize) -> String {
    if count > 0 { format!(" and {count} more") } else { String::new() }
}
