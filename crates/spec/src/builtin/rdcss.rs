//! Restricted double-compare single-swap.

use super::{Described, answering, deterministic, looking, pair, silent};
use crate::{Call, Outcome, Shape, Signature, Value};

/// A control cell and a data cell that is swapped only if both hold what is expected:
/// `rdcss [o1, o2, n2] → v`, which answers what the data cell held, `read → v` of the data cell,
/// `write-control v` and `cas-control [old, new] → bool`.
///
/// After T. L. Harris, K. Fraser, I. A. Pratt, "A Practical Multi-word Compare-and-Swap Operation",
/// DISC 2002, Section 4.1.
///
/// ```
/// use linchpin_spec::{Call, Rdcss, Spec, Value};
///
/// let rdcss = Rdcss::default();
/// let swap = Value::list([Value::Int(0), Value::Int(0), Value::Int(7)]);
/// let call = Call { operation: Rdcss::RDCSS, argument: swap };
/// let outcome = rdcss.apply(&rdcss.initial(), &call, None).remove(0);
/// assert_eq!((outcome.response.to_string(), outcome.state.to_string()), ("0".into(), "[0, 7]".into()));
/// ```
#[derive(Clone, Debug)]
pub struct Rdcss {
    operations: [Signature; 4],
    initial: Value,
}

impl Rdcss {
    /// The index of `rdcss [o1, o2, n2] → v`.
    pub const RDCSS: usize = 0;
    /// The index of `read → v`.
    pub const READ: usize = 1;
    /// The index of `write-control v`.
    pub const WRITE_CONTROL: usize = 2;
    /// The index of `cas-control [old, new] → bool`.
    pub const CAS_CONTROL: usize = 3;

    /// The two cells with these values.
    pub fn new(control: Value, data: Value) -> Rdcss {
        let values = |count: usize| Shape::Tuple(vec![Shape::Any; count]);
        Rdcss {
            operations: [
                Signature::new("rdcss", values(3), Shape::Any),
                Signature::new("read", Shape::Unit, Shape::Any),
                Signature::new("write-control", Shape::Any, Shape::Unit),
                Signature::new("cas-control", values(2), Shape::Bool),
            ],
            initial: Value::list([control, data]),
        }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        let (control, data) = pair(state)?;
        match call.operation {
            Rdcss::RDCSS => {
                let [o1, o2, n2] = call.argument.as_list()? else { return None };
                let response = answering(data.clone(), known)?;
                let swapped = control == o1 && data == o2;
                let data = if swapped { n2 } else { data };
                Some(Outcome { response, state: Value::list([control.clone(), data.clone()]) })
            }
            Rdcss::READ => looking(state, data.clone(), known),
            Rdcss::WRITE_CONTROL => silent(Value::list([call.argument.clone(), data.clone()])),
            Rdcss::CAS_CONTROL => {
                let (old, new) = pair(&call.argument)?;
                let response = answering((control == old).into(), known)?;
                let control = if control == old { new } else { control };
                Some(Outcome { response, state: Value::list([control.clone(), data.clone()]) })
            }
            _ => None,
        }
    }
}

deterministic!(Rdcss);

impl Default for Rdcss {
    /// Both cells are 0.
    fn default() -> Rdcss {
        Rdcss::new(Value::Int(0), Value::Int(0))
    }
}

impl Described for Rdcss {
    const NAME: &'static str = "rdcss";
    const SUMMARY: &'static str = "a data cell swapped only if a control cell agrees";
    const INITIAL: &'static str = "a list of the control cell and the data cell (default: [0, 0])";

    fn starting_from(init: &Value) -> Option<Rdcss> {
        pair(init).map(|(control, data)| Rdcss::new(control.clone(), data.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;

    /// The response and the state after a call from these cells.
    fn after(cells: [i64; 2], operation: usize, arguments: &[i64]) -> (String, String) {
        let rdcss = Rdcss::new(cells[0].into(), cells[1].into());
        let values: Vec<Value> = arguments.iter().map(|value| (*value).into()).collect();
        let argument = match &values[..] {
            [] => Value::Null,
            [one] => one.clone(),
            _ => Value::list(values),
        };
        let outcomes = rdcss.apply(&rdcss.initial(), &Call { operation, argument }, None);
        (outcomes[0].response.to_string(), outcomes[0].state.to_string())
    }

    #[test]
    fn swaps_only_if_both_cells_agree() {
        let after = |cells| after(cells, Rdcss::RDCSS, &[1, 2, 3]);
        assert_eq!(after([1, 2]), ("2".into(), "[1, 3]".into()));
        assert_eq!(after([0, 2]), ("2".into(), "[0, 2]".into()));
        assert_eq!(after([1, 0]), ("0".into(), "[1, 0]".into()));
        assert_eq!(after([0, 0]), ("0".into(), "[0, 0]".into()));
    }

    #[test]
    fn the_control_cell_is_written_apart_from_the_data_cell() {
        assert_eq!(after([1, 2], Rdcss::READ, &[]), ("2".into(), "[1, 2]".into()));
        assert_eq!(after([1, 2], Rdcss::WRITE_CONTROL, &[5]), ("null".into(), "[5, 2]".into()));
        assert_eq!(after([1, 2], Rdcss::CAS_CONTROL, &[1, 5]), ("true".into(), "[5, 2]".into()));
        assert_eq!(after([1, 2], Rdcss::CAS_CONTROL, &[2, 5]), ("false".into(), "[1, 2]".into()));
    }

    #[test]
    fn arguments_of_another_shape_have_no_outcome() {
        let rdcss = Rdcss::default();
        for operation in [Rdcss::RDCSS, Rdcss::CAS_CONTROL] {
            let call = Call { operation, argument: Value::list([Value::Int(0)]) };
            assert!(rdcss.apply(&rdcss.initial(), &call, None).is_empty());
        }
    }
}
