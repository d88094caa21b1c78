//! The frontier for histories that are still being recorded: told of one event at a time, it knows
//! at once when nothing explains what it was told.
//!
//! What an operation in progress will answer is not known here. So a configuration says, for each
//! of them that changed the state, what it will have to answer (*promised*), and for each of the
//! others what it may answer because it could have looked at the right time (*seen*). What it keeps
//! depends on what is in progress, and on how many states the object can be in, not on the length
//! of the history.

use super::interner::Interner;
use super::table::show;
use super::used::Used;
use linchpin_spec::{Call, Shape, Spec, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// An operation in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(u32);

/// Nothing explains the events so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unexplained {
    /// The call whose answer nothing explains.
    pub call: Call,
    /// That answer.
    pub response: Value,
    /// The states in which the object may have been just before.
    pub possible: Vec<String>,
}

/// A way in which operations may have taken effect before some event.
pub struct Beginning<S> {
    /// The state of the object.
    pub state: S,
    /// What operations in progress that took effect will have to answer.
    pub promised: Vec<(Ticket, Value)>,
    /// What others may answer.
    pub seen: Vec<(Ticket, Value)>,
    /// The calls that never return and took effect.
    pub used: Vec<Call>,
}

/// Slots with answers, sorted.
type Answers = SmallVec<[(u32, u32); 4]>;

/// What is compared first: configurations that differ here have nothing to do with each other.
type Key = (u32, Answers);

/// The rest of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rest {
    used: u32,
    seen: Answers,
}

/// Configurations, of which none can do all that another can.
type Configs = FxHashMap<Key, SmallVec<[Rest; 1]>>;

/// All ways in which the events so far may be explained.
///
/// The specification must list every answer of a call when it is asked without one. All built-in
/// ones do, except `mwcas` over locations whose initial values are unknown, or with answers other
/// than `true` and `{"failed": …}`.
///
/// ```
/// use linchpin_search::Frontier;
/// use linchpin_spec::{Call, Queue, Value};
///
/// let queue = Queue::default();
/// let mut frontier = Frontier::new(&queue);
/// let enqueue = frontier.invoke(Call { operation: Queue::ENQUEUE, argument: Value::Int(7) });
/// let dequeue = frontier.invoke(Call { operation: Queue::DEQUEUE, argument: Value::Null });
/// frontier.response(dequeue, &Value::Int(7)).unwrap();
/// let dequeue = frontier.invoke(Call { operation: Queue::DEQUEUE, argument: Value::Null });
/// assert!(frontier.response(dequeue, &Value::Int(7)).is_err());
/// # let _ = enqueue;
/// ```
pub struct Frontier<'a, S: Spec + ?Sized> {
    spec: &'a S,
    observers: FxHashSet<usize>,
    states: Interner<S::State>,
    calls: Interner<Call>,
    answers: Interner<Value>,
    /// What a call makes of a state: answers and states.
    outcomes: FxHashMap<(u32, u32), Vec<(u32, u32)>>,
    /// The calls in progress, by slot.
    open: Vec<Option<u32>>,
    free: Vec<u32>,
    /// The calls that never return, and how often each was made.
    crashed: Vec<(u32, u32)>,
    used: Used,
    configs: Configs,
}

impl<'a, S: Spec + ?Sized> Frontier<'a, S>
where
    S::State: 'static,
{
    /// The frontier before the first event.
    pub fn new(spec: &'a S) -> Frontier<'a, S> {
        Frontier::starting_from(spec, spec.initial())
    }

    /// The frontier of an object in this state, before the first event.
    pub fn starting_from(spec: &'a S, state: S::State) -> Frontier<'a, S> {
        let mut states = Interner::new();
        let (initial, _) = states.intern(state);
        let rest = Rest { used: Used::NONE, seen: Answers::new() };
        Frontier {
            spec,
            observers: FxHashSet::default(),
            states,
            calls: Interner::new(),
            answers: Interner::new(),
            outcomes: FxHashMap::default(),
            open: Vec::new(),
            free: Vec::new(),
            crashed: Vec::new(),
            used: Used::new(),
            configs: Configs::from_iter([(
                (initial, Answers::new()),
                SmallVec::from_elem(rest, 1),
            )]),
        }
    }

    /// Begins again, in the middle: in one of these ways the operations in progress, and those that
    /// never return, have taken effect.
    pub fn begin_again(&mut self, ways: impl Iterator<Item = Beginning<S::State>>) {
        self.configs.clear();
        for Beginning { state, promised, seen, used } in ways {
            let (state, _) = self.states.intern(state);
            let mut answers = |list: Vec<(Ticket, Value)>| -> Answers {
                let one =
                    |(ticket, answer): (Ticket, Value)| (ticket.0, self.answers.intern(answer).0);
                let mut answers: Answers = list.into_iter().map(one).collect();
                answers.sort_unstable();
                answers
            };
            let (promised, seen) = (answers(promised), answers(seen));
            let mut count = Used::NONE;
            for call in used {
                let (call, _) = self.calls.intern(call);
                if let Some(class) = self.crashed.iter().position(|(of, _)| *of == call) {
                    count = self.used.one_more(count, class as u32);
                }
            }
            let rest = Rest { used: count, seen };
            insert(&mut self.configs, &self.used, (state, promised), rest);
        }
    }

    /// Promises that these operations never change a state, which makes them cheap.
    #[must_use]
    pub fn with_observers(mut self, operations: impl IntoIterator<Item = usize>) -> Self {
        self.observers.extend(operations);
        self
    }

    /// An operation is called.
    pub fn invoke(&mut self, call: Call) -> Ticket {
        let (call, _) = self.calls.intern(call);
        let slot = self.free.pop().unwrap_or(self.open.len() as u32);
        if slot as usize == self.open.len() {
            self.open.push(None);
        }
        self.open[slot as usize] = Some(call);
        Ticket(slot)
    }

    /// An operation returns. Nothing changes if the ticket is of none in progress.
    ///
    /// # Errors
    ///
    /// If nothing explains that. The frontier is then empty, and nothing explains what follows.
    pub fn response(&mut self, ticket: Ticket, response: &Value) -> Result<(), Unexplained> {
        let Some(call) = self.close(ticket) else {
            return Ok(());
        };
        let operation = self.calls.get(call).operation;
        let signature = self.spec.operations().get(operation);
        let is_silent = signature.is_some_and(|signature| signature.response == Shape::Unit);
        let response = match is_silent {
            true => Value::Null,
            false => self.spec.canonical(operation, response.clone()),
        };
        let (answer, _) = self.answers.intern(response.clone());
        let possible = self.possible_states();
        self.pass(ticket.0, call, Some(answer));
        if self.configs.is_empty() {
            let possible =
                possible.into_iter().map(|state| show(self.spec, self.states.get(state))).collect();
            return Err(Unexplained { call: self.calls.get(call).clone(), response, possible });
        }
        self.forget();
        Ok(())
    }

    /// An operation will not return: it takes effect at any later time or never.
    pub fn crash(&mut self, ticket: Ticket) {
        let Some(call) = self.close(ticket) else {
            return;
        };
        let class = self.crashed.iter().position(|(of, _)| *of == call);
        let class = class.unwrap_or_else(|| {
            self.crashed.push((call, 0));
            self.crashed.len() - 1
        });
        self.crashed[class].1 += 1;
        for ((state, mut promised), rests) in std::mem::take(&mut self.configs) {
            let took_effect = take(&mut promised, ticket.0).is_some();
            for Rest { mut used, mut seen } in rests {
                if took_effect {
                    used = self.used.one_more(used, class as u32);
                }
                seen.retain(|(slot, _)| *slot != ticket.0);
                insert(
                    &mut self.configs,
                    &self.used,
                    (state, promised.clone()),
                    Rest { used, seen },
                );
            }
        }
    }

    /// An operation will not return: it has taken effect by now, or never does.
    pub fn expire(&mut self, ticket: Ticket) {
        if let Some(call) = self.close(ticket) {
            self.pass(ticket.0, call, None);
            self.forget();
        }
    }

    /// An operation turns out not to have happened. Whether the events so far can still be
    /// explained.
    pub fn retract(&mut self, ticket: Ticket) -> bool {
        if self.close(ticket).is_none() {
            return !self.configs.is_empty();
        }
        for ((state, mut promised), rests) in std::mem::take(&mut self.configs) {
            if take(&mut promised, ticket.0).is_some() {
                continue; // it took effect there
            }
            for mut rest in rests {
                rest.seen.retain(|(slot, _)| *slot != ticket.0);
                insert(&mut self.configs, &self.used, (state, promised.clone()), rest);
            }
        }
        !self.configs.is_empty()
    }

    /// The specification.
    pub fn spec(&self) -> &'a S {
        self.spec
    }

    /// How many configurations there are.
    pub fn configurations(&self) -> usize {
        self.configs.values().map(SmallVec::len).sum()
    }

    /// The states in which the object may be, if nothing in progress takes effect.
    pub fn possible(&self) -> Vec<String> {
        let states = self.possible_states().into_iter();
        states.map(|state| show(self.spec, self.states.get(state))).collect()
    }

    fn possible_states(&self) -> Vec<u32> {
        let mut states: Vec<u32> = self.configs.keys().map(|(state, _)| *state).collect();
        states.sort_unstable();
        states.dedup();
        states
    }

    fn close(&mut self, ticket: Ticket) -> Option<u32> {
        let call = self.open.get_mut(ticket.0 as usize)?.take()?;
        self.free.push(ticket.0);
        Some(call)
    }

    /// Passes the deadline of the operation in slot `x`, which answers this or need not have taken
    /// effect.
    fn pass(&mut self, x: u32, call: u32, answer: Option<u32>) {
        let mut passed = Configs::default();
        let mut pending = Configs::default();
        let mut queue: Vec<(Key, Rest)> = Vec::new();
        for ((state, promised), rests) in std::mem::take(&mut self.configs) {
            for mut rest in rests {
                let mut promised = promised.clone();
                if let Some(promise) = take(&mut promised, x) {
                    if answer.is_none_or(|answer| answer == promise) {
                        insert(&mut passed, &self.used, (state, promised), rest);
                    }
                    continue;
                }
                let seen = rest.seen.clone();
                rest.seen.retain(|(slot, _)| *slot != x);
                if answer.is_none_or(|answer| seen.contains(&(x, answer))) {
                    insert(&mut passed, &self.used, (state, promised.clone()), rest.clone());
                    if answer.is_some() && self.observers.contains(&self.calls.get(call).operation)
                    {
                        continue;
                    }
                }
                queue.push(((state, promised), rest));
            }
        }
        while let Some((key, mut rest)) = queue.pop() {
            self.look(&key, &mut rest);
            if !insert(&mut pending, &self.used, key.clone(), rest.clone()) {
                continue;
            }
            for (outcome, state) in self.outcomes(key.0, call, answer) {
                if answer.is_none_or(|answer| answer == outcome) {
                    insert(&mut passed, &self.used, (state, key.1.clone()), rest.clone());
                }
            }
            self.lead_on(&key, &rest, &mut queue);
        }
        self.configs = passed;
    }

    /// Notes what every operation in progress sees, if it looks now.
    fn look(&mut self, (state, promised): &Key, rest: &mut Rest) {
        for slot in 0..self.open.len() as u32 {
            let Some(call) = self.open[slot as usize] else { continue };
            if promised.iter().any(|(of, _)| *of == slot) {
                continue;
            }
            for (answer, after) in self.outcomes(*state, call, None) {
                let entry = (slot, answer);
                if after == *state
                    && let Err(at) = rest.seen.binary_search(&entry)
                {
                    rest.seen.insert(at, entry);
                }
            }
        }
    }

    /// Every configuration that one more operation in progress, or a crashed one, leads to.
    fn lead_on(&mut self, key: &Key, rest: &Rest, queue: &mut Vec<(Key, Rest)>) {
        let (state, promised) = key;
        for slot in 0..self.open.len() as u32 {
            let Some(call) = self.open[slot as usize] else { continue };
            let Err(at) = promised.binary_search_by_key(&slot, |(of, _)| *of) else { continue };
            for (answer, after) in self.outcomes(*state, call, None) {
                if after != *state {
                    let mut promised = promised.clone();
                    promised.insert(at, (slot, answer));
                    let mut rest = rest.clone();
                    rest.seen.retain(|(of, _)| *of != slot);
                    queue.push(((after, promised), rest));
                }
            }
        }
        for class in 0..self.crashed.len() {
            let (call, count) = self.crashed[class];
            if self.used.count(rest.used, class as u32) == count {
                continue;
            }
            for (_, after) in self.outcomes(*state, call, None) {
                if after != *state {
                    let used = self.used.one_more(rest.used, class as u32);
                    let rest = Rest { used, seen: rest.seen.clone() };
                    queue.push(((after, promised.clone()), rest));
                }
            }
        }
    }

    /// What a call makes of a state, if it answers this.
    fn outcomes(&mut self, state: u32, call: u32, answer: Option<u32>) -> Vec<(u32, u32)> {
        if let Some(answer) = answer {
            // Asked with the answer, which a specification may know more about.
            let (state, call) = (self.states.get(state), self.calls.get(call));
            let outcomes = self.spec.apply(state, call, Some(self.answers.get(answer)));
            let after = outcomes.into_iter().map(|outcome| self.states.intern(outcome.state).0);
            return after.map(|state| (answer, state)).collect();
        }
        if let Some(known) = self.outcomes.get(&(state, call)) {
            return known.clone();
        }
        let outcomes = self.spec.apply(self.states.get(state), self.calls.get(call), None);
        let mut list = Vec::new();
        for outcome in outcomes {
            let answer = self.answers.intern(outcome.response).0;
            list.push((answer, self.states.intern(outcome.state).0));
        }
        list.sort_unstable();
        list.dedup();
        self.outcomes.insert((state, call), list.clone());
        list
    }

    /// Forgets states, calls and answers that no configuration mentions.
    fn forget(&mut self) {
        let kept = self.states.len() + self.calls.len() + self.answers.len();
        if kept < 4096 || kept < 16 * (self.configs.len() + self.open.len()) {
            return;
        }
        let mut calls = Interner::new();
        let old = std::mem::replace(&mut self.calls, Interner::new());
        let of_crashed = self.crashed.iter_mut().map(|(call, _)| call);
        for call in self.open.iter_mut().flatten().chain(of_crashed) {
            *call = calls.intern(old.get(*call).clone()).0;
        }
        self.calls = calls;
        let states = std::mem::replace(&mut self.states, Interner::new());
        let answers = std::mem::replace(&mut self.answers, Interner::new());
        self.outcomes = FxHashMap::default();
        let mut renumber = |list: &mut Answers| {
            for (_, answer) in list.iter_mut() {
                *answer = self.answers.intern(answers.get(*answer).clone()).0;
            }
            list.sort_unstable();
        };
        for ((state, mut promised), mut rests) in std::mem::take(&mut self.configs) {
            let state = self.states.intern(states.get(state).clone()).0;
            renumber(&mut promised);
            rests.iter_mut().for_each(|rest| renumber(&mut rest.seen));
            self.configs.insert((state, promised), rests);
        }
    }
}

/// Takes the answer of a slot out.
fn take(answers: &mut Answers, slot: u32) -> Option<u32> {
    let at = answers.binary_search_by_key(&slot, |(of, _)| *of).ok()?;
    Some(answers.remove(at).1)
}

/// Adds a configuration unless one can do all that it can; whether it was added.
fn insert(configs: &mut Configs, used: &Used, key: Key, rest: Rest) -> bool {
    let can_do_all = |one: &Rest, other: &Rest| {
        used.at_most(one.used, other.used)
            && other.seen.iter().all(|entry| one.seen.binary_search(entry).is_ok())
    };
    let rests = configs.entry(key).or_default();
    if rests.iter().any(|other| can_do_all(other, &rest)) {
        return false;
    }
    rests.retain(|other| !can_do_all(&rest, other));
    rests.push(rest);
    true
}
