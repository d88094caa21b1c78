//! A scenario: which thread calls what.

use crate::definition::OperationInfo;
use linchpin_spec::Value;
use smallvec::SmallVec;
use std::fmt;

/// A call of a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// Which operation of the definition.
    pub operation: usize,
    /// With what.
    pub arguments: SmallVec<[Value; 2]>,
}

/// What is called: first one after the other, then by threads at the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scenario {
    /// What is called before the threads start.
    pub before: Vec<Call>,
    /// What each thread calls, in its order.
    pub threads: Vec<Vec<Call>>,
}

/// A call of a scenario, by name.
#[derive(Clone, Debug)]
pub struct NamedCall {
    /// The operation.
    pub name: String,
    /// With what.
    pub arguments: Vec<Value>,
}

impl NamedCall {
    /// A call with these arguments.
    pub fn new(name: &str, arguments: Vec<Value>) -> NamedCall {
        NamedCall { name: name.to_owned(), arguments }
    }
}

impl Call {
    /// The arguments as the one value that a specification takes.
    pub fn argument(&self) -> Value {
        match self.arguments.as_slice() {
            [] => Value::Null,
            [one] => one.clone(),
            several => Value::list(several.iter().cloned()),
        }
    }
}

impl Scenario {
    /// How many calls there are.
    pub fn len(&self) -> usize {
        self.before.len() + self.threads.iter().map(Vec::len).sum::<usize>()
    }

    /// Whether nothing is called.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Without the call that a thread makes at this position.
    pub fn without(&self, thread: usize, at: usize) -> Scenario {
        let mut smaller = self.clone();
        if let Some(calls) = smaller.threads.get_mut(thread)
            && at < calls.len()
        {
            calls.remove(at);
        }
        smaller
    }

    /// As it is written in a test: `{ push(1), pop } | { push(2) }`.
    pub fn shown<'a>(&'a self, operations: &'a [OperationInfo]) -> impl fmt::Display + 'a {
        Shown { scenario: self, operations }
    }
}

struct Shown<'a> {
    scenario: &'a Scenario,
    operations: &'a [OperationInfo],
}

impl Shown<'_> {
    fn call(&self, call: &Call) -> String {
        let name = self.operations.get(call.operation).map_or("?", |operation| &operation.name);
        match call.arguments.as_slice() {
            [] => name.to_owned(),
            arguments => {
                let arguments: Vec<String> = arguments.iter().map(Value::to_string).collect();
                format!("{name}({})", arguments.join(", "))
            }
        }
    }

    fn calls(&self, calls: &[Call]) -> String {
        let calls: Vec<String> = calls.iter().map(|call| self.call(call)).collect();
        if calls.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", calls.join(", ")) }
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scenario.before.is_empty() {
            write!(f, "before {} ", self.calls(&self.scenario.before))?;
        }
        let threads: Vec<String> =
            self.scenario.threads.iter().map(|calls| self.calls(calls)).collect();
        f.write_str(&threads.join(" | "))
    }
}
