//! What each action of an edge does to a way: where a `cas` may succeed or fail, or a truth value is stored that is not known, there are
//! several ways on.

use crate::evaluate::Tree;
use crate::explore::{Explorer, MOST_PATHS};
use crate::layout::{Kind, words};
use crate::path::{Attempt, Site};
use crate::symbol::{Word, all, any, compare, known, symbol, truth};
use crate::walk::{Halt, Walk, Way};
use linchpin_ir::program::{
    Action, Body, Cell, Expr, LocalId as Local, Place as From, Target, Type,
};
use linchpin_subop::model::{
    Condition, FieldId, GlobalId, Index, Place, Relation, Statement, StructId, Term, Var,
};
use linchpin_syntax::Span;

impl Explorer<'_> {
    pub fn action(
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
        walk.line = line;
        self.evaluates(&mut walk, action)?;
        match action {
            Action::Guard(condition) => self.guard(walk, condition),
            // A failing assertion is a fault: the run ends there.
            Action::Assert(condition) => self.guard(walk, condition),
            Action::Assign { local, value } => {
                let mut ways = Vec::new();
                for (conditions, tree) in walk.words().evaluate(value)? {
                    let mut way = walk.clone();
                    if way.assume(conditions).is_ok() {
                        if let Err(halt) = way.assign(local, tree) {
                            if let Halt::Never = halt {
                                self.may_fail(&way, Vec::new(), "an index is out of range");
                            }
                            return Err(halt);
                        }
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
                if to.checked_sub(from).is_none_or(|count| count > 8) {
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
                for (conditions, trees) in walk.words().together(fields)? {
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
                let alone = apart && walk.current.is_empty();
                let mut parts = Vec::new();
                let mut writes = Vec::new();
                let mut words = Vec::new();
                for cell in cells {
                    let targets = self.targets(&mut walk, &cell.place)?;
                    words.extend(targets.iter().map(|(place, _)| *place));
                }
                self.same_words(&mut walk, &words)?;
                for cell in cells {
                    let expected = walk.words().single(&cell.expected)?;
                    let seen = self.read(&mut walk, &cell.place, "seen")?;
                    parts.push(walk.words().equal(&seen, &expected)?);
                    writes.push((&cell.place, walk.words().single(&cell.new)?));
                }
                let attempt = if alone { self.attempt(&walk, *into, cells, site)? } else { None };
                let mut ways = Vec::new();
                let mut success = walk.clone();
                if success.assume(vec![all(parts.clone())]).is_ok() {
                    success.values[into.0 as usize] = Tree::Word(Word::Truth(truth(true)));
                    let mut open = vec![success];
                    for (place, value) in &writes {
                        let mut next = Vec::new();
                        for way in open {
                            next.extend(unless_never(self.store(way, place, value))?);
                            next = few(next)?;
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
                let target = self.only_word(&mut walk, place)?;
                let id = walk.observe(target, Kind::Lock, "holder")?;
                walk.assume(vec![compare(id, Relation::Equal, Term::Int(0), &[])])?;
                walk.put(target, Term::Id);
                walk.held.push(target);
                Ok(vec![walk])
            }
            Action::Unlock(place) => {
                let target = self.only_word(&mut walk, place)?;
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
                ways = few(next)?;
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
        cells: &[Cell],
        site: Site,
    ) -> Way<Option<Attempt>> {
        let [cell] = cells else { return Ok(None) };
        if is_read(self.body, into) || !walk.current.statements.is_empty() {
            return Ok(None);
        }
        let targets = self.words_of(walk, &cell.place)?;
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
    fn targets(&self, walk: &mut Walk, place: &From) -> Way<Vec<(Place, Kind)>> {
        let targets = self.words_of(walk, place)?;
        if let Some((target, _)) = targets.first() {
            self.access(walk, place, *target)?;
        }
        Ok(targets)
    }

    fn words_of(&self, walk: &Walk, place: &From) -> Way<Vec<(Place, Kind)>> {
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
                    Tree::Word(Word::Term(Term::Null)) => {
                        self.may_fail(walk, Vec::new(), "an object is null");
                        return Err(Halt::Never);
                    }
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

    fn only_word(&self, walk: &mut Walk, place: &From) -> Way<Place> {
        match &self.targets(walk, place)?[..] {
            [(place, _)] => Ok(*place),
            _ => Err("a lock of several words".to_owned().into()),
        }
    }

    fn read(&self, walk: &mut Walk, place: &From, name: &str) -> Way<Tree> {
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

    fn write(&self, walk: Walk, place: &From, value: &Expr) -> Way<Vec<Walk>> {
        let mut ways = Vec::new();
        for (conditions, tree) in walk.words().evaluate(value)? {
            let mut way = walk.clone();
            if way.assume(conditions).is_ok() {
                ways.extend(unless_never(self.store(way, place, &tree))?);
            }
        }
        Ok(ways)
    }

    fn store(&self, walk: Walk, place: &From, tree: &Tree) -> Way<Vec<Walk>> {
        let mut walk = walk;
        let targets = self.targets(&mut walk, place)?;
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
            ways = few(next)?;
        }
        Ok(ways)
    }
}

/// The ways, unless there are too many of them.
fn few(ways: Vec<Walk>) -> Way<Vec<Walk>> {
    if ways.len() > MOST_PATHS {
        return Err("there are too many ways through this operation".to_owned().into());
    }
    Ok(ways)
}

/// A way that cannot be taken says nothing about the others.
fn unless_never(ways: Way<Vec<Walk>>) -> Way<Vec<Walk>> {
    match ways {
        Err(Halt::Never) => Ok(Vec::new()),
        other => other,
    }
}

/// A word as it is stored: truth values that depend on symbols are told apart.
pub fn stored(word: &Word, kind: Kind) -> Vec<(Condition, Term)> {
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
