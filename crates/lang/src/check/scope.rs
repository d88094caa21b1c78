//! The local variables of the body being checked.

use linchpin_ir::program::{LocalId, Type, Variable};
use linchpin_spec::Value;

/// What kind of body it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Op,
    Fn,
    Init,
    /// `recover { }`
    Recover,
    /// `recover(t: tid) -> R? { }`
    Resolve,
    /// A constant expression, outside any body.
    Constant,
}

/// What a name in a body stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    Variable(LocalId),
    /// A parameter that is a place: index into [`Scope::places`].
    Place(usize),
    /// A variable whose declaration is mistaken; that has been reported.
    Mistaken,
}

/// The scope of a body.
pub(super) struct Scope {
    pub(super) kind: Kind,
    pub(super) response: Type,
    /// Every local variable so far; ids are indexes.
    pub(super) locals: Vec<Variable>,
    /// The types of what the parameters hold that are places.
    pub(super) places: Vec<Type>,
    /// Nested blocks, innermost last: the names declared in each.
    blocks: Vec<Vec<(String, Binding)>>,
    /// How many loops enclose the statement.
    pub(super) loops: usize,
}

impl Scope {
    pub(super) fn new(kind: Kind, response: Type) -> Scope {
        Scope {
            kind,
            response,
            locals: Vec::new(),
            places: Vec::new(),
            blocks: vec![Vec::new()],
            loops: 0,
        }
    }

    /// The block that runs without threads, if it is one.
    pub(super) fn without_threads(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Init => Some("init"),
            Kind::Recover => Some("recover"),
            Kind::Op | Kind::Fn | Kind::Resolve | Kind::Constant => None,
        }
    }

    pub(super) fn enter(&mut self) {
        self.blocks.push(Vec::new());
    }

    pub(super) fn leave(&mut self) {
        self.blocks.pop();
    }

    /// Declares a variable; an older one of the same name is hidden. `_` cannot be named.
    pub(super) fn declare(&mut self, name: &str, ty: Type, initial: Value) -> LocalId {
        let id = self.temporary(name, ty, initial);
        if name != "_" {
            self.bind(name, Binding::Variable(id));
        }
        id
    }

    /// Declares a parameter that is a place with a value of this type.
    pub(super) fn declare_place(&mut self, name: &str, ty: Type) {
        self.bind(name, Binding::Place(self.places.len()));
        self.places.push(ty);
    }

    /// Declares a variable about which nothing more is to be said.
    pub(super) fn declare_mistaken(&mut self, name: &str) {
        self.bind(name, Binding::Mistaken);
    }

    fn bind(&mut self, name: &str, binding: Binding) {
        if let Some(block) = self.blocks.last_mut() {
            block.push((name.to_owned(), binding));
        }
    }

    /// A variable that cannot be named.
    pub(super) fn temporary(&mut self, name: &str, ty: Type, initial: Value) -> LocalId {
        let id = LocalId(self.locals.len() as u32);
        self.locals.push(Variable { name: name.to_owned(), ty, initial });
        id
    }

    pub(super) fn find(&self, name: &str) -> Option<Binding> {
        let names = self.blocks.iter().rev().flat_map(|block| block.iter().rev());
        names.into_iter().find(|(known, _)| known == name).map(|(_, binding)| *binding)
    }

    /// The variable of this name, if it is a local one.
    pub(super) fn variable(&self, name: &str) -> Option<LocalId> {
        match self.find(name)? {
            Binding::Variable(id) => Some(id),
            Binding::Place(_) | Binding::Mistaken => None,
        }
    }

    pub(super) fn type_of(&self, id: LocalId) -> &Type {
        &self.locals[id.0 as usize].ty
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().flatten().map(|(name, _)| name.as_str())
    }
}
