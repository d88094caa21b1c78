//! From an execution to histories, and what is wrong with them.

use super::points::is_point;
use super::program::{Mark, calls};
use crate::definition::Subject;
use crate::execution::{Execution, Timed};
use crate::judge::{Judge, Violated};
use crate::scenario::Scenario;
use crate::stuck::{waits_rightly, waits_rightly_in};
use linchpin_explore::orders::{Ends, MOST_OPERATIONS, Span, happens_before, instants, is_access};
use linchpin_explore::{EventKind, Execution as Explored, Problem};
use linchpin_history::{
    History, Judgement, PartialBuilder, PartialHistory, PartialJudge, Precedence, Violation,
};
use linchpin_spec::Value;
use linchpin_verdict::Limits;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::time::Instant;

/// What is wrong with an execution.
pub(super) enum Wrong {
    /// No order explains it, with operations in this real-time order.
    NotLinearizable(Box<Violated>, RealTime),
    /// No order that extends happens-before explains it.
    NotExplained(Box<Unexplained>),
    /// Calls wait that could be answered.
    Stuck(History),
    /// The explorer found it.
    Problem(History),
}

/// A real-time order of calls.
#[derive(Clone, Debug, Default)]
pub(super) struct RealTime {
    /// The numbers of the calls.
    pub(super) numbers: Vec<usize>,
    /// For each a mask of those that returned before it was called: positions in `numbers`.
    pub(super) before: Vec<u64>,
}

/// A violation under weak memory.
pub(super) struct Unexplained {
    pub(super) history: PartialHistory,
    pub(super) violation: Violation,
}

/// Judges the executions of one scenario.
pub(super) struct Observer<'a> {
    subject: &'a Subject,
    scenario: &'a Scenario,
    judge: Judge<'a>,
    partial: PartialJudge<'a>,
    weak: bool,
    /// Answers and order of what was judged.
    seen: FxHashSet<(Vec<u64>, Vec<Option<Value>>)>,
    /// Judgements stop then.
    deadline: Option<Instant>,
    /// Executions of which not every real-time order was judged.
    pub(super) partly: u64,
    /// The operation of each call of the scenario.
    operations: Vec<usize>,
    /// The operations in which something was accessed.
    pub(super) touched: BTreeSet<usize>,
}

impl<'a> Observer<'a> {
    pub(super) fn new(
        subject: &'a Subject,
        scenario: &'a Scenario,
        weak: bool,
        deadline: Option<Instant>,
    ) -> Observer<'a> {
        Observer {
            subject,
            scenario,
            judge: Judge::new(subject),
            partial: PartialJudge::new(&subject.object),
            weak,
            seen: FxHashSet::default(),
            deadline,
            partly: 0,
            operations: calls(scenario).iter().map(|(_, call)| call.operation).collect(),
            touched: BTreeSet::new(),
        }
    }

    /// Answers and order of all that was judged.
    pub(super) fn take_seen(&mut self) -> FxHashSet<(Vec<u64>, Vec<Option<Value>>)> {
        std::mem::take(&mut self.seen)
    }

    /// Executions that could not be judged.
    pub(super) fn undecided(&self) -> u64 {
        self.judge.undecided
    }

    /// About what it keeps.
    pub(super) fn bytes(&self) -> usize {
        self.seen.len() * (64 + 16 * self.scenario.len())
    }

    /// What is wrong with an execution, unless one like it was judged before.
    pub(super) fn judge(
        &mut self,
        explored: &Explored,
        answers: Vec<Option<Value>>,
    ) -> Option<Wrong> {
        let spans = made(self.scenario, explored, &answers);
        let touched = spans.iter().filter(|made| made.touched && !made.is_before());
        self.touched.extend(touched.map(|made| self.operations[made.number]));
        match &explored.problem {
            None => {}
            Some(Problem::Deadlock { .. }) if self.all_wait(&spans) => {}
            Some(_) => {
                let made: Vec<&Made> = spans.iter().collect();
                return Some(Wrong::Problem(self.as_it_was(explored, &made, &answers)));
            }
        }
        if self.weak {
            return self.judge_weak(explored, &spans, answers);
        }
        self.judge_traces(explored, &spans, answers)
    }

    /// Whether each thread has ended its calls or waits in one that may wait.
    fn all_wait(&self, spans: &[Made]) -> bool {
        let open = spans.iter().filter(|made| made.waits());
        let waits = |made: &Made| {
            let (_, call) = calls(self.scenario)[made.number];
            self.subject.operations[call.operation].waits
        };
        let mut some = false;
        open.inspect(|_| some = true).all(waits) && some
    }

    /// All greatest real-time orders of the trace.
    fn judge_traces(
        &mut self,
        explored: &Explored,
        made: &[Made],
        answers: Vec<Option<Value>>,
    ) -> Option<Wrong> {
        let made: Vec<&Made> =
            made.iter().filter(|made| made.called && made.thread.is_some()).collect();
        let spans: Vec<Span> = made.iter().map(|made| made.span).collect();
        if spans.len() > MOST_OPERATIONS {
            self.partly += 1;
            let execution = self.real_time(&made, &observed(&spans), &answers);
            return self.judge_order(&execution, RealTime::default);
        }
        let ends = Ends::new(explored, &spans);
        let key = key(ends.masks(), &made, &answers);
        let orders = match self.seen.contains(&key) {
            true => return None,
            false => ends.orders(|at| spans[at].returned),
        };
        let Some(orders) = orders else {
            self.partly += 1;
            let execution = self.real_time(&made, &observed(&spans), &answers);
            return self.judge_order(&execution, RealTime::default);
        };
        for order in orders {
            let execution = self.real_time(&made, &instants(&order), &answers);
            let real_time = || RealTime {
                numbers: made.iter().map(|made| made.number).collect(),
                before: order.clone(),
            };
            if let Some(wrong) = self.judge_order(&execution, real_time) {
                return Some(wrong);
            }
        }
        self.seen.insert(key);
        None
    }

    fn judge_order(
        &mut self,
        execution: &Execution,
        real_time: impl FnOnce() -> RealTime,
    ) -> Option<Wrong> {
        if let Some(violated) = self.judge.judge(self.scenario, execution) {
            return Some(Wrong::NotLinearizable(Box::new(violated), real_time()));
        }
        let pending = !execution.pending(self.scenario).is_empty();
        if pending && !waits_rightly(self.subject, self.scenario, execution) {
            let history = execution.history(self.subject, self.scenario).unwrap_or_default();
            return Some(Wrong::Stuck(history));
        }
        None
    }

    /// An execution with these instants.
    fn real_time(
        &self,
        made: &[&Made],
        instants: &[(u64, u64)],
        answers: &[Option<Value>],
    ) -> Execution {
        let before = self.scenario.before.len();
        let mut execution = Execution {
            before: answers[..before.min(answers.len())].iter().flatten().cloned().collect(),
            threads: vec![Vec::new(); self.scenario.threads.len()],
        };
        for (made, (called, returned)) in made.iter().zip(instants) {
            let answer = answers[made.number].clone().filter(|_| made.span.returned);
            let timed = Timed {
                invoked: *called,
                answer: answer.map(|value| (*returned, value)),
                dropped: made.dropped,
            };
            if let Some(thread) = made.thread {
                execution.threads[thread].push(timed);
            }
        }
        execution
    }

    /// The history of the execution as it happened, for a failure that is none of the history's.
    fn as_it_was(&self, explored: &Explored, made: &[&Made], answers: &[Option<Value>]) -> History {
        let is_there = |made: &&&Made| made.called && made.thread.is_some();
        let made: Vec<&Made> = made.iter().filter(is_there).copied().collect();
        let last = 2 * explored.events.len() as u64;
        let instants: Vec<(u64, u64)> = made
            .iter()
            .map(|made| {
                (2 * made.marks.0 as u64, made.marks.1.map_or(last, |at| 2 * at as u64 + 1))
            })
            .collect();
        let execution = self.real_time(&made, &instants, answers);
        execution.history(self.subject, self.scenario).unwrap_or_default()
    }

    /// Happens-before, once.
    fn judge_weak(
        &mut self,
        explored: &Explored,
        made: &[Made],
        answers: Vec<Option<Value>>,
    ) -> Option<Wrong> {
        let made: Vec<&Made> = made.iter().filter(|made| made.called).collect();
        let spans: Vec<Span> = made.iter().map(|made| made.span).collect();
        if spans.len() > MOST_OPERATIONS {
            self.judge.undecided += 1;
            return None;
        }
        let before = happens_before(explored, &spans);
        let key = key(&before, &made, &answers);
        if self.seen.contains(&key) {
            return None;
        }
        let (before, answers) = (&before, &answers);
        let Some(history) = self.partial_history(&made, before, answers) else {
            self.judge.undecided += 1;
            return None;
        };
        let limits = Limits { deadline: self.deadline, ..Limits::default() };
        match self.partial.check(&history, &limits) {
            Judgement::Holds(_) => {}
            Judgement::Violated(violation) => {
                return Some(Wrong::NotExplained(Box::new(Unexplained { history, violation })));
            }
            Judgement::Inconclusive(_) => self.judge.undecided += 1,
        }
        let all = calls(self.scenario);
        let returned = |made: &&Made| answers[made.number].as_ref().filter(|_| made.span.returned);
        let answered: Vec<_> =
            made.iter().map(|made| (all[made.number].1, returned(made), made.dropped)).collect();
        let pending = made.iter().any(|made| made.waits());
        if pending && !waits_rightly_in(self.subject, &answered, before) {
            return Some(Wrong::Stuck(self.as_it_was(explored, &made, answers)));
        }
        self.seen.insert(key);
        None
    }

    fn partial_history(
        &self,
        made: &[&Made],
        before: &[u64],
        answers: &[Option<Value>],
    ) -> Option<PartialHistory> {
        let all = calls(self.scenario);
        let mut builder = PartialBuilder::new(self.subject.object.spec.operations());
        for made in made {
            let (_, call) = all[made.number];
            let process = match made.thread {
                Some(thread) => builder.process(&thread.to_string()),
                None => builder.process(crate::execution::BEFORE),
            };
            let operation = self.subject.operations[call.operation].spec;
            let answer = answers[made.number].clone().filter(|_| made.span.returned);
            builder.push(process, operation, call.argument(), answer).ok()?;
        }
        let operations = builder.build().ok()?.operations().clone();
        PartialHistory::new(operations, Precedence::new(before).ok()?).ok()
    }
}

/// What a judgement depends on: the order, which calls were dropped, and the answers. A call that
/// was dropped may be one that takes effect, one that waits must do so rightly.
fn key(order: &[u64], made: &[&Made], answers: &[Option<Value>]) -> (Vec<u64>, Vec<Option<Value>>) {
    let dropped = made.iter().enumerate().map(|(at, made)| u64::from(made.dropped) << at);
    let order = order.iter().copied().chain([dropped.sum()]).collect();
    (order, answers.to_vec())
}

/// A call in a trace.
pub(super) struct Made {
    number: usize,
    /// The thread of the scenario; none for those that come before.
    thread: Option<usize>,
    called: bool,
    /// Its future was dropped: it may or may not have taken effect.
    dropped: bool,
    /// Whether it accessed something that the explorer knows; a cell counts.
    pub(super) touched: bool,
    /// The events that say that it is made and that it returns.
    pub(super) marks: (usize, Option<usize>),
    pub(super) span: Span,
}

impl Made {
    /// Whether it comes before the threads start.
    pub(super) fn is_before(&self) -> bool {
        self.thread.is_none()
    }

    /// Whether it was made and may still return.
    fn waits(&self) -> bool {
        self.called && !self.span.returned && !self.dropped
    }

    fn new(number: usize, thread: Option<usize>) -> Made {
        let span = Span { thread: 0, accesses: None, returned: false };
        let (called, dropped, touched) = (false, false, false);
        Made { number, thread, called, dropped, touched, marks: (0, None), span }
    }
}

/// The instants of the accesses as they came, for scenarios that are too large for all orders.
pub(super) fn observed(spans: &[Span]) -> Vec<(u64, u64)> {
    // An event belongs to one thread, so only calls of one thread have an event in common: a call
    // that touched nothing comes right after what its thread did before.
    let mut points = Vec::with_capacity(2 * spans.len());
    let mut latest: FxHashMap<usize, usize> = FxHashMap::default();
    for (number, span) in spans.iter().enumerate() {
        let after = latest.get(&span.thread).copied().unwrap_or(0);
        let (first, last) = span.accesses.unwrap_or((after, after));
        points.push((first, number, false));
        points.push((last, number, true));
        latest.insert(span.thread, last);
    }
    points.sort_unstable();
    let mut instants = vec![(0, 0); spans.len()];
    for (instant, (_, number, returns)) in (0..).zip(points) {
        if returns { instants[number].1 = instant } else { instants[number].0 = instant }
    }
    instants
}

/// Where the calls are in the trace.
pub(super) fn made(
    scenario: &Scenario,
    explored: &Explored,
    answers: &[Option<Value>],
) -> Vec<Made> {
    let mut all: Vec<Made> = calls(scenario)
        .into_iter()
        .enumerate()
        .map(|(number, (thread, _))| Made::new(number, thread))
        .collect();
    // The call that each thread of the execution is in.
    let mut open: Vec<Option<usize>> = vec![None; explored.threads];
    for (at, event) in explored.events.iter().enumerate() {
        match event.kind {
            EventKind::Mark(word) => match Mark::of(word) {
                Mark::Called(number) => {
                    all[number].called = true;
                    all[number].span.thread = event.thread;
                    all[number].marks.0 = at;
                    open[event.thread] = Some(number);
                }
                Mark::Returned(number) => {
                    all[number].span.returned = answers.get(number).is_some_and(Option::is_some);
                    all[number].marks.1 = Some(at);
                    open[event.thread] = None;
                }
                Mark::Dropped(number) => {
                    all[number].dropped = true;
                    open[event.thread] = None;
                }
                Mark::Quiet | Mark::Made => {}
            },
            ref kind if is_access(kind) => {
                if let Some(number) = open[event.thread] {
                    let first = all[number].span.accesses.map_or(at, |(first, _)| first);
                    all[number].span.accesses = Some((first, at));
                    all[number].touched |= !is_point(event);
                }
            }
            EventKind::Cell { .. } => {
                if let Some(number) = open[event.thread] {
                    all[number].touched = true;
                }
            }
            _ => {}
        }
    }
    all
}
