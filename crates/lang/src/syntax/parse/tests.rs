//! What the parser makes of mistakes: each is reported once, and what follows is understood.

use super::parse;
use crate::syntax::ast::{Block, Item, Model, Statement, StatementKind};
use expect_test::{Expect, expect};

/// The mistakes as `line:column message`, then what was understood.
fn check(source: &str, expected: Expect) {
    let (model, mistakes) = parse(source);
    let mut shown = String::new();
    for mistake in &mistakes {
        let before = &source[..mistake.span.start as usize];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        shown += &format!("{line}:{column} {}\n", mistake.message);
    }
    shown += &format!("-> {}\n", items(&model));
    expected.assert_eq(&shown);
}

fn items(model: &Model) -> String {
    let item = |item: &Item| match item {
        Item::SpecName(name, _) => format!("spec {}", name.name),
        Item::SpecBlock(block) => {
            let count = (block.state.len(), block.operations.len(), block.functions.len());
            format!("spec {count:?}")
        }
        Item::Param(variable) => format!("param {}", variable.name.name),
        Item::Struct(fields) => format!("struct {} {}", fields.name.name, fields.fields.len()),
        Item::Record(fields) => format!("record {} {}", fields.name.name, fields.fields.len()),
        Item::Shared(variable) => format!("shared {}", variable.name.name),
        Item::Local(variable) => format!("local {}", variable.name.name),
        Item::Init(block, _) => format!("init {}", statements(block)),
        Item::Preload(block) => format!("preload {}", block.calls.len()),
        Item::Op(routine) => format!("op {} {}", routine.name.name, statements(&routine.body)),
        Item::Fn(routine) => format!("fn {} {}", routine.name.name, statements(&routine.body)),
        Item::Reference(block) => {
            let count = (block.shared.len(), block.inits.len(), block.operations.len());
            format!("reference {count:?}")
        }
        Item::Role(name, _) => format!("role {}", name.name),
        Item::Bounds(bounds, _) => format!("bounds {}", bounds.len()),
        Item::Recover(block, _) => format!("recover {}", statements(block)),
        Item::Resolve(routine) => format!("recover(t) {}", statements(&routine.body)),
    };
    model.items.iter().map(item).collect::<Vec<_>>().join(", ")
}

fn statements(block: &Block) -> String {
    let statement = |statement: &Statement| match &statement.kind {
        StatementKind::Let(name, ..) => format!("let {}", name.name),
        StatementKind::LetTuple(names, _) => format!("let ({})", names.len()),
        StatementKind::Assign(..) => "assign".to_owned(),
        StatementKind::Expr(_) => "expr".to_owned(),
        StatementKind::If(_, then, None) => format!("if {}", statements(then)),
        StatementKind::If(_, then, Some(otherwise)) => {
            format!("if {} else {}", statements(then), statements(otherwise))
        }
        StatementKind::While(_, body) => format!("while {}", statements(body)),
        StatementKind::Loop(body) => format!("loop {}", statements(body)),
        StatementKind::For(name, _, body) => format!("for {} {}", name.name, statements(body)),
        StatementKind::Break => "break".to_owned(),
        StatementKind::Continue => "continue".to_owned(),
        StatementKind::Return(_) => "return".to_owned(),
        StatementKind::Atomic(body) => format!("atomic {}", statements(body)),
    };
    format!("{{{}}}", block.statements.iter().map(statement).collect::<Vec<_>>().join("; "))
}

#[test]
fn a_whole_model() {
    check(
        "//! A stack.\nspec priority-queue(none);\nparam K: int = 3;\nstruct Node { val: int, next: Node, }\n\
         record Mark { to: Node, dead: bool };\nshared top: Node = null;\nlocal n: int;\ninit { top = null; }\n\
         fn f(a: [int; K], b: (int, bool)?) -> seq<int> { return a; }\n\
         op insert(v: int in 0..=K) requires n < 3 { let (a, _) = f(1); for i in 0..3 { continue; } }\n\
         role r: insert; bounds { r: 2, ops: 3 }",
        expect![[r#"
            -> spec priority-queue, param K, struct Node 2, record Mark 2, shared top, local n, init {assign}, fn f {return}, op insert {let (2); for i {continue}}, role r, bounds 2
        "#]],
    );
}

#[test]
fn a_missing_semicolon_is_shown_where_it_belongs() {
    check(
        "op f() {\n    let a = 1\n    let b = 2;\n    a = b\n    if a { }\n    return a\n}\nop g() { }",
        expect![[r#"
            2:14 expected `;`, found `let`
            4:10 expected `;`, found `if`
            6:13 expected `;`, found `}`
            -> op f {let a; let b; assign; if {}; return}, op g {}
        "#]],
    );
}

#[test]
fn a_statement_after_a_mistake_is_understood() {
    check(
        "op f() { let = 1; a = ; b = 2; c = (1; d[ = 2; while { e(); } return; }",
        expect![[r#"
            1:14 expected a name for the variable, found `=`
            1:23 expected an expression, found `;`
            1:38 expected `,` or `)`, found `;`
            1:43 expected an expression, found `=`
            1:54 expected an expression, found `{`
            -> op f {let ; assign; assign; assign; assign; while {expr}; return}
        "#]],
    );
}

#[test]
fn a_declaration_after_a_mistake_is_understood() {
    check(
        "shared a int;\nshared b: ;\nstruct { x: int }\nstruct T { x int, y: int }\nrecord R { x: int\n\
         op f( { }\nfn (a: int) { }\nop g(a: int, b) -> { return; }\nop h() { }",
        expect![[r#"
            1:10 expected `:` and a type, found `int`
            2:11 expected a type, found `;`
            3:8 expected a name for the struct, found `{`
            4:14 expected `:` and a type, found `int`
            6:1 expected `,` or `}`, found `op`
            6:7 expected a parameter name, found `{`
            7:4 expected a name for the function, found `(`
            8:15 expected `:` and a type, found `)`
            8:20 expected a type, found `{`
            -> shared a, shared b, struct  1, struct T 2, record R 1, op f {}, fn  {}, op g {return}, op h {}
        "#]],
    );
}

#[test]
fn words_that_start_nothing() {
    check(
        "shred a: int;\nlet b = 1;\nstate c: int;\n}\nop f() { }\n/* text */\nop g() { }",
        expect![[r#"
            1:1 expected a declaration, found `shred`
            2:1 expected a declaration, found `let`
            3:1 expected a declaration, found `state`
            4:1 expected a declaration, found `}`
            -> op f {}, op g {}
        "#]],
    );
}

#[test]
fn a_missing_brace_ends_at_the_next_declaration() {
    check(
        "op f() {\n    loop {\n        g();\n}\nop g() { h();\nshared a: int;\nfn h() { ",
        expect![[r#"
            5:1 expected `}`, found `op`
            6:1 expected `}`, found `shared`
            7:10 expected `}`, found the end of the file
            -> op f {loop {expr}}, op g {expr}, shared a, fn h {}
        "#]],
    );
}

#[test]
fn a_brace_too_many() {
    check(
        "op f() { } }\nop g() { }",
        expect![[r#"
            1:12 expected a declaration, found `}`
            -> op f {}, op g {}
        "#]],
    );
}

#[test]
fn mistakes_in_a_specification() {
    check(
        "spec {\n    shared a: int;\n    state b: seq<int;\n    nonsense;\n    op f() { a }\n    fn g() { }\n}\nop f() { }",
        expect![[r#"
            2:5 `shared` has no place in a specification
            3:21 expected `,` or `>`, found `;`
            4:5 expected `state`, `op`, `fn` or `}`, found `nonsense`
            5:15 expected `;`, found `}`
            -> spec (2, 1, 1), op f {}
        "#]],
    );
}

#[test]
fn declarations_in_a_block() {
    check(
        "op f() {\n    local a: int = 1;\n    shared b: int;\n    return;\n}\nop g() { param c: int; return; }\nop h() { }",
        expect![[r#"
            2:5 `local` cannot be declared in a block
            3:5 `shared` cannot be declared in a block
            6:10 `param` cannot be declared in a block
            -> op f {return}, op g {return}, op h {}
        "#]],
    );
}

#[test]
fn mistakes_in_annotations() {
    check(
        "op f() { #[line] a(); #[lin(if x)] b(); #[base()] c(); #[lin(when] d(); #[lin] }\nop g() { }",
        expect![[r#"
            1:12 unknown annotation `line`
            1:29 expected `when`, found `if`
            1:48 expected an expression, found `)`
            1:66 expected an expression, found `]`
            1:73 this annotation stands before nothing
            -> op f {expr; expr; expr; expr; expr}, op g {}
        "#]],
    );
}

#[test]
fn habits_from_other_languages() {
    check(
        "op f(int v) : int {\n    x++;\n    if a = b { }\n    if a & b { }\n    lop { }\n    retrun x;\n    let mut y = \"text\";\n    \
         }\n    else { }\n}\nop g() { }",
        expect![[r#"
            1:6 the name comes first, then `:` and the type
            1:13 expected `->`, found `:`
            2:6 there is no `++`
            3:10 expected `{`, found `=`
            5:5 expected a statement, found `lop`
            6:5 expected a statement, found `retrun`
            7:9 there is no `mut` here
            7:17 expected an expression, found `"`
            9:5 expected a declaration, found `else`
            10:1 expected a declaration, found `}`
            -> op f {expr; if {}; if {}; expr; expr; let y}, op g {}
        "#]],
    );
}

#[test]
fn a_record_before_a_block() {
    check(
        "op f() { if a == Mark { dead: true } { b(); } while m == Mark { ..m } { } }",
        expect![[r#"
            1:23 a record before a block stands in parentheses
            1:63 a record before a block stands in parentheses
            -> op f {if {expr}; while {}}
        "#]],
    );
}

#[test]
fn keywords_as_names() {
    check(
        "struct Node { state: int, local: int, op: int }\nshared init: int;\nop loop() { let if = 1; x.new = 2; }\nop g() { }",
        expect![[r#"
            1:27 expected a field name, found the keyword `local`
            1:39 expected a field name, found the keyword `op`
            2:8 expected a name for the variable, found the keyword `init`
            3:4 expected a name for the operation, found the keyword `loop`
            3:17 expected a name for the variable, found the keyword `if`
            3:27 expected a field, found the keyword `new`
            -> struct Node 3, shared init, op loop {let if; assign}, op g {}
        "#]],
    );
}

#[test]
fn comparisons_are_not_chained() {
    check(
        "op f() { assert(a < b < c); assert((a < b) == c); }",
        expect![[r#"
            1:23 comparisons cannot be chained
            -> op f {expr; expr}
        "#]],
    );
}

#[test]
fn after_fifty_mistakes_nothing_more_is_said() {
    let (_, mistakes) = parse(&format!("op f() {{ {} }}", "a = ; ".repeat(100)));
    assert_eq!(mistakes.len(), 50);
}

#[test]
fn what_is_too_deep_or_too_long_is_one_mistake() {
    let deep = |open: &str, close: &str| {
        format!("op f() {{ {}{} }}\nop g() {{ }}", open.repeat(500), close.repeat(500))
    };
    let sources = [
        deep("if a {", "}"),
        deep("if a { } else ", "if b { }"),
        deep("atomic {", "}"),
        format!("op f() {{ a = {}1{}; b = 2; }}\nop g() {{ }}", "(".repeat(500), ")".repeat(500)),
        format!("op f() {{ a = {}1; b = 2; }}\nop g() {{ }}", "1 + ".repeat(500)),
        format!("op f() {{ a = b{}; b = 2; }}\nop g() {{ }}", ".next".repeat(500)),
        format!("op f() {{ a = {}true; b = 2; }}\nop g() {{ }}", "!".repeat(500)),
        format!("shared x: {}int{};\nop g() {{ }}", "[".repeat(500), "; 1]".repeat(500)),
    ];
    for source in sources {
        let (model, mistakes) = parse(&source);
        let messages: Vec<&str> = mistakes.iter().map(|mistake| mistake.message.as_str()).collect();
        assert_eq!(messages.len(), 1, "{messages:?}\n{source}");
        assert!(
            matches!(model.items.last(), Some(Item::Op(op)) if op.name.name == "g"),
            "{source}"
        );
    }
}

/// What all three languages say in the same words; `.subop` and `.csp` have the same test.
#[test]
fn every_language_says_the_same() {
    let messages = |source: &str| -> Vec<String> {
        parse(source).1.into_iter().map(|mistake| mistake.message).collect()
    };
    assert_eq!(messages("shared a: int; /* op f() { }"), ["this comment does not end"]);
    assert_eq!(messages("op f() { a = 1; /* }"), ["this comment does not end"]);
    assert_eq!(messages("/* a */ shared a: int; /* b\n* / */"), [""; 0]);
    assert_eq!(messages("op f() { a = \"text; }"), ["expected an expression, found `\"`"]);
    assert_eq!(messages("op f() { a = $; }"), ["expected an expression, found `$`"]);
    assert_eq!(messages("op f() { a = \0; }"), ["expected an expression, found `\\0`"]);
    assert_eq!(messages("op f() { a = \u{202e}; }"), ["expected an expression, found `\\u{202e}`"]);
    assert_eq!(messages("op f() { a = \u{1b}; }"), ["expected an expression, found `\\u{1b}`"]);
    let largest = "numbers go up to 9223372036854775807";
    assert_eq!(messages("op f() { a = 18446744073709551615; }"), [largest]);
    assert_eq!(messages("op f() { a[18446744073709551615] = 1; }"), [largest]);
    assert_eq!(messages("op f() { a = 0x10; }"), ["`0x10` is not written in decimal digits"]);
    assert_eq!(messages(&"a ".repeat(5 << 20)), ["this file is longer than 256 KiB"]);
    assert_eq!(messages(&"\0".repeat(10 << 20)), ["this file is longer than 256 KiB"]);
    assert_eq!(messages(&"op f() { = }".repeat(100)).len(), 50);
}

#[test]
fn references() {
    check(
        "reference { shared a: int; init { } op f() { } op g() -> int { return 1; } } op f() { }",
        expect![[r#"
            -> reference (1, 1, 2), op f {}
        "#]],
    );
    check(
        "reference {\n    local a: int;\n    state b: int;\n    op f() { }\n}\nop f() { }",
        expect![[r#"
            2:5 `local` has no place in a reference
            3:5 `state` has no place in a reference
            -> reference (2, 0, 1), op f {}
        "#]],
    );
    check(
        "reference {\n    spec stack;\n    spec { op f() { } }\n    param K: int = 1;\n    struct S { a: int }\n    \
         record R { a: int }\n    fn f() { }\n    role r: f;\n    bounds { ops: 1 }\n    reference { op f() { } }\n    \
         op f() { }\n}\nop f() { }",
        expect![[r#"
            2:5 `spec` has no place in a reference
            3:5 `spec` has no place in a reference
            4:5 `param` has no place in a reference
            5:5 `struct` has no place in a reference
            6:5 `record` has no place in a reference
            7:5 `fn` has no place in a reference
            8:5 `role` has no place in a reference
            9:5 `bounds` has no place in a reference
            10:5 `reference` has no place in a reference
            -> reference (0, 0, 1), op f {}
        "#]],
    );
    check(
        "reference stack { op f() { } }\nop f() { }",
        expect![[r#"
            1:11 expected `{`, found `stack`
            -> reference (0, 0, 1), op f {}
        "#]],
    );
    check(
        "reference;\nop f() { }",
        expect![[r#"
            1:10 expected `{`, found `;`
            -> reference (0, 0, 0), op f {}
        "#]],
    );
    check(
        "reference {\n    let x = 1;\n    a = 2;\n    op f() { }\n}\nop f() { }",
        expect![[r#"
            2:5 expected `shared`, `init`, `op` or `}`, found `let`
            -> reference (0, 0, 1), op f {}
        "#]],
    );
    check(
        "reference {\n    op f() { }\n\nspec stack;\nop g() { }",
        expect![[r#"
            4:1 expected `}`, found `spec`
            -> reference (0, 0, 1), spec stack, op g {}
        "#]],
    );
    check(
        "reference {\n    op f() {\n        x = 1;\n}\n\nop g() { }",
        expect![[r#"
            6:11 expected `}`, found the end of the file
            -> reference (0, 0, 2)
        "#]],
    );
    check(
        "refrence { op f() { } }\nop f() { }",
        expect![[r#"
            1:1 expected a declaration, found `refrence`
            -> op f {}
        "#]],
    );
}

#[test]
fn words_of_persistent_memory_are_names_elsewhere() {
    check(
        "persistent shared x: int; #[line(a)] persistent shared y: int;\n\
         persistent struct Node { #[line(b)] next: Node, recover: int }\n\
         recover { fence; }\nrecover(t: tid) -> int? { return none; }\n\
         shared persistent: int; op recover() { let flush = persistent; fence = flush; }",
        expect![[r#"
            -> shared x, shared y, struct Node 2, recover {expr}, recover(t) {return}, shared persistent, op recover {let flush; assign}
        "#]],
    );
}

#[test]
fn after_a_mistake_about_persistent_memory_the_rest_is_understood() {
    check(
        "persistent op f() { }\npersistent local n: int;\n#[line] persistent shared x: int;\n\
         #[line(a)] record Mark { dead: bool }\npersistent x: int;\nrecover(t: tid { }\n\
         #[line(a)\nop g() { }",
        expect![[r#"
            1:1 expected `shared` or `struct` after `persistent`, found `op`
            2:1 expected `shared` or `struct` after `persistent`, found `local`
            3:7 expected `(`, found `]`
            4:1 `#[line(…)]` cannot stand before this
            5:1 expected `shared` or `struct` after `persistent`, found `x`
            6:16 expected `,` or `)`, found `{`
            8:1 expected `]`, found `op`
            -> op f {}, local n, shared x, record Mark 1, recover(t) {}, op g {}
        "#]],
    );
}
