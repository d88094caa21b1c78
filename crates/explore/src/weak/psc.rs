//! The axiom for `SeqCst`: `psc` is acyclic (RC11, Lahav et al., PLDI 2017, section 3.2).
//!
//! ```text
//! scb      = sb ∪ sb≠loc ; hb ; sb≠loc ∪ hb|loc ∪ mo ∪ rb
//! psc_base = ([Esc] ∪ [Fsc] ; hb?) ; scb ; ([Esc] ∪ hb? ; [Fsc])
//! psc_F    = [Fsc] ; (hb ∪ hb ; eco ; hb) ; [Fsc]
//! psc      = psc_base ∪ psc_F
//! ```
//!
//! Clocks answer `hb` at once, and along program order more happens before later events; so of all
//! the events that may stand between two, it is enough to look at the nearest.
//!
//! Between a fence and an access, plain `hb` counts as an edge here. It makes no difference for
//! cycles: if an access `a` happens before a fence `f`, then what precedes `a` by `scb` precedes
//! `f` by `scb ; hb`, and so does, the other way round, what follows an access that a fence happens
//! before.

use super::clock::{Clock, EventId};
use super::graph::Graph;
use super::label::Label;

/// Whether the axiom holds.
pub(super) fn holds(graph: &Graph) -> bool {
    if graph.sequential.len() < 2 {
        return true;
    }
    let nodes: Vec<Node> = graph.sequential.iter().map(|id| Node::new(graph, *id)).collect();
    is_acyclic(&nodes)
}

/// Whether there is a `SeqCst` fence: without, only `SeqCst` accesses can break the axiom.
pub(super) fn has_fences(graph: &Graph) -> bool {
    graph.sequential.iter().any(|id| matches!(graph.event(*id).label, Label::Fence(_)))
}

/// An access or fence with `SeqCst`.
struct Node {
    id: EventId,
    /// What happens before it, with itself.
    happens: Clock,
    kind: Kind,
}

enum Kind {
    Access(Access),
    Fence(Fence),
}

struct Access {
    location: u32,
    place: Place,
    writes: bool,
    /// What happens before the last event before it that is at another location.
    elsewhere_before: Clock,
    /// The first event after it that is at another location.
    elsewhere_after: Option<EventId>,
}

/// For each location what is furthest from the fence in modification order.
struct Fence {
    /// Of what it happens before, the first.
    first: Vec<Option<Place>>,
    /// Of the writes that happen before it, the last.
    last_write: Vec<Option<Place>>,
    /// Of the accesses that happen before it, the last.
    last: Vec<Option<Place>>,
}

/// Where an access stands in modification order: reads directly after what they read. `eco` is `<`.
type Place = usize;

/// The place of an access.
fn place(graph: &Graph, id: EventId) -> Place {
    match graph.event(id).label {
        Label::Read { location, from, .. } => 2 * graph.position(location, from) + 1,
        Label::Write { location, .. } => 2 * graph.position(location, Some(id)),
        _ => 0,
    }
}

impl Node {
    fn new(graph: &Graph, id: EventId) -> Node {
        let event = graph.event(id);
        let kind = match event.label.location() {
            Some(location) => Kind::Access(Access::new(graph, id, location)),
            None => Kind::Fence(Fence::new(graph, id)),
        };
        Node { id, happens: event.clocks.happens.clone(), kind }
    }

    /// Whether `psc` relates it to another one.
    fn precedes(&self, other: &Node) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Access(mine), Kind::Access(theirs)) => {
                self.id.thread == other.id.thread && self.id.index < other.id.index
                    || mine.elsewhere_after.is_some_and(|id| theirs.elsewhere_before.has(id))
                    || mine.location == theirs.location
                        && (other.happens.has(self.id)
                            || theirs.writes && mine.place < theirs.place)
            }
            (Kind::Fence(mine), Kind::Access(theirs)) => {
                let first = mine.first[theirs.location as usize];
                other.happens.has(self.id)
                    || theirs.writes && first.is_some_and(|first| first < theirs.place)
            }
            (Kind::Access(mine), Kind::Fence(theirs)) => {
                let last = theirs.last_write[mine.location as usize];
                other.happens.has(self.id) || last.is_some_and(|last| mine.place < last)
            }
            (Kind::Fence(mine), Kind::Fence(theirs)) => {
                let mut pairs = mine.first.iter().zip(&theirs.last);
                other.happens.has(self.id)
                    || pairs.any(|pair| matches!(pair, (Some(first), Some(last)) if first < last))
            }
        }
    }
}

impl Access {
    fn new(graph: &Graph, id: EventId, location: u32) -> Access {
        let label = graph.event(id).label;
        let events = graph.events(id.thread);
        let (before, after) = events.split_at(id.index as usize);
        let after = &after[1..];
        let elsewhere = |label: Label| match label {
            Label::Read { location: other, .. } | Label::Write { location: other, .. } => {
                other != location
            }
            Label::Fence(_) | Label::Cell { .. } | Label::Spawn { .. } => true,
            // These are no events of the program.
            Label::Pause
            | Label::Choose { .. }
            | Label::Acquired { .. }
            | Label::Released { .. }
            | Label::Used { .. }
            | Label::Mark => false,
        };
        let next =
            |offset: usize| EventId { thread: id.thread, index: id.index + 1 + offset as u32 };

        let elsewhere_before = match before.iter().rfind(|event| elsewhere(event.label)) {
            Some(event) => event.clocks.happens.clone(),
            // The start of a thread is an event at no location.
            None => graph.happens_before(EventId { thread: id.thread, index: 0 }),
        };
        Access {
            location,
            place: place(graph, id),
            writes: matches!(label, Label::Write { .. }),
            elsewhere_before,
            elsewhere_after: after.iter().position(|event| elsewhere(event.label)).map(next),
        }
    }
}

impl Fence {
    fn new(graph: &Graph, id: EventId) -> Fence {
        let mut fence = Fence { first: Vec::new(), last_write: Vec::new(), last: Vec::new() };
        for location in &graph.locations {
            let (mut first, mut last, mut last_write) = (None, None, None);
            for access in location.writes.iter().chain(&location.reads) {
                let at = place(graph, *access);
                if graph.ordered(id, *access) {
                    first = Some(first.map_or(at, |first: Place| first.min(at)));
                }
                if graph.ordered(*access, id) {
                    last = last.max(Some(at));
                    if at.is_multiple_of(2) {
                        last_write = last_write.max(Some(at));
                    }
                }
            }
            fence.first.push(first);
            fence.last.push(last);
            fence.last_write.push(last_write);
        }
        fence
    }
}

fn is_acyclic(nodes: &[Node]) -> bool {
    // Takes away what nothing that is left precedes, until nothing is left or nothing can go.
    let mut left: Vec<&Node> = nodes.iter().collect();
    loop {
        let before = left.len();
        let all = left.clone();
        left.retain(|node| all.iter().any(|other| other.id != node.id && other.precedes(node)));
        if left.is_empty() {
            return true;
        }
        if left.len() == before {
            return false;
        }
    }
}
