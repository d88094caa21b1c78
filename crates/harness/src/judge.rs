//! Judging executions, each different one once.

use crate::definition::Subject;
use crate::execution::{Execution, Timed};
use crate::scenario::{Call, Scenario};
use linchpin_history::search::SearchOptions;
use linchpin_history::{CheckOptions, check};
use linchpin_history_data::{History, Judgement, Violation};
use linchpin_spec::Value;
use linchpin_verdict::Limits;
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::{Duration, Instant};

/// Judges the executions of one test. An execution that looks like one that was judged before is
/// not judged again.
pub struct Judge<'a> {
    subject: &'a Subject,
    /// What was judged, as [`Judge::key`] writes it.
    seen: FxHashSet<Box<[u64]>>,
    /// The numbers of values that are no short integers.
    values: FxHashMap<Value, u64>,
    key: Vec<u64>,
    forgotten: u64,
    /// How many executions could not be judged in time.
    pub undecided: u64,
}

/// An execution that no order explains.
#[derive(Clone, Debug)]
pub struct Violated {
    /// It, as a history.
    pub history: History,
    /// Why.
    pub violation: Violation,
    /// The states that were possible just before, if they are known.
    pub possible: Vec<String>,
}

/// So many different executions are remembered.
const REMEMBERED: usize = 1 << 20;

/// So long one judgement may take, and so long a small core is looked for.
const TIME: Duration = Duration::from_secs(10);

impl<'a> Judge<'a> {
    /// Of this test.
    pub fn new(subject: &'a Subject) -> Judge<'a> {
        Judge {
            subject,
            seen: FxHashSet::default(),
            values: FxHashMap::default(),
            key: Vec::new(),
            forgotten: 0,
            undecided: 0,
        }
    }

    /// How many different executions there were.
    pub fn different(&self) -> u64 {
        self.forgotten + self.seen.len() as u64
    }

    /// Judges an execution, unless one like it was judged.
    pub fn judge(&mut self, scenario: &Scenario, execution: &Execution) -> Option<Violated> {
        self.key(scenario, execution);
        if self.seen.contains(self.key.as_slice()) {
            return None;
        }
        if self.seen.len() >= REMEMBERED {
            self.forgotten += self.seen.len() as u64;
            self.seen.clear();
        }
        let violated = self.examine(scenario, execution, TIME);
        // What is violated is violated again the next time.
        if violated.is_none() {
            self.seen.insert(self.key.as_slice().into());
        }
        violated
    }

    /// Judges an execution in about this time.
    pub fn examine(
        &mut self,
        scenario: &Scenario,
        execution: &Execution,
        time: Duration,
    ) -> Option<Violated> {
        let Ok(mut history) = execution.history(self.subject, scenario) else {
            self.undecided += 1;
            return None;
        };
        let limits = Limits { deadline: Instant::now().checked_add(time), ..Limits::default() };
        let search =
            SearchOptions { parallel: false, event_time: time, ..SearchOptions::default() };
        let options = CheckOptions { limits, search, ..CheckOptions::default() };
        let Ok(checked) = check(&self.subject.object, &mut history, &options) else {
            self.undecided += 1;
            return None;
        };
        match checked.judgement {
            Judgement::Holds(_) => None,
            Judgement::Violated(violation) => {
                Some(Violated { history, violation, possible: checked.possible })
            }
            Judgement::Inconclusive(_) => {
                self.undecided += 1;
                None
            }
        }
    }

    /// Writes down all that a judgement can depend on: the events in their order, without their
    /// times. Fresh values are numbered by the scenario, so equal runs of it are equal here.
    fn key(&mut self, scenario: &Scenario, execution: &Execution) {
        self.key.clear();
        for (call, answer) in scenario.before.iter().zip(&execution.before) {
            self.write_call(0, call);
            self.write_value(answer);
        }
        let mut cursors: Vec<Cursor<'_>> = (execution.threads.iter())
            .zip(&scenario.threads)
            .map(|(timed, calls)| Cursor { timed, calls, open: false })
            .collect();
        while let Some((thread, event)) = next(&mut cursors) {
            match event {
                Event::Call(call) => self.write_call(thread, call),
                Event::Return(answer) => {
                    self.key.push((thread as u64) << 1 | 1);
                    self.write_value(answer);
                }
            }
        }
    }

    fn write_call(&mut self, thread: usize, call: &Call) {
        self.key.push((call.operation as u64) << 32 | (thread as u64) << 1);
        for argument in &call.arguments {
            self.write_value(argument);
        }
    }

    fn write_value(&mut self, value: &Value) {
        let word = match value {
            Value::Int(int) if (*int << 2) >> 2 == *int => (*int << 2) as u64,
            Value::Null => 1,
            Value::Bool(false) => 2,
            Value::Bool(true) => 3,
            other => {
                let next = self.values.len() as u64 + 1;
                *self.values.entry(other.clone()).or_insert(next) << 2 | 1
            }
        };
        self.key.push(word);
    }
}

/// Where we are in what one thread did.
struct Cursor<'a> {
    timed: &'a [Timed],
    calls: &'a [Call],
    /// Whether the call was seen, and its return was not.
    open: bool,
}

enum Event<'a> {
    Call(&'a Call),
    Return(&'a Value),
}

impl<'a> Cursor<'a> {
    /// When the next event is.
    fn stamp(&self) -> Option<u64> {
        let timed = self.timed.first()?;
        if self.open { timed.answer.as_ref().map(|(at, _)| *at) } else { Some(timed.invoked) }
    }

    fn take(&mut self) -> Option<Event<'a>> {
        let (timed, call) = (self.timed.first()?, self.calls.first()?);
        if !self.open {
            self.open = true;
            return Some(Event::Call(call));
        }
        (self.timed, self.calls, self.open) = (&self.timed[1..], &self.calls[1..], false);
        timed.answer.as_ref().map(|(_, answer)| Event::Return(answer))
    }
}

/// The next event of all threads.
fn next<'a>(cursors: &mut [Cursor<'a>]) -> Option<(usize, Event<'a>)> {
    let stamps = cursors.iter().enumerate().filter_map(|(at, one)| Some((one.stamp()?, at)));
    let (_, thread) = stamps.min()?;
    cursors[thread].take().map(|event| (thread, event))
}
