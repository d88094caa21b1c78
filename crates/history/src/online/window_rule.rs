//! What a data type brings to be judged by windows: its monitor, and which operations still matter.

use super::past::Past;
use super::window::Fate;
use crate::check::search_once;
use linchpin_history_data::{History, Monitored, NotApplicable, Object, OpId};
use linchpin_search::SearchOptions;
use linchpin_spec::{AnySpec, AnyState, Builtin, Value};
use linchpin_verdict::Limits;
use std::time::Duration;

/// The rules of the data types that are judged by windows.
pub(crate) mod rules {
    pub(crate) use super::super::cas_register::Rule as CasRegister;
    pub(crate) use super::super::map::Rule as Map;
    pub(crate) use super::super::mwcas::Rule as Mwcas;
    pub(crate) use super::super::priority_queue::Rule as PriorityQueue;
    pub(crate) use super::super::queue::Rule as Queue;
    pub(crate) use super::super::register::Rule as Register;
    pub(crate) use super::super::set::Rule as Set;
    pub(crate) use super::super::stack::Rule as Stack;
}

/// An operation that leads to the initial state.
pub(crate) struct InitialOperation {
    pub(crate) operation: usize,
    pub(crate) argument: Value,
    pub(crate) response: Value,
}

/// What a data type brings to be judged by windows.
pub(crate) trait WindowRule: Sync {
    /// The data type.
    fn builtin(&self) -> Builtin;

    /// What is known before the first event, where [`WindowRule::initial_operations`] do not say
    /// it.
    fn past(&self, _init: Option<&Value>) -> Past {
        Past::InWindow
    }

    /// The operations that lead from the blank object to the initial state.
    fn initial_operations(&self, _init: Option<&Value>) -> Vec<InitialOperation> {
        Vec::new()
    }

    /// The operations that add and remove, of a collection.
    fn adds_and_removes(&self) -> Option<(usize, usize)> {
        None
    }

    /// The operation that brings a value at most once, if what follows may help a monitor that
    /// refused: as long as no value was brought twice.
    fn brings(&self) -> Option<usize> {
        self.adds_and_removes().map(|(add, _)| add)
    }

    /// What to start the specification from, for an object in which there is nothing.
    fn blank(&self) -> Value {
        Value::list([])
    }

    /// Whether no operation may answer this, because it stands for something else here.
    fn reserves(&self, _response: &Value) -> bool {
        false
    }

    /// The state of the specification before the events of a window; where there may be several,
    /// just any.
    fn start(&self, _spec: &AnySpec, _past: &Past) -> Option<AnyState> {
        let spec = self.builtin().spec(Some(&self.blank())).ok()?;
        Some(spec.initial().into())
    }

    /// What the monitor says of a history that starts from the blank object, after this past.
    fn monitor(&self, history: &History, past: &Past, limits: &Limits) -> Monitored;

    /// What the general search says of a history after this past, which need not say what every
    /// location holds.
    fn search(&self, _history: &History, _past: &Past, _limits: &Limits) -> Monitored {
        unknown_past()
    }

    /// For each operation of a history that holds whether it still matters to what may follow. Open
    /// ones always do, whatever this says. `order` explains the history, where the monitor was able
    /// to say so; what is dropped is noted in `past`.
    fn still_matter(
        &self,
        history: &History,
        fates: &[Fate],
        order: Option<&[OpId]>,
        past: &mut Past,
        limits: &Limits,
    ) -> Vec<bool>;
}

/// A refusal: the past has not the form that the rule keeps.
pub(super) fn unknown_past() -> Monitored {
    Err(NotApplicable { reason: "nothing is known of the past".to_owned() })
}

/// The elements of an initial list or set, as silent additions.
pub(super) fn silent_additions(init: Option<&Value>, add: usize) -> Vec<InitialOperation> {
    let addition = |argument| InitialOperation { operation: add, argument, response: Value::Null };
    members(init).into_iter().map(addition).collect()
}

/// The elements of an initial list or set.
pub(super) fn members(init: Option<&Value>) -> Vec<Value> {
    match init {
        Some(Value::List(members)) => members.iter().cloned().collect(),
        Some(Value::Set(members)) => members.iter().cloned().collect(),
        _ => Vec::new(),
    }
}

/// What the general search says of a history that starts from `initial`, without a small core.
pub(super) fn searched(
    builtin: Builtin,
    initial: Value,
    history: &History,
    limits: &Limits,
) -> Monitored {
    let object = Object::new(builtin, Some(initial))
        .map_err(|error| NotApplicable { reason: error.to_string() })?;
    let search = SearchOptions { core_time: Duration::ZERO, ..SearchOptions::default() };
    Ok(search_once(&object, history, limits, &search).judgement)
}
