//! The product of a `.lin` model with its linearizable specification.

use crate::cache::Cache;
use crate::disk::DiskError;
use crate::product::{Parts, Product, Step, To};
use crate::sets::{Place, Policy, Sets};
use linchpin_ir::model_spec::SpecError;
use linchpin_ir::program::Program;
use linchpin_space::{Bounds, Reductions, Space, SpaceError, Stop, Successor, Workspace};
use linchpin_verdict::CrashProperty;
use thiserror::Error;

/// Why a model cannot be checked.
#[derive(Debug, Error)]
pub enum ModelError {
    /// It has no state space that this engine can explore.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// It has no usable specification.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The folder for its states cannot be used.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// A model beside its specification.
pub struct ModelProduct {
    /// The model.
    pub space: Space,
    /// The specification.
    pub sets: Sets,
}

impl ModelProduct {
    /// The product of a program with its specification.
    pub fn new(
        program: &Program,
        bounds: Bounds,
        reductions: Reductions,
        policy: Policy,
    ) -> Result<ModelProduct, ModelError> {
        let space = Space::new(program, bounds, reductions)?;
        let sets = Sets::new(program, policy, space.renamable_values())?;
        space.initial()?;
        Ok(ModelProduct { space, sets })
    }

    /// The same product, with something else asked of runs with crashes.
    pub fn asking(self, property: CrashProperty) -> ModelProduct {
        ModelProduct { sets: self.sets.asking(property), ..self }
    }

    /// The product of a program with a specification whose operations may be linearized only in
    /// these places.
    pub fn trial(
        program: &Program,
        bounds: Bounds,
        reductions: Reductions,
        places: Vec<Place>,
    ) -> Result<ModelProduct, ModelError> {
        // A step that is taken together with another would be in a place where it need not be.
        let reductions = Reductions { partial_order: false, ..reductions };
        let space = Space::new(program, bounds, reductions)?.telling_edges();
        let sets = Sets::trial(program, places, space.renamable_values())?;
        space.initial()?;
        Ok(ModelProduct { space, sets })
    }
}

/// What a worker needs.
#[derive(Default)]
pub struct ModelWorker {
    search: Workspace,
    pack: Workspace,
    /// What it remembers of the specification.
    pub cache: Cache,
    bytes: Vec<u8>,
}

impl Product for ModelProduct {
    type Worker = ModelWorker;

    fn worker(&self) -> ModelWorker {
        ModelWorker::default()
    }

    fn initial(&self) -> (Vec<u8>, u32) {
        let mut worker = ModelWorker::default();
        let flat = self.space.initial().unwrap_or_default();
        let renaming = self.space.pack(&flat, &mut worker.pack, &mut worker.bytes);
        let set = self.sets.renamed(&mut worker.cache, self.sets.initial(), renaming);
        (worker.bytes, set)
    }

    fn expand(
        &self,
        worker: &mut ModelWorker,
        state: &[u8],
        set: u32,
        emit: &mut dyn FnMut(Step<'_>),
    ) {
        let ModelWorker { search, pack, cache, bytes } = worker;
        let known = self.sets.largest(cache, set);
        let mut visit = |successor: Successor<'_>| {
            let Successor { thread, actions, events, stop, .. } = successor;
            let mut after = Some(set);
            for event in events {
                after = after.and_then(|set| self.sets.after(cache, &self.space, set, event));
            }
            let to = match (stop, after) {
                (_, None) => To::Unexplained,
                (Stop::Fault, Some(_)) => To::Fault,
                (Stop::State(flat), Some(set)) => {
                    let renaming = self.space.pack(flat, pack, bytes);
                    let mover = renaming
                        .threads
                        .get(thread)
                        .map_or(thread, |position| usize::from(*position));
                    let set = self.sets.renamed(cache, set, renaming);
                    To::State { bytes, set, mover }
                }
            };
            emit(Step { thread, moves: actions.len(), to });
            true
        };
        self.space.successors(state, known, search, &mut visit);
    }

    fn is_subset(&self, worker: &mut ModelWorker, smaller: u32, larger: u32) -> bool {
        self.sets.is_subset(&mut worker.cache, smaller, larger)
    }

    fn parts(&self, state: &[u8]) -> Parts {
        let (allowance, front) = self.space.parts(state);
        Parts { allowance, front }
    }

    fn allows(&self, more: &[u8], less: &[u8]) -> bool {
        self.space.has_calls(more, less)
    }

    fn take_refused(&self, worker: &mut ModelWorker) -> bool {
        worker.search.take_exhausted()
    }

    fn bytes(&self) -> usize {
        self.sets.bytes()
    }
}
