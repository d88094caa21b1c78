//! Small systematic changes of a `.lin` model, made on its text where the syntax tree says.
//!
//! Each mutant differs from the model in one place and is a model itself: it parses and its types
//! are right. `campaign.rs` verifies them.

use linchpin_lang::syntax::ast::{
    AnnotationKind, BinaryOp, Block, Expr, ExprKind, Item, Statement, StatementKind,
};
use linchpin_lang::syntax::parse;
use linchpin_lang::{Config, Span, compile};
use std::fmt;

/// What kind of change it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// A `cas` becomes a test and a store.
    SplitCas,
    /// A test and a store become a `cas`: a repair.
    JoinCas,
    /// A test is left out: it always passes.
    DroppedTest,
    /// One side of `&&` or `||` is left out.
    IgnoredPart,
    /// A condition is negated.
    NegatedCondition,
    /// Two statements change places.
    SwappedSteps,
    /// A lock is given back one statement earlier.
    EarlyUnlock,
    /// A statement is left out.
    DroppedStep,
    /// A claimed linearization point is left out.
    DroppedPoint,
    /// A claimed linearization point is one statement later.
    LatePoint,
    /// A number is one larger, or `<` is `<=`, or the other way round.
    OffByOne,
}

impl Change {
    /// Its name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Change::SplitCas => "split-cas",
            Change::JoinCas => "join-cas",
            Change::DroppedTest => "dropped-test",
            Change::IgnoredPart => "ignored-part",
            Change::NegatedCondition => "negated-condition",
            Change::SwappedSteps => "swapped-steps",
            Change::EarlyUnlock => "early-unlock",
            Change::DroppedStep => "dropped-step",
            Change::DroppedPoint => "dropped-point",
            Change::LatePoint => "late-point",
            Change::OffByOne => "off-by-one",
        }
    }

    /// Whether only what is claimed changes, not what is done.
    pub const fn is_claim(self) -> bool {
        matches!(self, Change::DroppedPoint | Change::LatePoint)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Change::SplitCas => "cas split into a test and a store",
            Change::JoinCas => "test and store joined to a cas",
            Change::DroppedTest => "test left out",
            Change::IgnoredPart => "part of a test ignored",
            Change::NegatedCondition => "condition negated",
            Change::SwappedSteps => "steps swapped",
            Change::EarlyUnlock => "lock given back earlier",
            Change::DroppedStep => "step left out",
            Change::DroppedPoint => "point left out",
            Change::LatePoint => "point one statement later",
            Change::OffByOne => "off by one",
        })
    }
}

/// A changed model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// What was changed.
    pub change: Change,
    /// The operation or function.
    pub routine: String,
    /// The first line that is changed, in the original.
    pub line: u32,
    /// Its text.
    pub text: String,
}

/// A line that a change takes out or puts in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffLine {
    /// Only in the original.
    Out(String),
    /// Only in the mutant.
    In(String),
}

impl fmt::Display for DiffLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiffLine::Out(line) => write!(f, "- {}", line.trim()),
            DiffLine::In(line) => write!(f, "+ {}", line.trim()),
        }
    }
}

impl Mutant {
    /// The lines that differ from the original.
    pub fn diff(&self, original: &str) -> Vec<DiffLine> {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (original.lines().collect(), self.text.lines().collect());
        let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let rest = old.len().min(new.len()) - same;
        let back = old.iter().rev().zip(new.iter().rev());
        let end = back.take(rest).take_while(|(old, new)| old == new).count();
        let out = old[same..old.len() - end].iter().map(|line| DiffLine::Out((*line).to_owned()));
        let into = new[same..new.len() - end].iter().map(|line| DiffLine::In((*line).to_owned()));
        out.chain(into).collect()
    }
}

/// All mutants of a model that are models themselves, in the order of the text.
pub fn mutants(source: &str, config: &Config) -> Vec<Mutant> {
    let (tree, mistakes) = parse(source);
    if !mistakes.is_empty() {
        return Vec::new();
    }
    let mut maker = Maker { source, routine: String::new(), made: Vec::new() };
    for item in &tree.items {
        if let Item::Op(routine) | Item::Fn(routine) = item {
            maker.routine = routine.name.name.clone();
            maker.block(&routine.body);
        }
    }
    let mut made = maker.made;
    made.retain(|mutant| mutant.text != source && compile(&mutant.text, config).is_ok());
    made
}

/// Replaces a part of the text.
#[derive(Clone, Debug)]
struct Edit {
    from: usize,
    to: usize,
    text: String,
}

impl Edit {
    fn replace(span: Span, text: impl Into<String>) -> Edit {
        Edit { from: at(span.start), to: at(span.end), text: text.into() }
    }

    fn insert(place: usize, text: impl Into<String>) -> Edit {
        Edit { from: place, to: place, text: text.into() }
    }
}

fn at(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

struct Maker<'a> {
    source: &'a str,
    routine: String,
    made: Vec<Mutant>,
}

impl Maker<'_> {
    fn of(&self, span: Span) -> &str {
        self.source.get(at(span.start)..at(span.end)).unwrap_or_default()
    }

    fn add(&mut self, change: Change, mut edits: Vec<Edit>) {
        edits.sort_by_key(|edit| edit.from);
        let Some(first) = edits.first().map(|edit| edit.from) else { return };
        let before = self.source.get(..first).unwrap_or_default();
        let line = 1 + u32::try_from(before.matches('\n').count()).unwrap_or(u32::MAX);
        let mut text = self.source.to_owned();
        for edit in edits.iter().rev() {
            if edit.from > edit.to || !text.is_char_boundary(edit.from) || edit.to > text.len() {
                return;
            }
            text.replace_range(edit.from..edit.to, &edit.text);
        }
        self.made.push(Mutant { change, routine: self.routine.clone(), line, text });
    }

    fn block(&mut self, block: &Block) {
        for (number, statement) in block.statements.iter().enumerate() {
            self.statement(statement);
            self.points(statement, block.statements.get(number + 1));
            if let Some(next) = block.statements.get(number + 1) {
                self.pair(statement, next);
            }
        }
    }

    /// Changes of two statements that follow each other.
    fn pair(&mut self, first: &Statement, second: &Statement) {
        let change = match is_call(second, "unlock") {
            true => Change::EarlyUnlock,
            false if is_simple(first) && is_simple(second) => Change::SwappedSteps,
            false => return,
        };
        if !is_simple(second) || matches!(first.kind, StatementKind::Return(_)) {
            return;
        }
        let (one, other) = (self.of(whole(first)).to_owned(), self.of(whole(second)).to_owned());
        self.add(
            change,
            vec![Edit::replace(whole(first), other), Edit::replace(whole(second), one)],
        );
    }

    fn points(&mut self, statement: &Statement, next: Option<&Statement>) {
        for annotation in &statement.annotations {
            if matches!(annotation.kind, AnnotationKind::Base(_)) {
                continue;
            }
            let gone = Edit::replace(annotation.span, "");
            self.add(Change::DroppedPoint, vec![gone.clone()]);
            if let Some(next) = next {
                let text = format!("{} ", self.of(annotation.span));
                let later = Edit::insert(at(whole(next).start), text);
                self.add(Change::LatePoint, vec![gone, later]);
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Let(_, _, value) => {
                value.iter().for_each(|value| self.numbers(value));
            }
            StatementKind::LetTuple(_, value) => self.numbers(value),
            StatementKind::Assign(_, _, value) => {
                self.numbers(value);
                self.dropped(statement);
            }
            StatementKind::Expr(value) => {
                self.numbers(value);
                self.dropped(statement);
                if let Some((place, old, new)) = cas(value) {
                    let (place, old, new) = (self.of(place), self.of(old), self.of(new));
                    let split = format!("if {place} == {old} {{ {place} = {new}; }}");
                    self.add(Change::SplitCas, vec![Edit::replace(statement.span, split)]);
                }
            }
            StatementKind::If(condition, then, otherwise) => {
                self.condition(condition, then);
                self.block(then);
                otherwise.iter().for_each(|block| self.block(block));
            }
            StatementKind::While(condition, body) => {
                self.tests(condition);
                self.block(body);
            }
            StatementKind::Loop(body)
            | StatementKind::For(_, _, body)
            | StatementKind::Atomic(body) => self.block(body),
            StatementKind::Return(value) => {
                value.iter().for_each(|value| self.numbers(value));
            }
            StatementKind::Break | StatementKind::Continue => {}
        }
    }

    fn dropped(&mut self, statement: &Statement) {
        self.add(Change::DroppedStep, vec![Edit::replace(whole(statement), "")]);
    }

    /// Changes of the condition of an `if`.
    fn condition(&mut self, condition: &Expr, then: &Block) {
        self.tests(condition);
        if let Some((place, old, new)) = cas(condition) {
            let test = format!("{} == {}", self.of(place), self.of(old));
            let store = format!(" {} = {};", self.of(place), self.of(new));
            let inside = at(then.span.start) + 1;
            self.add(
                Change::SplitCas,
                vec![Edit::replace(condition.span, test), Edit::insert(inside, store)],
            );
            return;
        }
        self.add(Change::DroppedTest, vec![Edit::replace(condition.span, "true")]);
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

    /// Changes of any condition.
    fn tests(&mut self, condition: &Expr) {
        let negated = format!("!({})", self.of(condition.span));
        self.add(Change::NegatedCondition, vec![Edit::replace(condition.span, negated)]);
        self.parts(condition);
        self.numbers(condition);
    }

    fn parts(&mut self, condition: &Expr) {
        if let ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) = &condition.kind {
            for kept in [left, right] {
                let text = self.of(kept.span).to_owned();
                self.add(Change::IgnoredPart, vec![Edit::replace(condition.span, text)]);
            }
            self.parts(left);
            self.parts(right);
        }
    }

    /// Numbers and comparisons that are off by one.
    fn numbers(&mut self, value: &Expr) {
        match &value.kind {
            ExprKind::Int(number) => {
                let more = number.saturating_add(1).to_string();
                self.add(Change::OffByOne, vec![Edit::replace(value.span, more)]);
            }
            ExprKind::Binary(op, left, right) => {
                if let Some(other) = shifted(*op) {
                    let text = format!("{} {other} {}", self.of(left.span), self.of(right.span));
                    self.add(Change::OffByOne, vec![Edit::replace(value.span, text)]);
                }
                self.numbers(left);
                self.numbers(right);
            }
            ExprKind::Unary(_, inner) | ExprKind::Field(inner, _) => self.numbers(inner),
            ExprKind::Index(place, index) => {
                self.numbers(place);
                self.numbers(index);
            }
            ExprKind::Call(_, arguments) | ExprKind::MethodCall(_, _, arguments) => {
                arguments.iter().for_each(|argument| self.numbers(argument));
            }
            _ => {}
        }
    }
}

const fn shifted(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Less => "<=",
        BinaryOp::LessEqual => "<",
        BinaryOp::Greater => ">=",
        BinaryOp::GreaterEqual => ">",
        _ => return None,
    })
}

/// The place, the old and the new value of a `cas` of one word.
fn cas(value: &Expr) -> Option<(Span, Span, Span)> {
    let ExprKind::Call(name, arguments) = &value.kind else { return None };
    let [place, old, new] = &arguments[..] else { return None };
    let is_one = name.name == "cas" && !matches!(place.kind, ExprKind::Array(_));
    is_one.then_some((place.span, old.span, new.span))
}

/// A statement with its annotations.
fn whole(statement: &Statement) -> Span {
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

#[cfg(test)]
mod tests {
    use super::*;

    const STACK: &str = include_str!("../../../models/treiber_stack.lin");
    const SPLIT: &str = include_str!("../../../models/broken/treiber_stack_split_pop_cas.lin");

    #[test]
    fn every_mutant_is_a_model_and_another_one() {
        let made = mutants(STACK, &Config::default());
        assert!(made.len() > 10, "{}", made.len());
        for mutant in &made {
            assert!(compile(&mutant.text, &Config::default()).is_ok());
            assert!(!mutant.diff(STACK).is_empty());
        }
    }

    #[test]
    fn a_cas_is_split_and_the_split_is_joined() {
        let made = mutants(STACK, &Config::default());
        let split: Vec<String> = made
            .iter()
            .filter(|mutant| mutant.change == Change::SplitCas)
            .flat_map(|mutant| mutant.diff(STACK))
            .map(|line| line.to_string())
            .collect();
        let put = "+ #[lin] if top == t { top = s; return t.val; }";
        assert!(split.iter().any(|line| line.starts_with(put)), "{split:?}");
        let joined = mutants(SPLIT, &Config::default());
        assert!(joined.iter().any(|mutant| mutant.change == Change::JoinCas));
    }
}
