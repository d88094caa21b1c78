//! The counterexample that people see: the fewest visible events, then the fewest steps.
//!
//! The exploration has found that something goes wrong; here it is found again without any
//! reduction, by Dijkstra's search. That is a confirmation too: what this search does not find
//! again is not reported as violated.

use crate::lts::{Event, Label, Move, State};
use crate::product::{Check, Next};
use crate::program::NodeId;
use crate::reduction::Expander;
use linchpin_verdict::Limits;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How many product states are looked at before a shortest way is given up.
const STATES: usize = 1_000_000;

/// How often limits are looked at.
const EVERY: usize = 1024;

/// One step of a way.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub label: Label,
    pub hidden: Option<Event>,
    pub node: Option<NodeId>,
}

/// A way to something wrong.
pub(crate) struct Way {
    pub steps: Vec<Taken>,
    /// The last state and the specification set there.
    pub last: (State, u32),
    /// The step that the specification refuses; none for a deadlock.
    pub refused: Option<Taken>,
}

/// What came of the search.
pub(crate) enum Search {
    Found(Way),
    /// There is nothing wrong at all.
    Nothing,
    GivenUp,
}

impl From<&Move> for Taken {
    fn from(step: &Move) -> Taken {
        Taken { label: step.label.clone(), hidden: step.hidden.clone(), node: step.node }
    }
}

struct Node {
    state: Vec<u8>,
    set: u32,
    parent: usize,
    taken: Option<Taken>,
    done: bool,
    distance: (u32, u32),
}

/// The shortest way to a refused event or to a deadlock.
pub(crate) fn shortest(check: &Check<'_, '_>, limits: &Limits) -> Search {
    let mut expander = Expander::new(check.implementation);
    let mut bytes = Vec::new();
    check.implementation.pack(&check.initial.0, &mut bytes);
    let mut kept = bytes.len();
    let mut known = FxHashMap::from_iter([((bytes.clone(), check.initial.1), 0)]);
    let mut nodes = vec![Node {
        state: bytes.clone(),
        set: check.initial.1,
        parent: 0,
        taken: None,
        done: false,
        distance: (0, 0),
    }];
    let mut open = BinaryHeap::from([Reverse(((0, 0), 0))]);
    while let Some(Reverse((distance, at))) = open.pop() {
        if std::mem::replace(&mut nodes[at].done, true) {
            continue;
        }
        if nodes.len() > STATES || (at.is_multiple_of(EVERY) && limits.exceeded(kept).is_some()) {
            return Search::GivenUp;
        }
        let state = check.implementation.unpack(&nodes[at].state);
        let set = nodes[at].set;
        let expansion = expander.all(&state);
        if check.is_deadlock(&state, &expansion) {
            return Search::Found(Way {
                steps: way(&nodes, at),
                last: (state, set),
                refused: None,
            });
        }
        for step in expansion.moves {
            let set = match check.next(set, &step.label) {
                Next::Set(set) => set,
                Next::Refused => {
                    let refused = Some(Taken::from(&step));
                    return Search::Found(Way {
                        steps: way(&nodes, at),
                        last: (state, set),
                        refused,
                    });
                }
                Next::Fault(_) => continue,
            };
            let seen = u32::from(step.label != Label::Tau);
            let distance = (distance.0 + seen, distance.1 + 1);
            check.implementation.pack(&step.to, &mut bytes);
            let number = *known.entry((bytes.clone(), set)).or_insert(nodes.len());
            let node = Node {
                state: bytes.clone(),
                set,
                parent: at,
                taken: Some(Taken::from(&step)),
                done: false,
                distance,
            };
            if number == nodes.len() {
                kept += 2 * bytes.len() + 160;
                nodes.push(node);
            } else if !nodes[number].done && distance < nodes[number].distance {
                nodes[number] = node;
            } else {
                continue;
            }
            open.push(Reverse((distance, number)));
        }
    }
    Search::Nothing
}

fn way(nodes: &[Node], mut at: usize) -> Vec<Taken> {
    let mut steps = Vec::new();
    while let Some(taken) = &nodes[at].taken {
        steps.push(taken.clone());
        at = nodes[at].parent;
    }
    steps.reverse();
    steps
}

/// The steps along the states that the exploration has found. None if some step is not a step at
/// all.
pub(crate) fn retrace(check: &Check<'_, '_>, path: &[(Vec<u8>, u32)]) -> Option<Way> {
    let mut expander = Expander::new(check.implementation);
    let mut bytes = Vec::new();
    let mut steps = Vec::new();
    for pair in path.windows(2) {
        let (from, to) = (&pair[0], &pair[1]);
        let state = check.implementation.unpack(&from.0);
        let step = expander.all(&state).moves.into_iter().find(|step| {
            check.implementation.pack(&step.to, &mut bytes);
            bytes == to.0
                && matches!(check.next(from.1, &step.label), Next::Set(set) if set == to.1)
        })?;
        steps.push(Taken::from(&step));
    }
    let (last, set) = path.last()?;
    let last = check.implementation.unpack(last);
    let refused = expander
        .all(&last)
        .moves
        .iter()
        .find(|step| matches!(check.next(*set, &step.label), Next::Refused))
        .map(Taken::from);
    Some(Way { steps, last: (last, *set), refused })
}
