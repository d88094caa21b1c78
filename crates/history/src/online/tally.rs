//! Counters to which every operation adds the same amount: no window, but the least the counter can
//! have counted.
//!
//! Be lazy: an addition takes effect only when it returns, or when a read that returns needs it to.
//! `counted` is how many have by now; any order that explains the events has counted at least as
//! many by every event, and this one has counted exactly so many. So
//! - a read that was called when more had been counted than it answers is a violation; if not, the
//!   count passes what it answers while the read is open;
//! - a read that answers more than was counted makes some open additions take effect when it
//!   returns. Which ones is left open: each is a *debt*, owed since that event by some addition
//!   called before it. If there are fewer open additions than debts, that is a violation;
//! - an addition that returns pays a debt that is younger than its call, and of these the oldest,
//!   for the younger ones can be paid by more; if there is none, it is counted now.
//!
//! Additions that never return stay able to pay. One that turns out not to have happened is a
//! violation if the debts cannot be paid without it: the `n` oldest debts need `n` additions that
//! were called before the last of them.
//!
//! What is kept are the open operations and the debts, which are no more than the open additions.

use super::claims::{Claims, Instant};
use super::event_rule::Handover;
use linchpin_search::Frontier;
use linchpin_spec::{AnySpec, Call, Counter, Value};
use rustc_hash::FxHashMap;

/// Larger numbers are left to the general search, which knows about overflow.
const LARGEST: u64 = 1 << 60;

/// What an operation in progress is.
#[derive(Clone, Copy, Debug)]
enum Doing {
    Adds,
    /// How many had been counted when it was called.
    Reads(i64),
}

/// The least that can have been counted.
#[derive(Debug)]
pub(crate) struct Tally {
    initial: i64,
    /// What every operation adds; 0 while no operation did.
    amount: i64,
    now: Instant,
    counted: i64,
    /// Since when each debt is owed, oldest first.
    debts: Vec<Instant>,
    /// What is in progress, by ticket: since when, and what.
    open: FxHashMap<u32, (Instant, Doing)>,
    /// How many of these add.
    adding: usize,
    /// When additions that never return were called, in order.
    gone: Vec<Instant>,
}

impl Tally {
    /// A counter that starts from `init`, if that is a number.
    pub(super) fn new(init: Option<&Value>) -> Option<Tally> {
        let initial = match init {
            None | Some(Value::Null) => 0,
            Some(Value::Int(initial)) if initial.unsigned_abs() < LARGEST => *initial,
            Some(_) => return None,
        };
        Some(Tally {
            initial,
            amount: 0,
            now: 0,
            counted: 0,
            debts: Vec::new(),
            open: FxHashMap::default(),
            adding: 0,
            gone: Vec::new(),
        })
    }

    /// How many operations and debts are kept.
    pub(super) fn len(&self) -> usize {
        self.open.len() + self.gone.len() + self.debts.len()
    }

    /// If this call is a `fetch-add`, and no operation has added anything yet: the counter as one
    /// that is changed by these.
    pub(super) fn claims(&self, call: &Call) -> Option<Claims> {
        let Value::Int(amount) = call.argument else { return None };
        let fits = call.operation == Counter::FETCH_ADD
            && (1..1 << 20).contains(&amount.unsigned_abs())
            && self.amount == 0;
        let reads = self.open.iter().map(|(ticket, (since, _))| (*ticket, *since));
        fits.then(|| Claims::new(self.initial, amount, self.now, reads))
    }

    /// An operation is called. Whether this can be judged here; nothing has changed if not.
    pub(super) fn invoke(&mut self, ticket: u32, call: &Call) -> bool {
        let doing = match (call.operation, &call.argument) {
            (Counter::READ, _) => Doing::Reads(self.counted),
            (Counter::ADD, Value::Int(amount)) => {
                let fits = (1..1 << 20).contains(&amount.unsigned_abs())
                    && self.now < (1 << 39)
                    && (self.amount == 0 || self.amount == *amount);
                if !fits {
                    return false;
                }
                self.amount = *amount;
                self.adding += 1;
                Doing::Adds
            }
            _ => return false,
        };
        self.now += 1;
        self.open.insert(ticket, (self.now, doing));
        true
    }

    /// An operation returns.
    ///
    /// # Errors
    ///
    /// If nothing explains the answer: why.
    pub(super) fn response(&mut self, ticket: u32, response: &Value) -> Result<(), String> {
        let Some((invoked, doing)) = self.open.remove(&ticket) else {
            return Ok(());
        };
        self.now += 1;
        match doing {
            Doing::Adds => {
                self.adding -= 1;
                let younger = self.debts.partition_point(|since| *since < invoked);
                match younger < self.debts.len() {
                    true => drop(self.debts.remove(younger)),
                    false => self.counted += 1,
                }
                Ok(())
            }
            Doing::Reads(before) => self.read(before, response),
        }
    }

    fn read(&mut self, before: i64, response: &Value) -> Result<(), String> {
        let most = self.counted + (self.adding + self.gone.len() - self.debts.len()) as i64;
        let sum = |count: i64| self.initial + self.amount * count;
        let range = || match before == most {
            true => format!("the counter was {} all the time", sum(before)),
            false => format!(
                "the counter was one of {}, {}, … {} meanwhile",
                sum(before),
                sum(before + 1),
                sum(most)
            ),
        };
        let Some(read) = response.as_int().and_then(|read| self.level(read)) else {
            return Err(range());
        };
        if read < before || read > most {
            return Err(range());
        }
        for _ in self.counted..read {
            self.debts.push(self.now);
        }
        self.counted = self.counted.max(read);
        Ok(())
    }

    /// How many additions lead to this sum.
    fn level(&self, sum: i64) -> Option<i64> {
        let distance = sum.checked_sub(self.initial)?;
        match self.amount {
            0 => (distance == 0).then_some(0),
            amount => (distance % amount == 0).then_some(distance / amount),
        }
    }

    /// An operation will not return.
    pub(super) fn crash(&mut self, ticket: u32) {
        if let Some((invoked, Doing::Adds)) = self.open.remove(&ticket) {
            self.adding -= 1;
            let at = self.gone.partition_point(|other| *other < invoked);
            self.gone.insert(at, invoked);
        }
    }

    /// An operation did not happen. Whether the events so far are still explained.
    pub(super) fn retract(&mut self, ticket: u32) -> bool {
        if let Some((_, Doing::Adds)) = self.open.remove(&ticket) {
            self.adding -= 1;
        }
        let mut calls = self.additions();
        calls.sort_unstable();
        let payable =
            |(paid, since): (usize, &Instant)| calls.get(paid).is_some_and(|call| call < since);
        self.debts.iter().enumerate().all(payable)
    }

    /// When the additions that have not returned were called.
    fn additions(&self) -> Vec<Instant> {
        let adds = self.open.values().filter(|(_, doing)| matches!(doing, Doing::Adds));
        adds.map(|(invoked, _)| *invoked).chain(self.gone.iter().copied()).collect()
    }

    /// A frontier that knows as much, and for each ticket the one of the frontier: it is told of
    /// what is in progress, of additions that returned between the calls of reads that are open,
    /// and of a read for every debt.
    pub(super) fn frontier<'a>(&self, spec: &'a AnySpec) -> Handover<'a> {
        #[derive(PartialEq, Eq, PartialOrd, Ord)]
        enum Moment {
            Debt,
            Gone,
            Adds(u32),
            Reads(u32, i64),
        }
        let mut moments: Vec<(Instant, Moment)> = Vec::new();
        moments.extend(self.debts.iter().map(|since| (*since, Moment::Debt)));
        moments.extend(self.gone.iter().map(|call| (*call, Moment::Gone)));
        for (ticket, (invoked, doing)) in &self.open {
            let moment = match doing {
                Doing::Adds => Moment::Adds(*ticket),
                Doing::Reads(counted) => Moment::Reads(*ticket, *counted),
            };
            moments.push((*invoked, moment));
        }
        moments.sort_unstable();
        let owed = |until: Instant| self.debts.partition_point(|since| *since <= until) as i64;
        // Additions that have returned, by the first call of a read that is open.
        let first = moments.iter().find_map(|(at, moment)| match moment {
            Moment::Reads(_, counted) => Some(counted - owed(*at)),
            _ => None,
        });
        let all = self.counted - self.debts.len() as i64;
        let mut paid = first.unwrap_or(all);
        let sum = |count: i64| Value::Int(self.initial + self.amount * count);
        let mut frontier = Frontier::starting_from(spec, sum(paid).into());
        let mut open = Vec::new();
        let add = || Call { operation: Counter::ADD, argument: Value::Int(self.amount) };
        let read = || Call { operation: Counter::READ, argument: Value::Null };
        let catch_up = |frontier: &mut Frontier<'a, AnySpec>, paid: &mut i64, to: i64| {
            while *paid < to {
                let ticket = frontier.invoke(add());
                let explained = frontier.response(ticket, &Value::Null);
                debug_assert!(explained.is_ok(), "an addition can always return");
                *paid += 1;
            }
        };
        for (at, moment) in moments {
            match moment {
                Moment::Debt => {
                    let ticket = frontier.invoke(read());
                    let explained = frontier.response(ticket, &sum(paid + owed(at)));
                    debug_assert!(explained.is_ok(), "debts can be paid");
                }
                Moment::Gone => {
                    let ticket = frontier.invoke(add());
                    frontier.crash(ticket);
                }
                Moment::Adds(known) => open.push((known, frontier.invoke(add()))),
                Moment::Reads(known, counted) => {
                    catch_up(&mut frontier, &mut paid, counted - owed(at));
                    open.push((known, frontier.invoke(read())));
                }
            }
        }
        catch_up(&mut frontier, &mut paid, all);
        (frontier, open)
    }
}
