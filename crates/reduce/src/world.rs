//! Two operation instances in an arbitrary state, executed symbolically.
//!
//! The state before the run is not enumerated: a location gets an unknown value when it is first read, and whether two unknown
//! values are equal is decided when it first matters. Every decision is a branch; [`explore`] visits all of them, so each visit stands
//! for all states with one equality (and order) pattern of the terms that matter: one of the interactions of Section VI.
//!
//! A first order of execution is *assumed* to run ([`Mode::Assume`]: states in which it does not are left out), a second one is
//! *required* to ([`Mode::Require`]: it must run in every state of the pattern).

use linchpin_subop::model::{Condition, GlobalId, GlobalKind, LocalId, Place, Relation, Statement, StructId, SubOperation, Term, Type, Var};

use crate::context::Context;
use crate::facts::Reach;
use crate::footprint::Kind;
use crate::nature::Nature;
use crate::solver::{Contradiction, NULL, POISON, Solver, Value, ZERO, flag};

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
struct Cell {
    kind: Kind,
    base: Value,
    value: Value,
}

/// What one instance holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    pub prefix: usize,
    pub locals: Vec<Option<Value>>,
    reads: Vec<Option<Value>>,
    results: Option<Vec<Value>>,
}

/// A state: what was written since the start of the run, and the instances.
#[derive(Clone, Debug)]
pub struct Memory {
    globals: Vec<Option<Value>>,
    writes: Vec<Cell>,
    pub instances: Vec<Instance>,
    /// References stored in shared locations during the run.
    stores: Vec<Value>,
    /// Objects that are not published yet.
    hidden: Vec<Value>,
}

/// A local's guessed value: the same in whatever order the sub-operations are executed.
#[derive(Clone)]
struct Guess {
    who: usize,
    local: LocalId,
    ty: Type,
    value: Value,
    /// What had been stored, in the first order, when it was guessed.
    after: Vec<Value>,
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
#[derive(Default)]
struct Script {
    choices: Vec<(u8, u8)>,
    at: usize,
}

impl Script {
    fn choose(&mut self, options: u8) -> u8 {
        if self.at == self.choices.len() {
            self.choices.push((0, options));
        }
        self.at += 1;
        self.choices[self.at - 1].0
    }

    /// The next visit's decisions; false if all were made.
    fn advance(&mut self) -> bool {
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

pub struct World<'c> {
    pub context: &'c Context<'c>,
    pub solver: Solver,
    script: Script,
    globals: Vec<Option<Value>>,
    cells: Vec<Cell>,
    start: Vec<Instance>,
    identities: Vec<Value>,
    places: Vec<Option<Value>>,
    guesses: Vec<Guess>,
    allocations: Vec<((usize, usize, usize), (StructId, Value))>,
    /// `value` stands in no shared location before the run but these.
    reaches: Vec<(usize, Value, StructId, Vec<Place>)>,
    instantiated: Vec<(StructId, Value)>,
    /// Whether the state before the run is the one at the start: integers 0, references `NULL`, arrays as filled.
    beginning: bool,
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
    for _ in 0..context.most_cases {
        context.count_case();
        let mut world = World::new(context, script);
        let outcome = world.enter(prefixes).and_then(|memory| visit(&mut world, &memory));
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
    /// Executes `initially`.
    fn begin(&mut self) -> Run<Memory> {
        let initially = &self.context.model.initially;
        let locals = initially.locals.iter().map(|variable| Some(if variable.ty == Type::Int { ZERO } else { NULL }));
        let start = Instance { prefix: 0, locals: locals.collect(), reads: Vec::new(), results: None };
        self.start.push(start.clone());
        let identity = self.solver.fresh_value(flag::PROPER);
        self.identities.push(identity);
        let mut memory = Memory {
            globals: vec![None; self.globals.len()],
            writes: Vec::new(),
            instances: vec![start],
            stores: Vec::new(),
            hidden: Vec::new(),
        };
        self.statements(&mut memory, 0, usize::MAX, &initially.statements, Mode::Require)?;
        Ok(memory)
    }

    /// What a location holds at the start.
    fn default_of(&self, kind: Kind) -> Value {
        if let Kind::Array(array) = kind
            && let Some((_, fill)) = self.context.model.initially.fills.iter().rev().find(|(filled, _)| *filled == array)
        {
            return match fill {
                Term::Int(value) => Value { plus: *value, ..ZERO },
                _ => NULL,
            };
        }
        if self.context.type_of(kind) == Some(Type::Int) { ZERO } else { NULL }
    }

    /// The objects that exist at the start: those in place, and those that `initially` allocated.
    pub fn objects_at_start(&self, of: StructId) -> Vec<Value> {
        let in_place = self.context.model.globals.iter().zip(&self.places).filter_map(|(global, place)| {
            if global.kind == GlobalKind::Place(of) { *place } else { None }
        });
        let mut objects: Vec<Value> = in_place.collect();
        objects.extend(self.allocated(of));
        objects
    }

    /// The objects that the run allocated.
    pub fn allocated(&self, of: StructId) -> Vec<Value> {
        self.allocations.iter().filter(|(_, (known, _))| *known == of).map(|(_, (_, object))| *object).collect()
    }

    /// Any object that existed before the run.
    pub fn any_object(&mut self, of: StructId) -> Run<Value> {
        let object = self.solver.fresh_value(flag::OLD | flag::PROPER);
        self.instantiate(of, object)?;
        Ok(object)
    }

    fn new(context: &'c Context<'c>, script: Script) -> World<'c> {
        let mut solver = Solver::new();
        let places = context.model.globals.iter().map(|global| match global.kind {
            GlobalKind::Place(_) => Some(solver.fresh_value(flag::UNIQUE | flag::PROPER | flag::OLD | flag::PUBLISHED)),
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
    fn enter(&mut self, prefixes: &[usize]) -> Run<Memory> {
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
            self.start.push(Instance { prefix: *prefix, locals, reads: vec![None; operation.reads], results: None });
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
    fn ownership(&mut self, mut memory: Memory, prefixes: &[usize]) -> Run<Memory> {
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
                        if mine == of && !same_local && let Some(theirs) = self.start[peer].locals[at.0] {
                            self.solver.assert_different(value, theirs)?;
                        }
                    }
                }
            }
            for (local, of) in &prefix_data.private {
                let Some(value) = self.start[who].locals[local.0] else { continue };
                for peer in 0..prefixes.len() {
                    let operation = context.prefixes.all[prefixes[peer]].operation;
                    for (at, variable) in context.model.operations[operation.0].locals.iter().enumerate() {
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

    /// Decides whether two values are equal.
    pub fn equal(&mut self, left: Value, right: Value) -> Run<bool> {
        if let Some(known) = self.solver.same(left, right) {
            return Ok(known);
        }
        if self.choose(2) == 0 {
            self.solver.assert_same(left, right)?;
            Ok(true)
        } else {
            self.solver.assert_different(left, right)?;
            Ok(false)
        }
    }

    /// Decides whether a value is neither `NULL` nor poison.
    pub fn decide_proper(&mut self, value: Value) -> Run<bool> {
        if let Some(known) = self.solver.proper(value) {
            return Ok(known);
        }
        match self.choose(3) {
            0 => self.solver.assert_proper(value)?,
            1 => self.solver.assert_same(value, NULL)?,
            _ => self.solver.assert_same(value, POISON)?,
        }
        Ok(self.solver.proper(value) == Some(true))
    }

    fn unknown(&mut self, nature: Nature, flags: u8) -> Run<Value> {
        let proper = if nature.null || nature.poison { 0 } else { flag::PROPER };
        let value = self.solver.fresh_value(flags | proper);
        if proper == 0 {
            if !nature.poison {
                self.solver.assert_different(value, POISON)?;
            }
            if !nature.null {
                self.solver.assert_different(value, NULL)?;
            }
        }
        Ok(value)
    }

    /// The value of a global before the run.
    fn global_before(&mut self, global: GlobalId) -> Run<Value> {
        if let Some(place) = self.places[global.0] {
            return Ok(place);
        }
        if self.beginning {
            return Ok(self.default_of(Kind::Global(global)));
        }
        if let Some(value) = self.globals[global.0] {
            return Ok(value);
        }
        let value = self.unknown(self.context.natures.global(global), flag::OLD | flag::PUBLISHED)?;
        self.globals[global.0] = Some(value);
        self.constrain(Kind::Global(global), None, value)?;
        Ok(value)
    }

    /// The value of a field or element before the run.
    fn cell_before(&mut self, kind: Kind, base: Value) -> Run<Value> {
        if self.beginning {
            return Ok(self.default_of(kind));
        }
        for at in 0..self.cells.len() {
            if self.cells[at].kind == kind && self.equal(self.cells[at].base, base)? {
                return Ok(self.cells[at].value);
            }
        }
        let nature = match kind {
            Kind::Field(of, field) => self.context.natures.field(of, field),
            Kind::Array(array) => self.context.natures.array(array),
            Kind::Global(global) => self.context.natures.global(global),
            Kind::Published(_) => Nature { null: true, poison: true },
        };
        let value = self.unknown(nature, flag::OLD | flag::PUBLISHED)?;
        self.cells.push(Cell { kind, base, value });
        self.constrain(kind, Some(base), value)?;
        if let Kind::Field(of, _) = kind {
            self.instantiate(of, base)?;
        }
        Ok(value)
    }

    /// A location other than those that an object reaches does not hold it.
    fn constrain(&mut self, kind: Kind, base: Option<Value>, value: Value) -> Run<()> {
        for at in 0..self.reaches.len() {
            let (who, object, of, places) = self.reaches[at].clone();
            if self.context.type_of(kind) != Some(Type::Ref(of)) {
                continue;
            }
            let mut member = false;
            for place in &places {
                if member || crate::footprint::kind(place) != Some(kind) {
                    continue;
                }
                member = match (place, base) {
                    (Place::Variable(_), _) => true,
                    (Place::Field(var, ..), Some(base)) => match self.variable_before(who, *var)? {
                        Some(holder) => self.equal(holder, base)?,
                        None => false,
                    },
                    // An element may be any of the array's: nothing is learnt.
                    _ => true,
                };
            }
            if !member {
                self.solver.assert_different(value, object)?;
            }
        }
        Ok(())
    }

    fn variable_before(&mut self, who: usize, var: Var) -> Run<Option<Value>> {
        match var {
            Var::Local(local) => Ok(self.start[who].locals[local.0]),
            Var::Global(global) => self.global_before(global).map(Some),
            Var::Peer(_) | Var::Bound(_) => Ok(None),
        }
    }

    /// Assumes the invariants about all objects, for this one.
    fn instantiate(&mut self, of: StructId, object: Value) -> Run<()> {
        if self.instantiated.iter().any(|(known, value)| *known == of && self.solver.same(*value, object) == Some(true)) {
            return Ok(());
        }
        self.instantiated.push((of, object));
        if self.solver.has(object, flag::FRESH) {
            return Ok(());
        }
        let context = self.context;
        let before = Memory {
            globals: vec![None; self.globals.len()],
            writes: Vec::new(),
            instances: self.start.clone(),
            stores: Vec::new(),
            hidden: Vec::new(),
        };
        for (structs, condition) in context.facts.quantified() {
            if **structs != [of] {
                continue;
            }
            self.assume(&before, Env { who: 0, peer: 1, bound: &[object] }, condition)?;
        }
        Ok(())
    }

    pub fn global(&mut self, memory: &Memory, global: GlobalId) -> Run<Value> {
        match memory.globals[global.0] {
            Some(value) => Ok(value),
            None => self.global_before(global),
        }
    }

    fn cell(&mut self, memory: &Memory, kind: Kind, base: Value) -> Run<Value> {
        for cell in memory.writes.iter().rev() {
            if cell.kind == kind && self.equal(cell.base, base)? {
                return Ok(cell.value);
            }
        }
        self.cell_before(kind, base)
    }

    pub fn variable(&mut self, memory: &Memory, env: Env, var: Var) -> Run<Option<Value>> {
        match var {
            Var::Global(global) => self.global(memory, global).map(Some),
            Var::Local(local) => Ok(memory.instances.get(env.who).and_then(|instance| instance.locals[local.0])),
            Var::Peer(local) => Ok(memory.instances.get(env.peer).and_then(|instance| instance.locals[local.0])),
            Var::Bound(at) => Ok(env.bound.get(at).copied()),
        }
    }

    /// Where a place is: its kind and, but for variables, its base. `None` if it is not defined.
    pub fn locate(&mut self, memory: &Memory, env: Env, place: &Place, mode: Mode) -> Run<Option<(Kind, Value)>> {
        use linchpin_subop::model::Index;
        let (kind, base) = match place {
            Place::Variable(_) => return Ok(None),
            Place::Field(var, of, field) => (Kind::Field(*of, *field), self.variable(memory, env, *var)?),
            Place::Element(array, Index::Int(at)) => (Kind::Array(*array), Some(Value { plus: *at, ..ZERO })),
            Place::Element(array, Index::Variable(var)) => (Kind::Array(*array), self.variable(memory, env, *var)?),
            Place::Element(array, Index::Plus(var, plus)) => {
                let base = self.variable(memory, env, *var)?;
                (Kind::Array(*array), base.map(|base| Value { plus: base.plus + plus, ..base }))
            }
        };
        let Some(base) = base else { return Ok(None) };
        let unshifted = match place {
            Place::Element(_, Index::Plus(_, plus)) => Value { plus: base.plus - plus, ..base },
            _ => base,
        };
        Ok(self.is_proper(unshifted, mode)?.then_some((kind, base)))
    }

    /// Whether a value is proper; assumed if that is what is wanted.
    fn is_proper(&mut self, value: Value, mode: Mode) -> Run<bool> {
        match (mode, self.solver.proper(value)) {
            (_, Some(known)) => Ok(known),
            (Mode::Assume, None) => {
                self.solver.assert_proper(value)?;
                Ok(true)
            }
            (Mode::Require, None) => Ok(false),
        }
    }

    /// The value of a place; `None` if it is not defined (or, when required, may not be).
    pub fn place(&mut self, memory: &Memory, env: Env, place: &Place, mode: Mode) -> Run<Option<Value>> {
        if let Place::Variable(var) = place {
            return self.variable(memory, env, *var);
        }
        match self.locate(memory, env, place, mode)? {
            Some((kind, base)) => self.cell(memory, kind, base).map(Some),
            None => Ok(None),
        }
    }

    fn run_guess(&mut self, memory: &Memory, who: usize, local: LocalId) -> Run<Value> {
        let operation = self.context.prefixes.all[memory.instances[who].prefix].operation;
        let ty = self.context.model.operations[operation.0].locals[local.0].ty;
        if let Some(at) = self.guesses.iter().position(|guess| guess.who == who && guess.local == local) {
            let value = self.guesses[at].value;
            for stored in self.guesses[at].after.clone() {
                // Published before the run, or again: then it could be guessed then, too.
                if self.solver.has(value, flag::PUBLISHED)
                    || self.solver.has(stored, flag::PUBLISHED)
                    || memory.stores.iter().any(|store| self.solver.same(*store, stored) == Some(true))
                {
                    continue;
                }
                if self.equal(value, stored)? {
                    return Err(Stop::Blocked);
                }
            }
            return Ok(value);
        }
        let nature = Nature { null: true, poison: false };
        // If nothing was published since the run began, what is guessed was published before.
        let is_reference = ty != Type::Int;
        let published = is_reference && memory.stores.iter().all(|stored| self.solver.has(*stored, flag::PUBLISHED));
        let value = self.unknown(nature, if published { flag::PUBLISHED | flag::OLD } else { 0 })?;
        let mut after = Vec::new();
        if is_reference {
            for hidden in &memory.hidden {
                self.solver.assert_different(value, *hidden)?;
            }
            after = memory.stores.clone();
        }
        self.guesses.push(Guess { who, local, ty, value, after });
        Ok(value)
    }

    /// Executes the last sub-operation of `prefix` by the instance, which executed all others of it.
    pub fn execute(&mut self, memory: &mut Memory, who: usize, prefix: usize, mode: Mode) -> Run<()> {
        let context = self.context;
        let Some(step) = context.prefixes.last(prefix) else { return Ok(()) };
        for local in context.prefixes.all[prefix].read_first.iter().copied() {
            if memory.instances[who].locals[local.0].is_none() {
                let value = self.run_guess(memory, who, local)?;
                memory.instances[who].locals[local.0] = Some(value);
            }
        }
        let env = Env::of(who);
        match mode {
            Mode::Assume => self.assume(memory, env, &step.precondition)?,
            Mode::Require => {
                if !self.require(memory, env, &step.precondition)? {
                    return Err(Stop::Blocked);
                }
            }
        }
        self.body(memory, who, prefix, step, mode)?;
        memory.instances[who].prefix = prefix;
        Ok(())
    }

    /// Executes all sub-operations of a prefix by an instance at its start.
    pub fn execute_all(&mut self, memory: &mut Memory, who: usize, prefix: usize, mode: Mode) -> Run<()> {
        for at in self.context.path(prefix) {
            self.execute(memory, who, at, mode)?;
        }
        Ok(())
    }

    fn body(&mut self, memory: &mut Memory, who: usize, prefix: usize, step: &SubOperation, mode: Mode) -> Run<()> {
        self.statements(memory, who, prefix, &step.body, mode)?;
        let undefined = if mode == Mode::Assume { Stop::Prune } else { Stop::Blocked };
        if let Some(terms) = &step.result {
            let mut results = Vec::with_capacity(terms.len());
            for term in terms {
                results.push(self.term(memory, Env::of(who), term, mode)?.ok_or(undefined)?);
            }
            memory.instances[who].results = Some(results);
        }
        Ok(())
    }

    /// Executes statements; `prefix` tells their allocations apart from those of others.
    fn statements(&mut self, memory: &mut Memory, who: usize, prefix: usize, statements: &[Statement], mode: Mode) -> Run<()> {
        let undefined = if mode == Mode::Assume { Stop::Prune } else { Stop::Blocked };
        let env = Env::of(who);
        for (at, statement) in statements.iter().enumerate() {
            match statement {
                Statement::Assign { place, value, .. } => {
                    let value = self.term(memory, env, value, mode)?.ok_or(undefined)?;
                    self.assign(memory, who, place, value, mode)?;
                }
                Statement::Malloc { var, of, .. } => {
                    let object = self.allocate(memory, *of, (who, prefix, at), mode)?;
                    for (field, variable) in self.context.model.structs[of.0].fields.iter().enumerate() {
                        let value = if variable.ty == Type::Int { ZERO } else { NULL };
                        let kind = Kind::Field(*of, linchpin_subop::model::FieldId(field));
                        memory.writes.push(Cell { kind, base: object, value });
                    }
                    self.assign(memory, who, &Place::Variable(*var), object, mode)?;
                }
                Statement::Free { var, of, .. } => {
                    let object = self.variable(memory, env, *var)?.ok_or(undefined)?;
                    if !self.is_proper(object, mode)? {
                        return Err(undefined);
                    }
                    for field in 0..self.context.model.structs[of.0].fields.len() {
                        let kind = Kind::Field(*of, linchpin_subop::model::FieldId(field));
                        memory.writes.push(Cell { kind, base: object, value: POISON });
                    }
                }
                Statement::Read { place, slot, .. } => {
                    let value = self.place(memory, env, place, mode)?.ok_or(undefined)?;
                    memory.instances[who].reads[*slot] = Some(value);
                }
            }
        }
        Ok(())
    }

    fn allocate(&mut self, memory: &mut Memory, of: StructId, site: (usize, usize, usize), mode: Mode) -> Run<Value> {
        let known = self.allocations.iter().find(|(known, _)| *known == site).map(|(_, (_, object))| *object);
        let guessed: Vec<Value> = self
            .guesses
            .iter()
            .filter(|guess| memory.instances[guess.who].locals[guess.local.0].is_some())
            .map(|guess| guess.value)
            .collect();
        let object = match known {
            Some(object) => {
                for value in guessed {
                    if self.equal(value, object)? {
                        return Err(if mode == Mode::Assume { Stop::Prune } else { Stop::Blocked });
                    }
                }
                object
            }
            None => {
                let object = self.solver.fresh_value(flag::UNIQUE | flag::FRESH | flag::PROPER);
                for value in guessed {
                    self.solver.assert_different(value, object)?;
                }
                self.allocations.push((site, (of, object)));
                object
            }
        };
        memory.hidden.push(object);
        Ok(object)
    }

    fn assign(&mut self, memory: &mut Memory, who: usize, place: &Place, value: Value, mode: Mode) -> Run<()> {
        match place {
            Place::Variable(Var::Local(local)) => memory.instances[who].locals[local.0] = Some(value),
            Place::Variable(Var::Global(global)) => {
                memory.globals[global.0] = Some(value);
                self.publish(memory, Kind::Global(*global), value);
            }
            Place::Variable(Var::Peer(_) | Var::Bound(_)) => {}
            Place::Field(..) | Place::Element(..) => {
                let undefined = if mode == Mode::Assume { Stop::Prune } else { Stop::Blocked };
                let (kind, base) = self.locate(memory, Env::of(who), place, mode)?.ok_or(undefined)?;
                memory.writes.push(Cell { kind, base, value });
                self.publish(memory, kind, value);
            }
        }
        Ok(())
    }

    fn publish(&mut self, memory: &mut Memory, kind: Kind, value: Value) {
        if self.context.type_of(kind) == Some(Type::Int) {
            return;
        }
        memory.stores.push(value);
        memory.hidden.retain(|hidden| self.solver.same(*hidden, value) == Some(false));
    }

    /// Whether the guess among the two may be chosen to be the other: nothing else is known of it, and the other can be guessed.
    pub fn may_choose(&self, guess: Value, other: Value) -> bool {
        let root = self.solver.find(guess);
        let Some(found) = self.guesses.iter().find(|known| known.value == guess) else { return false };
        let alone = (0..self.solver.len())
            .filter(|var| self.solver.find(Value { var: *var as u16, plus: 0 }).var == root.var)
            .count();
        let possible = match found.ty {
            Type::Int => self.solver.same(other, POISON) == Some(false),
            Type::Ref(_) => {
                self.solver.same(other, NULL) == Some(true)
                    || (self.solver.has(other, flag::PUBLISHED) && self.solver.same(other, POISON) == Some(false))
            }
        };
        alone == 1 && possible
    }

    pub fn identity(&self, who: usize) -> Value {
        self.identities[who]
    }

    /// Tries something; if it is blocked, what it found out is forgotten.
    pub fn attempt(&mut self, memory: &Memory, what: impl FnOnce(&mut Self, &mut Memory) -> Run<()>) -> Run<bool> {
        let saved = (
            self.solver.clone(),
            self.globals.clone(),
            self.cells.clone(),
            self.guesses.clone(),
            self.allocations.clone(),
            self.instantiated.clone(),
        );
        let mut memory = memory.clone();
        match what(self, &mut memory) {
            Ok(()) => Ok(true),
            Err(Stop::Prune) => Err(Stop::Prune),
            Err(Stop::Blocked) => {
                (self.solver, self.globals, self.cells, self.guesses, self.allocations, self.instantiated) = saved;
                Ok(false)
            }
        }
    }

    /// Whether two states are known to be the same, as far as it matters what each instance holds.
    pub fn same_state(&mut self, one: &Memory, other: &Memory, matters: [Matters; 2]) -> Run<bool> {
        for global in 0..one.globals.len() {
            if one.globals[global].is_none() && other.globals[global].is_none() {
                continue;
            }
            let (left, right) = (self.global(one, GlobalId(global))?, self.global(other, GlobalId(global))?);
            if self.solver.same(left, right) != Some(true) {
                return Ok(false);
            }
        }
        for cell in one.writes.iter().chain(&other.writes) {
            let (left, right) = (self.cell(one, cell.kind, cell.base)?, self.cell(other, cell.kind, cell.base)?);
            if self.solver.same(left, right) != Some(true) {
                return Ok(false);
            }
        }
        let both = |a: Option<Value>, b: Option<Value>| match (a, b) {
            (Some(a), Some(b)) => self.solver.same(a, b) == Some(true),
            (None, None) => true,
            _ => false,
        };
        for (who, matters) in matters.into_iter().enumerate().take(one.instances.len()) {
            let (left, right) = (&one.instances[who], &other.instances[who]);
            let same_results = match (&left.results, &right.results) {
                (Some(left), Some(right)) => {
                    left.len() == right.len() && left.iter().zip(right).all(|(a, b)| both(Some(*a), Some(*b)))
                }
                (None, None) => true,
                _ => false,
            };
            let same = match matters {
                Matters::Nothing => true,
                Matters::Results if left.results.is_some() => same_results,
                Matters::Results | Matters::Everything => {
                    left.locals.iter().zip(&right.locals).all(|(a, b)| both(*a, *b))
                        && left.reads.iter().zip(&right.reads).all(|(a, b)| both(*a, *b))
                        && same_results
                }
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Every location written so far with a reference to such an object, and the object.
    pub fn written_references(&self, memory: &Memory, of: StructId) -> Vec<(Kind, Option<Value>, Value)> {
        let ty = Some(Type::Ref(of));
        let mut written: Vec<(Kind, Option<Value>, Value)> = Vec::new();
        for (global, value) in memory.globals.iter().enumerate() {
            if let Some(value) = value {
                written.push((Kind::Global(GlobalId(global)), None, *value));
            }
        }
        for (at, cell) in memory.writes.iter().enumerate() {
            let overwritten = memory.writes[at + 1..]
                .iter()
                .any(|later| later.kind == cell.kind && self.solver.same(later.base, cell.base) == Some(true));
            if !overwritten {
                written.push((cell.kind, Some(cell.base), cell.value));
            }
        }
        written.retain(|(kind, ..)| self.context.type_of(*kind) == ty);
        written
    }

    /// Assumes a condition.
    pub fn assume(&mut self, memory: &Memory, env: Env, condition: &Condition) -> Run<()> {
        match condition {
            Condition::All(parts) => parts.iter().try_for_each(|part| self.assume(memory, env, part)),
            Condition::Any(parts) => {
                if parts.is_empty() {
                    return Err(Stop::Prune);
                }
                let at = self.choose(parts.len());
                self.assume(memory, env, &parts[at])
            }
            Condition::Atom(atom) => self.assume_atom(memory, env, atom.left, atom.relation, atom.right),
        }
    }

    /// Whether a condition is known to hold. Disjunctions are decided by cases.
    pub fn require(&mut self, memory: &Memory, env: Env, condition: &Condition) -> Run<bool> {
        match condition {
            Condition::All(parts) => {
                // Equalities first: they choose the guesses.
                let equality = |part: &&Condition| {
                    matches!(part, Condition::Atom(atom) if atom.relation == Relation::Equal)
                };
                for part in parts.iter().filter(equality).chain(parts.iter().filter(|part| !equality(part))) {
                    if !self.require(memory, env, part)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Condition::Any(parts) => {
                for part in parts {
                    if self.decide(memory, env, part)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Condition::Atom(atom) => self.require_atom(memory, env, atom.left, atom.relation, atom.right),
        }
    }

    /// Decides whether a condition holds, by cases.
    pub fn decide(&mut self, memory: &Memory, env: Env, condition: &Condition) -> Run<bool> {
        match condition {
            Condition::All(parts) => {
                for part in parts {
                    if !self.decide(memory, env, part)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Condition::Any(parts) => {
                for part in parts {
                    if self.decide(memory, env, part)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Condition::Atom(atom) => self.decide_atom(memory, env, atom.left, atom.relation, atom.right),
        }
    }
}
