//! The order: Kahn's algorithm on what versions say, with time implied.
//!
//! Cepeda et al. decide whether a precedence graph has a cycle (property i). Its happens-before
//! edges, of which there are many, need not exist: an operation may come next in the order as far
//! as time is concerned if it was invoked no later than the first response of an operation that is
//! not in the order yet. What the data asks for is counted:
//!
//! - a version is seen after it is written: reads-from;
//! - a version is replaced after everyone else has seen it: auxiliary;
//! - an operation that failed comes after the replacement of a version that it expected: auxiliary.
//!   Where it does not say at which location it failed, after the first of them.
//!
//! Each of these, once it is fulfilled, stays so. That makes it safe to put any operation next that
//! may come next: if nothing may, no order exists. The order is the witness. The one thing that
//! does not stay so is that a version is not there *yet*, which may be why an operation failed: see
//! `forced`.

use super::super::poll::{StopPoll, StopReason};
use super::Stop;
use super::cycle::Edge;
use super::facts::{Facts, Writer};
use super::forced::{Next, forced, replacements};
use super::uses::Role;
use super::versions::VersionId;
use linchpin_history_data::{NEVER, OpId, Rank};
use rustc_hash::FxHashMap;

/// In [`Plan::users`]: the operation failed because of the version.
const MISSES: u32 = 1 << 31;

/// What does not depend on which pending operations take effect.
pub(super) struct Plan {
    /// For each version where its users start. INVARIANT: one entry more than versions, ascending.
    start: Vec<u32>,
    /// The operations that see a version or miss it.
    users: Vec<u32>,
    /// The operations that end, in the order of their ends.
    pub(super) ends: Vec<OpId>,
}

/// No order: what could be put in it before nothing may come next.
pub(super) struct Deadlock {
    /// For each operation whether it is in the order.
    pub(super) done: Vec<bool>,
    /// For each writer that was put in although it might harm a failure: an operation that it comes
    /// before, which returned before that failure was called, and why it comes before it.
    pub(super) because: FxHashMap<OpId, (OpId, Vec<Edge>)>,
}

impl Plan {
    pub(super) fn new(facts: &Facts, poll: &StopPoll) -> Result<Plan, StopReason> {
        let uses = |id: OpId| facts.uses.of(id).filter(|(_, role)| *role != Role::Write);
        let mut start = vec![0u32; facts.versions.len() + 1];
        for id in facts.history.ids() {
            poll.step()?;
            uses(id).for_each(|(version, _)| start[version as usize] += 1);
        }
        let total = accumulate(&mut start, poll)?;
        let mut users = vec![0u32; total];
        for id in facts.history.ids() {
            poll.step()?;
            for (version, role) in uses(id) {
                let slot = &mut start[version as usize];
                *slot -= 1;
                users[*slot as usize] =
                    if role.is_miss() { id.number() | MISSES } else { id.number() };
            }
        }
        Ok(Plan { start, users, ends: ends(facts, poll)? })
    }

    fn users(&self, version: VersionId) -> &[u32] {
        let range =
            self.start[version as usize] as usize..self.start[version as usize + 1] as usize;
        &self.users[range]
    }

    /// Who sees a version, whether it takes effect or not.
    pub(super) fn seers(&self, version: VersionId) -> impl Iterator<Item = OpId> + '_ {
        self.users(version)
            .iter()
            .filter(|user| *user & MISSES == 0)
            .map(|user| OpId::numbered(*user))
    }

    pub(super) fn missers(&self, version: VersionId) -> impl Iterator<Item = OpId> + '_ {
        self.users(version)
            .iter()
            .filter(|user| *user & MISSES != 0)
            .map(|user| OpId::numbered(user & !MISSES))
    }
}

/// Turns counts into where each group ends; the caller moves them to where it starts. Returns the
/// sum.
fn accumulate(counts: &mut [u32], poll: &StopPoll) -> Result<usize, StopReason> {
    let mut sum = 0;
    for count in counts {
        poll.step()?;
        sum += *count;
        *count = sum;
    }
    Ok(sum as usize)
}

/// The operations that end, sorted by counting: ends are small numbers.
fn ends(facts: &Facts, poll: &StopPoll) -> Result<Vec<OpId>, StopReason> {
    let ending = || {
        let operations = facts.history.operations.iter().enumerate();
        operations.filter(|(_, operation)| operation.returned != NEVER)
    };
    let mut start = vec![0u32; facts.history.events.index() + 1];
    let last = start.len() - 1;
    for (_, operation) in ending() {
        poll.step()?;
        start[operation.returned.index().min(last)] += 1;
    }
    let mut ends = vec![OpId::new(0); accumulate(&mut start, poll)?];
    for (id, operation) in ending() {
        poll.step()?;
        let slot = &mut start[operation.returned.index().min(last)];
        *slot -= 1;
        ends[*slot as usize] = OpId::new(id);
    }
    Ok(ends)
}

/// An order of all operations that take effect, or where it is stuck.
pub(super) fn order(
    facts: &Facts,
    plan: &Plan,
    poll: &StopPoll,
) -> Result<Result<Vec<OpId>, Deadlock>, Stop> {
    let result = walk(facts, plan, poll, false)?;
    match result {
        // Seldom, and as long again: the same with a record of why.
        Err(_) if facts.has_absent => walk(facts, plan, poll, true),
        result => Ok(result),
    }
}

fn walk(
    facts: &Facts,
    plan: &Plan,
    poll: &StopPoll,
    record: bool,
) -> Result<Result<Vec<OpId>, Deadlock>, Stop> {
    let mut run = Run::new(facts, poll)?;
    let mut because = FxHashMap::default();
    let operations = &facts.history.operations;
    let total = facts.kept.iter().filter(|kept| **kept).count();
    let mut order = Vec::with_capacity(total);
    let mut ends = plan.ends.iter().copied().filter(|&id| facts.kept[id.index()]).peekable();
    loop {
        while ends.next_if(|&id| run.done[id.index()]).is_some() {}
        let first = ends.peek().copied();
        let bound = first.map_or(NEVER, |id| operations[id.index()].returned);
        run.admit(bound);
        let id = match run.next(plan) {
            Some(id) => id,
            None => match run.forced(first) {
                Next::Forced(id, edges) => {
                    if let (true, Some(first)) = (record, first) {
                        because.insert(id, (first, edges));
                    }
                    id
                }
                Next::Deadlock => break,
                Next::Unclear => {
                    return Err(Stop::not_applicable(
                        "operations failed without saying at which of several locations, perhaps because a value was not there yet"
                            .to_owned(),
                    ));
                }
            },
        };
        poll.step()?;
        order.push(id);
        run.put(plan, id);
    }
    Ok(if order.len() == total { Ok(order) } else { Err(Deadlock { done: run.done, because }) })
}

/// The state of the algorithm.
struct Run<'f, 'h> {
    facts: &'f Facts<'h>,
    /// For each operation how much of what the data asks for is not fulfilled.
    waits: Vec<u32>,
    /// For each version how many operations, other than the one that replaces it, have yet to see
    /// it.
    unseen: Vec<u32>,
    done: Vec<bool>,
    /// For each operation that failed whether something that it expected is replaced.
    explained: Vec<bool>,
    /// Operations before this one may come next as far as time is concerned.
    admitted: usize,
    /// INVARIANT: admitted, waiting for nothing that was counted.
    ready: Vec<OpId>,
    /// Writers that may come next, but are better put in later.
    postponed: Vec<OpId>,
    /// Admitted operations, of which some are done; kept only where writers may be postponed.
    open: Vec<OpId>,
}

impl<'f, 'h> Run<'f, 'h> {
    fn new(facts: &'f Facts<'h>, poll: &StopPoll) -> Result<Run<'f, 'h>, StopReason> {
        let count = facts.kept.len();
        let mut run = Run {
            facts,
            waits: vec![0; count],
            unseen: vec![0; facts.versions.len()],
            done: vec![false; count],
            explained: vec![false; count],
            admitted: 0,
            ready: Vec::new(),
            postponed: Vec::new(),
            open: Vec::new(),
        };
        let kept = || (0..count).map(OpId::new).filter(|id| facts.kept[id.index()]);
        for id in kept() {
            poll.step()?;
            let (mut misses, mut absent) = (false, false);
            let mut waits = 0;
            for (version, role) in facts.uses.of(id) {
                match role {
                    Role::Read | Role::Replace => {
                        waits += u32::from(facts.writer[version as usize] != Writer::Genesis);
                        run.unseen[version as usize] += u32::from(role == Role::Read);
                    }
                    Role::Miss => misses = true,
                    Role::Absent => absent = true,
                    Role::Write => {}
                }
            }
            // A failure that may have come too early is asked about when it may come next.
            run.waits[id.index()] += waits + u32::from(misses && !absent);
            if absent && let Some((_, writer)) = facts.failed_before(id) {
                run.waits[writer.index()] += 1;
            }
        }
        for version in 0..facts.versions.len() {
            poll.step()?;
            if let Some(next) = facts.next[version]
                && run.unseen[version] > 0
            {
                run.waits[next.index()] += 1;
            }
        }
        for interrupted in facts.interrupted {
            if facts.kept[interrupted.operation.index()]
                && let Some(next) = facts.next_of_process(interrupted.operation)
            {
                run.waits[next.index()] += 1;
            }
        }
        Ok(run)
    }

    /// Operations that were invoked by then may come next.
    fn admit(&mut self, bound: Rank) {
        let facts = self.facts;
        while let Some(operation) = facts.history.operations.get(self.admitted)
            && operation.invoked <= bound
        {
            let id = OpId::new(self.admitted);
            self.admitted += 1;
            if !facts.kept[id.index()] {
                continue;
            }
            if facts.has_absent {
                self.open.push(id);
            }
            if self.waits[id.index()] == 0 {
                self.ready.push(id);
            }
        }
    }

    /// An operation that may come next and does no harm.
    fn next(&mut self, plan: &Plan) -> Option<OpId> {
        if !self.facts.has_absent {
            return self.ready.pop();
        }
        while let Some(id) = self.ready.pop() {
            // A failure whose version is there comes back when that is replaced.
            if self.done[id.index()] || self.is_absent(id) && self.is_present(id) {
                continue;
            }
            if !self.may_harm(plan, id) {
                return Some(id);
            }
            self.postponed.push(id);
        }
        let at = self.postponed.iter().position(|&id| !self.may_harm(plan, id))?;
        Some(self.postponed.swap_remove(at))
    }

    /// Whether an operation failed perhaps because a version was not there yet.
    fn is_absent(&self, id: OpId) -> bool {
        self.facts.has_absent && self.facts.uses.with(id, Role::Absent).next().is_some()
    }

    /// Whether all that the failed operation expected is there.
    fn is_present(&self, id: OpId) -> bool {
        replacements(self.facts, &self.done, id).is_some()
    }

    /// Whether the operation writes something whose absence may be why another failed.
    fn may_harm(&self, plan: &Plan, id: OpId) -> bool {
        let mut written = self.facts.uses.with(id, Role::Write);
        written.any(|version| {
            plan.missers(version).any(|misser| !self.done[misser.index()] && self.is_absent(misser))
        })
    }

    /// Only postponed writers may come next: one that must.
    fn forced(&mut self, first: Option<OpId>) -> Next {
        let Some(first) = first.filter(|_| !self.postponed.is_empty()) else {
            return Next::Deadlock;
        };
        let done = &self.done;
        self.open.retain(|&id| !done[id.index()]);
        let next = forced(self.facts, done, &self.open, &self.postponed, first);
        if let Next::Forced(id, _) = next {
            self.postponed.retain(|&other| other != id);
        }
        next
    }

    /// Puts an operation into the order.
    fn put(&mut self, plan: &Plan, id: OpId) {
        let facts = self.facts;
        self.done[id.index()] = true;
        for (version, role) in facts.uses.of(id) {
            match role {
                Role::Read => {
                    let unseen = &mut self.unseen[version as usize];
                    *unseen -= 1;
                    if *unseen == 0
                        && let Some(next) = facts.next[version as usize]
                    {
                        self.fulfil(next);
                    }
                }
                Role::Write => plan.seers(version).for_each(|seer| self.fulfil(seer)),
                Role::Replace => {
                    for misser in plan.missers(version) {
                        if self.is_absent(misser) {
                            if misser.index() < self.admitted {
                                self.ready.push(misser);
                            }
                        } else if !std::mem::replace(&mut self.explained[misser.index()], true) {
                            self.fulfil(misser);
                        }
                    }
                }
                Role::Miss | Role::Absent => {}
            }
        }
        if facts.has_absent
            && let Some((_, writer)) = facts.failed_before(id)
        {
            self.fulfil(writer);
        }
        if !facts.interrupted.is_empty()
            && let Some(next) = facts.next_of_process(id)
        {
            self.fulfil(next);
        }
    }

    fn fulfil(&mut self, id: OpId) {
        if !self.facts.kept[id.index()] {
            return;
        }
        self.waits[id.index()] -= 1;
        if self.waits[id.index()] == 0 && id.index() < self.admitted {
            self.ready.push(id);
        }
    }
}
