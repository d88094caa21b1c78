//! The steps of a program in aligned columns: id, source line, what happens, where it leads, what
//! is claimed.

use super::describe::{OperationSteps, StepDescription, describe};
use crate::branch::{Branch, branches};
use crate::program::{Body, Node, Program};
use std::ops::RangeInclusive;

/// Rows longer than this do not push the columns of the others to the right.
const WIDE: usize = 56;

/// What stands above the operations of the reference.
const REFERENCE: &str = "reference: each operation alone and in one go";

/// The steps of every operation, for people; those of the reference come last, under a title.
///
/// A step of several edges is printed as a tree: what they have in common once, then the branches.
pub fn steps(program: &Program) -> String {
    let own = own_steps(program);
    match &program.reference {
        Some(reference) => format!("{own}\n{REFERENCE}\n\n{}", own_steps(reference)),
        None => own,
    }
}

/// The steps of every operation, without the reference.
fn own_steps(program: &Program) -> String {
    let recovery = program.persistence.iter().flat_map(|persistence| {
        let resolve = persistence.resolve.iter().map(|resolve| &resolve.body);
        persistence.recover.iter().chain(resolve)
    });
    let operations = program.operations.iter().map(|op| &op.body);
    let bodies = program.init.iter().chain(operations).chain(recovery);
    let described = describe(program);
    let blocks = described.iter().zip(bodies).map(|(steps, body)| operation(steps, body));
    blocks.collect::<Vec<_>>().join("\n")
}

/// One line of output.
#[derive(Default)]
struct Row {
    id: String,
    line: Option<u32>,
    text: String,
    target: String,
    marks: Vec<String>,
}

fn operation(described: &OperationSteps, body: &Body) -> String {
    let mut rows = Vec::new();
    for step in &described.steps {
        Step { described: step, node: &body.nodes[step.node] }.rows(&mut rows);
    }
    let mut out = format!("{}    line {}\n", described.signature, described.line);
    let width = |column: fn(&Row) -> &str, limit: usize| {
        let widths = rows.iter().map(|row| column(row).chars().count());
        widths.filter(|width| *width <= limit).max().unwrap_or(0)
    };
    let (id, text) = (width(|row| &row.id, usize::MAX), width(|row| &row.text, WIDE));
    let target = width(|row| &row.target, WIDE);
    for row in &rows {
        let line = row.line.map_or(String::new(), |line| line.to_string());
        let marks = row.marks.join(" ");
        let columns = format!(
            "  {:<id$}  {line:>4}  {:<text$}  {:<target$}  {marks}",
            row.id, row.text, row.target
        );
        out += columns.trim_end();
        out.push('\n');
    }
    out
}

/// A point or base as the model writes it, and how many actions of its edge come before it.
type Claim = (usize, String);

/// A node and its description.
#[derive(Clone, Copy)]
struct Step<'a> {
    described: &'a StepDescription,
    node: &'a Node,
}

impl Step<'_> {
    fn rows(self, rows: &mut Vec<Row>) {
        let first = rows.len();
        match branches(self.node).as_slice() {
            [] => rows.push(Row { text: "(waits for ever)".to_owned(), ..Row::default() }),
            [only] => self.branch(only, ("", ""), &[], rows),
            several => self.fork(several, "", &[], rows),
        }
        let head = &mut rows[first];
        head.id = self.described.id.clone();
        head.line.get_or_insert(self.described.line);
        if !self.described.yields && self.described.id.contains('.') {
            head.marks.push("(no turn for others)".to_owned());
        }
        // A line number is repeated only where it changes.
        let mut current = None;
        for row in &mut rows[first..] {
            if row.line.is_some() && row.line == current {
                row.line = None;
            } else {
                current = row.line.or(current);
            }
        }
    }

    /// The rows of branches; `printed` are the claims that the rows above show.
    fn fork(self, forks: &[Branch], indent: &str, printed: &[Claim], rows: &mut Vec<Row>) {
        for (i, branch) in forks.iter().enumerate() {
            let (glyph, below) =
                if i + 1 < forks.len() { ("├ ", "│ ") } else { ("└ ", "  ") };
            let (first, rest) = (format!("{indent}{glyph}"), format!("{indent}{below}"));
            self.branch(branch, (&first, &rest), printed, rows);
        }
    }

    /// The rows of a branch: `first` stands before its first row, `rest` before those below.
    fn branch(
        self,
        branch: &Branch,
        (first, rest): (&str, &str),
        printed: &[Claim],
        rows: &mut Vec<Row>,
    ) {
        let edge = &self.described.edges[branch.edge];
        let claims = self.new_claims(branch, printed);
        let marks = |positions: RangeInclusive<usize>| {
            let here = claims.iter().filter(move |(at, _)| positions.contains(at));
            here.map(|(_, text)| text.clone()).collect::<Vec<_>>()
        };
        let start = branch.actions.start;
        let mut row = Row { text: first.to_owned(), marks: marks(0..=start), ..Row::default() };
        for at in branch.actions.clone() {
            let (action, line) = (&edge.actions[at], self.node.edges[branch.edge].actions[at].1);
            let width = row.text.chars().count() + action.chars().count() + 2;
            match row.line {
                None => row.text += action,
                Some(same) if same == line && width <= WIDE => row.text += &format!("; {action}"),
                Some(_) => {
                    rows.push(row);
                    row = Row { text: format!("{rest}{action}"), ..Row::default() };
                }
            }
            row.line = Some(line);
            row.marks.extend(marks(at + 1..=at + 1));
        }
        if branch.then.is_empty() {
            let returns = edge.target.starts_with("return");
            row.target = if returns { edge.target.clone() } else { format!("→ {}", edge.target) };
            rows.push(row);
        } else {
            rows.push(row);
            self.fork(&branch.then, rest, &[printed, &claims].concat(), rows);
        }
    }

    /// The claims to print at a branch: those up to its end that all its edges make.
    fn new_claims(self, branch: &Branch, printed: &[Claim]) -> Vec<Claim> {
        let edges = branch.edges();
        let mut claims = self.claims(branch.edge);
        claims.retain(|claim| {
            claim.0 <= branch.actions.end
                && !printed.contains(claim)
                && edges.iter().all(|&edge| self.claims(edge).contains(claim))
        });
        claims
    }

    /// The points and bases of an edge.
    fn claims(self, edge: usize) -> Vec<Claim> {
        let (edge, described) = (&self.node.edges[edge], &self.described.edges[edge]);
        let points = edge.points.iter().map(|(at, _)| *at).zip(described.points.iter().cloned());
        let bases = edge.bases.iter().map(|(at, _)| *at).zip(described.bases.iter().cloned());
        points.chain(bases).collect()
    }
}
