//! Explanations: cores as closed arguments, in sentences.

use super::cycle::{Edge, Reason};
use super::facts::Facts;
use super::uses::Role;
use super::versions::VersionId;
use linchpin_history_data::{OpId, ValueId};

/// The operations of the edges, and what else is needed for them alone to have no order.
pub(super) fn core_of_edges(facts: &Facts, edges: &[Edge]) -> Vec<OpId> {
    let mut core: Vec<OpId> = Vec::new();
    for edge in edges {
        add(&mut core, edge.before);
        add(&mut core, edge.after);
        if matches!(edge.reason, Reason::ReplacedExpected(_) | Reason::Held(_)) {
            add_expectations(facts, &mut core, edge.after);
        }
    }
    core
}

/// Adds operations which show that what this one expected was there before.
pub(super) fn add_expectations(facts: &Facts, core: &mut Vec<OpId>, id: OpId) {
    for version in facts.uses.with(id, Role::Miss) {
        if let Some(shown) = facts.shown_before(id, version) {
            add(core, shown);
        }
    }
}

/// Adds what makes the core stand on its own: that pending operations took effect, and what
/// locations held at first.
pub(super) fn close(facts: &Facts, core: &mut Vec<OpId>) {
    facts.add_observers(core);
    let mut at = 0;
    while at < core.len() {
        let written: Vec<VersionId> = facts.uses.with(core[at], Role::Write).collect();
        for version in written {
            let location = facts.versions.location(version);
            if let Some(&beginning) = facts.beginning.get(&location)
                && !tells_beginning(facts, core, location)
            {
                add(core, beginning);
            }
        }
        at += 1;
    }
    core.sort_unstable();
}

/// Whether some completed operation of the core saw a version there that no operation of the core
/// wrote.
fn tells_beginning(facts: &Facts, core: &[OpId], location: ValueId) -> bool {
    let written =
        |version: VersionId| facts.written_by(version).is_some_and(|by| core.contains(&by));
    let completed = |id: OpId| facts.history[id].completed;
    core.iter().filter(|&&id| completed(id)).any(|&id| {
        let mut seen = facts.uses.seen(id);
        seen.any(|version| facts.versions.location(version) == location && !written(version))
    })
}

fn add(core: &mut Vec<OpId>, id: OpId) {
    if !core.contains(&id) {
        core.push(id);
    }
}

/// "…; …; …": why each comes before the other.
pub(super) fn sentence(facts: &Facts, edges: &[Edge]) -> String {
    let parts: Vec<String> = edges.iter().map(|edge| part(facts, edge)).collect();
    parts.join("; ")
}

fn part(facts: &Facts, edge: &Edge) -> String {
    let (a, b) = (facts.names.operation(edge.before), facts.names.operation(edge.after));
    match edge.reason {
        Reason::Time => {
            let before = &facts.history[edge.before];
            if before.completed {
                format!("the {a} returned before the {b} was called")
            } else {
                format!("the {a}, which was interrupted, took effect before the {b} was called")
            }
        }
        Reason::WroteSeen(version) => {
            let (location, value) = facts.show(version);
            format!("the {b} saw {location} = {value}, which the {a} wrote")
        }
        Reason::SawReplaced(version) => {
            let (location, value) = facts.show(version);
            format!("the {a} saw {location} = {value}, which the {b} replaced")
        }
        Reason::ReplacedExpected(version) => {
            let (location, value) = facts.show(version);
            format!(
                "the {b} can have failed at {location} only after the {a}, which replaced the {value} there"
            )
        }
        Reason::Held(version) => {
            let (location, value) = facts.show(version);
            let by =
                facts.written_by(version).map(|by| facts.names.operation(by)).unwrap_or_default();
            format!(
                "the {a} returned before the {b} was called, so the {by} had written {location} = {value} by then"
            )
        }
        Reason::NotYet(version) => {
            let (location, value) = facts.show(version);
            format!(
                "the {a} can have failed at {location} only before the {b}, which wrote the {value} there that nothing replaced"
            )
        }
        Reason::Interrupted => {
            format!(
                "the {a} was interrupted, so it came before the {b}, which its process called next"
            )
        }
    }
}
