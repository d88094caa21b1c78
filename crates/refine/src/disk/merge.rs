//! Sorted records from several places as one sorted sequence.

use super::candidates::Candidates;
use super::record::{Run, RunReader, RunWriter, Written};
use std::cmp::Ordering;
use std::io;
use std::path::Path;

/// Where sorted records come from.
pub(crate) enum Sorted {
    Run(RunReader),
    Memory { candidates: Candidates, at: usize },
}

impl Sorted {
    fn record(&self) -> Option<Written<'_>> {
        match self {
            Sorted::Run(reader) => reader.record(),
            Sorted::Memory { candidates, at } => candidates.get(*at),
        }
    }

    fn advance(&mut self) -> io::Result<()> {
        match self {
            Sorted::Run(reader) => reader.advance(),
            Sorted::Memory { at, .. } => {
                *at += 1;
                Ok(())
            }
        }
    }
}

/// Several sorted sequences as one.
pub(crate) struct Merge {
    /// A heap: no parent comes after its children. Those at their end come last.
    heap: Vec<Sorted>,
}

impl Merge {
    pub fn new(sources: Vec<Sorted>) -> Merge {
        let mut merge = Merge { heap: sources };
        for at in (0..merge.heap.len() / 2).rev() {
            merge.sink(at);
        }
        merge
    }

    /// The merge of some runs.
    pub fn of_runs(runs: &[Run]) -> io::Result<Merge> {
        let readers = runs.iter().map(|run| Ok(Sorted::Run(RunReader::open(run)?)));
        Ok(Merge::new(readers.collect::<io::Result<_>>()?))
    }

    /// The smallest record that is left.
    pub fn record(&self) -> Option<Written<'_>> {
        self.heap.first()?.record()
    }

    pub fn advance(&mut self) -> io::Result<()> {
        if let Some(first) = self.heap.first_mut() {
            first.advance()?;
            self.sink(0);
        }
        Ok(())
    }

    fn comes_before(&self, left: usize, right: usize) -> bool {
        match (self.heap[left].record(), self.heap[right].record()) {
            (Some(left), Some(right)) => left.compare(&right) == Ordering::Less,
            (left, None) => left.is_some(),
            (None, Some(_)) => false,
        }
    }

    fn sink(&mut self, mut at: usize) {
        loop {
            let children = [2 * at + 1, 2 * at + 2].into_iter().filter(|of| *of < self.heap.len());
            let first = children.reduce(|left, right| match self.comes_before(right, left) {
                true => right,
                false => left,
            });
            match first {
                Some(child) if self.comes_before(child, at) => {
                    self.heap.swap(child, at);
                    at = child;
                }
                _ => return,
            }
        }
    }
}

/// Writes some runs as one. A state is kept once.
pub(crate) fn merge_runs(runs: &[Run], path: &Path) -> io::Result<Run> {
    let mut merge = Merge::of_runs(runs)?;
    write_sorted(&mut merge, path)
}

/// Writes candidates as a run. A state is kept once.
pub(crate) fn write_candidates(mut candidates: Candidates, path: &Path) -> io::Result<Run> {
    candidates.sort();
    write_sorted(&mut Merge::new(vec![Sorted::Memory { candidates, at: 0 }]), path)
}

fn write_sorted(merge: &mut Merge, path: &Path) -> io::Result<Run> {
    let mut writer = RunWriter::create(path)?;
    let (mut rest, mut allowance, mut set) = (Vec::new(), Vec::new(), Vec::new());
    let mut is_first = true;
    while let Some(record) = merge.record() {
        // Of the same states the one with the first parent comes first.
        let is_same = record.rest == rest && record.allowance == allowance && record.set == set;
        if is_first || !is_same {
            is_first = false;
            writer.push(&record)?;
            for (kept, new) in [
                (&mut rest, record.rest),
                (&mut allowance, record.allowance),
                (&mut set, record.set),
            ] {
                kept.clear();
                kept.extend_from_slice(new);
            }
        }
        merge.advance()?;
    }
    writer.finish()
}
