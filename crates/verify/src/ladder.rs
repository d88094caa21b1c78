//! The order in which engines are asked about a model, and when that ends: the ladder, as data.
//!
//! Most bugs die on the first rung, within seconds; where its search does not end, other ways to
//! search look deeper. Proofs for any number of threads come next, side by side; where there is
//! none, bounds on operations and values are left out; what time is left goes to larger bounds.
//! Each rung names the verdicts at which
//! nothing above it could say more. `climb.rs` climbs.

use linchpin_verdict::Verdict;
use std::time::Duration;

/// No engine is asked for less than this, unless the whole time is shorter: what took less was not
/// cut short.
pub const SHORTEST_PATIENCE: Duration = Duration::from_secs(5);

/// What is asked on a rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// The engines that look for violations, within the bounds that the model or the caller names.
    Bounded,
    /// Other ways to search, if time or memory stopped the first one.
    Otherwise,
    /// The engines that show something for any number of threads, side by side.
    Proofs,
    /// Refinement without the bounds on operations and values, where no proof says more: for about
    /// as many states as within them.
    Unbounded,
    /// Refinement within larger bounds, one step after the other, with the time that is left.
    Deeper,
}

/// A rung with its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is asked.
    pub rung: Rung,
    /// The verdicts after which the climb ends here.
    pub ends_at: &'static [Verdict],
    /// Of the time for the whole climb, the part that this rung may use: one in so many.
    pub one_in: u32,
}

/// The rungs, from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// The rungs with their rules.
    pub steps: &'static [Step],
    /// How long the whole climb takes at most; `None` if each engine knows how far to go.
    pub time: Option<Duration>,
}

impl Ladder {
    /// For one model: everything that a minute allows.
    pub const ONE: Ladder = Ladder {
        steps: &[
            Step { rung: Rung::Bounded, ends_at: &[Verdict::Violated], one_in: 3 },
            Step { rung: Rung::Otherwise, ends_at: &[Verdict::Violated], one_in: 1 },
            Step { rung: Rung::Proofs, ends_at: &[Verdict::Violated, Verdict::Proved], one_in: 1 },
            Step { rung: Rung::Unbounded, ends_at: &[Verdict::Violated], one_in: 2 },
            Step { rung: Rung::Deeper, ends_at: &[], one_in: 1 },
        ],
        time: Some(Duration::from_secs(60)),
    };

    /// For many models: no time is spent on larger bounds.
    pub const MANY: Ladder = Ladder {
        steps: &[
            Step { rung: Rung::Bounded, ends_at: &[Verdict::Violated], one_in: 2 },
            Step { rung: Rung::Otherwise, ends_at: &[Verdict::Violated], one_in: 1 },
            Step { rung: Rung::Proofs, ends_at: &[], one_in: 1 },
            Step { rung: Rung::Unbounded, ends_at: &[], one_in: 1 },
        ],
        time: Some(Duration::from_secs(120)),
    };

    /// Every engine, whatever the others say: their answers are held against each other.
    pub const EVERY_ENGINE: Ladder = Ladder {
        steps: &[
            Step { rung: Rung::Bounded, ends_at: &[], one_in: 2 },
            Step { rung: Rung::Proofs, ends_at: &[], one_in: 1 },
            Step { rung: Rung::Unbounded, ends_at: &[], one_in: 1 },
        ],
        time: None,
    };

    /// The same ladder with another time for the whole climb.
    pub const fn within(self, time: Duration) -> Ladder {
        Ladder { time: Some(time), ..self }
    }
}

/// The bounds that the caller has not fixed: only these are raised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Free {
    /// How many threads there are.
    pub threads: bool,
    /// How many operations each calls.
    pub calls: bool,
    /// How many values clients pass.
    pub values: bool,
}

/// A bound that can be raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// How many operations each thread calls.
    Calls,
    /// How many threads there are.
    Threads,
    /// How many values clients pass.
    Values,
}

impl Dimension {
    /// In the order in which they are raised by one, again and again.
    pub const ORDER: [Dimension; 3] = [Dimension::Calls, Dimension::Threads, Dimension::Values];
}

impl Free {
    /// Nothing is raised.
    pub const NOTHING: Free = Free { threads: false, calls: false, values: false };

    /// Whether a bound may be raised.
    pub const fn has(self, dimension: Dimension) -> bool {
        match dimension {
            Dimension::Calls => self.calls,
            Dimension::Threads => self.threads,
            Dimension::Values => self.values,
        }
    }
}
