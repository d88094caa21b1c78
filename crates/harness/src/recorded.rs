//! The scenario of a recording: what a model did, to be tried on the code.

use crate::definition::OperationInfo;
use crate::error::DefinitionError;
use crate::json;
use crate::scenario::NamedCall;
use linchpin_spec::{Shape, Signature, Value};
use std::path::Path;

/// What a recording says: the calls of each process, and their answers in the same order.
pub(crate) struct Recorded {
    pub(crate) threads: Vec<Vec<NamedCall>>,
    pub(crate) answers: Vec<Option<Value>>,
}

/// A process of a recording.
#[derive(Default)]
struct Process {
    name: Value,
    calls: Vec<NamedCall>,
    answers: Vec<Option<Value>>,
    /// Whether the last call is of an operation that answers nothing.
    answers_nothing: bool,
}

impl Recorded {
    /// Reads JSON lines.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or a line is no event of these operations.
    pub(crate) fn read(
        path: &Path,
        operations: &[OperationInfo],
        signatures: &[Signature],
    ) -> Result<Recorded, DefinitionError> {
        let mistake = |reason: String| {
            let path = path.display().to_string();
            DefinitionError::Recording { path, reason }
        };
        let text = std::fs::read_to_string(path).map_err(|error| mistake(error.to_string()))?;
        let mut processes: Vec<Process> = Vec::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            event(line, operations, signatures, &mut processes)
                .ok_or_else(|| mistake(format!("line {} is no event of the test", number + 1)))?;
        }
        let answers = processes.iter().flat_map(|process| process.answers.iter().cloned());
        let answers = answers.collect();
        let threads: Vec<_> = processes.into_iter().map(|process| process.calls).collect();
        if threads.is_empty() {
            return Err(mistake("it has no events".to_owned()));
        }
        Ok(Recorded { threads, answers })
    }
}

/// Takes an event to its process; nothing if it makes no sense.
fn event(
    line: &str,
    operations: &[OperationInfo],
    signatures: &[Signature],
    processes: &mut Vec<Process>,
) -> Option<()> {
    let Value::Map(fields) = json::read(line)? else { return None };
    let field = |name: &str| fields.get(&Value::str(name));
    let (name, kind) = (field("process")?.clone(), field("type")?);
    let value = field("value").cloned().unwrap_or_default();
    let at = match processes.iter().position(|process| process.name == name) {
        Some(at) => at,
        None => {
            processes.push(Process { name, ..Process::default() });
            processes.len() - 1
        }
    };
    let process = &mut processes[at];
    if *kind == Value::str("invoke") {
        let called = field("f")?;
        let same = |known: &&OperationInfo| {
            [known.name.clone(), known.name.replace('_', "-")]
                .iter()
                .any(|n| *called == Value::str(n))
        };
        let operation = operations.iter().find(same)?;
        let arguments = match (operation.arguments.len(), &value) {
            (0, _) => Vec::new(),
            (1, _) => vec![value],
            (_, Value::List(items)) => items.to_vec(),
            _ => return None,
        };
        process.calls.push(NamedCall::new(&operation.name, arguments));
        process.answers.push(None);
        let signature = signatures.get(usize::from(operation.spec));
        process.answers_nothing = signature.is_some_and(|known| known.response == Shape::Unit);
    } else if *kind == Value::str("ok") {
        // What answers nothing has its argument there, as everywhere where histories are recorded.
        let value = if process.answers_nothing { Value::Null } else { value };
        *process.answers.last_mut()? = Some(value);
    }
    Some(())
}
