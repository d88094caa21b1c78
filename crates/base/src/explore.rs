//! Every execution within bounds; what each step is asked for is in `theorem.rs`.
//!
//! A state is one of the program together with a [`Note`] for each thread and the state of the
//! specification. States of the program are canonical ([`Space`]), so notes move with their
//! threads. Reductions: canonical heaps, dead locals, thread symmetry, merged events, and steps
//! that no other thread can notice are taken together, except updates. Values are told apart: calls
//! are known by their arguments.

use crate::alone::Call;
use crate::code::{Code, NotApplicable};
use crate::commute;
use crate::confirm::{SpecSet, Specification};
use crate::finding::{Findings, Place};
use crate::note::Note;
use crate::outcome::Words;
use crate::shared::{Calls, MOST_CALLS, Occurrence, SharedStates};
use crate::store::{Step, Store};
use crate::tally::Tally;
use linchpin_engine::WithoutUpdates;
use linchpin_ir::program::Program;
use linchpin_space::{Event, Flat, Space, Stop, Successor, Workspace};
use linchpin_verdict::{Limits, StopReason};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The state of the specification is not followed any more: a condition has failed.
pub(crate) const LOST: SpecSet = SpecSet::MAX;

/// No more states than this.
const MOST_STATES: usize = 60_000_000;

/// How operations are treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Treatment {
    /// For each operation, whether it is read-only.
    pub read_only: Vec<bool>,
    /// For each operation, how its calls without update steps are treated.
    pub without_updates: Vec<WithoutUpdates>,
}

impl Treatment {
    /// Whether calls of the operation that take no update step need a base point while they are
    /// pending (Theorem 2), rather than at their last read.
    pub fn as_read(&self, operation: usize) -> bool {
        self.read_only[operation] || self.without_updates[operation] == WithoutUpdates::ReadOnly
    }
}

/// What an exploration has come to.
pub struct Explored {
    /// The conditions that fail.
    pub findings: Findings,
    /// How often each was checked, and what steps do.
    pub tally: Tally,
    /// The shared states.
    pub shared: SharedStates,
    /// All states, with how they were reached.
    pub store: Store,
    /// Why not all were explored, if so.
    pub stopped: Option<StopReason>,
    /// Whether a step failed in some execution.
    pub fault: Option<Place>,
}

/// A state in full.
pub(crate) struct Here {
    pub id: u32,
    pub flat: Flat,
    pub shared: Occurrence,
    pub notes: SmallVec<[Note; 4]>,
    pub specified: SpecSet,
}

/// A way on.
pub(crate) struct Move {
    pub thread: usize,
    pub call: Option<usize>,
    pub after: Flat,
    pub answer: Option<Words>,
    /// Whether it accesses memory other than locks.
    pub accesses: bool,
    /// Whether it is part of a critical sequence.
    pub critical: bool,
    /// The notes after it, if it is part of a critical sequence that goes on.
    pub goes_on: Option<SmallVec<[Note; 4]>>,
}

/// An exploration in progress.
pub(crate) struct Explorer<'a> {
    pub space: &'a Space,
    pub code: &'a Code,
    pub treatment: &'a Treatment,
    pub workspace: Workspace,
    pub shared: SharedStates,
    pub specification: Specification,
    numbers: FxHashMap<(usize, usize, Words), u16>,
    /// The calls that are read-only, and those that are treated so where they take no update step.
    pub reads: Calls,
    pub pure: Calls,
    store: Store,
    pub findings: Findings,
    pub tally: Tally,
    pub confirmed: FxHashSet<(u32, SpecSet)>,
    fault: Option<Place>,
    pub overflow: bool,
    bytes: Vec<u8>,
    packed: Vec<u8>,
}

/// The calls that clients may make.
pub(crate) fn calls_of(space: &Space, code: &Code) -> Result<Vec<Call>, NotApplicable> {
    let mut calls: Vec<Call> = Vec::new();
    for thread in 0..space.program().threads.len() {
        for (operation, arguments) in space.calls(thread) {
            let is_same = |call: &Call| {
                call.operation == operation
                    && call.arguments == arguments
                    && (call.thread == thread || !code.names_threads)
            };
            if !calls.iter().any(is_same) {
                calls.push(Call { thread, operation, arguments: arguments.to_vec() });
            }
        }
    }
    match calls.len() {
        count @ 0..=MOST_CALLS => Ok(calls).inspect(|_| debug_assert!(count <= MOST_CALLS)),
        count => Err(NotApplicable::TooManyCalls { count, most: MOST_CALLS }),
    }
}

impl<'a> Explorer<'a> {
    /// Ready to explore.
    pub fn new(
        space: &'a Space,
        code: &'a Code,
        treatment: &'a Treatment,
        calls: Vec<Call>,
        specification: Specification,
    ) -> Explorer<'a> {
        let mut numbers = FxHashMap::default();
        let (mut reads, mut pure) = (0, 0);
        for (number, call) in calls.iter().enumerate() {
            let thread = if code.names_threads { call.thread } else { 0 };
            let arguments = Words::from_slice(&call.arguments);
            numbers.insert((thread, call.operation, arguments), number as u16);
            if treatment.read_only[call.operation] {
                reads |= 1 << number;
            } else if treatment.as_read(call.operation) {
                pure |= 1 << number;
            }
        }
        let operations = space.program().operations.len();
        Explorer {
            space,
            code,
            treatment,
            workspace: Workspace::default(),
            shared: SharedStates::new(calls),
            specification,
            numbers,
            reads,
            pure,
            store: Store::default(),
            findings: Findings::default(),
            tally: Tally::new(operations),
            confirmed: FxHashSet::default(),
            fault: None,
            overflow: false,
            bytes: Vec::new(),
            packed: Vec::new(),
        }
    }

    pub fn program(&self) -> &'a Program {
        self.space.program()
    }

    /// Explores everything, breadth first, so that what is found is found by a shortest run.
    pub fn explore(mut self, initial: &Flat, limits: &Limits, observe: &dyn Fn(usize)) -> Explored {
        let threads = self.program().threads.len();
        let start = self.shared.occurrence(self.space, initial, &mut self.workspace);
        let notes: SmallVec<[Note; 4]> = SmallVec::from_elem(Note::Idle, threads);
        let specified = self.confirm(&start, 0, Place { state: 0, thread: 0, call: None });
        self.insert(initial, &notes, specified, Step { from: 0, thread: 0, call: None });
        let mut stopped = None;
        let mut next: u32 = 0;
        while (next as usize) < self.store.len() {
            if next.is_multiple_of(1024) {
                observe(next as usize);
            }
            if next.is_multiple_of(16) {
                let bytes = self.store.kept_bytes() + self.shared.kept_bytes();
                stopped = limits.exceeded(bytes);
            }
            if self.overflow || self.store.len() > MOST_STATES {
                stopped = stopped.or(Some(StopReason::Budget));
            }
            if stopped.is_some() {
                break;
            }
            self.expand(next);
            next += 1;
        }
        observe(self.store.len());
        let Explorer { findings, tally, shared, store, fault, .. } = self;
        Explored { findings, tally, shared, store, stopped, fault }
    }

    pub fn insert(&mut self, flat: &Flat, notes: &[Note], specified: SpecSet, step: Step) {
        let renaming = self.space.pack(flat, &mut self.workspace, &mut self.packed);
        self.bytes.clear();
        self.bytes.extend((self.packed.len() as u32).to_le_bytes());
        self.bytes.extend(&self.packed);
        self.bytes.extend(specified.to_le_bytes());
        let mut moved: SmallVec<[Note; 4]> = SmallVec::from_slice(notes);
        for (old, new) in renaming.threads.iter().enumerate() {
            moved[usize::from(*new)] = notes[old];
        }
        for note in &moved {
            note.pack(&mut self.bytes);
        }
        self.store.insert(&self.bytes, step);
    }

    fn unpack(&mut self, id: u32) -> Here {
        let bytes = self.store.get(id);
        let (length, rest) = bytes.split_at(4);
        let length = u32::from_le_bytes(length.try_into().unwrap_or_default()) as usize;
        let (packed, rest) = rest.split_at(length);
        let (specified, mut rest) = rest.split_at(4);
        let specified = SpecSet::from_le_bytes(specified.try_into().unwrap_or_default());
        let threads = self.program().threads.len();
        let notes = (0..threads).map(|_| Note::unpack(&mut rest)).collect();
        let mut flat = Flat::default();
        self.space.unpack(packed, &mut flat);
        let shared = self.shared.occurrence(self.space, &flat, &mut self.workspace);
        Here { id, flat, shared, notes, specified }
    }

    /// Every way on from a state.
    fn expand(&mut self, id: u32) {
        let here = self.unpack(id);
        let mut moves = self.moves(&here);
        for made in &mut moves {
            self.advance(&here, made);
        }
        let is_critical = |note: &Note| matches!(note, Note::Critical { .. });
        if here.notes.iter().any(is_critical) {
            commute::check(self, &here, &moves);
        }
        commute::check_after(self, &here, &moves);
    }

    pub fn moves(&mut self, here: &Here) -> Vec<Move> {
        let mut moves = Vec::new();
        let mut fault = None;
        let Explorer { space, code, numbers, workspace, .. } = self;
        let mut visit = |successor: Successor<'_>| {
            let Successor { thread, events, stop, .. } = successor;
            let mut made = Move {
                thread,
                call: None,
                after: Flat::default(),
                answer: None,
                accesses: false,
                critical: false,
                goes_on: None,
            };
            for event in events {
                match event {
                    Event::Call { operation, arguments, .. } => {
                        let by = if code.names_threads { thread } else { 0 };
                        let key = (by, *operation, arguments.clone());
                        made.call = numbers.get(&key).map(|number| usize::from(*number));
                    }
                    Event::Edge { operation, node, edge, .. } => {
                        made.accesses |= code.accesses(*operation, *node, *edge);
                    }
                    Event::Return { value, .. } => made.answer = Some(value.clone()),
                    // Nothing crashes here.
                    Event::Point { .. }
                    | Event::Crash { .. }
                    | Event::ThreadCrash { .. }
                    | Event::Resolve { .. } => {}
                }
            }
            match stop {
                Stop::State(flat) => {
                    made.after = flat.clone();
                    moves.push(made);
                }
                Stop::Fault => fault = fault.or(Some((thread, made.call))),
            }
            true
        };
        for thread in 0..space.program().threads.len() {
            space.successors_of(&here.flat, thread, 0, workspace, &mut visit);
        }
        if let Some((thread, call)) = fault {
            let place = Place { state: here.id, thread, call };
            self.fault.get_or_insert(place);
        }
        moves
    }
}
