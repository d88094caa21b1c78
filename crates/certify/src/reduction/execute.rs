//! Executing steps in one concrete state, and comparing the states that they lead to.

use linchpin_subop::model::{
    FieldId, Place, Relation, Statement, StructId, SubOperation, Term, Type, Var,
};

use super::proof::Path;
use super::symbolic::{Location, Object, Run, State, Symbolic, V, zero};

impl<'p> Symbolic<'p> {
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
            let value = match (self.guesses.get(&(who, *local)), ty) {
                (_, Type::Int) => V::Later(Location::Guess(who, *local)),
                (Some(V::Ref(object)), _) if !self.guessable(state, *object) => return Ok(false),
                (Some(value), _) => *value,
                (None, Type::Ref(of)) => {
                    let options = self.references(state, of);
                    let value = options[self.script.choose(options.len())];
                    if value == V::Ref(self.objects.len()) {
                        self.objects.push(Object {
                            of,
                            fresh: false,
                            hidden: false,
                            certain: false,
                        });
                    }
                    // What is guessed and was not stored in the run was stored before it.
                    if let V::Ref(object) = value
                        && !state.stored.contains(&object)
                    {
                        self.objects[object].certain = true;
                    }
                    self.guesses.insert((who, *local), value);
                    value
                }
            };
            state.instances[who].locals[*local] = Some(Some(value));
        }
        self.run_step(state, who, path, step)
    }

    /// Whether the last step of a path can be executed for some choice of its guesses.
    pub fn enabled(&mut self, state: &State, who: usize, path: usize) -> Run<bool> {
        let proof = self.proof;
        let data = &proof.paths[path];
        let Some(step) = data.last(&proof.model) else { return Ok(true) };
        // What the guesses are compared with decides which of them fit.
        for atom in step.precondition.atoms() {
            for term in [&atom.left, &atom.right] {
                self.term(state, who, &[], term)?;
            }
        }
        let open: Vec<usize> = data
            .guessed
            .iter()
            .copied()
            .filter(|local| state.instances[who].locals[*local].is_none())
            .collect();
        self.try_guesses(state, who, path, step, &open)
    }

    /// Whether two values are equal.
    pub fn agree(&mut self, state: &State, left: Option<V>, right: Option<V>) -> Run<bool> {
        match (left, right) {
            (Some(left), Some(right)) if left != right => {
                let (left, right) = (self.resolve(state, left)?, self.resolve(state, right)?);
                self.compare(left, Relation::Equal, right)
            }
            _ => Ok(left == right),
        }
    }

    /// Whether two states are the same; `matters` says for each instance if it does, and if it goes
    /// on.
    pub fn same(&mut self, one: &State, other: &State, matters: [Option<bool>; 2]) -> Run<bool> {
        let written: Vec<Location> =
            one.changed.keys().chain(other.changed.keys()).copied().collect();
        for location in written {
            let (left, right) = (self.read(one, location)?, self.read(other, location)?);
            if !self.agree(one, Some(left), Some(right))? {
                return Ok(false);
            }
        }
        for (who, matters) in matters.into_iter().enumerate().take(one.instances.len()) {
            let Some(goes_on) = matters else { continue };
            let (left, right) = (one.instances[who].clone(), other.instances[who].clone());
            match (&left.results, &right.results) {
                (Some(left), Some(right)) if left.len() == right.len() => {
                    for (left, right) in left.iter().zip(right) {
                        if !self.agree(one, Some(*left), Some(*right))? {
                            return Ok(false);
                        }
                    }
                }
                (None, None) => {}
                _ => return Ok(false),
            }
            if !goes_on && left.results.is_some() {
                continue;
            }
            for slot in left.reads.keys().chain(right.reads.keys()) {
                if !self.agree(
                    one,
                    left.reads.get(slot).copied(),
                    right.reads.get(slot).copied(),
                )? {
                    return Ok(false);
                }
            }
            for local in 0..left.locals.len() {
                if left.locals[local] == right.locals[local] {
                    continue;
                }
                let (left, right) = (self.local(one, who, local)?, self.local(other, who, local)?);
                if !self.agree(one, left, right)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether a read, in the state `there`, gives what the locals hold at the end; `guessed` are
    /// the locals that it reads before it writes them, `assigned` those that some step assigns.
    pub fn would_read(
        &mut self,
        there: &State,
        end: &State,
        read: &SubOperation,
        targets: &[(usize, Place)],
        (guessed, assigned): (&[usize], &[usize]),
    ) -> Run<bool> {
        let mut there = there.clone();
        // The local must get its first value here: a guess before would be another one.
        if targets.iter().any(|(target, _)| there.instances[0].locals[*target].is_some()) {
            return Ok(false);
        }
        for local in 0..there.instances[0].locals.len() {
            if there.instances[0].locals[local].is_some()
                || targets.iter().any(|(target, _)| *target == local)
                || assigned.contains(&local)
            {
                continue;
            }
            // INVARIANT: it is what was guessed all the time, for nothing assigns it. What is
            // guessed later must be possible to be guessed now.
            there.instances[0].locals[local] = match self.local(end, 0, local)? {
                Some(V::Ref(object)) if !self.guessable(&there, object) => None,
                value => value.map(Some),
            };
        }
        // What the read guesses has a value there.
        if guessed.iter().any(|local| there.instances[0].locals[*local].is_none()) {
            return Ok(false);
        }
        if !self.holds(&there, 0, &[], &read.precondition)? {
            return Ok(false);
        }
        for (target, place) in targets {
            let value = self.term(&there, 0, &[], &Term::Place(*place))?;
            let guessed = self.local(end, 0, *target)?;
            if value.is_none() || !self.agree(end, value, guessed)? {
                return Ok(false);
            }
            there.instances[0].locals[*target] = value.map(Some);
        }
        Ok(true)
    }

    /// The shared locations that were written with a reference to this object.
    pub fn holders(&self, state: &State, object: usize) -> Vec<Location> {
        let changed = state.changed.iter();
        changed
            .filter(|(_, value)| **value == V::Ref(object))
            .map(|(location, _)| *location)
            .collect()
    }

    /// Where a place is, now.
    pub fn find(&mut self, state: &State, who: usize, place: &Place) -> Run<Option<Location>> {
        self.locate(state, who, &[], place)
    }

    /// Whether the object was allocated during the run.
    pub fn is_fresh(&self, object: usize) -> bool {
        self.objects[object].fresh
    }

    /// Whether a reference can be guessed now, for sure.
    fn guessable(&self, state: &State, object: usize) -> bool {
        self.objects[object].certain || state.stored.contains(&object)
    }

    /// Whether a reference can perhaps be guessed now.
    fn published(&self, state: &State, object: usize) -> bool {
        let known = &self.objects[object];
        (!known.fresh && !known.hidden) || state.stored.contains(&object)
    }

    /// What a reference may be guessed to be: what is published, another object, or `NULL`.
    fn references(&self, state: &State, of: StructId) -> Vec<V> {
        let published = |object: &usize| self.published(state, *object);
        let known = self.objects_of(of).into_iter().filter(published).map(V::Ref);
        known.chain([V::Ref(self.objects.len()), V::Null]).collect()
    }

    /// Integers, one of which fits a precondition if any does, in most cases: those that make an
    /// atom about the local true or false, those that elements are found by, and any other. To
    /// overlook one is to find fewer steps enabled.
    fn fitting(
        &mut self,
        state: &State,
        who: usize,
        step: &SubOperation,
        local: usize,
    ) -> Run<Vec<V>> {
        let mut fitting = Vec::new();
        for atom in step.precondition.atoms() {
            for (term, other) in [(atom.left, &atom.right), (atom.right, &atom.left)] {
                let offset = match term {
                    Term::Place(Place::Variable(Var::Local(at))) if at.0 == local => 0,
                    Term::Plus(Place::Variable(Var::Local(at)), offset) if at.0 == local => offset,
                    _ => continue,
                };
                if let Some(other) = self.term(state, who, &[], other)?
                    && let V::Number(other) = self.resolve(state, other)?
                {
                    fitting.extend([0, 1, -1].map(|by| V::Number(other.plus(by - offset))));
                }
            }
        }
        fitting.extend(self.elements.iter().map(|(_, key)| V::Number(*key)));
        fitting.extend([self.number(), V::Null]);
        Ok(fitting)
    }

    pub(super) fn run_step(
        &mut self,
        state: &mut State,
        who: usize,
        path: usize,
        step: &SubOperation,
    ) -> Run<bool> {
        if self.must {
            self.assume(state, who, &step.precondition)?;
        } else if !self.holds(state, who, &[], &step.precondition)? {
            return Ok(false);
        }
        if !self.statements(state, who, path, &step.body)? {
            return Ok(false);
        }
        if let Some(terms) = &step.result {
            let mut results = Vec::new();
            for term in terms {
                let Some(value) = self.term(state, who, &[], term)? else { return Ok(false) };
                results.push(value);
            }
            state.instances[who].results = Some(results);
        }
        state.instances[who].path = path;
        Ok(true)
    }

    pub(super) fn try_guesses(
        &mut self,
        state: &State,
        who: usize,
        path: usize,
        step: &SubOperation,
        open: &[usize],
    ) -> Run<bool> {
        let Some((local, rest)) = open.split_first() else {
            return self.run_step(&mut state.clone(), who, path, step);
        };
        let limit = self.objects.len();
        let options = match self.type_of(Location::Local(who, *local), state) {
            Type::Int => self.fitting(state, who, step, *local)?,
            Type::Ref(of) => {
                let mut known = self.references(state, of);
                known.retain(
                    |value| !matches!(value, V::Ref(object) if *object < limit && !self.guessable(state, *object)),
                );
                known
            }
        };
        for value in options {
            if matches!(value, V::Ref(object) if object >= limit) {
                continue;
            }
            let mut chosen = state.clone();
            chosen.instances[who].locals[*local] = Some(Some(value));
            // What comes up with this guess may be the next one.
            for atom in step.precondition.atoms() {
                self.term(&chosen, who, &[], &atom.left)?;
                self.term(&chosen, who, &[], &atom.right)?;
            }
            if self.try_guesses(&chosen, who, path, step, rest)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn statements(
        &mut self,
        state: &mut State,
        who: usize,
        path: usize,
        statements: &[Statement],
    ) -> Run<bool> {
        for (at, statement) in statements.iter().enumerate() {
            match statement {
                Statement::Assign { place, value, .. } => {
                    let Some(value) = self.term(state, who, &[], value)? else { return Ok(false) };
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
                            self.objects.push(Object {
                                of: *of,
                                fresh: true,
                                hidden: true,
                                certain: false,
                            });
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
                    let Some(V::Ref(object)) = self.variable(state, who, &[], *var)? else {
                        return Ok(false);
                    };
                    for field in 0..self.model.structs[of.0].fields.len() {
                        state.changed.insert(Location::Field(object, FieldId(field).0), V::Poison);
                    }
                }
                Statement::Read { place, slot, .. } => {
                    let Some(value) = self.term(state, who, &[], &Term::Place(*place))? else {
                        return Ok(false);
                    };
                    state.instances[who].reads.insert(*slot, value);
                }
            }
        }
        Ok(true)
    }

    /// Whether a local already holds an object that is yet to be allocated.
    pub(super) fn is_held(&self, state: &State, object: usize) -> bool {
        let locals = state.instances.iter().flat_map(|instance| &instance.locals);
        locals.flatten().any(|value| *value == Some(V::Ref(object)))
    }

    pub(super) fn write(
        &mut self,
        state: &mut State,
        who: usize,
        place: &Place,
        value: V,
    ) -> Run<bool> {
        if let Place::Variable(Var::Local(local)) = place {
            state.instances[who].locals[local.0] = Some(Some(value));
            return Ok(true);
        }
        let Some(location) = self.locate(state, who, &[], place)? else { return Ok(false) };
        state.changed.insert(location, value);
        if let V::Ref(object) = value {
            state.stored.push(object);
        }
        Ok(true)
    }
}
