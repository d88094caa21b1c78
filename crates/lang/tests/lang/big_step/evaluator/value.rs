//! What variables hold, and what goes wrong.

use linchpin_spec::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A value. Nothing tells a `T?` from a `T`: the language accepts one for the other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Datum {
    /// `null`, `none`, a free lock, the answer of an operation that answers nothing.
    Nothing,
    Bool(bool),
    /// A number, a thread id, the holder of a lock.
    Int(i64),
    /// A heap object.
    Reference(usize),
    /// A record: the names of its components, in order of declaration, and their values.
    Record(Vec<(String, Datum)>),
    /// An array, a tuple or a sequence.
    List(Vec<Datum>),
    Set(BTreeSet<Datum>),
    Map(BTreeMap<Datum, Datum>),
}

impl Datum {
    pub fn truth(&self) -> bool {
        match self {
            Datum::Bool(truth) => *truth,
            other => panic!("{other:?} is not a truth value"),
        }
    }

    pub fn int(&self) -> i64 {
        match self {
            Datum::Int(number) => *number,
            other => panic!("{other:?} is not a number"),
        }
    }

    /// As histories have it; references stay numbers of heap objects.
    pub fn to_value(&self) -> Value {
        match self {
            Datum::Nothing => Value::Null,
            Datum::Bool(truth) => Value::Bool(*truth),
            Datum::Int(number) => Value::Int(*number),
            Datum::Reference(object) => Value::Ref(*object as u32),
            Datum::Record(fields) => Value::list(fields.iter().map(|(_, value)| value.to_value())),
            Datum::List(items) => Value::list(items.iter().map(Datum::to_value)),
            Datum::Set(items) => {
                Value::Set(items.iter().map(Datum::to_value).collect::<BTreeSet<_>>().into())
            }
            Datum::Map(pairs) => {
                Value::map(pairs.iter().map(|(key, value)| (key.to_value(), value.to_value())))
            }
        }
    }
}

/// The faults of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mistake {
    NullDereference,
    /// The index and the length.
    IndexOutOfRange(i64, usize),
    UnwrapOfNone,
    DivisionByZero,
    Overflow,
    AssertionFailed,
    UseAfterFree,
    DoubleFree,
    /// Who holds the lock.
    UnlockNotHeld(Option<i64>),
    RepeatedPlace,
    TooManyChoices,
    ChoiceInInit,
    BlockedInit,
}

impl Mistake {
    /// A name for statistics.
    pub fn name(self) -> &'static str {
        match self {
            Mistake::NullDereference => "fault: null dereference",
            Mistake::IndexOutOfRange(..) => "fault: index out of range",
            Mistake::UnwrapOfNone => "fault: unwrap of none",
            Mistake::DivisionByZero => "fault: division by zero",
            Mistake::Overflow => "fault: overflow",
            Mistake::AssertionFailed => "fault: assertion failed",
            Mistake::UseAfterFree => "fault: use after free",
            Mistake::DoubleFree => "fault: double free",
            Mistake::UnlockNotHeld(_) => "fault: unlock",
            Mistake::RepeatedPlace => "fault: repeated place",
            Mistake::TooManyChoices => "fault: too many choices",
            Mistake::ChoiceInInit => "fault: choice in init",
            Mistake::BlockedInit => "fault: blocked init",
        }
    }
}

/// A fault, with what the language leaves open about it.
///
/// A step ends right before an access, so a fault in the operands of an access belongs, strictly,
/// to the step before. It may also be seen in the step of the access itself, and there together
/// with the other faults of the same access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub mistake: Mistake,
    /// What may be reported instead.
    pub also: Vec<Mistake>,
    /// Whether it may be seen one step later.
    pub late: bool,
    /// Whether it arose in an expression, rather than at an access or in a statement.
    pub pure: bool,
}

impl Fault {
    pub fn new(mistake: Mistake) -> Fault {
        Fault { mistake, also: Vec::new(), late: false, pure: false }
    }
}

/// Why evaluation stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    Fault(Fault),
    /// An `assume`, a `lock` or an empty `choose` that no other thread can help.
    Blocked,
    /// The program runs for longer than a test should.
    OutOfFuel,
}

impl From<Mistake> for Stop {
    fn from(mistake: Mistake) -> Stop {
        Stop::Fault(Fault::new(mistake))
    }
}

/// A value, or why there is none.
pub type Evaluated<T> = Result<T, Stop>;

/// A fault of an expression.
pub fn in_expression<T>(mistake: Mistake) -> Evaluated<T> {
    Err(Stop::Fault(Fault { pure: true, ..Fault::new(mistake) }))
}

/// The element of a list at an index.
pub fn element(items: &[Datum], index: &Datum) -> Evaluated<Datum> {
    match items.get(position(index, items.len())?) {
        Some(item) => Ok(item.clone()),
        None => unreachable!("the position is in range"),
    }
}

/// An index into so many elements.
pub fn position(index: &Datum, length: usize) -> Evaluated<usize> {
    let index = index.int();
    match usize::try_from(index) {
        Ok(inside) if inside < length => Ok(inside),
        _ => in_expression(Mistake::IndexOutOfRange(index, length)),
    }
}
