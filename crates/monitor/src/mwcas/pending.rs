//! Which of the pending swaps that no operation saw took effect?
//!
//! Cepeda et al. exclude them (Section 5.3, rule 2), since their effect was not observed. But a
//! swap that fails at a location has observed that *something* replaced what it expected, and a
//! pending swap may be the only one that can have done so. Leaving it out raises a false alarm. So
//! where a failure has no other explanation, one of the pending swaps that expected the same value
//! there took effect.
//!
//! Choosing them is a packing problem: two that replace the same version exclude each other, and a
//! choice may have no order. The choice is made by a small solver; where it has no order, the cycle
//! says which choices are at fault, and that is a further clause. Pending swaps that explain
//! nothing are never chosen, as leaving one out that no operation saw spoils no order.

use super::super::poll::StopPoll;
use super::Stop;
use super::clauses::{Clause, Solution, solve};
use super::cycle::{self, Edge};
use super::explain;
use super::facts::{Facts, Writer};
use super::order::{Plan, order};
use super::uses::Role;
use super::versions::VersionId;
use linchpin_history_data::OpId;
use linchpin_verdict::Inconclusive;
use rustc_hash::{FxHashMap, FxHashSet};

/// How many choices the solver may try, and how many operations may be ordered, in all.
const EFFORT: usize = 200_000;
const ORDERED: usize = 1_000_000_000;

/// Why a clause holds.
enum Why {
    /// The operation failed, and nothing that certainly took effect explains that.
    Unexplained(OpId),
    /// Both replace the version.
    Both(OpId, OpId, VersionId),
    /// It saw a version that the other wrote.
    Needs(OpId, OpId),
    /// It expects a version that no operation wrote.
    NeverWritten(OpId, VersionId),
    /// There is no order.
    NoOrder(Vec<Edge>),
    /// Whether it can have taken effect is not clear: it expects something of a location of which
    /// nothing is known (or what it wrote was expected by an operation that failed), which
    /// assumption 2 rules out.
    Unclear(OpId, String),
}

/// An order of what certainly took effect and of pending swaps as needed.
pub(super) fn order_with_pending(facts: &mut Facts, poll: &StopPoll) -> Result<Vec<OpId>, Stop> {
    let plan = Plan::new(facts, poll)?;
    let mut choice = Choice::new(facts, &plan, poll)?;
    let mut effort = EFFORT;
    let mut ordered = 0;
    loop {
        poll.ask(0)?;
        let clauses: Vec<&Clause> = choice.clauses.iter().map(|(clause, _)| clause).collect();
        let chosen = match solve(choice.candidates.len(), &clauses, &mut effort) {
            Solution::Chosen(chosen) => chosen,
            Solution::Impossible => return Err(choice.violation(facts)),
            Solution::GaveUp => return Err(gave_up()),
        };
        choice.set(facts, &chosen, true);
        let result = order(facts, &plan, poll);
        let result = result.map(|order| order.map_err(|stuck| cycle::find(facts, &plan, &stuck)));
        choice.set(facts, &chosen, false);
        match result? {
            Ok(order) => return Ok(order),
            Err(edges) => choice.learn(facts, &plan, &chosen, edges),
        }
        ordered += facts.kept.len();
        if ordered > ORDERED {
            return Err(gave_up());
        }
    }
}

fn gave_up() -> Stop {
    Stop::Inconclusive(Inconclusive::Undecided(
        "too many ways to choose which unfinished swaps took effect, to explain those that failed"
            .to_owned(),
    ))
}

/// The candidates and what is known about choosing among them.
struct Choice {
    candidates: Vec<OpId>,
    indices: FxHashMap<OpId, usize>,
    clauses: Vec<(Clause, Why)>,
}

impl Choice {
    fn new(facts: &Facts, plan: &Plan, poll: &StopPoll) -> Result<Choice, Stop> {
        let mut choice =
            Choice { candidates: Vec::new(), indices: FxHashMap::default(), clauses: Vec::new() };
        // Many may fail because of one version: it is asked for its candidates, and gives a clause,
        // once.
        let mut known: FxHashSet<(VersionId, Role)> = FxHashSet::default();
        for id in facts.ids() {
            poll.step()?;
            let mut missed = facts.uses.missed(id);
            let (Some(first), second) = (missed.next(), missed.next()) else { continue };
            if second.is_none() && !known.insert(first) {
                continue;
            }
            let mut explained = false;
            let mut positive = Vec::new();
            for (version, role) in facts.uses.missed(id) {
                explained |= role == Role::Absent || facts.next[version as usize].is_some();
                if facts.next[version as usize].is_none() {
                    let candidates = candidates(facts, plan, version);
                    positive.extend(candidates.into_iter().map(|id| choice.index(id)));
                }
            }
            if !explained {
                let clause = Clause { positive, negative: Vec::new() };
                choice.clauses.push((clause, Why::Unexplained(id)));
            }
        }
        choice.add_rules(facts, plan);
        Ok(choice)
    }

    /// The variable of a pending swap.
    fn index(&mut self, id: OpId) -> usize {
        *self.indices.entry(id).or_insert_with(|| {
            self.candidates.push(id);
            self.candidates.len() - 1
        })
    }

    /// What each candidate needs and excludes; what it needs may be a candidate too.
    fn add_rules(&mut self, facts: &Facts, plan: &Plan) {
        let mut at = 0;
        while at < self.candidates.len() {
            let id = self.candidates[at];
            for (version, role) in facts.uses.of(id) {
                match role {
                    Role::Read => self.add_needs(facts, at, version),
                    Role::Replace => {
                        self.add_needs(facts, at, version);
                        self.add_exclusions(facts, plan, at, version);
                    }
                    Role::Write | Role::Miss | Role::Absent => {}
                }
            }
            at += 1;
        }
        for &(failed, writer) in &facts.doubts {
            if let Some(&at) = self.indices.get(&writer) {
                let failed = facts.names.operation(failed);
                self.forbid(
                    at,
                    Why::Unclear(writer, format!("the {failed} expected what it wrote")),
                );
            }
        }
    }

    fn forbid(&mut self, at: usize, why: Why) {
        self.clauses.push((Clause { positive: Vec::new(), negative: vec![at] }, why));
    }

    fn add_needs(&mut self, facts: &Facts, at: usize, version: VersionId) {
        let id = self.candidates[at];
        let location = facts.versions.location(version);
        match facts.writer[version as usize] {
            _ if facts.is_unknown(location) => {
                let location = facts.names.show(location);
                let why = format!("nothing tells what {location} held before it");
                self.forbid(at, Why::Unclear(id, why));
            }
            Writer::Genesis => {}
            Writer::None => self.forbid(at, Why::NeverWritten(id, version)),
            Writer::Operation(writer) if facts.kept[writer.index()] => {}
            Writer::Operation(writer) => {
                let positive = vec![self.index(writer)];
                let clause = Clause { positive, negative: vec![at] };
                self.clauses.push((clause, Why::Needs(id, writer)));
            }
        }
    }

    fn add_exclusions(&mut self, facts: &Facts, plan: &Plan, at: usize, version: VersionId) {
        let id = self.candidates[at];
        if let Some(kept) = facts.next[version as usize] {
            self.forbid(at, Why::Both(id, kept, version));
        }
        for other in candidates(facts, plan, version) {
            // Each pair once: the other one's turn is over, or comes later.
            if let Some(&other_at) = self.indices.get(&other)
                && other_at < at
            {
                let clause = Clause { positive: Vec::new(), negative: vec![other_at, at] };
                self.clauses.push((clause, Why::Both(id, other, version)));
            }
        }
    }

    /// The chosen candidates take effect, or do not any more.
    fn set(&self, facts: &mut Facts, chosen: &[bool], effective: bool) {
        for (&id, _) in self.candidates.iter().zip(chosen).filter(|(_, chosen)| **chosen) {
            facts.kept[id.index()] = effective;
            for version in facts.uses.with(id, Role::Replace) {
                facts.next[version as usize] = effective.then_some(id);
            }
        }
    }

    /// Not again the choice that led to these edges: another one leaves one of its operations out,
    /// or gives one that failed another explanation.
    fn learn(&mut self, facts: &Facts, plan: &Plan, chosen: &[bool], edges: Vec<Edge>) {
        let mut clause = Clause::default();
        for edge in &edges {
            for id in [edge.before, edge.after] {
                if let Some(&at) = self.indices.get(&id)
                    && !clause.negative.contains(&at)
                {
                    clause.negative.push(at);
                }
            }
            for failed in [edge.before, edge.after] {
                for (version, _) in facts.uses.missed(failed) {
                    if facts.next[version as usize].is_some() {
                        continue;
                    }
                    for other in candidates(facts, plan, version) {
                        if let Some(&at) = self.indices.get(&other)
                            && !chosen[at]
                            && !clause.positive.contains(&at)
                        {
                            clause.positive.push(at);
                        }
                    }
                }
            }
        }
        self.clauses.push((clause, Why::NoOrder(edges)));
    }

    /// The clauses have no solution: why, by as few of them as needed.
    fn violation(&self, facts: &Facts) -> Stop {
        let mut needed: Vec<&(Clause, Why)> = self.clauses.iter().collect();
        let mut at = 0;
        let mut effort = EFFORT;
        while at < needed.len() {
            let without: Vec<&Clause> = needed
                .iter()
                .enumerate()
                .filter(|(index, _)| *index != at)
                .map(|(_, (clause, _))| clause)
                .collect();
            if solve(self.candidates.len(), &without, &mut effort) == Solution::Impossible {
                needed.remove(at);
            } else {
                at += 1;
            }
        }
        let mut core = Vec::new();
        let mut parts = Vec::new();
        for (clause, why) in needed {
            match argue(facts, clause, why, &mut core) {
                Ok(part) => parts.push(part),
                Err(stop) => return stop,
            }
        }
        core.sort_unstable();
        core.dedup();
        explain::close(facts, &mut core);
        Stop::violated(core, format!("no order explains these operations: {}", parts.join("; ")))
    }
}

/// Adds the operations of an argument to the core, and says it.
fn argue(facts: &Facts, clause: &Clause, why: &Why, core: &mut Vec<OpId>) -> Result<String, Stop> {
    let name = |id: OpId| facts.names.operation(id);
    Ok(match why {
        Why::Unexplained(id) => {
            core.push(*id);
            explain::add_expectations(facts, core, *id);
            let expected: Vec<String> = facts
                .uses
                .with(*id, Role::Miss)
                .map(|version| {
                    let (location, value) = facts.show(version);
                    format!("{location} = {value}")
                })
                .collect();
            let expected = expected.join(" and ");
            let nothing =
                if clause.positive.is_empty() { "nothing" } else { "nothing that finished" };
            format!(
                "the {} failed, but {nothing} replaced the {expected} that it expected",
                name(*id)
            )
        }
        Why::Both(a, b, version) => {
            core.extend([*a, *b]);
            let (location, value) = facts.show(*version);
            format!(
                "the {} and the {} cannot both have replaced {location} = {value}",
                name(*a),
                name(*b)
            )
        }
        Why::Needs(id, writer) => {
            core.extend([*id, *writer]);
            format!("the {} can have taken effect only after the {}", name(*id), name(*writer))
        }
        Why::NeverWritten(id, version) => {
            core.push(*id);
            let location = facts.versions.location(*version);
            core.extend(facts.beginning.get(&location));
            let (location, value) = facts.show(*version);
            format!(
                "the {} cannot have taken effect, as no operation wrote {value} to {location}",
                name(*id)
            )
        }
        Why::NoOrder(edges) => {
            core.extend(explain::core_of_edges(facts, edges));
            explain::sentence(facts, edges)
        }
        Why::Unclear(id, why) => {
            let name = name(*id);
            return Err(Stop::not_applicable(format!(
                "whether the {name} took effect is unclear: {why}"
            )));
        }
    })
}

/// The pending swaps that no operation saw and that replace this version if they take effect, in
/// the order of their calls.
fn candidates(facts: &Facts, plan: &Plan, version: VersionId) -> Vec<OpId> {
    let replaces = |id: &OpId| {
        !facts.kept[id.index()] && facts.uses.with(*id, Role::Replace).any(|other| other == version)
    };
    let mut candidates: Vec<OpId> = plan.seers(version).filter(replaces).collect();
    candidates.sort_unstable();
    candidates
}
