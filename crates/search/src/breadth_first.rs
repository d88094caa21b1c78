//! The frontier: the events in order, and at each the set of all configurations that explain the
//! history so far.
//!
//! This is just-in-time linearization (Lowe, Concurrency and Computation 2017). Nothing happens at
//! a call. At a return, configurations in which the operation has not taken effect are led on, by
//! every sequence of operations in progress that ends with it. A configuration names only what is
//! in progress, so its size does not depend on the length of the history, and where nothing is in
//! progress it is just a state. When a return leaves no configuration, nothing explains the
//! history.
//!
//! # Operations that only look
//!
//! An operation that cannot change the state may as well take effect as soon as it sees its answer
//! (`eager`), and a configuration in which it has is at least as good as one in which it has not
//! (`dominance`). Whether an operation can change the state, a specification does not say:
//! `write 5` does not, in a register that holds 5. So a group of operations is taken for observers
//! until one of them changes a state; if they were trusted by then, the walk starts over without
//! trusting them.
//!
//! Why a walk that ends empty has noticed every mistake that matters: suppose an order L explains
//! the history, and let x be the first operation in L that changes a state, s, although its group
//! was trusted. Up to x, L is an order that the walk follows: configurations give way only to ones
//! that can go on in the same way, through the same states. The walk ends at a return up to which L
//! leads, so what L has before x was tried at that return or at an earlier one, and the walk was in
//! s. If x was in progress then, it was tried in s, as everything in progress is. If x had
//! returned, some of what leads to s was in progress at its return and still is (otherwise the walk
//! was in s before x returned), and for so long `suspects` keeps the class of x, to be tried in
//! every state.

use super::config::{Config, Configs};
use super::explain::Possible;
use super::mask::Mask;
use super::moment::{Moment, Mover};
use super::problem::{Op, Place, Problem};
use super::steps::{START, Steps};
use super::table::{Effect, INITIAL, Table};
use super::used::Used;
use super::window::Window;
use super::{SearchOptions, Watch};
use linchpin_history_data::{NEVER, OpId, Rank};
use linchpin_spec::Spec;
use linchpin_verdict::StopReason;
use rustc_hash::FxHashMap;

/// After so many configurations the limits are asked.
const OFTEN: u64 = 1024;

/// So many configurations that have done what returns cost as much as one that has not.
const CHEAP: usize = 16;

/// How the search ended.
pub(crate) enum SearchEnd {
    /// These operations in this order explain the history.
    Explained(Vec<u32>),
    /// Nothing explains this event, given all answers, those of operations in progress included.
    Unexplained { event: usize },
    /// The limits stopped it at this event.
    Stopped { reason: StopReason, event: usize },
}

/// Walks through the events. What the table knows of the object already need not be found out
/// again: not what operations do to states, and not which groups of operations are updates.
pub(crate) fn walk<S: Spec + ?Sized, M: Mask>(
    mut table: Table<'_, S>,
    problem: &Problem,
    options: &SearchOptions,
    watch: &Watch<'_>,
) -> SearchEnd
where
    S::State: 'static,
{
    let walked = walk_to::<S, M>(&mut table, problem, options, watch, None);
    if options.abandon {
        table.free(watch);
    }
    walked
}

/// Walks through the events, and says in which states the object may be after the last one, if
/// nothing that is in progress then takes effect.
pub(crate) fn walk_to<S: Spec + ?Sized, M: Mask>(
    table: &mut Table<'_, S>,
    problem: &Problem,
    options: &SearchOptions,
    watch: &Watch<'_>,
    states: Option<&mut Vec<Possible>>,
) -> SearchEnd
where
    S::State: 'static,
{
    // INVARIANT: no transition of the table contradicts what its groups are taken for. A mistake
    // that another search made is none of this walk.
    table.was_mistaken();
    let mut work = 0;
    loop {
        let mut walk = BreadthFirst::<S, M> {
            problem,
            options,
            watch,
            window: Window::new(problem),
            table,
            used: Used::new(),
            steps: Steps::default(),
            moment: Moment::new(problem, options),
            configs: Vec::new(),
            pending: Configs::new(),
            passed: Configs::new(),
            suspects: FxHashMap::default(),
            tried: Vec::new(),
            work,
        };
        let walked = walk.run();
        work = walk.work;
        let Some(walked) = walked else { continue };
        if let (Some(states), false) = (states, matches!(walked, SearchEnd::Stopped { .. })) {
            *states = walk.states();
        }
        if options.abandon && watch.is_the_end() {
            std::mem::forget(walk);
        }
        return walked;
    }
}

/// Why a walk does not go on.
enum Halt {
    /// It took an update for an observer, and starts over.
    Mistaken,
    Limit(StopReason),
}

struct BreadthFirst<'a, 't, S: Spec + ?Sized, M: Mask> {
    problem: &'a Problem,
    options: &'a SearchOptions,
    watch: &'a Watch<'a>,
    window: Window<'a>,
    table: &'a mut Table<'t, S>,
    used: Used,
    steps: Steps<u32>,
    moment: Moment<M>,
    /// The configurations that explain the history so far.
    configs: Vec<Config<M>>,
    /// At a return: the configurations in which the operation has not taken effect; some have been
    /// led on.
    pending: Configs<M>,
    /// At a return: those in which it has.
    passed: Configs<M>,
    /// Classes taken for observers whose operations have returned, and until when a mistake may
    /// matter.
    suspects: FxHashMap<u32, Rank>,
    /// The keys of `suspects`.
    tried: Vec<u32>,
    /// About how many configurations were looked at.
    work: u64,
}

impl<S: Spec + ?Sized, M: Mask> BreadthFirst<'_, '_, S, M>
where
    S::State: 'static,
{
    fn run(&mut self) -> Option<SearchEnd> {
        let done = M::empty(self.problem.width);
        let state = INITIAL;
        self.configs.push(Config { state, used: Used::NONE, done, step: START });
        for (at, &event) in self.problem.events.iter().enumerate() {
            if event.returns {
                match self.pass(event.op, event.rank) {
                    Ok(()) => {}
                    Err(Halt::Mistaken) => return None,
                    Err(Halt::Limit(reason)) => {
                        return Some(SearchEnd::Stopped { reason, event: at });
                    }
                }
                if self.configs.is_empty() {
                    return Some(SearchEnd::Unexplained { event: at });
                }
            }
            self.window.pass(event);
            if at % 4096 == 4095
                && let Err(Halt::Limit(reason)) = self.check_limits()
            {
                return Some(SearchEnd::Stopped { reason, event: at });
            }
        }
        let last = self.configs.first()?;
        Some(SearchEnd::Explained(self.steps.path(last.step)))
    }

    /// The states of now, and what in progress has led to each.
    fn states(&self) -> Vec<Possible> {
        let mut ways: Vec<(u32, Vec<OpId>)> =
            self.configs.iter().map(|config| (config.state, self.in_effect(config))).collect();
        ways.sort_by_key(|(state, in_effect)| (*state, in_effect.len()));
        let mut states: Vec<(u32, Possible)> = Vec::new();
        for (state, in_effect) in ways {
            match states.last_mut() {
                Some((last, possible)) if *last == state => possible.has_others = true,
                _ => {
                    let shown = self.table.show(state, self.problem.origin);
                    states.push((state, Possible { state: shown, in_effect, has_others: false }));
                }
            }
        }
        states.into_iter().map(|(_, possible)| possible).collect()
    }

    /// The operations in progress that took effect.
    fn in_effect(&self, config: &Config<M>) -> Vec<OpId> {
        let crashed = self.used.counts(config.used).iter().flat_map(|(class, count)| {
            self.problem.crashed[*class as usize].ops.iter().take(*count as usize)
        });
        let is_done = |op: &u32| matches!(self.problem.ops[*op as usize].place, Place::Slot(slot) if config.done.contains(slot));
        // What was dropped counts as done, too.
        let path = match self.problem.drops.is_empty() {
            true => Vec::new(),
            false => self.steps.path(config.step),
        };
        let took_effect =
            |op: &u32| !self.problem.ops[*op as usize].is_ordered || path.contains(op);
        let live = self.window.live.iter().filter(|op| is_done(op) && took_effect(op));
        crashed.chain(live).map(|op| self.problem.ops[*op as usize].id).collect()
    }

    /// Passes the deadline of `x`: leaves the configurations in which it has taken effect, if it
    /// had to.
    fn pass(&mut self, x: u32, now: Rank) -> Result<(), Halt> {
        let op = &self.problem.ops[x as usize];
        let Place::Slot(slot) = op.place else {
            return Ok(());
        };
        self.tick(self.configs.len() / CHEAP)?;
        if self.configs.iter().all(|config| config.done.contains(slot)) {
            self.configs.iter_mut().for_each(|config| config.done.remove(slot));
            self.suspect(op, now);
            return Ok(());
        }
        self.moment.turn_to(self.problem, &self.window, self.table);
        self.pending.clear();
        for config in std::mem::take(&mut self.configs) {
            self.tick(1)?;
            if config.done.contains(slot) {
                self.arrive(config, slot, None);
                continue;
            }
            if !op.completed {
                let passed = config.clone();
                let step = passed.step;
                self.passed.insert(passed, &self.moment.order, &self.used, || step);
            }
            self.arrive(config, slot, None);
        }
        self.expand(slot)?;
        if self.table.was_mistaken() {
            return Err(Halt::Mistaken);
        }
        self.configs = std::mem::replace(&mut self.passed, Configs::new()).into_list();
        self.suspect(op, now);
        self.forget();
        Ok(())
    }

    /// Leads the configurations on in which the operation in `slot` has not taken effect.
    fn expand(&mut self, slot: u32) -> Result<(), Halt> {
        let mut at = 0;
        while let Some(config) = self.pending.get(at) {
            at += 1;
            let Some(config) = config.cloned() else { continue };
            self.tick(1)?;
            let (_, moves) = self.look(config.state);
            for at in moves {
                let (mover, next) = self.moment.get(at);
                let (op, used, done) = match mover {
                    Mover::Slot(slot) if self.moment.may_try(slot, &config.done) => {
                        let done = self.moment.take_effect(slot, &config.done);
                        (self.moment.occupant(slot), config.used, done)
                    }
                    Mover::Crashed(class) => {
                        let count = self.used.count(config.used, class);
                        if count == self.window.called[class as usize] {
                            continue;
                        }
                        let op = self.problem.crashed[class as usize].ops[count as usize];
                        (op, self.used.one_more(config.used, class), config.done.clone())
                    }
                    Mover::Slot(_) => continue,
                };
                for way in 0..next.len() {
                    let state = self.table.state(next, way);
                    let must = self.problem.ops[op as usize].completed;
                    if must || state != config.state {
                        let done = done.clone();
                        self.arrive(
                            Config { state, used, done, step: config.step },
                            slot,
                            Some(op),
                        );
                    }
                }
            }
            if self.table.was_mistaken() {
                return Err(Halt::Mistaken);
            }
        }
        Ok(())
    }

    /// Comes to a configuration by `op` after the step that is noted in it: lets look what sees its
    /// answer there, and keeps it with those that have passed the deadline of the operation in
    /// `slot`, or that have not.
    fn arrive(&mut self, mut config: Config<M>, slot: u32, op: Option<u32>) {
        let mut looked = None;
        if !config.done.contains(slot) || op.is_some() {
            let (looking, _) = self.look(config.state);
            let new = looking.and_not(&config.done);
            config.done = config.done.or(&new);
            looked = Some(new);
        }
        let to = match config.done.contains(slot) {
            true => &mut self.passed,
            false => &mut self.pending,
        };
        config.done.remove(slot);
        let (steps, moment, parent) = (&mut self.steps, &self.moment, config.step);
        to.insert(config, &moment.order, &self.used, || {
            let mut step = op.map_or(parent, |op| steps.push(op, parent));
            for slot in looked.iter().flat_map(|looked| looked.slots()) {
                step = steps.push(moment.occupant(slot), step);
            }
            step
        });
    }

    fn look(&mut self, state: u32) -> (M, std::ops::Range<usize>) {
        self.moment.seen_from(state, self.problem, &self.window, self.table, &self.tried)
    }

    /// After the return of an operation that was taken for an observer: remembers to try it later.
    fn suspect(&mut self, op: &Op, now: Rank) {
        if !self.presumes() {
            return;
        }
        let known = self.suspects.len();
        self.suspects.retain(|_, until| *until >= now);
        let mut changed = self.suspects.len() != known;
        if op.completed && self.table.effect(op.class) == Effect::Observer {
            let others = self.window.live.iter().rev().map(|at| self.problem.ops[*at as usize]);
            let last = others.into_iter().find(|other| other.id != op.id);
            let until = match self.window.crashed.is_empty() {
                true => last.map(|op| op.deadline),
                false => Some(NEVER),
            };
            if let Some(until) = until {
                let entry = self.suspects.entry(op.class).or_insert(until);
                *entry = until.max(*entry);
                changed = true;
            }
        }
        if changed {
            self.tried.clear();
            self.tried.extend(self.suspects.keys());
        }
    }

    /// Whether operations are taken for observers.
    fn presumes(&self) -> bool {
        self.options.eager || self.options.dominance
    }

    /// Forgets steps and states that are not needed.
    fn forget(&mut self) {
        if self.steps.should_forget() {
            self.steps.forget(self.configs.iter_mut().map(|config| &mut config.step));
        }
        if self.table.should_forget(self.configs.len()) {
            self.table.forget(self.configs.iter_mut().map(|config| &mut config.state));
        }
    }

    /// Counts configurations, and asks the limits now and then.
    fn tick(&mut self, count: usize) -> Result<(), Halt> {
        let before = self.work / OFTEN;
        self.work += count as u64;
        if self.work / OFTEN == before { Ok(()) } else { self.check_limits() }
    }

    fn check_limits(&self) -> Result<(), Halt> {
        let bytes = self.table.bytes()
            + self.steps.bytes()
            + self.used.bytes()
            + self.configs.capacity() * size_of::<Config<M>>()
            + self.pending.bytes()
            + self.passed.bytes()
            + self.moment.bytes();
        self.watch.exceeded(bytes, self.work).map_or(Ok(()), |reason| Err(Halt::Limit(reason)))
    }
}
