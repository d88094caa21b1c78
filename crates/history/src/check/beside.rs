//! The quick search goes first, and then goes on beside the other methods: on some histories either
//! is faster by orders of magnitude, and which one only shows when one of them has ended.

use super::object::{Answer, OneObject, quick_answer};
use linchpin_history_data::{Judgement, OpId};
use linchpin_search::SearchOptions;
use linchpin_search::quick::{Effort, Quick, decide_while};
use linchpin_spec::Builtin;
use linchpin_verdict::{Limits, StopReason};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Instant;

/// What the quick search may keep where no limit is given. Beyond, it is lost.
const QUICK_BYTES: usize = 1 << 29;

/// Where a limit is given, it may keep one of so many parts.
const PARTS: usize = 4;

impl OneObject<'_> {
    /// Judges it by the quick search, and soon by these others, too, at the same time.
    pub(super) fn check_beside(
        &self,
        builtin: Builtin,
        limits: &Limits,
        search: &SearchOptions,
        others: impl Fn(&Limits) -> Answer + Sync,
    ) -> Answer {
        let begin = Instant::now();
        let (mut others_limits, stop) = limits.for_one_of_several();
        others_limits.memory = limits.memory.map(|memory| memory - memory / PARTS);
        let (sender, receiver) = channel();
        let (mut sender, mut is_beside, mut answered) = (Some(sender), false, None);
        thread::scope(|scope| {
            let mut go_on = |so_far: Effort| {
                if is_beside {
                    answered = answered.take().or_else(|| receiver.try_recv().ok());
                } else if so_far.configurations >= search.quick_alone {
                    let Some(sender) = sender.take() else { return false };
                    let (others, limits) = (&others, &others_limits);
                    // Nothing is lost if the answer is not wanted any more.
                    let work = move || drop(sender.send(others(limits)));
                    is_beside = thread::Builder::new().spawn_scoped(scope, work).is_ok();
                }
                has_room(limits, so_far) && !answered.as_ref().is_some_and(is_decided)
            };
            let ids: Vec<OpId> = self.history.ids().collect();
            let init = self.object.init.as_ref();
            let quick = decide_while(builtin, init, self.history, &ids, &mut go_on);
            let is_enough = match quick {
                Some(Quick::Holds(_)) => true,
                Some(Quick::Violated(..)) => !search.explains(),
                None => false,
            };
            if !is_enough && !is_beside {
                answered = Some(others(limits));
            } else if !is_enough && answered.is_none() {
                // That it is violated may be known. Why, the others may say, if they are about to.
                let patience = search.core_time.max(begin.elapsed());
                answered = match quick {
                    Some(_) => receiver.recv_timeout(patience).ok(),
                    None => receiver.recv().ok(),
                };
            }
            stop.ask(StopReason::Interrupt);
            match (quick, answered) {
                (_, Some(answer)) if !is_enough && is_decided(&answer) => answer,
                (Some(quick), _) => quick_answer(quick, self.object, self.history),
                (None, Some(answer)) => answer,
                // The others failed; they do so again.
                (None, None) => others(limits),
            }
        })
    }
}

fn has_room(limits: &Limits, so_far: Effort) -> bool {
    match limits.memory {
        Some(_) => limits.exceeded(PARTS * so_far.bytes).is_none(),
        None => so_far.bytes <= QUICK_BYTES && limits.exceeded(0).is_none(),
    }
}

fn is_decided(answer: &Answer) -> bool {
    !matches!(answer.judgement, Judgement::Inconclusive(_))
}
