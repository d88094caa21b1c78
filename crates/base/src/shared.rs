//! The shared states that were met, each once, with what every call does from it alone.

use crate::alone::{Call, alone};
use crate::outcome::{Outcome, Words};
use linchpin_space::{Flat, Space, Workspace};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A set of calls, by their number.
pub type Calls = u128;

/// More calls than this are not told apart.
pub const MOST_CALLS: usize = 128;

/// More answers than this are not told apart.
pub const MOST_ANSWERS: usize = 64;

/// A shared state as it occurs in a state of the program.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// Its number.
    pub id: u32,
    /// For each object of the state of the program, its number in the shared state plus 1; 0 if it
    /// is not reachable.
    pub names: Rc<[u32]>,
}

/// What a step from one shared state to another changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The calls whose outcome differs: the step does not preserve their base points.
    pub outcomes: Calls,
    /// The calls for which it differs whether, or what, they answer without an update step.
    pub pure_answers: Calls,
}

/// The shared states, and what is known of them.
pub struct SharedStates {
    calls: Vec<Call>,
    ids: FxHashMap<Rc<[u8]>, u32>,
    packed: Vec<Rc<[u8]>>,
    outcomes: Vec<Vec<Option<Rc<Outcome>>>>,
    answers: FxHashMap<Words, u32>,
    changes: FxHashMap<(u32, u32, Box<[u32]>), Changes>,
    scratch: Flat,
    bytes: Vec<u8>,
}

impl SharedStates {
    /// None yet; base points of these calls will be asked for.
    pub fn new(calls: Vec<Call>) -> SharedStates {
        SharedStates {
            calls,
            ids: FxHashMap::default(),
            packed: Vec::new(),
            outcomes: Vec::new(),
            answers: FxHashMap::default(),
            changes: FxHashMap::default(),
            scratch: Flat::default(),
            bytes: Vec::new(),
        }
    }

    /// The calls.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// How many shared states there are.
    pub fn len(&self) -> usize {
        self.packed.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// About how many bytes are kept.
    pub fn kept_bytes(&self) -> usize {
        self.packed.len() * (200 + 24 * self.calls.len()) + self.changes.len() * 120
    }

    /// The shared part of a state.
    pub fn occurrence(
        &mut self,
        space: &Space,
        flat: &Flat,
        workspace: &mut Workspace,
    ) -> Occurrence {
        self.scratch.words.clone_from(&flat.words);
        self.scratch.links.clear();
        space.set_aside_others(&mut self.scratch, None);
        space.pack(&self.scratch, workspace, &mut self.bytes);
        let names = workspace.names().into();
        let id = match self.ids.get(&self.bytes[..]) {
            Some(id) => *id,
            None => {
                let id = self.packed.len() as u32;
                let bytes: Rc<[u8]> = self.bytes[..].into();
                self.packed.push(Rc::clone(&bytes));
                self.ids.insert(bytes, id);
                self.outcomes.push(vec![None; self.calls.len()]);
                id
            }
        };
        Occurrence { id, names }
    }

    /// A shared state, with its objects numbered as outcomes name them.
    pub fn state(&self, space: &Space, id: u32) -> Flat {
        let mut flat = Flat::default();
        space.unpack(&self.packed[id as usize], &mut flat);
        flat
    }

    /// What a call does alone from a shared state.
    pub fn outcome(
        &mut self,
        space: &Space,
        id: u32,
        call: usize,
        workspace: &mut Workspace,
    ) -> Rc<Outcome> {
        if let Some(outcome) = &self.outcomes[id as usize][call] {
            return Rc::clone(outcome);
        }
        let flat = self.state(space, id);
        let outcome = Rc::new(alone(space, &flat, &self.calls[call], workspace));
        self.outcomes[id as usize][call] = Some(Rc::clone(&outcome));
        outcome
    }

    /// What a call does alone from a shared state, if that was asked before.
    pub fn known_outcome(&self, id: u32, call: usize) -> Option<&Outcome> {
        self.outcomes[id as usize][call].as_deref()
    }

    /// The number of an answer; `None` if there are too many.
    pub fn answer(&mut self, words: &Words) -> Option<u32> {
        let next = self.answers.len() as u32;
        let number = *self.answers.entry(words.clone()).or_insert(next);
        ((number as usize) < MOST_ANSWERS).then_some(number)
    }

    /// What a step between two shared states changes (Definition 3).
    pub fn changes(
        &mut self,
        space: &Space,
        before: &Occurrence,
        after: &Occurrence,
        workspace: &mut Workspace,
    ) -> Changes {
        let mut map = vec![0; before.names.len().min(after.names.len())];
        for (old, new) in before.names.iter().zip(after.names.iter()) {
            if let Some(slot) = (*old as usize).checked_sub(1).and_then(|old| map.get_mut(old)) {
                *slot = *new;
            }
        }
        let key = (before.id, after.id, map.into_boxed_slice());
        if let Some(changes) = self.changes.get(&key) {
            return *changes;
        }
        let rename = |object: u32| {
            let new = key.2.get(object as usize).copied().unwrap_or(0);
            new.checked_sub(1)
        };
        let mut changes = Changes::default();
        for call in 0..self.calls.len() {
            let old = self.outcome(space, before.id, call, workspace);
            let new = self.outcome(space, after.id, call, workspace);
            if !old.equals(&new, rename) {
                changes.outcomes |= 1 << call;
            }
            if old.pure_answer() != new.pure_answer() {
                changes.pure_answers |= 1 << call;
            }
        }
        self.changes.insert(key, changes);
        changes
    }
}
