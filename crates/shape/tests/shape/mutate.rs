//! Mutants of a model: its source with one or two small changes.
//!
//! The tree says where the parts of the text stand; a change replaces some of them. What does not
//! compile any more is thrown away, so changes need not know about types.

use fastrand::Rng;
use linchpin_lang::syntax::ast::{
    Annotation, AnnotationKind, BinaryOp, Block, Expr, ExprKind, Item, Routine, Statement,
    StatementKind,
};
use linchpin_lang::syntax::parse;
use std::ops::Range;

/// What a mutation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A statement is left out.
    Drop,
    /// A statement is made twice.
    Twice,
    /// Two neighbours change places.
    Swap,
    /// A guard is left out: one branch always.
    Unguard,
    /// A guard is negated.
    Negate,
    /// A loop is made once.
    Once,
    /// A `cas` becomes a test and a write.
    TestAndWrite,
    /// A `cas` becomes a write.
    Write,
    /// Half of a condition is left out.
    Half,
    /// A comparison becomes another.
    Compare,
    /// A lock is never taken.
    NoLock,
    /// Another variable is used.
    Name,
    /// A constant is another.
    Constant,
    /// Another value is returned.
    Return,
    /// A linearization point is left out.
    NoPoint,
    /// A linearization point is elsewhere.
    MovePoint,
    /// There is a further linearization point.
    MorePoints,
    /// The condition of a linearization point is another.
    PointCondition,
}

/// A mutant.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Its text.
    pub source: String,
    /// What was done.
    pub kinds: Vec<Kind>,
}

type Change = (Range<usize>, String);

/// A random mutant that parses; `None` if there is nothing to change.
pub fn mutant(source: &str, random: &mut Rng) -> Option<Mutant> {
    let mut mutant = Mutant { source: source.to_owned(), kinds: Vec::new() };
    for _ in 0..if random.u8(..10) < 7 { 1 } else { 2 } {
        let (tree, mistakes) = parse(&mutant.source);
        if !mistakes.is_empty() {
            return None;
        }
        let mut collector = Collector::new(&mutant.source, random);
        collector.items(&tree.items);
        // A kind first and then one of its places, so that no kind drowns the others.
        let mut kinds: Vec<Kind> = collector.edits.iter().map(|(kind, _)| *kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let edits = collector.edits;
        let kind = *random.choice(&kinds)?;
        let of_kind: Vec<_> = edits.iter().filter(|(found, _)| *found == kind).collect();
        let (_, changes) = random.choice(&of_kind)?;
        mutant.source = apply(&mutant.source, changes);
        mutant.kinds.push(kind);
    }
    Some(mutant)
}

/// Replaces the parts, which do not overlap.
fn apply(source: &str, changes: &[Change]) -> String {
    let mut changes: Vec<&Change> = changes.iter().collect();
    changes.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut text = source.to_owned();
    for (range, new) in changes {
        text.replace_range(range.clone(), new);
    }
    text
}

/// Collects all changes that can be made.
struct Collector<'a> {
    source: &'a str,
    random: &'a mut Rng,
    /// The shared variables, then what the routine declares.
    names: Vec<String>,
    edits: Vec<(Kind, Vec<Change>)>,
    /// Where the statements of the routine start, its points, and its locks.
    starts: Vec<usize>,
    points: Vec<Range<usize>>,
    locks: Vec<(String, Range<usize>)>,
}

impl<'a> Collector<'a> {
    fn new(source: &'a str, random: &'a mut Rng) -> Collector<'a> {
        Collector {
            source,
            random,
            names: Vec::new(),
            edits: Vec::new(),
            starts: Vec::new(),
            points: Vec::new(),
            locks: Vec::new(),
        }
    }

    fn items(&mut self, items: &[Item]) {
        let shared = items.iter().filter_map(|item| match item {
            Item::Shared(variable) => Some(variable.name.name.clone()),
            _ => None,
        });
        let shared: Vec<String> = shared.collect();
        for item in items {
            let (Item::Op(routine) | Item::Fn(routine)) = item else { continue };
            self.names.clone_from(&shared);
            self.routine(routine);
        }
    }

    fn routine(&mut self, routine: &Routine) {
        (self.starts, self.points, self.locks) = (Vec::new(), Vec::new(), Vec::new());
        self.names.extend(routine.parameters.iter().map(|parameter| parameter.name.name.clone()));
        self.declared(&routine.body);
        self.block(&routine.body);
        for point in self.points.clone() {
            let at = self.starts[self.random.usize(..self.starts.len())];
            if !point.contains(&at) {
                let moved = format!("{} ", &self.source[point.clone()]);
                self.edit(Kind::MovePoint, [(point, String::new()), (at..at, moved)]);
            }
        }
        if !self.starts.is_empty() {
            let at = self.starts[self.random.usize(..self.starts.len())];
            self.edit(Kind::MorePoints, [(at..at, "#[lin] ".to_owned())]);
        }
        let locks = std::mem::take(&mut self.locks);
        for (name, _) in &locks {
            let same = locks.iter().filter(|(found, _)| found == name);
            let changes: Vec<Change> = same.map(|(_, at)| (at.clone(), String::new())).collect();
            self.edits.push((Kind::NoLock, changes));
        }
    }

    /// The names that a block declares, at any depth.
    fn declared(&mut self, block: &Block) {
        for statement in &block.statements {
            match &statement.kind {
                StatementKind::Let(name, ..) => self.names.push(name.name.clone()),
                StatementKind::LetTuple(names, _) => {
                    self.names.extend(names.iter().map(|name| name.name.clone()));
                }
                _ => {}
            }
            inner(statement).into_iter().for_each(|block| self.declared(block));
        }
    }

    fn text(&self, expression: &Expr) -> &'a str {
        expression.span.text(self.source)
    }

    fn edit(&mut self, kind: Kind, changes: impl IntoIterator<Item = Change>) {
        self.edits.push((kind, changes.into_iter().collect()));
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            self.starts.push(whole(statement).start);
            self.statement(statement);
        }
        for pair in block.statements.windows(2) {
            let (first, second) = (whole(&pair[0]), whole(&pair[1]));
            let texts = [&self.source[second.clone()], &self.source[first.clone()]];
            let changes = [(first, texts[0].to_owned()), (second, texts[1].to_owned())];
            self.edit(Kind::Swap, changes);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let at = whole(statement);
        for annotation in &statement.annotations {
            self.annotation(annotation);
        }
        match &statement.kind {
            StatementKind::Let(_, _, value) => {
                value.iter().for_each(|value| self.expression(value));
            }
            StatementKind::LetTuple(_, value) => self.expression(value),
            StatementKind::Assign(place, _, value) => {
                self.expression(place);
                self.expression(value);
                self.simple(at);
            }
            StatementKind::Expr(call) => self.call(statement, call),
            StatementKind::If(condition, then, other) => {
                self.branch(statement, condition, then, other.as_ref());
            }
            StatementKind::While(condition, body) => {
                self.guard(condition);
                let once = format!("if {} {}", self.text(condition), body.span.text(self.source));
                self.edit(Kind::Once, [(statement.span.range(), once)]);
            }
            StatementKind::Loop(body) => {
                self.edit(Kind::Once, [(statement.span.range(), self.inside(body))]);
            }
            StatementKind::Return(Some(value)) => self.answer(value),
            StatementKind::Atomic(body) => {
                self.edit(Kind::NoLock, [(statement.span.range(), self.inside(body))]);
            }
            StatementKind::For(..)
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Return(None) => {}
        }
        inner(statement).into_iter().for_each(|block| self.block(block));
    }

    /// A statement that can be left out or made twice.
    fn simple(&mut self, at: Range<usize>) {
        self.edit(Kind::Drop, [(at.clone(), String::new())]);
        let twice = format!("{} ", &self.source[at.clone()]);
        self.edit(Kind::Twice, [(at.start..at.start, twice)]);
    }

    fn call(&mut self, statement: &Statement, call: &Expr) {
        let at = whole(statement);
        self.simple(at.clone());
        if let Some((place, old, new)) = cas(call) {
            let (place, old, new) = (self.text(place), self.text(old), self.text(new));
            let test = format!("if {place} == {old} {{ {place} = {new}; }}");
            self.edit(Kind::TestAndWrite, [(at.clone(), test)]);
            self.edit(Kind::Write, [(at.clone(), format!("{place} = {new};"))]);
        }
        if let ExprKind::Call(name, arguments) = &call.kind
            && ["lock", "unlock"].contains(&name.name.as_str())
            && let [one] = arguments.as_slice()
        {
            self.locks.push((self.text(one).to_owned(), at));
        }
        self.expression(call);
    }

    fn branch(
        &mut self,
        statement: &Statement,
        condition: &Expr,
        then: &Block,
        other: Option<&Block>,
    ) {
        let at = whole(statement);
        let otherwise = other.map_or(String::new(), |block| self.inside(block));
        self.edit(Kind::Drop, [(at.clone(), otherwise)]);
        self.edit(Kind::Unguard, [(at.clone(), self.inside(then))]);
        if let Some((place, old, new)) = cas(condition) {
            let points = &self.source[at.start..statement.span.range().start];
            let (place, old, new) = (self.text(place), self.text(old), self.text(new));
            let write = format!("{points}{place} = {new}; {}", self.inside(then));
            let tail = other
                .map_or(String::new(), |block| format!(" else {}", block.span.text(self.source)));
            let test = format!("if {place} == {old} {{ {write} }}{tail}");
            self.edit(Kind::TestAndWrite, [(at.clone(), test)]);
            self.edit(Kind::Write, [(at, write)]);
        }
        self.guard(condition);
    }

    /// What is between the braces.
    fn inside(&self, block: &Block) -> String {
        let text = block.span.text(self.source);
        text.trim().trim_start_matches('{').trim_end_matches('}').trim().to_owned()
    }

    fn guard(&mut self, condition: &Expr) {
        let negated = format!("!({})", self.text(condition));
        self.edit(Kind::Negate, [(condition.span.range(), negated)]);
        self.expression(condition);
    }

    fn answer(&mut self, value: &Expr) {
        let at = value.span.range();
        for constant in ["none", "true", "false"] {
            self.edit(Kind::Return, [(at.clone(), constant.to_owned())]);
        }
        for name in self.names.clone() {
            self.edit(Kind::Return, [(at.clone(), name.clone())]);
            for field in ["val", "next.val"] {
                self.edit(Kind::Return, [(at.clone(), format!("{name}.{field}"))]);
            }
        }
        self.expression(value);
    }

    fn annotation(&mut self, annotation: &Annotation) {
        let at = annotation.span.range();
        match &annotation.kind {
            AnnotationKind::Base(_) => return,
            AnnotationKind::Lin => {}
            AnnotationKind::LinWhen(condition) => {
                self.guarded_point(&at, condition);
                self.expression(condition);
            }
            AnnotationKind::LinReturns(_) => {
                self.edit(Kind::PointCondition, [(at.clone(), "#[lin]".to_owned())]);
            }
        }
        self.edit(Kind::NoPoint, [(at.clone(), String::new())]);
        self.points.push(at);
    }

    fn guarded_point(&mut self, at: &Range<usize>, condition: &Expr) {
        self.edit(Kind::PointCondition, [(at.clone(), "#[lin]".to_owned())]);
        let negated = format!("#[lin(when !({}))]", self.text(condition));
        self.edit(Kind::PointCondition, [(at.clone(), negated)]);
    }

    fn expression(&mut self, expression: &Expr) {
        let at = expression.span.range();
        match &expression.kind {
            ExprKind::Int(number) => {
                self.edit(Kind::Constant, [(at, number.wrapping_add(1).to_string())]);
            }
            ExprKind::Bool(value) => self.edit(Kind::Constant, [(at, (!value).to_string())]),
            ExprKind::Null | ExprKind::Name(_) => {
                if let Some(name) = self.random.choice(&self.names).cloned() {
                    self.edit(Kind::Name, [(at, name)]);
                }
            }
            ExprKind::Binary(op, left, right) => self.binary(at, *op, left, right),
            _ => {}
        }
        operands(expression).into_iter().for_each(|operand| self.expression(operand));
    }

    fn binary(&mut self, at: Range<usize>, op: BinaryOp, left: &Expr, right: &Expr) {
        let (left, right) = (self.text(left), self.text(right));
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            for half in [left, right] {
                self.edit(Kind::Half, [(at.clone(), half.to_owned())]);
            }
        } else if comparison(op) {
            let other = self.random.choice(["==", "!=", "<", "<=", ">", ">="]).unwrap_or("==");
            self.edit(Kind::Compare, [(at, format!("{left} {other} {right}"))]);
        }
    }
}

const fn comparison(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
    )
}

/// Where a statement stands, with its annotations.
fn whole(statement: &Statement) -> Range<usize> {
    let at = statement.span.range();
    let starts = statement.annotations.iter().map(|annotation| annotation.span.range().start);
    starts.min().unwrap_or(at.start).min(at.start)..at.end
}

/// The blocks of a statement.
fn inner(statement: &Statement) -> Vec<&Block> {
    match &statement.kind {
        StatementKind::If(_, then, other) => std::iter::once(then).chain(other).collect(),
        StatementKind::While(_, body)
        | StatementKind::Loop(body)
        | StatementKind::For(_, _, body)
        | StatementKind::Atomic(body) => vec![body],
        _ => Vec::new(),
    }
}

/// The parts of an expression.
fn operands(expression: &Expr) -> Vec<&Expr> {
    match &expression.kind {
        ExprKind::Field(inner, _) | ExprKind::Unary(_, inner) => vec![inner],
        ExprKind::Index(left, right) | ExprKind::Binary(_, left, right) => vec![left, right],
        ExprKind::Call(_, arguments) | ExprKind::Tuple(arguments) => arguments.iter().collect(),
        ExprKind::New(_, fields) => fields.iter().map(|(_, value)| value).collect(),
        ExprKind::Record(_, fields, base) => {
            fields.iter().map(|(_, value)| value).chain(base.as_deref()).collect()
        }
        ExprKind::If(condition, then, other) => vec![condition, then, other],
        _ => Vec::new(),
    }
}

/// The place, the expected and the new value of a `cas` of one word.
fn cas(expression: &Expr) -> Option<(&Expr, &Expr, &Expr)> {
    match &expression.kind {
        ExprKind::Call(name, arguments) if name.name == "cas" => match arguments.as_slice() {
            [place, old, new] if !matches!(place.kind, ExprKind::Array(_)) => {
                Some((place, old, new))
            }
            _ => None,
        },
        _ => None,
    }
}
