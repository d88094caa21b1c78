//! Judging histories with crashes, each different one once.

use super::era::{Caller, calls};
use super::segment::Segment;
use crate::definition::Subject;
use crate::execution::{AFTER, BEFORE};
use crate::judge::Violated;
use crate::scenario::{Call, Scenario};
use linchpin_history::search::SearchOptions;
use linchpin_history::{CheckOptions, check};
use linchpin_history_data::{Builder, History, HistoryError, Judgement, Property, ValueId};
use linchpin_verdict::Limits;
use rustc_hash::FxHashSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// So long one judgement may take.
const TIME: Duration = Duration::from_secs(10);

/// Judges the histories of one scenario.
pub(super) struct CrashJudge<'a> {
    pub(super) subject: &'a Subject,
    pub(super) scenario: &'a Scenario,
    pub(super) after: &'a [Call],
    pub(super) property: Property,
    seen: FxHashSet<Vec<u32>>,
    pub(super) undecided: u64,
}

impl<'a> CrashJudge<'a> {
    pub(super) fn new(
        subject: &'a Subject,
        scenario: &'a Scenario,
        after: &'a [Call],
        property: Property,
    ) -> CrashJudge<'a> {
        let seen = FxHashSet::default();
        CrashJudge { subject, scenario, after, property, seen, undecided: 0 }
    }

    /// How many different ones there were.
    pub(super) fn different(&self) -> u64 {
        self.seen.len() as u64
    }

    /// What is wrong with eras one after the other, unless they were judged before.
    pub(super) fn judge(&mut self, eras: &[Rc<Segment>]) -> Option<Violated> {
        let ids: Vec<u32> = eras.iter().map(|segment| segment.id).collect();
        if !self.seen.insert(ids) {
            return None;
        }
        // Each era has its orders, whatever the others have.
        let mut taken = vec![0; eras.len()];
        loop {
            if let Some(violated) = self.examine(eras, &taken) {
                return Some(violated);
            }
            let mut at = 0;
            loop {
                let segment = eras.get(at)?;
                taken[at] += 1;
                if taken[at] < segment.orders.len() {
                    break;
                }
                taken[at] = 0;
                at += 1;
            }
        }
    }

    fn examine(&mut self, eras: &[Rc<Segment>], taken: &[usize]) -> Option<Violated> {
        let Ok(mut history) = self.history(eras, taken) else {
            self.undecided += 1;
            return None;
        };
        let limits = Limits { deadline: Instant::now().checked_add(TIME), ..Limits::default() };
        let search =
            SearchOptions { parallel: false, event_time: TIME, ..SearchOptions::default() };
        let property = self.property;
        let options = CheckOptions { property, limits, search, ..CheckOptions::default() };
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

    /// The history of eras, with a crash between two of them.
    pub(super) fn history(
        &self,
        eras: &[Rc<Segment>],
        taken: &[usize],
    ) -> Result<History, HistoryError> {
        let signatures = self.subject.object.spec.operations();
        let all = calls(self.scenario, self.after);
        let mut builder = Builder::new(signatures);
        for (number, (segment, order)) in eras.iter().zip(taken).enumerate() {
            if number > 0 {
                builder.crash(None)?;
            }
            let instants = segment.orders.get(*order).map_or(&[][..], Vec::as_slice);
            let mut events: Vec<(u64, bool, usize)> = Vec::new();
            for (at, (called, returned)) in instants.iter().enumerate() {
                events.push((*called, false, at));
                events.push((*returned, true, at));
            }
            events.sort_unstable();
            for (_, returns, at) in events {
                let (number, answer) = &segment.calls[at];
                let Some((caller, call)) = all.get(*number) else { continue };
                let process = match caller {
                    Caller::Before => builder.process(BEFORE),
                    Caller::Thread(thread) => builder.process(&thread.to_string()),
                    Caller::After => builder.process(AFTER),
                };
                let operation = self.subject.operations[call.operation].spec;
                let signature = &signatures[usize::from(operation)];
                if !returns {
                    let argument = builder.argument(call.argument(), &signature.argument);
                    builder.invoke_compact(process, operation, ValueId::NULL, argument)?;
                } else if let Some(answer) = answer {
                    let answer = builder.argument(answer.clone(), &signature.response);
                    builder.ok_compact(process, answer)?;
                }
            }
        }
        Ok(builder.finish())
    }
}
