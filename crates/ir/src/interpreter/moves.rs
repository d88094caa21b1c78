//! Moves: what a scheduler can do next, and what comes of it.

use super::{Fault, Line, State};
use crate::program::NodeId;
use linchpin_spec::Value;
use smallvec::SmallVec;

/// One move of a schedule, without the choices made in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// An idle thread calls an operation; the local work before its first yielding node is part of
    /// the call.
    Invoke {
        /// Who.
        thread: usize,
        /// Index into [`Program::operations`](crate::program::Program::operations).
        operation: usize,
        /// One value for each parameter.
        arguments: Vec<Value>,
    },
    /// A running thread takes its next step; so does one that asks for the outcome of an
    /// interrupted call, or begins to.
    Step {
        /// Who.
        thread: usize,
    },
    /// A thread whose operation is done sees the response, or the outcome of an interrupted call.
    Respond {
        /// Who.
        thread: usize,
    },
    /// The whole system crashes. For each line with pending stores, in the order of
    /// [`State::pending`], a choice says how many of them survive. Then `recover` runs, if there is
    /// one.
    Crash,
    /// A thread crashes: its call stays pending, memory as it is. Not while `recover` runs.
    CrashThread {
        /// Who.
        thread: usize,
    },
    /// `recover` takes its next step; no thread moves before it is done.
    Recover,
}

impl Move {
    /// The thread that moves, or that crashes; `None` if it is the system.
    pub fn thread(&self) -> Option<usize> {
        match *self {
            Move::Invoke { thread, .. }
            | Move::Step { thread }
            | Move::Respond { thread }
            | Move::CrashThread { thread } => Some(thread),
            Move::Crash | Move::Recover => None,
        }
    }

    /// Whether this is a crash.
    pub fn is_crash(&self) -> bool {
        matches!(self, Move::Crash | Move::CrashThread { .. })
    }
}

/// The choices made in a move, in the order in which they were asked for; each counts from 0.
///
/// `choose(a..b)` asks for one of `b - a`; `new` under [`Memory::Reuse`](super::Memory::Reuse) asks
/// for a fresh object (0) or one of the dead ones; a crash asks, for each line with `n` pending
/// stores, for one of `n + 1`: how many survive. Where there is only one way, nothing is asked.
pub type Choices = SmallVec<[u32; 2]>;

/// The edges that a move went along: each a node and an index into its edges.
pub type Path = SmallVec<[(NodeId, usize); 2]>;

/// A move with its choices: performed again from the same state, it does the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScheduledMove {
    /// The move.
    pub what: Move,
    /// Its choices.
    pub choices: Choices,
}

/// What came of trying a move.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Every choice that was asked for: those given, then 0 for each one beyond.
    pub choices: Choices,
    /// For each choice, how many ways there were.
    pub arities: Choices,
    /// The edges taken: up to the fault if there was one.
    pub path: Path,
    /// What happened.
    pub outcome: Outcome,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The move was made; this is the state after it.
    Next(State),
    /// The move cannot be made in this state, with these choices.
    Disabled,
    /// The move went wrong.
    Fault(Fault),
}

/// One of the ways in which a move can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Successor {
    /// The choices that lead here.
    pub choices: Choices,
    /// The edges taken.
    pub path: Path,
    /// The state after the move, or what went wrong.
    pub result: Result<State, Fault>,
}

impl Attempt {
    /// An attempt that failed before it began.
    pub(super) fn disabled() -> Attempt {
        Attempt {
            choices: Choices::new(),
            arities: Choices::new(),
            path: Path::new(),
            outcome: Outcome::Disabled,
        }
    }

    /// The choices to give next, to go through all of them like an odometer; `None` after the last.
    pub fn next_choices(&self) -> Option<Choices> {
        let turn =
            (0..self.choices.len()).rev().find(|&i| self.choices[i] + 1 < self.arities[i])?;
        let mut next: Choices = self.choices[..=turn].into();
        next[turn] += 1;
        Some(next)
    }
}

/// Where a thread waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The thread.
    pub thread: usize,
    /// The operation that it is in.
    pub operation: usize,
    /// The source line.
    pub line: u32,
    /// What it waits for, like `lock(l), held by thread 0`.
    pub reason: String,
    /// The thread that holds the lock, if that is all it waits for.
    pub held_by: Option<usize>,
}

/// What a move did, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRecord {
    /// Who moved, or crashed; `None` if it was the system.
    pub thread: Option<usize>,
    /// In which operation; `None` in a crash and in recovery.
    pub operation: Option<usize>,
    /// What happened, in order.
    pub actions: Vec<ActionRecord>,
    /// What a system crash did to each line with pending stores.
    pub lines: Vec<LineRecord>,
}

/// What a crash did to a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRecord {
    /// The line.
    pub line: Line,
    /// Its name: `top`, `slot[3]`, `@2`.
    pub name: String,
    /// The stores that were pending, in order: `@2.next := @3`.
    pub stores: Vec<String>,
    /// How many of them, from the first, survived.
    pub survived: usize,
}

impl StepRecord {
    /// A record of nothing yet.
    pub fn blank() -> StepRecord {
        StepRecord { thread: None, operation: None, actions: Vec::new(), lines: Vec::new() }
    }
}

impl LineRecord {
    /// `line @2: @2.next := @3 survived, @2.value := 1 lost`.
    pub fn sentence(&self) -> String {
        let (kept, lost) = self.stores.split_at(self.survived.min(self.stores.len()));
        let part = |stores: &[String], word: &str| match stores {
            [] => None,
            stores => Some(format!("{} {word}", stores.join(", "))),
        };
        let parts: Vec<String> =
            [part(kept, "survived"), part(lost, "lost")].into_iter().flatten().collect();
        format!("line {}: {}", self.name, parts.join("; "))
    }
}

/// An action with the values it met: `t := top = @2`, `cas(top: @2 → @3) ok`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionRecord {
    /// The source line.
    pub line: u32,
    /// What happened.
    pub text: String,
}
