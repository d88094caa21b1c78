//! The soundness oracle: an explorer of concrete correlated states (D. Amit, Comparison
//! under Abstraction for Verifying Linearizability, Appendices B and C).
//!
//! It shares no code with the engine. The candidate is run by the reference interpreter, the
//! reference is plain Rust. Start with [`Correlated`], then `step.rs` (one move) and [`explore`].
//! What is claimed with `when returns` is ignored: an answer that changes nothing is right if the
//! reference would have given it at some instant of the call ([`correlated::Call::seen`]).

mod canonical;
pub mod correlated;
mod live;
pub mod models;
pub mod reference;
mod split;
pub mod step;
mod traps;
pub mod view;

pub use correlated::Correlated;
pub use view::{KeyClass, Link};

use linchpin_ir::interpreter::{Fault, FaultKind};
use linchpin_ir::program::{Operation, Parameter, Program, Type};
use linchpin_spec::Value;
use std::collections::{HashSet, VecDeque};
use std::rc::Rc;
use step::{Made, Semantics};

/// Which values clients pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// A new one for each call, of which only the identity counts: an answer is then right only if
    /// it comes from the right node. For programs that only move values.
    Distinct,
    /// `1..=n`.
    UpTo(i64),
}

/// The bounds.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// How many threads.
    pub threads: usize,
    /// At most so many nodes: objects of the candidate, and reference nodes without a partner.
    pub objects: usize,
    /// The arguments.
    pub values: Values,
    /// At most so many states.
    pub cap: usize,
    /// Which states come first.
    pub order: Order,
}

/// Which states are explored first. Without a cap on states, all orders find the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The nearest: the first wrong one has a shortest trace.
    BreadthFirst,
    /// Any, with this seed: under a cap, states far from the initial one are found too.
    Random(u64),
}

impl Values {
    /// Whether clients of an operation can pass such values.
    fn suit(self, operation: &Operation) -> bool {
        let any = |parameter: &Parameter| parameter.ty == Type::Int && parameter.range.is_none();
        match self {
            Values::Distinct => operation.parameters.iter().all(any),
            Values::UpTo(_) => true,
        }
    }
}

/// Why a program is not explored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// Not a stack, queue or set that starts empty.
    Specification,
    /// An operation that the reference does not have.
    Operation,
    /// An operation that updates, without a point.
    NoPoints,
    /// The program is not for this number of threads.
    Threads,
    /// `init` goes wrong.
    Init(Fault),
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// A step is a fault.
    Fault(Fault),
    /// The condition of a point is a fault.
    PointFault {
        /// Whose step it was.
        thread: usize,
        /// What happened.
        kind: FaultKind,
    },
    /// A second point in one call.
    SecondPoint {
        /// Whose call it is.
        thread: usize,
    },
    /// A step that passes points for ever.
    EndlessStep,
    /// A response without a point, and the reference would not have answered this at any instant.
    NoPoint {
        /// Whose call it is.
        thread: usize,
        /// The answer.
        answer: Value,
    },
    /// The reference answered something else.
    Answer {
        /// Whose call it is.
        thread: usize,
        /// The answer.
        answer: Value,
        /// The answer of the reference.
        expected: Option<Value>,
    },
}

/// How to get to what goes wrong. Objects are renamed between moves.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The moves.
    pub moves: Vec<Vec<String>>,
    /// What goes wrong in the last one.
    pub wrong: Wrong,
}

/// What was found.
pub struct Exploration {
    semantics: Semantics,
    /// The states, breadth first.
    pub states: Vec<Rc<Correlated>>,
    /// The first thing that went wrong, if anything did: then there may be more states.
    pub wrong: Option<Trace>,
    /// Whether these are all the states within the bounds.
    pub complete: bool,
    /// How many moves led to more nodes than the bounds allow.
    pub cut_off: usize,
}

impl Exploration {
    fn trace(
        &self,
        parents: &[Option<(usize, Made)>],
        mut at: usize,
        last: &Made,
        wrong: Wrong,
    ) -> Trace {
        let mut moves = vec![self.semantics.shown(&self.states[at], last)];
        while let Some((before, made)) = &parents[at] {
            moves.push(self.semantics.shown(&self.states[*before], made));
            at = *before;
        }
        moves.reverse();
        Trace { moves, wrong }
    }

    /// Whether a local can still be read at a node; where it cannot, states show its initial value.
    pub fn is_live(&self, operation: usize, node: usize, local: usize) -> bool {
        self.semantics.is_live(operation, node, local)
    }
}

/// Explores the correlated states of a program within bounds, up to the first that goes wrong.
pub fn explore(program: &Program, config: &Config) -> Result<Exploration, Unsupported> {
    let semantics = Semantics::new(program, config)?;
    let first = Rc::new(semantics.initial()?);
    let mut known: HashSet<Rc<Correlated>> = [first.clone()].into();
    let mut found =
        Exploration { semantics, states: vec![first], wrong: None, complete: true, cut_off: 0 };
    let mut parents: Vec<Option<(usize, Made)>> = vec![None];
    let mut frontier = Frontier::new(config.order);
    while let Some(at) = frontier.next() {
        for (made, result) in found.semantics.successors(&found.states[at].clone()) {
            let next = match result {
                Ok(next) => next,
                Err(wrong) => {
                    found.wrong = Some(found.trace(&parents, at, &made, wrong));
                    found.complete = false;
                    return Ok(found);
                }
            };
            if next.node_count() > config.objects {
                found.cut_off += 1;
            } else if !known.contains(&next) {
                // The states found already are still looked at: they may go wrong.
                if found.states.len() >= config.cap {
                    found.complete = false;
                    continue;
                }
                let next = Rc::new(next);
                known.insert(next.clone());
                frontier.add(found.states.len());
                found.states.push(next);
                parents.push(Some((at, made)));
            }
        }
    }
    Ok(found)
}

/// The states whose successors are still to be made.
struct Frontier {
    waiting: VecDeque<usize>,
    random: Option<fastrand::Rng>,
}

impl Frontier {
    fn new(order: Order) -> Frontier {
        let random = match order {
            Order::BreadthFirst => None,
            Order::Random(seed) => Some(fastrand::Rng::with_seed(seed)),
        };
        Frontier { waiting: [0].into(), random }
    }

    fn add(&mut self, state: usize) {
        self.waiting.push_back(state);
    }

    fn next(&mut self) -> Option<usize> {
        match &mut self.random {
            Some(random) if !self.waiting.is_empty() => {
                self.waiting.swap_remove_back(random.usize(..self.waiting.len()))
            }
            _ => self.waiting.pop_front(),
        }
    }
}
