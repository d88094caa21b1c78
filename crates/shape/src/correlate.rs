//! The correlating semantics (paper 001, Appendix C): the moves of a thread, with the reference run
//! at each linearization point.
//!
//! A move of a thread is a step, or a call together with its first step; a response belongs to the
//! step that ends with it. The executions left out carry less real-time order than those.

use crate::execute::{Actor, Ended, Executor, Path, focus_duo, split};
use crate::failure::{Cause, Failure, ReferenceFault};
use crate::heap::{Flags, Heap, Lost, Side};
use crate::model::{Code, Does, ListNode, Model, Reference};
use crate::state::{Phase, State, Thread};
use crate::value::{Class, Integers, Scalar, Term};
use linchpin_ir::program::{NodeId as At, Point, Type};
use smallvec::{SmallVec, smallvec};
use std::sync::atomic::{AtomicU64, Ordering};

/// How answers that change nothing are explained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PureAnswers {
    /// At some instant since the call the reference would have answered so.
    #[default]
    Seen,
    /// The reference is asked at the claimed `when returns` point (paper 001, Section A.1).
    Claimed,
}

/// When the reference runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunsAt {
    /// At the linearization points that the model claims.
    #[default]
    Points,
    /// At the response: any instant will do where operations run alone.
    Response,
}

/// What a view knows of the locks that its thread does not hold. `Free` means in a view that the
/// thread does not hold it, `Other` that another surely does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locks {
    /// Nothing. That no two threads hold the same lock is known where their views are joined.
    #[default]
    Mine,
    /// Whether another thread holds a lock that is a shared variable, or that of the last node
    /// below the arbitrary key.
    Edge,
}

/// What a move leads to.
#[derive(Clone, Debug)]
pub struct Moved<H> {
    /// The state after it.
    pub state: State<H>,
    /// Whether another thread can notice it.
    pub visible: bool,
}

/// Makes the moves of a program.
#[derive(Debug)]
pub struct Machine {
    /// The program.
    pub model: Model,
    /// How answers that change nothing are explained.
    pub pure: PureAnswers,
    /// When the reference runs.
    pub runs_at: RunsAt,
    /// What views know of locks.
    pub locks: Locks,
    /// The operations, a bit each, for which answers that change nothing are noted.
    pub seen_for: u64,
    /// For each operation and node, which edges have been taken.
    taken: Vec<Vec<AtomicU64>>,
    /// Which operations have returned, a bit each.
    returned: AtomicU64,
}

/// Whether a step is one of the thread under study, or only matters for what others see of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// Its answers are.
    Yes,
    /// They have been where the thread was under study. Steps that fail are reported all the same.
    No,
}

impl Machine {
    /// Prepares a program.
    pub fn new(model: Model, pure: PureAnswers, runs_at: RunsAt) -> Machine {
        let counters =
            |code: &Code| code.body.nodes.iter().map(|_| AtomicU64::new(0)).collect::<Vec<_>>();
        let taken = model.operations.iter().map(counters).collect();
        Machine {
            model,
            pure,
            runs_at,
            locks: Locks::Edge,
            seen_for: u64::MAX,
            taken,
            returned: AtomicU64::new(0),
        }
    }

    /// Whether answers that change nothing are noted for an operation.
    pub fn notes_seen(&self, operation: usize) -> bool {
        operation >= 64 || self.seen_for >> operation & 1 == 1
    }

    /// The steps that were never taken: an operation and a source line each.
    pub fn unreached(&self) -> Vec<(usize, u32)> {
        let mut lines = Vec::new();
        for (operation, nodes) in self.taken.iter().enumerate() {
            let code = &self.model.operations[operation];
            for (at, taken) in nodes.iter().enumerate() {
                let taken = taken.load(Ordering::Relaxed);
                for (edge, _) in code.body.nodes[at].edges.iter().enumerate() {
                    if edge < 64 && taken >> edge & 1 == 0 {
                        lines.push((operation, code.body.nodes[at].line));
                    }
                }
            }
        }
        lines.dedup();
        lines
    }

    /// Forgets which steps were taken and what has returned: a finer exploration begins.
    pub fn forget_taken(&self) {
        self.returned.store(0, Ordering::Relaxed);
        for counter in self.taken.iter().flatten() {
            counter.store(0, Ordering::Relaxed);
        }
    }

    /// An operation of which no call has returned.
    pub fn never_returned(&self) -> Option<usize> {
        let returned = self.returned.load(Ordering::Relaxed);
        let mut called = self.model.roles.iter().flatten().copied();
        called.find(|operation| *operation < 64 && returned >> operation & 1 == 0)
    }

    /// What a thread of the state can do next.
    pub fn moves<H: Heap>(
        &self,
        state: &State<H>,
        thread: u8,
        judged: Judged,
    ) -> Result<Vec<Moved<H>>, Failure> {
        let mut out = Vec::new();
        match state.threads[usize::from(thread)].at {
            Some((operation, node)) => {
                let locals = state.threads[usize::from(thread)].locals.clone();
                self.step(state.clone(), thread, locals, operation, node, judged, &mut out)?;
            }
            None => {
                let role = usize::from(state.threads[usize::from(thread)].role);
                for operation in &self.model.roles[role] {
                    self.call(state, thread, *operation, judged, &mut out)?;
                }
            }
        }
        Ok(out)
    }

    /// Calls an operation with everything that it may be called with, and makes its first step.
    fn call<H: Heap>(
        &self,
        state: &State<H>,
        thread: u8,
        operation: usize,
        judged: Judged,
        out: &mut Vec<Moved<H>>,
    ) -> Result<(), Failure> {
        for arguments in self.arguments(&self.model.operations[operation]) {
            self.call_with(state, thread, operation, arguments, judged, out)?;
        }
        Ok(())
    }

    /// Calls an operation with these arguments, and makes its first step.
    pub(crate) fn call_with<H: Heap>(
        &self,
        state: &State<H>,
        thread: u8,
        operation: usize,
        arguments: SmallVec<[Scalar; 2]>,
        judged: Judged,
        out: &mut Vec<Moved<H>>,
    ) -> Result<(), Failure> {
        let code = &self.model.operations[operation];
        let number = u8::try_from(operation).unwrap_or(u8::MAX);
        let mut state = state.clone();
        let mut locals = code.initial(self.model.integers);
        for (at, word) in arguments.iter().enumerate() {
            locals[code.offsets[at]] = *word;
        }
        let caller = &mut state.threads[usize::from(thread)];
        *caller = Thread { arguments, at: Some((number, 0)), ..Thread::idle(caller.role) };
        self.tick(&mut state)?;
        let path = Path { state, locals, visible: false, allocated: smallvec![] };
        let ended = match (self.executor(thread, operation).run(path, code.body.entry), judged) {
            (Ok(ended), _) => ended,
            (Err(failure), Judged::Yes) => return Err(failure),
            (Err(_), Judged::No) => return Ok(()),
        };
        for ended in ended {
            match ended {
                Ended::At(mut path, At(node)) => {
                    let node = u16::try_from(node).unwrap_or(u16::MAX);
                    path.state.threads[usize::from(thread)].allocated =
                        path.allocated.into_iter().next();
                    let (state, locals) = (path.state, path.locals);
                    let first = out.len();
                    self.step(state, thread, locals, number, node, judged, out)?;
                    // What the local part of the call did belongs to the move.
                    for moved in &mut out[first..] {
                        moved.visible |= path.visible;
                    }
                }
                Ended::Returned(path, answer, line) => {
                    self.respond(path, thread, operation, &answer, line, judged, out)?;
                }
            }
        }
        Ok(())
    }

    /// The lists of arguments that an operation may be called with.
    pub(crate) fn arguments(&self, code: &Code) -> Vec<SmallVec<[Scalar; 2]>> {
        let mut all: Vec<SmallVec<[Scalar; 2]>> = vec![smallvec![]];
        for (at, ty) in code.parameters.iter().enumerate() {
            let number = Scalar::Argument(u8::try_from(at).unwrap_or(u8::MAX));
            let values: &[Scalar] = match (ty, self.model.integers) {
                (Type::Int, Integers::Keys) => {
                    &[Scalar::Key(Class::Below), Scalar::Key(Class::At), Scalar::Key(Class::Above)]
                }
                (Type::Int, Integers::Values) => &[number],
                (Type::Bool, _) => &[Scalar::Bool(false), Scalar::Bool(true)],
                (Type::Option(_), Integers::Values) => &[Scalar::Null, number],
                _ => &[Scalar::Any],
            };
            let longer = |list: &SmallVec<[Scalar; 2]>, value: &Scalar| {
                let mut list = list.clone();
                list.push(*value);
                list
            };
            all = all
                .iter()
                .flat_map(|list| values.iter().map(move |value| longer(list, value)))
                .collect();
        }
        all
    }

    fn executor(&self, thread: u8, operation: usize) -> Executor<'_> {
        Executor {
            model: &self.model,
            code: &self.model.operations[operation],
            actor: Actor::Thread(thread),
            operation,
            machine: Some(self),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn step<H: Heap>(
        &self,
        state: State<H>,
        thread: u8,
        locals: SmallVec<[Scalar; 10]>,
        operation: u8,
        node: u16,
        judged: Judged,
        out: &mut Vec<Moved<H>>,
    ) -> Result<(), Failure> {
        let allocated = state.threads[usize::from(thread)].allocated.iter().cloned().collect();
        let path = Path { state, locals, visible: false, allocated };
        let executor = self.executor(thread, usize::from(operation));
        for ended in executor.run(path, At(u32::from(node)))? {
            match ended {
                Ended::At(path, at) => self.pause(path, thread, operation, at, judged, out)?,
                Ended::Returned(path, answer, line) => {
                    let operation = usize::from(operation);
                    self.respond(path, thread, operation, &answer, line, judged, out)?;
                }
            }
        }
        Ok(())
    }

    /// The step ends where other threads may run: what will not be read again is forgotten.
    fn pause<H: Heap>(
        &self,
        path: Path<H>,
        thread: u8,
        operation: u8,
        at: At,
        judged: Judged,
        out: &mut Vec<Moved<H>>,
    ) -> Result<(), Failure> {
        let Path { mut state, mut locals, visible, allocated } = path;
        let live = &self.model.operations[usize::from(operation)].live
            [usize::try_from(at.0).unwrap_or_default()];
        for (word, live) in locals.iter_mut().zip(live) {
            if !live {
                *word = Scalar::Dead;
            }
        }
        let mover = &mut state.threads[usize::from(thread)];
        mover.at = Some((operation, u16::try_from(at.0).unwrap_or(u16::MAX)));
        mover.locals = locals;
        mover.allocated = match mover.phase {
            Phase::Pre => allocated.into_iter().next(),
            Phase::Post(_) => None,
        };
        self.finish(state, visible, judged, out)
    }

    /// The rules *finish* and *wrong* (paper 001, Figure C.3).
    #[allow(clippy::too_many_arguments)]
    fn respond<H: Heap>(
        &self,
        path: Path<H>,
        thread: u8,
        operation: usize,
        answer: &Term,
        line: u32,
        judged: Judged,
        out: &mut Vec<Moved<H>>,
    ) -> Result<(), Failure> {
        let paths: Vec<Path<H>> = match (self.runs_at, self.is_judged(&path.state, thread)) {
            (RunsAt::Response, true) => {
                let pre = path.state.threads[usize::from(thread)].phase == Phase::Pre;
                match pre {
                    true => self.linearize(path, thread, operation, line)?,
                    false => vec![path],
                }
            }
            _ => vec![path],
        };
        if operation < 64 {
            self.returned.fetch_or(1 << operation, Ordering::Relaxed);
        }
        for path in paths {
            let caller = &path.state.threads[usize::from(thread)];
            if judged == Judged::Yes && self.is_judged(&path.state, thread) {
                self.judge(caller, operation, answer, line)?;
            }
            let Path { mut state, visible, .. } = path;
            let role = state.threads[usize::from(thread)].role;
            state.threads[usize::from(thread)] = Thread::idle(role);
            self.finish(state, visible, judged, out)?;
        }
        Ok(())
    }

    /// Only calls about the arbitrary key are compared; the others are interference.
    pub fn is_judged<H: Heap>(&self, state: &State<H>, thread: u8) -> bool {
        match self.model.integers {
            Integers::Values => true,
            Integers::Keys => {
                let arguments = &state.threads[usize::from(thread)].arguments;
                arguments.first() == Some(&Scalar::Key(Class::At))
            }
        }
    }

    fn judge(
        &self,
        caller: &Thread,
        operation: usize,
        answer: &Term,
        line: u32,
    ) -> Result<(), Failure> {
        let unit = self.model.operations[operation].response == Type::Unit;
        let word = match answer {
            Term::Word(word) => *word,
            Term::List(_) => Scalar::Any,
        };
        let wrong = |cause: Cause| Err(Failure { cause, operation, line });
        match caller.phase {
            Phase::Post(_) if unit => Ok(()),
            Phase::Post(expected) if same_answer(expected, word) => Ok(()),
            Phase::Post(_) => wrong(Cause::WrongAnswer),
            Phase::Pre => {
                let explained = match self.pure {
                    PureAnswers::Seen => {
                        seen_bit(word).is_some_and(|bit| caller.seen >> bit & 1 == 1)
                    }
                    PureAnswers::Claimed => caller.asked.is_some_and(|asked| asked == word),
                };
                match explained && !unit {
                    true => Ok(()),
                    false => wrong(Cause::NoPoint),
                }
            }
        }
    }

    /// The end of a move: what the reference would answer now is noted, and what cannot be is
    /// dropped. A state of a join is brought into canonical form when it has been projected.
    fn finish<H: Heap>(
        &self,
        mut state: State<H>,
        visible: bool,
        judged: Judged,
        out: &mut Vec<Moved<H>>,
    ) -> Result<(), Failure> {
        let list = state.list(self.model.root);
        if state.heap.coerce(list.as_ref()) {
            self.tick(&mut state)?;
            if judged == Judged::Yes {
                state.canonical();
            }
            out.push(Moved { state, visible });
        }
        Ok(())
    }

    /// Notes for every pending operation which answer, of those that change nothing, the reference
    /// would give now.
    pub fn tick<H: Heap>(&self, state: &mut State<H>) -> Result<(), Failure> {
        if self.pure != PureAnswers::Seen || self.runs_at == RunsAt::Response {
            return Ok(());
        }
        for thread in 0..state.threads.len() {
            let number = u8::try_from(thread).unwrap_or(u8::MAX);
            let pending = &state.threads[thread];
            let (Some((operation, _)), Phase::Pre) = (pending.at, pending.phase) else { continue };
            if !self.is_judged(state, number) || !self.notes_seen(usize::from(operation)) {
                continue;
            }
            let answer = self.pure_answer(state, number, usize::from(operation))?;
            if let Some(bit) = answer.and_then(seen_bit) {
                state.threads[thread].seen |= 1 << bit;
            }
        }
        Ok(())
    }

    /// The constant that the reference would surely answer now, leaving the object as it is.
    fn pure_answer<H: Heap>(
        &self,
        state: &State<H>,
        thread: u8,
        operation: usize,
    ) -> Result<Option<Scalar>, Failure> {
        let held = |at: usize| state.reference.get(at).copied().unwrap_or(Scalar::Any);
        let does = self.model.does[operation];
        Ok(match (&self.model.reference, does) {
            (Reference::Stack(_), Does::Take | Does::Peek) if held(0) == Scalar::Null => {
                Some(Scalar::Null)
            }
            (Reference::Queue(_), Does::Take | Does::Peek) if held(0) == held(1) => {
                Some(Scalar::Null)
            }
            (Reference::Bit, Does::Contains) => Some(held(0)),
            (Reference::Bit, Does::Add) if held(0) == Scalar::Bool(true) => {
                Some(Scalar::Bool(false))
            }
            (Reference::Bit, Does::Remove) if held(0) == Scalar::Bool(false) => {
                Some(Scalar::Bool(false))
            }
            (Reference::Program(_), _) => {
                let path = Path {
                    state: state.clone(),
                    locals: smallvec![],
                    visible: false,
                    allocated: smallvec![],
                };
                let mut answer = None;
                for path in self.linearize(path, thread, operation, 0)? {
                    let Phase::Post(word) = path.state.threads[usize::from(thread)].phase else {
                        return Ok(None);
                    };
                    let same = answer.is_none_or(|other| other == word);
                    if path.visible || !same {
                        return Ok(None);
                    }
                    answer = Some(word);
                }
                answer
            }
            _ => None,
        })
    }

    /// A claimed linearization point is passed.
    pub fn point<H: Heap>(
        &self,
        path: Path<H>,
        point: &Point,
        executor: &Executor<'_>,
        line: u32,
    ) -> Result<Vec<Path<H>>, Failure> {
        let Actor::Thread(thread) = executor.actor else { return Ok(vec![path]) };
        if self.runs_at == RunsAt::Response || !self.is_judged(&path.state, thread) {
            return Ok(vec![path]);
        }
        match point {
            Point::When(condition) => {
                let holds = executor.term(&path, condition, line)?;
                let mut out = Vec::new();
                for (path, term) in split(path, holds) {
                    match term {
                        Term::Word(Scalar::Bool(true)) => {
                            if path.state.threads[usize::from(thread)].phase != Phase::Pre {
                                return Err(executor.failure(Cause::SecondPoint, line));
                            }
                            out.extend(self.linearize(path, thread, executor.operation, line)?);
                        }
                        _ => out.push(path),
                    }
                }
                Ok(out)
            }
            Point::Returns { .. } if self.pure == PureAnswers::Claimed => {
                let mut path = path;
                let answer = match path.state.threads[usize::from(thread)].phase {
                    Phase::Pre => self.pure_answer(&path.state, thread, executor.operation)?,
                    Phase::Post(_) => None,
                };
                let constant = answer.filter(|answer| seen_bit(*answer).is_some());
                path.state.threads[usize::from(thread)].asked = constant;
                Ok(vec![path])
            }
            Point::Returns { .. } => Ok(vec![path]),
        }
    }

    /// The reference executes the operation of a thread to the end (rules *lin-point* and
    /// *reference*).
    pub(crate) fn linearize<H: Heap>(
        &self,
        path: Path<H>,
        thread: u8,
        operation: usize,
        line: u32,
    ) -> Result<Vec<Path<H>>, Failure> {
        let does = self.model.does[operation];
        let lost = |lost: Lost| Failure { cause: Cause::Lost(lost), operation, line };
        match &self.model.reference {
            Reference::Stack(node) => self.stack(path, thread, does, *node).map_err(lost),
            Reference::Queue(node) => self.queue(path, thread, does, *node).map_err(lost),
            Reference::Bit => Ok(vec![bit(path, thread, does)]),
            Reference::Program(_) => self.reference_program(path, thread, operation, line),
        }
    }

    fn stack<H: Heap>(
        &self,
        path: Path<H>,
        thread: u8,
        does: Does,
        list: ListNode,
    ) -> Result<Vec<Path<H>>, Lost> {
        let top = path.state.reference[0];
        match (does, top) {
            (Does::Put, _) => {
                let mut out = Vec::new();
                for (mut path, node) in self.reference_node(path, thread, list)? {
                    path.state.heap.store(Side::Reference, node, list.link, top.node());
                    path.state.reference[0] = Scalar::Node(node);
                    out.push(answered(path, thread, Scalar::Dead));
                }
                Ok(out)
            }
            (Does::Take, Scalar::Node(first)) => {
                let mut out = Vec::new();
                for (heap, to) in path.state.heap.load(Side::Reference, first, list.link)? {
                    let mut path = path.clone();
                    path.state.heap = heap;
                    path.state.reference[0] = to.map_or(Scalar::Null, Scalar::Node);
                    out.push(answered(path, thread, Scalar::ValueOf(first, list.value)));
                }
                Ok(out)
            }
            (Does::Peek, Scalar::Node(first)) => {
                let answer = Scalar::ValueOf(first, list.value);
                Ok(vec![quietly(path, thread, answer)])
            }
            _ => Ok(vec![quietly(path, thread, Scalar::Null)]),
        }
    }

    fn queue<H: Heap>(
        &self,
        path: Path<H>,
        thread: u8,
        does: Does,
        list: ListNode,
    ) -> Result<Vec<Path<H>>, Lost> {
        let (Some(head), Some(tail)) =
            (path.state.reference[0].node(), path.state.reference[1].node())
        else {
            return Err(Lost::Value);
        };
        if does == Does::Put {
            let mut out = Vec::new();
            for (path, node) in self.reference_node(path, thread, list)? {
                for mut path in focus_duo(path, tail)? {
                    path.state.heap.store(Side::Reference, tail, list.link, Some(node));
                    path.state.reference[1] = Scalar::Node(node);
                    out.push(answered(path, thread, Scalar::Dead));
                }
            }
            return Ok(out);
        }
        if head == tail {
            return Ok(vec![quietly(path, thread, Scalar::Null)]);
        }
        let mut out = Vec::new();
        for (heap, to) in path.state.heap.load(Side::Reference, head, list.link)? {
            // The reference list goes from its head to its tail without a gap.
            let Some(first) = to else { continue };
            let mut path = path.clone();
            path.state.heap = heap;
            let answer = Scalar::ValueOf(first, list.value);
            if does == Does::Take {
                path.state.reference[0] = Scalar::Node(first);
                out.push(answered(path, thread, answer));
            } else {
                out.push(quietly(path, thread, answer));
            }
        }
        Ok(out)
    }

    /// The node that the reference allocates for the argument of a call.
    fn reference_node<H: Heap>(
        &self,
        path: Path<H>,
        thread: u8,
        list: ListNode,
    ) -> Result<Vec<(Path<H>, crate::value::NodeId)>, Lost> {
        let flags = Flags::of_reference(list.of);
        let operation = path.state.threads[usize::from(thread)].at.map_or(0, |(at, _)| at);
        let executor = self.executor(thread, usize::from(operation));
        executor.correlated(path, flags, &[Scalar::Argument(0)])
    }

    fn reference_program<H: Heap>(
        &self,
        path: Path<H>,
        thread: u8,
        operation: usize,
        line: u32,
    ) -> Result<Vec<Path<H>>, Failure> {
        let code = &self.model.reference_operations[operation];
        let mut locals = code.initial(self.model.integers);
        let arguments = path.state.threads[usize::from(thread)].arguments.clone();
        for (at, word) in arguments.iter().enumerate() {
            locals[code.offsets[at]] = *word;
        }
        let fault =
            |fault: ReferenceFault| Failure { cause: Cause::Reference(fault), operation, line };
        let executor = Executor {
            model: &self.model,
            code,
            actor: Actor::Reference(thread),
            operation,
            machine: None,
        };
        let (kept, visible) = (path.locals.clone(), path.visible);
        let mut work = vec![(Path { locals, visible: false, ..path }, code.body.entry)];
        let mut out = Vec::new();
        let mut runs = 0;
        while let Some((path, at)) = work.pop() {
            runs += 1;
            if runs > MOST_REFERENCE_STEPS {
                return Err(fault(ReferenceFault::Loops));
            }
            let ended = executor.run(path, at).map_err(|failure| match failure.cause {
                Cause::EndlessStep => fault(ReferenceFault::Loops),
                _ => Failure { line, ..failure },
            })?;
            if ended.is_empty() {
                return Err(fault(ReferenceFault::Blocks));
            }
            for ended in ended {
                match ended {
                    Ended::At(path, at) => work.push((path, at)),
                    Ended::Returned(mut path, answer, _) => {
                        path.locals = kept.clone();
                        let word = match answer {
                            Term::Word(word) => word,
                            Term::List(_) => Scalar::Any,
                        };
                        let changed = path.visible;
                        path.visible |= visible;
                        path = quietly(path, thread, word);
                        path.visible = changed | visible;
                        out.push(path);
                    }
                }
            }
        }
        Ok(out)
    }

    /// Notes that an edge was taken.
    pub fn take(&self, operation: usize, node: usize, edge: usize) {
        if edge < 64 {
            let counter = &self.taken[operation][node];
            if counter.load(Ordering::Relaxed) >> edge & 1 == 0 {
                counter.fetch_or(1 << edge, Ordering::Relaxed);
            }
        }
    }
}

/// The reference may make at most this many steps in one operation.
const MOST_REFERENCE_STEPS: usize = 400;

/// The reference has answered, and has changed the object.
fn answered<H>(mut path: Path<H>, thread: u8, answer: Scalar) -> Path<H> {
    path.visible = true;
    quietly(path, thread, answer)
}

/// The reference has answered, and has left the object as it was.
fn quietly<H>(mut path: Path<H>, thread: u8, answer: Scalar) -> Path<H> {
    path.state.threads[usize::from(thread)].phase = Phase::Post(answer);
    path
}

/// The reference of a set, seen through one key.
fn bit<H>(mut path: Path<H>, thread: u8, does: Does) -> Path<H> {
    let present = path.state.reference[0] == Scalar::Bool(true);
    let (after, answer) = match does {
        Does::Add => (true, !present),
        Does::Remove => (false, present),
        _ => (present, present),
    };
    path.visible |= after != present;
    path.state.reference[0] = Scalar::Bool(after);
    quietly(path, thread, Scalar::Bool(answer))
}

/// Whether two answers are surely equal. Duo-objects have the same values on both sides.
pub(crate) fn same_answer(expected: Scalar, answer: Scalar) -> bool {
    matches!(crate::evaluate::equal_words(expected, answer), Some(true))
}

/// The number of the bit that says that a constant answer has been seen.
fn seen_bit(answer: Scalar) -> Option<u8> {
    match answer {
        Scalar::Null => Some(0),
        Scalar::Bool(false) => Some(1),
        Scalar::Bool(true) => Some(2),
        _ => None,
    }
}
