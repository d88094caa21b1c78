//! States in which no thread can go on although some wait in spin loops only.

use super::spin::FRUITLESS_TURNS;
use super::state::State;
use crate::execution::{Execution, Problem, Waiting};
use crate::threads::ThreadId;
use linchpin_sync::runtime::Site;

/// What is remembered about the last such state of an execution.
#[derive(Default)]
pub(super) struct Stuck {
    /// What each thread waited for.
    waiting: Vec<Waiter>,
    /// How often it was the same since.
    turns: usize,
    /// How much had happened when it was so for the first time.
    events: usize,
    decisions: usize,
    preemptions: usize,
}

/// What a thread waits for.
#[derive(PartialEq)]
struct Waiter {
    thread: ThreadId,
    site: Site,
    waits: Vec<(usize, u64)>,
}

impl Stuck {
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.turns = 0;
    }

    /// Lets threads go on that wait in spin loops, since none else can; a deadlock if that was of
    /// no use before.
    pub(super) fn wake(
        &mut self,
        state: &mut State,
        execution: &mut Execution,
    ) -> Result<(), Problem> {
        let turns = self.look(state, execution);
        let spinning: Vec<ThreadId> = (0..state.asks.len())
            .filter(|&thread| state.asks[thread].is_some() && !state.waits(thread).is_empty())
            .collect();
        if spinning.is_empty() || turns > FRUITLESS_TURNS * spinning.len() {
            self.forget_fruitless_turns(execution);
            return Err(Problem::Deadlock { waiting: waiting(state) });
        }
        for (number, &thread) in spinning.iter().enumerate() {
            // One after the other, once all of them had a turn: their order does not matter then.
            if turns == 0 || (turns - 1) % spinning.len() == number {
                state.spins[thread].waits.clear();
            }
        }
        Ok(())
    }

    /// Looks at such a state: how often was it the same before, without another in between?
    fn look(&mut self, state: &State, execution: &Execution) -> usize {
        let asks = state.asks.iter().enumerate();
        let waiting: Vec<_> = asks
            .filter_map(|(thread, ask)| {
                let site = ask.as_ref()?.site;
                Some(Waiter { thread, site, waits: state.waits(thread).to_vec() })
            })
            .collect();
        if waiting == self.waiting {
            self.turns += 1;
        } else {
            self.waiting = waiting;
            self.turns = 0;
            self.events = execution.events.len();
            self.decisions = execution.decisions.len();
            self.preemptions = execution.preemptions;
        }
        self.turns
    }

    /// Takes the turns of spin loops in which nothing changed out of an execution.
    fn forget_fruitless_turns(&self, execution: &mut Execution) {
        execution.events.truncate(self.events);
        execution.decisions.truncate(self.decisions);
        execution.preemptions = self.preemptions;
    }
}

fn waiting(state: &State) -> Vec<Waiting> {
    let asks = state.asks.iter().enumerate();
    let waiting = asks.filter_map(|(thread, ask)| {
        let ask = ask.as_ref()?;
        let spins = !state.waits(thread).is_empty();
        let place = (!spins).then_some(ask.place.kind);
        Some(Waiting { thread, place, site: ask.site })
    });
    waiting.collect()
}
