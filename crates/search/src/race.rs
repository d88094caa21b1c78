//! Two searches at once: depth first for a witness, breadth first for a violation.

use super::breadth_first::{SearchEnd, walk, walk_to};
use super::depth_first::{DepthFirst, Preference, Progress};
use super::explain::Possible;
use super::mask::{Mask, with_mask};
use super::problem::Problem;
use super::{Beside, SearchOptions, Side, Watch};
use linchpin_spec::Spec;
use linchpin_verdict::StopReason;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// What the depth-first searches may keep where no limit is given. Beyond, they are lost, and should
/// not cost more memory.
const DEPTH_FIRST_BYTES: usize = 1 << 29;

/// The depth-first searches, in the order in which they have their turns.
const PREFERENCES: [Preference; 4] =
    [Preference::Deadline, Preference::Called, Preference::SeenSooner, Preference::SeenLater];

/// Decides a problem, on two threads if `race`.
pub(crate) fn decide<S: Spec + ?Sized + Sync>(
    spec: &S,
    problem: &Problem,
    options: &SearchOptions,
    watch: &Watch<'_>,
    race: bool,
) -> SearchEnd
where
    S::State: 'static,
{
    if let Some(reason) = watch.exceeded(0, 0) {
        return SearchEnd::Stopped { reason, event: 0 };
    }
    with_mask!(problem.width, M => decide_with::<S, M>(spec, problem, options, watch, race))
}

/// The states in which the object may be after the last event, if nothing that is in progress then
/// takes effect; none if there is no time to find out.
pub(crate) fn states_after<S: Spec + ?Sized>(
    spec: &S,
    problem: &Problem,
    options: &SearchOptions,
    watch: &Watch<'_>,
) -> Vec<Possible>
where
    S::State: 'static,
{
    let mut states = Vec::new();
    let walked = with_mask!(problem.width, M => walk_to::<S, M>(spec, problem, options, watch, Some(&mut states)));
    if let SearchEnd::Stopped { .. } = walked {
        states.clear();
    }
    states
}

fn decide_with<S: Spec + ?Sized + Sync, M: Mask>(
    spec: &S,
    problem: &Problem,
    options: &SearchOptions,
    watch: &Watch<'_>,
    race: bool,
) -> SearchEnd
where
    S::State: 'static,
{
    if !options.depth_first {
        return walk::<S, M>(spec, problem, options, watch);
    }
    // Most histories that can be explained are explained almost without stepping back: two threads
    // would not pay.
    let mut deepest = 0;
    let mut searches = Vec::new();
    for preference in PREFERENCES {
        let mut search = DepthFirst::<S, M>::new(spec, problem, options, preference);
        let progress = search.run(2 * problem.ops.len() + 256, watch);
        deepest = search.deepest.max(deepest);
        match progress {
            Progress::Found => return SearchEnd::Explained(search.order().to_vec()),
            // There is nothing to be found in another order.
            Progress::Exhausted => break,
            Progress::Paused => searches.push(search),
        }
    }
    if searches.len() < PREFERENCES.len() || !(race || watch.limits.configurations.is_some()) {
        drop(searches);
        return at_least(deepest, walk::<S, M>(spec, problem, options, watch));
    }
    let mut witness =
        WitnessSearch { searches, deepest, left: watch.limits.configurations.map(|most| most / 4) };
    if race {
        return both(spec, problem, options, watch, witness);
    }
    // One after the other, with the same budgets as two threads have, so that it is the same which
    // histories are decided.
    if let Some(order) = witness.run(watch) {
        return SearchEnd::Explained(order);
    }
    let deepest = witness.end(options, watch);
    at_least(deepest, walk::<S, M>(spec, problem, options, watch))
}

/// Depth-first searches with different preferences, which take turns.
struct WitnessSearch<'a, S: Spec + ?Sized, M: Mask> {
    searches: Vec<DepthFirst<'a, S, M>>,
    /// The last event that one of them has been at.
    deepest: usize,
    /// How many branches each of them may still try.
    left: Option<u64>,
}

impl<S: Spec + ?Sized, M: Mask> WitnessSearch<'_, S, M>
where
    S::State: 'static,
{
    /// An order that explains the history, if it is found.
    fn run(&mut self, watch: &Watch<'_>) -> Option<Vec<u32>> {
        // Short at first, so that one that is about to find something does not wait for the others.
        let mut turn: u64 = 1 << 9;
        while !self.searches.is_empty() && self.left != Some(0) {
            let branches = self.left.map_or(turn, |left| left.min(turn));
            let mut at = 0;
            while at < self.searches.len() {
                let others = self.searches.iter().map(DepthFirst::bytes).sum::<usize>()
                    - self.searches[at].bytes();
                let search = &mut self.searches[at];
                let progress = search.run(usize::try_from(branches).unwrap_or(usize::MAX), watch);
                self.deepest = search.deepest.max(self.deepest);
                if progress == Progress::Found {
                    return Some(search.order().to_vec());
                }
                let bytes = others + search.bytes();
                if progress == Progress::Exhausted
                    || bytes >= DEPTH_FIRST_BYTES
                    || watch.exceeded(bytes, 0).is_some()
                {
                    if watch.is_over() {
                        return None;
                    }
                    self.searches.remove(at);
                } else {
                    at += 1;
                }
            }
            self.left = self.left.map(|left| left - branches);
            turn *= 2;
        }
        None
    }

    /// Ends the searches; how far they came.
    fn end(self, options: &SearchOptions, watch: &Watch<'_>) -> usize {
        if options.abandon {
            self.searches.into_iter().for_each(|search| search.free(watch));
        }
        self.deepest
    }
}

fn both<S: Spec + ?Sized + Sync, M: Mask>(
    spec: &S,
    problem: &Problem,
    options: &SearchOptions,
    watch: &Watch<'_>,
    mut witness: WitnessSearch<'_, S, M>,
) -> SearchEnd
where
    S::State: 'static,
{
    let (decided, kept) = (AtomicBool::new(false), AtomicUsize::new(0));
    let beside = Beside { decided: &decided, kept: &kept };
    let limits = watch.limits;
    let watch = Watch { limits, beside: Some((beside, Side::Violation)) };
    let witness_watch = Watch { limits, beside: Some((beside, Side::Witness)) };
    thread::scope(|scope| {
        let work = || {
            let walked = walk::<S, M>(spec, problem, options, &watch);
            // Where the budget ended it, the other search may still find something.
            if !matches!(walked, SearchEnd::Stopped { reason: StopReason::Budget, .. }) {
                decided.store(true, Ordering::Relaxed);
            }
            walked
        };
        // Where no thread can be made, the breadth-first search decides alone.
        let Ok(walker) = thread::Builder::new().spawn_scoped(scope, work) else {
            return walk::<S, M>(spec, problem, options, &watch);
        };
        let found = witness.run(&witness_watch);
        if found.is_some() {
            decided.store(true, Ordering::Relaxed);
        }
        let deepest = witness.end(options, &witness_watch);
        kept.store(0, Ordering::Relaxed);
        let walked = walker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        found.map_or_else(|| at_least(deepest, walked), SearchEnd::Explained)
    })
}

/// If both searches were stopped, what the one that came farthest knows counts.
fn at_least(deepest: usize, walked: SearchEnd) -> SearchEnd {
    match walked {
        SearchEnd::Stopped { reason, event } => {
            SearchEnd::Stopped { reason, event: event.max(deepest) }
        }
        walked => walked,
    }
}
