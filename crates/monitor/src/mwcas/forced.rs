//! Failures that may have come too early: which writer must go first although it harms one of them?
//!
//! A swap that expected a version which no operation had seen before it was called may have failed
//! because the version was not there *yet*. Then it comes before the writer or after the
//! replacement: a choice, unlike all else that the data asks for. Such a failure is put into the
//! order as soon as it is admitted, if its version is not there then: it changes nothing, so that
//! does no harm. What can harm it is to put the *writer* in before it is admitted. So as long as
//! anything else may come next, such a writer is postponed. Once nothing else may, consider the
//! operation whose response admits what is invoked next, and all that must come before it: these
//! come before whatever is not admitted yet in every order, so a postponed writer among them goes
//! next and no choice was made. If none is among them, that operation never gets its turn, and
//! there is no order. So no choice is ever tried, except where an operation failed at one of
//! several locations and does not say which: then what must come before it may not be known, and
//! the monitor does not decide.

use super::cycle::{Edge, Reason};
use super::facts::Facts;
use super::uses::Role;
use linchpin_history_data::OpId;
use rustc_hash::FxHashMap;

/// What to do where only postponed writers may come next.
pub(super) enum Next {
    /// Put this one next; the edges say why it comes before the operation whose response is the
    /// first.
    Forced(OpId, Vec<Edge>),
    /// None of them helps.
    Deadlock,
    /// One of several replacements would help.
    Unclear,
}

/// Which of the failure's versions could explain it by being replaced; nothing if one of them is
/// not there, so that it is explained.
pub(super) fn replacements(facts: &Facts, done: &[bool], id: OpId) -> Option<Vec<Edge>> {
    let mut replacements = Vec::new();
    for (version, role) in facts.uses.missed(id) {
        let next = facts.next[version as usize];
        let is_done = |id: Option<OpId>| id.is_some_and(|id| done[id.index()]);
        let written = role == Role::Miss || is_done(facts.written_by(version));
        if !written || is_done(next) {
            return None;
        }
        if let Some(next) = next {
            let reason = Reason::ReplacedExpected(version);
            replacements.push(Edge { before: next, reason, after: id });
        }
    }
    Some(replacements)
}

/// The postponed writer that comes before `first` in every order. `open` are all operations that
/// are admitted and not in the order yet: what must come before `first` is among them.
pub(super) fn forced(
    facts: &Facts,
    done: &[bool],
    open: &[OpId],
    postponed: &[OpId],
    first: OpId,
) -> Next {
    let mut edges = Vec::new();
    let mut several = Vec::new();
    for &id in open {
        edges_of(facts, done, id, &mut edges, &mut several);
    }
    edges.sort_unstable_by_key(|edge| edge.after);
    let mut toward: FxHashMap<OpId, Option<Edge>> = FxHashMap::default();
    toward.insert(first, None);
    let mut found = vec![first];
    let mut at = 0;
    let mut unclear = false;
    while at < found.len() {
        let id = found[at];
        at += 1;
        if postponed.contains(&id) {
            return Next::Forced(id, path(&toward, id));
        }
        unclear |= several.contains(&id);
        let start = edges.partition_point(|edge| edge.after < id);
        for edge in edges[start..].iter().take_while(|edge| edge.after == id) {
            toward.entry(edge.before).or_insert_with(|| {
                found.push(edge.before);
                Some(*edge)
            });
        }
    }
    if unclear { Next::Unclear } else { Next::Deadlock }
}

/// What an open operation must come after or before, of what is not in the order.
fn edges_of(
    facts: &Facts,
    done: &[bool],
    id: OpId,
    edges: &mut Vec<Edge>,
    several: &mut Vec<OpId>,
) {
    let mut add = |before: OpId, reason: Reason, after: OpId| {
        if before != after && !done[before.index()] && !done[after.index()] {
            edges.push(Edge { before, reason, after });
        }
    };
    let mut fails = false;
    for (version, role) in facts.uses.of(id) {
        match role {
            Role::Read | Role::Replace => {
                if let Some(writer) = facts.written_by(version) {
                    add(writer, Reason::WroteSeen(version), id);
                }
                if let Some(next) = facts.next[version as usize] {
                    add(id, Reason::SawReplaced(version), next);
                }
            }
            Role::Miss | Role::Absent => fails = true,
            Role::Write => {}
        }
    }
    if let Some(next) = facts.next_of_process(id) {
        add(id, Reason::Interrupted, next);
    }
    if let Some((version, writer)) = facts.failed_before(id) {
        add(id, Reason::NotYet(version), writer);
    } else if fails {
        match replacements(facts, done, id).as_deref() {
            Some([edge]) => add(edge.before, edge.reason, id),
            Some([_, ..]) => several.push(id),
            _ => {}
        }
    }
}

/// The edges from an operation to the one where the search started.
fn path(toward: &FxHashMap<OpId, Option<Edge>>, from: OpId) -> Vec<Edge> {
    let mut path = Vec::new();
    let mut at = from;
    while let Some(Some(edge)) = toward.get(&at) {
        path.push(*edge);
        at = edge.after;
    }
    path
}

/// Adds to edges why a version was there when an operation failed, where that is not certain by
/// itself. `because` has for each writer that was forced the edges to the operation `first` whose
/// response came first.
pub(super) fn justify(
    facts: &Facts,
    because: &FxHashMap<OpId, (OpId, Vec<Edge>)>,
    edges: &mut Vec<Edge>,
) {
    let mut justified = Vec::new();
    let mut at = 0;
    while at < edges.len() {
        let Edge { reason, after, .. } = edges[at];
        at += 1;
        let fails = matches!(reason, Reason::ReplacedExpected(_) | Reason::Held(_));
        if !fails || justified.contains(&after) {
            continue;
        }
        justified.push(after);
        for version in facts.uses.with(after, Role::Absent) {
            add_presence(facts, because, edges, after, version);
        }
    }
}

/// Adds why the version was there before the operation was called.
pub(super) fn add_presence(
    facts: &Facts,
    because: &FxHashMap<OpId, (OpId, Vec<Edge>)>,
    edges: &mut Vec<Edge>,
    id: OpId,
    version: super::versions::VersionId,
) {
    let known = facts.written_by(version).and_then(|writer| because.get(&writer));
    let Some((first, path)) = known else { return };
    let held = Edge { before: *first, reason: Reason::Held(version), after: id };
    for edge in path.iter().copied().chain([held]) {
        if !edges.contains(&edge) {
            edges.push(edge);
        }
    }
}
