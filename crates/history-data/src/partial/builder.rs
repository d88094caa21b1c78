//! Making partial histories, many of them in the same place.

use super::{PartialError, PartialHistory, Precedence};
use crate::history::find_operation;
use crate::{Argument, NEVER, OpId, Operation, Rank, ValueId};
use linchpin_spec::{Signature, Value};
use rustc_hash::FxHashMap;

/// Makes partial histories. One builder serves many: [`PartialBuilder::clear`] keeps what is
/// allocated, and the names and values that are known.
///
/// ```
/// use linchpin_history_data::PartialBuilder;
/// use linchpin_spec::{Queue, Spec, Value};
///
/// let queue = Queue::default();
/// let mut builder = PartialBuilder::new(queue.operations());
/// let one = builder.completed("a", "enqueue", Value::Int(1), Value::Null)?;
/// let two = builder.completed("a", "enqueue", Value::Int(2), Value::Null)?;
/// let took = builder.completed("b", "dequeue", Value::Null, Value::Int(2))?;
/// builder.precedes(one, two)?;
/// builder.precedes(two, took)?;
/// let history = builder.build()?;
/// assert!(history.order().precedes(one, took));
/// # Ok::<(), linchpin_history_data::PartialError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PartialBuilder {
    signatures: Vec<Signature>,
    names: FxHashMap<String, u32>,
    /// The operations so far; the order is that of the last [`PartialBuilder::build`].
    built: PartialHistory,
    /// What was said to precede each operation.
    before: Vec<u64>,
}

impl PartialBuilder {
    /// A builder for histories of an object with these operations.
    pub fn new(signatures: &[Signature]) -> PartialBuilder {
        PartialBuilder {
            signatures: signatures.to_vec(),
            names: FxHashMap::default(),
            built: PartialHistory::default(),
            before: Vec::new(),
        }
    }

    /// The index of a process; the first mention makes it.
    pub fn process(&mut self, name: &str) -> u32 {
        if let Some(at) = self.names.get(name) {
            return *at;
        }
        let processes = &mut self.built.history.processes;
        let at = processes.len() as u32;
        processes.push(name.to_owned());
        self.names.insert(name.to_owned(), at);
        at
    }

    /// The index of an operation of the specification.
    ///
    /// # Errors
    ///
    /// If there is none with this name.
    pub fn operation(&self, name: &str) -> Result<u16, PartialError> {
        Ok(find_operation(&self.signatures, name)?)
    }

    /// An operation that returned.
    ///
    /// # Errors
    ///
    /// If the specification has none with this name, or there are too many.
    pub fn completed(
        &mut self,
        process: &str,
        name: &str,
        argument: Value,
        response: Value,
    ) -> Result<OpId, PartialError> {
        let (process, operation) = (self.process(process), self.operation(name)?);
        self.push(process, operation, argument, Some(response))
    }

    /// An operation that did not return: it may have taken effect or not.
    ///
    /// # Errors
    ///
    /// If the specification has none with this name, or there are too many.
    pub fn pending(
        &mut self,
        process: &str,
        name: &str,
        argument: Value,
    ) -> Result<OpId, PartialError> {
        let (process, operation) = (self.process(process), self.operation(name)?);
        self.push(process, operation, argument, None)
    }

    /// An operation by the indices of its process and of what it calls; pending if it has no
    /// response. This is the form for those who make millions.
    ///
    /// # Errors
    ///
    /// If there are too many, or no such operation of the specification.
    pub fn push(
        &mut self,
        process: u32,
        operation: u16,
        argument: Value,
        response: Option<Value>,
    ) -> Result<OpId, PartialError> {
        let at = self.before.len();
        if at >= Precedence::MOST {
            return Err(PartialError::TooMany(at + 1));
        }
        let Some(signature) = self.signatures.get(usize::from(operation)) else {
            return Err(PartialError::NoSuchCall(operation));
        };
        let history = &mut self.built.history;
        let argument = history.argument(argument, &signature.argument);
        let completed = response.is_some();
        let response = response
            .map_or(Argument::None, |response| history.argument(response, &signature.response));
        let invoked = Rank::at(2 * at);
        history.operations.push(Operation {
            process,
            operation,
            completed,
            key: ValueId::NULL,
            argument,
            response,
            invoked,
            returned: if completed { invoked + 1 } else { NEVER },
        });
        history.events = Rank::at(2 * at + 2);
        self.before.push(0);
        Ok(OpId::new(at))
    }

    /// Says on which of many objects an operation was called. Without this there is one object.
    ///
    /// # Errors
    ///
    /// If there is no such operation.
    pub fn set_key(&mut self, id: OpId, key: Value) -> Result<(), PartialError> {
        let history = &mut self.built.history;
        let found = history.operations.get_mut(id.index());
        found.ok_or(PartialError::NoSuchOperation(id))?.key = history.values.intern(key);
        Ok(())
    }

    /// Says that one operation precedes another. What follows from that need not be said.
    ///
    /// # Errors
    ///
    /// If there is no such operation.
    pub fn precedes(&mut self, first: OpId, second: OpId) -> Result<(), PartialError> {
        let count = self.before.len();
        if first.index() >= count {
            return Err(PartialError::NoSuchOperation(first));
        }
        let before = self.before.get_mut(second.index());
        *before.ok_or(PartialError::NoSuchOperation(second))? |= 1 << first.index();
        Ok(())
    }

    /// Says that the operations of each process come one after the other, as they were added.
    pub fn program_order(&mut self) {
        let operations = &self.built.history.operations;
        for (at, operation) in operations.iter().enumerate() {
            let earlier = operations[..at].iter().rposition(|it| it.process == operation.process);
            self.before[at] |= earlier.map_or(0, |earlier| 1 << earlier);
        }
    }

    /// The history, until something is added or cleared.
    ///
    /// # Errors
    ///
    /// If an operation would precede itself.
    pub fn build(&mut self) -> Result<&PartialHistory, PartialError> {
        self.built.order.close(&self.before)?;
        Ok(&self.built)
    }

    /// Forgets the operations and their order. Values stay known: a builder keeps every different
    /// value that it was ever given.
    pub fn clear(&mut self) {
        let history = &mut self.built.history;
        history.operations.clear();
        history.words.clear();
        history.events = Rank::FIRST;
        self.before.clear();
    }
}
