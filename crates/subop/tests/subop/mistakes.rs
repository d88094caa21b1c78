//! What mistakes look like, and that none of them is a panic.

use expect_test::{Expect, expect};
use linchpin_subop::{parse, print};

fn shows(source: &str, expected: Expect) {
    let mistakes = parse(source).expect_err("there is a mistake in it");
    let shown: Vec<String> =
        mistakes.iter().map(|mistake| mistake.render("model.subop", source, false)).collect();
    expected.assert_eq(&(shown.join("\n\n") + "\n"));
}

#[test]
fn several_mistakes_at_once() {
    shows(
        "struct node { int value, node nxt };
queue Q;
node Top;
Push(int v)
    node X;
    1 X = malloc nod;
    1 <Top = X; X.next == null;> Top = X.next.value;
    Top := X;
",
        expect![[r#"
            error[L005]: `=` assigns; a condition compares
             --> model.subop:7:12
              |
            7 |     1 <Top = X; X.next == null;> Top = X.next.value;
              |            ^ expected a comparison
              |
              = help: compare with `==`

            error[L001]: expected `;`, found `.`
             --> model.subop:7:46
              |
            7 |     1 <Top = X; X.next == null;> Top = X.next.value;
              |                                              ^ expected `;`
              |
              = help: only one access a term: put `x.next` into a local first, or compare it with one that is never assigned

            error[L005]: expected `=`, found `:=`
             --> model.subop:8:9
              |
            8 |     Top := X;
              |         ^^ expected `=`
              |
              = help: assignment is written `=`
        "#]],
    );
}

#[test]
fn names_and_types() {
    shows(
        "struct node { int value, node next };
node Top;
int A[];
Push(int v)
    node X;
    1 <X.next == null; X < Top;> X.nxt = Topp;
    1 X.value = Top;
    1 A = v; READ A[X]; v = A[X.value];
    1 free v; return ID; ...d
Pop()
    1 READ Top; ...d
relations { d ≀ dd; d ⊖ d [if (v == 1)]; }
invariant after d: Z == 1;
spec queu { Push = enq(v); }
",
        expect![[r#"
            error[L010]: there is no variable `null`
             --> model.subop:6:18
              |
            6 |     1 <X.next == null; X < Top;> X.nxt = Topp;
              |                  ^^^^ not found
              |
              = help: the null reference is `NULL`

            error[L021]: only integers are ordered
             --> model.subop:6:24
              |
            6 |     1 <X.next == null; X < Top;> X.nxt = Topp;
              |                        ^ no integer
              |
              = help: references and `NULL` are compared with `==` and `!=`

            error[L011]: `node` has no field `nxt`
             --> model.subop:6:36
              |
            6 |     1 <X.next == null; X < Top;> X.nxt = Topp;
              |                                    ^^^ not found
              |
              = help: did you mean `next`?

            error[L010]: there is no variable `Topp`
             --> model.subop:6:42
              |
            6 |     1 <X.next == null; X < Top;> X.nxt = Topp;
              |                                          ^^^^ not found
              |
              = help: did you mean `Top`?

            error[L020]: cannot assign between an `int` and a `node`
             --> model.subop:7:17
              |
            7 |     1 X.value = Top;
              |       -------   ^^^ this is a `node`
              |       |
              |       this is an `int`

            error[L030]: `A` is an array
             --> model.subop:8:7
              |
            8 |     1 A = v; READ A[X]; v = A[X.value];
              |       ^ which element?
              |
              = help: write `A[i]`

            error[L020]: an index is a number, an `int` variable, or one plus or minus a number
             --> model.subop:8:21
              |
            8 |     1 A = v; READ A[X]; v = A[X.value];
              |                     ^ not an index

            error[L020]: an index is a number, an `int` variable, or one plus or minus a number
             --> model.subop:8:31
              |
            8 |     1 A = v; READ A[X]; v = A[X.value];
              |                               ^^^^^^^ not an index
              |
              = help: put it into a local first

            error[L020]: `v` does not refer to an object
             --> model.subop:9:12
              |
            9 |     1 free v; return ID; ...d
              |            ^ not of struct type
              |
              = help: declare it with the name of a struct

            error[L012]: there are two sub-operations called `d`
              --> model.subop:11:20
               |
             9 |     1 free v; return ID; ...d
               |     -------------------- this is the other
            10 | Pop()
            11 |     1 READ Top; ...d
               |                    ^ this name is taken
               |
               = help: name a sub-operation with `...name` after it

            error[L010]: there is no variable `Z`
              --> model.subop:13:20
               |
            13 | invariant after d: Z == 1;
               |                    ^ not found

            error[L010]: there is no sub-operation `dd`
              --> model.subop:12:17
               |
            12 | relations { d ≀ dd; d ⊖ d [if (v == 1)]; }
               |                 ^^ not found
               |
               = help: did you mean `d`?

            error[L010]: there is no variable `v`
              --> model.subop:12:32
               |
            12 | relations { d ≀ dd; d ⊖ d [if (v == 1)]; }
               |                                ^ not found

            error[L051]: there is no specification `queu`
              --> model.subop:14:6
               |
            14 | spec queu { Push = enq(v); }
               |      ^^^^ not found
               |
               = help: did you mean `queue`?
        "#]],
    );
}

#[test]
fn what_the_grammar_wants() {
    shows(
        "int x; A() x = 1;",
        expect![[r#"
            error[L100]: a sub-operation starts with its mark
             --> model.subop:1:12
              |
            1 | int x; A() x = 1;
              |            ^ expected `1` or `*`
              |
              = help: write `1` in front if the invoking thread executes it, `*` if any thread may
        "#]],
    );
    shows(
        "int x; A() 2 x = 1;",
        expect![[r#"
            error[L100]: unknown mark
             --> model.subop:1:12
              |
            1 | int x; A() 2 x = 1;
              |            ^ expected `1` or `*`
              |
              = help: `1`: the invoking thread; `*`: any thread
        "#]],
    );
    shows(
        "int x; A() 1 <x == 1; x = 2;",
        expect![[r#"
            error[L005]: `=` assigns; a condition compares
             --> model.subop:1:25
              |
            1 | int x; A() 1 <x == 1; x = 2;
              |                         ^ expected a comparison
              |
              = help: compare with `==`

            error[L001]: expected a variable, a field, a number, `NULL` or `ID`, found the end of the file
             --> model.subop:1:29
              |
            1 | int x; A() 1 <x == 1; x = 2;
              |                             ^ expected a variable, a field, a number, `NULL` or `ID`
        "#]],
    );
    shows(
        "int x; A() 1 x = 1; then A_1;",
        expect![[r#"
            error[L102]: operations have no loops
             --> model.subop:1:26
              |
            1 | int x; A() 1 x = 1; then A_1;
              |                          ^^^ not further down
              |
              = help: write the last iteration only; failing ones must not change anything
        "#]],
    );
    shows(
        "int x; A() 1 x = 1; int y; 1 y = 1;",
        expect![[r#"
            error[L008]: declarations come before the sub-operations
             --> model.subop:1:21
              |
            1 | int x; A() 1 x = 1; int y; 1 y = 1;
              |                     ^^^^^ too late
              |
              = help: move it up; shared variables are declared before the first operation
        "#]],
    );
    shows(
        "int x; A() { 1 x = 1; return; 1 x = 2; }",
        expect![[r#"
            error[L040]: the operation may end here without `return`
             --> model.subop:1:31
              |
            1 | int x; A() { 1 x = 1; return; 1 x = 2; }
              |              ---------------- ^^^^^^^ no `return`
              |              |
              |              returns here
              |
              = help: return wherever it ends; `return;` returns nothing

            error[L101]: this sub-operation is never executed
             --> model.subop:1:31
              |
            1 | int x; A() { 1 x = 1; return; 1 x = 2; }
              |                               ^^^^^^^ not reached
              |
              = help: what stands before it returns, or goes on elsewhere with `then`
        "#]],
    );
    shows(
        "int x",
        expect![[r#"
            error[L001]: expected `;`, found the end of the file
             --> model.subop:1:6
              |
            1 | int x
              |      ^ expected `;`
        "#]],
    );
}

#[test]
fn guesses_are_few() {
    shows(
        "int x; A() int a; int b; int c; int d; int e; int f; int g;
    1 a = x; READ a; READ b; READ c; READ d; READ e; READ f;
    1 READ g; READ a; READ b;
B() int a; int b; int c; int d; int e; int f; int g;
    1 READ a; READ b; READ c; READ d; READ e; READ f; READ g;
",
        expect![[r#"
            error[L009]: this guesses more than 6 locals
             --> model.subop:5:5
              |
            5 |     1 READ a; READ b; READ c; READ d; READ e; READ f; READ g;
              |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ too many
              |
              = help: assign some of `a`, `b`, `c`, `d`, `e`, `f`, `g` before
        "#]],
    );
}

#[test]
fn initially_must_make_sense() {
    shows(
        "struct node { int v, node next };
node top;
initially { node D; D = malloc node; top = D.next; top.v = 1; }
A() 1 READ top;
",
        expect![[r#"
            error[L107]: this is not defined when it is executed
             --> model.subop:3:52
              |
            3 | initially { node D; D = malloc node; top = D.next; top.v = 1; }
              |                                                    ^^^^^^^^^ accesses nothing
              |
              = help: a field needs an object: `x = malloc node;` first; an index needs an integer
        "#]],
    );
}

#[test]
fn limits_hold() {
    let large = [
        format!("int x; A() {}", "1 x = 1; ".repeat(300)),
        format!("int x; A() {} 1 x = 1;", "either { 1 READ x; } or { } ".repeat(300)),
        format!("int x; A() {}1 x = 1;{}", "either {".repeat(100), "}".repeat(100)),
        format!("int x; A() 1 <{}x == 1{};>", "(".repeat(100), ")".repeat(100)),
        format!("int x; A() 1 <{}(x == 1);>", "!".repeat(100)),
        format!("int x; A() 1 <x == 1{};>", " => x == 1".repeat(100)),
        format!("{} A() 1 READ x1;", (0..600).map(|at| format!("int x{at}; ")).collect::<String>()),
        format!(
            "int x; A({}) 1 READ x;",
            (0..300).map(|at| format!("int a{at},")).collect::<String>()
        ),
        format!("int x; {}", (0..600).map(|at| format!("A{at}() 1 READ x; ")).collect::<String>()),
        format!("int {}; A() 1 READ x;", "x".repeat(300)),
        "int x; A() 1 x = 99999999999999999999;".to_owned(),
        "int x; A() 1 x = 1; ".repeat(20_000),
    ];
    for source in large {
        let mistakes = parse(&source).expect_err("it is too large");
        let start: String = source.chars().take(60).collect();
        assert!((1..=50).contains(&mistakes.len()), "{start}: {}", mistakes.len());
    }
}

/// Random edits of real files neither panic nor produce a model that cannot be printed and parsed
/// again.
#[test]
fn no_input_panics() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/figures");
    let mut sources: Vec<String> = Vec::new();
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/subop");
    for folder in [folder, models] {
        let entries = std::fs::read_dir(folder).expect("the folder is there");
        let paths = entries.flatten().map(|entry| entry.path());
        for path in paths.filter(|path| path.extension().is_some_and(|end| end == "subop")) {
            sources.push(std::fs::read_to_string(path).expect("a text"));
        }
    }
    sources.sort();
    let mut random = fastrand::Rng::with_seed(5);
    let pieces = [
        "<", ">", ";", "1", "*", "{", "}", "(", "...", "then", "either", "or", "@", "[", "≀", "¬",
        "-", "é",
    ];
    let mut parsed = 0;
    for _ in 0..50_000 {
        let mut text: Vec<char> = random.choice(&sources).unwrap().chars().collect();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..=text.len());
            let end = (at + random.usize(..8)).min(text.len());
            match random.u8(..4) {
                0 => drop(text.drain(at..end)),
                1 => drop(text.splice(at..at, random.choice(pieces).unwrap().chars())),
                2 => {
                    let copy: Vec<char> = text[at..end].to_vec();
                    let to = random.usize(..=text.len());
                    drop(text.splice(to..to, copy));
                }
                _ => text.truncate(at.max(text.len() / 2)),
            }
        }
        let text: String = text.into_iter().collect();
        match parse(&text) {
            Ok(model) => {
                let printed = print(&model);
                let again = parse(&printed).unwrap_or_else(|_| panic!("{text}\n---\n{printed}"));
                assert_eq!(print(&again), printed);
                parsed += 1;
            }
            Err(mistakes) => {
                assert!(!mistakes.is_empty());
                mistakes.iter().for_each(|mistake| drop(mistake.render("m", &text, false)));
            }
        }
    }
    assert!(parsed > 1000, "only {parsed} mutants parsed");
}

/// What all three languages say in the same words; `.lin` and `.csp` have the same test.
#[test]
fn every_language_says_the_same() {
    let messages = |source: &str| -> Vec<String> {
        let mistakes = parse(source).err().unwrap_or_default();
        mistakes.into_iter().map(|mistake| mistake.message).collect()
    };
    let assigned = |value: &str| messages(&format!("int x; int A[]; F() 1 x = {value};"));
    let a_term = "expected a variable, a field, a number, `NULL` or `ID`, found";
    assert_eq!(messages("int x; /* F() 1 x = 1;"), ["this comment does not end"]);
    assert_eq!(messages("int x; F() 1 x = /* 1;"), ["this comment does not end"]);
    assert_eq!(messages("/* a */ int x; F() 1 x = 1; /* b\n* / */"), [""; 0]);
    assert_eq!(assigned("\"text"), [format!("{a_term} `\"`")]);
    assert_eq!(assigned("$"), [format!("{a_term} `$`")]);
    assert_eq!(assigned("\0"), [format!("{a_term} `\\0`")]);
    assert_eq!(assigned("\u{202e}"), [format!("{a_term} `\\u{{202e}}`")]);
    assert_eq!(assigned("\u{1b}"), [format!("{a_term} `\\u{{1b}}`")]);
    let [largest] = &assigned("18446744073709551615")[..] else { panic!("one mistake") };
    assert!(largest.starts_with("numbers go up to "), "{largest}");
    assert_eq!(assigned("A[18446744073709551615]"), [largest.as_str()]);
    assert_eq!(assigned("0x10"), ["`0x10` is not written in decimal digits"]);
    assert_eq!(messages(&"a ".repeat(5 << 20)), ["this file is longer than 256 KiB"]);
    assert_eq!(messages(&"\0".repeat(10 << 20)), ["this file is longer than 256 KiB"]);
    assert_eq!(messages(&"int = ;\n".repeat(100)).len(), 50);
}
