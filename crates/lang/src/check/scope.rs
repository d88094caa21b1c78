//! The local variables of the body being checked.

use linchpin_ir::program::{LocalId, Type, Variable};
use linchpin_spec::Value;

/// What kind of body it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Op,
    Fn,
    Init,
    /// A constant expression, outside any body.
    Constant,
}

/// The scope of a body.
pub(super) struct Scope {
    pub(super) kind: Kind,
    pub(super) response: Type,
    /// Every local variable so far; ids are indexes.
    pub(super) locals: Vec<Variable>,
    /// Nested blocks, innermost last: the names declared in each.
    blocks: Vec<Vec<(String, LocalId)>>,
    /// How many loops enclose the statement.
    pub(super) loops: usize,
}

impl Scope {
    pub(super) fn new(kind: Kind, response: Type) -> Scope {
        Scope { kind, response, locals: Vec::new(), blocks: vec![Vec::new()], loops: 0 }
    }

    pub(super) fn enter(&mut self) {
        self.blocks.push(Vec::new());
    }

    pub(super) fn leave(&mut self) {
        self.blocks.pop();
    }

    /// Declares a variable; an older one of the same name is hidden.
    pub(super) fn declare(&mut self, name: &str, ty: Type, initial: Value) -> LocalId {
        let id = self.temporary(name, ty, initial);
        if let Some(block) = self.blocks.last_mut() {
            block.push((name.to_owned(), id));
        }
        id
    }

    /// A variable that cannot be named.
    pub(super) fn temporary(&mut self, name: &str, ty: Type, initial: Value) -> LocalId {
        let id = LocalId(self.locals.len() as u32);
        self.locals.push(Variable { name: name.to_owned(), ty, initial });
        id
    }

    pub(super) fn find(&self, name: &str) -> Option<LocalId> {
        let names = self.blocks.iter().rev().flat_map(|block| block.iter().rev());
        names.into_iter().find(|(known, _)| known == name).map(|(_, id)| *id)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().flatten().map(|(name, _)| name.as_str())
    }
}
