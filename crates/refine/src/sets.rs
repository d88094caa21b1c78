//! The linearizable specification, normalised: which object states, with which pending operations
//! already linearized, the events so far allow (Definitions 2 to 4).
//!
//! A specification state ([`Config`]) is the value of the object and, for each pending operation
//! that has been linearized, its buffered response. A [`SpecSet`] is a set of them that one trace
//! reaches. Linearization is just in time: a pending operation is linearized only when a response,
//! its own or another's, needs it. That loses nothing, because what a configuration can do later,
//! the one before it can do later too. For the same reason a configuration that another one of the
//! set can still become is dropped: what is kept are the minimal elements of the τ-closure, so two
//! traces with the same closure have the same set.

use crate::buffered::Buffered;
use crate::byte_values::ByteValues;
use crate::cache::{Cache, Memo, Numbered};
use crate::interned::{Ids, SpecSets, Table};
use crate::linearize::Effects;
use crate::renaming::Given;
use linchpin_ir::model_spec::{ModelObject, SpecError, spec_of};
use linchpin_ir::program::{Operation, Program, Type};
use linchpin_ir::run::AnsweredCall;
use linchpin_space::{Event, Renaming, Space, SpecMarks};
use linchpin_spec::{BuiltinSpec, Call, Shape, Spec, Value};
use linchpin_verdict::CrashProperty;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::hint::spin_loop;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// When pending operations are linearized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Anywhere, looked for only when a response needs it.
    JustInTime,
    /// Anywhere, looked for at once: the full τ-closure, as in the paper.
    Eager,
    /// Only at the points that the model claims (Theorem 2).
    Points,
    /// As [`Sets::trial`] says of each operation.
    Trial,
}

/// Where an operation may be linearized in a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Anywhere between its call and its return.
    Anywhere,
    /// In one of its own steps, whichever turns out to fit.
    InOwnSteps,
    /// In the first of its steps that goes along one of these edges: (node, edge).
    AtEdges(Vec<(u32, u32)>),
}

/// For each thread, 0 or a number.
pub(crate) type Row = SmallVec<[u32; 4]>;

/// A specification state.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Config {
    /// The value of the object.
    pub state: u32,
    /// For each thread, the response of its linearized operation plus 1; in the upper byte, if it
    /// was linearized at a point that depends on the future, the number of that point plus 1.
    pub responses: Row,
    /// The interrupted operations that may still take effect, in any thread's future: a number of
    /// [`Inner::orphans`], 0 if there are none.
    pub orphans: u32,
}

/// An interrupted operation that may still take effect: its thread ([`ANY_THREAD`] where that does
/// not matter) and its call.
pub(crate) type Orphan = (u32, u32);

/// It does not matter whose operation it was.
pub(crate) const ANY_THREAD: u32 = u32::MAX;

/// How often one looks whether the specification is free before it sleeps.
const LOOKS: usize = 1 << 12;

/// So many effects of calls on states are remembered.
const APPLIED: usize = 1 << 14;

/// What is remembered where no set follows.
const NO_SET: u32 = u32::MAX;

// The number of a claim, from 1 on, is in the upper byte: a space has no more than that.
const GUESS_SHIFT: u32 = 24;
pub(crate) const RESPONSE: u32 = (1 << GUESS_SHIFT) - 1;

/// The specification states that one trace reaches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SpecSet {
    /// For each thread, its pending call plus 1.
    pub pending: Row,
    /// Sorted.
    pub configs: Vec<Config>,
}

/// The specification side of the product.
pub struct Sets {
    policy: Policy,
    property: CrashProperty,
    threads: usize,
    /// How many values may be renamed.
    values: usize,
    inner: Mutex<Inner>,
}

pub(crate) struct Inner {
    /// What is asked of runs with crashes.
    pub(crate) property: CrashProperty,
    /// Interrupted operations, sorted by thread; of one thread from the oldest on.
    pub(crate) orphans: Table<Vec<Orphan>>,
    /// For each operation of the specification, whether `recover(t)` tells what became of it.
    pub(crate) resolvable: Vec<bool>,
    /// What buffered durability keeps: see `buffered.rs`. Its numbers are those of the sets then.
    pub(crate) buffered: Table<Arc<Buffered>>,
    spec: BuiltinSpec,
    /// The states of the object before the first event: one, unless a nondeterministic
    /// specification starts after a preload.
    start: Vec<Value>,
    /// For each operation of the model, the operation of the specification.
    operations: Vec<usize>,
    pub(crate) values: Table<Value>,
    pub(crate) calls: Table<Call>,
    pub(crate) states: ByteValues,
    pub(crate) sets: SpecSets,
    /// (state, call) to (response, state), as long as it is remembered.
    applied: Memo<Ways>,
    pub(crate) effects: Effects,
    /// Rows of pending calls (their numbers doubled, plus 1) and configurations (doubled), with
    /// threads and values renamed.
    pub(crate) renamed: Numbered<Given>,
    /// For each operation, in a trial, where it may be linearized.
    places: Vec<Place>,
    /// Which integers of the specification may be renamed.
    pub(crate) marks: Arc<SpecMarks>,
}

/// What may be renamed in a specification.
#[derive(Clone, Debug)]
pub struct Renamable {
    /// The values from 1 to this one; none of them if it is 0.
    pub values: usize,
    /// Where it has values.
    pub marks: SpecMarks,
}

impl Renamable {
    /// Nothing.
    pub fn nothing() -> Renamable {
        Renamable { values: 0, marks: SpecMarks::all() }
    }

    /// What may be renamed in a space.
    pub fn of(space: &Space) -> Renamable {
        Renamable { values: space.renamable_values(), marks: space.spec_marks().clone() }
    }
}

/// The ways in which a call may take effect: response and state.
pub(crate) type Ways = Arc<[(u32, u32)]>;

impl Sets {
    /// The specification of a program, of which these values may be renamed.
    pub fn new(program: &Program, policy: Policy, names: Renamable) -> Result<Sets, SpecError> {
        let Renamable { values, marks } = names;
        let ModelObject { spec, operations } = spec_of(program)?;
        let start = vec![spec.initial()];
        let threads = program.threads.len();
        let count = operations.iter().max().map_or(0, |last| last + 1);
        let mut resolvable = vec![false; count];
        for (operation, of) in operations.iter().enumerate() {
            resolvable[*of] |= program.is_resolvable(operation);
        }
        let property = CrashProperty::Durable;
        let mut inner = Inner {
            property,
            orphans: Table::new(),
            resolvable,
            buffered: Table::new(),
            spec,
            start,
            operations,
            values: Table::new(),
            calls: Table::new(),
            states: ByteValues::default(),
            sets: SpecSets::new(),
            applied: Memo::up_to(APPLIED),
            effects: Effects::default(),
            renamed: Numbered::default(),
            places: Vec::new(),
            marks: Arc::new(marks),
        };
        inner.begin(threads);
        Ok(Sets { policy, property, threads, values, inner: Mutex::new(inner) })
    }

    /// The same specification, with something else asked of runs with crashes.
    pub fn asking(mut self, property: CrashProperty) -> Sets {
        self.property = property;
        self.inner().property = property;
        self
    }

    /// The specification of a program whose operations may be linearized only in these places.
    pub fn trial(
        program: &Program,
        places: Vec<Place>,
        names: Renamable,
    ) -> Result<Sets, SpecError> {
        let sets = Sets::new(program, Policy::Trial, names)?;
        sets.inner().places = places;
        Ok(sets)
    }

    pub(crate) fn inner(&self) -> MutexGuard<'_, Inner> {
        // What others do here takes less time than it takes to sleep and be woken up.
        for _ in 0..LOOKS {
            match self.inner.try_lock() {
                Ok(inner) => return inner,
                Err(TryLockError::Poisoned(inner)) => return inner.into_inner(),
                Err(TryLockError::WouldBlock) => spin_loop(),
            }
        }
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is asked of runs with crashes.
    pub(crate) fn property(&self) -> CrashProperty {
        self.property
    }

    /// What is looked for, in a word or two that can be the name of a file.
    pub(crate) fn name(&self) -> String {
        format!("{:?}-{:?}", self.policy, self.property).to_lowercase()
    }

    /// How many threads there are.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Forgets all but the set before the first event. No number means what it did, nor does a
    /// [`Cache`].
    pub(crate) fn forget(&self) {
        let mut inner = self.inner();
        inner.begin(self.threads);
    }

    /// Starts after these calls, made one after the other with these answers. If the specification
    /// does not answer so, what it could be in before the call that it does not explain, and the
    /// number of that call.
    pub(crate) fn start_after(&self, calls: &[AnsweredCall]) -> Option<(usize, Vec<Value>)> {
        let mut inner = self.inner();
        for (at, AnsweredCall { operation, argument, answer, .. }) in calls.iter().enumerate() {
            let operation = inner.operations[*operation];
            let call = Call { operation, argument: argument.clone() };
            let before = &inner.start;
            let ways = before.iter().flat_map(|state| inner.spec.apply(state, &call, Some(answer)));
            let mut after: Vec<Value> = ways.map(|way| way.state).collect();
            after.sort();
            after.dedup();
            if after.is_empty() {
                return Some((at, std::mem::take(&mut inner.start)));
            }
            inner.start = after;
        }
        inner.begin(self.threads);
        None
    }

    /// The set before the first event.
    pub fn initial(&self) -> u32 {
        0
    }

    /// About how many bytes are kept.
    pub fn bytes(&self) -> usize {
        let inner = self.inner();
        let remembered = inner.applied.bytes() + inner.effects.bytes();
        remembered + inner.sets.bytes() + inner.states.bytes() + inner.values.bytes()
    }

    /// How many sets there are.
    pub fn count(&self) -> usize {
        self.inner().sets.len()
    }

    /// The set after an event; `None` if no specification state has it.
    pub fn after(&self, cache: &mut Cache, space: &Space, set: u32, event: &Event) -> Option<u32> {
        let number = cache.after.number(event);
        if let Some(after) = cache.after.get(set, number) {
            return (after != NO_SET).then_some(after);
        }
        let after = match self.property {
            CrashProperty::Buffered => self.inner().buffered_after(self.policy, space, set, event),
            _ => self.inner().after(self.policy, space, set, event),
        };
        cache.after.put(set, number, after.unwrap_or(NO_SET));
        after
    }

    /// Whether every configuration of one set is in the τ-closure of the other.
    pub fn is_subset(&self, cache: &mut Cache, smaller: u32, larger: u32) -> bool {
        if let Some(known) = cache.subset.get(smaller, larger) {
            return known != 0;
        }
        let is_subset = match self.property {
            CrashProperty::Buffered => {
                self.inner().buffered_subset(self.policy, smaller, larger, &mut cache.closure)
            }
            _ => self.inner().is_subset(self.policy, smaller, larger, &mut cache.closure),
        };
        cache.subset.put(smaller, larger, u32::from(is_subset));
        is_subset
    }

    /// The set with threads and values renamed. Values that the renaming does not name get the next
    /// free names.
    pub fn renamed(&self, cache: &mut Cache, set: u32, renaming: Renaming) -> u32 {
        if renaming.threads.is_empty() {
            // Nothing changes if the values that occur have the names that they had.
            let named = renaming.values.iter().zip(1u8..).take_while(|(new, old)| *new == old);
            let named = named.count();
            let rest = &renaming.values[named..];
            if rest.iter().all(|name| *name == 0) && self.largest(cache, set) <= named {
                return set;
            }
        }
        let number = cache.renamed.number(&renaming);
        if let Some(renamed) = cache.renamed.get(set, number) {
            return renamed;
        }
        let renamed = match self.property {
            CrashProperty::Buffered => self.inner().buffered_renamed(set, &renaming, self.threads),
            _ => self.inner().renamed(set, &renaming, self.threads),
        };
        cache.renamed.put(set, number, renamed);
        renamed
    }

    /// The largest value in a set that may be renamed; 0 if there is none.
    pub fn largest(&self, cache: &mut Cache, set: u32) -> usize {
        if self.values == 0 {
            return 0;
        }
        if let Some(largest) = cache.largest.get(set, 0) {
            return largest as usize;
        }
        let largest = match self.property {
            CrashProperty::Buffered => self.inner().buffered_largest(set, self.values),
            _ => self.inner().largest(set, self.values),
        };
        // It is one of the values, of which there are few.
        cache.largest.put(set, 0, largest as u32);
        largest
    }

    /// The object states that a set allows, and which pending operations they take to be done, for
    /// people.
    pub fn describe(&self, set: u32) -> Vec<String> {
        let inner = self.inner();
        let sets = match self.property {
            CrashProperty::Buffered => inner.buffered.items[set as usize].current(),
            _ => vec![set],
        };
        let mut lines: Vec<String> = sets
            .iter()
            .flat_map(|set| {
                let SpecSet { pending, configs } = inner.sets.get(*set);
                configs.into_iter().map(move |config| (pending.clone(), config))
            })
            .map(|(pending, config)| inner.describe(&pending, &config))
            .collect();
        lines.sort();
        lines.dedup();
        lines
    }
}

impl Inner {
    /// Forgets everything but the states before the first event, which are set 0.
    fn begin(&mut self, threads: usize) {
        self.values = Table::new();
        self.calls = Table::new();
        self.states = ByteValues::default();
        self.orphans = Table::new();
        self.orphans.number(Vec::new());
        self.buffered = Table::new();
        self.buffered.number(Arc::new(Buffered::initial()));
        self.sets = SpecSets::new();
        self.applied = Memo::up_to(APPLIED);
        self.effects = Effects::default();
        self.renamed = Numbered::default();
        let none = Row::from_elem(0, threads);
        let config = |state: u32| Config { state, responses: none.clone(), orphans: 0 };
        let states = self.start.iter().map(|state| self.states.number(state));
        let configs: Vec<Config> = states.map(config).collect();
        self.add(none, configs);
    }

    /// A specification state, for people.
    fn describe(&self, pending: &Row, config: &Config) -> String {
        let state = self.states.get(config.state);
        let state = self.spec.describe(&state).unwrap_or_else(|| shown(&state));
        let done = config.responses.iter().enumerate().filter(|(_, response)| **response != 0);
        let done: Vec<String> = done
            .map(|(thread, response)| {
                let call =
                    pending[thread].checked_sub(1).map(|call| &self.calls.items[call as usize]);
                let answers = call.is_none_or(|call| {
                    self.spec.operations()[call.operation].response != Shape::Unit
                });
                let value = &self.values.items[((response & RESPONSE) - 1) as usize];
                let answer =
                    if answers { format!(", answering {}", shown(value)) } else { String::new() };
                format!("thread {thread}'s operation has taken effect{answer}")
            })
            .collect();
        match done.is_empty() {
            true => state,
            false => format!("{state}, where {}", done.join(" and ")),
        }
    }

    pub(crate) fn add(&mut self, pending: Row, configs: Vec<Config>) -> u32 {
        let configs = configs.into_iter().map(|config| self.sets.number_config(config)).collect();
        self.add_ids(pending, configs)
    }

    pub(crate) fn add_ids(&mut self, pending: Row, configs: Ids) -> u32 {
        let pending = self.sets.number_row(pending);
        self.sets.number(pending, configs)
    }

    pub(crate) fn after(
        &mut self,
        policy: Policy,
        space: &Space,
        set: u32,
        event: &Event,
    ) -> Option<u32> {
        let (row, ids) = self.sets.ids(set);
        let (pending, configs) = match event {
            Event::Call { thread, operation, arguments } => {
                let arguments = space.arguments(*operation, arguments);
                let argument = Operation::argument(&arguments);
                let call = Call { operation: self.operations[*operation], argument };
                let mut pending = self.sets.row(row).clone();
                pending[*thread] = self.calls.number(call) + 1;
                let configs = match policy {
                    Policy::Eager => self.closure_of(&pending, &ids),
                    Policy::JustInTime | Policy::Points | Policy::Trial => ids,
                };
                return Some(self.add_ids(pending, configs));
            }
            Event::Return { thread, operation, value } => {
                let value = self.response(space, *operation, value);
                let before = self.sets.row(row).clone();
                let mut pending = before.clone();
                pending[*thread] = 0;
                let configs = match policy {
                    Policy::JustInTime => {
                        let configs = self.respond(&before, &ids, *thread, value);
                        self.minimal_of(&pending, configs)
                    }
                    Policy::Eager | Policy::Points => self.answered(&ids, *thread, value),
                    Policy::Trial => {
                        let mut configs = self.answered(&ids, *thread, value);
                        if self.places[*operation] == Place::Anywhere {
                            let old = self.sets.get(set);
                            for mut config in self.with_helpers(space, &old, *thread) {
                                if config.responses[*thread] == value + 1 {
                                    config.responses[*thread] = 0;
                                    configs.push(self.sets.number_config(config));
                                }
                            }
                        }
                        configs
                    }
                };
                return (!configs.is_empty()).then(|| self.add_ids(pending, configs));
            }
            Event::Crash { .. } => return Some(self.interrupt(policy, set, None)),
            Event::ThreadCrash { thread } => {
                return Some(self.interrupt(policy, set, Some(*thread)));
            }
            Event::Resolve { .. } if self.property != CrashProperty::Detectable => {
                return Some(set);
            }
            Event::Resolve { thread, operation, value } => {
                return self.resolve(policy, space, set, *thread, *operation, value);
            }
            Event::Edge { .. } if policy != Policy::Trial => return Some(set),
            Event::Edge { thread, operation, node, edge } => {
                let keep = match &self.places[*operation] {
                    Place::Anywhere => return Some(set),
                    Place::AtEdges(edges) if !edges.contains(&(*node, *edge)) => return Some(set),
                    Place::AtEdges(_) => false,
                    Place::InOwnSteps => true,
                };
                let old = self.sets.get(set);
                let done = |config: &&Config| keep || config.responses[*thread] != 0;
                let mut configs: Vec<Config> = old.configs.iter().filter(done).cloned().collect();
                configs.extend(self.with_helpers(space, &old, *thread));
                (old.pending.clone(), configs)
            }
            Event::Point { .. } if policy != Policy::Points => return Some(set),
            Event::Point { thread, guess: None } => {
                let old = self.sets.get(set);
                let configs = old.configs.iter().filter(|config| config.responses[*thread] == 0);
                let mut done = Vec::new();
                for config in configs {
                    self.linearize(&old.pending, config, *thread, &mut done);
                }
                (old.pending.clone(), done)
            }
            Event::Point { thread, guess: Some((number, value)) } => {
                let old = self.sets.get(set);
                let value = self.response(space, self.operation_of(space, &old, *thread)?, value);
                let tag = (*number as u32 + 1) << GUESS_SHIFT;
                let mut configs = Vec::new();
                for config in &old.configs {
                    let response = config.responses[*thread];
                    // It was guessed that the operation would answer before it passed here again.
                    if response & !RESPONSE == tag {
                        continue;
                    }
                    configs.push(config.clone());
                    if response == 0 {
                        let mut done = Vec::new();
                        self.linearize(&old.pending, config, *thread, &mut done);
                        done.retain(|config| config.responses[*thread] == value + 1);
                        for mut config in done {
                            config.responses[*thread] |= tag;
                            configs.push(config);
                        }
                    }
                }
                (old.pending.clone(), configs)
            }
        };
        (!configs.is_empty()).then(|| self.add(pending, configs))
    }

    /// The operation of the model that a thread has called, from its pending call.
    fn operation_of(&self, space: &Space, set: &SpecSet, thread: usize) -> Option<usize> {
        let call = &self.calls.items[set.pending[thread].checked_sub(1)? as usize];
        let of_thread = &space.program().threads[thread].operations;
        of_thread.iter().copied().find(|&operation| self.operations[operation] == call.operation)
    }

    pub(crate) fn response(&mut self, space: &Space, operation: usize, words: &[i64]) -> u32 {
        let value = match space.response_type(operation) {
            Type::Unit => Value::Null,
            _ => space.response(operation, words),
        };
        self.values.number(value)
    }

    /// The ways in which a pending operation may take effect.
    pub(crate) fn apply(&mut self, state: u32, call: u32) -> Ways {
        if let Some(outcomes) = self.applied.get(state, call) {
            return outcomes;
        }
        let outcomes =
            self.spec.apply(&self.states.get(state), &self.calls.items[call as usize], None);
        let outcomes: Ways = outcomes
            .into_iter()
            .map(|outcome| {
                (self.values.number(outcome.response), self.states.number(&outcome.state))
            })
            .collect();
        self.applied.put(state, call, outcomes.clone());
        outcomes
    }

    /// Lets the pending operation of a thread take effect.
    pub(crate) fn linearize(
        &mut self,
        pending: &Row,
        config: &Config,
        thread: usize,
        out: &mut Vec<Config>,
    ) {
        let Some(call) = pending[thread].checked_sub(1) else { return };
        for &(response, state) in self.apply(config.state, call).iter() {
            let mut responses = config.responses.clone();
            responses[thread] = response + 1;
            let orphans = self.before(config.orphans, thread);
            out.push(Config { state, responses, orphans });
        }
    }

    /// The ways to linearize a thread's pending operation, other pending ones that may be
    /// linearized anywhere before it.
    fn with_helpers(&mut self, space: &Space, old: &SpecSet, thread: usize) -> Vec<Config> {
        let mut open: Vec<Config> =
            old.configs.iter().filter(|config| config.responses[thread] == 0).cloned().collect();
        let mut seen: FxHashSet<Config> = open.iter().cloned().collect();
        let (mut result, mut next) = (Vec::new(), Vec::new());
        while let Some(config) = open.pop() {
            self.linearize(&old.pending, &config, thread, &mut result);
            for other in (0..old.pending.len()).filter(|&other| other != thread) {
                let free = self
                    .operation_of(space, old, other)
                    .is_some_and(|operation| self.places[operation] == Place::Anywhere);
                if free && config.responses[other] == 0 {
                    self.linearize(&old.pending, &config, other, &mut next);
                }
            }
            open.extend(next.drain(..).filter(|config| seen.insert(config.clone())));
        }
        result
    }
}

/// A value, as models write it.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        value => value.to_string(),
    }
}
