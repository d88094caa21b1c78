//! Two searches at once: depth first for a witness, breadth first for a violation.

use super::breadth_first::{SearchEnd, walk, walk_to};
use super::depth_first::{DepthFirst, Preference, Progress};
use super::explain::Possible;
use super::mask::{Mask, with_mask};
use super::problem::Problem;
use super::{SearchOptions, Watch};
use linchpin_spec::Spec;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// What the depth-first search may keep where no limit is given. Beyond, it is lost, and should not
/// cost more memory.
const DEPTH_FIRST_BYTES: usize = 1 << 28;

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
    if let Some(reason) = watch.exceeded(0) {
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
    let walked =
        with_mask!(problem.width, M => walk_to::<S, M>(spec, problem, options, watch, &mut states));
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
    for preference in [Preference::Deadline, Preference::SeenSooner, Preference::SeenLater] {
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
    if race && searches.len() == 3 {
        return both(spec, problem, options, watch, searches);
    }
    drop(searches);
    at_least(deepest, walk::<S, M>(spec, problem, options, watch))
}

fn both<S: Spec + ?Sized + Sync, M: Mask>(
    spec: &S,
    problem: &Problem,
    options: &SearchOptions,
    watch: &Watch<'_>,
    mut searches: Vec<DepthFirst<'_, S, M>>,
) -> SearchEnd
where
    S::State: 'static,
{
    let decided = AtomicBool::new(false);
    let watch = Watch { limits: watch.limits, decided: Some(&decided) };
    thread::scope(|scope| {
        let work = || {
            let walked = walk::<S, M>(spec, problem, options, &watch);
            decided.store(true, Ordering::Relaxed);
            walked
        };
        // Where no thread can be made, the breadth-first search decides alone.
        let Ok(walker) = thread::Builder::new().spawn_scoped(scope, work) else {
            return walk::<S, M>(spec, problem, options, &watch);
        };
        let mut found = None;
        let mut budget = 1 << 12;
        let mut deepest = 0;
        while found.is_none() && !searches.is_empty() {
            searches.retain_mut(|search| {
                let progress = search.run(budget, &watch);
                deepest = search.deepest.max(deepest);
                if progress == Progress::Found {
                    found.get_or_insert_with(|| search.order().to_vec());
                }
                let bytes = search.bytes();
                progress == Progress::Paused
                    && bytes < DEPTH_FIRST_BYTES
                    && watch.exceeded(bytes).is_none()
            });
            budget *= 2;
        }
        if found.is_some() {
            decided.store(true, Ordering::Relaxed);
        }
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
