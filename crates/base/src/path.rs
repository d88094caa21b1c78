//! From a move in a canonical state to a run with names that stay, made by the interpreter.

use crate::alone::Call;
use crate::finding::Place;
use crate::store::Store;
use linchpin_ir::interpreter::{Move, ScheduledMove, State};
use linchpin_ir::run::{Run, replay};
use linchpin_space::{Action, Event, Flat, Space, Stop, Successor, Workspace};

/// A run to a place, and the states around the move that it ends with.
pub struct Path {
    /// The run, with the move.
    pub run: Option<Run>,
    /// The state before the move.
    pub before: Flat,
    /// The state after the move; `None` if it fails.
    pub after: Option<Flat>,
    /// For each thread of these states, its number in the run.
    pub threads: Vec<usize>,
}

/// A way on from a state.
struct Found {
    actions: Vec<Action>,
    after: Option<Flat>,
}

/// The run that leads to a place, and the move there.
pub fn path_to(space: &Space, store: &Store, calls: &[Call], place: Place) -> Option<Path> {
    let mut moves = vec![place];
    let mut at = place.state;
    while at != 0 {
        let step = store.step(at);
        let call = step.call.map(usize::from);
        moves.push(Place { state: step.from, thread: usize::from(step.thread), call });
        at = step.from;
    }
    moves.reverse();
    let mut workspace = Workspace::default();
    let mut threads: Vec<usize> = (0..space.program().threads.len()).collect();
    let mut schedule: Vec<ScheduledMove> = Vec::new();
    let mut state = space.machine().initial().ok()?;
    for (number, made) in moves.iter().enumerate() {
        let mut before = Flat::default();
        space.unpack(packed(store.get(made.state)), &mut before);
        let found = find(space, &before, made, calls, &mut workspace)?;
        let concrete = threads[made.thread];
        for action in &found.actions {
            state = perform(space, state, concrete, action, &mut schedule)?;
        }
        if number + 1 == moves.len() {
            let run = replay(space.program(), space.bounds().memory, &schedule).ok();
            return Some(Path { run, before, after: found.after, threads });
        }
        let mut bytes = Vec::new();
        let renaming = space.pack(&found.after?, &mut workspace, &mut bytes);
        let old = threads.clone();
        for (from, to) in renaming.threads.iter().enumerate() {
            threads[usize::from(*to)] = old[from];
        }
    }
    None
}

/// The state of the program in a state of an exploration.
pub fn packed(bytes: &[u8]) -> &[u8] {
    let (length, rest) = bytes.split_at(4.min(bytes.len()));
    let length = u32::from_le_bytes(length.try_into().unwrap_or_default()) as usize;
    &rest[..length.min(rest.len())]
}

fn find(
    space: &Space,
    before: &Flat,
    made: &Place,
    calls: &[Call],
    workspace: &mut Workspace,
) -> Option<Found> {
    let mut found = None;
    let wanted = made.call.map(|call| &calls[call]);
    let mut visit = |successor: Successor<'_>| {
        let called = successor.events.iter().find_map(|event| match event {
            Event::Call { operation, arguments, .. } => Some((*operation, &arguments[..])),
            _ => None,
        });
        if called == wanted.map(|call| (call.operation, &call.arguments[..])) {
            let after = match successor.stop {
                Stop::State(flat) => Some(flat.clone()),
                Stop::Fault => None,
            };
            let actions = successor.actions.iter().map(|made| made.action.clone()).collect();
            found = Some(Found { actions, after });
        }
        true
    };
    space.successors_of(before, made.thread, 0, workspace, &mut visit);
    found
}

/// Makes a move of the interpreter. A move that fails ends the run: the state stays.
fn perform(
    space: &Space,
    state: State,
    thread: usize,
    action: &Action,
    schedule: &mut Vec<ScheduledMove>,
) -> Option<State> {
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
    let successor = space.machine().successors(&state, &what).into_iter().next()?;
    schedule.push(ScheduledMove { what, choices: successor.choices });
    Some(successor.result.unwrap_or(state))
}
