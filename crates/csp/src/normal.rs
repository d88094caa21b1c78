//! The specification, normalised on the fly by subset construction (Definition 4).
//!
//! A normalised state is the set of states that one trace reaches, closed under τ. States and sets
//! are interned; what follows from each is computed once. The closure is not reduced (Figure 3
//! could be applied here too): reduced sets are smaller, but traces that lead to the same full set
//! often lead to different reduced ones, and the product grows.

use crate::cells::Bits;
use crate::evaluate::Fault;
use crate::lts::{Label, Lts};
use crate::reduction::Expander;
use linchpin_verdict::Limits;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How often limits are looked at while a set is closed: once in so many states.
const EVERY: usize = 256;

/// A specification, normalised as far as it was needed.
pub(crate) struct Normal<'a, 'm> {
    lts: &'a Lts<'m>,
    limits: Limits,
    inner: Mutex<Inner<'a, 'm>>,
}

struct Inner<'a, 'm> {
    expander: Expander<'a, 'm>,
    numbers: FxHashMap<Arc<[u8]>, u32>,
    states: Vec<Arc<[u8]>>,
    steps: Vec<Option<Steps>>,
    sets: FxHashMap<Set, u32>,
    members: Vec<Set>,
    after: FxHashMap<(u32, Label), Option<u32>>,
    bytes: usize,
}

/// The steps from a state.
type Steps = Arc<[(Label, u32)]>;

/// Sorted numbers of states.
type Set = Arc<[u32]>;

impl<'a, 'm> Normal<'a, 'm> {
    pub fn new(lts: &'a Lts<'m>, limits: Limits) -> Normal<'a, 'm> {
        let inner = Inner {
            expander: Expander::new(lts),
            numbers: FxHashMap::default(),
            states: Vec::new(),
            steps: Vec::new(),
            sets: FxHashMap::default(),
            members: Vec::new(),
            after: FxHashMap::default(),
            bytes: 0,
        };
        Normal { lts, limits, inner: Mutex::new(inner) }
    }

    fn lock(&self) -> MutexGuard<'_, Inner<'a, 'm>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The set that the empty trace reaches.
    pub fn initial(&self) -> Result<u32, Fault> {
        let state = self.lts.initial()?;
        let mut bytes = Vec::new();
        self.lts.pack(&state, &mut bytes);
        let mut inner = self.lock();
        let first = inner.number(&bytes);
        self.closed(&mut inner, vec![first])
    }

    /// The set after a visible event, if some state in the set has it.
    pub fn after(&self, set: u32, label: &Label) -> Result<Option<u32>, Fault> {
        let mut inner = self.lock();
        let key = (set, label.clone());
        if let Some(known) = inner.after.get(&key) {
            return Ok(*known);
        }
        let mut reached = Vec::new();
        for &state in inner.members[set as usize].clone().iter() {
            let steps = self.steps(&mut inner, state)?;
            reached.extend(steps.iter().filter(|(other, _)| other == label).map(|(_, to)| *to));
        }
        let after = if reached.is_empty() { None } else { Some(self.closed(&mut inner, reached)?) };
        inner.bytes += 64;
        inner.after.insert(key, after);
        Ok(after)
    }

    /// The visible events that some state in the set has.
    pub fn allowed(&self, set: u32) -> Result<Vec<Label>, Fault> {
        let mut inner = self.lock();
        let mut allowed = Vec::new();
        for &state in inner.members[set as usize].clone().iter() {
            let steps = self.steps(&mut inner, state)?;
            allowed.extend(steps.iter().map(|(label, _)| label.clone()));
        }
        allowed.sort_unstable();
        allowed.dedup();
        allowed.retain(|label| *label != Label::Tau);
        Ok(allowed)
    }

    /// The condition of Figure 4 on every state of a set: what the parts with this event may show.
    pub fn sole_parts(&self, set: u32, label: &Label) -> Option<Bits> {
        let mut inner = self.lock();
        let mut events = Bits::default();
        for &state in inner.members[set as usize].clone().iter() {
            let state = self.lts.unpack(&inner.states[state as usize].clone());
            events.add(&inner.expander.sole_part(&state, label)?);
        }
        Some(events)
    }

    pub fn members(&self, set: u32) -> Set {
        self.lock().members[set as usize].clone()
    }

    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// How many states and how many sets of them.
    pub fn size(&self) -> (usize, usize) {
        let inner = self.lock();
        (inner.states.len(), inner.members.len())
    }

    /// The closure under τ.
    fn closed(&self, inner: &mut Inner<'a, 'm>, states: Vec<u32>) -> Result<u32, Fault> {
        let mut open = states;
        let mut seen: FxHashSet<u32> = open.iter().copied().collect();
        open.sort_unstable();
        open.dedup();
        while let Some(state) = open.pop() {
            if seen.len().is_multiple_of(EVERY)
                && let Some(reason) = self.limits.exceeded(inner.bytes)
            {
                return Err(Fault::stopped(reason));
            }
            let steps = self.steps(inner, state)?;
            let silent = steps.iter().filter(|(label, _)| *label == Label::Tau);
            open.extend(silent.map(|(_, to)| *to).filter(|to| seen.insert(*to)));
        }
        let mut set: Vec<u32> = seen.into_iter().collect();
        set.sort_unstable();
        let set: Set = set.into();
        if let Some(number) = inner.sets.get(&set) {
            return Ok(*number);
        }
        let number = inner.members.len() as u32;
        inner.bytes += set.len() * 4 + 64;
        inner.members.push(set.clone());
        inner.sets.insert(set, number);
        Ok(number)
    }

    fn steps(&self, inner: &mut Inner<'a, 'm>, state: u32) -> Result<Steps, Fault> {
        if let Some(known) = &inner.steps[state as usize] {
            return Ok(known.clone());
        }
        let from = self.lts.unpack(&inner.states[state as usize].clone());
        let expansion = inner.expander.all(&from);
        if let Some(fault) = expansion.fault {
            return Err(fault);
        }
        let mut bytes = Vec::new();
        let mut steps = Vec::with_capacity(expansion.moves.len());
        for step in expansion.moves {
            self.lts.pack(&step.to, &mut bytes);
            steps.push((step.label, inner.number(&bytes)));
        }
        let steps: Steps = steps.into();
        inner.bytes += 48 + steps.len() * 56;
        inner.steps[state as usize] = Some(steps.clone());
        Ok(steps)
    }
}

impl Inner<'_, '_> {
    fn number(&mut self, bytes: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(bytes) {
            return *number;
        }
        let number = self.states.len() as u32;
        let shared: Arc<[u8]> = bytes.into();
        self.bytes += bytes.len() + 80;
        self.states.push(shared.clone());
        self.steps.push(None);
        self.numbers.insert(shared, number);
        number
    }
}
