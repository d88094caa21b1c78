//! The moves of the analysis, made concretely: a call goes with its first step, a response with the
//! step that ends in it, so that threads are idle or have made a step.

use crate::concrete::step::Semantics;
use crate::concrete::{Config, Correlated, Unsupported, Wrong};
use linchpin_ir::interpreter::Status;
use linchpin_ir::program::Program;
use std::collections::HashSet;
use std::rc::Rc;

/// The states found.
pub struct Merged {
    /// What is known of the code.
    pub semantics: Semantics,
    /// The states.
    pub states: Vec<Rc<Correlated>>,
    /// Whether these are all the states within the bounds.
    pub complete: bool,
    /// What goes wrong, if anything does, and in which move.
    pub wrong: Option<Box<(Wrong, Vec<String>)>>,
}

/// Explores in random order with this seed: under a cap, states far from the first are found too.
pub fn explore(program: &Program, config: &Config, seed: u64) -> Result<Merged, Unsupported> {
    let semantics = Semantics::new(program, config)?;
    let first = Rc::new(semantics.initial()?);
    let mut known: HashSet<Rc<Correlated>> = [first.clone()].into();
    let mut found = Merged { semantics, states: vec![first], complete: true, wrong: None };
    let mut waiting = vec![0];
    let mut random = fastrand::Rng::with_seed(seed);
    while !waiting.is_empty() {
        let at = waiting.swap_remove(random.usize(..waiting.len()));
        let state = found.states[at].clone();
        for thread in 0..config.threads {
            let next = match moves(&found.semantics, &state, thread) {
                Ok(next) => next,
                Err(wrong) => {
                    found.wrong = Some(wrong);
                    return Ok(found);
                }
            };
            for next in next {
                if next.node_count() > config.objects || known.contains(&next) {
                    continue;
                }
                if found.states.len() >= config.cap {
                    found.complete = false;
                    continue;
                }
                let next = Rc::new(next);
                known.insert(next.clone());
                waiting.push(found.states.len());
                found.states.push(next);
            }
        }
    }
    Ok(found)
}

/// The merged moves of a thread.
fn moves(
    semantics: &Semantics,
    state: &Correlated,
    thread: usize,
) -> Result<Vec<Correlated>, Box<(Wrong, Vec<String>)>> {
    let is =
        |state: &Correlated, of: fn(&Status) -> bool| of(&state.candidate.threads[thread].status);
    let idle = |status: &Status| matches!(status, Status::Idle);
    let returning = |status: &Status| matches!(status, Status::Returning { .. });
    let step = |state: &Correlated| {
        let made = semantics.moves(state, thread).into_iter();
        made.map(|(made, result)| {
            result.map_err(|wrong| Box::new((wrong, semantics.shown(state, &made))))
        })
        .collect::<Result<Vec<_>, _>>()
    };
    let mut stepped = Vec::new();
    for next in step(state)? {
        // A call that answers without a step is over; otherwise its first step follows.
        match is(state, idle) && !is(&next, returning) {
            true => stepped.extend(step(&next)?),
            false => stepped.push(next),
        }
    }
    let mut done = Vec::new();
    for next in stepped {
        match is(&next, returning) {
            true => done.extend(step(&next)?),
            false => done.push(next),
        }
    }
    Ok(done)
}
