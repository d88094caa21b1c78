//! Debts: operations in progress of which some must have taken effect, and it need
//! not be known which.

/// The instant of an event.
pub(super) type Instant = u64;

/// What operations in progress of one sort owe.
#[derive(Debug, Default)]
pub(super) struct Debts {
    /// Since when each debt is owed, oldest first. INVARIANT: they can all be paid, each by another
    /// operation that was called before.
    debts: Vec<Instant>,
    /// How many operations of the sort are in progress and may return.
    open: usize,
    /// When those that never return were called, in order.
    gone: Vec<Instant>,
}

impl Debts {
    /// How many debts there are, and operations that never return.
    pub(super) fn len(&self) -> usize {
        self.debts.len() + self.gone.len()
    }

    /// An operation is called.
    pub(super) fn opens(&mut self) {
        self.open += 1;
    }

    /// An operation that was called then returns. Whether it pays a debt: of those that are younger
    /// than its call the oldest, as younger ones can be paid by more.
    pub(super) fn returns(&mut self, invoked: Instant) -> bool {
        self.open -= 1;
        let younger = self.debts.partition_point(|since| *since < invoked);
        let pays = younger < self.debts.len();
        if pays {
            self.debts.remove(younger);
        }
        pays
    }

    /// Makes a debt now, if it can be paid: by any operation in progress, so it is enough that an
    /// operation is left.
    pub(super) fn owe(&mut self, now: Instant) -> bool {
        let is_able = self.open + self.gone.len() > self.debts.len();
        if is_able {
            self.debts.push(now);
        }
        is_able
    }

    /// An operation that was called then never returns.
    pub(super) fn never_returns(&mut self, invoked: Instant) {
        self.open -= 1;
        let at = self.gone.partition_point(|other| *other < invoked);
        self.gone.insert(at, invoked);
    }

    /// An operation did not happen. Whether the debts can be paid without it, by those called at
    /// these instants and those that never return: the `n` oldest debts need `n` operations called
    /// before the last of them.
    pub(super) fn can_do_without(&mut self, mut calls: Vec<Instant>) -> bool {
        self.open -= 1;
        calls.extend(&self.gone);
        calls.sort_unstable();
        let can_pay =
            |(paid, since): (usize, &Instant)| calls.get(paid).is_some_and(|call| call < since);
        self.debts.iter().enumerate().all(can_pay)
    }

    /// Since when each debt is owed, oldest first.
    pub(super) fn since(&self) -> impl Iterator<Item = Instant> + '_ {
        self.debts.iter().copied()
    }

    /// When the operations that never return were called.
    pub(super) fn gone(&self) -> impl Iterator<Item = Instant> + '_ {
        self.gone.iter().copied()
    }
}
