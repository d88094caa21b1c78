//! Registers with `cas`, where values may repeat: no rule which operations still matter, but all
//! ways in which those before some event may have taken effect.
//!
//! What an operation answered must be known to follow it at any cost that is bearable. So the
//! frontier of the register's monitor is kept at the first call `e` of an operation that may still
//! return: all that were called before have returned, or never will. What is judged is the window
//! from `e` on, from where these ways lead, with operations in progress as ones that may take
//! effect or not. The ways are all there are, up to such that can do no more than another, so
//! nothing is lost by forgetting operations that returned before `e`. What is kept are the
//! operations in progress at `e` or called since, those that never return, and the ways, which
//! depend on how many of the former there are and how many values the register can hold, not on the
//! length of the history.
//!
//! With many in progress there may be too many ways. Then only the most promising ones are kept. As
//! long as one of them comes through, it explains the events, whatever was left out; if none does,
//! it is not known, except where an operation found what no operation can have left there (see
//! `overwritten`). Once no operation is in progress, and the ways lead to all values that the
//! register may hold, they are all again.

use super::past::Past;
use super::window::Fate;
use super::window_rule::{WindowRule, unknown_past};
use linchpin_history_data::Sentences;
use linchpin_history_data::{
    Argument, History, Judgement, Monitored, OpId, ValueId, Violation, Witness,
};
use linchpin_search::cas_register::{Begun, Known, Patience, Resumed, advance, resume};
use linchpin_search::{Beginning, Ticket};
use linchpin_spec::{AnySpec, AnyState, Builtin};
use linchpin_spec::{CasRegister, Spec, Value};
use linchpin_verdict::Limits;
use std::cell::Cell;

/// Registers with `cas`, by windows.
pub(crate) struct Rule;

impl WindowRule for Rule {
    fn builtin(&self) -> Builtin {
        Builtin::CasRegister
    }

    fn past(&self, init: Option<&Value>) -> Past {
        Past::Register(Frozen::new(init.cloned().unwrap_or_default()))
    }

    fn start(&self, spec: &AnySpec, _: &Past) -> Option<AnyState> {
        Some(spec.initial())
    }

    fn monitor(&self, history: &History, past: &Past, limits: &Limits) -> Monitored {
        match past {
            Past::Register(frozen) => frozen.check(history, limits),
            _ => unknown_past(),
        }
    }

    fn still_matter(
        &self,
        history: &History,
        fates: &[Fate],
        order: Option<&[OpId]>,
        past: &mut Past,
        limits: &Limits,
    ) -> Vec<bool> {
        match (past, order) {
            (Past::Register(frozen), Some(_)) => frozen.still_matter(history, fates, limits),
            _ => vec![true; fates.len()],
        }
    }
}

/// What is known of the operations before the window.
#[derive(Debug)]
pub(crate) struct Frozen {
    known: Known,
    /// With which number of ways the window was explained last.
    attempt: Cell<usize>,
}

impl Frozen {
    /// A register that holds this at the start.
    pub(super) fn new(init: Value) -> Frozen {
        let (done, hidden, used) = (Vec::new(), Vec::new(), Vec::new());
        let held = vec![init.clone()];
        let ways = vec![Begun { value: init, done, hidden, used }];
        let known = Known { ways, are_all: true, held, patience: Patience::USUAL };
        Frozen { known, attempt: Cell::new(0) }
    }

    /// Follows about so many ways for each value.
    pub(super) fn follow(&mut self, ways: usize) {
        self.known.patience = Patience::of(ways);
    }

    /// Whether all ways are known in which the operations before the window may have taken effect.
    pub(super) fn is_complete(&self) -> bool {
        self.known.are_all
    }

    /// The operations have these ids now.
    pub(super) fn renumber(&mut self, ids: &[Option<OpId>]) {
        let new = |id: &OpId| ids[id.index()];
        for way in &mut self.known.ways {
            for list in [&mut way.done, &mut way.hidden, &mut way.used] {
                *list = list.iter().filter_map(new).collect();
            }
        }
    }

    /// What the monitor says of the window.
    pub(super) fn check(&self, history: &History, limits: &Limits) -> Monitored {
        Ok(match resume(history, &self.known, limits)? {
            // The order of the window alone is of no use.
            Resumed::Explained { attempt, .. } => {
                self.attempt.set(attempt);
                Judgement::Holds(Witness { order: Vec::new() })
            }
            Resumed::Unexplained(id) => {
                let register = CasRegister::default();
                let what = Sentences::new(history, register.operations()).operation(id);
                let explanation = format!(
                    "{what}: no order of the operations called before explains that answer"
                );
                Judgement::Violated(Violation {
                    core: vec![id],
                    blamed: vec![id],
                    explanation,
                    at: None,
                })
            }
            Resumed::Overwritten(overwritten) => {
                let core: Vec<OpId> =
                    overwritten.by.into_iter().chain([overwritten.found]).collect();
                let explanation = overwritten.explain(history);
                Judgement::Violated(Violation { blamed: core.clone(), core, explanation, at: None })
            }
            Resumed::Inconclusive(reason) => Judgement::Inconclusive(reason),
        })
    }

    /// The ways as the general frontier takes them, given its tickets for the operations.
    pub(super) fn beginnings<'a>(
        &'a self,
        history: &'a History,
        tickets: &'a [Option<Ticket>],
    ) -> impl Iterator<Item = Beginning<AnyState>> + 'a {
        let with_answer = |ids: Vec<OpId>| -> Vec<(Ticket, Value)> {
            let answer = |id: OpId| Some((tickets[id.index()]?, history.response(id)?));
            ids.into_iter().filter_map(answer).collect()
        };
        let changes = |id: &OpId| {
            let operation = &history[*id];
            match (usize::from(operation.operation), operation.argument) {
                (CasRegister::WRITE, _) => true,
                (CasRegister::CAS, Argument::Two(old, new)) => {
                    old != new && operation.response == Argument::One(ValueId::TRUE)
                }
                _ => false,
            }
        };
        self.known.ways.iter().map(move |way| {
            let (promised, mut seen): (Vec<OpId>, Vec<OpId>) =
                way.done.iter().copied().partition(changes);
            // A hidden write may return as if it had looked, or take effect later.
            seen.extend(&way.hidden);
            Beginning {
                state: way.value.clone().into(),
                promised: with_answer(promised),
                seen: with_answer(seen),
                used: way.used.iter().map(|id| history.call(*id)).collect(),
            }
        })
    }

    /// What the register may hold after the events of the window, as far as that is known.
    pub(super) fn possible(&self, history: &History, limits: &Limits) -> Vec<String> {
        match resume(history, &self.known, limits) {
            Ok(Resumed::Explained { values, .. }) => values.iter().map(Value::to_string).collect(),
            _ => Vec::new(),
        }
    }

    /// Goes on to the first call of an operation that may still return. Which operations still
    /// matter.
    fn still_matter(&mut self, history: &History, fates: &[Fate], limits: &Limits) -> Vec<bool> {
        let operations = history.operations.iter();
        let open = operations.zip(fates).filter(|(_, fate)| matches!(fate, Fate::Open(_)));
        let first = open.map(|(operation, _)| operation.invoked).min().unwrap_or(history.events);
        let attempt = self.attempt.get();
        let Some(known) = advance(history, &self.known, first, attempt, limits) else {
            return vec![true; fates.len()];
        };
        self.known = known;
        let matters = |(operation, fate): (&linchpin_history_data::Operation, &Fate)| match fate {
            Fate::Returned => operation.returned >= first,
            Fate::Gone => usize::from(operation.operation) != CasRegister::READ,
            Fate::Open(_) | Fate::Retracted(_) => true,
        };
        history.operations.iter().zip(fates).map(matters).collect()
    }
}
