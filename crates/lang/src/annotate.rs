//! Writing base conditions into a model: `#[base(…)]` before the statements of its steps.

use crate::syntax::ast::{AnnotationKind, Block, Item, Statement, StatementKind};
use crate::syntax::parse;
use linchpin_syntax::{Diagnostic, Lines};

/// Columns of a condition.
const WIDTH: usize = 96;

/// A base condition to be written into a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewBase<'a> {
    /// The operation.
    pub operation: &'a str,
    /// The source line of the step.
    pub line: u32,
    /// What the step is, to tell it from others on the same line: `return true`.
    pub step: &'a str,
    /// The condition.
    pub formula: &'a str,
}

/// A model with more base conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotated {
    /// Its source, laid out.
    pub source: String,
    /// How many conditions were added.
    pub added: usize,
    /// Those that were not added because it is not clear which statement is meant, by their index.
    pub unplaced: Vec<usize>,
}

/// Writes base conditions before the statements of their steps. A statement that has one keeps it.
///
/// ```
/// use linchpin_lang::{NewBase, add_bases};
/// let source = "op get() -> int {\n    return n;\n}\n";
/// let base = NewBase { operation: "get", line: 2, step: "return n", formula: "n > 0" };
/// let annotated = add_bases(source, &[base]).unwrap();
/// assert_eq!(annotated.source, "op get() -> int {\n    #[base(n > 0)]\n    return n;\n}\n");
/// ```
pub fn add_bases(source: &str, bases: &[NewBase<'_>]) -> Result<Annotated, Vec<Diagnostic>> {
    let (tree, mistakes) = parse(source);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let lines = Lines::new(source);
    let mut inserted: Vec<(usize, String)> = Vec::new();
    let mut unplaced = Vec::new();
    for (at, base) in bases.iter().enumerate() {
        let bodies = tree.items.iter().filter_map(|item| match item {
            Item::Op(routine) if routine.name.name == base.operation => Some(&routine.body),
            _ => None,
        });
        let mut statements = Vec::new();
        bodies.for_each(|body| on_line(&lines, body, base.line, &mut statements));
        match meant(source, &statements, base.step) {
            Some(statement) if has_base(statement) => {}
            Some(statement) => inserted.push(insertion(source, &lines, statement, base.formula)),
            None => unplaced.push(at),
        }
    }
    // From the end, so that places stay right.
    inserted.sort();
    let added = inserted.len();
    let mut text = source.to_owned();
    for (at, words) in inserted.iter().rev() {
        text.insert_str(*at, words);
    }
    Ok(Annotated { source: crate::format(&text)?, added, unplaced })
}

fn has_base(statement: &Statement) -> bool {
    statement.annotations.iter().any(|at| matches!(at.kind, AnnotationKind::Base(_)))
}

/// The statements that begin on a line.
fn on_line<'t>(lines: &Lines, block: &'t Block, line: u32, found: &mut Vec<&'t Statement>) {
    for statement in &block.statements {
        if lines.line(statement.span) == line {
            found.push(statement);
        }
        match &statement.kind {
            StatementKind::If(_, then, or) => {
                on_line(lines, then, line, found);
                or.iter().for_each(|or| on_line(lines, or, line, found));
            }
            StatementKind::While(_, body)
            | StatementKind::Loop(body)
            | StatementKind::For(_, _, body) => on_line(lines, body, line, found),
            // What is inside an atomic block is part of its step.
            StatementKind::Atomic(_)
            | StatementKind::Let(..)
            | StatementKind::LetTuple(..)
            | StatementKind::Assign(..)
            | StatementKind::Expr(_)
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Return(_) => {}
        }
    }
}

/// The statement of a step: the only one on its line, the one that reads like it, or the first one
/// where the whole line does.
fn meant<'t>(source: &str, statements: &[&'t Statement], step: &str) -> Option<&'t Statement> {
    if let [only] = statements {
        return Some(*only);
    }
    let step = step.trim().trim_end_matches(';');
    let reads = |statement: &&&Statement| {
        let text = match &statement.kind {
            StatementKind::If(condition, ..) | StatementKind::While(condition, _) => condition.span,
            _ => statement.span,
        };
        text.text(source).trim_end_matches(';').trim_end() == step
    };
    let mut alike = statements.iter().filter(reads);
    let one = alike.next().filter(|_| alike.next().is_none());
    let first = statements.first()?;
    let at = first.span.range().start;
    let line_start = source[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = source[line_start..].lines().next().unwrap_or_default();
    let line = line.split("//").next().unwrap_or_default().trim().trim_end_matches(';');
    one.or_else(|| (line == step).then_some(first)).copied()
}

/// Where the condition goes, and how it is written there.
fn insertion(source: &str, lines: &Lines, statement: &Statement, formula: &str) -> (usize, String) {
    let line = lines.line(statement.span);
    let annotations = statement.annotations.iter().map(|annotation| annotation.span);
    let first = annotations.filter(|span| lines.line(*span) == line).min();
    let place = first.unwrap_or(statement.span).range().start;
    let line_start = source[..place].rfind('\n').map_or(0, |newline| newline + 1);
    let indent = &source[line_start..place];
    match indent.trim().is_empty() {
        true => {
            let words = wrapped(formula, WIDTH.saturating_sub(indent.len()));
            (line_start, format!("{indent}#[base({words})]\n"))
        }
        false => (place, format!("#[base({formula})] ")),
    }
}

/// The formula, with lines broken before `&&` where they would be too long.
fn wrapped(formula: &str, width: usize) -> String {
    let mut text = String::new();
    let mut column = "#[base(".len();
    for (at, part) in formula.split(" && ").enumerate() {
        let part = if at == 0 { part.to_owned() } else { format!("&& {part}") };
        let length = part.chars().count();
        if at > 0 && column + length + 1 > width {
            text.push('\n');
            column = 4;
        } else if at > 0 {
            text.push(' ');
            column += 1;
        }
        text += &part;
        column += length;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    const SOURCE: &str = "\
spec stack;
struct Node { val: int, next: Node }
shared top: Node;
op push(v: int) {
    let x = new Node { val: v };
    loop {
        let t = top;
        x.next = t;
        #[lin] if cas(top, t, x) { return; }
    }
}
op pop() -> int? {
    #[base(top == null)]
    return none;
}
";

    fn base<'a>(operation: &'a str, line: u32, step: &'a str, formula: &'a str) -> NewBase<'a> {
        NewBase { operation, line, step, formula }
    }

    #[test]
    fn conditions_stand_before_their_statements() {
        let long = "top == t && !exists n: Node { reach(top, next, n) && n == x } && x.next == t && x.val == v";
        let bases = [
            base("push", 9, "cas(top, t, x)", long),
            base("push", 9, "return;", "top == x"),
            base("push", 7, "t := top", "true"),
        ];
        let annotated = add_bases(SOURCE, &bases).unwrap();
        assert_eq!((annotated.added, annotated.unplaced.len()), (3, 0));
        assert_eq!(crate::format(&annotated.source).unwrap(), annotated.source);
        expect![[r#"
            spec stack;
            struct Node { val: int, next: Node }
            shared top: Node;
            op push(v: int) {
                let x = new Node { val: v };
                loop {
                    #[base(true)]
                    let t = top;
                    x.next = t;
                    #[base(top == t && !exists n: Node { reach(top, next, n) && n == x } && x.next == t
                        && x.val == v)]
                    #[lin] if cas(top, t, x) { #[base(top == x)] return; }
                }
            }
            op pop() -> int? {
                #[base(top == null)]
                return none;
            }
        "#]].assert_eq(&annotated.source);
    }

    #[test]
    fn a_whole_line_is_its_first_statement() {
        let step = "#[lin] if cas(top, t, x) { return; }";
        let annotated = add_bases(SOURCE, &[base("push", 9, step, "top == t")]).unwrap();
        assert_eq!((annotated.added, annotated.unplaced.len()), (1, 0));
        assert!(annotated.source.contains("#[base(top == t)]\n        #[lin] if"));
    }

    #[test]
    fn what_is_there_stays_and_what_is_unclear_is_said() {
        let bases = [
            base("pop", 14, "return none", "false"),
            base("push", 9, "something else", "true"),
            base("peek", 9, "return", "true"),
        ];
        let annotated = add_bases(SOURCE, &bases).unwrap();
        assert_eq!(annotated.source, SOURCE);
        assert_eq!((annotated.added, annotated.unplaced), (0, vec![1, 2]));
        assert!(add_bases(SOURCE, &[base("push", 7, "", "((")]).is_err());
        assert!(add_bases("op", &[]).is_err());
    }
}
