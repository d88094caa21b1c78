//! Histories whose precedence is a partial order: linearizable with respect to happens-before.
//!
//! An order of intervals is judged as one, by all that there is for these. Any other is searched.
//! Small histories are searched at once, whatever their order: that takes less than to look.

use super::{CheckOptions, Checked, check_deadlines};
use linchpin_history_data::{Judgement, Object, PartialHistory};
use linchpin_search::PartialSearch;
use linchpin_spec::AnySpec;
use linchpin_verdict::{Inconclusive, Limits};

/// Histories of at most so many operations are searched at once.
const SMALL: usize = 10;

const SEARCH: &str = "search of a partial order";

/// Judges a history whose precedence is a partial order: whether some order of all completed and
/// some pending operations keeps to it and gives the answers that were recorded.
///
/// Those who judge many take a [`PartialJudge`].
///
/// ```
/// use linchpin_history::{Judgement, Object, PartialBuilder, check_partial};
/// use linchpin_spec::Value;
/// use linchpin_verdict::Limits;
///
/// let queue = Object::builtin("queue", None)?;
/// let mut builder = PartialBuilder::new(queue.spec.operations());
/// let one = builder.completed("a", "enqueue", Value::Int(1), Value::Null)?;
/// let two = builder.completed("a", "enqueue", Value::Int(2), Value::Null)?;
/// builder.completed("b", "dequeue", Value::Null, Value::Int(2))?;
/// builder.completed("b", "dequeue", Value::Null, Value::Int(1))?;
/// let judgement = check_partial(&queue, builder.build()?, &Limits::default());
/// assert!(judgement.is_holds());
///
/// builder.program_order();
/// let judgement = check_partial(&queue, builder.build()?, &Limits::default());
/// let violation = judgement.violation().ok_or("what is first in is not first out")?;
/// assert!(violation.explanation.starts_with("dequeue → 2 by process b"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_partial(object: &Object, history: &PartialHistory, limits: &Limits) -> Judgement {
    PartialJudge::new(object).check(history, limits)
}

/// Judges many partial histories of one object, one after the other, and remembers what the
/// specification answered.
///
/// ```
/// use linchpin_history::{Object, PartialBuilder, PartialJudge};
/// use linchpin_spec::Value;
/// use linchpin_verdict::Limits;
///
/// let register = Object::builtin("register", None)?;
/// let mut builder = PartialBuilder::new(register.spec.operations());
/// let (a, b) = (builder.process("a"), builder.process("b"));
/// let (write, read) = (builder.operation("write")?, builder.operation("read")?);
/// let (mut judge, limits) = (PartialJudge::new(&register), Limits::default());
/// for seen in 0..3 {
///     builder.clear();
///     let first = builder.push(a, write, Value::Int(1), Some(Value::Null))?;
///     let second = builder.push(b, read, Value::Null, Some(Value::Int(seen)))?;
///     builder.precedes(first, second)?;
///     assert_eq!(judge.check(builder.build()?, &limits).is_holds(), seen == 1);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PartialJudge<'a> {
    object: &'a Object,
    search: PartialSearch<'a, AnySpec>,
    options: CheckOptions,
}

impl<'a> PartialJudge<'a> {
    /// A judge of histories of this object.
    pub fn new(object: &'a Object) -> PartialJudge<'a> {
        PartialJudge::with(object, CheckOptions::default())
    }

    /// The same, with options. The limits are those of each call, and the property is
    /// linearizability: there are no crashes.
    fn with(object: &'a Object, options: CheckOptions) -> PartialJudge<'a> {
        let search = PartialSearch::new(&*object.spec).with_core_time(options.search.core_time);
        PartialJudge { object, search, options }
    }

    /// Judges a history. See [`check_partial`].
    pub fn check(&mut self, history: &PartialHistory, limits: &Limits) -> Judgement {
        if history.order().len() <= SMALL {
            let judgement = self.search.search(history, limits);
            if !matches!(judgement, Judgement::Violated(_)) {
                return judgement;
            }
        }
        self.judged(history, limits).judgement
    }

    /// The answer, and how it was reached.
    fn judged(&mut self, history: &PartialHistory, limits: &Limits) -> Checked {
        let is_small = history.order().len() <= SMALL;
        let Some(intervals) = history.intervals() else {
            let judgement = self.search.search(history, limits);
            let note = "the precedence is not an order of intervals".to_owned();
            return Checked::new(judgement, SEARCH.to_owned(), vec![note]);
        };
        self.options.limits = limits.clone();
        let door = check_deadlines(self.object, &intervals.history, &[], &self.options);
        let mut notes = vec!["the precedence is an order of intervals".to_owned()];
        notes.extend(door.notes);
        let mut judgement = intervals.judged(door.judgement);
        if is_small {
            let searched = self.search.search(history, limits);
            judgement = agreed(judgement, searched, &door.method);
        }
        let checked = Checked::new(judgement, door.method, notes);
        Checked { key: door.key, ..checked }
    }
}

/// The judgement of a method for intervals, beside that of the search. Both are exact, so where
/// both have answered they agree.
fn agreed(judgement: Judgement, searched: Judgement, method: &str) -> Judgement {
    match (&judgement, &searched) {
        (Judgement::Inconclusive(_), _) => searched,
        (_, Judgement::Inconclusive(_)) => judgement,
        (one, other) if one.is_holds() == other.is_holds() => judgement,
        _ => {
            let reason = format!(
                "the {method} and the {SEARCH} disagree, which is a mistake in linchpin: please \
                 report it with this history"
            );
            Judgement::Inconclusive(Inconclusive::Undecided(reason))
        }
    }
}

/// Like [`check_partial`], with all options and how the judgement was reached. Of many objects the
/// answer is about all of them together, and [`Checked::keys`] is empty.
pub fn check_partial_with(
    object: &Object,
    history: &PartialHistory,
    options: &CheckOptions,
) -> Checked {
    PartialJudge::with(object, options.clone()).judged(history, &options.limits)
}
