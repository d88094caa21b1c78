//! Names: ids of values that occur only inside answers, and operations as a tester would call them.

use linchpin_history_data::{History, OpId, ValueId};
use linchpin_spec::Value;
use rustc_hash::FxHashMap;

/// The values of a history and a few more.
pub(super) struct Names<'h> {
    pub(super) history: &'h History,
    /// Values that the table of the history does not have: they were read in an answer and occur
    /// nowhere else.
    more: Vec<Value>,
    ids: FxHashMap<Value, u32>,
}

impl<'h> Names<'h> {
    pub(super) fn new(history: &'h History) -> Names<'h> {
        Names { history, more: Vec::new(), ids: FxHashMap::default() }
    }

    /// The id of a value.
    pub(super) fn id(&mut self, value: &Value) -> ValueId {
        if let Some(id) = self.history.values.find(value) {
            return id;
        }
        let next = (self.history.values.len() + self.more.len()) as u32;
        if let Some(id) = self.ids.get(value) {
            return ValueId(*id);
        }
        self.ids.insert(value.clone(), next);
        self.more.push(value.clone());
        ValueId(next)
    }

    /// How many values there are; ids are smaller than this.
    pub(super) fn len(&self) -> usize {
        self.history.values.len() + self.more.len()
    }

    /// The value with this id.
    pub(super) fn value(&self, id: ValueId) -> Value {
        match id.index().checked_sub(self.history.values.len()) {
            None => self.history.values.get(id),
            Some(at) => self.more[at].clone(),
        }
    }

    /// A value without the quotes of a string, for sentences.
    pub(super) fn show(&self, id: ValueId) -> String {
        match self.value(id) {
            Value::Str(text) => text.to_string(),
            value => value.to_string(),
        }
    }

    /// An operation with its process: "mwcas(x: 0→1, y: 0→1) by process 2".
    pub(super) fn operation(&self, id: OpId) -> String {
        let operation = &self.history[id];
        let swap = usize::from(operation.operation) == linchpin_spec::Mwcas::MWCAS;
        let words = if swap { operation.argument } else { operation.response };
        let word = |word: &[ValueId; 3]| {
            let [location, value, new] = word.map(|id| self.show(id));
            if swap {
                format!("{location}: {value}→{new}")
            } else {
                format!("{location} = {value}")
            }
        };
        let words: Vec<String> = self.history.words(words).iter().map(word).collect();
        let name = if swap { "mwcas" } else { "mwread" };
        let unfinished = if operation.completed { "" } else { "unfinished " };
        format!("{unfinished}{name}({}) by {}", words.join(", "), self.history.caller(id))
    }
}
