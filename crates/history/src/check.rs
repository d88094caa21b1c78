//! Judging a history: the fastest exact method that applies.
//!
//! [`check`] splits a history that records many objects, tries the methods of the data type, and
//! hands over to the general search where none applies. It says what it did.

use crate::data_type::{Task, data_type};
use linchpin_history_data::crash::{self, Applied, CrashAssumption, CrashError, Property};
use linchpin_history_data::{History, Judgement, Object, OpId, Part, ValueId, Violation, Witness};
use linchpin_monitor::{StopPoll, interleave};
use linchpin_search::{Knowledge, SearchOptions, Searched, search_knowing};
use linchpin_verdict::{Inconclusive, Limits, StopReason};

/// How to judge.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// The property.
    pub property: Property,
    /// When to give up.
    pub limits: Limits,
    /// Whether to try the monitors; if not, everything is searched.
    pub monitors: bool,
    /// How to search.
    pub search: SearchOptions,
}

impl Default for CheckOptions {
    fn default() -> CheckOptions {
        CheckOptions {
            property: Property::Linearizable,
            limits: Limits::default(),
            monitors: true,
            search: SearchOptions::default(),
        }
    }
}

/// The judgement and how it was reached.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The judgement.
    pub judgement: Judgement,
    /// The method that reached it, such as `queue monitor`.
    pub method: String,
    /// Why faster methods did not apply.
    pub notes: Vec<String>,
    /// If the history is violated and the search found it: the states that were possible before.
    pub possible: Vec<String>,
    /// What was taken for granted.
    pub assumptions: Vec<CrashAssumption>,
    /// Each object, where one history records many: in the order of their first calls.
    pub keys: Vec<KeyChecked>,
    /// The key of the object that the judgement is about, if it is about one of many.
    pub key: Option<ValueId>,
}

/// The answer about one object of many.
#[derive(Clone, Debug)]
pub struct KeyChecked {
    /// The key.
    pub key: ValueId,
    /// How many operations it has.
    pub operations: usize,
    /// The answer.
    pub verdict: KeyVerdict,
    /// The method that reached it.
    pub method: String,
}

/// What is known of one object of many. Operations and ranks are those of the whole history.
#[derive(Clone, Debug)]
pub enum KeyVerdict {
    /// Some order explains it; the witness of the whole history holds it.
    Holds,
    /// No order does.
    Violated {
        /// Why.
        violation: Violation,
        /// The states that were possible before, if they are known.
        possible: Vec<String>,
    },
    /// It stayed open.
    Open(Inconclusive),
}

impl Checked {
    fn new(judgement: impl Into<Judgement>, method: String, notes: Vec<String>) -> Checked {
        let (possible, assumptions) = (Vec::new(), Vec::new());
        let (keys, key) = (Vec::new(), None);
        Checked { judgement: judgement.into(), method, notes, possible, assumptions, keys, key }
    }
}

/// Judges a history. The deadlines of its pending operations are set as the property says.
///
/// # Errors
///
/// If the crashes of the history make no sense for the property.
///
/// ```
/// use linchpin_history::{Builder, CheckOptions, Judgement, Object, check};
/// use linchpin_spec::Value;
///
/// let queue = Object::builtin("queue", None)?;
/// let mut builder = Builder::new(queue.spec.operations());
/// builder.invoke("a", "enqueue", Value::Int(7))?;
/// builder.ok("a", Value::Null)?;
/// builder.invoke("b", "dequeue", Value::Null)?;
/// builder.ok("b", Value::Null)?;
/// let mut history = builder.finish();
/// let checked = check(&queue, &mut history, &CheckOptions::default())?;
/// let Judgement::Violated(violation) = checked.judgement else { panic!("7 was lost") };
/// assert_eq!(violation.core.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check(
    object: &Object,
    history: &mut History,
    options: &CheckOptions,
) -> Result<Checked, CrashError> {
    let applied = crash::apply(history, options.property)?;
    let poll = StopPoll::new(&options.limits);
    let has_key = |id: OpId| history[id].key != ValueId::NULL;
    let mut checked = match poll.find(history, has_key) {
        Ok(Some(_)) => by_key(object, history, &applied, options, &poll),
        Ok(None) => one_object(object, history, &applied, options),
        Err(stopped) => Checked::new(stopped, NO_METHOD.to_owned(), Vec::new()),
    };
    checked.assumptions = applied.assumptions;
    Ok(checked)
}

const NO_METHOD: &str = "no method yet";

/// So many notes of one object are shown at most, where there are many objects.
const NOTES: usize = 3;

/// A history of many objects: each is judged alone, and the answers are put together.
fn by_key(
    object: &Object,
    history: &mut History,
    applied: &Applied,
    options: &CheckOptions,
    poll: &StopPoll,
) -> Checked {
    let mut notes = Vec::new();
    if !applied.interrupted.is_empty() {
        applied.tighten(history);
        notes.push("recoverable linearizability of many objects: judged with deadlines".to_owned());
    }
    let (mut order, mut ends) = (Vec::new(), Vec::new());
    let mut method = NO_METHOD.to_owned();
    let keys = match operations_by_key(history, poll) {
        Ok(keys) => keys,
        Err(stopped) => return Checked::new(stopped, method, notes),
    };
    for ids in keys {
        let part = Part::new(history, &ids);
        let inner = one_object(object, &part.history, &Applied::default(), options);
        let mut new: Vec<String> = inner.notes;
        new.retain(|note| !notes.contains(note));
        new.truncate(NOTES);
        notes.extend(new);
        method = inner.method;
        match inner.judgement {
            Judgement::Holds(witness) => {
                order.extend(witness.order.into_iter().map(|id| part.id(id)));
                ends.push(order.len());
            }
            Judgement::Violated(violation) => {
                let violation = Violation {
                    core: violation.core.into_iter().map(|id| part.id(id)).collect(),
                    explanation: violation.explanation,
                    at: violation.at.map(|at| part.rank(at)),
                };
                let checked = Checked::new(Judgement::Violated(violation), method, notes);
                return Checked { possible: inner.possible, ..checked };
            }
            inconclusive => return Checked::new(inconclusive, method, notes),
        }
    }
    let method = format!("{method}, {} keys apart", ends.len());
    match interleave(order, &ends, history.operations.len(), poll) {
        Ok(order) => Checked::new(Judgement::Holds(Witness { order }), method, notes),
        Err(stopped) => Checked::new(stopped, method, notes),
    }
}

/// The operations of each key, in the order of their calls.
fn operations_by_key(history: &History, poll: &StopPoll) -> Result<Vec<Vec<OpId>>, StopReason> {
    let mut numbers: Vec<Option<usize>> = vec![None; history.values.len()];
    let mut keys: Vec<Vec<OpId>> = Vec::new();
    for (id, operation) in history.iter() {
        poll.step()?;
        let number = *numbers[operation.key.index()].get_or_insert_with(|| {
            keys.push(Vec::new());
            keys.len() - 1
        });
        keys[number].push(id);
    }
    Ok(keys)
}

fn one_object(
    object: &Object,
    history: &History,
    applied: &Applied,
    options: &CheckOptions,
) -> Checked {
    let mut notes = Vec::new();
    if let Some(builtin) = object.data_type().filter(|_| options.monitors) {
        let data_type = data_type(builtin);
        let applies = applied.interrupted.is_empty() || data_type.orders_interrupted();
        let task = Task {
            history,
            init: object.init.as_ref(),
            interrupted: &applied.interrupted,
            limits: &options.limits,
        };
        for method in data_type.methods().iter().filter(|_| applies) {
            let name = method.name;
            match (method.check)(&task) {
                Ok(judgement) => return Checked::new(judgement, format!("{name} monitor"), notes),
                Err(refused) => {
                    notes.push(format!("the {name} monitor does not apply: {}", refused.reason));
                }
            }
        }
    }
    let searched = searched(object, history, applied, options);
    let checked = Checked::new(searched.judgement, "general search".to_owned(), notes);
    Checked { possible: searched.possible, ..checked }
}

/// The general search.
fn searched(
    object: &Object,
    history: &History,
    applied: &Applied,
    options: &CheckOptions,
) -> Searched {
    // An order between operations is no deadline. Too strict a deadline that holds, or none at all
    // that is violated, gives the answer; in between there is none.
    let free = search_once(object, history, options);
    if applied.interrupted.is_empty() || !free.judgement.is_holds() {
        return free;
    }
    let mut tight = history.clone();
    applied.tighten(&mut tight);
    let strict = search_once(object, &tight, options);
    if strict.judgement.is_holds() {
        return strict;
    }
    let reason = "an interrupted operation must take effect after the next call of its process \
                  but before that call takes effect; only multi-word histories are judged exactly \
                  then";
    let judgement = Judgement::Inconclusive(Inconclusive::Undecided(reason.to_owned()));
    Searched { judgement, ..strict }
}

/// The general search, deadlines as they are.
pub(crate) fn search_once(object: &Object, history: &History, options: &CheckOptions) -> Searched {
    let known = match object.data_type() {
        Some(builtin) => data_type(builtin).knowledge(),
        None => Knowledge::default(),
    };
    search_knowing(&*object.spec, history, &options.limits, &options.search, known)
}
