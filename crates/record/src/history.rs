//! From the logs of threads to one history.

use linchpin_history_data::{Builder, History, HistoryError, ValueId};
use linchpin_spec::{Signature, Value};

/// What one process did, in its order.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Its name.
    pub process: String,
    /// Its calls.
    pub entries: Vec<Entry>,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which operation: index into the signatures.
    pub operation: u16,
    /// With what.
    pub argument: Value,
    /// The stamp of the call. Of a call that did not return it may be smaller than it was.
    pub invoked: u64,
    /// The stamp of the return and the answer; `None` if it did not return.
    pub answer: Option<(u64, Value)>,
}

/// An event of a log. The order of the fields is the order of events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    stamp: u64,
    /// The stamp of a pending call may be that of another event. Then the call comes first: earlier
    /// than it was is right too.
    kind: Kind,
    log: usize,
    entry: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    PendingCall,
    Call,
    Return,
}

/// The history that logs make. A process that goes on after a call that did not return, because it
/// panicked, goes on under another name.
///
/// # Errors
///
/// If there are more events than a history can have.
pub fn history(signatures: &[Signature], logs: &[Log]) -> Result<History, HistoryError> {
    let mut builder = Builder::new(signatures);
    let mut processes: Vec<u32> = logs.iter().map(|log| builder.process(&log.process)).collect();
    for event in events(logs) {
        let Some(log) = logs.get(event.log) else { continue };
        let entry = &log.entries[event.entry];
        let Some(signature) = signatures.get(usize::from(entry.operation)) else { continue };
        let process = processes[event.log];
        match (event.kind, &entry.answer) {
            (Kind::Return, Some((_, answer))) => {
                let answer = builder.argument(answer.clone(), &signature.response);
                builder.ok_compact(process, answer)?;
            }
            _ => {
                let argument = builder.argument(entry.argument.clone(), &signature.argument);
                builder.invoke_compact(process, entry.operation, ValueId::NULL, argument)?;
            }
        }
        if event.kind == Kind::PendingCall && event.entry + 1 < log.entries.len() {
            processes[event.log] = builder.process(&format!("{}/{}", log.process, event.entry + 1));
        }
    }
    Ok(builder.finish())
}

fn events(logs: &[Log]) -> Vec<Event> {
    let mut events = Vec::with_capacity(logs.iter().map(|log| 2 * log.entries.len()).sum());
    for (log, Log { entries, .. }) in logs.iter().enumerate() {
        for (entry, Entry { invoked, answer, .. }) in entries.iter().enumerate() {
            let kind = if answer.is_some() { Kind::Call } else { Kind::PendingCall };
            events.push(Event { stamp: *invoked, kind, log, entry });
            if let Some((returned, _)) = answer {
                events.push(Event { stamp: *returned, kind: Kind::Return, log, entry });
            }
        }
    }
    events.sort_unstable();
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use linchpin_spec::{Queue, Spec};

    fn entry(operation: usize, invoked: u64, answer: Option<(u64, Value)>) -> Entry {
        Entry { operation: operation as u16, argument: Value::Int(1), invoked, answer }
    }

    #[test]
    fn a_process_goes_on_under_another_name_after_a_panic() {
        let entries = vec![
            entry(Queue::ENQUEUE, 0, None),
            entry(Queue::DEQUEUE, 3, Some((4, Value::Int(1)))),
        ];
        let log = Log { process: "0".to_owned(), entries };
        let history = history(Queue::default().operations(), &[log]).expect("a history");
        assert_eq!(history.processes, ["0", "0/1"]);
        assert!(!history.operations[0].completed && history.operations[1].completed);
    }

    #[test]
    fn a_pending_call_comes_before_what_has_its_stamp() {
        let one = Log {
            process: "0".to_owned(),
            entries: vec![entry(Queue::DEQUEUE, 0, Some((1, Value::Null)))],
        };
        let other = Log { process: "1".to_owned(), entries: vec![entry(Queue::ENQUEUE, 0, None)] };
        let history = history(Queue::default().operations(), &[one, other]).expect("a history");
        assert_eq!(usize::from(history.operations[0].operation), Queue::ENQUEUE);
    }
}
