//! Executing sub-operations, and comparing the states that they lead to.

use std::rc::Rc;

use smallvec::SmallVec;

use linchpin_subop::model::{
    FieldId, GlobalId, LocalId, Place, Statement, StructId, SubOperation, Type, Var,
};

use crate::footprint::Kind;
use crate::nature::Nature;
use crate::solver::{NULL, POISON, Value, ZERO, flag};
use crate::symbolic::{Cell, Env, Guess, Instance, Matters, Memory, Mode, Run, Stop, Symbolic};

impl<'c> Symbolic<'c> {
    /// Executes `initially`.
    pub(crate) fn begin(&mut self) -> Run<Memory> {
        let initially = &self.context.model.initially;
        let locals = initially
            .locals
            .iter()
            .map(|variable| Some(if variable.ty == Type::Int { ZERO } else { NULL }));
        let start =
            Instance { prefix: 0, locals: locals.collect(), reads: SmallVec::new(), results: None };
        let mut given = (*self.given).clone();
        given.before.instances.push(start);
        given.identities.push(self.solver.fresh_value(flag::PROPER));
        let mut memory = given.before.clone();
        self.given = Rc::new(given);
        self.statements(&mut memory, 0, usize::MAX, &initially.statements, Mode::Require)?;
        Ok(memory)
    }

    pub(crate) fn run_guess(&mut self, memory: &Memory, who: usize, local: LocalId) -> Run<Value> {
        let operation = self.context.prefixes.all[memory.instances[who].prefix].operation;
        let ty = self.context.model.operations[operation.0].locals[local.0].ty;
        if let Some(at) =
            self.guesses.iter().position(|guess| guess.who == who && guess.local == local)
        {
            let value = self.guesses[at].value;
            for stored in self.guesses[at].after.clone() {
                // Published before the run, or again: then it could be guessed then, too.
                if self.solver.has(value, flag::PUBLISHED)
                    || self.solver.has(stored, flag::PUBLISHED)
                    || memory
                        .stores
                        .iter()
                        .any(|store| self.solver.same(*store, stored) == Some(true))
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
        let published = is_reference
            && memory.stores.iter().all(|stored| self.solver.has(*stored, flag::PUBLISHED));
        let value =
            self.unknown(nature, if published { flag::PUBLISHED | flag::OLD } else { 0 })?;
        let mut after = SmallVec::new();
        if is_reference {
            for hidden in &memory.hidden {
                self.solver.assert_different(value, *hidden)?;
            }
            after = memory.stores.clone();
        }
        self.guesses.push(Guess { who, local, ty, value, after });
        Ok(value)
    }

    /// Executes the last sub-operation of `prefix` by the instance, which executed all others of
    /// it.
    pub fn execute(
        &mut self,
        memory: &mut Memory,
        who: usize,
        prefix: usize,
        mode: Mode,
    ) -> Run<()> {
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
    pub fn execute_all(
        &mut self,
        memory: &mut Memory,
        who: usize,
        prefix: usize,
        mode: Mode,
    ) -> Run<()> {
        for at in self.context.path(prefix) {
            self.execute(memory, who, at, mode)?;
        }
        Ok(())
    }

    pub(crate) fn body(
        &mut self,
        memory: &mut Memory,
        who: usize,
        prefix: usize,
        step: &SubOperation,
        mode: Mode,
    ) -> Run<()> {
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
    pub(crate) fn statements(
        &mut self,
        memory: &mut Memory,
        who: usize,
        prefix: usize,
        statements: &[Statement],
        mode: Mode,
    ) -> Run<()> {
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
                    for (field, variable) in
                        self.context.model.structs[of.0].fields.iter().enumerate()
                    {
                        let value = if variable.ty == Type::Int { ZERO } else { NULL };
                        let kind = Kind::Field(*of, FieldId(field));
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
                        let kind = Kind::Field(*of, FieldId(field));
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

    pub(crate) fn allocate(
        &mut self,
        memory: &mut Memory,
        of: StructId,
        site: (usize, usize, usize),
        mode: Mode,
    ) -> Run<Value> {
        let known = self
            .allocations
            .iter()
            .find(|(known, _)| *known == site)
            .map(|(_, (_, object))| *object);
        let guessed: Vec<Value> = self
            .guesses
            .iter()
            .filter(|guess| guess.ty == Type::Ref(of))
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

    pub(crate) fn assign(
        &mut self,
        memory: &mut Memory,
        who: usize,
        place: &Place,
        value: Value,
        mode: Mode,
    ) -> Run<()> {
        match place {
            Place::Variable(Var::Local(local)) => {
                memory.instances[who].locals[local.0] = Some(value)
            }
            Place::Variable(Var::Global(global)) => {
                memory.globals[global.0] = Some(value);
                self.publish(memory, Kind::Global(*global), value);
            }
            Place::Variable(Var::Peer(_) | Var::Bound(_)) => {}
            Place::Field(..) | Place::Element(..) => {
                let undefined = if mode == Mode::Assume { Stop::Prune } else { Stop::Blocked };
                let (kind, base) =
                    self.locate(memory, Env::of(who), place, mode)?.ok_or(undefined)?;
                memory.writes.push(Cell { kind, base, value });
                self.publish(memory, kind, value);
            }
        }
        Ok(())
    }

    pub(crate) fn publish(&mut self, memory: &mut Memory, kind: Kind, value: Value) {
        if self.context.type_of(kind) == Some(Type::Int) {
            return;
        }
        memory.stores.push(value);
        memory.hidden.retain(|hidden| self.solver.same(*hidden, value) == Some(false));
    }

    /// Whether the guess among the two may be chosen to be the other: nothing else is known of it,
    /// and the other can be guessed.
    pub fn may_choose(&self, guess: Value, other: Value) -> bool {
        let root = self.solver.find(guess);
        let Some(found) = self.guesses.iter().find(|known| known.value == guess) else {
            return false;
        };
        let alone = (0..self.solver.len())
            .filter(|var| self.solver.find(Value { var: *var as u16, plus: 0 }).var == root.var)
            .count();
        let possible = match found.ty {
            Type::Int => self.solver.same(other, POISON) == Some(false),
            Type::Ref(_) => {
                self.solver.same(other, NULL) == Some(true)
                    || (self.solver.has(other, flag::PUBLISHED)
                        && self.solver.same(other, POISON) == Some(false))
            }
        };
        alone == 1 && possible
    }

    /// Tries something; if it is blocked, what it found out is forgotten.
    pub fn attempt(
        &mut self,
        memory: &Memory,
        what: impl FnOnce(&mut Self, &mut Memory) -> Run<()>,
    ) -> Run<bool> {
        let saved = (
            self.solver.clone(),
            self.globals.clone(),
            self.cells.clone(),
            self.guesses.clone(),
            self.allocations.clone(),
            self.instantiated.clone(),
            self.paired.clone(),
        );
        let mut memory = memory.clone();
        match what(self, &mut memory) {
            Ok(()) => Ok(true),
            Err(Stop::Prune) => Err(Stop::Prune),
            Err(Stop::Blocked) => {
                (
                    self.solver,
                    self.globals,
                    self.cells,
                    self.guesses,
                    self.allocations,
                    self.instantiated,
                    self.paired,
                ) = saved;
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
            let (left, right) =
                (self.global(one, GlobalId(global))?, self.global(other, GlobalId(global))?);
            if self.solver.same(left, right) != Some(true) {
                return Ok(false);
            }
        }
        for cell in one.writes.iter().chain(&other.writes) {
            let (left, right) =
                (self.cell(one, cell.kind, cell.base)?, self.cell(other, cell.kind, cell.base)?);
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
                    left.len() == right.len()
                        && left.iter().zip(right).all(|(a, b)| both(Some(*a), Some(*b)))
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
}
