//! The labelled transition system of a process (Definition 2): states, and the steps from each.
//!
//! A state is a closed process and the values of the shared variables. Calls, operators and indexed
//! operators unfold as soon as they are reached ([`Lts::settle`]), arguments being evaluated then;
//! events and conditionals take steps.

use crate::evaluate::{Evaluator, Fault};
use crate::limits;
use crate::program::*;
use crate::term::{Term, Values, choice, hide, interleave, pack_number, unpack_number};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// A visible event with its data.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Event {
    pub name: EventId,
    pub data: SmallVec<[i64; 2]>,
}

/// What a step shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Label {
    Tau,
    /// ✓, termination.
    Tick,
    Event(Event),
}

/// A state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub term: Term,
    pub cells: Vec<i64>,
}

/// A step.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    pub label: Label,
    /// The event that hiding has made invisible, for people to see.
    pub hidden: Option<Event>,
    /// The prefix or conditional that moved; none for termination.
    pub node: Option<NodeId>,
    pub to: State,
}

/// What an expansion needs: an evaluator that notes accesses, budgets, and the first thing that
/// went wrong.
pub(crate) struct Work<'m> {
    pub evaluator: Evaluator<'m>,
    unfolded: usize,
    pub fault: Option<Fault>,
}

/// An operator around an interleaving.
#[derive(Clone, Debug)]
pub(crate) enum Context {
    Hide(u32),
    Sequence(NodeId, Values),
}

type Frame = SmallVec<[i64; 8]>;

/// The transition system of one process of a model.
pub(crate) struct Lts<'m> {
    pub model: &'m Model,
    root: NodeId,
    /// The cells that it may write: only these need to be kept in states.
    kept: Vec<usize>,
    /// The prefixes and conditionals that it may reach.
    pub reachable: Vec<NodeId>,
}

impl<'m> Lts<'m> {
    pub fn new(model: &'m Model, root: NodeId) -> Lts<'m> {
        let (mut reachable, mut variables) = (Vec::new(), FxHashSet::default());
        let mut seen = FxHashSet::default();
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            match &model.nodes[id as usize].kind {
                NodeKind::Stop | NodeKind::Skip => {}
                NodeKind::Prefix { update, next, .. } => {
                    written(update, &mut variables);
                    reachable.push(id);
                    open.push(*next);
                }
                NodeKind::Hide { body, .. } | NodeKind::Indexed { body, .. } => open.push(*body),
                NodeKind::Sequence { first, then } => open.extend([*first, *then]),
                NodeKind::Choice(nodes) | NodeKind::Interleave(nodes) => open.extend(nodes),
                NodeKind::If { then, otherwise, .. } => open.extend([*then, *otherwise]),
                NodeKind::Call { process, .. } => {
                    open.push(model.processes[*process as usize].body);
                }
            }
        }
        reachable.sort_unstable();
        let mut variables: Vec<u32> = variables.into_iter().collect();
        variables.sort_unstable();
        let cells = |id: u32| {
            let Variable { start, length, .. } = model.variables[id as usize];
            start..start + length.unwrap_or(1)
        };
        let kept = variables.into_iter().flat_map(cells).collect();
        Lts { model, root, kept, reachable }
    }

    pub fn work(&self) -> Work<'m> {
        Work { evaluator: Evaluator::new(self.model), unfolded: 0, fault: None }
    }

    pub fn initial(&self) -> Result<State, Fault> {
        let cells = self.model.initial.clone();
        let term = self.settle(self.root, &Values::new(), &cells, &mut self.work())?;
        self.small_enough(&term, self.root)?;
        Ok(State { term, cells })
    }

    pub fn pack(&self, state: &State, out: &mut Vec<u8>) {
        out.clear();
        state.term.pack(out);
        self.kept.iter().for_each(|cell| pack_number(state.cells[*cell], out));
    }

    pub fn unpack(&self, mut bytes: &[u8]) -> State {
        let term = Term::unpack(&mut bytes);
        let mut cells = self.model.initial.clone();
        for cell in &self.kept {
            cells[*cell] = unpack_number(&mut bytes);
        }
        State { term, cells }
    }

    /// Every step from a state. What goes wrong is left in `work.fault`.
    pub fn moves(&self, state: &State, work: &mut Work<'m>) -> Vec<Move> {
        work.begin();
        let mut moves = Vec::new();
        self.term_moves(&state.term, &state.cells, work, 0, &mut moves);
        moves.retain(|step| self.fits(step, work));
        moves
    }

    /// Whether the state after a step is small enough; if not, that is the fault.
    pub fn fits(&self, step: &Move, work: &mut Work<'m>) -> bool {
        match self.small_enough(&step.to.term, step.node.unwrap_or(self.root)) {
            Ok(()) => true,
            Err(fault) => {
                work.fault.get_or_insert(fault);
                false
            }
        }
    }

    /// Every step of a part of a state; `work` has begun.
    pub fn term_moves(
        &self,
        term: &Term,
        cells: &[i64],
        work: &mut Work<'m>,
        depth: usize,
        out: &mut Vec<Move>,
    ) {
        match term {
            Term::Done | Term::Stop => {}
            Term::Skip => {
                let to = State { term: Term::Done, cells: cells.to_vec() };
                out.push(Move { label: Label::Tick, hidden: None, node: None, to });
            }
            Term::Leaf(node, values) => {
                if let Err(fault) = self.leaf(*node, values, cells, work, depth, out) {
                    work.fault.get_or_insert(fault);
                }
            }
            Term::Sequence(first, node, values) => {
                let context = Context::Sequence(*node, values.clone());
                self.inside(first, &context, cells, work, depth, out);
            }
            Term::Hide(body, set) => {
                self.inside(body, &Context::Hide(*set), cells, work, depth, out);
            }
            Term::Choice(terms) => {
                for (at, term) in terms.iter().enumerate() {
                    let first = out.len();
                    self.term_moves(term, cells, work, depth + 1, out);
                    for step in &mut out[first..] {
                        // Only a visible event resolves the choice.
                        if step.label == Label::Tau {
                            step.to.term = choice(replaced(terms, at, &mut step.to.term));
                        }
                    }
                }
            }
            Term::Interleave(terms) => {
                let (mut ticks, mut ticked) = (0, false);
                for (at, term) in terms.iter().enumerate() {
                    // Equal parts, which are neighbours, have equal steps to equal states.
                    if at > 0 && terms[at - 1] == *term {
                        ticks += usize::from(ticked);
                        continue;
                    }
                    let first = out.len();
                    self.term_moves(term, cells, work, depth + 1, out);
                    let before = out.len();
                    let mut position = 0;
                    out.retain(|step| {
                        position += 1;
                        position <= first || step.label != Label::Tick
                    });
                    ticked = out.len() < before;
                    ticks += usize::from(ticked);
                    for step in &mut out[first..] {
                        step.to.term = interleave(replaced(terms, at, &mut step.to.term));
                    }
                }
                if ticks == terms.len() {
                    out.push(joint_tick(cells));
                }
            }
        }
    }

    fn inside(
        &self,
        term: &Term,
        context: &Context,
        cells: &[i64],
        work: &mut Work<'m>,
        depth: usize,
        out: &mut Vec<Move>,
    ) {
        let mut inner = Vec::new();
        self.term_moves(term, cells, work, depth + 1, &mut inner);
        out.extend(inner.into_iter().filter_map(|step| self.lift(context, step, work)));
    }

    /// What a step of a part is for the operator around it.
    pub fn lift(&self, context: &Context, mut step: Move, work: &mut Work<'m>) -> Option<Move> {
        match context {
            Context::Hide(set) => {
                step.to.term = hide(step.to.term, *set, &self.model.hidden);
                if let Label::Event(event) = &step.label
                    && self.hides(*set, event.name)
                {
                    step.hidden = Some(event.clone());
                    step.label = Label::Tau;
                }
            }
            Context::Sequence(node, values) if step.label == Label::Tick => {
                step.label = Label::Tau;
                match self.settle(*node, values, &step.to.cells, work) {
                    Ok(term) => step.to.term = term,
                    Err(fault) => {
                        work.fault.get_or_insert(fault);
                        return None;
                    }
                }
            }
            Context::Sequence(node, values) => {
                step.to.term = sequence(step.to.term, *node, values.clone());
            }
        }
        Some(step)
    }

    pub fn hides(&self, set: u32, event: EventId) -> bool {
        self.model.hidden[set as usize].binary_search(&event).is_ok()
    }

    fn leaf(
        &self,
        id: NodeId,
        values: &Values,
        cells: &[i64],
        work: &mut Work<'m>,
        depth: usize,
        out: &mut Vec<Move>,
    ) -> Result<(), Fault> {
        let node = &self.model.nodes[id as usize];
        let mut frame = self.frame(id, values);
        match &node.kind {
            NodeKind::Prefix { event, data, update, next } => {
                let label = match event {
                    None => Label::Tau,
                    Some(name) => {
                        let data = data
                            .iter()
                            .map(|datum| work.evaluator.value(datum, &frame, cells))
                            .collect::<Result<_, _>>()?;
                        Label::Event(Event { name: *name, data })
                    }
                };
                let mut cells = cells.to_vec();
                let mut budget = limits::ASSIGNMENTS;
                work.evaluator.execute(update, &mut frame, &mut cells, &mut budget)?;
                let term = self.settle_in(*next, &mut frame, &cells, work, 0)?;
                let to = State { term, cells };
                out.push(Move { label, hidden: None, node: Some(id), to });
            }
            NodeKind::If { condition, then, otherwise, atomic } => {
                let holds = work.evaluator.value(condition, &frame, cells)? != 0;
                let chosen = if holds { *then } else { *otherwise };
                let term = self.settle_in(chosen, &mut frame, cells, work, 0)?;
                if *atomic {
                    if depth > limits::UNFOLDING {
                        return Err(self.endless(id));
                    }
                    self.term_moves(&term, cells, work, depth + 1, out);
                } else {
                    let to = State { term, cells: cells.to_vec() };
                    out.push(Move { label: Label::Tau, hidden: None, node: Some(id), to });
                }
            }
            // Terms hold no other nodes.
            _ => {}
        }
        Ok(())
    }

    fn frame(&self, id: NodeId, values: &Values) -> Frame {
        let node = &self.model.nodes[id as usize];
        let mut frame = Frame::from_elem(0, node.frame);
        for (slot, value) in node.free.iter().zip(values) {
            frame[usize::from(*slot)] = *value;
        }
        frame
    }

    fn values(&self, id: NodeId, frame: &[i64]) -> Values {
        self.model.nodes[id as usize].free.iter().map(|slot| frame[usize::from(*slot)]).collect()
    }

    /// Unfolds a node until it offers events.
    pub fn settle(
        &self,
        id: NodeId,
        values: &Values,
        cells: &[i64],
        work: &mut Work<'m>,
    ) -> Result<Term, Fault> {
        let mut frame = self.frame(id, values);
        self.settle_in(id, &mut frame, cells, work, 0)
    }

    fn settle_in(
        &self,
        id: NodeId,
        frame: &mut [i64],
        cells: &[i64],
        work: &mut Work<'m>,
        depth: usize,
    ) -> Result<Term, Fault> {
        work.unfolded += 1;
        if depth > limits::UNFOLDING || work.unfolded > limits::UNFOLDED {
            return Err(self.endless(id));
        }
        let node = &self.model.nodes[id as usize];
        let mut all = |ids: &[NodeId], frame: &mut [i64]| {
            ids.iter()
                .map(|id| self.settle_in(*id, frame, cells, work, depth + 1))
                .collect::<Result<Vec<_>, _>>()
        };
        Ok(match &node.kind {
            NodeKind::Stop => Term::Stop,
            NodeKind::Skip => Term::Skip,
            NodeKind::Prefix { .. } | NodeKind::If { .. } => Term::Leaf(id, self.values(id, frame)),
            NodeKind::Choice(ids) => choice(all(ids, frame)?),
            NodeKind::Interleave(ids) => interleave(all(ids, frame)?),
            NodeKind::Hide { body, set } => {
                let body = self.settle_in(*body, frame, cells, work, depth + 1)?;
                hide(body, *set, &self.model.hidden)
            }
            NodeKind::Sequence { first, then } => {
                let values = self.values(*then, frame);
                let first = self.settle_in(*first, frame, cells, work, depth + 1)?;
                sequence(first, *then, values)
            }
            NodeKind::Call { process, arguments } => {
                let process = &self.model.processes[*process as usize];
                let mut inner = Frame::from_elem(0, process.frame);
                for (slot, argument) in inner.iter_mut().zip(arguments) {
                    *slot = work.evaluator.value(argument, frame, cells)?;
                }
                self.settle_in(process.body, &mut inner, cells, work, depth + 1)?
            }
            NodeKind::Indexed { choice: is_choice, slot, domain, body } => {
                let values = work.evaluator.domain(domain, frame, node.span)?;
                let mut terms = Vec::with_capacity(values.len());
                for value in values {
                    frame[usize::from(*slot)] = value;
                    terms.push(self.settle_in(*body, frame, cells, work, depth + 1)?);
                }
                if *is_choice { choice(terms) } else { interleave(terms) }
            }
        })
    }

    fn endless(&self, id: NodeId) -> Fault {
        let message = "a process unfolds without end before it offers an event";
        Fault::too_large(message, self.model.nodes[id as usize].span)
    }

    /// Unbounded recursion shows in the size of terms.
    fn small_enough(&self, term: &Term, id: NodeId) -> Result<(), Fault> {
        let (size, depth) = term.size();
        if size <= limits::TERM && depth <= limits::TERM_DEPTH {
            return Ok(());
        }
        let message = format!(
            "a state has a process of {size} operators, {depth} deep: its recursion seems to have no bound"
        );
        Err(Fault::too_large(message, self.model.nodes[id as usize].span))
    }
}

impl Work<'_> {
    /// Starts the expansion of a state.
    pub fn begin(&mut self) {
        self.unfolded = 0;
        self.fault = None;
        self.evaluator.access.clear();
    }
}

/// `P; Q`, where P may have stopped for good.
fn sequence(first: Term, node: NodeId, values: Values) -> Term {
    match first {
        Term::Stop => Term::Stop,
        first => Term::Sequence(Box::new(first), node, values),
    }
}

/// The step in which all parts of an interleaving terminate.
pub(crate) fn joint_tick(cells: &[i64]) -> Move {
    let to = State { term: Term::Done, cells: cells.to_vec() };
    Move { label: Label::Tick, hidden: None, node: None, to }
}

/// The terms with one replaced.
pub(crate) fn replaced(terms: &[Term], at: usize, by: &mut Term) -> Vec<Term> {
    let mut result = Vec::with_capacity(terms.len());
    result.extend_from_slice(&terms[..at]);
    result.push(std::mem::replace(by, Term::Stop));
    result.extend_from_slice(&terms[at + 1..]);
    result
}

fn written(statements: &[Statement], variables: &mut FxHashSet<u32>) {
    for statement in statements {
        match statement {
            Statement::Assign { variable, .. } => {
                variables.insert(*variable);
            }
            Statement::If { then, otherwise, .. } => {
                written(then, variables);
                written(otherwise, variables);
            }
            Statement::For { body, .. } => written(body, variables),
        }
    }
}
