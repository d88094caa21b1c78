//! What is left out of a core was judged, however little time there is.

use super::{Judge, shrink};
use crate::problem::{Item, Role};
use linchpin_history_data::{Builder, History, OpId};
use linchpin_spec::{Queue, Spec, Value};
use std::time::{Duration, Instant};

/// Six operations on three values, and a dequeue that found nothing; one after the other.
fn history() -> History {
    let mut builder = Builder::new(Queue::default().operations());
    let mut call = |name: &str, argument: Value, answer: Value| {
        builder.invoke("a", name, argument).expect("a call");
        builder.ok("a", answer).expect("an answer");
    };
    for value in 1..=3 {
        call("enqueue", Value::Int(value), Value::Null);
        call("dequeue", Value::Null, Value::Int(value));
    }
    call("dequeue", Value::Null, Value::Null);
    builder.finish()
}

/// Knows of completed operations that the culprit alone shows the violation; about others it has no
/// time to think.
struct NoTime {
    culprit: OpId,
    /// Whether nothing but the culprit matters.
    nothing_matters: bool,
}

impl Judge for NoTime {
    fn is_violated(&mut self, items: &[Item], _: Instant) -> Option<bool> {
        let is_known = items.iter().all(|item| item.role == Role::Completed);
        is_known.then(|| items.iter().any(|item| item.id == self.culprit))
    }

    fn relevant(&self, gone: Vec<Item>, _: &[Item]) -> Vec<Item> {
        if self.nothing_matters { Vec::new() } else { gone }
    }
}

fn core(judge: &mut NoTime) -> Vec<OpId> {
    let history = history();
    let until = Instant::now() + Duration::from_secs(3600);
    shrink(&history, &Item::all(&history), Some(judge.culprit), until, judge)
}

/// Neither what shares no value with the rest nor what found nothing: the rest alone was judged,
/// but not together with them.
#[test]
fn what_was_not_judged_is_not_left_out() {
    let mut judge = NoTime { culprit: OpId::new(5), nothing_matters: false };
    assert_eq!(core(&mut judge), [0, 1, 2, 3, 4, 5].map(OpId::new));
}

/// What cannot matter is left out; what the culprit sees is shown.
#[test]
fn what_cannot_matter_is_left_out() {
    let mut judge = NoTime { culprit: OpId::new(5), nothing_matters: true };
    assert_eq!(core(&mut judge), [4, 5].map(OpId::new));
}

/// A core of which nothing could be judged is all that there is.
#[test]
fn without_time_everything_stays() {
    let history = history();
    let mut judge = NoTime { culprit: OpId::new(5), nothing_matters: true };
    let core =
        shrink(&history, &Item::all(&history), Some(OpId::new(5)), Instant::now(), &mut judge);
    assert_eq!(core, [0, 1, 2, 3, 4, 5].map(OpId::new));
}
