//! A roadmap in a few lines, beside a verdict: what is refuted, with the states that show it.

use super::words::claim_sentence;
use linchpin_engine::{Roadmap, Status, Witness};
use linchpin_verdict::counted;

/// What is refuted: the first with all that shows it, of the others the claim alone; or how many
/// claims there are.
pub fn brief(roadmap: &Roadmap) -> String {
    let refuted = refuted(roadmap);
    let Some(((sentence, witness), others)) = refuted.split_first() else { return count(roadmap) };
    let mut lines = vec![format!("    refuted: {sentence}")];
    lines.extend(witness.text.lines().map(|line| format!("      {line}")));
    let width = witness.states.iter().map(|state| state.caption.chars().count()).max().unwrap_or(0);
    for state in &witness.states {
        let mut caption = format!("{}:", state.caption);
        for line in state.lines() {
            lines.push(format!("        {caption:<0$}  {line}", width + 1));
            caption.clear();
        }
    }
    lines.extend(others.iter().map(|(sentence, _)| format!("    also refuted: {sentence}")));
    lines.push("    `linchpin roadmap` shows all claims, and the runs that lead there".to_owned());
    lines.join("\n") + "\n"
}

/// The claims that are refuted, base conditions last: they are claims about the model's comments.
fn refuted(roadmap: &Roadmap) -> Vec<(String, &Witness)> {
    let mut all = Vec::new();
    for claim in &roadmap.claims {
        if let Status::Refuted(witness) = &claim.status {
            all.push((claim_sentence(claim), &**witness));
        }
    }
    for operation in &roadmap.operations {
        for condition in &operation.conditions {
            if let Status::Refuted(witness) = &condition.status {
                let sentence = format!(
                    "Definition 1, `{}`, line {}: the base condition of `{}`",
                    operation.name, condition.line, condition.step
                );
                all.push((sentence, &**witness));
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
            Status::Refuted(_) | Status::NotNeeded { .. } | Status::NeverMet => {}
        }
    }
    let shown = match shown {
        0 => String::new(),
        shown => format!(", {} shown for any heap", counted(shown, "claim")),
    };
    format!(
        "    {} checked{shown}, none refuted: `linchpin roadmap` says what is left to prove\n",
        counted(checked, "claim")
    )
}
