//! Partial order reduction for interleavings (Figures 3 and 4), with provisos that do not depend on
//! the search order.
//!
//! Of the steps of `(P1 ||| … ||| Pn) \ X`, those of one Pi are enough if they are independent of
//! everything that the others may still do. Independence is judged by the cells that the steps of
//! Pi have accessed and those that the others may access in the future, so conditions, guards and
//! arguments count.
//!
//! The stack proviso of the figures is for depth-first search. Here a part is chosen only if,
//! moving alone by such steps, it cannot come back to a state it was in. A cycle of the reduced
//! graph in which no state is fully expanded would project to such a way back of some part: along a
//! cycle the futures of the parts cannot shrink, so each step on it would be independent of the
//! others at its start too, and steps of other parts on it touch nothing of this one.
//!
//! Figure 4 as printed is not enough for visible events: it compares the event with the other
//! parts, but after the event its part of the *specification* may go on, invisibly, to enable what
//! the others do; moving the event to the front would excuse traces in which it never happened. So
//! here that part must not touch what the others touch, nor show events that the other parts of the
//! implementation may show.

use crate::cells::{Access, Bits};
use crate::evaluate::Fault;
use crate::future::{Future, future};
use crate::lts::{Context, Label, Lts, Move, State, Work, joint_tick, replaced};
use crate::term::{Term, interleave};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// How many steps a part may take alone before the question whether it comes back is given up.
const ALONE: usize = 64;

/// How many futures a expander remembers.
const REMEMBERED: usize = 1 << 16;

/// Walks through a transition system.
pub(crate) struct Expander<'a, 'm> {
    pub lts: &'a Lts<'m>,
    work: Work<'m>,
    futures: FxHashMap<Term, Arc<Future>>,
}

/// What can happen in a state.
pub(crate) struct Expansion {
    pub moves: Vec<Move>,
    /// A step that goes wrong, if there is one.
    pub fault: Option<Fault>,
}

/// A state taken apart.
pub(crate) struct Parts {
    /// The operators around the parts, the outermost first.
    contexts: Vec<Context>,
    terms: Vec<Term>,
    /// For each part, its own steps and what they access.
    moves: Vec<Vec<Move>>,
    access: Vec<Access>,
}

/// A visible event that may be enough, if the specification agrees.
pub(crate) struct Candidate {
    pub part: usize,
    pub label: Label,
    /// What the other parts may still show.
    pub others: Bits,
}

impl<'a, 'm> Expander<'a, 'm> {
    pub fn new(lts: &'a Lts<'m>) -> Expander<'a, 'm> {
        Expander { lts, work: lts.work(), futures: FxHashMap::default() }
    }

    /// Every step.
    pub fn all(&mut self, state: &State) -> Expansion {
        let moves = self.lts.moves(state, &mut self.work);
        Expansion { moves, fault: self.work.fault.take() }
    }

    /// Procedure `tau` of Figure 3: the invisible steps of one part if they are enough, otherwise
    /// every step.
    pub fn reduced(&mut self, state: &State) -> Expansion {
        if interleaving(&state.term).is_none() {
            return self.all(state);
        }
        let (parts, fault) = self.parts(state);
        if fault.is_none()
            && let Some(part) = self.invisible_part(&parts, &state.cells)
        {
            return self.only(parts, part);
        }
        self.whole(state, parts, fault)
    }

    /// Takes a state apart and executes the steps of each part.
    pub fn parts(&mut self, state: &State) -> (Parts, Option<Fault>) {
        let (mut contexts, mut term) = (Vec::new(), &state.term);
        loop {
            match term {
                Term::Hide(body, set) => {
                    contexts.push(Context::Hide(*set));
                    term = body;
                }
                Term::Sequence(first, node, values) => {
                    contexts.push(Context::Sequence(*node, values.clone()));
                    term = first;
                }
                _ => break,
            }
        }
        let terms = match term {
            Term::Interleave(terms) => terms.clone(),
            term => vec![term.clone()],
        };
        self.work.begin();
        let (mut moves, mut access): (Vec<Vec<Move>>, Vec<Access>) = (Vec::new(), Vec::new());
        for (part, term) in terms.iter().enumerate() {
            if part > 0 && terms[part - 1] == *term {
                access.push(access[part - 1].clone());
                moves.push(moves[part - 1].clone());
                continue;
            }
            let mut own = Vec::new();
            self.work.evaluator.access.clear();
            self.lts.term_moves(term, &state.cells, &mut self.work, 0, &mut own);
            access.push(self.work.evaluator.access.clone());
            moves.push(own);
        }
        (Parts { contexts, terms, moves, access }, self.work.fault.take())
    }

    /// The steps of one part, as steps of the whole.
    pub fn only(&mut self, mut parts: Parts, part: usize) -> Expansion {
        let own = std::mem::take(&mut parts.moves[part]);
        self.work.begin();
        let moves = own.into_iter().filter_map(|step| self.outside(&parts, part, step)).collect();
        Expansion { moves, fault: self.work.fault.take() }
    }

    /// The steps of all parts, as steps of the whole.
    pub fn whole(&mut self, state: &State, mut parts: Parts, fault: Option<Fault>) -> Expansion {
        self.work.begin();
        let is_tick = |step: &Move| step.label == Label::Tick;
        let all_tick = parts.moves.iter().all(|own| own.iter().any(is_tick));
        let mut moves = Vec::new();
        for part in 0..parts.terms.len() {
            if parts.repeats(part) {
                continue;
            }
            for step in std::mem::take(&mut parts.moves[part]) {
                if !is_tick(&step) {
                    moves.extend(self.outside(&parts, part, step));
                }
            }
        }
        if all_tick {
            let step = joint_tick(&state.cells);
            moves.extend(self.around(&parts.contexts, step));
        }
        Expansion { moves, fault: fault.or(self.work.fault.take()) }
    }

    fn outside(&mut self, parts: &Parts, part: usize, mut step: Move) -> Option<Move> {
        step.to.term = interleave(replaced(&parts.terms, part, &mut step.to.term));
        self.around(&parts.contexts, step)
    }

    fn around(&mut self, contexts: &[Context], step: Move) -> Option<Move> {
        let step = contexts
            .iter()
            .rev()
            .try_fold(step, |step, context| self.lts.lift(context, step, &mut self.work))?;
        self.lts.fits(&step, &mut self.work).then_some(step)
    }

    /// Whether the operators around hide this step.
    fn invisible(&self, parts: &Parts, step: &Move) -> bool {
        match &step.label {
            Label::Tau => true,
            Label::Tick => false,
            Label::Event(event) => parts.contexts.iter().any(|context| match context {
                Context::Hide(set) => self.lts.hides(*set, event.name),
                Context::Sequence(..) => false,
            }),
        }
    }

    /// A part whose steps are all invisible, independent of the others, and lead nowhere it was
    /// before.
    pub fn invisible_part(&mut self, parts: &Parts, cells: &[i64]) -> Option<usize> {
        (0..parts.terms.len()).find(|&part| {
            let own = &parts.moves[part];
            !parts.repeats(part)
                && !own.is_empty()
                && own.iter().all(|step| self.invisible(parts, step))
                && self.is_independent(parts, part, cells)
        })
    }

    fn is_independent(&mut self, parts: &Parts, part: usize, cells: &[i64]) -> bool {
        let others = self.others(parts, part);
        !parts.access[part].conflicts(&others.access)
            && self.goes_forward(&parts.terms[part], cells, &others.access)
    }

    /// Procedure `visible` of Figure 4: a part of which one visible event is the only step, and all
    /// parts are stable.
    pub fn visible_parts(&mut self, parts: &Parts, cells: &[i64]) -> Vec<Candidate> {
        let stable = parts.moves.iter().flatten().all(|step| !self.invisible(parts, step));
        if !stable || parts.terms.len() < 2 || !parts.is_open() {
            return Vec::new();
        }
        let mut candidates = Vec::new();
        for part in 0..parts.terms.len() {
            if let [Move { label: label @ Label::Event(_), .. }] = parts.moves[part].as_slice()
                && !parts.repeats(part)
                && self.is_independent(parts, part, cells)
            {
                let others = self.others(parts, part).events;
                candidates.push(Candidate { part, label: label.clone(), others });
            }
        }
        candidates
    }

    /// The condition of Figure 4 on one state of the specification, strengthened: the events that
    /// the part with this event may show, if that part has no other step and has nothing to do with
    /// the others.
    pub fn sole_part(&mut self, state: &State, label: &Label) -> Option<Bits> {
        let Label::Event(event) = label else { return None };
        let (parts, fault) = self.parts(state);
        if fault.is_some() || !parts.is_open() {
            return None;
        }
        let sole = |own: &Vec<Move>| matches!(own.as_slice(), [step] if step.label == *label && !self.invisible(&parts, step));
        let part = parts.moves.iter().position(sole)?;
        let own = self.future(&parts.terms[part]);
        let others = self.others(&parts, part);
        let apart =
            !own.access.conflicts(&others.access) && !others.events.contains(event.name as usize);
        apart.then(|| own.events.clone())
    }

    /// Whether a part, moving alone by steps independent of the others, visible or not, never comes
    /// back.
    fn goes_forward(&mut self, term: &Term, cells: &[i64], others: &Access) -> bool {
        let start = State { term: term.clone(), cells: cells.to_vec() };
        let mut path = Vec::new();
        let mut budget = ALONE;
        self.forward(start, others, &mut path, &mut budget)
    }

    fn forward(
        &mut self,
        state: State,
        others: &Access,
        path: &mut Vec<State>,
        budget: &mut usize,
    ) -> bool {
        if path.contains(&state) || *budget == 0 {
            return false;
        }
        *budget -= 1;
        let moves = self.lts.moves(&state, &mut self.work);
        if self.work.fault.take().is_some() {
            return false;
        }
        if self.work.evaluator.access.conflicts(others) {
            return true;
        }
        path.push(state);
        let forward = moves.into_iter().all(|step| self.forward(step.to, others, path, budget));
        path.pop();
        forward
    }

    fn others(&mut self, parts: &Parts, part: usize) -> Future {
        let mut others = Future::default();
        for (at, term) in parts.terms.iter().enumerate() {
            if at != part {
                let future = self.future(term);
                others.access.add(&future.access);
                others.events.add(&future.events);
            }
        }
        others
    }

    fn future(&mut self, term: &Term) -> Arc<Future> {
        if let Some(known) = self.futures.get(term) {
            return known.clone();
        }
        if self.futures.len() >= REMEMBERED {
            self.futures.clear();
        }
        let found = Arc::new(future(self.lts.model, term));
        self.futures.insert(term.clone(), found.clone());
        found
    }
}

impl Parts {
    /// Whether a part is equal to the one before: then it has equal steps to equal states.
    fn repeats(&self, part: usize) -> bool {
        part > 0 && self.terms[part - 1] == self.terms[part]
    }

    /// Whether nothing comes after the parts: a continuation would wait for all of them.
    fn is_open(&self) -> bool {
        self.contexts.iter().all(|context| matches!(context, Context::Hide(_)))
    }
}

/// The parts of the interleaving inside hiding and sequence, if it is one.
fn interleaving(term: &Term) -> Option<&[Term]> {
    match term {
        Term::Hide(inner, _) | Term::Sequence(inner, ..) => interleaving(inner),
        Term::Interleave(terms) => Some(terms),
        _ => None,
    }
}
