//! One object: its monitors, the searches made for it, the general search.

use super::Checked;
use crate::data_type::{DataType, Method, Task, data_type};
use crate::first::first;
use linchpin_history_data::crash::{Applied, Interrupted};
use linchpin_history_data::{History, Judgement, Object, OpId};
use linchpin_search::quick::{self, Quick};
use linchpin_search::{Knowledge, SearchOptions, Searched, search_knowing};
use linchpin_spec::Builtin;
use linchpin_verdict::{Limits, StopReason};
use rustc_hash::FxHashMap;

/// The history of one object.
#[derive(Clone, Copy)]
pub(super) struct OneObject<'a> {
    pub(super) object: &'a Object,
    pub(super) history: &'a History,
    pub(super) interrupted: &'a [Interrupted],
    /// Whether to try what is made for the data type.
    pub(super) monitors: bool,
    /// Whether to try a quick search, too.
    pub(super) quick: bool,
}

/// What is known of one object.
pub(super) struct Answer {
    pub(super) judgement: Judgement,
    /// The method that reached it.
    pub(super) method: String,
    /// If it is violated and the search found it: the states that were possible before.
    pub(super) possible: Vec<String>,
    /// Why faster methods did not apply.
    pub(super) notes: Vec<String>,
}

impl From<Answer> for Checked {
    fn from(answer: Answer) -> Checked {
        let checked = Checked::new(answer.judgement, answer.method, answer.notes);
        Checked { possible: answer.possible, ..checked }
    }
}

/// Searches for a few configurations, without any preparation. That a history is violated is left
/// to those who can say why, if there is time for that.
pub(super) fn search_quickly(
    object: &Object,
    history: &History,
    ids: &[OpId],
    limits: &Limits,
    search: &SearchOptions,
) -> Option<Answer> {
    let decided = quick::decide(object.data_type()?, object.init.as_ref(), history, ids, limits)?;
    if search.explains() && matches!(decided, Quick::Violated(..)) {
        return None;
    }
    Some(quick_answer(decided, object, history))
}

/// What the quick search says.
pub(super) fn quick_answer(quick: Quick, object: &Object, history: &History) -> Answer {
    let judgement = quick.judgement(&*object.spec, history);
    let (method, possible) = ("quick search".to_owned(), Vec::new());
    Answer { judgement, method, possible, notes: Vec::new() }
}

impl OneObject<'_> {
    /// Judges it by whatever it takes.
    pub(super) fn check(&self, limits: &Limits, search: &SearchOptions) -> Answer {
        let mut notes = Vec::new();
        let is_free = search.parallel && limits.configurations.is_none();
        if let (Some((builtin, data_type, at)), true) = (self.quick(), is_free) {
            let (before, after) = data_type.methods().split_at(at);
            if let Some(answer) = self.first_of(before, data_type, limits, search, &mut notes) {
                return Answer { notes, ..answer };
            }
            let others = |limits: &Limits| {
                let mut notes = notes.clone();
                match self.first_of(after, data_type, limits, search, &mut notes) {
                    Some(answer) => Answer { notes, ..answer },
                    None => self.search(limits, search, notes),
                }
            };
            return self.check_beside(builtin, limits, search, others);
        }
        match self.monitor(limits, search, &mut notes) {
            Some(answer) => Answer { notes, ..answer },
            None => self.search(limits, search, notes),
        }
    }

    /// Judges it by the methods that need about as much time as it takes to read the history;
    /// nothing if none applies.
    pub(super) fn monitor(
        &self,
        limits: &Limits,
        search: &SearchOptions,
        notes: &mut Vec<String>,
    ) -> Option<Answer> {
        let data_type = self.data_type()?;
        let methods = data_type.methods();
        let (before, after) = methods.split_at(data_type.quick_after().unwrap_or(methods.len()));
        self.first_of(before, data_type, limits, search, notes)
            .or_else(|| self.search_quickly(limits, search))
            .or_else(|| self.first_of(after, data_type, limits, search, notes))
    }

    fn search_quickly(&self, limits: &Limits, search: &SearchOptions) -> Option<Answer> {
        self.quick()?;
        let ids: Vec<OpId> = self.history.ids().collect();
        search_quickly(self.object, self.history, &ids, limits, search)
    }

    /// What the quick search knows it as, and after how many methods it goes; nothing if it does
    /// not.
    fn quick(&self) -> Option<(Builtin, &'static dyn DataType, usize)> {
        let data_type = self.data_type().filter(|_| self.quick && self.interrupted.is_empty())?;
        Some((self.object.data_type()?, data_type, data_type.quick_after()?))
    }

    /// Searches; `notes` says why no monitor applies.
    pub(super) fn search(
        &self,
        limits: &Limits,
        search: &SearchOptions,
        mut notes: Vec<String>,
    ) -> Answer {
        if let Some(data_type) = self.data_type() {
            let later = data_type.after_short_search(self.history);
            if !later.is_empty()
                && let Some(answer) = self.search_shortly(later, data_type, limits, search)
            {
                return Answer { notes, ..answer };
            }
            let methods = data_type.searches();
            if let Some(answer) = self.first_of(methods, data_type, limits, search, &mut notes) {
                return Answer { notes, ..answer };
            }
        }
        Answer { notes, ..self.search_generally(limits, search) }
    }

    fn search_generally(&self, limits: &Limits, search: &SearchOptions) -> Answer {
        let Searched { judgement, possible, .. } =
            search_with(self.object, self.history, self.interrupted, limits, search);
        Answer { judgement, method: "general search".to_owned(), possible, notes: Vec::new() }
    }

    /// Searches for a few configurations, and asks these methods if that is not enough.
    fn search_shortly(
        &self,
        later: &[Method],
        data_type: &dyn DataType,
        limits: &Limits,
        search: &SearchOptions,
    ) -> Option<Answer> {
        /// So many configurations are few. Those of a smaller budget are left to the search.
        const FEW: u64 = 1 << 11;
        if limits.configurations.is_some_and(|most| most <= FEW) {
            return None;
        }
        let few = Limits { configurations: Some(FEW), ..limits.clone() };
        let answer = self.search_generally(&few, search);
        if !matches!(answer.judgement, Judgement::Inconclusive(_)) {
            return Some(answer);
        }
        // Why they do not apply has been said of the method that is in a hurry.
        self.first_of(later, data_type, limits, search, &mut Vec::new())
    }

    fn data_type(&self) -> Option<&'static dyn DataType> {
        self.object.data_type().filter(|_| self.monitors).map(data_type)
    }

    /// The answer of the first method that applies.
    fn first_of(
        &self,
        methods: &[Method],
        data_type: &dyn DataType,
        limits: &Limits,
        search: &SearchOptions,
        notes: &mut Vec<String>,
    ) -> Option<Answer> {
        let init = self.object.init.as_ref();
        for method in methods {
            let name = method.name;
            // Of the history, or of a beginning of it.
            let judge = |history: &History| {
                let interrupted = &self.interrupted_in(history)[..];
                let judge = |history: &History| {
                    (method.check)(&Task { history, init, interrupted, limits, search })
                };
                match interrupted.is_empty() || data_type.orders_interrupted() {
                    true => judge(history).map(Some),
                    false => around_order(history, interrupted, judge),
                }
            };
            match judge(self.history) {
                Ok(Some(judgement)) => {
                    let judgement =
                        self.located(judgement, limits, search, |history| judge(history).ok()?);
                    let (method, possible) = (format!("{name} monitor"), Vec::new());
                    return Some(Answer { judgement, method, possible, notes: Vec::new() });
                }
                Ok(None) => notes.push(format!(
                    "the {name} monitor does not know that interrupted operations take effect \
                     before what their process does next"
                )),
                Err(refused) => {
                    notes.push(format!("the {name} monitor does not apply: {}", refused.reason));
                }
            }
        }
        None
    }

    /// The judgement, with the first event that nothing explains if it can be found. Where the
    /// method cannot tell of a beginning of the history, a search may.
    fn located(
        &self,
        judgement: Judgement,
        limits: &Limits,
        search: &SearchOptions,
        judge: impl Fn(&History) -> Option<Judgement>,
    ) -> Judgement {
        let violation = match judgement {
            Judgement::Violated(violation) if violation.at.is_none() => violation,
            judgement => return judgement,
        };
        let judge = |history: &History| match judge(history) {
            Some(judgement) if !matches!(judgement, Judgement::Inconclusive(_)) => judgement,
            _ => self.search_beginning(history, limits, search),
        };
        let located = first(self.history, violation.clone(), judge);
        Judgement::Violated(located.unwrap_or(violation))
    }

    /// Searches a beginning of the history, not for long.
    fn search_beginning(
        &self,
        beginning: &History,
        limits: &Limits,
        search: &SearchOptions,
    ) -> Judgement {
        /// So many configurations are looked at, and no beginning that has more operations.
        const FEW: u64 = 1 << 13;
        if beginning.operations.len() as u64 > FEW {
            return Judgement::Inconclusive(StopReason::Budget.into());
        }
        let most = limits.configurations.map_or(FEW, |most| most.min(FEW));
        let limits = Limits { configurations: Some(most), ..limits.clone() };
        let interrupted = &self.interrupted_in(beginning)[..];
        let beginning = OneObject { history: beginning, interrupted, ..*self };
        beginning.search_generally(&limits, search).judgement
    }

    /// What is known of the order in a beginning of the history: of what was called in it.
    fn interrupted_in(&self, beginning: &History) -> Vec<Interrupted> {
        let called = |pair: &&Interrupted| pair.next.index() < beginning.operations.len();
        self.interrupted.iter().filter(called).copied().collect()
    }
}

/// What a method that does not know about the order between operations says about it: a history
/// that is violated without it is violated, and one that holds with deadlines that ask for more
/// holds. Nothing in between.
fn around_order<E>(
    history: &History,
    interrupted: &[Interrupted],
    judge: impl Fn(&History) -> Result<Judgement, E>,
) -> Result<Option<Judgement>, E> {
    let mut free = judge(history)?;
    match &mut free {
        Judgement::Holds(witness) if !respects_order(interrupted, &witness.order) => {}
        Judgement::Violated(violation) => {
            // With the order, an earlier event may have no explanation either.
            violation.at = None;
            return Ok(Some(free));
        }
        _ => return Ok(Some(free)),
    }
    let mut tight = history.clone();
    let interrupted = interrupted.to_vec();
    Applied { interrupted, assumptions: Vec::new() }.tighten(&mut tight);
    Ok(judge(&tight).ok().filter(Judgement::is_holds))
}

/// Whether no interrupted operation comes after what its process did next.
fn respects_order(interrupted: &[Interrupted], order: &[OpId]) -> bool {
    let place: FxHashMap<OpId, usize> =
        order.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    let next: FxHashMap<OpId, OpId> =
        interrupted.iter().map(|pair| (pair.operation, pair.next)).collect();
    interrupted.iter().all(|pair| {
        let mut later = Some(pair.next);
        // INVARIANT: what did take effect next answers for all that comes after it.
        while let Some(id) = later.filter(|id| !place.contains_key(id)) {
            later = next.get(&id).copied();
        }
        match (place.get(&pair.operation), later.and_then(|id| place.get(&id))) {
            (Some(first), Some(second)) => first < second,
            _ => true,
        }
    })
}

/// The general search, deadlines as they are.
pub(crate) fn search_once(
    object: &Object,
    history: &History,
    limits: &Limits,
    search: &SearchOptions,
) -> Searched {
    search_with(object, history, &[], limits, search)
}

fn search_with(
    object: &Object,
    history: &History,
    order: &[Interrupted],
    limits: &Limits,
    search: &SearchOptions,
) -> Searched {
    let known = match object.data_type() {
        Some(builtin) => data_type(builtin).knowledge(),
        None => Knowledge::default(),
    };
    search_knowing(&*object.spec, history, order, limits, search, known)
}
