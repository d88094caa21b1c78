//! From a history to a judgement, for any collection: explain it, or find the smallest part that
//! nothing explains.

use super::super::poll::{Halt, StopPoll, StopReason};
use super::gather::{Gathered, gather};
use super::shrink::{each_assignment, smallest};
use super::{Conflict, Object, Part, Speech};
use linchpin_history_data::{
    History, Judgement, Monitored, NEVER, NotApplicable, OpId, Rank, ValueId, Violation, Witness,
};
use linchpin_verdict::Limits;

/// A data type whose values are added once, removed at most once and perhaps looked at.
///
/// INVARIANT: an order for some operations is still one without a value and all operations on it,
/// or without a look.
pub(crate) trait Collection {
    /// Its words and operations.
    const OBJECT: Object;

    /// An order of all operations of a part except the pending removals that were not assigned a
    /// value.
    fn order(&self, part: Part) -> Result<Vec<OpId>, Halt<Conflict>>;

    /// Whether some assignment of values to the pending removals explains the part.
    fn decide(&self, part: Part) -> Decision {
        decide_by_trial(self, part)
    }

    /// Why the part, a smallest one, cannot be explained.
    fn explain(&self, part: &Part, speech: &Speech) -> String;
}

/// What became of a part.
pub(crate) enum Decision {
    /// This order explains it.
    Explained(Vec<OpId>),
    /// Nothing does.
    Unexplained(Conflict),
    /// It is not known, and this is why.
    Unknown(String),
    /// It is not known yet.
    Stopped(StopReason),
}

/// Checks a history.
pub(crate) fn check<C: Collection>(
    collection: &C,
    history: &History,
    initial: &[ValueId],
    limits: &Limits,
    poll: &StopPoll,
) -> Monitored {
    if let Err(stopped) = poll.ask(history.operations.len() * 60) {
        return Ok(stopped.into());
    }
    let up_to = |cut: Rank| gather(history, initial, &C::OBJECT, cut, poll);
    let mut violation = match up_to(NEVER)? {
        Gathered::Stopped(stopped) => return Ok(stopped.into()),
        Gathered::Violated(violation) => violation,
        Gathered::Part(part) => match collection.decide(part) {
            Decision::Explained(order) => return Ok(Judgement::Holds(Witness { order })),
            Decision::Unknown(reason) => return Err(NotApplicable { reason }),
            Decision::Stopped(stopped) => return Ok(stopped.into()),
            Decision::Unexplained(stuck) => match up_to(NEVER)? {
                Gathered::Stopped(stopped) => return Ok(stopped.into()),
                Gathered::Violated(violation) => violation,
                Gathered::Part(part) => violation_of(collection, history, &part, &stuck, limits),
            },
        },
    };
    violation.at = earliest(collection, history, initial, limits, poll);
    // What conspires must have done so by then. What returns later need not have: then it is looked
    // for up to there.
    if let Some(at) = violation.at {
        let sooner = match up_to(at + 1)? {
            Gathered::Violated(sooner) => {
                let is_known = |id: &OpId| history[*id].returned <= at;
                (!violation.core.iter().all(is_known)).then_some(sooner)
            }
            Gathered::Part(part) => sooner(collection, history, &violation, part, limits),
            Gathered::Stopped(_) => None,
        };
        if let Some(sooner) = sooner {
            violation = Violation { at: Some(at), ..sooner };
        }
    }
    Ok(Judgement::Violated(violation))
}

/// What conspires in a part, the beginning of the history, unless the core of `known` does so
/// there.
fn sooner<C: Collection>(
    collection: &C,
    history: &History,
    known: &Violation,
    part: Part,
    limits: &Limits,
) -> Option<Violation> {
    let of_core = collection.decide(part.with_operations(&known.core));
    if matches!(of_core, Decision::Unexplained(_)) {
        return None;
    }
    match collection.decide(part.clone()) {
        Decision::Unexplained(stuck) => {
            Some(violation_of(collection, history, &part, &stuck, limits))
        }
        _ => None,
    }
}

fn violation_of<C: Collection>(
    collection: &C,
    history: &History,
    part: &Part,
    stuck: &Conflict,
    limits: &Limits,
) -> Violation {
    let core = smallest(collection, part.select(stuck), limits);
    let speech = Speech::new(history, &C::OBJECT);
    let explanation = collection.explain(&core, &speech) + &speech.despite(&core);
    Violation { core: core.operations(), blamed: speech.named(), explanation, at: None }
}

/// Longer histories are not searched for the first bad event.
const CHEAP: usize = 1 << 15;

/// The first event at which the history so far cannot be explained, if that is cheap to know. It is
/// a response, because more can be pending after an invocation but nothing else is known.
fn earliest<C: Collection>(
    collection: &C,
    history: &History,
    initial: &[ValueId],
    limits: &Limits,
    poll: &StopPoll,
) -> Option<Rank> {
    if history.operations.len() > CHEAP {
        return None;
    }
    let completed = history.operations.iter().filter(|operation| operation.completed);
    let mut responses: Vec<Rank> = completed.map(|operation| operation.returned).collect();
    responses.sort_unstable();
    let is_explained = |cut: Rank| match gather(history, initial, &C::OBJECT, cut, poll).ok()? {
        Gathered::Stopped(_) => None,
        Gathered::Violated(_) => Some(false),
        Gathered::Part(part) => match collection.decide(part) {
            Decision::Explained(_) => Some(true),
            Decision::Unexplained(_) => Some(false),
            Decision::Unknown(_) | Decision::Stopped(_) => None,
        },
    };
    // INVARIANT: the history up to each response before `good` can be explained, that up to `bad`
    // cannot.
    let (mut good, mut bad) = (0, responses.len().checked_sub(1)?);
    while good < bad {
        if limits.exceeded(0).is_some() {
            return None;
        }
        let middle = good + (bad - good) / 2;
        match is_explained(responses[middle] + 1)? {
            true => good = middle + 1,
            false => bad = middle,
        }
    }
    Some(responses[bad])
}

/// The decision if no removal is pending, or all of them did nothing.
pub(crate) fn without<C: Collection + ?Sized>(collection: &C, part: Part) -> Decision {
    match collection.order(part) {
        Ok(order) => Decision::Explained(order),
        Err(Halt::Fault(stuck)) => Decision::Unexplained(stuck),
        Err(Halt::Stopped(stopped)) => Decision::Stopped(stopped),
    }
}

/// Tries all ways to assign values to the pending removals, if there are few.
///
/// A pending removal never makes a part harder to explain, one invoked earlier is at least as good
/// as one invoked later, and only removing blockers helps: so the first removals are assigned
/// different blockers, as many as possible.
pub(crate) fn decide_by_trial<C: Collection + ?Sized>(collection: &C, mut part: Part) -> Decision {
    part.drop_late_removers();
    if part.removers.is_empty() {
        return without(collection, part);
    }
    let stuck = match collection.order(part.clone()) {
        Ok(order) => return Decision::Explained(order),
        Err(Halt::Fault(stuck)) => stuck,
        Err(Halt::Stopped(stopped)) => return Decision::Stopped(stopped),
    };
    if let Some(reason) = part.deadlines(&C::OBJECT) {
        return Decision::Unknown(reason);
    }
    let mut blockers = part.staying();
    let mut is_blocker = vec![false; part.lives.len()];
    stuck.blockers.iter().for_each(|&life| is_blocker[life as usize] = true);
    blockers.retain(|&life| is_blocker[life as usize]);
    let removers = part.removers.len().min(blockers.len());
    let (mut found, mut stopped) = (None, None);
    let exhausted = each_assignment(&blockers, removers, part.lives.len(), |chosen| {
        let mut trial = part.clone();
        chosen.iter().enumerate().for_each(|(remover, &life)| trial.assign(life, remover));
        match collection.order(trial) {
            Ok(order) => found = Some(order),
            Err(Halt::Stopped(why)) => stopped = Some(why),
            Err(Halt::Fault(_)) => {}
        }
        found.is_some() || stopped.is_some()
    });
    if let Some(stopped) = stopped {
        return Decision::Stopped(stopped);
    }
    match found {
        Some(order) => Decision::Explained(order),
        None if exhausted => Decision::Unexplained(part.everything()),
        None => Decision::Unknown(format!(
            "{} without an answer may each have removed one of {} values, which are too many ways",
            Speech::count(part.removers.len(), C::OBJECT.remove.1),
            blockers.len(),
        )),
    }
}

impl Part {
    /// Why pending removals cannot be judged: one must take effect by some instant.
    pub(crate) fn deadlines(&self, object: &Object) -> Option<String> {
        let bounded = self.removers.iter().any(|remover| remover.span.hi + 1 < self.end);
        bounded.then(|| {
            let remove = object.remove.1;
            format!(
                "a {remove} without an answer has an instant by which it must have taken effect"
            )
        })
    }
}
