//! Which steps change what an operation answers alone.
//!
//! Where an operation alone answers as the reference does (`frozen.rs`), a step changes what it
//! answers only if it changes what the reference would answer. So each move of each view is made
//! with a second thread beside it, which has asked the reference before the move and asks again
//! after it. Only the move in which a call passes its linearization point may change the answer:
//! there is at most one in a call, and that too is seen here, not believed.

use crate::correlate::{Judged, Machine, Moved, same_answer};
use crate::execute::Path;
use crate::failure::Failure;
use crate::heap::Heap;
use crate::state::{Phase, State, Thread};
use crate::targets::Targets;
use crate::value::Scalar;
use smallvec::{SmallVec, smallvec};

/// A call whose answer is watched.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    /// The operation.
    pub operation: usize,
    /// The arguments.
    pub arguments: SmallVec<[Scalar; 2]>,
}

/// What a move does to a watched answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// It may change it, although it is not the move at which the reference moves.
    Answer,
    /// The reference may move twice in one call.
    Second,
    /// The reference cannot be asked, or a step fails.
    Fails(Failure),
}

/// A call at hand: what may its moves do?
struct Call {
    /// The operation.
    operation: usize,
    /// The line of the step.
    line: u32,
    /// Whether it is about the key at hand, and before its linearization point.
    may_move: bool,
    /// Whether it is after it.
    after: bool,
}

/// Calls `each` with every move of the thread of a view that may change a watched answer, other
/// than the one that is allowed to: the operation of the mover, and the line.
pub(crate) fn changes(
    machine: &Machine,
    view: &State<Targets>,
    watched: &Watched,
    each: &mut dyn FnMut(usize, u32, Change),
) {
    let asked = match ask(machine, view.clone(), watched) {
        Ok(asked) => asked,
        Err(failure) => return each(failure.operation, failure.line, Change::Fails(failure)),
    };
    for state in asked {
        for (call, moves) in moves(machine, &state, each) {
            for moved in moves {
                if let Some(change) = judge(machine, &call, moved, watched) {
                    each(call.operation, call.line, change);
                }
            }
        }
    }
}

/// The states in which the watched call has one answer each. The last thread holds it: after its
/// point where the reference stays as it is, before it where the reference would change.
fn ask(
    machine: &Machine,
    mut state: State<Targets>,
    watched: &Watched,
) -> Result<Vec<State<Targets>>, Failure> {
    let role = state.threads[0].role;
    let arguments = watched.arguments.clone();
    state.threads.push(Thread { arguments, ..Thread::idle(role) });
    let mut out: Vec<State<Targets>> = Vec::new();
    for path in asked(machine, state.clone(), watched)? {
        match path.visible {
            false => out.push(path.state),
            true => out.push(state.clone()),
        }
    }
    Ok(out)
}

/// The reference executes the watched call of the last thread.
fn asked(
    machine: &Machine,
    state: State<Targets>,
    watched: &Watched,
) -> Result<Vec<Path<Targets>>, Failure> {
    let last = u8::try_from(state.threads.len() - 1).unwrap_or(u8::MAX);
    let path = Path { state, locals: smallvec![], visible: false, allocated: smallvec![] };
    machine.linearize(path, last, watched.operation, 0)
}

/// The moves of the first thread, call by call.
fn moves(
    machine: &Machine,
    state: &State<Targets>,
    each: &mut dyn FnMut(usize, u32, Change),
) -> Vec<(Call, Vec<Moved<Targets>>)> {
    let mover = &state.threads[0];
    let mut all = Vec::new();
    if let Some((operation, node)) = mover.at {
        let operation = usize::from(operation);
        let line = machine.model.operations[operation].body.nodes[usize::from(node)].line;
        let after = mover.phase != Phase::Pre;
        let may_move = machine.is_judged(state, 0) && !after;
        match machine.moves(state, 0, Judged::Yes) {
            Ok(moves) => all.push((Call { operation, line, may_move, after }, moves)),
            Err(failure) => each(operation, line, Change::Fails(failure)),
        }
        return all;
    }
    for &operation in &machine.model.roles[usize::from(mover.role)] {
        let line = machine.model.program.operations[operation].line;
        for arguments in machine.arguments(&machine.model.operations[operation]) {
            let caller = Thread { arguments: arguments.clone(), ..mover.clone() };
            let calling = State { threads: vec![caller], ..state.clone() };
            let may_move = machine.is_judged(&calling, 0);
            let mut moves = Vec::new();
            let called = machine.call_with(state, 0, operation, arguments, Judged::Yes, &mut moves);
            match called {
                Ok(()) => all.push((Call { operation, line, may_move, after: false }, moves)),
                Err(failure) => each(operation, line, Change::Fails(failure)),
            }
        }
    }
    all
}

/// What a move did to the watched answer, if it may have done what it must not.
fn judge(
    machine: &Machine,
    call: &Call,
    moved: Moved<Targets>,
    watched: &Watched,
) -> Option<Change> {
    let mut state = moved.state;
    let mover = &state.threads[0];
    let (pending, passed) = (mover.at.is_some(), mover.phase != Phase::Pre);
    if pending && call.after && !passed {
        return Some(Change::Second);
    }
    if call.may_move && (!pending || passed) {
        return None;
    }
    let last = state.threads.len() - 1;
    let before = std::mem::replace(&mut state.threads[last].phase, Phase::Pre);
    // The answer keeps its node named while the reference is asked again.
    if let Phase::Post(answer) = before {
        state.threads[last].locals = smallvec![answer];
    }
    let again = match asked(machine, state, watched) {
        Ok(again) => again,
        Err(failure) => return Some(Change::Fails(failure)),
    };
    let same = |path: &Path<Targets>| {
        let asker = &path.state.threads[last];
        match (before, path.visible, asker.phase) {
            (Phase::Pre, true, _) => true,
            (Phase::Post(_), false, Phase::Post(now)) => {
                asker.locals.first().is_some_and(|old| same_answer(*old, now))
            }
            _ => false,
        }
    };
    (!again.iter().all(same)).then_some(Change::Answer)
}

/// The calls of an operation to watch: those that are judged. `None` where its arguments are values
/// that a second call may share.
pub(crate) fn calls(machine: &Machine, operation: usize) -> Option<Vec<Watched>> {
    let code = &machine.model.operations[operation];
    let mut all = Vec::new();
    for arguments in machine.arguments(code) {
        let is_value = |word: &Scalar| matches!(word, Scalar::Argument(_) | Scalar::Any);
        if arguments.iter().any(is_value) {
            return None;
        }
        let caller = Thread { arguments: arguments.clone(), ..Thread::idle(0) };
        let state = State {
            shared: smallvec![],
            reference: smallvec![],
            edge: None,
            threads: vec![caller],
            heap: Targets::empty(),
        };
        if machine.is_judged(&state, 0) {
            all.push(Watched { operation, arguments });
        }
    }
    Some(all)
}
