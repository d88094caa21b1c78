//! Any number of threads: one-thread views, closed under the moves of the thread and under those of
//! any other.
//!
//! A view is what one thread knows of a state: shared and reference variables, its own names, and
//! the heap that these reach. Every reachable state projects, for each of its threads, into a view.
//! A move of another thread changes the projection only in a state whose projections to both
//! threads are views, hence in their join (`join.rs`); what is forgotten only adds behaviour.
//!
//! What other threads do to a view depends on its [`Body`] only: the heap and the nodes that its
//! thread names, whatever the thread is about to do. Views share bodies, so that each pair of a
//! body and an interferer is joined once.

use crate::correlate::{Judged, Locks, Machine};
use crate::explore::{Explored, Origin, Stopped, Table};
use crate::failure::Failure;
use crate::heap::Heap;
use crate::join::{SECOND, Side, forget_holders, joins, projected};
use crate::state::{Key, Phase, State, Thread};
use crate::targets::Targets;
use crate::value::{Holder, NodeId, Scalar};
use linchpin_verdict::Limits;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A view without what its thread is about to do.
struct Body {
    /// The view, its thread idle; its locals are the nodes that the thread names.
    state: State<Targets>,
    group: usize,
    /// The views that have this body now.
    views: Vec<usize>,
    /// What other threads make of it.
    results: Table<Targets>,
}

/// The bodies of one shared key, and what interferes with them.
#[derive(Default)]
struct Group {
    bodies: Vec<usize>,
    interferers: Vec<usize>,
}

struct Analysis<'a> {
    machine: &'a Machine,
    views: Table<Targets>,
    /// The body of each view.
    body_of: Vec<usize>,
    bodies: Vec<Body>,
    by_content: FxHashMap<Box<[u64]>, usize>,
    /// What other threads do: views whose next move others can notice, cut down to what the move
    /// needs.
    interferers: Table<Targets>,
    group_of_interferer: Vec<usize>,
    groups: Vec<Group>,
    keys: FxHashMap<Key, usize>,
    /// Views that are new or have grown.
    new_views: Vec<usize>,
    /// Bodies that are new, and interferers that are new or have grown.
    new_bodies: Vec<usize>,
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
        views: Table::default(),
        body_of: Vec::new(),
        bodies: Vec::new(),
        by_content: FxHashMap::default(),
        interferers: Table::default(),
        group_of_interferer: Vec::new(),
        groups: Vec::new(),
        keys: FxHashMap::default(),
        new_views: Vec::new(),
        new_bodies: Vec::new(),
        new_interferers: Vec::new(),
    };
    for state in initial {
        analysis.add(state, Origin::Initial);
    }
    let (mut moves, mut joined) = (0, 0);
    let mut stopped = None;
    while stopped.is_none() {
        match analysis.round(workers, limits) {
            Ok(Some(done)) => {
                moves += done.moves;
                joined += done.joins;
            }
            Ok(None) => break,
            Err((at, thread, failure)) => stopped = Some(Stopped::Failed { at, thread, failure }),
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

/// How much one round did.
struct Done {
    moves: usize,
    joins: usize,
}

impl Analysis<'_> {
    /// The moves of all new views, and what other threads make of them. `None`: there are none.
    fn round(
        &mut self,
        workers: usize,
        limits: &Limits,
    ) -> Result<Option<Done>, (usize, u8, Failure)> {
        let mut moves = 0;
        // Own moves first, until they add nothing: joins are dearer.
        while !self.new_views.is_empty() {
            let mut changed = std::mem::take(&mut self.new_views);
            changed.sort_unstable();
            changed.dedup();
            for at in changed {
                self.attach(at).map_err(|failure| (at, 0, failure))?;
                moves += self.own(at).map_err(|failure| (at, 0, failure))?;
                if limits.exceeded(self.views.bytes).is_some() {
                    return Ok(Some(Done { moves, joins: 0 }));
                }
            }
        }
        let pairs = self.pairs();
        if pairs.is_empty() {
            return Ok(None);
        }
        let first_view = |body: usize| self.bodies[body].views.first().copied().unwrap_or_default();
        let results = self
            .interfere(&pairs, workers, limits)
            .map_err(|(body, failure)| (first_view(body), SECOND, failure))?;
        for (body, state, origin) in results {
            if limits.exceeded(self.views.bytes).is_some() {
                break;
            }
            self.result(body, state, origin).map_err(|(at, failure)| (at, 0, failure))?;
        }
        Ok(Some(Done { moves, joins: pairs.len() }))
    }

    fn add(&mut self, state: State<Targets>, origin: Origin) {
        if let Some(at) = self.views.add(state, origin) {
            if at == self.body_of.len() {
                self.body_of.push(usize::MAX);
            }
            self.new_views.push(at);
        }
    }

    /// Gives a view that is new or has grown its body, and takes over what is known of that.
    fn attach(&mut self, at: usize) -> Result<(), Failure> {
        let state = body_of(&self.views.states[at].state);
        let content = content(&state);
        let next = self.bodies.len();
        let body = *self.by_content.entry(content).or_insert(next);
        if body == next {
            let group = self.group(state.shared_key());
            self.groups[group].bodies.push(body);
            self.bodies.push(Body { state, group, views: Vec::new(), results: Table::default() });
        }
        let old = std::mem::replace(&mut self.body_of[at], body);
        if old == body {
            return Ok(());
        }
        if old != usize::MAX {
            self.bodies[old].views.retain(|view| *view != at);
        }
        // A body that no view had since interferers were last joined has missed some of them.
        if self.bodies[body].views.is_empty() {
            self.new_bodies.push(body);
        }
        self.bodies[body].views.push(at);
        for result in 0..self.bodies[body].results.states.len() {
            self.expand(at, body, result)?;
        }
        Ok(())
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
            if self.machine.locks == Locks::Edge {
                // Its own step may have moved the node below K: of others no holder is known.
                forget_holders(self.machine.locks, &mut moved.state);
                moved.state.canonical();
            }
            self.add(moved.state, Origin::Own(at, 0));
        }
        if visible {
            let known = self.interferers.states.len();
            let needed = self.needed(state);
            if let Some(new) = self.interferers.add(needed, Origin::Own(at, 0)) {
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

    /// A view cut down to what the next move of its thread needs. Where the move then fails, more
    /// than that is needed, and the view stays whole.
    fn needed(&self, state: State<Targets>) -> State<Targets> {
        let cut = self.cut(state.clone());
        match self.machine.moves(&cut, 0, Judged::No) {
            Ok(_) => cut,
            Err(_) => state,
        }
    }

    fn cut(&self, mut state: State<Targets>) -> State<Targets> {
        let thread = &mut state.threads[0];
        if let Some((operation, node)) = thread.at {
            let code = &self.machine.model.operations[usize::from(operation)];
            let used = &code.used[usize::from(node)];
            for (word, used) in thread.locals.iter_mut().zip(used) {
                // A node whose lock the thread holds keeps its name: else any node could be it.
                let locks = word.node().map(|node| state.heap.flags(node).locks);
                let held = locks.is_some_and(|locks| locks.contains(&Holder::Thread(0)));
                if !used && !held {
                    *word = Scalar::Dead;
                }
            }
        }
        if let Phase::Post(answer) = &mut thread.phase {
            *answer = Scalar::Dead;
        }
        thread.seen = 0;
        thread.asked = None;
        state.canonical();
        state
    }

    /// The pairs of a body and an interferer of which one is new.
    fn pairs(&mut self) -> Vec<(usize, usize)> {
        let mut bodies = std::mem::take(&mut self.new_bodies);
        let mut interferers = std::mem::take(&mut self.new_interferers);
        bodies.sort_unstable();
        bodies.dedup();
        bodies.retain(|body| !self.bodies[*body].views.is_empty());
        interferers.sort_unstable();
        interferers.dedup();
        let mut pairs = Vec::new();
        for body in &bodies {
            let group = &self.groups[self.bodies[*body].group];
            pairs.extend(group.interferers.iter().map(|other| (*body, *other)));
        }
        for other in &interferers {
            let group = &self.groups[self.group_of_interferer[*other]];
            let old = group.bodies.iter().filter(|body| {
                bodies.binary_search(body).is_err() && !self.bodies[**body].views.is_empty()
            });
            pairs.extend(old.map(|body| (*body, *other)));
        }
        pairs
    }

    /// What bodies become by the moves of others, in parallel.
    #[allow(clippy::type_complexity)]
    fn interfere(
        &self,
        pairs: &[(usize, usize)],
        workers: usize,
        limits: &Limits,
    ) -> Result<Vec<(usize, State<Targets>, Origin)>, (usize, Failure)> {
        const BATCH: usize = 32;
        let next = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let work = || {
            let mut all = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let start = next.fetch_add(BATCH, Ordering::Relaxed);
                let Some(batch) = pairs.get(start..pairs.len().min(start + BATCH)) else { break };
                if limits.exceeded(0).is_some() {
                    stop.store(true, Ordering::Relaxed);
                    break;
                }
                for of_one in batch.chunk_by(|one, two| one.0 == two.0) {
                    let body = of_one[0].0;
                    let mut out = Table::default();
                    for (_, other) in of_one {
                        self.beside(body, *other, &mut out).map_err(|failure| (body, failure))?;
                    }
                    let states = out.states.into_iter();
                    all.extend(states.map(|at| (body, at.state, at.origin)));
                }
            }
            Ok(all)
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

    /// What one body becomes by the moves of one other thread.
    fn beside(&self, body: usize, other: usize, out: &mut Table<Targets>) -> Result<(), Failure> {
        let first = Side::new(&self.bodies[body].state);
        let second = Side::new(&self.interferers.states[other].state);
        joins(self.machine, &first, &second, &mut |state| {
            for moved in self.machine.moves(&state, SECOND, Judged::No)? {
                if moved.visible {
                    let view = projected(self.machine.locks, moved.state);
                    out.add(view, Origin::Beside(body, other));
                }
            }
            Ok(())
        })
    }

    /// Notes what others make of a body, for all views that have it.
    fn result(
        &mut self,
        body: usize,
        state: State<Targets>,
        origin: Origin,
    ) -> Result<(), (usize, Failure)> {
        let Some(result) = self.bodies[body].results.add(state, origin) else { return Ok(()) };
        for view in self.bodies[body].views.clone() {
            self.expand(view, body, result).map_err(|failure| (view, failure))?;
        }
        Ok(())
    }

    /// A view of a body becomes what others make of the body.
    fn expand(&mut self, view: usize, body: usize, result: usize) -> Result<(), Failure> {
        let before = &self.views.states[view].state;
        let made = &self.bodies[body].results.states[result];
        let Origin::Beside(_, other) = made.origin else { return Ok(()) };
        let old: SmallVec<[NodeId; 8]> =
            self.bodies[body].state.threads[0].locals.iter().filter_map(|at| at.node()).collect();
        let new: SmallVec<[NodeId; 8]> =
            made.state.threads[0].locals.iter().filter_map(|at| at.node()).collect();
        let mut thread = before.threads[0].clone();
        thread.rename_to(|node| {
            let at = old.iter().position(|other| *other == node).unwrap_or_default();
            new.get(at).copied().unwrap_or(node)
        });
        let mut state = State { threads: vec![thread], ..made.state.clone() };
        self.machine.tick(&mut state)?;
        state.canonical();
        self.add(state, Origin::Beside(view, other));
        Ok(())
    }
}

/// A view without what its thread is about to do.
fn body_of(view: &State<Targets>) -> State<Targets> {
    let mut names: SmallVec<[Scalar; 10]> = SmallVec::new();
    for word in view.threads[0].words() {
        if let Some(node) = word.node()
            && !names.contains(&Scalar::Node(node))
        {
            names.push(Scalar::Node(node));
        }
    }
    // A view in canonical form names its nodes in this order already.
    State { threads: vec![Thread { locals: names, ..Thread::idle(0) }], ..view.clone() }
}

/// Everything about a body, links included.
fn content(body: &State<Targets>) -> Box<[u64]> {
    let mut words = body.key().0.into_vec();
    for node in &body.heap.nodes {
        words.push(node.flags.packed());
        words.extend(node.links);
        words.extend(node.reference);
    }
    words.into_boxed_slice()
}
