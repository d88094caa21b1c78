//! Operations and complaints, in words: long values are cut short.

use crate::{History, OpId};
use linchpin_spec::{Shape, Signature, Value};

/// Says operations of a history the way a tester would.
#[derive(Clone, Copy)]
pub struct Sentences<'a> {
    history: &'a History,
    signatures: &'a [Signature],
}

impl<'a> Sentences<'a> {
    /// Sentences about a history of an object with these operations.
    pub fn new(history: &'a History, signatures: &'a [Signature]) -> Sentences<'a> {
        Sentences { history, signatures }
    }

    /// A call without who made it: `cas(1, 2)`.
    pub fn call(&self, id: OpId) -> String {
        match self.signature(id) {
            None => format!("operation {}", self.history[id].operation),
            Some(Signature { name, argument: Shape::Unit, .. }) => name.clone(),
            Some(Signature { name, .. }) => format!("{name}({})", self.argument(id)),
        }
    }

    /// What an operation was called with: `1, 2`; empty if with nothing.
    pub fn argument(&self, id: OpId) -> String {
        let argument = self.history.value(self.history[id].argument);
        match (self.signature(id).map(|signature| &signature.argument), argument) {
            (Some(Shape::Unit), _) => String::new(),
            (Some(Shape::Tuple(_)), Value::List(items)) => {
                let items = items.iter().map(|item| self.history.say(item));
                items.collect::<Vec<_>>().join(", ")
            }
            (_, argument) => self.history.say(&argument),
        }
    }

    fn signature(&self, id: OpId) -> Option<&'a Signature> {
        self.signatures.get(usize::from(self.history[id].operation))
    }

    /// A call and who made it, whatever it answered: `cas(1, 2) by process 1`.
    pub fn caller(&self, id: OpId) -> String {
        format!("{} by {}", self.call(id), self.history.caller(id))
    }

    /// An operation: `read → 3 by process 1`.
    pub fn operation(&self, id: OpId) -> String {
        let operation = &self.history[id];
        let signature = self.signatures.get(usize::from(operation.operation));
        let answers = signature.is_some_and(|signature| signature.response != Shape::Unit);
        let answer = match self.history.response(id) {
            Some(response) if answers => format!(" → {}", self.history.say(&response)),
            _ => String::new(),
        };
        format!("{}{answer} by {}", self.call(id), self.history.caller(id))
    }

    /// Operations, with `and` before the last.
    pub fn operations(&self, ids: &[OpId]) -> String {
        let ids: Vec<String> = ids.iter().map(|id| self.operation(*id)).collect();
        match ids.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
            None => String::new(),
        }
    }
}
