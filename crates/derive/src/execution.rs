//! One symbolic execution of an operation, as far as it has got: what its locals hold, and the
//! steps so far.

use crate::evaluate::{Tree, Words};
use crate::layout::{Kind, words};
use crate::path::{Step, Symbol, is_visible};
use crate::symbol::{Word, compare, known, symbol};
use linchpin_diagnostic::Span;
use linchpin_ir::program::{Action, Body, LocalTarget, NodeId};
use std::rc::Rc;

use linchpin_subop::model::{Condition, LocalId, Place, Relation, Statement, Term, Var};

#[derive(Clone)]
pub struct Visit {
    pub node: NodeId,
    /// Locals with constant values: a loop that counts is gone through as often as it counts.
    pub counts: Vec<(u32, i64)>,
    pub values: Vec<Tree>,
    pub steps: usize,
    /// Whether it is inside of a step that has begun before.
    pub inside: bool,
    pub line: u32,
}

/// One symbolic execution, as far as it has got.
#[derive(Clone)]
pub struct Execution {
    pub symbols: Vec<Symbol>,
    pub new: Vec<LocalId>,
    pub values: Vec<Tree>,
    pub steps: Vec<Step>,
    pub current: Step,
    pub visits: Vec<Rc<Visit>>,
    /// The symbols that stand for what rounds have left in locals.
    pub guessed: Vec<LocalId>,
    pub held: Vec<Place>,
    /// The line of the action that it executes.
    pub line: u32,
}

/// Why an execution is not followed.
pub enum Halt {
    /// It cannot be taken, or fails: a fault ends the run.
    Never,
    Refused(String),
}

impl From<String> for Halt {
    fn from(reason: String) -> Halt {
        Halt::Refused(reason)
    }
}

/// What comes of an action, if the execution goes on.
pub type Followed<T> = Result<T, Halt>;

/// Whether the operation allocates such objects.
fn allocates(body: &Body, of: usize) -> bool {
    let actions = body.nodes.iter().flat_map(|node| &node.edges).flat_map(|edge| &edge.actions);
    actions
        .into_iter()
        .any(|(action, _)| matches!(action, Action::New { object, .. } if *object == of))
}

impl Execution {
    pub fn words(&self) -> Words<'_> {
        Words { values: &self.values, new: &self.new }
    }

    pub fn fresh(&mut self, name: &str, kind: Kind) -> LocalId {
        let name = if name.starts_with('$') {
            "seen".to_owned() + name.trim_start_matches(|c: char| c == '$' || c.is_ascii_digit())
        } else {
            name.to_owned()
        };
        self.symbols.push(Symbol { name, ty: kind.word_type() });
        LocalId(self.symbols.len() - 1)
    }

    pub fn finish_step(&mut self, line: u32) {
        let step = std::mem::take(&mut self.current);
        if !step.is_empty() {
            self.steps.push(step);
        }
        self.current.line = line;
    }

    pub fn assume(&mut self, conditions: Vec<Condition>) -> Followed<()> {
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
    pub fn guess(&mut self, body: &Body, local: u32) -> Result<(), String> {
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
            // It may be an object of a round that is left out, found again in a field: no guess can
            // be that one.
            if let Kind::Ref(of) = kind
                && allocates(body, of)
            {
                return Err(format!(
                    "the loop changes `{}`, which may hold a new object",
                    variable.name
                ));
            }
            let id = self.fresh(&format!("{}{suffix}", variable.name), kind);
            self.guessed.push(id);
            values.push(match kind {
                Kind::Bool => Word::Truth(compare(symbol(id), Relation::Equal, Term::Int(1), &[])),
                _ => Word::Term(symbol(id)),
            });
        }
        self.values[local as usize] = Tree::shaped(&variable.ty, &mut values.into_iter());
        Ok(())
    }

    /// The live locals that are plain integers.
    pub fn counts(&self, live: &[bool]) -> Vec<(u32, i64)> {
        let constant = |(at, tree): (usize, &Tree)| match tree {
            Tree::Word(Word::Term(Term::Int(value))) if live[at] => Some((at as u32, *value)),
            _ => None,
        };
        self.values.iter().enumerate().filter_map(constant).collect()
    }

    pub fn assign(&mut self, target: &LocalTarget, tree: Tree) -> Followed<()> {
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

    pub fn put(&mut self, place: Place, value: Term) {
        self.current.statements.push(Statement::Assign { place, value, span: Span::default() });
    }

    /// What a location holds now: what this step wrote to it, or a symbol for what it held before.
    pub fn observe(&mut self, place: Place, kind: Kind, name: &str) -> Followed<Term> {
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
