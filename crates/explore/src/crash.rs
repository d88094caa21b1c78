//! Where a crash may cut an execution, and what it leaves in persistent memory.
//!
//! A crash needs no execution of its own. What happened before it is a *cut* of an execution: for
//! each thread its first events, with all that precede them. All that a crash leaves is the
//! history so far and the lines of persistent memory, so both are read from the trace.
//!
//! Each line has the stores to it, in their order; the first of them are guaranteed to be written
//! back, and a crash leaves any prefix that has these. A flush notes how many stores the line had;
//! the fence of the same thread that follows guarantees them (Khyzha and Lahav, POPL 2021, with
//! sequential consistency).
//!
//! Not every cut matters. An event that guarantees nothing and is no call (*harmless*) takes
//! nothing away from what a crash may leave: a store adds a prefix; a return makes the history say
//! more. So a crash after it shows all that a crash before it does, and only cuts that have all
//! harmless events which they can have are looked at ([`Crashable::cuts`]). The cut before a call
//! is kept, because the call is made after the crash instead.

use crate::execution::{Event, EventKind, Execution};
use linchpin_sync::persistent::LINE_BYTES;
use linchpin_sync::persistent::simulation::{
    ALLOCATED, Allocation, Content, Resolved, Simulation, Start, Store,
};
use linchpin_sync::runtime::{PlaceKind, Site};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// How many events of each thread came before a crash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cut(pub Vec<u32>);

/// Of one execution at most so many cuts are looked at.
pub const MOST_CUTS: usize = 1 << 16;

/// An execution with what is known of persistent memory in it.
pub struct Crashable<'a> {
    execution: &'a Execution,
    /// The number of each event among those of its thread, from 0.
    numbers: Vec<u32>,
    /// The events of each thread.
    threads: Vec<Vec<usize>>,
    lines: BTreeMap<usize, LineTrace>,
    /// What each fence guarantees: lines and numbers of stores.
    fences: BTreeMap<usize, Vec<(usize, usize)>>,
    era: usize,
}

/// What makes stores persistent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instruction {
    /// Notes the stores to a line.
    Flush,
    /// Waits for what the thread has noted.
    Fence,
    /// Both.
    Persist,
}

/// As if the code had an instruction right after each access here, for the line that is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inserted {
    /// Where in the source.
    pub site: Site,
    /// Which one.
    pub instruction: Instruction,
}

/// What a thread has noted: lines, with how many stores they had.
type Notes = Vec<(usize, usize)>;

/// What happened to a line.
#[derive(Default)]
struct LineTrace {
    /// What it may have held at the start of the era, or when it was settled.
    before: Vec<Content>,
    /// The mark of its allocation, if it was allocated in this era.
    allocated: Option<usize>,
    stores: Vec<Noted>,
}

/// A store of an execution.
#[derive(Clone, Copy, Debug)]
pub struct Noted {
    /// The event: that of the allocation for what an object was filled with.
    pub event: usize,
    /// What was stored.
    pub store: Store,
    /// Where in the source.
    pub site: Option<Site>,
}

/// What a crash may leave.
pub struct After {
    /// Memory at the start of the next era.
    pub start: Start,
    /// The lines of which it is not clear what was left, or in which stores were lost.
    pub lines: Vec<LineAfter>,
}

/// What a crash may leave of a line.
pub struct LineAfter {
    /// Its offset in the pool.
    pub line: usize,
    /// The stores before the crash since the era began.
    pub stores: Vec<Noted>,
    /// How many of them were guaranteed.
    pub guaranteed: usize,
    /// For each content in [`Start::lines`], how many stores are in it: the most first.
    pub kept: Vec<usize>,
}

impl<'a> Crashable<'a> {
    /// The execution that a simulation has just made, from a start. Stores before the event
    /// `settled` are taken to be written back. With `inserted`, it is as if the code had one
    /// instruction more.
    pub fn new(
        execution: &'a Execution,
        simulation: &Simulation,
        start: &Start,
        settled: Option<usize>,
        inserted: Option<Inserted>,
    ) -> Crashable<'a> {
        let mut threads: Vec<Vec<usize>> = vec![Vec::new(); execution.threads];
        let mut numbers = Vec::with_capacity(execution.events.len());
        for (at, event) in execution.events.iter().enumerate() {
            numbers.push(threads[event.thread].len() as u32);
            threads[event.thread].push(at);
        }
        let mut lines: BTreeMap<usize, LineTrace> = BTreeMap::new();
        for line in simulation.root_lines() {
            lines.insert(line, LineTrace { before: vec![[0; 8]], ..LineTrace::default() });
        }
        for (line, contents) in &start.lines {
            lines.insert(*line, LineTrace { before: contents.clone(), ..LineTrace::default() });
        }
        for Resolved { line, taken } in simulation.resolved() {
            if let Some(known) = lines.get_mut(&line) {
                known.before = vec![known.before[taken]];
            }
        }
        let fences = BTreeMap::new();
        let era = start.era;
        let mut crashable = Crashable { execution, numbers, threads, lines, fences, era };
        crashable.follow(simulation.base(), &simulation.allocations(), settled, inserted);
        crashable
    }

    /// Goes through the events.
    fn follow(
        &mut self,
        base: usize,
        allocations: &[Allocation],
        settled: Option<usize>,
        inserted: Option<Inserted>,
    ) {
        let mut noted: Vec<Notes> = vec![Notes::new(); self.threads.len()];
        // What a fence that is inserted guarantees. That comes at the next event of its thread: a
        // crash right after a fence leaves nothing that one right before it does not.
        let mut added = noted.clone();
        let is_inserted = inserted.is_some();
        for at in 0..self.execution.events.len() {
            let Event { thread, kind, site } = &self.execution.events[at];
            if !added[*thread].is_empty() {
                self.fences.entry(at).or_default().append(&mut added[*thread]);
            }
            let inserted = inserted.filter(|it| Some(it.site) == *site).map(|it| it.instruction);
            let mut accessed = Notes::new();
            match kind {
                EventKind::Mark(mark) if mark & ALLOCATED != 0 => {
                    if let Some(allocation) = allocations.get((mark & !ALLOCATED) as usize) {
                        self.allocate(at, allocation);
                        accessed = self.stored(allocation);
                    }
                }
                EventKind::Access { place, read, wrote, .. } => {
                    let Some(in_line) = self.execution.lines[*place] else { continue };
                    let offset = in_line.address - base;
                    let line = offset / LINE_BYTES * LINE_BYTES;
                    let is_flush = self.execution.places[*place] == PlaceKind::Line;
                    // An update waits for what was flushed. Where the code flushes, that is an
                    // event of its own.
                    if read.is_some() && wrote.is_some() && !is_flush && is_inserted {
                        self.fences.entry(at).or_default().append(&mut noted[*thread]);
                    }
                    if let Some(word) = wrote.filter(|_| !is_flush) {
                        let store = Store { offset, size: in_line.size, word };
                        let trace = self.lines.entry(line).or_insert_with(LineTrace::empty);
                        trace.stores.push(Noted { event: at, store, site: *site });
                    }
                    let count = self.lines.get(&line).map_or(0, |line| line.stores.len());
                    if is_flush {
                        noted[*thread].push((line, count));
                    }
                    accessed.push((line, count));
                }
                EventKind::Fence(Ordering::SeqCst) => {
                    self.fences.entry(at).or_default().append(&mut noted[*thread]);
                }
                _ => {}
            }
            if !accessed.is_empty() {
                match inserted {
                    None => {}
                    Some(Instruction::Flush) => noted[*thread].append(&mut accessed),
                    Some(Instruction::Fence) => added[*thread].append(&mut noted[*thread]),
                    Some(Instruction::Persist) => {
                        added[*thread].append(&mut noted[*thread]);
                        added[*thread].append(&mut accessed);
                    }
                }
            }
            if settled == Some(at) {
                self.settle();
                noted.iter_mut().chain(&mut added).for_each(Vec::clear);
            }
        }
    }

    fn allocate(&mut self, at: usize, allocation: &Allocation) {
        for store in &allocation.stores {
            let line = store.offset / LINE_BYTES * LINE_BYTES;
            let trace = self.lines.entry(line).or_insert_with(LineTrace::empty);
            trace.allocated.get_or_insert(at);
            trace.stores.push(Noted { event: at, store: *store, site: Some(allocation.site) });
        }
    }

    /// The lines of a new object, with how many stores they have.
    fn stored(&self, allocation: &Allocation) -> Notes {
        let line = |store: &Store| store.offset / LINE_BYTES * LINE_BYTES;
        let mut lines: Vec<usize> = allocation.stores.iter().map(line).collect();
        lines.dedup();
        let count = |line: usize| self.lines.get(&line).map_or(0, |line| line.stores.len());
        lines.into_iter().map(|line| (line, count(line))).collect()
    }

    /// All that was stored so far is written back.
    fn settle(&mut self) {
        for line in self.lines.values_mut() {
            for noted in line.stores.drain(..) {
                line.before.iter_mut().for_each(|content| noted.store.apply(content));
            }
            line.allocated = None;
        }
        self.fences.clear();
    }

    fn has(&self, cut: &Cut, event: usize) -> bool {
        self.numbers[event] < cut.0[self.execution.events[event].thread]
    }

    /// Whether an event came before the crash.
    pub fn is_before(&self, cut: &Cut, event: usize) -> bool {
        self.has(cut, event)
    }

    /// How many stores of each line are guaranteed.
    fn guaranteed(&self, cut: &Cut) -> BTreeMap<usize, usize> {
        let mut guaranteed: BTreeMap<usize, usize> = BTreeMap::new();
        for (_, lines) in self.fences.iter().filter(|(fence, _)| self.has(cut, **fence)) {
            for (line, count) in lines {
                let known = guaranteed.entry(*line).or_default();
                *known = (*known).max(*count);
            }
        }
        guaranteed
    }

    /// What a crash there may leave.
    pub fn after(&self, cut: &Cut) -> After {
        let guaranteed = self.guaranteed(cut);
        let mut start = Start { era: self.era + 1, lines: BTreeMap::new() };
        let mut lines = Vec::new();
        for (line, trace) in &self.lines {
            // Nothing refers to what was not there yet.
            if trace.allocated.is_some_and(|at| !self.has(cut, at)) {
                continue;
            }
            let stores = trace.stores.iter().filter(|noted| self.has(cut, noted.event));
            let stores: Vec<Noted> = stores.copied().collect();
            let guaranteed = guaranteed.get(line).copied().unwrap_or(0);
            let (contents, kept) = contents(&trace.before, &stores, guaranteed);
            if contents.len() > 1 || guaranteed < stores.len() {
                lines.push(LineAfter { line: *line, stores, guaranteed, kept });
            }
            start.lines.insert(*line, contents);
        }
        After { start, lines }
    }

    /// The cuts that matter, with at least the events of `first` and at most those of `last`. A
    /// call is an event for which `is_call` says so. None if there are too many.
    pub fn cuts(
        &self,
        first: &Cut,
        last: &Cut,
        is_call: &dyn Fn(&Event) -> bool,
    ) -> Option<Vec<Cut>> {
        let mut found = Vec::new();
        let mut seen: FxHashSet<Cut> = FxHashSet::default();
        let mut open = vec![self.closed(first.clone(), last, is_call)];
        while let Some(cut) = open.pop() {
            if !seen.insert(cut.clone()) {
                continue;
            }
            if seen.len() > MOST_CUTS {
                return None;
            }
            for thread in 0..cut.0.len() {
                if self.next(&cut, last, thread).is_some() {
                    let mut later = cut.clone();
                    later.0[thread] += 1;
                    open.push(self.closed(later, last, is_call));
                }
            }
            found.push(cut);
        }
        Some(found)
    }

    /// A cut with all harmless events that it can have.
    pub fn closed(&self, mut cut: Cut, last: &Cut, is_call: &dyn Fn(&Event) -> bool) -> Cut {
        let mut guaranteed = self.guaranteed(&cut);
        loop {
            let mut grown = false;
            for thread in 0..cut.0.len() {
                while let Some(event) = self.next(&cut, last, thread) {
                    if !self.is_harmless(event, &guaranteed, is_call) {
                        break;
                    }
                    cut.0[thread] += 1;
                    grown = true;
                }
            }
            if !grown {
                return cut;
            }
            guaranteed = self.guaranteed(&cut);
        }
    }

    /// The next event of a thread, if all that precedes it came before the crash.
    fn next(&self, cut: &Cut, last: &Cut, thread: usize) -> Option<usize> {
        let count = cut.0[thread];
        if count >= last.0[thread] {
            return None;
        }
        let event = *self.threads[thread].get(count as usize)?;
        let known = self.execution.clocks[event].iter().zip(&cut.0).enumerate();
        let mut known = known.filter(|(other, _)| *other != thread);
        known.all(|(_, (before, has))| before <= has).then_some(event)
    }

    fn is_harmless(
        &self,
        event: usize,
        guaranteed: &BTreeMap<usize, usize>,
        is_call: &dyn Fn(&Event) -> bool,
    ) -> bool {
        let is_known = |(line, count): &(usize, usize)| guaranteed.get(line).unwrap_or(&0) >= count;
        let lines = self.fences.get(&event);
        lines.is_none_or(|lines| lines.iter().all(is_known))
            && !is_call(&self.execution.events[event])
    }

    /// All events.
    pub fn whole(&self) -> Cut {
        Cut(self.threads.iter().map(|events| events.len() as u32).collect())
    }
}

impl LineTrace {
    /// Of a line that no start names: it was not there.
    fn empty() -> LineTrace {
        LineTrace { before: vec![[0; 8]], ..LineTrace::default() }
    }
}

/// The different contents that prefixes of stores leave, with the numbers of stores in them: those
/// with the most stores first.
fn contents(before: &[Content], stores: &[Noted], guaranteed: usize) -> (Vec<Content>, Vec<usize>) {
    let (mut contents, mut kept): (Vec<Content>, Vec<usize>) = (Vec::new(), Vec::new());
    for count in (guaranteed.min(stores.len())..=stores.len()).rev() {
        for content in before {
            let mut content = *content;
            stores[..count].iter().for_each(|noted| noted.store.apply(&mut content));
            if !contents.contains(&content) {
                contents.push(content);
                kept.push(count);
            }
        }
    }
    (contents, kept)
}
