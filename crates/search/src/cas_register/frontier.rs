//! The frontier of a register.

use super::Kind;
use super::config::{Config, Configs, Slots};
use crate::Watch;
use crate::mask::Mask;
use crate::problem::{Place, Problem};
use crate::steps::{START, Steps};
use crate::used::Used;
use crate::window::Window;
use linchpin_history_data::{NEVER, Rank};
use linchpin_verdict::StopReason;
use rustc_hash::FxHashMap;

/// How the search ended.
pub(super) enum SearchEnd {
    /// These operations in this order explain the history.
    Explained(Vec<u32>),
    /// Nothing explains the return of this operation, given all answers, those of operations in
    /// progress included; or nothing that the walk kept.
    Unexplained { op: u32 },
    /// The limits stopped it at this event.
    Stopped { reason: StopReason, event: usize },
}

/// In a step: the operation was buried just before the last write.
const BURIED: u32 = 1 << 31;

/// A way in which the operations before some event may have taken effect. Operations are those of
/// the problem.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    /// What the register holds.
    pub value: u32,
    /// The operations in progress that took effect.
    pub done: Vec<u32>,
    /// The writes in progress that some other write could hide.
    pub buried: Vec<u32>,
    /// The crashed classes of which operations took effect, and how many did.
    pub used: Vec<(u32, u32)>,
}

/// How many configurations a walk keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breadth {
    /// At each return the most promising for each value, so many, and [`IN_ALL`] times as many in
    /// all. A walk that gets stuck has shown nothing, unless nothing was left out.
    Narrow(usize),
    /// All, if there are not more than this.
    AtMost(usize),
    /// All.
    Full,
}

/// So many times as many configurations as for each value a narrow walk keeps in all.
const IN_ALL: usize = 16;

/// So many configurations are led on at a return in a narrow walk, for each that it keeps, once the
/// return is passed somehow.
const PERSISTENCE: usize = 16;

/// So many are led on if the return is not passed; then the walk is stuck.
const PERSEVERANCE: usize = 1024;

/// What comes of a walk.
pub(super) struct Outcome {
    pub walked: SearchEnd,
    /// What the register may hold at the end.
    pub values: Vec<u32>,
    /// The ways to come to the end.
    pub ways: Vec<Way>,
    /// Whether nothing was left out, so that these are all.
    pub is_sure: bool,
}

/// Walks through the events from where one of these ways leads; those of operations in progress
/// there are calls, and come first. Goes no further than to the first event not before `stop`.
pub(super) fn walk<M: Mask>(
    problem: &Problem,
    kinds: &[Kind],
    from: &[Way],
    stop: Option<Rank>,
    breadth: Breadth,
    watch: &Watch<'_>,
) -> Outcome {
    let nothing = M::empty(problem.width);
    let values = kinds.iter().map(|kind| match kind {
        Kind::Write(value) | Kind::Is(value) => *value,
        Kind::Swap(old, new) => *old.max(new),
        Kind::IsNot(_) => 0,
    });
    let initial = from.iter().map(|way| way.value).max().unwrap_or(0);
    let values = values.max().unwrap_or(0).max(initial) as usize + 1;
    let slots =
        Slots { observers: nothing.clone(), optional: nothing.clone(), writes: nothing.clone() };
    let mut walk = RegisterFrontier {
        problem,
        kinds,
        watch,
        window: Window::new(problem),
        used: Used::new(),
        steps: Steps::default(),
        slots,
        candidates: Vec::new(),
        occupants: vec![0; problem.width],
        views: Vec::new(),
        twins: FxHashMap::default(),
        configs: Vec::new(),
        pending: Configs::new(values),
        passed: Configs::new(values),
        nothing,
        breadth,
        has_left_out: false,
        work: 0,
    };
    walk.configs = from.iter().map(|way| walk.config(way)).collect();
    let walked = walk.run(stop.unwrap_or(NEVER));
    let mut values: Vec<u32> = walk.configs.iter().map(|config| config.value).collect();
    values.sort_unstable();
    values.dedup();
    Outcome { walked, values, ways: walk.ways(), is_sure: !walk.has_left_out }
}

/// An operation in progress that can change the value.
struct Candidate<M> {
    slot: u32,
    kind: Kind,
    /// Operations that do the same, with earlier deadlines.
    before: M,
}

/// Who is waiting for a value.
struct View<M> {
    value: u32,
    /// Operations that look for it.
    looking: M,
    /// Operations that swap it for another.
    swapping: M,
    /// Whether some crashed operation does, used up or not.
    crashed: bool,
}

struct RegisterFrontier<'a, M: Mask> {
    problem: &'a Problem,
    kinds: &'a [Kind],
    watch: &'a Watch<'a>,
    window: Window<'a>,
    used: Used,
    steps: Steps<u32>,
    slots: Slots<M>,
    candidates: Vec<Candidate<M>>,
    /// Which operation is in a slot.
    occupants: Vec<u32>,
    views: Vec<View<M>>,
    twins: FxHashMap<u32, M>,
    /// The configurations that explain the history so far.
    configs: Vec<Config<M>>,
    /// At a return: the configurations in which the operation has not taken effect.
    pending: Configs<M>,
    /// At a return: those in which it has.
    passed: Configs<M>,
    nothing: M,
    breadth: Breadth,
    /// Whether a configuration was left out that might have come further.
    has_left_out: bool,
    /// How many configurations were led on.
    work: u64,
}

impl<M: Mask> RegisterFrontier<'_, M> {
    fn config(&mut self, way: &Way) -> Config<M> {
        let mask = |ops: &[u32]| {
            let mut mask = self.nothing.clone();
            for op in ops {
                if let Place::Slot(slot) = self.problem.ops[*op as usize].place {
                    mask.insert(slot);
                }
            }
            mask
        };
        let (done, buried) = (mask(&way.done), mask(&way.buried));
        let mut used = Used::NONE;
        for (class, count) in &way.used {
            for _ in 0..*count {
                used = self.used.one_more(used, *class);
            }
        }
        Config { value: way.value, used, done, buried, step: START }
    }

    /// The ways to come to the next event.
    fn ways(&self) -> Vec<Way> {
        let in_progress = |mask: &M| -> Vec<u32> {
            let is_in = |op: &&u32| match self.problem.ops[**op as usize].place {
                Place::Slot(slot) => mask.contains(slot),
                Place::Crashed(_) => false,
            };
            self.window.live.iter().filter(is_in).copied().collect()
        };
        let way = |config: &Config<M>| Way {
            value: config.value,
            done: in_progress(&config.done),
            buried: in_progress(&config.buried),
            used: self.used.counts(config.used).to_vec(),
        };
        self.configs.iter().map(way).collect()
    }

    fn run(&mut self, stop: Rank) -> SearchEnd {
        for (at, &event) in self.problem.events.iter().enumerate() {
            if event.rank >= stop {
                break;
            }
            if event.returns
                && let Err(reason) = self.pass(event.op)
            {
                return SearchEnd::Stopped { reason, event: at };
            }
            if self.configs.is_empty() {
                return SearchEnd::Unexplained { op: event.op };
            }
            self.window.pass(event);
            if at % 4096 == 4095
                && let Err(reason) = self.check_limits()
            {
                return SearchEnd::Stopped { reason, event: at };
            }
        }
        let last = self.configs.first().map_or(START, |config| config.step);
        SearchEnd::Explained(self.unfolded(self.steps.path(last)))
    }

    /// The operations in the order in which they take effect, each buried one just before the write
    /// that hides it: the last before its return, which took effect after its call, since one after
    /// its call made it possible to hide.
    fn unfolded(&self, path: Vec<u32>) -> Vec<u32> {
        let mut backwards = Vec::with_capacity(path.len());
        let mut hidden = Vec::new();
        for &step in path.iter().rev() {
            if step & BURIED != 0 {
                hidden.push(step & !BURIED);
                continue;
            }
            backwards.push(step);
            if matches!(self.kinds[step as usize], Kind::Write(_)) {
                backwards.append(&mut hidden);
            }
        }
        backwards.reverse();
        backwards
    }

    /// Passes the deadline of an operation.
    fn pass(&mut self, op: u32) -> Result<(), StopReason> {
        let Place::Slot(slot) = self.problem.ops[op as usize].place else {
            return Ok(());
        };
        if self.configs.iter().all(|config| config.done.contains(slot)) {
            self.configs.iter_mut().for_each(|config| config.done.remove(slot));
            return Ok(());
        }
        self.turn();
        let must = self.problem.ops[op as usize].completed;
        let mut configs = std::mem::take(&mut self.configs);
        for config in &configs {
            if config.done.contains(slot) {
                self.arrive(config.clone(), slot, None);
                continue;
            }
            let mut without = config.clone();
            without.buried.remove(slot);
            if !must {
                let step = config.step;
                self.passed.insert(without, &self.slots, &self.used, || step);
            } else if config.buried.contains(slot) {
                let steps = &mut self.steps;
                let bury = || steps.push(op | BURIED, config.step);
                self.passed.insert(without, &self.slots, &self.used, bury);
            }
            self.arrive(config.clone(), slot, None);
        }
        let expanded = self.expand(slot);
        self.pending.clear(&mut configs);
        self.passed.move_to(&mut configs);
        self.configs = configs;
        if let Breadth::Narrow(most) = self.breadth {
            self.narrow(most);
        }
        if self.steps.should_forget() {
            self.steps.forget(self.configs.iter_mut().map(|config| &mut config.step));
        }
        expanded
    }

    /// Keeps the most promising configurations for each value: those in which the most has taken
    /// effect, or can be hidden.
    fn narrow(&mut self, most: usize) {
        if self.configs.len() <= most {
            return;
        }
        let before = self.configs.len();
        let left = |config: &Config<M>| u32::MAX - config.done.or(&config.buried).count();
        self.configs.sort_by_cached_key(|config| (config.value, left(config)));
        let (mut last, mut kept) = (None, 0);
        self.configs.retain(|config| {
            kept = if last == Some(config.value) { kept + 1 } else { 1 };
            last = Some(config.value);
            kept <= most
        });
        if self.configs.len() > most * IN_ALL {
            self.configs.sort_by_cached_key(left);
            self.configs.truncate(most * IN_ALL);
        }
        self.has_left_out |= self.configs.len() < before;
    }

    /// Looks at what is in progress now.
    fn turn(&mut self) {
        self.views.clear();
        self.candidates.clear();
        self.twins.clear();
        let nothing = &self.nothing;
        self.slots.observers = nothing.clone();
        self.slots.optional = nothing.clone();
        self.slots.writes = nothing.clone();
        for &at in &self.window.live {
            let op = &self.problem.ops[at as usize];
            let Place::Slot(slot) = op.place else { continue };
            self.occupants[slot as usize] = at;
            let kind = self.kinds[at as usize];
            match kind {
                Kind::Is(_) | Kind::IsNot(_) => {
                    self.slots.observers.insert(slot);
                    continue;
                }
                _ if !op.completed => self.slots.optional.insert(slot),
                Kind::Write(_) => self.slots.writes.insert(slot),
                Kind::Swap(..) => {}
            }
            let twins = self.twins.entry(op.class).or_insert_with(|| nothing.clone());
            let before = twins.clone();
            twins.insert(slot);
            self.candidates.push(Candidate { slot, kind, before });
        }
    }

    /// Who is waiting for this value: the position of the view.
    fn view(&mut self, value: u32) -> usize {
        if let Some(at) = self.views.iter().position(|view| view.value == value) {
            return at;
        }
        let (mut looking, mut swapping) = (self.nothing.clone(), self.nothing.clone());
        for &at in &self.window.live {
            let Place::Slot(slot) = self.problem.ops[at as usize].place else { continue };
            match self.kinds[at as usize] {
                Kind::Is(seen) if seen == value => looking.insert(slot),
                Kind::IsNot(expected) if expected != value => looking.insert(slot),
                Kind::Swap(old, _) if old == value => swapping.insert(slot),
                _ => {}
            }
        }
        let swaps =
            |class: &u32| matches!(self.crashed_kind(*class), Kind::Swap(old, _) if old == value);
        let crashed = self.window.crashed.iter().any(swaps);
        self.views.push(View { value, looking, swapping, crashed });
        self.views.len() - 1
    }

    fn crashed_kind(&self, class: u32) -> Kind {
        self.kinds[self.problem.crashed[class as usize].ops[0] as usize]
    }

    /// Whether an operation that has not taken effect is waiting for this value.
    fn is_wanted(&mut self, value: u32, done: &M) -> bool {
        let view = self.view(value);
        let View { looking, swapping, crashed, .. } = &self.views[view];
        *crashed || !looking.or(swapping).is_subset(done)
    }

    /// Leads the configurations on in which the operation in `slot` has not taken effect.
    fn expand(&mut self, slot: u32) -> Result<(), StopReason> {
        let mut at = 0;
        while let Some(config) = self.pending.get(at) {
            at += 1;
            let config = config.cloned();
            match self.breadth {
                Breadth::Narrow(most)
                    if at > most * PERSISTENCE
                        && (!self.passed.is_empty() || at > most * PERSISTENCE + PERSEVERANCE) =>
                {
                    self.has_left_out = true;
                    break;
                }
                Breadth::AtMost(most) if self.pending.len() + self.passed.len() > most => {
                    return Err(StopReason::Budget);
                }
                _ => {}
            }
            let Some(config) = config else { continue };
            self.work += 1;
            if self.work.is_multiple_of(1024) {
                self.check_limits()?;
            }
            for candidate in 0..self.candidates.len() {
                if let Some((next, op)) = self.try_live(candidate, &config, slot) {
                    self.arrive(next, slot, Some(op));
                }
            }
            for crashed in 0..self.window.crashed.len() {
                if let Some((next, op)) = self.try_crashed(self.window.crashed[crashed], &config) {
                    self.arrive(next, slot, Some(op));
                }
            }
        }
        Ok(())
    }

    /// Lets an operation in progress take effect, if it can and if that may be of use.
    fn try_live(&mut self, at: usize, config: &Config<M>, last: u32) -> Option<(Config<M>, u32)> {
        let Candidate { slot, kind, ref before } = self.candidates[at];
        if config.done.contains(slot) {
            return None;
        }
        // Of those that do the same and are in the same position only the first to return is tried.
        let waiting = before.and_not(&config.done);
        let equal = match config.buried.contains(slot) {
            true => waiting.and(&config.buried),
            false => waiting.and_not(&config.buried),
        };
        if !equal.is_empty() {
            return None;
        }
        let mut done = config.done.clone();
        done.insert(slot);
        let wanted = slot == last || matches!(kind, Kind::Write(new) if self.is_wanted(new, &done));
        let mut next = self.after(kind, wanted, config)?;
        next.done = done;
        next.buried.remove(slot);
        Some((next, self.occupants[slot as usize]))
    }

    fn try_crashed(&mut self, class: u32, config: &Config<M>) -> Option<(Config<M>, u32)> {
        let count = self.used.count(config.used, class);
        if count == self.window.called[class as usize] {
            return None;
        }
        let kind = self.crashed_kind(class);
        let wanted = matches!(kind, Kind::Write(new) if self.is_wanted(new, &config.done));
        let mut next = self.after(kind, wanted, config)?;
        next.used = self.used.one_more(config.used, class);
        Some((next, self.problem.crashed[class as usize].ops[count as usize]))
    }

    /// What an operation makes of a configuration; nothing if it cannot take effect, or is a write
    /// that no operation wants.
    fn after(&self, kind: Kind, wanted: bool, config: &Config<M>) -> Option<Config<M>> {
        let mut next = config.clone();
        match kind {
            Kind::Write(new) if wanted => {
                next.value = new;
                next.buried = next.buried.or(&self.slots.writes.and_not(&next.done));
            }
            Kind::Swap(old, new) if old == config.value => next.value = new,
            _ => return None,
        }
        Some(next)
    }

    /// Comes to a configuration by `op` after the step that is noted in it: lets look what sees its
    /// answer there, and keeps it with those that have passed the deadline of the operation in
    /// `slot`, or that have not.
    fn arrive(&mut self, mut config: Config<M>, slot: u32, op: Option<u32>) {
        let mut looked = None;
        if !config.done.contains(slot) || op.is_some() {
            let view = self.view(config.value);
            let new = self.views[view].looking.and_not(&config.done);
            config.done = config.done.or(&new);
            looked = Some(new);
        }
        let to = match config.done.contains(slot) {
            true => &mut self.passed,
            false => &mut self.pending,
        };
        config.done.remove(slot);
        let (steps, occupants, parent) = (&mut self.steps, &self.occupants, config.step);
        to.insert(config, &self.slots, &self.used, || {
            let mut step = op.map_or(parent, |op| steps.push(op, parent));
            for slot in looked.iter().flat_map(|looked| looked.slots()) {
                step = steps.push(occupants[slot as usize], step);
            }
            step
        });
    }

    fn check_limits(&self) -> Result<(), StopReason> {
        let bytes = self.steps.bytes()
            + self.used.bytes()
            + self.configs.capacity() * size_of::<Config<M>>()
            + self.pending.bytes()
            + self.passed.bytes();
        self.watch.exceeded(bytes, self.work).map_or(Ok(()), Err)
    }
}
