//! Values as small numbers: every different value of a history is kept once, and checkers work on its id.

use linchpin_spec::Value;
use rustc_hash::FxHashMap;

/// The id of a value in a [`ValueTable`]. Equal ids are equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub u32);

impl ValueId {
    /// The id of [`Value::Null`], in every table.
    pub const NULL: ValueId = ValueId(0);
    /// The id of `false`, in every table.
    pub const FALSE: ValueId = ValueId(1);
    /// The id of `true`, in every table.
    pub const TRUE: ValueId = ValueId(2);

    /// The id as an index, for tables with an entry a value.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Integers from 0 up to this are found by position, without hashing.
const DIRECT: i64 = 1 << 22;

/// The values of a history.
#[derive(Clone, Debug)]
pub struct ValueTable {
    values: Vec<Value>,
    /// For each small integer its id plus one; 0 if it has none yet.
    direct: Vec<u32>,
    others: FxHashMap<Value, u32>,
}

impl Default for ValueTable {
    fn default() -> ValueTable {
        let values = vec![Value::Null, Value::Bool(false), Value::Bool(true)];
        ValueTable { values, direct: Vec::new(), others: FxHashMap::default() }
    }
}

impl ValueTable {
    /// The id of an integer.
    pub fn intern_int(&mut self, int: i64) -> ValueId {
        if !(0..DIRECT).contains(&int) {
            return self.intern_other(Value::Int(int));
        }
        let at = int as usize;
        if at >= self.direct.len() {
            self.direct.resize((at + 1).next_power_of_two().min(DIRECT as usize), 0);
        }
        if self.direct[at] == 0 {
            self.values.push(Value::Int(int));
            self.direct[at] = self.values.len() as u32;
        }
        ValueId(self.direct[at] - 1)
    }

    /// The id of a value.
    pub fn intern(&mut self, value: Value) -> ValueId {
        match value {
            Value::Null => ValueId::NULL,
            Value::Bool(b) => ValueId(1 + u32::from(b)),
            Value::Int(int) => self.intern_int(int),
            other => self.intern_other(other),
        }
    }

    fn intern_other(&mut self, value: Value) -> ValueId {
        let next = self.values.len() as u32;
        let values = &mut self.values;
        ValueId(*self.others.entry(value).or_insert_with_key(|value| {
            values.push(value.clone());
            next
        }))
    }

    /// The id of a value that is already in the table.
    pub fn find(&self, value: &Value) -> Option<ValueId> {
        match value {
            Value::Null => Some(ValueId::NULL),
            Value::Bool(b) => Some(ValueId(1 + u32::from(*b))),
            Value::Int(int) if (0..DIRECT).contains(int) => {
                let entry = *self.direct.get(*int as usize)?;
                entry.checked_sub(1).map(ValueId)
            }
            other => self.others.get(other).copied().map(ValueId),
        }
    }

    /// The value with this id.
    pub fn get(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// How many values there are; ids are smaller than this.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Never: `null`, `false` and `true` are always there.
    pub fn is_empty(&self) -> bool {
        false
    }
}
