//! One step: along the edges of a body, action by action, until other threads may run.
//!
//! Each edge is executed on its own, from its first action: the guards say which can be taken. An
//! action gives several paths where the abstraction has to distinguish, none where it cannot be
//! taken, and an error where it may fail or is beyond what can be followed.

use super::correlate::Checker;
use super::evaluate::{Environment, Term, equal, local_index};
use super::heap::{definite, follow, publish, store};
use super::list;
use super::model::{Cell, components, initial, start, width, words_of};
use super::state::{Flags, Holder, Id, Kind, Made, Node, Side, State, Word};
use super::wrong::What;
use linchpin_ir::program::{
    Action, Body, Cell as Swapped, Edge, Expr, LocalId, LocalTarget, NodeId, Place, Target, Type,
    Variable,
};
use std::collections::BTreeSet;

/// A step may take so many edges.
const MOST_EDGES: usize = 200;
/// A choice has at most so many ways that are followed one by one.
const MOST_CHOICES: i64 = 8;

/// What executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A thread of the state.
    Thread(usize),
    /// The reference, for the call of a thread.
    Reference,
    /// `init`, of one side.
    Init(Side),
}

impl Actor {
    fn side(self) -> Side {
        match self {
            Actor::Thread(_) => Side::Candidate,
            Actor::Reference => Side::Reference,
            Actor::Init(side) => side,
        }
    }

    fn holder(self) -> Holder {
        match self {
            Actor::Thread(thread) => Holder::Thread(thread),
            Actor::Reference | Actor::Init(_) => Holder::Reference,
        }
    }
}

/// An execution on its way.
#[derive(Clone, Debug)]
pub struct Path {
    /// The state.
    pub state: State,
    /// The variables of the code that is executed.
    pub locals: Vec<Word>,
    /// Nodes of the candidate that the reference may take for those that it makes.
    pub made: Vec<Made>,
    /// Whether another thread or the reference can notice what was done.
    pub noticed: bool,
}

/// Where a step ends.
#[derive(Clone, Debug)]
pub enum Ended {
    /// Where other threads may run.
    At(usize),
    /// With an answer.
    Returned(Word),
}

/// A piece of code and what executes it.
pub struct Code<'a> {
    /// The checker.
    pub checker: &'a Checker,
    /// The code.
    pub body: &'a Body,
    /// What executes it.
    pub actor: Actor,
    /// The operation: its claimed points count if a thread executes it.
    pub operation: usize,
}

enum Where {
    Variables { start: usize, count: usize },
    Cells { node: Id, of: usize, start: usize, count: usize },
}

impl Code<'_> {
    /// The words of the variables before anything is assigned, with these arguments.
    pub fn start(&self, arguments: &[Word]) -> Vec<Word> {
        let mut words = initial(&self.body.locals, self.checker.model.keys);
        for (at, word) in arguments.iter().enumerate() {
            let from = start(&self.body.locals, at);
            if let Some(to) = words.get_mut(from) {
                *to = *word;
            }
        }
        words
    }

    /// Runs from a node to the next nodes where other threads may run, or to the end.
    pub fn run(&self, path: Path, from: usize) -> Result<Vec<(Path, Ended)>, What> {
        let mut ended = Vec::new();
        let mut work = vec![(path, from, 0)];
        while let Some((path, at, edges)) = work.pop() {
            if edges > MOST_EDGES {
                return Err(What::Beyond("a step that goes on without touching shared state"));
            }
            let node = self.body.nodes.get(at).ok_or(What::Beyond("a node that is not there"))?;
            let before = (work.len(), ended.len());
            for edge in &node.edges {
                for path in self.edge(path.clone(), edge)? {
                    match &edge.target {
                        Target::Node(NodeId(next)) => {
                            let next = usize::try_from(*next).unwrap_or(usize::MAX);
                            match self.body.nodes.get(next).is_some_and(|node| node.yields) {
                                true => ended.push((path, Ended::At(next))),
                                false => work.push((path, next, edges + 1)),
                            }
                        }
                        Target::Return(value) => {
                            for term in self.terms(&path, value)? {
                                let word = match term {
                                    Term::Word(word) => word,
                                    Term::List(_) => Word::Any,
                                };
                                ended.push((path.clone(), Ended::Returned(word)));
                            }
                        }
                    }
                }
            }
            // A thread may wait; the reference must not, or what it does not answer would vanish.
            if (work.len(), ended.len()) == before && self.actor.side() == Side::Reference {
                return Err(What::Reference("waits"));
            }
        }
        Ok(ended)
    }

    fn edge(&self, path: Path, edge: &Edge) -> Result<Vec<Path>, What> {
        let mut paths = vec![path];
        for number in 0..=edge.actions.len() {
            for (_, point) in edge.points.iter().filter(|(at, _)| *at == number) {
                if let Actor::Thread(thread) = self.actor {
                    let mut next = Vec::new();
                    for path in paths {
                        next.extend(self.checker.point(path, thread, point, self)?);
                    }
                    paths = next;
                }
            }
            let Some((action, _)) = edge.actions.get(number) else { break };
            let mut next = Vec::new();
            for path in paths {
                next.extend(self.action(path, action)?);
            }
            paths = next;
        }
        Ok(paths)
    }

    fn environment<'p>(&'p self, path: &'p Path) -> Environment<'p> {
        let keys = self.checker.model.keys;
        Environment { variables: &self.body.locals, words: &path.locals, keys }
    }

    /// All values that an expression may have.
    pub fn terms(&self, path: &Path, expr: &Expr) -> Result<Vec<Term>, What> {
        self.environment(path).all(expr)
    }

    /// All truth values that a condition may have.
    pub fn truths(&self, path: &Path, expr: &Expr) -> Result<Vec<bool>, What> {
        self.environment(path).truths(expr)
    }

    fn action(&self, path: Path, action: &Action) -> Result<Vec<Path>, What> {
        match action {
            Action::Guard(condition) => {
                let holds = self.truths(&path, condition)?.contains(&true);
                Ok(if holds { vec![path] } else { Vec::new() })
            }
            Action::Assert(condition) => match self.truths(&path, condition)?.contains(&false) {
                true => Err(What::Fault("an assertion may be false")),
                false => Ok(vec![path]),
            },
            Action::Assign { local, value } => {
                let terms = self.terms(&path, value)?;
                terms.iter().map(|term| self.assign(path.clone(), local, &term.words())).collect()
            }
            Action::Choose { into, from, to } => self.choose(path, *into, from, to),
            Action::New { into, object, fields, .. } => {
                let mut out = Vec::new();
                for term in self.terms(&path, &Expr::List(fields.clone()))? {
                    let mut path = path.clone();
                    let node = self.make(&mut path, *object, &term.words())?;
                    out.push(self.set(path, *into, &[Word::Node(node)])?);
                }
                Ok(out)
            }
            Action::Read { into, place } => {
                let loaded = self.load(path, place)?.into_iter();
                loaded.map(|(path, words)| self.set(path, *into, &words)).collect()
            }
            Action::Write { place, value } => {
                let mut out = Vec::new();
                for term in self.terms(&path, value)? {
                    out.extend(self.store(path.clone(), place, &term.words())?);
                }
                Ok(out)
            }
            Action::Swap { into, place, value } => {
                let mut out = Vec::new();
                for term in self.terms(&path, value)? {
                    for (path, old) in self.load(path.clone(), place)? {
                        for path in self.store(path, place, &term.words())? {
                            out.push(self.set(path, *into, &old)?);
                        }
                    }
                }
                Ok(out)
            }
            Action::Cas { into, cells } => self.compare_and_swap(path, *into, cells),
            Action::Lock(place) => match self.holder(&path, place)? {
                Holder::Free => Ok(vec![self.hold(path, place, self.actor.holder())?]),
                _ => Ok(Vec::new()),
            },
            Action::Unlock(place) => match self.holder(&path, place)? == self.actor.holder() {
                true => Ok(vec![self.hold(path, place, Holder::Free)?]),
                false => Err(What::Fault("a lock is given back by a thread that does not hold it")),
            },
            // Without crashes a flush only needs its place, and a fence nothing.
            Action::Flush(place) | Action::Persist(place) => {
                Ok(self.load(path, place)?.into_iter().map(|(path, _)| path).collect())
            }
            Action::Fence => Ok(vec![path]),
            Action::FetchAdd { .. } => Err(What::Beyond("arithmetic that may overflow")),
            Action::Free(_)
            | Action::LoadLinked { .. }
            | Action::StoreConditional { .. }
            | Action::Update { .. } => Err(What::Beyond("an action that is not followed")),
        }
    }

    fn choose(&self, path: Path, into: LocalId, from: &Expr, to: &Expr) -> Result<Vec<Path>, What> {
        let environment = self.environment(&path);
        match (&environment.words(from)?[..], &environment.words(to)?[..]) {
            ([Word::Int(from)], [Word::Int(to)]) if to.saturating_sub(*from) <= MOST_CHOICES => {
                let numbers = *from..*to;
                numbers.map(|number| self.set(path.clone(), into, &[Word::Int(number)])).collect()
            }
            _ => Ok(vec![self.set(path, into, &[Word::Any])?]),
        }
    }

    fn compare_and_swap(
        &self,
        path: Path,
        into: LocalId,
        cells: &[Swapped],
    ) -> Result<Vec<Path>, What> {
        let mut places = Vec::new();
        for cell in cells {
            let place = match self.place(&path, &cell.place)? {
                Where::Variables { start, .. } => (None, start),
                Where::Cells { node, start, .. } => (Some(node), start),
            };
            if places.contains(&place) {
                return Err(What::Fault("the same word twice in one `cas`"));
            }
            places.push(place);
        }
        // The paths on which all cells so far hold what is expected, or may.
        let mut work = vec![path];
        let mut out = Vec::new();
        for cell in cells {
            let mut next = Vec::new();
            for path in work {
                for (path, held) in self.load(path, &cell.place)? {
                    for expected in self.terms(&path, &cell.expected)? {
                        let same = held.iter().zip(expected.words());
                        let same: Vec<_> = same.map(|(one, two)| equal(*one, two)).collect();
                        if !same.iter().all(|same| *same == Some(true)) {
                            out.push(self.set(path.clone(), into, &[Word::Bool(false)])?);
                        }
                        if !same.contains(&Some(false)) {
                            next.push(path.clone());
                        }
                    }
                }
            }
            work = next;
        }
        for path in work {
            let mut stored = vec![path];
            for cell in cells {
                let mut next = Vec::new();
                for path in stored {
                    for term in self.terms(&path, &cell.new)? {
                        next.extend(self.store(path.clone(), &cell.place, &term.words())?);
                    }
                }
                stored = next;
            }
            for path in stored {
                out.push(self.set(path, into, &[Word::Bool(true)])?);
            }
        }
        Ok(out)
    }

    /// A new node with these words. For the reference it is the candidate node that the same call
    /// made, if that has the same values.
    fn make(&self, path: &mut Path, of: usize, words: &[Word]) -> Result<Id, What> {
        let cells = self.checker.model.cells.get(of).ok_or(What::Beyond("a struct is missing"))?;
        let side = self.actor.side();
        let kind = if side == Side::Candidate { Kind::Candidate } else { Kind::Reference };
        let mut flags = blank(kind, of, cells);
        if let Actor::Thread(thread) = self.actor {
            flags.owner = Some(thread);
        }
        let mut links = Vec::new();
        let mut values = Vec::new();
        for (cell, word) in cells.iter().zip(words) {
            match (cell, word) {
                (Cell::Link(link), Word::Node(to)) => links.push((*link, *to)),
                (Cell::Link(_), Word::Null)
                | (Cell::Open, _)
                | (Cell::Lock(_), Word::Lock(Holder::Free) | Word::Null)
                | (Cell::Truth(_), Word::Bool(false)) => {}
                (Cell::Truth(bit), Word::Bool(true)) => {
                    flags.truths.insert(*bit);
                }
                (Cell::Value(_), word) => values.push(*word),
                (Cell::Key, Word::Key(class)) => flags.class = Some(*class),
                _ => return Err(What::Beyond("what a new node is made with")),
            }
        }
        let node = match side {
            Side::Reference => self.checker.correlated(path, flags, &values)?,
            Side::Candidate => {
                let node = self.checker.add(&mut path.state, flags);
                if let Actor::Thread(_) = self.actor {
                    path.made.clear();
                }
                let known = |word: &Word| matches!(word, Word::Argument(_) | Word::Int(_));
                if !self.checker.model.keys && values.iter().all(known) {
                    path.made.push(Made { node, values });
                }
                node
            }
        };
        for (link, to) in links {
            store(&mut path.state, side, node, link, Some(to))?;
        }
        Ok(node)
    }

    fn place(&self, path: &Path, place: &Place) -> Result<Where, What> {
        let model = &self.checker.model;
        match place {
            Place::Shared(variable) => {
                let variables: &[Variable] = match self.actor.side() {
                    Side::Candidate => &model.program.shared,
                    Side::Reference => model.reference_variables(),
                };
                let ty = variables.get(*variable).map(|variable| &variable.ty);
                let count = width(ty.ok_or(What::Beyond("a variable is missing"))?);
                Ok(Where::Variables { start: start(variables, *variable), count })
            }
            Place::Field { object, of, field } => {
                let fields = &model.program.structs[*of].fields;
                match self.environment(path).words(object)?[..] {
                    [Word::Node(node)] => {
                        let found = path.state.nodes.get(&node).map(|node| node.flags.of);
                        if found != Some(*of) {
                            return Err(What::Beyond("a node of another struct"));
                        }
                        let (start, count) = (start(fields, *field), width(&fields[*field].ty));
                        Ok(Where::Cells { node, of: *of, start, count })
                    }
                    [Word::Null] => Err(What::Fault("a field of null is accessed")),
                    _ => Err(What::Beyond("which node is accessed")),
                }
            }
            _ => Err(What::Beyond("arrays are not followed")),
        }
    }

    fn variables<'s>(&self, state: &'s mut State) -> &'s mut Vec<Word> {
        match self.actor.side() {
            Side::Candidate => &mut state.shared,
            Side::Reference => &mut state.reference,
        }
    }

    /// What a place holds: each possibility with the states in which it does.
    fn load(&self, mut path: Path, place: &Place) -> Result<Vec<(Path, Vec<Word>)>, What> {
        let (node, of, start, count) = match self.place(&path, place)? {
            Where::Variables { start, count } => {
                let words = self.variables(&mut path.state).get(start..start + count);
                let words = words.map(<[Word]>::to_vec).unwrap_or_default();
                return Ok(vec![(path, words)]);
            }
            Where::Cells { node, of, start, count } => (node, of, start, count),
        };
        let mut out = vec![(path, Vec::new())];
        for at in start..start + count {
            let mut next = Vec::new();
            for (path, words) in out {
                for (path, word) in self.load_cell(path, node, of, at)? {
                    next.push((path, [words.clone(), vec![word]].concat()));
                }
            }
            out = next;
        }
        Ok(out)
    }

    fn load_cell(
        &self,
        path: Path,
        node: Id,
        of: usize,
        at: usize,
    ) -> Result<Vec<(Path, Word)>, What> {
        let model = &self.checker.model;
        let side = self.actor.side();
        let flags = path.state.nodes.get(&node).map(|node| node.flags.clone());
        let flags = flags.ok_or(What::Beyond("a node is missing"))?;
        let word = match model.cells[of].get(at) {
            Some(Cell::Link(link)) => {
                let followed = follow(model, &path.state, side, node, *link)?.into_iter();
                let word = |to: Option<Id>| to.map_or(Word::Null, Word::Node);
                return Ok(followed
                    .map(|(state, to)| (Path { state, ..path.clone() }, word(to)))
                    .collect());
            }
            Some(Cell::Value(value)) => Word::ValueOf(node, *value),
            Some(Cell::Open) | None => {
                let fields = model.program.structs[of].fields.iter();
                let types: Vec<&Type> = fields.flat_map(|field| words_of(&field.ty)).collect();
                if types.get(at) == Some(&&Type::Bool) {
                    return Ok(vec![(path.clone(), Word::Bool(false)), (path, Word::Bool(true))]);
                }
                Word::Any
            }
            // Truth values, locks and keys are those of the candidate.
            Some(_) if side == Side::Reference && !matches!(self.actor, Actor::Init(_)) => {
                return Err(What::Beyond("the reference reads a cell that is not correlated"));
            }
            Some(Cell::Truth(bit)) => Word::Bool(flags.truths.contains(bit)),
            Some(Cell::Lock(lock)) => Word::Lock(flags.locks[*lock]),
            Some(Cell::Key) => flags.class.map_or(Word::Any, Word::Key),
        };
        Ok(vec![(path, word)])
    }

    fn store(&self, mut path: Path, place: &Place, words: &[Word]) -> Result<Vec<Path>, What> {
        if words.contains(&Word::Forgotten) {
            return Err(What::Beyond("a forgotten value is stored"));
        }
        let (node, of, start, count) = match self.place(&path, place)? {
            Where::Variables { start, count } => {
                self.store_variables(&mut path, start, count, words)?;
                return Ok(vec![path]);
            }
            Where::Cells { node, of, start, count } => (node, of, start, count),
        };
        let mut paths = vec![path];
        for (at, word) in (start..start + count).zip(words) {
            let mut next = Vec::new();
            for path in paths {
                next.extend(self.store_cell(path, node, of, at, *word)?);
            }
            paths = next;
        }
        Ok(paths)
    }

    fn store_variables(
        &self,
        path: &mut Path,
        start: usize,
        count: usize,
        words: &[Word],
    ) -> Result<(), What> {
        path.noticed = true;
        if self.actor.side() == Side::Candidate {
            let root = self.checker.model.root.map(|(root, _)| root);
            let is_root = root.is_some_and(|root| (start..start + count).contains(&root));
            if is_root && !matches!(self.actor, Actor::Init(_)) {
                return Err(What::Beyond("the first node of the list is replaced"));
            }
            // Whatever a shared variable names is private no more, be it only for its value.
            for node in words.iter().filter_map(|word| word.node()) {
                publish(&mut path.state, node);
            }
        }
        for (to, word) in
            self.variables(&mut path.state).iter_mut().skip(start).zip(words).take(count)
        {
            *to = match word {
                // To another thread it would be another argument, another id.
                Word::Argument(_) | Word::Me => Word::Any,
                other => *other,
            };
        }
        Ok(())
    }

    fn store_cell(
        &self,
        mut path: Path,
        node: Id,
        of: usize,
        at: usize,
        word: Word,
    ) -> Result<Vec<Path>, What> {
        let side = self.actor.side();
        let cell = self.checker.model.cells[of].get(at).copied().unwrap_or(Cell::Open);
        let found = path.state.nodes.get_mut(&node).ok_or(What::Beyond("a node is missing"))?;
        let private = match self.actor {
            Actor::Thread(thread) => found.flags.owner == Some(thread),
            _ => false,
        };
        path.noticed |= !private;
        match (cell, word) {
            (Cell::Link(link), Word::Null | Word::Node(_)) => {
                if side == Side::Candidate && found.flags.listed {
                    return list::write(&self.checker.model, path, node, link, word.node());
                }
                let states = match found.flags.kind {
                    Kind::Uniform | Kind::Nonuniform => {
                        definite(&self.checker.model, &path.state, node)?
                    }
                    _ => vec![path.state.clone()],
                };
                let mut out = Vec::new();
                for mut state in states {
                    store(&mut state, side, node, link, word.node())?;
                    if let (Side::Candidate, false, Some(to)) = (side, private, word.node()) {
                        publish(&mut state, to);
                    }
                    out.push(Path { state, ..path.clone() });
                }
                return Ok(out);
            }
            (Cell::Truth(bit), Word::Bool(truth)) if side == Side::Candidate => {
                match truth {
                    true => found.flags.truths.insert(bit),
                    false => found.flags.truths.remove(&bit),
                };
            }
            (Cell::Open, _) => {}
            _ => return Err(What::Beyond("what is written to a node")),
        }
        Ok(vec![path])
    }

    fn holder(&self, path: &Path, place: &Place) -> Result<Holder, What> {
        let mut path = path.clone();
        match self.place(&path, place)? {
            Where::Variables { start, .. } => match self.variables(&mut path.state).get(start) {
                Some(Word::Lock(holder)) => Ok(*holder),
                _ => Err(What::Beyond("a lock that is not followed")),
            },
            Where::Cells { node, of, start, .. } => {
                let cell = self.checker.model.cells[of].get(start);
                let node = path.state.nodes.get(&node);
                match (cell, node, self.actor.side()) {
                    (Some(Cell::Lock(lock)), Some(node), Side::Candidate) => {
                        Ok(node.flags.locks[*lock])
                    }
                    _ => Err(What::Beyond("a lock that is not followed")),
                }
            }
        }
    }

    fn hold(&self, mut path: Path, place: &Place, holder: Holder) -> Result<Path, What> {
        path.noticed = true;
        match self.place(&path, place)? {
            Where::Variables { start, .. } => {
                if let Some(word) = self.variables(&mut path.state).get_mut(start) {
                    *word = Word::Lock(holder);
                }
            }
            Where::Cells { node, of, start, .. } => {
                let cell = self.checker.model.cells[of].get(start);
                if let (Some(Cell::Lock(lock)), Some(node)) =
                    (cell, path.state.nodes.get_mut(&node))
                {
                    node.flags.locks[*lock] = holder;
                }
            }
        }
        Ok(path)
    }

    fn assign(&self, path: Path, target: &LocalTarget, words: &[Word]) -> Result<Path, What> {
        match target {
            LocalTarget::Local(local) => self.set(path, *local, words),
            LocalTarget::Component(local, at) => {
                let index = local_index(*local);
                let ty = self.body.locals.get(index).map(|variable| &variable.ty);
                let parts = ty.and_then(components).unwrap_or_default();
                let before: usize = parts.iter().take(*at).map(|ty| width(ty)).sum();
                Ok(self.put(path, start(&self.body.locals, index) + before, words))
            }
            LocalTarget::ThreadLocal(_) | LocalTarget::Element(..) => {
                Err(What::Beyond("an assignment that is not followed"))
            }
        }
    }

    fn set(&self, path: Path, local: LocalId, words: &[Word]) -> Result<Path, What> {
        let index = local_index(local);
        let ty = self.body.locals.get(index).map(|variable| &variable.ty);
        let count = width(ty.ok_or(What::Beyond("a variable is missing"))?);
        let words = words.get(..count.min(words.len())).unwrap_or_default();
        Ok(self.put(path, start(&self.body.locals, index), words))
    }

    fn put(&self, mut path: Path, from: usize, words: &[Word]) -> Path {
        for (to, word) in path.locals.iter_mut().skip(from).zip(words) {
            *to = *word;
        }
        path
    }
}

/// A node of which nothing is set.
pub fn blank(kind: Kind, of: usize, cells: &[Cell]) -> Flags {
    let locks = cells.iter().filter(|cell| matches!(cell, Cell::Lock(_))).count();
    Flags {
        kind,
        of,
        class: None,
        truths: BTreeSet::new(),
        listed: false,
        owner: None,
        locks: vec![Holder::Free; locks],
    }
}

/// A node with null links.
pub fn with_null_links(flags: Flags, links: usize) -> Node {
    let null = || vec![[None].into(); links];
    let (links, twin) = match flags.kind {
        Kind::Reference => (Vec::new(), null()),
        Kind::Nonuniform => (null(), null()),
        Kind::Uniform | Kind::Candidate => (null(), Vec::new()),
    };
    Node { flags, many: false, links, twin }
}
