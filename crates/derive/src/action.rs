//! What each action of an edge does to an execution: where a `cas` may succeed or fail, or a truth
//! value is stored that is not known, it branches.

use crate::evaluate::Tree;
use crate::execution::{Execution, Followed, Halt};
use crate::explorer::{Explorer, MOST_PATHS};
use crate::layout::{Kind, words};
use crate::path::{Attempt, Site};
use crate::symbol::{Word, all, any, compare, known, symbol, truth};
use linchpin_ir::program::{
    Action, Body, Cell, Expr, LocalId as Local, LocalTarget, Place as From, Target, Type,
};
use linchpin_subop::model::{
    Condition, FieldId, GlobalId, Index, Place, Relation, Statement, StructId, Term, Var,
};
use linchpin_syntax::Span;

impl Explorer<'_> {
    pub fn action(
        &self,
        mut execution: Execution,
        action: &Action,
        line: u32,
        site: Site,
        apart: bool,
    ) -> Followed<Vec<Execution>> {
        if !action.places().is_empty() && execution.current.is_empty() {
            execution.current.line = line;
        }
        execution.line = line;
        self.evaluates(&mut execution, action)?;
        match action {
            Action::Guard(condition) => self.guard(execution, condition),
            // A failing assertion is a fault: the run ends there.
            Action::Assert(condition) => self.guard(execution, condition),
            Action::Assign { local, value } => self.assign(execution, local, value),
            Action::Choose { into, from, to } => choose(&execution, *into, from, to),
            Action::New { into, object, fields, .. } => {
                let mut branches = Vec::new();
                for (conditions, trees) in execution.words().together(fields)? {
                    let mut branch = execution.clone();
                    if branch.assume(conditions).is_ok() {
                        branches
                            .extend(self.allocate(branch, *into, *object, &trees, line, apart)?);
                    }
                }
                Ok(branches)
            }
            // Memory is collected: giving an object back changes nothing.
            Action::Free(_) => Ok(vec![execution]),
            Action::Read { into, place } => {
                let name = self.body.locals[into.0 as usize].name.clone();
                let tree = self.read(&mut execution, place, &name)?;
                execution.values[into.0 as usize] = tree;
                Ok(vec![execution])
            }
            Action::Write { place, value } => self.write(execution, place, value),
            Action::Cas { into, cells } => {
                self.compare_and_swap(execution, *into, cells, site, apart)
            }
            Action::Swap { into, place, value } => {
                let name = self.body.locals[into.0 as usize].name.clone();
                let new = execution.words().single(value)?;
                let old = self.read(&mut execution, place, &name)?;
                execution.values[into.0 as usize] = old;
                self.store(execution, place, &new)
            }
            Action::FetchAdd { into, place, value } => {
                let name = self.body.locals[into.0 as usize].name.clone();
                let Some(more) = execution.words().constant(value) else {
                    return Err("adding what is not a constant".to_owned().into());
                };
                let old = self.read(&mut execution, place, &name)?;
                let sum = execution.words().plus(&old, more)?;
                execution.values[into.0 as usize] = old;
                self.store(execution, place, &sum)
            }
            Action::Lock(place) => self.lock(execution, place),
            Action::Unlock(place) => self.unlock(execution, place),
            // Without crashes a flush only needs its place, and a fence nothing.
            Action::Flush(place) | Action::Persist(place) => {
                self.read(&mut execution, place, "flushed")?;
                Ok(vec![execution])
            }
            Action::Fence => Ok(vec![execution]),
            Action::LoadLinked { .. } | Action::StoreConditional { .. } => {
                Err("`ll` and `sc`".to_owned().into())
            }
            Action::Update { .. } => Err("collections".to_owned().into()),
        }
    }

    fn assign(
        &self,
        execution: Execution,
        local: &LocalTarget,
        value: &Expr,
    ) -> Followed<Vec<Execution>> {
        let mut branches = Vec::new();
        for (conditions, tree) in execution.words().evaluate(value)? {
            let mut branch = execution.clone();
            if branch.assume(conditions).is_ok() {
                if let Err(halt) = branch.assign(local, tree) {
                    if let Halt::Never = halt {
                        self.may_fail(&branch, Vec::new(), "an index is out of range");
                    }
                    return Err(halt);
                }
                branches.push(branch);
            }
        }
        Ok(branches)
    }

    /// A `cas` succeeds or fails; if nothing looks at its outcome, it may be a step on behalf of
    /// another operation.
    fn compare_and_swap(
        &self,
        mut execution: Execution,
        into: Local,
        cells: &[Cell],
        site: Site,
        apart: bool,
    ) -> Followed<Vec<Execution>> {
        let alone = apart && execution.current.is_empty();
        let mut parts = Vec::new();
        let mut writes = Vec::new();
        let mut words = Vec::new();
        for cell in cells {
            let targets = self.targets(&mut execution, &cell.place)?;
            words.extend(targets.iter().map(|(place, _)| *place));
        }
        self.same_words(&mut execution, &words)?;
        for cell in cells {
            let expected = execution.words().single(&cell.expected)?;
            let seen = self.read(&mut execution, &cell.place, "seen")?;
            parts.push(execution.words().equal(&seen, &expected)?);
            writes.push((&cell.place, execution.words().single(&cell.new)?));
        }
        let attempt = if alone { self.attempt(&execution, into, cells, site)? } else { None };
        let mut branches = Vec::new();
        let mut success = execution.clone();
        if success.assume(vec![all(parts.clone())]).is_ok() {
            success.values[into.0 as usize] = Tree::Word(Word::Truth(truth(true)));
            let mut open = vec![success];
            for (place, value) in &writes {
                let mut next = Vec::new();
                for branch in open {
                    next.extend(unless_never(self.store(branch, place, value))?);
                    next = few(next)?;
                }
                open = next;
            }
            for branch in &mut open {
                branch.current.attempt = attempt;
            }
            branches.extend(open);
        }
        let mut failure = execution;
        if failure.assume(vec![any(parts.iter().map(Condition::negated))]).is_ok() {
            failure.values[into.0 as usize] = Tree::Word(Word::Truth(truth(false)));
            failure.current.attempt =
                attempt.map(|attempt| Attempt { succeeded: false, ..attempt });
            branches.push(failure);
        }
        Ok(branches)
    }

    /// Takes a lock that is free.
    fn lock(&self, mut execution: Execution, place: &From) -> Followed<Vec<Execution>> {
        let target = self.only_word(&mut execution, place)?;
        let id = execution.observe(target, Kind::Lock, "holder")?;
        execution.assume(vec![compare(id, Relation::Equal, Term::Int(0), &[])])?;
        execution.put(target, Term::Id);
        execution.held.push(target);
        Ok(vec![execution])
    }

    /// Gives back a lock that this operation has taken.
    fn unlock(&self, mut execution: Execution, place: &From) -> Followed<Vec<Execution>> {
        let target = self.only_word(&mut execution, place)?;
        let Some(at) = execution.held.iter().position(|held| *held == target) else {
            return Err("unlocks what it has not locked itself".to_owned().into());
        };
        execution.held.remove(at);
        let id = execution.observe(target, Kind::Lock, "holder")?;
        execution.assume(vec![compare(id, Relation::Equal, Term::Id, &[])])?;
        execution.put(target, Term::Int(0));
        Ok(vec![execution])
    }

    fn guard(&self, execution: Execution, condition: &Expr) -> Followed<Vec<Execution>> {
        let mut branches = Vec::new();
        for (conditions, tree) in execution.words().evaluate(condition)? {
            let mut branch = execution.clone();
            let holds = branch.words().truth(&tree)?;
            if branch.assume(conditions.into_iter().chain([holds]).collect()).is_ok() {
                branches.push(branch);
            }
        }
        Ok(branches)
    }

    fn allocate(
        &self,
        mut execution: Execution,
        into: Local,
        object: usize,
        fields: &[Tree],
        line: u32,
        apart: bool,
    ) -> Followed<Vec<Execution>> {
        let name = self.body.locals[into.0 as usize].name.clone();
        if apart {
            // No other thread notices: a step of its own, after what was read before.
            execution.finish_step(line);
        }
        let id = execution.fresh(&name, Kind::Ref(object));
        execution.new.push(id);
        let (of, span) = (StructId(object), Span::default());
        execution.current.statements.push(Statement::Malloc { var: Var::Local(id), of, span });
        execution.values[into.0 as usize] = Tree::Word(Word::Term(symbol(id)));
        let mut branches = vec![execution];
        for (home, tree) in self.layout.fields[object].iter().zip(fields) {
            for (word, (value, kind)) in tree.words().iter().zip(&home.kinds).enumerate() {
                let place = Place::Field(Var::Local(id), of, FieldId(home.first + word));
                let mut next = Vec::new();
                for branch in branches {
                    for (condition, term) in stored(value, *kind) {
                        let mut branch = branch.clone();
                        if branch.assume(vec![condition]).is_ok() {
                            if term != kind.blank() {
                                branch.put(place, term);
                            }
                            next.push(branch);
                        }
                    }
                }
                branches = few(next)?;
            }
        }
        if apart {
            branches.iter_mut().for_each(|branch| branch.finish_step(line));
        }
        Ok(branches)
    }

    /// The attempt that a `cas` is, if nothing looks at its outcome.
    fn attempt(
        &self,
        execution: &Execution,
        into: Local,
        cells: &[Cell],
        site: Site,
    ) -> Followed<Option<Attempt>> {
        let [cell] = cells else { return Ok(None) };
        if is_read(self.body, into) || !execution.current.statements.is_empty() {
            return Ok(None);
        }
        let targets = self.words_of(execution, &cell.place)?;
        let (expected, new) =
            (execution.words().single(&cell.expected)?, execution.words().single(&cell.new)?);
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
    fn targets(&self, execution: &mut Execution, place: &From) -> Followed<Vec<(Place, Kind)>> {
        let targets = self.words_of(execution, place)?;
        if let Some((target, _)) = targets.first() {
            self.access(execution, place, *target)?;
        }
        Ok(targets)
    }

    fn words_of(&self, execution: &Execution, place: &From) -> Followed<Vec<(Place, Kind)>> {
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
                let index = match execution.words().single(index)? {
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
                let base = match execution.words().single(object)? {
                    Tree::Word(Word::Term(Term::Place(Place::Variable(var)))) => var,
                    // A fault: the run ends here.
                    Tree::Word(Word::Term(Term::Null)) => {
                        self.may_fail(execution, Vec::new(), "an object is null");
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

    fn only_word(&self, execution: &mut Execution, place: &From) -> Followed<Place> {
        match &self.targets(execution, place)?[..] {
            [(place, _)] => Ok(*place),
            _ => Err("a lock of several words".to_owned().into()),
        }
    }

    fn read(&self, execution: &mut Execution, place: &From, name: &str) -> Followed<Tree> {
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
        let targets = self.targets(execution, place)?;
        let suffixes = words(ty)?;
        let mut values = Vec::new();
        for ((place, kind), (suffix, _)) in targets.into_iter().zip(suffixes) {
            let term = execution.observe(place, kind, &format!("{name}{suffix}"))?;
            values.push(match kind {
                Kind::Bool => Word::Truth(compare(term, Relation::Equal, Term::Int(1), &[])),
                _ => Word::Term(term),
            });
        }
        Ok(Tree::shaped(ty, &mut values.into_iter()))
    }

    fn write(&self, execution: Execution, place: &From, value: &Expr) -> Followed<Vec<Execution>> {
        let mut branches = Vec::new();
        for (conditions, tree) in execution.words().evaluate(value)? {
            let mut branch = execution.clone();
            if branch.assume(conditions).is_ok() {
                branches.extend(unless_never(self.store(branch, place, &tree))?);
            }
        }
        Ok(branches)
    }

    fn store(&self, execution: Execution, place: &From, tree: &Tree) -> Followed<Vec<Execution>> {
        let mut execution = execution;
        let targets = self.targets(&mut execution, place)?;
        let mut branches = vec![execution];
        for ((place, kind), word) in targets.into_iter().zip(tree.words()) {
            let mut next = Vec::new();
            for branch in branches {
                for (condition, term) in stored(&word, kind) {
                    let mut branch = branch.clone();
                    if branch.assume(vec![condition]).is_ok() {
                        branch.put(place, term);
                        next.push(branch);
                    }
                }
            }
            branches = few(next)?;
        }
        Ok(branches)
    }
}

/// One execution for each value of a choice.
fn choose(execution: &Execution, into: Local, from: &Expr, to: &Expr) -> Followed<Vec<Execution>> {
    let (Some(from), Some(to)) = (execution.words().constant(from), execution.words().constant(to))
    else {
        return Err("`choose` between bounds that are not constant".to_owned().into());
    };
    if to.checked_sub(from).is_none_or(|count| count > 8) {
        return Err("`choose` among more than eight values".to_owned().into());
    }
    let branches = (from..to).map(|value| {
        let mut branch = execution.clone();
        branch.values[into.0 as usize] = Tree::Word(Word::Term(Term::Int(value)));
        branch
    });
    Ok(branches.collect())
}

/// The branches, unless there are too many of them.
fn few(branches: Vec<Execution>) -> Followed<Vec<Execution>> {
    if branches.len() > MOST_PATHS {
        return Err("there are too many ways through this operation".to_owned().into());
    }
    Ok(branches)
}

/// A branch that cannot be taken says nothing about the others.
fn unless_never(branches: Followed<Vec<Execution>>) -> Followed<Vec<Execution>> {
    match branches {
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
