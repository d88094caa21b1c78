//! Two operation instances in an arbitrary state, executed symbolically.
//!
//! The state before the run is not enumerated: a location gets an unknown value when it is first read, and whether two unknown
//! values are equal is decided when it first matters. Every decision is a branch; [`explore`] visits all of them, so each visit stands
//! for all states with one equality (and order) pattern of the terms that matter: one of the interactions of Section VI.
//!
//! A first order of execution is *assumed* to run ([`Mode::Assume`]: states in which it does not are left out), a second one is
//! *required* to ([`Mode::Require`]: it must run in every state of the pattern).

use linchpin_subop::model::{GlobalKind, LocalId, Place, StructId, Type};

use crate::context::Context;
use crate::facts::Reach;
use crate::footprint::Kind;
use crate::solver::{Contradiction, Solver, Value, ZERO, flag};

/// Why a run ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// No state is like this.
    Prune,
    /// The sub-operation need not be enabled here.
    Blocked,
}

impl From<Contradiction> for Stop {
    fn from(_: Contradiction) -> Stop {
        Stop::Prune
    }
}

pub type Run<T> = Result<T, Stop>;

/// Whether what a sub-operation needs is assumed or must be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Assume,
    Require,
}

/// What of an instance two states must agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matters {
    /// It is left out.
    Nothing,
    /// It is complete: what it returned or, if it returns nothing, all it saw.
    Results,
    /// It goes on.
    Everything,
}

/// A shared location other than a global, with its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) kind: Kind,
    pub(crate) base: Value,
    pub(crate) value: Value,
}

/// What one instance holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    pub prefix: usize,
    pub locals: Vec<Option<Value>>,
    pub(crate) reads: Vec<Option<Value>>,
    pub(crate) results: Option<Vec<Value>>,
}

/// A state: what was written since the start of the run, and the instances.
#[derive(Clone, Debug)]
pub struct Memory {
    pub(crate) globals: Vec<Option<Value>>,
    pub(crate) writes: Vec<Cell>,
    pub instances: Vec<Instance>,
    /// References stored in shared locations during the run.
    pub(crate) stores: Vec<Value>,
    /// Objects that are not published yet.
    pub(crate) hidden: Vec<Value>,
}

/// A local's guessed value: the same in whatever order the sub-operations are executed.
#[derive(Clone)]
pub(crate) struct Guess {
    pub(crate) who: usize,
    pub(crate) local: LocalId,
    pub(crate) ty: Type,
    pub(crate) value: Value,
    /// What had been stored, in the first order, when it was guessed.
    pub(crate) after: Vec<Value>,
}

/// Who the variables of a condition belong to.
#[derive(Clone, Copy)]
pub struct Env<'a> {
    pub who: usize,
    pub peer: usize,
    pub bound: &'a [Value],
}

impl Env<'static> {
    pub fn of(who: usize) -> Env<'static> {
        Env { who, peer: 1 - who.min(1), bound: &[] }
    }
}

/// The decisions of one visit.
#[derive(Clone, Default)]
pub(crate) struct Script {
    choices: Vec<(u8, u8)>,
    at: usize,
}

impl Script {
    pub(crate) fn choose(&mut self, options: u8) -> u8 {
        if self.at == self.choices.len() {
            self.choices.push((0, options));
        }
        self.at += 1;
        self.choices[self.at - 1].0
    }

    /// The next visit's decisions; false if all were made.
    pub(crate) fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((choice, options)) = self.choices.pop() {
            if choice + 1 < options {
                self.choices.push((choice + 1, options));
                return true;
            }
        }
        false
    }
}

/// A statement (instance, prefix, position) and the object that it allocated.
pub(crate) type Allocation = ((usize, usize, usize), (StructId, Value));

#[derive(Clone)]
pub struct World<'c> {
    pub context: &'c Context<'c>,
    pub solver: Solver,
    pub(crate) script: Script,
    pub(crate) globals: Vec<Option<Value>>,
    pub(crate) cells: Vec<Cell>,
    pub(crate) start: Vec<Instance>,
    pub(crate) identities: Vec<Value>,
    pub(crate) places: Vec<Option<Value>>,
    pub(crate) guesses: Vec<Guess>,
    /// Which statement (instance, prefix, position) allocated what.
    pub(crate) allocations: Vec<Allocation>,
    /// `value` stands in no shared location before the run but these.
    pub(crate) reaches: Vec<(usize, Value, StructId, Vec<Place>)>,
    pub(crate) instantiated: Vec<(StructId, Value)>,
    /// Whether the state before the run is the one at the start: integers 0, references `NULL`, arrays as filled.
    pub(crate) beginning: bool,
    /// Whether a guess may still be chosen to fit (when asking whether a sub-operation is enabled at all).
    pub choosing: bool,
}

/// Too many cases: nothing is concluded.
#[derive(Debug)]
pub struct TooManyCases;

/// Visits every case of two instances (or one) that executed these prefixes, in a state that satisfies the stable facts.
pub fn explore<'c>(
    context: &'c Context<'c>,
    prefixes: &[usize],
    visit: &mut dyn FnMut(&mut World<'c>, &Memory) -> Run<bool>,
) -> Result<(), TooManyCases> {
    let mut script = Script::default();
    let mut entrance: Option<(World, Memory)> = None;
    for _ in 0..context.most_cases {
        if !context.count_case() {
            return Err(TooManyCases);
        }
        // The state in which the instances are found is the same until one of the decisions about it changes.
        let last = script.choices.len().saturating_sub(1);
        let (mut world, entered) = match &entrance {
            Some((known, memory)) if last >= known.script.at => {
                let mut world = known.clone();
                script.at = known.script.at;
                world.script = script;
                (world, Ok(memory.clone()))
            }
            _ => {
                let mut world = World::new(context, script);
                let entered = world.enter(prefixes);
                entrance = match &entered {
                    Ok(memory) => Some((world.clone(), memory.clone())),
                    Err(_) => None,
                };
                (world, entered)
            }
        };
        let outcome = entered.and_then(|memory| visit(&mut world, &memory));
        script = world.script;
        // INVARIANT: whoever requires something deals with it being blocked; if not, nothing is concluded.
        if outcome == Err(Stop::Blocked) {
            return Err(TooManyCases);
        }
        // `false`: what was asked is answered.
        if outcome == Ok(false) || !script.advance() {
            return Ok(());
        }
    }
    Err(TooManyCases)
}

/// Visits the cases of the state that `initially` leaves: one, but for what is not decided about it.
pub fn explore_start<'c>(
    context: &'c Context<'c>,
    visit: &mut dyn FnMut(&mut World<'c>, &Memory) -> Run<bool>,
) -> Result<(), TooManyCases> {
    let mut script = Script::default();
    for _ in 0..context.most_cases {
        let mut world = World::new(context, script);
        world.beginning = true;
        let outcome = world.begin().and_then(|memory| visit(&mut world, &memory));
        script = world.script;
        match outcome {
            Ok(true) | Err(Stop::Prune) => {}
            Ok(false) => return Ok(()),
            // `initially` does something that is not defined: nothing is concluded.
            Err(Stop::Blocked) => return Err(TooManyCases),
        }
        if !script.advance() {
            return Ok(());
        }
    }
    Err(TooManyCases)
}

impl<'c> World<'c> {
    pub(crate) fn new(context: &'c Context<'c>, script: Script) -> World<'c> {
        let mut solver = Solver::new();
        let places = context.model.globals.iter().map(|global| match global.kind {
            GlobalKind::Place(_) => {
                Some(solver.fresh_value(flag::UNIQUE | flag::PROPER | flag::OLD | flag::PUBLISHED))
            }
            _ => None,
        });
        let places = places.collect();
        World {
            context,
            solver,
            script,
            globals: vec![None; context.model.globals.len()],
            cells: Vec::new(),
            start: Vec::new(),
            identities: Vec::new(),
            places,
            guesses: Vec::new(),
            allocations: Vec::new(),
            reaches: Vec::new(),
            instantiated: Vec::new(),
            beginning: false,
            choosing: false,
        }
    }

    /// Instances that executed `prefixes`, in any state that satisfies the stable facts.
    pub(crate) fn enter(&mut self, prefixes: &[usize]) -> Run<Memory> {
        let context = self.context;
        for prefix in prefixes {
            let prefix_data = &context.prefixes.all[*prefix];
            let operation = &context.model.operations[prefix_data.operation.0];
            let identity = self.solver.fresh_value(flag::PROPER | flag::OLD);
            if context.uses_identity {
                for other in self.identities.clone() {
                    self.solver.assert_different(identity, other)?;
                }
                for constant in &context.constants {
                    self.solver.assert_different(identity, Value { plus: *constant, ..ZERO })?;
                }
            }
            self.identities.push(identity);
            let mut locals = Vec::with_capacity(operation.locals.len());
            for (at, set) in prefix_data.set.iter().enumerate() {
                let nature = context.natures.local(prefix_data.operation.0, LocalId(at));
                locals.push(if *set { Some(self.unknown(nature, flag::OLD)?) } else { None });
            }
            self.start.push(Instance {
                prefix: *prefix,
                locals,
                reads: vec![None; operation.reads],
                results: None,
            });
        }
        let memory = Memory {
            globals: vec![None; self.globals.len()],
            writes: Vec::new(),
            instances: self.start.clone(),
            stores: Vec::new(),
            hidden: Vec::new(),
        };
        self.ownership(memory, prefixes)
    }

    /// What `malloc` promises: objects of different allocations differ, and one that was never stored is in nobody else's variables.
    pub(crate) fn ownership(&mut self, mut memory: Memory, prefixes: &[usize]) -> Run<Memory> {
        let context = self.context;
        for (who, prefix) in prefixes.iter().enumerate() {
            let prefix_data = &context.prefixes.all[*prefix];
            for (local, of) in &prefix_data.owned {
                let Some(value) = self.start[who].locals[local.0] else { continue };
                self.solver.assert_proper(value)?;
                for (peer, other) in prefixes.iter().enumerate() {
                    for (at, mine) in &context.prefixes.all[*other].owned {
                        let same_local = peer == who && at == local;
                        // INVARIANT: an instance that allocates twice into different locals allocates different objects.
                        if mine == of
                            && !same_local
                            && let Some(theirs) = self.start[peer].locals[at.0]
                        {
                            self.solver.assert_different(value, theirs)?;
                        }
                    }
                }
            }
            for (local, of) in &prefix_data.private {
                let Some(value) = self.start[who].locals[local.0] else { continue };
                for (peer, prefix) in prefixes.iter().enumerate() {
                    let operation = context.prefixes.all[*prefix].operation;
                    for (at, variable) in
                        context.model.operations[operation.0].locals.iter().enumerate()
                    {
                        if variable.ty == Type::Ref(*of)
                            && (peer, at) != (who, local.0)
                            && let Some(other) = self.start[peer].locals[at]
                        {
                            self.solver.assert_different(value, other)?;
                        }
                    }
                }
                memory.hidden.push(value);
                self.reaches.push((who, value, *of, Vec::new()));
            }
            for Reach { local, of, places, .. } in context.facts.reaches(*prefix) {
                let Some(value) = self.start[who].locals[local.0] else { continue };
                self.reaches.push((who, value, *of, places.clone()));
            }
        }
        for (who, prefix) in prefixes.iter().enumerate() {
            self.assume_facts(&memory, who, *prefix)?;
        }
        self.assume_invariants(&memory)?;
        Ok(memory)
    }

    /// Assumes the stable facts of an instance in this state.
    pub fn assume_facts(&mut self, memory: &Memory, who: usize, prefix: usize) -> Run<()> {
        let context = self.context;
        for condition in context.facts.conditions(prefix) {
            self.assume(memory, Env::of(who), condition)?;
        }
        Ok(())
    }

    /// Assumes what holds because the instance will complete.
    pub fn assume_live(&mut self, memory: &Memory, who: usize, prefix: usize) -> Run<()> {
        let context = self.context;
        for condition in context.facts.live(prefix) {
            self.assume(memory, Env::of(who), condition)?;
        }
        Ok(())
    }

    /// Assumes the invariants without bound variables; the others are assumed for each object that comes up.
    pub fn assume_invariants(&mut self, memory: &Memory) -> Run<()> {
        let context = self.context;
        for condition in context.facts.invariants() {
            self.assume(memory, Env::of(0), condition)?;
        }
        Ok(())
    }

    pub fn choose(&mut self, options: usize) -> usize {
        self.script.choose(options.min(255) as u8) as usize
    }

    pub fn identity(&self, who: usize) -> Value {
        self.identities[who]
    }
}
