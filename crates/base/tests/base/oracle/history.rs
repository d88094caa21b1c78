//! One execution: its states, its moves and its calls.

use linchpin_ir::interpreter::{Move, Path, State};
use linchpin_ir::program::{Action, NodeId, Program};
use linchpin_spec::Value;

/// An execution from the initial state.
///
/// INVARIANT: there is one state more than moves, and `shared` has the number of the shared state
/// of each.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub states: Vec<State>,
    pub shared: Vec<usize>,
    pub moves: Vec<Moved>,
    pub calls: Vec<Record>,
}

/// A move of an execution.
#[derive(Clone, Debug)]
pub struct Moved {
    pub what: Move,
    /// Which call of the execution it belongs to.
    pub call: usize,
    /// Where the step started.
    pub node: NodeId,
    /// Whether it is a step that accesses memory other than locks.
    pub accesses: bool,
    /// Whether it is an update step.
    pub updates: bool,
}

/// A call of an execution.
#[derive(Clone, Debug)]
pub struct Record {
    pub thread: usize,
    /// Its number among the calls that clients make.
    pub call: usize,
    pub operation: usize,
    /// The state before the invocation.
    pub invoked: usize,
    /// The moves that are its steps.
    pub steps: Vec<usize>,
    /// What it answers, once that is known.
    pub answer: Option<Value>,
    /// The state before the response.
    pub responded: Option<usize>,
}

impl History {
    /// The call that a thread is in.
    pub fn current(&self, thread: usize) -> Option<usize> {
        let last = self.calls.iter().rposition(|call| call.thread == thread)?;
        self.calls[last].responded.is_none().then_some(last)
    }

    /// The update steps of a call, in order.
    pub fn updates(&self, call: usize) -> Vec<usize> {
        self.calls[call].steps.iter().copied().filter(|&at| self.moves[at].updates).collect()
    }

    /// The last step of a call that accesses memory.
    pub fn last_access(&self, call: usize) -> Option<usize> {
        self.calls[call].steps.iter().copied().rfind(|&at| self.moves[at].accesses)
    }

    /// Takes the last move back.
    pub fn undo(&mut self) {
        let Some(moved) = self.moves.pop() else { return };
        self.states.pop();
        self.shared.pop();
        match moved.what {
            Move::Invoke { .. } => {
                self.calls.pop();
            }
            Move::Step { .. } => {
                self.calls[moved.call].steps.pop();
                self.calls[moved.call].answer = None;
            }
            Move::Respond { .. } => self.calls[moved.call].responded = None,
            Move::Crash | Move::CrashThread { .. } | Move::Recover => {}
        }
    }

    /// The moves, for people.
    pub fn shown(&self) -> Vec<String> {
        let show = |moved: &Moved| match &moved.what {
            Move::Invoke { thread, operation, arguments } => {
                format!("{thread}: call {operation}{arguments:?}")
            }
            Move::Step { thread } => {
                let update = if moved.updates { ", update" } else { "" };
                format!("{thread}: step from node {}{update}", moved.node.0)
            }
            Move::Respond { thread } => {
                format!("{thread}: answers {:?}", self.calls[moved.call].answer)
            }
            Move::Crash | Move::CrashThread { .. } | Move::Recover => "a crash".to_owned(),
        };
        self.moves.iter().map(show).collect()
    }
}

/// Whether a step along these edges accesses memory other than locks.
pub fn accesses(program: &Program, operation: usize, path: &Path) -> bool {
    let body = &program.operations[operation].body;
    let actions = path
        .iter()
        .flat_map(|&(node, edge)| &body.nodes[node.0 as usize].edges[edge].actions)
        .map(|(action, _)| action);
    actions.into_iter().any(|action| {
        action.is_access()
            && !matches!(action, Action::Lock(_) | Action::Unlock(_) | Action::Free(_))
    })
}
