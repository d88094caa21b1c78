//! Lists under keys, appended to and read in transactions of one key each.
//!
//! A list is a text whose symbols are values, and a transaction appends one piece: all its values
//! in their order. What it reads tells what was there before, so a transaction that also reads is
//! an append and, at once, a get of what is there after it.

use super::decide::Effort;
use super::log::Does;
use super::{Verdicts, log};
use crate::poll::{StopPoll, StopReason};
use linchpin_history_data::{
    History, Judgement, Monitored, OpId, Sentences, ValueId, Violation, not_applicable,
};
use linchpin_spec::{ListAppend, Spec, Value};
use linchpin_verdict::Limits;
use rustc_hash::{FxHashMap, FxHashSet};

/// Judges a history of a [`ListAppend`] that starts with the lists of `init` (a map).
///
/// Exact where every transaction is about one key. Not applicable otherwise, and where values
/// repeat so that there are too many ways to read a list.
pub fn check_lists(history: &History, init: &Value, limits: &Limits) -> Monitored {
    let specification = ListAppend::default();
    let say = Sentences::new(history, specification.operations());
    let poll = StopPoll::new(limits);
    if let Err(stopped) = poll.ask(300 * history.operations.len()) {
        return Ok(stopped.into());
    }
    let mut lists = Lists::default();
    for id in history.ids() {
        if let Err(stopped) = poll.step() {
            return Ok(stopped.into());
        }
        match lists.add(history, id) {
            Ok(()) => {}
            Err(Unfit::NotOneKey) => {
                let what = say.operation(id);
                return not_applicable(format!("{what} is not about one key"));
            }
            Err(Unfit::Inconsistent) => {
                let what = say.operation(id);
                let explanation = format!("{what} contradicts itself");
                let violation =
                    Violation { core: vec![id], blamed: vec![id], explanation, at: None };
                return Ok(Judgement::Violated(violation));
            }
        }
    }
    match lists.judge(history, init, &say, &poll) {
        Ok(verdicts) => verdicts.finish(history, lists.idle, &poll),
        Err(stopped) => Ok(stopped.into()),
    }
}

/// The transactions of one key.
#[derive(Default)]
struct List {
    key: Value,
    /// What each appended, and what was there when it was over, if that is known.
    transactions: Vec<(OpId, Vec<Value>, Option<Vec<Value>>)>,
}

impl List {
    /// Whether a transaction reads and appends, and values repeat, or were there at the `start`:
    /// then it is open which of several its own one is.
    fn is_open(&self, start: &[Value]) -> bool {
        let mut seen: FxHashSet<&Value> = start.iter().collect();
        let mixed = |(_, appended, shown): &(OpId, Vec<Value>, Option<Vec<Value>>)| {
            !appended.is_empty() && shown.is_some()
        };
        self.transactions.iter().any(mixed)
            && self
                .transactions
                .iter()
                .flat_map(|(_, appended, _)| appended)
                .any(|v| !seen.insert(v))
    }
}

/// The transactions of each key.
#[derive(Default)]
struct Lists {
    numbers: FxHashMap<ValueId, usize>,
    keys: Vec<List>,
    /// Those that do nothing.
    idle: Vec<OpId>,
}

/// Why a transaction does not fit.
enum Unfit {
    NotOneKey,
    /// Its own answers contradict each other.
    Inconsistent,
}

impl Lists {
    fn add(&mut self, history: &History, id: OpId) -> Result<(), Unfit> {
        let operation = &history[id];
        let accesses = history.words(operation.argument);
        let answers = match operation.completed {
            true => history.words(operation.response),
            false => &[],
        };
        let Some([_, key, _]) = accesses.first().copied() else {
            // why: an argument without words is an empty list, or none that is known here.
            if history.value(operation.argument) != Value::list([]) {
                return Err(Unfit::NotOneKey);
            }
            self.idle.extend(operation.completed.then_some(id));
            return Ok(());
        };
        if operation.completed && answers.len() != accesses.len() {
            return Err(Unfit::Inconsistent);
        }
        let (mut appended, mut shown): (Vec<Value>, Option<Vec<Value>>) = (Vec::new(), None);
        for (at, [kind, of, value]) in accesses.iter().copied().enumerate() {
            if of != key {
                return Err(Unfit::NotOneKey);
            }
            if answers.get(at).is_some_and(|answer| answer[..2] != [kind, of]) {
                return Err(Unfit::Inconsistent);
            }
            match (history.values.get(kind), answers.get(at)) {
                (Value::Str(kind), answer) if &*kind == "append" => {
                    if answer.is_some_and(|answer| answer[2] != value) {
                        return Err(Unfit::Inconsistent);
                    }
                    let value = history.values.get(value);
                    if let Some(shown) = &mut shown {
                        shown.push(value.clone());
                    }
                    appended.push(value);
                }
                (Value::Str(_), None) => {}
                (Value::Str(_), Some([_, _, answer])) => {
                    let list = match history.values.get(*answer) {
                        Value::Null => Vec::new(),
                        Value::List(list) => list.to_vec(),
                        _ => return Err(Unfit::Inconsistent),
                    };
                    if !list.ends_with(&appended) || shown.is_some_and(|shown| shown != list) {
                        return Err(Unfit::Inconsistent);
                    }
                    shown = Some(list);
                }
                _ => return Err(Unfit::NotOneKey),
            }
        }
        let number = *self.numbers.entry(key).or_insert_with(|| {
            self.keys.push(List { key: history.values.get(key), transactions: Vec::new() });
            self.keys.len() - 1
        });
        self.keys[number].transactions.push((id, appended, shown));
        Ok(())
    }

    fn judge(
        &self,
        history: &History,
        init: &Value,
        say: &Sentences<'_>,
        poll: &StopPoll,
    ) -> Result<Verdicts, StopReason> {
        let mut verdicts = Verdicts::new(Effort::Full);
        for list in &self.keys {
            let start = match init {
                Value::Map(given) => given.get(&list.key).and_then(Value::as_list),
                _ => None,
            };
            let start = start.unwrap_or_default();
            if list.is_open(start) {
                let key = &list.key;
                let why = format!("under the key {key}, the same values are appended repeatedly");
                verdicts.refused.get_or_insert(why);
                continue;
            }
            let mut does = Vec::new();
            for (id, appended, shown) in &list.transactions {
                if !appended.is_empty() {
                    does.push((*id, Does::Append(appended.as_slice())));
                }
                does.extend(shown.as_ref().map(|shown| (*id, Does::Get(shown.as_slice()))));
            }
            verdicts.add(history, say, start, &does, poll)?;
        }
        Ok(verdicts)
    }
}

/// Whether an operation is the get of a transaction that appends as well.
pub(super) fn is_second(log: &log::Log, at: log::At) -> bool {
    let before = at.checked_sub(1).and_then(|before| log[before].id);
    before.is_some() && before == log[at].id
}
