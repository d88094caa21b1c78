//! The types that are judged by windows: their monitors, and which operations still matter.

use super::cas_register::Frozen;
use super::past::{Contents, Past};
use super::window::Fate;
use super::{map, mwcas, priority_queue, queue, register, set, stack};
use crate::check::{CheckOptions, Object, search_once};
use crate::history::{History, OpId};
use crate::monitor;
use crate::search::SearchOptions;
use crate::verdict::{Limits, Monitored, NotApplicable};
use linchpin_spec::{
    Call, Map, Mwcas, PriorityQueue, Queue, Register, Set, Spec, Stack, Value, builtin,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// A type that is judged by windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Register,
    Queue,
    Stack,
    PriorityQueue,
    Set,
    CasRegister,
    Map,
    Mwcas,
}

/// What a register holds before its first write: a value that nobody may use, as nobody may read it.
pub(super) const UNWRITTEN: &str = "\u{0}linchpin: unwritten\u{0}";

impl Kind {
    /// The kind of a built-in specification, if it has one.
    pub(super) fn of(name: &str) -> Option<Kind> {
        Some(match name {
            "register" => Kind::Register,
            "queue" => Kind::Queue,
            "stack" => Kind::Stack,
            "priority-queue" => Kind::PriorityQueue,
            "set" => Kind::Set,
            "cas-register" => Kind::CasRegister,
            "map" => Kind::Map,
            "mwcas" => Kind::Mwcas,
            _ => return None,
        })
    }

    /// The name of the built-in specification.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Register => "register",
            Kind::Queue => "queue",
            Kind::Stack => "stack",
            Kind::PriorityQueue => "priority-queue",
            Kind::Set => "set",
            Kind::CasRegister => "cas-register",
            Kind::Map => "map",
            Kind::Mwcas => "mwcas",
        }
    }

    /// What is known before the first event, where [`Kind::initial_operations`] do not say it.
    pub(super) fn past(self, init: Option<&Value>) -> Past {
        let given = match init {
            Some(Value::Map(given)) => BTreeMap::clone(given),
            _ => BTreeMap::new(),
        };
        match (self, init) {
            (Kind::CasRegister, _) => {
                Past::Register(Frozen::new(init.cloned().unwrap_or_default()))
            }
            (Kind::Map, _) => Past::Contents(Contents::new(given, Some(Value::Null))),
            (Kind::Mwcas, Some(Value::Map(_)) | None) => Past::Contents(Contents::new(given, None)),
            (Kind::Mwcas, Some(all)) => Past::Contents(Contents::new(given, Some(all.clone()))),
            _ => Past::Told,
        }
    }

    /// The operations that lead from the blank object to the initial state: operation, argument and answer.
    pub(super) fn initial_operations(self, init: Option<&Value>) -> Vec<(usize, Value, Value)> {
        let members = || -> Vec<Value> {
            match init {
                Some(Value::List(members)) => members.iter().cloned().collect(),
                Some(Value::Set(members)) => members.iter().cloned().collect(),
                _ => Vec::new(),
            }
        };
        let silent = |operation| move |value: Value| (operation, value, Value::Null);
        match self {
            Kind::Register => {
                vec![(Register::WRITE, init.cloned().unwrap_or_default(), Value::Null)]
            }
            Kind::Queue => members().into_iter().map(silent(Queue::ENQUEUE)).collect(),
            Kind::Stack => members().into_iter().map(silent(Stack::PUSH)).collect(),
            Kind::PriorityQueue => {
                members().into_iter().map(silent(PriorityQueue::INSERT)).collect()
            }
            Kind::Set => {
                let mut members = members();
                members.sort();
                members.dedup();
                let add = |member| (Set::ADD, member, Value::Bool(true));
                members.into_iter().map(add).collect()
            }
            Kind::CasRegister | Kind::Map | Kind::Mwcas => Vec::new(),
        }
    }

    /// The operations that add and remove, of a collection.
    pub(super) fn adds_and_removes(self) -> Option<(usize, usize)> {
        match self {
            Kind::Register | Kind::Set | Kind::CasRegister | Kind::Map | Kind::Mwcas => None,
            Kind::Queue => Some((Queue::ENQUEUE, Queue::DEQUEUE)),
            Kind::Stack => Some((Stack::PUSH, Stack::POP)),
            Kind::PriorityQueue => Some((PriorityQueue::INSERT, PriorityQueue::REMOVE_MIN)),
        }
    }

    /// What to start the specification from, for an object in which there is nothing.
    fn blank(self) -> Value {
        match self {
            Kind::Register => Value::str(UNWRITTEN),
            _ => Value::list([]),
        }
    }

    /// The state of the specification before the events of a window; for a register with `cas` just any, as there may be several.
    pub(super) fn start(
        self,
        spec: &(dyn Spec<State = Value> + Send + Sync),
        past: &Past,
    ) -> Option<Value> {
        let contents = match past {
            Past::Told => return Some(builtin(self.name(), Some(&self.blank())).ok()?.initial()),
            Past::Register(_) => return Some(spec.initial()),
            Past::Contents(contents) => contents,
        };
        let mut state = spec.initial();
        for (key, value) in contents.left() {
            let pair = Value::list([key.clone(), value.clone()]);
            let call = match self {
                Kind::Map => Call { operation: Map::PUT, argument: pair },
                _ => {
                    let asked = Value::list([Value::list([key.clone(), Value::Null])]);
                    let read = Call { operation: Mwcas::MWREAD, argument: asked };
                    let answer = spec.apply(&state, &read, None).pop()?.response;
                    let held = answer.as_list()?.first()?.as_list()?.get(1)?.clone();
                    let word = Value::list([key.clone(), held, value.clone()]);
                    Call { operation: Mwcas::MWCAS, argument: Value::list([word]) }
                }
            };
            let answer = (self == Kind::Mwcas).then_some(Value::Bool(true));
            state = spec.apply(&state, &call, answer.as_ref()).pop()?.state;
        }
        Some(state)
    }

    /// What the monitor says of a history that starts from the blank object, after this past.
    pub(super) fn monitor(self, history: &History, past: &Past, limits: &Limits) -> Monitored {
        match (self, past) {
            (Kind::Register, _) => monitor::register::check(history, &self.blank(), limits),
            (Kind::Queue, _) => monitor::queue::check(history, &[], limits),
            (Kind::Stack, _) => monitor::stack::check(history, &[], limits),
            (Kind::PriorityQueue, _) => monitor::priority_queue::check(history, &[], limits),
            (Kind::Set, _) => monitor::set::check(history, &self.blank(), limits),
            (Kind::CasRegister, Past::Register(frozen)) => frozen.check(history, limits),
            (Kind::Map, Past::Contents(contents)) => {
                monitor::map::check(history, &map::initial(history, contents), limits)
            }
            (Kind::Mwcas, Past::Contents(contents)) => {
                let initial = mwcas::initial(history, contents)?;
                monitor::mwcas::check(history, Some(&initial), limits)
            }
            (Kind::CasRegister | Kind::Map | Kind::Mwcas, _) => {
                Err(NotApplicable { reason: "nothing is known of the past".to_owned() })
            }
        }
    }

    /// What the general search says of a history after this past, which need not say what every location holds.
    pub(super) fn search(self, history: &History, past: &Past, limits: &Limits) -> Monitored {
        let Past::Contents(contents) = past else {
            return Err(NotApplicable { reason: "nothing is known of the past".to_owned() });
        };
        let initial = mwcas::initial(history, contents)?;
        let object = Object::builtin(self.name(), Some(initial))
            .map_err(|error| NotApplicable { reason: error.to_string() })?;
        let search = SearchOptions { core_time: Duration::ZERO, ..SearchOptions::default() };
        let options = CheckOptions { limits: limits.clone(), search, ..CheckOptions::default() };
        Ok(search_once(&object, history, &options).verdict)
    }

    /// For each operation of a history that holds whether it still matters to what may follow. Open ones always do, whatever this says. `order` explains the
    /// history, where the monitor was able to say so; what is dropped is noted in `past`.
    pub(super) fn still_matter(
        self,
        history: &History,
        fates: &[Fate],
        order: Option<&[OpId]>,
        past: &mut Past,
        limits: &Limits,
    ) -> Vec<bool> {
        match (self, past, order) {
            (Kind::Register, ..) => register::still_matter(history, fates),
            (Kind::Queue, ..) => queue::still_matter(history, fates),
            (Kind::Stack, ..) => stack::still_matter(history, fates),
            (Kind::PriorityQueue, ..) => priority_queue::still_matter(history, fates),
            (Kind::Set, ..) => set::still_matter(history, fates),
            (Kind::CasRegister, Past::Register(frozen), Some(_)) => {
                frozen.still_matter(history, fates, limits)
            }
            (Kind::Map, Past::Contents(contents), Some(order)) => {
                map::still_matter(history, fates, order, contents)
            }
            (Kind::Mwcas, Past::Contents(contents), Some(order)) => {
                mwcas::still_matter(history, fates, order, contents)
            }
            (Kind::CasRegister | Kind::Map | Kind::Mwcas, ..) => vec![true; fates.len()],
        }
    }
}
