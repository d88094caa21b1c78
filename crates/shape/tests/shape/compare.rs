//! Shape against refinement: what the one accepts, the other never refutes.

use crate::judge::{ANY, Accepts, Refined, Within, compiled, refine, shape};
use std::time::Duration;

/// How hard refinement tries.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// For each of [`BOUNDS`], at most so long.
    pub accepted: Duration,
    /// For what shape refuses: only the first bounds, to know both verdicts. Zero is not at all.
    pub refused: Duration,
}

/// Growing bounds: what is wrong with two calls of two threads is found at once; what needs many
/// nodes is found by one thread.
const BOUNDS: [(usize, u32); 5] = [(2, 2), (1, 5), (2, 3), (3, 2), (1, 8)];

/// How a comparison ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// It is no model: it does not compile.
    NoModel,
    /// Shape accepts it, and refinement found nothing wrong within all bounds, or within those that
    /// it could explore in time.
    Accepted,
    /// Shape refuses it, and so does refinement.
    Refuted,
    /// Shape refuses it; refinement finds nothing wrong.
    Refused,
    /// Shape accepts what refinement refutes.
    Contradiction(Within, Refined),
}

/// Compares the two on one model.
pub fn compare(source: &str, effort: Effort) -> Compared {
    let Some(model) = compiled(source, 2) else { return Compared::NoModel };
    let accepted = shape(&model.program, ANY, effort.accepted) == Accepts::Yes;
    if !accepted {
        let (threads, calls) = BOUNDS[0];
        let within = Within { threads, calls, values: 2 };
        let refuted =
            !effort.refused.is_zero() && refine(source, within, effort.refused, false).refutes();
        return if refuted { Compared::Refuted } else { Compared::Refused };
    }
    for (threads, calls) in BOUNDS {
        let within = Within { threads, calls, values: 2 };
        let found = refine(source, within, effort.accepted, false);
        if found.refutes() {
            return Compared::Contradiction(within, found);
        }
    }
    Compared::Accepted
}

/// How many ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Models compared.
    pub cases: usize,
    /// Accepted by both.
    pub accepted: usize,
    /// Refused by shape alone.
    pub refused: usize,
    /// Refused by both.
    pub refuted: usize,
    /// Accepted by shape alone.
    pub contradictions: usize,
}

impl Tally {
    /// Counts one. What is no model does not count.
    pub fn count(&mut self, compared: Compared) {
        match compared {
            Compared::NoModel => return,
            Compared::Accepted => self.accepted += 1,
            Compared::Refuted => self.refuted += 1,
            Compared::Refused => self.refused += 1,
            Compared::Contradiction(..) => self.contradictions += 1,
        }
        self.cases += 1;
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Tally { cases, accepted, refused, refuted, contradictions } = self;
        write!(
            out,
            "{cases} cases: {accepted} accepted by both, {refuted} refused by both, {refused} \
             refused by shape alone, {contradictions} contradictions"
        )
    }
}
