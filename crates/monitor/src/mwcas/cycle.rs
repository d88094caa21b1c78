//! Cycles: why there is no order, as few operations as possible.
//!
//! Where the order is stuck, every operation that is left waits for another one that is left.
//! Mostly a shortest cycle of these says why; a step through time counts as one, however many
//! operations are between. Only where operations failed without saying at which of several
//! locations, so that they wait for *all* of several others, a larger set may be needed.

use super::facts::Facts;
use super::forced::{add_presence, justify, replacements};
use super::order::{Deadlock, Plan};
use super::uses::Role;
use super::versions::VersionId;
use linchpin_history_data::OpId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Why one operation comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// It ends before the other is invoked: happens-before.
    Time,
    /// It wrote the version that the other saw: reads-from.
    WroteSeen(VersionId),
    /// It saw the version that the other replaced: auxiliary.
    SawReplaced(VersionId),
    /// It replaced the version that the other expected and did not find: auxiliary.
    ReplacedExpected(VersionId),
    /// It did not find the version, which the other wrote and nothing replaced.
    NotYet(VersionId),
    /// It returned before the other, which failed, was called; and the version that the other
    /// expected was written before it took effect.
    Held(VersionId),
    /// It was interrupted, and the other is what its process did next.
    Interrupted,
}

/// One operation comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) before: OpId,
    pub(super) reason: Reason,
    pub(super) after: OpId,
}

/// How many operations to visit in all to find a shorter cycle.
const EFFORT: usize = 4_000_000;
/// Up to how many operations a set is made smaller by leaving out one after the other.
const SMALL: usize = 200;

/// Edges between operations of which none can be the first.
pub(super) fn find(facts: &Facts, plan: &Plan, stuck: &Deadlock) -> Vec<Edge> {
    let residue = Residue::new(facts, plan, stuck);
    let mut edges = residue.hopeless().or_else(|| residue.shortest_cycle());
    let edges = edges.get_or_insert_with(|| residue.stuck_set());
    justify(facts, &stuck.because, edges);
    std::mem::take(edges)
}

/// What is left where the order is stuck.
struct Residue<'a, 'h> {
    facts: &'a Facts<'h>,
    plan: &'a Plan,
    left: Vec<OpId>,
    /// Those that end, in the order of their ends.
    ends: Vec<OpId>,
    is_left: Vec<bool>,
    stuck: &'a Deadlock,
    /// For an operation the interrupted ones of its process that come before it.
    interrupted: FxHashMap<OpId, Vec<OpId>>,
}

impl<'a, 'h> Residue<'a, 'h> {
    fn new(facts: &'a Facts<'h>, plan: &'a Plan, stuck: &'a Deadlock) -> Residue<'a, 'h> {
        let is_left: Vec<bool> =
            facts.kept.iter().zip(&stuck.done).map(|(kept, done)| *kept && !done).collect();
        let left = (0..is_left.len()).map(OpId::new).filter(|id| is_left[id.index()]).collect();
        let ends = plan.ends.iter().copied().filter(|&id| is_left[id.index()]).collect();
        let mut interrupted: FxHashMap<OpId, Vec<OpId>> = FxHashMap::default();
        for operation in facts.interrupted.iter().map(|interrupted| interrupted.operation) {
            if is_left[operation.index()]
                && let Some(next) = facts.next_of_process(operation)
            {
                interrupted.entry(next).or_default().push(operation);
            }
        }
        Residue { facts, plan, left, ends, is_left, stuck, interrupted }
    }

    /// What the data asks to come before an operation and is left. Where one of several things
    /// would do, they are `choices`; they are not given to `visit`.
    fn before(&self, id: OpId, choices: &mut Vec<Edge>, mut visit: impl FnMut(Edge)) {
        let facts = self.facts;
        let mut see = |before: OpId, reason: Reason| {
            if before != id && self.is_left[before.index()] {
                visit(Edge { before, reason, after: id });
            }
        };
        choices.clear();
        let mut fails = false;
        for (version, role) in facts.uses.of(id) {
            match role {
                Role::Write => {
                    for early in self.plan.missers(version) {
                        if facts.failed_before(early) == Some((version, id)) {
                            see(early, Reason::NotYet(version));
                        }
                    }
                }
                Role::Miss | Role::Absent => fails = true,
                Role::Read | Role::Replace => {
                    if let Some(writer) = facts.written_by(version) {
                        see(writer, Reason::WroteSeen(version));
                    }
                    if role == Role::Replace {
                        let seers = self.plan.seers(version);
                        seers.for_each(|seer| see(seer, Reason::SawReplaced(version)));
                    }
                }
            }
        }
        if fails {
            choices.extend(replacements(facts, &self.stuck.done, id).unwrap_or_default());
        }
        if let [edge] = choices[..] {
            choices.clear();
            see(edge.before, edge.reason);
        }
        for &interrupted in self.interrupted.get(&id).into_iter().flatten() {
            see(interrupted, Reason::Interrupted);
        }
    }

    /// A failure that nothing explains any more: what it expected was there, and nothing replaced
    /// it.
    fn hopeless(&self) -> Option<Vec<Edge>> {
        let hopeless = |id: &&OpId| {
            let replaced = replacements(self.facts, &self.stuck.done, **id);
            self.facts.uses.missed(**id).next().is_some()
                && replaced.is_some_and(|by| by.is_empty())
        };
        let &id = self.left.iter().find(hopeless)?;
        let mut edges = Vec::new();
        for version in self.facts.uses.with(id, Role::Absent) {
            add_presence(self.facts, &self.stuck.because, &mut edges, id, version);
        }
        (!edges.is_empty()).then_some(edges)
    }

    /// A cycle as short as can be found with bounded effort; all of them are tried where few
    /// operations are left.
    fn shortest_cycle(&self) -> Option<Vec<Edge>> {
        let mut best: Option<Vec<Edge>> = None;
        let mut effort = 0;
        let mut search = Search::new(self);
        for &start in self.ends.iter().chain(&self.left) {
            let limit = best.as_ref().map_or(usize::MAX, Vec::len);
            if limit == 2 || effort > EFFORT {
                break;
            }
            if let Some(cycle) = search.cycle_through(start, limit, &mut effort) {
                best = Some(cycle);
            }
        }
        best
    }

    /// A set of operations each of which waits for others of the set, made small.
    fn stuck_set(&self) -> Vec<Edge> {
        let mut set = self.closed_set();
        let mut at = 0;
        while at < set.list.len() && set.list.len() <= SMALL {
            let kept = set.list.iter().copied().filter(|&id| id != set.list[at]);
            let rest = self.unordered(Set::new(kept));
            if rest.list.is_empty() {
                at += 1;
            } else {
                set = rest;
                at = 0;
            }
        }
        set.list.iter().flat_map(|&id| self.waits_within(id, &set)).collect()
    }

    /// Operations each of which waits for others of them: starts with one and adds what it waits
    /// for, and so on.
    fn closed_set(&self) -> Set {
        let mut set = Set::new(self.ends.first().or(self.left.first()).copied());
        let mut at = 0;
        while at < set.list.len() {
            let id = set.list[at];
            at += 1;
            let mut choices = Vec::new();
            let mut first = self.ends.first().copied().filter(|&end| self.precedes(end, id));
            self.before(id, &mut choices, |edge| {
                let better = |first| !set.has(first) && set.has(edge.before);
                if first.is_none_or(better) {
                    first = Some(edge.before);
                }
            });
            match first {
                Some(first) => set.add(first),
                None => choices.iter().for_each(|edge| set.add(edge.before)),
            }
        }
        set
    }

    /// What is left of the set after all that wait for nothing in it are taken out, one after the
    /// other.
    fn unordered(&self, mut set: Set) -> Set {
        loop {
            let waits = |id: &OpId| !self.waits_within(*id, &set).is_empty();
            let waiting = Set::new(set.list.iter().copied().filter(waits));
            if waiting.list.len() == set.list.len() {
                return set;
            }
            set = waiting;
        }
    }

    /// What in the set an operation waits for: one thing, or all of several that would each do.
    fn waits_within(&self, id: OpId, set: &Set) -> Vec<Edge> {
        let precedes = |other: &OpId| set.has(*other) && self.precedes(*other, id);
        // A large set is a closed one, where the first end of all stands for time.
        let earlier =
            if set.list.len() <= SMALL { &set.list } else { &self.ends[..self.ends.len().min(1)] };
        if let Some(&before) = earlier.iter().find(|other| precedes(other)) {
            return vec![Edge { before, reason: Reason::Time, after: id }];
        }
        let (mut choices, mut found) = (Vec::new(), None);
        self.before(id, &mut choices, |edge| {
            if set.has(edge.before) {
                found = Some(edge);
            }
        });
        match found {
            Some(edge) => vec![edge],
            None if choices.iter().all(|edge| set.has(edge.before)) => choices,
            None => Vec::new(),
        }
    }

    fn precedes(&self, a: OpId, b: OpId) -> bool {
        let operations = &self.facts.history.operations;
        operations[a.index()].precedes(&operations[b.index()])
    }
}

/// A set of operations, in the order in which they were added.
#[derive(Default)]
struct Set {
    list: Vec<OpId>,
    members: FxHashSet<OpId>,
}

impl Set {
    fn new(ids: impl IntoIterator<Item = OpId>) -> Set {
        let mut set = Set::default();
        ids.into_iter().for_each(|id| set.add(id));
        set
    }

    fn add(&mut self, id: OpId) {
        if self.members.insert(id) {
            self.list.push(id);
        }
    }

    fn has(&self, id: OpId) -> bool {
        self.members.contains(&id)
    }
}

/// Breadth-first search backwards.
struct Search<'r, 'a, 'h> {
    residue: &'r Residue<'a, 'h>,
    /// For each operation that was reached the edge from it towards the start.
    edges: Vec<Option<Edge>>,
    queue: VecDeque<(OpId, usize)>,
    reached: Vec<OpId>,
}

impl<'r, 'a, 'h> Search<'r, 'a, 'h> {
    fn new(residue: &'r Residue<'a, 'h>) -> Self {
        let edges = vec![None; residue.is_left.len()];
        Search { residue, edges, queue: VecDeque::new(), reached: Vec::new() }
    }

    /// A shortest cycle through an operation, if it has fewer edges than `limit`.
    fn cycle_through(
        &mut self,
        start: OpId,
        limit: usize,
        effort: &mut usize,
    ) -> Option<Vec<Edge>> {
        for id in self.reached.drain(..) {
            self.edges[id.index()] = None;
        }
        self.queue.clear();
        self.queue.push_back((start, 0));
        let mut ends = self.residue.ends.iter().copied().peekable();
        let mut choices = Vec::new();
        while let Some((id, distance)) = self.queue.pop_front() {
            *effort += 1;
            if distance + 1 >= limit {
                return None;
            }
            let mut closing = None;
            let (edges, queue, reached) = (&mut self.edges, &mut self.queue, &mut self.reached);
            let mut visit = |edge: Edge| {
                if edge.before == start {
                    closing.get_or_insert(edge);
                } else if edges[edge.before.index()].is_none() {
                    edges[edge.before.index()] = Some(edge);
                    reached.push(edge.before);
                    queue.push_back((edge.before, distance + 1));
                }
            };
            self.residue.before(id, &mut choices, &mut visit);
            // Operations that end early enough for this one and were not reached: each is looked at
            // once.
            while let Some(before) = ends.next_if(|&end| self.residue.precedes(end, id)) {
                visit(Edge { before, reason: Reason::Time, after: id });
            }
            if let Some(closing) = closing {
                return Some(self.path(closing, start));
            }
        }
        None
    }

    /// The cycle that an edge from the start closes.
    fn path(&self, closing: Edge, start: OpId) -> Vec<Edge> {
        let mut cycle = vec![closing];
        let mut at = closing.after;
        while at != start {
            let Some(edge) = self.edges[at.index()] else { break };
            cycle.push(edge);
            at = edge.after;
        }
        cycle
    }
}
