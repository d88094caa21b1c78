//! Stacks. The state is the number of a place in the tree of all stacks that came about: what is on
//! top, and the place of what is below.

use super::contents::Call;
use super::removals::Removals;
use super::slices::{Number, index};
use super::{Model, State};
use rustc_hash::FxHashMap;

/// The place of the empty stack.
const EMPTY: State = 0;

pub(super) struct Pile {
    /// The value on top and the place of what is below, by place. The first is never looked at.
    places: Vec<(Number, State)>,
    /// The place of a stack with one more value.
    above: FxHashMap<(State, Number), State>,
    initial: State,
    removals: Removals,
}

impl Pile {
    /// With these values at the start, the last one on top.
    pub(super) fn new(values: &[Number]) -> Pile {
        let mut pile = Pile {
            places: vec![(0, EMPTY)],
            above: FxHashMap::default(),
            initial: EMPTY,
            removals: Removals::default(),
        };
        pile.initial = values.iter().fold(EMPTY, |place, value| pile.push(place, *value));
        pile
    }

    fn push(&mut self, place: State, value: Number) -> State {
        let Pile { places, above, .. } = self;
        *above.entry((place, value)).or_insert_with(|| {
            places.push((value, place));
            // INVARIANT: memory ends before numbers do.
            State::try_from(places.len() - 1).unwrap_or(State::MAX)
        })
    }

    /// What is on top, and what is below.
    fn top(&self, place: State) -> Option<(Number, State)> {
        (place != EMPTY).then(|| self.places[index(place)])
    }
}

impl Model for Pile {
    type Call = Call;

    fn initial(&self) -> State {
        self.initial
    }

    fn step(&mut self, state: State, call: Call) -> Option<State> {
        match call {
            Call::Add(value) => Some(self.push(state, value)),
            Call::Remove(value) => {
                let (top, below) = self.top(state)?;
                (top == value).then_some(below)
            }
            Call::RemoveAny => self.top(state).map(|(_, below)| below),
            Call::Peek(value) => (self.top(state)?.0 == value).then_some(state),
            Call::Empty => (state == EMPTY).then_some(state),
        }
    }

    fn only_looks(call: Call) -> bool {
        call.only_looks()
    }

    fn may_come<'a>(
        &mut self,
        state: State,
        call: Call,
        in_progress: impl Iterator<Item = Call> + Clone + 'a,
    ) -> bool {
        let Some(wanted) = call.finds() else { return true };
        // What is pushed is on top.
        let is_pushed = |value: Number| in_progress.clone().any(|call| call == Call::Add(value));
        if wanted.is_some_and(is_pushed) {
            return true;
        }
        let Pile { places, removals, .. } = self;
        let tops = std::iter::successors(Some(state), |place| Some(places[index(*place)].1));
        let tops = tops.take_while(|place| *place != EMPTY).map(|place| places[index(place)].0);
        removals.uncover(wanted, tops, in_progress)
    }

    fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<(Number, State)>()
            + self.above.capacity() * (size_of::<((State, Number), State)>() + 1) * 8 / 7
    }
}
