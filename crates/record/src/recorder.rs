//! The recorder that people use: a handle for each thread, a history at the end.

use crate::{Clock, Entry, Log, ToValue, history};
use linchpin_history_data::{History, HistoryError, Object};
use linchpin_spec::{Signature, Value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Records what threads do with an object. Clones record the same history.
///
/// ```
/// use linchpin_history_data::Object;
/// use linchpin_record::Recorder;
/// use std::{collections::VecDeque, sync::Mutex, thread};
///
/// let queue = Mutex::new(VecDeque::new());
/// let recorder = Recorder::new(&Object::builtin("queue", None)?);
/// thread::scope(|scope| {
///     for value in [7, 8] {
///         let (queue, mut process) = (&queue, recorder.process());
///         scope.spawn(move || {
///             process.call("enqueue", value, || queue.lock().unwrap().push_back(value));
///             process.call("dequeue", (), || queue.lock().unwrap().pop_front());
///         });
///     }
/// });
/// let history = recorder.finish()?;
/// assert_eq!(history.operations.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recorder(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    clock: Clock,
    signatures: Vec<Signature>,
    logs: Mutex<Vec<Arc<Mutex<Log>>>>,
    /// The first call that the object does not have.
    mistake: Mutex<Option<HistoryError>>,
}

/// A process of the history: the handle of one thread.
#[derive(Debug)]
pub struct Process {
    shared: Arc<Shared>,
    log: Arc<Mutex<Log>>,
}

impl Recorder {
    /// A recorder of histories of this object.
    pub fn new(object: &Object) -> Recorder {
        Recorder(Arc::new(Shared {
            clock: Clock::new(),
            signatures: object.spec.operations().to_vec(),
            logs: Mutex::default(),
            mistake: Mutex::default(),
        }))
    }

    /// A new process, for one thread. Processes are called `0`, `1` and so on.
    pub fn process(&self) -> Process {
        let mut logs = locked(&self.0.logs);
        let log = Log { process: logs.len().to_string(), entries: Vec::new() };
        let log = Arc::new(Mutex::new(log));
        logs.push(Arc::clone(&log));
        Process { shared: Arc::clone(&self.0), log }
    }

    /// The history so far. A call that has not returned is a pending operation.
    ///
    /// # Errors
    ///
    /// If an operation was called that the object does not have.
    pub fn finish(&self) -> Result<History, HistoryError> {
        if let Some(mistake) = &*locked(&self.0.mistake) {
            return Err(mistake.clone());
        }
        let logs: Vec<Log> =
            locked(&self.0.logs).iter().map(|log| Log::clone(&locked(log))).collect();
        history(&self.0.signatures, &logs)
    }
}

impl Process {
    /// Calls an operation and records it. The answer is what `run` answers. If it panics, or never
    /// returns, the operation stays pending: it may have taken effect or not.
    ///
    /// An operation that the object does not have is not recorded: [`Recorder::finish`] says so.
    pub fn call<R: ToValue>(
        &mut self,
        operation: &str,
        argument: impl ToValue,
        run: impl FnOnce() -> R,
    ) -> R {
        let Some(operation) = self.operation(operation) else {
            return run();
        };
        let at = self.open(operation, argument.to_value());
        let invoked = self.shared.clock.tick();
        let answer = run();
        let returned = self.shared.clock.tick();
        if let Some(entry) = locked(&self.log).entries.get_mut(at) {
            entry.invoked = invoked;
            entry.answer = Some((returned, answer.to_value()));
        }
        answer
    }

    /// Writes down a call before it is made, so that it is there if it never returns. Its stamp is
    /// not larger than the one that it gets.
    fn open(&self, operation: u16, argument: Value) -> usize {
        let mut log = locked(&self.log);
        let invoked = self.shared.clock.now();
        log.entries.push(Entry { operation, argument, invoked, answer: None });
        log.entries.len() - 1
    }

    fn operation(&self, name: &str) -> Option<u16> {
        let signatures = &self.shared.signatures;
        let found = signatures.iter().position(|signature| signature.is_called(name));
        if found.is_none() {
            let known: Vec<&str> = signatures.iter().map(|known| known.name.as_str()).collect();
            let (name, known) = (name.to_owned(), known.join(", "));
            let mistake = HistoryError::UnknownOperation { name, known };
            locked(&self.shared.mistake).get_or_insert(mistake);
        }
        found.and_then(|at| u16::try_from(at).ok())
    }
}

/// What a mutex holds. A panic while it was held left nothing half done here.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
