//! Every execution up to the order of independent steps: source-DPOR by re-execution.
//!
//! Algorithm 1 of Abdulla, Aronis, Jonsson and Sagonas, *Optimal dynamic partial order reduction*,
//! POPL 2014 (extended: JACM 64(4), 2017). The recursion of the paper is the [`path`](Dpor::path)
//! here: a node is a call `Explore(E, Sleep)`, and the loop of line 3 goes on in [`Dpor::next`].
//!
//! Three things go beyond the paper:
//!
//! - *Waiting.* A race can be reversed only if the second step is enabled before the first. A step
//!   that waits for a value (a lock) looks further back for the last step before which it was
//!   enabled: of two acquisitions with a release in between, the acquisitions race. A step that
//!   never became enabled takes part all the same ([`Dpor::reverse_blocked`]).
//! - *Choices* are nodes of their own, all alternatives of which are explored.
//! - *Problems* end an execution before the races of what would have followed are known, so nothing
//!   is left out along its path, and the step that ends it does not sleep ([`Dpor::cut`]).

use super::clock::join;
use super::schedule::{Pick, Scheduler, Step};
use super::set::ThreadSet;
use super::spin::same_site;
use super::state::{Asked, State};
use super::trace::Trace;
use crate::threads::ThreadId;
use linchpin_sync::runtime::Site;

/// Explores every execution up to the order of independent steps.
#[derive(Default)]
pub(super) struct Dpor {
    /// The decisions of the execution, in order.
    path: Vec<Node>,
    /// How many of them were taken so far.
    depth: usize,
    /// Those of the path that are calls of `Explore`: indices by step.
    calls: Vec<usize>,
    trace: Trace,
    /// The sleep set of the next call.
    sleep: ThreadSet,
    /// What happens before the step that is looked at, or races with it.
    known: Vec<u32>,
}

enum Node {
    Call(Call),
    Choice(Choice),
}

/// A call `Explore(E, Sleep)`.
struct Call {
    /// The thread whose step is explored: `p` of line 3.
    taken: ThreadId,
    /// Whether its races are still to be looked at.
    is_new: bool,
    /// What all threads ask for, so that the code is recognised when it runs again.
    asked: Asked,
    /// `enabled(s[E])`.
    enabled: ThreadSet,
    /// `backtrack(E)`.
    backtrack: ThreadSet,
    /// `Sleep`, which grows by what was explored.
    sleep: ThreadSet,
    /// What was explored and does not sleep: steps that end in a problem.
    fatal: ThreadSet,
}

/// An alternative that a thread took.
struct Choice {
    thread: ThreadId,
    site: Site,
    taken: usize,
    alternatives: usize,
}

impl Scheduler for Dpor {
    fn begin(&mut self) {
        self.depth = 0;
        self.calls.clear();
        self.trace.clear();
        self.sleep = ThreadSet::default();
    }

    fn pick(&mut self, state: &State) -> Pick {
        let depth = self.depth;
        if depth == self.path.len() {
            // Line 1 and 2: some enabled step that does not sleep.
            let awake = state.enabled.without(self.sleep);
            let Some(thread) = state.preferred(awake) else {
                self.reverse_blocked(state);
                return Pick::Redundant;
            };
            let mut backtrack = ThreadSet::default();
            backtrack.insert(thread);
            self.path.push(Node::Call(Call {
                taken: thread,
                is_new: true,
                asked: Asked::of(state),
                enabled: state.enabled,
                backtrack,
                sleep: self.sleep,
                fatal: ThreadSet::default(),
            }));
        }
        let Node::Call(call) = &mut self.path[depth] else {
            return Pick::Different(state.last.unwrap_or(0));
        };
        if let Some(other) = call.asked.differs(state) {
            return Pick::Different(other);
        }
        let thread = call.taken;
        if call.enabled != state.enabled {
            return Pick::Different(thread);
        }
        let is_new = std::mem::take(&mut call.is_new);
        // Line 8: those sleep on whose steps are independent of this one.
        let mut sleep = ThreadSet::default();
        for other in call.sleep.iter().filter(|&other| other != thread) {
            if !state.conflict(thread, other) {
                sleep.insert(other);
            }
        }
        self.sleep = sleep;
        self.calls.push(depth);
        self.depth += 1;
        if is_new {
            self.reverse_races(thread, state);
        }
        Pick::Thread(thread)
    }

    fn choose(&mut self, thread: ThreadId, alternatives: usize, site: Site) -> Option<usize> {
        if self.depth == self.path.len() {
            self.path.push(Node::Choice(Choice { thread, site, taken: 0, alternatives }));
        }
        let Node::Choice(choice) = &self.path[self.depth] else { return None };
        self.depth += 1;
        let same = choice.thread == thread && choice.alternatives == alternatives;
        (same && same_site(choice.site, site)).then_some(choice.taken)
    }

    fn stepped(&mut self, state: &State, step: &Step<'_>) {
        self.trace.push(state, step);
    }

    fn spawned(&mut self, parent: Option<ThreadId>, child: ThreadId) {
        self.trace.spawned(parent, child);
    }

    fn stuck(&mut self, state: &State) {
        if self.depth < self.path.len() {
            return;
        }
        self.reverse_blocked(state);
    }

    fn woken(&mut self) {
        self.trace.barrier();
    }

    fn cut(&mut self) {
        for node in &mut self.path {
            if let Node::Call(call) = node {
                call.backtrack = call.enabled;
            }
        }
        // A step after which nothing happens depends on all others.
        if let Some(&last) = self.calls.last()
            && let Node::Call(call) = &mut self.path[last]
        {
            call.fatal.insert(call.taken);
        }
    }

    fn is_short(&self) -> bool {
        self.depth < self.path.len()
    }

    fn next(&mut self) -> bool {
        loop {
            match self.path.last_mut() {
                None => return false,
                Some(Node::Choice(choice)) if choice.taken + 1 < choice.alternatives => {
                    choice.taken += 1;
                    return true;
                }
                Some(Node::Choice(_)) => {}
                Some(Node::Call(call)) => {
                    // Line 10, and line 3 again.
                    if !call.fatal.contains(call.taken) {
                        call.sleep.insert(call.taken);
                    }
                    let explored = call.sleep.union(call.fatal);
                    if let Some(thread) = call.backtrack.without(explored).first() {
                        (call.taken, call.is_new) = (thread, true);
                        return true;
                    }
                }
            }
            self.path.pop();
        }
    }
}

impl Dpor {
    /// Reverses the races of steps that wait when nothing else is left to do but what sleeps. What
    /// sleeps was explored before, but not what would come first here if these steps had not waited.
    fn reverse_blocked(&mut self, state: &State) {
        for thread in 0..state.asks.len() {
            if state.asks[thread].is_some() && !state.enabled.contains(thread) {
                self.reverse_races(thread, state);
            }
        }
    }

    /// Lines 4 to 7: makes sure that for each step which is in a reversible race with the next step
    /// of a thread, an execution is explored in which that next step comes first.
    fn reverse_races(&mut self, thread: ThreadId, state: &State) {
        let Some(ask) = &state.asks[thread] else { return };
        let writes = matches!(state.effect(thread), Some(super::state::Effect::Write(_)));
        let mut known = std::mem::take(&mut self.known);
        known.clear();
        known.extend_from_slice(self.trace.next_clock(thread));
        self.reverse_at(thread, ask.index, writes, &mut known, state);
        if let Some(line) = ask.line.filter(|_| writes) {
            self.reverse_at(thread, line, true, &mut known, state);
        }
        for &(place, _) in state.waits(thread).iter().filter(|(place, _)| *place != ask.index) {
            self.reverse_at(thread, place, false, &mut known, state);
        }
        self.known = known;
    }

    /// The races at one place. INVARIANT: `known` happens before the next step, or is in a race with
    /// it that was found; what happens before that is in no race itself.
    fn reverse_at(
        &mut self,
        thread: ThreadId,
        place: usize,
        writes: bool,
        known: &mut [u32],
        state: &State,
    ) {
        for index in (0..self.trace.accesses(place).len()).rev() {
            let access = self.trace.accesses(place)[index];
            if !access.writes && !writes {
                continue;
            }
            let known_before = self.trace.knows(known, access.step);
            if !known_before {
                if !self.trace.enabled_without(thread, access.step, state) {
                    continue;
                }
                self.reverse(thread, access.step, state);
                join(known, self.trace.clock(access.step));
            }
            // Earlier accesses happen before this write.
            if access.writes {
                return;
            }
        }
    }

    /// Lines 5 to 7 for one race: `e` is the step, `E'` what came before it, and `v` the steps after
    /// it that do not depend on it, then the next step of the thread.
    fn reverse(&mut self, thread: ThreadId, step: usize, state: &State) {
        let initials = self.initials(thread, step, state);
        let Node::Call(call) = &mut self.path[self.calls[step]] else { return };
        // A sleeping initial says that executions which begin so were explored.
        if initials.meets(call.backtrack.union(call.sleep)) {
            return;
        }
        let added = if initials.contains(thread) { Some(thread) } else { initials.first() };
        if let Some(added) = added {
            call.backtrack.insert(added);
        }
    }

    /// `I[E'](v)`: the threads of which the first step in `v` depends on no other step in `v`.
    fn initials(&self, thread: ThreadId, step: usize, state: &State) -> ThreadSet {
        let mut initials = ThreadSet::default();
        let mut seen = ThreadSet::default();
        for later in step + 1..self.trace.len() {
            let other = self.trace.threads[later];
            // What follows a step that depends on `e` depends on it too.
            if seen.contains(other) {
                continue;
            }
            seen.insert(other);
            if !self.trace.precedes(step, later) && self.trace.is_initial(later, step) {
                initials.insert(other);
            }
        }
        if !seen.contains(thread) && self.trace.next_is_initial(thread, step, state) {
            initials.insert(thread);
        }
        initials
    }
}
