//! Symbolic execution of an operation that nothing interrupts: every path, with its condition and
//! what it leaves behind.
//!
//! Whether a word is `NULL` is decided before anything is executed, so a word is `NULL` or a sum of
//! symbols. Objects on the heap and elements at an index that is not a constant are not covered:
//! nothing is concluded about such operations.

use super::linear::{Constraint, Linear, Symbol, is_unsatisfiable};
use super::{NotShown, Word};
use crate::execute::guess;
use crate::model::{
    Atom, Condition, FieldId, GlobalId, GlobalKind, Index, LocalId, Model, Next, Operation, Place,
    Relation, Statement, SubOperation, Term, Type, Var,
};
use std::collections::BTreeMap;

/// Alternatives of one condition.
const MOST_ALTERNATIVES: usize = 64;

/// Paths through one operation.
const MOST_PATHS: usize = 256;

/// A shared word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Location {
    /// A variable.
    Variable(GlobalId),
    /// A field of a structure in place.
    Field(GlobalId, FieldId),
    /// An element of an array.
    Element(GlobalId, i64),
}

/// What symbols stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unknown {
    /// What the location holds before the call.
    Before(Location),
    /// An argument.
    Argument(usize),
    /// The `ID` of the call.
    Id,
    /// A guess that no equality decides.
    Guess(usize),
}

/// The symbols that are used.
#[derive(Debug, Default)]
pub struct Symbols {
    known: BTreeMap<Unknown, Symbol>,
    guesses: usize,
}

impl Symbols {
    pub fn of(&mut self, unknown: Unknown) -> Linear {
        let next = Symbol(self.known.len());
        Linear::symbol(*self.known.entry(unknown).or_insert(next))
    }

    fn guess(&mut self) -> Linear {
        self.guesses += 1;
        self.of(Unknown::Guess(self.guesses))
    }
}

/// The shared words, as far as they were looked at.
pub type Shared = BTreeMap<Location, Word>;

/// A way from call to return.
#[derive(Clone, Debug)]
pub struct Path {
    pub condition: Vec<Constraint>,
    pub shared: Shared,
    pub result: Vec<Word>,
    /// Whether the operation can always take it where the condition holds: it guesses nothing.
    pub certain: bool,
}

/// An operation in the course of its execution.
#[derive(Clone)]
struct Running {
    condition: Vec<Constraint>,
    shared: Shared,
    locals: Vec<Option<Word>>,
    certain: bool,
    result: Option<Vec<Word>>,
}

/// What a location holds before the call.
pub type Before<'a> = dyn FnMut(Location, &mut Symbols) -> Result<Word, NotShown> + 'a;

/// Executes one operation; `before` says what a location holds that was not looked at yet.
pub struct Executor<'a> {
    pub model: &'a Model,
    pub symbols: &'a mut Symbols,
    pub before: &'a mut Before<'a>,
}

impl Executor<'_> {
    /// Every path of the operation with these arguments, from where `condition` holds.
    pub fn paths(
        &mut self,
        operation: &Operation,
        arguments: &[Word],
        condition: &[Constraint],
    ) -> Result<Vec<Path>, NotShown> {
        let mut locals: Vec<Option<Word>> = arguments.iter().cloned().map(Some).collect();
        locals.resize(operation.locals.len(), None);
        let running = Running {
            condition: condition.to_vec(),
            shared: Shared::new(),
            locals,
            certain: true,
            result: None,
        };
        let mut open: Vec<(usize, Running)> =
            operation.first.iter().map(|first| (*first, running.clone())).collect();
        let mut paths = Vec::new();
        while let Some((index, running)) = open.pop() {
            if open.len() + paths.len() > MOST_PATHS {
                return Err(NotShown::TooManyCases);
            }
            let step = &operation.sub_operations[index];
            for after in self.step(operation, step, running)? {
                for next in &step.next {
                    match next {
                        Next::SubOperation(next) => open.push((*next, after.clone())),
                        Next::Return => paths.push(Path {
                            condition: after.condition.clone(),
                            shared: after.shared.clone(),
                            result: after.result.clone().unwrap_or_default(),
                            certain: after.certain,
                        }),
                    }
                }
            }
        }
        Ok(paths)
    }

    /// Executes a sub-operation in every way.
    fn step(
        &mut self,
        operation: &Operation,
        step: &SubOperation,
        running: Running,
    ) -> Result<Vec<Running>, NotShown> {
        let mut done = Vec::new();
        for mut running in self.guessed(operation, step, running)? {
            let alternatives = self.alternatives(&step.precondition, &mut running)?;
            for alternative in alternatives {
                let mut after = running.clone();
                after.condition.extend(alternative);
                if is_unsatisfiable(&after.condition) {
                    continue;
                }
                for statement in &step.body {
                    self.statement(statement, &mut after)?;
                }
                if let Some(terms) = &step.result {
                    let words = terms.iter().map(|term| self.term(*term, &mut after));
                    after.result = Some(words.collect::<Result<_, _>>()?);
                }
                done.push(after);
            }
        }
        Ok(done)
    }

    /// Sets the locals that the sub-operation guesses: to what an equality demands, else to
    /// anything.
    fn guessed(
        &mut self,
        operation: &Operation,
        step: &SubOperation,
        mut running: Running,
    ) -> Result<Vec<Running>, NotShown> {
        let unset = |running: &Running| -> Vec<LocalId> {
            let read = guess::reads(step).into_iter();
            read.filter(|id| running.locals[id.0].is_none()).collect()
        };
        while let Some((id, word)) = self.demanded(&unset(&running), step, &mut running)? {
            running.locals[id.0] = Some(word);
        }
        let mut all = vec![running];
        for id in unset(&all[0]) {
            if operation.locals[id.0].ty != Type::Int {
                return Err(NotShown::Heap);
            }
            let mut next = Vec::new();
            for running in all {
                for word in [Word::Null, Word::Int(self.symbols.guess())] {
                    let mut running = Running { certain: false, ..running.clone() };
                    running.locals[id.0] = Some(word);
                    next.push(running);
                }
            }
            all = next;
        }
        Ok(all)
    }

    /// The value that an equality of the precondition demands of a guess, if the other side is
    /// known.
    fn demanded(
        &mut self,
        unset: &[LocalId],
        step: &SubOperation,
        running: &mut Running,
    ) -> Result<Option<(LocalId, Word)>, NotShown> {
        let Condition::All(parts) = &step.precondition else { return Ok(None) };
        for part in parts {
            let Condition::Atom(Atom { left, relation: Relation::Equal, right, .. }) = part else {
                continue;
            };
            for (one, other) in [(left, right), (right, left)] {
                if let Term::Place(Place::Variable(Var::Local(id))) = one
                    && unset.contains(id)
                    && !guess::locals_of(*other).iter().any(|id| unset.contains(id))
                {
                    return Ok(Some((*id, self.term(*other, running)?)));
                }
            }
        }
        Ok(None)
    }

    /// The alternatives of a condition, each a conjunction; they may overlap.
    fn alternatives(
        &mut self,
        condition: &Condition,
        running: &mut Running,
    ) -> Result<Vec<Vec<Constraint>>, NotShown> {
        match condition {
            Condition::All(parts) => {
                let mut all = vec![Vec::new()];
                for part in parts {
                    let here = self.alternatives(part, running)?;
                    all = all
                        .iter()
                        .flat_map(|before: &Vec<Constraint>| {
                            here.iter().map(move |more| [&before[..], &more[..]].concat())
                        })
                        .collect();
                    if all.len() > MOST_ALTERNATIVES {
                        return Err(NotShown::TooManyCases);
                    }
                }
                Ok(all)
            }
            Condition::Any(parts) => {
                let mut any = Vec::new();
                for part in parts {
                    any.extend(self.alternatives(part, running)?);
                }
                if any.len() > MOST_ALTERNATIVES { Err(NotShown::TooManyCases) } else { Ok(any) }
            }
            Condition::Atom(atom) => {
                let left = self.term(atom.left, running)?;
                let right = self.term(atom.right, running)?;
                compared(&left, atom.relation, &right)
            }
        }
    }

    fn statement(&mut self, statement: &Statement, running: &mut Running) -> Result<(), NotShown> {
        match *statement {
            Statement::Assign { place, value, .. } => {
                let word = self.term(value, running)?;
                match place {
                    Place::Variable(Var::Local(id)) => running.locals[id.0] = Some(word),
                    place => {
                        let location = self.location(place, running)?;
                        running.shared.insert(location, word);
                    }
                }
                Ok(())
            }
            Statement::Read { place, .. } => self.term(Term::Place(place), running).map(drop),
            Statement::Malloc { .. } | Statement::Free { .. } => Err(NotShown::Heap),
        }
    }

    fn term(&mut self, term: Term, running: &mut Running) -> Result<Word, NotShown> {
        match term {
            Term::Int(value) => Ok(Word::Int(Linear::constant(value))),
            Term::Null => Ok(Word::Null),
            Term::Id => Ok(Word::Int(self.symbols.of(Unknown::Id))),
            Term::Place(place) => self.place(place, running),
            Term::Plus(place, more) => match self.place(place, running)? {
                Word::Int(sum) => {
                    let sum = sum.plus(1, &Linear::constant(more));
                    Ok(Word::Int(sum.ok_or(NotShown::TooManyCases)?))
                }
                Word::Null => Err(NotShown::Undefined),
            },
        }
    }

    fn place(&mut self, place: Place, running: &mut Running) -> Result<Word, NotShown> {
        if let Place::Variable(Var::Local(id)) = place {
            return running.locals[id.0].clone().ok_or(NotShown::Undefined);
        }
        let location = self.location(place, running)?;
        if let Some(word) = running.shared.get(&location) {
            return Ok(word.clone());
        }
        let word = (self.before)(location, self.symbols)?;
        running.shared.insert(location, word.clone());
        Ok(word)
    }

    fn location(&mut self, place: Place, running: &Running) -> Result<Location, NotShown> {
        match place {
            Place::Variable(Var::Global(id))
                if self.model.globals[id.0].kind == GlobalKind::Scalar(Type::Int) =>
            {
                Ok(Location::Variable(id))
            }
            Place::Field(Var::Global(id), of, field)
                if self.model.globals[id.0].kind == GlobalKind::Place(of)
                    && self.model.field(of, field).ty == Type::Int =>
            {
                Ok(Location::Field(id, field))
            }
            Place::Element(id, index)
                if self.model.globals[id.0].kind == GlobalKind::Array(Type::Int) =>
            {
                let index = self.index(index, running).ok_or(NotShown::Index)?;
                Ok(Location::Element(id, index))
            }
            _ => Err(NotShown::Heap),
        }
    }

    /// The index of an element, if it is a constant.
    fn index(&self, index: Index, running: &Running) -> Option<i64> {
        let local = |var: Var| match var {
            Var::Local(id) => match running.locals[id.0].as_ref()? {
                Word::Int(sum) => sum.value(),
                Word::Null => None,
            },
            _ => None,
        };
        match index {
            Index::Int(value) => Some(value),
            Index::Variable(var) => local(var),
            Index::Plus(var, more) => local(var)?.checked_add(more),
        }
    }
}

/// The alternatives of a comparison: none if it is false.
fn compared(
    left: &Word,
    relation: Relation,
    right: &Word,
) -> Result<Vec<Vec<Constraint>>, NotShown> {
    let (left, right) = match (left, right) {
        (Word::Int(left), Word::Int(right)) => (left, right),
        (left, right) => {
            let holds = match relation {
                Relation::Equal => left == right,
                Relation::NotEqual => left != right,
                // `NULL` is neither below nor above anything.
                _ => false,
            };
            return Ok(if holds { vec![Vec::new()] } else { Vec::new() });
        }
    };
    let constraint = match relation {
        Relation::Equal => Constraint::equal(left, right),
        Relation::NotEqual => Constraint::equal(left, right).and_then(|equal| equal.negated()),
        Relation::Less => Constraint::at_most(left, right, -1),
        Relation::LessOrEqual => Constraint::at_most(left, right, 0),
        Relation::Greater => Constraint::at_most(right, left, -1),
        Relation::GreaterOrEqual => Constraint::at_most(right, left, 0),
    };
    Ok(vec![vec![constraint.ok_or(NotShown::TooManyCases)?]])
}
