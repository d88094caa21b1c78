//! Every core is confirmed before it is printed, by the checker that shares nothing with the
//! engines.

use super::recording::Subject;
use linchpin_certify::{Before, Budget, CoreError, Operation, confirm_core_ordered};
use linchpin_history::crash::{self, Interrupted};
use linchpin_history::{
    CheckOptions, Checked, History, Judgement, KeyVerdict, NEVER, OpId, Property, ValueId,
    Violation, check,
};
use linchpin_verdict::{Inconclusive, Limits};
use std::time::{Duration, Instant};

/// How long the cores of one history may take together.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// How long to look for another core, where one was refuted.
const AGAIN: Duration = Duration::from_secs(5);

/// So many keys are confirmed at most.
pub const KEYS: usize = 20;

/// What came of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// No order explains it.
    Confirmed,
    /// It was not found out in time.
    Unknown,
    /// An order explained the first one: this is another, and the engine has a mistake.
    Replaced,
}

/// What came of the cores of a history.
#[derive(Default)]
pub struct Confirmations {
    /// Of the core that is explained in full.
    pub core: Option<Confirmation>,
    /// Of those of the keys, in their order; of keys that are not violated nothing.
    pub keys: Vec<Option<Confirmation>>,
}

/// Confirms the cores of a history. One that is refuted is replaced by another.
pub fn confirm(
    subject: &Subject<'_>,
    history: &History,
    checked: &mut Checked,
    options: &CheckOptions,
) -> Confirmations {
    let limit = options.limits.deadline;
    let until = |patience: Duration| {
        let patience = Instant::now() + patience;
        limit.map_or(patience, |limit| limit.min(patience))
    };
    // The history has been judged, so that its crashes make sense.
    let applied = match options.property {
        Property::Recoverable => crash::apply(&mut history.clone(), options.property).ok(),
        _ => None,
    };
    let interrupted = applied.map(|applied| applied.interrupted).unwrap_or_default();
    let judge = Judge { subject, history, options, interrupted, until: until(PATIENCE) };
    let core = match &checked.judgement {
        Judgement::Violated(violation) => Some(judge.confirm(violation)),
        _ => None,
    };
    if core == Some(Confirmation::Replaced) {
        judge.replace(checked, until(AGAIN));
    }
    let mut left = KEYS;
    let mut keys = Vec::with_capacity(checked.keys.len());
    for key in &mut checked.keys {
        let KeyVerdict::Violated { violation, .. } = &mut key.verdict else {
            keys.push(None);
            continue;
        };
        let confirmed = if left > 0 { judge.confirm(violation) } else { Confirmation::Unknown };
        left = left.saturating_sub(1);
        if confirmed == Confirmation::Replaced {
            *violation = whole(history, violation);
        }
        keys.push(Some(confirmed));
    }
    Confirmations { core, keys }
}

struct Judge<'a> {
    subject: &'a Subject<'a>,
    history: &'a History,
    options: &'a CheckOptions,
    interrupted: Vec<Interrupted>,
    until: Instant,
}

impl Judge<'_> {
    fn confirm(&self, violation: &Violation) -> Confirmation {
        let history = self.history;
        let Some(first) = violation.core.first() else { return Confirmation::Replaced };
        if Instant::now() >= self.until {
            return Confirmation::Unknown;
        }
        let key = history[*first].key;
        let known = |id: &OpId| {
            let operation = &history[*id];
            let is_in_time = violation.at.is_none_or(|at| operation.invoked <= at);
            operation.key == key && (is_in_time || violation.core.binary_search(id).is_ok())
        };
        let ids: Vec<OpId> = history.ids().filter(known).collect();
        let operations: Vec<Operation> = ids.iter().map(|id| operation(history, *id)).collect();
        let places: Option<Vec<usize>> =
            violation.core.iter().map(|id| ids.binary_search(id).ok()).collect();
        let Some(places) = places else { return Confirmation::Replaced };
        let object = &self.subject.object;
        let budget = Budget { deadline: Some(self.until), ..Budget::default() };
        let at = violation.at.map(u64::from);
        let (spec, name, before) = (&*object.spec, &object.name, self.before(&ids));
        match confirm_core_ordered(spec, name, &operations, &places, &before, at, &budget) {
            Ok(()) => Confirmation::Confirmed,
            Err(CoreError::TooLarge) => Confirmation::Unknown,
            // What the process did next may be outside the core, of which the checker knows less
            // than the engine.
            Err(_) if self.options.property == Property::Recoverable => Confirmation::Unknown,
            Err(_) => Confirmation::Replaced,
        }
    }

    /// Of these operations those that were interrupted, with what their process did next.
    fn before(&self, ids: &[OpId]) -> Vec<Before> {
        let place = |id: OpId| ids.binary_search(&id).ok();
        let pair = |pair: &Interrupted| {
            Some(Before { operation: place(pair.operation)?, next: place(pair.next)? })
        };
        self.interrupted.iter().filter_map(pair).collect()
    }

    /// Puts another violation in the place of one whose core was refuted: what the general search
    /// finds, or all operations of the object.
    fn replace(&self, checked: &mut Checked, until: Instant) {
        let Judgement::Violated(violation) = &checked.judgement else { return };
        let whole = whole(self.history, violation);
        let limits = Limits { deadline: Some(until), ..self.options.limits.clone() };
        let options =
            CheckOptions { monitors: false, limits, observer: None, ..self.options.clone() };
        let mut history = self.history.clone();
        let Ok(again) = check(&self.subject.object, &mut history, &options) else { return };
        checked.possible = Vec::new();
        match again.judgement {
            Judgement::Violated(found) if self.confirm(&found) != Confirmation::Replaced => {
                checked.possible = again.possible;
                checked.key = again.key;
                checked.judgement = Judgement::Violated(found);
            }
            Judgement::Holds(_) => {
                let reason = format!(
                    "the {} and the general search disagree, which is a mistake in linchpin: please report it with \
                     this history",
                    checked.method
                );
                checked.judgement = Judgement::Inconclusive(Inconclusive::Undecided(reason));
            }
            _ => checked.judgement = Judgement::Violated(whole),
        }
    }
}

/// All operations of the object as the core: nothing is left out that could matter.
fn whole(history: &History, violation: &Violation) -> Violation {
    let key = violation.core.first().map_or(ValueId::NULL, |id| history[*id].key);
    let core = history.ids().filter(|id| history[*id].key == key).collect();
    let explanation = "no order of these operations explains what they answered".to_owned();
    Violation { core, blamed: Vec::new(), explanation, at: None }
}

/// An operation as the independent checker knows it.
pub fn operation(history: &History, id: OpId) -> Operation {
    let operation = &history[id];
    Operation {
        call: history.call(id),
        response: history.response(id),
        invoked: operation.invoked.into(),
        returned: match operation.returned {
            NEVER => u64::MAX,
            returned => returned.into(),
        },
    }
}

/// What is said of a core of so many operations.
pub fn unexplained(operations: usize) -> String {
    match operations {
        1 => "no order explains this operation".to_owned(),
        count => format!("no order explains these {count} operations"),
    }
}
