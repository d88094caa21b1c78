//! The predicates of a family of structures, and the constraints that hold in all of them.

use crate::KleeneError;
use crate::constraint::{Constraint, consequences};
use crate::formula::{Footprint, Formula, Variable};
use crate::truth::bit;

/// A predicate without arguments: a bit of control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nullary(u8);

/// A predicate of one individual.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unary(u8);

/// A predicate of two individuals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Binary(u8);

macro_rules! index {
    ($($name:ident),*) => {$(
        impl $name {
            pub(crate) fn index(self) -> usize {
                usize::from(self.0)
            }
        }
    )*};
}
index!(Nullary, Unary, Binary);

/// A predicate of any arity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Predicate {
    /// Without arguments.
    Nullary(Nullary),
    /// Of one individual.
    Unary(Unary),
    /// Of two individuals.
    Binary(Binary),
}

/// What is declared of a predicate. Without a definition it is a core predicate, with one an
/// instrumentation predicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    name: String,
    abstraction: bool,
    unique: bool,
    functional: bool,
    definition: Option<Formula>,
}

impl Declaration {
    /// A core predicate.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let name = name.to_owned();
        Self { name, abstraction: false, unique: false, functional: false, definition: None }
    }

    /// It is an abstraction predicate: individuals on which it differs are not merged. For unary
    /// predicates.
    #[must_use]
    pub fn abstraction(mut self) -> Self {
        self.abstraction = true;
        self
    }

    /// It holds for at most one individual, as a pointer variable does. For unary predicates.
    #[must_use]
    pub fn unique(mut self) -> Self {
        self.unique = true;
        self
    }

    /// It holds for at most one second individual, as a field does. For binary predicates.
    #[must_use]
    pub fn functional(mut self) -> Self {
        self.functional = true;
        self
    }

    /// It is an instrumentation predicate with this definition; its arguments are [`Variable::V`]
    /// and [`Variable::W`].
    #[must_use]
    pub fn defined_by(mut self, definition: Formula) -> Self {
        self.definition = Some(definition);
        self
    }
}

/// An instrumentation predicate.
#[derive(Clone, Debug)]
pub(crate) struct Instrumentation {
    pub(crate) predicate: Predicate,
    pub(crate) definition: Formula,
    pub(crate) footprint: Footprint,
}

/// The predicates of a family of structures, and the constraints that hold in all of them.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    nullary: Vec<String>,
    unary: Vec<String>,
    binary: Vec<String>,
    pub(crate) abstraction: u64,
    pub(crate) unique: u64,
    pub(crate) functional: u64,
    /// The core predicates.
    pub(crate) core: Footprint,
    /// In the order of declaration, so that each definition reads only what comes before it.
    pub(crate) instrumentation: Vec<Instrumentation>,
    pub(crate) constraints: Vec<Constraint>,
}

impl Vocabulary {
    /// No predicates.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a predicate without arguments.
    pub fn nullary(&mut self, declaration: Declaration) -> Result<Nullary, KleeneError> {
        let predicate = Nullary(self.number(self.nullary.len(), &declaration)?);
        self.define(Predicate::Nullary(predicate), &declaration, &[])?;
        self.nullary.push(declaration.name);
        Ok(predicate)
    }

    /// Adds a predicate of one individual.
    pub fn unary(&mut self, declaration: Declaration) -> Result<Unary, KleeneError> {
        let predicate = Unary(self.number(self.unary.len(), &declaration)?);
        self.define(Predicate::Unary(predicate), &declaration, &[Variable::V])?;
        if declaration.abstraction {
            self.abstraction |= bit(predicate.index());
        }
        if declaration.unique {
            self.unique |= bit(predicate.index());
        }
        self.unary.push(declaration.name);
        Ok(predicate)
    }

    /// Adds a predicate of two individuals.
    pub fn binary(&mut self, declaration: Declaration) -> Result<Binary, KleeneError> {
        let predicate = Binary(self.number(self.binary.len(), &declaration)?);
        self.define(Predicate::Binary(predicate), &declaration, &[Variable::V, Variable::W])?;
        if declaration.functional {
            self.functional |= bit(predicate.index());
        }
        self.binary.push(declaration.name);
        Ok(predicate)
    }

    /// Demands of every structure that `body` implies `head`, for all values of their variables.
    ///
    /// [`coerce`](crate::Structure::coerce) discards what contradicts it: it must hold in every
    /// concrete structure that is meant.
    pub fn constrain(&mut self, constraint: Constraint) -> Result<(), KleeneError> {
        if !self.declares(constraint.footprint) {
            return Err(KleeneError::UnknownPredicate("a constraint".to_owned()));
        }
        self.constraints.push(constraint);
        Ok(())
    }

    /// The name of a predicate; empty if it is not of this vocabulary.
    #[must_use]
    pub fn name(&self, predicate: Predicate) -> &str {
        let name = match predicate {
            Predicate::Nullary(p) => self.nullary.get(p.index()),
            Predicate::Unary(p) => self.unary.get(p.index()),
            Predicate::Binary(p) => self.binary.get(p.index()),
        };
        name.map_or("", String::as_str)
    }

    /// All predicates.
    pub fn predicates(&self) -> impl Iterator<Item = Predicate> {
        let nullary = (0..).zip(&self.nullary).map(|(i, _)| Predicate::Nullary(Nullary(i)));
        let unary = self.unaries().map(Predicate::Unary);
        let binary = self.binaries().map(Predicate::Binary);
        nullary.chain(unary).chain(binary)
    }

    pub(crate) fn unaries(&self) -> impl Iterator<Item = Unary> {
        (0..).zip(&self.unary).map(|(i, _)| Unary(i))
    }

    pub(crate) fn binaries(&self) -> impl Iterator<Item = Binary> {
        (0..).zip(&self.binary).map(|(i, _)| Binary(i))
    }

    /// How many predicates there are of no, one and two arguments.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        (self.nullary.len(), self.unary.len(), self.binary.len())
    }

    pub(crate) fn is_unique(&self, predicate: Unary) -> bool {
        self.unique & bit(predicate.index()) != 0
    }

    pub(crate) fn is_functional(&self, predicate: Binary) -> bool {
        self.functional & bit(predicate.index()) != 0
    }

    fn number(&self, next: usize, declaration: &Declaration) -> Result<u8, KleeneError> {
        let name = &declaration.name;
        let names = self.nullary.iter().chain(&self.unary).chain(&self.binary);
        if names.into_iter().any(|taken| taken == name) {
            return Err(KleeneError::DuplicateName(name.clone()));
        }
        u8::try_from(next)
            .ok()
            .filter(|number| *number < 64)
            .ok_or_else(|| KleeneError::TooManyPredicates(name.clone()))
    }

    fn define(
        &mut self,
        predicate: Predicate,
        declaration: &Declaration,
        arguments: &[Variable],
    ) -> Result<(), KleeneError> {
        let Some(definition) = declaration.definition.clone() else {
            self.core.insert(predicate);
            return Ok(());
        };
        let footprint = definition.footprint();
        if !self.declares(footprint) {
            return Err(KleeneError::UnknownPredicate(declaration.name.clone()));
        }
        if definition.variables().iter().any(|v| !arguments.contains(v)) {
            return Err(KleeneError::FreeVariable(declaration.name.clone()));
        }
        self.constraints.extend(consequences(predicate, &definition));
        self.instrumentation.push(Instrumentation { predicate, definition, footprint });
        Ok(())
    }

    /// Whether all predicates of `footprint` are declared already.
    fn declares(&self, footprint: Footprint) -> bool {
        let mut all = Footprint::default();
        self.predicates().for_each(|predicate| all.insert(predicate));
        all.insert_summary();
        let mut both = all;
        both.extend(footprint);
        both == all
    }
}
