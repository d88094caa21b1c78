//! The specification as a table that grows: states and what operations do to them, as numbers.

use crate::interner::Interner;
use linchpin_spec::{Call, Spec, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What an operation is to the search: what it called and answered, and on which object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Thing {
    pub class: u32,
    pub object: u32,
}

/// More states, classes and transitions are not kept from one history to the next.
const MOST: usize = 1 << 16;

/// States and transitions.
pub(super) struct Machine<'a, S: Spec + ?Sized> {
    spec: &'a S,
    classes: Interner<(Call, Option<Value>)>,
    states: Interner<S::State>,
    /// Of many objects, the state of each.
    products: Interner<SmallVec<[u32; 4]>>,
    /// The range of [`Machine::next`] that a state and a class lead to.
    transitions: FxHashMap<u64, (u32, u32)>,
    next: Vec<u32>,
    objects: u32,
}

impl<'a, S: Spec + ?Sized> Machine<'a, S> {
    pub fn new(spec: &'a S) -> Machine<'a, S> {
        Machine {
            spec,
            classes: Interner::new(),
            states: Interner::new(),
            products: Interner::new(),
            transitions: FxHashMap::default(),
            next: Vec::new(),
            objects: 1,
        }
    }

    /// Forgets what earlier histories have left, if it is much.
    pub fn make_room(&mut self) {
        let kept = [
            self.classes.len(),
            self.states.len(),
            self.products.len(),
            self.transitions.len(),
            self.next.len(),
        ];
        if kept.into_iter().any(|kept| kept > MOST) {
            *self = Machine::new(self.spec);
        }
    }

    /// The number of a call with its answer, if that is known.
    pub fn class(&mut self, call: Call, response: Option<Value>) -> u32 {
        self.classes.intern((call, response)).0
    }

    /// The number of the initial state of so many objects.
    pub fn initial(&mut self, objects: u32) -> u32 {
        let (state, _) = self.states.intern(self.spec.initial());
        self.objects = objects;
        match objects {
            0 | 1 => state,
            many => self.products.intern(SmallVec::from_elem(state, many as usize)).0,
        }
    }

    /// In how many ways an operation can take effect in a state.
    pub fn outcomes(&mut self, state: u32, thing: Thing) -> u32 {
        self.step(self.part(state, thing.object), thing.class).1
    }

    /// The state after one of these ways.
    pub fn after(&mut self, state: u32, thing: Thing, outcome: u32) -> u32 {
        let (start, _) = self.step(self.part(state, thing.object), thing.class);
        let after = self.next[(start + outcome) as usize];
        if self.objects <= 1 {
            return after;
        }
        let mut product = self.products.get(state).clone();
        product[thing.object as usize] = after;
        self.products.intern(product).0
    }

    /// The state of one object.
    fn part(&self, state: u32, object: u32) -> u32 {
        if self.objects <= 1 { state } else { self.products.get(state)[object as usize] }
    }

    fn step(&mut self, state: u32, class: u32) -> (u32, u32) {
        let key = u64::from(state) << 32 | u64::from(class);
        if let Some(range) = self.transitions.get(&key) {
            return *range;
        }
        let (call, response) = self.classes.get(class);
        let outcomes = self.spec.apply(self.states.get(state), call, response.as_ref());
        let start = self.next.len();
        for outcome in outcomes {
            let (number, _) = self.states.intern(outcome.state);
            if !self.next[start..].contains(&number) {
                self.next.push(number);
            }
        }
        let range = (start as u32, (self.next.len() - start) as u32);
        self.transitions.insert(key, range);
        range
    }

    /// About how many bytes this keeps; of states and classes a guess.
    pub fn bytes(&self) -> usize {
        const BESIDE: usize = 64;
        let things = self.states.len() + self.classes.len();
        let transition = size_of::<(u64, (u32, u32))>() + 1;
        self.states.bytes()
            + self.classes.bytes()
            + self.products.bytes()
            + things * BESIDE
            + self.transitions.capacity() * transition * 8 / 7
            + self.next.capacity() * 4
    }
}
