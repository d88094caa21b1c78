//! Sentences about collections, the way a tester would say them.

use super::{Object, Part};
use linchpin_history_data::{History, OpId, ValueId};
use std::cell::RefCell;

/// Talks about the operations of a history, and remembers which.
pub(crate) struct Speech<'a> {
    pub history: &'a History,
    pub object: &'a Object,
    named: RefCell<Vec<OpId>>,
}

impl<'a> Speech<'a> {
    /// Nothing is said yet.
    pub fn new(history: &'a History, object: &'a Object) -> Speech<'a> {
        Speech { history, object, named: RefCell::default() }
    }

    /// The operations that were named so far, each once.
    pub fn named(&self) -> Vec<OpId> {
        let mut named = self.named.borrow().clone();
        named.sort_unstable();
        named.dedup();
        named
    }

    /// A value.
    pub fn value(&self, value: ValueId) -> String {
        self.history.values.get(value).to_string()
    }

    /// "by process 3".
    pub fn by(&self, op: OpId) -> String {
        format!("by {}", self.history.caller(op))
    }

    /// "enqueue(7) by process 0", "dequeue → 7 by process 2", "dequeue → null by process 2".
    pub fn operation(&self, op: OpId) -> String {
        self.named.borrow_mut().push(op);
        let operation = &self.history[op];
        let kind = usize::from(operation.operation);
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
            value if operation.completed => format!("{name} → {} {by}", self.history.say(&value)),
            _ => format!("the {name} without an answer {by}"),
        }
    }

    /// That an operation was over: "dequeue → 7 by process 2 returned".
    pub fn ended(&self, op: OpId) -> String {
        let how = if self.history[op].completed { "returned" } else { "was interrupted" };
        format!("{} {how}", self.operation(op))
    }

    /// How an operation was over: "the return of dequeue → 7 by process 2".
    fn end(&self, op: OpId) -> String {
        let end = if self.history[op].completed { "return" } else { "interruption" };
        format!("the {end} of {}", self.operation(op))
    }

    /// An operation, or that it was there from the start.
    pub fn maybe(&self, op: Option<OpId>) -> String {
        op.map_or_else(|| "the start".to_owned(), |op| self.operation(op))
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

    /// "from the return of enqueue(1) by process 0 to the call of dequeue → 1 by process 3": when
    /// the value of a life of an untuned part was certainly inside.
    fn stay(&self, part: &Part, life: u32) -> String {
        match part.ends(life) {
            (None, None) => "all the time".to_owned(),
            (None, Some(last)) => format!("from the start to the call of {}", self.operation(last)),
            (Some(first), None) => format!("from {} on", self.end(first)),
            (Some(first), Some(last)) => {
                let (first, last) = (self.end(first), self.operation(last));
                format!("from {first} to the call of {last}")
            }
        }
    }

    /// "1 was certainly in the queue from … to …": when each of these values was.
    pub fn stays(&self, part: &Part, lives: &[u32]) -> String {
        let value = |life: u32| self.value(part.lives[life as usize].value);
        let name = self.object.name;
        if let [life] = *lives {
            return format!(
                "{} was certainly in the {name} {}",
                value(life),
                self.stay(part, life)
            );
        }
        let stay = |&life: &u32| format!("{} {}", value(life), self.stay(part, life));
        let stays: Vec<String> = lives.iter().map(stay).collect();
        format!("one of these was certainly in the {name}: {}", Self::list(&stays))
    }

    /// Why `op`, which found nothing, is wrong: values were inside all the time.
    pub fn not_empty(&self, part: &Part, op: OpId, lives: &[u32]) -> String {
        let (op, stays) = (self.operation(op), self.stays(part, lives));
        format!("{op} cannot have found nothing: whenever it took effect, {stays}")
    }

    /// That the pending removals of the part, if it has any, are no excuse.
    pub fn despite(&self, part: &Part) -> String {
        match part.removers.as_slice() {
            [] => String::new(),
            [one] => format!("; {} cannot account for this", self.operation(one.op)),
            more => {
                let count = Self::count(more.len(), self.object.remove.1);
                format!("; the {count} without an answer cannot account for this")
            }
        }
    }
}
