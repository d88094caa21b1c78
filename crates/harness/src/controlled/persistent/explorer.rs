//! All eras of a scenario: every execution, every crash that matters, everything that it may leave.
//!
//! What a crash leaves ([`Begin`]) decides all that can follow, so what follows is explored once
//! for each: its *tails*. A history is what came before a crash, and a tail.

use super::super::program::Mark;
use super::super::unseen::accesses;
use super::era::{Begin, program};
use super::judge::CrashJudge;
use super::segment::{Segment, Segments, mark, next_calls};
use crate::definition::Definition;
use crate::judge::Violated;
use crate::persistent::Persistent;
use crate::scenario::Scenario;
use linchpin_explore::crash::{Crashable, Cut, Inserted};
use linchpin_explore::{Event, EventKind, Execution, Options, Problem, Strategy, explore};
use linchpin_spec::Value;
use linchpin_sync::persistent::simulation::{Simulation, Start};
use linchpin_verdict::{Limits, StopReason};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

/// How an era was executed, and where it was cut by a crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) decisions: Vec<u32>,
    pub(super) cut: Option<Cut>,
}

/// What may follow a crash, or is there without one.
struct Tail {
    segment: Rc<Segment>,
    run: Run,
    next: Option<Rc<Tail>>,
}

/// What is wrong with the eras of a run.
pub(super) enum CrashWrong {
    /// No order explains them.
    Violated(Box<Violated>),
    /// The explorer found it, in the last era.
    Problem(Problem),
}

/// A run that is wrong.
pub(super) struct Found {
    pub(super) scenario: Arc<Scenario>,
    pub(super) runs: Vec<Run>,
    pub(super) wrong: CrashWrong,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CrashTally {
    /// Executions up to the first crash, or without one.
    pub(super) executions: u64,
    /// Executions after a crash.
    pub(super) after: u64,
    /// Of these, how many found that a store was lost.
    pub(super) lossy: u64,
    /// Crashes that differ in what was called, answered or left.
    pub(super) crashes: u64,
    pub(super) different: u64,
    pub(super) undecided: u64,
    pub(super) partly: u64,
    pub(super) stopped: Option<StopReason>,
    /// Whether a thread accessed something.
    pub(super) accessed: bool,
}

/// How executions and crashes are chosen.
#[derive(Clone, Debug)]
pub(super) struct Choosing {
    pub(super) strategy: Strategy,
    /// Crashes are drawn from this; all of them are looked at if there is none.
    pub(super) seed: Option<u64>,
    pub(super) runs: Option<u64>,
    /// As if the code had this instruction too.
    pub(super) inserted: Option<Inserted>,
}

/// So many executions follow a crash that was drawn.
const RUNS_AFTER: u64 = 3;

/// Explores one scenario.
pub(super) struct Explorer<'a, T> {
    definition: &'a Arc<Definition<T>>,
    persistent: &'a Persistent<T>,
    scenario: &'a Arc<Scenario>,
    simulation: &'a Rc<Simulation>,
    limits: &'a Limits,
    choosing: Choosing,
    random: Option<fastrand::Rng>,
    segments: Segments,
    judge: CrashJudge<'a>,
    tails: FxHashMap<Rc<Begin>, Rc<[Rc<Tail>]>>,
    /// The eras before the one that is explored.
    before: Vec<Run>,
    tally: CrashTally,
}

impl<'a, T: Send + Sync + 'static> Explorer<'a, T> {
    pub(super) fn new(
        definition: &'a Arc<Definition<T>>,
        persistent: &'a Persistent<T>,
        scenario: &'a Arc<Scenario>,
        simulation: &'a Rc<Simulation>,
        limits: &'a Limits,
        choosing: Choosing,
    ) -> Explorer<'a, T> {
        let (after, property) = (&persistent.after, persistent.property);
        Explorer {
            definition,
            persistent,
            scenario,
            simulation,
            limits,
            random: choosing.seed.map(fastrand::Rng::with_seed),
            choosing,
            segments: Segments::default(),
            judge: CrashJudge::new(&definition.subject, scenario, after, property),
            tails: FxHashMap::default(),
            before: Vec::new(),
            tally: CrashTally::default(),
        }
    }

    /// Explores until something is wrong.
    pub(super) fn run(mut self) -> (Option<Found>, CrashTally) {
        let begin = Rc::new(Begin::default());
        let strategy = self.choosing.strategy.clone();
        let found = self.era(&begin, strategy, &mut |this, tail| this.judge(&tail));
        let mut tally = self.tally;
        tally.different = self.judge.different();
        tally.undecided = self.judge.undecided;
        tally.partly = self.segments.partly;
        (found, tally)
    }

    fn judge(&mut self, tail: &Tail) -> Option<Found> {
        let (mut eras, mut runs) = (Vec::new(), Vec::new());
        let mut next = Some(tail);
        while let Some(tail) = next {
            eras.push(Rc::clone(&tail.segment));
            runs.push(tail.run.clone());
            next = tail.next.as_deref();
        }
        let violated = self.judge.judge(&eras)?;
        let wrong = CrashWrong::Violated(Box::new(violated));
        Some(Found { scenario: Arc::clone(self.scenario), runs, wrong })
    }

    /// Explores an era, with all that follows, and gives all of it to `out`.
    fn era(
        &mut self,
        begin: &Rc<Begin>,
        strategy: Strategy,
        out: &mut dyn FnMut(&mut Self, Tail) -> Option<Found>,
    ) -> Option<Found> {
        let (body, answers) = program(self.definition, self.scenario, begin, self.simulation);
        let mut options = Options::new(strategy);
        options.limits = self.limits.clone();
        options.executions = self.choosing.runs.filter(|_| begin.start.era == 0);
        let mut found = None;
        let mut seen: FxHashSet<(u32, Rc<Begin>)> = FxHashSet::default();
        let explored = explore(&options, &body, &mut |execution| {
            self.count(&begin.start);
            self.tally.accessed = self.tally.accessed || accesses(execution);
            found = self.execution(begin, execution, &answers.take(), &mut seen, out);
            let enough = found.is_some() || self.tally.stopped.is_some();
            if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if found.is_none() && !explored.complete && self.random.is_none() {
            let reason = explored.stopped.unwrap_or(StopReason::Budget);
            self.tally.stopped.get_or_insert(reason);
        } else if let (None, Some(reason)) = (&found, explored.stopped) {
            self.tally.stopped.get_or_insert(reason);
        }
        found
    }

    fn count(&mut self, start: &Start) {
        if start.era == 0 {
            self.tally.executions += 1;
            return;
        }
        self.tally.after += 1;
        // What is taken first is what was stored last.
        let lost = self.simulation.resolved().iter().any(|resolved| resolved.taken > 0);
        self.tally.lossy += u64::from(lost);
    }

    /// One execution of an era: without a crash, and with each.
    fn execution(
        &mut self,
        begin: &Rc<Begin>,
        execution: &Execution,
        answers: &[Option<Value>],
        seen: &mut FxHashSet<(u32, Rc<Begin>)>,
        out: &mut dyn FnMut(&mut Self, Tail) -> Option<Found>,
    ) -> Option<Found> {
        let decisions = &execution.decisions;
        if let Some(problem) = &execution.problem {
            let mut runs = self.before.clone();
            runs.push(Run { decisions: decisions.clone(), cut: None });
            let wrong = CrashWrong::Problem(problem.clone());
            return Some(Found { scenario: Arc::clone(self.scenario), runs, wrong });
        }
        let segment = self.segments.of(execution, answers, |_| true);
        let run = Run { decisions: decisions.clone(), cut: None };
        if let Some(found) = out(self, Tail { segment, run, next: None }) {
            return Some(found);
        }
        if begin.start.era >= self.persistent.crashes {
            return None;
        }
        let settled = made(execution);
        let (start, inserted) = (&begin.start, self.choosing.inserted);
        let crashable = Crashable::new(execution, self.simulation, start, settled, inserted);
        let Some(cuts) = self.cuts(&crashable, execution, begin) else {
            self.tally.partly += 1;
            return None;
        };
        for cut in cuts {
            let segment = self.segments.of(execution, answers, |at| crashable.is_before(&cut, at));
            let start = crashable.after(&cut).start;
            let after = &self.persistent.after;
            let next = next_calls(self.scenario, after, begin, &segment);
            let begin = Rc::new(Begin { start, next });
            if !seen.insert((segment.id, Rc::clone(&begin))) {
                continue;
            }
            self.tally.crashes += 1;
            let run = Run { decisions: decisions.clone(), cut: Some(cut) };
            self.before.push(run.clone());
            let tails = self.tails(&begin);
            self.before.pop();
            let tails = match tails {
                Ok(tails) => tails,
                Err(found) => return Some(found),
            };
            for tail in tails.iter() {
                let (segment, run) = (Rc::clone(&segment), run.clone());
                let tail = Tail { segment, run, next: Some(Rc::clone(tail)) };
                if let Some(found) = out(self, tail) {
                    return Some(found);
                }
            }
            if self.tally.stopped.is_some() {
                return None;
            }
        }
        None
    }

    /// All that may follow a crash.
    fn tails(&mut self, begin: &Rc<Begin>) -> Result<Rc<[Rc<Tail>]>, Found> {
        if self.random.is_none()
            && let Some(known) = self.tails.get(begin)
        {
            return Ok(Rc::clone(known));
        }
        let strategy = match &mut self.random {
            Some(random) => Strategy::Random { runs: RUNS_AFTER, seed: random.u64(..) },
            None => self.choosing.strategy.clone(),
        };
        let mut tails: Vec<Rc<Tail>> = Vec::new();
        let mut known: FxHashSet<Vec<u32>> = FxHashSet::default();
        let found = self.era(begin, strategy, &mut |_, tail| {
            let mut ids = vec![tail.segment.id];
            let mut next = tail.next.as_deref();
            while let Some(tail) = next {
                ids.push(tail.segment.id);
                next = tail.next.as_deref();
            }
            if known.insert(ids) {
                tails.push(Rc::new(tail));
            }
            None
        });
        if let Some(found) = found {
            return Err(found);
        }
        let tails: Rc<[Rc<Tail>]> = tails.into();
        if self.random.is_none() {
            self.tails.insert(Rc::clone(begin), Rc::clone(&tails));
        }
        Ok(tails)
    }

    /// Where an execution is cut. None if there are too many places.
    fn cuts(
        &mut self,
        crashable: &Crashable<'_>,
        execution: &Execution,
        begin: &Begin,
    ) -> Option<Vec<Cut>> {
        let (first, last) = bounds(crashable, execution, begin);
        let Some(random) = &mut self.random else {
            return crashable.cuts(&first, &last, &is_call);
        };
        // The events up to some point in the order in which they came are a cut.
        let until = random.usize(..=execution.events.len());
        let mut cut = Cut(vec![0; execution.threads]);
        for event in &execution.events[..until] {
            cut.0[event.thread] += 1;
        }
        let clamped = cut.0.iter().zip(&first.0).zip(&last.0);
        let cut =
            Cut(clamped.map(|((count, first), last)| (*count).clamp(*first, *last)).collect());
        Some(vec![crashable.closed(cut, &last, &is_call)])
    }
}

/// Whether an event is a call.
fn is_call(event: &Event) -> bool {
    matches!(mark(&event.kind), Some(Mark::Called(_)))
}

/// The event that says that the object is made.
pub(super) fn made(execution: &Execution) -> Option<usize> {
    execution.events.iter().position(|event| mark(&event.kind) == Some(Mark::Made))
}

/// The least and the greatest cut: a crash comes after the threads were started, or while another
/// one is recovered from, and not after the threads have ended.
fn bounds(crashable: &Crashable<'_>, execution: &Execution, begin: &Begin) -> (Cut, Cut) {
    let own = || execution.events.iter().filter(|event| event.thread == 0);
    let quiet = own().position(|event| mark(&event.kind) == Some(Mark::Quiet));
    let mut first = Cut(vec![0; execution.threads]);
    let mut last = crashable.whole();
    if let Some(quiet) = quiet {
        last.0[0] = quiet as u32;
    }
    if begin.start.era == 0 {
        let made = own().position(|event| mark(&event.kind) == Some(Mark::Made)).unwrap_or(0);
        let is_start = |event: &Event| matches!(event.kind, EventKind::Spawn { .. });
        let started = own().enumerate().position(|(at, event)| at > made && is_start(event));
        first.0[0] = started.or(quiet).unwrap_or(made) as u32;
    }
    (first, last)
}
