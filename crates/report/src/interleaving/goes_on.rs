//! How a run that got stuck goes on: the pending operations take turns until a state comes back.

use linchpin_ir::interpreter::{Choices, Machine, Move, Outcome, ScheduledMove, State};
use std::collections::HashMap;

/// So many moves are made; a run that got stuck usually repeats itself within a few.
const MOST: usize = 400;

/// So many ways to make a move are tried.
const WAYS: usize = 64;

/// How it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoesOn {
    /// After these moves the state is the one after the first `from` of them.
    Repeats {
        /// The moves.
        moves: Vec<ScheduledMove>,
        /// How many of them come before what repeats.
        from: usize,
    },
    /// No pending operation can take a step.
    Waits,
    /// No state came back within so many moves.
    NotSeen,
}

/// Lets the pending operations take turns, and calls nothing.
pub fn goes_on(machine: &Machine, end: &State) -> GoesOn {
    let threads = end.threads.len();
    let mut state = end.clone();
    // As if the first of them had just moved: where it is alone, its first move repeats already.
    let first = (0..threads).find(|thread| end.pending(*thread).is_some());
    let Some(mut turn) = first.map(|first| (first + 1) % threads) else { return GoesOn::Waits };
    let mut moves = Vec::new();
    let mut seen = HashMap::from([((state.clone(), turn), 0)]);
    while moves.len() < MOST {
        let order = (0..threads).map(|offset| (turn + offset) % threads);
        let next = order.filter_map(|thread| step(machine, &state, thread)).next();
        let Some((made, after)) = next else { return GoesOn::Waits };
        turn = made.what.thread().map_or(turn, |thread| (thread + 1) % threads);
        moves.push(made);
        state = after;
        if let Some(&from) = seen.get(&(state.clone(), turn)) {
            return GoesOn::Repeats { moves, from };
        }
        seen.insert((state.clone(), turn), moves.len());
    }
    GoesOn::NotSeen
}

/// The first way in which the pending operation of a thread moves, of those that are tried.
fn step(machine: &Machine, state: &State, thread: usize) -> Option<(ScheduledMove, State)> {
    state.pending(thread)?;
    [Move::Step { thread }, Move::Respond { thread }].into_iter().find_map(|what| {
        let mut given = Some(Choices::new());
        for _ in 0..WAYS {
            let attempt = machine.attempt(state, &what, &given?, None);
            given = attempt.next_choices();
            if let Outcome::Next(after) = attempt.outcome {
                return Some((ScheduledMove { what, choices: attempt.choices }, after));
            }
        }
        None
    })
}
