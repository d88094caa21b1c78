//! The quick search: plain Wing and Gong with Lowe's memory of configurations, on native states.
//!
//! It goes first where values repeat, so that no monitor applies: most short histories are decided
//! by it before anything heavier has been set up. It is exact: an answer is an order that explains
//! the history, or that there is none. [`decide`] gives it a millisecond or two, [`decide_while`]
//! as long as its caller says: then other searches look at the same time. `walk` is the search,
//! `calls` what it goes through, `seen` its memory; `register`, `contents`, `pile`, `text` and
//! `registers` are the objects as it sees them.
//!
//! A state is a number. A configuration is left as soon as nothing that is in progress can make the
//! next answer possible: most of what plain Wing and Gong tries is of that kind. Reads of a
//! matching state take effect at once, and of operations in progress with the same call only the
//! one with the earliest deadline need be tried: neither can be worse than another choice.

mod calls;
mod contents;
mod pile;
mod register;
mod registers;
mod removals;
mod seen;
mod slices;
mod text;
mod walk;

use super::explain;
use super::merge::merge;
use calls::{Calls, Events};
use linchpin_history_data::{Argument, History, Judgement, OpId, ValueId, Violation, Witness};
use linchpin_spec::{Builtin, Spec, Value};
use linchpin_verdict::Limits;
use seen::Seen;
use walk::{Alike, Path, Progress, Walk};

/// The longest history that is looked at.
const LONGEST: usize = 1 << 12;

/// How many configurations [`decide`] looks at, of all parts of a history together.
const CONFIGURATIONS: usize = 1 << 13;

/// The first turn of a walk is so many configurations more than there are operations, which is
/// enough for one that need not step back.
const FIRST_TURN: usize = 1 << 6;

/// The walks, in the order of their turns, and how many configurations a later turn is. The second
/// has more, so that it is never much later than Wing and Gong's; the first is often much sooner.
const WALKS: [(Alike, usize); 2] = [(Alike::Earliest, 1 << 6), (Alike::Each, 1 << 7)];

/// A state of an object, by its number.
type State = u32;

/// An object as the quick search sees it.
trait Model {
    /// What is called, with the answer if it is known. Equal calls do the same.
    type Call: Copy + Eq + std::hash::Hash;

    /// The initial state.
    fn initial(&self) -> State;

    /// The state after a call took effect; nothing if it cannot, or if it need not because its
    /// answer is unknown and it would change nothing.
    fn step(&mut self, state: State, call: Self::Call) -> Option<State>;

    /// Whether a call never changes a state.
    fn only_looks(call: Self::Call) -> bool;

    /// Whether others may take effect so that this call can, which cannot in this state: where it
    /// returns next, only what is in progress may. It may say yes too often, but never no.
    fn may_come<'a>(
        &mut self,
        _state: State,
        _call: Self::Call,
        _in_progress: impl Iterator<Item = Self::Call> + Clone + 'a,
    ) -> bool
    where
        Self::Call: 'a,
    {
        true
    }

    /// About how many bytes the states take that it numbered.
    fn bytes(&self) -> usize {
        0
    }
}

/// What the quick search says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quick {
    /// This order explains the history.
    Holds(Witness),
    /// None does. These operations show it, up to the return of the second.
    Violated(Vec<OpId>, OpId),
}

impl Quick {
    /// The answer as a judgement, in which a violation has neither a small core nor a cause.
    pub fn judgement<S: Spec + ?Sized>(self, spec: &S, history: &History) -> Judgement {
        match self {
            Quick::Holds(witness) => Judgement::Holds(witness),
            Quick::Violated(core, stuck) => {
                let explanation = explain::stuck(history, spec.operations(), stuck, &[]);
                let blamed = vec![stuck];
                Judgement::Violated(Violation { core, blamed, explanation, at: None })
            }
        }
    }
}

/// Looks for an order that explains these operations of a built-in object, in the order of their
/// calls, for a few configurations. Nothing if that is not enough, or if the object or something in
/// the history is not known to it.
///
/// ```
/// use linchpin_history_data::{Builder, OpId};
/// use linchpin_search::quick::{Quick, decide};
/// use linchpin_spec::{Builtin, Spec, Stack, Value};
/// use linchpin_verdict::Limits;
///
/// let mut builder = Builder::new(Stack::default().operations());
/// for (operation, argument, answer) in [("push", 1, Value::Null), ("pop", 0, Value::Int(1))] {
///     builder.invoke("a", operation, Value::Int(argument))?;
///     builder.ok("a", answer)?;
/// }
/// let (history, limits) = (builder.finish(), Limits::default());
/// let ids: Vec<OpId> = history.ids().collect();
/// let decided = decide(Builtin::Stack, None, &history, &ids, &limits);
/// assert!(matches!(decided, Some(Quick::Holds(_))));
/// # Ok::<(), linchpin_history_data::HistoryError>(())
/// ```
pub fn decide(
    object: Builtin,
    init: Option<&Value>,
    history: &History,
    ids: &[OpId],
    limits: &Limits,
) -> Option<Quick> {
    let most = limits.configurations.and_then(|most| usize::try_from(most).ok());
    let most = most.unwrap_or(usize::MAX).min(CONFIGURATIONS);
    let mut go_on =
        |so_far: Effort| so_far.configurations < most && limits.exceeded(so_far.bytes).is_none();
    decide_while(object, init, history, ids, &mut go_on)
}

/// What a search has taken so far, about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// So many configurations were looked at.
    pub configurations: usize,
    /// So many bytes are kept.
    pub bytes: usize,
}

/// Like [`decide`], but for as long as `go_on` says, which is asked before it begins and then every
/// few microseconds.
pub fn decide_while(
    object: Builtin,
    init: Option<&Value>,
    history: &History,
    ids: &[OpId],
    go_on: &mut dyn FnMut(Effort) -> bool,
) -> Option<Quick> {
    if history.operations.len() > LONGEST {
        return None;
    }
    let mut search = Search {
        history,
        ids,
        go_on,
        looked_at: 0,
        orders: Vec::new(),
        seen: Seen::new(),
        events: Events::default(),
        paths: [Path::default(), Path::default()],
    };
    match object {
        Builtin::Register | Builtin::CasRegister => register::decide(&mut search, init),
        Builtin::Queue | Builtin::Stack | Builtin::PriorityQueue => {
            contents::decide(&mut search, object, init)
        }
        Builtin::Kv => text::decide(&mut search, init),
        Builtin::MultiRegister => registers::decide(&mut search, init),
        _ => None,
    }
}

/// A history on its way through the search, part by part.
struct Search<'a> {
    history: &'a History,
    ids: &'a [OpId],
    go_on: &'a mut dyn FnMut(Effort) -> bool,
    /// How many configurations were looked at.
    looked_at: usize,
    /// The orders that explain the parts so far.
    orders: Vec<Vec<OpId>>,
    // What is used again for the next part.
    seen: Seen,
    events: Events,
    paths: [Path; 2],
}

/// What was found out about a part.
enum Walked {
    /// An order that explains the operations.
    Explained(Vec<OpId>),
    /// There is none; no way leads past the return of this one.
    Unexplained(OpId),
    /// There is no time, or no room, to find out.
    Open,
}

impl Search<'_> {
    /// Decides one more part. Inside, nothing unless it is violated; nothing if it stays open.
    fn part<M: Model>(
        &mut self,
        model: &mut M,
        calls: &mut Calls<M::Call>,
    ) -> Option<Option<Quick>> {
        match self.walk(model, calls) {
            Walked::Explained(order) => {
                self.orders.push(order);
                Some(None)
            }
            Walked::Unexplained(stuck) => {
                let end = self.history[stuck].returned;
                let before = |id: &OpId| self.history[*id].invoked < end;
                let core = calls.ids().filter(before).collect();
                Some(Some(Quick::Violated(core, stuck)))
            }
            Walked::Open => None,
        }
    }

    /// Two walks take turns, until one has found out.
    fn walk<M: Model>(&mut self, model: &mut M, calls: &mut Calls<M::Call>) -> Walked {
        if !calls.prepare(&mut self.events, M::only_looks) {
            return Walked::Open;
        }
        self.looked_at += self.seen.len();
        self.seen.clear();
        self.paths.iter_mut().for_each(|path| path.farthest = 0);
        let ops = &calls.ops[..];
        for round in 0_u64.. {
            let is_first = round == 0;
            for (at, (alike, later_turn)) in WALKS.into_iter().enumerate() {
                let turn = if is_first { FIRST_TURN + ops.len() } else { later_turn };
                let configurations = self.looked_at + self.seen.len();
                let bytes = self.seen.bytes() + model.bytes();
                if !(self.go_on)(Effort { configurations, bytes }) {
                    return Walked::Open;
                }
                let (path, events, seen) =
                    (&mut self.paths[at], &self.events.list[..], &mut self.seen);
                if is_first {
                    path.start(model, ops.len());
                }
                match (Walk { model, ops, events, seen, path, alike }).run(turn) {
                    Progress::Explained(order) => return Walked::Explained(order),
                    Progress::Exhausted => {
                        // What one left out as leading nowhere, the other has looked at.
                        let farthest = self.paths.iter().map(|path| path.farthest).max();
                        let stuck = self.events.list[farthest.unwrap_or_default()].op;
                        return Walked::Unexplained(ops[stuck].id);
                    }
                    Progress::Paused => {}
                }
            }
        }
        Walked::Open
    }

    /// The whole as one part.
    fn whole<M: Model>(&mut self, model: &mut M, calls: &mut Calls<M::Call>) -> Option<Quick> {
        match self.part(model, calls)? {
            Some(violated) => Some(violated),
            None => Some(self.explained()),
        }
    }

    /// The answer if all parts are explained.
    fn explained(&mut self) -> Quick {
        let order = match &mut self.orders[..] {
            [order] => std::mem::take(order),
            orders => merge(self.history, orders),
        };
        Quick::Holds(Witness { order })
    }
}

/// The one value of an argument or an answer.
fn one(argument: Argument) -> Option<ValueId> {
    match argument {
        Argument::None => Some(ValueId::NULL),
        Argument::One(value) => Some(value),
        Argument::Two(..) | Argument::Words { .. } => None,
    }
}
