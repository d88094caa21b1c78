//! Paths: the ways from a call to a return, each as a list of steps over [symbols](crate::symbol).

use crate::symbol::{Substitute, Undefined, as_symbol, simplified, symbols_of};
use linchpin_subop::model::{Condition, LocalId, Place, Statement, Term, Type, Var};

/// A place in the code where a `cas` is tried whose outcome nothing looks at: a step that others
/// may already have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    pub operation: usize,
    pub node: u32,
    /// Which action of the node's edges it is.
    pub action: usize,
}

/// A `cas` at a [`Site`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub site: Site,
    pub place: Place,
    pub expected: Term,
    pub new: Term,
    pub succeeded: bool,
}

/// One atomic step: conditions on the state before it, then statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The source line of its first access.
    pub line: u32,
    /// Comparisons of shared locations with symbols, `tail == t` (if `t` is not set yet, this is a
    /// read), and of symbols with each other.
    pub conditions: Vec<Condition>,
    pub statements: Vec<Statement>,
    pub attempt: Option<Attempt>,
}

impl Step {
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty() && self.statements.is_empty() && self.attempt.is_none()
    }

    /// Whether it changes nothing.
    pub fn is_pure(&self) -> bool {
        self.statements.is_empty()
    }

    pub fn symbols(&self) -> Vec<LocalId> {
        let mut found = Vec::new();
        self.conditions.iter().for_each(|part| part.symbols(&mut found));
        self.statements.iter().for_each(|part| part.symbols(&mut found));
        found
    }

    pub fn substitute(&mut self, from: LocalId, to: &Term) -> Result<(), Undefined> {
        for condition in &mut self.conditions {
            condition.substitute(from, to)?;
            *condition = simplified(condition.clone());
        }
        self.statements.iter_mut().try_for_each(|statement| statement.substitute(from, to))?;
        if let Some(attempt) = &mut self.attempt {
            attempt.place.substitute(from, to)?;
            attempt.expected.substitute(from, to)?;
            attempt.new.substitute(from, to)?;
        }
        Ok(())
    }
}

/// A value that is set once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    pub ty: Type,
}

/// How a path ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The operation answers these words.
    Return(Vec<Term>),
    /// With this attempt, which succeeds: what is known when another thread helps.
    Help,
    /// The last step fails.
    Fault,
}

/// A way through an operation. Rounds of loops that are gone through again are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The operation of the program.
    pub operation: usize,
    pub symbols: Vec<Symbol>,
    /// How many of the symbols are arguments.
    pub arguments: usize,
    /// The symbols that are objects which the operation allocated.
    pub new: Vec<LocalId>,
    /// Whether it depends on what rounds of loops, which are left out, have left in locals: then it
    /// is more than one way through the code.
    pub guesses: bool,
    pub steps: Vec<Step>,
    pub end: End,
}

impl Path {
    /// For each step, whether others can notice it: it writes more than objects that only this
    /// operation knows.
    pub fn visible(&self) -> Vec<bool> {
        let mut private: Vec<LocalId> = Vec::new();
        self.steps.iter().map(|step| is_visible(step, &mut private)).collect()
    }

    /// Where the stretch of steps without visible effects that step `at` belongs to begins.
    pub fn segment(&self, visible: &[bool], at: usize) -> usize {
        (0..at).rev().find(|step| visible[*step]).map_or(0, |step| step + 1)
    }

    /// The first step that mentions each symbol; arguments are set from the start.
    pub fn set_at(&self) -> Vec<Option<usize>> {
        let mut set = vec![None; self.symbols.len()];
        set.iter_mut().take(self.arguments).for_each(|at| *at = Some(0));
        for (at, step) in self.steps.iter().enumerate() {
            for symbol in step.symbols() {
                set[symbol.0].get_or_insert(at);
            }
        }
        set
    }

    /// The symbols that are used by statements, by the end, or to find a location.
    pub fn result_symbols(&self) -> Vec<LocalId> {
        match &self.end {
            End::Return(terms) => terms.iter().flat_map(symbols_of).collect(),
            End::Help | End::Fault => Vec::new(),
        }
    }
}

/// Whether a step is visible; `private` are the objects that were allocated and not stored so far.
pub fn is_visible(step: &Step, private: &mut Vec<LocalId>) -> bool {
    let mut visible = false;
    for statement in &step.statements {
        match statement {
            Statement::Malloc { var: Var::Local(id), .. } => private.push(*id),
            Statement::Assign { place, value, .. } => {
                if let Some(stored) = as_symbol(value) {
                    private.retain(|id| *id != stored);
                }
                visible |=
                    !matches!(place, Place::Field(Var::Local(base), ..) if private.contains(base));
            }
            _ => visible = true,
        }
    }
    visible
}
