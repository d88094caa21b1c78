//! What is one step: small models and their steps.

mod control;
mod order;

use crate::{Config, compile};
use expect_test::Expect;

const MODEL: &str = "\
spec counter;
struct Node { val: int, next: Node }
record Pair { a: int, b: int }
shared a: int; shared b: int; shared c: int; shared head: Node; shared pair: Pair; shared cells: [int; 4];
shared guard: lock; local mine: int; local slots: [int; 2]; local note: Pair;
";

/// The steps of `op read` with these statements. Its own lines are those of the statements.
fn check(statements: &str, expected: Expect) {
    check_with("", statements, expected);
}

fn check_with(functions: &str, statements: &str, expected: Expect) {
    let source = format!("op read() -> int {{\n{statements}\nreturn 0;\n}}\n{functions}\n{MODEL}");
    let compiled = compile(&source, &Config::default()).unwrap_or_else(|mistakes| {
        let shown = mistakes.iter().map(|mistake| mistake.render("model.lin", &source, false));
        panic!("{}", shown.collect::<Vec<_>>().join("\n"))
    });
    let defects = linchpin_ir::well_formed::defects(&compiled.program);
    assert!(defects.is_empty(), "{defects:?}");
    expected.assert_eq(&linchpin_ir::print::steps(&compiled.program));
}
