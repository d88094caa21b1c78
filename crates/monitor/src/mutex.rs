//! Locks: one bit that `acquire` and `release` flip, judged by the rule of `bit.rs`.

use super::bit::{Bit, BitConflict, Step};
use super::deadline::{self, has_deadline};
use super::poll::{Halt, StopPoll};
use super::timeline;
use linchpin_history_data::{
    History, Judgement, Monitored, OpId, Sentences, Violation, Witness, not_applicable,
};
use linchpin_spec::{Mutex, Spec, Value};
use linchpin_verdict::Limits;

/// Judges a history of a [`Mutex`] that is held at the start if `init` is `true`. Exact, pending
/// operations included, but where it depends on the deadlines of optional operations it may not
/// apply.
pub fn check(history: &History, init: &Value, limits: &Limits) -> Monitored {
    let specification = Mutex::default();
    let say = Sentences::new(history, specification.operations());
    let held = match init {
        Value::Bool(held) => *held,
        Value::Null => false,
        _ => return not_applicable(format!("{init} is not true (held) or false (free)")),
    };
    let poll = StopPoll::new(limits);
    let asked = poll.ask(40 * history.operations.len());
    let unknown = |id: OpId| history[id].operation as usize > Mutex::RELEASE;
    match asked.and_then(|()| poll.find(history, unknown)) {
        Ok(None) => {}
        Ok(Some(id)) => {
            let operation = history[id].operation;
            return not_applicable(format!("a lock has no operation {operation}"));
        }
        Err(stopped) => return Ok(stopped.into()),
    }
    let events = match timeline::events(history, &poll) {
        Ok(events) => events,
        Err(stopped) => return Ok(stopped.into()),
    };
    deadline::judge(history, &say, &poll, |ignore| {
        let step = |id: OpId| match ignore && has_deadline(history, id) {
            true => Step::Nothing,
            false => {
                let acquires = Mutex::ACQUIRE as u16;
                Step::Flip(history[id].operation == acquires)
            }
        };
        let mut bit = Bit::new(history, step, &poll);
        match bit.run(&events, held) {
            Ok(()) => Judgement::Holds(Witness { order: bit.order }),
            Err(Halt::Stopped(stopped)) => stopped.into(),
            Err(Halt::Fault(stuck)) => {
                let core = bit.core(&events, stuck);
                Judgement::Violated(violation(history, &say, core, stuck))
            }
        }
    })
}

fn violation(history: &History, say: &Sentences, core: Vec<OpId>, stuck: BitConflict) -> Violation {
    let (helper, helping, state) = match stuck.needed {
        true => (Mutex::ACQUIRE, "acquire", "free"),
        false => (Mutex::RELEASE, "release", "held"),
    };
    let helps = |id: &&OpId| history[**id].operation as usize == helper;
    let available = match core.iter().filter(helps).count() {
        0 => format!("no {helping} was called in time"),
        1 => format!("the one {helping} that was called in time is needed earlier"),
        count => format!("the {count} calls of {helping} made in time are needed earlier"),
    };
    let explanation = format!(
        "{} returned although the lock was {state}: {available}",
        say.operation(stuck.operation)
    );
    let at = Some(history[stuck.operation].returned);
    Violation { core, blamed: vec![stuck.operation], explanation, at }
}
