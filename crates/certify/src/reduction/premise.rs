//! What is said of the state before the run: facts, invariants, and where allocated objects stand.

use linchpin_subop::model::{Atom, Condition, Index, Place, Relation, StructId, Term, Type, Var};
use std::collections::BTreeMap;

use super::order::{EQUAL, Number};
use super::symbolic::{Impossible, Location, Premise, Run, State, Symbolic, V, plus, ways};

/// One choice of objects after the other: there may be too many to have them all at once.
pub type Choices = Box<dyn Iterator<Item = Vec<usize>>>;

impl<'p> Symbolic<'p> {
    /// Whether everything that is said of the state before the run holds; of invariants about
    /// objects, for those that came up, and of those about two, for those of which one is known to
    /// refer to the other. To leave some out is to look at more states than there are.
    pub fn satisfies_premises(&mut self, start: &State) -> Run<bool> {
        let proof = self.proof;
        for (who, instance) in start.instances.iter().enumerate() {
            let path = &proof.paths[instance.path];
            path.facts.iter().try_for_each(|fact| self.assume(start, who, fact))?;
        }
        for (bound, condition) in &proof.invariants {
            for objects in self.old_objects_of(bound) {
                if let [one, other] = objects[..]
                    && !self.refers(one, other)
                {
                    continue;
                }
                if !self.holds(start, 0, &objects, condition)? {
                    return Err(Impossible);
                }
            }
        }
        Ok(true)
    }

    /// Whether a field of one object is known to have been a reference to the other.
    fn refers(&self, one: usize, other: usize) -> bool {
        let fields = 0..self.model.structs[self.objects[one].of.0].fields.len();
        fields
            .into_iter()
            .any(|field| self.before.get(&Location::Field(one, field)) == Some(&V::Ref(other)))
    }

    fn old_objects_of(&self, structs: &[StructId]) -> Choices {
        self.choices_of(structs, |object| !self.objects[object].fresh)
    }

    /// Every choice of objects of these structs that came up.
    pub fn choices_of(&self, structs: &[StructId], wanted: impl Fn(usize) -> bool) -> Choices {
        let objects = |of: &StructId| -> Vec<usize> {
            self.objects_of(*of).into_iter().filter(|at| wanted(*at)).collect()
        };
        let all: Vec<Vec<usize>> = structs.iter().map(objects).collect();
        let count = all.iter().map(Vec::len).product();
        // The choices, counted: one digit for each struct.
        Box::new((0..count).map(move |mut number: usize| {
            let digit = |objects: &Vec<usize>| {
                let object = objects[number % objects.len()];
                number /= objects.len();
                object
            };
            all.iter().map(digit).collect()
        }))
    }

    /// Goes on only if this holds of the instance. Where that is open it is decided here: there is
    /// no need to try the other way.
    pub fn assume(&mut self, state: &State, who: usize, condition: &Condition) -> Run<()> {
        match condition {
            Condition::All(parts) => {
                parts.iter().try_for_each(|part| self.assume(state, who, part))
            }
            Condition::Any(_) if self.holds(state, who, &[], condition)? => Ok(()),
            Condition::Any(_) => Err(Impossible),
            Condition::Atom(atom) => self.assume_atom(state, who, atom),
        }
    }

    fn assume_atom(&mut self, state: &State, who: usize, atom: &Atom) -> Run<()> {
        if atom.relation == Relation::Equal {
            for (one, other) in [(&atom.left, &atom.right), (&atom.right, &atom.left)] {
                if let Some((location, of)) = self.unread(state, who, one)? {
                    let Some(value) = self.term(state, who, &[], other)? else {
                        return Err(Impossible);
                    };
                    // The other term may be the same location, which has a value now.
                    if self.before.contains_key(&location) {
                        continue;
                    }
                    let options = self.options(state, location, Type::Ref(of));
                    if !options.contains(&value) {
                        return Err(Impossible);
                    }
                    return self.holds_before(state, location, value);
                }
            }
        }
        let left = self.term(state, who, &[], &atom.left)?.ok_or(Impossible)?;
        let right = self.term(state, who, &[], &atom.right)?.ok_or(Impossible)?;
        if atom.relation == Relation::Equal && left == right {
            return Ok(());
        }
        let (left, right) = (self.resolve(state, left)?, self.resolve(state, right)?);
        match self.compares(left, atom.relation, right) {
            Some(true) => Ok(()),
            Some(false) => Err(Impossible),
            None => self.restrict(left, right, ways(atom.relation)),
        }
    }

    /// The location that a term reads, if it refers to an object and nothing is known of it yet.
    fn unread(
        &mut self,
        state: &State,
        who: usize,
        term: &Term,
    ) -> Run<Option<(Location, StructId)>> {
        let Term::Place(place) = term else { return Ok(None) };
        if matches!(place, Place::Variable(Var::Local(_) | Var::Bound(_) | Var::Peer(_))) {
            return Ok(None);
        }
        let Some(location) = self.locate(state, who, &[], place)? else { return Ok(None) };
        let known = self.before.contains_key(&location)
            || state.changed.contains_key(&location)
            || self.beginning
            || matches!(location, Location::Global(global) if self.places.contains_key(&global));
        match self.type_of(location, state) {
            Type::Ref(of) if !known => Ok(Some((location, of))),
            _ => Ok(None),
        }
    }

    pub(super) fn respect_reaches(
        &mut self,
        state: &State,
        location: Location,
        value: V,
    ) -> Run<()> {
        for at in 0..self.reaches.len() {
            let (who, local, places) = self.reaches[at];
            if self.before.get(&Location::Local(who, local)) != Some(&value) {
                continue;
            }
            let mut member = false;
            for place in places {
                member |= self.locate_before(state, who, place)? == Some(location);
            }
            if !member {
                return Err(Impossible);
            }
        }
        Ok(())
    }

    pub(super) fn locate_before(
        &mut self,
        state: &State,
        who: usize,
        place: &Place,
    ) -> Run<Option<Location>> {
        let plain = State {
            changed: BTreeMap::new(),
            stored: Vec::new(),
            instances: state.instances.clone(),
        };
        // INVARIANT: a local that was set before the run has the value that it had then; the others
        // had none.
        let mut plain = plain;
        plain.instances[who].path = self.begun[who];
        let set = &self.proof.paths[self.begun[who]].set;
        for (local, set) in set.iter().enumerate() {
            plain.instances[who].locals[local] = set.then_some(None);
        }
        self.locate(&plain, who, &[], place)
    }

    /// No premise is false, as far as it is known.
    pub(super) fn respect_premises(&self) -> Run<()> {
        if self.script.repeats() {
            return Ok(()); // they were looked at then
        }
        let known =
            |premise: &Premise| self.known(premise.who, &[], premise.condition) != Some(false);
        if !self.premises.iter().all(known) {
            return Err(Impossible);
        }
        for (bound, condition) in &self.proof.invariants {
            if bound.is_empty() {
                continue;
            }
            for objects in self.old_objects_of(bound) {
                if self.known(0, &objects, condition) == Some(false) {
                    return Err(Impossible);
                }
            }
        }
        Ok(())
    }

    /// The value of a condition before the run, if what was chosen so far decides it.
    pub(super) fn known(
        &self,
        who: usize,
        objects: &[usize],
        condition: &Condition,
    ) -> Option<bool> {
        match condition {
            Condition::All(parts) => {
                let values: Vec<_> =
                    parts.iter().map(|part| self.known(who, objects, part)).collect();
                if values.contains(&Some(false)) {
                    Some(false)
                } else {
                    values.into_iter().collect::<Option<Vec<_>>>().map(|_| true)
                }
            }
            Condition::Any(parts) => {
                let values: Vec<_> =
                    parts.iter().map(|part| self.known(who, objects, part)).collect();
                if values.contains(&Some(true)) {
                    Some(true)
                } else {
                    values.into_iter().collect::<Option<Vec<_>>>().map(|_| false)
                }
            }
            Condition::Atom(atom) => {
                let left = self.known_term(who, objects, &atom.left)?;
                let right = self.known_term(who, objects, &atom.right)?;
                match (left, right) {
                    (Some(left), Some(right)) => self.compares(left, atom.relation, right),
                    _ => Some(false),
                }
            }
        }
    }

    /// `None`: not chosen yet. `Some(None)`: not defined.
    pub(super) fn known_term(
        &self,
        who: usize,
        objects: &[usize],
        term: &Term,
    ) -> Option<Option<V>> {
        match term {
            Term::Int(value) => Some(Some(V::constant(*value))),
            Term::Null => Some(Some(V::Null)),
            Term::Id => Some(Some(V::Number(Number::identity(who)))),
            Term::Place(place) => self.known_place(who, objects, place),
            Term::Plus(place, offset) => {
                Some(self.known_place(who, objects, place)?.map(|value| plus(value, *offset)))
            }
        }
    }

    pub(super) fn known_variable(
        &self,
        who: usize,
        objects: &[usize],
        var: Var,
    ) -> Option<Option<V>> {
        match var {
            Var::Global(global) => match self.places.get(&global.0) {
                Some(object) => Some(Some(V::Ref(*object))),
                None => self.before.get(&Location::Global(global.0)).map(|value| Some(*value)),
            },
            Var::Local(local) => {
                self.before.get(&Location::Local(who, local.0)).map(|value| Some(*value))
            }
            Var::Bound(at) => Some(objects.get(at).copied().map(V::Ref)),
            Var::Peer(_) => Some(None),
        }
    }

    pub(super) fn known_place(
        &self,
        who: usize,
        objects: &[usize],
        place: &Place,
    ) -> Option<Option<V>> {
        let location = match place {
            Place::Variable(var) => return self.known_variable(who, objects, *var),
            Place::Field(var, _, field) => match self.known_variable(who, objects, *var)? {
                Some(V::Ref(base)) => Location::Field(base, field.0),
                _ => return Some(None),
            },
            Place::Element(array, index) => {
                let (at, offset) = match index {
                    Index::Int(at) => (Some(V::constant(*at)), 0),
                    Index::Variable(var) => (self.known_variable(who, objects, *var)?, 0),
                    Index::Plus(var, offset) => (self.known_variable(who, objects, *var)?, *offset),
                };
                let Some(V::Number(at)) = at.map(|at| plus(at, offset)) else {
                    return Some(None);
                };
                let mut elements = self.elements.iter().filter(|(of, _)| *of == array.0);
                let equal = |key: Number| self.order.possible(key, at) == EQUAL;
                let key = elements.find(|(_, key)| equal(*key))?.1;
                Location::Element(array.0, key)
            }
        };
        self.before.get(&location).map(|value| Some(*value))
    }
}
