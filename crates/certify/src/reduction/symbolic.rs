//! All states of one or two operation instances, one concrete state at a time.
//!
//! A location gets a value when it is first read: every value it may have is tried, one after the
//! other. Of references these are the objects that came up so far and one more. An integer stays
//! unknown: how it compares with another one is tried when that first matters (`order`).

use linchpin_subop::model::{
    Atom, Condition, GlobalKind, Index, Model, Place, Relation, StructId, Term, Type, Var,
};
use std::collections::BTreeMap;

use super::nature::Holder;
use super::order::{ANY, EQUAL, FIRST_UNKNOWN, GREATER, LESS, Number, Order};
use super::proof::Proof;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum V {
    Null,
    Poison,
    Ref(usize),
    /// An integer of which nothing is known but how it compares with others, as far as that came
    /// up.
    Number(Number),
    /// What a location of type `int` holds before the run, not chosen yet: it may never matter.
    Later(Location),
}

/// The run goes no further: no such state.
#[derive(Debug, PartialEq, Eq)]
pub struct Impossible;

pub type Run<T> = Result<T, Impossible>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Location {
    Global(usize),
    Field(usize, usize),
    /// INVARIANT: of one array, no two of these are equal.
    Element(usize, Number),
    Local(usize, usize),
    /// What an unset local of an instance is guessed to be.
    Guess(usize, usize),
}

impl V {
    pub(super) fn constant(value: i64) -> V {
        V::Number(Number::constant(value))
    }
}

#[derive(Clone)]
pub(super) struct Object {
    pub(super) of: StructId,
    /// Allocated during the run.
    pub(super) fresh: bool,
    /// Never stored before the run.
    pub(super) hidden: bool,
    /// It was stored before the run, for sure: a guess can be it.
    pub(super) certain: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    pub path: usize,
    /// `None`: unset. `Some(None)`: as before the run.
    pub(super) locals: Vec<Option<Option<V>>>,
    pub(super) reads: BTreeMap<usize, V>,
    pub(super) results: Option<Vec<V>>,
}

/// What changed since the run began.
#[derive(Clone, Debug)]
pub struct State {
    pub(super) changed: BTreeMap<Location, V>,
    pub(super) stored: Vec<usize>,
    pub instances: Vec<Instance>,
}

/// The choices of one run.
#[derive(Clone, Default)]
pub struct Script {
    choices: Vec<(usize, usize)>,
    at: usize,
}

impl Script {
    pub(super) fn choose(&mut self, options: usize) -> usize {
        if self.at == self.choices.len() {
            self.choices.push((0, options));
        }
        self.at += 1;
        self.choices[self.at - 1].0
    }

    /// Whether the run before this one came here, too, and went on.
    pub(super) fn repeats(&self) -> bool {
        self.at < self.choices.len()
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
#[derive(Clone)]
pub(super) struct Premise<'p> {
    pub(super) who: usize,
    pub(super) condition: &'p Condition,
}

#[derive(Clone)]
pub struct Symbolic<'p> {
    pub proof: &'p Proof,
    pub(super) model: &'p Model,
    pub script: Script,
    pub(super) before: BTreeMap<Location, V>,
    pub(super) objects: Vec<Object>,
    pub(super) places: BTreeMap<usize, usize>,
    pub(super) premises: Vec<Premise<'p>>,
    /// The paths that the instances had executed before the run.
    pub(super) begun: Vec<usize>,
    /// An instance, its local, and where else the object may stand.
    pub(super) reaches: Vec<(usize, usize, &'p [Place])>,
    pub(super) guesses: BTreeMap<(usize, usize), V>,
    pub(super) allocations: BTreeMap<(usize, usize, usize), usize>,
    /// The state before the run is the start of all executions.
    pub(super) beginning: bool,
    /// The first unknown integer that did not come up yet.
    pub(super) unknown: usize,
    /// How integers compare.
    pub(super) order: Order,
    /// The elements that came up.
    pub(super) elements: Vec<(usize, Number)>,
    /// A step that cannot be executed ends the run: then its precondition is not tried the other
    /// way.
    pub must: bool,
}

impl<'p> Symbolic<'p> {
    /// Instances that executed these paths, in any state that satisfies what the proof says of
    /// them.
    pub fn new(proof: &'p Proof, paths: &[usize]) -> (Symbolic<'p>, State) {
        let mut symbolic = Symbolic {
            proof,
            model: &proof.model,
            script: Script::default(),
            before: BTreeMap::new(),
            objects: Vec::new(),
            places: BTreeMap::new(),
            premises: Vec::new(),
            begun: paths.to_vec(),
            reaches: Vec::new(),
            guesses: BTreeMap::new(),
            allocations: BTreeMap::new(),
            beginning: false,
            unknown: FIRST_UNKNOWN,
            order: proof.identities.clone(),
            elements: Vec::new(),
            must: false,
        };
        for (global, declared) in symbolic.model.globals.iter().enumerate() {
            if let GlobalKind::Place(of) = declared.kind {
                symbolic.places.insert(global, symbolic.objects.len());
                symbolic.objects.push(Object { of, fresh: false, hidden: false, certain: true });
            }
        }
        let mut instances = Vec::new();
        for (who, path) in paths.iter().enumerate() {
            let data = &proof.paths[*path];
            let locals = data.set.iter().map(|set| set.then_some(None)).collect();
            instances.push(Instance { path: *path, locals, reads: BTreeMap::new(), results: None });
            for (local, of) in &data.owned {
                let hidden = data.private.contains(local);
                symbolic
                    .before
                    .insert(Location::Local(who, *local), V::Ref(symbolic.objects.len()));
                let certain = data.stored.contains(local);
                symbolic.objects.push(Object { of: *of, fresh: false, hidden, certain });
            }
            for condition in &data.facts {
                symbolic.premises.push(Premise { who, condition });
            }
            for (local, places) in &data.reaches {
                symbolic.reaches.push((who, *local, places));
            }
        }
        for (bound, condition) in &proof.invariants {
            if bound.is_empty() {
                symbolic.premises.push(Premise { who: 0, condition });
            }
        }
        (symbolic, State { changed: BTreeMap::new(), stored: Vec::new(), instances })
    }

    /// What is known so far, to go on with these choices.
    pub fn with(&self, script: Script) -> Symbolic<'p> {
        Symbolic { script, ..self.clone() }
    }

    /// The start of all executions, after `initially`.
    pub fn start(proof: &'p Proof) -> Run<(Symbolic<'p>, State)> {
        let (mut symbolic, mut state) = Symbolic::new(proof, &[]);
        symbolic.premises.clear();
        symbolic.beginning = true;
        let initially = &proof.model.initially;
        let locals = initially.locals.iter().map(|local| Some(Some(zero(local.ty)))).collect();
        state.instances.push(Instance { path: 0, locals, reads: BTreeMap::new(), results: None });
        if symbolic.statements(&mut state, 0, usize::MAX, &initially.statements)? {
            Ok((symbolic, state))
        } else {
            Err(Impossible)
        }
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
        self.objects.push(Object { of, fresh: false, hidden: false, certain: false });
        self.objects.len() - 1
    }

    pub(super) fn type_of(&self, location: Location, state: &State) -> Type {
        match location {
            Location::Global(global) | Location::Element(global, _) => {
                match self.model.globals[global].kind {
                    GlobalKind::Scalar(ty) | GlobalKind::Array(ty) => ty,
                    GlobalKind::Place(of) => Type::Ref(of),
                }
            }
            Location::Field(object, field) => {
                self.model.structs[self.objects[object].of.0].fields[field].ty
            }
            Location::Local(who, local) | Location::Guess(who, local) => {
                let path = &self.proof.paths[state.instances[who].path];
                self.model.operations[path.operation].locals[local].ty
            }
        }
    }

    pub(super) fn read(&mut self, state: &State, location: Location) -> Run<V> {
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

    /// What a location holds before the run; integers are chosen when they are compared, references
    /// at once.
    pub(super) fn initial(&mut self, state: &State, location: Location) -> Run<V> {
        let chosen = self.before.contains_key(&location) || self.beginning;
        if !chosen && self.type_of(location, state) == Type::Int {
            return Ok(V::Later(location));
        }
        self.choose(state, location)
    }

    /// The value itself.
    pub(super) fn resolve(&mut self, state: &State, value: V) -> Run<V> {
        match value {
            V::Later(location) => self.choose(state, location),
            value => Ok(value),
        }
    }

    pub(super) fn choose(&mut self, state: &State, location: Location) -> Run<V> {
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
        let options = self.options(state, location, ty);
        if options.is_empty() {
            return Err(Impossible);
        }
        let value = options[self.script.choose(options.len())];
        if let (V::Ref(object), Type::Ref(of)) = (value, ty)
            && object == self.objects.len()
        {
            self.objects.push(Object { of, fresh: false, hidden: false, certain: false });
        }
        self.holds_before(state, location, value)?;
        Ok(value)
    }

    /// Whether what a location held before the run may be an object that was never stored.
    fn may_be_new(&self, location: Location) -> bool {
        matches!(location, Location::Local(who, local)
            if self.proof.paths[self.begun[who]].new.contains(&local))
    }

    /// From now on this is what the location holds before the run.
    pub(super) fn holds_before(&mut self, state: &State, location: Location, value: V) -> Run<()> {
        self.before.insert(location, value);
        if let V::Ref(object) = value
            && !self.may_be_new(location)
        {
            self.objects[object].certain = true;
        }
        if !matches!(location, Location::Local(..) | Location::Guess(..)) {
            self.respect_reaches(state, location, value)?;
        }
        self.respect_premises()
    }

    /// What a location may hold before the run.
    pub(super) fn options(&mut self, state: &State, location: Location, ty: Type) -> Vec<V> {
        let holder = self.holder(location, state);
        // A guess is never poison.
        let mut options = match ty {
            Type::Int => vec![self.number()],
            Type::Ref(of) => {
                let possible = |at: &usize| !self.objects[*at].fresh && !self.objects[*at].hidden;
                let known: Vec<V> =
                    self.objects_of(of).into_iter().filter(possible).map(V::Ref).collect();
                [known, vec![V::Ref(self.objects.len())]].concat()
            }
        };
        let guessed = matches!(location, Location::Guess(..));
        if guessed || self.proof.natures.null.contains(&holder) {
            options.push(V::Null);
        }
        if !guessed && self.proof.natures.poison.contains(&holder) {
            options.push(V::Poison);
        }
        options
    }

    pub(super) fn default_of(&self, location: Location, ty: Type) -> V {
        if let Location::Element(array, _) = location
            && let Some((_, fill)) =
                self.model.initially.fills.iter().rev().find(|(filled, _)| filled.0 == array)
        {
            return if let Term::Int(value) = fill { V::constant(*value) } else { V::Null };
        }
        zero(ty)
    }

    /// The variable that a location belongs to.
    pub(super) fn holder(&self, location: Location, state: &State) -> Holder {
        match location {
            Location::Global(global) | Location::Element(global, _) => Holder::Global(global),
            Location::Field(object, field) => Holder::Field(self.objects[object].of.0, field),
            Location::Local(who, local) | Location::Guess(who, local) => {
                Holder::Local(self.proof.paths[state.instances[who].path].operation, local)
            }
        }
    }

    /// An integer of which nothing is known.
    pub(super) fn number(&mut self) -> V {
        self.unknown += 1;
        V::Number(Number { of: self.unknown - 1, plus: 0 })
    }

    /// Whether two values compare so. Where that is open, both answers are tried.
    pub(super) fn compare(&mut self, left: V, relation: Relation, right: V) -> Run<bool> {
        if let Some(known) = self.compares(left, relation, right) {
            return Ok(known);
        }
        let wanted = ways(relation);
        let holds = self.script.choose(2) == 0;
        self.restrict(left, right, if holds { wanted } else { !wanted & ANY })?;
        Ok(holds)
    }

    /// From now on two integers compare in one of these ways.
    pub(super) fn restrict(&mut self, left: V, right: V, ways: u8) -> Run<()> {
        match (left, right) {
            (V::Number(left), V::Number(right)) if self.order.restrict(left, right, ways) => {
                self.respect_premises()
            }
            _ => Err(Impossible),
        }
    }

    /// Whether two values compare so, if that is decided.
    pub(super) fn compares(&self, left: V, relation: Relation, right: V) -> Option<bool> {
        let (V::Number(left), V::Number(right)) = (left, right) else {
            return Some(match relation {
                Relation::Equal => left == right,
                Relation::NotEqual => left != right,
                _ => false,
            });
        };
        let (possible, wanted) = (self.order.possible(left, right), ways(relation));
        match (possible & wanted != 0, possible & !wanted != 0) {
            (true, true) => None,
            (holds, _) => Some(holds),
        }
    }

    /// The element of an array that is found by a value.
    fn element(&mut self, array: usize, value: V) -> Run<Option<Location>> {
        let V::Number(key) = value else { return Ok(None) };
        for at in 0..self.elements.len() {
            let (of, known) = self.elements[at];
            if of == array && self.compare(V::Number(known), Relation::Equal, value)? {
                return Ok(Some(Location::Element(array, known)));
            }
        }
        self.elements.push((array, key));
        Ok(Some(Location::Element(array, key)))
    }

    pub(super) fn variable(
        &mut self,
        state: &State,
        who: usize,
        objects: &[usize],
        var: Var,
    ) -> Run<Option<V>> {
        match var {
            Var::Global(global) => self.read(state, Location::Global(global.0)).map(Some),
            Var::Local(local) if state.instances[who].locals[local.0].is_none() => Ok(None),
            Var::Local(local) => self.read(state, Location::Local(who, local.0)).map(Some),
            Var::Bound(at) => Ok(objects.get(at).copied().map(V::Ref)),
            Var::Peer(_) => Ok(None),
        }
    }

    pub(super) fn resolved(
        &mut self,
        state: &State,
        who: usize,
        objects: &[usize],
        var: Var,
    ) -> Run<Option<V>> {
        match self.variable(state, who, objects, var)? {
            Some(value) => self.resolve(state, value).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn locate(
        &mut self,
        state: &State,
        who: usize,
        objects: &[usize],
        place: &Place,
    ) -> Run<Option<Location>> {
        Ok(match place {
            Place::Variable(Var::Global(global)) => Some(Location::Global(global.0)),
            Place::Variable(Var::Local(local)) => Some(Location::Local(who, local.0)),
            Place::Variable(_) => None,
            Place::Field(var, _, field) => match self.variable(state, who, objects, *var)? {
                Some(V::Ref(base)) => Some(Location::Field(base, field.0)),
                _ => None,
            },
            Place::Element(array, index) => {
                let at = match index {
                    Index::Int(at) => Some(V::constant(*at)),
                    Index::Variable(var) => self.resolved(state, who, objects, *var)?,
                    Index::Plus(var, offset) => {
                        self.resolved(state, who, objects, *var)?.map(|value| plus(value, *offset))
                    }
                };
                match at {
                    Some(at) => self.element(array.0, at)?,
                    None => None,
                }
            }
        })
    }

    pub fn term(
        &mut self,
        state: &State,
        who: usize,
        objects: &[usize],
        term: &Term,
    ) -> Run<Option<V>> {
        let place = match term {
            Term::Int(value) => return Ok(Some(V::constant(*value))),
            Term::Null => return Ok(Some(V::Null)),
            Term::Id => return Ok(Some(V::Number(Number::identity(who)))),
            Term::Place(place) | Term::Plus(place, _) => place,
        };
        let value = match place {
            Place::Variable(var) => self.variable(state, who, objects, *var)?,
            _ => match self.locate(state, who, objects, place)? {
                Some(location) => Some(self.read(state, location)?),
                None => None,
            },
        };
        match (term, value) {
            (Term::Plus(_, offset), Some(value)) => {
                Ok(Some(plus(self.resolve(state, value)?, *offset)))
            }
            _ => Ok(value),
        }
    }

    pub fn holds(
        &mut self,
        state: &State,
        who: usize,
        objects: &[usize],
        condition: &Condition,
    ) -> Run<bool> {
        match condition {
            Condition::All(parts) => {
                for part in parts {
                    if !self.holds(state, who, objects, part)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Condition::Any(parts) => {
                for part in parts {
                    if self.holds(state, who, objects, part)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Condition::Atom(Atom { left, relation, right, .. }) => {
                let Some(left) = self.term(state, who, objects, left)? else { return Ok(false) };
                let Some(right) = self.term(state, who, objects, right)? else { return Ok(false) };
                if *relation == Relation::Equal && left == right {
                    return Ok(true);
                }
                let (left, right) = (self.resolve(state, left)?, self.resolve(state, right)?);
                self.compare(left, *relation, right)
            }
        }
    }

    /// The value of a local now.
    pub fn local(&mut self, state: &State, who: usize, local: usize) -> Run<Option<V>> {
        self.variable(state, who, &[], Var::Local(linchpin_subop::model::LocalId(local)))
    }
}

pub(super) fn zero(ty: Type) -> V {
    if ty == Type::Int { V::constant(0) } else { V::Null }
}

pub(super) fn plus(value: V, offset: i64) -> V {
    match value {
        V::Number(number) => V::Number(number.plus(offset)),
        _ => V::Poison,
    }
}

/// The ways to compare that make a comparison true.
pub(super) fn ways(relation: Relation) -> u8 {
    match relation {
        Relation::Equal => EQUAL,
        Relation::NotEqual => LESS | GREATER,
        Relation::Less => LESS,
        Relation::LessOrEqual => LESS | EQUAL,
        Relation::Greater => GREATER,
        Relation::GreaterOrEqual => GREATER | EQUAL,
    }
}
