//! Atomic snapshots.

use super::{Described, deterministic, looking, pair, silent};
use crate::{Call, Outcome, Shape, Signature, Value};

/// A fixed number of components that are written one by one and read all at once: `update [i, v]`,
/// `scan → [v, …]`. An update of a component that does not exist has no outcome.
///
/// ```
/// use linchpin_spec::{Call, Snapshot, Spec, Value};
///
/// let snapshot = Snapshot::new([Value::Int(0), Value::Int(0)]);
/// let argument = Value::list([Value::Int(1), Value::Int(7)]);
/// let update = Call { operation: Snapshot::UPDATE, argument };
/// let updated = snapshot.apply(&snapshot.initial(), &update, None).remove(0).state;
///
/// let scan = Call { operation: Snapshot::SCAN, argument: Value::Null };
/// assert_eq!(snapshot.apply(&updated, &scan, None)[0].response.to_string(), "[0, 7]");
/// ```
#[derive(Clone, Debug)]
pub struct Snapshot {
    operations: [Signature; 2],
    initial: Value,
}

impl Snapshot {
    /// The index of `update [i, v]`.
    pub const UPDATE: usize = 0;
    /// The index of `scan → [v, …]`.
    pub const SCAN: usize = 1;

    /// A snapshot object with these components.
    pub fn new(components: impl IntoIterator<Item = Value>) -> Snapshot {
        let update = Shape::Tuple(vec![Shape::Int, Shape::Any]);
        Snapshot {
            operations: [
                Signature::new("update", update, Shape::Unit),
                Signature::new("scan", Shape::Unit, Shape::List(Box::new(Shape::Any))),
            ],
            initial: Value::list(components),
        }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        match call.operation {
            Snapshot::UPDATE => {
                let (index, value) = pair(&call.argument)?;
                let index = usize::try_from(index.as_int()?).ok()?;
                let mut components = state.as_list()?.to_vec();
                *components.get_mut(index)? = value.clone();
                silent(Value::list(components))
            }
            Snapshot::SCAN => looking(state, state.clone(), known),
            _ => None,
        }
    }
}

deterministic!(Snapshot);

impl Default for Snapshot {
    /// Two components that are `null`.
    fn default() -> Snapshot {
        Snapshot::new([Value::Null, Value::Null])
    }
}

impl Described for Snapshot {
    const NAME: &'static str = "snapshot";
    const SUMMARY: &'static str = "components written one by one and read all at once";
    const INITIAL: &'static str =
        "a list of components, or how many there are, at most 65536, all null (default: 2)";

    fn starting_from(init: &Value) -> Option<Snapshot> {
        match init {
            Value::List(components) => Some(Snapshot::new(components.iter().cloned())),
            // The bound keeps a mistyped number from asking for all memory.
            Value::Int(count @ 0..=65536) => Some(Snapshot::new((0..*count).map(|_| Value::Null))),
            _ => None,
        }
    }
}
