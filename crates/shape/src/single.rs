//! Calls that take at most one update step.
//!
//! Then a critical sequence (paper 004, Definition 5) is one step, no other step comes between its
//! first and its last, and nothing is asked of critical sequences that interleave (Definition 6.1).
//!
//! A step that may update is one whose code writes and that other threads can notice in some view:
//! a thread that writes to a node of its own, before it shows it to others, updates nothing.

use crate::alone::{Gap, GapCause};
use crate::analysis::Analysis;
use crate::correlate::{Judged, Moved};
use crate::frozen::Stop;
use crate::model::{Code, writes};
use crate::state::State;
use crate::targets::Targets;
use linchpin_ir::program::{NodeId, Target};
use std::collections::BTreeSet;

/// The steps of an operation that may update, and where they lead.
#[derive(Default)]
struct Updates {
    /// The nodes at which such steps start.
    from: BTreeSet<usize>,
    /// The nodes at which they end.
    to: BTreeSet<usize>,
    /// What could not be executed.
    failed: Option<Gap>,
}

/// For each operation, whether every call takes at most one update step.
pub(crate) fn single_updates(analysis: &Analysis) -> Vec<Result<(), Gap>> {
    let operations = &analysis.machine.model.operations;
    let mut all: Vec<Updates> = operations.iter().map(|_| Updates::default()).collect();
    for reached in &analysis.explored.states {
        note(analysis, &reached.state, &mut all);
    }
    all.into_iter().zip(operations).map(|(updates, code)| judge(updates, code)).collect()
}

/// The moves of the thread of a view.
fn note(analysis: &Analysis, view: &State<Targets>, all: &mut [Updates]) {
    let machine = &analysis.machine;
    let thread = &view.threads[0];
    let calls = match thread.at {
        Some((operation, node)) => vec![(usize::from(operation), Some(usize::from(node)))],
        None => {
            let role = &machine.model.roles[usize::from(thread.role)];
            role.iter().map(|operation| (*operation, None)).collect()
        }
    };
    for (operation, node) in calls {
        let code = &machine.model.operations[operation];
        let from = node.map_or_else(|| steps_from_entry(code), |node| vec![node]);
        let from: Vec<usize> = from.into_iter().filter(|at| step_writes(code, *at)).collect();
        if from.is_empty() {
            continue;
        }
        let mut moves: Vec<Moved<Targets>> = Vec::new();
        let made = match node {
            Some(_) => machine.moves(view, 0, Judged::Yes).map(|made| moves = made),
            None => machine.arguments(code).into_iter().try_for_each(|arguments| {
                machine.call_with(view, 0, operation, arguments, Judged::Yes, &mut moves)
            }),
        };
        if let Err(failure) = made {
            let cause = GapCause::Alone(Stop::Fails(failure));
            let state = Some(Box::new(view.clone()));
            all[operation].failed.get_or_insert(Gap { line: failure.line, cause, state });
        }
        for moved in moves.iter().filter(|moved| moved.visible) {
            all[operation].from.extend(&from);
            let ends = moved.state.threads[0].at.map(|(_, node)| usize::from(node));
            all[operation].to.extend(ends);
        }
    }
}

/// Whether no step that may update comes after another.
fn judge(updates: Updates, code: &Code) -> Result<(), Gap> {
    if let Some(gap) = updates.failed {
        return Err(gap);
    }
    let reached = reached(code, updates.to.iter().copied().collect(), false);
    match updates.from.iter().find(|at| reached.contains(at)) {
        None => Ok(()),
        Some(at) => {
            let line = code.body.nodes[*at].line;
            Err(Gap { line, cause: GapCause::SecondUpdate, state: None })
        }
    }
}

/// The nodes that the code leads to from these, these included; or only those within one step.
fn reached(code: &Code, from: Vec<usize>, one_step: bool) -> BTreeSet<usize> {
    let mut met: BTreeSet<usize> = from.iter().copied().collect();
    let mut work = from;
    while let Some(at) = work.pop() {
        for edge in &code.body.nodes[at].edges {
            let Target::Node(NodeId(next)) = edge.target else { continue };
            let next = usize::try_from(next).unwrap_or_default();
            let ends = one_step && code.body.nodes[next].yields;
            if !ends && met.insert(next) {
                work.push(next);
            }
        }
    }
    met
}

/// Whether the step that starts at a node may write.
fn step_writes(code: &Code, from: usize) -> bool {
    let edges = |at: usize| code.body.nodes[at].edges.iter();
    let inside = reached(code, vec![from], true);
    let mut actions = inside.into_iter().flat_map(edges).flat_map(|edge| &edge.actions);
    actions.any(|(action, _)| writes(action))
}

/// The nodes at which the first step of a call may start; the entry too, for what comes before.
fn steps_from_entry(code: &Code) -> Vec<usize> {
    let entry = usize::try_from(code.body.entry.0).unwrap_or_default();
    let mut starts = vec![entry];
    for at in reached(code, vec![entry], true) {
        for edge in &code.body.nodes[at].edges {
            if let Target::Node(NodeId(next)) = edge.target {
                let next = usize::try_from(next).unwrap_or_default();
                starts.extend(code.body.nodes[next].yields.then_some(next));
            }
        }
    }
    starts
}
