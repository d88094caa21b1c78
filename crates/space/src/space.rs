//! The state space: from a packed state to its successors, with the events on the way.

use crate::Unsupported;
use crate::canonical::{Form, Renaming, Scratch};
use crate::code::{Class, Routine, routine};
use crate::execute::{Trail, Words};
use crate::flat::Flat;
use crate::layout::{Kind, Layout, STATUS, flatten, unflatten};
use crate::liveness::live_words;
use crate::symmetry::{Symmetry, analyse};
use crate::walk::{Walk, maybe_private, others};
use linchpin_ir::domain::{Domain, DomainBounds};
use linchpin_ir::interpreter::{Fault, Machine, Memory, State};
use linchpin_ir::program::{Action as IrAction, Operation, Program, Type};
use linchpin_spec::Value;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, Ordering};
use thiserror::Error;

/// How many calls a thread makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// At most this many each.
    Each(u32),
    /// Any number: the space is finite only if the model or the other bounds make it so.
    Unlimited,
}

/// What is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The calls of each thread.
    pub calls: Calls,
    /// An `int` parameter without a range is one of `1..=values`.
    pub values: i64,
    /// At most this many heap objects exist at a time; a step that would make one more is not taken.
    pub objects: Option<usize>,
    /// What `free` and `new` do.
    pub memory: Memory,
}

/// What is identified or left out, each exact by itself and together with the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// Garbage is dropped, objects are renamed.
    pub canonical_heap: bool,
    /// Locals that nobody reads any more are dropped.
    pub dead_locals: bool,
    /// Threads with the same role are interchangeable, where the model treats them so.
    pub thread_symmetry: bool,
    /// Values are interchangeable, where the model and the specification treat them so.
    pub value_symmetry: bool,
    /// A step that no other thread can notice or disturb is taken together with the step before it.
    pub partial_order: bool,
    /// An invocation happens with the first step of its operation, a response with the last.
    pub merged_events: bool,
}

impl Reductions {
    /// All of them.
    pub const ALL: Reductions = Reductions {
        canonical_heap: true,
        dead_locals: true,
        thread_symmetry: true,
        value_symmetry: true,
        partial_order: true,
        merged_events: true,
    };
    /// None of them.
    pub const NONE: Reductions = Reductions {
        canonical_heap: false,
        dead_locals: false,
        thread_symmetry: false,
        value_symmetry: false,
        partial_order: false,
        merged_events: false,
    };
}

/// Something that a specification sees. Words are laid out as the types of the operation say.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A thread calls an operation.
    Call {
        /// Who.
        thread: usize,
        /// Which operation.
        operation: usize,
        /// The words of its parameters.
        arguments: SmallVec<[i64; 8]>,
    },
    /// A thread passes a claimed linearization point of its operation.
    Point {
        /// Who.
        thread: usize,
        /// `None`: it takes effect here. Otherwise: here, if the operation answers these words before it passes
        /// the point with this number again.
        guess: Option<(usize, SmallVec<[i64; 8]>)>,
    },
    /// A thread went along an edge of its operation; told only by a space that was asked to ([`Space::telling_edges`]).
    Edge {
        /// Who.
        thread: usize,
        /// In which operation.
        operation: usize,
        /// From which node.
        node: u32,
        /// Along which of its edges.
        edge: u32,
    },
    /// A thread sees the response.
    Return {
        /// Who.
        thread: usize,
        /// Of which operation.
        operation: usize,
        /// The words of the response.
        value: SmallVec<[i64; 8]>,
    },
}

/// A move of the interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Calls an operation.
    Invoke {
        /// Which.
        operation: usize,
        /// The words of its parameters.
        arguments: SmallVec<[i64; 8]>,
    },
    /// Takes a step.
    Step,
    /// Sees the response.
    Respond,
}

/// A way on from a state.
pub struct Successor<'a> {
    /// Who moves.
    pub thread: usize,
    /// The moves, in order: more than one where reductions take several together.
    pub actions: &'a [Action],
    /// The events, in order.
    pub events: &'a [Event],
    /// The operation and node where the last step started; `None` if there was none.
    pub from: Option<(usize, usize)>,
    /// What comes of it.
    pub stop: Stop<'a>,
}

/// Where a transition ends.
pub enum Stop<'a> {
    /// In this state.
    State(&'a Flat),
    /// It goes wrong: the interpreter says how.
    Fault,
}

/// What the successors of a state are told to. Returning `false` ends the enumeration.
pub trait Visit {
    /// One way on.
    fn visit(&mut self, successor: Successor<'_>) -> bool;
}

impl<F: FnMut(Successor<'_>) -> bool> Visit for F {
    fn visit(&mut self, successor: Successor<'_>) -> bool {
        self(successor)
    }
}

/// Why a model has no state space.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpaceError {
    /// It uses something that flat states have no room for.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// Its `init` goes wrong.
    #[error("the model cannot start: {0}")]
    Start(#[from] Fault),
    /// Clients cannot make arguments for this operation, or too many.
    #[error("no finite set of arguments for `{0}`")]
    Arguments(String),
    /// More threads than a packed state can name.
    #[error("{0} threads are more than this engine explores (at most 200)")]
    TooManyThreads(usize),
}

/// Calls of one operation may have at most this many different arguments.
const MAX_ARGUMENTS: u64 = 1 << 16;

/// The state space of a model within bounds.
pub struct Space {
    machine: Machine,
    pub(crate) bounds: Bounds,
    pub(crate) reductions: Reductions,
    pub(crate) symmetry: Symmetry,
    pub(crate) form: Form,
    pub(crate) routines: Vec<Routine>,
    /// For each thread, the calls that it may make.
    pub(crate) calls: Vec<Vec<(usize, Words)>>,
    /// For each operation, which words of its parameters hold renamable values.
    pub(crate) data: Vec<Vec<usize>>,
    /// For each thread, the classes that another thread writes, and those that another thread touches.
    pub(crate) written: Vec<Vec<Class>>,
    pub(crate) touched: Vec<Vec<Class>>,
    /// For each thread, operation and node, whether a step from it can concern nobody else.
    private: Vec<Vec<Vec<bool>>>,
    /// For each operation and node, where its edges start in `covered`.
    edges: Vec<Vec<usize>>,
    covered: Vec<AtomicBool>,
    /// Whether a bound kept a step from being taken.
    pub(crate) bounded: AtomicBool,
    /// Whether a thread made all the calls that it may make.
    pub(crate) exhausted: AtomicBool,
    /// Whether edges are events.
    pub(crate) edge_events: bool,
}

/// Room to work in; one for each worker.
#[derive(Default)]
pub struct Workspace {
    scratch: Scratch,
    flat: Flat,
    pub(crate) pool: Vec<Flat>,
    pub(crate) trails: Vec<Trail>,
    pub(crate) marks: Vec<bool>,
    pub(crate) stack: Vec<usize>,
}

impl Space {
    /// The state space of a program.
    pub fn new(
        program: &Program,
        bounds: Bounds,
        reductions: Reductions,
    ) -> Result<Space, SpaceError> {
        let threads = program.threads.len();
        if threads > 200 {
            return Err(SpaceError::TooManyThreads(threads));
        }
        let mut layout = Layout::of(program)?;
        let routines = (0..program.operations.len())
            .map(|operation| routine(program, &layout, operation))
            .collect::<Result<Vec<_>, _>>()?;
        let found = analyse(program, &routines, &mut layout, bounds.values);
        let symmetry = Symmetry {
            threads: found.threads && reductions.thread_symmetry,
            values: found.values && reductions.value_symmetry,
        };
        let live = |(operation, of): (usize, &Operation)| match reductions.dead_locals {
            true => live_words(&of.body, &layout, operation),
            false => {
                let kinds = &layout.local_kinds[operation];
                let all = kinds.iter().enumerate().map(|(at, kind)| (layout.locals_at + at, *kind));
                vec![all.collect(); of.body.nodes.len()]
            }
        };
        let live = program.operations.iter().enumerate().map(live).collect();
        let groups: Vec<usize> = (0..threads)
            .map(|thread| {
                let of = &program.threads[thread].operations;
                let same = |other: &usize| program.threads[*other].operations == *of;
                if symmetry.threads { (0..thread).find(same).unwrap_or(thread) } else { thread }
            })
            .collect();
        let actions = || {
            let bodies = program.operations.iter().map(|operation| &operation.body);
            let edges = bodies.flat_map(|body| &body.nodes).flat_map(|node| &node.edges);
            edges.flat_map(|edge| &edge.actions).map(|(action, _)| action)
        };
        let form = Form {
            live,
            heap: reductions.canonical_heap,
            symmetric: groups.iter().enumerate().any(|(thread, group)| thread != *group),
            groups,
            values: if symmetry.values { bounds.values as usize } else { 0 },
            calls: bounds.calls != Calls::Unlimited,
            tids: layout.names_threads(),
            links: actions().any(|action| matches!(action, IrAction::LoadLinked { .. })),
            layout,
        };
        let (written, touched): (Vec<_>, Vec<_>) =
            (0..threads).map(|thread| others(program, thread)).unzip();
        let private = |thread: usize| {
            let of = |operation: usize| {
                maybe_private(program, operation, &written[thread], &touched[thread])
            };
            (0..program.operations.len()).map(of).collect()
        };
        let private = (0..threads).map(private).collect();
        let data = |operation: usize| {
            let kinds = &form.layout.local_kinds[operation];
            let words: usize = routines[operation].parameters.iter().map(|(s, _)| s.width).sum();
            (0..words).filter(|&at| kinds[at] == Kind::Data).collect()
        };
        let data = (0..routines.len()).map(data).collect();
        let mut count = 0;
        let edges = program.operations.iter().map(|operation| {
            let starts = operation.body.nodes.iter().map(|node| {
                count += node.edges.len();
                count - node.edges.len()
            });
            starts.collect()
        });
        let edges = edges.collect();
        let mut space = Space {
            machine: Machine::new(program, bounds.memory),
            bounds,
            reductions,
            symmetry,
            form,
            routines,
            calls: Vec::new(),
            data,
            written,
            touched,
            private,
            edges,
            covered: (0..count).map(|_| AtomicBool::new(false)).collect(),
            bounded: AtomicBool::new(false),
            exhausted: AtomicBool::new(false),
            edge_events: false,
        };
        space.calls =
            (0..threads).map(|thread| space.calls_of(thread)).collect::<Result<_, _>>()?;
        Ok(space)
    }

    /// The same space, with an event for every edge that a step goes along.
    pub fn telling_edges(mut self) -> Space {
        self.edge_events = true;
        self
    }

    fn calls_of(&self, thread: usize) -> Result<Vec<(usize, Words)>, SpaceError> {
        let program = self.program();
        let bounds = DomainBounds { values: self.bounds.values, threads: program.threads.len() };
        let mut calls = Vec::new();
        for &operation in &program.threads[thread].operations {
            let of = &program.operations[operation];
            let domain = Domain::of_arguments(of, bounds)
                .filter(|domain| domain.size() <= MAX_ARGUMENTS)
                .ok_or_else(|| SpaceError::Arguments(of.name.clone()))?;
            for value in domain.values() {
                let mut words = Vec::new();
                for (argument, parameter) in
                    value.as_list().unwrap_or(&[]).iter().zip(&of.parameters)
                {
                    flatten(argument, &parameter.ty, &mut words)?;
                }
                calls.push((operation, Words::from_vec(words)));
            }
        }
        Ok(calls)
    }

    /// The program.
    pub fn program(&self) -> &Program {
        self.machine.program()
    }

    /// The reference interpreter for it.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The bounds.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// The symmetries that are used.
    pub fn symmetry(&self) -> &Symmetry {
        &self.symmetry
    }

    /// The reductions that are asked for.
    pub fn reductions(&self) -> &Reductions {
        &self.reductions
    }

    /// How many values may be renamed; 0 if they are told apart.
    pub fn renamable_values(&self) -> usize {
        self.form.values
    }

    /// Whether a bound on objects kept a step from being taken.
    pub fn was_bounded(&self) -> bool {
        self.bounded.load(Ordering::Relaxed)
    }

    /// Whether some thread made all the calls that it may make: if not, the bound on calls was never reached.
    pub fn was_exhausted(&self) -> bool {
        self.exhausted.load(Ordering::Relaxed)
    }

    /// Whether a step went along this edge.
    pub fn is_covered(&self, operation: usize, node: usize, edge: usize) -> bool {
        self.covered[self.edges[operation][node] + edge].load(Ordering::Relaxed)
    }

    /// The calls that each thread has at the start.
    pub fn calls_at_start(&self) -> Vec<i64> {
        let calls = match self.bounds.calls {
            Calls::Each(count) => i64::from(count),
            Calls::Unlimited => 0,
        };
        vec![calls; self.program().threads.len()]
    }

    /// A state of the interpreter, flat.
    pub fn flatten(&self, state: &State, calls: &[i64]) -> Result<Flat, Unsupported> {
        Flat::of(self.program(), &self.form.layout, state, calls)
    }

    /// The initial state.
    pub fn initial(&self) -> Result<Flat, SpaceError> {
        let state = self.machine.initial()?;
        Ok(self.flatten(&state, &self.calls_at_start())?)
    }

    /// Packs a state into its canonical form.
    pub fn pack(&self, flat: &Flat, workspace: &mut Workspace, out: &mut Vec<u8>) -> Renaming {
        self.form.pack(flat, &mut workspace.scratch, out)
    }

    /// Packs a state with its threads in a given order: one of the forms that its orbit has.
    pub fn pack_in_order(
        &self,
        flat: &Flat,
        order: &[usize],
        workspace: &mut Workspace,
        out: &mut Vec<u8>,
    ) -> Renaming {
        self.form.pack_in_order(flat, order, &mut workspace.scratch, out)
    }

    /// The orders in which interchangeable threads may stand; at most `limit` of them.
    pub fn orders(&self, limit: usize) -> Vec<Vec<usize>> {
        let groups = &self.form.groups;
        let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
        for place in 0..groups.len() {
            let mut longer = Vec::new();
            for order in &orders {
                let fits =
                    |thread: &usize| groups[*thread] == groups[place] && !order.contains(thread);
                for thread in (0..groups.len()).filter(fits) {
                    let mut next = order.clone();
                    next.push(thread);
                    longer.push(next);
                }
            }
            longer.truncate(limit);
            orders = longer;
        }
        orders
    }

    /// The state that bytes are the form of.
    pub fn unpack(&self, bytes: &[u8], flat: &mut Flat) {
        self.form.unpack(bytes, flat);
    }

    /// Whether some thread is inside an operation in this state.
    pub fn has_running(&self, bytes: &[u8]) -> bool {
        let mut flat = Flat::default();
        self.unpack(bytes, &mut flat);
        let layout = &self.form.layout;
        (0..layout.threads).any(|thread| flat.words[layout.thread(thread) + STATUS] != 0)
    }

    /// The values of the arguments of a call.
    pub fn arguments(&self, operation: usize, words: &[i64]) -> Vec<Value> {
        let parameters = &self.program().operations[operation].parameters;
        let mut rest = words;
        parameters.iter().map(|parameter| unflatten(&mut rest, &parameter.ty)).collect()
    }

    /// The value of a response.
    pub fn response(&self, operation: usize, words: &[i64]) -> Value {
        let mut rest = words;
        unflatten(&mut rest, &self.program().operations[operation].response)
    }

    /// The type of a response.
    pub fn response_type(&self, operation: usize) -> &Type {
        &self.program().operations[operation].response
    }

    /// Every way on from a state. `known` is how many values occur in what is known about its past (they are the first
    /// ones, where values are interchangeable); those in the state itself are counted here.
    pub fn successors(
        &self,
        bytes: &[u8],
        known: usize,
        workspace: &mut Workspace,
        visit: &mut dyn Visit,
    ) {
        let mut flat = std::mem::take(&mut workspace.flat);
        self.unpack(bytes, &mut flat);
        let known = known.max(self.form.largest(&flat));
        let mut walk = Walk::new(self, workspace, visit);
        for thread in 0..self.program().threads.len() {
            if !walk.thread(&flat, thread, known) {
                break;
            }
        }
        workspace.flat = flat;
    }

    /// Every way on for one thread.
    pub fn successors_of(
        &self,
        flat: &Flat,
        thread: usize,
        known: usize,
        workspace: &mut Workspace,
        visit: &mut dyn Visit,
    ) {
        Walk::new(self, workspace, visit).thread(flat, thread, known);
    }

    pub(crate) fn may_be_private(&self, thread: usize, operation: usize, node: usize) -> bool {
        self.private[thread][operation][node]
    }

    pub(crate) fn cover(&self, operation: usize, trail: &Trail) {
        for (node, edge) in &trail.path {
            let flag = &self.covered[self.edges[operation][*node as usize] + *edge as usize];
            if !flag.load(Ordering::Relaxed) {
                flag.store(true, Ordering::Relaxed);
            }
        }
    }
}
