//! The ways on from a state: every call, step and response, with what reductions take together.

use crate::canonical::{Before, Origin};
use crate::event::{Action, Event, Made, Stop, Successor, Visit};
use crate::execute::{Ended, Execution, Passed, Trail, Words, holds};
use crate::flat::{Asks, Flat, interrupted, interrupted_of, operation_of, returning, running};
use crate::layout::{CALLS, NODE, STATUS};
use crate::reach::Reach;
use crate::space::Space;
use crate::workspace::Workspace;
use smallvec::SmallVec;
use std::sync::atomic::Ordering;

/// At most this many steps are taken together.
pub(crate) const MAX_TOGETHER: usize = 256;

/// An enumeration in progress.
pub(crate) struct Successors<'a> {
    pub space: &'a Space,
    pub workspace: &'a mut Workspace,
    visit: &'a mut dyn Visit,
    /// What is known of the state that it starts from.
    pub(crate) origin: Option<&'a Origin<'a>>,
    /// Whether what is needed in the state that is told of next was found out, and is in the
    /// workspace: then also whether its shared part is that of the state that it starts from.
    pub(crate) needed: Option<bool>,
    pub actions: Vec<Made>,
    pub events: Vec<Event>,
    /// Where the moving thread is, if it is inside an operation.
    pub start: Option<(usize, usize)>,
    /// How many of the steps taken so far make a difference to what a crash before them leaves.
    pub settled: usize,
    /// Whether a crash after some transition makes up for one before it.
    pub(crate) made_up: bool,
}

/// A step in one way: the state after it but for the node, how it ended and what it did.
pub(crate) struct Way {
    /// Boxed, as in [`Workspace`].
    pub next: Box<Flat>,
    pub ended: Ended,
    pub trail: Box<Trail>,
}

/// The only way of a step, if the step was looked at and has only one.
pub(crate) type Looked = Option<Way>;

/// Where in an operation a transition is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No step of it has been taken yet.
    Beginning,
    /// Only steps that concern no other thread have been taken since the invocation.
    Leading,
    /// A validated attempt has begun at this node: see `validated.rs`.
    Attempting { home: usize },
    /// The step that others may notice has been taken.
    Trailing,
}

impl<'a> Successors<'a> {
    fn new(
        space: &'a Space,
        workspace: &'a mut Workspace,
        visit: &'a mut dyn Visit,
        origin: Option<&'a Origin<'a>>,
    ) -> Successors<'a> {
        Successors {
            space,
            visit,
            origin,
            needed: None,
            actions: std::mem::take(&mut workspace.actions),
            events: std::mem::take(&mut workspace.events),
            start: None,
            settled: 0,
            made_up: false,
            workspace,
        }
    }

    /// Gives back what is used again.
    fn end(mut self) {
        self.actions.clear();
        self.events.clear();
        self.workspace.actions = self.actions;
        self.workspace.events = self.events;
    }

    /// Every way on for one thread; `false` if the visitor has ended the enumeration.
    fn thread(&mut self, flat: &Flat, thread: usize, known: usize) -> bool {
        let layout = &self.space.form.layout;
        let region = layout.thread(thread);
        self.actions.clear();
        self.events.clear();
        self.start = None;
        let status = flat.words[region + STATUS];
        if let Some((operation, asks)) = interrupted_of(status) {
            return self.resolve(flat, thread, operation, asks);
        }
        match operation_of(status) {
            None => self.call(flat, thread, known),
            Some((operation, true)) => {
                let width = layout.response_kinds[operation].len();
                let at = region + layout.locals_at;
                let value = Words::from_slice(&flat.words[at..at + width]);
                let mut next = flat.clone();
                self.space.finish_alone(&mut next, thread);
                self.made(thread, Action::Respond);
                self.events.push(Event::Return { thread, operation, value });
                self.stop(thread, None, Stop::State(&next))
            }
            Some((operation, false)) => {
                self.start = Some((operation, flat.words[region + NODE] as usize));
                self.step(flat, thread, operation, Phase::Beginning, None)
            }
        }
    }

    /// The way on for a thread that asks, or has yet to ask, what became of its interrupted call.
    fn resolve(&mut self, flat: &Flat, thread: usize, operation: usize, asks: Asks) -> bool {
        let space = self.space;
        let layout = &space.form.layout;
        let Some(resolve) = space.form.resolve else { return true };
        let region = layout.thread(thread);
        let at = region + layout.locals_at;
        match asks {
            Asks::NotYet => {
                let routine = &space.routines[resolve];
                let mut next = flat.clone();
                next.words[at..at + routine.start.len()].copy_from_slice(&routine.start);
                next.words[at] = thread as i64 + 1;
                next.words[region + STATUS] = interrupted(operation, Asks::Running);
                next.words[region + NODE] = routine.entry as i64;
                self.step(&next, thread, resolve, Phase::Trailing, None)
            }
            Asks::Running => {
                self.start = Some((resolve, flat.words[region + NODE] as usize));
                self.step(flat, thread, resolve, Phase::Trailing, None)
            }
            Asks::Done => {
                let width = layout.response_kinds[resolve].len();
                let value = Words::from_slice(&flat.words[at..at + width]);
                let mut next = flat.clone();
                space.finish_alone(&mut next, thread);
                self.made(thread, Action::Respond);
                self.events.push(Event::Resolve { thread, operation, value });
                self.stop(thread, None, Stop::State(&next))
            }
        }
    }

    /// Notes a move.
    pub fn made(&mut self, thread: usize, action: Action) {
        self.actions.push(Made { thread, action });
    }

    /// The end of a transition: takes along what other threads do, and tells the visitor, who may
    /// end the enumeration.
    pub fn stop(&mut self, thread: usize, from: Option<(usize, usize)>, stop: Stop<'_>) -> bool {
        if let Stop::State(flat) = stop
            && let Some(on) = self.take_along(flat, thread, from)
        {
            return on;
        }
        if let Stop::State(next) = stop
            && next.left.system > 0
            && !self.made_up
            && self.space.reductions.crash_points
        {
            self.made_up = self.makes_up_for_crash(thread, next);
        }
        let (actions, events) = (&self.actions[..], &self.events[..]);
        let words = self.workspace.scratch.needed();
        let needed = self.needed.take().map(|is_kept| (words, is_kept));
        let before = self.origin.map(|origin| Before { origin, needed });
        self.visit.visit(Successor { thread, actions, events, from, stop, before })
    }

    /// Every call that an idle thread may make.
    fn call(&mut self, flat: &Flat, thread: usize, known: usize) -> bool {
        let space = self.space;
        let layout = &space.form.layout;
        let region = layout.thread(thread);
        let limited = space.bounds.limits(space.program(), thread);
        if limited && flat.words[region + CALLS] == 0 {
            self.workspace.exhausted = true;
            return true;
        }
        for (operation, arguments) in &space.calls[thread] {
            if space.symmetry.values {
                let data = &space.data[*operation];
                space.passing.want(known, data.len());
                // Where no name is left, or a given run is followed, known values are passed.
                let only_new = space.passing.only_new && known < space.form.values;
                let fits = if only_new { is_new } else { is_first };
                if !fits(arguments, data, known) {
                    continue;
                }
            }
            let routine = &space.routines[*operation];
            let mut next = self.copy(flat);
            let at = region + layout.locals_at;
            next.words[at..at + routine.start.len()].copy_from_slice(&routine.start);
            next.words[at..at + arguments.len()].copy_from_slice(arguments);
            let invoke = Action::Invoke { operation: *operation, arguments: arguments.clone() };
            let call = Event::Call { thread, operation: *operation, arguments: arguments.clone() };
            if let Some(requires) = &routine.requires {
                match holds(requires, &next.words[region..region + layout.region], thread) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(_) => {
                        self.made(thread, invoke);
                        let on = self.stop(thread, None, Stop::Fault);
                        self.actions.clear();
                        if !on {
                            return false;
                        }
                        continue;
                    }
                }
            }
            next.words[region + STATUS] = running(*operation);
            if limited {
                next.words[region + CALLS] -= 1;
            }
            self.made(thread, invoke);
            self.events.push(call);
            let on = self.take(
                &next,
                thread,
                (*operation, routine.entry),
                None,
                &mut |this, after, trail| match after {
                    Ok((flat, false)) if this.space.calls_apart => {
                        this.go_on(flat, thread, *operation, Phase::Trailing)
                    }
                    Ok((flat, false)) if this.space.reductions.merged_events => {
                        // A call that passes a claimed point stays where it is.
                        let phase = match this.is_no_point(trail) {
                            true => Phase::Leading,
                            false => Phase::Trailing,
                        };
                        this.go_on(flat, thread, *operation, phase)
                    }
                    Ok((flat, _)) => this.stop(thread, None, Stop::State(flat)),
                    Err(()) => this.stop(thread, None, Stop::Fault),
                },
            );
            self.workspace.pool.push(next);
            self.actions.clear();
            self.events.clear();
            if !on {
                return false;
            }
        }
        true
    }

    /// A copy of a state, in memory that was used before.
    pub fn copy(&mut self, flat: &Flat) -> Box<Flat> {
        let mut copy = self.workspace.pool.pop().unwrap_or_default();
        copy.words.clone_from(&flat.words);
        // Most models have neither.
        if !flat.links.is_empty() || !copy.links.is_empty() {
            copy.links.clone_from(&flat.links);
        }
        if !flat.images.is_empty() || !copy.images.is_empty() {
            copy.images.clone_from(&flat.images);
        }
        copy.left = flat.left;
        copy
    }

    /// The next step of a running thread, and what is taken together with it; `looked` if the step
    /// was looked at already.
    fn step(
        &mut self,
        flat: &Flat,
        thread: usize,
        operation: usize,
        phase: Phase,
        looked: Looked,
    ) -> bool {
        let region = self.space.form.layout.thread(thread);
        let node = flat.words[region + NODE] as usize;
        self.made(thread, Action::Step);
        let alone = matches!(phase, Phase::Leading | Phase::Attempting { .. });
        let mut reach = alone.then(|| self.reach());
        let on = self.take(flat, thread, (operation, node), looked, &mut |this, after, trail| {
            let (next, returned) = match after {
                Ok(next) => next,
                Err(()) => return this.stop(thread, Some((operation, node)), Stop::Fault),
            };
            if returned {
                return this.stop(thread, Some((operation, node)), Stop::State(next));
            }
            let mut is_private =
                || reach.as_mut().is_some_and(|of| this.is_private(flat, thread, trail, of));
            let phase = match phase {
                Phase::Leading if is_private() => Phase::Leading,
                Phase::Attempting { .. } if this.goes_on_in_attempt(trail, &mut is_private) => {
                    phase
                }
                Phase::Beginning | Phase::Leading
                    if this.begins_validated(flat, thread, (operation, node), trail) =>
                {
                    Phase::Attempting { home: node }
                }
                _ => Phase::Trailing,
            };
            this.go_on(next, thread, operation, phase)
        });
        self.workspace.reaches.extend(reach);
        self.actions.pop();
        on
    }

    /// Who can reach what in a state that nothing was asked about yet.
    pub fn reach(&mut self) -> Box<Reach> {
        let mut reach = self.workspace.reaches.pop().unwrap_or_default();
        reach.forget();
        reach
    }

    /// After a step (or an invocation): stops here, or takes the next step as well.
    fn go_on(&mut self, flat: &Flat, thread: usize, operation: usize, phase: Phase) -> bool {
        let region = self.space.form.layout.thread(thread);
        let node = flat.words[region + NODE] as usize;
        if self.actions.len() > MAX_TOGETHER {
            return self.stop(thread, Some((operation, node)), Stop::State(flat));
        }
        match phase {
            Phase::Attempting { home } if home == node => {
                self.stop(thread, Some((operation, node)), Stop::State(flat))
            }
            Phase::Beginning | Phase::Leading | Phase::Attempting { .. } => {
                self.step(flat, thread, operation, phase, None)
            }
            Phase::Trailing => {
                let mut looked = None;
                if self.space.reductions.partial_order
                    && self.maybe_private(thread, operation, node)
                {
                    let mut reach = self.reach();
                    looked = self.private_step(flat, thread, operation, &mut reach);
                    self.workspace.reaches.push(reach);
                }
                match looked {
                    Some(looked) => self.step(flat, thread, operation, Phase::Trailing, looked),
                    None => self.stop(thread, Some((operation, node)), Stop::State(flat)),
                }
            }
        }
    }

    pub fn execute(
        &self,
        flat: &mut Flat,
        thread: usize,
        operation: usize,
        node: usize,
        given: &[u32],
        trail: &mut Trail,
    ) -> Ended {
        let space = self.space;
        trail.clear();
        Execution {
            layout: &space.form.layout,
            lines: space.form.lines.as_ref().filter(|_| space.bounds.crashes > 0),
            tracks: flat.left.system > 0,
            memory: space.bounds.memory,
            objects: space.bounds.objects.unwrap_or(usize::from(u16::MAX)),
            flat,
            thread,
            given,
            trail,
        }
        .run(&space.routines[operation], node)
    }

    /// Goes from a node to the next that yields, in every way; `then` gets the state after (and
    /// whether the operation returned) and what the step did.
    #[allow(clippy::type_complexity)]
    pub fn take(
        &mut self,
        flat: &Flat,
        thread: usize,
        (operation, node): (usize, usize),
        looked: Looked,
        then: &mut dyn FnMut(&mut Self, Result<(&Flat, bool), ()>, &Trail) -> bool,
    ) -> bool {
        if let Some(Way { mut next, ended, trail }) = looked {
            let on = self.ended(&mut next, thread, operation, ended, &trail, then);
            self.workspace.pool.push(next);
            self.workspace.trails.push(trail);
            return on;
        }
        let mut trail = self.workspace.trails.pop().unwrap_or_default();
        let mut given: SmallVec<[u32; 2]> = SmallVec::new();
        loop {
            let mut next = self.copy(flat);
            let ended = self.execute(&mut next, thread, operation, node, &given, &mut trail);
            let again = trail.next_choices();
            let on = self.ended(&mut next, thread, operation, ended, &trail, then);
            self.workspace.pool.push(next);
            match again {
                Some(choices) if on => given = choices,
                _ => {
                    self.workspace.trails.push(trail);
                    return on;
                }
            }
        }
    }

    /// What comes of a step in one way.
    #[allow(clippy::type_complexity)]
    fn ended(
        &mut self,
        next: &mut Flat,
        thread: usize,
        operation: usize,
        ended: Ended,
        trail: &Trail,
        then: &mut dyn FnMut(&mut Self, Result<(&Flat, bool), ()>, &Trail) -> bool,
    ) -> bool {
        let space = self.space;
        let layout = &space.form.layout;
        let region = layout.thread(thread);
        let events = self.events.len();
        if trail.bounded {
            space.bounded.store(true, Ordering::Relaxed);
            self.workspace.bounded = true;
        }
        if ended != Ended::Refused {
            space.coverage.went_along(operation, &trail.path);
            for passed in &trail.passed {
                let guess = match passed {
                    Passed::Here => None,
                    Passed::IfReturns { number, value } => Some((*number, value.clone())),
                };
                self.events.push(Event::Point { thread, guess });
            }
            if space.edge_events {
                for &(node, edge) in &trail.path {
                    self.events.push(Event::Edge { thread, operation, node, edge });
                }
            }
        }
        let mut responded = false;
        let managed = trail.managed && space.bounds.memory.gives_back();
        let settles = usize::from(managed || !trail.settled.is_empty());
        self.settled += settles;
        let on = match ended {
            Ended::Refused => true,
            Ended::Faulted => then(self, Err(()), trail),
            Ended::Yielded(at) => {
                next.words[region + NODE] = at as i64;
                then(self, Ok((next, false)), trail)
            }
            Ended::Returned => {
                let value = &trail.answer;
                space.coverage.returned_from(operation);
                let resolved = interrupted_of(next.words[region + STATUS]);
                space.finish_alone(next, thread);
                if space.reductions.merged_events {
                    responded = true;
                    self.made(thread, Action::Respond);
                    self.events.push(match resolved {
                        None => Event::Return { thread, operation, value: value.clone() },
                        Some((operation, _)) => {
                            Event::Resolve { thread, operation, value: value.clone() }
                        }
                    });
                } else {
                    next.words[region + STATUS] = match resolved {
                        None => returning(operation),
                        Some((operation, _)) => interrupted(operation, Asks::Done),
                    };
                    let at = region + layout.locals_at;
                    next.words[at..at + value.len()].copy_from_slice(value);
                }
                then(self, Ok((next, true)), trail)
            }
        };
        self.events.truncate(events);
        self.settled -= settles;
        if responded {
            self.actions.pop();
        }
        on
    }
}

/// Whether new values in a call come in order: the first one unknown, then the next.
fn is_first(arguments: &[i64], data: &[usize], known: usize) -> bool {
    let mut known = known as i64;
    data.iter().all(|&at| {
        let value = arguments[at];
        if value == known + 1 {
            known += 1;
        }
        value <= known
    })
}

/// Whether all values in a call are new, and come in order.
fn is_new(arguments: &[i64], data: &[usize], known: usize) -> bool {
    let mut known = known as i64;
    data.iter().all(|&at| {
        let is_next = arguments[at] == known + 1;
        known += i64::from(is_next);
        is_next || arguments[at] < 1
    })
}

impl Space {
    /// Every way on from a state. `known` is how many values occur in what is known about its past
    /// (they are the first ones, where values are interchangeable); those in the state itself are
    /// counted here.
    pub fn successors(
        &self,
        bytes: &[u8],
        known: usize,
        workspace: &mut Workspace,
        visit: &mut dyn Visit,
    ) {
        let mut flat = std::mem::take(&mut workspace.flat);
        let mut kept = std::mem::take(&mut workspace.kept);
        let parts = self.form.unpack(bytes, &mut flat);
        let origin = self.form.origin((bytes, &parts), &flat, &mut kept);
        // What is known matters to calls only.
        let threads = self.program().threads.len();
        let is_idle = |thread: usize| flat.words[self.form.layout.thread(thread) + STATUS] == 0;
        let known = match (0..threads).any(is_idle) {
            true => known.max(self.form.largest(&flat, &parts)),
            false => known,
        };
        let mut enumeration = Successors::new(self, workspace, visit, origin.as_ref());
        let mut on = true;
        for thread in 0..threads {
            on = on && enumeration.thread(&flat, thread, known);
        }
        if on && self.form.lines.is_some() {
            enumeration.crashes(&flat);
        }
        enumeration.end();
        workspace.flat = flat;
        workspace.kept = kept;
    }

    /// Every way on for one thread; crashes of the system for the one after the last.
    pub fn successors_of(
        &self,
        flat: &Flat,
        thread: usize,
        known: usize,
        workspace: &mut Workspace,
        visit: &mut dyn Visit,
    ) {
        let mut enumeration = Successors::new(self, workspace, visit, None);
        if thread < self.form.layout.threads {
            let on = enumeration.thread(flat, thread, known);
            if let (true, Some(lines)) = (on, &self.form.lines) {
                enumeration.crash_thread(flat, lines, thread);
            }
        } else if let Some(lines) = &self.form.lines {
            enumeration.crash_system(flat, lines);
        }
        enumeration.end();
    }
}
