//! Judging a history: the fastest exact method that applies.
//!
//! [`check`] splits a history that records many objects, tries the monitor of the data type, and hands over to the general
//! search where the monitor does not apply. It says what it did.

use crate::crash::{self, Applied, CrashError, Property};
use crate::history::{History, OpId};
use crate::monitor::pace::{Pace, Stopped};
use crate::monitor::timeline;
use crate::monitor::{
    cas_register, counter, map, mutex, mwcas, priority_queue, queue, register, semaphore, set,
    stack,
};
use crate::part::Part;
use crate::search::lockstep;
use crate::search::split::{SplitBy, search_parts, split};
use crate::search::{
    Known, Matters, SearchOptions, Searched, Tally, search_knowing, shared_values, updates_seen,
};
use crate::value_table::ValueId;
use crate::verdict::{Limits, Monitored, Verdict, Violation, Witness};
use linchpin_spec::{BuiltinError, BuiltinSpec, Mailbox, Snzi, Value, builtin};

/// The object whose history is judged.
pub struct Object {
    /// The name of a built-in specification, or whatever the user calls it.
    pub name: String,
    /// The specification.
    pub spec: BuiltinSpec,
    /// The initial value that the user gave.
    pub init: Option<Value>,
    is_builtin: bool,
}

impl Object {
    /// An object with a built-in specification.
    pub fn builtin(name: &str, init: Option<Value>) -> Result<Object, BuiltinError> {
        let spec = builtin(name, init.as_ref())?;
        Ok(Object { name: name.replace('_', "-"), spec, init, is_builtin: true })
    }

    /// An object with a specification of its own.
    pub fn custom(name: &str, spec: BuiltinSpec) -> Object {
        Object { name: name.to_owned(), spec, init: None, is_builtin: false }
    }

    /// Whether the specification is the built-in one of that name.
    pub fn is_builtin(&self) -> bool {
        self.is_builtin
    }
}

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

/// The verdict and how it was reached.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The method that reached it, such as `queue monitor`.
    pub method: String,
    /// Why faster methods did not apply.
    pub notes: Vec<String>,
    /// If the history is violated and the search found it: the states that were possible before.
    pub possible: Vec<String>,
    /// What was taken for granted.
    pub assumptions: Vec<String>,
}

/// Judges a history. The deadlines of its pending operations are set as the property says.
///
/// ```
/// use linchpin_history::{Builder, CheckOptions, Object, Verdict, check};
/// use linchpin_spec::Value;
///
/// let queue = Object::builtin("queue", None)?;
/// let mut builder = Builder::new(queue.spec.operations());
/// builder.invoke("a", "enqueue", Value::Int(7))?;
/// builder.ok("a", Value::Null)?;
/// builder.invoke("b", "dequeue", Value::Null)?;
/// builder.ok("b", Value::Null)?;
/// let mut history = builder.finish();
/// let judgement = check(&queue, &mut history, &CheckOptions::default())?;
/// let Verdict::Violated(violation) = judgement.verdict else { panic!("7 was lost") };
/// assert_eq!(violation.core, [0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check(
    object: &Object,
    history: &mut History,
    options: &CheckOptions,
) -> Result<Judgement, CrashError> {
    let applied = crash::apply(history, options.property)?;
    let pace = Pace::new(&options.limits);
    let has_key = |id: OpId| history.operations[id as usize].key != ValueId::NULL;
    let mut judgement = match pace.find(history, has_key) {
        Ok(Some(_)) => by_key(object, history, &applied, options, &pace),
        Ok(None) => one_object(object, history, &applied, options),
        Err(stopped) => unknown(stopped, "no method yet".to_owned(), Vec::new()),
    };
    judgement.assumptions = applied.assumptions;
    Ok(judgement)
}

/// A history of many objects: each is judged alone, and the answers are put together.
fn by_key(
    object: &Object,
    history: &mut History,
    applied: &Applied,
    options: &CheckOptions,
    pace: &Pace,
) -> Judgement {
    let mut notes = Vec::new();
    if !applied.interrupted.is_empty() {
        applied.tighten(history);
        notes.push("recoverable linearizability of many objects: judged with deadlines".to_owned());
    }
    let (mut order, mut ends) = (Vec::new(), Vec::new());
    let mut method = "no method yet".to_owned();
    let keys = match operations_by_key(history, pace) {
        Ok(keys) => keys,
        Err(stopped) => return unknown(stopped, method, notes),
    };
    for ids in keys {
        let mut part = Part::new(history, &ids);
        let inner = one_object(object, &mut part.history, &Applied::default(), options);
        notes.extend(
            inner
                .notes
                .into_iter()
                .filter(|note| !notes.contains(note))
                .take(3)
                .collect::<Vec<_>>(),
        );
        method = inner.method;
        match inner.verdict {
            Verdict::Holds(witness) => {
                order.extend(witness.order.into_iter().map(|id| part.id(id)));
                ends.push(order.len());
            }
            Verdict::Violated(violation) => {
                let verdict = Verdict::Violated(Violation {
                    core: violation.core.into_iter().map(|id| part.id(id)).collect(),
                    explanation: violation.explanation,
                    at: violation.at.map(|at| part.rank(at)),
                });
                let possible = inner.possible;
                return Judgement { verdict, method, notes, possible, assumptions: Vec::new() };
            }
            Verdict::Inconclusive(reason) => {
                let verdict = Verdict::Inconclusive(reason);
                return Judgement {
                    verdict,
                    method,
                    notes,
                    possible: Vec::new(),
                    assumptions: Vec::new(),
                };
            }
        }
    }
    let method = format!("{method}, {} keys apart", ends.len());
    match timeline::interleave(order, &ends, history.operations.len(), pace) {
        Ok(order) => {
            let verdict = Verdict::Holds(Witness { order });
            Judgement { verdict, method, notes, possible: Vec::new(), assumptions: Vec::new() }
        }
        Err(stopped) => unknown(stopped, method, notes),
    }
}

/// Nothing is known, because somebody said stop.
fn unknown(stopped: Stopped, method: String, notes: Vec<String>) -> Judgement {
    let verdict = stopped.into();
    Judgement { verdict, method, notes, possible: Vec::new(), assumptions: Vec::new() }
}

/// The operations of each key, in the order of their calls.
fn operations_by_key(history: &History, pace: &Pace) -> Result<Vec<Vec<OpId>>, Stopped> {
    const NONE: u32 = u32::MAX;
    let mut numbers = vec![NONE; history.values.len()];
    let mut keys: Vec<Vec<OpId>> = Vec::new();
    for (id, operation) in (0..).zip(&history.operations) {
        pace.step()?;
        let number = &mut numbers[operation.key.index()];
        if *number == NONE {
            *number = keys.len() as u32;
            keys.push(Vec::new());
        }
        keys[*number as usize].push(id);
    }
    Ok(keys)
}

fn one_object(
    object: &Object,
    history: &mut History,
    applied: &Applied,
    options: &CheckOptions,
) -> Judgement {
    let mut notes = Vec::new();
    if object.is_builtin && options.monitors {
        for (name, answer) in monitors(object, history, applied, &options.limits) {
            match answer {
                Ok(verdict) => {
                    let method = format!("{name} monitor");
                    return Judgement {
                        verdict,
                        method,
                        notes,
                        possible: vec![],
                        assumptions: vec![],
                    };
                }
                Err(refused) => {
                    notes.push(format!("the {name} monitor does not apply: {}", refused.reason))
                }
            }
        }
    }
    let searched = searched(object, history, applied, options);
    Judgement {
        verdict: searched.verdict,
        method: "general search".to_owned(),
        notes,
        possible: searched.possible,
        assumptions: Vec::new(),
    }
}

/// The monitors of the data type, in the order in which they are tried; lazily, so that the first answer ends it.
fn monitors<'a>(
    object: &'a Object,
    history: &'a History,
    applied: &'a Applied,
    limits: &'a Limits,
) -> impl Iterator<Item = (&'static str, Monitored)> + 'a {
    let init = object.init.clone().unwrap_or_default();
    let names: &[&'static str] = match object.name.as_str() {
        _ if !applied.interrupted.is_empty() && object.name != "mwcas" => &[],
        "register" | "cas-register" => &["register", "cas-register"],
        "queue" => &["queue", "queue lockstep"],
        "stack" => &["stack"],
        "priority-queue" => &["priority-queue"],
        "set" => &["set"],
        "map" => &["map"],
        "mutex" => &["mutex"],
        "semaphore" => &["semaphore"],
        "counter" => &["counter"],
        "mwcas" => &["mwcas"],
        _ => &[],
    };
    names.iter().map(move |name| {
        let answer = match *name {
            "register" => register::check(history, &init, limits),
            "cas-register" => cas_register::check(history, &init, limits),
            "set" => set::check(history, &init, limits),
            "map" => map::check(history, &init, limits),
            "mutex" => mutex::check(history, &init, limits),
            "semaphore" => semaphore::check(history, &init, limits),
            "counter" => counter::check(history, &init, limits),
            "mwcas" => mwcas::check_interrupted(
                history,
                &applied.interrupted,
                object.init.as_ref(),
                limits,
            ),
            "queue lockstep" => {
                lockstep::queue(history, init.as_list().unwrap_or_default(), limits)
            }
            name => collection(name, history, &init, limits),
        };
        (*name, answer)
    })
}

/// Queue, stack and priority queue: the initial contents must be values that the history knows.
fn collection(name: &str, history: &History, init: &Value, limits: &Limits) -> Monitored {
    let contents = init.as_list().unwrap_or_default();
    let mut initial = Vec::with_capacity(contents.len());
    for value in contents {
        match history.values.find(value) {
            Some(id) => initial.push(id),
            None => {
                let reason = format!("the initial value {value} is never removed");
                return Err(crate::NotApplicable { reason });
            }
        }
    }
    match name {
        "queue" => queue::check(history, &initial, limits),
        "stack" => stack::check(history, &initial, limits),
        _ => priority_queue::check(history, &initial, limits),
    }
}

/// The general search, on the parts of a product object alone.
fn searched(
    object: &Object,
    history: &mut History,
    applied: &Applied,
    options: &CheckOptions,
) -> Searched {
    if applied.interrupted.is_empty() {
        return search_once(object, history, options);
    }
    // An order between operations is no deadline. Too strict a deadline that holds, or none at all that is violated,
    // gives the answer; in between there is none.
    let free = search_once(object, history, options);
    if !matches!(free.verdict, Verdict::Holds(_)) {
        return free;
    }
    let mut tight = history.clone();
    applied.tighten(&mut tight);
    let strict = search_once(object, &tight, options);
    match strict.verdict {
        Verdict::Holds(_) => strict,
        _ => Searched {
            verdict: Verdict::Inconclusive(
                "an interrupted operation must take effect after the next call of its process but before that \
                 call takes effect; only multi-word histories are judged exactly then"
                    .to_owned(),
            ),
            ..strict
        },
    }
}

/// The general search, deadlines as they are.
pub(crate) fn search_once(object: &Object, history: &History, options: &CheckOptions) -> Searched {
    let by = SplitBy::builtin(&object.name).filter(|_| object.is_builtin);
    match by {
        Some(by) => {
            let all: Vec<OpId> = (0..history.operations.len() as OpId).collect();
            let parts = split(history, &all, by);
            search_parts(&*object.spec, history, &parts, &options.limits, &options.search)
        }
        None => {
            let matters: Option<Matters> = match object.name.as_str() {
                _ if !object.is_builtin => None,
                "snapshot" => Some(updates_seen),
                "queue" | "stack" | "priority-queue" => Some(shared_values),
                _ => None,
            };
            let tally = match object.name.as_str() {
                _ if !object.is_builtin => None,
                "snzi" => Some(Tally { up: Snzi::ARRIVE, down: Snzi::DEPART }),
                "mailbox" => Some(Tally { up: Mailbox::DELIVER, down: Mailbox::REMOVE }),
                _ => None,
            };
            let known = Known { matters, tally };
            search_knowing(&*object.spec, history, &options.limits, &options.search, known)
        }
    }
}
