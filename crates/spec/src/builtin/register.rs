//! Registers: one value that is written and read, with or without compare-and-swap.

use super::{Described, answering, deterministic, looking, pair, silent};
use crate::{Call, Outcome, Shape, Signature, Value};

/// A value that is written and read: `write v`, `read → v`.
///
/// ```
/// use linchpin_spec::{Call, Register, Spec, Value};
///
/// let register = Register::default();
/// let write = Call { operation: Register::WRITE, argument: Value::Int(7) };
/// let seven = register.apply(&register.initial(), &write, None).remove(0).state;
///
/// let read = Call { operation: Register::READ, argument: Value::Null };
/// assert_eq!(register.apply(&seven, &read, None)[0].response, Value::Int(7));
/// assert!(register.apply(&seven, &read, Some(&Value::Int(8))).is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct Register {
    operations: [Signature; 2],
    initial: Value,
}

impl Register {
    /// The index of `write v`.
    pub const WRITE: usize = 0;
    /// The index of `read → v`.
    pub const READ: usize = 1;

    /// A register that holds `initial`.
    pub fn new(initial: Value) -> Register {
        Register { operations: [write(), read()], initial }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        match call.operation {
            Register::WRITE => silent(call.argument.clone()),
            Register::READ => looking(state, state.clone(), known),
            _ => None,
        }
    }
}

deterministic!(Register);

impl Default for Register {
    fn default() -> Register {
        Register::new(Value::Null)
    }
}

impl Described for Register {
    const NAME: &'static str = "register";
    const SUMMARY: &'static str = "one value that is written and read";
    const INITIAL: &'static str = "any value (default: null)";

    fn starting_from(init: &Value) -> Option<Register> {
        Some(Register::new(init.clone()))
    }
}

/// A register with compare-and-swap: `write v`, `read → v`, `cas [old, new] → bool`.
///
/// ```
/// use linchpin_spec::{Call, CasRegister, Spec, Value};
///
/// let register = CasRegister::new(Value::Int(1));
/// let argument = Value::list([Value::Int(1), Value::Int(2)]);
/// let cas = Call { operation: CasRegister::CAS, argument };
///
/// let first = register.apply(&register.initial(), &cas, None).remove(0);
/// assert_eq!((first.state.clone(), first.response), (Value::Int(2), Value::Bool(true)));
/// let second = register.apply(&first.state, &cas, None).remove(0);
/// assert_eq!((second.state, second.response), (Value::Int(2), Value::Bool(false)));
/// ```
#[derive(Clone, Debug)]
pub struct CasRegister {
    operations: [Signature; 3],
    initial: Value,
}

impl CasRegister {
    /// The index of `write v`.
    pub const WRITE: usize = 0;
    /// The index of `read → v`.
    pub const READ: usize = 1;
    /// The index of `cas [old, new] → bool`.
    pub const CAS: usize = 2;

    /// A register that holds `initial`.
    pub fn new(initial: Value) -> CasRegister {
        let cas = Signature::new("cas", Shape::Tuple(vec![Shape::Any, Shape::Any]), Shape::Bool);
        CasRegister { operations: [write(), read(), cas], initial }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        match call.operation {
            CasRegister::WRITE => silent(call.argument.clone()),
            CasRegister::READ => looking(state, state.clone(), known),
            CasRegister::CAS => {
                let (old, new) = pair(&call.argument)?;
                let swapped = state == old;
                Some(Outcome {
                    response: answering(swapped.into(), known)?,
                    state: if swapped { new.clone() } else { state.clone() },
                })
            }
            _ => None,
        }
    }
}

deterministic!(CasRegister);

impl Default for CasRegister {
    fn default() -> CasRegister {
        CasRegister::new(Value::Null)
    }
}

impl Described for CasRegister {
    const NAME: &'static str = "cas-register";
    const SUMMARY: &'static str = "a register with compare-and-swap";
    const INITIAL: &'static str = "any value (default: null)";

    fn starting_from(init: &Value) -> Option<CasRegister> {
        Some(CasRegister::new(init.clone()))
    }
}

fn write() -> Signature {
    Signature::new("write", Shape::Any, Shape::Unit)
}

fn read() -> Signature {
    Signature::new("read", Shape::Unit, Shape::Any)
}
