//! The product of a `.lin` model with its linearizable specification.

use crate::cache::Cache;
use crate::disk::DiskError;
use crate::pairs::{KnownPairs, Pairs};
use crate::product::{Parts, Product, Step, To};
use crate::sets::{Place, Policy, Renamable, Sets};
use crate::together::ClusterError;
use linchpin_ir::model_spec::SpecError;
use linchpin_ir::program::Program;
use linchpin_ir::run::PreloadError;
use linchpin_space::{Bounds, Reductions, Space, SpaceError, Stop, Successor, Workspace};
use linchpin_verdict::CrashProperty;
use std::sync::Arc;
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
    /// The calls of its `preload` cannot be made.
    #[error(transparent)]
    Preload(#[from] PreloadError),
    /// The folder for its states cannot be used.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The processes that should search together cannot.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
}

/// A model beside its specification.
pub struct ModelProduct {
    /// The model.
    pub space: Space,
    /// The specification.
    pub sets: Sets,
    /// Crash parts of states beside sets, where they stand apart from the rest of a state.
    pub(crate) pairs: Option<Pairs>,
}

impl ModelProduct {
    /// The product of a program with its specification.
    pub fn new(
        program: &Program,
        bounds: Bounds,
        reductions: Reductions,
        policy: Policy,
    ) -> Result<ModelProduct, ModelError> {
        let space = match policy {
            Policy::Points => Space::new(program, bounds, reductions)?,
            // Places are edges: it matters where each stands among the steps of others.
            Policy::Trial => Space::new(program, bounds, reductions.one_thread_at_a_time())?,
            Policy::JustInTime | Policy::Eager => {
                Space::new(program, bounds, reductions)?.ignoring_points()
            }
        };
        let sets = Sets::new(program, policy, Renamable::of(&space))?;
        sets.start_after(space.preloaded());
        space.initial()?;
        // A crash part may lead to objects, which count where objects are bounded.
        let apart = reductions.covered_crashes && bounds.has_crashes() && bounds.objects.is_none();
        Ok(ModelProduct { space, sets, pairs: apart.then(Pairs::default) })
    }

    /// The states of a path as they are packed, and the sets beside them.
    pub fn whole(&self, path: &[(Vec<u8>, u32)]) -> Vec<(Vec<u8>, u32)> {
        let Some(pairs) = &self.pairs else { return path.to_vec() };
        let mut known = KnownPairs::default();
        let whole = |(state, number): &(Vec<u8>, u32)| {
            let pair = pairs.pair(&mut known, *number);
            ([&state[..], &pair.bytes].concat(), pair.set)
        };
        path.iter().map(whole).collect()
    }

    /// The states in which recovery ended, without their crash parts, once all is explored; `None`
    /// if they are not known.
    pub(crate) fn recovered(&self) -> Option<Vec<Box<[u8]>>> {
        self.pairs.as_ref().map(Pairs::recovered)
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
        let reductions = Reductions { partial_order: false, ..reductions.one_thread_at_a_time() };
        let space = Space::new(program, bounds, reductions)?.telling_edges();
        let sets = Sets::trial(program, places, Renamable::of(&space))?;
        sets.start_after(space.preloaded());
        space.initial()?;
        Ok(ModelProduct { space, sets, pairs: None })
    }
}

/// What a worker needs.
#[derive(Default)]
pub struct ModelWorker {
    search: Workspace,
    pack: Workspace,
    /// What it remembers of the specification.
    pub cache: Cache,
    known: KnownPairs,
    /// The state that is expanded, with its crash part.
    whole: Vec<u8>,
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
        let ModelWorker { pack, known, bytes, .. } = &mut worker;
        let (state, set) = self.apart(known, bytes, pack.crash_part(), set);
        (state.to_vec(), set)
    }

    fn expand(
        &self,
        worker: &mut ModelWorker,
        state: &[u8],
        set: u32,
        emit: &mut dyn FnMut(Step<'_>),
    ) {
        let ModelWorker { search, pack, cache, known, whole, bytes } = worker;
        let (state, set) = match &self.pairs {
            None => (state, set),
            Some(pairs) => {
                let pair = pairs.pair(known, set);
                whole.clear();
                whole.extend_from_slice(state);
                whole.extend_from_slice(&pair.bytes);
                (&whole[..], pair.set)
            }
        };
        let largest = self.sets.largest(cache, set);
        let threads = self.space.program().threads.len();
        let mut visit = |successor: Successor<'_>| {
            let Successor { thread, actions, events, stop, before, .. } = successor;
            let mut after = Some(set);
            for event in events {
                after = after.and_then(|set| self.sets.after(cache, &self.space, set, event));
            }
            let to = match (stop, after) {
                (_, None) => To::Unexplained,
                (Stop::Fault, Some(_)) => To::Fault,
                (Stop::State(flat), Some(set)) => {
                    let is_inside = thread < threads && self.space.is_pending(flat, thread);
                    let renaming = self.space.pack_after(before, flat, pack, bytes);
                    let mover = renaming
                        .threads
                        .get(thread)
                        .map_or(thread, |position| usize::from(*position));
                    let set = self.sets.renamed(cache, set, renaming);
                    let (bytes, set) = self.apart(known, bytes, pack.crash_part(), set);
                    if let (Some(pairs), true) = (&self.pairs, thread == threads) {
                        pairs.add_recovered(known, bytes);
                    }
                    To::State { bytes, set, mover, is_inside }
                }
            };
            emit(Step { thread, moves: actions.len(), to });
            true
        };
        self.space.successors(state, largest, search, &mut visit);
    }

    fn is_subset(&self, worker: &mut ModelWorker, smaller: u32, larger: u32) -> bool {
        let Some(pairs) = &self.pairs else {
            return self.sets.is_subset(&mut worker.cache, smaller, larger);
        };
        let larger = pairs.pair(&mut worker.known, larger).clone();
        let smaller = pairs.pair(&mut worker.known, smaller);
        (Arc::ptr_eq(&smaller.crash, &larger.crash) || smaller.crash.covers(&larger.crash))
            && (smaller.set == larger.set
                || self.sets.is_subset(&mut worker.cache, smaller.set, larger.set))
    }

    fn rank(&self, worker: &mut ModelWorker, set: u32) -> usize {
        let Some(pairs) = &self.pairs else { return 0 };
        let all = self.space.crashes_at_start();
        let left = pairs.pair(&mut worker.known, set).crash.left();
        usize::from(all.system - left.system) + usize::from(all.thread - left.thread)
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
        self.sets.bytes() + self.pairs.as_ref().map_or(0, Pairs::bytes)
    }
}

impl ModelProduct {
    /// A packed state as the search keeps it.
    fn apart<'a>(
        &self,
        known: &mut KnownPairs,
        bytes: &'a [u8],
        crash_part: usize,
        set: u32,
    ) -> (&'a [u8], u32) {
        match &self.pairs {
            None => (bytes, set),
            Some(pairs) => {
                let (state, crash_part) = bytes.split_at(crash_part);
                (state, pairs.number(known, crash_part, set))
            }
        }
    }
}
