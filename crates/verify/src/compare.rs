//! Engines check each other: where one shows what another refutes, one of them is wrong.
//!
//! The rule has to be exact in both directions. An alarm that is not raised hides the worst bug
//! there is; one that is raised where an answer rests on an assumption that does not hold would cry
//! wolf.

use linchpin_engine::{Answer, Counterexample, Faults, Wrong};
use linchpin_ir::interpreter::{Move, ScheduledMove};
use linchpin_ir::run::{EventKind, Run};
use linchpin_spec::Value;
use linchpin_verdict::{Assumption, Bound, Calls, Sequential, Values, Verdict};
use std::fmt;

/// Two engines that contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// This one shows it.
    pub shows: &'static str,
    /// This one refutes it.
    pub refutes: &'static str,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Contradiction { shows, refutes } = self;
        write!(
            f,
            "`{shows}` shows what `{refutes}` refutes: one of them is wrong. Please report this model"
        )
    }
}

/// How an answer stands to a counterexample of another engine.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stance {
    /// It says nothing about such a run.
    Silent,
    /// It excludes the run.
    Excludes,
    /// It would exclude the run if its assumption about sequential executions held, which was not
    /// tried this far.
    RestsOnTrying,
}

/// The answer with the strongest verdict; of several, the first.
pub(crate) fn strongest<'a>(answers: &[&'a Answer]) -> Option<&'a Answer> {
    answers.iter().rev().max_by_key(|answer| answer.verdict).copied()
}

/// Two answers that contradict each other, if there are some.
pub fn contradiction(answers: &[Answer]) -> Option<Contradiction> {
    let found = answers.iter().filter_map(|answer| {
        answer.counterexample.as_ref().map(|counterexample| (answer.engine, counterexample))
    });
    for (refutes, counterexample) in found {
        let excludes = |answer: &&Answer| stance(answer, counterexample) == Stance::Excludes;
        if let Some(answer) = answers.iter().find(excludes) {
            return Some(Contradiction { shows: answer.engine, refutes });
        }
    }
    None
}

/// What one engine has refuted is not printed as shown by another: a proof that rests on sequential
/// executions that were only tried is none once a run is known that is wrong.
pub fn withdraw_refuted(answers: &mut [Answer]) {
    let found = answers.iter().find_map(|answer| answer.counterexample.clone());
    let Some(found) = found else { return };
    let calls = found.run.as_ref().map_or(0, calls);
    for answer in answers {
        if stance(answer, &found) == Stance::RestsOnTrying {
            let tried = answer.sequential().map_or(0, Sequential::calls);
            answer.verdict = Verdict::Inconclusive;
            answer.reason = format!(
                "not shown: every interleaving has the answers of a sequential execution, but one of those is wrong; \
                 they were tried with up to {tried} calls, the run found has {calls}"
            );
        }
    }
}

fn stance(answer: &Answer, found: &Counterexample) -> Stance {
    let about_faults = answer.faults == Faults::NeverFails;
    let crashed = found.run.as_ref().is_some_and(|run| !run.crashes.is_empty());
    if crashed && answer.assumptions.contains(&Assumption::NoCrashes) {
        return Stance::Silent;
    }
    if answer.assumptions.contains(&Assumption::KeysBetweenBounds) && !keys_between_bounds(found) {
        return Stance::Silent;
    }
    match (found.wrong, answer.verdict) {
        (Wrong::Fault, _) if !about_faults => Stance::Silent,
        (Wrong::NotLinearizable | Wrong::Sequential | Wrong::Fault, Verdict::Proved) => {
            Stance::Excludes
        }
        // Whether a step fails does not rest on sequential executions.
        (Wrong::Fault, Verdict::ProvedIfSequential) => Stance::Excludes,
        (Wrong::NotLinearizable | Wrong::Sequential, Verdict::ProvedIfSequential) => {
            match (&found.run, answer.sequential()) {
                (Some(run), Some(Sequential::Tried { calls: tried, integers, .. }))
                    if calls(run) <= *tried && passes_only(run, integers) =>
                {
                    Stance::Excludes
                }
                // Sequential executions are shown to be right: it rests on that no step fails, and
                // up to the first step that fails every run is linearizable.
                (_, None) => Stance::Excludes,
                _ => Stance::RestsOnTrying,
            }
        }
        (Wrong::NotLinearizable | Wrong::Fault, Verdict::HoldsWithinBounds) => match &found.run {
            Some(run) if is_within(run, &answer.bounds) => Stance::Excludes,
            _ => Stance::Silent,
        },
        // That an operation gets stuck is no claim about the answers of others.
        _ => Stance::Silent,
    }
}

/// Whether a counterexample surely passes no key that bounds a list.
fn keys_between_bounds(found: &Counterexample) -> bool {
    let is_bound = |value: &i64| matches!(*value, i64::MIN | i64::MAX);
    found.run.as_ref().is_some_and(|run| {
        run.events
            .iter()
            .filter(|event| event.kind == EventKind::Invoke)
            .all(|event| !integers_of(&event.value).iter().any(is_bound))
    })
}

/// How many operations were called in a run.
fn calls(run: &Run) -> usize {
    run.events.iter().filter(|event| event.kind == EventKind::Invoke).count()
}

fn passes_only(run: &Run, integers: &[i64]) -> bool {
    run.events
        .iter()
        .filter(|event| event.kind == EventKind::Invoke)
        .all(|event| integers_of(&event.value).iter().all(|value| integers.contains(value)))
}

fn integers_of(value: &Value) -> Vec<i64> {
    match value {
        Value::List(items) => items.iter().flat_map(integers_of).collect(),
        other => other.as_int().into_iter().collect(),
    }
}

/// Whether a run is one of those that were explored within these bounds.
fn is_within(run: &Run, bounds: &[Bound]) -> bool {
    bounds.iter().all(|bound| match bound {
        Bound::Threads(count) => run.events.iter().all(|event| event.process < *count),
        Bound::Calls(Calls::Unlimited) => true,
        Bound::Calls(Calls::Each(most)) => {
            let of = |thread: usize| {
                let mine = |event: &&linchpin_ir::run::Event| {
                    event.process == thread && event.kind == EventKind::Invoke
                };
                run.events.iter().filter(mine).count()
            };
            run.events
                .iter()
                .all(|event| of(event.process) <= usize::try_from(*most).unwrap_or(usize::MAX))
        }
        Bound::Values(values) => {
            let last = match values {
                Values::UpTo(last) => *last,
                Values::Any => i64::MAX,
            };
            run.events.iter().filter(|event| event.kind == EventKind::Invoke).all(|event| {
                integers_of(&event.value).iter().all(|value| (1..=last).contains(value))
            })
        }
        Bound::RoleCalls(_, Calls::Unlimited) => true,
        // Which role a thread plays, whether a run stays below a number of objects, and which of
        // its calls were a preload, is not known here.
        Bound::RoleCalls(..) | Bound::Objects(_) | Bound::Preload(_) => false,
        Bound::Crashes(most) => {
            run.crashes.iter().filter(|crash| crash.process.is_none()).count() <= usize::from(*most)
        }
        Bound::ThreadCrashes(most) => {
            run.crashes.iter().filter(|crash| crash.process.is_some()).count() <= usize::from(*most)
        }
        Bound::Preemptions(most) => preemptions(run).is_some_and(|count| count <= *most),
        Bound::Constant(..) => true,
    })
}

/// How often the moving thread changes in a run in the middle of an operation, if its moves are
/// known. There are no more preemptions: those that could not go on are counted, too.
fn preemptions(run: &Run) -> Option<usize> {
    let is_counted = |pair: &&[ScheduledMove]| {
        let between = matches!(pair[0].what, Move::Respond { .. });
        !between && pair[0].what.thread() != pair[1].what.thread()
    };
    let count = || run.schedule.windows(2).filter(is_counted).count();
    (!run.schedule.is_empty()).then(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linchpin_ir::run::{End, Event};

    #[test]
    fn a_proof_that_rests_on_no_step_failing_excludes_wrong_answers() {
        let mut shown = shown(Verdict::ProvedIfSequential, Faults::Open);
        shown.assumptions = vec![Assumption::NoStepFails { open: vec!["line 4".to_owned()] }];
        let raised = |wrong| contradiction(&[shown.clone(), refuted(wrong, &[7, 7, 7])]).is_some();
        assert!(raised(Wrong::NotLinearizable));
        assert!(!raised(Wrong::Fault));
    }

    /// Each thread calls once, with this integer, and returns.
    fn run(arguments: &[i64]) -> Run {
        let event = |process: usize, kind: EventKind, value: i64| Event {
            process,
            kind,
            operation: 0,
            value: Value::Int(value),
            time: 0,
        };
        let events = arguments.iter().enumerate().flat_map(|(process, value)| {
            [event(process, EventKind::Invoke, *value), event(process, EventKind::Ok, *value)]
        });
        Run {
            events: events.collect(),
            crashes: Vec::new(),
            trace: Vec::new(),
            schedule: Vec::new(),
            end: End::Completed,
        }
    }

    fn refuted(wrong: Wrong, arguments: &[i64]) -> Answer {
        let mut found = Counterexample::new(wrong, "");
        found.run = Some(run(arguments));
        let mut answer = Answer::new("refine", Verdict::Violated, "");
        answer.counterexample = Some(Box::new(found));
        answer
    }

    fn shown(verdict: Verdict, faults: Faults) -> Answer {
        let mut answer = Answer::new("reduce", verdict, "");
        answer.faults = faults;
        if verdict == Verdict::ProvedIfSequential {
            let known = Sequential::Tried {
                calls: 2,
                executions: 9,
                integers: vec![0, 1, 2],
                further: vec![7],
                all_arguments: false,
            };
            answer.assumptions.push(Assumption::SequentialExecutions(known));
        }
        if verdict == Verdict::HoldsWithinBounds {
            answer.bounds = vec![
                Bound::Threads(2),
                Bound::Calls(Calls::Each(1)),
                Bound::Values(Values::UpTo(2)),
            ];
        }
        answer
    }

    #[test]
    fn the_alarm_is_raised_exactly_when_one_is_wrong() {
        use Faults::{NeverFails, Open};
        use Verdict::{HoldsWithinBounds, Inconclusive, Proved, ProvedIfSequential};
        let cases = [
            (Proved, Open, Wrong::NotLinearizable, vec![1, 2], true),
            (Proved, Open, Wrong::Sequential, vec![1], true),
            (Proved, Open, Wrong::Fault, vec![1, 2], false),
            (Proved, NeverFails, Wrong::Fault, vec![1, 2], true),
            (Proved, NeverFails, Wrong::Stuck, vec![1, 2], false),
            (ProvedIfSequential, Open, Wrong::NotLinearizable, vec![1, 2], true),
            (ProvedIfSequential, Open, Wrong::NotLinearizable, vec![1, 7], false),
            (ProvedIfSequential, Open, Wrong::NotLinearizable, vec![1, 1, 1], false),
            (ProvedIfSequential, NeverFails, Wrong::Fault, vec![1, 1, 7], true),
            (HoldsWithinBounds, NeverFails, Wrong::NotLinearizable, vec![1, 2], true),
            (HoldsWithinBounds, NeverFails, Wrong::NotLinearizable, vec![1, 2, 1], false),
            (HoldsWithinBounds, NeverFails, Wrong::NotLinearizable, vec![1, 3], false),
            (HoldsWithinBounds, NeverFails, Wrong::Fault, vec![1, 2], true),
            (Inconclusive, Open, Wrong::NotLinearizable, vec![1, 2], false),
        ];
        for (verdict, faults, wrong, arguments, raised) in cases {
            let answers = [shown(verdict, faults), refuted(wrong, &arguments)];
            let found = contradiction(&answers);
            assert_eq!(found.is_some(), raised, "{verdict:?} {faults:?} {wrong:?} {arguments:?}");
        }
    }

    #[test]
    fn a_proof_for_keys_between_bounds_says_nothing_of_the_bounds() {
        let mut shown = shown(Verdict::Proved, Faults::NeverFails);
        shown.assumptions.push(Assumption::KeysBetweenBounds);
        let raised = |arguments: &[i64]| {
            contradiction(&[shown.clone(), refuted(Wrong::NotLinearizable, arguments)]).is_some()
        };
        assert!(raised(&[1, i64::MAX - 1]));
        assert!(!raised(&[1, i64::MAX]));
        assert!(!raised(&[i64::MIN, 1]));
    }

    /// Of an answer for so many threads, with everything else unbounded.
    #[test]
    fn an_answer_bounded_by_threads_alone_excludes_all_their_runs() {
        let mut shown = shown(Verdict::HoldsWithinBounds, Faults::NeverFails);
        shown.bounds = vec![Bound::Threads(2)];
        let raised = |arguments: &[i64]| {
            contradiction(&[shown.clone(), refuted(Wrong::NotLinearizable, arguments)]).is_some()
        };
        assert!(raised(&[77, -4]));
        assert!(!raised(&[77, -4, 1]));
    }

    #[test]
    fn a_proof_that_rests_on_trying_is_withdrawn() {
        let mut answers = [
            shown(Verdict::ProvedIfSequential, Faults::Open),
            refuted(Wrong::NotLinearizable, &[1, 1, 1]),
        ];
        withdraw_refuted(&mut answers);
        assert_eq!(answers[0].verdict, Verdict::Inconclusive);
        assert!(answers[0].reason.contains("up to 2 calls, the run found has 3"));
    }
}
