//! The built-in specifications, found by name.
//!
//! Each object is a struct that implements [`Spec`] with a [`Value`] as its state, so that all of
//! them fit one [`BuiltinSpec`]. One file holds one family; `sequence.rs` (queue and stack) is a
//! good first one to read, `mwcas.rs` is the only one that is not deterministic. An argument of the
//! wrong shape has no outcome, in all of them.

mod bank;
mod bounded_queue;
mod closest;
mod contents;
mod counter;
mod etcd;
mod grow_set;
mod kv;
mod list_append;
mod map;
mod multi_register;
mod mutex;
mod mwcas;
mod priority_queue;
mod rdcss;
mod register;
mod s2_stream;
mod sequence;
mod set;
mod snapshot;
mod tally;
#[cfg(test)]
mod tests;
mod unordered_queue;

pub use bank::Bank;
pub use bounded_queue::BoundedQueue;
pub use counter::Counter;
pub use etcd::Etcd;
pub use grow_set::GrowSet;
pub use kv::Kv;
pub use list_append::ListAppend;
pub use map::Map;
pub use multi_register::MultiRegister;
pub use mutex::Mutex;
pub use mwcas::Mwcas;
pub use priority_queue::PriorityQueue;
pub use rdcss::Rdcss;
pub use register::{CasRegister, Register};
pub use s2_stream::S2Stream;
pub use sequence::{Queue, Stack};
pub use set::Set;
pub use snapshot::Snapshot;
pub use tally::{Mailbox, Semaphore, Snzi};
pub use unordered_queue::UnorderedQueue;

use crate::signature::same_name;
use crate::{Outcome, Spec, Value};
use std::str::FromStr;

/// A built-in specification.
pub type BuiltinSpec = Box<dyn Spec<State = Value> + Send + Sync>;

/// A built-in specification, by name.
///
/// ```
/// use linchpin_spec::Builtin;
///
/// let queue: Builtin = "queue".parse()?;
/// assert_eq!(queue, Builtin::Queue);
/// assert_eq!(queue.spec(None)?.operations()[0].name, "enqueue");
/// # Ok::<(), linchpin_spec::BuiltinError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Each is documented where its specification is.
pub enum Builtin {
    Register,
    CasRegister,
    MultiRegister,
    ListAppend,
    Kv,
    Queue,
    BoundedQueue,
    UnorderedQueue,
    Stack,
    PriorityQueue,
    Set,
    GrowSet,
    Map,
    Bank,
    Counter,
    Mutex,
    Semaphore,
    Snapshot,
    Mwcas,
    Rdcss,
    Snzi,
    Mailbox,
    Etcd,
    S2Stream,
}

impl Builtin {
    /// What there is to know about it.
    pub const fn info(self) -> &'static BuiltinInfo {
        match self {
            Builtin::Register => const { &info::<Register>(Builtin::Register) },
            Builtin::CasRegister => const { &info::<CasRegister>(Builtin::CasRegister) },
            Builtin::MultiRegister => const { &info::<MultiRegister>(Builtin::MultiRegister) },
            Builtin::ListAppend => const { &info::<ListAppend>(Builtin::ListAppend) },
            Builtin::Kv => const { &info::<Kv>(Builtin::Kv) },
            Builtin::Queue => const { &info::<Queue>(Builtin::Queue) },
            Builtin::BoundedQueue => const { &info::<BoundedQueue>(Builtin::BoundedQueue) },
            Builtin::UnorderedQueue => const { &info::<UnorderedQueue>(Builtin::UnorderedQueue) },
            Builtin::Stack => const { &info::<Stack>(Builtin::Stack) },
            Builtin::PriorityQueue => const { &info::<PriorityQueue>(Builtin::PriorityQueue) },
            Builtin::Set => const { &info::<Set>(Builtin::Set) },
            Builtin::GrowSet => const { &info::<GrowSet>(Builtin::GrowSet) },
            Builtin::Map => const { &info::<Map>(Builtin::Map) },
            Builtin::Bank => const { &info::<Bank>(Builtin::Bank) },
            Builtin::Counter => const { &info::<Counter>(Builtin::Counter) },
            Builtin::Mutex => const { &info::<Mutex>(Builtin::Mutex) },
            Builtin::Semaphore => const { &info::<Semaphore>(Builtin::Semaphore) },
            Builtin::Snapshot => const { &info::<Snapshot>(Builtin::Snapshot) },
            Builtin::Mwcas => const { &info::<Mwcas>(Builtin::Mwcas) },
            Builtin::Rdcss => const { &info::<Rdcss>(Builtin::Rdcss) },
            Builtin::Snzi => const { &info::<Snzi>(Builtin::Snzi) },
            Builtin::Mailbox => const { &info::<Mailbox>(Builtin::Mailbox) },
            Builtin::Etcd => const { &info::<Etcd>(Builtin::Etcd) },
            Builtin::S2Stream => const { &info::<S2Stream>(Builtin::S2Stream) },
        }
    }

    /// Its name, as `--spec` and `spec NAME;` take it.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// The specification, starting from `init`.
    ///
    /// # Errors
    ///
    /// If it cannot start from that.
    pub fn spec(self, init: Option<&Value>) -> Result<BuiltinSpec, BuiltinError> {
        let info = self.info();
        (info.make)(init).ok_or_else(|| BuiltinError::Initial {
            spec: info.name,
            value: init.cloned().unwrap_or_default(),
            expected: info.initial,
        })
    }
}

/// The name or another one for the same, in which `-` and `_` are the same letter.
impl FromStr for Builtin {
    type Err = BuiltinError;

    fn from_str(name: &str) -> Result<Builtin, BuiltinError> {
        let found = BUILTINS.iter().find(|info| info.is_called(name));
        found.map(|info| info.builtin).ok_or_else(|| BuiltinError::Unknown {
            name: name.to_owned(),
            closest: closest::closest(name, BUILTINS.iter().map(|info| info.name)),
        })
    }
}

/// What there is to know about a built-in specification before making one.
#[derive(Clone, Copy, Debug)]
pub struct BuiltinInfo {
    /// Which one it is.
    pub builtin: Builtin,
    /// Its name, as `--spec` and `spec NAME;` take it.
    pub name: &'static str,
    /// Other names that it is asked for by.
    pub aliases: &'static [&'static str],
    /// What it is, in one line.
    pub summary: &'static str,
    /// What its initial value is and which one it has by default.
    pub initial: &'static str,
    /// Whether a history is not judged without one, because nothing is usual.
    pub needs_initial: bool,
    make: fn(Option<&Value>) -> Option<BuiltinSpec>,
}

impl BuiltinInfo {
    /// Whether this is its name or one of its other names; `-` and `_` are the same letter.
    pub fn is_called(&self, name: &str) -> bool {
        same_name(self.name, name) || self.aliases.iter().any(|alias| same_name(alias, name))
    }
}

/// The built-in specifications.
pub const BUILTINS: &[BuiltinInfo] = &[
    *Builtin::Register.info(),
    *Builtin::CasRegister.info(),
    *Builtin::MultiRegister.info(),
    *Builtin::ListAppend.info(),
    *Builtin::Kv.info(),
    *Builtin::Queue.info(),
    *Builtin::BoundedQueue.info(),
    *Builtin::UnorderedQueue.info(),
    *Builtin::Stack.info(),
    *Builtin::PriorityQueue.info(),
    *Builtin::Set.info(),
    *Builtin::GrowSet.info(),
    *Builtin::Map.info(),
    *Builtin::Bank.info(),
    *Builtin::Counter.info(),
    *Builtin::Mutex.info(),
    *Builtin::Semaphore.info(),
    *Builtin::Snapshot.info(),
    *Builtin::Mwcas.info(),
    *Builtin::Rdcss.info(),
    *Builtin::Snzi.info(),
    *Builtin::Mailbox.info(),
    *Builtin::Etcd.info(),
    *Builtin::S2Stream.info(),
];

/// Why there is no such built-in specification.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuiltinError {
    /// None has this name.
    #[error("there is no built-in specification `{name}`{}; there are {}", hint(.closest), names())]
    Unknown {
        /// The name asked for.
        name: String,
        /// The name that was probably meant.
        closest: Option<&'static str>,
    },
    /// There is no initial value, and none is usual.
    #[error("`{spec}` needs an initial value: {expected}")]
    Missing {
        /// The specification.
        spec: &'static str,
        /// What it takes: [`BuiltinInfo::initial`].
        expected: &'static str,
    },
    /// The initial value does not fit the object.
    #[error("`{spec}` cannot start from `{value}`; its initial value is {expected}")]
    Initial {
        /// The specification.
        spec: &'static str,
        /// The initial value asked for.
        value: Value,
        /// What it takes: [`BuiltinInfo::initial`].
        expected: &'static str,
    },
}

/// The built-in specification called `name` (`-` and `_` are the same letter), starting from
/// `init`.
///
/// ```
/// use linchpin_spec::{BuiltinError, Value, builtin};
///
/// let queue = builtin("queue", None)?;
/// assert_eq!(queue.operations()[1].to_string(), "dequeue → value or null");
///
/// let mistake = builtin("quue", None).err().unwrap();
/// assert!(mistake.to_string().contains("did you mean `queue`?"));
///
/// let mistake = builtin("counter", Some(&Value::Null)).err().unwrap();
/// assert_eq!(
///     mistake.to_string(),
///     "`counter` cannot start from `null`; its initial value is an integer (default: 0)",
/// );
/// # Ok::<(), BuiltinError>(())
/// ```
pub fn builtin(name: &str, init: Option<&Value>) -> Result<BuiltinSpec, BuiltinError> {
    name.parse::<Builtin>()?.spec(init)
}

fn hint(closest: &Option<&'static str>) -> String {
    closest.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

fn names() -> String {
    BUILTINS.iter().map(|info| info.name).collect::<Vec<_>>().join(", ")
}

/// What a specification tells about itself to be in [`BUILTINS`]. Without an initial value it
/// starts from its default.
trait Described: Spec<State = Value> + Default + Send + Sync + 'static {
    const NAME: &'static str;
    const ALIASES: &'static [&'static str] = &[];
    const SUMMARY: &'static str;
    const INITIAL: &'static str;
    const NEEDS_INITIAL: bool = false;

    /// The object that starts from `init`, if it can.
    fn starting_from(init: &Value) -> Option<Self>;
}

const fn info<B: Described>(builtin: Builtin) -> BuiltinInfo {
    BuiltinInfo {
        builtin,
        name: B::NAME,
        aliases: B::ALIASES,
        summary: B::SUMMARY,
        initial: B::INITIAL,
        needs_initial: B::NEEDS_INITIAL,
        make: make::<B>,
    }
}

fn make<B: Described>(init: Option<&Value>) -> Option<BuiltinSpec> {
    let object = match init {
        Some(init) => B::starting_from(init)?,
        None => B::default(),
    };
    Some(Box::new(object))
}

/// Implements [`Spec`] for a deterministic object with the fields `operations` and `initial` and a
/// method `step(&self, state, call, known) -> Option<Outcome<Value>>`, where `known` is the
/// response that the caller knows. With the name of another method, that one is
/// [`Spec::canonical`]; with one after a semicolon, that one is [`Spec::only_looks`];
/// with one after an arrow, that one is [`Spec::describe`].
macro_rules! deterministic {
    ($object:ty $(, $canonical:ident)? $(; $only_looks:ident)? $(=> $describe:ident)?) => {
        impl $crate::Spec for $object {
            type State = $crate::Value;

            fn operations(&self) -> &[$crate::Signature] {
                &self.operations
            }

            fn initial(&self) -> $crate::Value {
                self.initial.clone()
            }

            fn apply(
                &self,
                state: &$crate::Value,
                call: &$crate::Call,
                response: Option<&$crate::Value>,
            ) -> $crate::Outcomes<$crate::Value> {
                self.step(state, call, response).into_iter().collect()
            }

            $(
                fn canonical(&self, operation: usize, response: $crate::Value) -> $crate::Value {
                    <$object>::$canonical(self, operation, response)
                }
            )?

            $(
                fn only_looks(&self, call: &$crate::Call) -> Option<bool> {
                    <$object>::$only_looks(call)
                }
            )?

            $(
                fn describe(&self, state: &$crate::Value) -> Option<String> {
                    <$object>::$describe(state)
                }
            )?
        }
    };
}
use deterministic;

/// `answer`, unless the response is known to be another. Outcomes are built response first, so that
/// a wrong response is found out before a state is copied for nothing.
fn answering(answer: Value, known: Option<&Value>) -> Option<Value> {
    known.is_none_or(|known| *known == answer).then_some(answer)
}

/// The outcome of an operation that only looks.
fn looking(state: &Value, answer: Value, known: Option<&Value>) -> Option<Outcome<Value>> {
    Some(Outcome { response: answering(answer, known)?, state: state.clone() })
}

/// The outcome of an operation that answers nothing, whatever a recorder echoed as its response.
fn silent(state: Value) -> Option<Outcome<Value>> {
    Some(Outcome { response: Value::Null, state })
}

/// The two elements of a list of two.
fn pair(value: &Value) -> Option<(&Value, &Value)> {
    match value.as_list()? {
        [first, second] => Some((first, second)),
        _ => None,
    }
}
