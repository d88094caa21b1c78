//! What an idle thread calls next.

use super::Session;
use super::runner::Runner;
use crate::interpreter::{Choices, Fault, Move, ScheduledMove, State};
use fastrand::Rng;

/// Arguments are first drawn at random this many times, then searched for.
const DRAWS: u64 = 8;

/// At most this many arguments are searched for one that `requires` allows.
const SEARCHED: u64 = 4096;

/// A move that can be made, and what comes of it.
pub(super) type Enabled = (ScheduledMove, Result<State, Fault>);

impl Runner {
    /// A call that the thread may make: an operation and arguments at random. `None`: there is
    /// none, nor will there be one, because what a call depends on is the thread's own. A fault in
    /// `requires` is a fault of the call.
    pub(super) fn find_call(
        &self,
        session: &Session,
        thread: usize,
        random: &mut Rng,
    ) -> Option<Enabled> {
        let mut operations = self.machine.program().threads[thread].operations.clone();
        while !operations.is_empty() {
            let operation = operations.swap_remove(random.usize(..operations.len()));
            let Some(domain) = self.domains.get(operation) else { continue };
            for number in numbers(domain.size(), random) {
                let value = domain.nth(number);
                let Some(arguments) = value.as_ref().and_then(|value| value.as_list()) else {
                    continue;
                };
                let allowed = self.machine.may_call(&session.state, thread, operation, arguments);
                let call = Move::Invoke { thread, operation, arguments: arguments.to_vec() };
                let enabled = match allowed {
                    Ok(true) => self.enable(session, call, random),
                    Ok(false) => None,
                    Err(fault) => {
                        Some((ScheduledMove { what: call, choices: Choices::new() }, Err(fault)))
                    }
                };
                if enabled.is_some() {
                    return enabled;
                }
            }
        }
        None
    }
}

/// Which of `size` values to try, in order: some at random, then from a random one onwards.
fn numbers(size: u64, random: &mut Rng) -> Vec<u64> {
    if size == 0 {
        return Vec::new();
    }
    let start = random.u64(..size);
    let drawn: Vec<u64> = (0..DRAWS).map(|_| random.u64(..size)).collect();
    let onwards = (0..size.min(SEARCHED)).map(|i| (start.wrapping_add(i)) % size);
    drawn.into_iter().chain(onwards).collect()
}
