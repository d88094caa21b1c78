//! Judging a history: the fastest exact method that applies.
//!
//! [`check`] tries the methods of the data type (`object`), and hands over to the general search
//! where none applies. It says what it did. A history that records many objects is judged object by
//! object (`keys`), and the answers are put together (`verdicts`). [`check_partial`] judges one
//! whose precedence is a partial order.

mod beside;
mod keys;
mod object;
mod partial;
mod verdicts;

use linchpin_history_data::crash::{self, CrashAssumption, CrashError, Interrupted, Property};
use linchpin_history_data::{History, Judgement, Object, OpId, ValueId, Violation};
use linchpin_monitor::StopPoll;
use linchpin_search::SearchOptions;
use linchpin_verdict::{Inconclusive, Limits};
use object::OneObject;
use std::fmt;
use std::sync::Arc;

pub(crate) use object::search_once;
pub use partial::{PartialJudge, check_partial, check_partial_with};

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
    /// Who is told of a violated object as soon as it is known, where a history records many.
    pub observer: Option<KeyObserver>,
}

/// Who is told of violated objects while others are still being judged, on any thread.
#[derive(Clone)]
pub struct KeyObserver(Arc<Tell>);

type Tell = dyn Fn(&History, &KeyChecked) + Send + Sync;

impl KeyObserver {
    /// Calls this with the whole history and what is known of the object.
    pub fn new(tell: impl Fn(&History, &KeyChecked) + Send + Sync + 'static) -> KeyObserver {
        KeyObserver(Arc::new(tell))
    }
}

impl fmt::Debug for KeyObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyObserver")
    }
}

impl Default for CheckOptions {
    fn default() -> CheckOptions {
        CheckOptions {
            property: Property::Linearizable,
            limits: Limits::default(),
            monitors: true,
            search: SearchOptions::default(),
            observer: None,
        }
    }
}

/// The judgement and how it was reached.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The judgement. Where one history records many objects, a violation is that of
    /// [`Checked::key`], the one with the smallest core; but `at` is about the whole history: it is
    /// known if that of every violated object is, and if no object stayed open.
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
    let mut checked = check_deadlines(object, history, &applied.interrupted, options);
    checked.assumptions = applied.assumptions;
    Ok(checked)
}

/// Judges a history whose deadlines are set.
fn check_deadlines(
    object: &Object,
    history: &History,
    interrupted: &[Interrupted],
    options: &CheckOptions,
) -> Checked {
    let poll = StopPoll::new(&options.limits);
    let has_key = |id: OpId| history[id].key != ValueId::NULL;
    match poll.find(history, has_key) {
        Ok(Some(_)) => keys::check(object, history, interrupted, options, &poll),
        Ok(None) => {
            let (monitors, quick) = (options.monitors, options.monitors);
            let one = OneObject { object, history, interrupted, monitors, quick };
            one.check(&options.limits, &options.search).into()
        }
        Err(stopped) => Checked::new(stopped, NO_METHOD.to_owned(), Vec::new()),
    }
}

const NO_METHOD: &str = "no method yet";
