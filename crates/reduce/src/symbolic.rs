//! Two operation instances in an arbitrary state, executed symbolically.
//!
//! The state before the run is not enumerated: a location gets an unknown value when it is first
//! read, and whether two unknown values are equal is decided when it first matters. Every decision
//! is a branch; `search` visits all of them, so each visit stands for all states with one equality
//! (and order) pattern of the terms that matter: one of the interactions of Section VI.
//!
//! A first order of execution is *assumed* to run ([`Mode::Assume`]: states in which it does not
//! are left out), a second one is *required* to ([`Mode::Require`]: it must run in every state of
//! the pattern).

use std::rc::Rc;

use smallvec::{SmallVec, smallvec};

use linchpin_subop::model::{GlobalKind, LocalId, Place, StructId, Type};

use crate::context::Context;
use crate::facts::Reach;
use crate::footprint::Kind;
use crate::script::Script;
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
    pub locals: SmallVec<[Option<Value>; 4]>,
    pub(crate) reads: SmallVec<[Option<Value>; 2]>,
    pub(crate) results: Option<Vec<Value>>,
}

/// A state: what was written since the start of the run, and the instances.
#[derive(Clone, Debug)]
pub struct Memory {
    pub(crate) globals: SmallVec<[Option<Value>; 4]>,
    pub(crate) writes: Vec<Cell>,
    pub instances: SmallVec<[Instance; 2]>,
    /// References stored in shared locations during the run.
    pub(crate) stores: SmallVec<[Value; 4]>,
    /// Objects that are not published yet.
    pub(crate) hidden: SmallVec<[Value; 4]>,
}

/// A local's guessed value: the same in whatever order the sub-operations are executed.
#[derive(Clone)]
pub(crate) struct Guess {
    pub(crate) who: usize,
    pub(crate) local: LocalId,
    pub(crate) ty: Type,
    pub(crate) value: Value,
    /// What had been stored, in the first order, when it was guessed.
    pub(crate) after: SmallVec<[Value; 4]>,
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

/// A statement (instance, prefix, position) and the object that it allocated.
pub(crate) type Allocation = ((usize, usize, usize), (StructId, Value));

/// What is given before the run and does not change with what is decided.
#[derive(Clone)]
pub(crate) struct Given {
    /// The state in which the instances are found.
    pub(crate) before: Memory,
    pub(crate) identities: Vec<Value>,
    pub(crate) places: Vec<Option<Value>>,
    /// What stands in no shared location before the run but these.
    pub(crate) reaches: Vec<Reached>,
}

/// The object of an instance that stands in no shared location before the run but these places.
#[derive(Clone)]
pub(crate) struct Reached {
    pub(crate) who: usize,
    pub(crate) object: Value,
    pub(crate) of: StructId,
    pub(crate) places: Vec<Place>,
}

#[derive(Clone)]
pub struct Symbolic<'c> {
    pub context: &'c Context<'c>,
    pub solver: Solver,
    pub(crate) script: Script,
    pub(crate) globals: SmallVec<[Option<Value>; 4]>,
    pub(crate) cells: Vec<Cell>,
    pub(crate) given: Rc<Given>,
    pub(crate) guesses: Vec<Guess>,
    /// Which statement (instance, prefix, position) allocated what.
    pub(crate) allocations: Vec<Allocation>,
    pub(crate) instantiated: SmallVec<[(StructId, Value); 4]>,
    /// Pairs of objects that the invariants about two objects were assumed for.
    pub(crate) paired: Vec<(Value, Value)>,
    /// Whether the state before the run is the one at the start: integers 0, references `NULL`,
    /// arrays as filled.
    pub(crate) beginning: bool,
    /// Whether a guess may still be chosen to fit (when asking whether a sub-operation is enabled
    /// at all).
    pub choosing: bool,
}

impl<'c> Symbolic<'c> {
    pub(crate) fn new(context: &'c Context<'c>) -> Symbolic<'c> {
        let mut solver = Solver::new();
        let places = context.model.globals.iter().map(|global| match global.kind {
            GlobalKind::Place(_) => {
                Some(solver.fresh_value(flag::UNIQUE | flag::PROPER | flag::OLD | flag::PUBLISHED))
            }
            _ => None,
        });
        let places = places.collect();
        let globals: SmallVec<_> = smallvec![None; context.model.globals.len()];
        let before = Memory {
            globals: globals.clone(),
            writes: Vec::new(),
            instances: SmallVec::new(),
            stores: SmallVec::new(),
            hidden: SmallVec::new(),
        };
        let given = Given { before, identities: Vec::new(), places, reaches: Vec::new() };
        Symbolic {
            context,
            solver,
            script: Script::default(),
            globals,
            cells: Vec::new(),
            given: Rc::new(given),
            guesses: Vec::new(),
            allocations: Vec::new(),
            instantiated: SmallVec::new(),
            paired: Vec::new(),
            beginning: false,
            choosing: false,
        }
    }

    /// Instances that executed `prefixes`, in any state; what the stable facts say of it is yet to
    /// be assumed.
    pub(crate) fn enter(&mut self, prefixes: &[usize]) -> Run<()> {
        let context = self.context;
        let mut given = (*self.given).clone();
        for prefix in prefixes {
            let prefix_data = &context.prefixes.all[*prefix];
            let operation = &context.model.operations[prefix_data.operation.0];
            let identity = self.solver.fresh_value(flag::PROPER | flag::OLD);
            if context.uses_identity {
                for other in &given.identities {
                    self.solver.assert_different(identity, *other)?;
                }
                for constant in &context.constants {
                    self.solver.assert_different(identity, Value { plus: *constant, ..ZERO })?;
                }
            }
            given.identities.push(identity);
            let mut locals = SmallVec::with_capacity(operation.locals.len());
            for (at, set) in prefix_data.set.iter().enumerate() {
                let nature = context.natures.local(prefix_data.operation.0, LocalId(at));
                locals.push(if *set { Some(self.unknown(nature, flag::OLD)?) } else { None });
            }
            given.before.instances.push(Instance {
                prefix: *prefix,
                locals,
                reads: smallvec![None; operation.reads],
                results: None,
            });
        }
        self.ownership(&mut given, prefixes)?;
        self.given = Rc::new(given);
        Ok(())
    }

    /// What `malloc` promises: objects of different allocations differ, and one that was never
    /// stored is in no variable of another instance.
    fn ownership(&mut self, given: &mut Given, prefixes: &[usize]) -> Run<()> {
        let context = self.context;
        let Given { before, reaches, .. } = given;
        let local = |who: usize, local: usize| before.instances[who].locals[local];
        for (who, prefix) in prefixes.iter().enumerate() {
            let prefix_data = &context.prefixes.all[*prefix];
            for (owned, of) in &prefix_data.owned {
                let Some(value) = local(who, owned.0) else { continue };
                self.solver.assert_proper(value)?;
                for (peer, other) in prefixes.iter().enumerate() {
                    for (at, mine) in &context.prefixes.all[*other].owned {
                        let same_local = peer == who && at == owned;
                        // INVARIANT: an instance that allocates twice into different locals
                        // allocates different objects.
                        if mine == of
                            && !same_local
                            && let Some(theirs) = local(peer, at.0)
                        {
                            self.solver.assert_different(value, theirs)?;
                        }
                    }
                }
            }
            for (private, of) in &prefix_data.private {
                let Some(value) = local(who, private.0) else { continue };
                for (peer, prefix) in prefixes.iter().enumerate() {
                    let operation = context.prefixes.all[*prefix].operation;
                    for (at, variable) in
                        context.model.operations[operation.0].locals.iter().enumerate()
                    {
                        if variable.ty == Type::Ref(*of)
                            && (peer, at) != (who, private.0)
                            && let Some(other) = local(peer, at)
                        {
                            self.solver.assert_different(value, other)?;
                        }
                    }
                }
                reaches.push(Reached { who, object: value, of: *of, places: Vec::new() });
            }
            for Reach { local: stored, of, places } in context.facts.reaches(*prefix) {
                let Some(object) = local(who, stored.0) else { continue };
                reaches.push(Reached { who, object, of: *of, places: places.clone() });
            }
        }
        before.hidden = prefixes
            .iter()
            .enumerate()
            .flat_map(|(who, prefix)| {
                let private = &context.prefixes.all[*prefix].private;
                private.iter().filter_map(move |(private, _)| local(who, private.0))
            })
            .collect();
        Ok(())
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

    /// Assumes the invariants without bound variables; the others are assumed for each object that
    /// comes up.
    pub fn assume_invariants(&mut self, memory: &Memory) -> Run<()> {
        let context = self.context;
        for condition in context.facts.invariants() {
            self.assume(memory, Env::of(0), condition)?;
        }
        Ok(())
    }

    pub fn choose(&mut self, options: usize) -> usize {
        self.script.choose(options as u32) as usize
    }

    pub fn identity(&self, who: usize) -> Value {
        self.given.identities[who]
    }
}
