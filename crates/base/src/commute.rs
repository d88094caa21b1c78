//! Whether steps of critical sequences that interleave commute (Definition 4, 6.1).

use crate::alone::Call;
use crate::explore::{Explorer, Here, Move};
use crate::finding::{Detail, Finding, Place};
use crate::note::Note;
use crate::outcome::Words;
use linchpin_engine::Rule;
use linchpin_space::{Alone, Flat};

/// Two steps in a row: the state after them, with what each answered if it returned.
type Both = (Vec<u8>, Option<Words>, Option<Words>);

/// Checks every pair of critical steps that can be taken one after the other here, where one of the
/// two threads is inside its critical sequence.
pub(crate) fn check(explorer: &mut Explorer<'_>, here: &Here, moves: &[Move]) {
    for (at, first) in moves.iter().enumerate() {
        for second in &moves[at + 1..] {
            let inside = |of: &Move| matches!(here.notes[of.thread], Note::Critical { .. });
            if first.thread != second.thread
                && first.critical
                && second.critical
                && (inside(first) || inside(second))
            {
                pair(explorer, here, first, second);
            }
        }
    }
}

/// Checks a step of a critical sequence that goes on with every critical step that can come right
/// after it. That the second is critical shows only after the first: a `cas` may fail or succeed
/// because of it.
pub(crate) fn check_after(explorer: &mut Explorer<'_>, here: &Here, moves: &[Move]) {
    for first in moves {
        let Some(notes) = &first.goes_on else { continue };
        let shared =
            explorer.shared.occurrence(explorer.space, &first.after, &mut explorer.workspace);
        let (flat, notes) = (first.after.clone(), notes.clone());
        let there = Here { id: here.id, flat, shared, notes, specified: here.specified };
        for second in explorer.moves(&there) {
            if second.thread != first.thread && explorer.is_critical(&there, &second) {
                pair(explorer, here, first, &second);
            }
        }
    }
}

fn pair(explorer: &mut Explorer<'_>, here: &Here, one: &Move, two: &Move) {
    let number = |of: &Move| here.notes[of.thread].call().or(of.call);
    let (Some(call), Some(other)) = (number(one), number(two)) else { return };
    let there = both(explorer, here, one, two);
    let back = both(explorer, here, two, one).map(|(state, one, two)| (state, two, one));
    let operation = |call: usize, explorer: &Explorer<'_>| explorer.shared.calls()[call].operation;
    let (of, with) = (operation(call, explorer), operation(other, explorer));
    explorer.tally.count(Rule::Commute, of);
    if there == back {
        return;
    }
    // Swapping is asked of steps that were taken in a row; so the order that is possible is shown.
    let (first, second, operation, other, possible) = match there.is_some() {
        true => (one, two, of, with, back.is_some()),
        false => (two, one, with, of, false),
    };
    let detail = Detail::Order {
        first: number(first).unwrap_or_default(),
        second: number(second).unwrap_or_default(),
        possible,
        then: (second.thread, second.call),
    };
    let place = Place { state: here.id, thread: first.thread, call: first.call };
    let line = explorer.line_of_move(here, first);
    explorer.findings.add(Finding {
        rule: Rule::Commute,
        operation,
        other: Some(other),
        line,
        place,
        detail,
    });
}

/// One small step of each, in this order; `None` if it is not possible.
fn both(explorer: &mut Explorer<'_>, here: &Here, one: &Move, two: &Move) -> Option<Both> {
    let mut flat = here.flat.clone();
    let first = small_step(explorer, &mut flat, one)?;
    let second = small_step(explorer, &mut flat, two)?;
    let mut bytes = Vec::new();
    let threads: Vec<usize> = (0..explorer.space.program().threads.len()).collect();
    explorer.space.pack_in_order(&flat, &threads, &mut explorer.workspace, &mut bytes);
    Some((bytes, first, second))
}

/// The next step of a thread that accesses something, with the call before it if it is idle. What
/// it answers, if it returns; `None` if it cannot be taken.
fn small_step(explorer: &mut Explorer<'_>, flat: &mut Flat, made: &Move) -> Option<Option<Words>> {
    let (space, thread) = (explorer.space, made.thread);
    let workspace = &mut explorer.workspace;
    if let Some(call) = made.call {
        let Call { operation, arguments, .. } = &explorer.shared.calls()[call];
        let step = space.call_alone(flat, thread, *operation, arguments, workspace);
        match step.led {
            Alone::On => {}
            Alone::Returned(words) => {
                space.finish_alone(flat, thread);
                return Some(Some(words));
            }
            Alone::Blocked | Alone::Faulted => return None,
        }
    }
    match space.step_alone(flat, thread, workspace).led {
        Alone::On => Some(None),
        Alone::Returned(words) => {
            space.finish_alone(flat, thread);
            Some(Some(words))
        }
        Alone::Blocked | Alone::Faulted => None,
    }
}
