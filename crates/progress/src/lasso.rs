//! From a cycle of the state graph to a run that people can follow, made by the reference
//! interpreter.
//!
//! The prefix is replayed once and the cycle twice, each move being made by the interpreter and
//! leading to a state with the packed form that the graph has there; so the cycle closes, in the
//! interpreter, too. What it observed on the way ([`Observation`]) is what the definition of the
//! property is held against: see `check.rs`.

use crate::cycles::Via;
use crate::graph::{Explored, Label};
use linchpin_ir::interpreter::{Move, ScheduledMove, State, Status};
use linchpin_ir::run::{End, replay};
use linchpin_space::{Calls, Successor, Workspace};
use std::fmt;

/// A run that goes on for ever: a prefix, and a cycle that is repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// What is wrong with it.
    pub claim: String,
    /// The moves before the cycle, with their choices.
    pub prefix: Vec<ScheduledMove>,
    /// The moves of the cycle; none if no thread moves any more, or those who try can only wait.
    pub cycle: Vec<ScheduledMove>,
    /// What happens, for people: the prefix, then the cycle once.
    pub lines: Vec<Line>,
    /// How many of the lines belong to the prefix.
    pub prefix_lines: usize,
}

/// What happens in one move, or instead of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Who; `None` if no thread can move any more.
    pub thread: Option<usize>,
    /// The operation.
    pub operation: String,
    /// The source line of the first thing that happens; 0 if nothing does.
    pub line: u32,
    /// What happens.
    pub text: String,
}

impl fmt::Display for Lasso {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.claim)?;
        let (prefix, cycle) = self.lines.split_at(self.prefix_lines.min(self.lines.len()));
        if !prefix.is_empty() {
            writeln!(f, "first:")?;
        }
        for (number, line) in prefix.iter().enumerate() {
            writeln!(f, "  {:>4}  {line}", number + 1)?;
        }
        writeln!(f, "then, again and again:")?;
        for (number, line) in cycle.iter().enumerate() {
            writeln!(f, "  {:>4}  {line}", prefix.len() + number + 1)?;
        }
        Ok(())
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.thread {
            None => write!(f, "{}", self.text),
            Some(thread) => {
                let at = match self.line {
                    0 => self.operation.clone(),
                    line => format!("{}:{line}", self.operation),
                };
                write!(f, "thread {thread}  {at:<16}  {}", self.text)
            }
        }
    }
}

/// What the interpreter saw at one point of a lasso.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    /// Who moves or waits; `None`: no thread can.
    pub thread: Option<usize>,
    /// What the move shows; `None`: no thread moved, a thread waits or time goes on.
    pub label: Option<Label>,
    /// For each thread, whether an operation of it is pending before.
    pub pending: Vec<bool>,
    /// For each thread, whether it is inside an operation and cannot move.
    pub waiting: Vec<bool>,
}

/// A lasso that the interpreter has made, with what it saw.
pub(crate) struct Replayed {
    pub lasso: Lasso,
    /// Whether no thread can move after the prefix.
    pub ended: bool,
    pub prefix: Vec<Observation>,
    pub cycle: Vec<Observation>,
}

/// Makes a lasso with the interpreter; `None` if it cannot be made, or the cycle does not close.
pub(crate) fn replay_lasso(
    explored: &Explored,
    prefix: &[Via],
    cycle: &[Via],
    claim: String,
) -> Option<Replayed> {
    let space = &explored.space;
    let (state, schedule) = space.start().ok()?;
    let mut replayer = Replayer {
        explored,
        workspace: Workspace::default(),
        state,
        calls: space.calls_at_start(),
        schedule,
        seen: Vec::new(),
        waits: Vec::new(),
    };
    for &via in prefix {
        replayer.step(via)?;
    }
    let (prefix_moves, prefix_seen) = (replayer.schedule.len(), replayer.seen.len());
    let start = replayer.packed()?;
    let ended = replayer.none_can_move()?;
    let mut ends = Vec::new();
    for _ in 0..2 {
        for &via in cycle {
            replayer.step(via)?;
        }
        if replayer.packed()? != start {
            return None;
        }
        ends.push((replayer.schedule.len(), replayer.seen.len()));
    }
    let (cycle_moves, cycle_seen) = ends[0];
    // The program as the model has it makes the same moves, with the values that were left out.
    let run = replay(&explored.original, space.bounds().memory, &replayer.schedule).ok()?;
    if matches!(run.end, End::Faulted(_)) || run.schedule.len() != replayer.schedule.len() {
        return None;
    }
    let mut moves = run.trace.iter();
    let mut lines = Vec::new();
    for (seen, wait) in replayer.seen.iter().zip(&replayer.waits).take(cycle_seen) {
        let name = |operation: usize| space.program().operations[operation].name.clone();
        lines.push(match (&seen.label, wait) {
            (None, Some((operation, line, reason))) => Line {
                thread: seen.thread,
                operation: name(*operation),
                line: *line,
                text: format!("waits for {reason}"),
            },
            (None, None) => Line {
                thread: None,
                operation: String::new(),
                line: 0,
                text: "no thread moves any more".to_owned(),
            },
            (Some(_), _) => {
                let record = moves.next()?;
                let texts: Vec<&str> = record.actions.iter().map(|a| a.text.as_str()).collect();
                Line {
                    thread: record.thread,
                    operation: record.operation.map(name).unwrap_or_default(),
                    line: record.actions.first().map_or(0, |action| action.line),
                    text: texts.join("; "),
                }
            }
        });
    }
    let lasso = Lasso {
        claim,
        prefix: replayer.schedule[..prefix_moves].to_vec(),
        cycle: replayer.schedule[prefix_moves..cycle_moves].to_vec(),
        lines,
        prefix_lines: prefix_seen,
    };
    let mut prefix = replayer.seen;
    let mut cycle = prefix.split_off(prefix_seen);
    cycle.truncate(cycle_seen - prefix_seen);
    Some(Replayed { lasso, ended, prefix, cycle })
}

struct Replayer<'a> {
    explored: &'a Explored,
    workspace: Workspace,
    state: State,
    /// The calls that each thread has left.
    calls: Vec<i64>,
    schedule: Vec<ScheduledMove>,
    seen: Vec<Observation>,
    /// For each observation of a wait: the operation, the line and what it waits for.
    waits: Vec<Option<(usize, u32, String)>>,
}

impl Replayer<'_> {
    fn pack(&mut self, state: &State, calls: &[i64]) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let flat = self.explored.space.flatten(state, calls).ok()?;
        self.explored.space.pack(&flat, &mut self.workspace, &mut bytes);
        Some(bytes)
    }

    fn packed(&mut self) -> Option<Vec<u8>> {
        let (state, calls) = (self.state.clone(), self.calls.clone());
        self.pack(&state, &calls)
    }

    /// Whether a thread inside an operation can take no step.
    fn waits(&self, thread: usize) -> bool {
        matches!(self.state.threads[thread].status, Status::Running { .. })
            && self.explored.space.machine().wait(&self.state, thread).is_some()
    }

    /// Whether every thread waits or has nothing to call.
    fn none_can_move(&mut self) -> Option<bool> {
        let flat = self.explored.space.flatten(&self.state, &self.calls).ok()?;
        for thread in 0..self.state.threads.len() {
            let can_move = match self.state.threads[thread].status {
                Status::Running { .. } => !self.waits(thread),
                Status::Returning { .. } | Status::Resolved { .. } => true,
                // There are no crashes here.
                Status::Interrupted { .. } | Status::Resolving { .. } => !self.waits(thread),
                Status::Idle => {
                    let mut calls = false;
                    let mut visit = |_: Successor<'_>| {
                        calls = true;
                        false
                    };
                    let space = &self.explored.space;
                    space.successors_of(&flat, thread, 0, &mut self.workspace, &mut visit);
                    calls
                }
            };
            if can_move {
                return Some(false);
            }
        }
        Some(true)
    }

    fn observe(&mut self, thread: Option<usize>, label: Option<Label>) {
        let threads = 0..self.state.threads.len();
        let pending = threads.clone().map(|t| self.state.pending(t).is_some()).collect();
        let waiting = threads.map(|thread| self.waits(thread)).collect();
        self.seen.push(Observation { thread, label, pending, waiting });
    }

    fn step(&mut self, via: Via) -> Option<()> {
        match via {
            Via::Move(edge) => self.make(edge),
            Via::Wait(thread) => {
                let thread = usize::from(thread);
                let wait = self.explored.space.machine().wait(&self.state, thread)?;
                self.observe(Some(thread), None);
                self.waits.push(Some((wait.operation, wait.line, wait.reason)));
                Some(())
            }
            Via::Stutter => {
                if !self.none_can_move()? {
                    return None;
                }
                self.observe(None, None);
                self.waits.push(None);
                Some(())
            }
        }
    }

    /// Makes the move of an edge: of all ways to make it, one that leads to the state that the
    /// graph has there.
    fn make(&mut self, number: u32) -> Option<()> {
        let explored = self.explored;
        let machine = explored.space.machine();
        let edge = explored.graph.edges[number as usize];
        let thread = usize::from(edge.thread);
        let label = explored.graph.label(number).clone();
        let mut calls = self.calls.clone();
        let what = match &label {
            Label::Step => Move::Step { thread },
            Label::Call { operation, arguments } => {
                if !machine.may_call(&self.state, thread, *operation, arguments).ok()? {
                    return None;
                }
                if explored.space.bounds().calls != Calls::Unlimited {
                    calls[thread] -= 1;
                    if calls[thread] < 0 {
                        return None;
                    }
                }
                Move::Invoke { thread, operation: *operation, arguments: arguments.clone() }
            }
            Label::Return { operation, value } => {
                let expected = Status::Returning { operation: *operation, value: value.clone() };
                if self.state.threads[thread].status != expected {
                    return None;
                }
                Move::Respond { thread }
            }
        };
        for successor in machine.successors(&self.state, &what) {
            let Ok(next) = successor.result else { continue };
            if self.pack(&next, &calls)? == explored.packed(edge.to) {
                self.observe(Some(thread), Some(label));
                self.waits.push(None);
                self.schedule.push(ScheduledMove { what, choices: successor.choices });
                self.state = next;
                self.calls = calls;
                return Some(());
            }
        }
        None
    }
}
