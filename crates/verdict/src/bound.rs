//! The bounds within which something was checked.

use std::fmt;

/// How many operations each thread calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Calls {
    /// At most so many.
    Each(u32),
    /// Any number: the search ends only if there are finitely many states.
    Unlimited,
}

/// Which integers clients pass where an operation takes any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Values {
    /// Those from 1 to this one.
    UpTo(i64),
    /// All from 1 on.
    Any,
}

impl Values {
    /// How many values are tried where some number is needed: as asked, or a few.
    pub const fn or_few(self) -> i64 {
        match self {
            Values::UpTo(last) => last,
            Values::Any => 2,
        }
    }
}

/// One bound of a check. What is not bounded is not listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// So many threads.
    Threads(usize),
    /// So many operations of each thread.
    Calls(Calls),
    /// So many operations of each thread of this role, whatever the others call.
    RoleCalls(String, Calls),
    /// Clients pass these integers.
    Values(Values),
    /// At most so many heap objects at a time.
    Objects(usize),
    /// At most so many crashes of the system.
    Crashes(u8),
    /// At most so many crashes of a thread.
    ThreadCrashes(u8),
    /// Runs in which a thread is interrupted at most so often in the middle of an operation that it
    /// could go on with.
    Preemptions(usize),
    /// Runs that start after these calls, made by one thread alone: `push(1); pop()`.
    Preload(String),
    /// A constant of the model has this value.
    Constant(String, String),
}

/// A phrase such as "2 threads".
impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Threads(1) => f.write_str("1 thread"),
            Bound::Threads(count) => write!(f, "{count} threads"),
            Bound::Calls(Calls::Each(1)) => f.write_str("1 operation each"),
            Bound::Calls(Calls::Each(count)) => write!(f, "{count} operations each"),
            Bound::Calls(Calls::Unlimited) => f.write_str("any number of operations"),
            Bound::RoleCalls(role, Calls::Each(1)) => write!(f, "1 operation of each {role}"),
            Bound::RoleCalls(role, Calls::Each(count)) => {
                write!(f, "{count} operations of each {role}")
            }
            Bound::RoleCalls(role, Calls::Unlimited) => {
                write!(f, "any number of operations of each {role}")
            }
            Bound::Values(Values::UpTo(1)) => f.write_str("one value"),
            Bound::Values(Values::Any) => f.write_str("any values above 0"),
            Bound::Values(Values::UpTo(last)) => write!(f, "values 1 to {last}"),
            Bound::Objects(1) => f.write_str("at most 1 heap object"),
            Bound::Objects(count) => write!(f, "at most {count} heap objects"),
            Bound::Crashes(1) => f.write_str("1 crash"),
            Bound::Crashes(count) => write!(f, "{count} crashes"),
            Bound::ThreadCrashes(1) => f.write_str("1 crash of a thread"),
            Bound::ThreadCrashes(count) => write!(f, "{count} crashes of threads"),
            Bound::Preemptions(1) => f.write_str("at most 1 preemption"),
            Bound::Preemptions(count) => write!(f, "at most {count} preemptions"),
            Bound::Preload(calls) => write!(f, "after the preload {calls}"),
            Bound::Constant(name, value) => write!(f, "{name} = {value}"),
        }
    }
}
