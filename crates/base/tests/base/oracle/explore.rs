//! Every execution, depth first.

use super::alone::{Alone, Call, alone, node_of};
use super::history::{History, Moved, Record, accesses};
use super::shared::{Words, changed, words};
use super::{Asked, Judged};
use linchpin_engine::Rule;
use linchpin_ir::domain::{Domain, DomainBounds};
use linchpin_ir::interpreter::{Machine, Memory, Move, Outcome, State, Status};
use linchpin_ir::liveness::live_locals;
use linchpin_ir::program::Program;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// An execution with more moves than this is cut.
const MOST_MOVES: usize = 60;

/// States that are searched for update steps; more are too many.
const MOST_STATES: usize = 200_000;

pub struct Judge<'a> {
    pub asked: &'a Asked,
    pub machine: Machine,
    /// Every call that some client makes.
    pub calls: Vec<Call>,
    /// For each operation and node, which locals are still read.
    pub live: Vec<Vec<Vec<bool>>>,
    pub judged: Judged,
    numbers: HashMap<Words, usize>,
    /// For each shared state, its words and a state that has it.
    pub shared: Vec<(Rc<Words>, State)>,
    outcomes: HashMap<(usize, usize), Rc<Alone>>,
    /// For two shared states, whether the step from one to the other is seen by a read-only call.
    pub seen_by_readers: HashMap<(usize, usize), bool>,
    /// For two steps from a state, whether they commute.
    pub commuting: HashMap<(State, Move, Move), bool>,
}

impl<'a> Judge<'a> {
    pub fn new(program: &Program, asked: &'a Asked) -> Option<Judge<'a>> {
        let bounds = DomainBounds { values: asked.values, threads: program.threads.len() };
        let mut calls = Vec::new();
        for (operation, of) in program.operations.iter().enumerate() {
            let called = program.threads.iter().any(|one| one.operations.contains(&operation));
            for value in Domain::of_arguments(of, bounds)?.values().filter(|_| called) {
                calls.push(Call { operation, arguments: value.as_list()?.to_vec() });
            }
        }
        Some(Judge {
            asked,
            machine: Machine::new(program, Memory::Collected),
            calls,
            live: program.operations.iter().map(|of| live_locals(&of.body)).collect(),
            judged: Judged::default(),
            numbers: HashMap::new(),
            shared: Vec::new(),
            outcomes: HashMap::new(),
            seen_by_readers: HashMap::new(),
            commuting: HashMap::new(),
        })
    }

    pub fn run(mut self) -> Option<Judged> {
        let initial = self.machine.initial().ok()?;
        let left = vec![self.asked.calls; initial.threads.len()];
        self.find_updates(&initial, &left)?;
        let mut history = History::default();
        history.shared.push(self.number(&initial));
        history.states.push(initial);
        self.explore(&mut history, left)?;
        Some(self.judged)
    }

    /// The number of the shared state of a state.
    fn number(&mut self, state: &State) -> usize {
        let words = words(self.machine.program(), state);
        let next = self.shared.len();
        let number = *self.numbers.entry(words.clone()).or_insert(next);
        if number == next {
            self.shared.push((Rc::new(words), state.clone()));
        }
        number
    }

    /// What a call does alone from a shared state.
    pub fn alone(&mut self, shared: usize, call: usize) -> Rc<Alone> {
        let (machine, calls, states) = (&self.machine, &self.calls, &self.shared);
        let run = || Rc::new(alone(machine, &states[shared].1, &calls[call]));
        self.outcomes.entry((shared, call)).or_insert_with(run).clone()
    }

    /// Notes that this execution breaks a rule.
    pub fn breaks(&mut self, rule: Rule, history: &History) {
        self.judged.broken.entry(rule).or_insert_with(|| history.shown());
    }

    /// The moves that a thread can try in a state.
    fn moves(&self, state: &State, thread: usize, left: usize) -> Vec<Move> {
        let may = &self.machine.program().threads[thread].operations;
        match &state.threads[thread].status {
            Status::Running { .. } => vec![Move::Step { thread }],
            Status::Interrupted { .. } | Status::Resolving { .. } | Status::Resolved { .. } => {
                Vec::new()
            }
            Status::Returning { .. } => vec![Move::Respond { thread }],
            Status::Idle if left == 0 => Vec::new(),
            Status::Idle => {
                let mine = self.calls.iter().filter(|call| may.contains(&call.operation));
                mine.map(|Call { operation, arguments }| Move::Invoke {
                    thread,
                    operation: *operation,
                    arguments: arguments.clone(),
                })
                .collect()
            }
        }
    }

    /// Which operations take update steps: over every state, before any execution is judged.
    fn find_updates(&mut self, initial: &State, left: &[usize]) -> Option<()> {
        let mut seen = HashSet::from([(initial.clone(), left.to_vec())]);
        let mut open: Vec<(State, Vec<usize>)> = seen.iter().cloned().collect();
        while let Some((state, left)) = open.pop() {
            let before = words(self.machine.program(), &state);
            for thread in 0..left.len() {
                for what in self.moves(&state, thread, left[thread]) {
                    let outcome = self.machine.attempt(&state, &what, &[], None).outcome;
                    let Outcome::Next(next) = outcome else { continue };
                    if !changed(&before, &next).is_empty() {
                        self.judged.updates.extend(state.pending(thread));
                    }
                    let mut left = left.clone();
                    left[thread] -= usize::from(matches!(what, Move::Invoke { .. }));
                    if seen.insert((next.clone(), left.clone())) {
                        open.push((next, left));
                    }
                }
            }
            if seen.len() > MOST_STATES {
                return None;
            }
        }
        Some(())
    }

    fn explore(&mut self, history: &mut History, left: Vec<usize>) -> Option<()> {
        let state = history.states.last()?.clone();
        let mut ended = true;
        // A loop, with no call made since: what comes now has come before, in a shorter execution.
        let called = history.calls.last().map_or(0, |call| call.invoked + 1);
        let earlier = &history.states[called..history.moves.len().max(called)];
        if history.moves.len() > MOST_MOVES || earlier.contains(&state) {
            self.judged.loops = true;
        } else {
            for thread in 0..left.len() {
                for what in self.moves(&state, thread, left[thread]) {
                    let mut left = left.clone();
                    left[thread] -= usize::from(matches!(what, Move::Invoke { .. }));
                    let length = history.moves.len();
                    if self.advance(history, what) {
                        ended = false;
                        self.explore(history, left)?;
                    }
                    while history.moves.len() > length {
                        history.undo();
                    }
                }
            }
        }
        if ended {
            self.check_pending(history);
            self.judged.executions += 1;
        }
        (self.judged.executions <= self.asked.most).then_some(())
    }

    /// Makes a move, with those that are merged with it; whether it could be made.
    fn advance(&mut self, history: &mut History, what: Move) -> bool {
        let Some(thread) = what.thread() else { return false };
        let length = history.moves.len();
        let invokes = matches!(what, Move::Invoke { .. });
        if !self.push(history, what) {
            return false;
        }
        if !self.asked.merged {
            return true;
        }
        let status = |history: &History| {
            history.states.last().map(|state| state.threads[thread].status.clone())
        };
        if invokes && matches!(status(history), Some(Status::Running { .. })) {
            let stepped = self.push(history, Move::Step { thread });
            if !stepped {
                while history.moves.len() > length {
                    history.undo();
                }
                return false;
            }
        }
        if matches!(status(history), Some(Status::Returning { .. })) {
            return self.push(history, Move::Respond { thread });
        }
        true
    }

    fn push(&mut self, history: &mut History, what: Move) -> bool {
        let Some(state) = history.states.last() else { return false };
        let Some(thread) = what.thread() else { return false };
        let node = node_of(state, thread);
        let attempt = self.machine.attempt(state, &what, &[], None);
        let next = match attempt.outcome {
            Outcome::Next(next) => next,
            Outcome::Disabled => return false,
            Outcome::Fault(_) => {
                self.judged.faults = true;
                self.check_pending(history);
                return false;
            }
        };
        let at = history.moves.len();
        let mut moved =
            Moved { what: what.clone(), call: 0, node, accesses: false, updates: false };
        match what {
            Move::Invoke { operation, arguments, .. } => {
                let same = |call: &Call| call.operation == operation && call.arguments == arguments;
                let Some(call) = self.calls.iter().position(same) else { return false };
                history.calls.push(Record {
                    thread,
                    call,
                    operation,
                    invoked: at,
                    steps: Vec::new(),
                    answer: None,
                    responded: None,
                });
                moved.call = history.calls.len() - 1;
            }
            Move::Step { .. } => {
                let Some(call) = history.current(thread) else { return false };
                let record = &mut history.calls[call];
                record.steps.push(at);
                let program = self.machine.program();
                moved.call = call;
                moved.accesses = accesses(program, record.operation, &attempt.path);
                let before = &self.shared[history.shared[at]].0;
                moved.updates = !changed(before, &next).is_empty();
            }
            Move::Respond { .. } => {
                let Some(call) = history.current(thread) else { return false };
                history.calls[call].responded = Some(at);
                moved.call = call;
            }
            Move::Crash | Move::CrashThread { .. } | Move::Recover => return false,
        }
        if let Status::Returning { value, .. } = &next.threads[thread].status {
            history.calls[moved.call].answer = Some(value.clone());
        }
        let (responds, call) = (matches!(moved.what, Move::Respond { .. }), moved.call);
        history.moves.push(moved);
        history.shared.push(self.number(&next));
        history.states.push(next);
        if responds {
            self.check_answered(history, call);
        }
        true
    }
}
