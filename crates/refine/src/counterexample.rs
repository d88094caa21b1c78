//! From states on a path to a run that people can follow, made by the reference interpreter.
//!
//! The search works on canonical states: which thread is which, and which value, changes from step
//! to step. Here the path is followed again with threads, values and objects that keep their names,
//! and every move is made by the interpreter; so a counterexample has been replayed before it is
//! reported.

use crate::cache::Cache;
use crate::model::ModelProduct;
use crate::search::Wrong;
use crate::sets::Sets;
use linchpin_ir::interpreter::{Attempt, Choices, Move, Outcome, ScheduledMove, State, Status};
use linchpin_ir::run::{End, Run, replay};
use linchpin_space::{Action, CrashesLeft, Event, Flat, Made, Space, Stop, Successor, Workspace};
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
    /// What is wrong with it.
    pub failure: Failure,
    /// How often the moving thread changes, after the preload.
    pub switches: usize,
    /// How many moves of the schedule are the preload.
    pub preload: usize,
}

impl Counterexample {
    /// A run that goes wrong, of which so many moves are the preload.
    pub(crate) fn of(run: Run, preload: usize, failure: Failure) -> Counterexample {
        let schedule = run.schedule.clone();
        let after = schedule.get(preload..).unwrap_or(&[]);
        let movers: Vec<usize> = after.iter().filter_map(|made| made.what.thread()).collect();
        let switches = movers.windows(2).filter(|pair| pair[0] != pair[1]).count();
        Counterexample { schedule, run, failure, switches, preload }
    }
}

/// What is wrong with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Its last response, which no order of the operations explains.
    Unexplained {
        /// The object states that were possible before it.
        possible: Vec<String>,
    },
    /// Its last step goes wrong by itself; the end of the run says how.
    Fault,
    /// These operations are pending after it and can never return, whatever the threads do.
    Stuck(Vec<StuckOperation>),
}

/// An operation that can never return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckOperation {
    /// The thread that called it.
    pub thread: usize,
    /// The operation, as an index into the program's.
    pub operation: usize,
    /// Its name.
    pub name: String,
    /// What keeps it.
    pub kept_by: KeptBy,
}

/// What keeps an operation from returning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptBy {
    /// It waits, and what it waits for never comes.
    Wait {
        /// The source line where it waits.
        line: u32,
        /// What it waits for, like `lock(l), held by thread 0`.
        reason: String,
        /// The thread that holds the lock, if it waits for one.
        held_by: Option<Holder>,
    },
    /// It takes steps for ever, on these source lines.
    Loop {
        /// In increasing order.
        lines: Vec<u32>,
    },
}

/// A thread that holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The thread.
    pub thread: usize,
    /// Whether it is still inside an operation, or has returned without giving the lock back.
    pub is_pending: bool,
}

/// One way on, remembered.
struct Candidate {
    thread: usize,
    actions: Vec<Made>,
    events: Vec<Event>,
    flat: Option<Flat>,
}

/// The run along a path, with names that stay.
pub(crate) struct ConcreteRun<'a> {
    space: &'a Space,
    /// The specification, if the path is one of a product with it.
    sets: Option<&'a Sets>,
    workspace: Workspace,
    cache: Cache,
    orders: Vec<Vec<usize>>,
    /// The state that the interpreter has come to.
    pub state: State,
    /// The calls that each thread has left.
    pub calls: Vec<i64>,
    /// The crashes that may still come.
    left: CrashesLeft,
    set: u32,
    /// The moves that led there, those of the preload first.
    pub schedule: Vec<ScheduledMove>,
    /// How many of them are the preload.
    preload: usize,
    last: Option<usize>,
}

/// The run along a path; `None` if names cannot be given to it (which symmetries can cause: without
/// them it never happens).
pub(crate) fn follow(
    product: &ModelProduct,
    path: &[(Vec<u8>, u32)],
    wrong: Wrong,
) -> Option<Counterexample> {
    let mut run = ConcreteRun::along(&product.space, Some(&product.sets), path)?;
    let failure = run.go_wrong(wrong)?;
    run.replayed(failure)
}

impl<'a> ConcreteRun<'a> {
    /// The run along a path of packed states.
    pub fn along(
        space: &'a Space,
        sets: Option<&'a Sets>,
        path: &[(Vec<u8>, u32)],
    ) -> Option<ConcreteRun<'a>> {
        let (state, schedule) = space.start().ok()?;
        let mut run = ConcreteRun {
            space,
            sets,
            workspace: Workspace::default(),
            cache: Cache::default(),
            orders: space.orders(MAX_ORDERS),
            state,
            preload: schedule.len(),
            calls: space.calls_at_start(),
            left: space.crashes_at_start(),
            set: sets.map_or(0, Sets::initial),
            schedule,
            last: None,
        };
        for target in path.get(1..)? {
            run.step(target)?;
        }
        Some(run)
    }

    /// The counterexample, if the interpreter makes it again.
    pub fn replayed(self, failure: Failure) -> Option<Counterexample> {
        let run = replay(self.space.program(), self.space.bounds().memory, &self.schedule).ok()?;
        if matches!(run.end, End::Faulted(_)) != (failure == Failure::Fault) {
            return None;
        }
        Some(Counterexample::of(run, self.preload, failure))
    }

    /// Every way on from here; those of the thread that moved last come first.
    fn candidates(&mut self) -> Option<Vec<Candidate>> {
        let space = self.space;
        let (state, calls) = (self.state.clone(), self.calls.clone());
        let flat = self.flat(&state, &calls, self.left)?;
        let mut all = Vec::new();
        let count = self.state.threads.len();
        let first = self.last.into_iter();
        // The one after the last thread stands for the system.
        for thread in first.chain((0..=count).filter(|thread| Some(*thread) != self.last)) {
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

    /// A state of the interpreter, flat.
    fn flat(&mut self, state: &State, calls: &[i64], left: CrashesLeft) -> Option<Flat> {
        let mut flat = self.space.flatten(state, calls).ok()?;
        // The search knew no more than this of the state when it took steps together.
        self.space.forget_dead_fields(&mut flat, &mut self.workspace);
        // Where no crash can come any more, it does not matter what one would leave.
        let images = if left.system > 0 { flat.images } else { Vec::new() };
        Some(Flat { left, images, ..flat })
    }

    /// The choices of a crash that leaves these words: for each line as many stores as can be.
    fn crash(&self, state: &State, calls: &[i64], words: &[i64]) -> Option<Choices> {
        let machine = self.space.machine();
        let after = |choices: &[u32]| match machine.attempt(state, &Move::Crash, choices, None) {
            Attempt { outcome: Outcome::Next(next), .. } => {
                self.space.flatten(&next, calls).ok().map(|flat| flat.words)
            }
            _ => None,
        };
        let differences = |choices: &[u32]| {
            let after = after(choices)?;
            Some(after.iter().zip(words).filter(|(left, right)| left != right).count())
        };
        let stores = state.pending.values().map(|stores| u32::try_from(stores.len()).ok());
        let stores: Vec<u32> = stores.collect::<Option<_>>()?;
        // Lines have no word in common: each is chosen by itself.
        let mut choices: Choices = stores.iter().copied().collect();
        for line in 0..stores.len() {
            let mut best = (usize::MAX, 0);
            for survived in (0..=stores[line]).rev() {
                choices[line] = survived;
                let found = differences(&choices)?;
                if found < best.0 {
                    best = (found, survived);
                }
            }
            choices[line] = best.1;
        }
        (after(&choices)? == words).then_some(choices)
    }

    /// The specification states after an event; `None` if there are none.
    fn after(&mut self, set: u32, event: &Event) -> Option<u32> {
        match self.sets {
            Some(sets) => sets.after(&mut self.cache, self.space, set, event),
            None => Some(set),
        }
    }

    fn set_after(&mut self, events: &[Event]) -> Option<u32> {
        let mut set = self.set;
        for event in events {
            set = self.after(set, event)?;
        }
        Some(set)
    }

    /// Whether some renaming turns a state into the target.
    fn is(&mut self, flat: &Flat, set: u32, target: &(Vec<u8>, u32)) -> bool {
        let mut bytes = Vec::new();
        for order in &self.orders {
            let renaming = self.space.pack_in_order(flat, order, &mut self.workspace, &mut bytes);
            if bytes == target.0
                && self
                    .sets
                    .is_none_or(|sets| sets.renamed(&mut self.cache, set, renaming) == target.1)
            {
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

    /// The last transition, which goes wrong.
    fn go_wrong(&mut self, wrong: Wrong) -> Option<Failure> {
        for candidate in self.candidates()? {
            let set = self.set_after(&candidate.events);
            let fits = match wrong {
                Wrong::Unexplained => set.is_none(),
                Wrong::Fault => candidate.flat.is_none() && set.is_some(),
            };
            if !fits {
                continue;
            }
            // What was possible before the event that nothing explains: after all those that were
            // explained.
            let mut before = self.set;
            for event in &candidate.events {
                match self.after(before, event) {
                    Some(after) => before = after,
                    None => break,
                }
            }
            let possible = self.sets.map_or(Vec::new(), |sets| sets.describe(before));
            if self.perform(&candidate, before, None).is_some() {
                return Some(match wrong {
                    Wrong::Unexplained => Failure::Unexplained { possible },
                    Wrong::Fault => Failure::Fault,
                });
            }
        }
        None
    }

    /// Makes the moves of a candidate with the interpreter, trying the choices that lead to the
    /// target (or to the same events, or to a fault, if there is no target).
    fn perform(
        &mut self,
        candidate: &Candidate,
        set: u32,
        target: Option<&(Vec<u8>, u32)>,
    ) -> Option<()> {
        let mut calls = self.calls.clone();
        let mut left = self.left;
        for Made { thread, action } in &candidate.actions {
            match action {
                Action::Invoke { .. } => calls[*thread] -= 1,
                Action::Crash(_) => left.system -= 1,
                Action::CrashThread => left.thread -= 1,
                Action::Step | Action::Respond | Action::Recover => {}
            }
        }
        let mut made = Vec::new();
        let start = self.state.clone();
        let before = std::mem::replace(&mut self.left, left);
        let state = self.try_actions(&start, candidate, 0, set, target, &calls, &mut made);
        if state.is_none() {
            self.left = before;
        }
        let state = state?;
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
        let space = self.space;
        let Some(Made { thread, action }) = candidate.actions.get(at) else {
            let fits = match (target, &candidate.flat) {
                (Some(target), _) => {
                    let flat = self.flat(state, calls, self.left)?;
                    self.is(&flat, set, target)
                }
                (None, Some(_)) => true,
                (None, None) => false,
            };
            return fits.then(|| state.clone());
        };
        let thread = *thread;
        let what = match action {
            Action::Invoke { operation, arguments } => Move::Invoke {
                thread,
                operation: *operation,
                arguments: space.arguments(*operation, arguments),
            },
            Action::Step => Move::Step { thread },
            Action::Respond => Move::Respond { thread },
            Action::Crash(_) => Move::Crash,
            Action::CrashThread => Move::CrashThread { thread },
            Action::Recover => Move::Recover,
        };
        if let (Action::Respond, Some(expected)) = (action, self.response(candidate, thread)) {
            let answers = match &state.threads[thread].status {
                Status::Returning { value, .. } => *value == expected,
                Status::Resolved { outcome, .. } => *outcome == expected,
                _ => false,
            };
            if !answers {
                return None;
            }
        }
        let last = at + 1 == candidate.actions.len();
        if let Action::Crash(words) = action {
            let choices = self.crash(state, calls, words)?;
            let attempt = space.machine().attempt(state, &what, &choices, None);
            let Outcome::Next(next) = attempt.outcome else { return None };
            made.push(ScheduledMove { what, choices: attempt.choices });
            let end = self.try_actions(&next, candidate, at + 1, set, target, calls, made);
            if end.is_none() {
                made.pop();
            }
            return end;
        }
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

    /// What the operation of a thread answers in a candidate: no thread answers twice in one.
    fn response(&self, candidate: &Candidate, by: usize) -> Option<Value> {
        candidate.events.iter().find_map(|event| match event {
            Event::Return { thread, operation, value } if *thread == by => {
                Some(self.space.response(*operation, value))
            }
            Event::Resolve { thread, operation, value } if *thread == by => {
                let value = self.space.resolution(*operation, value);
                Some(value.map_or(Value::Null, |value| self.space.response(*operation, &value)))
            }
            _ => None,
        })
    }
}
