//! What is new among the successors of a level.

use super::Search;
use super::level::Successors;
use super::merge::{Merge, Sorted};
use super::record::{Run, RunReader, RunWriter, Written};
use crate::portable::Portable;
use linchpin_verdict::StopReason;
use std::io;
use std::path::Path;

/// How often limits are looked at: once in so many implementation states.
const EVERY: u64 = 1024;

/// A product state beside an implementation state that is known: allowance, set, parent.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Beside {
    allowance: Vec<u8>,
    set: Vec<u8>,
    parent: u64,
}

impl Beside {
    fn of(record: &Written<'_>) -> Beside {
        let Written { allowance, set, parent, .. } = *record;
        Beside { allowance: allowance.to_vec(), set: set.to_vec(), parent }
    }
}

impl<P: Portable> Search<'_, P> {
    /// Writes those successors that are new to a run, and says how many new implementation states
    /// are among them; or why it was stopped.
    pub(super) fn join(
        &mut self,
        successors: Successors,
        path: &Path,
    ) -> io::Result<Result<(Run, u64), StopReason>> {
        let Successors { runs, rest: candidates, .. } = successors;
        let mut sources = vec![Sorted::Memory { candidates, at: 0 }];
        for run in &runs {
            sources.push(Sorted::Run(RunReader::open(run)?));
        }
        let mut merge = Merge::new(sources);
        let visited = self.manifest.visited.iter().map(RunReader::open);
        let mut visited: Vec<RunReader> = visited.collect::<io::Result<_>>()?;
        let mut writer = RunWriter::create(path)?;
        let (mut groups, mut new_states) = (0u64, 0);
        let mut rest = Vec::new();
        while let Some(record) = merge.record() {
            rest.clear();
            rest.extend_from_slice(record.rest);
            let new = group(&mut merge, &rest)?;
            let known = beside(&mut visited, &rest)?;
            let is_known = !known.is_empty();
            let kept = self.antichain(known, new);
            new_states += u64::from(!is_known && !kept.is_empty());
            for Beside { allowance, set, parent } in &kept {
                writer.push(&Written { rest: &rest, allowance, set, parent: *parent })?;
            }
            groups += 1;
            if groups.is_multiple_of(EVERY) {
                if let Some(reason) = self.options.limits.exceeded(0) {
                    return Ok(Err(reason));
                }
                self.forget_sets_beyond(self.memory / 2);
            }
        }
        let level = writer.finish()?;
        runs.iter().try_for_each(|run| std::fs::remove_file(&run.path))?;
        Ok(Ok((level, new_states)))
    }

    /// Those of the new ones that no other covers, in their order.
    fn antichain(&mut self, known: Vec<Beside>, new: Vec<Beside>) -> Vec<Beside> {
        let mut kept: Vec<Beside> = Vec::new();
        for one in new {
            if known.iter().chain(&kept).any(|other| self.covers(other, &one)) {
                continue;
            }
            // None of these has been expanded: those that can do no more than this one go too.
            kept.retain(|other| !self.covers(&one, other));
            kept.push(one);
        }
        kept
    }

    /// Whether whatever goes wrong from the second goes wrong from the first, beside the same
    /// implementation state.
    fn covers(&mut self, one: &Beside, other: &Beside) -> bool {
        if one.allowance != other.allowance
            && !self.product.allows(&one.allowance, &other.allowance)
        {
            return false;
        }
        if one.set == other.set {
            return true;
        }
        if !self.options.antichain {
            return false;
        }
        let smaller = self.names.number(self.product, &one.set);
        let larger = self.names.number(self.product, &other.set);
        match (smaller, larger, self.workers.first_mut()) {
            (Some(smaller), Some(larger), Some(worker)) => {
                self.product.is_subset(worker, smaller, larger)
            }
            // What is not understood covers nothing.
            _ => false,
        }
    }
}

/// Takes all records of an implementation state; equal ones once, with the first parent.
fn group(merge: &mut Merge, rest: &[u8]) -> io::Result<Vec<Beside>> {
    let mut group: Vec<Beside> = Vec::new();
    while let Some(record) = merge.record().filter(|record| record.rest == rest) {
        let is_same = |last: &Beside| last.allowance == record.allowance && last.set == record.set;
        if !group.last().is_some_and(is_same) {
            group.push(Beside::of(&record));
        }
        merge.advance()?;
    }
    Ok(group)
}

/// What was visited beside an implementation state. These are asked for in their order.
fn beside(visited: &mut [RunReader], rest: &[u8]) -> io::Result<Vec<Beside>> {
    let mut known = Vec::new();
    for reader in visited {
        while let Some(record) = reader.record().filter(|record| record.rest <= rest) {
            if record.rest == rest {
                known.push(Beside::of(&record));
            }
            reader.advance()?;
        }
    }
    Ok(known)
}
