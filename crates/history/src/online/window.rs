//! The window: the operations that still matter, as a history that starts from nothing.

use super::argument::argument;
use super::past::Past;
use super::window_rule::{InitialOperation, WindowRule};
use super::{Ended, FrontierEvent, Refutation, is_listed};
use linchpin_history_data::{
    Argument, History, Import, Judgement, Monitored, NEVER, NotApplicable, OpId, Operation, Rank,
    ValueId,
};
use linchpin_verdict::{Inconclusive, Limits};

use linchpin_search::{Frontier, Ticket};
use linchpin_spec::{AnySpec, Builtin, Call, Mwcas, Shape, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// How an operation of the window stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It returned.
    Returned,
    /// It is in progress; the ticket it is known by.
    Open(u32),
    /// It will never return, and may take effect at any later time.
    Gone,
    /// It turned out, at this event, not to have happened.
    Retracted(Rank),
}

/// What of a window is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    All,
    /// Only operations on values that were removed, and answers that nothing is there. If nothing
    /// explains these, nothing explains all, for values with all their operations can be taken out
    /// of any order; and no operation in progress has a say in it.
    Removed,
    /// All, by the general search.
    Searched,
}

/// So many operations are kept at most where only what follows can help the monitor, and it may
/// not.
const PATIENCE: usize = 1 << 17;

/// Who "called" what was there from the start.
const FROM_THE_START: u32 = 0;

/// The operations that still matter.
pub(super) struct Window {
    pub(super) rule: &'static dyn WindowRule,
    /// Their history. Ranks count the events of the window.
    ///
    /// INVARIANT: all that follows is explained from `past` and these operations if and only if it
    /// is explained from the initial state and all operations there were.
    pub(super) history: History,
    /// What is known of what was dropped.
    pub(super) past: Past,
    processes: FxHashMap<String, u32>,
    /// How each operation stands.
    pub(super) fates: Vec<Fate>,
    /// For each rank, what the caller calls that event.
    tags: Vec<u64>,
    /// The events up to here, exclusive, are known to be explained.
    judged: Rank,
    /// Whether operations were dropped.
    has_dropped: bool,
    /// Where nothing explains the events, if the monitor does not know whether it was so before.
    pub(super) found: Option<Ended>,
    /// So many events there were when it was last tried to judge them.
    tried: Rank,
}

impl Window {
    /// A window for an object of this kind that starts from `init`.
    pub(super) fn new(rule: &'static dyn WindowRule, init: Option<&Value>) -> Window {
        let mut history = History::default();
        history.processes.push("(from the start)".to_owned());
        let mut window = Window {
            rule,
            history,
            past: rule.past(init),
            processes: FxHashMap::default(),
            fates: Vec::new(),
            tags: Vec::new(),
            judged: Rank::FIRST,
            tried: Rank::FIRST,
            has_dropped: false,
            found: None,
        };
        for InitialOperation { operation, argument, response } in rule.initial_operations(init) {
            let shape = Shape::Any;
            let id = window.invoke(0, 0, "", &Call { operation, argument }, &shape);
            window.history[id].process = FROM_THE_START;
            window.response(0, id, response, &shape);
        }
        window
    }

    /// Whether what follows cannot help the monitor, which refused to judge the window. If it can,
    /// there were too many ways to choose what operations in progress removed, and these will tell.
    pub(super) fn is_hopeless(&self) -> bool {
        if self.found.is_some() {
            return true;
        }
        let Some(add) = self.rule.brings() else {
            // What a location held at the start may come out later, and meanwhile nothing else can
            // judge.
            return !self.is_memory() || self.suits_frontier() || self.len() > PATIENCE;
        };
        let mut added: FxHashSet<Argument> = FxHashSet::default();
        added.insert(Argument::One(ValueId::NULL));
        let mut adds = self.history.operations.iter().filter(|op| usize::from(op.operation) == add);
        adds.any(|operation| !added.insert(operation.argument))
    }

    /// Whether it is known what the events of the window start from: what every location holds, or
    /// all ways to come there.
    fn knows_start(&self) -> bool {
        match &self.past {
            Past::Contents(contents) => contents.is_total(),
            Past::Register(frozen) => frozen.is_complete(),
            Past::InWindow => true,
        }
    }

    /// Whether the object is a memory of many words.
    pub(super) fn is_memory(&self) -> bool {
        self.rule.builtin() == Builtin::Mwcas
    }

    /// Whether the general frontier can go on from here. It does not know answers of a memory that
    /// do not say where it failed.
    pub(super) fn suits_frontier(&self) -> bool {
        let is_vague = |id: OpId| {
            let operation = &self.history[id];
            usize::from(operation.operation) == Mwcas::MWCAS
                && operation.completed
                && !is_listed(&self.history.response(id).unwrap_or_default())
        };
        self.knows_start() && !(self.is_memory() && self.history.ids().any(is_vague))
    }

    /// Judges all events by the general search, where nothing is known of some locations: after the
    /// last event, since nothing is dropped by it.
    ///
    /// # Errors
    ///
    /// If nothing explains the events, or the search does not know.
    pub(super) fn search(&mut self, limits: &Limits) -> Result<(), Ended> {
        let end = self.history.events;
        let unknown = match self.as_of(end, Scope::Searched, limits) {
            Ok(Judgement::Holds(_)) => return Ok(()),
            Ok(Judgement::Violated(_)) => {
                return Err(self.first_violated(end, Scope::Searched, limits).0);
            }
            Ok(Judgement::Inconclusive(unknown)) => unknown,
            Err(refused) => Inconclusive::Undecided(refused.reason),
        };
        Err(self.found.clone().unwrap_or(Ended::Unknown(unknown)))
    }

    /// How many events came since it was last tried to judge them.
    pub(super) fn untried(&self) -> usize {
        (self.history.events - self.tried) as usize
    }

    /// How many events wait to be judged.
    pub(super) fn unjudged(&self) -> usize {
        (self.history.events - self.judged) as usize
    }

    /// How many operations the window keeps.
    pub(super) fn len(&self) -> usize {
        self.history.operations.len()
    }

    fn event(&mut self, tag: u64) -> Rank {
        self.tags.push(tag);
        self.history.events += 1;
        self.history.events - 1
    }

    /// An operation is called, and will be known by the ticket.
    pub(super) fn invoke(
        &mut self,
        tag: u64,
        ticket: u32,
        name: &str,
        call: &Call,
        shape: &Shape,
    ) -> OpId {
        let process = self.process(name);
        let argument = argument(&mut self.history, call.argument.clone(), shape);
        let invoked = self.event(tag);
        self.history.operations.push(Operation {
            process,
            operation: call.operation as u16,
            completed: false,
            key: ValueId::NULL,
            argument,
            response: Argument::None,
            invoked,
            returned: NEVER,
        });
        self.fates.push(Fate::Open(ticket));
        OpId::new(self.history.operations.len() - 1)
    }

    fn process(&mut self, name: &str) -> u32 {
        if let Some(at) = self.processes.get(name) {
            return *at;
        }
        let at = self.history.processes.len() as u32;
        self.history.processes.push(name.to_owned());
        self.processes.insert(name.to_owned(), at);
        at
    }

    /// It returns.
    pub(super) fn response(&mut self, tag: u64, id: OpId, response: Value, shape: &Shape) {
        let response = argument(&mut self.history, response, shape);
        let returned = self.event(tag);
        let operation = &mut self.history[id];
        operation.response = response;
        operation.completed = true;
        operation.returned = returned;
        self.fates[id.index()] = Fate::Returned;
    }

    /// It will not return.
    pub(super) fn crash(&mut self, id: OpId) {
        self.fates[id.index()] = Fate::Gone;
    }

    /// It did not happen.
    pub(super) fn retract(&mut self, tag: u64, id: OpId) {
        let at = self.event(tag);
        self.fates[id.index()] = Fate::Retracted(at);
    }

    /// Judges all events so far. If they are explained, or at least those that can be dropped are,
    /// only what still matters is kept; `moved` is told the new ids of what is open.
    ///
    /// # Errors
    ///
    /// If nothing explains them; or, inside, if the monitor cannot judge.
    pub(super) fn judge(
        &mut self,
        limits: &Limits,
        mut moved: impl FnMut(u32, OpId),
    ) -> Result<Result<(), NotApplicable>, Ended> {
        let end = self.history.events;
        let (order, refused) = match self.as_of(end, Scope::All, limits) {
            Ok(Judgement::Holds(witness)) => (Some(witness.order), None),
            Ok(Judgement::Violated(_)) => match self.first_violated(end, Scope::All, limits) {
                // Something may have gone wrong before, where the monitor knows nothing.
                (found, false) if matches!(self.past, Past::Contents(_)) => {
                    self.found = Some(found);
                    let reason = "the monitor cannot judge all of it".to_owned();
                    return Ok(Err(NotApplicable { reason }));
                }
                (found, _) => return Err(found),
            },
            Ok(Judgement::Inconclusive(reason)) => {
                (None, Some(NotApplicable { reason: reason.to_string() }))
            }
            Err(refused) => (None, Some(refused)),
        };
        if let Some(by) = limits.exceeded(0) {
            return Err(Ended::Unknown(by.into()));
        }
        if refused.is_some() {
            self.tried = end;
            if self.is_hopeless() || self.rule.adds_and_removes().is_none() {
                return Ok(refused.map_or(Ok(()), Err));
            }
            // What is dropped has to be explained alone, no more; and nothing that is dropped
            // stays.
            match self.as_of(end, Scope::Removed, limits) {
                Ok(Judgement::Holds(_)) => {}
                Ok(Judgement::Violated(_)) => {
                    return Err(self.first_violated(end, Scope::Removed, limits).0);
                }
                Ok(Judgement::Inconclusive(_)) | Err(_) => return Ok(refused.map_or(Ok(()), Err)),
            }
        } else {
            self.judged = end;
            // The order is of what happened, so that the ids are the same after this.
            let happened = |fate: &Fate| !matches!(fate, Fate::Retracted(_));
            let happened: Vec<bool> = self.fates.iter().map(happened).collect();
            if happened.contains(&false) {
                self.retain(&happened);
            }
        }
        self.drop_what_does_not_matter(order.as_deref(), limits);
        for (id, fate) in self.fates.iter().enumerate() {
            if let Fate::Open(ticket) = fate {
                moved(*ticket, OpId::new(id));
            }
        }
        Ok(refused.map_or(Ok(()), Err))
    }

    fn drop_what_does_not_matter(&mut self, order: Option<&[OpId]>, limits: &Limits) {
        let past = &mut self.past;
        let mut keep = self.rule.still_matter(&self.history, &self.fates, order, past, limits);
        for (keep, fate) in keep.iter_mut().zip(&self.fates) {
            match fate {
                // why: that it did not happen is judged together with what follows, if it is still
                // here.
                Fate::Open(_) | Fate::Retracted(_) => *keep = true,
                Fate::Returned | Fate::Gone => {}
            }
        }
        self.has_dropped |= keep.contains(&false);
        self.retain(&keep);
        self.tried = self.history.events;
    }

    /// What the monitor says of the events before `end`, or of those on removed values.
    fn as_of(&mut self, end: Rank, scope: Scope, limits: &Limits) -> Monitored {
        let retracted = self.fates.iter().any(|fate| matches!(fate, Fate::Retracted(_)));
        if end == self.history.events && !retracted && scope == Scope::All {
            return self.rule.monitor(&self.history, &self.past, limits);
        }
        self.before(end, scope, |window| match scope {
            Scope::Searched => window.rule.search(&window.history, &window.past, limits),
            _ => window.rule.monitor(&window.history, &window.past, limits),
        })
    }

    /// Asks about the events before `end`, or those of them on removed values.
    fn before<T>(&mut self, end: Rank, scope: Scope, ask: impl FnOnce(&Window) -> T) -> T {
        let mut seen = Vec::with_capacity(self.len());
        for (operation, fate) in self.history.operations.iter().zip(&self.fates) {
            let gone = matches!(fate, Fate::Retracted(at) if *at < end);
            if operation.invoked >= end || gone {
                continue;
            }
            let mut operation = *operation;
            if operation.returned >= end {
                operation.completed = false;
                operation.returned = NEVER;
            }
            seen.push(operation);
        }
        if scope == Scope::Removed {
            self.retain_removed(&mut seen);
        }
        let events = std::mem::replace(&mut self.history.events, end);
        let all = std::mem::replace(&mut self.history.operations, seen);
        let answer = ask(self);
        self.history.operations = all;
        self.history.events = events;
        answer
    }

    /// Keeps the operations on values that a completed one removed, and those that found nothing.
    fn retain_removed(&self, operations: &mut Vec<Operation>) {
        let Some((add, remove)) = self.rule.adds_and_removes() else {
            return;
        };
        let mut removed: FxHashSet<Argument> = FxHashSet::default();
        removed.insert(Argument::One(ValueId::NULL));
        for operation in operations.iter() {
            if operation.completed && usize::from(operation.operation) == remove {
                removed.insert(operation.response);
            }
        }
        operations.retain(|operation| match usize::from(operation.operation) == add {
            true => removed.contains(&operation.argument),
            false => operation.completed && removed.contains(&operation.response),
        });
    }

    /// The first event that nothing explains, where the events before `end` are not explained; and
    /// whether it is certain that it is the first.
    ///
    /// What cannot be explained never can be later, so it is found by bisection.
    fn first_violated(&mut self, end: Rank, scope: Scope, limits: &Limits) -> (Ended, bool) {
        let (mut fine, mut bad, mut certain) = (self.judged, end, true);
        while bad - fine > 1 {
            let middle = fine + (bad - fine) / 2;
            let answer = self.as_of(middle, scope, limits);
            match answer {
                Ok(Judgement::Violated(_)) => bad = middle,
                _ => (fine, certain) = (middle, matches!(answer, Ok(Judgement::Holds(_)))),
            }
        }
        let explanation = match self.as_of(bad, scope, limits) {
            Ok(Judgement::Violated(violation)) => violation.explanation,
            _ => "nothing explains the events so far".to_owned(),
        };
        // why: "no operation wrote 7" may be about a value that was written, overwritten and
        // forgotten long ago.
        let explanation = match self.has_dropped {
            true => explanation + " (leaving out what was over and done with before)",
            false => explanation,
        };
        let tag = self.tags[bad.index() - 1];
        let possible = self.before(bad - 1, scope, |window| match &window.past {
            Past::Register(frozen) => frozen.possible(&window.history, limits),
            _ => Vec::new(),
        });
        (Ended::Violated(Refutation { tag, explanation, possible }), certain)
    }

    /// Keeps these operations only, with small ranks and, now and then, a small table of values.
    fn retain(&mut self, keep: &[bool]) {
        let mut is_used = vec![false; self.history.events.index()];
        let (mut operations, mut fates) = (Vec::new(), Vec::new());
        let mut ids: Vec<Option<OpId>> = vec![None; self.len()];
        for (id, (operation, fate)) in self.history.operations.iter().zip(&self.fates).enumerate() {
            if !keep[id] {
                continue;
            }
            ids[id] = Some(OpId::new(operations.len()));
            operations.push(*operation);
            fates.push(*fate);
            is_used[operation.invoked.index()] = true;
            if operation.returned != NEVER {
                is_used[operation.returned.index()] = true;
            }
            if let Fate::Retracted(at) = fate {
                is_used[at.index()] = true;
            }
        }
        let mut ranks = vec![Rank::FIRST; is_used.len()];
        let mut tags = Vec::new();
        for (rank, _) in is_used.iter().enumerate().filter(|(_, used)| **used) {
            ranks[rank] = Rank::at(tags.len());
            tags.push(self.tags[rank]);
        }
        for operation in &mut operations {
            operation.invoked = ranks[operation.invoked.index()];
            if operation.returned != NEVER {
                operation.returned = ranks[operation.returned.index()];
            }
        }
        for fate in &mut fates {
            if let Fate::Retracted(at) = fate {
                *at = ranks[at.index()];
            }
        }
        let judged = is_used[..self.judged.index()].iter().filter(|used| **used).count();
        self.judged = Rank::at(judged);
        self.history.operations = operations;
        self.history.events = Rank::at(tags.len());
        self.fates = fates;
        self.tags = tags;
        self.past.renumber(&ids);
        // why not always: a table of integers costs as much as the largest of them.
        let most = 8 * self.len() + 8192;
        if self.history.values.len() > most || self.history.words.len() > most {
            self.forget_values();
        }
    }

    fn forget_values(&mut self) {
        let mut import = Import::default();
        let mut operations = std::mem::take(&mut self.history.operations);
        for operation in &mut operations {
            operation.argument = import.argument(&self.history, operation.argument);
            operation.response = import.argument(&self.history, operation.response);
        }
        self.history.operations = operations;
        self.history.values = import.values;
        self.history.words = import.words;
    }

    /// Tells a frontier of the events of the window; for each ticket the one of the frontier.
    ///
    /// # Errors
    ///
    /// If nothing explains them, or too much does.
    pub(super) fn replay(
        &self,
        frontier: &mut Frontier<'_, AnySpec>,
        most: usize,
    ) -> Result<Vec<(u32, Ticket)>, Ended> {
        let mut events: Vec<(Rank, OpId)> = Vec::with_capacity(self.tags.len());
        for (id, operation) in self.history.operations.iter().enumerate() {
            events.push((operation.invoked, OpId::new(id)));
            match self.fates[id] {
                Fate::Returned => events.push((operation.returned, OpId::new(id))),
                Fate::Retracted(at) => events.push((at, OpId::new(id))),
                Fate::Open(_) | Fate::Gone => {}
            }
        }
        events.sort_unstable();
        let mut tickets: Vec<Option<Ticket>> = vec![None; self.len()];
        let mut open = Vec::new();
        // What was in progress when the window began was called before anything returned.
        let mut has_begun = false;
        for (rank, id) in events {
            let tag = self.tags[rank.index()];
            let Some(ticket) = tickets[id.index()] else {
                let ticket = frontier.invoke(self.history.call(id));
                tickets[id.index()] = Some(ticket);
                match self.fates[id.index()] {
                    Fate::Open(known) => open.push((known, ticket)),
                    Fate::Gone => frontier.crash(ticket),
                    Fate::Returned | Fate::Retracted(_) => {}
                }
                continue;
            };
            if !std::mem::replace(&mut has_begun, true) {
                self.begin(frontier, &tickets);
            }
            let process = self.history[id].process;
            let name = self.history.processes.get(process as usize).map_or("?", String::as_str);
            let event = FrontierEvent { tag, process: name, ticket, is_memory: self.is_memory() };
            event.pass(frontier, self.history.response(id).as_ref(), most)?;
        }
        if !has_begun {
            self.begin(frontier, &tickets);
        }
        Ok(open)
    }

    fn begin(&self, frontier: &mut Frontier<'_, AnySpec>, tickets: &[Option<Ticket>]) {
        if let Past::Register(frozen) = &self.past {
            frontier.begin_again(frozen.beginnings(&self.history, tickets));
        }
    }
}
