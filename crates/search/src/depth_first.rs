//! The search for a witness, depth first (Wing and Gong, 1993, with Lowe's memory of where it has
//! been).
//!
//! It goes through the same configurations as the frontier, but one at a time, and tries at each
//! return the operations with the earliest deadlines first. Most histories that can be explained
//! are explained without many steps back. That there is no witness, only the frontier says: this
//! search trusts that what only looked so far only looks.

use super::mask::Mask;
use super::problem::{Place, Problem};
use super::table::{INITIAL, Next, Table};
use super::used::Used;
use super::window::Window;
use super::{SearchOptions, Watch};
use linchpin_history_data::NEVER;
use linchpin_spec::Spec;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// A configuration before an event.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Spot<M> {
    event: u32,
    state: u32,
    used: u32,
    done: M,
}

/// What is tried first, before the operation whose deadline comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Preference {
    /// Nothing.
    Deadline,
    /// Operations like it whose effect is seen sooner: first in, first out.
    SeenSooner,
    /// Operations like it whose effect is seen later: last in, first out.
    SeenLater,
    /// Whatever was called before it.
    Called,
}

/// A configuration that has to be led on, and what was tried from there.
struct Branch<M> {
    spot: Spot<M>,
    /// How many operations have taken effect by then.
    steps: usize,
    /// The operations in progress, as positions in the window, in the order in which they are
    /// tried, if that is neither the one of the window nor the one of their calls.
    preferred: SmallVec<[u16; 16]>,
    /// In the order of their calls: operations before this one were tried.
    called: u32,
    /// The next thing to try: to let the deadline pass (0), an operation in progress, a crashed
    /// one.
    choice: usize,
    /// The next way in which that may take effect.
    way: u32,
}

/// How far the search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// [`DepthFirst::order`] explains the history.
    Found,
    /// There is nothing left to try.
    Exhausted,
    /// It has used up its budget, or the limits stopped it.
    Paused,
}

/// A search that can be interrupted. What it learns of the object is kept by a table that it may
/// share with others.
pub(crate) struct DepthFirst<'a, M: Mask> {
    problem: &'a Problem,
    options: &'a SearchOptions,
    preference: Preference,
    window: Window<'a>,
    used: Used,
    visited: FxHashSet<Spot<M>>,
    branches: Vec<Branch<M>>,
    /// The operations in the order in which they take effect.
    order: Vec<u32>,
    /// Where the search is; the window is that before its event.
    spot: Spot<M>,
    /// The last event it has been at. Up to there the history can be explained.
    pub deepest: usize,
}

impl<'a, M: Mask> DepthFirst<'a, M> {
    pub(crate) fn new(
        problem: &'a Problem,
        options: &'a SearchOptions,
        preference: Preference,
    ) -> Self {
        let done = M::empty(problem.width);
        let state = INITIAL;
        DepthFirst {
            problem,
            options,
            preference,
            window: Window::new(problem),
            used: Used::new(),
            visited: FxHashSet::default(),
            branches: Vec::new(),
            order: Vec::new(),
            spot: Spot { event: 0, state, used: Used::NONE, done },
            deepest: 0,
        }
    }

    /// The operations in the order in which they take effect.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Searches, for so many branches.
    pub(crate) fn run<S: Spec<State: 'static> + ?Sized>(
        &mut self,
        table: &mut Table<'_, S>,
        budget: usize,
        watch: &Watch<'_>,
    ) -> Progress {
        for work in 0..budget {
            if work % 1024 == 1023 && watch.exceeded(self.bytes() + table.bytes(), 0).is_some() {
                return Progress::Paused;
            }
            if self.advance(table) {
                return Progress::Found;
            }
            if self.visited.insert(self.spot.clone()) {
                let optional =
                    self.deadline().is_some_and(|(op, _)| !self.problem.ops[op].completed);
                let choice = usize::from(!optional);
                let (spot, steps) = (self.spot.clone(), self.order.len());
                let preferred = self.preferred();
                let (called, way) = (0, 0);
                self.branches.push(Branch { spot, steps, preferred, called, choice, way });
            }
            if !self.step_back(table) {
                return Progress::Exhausted;
            }
        }
        Progress::Paused
    }

    /// The operation whose deadline the search is before, and its slot.
    fn deadline(&self) -> Option<(usize, u32)> {
        let event = self.problem.events.get(self.spot.event as usize)?;
        match self.problem.ops[event.op as usize].place {
            Place::Slot(slot) if event.returns => Some((event.op as usize, slot)),
            _ => None,
        }
    }

    /// See [`Branch::preferred`].
    fn preferred(&self) -> SmallVec<[u16; 16]> {
        let live = &self.window.live;
        if matches!(self.preference, Preference::Deadline | Preference::Called) {
            return SmallVec::new();
        }
        let mut order: SmallVec<[u16; 16]> = (0..live.len() as u16).collect();
        let op = |at: u16| &self.problem.ops[live[at as usize] as usize];
        let call = |at: u16| self.problem.classes[op(at).class as usize].call.operation;
        // Where the deadline is, the window has its operation first, unless several have the same.
        let first = op(0);
        let like_first = |at: u16| call(at) == call(0);
        match self.preference {
            Preference::Deadline | Preference::Called => {}
            Preference::SeenSooner => order.sort_by_key(|&at| {
                let seen = op(at).seen_first;
                if like_first(at) && seen < first.seen_first { seen } else { NEVER }
            }),
            Preference::SeenLater => order.sort_by_key(|&at| {
                let seen = op(at).seen_last;
                let is_before = like_first(at) && seen > first.seen_last;
                (!is_before, if is_before { NEVER - seen } else { 0 })
            }),
        }
        order
    }

    /// Passes events until the deadline of an operation that has not taken effect; whether none is
    /// left.
    fn advance<S: Spec<State: 'static> + ?Sized>(&mut self, table: &mut Table<'_, S>) -> bool {
        while let Some(&event) = self.problem.events.get(self.spot.event as usize) {
            self.deepest = self.deepest.max(self.spot.event as usize);
            if let Some((_, slot)) = self.deadline() {
                self.look(table);
                if !self.spot.done.contains(slot) {
                    return false;
                }
                self.spot.done.remove(slot);
            }
            self.window.pass(event);
            self.spot.event += 1;
        }
        true
    }

    /// Lets look what only looks and sees its answer.
    fn look<S: Spec<State: 'static> + ?Sized>(&mut self, table: &mut Table<'_, S>) {
        if !self.options.eager {
            return;
        }
        for &at in &self.window.live {
            let op = &self.problem.ops[at as usize];
            let Place::Slot(slot) = op.place else { continue };
            if op.completed
                && !op.is_ordered
                && !self.spot.done.contains(slot)
                && table.observes(self.spot.state, op.class)
            {
                self.spot.done.insert(slot);
                self.order.push(at);
            }
        }
    }

    /// Returns to the last branch from which something is left to try, and tries it; whether there
    /// was one.
    fn step_back<S: Spec<State: 'static> + ?Sized>(&mut self, table: &mut Table<'_, S>) -> bool {
        while let Some(mut branch) = self.branches.pop() {
            while self.spot.event > branch.spot.event {
                self.spot.event -= 1;
                self.window.take_back(self.problem.events[self.spot.event as usize]);
            }
            self.spot = branch.spot.clone();
            self.order.truncate(branch.steps);
            if self.try_next(table, &mut branch) {
                self.branches.push(branch);
                return true;
            }
        }
        false
    }

    /// The position in the window of the operation that is tried as number `at`.
    fn position(&self, branch: &mut Branch<M>, at: usize) -> usize {
        match self.preference {
            Preference::Deadline => at,
            Preference::SeenSooner | Preference::SeenLater => branch.preferred[at] as usize,
            Preference::Called => {
                // Most branches try one or two: to sort them all would take longer.
                let later = self.window.live.iter().enumerate();
                let later = later.filter(|(_, op)| **op >= branch.called);
                let (at, op) = later.min_by_key(|(_, op)| **op).unwrap_or((at, &0));
                branch.called = *op;
                at
            }
        }
    }

    fn try_next<S: Spec<State: 'static> + ?Sized>(
        &mut self,
        table: &mut Table<'_, S>,
        branch: &mut Branch<M>,
    ) -> bool {
        let live = self.window.live.len();
        loop {
            let choice = branch.choice;
            if choice == 0 {
                // The operation need not take effect.
                branch.choice += 1;
                self.window.pass(self.problem.events[self.spot.event as usize]);
                self.spot.event += 1;
                return true;
            }
            let tried = match choice - 1 {
                at if at < live => {
                    let at = self.position(branch, at);
                    self.try_live(table, at, branch.way)
                }
                at if at < live + self.window.crashed.len() => {
                    self.try_crashed(table, self.window.crashed[at - live], branch.way)
                }
                _ => return false,
            };
            match tried {
                Some(changed) => {
                    branch.way += 1;
                    if changed {
                        return true;
                    }
                }
                None => {
                    (branch.choice, branch.way) = (choice + 1, 0);
                    branch.called += 1;
                }
            }
        }
    }

    /// Lets an operation in progress take effect in one of its ways; `None` if there are not so
    /// many, `Some(false)` if that would be of no use.
    fn try_live<S: Spec<State: 'static> + ?Sized>(
        &mut self,
        table: &mut Table<'_, S>,
        at: usize,
        way: u32,
    ) -> Option<bool> {
        let index = self.window.live[at];
        let op = &self.problem.ops[index as usize];
        let Place::Slot(slot) = op.place else { return None };
        if self.spot.done.contains(slot)
            || (self.options.symmetry && !op.is_ordered && self.has_earlier_twin(at))
        {
            return None;
        }
        let state = self.way(table, op.class, way)?;
        if !op.completed && state == self.spot.state {
            return Some(false);
        }
        self.spot.done.insert(slot);
        self.drop_others(index);
        self.spot.state = state;
        self.order.push(index);
        Some(true)
    }

    /// Once an operation has taken effect, what it drops cannot any more: it counts as done.
    fn drop_others(&mut self, op: u32) {
        for other in self.problem.drops.get(&op).into_iter().flatten() {
            if let Place::Slot(slot) = self.problem.ops[*other as usize].place
                && self.window.live.contains(other)
            {
                self.spot.done.insert(slot);
            }
        }
    }

    /// Whether an operation of the same class with an earlier deadline is waiting.
    fn has_earlier_twin(&self, at: usize) -> bool {
        let op = |at: &u32| &self.problem.ops[*at as usize];
        let class = op(&self.window.live[at]).class;
        self.window.live[..at].iter().map(op).any(|other| {
            let waiting =
                matches!(other.place, Place::Slot(slot) if !self.spot.done.contains(slot));
            other.class == class && !other.is_ordered && waiting
        })
    }

    fn try_crashed<S: Spec<State: 'static> + ?Sized>(
        &mut self,
        table: &mut Table<'_, S>,
        class: u32,
        way: u32,
    ) -> Option<bool> {
        let count = self.used.count(self.spot.used, class);
        if count == self.window.called[class as usize] {
            return None;
        }
        let crashed = &self.problem.crashed[class as usize];
        let state = self.way(table, crashed.class, way)?;
        if state == self.spot.state {
            return Some(false);
        }
        self.spot.used = self.used.one_more(self.spot.used, class);
        self.spot.state = state;
        self.order.push(crashed.ops[count as usize]);
        Some(true)
    }

    fn way<S: Spec<State: 'static> + ?Sized>(
        &self,
        table: &mut Table<'_, S>,
        class: u32,
        way: u32,
    ) -> Option<u32> {
        let next: Next = table.step(self.spot.state, class);
        (way < next.len()).then(|| table.state(next, way))
    }

    /// About how many bytes this keeps, without the table.
    pub(crate) fn bytes(&self) -> usize {
        self.used.bytes()
            + self.visited.capacity() * (size_of::<Spot<M>>() + 1) * 8 / 7
            + self.branches.capacity() * size_of::<Branch<M>>()
            + self.order.capacity() * 4
    }
}
