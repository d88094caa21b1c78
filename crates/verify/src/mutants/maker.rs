//! Changes of statements: left out, in another order, under another lock, with another point.

use super::expressions::is_condition;
use super::{Change, Mutant};
use linchpin_lang::Span;
use linchpin_lang::syntax::ast::{
    AnnotationKind, Block, Expr, ExprKind, Item, Model, Range, Statement, StatementKind,
};

/// Replaces a part of the text.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    from: usize,
    to: usize,
    text: String,
}

impl Edit {
    pub(super) fn replace(span: Span, text: impl Into<String>) -> Edit {
        Edit { from: at(span.start), to: at(span.end), text: text.into() }
    }

    pub(super) fn insert(place: usize, text: impl Into<String>) -> Edit {
        Edit { from: place, to: place, text: text.into() }
    }
}

/// An offset of the text as an index.
pub(super) fn at(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

/// Makes mutants on its way through the tree.
pub(super) struct Maker<'a> {
    source: &'a str,
    routine: String,
    made: Vec<Mutant>,
}

impl<'a> Maker<'a> {
    /// All changes of operations, functions and recoveries, whether they are models or not.
    pub(super) fn all(source: &'a str, tree: &Model) -> Vec<Mutant> {
        let mut maker = Maker { source, routine: String::new(), made: Vec::new() };
        for item in &tree.items {
            let (name, body) = match item {
                Item::Op(routine) | Item::Fn(routine) => (&routine.name.name[..], &routine.body),
                Item::Resolve(routine) => ("recover", &routine.body),
                Item::Recover(body, _) => ("recover", body),
                _ => continue,
            };
            name.clone_into(&mut maker.routine);
            maker.block(body);
        }
        maker.made
    }

    pub(super) fn of(&self, span: Span) -> &'a str {
        self.source.get(at(span.start)..at(span.end)).unwrap_or_default()
    }

    pub(super) fn add(&mut self, change: Change, mut edits: Vec<Edit>) {
        edits.sort_by_key(|edit| edit.from);
        let Some(first) = edits.first().map(|edit| edit.from) else { return };
        let before = self.source.get(..first).unwrap_or_default();
        let line = 1 + u32::try_from(before.matches('\n').count()).unwrap_or(u32::MAX);
        let mut text = self.source.to_owned();
        for edit in edits.iter().rev() {
            if text.get(edit.from..edit.to).is_none() {
                return;
            }
            text.replace_range(edit.from..edit.to, &edit.text);
        }
        self.made.push(Mutant { change, routine: self.routine.clone(), line, text });
    }

    fn block(&mut self, block: &Block) {
        for (number, statement) in block.statements.iter().enumerate() {
            self.statement(statement);
            self.splits(statement);
            let before = number.checked_sub(1).and_then(|before| block.statements.get(before));
            let after = block.statements.get(number + 1);
            self.points(statement, before, after);
            if let Some(after) = after {
                self.pair(statement, after);
            }
        }
    }

    /// Changes of two statements that follow each other.
    fn pair(&mut self, first: &Statement, second: &Statement) {
        let change = if is_call(second, "unlock") {
            Change::EarlyUnlock
        } else if is_call(first, "lock") {
            Change::LateLock
        } else if is_simple(first) && is_simple(second) {
            Change::SwappedSteps
        } else {
            return;
        };
        if [first, second].iter().any(|of| leaves(of)) {
            return;
        }
        let (one, other) = (self.of(whole(first)), self.of(whole(second)));
        self.add(
            change,
            vec![Edit::replace(whole(first), other), Edit::replace(whole(second), one)],
        );
    }

    fn points(
        &mut self,
        statement: &Statement,
        before: Option<&Statement>,
        after: Option<&Statement>,
    ) {
        for annotation in &statement.annotations {
            if matches!(annotation.kind, AnnotationKind::Base(_)) {
                continue;
            }
            let gone = Edit::replace(annotation.span, "");
            self.add(Change::DroppedPoint, vec![gone.clone()]);
            for (change, other) in [(Change::EarlyPoint, before), (Change::LatePoint, after)] {
                let Some(other) = other else { continue };
                let text = format!("{} ", self.of(annotation.span));
                let moved = Edit::insert(at(whole(other).start), text);
                self.add(change, vec![gone.clone(), moved]);
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Let(_, _, value) => {
                value.iter().for_each(|value| self.expression(value));
            }
            StatementKind::LetTuple(_, value) => self.expression(value),
            StatementKind::Assign(_, _, value) | StatementKind::Expr(value) => {
                self.expression(value);
                self.add(Change::DroppedStep, vec![Edit::replace(whole(statement), "")]);
            }
            StatementKind::If(condition, then, otherwise) => {
                self.condition(condition);
                self.joined(condition, then);
                self.block(then);
                otherwise.iter().for_each(|block| self.block(block));
            }
            StatementKind::While(condition, body) => {
                self.condition(condition);
                self.block(body);
            }
            StatementKind::For(_, Range { from, to, .. }, body) => {
                self.expression(from);
                self.expression(to);
                self.block(body);
            }
            StatementKind::Loop(body) | StatementKind::Atomic(body) => self.block(body),
            StatementKind::Return(value) => {
                value.iter().for_each(|value| self.answer(value));
            }
            StatementKind::Break | StatementKind::Continue => {}
        }
    }

    fn answer(&mut self, value: &Expr) {
        self.expression(value);
        if is_condition(value) {
            self.constant(value);
        }
    }

    /// Changes of the condition of an `if` or a `while`.
    fn condition(&mut self, condition: &Expr) {
        let negated = format!("!({})", self.of(condition.span));
        self.add(Change::NegatedCondition, vec![Edit::replace(condition.span, negated)]);
        self.expression(condition);
        // A test that does something is no test: a `cas` is split instead.
        if !has_call(condition) {
            self.constant(condition);
        }
    }

    fn constant(&mut self, condition: &Expr) {
        for text in ["true", "false"] {
            self.add(Change::DroppedTest, vec![Edit::replace(condition.span, text)]);
        }
    }
}

/// Whether a call, which may do something, is part of an expression.
fn has_call(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Call(..) => true,
        ExprKind::Unary(_, inner) => has_call(inner),
        ExprKind::Binary(_, left, right) => has_call(left) || has_call(right),
        _ => false,
    }
}

/// A statement with its annotations.
pub(super) fn whole(statement: &Statement) -> Span {
    let start = statement.annotations.first().map_or(statement.span, |annotation| annotation.span);
    Span { start: start.start, end: statement.span.end }
}

fn is_call(statement: &Statement, name: &str) -> bool {
    let StatementKind::Expr(value) = &statement.kind else { return false };
    matches!(&value.kind, ExprKind::Call(called, _) if called.name == name)
}

const fn is_simple(statement: &Statement) -> bool {
    use StatementKind::{Assign, Expr, Let, LetTuple};
    matches!(statement.kind, Let(..) | LetTuple(..) | Assign(..) | Expr(..))
}

/// Whether what follows it is never reached.
const fn leaves(statement: &Statement) -> bool {
    use StatementKind::{Break, Continue, Return};
    matches!(statement.kind, Return(_) | Break | Continue)
}
