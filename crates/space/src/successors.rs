//! The ways on from a state: every call, step and response, with what reductions take together.

use crate::event::{Action, Event, Stop, Successor, Visit};
use crate::execute::{Access, Ended, Execution, Passed, Trail, Words, holds};
use crate::flat::{Flat, operation_of, returning, running};
use crate::layout::{CALLS, Kind, NODE, STATUS};
use crate::space::Space;
use crate::workspace::Workspace;
use linchpin_ir::interpreter::Memory;
use linchpin_verdict::Calls;
use smallvec::SmallVec;
use std::sync::atomic::Ordering;

/// At most this many steps are taken together.
const MAX_TOGETHER: usize = 256;

/// An enumeration in progress.
struct Successors<'a> {
    space: &'a Space,
    workspace: &'a mut Workspace,
    visit: &'a mut dyn Visit,
    actions: Vec<Action>,
    events: Vec<Event>,
}

/// Where in an operation a transition is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Only steps that concern no other thread have been taken since the invocation.
    Leading,
    /// The step that others may notice has been taken.
    Trailing,
}

impl<'a> Successors<'a> {
    fn new(
        space: &'a Space,
        workspace: &'a mut Workspace,
        visit: &'a mut dyn Visit,
    ) -> Successors<'a> {
        Successors { space, workspace, visit, actions: Vec::new(), events: Vec::new() }
    }

    /// Every way on for one thread; `false` if the visitor has ended the enumeration.
    fn thread(&mut self, flat: &Flat, thread: usize, known: usize) -> bool {
        let layout = &self.space.form.layout;
        let region = layout.thread(thread);
        self.actions.clear();
        self.events.clear();
        match operation_of(flat.words[region + STATUS]) {
            None => self.call(flat, thread, known),
            Some((operation, true)) => {
                let width = layout.response_kinds[operation].len();
                let at = region + layout.locals_at;
                let value = Words::from_slice(&flat.words[at..at + width]);
                let mut next = flat.clone();
                self.space.finish_alone(&mut next, thread);
                self.actions.push(Action::Respond);
                self.events.push(Event::Return { thread, operation, value });
                self.stop(thread, None, Stop::State(&next))
            }
            Some((operation, false)) => self.step(flat, thread, operation, Phase::Trailing),
        }
    }

    /// Tells the visitor, who may end the enumeration.
    fn stop(&mut self, thread: usize, from: Option<(usize, usize)>, stop: Stop<'_>) -> bool {
        let (actions, events) = (&self.actions[..], &self.events[..]);
        self.visit.visit(Successor { thread, actions, events, from, stop })
    }

    /// Every call that an idle thread may make.
    fn call(&mut self, flat: &Flat, thread: usize, known: usize) -> bool {
        let space = self.space;
        let layout = &space.form.layout;
        let region = layout.thread(thread);
        if space.bounds.calls != Calls::Unlimited && flat.words[region + CALLS] == 0 {
            space.exhausted.store(true, Ordering::Relaxed);
            return true;
        }
        for (operation, arguments) in &space.calls[thread] {
            if space.symmetry.values && !is_first(arguments, &space.data[*operation], known) {
                continue;
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
                        self.actions.push(invoke);
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
            if space.bounds.calls != Calls::Unlimited {
                next.words[region + CALLS] -= 1;
            }
            self.actions.push(invoke);
            self.events.push(call);
            let on =
                self.take(&next, thread, *operation, routine.entry, &mut |this, after, _, _| {
                    match after {
                        Ok((flat, false)) if this.space.calls_apart => {
                            this.go_on(flat, thread, *operation, Phase::Trailing)
                        }
                        Ok((flat, false)) if this.space.reductions.merged_events => {
                            this.go_on(flat, thread, *operation, Phase::Leading)
                        }
                        Ok((flat, _)) => this.stop(thread, None, Stop::State(flat)),
                        Err(()) => this.stop(thread, None, Stop::Fault),
                    }
                });
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
    fn copy(&mut self, flat: &Flat) -> Flat {
        let mut copy = self.workspace.pool.pop().unwrap_or_default();
        copy.words.clone_from(&flat.words);
        copy.links.clone_from(&flat.links);
        copy
    }

    /// The next step of a running thread, and what is taken together with it.
    fn step(&mut self, flat: &Flat, thread: usize, operation: usize, phase: Phase) -> bool {
        let region = self.space.form.layout.thread(thread);
        let node = flat.words[region + NODE] as usize;
        self.actions.push(Action::Step);
        let mut marked = false;
        let on = self.take(flat, thread, operation, node, &mut |this, after, before, trail| {
            let (next, returned) = match after {
                Ok(next) => next,
                Err(()) => return this.stop(thread, Some((operation, node)), Stop::Fault),
            };
            if returned {
                return this.stop(thread, Some((operation, node)), Stop::State(next));
            }
            let phase = match phase {
                Phase::Leading if this.is_private(before, thread, trail, &mut marked) => {
                    Phase::Leading
                }
                _ => Phase::Trailing,
            };
            this.go_on(next, thread, operation, phase)
        });
        self.actions.pop();
        on
    }

    /// After a step (or an invocation): stops here, or takes the next step as well.
    fn go_on(&mut self, flat: &Flat, thread: usize, operation: usize, phase: Phase) -> bool {
        let region = self.space.form.layout.thread(thread);
        let node = flat.words[region + NODE] as usize;
        if self.actions.len() > MAX_TOGETHER {
            return self.stop(thread, Some((operation, node)), Stop::State(flat));
        }
        match phase {
            Phase::Leading => self.step(flat, thread, operation, Phase::Leading),
            Phase::Trailing => {
                if self.space.reductions.partial_order
                    && self.space.privacy.steps[thread][operation][node]
                    && self.next_is_private(flat, thread, operation)
                {
                    self.step(flat, thread, operation, Phase::Trailing)
                } else {
                    self.stop(thread, Some((operation, node)), Stop::State(flat))
                }
            }
        }
    }

    /// Whether the next step of the thread, whatever it chooses, can be taken and concerns no other
    /// thread.
    fn next_is_private(&mut self, flat: &Flat, thread: usize, operation: usize) -> bool {
        let region = self.space.form.layout.thread(thread);
        let node = flat.words[region + NODE] as usize;
        let mut marked = false;
        let mut given: SmallVec<[u32; 2]> = SmallVec::new();
        let mut trail = Trail::default();
        loop {
            let mut next = self.copy(flat);
            let ended = self.execute(&mut next, thread, operation, node, &given, &mut trail);
            self.workspace.pool.push(next);
            if matches!(ended, Ended::Refused | Ended::Faulted)
                || !self.is_private(flat, thread, &trail, &mut marked)
            {
                return false;
            }
            match trail.next_choices() {
                Some(choices) => given = choices,
                None => return true,
            }
        }
    }

    /// Whether no other thread can notice the accesses of a step, or change what they meet, now or
    /// later.
    ///
    /// An access is of that kind if no other thread ever writes its variable or field (ever touches
    /// it, if the access is a write), or if it is to an object that no other thread can reach.
    fn is_private(
        &mut self,
        before: &Flat,
        thread: usize,
        trail: &Trail,
        marked: &mut bool,
    ) -> bool {
        let space = self.space;
        if !space.reductions.partial_order {
            return trail.accesses.is_empty();
        }
        // A claimed point stays where it is among the points of others.
        if !trail.passed.is_empty() {
            return false;
        }
        if trail.managed && space.bounds.memory == Memory::Reuse {
            return false;
        }
        if trail.managed && space.bounds.objects.is_some() {
            return false;
        }
        trail.accesses.iter().all(|access| {
            let Access { class, object, write } = access;
            let classes = if *write { &space.privacy.touched } else { &space.privacy.written };
            let collected = space.bounds.memory == Memory::Collected || object.is_none();
            if collected && classes[thread].binary_search(class).is_err() {
                return true;
            }
            let Some(object) = object else { return false };
            if !*marked {
                *marked = true;
                self.mark_reachable(before, thread);
            }
            // An object made in this very step belongs to no other thread.
            !self.workspace.marks.get(*object).copied().unwrap_or(false)
        })
    }

    /// Marks the objects that other threads can reach.
    fn mark_reachable(&mut self, flat: &Flat, thread: usize) {
        let form = &self.space.form;
        let layout = &form.layout;
        let Workspace { marks, stack, .. } = &mut *self.workspace;
        marks.clear();
        marks.resize((flat.words.len() - layout.heap) / layout.stride, false);
        stack.clear();
        let mut reach = |word: i64, stack: &mut Vec<usize>| {
            if let Ok(object) = usize::try_from(word - 1)
                && !marks[object]
            {
                marks[object] = true;
                stack.push(object);
            }
        };
        for (word, kind) in flat.words.iter().zip(&layout.shared_kinds) {
            if *kind == Kind::Ref {
                reach(*word, stack);
            }
        }
        for other in (0..layout.threads).filter(|&other| other != thread) {
            form.thread_words(flat, other, |word, kind| {
                if kind == Kind::Ref {
                    reach(word, stack);
                }
            });
        }
        while let Some(object) = stack.pop() {
            let at = layout.object(object);
            if let Ok(of @ 1..) = usize::try_from(flat.words[at]) {
                for (word, kind) in flat.words[at + 1..].iter().zip(&layout.field_kinds[of - 1]) {
                    if *kind == Kind::Ref {
                        reach(*word, stack);
                    }
                }
            }
        }
    }

    fn execute(
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
    /// whether the operation returned), the state before and what the step did.
    #[allow(clippy::type_complexity)]
    fn take(
        &mut self,
        flat: &Flat,
        thread: usize,
        operation: usize,
        node: usize,
        then: &mut dyn FnMut(&mut Self, Result<(&Flat, bool), ()>, &Flat, &Trail) -> bool,
    ) -> bool {
        let space = self.space;
        let layout = &space.form.layout;
        let region = layout.thread(thread);
        let mut trail = self.workspace.trails.pop().unwrap_or_default();
        let mut given: SmallVec<[u32; 2]> = SmallVec::new();
        loop {
            let mut next = self.copy(flat);
            let ended = self.execute(&mut next, thread, operation, node, &given, &mut trail);
            let again = trail.next_choices();
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
            let on = match ended {
                Ended::Refused => true,
                Ended::Faulted => then(self, Err(()), flat, &trail),
                Ended::Yielded(at) => {
                    next.words[region + NODE] = at as i64;
                    then(self, Ok((&next, false)), flat, &trail)
                }
                Ended::Returned(value) => {
                    space.coverage.returned_from(operation);
                    self.space.finish_alone(&mut next, thread);
                    if space.reductions.merged_events {
                        responded = true;
                        self.actions.push(Action::Respond);
                        self.events.push(Event::Return { thread, operation, value });
                    } else {
                        next.words[region + STATUS] = returning(operation);
                        let at = region + layout.locals_at;
                        next.words[at..at + value.len()].copy_from_slice(&value);
                    }
                    then(self, Ok((&next, true)), flat, &trail)
                }
            };
            self.workspace.pool.push(next);
            self.events.truncate(events);
            if responded {
                self.actions.pop();
            }
            match again {
                Some(choices) if on => given = choices,
                _ => {
                    self.workspace.trails.push(trail);
                    return on;
                }
            }
        }
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
        self.unpack(bytes, &mut flat);
        let known = known.max(self.form.largest(&flat));
        let mut enumeration = Successors::new(self, workspace, visit);
        for thread in 0..self.program().threads.len() {
            if !enumeration.thread(&flat, thread, known) {
                break;
            }
        }
        workspace.flat = flat;
    }

    /// Every way on for one thread.
    pub fn successors_of(
        &self,
        flat: &Flat,
        thread: usize,
        known: usize,
        workspace: &mut Workspace,
        visit: &mut dyn Visit,
    ) {
        Successors::new(self, workspace, visit).thread(flat, thread, known);
    }
}
