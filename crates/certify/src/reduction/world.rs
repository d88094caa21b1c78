//! All states of one or two operation instances, one concrete state at a time.
//!
//! A location gets a value when it is first read: every value it may have is tried, one after the other. Of integers these are enough:
//! those that occurred so far, their neighbours as far as the steps can count, and, where integers are compared, one far from all of these in every gap.

use linchpin_subop::model::{
    Atom, Condition, FieldId, GlobalKind, Index, Model, Place, Relation, Statement, StructId, SubOperation, Term, Type, Var,
};
use std::collections::BTreeMap;

use super::nature::Holder;
use super::proof::{Path, Proof};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum V {
    Int(i64),
    Null,
    Poison,
    Ref(usize),
}

/// The run goes no further: no such state.
#[derive(Debug, PartialEq, Eq)]
pub struct Impossible;

pub type Run<T> = Result<T, Impossible>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Location {
    Global(usize),
    Field(usize, usize),
    Element(usize, i64),
    Local(usize, usize),
}

struct Object {
    of: StructId,
    /// Allocated during the run.
    fresh: bool,
    /// Never stored before the run.
    hidden: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    pub path: usize,
    /// `None`: unset. `Some(None)`: as before the run.
    locals: Vec<Option<Option<V>>>,
    reads: BTreeMap<usize, V>,
    results: Option<Vec<V>>,
}

/// What changed since the run began.
#[derive(Clone, Debug)]
pub struct State {
    changed: BTreeMap<Location, V>,
    stored: Vec<usize>,
    pub instances: Vec<Instance>,
}

/// The choices of one run.
#[derive(Default)]
pub struct Script {
    choices: Vec<(usize, usize)>,
    at: usize,
}

impl Script {
    fn choose(&mut self, options: usize) -> usize {
        if self.at == self.choices.len() {
            self.choices.push((0, options));
        }
        self.at += 1;
        self.choices[self.at - 1].0
    }

    pub fn advance(&mut self) -> bool {
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

/// A comparison of locals of both instances, or a condition on the state before the run.
struct Premise {
    who: usize,
    condition: Condition,
    object: Option<usize>,
}

pub struct World<'p> {
    pub proof: &'p Proof,
    model: &'p Model,
    pub script: Script,
    before: BTreeMap<Location, V>,
    objects: Vec<Object>,
    places: BTreeMap<usize, usize>,
    premises: Vec<Premise>,
    /// An instance, its local, and where else the object may stand.
    reaches: Vec<(usize, usize, Vec<Place>)>,
    guesses: BTreeMap<(usize, usize), V>,
    allocations: BTreeMap<(usize, usize, usize), usize>,
    /// The state before the run is the start of all executions.
    beginning: bool,
}

impl<'p> World<'p> {
    /// Instances that executed these paths, in any state that satisfies what the proof says of them.
    pub fn new(proof: &'p Proof, paths: &[usize], script: Script) -> (World<'p>, State) {
        let mut world = World {
            proof,
            model: &proof.model,
            script,
            before: BTreeMap::new(),
            objects: Vec::new(),
            places: BTreeMap::new(),
            premises: Vec::new(),
            reaches: Vec::new(),
            guesses: BTreeMap::new(),
            allocations: BTreeMap::new(),
            beginning: false,
        };
        for (global, declared) in world.model.globals.iter().enumerate() {
            if let GlobalKind::Place(of) = declared.kind {
                world.places.insert(global, world.objects.len());
                world.objects.push(Object { of, fresh: false, hidden: false });
            }
        }
        let mut instances = Vec::new();
        for (who, path) in paths.iter().enumerate() {
            let data = &proof.paths[*path];
            let locals = data.set.iter().map(|set| set.then_some(None)).collect();
            instances.push(Instance { path: *path, locals, reads: BTreeMap::new(), results: None });
            for (local, of) in &data.owned {
                let hidden = data.private.contains(local);
                world.before.insert(Location::Local(who, *local), V::Ref(world.objects.len()));
                world.objects.push(Object { of: *of, fresh: false, hidden });
            }
            for condition in &data.facts {
                world.premises.push(Premise { who, condition: condition.clone(), object: None });
            }
            for (local, places) in &data.reaches {
                world.reaches.push((who, *local, places.clone()));
            }
        }
        for (bound, condition) in &proof.invariants {
            if bound.is_none() {
                world.premises.push(Premise { who: 0, condition: condition.clone(), object: None });
            }
        }
        (world, State { changed: BTreeMap::new(), stored: Vec::new(), instances })
    }

    /// The start of all executions, after `initially`.
    pub fn start(proof: &'p Proof, script: Script) -> Run<(World<'p>, State)> {
        let (mut world, mut state) = World::new(proof, &[], script);
        world.premises.clear();
        world.beginning = true;
        let initially = &proof.model.initially;
        let locals = initially.locals.iter().map(|local| Some(Some(zero(local.ty)))).collect();
        state.instances.push(Instance { path: 0, locals, reads: BTreeMap::new(), results: None });
        if world.statements(&mut state, 0, usize::MAX, &initially.statements)? { Ok((world, state)) } else { Err(Impossible) }
    }

    pub fn objects_of(&self, of: StructId) -> Vec<usize> {
        (0..self.objects.len()).filter(|at| self.objects[*at].of == of).collect()
    }

    /// Any object that existed before the run, one that came up or another.
    pub fn any_object(&mut self, of: StructId) -> usize {
        let known: Vec<usize> = self.objects_of(of);
        let choice = self.script.choose(known.len() + 1);
        if choice < known.len() {
            return known[choice];
        }
        self.objects.push(Object { of, fresh: false, hidden: false });
        self.objects.len() - 1
    }

    fn type_of(&self, location: Location, state: &State) -> Type {
        match location {
            Location::Global(global) | Location::Element(global, _) => match self.model.globals[global].kind {
                GlobalKind::Scalar(ty) | GlobalKind::Array(ty) => ty,
                GlobalKind::Place(of) => Type::Ref(of),
            },
            Location::Field(object, field) => self.model.structs[self.objects[object].of.0].fields[field].ty,
            Location::Local(who, local) => {
                let path = &self.proof.paths[state.instances[who].path];
                self.model.operations[path.operation].locals[local].ty
            }
        }
    }

    fn read(&mut self, state: &State, location: Location) -> Run<V> {
        if let Location::Local(who, local) = location {
            return match state.instances[who].locals[local] {
                Some(Some(value)) => Ok(value),
                Some(None) => self.initial(state, location),
                None => Err(Impossible),
            };
        }
        match state.changed.get(&location) {
            Some(value) => Ok(*value),
            None => self.initial(state, location),
        }
    }

    /// What a location holds before the run: chosen when it is first needed.
    fn initial(&mut self, state: &State, location: Location) -> Run<V> {
        if let Location::Global(global) = location
            && let Some(object) = self.places.get(&global)
        {
            return Ok(V::Ref(*object));
        }
        if let Some(value) = self.before.get(&location) {
            return Ok(*value);
        }
        let ty = self.type_of(location, state);
        if self.beginning {
            return Ok(self.default_of(location, ty));
        }
        let shared = !matches!(location, Location::Local(..));
        let mut options = match ty {
            Type::Int => self.integers(),
            Type::Ref(of) => {
                let possible = |at: &usize| !self.objects[*at].fresh && !self.objects[*at].hidden;
                let known: Vec<V> = self.objects_of(of).into_iter().filter(possible).map(V::Ref).collect();
                [known, vec![V::Ref(self.objects.len())]].concat()
            }
        };
        let holder = match location {
            Location::Global(global) | Location::Element(global, _) => Holder::Global(global),
            Location::Field(object, field) => Holder::Field(self.objects[object].of.0, field),
            Location::Local(who, local) => Holder::Local(self.proof.paths[state.instances[who].path].operation, local),
        };
        if self.proof.natures.null.contains(&holder) {
            options.push(V::Null);
        }
        if self.proof.natures.poison.contains(&holder) {
            options.push(V::Poison);
        }
        let value = options[self.script.choose(options.len())];
        if let (V::Ref(object), Type::Ref(of)) = (value, ty)
            && object == self.objects.len()
        {
            self.objects.push(Object { of, fresh: false, hidden: false });
        }
        self.before.insert(location, value);
        if shared {
            self.respect_reaches(state, location, value)?;
        }
        self.respect_premises()?;
        Ok(value)
    }

    fn default_of(&self, location: Location, ty: Type) -> V {
        if let Location::Element(array, _) = location
            && let Some((_, fill)) = self.model.initially.fills.iter().rev().find(|(filled, _)| filled.0 == array)
        {
            return if let Term::Int(value) = fill { V::Int(*value) } else { V::Null };
        }
        zero(ty)
    }

    fn integers(&self) -> Vec<V> {
        let mut known: Vec<i64> = self.proof.constants.clone();
        known.extend((0..2).map(identity));
        known.extend(self.before.values().chain(self.guesses.values()).filter_map(|value| match value {
            V::Int(value) => Some(*value),
            _ => None,
        }));
        known.sort();
        known.dedup();
        let mut options: Vec<i64> = Vec::new();
        let reach = self.proof.counting;
        for value in &known {
            options.extend(value - reach..=value + reach);
        }
        let (least, greatest) = (known[0], known[known.len() - 1]);
        options.push(greatest + (1 << 20));
        if self.proof.ordering {
            options.push(least - (1 << 20));
            for pair in known.windows(2) {
                if pair[1] - pair[0] > 1 {
                    options.push(pair[0] + (pair[1] - pair[0]) / 2);
                }
            }
        }
        options.sort();
        options.dedup();
        options.into_iter().map(V::Int).collect()
    }

    fn respect_reaches(&mut self, state: &State, location: Location, value: V) -> Run<()> {
        for at in 0..self.reaches.len() {
            let (who, local, places) = self.reaches[at].clone();
            if self.before.get(&Location::Local(who, local)) != Some(&value) {
                continue;
            }
            let mut member = false;
            for place in &places {
                member |= self.locate_before(state, who, place)? == Some(location);
            }
            if !member {
                return Err(Impossible);
            }
        }
        Ok(())
    }

    fn locate_before(&mut self, state: &State, who: usize, place: &Place) -> Run<Option<Location>> {
        let plain = State { changed: BTreeMap::new(), stored: Vec::new(), instances: state.instances.clone() };
        let mut plain = plain;
        let set = self.proof.paths[plain.instances[who].path].set.clone();
        for (local, set) in set.iter().enumerate() {
            if *set && self.before.contains_key(&Location::Local(who, local)) {
                plain.instances[who].locals[local] = Some(None);
            }
        }
        self.locate(&plain, who, None, place)
    }

    /// No premise is false, as far as it is known.
    fn respect_premises(&self) -> Run<()> {
        let known = |premise: &Premise| self.known(premise.who, premise.object, &premise.condition) != Some(false);
        if !self.premises.iter().all(known) {
            return Err(Impossible);
        }
        for (bound, condition) in &self.proof.invariants {
            let Some(of) = bound else { continue };
            for object in self.objects_of(*of) {
                if !self.objects[object].fresh && self.known(0, Some(object), condition) == Some(false) {
                    return Err(Impossible);
                }
            }
        }
        Ok(())
    }

    /// The value of a condition before the run, if what was chosen so far decides it.
    fn known(&self, who: usize, object: Option<usize>, condition: &Condition) -> Option<bool> {
        match condition {
            Condition::All(parts) => {
                let values: Vec<_> = parts.iter().map(|part| self.known(who, object, part)).collect();
                if values.contains(&Some(false)) { Some(false) } else { values.into_iter().collect::<Option<Vec<_>>>().map(|_| true) }
            }
            Condition::Any(parts) => {
                let values: Vec<_> = parts.iter().map(|part| self.known(who, object, part)).collect();
                if values.contains(&Some(true)) { Some(true) } else { values.into_iter().collect::<Option<Vec<_>>>().map(|_| false) }
            }
            Condition::Atom(atom) => {
                let left = self.known_term(who, object, &atom.left)?;
                let right = self.known_term(who, object, &atom.right)?;
                Some(matches!((left, right), (Some(left), Some(right)) if compare(left, atom.relation, right)))
            }
        }
    }

    /// `None`: not chosen yet. `Some(None)`: not defined.
    fn known_term(&self, who: usize, object: Option<usize>, term: &Term) -> Option<Option<V>> {
        match term {
            Term::Int(value) => Some(Some(V::Int(*value))),
            Term::Null => Some(Some(V::Null)),
            Term::Id => Some(Some(V::Int(identity(who)))),
            Term::Place(place) => self.known_place(who, object, place),
            Term::Plus(place, offset) => Some(self.known_place(who, object, place)?.map(|value| plus(value, *offset))),
        }
    }

    fn known_variable(&self, who: usize, object: Option<usize>, var: Var) -> Option<Option<V>> {
        match var {
            Var::Global(global) => match self.places.get(&global.0) {
                Some(object) => Some(Some(V::Ref(*object))),
                None => self.before.get(&Location::Global(global.0)).map(|value| Some(*value)),
            },
            Var::Local(local) => self.before.get(&Location::Local(who, local.0)).map(|value| Some(*value)),
            Var::Bound(_) => Some(object.map(V::Ref)),
            Var::Peer(_) => Some(None),
        }
    }

    fn known_place(&self, who: usize, object: Option<usize>, place: &Place) -> Option<Option<V>> {
        let location = match place {
            Place::Variable(var) => return self.known_variable(who, object, *var),
            Place::Field(var, _, field) => match self.known_variable(who, object, *var)? {
                Some(V::Ref(base)) => Location::Field(base, field.0),
                _ => return Some(None),
            },
            Place::Element(array, Index::Int(at)) => Location::Element(array.0, *at),
            Place::Element(array, Index::Variable(var)) => match self.known_variable(who, object, *var)? {
                Some(V::Int(at)) => Location::Element(array.0, at),
                _ => return Some(None),
            },
            Place::Element(array, Index::Plus(var, offset)) => match self.known_variable(who, object, *var)? {
                Some(V::Int(at)) => Location::Element(array.0, at + offset),
                _ => return Some(None),
            },
        };
        self.before.get(&location).map(|value| Some(*value))
    }

    fn variable(&mut self, state: &State, who: usize, object: Option<usize>, var: Var) -> Run<Option<V>> {
        match var {
            Var::Global(global) => self.read(state, Location::Global(global.0)).map(Some),
            Var::Local(local) if state.instances[who].locals[local.0].is_none() => Ok(None),
            Var::Local(local) => self.read(state, Location::Local(who, local.0)).map(Some),
            Var::Bound(_) => Ok(object.map(V::Ref)),
            Var::Peer(_) => Ok(None),
        }
    }

    fn locate(&mut self, state: &State, who: usize, object: Option<usize>, place: &Place) -> Run<Option<Location>> {
        Ok(match place {
            Place::Variable(Var::Global(global)) => Some(Location::Global(global.0)),
            Place::Variable(Var::Local(local)) => Some(Location::Local(who, local.0)),
            Place::Variable(_) => None,
            Place::Field(var, _, field) => match self.variable(state, who, object, *var)? {
                Some(V::Ref(base)) => Some(Location::Field(base, field.0)),
                _ => None,
            },
            Place::Element(array, index) => {
                let at = match index {
                    Index::Int(at) => Some(V::Int(*at)),
                    Index::Variable(var) => self.variable(state, who, object, *var)?,
                    Index::Plus(var, offset) => self.variable(state, who, object, *var)?.map(|value| plus(value, *offset)),
                };
                match at {
                    Some(V::Int(at)) => Some(Location::Element(array.0, at)),
                    _ => None,
                }
            }
        })
    }

    pub fn term(&mut self, state: &State, who: usize, object: Option<usize>, term: &Term) -> Run<Option<V>> {
        let place = match term {
            Term::Int(value) => return Ok(Some(V::Int(*value))),
            Term::Null => return Ok(Some(V::Null)),
            Term::Id => return Ok(Some(V::Int(identity(who)))),
            Term::Place(place) | Term::Plus(place, _) => place,
        };
        let value = match place {
            Place::Variable(var) => self.variable(state, who, object, *var)?,
            _ => match self.locate(state, who, object, place)? {
                Some(location) => Some(self.read(state, location)?),
                None => None,
            },
        };
        Ok(match term {
            Term::Plus(_, offset) => value.map(|value| plus(value, *offset)),
            _ => value,
        })
    }

    pub fn holds(&mut self, state: &State, who: usize, object: Option<usize>, condition: &Condition) -> Run<bool> {
        match condition {
            Condition::All(parts) => {
                for part in parts {
                    if !self.holds(state, who, object, part)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Condition::Any(parts) => {
                for part in parts {
                    if self.holds(state, who, object, part)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Condition::Atom(Atom { left, relation, right, .. }) => {
                let Some(left) = self.term(state, who, object, left)? else { return Ok(false) };
                let Some(right) = self.term(state, who, object, right)? else { return Ok(false) };
                Ok(compare(left, *relation, right))
            }
        }
    }

    /// Goes on only if all these hold of the instance.
    pub fn assume(&mut self, state: &State, who: usize, conditions: &[Condition]) -> Run<()> {
        for condition in conditions {
            if !self.holds(state, who, None, condition)? {
                return Err(Impossible);
            }
        }
        Ok(())
    }

    /// Whether a reference can be guessed now.
    fn published(&self, state: &State, object: usize) -> bool {
        let known = &self.objects[object];
        (!known.fresh && !known.hidden) || state.stored.contains(&object)
    }

    fn guess_options(&self, state: &State, ty: Type) -> Vec<V> {
        let mut options = match ty {
            Type::Int => self.integers(),
            Type::Ref(of) => {
                let known = self.objects_of(of).into_iter().filter(|object| self.published(state, *object)).map(V::Ref);
                known.chain([V::Ref(self.objects.len())]).collect()
            }
        };
        options.push(V::Null);
        options
    }

    /// Executes the last step of a path; false if it cannot be.
    pub fn execute(&mut self, state: &mut State, who: usize, path: usize) -> Run<bool> {
        let proof = self.proof;
        let data: &Path = &proof.paths[path];
        let Some(step) = data.last(&proof.model) else { return Ok(true) };
        for local in &data.guessed {
            if state.instances[who].locals[*local].is_some() {
                continue;
            }
            let ty = self.type_of(Location::Local(who, *local), state);
            let value = match self.guesses.get(&(who, *local)) {
                Some(V::Ref(object)) if !self.published(state, *object) => return Ok(false),
                Some(value) => *value,
                None => {
                    let options = self.guess_options(state, ty);
                    let value = options[self.script.choose(options.len())];
                    if let (V::Ref(object), Type::Ref(of)) = (value, ty)
                        && object == self.objects.len()
                    {
                        self.objects.push(Object { of, fresh: false, hidden: false });
                    }
                    self.guesses.insert((who, *local), value);
                    value
                }
            };
            state.instances[who].locals[*local] = Some(Some(value));
        }
        self.run_step(state, who, path, step)
    }

    fn run_step(&mut self, state: &mut State, who: usize, path: usize, step: &SubOperation) -> Run<bool> {
        if !self.holds(state, who, None, &step.precondition)? || !self.statements(state, who, path, &step.body)? {
            return Ok(false);
        }
        if let Some(terms) = &step.result {
            let mut results = Vec::new();
            for term in terms {
                let Some(value) = self.term(state, who, None, term)? else { return Ok(false) };
                results.push(value);
            }
            state.instances[who].results = Some(results);
        }
        state.instances[who].path = path;
        Ok(true)
    }

    /// Whether the last step of a path can be executed for some choice of its guesses.
    pub fn enabled(&mut self, state: &State, who: usize, path: usize) -> Run<bool> {
        let proof = self.proof;
        let data = &proof.paths[path];
        let Some(step) = data.last(&proof.model) else { return Ok(true) };
        // What the guesses are compared with decides which of them fit.
        for atom in step.precondition.atoms() {
            for term in [&atom.left, &atom.right] {
                self.term(state, who, None, term)?;
            }
        }
        let open: Vec<usize> =
            data.guessed.iter().copied().filter(|local| state.instances[who].locals[*local].is_none()).collect();
        self.try_guesses(state, who, path, step, &open)
    }

    fn try_guesses(&mut self, state: &State, who: usize, path: usize, step: &SubOperation, open: &[usize]) -> Run<bool> {
        let Some((local, rest)) = open.split_first() else {
            return self.run_step(&mut state.clone(), who, path, step);
        };
        let ty = self.type_of(Location::Local(who, *local), state);
        let limit = self.objects.len();
        for value in self.guess_options(state, ty) {
            if matches!(value, V::Ref(object) if object >= limit) {
                continue;
            }
            let mut chosen = state.clone();
            chosen.instances[who].locals[*local] = Some(Some(value));
            if self.try_guesses(&chosen, who, path, step, rest)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn statements(&mut self, state: &mut State, who: usize, path: usize, statements: &[Statement]) -> Run<bool> {
        for (at, statement) in statements.iter().enumerate() {
            match statement {
                Statement::Assign { place, value, .. } => {
                    let Some(value) = self.term(state, who, None, value)? else { return Ok(false) };
                    if !self.write(state, who, place, value)? {
                        return Ok(false);
                    }
                }
                Statement::Malloc { var, of, .. } => {
                    let site = (who, path, at);
                    let object = match self.allocations.get(&site) {
                        Some(object) => *object,
                        None => {
                            self.allocations.insert(site, self.objects.len());
                            self.objects.push(Object { of: *of, fresh: true, hidden: true });
                            self.objects.len() - 1
                        }
                    };
                    if self.is_held(state, object) {
                        return Ok(false);
                    }
                    for (field, variable) in self.model.structs[of.0].fields.iter().enumerate() {
                        state.changed.insert(Location::Field(object, field), zero(variable.ty));
                    }
                    self.write(state, who, &Place::Variable(*var), V::Ref(object))?;
                }
                Statement::Free { var, of, .. } => {
                    let Some(V::Ref(object)) = self.variable(state, who, None, *var)? else { return Ok(false) };
                    for field in 0..self.model.structs[of.0].fields.len() {
                        state.changed.insert(Location::Field(object, FieldId(field).0), V::Poison);
                    }
                }
                Statement::Read { place, slot, .. } => {
                    let Some(value) = self.term(state, who, None, &Term::Place(*place))? else { return Ok(false) };
                    state.instances[who].reads.insert(*slot, value);
                }
            }
        }
        Ok(true)
    }

    /// Whether a local already holds an object that is yet to be allocated.
    fn is_held(&self, state: &State, object: usize) -> bool {
        let locals = state.instances.iter().flat_map(|instance| &instance.locals);
        locals.flatten().any(|value| *value == Some(V::Ref(object)))
    }

    fn write(&mut self, state: &mut State, who: usize, place: &Place, value: V) -> Run<bool> {
        if let Place::Variable(Var::Local(local)) = place {
            state.instances[who].locals[local.0] = Some(Some(value));
            return Ok(true);
        }
        let Some(location) = self.locate(state, who, None, place)? else { return Ok(false) };
        state.changed.insert(location, value);
        if let V::Ref(object) = value {
            state.stored.push(object);
        }
        Ok(true)
    }

    /// The value of a local now.
    pub fn local(&mut self, state: &State, who: usize, local: usize) -> Run<Option<V>> {
        self.variable(state, who, None, Var::Local(linchpin_subop::model::LocalId(local)))
    }

    /// Whether two states are the same; `matters` says for each instance if it does, and if it goes on.
    pub fn same(&mut self, one: &State, other: &State, matters: [Option<bool>; 2]) -> Run<bool> {
        let written: Vec<Location> = one.changed.keys().chain(other.changed.keys()).copied().collect();
        for location in written {
            if self.read(one, location)? != self.read(other, location)? {
                return Ok(false);
            }
        }
        for who in 0..one.instances.len() {
            let Some(goes_on) = matters[who] else { continue };
            let (left, right) = (one.instances[who].clone(), other.instances[who].clone());
            if left.results != right.results {
                return Ok(false);
            }
            if !goes_on && left.results.is_some() {
                continue;
            }
            if left.reads != right.reads {
                return Ok(false);
            }
            for local in 0..left.locals.len() {
                if self.local(one, who, local)? != self.local(other, who, local)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether a read, in the state `there`, gives what the locals hold at the end.
    pub fn would_read(&mut self, there: &State, end: &State, read: &SubOperation, targets: &[(usize, Place)]) -> Run<bool> {
        let mut there = there.clone();
        // The local must get its first value here: a guess before would be another one.
        if targets.iter().any(|(target, _)| there.instances[0].locals[*target].is_some()) {
            return Ok(false);
        }
        for local in 0..there.instances[0].locals.len() {
            if there.instances[0].locals[local].is_some() || targets.iter().any(|(target, _)| *target == local) {
                continue;
            }
            // What is guessed later must be possible to be guessed now.
            there.instances[0].locals[local] = match self.local(end, 0, local)? {
                Some(V::Ref(object)) if !self.published(&there, object) => None,
                value => value.map(Some),
            };
        }
        if !self.holds(&there, 0, None, &read.precondition)? {
            return Ok(false);
        }
        for (target, place) in targets {
            let value = self.term(&there, 0, None, &Term::Place(*place))?;
            if value.is_none() || value != self.local(end, 0, *target)? {
                return Ok(false);
            }
            there.instances[0].locals[*target] = value.map(Some);
        }
        Ok(true)
    }

    /// The shared locations that were written with a reference to this object.
    pub fn holders(&self, state: &State, object: usize) -> Vec<Location> {
        let changed = state.changed.iter();
        changed.filter(|(_, value)| **value == V::Ref(object)).map(|(location, _)| *location).collect()
    }

    /// Where a place is, now.
    pub fn find(&mut self, state: &State, who: usize, place: &Place) -> Run<Option<Location>> {
        self.locate(state, who, None, place)
    }

    /// Whether the object was allocated during the run.
    pub fn is_fresh(&self, object: usize) -> bool {
        self.objects[object].fresh
    }
}

fn zero(ty: Type) -> V {
    if ty == Type::Int { V::Int(0) } else { V::Null }
}

/// `ID` of an instance.
fn identity(who: usize) -> i64 {
    (1 << 40) + ((who as i64) << 30)
}

fn plus(value: V, offset: i64) -> V {
    match value {
        V::Int(value) => V::Int(value + offset),
        _ => V::Poison,
    }
}

fn compare(left: V, relation: Relation, right: V) -> bool {
    match (relation, left, right) {
        (Relation::Equal, ..) => left == right,
        (Relation::NotEqual, ..) => left != right,
        (Relation::Less, V::Int(left), V::Int(right)) => left < right,
        (Relation::LessOrEqual, V::Int(left), V::Int(right)) => left <= right,
        (Relation::Greater, V::Int(left), V::Int(right)) => left > right,
        (Relation::GreaterOrEqual, V::Int(left), V::Int(right)) => left >= right,
        _ => false,
    }
}
