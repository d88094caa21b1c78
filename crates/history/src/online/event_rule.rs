//! Types that are judged event by event, without a window.

use super::claims::Claims;
use super::lock::Lock;
use super::permits::Permits;
use super::tally::Tally;
use linchpin_search::{Frontier, Ticket};
use linchpin_spec::{AnySpec, Call, Value};

/// A frontier that goes on, and for each ticket the one of the frontier.
pub(super) type Handover<'a> = (Frontier<'a, AnySpec>, Vec<(u32, Ticket)>);

/// A rule that judges each event as it comes.
pub(crate) enum EventRule {
    Tally(Tally),
    Claims(Claims),
    Lock(Lock),
    Permits(Permits),
}

impl EventRule {
    /// A counter that starts from `init`, if that is a number.
    pub(crate) fn counter(init: Option<&Value>) -> Option<EventRule> {
        Tally::new(init).map(EventRule::Tally)
    }

    /// A lock that starts from `init`, if that is a truth value.
    pub(crate) fn mutex(init: Option<&Value>) -> Option<EventRule> {
        Lock::new(init).map(EventRule::Lock)
    }

    /// A semaphore with `init` permits, if that is a number.
    pub(crate) fn semaphore(init: Option<&Value>) -> Option<EventRule> {
        Permits::new(init).map(EventRule::Permits)
    }

    /// How much is kept.
    pub(super) fn len(&self) -> usize {
        match self {
            EventRule::Tally(tally) => tally.len(),
            EventRule::Claims(claims) => claims.len(),
            EventRule::Lock(lock) => lock.len(),
            EventRule::Permits(permits) => permits.len(),
        }
    }

    /// An operation is called. Whether this can be judged here; nothing has changed if not.
    pub(super) fn invoke(&mut self, ticket: u32, call: &Call) -> bool {
        if let EventRule::Tally(tally) = self
            && let Some(claims) = tally.claims(call)
        {
            *self = EventRule::Claims(claims);
        }
        match self {
            EventRule::Tally(tally) => return tally.invoke(ticket, call),
            EventRule::Claims(claims) => return claims.invoke(ticket, call),
            EventRule::Lock(lock) => lock.invoke(ticket, call),
            EventRule::Permits(permits) => permits.invoke(ticket, call),
        }
        true
    }

    /// An operation returns.
    ///
    /// # Errors
    ///
    /// If nothing explains that: what it did, and why that cannot be.
    pub(super) fn response(&mut self, ticket: u32, response: &Value) -> Result<(), String> {
        match self {
            EventRule::Tally(tally) => tally
                .response(ticket, response)
                .map_err(|why| format!("answered {response}, but {why}")),
            EventRule::Claims(claims) => claims
                .response(ticket, response)
                .map_err(|why| format!("answered {response}, but {why}")),
            EventRule::Lock(lock) => {
                let (state, needed) = match lock.is_held() {
                    true => ("held", "release"),
                    false => ("free", "acquire"),
                };
                lock.response(ticket).then_some(()).ok_or_else(|| {
                    format!("returned, but the lock was {state}, and no {needed} was in progress that could have changed that")
                })
            }
            EventRule::Permits(permits) => permits
                .response(ticket)
                .then_some(())
                .ok_or_else(|| "returned, but no permit was left".to_owned()),
        }
    }

    /// An operation did not happen. Whether the events so far are still explained.
    pub(super) fn retract(&mut self, ticket: u32) -> bool {
        match self {
            EventRule::Tally(tally) => tally.retract(ticket),
            EventRule::Claims(claims) => claims.retract(ticket),
            EventRule::Lock(lock) => lock.retract(ticket),
            EventRule::Permits(permits) => permits.retract(ticket),
        }
    }

    /// An operation will not return.
    pub(super) fn crash(&mut self, ticket: u32) {
        match self {
            EventRule::Tally(tally) => tally.crash(ticket),
            EventRule::Claims(claims) => claims.crash(ticket),
            EventRule::Lock(lock) => lock.crash(ticket),
            EventRule::Permits(permits) => permits.crash(ticket),
        }
    }

    /// A frontier that knows as much, and for each ticket the one of the frontier; nothing if the
    /// rule can judge all that may follow.
    pub(super) fn frontier<'a>(&self, spec: &'a AnySpec) -> Option<Handover<'a>> {
        match self {
            EventRule::Tally(tally) => Some(tally.frontier(spec)),
            EventRule::Claims(claims) => Some(claims.frontier(spec)),
            EventRule::Lock(lock) => Some(lock.frontier(spec)),
            // Deadlines of operations that never return change nothing.
            EventRule::Permits(_) => None,
        }
    }
}
