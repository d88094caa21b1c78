//! The analysis from outside: which operations update, how their calls without update steps are
//! treated, and what comes of it.

use crate::code::{Code, NotApplicable};
use crate::confirm::Specification;
use crate::explore::{Explored, Explorer, Treatment, calls_of};
use crate::finding::Finding;
use crate::shared::SharedStates;
use crate::store::Store;
use crate::tally::Tally;
use linchpin_engine::{Rule, WithoutUpdates};
use linchpin_ir::model_spec::SpecError;
use linchpin_ir::program::Program;
use linchpin_space::{Bounds, Reductions, Space, SpaceError};
use linchpin_verdict::{Limits, StopReason};
use thiserror::Error;

/// Why an analysis cannot be made.
#[derive(Debug, Error)]
pub enum BaseError {
    /// The definitions do not apply to the model.
    #[error(transparent)]
    NotApplicable(#[from] NotApplicable),
    /// The model has no state space.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// The model has no specification.
    #[error(transparent)]
    Specification(#[from] SpecError),
}

/// What is analysed, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is explored.
    pub bounds: Bounds,
    /// What is identified; values are told apart whatever this says.
    pub reductions: Reductions,
    /// When to give up.
    pub limits: Limits,
    /// Treat calls without update steps as the paper has it, even where that fails.
    pub as_printed: bool,
}

impl Options {
    /// Within these bounds, with all reductions and without limits.
    pub fn new(bounds: Bounds) -> Options {
        let limits = Limits::default();
        Options { bounds, reductions: Reductions::ALL, limits, as_printed: false }
    }
}

/// What an analysis has come to.
pub struct Analysis {
    /// The state space.
    pub space: Space,
    /// How operations were treated.
    pub treatment: Treatment,
    /// The conditions that fail.
    pub findings: Vec<Finding>,
    /// Those of them that made the analysis treat calls without update steps as reads.
    pub as_printed: Vec<Finding>,
    /// How often each was checked, and what steps do.
    pub tally: Tally,
    /// The shared states that were met.
    pub shared: SharedStates,
    /// Why not all states were explored, if so.
    pub stopped: Option<StopReason>,
    /// Whether a step failed in some execution.
    pub has_fault: bool,
    pub(crate) store: Store,
    pub(crate) earlier: Option<Store>,
}

impl Analysis {
    /// Whether every condition holds in every execution within the bounds.
    pub fn holds(&self) -> bool {
        self.findings.is_empty() && self.stopped.is_none() && !self.has_fault
    }

    /// About how many bytes the states take.
    pub fn kept_bytes(&self) -> usize {
        self.store.kept_bytes() + self.shared.kept_bytes()
    }

    /// How many states were explored.
    pub fn states(&self) -> usize {
        self.store.len()
    }
}

/// Explores a program and checks the conditions of Theorem 2 on every execution.
pub fn analyse(
    program: &Program,
    options: &Options,
    observe: &dyn Fn(usize),
) -> Result<Analysis, BaseError> {
    let program = &*program.from_init();
    let code = Code::new(program, options.bounds.memory)?;
    let mut reductions = options.reductions;
    // Calls are told apart by their arguments, and by their thread where the code asks for it.
    reductions.value_symmetry = false;
    reductions.thread_symmetry &= !code.names_threads;
    // What is renamed along a step must be known: the heap is canonical, events are merged.
    reductions.canonical_heap = true;
    reductions.merged_events = true;
    // Conditions look at fields that no operation may read any more.
    reductions.dead_fields = false;
    // They follow each thread along its edges.
    reductions.settled_fields = false;
    let reductions = reductions.one_thread_at_a_time();
    let space =
        Space::new(program, options.bounds, reductions)?.telling_edges().with_writes_apart();
    let calls = calls_of(&space, &code)?;
    let read_only: Vec<bool> = code.can_write.iter().map(|writes| !writes).collect();
    let without_updates = vec![WithoutUpdates::LastRead; program.operations.len()];
    let mut treatment = Treatment { read_only, without_updates };
    let (mut as_printed, mut earlier) = (Vec::new(), None);
    loop {
        let specification = Specification::new(program)?;
        let explorer = Explorer::new(&space, &code, &treatment, calls.clone(), specification);
        let initial = space.initial()?;
        let explored = explorer.explore(&initial, &options.limits, observe);
        let again = explored.stopped.is_none()
            && retreat(&mut treatment, &explored, options.as_printed, &mut as_printed);
        if again {
            earlier.get_or_insert(explored.store);
            continue;
        }
        let Explored { findings, tally, shared, store, stopped, fault } = explored;
        return Ok(Analysis {
            space,
            treatment,
            findings: findings.iter().cloned().collect(),
            as_printed,
            tally,
            shared,
            stopped,
            has_fault: fault.is_some(),
            store,
            earlier,
        });
    }
}

/// Treats operations differently where that may help: an operation that never updates is
/// read-only; calls without update steps whose last read is no base point are treated as reads.
/// Whether something has changed.
fn retreat(
    treatment: &mut Treatment,
    explored: &Explored,
    as_printed: bool,
    kept: &mut Vec<Finding>,
) -> bool {
    let mut changed = false;
    for operation in 0..treatment.read_only.len() {
        let updates = explored.tally.steps.keys().any(|(of, _)| *of == operation);
        if !treatment.read_only[operation] && !updates {
            treatment.read_only[operation] = true;
            changed = true;
        }
    }
    if changed || as_printed {
        return changed;
    }
    for finding in explored.findings.iter().filter(|finding| finding.rule == Rule::LastRead) {
        let treated = &mut treatment.without_updates[finding.operation];
        if *treated == WithoutUpdates::LastRead {
            *treated = WithoutUpdates::ReadOnly;
            kept.push(finding.clone());
            changed = true;
        }
    }
    changed
}
