//! The correlating semantics, written again: what a thread can do next, with the reference run at
//! each linearization point.
//!
//! A call is taken together with its first step, and a response with its last: every other
//! execution has less real-time order. A response is right if the reference gave the same answer at
//! the point, or if there was no point and the answer is one that the reference would have given at
//! some instant since the call, leaving the object as it is.

use super::evaluate::{equal, local_index};
use super::heap::{correlate, definite, follow, owned_is_private, publish, store};
use super::list;
use super::model::{Does, ListNode, Model, Reference, width};
use super::state::{Class, Flags, Id, Kind, Made, Seen, Side, State, Thread, Word};
use super::step::{Actor, Code, Ended, Path, blank, with_null_links};
use super::wrong::What;
use linchpin_ir::liveness::live_locals;
use linchpin_ir::program::{Body, Expr, Operation, Point, Target, Type};
use std::collections::BTreeSet;

/// The reference may take so many steps for one call.
const MOST_REFERENCE_STEPS: usize = 400;

/// Makes the moves of a model.
pub struct Checker {
    /// The model.
    pub model: Model,
    /// For each operation and node, which words of the locals may be read again.
    live: Vec<Vec<Vec<bool>>>,
    /// The same for those that the step from there may read.
    read: Vec<Vec<Vec<bool>>>,
}

/// A move.
pub struct Moved {
    /// The state after it.
    pub state: State,
    /// Whether another thread can notice it.
    pub noticed: bool,
}

/// Whether the answers of a thread are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// They are.
    Yes,
    /// They are where the thread has its own view.
    Elsewhere,
}

impl Checker {
    /// A checker for a model.
    pub fn new(model: Model) -> Checker {
        let (mut live, mut read) = (Vec::new(), Vec::new());
        for Operation { body, .. } in &model.program.operations {
            let spread = |of_locals: Vec<bool>| -> Vec<bool> {
                let words = body.locals.iter().map(|local| width(&local.ty));
                let words = of_locals.into_iter().zip(words);
                words.flat_map(|(is, width)| std::iter::repeat_n(is, width)).collect()
            };
            live.push(live_locals(body).into_iter().map(spread).collect());
            read.push((0..body.nodes.len()).map(|at| spread(read_by_step(body, at))).collect());
        }
        Checker { model, live, read }
    }

    /// A new node with null links.
    pub fn add(&self, state: &mut State, flags: Flags) -> Id {
        let node = state.fresh();
        let links = self.model.links(flags.of);
        state.nodes.insert(node, with_null_links(flags, links));
        node
    }

    /// A view without what the next step of its thread does not read. To forget only adds
    /// behaviour; what is read all the same is then unknown.
    pub fn needed(&self, view: &State) -> State {
        let mut view = view.clone();
        for thread in &mut view.threads {
            if let Some((operation, node)) = thread.at
                && let Some(read) = self.read.get(operation).and_then(|read| read.get(node))
            {
                for (word, read) in thread.locals.iter_mut().zip(read) {
                    if !read {
                        *word = Word::Forgotten;
                    }
                }
            }
            thread.answered = thread.answered.map(|_| Word::Forgotten);
            thread.seen.clear();
        }
        view.canonical()
    }

    /// What a thread can do next.
    pub fn moves(&self, state: &State, thread: usize, judged: Judged) -> Result<Vec<Moved>, What> {
        let moving = state.threads.get(thread).ok_or(What::Beyond("a thread is missing"))?;
        let mut out = Vec::new();
        match moving.at {
            Some((operation, node)) => {
                let path = Path {
                    locals: moving.locals.clone(),
                    made: moving.made.iter().cloned().collect(),
                    state: state.clone(),
                    noticed: false,
                };
                self.step(path, thread, operation, node, judged, &mut out)?;
            }
            None => {
                let role =
                    self.model.roles.get(moving.role).ok_or(What::Beyond("a role is missing"))?;
                for operation in role {
                    self.call(state, thread, *operation, judged, &mut out)?;
                }
            }
        }
        Ok(out)
    }

    fn code(&self, actor: Actor, operation: usize) -> Result<Code<'_>, What> {
        let operations = &self.model.program.operations;
        let found = operations.get(operation).ok_or(What::Beyond("an operation is missing"))?;
        Ok(Code { checker: self, body: &found.body, actor, operation })
    }

    fn call(
        &self,
        state: &State,
        thread: usize,
        operation: usize,
        judged: Judged,
        out: &mut Vec<Moved>,
    ) -> Result<(), What> {
        let code = self.code(Actor::Thread(thread), operation)?;
        for arguments in self.arguments(operation) {
            let mut state = state.clone();
            let caller = &mut state.threads[thread];
            let locals = code.start(&arguments);
            *caller = Thread { at: Some((operation, 0)), arguments, ..Thread::idle(caller.role) };
            self.tick(&mut state)?;
            let path = Path { state, locals, made: Vec::new(), noticed: false };
            let entry = usize::try_from(code.body.entry.0).unwrap_or(usize::MAX);
            for (path, ended) in code.run(path, entry)? {
                match ended {
                    Ended::At(node) => self.step(path, thread, operation, node, judged, out)?,
                    Ended::Returned(answer) => {
                        self.respond(path, thread, operation, answer, judged, out)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Every list of arguments that an operation may be called with.
    fn arguments(&self, operation: usize) -> Vec<Vec<Word>> {
        let mut all = vec![Vec::new()];
        for (at, parameter) in
            self.model.program.operations[operation].parameters.iter().enumerate()
        {
            let words = match (&parameter.ty, self.model.keys) {
                (Type::Int, true) => {
                    [Class::Below, Class::At, Class::Above].map(Word::Key).to_vec()
                }
                (Type::Int, false) => vec![Word::Argument(at)],
                (Type::Bool, _) => vec![Word::Bool(false), Word::Bool(true)],
                (Type::Option(_), false) => vec![Word::Null, Word::Argument(at)],
                _ => vec![Word::Any],
            };
            let longer = |list: &Vec<Word>| {
                let list = list.clone();
                words.iter().map(move |word| [list.clone(), vec![*word]].concat())
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    fn step(
        &self,
        path: Path,
        thread: usize,
        operation: usize,
        node: usize,
        judged: Judged,
        out: &mut Vec<Moved>,
    ) -> Result<(), What> {
        for (path, ended) in self.code(Actor::Thread(thread), operation)?.run(path, node)? {
            match ended {
                Ended::At(next) => self.pause(path, thread, operation, next, out)?,
                Ended::Returned(answer) => {
                    self.respond(path, thread, operation, answer, judged, out)?;
                }
            }
        }
        Ok(())
    }

    /// The step ends where other threads may run. What is not read again is forgotten, which only
    /// adds behaviour.
    fn pause(
        &self,
        path: Path,
        thread: usize,
        operation: usize,
        node: usize,
        out: &mut Vec<Moved>,
    ) -> Result<(), What> {
        let Path { mut state, mut locals, made, noticed } = path;
        for (word, live) in locals.iter_mut().zip(&self.live[operation][node]) {
            if !live {
                *word = Word::Forgotten;
            }
        }
        let mover = &mut state.threads[thread];
        mover.at = Some((operation, node));
        mover.locals = locals;
        mover.made = made.into_iter().next().filter(|_| mover.answered.is_none());
        self.finish(state, noticed, out)
    }

    fn respond(
        &self,
        path: Path,
        thread: usize,
        operation: usize,
        answer: Word,
        judged: Judged,
        out: &mut Vec<Moved>,
    ) -> Result<(), What> {
        let Path { mut state, noticed, .. } = path;
        let caller = &state.threads[thread];
        let nothing = self.model.program.operations[operation].response == Type::Unit;
        if judged == Judged::Yes && self.is_compared(caller) {
            match caller.answered {
                Some(expected) if nothing || equal(expected, answer) == Some(true) => {}
                Some(_) => return Err(What::Answer),
                None => {
                    let seen = Seen::of(answer).is_some_and(|answer| caller.seen.contains(&answer));
                    if nothing || !seen {
                        return Err(What::NoPoint);
                    }
                }
            }
        }
        state.threads[thread] = Thread::idle(caller.role);
        self.finish(state, noticed, out)
    }

    /// Of a set only calls about K are compared: linearizability is local, and a set is one object
    /// for each key.
    fn is_compared(&self, thread: &Thread) -> bool {
        !self.model.keys || thread.arguments.first() == Some(&Word::Key(Class::At))
    }

    fn finish(&self, mut state: State, noticed: bool, out: &mut Vec<Moved>) -> Result<(), What> {
        if list::sharpen(&self.model, &mut state) {
            self.tick(&mut state)?;
            if !owned_is_private(&state) {
                return Err(What::Beyond("a private node may be seen by another thread"));
            }
            out.push(Moved { state, noticed });
        }
        Ok(())
    }

    /// Notes for every call that has not passed its point which answer, of those that leave the
    /// object as it is, the reference would surely give now.
    pub fn tick(&self, state: &mut State) -> Result<(), What> {
        for thread in 0..state.threads.len() {
            let pending = &state.threads[thread];
            let (Some((operation, _)), None) = (pending.at, pending.answered) else { continue };
            if self.is_compared(pending) {
                let answer = self.answer_now(state, thread, operation)?.and_then(Seen::of);
                state.threads[thread].seen.extend(answer);
            }
        }
        Ok(())
    }

    fn answer_now(
        &self,
        state: &State,
        thread: usize,
        operation: usize,
    ) -> Result<Option<Word>, What> {
        let does = self.model.does.get(operation).copied().unwrap_or(Does::Other);
        let word = |at: usize| state.reference.get(at).copied().unwrap_or(Word::Any);
        Ok(match (&self.model.reference, does) {
            (Reference::Stack(_), Does::Take | Does::Peek) if word(0) == Word::Null => {
                Some(Word::Null)
            }
            (Reference::Queue(_), Does::Take | Does::Peek) if word(0) == word(1) => {
                Some(Word::Null)
            }
            (Reference::Bit, Does::Contains) => Some(word(0)),
            (Reference::Bit, Does::Add) if word(0) == Word::Bool(true) => Some(Word::Bool(false)),
            (Reference::Bit, Does::Remove) if word(0) == Word::Bool(false) => {
                Some(Word::Bool(false))
            }
            (Reference::Program(_), _) => {
                let path = Path {
                    state: state.clone(),
                    locals: Vec::new(),
                    made: Vec::new(),
                    noticed: false,
                };
                let ends = self.linearize(path, thread, operation)?;
                let first = ends.first().and_then(|end| end.state.threads[thread].answered);
                // Anything written, be it the same value again, counts as a change.
                let same = |end: &Path| !end.noticed && end.state.threads[thread].answered == first;
                first.filter(|_| ends.iter().all(same))
            }
            _ => None,
        })
    }

    /// A claimed linearization point is passed. What `when returns` claims is not needed here.
    pub fn point(
        &self,
        path: Path,
        thread: usize,
        point: &Point,
        code: &Code<'_>,
    ) -> Result<Vec<Path>, What> {
        let Point::When(condition) = point else { return Ok(vec![path]) };
        let caller = path.state.threads.get(thread).ok_or(What::Beyond("a thread is missing"))?;
        if !self.is_compared(caller) {
            return Ok(vec![path]);
        }
        let mut out = Vec::new();
        for truth in code.truths(&path, condition)? {
            match truth {
                false => out.push(path.clone()),
                true if caller.answered.is_some() => return Err(What::SecondPoint),
                true => out.extend(self.linearize(path.clone(), thread, code.operation)?),
            }
        }
        Ok(out)
    }

    /// The reference executes the call of a thread.
    fn linearize(&self, path: Path, thread: usize, operation: usize) -> Result<Vec<Path>, What> {
        let does = self.model.does.get(operation).copied().unwrap_or(Does::Other);
        let mut out = Vec::new();
        for path in self.with_definite_nodes(path)? {
            out.extend(match &self.model.reference {
                Reference::Stack(list) => self.stack(path, thread, does, *list)?,
                Reference::Queue(list) => self.queue(path, thread, does, *list)?,
                Reference::Bit => vec![bit(path, thread, does)],
                Reference::Program(_) => self.program(path, thread, operation)?,
            });
        }
        Ok(out)
    }

    /// The nodes that the reference may take for its own: their links each go to one place.
    fn with_definite_nodes(&self, path: Path) -> Result<Vec<Path>, What> {
        let mut states = vec![path.state.clone()];
        for made in &path.made {
            let mut next = Vec::new();
            for state in states {
                next.extend(definite(&self.model, &state, made.node)?);
            }
            states = next;
        }
        Ok(states.into_iter().map(|state| Path { state, ..path.clone() }).collect())
    }

    fn stack(
        &self,
        mut path: Path,
        thread: usize,
        does: Does,
        list: ListNode,
    ) -> Result<Vec<Path>, What> {
        let top = path.state.reference[0];
        match (does, top) {
            (Does::Put, _) => {
                let node = self.reference_node(&mut path, list)?;
                store(&mut path.state, Side::Reference, node, list.link, top.node())?;
                path.state.reference[0] = Word::Node(node);
                Ok(vec![changed(path, thread, Word::Forgotten)])
            }
            (Does::Take, Word::Node(first)) => {
                let mut out = Vec::new();
                for (state, next) in
                    follow(&self.model, &path.state, Side::Reference, first, list.link)?
                {
                    let mut path = Path { state, ..path.clone() };
                    path.state.reference[0] = next.map_or(Word::Null, Word::Node);
                    out.push(changed(path, thread, Word::ValueOf(first, 0)));
                }
                Ok(out)
            }
            (Does::Peek, Word::Node(first)) => {
                Ok(vec![answered(path, thread, Word::ValueOf(first, 0))])
            }
            (Does::Take | Does::Peek, Word::Null) => Ok(vec![answered(path, thread, Word::Null)]),
            _ => Err(What::Beyond("a reference that is not a list")),
        }
    }

    fn queue(
        &self,
        path: Path,
        thread: usize,
        does: Does,
        list: ListNode,
    ) -> Result<Vec<Path>, What> {
        let (Word::Node(head), Word::Node(tail)) =
            (path.state.reference[0], path.state.reference[1])
        else {
            return Err(What::Beyond("a reference that is not a list"));
        };
        if does == Does::Put {
            let mut out = Vec::new();
            for state in definite(&self.model, &path.state, tail)? {
                let mut path = Path { state, ..path.clone() };
                let node = self.reference_node(&mut path, list)?;
                store(&mut path.state, Side::Reference, tail, list.link, Some(node))?;
                path.state.reference[1] = Word::Node(node);
                out.push(changed(path, thread, Word::Forgotten));
            }
            return Ok(out);
        }
        if head == tail {
            return Ok(vec![answered(path, thread, Word::Null)]);
        }
        let mut out = Vec::new();
        for (state, next) in follow(&self.model, &path.state, Side::Reference, head, list.link)? {
            // The list of the reference has no gap: `enqueue` alone writes links, those of the last
            // node, and makes the node that it links the last one.
            let Some(first) = next else { continue };
            let mut path = Path { state, ..path.clone() };
            let answer = Word::ValueOf(first, 0);
            if does == Does::Take {
                path.state.reference[0] = Word::Node(first);
                out.push(changed(path, thread, answer));
            } else {
                out.push(answered(path, thread, answer));
            }
        }
        Ok(out)
    }

    /// The node that a built-in reference makes for the argument of a call.
    fn reference_node(&self, path: &mut Path, list: ListNode) -> Result<Id, What> {
        let flags = blank(Kind::Reference, list.of, &self.model.cells[list.of]);
        self.correlated(path, flags, &[Word::Argument(0)])
    }

    /// A new node of the reference: the candidate node that the call made, if it has the same
    /// values and is not correlated yet, or one of its own. Sound for any choice.
    pub fn correlated(&self, path: &mut Path, flags: Flags, values: &[Word]) -> Result<Id, What> {
        let fits = |made: &Made| {
            let node = path.state.nodes.get(&made.node);
            node.is_some_and(|node| {
                node.flags.of == flags.of && node.flags.kind == Kind::Candidate && !node.many
            }) && made.values == values
        };
        match path.made.iter().position(fits) {
            Some(at) => {
                let node = path.made.remove(at).node;
                correlate(&mut path.state, node)?;
                publish(&mut path.state, node);
                Ok(node)
            }
            None => Ok(self.add(&mut path.state, flags)),
        }
    }

    /// A reference program runs to its end.
    fn program(&self, path: Path, thread: usize, operation: usize) -> Result<Vec<Path>, What> {
        let Reference::Program(program) = &self.model.reference else { return Ok(vec![path]) };
        let found =
            program.operations.get(operation).ok_or(What::Reference("lacks an operation"))?;
        let code = Code { checker: self, body: &found.body, actor: Actor::Reference, operation };
        let arguments = path.state.threads[thread].arguments.clone();
        let (kept, noticed) = (path.locals.clone(), path.noticed);
        let entry = usize::try_from(found.body.entry.0).unwrap_or(usize::MAX);
        let start = Path { locals: code.start(&arguments), noticed: false, ..path };
        let mut work = vec![(start, entry)];
        let mut out = Vec::new();
        let mut steps = 0;
        while let Some((path, at)) = work.pop() {
            steps += 1;
            if steps > MOST_REFERENCE_STEPS {
                return Err(What::Reference("may not come to an end"));
            }
            let ends = code.run(path, at).map_err(|what| match what {
                What::Fault(_) => What::Reference("may fail"),
                other => other,
            })?;
            for (path, ended) in ends {
                match ended {
                    Ended::At(next) => work.push((path, next)),
                    Ended::Returned(answer) => {
                        let noticed = noticed || path.noticed;
                        let path = Path { locals: kept.clone(), noticed, ..path };
                        out.push(answered(path, thread, answer));
                    }
                }
            }
        }
        Ok(out)
    }

    /// The states before the first call, with threads of these roles.
    pub fn initial(&self, roles: &[usize]) -> Result<Vec<State>, What> {
        let model = &self.model;
        let state = State {
            shared: super::model::initial(&model.program.shared, model.keys),
            reference: super::model::initial(model.reference_variables(), model.keys),
            edge: None,
            threads: roles.iter().map(|role| Thread::idle(*role)).collect(),
            nodes: std::collections::BTreeMap::new(),
        };
        let start = Path { state, locals: Vec::new(), made: Vec::new(), noticed: false };
        let mut states = Vec::new();
        for path in self.run_init(start, Side::Candidate)? {
            for path in self.reference_init(path)? {
                let mut state = path.state;
                list::find(model, &mut state)?;
                states.push(state);
            }
        }
        Ok(states)
    }

    fn run_init(&self, path: Path, side: Side) -> Result<Vec<Path>, What> {
        let body = match (side, &self.model.reference) {
            (Side::Candidate, _) => &self.model.program.init,
            (Side::Reference, Reference::Program(program)) => &program.init,
            _ => &None,
        };
        let Some(body) = body else { return Ok(vec![path]) };
        let code = Code { checker: self, body, actor: Actor::Init(side), operation: 0 };
        let path = Path { locals: code.start(&[]), ..path };
        let entry = usize::try_from(body.entry.0).unwrap_or(usize::MAX);
        let ends = code.run(path, entry)?.into_iter();
        let done = |(path, ended): (Path, Ended)| match ended {
            Ended::Returned(_) => Ok(path),
            Ended::At(_) => Err(What::Beyond("`init` lets threads run")),
        };
        ends.map(done).collect()
    }

    fn reference_init(&self, mut path: Path) -> Result<Vec<Path>, What> {
        match &self.model.reference {
            Reference::Program(_) => return self.run_init(path, Side::Reference),
            Reference::Stack(_) => path.state.reference = vec![Word::Null],
            Reference::Bit => path.state.reference = vec![Word::Bool(false)],
            Reference::Queue(list) => {
                let nodes = &path.state.nodes;
                let fits =
                    |made: &&Made| nodes.get(&made.node).is_some_and(|n| n.flags.of == list.of);
                let dummy = match path.made.iter().find(fits).map(|made| made.node) {
                    Some(node) => {
                        correlate(&mut path.state, node)?;
                        node
                    }
                    None => {
                        let flags = blank(Kind::Reference, list.of, &self.model.cells[list.of]);
                        self.add(&mut path.state, flags)
                    }
                };
                path.state.reference = vec![Word::Node(dummy); 2];
            }
        }
        Ok(vec![path])
    }
}

/// The locals that the step from a node may read.
fn read_by_step(body: &Body, from: usize) -> Vec<bool> {
    let mut read = vec![false; body.locals.len()];
    let mut note = |expr: &Expr| {
        expr.walk(&mut |part| {
            if let Expr::Local(local) = part
                && let Some(read) = read.get_mut(local_index(*local))
            {
                *read = true;
            }
        });
    };
    let mut done = BTreeSet::new();
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        let Some(node) = body.nodes.get(at).filter(|_| done.insert(at)) else { continue };
        for edge in &node.edges {
            let actions = edge.actions.iter().flat_map(|(action, _)| action.expressions());
            actions.for_each(&mut note);
            for (_, Point::When(expr) | Point::Returns { value: expr, .. }) in &edge.points {
                note(expr);
            }
            match &edge.target {
                Target::Return(value) => note(value),
                Target::Node(next) => {
                    let next = usize::try_from(next.0).unwrap_or(usize::MAX);
                    if body.nodes.get(next).is_some_and(|node| !node.yields) {
                        work.push(next);
                    }
                }
            }
        }
    }
    read
}

/// The reference has answered.
fn answered(mut path: Path, thread: usize, answer: Word) -> Path {
    path.state.threads[thread].answered = Some(answer);
    path
}

/// The reference has answered, and has changed the object.
fn changed(mut path: Path, thread: usize, answer: Word) -> Path {
    path.noticed = true;
    answered(path, thread, answer)
}

/// The set, seen through K.
fn bit(mut path: Path, thread: usize, does: Does) -> Path {
    let present = path.state.reference[0] == Word::Bool(true);
    let (after, answer) = match does {
        Does::Add => (true, !present),
        Does::Remove => (false, present),
        _ => (present, present),
    };
    path.noticed |= after != present;
    path.state.reference[0] = Word::Bool(after);
    answered(path, thread, Word::Bool(answer))
}
