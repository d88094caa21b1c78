//! Any number of threads: one-thread views, closed under the moves of the thread and under those of
//! any other.
//!
//! A view is what one thread knows of a state: shared and reference variables, its own names, and
//! the heap that these reach. Every reachable state projects, for each of its threads, into a view.
//! A move of another thread changes the projection only in a state whose projections to both
//! threads are views, hence in their join (`join.rs`); what is forgotten only adds behaviour.

use crate::correlate::{Judged, Machine};
use crate::explore::{Explored, Origin, Stopped, Table};
use crate::failure::Failure;
use crate::join::{SECOND, Side, forget_holders, joins, projected};
use crate::state::{Key, Phase, State};
use crate::targets::Targets;
use crate::value::Scalar;
use linchpin_verdict::Limits;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The views of one shared key, and what interferes with them.
#[derive(Default)]
struct Group {
    views: Vec<usize>,
    interferers: Vec<usize>,
}

struct Analysis<'a> {
    machine: &'a Machine,
    /// The group of each view and of each interferer.
    group_of_view: Vec<usize>,
    group_of_interferer: Vec<usize>,
    views: Table<Targets>,
    /// What other threads do: views whose next move others can notice, cut down to what the move
    /// needs.
    interferers: Table<Targets>,
    groups: Vec<Group>,
    keys: FxHashMap<Key, usize>,
    /// Views and interferers that are new or have grown.
    new_views: Vec<usize>,
    new_interferers: Vec<usize>,
}

/// The views of any number of threads.
pub fn views(
    machine: &Machine,
    initial: Vec<State<Targets>>,
    workers: usize,
    limits: &Limits,
    progress: &dyn Fn(usize),
) -> Explored<Targets> {
    let mut analysis = Analysis {
        machine,
        group_of_view: Vec::new(),
        group_of_interferer: Vec::new(),
        views: Table::default(),
        interferers: Table::default(),
        groups: Vec::new(),
        keys: FxHashMap::default(),
        new_views: Vec::new(),
        new_interferers: Vec::new(),
    };
    for state in initial {
        analysis.add(state, Origin::Initial);
    }
    let (mut moves, mut joined) = (0, 0);
    let mut stopped = None;
    while stopped.is_none() {
        let mut changed = std::mem::take(&mut analysis.new_views);
        changed.sort_unstable();
        changed.dedup();
        for at in &changed {
            match analysis.own(*at) {
                Ok(count) => moves += count,
                Err(failure) => {
                    stopped = Some(Stopped::Failed { at: *at, thread: 0, failure });
                    break;
                }
            }
        }
        if stopped.is_some() {
            break;
        }
        let mut others = std::mem::take(&mut analysis.new_interferers);
        others.sort_unstable();
        others.dedup();
        let pairs = analysis.pairs(&changed, &others);
        if pairs.is_empty() && analysis.new_views.is_empty() {
            break;
        }
        joined += pairs.len();
        match analysis.interfere(&pairs, workers, limits) {
            Ok(results) => {
                for (state, origin) in results {
                    analysis.add(state, origin);
                }
            }
            Err((at, failure)) => stopped = Some(Stopped::Failed { at, thread: SECOND, failure }),
        }
        let bytes = analysis.views.bytes + analysis.interferers.bytes;
        stopped = stopped.or(limits.exceeded(bytes).map(Stopped::Limit));
        progress(analysis.views.states.len());
    }
    let bytes = analysis.views.bytes + analysis.interferers.bytes;
    Explored {
        states: analysis.views.states,
        interferers: analysis.interferers.states,
        stopped,
        moves,
        joins: joined,
        bytes,
    }
}

impl Analysis<'_> {
    fn add(&mut self, state: State<Targets>, origin: Origin) {
        let known = self.views.states.len();
        let Some(at) = self.views.add(state, origin) else { return };
        if at >= known {
            let group = self.group(self.views.states[at].state.shared_key());
            self.groups[group].views.push(at);
            self.group_of_view.push(group);
        }
        self.new_views.push(at);
    }

    /// The group of the states with this shared part.
    fn group(&mut self, key: Key) -> usize {
        let next = self.groups.len();
        let group = *self.keys.entry(key).or_insert(next);
        if group == next {
            self.groups.push(Group::default());
        }
        group
    }

    /// The moves of the thread of a view.
    fn own(&mut self, at: usize) -> Result<usize, Failure> {
        let state = self.views.states[at].state.clone();
        let moved = self.machine.moves(&state, 0, Judged::Yes)?;
        let visible = moved.iter().any(|moved| moved.visible);
        let count = moved.len();
        for mut moved in moved {
            // Its own step may have moved the node below K: of others no holder is known.
            forget_holders(self.machine.locks, &mut moved.state);
            moved.state.canonical();
            self.add(moved.state, Origin::Own(at, 0));
        }
        if visible {
            let known = self.interferers.states.len();
            if let Some(new) = self.interferers.add(self.needed(state), Origin::Own(at, 0)) {
                if new >= known {
                    let key = self.interferers.states[new].state.shared_key();
                    let group = self.group(key);
                    self.groups[group].interferers.push(new);
                    self.group_of_interferer.push(group);
                }
                self.new_interferers.push(new);
            }
        }
        Ok(count)
    }

    /// A view cut down to what the next move of its thread needs.
    fn needed(&self, mut state: State<Targets>) -> State<Targets> {
        let thread = &mut state.threads[0];
        if let Some((operation, node)) = thread.at {
            let code = &self.machine.model.operations[usize::from(operation)];
            let used = &code.used[usize::from(node)];
            for (word, used) in thread.locals.iter_mut().zip(used) {
                if !used {
                    *word = Scalar::Dead;
                }
            }
        }
        if let Phase::Post(answer) = &mut thread.phase {
            *answer = Scalar::Dead;
        }
        thread.seen = 0;
        thread.asked = None;
        forget_holders(self.machine.locks, &mut state);
        state.canonical();
        state
    }

    /// The pairs of a view and an interferer of which one is new.
    fn pairs(&self, views: &[usize], interferers: &[usize]) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for view in views {
            let group = &self.groups[self.group_of_view[*view]];
            pairs.extend(group.interferers.iter().map(|other| (*view, *other)));
        }
        for other in interferers {
            let group = &self.groups[self.group_of_interferer[*other]];
            let old = group.views.iter().filter(|view| views.binary_search(view).is_err());
            pairs.extend(old.map(|view| (*view, *other)));
        }
        pairs
    }

    /// What views become by the moves of others, in parallel.
    fn interfere(
        &self,
        pairs: &[(usize, usize)],
        workers: usize,
        limits: &Limits,
    ) -> Result<Vec<(State<Targets>, Origin)>, (usize, Failure)> {
        const BATCH: usize = 64;
        let next = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let work = || {
            let mut out: Table<Targets> = Table::default();
            while !stop.load(Ordering::Relaxed) {
                let start = next.fetch_add(BATCH, Ordering::Relaxed);
                let Some(batch) = pairs.get(start..pairs.len().min(start + BATCH)) else { break };
                if batch.is_empty() || limits.exceeded(out.bytes).is_some() {
                    stop.store(limits.exceeded(0).is_some(), Ordering::Relaxed);
                    break;
                }
                for (view, other) in batch {
                    self.beside(*view, *other, &mut out).map_err(|failure| (*view, failure))?;
                }
            }
            Ok(out.states.into_iter().map(|at| (at.state, at.origin)).collect::<Vec<_>>())
        };
        if workers < 2 || pairs.len() < 4 * BATCH {
            return work();
        }
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            let mut all = Vec::new();
            for thread in threads {
                match thread.join() {
                    Ok(found) => all.extend(found?),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            Ok(all)
        })
    }

    /// What one view becomes by the moves of one other thread.
    fn beside(&self, view: usize, other: usize, out: &mut Table<Targets>) -> Result<(), Failure> {
        let first = Side::new(&self.views.states[view].state);
        let second = Side::new(&self.interferers.states[other].state);
        joins(self.machine, &first, &second, &mut |state| {
            for moved in self.machine.moves(&state, SECOND, Judged::No)? {
                if moved.visible {
                    out.add(projected(self.machine.locks, moved.state), Origin::Beside(view, other));
                }
            }
            Ok(())
        })
    }
}
