//! Two searches at once: depth first for a witness, breadth first for a violation.

use super::breadth_first::{SearchEnd, walk, walk_to};
use super::depth_first::{DepthFirst, Preference, Progress};
use super::explain::Possible;
use super::mask::{Mask, with_mask};
use super::problem::Problem;
use super::table::Table;
use super::{Beside, SearchOptions, Side, Watch};
use linchpin_spec::Spec;
use linchpin_verdict::{Limits, StopReason};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// What the depth-first searches may keep where no limit is given. Beyond, they are lost, and
/// should not cost more memory.
const DEPTH_FIRST_BYTES: usize = 1 << 29;

/// The depth-first searches, in the order in which they have their turns.
const PREFERENCES: [Preference; 4] =
    [Preference::Called, Preference::Deadline, Preference::SeenSooner, Preference::SeenLater];

/// A depth-first search that mistakes updates for observers starts over so often.
const ATTEMPTS: usize = 3;

/// How often a first turn is prolonged at most.
const SLICES: usize = 8;

/// So many of them have a short turn before the breadth-first search has one.
const FIRST: usize = 2;

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
    let mut table = Table::new(spec, problem);
    let walked = with_mask!(problem.width, M => walk_to::<S, M>(&mut table, problem, options, watch, Some(&mut states)));
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
    let mut table = Table::new(spec, problem);
    if !options.depth_first {
        return walk::<S, M>(table, problem, options, watch);
    }
    table.is_shared = true;
    // Most histories that can be explained are explained almost without stepping back, and most
    // short ones that cannot are refuted by few configurations: two threads would not pay.
    let mut witness = WitnessSearch::<S, M> { table, searches: Vec::new(), deepest: 0, left: None };
    for (turn, preference) in PREFERENCES.into_iter().enumerate() {
        if turn == FIRST
            && let Some(walked) = witness.walk_shortly(problem, options, watch)
        {
            return walked;
        }
        match witness.first_turn(problem, options, preference, watch) {
            Progress::Found => return SearchEnd::Explained(witness.last_order()),
            // There is nothing to be found in another order.
            Progress::Exhausted => break,
            Progress::Paused => {}
        }
    }
    if witness.searches.len() < PREFERENCES.len()
        || !(race || watch.limits.configurations.is_some())
    {
        return witness.walk_alone(problem, options, watch);
    }
    witness.left = watch.limits.configurations.map(|most| most / 4);
    if race {
        return both(spec, problem, options, watch, witness);
    }
    // One after the other, with the same budgets as two threads have, so that it is the same which
    // histories are decided.
    if let Some(order) = witness.run(watch) {
        return SearchEnd::Explained(order);
    }
    witness.walk_alone(problem, options, watch)
}

/// Depth-first searches with different preferences, which take turns.
struct WitnessSearch<'a, S: Spec + ?Sized, M: Mask> {
    /// What they know of the object.
    table: Table<'a, S>,
    searches: Vec<DepthFirst<'a, M>>,
    /// The last event that one of them has been at.
    deepest: usize,
    /// How many branches each of them may still try.
    left: Option<u64>,
}

impl<'a, S: Spec + ?Sized, M: Mask> WitnessSearch<'a, S, M>
where
    S::State: 'static,
{
    /// A search with another preference has a short turn. If it goes on, it is one of the searches.
    fn first_turn(
        &mut self,
        problem: &'a Problem,
        options: &'a SearchOptions,
        preference: Preference,
        watch: &Watch<'_>,
    ) -> Progress {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let mut search = DepthFirst::new(problem, options, preference);
            let slice = options.first_turn.unwrap_or(problem.ops.len() + 128);
            let progress = self.while_deeper(&mut search, slice, watch);
            // What the search took for an observer may be why it found nothing.
            if progress != Progress::Found && attempts < ATTEMPTS && self.table.probe() {
                continue;
            }
            if progress != Progress::Exhausted {
                self.searches.push(search);
            }
            return progress;
        }
    }

    /// Runs a search as long as it comes farther than any did before.
    fn while_deeper(
        &mut self,
        search: &mut DepthFirst<'_, M>,
        slice: usize,
        watch: &Watch<'_>,
    ) -> Progress {
        for _ in 0..SLICES {
            let progress = search.run(&mut self.table, slice, watch);
            let is_deeper = search.deepest > self.deepest;
            self.deepest = search.deepest.max(self.deepest);
            if progress != Progress::Paused || !is_deeper {
                return progress;
            }
        }
        Progress::Paused
    }

    /// The breadth-first search has a short turn; nothing if that is not enough.
    fn walk_shortly(
        &mut self,
        problem: &Problem,
        options: &SearchOptions,
        watch: &Watch<'_>,
    ) -> Option<SearchEnd> {
        let few = 4 * problem.ops.len() as u64 + 2048;
        let configurations = watch.limits.configurations.map_or(few, |most| most.min(few));
        let limits = Limits { configurations: Some(configurations), ..watch.limits.clone() };
        let short = Watch { limits: &limits, ..*watch };
        match walk_to::<S, M>(&mut self.table, problem, options, &short, None) {
            SearchEnd::Stopped { reason: StopReason::Budget, event } => {
                self.deepest = event.max(self.deepest);
                None
            }
            walked => Some(walked),
        }
    }

    /// The breadth-first search decides alone.
    fn walk_alone(
        self,
        problem: &Problem,
        options: &SearchOptions,
        watch: &Watch<'_>,
    ) -> SearchEnd {
        let WitnessSearch { mut table, deepest, .. } = self;
        table.is_shared = false;
        at_least(deepest, walk::<S, M>(table, problem, options, watch))
    }

    /// An order that explains the history, if it is found.
    fn run(&mut self, watch: &Watch<'_>) -> Option<Vec<u32>> {
        // Short at first, so that one that is about to find something does not wait for the others.
        let mut turn: u64 = 1 << 9;
        while !self.searches.is_empty() && self.left != Some(0) {
            let branches = self.left.map_or(turn, |left| left.min(turn));
            let mut at = 0;
            while at < self.searches.len() {
                let search = &mut self.searches[at];
                let budget = usize::try_from(branches).unwrap_or(usize::MAX);
                let progress = search.run(&mut self.table, budget, watch);
                self.deepest = search.deepest.max(self.deepest);
                if progress == Progress::Found {
                    return Some(search.order().to_vec());
                }
                let bytes = self.bytes();
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

    /// The order that the search found that had the last turn.
    fn last_order(&self) -> Vec<u32> {
        self.searches.last().map_or_else(Vec::new, |search| search.order().to_vec())
    }

    /// About how many bytes they keep.
    fn bytes(&self) -> usize {
        self.table.bytes() + self.searches.iter().map(DepthFirst::bytes).sum::<usize>()
    }

    /// Ends the searches; how far they came.
    fn end(self, options: &SearchOptions, watch: &Watch<'_>) -> usize {
        if options.abandon {
            self.table.free(watch);
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
    // States need not be fit to be sent to another thread.
    let effects = witness.table.effects().to_vec();
    thread::scope(|scope| {
        let work = || {
            let table = Table::new(spec, problem).knowing(effects);
            let walked = walk::<S, M>(table, problem, options, &watch);
            // Where the budget ended it, the other search may still find something.
            if !matches!(walked, SearchEnd::Stopped { reason: StopReason::Budget, .. }) {
                decided.store(true, Ordering::Relaxed);
            }
            walked
        };
        // Where no thread can be made, the breadth-first search decides alone.
        let Ok(walker) = thread::Builder::new().spawn_scoped(scope, work) else {
            return witness.walk_alone(problem, options, &watch);
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
