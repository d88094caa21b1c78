//! Types that are judged event by event, without a window.

use super::AnySpec;
use super::claims::Claims;
use super::lock::Lock;
use super::permits::Permits;
use super::tally::Tally;
use crate::check::Object;
use crate::search::{Frontier, Ticket};
use linchpin_spec::{Call, Value};

/// A frontier that goes on, and for each ticket the one of the frontier.
type Handed<'a> = (Frontier<'a, AnySpec>, Vec<(u32, Ticket)>);

/// A rule that judges each event as it comes.
pub(super) enum Rule {
    Tally(Tally),
    Claims(Claims),
    Lock(Lock),
    Permits(Permits),
}

impl Rule {
    /// The rule for an object, if there is one.
    pub(super) fn of(object: &Object) -> Option<Rule> {
        let init = object.init.as_ref();
        match object.name.as_str() {
            _ if !object.is_builtin() => None,
            "counter" => Tally::new(init).map(Rule::Tally),
            "mutex" => Lock::new(init).map(Rule::Lock),
            "semaphore" => Permits::new(init).map(Rule::Permits),
            _ => None,
        }
    }

    /// How much is kept.
    pub(super) fn len(&self) -> usize {
        match self {
            Rule::Tally(tally) => tally.len(),
            Rule::Claims(claims) => claims.len(),
            Rule::Lock(lock) => lock.len(),
            Rule::Permits(permits) => permits.len(),
        }
    }

    /// An operation is called. Whether this can be judged here; nothing has changed if not.
    pub(super) fn invoke(&mut self, ticket: u32, call: &Call) -> bool {
        if let Rule::Tally(tally) = self
            && let Some(claims) = tally.claims(call)
        {
            *self = Rule::Claims(claims);
        }
        match self {
            Rule::Tally(tally) => return tally.invoke(ticket, call),
            Rule::Claims(claims) => return claims.invoke(ticket, call),
            Rule::Lock(lock) => lock.invoke(ticket, call),
            Rule::Permits(permits) => permits.invoke(ticket, call),
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
            Rule::Tally(tally) => tally
                .response(ticket, response)
                .map_err(|why| format!("answered {response}, but {why}")),
            Rule::Claims(claims) => claims
                .response(ticket, response)
                .map_err(|why| format!("answered {response}, but {why}")),
            Rule::Lock(lock) => {
                let (state, needed) = match lock.is_held() {
                    true => ("held", "release"),
                    false => ("free", "acquire"),
                };
                lock.response(ticket).then_some(()).ok_or_else(|| {
                    format!("returned, but the lock was {state}, and no {needed} was in progress that could have changed that")
                })
            }
            Rule::Permits(permits) => permits
                .response(ticket)
                .then_some(())
                .ok_or_else(|| "returned, but no permit was left".to_owned()),
        }
    }

    /// An operation did not happen. Whether the events so far are still explained.
    pub(super) fn retract(&mut self, ticket: u32) -> bool {
        match self {
            Rule::Tally(tally) => tally.retract(ticket),
            Rule::Claims(claims) => claims.retract(ticket),
            Rule::Lock(lock) => lock.retract(ticket),
            Rule::Permits(permits) => permits.retract(ticket),
        }
    }

    /// An operation will not return.
    pub(super) fn crash(&mut self, ticket: u32) {
        match self {
            Rule::Tally(tally) => tally.crash(ticket),
            Rule::Claims(claims) => claims.crash(ticket),
            Rule::Lock(lock) => lock.crash(ticket),
            Rule::Permits(permits) => permits.crash(ticket),
        }
    }

    /// A frontier that knows as much, and for each ticket the one of the frontier; nothing if the rule can judge all that may follow.
    pub(super) fn frontier<'a>(&self, spec: &'a AnySpec) -> Option<Handed<'a>> {
        match self {
            Rule::Tally(tally) => Some(tally.frontier(spec)),
            Rule::Claims(claims) => Some(claims.frontier(spec)),
            Rule::Lock(lock) => Some(lock.frontier(spec)),
            // Deadlines of operations that never return change nothing.
            Rule::Permits(_) => None,
        }
    }
}
