//! A test as data: the object, its operations, its specification. What runs a test takes a
//! [`Definition`]; what only talks about it takes its [`Subject`].

use crate::generate::Generator;
use crate::persistent::Persistent;
use crate::scenario::{Call, Scenario};
use crate::specification::Source;
use linchpin_history_data::Object;
use linchpin_spec::{Shape, Value};
use smallvec::SmallVec;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

/// A test of objects of type `T`.
pub struct Definition<T> {
    /// Makes a new object.
    pub make: Make<T>,
    /// How to call each operation, in the order of [`Subject::operations`].
    pub operations: Vec<Run<T>>,
    /// What must hold when no operation is in progress; it panics if that does not hold.
    pub finally: Option<Check<T>>,
    /// Persistent memory and crashes, if the test has them.
    pub persistent: Option<Persistent<T>>,
    /// Everything that does not depend on the type.
    pub subject: Subject,
}

/// Makes an object.
pub type Make<T> = Box<dyn Fn() -> T + Send + Sync>;

/// Panics if something is wrong with an object.
pub type Check<T> = Box<dyn Fn(&T) + Send + Sync>;

/// Calls an operation of an object.
pub type Calling<T> = Box<dyn Fn(&T, &[Value]) -> Value + Send + Sync>;

/// How to call an operation. The arguments are values that its generators made, or that
/// [`OperationInfo::accepts`] accepts.
pub enum Run<T> {
    /// It answers when it returns.
    Call(Calling<T>),
    /// It answers when its future is ready.
    Async(Box<dyn Start<T> + Send + Sync>),
}

/// Starts an operation that is a future.
pub trait Start<T> {
    /// The future.
    fn start<'a>(&'a self, object: &'a T, arguments: &[Value]) -> Answer<'a>;
}

/// The answer of an asynchronous operation.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Value> + 'a>>;

impl<T> Definition<T> {
    /// Makes a call on an object and waits for the answer on this thread.
    #[inline]
    pub fn call(&self, object: &T, call: &Call) -> Value {
        match &self.operations[call.operation] {
            Run::Call(run) => run(object, &call.arguments),
            Run::Async(run) => linchpin_record::block_on(run.start(object, &call.arguments)),
        }
    }
}

/// What a test is about, without the type of the object.
pub struct Subject {
    /// The name of the test, with its module.
    pub name: String,
    /// The specification.
    pub object: Object,
    /// Where the specification comes from.
    pub source: Source,
    /// The operations.
    pub operations: Vec<OperationInfo>,
    /// What is called before the threads start.
    pub before: Vec<Call>,
    /// The scenario, if the test says one.
    pub scenario: Option<Scenario>,
    /// The answers of a recording that has this scenario, thread by thread; what did not return
    /// there has none.
    pub recorded: Option<Vec<Option<Value>>>,
    /// Where the files of failures are, if there are any.
    pub folder: Option<PathBuf>,
}

/// An operation of a test.
#[derive(Clone, Debug)]
pub struct OperationInfo {
    /// Its name.
    pub name: String,
    /// Which operation of the specification it is.
    pub spec: u16,
    /// Where its arguments come from.
    pub arguments: Vec<Generator>,
    /// Whether it can take these arguments.
    pub accepts: fn(&[Value]) -> bool,
    /// Whether it may wait for other threads: it is `blocking` or `async`.
    pub waits: bool,
}

impl OperationInfo {
    /// How many choices of arguments there are.
    pub fn choices(&self) -> u128 {
        self.arguments.iter().fold(1, |all, one| all.saturating_mul(one.count()))
    }

    /// The arguments of the choice with this number.
    pub fn arguments_of(&self, mut number: u128, fresh: &mut u64) -> SmallVec<[Value; 2]> {
        let argument = |generator: &Generator| {
            let count = generator.count().max(1);
            let chosen = number % count;
            number /= count;
            generator.value(chosen, fresh)
        };
        self.arguments.iter().map(argument).collect()
    }
}

impl Subject {
    /// Whether an operation may wait for others.
    pub fn waits(&self) -> bool {
        self.operations.iter().any(|operation| operation.waits)
    }

    /// A scenario of the threads, with what comes before them.
    pub fn complete(&self, scenario: Scenario) -> Scenario {
        Scenario { before: self.before.clone(), ..scenario }
    }

    /// The number of the first fresh value that `before` does not use.
    pub fn first_fresh(&self) -> u64 {
        let used = self.before.iter().flat_map(|call| &call.arguments).filter_map(Value::as_int);
        used.max().and_then(|most| u64::try_from(most).ok()).map_or(1, |most| most + 1)
    }

    /// The call as the specification takes it.
    pub fn spec_call(&self, call: &Call) -> linchpin_spec::Call {
        let operation = usize::from(self.operations[call.operation].spec);
        linchpin_spec::Call { operation, argument: call.argument() }
    }

    /// Whether this answer of the specification ends the waiting of a call that may wait. Where a
    /// queue answers `null` because it is empty, one that waits goes on waiting. Specifications in
    /// Rust say themselves where a call waits.
    pub fn is_answer(&self, call: &Call, answer: &Value) -> bool {
        if let Source::Rust(_) = self.source {
            return true;
        }
        let info = &self.operations[call.operation];
        let signature = &self.object.spec.operations()[usize::from(info.spec)];
        !(info.waits && answer.is_null() && signature.response != Shape::Unit)
    }
}
