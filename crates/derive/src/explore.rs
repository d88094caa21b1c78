//! All paths of an operation, by symbolic execution of its steps.
//!
//! A way that comes back to a node where it has been closes a round. Rounds are left out of the
//! paths, so each must have changed nothing that matters: no shared location (a `cas` on behalf of
//! another operation is dealt with in [`help`](crate::help)), no field of an object of its own that
//! is read before it is written again, and no local that is still needed. A local that a round
//! changes and that is still needed becomes a guess: it may be anything.

use crate::Refusal;
use crate::action::stored;
use crate::evaluate::{Tree, tree_of};
use crate::execution::{Execution, Halt, Visit};
use crate::explorer::{Explorer, MOST_PATHS, Paths, Round};
use crate::layout::{Kind, Layout, words};
use crate::path::{End, Site, Step, is_visible};
use crate::symbol::{Word, symbol};
use linchpin_ir::liveness::live_locals;
use linchpin_ir::program::{Edge, Expr, NodeId, Operation, Program, Target, Type};
use linchpin_subop::model::Term;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Edges that are followed for one operation.
const MOST_EDGES: usize = 20_000;
/// Steps of a path.
const MOST_STEPS: usize = 60;
/// Words of the locals of an operation: every way has its own.
const MOST_WORDS: usize = 1_000;
/// Nodes of a path: exploring is recursive, so this bounds the stack.
const MOST_NODES: usize = 300;

/// All paths of an operation.
pub fn paths(program: &Program, layout: &Layout, operation: usize) -> Result<Paths, Refusal> {
    let body = &program.operations[operation].body;
    let live = live_locals(body);
    let words: usize = body.locals.iter().map(|local| local.ty.words()).sum();
    if words > MOST_WORDS {
        let reason = format!("the locals of an operation have more than {MOST_WORDS} words");
        return Err(Refusal::at(program.operations[operation].line, reason));
    }
    let mut havoc: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    let mut edges = 0;
    loop {
        let mut explorer = Explorer {
            program,
            layout,
            operation,
            body,
            live: &live,
            havoc: &havoc,
            found: Paths::default(),
            faults: RefCell::default(),
            edges,
            changed: None,
        };
        let outcome = explorer.start();
        // A local that a round changes: start again with it as a guess.
        edges = explorer.edges;
        if let Some((node, local)) = explorer.changed {
            havoc.entry(node).or_default().insert(local);
            continue;
        }
        let mut found = explorer.found;
        found.faults = explorer.faults.into_inner();
        return outcome.map(|()| found);
    }
}

impl Explorer<'_> {
    fn start(&mut self) -> Result<(), Refusal> {
        let operation = &self.program.operations[self.operation];
        let refuse = |reason: String| Refusal::at(operation.line, reason);
        if operation.requires.is_some() {
            return Err(refuse("`requires`: clients with a protocol are not covered".to_owned()));
        }
        let mut execution = Execution {
            symbols: Vec::new(),
            new: Vec::new(),
            values: self.body.locals.iter().map(|local| tree_of(&local.initial)).collect(),
            steps: Vec::new(),
            current: Step { line: operation.line, ..Step::default() },
            visits: Vec::new(),
            guessed: Vec::new(),
            held: Vec::new(),
            line: operation.line,
        };
        for (at, parameter) in operation.parameters.iter().enumerate() {
            if parameter.ty != Type::Int {
                return Err(refuse("arguments other than `int`".to_owned()));
            }
            let id = execution.fresh(&self.body.locals[at].name, Kind::Int);
            execution.values[at] = Tree::Word(Word::Term(symbol(id)));
        }
        self.node(self.body.entry, execution)
    }

    fn node(&mut self, id: NodeId, mut execution: Execution) -> Result<(), Refusal> {
        let node = &self.body.nodes[id.0 as usize];
        let refuse = |reason: &str| Err(Refusal::at(node.line, reason.to_owned()));
        if node.yields {
            execution.finish_step(node.line);
            self.notice(&execution);
        }
        if execution.steps.len() > MOST_STEPS || execution.visits.len() > MOST_NODES {
            return refuse("a path has too many steps");
        }
        if let Some(locals) = self.havoc.get(&id.0) {
            for local in locals {
                execution
                    .guess(self.body, *local)
                    .map_err(|reason| Refusal::at(node.line, reason))?;
            }
        }
        let counts = execution.counts(&self.live[id.0 as usize]);
        if let Some(visit) = execution
            .visits
            .iter()
            .find(|visit| visit.node == id && visit.counts == counts)
            .cloned()
        {
            return self.close(id, &visit, execution);
        }
        execution.visits.push(Rc::new(Visit {
            node: id,
            counts,
            values: execution.values.clone(),
            steps: execution.steps.len(),
            inside: !execution.current.is_empty(),
            line: node.line,
        }));
        for edge in &node.edges {
            self.edges += 1;
            if self.edges > MOST_EDGES {
                return refuse("there are too many ways through this operation");
            }
            for branch in self.edge(id, edge, execution.clone())? {
                match &edge.target {
                    Target::Node(to) => self.node(*to, branch)?,
                    Target::Return(value) => self.returns(branch, value, node.line)?,
                }
                if self.changed.is_some() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Notes every step so far that others can notice.
    fn notice(&mut self, execution: &Execution) {
        // Each of them: a step of its own for a new object may stand after a visible one.
        let mut private = Vec::new();
        for at in 0..execution.steps.len() {
            let steps = &execution.steps[..=at];
            if is_visible(&execution.steps[at], &mut private)
                && !self.found.noticed.iter().any(|known| known == steps)
            {
                self.found.noticed.push(steps.to_vec());
            }
        }
    }

    /// Executes the actions of an edge in every way, and notes the attempts among them that
    /// succeed.
    fn edge(
        &mut self,
        id: NodeId,
        edge: &Edge,
        execution: Execution,
    ) -> Result<Vec<Execution>, Refusal> {
        let line = self.body.nodes[id.0 as usize].line;
        let mut branches = vec![execution];
        for (at, (action, line_here)) in edge.actions.iter().enumerate() {
            let last = matches!(edge.target, Target::Return(_))
                || matches!(edge.target, Target::Node(to) if self.body.nodes[to.0 as usize].yields);
            let rest = &edge.actions[at + 1..];
            let apart = last && rest.iter().all(|(action, _)| action.places().is_empty());
            let site = Site { operation: self.operation, node: id.0, action: at };
            let mut next = Vec::new();
            for branch in branches {
                match self.action(branch, action, *line_here, site, apart) {
                    Ok(found) => next.extend(found),
                    Err(Halt::Never) => {}
                    Err(Halt::Refused(reason)) => return Err(Refusal::at(*line_here, reason)),
                }
            }
            branches = next;
            if branches.len() > MOST_PATHS {
                return Err(Refusal::at(line, "there are too many ways through this operation"));
            }
        }
        branches.iter().for_each(|branch| self.attempts(branch));
        Ok(branches)
    }

    /// Notes the paths up to each attempt that succeeds.
    fn attempts(&mut self, branch: &Execution) {
        let all: Vec<Step> = branch.steps.iter().chain([&branch.current]).cloned().collect();
        for at in 0..all.len() {
            if all[at].attempt.is_some_and(|attempt| attempt.succeeded) {
                let path = self.path(branch, all[..=at].to_vec(), End::Help);
                if !self.found.helping.contains(&path) {
                    self.found.helping.push(path);
                }
            }
        }
    }

    fn returns(&mut self, execution: Execution, value: &Expr, line: u32) -> Result<(), Refusal> {
        let refuse = |reason: String| Refusal::at(line, reason);
        let operation = &self.program.operations[self.operation];
        let mut execution = execution;
        match self.takes_no_none(&mut execution, value) {
            Ok(()) => {}
            Err(Halt::Never) => return Ok(()),
            Err(Halt::Refused(reason)) => return Err(refuse(reason)),
        }
        for (conditions, tree) in execution.words().evaluate(value).map_err(refuse)? {
            let mut branches = vec![(execution.clone(), conditions, Vec::new())];
            let expected = result_words(operation).map_err(refuse)?;
            for (word, kind) in tree.words().into_iter().zip(&expected) {
                let mut next = Vec::new();
                for (branch, conditions, terms) in branches {
                    for (condition, term) in stored(&word, *kind) {
                        let mut conditions = conditions.clone();
                        conditions.push(condition);
                        let mut terms: Vec<Term> = terms.clone();
                        terms.push(term);
                        next.push((branch.clone(), conditions, terms));
                    }
                }
                branches = next;
            }
            for (mut branch, conditions, terms) in branches {
                if branch.assume(conditions).is_err() {
                    continue;
                }
                branch.finish_step(line);
                if self.found.returning.len() >= MOST_PATHS {
                    return Err(refuse("the operation has too many paths".to_owned()));
                }
                let steps = branch.steps.clone();
                let path = self.path(&branch, steps, End::Return(terms));
                self.found.returning.push(path);
            }
        }
        Ok(())
    }

    /// A way has come back to where it was.
    fn close(&mut self, id: NodeId, visit: &Visit, execution: Execution) -> Result<(), Refusal> {
        let node = &self.body.nodes[id.0 as usize];
        let live = &self.live[id.0 as usize];
        let havoc = self.havoc.get(&id.0);
        for (local, live) in live.iter().enumerate() {
            let local_id = local as u32;
            if !live || havoc.is_some_and(|locals| locals.contains(&local_id)) {
                continue;
            }
            if execution.values[local] != visit.values[local] {
                self.changed = Some((id.0, local_id));
                return Ok(());
            }
        }
        if visit.inside || !execution.current.is_empty() {
            return Err(Refusal::at(node.line, "a loop inside one atomic step".to_owned()));
        }
        if visit.steps == execution.steps.len() {
            self.may_fail(&execution, Vec::new(), "a loop never gives other threads a turn");
        }
        self.found.rounds.push(Round {
            steps: execution.steps,
            from: visit.steps,
            line: visit.line,
        });
        Ok(())
    }
}

/// The kinds of the words that an operation answers.
fn result_words(operation: &Operation) -> Result<Vec<Kind>, String> {
    let parts = words(&operation.response)?;
    Ok(parts.into_iter().map(|(_, kind)| kind).collect())
}
