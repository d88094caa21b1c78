//! The states that were met, each once, and how each was first reached.

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// How a state was first reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// From which state.
    pub from: u32,
    /// Which thread moved, as that state numbers them.
    pub thread: u8,
    /// What it called, if it was idle.
    pub call: Option<u16>,
}

/// States as bytes, by number, in the order in which they were met.
#[derive(Default)]
pub struct Store {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    steps: Vec<Step>,
    table: HashTable<u32>,
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

impl Store {
    /// How many states there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// About how many bytes they take.
    pub fn kept_bytes(&self) -> usize {
        self.bytes.capacity()
            + self.ends.capacity() * 8
            + self.steps.capacity() * 12
            + self.table.capacity() * 5
    }

    /// A state.
    pub fn get(&self, id: u32) -> &[u8] {
        get(&self.bytes, &self.ends, id)
    }

    /// How a state was first reached.
    pub fn step(&self, id: u32) -> Step {
        self.steps[id as usize]
    }

    /// The number of a state, and whether it is new.
    pub fn insert(&mut self, state: &[u8], step: Step) -> (u32, bool) {
        let Store { bytes, ends, steps, table } = self;
        let of = hash(state);
        if let Some(id) = table.find(of, |id| get(bytes, ends, *id) == state) {
            return (*id, false);
        }
        let id = ends.len() as u32;
        bytes.extend_from_slice(state);
        ends.push(bytes.len());
        steps.push(step);
        table.insert_unique(of, id, |id| hash(get(bytes, ends, *id)));
        (id, true)
    }
}

fn get<'a>(bytes: &'a [u8], ends: &[usize], id: u32) -> &'a [u8] {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &bytes[start..ends[id]]
}
