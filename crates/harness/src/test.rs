//! The builder of a test: what `linchpin::test!` is short for.

use crate::argument::Arguments;
use crate::controlled;
use crate::covered::Covered;
use crate::definition::{Answer, Check, Definition, Make, OperationInfo, Run, Start, Subject};
use crate::error::DefinitionError;
use crate::failure::{Failure, Kind};
use crate::files;
use crate::generate::Generators;
use crate::model::{Model, Print, State, Step};
use crate::native;
use crate::persistent::Parts;
use crate::plan::{Mode, Plan};
use crate::recorded::Recorded;
use crate::resolve::{found, named};
use crate::scenario::{Call, NamedCall, Scenario};
use crate::specification::{Source, Specification};
use linchpin_history_data::Object;
use linchpin_record::ToValue;
use linchpin_spec::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// A test of a concurrent object. `S` is its specification: [`Specification`] or [`Model`].
///
/// ```
/// use linchpin_harness::{Plan, Test, fresh};
/// use std::{collections::VecDeque, sync::Mutex};
///
/// let covered = Test::new("queue", || Mutex::new(VecDeque::<u64>::new()))
///     .spec("queue")
///     .plan(Plan::native().threads(2).ops(3).runs(100))
///     .op("enqueue", (fresh,), |queue, (value,)| queue.lock().unwrap().push_back(value))
///     .op("dequeue", (), |queue, ()| queue.lock().unwrap().pop_front())
///     .check()?;
/// assert!(covered.rounds >= 100);
/// # Ok::<(), Box<linchpin_harness::Failure>>(())
/// ```
pub struct Test<T, S = ()> {
    name: String,
    make: Make<T>,
    plan: Plan,
    runs: Vec<Run<T>>,
    operations: Vec<OperationInfo>,
    finally: Option<Check<T>>,
    before: Vec<NamedCall>,
    scenario: Vec<Vec<NamedCall>>,
    recording: Option<PathBuf>,
    folder: Option<PathBuf>,
    pub(crate) persistent: Parts<T>,
    specification: S,
}

impl<T: Send + Sync + 'static> Test<T> {
    /// A test of what `make` makes. The name is what failures and files are called by.
    pub fn new(name: &str, make: impl Fn() -> T + Send + Sync + 'static) -> Test<T> {
        Test {
            name: name.to_owned(),
            make: Box::new(make),
            plan: Plan::default(),
            runs: Vec::new(),
            operations: Vec::new(),
            finally: None,
            before: Vec::new(),
            scenario: Vec::new(),
            recording: None,
            folder: Some(files::folder()),
            persistent: Parts::default(),
            specification: (),
        }
    }

    /// Judged by this specification: the name of a built-in one, a `.lin` file
    /// ([`lin`](crate::lin)), or an [`Object`].
    pub fn spec(self, specification: impl Into<Specification>) -> Test<T, Specification> {
        self.judged_by(specification.into())
    }

    /// Judged by a sequential type, of which each operation has a second closure.
    pub fn model<M: State + std::fmt::Debug>(self, initial: M) -> Test<T, Model<M>> {
        self.judged_by(Model::new(initial, Some(M::fmt)))
    }

    /// The same for a type that may not be printable.
    #[doc(hidden)]
    pub fn model_printed<M: State>(self, initial: M, print: Print<M>) -> Test<T, Model<M>> {
        self.judged_by(Model::new(initial, print))
    }

    fn judged_by<S>(self, specification: S) -> Test<T, S> {
        let Test { name, make, plan, runs, operations, finally, .. } = self;
        let (before, scenario, folder) = (self.before, self.scenario, self.folder);
        let (recording, persistent) = (self.recording, self.persistent);
        Test {
            name,
            make,
            plan,
            runs,
            operations,
            finally,
            before,
            scenario,
            recording,
            folder,
            persistent,
            specification,
        }
    }
}

impl<T: Send + Sync + 'static> Test<T, Specification> {
    /// An operation of the specification, where its arguments come from, and how to call it.
    #[must_use]
    pub fn op<A: Arguments, R: ToValue>(
        mut self,
        name: &str,
        arguments: impl Generators<A>,
        run: impl Fn(&T, A) -> R + Send + Sync + 'static,
    ) -> Self {
        self.add_call(name, arguments, run, false);
        self
    }

    /// The same of an operation that may wait for other threads. Where the specification answers
    /// `null`, as an empty queue does, it waits.
    #[must_use]
    pub fn blocking_op<A: Arguments, R: ToValue>(
        mut self,
        name: &str,
        arguments: impl Generators<A>,
        run: impl Fn(&T, A) -> R + Send + Sync + 'static,
    ) -> Self {
        self.add_call(name, arguments, run, true);
        self
    }

    /// The same of an operation that is a future, and may wait.
    #[must_use]
    pub fn async_op<A: Arguments, R: ToValue>(
        mut self,
        name: &str,
        arguments: impl Generators<A>,
        run: impl AsyncFn(&T, A) -> R + Send + Sync + 'static,
    ) -> Self {
        self.add_async(name, arguments, run);
        self
    }
}

impl<T: Send + Sync + 'static, M: State> Test<T, Model<M>> {
    /// An operation, where its arguments come from, how to call it, and what it does to the
    /// sequential type.
    #[must_use]
    pub fn op<A: Arguments, R: ToValue, Q: ToValue>(
        mut self,
        name: &str,
        arguments: impl Generators<A>,
        run: impl Fn(&T, A) -> R + Send + Sync + 'static,
        step: impl Fn(&mut M, A) -> Q + Send + Sync + 'static,
    ) -> Self {
        self.add_call(name, arguments, run, false);
        self.add_step(name, move |state: &mut M, values: A| Some(step(state, values)));
        self
    }

    /// The same of an operation that may wait for other threads: it waits where `step` is `None`,
    /// and answers what is in `Some`.
    #[must_use]
    pub fn blocking_op<A: Arguments, R: ToValue, Q: ToValue>(
        mut self,
        name: &str,
        arguments: impl Generators<A>,
        run: impl Fn(&T, A) -> R + Send + Sync + 'static,
        step: impl Fn(&mut M, A) -> Option<Q> + Send + Sync + 'static,
    ) -> Self {
        self.add_call(name, arguments, run, true);
        self.add_step(name, step);
        self
    }

    /// The same of an operation that is a future.
    #[must_use]
    pub fn async_op<A: Arguments, R: ToValue, Q: ToValue>(
        mut self,
        name: &str,
        arguments: impl Generators<A>,
        run: impl AsyncFn(&T, A) -> R + Send + Sync + 'static,
        step: impl Fn(&mut M, A) -> Option<Q> + Send + Sync + 'static,
    ) -> Self {
        self.add_async(name, arguments, run);
        self.add_step(name, step);
        self
    }

    fn add_step<A: Arguments, Q: ToValue>(
        &mut self,
        name: &str,
        step: impl Fn(&mut M, A) -> Option<Q> + Send + Sync + 'static,
    ) {
        let count = self.operations.last().map_or(0, |operation| operation.arguments.len());
        let step: Step<M> = Box::new(move |state, values| {
            step(state, A::from_values(values)?).map(|answer| answer.to_value())
        });
        self.specification.add(name, count, !Q::is_nothing(), step);
    }
}

/// An operation that is a future, with its arguments still to be read.
struct AsyncRun<A, F> {
    run: F,
    arguments: std::marker::PhantomData<fn() -> A>,
}

impl<T, A: Arguments, R: ToValue, F: AsyncFn(&T, A) -> R> Start<T> for AsyncRun<A, F> {
    fn start<'a>(&'a self, object: &'a T, values: &[Value]) -> Answer<'a> {
        let arguments = A::from_values(values);
        Box::pin(async move {
            match arguments {
                Some(arguments) => (self.run)(object, arguments).await.to_value(),
                None => Value::Null,
            }
        })
    }
}

impl<T: Send + Sync + 'static, S> Test<T, S> {
    fn add_call<A: Arguments, R: ToValue>(
        &mut self,
        name: &str,
        arguments: impl Generators<A>,
        run: impl Fn(&T, A) -> R + Send + Sync + 'static,
        waits: bool,
    ) {
        // INVARIANT: the arguments are accepted, for the definition was checked.
        let run = move |object: &T, values: &[Value]| {
            A::from_values(values).map_or(Value::Null, |values| run(object, values).to_value())
        };
        self.runs.push(Run::Call(Box::new(run)));
        self.add_info::<A>(name, arguments, waits);
    }

    fn add_async<A: Arguments, R: ToValue>(
        &mut self,
        name: &str,
        arguments: impl Generators<A>,
        run: impl AsyncFn(&T, A) -> R + Send + Sync + 'static,
    ) {
        let run = AsyncRun { run, arguments: std::marker::PhantomData };
        self.runs.push(Run::Async(Box::new(run)));
        self.add_info::<A>(name, arguments, true);
    }

    fn add_info<A: Arguments>(&mut self, name: &str, from: impl Generators<A>, waits: bool) {
        self.operations.push(OperationInfo {
            name: name.to_owned(),
            spec: 0,
            arguments: from.generators(),
            accepts: |values| A::from_values(values).is_some(),
            waits,
        });
    }

    /// Run so.
    #[must_use]
    pub fn plan(mut self, plan: Plan) -> Self {
        self.plan = plan;
        self
    }

    /// These calls come before the threads start.
    #[must_use]
    pub fn before(mut self, calls: Vec<NamedCall>) -> Self {
        self.before = calls;
        self
    }

    /// The threads of a recording, and no others: JSON lines, as `linchpin run` writes them. What
    /// was covered says whether the code can answer what was recorded.
    #[must_use]
    pub fn recorded(mut self, path: impl Into<PathBuf>) -> Self {
        self.recording = Some(path.into());
        self
    }

    /// These are the threads, and no others.
    #[must_use]
    pub fn scenario(mut self, threads: Vec<Vec<NamedCall>>) -> Self {
        self.scenario = threads;
        self
    }

    /// Writes the files of a failure to this folder, and looks there for the last one. Without a
    /// folder there are no files.
    #[must_use]
    pub fn folder(mut self, folder: Option<PathBuf>) -> Self {
        self.folder = folder;
        self
    }

    /// What must hold after each run, when no operation is in progress: it panics if it does not.
    #[must_use]
    pub fn finally(mut self, check: impl Fn(&T) + Send + Sync + 'static) -> Self {
        self.finally = Some(Box::new(check));
        self
    }
}

/// What a test can be judged by.
pub trait Specified {
    /// The object and where it came from.
    ///
    /// # Errors
    ///
    /// If there is none.
    fn object(self, name: &str) -> Result<(Object, Source), DefinitionError>;
}

impl Specified for Specification {
    fn object(self, _: &str) -> Result<(Object, Source), DefinitionError> {
        self.find()
    }
}

impl<M: State> Specified for Model<M> {
    fn object(self, name: &str) -> Result<(Object, Source), DefinitionError> {
        let source = Source::Rust(std::any::type_name::<M>().to_owned());
        Ok((Object::custom(name, self), source))
    }
}

impl<T: Send + Sync + 'static, S: Specified> Test<T, S> {
    /// The test as data, and how to run it.
    ///
    /// # Errors
    ///
    /// If the test cannot be run as it is written.
    pub fn definition(self) -> Result<(Definition<T>, Plan), DefinitionError> {
        let (object, source) = self.specification.object(&self.name)?;
        let mut operations = self.operations;
        if operations.is_empty() {
            return Err(DefinitionError::NoOperations);
        }
        for operation in &mut operations {
            operation.spec = found(operation, &object)?;
        }
        let before = named(&operations, &self.before)?;
        let mut named_threads = self.scenario;
        let mut recorded = None;
        if let Some(path) = &self.recording {
            let signatures = object.spec.operations();
            let Recorded { threads, answers } = Recorded::read(path, &operations, signatures)?;
            (named_threads, recorded) = (threads, Some(answers));
        }
        let threads: Vec<Vec<Call>> = named_threads
            .iter()
            .map(|calls| named(&operations, calls))
            .collect::<Result<_, _>>()?;
        let mut plan = self.plan.in_environment()?;
        let scenario = (!threads.is_empty()).then(|| Scenario { before: before.clone(), threads });
        if let Some(scenario) = &scenario {
            plan.options.threads = scenario.threads.len();
            plan.options.ops = scenario.threads.iter().map(Vec::len).max().unwrap_or(0);
        }
        if plan.options.threads == 0 {
            return Err(DefinitionError::NoThreads);
        }
        if plan.options.ops == 0 {
            return Err(DefinitionError::NoCalls);
        }
        let persistent = self.persistent.resolved(&operations, plan.mode)?;
        if persistent.is_some() && plan.options.cancel {
            return Err(DefinitionError::CrashesAndCancel);
        }
        let (name, folder) = (self.name, self.folder);
        let subject =
            Subject { name, object, source, operations, before, scenario, recorded, folder };
        let (make, operations, finally) = (self.make, self.runs, self.finally);
        Ok((Definition { make, operations, finally, persistent, subject }, plan))
    }

    /// Runs the test: what was covered, or what went wrong.
    ///
    /// # Errors
    ///
    /// What went wrong.
    pub fn check(self) -> Result<Covered, Box<Failure>> {
        let name = self.name.clone();
        let (definition, plan) = self
            .definition()
            .map_err(|mistake| Box::new(Failure::of(&name, Kind::Mistake(mistake))))?;
        let definition = Arc::new(definition);
        let outcome = match plan.mode {
            Mode::Native => native::run(&definition, &plan.options).map(|mut covered| {
                let note = "the system never crashes in this mode".to_owned();
                covered.notes.extend(definition.has_crashes().then_some(note));
                covered
            }),
            mode => controlled::run(&definition, mode, &plan.options),
        };
        outcome.map_err(|failure| Box::new(files::written(*failure)))
    }

    /// Runs the test and prints what was covered.
    ///
    /// # Panics
    ///
    /// If something went wrong, with what a person wants to know of it.
    #[track_caller]
    pub fn run(self) {
        match self.check() {
            Ok(covered) => println!("{covered}"),
            Err(failure) => panic!("{failure}"),
        }
    }
}
