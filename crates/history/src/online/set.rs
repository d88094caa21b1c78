//! Sets: which operations still matter.
//!
//! A set is the product of its elements, so each is looked at alone. At a moment at which no
//! operation on an element is in progress, those before have all taken effect, and whether the
//! element is in the set is known: it was added once more than it was removed, or as often. What
//! follows depends on nothing else. So all operations before the last such moment are dropped,
//! except for one that added the element if it is there.
//!
//! An operation that never returns holds up its element, not the others; one that only looks does
//! not even that.

use super::past::Past;
use super::window::Fate;
use super::window_rule::{InitialOperation, WindowRule, members};
use linchpin_history_data::Monitored;
use linchpin_history_data::{Argument, History, NEVER, OpId, Rank, ValueId};
use linchpin_spec::Set;
use linchpin_spec::{Builtin, Value};
use linchpin_verdict::Limits;
use rustc_hash::FxHashMap;

/// Sets, by windows.
pub(crate) struct Rule;

impl WindowRule for Rule {
    fn builtin(&self) -> Builtin {
        Builtin::Set
    }

    fn initial_operations(&self, init: Option<&Value>) -> Vec<InitialOperation> {
        let mut members = members(init);
        members.sort();
        members.dedup();
        let add = |argument| InitialOperation {
            operation: Set::ADD,
            argument,
            response: Value::Bool(true),
        };
        members.into_iter().map(add).collect()
    }

    fn monitor(&self, history: &History, _: &Past, limits: &Limits) -> Monitored {
        linchpin_monitor::set::check(history, &self.blank(), limits)
    }

    fn still_matter(
        &self,
        history: &History,
        fates: &[Fate],
        _: Option<&[OpId]>,
        _: &mut Past,
        _: &Limits,
    ) -> Vec<bool> {
        still_matter(history, fates)
    }
}

/// What is known of an element.
#[derive(Default)]
struct Element {
    operations: Vec<OpId>,
    /// The last return so far; nothing if one does not return.
    busy_until: Option<Rank>,
    /// How many of the operations precede the last moment without any in progress.
    settled: usize,
}

fn still_matter(history: &History, fates: &[Fate]) -> Vec<bool> {
    let mut elements: FxHashMap<ValueId, Element> = FxHashMap::default();
    let mut keep = vec![true; history.operations.len()];
    for (id, operation) in history.operations.iter().enumerate() {
        let Argument::One(value) = operation.argument else { continue };
        let looks = usize::from(operation.operation) == Set::CONTAINS;
        match fates[id] {
            Fate::Retracted(_) => continue,
            Fate::Gone if looks => {
                keep[id] = false;
                continue;
            }
            _ => {}
        }
        let element = elements
            .entry(value)
            .or_insert_with(|| Element { busy_until: Some(Rank::FIRST), ..Element::default() });
        if element.busy_until.is_some_and(|until| until < operation.invoked) {
            element.settled = element.operations.len();
        }
        element.operations.push(OpId::new(id));
        element.busy_until = match operation.returned {
            NEVER => None,
            returned => element.busy_until.map(|until| until.max(returned)),
        };
    }
    for element in elements.values_mut() {
        if element.busy_until.is_some() {
            element.settled = element.operations.len();
        }
        let (mut added, mut removed, mut last_added) = (0, 0, None);
        for id in &element.operations[..element.settled] {
            let operation = &history[*id];
            keep[id.index()] = false;
            if operation.response == Argument::One(ValueId::TRUE) {
                match usize::from(operation.operation) {
                    Set::ADD => (added, last_added) = (added + 1, Some(*id)),
                    Set::REMOVE => removed += 1,
                    _ => {}
                }
            }
        }
        if added > removed
            && let Some(id) = last_added
        {
            keep[id.index()] = true;
        }
    }
    keep
}
