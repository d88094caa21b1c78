//! The check itself: initial states, own moves, moves of others.
//!
//! Why this is a proof: by induction every reachable state is one that a state of the certificate
//! stands for; with views, for every thread of it one does. The initial states are covered. A move
//! of the thread of a view leads to a covered state. A move of another thread changes what the
//! first knows only if it can be noticed; both threads have views, so the state is one of those in
//! which the two views are side by side, and what the first knows after the move is covered.

use super::beside::{SECOND, beside, seen_by_first};
use super::correlate::{Checker, Judged};
use super::cover::Index;
use super::list;
use super::model::{Model, Reference};
use super::state::{Id, Signature, State, Thread, Word};
use super::wrong::What;
use super::{
    ComparedWith, ShapeCertificate, ShapeConfirmed, ShapeError, ShapeThreads, read, refused,
};
use std::collections::{BTreeMap, BTreeSet};

/// So many moves are made at most.
const MOST_MOVES: usize = 200_000_000;
/// Threads in any order are compared; with more there are too many orders.
const MOST_THREADS: usize = 6;

/// Confirms a certificate whose text has the right hash.
pub fn confirm(certificate: &ShapeCertificate) -> Result<ShapeConfirmed, ShapeError> {
    let checker = Checker::new(model(certificate)?);
    let roles: Vec<Vec<usize>> = match &certificate.threads {
        ShapeThreads::Any => (0..checker.model.roles.len()).map(|role| vec![role]).collect(),
        ShapeThreads::These(roles) => vec![roles.clone()],
    };
    let threads = roles.iter().map(Vec::len).max().unwrap_or(0);
    if threads > MOST_THREADS {
        return Err(ShapeError::TooLarge);
    }
    let mut states = Vec::new();
    for (at, line) in certificate.states.iter().enumerate() {
        let state = read::state(&checker.model, line)
            .map_err(|why| ShapeError::Malformed(format!("state {at}: {why}")))?;
        if state.threads.len() != threads {
            return Err(ShapeError::Malformed(format!("state {at}: another number of threads")));
        }
        states.push(state);
    }
    let mut check = Check { checker: &checker, index: Index::new(&states), moves: 0, pairs: 0 };
    for roles in &roles {
        let initial = checker.initial(roles).map_err(|what| refused(&format!("`init`: {what}")))?;
        if !initial.iter().all(|state| check.index.covers(state)) {
            return Err(refused("an initial state is not covered"));
        }
    }
    let movers = check.own_moves(&states)?;
    if certificate.threads == ShapeThreads::Any {
        check.moves_of_others(&states, &movers)?;
    }
    let with = match (&checker.model.reference, certificate.own_code) {
        (Reference::Program(_), true) => ComparedWith::OwnCode,
        (Reference::Program(_), false) => ComparedWith::Block,
        _ => ComparedWith::Specification,
    };
    Ok(ShapeConfirmed { with, states: states.len(), moves: check.moves, pairs: check.pairs })
}

/// The model of a certificate, compiled from its text.
fn model(certificate: &ShapeCertificate) -> Result<Model, ShapeError> {
    let config = linchpin_lang::Config {
        params: certificate.parameters.clone(),
        ..linchpin_lang::Config::default()
    };
    let compiled = linchpin_lang::compile(&certificate.text, &config);
    let program = compiled.map_err(|_| refused("the model does not compile"))?.program;
    let operation = |name: &String| program.operations.iter().position(|at| at.name == *name);
    let role = |names: &Vec<String>| names.iter().map(operation).collect::<Option<Vec<usize>>>();
    let roles = certificate.roles.iter().map(role).collect::<Option<Vec<_>>>();
    let roles = roles.ok_or(ShapeError::Malformed("no such operation".to_owned()))?;
    if let ShapeThreads::These(threads) = &certificate.threads
        && threads.iter().any(|role| *role >= roles.len())
    {
        return Err(ShapeError::Malformed("no such role".to_owned()));
    }
    Model::new(program, certificate.own_code, roles)
}

struct Check<'a> {
    checker: &'a Checker,
    index: Index<'a>,
    moves: usize,
    pairs: usize,
}

impl Check<'_> {
    /// The moves of the threads of each state. Returns the states from which one can be noticed.
    fn own_moves<'s>(&mut self, states: &'s [State]) -> Result<Vec<&'s State>, ShapeError> {
        let mut movers = Vec::new();
        for (at, state) in states.iter().enumerate() {
            let mut noticed = false;
            for thread in 0..state.threads.len() {
                let moves = self.checker.moves(state, thread, Judged::Yes);
                for moved in moves.map_err(|what| self.wrong(at, state, thread, what))? {
                    self.count()?;
                    noticed |= moved.noticed;
                    if !self.index.covers(&moved.state) {
                        return Err(self.wrong(at, state, thread, What::NotCovered));
                    }
                }
            }
            if noticed {
                movers.push(state);
            }
        }
        Ok(movers)
    }

    /// The moves of every other thread beside each view, the same view included: two threads may
    /// know the same.
    ///
    /// What others make of a view does not depend on what its thread is about to do, but for the
    /// nodes that it names: views that differ in nothing else are taken together. Of the mover only
    /// what its next step reads is kept.
    fn moves_of_others(&mut self, views: &[State], movers: &[&State]) -> Result<(), ShapeError> {
        let needed: BTreeSet<State> = movers.iter().map(|at| self.checker.needed(at)).collect();
        let mut by_common: BTreeMap<Signature, Vec<&State>> = BTreeMap::new();
        for mover in &needed {
            by_common.entry(mover.common_signature()).or_default().push(mover);
        }
        let mut bodies: BTreeMap<State, Vec<usize>> = BTreeMap::new();
        for (at, view) in views.iter().enumerate() {
            bodies.entry(without_control(view)).or_default().push(at);
        }
        for (body, of) in &bodies {
            let mut results = BTreeSet::new();
            for mover in by_common.get(&body.common_signature()).into_iter().flatten() {
                self.pairs += 1;
                for mut both in beside(body, mover) {
                    if list::sharpen(&self.checker.model, &mut both) {
                        results.extend(self.results(of, &both)?);
                    }
                }
            }
            for at in of {
                for result in &results {
                    self.covered_after(*at, views, result)?;
                }
            }
        }
        Ok(())
    }

    /// What the moves of the second thread make of what the first knows.
    fn results(&mut self, of: &[usize], both: &State) -> Result<Vec<State>, ShapeError> {
        let first = of.first().copied().unwrap_or_default();
        let moves = self.checker.moves(both, SECOND, Judged::Elsewhere);
        let mut out = Vec::new();
        for moved in moves.map_err(|what| self.wrong(first, both, SECOND, what))? {
            self.count()?;
            if moved.noticed {
                out.push(seen_by_first(moved.state).canonical());
            }
        }
        Ok(out)
    }

    /// Whether a view is covered after a move of another thread.
    fn covered_after(
        &mut self,
        at: usize,
        views: &[State],
        result: &State,
    ) -> Result<(), ShapeError> {
        self.count()?;
        let (Some(thread), Some(now)) = (views[at].threads.first(), result.threads.first()) else {
            return Err(refused("a view without a thread"));
        };
        let old = named_by(thread);
        let to = |node: Id| {
            let place = old.iter().position(|name| *name == node);
            place.and_then(|place| now.locals.get(place)?.node()).unwrap_or(usize::MAX)
        };
        let mut state = State { threads: vec![thread.renamed(&to)], ..result.clone() };
        let ticked = self.checker.tick(&mut state);
        ticked.map_err(|what| self.wrong(at, &state, 0, what))?;
        match self.index.covers(&state) {
            true => Ok(()),
            false => Err(ShapeError::NotConfirmed(format!(
                "state {at}: a step of another thread leads to a state that none covers"
            ))),
        }
    }

    fn count(&mut self) -> Result<(), ShapeError> {
        self.moves += 1;
        if self.moves > MOST_MOVES { Err(ShapeError::TooLarge) } else { Ok(()) }
    }

    fn wrong(&self, at: usize, state: &State, thread: usize, what: What) -> ShapeError {
        let operations = &self.checker.model.program.operations;
        let place = state.threads.get(thread).and_then(|thread| thread.at);
        let step = match place.and_then(|(operation, node)| {
            let operation = operations.get(operation)?;
            Some((operation.name.as_str(), operation.body.nodes.get(node)?.line))
        }) {
            Some((name, line)) => format!("the step of `{name}` at line {line}"),
            None => "a call".to_owned(),
        };
        let beside = if thread == SECOND && state.threads.len() == 2 { ", beside it" } else { "" };
        ShapeError::NotConfirmed(format!("state {at}{beside}: {step}: {what}"))
    }
}

/// The nodes that a thread names, each once.
fn named_by(thread: &Thread) -> Vec<Id> {
    let mut names = Vec::new();
    for node in thread.words().filter_map(Word::node) {
        if !names.contains(&node) {
            names.push(node);
        }
    }
    names
}

/// A view of which only the nodes that its thread names are kept, not what it is about to do.
fn without_control(view: &State) -> State {
    let names = view.threads.first().map(named_by).unwrap_or_default();
    let locals = names.into_iter().map(Word::Node).collect();
    State { threads: vec![Thread { locals, ..Thread::idle(0) }], ..view.clone() }.canonical()
}
