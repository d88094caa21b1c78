//! Stores of strings under keys: get, put and append. And of lists: [`check_lists`].
//!
//! A get shows a piece that was put and the pieces appended to it since (`reading.rs`), so it says
//! which put it follows (`epochs.rs`) and in which order the appends took effect. A put with all
//! that shows it is a block (`blocks.rs`) in which nothing else changes the value, and what is left
//! is to put the blocks in order (`zones.rs`). Where texts repeat, which call wrote what is shown
//! is chosen, and chosen again where that fails (`choices.rs`, `backjump.rs`, `decide.rs`).
//!
//! Why this is exact: between a put and the longest get that shows it no other put takes effect,
//! for the get would show that one, and no append that it does not show. So every explanation is an
//! order of blocks, each in its inner order. And every order of blocks that respects calls and
//! returns, the beginning first, explains all gets, for a block begins with a put, and an append
//! between blocks is shown by no get. Two blocks suffice for a circle: take the block X with the
//! smallest first return and a block Y that must be before it; what must be before Y returns
//! something no earlier than X does, so X must be before Y as well.

mod backjump;
mod blocks;
mod choices;
mod decide;
mod epochs;
mod explain;
mod lexicon;
mod list;
mod log;
mod reading;
mod reasons;
mod zones;

use super::poll::{StopPoll, StopReason};
use super::timeline;
use decide::{Decision, Effort, Refusal, decide};
use linchpin_history_data::{
    Argument, History, Judgement, Monitored, OpId, Rank, Sentences, ValueId, Violation, Witness,
    not_applicable,
};
use linchpin_spec::{Kv, Spec, Value};
use linchpin_verdict::Limits;
pub use list::check_lists;
use log::{AT_THE_END, Does, Instant, Known, Log};
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::sync::Arc;

/// Judges a history of a [`Kv`] that starts with the strings of `init` (a map).
///
/// Exact, pending operations and deadlines included. Not applicable where the text of a get can be
/// cut into pieces in several ways, or where texts repeat so often that there are too many choices;
/// what is violated by a single get is found even then.
pub fn check(history: &History, init: &Value, limits: &Limits) -> Monitored {
    check_with(history, init, limits, Effort::Full)
}

/// Like [`check`], but not applicable as soon as it is not obvious which of several calls wrote a
/// text, in a history that is short enough for a search to be faster then.
pub fn check_obvious(history: &History, init: &Value, limits: &Limits) -> Monitored {
    let effort = if is_short(history) { Effort::Little } else { Effort::Full };
    check_with(history, init, limits, effort)
}

/// Whether [`check_obvious`] may leave to [`check`] what is not obvious.
pub fn is_short(history: &History) -> bool {
    history.operations.len() <= 1024
}

fn check_with(history: &History, init: &Value, limits: &Limits, effort: Effort) -> Monitored {
    let specification = Kv::default();
    let say = Sentences::new(history, specification.operations());
    let poll = StopPoll::new(limits);
    if let Err(stopped) = poll.ask(200 * history.operations.len()) {
        return Ok(stopped.into());
    }
    let texts = match Texts::new(history, &poll) {
        Ok(Ok(texts)) => texts,
        Ok(Err(id)) => {
            let what = say.operation(id);
            return not_applicable(format!("{what} is not an operation of a key-value store"));
        }
        Err(stopped) => return Ok(stopped.into()),
    };
    let mut verdicts = Verdicts::new(effort);
    for (key, operations) in &texts.keys {
        let start = match init {
            Value::Map(given) => given.get(&history.values.get(*key)),
            _ => None,
        };
        let start = match start {
            Some(Value::Str(text)) => text.as_bytes(),
            _ => b"",
        };
        let does: Vec<(OpId, Does<'_, u8>)> =
            operations.iter().map(|(id, text)| (*id, text.does())).collect();
        if let Err(stopped) = verdicts.add(history, &say, start, &does, &poll) {
            return Ok(stopped.into());
        }
    }
    verdicts.finish(history, texts.idle, &poll)
}

/// What an operation did, with its own text.
enum Text {
    Put(Arc<str>),
    Append(Arc<str>),
    Get(Arc<str>),
}

impl Text {
    fn does(&self) -> Does<'_, u8> {
        match self {
            Text::Put(text) => Does::Put(text.as_bytes()),
            Text::Append(text) => Does::Append(text.as_bytes()),
            Text::Get(text) => Does::Get(text.as_bytes()),
        }
    }
}

/// The operations of each key, in the order of their calls.
#[derive(Default)]
struct Texts {
    keys: Vec<(ValueId, Vec<(OpId, Text)>)>,
    /// The completed appends of nothing, which are always possible.
    idle: Vec<OpId>,
}

impl Texts {
    /// Reads a history, up to the first operation that makes no sense.
    fn new(history: &History, poll: &StopPoll) -> Result<Result<Texts, OpId>, StopReason> {
        let mut texts = Texts::default();
        let mut numbers: FxHashMap<ValueId, usize> = FxHashMap::default();
        let text = |value: ValueId| match history.values.get(value) {
            Value::Str(text) => Some(text),
            _ => None,
        };
        for (id, operation) in history.iter() {
            poll.step()?;
            let (key, text) = match (usize::from(operation.operation), operation.argument) {
                (Kv::GET, Argument::One(key)) => match (operation.completed, operation.response) {
                    (false, _) => continue,
                    (true, Argument::One(value)) => (key, text(value).map(Text::Get)),
                    (true, _) => (key, None),
                },
                (Kv::PUT, Argument::Two(key, value)) => (key, text(value).map(Text::Put)),
                (Kv::APPEND, Argument::Two(key, value)) => (key, text(value).map(Text::Append)),
                _ => return Ok(Err(id)),
            };
            let number = *numbers.entry(key).or_insert_with(|| {
                texts.keys.push((key, Vec::new()));
                texts.keys.len() - 1
            });
            match text {
                None => return Ok(Err(id)),
                Some(Text::Append(text)) if text.is_empty() => {
                    texts.idle.extend(operation.completed.then_some(id));
                }
                Some(text) => texts.keys[number].1.push((id, text)),
            }
        }
        Ok(Ok(texts))
    }
}

/// What is known of the keys so far.
struct Verdicts {
    effort: Effort,
    order: Vec<OpId>,
    ends: Vec<usize>,
    violation: Option<Violation>,
    refused: Option<String>,
}

impl Verdicts {
    fn new(effort: Effort) -> Verdicts {
        let (order, ends) = (Vec::new(), Vec::new());
        Verdicts { effort, order, ends, violation: None, refused: None }
    }

    /// Decides about one more key.
    fn add<S: Ord + Hash>(
        &mut self,
        history: &History,
        say: &Sentences<'_>,
        init: &[S],
        operations: &[(OpId, Does<'_, S>)],
        poll: &StopPoll,
    ) -> Result<(), StopReason> {
        let log = Log::new(history, init, operations, poll)?;
        let known = Known::by(&log, AT_THE_END);
        match decide(&known, self.effort, poll)? {
            Decision::Holds(order) => {
                let order = order.into_iter().filter(|at| !list::is_second(&log, *at));
                self.order.extend(order.filter_map(|at| log[at].id));
                self.ends.push(self.order.len());
            }
            Decision::Declined(refusal) => {
                self.refused.get_or_insert_with(|| refused(&log, say, refusal));
            }
            Decision::Violated(fault) => {
                let mut violation = explain::violation(&known, say, &fault, None, poll)?;
                let until = violation.core.iter().map(|id| &history[*id]);
                let until = until.filter(|o| o.completed).map(|o| log::instant(o.returned)).max();
                if let Some(cut) = first_violated(&log, until.unwrap_or(AT_THE_END), poll)? {
                    let known = Known::by(&log, cut);
                    if let Decision::Violated(fault) = decide(&known, Effort::Full, poll)? {
                        let at = Some(Rank::new(cut - 1));
                        violation = explain::violation(&known, say, &fault, at, poll)?;
                    }
                }
                // The key that is violated first; one of which it is not known when, last.
                let when = |violation: &Violation| violation.at.map_or(u32::MAX, Rank::number);
                if self.violation.as_ref().is_none_or(|other| when(&violation) < when(other)) {
                    self.violation = Some(violation);
                }
            }
        }
        Ok(())
    }

    /// The judgement of the whole history.
    fn finish(self, history: &History, idle: Vec<OpId>, poll: &StopPoll) -> Monitored {
        // why: with more effort it is known whether a key that was refused is violated earlier.
        if let (Some(reason), Effort::Little) = (&self.refused, self.effort) {
            return not_applicable(reason.clone());
        }
        if let Some(mut violation) = self.violation {
            // why: a key that was refused may be violated earlier.
            violation.at = violation.at.filter(|_| self.refused.is_none());
            return Ok(Judgement::Violated(violation));
        }
        if let Some(reason) = self.refused {
            return not_applicable(reason);
        }
        let (mut order, mut ends) = (self.order, self.ends);
        if !idle.is_empty() {
            order.extend(idle);
            ends.push(order.len());
        }
        let order = timeline::interleave(order, &ends, history.operations.len(), poll);
        Ok(order.map_or_else(Judgement::from, |order| Judgement::Holds(Witness { order })))
    }
}

fn refused(log: &Log, say: &Sentences<'_>, refusal: Refusal) -> String {
    match refusal {
        Refusal::Repeated => "the same texts are written too often".to_owned(),
        Refusal::Ambiguous(get) => {
            let what = log[get].id.map_or_else(String::new, |id| say.operation(id));
            format!("{what} can be cut into pieces in several ways")
        }
    }
}

/// The first event after which no order explains what was known, if it is the return of an
/// operation by `until`, where that is so. `None` if that cannot be told.
fn first_violated(
    log: &Log,
    until: Instant,
    poll: &StopPoll,
) -> Result<Option<Instant>, StopReason> {
    let returns = log.elements.iter().filter(|element| element.completed && element.id.is_some());
    let mut returns: Vec<Instant> = returns.map(|element| element.returned).collect();
    returns.retain(|returned| *returned <= until);
    returns.sort_unstable();
    // INVARIANT: what was known at `above` is violated, and at what is below `below` it is not.
    let (mut below, mut above) = (0, returns.len().saturating_sub(1));
    // Mostly it is right there, so longer and longer steps back are taken first.
    let mut step = 1;
    while below < above {
        let middle = above.saturating_sub(step).max(usize::midpoint(below, above).min(above - 1));
        step = step.saturating_mul(8);
        match decide(&Known::by(log, returns[middle]), Effort::Full, poll)? {
            Decision::Violated(_) => above = middle,
            Decision::Holds(_) => below = middle + 1,
            Decision::Declined(_) => return Ok(None),
        }
    }
    Ok(returns.get(above).copied())
}
