//! Why no order explains a key: the operations that show it, and a sentence.

use super::blocks::{Block, Conflict};
use super::decide::Fault;
use super::epochs::{Bounds, Unfit};
use super::log::{At, BEGINNING, Known};
use super::reading::Node;
use super::reasons::with_overwriting;
use crate::poll::{StopPoll, StopReason};
use linchpin_history_data::{OpId, Rank, Sentences, Violation};

/// The violation that a fault of what was known is.
pub(super) fn violation(
    known: &Known<'_>,
    say: &Sentences<'_>,
    fault: &Fault,
    at: Option<Rank>,
    poll: &StopPoll,
) -> Result<Violation, StopReason> {
    let bounds = Bounds::new(known, poll)?;
    let explainer = Explainer { known, say, bounds: &bounds };
    let (mut core, explanation) = match fault {
        Fault::Unread(get) => {
            let what = explainer.name(*get);
            let why = "shows what no order of the pieces put and appended by then makes up";
            (vec![*get], format!("{what} {why}"))
        }
        Fault::Nowhere(get) => explainer.nowhere(*get),
        Fault::Conflict(conflict, operations) => (operations.clone(), explainer.conflict(conflict)),
        Fault::Choices(operations) => {
            let why = "values repeat, and whichever call wrote which of them, no order of puts and \
                       appends shows all that was read";
            (operations.clone(), why.to_owned())
        }
    };
    with_overwriting(&bounds, known.log, &mut core);
    let ids = |places: Vec<At>| {
        let mut ids: Vec<OpId> = places.into_iter().filter_map(|at| known.log[at].id).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    };
    let core = ids(core);
    let mut blamed = ids(blamed(fault));
    blamed.retain(|id| core.binary_search(id).is_ok());
    Ok(Violation { core, blamed, explanation, at })
}

/// What the sentence about a fault is about.
fn blamed(fault: &Fault) -> Vec<At> {
    match fault {
        Fault::Unread(get) | Fault::Nowhere(get) => vec![*get],
        Fault::Conflict(conflict, _) => match *conflict {
            Conflict::Forked(one, other) => vec![one, other],
            Conflict::Twice(append, ..) => vec![append],
            Conflict::Backwards(_, earlier, later) => vec![earlier, later],
            Conflict::Crossed(one, other) => [one, other]
                .iter()
                .flat_map(|block| [block.root, block.first, block.last])
                .collect(),
        },
        Fault::Choices(_) => Vec::new(),
    }
}

struct Explainer<'a, 'k, 'l> {
    known: &'k Known<'l>,
    say: &'a Sentences<'a>,
    bounds: &'a Bounds<'k, 'l>,
}

impl Explainer<'_, '_, '_> {
    fn name(&self, at: At) -> String {
        match self.known.log[at].id {
            Some(id) => self.say.operation(id),
            None => "the initial value".to_owned(),
        }
    }

    /// Why a get shows nothing that was there.
    fn nowhere(&self, get: At) -> (Vec<At>, String) {
        let log = self.known.log;
        let mut core = vec![get];
        let mut because = Vec::new();
        for reading in log.readings(get) {
            for put in log.puts.of(reading.base).iter().filter(|put| **put < self.known.count) {
                let why = match self.bounds.fits(get, *put, reading.node) {
                    Ok(()) => continue,
                    Err(Unfit::Late) if self.known.call(*put) > self.known.returned(get) => {
                        continue;
                    }
                    Err(Unfit::Late) => {
                        let by = self.first_returned(reading.node).unwrap_or(get);
                        core.push(by);
                        let (by, put) = (self.name(by), self.name(*put));
                        format!(
                            "it shows {by} after {put}, which was called only after that returned"
                        )
                    }
                    Err(Unfit::Overwritten(by)) => {
                        let after = self.last_called(get, reading.node);
                        core.extend([by, after]);
                        let then = match after == get {
                            true => "the get".to_owned(),
                            false => format!("{}, which it also shows,", self.name(after)),
                        };
                        let (by, put) = (self.name(by), self.name(*put));
                        format!(
                            "it shows {put}, but {by} had overwritten that for good and returned \
                             before {then} was called"
                        )
                    }
                };
                core.push(*put);
                because.push(why);
            }
        }
        // One reason is enough to understand it; the core has all of them.
        let more = match because.len() {
            0 | 1 => String::new(),
            more => format!(" ({} other puts of the same text are no better)", more - 1),
        };
        let why = because.into_iter().next().unwrap_or_else(|| "nothing fits".to_owned());
        (core, format!("{} is wrong: {why}{more}", self.name(get)))
    }

    /// Of what a get shows and the get itself, the operation that was called last.
    fn last_called(&self, get: At, node: Node) -> At {
        let tree = &self.known.log.tree;
        let nodes = std::iter::successors(Some(node), |node| tree.parent(*node));
        let appended = nodes.filter(|node| tree.parent(*node).is_some());
        let first = appended.filter_map(|node| self.known.appends(tree.token(node)).first());
        first.copied().chain([get]).max_by_key(|at| self.known.call(*at)).unwrap_or(get)
    }

    /// Of the appends that a node shows, the one that returned first.
    fn first_returned(&self, node: Node) -> Option<At> {
        let tree = &self.known.log.tree;
        let nodes = std::iter::successors(Some(node), |node| tree.parent(*node));
        let appended = nodes.filter(|node| tree.parent(*node).is_some());
        let returned = |at: &At| self.known.returned(*at);
        let last = appended.filter_map(|node| {
            self.known.appends(tree.token(node)).iter().copied().max_by_key(returned)
        });
        last.min_by_key(returned)
    }

    fn conflict(&self, conflict: &Conflict) -> String {
        match *conflict {
            Conflict::Forked(one, other) => format!(
                "{} and {} show the same put, but neither shows the beginning of what the other \
                 does",
                self.name(one),
                self.name(other)
            ),
            Conflict::Twice(append, ..) => {
                format!("{} is shown in two places, but took effect once", self.name(append))
            }
            Conflict::Backwards(_, earlier, later) => {
                let (earlier, later) = (self.name(earlier), self.name(later));
                format!(
                    "what was read shows {earlier} before {later}, which returned before that was called"
                )
            }
            Conflict::Crossed(one, other) => format!(
                "{} and {} must each be before the other: {}, and {}",
                self.extent(&one),
                self.extent(&other),
                self.before(&one, &other),
                self.before(&other, &one)
            ),
        }
    }

    /// From where to where a block goes.
    fn extent(&self, block: &Block) -> String {
        match block.longest {
            Some(longest) => format!(
                "all from {} to {} (between them nothing else took effect)",
                self.name(block.root),
                self.name(longest)
            ),
            None => self.name(block.root),
        }
    }

    fn before(&self, one: &Block, other: &Block) -> String {
        match one.first {
            BEGINNING => "the initial value was there first".to_owned(),
            first => {
                format!("{} returned before {} was called", self.name(first), self.name(other.last))
            }
        }
    }
}
