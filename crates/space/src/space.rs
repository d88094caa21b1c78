//! The state space: from a packed state to its successors, with the events on the way.

use crate::alone::LockWords;
use crate::any_values::{Known, Passing, largest_at_start, passing};
use crate::bounds::{Bounds, Reductions};
use crate::canonical::{Before, Form, Renaming, Shown, at_least};
use crate::code::{Class, Routine, routines};
use crate::coverage::{Coverage, Unreached, set};
use crate::crash::{CrashCounts, LeftByCrashes};
use crate::doomed::Hints;
use crate::error::{SpaceError, Unsupported};
use crate::execute::Words;
use crate::flat::{Asks, Flat, Link, interrupted_of, operation_of};
use crate::layout::{
    CALLS, Kind, Layout, NODE, STATUS, flatten, resolve_at, routines_of, tagged, unflatten,
};
use crate::lines::{CrashesLeft, Lines};
use crate::liveness::live_words;
use crate::marks::SpecMarks;
use crate::privacy::{maybe_private, others};
use crate::roles::{Holders, Roles};
use crate::settled::{Forward, Settled};
use crate::symmetry::{Symmetry, analyse};
use crate::workspace::Workspace;
use linchpin_ir::domain::{Domain, DomainBounds};
use linchpin_ir::interpreter::{Fault, Machine, Memory, ScheduledMove, State};
use linchpin_ir::program::{Action as IrAction, Body, NodeId, Program, Type};
use linchpin_ir::run::{AnsweredCall, PreloadError, Preloaded, preload};
use linchpin_spec::Value;
use linchpin_verdict::{Calls, Values};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// More threads than this a packed state cannot name.
const MOST_THREADS: usize = 200;

/// The same where threads or the system may crash: some words have a bit a thread.
const MOST_WITH_CRASHES: usize = 62;

/// Calls of one operation may have at most this many different arguments.
pub(crate) const MAX_ARGUMENTS: u64 = 1 << 16;

/// The state space of a model within bounds.
pub struct Space {
    machine: Machine,
    /// What the calls of the preload came to, if there are some.
    preloaded: Option<Preloaded>,
    pub(crate) bounds: Bounds,
    pub(crate) reductions: Reductions,
    pub(crate) symmetry: Symmetry,
    /// Which integers of the specification are values that clients pass and get back.
    spec_marks: SpecMarks,
    pub(crate) form: Form,
    pub(crate) routines: Vec<Routine>,
    /// For each thread, the calls that it may make.
    pub(crate) calls: Vec<Vec<(usize, Words)>>,
    /// For each operation, which words of its parameters hold renamable values.
    pub(crate) data: Vec<Vec<usize>>,
    pub(crate) privacy: Privacy,
    pub(crate) locks: LockWords,
    pub(crate) coverage: Coverage,
    /// Whether a bound kept a step from being taken.
    pub(crate) bounded: AtomicBool,
    /// Whether a crash lost a store.
    pub(crate) lost: AtomicBool,
    /// How much crashes of the system left to choose.
    pub(crate) left_by_crashes: LeftByCrashes,
    /// Whether `recover` may go on for ever.
    pub(crate) endless: AtomicBool,
    /// Whether edges are events.
    pub(crate) edge_events: bool,
    /// Whether a call is a transition of its own, up to the first step that others may notice or
    /// that may be refused.
    pub(crate) calls_apart: bool,
    /// Whether a step that writes to shared memory is never taken together with another.
    pub(crate) writes_apart: bool,
    /// Whether claimed linearization points are of no interest.
    pub(crate) ignores_points: bool,
    /// What is known about what never comes back, if attempts are looked at.
    pub(crate) lasting: Option<Lasting>,
    /// Whether doomed attempts are looked for.
    pub(crate) doomed: bool,
    /// Whether validated attempts are looked for.
    pub(crate) validated: bool,
    /// Whether private steps of any thread are taken at once.
    pub(crate) ample: bool,
    pub(crate) acted: Acted,
    /// The values that clients pass.
    pub(crate) passing: Passing,
}

/// Whether reductions have acted; workers write it together.
#[derive(Default)]
pub(crate) struct Acted {
    ample: AtomicBool,
    doomed: AtomicBool,
    validated: AtomicBool,
}

impl Acted {
    pub fn ample(&self) {
        set(&self.ample);
    }

    pub fn doomed(&self) {
        set(&self.doomed);
    }

    pub fn validated(&self) {
        set(&self.validated);
    }
}

/// What is known, from the code alone, about shared variables that never hold something again.
pub(crate) struct Lasting {
    /// Where references flow.
    pub roles: Roles,
    /// The variables that only move forward.
    pub forward: Vec<Forward>,
    /// For each operation and node, where to look whether an attempt may be doomed.
    pub hints: Vec<Vec<Hints>>,
}

/// What is known, from the code alone, about who touches what.
pub(crate) struct Privacy {
    /// For each thread, the classes that another thread writes.
    pub written: Vec<Vec<Class>>,
    /// For each thread, the classes that another thread touches.
    pub touched: Vec<Vec<Class>>,
    /// The classes that do not change any more once they are not `null` and others can read them.
    pub once: Vec<Class>,
    /// For each thread, operation and node, whether a step from it can concern no other thread.
    pub steps: Vec<Vec<Vec<bool>>>,
}

impl Privacy {
    /// `settled`: what is known about fields that do not change any more, if that is used.
    fn of(program: &Program, settled: Option<&Settled>) -> Privacy {
        let threads = 0..program.threads.len();
        let writes = settled.map(|settled| &settled.writes[..]);
        let (written, touched): (Vec<_>, Vec<_>) =
            threads.clone().map(|thread| others(program, thread, writes)).unzip();
        let steps = |thread: usize| {
            let of = |operation: usize| {
                maybe_private(program, operation, &written[thread], &touched[thread])
            };
            (0..program.operations.len()).map(of).collect()
        };
        let steps = threads.map(steps).collect();
        let once = settled.map(|settled| settled.once.clone()).unwrap_or_default();
        Privacy { written, touched, once, steps }
    }
}

/// How states are written, with these symmetries and reductions.
fn form_of(
    program: &Program,
    layout: Layout,
    lines: Option<Lines>,
    symmetry: &Symmetry,
    bounds: &Bounds,
    reductions: &Reductions,
) -> Form {
    let live = |(operation, (body, _)): (usize, (&Body, Type))| match reductions.dead_locals {
        true => live_words(body, &layout, operation),
        false => {
            let kinds = &layout.local_kinds[operation];
            let all = kinds.iter().enumerate().map(|(at, kind)| (layout.locals_at + at, *kind));
            vec![all.collect(); body.nodes.len()]
        }
    };
    let live: Vec<_> = routines_of(program).into_iter().enumerate().map(live).collect();
    let group = |thread: usize| {
        let of = &program.threads[thread];
        let same = |other: &usize| {
            let other = &program.threads[*other];
            other.operations == of.operations && other.calls == of.calls
        };
        if symmetry.threads { (0..thread).find(same).unwrap_or(thread) } else { thread }
    };
    let groups: Vec<usize> = (0..program.threads.len()).map(group).collect();
    let bodies = routines_of(program).into_iter().map(|(body, _)| body);
    let edges = bodies.flat_map(|body| &body.nodes).flat_map(|node| &node.edges);
    let drops_fields = reductions.dead_fields
        && bounds.memory == Memory::Collected
        && bounds.objects.is_none()
        && lines.is_none();
    let mut actions = edges.flat_map(|edge| &edge.actions).map(|(action, _)| action);
    let roles = if drops_fields { Roles::of(program, &layout) } else { None };
    let holders = Holders::of(&layout, &live, roles.as_ref());
    let with_readers = |roles: Roles| {
        let readers = holders.readers(&roles);
        (roles, readers)
    };
    Form {
        shown: Shown::new(&layout, &live),
        type_stable: bounds.memory == Memory::TypeStable,
        live,
        // Memory that is given back and taken again has what it held, so it is no garbage.
        heap: reductions.canonical_heap
            && match bounds.memory {
                Memory::Collected => true,
                Memory::Reuse => lines.is_none(),
                Memory::TypeStable => false,
            },
        symmetric: groups.iter().enumerate().any(|(thread, group)| thread != *group),
        groups,
        values: 0,
        calls: (0..program.threads.len()).any(|thread| bounds.limits(program, thread)),
        tids: layout.names_threads(),
        links: actions.any(|action| matches!(action, IrAction::LoadLinked { .. })),
        lines,
        resolve: resolve_at(program),
        roles: roles.map(with_readers),
        holders,
        is_even: layout.field_kinds.iter().all(|kinds| kinds.len() + 1 == layout.stride),
        layout,
    }
}

impl Space {
    /// The state space of a program.
    pub fn new(
        program: &Program,
        bounds: Bounds,
        reductions: Reductions,
    ) -> Result<Space, SpaceError> {
        let threads = program.threads.len();
        let most = if bounds.has_crashes() { MOST_WITH_CRASHES } else { MOST_THREADS };
        if threads > most {
            return Err(SpaceError::TooManyThreads { threads, most });
        }
        if bounds.memory == Memory::TypeStable && bounds.has_crashes() {
            let what = "type-stable memory together with crashes";
            return Err(Unsupported(what.to_owned()).into());
        }
        let mut layout = Layout::of(program)?;
        let routines = routines(program, &layout)?;
        let lines = match bounds.has_crashes() {
            true => Some(Lines::of(program, &layout, reductions.distinct_images)?),
            false => None,
        };
        let (found, spec_marks) =
            analyse(program, &routines, &mut layout, lines.as_ref(), bounds.values);
        let marked = found.values;
        let symmetry = Symmetry {
            threads: found.threads && reductions.thread_symmetry,
            // A value of the preload that clients do not pass is like no other.
            values: found.values
                && reductions.value_symmetry
                && preloads_within(program, bounds.values),
            data: found.data,
        };
        let mut form = form_of(program, layout, lines, &symmetry, &bounds, &reductions);
        let data = |operation: usize| {
            let kinds = &form.layout.local_kinds[operation];
            let words: usize = routines[operation].parameters.iter().map(|(s, _)| s.width).sum();
            (0..words).filter(|&at| kinds[at] == Kind::Data).collect()
        };
        let data: Vec<Vec<usize>> = (0..routines.len()).map(data).collect();
        let locks = LockWords::of(program, &form.layout);
        let machine = match bounds.crashes {
            0 => Machine::new(program, bounds.memory),
            _ => Machine::with_crashes(program, bounds.memory),
        };
        let preloaded = match program.preload.is_empty() {
            true => None,
            false if bounds.has_crashes() => return Err(PreloadError::Crashes.into()),
            false => Some(preload(&machine)?),
        };
        let initial = match &preloaded {
            None => machine.initial().ok(),
            Some(of) => of.result.clone().ok(),
        };
        let initial = initial.and_then(|state| Flat::of(program, &form.layout, &state, &[]).ok());
        let start = largest_at_start(program, &form.layout, initial.as_ref(), &spec_marks);
        let of = Known { data_use: &symmetry.data, named: symmetry.values, marked, start };
        let passing = passing(program, &bounds, &of).map_err(SpaceError::NotAnyValues)?;
        if symmetry.values {
            form.values = usize::try_from(passing.last).unwrap_or(0);
        }
        let plain = bounds.memory == Memory::Collected && !bounds.has_crashes();
        let settled = plain.then(|| Settled::of(program, &form.layout));
        let privacy = Privacy::of(program, settled.as_ref().filter(|_| reductions.settled_fields));
        let validated = plain && reductions.validated_reads && bounds.objects.is_none();
        let looked_at = reductions.doomed_attempts || validated;
        let lasting = settled.filter(|_| looked_at).and_then(|settled| {
            let roles = Roles::of(program, &form.layout)?;
            let hints = routines.iter().zip(&form.live).map(|(routine, live)| {
                let hints = Hints::of(routine, &form.layout, &privacy.once);
                live.iter().map(|live| hints.among(live)).collect()
            });
            Some(Lasting { roles, forward: settled.forward, hints: hints.collect() })
        });
        let ample = plain && reductions.ample_steps && reductions.partial_order;
        let mut space = Space {
            machine,
            preloaded,
            bounds,
            reductions,
            symmetry,
            spec_marks,
            form,
            routines,
            calls: Vec::new(),
            data,
            privacy,
            locks,
            coverage: Coverage::new(program),
            bounded: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            left_by_crashes: LeftByCrashes::default(),
            endless: AtomicBool::new(false),
            edge_events: false,
            calls_apart: false,
            writes_apart: false,
            ignores_points: false,
            doomed: lasting.is_some() && reductions.doomed_attempts,
            validated: lasting.is_some() && validated,
            lasting,
            ample,
            acted: Acted::default(),
            passing,
        };
        space.calls =
            (0..threads).map(|thread| space.calls_of(thread)).collect::<Result<_, _>>()?;
        space.forget_cycles();
        Ok(space)
    }

    /// The same space, with an event for every edge that a step goes along.
    pub fn telling_edges(mut self) -> Space {
        self.edge_events = true;
        self.validated = false;
        self
    }

    /// The same space, in which an operation that is called but cannot take its first step is a
    /// state: with merged events alone there is no such state. Responses stay merged, if they are.
    pub fn with_calls_apart(mut self) -> Space {
        self.calls_apart = true;
        self
    }

    /// The same space, in which every step that writes to what the shared variables reach is a
    /// transition of its own, even if no other thread can notice it.
    pub fn with_writes_apart(mut self) -> Space {
        self.writes_apart = true;
        self.validated = false;
        self
    }

    /// The same space, to those who do not look at claimed linearization points.
    pub fn ignoring_points(mut self) -> Space {
        self.ignores_points = true;
        self
    }

    /// A variable moves forward only if the links are no cycle at the start.
    fn forget_cycles(&mut self) {
        let initial = self.initial().map(|flat| flat.words).unwrap_or_default();
        let layout = &self.form.layout;
        let Some(lasting) = &mut self.lasting else { return };
        let objects = initial.len().saturating_sub(layout.heap) / layout.stride;
        lasting.forward.retain(|Forward { field, .. }| {
            // More links than there are objects lead round in a cycle.
            let leads_out = |object: usize| {
                let next = |object: &usize| {
                    usize::try_from(initial[layout.object(*object) + field] - 1).ok()
                };
                std::iter::successors(Some(object), next).take(objects + 1).count() <= objects
            };
            !initial.is_empty() && (0..objects).all(leads_out)
        });
    }

    fn calls_of(&self, thread: usize) -> Result<Vec<(usize, Words)>, SpaceError> {
        let program = self.program();
        let bounds = DomainBounds { values: self.passing.last, threads: program.threads.len() };
        let mut calls = Vec::new();
        for &operation in &program.threads[thread].operations {
            let of = &program.operations[operation];
            let domain = Domain::of_arguments(of, bounds)
                .filter(|domain| domain.size() <= MAX_ARGUMENTS)
                .ok_or_else(|| SpaceError::Arguments(of.name.clone()))?;
            for value in domain.values() {
                let mut words = Vec::new();
                for (argument, parameter) in
                    value.as_list().unwrap_or(&[]).iter().zip(&of.parameters)
                {
                    flatten(argument, &parameter.ty, &mut words)?;
                }
                calls.push((operation, Words::from_vec(words)));
            }
        }
        Ok(calls)
    }

    /// The program.
    pub fn program(&self) -> &Program {
        self.machine.program()
    }

    /// The reference interpreter for it.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The bounds.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// The symmetries that are used.
    pub fn symmetry(&self) -> &Symmetry {
        &self.symmetry
    }

    /// The reductions that are asked for.
    pub fn reductions(&self) -> &Reductions {
        &self.reductions
    }

    /// Which integers of the specification are values that clients pass and get back.
    pub fn spec_marks(&self) -> &SpecMarks {
        &self.spec_marks
    }

    /// How many values may be renamed; 0 if they are told apart.
    pub fn renamable_values(&self) -> usize {
        self.form.values
    }

    /// Clients pass the integers from 1 to this one.
    pub fn last_value(&self) -> i64 {
        self.passing.last
    }

    /// Whether each call passes only values that appear nowhere yet: the runs that are left out
    /// are renamings of these, but those with more values at a time than there are names.
    pub fn passes_only_new_values(&self) -> bool {
        self.passing.only_new
    }

    /// Whether what was explored stands for clients that pass any values: those that there are
    /// are as many as can be passed, or no call was kept from passing one more.
    pub fn covers_any_values(&self) -> bool {
        let Passing { stand_for_all, enough, wanted, .. } = &self.passing;
        let named = self.symmetry.values;
        *stand_for_all && (*enough || named && !wanted.load(Ordering::Relaxed))
    }

    /// Whether a bound on objects kept a step from being taken.
    pub fn was_bounded(&self) -> bool {
        self.bounded.load(Ordering::Relaxed)
    }

    /// What was seen while successors were looked for, in an order that depends on the program
    /// only: lines that were executed, operations that returned, bounds that were reached.
    pub fn seen(&self) -> Vec<bool> {
        self.flags().map(|flag| flag.load(Ordering::Relaxed)).collect()
    }

    /// Takes what was seen in another space of the same program as seen in this one too.
    pub fn see(&self, seen: &[bool]) {
        for (flag, _) in self.flags().zip(seen).filter(|(_, seen)| **seen) {
            flag.store(true, Ordering::Relaxed);
        }
    }

    fn flags(&self) -> impl Iterator<Item = &AtomicBool> {
        let own = [&self.bounded, &self.lost, &self.endless, &self.passing.wanted];
        own.into_iter().chain(self.coverage.flags())
    }

    /// The lines that were not executed, but may be in runs that have the same events as those that
    /// were explored.
    pub fn open_lines(&self) -> Vec<Unreached> {
        self.coverage.open(self.program())
    }

    /// Leaves open only the lines that are open in another space of the same program, in which
    /// everything was explored.
    pub fn close_lines(&self, other: &Space) {
        self.coverage.close(&other.coverage);
    }

    /// Whether a private step of another thread was taken along.
    pub fn took_ample_steps(&self) -> bool {
        self.acted.ample.load(Ordering::Relaxed)
    }

    /// Whether a doomed attempt was taken to its end.
    pub fn ended_doomed_attempts(&self) -> bool {
        self.acted.doomed.load(Ordering::Relaxed)
    }

    /// Whether a validated attempt was taken as one transition.
    pub fn took_validated_attempts(&self) -> bool {
        self.acted.validated.load(Ordering::Relaxed)
    }

    /// Whether some crash lost a store: if not, crashes made no difference to memory.
    pub fn lost_a_store(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// How much crashes of the system left to choose, in all states whose successors were asked
    /// for.
    pub fn crash_counts(&self) -> CrashCounts {
        let LeftByCrashes { crashes, images } = &self.left_by_crashes;
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CrashCounts { crashes: count(crashes), images: count(images) }
    }

    /// Whether `recover` may go on for ever after some crash: what comes after is not known.
    pub fn recovers_for_ever(&self) -> bool {
        self.endless.load(Ordering::Relaxed)
    }

    /// Whether what a thread leaves in a variable or field is there after its crash, or after one
    /// of the system.
    pub(crate) fn outlives_thread(&self, class: Class) -> bool {
        let Some(lines) = &self.form.lines else { return false };
        let persistent = match class {
            Class::Shared(variable) => {
                let persistence = self.program().persistence.as_ref();
                persistence.is_some_and(|of| of.shared.get(variable).is_some_and(Option::is_some))
            }
            Class::Field(of, _) => lines.is_persistent(of),
        };
        persistent || self.bounds.thread_crashes > 0
    }

    /// The crashes that may come from the start on.
    pub fn crashes_at_start(&self) -> CrashesLeft {
        let persistent = self.program().persistence.is_some();
        let system = if persistent { self.bounds.crashes } else { 0 };
        CrashesLeft { system, thread: self.bounds.thread_crashes }
    }

    /// The lines that no run executed; operations that no thread may call are counted too.
    pub fn unreached(&self) -> Vec<Unreached> {
        self.coverage.unreached(self.program())
    }

    /// The operations that some thread may call and that returned in no run: nothing is known about
    /// them.
    pub fn never_returned(&self) -> Vec<usize> {
        self.coverage.never_returned(self.program())
    }

    /// The calls that each thread has at the start.
    pub fn calls_at_start(&self) -> Vec<i64> {
        let threads = 0..self.program().threads.len();
        let calls = threads.map(|thread| match self.bounds.calls_of(self.program(), thread) {
            Calls::Each(count) => i64::from(count),
            Calls::Unlimited => 0,
        });
        calls.collect()
    }

    /// A state of the interpreter, flat. Where there are crashes, as many may come as at the start:
    /// the caller knows better.
    pub fn flatten(&self, state: &State, calls: &[i64]) -> Result<Flat, Unsupported> {
        let layout = &self.form.layout;
        let mut flat = Flat::of(self.program(), layout, state, calls)?;
        if let Some(lines) = &self.form.lines {
            flat.add_images(self.program(), layout, lines, state)?;
            flat.left = self.crashes_at_start();
        }
        Ok(flat)
    }

    /// A state of a space of the same program with fewer threads, as one of this space: the further
    /// threads are idle, and every thread may make `further` calls more than it could.
    pub fn embed(&self, of: &Space, flat: &Flat, further: u32) -> Result<Flat, SpaceError> {
        let (small, large) = (&of.form.layout, &self.form.layout);
        let initial = self.initial()?;
        let added = large.heap.saturating_sub(small.heap);
        let end = small.thread(small.threads);
        let mut words = flat.words[..end].to_vec();
        words.extend_from_slice(&initial.words[end..large.heap]);
        words.extend_from_slice(&flat.words[small.heap..]);
        for thread in 0..large.threads {
            let left = &mut words[large.thread(thread) + CALLS];
            if thread >= small.threads || of.bounds.calls == Calls::Unlimited {
                *left = 0;
            }
            *left = left.saturating_add(i64::from(further));
        }
        let links = flat.links.iter().map(|link| match link.at < small.heap {
            true => *link,
            false => Link { at: link.at + added, ..*link },
        });
        Ok(Flat { words, links: links.collect(), ..Flat::default() })
    }

    /// The initial state: after `init`, and after the calls of the preload if there are some.
    pub fn initial(&self) -> Result<Flat, SpaceError> {
        let (state, _) = self.start()?;
        Ok(self.flatten(&state, &self.calls_at_start())?)
    }

    /// The initial state of the interpreter, and the moves that lead there: those of the preload.
    pub fn start(&self) -> Result<(State, Vec<ScheduledMove>), Fault> {
        match &self.preloaded {
            None => Ok((self.machine.initial()?, Vec::new())),
            Some(of) => Ok((of.result.clone()?, of.run.schedule.clone())),
        }
    }

    /// The calls of the preload with their answers.
    pub fn preloaded(&self) -> &[AnsweredCall] {
        self.preloaded.as_ref().map_or(&[], |of| &of.calls)
    }

    /// Packs a state into its canonical form.
    pub fn pack(&self, flat: &Flat, workspace: &mut Workspace, out: &mut Vec<u8>) -> Renaming {
        self.form.pack(flat, None, &mut workspace.scratch, out)
    }

    /// The same for a state that comes of one of which so much is known
    /// ([`Successor::before`](crate::Successor::before)).
    pub fn pack_after(
        &self,
        before: Option<Before<'_>>,
        flat: &Flat,
        workspace: &mut Workspace,
        out: &mut Vec<u8>,
    ) -> Renaming {
        self.form.pack(flat, before, &mut workspace.scratch, out)
    }

    /// Packs a state with its threads in a given order: one of the forms that its orbit has.
    pub fn pack_in_order(
        &self,
        flat: &Flat,
        order: &[usize],
        workspace: &mut Workspace,
        out: &mut Vec<u8>,
    ) -> Renaming {
        self.form.pack_in_order(flat, order, &mut workspace.scratch, out)
    }

    /// Empties the fields that the packed form of a state does not keep; all names stay.
    pub fn forget_dead_fields(&self, flat: &mut Flat, workspace: &mut Workspace) {
        self.form.forget_dead_fields(flat, None, &mut workspace.scratch);
    }

    /// The orders in which interchangeable threads may stand; at most `limit` of them.
    pub fn orders(&self, limit: usize) -> Vec<Vec<usize>> {
        let groups = &self.form.groups;
        let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
        for place in 0..groups.len() {
            let mut longer = Vec::new();
            for order in &orders {
                let fits =
                    |thread: &usize| groups[*thread] == groups[place] && !order.contains(thread);
                for thread in (0..groups.len()).filter(fits) {
                    let mut next = order.clone();
                    next.push(thread);
                    longer.push(next);
                }
            }
            longer.truncate(limit);
            orders = longer;
        }
        orders
    }

    /// The state that bytes are the form of.
    pub fn unpack(&self, bytes: &[u8], flat: &mut Flat) {
        self.form.unpack(bytes, flat);
    }

    /// Where two parts of a packed state end: the first says how many calls each thread has left,
    /// and no other part depends on that; the second says what threads do, the rest what the shared
    /// variables hold and reach, which does not depend on the second.
    pub fn parts(&self, bytes: &[u8]) -> (usize, usize) {
        self.form.parts(bytes)
    }

    /// Whether each thread has at least as many calls left, by the first bytes of two states that
    /// are the same otherwise.
    pub fn has_calls(&self, more: &[u8], less: &[u8]) -> bool {
        at_least(more, less)
    }

    /// Whether a thread is inside an operation in this state, or asks what became of one.
    pub fn is_pending(&self, flat: &Flat, thread: usize) -> bool {
        let status = flat.words[self.form.layout.thread(thread) + STATUS];
        let asks = interrupted_of(status).is_some_and(|(_, asks)| asks != Asks::NotYet);
        operation_of(status).is_some() || asks
    }

    /// The operation that a thread is inside of and the node where it is; `None` if it is idle or
    /// has only its response to give.
    pub fn position(&self, flat: &Flat, thread: usize) -> Option<(usize, NodeId)> {
        let region = self.form.layout.thread(thread);
        let (operation, returning) = operation_of(flat.words[region + STATUS])?;
        let node = u32::try_from(flat.words[region + NODE]).ok().map(NodeId);
        node.filter(|_| !returning).map(|node| (operation, node))
    }

    /// The values of the arguments of a call.
    pub fn arguments(&self, operation: usize, words: &[i64]) -> Vec<Value> {
        let parameters = &self.program().operations[operation].parameters;
        let mut rest = words;
        parameters.iter().map(|parameter| unflatten(&mut rest, &parameter.ty)).collect()
    }

    /// The value of a response.
    pub fn response(&self, operation: usize, words: &[i64]) -> Value {
        let mut rest = words;
        unflatten(&mut rest, &self.program().operations[operation].response)
    }

    /// The words of the response that `recover(t)` answers for an operation; `None` if it says that
    /// the call had no effect.
    pub fn resolution(&self, operation: usize, words: &[i64]) -> Option<Vec<i64>> {
        let response = self.response_type(operation).clone();
        let is_tagged = tagged(&Type::Option(Box::new(response)));
        let none = words.first().is_none_or(|first| *first == 0);
        (!none).then(|| words[usize::from(is_tagged)..].to_vec())
    }

    /// The type of a response.
    pub fn response_type(&self, operation: usize) -> &Type {
        &self.program().operations[operation].response
    }
}

/// Whether the preload passes only integers that clients pass.
fn preloads_within(program: &Program, values: Values) -> bool {
    fn within(value: &Value, values: Values) -> bool {
        match value {
            Value::Int(i) => match values {
                Values::UpTo(last) => (1..=last).contains(i),
                Values::Any => *i >= 1,
            },
            Value::List(items) => items.iter().all(|item| within(item, values)),
            _ => true,
        }
    }
    let arguments = program.preload.iter().flat_map(|call| &call.arguments);
    arguments.into_iter().all(|argument| within(argument, values))
}
