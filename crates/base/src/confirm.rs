//! The linearization that the proof of Theorem 2 builds, followed on every execution.
//!
//! An update takes effect at its step that does not preserve the base points of read-only
//! operations; between two such steps a read-only operation alone answers what the specification
//! says. If both are so in every execution, every execution has a linearization, however the
//! definitions are read. So a verdict of this engine never rests on the proof in the paper.

use crate::alone::Call;
use crate::outcome::Words;
use linchpin_ir::model_spec::{ModelObject, SpecError, spec_of};
use linchpin_ir::program::{Operation, Program};
use linchpin_space::Space;
use linchpin_spec::{Call as SpecCall, Spec, Value};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The states that the specified object may be in: one, unless the specification is
/// nondeterministic.
pub type SpecSet = u32;

/// The specification, and the sets of its states that were met.
pub struct Specification {
    object: ModelObject,
    sets: Vec<Rc<[Value]>>,
    ids: FxHashMap<Rc<[Value]>, SpecSet>,
    applied: FxHashMap<(SpecSet, usize, Words), Option<SpecSet>>,
    unchanged: FxHashMap<(SpecSet, usize, Words), bool>,
}

impl Specification {
    /// That of a program, in its initial state, which is set 0.
    pub fn new(program: &Program) -> Result<Specification, SpecError> {
        let object = spec_of(program)?;
        let initial = object.spec.initial();
        let mut specification = Specification {
            object,
            sets: Vec::new(),
            ids: FxHashMap::default(),
            applied: FxHashMap::default(),
            unchanged: FxHashMap::default(),
        };
        specification.intern(vec![initial]);
        Ok(specification)
    }

    fn intern(&mut self, states: Vec<Value>) -> SpecSet {
        let states: Rc<[Value]> = states.into();
        if let Some(id) = self.ids.get(&states) {
            return *id;
        }
        let id = self.sets.len() as SpecSet;
        self.sets.push(Rc::clone(&states));
        self.ids.insert(states, id);
        id
    }

    /// The states after a call that answers this; `None` if no state allows it.
    pub fn apply(
        &mut self,
        space: &Space,
        set: SpecSet,
        (number, call): (usize, &Call),
        answer: &Words,
    ) -> Option<SpecSet> {
        let key = (set, number, answer.clone());
        if let Some(after) = self.applied.get(&key) {
            return *after;
        }
        let (made, response) = self.call(space, call, answer);
        let mut after: Vec<Value> = Vec::new();
        for state in self.sets[set as usize].iter() {
            for outcome in self.object.spec.apply(state, &made, Some(&response)) {
                if outcome.response == response && !after.contains(&outcome.state) {
                    after.push(outcome.state);
                }
            }
        }
        let after = (!after.is_empty()).then(|| self.intern(after));
        self.applied.insert(key, after);
        after
    }

    /// Whether in every state of the set the call may answer this and change nothing.
    pub fn answers_unchanged(
        &mut self,
        space: &Space,
        set: SpecSet,
        (number, call): (usize, &Call),
        answer: &Words,
    ) -> bool {
        let key = (set, number, answer.clone());
        if let Some(known) = self.unchanged.get(&key) {
            return *known;
        }
        let (made, response) = self.call(space, call, answer);
        let same = |state: &Value| {
            let outcomes = self.object.spec.apply(state, &made, Some(&response));
            outcomes.iter().any(|outcome| outcome.response == response && outcome.state == *state)
        };
        let known = self.sets[set as usize].iter().all(same);
        self.unchanged.insert(key, known);
        known
    }

    fn call(&self, space: &Space, call: &Call, answer: &Words) -> (SpecCall, Value) {
        let operation = self.object.operations[call.operation];
        let arguments = space.arguments(call.operation, &call.arguments);
        let argument = Operation::argument(&arguments);
        (SpecCall { operation, argument }, space.response(call.operation, answer))
    }
}
