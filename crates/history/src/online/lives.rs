//! The lives of the values of a window, for the collections: what the rules of queue, stack and
//! priority queue look at.

use super::window::Fate;
use linchpin_history_data::{Argument, History, NEVER, OpId, Operation, Rank, ValueId};
use rustc_hash::FxHashMap;

/// What adds, removes and looks in a collection.
#[derive(Clone, Copy)]
pub(super) struct Verbs {
    pub(super) add: usize,
    pub(super) remove: usize,
    pub(super) peek: Option<usize>,
}

/// The life of a value: from its addition over what looked at it to its removal.
#[derive(Clone, Debug)]
pub(super) struct Life {
    pub(super) value: ValueId,
    /// All operations on it.
    pub(super) operations: Vec<OpId>,
    /// When its addition was called.
    pub(super) add_invoked: Rank,
    /// The first return of an operation on it: by then it had been added. [`NEVER`] if none
    /// returned.
    pub(super) first_returned: Rank,
    /// The first return of an operation that saw or removed it.
    pub(super) first_seen: Rank,
    /// The last call of an operation on it: it was not removed before.
    pub(super) last_invoked: Rank,
    /// When its removal was called and when that returned; [`NEVER`] if no completed operation
    /// removed it.
    pub(super) removed: (Rank, Rank),
    /// Whether no operation on it can still return: its removal returned, its addition is not open,
    /// and so is no look that may have seen it.
    pub(super) is_over: bool,
}

impl Life {
    /// Whether the value was certainly inside at some time.
    pub(super) fn was_inside(&self) -> bool {
        self.first_returned < self.last_invoked
    }
}

/// The lives of a window, and what found nothing.
pub(super) struct Lives {
    pub(super) lives: Vec<Life>,
    /// Completed operations that found nothing.
    pub(super) empties: Vec<OpId>,
    /// The first call of an operation that may still return that there was nothing.
    pub(super) first_open: Rank,
}

impl Lives {
    pub(super) fn new(history: &History, fates: &[Fate], verbs: Verbs) -> Lives {
        let mut lives: Vec<Life> = Vec::new();
        let mut of_value: FxHashMap<ValueId, usize> = FxHashMap::default();
        let (mut empties, mut first_open, mut first_open_look) = (Vec::new(), NEVER, NEVER);
        for (id, operation) in history.operations.iter().enumerate() {
            let fate = fates[id];
            let kind = usize::from(operation.operation);
            let is_open = matches!(fate, Fate::Open(_));
            if matches!(fate, Fate::Retracted(_)) {
                continue;
            }
            if kind != verbs.add && !operation.completed {
                if is_open {
                    first_open = first_open.min(operation.invoked);
                    if Some(kind) == verbs.peek {
                        first_open_look = first_open_look.min(operation.invoked);
                    }
                }
                continue;
            }
            let is_add = kind == verbs.add;
            let said = if is_add { operation.argument } else { operation.response };
            let Argument::One(value) = said else { continue };
            if !is_add && value == ValueId::NULL {
                empties.push(OpId::new(id));
                continue;
            }
            let at = *of_value.entry(value).or_insert_with(|| {
                lives.push(Life::of(value));
                lives.len() - 1
            });
            lives[at].note(OpId::new(id), operation, kind, verbs, is_open);
        }
        for life in &mut lives {
            life.is_over &= life.removed.1 < first_open_look;
        }
        Lives { lives, empties, first_open }
    }
}

impl Life {
    fn of(value: ValueId) -> Life {
        Life {
            value,
            operations: Vec::new(),
            add_invoked: NEVER,
            first_returned: NEVER,
            first_seen: NEVER,
            last_invoked: Rank::FIRST,
            removed: (NEVER, NEVER),
            is_over: true,
        }
    }

    fn note(&mut self, id: OpId, operation: &Operation, kind: usize, verbs: Verbs, open: bool) {
        self.operations.push(id);
        self.first_returned = self.first_returned.min(operation.returned);
        self.last_invoked = self.last_invoked.max(operation.invoked);
        if kind == verbs.add {
            self.add_invoked = operation.invoked;
            self.is_over &= !open;
        } else {
            self.first_seen = self.first_seen.min(operation.returned);
        }
        if kind == verbs.remove {
            self.removed = (operation.invoked, operation.returned);
        }
    }
}

/// Which operations still matter: all that are not on a dropped life or a dropped empty answer.
/// Looks that will never return do not.
pub(super) fn kept(
    history: &History,
    fates: &[Fate],
    verbs: Verbs,
    lives: &Lives,
    keep_life: &[bool],
    keep_empty: &[bool],
) -> Vec<bool> {
    let mut keep = vec![true; history.operations.len()];
    for (life, _) in lives.lives.iter().zip(keep_life).filter(|(_, keep)| !**keep) {
        life.operations.iter().for_each(|id| keep[id.index()] = false);
    }
    for (id, _) in lives.empties.iter().zip(keep_empty).filter(|(_, keep)| !**keep) {
        keep[id.index()] = false;
    }
    for (id, operation) in history.operations.iter().enumerate() {
        if fates[id] == Fate::Gone && Some(usize::from(operation.operation)) == verbs.peek {
            keep[id] = false;
        }
    }
    keep
}

/// Spans of operations, in order and apart, to ask what meets them.
#[derive(Debug, Default)]
pub(super) struct Spans(Vec<(Rank, Rank)>);

impl Spans {
    /// From spans in any order, each from a call to a return.
    pub(super) fn new(mut spans: Vec<(Rank, Rank)>) -> Spans {
        spans.sort_unstable();
        let mut apart: Vec<(Rank, Rank)> = Vec::with_capacity(spans.len());
        for (from, to) in spans {
            match apart.last_mut() {
                Some(last) if from < last.1 => last.1 = last.1.max(to),
                _ => apart.push((from, to)),
            }
        }
        Spans(apart)
    }

    /// Whether one of them has an instant between these two events.
    pub(super) fn meet(&self, from: Rank, to: Rank) -> bool {
        let at = self.0.partition_point(|span| span.1 <= from);
        self.0.get(at).is_some_and(|span| span.0 < to)
    }
}
