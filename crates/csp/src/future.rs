//! What a process may still do, whatever the others do: the cells it may access and the events it
//! may show.
//!
//! An overapproximation. Parameters are followed as long as their values are known, so that a
//! process that works on `M[i]` with a fixed `i` is seen to leave the other elements alone;
//! conditions that are known are decided.

use crate::cells::{Access, Bits};
use crate::evaluate;
use crate::program::*;
use crate::syntax::ast::BinaryOp;
use crate::term::{Term, Values};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// What a process may still do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Future {
    pub access: Access,
    /// The names of events, hidden ones included.
    pub events: Bits,
}

/// For each slot its value, if it is known.
type Known = SmallVec<[Option<i64>; 8]>;

/// A process that is called with more different arguments than this is looked at with unknown ones.
const CALLS: usize = 64;

/// After this many nodes and statements bound names are taken as unknown.
const BUDGET: usize = 20_000;

/// What a term may still do.
pub(crate) fn future(model: &Model, term: &Term) -> Future {
    let mut search = Search {
        model,
        found: Future::default(),
        seen: FxHashSet::default(),
        calls: FxHashMap::default(),
        open: Vec::new(),
        visited: 0,
    };
    search.term(term);
    while let Some((process, arguments)) = search.open.pop() {
        let process = &model.processes[process as usize];
        let mut frame = arguments;
        frame.resize(process.frame, None);
        search.node(process.body, &mut frame);
    }
    search.found
}

struct Search<'m> {
    model: &'m Model,
    found: Future,
    seen: FxHashSet<(u32, Known)>,
    /// How many different arguments each process was called with.
    calls: FxHashMap<u32, usize>,
    open: Vec<(u32, Known)>,
    visited: usize,
}

impl Search<'_> {
    fn term(&mut self, term: &Term) {
        match term {
            Term::Done | Term::Stop | Term::Skip => {}
            Term::Leaf(node, values) => self.closure(*node, values),
            Term::Sequence(first, node, values) => {
                self.term(first);
                self.closure(*node, values);
            }
            Term::Choice(terms) | Term::Interleave(terms) => {
                terms.iter().for_each(|term| self.term(term));
            }
            Term::Hide(body, _) => self.term(body),
        }
    }

    fn closure(&mut self, id: NodeId, values: &Values) {
        let node = &self.model.nodes[id as usize];
        let mut frame = Known::from_elem(None, node.frame);
        for (slot, value) in node.free.iter().zip(values) {
            frame[usize::from(*slot)] = Some(*value);
        }
        self.node(id, &mut frame);
    }

    fn node(&mut self, id: NodeId, frame: &mut Known) {
        self.visited += 1;
        let model = self.model;
        match &model.nodes[id as usize].kind {
            NodeKind::Stop | NodeKind::Skip => {}
            NodeKind::Prefix { event, data, update, next } => {
                for datum in data {
                    self.value(datum, frame);
                }
                if let Some(event) = event {
                    self.found.events.insert(*event as usize);
                }
                self.statements(update, frame);
                self.node(*next, frame);
            }
            NodeKind::Hide { body, .. } => self.node(*body, frame),
            NodeKind::Sequence { first, then } => {
                self.node(*first, frame);
                self.node(*then, frame);
            }
            NodeKind::Choice(ids) | NodeKind::Interleave(ids) => {
                ids.iter().for_each(|id| self.node(*id, frame));
            }
            NodeKind::If { condition, then, otherwise, .. } => {
                let holds = self.value(condition, frame);
                if holds != Some(0) {
                    self.node(*then, frame);
                }
                if holds.is_none_or(|holds| holds == 0) {
                    self.node(*otherwise, frame);
                }
            }
            NodeKind::Call { process, arguments } => {
                let mut known: Known =
                    arguments.iter().map(|argument| self.value(argument, frame)).collect();
                let calls = self.calls.entry(*process).or_default();
                if *calls >= CALLS {
                    known.fill(None);
                }
                if self.seen.insert((*process, known.clone())) {
                    *calls += 1;
                    self.open.push((*process, known));
                }
            }
            NodeKind::Indexed { slot, domain, body, .. } => {
                for value in self.domain(domain, frame) {
                    frame[usize::from(*slot)] = value;
                    self.node(*body, frame);
                }
            }
        }
    }

    fn domain(&mut self, domain: &Domain, frame: &Known) -> Vec<Option<i64>> {
        let values: Option<Vec<i64>> = match domain {
            Domain::Range(from, to) => match (self.value(from, frame), self.value(to, frame)) {
                (Some(from), Some(to)) if to.saturating_sub(from) < crate::limits::BRANCHES => {
                    Some((from..=to).collect())
                }
                _ => None,
            },
            Domain::List(values) => values.iter().map(|value| self.value(value, frame)).collect(),
        };
        match values {
            Some(values) if self.visited < BUDGET => values.into_iter().map(Some).collect(),
            _ => vec![None],
        }
    }

    fn statements(&mut self, statements: &[Statement], frame: &mut Known) {
        for statement in statements {
            self.visited += 1;
            match statement {
                Statement::Assign { variable, index, value, .. } => {
                    self.value(value, frame);
                    let index = match index {
                        Some(index) => self.value(index, frame),
                        None => Some(0),
                    };
                    cells(
                        &self.model.variables[*variable as usize],
                        index,
                        &mut self.found.access.writes,
                    );
                }
                Statement::If { condition, then, otherwise } => {
                    let holds = self.value(condition, frame);
                    if holds != Some(0) {
                        self.statements(then, frame);
                    }
                    if holds.is_none_or(|holds| holds == 0) {
                        self.statements(otherwise, frame);
                    }
                }
                Statement::For { slot, domain, body, .. } => {
                    for value in self.domain(domain, frame) {
                        frame[usize::from(*slot)] = value;
                        self.statements(body, frame);
                    }
                }
            }
        }
    }

    /// The value of an expression, if it does not depend on anything unknown; notes what it may
    /// read.
    fn value(&mut self, expr: &Expr, frame: &Known) -> Option<i64> {
        match &expr.kind {
            ExprKind::Value(value) => Some(*value),
            ExprKind::Slot(slot) => frame.get(usize::from(*slot)).copied().flatten(),
            ExprKind::Variable(variable) => {
                let variable = &self.model.variables[*variable as usize];
                cells(variable, Some(0), &mut self.found.access.reads);
                None
            }
            ExprKind::Element(variable, index) => {
                let index = self.value(index, frame);
                let variable = &self.model.variables[*variable as usize];
                cells(variable, index, &mut self.found.access.reads);
                None
            }
            ExprKind::Not(inner) => self.value(inner, frame).map(|value| 1 - value),
            ExprKind::Negate(inner) => self.value(inner, frame)?.checked_neg(),
            ExprKind::Binary(operator, left, right) => {
                let first = self.value(left, frame);
                match (operator, first) {
                    (BinaryOp::And, Some(0)) => return Some(0),
                    (BinaryOp::Or, Some(1)) => return Some(1),
                    _ => {}
                }
                let second = self.value(right, frame);
                evaluate::binary(*operator, first?, second?, expr.span).ok()
            }
        }
    }
}

/// Adds an element of a variable, or all of them if the index is unknown.
fn cells(variable: &Variable, index: Option<i64>, into: &mut Bits) {
    let length = variable.length.unwrap_or(1);
    match index {
        None => (variable.start..variable.start + length).for_each(|cell| into.insert(cell)),
        Some(index) => {
            if let Some(index) = usize::try_from(index).ok().filter(|index| *index < length) {
                into.insert(variable.start + index);
            }
        }
    }
}
