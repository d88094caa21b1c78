//! Atomic steps taken apart: a `cas` into a test and a store, a `swap` or `faa` into a read and a
//! write, an atomic block into its accesses. And the repair: a test and a store joined to a `cas`.

use super::Change;
use super::maker::{Edit, Maker, at, whole};
use linchpin_lang::Span;
use linchpin_lang::syntax::ast::{
    BinaryOp, Block, Expr, ExprKind, Statement, StatementKind, UnaryOp,
};

/// A `cas` as a test and the stores that follow if it passes.
struct Split {
    test: String,
    stores: String,
}

impl Maker<'_> {
    /// What a statement does in one step, done in several.
    pub(super) fn splits(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Expr(value) => {
                let Some(Split { test, stores }) = self.split(value) else { return };
                let text = format!("if {test} {{{stores} }}");
                self.add(Change::SplitCas, vec![Edit::replace(statement.span, text)]);
            }
            StatementKind::Return(Some(value)) => {
                let Some(Split { test, stores }) = self.split(value) else { return };
                let text = format!("if {test} {{{stores} return true; }} return false;");
                self.add(Change::SplitCas, vec![Edit::replace(statement.span, text)]);
            }
            StatementKind::Let(name, None, Some(value)) => {
                self.split_let(&name.name, value, statement);
            }
            StatementKind::If(condition, then, otherwise) => {
                self.split_if(condition, then, otherwise.as_ref());
            }
            StatementKind::While(condition, body) => {
                let Some(inner) = negated(condition) else { return };
                let Some(Split { test, stores }) = self.split(inner) else { return };
                let after = Edit::insert(at(body.span.end), stores);
                self.add(
                    Change::SplitCas,
                    vec![Edit::replace(condition.span, format!("!({test})")), after],
                );
            }
            StatementKind::Atomic(_) => {
                let word = Span { end: statement.span.start + 6, ..statement.span };
                if self.of(word) == "atomic" {
                    self.add(Change::SplitAtomic, vec![Edit::replace(word, "if true")]);
                }
            }
            _ => {}
        }
    }

    fn split_let(&mut self, name: &str, value: &Expr, statement: &Statement) {
        let (change, text) = if let Some(Split { test, stores }) = self.split(value) {
            (Change::SplitCas, format!("let {name} = {test}; if {name} {{{stores} }}"))
        } else {
            let Some((place, after)) = self.update(name, value) else { return };
            (Change::SplitUpdate, format!("let {name} = {place}; {place} = {after};"))
        };
        self.add(change, vec![Edit::replace(statement.span, text)]);
    }

    /// The place of a `swap` or `faa`, and what is in it afterwards if `name` was in it before.
    fn update(&self, name: &str, value: &Expr) -> Option<(&str, String)> {
        let ExprKind::Call(called, arguments) = &value.kind else { return None };
        let [place, with] = &arguments[..] else { return None };
        let with = self.of(with.span);
        let after = match &called.name[..] {
            "swap" => with.to_owned(),
            "faa" => format!("{name} + ({with})"),
            _ => return None,
        };
        Some((self.of(place.span), after))
    }

    /// `if cas(…)`, `if a && cas(…)`, `if !cas(…)`.
    fn split_if(&mut self, condition: &Expr, then: &Block, otherwise: Option<&Block>) {
        let last = last_part(condition);
        let (part, into) = match negated(last) {
            Some(inner) => (inner, otherwise),
            None => (last, Some(then)),
        };
        let Some(Split { test, stores }) = self.split(part) else { return };
        let is_alone = last.span == condition.span;
        if !is_alone && part.span != last.span {
            // After `a && !cas(…)` it is not known whether the `cas` was tried.
            return;
        }
        let store = match into {
            Some(block) => Edit::insert(at(block.span.start) + 1, stores),
            None => Edit::insert(at(then.span.end), format!(" else {{{stores} }}")),
        };
        self.add(Change::SplitCas, vec![Edit::replace(part.span, format!("({test})")), store]);
    }

    fn split(&self, value: &Expr) -> Option<Split> {
        let ExprKind::Call(name, arguments) = &value.kind else { return None };
        let [place, old, new] = &arguments[..] else { return None };
        if name.name != "cas" {
            return None;
        }
        let words = words(place, old, new)?;
        let test = |(place, old, _): &(Span, Span, Span)| {
            format!("{} == {}", self.of(*place), self.of(*old))
        };
        let store = |(place, _, new): &(Span, Span, Span)| {
            format!(" {} = {};", self.of(*place), self.of(*new))
        };
        let tests: Vec<String> = words.iter().map(test).collect();
        Some(Split { test: tests.join(" && "), stores: words.iter().map(store).collect() })
    }

    /// A test and a store become a `cas`.
    pub(super) fn joined(&mut self, condition: &Expr, then: &Block) {
        let (ExprKind::Binary(BinaryOp::Equal, place, old), Some(first)) =
            (&condition.kind, then.statements.first())
        else {
            return;
        };
        if let StatementKind::Assign(target, None, new) = &first.kind
            && self.of(target.span) == self.of(place.span)
        {
            let (place, old, new) = (self.of(place.span), self.of(old.span), self.of(new.span));
            let joined = format!("cas({place}, {old}, {new})");
            self.add(
                Change::JoinCas,
                vec![Edit::replace(condition.span, joined), Edit::replace(whole(first), "")],
            );
        }
    }
}

/// The words that a `cas` compares and swaps: place, old and new value of each.
fn words(place: &Expr, old: &Expr, new: &Expr) -> Option<Vec<(Span, Span, Span)>> {
    match (&place.kind, &old.kind, &new.kind) {
        (ExprKind::Array(places), ExprKind::Array(olds), ExprKind::Array(news)) => {
            let all = places.iter().zip(olds).zip(news);
            Some(all.map(|((place, old), new)| (place.span, old.span, new.span)).collect())
        }
        (ExprKind::Array(_), ..) => None,
        _ => Some(vec![(place.span, old.span, new.span)]),
    }
}

/// The last part of a chain of `&&`.
fn last_part(condition: &Expr) -> &Expr {
    match &condition.kind {
        ExprKind::Binary(BinaryOp::And, _, last) => last_part(last),
        _ => condition,
    }
}

/// What is negated.
fn negated(condition: &Expr) -> Option<&Expr> {
    match &condition.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => Some(inner),
        _ => None,
    }
}
