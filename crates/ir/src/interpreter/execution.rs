//! One move: along the edges from node to node, until others may run.

use super::choices::Chooser;
use super::expression::Environment;
use super::{
    Attempt, Fault, FaultKind, MAX_EDGES, Machine, Memory, Outcome, Path, State, Status,
    StepRecord, is_kept,
};
use crate::branch::Branch;
use crate::print::Names;
use crate::program::{Action, Body, Edge, Expr, NodeId, Program, Target, Type};
use linchpin_spec::Value;
use smallvec::SmallVec;
use std::sync::Arc;

/// Who executes.
#[derive(Clone, Copy)]
pub(super) enum Actor {
    /// No thread: `init`.
    Init,
    /// A thread in an operation.
    Thread { thread: usize, operation: usize },
    /// No thread: `recover`, after a crash.
    Recovery,
    /// A thread that asks for the outcome of its interrupted call.
    Resolution { thread: usize, operation: usize },
}

/// What is executed.
#[derive(Clone, Copy)]
pub(super) struct Code<'a> {
    pub body: &'a Body,
    /// The edges of every node as a tree.
    pub branches: &'a [Vec<Branch>],
}

/// How a run along the edges ended.
pub(super) enum Ended {
    /// At a node where others may run.
    Yielded(NodeId),
    /// With the return of the operation.
    Returned(Value),
    /// At a node where no edge can be taken: the move cannot be made.
    Refused,
}

/// A move in progress. It works on its own copy of the state, so giving up needs no undoing.
pub(super) struct Execution<'a> {
    pub program: &'a Program,
    pub memory: Memory,
    /// Whether pending stores are kept.
    pub crashes: bool,
    pub actor: Actor,
    pub code: Code<'a>,
    pub state: State,
    pub locals: Vec<Value>,
    pub chooser: Chooser<'a>,
    path: Path,
    pub record: Option<&'a mut StepRecord>,
    /// The source line of the current action.
    pub line: u32,
    /// The actions that could not be performed at the latest fork.
    pub refused: SmallVec<[(&'a Action, u32); 2]>,
}

impl<'a> Execution<'a> {
    pub fn new(
        machine: &'a Machine,
        actor: Actor,
        code: Code<'a>,
        state: State,
        locals: Vec<Value>,
        chooser: Chooser<'a>,
        record: Option<&'a mut StepRecord>,
    ) -> Execution<'a> {
        Execution {
            program: &machine.program,
            memory: machine.memory,
            crashes: machine.crashes,
            actor,
            code,
            state,
            locals,
            chooser,
            path: Path::new(),
            record,
            line: 0,
            refused: SmallVec::new(),
        }
    }

    /// Goes on from a node to the next one that yields, or to the return.
    pub fn run(&mut self, from: NodeId) -> Result<Ended, Fault> {
        let mut at = from;
        let mut kept: Option<(NodeId, Vec<Value>, State)> = None;
        for edges in 0..MAX_EDGES {
            let Some((index, edge)) = self.take_edge(at)? else {
                return Ok(Ended::Refused);
            };
            self.path.push((at, index));
            match &edge.target {
                Target::Return(value) => return self.answer(value).map(Ended::Returned),
                Target::Node(next) => at = *next,
            }
            if self.code.body.nodes.get(at.0 as usize).is_some_and(|node| node.yields) {
                return Ok(Ended::Yielded(at));
            }
            if kept.as_ref().is_some_and(|(node, locals, state)| {
                *node == at && *locals == self.locals && *state == self.state
            }) {
                break;
            }
            if is_kept(edges) {
                kept = Some((at, self.locals.clone(), self.state.clone()));
            }
        }
        Err(self.fault(FaultKind::LocalLoop, self.line, String::new()))
    }

    /// The response, which is nothing if the operation answers nothing.
    fn answer(&mut self, value: &Expr) -> Result<Value, Fault> {
        let response = match self.actor {
            Actor::Init | Actor::Recovery => &Type::Unit,
            Actor::Thread { operation, .. } => &self.program.operations[operation].response,
            Actor::Resolution { operation, .. } => {
                &Type::Option(Box::new(self.program.operations[operation].response.clone()))
            }
        };
        if *response == Type::Unit {
            self.note(|_| "return".to_owned());
            return Ok(Value::Null);
        }
        let value = self.environment().eval(value).map_err(|kind| {
            let text = format!("return {}", self.names().expr(value));
            self.fault(kind, self.line, self.with_values(text, &[value]))
        })?;
        self.note(|names| format!("return {}", names.value(&value, response)));
        Ok(value)
    }

    /// Takes the edge that can be taken at a node, if there is one.
    fn take_edge(&mut self, at: NodeId) -> Result<Option<(usize, &'a Edge)>, Fault> {
        let code = self.code;
        let (Some(node), Some(mut branches)) =
            (code.body.nodes.get(at.0 as usize), code.branches.get(at.0 as usize))
        else {
            return Err(self.fault(FaultKind::IllTyped, self.line, format!("go to node {}", at.0)));
        };
        self.line = node.line;
        self.refused.clear();
        while let Some(branch) = self.enter(&node.edges, branches)? {
            if branch.then.is_empty() {
                return Ok(Some((branch.edge, &node.edges[branch.edge])));
            }
            branches = &branch.then;
            self.refused.clear();
        }
        Ok(None)
    }

    /// Performs the first branch whose first action can be performed.
    ///
    /// INVARIANT: siblings start with guards that exclude each other, so having entered one is
    /// final: if a later action of it cannot be performed, no other branch could have been taken.
    fn enter(
        &mut self,
        edges: &'a [Edge],
        branches: &'a [Branch],
    ) -> Result<Option<&'a Branch>, Fault> {
        'branches: for branch in branches {
            for at in branch.actions.clone() {
                let (action, line) = &edges[branch.edge].actions[at];
                self.line = *line;
                let performed = self
                    .perform(action)
                    .map_err(|kind| self.fault(kind, *line, self.attempted(action)))?;
                if !performed {
                    self.refused.push((action, *line));
                    if at == branch.actions.start {
                        continue 'branches;
                    }
                    return Ok(None);
                }
            }
            return Ok(Some(branch));
        }
        Ok(None)
    }

    /// The attempt that this move was.
    pub fn finish(mut self, ended: Result<Ended, Fault>) -> Attempt {
        let outcome = match ended {
            Err(fault) => Outcome::Fault(fault),
            Ok(Ended::Refused) if self.is_stuck_recovery() => {
                let (line, reason) = self.refusal();
                Outcome::Fault(self.fault(FaultKind::BlockedRecovery, line, reason))
            }
            Ok(Ended::Refused) => Outcome::Disabled,
            Ok(Ended::Yielded(node)) => {
                self.arrive(node);
                Outcome::Next(self.state)
            }
            Ok(Ended::Returned(value)) => {
                self.leave(value);
                Outcome::Next(self.state)
            }
        };
        self.chooser.attempt(self.path, outcome)
    }

    /// Recovery has no other thread to wait for: what it cannot do now it never can.
    fn is_stuck_recovery(&self) -> bool {
        matches!(self.actor, Actor::Recovery) && !self.chooser.is_refused()
    }

    /// The move ends at a node.
    fn arrive(&mut self, node: NodeId) {
        let locals = std::mem::take(&mut self.locals);
        let (thread, status) = match self.actor {
            Actor::Init => return,
            Actor::Thread { thread, operation } => {
                (thread, Status::Running { operation, node, locals })
            }
            Actor::Resolution { thread, operation } => {
                (thread, Status::Resolving { operation, node, locals })
            }
            Actor::Recovery => {
                if let Some(recovery) = &mut self.state.recovery {
                    let recovery = Arc::make_mut(recovery);
                    (recovery.node, recovery.locals) = (node, locals);
                }
                return;
            }
        };
        Arc::make_mut(&mut self.state.threads[thread]).status = status;
    }

    /// The move ends with the return of the body.
    fn leave(&mut self, value: Value) {
        let (thread, status) = match self.actor {
            Actor::Init => return,
            Actor::Thread { thread, operation } => (thread, Status::Returning { operation, value }),
            Actor::Resolution { thread, operation } => {
                (thread, Status::Resolved { operation, outcome: value })
            }
            Actor::Recovery => {
                self.state.recovery = None;
                return;
            }
        };
        let thread = Arc::make_mut(&mut self.state.threads[thread]);
        thread.status = status;
        thread.links.clear();
    }

    /// The state as it is now.
    pub fn into_state(self) -> State {
        self.state
    }

    pub fn thread(&self) -> Option<usize> {
        match self.actor {
            Actor::Init | Actor::Recovery => None,
            Actor::Thread { thread, .. } | Actor::Resolution { thread, .. } => Some(thread),
        }
    }

    pub fn environment(&self) -> Environment<'_> {
        let thread = self.thread();
        let variables = thread.map_or(&[][..], |thread| &self.state.threads[thread].variables);
        Environment { locals: &self.locals, variables, thread }
    }

    pub fn names(&self) -> Names<'a> {
        Names { program: self.program, body: self.code.body }
    }
}
