//! Sets of the specification with threads and values renamed, as the states beside them are.

use crate::interned::{ConfigId, Ids, RowId};
use crate::sets::{Config, Inner, RESPONSE, Row};
use linchpin_space::{Marks, Renaming, SpecMarks};
use linchpin_spec::{Call, Value};
use smallvec::SmallVec;

impl Inner {
    pub(crate) fn renamed(&mut self, set: u32, renaming: &Renaming, threads: usize) -> u32 {
        self.renamed_with(set, renaming, &mut Names::new(&renaming.values), threads)
    }

    /// The same, where other sets give names to values too.
    pub(crate) fn renamed_with(
        &mut self,
        set: u32,
        renaming: &Renaming,
        names: &mut Names,
        threads: usize,
    ) -> u32 {
        let (row, configs) = self.sets.ids(set);
        let moved = &renaming.threads[..];
        // Which integers of an answer are renamed may depend on the call, so on the row.
        let of_row = (!self.marks.responses.is_empty()).then_some(row);
        let mut given = Given { renaming: names.renaming(moved), of_row };
        let mut number = self.renamed.number(&given);
        // Calls first, in the new order of the threads, then what the configurations hold. What
        // comes of each depends on the names that were given before it. It is remembered where none
        // is given on the way.
        let parts = configs.iter().map(|config| config << 1);
        let (mut pending, mut renamed) = (row, Ids::new());
        for part in std::iter::once(row << 1 | 1).chain(parts) {
            let of = part >> 1;
            let is_row = part & 1 == 1;
            let known = self.renamed.get(part, number);
            let now = known.unwrap_or_else(|| match is_row {
                true => self.renamed_row(of, moved, names, threads),
                false => self.renamed_config(of, row, moved, names, threads),
            });
            match is_row {
                true => pending = now,
                false => renamed.push(now),
            }
            if names.names != given.renaming.values {
                given.renaming = names.renaming(moved);
                number = self.renamed.number(&given);
            } else if known.is_none() {
                self.renamed.put(part, number, now);
            }
        }
        self.sets.number(pending, renamed)
    }

    /// A row of pending calls with threads and values renamed.
    fn renamed_row(
        &mut self,
        row: RowId,
        moved: &[u8],
        names: &mut Names,
        threads: usize,
    ) -> RowId {
        let (old, marks) = (self.sets.row(row).clone(), self.marks.clone());
        let mut pending = Row::from_elem(0, threads);
        let mut order: SmallVec<[usize; 8]> = (0..threads).collect();
        order.sort_by_key(|&thread| position(moved, thread));
        for thread in order {
            if let Some(call) = old[thread].checked_sub(1) {
                let Call { operation, argument } = self.calls.items[call as usize].clone();
                let argument = names.value(&argument, marks.argument(operation));
                let call = self.calls.number(Call { operation, argument });
                pending[position(moved, thread)] = call + 1;
            }
        }
        self.sets.number_row(pending)
    }

    /// A configuration with threads and values renamed.
    fn renamed_config(
        &mut self,
        config: ConfigId,
        row: RowId,
        moved: &[u8],
        names: &mut Names,
        threads: usize,
    ) -> ConfigId {
        let old = self.sets.config(config);
        let (pending, marks) = (self.sets.row(row).clone(), self.marks.clone());
        let mut responses = Row::from_elem(0, threads);
        for (thread, &response) in old.responses.iter().enumerate() {
            if response != 0 {
                let value = self.values.items[((response & RESPONSE) - 1) as usize].clone();
                let value = names.value(&value, self.answer_marks(&marks, &pending, thread));
                let value = self.values.number(value) + 1;
                responses[position(moved, thread)] = value | (response & !RESPONSE);
            }
        }
        let state = names.value(&self.states.get(old.state), &marks.state);
        let position = |thread: usize| position(moved, thread);
        let orphans = self.renamed_orphans(old.orphans, &position, names);
        let state = self.states.number(&state);
        self.sets.number_config(Config { state, responses, orphans })
    }

    /// Which integers may be renamed in what a thread is answered.
    fn answer_marks<'a>(&self, marks: &'a SpecMarks, row: &Row, thread: usize) -> &'a Marks {
        let call = row[thread].checked_sub(1);
        let operation = call.map(|call| self.calls.items[call as usize].operation);
        operation.map_or(&Marks::All, |operation| marks.response(operation))
    }

    pub(crate) fn largest(&mut self, set: u32, values: usize) -> usize {
        if let Some(largest) = self.sets.largest(set) {
            return largest;
        }
        let of = self.sets.get(set);
        let marks = self.marks.clone();
        let mut largest = 0;
        let mut look = |value: &Value, marks: &Marks| {
            marks.visit(value, &mut |i| match usize::try_from(i) {
                Ok(i) if i <= values => largest = largest.max(i),
                _ => {}
            });
        };
        for call in of.pending.iter().filter_map(|call| call.checked_sub(1)) {
            let call = &self.calls.items[call as usize];
            look(&call.argument, marks.argument(call.operation));
        }
        for config in &of.configs {
            look(&self.states.get(config.state), &marks.state);
            for (_, call) in &self.orphans.items[config.orphans as usize] {
                let call = &self.calls.items[*call as usize];
                look(&call.argument, marks.argument(call.operation));
            }
            for (thread, response) in config.responses.iter().enumerate() {
                if let Some(value) = (response & RESPONSE).checked_sub(1) {
                    let value = &self.values.items[value as usize];
                    look(value, self.answer_marks(&marks, &of.pending, thread));
                }
            }
        }
        self.sets.note_largest(set, largest);
        largest
    }
}

/// The new number of a thread.
fn position(moved: &[u8], thread: usize) -> usize {
    moved.get(thread).map_or(thread, |position| usize::from(*position))
}

/// What a part of a set is renamed by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Given {
    renaming: Renaming,
    /// The row of pending calls, where it matters.
    of_row: Option<RowId>,
}

/// New names for values, given out as they are met.
pub(crate) struct Names {
    names: SmallVec<[u8; 8]>,
    next: u8,
}

impl Names {
    pub fn new(given: &[u8]) -> Names {
        Names { names: given.into(), next: given.iter().copied().max().unwrap_or(0) + 1 }
    }

    /// The names that were given so far, with new numbers of threads.
    fn renaming(&self, moved: &[u8]) -> Renaming {
        Renaming { threads: SmallVec::from_slice(moved), values: self.names.clone() }
    }

    /// The value with new names for what is marked.
    pub fn value(&mut self, value: &Value, marks: &Marks) -> Value {
        if self.names.is_empty() {
            return value.clone();
        }
        marks.replaced(value, &mut |i| self.name(i))
    }

    fn name(&mut self, i: i64) -> i64 {
        match usize::try_from(i).ok().and_then(|i| i.checked_sub(1)) {
            Some(at) if at < self.names.len() => {
                if self.names[at] == 0 {
                    self.names[at] = self.next;
                    self.next += 1;
                }
                i64::from(self.names[at])
            }
            _ => i,
        }
    }
}
