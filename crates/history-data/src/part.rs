//! A part of a history as a history of its own, with small ids and ranks.

use crate::{Argument, History, NEVER, OpId, Operation, Rank, ValueId, ValueTable};
use rustc_hash::FxHashMap;

/// Some operations of a history, and the way back.
pub struct Part {
    /// The operations as a history.
    pub history: History,
    /// For each operation of the part, the operation of the whole.
    ids: Vec<OpId>,
    /// For each rank of the part, the rank in the whole.
    ranks: Vec<Rank>,
}

impl Part {
    /// The operations `ids`, given in the order of their calls. Costs as much as the part is large,
    /// whatever the whole is.
    pub fn new(whole: &History, ids: &[OpId]) -> Part {
        let mut ranks: Vec<Rank> = Vec::with_capacity(2 * ids.len());
        for id in ids {
            let operation = &whole[*id];
            ranks.push(operation.invoked);
            if operation.returned != NEVER {
                ranks.push(operation.returned);
            }
        }
        ranks.sort_unstable();
        ranks.dedup();
        let rank = |at: Rank| match at {
            NEVER => NEVER,
            at => Rank::at(ranks.partition_point(|known| *known < at)),
        };
        let mut import = Import::default();
        let operations = ids.iter().map(|id| {
            let mut operation = whole[*id];
            operation.key = ValueId::NULL;
            operation.argument = import.argument(whole, operation.argument);
            operation.response = import.argument(whole, operation.response);
            operation.invoked = rank(operation.invoked);
            operation.returned = rank(operation.returned);
            operation
        });
        let operations = operations.collect();
        let history = History {
            operations,
            values: import.values,
            words: import.words,
            crashes: Vec::new(),
            recovered: Vec::new(),
            events: Rank::at(ranks.len()),
            processes: whole.processes.clone(),
            origin: whole.origin,
        };
        Part { history, ids: ids.to_vec(), ranks }
    }

    /// The operation of the whole.
    pub fn id(&self, id: OpId) -> OpId {
        self.ids[id.index()]
    }

    /// The rank in the whole.
    pub fn rank(&self, rank: Rank) -> Rank {
        self.ranks.get(rank.index()).copied().unwrap_or(NEVER)
    }
}

/// Some operations, with the values and words that they mention, and no others.
pub(crate) fn extract(
    whole: &History,
    ids: &[OpId],
) -> (Vec<Operation>, ValueTable, Vec<[ValueId; 3]>) {
    let mut import = Import::default();
    let operations = ids.iter().map(|id| {
        let mut operation = whole[*id];
        operation.key = import.value(whole, operation.key);
        operation.argument = import.argument(whole, operation.argument);
        operation
    });
    let operations = operations.collect();
    (operations, import.values, import.words)
}

/// Values and words on their way into the part.
#[derive(Default)]
pub struct Import {
    /// The values so far.
    pub values: ValueTable,
    /// The words so far.
    pub words: Vec<[ValueId; 3]>,
    known: FxHashMap<ValueId, ValueId>,
}

impl Import {
    fn value(&mut self, whole: &History, id: ValueId) -> ValueId {
        let values = &mut self.values;
        *self.known.entry(id).or_insert_with(|| values.intern(whole.values.get(id)))
    }

    /// An argument of the whole as one of the part.
    pub fn argument(&mut self, whole: &History, argument: Argument) -> Argument {
        match argument {
            Argument::None => Argument::None,
            Argument::One(a) => Argument::One(self.value(whole, a)),
            Argument::Two(a, b) => Argument::Two(self.value(whole, a), self.value(whole, b)),
            Argument::Words { count, width, .. } => {
                let start = self.words.len() as u32;
                for word in whole.words(argument) {
                    let word = word.map(|id| self.value(whole, id));
                    self.words.push(word);
                }
                Argument::Words { start, count, width }
            }
        }
    }
}
