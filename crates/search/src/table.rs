//! The states met so far, as small numbers, and what each class of operations does to them.
//!
//! The specification is asked once for each state and class. On the way the table learns which
//! operations only look: the classes of a group (same operation, same answer) are *observers* as
//! long as none of them was seen to change a state.

use super::interner::Interner;
use super::problem::{Class, Problem};
use crate::Watch;
use linchpin_history_data::Origin;
use linchpin_spec::{AnyState, Spec, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::any::Any;

/// What is known of the operations of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// None has been possible in any state met.
    Unknown,
    /// Some have been possible, and none changed a state.
    Observer,
    /// One changed a state.
    Update,
}

/// The states after a class of operations took effect in a state, as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It cannot.
    None,
    One(u32),
    /// These, in [`Table::many`].
    Many {
        start: u32,
        count: u32,
    },
}

impl Next {
    pub(crate) fn len(self) -> u32 {
        match self {
            Next::None => 0,
            Next::One(_) => 1,
            Next::Many { count, .. } => count,
        }
    }
}

/// The number of the initial state.
pub(crate) const INITIAL: u32 = 0;

/// States and transitions.
pub(crate) struct Table<'a, S: Spec + ?Sized> {
    spec: &'a S,
    classes: &'a [Class],
    states: Interner<S::State>,
    transitions: FxHashMap<u64, Next>,
    many: Vec<u32>,
    effects: Vec<Effect>,
    /// Whether the specification says what a group does.
    told: Vec<bool>,
    /// Whether an operation that was taken for an observer turned out to be an update.
    mistaken: bool,
    /// Whether several searches use the numbers of states, so that none may be forgotten.
    pub is_shared: bool,
    state_bytes: usize,
}

impl<'a, S: Spec + ?Sized> Table<'a, S>
where
    S::State: 'static,
{
    pub(crate) fn new(spec: &'a S, problem: &'a Problem) -> Table<'a, S> {
        let mut table = Table {
            spec,
            classes: &problem.classes,
            states: Interner::new(),
            transitions: FxHashMap::default(),
            many: Vec::new(),
            effects: vec![Effect::Unknown; problem.groups],
            told: vec![false; problem.groups],
            mistaken: false,
            is_shared: false,
            state_bytes: 0,
        };
        table.number(spec.initial());
        for class in table.classes.iter().filter(|class| class.response.is_some()) {
            let Some(only_looks) = spec.only_looks(&class.call) else { continue };
            table.told[class.group as usize] = true;
            if !only_looks {
                // INVARIANT: what is taken for an update is never trusted, so this is right even if
                // the specification is not.
                table.effects[class.group as usize] = Effect::Update;
            }
        }
        table
    }

    /// What is known of each group of operations.
    pub(crate) fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// The same table, where this is known of each group of operations.
    pub(crate) fn knowing(self, effects: Vec<Effect>) -> Table<'a, S> {
        Table { effects, ..self }
    }

    fn number(&mut self, state: S::State) -> u32 {
        let (number, is_new) = self.states.intern(state);
        if is_new {
            self.state_bytes += heap_bytes(self.states.get(number));
        }
        number
    }

    /// What operations of this class make of a state.
    pub(crate) fn step(&mut self, state: u32, class: u32) -> Next {
        let key = u64::from(state) << 32 | u64::from(class);
        if let Some(next) = self.transitions.get(&key) {
            return *next;
        }
        let Class { call, response, .. } = &self.classes[class as usize];
        let outcomes = self.spec.apply(self.states.get(state), call, response.as_ref());
        let mut after: SmallVec<[u32; 4]> = SmallVec::new();
        for outcome in outcomes {
            let number = self.number(outcome.state);
            if !after.contains(&number) {
                after.push(number);
            }
        }
        let next = match after[..] {
            [] => Next::None,
            [one] => Next::One(one),
            _ => {
                let start = self.many.len() as u32;
                self.many.extend_from_slice(&after);
                Next::Many { start, count: after.len() as u32 }
            }
        };
        self.learn(state, class, next);
        self.transitions.insert(key, next);
        next
    }

    fn learn(&mut self, state: u32, class: u32, next: Next) {
        let Class { response, group, .. } = &self.classes[class as usize];
        if next == Next::None || response.is_none() {
            return;
        }
        let effect = &mut self.effects[*group as usize];
        if next != Next::One(state) {
            self.mistaken |= *effect == Effect::Observer;
            *effect = Effect::Update;
        } else if *effect == Effect::Unknown {
            *effect = Effect::Observer;
        }
    }

    /// One of the states of [`Table::step`].
    pub(crate) fn state(&self, next: Next, at: u32) -> u32 {
        match next {
            Next::One(state) => state,
            Next::Many { start, .. } => self.many[(start + at) as usize],
            Next::None => unreachable!("a class that cannot take effect leads to no state"),
        }
    }

    /// What is known of the group of this class.
    pub(crate) fn effect(&self, class: u32) -> Effect {
        self.effects[self.classes[class as usize].group as usize]
    }

    /// Whether operations of this class can take effect in a state, and only look, here and
    /// wherever else they were tried.
    pub(crate) fn observes(&mut self, state: u32, class: u32) -> bool {
        self.effect(class) != Effect::Update
            && self.step(state, class) == Next::One(state)
            && self.effect(class) == Effect::Observer
    }

    /// Whether some operation was taken for an observer and is none; asking clears it.
    pub(crate) fn was_mistaken(&mut self) -> bool {
        std::mem::take(&mut self.mistaken)
    }

    /// Tries what is taken for an observer in the first states that were met; whether some turned
    /// out to be an update. An operation that a search takes as soon as it changes nothing is never
    /// tried where it would.
    pub(crate) fn probe(&mut self) -> bool {
        const STATES: u32 = 64;
        const TRIES: usize = 1 << 12;
        let mut tries = 0;
        let mut found = false;
        let states = STATES.min(self.states.len() as u32);
        for class in 0..self.classes.len() as u32 {
            if self.told[self.classes[class as usize].group as usize] {
                continue;
            }
            let mut state = 0;
            while state < states && self.effect(class) == Effect::Observer {
                self.step(state, class);
                (state, tries) = (state + 1, tries + 1);
            }
            found |= state > 0 && self.effect(class) == Effect::Update;
            if tries >= TRIES {
                break;
            }
        }
        found
    }

    /// Whether so many states are kept that forgetting some pays, if `alive` of them matter.
    pub(crate) fn should_forget(&self, alive: usize) -> bool {
        !self.is_shared && self.states.len() > (1 << 16) && self.states.len() > 8 * alive
    }

    /// Forgets all states but these, which are renumbered.
    pub(crate) fn forget<'b>(&mut self, alive: impl Iterator<Item = &'b mut u32>) {
        let states = std::mem::replace(&mut self.states, Interner::new());
        self.transitions = FxHashMap::default();
        self.many = Vec::new();
        self.state_bytes = 0;
        // INVARIANT: the initial state keeps its number, so that a search can start over.
        self.number(states.get(INITIAL).clone());
        let mut renumbered: FxHashMap<u32, u32> = FxHashMap::default();
        for old in alive {
            *old = *renumbered.entry(*old).or_insert_with(|| self.number(states.get(*old).clone()));
        }
    }

    /// A state, as a person reads it.
    pub(crate) fn show(&self, state: u32, origin: Origin) -> String {
        let state = self.states.get(state);
        match origin {
            Origin::Model if is_null(state) => "none".to_owned(),
            _ => show(self.spec, state),
        }
    }

    /// Frees what this keeps; see [`SearchOptions::abandon`](crate::SearchOptions::abandon).
    pub(crate) fn free(self, watch: &Watch<'_>) {
        self.states.free(|| watch.is_the_end());
    }

    /// About how many bytes this keeps.
    pub(crate) fn bytes(&self) -> usize {
        let transition = size_of::<(u64, Next)>() + 1;
        self.state_bytes
            + self.states.bytes()
            + self.transitions.capacity() * transition * 8 / 7
            + self.many.capacity() * 4
    }
}

/// A state, as a person reads it.
pub(crate) fn show<S: Spec<State: 'static> + ?Sized>(spec: &S, state: &S::State) -> String {
    let value = || (state as &dyn Any).downcast_ref::<Value>().map(Value::to_string);
    spec.describe(state).or_else(value).unwrap_or_else(|| format!("{state:?}"))
}

fn is_null<T: 'static>(state: &T) -> bool {
    let state = state as &dyn Any;
    matches!(state.downcast_ref(), Some(AnyState::Value(Value::Null)))
        || matches!(state.downcast_ref(), Some(Value::Null))
}

/// What a state keeps beside itself: exact for values, a guess for states of other types.
fn heap_bytes<T: 'static>(state: &T) -> usize {
    let state = state as &dyn Any;
    match (state.downcast_ref::<AnyState>(), state.downcast_ref::<Value>()) {
        (Some(AnyState::Value(value)), _) | (_, Some(value)) => value_bytes(value),
        _ => 64,
    }
}

fn value_bytes(value: &Value) -> usize {
    let own = size_of::<Value>();
    match value {
        Value::Str(text) => 16 + text.len(),
        Value::Number(number) => 16 + number.as_str().len(),
        Value::List(items) => 40 + items.iter().map(|item| own + value_bytes(item)).sum::<usize>(),
        Value::Set(items) => 40 + items.iter().map(|item| own + value_bytes(item)).sum::<usize>(),
        Value::Map(pairs) => {
            let pair = |(k, v): (&Value, &Value)| 2 * own + value_bytes(k) + value_bytes(v);
            40 + pairs.iter().map(pair).sum::<usize>()
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Ref(_) => 0,
    }
}
