//! Semaphores: `release` never hurts and `acquire` never helps, so every release takes effect when it is called and every
//! acquire when it returns. One pass.

use super::pace::{Pace, Stopped};
use super::sentence::{Sentences, not_applicable};
use super::timeline::{self, is_return, operation_of};
use crate::history::{History, OpId};
use crate::verdict::{Limits, Monitored, Verdict, Violation, Witness};
use linchpin_spec::{Semaphore, Spec, Value};

/// Judges a history of a [`Semaphore`] with `init` permits at the start (1 if it is `null`). Always exact: a pending release takes
/// effect, a pending acquire does not, whatever their deadlines.
pub fn check(history: &History, init: &Value, limits: &Limits) -> Monitored {
    let permits = match init {
        Value::Null => 1,
        init => match init.as_int().and_then(|int| u32::try_from(int).ok()) {
            Some(permits) => permits,
            None => return not_applicable(format!("{init} is not a number of permits")),
        },
    };
    let unknown = |operation: &&crate::Operation| operation.operation as usize > Semaphore::RELEASE;
    if let Some(operation) = history.operations.iter().find(unknown) {
        return not_applicable(format!("a semaphore has no operation {}", operation.operation));
    }
    if history.operations.len() > (u32::MAX - permits) as usize {
        return not_applicable("there may be more permits than can be counted");
    }
    let pace = Pace::new(limits);
    let asked = pace.ask(20 * history.operations.len());
    Ok(asked.and_then(|()| one_pass(history, permits, &pace)).unwrap_or_else(Verdict::from))
}

fn one_pass(history: &History, mut permits: u32, pace: &Pace) -> Result<Verdict, Stopped> {
    let mut order = Vec::with_capacity(history.operations.len());
    for event in timeline::events(history, pace)? {
        pace.step()?;
        let id = operation_of(event);
        let releases = history.operations[id as usize].operation as usize == Semaphore::RELEASE;
        match (releases, is_return(event)) {
            (true, false) => permits += 1,
            (false, true) if permits == 0 => {
                return Ok(Verdict::Violated(violation(history, id, &order)));
            }
            (false, true) => permits -= 1,
            _ => continue,
        }
        order.push(id);
    }
    Ok(Verdict::Holds(Witness { order }))
}

/// INVARIANT: `order` has every acquire that returned before `id` did, and every release called before that.
fn violation(history: &History, id: OpId, order: &[OpId]) -> Violation {
    let specification = Semaphore::default();
    let say = Sentences::new(history, specification.operations());
    let releases =
        |id: &&OpId| history.operations[**id as usize].operation as usize == Semaphore::RELEASE;
    let released = order.iter().filter(releases).count();
    let acquired = order.len() - released;
    let explanation = format!(
        "{} returned when no permit was left: {acquired} acquired before it, and the calls of release by \
         then are {released}",
        say.operation(id)
    );
    let mut core = order.to_vec();
    core.push(id);
    core.sort_unstable();
    Violation { core, explanation, at: Some(history.operations[id as usize].returned) }
}
