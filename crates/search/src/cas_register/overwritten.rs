//! What a register cannot hold any more, in whatever order operations took effect: seen without
//! following configurations.
//!
//! A value is *over* once an operation that wrote or saw another was called after all that may have
//! written it had returned, and has returned itself: at its instant the register held something
//! else, and no operation has brought the value back. It is over until an operation is called to
//! write it. An operation that was called after that and finds the value all the same, before any
//! operation was, is explained by nothing. That is far from all that can go wrong, but takes about
//! as many steps as there are events times values in use, however many operations are in progress.

use super::{Kind, RegisterSearch};
use crate::problem::{Item, Role};
use linchpin_history_data::Sentences;
use linchpin_history_data::{History, NEVER, OpId, Rank};
use linchpin_spec::{CasRegister, Spec};
use rustc_hash::FxHashMap;

/// An operation that found a value which no operation can have left there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overwritten {
    /// Who found it.
    pub found: OpId,
    /// Who wrote or saw another one in between; no operation if it had never been there.
    pub by: Option<OpId>,
}

impl Overwritten {
    /// Why nothing explains that, in a sentence.
    pub fn explain(&self, history: &History) -> String {
        let register = CasRegister::default();
        let sentences = Sentences::new(history, register.operations());
        let found = sentences.operation(self.found);
        match self.by {
            None => format!("{found}: no operation had been called to write what it found"),
            Some(by) => format!(
                "{found}: all that wrote what it found had returned before {}, and no operation was called to write it again",
                sentences.operation(by)
            ),
        }
    }
}

/// Goes through the events before `stop`. At the start the register held one of the values `held`,
/// brought there by operations that had returned by `since`. What it may hold then, but for values
/// that only operations in progress write.
pub(super) fn sweep(
    search: &RegisterSearch<'_>,
    items: &[Item],
    held: &[u32],
    since: Rank,
    stop: Rank,
) -> Result<Vec<u32>, Overwritten> {
    let mut events: Vec<(Rank, u32)> = Vec::with_capacity(2 * items.len());
    for (at, item) in items.iter().enumerate() {
        let operation = &search.history[item.id];
        events.push((operation.invoked, at as u32));
        let until = match item.role {
            Role::Completed => operation.returned,
            Role::Optional(deadline) => deadline,
        };
        if until != NEVER {
            events.push((until, at as u32));
        }
    }
    events.sort_unstable();
    let held = held.iter().map(|value| (*value, Held { writing: 0, written: Some(since) }));
    let mut sweep = Sweep { held: held.collect(), over: FxHashMap::default(), since };
    for (rank, at) in events.into_iter().take_while(|(rank, _)| *rank < stop) {
        let item = items[at as usize];
        let Some(kind) = search.kind(item) else { continue };
        let called = search.history[item.id].invoked;
        if rank == called {
            sweep.call(kind);
            continue;
        }
        if item.role == Role::Completed {
            sweep.find(item.id, kind, called)?;
        }
        sweep.finish(kind, rank);
        if item.role == Role::Completed {
            sweep.retire(item.id, kind, called, rank);
        }
    }
    let values = sweep.held.into_iter().filter(|(_, held)| held.written.is_some());
    let mut values: Vec<u32> = values.map(|(value, _)| value).collect();
    values.sort_unstable();
    Ok(values)
}

/// Who may have brought a value.
struct Held {
    /// How many that write it are in progress.
    writing: u32,
    /// When the last of those that are not returned, if there was one.
    written: Option<Rank>,
}

struct Sweep {
    /// The values that the register may hold, and that operations in progress write.
    held: FxHashMap<u32, Held>,
    /// The values that are over: since when, and who shows it.
    over: FxHashMap<u32, (Rank, OpId)>,
    /// What was called before this may have found what was over by then.
    since: Rank,
}

impl Sweep {
    fn call(&mut self, kind: Kind) {
        if let Kind::Write(new) | Kind::Swap(_, new) = kind {
            self.over.remove(&new);
            self.held.entry(new).or_insert(Held { writing: 0, written: None }).writing += 1;
        }
    }

    /// Whether what the operation found can have been there.
    fn find(&self, id: OpId, kind: Kind, called: Rank) -> Result<(), Overwritten> {
        let (Kind::Is(value) | Kind::Swap(value, _)) = kind else {
            return Ok(());
        };
        if self.held.contains_key(&value) {
            return Ok(());
        }
        match self.over.get(&value) {
            None if called < self.since => Ok(()),
            None => Err(Overwritten { found: id, by: None }),
            Some((since, by)) if *since < called => Err(Overwritten { found: id, by: Some(*by) }),
            // It found it before.
            Some(_) => Ok(()),
        }
    }

    fn finish(&mut self, kind: Kind, rank: Rank) {
        if let Kind::Write(new) | Kind::Swap(_, new) = kind
            && let Some(held) = self.held.get_mut(&new)
        {
            held.writing -= 1;
            held.written = Some(rank);
        }
    }

    /// The operation has returned: what all had written by its call, and was not there at its
    /// instant, is over.
    fn retire(&mut self, id: OpId, kind: Kind, called: Rank, rank: Rank) {
        let over = &mut self.over;
        self.held.retain(|value, held| {
            let was_another = match kind {
                Kind::Write(new) | Kind::Swap(_, new) | Kind::Is(new) => *value != new,
                Kind::IsNot(expected) => *value == expected,
            };
            let is_over = was_another
                && held.writing == 0
                && held.written.is_some_and(|written| written < called);
            if is_over {
                over.insert(*value, (rank, id));
            }
            !is_over
        });
    }
}
