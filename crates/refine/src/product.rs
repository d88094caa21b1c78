//! What the search explores: an implementation beside a normalised specification.
//!
//! A state of the product is an implementation state, as bytes, and a normalised specification
//! state (Definition 4 of the paper: the set of specification states that the same trace reaches),
//! as a number. Anything with states and labelled steps can stand on the implementation side.

/// A product of an implementation with a normalised specification.
pub trait Product: Sync {
    /// What a worker needs for itself: buffers, caches.
    type Worker: Send;

    /// A new worker.
    fn worker(&self) -> Self::Worker;

    /// The initial state: bytes and set.
    fn initial(&self) -> (Vec<u8>, u32);

    /// Function `next` of Figure 2: every way on, given to `emit`, always in the same order.
    fn expand(
        &self,
        worker: &mut Self::Worker,
        state: &[u8],
        set: u32,
        emit: &mut dyn FnMut(Step<'_>),
    );

    /// Whether every specification state in `smaller` is also in `larger`: then whatever goes wrong
    /// from `larger` goes wrong from `smaller` too.
    fn is_subset(&self, worker: &mut Self::Worker, smaller: u32, larger: u32) -> bool;

    /// Where the parts of a state end. Without an allowance, any parts are as good as others.
    fn parts(&self, state: &[u8]) -> Parts {
        Parts { allowance: 0, front: state.len() / 2 }
    }

    /// Whether one allowance is at least the other.
    fn allows(&self, more: &[u8], less: &[u8]) -> bool {
        more == less
    }

    /// Whether the allowance of a state that was expanded kept something from happening, since the
    /// last time this was asked.
    fn take_refused(&self, _worker: &mut Self::Worker) -> bool {
        false
    }

    /// States of a lower rank may cover those of a higher one, so they are explored first.
    fn rank(&self, _worker: &mut Self::Worker, _set: u32) -> usize {
        0
    }

    /// About how many bytes the specification side keeps.
    fn bytes(&self) -> usize;
}

/// Where the parts of a state end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The *allowance*: it says how much may still happen and nothing else. Of two states that are
    /// the same otherwise, the one that is allowed more has all the ways on that the other has.
    pub allowance: usize,
    /// The part after it. It and what comes then are kept apart, because they recur in many
    /// combinations.
    pub front: usize,
}

/// A way on.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The thread that moves, by its number in the state before.
    pub thread: usize,
    /// How many moves of the model this is.
    pub moves: usize,
    /// What comes of it.
    pub to: To<'a>,
}

/// What comes of a step.
#[derive(Clone, Copy, Debug)]
pub enum To<'a> {
    /// A state.
    State {
        /// Its bytes.
        bytes: &'a [u8],
        /// The specification states that explain it.
        set: u32,
        /// The number in it of the thread that moved.
        mover: usize,
        /// Whether that thread is in the middle of an operation.
        is_inside: bool,
    },
    /// Condition C1 of Figure 2 fails: no specification state has this event.
    Unexplained,
    /// The step itself goes wrong.
    Fault,
}
