//! A program as the analysis sees it: where each variable's words are, what each cell of a node
//! means, which operations the specification has.

use crate::heap::{BOOLS, LINKS, LOCKS};
use crate::value::{Integers, Term, Words, constant, width, words_of};
use linchpin_ir::branch::{Branch, branches};
use linchpin_ir::liveness::live_locals;
use linchpin_ir::program::{
    Action, Body, Expr, LocalTarget, NodeId as At, Place, Point, Program, SpecSource, Target, Type,
    Variable,
};
use smallvec::SmallVec;

/// What a cell of a node is to the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A reference: the link with this number.
    Link(u8),
    /// A truth value: the bit with this number.
    Flag(u8),
    /// The lock with this number.
    Lock(u8),
    /// An integer that is written only when the node is made: the value with this number.
    Value(u8),
    /// The key of the node.
    Key,
    /// Nothing is known of it.
    Opaque,
}

/// The sequential object that the model is compared with.
#[derive(Clone, Debug)]
pub enum Reference {
    /// A list, and its first node.
    Stack(ListNode),
    /// A list with a dummy, its first and its last node.
    Queue(ListNode),
    /// Whether the arbitrary key K is in the set.
    Bit,
    /// A sequential program: the model's own code, or its `reference` block.
    Program(Box<Program>),
}

/// The nodes of a built-in reference: those of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListNode {
    /// The struct.
    pub of: u8,
    /// The link.
    pub link: u8,
    /// The value.
    pub value: u8,
}

/// An operation of the specification, by what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// `push`, `enqueue`.
    Put,
    /// `pop`, `dequeue`.
    Take,
    /// `peek`.
    Peek,
    /// `add`.
    Add,
    /// `remove`.
    Remove,
    /// `contains`.
    Contains,
    /// Whatever the reference program says.
    Other,
}

/// A body of code with what is known of it.
#[derive(Clone, Debug)]
pub struct Code {
    /// The code.
    pub body: Body,
    /// The edges of each node as a tree.
    pub trees: Vec<Vec<Branch>>,
    /// Where the words of each local start.
    pub offsets: Vec<usize>,
    /// How many words all locals have.
    pub words: usize,
    /// For each node, for each word, whether it may be read again.
    pub live: Vec<Vec<bool>>,
    /// For each node, for each word, whether the step from there may read it.
    pub used: Vec<Vec<bool>>,
    /// Parameters.
    pub parameters: Vec<Type>,
    /// What it returns.
    pub response: Type,
}

/// A program as the analysis sees it.
#[derive(Clone, Debug)]
pub struct Model {
    /// The program.
    pub program: Program,
    /// Whether integers are keys or values.
    pub integers: Integers,
    /// What it is compared with.
    pub reference: Reference,
    /// What each operation does in the specification.
    pub does: Vec<Does>,
    /// The operations.
    pub operations: Vec<Code>,
    /// The operations of a reference program.
    pub reference_operations: Vec<Code>,
    /// The cells of each struct.
    pub cells: Vec<Vec<Cell>>,
    /// For each struct, where the cells of each field start.
    pub fields: Vec<Vec<usize>>,
    /// Where the words of each shared variable start.
    pub shared: Vec<usize>,
    /// Where the words of each variable of a reference program start.
    pub reference_shared: Vec<usize>,
    /// The shared variable (its first word) from which lists are walked, and the link followed.
    pub root: Option<(usize, u8)>,
    /// The kinds of threads: which operations each calls.
    pub roles: Vec<Vec<usize>>,
    /// The kind of each thread of the program.
    pub threads: Vec<u8>,
}

impl Model {
    /// Whether any operation takes a lock.
    pub fn has_locks(&self) -> bool {
        let mut all = bodies(&self.program).flat_map(actions);
        all.any(|action| matches!(action, Action::Lock(_)))
    }
}

impl Code {
    /// Prepares a body.
    pub fn new(body: &Body, parameters: Vec<Type>, response: Type) -> Code {
        let mut offsets = Vec::new();
        let mut words = 0;
        for local in &body.locals {
            offsets.push(words);
            words += width(&local.ty);
        }
        let spread = |per_local: &[bool]| {
            let mut out = Vec::with_capacity(words);
            for (local, flag) in body.locals.iter().zip(per_local) {
                out.extend(std::iter::repeat_n(*flag, width(&local.ty)));
            }
            out
        };
        let live = live_locals(body).iter().map(|at| spread(at)).collect();
        let used = (0..body.nodes.len()).map(|at| spread(&used_by_step(body, at))).collect();
        let trees = body.nodes.iter().map(branches).collect();
        Code { body: body.clone(), trees, offsets, words, live, used, parameters, response }
    }

    /// The words of the locals before anything is assigned.
    pub fn initial(&self, integers: Integers) -> SmallVec<[crate::value::Scalar; 10]> {
        let mut words = Words::new();
        for local in &self.body.locals {
            initial_words(local, integers, &mut words);
        }
        words.into_iter().collect()
    }
}

/// The words of a variable before anything is assigned.
pub fn initial_words(variable: &Variable, integers: Integers, out: &mut Words) {
    let before = out.len();
    match constant(&variable.initial, Some(&variable.ty), integers) {
        // A record or tuple whose initial value is not given word by word.
        Term::Word(word) => out.extend(std::iter::repeat_n(word, width(&variable.ty))),
        list => list.flatten(out),
    }
    out.resize(before + width(&variable.ty), crate::value::Scalar::Null);
}

/// The locals that the step from a node may read.
fn used_by_step(body: &Body, from: usize) -> Vec<bool> {
    let mut used = vec![false; body.locals.len()];
    let mut seen = vec![false; body.nodes.len()];
    let mut work = vec![from];
    let mut mention = |expr: &Expr| {
        expr.walk(&mut |inner| {
            if let Expr::Local(local) = inner {
                used[usize::try_from(local.0).unwrap_or_default()] = true;
            }
        });
    };
    while let Some(at) = work.pop() {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        for edge in &body.nodes[at].edges {
            for (action, _) in &edge.actions {
                action.expressions().into_iter().for_each(&mut mention);
                if let Action::Assign {
                    local: LocalTarget::Component(local, _) | LocalTarget::Element(local, _),
                    ..
                } = action
                {
                    mention(&Expr::Local(*local));
                }
            }
            for (_, Point::When(expr) | Point::Returns { value: expr, .. }) in &edge.points {
                mention(expr);
            }
            if let Target::Node(At(next)) = &edge.target {
                let next = usize::try_from(*next).unwrap_or_default();
                if !body.nodes[next].yields {
                    work.push(next);
                }
            }
        }
    }
    used
}

/// Where the words of variables start.
pub fn offsets(variables: &[Variable]) -> Vec<usize> {
    let starts = variables.iter().scan(0, |next, variable| {
        let start = *next;
        *next += width(&variable.ty);
        Some(start)
    });
    starts.collect()
}

/// What each cell of each struct is, and where the cells of each field start. `Err`: why the nodes
/// of this program are beyond the analysis.
#[allow(clippy::type_complexity)]
pub fn cells(
    program: &Program,
    integers: Integers,
) -> Result<(Vec<Vec<Cell>>, Vec<Vec<usize>>), String> {
    let written = written_fields(program);
    let mut all = Vec::new();
    let mut starts = Vec::new();
    for (of, object) in program.structs.iter().enumerate() {
        let (mut links, mut flags, mut locks, mut values) = (0, 0, 0, 0);
        let mut cells = Vec::new();
        for (field, variable) in object.fields.iter().enumerate() {
            let mut words = Vec::new();
            words_of(&variable.ty, &mut words);
            for ty in words {
                cells.push(match ty {
                    Type::Struct(_) => Cell::Link(next(&mut links)),
                    Type::Bool => Cell::Flag(next(&mut flags)),
                    Type::Lock => Cell::Lock(next(&mut locks)),
                    Type::Int if written.contains(&(of, field)) => Cell::Opaque,
                    Type::Int if integers == Integers::Keys => Cell::Key,
                    Type::Int => Cell::Value(next(&mut values)),
                    _ => Cell::Opaque,
                });
            }
        }
        let name = &object.name;
        let too_many = [
            (usize::from(links) > LINKS, "references"),
            (usize::from(flags) > BOOLS, "truth values"),
            (usize::from(locks) > LOCKS, "locks"),
        ];
        if let Some((_, what)) = too_many.iter().find(|(is, _)| *is) {
            return Err(format!("`{name}` has more {what} than the analysis tracks"));
        }
        if cells.iter().filter(|cell| **cell == Cell::Key).count() > 1 {
            return Err(format!("`{name}` has more than one integer that could be its key"));
        }
        all.push(cells);
        starts.push(offsets(&object.fields));
    }
    Ok((all, starts))
}

fn next(counter: &mut u8) -> u8 {
    let now = *counter;
    *counter = counter.saturating_add(1);
    now
}

/// The fields that are written other than by `new`.
fn written_fields(program: &Program) -> Vec<(usize, usize)> {
    let mut written = Vec::new();
    let reference = program.reference.iter().flat_map(|reference| bodies(reference));
    for body in bodies(program).chain(reference) {
        for action in actions(body) {
            let writes = !matches!(
                action,
                Action::Read { .. }
                    | Action::LoadLinked { .. }
                    | Action::Lock(_)
                    | Action::Unlock(_)
                    | Action::Flush(_)
                    | Action::Persist(_)
            );
            for place in action.places() {
                if let (
                    true,
                    Place::Field { of, field, .. } | Place::FieldElement { of, field, .. },
                ) = (writes, place)
                {
                    written.push((*of, *field));
                }
            }
        }
    }
    written
}

/// The bodies of a program.
pub fn bodies(program: &Program) -> impl Iterator<Item = &Body> {
    program.init.iter().chain(program.operations.iter().map(|operation| &operation.body))
}

/// The actions of a body.
pub fn actions(body: &Body) -> impl Iterator<Item = &Action> {
    let edges = body.nodes.iter().flat_map(|node| &node.edges);
    edges.flat_map(|edge| edge.actions.iter().map(|(action, _)| action))
}

/// Whether an action writes shared memory, or gives it back; locks do not count.
pub fn writes(action: &Action) -> bool {
    action.is_write() || matches!(action, Action::Free(_))
}

/// The name of a built-in specification.
pub fn builtin(program: &Program) -> Option<&str> {
    match &program.spec {
        SpecSource::Builtin { name, .. } => Some(name),
        SpecSource::Model(_) => None,
    }
}
