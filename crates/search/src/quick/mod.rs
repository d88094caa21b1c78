//! The quick search: plain Wing and Gong with Lowe's memory of configurations, on native states,
//! for so few configurations that it takes a millisecond or two.
//!
//! It goes first where values repeat, so that no monitor applies: most short histories are decided
//! by it before anything heavier has been set up. It is exact: an answer is an order that explains
//! the history, or that there is none; otherwise it hands over. `walk` is the search, `seen` its
//! memory, `register`, `contents`, `text` and `registers` are the objects as it sees them.
//!
//! A state is a number. Reads of a matching state take effect at once, and of operations in progress
//! with the same call only the one with the earliest deadline is tried: neither can be worse than
//! another choice. The order in which it tries is that of Wing and Gong.

mod contents;
mod register;
mod registers;
mod seen;
mod slices;
mod text;
mod walk;

use super::explain;
use super::merge::merge;
use linchpin_history_data::{Argument, History, Judgement, OpId, ValueId, Violation, Witness};
use linchpin_spec::{Builtin, Spec, Value};
use linchpin_verdict::Limits;
use walk::{Buffers, Calls, Walked, walk};

/// The longest history that is looked at.
const LONGEST: usize = 1 << 12;

/// How many configurations are looked at, of all parts of a history together.
const CONFIGURATIONS: usize = 1 << 13;

/// An object as the quick search sees it.
trait Model {
    /// What is called, with the answer if it is known. Equal calls do the same.
    type Call: Copy + Eq + std::hash::Hash;

    /// The initial state.
    fn initial(&self) -> usize;

    /// The state after a call took effect; nothing if it cannot, or if it need not because its
    /// answer is unknown and it would change nothing.
    fn step(&mut self, state: usize, call: Self::Call) -> Option<usize>;

    /// Whether a call never changes a state.
    fn only_looks(call: Self::Call) -> bool;
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
    if history.operations.len() > LONGEST || limits.exceeded(0).is_some() {
        return None;
    }
    let most = limits.configurations.and_then(|most| usize::try_from(most).ok());
    let left = most.unwrap_or(usize::MAX).min(CONFIGURATIONS);
    let (orders, buffers) = (Vec::new(), Buffers::new());
    let mut search = Search { history, ids, limits, left, orders, buffers };
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
    limits: &'a Limits,
    /// How many configurations may still be looked at.
    left: usize,
    /// The orders that explain the parts so far.
    orders: Vec<Vec<OpId>>,
    buffers: Buffers,
}

impl Search<'_> {
    /// Decides one more part. Inside, nothing unless it is violated; nothing if it stays open.
    fn part<M: Model>(
        &mut self,
        model: &mut M,
        calls: &mut Calls<M::Call>,
    ) -> Option<Option<Quick>> {
        match walk(self, model, calls) {
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
