//! Locks: no window, but who must already have acquired or released it.
//!
//! As in the rule of the monitor (`bit.rs`), be lazy: nothing takes effect before an operation
//! returns that needs it. The `n`-th change of the lock then happens as late as it can in any order
//! that explains the events, and whether the lock is held after it depends on `n` alone. So
//! - an operation that returns and finds the lock in the wrong state makes one in progress of the
//!   other sort take effect. Which one is left open: it is a *debt*, owed since that event by some
//!   operation of this sort called before it. If there are fewer in progress than debts, that is a
//!   violation;
//! - an operation that returns pays a debt of its sort that is younger than its call, and of these
//!   the oldest, for the younger ones can be paid by more: it is the one with the earliest return
//!   that the monitor would have taken. If there is none, it takes effect now.
//!
//! Operations that never return stay able to pay. One that turns out not to have happened is a
//! violation if the debts cannot be paid without it. What is kept are the operations in progress
//! and the debts, which are no more.

use super::debts::{Debts, Instant};
use super::event_rule::Handover;
use linchpin_search::Frontier;
use linchpin_spec::{AnySpec, Call, Mutex, Value};
use rustc_hash::FxHashMap;

/// Who must have acquired and released a lock by now.
#[derive(Debug)]
pub(crate) struct Lock {
    now: Instant,
    is_held: bool,
    /// Of those that release and of those that acquire.
    debts: [Debts; 2],
    /// What is in progress, by ticket: since when, and whether it acquires.
    open: FxHashMap<u32, (Instant, bool)>,
}

impl Lock {
    /// A lock that is held at the start, or not; nothing if it is not said.
    pub(super) fn new(init: Option<&Value>) -> Option<Lock> {
        let is_held = match init {
            None | Some(Value::Null) => false,
            Some(Value::Bool(is_held)) => *is_held,
            Some(_) => return None,
        };
        Some(Lock { now: 0, is_held, debts: Default::default(), open: FxHashMap::default() })
    }

    /// How many operations and debts are kept.
    pub(super) fn len(&self) -> usize {
        self.debts.iter().map(Debts::len).sum::<usize>() + self.open.len()
    }

    /// Whether the lock is held, if nothing more than needed has taken effect.
    pub(super) fn is_held(&self) -> bool {
        self.is_held
    }

    /// An operation is called.
    pub(super) fn invoke(&mut self, ticket: u32, call: &Call) {
        self.now += 1;
        let acquires = call.operation == Mutex::ACQUIRE;
        self.debts[usize::from(acquires)].opens();
        self.open.insert(ticket, (self.now, acquires));
    }

    /// An operation returns. Whether something explains that.
    pub(super) fn response(&mut self, ticket: u32) -> bool {
        let Some((invoked, acquires)) = self.open.remove(&ticket) else {
            return true;
        };
        self.now += 1;
        if self.debts[usize::from(acquires)].returns(invoked) {
            return true;
        }
        if self.is_held == acquires && !self.debts[usize::from(!acquires)].owe(self.now) {
            return false;
        }
        self.is_held = acquires;
        true
    }

    /// An operation will not return.
    pub(super) fn crash(&mut self, ticket: u32) {
        if let Some((invoked, acquires)) = self.open.remove(&ticket) {
            self.debts[usize::from(acquires)].never_returns(invoked);
        }
    }

    /// An operation did not happen. Whether the events so far are still explained.
    pub(super) fn retract(&mut self, ticket: u32) -> bool {
        let Some((_, acquires)) = self.open.remove(&ticket) else {
            return true;
        };
        let same = self.open.values().filter(|(_, other)| *other == acquires);
        let calls = same.map(|(invoked, _)| *invoked).collect();
        self.debts[usize::from(acquires)].can_do_without(calls)
    }

    /// A frontier that knows as much, and for each ticket the one of the frontier. A debt of one
    /// sort is brought about by an operation of the other sort that is called and returns at that
    /// instant, and finds the lock in the wrong state.
    pub(super) fn frontier<'a>(&self, spec: &'a AnySpec) -> Handover<'a> {
        #[derive(PartialEq, Eq, PartialOrd, Ord)]
        enum Moment {
            Debt(bool),
            Gone(bool),
            Called(u32, bool),
        }
        let mut moments: Vec<(Instant, Moment)> = Vec::new();
        for acquires in [false, true] {
            let debts = &self.debts[usize::from(acquires)];
            moments.extend(debts.since().map(|since| (since, Moment::Debt(acquires))));
            moments.extend(debts.gone().map(|call| (call, Moment::Gone(acquires))));
        }
        let called = |(ticket, (at, acquires)): (&u32, &(Instant, bool))| {
            (*at, Moment::Called(*ticket, *acquires))
        };
        moments.extend(self.open.iter().map(called));
        moments.sort_unstable();
        let call = |acquires: bool| Call {
            operation: if acquires { Mutex::ACQUIRE } else { Mutex::RELEASE },
            argument: Value::Null,
        };
        let first = moments.iter().find_map(|(_, moment)| match moment {
            Moment::Debt(acquires) => Some(!*acquires),
            _ => None,
        });
        let mut is_held = first.unwrap_or(self.is_held);
        let mut frontier = Frontier::starting_from(spec, Value::Bool(is_held).into());
        let pass = |frontier: &mut Frontier<'a, AnySpec>, acquires: bool| {
            let ticket = frontier.invoke(call(acquires));
            let explained = frontier.response(ticket, &Value::Null);
            debug_assert!(explained.is_ok(), "debts can be paid");
        };
        let mut open = Vec::new();
        for (_, moment) in moments {
            match moment {
                Moment::Debt(acquires) => {
                    if is_held == acquires {
                        pass(&mut frontier, !acquires);
                    }
                    pass(&mut frontier, !acquires);
                    is_held = !acquires;
                }
                Moment::Gone(acquires) => {
                    let ticket = frontier.invoke(call(acquires));
                    frontier.crash(ticket);
                }
                Moment::Called(known, acquires) => {
                    open.push((known, frontier.invoke(call(acquires))));
                }
            }
        }
        if is_held != self.is_held {
            pass(&mut frontier, self.is_held);
        }
        (frontier, open)
    }
}
