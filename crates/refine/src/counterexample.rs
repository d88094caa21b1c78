//! From states on a path to a run that people can follow, made by the reference interpreter.
//!
//! The search works on canonical states: which thread is which, and which value, changes from step to step. Here the
//! path is walked again with threads, values and objects that keep their names, and every move is made by the
//! interpreter; so a counterexample has been replayed before anybody sees it.

use crate::model::ModelProduct;
use crate::search::Wrong;
use crate::sets::Cache;
use linchpin_ir::interpreter::{Choices, Move, ScheduledMove, State, Status};
use linchpin_ir::run::{End, Run, replay};
use linchpin_space::{Action, Event, Flat, Stop, Successor, Workspace};
use linchpin_spec::Value;

/// More orders of interchangeable threads than this are not tried.
const MAX_ORDERS: usize = 5040;

/// A run that goes wrong.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// Every move with its choices: `replay` makes the run again.
    pub schedule: Vec<ScheduledMove>,
    /// The run.
    pub run: Run,
    /// What goes wrong.
    pub wrong: Wrong,
    /// How often the moving thread changes.
    pub switches: usize,
    /// The object states that were possible before the response that nothing explains.
    pub possible: Vec<String>,
}

/// One way on, remembered.
struct Candidate {
    thread: usize,
    actions: Vec<Action>,
    events: Vec<Event>,
    flat: Option<Flat>,
}

/// The walk along a path.
struct Walk<'a> {
    product: &'a ModelProduct,
    workspace: Workspace,
    cache: Cache,
    orders: Vec<Vec<usize>>,
    state: State,
    calls: Vec<i64>,
    set: u32,
    schedule: Vec<ScheduledMove>,
    last: Option<usize>,
}

/// The run along a path; `None` if names cannot be given to it (which symmetries can cause: without them it never
/// happens).
pub(crate) fn follow(
    product: &ModelProduct,
    path: &[(Vec<u8>, u32)],
    wrong: Wrong,
) -> Option<Counterexample> {
    let space = &product.space;
    let mut walk = Walk {
        product,
        workspace: Workspace::default(),
        cache: Cache::default(),
        orders: space.orders(MAX_ORDERS),
        state: space.machine().initial().ok()?,
        calls: space.calls_at_start(),
        set: product.sets.initial(),
        schedule: Vec::new(),
        last: None,
    };
    for target in &path[1..] {
        walk.step(target)?;
    }
    let possible = walk.go_wrong(wrong)?;
    let run = replay(space.program(), space.bounds().memory, &walk.schedule).ok()?;
    if matches!(run.end, End::Faulted(_)) != (wrong == Wrong::Fault) {
        return None;
    }
    let movers: Vec<usize> = walk.schedule.iter().map(|made| made.what.thread()).collect();
    let switches = movers.windows(2).filter(|pair| pair[0] != pair[1]).count();
    Some(Counterexample { schedule: walk.schedule, run, wrong, switches, possible })
}

impl Walk<'_> {
    /// Every way on from here; those of the thread that moved last come first.
    fn candidates(&mut self) -> Option<Vec<Candidate>> {
        let space = &self.product.space;
        let flat = space.flatten(&self.state, &self.calls).ok()?;
        let mut all = Vec::new();
        let count = self.state.threads.len();
        let first = self.last.into_iter();
        for thread in first.chain((0..count).filter(|thread| Some(*thread) != self.last)) {
            let mut visit = |successor: Successor<'_>| {
                all.push(Candidate {
                    thread,
                    actions: successor.actions.to_vec(),
                    events: successor.events.to_vec(),
                    flat: match successor.stop {
                        Stop::State(flat) => Some(flat.clone()),
                        Stop::Fault => None,
                    },
                });
                true
            };
            let known = space.renamable_values();
            space.successors_of(&flat, thread, known, &mut self.workspace, &mut visit);
        }
        Some(all)
    }

    fn set_after(&mut self, events: &[Event]) -> Option<u32> {
        let ModelProduct { space, sets, .. } = self.product;
        let mut set = self.set;
        for event in events {
            set = sets.after(&mut self.cache, space, set, event)?;
        }
        Some(set)
    }

    /// Whether some renaming turns a state into the target.
    fn is(&mut self, flat: &Flat, set: u32, target: &(Vec<u8>, u32)) -> bool {
        let ModelProduct { space, sets, .. } = self.product;
        let mut bytes = Vec::new();
        for order in &self.orders {
            let renaming = space.pack_in_order(flat, order, &mut self.workspace, &mut bytes);
            if bytes == target.0 && sets.renamed(&mut self.cache, set, renaming) == target.1 {
                return true;
            }
        }
        false
    }

    /// One transition, to a state that is the target up to names.
    fn step(&mut self, target: &(Vec<u8>, u32)) -> Option<()> {
        for candidate in self.candidates()? {
            let Some(flat) = &candidate.flat else { continue };
            let Some(set) = self.set_after(&candidate.events) else { continue };
            if self.is(flat, set, target) && self.perform(&candidate, set, Some(target)).is_some() {
                return Some(());
            }
        }
        None
    }

    /// The last transition, which goes wrong; returns what was possible before.
    fn go_wrong(&mut self, wrong: Wrong) -> Option<Vec<String>> {
        for candidate in self.candidates()? {
            let set = self.set_after(&candidate.events);
            let fits = match wrong {
                Wrong::Unexplained => set.is_none(),
                Wrong::Fault => candidate.flat.is_none() && set.is_some(),
            };
            if !fits {
                continue;
            }
            // What was possible before the event that nothing explains: after all those that were explained.
            let mut before = self.set;
            for event in &candidate.events {
                let ModelProduct { space, sets, .. } = self.product;
                match sets.after(&mut self.cache, space, before, event) {
                    Some(after) => before = after,
                    None => break,
                }
            }
            let possible = match wrong {
                Wrong::Unexplained => self.product.sets.describe(before),
                Wrong::Fault => Vec::new(),
            };
            if self.perform(&candidate, before, None).is_some() {
                return Some(possible);
            }
        }
        None
    }

    /// Makes the moves of a candidate with the interpreter, trying the choices that lead to the target (or to the
    /// same events, or to a fault, if there is no target).
    fn perform(
        &mut self,
        candidate: &Candidate,
        set: u32,
        target: Option<&(Vec<u8>, u32)>,
    ) -> Option<()> {
        let mut calls = self.calls.clone();
        if let Some(Action::Invoke { .. }) = candidate.actions.first() {
            calls[candidate.thread] -= 1;
        }
        let mut made = Vec::new();
        let state =
            self.try_actions(&self.state.clone(), candidate, 0, set, target, &calls, &mut made)?;
        self.schedule.extend(made);
        self.state = state;
        self.calls = calls;
        self.set = set;
        self.last = Some(candidate.thread);
        Some(())
    }

    #[allow(clippy::too_many_arguments)]
    fn try_actions(
        &mut self,
        state: &State,
        candidate: &Candidate,
        at: usize,
        set: u32,
        target: Option<&(Vec<u8>, u32)>,
        calls: &[i64],
        made: &mut Vec<ScheduledMove>,
    ) -> Option<State> {
        let thread = candidate.thread;
        let space = &self.product.space;
        let Some(action) = candidate.actions.get(at) else {
            let fits = match (target, &candidate.flat) {
                (Some(target), _) => {
                    let flat = space.flatten(state, calls).ok()?;
                    self.is(&flat, set, target)
                }
                (None, Some(_)) => true,
                (None, None) => false,
            };
            return fits.then(|| state.clone());
        };
        let what = match action {
            Action::Invoke { operation, arguments } => Move::Invoke {
                thread,
                operation: *operation,
                arguments: space.arguments(*operation, arguments),
            },
            Action::Step => Move::Step { thread },
            Action::Respond => Move::Respond { thread },
        };
        if let (Action::Respond, Some(expected)) = (action, self.response(candidate)) {
            let answers = |status: &Status| matches!(status, Status::Returning { value, .. } if *value == expected);
            if !answers(&state.threads[thread].status) {
                return None;
            }
        }
        let last = at + 1 == candidate.actions.len();
        for successor in space.machine().successors(state, &what) {
            made.push(ScheduledMove { what: what.clone(), choices: successor.choices });
            match successor.result {
                Err(_) if last && candidate.flat.is_none() => return Some(state.clone()),
                Err(_) => {}
                Ok(next) => {
                    let end = self.try_actions(&next, candidate, at + 1, set, target, calls, made);
                    if end.is_some() {
                        return end;
                    }
                }
            }
            made.pop();
        }
        // A call whose condition goes wrong is a fault of the call itself.
        if last && candidate.flat.is_none() && matches!(action, Action::Invoke { .. }) {
            made.push(ScheduledMove { what, choices: Choices::new() });
            return Some(state.clone());
        }
        None
    }

    /// What the operation of a candidate answers.
    fn response(&self, candidate: &Candidate) -> Option<Value> {
        let Event::Return { operation, value, .. } = candidate.events.last()? else { return None };
        Some(self.product.space.response(*operation, value))
    }
}
