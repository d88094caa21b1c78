//! One deadline, seen from the states in which the object may be: what can take effect before it.

use super::SearchOptions;
use super::config::Order;
use super::mask::Mask;
use super::problem::{Place, Problem};
use super::table::{Effect, Next, Table};
use super::window::Window;
use linchpin_spec::Spec;
use rustc_hash::FxHashMap;

/// An operation in progress.
struct Candidate<M> {
    op: u32,
    slot: u32,
    class: u32,
    completed: bool,
    /// Operations of the same class with earlier deadlines. Whatever this one could do for the
    /// history, they can do as well, so it is tried only after them.
    before: M,
    /// Operations that cannot take effect any more once this one has; nothing if there are none.
    drops: Option<M>,
}

/// An operation that takes effect in a configuration.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mover {
    /// The operation in progress in this slot.
    Slot(u32),
    /// The next operation of this crashed class.
    Crashed(u32),
}

/// What can take effect in a state.
#[derive(Clone)]
struct View<M> {
    /// The operations that only look, and see what they answered.
    looking: M,
    /// The others, as a range of `Moment::moves`.
    moves: (u32, u32),
}

/// What can take effect before a deadline.
pub(crate) struct Moment<M> {
    candidates: Vec<Candidate<M>>,
    /// Which operation is in a slot.
    occupants: Vec<u32>,
    /// The candidate in a slot.
    at_slot: Vec<u32>,
    pub order: Order<M>,
    views: FxHashMap<u32, View<M>>,
    moves: Vec<(Mover, Next)>,
    eager: bool,
    symmetry: bool,
    presumes: bool,
}

impl<M: Mask> Moment<M> {
    pub(crate) fn new(problem: &Problem, options: &SearchOptions) -> Moment<M> {
        Moment {
            candidates: Vec::new(),
            occupants: vec![0; problem.width],
            at_slot: vec![0; problem.width],
            order: Order {
                dominance: options.dominance,
                observers: M::empty(problem.width),
                optional: M::empty(problem.width),
            },
            views: FxHashMap::default(),
            moves: Vec::new(),
            eager: options.eager,
            symmetry: options.symmetry,
            presumes: options.eager || options.dominance,
        }
    }

    /// Looks at another instant.
    pub(crate) fn turn_to<S: Spec + ?Sized>(
        &mut self,
        problem: &Problem,
        window: &Window<'_>,
        table: &Table<'_, S>,
    ) where
        S::State: 'static,
    {
        let nothing = M::empty(problem.width);
        self.candidates.clear();
        self.views.clear();
        self.moves.clear();
        self.order.observers = nothing.clone();
        self.order.optional = nothing.clone();
        let mut twins: FxHashMap<u32, M> = FxHashMap::default();
        for &op in &window.live {
            let index = op;
            let op = &problem.ops[op as usize];
            let Place::Slot(slot) = op.place else { continue };
            let mut before = nothing.clone();
            // Operations in an order can do what their twins cannot.
            if self.symmetry && !op.is_ordered {
                let same = twins.entry(op.class).or_insert_with(|| nothing.clone());
                before = same.clone();
                same.insert(slot);
            }
            if !op.completed {
                self.order.optional.insert(slot);
            } else if table.effect(op.class) == Effect::Observer {
                self.order.observers.insert(slot);
            }
            self.occupants[slot as usize] = index;
            self.at_slot[slot as usize] = self.candidates.len() as u32;
            let (class, completed) = (op.class, op.completed);
            let drops = dropped(problem, window, index);
            self.candidates.push(Candidate { op: index, slot, class, completed, before, drops });
        }
    }

    /// The operation in a slot.
    pub(crate) fn occupant(&self, slot: u32) -> u32 {
        self.occupants[slot as usize]
    }

    /// Finds out, once for each state, what can take effect in it. `suspects` are classes taken for
    /// observers whose operations have returned: they are tried too, so that a mistake about them
    /// comes out.
    fn view<S: Spec + ?Sized>(
        &mut self,
        state: u32,
        problem: &Problem,
        window: &Window<'_>,
        table: &mut Table<'_, S>,
        suspects: &[u32],
    ) -> &View<M>
    where
        S::State: 'static,
    {
        if !self.views.contains_key(&state) {
            let start = self.moves.len() as u32;
            let mut looking = M::empty(problem.width);
            for candidate in &self.candidates {
                let next = table.step(state, candidate.class);
                let observes = candidate.completed
                    && self.presumes
                    && next == Next::One(state)
                    && table.effect(candidate.class) == Effect::Observer;
                // What drops others is not as good done as not done.
                if observes && self.eager && candidate.drops.is_none() {
                    looking.insert(candidate.slot);
                } else if next != Next::None && (candidate.completed || next != Next::One(state)) {
                    self.moves.push((Mover::Slot(candidate.slot), next));
                }
            }
            for &class in &window.crashed {
                let next = table.step(state, problem.crashed[class as usize].class);
                if next != Next::None && next != Next::One(state) {
                    self.moves.push((Mover::Crashed(class), next));
                }
            }
            for &class in suspects {
                table.step(state, class);
            }
            let moves = (start, self.moves.len() as u32);
            self.views.insert(state, View { looking, moves });
        }
        &self.views[&state]
    }

    /// What looks and sees its answer in a state, and the range of the moves from it.
    pub(crate) fn seen_from<S: Spec + ?Sized>(
        &mut self,
        state: u32,
        problem: &Problem,
        window: &Window<'_>,
        table: &mut Table<'_, S>,
        suspects: &[u32],
    ) -> (M, std::ops::Range<usize>)
    where
        S::State: 'static,
    {
        let view = self.view(state, problem, window, table, suspects);
        (view.looking.clone(), view.moves.0 as usize..view.moves.1 as usize)
    }

    /// About how many bytes this keeps.
    pub(crate) fn bytes(&self) -> usize {
        let view = size_of::<(u32, View<M>)>() + 1;
        self.moves.capacity() * size_of::<(Mover, Next)>() + self.views.capacity() * view * 8 / 7
    }

    /// A move.
    pub(crate) fn get(&self, at: usize) -> (Mover, Next) {
        self.moves[at]
    }

    /// What is done once the operation in a slot has taken effect: it, and what it drops, which
    /// cannot take effect any more.
    pub(crate) fn take_effect(&self, slot: u32, done: &M) -> M {
        let mut done = done.clone();
        done.insert(slot);
        match &self.candidates[self.at_slot[slot as usize] as usize].drops {
            Some(drops) => done.or(drops),
            None => done,
        }
    }

    /// Whether the operation in a slot is to be tried, after those in `done` took effect.
    pub(crate) fn may_try(&self, slot: u32, done: &M) -> bool {
        let candidate = &self.candidates[self.at_slot[slot as usize] as usize];
        debug_assert_eq!(candidate.op, self.occupants[slot as usize]);
        !done.contains(slot) && candidate.before.is_subset(done)
    }
}

/// The slots of the operations in progress that cannot take effect any more once `op` has.
fn dropped<M: Mask>(problem: &Problem, window: &Window<'_>, op: u32) -> Option<M> {
    let dropped = problem.drops.get(&op)?;
    let mut slots = M::empty(problem.width);
    for other in dropped.iter().filter(|other| window.live.contains(other)) {
        if let Place::Slot(slot) = problem.ops[*other as usize].place {
            slots.insert(slot);
        }
    }
    Some(slots)
}
