//! Base points by trying: in every state within bounds each reader is run alone, and the conditions
//! of Theorem 2 of paper 004 are checked word by word. Shares nothing with the shape engine.

use linchpin_ir::interpreter::Memory;
use linchpin_ir::program::Program;
use linchpin_space::{
    Alone, Bounds, Calls, Event, Flat, Reductions, Space, Stop, Successor, Values, Workspace,
};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// The words of an answer.
type Words = SmallVec<[i64; 8]>;

/// What is false within the bounds: operations, each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refuted {
    /// Readers that do not return from some shared state, or update.
    pub ends: BTreeSet<usize>,
    /// Operations with a call of which two steps change what readers answer alone.
    pub one_step: BTreeSet<usize>,
    /// Readers with an answer that they give alone in no state of the call.
    pub read_base_point: BTreeSet<usize>,
    /// Operations with a call of two update steps.
    pub two_updates: BTreeSet<usize>,
    /// How many states there were; `None` if not all were seen.
    pub states: Option<usize>,
}

/// A call that is pending.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Pending {
    operation: usize,
    arguments: Words,
    changes: u8,
    updates: u8,
    seen: BTreeSet<Words>,
}

/// What a call does alone: whether it updates, and its answer if it returns.
type Outcome = (bool, Option<Words>);

struct Brute<'a> {
    space: &'a Space,
    workspace: Workspace,
    /// The calls of readers; of those in `quiet` only what they answer without an update counts.
    readers: Vec<(usize, usize, Words)>,
    quiet: &'a [usize],
    known: HashMap<Vec<u8>, Vec<Option<Words>>>,
    refuted: Refuted,
}

/// So many steps alone without a return: it never returns.
const MOST_STEPS: usize = 3_000;

/// Tries everything within bounds. Readers are the operations of `reads`, and those of `quiet` in
/// calls that take no update step.
pub fn brute(
    program: &Program,
    calls: u32,
    values: i64,
    reads: &[usize],
    quiet: &[usize],
    cap: usize,
) -> Option<Refuted> {
    let bounds = Bounds {
        calls: Calls::Each(calls),
        values: Values::UpTo(values),
        objects: None,
        memory: Memory::Collected,
        crashes: 0,
        thread_crashes: 0,
    };
    let reductions = Reductions {
        canonical_heap: true,
        dead_locals: true,
        merged_events: true,
        ..Reductions::NONE
    };
    let space = Space::new(program, bounds, reductions).ok()?;
    let mut readers: Vec<(usize, usize, Words)> = Vec::new();
    for thread in 0..program.threads.len() {
        for (operation, words) in space.calls(thread) {
            let words = Words::from_slice(words);
            let is_reader = reads.contains(&operation) || quiet.contains(&operation);
            if is_reader
                && !readers.iter().any(|(_, of, other)| *of == operation && *other == words)
            {
                readers.push((thread, operation, words));
            }
        }
    }
    let brute = Brute {
        space: &space,
        workspace: Workspace::default(),
        readers,
        quiet,
        known: HashMap::new(),
        refuted: Refuted::default(),
    };
    brute.explore(program.threads.len(), cap)
}

impl Brute<'_> {
    fn explore(mut self, threads: usize, cap: usize) -> Option<Refuted> {
        let initial = self.space.initial().ok()?;
        let start = (self.packed(&initial), vec![None::<Pending>; threads]);
        let mut known: BTreeSet<(Vec<u8>, Vec<Option<Pending>>)> = [start.clone()].into();
        let mut work: VecDeque<_> = [start].into();
        let mut complete = true;
        while let Some((bytes, pending)) = work.pop_front() {
            let mut flat = Flat::default();
            self.space.unpack(&bytes, &mut flat);
            for (thread, events, after) in self.moves(&flat, threads) {
                let pending = self.step(&flat, &pending, thread, &events, &after);
                let next = (self.packed(&after), pending);
                if known.len() >= cap {
                    complete = false;
                } else if known.insert(next.clone()) {
                    work.push_back(next);
                }
            }
        }
        self.refuted.states = complete.then_some(known.len());
        Some(self.refuted)
    }

    fn moves(&mut self, flat: &Flat, threads: usize) -> Vec<(usize, Vec<Event>, Flat)> {
        let mut all = Vec::new();
        for thread in 0..threads {
            let mut visit = |successor: Successor<'_>| {
                if let Stop::State(after) = successor.stop {
                    all.push((thread, successor.events.to_vec(), after.clone()));
                }
                true
            };
            self.space.successors_of(flat, thread, 0, &mut self.workspace, &mut visit);
        }
        all
    }

    fn packed(&mut self, flat: &Flat) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.space.pack(flat, &mut self.workspace, &mut bytes);
        bytes
    }

    /// A step: what it does to what is remembered.
    fn step(
        &mut self,
        before: &Flat,
        pending: &[Option<Pending>],
        thread: usize,
        events: &[Event],
        after: &Flat,
    ) -> Vec<Option<Pending>> {
        let mut pending = pending.to_vec();
        let (old, new) = (self.answers(before), self.answers(after));
        for event in events {
            if let Event::Call { operation, arguments, .. } = event {
                let operation = *operation;
                let mut call = Pending {
                    operation,
                    arguments: arguments.clone(),
                    changes: 0,
                    updates: 0,
                    seen: BTreeSet::new(),
                };
                self.see(&mut call, &old);
                pending[thread] = Some(call);
            }
        }
        let updates = self.is_update(before, after);
        if let Some(call) = &mut pending[thread] {
            call.changes += u8::from(old != new);
            call.updates += u8::from(updates);
            if call.changes > 1 {
                self.refuted.one_step.insert(call.operation);
            }
            if call.updates > 1 {
                self.refuted.two_updates.insert(call.operation);
            }
            call.changes = call.changes.min(2);
            call.updates = call.updates.min(2);
        }
        for call in pending.iter_mut().flatten() {
            self.see(call, &new);
        }
        for event in events {
            if let Event::Return { operation, value, .. } = event {
                let call = pending[thread].take();
                let is_reader = self.readers.iter().any(|(_, of, _)| of == operation);
                if let Some(call) = call.filter(|call| is_reader && call.updates == 0)
                    && !call.seen.contains(value)
                {
                    self.refuted.read_base_point.insert(*operation);
                }
            }
        }
        pending
    }

    fn see(&self, call: &mut Pending, answers: &[Option<Words>]) {
        for ((_, operation, arguments), answer) in self.readers.iter().zip(answers) {
            if *operation == call.operation && *arguments == call.arguments {
                call.seen.extend(answer.clone());
            }
        }
    }

    /// What each reader answers alone, without an update.
    fn answers(&mut self, flat: &Flat) -> Vec<Option<Words>> {
        let mut shared = flat.clone();
        self.space.set_aside_others(&mut shared, None);
        let bytes = self.packed(&shared);
        if let Some(known) = self.known.get(&bytes) {
            return known.clone();
        }
        let mut all = Vec::new();
        for (thread, operation, arguments) in self.readers.clone() {
            let (updates, answer) = self.alone(&shared, thread, operation, &arguments);
            let is_quiet = self.quiet.contains(&operation);
            if !is_quiet && (updates || answer.is_none()) {
                self.refuted.ends.insert(operation);
            }
            all.push(answer.filter(|_| !updates));
        }
        self.known.insert(bytes, all.clone());
        all
    }

    fn alone(&mut self, from: &Flat, thread: usize, operation: usize, words: &[i64]) -> Outcome {
        let mut flat = from.clone();
        let mut updates = false;
        let mut step =
            self.space.call_alone(&mut flat, thread, operation, words, &mut self.workspace);
        let mut before = from.clone();
        for _ in 0..MOST_STEPS {
            updates |= self.is_update(&before, &flat);
            match step.led {
                Alone::On => {}
                Alone::Returned(words) => return (updates, Some(words.iter().copied().collect())),
                Alone::Blocked | Alone::Faulted => return (updates, None),
            }
            before = flat.clone();
            step = self.space.step_alone(&mut flat, thread, &mut self.workspace);
        }
        (updates, None)
    }

    /// Whether a word of a shared variable, or of an object that these reach, is another.
    fn is_update(&self, before: &Flat, after: &Flat) -> bool {
        let contents = |flat: &Flat| -> BTreeMap<(usize, usize), i64> {
            let mut words = BTreeMap::new();
            let mut work = Vec::new();
            for (at, word, is_reference) in self.space.shared_words(flat) {
                words.insert((usize::MAX, at), word);
                work.extend(is_reference.then_some(word));
            }
            let mut met = BTreeSet::new();
            while let Some(word) = work.pop() {
                let Some(object) = usize::try_from(word).ok().and_then(|at| at.checked_sub(1))
                else {
                    continue;
                };
                if !met.insert(object) {
                    continue;
                }
                for (at, word, is_reference) in self.space.object_words(flat, object).1 {
                    words.insert((object, at), word);
                    work.extend(is_reference.then_some(word));
                }
            }
            words
        };
        contents(before) != contents(after)
    }
}
