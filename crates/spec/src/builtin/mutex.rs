//! Mutual exclusion.

use super::{Described, deterministic, silent};
use crate::{Call, Outcome, Shape, Signature, Value};

/// A lock: `acquire` takes effect only while it is free, `release` only while it is held. Who holds
/// it is not remembered, so that one process may release what another acquired.
///
/// ```
/// use linchpin_spec::{Call, Mutex, Spec, Value};
///
/// let mutex = Mutex::default();
/// let acquire = Call { operation: Mutex::ACQUIRE, argument: Value::Null };
/// let held = mutex.apply(&mutex.initial(), &acquire, None).remove(0).state;
/// assert!(mutex.apply(&held, &acquire, None).is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct Mutex {
    operations: [Signature; 2],
    initial: Value,
}

impl Mutex {
    /// The index of `acquire`.
    pub const ACQUIRE: usize = 0;
    /// The index of `release`.
    pub const RELEASE: usize = 1;

    /// A lock that is `held` or free at the start.
    pub fn new(held: bool) -> Mutex {
        let signature = |name| Signature::new(name, Shape::Unit, Shape::Unit);
        Mutex { operations: ["acquire", "release"].map(signature), initial: Value::Bool(held) }
    }

    fn step(&self, state: &Value, call: &Call, _: Option<&Value>) -> Option<Outcome<Value>> {
        match (call.operation, state.as_bool()?) {
            (Mutex::ACQUIRE, false) => silent(true.into()),
            (Mutex::RELEASE, true) => silent(false.into()),
            _ => None,
        }
    }
}

deterministic!(Mutex);

impl Default for Mutex {
    fn default() -> Mutex {
        Mutex::new(false)
    }
}

impl Described for Mutex {
    const NAME: &'static str = "mutex";
    const SUMMARY: &'static str = "a lock that one holds at a time";
    const INITIAL: &'static str = "true if it is held at the start (default: false)";

    fn starting_from(init: &Value) -> Option<Mutex> {
        Some(Mutex::new(init.as_bool()?))
    }
}
