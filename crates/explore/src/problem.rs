//! What went wrong in an execution, in words.

use crate::execution::{Event, Problem, Resourceful, Waiting};
use linchpin_sync::runtime::{PlaceKind, Site};
use rustc_hash::FxHashMap;
use std::fmt;

/// So many of the last steps of an execution say what it does again and again.
const LAST_STEPS: usize = 1_000;

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(&|thread| format!("thread {thread}")))
    }
}

impl std::error::Error for Problem {}

impl Problem {
    /// What went wrong, with these names for threads.
    pub fn told(&self, name: &dyn Fn(usize) -> String) -> String {
        match self {
            Problem::Panicked { thread, message } => {
                format!("{} panicked: {message}", name(*thread))
            }
            Problem::Deadlock { waiting } => {
                let waiting: Vec<String> = waiting.iter().map(|one| one.told(name)).collect();
                format!("deadlock: {}", waiting.join("; "))
            }
            Problem::Race { first, first_site, second, second_site } => format!(
                "data race: {} at {first_site} and {} at {second_site}",
                name(*first),
                name(*second)
            ),
            Problem::Leaked { what, site } => format!("leak: {}", Resourceful(*what, site)),
            Problem::UsedAfterFree { what, thread, site, acquired, released } => format!(
                "use after free: {} at {site}; {}, was given back at {released}",
                name(*thread),
                Resourceful(*what, acquired)
            ),
            Problem::TooLong { steps, again } => {
                let mut text =
                    format!("an execution has more than {steps} steps: it may never end");
                if let Some((thread, site)) = again {
                    text += &format!(
                        "; most of the last ones are of {} at {site}: a loop that waits for others \
                         must say so by `hint::spin_loop` or `thread::yield_now`",
                        name(*thread)
                    );
                }
                text
            }
            Problem::Nondeterministic { thread, site } => format!(
                "the code is not deterministic: {} did something else at {site} than before; \
                 time, random numbers, addresses and std's synchronization must not decide what \
                 it does",
                name(*thread)
            ),
        }
    }
}

impl Waiting {
    /// Who waits for what, with these names for threads.
    pub fn told(&self, name: &dyn Fn(usize) -> String) -> String {
        let what = match self.place {
            Some(PlaceKind::Mutex | PlaceKind::RwLock) => "for a lock",
            Some(PlaceKind::Condvar) => "to be notified",
            Some(PlaceKind::Park) => "to be unparked",
            Some(PlaceKind::Join) => "for another thread to end",
            Some(_) => "for a value",
            None => "in a loop for others to write",
        };
        format!("{} waits {what} at {}", name(self.thread), self.site)
    }
}

/// What an execution does again and again when it is too long: the thread and the place in the
/// source that most of its last steps have.
pub(crate) fn again<'a>(
    steps: impl DoubleEndedIterator<Item = (usize, Option<Site>)> + 'a,
) -> Option<(usize, Site)> {
    let mut counts: FxHashMap<(usize, Site), usize> = FxHashMap::default();
    for (thread, site) in steps.rev().take(LAST_STEPS) {
        if let Some(site) = site {
            *counts.entry((thread, site)).or_default() += 1;
        }
    }
    // Of several that come as often, the first in the source.
    let most = |((thread, site), count): &((usize, Site), usize)| {
        (*count, std::cmp::Reverse((*thread, site.file(), site.line(), site.column())))
    };
    counts.into_iter().max_by_key(most).map(|(again, _)| again)
}

/// The same for events.
pub(crate) fn again_in(events: &[Event]) -> Option<(usize, Site)> {
    again(events.iter().map(|event| (event.thread, event.site)))
}
