//! What every front end owes the interpreter: the invariants of a [`Program`], checked.
//!
//! The interpreter does not trust them (it answers
//! [`IllTyped`](crate::interpreter::FaultKind::IllTyped)), but a program that breaks them is a bug
//! in the front end: its tests should call [`defects`].

mod persistence;
mod reference;

use crate::branch::{Branch, branches};
use crate::print::Names;
use crate::program::{
    Action, Body, Expr, LocalTarget, Operation, Place, PreloadCall, Program, SpecSource, Target,
    Type,
};
use std::fmt;

/// A place where a program breaks an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// The operation, `init` or `recover`; `persistence` for what concerns lines, `reference` for
    /// what concerns a `reference { }` as a whole.
    pub operation: String,
    /// The node: an index into the body.
    pub node: usize,
    /// What is wrong.
    pub problem: String,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`, node {}: {}", self.operation, self.node, self.problem)
    }
}

/// Everything that is wrong with a program and with the `spec { }` and `reference { }` blocks in
/// it. Empty: nothing.
pub fn defects(program: &Program) -> Vec<Defect> {
    let mut found = Vec::new();
    bodies(program, &mut found);
    if let SpecSource::Model(spec) = &program.spec {
        found.extend(defects(spec));
        run_in_one_go(spec, &mut found);
    }
    if let Some(reference) = &program.reference {
        bodies(reference, &mut found);
        run_in_one_go(reference, &mut found);
        reference::defects(program, reference, &mut found);
    }
    persistence::defects(program, &mut found);
    found.extend(program.preload.iter().filter_map(|call| preload_defect(program, call)));
    found
}

/// What is wrong with a call of the preload.
fn preload_defect(program: &Program, call: &PreloadCall) -> Option<Defect> {
    let defect = |problem: &str| {
        Some(Defect { operation: "preload".to_owned(), node: 0, problem: problem.to_owned() })
    };
    let Some(operation) = program.operations.get(call.operation) else {
        return defect("calls an operation that does not exist");
    };
    let (given, taken) = (call.arguments.len(), operation.parameters.len());
    match taken.checked_sub(given) {
        Some(0) => None,
        Some(1) if operation.parameters[given].ty == Type::Tid => None,
        _ => defect("passes another number of arguments than the operation takes"),
    }
}

/// Checks `init` and every operation, each for itself.
fn bodies(program: &Program, found: &mut Vec<Defect>) {
    if let Some(body) = &program.init {
        Check { program, body, operation: "init", parameters: 0, found }.body(true);
    }
    if let Some(persistence) = &program.persistence {
        let recover = persistence.recover.iter().map(|body| (body, 0));
        let resolve = persistence.resolve.iter().map(|resolve| (&resolve.body, 1));
        for (body, parameters) in recover.chain(resolve) {
            Check { program, body, operation: "recover", parameters, found }.body(false);
        }
    }
    for operation in &program.operations {
        let parameters = operation.parameters.len();
        let name = &operation.name;
        Check { program, body: &operation.body, operation: name, parameters, found }.body(false);
    }
}

/// Checks that no operation lets others run.
fn run_in_one_go(program: &Program, found: &mut Vec<Defect>) {
    for Operation { name, body, .. } in &program.operations {
        Check { program, body, operation: name, parameters: 0, found }.never_yields();
    }
}

struct Check<'a> {
    program: &'a Program,
    body: &'a Body,
    operation: &'a str,
    parameters: usize,
    found: &'a mut Vec<Defect>,
}

impl Check<'_> {
    fn report(&mut self, node: usize, problem: String) {
        self.found.push(Defect { operation: self.operation.to_owned(), node, problem });
    }

    fn body(&mut self, is_init: bool) {
        let entry = self.body.entry.0 as usize;
        match self.body.nodes.get(entry) {
            None => self.report(entry, "the entry does not exist".to_owned()),
            Some(node) if node.yields => self.report(entry, "the entry yields".to_owned()),
            Some(_) => {}
        }
        if self.body.locals.len() < self.parameters {
            self.report(entry, "not every parameter is a local".to_owned());
        }
        if is_init {
            self.never_yields();
        }
        for (at, node) in self.body.nodes.iter().enumerate() {
            for edge in &node.edges {
                edge.actions.iter().for_each(|(action, _)| self.action(at, action));
                match &edge.target {
                    Target::Node(next) if next.0 as usize >= self.body.nodes.len() => {
                        self.report(at, format!("leads to node {}, which does not exist", next.0));
                    }
                    Target::Node(_) => {}
                    Target::Return(value) => self.expr(at, value),
                }
            }
            let tree = branches(node);
            if tree.len() > 1 {
                self.fork(at, &tree);
            }
            tree.iter().for_each(|branch| self.forks_in(at, branch));
        }
    }

    fn never_yields(&mut self) {
        for (at, node) in self.body.nodes.iter().enumerate() {
            if node.yields {
                self.report(at, "yields, where no other thread can run".to_owned());
            }
        }
    }

    /// Branches differ in guards, or the one that is tried first would always be taken.
    fn fork(&mut self, at: usize, siblings: &[Branch]) {
        for branch in siblings {
            let actions = &self.body.nodes[at].edges[branch.edge].actions;
            match actions[branch.actions.clone()].first() {
                Some((Action::Guard(_), _)) => {}
                Some((action, _)) => {
                    let names = Names { program: self.program, body: self.body };
                    let text = names.action(action);
                    self.report(at, format!("edges differ in `{text}`, which is not a guard"));
                }
                None => self.report(at, "an edge ends where others go on".to_owned()),
            }
        }
    }

    fn forks_in(&mut self, at: usize, branch: &Branch) {
        if !branch.then.is_empty() {
            self.fork(at, &branch.then);
        }
        branch.then.iter().for_each(|branch| self.forks_in(at, branch));
    }

    fn action(&mut self, at: usize, action: &Action) {
        action.expressions().into_iter().for_each(|expr| self.expr(at, expr));
        action.places().into_iter().for_each(|place| self.place(at, place));
        if let Some(local) = action.answer() {
            self.expr(at, &Expr::Local(local));
        }
        match action {
            Action::Assign { local: LocalTarget::ThreadLocal(variable), .. } => {
                self.expr(at, &Expr::ThreadLocal(*variable));
            }
            Action::New { object, fields, .. } => {
                let expected = self.program.structs.get(*object).map(|object| object.fields.len());
                if expected != Some(fields.len()) {
                    self.report(at, "a new object has the wrong number of fields".to_owned());
                }
            }
            Action::Flush(place) | Action::Persist(place)
                if self.program.persistence.as_ref().is_none_or(|kept| !kept.covers(place)) =>
            {
                let names = Names { program: self.program, body: self.body };
                let text = names.action(action);
                self.report(at, format!("`{text}` of something volatile"));
            }
            _ => {}
        }
    }

    fn place(&mut self, at: usize, place: &Place) {
        let exists = match place {
            Place::Shared(variable) | Place::SharedElement(variable, _) => {
                *variable < self.program.shared.len()
            }
            Place::Field { of, field, .. } | Place::FieldElement { of, field, .. } => {
                self.program.structs.get(*of).is_some_and(|object| *field < object.fields.len())
            }
        };
        if !exists {
            self.report(at, format!("there is no place {place:?}"));
        }
    }

    fn expr(&mut self, at: usize, expr: &Expr) {
        let (locals, variables) = (self.body.locals.len(), self.program.thread_locals.len());
        expr.walk(&mut |inner| match inner {
            Expr::Local(local) if local.0 as usize >= locals => {
                self.report(at, format!("there is no local {}", local.0));
            }
            Expr::ThreadLocal(variable) if *variable >= variables => {
                self.report(at, format!("there is no thread-local {variable}"));
            }
            _ => {}
        });
    }
}
