//! The product of an implementation with a normalised specification (Figure 2), as the search wants
//! it.

use crate::evaluate::Fault;
use crate::lts::{Label, Lts, Move, State};
use crate::normal::Normal;
use crate::reduction::{Expander, Expansion};
use crate::term::Term;
use linchpin_refine::product::{Product, Step, To};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An implementation beside what is asked of it.
pub(crate) struct Check<'a, 'm> {
    pub implementation: &'a Lts<'m>,
    /// What it must refine; none if it must only be free of deadlocks.
    pub specification: Option<&'a Normal<'a, 'm>>,
    pub reduce: bool,
    pub initial: (State, u32),
    /// For each node, whether it has moved.
    pub executed: Vec<AtomicBool>,
}

/// What a worker needs for itself.
pub(crate) struct Worker<'a, 'm> {
    expander: Expander<'a, 'm>,
    after: FxHashMap<(u32, Label), Option<u32>>,
    members: FxHashMap<u32, Arc<[u32]>>,
    bytes: Vec<u8>,
}

/// What comes of one step of the implementation.
pub(crate) enum Next {
    Set(u32),
    Refused,
    Fault(Fault),
}

impl<'a, 'm> Check<'a, 'm> {
    /// Every step that must be looked at from a state (functions `next` and `next'` of the paper).
    pub fn expand(&self, expander: &mut Expander<'a, 'm>, state: &State, set: u32) -> Expansion {
        let Some(specification) = self.specification.filter(|_| self.reduce) else {
            return if self.reduce { expander.reduced(state) } else { expander.all(state) };
        };
        let (parts, fault) = expander.parts(state);
        if fault.is_none() {
            if let Some(part) = expander.invisible_part(&parts, &state.cells) {
                return expander.only(parts, part);
            }
            for candidate in expander.visible_parts(&parts, &state.cells) {
                let sole = specification.sole_parts(set, &candidate.label);
                if sole.is_some_and(|events| !events.intersects(&candidate.others)) {
                    return expander.only(parts, candidate.part);
                }
            }
        }
        expander.whole(state, parts, fault)
    }

    /// The specification's answer to a step.
    pub fn next(&self, set: u32, label: &Label) -> Next {
        match (self.specification, label) {
            (None, _) | (_, Label::Tau) => Next::Set(set),
            (Some(specification), label) => match specification.after(set, label) {
                Ok(Some(set)) => Next::Set(set),
                Ok(None) => Next::Refused,
                Err(fault) => Next::Fault(fault),
            },
        }
    }

    /// Whether nothing can happen although the process has not terminated: asked only if there is
    /// no specification.
    pub fn is_deadlock(&self, state: &State, expansion: &Expansion) -> bool {
        self.specification.is_none()
            && expansion.moves.is_empty()
            && expansion.fault.is_none()
            && state.term != Term::Done
    }
}

impl<'a, 'm> Product for Check<'a, 'm> {
    type Worker = Worker<'a, 'm>;

    fn worker(&self) -> Worker<'a, 'm> {
        Worker {
            expander: Expander::new(self.implementation),
            after: FxHashMap::default(),
            members: FxHashMap::default(),
            bytes: Vec::new(),
        }
    }

    fn initial(&self) -> (Vec<u8>, u32) {
        let mut bytes = Vec::new();
        self.implementation.pack(&self.initial.0, &mut bytes);
        (bytes, self.initial.1)
    }

    fn expand(
        &self,
        worker: &mut Worker<'a, 'm>,
        state: &[u8],
        set: u32,
        emit: &mut dyn FnMut(Step<'_>),
    ) {
        let state = self.implementation.unpack(state);
        let expansion = Check::expand(self, &mut worker.expander, &state, set);
        let mut tell = |to: To<'_>| emit(Step { thread: 0, moves: 1, to });
        if self.is_deadlock(&state, &expansion) {
            tell(To::Unexplained);
        }
        for Move { label, node, to, .. } in expansion.moves {
            if let Some(node) = node {
                self.executed[node as usize].store(true, Ordering::Relaxed);
            }
            let next = match worker.after.get(&(set, label.clone())) {
                Some(Some(set)) => Next::Set(*set),
                Some(None) => Next::Refused,
                None => {
                    let next = self.next(set, &label);
                    match &next {
                        _ if label == Label::Tau => {}
                        Next::Set(after) => {
                            worker.after.insert((set, label), Some(*after));
                        }
                        Next::Refused => {
                            worker.after.insert((set, label), None);
                        }
                        Next::Fault(_) => {}
                    }
                    next
                }
            };
            match next {
                Next::Set(set) => {
                    self.implementation.pack(&to, &mut worker.bytes);
                    tell(To::State { bytes: &worker.bytes, set, mover: 0, is_inside: true });
                }
                Next::Refused => tell(To::Unexplained),
                Next::Fault(_) => tell(To::Fault),
            }
        }
        if expansion.fault.is_some() {
            tell(To::Fault);
        }
    }

    fn is_subset(&self, worker: &mut Worker<'a, 'm>, smaller: u32, larger: u32) -> bool {
        let Some(specification) = self.specification else { return smaller == larger };
        let mut members = |set: u32| {
            worker.members.entry(set).or_insert_with(|| specification.members(set)).clone()
        };
        let (smaller, larger) = (members(smaller), members(larger));
        let mut rest = larger.iter();
        smaller.len() <= larger.len() && smaller.iter().all(|one| rest.any(|other| other == one))
    }

    fn bytes(&self) -> usize {
        self.specification.map_or(0, Normal::bytes)
    }
}
