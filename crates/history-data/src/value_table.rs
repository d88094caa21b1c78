//! Values as small numbers: every different value of a history is kept once, and checkers work on
//! its id.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use linchpin_spec::Value;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

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
    values: Values,
    /// For each small integer its id plus one; 0 if it has none yet.
    direct: Vec<u32>,
    integers: Integers,
    /// All other values, by hash.
    others: HashTable<Hashed>,
}

/// A value that is no integer. The hash is kept because values are slow to look at: a table that
/// grows asks for all of them.
#[derive(Clone, Copy, Debug)]
struct Hashed {
    hash: u32,
    id: u32,
}

/// A hash for the table, which looks at both ends of 64 bits.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The values by id. Most are integers, so an integer takes eight bytes and everything else a
/// little more.
///
/// INVARIANT: an entry is an integer of 63 bits times two, or the position of a value in `others`
/// times two plus one.
#[derive(Clone, Debug, Default)]
struct Values {
    entries: Vec<u64>,
    others: Vec<Value>,
}

impl Values {
    fn push(&mut self, value: Value) {
        let entry = match value {
            Value::Int(int) if entry(int).is_some() => entry(int).unwrap_or_default(),
            other => {
                self.others.push(other);
                (self.others.len() as u64 - 1) << 1 | 1
            }
        };
        self.entries.push(entry);
    }

    fn get(&self, at: usize) -> Value {
        match self.other(at) {
            Some(other) => other.clone(),
            None => Value::Int(self.entries[at] as i64 >> 1),
        }
    }

    /// The value at this place, unless it is a short integer.
    fn other(&self, at: usize) -> Option<&Value> {
        let entry = self.entries[at];
        (entry & 1 == 1).then(|| &self.others[(entry >> 1) as usize])
    }

    fn is_int(&self, at: usize, int: i64) -> bool {
        match entry(int) {
            Some(entry) => self.entries[at] == entry,
            None => self.other(at) == Some(&Value::Int(int)),
        }
    }

    fn as_int(&self, at: usize) -> Option<i64> {
        match self.other(at) {
            Some(other) => other.as_int(),
            None => Some(self.entries[at] as i64 >> 1),
        }
    }

    fn len(&self) -> usize {
        self.entries.len()
    }
}

/// The entry of an integer that is short enough.
fn entry(int: i64) -> Option<u64> {
    let doubled = int << 1;
    (doubled >> 1 == int).then_some(doubled as u64)
}

/// The ids plus one of integers that are not small, 0 where there is none: an open-addressing
/// table.
///
/// INVARIANT: the length is a power of two, or 0; at most half of it is used.
#[derive(Clone, Debug, Default)]
struct Integers {
    slots: Vec<u32>,
    used: usize,
}

impl Integers {
    /// Where an integer is, or would be. Sixteen neighbours share a cache line, as they are mostly
    /// asked for together.
    fn slot(&self, values: &Values, int: i64) -> usize {
        let mask = self.slots.len() - 1;
        let line = ((int >> 4) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 28;
        let mut at = ((line as usize) << 4 | (int & 15) as usize) & mask;
        loop {
            match self.slots[at] {
                0 => return at,
                id if values.is_int(id as usize - 1, int) => return at,
                // The next line, so that a full line is left at once.
                _ => at = (at + 17) & mask,
            }
        }
    }

    fn find(&self, values: &Values, int: i64) -> Option<ValueId> {
        if self.slots.is_empty() {
            return None;
        }
        self.slots[self.slot(values, int)].checked_sub(1).map(ValueId)
    }

    fn intern(&mut self, values: &mut Values, int: i64) -> ValueId {
        if self.used * 2 >= self.slots.len() {
            self.grow(values);
        }
        let slot = self.slot(values, int);
        if self.slots[slot] == 0 {
            values.push(Value::Int(int));
            self.slots[slot] = values.len() as u32;
            self.used += 1;
        }
        ValueId(self.slots[slot] - 1)
    }

    fn grow(&mut self, values: &Values) {
        let larger = (self.slots.len() * 2).max(1024);
        let old = std::mem::replace(&mut self.slots, vec![0; larger]);
        for id in old.into_iter().filter(|id| *id != 0) {
            if let Some(int) = values.as_int(id as usize - 1) {
                let slot = self.slot(values, int);
                self.slots[slot] = id;
            }
        }
    }
}

impl Default for ValueTable {
    fn default() -> ValueTable {
        let mut values = Values::default();
        [Value::Null, Value::Bool(false), Value::Bool(true)]
            .into_iter()
            .for_each(|it| values.push(it));
        let (direct, integers) = (Vec::new(), Integers::default());
        ValueTable { values, direct, integers, others: HashTable::new() }
    }
}

/// A hash of a value that is a string, and is found as one without being made into a value.
fn hash_text(text: &str) -> u32 {
    folded(FxBuildHasher.hash_one(text.as_bytes()))
}

fn folded(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}

fn hash(value: &Value) -> u32 {
    match value {
        Value::Str(text) => hash_text(text),
        value => folded(FxBuildHasher.hash_one(value)),
    }
}

impl ValueTable {
    /// The id of an integer.
    #[inline]
    pub fn intern_int(&mut self, int: i64) -> ValueId {
        let entry = usize::try_from(int).ok().and_then(|at| self.direct.get(at));
        match entry {
            Some(entry) if *entry != 0 => ValueId(*entry - 1),
            _ => self.intern_new_int(int),
        }
    }

    fn intern_new_int(&mut self, int: i64) -> ValueId {
        if !(0..DIRECT).contains(&int) {
            return self.integers.intern(&mut self.values, int);
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

    /// The id of a string.
    pub fn intern_text(&mut self, text: &str) -> ValueId {
        let same = |known: &Value| matches!(known, Value::Str(known) if **known == *text);
        self.intern_hashed(hash_text(text), same, || Value::str(text))
    }

    /// The id of a value.
    pub fn intern(&mut self, value: Value) -> ValueId {
        match value {
            Value::Null => ValueId::NULL,
            Value::Bool(b) => ValueId(1 + u32::from(b)),
            Value::Int(int) => self.intern_int(int),
            Value::Str(text) => self.intern_text(&text),
            other => {
                let of = hash(&other);
                let same = other.clone();
                self.intern_hashed(of, |known| *known == same, || other)
            }
        }
    }

    fn intern_hashed(
        &mut self,
        of: u32,
        same: impl Fn(&Value) -> bool,
        make: impl FnOnce() -> Value,
    ) -> ValueId {
        let values = &mut self.values;
        let is_same =
            |known: &Hashed| known.hash == of && values.other(known.id as usize).is_some_and(&same);
        match self.others.entry(spread(of), is_same, |known| spread(known.hash)) {
            Entry::Occupied(entry) => ValueId(entry.get().id),
            Entry::Vacant(entry) => {
                let id = values.len() as u32;
                values.push(make());
                entry.insert(Hashed { hash: of, id });
                ValueId(id)
            }
        }
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
            Value::Int(int) => self.integers.find(&self.values, *int),
            other => {
                let of = hash(other);
                let same = |known: &Hashed| {
                    known.hash == of && self.values.other(known.id as usize) == Some(other)
                };
                self.others.find(spread(of), same).map(|known| ValueId(known.id))
            }
        }
    }

    /// The value with this id.
    pub fn get(&self, id: ValueId) -> Value {
        self.values.get(id.index())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_its_own_number() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut table = ValueTable::default();
        let mut known: std::collections::HashMap<Value, ValueId> = std::collections::HashMap::new();
        for round in 0..40_000 {
            let int = match random.u8(..4) {
                0 => random.i64(0..100),
                1 => DIRECT + random.i64(-50..5_000),
                2 => random.i64(-2_000..0) << 40,
                _ if random.bool() => i64::MIN + random.i64(0..2_000),
                // Where 63 bits are enough, and where not.
                _ => (1 << 62) * random.i64(-1..=1) + random.i64(-20..20),
            };
            let value = match random.u8(..8) {
                0 => Value::str(&int.to_string()),
                1 => Value::list([Value::Int(int)]),
                2 => [Value::Null, false.into(), true.into()][round % 3].clone(),
                _ => Value::Int(int),
            };
            assert_eq!(table.find(&value).is_some(), {
                known.contains_key(&value) || matches!(value, Value::Null | Value::Bool(_))
            });
            let id = table.intern(value.clone());
            assert_eq!(*known.entry(value.clone()).or_insert(id), id);
            assert_eq!((table.get(id), table.find(&value)), (value, Some(id)));
        }
    }
}
