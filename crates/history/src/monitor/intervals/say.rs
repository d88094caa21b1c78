//! Sentences about collections, the way a tester would say them.

use super::{NO_OP, Object, Part};
use crate::{History, OpId, ValueId};

/// Talks about the operations of a history.
#[derive(Clone, Copy)]
pub(in crate::monitor) struct Speech<'a> {
    pub history: &'a History,
    pub object: &'a Object,
}

impl Speech<'_> {
    /// A value.
    pub fn value(&self, value: ValueId) -> String {
        self.history.values.get(value).to_string()
    }

    /// "by process 3".
    pub fn by(&self, op: OpId) -> String {
        let process = self.history.operations[op as usize].process as usize;
        let name = self.history.processes.get(process);
        name.map_or_else(|| format!("by process {process}"), |name| format!("by process {name}"))
    }

    /// "enqueue(7) by process 0", "dequeue of 7 by process 2", "dequeue → null by process 2".
    pub fn operation(&self, op: OpId) -> String {
        let operation = &self.history.operations[op as usize];
        let kind = operation.operation as usize;
        let by = self.by(op);
        if kind == self.object.add.0 {
            return format!(
                "{}({}) {by}",
                self.object.add.1,
                self.history.value(operation.argument)
            );
        }
        let is_peek = self.object.peek.filter(|(peek, _)| *peek == kind);
        let name = is_peek.map_or(self.object.remove.1, |(_, name)| name);
        match self.history.value(operation.response) {
            linchpin_spec::Value::Null if operation.completed => format!("{name} → null {by}"),
            value if operation.completed => format!("{name} of {value} {by}"),
            _ => format!("the {name} without an answer {by}"),
        }
    }

    /// "2 dequeues".
    pub fn count(count: usize, name: &str) -> String {
        if count == 1 { format!("1 {name}") } else { format!("{count} {name}s") }
    }

    /// "1, 2 and 3".
    pub fn list(items: &[String]) -> String {
        match items {
            [] => String::new(),
            [one] => one.clone(),
            [others @ .., last] => format!("{} and {last}", others.join(", ")),
        }
    }

    /// "1 from the return of enqueue(1) by process 0 to the call of dequeue of 1 by process 3": when the value of a
    /// life of an untuned part was certainly inside.
    fn stay(&self, part: &Part, life: u32) -> String {
        let value = self.value(part.lives[life as usize].value);
        match part.ends(life) {
            (NO_OP, NO_OP) => format!("{value} all the time"),
            (NO_OP, last) => {
                format!("{value} from the start to the call of {}", self.operation(last))
            }
            (first, NO_OP) => format!("{value} from the return of {} on", self.operation(first)),
            (first, last) => {
                let (first, last) = (self.operation(first), self.operation(last));
                format!("{value} from the return of {first} to the call of {last}")
            }
        }
    }

    /// When each of these values was certainly inside.
    pub fn stays(&self, part: &Part, lives: &[u32]) -> String {
        let stays: Vec<String> = lives.iter().map(|&life| self.stay(part, life)).collect();
        let was = if stays.len() == 1 { "was" } else { "were" };
        format!("{} {was} certainly in the {}", Self::list(&stays), self.object.name)
    }

    /// Why `op`, which found nothing, is wrong: values were inside all the time.
    pub fn not_empty(&self, part: &Part, op: OpId, lives: &[u32]) -> String {
        let op = self.operation(op);
        let when = if lives.len() == 1 {
            "from before its call to after its return"
        } else {
            "in turn, leaving no instant for it"
        };
        format!("{op} found nothing, but {}, {when}", self.stays(part, lives))
    }

    /// What pending removals, if the part has any, do not change.
    pub fn despite(&self, part: &Part) -> String {
        let name = self.object.remove.1;
        match part.removers.as_slice() {
            [] => String::new(),
            [one] => format!("; whatever {} removed does not change that", self.operation(one.op)),
            more => {
                let count = Self::count(more.len(), name);
                format!("; whatever the {count} without an answer removed does not change that")
            }
        }
    }
}
