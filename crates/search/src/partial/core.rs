//! A minimal core: operations are left out as long as nothing explains the rest.

use super::{End, PartialSearch, explaining};
use linchpin_history_data::{OpId, PartialHistory};
use linchpin_spec::Spec;
use linchpin_verdict::Limits;

impl<S: Spec + ?Sized> PartialSearch<'_, S>
where
    S::State: 'static,
{
    /// Operations of a history that nothing explains, as few as there can be left.
    ///
    /// What is left out may still have taken effect, where the order allows, and may have answered
    /// anything: the history holds only if the rest can be explained so. Without that a core would
    /// show nothing: any `dequeue` is wrong if its `enqueue` is not there.
    pub(super) fn core(&mut self, history: &PartialHistory, limits: &Limits) -> Vec<OpId> {
        let limits = explaining(limits, self.core_time);
        let mut must = history.completed();
        let ids = || history.operations().ids();
        // INVARIANT: nothing explains `must`. What could not be left out of it can be left out of
        // no part of it, so that once is enough.
        for id in ids() {
            let rest = must & !(1 << id.index());
            if rest == must {
                continue;
            }
            match self.decide(history, rest, &limits) {
                End::Unexplained => must = rest,
                End::Explained => {}
                // Those that were not tried stay.
                End::Stopped(_) if limits.exceeded(0).is_some() => break,
                End::Stopped(_) => {}
            }
        }
        ids().filter(|id| must >> id.index() & 1 != 0).collect()
    }
}
