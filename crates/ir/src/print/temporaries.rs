//! Variables that the lowering made: people read what they stand for.
//!
//! `if t == tail` reads `tail` into a variable that has no name in the model, and compares it. Its
//! text is `read tail`, then `when t == tail`. Where several steps write such a variable, as with
//! the answer of a function, the lowering has given it a name.

use super::Names;
use crate::program::{Action, Edge, Expr, LocalId, LocalTarget, Variable};

/// How many temporaries deep a text is looked up: the lowering makes no cycle of them, but a
/// program may come from elsewhere.
const DEPTH: usize = 8;

/// Begins the name of a variable that the lowering made.
const MARK: char = '$';

impl Variable {
    /// Whether the lowering made it.
    pub fn is_temporary(&self) -> bool {
        self.name.starts_with(MARK)
    }

    /// The name of a temporary without what makes it one, if it has one.
    fn given_name(&self) -> Option<&str> {
        let name = self.name.strip_prefix(MARK)?;
        name.starts_with(|first: char| first.is_ascii_alphabetic()).then_some(name)
    }
}

impl<'a> Names<'a> {
    /// Whether the lowering made this variable.
    pub fn is_temporary(&self, local: LocalId) -> bool {
        self.variable(local).is_some_and(Variable::is_temporary)
    }

    /// `t := ` if the answer goes to a variable with a name.
    pub(crate) fn answer(&self, into: LocalId) -> Option<String> {
        let variable = self.variable(into)?;
        let name = match variable.is_temporary() {
            true => variable.given_name()?,
            false => &variable.name,
        };
        Some(format!("{name} := "))
    }

    /// A local variable as it is read: its name, or what it stands for.
    pub(super) fn local_within(&self, local: LocalId, outer: u8) -> String {
        let Some(variable) = self.variable(local) else { return "?".to_owned() };
        if !variable.is_temporary() {
            return variable.name.clone();
        }
        if let Some(name) = variable.given_name() {
            return name.to_owned();
        }
        if !self.is_shallow(local, DEPTH) {
            return variable.name.clone();
        }
        let mut texts: Vec<String> =
            self.sources(local).map(|action| self.source_text(action, outer)).collect();
        texts.dedup();
        match &texts[..] {
            [one] => one.clone(),
            _ => variable.name.clone(),
        }
    }

    /// Whether a condition is the answer of a `cas` or `sc`, which says if it has succeeded.
    pub(super) fn is_success(&self, condition: &Expr) -> bool {
        let Expr::Local(local) = condition else { return false };
        let is_attempt = |action: &Action| {
            matches!(action, Action::Cas { .. } | Action::StoreConditional { .. })
        };
        self.answer(*local).is_none()
            && self.sources(*local).next().is_some()
            && self.sources(*local).all(is_attempt)
    }

    /// The actions that write a variable.
    fn sources(&self, local: LocalId) -> impl Iterator<Item = &'a Action> {
        let edges = self.body.nodes.iter().flat_map(|node| &node.edges);
        let actions = edges.flat_map(|Edge { actions, .. }| actions).map(|(action, _)| action);
        actions.filter(move |action| match action {
            Action::Assign { local: LocalTarget::Local(assigned), .. } => *assigned == local,
            other => other.answer() == Some(local),
        })
    }

    /// What a variable stands for that this action writes.
    fn source_text(&self, action: &Action, outer: u8) -> String {
        match action {
            Action::Assign { value, .. } => self.expr_within(value, outer),
            Action::New { object, .. } => format!("the new {}", self.structure(*object)),
            other => self.done(other),
        }
    }

    /// Whether what a temporary stands for is found within so many lookups.
    fn is_shallow(&self, local: LocalId, depth: usize) -> bool {
        let Some(deeper) = depth.checked_sub(1) else { return false };
        let mut is_shallow = true;
        for expr in self.sources(local).flat_map(Action::expressions) {
            expr.walk(&mut |part| {
                if let Expr::Local(inner) = part
                    && self.is_temporary(*inner)
                {
                    is_shallow &= self.is_shallow(*inner, deeper);
                }
            });
        }
        is_shallow
    }

    fn variable(&self, local: LocalId) -> Option<&'a Variable> {
        self.body.locals.get(local.0 as usize)
    }
}
