//! Steps on abstract states: the paths of a step, and its actions. Shared words: `access.rs`.
//!
//! An action on a state gives several states where the abstraction has to distinguish, and none
//! where the step is blocked or its guard does not hold. A step that fails is reported, never
//! dropped.

use crate::access::Where;
use crate::correlate::Machine;
use crate::evaluate::{Environment, Undefined};
use crate::failure::{Cause, Failure, Fault, ReferenceFault};
use crate::heap::{Flags, Heap, Kind, LINKS, LOCKS, Lost, Side};
use crate::model::{Cell, Code, Model};
use crate::state::{Allocated, State};
use crate::value::{Class, Holder, Integers, NodeId, Scalar, Term, Words};
use linchpin_ir::branch::Branch;
use linchpin_ir::program::{Action, Edge, Expr, LocalId, LocalTarget, NodeId as At, Target};
use smallvec::SmallVec;

/// A step may go along at most this many edges.
const MOST_EDGES: usize = 200;

/// What executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A thread of the candidate: its index in the state.
    Thread(u8),
    /// The reference, for the operation of this thread.
    Reference(u8),
    /// `init`, of either side.
    Init(Side),
}

impl Actor {
    /// The side on which it executes.
    pub fn side(self) -> Side {
        match self {
            Actor::Thread(_) => Side::Candidate,
            Actor::Reference(_) => Side::Reference,
            Actor::Init(side) => side,
        }
    }

    pub(crate) fn holder(self) -> Holder {
        match self {
            Actor::Thread(thread) => Holder::Thread(thread),
            Actor::Reference(_) | Actor::Init(_) => Holder::Reference,
        }
    }
}

/// An execution on its way.
#[derive(Clone, Debug)]
pub struct Path<H> {
    /// The state.
    pub state: State<H>,
    /// The locals of the code that is executed, word by word.
    pub locals: SmallVec<[Scalar; 10]>,
    /// Whether another thread, or the reference, can notice what was done.
    pub visible: bool,
    /// Nodes of the candidate that the reference may take for those that it allocates.
    pub allocated: SmallVec<[Allocated; 1]>,
}

/// How a piece of code ends.
#[derive(Clone, Debug)]
pub enum Ended<H> {
    /// At a node where other threads may run.
    At(Path<H>, At),
    /// It returns this.
    Returned(Path<H>, Term, u32),
}

/// Executes code.
pub struct Executor<'a> {
    /// The program.
    pub model: &'a Model,
    /// The code.
    pub code: &'a Code,
    /// What executes it.
    pub actor: Actor,
    /// The operation, for messages.
    pub operation: usize,
    /// What happens at claimed linearization points, and what counts the edges taken; none for
    /// the reference.
    pub machine: Option<&'a Machine>,
}

pub(crate) type Paths<H> = Vec<Path<H>>;

impl Executor<'_> {
    /// Runs from a node to the next nodes that yield, or to the end.
    pub fn run<H: Heap>(&self, path: Path<H>, from: At) -> Result<Vec<Ended<H>>, Failure> {
        let mut ended = Vec::new();
        let mut work = vec![(path, from, 0)];
        while let Some((path, at, edges)) = work.pop() {
            if edges > MOST_EDGES {
                let line = self.code.body.nodes[index(at)].line;
                return Err(self.failure(Cause::EndlessStep, line));
            }
            let mut here = Vec::new();
            self.branches(vec![path], &self.code.trees[index(at)], at, &mut here)?;
            for (path, edge) in here {
                match &edge.target {
                    Target::Node(next) if self.code.body.nodes[index(*next)].yields => {
                        ended.push(Ended::At(path, *next));
                    }
                    Target::Node(next) => work.push((path, *next, edges + 1)),
                    Target::Return(value) => {
                        let line = edge.returns_at.unwrap_or(self.code.body.nodes[index(at)].line);
                        let term = self.term(&path, value, line)?;
                        for (path, term) in split(path, term) {
                            ended.push(Ended::Returned(path, term, line));
                        }
                    }
                }
            }
        }
        Ok(ended)
    }

    /// The edges that can be taken through these branches, each with the paths that take it.
    fn branches<'c, H: Heap>(
        &'c self,
        paths: Paths<H>,
        branches: &[Branch],
        at: At,
        out: &mut Vec<(Path<H>, &'c Edge)>,
    ) -> Result<(), Failure> {
        let mut paths = paths;
        for (number, branch) in branches.iter().enumerate() {
            let edge = &self.code.body.nodes[index(at)].edges[branch.edge];
            let mut start = branch.actions.start;
            let has_point = edge.points.iter().any(|(at, _)| *at == start);
            let mut paths = match edge.actions.get(start) {
                // Only what the guard lets through is copied.
                Some((Action::Guard(condition), line))
                    if !has_point && start < branch.actions.end =>
                {
                    start += 1;
                    let mut through = Vec::new();
                    for path in &paths {
                        if self.word(path, condition, *line)? != Scalar::Bool(false) {
                            through.push(path.clone());
                        }
                    }
                    through
                }
                _ if number + 1 == branches.len() => std::mem::take(&mut paths),
                _ => paths.clone(),
            };
            if paths.is_empty() {
                continue;
            }
            for number in start..branch.actions.end {
                paths = self.points(paths, edge, number)?;
                let (action, line) = &edge.actions[number];
                let mut next: Paths<H> = Vec::new();
                for path in paths {
                    next.extend(self.action(path, action, *line)?);
                }
                paths = next;
                if paths.is_empty() {
                    break;
                }
            }
            if paths.is_empty() {
                continue;
            }
            match branch.then.is_empty() {
                false => self.branches(paths, &branch.then, at, out)?,
                true => {
                    if let Some(machine) = self.machine {
                        machine.take(self.operation, index(at), branch.edge);
                    }
                    let paths = self.points(paths, edge, edge.actions.len())?;
                    out.extend(paths.into_iter().map(|path| (path, edge)));
                }
            }
        }
        Ok(())
    }

    /// The linearization points that come after so many actions of an edge.
    fn points<H: Heap>(
        &self,
        paths: Paths<H>,
        edge: &Edge,
        number: usize,
    ) -> Result<Paths<H>, Failure> {
        let mut paths = paths;
        for (_, point) in edge.points.iter().filter(|(at, _)| *at == number) {
            let line = edge.actions.get(number.saturating_sub(1)).map_or(0, |(_, line)| *line);
            let mut next: Paths<H> = Vec::new();
            for path in paths {
                match self.machine {
                    Some(machine) => next.extend(machine.point(path, point, self, line)?),
                    None => next.push(path),
                }
            }
            paths = next;
        }
        Ok(paths)
    }

    fn action<H: Heap>(
        &self,
        path: Path<H>,
        action: &Action,
        line: u32,
    ) -> Result<Paths<H>, Failure> {
        match action {
            Action::Guard(condition) => match self.word(&path, condition, line)? {
                Scalar::Bool(false) => Ok(vec![]),
                _ => Ok(vec![path]),
            },
            Action::Assert(condition) => match self.word(&path, condition, line)? {
                Scalar::Bool(true) => Ok(vec![path]),
                _ => Err(self.fault(Fault::Assertion, line)),
            },
            Action::Assign { local, value } => {
                let term = self.term(&path, value, line)?;
                let assigned = split(path, term).into_iter();
                Ok(assigned.map(|(path, term)| self.assign(path, local, &term)).collect())
            }
            Action::Choose { into, from, to } => self.choose(path, *into, from, to, line),
            Action::New { into, object, fields, .. } => {
                self.allocate(path, *into, *object, fields, line)
            }
            Action::Read { into, place } => {
                let loaded = self.load(path, place, line)?.into_iter();
                Ok(loaded.map(|(path, words)| self.assign_words(path, *into, &words)).collect())
            }
            Action::Write { place, value } => {
                let term = self.term(&path, value, line)?;
                let mut out = vec![];
                for (path, term) in split(path, term) {
                    self.store(path, place, &flat(&term), line, &mut out)?;
                }
                Ok(out)
            }
            Action::Cas { into, cells } => self.compare_and_swap(path, *into, cells, line),
            Action::Swap { into, place, value } => {
                let term = self.term(&path, value, line)?;
                let mut out: Paths<H> = vec![];
                for (path, term) in split(path, term) {
                    for (path, old) in self.load(path, place, line)? {
                        let mut stored = vec![];
                        self.store(path, place, &flat(&term), line, &mut stored)?;
                        let stored = stored.into_iter();
                        out.extend(stored.map(|path| self.assign_words(path, *into, &old)));
                    }
                }
                Ok(out)
            }
            // Without crashes a flush only needs its place, and a fence nothing.
            Action::Flush(place) | Action::Persist(place) => {
                let loaded = self.load(path, place, line)?.into_iter();
                Ok(loaded.map(|(path, _)| path).collect())
            }
            Action::Fence => Ok(vec![path]),
            // The sum may overflow after so many of them, and that fails.
            Action::FetchAdd { .. } => Err(self.failure(Cause::Lost(Lost::Arithmetic), line)),
            Action::Lock(place) => self.lock(path, place, line),
            Action::Unlock(place) => self.unlock(path, place, line),
            // Programs that have these are refused before anything is executed.
            Action::Free(_)
            | Action::LoadLinked { .. }
            | Action::StoreConditional { .. }
            | Action::Update { .. } => Err(self.failure(Cause::Lost(Lost::Value), line)),
        }
    }

    fn choose<H: Heap>(
        &self,
        path: Path<H>,
        into: LocalId,
        from: &Expr,
        to: &Expr,
        line: u32,
    ) -> Result<Paths<H>, Failure> {
        match (self.word(&path, from, line)?, self.word(&path, to, line)?) {
            (Scalar::Int(from), Scalar::Int(to)) if i16::from(to) - i16::from(from) <= 16 => {
                Ok((from..to)
                    .map(|number| self.assign_words(path.clone(), into, &[Scalar::Int(number)]))
                    .collect())
            }
            // More choices than there may be would fail.
            _ => Err(self.failure(Cause::Lost(Lost::Arithmetic), line)),
        }
    }

    fn compare_and_swap<H: Heap>(
        &self,
        path: Path<H>,
        into: LocalId,
        cells: &[linchpin_ir::program::Cell],
        line: u32,
    ) -> Result<Paths<H>, Failure> {
        let mut out: Paths<H> = vec![];
        let mut places: SmallVec<[Where; 2]> = SmallVec::new();
        for cell in cells {
            let place = self.place(&path, &cell.place, line)?;
            if places.contains(&place) {
                return Err(self.fault(Fault::RepeatedPlace, line));
            }
            places.push(place);
        }
        // Whether every cell holds what is expected: `None`, where that is not known.
        let mut work: Vec<(Path<H>, Option<bool>)> = vec![(path, Some(true))];
        for cell in cells {
            let mut next = vec![];
            for (path, so_far) in work {
                match so_far {
                    Some(false) => next.push((path, so_far)),
                    _ => {
                        let expected = flat(&self.term(&path, &cell.expected, line)?);
                        self.compare(path, &cell.place, &expected, so_far, line, &mut next)?;
                    }
                }
            }
            work = next;
        }
        for (path, same) in work {
            if same != Some(true) {
                out.push(self.assign_words(path.clone(), into, &[Scalar::Bool(false)]));
            }
            if same == Some(false) {
                continue;
            }
            let mut stored: Paths<H> = vec![path];
            // Every expression means what it means before anything is written: they are local.
            for cell in cells {
                let mut next = vec![];
                for path in stored {
                    let term = self.term(&path, &cell.new, line)?;
                    for (path, term) in split(path, term) {
                        self.store(path, &cell.place, &flat(&term), line, &mut next)?;
                    }
                }
                stored = next;
            }
            let stored = stored.into_iter();
            out.extend(stored.map(|path| self.assign_words(path, into, &[Scalar::Bool(true)])));
        }
        Ok(out)
    }

    fn allocate<H: Heap>(
        &self,
        path: Path<H>,
        into: LocalId,
        object: usize,
        fields: &[Expr],
        line: u32,
    ) -> Result<Paths<H>, Failure> {
        let terms: Result<Vec<Term>, Failure> =
            fields.iter().map(|field| self.term(&path, field, line)).collect();
        let mut out: Paths<H> = vec![];
        for (path, term) in split(path, Term::List(terms?)) {
            for (path, node) in self.new_node(path, object, &flat(&term), line)? {
                out.push(self.assign_words(path, into, &[Scalar::Node(node)]));
            }
        }
        Ok(out)
    }

    /// A new node with these words in its cells. On the reference side it is the candidate node
    /// that the same call allocated, if there is one (paper 001, rule *reference*).
    fn new_node<H: Heap>(
        &self,
        mut path: Path<H>,
        object: usize,
        words: &[Scalar],
        line: u32,
    ) -> Result<Vec<(Path<H>, NodeId)>, Failure> {
        let lost = |lost: Lost| self.failure(Cause::Lost(lost), line);
        let mut flags = Flags {
            kind: match self.actor.side() {
                Side::Candidate => Kind::Candidate,
                Side::Reference => Kind::Reference,
            },
            of: u8::try_from(object).map_err(|_| lost(Lost::Nodes))?,
            class: Class::None,
            bools: 0,
            reach: false,
            owner: match self.actor {
                Actor::Thread(thread) => Some(thread),
                _ => None,
            },
            locks: [Holder::Free; LOCKS],
        };
        let mut links = [None; LINKS];
        let mut values: SmallVec<[Scalar; 2]> = SmallVec::new();
        for (cell, word) in self.model.cells[object].iter().zip(words) {
            match (cell, word) {
                (Cell::Link(link), Scalar::Node(to)) => links[usize::from(*link)] = Some(*to),
                (Cell::Link(_), Scalar::Null) | (Cell::Opaque | Cell::Lock(_), _) => {}
                (Cell::Flag(bit), Scalar::Bool(truth)) => flags.bools |= u8::from(*truth) << bit,
                (Cell::Value(_), value) => values.push(*value),
                (Cell::Key, Scalar::Key(class)) => flags.class = *class,
                (Cell::Key, _) => return Err(lost(Lost::Key)),
                _ => return Err(lost(Lost::Value)),
            }
        }
        let made = match self.actor.side() {
            Side::Candidate => {
                let node = path.state.heap.allocate(flags).map_err(lost)?;
                let known = |word: &Scalar| matches!(word, Scalar::Argument(_) | Scalar::Int(_));
                if !matches!(self.actor, Actor::Init(_)) {
                    path.allocated.clear();
                }
                if self.model.integers == Integers::Values && values.iter().all(known) {
                    path.allocated.push(Allocated { node, values });
                }
                vec![(path, node)]
            }
            Side::Reference => self.correlated(path, flags, &values).map_err(lost)?,
        };
        let linked = made.into_iter().map(|(mut path, node)| {
            for (link, to) in (0..).zip(links).filter(|(_, to)| to.is_some()) {
                path.state.heap.store(self.actor.side(), node, link, to);
            }
            (path, node)
        });
        Ok(linked.collect())
    }

    /// A new node of the reference: a candidate node with the same values, or one of its own.
    pub fn correlated<H: Heap>(
        &self,
        mut path: Path<H>,
        flags: Flags,
        values: &[Scalar],
    ) -> Result<Vec<(Path<H>, NodeId)>, Lost> {
        let fits = |made: &Allocated| {
            let of = path.state.heap.flags(made.node);
            of.of == flags.of && of.kind == Kind::Candidate && made.values.as_slice() == values
        };
        let Some(at) = path.allocated.iter().position(fits) else {
            let node = path.state.heap.allocate(flags)?;
            return Ok(vec![(path, node)]);
        };
        let node = path.allocated.remove(at).node;
        let mut out = Vec::new();
        for mut path in focus_duo(path, node)? {
            path.state.heap.correlate(node);
            publish(&mut path.state.heap, node);
            out.push((path, node));
        }
        Ok(out)
    }

    fn assign<H: Heap>(&self, mut path: Path<H>, target: &LocalTarget, term: &Term) -> Path<H> {
        match target {
            LocalTarget::Local(local) => self.assign_words(path, *local, &flat(term)),
            LocalTarget::Component(local, at) => {
                let local = index_of(*local);
                let types = crate::value::components(&self.code.body.locals[local].ty);
                let types = types.unwrap_or_default();
                let before: usize = types.iter().take(*at).map(|ty| crate::value::width(ty)).sum();
                let start = self.code.offsets[local] + before;
                for (to, word) in path.locals[start..].iter_mut().zip(flat(term)) {
                    *to = word;
                }
                path
            }
            // Programs that have these are refused before anything is executed.
            LocalTarget::ThreadLocal(_) | LocalTarget::Element(..) => path,
        }
    }

    fn assign_words<H: Heap>(
        &self,
        mut path: Path<H>,
        local: LocalId,
        words: &[Scalar],
    ) -> Path<H> {
        let local = index_of(local);
        let start = self.code.offsets[local];
        let count = crate::value::width(&self.code.body.locals[local].ty);
        for (to, word) in path.locals[start..start + count].iter_mut().zip(words) {
            *to = *word;
        }
        path
    }

    /// The value of an expression.
    pub fn term<H: Heap>(&self, path: &Path<H>, expr: &Expr, line: u32) -> Result<Term, Failure> {
        let environment = Environment {
            variables: &self.code.body.locals,
            offsets: &self.code.offsets,
            words: &path.locals,
            integers: self.model.integers,
        };
        environment.term(expr).map_err(|undefined| match undefined {
            Undefined::Fault(fault) => self.fault(fault, line),
            Undefined::Lost(lost) => self.failure(Cause::Lost(lost), line),
        })
    }

    /// The value of an expression of one word.
    pub fn word<H: Heap>(&self, path: &Path<H>, expr: &Expr, line: u32) -> Result<Scalar, Failure> {
        match self.term(path, expr, line)? {
            Term::Word(word) => Ok(word),
            Term::List(_) => Err(self.failure(Cause::Lost(Lost::Value), line)),
        }
    }

    pub(crate) fn fault(&self, fault: Fault, line: u32) -> Failure {
        self.failure(
            match self.actor.side() {
                Side::Candidate => Cause::Fault(fault),
                Side::Reference => Cause::Reference(ReferenceFault::Fails(fault)),
            },
            line,
        )
    }

    /// What stops the proof here.
    pub fn failure(&self, cause: Cause, line: u32) -> Failure {
        Failure { cause, operation: self.operation, line }
    }
}

/// The states in which all links of a node go to one place each, on both sides. A thread that
/// writes a link looks first, so that a duo-object is uniform exactly if its links agree.
pub fn focus_duo<H: Heap>(path: Path<H>, node: NodeId) -> Result<Vec<Path<H>>, Lost> {
    let mut paths = vec![path];
    for side in [Side::Candidate, Side::Reference] {
        for link in 0..u8::try_from(LINKS).unwrap_or_default() {
            let mut next = Vec::new();
            for path in paths {
                let kind = path.state.heap.flags(node).kind;
                let other = match side {
                    Side::Candidate => Kind::Reference,
                    Side::Reference => Kind::Candidate,
                };
                if kind == other || path.state.heap.definite(side, node, link).is_some() {
                    next.push(path);
                    continue;
                }
                for (heap, _) in path.state.heap.load(side, node, link)? {
                    let mut path = path.clone();
                    path.state.heap = heap;
                    next.push(path);
                }
            }
            paths = next;
        }
    }
    Ok(paths)
}

/// Ends the ownership of a node and of the private nodes that can be reached from it.
pub fn publish<H: Heap>(heap: &mut H, node: NodeId) {
    let mut flags = heap.flags(node);
    if flags.owner.take().is_none() {
        return;
    }
    heap.set_flags(node, flags);
    for link in 0..LINKS {
        let link = u8::try_from(link).unwrap_or_default();
        for to in heap.targets(Side::Candidate, node, link) {
            publish(heap, to);
        }
    }
}

/// One path for each truth value that is not known.
pub fn split<H: Clone>(path: Path<H>, term: Term) -> Vec<(Path<H>, Term)> {
    match first_open(&term) {
        None => vec![(path, term)],
        Some(()) => {
            let mut out = vec![];
            for truth in [false, true] {
                let mut known = term.clone();
                decide(&mut known, truth);
                out.extend(split(path.clone(), known));
            }
            out
        }
    }
}

fn first_open(term: &Term) -> Option<()> {
    match term {
        Term::Word(Scalar::AnyBool) => Some(()),
        Term::Word(_) => None,
        Term::List(items) => items.iter().find_map(first_open),
    }
}

/// Sets the first truth value that is not known. Whether it has set one.
fn decide(term: &mut Term, truth: bool) -> bool {
    match term {
        Term::Word(word @ Scalar::AnyBool) => {
            *word = Scalar::Bool(truth);
            true
        }
        Term::Word(_) => false,
        Term::List(items) => items.iter_mut().any(|item| decide(item, truth)),
    }
}

/// The words of a value.
pub fn flat(term: &Term) -> Words {
    let mut words = Words::new();
    term.flatten(&mut words);
    words
}

fn index(at: At) -> usize {
    usize::try_from(at.0).unwrap_or_default()
}

fn index_of(local: LocalId) -> usize {
    usize::try_from(local.0).unwrap_or_default()
}
