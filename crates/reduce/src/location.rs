//! Shared locations: what they held before the run, and what they hold now.

use linchpin_subop::model::{GlobalId, GlobalKind, Index, Place, StructId, Term, Type, Var};

use crate::footprint::Kind;
use crate::nature::Nature;
use crate::solver::{NULL, POISON, Value, ZERO, flag};
use crate::symbolic::{Cell, Env, Memory, Mode, Reached, Run, Symbolic};

impl<'c> Symbolic<'c> {
    /// What a location holds at the start.
    pub(crate) fn default_of(&self, kind: Kind) -> Value {
        if let Kind::Array(array) = kind
            && let Some((_, fill)) =
                self.context.model.initially.fills.iter().rev().find(|(filled, _)| *filled == array)
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
        let in_place = self.context.model.globals.iter().zip(&self.given.places).filter_map(
            |(global, place)| {
                if global.kind == GlobalKind::Place(of) { *place } else { None }
            },
        );
        let mut objects: Vec<Value> = in_place.collect();
        objects.extend(self.allocated(of));
        objects
    }

    /// The objects that the run allocated.
    pub fn allocated(&self, of: StructId) -> Vec<Value> {
        self.allocations
            .iter()
            .filter(|(_, (known, _))| *known == of)
            .map(|(_, (_, object))| *object)
            .collect()
    }

    /// Any object that existed before the run.
    pub fn any_object(&mut self, of: StructId) -> Run<Value> {
        let object = self.solver.fresh_value(flag::OLD | flag::PROPER);
        self.instantiate(of, object)?;
        Ok(object)
    }

    /// Any object that existed before the run, of which no invariant is assumed.
    pub fn unfamiliar_object(&mut self, of: StructId) -> Value {
        let object = self.solver.fresh_value(flag::OLD | flag::PROPER);
        self.instantiated.push((of, object));
        object
    }

    pub(crate) fn unknown(&mut self, nature: Nature, flags: u8) -> Run<Value> {
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
    pub(crate) fn global_before(&mut self, global: GlobalId) -> Run<Value> {
        if let Some(place) = self.given.places[global.0] {
            return Ok(place);
        }
        if self.beginning {
            return Ok(self.default_of(Kind::Global(global)));
        }
        if let Some(value) = self.globals[global.0] {
            return Ok(value);
        }
        let value =
            self.unknown(self.context.natures.global(global), flag::OLD | flag::PUBLISHED)?;
        self.globals[global.0] = Some(value);
        self.constrain(Kind::Global(global), None, value)?;
        Ok(value)
    }

    /// The value of a field or element before the run.
    pub(crate) fn cell_before(&mut self, kind: Kind, base: Value) -> Run<Value> {
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
            self.pair_up()?;
        }
        Ok(value)
    }

    /// A location other than those that an object reaches does not hold it.
    pub(crate) fn constrain(&mut self, kind: Kind, base: Option<Value>, value: Value) -> Run<()> {
        let given = self.given.clone();
        for Reached { who, object, of, places } in &given.reaches {
            if self.context.type_of(kind) != Some(Type::Ref(*of)) {
                continue;
            }
            let mut member = false;
            for place in places {
                if member || crate::footprint::kind(place) != Some(kind) {
                    continue;
                }
                member = match (place, base) {
                    (Place::Variable(_), _) => true,
                    (Place::Field(var, ..), Some(base)) => {
                        match self.variable_before(*who, *var)? {
                            Some(holder) => self.equal(holder, base)?,
                            None => false,
                        }
                    }
                    // An element may be any of the array's: nothing is learnt.
                    _ => true,
                };
            }
            if !member {
                self.solver.assert_different(value, *object)?;
            }
        }
        Ok(())
    }

    pub(crate) fn variable_before(&mut self, who: usize, var: Var) -> Run<Option<Value>> {
        match var {
            Var::Local(local) => Ok(self.given.before.instances[who].locals[local.0]),
            Var::Global(global) => self.global_before(global).map(Some),
            Var::Peer(_) | Var::Bound(_) => Ok(None),
        }
    }

    /// Assumes the invariants about all objects, for this one.
    pub(crate) fn instantiate(&mut self, of: StructId, object: Value) -> Run<()> {
        if self
            .instantiated
            .iter()
            .any(|(known, value)| *known == of && self.solver.same(*value, object) == Some(true))
        {
            return Ok(());
        }
        self.instantiated.push((of, object));
        if self.solver.has(object, flag::FRESH) {
            return Ok(());
        }
        let context = self.context;
        let given = self.given.clone();
        for (structs, condition) in context.facts.quantified() {
            if **structs != [of] {
                continue;
            }
            self.assume(&given.before, Env { who: 0, peer: 1, bound: &[object] }, condition)?;
        }
        Ok(())
    }

    /// Assumes the invariants about two objects, for each object that came up and what its fields
    /// referred to before the run, if that came up, too.
    pub(crate) fn pair_up(&mut self) -> Run<()> {
        if !self.context.facts.about_pairs() {
            return Ok(());
        }
        let given = self.given.clone();
        let mut at = 0;
        // Assuming one may make others come up.
        while at < self.cells.len() {
            let Cell { kind, base, value } = self.cells[at];
            at += 1;
            let (Kind::Field(from, _), Some(Type::Ref(to))) = (kind, self.context.type_of(kind))
            else {
                continue;
            };
            let came_up = self
                .instantiated
                .iter()
                .any(|(of, object)| *of == to && self.solver.same(*object, value) == Some(true));
            if came_up && self.solver.proper(value) == Some(true) {
                self.assume_of_pair(&given.before, &[from, to], base, value)?;
            }
        }
        Ok(())
    }

    /// Assumes the invariants about two objects of these structs, for these, unless one of them did
    /// not exist before the run.
    pub(crate) fn assume_of_pair(
        &mut self,
        before: &Memory,
        structs: &[StructId],
        one: Value,
        two: Value,
    ) -> Run<()> {
        let new = |value| self.solver.has(value, flag::FRESH);
        let same = |a, b| self.solver.same(a, b) == Some(true);
        let done = self.paired.iter().any(|(a, b)| same(*a, one) && same(*b, two));
        if done || new(one) || new(two) {
            return Ok(());
        }
        self.paired.push((one, two));
        let context = self.context;
        for (bound, condition) in context.facts.quantified() {
            if **bound == *structs {
                let env = Env { who: 0, peer: 1, bound: &[one, two] };
                self.assume(before, env, condition)?;
            }
        }
        Ok(())
    }

    pub fn global(&mut self, memory: &Memory, global: GlobalId) -> Run<Value> {
        match memory.globals[global.0] {
            Some(value) => Ok(value),
            None => self.global_before(global),
        }
    }

    pub(crate) fn cell(&mut self, memory: &Memory, kind: Kind, base: Value) -> Run<Value> {
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
            Var::Local(local) => {
                Ok(memory.instances.get(env.who).and_then(|instance| instance.locals[local.0]))
            }
            Var::Peer(local) => {
                Ok(memory.instances.get(env.peer).and_then(|instance| instance.locals[local.0]))
            }
            Var::Bound(at) => Ok(env.bound.get(at).copied()),
        }
    }

    /// Where a place is: its kind and, but for variables, its base. `None` if it is not defined.
    pub fn locate(
        &mut self,
        memory: &Memory,
        env: Env,
        place: &Place,
        mode: Mode,
    ) -> Run<Option<(Kind, Value)>> {
        let (kind, base) = match place {
            Place::Variable(_) => return Ok(None),
            Place::Field(var, of, field) => {
                (Kind::Field(*of, *field), self.variable(memory, env, *var)?)
            }
            Place::Element(array, Index::Int(at)) => {
                (Kind::Array(*array), Some(Value { plus: *at, ..ZERO }))
            }
            Place::Element(array, Index::Variable(var)) => {
                (Kind::Array(*array), self.variable(memory, env, *var)?)
            }
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
    pub(crate) fn is_proper(&mut self, value: Value, mode: Mode) -> Run<bool> {
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
    pub fn place(
        &mut self,
        memory: &Memory,
        env: Env,
        place: &Place,
        mode: Mode,
    ) -> Run<Option<Value>> {
        if let Place::Variable(var) = place {
            return self.variable(memory, env, *var);
        }
        match self.locate(memory, env, place, mode)? {
            Some((kind, base)) => self.cell(memory, kind, base).map(Some),
            None => Ok(None),
        }
    }

    /// Every location written so far with a reference to such an object, and the object.
    pub fn written_references(
        &self,
        memory: &Memory,
        of: StructId,
    ) -> Vec<(Kind, Option<Value>, Value)> {
        let ty = Some(Type::Ref(of));
        let mut written: Vec<(Kind, Option<Value>, Value)> = Vec::new();
        for (global, value) in memory.globals.iter().enumerate() {
            if let Some(value) = value {
                written.push((Kind::Global(GlobalId(global)), None, *value));
            }
        }
        for (at, cell) in memory.writes.iter().enumerate() {
            let overwritten = memory.writes[at + 1..].iter().any(|later| {
                later.kind == cell.kind && self.solver.same(later.base, cell.base) == Some(true)
            });
            if !overwritten {
                written.push((cell.kind, Some(cell.base), cell.value));
            }
        }
        written.retain(|(kind, ..)| self.context.type_of(*kind) == ty);
        written
    }
}
