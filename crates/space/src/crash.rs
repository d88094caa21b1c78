//! Crashes: of the whole system, with what it leaves of each line and the recovery after it, and of
//! one thread.
//!
//! A crash of the system and `recover` after it are one transition: recovery runs alone, so what it
//! passes through concerns no thread. Where another crash may come, it comes inside it as well.
//!
//! *Crash points.* Let `s → s'` be a step without an event that no fence in it made a difference
//! to, and that gives no memory back. Then a crash in `s'` can leave all that a crash in `s` can: a
//! store keeps what the line held as an image and leaves other lines alone, and what else the step
//! changed is lost. The same calls are open, so a crash in `s` adds nothing. It is left out if such
//! a step leads forward in the code of its thread, against no edge that closes a loop: there are
//! only finitely many such steps in a row, and in the last state the crash is taken. A step that is
//! taken together with others is looked at with them.
//!
//! *Images of what can be reached.* After a crash no thread has a reference. Memory that no
//! persistent variable leads to is never met again, so nothing is chosen for it.

use crate::event::{Action, Event, Stop};
use crate::execute::Ended;
use crate::flat::{Asks, Flat, interrupted, unanswered};
use crate::layout::{Kind, NODE, STATUS, VARIABLES, recover_at};
use crate::lines::{LineId, Lines};
use crate::successors::Successors;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Recovery takes at most so many steps after a crash, counted over all images and choices.
const MAX_RECOVERY: usize = 1 << 20;

/// Recovery is remembered for so many states.
const MOST_RECOVERED: usize = 1 << 15;

/// So many steps of recovery are taken before it is looked at whether it comes back to where it has
/// been.
const SURELY_SHORT: usize = 64;

/// A way in which recovery ends: after so many steps, in a state or (`None`) by a step that fails.
#[derive(Clone, Debug)]
pub(crate) struct Recovered {
    steps: usize,
    state: Option<Flat>,
}

/// What is counted of crashes of the system.
#[derive(Debug, Default)]
pub(crate) struct LeftByCrashes {
    pub(crate) crashes: AtomicU64,
    pub(crate) images: AtomicU64,
}

/// How much crashes of the system left to choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrashCounts {
    /// Crashes that were taken: states in which one may come, where no step makes up for it.
    pub crashes: u64,
    /// Different states of memory that they left, before recovery.
    pub images: u64,
}

/// What a system crash has come to already.
#[derive(Default)]
struct Seen {
    /// States right after a crash.
    states: FxHashSet<(Vec<i64>, u8)>,
    steps: usize,
}

/// What becomes of the states in which recovery ends.
enum Ends {
    /// The visitor is told at once.
    Visited,
    /// They are kept.
    Kept(Vec<Recovered>),
}

/// The way that recovery has come.
struct Way<'a> {
    ends: &'a mut Ends,
    seen: &'a mut Seen,
    /// Where it has been, once it is long.
    passed: FxHashSet<(usize, Vec<i64>)>,
    steps: usize,
}

impl Successors<'_> {
    /// Every crash that may come in a state; `false` if the visitor has ended the enumeration.
    pub(crate) fn crashes(&mut self, flat: &Flat) -> bool {
        let Some(lines) = &self.space.form.lines else { return true };
        // Where a step makes up for it, only the crash of the system here is left out: it may still
        // come later, after a thread has crashed too.
        (self.made_up || self.crash_system(flat, lines))
            && (0..self.space.form.layout.threads)
                .all(|thread| self.crash_thread(flat, lines, thread))
    }

    /// A crash of the system.
    pub(crate) fn crash_system(&mut self, flat: &Flat, lines: &Lines) -> bool {
        self.actions.clear();
        self.events.clear();
        self.start = None;
        if flat.left.system == 0 {
            return true;
        }
        let mut seen = Seen::default();
        let on = self.crash(flat, lines, &mut seen);
        let counts = &self.space.left_by_crashes;
        counts.crashes.fetch_add(1, Ordering::Relaxed);
        counts.images.fetch_add(seen.states.len() as u64, Ordering::Relaxed);
        on
    }

    /// A crash of one thread. One that changes nothing is left out.
    pub(crate) fn crash_thread(&mut self, flat: &Flat, lines: &Lines, thread: usize) -> bool {
        if flat.left.thread == 0 {
            return true;
        }
        let mut next = flat.clone();
        self.end_thread(&mut next, lines, thread);
        if next == *flat {
            return true;
        }
        self.space.coverage.crashed();
        next.left.thread -= 1;
        self.actions.clear();
        self.events.clear();
        self.start = None;
        self.made(thread, Action::CrashThread);
        self.events.push(Event::ThreadCrash { thread });
        self.stop(thread, None, Stop::State(&next))
    }

    /// The thread begins anew; what it has called and not answered is interrupted.
    fn end_thread(&self, flat: &mut Flat, lines: &Lines, thread: usize) {
        let layout = &self.space.form.layout;
        let region = layout.thread(thread);
        let called = unanswered(flat.words[region + STATUS]);
        let resolvable = called.filter(|&of| self.space.program().is_resolvable(of));
        self.space.finish_alone(flat, thread);
        let variables = &mut flat.words[region + VARIABLES..];
        variables[..lines.variables.len()].copy_from_slice(&lines.variables);
        if let Some(operation) = resolvable {
            flat.words[region + STATUS] = interrupted(operation, Asks::NotYet);
        }
        for image in &mut flat.images {
            image.flushed &= !(1 << thread);
        }
    }

    /// A crash of the system, with every image of every line, and recovery.
    fn crash(&mut self, flat: &Flat, lines: &Lines, seen: &mut Seen) -> bool {
        let layout = &self.space.form.layout;
        self.space.coverage.crashed();
        let mut next = flat.clone();
        next.left.system -= 1;
        for thread in 0..layout.threads {
            self.end_thread(&mut next, lines, thread);
        }
        if recover_at(self.space.program()).is_some() {
            self.space.finish_alone(&mut next, layout.threads);
        }
        lines.lose_volatile(layout, &mut next);
        self.events.push(Event::Crash { last: next.left.system == 0 });
        let on = self.choose_images(next, lines, seen);
        self.events.pop();
        on
    }

    /// Chooses an image for the first line that has some and, if only what can be reached matters,
    /// can be reached; recovers if there is none.
    fn choose_images(&mut self, mut flat: Flat, lines: &Lines, seen: &mut Seen) -> bool {
        let space = self.space;
        let layout = &space.form.layout;
        let Some(line) = self.next_line(&flat, lines) else {
            flat.images.clear();
            return self.recover(flat, lines, seen);
        };
        let is_of = |image: &crate::Image| image.line == line;
        let mut images: SmallVec<[SmallVec<[i64; 4]>; 4]> = SmallVec::new();
        images.extend(flat.images.iter().filter(|image| is_of(image)).map(|i| i.words.clone()));
        flat.images.retain(|image| !is_of(image));
        for image in images {
            let mut lost = flat.clone();
            lines.restore(layout, &mut lost, line, &image);
            if lost.words != flat.words {
                space.lost.store(true, Ordering::Relaxed);
            }
            if !self.choose_images(lost, lines, seen) {
                return false;
            }
        }
        self.choose_images(flat, lines, seen)
    }

    /// A line that has images to choose from.
    fn next_line(&mut self, flat: &Flat, lines: &Lines) -> Option<LineId> {
        let space = self.space;
        let shared = |image: &&crate::Image| matches!(image.line, LineId::Shared(_));
        if let Some(image) = flat.images.iter().find(shared) {
            return Some(image.line);
        }
        // Memory that is taken again has what it held before, reachable or not.
        let all = !space.reductions.reachable_images || space.bounds.memory.gives_back();
        if all || flat.images.is_empty() {
            return flat.images.first().map(|image| image.line);
        }
        // Lines of objects that were chosen already have no images left: what they hold counts.
        let reached = self.reached(flat, lines);
        let of = |image: &&crate::Image| match image.line {
            LineId::Shared(_) => true,
            LineId::Object(object, _) => reached[object as usize],
        };
        flat.images.iter().find(of).map(|image| image.line)
    }

    /// The objects that the shared variables lead to, by lines that have been chosen: what others
    /// hold may be lost.
    fn reached(&self, flat: &Flat, lines: &Lines) -> Vec<bool> {
        let form = &self.space.form;
        let layout = &form.layout;
        let mut reached = vec![false; (flat.words.len() - layout.heap) / layout.stride];
        let mut stack: Vec<usize> = Vec::new();
        let mut reach = |word: i64, stack: &mut Vec<usize>| {
            if let Ok(object) = usize::try_from(word - 1)
                && !std::mem::replace(&mut reached[object], true)
            {
                stack.push(object);
            }
        };
        for (word, kind) in flat.words.iter().zip(&layout.shared_kinds) {
            if *kind == Kind::Ref {
                reach(*word, &mut stack);
            }
        }
        while let Some(object) = stack.pop() {
            let at = layout.object(object);
            let Some(kinds) = form.fields(flat.words[at]) else { continue };
            for (offset, kind) in kinds.iter().enumerate() {
                let word = at + 1 + offset;
                let open = lines.line_at(layout, flat, word);
                let open = open.is_some_and(|line| flat.images.iter().any(|i| i.line == line));
                if *kind == Kind::Ref && !open {
                    reach(flat.words[word], &mut stack);
                }
            }
        }
        reached
    }

    /// Runs `recover` from its start.
    fn recover(&mut self, flat: Flat, lines: &Lines, seen: &mut Seen) -> bool {
        let space = self.space;
        if !seen.states.insert((flat.words.clone(), flat.left.system)) {
            return true;
        }
        let crash = Action::Crash(flat.words.clone().into_boxed_slice());
        self.made(space.form.layout.threads, crash);
        let on = match recover_at(space.program()) {
            None => self.stop(space.form.layout.threads, None, Stop::State(&flat)),
            // Another crash may come inside it.
            Some(routine) if flat.left.system > 0 => {
                self.begin_recovery(flat, lines, routine, seen, &mut Ends::Visited)
            }
            Some(routine) => self.recover_for_good(flat, lines, routine, seen),
        };
        self.actions.pop();
        on
    }

    /// Runs `recover` where no further crash can come: it ends in the same ways as the last time.
    fn recover_for_good(
        &mut self,
        flat: Flat,
        lines: &Lines,
        routine: usize,
        seen: &mut Seen,
    ) -> bool {
        let left = flat.left;
        let known = self.workspace.recovered.get(&flat.words[..]).cloned();
        let ends = known.unwrap_or_else(|| {
            let words = flat.words.clone().into_boxed_slice();
            let mut ends = Ends::Kept(Vec::new());
            self.begin_recovery(flat, lines, routine, seen, &mut ends);
            let Ends::Kept(ends) = ends else { return Arc::default() };
            let ends: Arc<[Recovered]> = ends.into();
            if self.workspace.recovered.len() >= MOST_RECOVERED {
                self.workspace.recovered.clear();
            }
            self.workspace.recovered.insert(words, ends.clone());
            ends
        });
        let (system, before) = (self.space.form.layout.threads, self.actions.len());
        ends.iter().all(|Recovered { steps, state }| {
            (0..*steps).for_each(|_| self.made(system, Action::Recover));
            // Threads may crash as often as they could before, not as often as the last time.
            let state = state.as_ref().map(|state| Flat { left, ..state.clone() });
            let stop = state.as_ref().map_or(Stop::Fault, Stop::State);
            let on = self.stop(system, None, stop);
            self.actions.truncate(before);
            on
        })
    }

    fn begin_recovery(
        &mut self,
        mut flat: Flat,
        lines: &Lines,
        routine: usize,
        seen: &mut Seen,
        ends: &mut Ends,
    ) -> bool {
        let space = self.space;
        let layout = &space.form.layout;
        let at = layout.thread(layout.threads) + layout.locals_at;
        let start = &space.routines[routine].start;
        flat.words[at..at + start.len()].copy_from_slice(start);
        let entry = space.routines[routine].entry;
        let mut way = Way { ends, seen, passed: FxHashSet::default(), steps: 0 };
        self.recovery(&flat, lines, routine, entry, &mut way)
    }

    /// Every way on for `recover` from a node, and a crash at this node if one may come.
    fn recovery(
        &mut self,
        flat: &Flat,
        lines: &Lines,
        routine: usize,
        node: usize,
        way: &mut Way<'_>,
    ) -> bool {
        let space = self.space;
        let system = space.form.layout.threads;
        way.seen.steps += 1;
        way.steps += 1;
        // It comes back to where it has been, or takes very long.
        let long = way.steps > SURELY_SHORT;
        if (long && !way.passed.insert((node, flat.words.clone()))) || way.seen.steps > MAX_RECOVERY
        {
            space.endless.store(true, Ordering::Relaxed);
            way.steps -= 1;
            return true;
        }
        self.made(system, Action::Recover);
        let mut given: SmallVec<[u32; 2]> = SmallVec::new();
        let mut trail = self.workspace.trails.pop().unwrap_or_default();
        let (mut on, mut silent) = (true, space.reductions.crash_points);
        while on {
            let mut next = self.copy(flat);
            let ended = self.execute(&mut next, system, routine, node, &given, &mut trail);
            let again = trail.next_choices();
            let forward = |to: usize| {
                let ranks = &space.routines[routine].ranks;
                ranks[to] > ranks[node]
            };
            silent &= trail.settled.is_empty()
                && !trail.managed
                && match ended {
                    Ended::Yielded(at) => forward(at),
                    Ended::Returned => true,
                    Ended::Refused | Ended::Faulted => false,
                };
            if trail.bounded {
                space.bounded.store(true, Ordering::Relaxed);
                self.workspace.bounded = true;
            } else {
                space.coverage.went_along(routine, &trail.path);
                on = match ended {
                    // Recovery has no other thread to wait for.
                    Ended::Refused | Ended::Faulted => self.recovery_ends(None, way),
                    Ended::Yielded(at) => self.recovery(&next, lines, routine, at, way),
                    Ended::Returned => {
                        space.finish_alone(&mut next, system);
                        for image in &mut next.images {
                            image.flushed &= !(1 << system);
                        }
                        self.recovery_ends(Some(&next), way)
                    }
                };
            }
            self.workspace.pool.push(next);
            match again {
                Some(choices) => given = choices,
                None => break,
            }
        }
        self.workspace.trails.push(trail);
        self.actions.pop();
        if long {
            way.passed.remove(&(node, flat.words.clone()));
        }
        way.steps -= 1;
        if on && !silent && flat.left.system > 0 {
            on = self.crash(flat, lines, way.seen);
        }
        on
    }

    fn recovery_ends(&mut self, state: Option<&Flat>, way: &mut Way<'_>) -> bool {
        match way.ends {
            Ends::Visited => {
                let stop = state.map_or(Stop::Fault, Stop::State);
                self.stop(self.space.form.layout.threads, None, stop)
            }
            Ends::Kept(ends) => {
                ends.push(Recovered { steps: way.steps, state: state.cloned() });
                true
            }
        }
    }

    /// Whether a crash after this transition can leave all that a crash before it can.
    pub(crate) fn makes_up_for_crash(&self, thread: usize, next: &Flat) -> bool {
        let region = self.space.form.layout.thread(thread);
        let Some((routine, node)) = self.start else { return false };
        let happened = |event: &Event| !matches!(event, Event::Point { .. } | Event::Edge { .. });
        let to = next.words[region + NODE] as usize;
        let ranks = &self.space.routines[routine].ranks;
        self.settled == 0 && !self.events.iter().any(happened) && ranks[to] > ranks[node]
    }
}
