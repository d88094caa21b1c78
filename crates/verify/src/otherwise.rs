//! Other ways to search, where breadth first was stopped: a space that has no end in sight may have
//! a wrong run that is deep but simple. First all runs with few context switches, then runs by
//! chance. What they do not find shows nothing about the rest, so the verdict stays as it was.

use crate::Loaded;
use crate::climb::{left, seconds, sooner};
use linchpin_engine::{Answer, Engine, EngineError, Request, SearchAsked};
use linchpin_verdict::{StopReason, Verdict};
use std::time::Instant;

/// The ways, in the order in which they are tried.
const WAYS: [Way; 2] = [
    Way { search: SearchAsked::ContextBound(2), flag: "context-bound=2" },
    Way { search: SearchAsked::Pct { seed: 0, runs: 1_000_000, depth: 3 }, flag: "pct" },
];

/// Each may use this part of the time that is left: one in so many. The rest is for proofs, and for
/// breadth first again.
const ONE_IN: u32 = 4;

/// A way to search.
struct Way {
    search: SearchAsked,
    /// What `--search` calls it.
    flag: &'static str,
}

/// A search in other ways.
pub(crate) struct Otherwise<'a> {
    pub engine: &'a dyn Engine,
    pub request: &'a Request<'a>,
}

impl Otherwise<'_> {
    /// Searches, if the search that gave this answer was stopped. A run that is wrong takes the
    /// place of the answer; otherwise the answer says what was tried.
    pub fn search(&self, loaded: &Loaded, first: &mut Answer) -> Result<(), EngineError> {
        // A person who stops it means all of it.
        let is_stopped = matches!(first.stopped, Some(StopReason::Time | StopReason::Memory));
        let is_plain = self.request.search == SearchAsked::BreadthFirst
            && self.request.lossy.is_none()
            && self.request.disk.is_none();
        if !is_stopped || !is_plain {
            return Ok(());
        }
        for way in WAYS {
            let Some(left) = left(&self.request.limits) else { return Ok(()) };
            let (start, until) = (Instant::now(), Instant::now() + left / ONE_IN);
            let request = Request {
                search: way.search,
                limits: sooner(&self.request.limits, until),
                stuck: false,
                suggest_points: None,
                ..self.request.clone()
            };
            let found = self.engine.answer(&loaded.subject(), &request)?.into_iter().next();
            let before = first.seconds.unwrap_or(0.0) + seconds(start);
            first.seconds = Some(before);
            match found {
                Some(mut found) if found.verdict == Verdict::Violated => {
                    let flag = way.flag;
                    found
                        .notes
                        .push(format!("found by `--search {flag}`: breadth first was stopped"));
                    found.seconds = Some(before);
                    *first = found;
                    return Ok(());
                }
                Some(found) => first.notes.push(way.nothing_wrong(&found)),
                None => {}
            }
        }
        Ok(())
    }
}

impl Way {
    /// What is said of a search that found nothing.
    fn nothing_wrong(&self, found: &Answer) -> String {
        let flag = self.flag;
        match found.verdict {
            Verdict::HoldsWithinBounds => {
                format!("`--search {flag}` came to its end and found nothing wrong")
            }
            _ => format!("`--search {flag}` found nothing wrong, and did not come to its end"),
        }
    }
}
