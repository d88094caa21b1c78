//! All paths of an operation, by symbolic execution of its steps.
//!
//! A way that comes back to a node where it has been closes a round. Rounds are left out of the paths, so each must have changed
//! nothing that matters: no shared location (a `cas` on behalf of another operation is dealt with in [`help`](crate::help)), no field of
//! an object of its own that is read before it is written again, and no local that is still needed. A local that a round changes and that
//! is still needed becomes a guess: it may be anything.

use crate::Refusal;
use crate::evaluate::{Tree, Words, tree_of};
use crate::layout::{Kind, Layout, words};
use crate::path::{Attempt, End, Path, Site, Step, Symbol, is_visible};
use crate::symbol::{Word, all, any, compare, known, symbol, truth};
use linchpin_diagnostic::Span;
use linchpin_ir::liveness::live_locals;
use linchpin_ir::program::{
    Action, Body, Expr, LocalId as Local, LocalTarget, NodeId, Operation, Program, Target, Type,
};
use linchpin_subop::model::{
    Condition, FieldId, LocalId, Place, Relation, Statement, StructId, Term, Var,
};
use std::collections::{BTreeMap, BTreeSet};

/// An operation with more paths than this is refused.
const MOST_PATHS: usize = 64;
/// Edges that are followed for one operation.
const MOST_EDGES: usize = 20_000;
/// Steps of a path.
const MOST_STEPS: usize = 60;

/// A round of a loop: the path up to where it closes, and where in it the round starts.
#[derive(Clone, Debug)]
pub struct Round {
    pub steps: Vec<Step>,
    pub from: usize,
    /// The line to which it goes back.
    pub line: u32,
}

/// Everything that an operation can do.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    pub returning: Vec<Path>,
    /// Up to each attempt that succeeds.
    pub helping: Vec<Path>,
    pub rounds: Vec<Round>,
    /// Up to each step that others can notice, wherever the way goes from there.
    pub noticed: Vec<Vec<Step>>,
}

/// All paths of an operation.
pub fn paths(program: &Program, layout: &Layout, operation: usize) -> Result<Paths, Refusal> {
    let body = &program.operations[operation].body;
    let live = live_locals(body);
    let mut havoc: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    loop {
        let mut explorer = Explorer {
            program,
            layout,
            operation,
            body,
            live: &live,
            havoc: &havoc,
            found: Paths::default(),
            edges: 0,
            changed: None,
        };
        let outcome = explorer.start();
        // A local that a round changes: start again with it as a guess.
        if let Some((node, local)) = explorer.changed {
            havoc.entry(node).or_default().insert(local);
            continue;
        }
        let found = explorer.found;
        return outcome.map(|()| found);
    }
}

#[derive(Clone)]
struct Visit {
    node: NodeId,
    /// Locals with constant values: a loop that counts is gone through as often as it counts.
    counts: Vec<(u32, i64)>,
    values: Vec<Tree>,
    steps: usize,
    line: u32,
}

/// One way, as far as it has got.
#[derive(Clone)]
struct Walk {
    symbols: Vec<Symbol>,
    new: Vec<LocalId>,
    values: Vec<Tree>,
    steps: Vec<Step>,
    current: Step,
    visits: Vec<Visit>,
    held: Vec<Place>,
}

struct Explorer<'a> {
    program: &'a Program,
    layout: &'a Layout,
    operation: usize,
    body: &'a Body,
    live: &'a [Vec<bool>],
    havoc: &'a BTreeMap<u32, BTreeSet<u32>>,
    found: Paths,
    edges: usize,
    changed: Option<(u32, u32)>,
}

/// Why a way is not followed.
enum Halt {
    /// It cannot be taken, or fails: a fault ends the run.
    Never,
    Refused(String),
}

impl From<String> for Halt {
    fn from(reason: String) -> Halt {
        Halt::Refused(reason)
    }
}

type Way<T> = Result<T, Halt>;

impl Explorer<'_> {
    fn start(&mut self) -> Result<(), Refusal> {
        let operation = &self.program.operations[self.operation];
        let refuse = |reason: String| Refusal::new(operation.line, reason);
        if operation.requires.is_some() {
            return Err(refuse("`requires`: clients with a protocol are not covered".to_owned()));
        }
        let mut walk = Walk {
            symbols: Vec::new(),
            new: Vec::new(),
            values: self.body.locals.iter().map(|local| tree_of(&local.initial)).collect(),
            steps: Vec::new(),
            current: Step { line: operation.line, ..Step::default() },
            visits: Vec::new(),
            held: Vec::new(),
        };
        for (at, parameter) in operation.parameters.iter().enumerate() {
            if parameter.ty != Type::Int && parameter.ty != Type::Option(Box::new(Type::Int)) {
                return Err(refuse("arguments other than `int`".to_owned()));
            }
            let id = walk.fresh(&self.body.locals[at].name, Kind::Int);
            walk.values[at] = Tree::Word(Word::Term(symbol(id)));
        }
        self.node(self.body.entry, walk)
    }

    fn node(&mut self, id: NodeId, mut walk: Walk) -> Result<(), Refusal> {
        let node = &self.body.nodes[id.0 as usize];
        let refuse = |reason: &str| Err(Refusal::new(node.line, reason.to_owned()));
        if node.yields {
            walk.finish_step(node.line);
            let mut private = Vec::new();
            let visible = walk.steps.iter().map(|step| is_visible(step, &mut private)).last();
            if visible == Some(true) && !self.found.noticed.contains(&walk.steps) {
                self.found.noticed.push(walk.steps.clone());
            }
        }
        if walk.steps.len() > MOST_STEPS {
            return refuse("a path has too many steps");
        }
        if let Some(locals) = self.havoc.get(&id.0) {
            for local in locals {
                walk.guess(self.body, *local).map_err(|reason| Refusal::new(node.line, reason))?;
            }
        }
        let counts = walk.counts(&self.live[id.0 as usize]);
        if let Some(visit) =
            walk.visits.iter().find(|visit| visit.node == id && visit.counts == counts).cloned()
        {
            return self.close(id, &visit, walk);
        }
        walk.visits.push(Visit {
            node: id,
            counts,
            values: walk.values.clone(),
            steps: walk.steps.len(),
            line: node.line,
        });
        for edge in &node.edges {
            self.edges += 1;
            if self.edges > MOST_EDGES {
                return refuse("there are too many ways through this operation");
            }
            let mut ways = vec![walk.clone()];
            for (at, (action, line)) in edge.actions.iter().enumerate() {
                let last = matches!(edge.target, Target::Return(_))
                    || matches!(edge.target, Target::Node(to) if self.body.nodes[to.0 as usize].yields);
                let rest = &edge.actions[at + 1..];
                let apart = last && rest.iter().all(|(action, _)| action.places().is_empty());
                let site = Site { operation: self.operation, node: id.0, action: at };
                let mut next = Vec::new();
                for way in ways {
                    match self.action(way, action, *line, site, apart) {
                        Ok(found) => next.extend(found),
                        Err(Halt::Never) => {}
                        Err(Halt::Refused(reason)) => return Err(Refusal::new(*line, reason)),
                    }
                }
                ways = next;
                if ways.len() > MOST_PATHS {
                    return refuse("there are too many ways through this operation");
                }
            }
            for way in ways {
                if let Some(attempt) = way.current.attempt
                    && attempt.succeeded
                {
                    let mut steps = way.steps.clone();
                    steps.push(way.current.clone());
                    let path = self.path(&way, steps, End::Help);
                    if !self.found.helping.contains(&path) {
                        self.found.helping.push(path);
                    }
                }
                match &edge.target {
                    Target::Node(to) => self.node(*to, way)?,
                    Target::Return(value) => self.returns(way, value, node.line)?,
                }
                if self.changed.is_some() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn path(&self, walk: &Walk, steps: Vec<Step>, end: End) -> Path {
        Path {
            operation: self.operation,
            symbols: walk.symbols.clone(),
            arguments: self.program.operations[self.operation].parameters.len(),
            new: walk.new.clone(),
            steps,
            end,
        }
    }

    fn returns(&mut self, walk: Walk, value: &Expr, line: u32) -> Result<(), Refusal> {
        let refuse = |reason: String| Refusal::new(line, reason);
        let operation = &self.program.operations[self.operation];
        for (conditions, tree) in walk.words().evaluate(value).map_err(refuse)? {
            let mut ways = vec![(walk.clone(), conditions, Vec::new())];
            let expected = result_words(operation).map_err(refuse)?;
            for (word, kind) in tree.words().into_iter().zip(&expected) {
                let mut next = Vec::new();
                for (way, conditions, terms) in ways {
                    for (condition, term) in stored(&word, *kind) {
                        let mut conditions = conditions.clone();
                        conditions.push(condition);
                        let mut terms: Vec<Term> = terms.clone();
                        terms.push(term);
                        next.push((way.clone(), conditions, terms));
                    }
                }
                ways = next;
            }
            for (mut way, conditions, terms) in ways {
                if way.assume(conditions).is_err() {
                    continue;
                }
                way.finish_step(line);
                if self.found.returning.len() >= MOST_PATHS {
                    return Err(refuse("the operation has too many paths".to_owned()));
                }
                let steps = way.steps.clone();
                let path = self.path(&way, steps, End::Return(terms));
                self.found.returning.push(path);
            }
        }
        Ok(())
    }

    /// A way has come back to where it was.
    fn close(&mut self, id: NodeId, visit: &Visit, walk: Walk) -> Result<(), Refusal> {
        let node = &self.body.nodes[id.0 as usize];
        let live = &self.live[id.0 as usize];
        let havoc = self.havoc.get(&id.0);
        for (local, live) in live.iter().enumerate() {
            let local_id = local as u32;
            if !live || havoc.is_some_and(|locals| locals.contains(&local_id)) {
                continue;
            }
            if walk.values[local] != visit.values[local] {
                self.changed = Some((id.0, local_id));
                return Ok(());
            }
        }
        if !node.yields && !walk.current.is_empty() {
            return Err(Refusal::new(node.line, "a loop inside one atomic step".to_owned()));
        }
        self.found.rounds.push(Round { steps: walk.steps, from: visit.steps, line: visit.line });
        Ok(())
    }

    fn action(
        &self,
        mut walk: Walk,
        action: &Action,
        line: u32,
        site: Site,
        apart: bool,
    ) -> Way<Vec<Walk>> {
        if !action.places().is_empty() && walk.current.is_empty() {
            walk.current.line = line;
        }
        match action {
            Action::Guard(condition) => self.guard(walk, condition),
            // A failing assertion is a fault: the run ends there.
            Action::Assert(condition) => self.guard(walk, condition),
            Action::Assign { local, value } => {
                let mut ways = Vec::new();
                for (conditions, tree) in walk.words().evaluate(value)? {
                    let mut way = walk.clone();
                    if way.assume(conditions).is_ok() {
                        way.assign(local, tree)?;
                        ways.push(way);
                    }
                }
                Ok(ways)
            }
            Action::Choose { into, from, to } => {
                let (Some(from), Some(to)) =
                    (walk.words().constant(from), walk.words().constant(to))
                else {
                    return Err("`choose` between bounds that are not constant".to_owned().into());
                };
                if to - from > 8 {
                    return Err("`choose` among more than eight values".to_owned().into());
                }
                let ways = (from..to).map(|value| {
                    let mut way = walk.clone();
                    way.values[into.0 as usize] = Tree::Word(Word::Term(Term::Int(value)));
                    way
                });
                Ok(ways.collect())
            }
            Action::New { into, object, fields } => {
                let mut ways = Vec::new();
                let mut cases = vec![(Vec::new(), Vec::new())];
                for field in fields {
                    let values = walk.words().evaluate(field)?;
                    cases = cases
                        .into_iter()
                        .flat_map(|(conditions, trees): (Vec<Condition>, Vec<Tree>)| {
                            values.iter().map(move |(more, tree)| {
                                let conditions = conditions.iter().chain(more).cloned().collect();
                                (conditions, trees.iter().chain([tree]).cloned().collect())
                            })
                        })
                        .collect();
                }
                for (conditions, trees) in cases {
                    let mut way = walk.clone();
                    if way.assume(conditions).is_ok() {
                        ways.extend(self.allocate(way, *into, *object, &trees, line, apart)?);
                    }
                }
                Ok(ways)
            }
            // Memory is collected: giving an object back changes nothing.
            Action::Free(_) => Ok(vec![walk]),
            Action::Read { into, place } => {
                let name = self.body.locals[into.0 as usize].name.clone();
                let tree = self.read(&mut walk, place, &name)?;
                walk.values[into.0 as usize] = tree;
                Ok(vec![walk])
            }
            Action::Write { place, value } => self.write(walk, place, value),
            Action::Cas { into, cells } => {
                let mut parts = Vec::new();
                let mut writes = Vec::new();
                for cell in cells {
                    let expected = walk.words().single(&cell.expected)?;
                    let seen = self.read(&mut walk, &cell.place, "seen")?;
                    parts.push(walk.words().equal(&seen, &expected)?);
                    writes.push((&cell.place, walk.words().single(&cell.new)?));
                }
                let attempt = self.attempt(&walk, *into, cells, site)?;
                let mut ways = Vec::new();
                let mut success = walk.clone();
                if success.assume(vec![all(parts.clone())]).is_ok() {
                    success.values[into.0 as usize] = Tree::Word(Word::Truth(truth(true)));
                    let mut open = vec![success];
                    for (place, value) in &writes {
                        let mut next = Vec::new();
                        for way in open {
                            next.extend(self.store(way, place, value)?);
                        }
                        open = next;
                    }
                    for way in &mut open {
                        way.current.attempt = attempt;
                    }
                    ways.extend(open);
                }
                let mut failure = walk;
                if failure.assume(vec![any(parts.iter().map(Condition::negated))]).is_ok() {
                    failure.values[into.0 as usize] = Tree::Word(Word::Truth(truth(false)));
                    failure.current.attempt =
                        attempt.map(|attempt| Attempt { succeeded: false, ..attempt });
                    ways.push(failure);
                }
                Ok(ways)
            }
            Action::Swap { into, place, value } => {
                let name = self.body.locals[into.0 as usize].name.clone();
                let new = walk.words().single(value)?;
                let old = self.read(&mut walk, place, &name)?;
                walk.values[into.0 as usize] = old;
                self.store(walk, place, &new)
            }
            Action::FetchAdd { into, place, value } => {
                let name = self.body.locals[into.0 as usize].name.clone();
                let Some(more) = walk.words().constant(value) else {
                    return Err("adding what is not a constant".to_owned().into());
                };
                let old = self.read(&mut walk, place, &name)?;
                let sum = walk.words().plus(&old, more)?;
                walk.values[into.0 as usize] = old;
                self.store(walk, place, &sum)
            }
            Action::Lock(place) => {
                let target = self.only_word(&walk, place)?;
                let id = walk.observe(target, Kind::Lock, "holder")?;
                walk.assume(vec![compare(id, Relation::Equal, Term::Int(0), &[])])?;
                walk.put(target, Term::Id);
                walk.held.push(target);
                Ok(vec![walk])
            }
            Action::Unlock(place) => {
                let target = self.only_word(&walk, place)?;
                let Some(at) = walk.held.iter().position(|held| *held == target) else {
                    return Err("unlocks what it has not locked itself".to_owned().into());
                };
                walk.held.remove(at);
                let id = walk.observe(target, Kind::Lock, "holder")?;
                walk.assume(vec![compare(id, Relation::Equal, Term::Id, &[])])?;
                walk.put(target, Term::Int(0));
                Ok(vec![walk])
            }
            Action::LoadLinked { .. } | Action::StoreConditional { .. } => {
                Err("`ll` and `sc`".to_owned().into())
            }
            Action::Update { .. } => Err("collections".to_owned().into()),
        }
    }

    fn guard(&self, walk: Walk, condition: &Expr) -> Way<Vec<Walk>> {
        let mut ways = Vec::new();
        for (conditions, tree) in walk.words().evaluate(condition)? {
            let mut way = walk.clone();
            let holds = way.words().truth(&tree)?;
            if way.assume(conditions.into_iter().chain([holds]).collect()).is_ok() {
                ways.push(way);
            }
        }
        Ok(ways)
    }

    fn allocate(
        &self,
        mut walk: Walk,
        into: Local,
        object: usize,
        fields: &[Tree],
        line: u32,
        apart: bool,
    ) -> Way<Vec<Walk>> {
        let name = self.body.locals[into.0 as usize].name.clone();
        if apart {
            // Nobody notices: a step of its own, after what was read before.
            walk.finish_step(line);
        }
        let id = walk.fresh(&name, Kind::Ref(object));
        walk.new.push(id);
        let (of, span) = (StructId(object), Span::default());
        walk.current.statements.push(Statement::Malloc { var: Var::Local(id), of, span });
        walk.values[into.0 as usize] = Tree::Word(Word::Term(symbol(id)));
        let mut ways = vec![walk];
        for (home, tree) in self.layout.fields[object].iter().zip(fields) {
            for (word, (value, kind)) in tree.words().iter().zip(&home.kinds).enumerate() {
                let place = Place::Field(Var::Local(id), of, FieldId(home.first + word));
                let mut next = Vec::new();
                for way in ways {
                    for (condition, term) in stored(value, *kind) {
                        let mut way = way.clone();
                        if way.assume(vec![condition]).is_ok() {
                            if term != kind.blank() {
                                way.put(place, term);
                            }
                            next.push(way);
                        }
                    }
                }
                ways = next;
            }
        }
        if apart {
            ways.iter_mut().for_each(|way| way.finish_step(line));
        }
        Ok(ways)
    }

    /// The attempt that a `cas` is, if nobody looks at its outcome.
    fn attempt(
        &self,
        walk: &Walk,
        into: Local,
        cells: &[linchpin_ir::program::Cell],
        site: Site,
    ) -> Way<Option<Attempt>> {
        let [cell] = cells else { return Ok(None) };
        if is_read(self.body, into) || !walk.current.statements.is_empty() {
            return Ok(None);
        }
        let targets = self.targets(walk, &cell.place)?;
        let (expected, new) =
            (walk.words().single(&cell.expected)?, walk.words().single(&cell.new)?);
        Ok(match (&targets[..], &expected.words()[..], &new.words()[..]) {
            ([(place, _)], [Word::Term(expected)], [Word::Term(new)]) => Some(Attempt {
                site,
                place: *place,
                expected: *expected,
                new: *new,
                succeeded: true,
            }),
            _ => None,
        })
    }

    /// The words of a place.
    fn targets(&self, walk: &Walk, place: &linchpin_ir::program::Place) -> Way<Vec<(Place, Kind)>> {
        use linchpin_ir::program::Place as From;
        use linchpin_subop::model::{GlobalId, Index};
        Ok(match place {
            From::Shared(at) => {
                let home = &self.layout.shared[*at];
                if home.array {
                    return Err("a whole array at once".to_owned().into());
                }
                let word = |(at, kind): (usize, &Kind)| {
                    (Place::Variable(Var::Global(GlobalId(home.first + at))), *kind)
                };
                home.kinds.iter().enumerate().map(word).collect()
            }
            From::SharedElement(at, index) => {
                let home = &self.layout.shared[*at];
                let index = match walk.words().single(index)? {
                    Tree::Word(Word::Term(Term::Int(value))) => Index::Int(value),
                    Tree::Word(Word::Term(Term::Place(Place::Variable(var)))) => {
                        Index::Variable(var)
                    }
                    Tree::Word(Word::Term(Term::Plus(Place::Variable(var), plus))) => {
                        Index::Plus(var, plus)
                    }
                    _ => return Err("an index that is not an integer".to_owned().into()),
                };
                let word = |(at, kind): (usize, &Kind)| {
                    (Place::Element(GlobalId(home.first + at), index), *kind)
                };
                home.kinds.iter().enumerate().map(word).collect()
            }
            From::Field { object, of, field } => {
                let base = match walk.words().single(object)? {
                    Tree::Word(Word::Term(Term::Place(Place::Variable(var)))) => var,
                    // A fault: the run ends here.
                    Tree::Word(Word::Term(Term::Null)) => return Err(Halt::Never),
                    _ => return Err("an object that is not a variable".to_owned().into()),
                };
                let home = &self.layout.fields[*of][*field];
                let word = |(at, kind): (usize, &Kind)| {
                    (Place::Field(base, StructId(*of), FieldId(home.first + at)), *kind)
                };
                home.kinds.iter().enumerate().map(word).collect()
            }
            From::FieldElement { .. } => return Err("arrays in objects".to_owned().into()),
        })
    }

    fn only_word(&self, walk: &Walk, place: &linchpin_ir::program::Place) -> Way<Place> {
        match &self.targets(walk, place)?[..] {
            [(place, _)] => Ok(*place),
            _ => Err("a lock of several words".to_owned().into()),
        }
    }

    fn read(&self, walk: &mut Walk, place: &linchpin_ir::program::Place, name: &str) -> Way<Tree> {
        use linchpin_ir::program::Place as From;
        let ty = match place {
            From::Shared(at) => &self.program.shared[*at].ty,
            From::SharedElement(at, _) => match &self.program.shared[*at].ty {
                Type::Array(element, _) => element,
                other => other,
            },
            From::Field { of, field, .. } | From::FieldElement { of, field, .. } => {
                &self.program.structs[*of].fields[*field].ty
            }
        };
        let targets = self.targets(walk, place)?;
        walk.is_object(&targets)?;
        let suffixes = words(ty)?;
        let mut values = Vec::new();
        for ((place, kind), (suffix, _)) in targets.into_iter().zip(suffixes) {
            let term = walk.observe(place, kind, &format!("{name}{suffix}"))?;
            values.push(match kind {
                Kind::Bool => Word::Truth(compare(term, Relation::Equal, Term::Int(1), &[])),
                _ => Word::Term(term),
            });
        }
        Ok(Tree::shaped(ty, &mut values.into_iter()))
    }

    fn write(
        &self,
        walk: Walk,
        place: &linchpin_ir::program::Place,
        value: &Expr,
    ) -> Way<Vec<Walk>> {
        let mut ways = Vec::new();
        for (conditions, tree) in walk.words().evaluate(value)? {
            let mut way = walk.clone();
            if way.assume(conditions).is_ok() {
                ways.extend(self.store(way, place, &tree)?);
            }
        }
        Ok(ways)
    }

    fn store(
        &self,
        walk: Walk,
        place: &linchpin_ir::program::Place,
        tree: &Tree,
    ) -> Way<Vec<Walk>> {
        let targets = self.targets(&walk, place)?;
        let mut walk = walk;
        walk.is_object(&targets)?;
        let mut ways = vec![walk];
        for ((place, kind), word) in targets.into_iter().zip(tree.words()) {
            let mut next = Vec::new();
            for way in ways {
                for (condition, term) in stored(&word, kind) {
                    let mut way = way.clone();
                    if way.assume(vec![condition]).is_ok() {
                        way.put(place, term);
                        next.push(way);
                    }
                }
            }
            ways = next;
        }
        Ok(ways)
    }
}

/// The kinds of the words that an operation answers.
fn result_words(operation: &Operation) -> Result<Vec<Kind>, String> {
    let parts = words(&operation.response)?;
    if parts.len() > 1 && parts.iter().any(|(_, kind)| *kind == Kind::Bool) {
        return Err("truth values inside of an answer".to_owned());
    }
    Ok(parts.into_iter().map(|(_, kind)| kind).collect())
}

/// A word as it is stored: truth values that depend on symbols are told apart.
fn stored(word: &Word, kind: Kind) -> Vec<(Condition, Term)> {
    match word {
        Word::Term(Term::Null) if kind == Kind::Lock => vec![(truth(true), Term::Int(0))],
        Word::Term(term) => vec![(truth(true), *term)],
        Word::Truth(condition) => match known(condition) {
            Some(value) => vec![(truth(true), Term::Int(i64::from(value)))],
            None => vec![(condition.clone(), Term::Int(1)), (condition.negated(), Term::Int(0))],
        },
    }
}

/// Whether anything reads a local.
fn is_read(body: &Body, local: Local) -> bool {
    let mut read = false;
    let mut visit = |expr: &Expr| {
        expr.walk(&mut |inner| read |= *inner == Expr::Local(local));
    };
    for edge in body.nodes.iter().flat_map(|node| &node.edges) {
        for (action, _) in &edge.actions {
            action.expressions().into_iter().for_each(&mut visit);
        }
        if let Target::Return(value) = &edge.target {
            visit(value);
        }
    }
    read
}

impl Walk {
    fn words(&self) -> Words<'_> {
        Words { values: &self.values, new: &self.new }
    }

    fn fresh(&mut self, name: &str, kind: Kind) -> LocalId {
        let name = if name.starts_with('$') {
            "seen".to_owned() + name.trim_start_matches(|c: char| c == '$' || c.is_ascii_digit())
        } else {
            name.to_owned()
        };
        self.symbols.push(Symbol { name, ty: kind.word_type() });
        LocalId(self.symbols.len() - 1)
    }

    fn finish_step(&mut self, line: u32) {
        let step = std::mem::take(&mut self.current);
        if !step.is_empty() {
            self.steps.push(step);
        }
        self.current.line = line;
    }

    fn assume(&mut self, conditions: Vec<Condition>) -> Way<()> {
        for condition in conditions {
            match known(&condition) {
                Some(true) => {}
                Some(false) => return Err(Halt::Never),
                None => match condition {
                    Condition::All(parts) => self.assume(parts)?,
                    other => {
                        let against = other.negated();
                        let all = || self.steps.iter().flat_map(|step| &step.conditions);
                        if all()
                            .chain(&self.current.conditions)
                            .any(|known| *known == against && crate::symbol::is_local(known))
                        {
                            return Err(Halt::Never);
                        }
                        self.current.conditions.push(other);
                    }
                },
            }
        }
        Ok(())
    }

    /// Replaces a local by a guess.
    fn guess(&mut self, body: &Body, local: u32) -> Result<(), String> {
        let variable = &body.locals[local as usize];
        let own = self.values[local as usize].words().iter().any(
            |word| matches!(word, Word::Term(Term::Place(Place::Variable(Var::Local(id)))) if self.new.contains(id)),
        );
        if own {
            return Err(format!(
                "the loop changes `{}`, which may hold a new object",
                variable.name
            ));
        }
        let parts = words(&variable.ty)
            .map_err(|what| format!("the loop changes `{}`, which holds {what}", variable.name))?;
        let mut values = Vec::new();
        for (suffix, kind) in parts {
            let id = self.fresh(&format!("{}{suffix}", variable.name), kind);
            values.push(match kind {
                Kind::Bool => Word::Truth(compare(symbol(id), Relation::Equal, Term::Int(1), &[])),
                _ => Word::Term(symbol(id)),
            });
        }
        self.values[local as usize] = Tree::shaped(&variable.ty, &mut values.into_iter());
        Ok(())
    }

    /// The live locals that are plain integers.
    fn counts(&self, live: &[bool]) -> Vec<(u32, i64)> {
        let constant = |(at, tree): (usize, &Tree)| match tree {
            Tree::Word(Word::Term(Term::Int(value))) if live[at] => Some((at as u32, *value)),
            _ => None,
        };
        self.values.iter().enumerate().filter_map(constant).collect()
    }

    fn assign(&mut self, target: &LocalTarget, tree: Tree) -> Way<()> {
        match target {
            LocalTarget::Local(local) => self.values[local.0 as usize] = tree,
            LocalTarget::Component(local, at) => match &mut self.values[local.0 as usize] {
                Tree::List(parts) if *at < parts.len() => parts[*at] = tree,
                _ => return Err("part of a record".to_owned().into()),
            },
            LocalTarget::Element(local, index) => {
                let at = self.words().constant(index).and_then(|at| usize::try_from(at).ok());
                match (&mut self.values[local.0 as usize], at) {
                    (Tree::List(parts), Some(at)) if at < parts.len() => parts[at] = tree,
                    (Tree::List(_), Some(_)) => return Err(Halt::Never),
                    _ => return Err("an array at an index that is not constant".to_owned().into()),
                }
            }
            LocalTarget::ThreadLocal(_) => {
                return Err("variables that threads keep between operations".to_owned().into());
            }
        }
        Ok(())
    }

    fn put(&mut self, place: Place, value: Term) {
        self.current.statements.push(Statement::Assign { place, value, span: Span::default() });
    }

    /// A field of `NULL` is a fault, which ends the run: whoever goes on accessed an object.
    fn is_object(&mut self, targets: &[(Place, Kind)]) -> Way<()> {
        if let Some((Place::Field(Var::Local(base), ..), _)) = targets.first() {
            let proper = compare(symbol(*base), Relation::NotEqual, Term::Null, &self.new);
            self.assume(vec![proper])?;
        }
        Ok(())
    }

    /// What a location holds now: what this step wrote to it, or a symbol for what it held before.
    fn observe(&mut self, place: Place, kind: Kind, name: &str) -> Way<Term> {
        for statement in self.current.statements.iter().rev() {
            match statement {
                Statement::Assign { place: written, value, .. } => {
                    if *written == place {
                        return Ok(*value);
                    }
                    if self.may_be_same(written, &place) {
                        return Err(
                            "reads in one step what it may have written under another name"
                                .to_owned()
                                .into(),
                        );
                    }
                }
                Statement::Malloc { var: Var::Local(id), .. } if matches!(place, Place::Field(Var::Local(base), ..) if base == *id) =>
                {
                    return Ok(kind.blank());
                }
                _ => {}
            }
        }
        for condition in &self.current.conditions {
            if let Condition::Atom(atom) = condition
                && atom.relation == Relation::Equal
                && atom.left == Term::Place(place)
            {
                return Ok(atom.right);
            }
        }
        let id = self.fresh(name, kind);
        let seen = crate::symbol::atom(Term::Place(place), Relation::Equal, symbol(id));
        self.current.conditions.push(seen);
        Ok(symbol(id))
    }

    fn may_be_same(&self, one: &Place, other: &Place) -> bool {
        use linchpin_subop::model::Index;
        match (one, other) {
            (Place::Field(a, of, field), Place::Field(b, other_of, other_field)) => {
                let mut private = Vec::new();
                for step in self.steps.iter().chain([&self.current]) {
                    is_visible(step, &mut private);
                }
                let is_private = |var: &Var| matches!(var, Var::Local(id) if private.contains(id));
                (of, field) == (other_of, other_field)
                    && (a == b || !(is_private(a) || is_private(b)))
            }
            (Place::Element(a, Index::Int(at)), Place::Element(b, Index::Int(other))) => {
                a == b && at == other
            }
            (Place::Element(a, _), Place::Element(b, _)) => a == b,
            _ => one == other,
        }
    }
}
