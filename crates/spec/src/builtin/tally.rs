//! Objects that count up and down by one and never below zero: semaphores, SNZIs and mailboxes.

use super::{Described, deterministic, looking, silent};
use crate::{Call, Outcome, Shape, Signature, Value};

/// Permits: `acquire` takes one and takes effect only while there is one, `release` adds one.
///
/// ```
/// use linchpin_spec::{Call, Semaphore, Spec, Value};
///
/// let semaphore = Semaphore::new(1);
/// let acquire = Call { operation: Semaphore::ACQUIRE, argument: Value::Null };
/// let none_left = semaphore.apply(&semaphore.initial(), &acquire, None).remove(0).state;
/// assert!(semaphore.apply(&none_left, &acquire, None).is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct Semaphore {
    operations: [Signature; 2],
    initial: Value,
}

impl Semaphore {
    /// The index of `acquire`.
    pub const ACQUIRE: usize = 0;
    /// The index of `release`.
    pub const RELEASE: usize = 1;

    /// A semaphore with this many permits.
    pub fn new(permits: u32) -> Semaphore {
        Semaphore {
            operations: [silently("acquire"), silently("release")],
            initial: tally(permits),
        }
    }

    fn step(&self, state: &Value, call: &Call, _: Option<&Value>) -> Option<Outcome<Value>> {
        match call.operation {
            Semaphore::ACQUIRE => down(state),
            Semaphore::RELEASE => up(state),
            _ => None,
        }
    }
}

deterministic!(Semaphore);

impl Default for Semaphore {
    fn default() -> Semaphore {
        Semaphore::new(1)
    }
}

impl Described for Semaphore {
    const NAME: &'static str = "semaphore";
    const SUMMARY: &'static str = "permits that are acquired and released";
    const INITIAL: &'static str = "the number of permits (default: 1)";

    fn starting_from(init: &Value) -> Option<Semaphore> {
        Some(Semaphore::new(natural(init)?))
    }
}

/// A scalable non-zero indicator: `arrive`, `depart` (only while someone is there), `query → bool`
/// (whether someone is).
///
/// ```
/// use linchpin_spec::{Call, Snzi, Spec, Value};
///
/// let snzi = Snzi::default();
/// let call = |operation| Call { operation, argument: Value::Null };
/// assert!(snzi.apply(&snzi.initial(), &call(Snzi::DEPART), None).is_empty());
/// let one = snzi.apply(&snzi.initial(), &call(Snzi::ARRIVE), None).remove(0).state;
/// assert_eq!(snzi.apply(&one, &call(Snzi::QUERY), None)[0].response, Value::Bool(true));
/// ```
#[derive(Clone, Debug)]
pub struct Snzi {
    operations: [Signature; 3],
    initial: Value,
}

impl Snzi {
    /// The index of `arrive`.
    pub const ARRIVE: usize = 0;
    /// The index of `depart`.
    pub const DEPART: usize = 1;
    /// The index of `query → bool`.
    pub const QUERY: usize = 2;

    /// An indicator at which this many have arrived.
    pub fn new(present: u32) -> Snzi {
        let query = Signature::new("query", Shape::Unit, Shape::Bool);
        Snzi {
            operations: [silently("arrive"), silently("depart"), query],
            initial: tally(present),
        }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        match call.operation {
            Snzi::ARRIVE => up(state),
            Snzi::DEPART => down(state),
            Snzi::QUERY => looking(state, (state.as_int()? > 0).into(), known),
            _ => None,
        }
    }
}

deterministic!(Snzi);

impl Default for Snzi {
    fn default() -> Snzi {
        Snzi::new(0)
    }
}

impl Described for Snzi {
    const NAME: &'static str = "snzi";
    const SUMMARY: &'static str = "a scalable non-zero indicator: whether anyone is present";
    const INITIAL: &'static str = "how many are present (default: 0)";

    fn starting_from(init: &Value) -> Option<Snzi> {
        Some(Snzi::new(natural(init)?))
    }
}

/// A mailbox whose letters all look alike: `deliver`, `check → bool` (whether there is one),
/// `remove` (only while there is one).
///
/// ```
/// use linchpin_spec::{Call, Mailbox, Spec, Value};
///
/// let mailbox = Mailbox::default();
/// let check = Call { operation: Mailbox::CHECK, argument: Value::Null };
/// assert!(mailbox.apply(&mailbox.initial(), &check, Some(&Value::Bool(true))).is_empty());
/// assert_eq!(mailbox.apply(&mailbox.initial(), &check, None)[0].response, Value::Bool(false));
/// ```
#[derive(Clone, Debug)]
pub struct Mailbox {
    operations: [Signature; 3],
    initial: Value,
}

impl Mailbox {
    /// The index of `deliver`.
    pub const DELIVER: usize = 0;
    /// The index of `check → bool`.
    pub const CHECK: usize = 1;
    /// The index of `remove`.
    pub const REMOVE: usize = 2;

    /// A mailbox with this many letters.
    pub fn new(letters: u32) -> Mailbox {
        let check = Signature::new("check", Shape::Unit, Shape::Bool);
        Mailbox {
            operations: [silently("deliver"), check, silently("remove")],
            initial: tally(letters),
        }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        match call.operation {
            Mailbox::DELIVER => up(state),
            Mailbox::CHECK => looking(state, (state.as_int()? > 0).into(), known),
            Mailbox::REMOVE => down(state),
            _ => None,
        }
    }
}

deterministic!(Mailbox);

impl Default for Mailbox {
    fn default() -> Mailbox {
        Mailbox::new(0)
    }
}

impl Described for Mailbox {
    const NAME: &'static str = "mailbox";
    const SUMMARY: &'static str = "a mailbox: letters are delivered, checked for and removed";
    const INITIAL: &'static str = "the number of letters (default: 0)";

    fn starting_from(init: &Value) -> Option<Mailbox> {
        Some(Mailbox::new(natural(init)?))
    }
}

/// The signature of an operation that takes and answers nothing.
fn silently(name: &str) -> Signature {
    Signature::new(name, Shape::Unit, Shape::Unit)
}

fn tally(count: u32) -> Value {
    Value::Int(count.into())
}

fn natural(init: &Value) -> Option<u32> {
    u32::try_from(init.as_int()?).ok()
}

fn up(tally: &Value) -> Option<Outcome<Value>> {
    silent(Value::Int(tally.as_int()?.checked_add(1)?))
}

fn down(tally: &Value) -> Option<Outcome<Value>> {
    match tally.as_int()? {
        count if count > 0 => silent(Value::Int(count - 1)),
        _ => None,
    }
}
