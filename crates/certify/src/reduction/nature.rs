//! Which variables can hold `NULL` or poison at all, over all executions: found by executing.
//!
//! First nothing is thought to hold either but what does at the start, and arguments, which may be
//! `NULL`. Then every step is executed, alone, in all states in which variables hold only what they
//! are thought to; what it stores somewhere else is added, until nothing is. Then every step leads
//! from such a state to such a state, and by induction there are no others.

use linchpin_subop::Model;
use linchpin_subop::model::{GlobalKind, Type};
use std::collections::BTreeSet;

use super::ReductionError;
use super::order::{Number, Order};
use super::proof::{Path, Proof};
use super::symbolic::{Location, Run, Script, State, Symbolic, V};

/// So many executions of one step are looked at.
const MOST: usize = 200_000;

/// A variable of the model, all objects and elements taken together. Locals: the operation and the
/// local.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    Global(usize),
    Field(usize, usize),
    Local(usize, usize),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Natures {
    pub null: BTreeSet<Holder>,
    pub poison: BTreeSet<Holder>,
}

impl Natures {
    /// Executes the steps of a model; `paths` are all its paths.
    pub fn of(model: &Model, paths: Vec<Path>) -> Result<Natures, ReductionError> {
        let mut proof = Proof {
            model: model.clone(),
            identities: Order::default(), // any integers: that is more than they can be
            paths,
            invariants: Vec::new(),
            closures: Vec::new(),
            natures: Natures::default(),
        };
        proof.natures = at_the_start(&proof);
        loop {
            let mut found = proof.natures.clone();
            for path in (0..proof.paths.len()).filter(|path| proof.paths[*path].parent.is_some()) {
                found.observe(&proof, path)?;
            }
            if found == proof.natures {
                return Ok(found);
            }
            proof.natures = found;
        }
    }

    fn record(&mut self, holder: Holder, value: V) {
        match value {
            V::Null => self.null.insert(holder),
            V::Poison => self.poison.insert(holder),
            _ => false,
        };
    }

    /// What the last step of a path stores.
    fn observe(&mut self, proof: &Proof, path: usize) -> Result<(), ReductionError> {
        let parent = proof.paths[path].parent.unwrap_or(path);
        let (symbolic, before) = Symbolic::new(proof, &[parent]);
        let mut script = Script::default();
        for _ in 0..MOST {
            let mut symbolic = symbolic.with(script);
            // A run that is not possible stores nothing.
            let _ = self.stored(&mut symbolic, before.clone(), path);
            script = symbolic.script;
            if !script.advance() {
                return Ok(());
            }
        }
        Err(ReductionError::TooLarge("a step has too many cases".to_owned()))
    }

    fn stored(&mut self, symbolic: &mut Symbolic, mut state: State, path: usize) -> Run<()> {
        if !symbolic.execute(&mut state, 0, path)? {
            return Ok(());
        }
        for (location, value) in state.changed.clone() {
            let value = symbolic.resolve(&state, value)?;
            self.record(symbolic.holder(location, &state), value);
        }
        for local in 0..state.instances[0].locals.len() {
            if let Some(Some(value)) = state.instances[0].locals[local] {
                let value = symbolic.resolve(&state, value)?;
                self.record(symbolic.holder(Location::Local(0, local), &state), value);
            }
        }
        Ok(())
    }
}

/// What variables hold before the first step.
fn at_the_start(proof: &Proof) -> Natures {
    let mut natures = Natures::default();
    for (operation, body) in proof.model.operations.iter().enumerate() {
        natures.null.extend((0..body.arguments).map(|argument| Holder::Local(operation, argument)));
    }
    let Ok((mut symbolic, state)) = Symbolic::start(proof) else { return natures };
    let mut locations: Vec<Location> = state.changed.keys().copied().collect();
    for (global, declared) in proof.model.globals.iter().enumerate() {
        match declared.kind {
            GlobalKind::Scalar(_) => locations.push(Location::Global(global)),
            // An element that is not mentioned is like any other.
            GlobalKind::Array(_) => {
                locations.push(Location::Element(global, Number::constant(i64::MIN)));
            }
            GlobalKind::Place(_) => {}
        }
    }
    for (of, structure) in proof.model.structs.iter().enumerate() {
        for (field, variable) in structure.fields.iter().enumerate() {
            // In objects that exist at the start; of others the steps tell.
            if variable.ty != Type::Int
                && !symbolic.objects_of(linchpin_subop::model::StructId(of)).is_empty()
            {
                natures.null.insert(Holder::Field(of, field));
            }
        }
    }
    for location in locations {
        if let Ok(value) = symbolic.read(&state, location) {
            natures.record(symbolic.holder(location, &state), value);
        }
    }
    natures
}
