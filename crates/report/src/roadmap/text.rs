//! A roadmap in a few lines, beside a verdict: what is refuted, with the states that show it.

use super::words::claim_sentence;
use linchpin_engine::{Roadmap, Rule, Status, Witness};
use linchpin_verdict::counted;

/// What is refuted, the first with all that shows it; or how many claims there are.
pub fn brief(roadmap: &Roadmap) -> String {
    let refuted = refuted(roadmap);
    let Some((first, others)) = refuted.split_first() else { return count(roadmap) };
    let witness = first.witness;
    let mut lines = vec![format!("    refuted: {}", first.sentence)];
    lines.extend(witness.text.lines().map(|line| format!("      {line}")));
    let width = witness.states.iter().map(|state| state.caption.chars().count()).max().unwrap_or(0);
    for state in &witness.states {
        let mut caption = format!("{}:", state.caption);
        for line in state.lines() {
            lines.push(format!("        {caption:<0$}  {line}", width + 1));
            caption.clear();
        }
    }
    let mut names: Vec<&str> = Vec::new();
    for other in others {
        if !names.contains(&other.name.as_str()) {
            names.push(&other.name);
        }
    }
    if !names.is_empty() {
        lines.push(format!("    also refuted: {}", names.join("; ")));
    }
    lines.push("    `linchpin roadmap` shows all claims, and the runs that lead there".to_owned());
    lines.join("\n") + "\n"
}

/// A claim that is refuted.
struct Refuted<'a> {
    /// The claim.
    sentence: String,
    /// The same in a few words.
    name: String,
    witness: &'a Witness,
}

impl Refuted<'_> {
    /// In which order people want to see them: what the paper asks for before the confirmation,
    /// short runs before long ones.
    fn rank(&self, rule: Rule) -> (bool, usize) {
        let length = self.witness.run.as_ref().map_or(usize::MAX, |run| run.schedule.len());
        (rule == Rule::Confirmation, length)
    }
}

/// The claims that are refuted; base conditions last, for the proof may do without them.
fn refuted(roadmap: &Roadmap) -> Vec<Refuted<'_>> {
    let mut claims = Vec::new();
    for claim in &roadmap.claims {
        if let Status::Refuted(witness) = &claim.status {
            let of = claim.operation.as_ref().map_or(String::new(), |of| format!(" for `{of}`"));
            let name = format!("{}{of}", claim.rule.source());
            let refuted = Refuted { sentence: claim_sentence(claim), name, witness };
            claims.push((refuted.rank(claim.rule), refuted));
        }
    }
    claims.sort_by_key(|(rank, _)| *rank);
    let mut all: Vec<Refuted<'_>> = claims.into_iter().map(|(_, refuted)| refuted).collect();
    for operation in &roadmap.operations {
        for condition in &operation.conditions {
            if let Status::Refuted(witness) = &condition.status {
                let (of, line, step) = (&operation.name, condition.line, &condition.step);
                let name = format!("the base condition of `{step}`, line {line} of `{of}`");
                all.push(Refuted { sentence: format!("Definition 1: {name}"), name, witness });
            }
        }
    }
    all
}

fn count(roadmap: &Roadmap) -> String {
    let conditions = roadmap.operations.iter().flat_map(|operation| &operation.conditions);
    let statuses = conditions.map(|condition| &condition.status);
    let statuses = statuses.chain(roadmap.claims.iter().map(|claim| &claim.status));
    let (mut checked, mut shown) = (0usize, 0usize);
    for status in statuses {
        match status {
            Status::Explored { .. } => checked += 1,
            Status::Shown { .. } => shown += 1,
            Status::Refuted(_)
            | Status::NotNeeded { .. }
            | Status::NotChecked { .. }
            | Status::NeverMet => {}
        }
    }
    let shown = match shown {
        0 => String::new(),
        shown => format!(", {} shown for any number of threads", counted(shown, "claim")),
    };
    format!(
        "    {} checked{shown}, none refuted: `linchpin roadmap` says what is left to prove\n",
        counted(checked, "claim")
    )
}
