//! Every execution up to the order of independent steps: source-DPOR by re-execution.
//!
//! Algorithm 1 of Abdulla, Aronis, Jonsson and Sagonas, *Optimal dynamic partial order reduction*,
//! POPL 2014 (extended: JACM 64(4), 2017). The recursion of the paper is the [`path`](Dpor::path)
//! here: a node is a call `Explore(E, Sleep)`, and the loop of line 3 goes on in [`Dpor::next`].
//!
//! Five things go beyond the paper:
//!
//! - *Waiting.* A race can be reversed only if the second step is enabled before the first. A step
//!   that waits for a value (a lock) looks further back for the last step before which it was
//!   enabled: of two acquisitions with a release in between, the acquisitions race. A step that
//!   never became enabled takes part all the same ([`Dpor::reverse_blocked`]).
//! - *Choices* are nodes of their own, all alternatives of which are explored.
//! - *Problems* end an execution before the races of what would have followed are known, so nothing
//!   is left out along its path, and the step that ends it does not sleep ([`Dpor::cut`]).
//! - *Order.* The steps of `backtrack(E)` are explored in the order in which they were added. So
//!   which steps sleep when one of them is explored is known as soon as it is added.
//! - *Parts.* The first [`base`](Dpor::base) nodes may be fixed: then only what follows them is
//!   explored, and the races with their steps are [`Wish`]es to the one who explores them. What
//!   follows depends on nothing that is wished meanwhile. See [`share`](super::share).

use super::clock::join;
use super::schedule::{Pick, Scheduler, Step};
use super::set::ThreadSet;
use super::share::{Child, Forks};
use super::spin::same_site;
use super::state::{Asked, State};
use super::trace::Trace;
use crate::threads::ThreadId;
use linchpin_sync::runtime::Site;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::sync::{Arc, Mutex};

/// Explores every execution up to the order of independent steps.
#[derive(Default)]
pub(crate) struct Dpor {
    /// The decisions of the execution, in order.
    pub(super) path: Vec<Node>,
    /// How many of them were taken so far.
    depth: usize,
    /// Those of the path that are calls of `Explore`: indices by step.
    calls: Vec<usize>,
    trace: Trace,
    /// The sleep set of the next call.
    sleep: ThreadSet,
    /// What happens before the step that is looked at, or races with it.
    known: Vec<u32>,
    /// So many nodes are fixed.
    pub(super) base: usize,
    /// What is wished of them.
    pub(super) wishes: Wishes,
    /// Who waits for what follows them, and all who do.
    pub(super) of: Option<Child>,
    pub(super) forks: Arc<Mutex<Forks>>,
    /// Whether new nodes are left as they are: see [`Scheduler::explored`].
    settled: bool,
}

/// That an execution is explored in which one of the initials of `v` comes first at a fixed node.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Wish {
    /// The node: its place in the path.
    pub(super) depth: usize,
    initials: ThreadSet,
    /// The thread of which a race is to be reversed.
    thread: ThreadId,
}

/// Wishes in the order in which they came, each once: what is wished again is there already.
#[derive(Default)]
pub(super) struct Wishes {
    known: FxHashSet<Wish>,
    pub(super) all: Vec<Wish>,
}

impl Wishes {
    pub(super) fn push(&mut self, wish: Wish) {
        if self.known.insert(wish) {
            self.all.push(wish);
        }
    }
}

#[derive(Clone)]
pub(crate) enum Node {
    Call(Call),
    Choice(Choice),
}

impl Node {
    /// The place of what is taken among all that is explored here, in order.
    pub(super) fn ordinal(&self) -> usize {
        match self {
            Node::Call(call) => call.at,
            Node::Choice(choice) => choice.taken,
        }
    }

    /// How much there is to explore here, as far as it is known.
    pub(super) fn count(&self) -> usize {
        match self {
            Node::Call(call) => call.queue.len(),
            Node::Choice(choice) => choice.count(),
        }
    }

    /// The node with what comes at this place taken.
    pub(super) fn with(&self, ordinal: usize) -> Node {
        let mut node = self.clone();
        match &mut node {
            Node::Call(call) => call.take(ordinal),
            Node::Choice(choice) => choice.taken = ordinal,
        }
        node
    }

    /// Fulfils a wish, if that is not done.
    pub(super) fn fulfil(&mut self, wish: &Wish) {
        if let Node::Call(call) = self {
            call.reverse(wish.initials, wish.thread);
        }
    }
}

/// A call `Explore(E, Sleep)`.
#[derive(Clone)]
pub(crate) struct Call {
    /// The threads of `backtrack(E)`, in the order in which they came.
    queue: SmallVec<[ThreadId; 4]>,
    /// The place of the thread whose step is explored: `p` of line 3.
    at: usize,
    /// Whether its races are still to be looked at.
    is_new: bool,
    /// Whether nothing but the first step is explored.
    settled: bool,
    /// What all threads ask for, so that the code is recognised when it runs again.
    asked: Asked,
    /// `enabled(s[E])`.
    enabled: ThreadSet,
    /// `backtrack(E)`.
    backtrack: ThreadSet,
    /// `Sleep`, at first and with what was explored.
    asleep: ThreadSet,
    sleep: ThreadSet,
    /// What was explored and does not sleep: steps that end in a problem.
    fatal: ThreadSet,
}

impl Call {
    fn taken(&self) -> ThreadId {
        self.queue[self.at]
    }

    fn add(&mut self, thread: ThreadId) {
        let is_room = !self.settled || self.queue.is_empty();
        if is_room && !self.backtrack.contains(thread) {
            self.backtrack.insert(thread);
            self.queue.push(thread);
        }
    }

    /// Explores the step at this place of the queue: those before it sleep.
    fn take(&mut self, at: usize) {
        (self.at, self.is_new) = (at, true);
        self.sleep = self.asleep;
        for &thread in &self.queue[..at] {
            if !self.fatal.contains(thread) {
                self.sleep.insert(thread);
            }
        }
    }

    /// Lines 6 and 7.
    fn reverse(&mut self, initials: ThreadSet, thread: ThreadId) {
        if self.has(initials) {
            return;
        }
        let added = if initials.contains(thread) { Some(thread) } else { initials.first() };
        if let Some(added) = added {
            self.add(added);
        }
    }

    /// Whether executions that begin with one of these are explored, or were: a sleeping initial
    /// says so too.
    fn has(&self, initials: ThreadSet) -> bool {
        initials.meets(self.backtrack.union(self.asleep))
    }
}

/// An alternative that a thread took.
#[derive(Clone)]
pub(crate) struct Choice {
    thread: ThreadId,
    site: Site,
    taken: usize,
    alternatives: usize,
    /// Whether nothing but the first alternative is explored.
    settled: bool,
}

impl Choice {
    /// How many alternatives are explored.
    fn count(&self) -> usize {
        if self.settled { 1 } else { self.alternatives }
    }
}

impl Scheduler for Dpor {
    fn begin(&mut self) {
        self.depth = 0;
        self.settled = false;
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
            let mut call = Call {
                queue: SmallVec::new(),
                at: 0,
                is_new: true,
                settled: self.settled,
                asked: Asked::of(state),
                enabled: state.enabled,
                backtrack: ThreadSet::default(),
                asleep: self.sleep,
                sleep: self.sleep,
                fatal: ThreadSet::default(),
            };
            call.add(thread);
            self.path.push(Node::Call(call));
        }
        let Node::Call(call) = &mut self.path[depth] else {
            return Pick::Different(state.last.unwrap_or(0));
        };
        if let Some(other) = call.asked.differs(state) {
            return Pick::Different(other);
        }
        let thread = call.taken();
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
            let settled = self.settled;
            self.path.push(Node::Choice(Choice { thread, site, taken: 0, alternatives, settled }));
        }
        let Node::Choice(choice) = &self.path[self.depth] else { return None };
        self.depth += 1;
        let same = choice.thread == thread && choice.alternatives == alternatives;
        (same && same_site(choice.site, site)).then_some(choice.taken)
    }

    fn explored(&mut self, explored: bool) {
        self.settled = !explored;
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
                for thread in call.enabled.without(call.sleep).iter() {
                    call.add(thread);
                }
            }
        }
        // A step after which nothing happens depends on all others.
        if let Some(&last) = self.calls.last()
            && let Node::Call(call) = &mut self.path[last]
        {
            call.fatal.insert(call.taken());
        }
    }

    fn is_short(&self) -> bool {
        self.depth < self.path.len()
    }

    fn next(&mut self) -> bool {
        while self.path.len() > self.base {
            match self.path.last_mut() {
                Some(Node::Choice(choice)) if choice.taken + 1 < choice.count() => {
                    choice.taken += 1;
                    return true;
                }
                // Line 10, and line 3 again.
                Some(Node::Call(call)) if call.at + 1 < call.queue.len() => {
                    call.take(call.at + 1);
                    return true;
                }
                _ => self.path.pop(),
            };
        }
        false
    }
}

impl Dpor {
    /// One of those who explore together: what they wait for is in these.
    pub(crate) fn with(forks: Arc<Mutex<Forks>>) -> Dpor {
        Dpor { forks, ..Dpor::default() }
    }

    /// Reverses the races of steps that wait when nothing else is left to do but what sleeps. What
    /// sleeps was explored before, but not what would come first here if these steps had not
    /// waited.
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

    /// The races at one place. INVARIANT: `known` happens before the next step, or is in a race
    /// with it that was found; what happens before that is in no race itself.
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

    /// Lines 5 to 7 for one race: `e` is the step, `E'` what came before it, and `v` the steps
    /// after it that do not depend on it, then the next step of the thread.
    fn reverse(&mut self, thread: ThreadId, step: usize, state: &State) {
        let initials = self.initials(thread, step, state);
        let depth = self.calls[step];
        let Node::Call(call) = &mut self.path[depth] else { return };
        if depth >= self.base {
            call.reverse(initials, thread);
        } else if !call.has(initials) {
            self.wishes.push(Wish { depth, initials, thread });
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
